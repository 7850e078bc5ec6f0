#include <zveno/instances/linkage.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::evaluate_linkage<double>(const LinkageJob&, const RowChoice&, const LinkageInputs<double>&,
                                              double* const*, double*, Scratch&);
