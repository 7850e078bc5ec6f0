// The ring's pose from the actuated coordinates.
#pragma once

#include <zveno/functions/job.hpp>

namespace zveno {

struct KinematicsResult {
  Failure failure;
  double residual;  // largest difference of a coordinate from the wanted one
  int iterations;
};

// Newton's method on the closed form with halved steps where a full one does not help. (r, R) is where it begins and ends.
// Worst case: 100 steps of at most 12 evaluations.
KinematicsResult forward_kinematics(const KernelTable& kernels, const Hexapod& hexapod, const double* strokes, double* r,
                                    double* R);

}  // namespace zveno
