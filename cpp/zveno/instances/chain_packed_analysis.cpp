#include <zveno/functions/chain_analysis.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::ChainEvaluation<zveno::Packed>::analyse(zveno::Packed* const*, zveno::Packed*);
