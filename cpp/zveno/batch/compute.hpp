// The way in: one function of one mechanism over rows of states, with the instruction set in use and any number of threads.
#pragma once

#include <zveno/functions/job.hpp>

namespace zveno {

// threads: 0 is one per core
Failure compute(const KernelTable& kernels, const Job& job, const Rows& rows, int threads = 1);
Failure compute(const KernelTable& kernels, const HexJob& job, const Rows& rows, int threads = 1);

}  // namespace zveno
