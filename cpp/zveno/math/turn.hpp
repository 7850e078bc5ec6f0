// Plane rotations. A joint rotation is Rz(phi) Rx(alpha) Rz(theta); applying the factors one by one costs less than one
// dense 3x3 product for vectors (4 mul 2 add each) and less than half of it for inertias (8 mul 8 add each).
#pragma once

#include <cmath>

#include <zveno/math/lin.hpp>

namespace zveno {

// 0, 1 or -1 if x differs from it by less than `near`: right angles stay sparse
inline double snapped(double x, double near) {
  for (double v : {0.0, 1.0, -1.0})
    if (std::fabs(x - v) < near) return v;
  return x;
}

template <class T>
struct Turn {
  T s, c;  // sine and cosine

  ZVENO_INLINE void apply(T& x, T& y) const {
    const T x1 = c * x - s * y;
    y = s * x + c * y;
    x = x1;
  }
  ZVENO_INLINE void undo(T& x, T& y) const {
    const T x1 = c * x + s * y;
    y = c * y - s * x;
    x = x1;
  }
  // [xx xy; xy yy] -> turned, 4 mul 6 add; uses s^2 + c^2 = 1
  ZVENO_INLINE void apply_sym(T& xx, T& xy, T& yy) const {
    const T k = s * (xx - yy) + c * (xy + xy);
    const T sk = s * k;
    xy = c * k - xy;
    xx = xx - sk;
    yy = yy + sk;
  }
  // [xx xy; yx yy] -> turned, 4 mul 7 add
  ZVENO_INLINE void apply_mat(T& xx, T& xy, T& yx, T& yy) const {
    const T k = s * (xx - yy) + c * (xy + yx);
    const T sk = s * k, ck = c * k, yx0 = yx;
    yx = ck - xy;
    xy = ck - yx0;
    xx = xx - sk;
    yy = yy + sk;
  }
};

template <class T>
ZVENO_INLINE void turn_z(const Turn<T>& t, Vec3<T>& a) {
  t.apply(a.x(), a.y());
}
template <class T>
ZVENO_INLINE void turn_x(const Turn<T>& t, Vec3<T>& a) {
  t.apply(a.y(), a.z());
}
template <class T>
ZVENO_INLINE void unturn_z(const Turn<T>& t, Vec3<T>& a) {
  t.undo(a.x(), a.y());
}
template <class T>
ZVENO_INLINE void unturn_x(const Turn<T>& t, Vec3<T>& a) {
  t.undo(a.y(), a.z());
}

// turn_x by a right angle, s = 1 and c = 0, with products by them left out: the same bits but for the signs of zeros
template <class T>
ZVENO_INLINE void quarter_turn(T& x, T& y) {
  const T x1 = -y;
  y = x;
  x = x1;
}
template <class T>
ZVENO_INLINE void quarter_turn_x(Vec3<T>& a) {
  quarter_turn(a.y(), a.z());
}
template <class T>
ZVENO_INLINE void quarter_unturn_x(Vec3<T>& a) {
  const T y = a.z();
  a.z() = -a.y();
  a.y() = y;
}
template <class T>
ZVENO_INLINE void quarter_turn_x(Sym3<T>& S) {
  const T k = S.yy - S.zz;
  S.yy = S.yy - k;
  S.zz = S.zz + k;
  S.yz = -S.yz;
  quarter_turn(S.xy, S.xz);
}
template <class T>
ZVENO_INLINE void quarter_turn_x(Mat3<T>& A) {
  const T k = A(1, 1) - A(2, 2), zy = A(2, 1);
  A(1, 1) = A(1, 1) - k;
  A(2, 2) = A(2, 2) + k;
  A(2, 1) = -A(1, 2);
  A(1, 2) = -zy;
  quarter_turn(A(1, 0), A(2, 0));
  quarter_turn(A(0, 1), A(0, 2));
}

template <class T>
ZVENO_INLINE void turn_z(const Turn<T>& t, Sym3<T>& S) {
  t.apply_sym(S.xx, S.xy, S.yy);
  t.apply(S.xz, S.yz);
}
template <class T>
ZVENO_INLINE void turn_x(const Turn<T>& t, Sym3<T>& S) {
  t.apply_sym(S.yy, S.yz, S.zz);
  t.apply(S.xy, S.xz);
}

template <class T>
ZVENO_INLINE void turn_z(const Turn<T>& t, Mat3<T>& A) {
  t.apply_mat(A(0, 0), A(0, 1), A(1, 0), A(1, 1));
  t.apply(A(0, 2), A(1, 2));
  t.apply(A(2, 0), A(2, 1));
}
template <class T>
ZVENO_INLINE void turn_x(const Turn<T>& t, Mat3<T>& A) {
  t.apply_mat(A(1, 1), A(1, 2), A(2, 1), A(2, 2));
  t.apply(A(1, 0), A(2, 0));
  t.apply(A(0, 1), A(0, 2));
}

}  // namespace zveno
