#pragma once

#include <zveno/math/lin.hpp>

namespace zveno {

// What a chain computes with, of a rotation that its link is given; the same of the result. build.cpp
Mat3<double> used_rotation(const Mat3<double>& R);

}  // namespace zveno
