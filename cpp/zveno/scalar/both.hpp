// Two numbers of a kind side by side: the operations of one fill the time in which those of the other wait for each other.
#pragma once

#include <zveno/support/compiler.hpp>

namespace zveno {

template <class W>
struct Both {
  W a, b;

  Both() = default;
  ZVENO_INLINE Both(double x) : a(x), b(x) {}
  ZVENO_INLINE Both(const W& a, const W& b) : a(a), b(b) {}

  friend ZVENO_INLINE Both operator+(const Both& x, const Both& y) { return {x.a + y.a, x.b + y.b}; }
  friend ZVENO_INLINE Both operator-(const Both& x, const Both& y) { return {x.a - y.a, x.b - y.b}; }
  friend ZVENO_INLINE Both operator*(const Both& x, const Both& y) { return {x.a * y.a, x.b * y.b}; }
  friend ZVENO_INLINE Both operator-(const Both& x) { return {-x.a, -x.b}; }
  ZVENO_INLINE Both& operator+=(const Both& y) { return *this = *this + y; }
  ZVENO_INLINE Both& operator-=(const Both& y) { return *this = *this - y; }
};

}  // namespace zveno
