// Least squares with more rows than memory: the triangular factor of all rows so far.
#pragma once

#include <cstdint>

namespace zveno {

// R: k x k, upper triangular, by rows; rows: m x k. On return R'R is larger by rows'rows.
void add_rows(double* R, int k, const double* rows, std::int64_t m);

}  // namespace zveno
