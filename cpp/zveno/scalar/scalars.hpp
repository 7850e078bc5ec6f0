// The scalars this build computes with.
#pragma once

#include <zveno/scalar/dual.hpp>
#include <zveno/scalar/sincos.hpp>

namespace zveno {

using Packed = Pack<kLanes>;

// derivatives of one state: the directions fill the lanes; of a batch: the states do
constexpr int kDirections = 4;
using PackedDirections = Directions<Packed, kDirections>;
using DualSingle = Dual<Packed, Packed>;
using DualPacked = Dual<Packed, PackedDirections>;

}  // namespace zveno
