// Sines, cosines and angles as functions for machine code to call.
#pragma once

#include <zveno/scalar/angle.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

inline Packed* packs(double* x) { return reinterpret_cast<Packed*>(x); }
inline const Packed* packs(const double* x) { return reinterpret_cast<const Packed*>(x); }

// n numbers; what is written has room for whole packs
inline void sincos_of(const double* x, double* s, double* c, int n) { joint_trig(x, s, c, n); }
inline void angle_of(const double* s, const double* c, double* x, int n) {
  for (int i = 0; i < n; i += kLanes) joint_angle(Packed::of(s + i, n - i), Packed::of(c + i, n - i)).store(x + i);
}
// n aligned packs
inline void sincos_packs(const double* x, double* s, double* c, int n) { joint_trig(packs(x), packs(s), packs(c), n); }
inline void angle_packs(const double* s, const double* c, double* x, int n) {
  for (int i = 0; i < n; ++i) packs(x)[i] = joint_angle(packs(s)[i], packs(c)[i]);
}

}  // namespace zveno
