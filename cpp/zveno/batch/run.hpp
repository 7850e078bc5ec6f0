// One run over rows: several at once in SIMD lanes; one by one where lanes do not help, or where a row of a pack failed.
// A row's result does not depend on its place, on the other rows, or on the number of threads.
#pragma once

#include <algorithm>
#include <limits>
#include <new>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/stream.hpp>
#include <zveno/functions/job.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// results of so many numbers are checked while their stores drain; more of them leave the fastest cache before that
constexpr std::ptrdiff_t kFew = 64;
// Rows longer than kShortRow are written piece by piece, with eight lanes eight rows at a time, which the next cache may
// take badly; lanes of rows of so many numbers fit the fastest cache, and go from there in order. Four lanes lose by it.
constexpr std::ptrdiff_t kLongestStaged = 256;

// Where the results of rows stand.
struct Results {
  int count;
  double* out[kMostOutputs];  // null: not wanted
  std::ptrdiff_t size[kMostOutputs];
  bool staged[kMostOutputs] = {};  // else lanes are written where they belong
  double* stage[kMostOutputs];     // one place for all: less of it leaves the fastest cache; or one for each
  InOrder* order = nullptr;        // of staged results, each
  bool past = false;               // the caches
  // Staged rows of all lanes are held until the next ones are computed, see Program; asked for before prepare().
  bool later = false;
  Vectors* held = nullptr;
  int holding = 0, all = 0;  // so many of them, of all staged results

  template <class J>
  Results(const J& job, const Rows& rows) : count(output_count(job)) {
    for (int k = 0; k < count; ++k) out[k] = rows.out[k], size[k] = out[k] ? output_size(job, k) : 0;
  }
  double* row(int k, std::ptrdiff_t i) const { return out[k] ? out[k] + i * size[k] : nullptr; }
  // rows: of the whole call; kept out of the loop that follows, in which everything else shall find its place
  ZVENO_APART void prepare(std::ptrdiff_t rows, Scratch& scratch) {
    std::ptrdiff_t numbers = 0;
    for (int k = 0; k < count; ++k) numbers += size[k];
    past = rows > kStreamed / (static_cast<std::ptrdiff_t>(sizeof(double)) * std::max<std::ptrdiff_t>(numbers, 1));
    std::ptrdiff_t longest = 0;
    for (int k = 0; k < count; ++k) {
      staged[k] = out[k] && size[k] > kShortRow && (past || (size[k] <= kLongestStaged && takes_pieces_badly()));
      if (staged[k]) longest = std::max(longest, size[k]), ++all;
    }
    if (!longest) return;
    later &= past && kLanes == kWholeVector;
    const auto place = [&](std::ptrdiff_t n) { return scratch.take<double>(kLanes * n + 2 * kWholeVector); };
    double* const shared = later ? nullptr : place(longest);
    for (int k = 0; k < count; ++k)
      if (staged[k]) stage[k] = later ? place(size[k]) : shared;
    held = scratch.take<Vectors>(all);
    order = scratch.take<InOrder>(count);
    for (int k = 0; k < count; ++k) ::new (order + k) InOrder;
  }
  // what is held, or null: whoever computes the next rows copies it, and says so
  const Vectors* waiting() const { return holding ? held : nullptr; }
  void passed() { holding = 0; }
  // lanes of `rows` rows from i on; false: one of them is not finite
  ZVENO_INLINE bool write(const Packed* const* in, std::ptrdiff_t i, std::ptrdiff_t rows) {
    if (count != 1 || size[0] != 1 || rows < kLanes) return write_rows(in, i, rows);
    in[0]->store(out[0] + i);  // an energy, whose call would take 4 % of its time
    return all_finite_lanes(in[0], 1);
  }
  ZVENO_APART bool write_rows(const Packed* const* in, std::ptrdiff_t i, std::ptrdiff_t rows) {
    for (int k = 0; k < count; ++k) {
      if (!out[k]) continue;
      const std::ptrdiff_t n = size[k];
      double* const first = row(k, i);
      if ((n > kFew || staged[k]) && !all_finite_lanes(in[k], n)) return false;
      if (staged[k]) {
        double* const to = order[k].begin(stage[k], first);
        scatter(in[k], static_cast<int>(n), static_cast<int>(rows), [=](int l) { return to + l * n; });
        const Vectors vectors = order[k].pass_on(stage[k], rows * n, first, later);
        if (later && vectors.count == kLanes * n)
          held[holding++] = vectors;
        else
          copy_vectors(vectors, past);
        continue;
      }
      scatter(in[k], static_cast<int>(n), static_cast<int>(rows), [=](int l) { return first + l * n; });
      if (n <= kFew && !all_finite_lanes(in[k], n)) return false;
    }
    if (holding && holding < all) copy_held();
    return true;
  }
  ZVENO_COLD void copy_held() {
    while (holding) copy_vectors(held[--holding], past);
  }
  // no rows follow, or not after these
  void finish() {
    if (holding) copy_held();
    for (int k = 0; order && k < count; ++k) order[k].finish();
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
  work.results.prepare(rows.count, scratch);
  for (std::ptrdiff_t row = begin; row < end; row += kLanes) {
    const Scratch::Frame frame(scratch);
    const std::ptrdiff_t count = std::min<std::ptrdiff_t>(kLanes, end - row);
    if (!work.lanes(row, end, count)) {
      work.results.finish();
      singly(row, row + count);
    } else if (rows.status) {
      std::fill_n(rows.status + row, count, std::int16_t{0});
    }
  }
  work.results.finish();
  if (work.results.past) finish_streams();
  return first;
}

}  // namespace zveno
