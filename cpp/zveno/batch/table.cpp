// The kernels of an instruction set, as others find them.
#include <zveno/batch/rows.hpp>
#include <zveno/batch/transcendental.hpp>
#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/functions/contact.hpp>
#include <zveno/functions/docking_lanes.hpp>
#include <zveno/functions/free_motion.hpp>
#include <zveno/functions/hexapod_motion.hpp>
#include <zveno/functions/inertia_solver.hpp>
#include <zveno/functions/law.hpp>
#include <zveno/functions/stage_dynamics.hpp>
#include <zveno/functions/steps_job.hpp>

namespace zveno {

// transcendental_fused.cpp
void sincos_of_fused(const double* x, double* s, double* c, int n);
void angle_of_fused(const double* s, const double* c, double* x, int n);
void sincos_packs_fused(const double* x, double* s, double* c, int n);
void angle_packs_fused(const double* s, const double* c, double* x, int n);

namespace {

// one by one, as a kernel sees a single angle
void sincos_singly(const double* x, double* s, double* c, int n) {
  for (int i = 0; i < n; ++i) {
    double si[kLanes], ci[kLanes];
    joint_trig(x + i, si, ci, 1);
    s[i] = si[0], c[i] = ci[0];
  }
}

}  // namespace

const KernelTable& kernel_table() {
  static const KernelTable table{ZVENO_ISA_NAME,
                                 kLanes,
                                 &run_chain,
                                 &run_hexapod,
                                 &make_motion,
                                 &make_laws,
                                 &sincos_singly,
                                 {&sincos_of, &angle_of, &sincos_packs, &angle_packs},
                                 {&sincos_of_fused, &angle_of_fused, &sincos_packs_fused, &angle_packs_fused},
                                 &run_motion,
                                 &run_linkage,
                                 &make_inertia_solver,
                                 &make_stage_dynamics,
                                 &run_steps,
                                 &run_reach,
                                 &run_arm,
                                 &run_arm_branches,
                                 &make_free_motion,
                                 &make_contact,
                                 &docking::make_docking_lanes};
  return table;
}

}  // namespace zveno
