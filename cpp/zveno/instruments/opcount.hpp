// Operations of one evaluation, counted by running it.
#pragma once

#include <array>

#include <zveno/functions/job.hpp>
#include <zveno/scalar/count.hpp>

namespace zveno {

// by stage: kinematics, algorithm, assembly
std::array<Counts, 3> count_operations(const Job& job);

}  // namespace zveno
