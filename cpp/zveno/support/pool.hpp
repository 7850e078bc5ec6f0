// A few threads that wait for work. Fork-safe: a child process starts with a pool of its own.
#pragma once

#include <chrono>
#include <cstddef>

namespace zveno {

// more are never used
constexpr int kMostThreads = 256;

// Whether a computation is still wanted. The calling thread asks between pieces of work, at most once in a period.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPeriod{50};

  Watch(bool (*unwanted)(void*), void* context) : unwanted_(unwanted), context_(context) {}

  bool stops() { return stops(Clock::now()); }
  bool stops(Clock::time_point now) {
    if (now < next_) return false;
    stopped_ = unwanted_(context_);
    next_ = Clock::now() + kPeriod;  // asking may have taken long
    return stopped_;
  }
  bool stopped() const { return stopped_; }

 private:
  bool (*unwanted_)(void*);
  void* context_;
  bool stopped_ = false;
  Clock::time_point next_ = Clock::now() + kPeriod;
};

// Calls work(context, begin, end) over [0, count) in pieces of `chunk` or, on one thread, multiples of it, from `threads`
// threads (0: default_threads(); fewer if the system gives no more); returns when all is done or `watch` has stopped it.
// A call made while another one holds the pool runs on the caller's thread.
void parallel_for(std::ptrdiff_t count, std::ptrdiff_t chunk, int threads,
                  void (*work)(void* context, std::ptrdiff_t begin, std::ptrdiff_t end), void* context,
                  Watch* watch = nullptr);

}  // namespace zveno
