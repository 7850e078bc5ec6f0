// Stores that go past the caches: for results so large that nothing of them is there when they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace zveno {

// Results of one call from this size on; smaller ones may still be in a cache when they are used. 10,000 hexapods (8 MB)
// take two thirds of the time then, three quarters with reading them afterwards.
constexpr std::ptrdiff_t kStreamed = 4 << 20;  // bytes

// stores are seen by others after finish_streams()
inline void stream(const double* from, std::ptrdiff_t count, double* to) {
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
  for (; i + kWide <= count; i += kWide) {
#if defined(__AVX512F__)
    _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
#elif defined(__AVX__)
    _mm256_stream_pd(to + i, _mm256_loadu_pd(from + i));
#else
    _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#endif
  }
  std::copy(from + i, from + count, to + i);
#else
  std::copy_n(from, count, to);
#endif
}

inline void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace zveno
