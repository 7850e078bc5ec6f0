// Jet<V, kMost>: a function of time as its Taylor coefficients x_k = x^(k) / k!, cut off after some order, at most kMost.
// Coefficients instead of derivatives: products then need no binomials.
//
// The order is known when the program runs: a constant has degree 0, everything else that takes part in one computation has
// its order as degree. The degree is an integer, not a value, and says where sums end: seven of ten products in RNEA have a
// constant of the model as a factor and cost order + 1 multiplications instead of (order + 1)(order + 2)/2.
// Operations are calls: their loops are long enough, and one text of them serves the whole kernel.
#pragma once

#include <zveno/scalar/sincos.hpp>

namespace zveno {

template <class V, int kMost>
class Jet {
 public:
  // what is not set is a constant of any value
  Jet() : degree_(0) {}
  Jet(double x) : degree_(0) { c_[0] = x; }
  ZVENO_APART Jet(const Jet& b) { copy(b); }
  ZVENO_APART Jet& operator=(const Jet& b) {
    copy(b);
    return *this;
  }

  // coefficients are for the caller to set
  static Jet of_degree(int degree) {
    Jet x;
    x.degree_ = degree;
    return x;
  }
  int degree() const { return degree_; }
  V& operator[](int k) { return c_[k]; }
  const V& operator[](int k) const { return c_[k]; }
  V coefficient(int k) const { return k <= degree_ ? c_[k] : V(0.0); }

  friend ZVENO_APART Jet operator+(const Jet& a, const Jet& b) {
    Jet r = of_degree(common(a, b));
    const int both = least(a, b);
    for (int k = 0; k <= both; ++k) r.c_[k] = a.c_[k] + b.c_[k];
    const Jet& longer = a.degree_ > both ? a : b;
    for (int k = both + 1; k <= r.degree_; ++k) r.c_[k] = longer.c_[k];
    return r;
  }
  friend ZVENO_APART Jet operator-(const Jet& a, const Jet& b) {
    Jet r = of_degree(common(a, b));
    const int both = least(a, b);
    for (int k = 0; k <= both; ++k) r.c_[k] = a.c_[k] - b.c_[k];
    if (a.degree_ > both)
      for (int k = both + 1; k <= r.degree_; ++k) r.c_[k] = a.c_[k];
    else
      for (int k = both + 1; k <= r.degree_; ++k) r.c_[k] = -b.c_[k];
    return r;
  }
  friend ZVENO_APART Jet operator-(const Jet& a) {
    Jet r = of_degree(a.degree_);
    for (int k = 0; k <= a.degree_; ++k) r.c_[k] = -a.c_[k];
    return r;
  }
  friend ZVENO_APART Jet operator*(const Jet& a, const Jet& b) {
    Jet r = of_degree(common(a, b));
    if (b.degree_ == 0)
      a.scale(b.c_[0], r);
    else if (a.degree_ == 0)
      b.scale(a.c_[0], r);
    else
      multiply(a.c_, b.c_, r.c_, r.degree_);
    return r;
  }
  // z y = x: z_k = (x_k - sum_{i=1..k} y_i z_{k-i}) / y_0
  friend ZVENO_APART Jet operator/(const Jet& x, const Jet& y) {
    Jet z = of_degree(common(x, y));
    for (int k = 0; k <= z.degree_; ++k) {
      V left = x.coefficient(k);
      for (int i = 1; i <= k && i <= y.degree_; ++i) left = left - y.c_[i] * z.c_[k - i];
      z.c_[k] = left / y.c_[0];
    }
    return z;
  }
  Jet& operator+=(const Jet& b) { return *this = *this + b; }
  Jet& operator-=(const Jet& b) { return *this = *this - b; }
  Jet& operator*=(const Jet& b) { return *this = *this * b; }
  ZVENO_NO_COMPARISON(Jet);

 private:
  void copy(const Jet& b) {
    degree_ = b.degree_;
    for (int k = 0; k <= b.degree_; ++k) c_[k] = b.c_[k];
  }
  static int least(const Jet& a, const Jet& b) { return a.degree_ < b.degree_ ? a.degree_ : b.degree_; }
  // constants do not end the series of the other
  static int common(const Jet& a, const Jet& b) {
    return a.degree_ == 0 ? b.degree_ : b.degree_ == 0 ? a.degree_ : least(a, b);
  }
  void scale(const V& s, Jet& r) const {
    for (int k = 0; k <= degree_; ++k) r.c_[k] = c_[k] * s;
  }

  // r_k = sum_{i=0..k} x_i y_{k-i}; written out for the usual orders, with the factors in registers
  template <int kDegree>
  static ZVENO_INLINE void multiply_all(const V* x, const V* y, V* r) {
    V a[kDegree + 1], b[kDegree + 1];
    ZVENO_UNROLL
    for (int k = 0; k <= kDegree; ++k) a[k] = x[k], b[k] = y[k];
    ZVENO_UNROLL
    for (int k = 0; k <= kDegree; ++k) {
      V sum = a[0] * b[k];
      ZVENO_UNROLL
      for (int i = 1; i <= k; ++i) sum = sum + a[i] * b[k - i];
      r[k] = sum;
    }
  }
  static void multiply(const V* x, const V* y, V* r, int degree) {
    switch (degree) {
      case 1: return multiply_all<1>(x, y, r);
      case 2: return multiply_all<2>(x, y, r);
      case 3: return multiply_all<3>(x, y, r);
      case 4: return multiply_all<4>(x, y, r);
      case 5: return multiply_all<5>(x, y, r);
      case 6: return multiply_all<6>(x, y, r);
      default:;
    }
    for (int k = 0; k <= degree; ++k) {
      V sum = x[0] * y[k];
      for (int i = 1; i <= k; ++i) sum = sum + x[i] * y[k - i];
      r[k] = sum;
    }
  }

  int degree_;  // beside the first coefficients: one line of the cache less
  V c_[kMost + 1];
};

// k s_k = sum_{i=1..k} i x_i c_{k-i}, k c_k = -sum_{i=1..k} i x_i s_{k-i}
template <class V, int kMost>
void joint_trig(const Jet<V, kMost>* theta, Jet<V, kMost>* s, Jet<V, kMost>* c, int n) {
  for (int j = 0; j < n; ++j) {
    const Jet<V, kMost>& x = theta[j];
    const int degree = x.degree();
    V s0[padded(1)], c0[padded(1)], rate[kMost + 1];
    joint_trig(&x[0], s0, c0, 1);
    auto sine = Jet<V, kMost>::of_degree(degree), cosine = Jet<V, kMost>::of_degree(degree);
    sine[0] = s0[0], cosine[0] = c0[0];
    for (int k = 1; k <= degree; ++k) {
      rate[k] = x[k] * V(double(k));
      V up = rate[1] * cosine[k - 1], down = rate[1] * sine[k - 1];
      for (int i = 2; i <= k; ++i) {
        up = up + rate[i] * cosine[k - i];
        down = down + rate[i] * sine[k - i];
      }
      sine[k] = up / V(double(k));
      cosine[k] = -(down / V(double(k)));
    }
    s[j] = sine;
    c[j] = cosine;
  }
}

// kLanes states along their motions
using Moving = Jet<Pack<kLanes>, kMostTimeDerivatives>;

}  // namespace zveno
