#include <zveno/batch/compute.hpp>

#include <algorithm>
#include <mutex>

#include <zveno/functions/hexapod.hpp>
#include <zveno/support/pool.hpp>

namespace zveno {
namespace {

bool failed(const Failure& f) { return f.kind != Failure::none; }
bool failed(const HexFailure& f) { return f.cause != HexFailure::none; }

// run(begin, end) over the rows; the failure of the lowest row counts
template <class F, class Run>
F over_threads(std::ptrdiff_t rows, std::ptrdiff_t chunk, int threads, const Run& run) {
  struct Shared {
    const Run& run;
    std::mutex mutex;
    F failure;
  } shared{run, {}, {}};
  parallel_for(
      rows, chunk, threads,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        Shared& s = *static_cast<Shared*>(context);
        const F failure = s.run(begin, end);
        if (!failed(failure)) return;
        std::lock_guard lock(s.mutex);
        if (!failed(s.failure) || failure.row < s.failure.row) s.failure = failure;
      },
      &shared);
  return shared.failure;
}

}  // namespace

Failure compute(const KernelTable& kernels, const Job& job, const Rows& rows, int threads) {
  if (threads == 1 || rows.count <= kernels.lanes) return kernels.run(job, rows, 0, rows.count);
  // pieces of whole packs, short enough to share the work evenly, long enough to hide the hand-over
  const std::ptrdiff_t chunk = kernels.lanes * std::max<std::ptrdiff_t>(1, 512 / (kernels.lanes * (1 + job.chain->n() / 8)));
  return over_threads<Failure>(rows.count, chunk, threads,
                               [&](std::ptrdiff_t begin, std::ptrdiff_t end) { return kernels.run(job, rows, begin, end); });
}

HexFailure compute_hexapod(const KernelTable& kernels, const HexJob& job, const HexRows& rows, int threads) {
  if (threads == 1 || rows.count <= kernels.lanes) return kernels.run_hexapod(job, rows, 0, rows.count);
  const std::ptrdiff_t chunk = std::max(kernels.lanes, 128);
  return over_threads<HexFailure>(rows.count, chunk, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    return kernels.run_hexapod(job, rows, begin, end);
  });
}

}  // namespace zveno
