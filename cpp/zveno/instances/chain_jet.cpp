#include <zveno/functions/chain_analysis.hpp>
#include <zveno/instances/chain.hpp>
#include <zveno/scalar/jet.hpp>

template void zveno::evaluate<zveno::Moving>(const Job&, const Inputs<Moving>&, Moving* const*, Moving*, Scratch&);
