// Numbers known when the code is compiled: 0, 1 and -1 as types. Products and sums with them cost nothing, so that one text
// of a recursion becomes the short code of a particular structure: Golubev & Yaskevich (000), section 7.
#pragma once

#include <type_traits>

#include <zveno/math/lin.hpp>

namespace zveno {

template <int k>
struct Known {};
using Zero = Known<0>;
using One = Known<1>;

namespace detail {

constexpr int kVariable = 2;
template <class A>
constexpr int known = kVariable;
template <int k>
constexpr int known<Known<k>> = k;

template <class A, class B>
using IfKnown = std::enable_if_t<known<A> != kVariable || known<B> != kVariable, int>;

}  // namespace detail

template <int k>
ZVENO_INLINE Known<-k> operator-(Known<k>) {
  return {};
}

template <class A, class B, detail::IfKnown<A, B> = 0>
ZVENO_INLINE auto operator*(const A& a, const B& b) {
  constexpr int ka = detail::known<A>, kb = detail::known<B>;
  if constexpr (ka != detail::kVariable && kb != detail::kVariable) {
    return Known<ka * kb>();
  } else if constexpr (ka == 0 || kb == 0) {
    return Zero();
  } else if constexpr (ka == 1) {
    return B(b);
  } else if constexpr (kb == 1) {
    return A(a);
  } else if constexpr (ka == -1) {
    return B(-b);
  } else {
    return A(-a);
  }
}

template <class A, class B, detail::IfKnown<A, B> = 0>
ZVENO_INLINE auto operator+(const A& a, const B& b) {
  constexpr int ka = detail::known<A>, kb = detail::known<B>;
  if constexpr (ka != detail::kVariable && kb != detail::kVariable) {
    static_assert(-1 <= ka + kb && ka + kb <= 1);
    return Known<ka + kb>();
  } else if constexpr (ka == 0) {
    return B(b);
  } else if constexpr (kb == 0) {
    return A(a);
  } else if constexpr (kb == detail::kVariable) {
    return B(B(double(ka)) + b);
  } else {
    return A(a + A(double(kb)));
  }
}

template <class A, class B, detail::IfKnown<A, B> = 0>
ZVENO_INLINE auto operator-(const A& a, const B& b) {
  constexpr int ka = detail::known<A>, kb = detail::known<B>;
  if constexpr (ka != detail::kVariable && kb != detail::kVariable) {
    static_assert(-1 <= ka - kb && ka - kb <= 1);
    return Known<ka - kb>();
  } else if constexpr (ka == 0) {
    return B(-b);
  } else if constexpr (kb == 0) {
    return A(a);
  } else if constexpr (kb == detail::kVariable) {
    return B(B(double(ka)) - b);
  } else {
    return A(a - A(double(kb)));
  }
}

// the number itself
template <class T, int k>
ZVENO_INLINE T value(Known<k>) {
  return T(double(k));
}
template <class T>
ZVENO_INLINE const T& value(const T& x) {
  return x;
}

// a vector some components of which are known
template <class X, class Y, class Z>
struct Vec {
  X x;
  Y y;
  Z z;
};
template <class X, class Y, class Z>
Vec(X, Y, Z) -> Vec<X, Y, Z>;

// no component is known
template <class T>
using AnyVec = Vec<T, T, T>;
using ZeroVec = Vec<Zero, Zero, Zero>;

template <class T>
ZVENO_INLINE AnyVec<T> known(const Vec3<T>& a) {
  return {a.x(), a.y(), a.z()};
}
template <class T, class X, class Y, class Z>
ZVENO_INLINE Vec3<T> plain(const Vec<X, Y, Z>& a) {
  return {value<T>(a.x), value<T>(a.y), value<T>(a.z)};
}

#define ZVENO_VEC2 template <class A, class B, class C, class D, class E, class F>
ZVENO_VEC2 ZVENO_INLINE auto operator+(const Vec<A, B, C>& a, const Vec<D, E, F>& b) {
  return Vec{a.x + b.x, a.y + b.y, a.z + b.z};
}
ZVENO_VEC2 ZVENO_INLINE auto operator-(const Vec<A, B, C>& a, const Vec<D, E, F>& b) {
  return Vec{a.x - b.x, a.y - b.y, a.z - b.z};
}
ZVENO_VEC2 ZVENO_INLINE auto cross(const Vec<A, B, C>& a, const Vec<D, E, F>& b) {
  return Vec{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
ZVENO_VEC2 ZVENO_INLINE auto dot(const Vec<A, B, C>& a, const Vec<D, E, F>& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
#undef ZVENO_VEC2
template <class A, class B, class C>
ZVENO_INLINE auto operator-(const Vec<A, B, C>& a) {
  return Vec{-a.x, -a.y, -a.z};
}
// a s
template <class A, class B, class C, class S>
ZVENO_INLINE auto scaled(const Vec<A, B, C>& a, const S& s) {
  return Vec{a.x * s, a.y * s, a.z * s};
}

// three rows (the axes of a frame); times: R a, undo: R' a
template <class T>
struct Axes {
  AnyVec<T> x, y, z;

  template <class A, class B, class C>
  ZVENO_INLINE auto times(const Vec<A, B, C>& a) const {
    return Vec{dot(x, a), dot(y, a), dot(z, a)};
  }
  template <class A, class B, class C>
  ZVENO_INLINE auto undo(const Vec<A, B, C>& a) const {
    return scaled(x, a.x) + scaled(y, a.y) + scaled(z, a.z);
  }
};
template <class T>
ZVENO_INLINE Mat3<T> dense(const Axes<T>& R) {
  Mat3<T> r;
  r(0, 0) = R.x.x, r(0, 1) = R.x.y, r(0, 2) = R.x.z;
  r(1, 0) = R.y.x, r(1, 1) = R.y.y, r(1, 2) = R.y.z;
  r(2, 0) = R.z.x, r(2, 1) = R.z.y, r(2, 2) = R.z.z;
  return r;
}

}  // namespace zveno
