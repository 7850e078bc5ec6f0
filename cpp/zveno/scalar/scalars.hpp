// The scalars this build computes with.
#pragma once

#include <zveno/scalar/dual.hpp>
#include <zveno/scalar/sincos.hpp>

namespace zveno {

using Packed = Pack<kLanes>;
using Derived = Dual<Packed, Packed>;  // kLanes directions of one state

}  // namespace zveno
