// A function of one particular mechanism as an expression graph.
#pragma once

#include <vector>

#include <zveno/functions/job.hpp>
#include <zveno/graph/graph.hpp>

namespace zveno {

// inertial parameters of a link about its origin, in its axes: m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz
constexpr int kInertial = 10;

struct TraceOptions {
  unsigned given = 0;         // arrays that are inputs, a bit for each Param
  std::vector<int> symbolic;  // bodies whose inertial parameters are inputs, kInertial each
  bool regroup = false;       // see regrouped()
  std::size_t limit = Graph::kLimit;
};

// Arguments of the graph: see for_arguments. Results: those of the job that are wanted, and what the library needs to judge
// them: pivots of forward dynamics of chains, HexParts of hexapods. Only what results depend on is kept.
Graph trace(const Job& job, const TraceOptions& options);
// throws std::invalid_argument for legs that are closed by iteration
Graph trace(const HexJob& job, const TraceOptions& options);

// those of the link that body b's joint moves, everything welded to it included
void inertial_parameters(const Chain& chain, int b, double* p);

// Inertial parameters that have the same effect on the equations of motion, though not on reactions: whatever lies on the
// axis of a revolute joint moves with the parent too, and so does the inertia of a prismatic joint's body, which does not
// turn against it. All of that is handed to the parent, docs/chains.md (11.3), and leaves zeros: m, m c_z, S_zz or S.
std::vector<BodyParams<double>> regrouped(const Chain& chain);

}  // namespace zveno
