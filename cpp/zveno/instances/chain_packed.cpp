#include <zveno/instances/chain.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::evaluate<zveno::Packed>(const Job&, const Inputs<Packed>&, Packed* const*, Packed*, Scratch&);
