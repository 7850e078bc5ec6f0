// Joint rates for a wanted motion of a frame, and how far its Jacobian is from a singular one. docs/manipulators.md.
#pragma once

#include <cstdint>
#include <memory>

namespace zveno {

enum class RateStatus : std::int8_t {
  found = 0,
  limited = 1,    // a bound holds, and takes part of the wanted motion away
  singular = 2,   // no rates, or not finite ones, give the motion
  undecided = 3,  // the sets of bounds came back without an end
  not_finite = 4,
};

// what is the same for all rows
struct RateTask {
  int n = 0;               // joints
  double scale[6] = {};    // of the components [v; w]; 0: not held
  double damping = 0;      // mu0
  double region = 0;       // damped where the smallest singular value is less
  bool link_axes = false;  // the Jacobian is in the axes of the link that it moves
};

// of one row; J: 6 x n, twist: 6
struct RateRow {
  const double *J, *twist;
  const double* wish;           // n: rates where the task leaves a choice, or null
  const double *lower, *upper;  // n, lower <= upper; or null
  double *qd, *residual;        // n; 6: what is missing of the twist, 0 where it is not held
  double *smallest, *mu;        // singular value, damping that was used
};

// of one row: min(rows held, n) singular values, descending; gradients by the joints, n each, or null. The columns of J
// belong to joints that carry each other, in their order from the base.
struct MeasureRow {
  const double* J;
  double *values, *direction;  // 6: the motion that is nearest to being lost, scaled components, unit length
  double *manipulability, *condition;
  double *d_manipulability, *d_condition, *d_smallest;
};

// Storage for rows of one task; a thread has one of its own.
class RateSolver {
 public:
  explicit RateSolver(const RateTask& task);
  ~RateSolver();
  RateStatus solve(const RateRow& row);
  RateStatus measure(const MeasureRow& row);
  int rows() const;  // held

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace zveno
