// Which closed form an arm has, if any. docs/inverse-kinematics.md (K1), (K3), (K15).
#pragma once

#include <string>

#include <zveno/model/arm_plan.hpp>
#include <zveno/model/reach.hpp>

namespace zveno {

struct ArmFamilyFound {
  ArmPlan plan;
  std::string what;      // the family in words, or why there is none
  double deviation = 0;  // of the arm from its ideal form: rad, or m over the reach
};

// of a model with one frame
ArmFamilyFound find_arm_family(const ReachModel& model, double tolerance = 1e-5);

}  // namespace zveno
