#include <zveno/instances/linkage.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::evaluate_linkage<zveno::Packed>(const LinkageJob&, const RowChoice&, const LinkageInputs<Packed>&,
                                                     Packed* const*, Packed*, Scratch&);
