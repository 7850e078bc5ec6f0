// Square blocks of a matrix, moved as whole rows where the scalar allows it.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <zveno/scalar/choose.hpp>

namespace zveno {

template <class T>
struct Block {
  static constexpr int kSize = kLanes;
  // to = transpose of from
  static void transpose(const T* from, std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride) {
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
};

template <>
inline void Block<double>::transpose(const double* from, std::ptrdiff_t from_stride, double* to, std::ptrdiff_t to_stride) {
  Pack<kLanes> rows[kLanes];
  for (int k = 0; k < kLanes; ++k) rows[k] = Pack<kLanes>::load(from + k * from_stride);
  zveno::transpose(rows);
  for (int k = 0; k < kLanes; ++k) rows[k].store(to + k * to_stride);
}

// the first `count` lanes, fewer than all
template <int N>
void store_first(const Pack<N>& p, double* x, int count) {
#if defined(__AVX512F__)
  if constexpr (N == 8) return _mm512_mask_storeu_pd(x, static_cast<__mmask8>((1 << count) - 1), (__m512d)p.v);
#endif
#if defined(__AVX__)
  if constexpr (N == 4) {
    static const std::int64_t ones[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones + 4 - count));
    return _mm256_maskstore_pd(x, mask, (__m256d)p.v);
  }
#endif
  for (int l = 0; l + 1 < N; ++l)
    if (l < count) x[l] = p[l];
}

// Neighbours in a row that are computed at once: of doubles as many as fit a register, one of any other scalar.
template <class T>
struct Wide {
  using type = T;
  using Some = bool;  // which of them
  static constexpr int kStep = 1;
  static ZVENO_INLINE const T& load(const T* x) { return *x; }
  static ZVENO_INLINE void store(T* x, const T& value) { *x = value; }
  static ZVENO_INLINE void store(T* x, int, const T& value) { *x = value; }
  static ZVENO_INLINE void transpose(T (&)[1]) {}
  template <class Is>
  static ZVENO_INLINE bool those(const Is& is) {
    return is(0);
  }
  static ZVENO_INLINE bool first(int count) { return count > 0; }
  static ZVENO_INLINE T chosen(bool some, const T& a, const T& b) { return some ? a : b; }
};

template <>
struct Wide<double> {
  static constexpr int kStep = kLanes;
  using type = Pack<kStep>;
  using Some = Mask<kStep>;
  static ZVENO_INLINE type load(const double* x) { return type::load(x); }
  static ZVENO_INLINE void store(double* x, const type& value) { value.store(x); }
  // the first `count` of them
  static ZVENO_INLINE void store(double* x, int count, const type& value) {
    if (count >= kStep) return value.store(x);
    store_first(value, x, count);
  }
  static ZVENO_INLINE void transpose(type (&rows)[kStep]) { zveno::transpose(rows); }
  template <class Is>
  static ZVENO_INLINE Some those(const Is& is) {
    double x[kStep];
    for (int k = 0; k < kStep; ++k) x[k] = is(k) ? 1.0 : 0.0;
    return above(type::of(x, kStep), type(0.0));
  }
  static ZVENO_INLINE Some first(int count) {
    static constexpr double kIndex[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    return above(type(count), type::load(kIndex));
  }
  static ZVENO_INLINE type chosen(const Some& some, const type& a, const type& b) {
    return zveno::chosen<kStep>(some, a, b);
  }
};

// N neighbours in a row, however many fit a register: of doubles as one pack, of any other scalar one after the other.
template <int N, class T>
struct Few {
  static constexpr int kStep = 1;
  static ZVENO_INLINE const T& load(const T* x) { return *x; }
  static ZVENO_INLINE void store(T* x, const T& value) { *x = value; }
};
template <int N>
struct Few<N, double> {
  static constexpr int kStep = N;
  static ZVENO_INLINE Pack<N> load(const double* x) { return Pack<N>::load(x); }
  static ZVENO_INLINE void store(double* x, const Pack<N>& value) { value.store(x); }
};

}  // namespace zveno
