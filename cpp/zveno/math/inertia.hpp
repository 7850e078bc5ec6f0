// The mass of a rigid body: mass m, first moment mc and second moment about a point, in some axes. Bodies rotate, shift and
// add. The second moment has two forms: S = integral of p p' dm, and the inertia I = tr(S) E - S.
#pragma once

#include <zveno/math/lin.hpp>

namespace zveno {

template <class T>
struct Moments {
  T m;
  Vec3<T> mc;
  Sym3<T> S;

  friend Moments operator+(const Moments& a, const Moments& b) { return {a.m + b.m, a.mc + b.mc, a.S + b.S}; }
};

template <class T>
struct Inertia {
  T m;
  Vec3<T> mc;
  Sym3<T> I;

  ZVENO_INLINE void set(const T& mass, const Vec3<T>& moment, const Sym3<T>& inertia) { m = mass, mc = moment, I = inertia; }
  ZVENO_INLINE void add(const Inertia& b) {
    m += b.m;
    mc += b.mc;
    I = I + b.I;
  }
};

// ---- the two forms

template <class T>
Sym3<T> inertia_of(const Sym3<T>& S) {
  return {S.yy + S.zz, -S.xy, -S.xz, S.xx + S.zz, -S.yz, S.xx + S.yy};
}

// trace: of I
template <class T>
Sym3<T> second_moment_of(const Sym3<T>& I, const T& trace) {
  const T half = trace * T(0.5), zero(0.0);  // 0 - x: a zero stays without a sign
  return {half - I.xx, zero - I.xy, zero - I.xz, half - I.yy, zero - I.yz, half - I.zz};
}
template <class T>
Sym3<T> second_moment_of(const Sym3<T>& I) {
  return second_moment_of<T>(I, I.xx + I.yy + I.zz);
}

template <class T>
Inertia<T> inertia_of(const Moments<T>& x) {
  return {x.m, x.mc, inertia_of(x.S)};
}
template <class T>
Moments<T> moments_of(const Inertia<T>& x) {
  return {x.m, x.mc, second_moment_of(x.I)};
}

// inertia about the origin of a mass at c: m (c.c E - c c'); cc = c.c
template <class T>
Sym3<T> point_inertia(const T& m, const Vec3<T>& c, const T& cc) {
  const T x = c.x(), y = c.y(), z = c.z();
  return {m * (cc - x * x), -(m * (x * y)), -(m * (x * z)), m * (cc - y * y), -(m * (y * z)), m * (cc - z * z)};
}

// ---- rotate and shift; R maps old components to new ones, p is the old origin seen from the new one

template <class T>
Moments<T> rotated(const Mat3<T>& R, const Moments<T>& x) {
  return {x.m, times(R, x.mc), rotated(R, x.S)};
}

// S + p mc' + mc p' + m p p' = S + p c1' + mc p', c1 the new first moment
template <class T>
Moments<T> shifted(const Vec3<T>& p, const Moments<T>& x) {
  const Vec3<T> c = x.mc, c1 = c + p * x.m;
  const auto part = [&](const T& s, int i, int j) { return s + p[i] * c1[j] + c[i] * p[j]; };
  return {x.m,
          c1,
          {part(x.S.xx, 0, 0), part(x.S.xy, 0, 1), part(x.S.xz, 0, 2), part(x.S.yy, 1, 1), part(x.S.yz, 1, 2),
           part(x.S.zz, 2, 2)}};
}

// first rotated, then shifted
template <class T>
Moments<T> moved(const Mat3<T>& R, const Vec3<T>& p, const Moments<T>& x) {
  return shifted(p, rotated(R, x));
}

// The same for the inertia; X.to_parent(tensor) rotates, X.p is the shift, none if coincident. With a joint's frame as X:
// 39 mul 38 add
template <class T, class Frame>
ZVENO_INLINE Inertia<T> moved(const Frame& X, const Inertia<T>& x) {
  Inertia<T> moved;
  const Vec3<T> c = X.to_parent(x.mc), p = X.p;
  if (X.coincident()) {
    moved.set(x.m, c, X.to_parent(x.I));
    return moved;
  }
  const Vec3<T> c1 = c + p * x.m;
  // I + p~ c~' + c~ p~' + m p~ p~' = I + p~ c1~' + c~ p~'
  const T xx = p.x() * c1.x() + c.x() * p.x(), yy = p.y() * c1.y() + c.y() * p.y(), zz = p.z() * c1.z() + c.z() * p.z();
  Sym3<T> I = X.to_parent(x.I);
  I.xx += yy + zz;
  I.yy += xx + zz;
  I.zz += xx + yy;
  I.xy -= p.x() * c1.y() + c.x() * p.y();
  I.xz -= p.x() * c1.z() + c.x() * p.z();
  I.yz -= p.y() * c1.z() + c.y() * p.z();
  moved.set(x.m, c1, I);
  return moved;
}

// ---- as numbers: m, mc (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the origin

constexpr int kInertial = 10;

template <class T>
Inertia<T> inertia_from(const T* p) {
  return {p[0], {p[1], p[2], p[3]}, {p[4], p[5], p[6], p[7], p[8], p[9]}};
}

template <class T>
void write_inertial(const Inertia<T>& x, T* p) {
  const T all[kInertial] = {x.m, x.mc.x(), x.mc.y(), x.mc.z(), x.I.xx, x.I.xy, x.I.xz, x.I.yy, x.I.yz, x.I.zz};
  for (int i = 0; i < kInertial; ++i) p[i] = all[i];
}

}  // namespace zveno
