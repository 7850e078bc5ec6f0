#include <zveno/support/pool.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <zveno/support/processors.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace zveno {
namespace {

struct Task {
  std::ptrdiff_t count, chunk;
  void (*work)(void*, std::ptrdiff_t, std::ptrdiff_t);
  void* context;
  std::atomic<std::ptrdiff_t> next{0};
  std::mutex mutex{};
  std::exception_ptr failure{};  // the first one

  // watch: of the caller, null for helpers
  void run(Watch* watch) noexcept {
    try {
      for (std::ptrdiff_t begin; (begin = next.fetch_add(chunk)) < count;) {
        work(context, begin, std::min(begin + chunk, count));
        if (watch && watch->stops()) next = count;
      }
    } catch (...) {
      next = count;  // nobody starts another piece
      std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  }
};

// workers are interchangeable; one that was not needed for a while ends
class Pool {
 public:
  std::atomic<bool> in_use{false};

  void run(Task& task, int helpers, Watch* watch) {
    bool all = false;
    {
      std::lock_guard lock(mutex_);
      try {
        for (; workers_ < helpers; ++workers_) std::thread(&Pool::loop, this).detach();
      } catch (const std::system_error&) {
        helpers = workers_;  // the system gives no more threads: those that are there do the work
      }
      task_ = &task;
      places_ = active_ = helpers;
      all = helpers == workers_;
    }
    if (all)
      wake_.notify_all();
    else
      for (int i = 0; i < helpers; ++i) wake_.notify_one();
    task.run(watch);
    std::unique_lock lock(mutex_);
    active_ -= std::exchange(places_, 0);  // nobody needs to come any more
    done_.wait(lock, [&] { return active_ == 0; });
    task_ = nullptr;
  }

 private:
  static constexpr std::chrono::seconds kPatience{1};

  void loop() {
    std::unique_lock lock(mutex_);
    while (wake_.wait_for(lock, kPatience, [&] { return places_ > 0; })) {
      --places_;
      Task* task = task_;
      lock.unlock();
      task->run(nullptr);
      lock.lock();
      if (--active_ == 0) done_.notify_one();
    }
    --workers_;
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Task* task_ = nullptr;
  int workers_ = 0;
  int places_ = 0, active_ = 0;  // of the task: helpers still to come, and those not yet gone
};

// never destroyed: its threads wait until the process ends
std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    the_pool = new Pool;
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, [] { the_pool = new Pool; });
#endif
  });
  return *the_pool;
}

// On this thread alone. Pieces grow until one takes a few milliseconds: beginning them then costs nothing that shows.
void in_turn(std::ptrdiff_t count, std::ptrdiff_t chunk, void (*work)(void*, std::ptrdiff_t, std::ptrdiff_t), void* context,
             Watch* watch) {
  if (!watch || count <= chunk) return work(context, 0, count);
  constexpr std::chrono::microseconds kLongEnough{4000}, kShort{500};
  Watch::Clock::time_point before = Watch::Clock::now();
  for (std::ptrdiff_t begin = 0; begin < count;) {
    const std::ptrdiff_t end = count - begin > chunk ? begin + chunk : count;
    work(context, begin, end);
    begin = end;
    const Watch::Clock::time_point now = Watch::Clock::now();
    if (watch->stops(now)) return;
    if (now - before < kLongEnough) chunk *= now - before < kShort ? 8 : 2;
    before = now;
  }
}

}  // namespace

void parallel_for(std::ptrdiff_t count, std::ptrdiff_t chunk, int threads,
                  void (*work)(void*, std::ptrdiff_t, std::ptrdiff_t), void* context, Watch* watch) {
  if (threads <= 0) threads = default_threads();
  const std::ptrdiff_t pieces = (count + chunk - 1) / chunk;
  threads = static_cast<int>(std::min<std::ptrdiff_t>({threads, pieces, kMostThreads}));
  if (threads <= 1) return in_turn(count, chunk, work, context, watch);
  Pool& p = pool();
  // a flag, not a mutex: work that calls parallel_for meets it on the thread that holds it
  if (p.in_use.exchange(true)) return in_turn(count, chunk, work, context, watch);
  struct Release {
    std::atomic<bool>& flag;
    ~Release() { flag = false; }
  } const release{p.in_use};
  Task task{count, chunk, work, context};
  p.run(task, threads - 1, watch);
  if (task.failure) std::rethrow_exception(task.failure);
}

}  // namespace zveno
