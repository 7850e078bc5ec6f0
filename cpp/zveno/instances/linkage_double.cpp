#include <zveno/instances/linkage.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::evaluate_linkage<double>(const LinkageJob&, const RowChoice&, const Inputs<double>&, const double*,
                                              double* const*, double*, Scratch&);
