// Rows of numbers in and out of SIMD lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <zveno/functions/rows.hpp>
#include <zveno/scalar/block.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

// N rows of N numbers, row k at at(k) -> their columns. Halves of rows meet as they are loaded, which leaves the one port
// that moves numbers between lanes a third less to do.
template <int N, class At>
ZVENO_INLINE void load_transposed(const At& at, Pack<N> (&columns)[N]) {
#if defined(__AVX512F__)
  if constexpr (N == 8) {
    for (int k = 0; k < 4; ++k) {
      const double *a = at(k), *b = at(k + 4);
      const auto joined = [&](int half) ZVENO_INLINED {
        const __m512d x = _mm512_castpd256_pd512(_mm256_loadu_pd(a + half));
        return _mm512_mask_insertf64x4(x, 0xff, x, _mm256_loadu_pd(b + half), 1);  // GCC takes the other form for a mistake
      };
      columns[k] = Pack<N>((typename Pack<N>::V)joined(0));
      columns[k + 4] = Pack<N>((typename Pack<N>::V)joined(4));
    }
    return transpose<N, 2>(columns);
  }
#elif defined(__AVX__)
  if constexpr (N == 4) {
    for (int k = 0; k < 2; ++k) {
      const double *a = at(k), *b = at(k + 2);
      const auto joined = [&](int half) ZVENO_INLINED {
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a + half)), _mm_loadu_pd(b + half), 1);
      };
      columns[k] = Pack<N>((typename Pack<N>::V)joined(0));
      columns[k + 2] = Pack<N>((typename Pack<N>::V)joined(2));
    }
    return transpose<N, 1>(columns);
  }
#endif
  for (int k = 0; k < N; ++k) columns[k] = Pack<N>::load(at(k));
  transpose(columns);
}

// lanes <- rows first .. first + kLanes - 1 of `count` numbers; rows past the end repeat the last one; no data: zeros. As a
// call it would take 2 % of a short program.
ZVENO_INLINE void gather(const RowData& rows, std::ptrdiff_t first, std::ptrdiff_t end, int count, Packed* out) {
  if (!rows.data) {
    for (int j = 0; j < count; ++j) out[j] = 0.0;
    return;
  }
  if (rows.stride == 0) {
    for (int j = 0; j < count; ++j) out[j] = rows.data[j];
    return;
  }
  int j = 0;
  // Whole blocks, turned in registers. The last one reaches beyond its row: what it reads must be numbers of later rows.
  const std::ptrdiff_t later = end - first - kLanes;
  if (later >= 0 && later * rows.stride >= padded(count) - count)
    for (; j < count; j += kLanes) {
      Packed block[kLanes];
      load_transposed([&](int l) ZVENO_INLINED { return rows.row(first + l) + j; }, block);
      ZVENO_UNROLL
      for (int l = 0; l < kLanes; ++l)
        if (j + l < count) out[j + l] = block[l];
    }
  if (j < count) {
    const double* lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = rows.row(std::min(first + l, end - 1));
    for (; j < count; ++j) out[j] = Packed::across(lane, j);
  }
}

// `count` numbers of the first `rows` lanes -> row_of(lane)
template <class RowOf>
void scatter(const Packed* in, int count, int rows, const RowOf& row_of) {
  int j = 0;
  const auto blocks = [&](auto all) ZVENO_INLINED {
    for (; j + kLanes <= count; j += kLanes) {
      Packed block[kLanes];
      load_transposed([&](int l) ZVENO_INLINED { return reinterpret_cast<const double*>(in + j + l); }, block);
      ZVENO_UNROLL
      for (int l = 0; l < kLanes; ++l)
        if (all.value || l < rows) block[l].store(row_of(l) + j);
    }
  };
  if (rows == kLanes)
    blocks(std::true_type());
  else
    blocks(std::false_type());
  if (j == count) return;
  if (j + 1 == count) {
    for (int l = 0; l < rows; ++l) row_of(l)[j] = in[j][l];
    return;
  }
  Packed block[kLanes];
  ZVENO_UNROLL
  for (int l = 0; l < kLanes; ++l) block[l] = j + l < count ? in[j + l] : Packed(0.0);
  transpose(block);
  ZVENO_UNROLL
  for (int l = 0; l < kLanes; ++l)
    if (l < rows) store_first(block[l], row_of(l) + j, count - j);
}

inline bool zero_in_all_lanes(const Packed& x) {
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)x.v, _mm512_setzero_pd(), _CMP_NEQ_UQ) == 0;
#elif defined(__AVX__)
  return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x.v, _mm256_setzero_pd(), _CMP_NEQ_UQ)) == 0;
#else
  bool zero = true;
  for (int l = 0; l < kLanes; ++l) zero &= x[l] == 0.0;
  return zero;
#endif
}

// sums of term(x[i]); four of them hide the latency of addition
template <class Term>
ZVENO_INLINE Packed sum_of(const Packed* x, std::ptrdiff_t count, const Term& term) {
  Packed sum[4] = {0.0, 0.0, 0.0, 0.0};
  std::ptrdiff_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; ++k) sum[k] += term(x[i + k]);
  for (; i < count; ++i) sum[0] += term(x[i]);
  return sum[0] + sum[1] + (sum[2] + sum[3]);
}

// zero in a lane whose numbers are all finite, else NaN
inline Packed defect_of(const Packed* x, std::ptrdiff_t count) {
  return sum_of(x, count, [](const Packed& y) ZVENO_INLINED { return y * Packed(0.0); });
}

// A finite sum has finite terms only: one addition for each. Another one may have overflowed.
inline bool all_finite_lanes(const Packed* x, std::ptrdiff_t count) {
  const Packed sum = sum_of(x, count, [](const Packed& y) ZVENO_INLINED { return y; });
  return zero_in_all_lanes(sum - sum) || zero_in_all_lanes(defect_of(x, count));
}

// whether each of `count` packs x[i] is above bound_of(i) in all lanes
template <class BoundOf, class = decltype(std::declval<const BoundOf&>()(0))>
bool all_above(const Packed* x, int count, const BoundOf& bound_of) {
#if ZVENO_GNU
  using I = typename Lanes<std::int64_t, kLanes>::type;
  I good = (I)(x[0].v > Packed(bound_of(0)).v);
  for (int i = 1; i < count; ++i) good &= (I)(x[i].v > Packed(bound_of(i)).v);
  std::int64_t all = -1;
  for (int l = 0; l < kLanes; ++l) all &= good[l];
  return all != 0;
#else
  bool good = true;
  for (int i = 0; i < count; ++i)
    for (int l = 0; l < kLanes; ++l) good &= x[i][l] > bound_of(i);
  return good;
#endif
}
inline bool all_above(const Packed* x, int count, double bound) {
  return all_above(x, count, [bound](int) ZVENO_INLINED { return bound; });
}

}  // namespace zveno
