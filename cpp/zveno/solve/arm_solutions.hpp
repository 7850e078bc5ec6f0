// From the branches of a closed form to solutions: what is verified, once each, in all turns that the limits allow, with a
// name. docs/inverse-kinematics.md (K24), (K25).
#pragma once

#include <cstdint>
#include <vector>

#include <zveno/functions/arm_job.hpp>

namespace zveno {

struct ArmSolution {
  double q[kMostArmJoints];
  double gap, turn;  // m, rad
  int branch;        // in the order of q without whole turns
  int multiplicity;  // branches that meet in it
  std::int8_t configuration[3];
  std::uint8_t singular;        // bits: shoulder, elbow, wrist, 8: of the Jacobian
  double free[kMostArmJoints];  // direction that does not move the frame, zero if there is none
};

struct ArmRow {
  std::vector<ArmSolution> inside, outside;  // of the limits
  double missing = 0;                        // m or rad, of what comes nearest; 0 if there is a solution
};

// `branches`: those of one row, see BranchLayout. first: orders solutions by distance, null: the middle of the limits.
void collect_solutions(const ArmPlan& plan, const ReachModel& model, const double* branches, const double* first,
                       bool limits, ArmRow& row);

}  // namespace zveno
