// Square blocks of a matrix, moved as whole rows where the scalar allows it.
#pragma once

#include <cstddef>

#include <zveno/scalar/pack.hpp>

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

// Neighbours in a row that are computed at once: of doubles at most kMost, as many as fit a register; one of any other
// scalar. Loads may overrun the end of a row.
template <class T, int kMost = kLanes>
struct Wide {
  using type = T;
  static constexpr int kStep = 1;
  static ZVENO_INLINE const T& load(const T* x) { return *x; }
  static ZVENO_INLINE void store(T* x, const T& value) { *x = value; }
  static ZVENO_INLINE void store(T* x, std::ptrdiff_t, int, int, const T& value) { *x = value; }
};

template <int kMost>
struct Wide<double, kMost> {
  static constexpr int kStep = kMost < kLanes ? kMost : kLanes;
  using type = Pack<kStep>;
  static ZVENO_INLINE type load(const double* x) { return type::load(x); }
  static ZVENO_INLINE void store(double* x, const type& value) { value.store(x); }
  // those of them in [begin, end), every `step` numbers
  static ZVENO_INLINE void store(double* x, std::ptrdiff_t step, int begin, int end, const type& value) {
    if (begin <= 0 && end >= kStep) {
      if (step == 1) return value.store(x);
      ZVENO_UNROLL
      for (int k = 0; k < kStep; ++k) x[k * step] = value[k];
    } else {
      ZVENO_UNROLL
      for (int k = 0; k < kStep; ++k)
        if (begin <= k && k < end) x[k * step] = value[k];
    }
  }
};

}  // namespace zveno
