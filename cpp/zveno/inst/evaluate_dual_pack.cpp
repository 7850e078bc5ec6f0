#include <zveno/inst/evaluate.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::evaluate<zveno::DualPacked>(const Job&, const Inputs<DualPacked>&, DualPacked*, DualPacked*, Scratch&);
