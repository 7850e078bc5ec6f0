// Dual<V, G>: a value V and its derivatives G in several directions at once.
//   single state: G = Pack, the directions fill the SIMD lanes; V = Pack too, the value repeated: no broadcasts
//   batch:        V = Pack, the states fill the lanes; G = Directions, an array
#pragma once

#include <zveno/math/lin.hpp>
#include <zveno/scalar/contract.hpp>

namespace zveno {

template <class V, int D>
struct Directions {
  V d[D];

  Directions() = default;
  ZVENO_INLINE Directions(const Directions& b) { *this = b; }
  ZVENO_INLINE Directions& operator=(const Directions& b) {
    for (int i = 0; i < D; ++i) d[i] = b.d[i];
    return *this;
  }
  Directions(double x) {
    for (V& di : d) di = V(x);
  }
#define ZVENO_DIRECTION_OP(OP)                                              \
  friend Directions operator OP(const Directions& a, const Directions& b) { \
    Directions r;                                                           \
    for (int i = 0; i < D; ++i) r.d[i] = a.d[i] OP b.d[i];                  \
    return r;                                                               \
  }
  ZVENO_DIRECTION_OP(+)
  ZVENO_DIRECTION_OP(-)
#undef ZVENO_DIRECTION_OP
  friend Directions operator*(const V& s, const Directions& a) {
    Directions r;
    for (int i = 0; i < D; ++i) r.d[i] = s * a.d[i];
    return r;
  }
  friend Directions operator-(const Directions& a) {
    Directions r;
    for (int i = 0; i < D; ++i) r.d[i] = -a.d[i];
    return r;
  }
};

template <class V, class G>
struct Dual {
  V v;
  G g;

  Dual() = default;
  Dual(double x) : v(x), g(0.0) {}
  Dual(const V& v, const G& g) : v(v), g(g) {}
  // member by member, see lin.hpp
  ZVENO_INLINE Dual(const Dual& b) : v(b.v), g(b.g) {}
  ZVENO_INLINE Dual& operator=(const Dual& b) {
    v = b.v, g = b.g;
    return *this;
  }

  friend Dual operator+(const Dual& a, const Dual& b) { return {a.v + b.v, a.g + b.g}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.v - b.v, a.g - b.g}; }
  friend Dual operator*(const Dual& a, const Dual& b) { return {a.v * b.v, a.v * b.g + b.v * a.g}; }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const V q = a.v / b.v, inv = V(1.0) / b.v;
    return {q, inv * (a.g - q * b.g)};
  }
  friend Dual operator-(const Dual& a) { return {-a.v, -a.g}; }
  // constants carry no derivative
  friend Dual operator*(const Dual& a, double b) { return {a.v * V(b), V(b) * a.g}; }
  friend Dual operator*(double a, const Dual& b) { return b * a; }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  ZVENO_NO_COMPARISON(Dual);
};

template <class V, class G>
void joint_trig(const Dual<V, G>* theta, Dual<V, G>* s, Dual<V, G>* c, int n) {
  for (int i = 0; i < n; ++i) {
    V si, ci;
    joint_trig(&theta[i].v, &si, &ci, 1);
    s[i] = {si, ci * theta[i].g};
    c[i] = {ci, -(si * theta[i].g)};
  }
}

}  // namespace zveno
