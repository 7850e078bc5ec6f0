// Sine and cosine in SIMD lanes, at most 2 ulp off for |x| < kTrigLimit; larger arguments go to the C library, lane by
// lane. A lane's result does not depend on the other lanes, so that single calls and batches agree bit for bit.
//
// Reduction: x = k pi/2 + (hi + lo), pi/2 in three 33-bit parts (their products with k < 2^17 are exact) and a tail.
// Polynomials: minimax in x^2 on [0, (pi/4)^2], relative error 2^-58 (sine) and 2^-64 (cosine), from our own Remez run.
#pragma once

#include <cmath>
#include <type_traits>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <zveno/scalar/pack.hpp>

namespace zveno {

constexpr double kTrigLimit = 1e5;

namespace detail {

constexpr double kTwoOverPi = 0.6366197723675814;
constexpr double kPio2[4] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e000000p-69, 0x1.b839a252049c1p-104};
constexpr double kSin[6] = {-0.16666666666666632,   0.008333333333322413,   -0.0001984126982980783,
                            2.7557313691924606e-06, -2.505075811624784e-08, 1.589679570750817e-10};
constexpr double kCos[6] = {0.0416666666666666,      -0.0013888888888874125, 2.4801587289482174e-05,
                            -2.7557314352328286e-07, 2.0875723272501922e-09, -1.135964776172661e-11};
constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer in the low bits

// K packs side by side: their operations alternate, which hides latency
template <int K, int N>
struct Side {
  Pack<N> p[K];

  Side() = default;
  ZVENO_INLINE Side(double x) {
    for (int i = 0; i < K; ++i) p[i] = x;
  }
  template <class F>
  static ZVENO_INLINE Side each(const F& f) {
    Side r;
    ZVENO_UNROLL
    for (int i = 0; i < K; ++i) r.p[i] = f(i);
    return r;
  }
  friend ZVENO_INLINE Side operator+(const Side& a, const Side& b) {
    return each([&](int i) { return a.p[i] + b.p[i]; });
  }
  friend ZVENO_INLINE Side operator-(const Side& a, const Side& b) {
    return each([&](int i) { return a.p[i] - b.p[i]; });
  }
  friend ZVENO_INLINE Side operator*(const Side& a, const Side& b) {
    return each([&](int i) { return a.p[i] * b.p[i]; });
  }
};

template <class T>
ZVENO_INLINE T polynomial(const double (&a)[6], const T& z) {
  const T z2 = z * z;  // Estrin's order: short dependency chains
  return (T(a[0]) + z * T(a[1])) + z2 * ((T(a[2]) + z * T(a[3])) + z2 * (T(a[4]) + z * T(a[5])));
}

// a - b = d + e, exact if |a| >= |b|; in the reduction a smaller a means that d itself is exact
template <class T>
ZVENO_INLINE T subtract(const T& a, const T& b, T& e) {
  const T d = a - b;
  e = (a - d) - b;
  return d;
}

// sine and cosine of hi + lo, |hi| < pi/4
template <class T>
ZVENO_INLINE void sincos_reduced(const T& hi, const T& lo, T& s, T& c) {
  const T z = hi * hi, half = T(0.5) * z;
  s = hi + (hi * z * polynomial(kSin, z) + lo * (T(1.0) - half));
  const T w = T(1.0) - half;
  c = w + (((T(1.0) - w) - half) + (z * z * polynomial(kCos, z) - hi * lo));
}

// some lane is outside the range of the reduction, or not a number
template <int N>
bool any_beyond(const Pack<N>& x) {
#if defined(__AVX512F__)
  if constexpr (N == 8) return _mm512_cmp_pd_mask(_mm512_abs_pd((__m512d)x.v), _mm512_set1_pd(kTrigLimit), _CMP_NLT_UQ) != 0;
#endif
#if defined(__AVX__)
  if constexpr (N == 4) {
    const __m256d a = _mm256_andnot_pd(_mm256_set1_pd(-0.0), (__m256d)x.v);
    return _mm256_movemask_pd(_mm256_cmp_pd(a, _mm256_set1_pd(kTrigLimit), _CMP_NLT_UQ)) != 0;
  }
#endif
  bool beyond = false;
  for (int i = 0; i < N; ++i) beyond |= !(std::fabs(x[i]) < kTrigLimit);
  return beyond;
}

#if ZVENO_GNU
template <int N>
void choose_quadrant(const Pack<N>& shifted, Pack<N>& s, Pack<N>& c) {
  using I = typename Lanes<std::int64_t, N>::type;
  const I k = (I)shifted.v;
  const I odd = -(k & 1);  // all ones in odd quadrants
  const I si = (I)s.v, ci = (I)c.v;
  const I s1 = (si & ~odd) | (ci & odd), c1 = (ci & ~odd) | (si & odd);
  s.v = (typename Pack<N>::V)(s1 ^ ((k & 2) << 62));        // quadrants 2, 3
  c.v = (typename Pack<N>::V)(c1 ^ (((k + 1) & 2) << 62));  // quadrants 1, 2
}
#else
template <int N>
void choose_quadrant(const Pack<N>& shifted, Pack<N>& s, Pack<N>& c) {
  for (int i = 0; i < N; ++i) {
    std::int64_t k;
    const double x = shifted.v[i];
    std::memcpy(&k, &x, sizeof k);
    const double si = s.v[i], ci = c.v[i];
    const double s1 = (k & 1) ? ci : si, c1 = (k & 1) ? si : ci;
    s.v[i] = (k & 2) ? -s1 : s1;
    c.v[i] = ((k + 1) & 2) ? -c1 : c1;
  }
}
#endif

}  // namespace detail

