// Machines and kernels of a library for dockings and hexapods alone.
#include <zveno/batch/rows.hpp>
#include <zveno/functions/contact.hpp>
#include <zveno/functions/free_motion.hpp>
#include <zveno/functions/hexapod_motion.hpp>
#include <zveno/functions/law.hpp>
#include <zveno/rig/load_kernels.hpp>
#include <zveno/rig/machine.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

const KernelTable* load_kernels(std::string&) {
  static const KernelTable table = [] {
    KernelTable t{};
    t.name = "source";
    t.lanes = kLanes;
    t.run_hexapod = &run_hexapod;
    t.make_motion = &make_motion;
    t.make_laws = &make_laws;
    t.make_free_motion = &make_free_motion;
    t.make_contact = &make_contact;
    return t;
  }();
  return &table;
}

std::unique_ptr<Machine> make_machine(const Description& d, const KernelTable& kernels) {
  if (d.chain) throw ModelError("", "this library has no chains");
  return d.docking ? make_docking_machine(d, kernels) : make_hexapod_machine(d, kernels);
}

}  // namespace zveno
