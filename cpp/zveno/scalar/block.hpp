// Square blocks of a matrix, moved as whole rows where the scalar allows it.
#pragma once

#include <cstddef>

#include <zveno/scalar/pack.hpp>

namespace zveno {

template <class T>
struct Block {
  static constexpr int kSize = kLanes;
  // to = transpose of from; rows of both are `stride` apart
  static void transpose(const T* from, T* to, std::ptrdiff_t stride) {
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j) to[j * stride + i] = from[i * stride + j];
  }
};

template <>
inline void Block<double>::transpose(const double* from, double* to, std::ptrdiff_t stride) {
  Pack<kLanes> rows[kLanes];
  for (int k = 0; k < kLanes; ++k) rows[k] = Pack<kLanes>::load(from + k * stride);
  zveno::transpose(rows);
  for (int k = 0; k < kLanes; ++k) rows[k].store(to + k * stride);
}

}  // namespace zveno
