// The second half of a symmetric matrix.
#pragma once

#include <algorithm>
#include <cstddef>

#include <zveno/scalar/block.hpp>

namespace zveno {

// block [i0, i1) x [j0, j1) of the upper triangle := lower triangle, element by element
template <class T>
void mirror_block(T* M, std::ptrdiff_t n, int i0, int i1, int j0, int j1) {
  for (int i = i0; i < i1; ++i)
    for (int j = j0; j < j1 && j < i; ++j) M[j * n + i] = M[i * n + j];
}

// columns i0 .. i0 + kSize - 1 of the upper triangle := those rows of the lower one
template <class T>
void mirror_rows(T* M, std::ptrdiff_t n, int i0) {
  constexpr int size = Block<T>::kSize;
  const int i1 = std::min(i0 + size, static_cast<int>(n));
  for (int j0 = 0; j0 < i0; j0 += size)
    if (i1 - i0 == size)
      Block<T>::transpose(M + i0 * n + j0, n, M + j0 * n + i0, n);
    else
      mirror_block(M, n, i0, i1, j0, j0 + size);
  mirror_block(M, n, i0, i1, i0, i1);
}

// upper triangle := lower triangle
template <class T>
void mirror_lower(T* M, std::ptrdiff_t n) {
  for (int i0 = 0; i0 < n; i0 += Block<T>::kSize) mirror_rows(M, n, i0);
}

// lower triangle := upper triangle
template <class T>
void mirror_upper(T* M, std::ptrdiff_t n) {
  constexpr int size = Block<T>::kSize;
  for (std::ptrdiff_t i0 = 0; i0 < n; i0 += size)
    for (std::ptrdiff_t j0 = 0; j0 <= i0; j0 += size) {
      if (j0 < i0 && i0 + size <= n) {
        Block<T>::transpose(M + j0 * n + i0, n, M + i0 * n + j0, n);
        continue;
      }
      for (std::ptrdiff_t i = i0; i < i0 + size && i < n; ++i)
        for (std::ptrdiff_t j = j0; j < j0 + size && j < i; ++j) M[i * n + j] = M[j * n + i];
    }
}

}  // namespace zveno
