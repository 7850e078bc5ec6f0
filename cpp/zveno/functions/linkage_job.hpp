// A function of a linkage for many states.
#pragma once

#include <zveno/functions/job.hpp>
#include <zveno/functions/linkage_functions.hpp>
#include <zveno/model/linkage.hpp>

namespace zveno {

// Rows for one state, where those of the linkage do not do; false: fewer hold than elsewhere. G: m x n, user's order.
using ChooseRows = bool (*)(const Linkage&, const double* G, const double* f, RowChoice& choice);

// Instead of projection: f'' + 2 damping f' + stiffness^2 f = 0, unless both are zero. docs/constraints.md (L37)
struct Baumgarte {
  double damping = 0, stiffness = 0;

  bool any() const { return damping != 0 || stiffness != 0; }
};

struct LinkageJob {
  const Linkage* linkage;
  LinkageFunction function;
  unsigned outputs = kEverything;
  ChooseRows choose = nullptr;
  Job tree;                          // of the chain
  Baumgarte baumgarte;               // of forward dynamics
  bool anywhere = false;             // states need not meet the constraints
  const LoopGroup* only = nullptr;   // residual and constraint_jacobian: its rows and joints alone
  const Program* program = nullptr;  // see Job

  LinkageJob() : linkage(nullptr), function(LinkageFunction::residual), tree{nullptr, Function::forward_dynamics} {}
  LinkageJob(const Linkage& linkage, LinkageFunction function, ChooseRows choose = nullptr)
      : linkage(&linkage), function(function), choose(choose), tree{&linkage.chain(), Function::forward_dynamics} {}
};

inline Sizes sizes_of(const Linkage& x) {
  return Sizes::of_linkage(x.chain().n(), static_cast<int>(x.chain().links().size()), x.rows(),
                           static_cast<int>(x.constraints().size()), x.given());
}
inline Sizes sizes_of(const LinkageJob& job) { return sizes_of(*job.linkage); }
// Of functions that are differentiated, what is given comes with its slopes by every q, one after another.
inline int input_size(const LinkageJob& job, Param p) {
  const bool slopes = p == Param::given && job.function == LinkageFunction::constraint_derivatives;
  return input_size(p, sizes_of(job)) * (slopes ? 1 + job.linkage->chain().n() : 1);
}
inline int output_count(const LinkageJob& job) { return row_of(job.function).outputs.count; }
inline std::ptrdiff_t output_size(const LinkageJob& job, int k = 0) {
  if (job.only)
    return static_cast<std::ptrdiff_t>(job.only->rows.size()) *
           (job.function == LinkageFunction::constraint_jacobian ? job.only->topology.size() : 1);
  return numbers(row_of(job.function).outputs[k].shape, sizes_of(job));
}

// What functions with a solve are judged by: pivots of the tree (n), then one for every row: above zero if it may be trusted
// as active, or as redundant; then one for every row: above zero if the state meets it; then one: above zero if the rates
// meet the active ones.
inline int judged_size(const LinkageJob& job) {
  return job.function < LinkageFunction::forward_dynamics ? 0 : job.linkage->chain().n() + 2 * job.linkage->rows() + 1;
}

// of generated code: results, then what they are judged by
inline Pieces pieces_of(const LinkageJob& job) {
  Pieces pieces;
  for (int k = 0; k < output_count(job); ++k)
    if (job.outputs >> k & 1) pieces.add(k, 0, output_size(job, k));
  if (judged_size(job)) pieces.add_judged(judged_size(job));
  return pieces;
}
inline int most_arguments(const LinkageJob&) { return kInputs; }

// Closing after a step, (L35). Of the length: a residual below is round-off, one above is open; more steps are not made
constexpr double kClosed = 1e-14, kOpen = 1e-9;
constexpr int kMostProjections = 3;

// squares: an active row keeps more than this of itself, a redundant one less of all rows
constexpr double kKeptSquare = 1e-8;

}  // namespace zveno
