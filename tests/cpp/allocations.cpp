// A call allocates nothing once a thread has made it before.
#include "allocations.hpp"

#include <cstdlib>
#include <new>

#if defined(_MSC_VER)
#include <malloc.h>
#endif

#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

thread_local long count = 0;

// the limit keeps a request for absurd sizes out of the sanitizer's own allocator, which ends the process
constexpr std::size_t kMost = std::size_t{1} << 40;

void* allocate(std::size_t size, std::size_t alignment) {
  ++count;
  if (size > kMost) throw std::bad_alloc();
#if defined(_MSC_VER)
  void* p = _aligned_malloc(size ? size : 1, alignment);
#else
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* p = alignment <= alignof(std::max_align_t) ? std::malloc(size ? size : 1) : std::aligned_alloc(alignment, whole);
#endif
  if (!p) throw std::bad_alloc();
  return p;
}

void release(void* p) noexcept {
#if defined(_MSC_VER)
  _aligned_free(p);
#else
  std::free(p);
#endif
}

}  // namespace

long allocations() { return count; }

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

namespace {

template <class Call>
void expect_no_allocation(const std::string& what, Call&& call) {
  call();
  const long before = allocations();
  for (int i = 0; i < 3; ++i) call();
  if (const long made = allocations() - before)
    check::fail(__FILE__, __LINE__, what + ": " + std::to_string(made) + " allocations in three calls, expected none");
}

}  // namespace

LAW(allocations_are_counted) {
  const long before = allocations();
  delete new int;
  CHECK_EQUAL(allocations() - before, 1L);
}

LAW(a_repeated_call_allocates_nothing) {
  for (const Wanted& wanted : {Wanted{7}, Wanted{12, true, true, true, true}, Wanted{80}, Wanted{60, true, true, true, true}}) {
    Random random(30 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    const std::vector<LinkFrame> loads = random_loads(random, chain);
    const std::ptrdiff_t n = chain.n(), width = 6 * static_cast<std::ptrdiff_t>(loads.size());
    for (const std::ptrdiff_t count : {1, 21})
      for (const int threads : {1, 2}) {
        const std::vector<double> x[3] = {random.vector(n * count), random.vector(n * count), random.vector(n * count)};
        const std::vector<double> external = random.vector(width * count);
        for (const auto& [name, job] : every_job(chain, loads)) {
          std::vector<double> out[3];
          Rows rows;
          rows.count = count;
          rows.external = external.data(), rows.external_stride = width;
          for (int k = 0; k < 3; ++k) rows.in[k] = x[k].data(), rows.in_stride[k] = n;
          for (int k = 0; k < result_count(job.function); ++k) {
            out[k].resize(static_cast<std::size_t>(result_size(chain, job.function) * count));
            rows.out[k] = out[k].data();
          }
          const std::string what = name + ", n = " + std::to_string(n) + ", " + std::to_string(count) + " rows, " +
                                   std::to_string(threads) + " threads";
          expect_no_allocation(what, [&, &job = job] { evaluate(job, rows, threads); });
        }
      }
  }
}

LAW(the_short_calls_allocate_nothing) {
  Random random(31);
  const Chain chain = make(random_links(random, {6, false, false, true, true}));
  const std::vector<double> q = random.vector(6), qd = random.vector(6), qdd = random.vector(6);
  std::vector<double> out(36);
  expect_no_allocation("inverse_dynamics", [&] { inverse_dynamics(chain, q.data(), qd.data(), qdd.data(), out.data()); });
  expect_no_allocation("forward_dynamics", [&] { forward_dynamics(chain, q.data(), qd.data(), qdd.data(), out.data()); });
  expect_no_allocation("mass_matrix", [&] { mass_matrix(chain, q.data(), out.data()); });
  expect_no_allocation("bias", [&] { bias(chain, q.data(), qd.data(), out.data()); });
}
