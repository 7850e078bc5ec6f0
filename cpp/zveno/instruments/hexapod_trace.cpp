#include <zveno/instruments/trace.hpp>

#include <memory>

#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/instruments/give.hpp>

namespace zveno {

Graph trace(const HexJob& job, const TraceOptions& options) {
  const Hexapod& hexapod = *job.hexapod;
  if (hexapod.has_custom() || job.newton)
    throw std::invalid_argument("legs that are closed by iteration have no fixed sequence of operations");
  static const double something = 0;
  Rows given;
  for (int k = 0; k < kInputs; ++k)
    if (options.given >> k & 1) given[static_cast<Param>(k)].data = &something;
  Graph graph(options.limit);
  const Traced::Recording recording(graph);
  const LegPlan plan(job, given);

  HexState<Traced> s;
  const auto read = [&](const RowData& rows, int n, Traced* x) {
    int argument = 0;  // those that are given before it
    for (const Param p : row_of(job.function).params) {
      if (!is_array(p)) continue;
      if (&given[p] == &rows) break;
      argument += given[p].data != nullptr;
    }
    for (int k = 0; k < n; ++k) x[k] = rows.data ? Traced::node(graph.input(argument, k)) : Traced(0.0);
  };
  read_state(job, plan, given, read, s);

  OneLeg<Traced> legs[kLegs];
  std::unique_ptr<CacheLine[]> held[kLegs];
  for (const LegGroup& group : hexapod.groups())
    for (int m = 0; m < group.count; ++m) {
      const int k = group.legs[m];
      const auto calls = calls_of<Traced>(group.type, group.symmetric, plan.base);
      held[k] = std::make_unique<CacheLine[]>(calls.lines);
      legs[k] = {group.params.number + m, calls, kinematics_of<Traced>(group.type), held[k].get()};
    }
  Traced measure[kLegs][4], jacobian[36];
  std::vector<Traced> row(static_cast<std::size_t>(output_size(job)));
  with_ring(plan.base, s, [&](const auto& ring) {
    evaluate_legs(job, plan, legs, s, ring, measure, jacobian, row.data(), [](const Traced*) { return true; });
  });
  Traced* const result = row.data();
  std::vector<Traced> judged(measure[0], measure[0] + 4 * kLegs);
  judged.insert(judged.end(), jacobian, jacobian + 36);
  give(graph, pieces_of(job), &result, judged.data());
  return graph.pruned();
}

}  // namespace zveno
