// Complex: real and imaginary part side by side in two lanes. A real number times a complex one is one product of packs, so
// that kernels whose geometry stays real pay for one scalar, not for two.
#pragma once

#include <zveno/scalar/pack.hpp>

namespace zveno {

struct Complex {
  using V = Pack<2>::V;
  Pack<2> v;

  Complex() = default;
  Complex(double x) : v(V{x, 0.0}) {}
  Complex(double re, double im) : v(V{re, im}) {}
  explicit Complex(const Pack<2>& v) : v(v) {}
  // member by member, see lin.hpp
  ZVENO_INLINE Complex(const Complex& b) : v(b.v) {}
  ZVENO_INLINE Complex& operator=(const Complex& b) {
    v = b.v;
    return *this;
  }

  double re() const { return v[0]; }
  double im() const { return v[1]; }

  friend ZVENO_INLINE Complex operator+(const Complex& a, const Complex& b) { return Complex(a.v + b.v); }
  friend ZVENO_INLINE Complex operator-(const Complex& a, const Complex& b) { return Complex(a.v - b.v); }
  friend ZVENO_INLINE Complex operator-(const Complex& a) { return Complex(-a.v); }
  friend ZVENO_INLINE Complex operator*(const Complex& a, const Complex& b) {
    return Complex(Pack<2>(a.v[0]) * b.v + Pack<2>(a.v[1]) * Pack<2>(V{-b.v[1], b.v[0]}));
  }
  friend ZVENO_INLINE Complex operator*(double a, const Complex& b) { return Complex(Pack<2>(a) * b.v); }
  friend ZVENO_INLINE Complex operator*(const Complex& a, double b) { return Complex(a.v * Pack<2>(b)); }
  friend ZVENO_INLINE Complex operator/(const Complex& a, const Complex& b) {
    const double size = b.v[0] * b.v[0] + b.v[1] * b.v[1];
    return a * Complex(b.v[0] / size, -b.v[1] / size);
  }
  Complex& operator+=(const Complex& b) { return *this = *this + b; }
  Complex& operator-=(const Complex& b) { return *this = *this - b; }
  Complex& operator*=(const Complex& b) { return *this = *this * b; }
  ZVENO_NO_COMPARISON(Complex);
};

}  // namespace zveno
