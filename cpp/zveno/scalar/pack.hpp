// Pack<N>: N independent states, one per SIMD lane. One compiler vector type; N is a property of the instruction set
// (kLanes), never larger than a register: wider packs measured slower than two passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <zveno/scalar/contract.hpp>
#include <zveno/support/compiler.hpp>

namespace zveno {

#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif

// the next multiple of kLanes
constexpr int padded(int n) { return (n + kLanes - 1) / kLanes * kLanes; }

#if ZVENO_GNU
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
#define ZVENO_LANE_OP(OP)                                                \
  friend LaneArray operator OP(const LaneArray& a, const LaneArray& b) { \
    LaneArray r;                                                         \
    for (int i = 0; i < N; ++i) r.v[i] = a.v[i] OP b.v[i];               \
    return r;                                                            \
  }
  ZVENO_LANE_OP(+)
  ZVENO_LANE_OP(-)
  ZVENO_LANE_OP(*)
  ZVENO_LANE_OP(/)
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
  // x[i] in lane i for i < count, 0 beyond; made of scalar loads, so that fresh scalar stores are forwarded
  static Pack of(const double* x, int count) {
    auto at = [&](int i) { return i < count ? x[i] : 0.0; };
    if constexpr (N == 2) {
      return Pack(V{at(0), at(1)});
    } else if constexpr (N == 4) {
      return Pack(V{at(0), at(1), at(2), at(3)});
    } else {
      return Pack(V{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)});
    }
  }
  // element j of N rows
  static Pack across(const double* const (&row)[N], std::ptrdiff_t j) {
    if constexpr (N == 2) {
      return Pack(V{row[0][j], row[1][j]});
    } else if constexpr (N == 4) {
      return Pack(V{row[0][j], row[1][j], row[2][j], row[3][j]});
    } else {
      return Pack(V{row[0][j], row[1][j], row[2][j], row[3][j], row[4][j], row[5][j], row[6][j], row[7][j]});
    }
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

template <int N>
struct Loader<Pack<N>> {
  static ZVENO_INLINE Pack<N> load(const double* x) { return Pack<N>::load(x); }
};

namespace detail {

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
// exchanges the off-diagonal blocks of size kBlock of rows a and b
template <int kBlock, int N, std::size_t... kLane>
ZVENO_INLINE void exchange(Pack<N>& a, Pack<N>& b, std::index_sequence<kLane...>) {
  const auto low = __builtin_shufflevector(a.v, b.v, ((kLane & kBlock) ? N + kLane - kBlock : kLane)...);
  const auto high = __builtin_shufflevector(a.v, b.v, ((kLane & kBlock) ? N + kLane : kLane + kBlock)...);
  a.v = low;
  b.v = high;
}
#else
template <int kBlock, int N, std::size_t... kLane>
void exchange(Pack<N>& a, Pack<N>& b, std::index_sequence<kLane...>) {
  for (int i = 0; i < N; ++i)
    if (i & kBlock) {
      const double x = b.v[i - kBlock];
      b.v[i - kBlock] = a.v[i];
      a.v[i] = x;
    }
}
#endif

}  // namespace detail

// N packs as the rows of a matrix -> its columns
template <int N, int kBlock = N / 2>
ZVENO_INLINE void transpose(Pack<N> (&rows)[N]) {
  for (int i = 0; i < N; ++i)
    if (!(i & kBlock)) detail::exchange<kBlock>(rows[i], rows[i + kBlock], std::make_index_sequence<N>());
  if constexpr (kBlock > 1) transpose<N, kBlock / 2>(rows);
}

}  // namespace zveno
