// One run over rows: several at once in SIMD lanes; one by one where lanes do not help, or where a row of a pack failed.
// A row's result does not depend on its place, on the other rows, or on the number of threads.
#pragma once

#include <algorithm>
#include <limits>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/stream.hpp>
#include <zveno/functions/job.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// results of so many numbers are checked while their stores drain; more of them leave the fastest cache before that
constexpr std::ptrdiff_t kFew = 64;

// Where the results of rows stand. Large ones go past the caches.
struct Results {
  int count;
  double* out[kMostOutputs];  // null: not wanted
  std::ptrdiff_t size[kMostOutputs];
  double* stage = nullptr;  // rows of a pack side by side, on their way past the caches

  template <class J>
  Results(const J& job, const Rows& rows, Scratch& scratch) : count(output_count(job)) {
    std::ptrdiff_t numbers = 0, most = 0;
    for (int k = 0; k < count; ++k) {
      out[k] = rows.out[k], size[k] = out[k] ? output_size(job, k) : 0;
      numbers += size[k], most = std::max(most, size[k]);
    }
    const auto bytes = static_cast<std::ptrdiff_t>(sizeof(double)) * numbers;
    if (most > 1 && rows.count > kStreamed / bytes) stage = scratch.take<double>(kLanes * most);
  }
  ~Results() {
    if (stage) finish_streams();
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  double* row(int k, std::ptrdiff_t i) const { return out[k] ? out[k] + i * size[k] : nullptr; }
  // lanes of `rows` rows from i on; false: one of them is not finite
  bool write(const Packed* const* in, std::ptrdiff_t i, std::ptrdiff_t rows) const {
    for (int k = 0; k < count; ++k) {
      if (!out[k]) continue;
      const std::ptrdiff_t n = size[k];
      double* const first = row(k, i);
      const bool early = n > kFew || stage;
      if (early && !all_finite_lanes(in[k], n)) return false;
      double* const to = stage ? stage : first;
      if (n == 1 && rows == kLanes)
        in[k]->store(to);
      else
        scatter(in[k], static_cast<int>(n), static_cast<int>(rows), [=](int l) { return to + l * n; });
      if (stage) stream(stage, rows * n, first);
      if (!early && !all_finite_lanes(in[k], n)) return false;
    }
    return true;
  }
  void blank(std::ptrdiff_t i) const {
    for (int k = 0; k < count; ++k)
      if (out[k]) std::fill_n(row(k, i), size[k], std::numeric_limits<double>::quiet_NaN());
  }
};

// Work offers
//   Results results
//   bool in_lanes(begin, end) const    whether rows are computed side by side
//   void prepare()                     before the first pack
//   bool lanes(row, end, count)        computes and writes `count` rows; false: one of them has failed
//   Failure single(row)                computes and writes one row
template <class Work>
Failure run_over(Work& work, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end, Scratch& scratch) {
  Failure first;
  const auto singly = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    for (std::ptrdiff_t row = from; row < to; ++row) {
      const Scratch::Frame frame(scratch);
      Failure f = work.single(row);
      if (f) {
        f.row = row;
        work.results.blank(row);
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

}  // namespace zveno
