#pragma once

#include <string>
#include <vector>

namespace zveno {

// instruction sets of this processor that kernels may exist for, best first
std::vector<std::string> cpu_levels();

}  // namespace zveno
