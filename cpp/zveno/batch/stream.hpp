// Results that leave the fastest cache: written in whole aligned vectors one after the other, and past the caches if there
// is so much of them that nothing is there when they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace zveno {

// All results of one call from this size on; smaller ones may still be in a cache when they are used. 10,000 hexapods (8 MB)
// take two thirds of the time then, three quarters with reading them afterwards.
constexpr std::ptrdiff_t kStreamed = 4 << 20;  // bytes

// past: stores are seen by others after finish_streams()
inline void copy_in_order(const double* from, std::ptrdiff_t count, double* to, bool past) {
#if defined(__SSE2__)
#if defined(__AVX512F__)
  constexpr int kWide = 8;
#elif defined(__AVX__)
  constexpr int kWide = 4;
#else
  constexpr int kWide = 2;
#endif
  std::ptrdiff_t i = 0;
  const auto misplaced = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(double) % kWide);
  for (const std::ptrdiff_t head = std::min<std::ptrdiff_t>(count, (kWide - misplaced) % kWide); i < head; ++i)
    to[i] = from[i];
  for (; past && i + kWide <= count; i += kWide) {
#if defined(__AVX512F__)
    _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
#elif defined(__AVX__)
    _mm256_stream_pd(to + i, _mm256_loadu_pd(from + i));
#else
    _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#endif
  }
  for (; i + kWide <= count; i += kWide) {
#if defined(__AVX512F__)
    _mm512_store_pd(to + i, _mm512_loadu_pd(from + i));
#elif defined(__AVX__)
    _mm256_store_pd(to + i, _mm256_loadu_pd(from + i));
#else
    _mm_store_pd(to + i, _mm_loadu_pd(from + i));
#endif
  }
  for (; i < count; ++i) to[i] = from[i];
#else
  static_cast<void>(past);
  std::copy_n(from, count, to);
#endif
}

inline void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace zveno
