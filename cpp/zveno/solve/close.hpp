// Closing a linkage, and which of its rows to compute with. docs/constraints.md (L16)-(L18), (L24)-(L27).
#pragma once

#include <functional>

#include <zveno/functions/linkage_job.hpp>

namespace zveno {

struct Closing {
  bool closed = false;
  int steps = 0;
  double residual = 0;  // largest |f_i|, m
  double rate = 0;      // |f_k+1| / |f_k|^2 of the last step, 1/m; large: a singular solution
};

struct ClosingLimits {
  const double *lower, *upper;                                // n, may be infinite
  const bool* held;                                           // n
  std::function<bool(const double* q, double* given)> given;  // numbers of functions at q; false: stop
};

// q: n, the guess, on return the best state; f: m, its residuals
Closing close_linkage(const KernelTable& kernels, const Linkage& linkage, const ClosingLimits& limits, double* q, double* f);

// the singular values of G with scaled columns, and the rank (L17)
int scaled_rank(const Linkage& linkage, const double* G, const double* f, double* values);

// see ChooseRows
bool choose_rows(const Linkage& linkage, const double* G, const double* f, RowChoice& choice);

// rows for all `count` closed states at once: the ones that keep most where they keep least; G: count of m x n
RowChoice choose_rows(const Linkage& linkage, const double* G, int count);

}  // namespace zveno
