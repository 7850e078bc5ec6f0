#include <zveno/instruments/opcount.hpp>

#include <vector>

#include <zveno/functions/chain_evaluation.hpp>

namespace zveno {

std::array<Counts, 3> count_operations(const Job& job) {
  const int n = job.chain->n();
  // the numbers do not matter: kernels do not look at them
  std::vector<Counted> x(n, Counted(0.5)), pivot(n), external(6 * job.external_count, Counted(1.0));
  std::vector<Counted> out(output_size(job.function, n));
  Scratch scratch;
  Counted::reset();
  evaluate<Counted>(job, {{x.data(), x.data(), x.data()}, external.data()}, out.data(), pivot.data(), scratch);
  return {Counted::stages()[0], Counted::stages()[1], Counted::stages()[2]};
}

}  // namespace zveno
