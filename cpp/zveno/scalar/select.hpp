// Choices by value without a branch, for scalars with a value: a mask is a bool, or one for each lane.
#pragma once

#include <cmath>
#include <initializer_list>

#include <zveno/math/turn.hpp>
#include <zveno/scalar/angle.hpp>

namespace zveno {

ZVENO_INLINE bool below(double a, double b) { return a < b; }
inline bool below(const Counted& a, const Counted& b) { return a.value() < b.value(); }
template <int N>
ZVENO_INLINE typename detail::Chooser<N>::I below(const Pack<N>& a, const Pack<N>& b) {
  return detail::Chooser<N>::less(a, b);
}

// a where the mask holds, else b
ZVENO_INLINE double pick(bool m, double a, double b) { return m ? a : b; }
inline Counted pick(bool m, const Counted& a, const Counted& b) { return m ? a : b; }
template <int N>
ZVENO_INLINE Pack<N> pick(const typename detail::Chooser<N>::I& m, const Pack<N>& a, const Pack<N>& b) {
  return detail::Chooser<N>::choose(m, a, b);
}

// a if x < y, else b
template <class T>
ZVENO_INLINE T pick_below(const T& x, const T& y, const T& a, const T& b) {
  return pick(below(x, y), a, b);
}
template <class T>
ZVENO_INLINE T lesser(const T& a, const T& b) {
  return pick_below(b, a, b, a);
}
template <class T>
ZVENO_INLINE T greater(const T& a, const T& b) {
  return pick_below(a, b, b, a);
}
// one instruction, and of equal or unordered numbers the first as above
#if ZVENO_GNU && defined(__AVX512F__)
ZVENO_INLINE Pack<8> lesser(const Pack<8>& a, const Pack<8>& b) {
  return Pack<8>((Pack<8>::V)_mm512_maskz_min_pd(0xff, (__m512d)b.v, (__m512d)a.v));
}
ZVENO_INLINE Pack<8> greater(const Pack<8>& a, const Pack<8>& b) {
  return Pack<8>((Pack<8>::V)_mm512_maskz_max_pd(0xff, (__m512d)b.v, (__m512d)a.v));
}
#endif
#if ZVENO_GNU && defined(__AVX__)
ZVENO_INLINE Pack<4> lesser(const Pack<4>& a, const Pack<4>& b) {
  return Pack<4>((Pack<4>::V)_mm256_min_pd((__m256d)b.v, (__m256d)a.v));
}
ZVENO_INLINE Pack<4> greater(const Pack<4>& a, const Pack<4>& b) {
  return Pack<4>((Pack<4>::V)_mm256_max_pd((__m256d)b.v, (__m256d)a.v));
}
#endif
template <class T>
ZVENO_INLINE T magnitude(const T& a) {
  return pick_below(a, T(0.0), T(-a), a);
}
ZVENO_INLINE double magnitude(double a) { return std::fabs(a); }
template <int N>
ZVENO_INLINE Pack<N> magnitude(const Pack<N>& a) {
  return detail::Chooser<N>::magnitude(a);
}
// root of what may be negative by rounding, or because there is no solution
template <class T>
ZVENO_INLINE T clipped_root(const T& x) {
  return root(greater(x, T(0.0)));
}

// lanes in which a < b, one bit each
template <int N>
ZVENO_INLINE unsigned lanes_below(const Pack<N>& a, const Pack<N>& b) {
#if defined(__AVX512F__)
  if constexpr (N == 8) return _mm512_cmp_pd_mask((__m512d)a.v, (__m512d)b.v, _CMP_LT_OQ);
#endif
#if defined(__AVX__)
  if constexpr (N == 4) return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a.v, (__m256d)b.v, _CMP_LT_OQ));
#endif
#if defined(__SSE2__)
  if constexpr (N == 2) return _mm_movemask_pd(_mm_cmplt_pd((__m128d)a.v, (__m128d)b.v));
#endif
  unsigned bits = 0;
  for (int i = 0; i < N; ++i) bits |= static_cast<unsigned>(a[i] < b[i]) << i;
  return bits;
}
// whether a < b, in any lane
ZVENO_INLINE bool any_below(double a, double b) { return a < b; }
template <int N>
ZVENO_INLINE bool any_below(const Pack<N>& a, const Pack<N>& b) {
  return lanes_below(a, b) != 0;
}

// lane which[i] of a pack in lane i
template <int N>
ZVENO_INLINE Pack<N> lanes_of(const Pack<N>& a, const std::int64_t* which) {
#if defined(__AVX512F__)
  if constexpr (N == 8) {
    const __m512i at = _mm512_loadu_si512(which);
    return Pack<8>((Pack<8>::V)_mm512_maskz_permutexvar_pd(0xff, at, (__m512d)a.v));
  }
#endif
  Pack<N> b;
  for (int i = 0; i < N; ++i) b.v[i] = a[which[i]];
  return b;
}

// Sine and cosine of the angle of (x, y), which may have any length; of nothing: the angle zero.
template <class T>
ZVENO_INLINE Turn<T> unit_turn(const T& y, const T& x) {
  const T size = root(x * x + y * y);
  const auto some = below(T(0.0), size);
  const T inverse = T(1.0) / pick(some, size, T(1.0));
  return {y * inverse, pick(some, x * inverse, T(1.0))};
}

template <class T>
ZVENO_INLINE Turn<T> product(const Turn<T>& a, const Turn<T>& b) {
  return {a.s * b.c + a.c * b.s, a.c * b.c - a.s * b.s};
}
template <class T>
ZVENO_INLINE Turn<T> reversed(const Turn<T>& a) {
  return {-a.s, a.c};
}
template <class T>
ZVENO_INLINE Turn<T> pick_below(const T& x, const T& y, const Turn<T>& a, const Turn<T>& b) {
  const auto m = below(x, y);
  return {pick(m, a.s, b.s), pick(m, a.c, b.c)};
}

}  // namespace zveno
