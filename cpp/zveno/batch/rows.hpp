// Rows of states through the scalars: one row as doubles, several side by side in SIMD lanes.
// A row's result does not depend on its place, on the other rows, or on the number of threads.
#pragma once

#include <zveno/functions/job.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {

Failure run_rows(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end);
const KernelTable& kernel_table();

}  // namespace zveno
