// e^x - 1 and the hyperbolic tangent in SIMD lanes, at most 3 ulp off. A lane's result does not depend on the other lanes.
//
// Reduction: x = k ln 2 + r, |r| <= ln 2 / 2, ln 2 in two parts (the product of k with the first is exact). Polynomial:
// e^r = 1 + r + r^2 P(r), Chebyshev fit, relative error of e^r - 1 2^-60.
#pragma once

#include <cstdint>
#include <cstring>

#include <zveno/scalar/choose.hpp>
#include <zveno/scalar/pack.hpp>

namespace zveno {

namespace detail {

constexpr double kExp[11] = {0.5,
                             0.1666666666666667,
                             0.04166666666666667,
                             0.008333333333326141,
                             0.0013888888888883752,
                             0.00019841269874800493,
                             2.4801587325533363e-05,
                             2.7557255425746198e-06,
                             2.755727366134847e-07,
                             2.510520637405601e-08,
                             2.0914679376654634e-09};
constexpr double kLn2[2] = {0x1.62e42fee00000p-1, 0x1.a39ef35793c76p-33}, kPerLn2 = 1.4426950408889634;
constexpr double kNearest = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer in the low bits

// 2^k; shifted: k + kNearest
template <int N>
ZVENO_INLINE Pack<N> power_of_two(const Pack<N>& shifted) {
#if ZVENO_GNU
  using I = typename Lanes<std::int64_t, N>::type;
  return Pack<N>((typename Pack<N>::V)(((I)shifted.v + 1023) << 52));
#else
  Pack<N> power;
  for (int l = 0; l < N; ++l) {
    std::uint64_t bits;
    const double x = shifted[l];
    std::memcpy(&bits, &x, sizeof bits);
    bits = (bits + 1023) << 52;
    double p;
    std::memcpy(&p, &bits, sizeof p);
    power.v[l] = p;
  }
  return power;
#endif
}

}  // namespace detail

// Arguments beyond -708 and 709 count as these.
template <int N>
ZVENO_INLINE Pack<N> expm1_of(Pack<N> x) {
  using P = Pack<N>;
  x = chosen<N>(above(P(-708.0), x), P(-708.0), x);
  x = chosen<N>(above(x, P(709.0)), P(709.0), x);
  const P shifted = x * P(detail::kPerLn2) + P(detail::kNearest), k = shifted - P(detail::kNearest);
  const P hi = x - k * P(detail::kLn2[0]), lo = k * P(detail::kLn2[1]), r = hi - lo, r2 = r * r, r4 = r2 * r2;
  const auto pair = [&](int i) { return P(detail::kExp[i]) + r * P(detail::kExp[i + 1]); };
  const P p = (pair(0) + r2 * pair(2)) + r4 * ((pair(4) + r2 * pair(6)) + r4 * (pair(8) + r2 * P(detail::kExp[10])));
  const P small = hi + (r2 * p - lo);  // e^r - 1
  const P power = detail::power_of_two(shifted);
  return power * small + (power - P(1.0));
}

template <int N>
ZVENO_INLINE Pack<N> tanh_of(const Pack<N>& x) {
  using P = Pack<N>;
  const P size = size_of(x);
  const P y = expm1_of(chosen<N>(above(size, P(40.0)), P(80.0), size + size));
  const P t = y / (y + P(2.0));
  return chosen<N>(above(P(0.0), x), -t, t);
}

}  // namespace zveno
