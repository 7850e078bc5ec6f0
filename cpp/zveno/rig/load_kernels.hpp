#pragma once

#include <string>

#include <zveno/functions/job.hpp>

namespace zveno {

// The kernels for this processor, loaded once for the process. Null: `error` says why.
const KernelTable* load_kernels(std::string& error);

}  // namespace zveno