// of K packs
template <int K, int N>
ZVENO_INLINE void sincos(const Pack<N>* x, Pack<N>* s, Pack<N>* c) {
  using P = detail::Side<K, N>;
  const P xs = P::each([&](int i) { return x[i]; });
  const P shifted = xs * P(detail::kTwoOverPi) + P(detail::kRound);
  const P k = shifted - P(detail::kRound);
  P e1, e2, si, ci;
  const P t = detail::subtract(P(xs - k * P(detail::kPio2[0])), P(k * P(detail::kPio2[1])), e1);
  const P r = detail::subtract(t, P(k * P(detail::kPio2[2])), e2);
  const P tail = (e1 + e2) - k * P(detail::kPio2[3]);
  const P hi = r + tail;
  const P lo = (r - hi) + tail;
  detail::sincos_reduced(hi, lo, si, ci);
  bool beyond = false;
  ZVENO_UNROLL
  for (int i = 0; i < K; ++i) {
    detail::choose_quadrant(shifted.p[i], si.p[i], ci.p[i]);
    beyond |= detail::any_beyond(xs.p[i]);
    s[i] = si.p[i];
    c[i] = ci.p[i];
  }
  for (int i = 0; beyond && i < K; ++i)
    for (int l = 0; l < N; ++l)
      if (!(std::fabs(xs.p[i][l]) < kTrigLimit)) {
        s[i].v[l] = std::sin(xs.p[i][l]);
        c[i].v[l] = std::cos(xs.p[i][l]);
      }
}

// three packs at a time: seven take 84 ns instead of 109 (AVX-512)
template <int N>
void joint_trig(const Pack<N>* theta, Pack<N>* s, Pack<N>* c, int n) {
  int i = 0;
  for (; n - i >= 3; i += 3) sincos<3>(theta + i, s + i, c + i);
  if (n - i == 2) sincos<2>(theta + i, s + i, c + i);
  if (n - i == 1) sincos<1>(theta + i, s + i, c + i);
}

// one state: the joints fill the lanes, two packs at a time. s and c hold padded(n) numbers.
inline void joint_trig(const double* theta, double* s, double* c, int n) {
  const auto turn = [&](auto packs, int i) {
    constexpr int kPacks = decltype(packs)::value;
    Pack<kLanes> x[kPacks], si[kPacks], ci[kPacks];
    for (int k = 0; k < kPacks; ++k) x[k] = Pack<kLanes>::of(theta + i + k * kLanes, n - i - k * kLanes);
    sincos<kPacks>(x, si, ci);
    for (int k = 0; k < kPacks; ++k) si[k].store(s + i + k * kLanes), ci[k].store(c + i + k * kLanes);
  };
  int i = 0;
  for (; n - i > kLanes; i += 2 * kLanes) turn(std::integral_constant<int, 2>(), i);
  if (i < n) turn(std::integral_constant<int, 1>(), i);
}

}  // namespace zveno
