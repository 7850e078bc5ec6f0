// The second half of a symmetric matrix.
#pragma once

#include <algorithm>
#include <cstddef>

#include <zveno/scalar/pack.hpp>

namespace zveno {

// block [i0, i1) x [j0, j1) of the upper triangle := lower triangle, element by element
template <class T>
void mirror_block(T* M, std::ptrdiff_t n, int i0, int i1, int j0, int j1) {
  for (int i = i0; i < i1; ++i)
    for (int j = j0; j < j1 && j < i; ++j) M[j * n + i] = M[i * n + j];
}

// square blocks off the diagonal may be moved as whole rows
template <class T>
void mirror_square(T* M, std::ptrdiff_t n, int i0, int j0) {
  mirror_block(M, n, i0, i0 + kLanes, j0, j0 + kLanes);
}
inline void mirror_square(double* M, std::ptrdiff_t n, int i0, int j0) {
  Pack<kLanes> rows[kLanes];
  for (int k = 0; k < kLanes; ++k) rows[k] = Pack<kLanes>::load(M + (i0 + k) * n + j0);
  transpose(rows);
  for (int k = 0; k < kLanes; ++k) rows[k].store(M + (j0 + k) * n + i0);
}

// columns i0 .. i0 + kLanes - 1 of the upper triangle := those rows of the lower one
template <class T>
void mirror_rows(T* M, int n, int i0) {
  const int i1 = std::min(i0 + kLanes, n);
  for (int j0 = 0; j0 < i0; j0 += kLanes)
    if (i1 - i0 == kLanes)
      mirror_square(M, n, i0, j0);
    else
      mirror_block(M, n, i0, i1, j0, j0 + kLanes);
  mirror_block(M, n, i0, i1, i0, i1);
}

// upper triangle := lower triangle
template <class T>
void mirror_lower(T* M, int n) {
  for (int i0 = 0; i0 < n; i0 += kLanes) mirror_rows(M, n, i0);
}

}  // namespace zveno
