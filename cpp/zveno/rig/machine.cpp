#include <zveno/rig/machine.hpp>

namespace zveno {

std::unique_ptr<Machine> make_machine(const Description& d, const KernelTable& kernels) {
  if (d.docking) return make_docking_machine(d, kernels);
  if (d.chain) return make_chain_machine(d, kernels);
  return make_hexapod_machine(d, kernels);
}

}  // namespace zveno
