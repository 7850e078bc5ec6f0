// From the branches of a closed form to solutions: what is verified, once each, in all turns that the limits allow, with a
// name. docs/inverse-kinematics.md (K24), (K25).
#pragma once

#include <zveno/functions/arm_job.hpp>

namespace zveno {

// `branches`: those of one row, see BranchLayout. Appends to what the job has found.
void collect_solutions(const ArmJob& job, std::ptrdiff_t row, const double* branches);

struct KernelTable;
// a job of one row, its branches in lanes, with the bits of a row of many
void run_one_arm(const ArmJob& job, const KernelTable& kernels);

// Direction of q that does not move the frame to first order, of the Jacobian with lengths over the reach; false: none.
// In the order of the model.
bool free_direction(const ArmPlan& plan, const double* q, double* free);

}  // namespace zveno
