// Operations of one evaluation, counted by running it.
#pragma once

#include <utility>
#include <vector>

#include <zveno/functions/job.hpp>
#include <zveno/scalar/count.hpp>

namespace zveno {

using StageCounts = std::pair<const char*, Counts>;

// of a chain: kinematics, algorithm, assembly
std::vector<StageCounts> count_operations(const Job& job);

// of one leg of a hexapod by stage, or of the ring (leg -1); moving: base that moves, or gravity; free: free base.
// Throws std::out_of_range, or std::invalid_argument for a leg that is closed by iteration.
std::vector<StageCounts> count_operations(const Hexapod& hexapod, int leg, bool moving, bool free);

// of a node of docking rings that touches: edge, side, face; placed, tested, pushed
std::vector<StageCounts> count_contact();

}  // namespace zveno
