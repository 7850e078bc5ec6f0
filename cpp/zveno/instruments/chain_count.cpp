#include <zveno/instruments/count.hpp>

#include <zveno/functions/chain_evaluation.hpp>

namespace zveno {

std::vector<StageCounts> count_operations(const Job& job) {
  const FunctionRow& row = row_of(job.function);
  // the numbers do not matter: kernels do not look at them
  Inputs<Counted> in;
  std::vector<std::vector<Counted>> numbers_of;
  for (const Param p : row.params)
    if (is_array(p) && p != Param::base_motion) in[p] = numbers_of.emplace_back(input_size(job, p), Counted(0.5)).data();
  const std::vector<Counted> external(6 * job.external_count, Counted(1.0));
  in.external = external.data();
  Counted* out[kMostOutputs] = {};
  for (int k = 0; k < row.outputs.count; ++k) out[k] = numbers_of.emplace_back(output_size(job, k)).data();
  std::vector<Counted> pivot(job.chain->n());
  Scratch scratch;
  Counted::reset();
  evaluate<Counted>(job, in, out, pivot.data(), scratch);
  const auto stage = [](Stage s) { return Counted::stages()[static_cast<int>(s)]; };
  return {{"kinematics", stage(Stage::kinematics)},
          {"algorithm", stage(Stage::algorithm)},
          {"assembly", stage(Stage::assembly)}};
}

}  // namespace zveno
