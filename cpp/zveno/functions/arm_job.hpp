// All branches of closed forms: what is asked for rows of poses, and what is told of each branch.
#pragma once

#include <zveno/functions/rows.hpp>
#include <zveno/model/arm_plan.hpp>
#include <zveno/model/reach.hpp>

namespace zveno {

// numbers told of a branch: q (n), what is left of the way (m, rad), how far from solvable, the three singular
// measures, the three numbers whose signs name the configuration
struct BranchLayout {
  int n;
  int gap() const { return n; }
  int turn() const { return n + 1; }
  int miss() const { return n + 2; }
  int singular(int i) const { return n + 3 + i; }
  int sign(int i) const { return n + 6 + i; }
  int size() const { return n + 9; }
};

struct ArmJob {
  const ArmPlan* plan;
  const ReachModel* model;  // its joints are those of the plan
  RowData goal;             // 12: p, R by rows
  RowData psi;              // 1
  double* out = nullptr;    // branches of a row, one after another
};

}  // namespace zveno
