// The second half of a symmetric matrix.
#pragma once

#include <cstddef>

namespace zveno {

// upper triangle := lower triangle, in tiles that stay in the cache
template <class T>
void mirror_lower(T* M, int n) {
  constexpr int kTile = 32;
  for (int i0 = 0; i0 < n; i0 += kTile)
    for (int j0 = 0; j0 <= i0; j0 += kTile)
      for (int i = i0; i < i0 + kTile && i < n; ++i)
        for (int j = j0; j < j0 + kTile && j < i; ++j)
          M[static_cast<std::ptrdiff_t>(j) * n + i] = M[static_cast<std::ptrdiff_t>(i) * n + j];
}

}  // namespace zveno
