// Forward dynamics of a chain by articulated bodies, at one state after another as the stages of a step ask for it.
#pragma once

#include <zveno/functions/rows.hpp>

namespace zveno {

// A Runge-Kutta stage knows the position of the next one, to which its own velocities lead. The inertia of two positions is
// factored side by side in lanes, which takes hardly longer than one. The results have the bits of
// Function::forward_dynamics. Vectors in the user's order; nothing is allocated after construction.
class StageDynamics {
 public:
  struct State {
    const double *q, *qd, *tau;
    const double* base_motion;  // 9, or null
    const double* external;     // 6 for each frame of the job
    const double* ahead;        // the next position, or null
  };

  virtual ~StageDynamics() = default;
  virtual Failure run(const State& state, double* qdd) = 0;
};

}  // namespace zveno
