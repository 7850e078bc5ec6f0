// The pool: every index once, whoever calls, from wherever.
#include <zveno/support/pool.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "check.hpp"
#include "mechanisms.hpp"

using zveno::parallel_for;

namespace {

// every index of [0, count) is visited exactly once, in pieces that stay inside
class Visits {
 public:
  explicit Visits(std::ptrdiff_t count)
      : count_(count), visits_(new std::atomic<int>[static_cast<std::size_t>(count) + 1]()) {}

  void run(std::ptrdiff_t chunk, int threads) {
    parallel_for(
        count_, chunk, threads,
        [](void* self, std::ptrdiff_t begin, std::ptrdiff_t end) { static_cast<Visits*>(self)->visit(begin, end); }, this);
  }
  bool each_is(int times) const {
    if (outside_) return false;
    for (std::ptrdiff_t i = 0; i < count_; ++i)
      if (visits_[i] != times) return false;
    return true;
  }

 private:
  void visit(std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (begin < 0 || begin > end || end > count_) outside_ = true;
    for (std::ptrdiff_t i = begin; i < end; ++i) ++visits_[i];
  }

  std::ptrdiff_t count_;
  std::unique_ptr<std::atomic<int>[]> visits_;
  std::atomic<bool> outside_{false};
};

bool covers(std::ptrdiff_t count, std::ptrdiff_t chunk, int threads) {
  Visits visits(count);
  visits.run(chunk, threads);
  return visits.each_is(1);
}

}  // namespace

LAW(every_index_is_visited_once) {
  for (std::ptrdiff_t count : {0, 1, 2, 3, 7, 64, 65, 1001})
    for (std::ptrdiff_t chunk : {1, 2, 3, 7, 64, 2000})
      for (int threads : {0, 1, 2, 3, 5, 9})
        if (!covers(count, chunk, threads))
          check::fail(__FILE__, __LINE__,
                      "count " + check::text(count) + ", chunk " + check::text(chunk) + ", threads " + check::text(threads));
}

LAW(callers_do_not_disturb_each_other) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&wrong, caller] {
      for (int i = 0; i < 300; ++i) wrong += !covers(50 + i, 1 + caller, 2 + caller % 3);
    });
  for (std::thread& caller : callers) caller.join();
  CHECK_EQUAL(wrong.load(), 0);
}

LAW(work_may_call_the_pool_again) {
  std::atomic<int> right{0};
  parallel_for(
      40, 1, 3,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (std::ptrdiff_t i = begin; i < end; ++i) *static_cast<std::atomic<int>*>(context) += covers(33, 2, 3);
      },
      &right);
  CHECK_EQUAL(right.load(), 40);
}

LAW(an_exception_of_any_thread_reaches_the_caller) {
  for (int threads : {1, 2, 4})
    for (std::ptrdiff_t culprit : {0, 17, 99}) {
      CHECK_THROWS(parallel_for(
                       100, 1, threads,
                       [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
                         const std::ptrdiff_t bad = *static_cast<std::ptrdiff_t*>(context);
                         if (begin <= bad && bad < end) throw std::runtime_error("no memory");
                       },
                       &culprit),
                   std::runtime_error, "no memory");
      CHECK(covers(100, 3, threads));
    }
}

#if defined(__unix__) || defined(__APPLE__)
namespace {

// what a forked child finds, true if `law` holds there
template <class Law>
bool holds_in_a_child(Law&& law) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a deadlock ends the child, not the test run
    _exit(law() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

LAW(a_forked_child_has_a_pool_of_its_own) {
  CHECK(covers(100, 1, 4));
  CHECK(holds_in_a_child([] { return covers(100, 1, 4) && covers(77, 3, 2); }));
  CHECK(holds_in_a_child([] { return holds_in_a_child([] { return covers(100, 1, 3); }); }));
  CHECK(covers(100, 1, 4));
}

LAW(a_child_forked_while_the_pool_works_has_a_pool_of_its_own) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    Visits visits(1000);  // allocated once: a fork must not meet the allocator's lock held
    while (!stop) visits.run(1, 3);
  });
  for (int i = 0; i < 20; ++i) CHECK(holds_in_a_child([] { return covers(100, 1, 3); }));
  stop = true;
  busy.join();
}
#endif

LAW(more_threads_than_anybody_has_are_not_too_many) { CHECK(covers(1001, 1, 4096)); }

LAW(a_watch_stops_the_work_between_pieces) {
  for (int threads : {1, 2, 4}) {
    std::atomic<int> done{0};
    zveno::Watch watch([](void* pieces) { return *static_cast<std::atomic<int>*>(pieces) > 0; }, &done);
    parallel_for(
        1'000'000, 1, threads,
        [](void* pieces, std::ptrdiff_t begin, std::ptrdiff_t end) {
          std::this_thread::sleep_for(std::chrono::milliseconds(end - begin));
          *static_cast<std::atomic<int>*>(pieces) += static_cast<int>(end - begin);
        },
        &done, &watch);
    CHECK(watch.stopped());
    CHECK(done > 0 && done < 100'000);
    CHECK(covers(100, 3, threads));
  }
}

LAW(a_watch_that_is_content_changes_nothing) {
  for (int threads : {1, 3}) {
    std::atomic<int> done{0};
    zveno::Watch watch([](void*) { return false; }, nullptr);
    parallel_for(
        1001, 2, threads,
        [](void* count, std::ptrdiff_t begin, std::ptrdiff_t end) {
          *static_cast<std::atomic<int>*>(count) += static_cast<int>(end - begin);
        },
        &done, &watch);
    CHECK(!watch.stopped());
    CHECK_EQUAL(done.load(), 1001);
  }
}
