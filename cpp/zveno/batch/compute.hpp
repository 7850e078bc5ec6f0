// The way in: one function of one mechanism over rows of states, with the instruction set in use and any number of threads.
#pragma once

#include <zveno/functions/job.hpp>
#include <zveno/support/pool.hpp>

namespace zveno {

// threads: 0 is default_threads(). What `watch` stops has some rows written whole, the others not at all.
Failure compute(const KernelTable& kernels, const Job& job, const Rows& rows, int threads = 1, Watch* watch = nullptr);
Failure compute(const KernelTable& kernels, const HexJob& job, const Rows& rows, int threads = 1, Watch* watch = nullptr);
Failure compute(const KernelTable& kernels, const MotionJob& job, const Rows& rows, int threads = 1, Watch* watch = nullptr);
Failure compute(const KernelTable& kernels, const LinkageJob& job, const Rows& rows, int threads = 1,
                Watch* watch = nullptr);

}  // namespace zveno
