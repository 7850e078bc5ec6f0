// A function of one particular mechanism as an expression graph.
#pragma once

#include <vector>

#include <zveno/functions/linkage_job.hpp>
#include <zveno/graph/graph.hpp>
#include <zveno/model/inertial.hpp>

namespace zveno {

struct TraceOptions {
  unsigned given = 0;         // arrays that are inputs, a bit for each Param
  std::vector<int> symbolic;  // bodies whose inertial parameters are inputs, kInertial each
  // Base parameters: of each body the second moments Sxx, Sxy, Sxz, Syy, Syz, Szz, then mc and m
  std::vector<int> pattern;     // of each of them its place in the argument, -1: zero
  std::vector<double> numbers;  // instead of the argument
  bool regroup = false;         // see regrouped()
  std::size_t limit = Graph::kLimit;
};

// Arguments of the graph: see for_arguments. Results: Pieces. Only what they depend on is kept.
Graph trace(const Job& job, const TraceOptions& options);
// throws std::invalid_argument for legs that are closed by iteration
Graph trace(const HexJob& job, const TraceOptions& options);
// of a linkage that is given no numbers, with the rows that were chosen for it; not of constraint_derivatives
Graph trace(const LinkageJob& job, const TraceOptions& options);

}  // namespace zveno
