// One run over rows: several at once in SIMD lanes; one by one where lanes do not help, or where a row of a pack failed.
// A row's result does not depend on its place, on the other rows, or on the number of threads.
#pragma once

#include <algorithm>
#include <limits>

#include <zveno/functions/rows.hpp>
#include <zveno/scalar/scalars.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// Work offers
//   bool in_lanes(begin, end) const    whether rows are computed side by side
//   void prepare()                     before the first pack
//   bool lanes(row, end, count)        computes and writes `count` rows; false: some row has failed, nothing is said of
//   which Failure single(row)                computes and writes one row void blank(row)                    fills it with
//   NaN
template <class Work>
Failure run_over(Work& work, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end, Scratch& scratch) {
  Failure first;
  const auto singly = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    for (std::ptrdiff_t row = from; row < to; ++row) {
      const Scratch::Frame frame(scratch);
      Failure f = work.single(row);
      if (f) {
        f.row = row;
        work.blank(row);
        if (!first) first = f;
      }
      if (rows.status) rows.status[row] = f.code();
    }
  };
  if (!work.in_lanes(begin, end)) {
    singly(begin, end);
    return first;
  }
  work.prepare();
  for (std::ptrdiff_t row = begin; row < end; row += kLanes) {
    const Scratch::Frame frame(scratch);
    const std::ptrdiff_t count = std::min<std::ptrdiff_t>(kLanes, end - row);
    if (!work.lanes(row, end, count))
      singly(row, row + count);
    else if (rows.status)
      std::fill_n(rows.status + row, count, std::int16_t{0});
  }
  return first;
}

inline void fill_nan(double* x, std::ptrdiff_t count) { std::fill_n(x, count, std::numeric_limits<double>::quiet_NaN()); }

}  // namespace zveno
