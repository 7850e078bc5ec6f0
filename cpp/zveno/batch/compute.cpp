#include <zveno/batch/compute.hpp>

#include <algorithm>
#include <mutex>

#include <zveno/functions/linkage_job.hpp>
#include <zveno/functions/motion_job.hpp>

namespace zveno {
namespace {

// pieces of whole packs, short enough to share the work evenly, long enough to hide the hand-over
std::ptrdiff_t chunk_of(const Job& job, int lanes) {
  // a state of derivatives by dual numbers fills the lanes with its directions, of which there are 2 n
  if (job.function == Function::derivatives && !job.program && job.method == Method::dual)
    return std::max(1, 512 / job.chain->n());
  return lanes * std::max<std::ptrdiff_t>(1, 512 / (lanes * (1 + job.chain->n() / 8)));
}
std::ptrdiff_t chunk_of(const HexJob&, int lanes) { return std::max(lanes, 128); }
std::ptrdiff_t chunk_of(const MotionJob& motion, int lanes) {
  const int cost = (1 + motion.order) * (1 + motion.job.chain->n() / 8);
  return lanes * std::max<std::ptrdiff_t>(1, 256 / (lanes * cost));
}

std::ptrdiff_t chunk_of(const LinkageJob& job, int lanes) {
  const int cost = 1 + (job.linkage->chain().n() + job.linkage->rows()) / 4;
  return lanes * std::max<std::ptrdiff_t>(1, 256 / (lanes * cost));
}

// the failure of the lowest row counts
template <class J>
Failure over_threads(const KernelTable& kernels, const J& job, const Rows& rows, int threads, Watch* watch) {
  if ((threads == 1 && !watch) || rows.count <= kernels.lanes) return kernels.run(job, rows, 0, rows.count);
  struct Shared {
    const KernelTable& kernels;
    const J& job;
    const Rows& rows;
    std::mutex mutex;
    Failure failure;
  } shared{kernels, job, rows, {}, {}};
  parallel_for(
      rows.count, chunk_of(job, kernels.lanes), threads,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        Shared& s = *static_cast<Shared*>(context);
        const Failure failure = s.kernels.run(s.job, s.rows, begin, end);
        if (!failure) return;
        std::lock_guard lock(s.mutex);
        if (!s.failure || failure.row < s.failure.row) s.failure = failure;
      },
      &shared, watch);
  return shared.failure;
}

}  // namespace

Failure compute(const KernelTable& kernels, const Job& job, const Rows& rows, int threads, Watch* watch) {
  return over_threads(kernels, job, rows, threads, watch);
}
Failure compute(const KernelTable& kernels, const HexJob& job, const Rows& rows, int threads, Watch* watch) {
  return over_threads(kernels, job, rows, threads, watch);
}
Failure compute(const KernelTable& kernels, const MotionJob& job, const Rows& rows, int threads, Watch* watch) {
  return over_threads(kernels, job, rows, threads, watch);
}

Failure compute(const KernelTable& kernels, const LinkageJob& job, const Rows& rows, int threads, Watch* watch) {
  return over_threads(kernels, job, rows, threads, watch);
}

}  // namespace zveno
