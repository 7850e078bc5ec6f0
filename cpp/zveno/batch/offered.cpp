// Of the kernels, those that zveno.hpp offers: the others need not be in a library.
#include <zveno/batch/rows.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

const KernelTable& offered_kernels() {
  static const KernelTable table = [] {
    KernelTable t{};
    t.name = ZVENO_ISA_NAME;
    t.lanes = kLanes;
    t.run_chain = &run_chain;
    t.run_hexapod = &run_hexapod;
    return t;
  }();
  return table;
}

}  // namespace zveno
