// Results that leave the fastest cache: written in whole aligned vectors one after the other, and past the caches if there
// is so much of them that nothing is there when they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <zveno/support/compiler.hpp>

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(__AVX512F__) && ZVENO_GNU
#include <cpuid.h>
#endif

namespace zveno {

// All results of one call from this size on; smaller ones may still be in a cache when they are used. 10,000 hexapods (8 MB)
// take two thirds of the time then, three quarters with reading them afterwards.
constexpr std::ptrdiff_t kStreamed = 4 << 20;  // bytes

#if defined(__AVX512F__)
constexpr int kWholeVector = 8;
#elif defined(__AVX__)
constexpr int kWholeVector = 4;
#elif defined(__SSE2__)
constexpr int kWholeVector = 2;
#else
constexpr int kWholeVector = 1;
#endif

// of whole aligned vectors; past: seen by others after finish_streams()
inline void copy_vectors(const double* from, std::ptrdiff_t count, double* to, bool past) {
  std::ptrdiff_t i = 0;
#if defined(__AVX512F__)
  for (; past && i < count; i += 8) _mm512_stream_pd(to + i, _mm512_load_pd(from + i));
  ZVENO_UNROLL
  for (; i < count; i += 8) _mm512_store_pd(to + i, _mm512_load_pd(from + i));
#elif defined(__AVX__)
  for (; past && i < count; i += 4) _mm256_stream_pd(to + i, _mm256_load_pd(from + i));
  for (; i < count; i += 4) _mm256_store_pd(to + i, _mm256_load_pd(from + i));
#elif defined(__SSE2__)
  for (; past && i < count; i += 2) _mm_stream_pd(to + i, _mm_load_pd(from + i));
  for (; i < count; i += 2) _mm_store_pd(to + i, _mm_load_pd(from + i));
#else
  static_cast<void>(past);
  std::copy_n(from + i, count, to + i);
#endif
}

// so many numbers in whole aligned vectors, to be copied; generated code reads this, see Program
struct Vectors {
  const double* from;
  double* to;
  std::ptrdiff_t count;
};
inline void copy_vectors(const Vectors& v, bool past) { copy_vectors(v.from, v.count, v.to, past); }

// Numbers that follow each other in memory, given piece by piece: what does not fill a vector waits for what follows. Half
// a line written at the end of a piece would wait for the other half to be read.
class InOrder {
 public:
  // where to put the next numbers, of which the first goes to `to`, in a piece of aligned memory with room for a vector more
  double* begin(double* piece, double* to) {
    offset_ = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(double) % kWholeVector);
    std::copy_n(rest_, kWholeVector, piece);
    return piece + offset_;
  }
  // So many numbers are there: what the caller has to copy before the piece is written again. own: nobody else writes it,
  // and the rest waits there. Read so soon after it was written in parts it would hold up what follows.
  Vectors pass_on(const double* piece, std::ptrdiff_t count, double* to, bool own) {
    const std::ptrdiff_t end = offset_ + count, from = count_ == offset_ ? 0 : kWholeVector;
    if (from) std::copy(piece + offset_, piece + std::min(end, from), to);
    const std::ptrdiff_t whole = std::max(from, end / kWholeVector * kWholeVector);
    rest_to_ = to + (whole - offset_);
    count_ = static_cast<int>(std::max<std::ptrdiff_t>(end - whole, 0));
    rest_ = own ? piece + whole : std::copy_n(piece + whole, kWholeVector, waiting_) - kWholeVector;
    return {piece + from, to + (from - offset_), whole - from};
  }
  // nothing follows, or not after these
  void finish() {
    std::copy_n(rest_, count_, rest_to_);
    count_ = 0;
  }

 private:
  alignas(64) double waiting_[kWholeVector] = {};
  const double* rest_ = waiting_;
  double* rest_to_ = nullptr;
  int count_ = 0, offset_ = 0;
};

// Whether the second cache takes rows badly that are written piece by piece, eight at a time: Intel's does. AMD's does not,
// and rows of 36 numbers lose 2 to 17 % where they are put in order in the first one before.
inline bool takes_pieces_badly() {
#if defined(__AVX512F__) && ZVENO_GNU
  static const bool badly = [] {  // a virtual machine takes microseconds to answer
    unsigned a = 0, b = 0, c = 0, d = 0;
    return !__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx;
  }();
  return badly;
#else
  return kWholeVector > 4;
#endif
}

inline void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace zveno
