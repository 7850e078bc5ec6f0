// Rows of states through the scalars, with the instruction set this was compiled for.
#pragma once

#include <zveno/functions/job.hpp>

namespace zveno {

Failure run_chain(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end);
Failure run_hexapod(const HexJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end);
Failure run_motion(const MotionJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end);
Failure run_linkage(const LinkageJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end);
std::unique_ptr<InertiaSolver> make_inertia_solver(const Chain& chain);
std::unique_ptr<StageDynamics> make_stage_dynamics(const Job& job);
void run_steps(const StepsJob& job, std::ptrdiff_t begin, std::ptrdiff_t end);
void run_reach(const ReachJob& job, std::ptrdiff_t begin, std::ptrdiff_t end);
void run_arm(const ArmJob& job, std::ptrdiff_t begin, std::ptrdiff_t end);
void run_arm_branches(const ArmJob& job, const double* goal, const ArmBranch<double>* branches);
const KernelTable& kernel_table();
const KernelTable& offered_kernels();  // run_chain and run_hexapod of it

}  // namespace zveno
