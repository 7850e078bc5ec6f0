// Working memory: aligned, given back by frames, and stable once it has grown.
#include <zveno/support/scratch.hpp>

#include <cstdint>

#include "allocations.hpp"
#include "check.hpp"

using zveno::Scratch;

namespace {

struct alignas(64) Wide {
  double x[8];
};

bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

}  // namespace

LAW(everything_taken_is_aligned_and_apart) {
  Scratch scratch;
  const Scratch::Frame frame(scratch);
  std::vector<std::pair<unsigned char*, std::size_t>> taken;
  for (std::size_t count = 1; count < 40000; count = 3 * count / 2 + 1) {
    taken.emplace_back(scratch.take<unsigned char>(count), count);
    taken.emplace_back(reinterpret_cast<unsigned char*>(scratch.take<Wide>(count)), count * sizeof(Wide));
  }
  for (std::size_t i = 0; i < taken.size(); ++i) std::memset(taken[i].first, static_cast<int>(i), taken[i].second);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    CHECK(aligned(taken[i].first));
    CHECK_EQUAL(int{taken[i].first[0]}, static_cast<int>(i));
    CHECK_EQUAL(int{taken[i].first[taken[i].second - 1]}, static_cast<int>(i));
  }
}

LAW(a_frame_gives_back_what_was_taken_in_it) {
  Scratch scratch;
  const Scratch::Frame outer(scratch);
  double* kept = scratch.take<double>(10);
  kept[9] = 5;
  void* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    const Scratch::Frame frame(scratch);
    void* p = scratch.take<double>(100);
    if (i == 0) first = p;
    CHECK(p == first);
    const Scratch::Frame inner(scratch);
    scratch.take<double>(100000 << i);  // grows beyond the block
  }
  CHECK_EQUAL(kept[9], 5.0);
  CHECK(static_cast<void*>(scratch.take<double>(1)) == first);
}

LAW(nothing_at_all_may_be_taken) {
  Scratch scratch;
  const Scratch::Frame frame(scratch);
  scratch.take<double>(0);
  double* p = scratch.take<double>(1);
  *p = 1;
  scratch.take<double>(0);
  CHECK_EQUAL(*p, 1.0);
}

LAW(poison_is_not_a_number) {
  Scratch scratch;
  const Scratch::Frame frame(scratch);
  const double* p = scratch.take<double>(1000);
  scratch.poison();
  for (int i = 0; i < 1000; ++i) CHECK(p[i] != p[i]);
}

LAW(scratch_stops_growing) {
  Scratch scratch;
  auto use = [&] {
    const Scratch::Frame frame(scratch);
    for (std::size_t size : {100u, 70000u, 30u, 200000u, 5u, 90000u}) {
      scratch.take<double>(size);
      const Scratch::Frame inner(scratch);
      scratch.take<double>(3 * size);
    }
  };
  use();
  use();
  const long before = allocations();
  for (int i = 0; i < 5; ++i) use();
  CHECK_EQUAL(allocations() - before, 0L);
}

LAW(scratch_survives_a_request_that_memory_cannot_meet) {
  Scratch scratch;
  const Scratch::Frame frame(scratch);
  double* kept = scratch.take<double>(100);
  kept[99] = 7;
  {
    const Scratch::Frame inner(scratch);
    CHECK_THROWS(scratch.take<char>(std::size_t{1} << 60), std::bad_alloc, "");
  }
  scratch.take<double>(100)[99] = 1;
  CHECK_EQUAL(kept[99], 7.0);
}
