#include <zveno/functions/chain_analysis.hpp>
#include <zveno/instances/chain.hpp>
#include <zveno/scalar/count.hpp>

template void zveno::evaluate<zveno::Counted>(const Job&, const Inputs<Counted>&, Counted* const*, Counted*, Scratch&);
