// Dual<V, G>: a value V and its derivatives G in several directions at once. We use Dual<Pack, Pack>: the directions
// fill the SIMD lanes and the value is repeated in all of them, which saves a broadcast in every product. (States in
// the lanes and an array of directions was measured too: slower, too many registers.)
#pragma once

#include <zveno/scalar/contract.hpp>
#include <zveno/support/compiler.hpp>

namespace zveno {

template <class V, class G>
struct Dual {
  V v;
  G g;

  Dual() = default;
  Dual(double x) : v(x), g(0.0) {}
  explicit Dual(const V& v) : v(v), g(0.0) {}
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
