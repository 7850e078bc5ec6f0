#include <zveno/run/compute.hpp>

#include <algorithm>
#include <mutex>

#include <zveno/run/pool.hpp>

namespace zveno {

Failure compute(const KernelTable& kernels, const Job& job, const Rows& rows, int threads) {
  if (threads == 1 || rows.count <= kernels.lanes) return kernels.run(job, rows, 0, rows.count);
  struct Shared {
    const KernelTable& kernels;
    const Job& job;
    const Rows& rows;
    std::mutex mutex;
    Failure failure;
  } shared{kernels, job, rows, {}, {}};
  // pieces of whole packs, short enough to share the work evenly, long enough to hide the hand-over
  const std::ptrdiff_t chunk = kernels.lanes * std::max<std::ptrdiff_t>(1, 512 / (kernels.lanes * (1 + job.chain->n() / 8)));
  parallel_for(
      rows.count, chunk, threads,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        Shared& s = *static_cast<Shared*>(context);
        const Failure failure = s.kernels.run(s.job, s.rows, begin, end);
        if (failure.kind == Failure::none) return;
        std::lock_guard lock(s.mutex);
        if (s.failure.kind == Failure::none || failure.row < s.failure.row) s.failure = failure;
      },
      &shared);
  return shared.failure;
}

}  // namespace zveno
