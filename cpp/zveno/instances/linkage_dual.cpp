#include <zveno/instances/linkage.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::constraint_terms<zveno::Derived>(const LinkageJob&, const LinkageInputs<Derived>&, const Derived*,
                                                      Derived*, Derived*, Derived*, Scratch&);
