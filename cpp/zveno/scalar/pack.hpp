// Pack<N>: N independent states, one per SIMD lane. One compiler vector type; N is a property of the instruction set
// (kLanes), never larger than a register: wider packs measured slower than two passes.
#pragma once

#include <cstdint>
#include <cstring>

#include <zveno/scalar/contract.hpp>

namespace zveno {

#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif

#if defined(__GNUC__)
template <class S, int N>
struct Lanes {
  typedef S type __attribute__((vector_size(N * sizeof(S))));
};
#else
// plain arrays for compilers without vector types: same results, no speed
template <class S, int N>
struct LaneArray {
  S v[N];
  S& operator[](int i) { return v[i]; }
  S operator[](int i) const { return v[i]; }
#define ZVENO_LANE_OP(OP)                                                 \
  friend LaneArray operator OP(const LaneArray& a, const LaneArray& b) {  \
    LaneArray r;                                                          \
    for (int i = 0; i < N; ++i) r.v[i] = a.v[i] OP b.v[i];                \
    return r;                                                             \
  }
  ZVENO_LANE_OP(+) ZVENO_LANE_OP(-) ZVENO_LANE_OP(*) ZVENO_LANE_OP(/)
#undef ZVENO_LANE_OP
  friend LaneArray operator-(const LaneArray& a) {
    LaneArray r;
    for (int i = 0; i < N; ++i) r.v[i] = -a.v[i];
    return r;
  }
};
template <class S, int N>
struct Lanes {
  using type = LaneArray<S, N>;
};
#endif

template <int N>
struct Pack {
  using V = typename Lanes<double, N>::type;
  V v;

  Pack() = default;
  explicit Pack(V v) : v(v) {}
  Pack(double x) {
    if constexpr (N == 2) {
      v = V{x, x};
    } else if constexpr (N == 4) {
      v = V{x, x, x, x};
    } else {
      static_assert(N == 8, "2, 4 or 8 lanes");
      v = V{x, x, x, x, x, x, x, x};
    }
  }

  double operator[](int lane) const { return v[lane]; }
  static Pack load(const double* x) {
    Pack p;
    std::memcpy(&p.v, x, sizeof p.v);
    return p;
  }
  void store(double* x) const { std::memcpy(x, &v, sizeof v); }

  friend Pack operator+(const Pack& a, const Pack& b) { return Pack(V(a.v + b.v)); }
  friend Pack operator-(const Pack& a, const Pack& b) { return Pack(V(a.v - b.v)); }
  friend Pack operator*(const Pack& a, const Pack& b) { return Pack(V(a.v * b.v)); }
  friend Pack operator/(const Pack& a, const Pack& b) { return Pack(V(a.v / b.v)); }
  friend Pack operator-(const Pack& a) { return Pack(V(-a.v)); }
  Pack& operator+=(const Pack& b) { return *this = *this + b; }
  Pack& operator-=(const Pack& b) { return *this = *this - b; }
  Pack& operator*=(const Pack& b) { return *this = *this * b; }
  ZVENO_NO_COMPARISON(Pack);
};

}  // namespace zveno
