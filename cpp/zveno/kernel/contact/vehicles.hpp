// Two vehicles in flight and their rings: docs/docking.md (D1)-(D5), but for the mechanisms. Arrays of nine are rotations by
// rows.
#pragma once

#include <zveno/math/known.hpp>
#include <zveno/math/quaternion.hpp>
#include <zveno/scalar/angle.hpp>

namespace zveno::docking {

// ---- state: of each vehicle, then five works, work of the legs, impulses of thrusters
constexpr int kRods = 6;  // legs of a ring
constexpr int kX = 0, kQ0 = 3, kP = 7, kL = 10, kRC = 13, kQC = 16, kU = 20, kVehicle = 26;
constexpr int kWork = 2 * kVehicle, kLegWork = kWork + 5, kExternal = kLegWork + 2 * kRods, kPlain = kExternal + 12;

template <class T>
ZVENO_INLINE AnyVec<T> vec(const T* x) {
  return {x[0], x[1], x[2]};
}
template <class T>
ZVENO_INLINE void put(const AnyVec<T>& x, T* to) {
  to[0] = x.x, to[1] = x.y, to[2] = x.z;
}
template <class T>
ZVENO_INLINE AnyVec<T> turned(const T* R, const AnyVec<T>& x) {
  return {R[0] * x.x + R[1] * x.y + R[2] * x.z, R[3] * x.x + R[4] * x.y + R[5] * x.z, R[6] * x.x + R[7] * x.y + R[8] * x.z};
}
template <class T>
ZVENO_INLINE AnyVec<T> back(const T* R, const AnyVec<T>& x) {
  return {R[0] * x.x + R[3] * x.y + R[6] * x.z, R[1] * x.x + R[4] * x.y + R[7] * x.z, R[2] * x.x + R[5] * x.y + R[8] * x.z};
}
template <class T>
ZVENO_INLINE void times(const T* A, const T* B, T* C) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
// A' B
template <class T>
ZVENO_INLINE void times_back(const T* A, const T* B, T* C) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}
// by a symmetric matrix xx xy xz yy yz zz
template <class T>
ZVENO_INLINE AnyVec<T> times6(const T* a, const AnyVec<T>& x) {
  return {a[0] * x.x + a[1] * x.y + a[2] * x.z, a[1] * x.x + a[3] * x.y + a[4] * x.z, a[2] * x.x + a[4] * x.y + a[5] * x.z};
}
template <class T>
ZVENO_INLINE void invert(const T* a, T* b) {
  const T c0 = a[3] * a[5] - a[4] * a[4], c1 = a[2] * a[4] - a[1] * a[5], c2 = a[1] * a[4] - a[2] * a[3];
  const T d = T(1.0) / (a[0] * c0 + a[1] * c1 + a[2] * c2);
  b[0] = c0 * d, b[1] = c1 * d, b[2] = c2 * d;
  b[3] = (a[0] * a[5] - a[2] * a[2]) * d, b[4] = (a[1] * a[2] - a[0] * a[4]) * d, b[5] = (a[0] * a[3] - a[1] * a[1]) * d;
}

// where everything is, and how it moves
template <class T>
struct Kinematics {
  T R0[2][9], RC[2][9];                              // base axes to N, ring axes to base
  T twist[2][6];                                     // of the base, base axes
  T o[2][3], RN[2][9];                               // ring frames in N
  T vo[2][3], wN[2][3];                              // their velocities
  T turn[9], at[3], v[3], w[3];                      // B's port in A's axes, velocity at A's origin
  static constexpr int kSize = 102, kRelative = 84;  // numbers; those before turn
};

// a vehicle with a rigid port
template <class T>
struct RigidVehicle {
  T per_mass, com[3], per_inertia[6];  // inertia about the centre of mass
};

// momentum in base axes, about the base's origin
template <class T>
ZVENO_INLINE void momentum_in_base(const T* s, const T* R0, T* p) {
  const AnyVec<T> P = vec(s + kP);
  put(back(R0, P), p);
  put(back(R0, AnyVec<T>(vec(s + kL) - cross(vec(s + kX), P))), p + 3);
}

// (D1) of a rigid vehicle, and its port
template <class T>
ZVENO_INLINE void move_port(const RigidVehicle<T>& v, const T* s, const T* p, int k, Kinematics<T>& e) {
  const T* R0 = e.R0[k];
  const AnyVec<T> c = vec(v.com), lin = vec(p), w = times6(v.per_inertia, AnyVec<T>(vec(p + 3) - cross(c, lin)));
  put(w, e.twist[k] + 3);
  put(AnyVec<T>(scaled(lin, v.per_mass) - cross(w, c)), e.twist[k]);
  for (int i = 0; i < 9; ++i) e.RN[k][i] = R0[i];
  for (int i = 0; i < 3; ++i) e.o[k][i] = s[kX + i];
  put(turned(R0, w), e.wN[k]);
  put(turned(R0, vec(e.twist[k])), e.vo[k]);
}

