#include <zveno/functions/chain_analysis.hpp>
#include <zveno/scalar/scalars.hpp>

template void zveno::ChainEvaluation<double>::analyse(double* const*, double*);
