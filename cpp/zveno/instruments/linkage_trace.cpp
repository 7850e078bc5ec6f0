#include <zveno/instruments/trace.hpp>

#include <vector>

#include <zveno/functions/linkage_evaluation.hpp>
#include <zveno/instruments/give.hpp>

namespace zveno {

Graph trace(const LinkageJob& job, const TraceOptions& options) {
  const Linkage& linkage = *job.linkage;
  Graph graph(options.limit);
  const Traced::Recording recording(graph);
  LinkageInputs<Traced> in;
  std::vector<Traced> x[kInputs];
  int argument = 0;
  for (const Param p : row_of(job.function).params) {
    if (!is_array(p) || !(options.given >> index_of(p) & 1)) continue;
    std::vector<Traced>& to = x[index_of(p)];
    for (int i = 0; i < input_size(job, p); ++i) to.push_back(Traced::node(graph.input(argument, i)));
    (p == Param::drive ? in.drive : in[p]) = to.data();
    ++argument;
  }
  std::vector<Traced> out[kMostOutputs], judged(static_cast<std::size_t>(judged_size(job)));
  Traced* to[kMostOutputs] = {};
  for (int k = 0; k < output_count(job); ++k) {
    if (!(job.outputs >> k & 1)) continue;
    out[k].resize(static_cast<std::size_t>(output_size(job, k)));
    to[k] = out[k].data();
  }
  Scratch scratch;
  LinkageEvaluation<Traced>(job, linkage.choice(), in, scratch)(to, judged.data());
  give(graph, pieces_of(job), to, judged.data());
  return graph.pruned();
}

}  // namespace zveno
