// A call allocates nothing once a thread has made it before.
#include "allocations.hpp"

#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

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
  ::operator delete(::operator new(1));  // a new-expression may be optimised away
  CHECK_EQUAL(allocations() - before, 1L);
}

LAW(a_repeated_call_allocates_nothing) {
  for (const Wanted& wanted :
       {Wanted{7}, Wanted{12, true, true, true, true}, Wanted{66}, Wanted{20, true, true, true, true}}) {
    Random random(30 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    const std::vector<LinkFrame> loads = random_loads(random, chain);
    const std::ptrdiff_t n = chain.n(), width = 6 * static_cast<std::ptrdiff_t>(loads.size());
    for (const std::ptrdiff_t count : {1, 9})
      for (const int threads : {1, 2}) {
        const std::vector<double> x[3] = {random.vector(n * count), random.vector(n * count), random.vector(n * count)};
        const std::vector<double> external = random.vector(width * count);
        for (const auto& [name, job] : every_job(chain, loads)) {
          if (row_of(job.function).cost == Cost::quartic && n > 20) continue;  // gigabytes
          std::vector<double> out[kMostOutputs];
          double* to[kMostOutputs] = {};
          for (int k = 0; k < result_count(job.function); ++k) {
            out[k].resize(static_cast<std::size_t>(output_size(job, k) * count));
            to[k] = out[k].data();
          }
          States states(job, {x[0].data(), x[1].data(), x[2].data()}, external.data(), count);
          const Rows rows = states.rows(0, count, to);
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