// (D5): a ring on legs, the mating plane `offset` ahead of its centre of mass
template <class T>
ZVENO_INLINE void move_ring(const T* s, double offset, int k, Kinematics<T>& e) {
  const T *R0 = e.R0[k], *RC = e.RC[k], *twist = e.twist[k], zero(0.0);
  times(R0, RC, e.RN[k]);
  const AnyVec<T> w = vec(twist + 3), uw = turned(RC, vec(s + kU + 3)),
                  arm = turned(e.RN[k], AnyVec<T>{T(offset), zero, zero});
  const AnyVec<T> wN = turned(R0, AnyVec<T>(w + uw));
  put(AnyVec<T>(vec(s + kX) + turned(R0, vec(s + kRC)) + arm), e.o[k]);
  put(wN, e.wN[k]);
  put(AnyVec<T>(turned(R0, AnyVec<T>(vec(twist) + cross(w, vec(s + kRC)) + vec(s + kU))) + cross(wN, arm)), e.vo[k]);
}

// one ring against the other
template <class T>
ZVENO_INLINE void relate(Kinematics<T>& e) {
  const T* RA = e.RN[0];
  const AnyVec<T> oA = vec(e.o[0]), oB = vec(e.o[1]), wA = vec(e.wN[0]), wB = vec(e.wN[1]);
  times_back(RA, e.RN[1], e.turn);
  put(back(RA, AnyVec<T>(oB - oA)), e.at);
  put(back(RA, AnyVec<T>(vec(e.vo[1]) + cross(wB, AnyVec<T>(oA - oB)) - vec(e.vo[0]))), e.v);
  put(back(RA, AnyVec<T>(wB - wA)), e.w);
}

// a load in N axes about the origin of N
template <class T>
struct LoadInN {
  AnyVec<T> f, m;
  ZVENO_INLINE LoadInN reversed() const { return {-f, -m}; }
};
// a load on B at A's origin, A's axes
template <class T>
ZVENO_INLINE LoadInN<T> load_on_b(const T* load, const Kinematics<T>& e) {
  const AnyVec<T> F = turned(e.RN[0], vec(load));
  return {F, turned(e.RN[0], vec(load + 3)) + cross(vec(e.o[0]), F)};
}

// (D2), (D3): rates of the base and of the momenta, impulses of thrusters; returns the power of these
template <class T>
ZVENO_INLINE T move_vehicle(const T* s, const T* com, const LoadInN<T>& load, const T* thrust, int k, const Kinematics<T>& e,
                            T* rate) {
  const T *R0 = e.R0[k], *twist = e.twist[k], half(0.5);
  T* out = rate + k * kVehicle;
  const AnyVec<T> omega = vec(twist + 3), c = vec(com);
  put(turned(R0, vec(twist)), out + kX);
  product(s + kQ0, T(0.0), T(half * omega.x), T(half * omega.y), T(half * omega.z), out + kQ0);
  const AnyVec<T> push = turned(R0, vec(thrust)), xc = vec(s + kX) + turned(R0, c);
  const AnyVec<T> spin = turned(R0, vec(thrust + 3)) + cross(xc, push);
  put(AnyVec<T>(load.f + push), out + kP), put(AnyVec<T>(load.m + spin), out + kL);
  put(push, rate + kExternal + 6 * k), put(spin, rate + kExternal + 6 * k + 3);
  return dot(vec(thrust), AnyVec<T>(vec(twist) + cross(omega, c))) + dot(vec(thrust + 3), omega);
}

// the load of a vehicle as the wrench on its ring: force in base axes, moment about its centre of mass in ring axes
template <class T>
ZVENO_INLINE void ring_wrench(const T* s, const LoadInN<T>& load, int k, const Kinematics<T>& e, T* wrench) {
  const AnyVec<T> xC = vec(s + kX) + turned(e.R0[k], vec(s + kRC));
  put(back(e.R0[k], load.f), wrench);
  put(back(e.RN[k], AnyVec<T>(load.m - cross(xC, load.f))), wrench + 3);
}

// (D2), (D4): rates of a ring
template <class T>
ZVENO_INLINE void move_on(const T* s, const T* acceleration, T* out) {
  const T half(0.5);
  for (int i = 0; i < 3; ++i) out[kRC + i] = s[kU + i];
  product(s + kQC, T(0.0), T(half * s[kU + 3]), T(half * s[kU + 4]), T(half * s[kU + 5]), out + kQC);
  for (int i = 0; i < 6; ++i) out[kU + i] = acceleration[i];
}

// ---- a step of the classical method of Runge and Kutta, from the rates k1 at its beginning

// f(stage, x, k): rates k at x; stage 0, 1: in the middle, 2: at the end. False: it fails.
template <class T, class F>
ZVENO_INLINE bool runge_kutta(int n, const T& h, const T* y, const T* k1, const T* k, T* x, T* next, const F& f) {
  const T half = T(0.5) * h, two(2.0), sixth = h / T(6.0);
  for (int i = 0; i < n; ++i) x[i] = y[i] + half * k1[i], next[i] = k1[i];
  if (!f(0)) return false;
  for (int i = 0; i < n; ++i) x[i] = y[i] + half * k[i], next[i] += two * k[i];
  if (!f(1)) return false;
  for (int i = 0; i < n; ++i) x[i] = y[i] + h * k[i], next[i] += two * k[i];
  if (!f(2)) return false;
  for (int i = 0; i < n; ++i) next[i] = y[i] + sixth * (next[i] + k[i]);
  for (int v = 0; v < 2; ++v)
    for (const int at : {v * kVehicle + kQ0, v * kVehicle + kQC}) {
      const T size = root(square_of(next + at));
      for (int i = 0; i < 4; ++i) next[at + i] = next[at + i] / size;
    }
  return true;
}

}  // namespace zveno::docking
