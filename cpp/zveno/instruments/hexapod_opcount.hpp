// Operations of one evaluation of a hexapod, counted by running it.
#pragma once

#include <utility>
#include <vector>

#include <zveno/model/hexapod.hpp>
#include <zveno/scalar/count.hpp>

namespace zveno {

// by stage, for a leg of one of the five structures, or for the ring and the solve (leg -1)
std::vector<std::pair<const char*, Counts>> count_leg_operations(const Hexapod& hexapod, int leg, bool moving, bool free);

}  // namespace zveno
