// Machines and kernels of a library for chains and linkages alone.
#include <zveno/batch/rows.hpp>
#include <zveno/functions/inertia_solver.hpp>
#include <zveno/functions/law.hpp>
#include <zveno/functions/stage_dynamics.hpp>
#include <zveno/rig/load_kernels.hpp>
#include <zveno/rig/machine.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

const KernelTable* load_kernels(std::string&) {
  static const KernelTable table = [] {
    KernelTable t{};
    t.name = "source";
    t.lanes = kLanes;
    t.run_chain = &run_chain;
    t.run_linkage = &run_linkage;
    t.make_laws = &make_laws;
    t.make_inertia_solver = &make_inertia_solver;
    t.make_stage_dynamics = &make_stage_dynamics;
    return t;
  }();
  return &table;
}

std::unique_ptr<Machine> make_machine(const Description& d, const KernelTable& kernels) {
  if (!d.chain) throw ModelError("", "this library has no dockings and no hexapods");
  return make_chain_machine(d, kernels);
}

}  // namespace zveno
