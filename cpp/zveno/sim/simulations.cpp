#include <zveno/sim/simulations.hpp>

namespace zveno {

template class Simulation<ChainSystem>;
template class Simulation<HexapodSystem>;

}  // namespace zveno
