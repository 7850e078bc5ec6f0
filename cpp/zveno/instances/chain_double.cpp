#include <zveno/instances/chain.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::evaluate<double>(const Job&, const Inputs<double>&, double* const*, double*, Scratch&);
