#include <zveno/support/pool.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

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

  void run() noexcept {
    try {
      for (std::ptrdiff_t begin; (begin = next.fetch_add(chunk)) < count;)
        work(context, begin, std::min(begin + chunk, count));
    } catch (...) {
      next = count;  // nobody starts another piece
      std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  }
};

class Pool {
 public:
  std::atomic<bool> in_use{false};

  void run(Task& task, int helpers) {
    {
      std::lock_guard lock(mutex_);
      while (static_cast<int>(workers_) < helpers) {
        std::thread(&Pool::loop, this, workers_).detach();
        ++workers_;
      }
      task_ = &task;
      wanted_ = helpers;
      active_ = helpers;
      ++generation_;
    }
    wake_.notify_all();
    task.run();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return active_ == 0; });
    task_ = nullptr;
  }

 private:
  void loop(int index) {
    std::unique_lock lock(mutex_);
    // a worker born during a call belongs to it: it sees a generation newer than the one before its birth
    unsigned long seen = generation_ - (task_ ? 1 : 0);
    for (;;) {
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      if (index >= wanted_) continue;
      Task* task = task_;
      lock.unlock();
      task->run();
      lock.lock();
      if (--active_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Task* task_ = nullptr;
  int workers_ = 0, wanted_ = 0, active_ = 0;
  unsigned long generation_ = 0;
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

}  // namespace

void parallel_for(std::ptrdiff_t count, std::ptrdiff_t chunk, int threads,
                  void (*work)(void*, std::ptrdiff_t, std::ptrdiff_t), void* context) {
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  constexpr int kMostThreads = 256;
  const std::ptrdiff_t pieces = (count + chunk - 1) / chunk;
  threads = static_cast<int>(std::min<std::ptrdiff_t>({threads, pieces, kMostThreads}));
  if (threads <= 1) return work(context, 0, count);
  Pool& p = pool();
  // a flag, not a mutex: work that calls parallel_for meets it on the thread that holds it
  if (p.in_use.exchange(true)) return work(context, 0, count);
  struct Release {
    std::atomic<bool>& flag;
    ~Release() { flag = false; }
  } const release{p.in_use};
  Task task{count, chunk, work, context};
  p.run(task, threads - 1);
  if (task.failure) std::rethrow_exception(task.failure);
}

}  // namespace zveno
