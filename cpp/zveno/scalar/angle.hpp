// Square root, and the angle of a known sine and cosine, for every scalar.
#pragma once

#include <cmath>

#include <zveno/math/known.hpp>
#include <zveno/scalar/count.hpp>
#include <zveno/scalar/dual.hpp>
#include <zveno/scalar/sincos.hpp>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace zveno {

ZVENO_INLINE double root(double x) { return std::sqrt(x); }
ZVENO_INLINE One root(One) { return {}; }

template <int N>
ZVENO_INLINE Pack<N> root(const Pack<N>& x) {
#if defined(__AVX512F__)
  // masked: GCC warns about an undefined operand inside the plain form
  if constexpr (N == 8) return Pack<N>((typename Pack<N>::V)_mm512_maskz_sqrt_pd(0xff, (__m512d)x.v));
#endif
#if defined(__AVX__)
  if constexpr (N == 4) return Pack<N>((typename Pack<N>::V)_mm256_sqrt_pd((__m256d)x.v));
#endif
#if defined(__SSE2__)
  if constexpr (N == 2) return Pack<N>((typename Pack<N>::V)_mm_sqrt_pd((__m128d)x.v));
#endif
  Pack<N> r;
  for (int i = 0; i < N; ++i) r.v[i] = std::sqrt(x[i]);
  return r;
}

inline Counted root(const Counted& x) {
  ++Counted::now().sqrt;
  return std::sqrt(x.value());
}

template <class V, class G>
Dual<V, G> root(const Dual<V, G>& x) {
  const V r = root(x.v);
  return {r, V(0.5) / r * x.g};
}

namespace detail {

// asin y = y + y^3 P(y^2), |y| <= sin(pi/8); Chebyshev fit, relative error 2^-57
constexpr double kAsin[11] = {0.16666666666666666,  0.0749999999999928,   0.04464285714481799,  0.03038194423663781,
                              0.022372170352640938, 0.017352409713076663, 0.013971772560507249, 0.01146556687592882,
                              0.010441849885445366, 0.005145462985626148, 0.01548928609731137};
constexpr double kTanPi8 = 0.41421356237309503, kRootHalf = 0.7071067811865476;
constexpr double kPi[2] = {3.141592653589793, 1.2246467991473532e-16};

template <class T>
T asin_small(const T& y) {
  const T z = y * y, z2 = z * z, z4 = z2 * z2;
  const double (&a)[11] = kAsin;
  const T low = (T(a[0]) + z * T(a[1])) + z2 * (T(a[2]) + z * T(a[3]));
  const T mid = (T(a[4]) + z * T(a[5])) + z2 * (T(a[6]) + z * T(a[7]));
  const T high = (T(a[8]) + z * T(a[9])) + z2 * T(a[10]);
  return y + y * z * (low + z4 * (mid + z4 * high));
}

#if ZVENO_GNU
template <int N>
struct Chooser {
  using P = Pack<N>;
  using I = typename Lanes<std::int64_t, N>::type;
  using V = typename P::V;
  static P choose(const I& mask, const P& a, const P& b) {
#if defined(__AVX__)
    if constexpr (N == 4) return P((V)_mm256_blendv_pd((__m256d)b.v, (__m256d)a.v, (__m256d)mask));
#endif
    return P((V)(((I)a.v & mask) | ((I)b.v & ~mask)));
  }
  static I less(const P& a, const P& b) { return (I)(a.v < b.v); }
  static P magnitude(const P& a) { return P((V)((I)a.v & ~((I)P(-0.0).v))); }
  // a with the sign of b
  static P signed_as(const P& a, const P& b) {
    const I sign = (I)P(-0.0).v;
    return P((V)(((I)a.v & ~sign) | ((I)b.v & sign)));
  }
};
#if defined(__AVX512F__)
// its comparisons have mask registers, which GCC would spread over a vector
template <>
struct Chooser<8> {
  using P = Pack<8>;
  using I = __mmask8;
  using V = typename P::V;
  static ZVENO_INLINE P choose(I mask, const P& a, const P& b) {
    return P((V)_mm512_mask_blend_pd(mask, (__m512d)b.v, (__m512d)a.v));
  }
  static ZVENO_INLINE I less(const P& a, const P& b) { return _mm512_cmp_pd_mask((__m512d)a.v, (__m512d)b.v, _CMP_LT_OQ); }
  static ZVENO_INLINE P magnitude(const P& a) { return P((V)_mm512_abs_pd((__m512d)a.v)); }
  static ZVENO_INLINE P signed_as(const P& a, const P& b) {
    using B = typename Lanes<std::int64_t, 8>::type;
    const B sign = (B)P(-0.0).v;
    return P((V)(((B)a.v & ~sign) | ((B)b.v & sign)));
  }
};
#endif
#else
template <int N>
struct Chooser {
  using P = Pack<N>;
  struct I {
    bool v[N];
  };
  static P choose(const I& mask, const P& a, const P& b) {
    P r;
    for (int i = 0; i < N; ++i) r.v[i] = mask.v[i] ? a[i] : b[i];
    return r;
  }
  static I less(const P& a, const P& b) {
    I r;
    for (int i = 0; i < N; ++i) r.v[i] = a[i] < b[i];
    return r;
  }
  static P magnitude(const P& a) {
    P r;
    for (int i = 0; i < N; ++i) r.v[i] = std::fabs(a[i]);
    return r;
  }
  static P signed_as(const P& a, const P& b) {
    P r;
    for (int i = 0; i < N; ++i) r.v[i] = std::copysign(a[i], b[i]);
    return r;
  }
};
#endif

}  // namespace detail

// Angle in (-pi, pi] whose sine and cosine are s and c, s^2 + c^2 = 1 to rounding. Turned by 0, pi/4 or pi/2 into the range
// of the polynomial; at most 3 ulp off, absolute near 0.
template <int N>
Pack<N> joint_angle(const Pack<N>& s, const Pack<N>& c) {
  using P = Pack<N>;
  using C = detail::Chooser<N>;
  const P as = C::magnitude(s), ac = C::magnitude(c);
  const auto flat = C::less(as, P(detail::kTanPi8) * ac), steep = C::less(ac, P(detail::kTanPi8) * as);
  const P y = C::choose(flat, as, C::choose(steep, P(-ac), P((as - ac) * P(detail::kRootHalf))));
  const P turn = C::choose(flat, P(0.0), C::choose(steep, P(detail::kPi[0] / 2), P(detail::kPi[0] / 4)));
  const P rest = C::choose(flat, P(0.0), C::choose(steep, P(detail::kPi[1] / 2), P(detail::kPi[1] / 4)));
  const P first = turn + (detail::asin_small(y) + rest);  // 0 .. pi/2
  const P second = P(detail::kPi[0]) - (first - P(detail::kPi[1]));
  return C::signed_as(C::choose(C::less(c, P(0.0)), second, first), s);
}

inline double joint_angle(double s, double c) { return joint_angle(Pack<kLanes>(s), Pack<kLanes>(c))[0]; }

// counted as one transcendental step
inline Counted joint_angle(const Counted& s, const Counted& c) {
  ++Counted::now().trig;
  return joint_angle(s.value(), c.value());
}

template <class V, class G>
Dual<V, G> joint_angle(const Dual<V, G>& s, const Dual<V, G>& c) {
  return {joint_angle(s.v, c.v), c.v * s.g - s.v * c.g};
}

}  // namespace zveno
