#include <zveno/inst/evaluate.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::evaluate<zveno::DualSingle>(const Job&, const Inputs<DualSingle>&, DualSingle*, DualSingle*, Scratch&);
