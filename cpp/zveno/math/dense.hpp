// Small dense systems in plain doubles: values steer here, so these are not kernels.
#pragma once

#include <algorithm>
#include <cmath>

namespace zveno {

// relative size below which a pivot counts as zero
constexpr double kTinyPivot = 1e-12;

// A x = b by elimination with row pivoting; A (n x n, row major) is destroyed, x in place of the `columns` columns of b (row
// major). Returns the smallest pivot over the largest; nothing is solved when that is not above kTinyPivot.
inline double solve_dense(double* A, int n, double* b, int columns = 1) {
  double least = 0, most = 0;
  for (int j = 0; j < n; ++j) {
    int p = j;
    for (int i = j + 1; i < n; ++i)
      if (std::fabs(A[i * n + j]) > std::fabs(A[p * n + j])) p = i;
    if (p != j) {
      std::swap_ranges(A + j * n, A + j * n + n, A + p * n);
      std::swap_ranges(b + j * columns, b + (j + 1) * columns, b + p * columns);
    }
    const double pivot = std::fabs(A[j * n + j]);
    least = j ? std::min(least, pivot) : pivot;
    most = std::max(most, pivot);
    if (!(least > kTinyPivot * most)) return most > 0 ? least / most : 0.0;
    for (int i = j + 1; i < n; ++i) {
      const double l = A[i * n + j] / A[j * n + j];
      for (int k = j + 1; k < n; ++k) A[i * n + k] -= l * A[j * n + k];
      for (int k = 0; k < columns; ++k) b[i * columns + k] -= l * b[j * columns + k];
    }
  }
  for (int j = n; j-- > 0;)
    for (int k = 0; k < columns; ++k) {
      double x = b[j * columns + k];
      for (int i = j + 1; i < n; ++i) x -= A[j * n + i] * b[i * columns + k];
      b[j * columns + k] = x / A[j * n + j];
    }
  return least / most;
}

}  // namespace zveno
