// What a scalar offers to the kernels.
//
//   T(double)                    constants
//   + - * / unary -  += -= *=    between T and T
//   no comparison                every scalar but double deletes them: a kernel that branches on a value does not compile
//   joint_trig(theta, s, c, n)   sines and cosines of n angles; the only transcendental step of a call
//   root(x), joint_angle(s, c)   square root, and the angle of a sine and cosine: angle.hpp, only legs need them
//   loaded<T>(x)                 from an array: a number, or as many as T has lanes
//   enter_stage<T>(stage)        a marker; only the counter looks at it
//
// double itself, pack.hpp (SIMD lanes), count.hpp (operation counter), dual.hpp (derivatives), jet.hpp (time
// derivatives), trace.hpp (expression graph), complex.hpp (beside a real geometry: no angles).
#pragma once

#include <zveno/support/compiler.hpp>

namespace zveno {

// kernels divide their work into at most this many numbered stages, for which operation counts are reported
constexpr int kStages = 16;
// highest order of the jets that are compiled
constexpr int kMostTimeDerivatives = 12;

template <class T>
struct StageMarker {
  static void enter(int) {}
};

template <class T, class Stage>
inline void enter_stage(Stage stage) {
  StageMarker<T>::enter(static_cast<int>(stage));
}

template <class T>
struct Loader {
  static ZVENO_INLINE T load(const double* x) { return T(*x); }
};

template <class T>
ZVENO_INLINE T loaded(const double* x) {
  return Loader<T>::load(x);
}

// deleted comparisons, to be inherited by a scalar
#define ZVENO_NO_COMPARISON(TYPE)                            \
  friend bool operator<(const TYPE&, const TYPE&) = delete;  \
  friend bool operator>(const TYPE&, const TYPE&) = delete;  \
  friend bool operator<=(const TYPE&, const TYPE&) = delete; \
  friend bool operator>=(const TYPE&, const TYPE&) = delete; \
  friend bool operator==(const TYPE&, const TYPE&) = delete; \
  friend bool operator!=(const TYPE&, const TYPE&) = delete

}  // namespace zveno
