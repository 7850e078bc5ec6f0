// What a scalar offers to the kernels.
//
//   T(double)                    constants
//   + - * / unary -  += -= *=    between T and T
//   no comparison                every scalar but double deletes them: a kernel that branches on a value does not compile
//   joint_trig(theta, s, c, n)   sines and cosines of n angles; the only transcendental step of a call
//   root(x), joint_angle(s, c)   square root, and the angle of a sine and cosine: angle.hpp, only legs need them
//   enter_stage<T>(Stage)        a marker; only the counter looks at it
//
// double itself, pack.hpp (SIMD lanes), count.hpp (operation counter), dual.hpp (derivatives), trace.hpp (expression graph).
#pragma once

namespace zveno {

// parts of an evaluation that operation counts are reported for
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
};
constexpr int kStages = 12;

template <class T>
struct StageMarker {
  static void enter(Stage) {}
};

template <class T>
inline void enter_stage(Stage stage) {
  StageMarker<T>::enter(stage);
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
