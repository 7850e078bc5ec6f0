// Following poses without leaving the branch. docs/inverse-kinematics.md (K30).
#pragma once

#include <memory>

#include <zveno/functions/reach_job.hpp>

namespace zveno {

class ReachPath {
 public:
  explicit ReachPath(const ReachModel& model);
  ~ReachPath();

  struct Step {
    bool certain;     // q is the continuation
    int corrections;  // steps of Newton's method
    int parts;        // into which the way was cut
    double sigma;     // least singular value of the Jacobian on the way, lengths over the reach
    double gap, turn;
  };
  // q, of the chain, n numbers: where it was at the goals `from`, 12 numbers a frame, and where it is at `to`; unchanged if
  // that is not certain
  Step follow(const double* from, const double* to, double* q);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace zveno
