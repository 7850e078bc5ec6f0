// The platform of a hexapod (docking ring) in base axes, and the solve for its acceleration:
// docs/hexapods.md (44), (50).
#pragma once

#include <cstddef>
#include <type_traits>

#include <zveno/kernel/leg/body.hpp>
#include <zveno/kernel/stage.hpp>
#include <zveno/model/leg_type.hpp>

namespace zveno {

// motion of the base in base axes, its acceleration less the weight
using StillBase = leg::Flow<ZeroVec, ZeroVec, ZeroVec>;
template <class T>
using MovingBase = leg::Flow<AnyVec<T>, AnyVec<T>, AnyVec<T>>;
// b: [a_0 - g; Omega; Omega']
template <class T>
ZVENO_INLINE MovingBase<T> moving_base(const T* b) {
  return {{b[0], b[1], b[2]}, {b[6], b[7], b[8]}, {b[3], b[4], b[5]}};
}

// what the legs need to know of the ring. A and E are known zeros when the base is still.
template <class T, class B, class A, class E, class KC, class KB>
struct Ring {
  Axes<T> R;        // ring -> base
  AnyVec<T> r;      // centre of mass
  AnyVec<T> v, w;   // relative to the base
  AnyVec<T> omega;  // absolute angular velocity
  A a;              // absolute acceleration and angular acceleration left when u' = 0
  E alpha;
  KC K;    // of the ring
  B base;  // flow
  KB K0;   // of the base

  // member by member: an aggregate with empty members is cleared first
  ZVENO_INLINE Ring(const Axes<T>& R, const AnyVec<T>& r, const AnyVec<T>& v, const AnyVec<T>& w, const AnyVec<T>& omega,
                    const A& a, const E& alpha, const KC& K, const B& base, const KB& K0)
      : R(R), r(r), v(v), w(w), omega(omega), a(a), alpha(alpha), K(K), base(base), K0(K0) {}
};

// state: r (3), R (9, row major), u (6) = [v; w in ring axes]
template <class T, class B>
ZVENO_INLINE auto make_ring(const T* r, const T* R, const T* u, const B& base) {
  const Axes<T> turn{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}};
  const AnyVec<T> position{r[0], r[1], r[2]}, v{u[0], u[1], u[2]};
  const AnyVec<T> w = turn.times(AnyVec<T>{u[3], u[4], u[5]});
  const auto K0 = leg::acceleration_matrix<false>(base.alpha, base.omega);
  const auto omega = w + base.omega;
  const auto alpha = base.alpha + cross(base.omega, w);
  const auto a = base.a + K0.times(position) + cross(base.omega, v + v);
  const auto K = leg::acceleration_matrix<false>(alpha, omega);
  return Ring<T, B, decltype(a), decltype(alpha), decltype(K), decltype(K0)>(turn, position, v, w, omega, a, alpha, K, base,
                                                                             K0);
}

// R I R'
template <class T>
ZVENO_INLINE Sym3<T> inertia_in_base(const Platform<T>& body, const Axes<T>& R) {
  return rotated(dense(R), body.inertia);
}

// (50) with unknowns in base axes: force and moment on the ring, rates of momentum taken off
template <class T, class R>
ZVENO_INLINE void ring_forces(const Platform<T>& body, const Sym3<T>& inertia, const R& ring, const T* wrench, T* s) {
  const AnyVec<T> f{wrench[0], wrench[1], wrench[2]}, m{wrench[3], wrench[4], wrench[5]};
  const auto force = f - scaled(ring.a, body.mass);
  const auto spin = leg::times(inertia, ring.alpha) + cross(ring.omega, leg::times(inertia, ring.omega));
  const auto moment = ring.R.times(m) - spin;
  s[0] = force.x, s[1] = force.y, s[2] = force.z, s[3] = moment.x, s[4] = moment.y, s[5] = moment.z;
}

// place of element (i, j), i <= j, in the upper triangle of a symmetric 6 x 6 matrix stored by rows
constexpr int upper6(int i, int j) { return i * 6 - i * (i - 1) / 2 + j - i; }

// L D L' of a symmetric positive definite A given by its lower triangle, in place; inverse: of D; x: L x = b is solved along
// the way, or nullptr. Written out in full: 6 unknowns stay in registers.
template <int N, class T, class X>
ZVENO_INLINE void factor_symmetric(T (&A)[N][N], T (&inverse)[N], X x) {
  ZVENO_UNROLL
  for (int j = 0; j < N; ++j) {
    inverse[j] = T(1.0) / A[j][j];
    T l[N];
    ZVENO_UNROLL
    for (int i = j + 1; i < N; ++i) {
      l[i] = A[i][j] * inverse[j];
      ZVENO_UNROLL
      for (int k = j + 1; k <= i; ++k) A[i][k] -= l[i] * A[k][j];
    }
    ZVENO_UNROLL
    for (int i = j + 1; i < N; ++i) {
      A[i][j] = l[i];
      if constexpr (!std::is_same_v<X, std::nullptr_t>) x[i] -= l[i] * x[j];
    }
  }
}

// D L' x = b in place
template <int N, class T>
ZVENO_INLINE void solve_back(const T (&A)[N][N], const T (&inverse)[N], T* x) {
  ZVENO_UNROLL
  for (int j = N - 1; j >= 0; --j) {
    x[j] *= inverse[j];
    ZVENO_UNROLL
    for (int i = j + 1; i < N; ++i) x[j] -= A[i][j] * x[i];
  }
}

// A x = b of a factored A; x in place of b
template <int N, class T>
ZVENO_INLINE void solve_factored(const T (&A)[N][N], const T (&inverse)[N], T* b) {
  T x[N];
  ZVENO_UNROLL
  for (int j = 0; j < N; ++j) x[j] = b[j];
  ZVENO_UNROLL
  for (int j = 0; j < N; ++j) {
    ZVENO_UNROLL
    for (int i = j + 1; i < N; ++i) x[i] -= A[i][j] * x[j];
  }
  solve_back(A, inverse, x);
  ZVENO_UNROLL
  for (int j = 0; j < N; ++j) b[j] = x[j];
}

// A x = b for symmetric positive definite A given by its lower triangle, which is lost; x in place of b
template <int N, class T>
ZVENO_INLINE void solve_symmetric(T (&A)[N][N], T* b) {
  T inverse[N], x[N];
  ZVENO_UNROLL
  for (int j = 0; j < N; ++j) x[j] = b[j];
  factor_symmetric(A, inverse, +x);
  solve_back(A, inverse, x);
  ZVENO_UNROLL
  for (int j = 0; j < N; ++j) b[j] = x[j];
}

}  // namespace zveno
