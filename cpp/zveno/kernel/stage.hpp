// Parts of an evaluation that operation counts are reported for.
#pragma once

#include <zveno/scalar/contract.hpp>

namespace zveno {

enum class Stage {
  kinematics,
  algorithm,
  assembly,
  // of a leg, and of the ring: Golubev & Yaskevich (000), sections 4-6
  closure,
  jacobian,
  drift,
  inertia,
  bias,
  reduction,
  reaction,
  ring,
  solve,
  count,
};
static_assert(static_cast<int>(Stage::count) <= kStages);

}  // namespace zveno
