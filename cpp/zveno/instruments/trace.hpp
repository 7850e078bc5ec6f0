// A function of one particular chain as an expression graph.
#pragma once

#include <vector>

#include <zveno/functions/job.hpp>
#include <zveno/graph/graph.hpp>
#include <zveno/model/inertial.hpp>

namespace zveno {

struct TraceOptions {
  std::vector<int> symbolic;  // bodies whose inertial parameters are inputs, kInertial each
  bool regroup = false;       // see regrouped()
  std::size_t limit = Graph::kLimit;
};

// Arguments of the graph: the job's n-vectors, each external wrench (6), the inertial parameters. Results: those of the
// job (derivatives: three), and the pivots of forward dynamics. Only what results depend on is kept.
Graph trace_chain(const Job& job, const TraceOptions& options);

}  // namespace zveno
