// Choices lane by lane.
#pragma once

#include <cstdint>

#include <zveno/scalar/pack.hpp>

namespace zveno {

#if ZVENO_GNU
template <int N>
using Mask = typename Lanes<std::int64_t, N>::type;
template <int N>
Pack<N> chosen(const Mask<N>& m, const Pack<N>& a, const Pack<N>& b) {
  return Pack<N>(m ? a.v : b.v);
}
template <int N>
Mask<N> above(const Pack<N>& a, const Pack<N>& b) {
  return (Mask<N>)(a.v > b.v);
}
// by value: a template argument is not deduced from a mask
template <class M>
M without(M a, M b) {
  return a & ~b;
}
#else
template <int N>
struct Mask {
  bool in[N] = {};
};
template <int N>
Pack<N> chosen(const Mask<N>& m, const Pack<N>& a, const Pack<N>& b) {
  Pack<N> x = b;
  for (int l = 0; l < N; ++l)
    if (m.in[l]) x.v[l] = a.v[l];
  return x;
}
template <int N>
Mask<N> above(const Pack<N>& a, const Pack<N>& b) {
  Mask<N> m;
  for (int l = 0; l < N; ++l) m.in[l] = a[l] > b[l];
  return m;
}
template <int N>
Mask<N> without(Mask<N> a, const Mask<N>& b) {
  for (int l = 0; l < N; ++l) a.in[l] &= !b.in[l];
  return a;
}
#endif
// |x|; that of a number that is none is none
template <int N>
Pack<N> size_of(const Pack<N>& x) {
  return chosen<N>(above(x, Pack<N>(0.0)), x, -x);
}

}  // namespace zveno
