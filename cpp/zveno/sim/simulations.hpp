// Simulations of chains and hexapods, compiled once and for speed: files that include this only call them.
#pragma once

#include <zveno/sim/chain_system.hpp>
#include <zveno/sim/hexapod_system.hpp>
#include <zveno/sim/integrate.hpp>

namespace zveno {

extern template class Simulation<ChainSystem>;
extern template class Simulation<HexapodSystem>;

}  // namespace zveno
