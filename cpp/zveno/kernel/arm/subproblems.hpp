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
  T size;
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
  const auto some = below(T(0.0), r);
  const T inverse = T(1.0) / pick(some, r, T(1.0)), c = greater(T(-1.0), lesser(T(1.0), C * inverse));
  const Turn<T> f{B * inverse, pick(some, A * inverse, T(1.0))};
  const Turn<T> g{D * inverse, pick(some, c, T(1.0))};
  return {{product(f, g), product(f, reversed(g))}, greater<T>(magnitude(C) - r, T(0.0)), r};
}

// p turned about k as near to w as it comes, (K5); rest: where no angle is better than another, which is rounding only
template <class T>
ZVENO_INLINE OneTurn<T> turn_to(const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w,
                                const Turn<T>& rest = {T(0.0), T(1.0)}) {
  const Vec3<T> x = cross<T>(k, p);
  const T s = dot(x, w), c = dot<T>(cross<T>(x, k), w), size = root(s * s + c * c);
  const auto some = below(T(1e-24), size);
  const T inverse = T(1.0) / pick(some, size, T(1.0));
  return {{pick(some, s * inverse, rest.s), pick(some, c * inverse, rest.c)}, size};
}
// and what is left of the way then
template <class T>
T gap_after_turn(const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w) {
  const T along = dot<T>(k, p - w), apart = length_of(cross<T>(k, p)) - length_of(cross<T>(k, w));
  return root(along * along + apart * apart);
}

// two sides of a triangle whose angle is sought, for any third side, (K7): R(k, t) p and w
template <class T>
struct TwoSides {
  T sum, difference, along;  // of |k x p| and |k x w|; k . (p - w)
  Turn<T> turn;              // that brings p nearest to w
  TwoSides(const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w) {
    const T a = length_of(cross<T>(k, p)), b = length_of(cross<T>(k, w));
    sum = a + b, difference = a - b, along = dot<T>(k, p - w);
    turn = turn_to(k, p, w).turn;
  }
};
// the turn whose half has the tangent sqrt(u2 / v2)
template <class T>
ZVENO_INLINE Turn<T> twice(const T& u2, const T& v2) {
  const T sum = u2 + v2;
  const auto some = below(T(0.0), sum);
  const T inverse = T(1.0) / pick(some, sum, T(1.0));
  return {T(2.0) * root(u2 * v2) * inverse, pick(some, (v2 - u2) * inverse, T(1.0))};
}
// |R(k, t) p - w| in the plane across k is D; `size` is how far from stretched and from folded
template <class T>
ZVENO_INLINE TwoTurns<T> turn_to_side(const TwoSides<T>& sides, const T& D) {
  const T far = D - sides.sum, near = magnitude(sides.difference) - D;
  const T u2 = greater<T>((D - sides.difference) * (D + sides.difference), T(0.0));
  const T v2 = greater<T>(-far * (D + sides.sum), T(0.0));
  const Turn<T> g = twice(u2, v2);
  return {{product(sides.turn, g), product(sides.turn, reversed(g))},
          greater(greater(far, near), T(0.0)),
          lesser<T>(magnitude(far), magnitude(near))};
}
// |R(k, t) p - w| = d, (K7)
template <class T>
TwoTurns<T> turn_to_distance(const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w, const T& d) {
  const TwoSides<T> sides(k, p, w);
  TwoTurns<T> out = turn_to_side<T>(sides, clipped_root<T>((d - sides.along) * (d + sides.along)));
  out.miss = greater<T>(out.miss, magnitude(sides.along) - d);
  return out;
}

// h . R(k, t) p = d, (K8); back: the same with the turn reversed
template <class T>
TwoTurns<T> turn_to_plane(const Vec3<T>& h, const Vec3<T>& k, const Vec3<T>& p, const T& d, bool back = false) {
  const T A = dot<T>(h, across(k, p)), B = dot<T>(h, cross<T>(k, p)), C = d - dot(h, k) * dot(k, p);
  return meet<T>(A, back ? T(-B) : B, C);
}

// Unit vectors h and p, of which p is turned about k so that its angle with h is that of w, (K8): the same as a plane, but
// with all digits where the angle is nearly 0 or pi
template <class T>
struct Cone {
  Vec3<T> h;
  T near2, far2;  // squares of the least distances of R(k, t) p from h and from -h
  T span, height;
  Turn<T> turn;  // that brings p nearest to h
  Cone(const Vec3<T>& pole, const Vec3<T>& k, const Vec3<T>& p) : h(pole) {
    const T a = length_of(cross<T>(k, p)), b = length_of(cross<T>(k, h)), apart = a - b;
    const T near = dot<T>(k, p - h), far = dot<T>(k, p + h);
    near2 = near * near + apart * apart, far2 = far * far + apart * apart;
    span = a * b, height = dot(h, k) * dot(k, p);
    turn = turn_to(k, p, h).turn;
  }
};
template <class T>
ZVENO_INLINE TwoTurns<T> turn_to_angle(const Cone<T>& cone, const Vec3<T>& w, bool back = false) {
  const Vec3<T> n = w - cone.h, f = w + cone.h;
  const T u2 = greater<T>(dot(n, n) - cone.near2, T(0.0)), v2 = greater<T>(dot(f, f) - cone.far2, T(0.0));
  const Turn<T> g = twice(u2, v2), one = product(cone.turn, g), two = product(cone.turn, reversed(g));
  const T beyond = magnitude<T>(dot(cone.h, w) - cone.height) - cone.span;
  return {{back ? reversed(one) : one, back ? reversed(two) : two}, greater<T>(beyond - T(1e-15), T(0.0)), cone.span};
}
template <class T>
TwoTurns<T> turn_to_angle(const Vec3<T>& h, const Vec3<T>& k, const Vec3<T>& p, const Vec3<T>& w, bool back = false) {
  return turn_to_angle(Cone<T>(h, k, p), w, back);
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
// the links between the axes
template <class T>
struct PlanarLinks {
  Vec3<T> k, first, upper, fore, last;
  TwoSides<T> sides;
  PlanarLinks(const Vec3<T>& along, const Vec3<T>* p)
      : k(along),
        first(p[0]),
        upper(across<T>(k, p[1] - p[0])),
        fore(across<T>(k, p[2] - p[1])),
        last(p[2]),
        sides(k, fore, -upper) {}
};
// at: where the motion takes the last axis; beside, after: a vector across k, and where the motion takes it
template <class T>
ZVENO_INLINE PlanarTriple<T> planar_triple(const PlanarLinks<T>& link, const double* sign, const Vec3<T>& at,
                                           const Vec3<T>& beside, const Vec3<T>& after) {
  const Turn<T> phi = turn_to(link.k, beside, after).turn;
  const Vec3<T> u = across<T>(link.k, at - link.first);
  const TwoTurns<T> second = turn_to_side<T>(link.sides, length_of(u));
  PlanarTriple<T> out;
  for (int i = 0; i < 2; ++i) {
    const Turn<T>& a2 = second.turn[i];
    const Turn<T> a1 = turn_to<T>(link.k, link.upper + turned(link.k, a2, link.fore), u).turn;
    const Turn<T> a3 = product(phi, reversed(product(a1, a2)));
    const Turn<T> a[3] = {a1, a2, a3};
    for (int j = 0; j < 3; ++j) out.turn[i][j] = {a[j].s * T(sign[j]), a[j].c};
  }
  out.miss = second.miss;
  out.size = second.size;
  return out;
}

}  // namespace zveno
