// The steps that closed forms of arms are made of. docs/inverse-kinematics.md (K2), (K4)-(K11).
//
// An angle is the pair of its sine and cosine, so that no step needs a transcendental function. Every step has a fixed
// number of branches; beyond the boundary both are the angle that comes nearest. `miss` says how far beyond, 0 inside;
// `size` is about zero where the angle is indefinite.
#pragma once

#include <zveno/math/lin.hpp>
#include <zveno/scalar/select.hpp>

namespace zveno {

template <class T>
struct TwoTurns {
  Turn<T> turn[2];
  T miss, size;
};
template <class T>
struct OneTurn {
  Turn<T> turn;
  T gap, size;
};
template <class T>
struct FourTurns {
  Turn<T> turn[4];
  T miss[4];  // relative, 0 for a root
};

template <class T>
ZVENO_INLINE T length_of(const Vec3<T>& a) {
  return root(dot(a, a));
}
// what of v is at right angles to the unit vector k
template <class T>
ZVENO_INLINE Vec3<T> across(const Vec3<T>& k, const Vec3<T>& v) {
  return v - k * dot(k, v);
}
// R(k, t) v, (K2)
template <class T>
ZVENO_INLINE Vec3<T> turned(const Vec3<T>& k, const Turn<T>& t, const Vec3<T>& v) {
  return v * t.c + cross<T>(k, v) * t.s + k * (dot(k, v) * (T(1.0) - t.c));
}
// the point x moved by a joint, (K1)
template <class T>
ZVENO_INLINE Vec3<T> swung(const Vec3<T>& k, const Vec3<T>& p, const Turn<T>& t, const Vec3<T>& x) {
  return p + turned<T>(k, t, x - p);
}
template <class T>
Mat3<T> rotation_about(const Vec3<T>& k, const Turn<T>& t) {
  Mat3<T> R = skew<T>(k * t.s);
  const Vec3<T> u = k * (T(1.0) - t.c);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R(i, j) = R(i, j) + u[i] * k[j] + (i == j ? t.c : T(0.0));
  return R;
}

// A cos t + B sin t = C, (K4)
template <class T>
TwoTurns<T> meet(const T& A, const T& B, const T& C) {
  const T r = root(A * A + B * B), D = clipped_root<T>((r - C) * (r + C));
  const Turn<T> f = unit_turn(B, A), g = unit_turn(D, C);
  return {{product(f, g), product(f, reversed(g))}, greater<T>(magnitude(C) - r, T(0.0)), r};
}

// p turned about k as near to w as it comes, (K5)
template <class T>
OneTurn<T> turn_to(const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w) {
  const Vec3<T> x = cross<T>(k, p), y = cross<T>(x, k);
  const T a = length_of(x), b = length_of(cross<T>(k, w)), along = dot<T>(k, p - w), apart = a - b, size = a * b;
  Turn<T> t = unit_turn(dot(x, w), dot(y, w));
  // rounding only: no angle is better than another, zero is the same everywhere
  t = pick_below<T>(size, T(1e-24), Turn<T>{T(0.0), T(1.0)}, t);
  return {t, root(along * along + apart * apart), size};
}

// |R(k, t) p - w| = d, (K7); `size` is how far from stretched and from folded
template <class T>
TwoTurns<T> turn_to_distance(const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w, const T& d) {
  const T a = length_of(cross<T>(k, p)), b = length_of(cross<T>(k, w)), h = dot<T>(k, p - w);
  const T D = clipped_root<T>((d - h) * (d + h));
  const T far = D - (a + b), near = magnitude<T>(a - b) - D;
  const T u = clipped_root<T>((D - (a - b)) * (D + (a - b))), v = clipped_root<T>((a + b - D) * (a + b + D));
  const Turn<T> half = unit_turn(u, v), g = product(half, half), f = turn_to(k, p, w).turn;
  const T short_of = greater<T>(magnitude<T>(h) - d, T(0.0));
  return {{product(f, g), product(f, reversed(g))},
          greater(short_of, greater(greater(far, near), T(0.0))),
          lesser<T>(magnitude(far), magnitude(near))};
}

// h . R(k, t) p = d, (K8); back: the same with the turn reversed
template <class T>
TwoTurns<T> turn_to_plane(const Vec3<T>& h, const Vec3<T>& k, const Vec3<T>& p, const T& d, bool back = false) {
  const T A = dot<T>(h, across(k, p)), B = dot<T>(h, cross<T>(k, p)), C = d - dot(h, k) * dot(k, p);
  return meet<T>(A, back ? T(-B) : B, C);
}

// p turned about k so that its angle with h is that of w, all of unit length, (K8): the same as a plane, but with all digits
// where the angle is nearly 0 or pi
template <class T>
TwoTurns<T> turn_to_angle(const Vec3<T>& h, const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w, bool back = false) {
  const T a = length_of(cross<T>(k, p)), b = length_of(cross<T>(k, h));
  const auto half_side = [&](const Vec3<T>& pole) {
    const T d = length_of(w - pole), along = dot<T>(k, p - pole), D = clipped_root<T>((d - along) * (d + along));
    return clipped_root<T>((D - (a - b)) * (D + (a - b)));
  };
  const Turn<T> half = unit_turn(half_side(h), half_side(-h)), g = product(half, half);
  const Turn<T> f = turn_to(k, p, h).turn, one = product(f, g), two = product(f, reversed(g));
  const T beyond = magnitude<T>(dot(h, w) - dot(h, k) * dot(k, p)) - a * b;
  return {{back ? reversed(one) : one, back ? reversed(two) : two}, greater<T>(beyond - T(1e-15), T(0.0)), a * b};
}

namespace detail {

constexpr double kFifth[2][5] = {
    {0.0, 0.9510565162951535, 0.5877852522924731, -0.5877852522924731, -0.9510565162951535},  // sines of 2 pi m / 5
    {1.0, 0.30901699437494745, -0.8090169943749475, -0.8090169943749475, 0.30901699437494745}};

// f and its slope from its five coefficients
template <class T>
struct Harmonics {
  T c0, a1, b1, a2, b2;
  ZVENO_INLINE T at(const Turn<T>& t, T& slope) const {
    const T c2 = t.c * t.c - t.s * t.s, s2 = T(2.0) * t.s * t.c;
    slope = b1 * t.c - a1 * t.s + T(2.0) * (b2 * c2 - a2 * s2);
    return c0 + a1 * t.c + b1 * t.s + a2 * c2 + b2 * s2;
  }
};

}  // namespace detail

// Roots of f(t) = c0 + a1 cos t + b1 sin t + a2 cos 2t + b2 sin 2t, (K9), from f at the angles 2 pi m / 5
template <class T>
ZVENO_APART FourTurns<T> four_roots(const T (&f)[5]) {
  using detail::kFifth;
  detail::Harmonics<T> h{T(0.0), T(0.0), T(0.0), T(0.0), T(0.0)};
  T largest(0.0);
  Turn<T> t0{T(0.0), T(-1.0)};  // half a turn from the sample of largest |f|
  for (int m = 0; m < 5; ++m) {
    const double s = kFifth[0][m], c = kFifth[1][m], s2 = kFifth[0][2 * m % 5], c2 = kFifth[1][2 * m % 5];
    h.c0 += f[m] * T(0.2);
    h.a1 += f[m] * T(0.4 * c), h.b1 += f[m] * T(0.4 * s), h.a2 += f[m] * T(0.4 * c2), h.b2 += f[m] * T(0.4 * s2);
    const auto larger = below(largest, magnitude(f[m]));
    t0 = {pick(larger, T(-s), t0.s), pick(larger, T(-c), t0.c)};
    largest = greater(largest, magnitude(f[m]));
  }
  const T scale = T(1.0) / pick_below(T(0.0), largest, largest, T(1.0));
  h.c0 *= scale, h.a1 *= scale, h.b1 *= scale, h.a2 *= scale, h.b2 *= scale;
  // in t' = t - t0
  const T c2 = t0.c * t0.c - t0.s * t0.s, s2 = T(2.0) * t0.s * t0.c;
  const T a1 = h.a1 * t0.c + h.b1 * t0.s, b1 = h.b1 * t0.c - h.a1 * t0.s;
  const T a2 = h.a2 * c2 + h.b2 * s2, b2 = h.b2 * c2 - h.a2 * s2;
  // by x = tan(t' / 2), divided by the leading coefficient f(t0 + pi), which is not small
  const T lead = h.c0 - a1 + a2;
  const T inverse = T(1.0) / pick_below(T(0.0), magnitude(lead), lead, T(1.0));
  const T A[4] = {(h.c0 + a1 + a2) * inverse, (T(2.0) * b1 + T(4.0) * b2) * inverse, (T(2.0) * h.c0 - T(6.0) * a2) * inverse,
                  (T(2.0) * b1 - T(4.0) * b2) * inverse};
  // all four roots at once, by Weierstrass: no root has to be found before another
  struct Complex {
    T re, im;
  };
  const auto times = [](const Complex& a, const Complex& b) {
    return Complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  };
  const T radius = greater<T>(root(root(magnitude(A[0]))), T(0.3));
  constexpr double kStart[4][2] = {{0.92, 0.39}, {-0.35, 0.94}, {-0.89, -0.45}, {0.41, -0.91}};
  Complex x[4];
  for (int i = 0; i < 4; ++i) x[i] = {radius * T(kStart[i][0]), radius * T(kStart[i][1])};
  for (int step = 0; step < 40; ++step)
    for (int i = 0; i < 4; ++i) {
      Complex value{x[i].re + A[3], x[i].im};
      for (int k = 2; k >= 0; --k) {
        value = times(value, x[i]);
        value.re = value.re + A[k];
      }
      Complex by{T(1.0), T(0.0)};
      for (int j = 0; j < 4; ++j)
        if (j != i) by = times(by, Complex{x[i].re - x[j].re, x[i].im - x[j].im});
      const T size = by.re * by.re + by.im * by.im, w = T(1.0) / greater(size, T(1e-280));
      const Complex d = times(value, Complex{by.re * w, -by.im * w});
      x[i] = {x[i].re - d.re, x[i].im - d.im};
    }
  FourTurns<T> roots;
  for (int i = 0; i < 4; ++i) {
    const T r = x[i].re, w = T(1.0) / (T(1.0) + r * r);
    Turn<T> t = product(t0, Turn<T>{T(2.0) * r * w, (T(1.0) - r * r) * w});
    T slope, value = h.at(t, slope);
    for (int step = 0; step < 4; ++step) {  // accept only what is nearer
      const auto steep = below(T(1e-12), magnitude(slope));
      T half = T(-0.5) * pick(steep, value, T(0.0)) / pick(steep, slope, T(1.0));
      half = greater(T(-0.25), lesser(T(0.25), half));
      const T v = T(1.0) / (T(1.0) + half * half);
      const Turn<T> next = product(t, Turn<T>{T(2.0) * half * v, (T(1.0) - half * half) * v});
      T next_slope;
      const T next_value = h.at(next, next_slope);
      const auto nearer = below(magnitude(next_value), magnitude(value));
      t = {pick(nearer, next.s, t.s), pick(nearer, next.c, t.c)};
      slope = pick(nearer, next_slope, slope), value = pick(nearer, next_value, value);
    }
    roots.turn[i] = unit_turn(t.s, t.c);
    roots.miss[i] = greater<T>(magnitude(value) - T(1e-9), T(0.0));
  }
  return roots;
}

// A x1 + B x2 = d, x = (cos, sin), A and B by rows, (K10)
template <class T>
struct PlanePair {
  Turn<T> first[4], second[4];
  T miss[4], size;
};
template <class T>
PlanePair<T> two_planes(const T (&A)[2][2], const T (&B)[2][2], const T (&d)[2]) {
  PlanePair<T> out;
  T f[5];
  const T det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
  const auto first = [&](const Turn<T>& t, T& x, T& y) {  // adj(A) (d - B x2)
    const T r0 = d[0] - B[0][0] * t.c - B[0][1] * t.s, r1 = d[1] - B[1][0] * t.c - B[1][1] * t.s;
    x = A[1][1] * r0 - A[0][1] * r1, y = A[0][0] * r1 - A[1][0] * r0;
  };
  for (int m = 0; m < 5; ++m) {
    T x, y;
    first({T(detail::kFifth[0][m]), T(detail::kFifth[1][m])}, x, y);
    f[m] = x * x + y * y - det * det;
  }
  const FourTurns<T> roots = four_roots(f);
  const T sign = pick_below(det, T(0.0), T(-1.0), T(1.0));
  for (int i = 0; i < 4; ++i) {
    T x, y;
    first(roots.turn[i], x, y);
    out.second[i] = roots.turn[i];
    out.first[i] = unit_turn<T>(y * sign, x * sign);
    out.miss[i] = roots.miss[i];
  }
  out.size = magnitude(det);
  return out;
}

// Three parallel axes through p[0], p[1], p[2] along k, their turns s_i about them, E_1 E_2 E_3 = (R, t) in the plane, (K11)
template <class T>
struct PlanarTriple {
  Turn<T> turn[2][3];
  T miss, size;
};
template <class T>
PlanarTriple<T> planar_triple(const Vec3<T>& k, const Vec3<T>* p, const double* sign, const Mat3<T>& R, const Vec3<T>& t,
                              const Vec3<T>& beside) {
  const Turn<T> phi = turn_to(k, beside, times(R, beside)).turn;
  const Vec3<T> u = across<T>(k, times(R, p[2]) + t - p[0]);
  const Vec3<T> upper = across<T>(k, p[1] - p[0]), fore = across<T>(k, p[2] - p[1]);
  const TwoTurns<T> second = turn_to_distance<T>(k, fore, -upper, length_of(u));
  PlanarTriple<T> out;
  for (int i = 0; i < 2; ++i) {
    const Turn<T>& a2 = second.turn[i];
    const Turn<T> a1 = turn_to<T>(k, upper + turned(k, a2, fore), u).turn;
    const Turn<T> a3 = product(phi, reversed(product(a1, a2)));
    const Turn<T> a[3] = {a1, a2, a3};
    for (int j = 0; j < 3; ++j) out.turn[i][j] = {a[j].s * T(sign[j]), a[j].c};
  }
  out.miss = second.miss;
  out.size = second.size;
  return out;
}

}  // namespace zveno
