// How many threads this process may sensibly use.
#pragma once

#include <string>
#include <vector>

namespace zveno {

// something that says how many processors there are for this process
struct ThreadLimit {
  std::string source;
  double processors;
};

// all that speak here: the machine, the affinity of this thread, the quota of its control group, the batch queue
std::vector<ThreadLimit> thread_limits();

// the smallest of them, rounded up, at least 1
int default_threads();

// Processors that the quotas of the control groups of this process and of those around them leave (versions 1 and 2);
// infinity if there are none. The files are looked for under `root`.
double cgroup_processors(const std::string& root = "");

}  // namespace zveno
