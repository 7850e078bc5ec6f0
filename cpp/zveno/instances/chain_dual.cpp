#include <zveno/instances/chain.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::inverse_dynamics<zveno::Derived>(const Job&, const Inputs<Derived>&, Derived*, Scratch&);
