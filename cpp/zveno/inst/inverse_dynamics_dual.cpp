#include <zveno/inst/evaluate.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::inverse_dynamics<zveno::DualSingle>(const Job&, const Inputs<DualSingle>&, DualSingle*, Scratch&);
template void zveno::inverse_dynamics<zveno::DualPacked>(const Job&, const Inputs<DualPacked>&, DualPacked*, Scratch&);
