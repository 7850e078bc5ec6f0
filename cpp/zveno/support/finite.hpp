// Whether numbers are finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zveno {

// An exponent of all ones carries into the sign bit. No branch, no chain of dependent operations: any compiler vectorises
// it.
inline bool all_finite(const double* x, std::ptrdiff_t count) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000u, kUnit = 0x0010000000000000u;
  std::uint64_t carried = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, x + i, sizeof bits);
    carried |= (bits & kExponent) + kUnit;
  }
  return carried >> 63 == 0;
}

}  // namespace zveno
