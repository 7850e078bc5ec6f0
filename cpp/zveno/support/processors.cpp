#include <zveno/support/processors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

#include <zveno/support/pool.hpp>

namespace zveno {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double share(double quota, double period) { return quota > 0 && period > 0 ? quota / period : kNoLimit; }

// of one group; words that are no numbers ("max") and files that are not there mean no limit
double quota_of(const std::string& group) {
  double quota = 0, period = 0;
  std::ifstream both(group + "/cpu.max");  // version 2
  if (both >> quota >> period) return share(quota, period);
  std::ifstream first(group + "/cpu.cfs_quota_us"), second(group + "/cpu.cfs_period_us");  // version 1: -1 is no limit
  return first >> quota && second >> period ? share(quota, period) : kNoLimit;
}

// The least quota of a group and those around it. A container that sees the host's path finds its own group at the root.
double least_quota(const std::string& mount, std::string path) {
  double least = quota_of(mount);
  for (; path.size() > 1; path.erase(path.rfind('/'))) {
    least = std::min(least, quota_of(mount + path));
    if (path.find('/') == std::string::npos) break;
  }
  return least;
}

int affinity() {
#if defined(__linux__)
  for (int most = 1024; most <= 1 << 20; most *= 4) {
    cpu_set_t* set = CPU_ALLOC(most);
    if (!set) return 0;
    const std::size_t size = CPU_ALLOC_SIZE(most);
    const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count) return count;
  }
#endif
  return 0;
}

// what does not change while a process lives
const std::vector<ThreadLimit>& fixed_limits() {
  static const std::vector<ThreadLimit> limits = [] {
    std::vector<ThreadLimit> found{{"processors", std::max(1.0, double(std::thread::hardware_concurrency()))}};
    if (const double quota = cgroup_processors(); quota < kNoLimit) found.push_back({"control group", quota});
    constexpr const char* kQueue = "SLURM_CPUS_PER_TASK";
    if (const char* text = std::getenv(kQueue))
      if (const long count = std::strtol(text, nullptr, 10); count > 0) found.push_back({kQueue, double(count)});
    return found;
  }();
  return limits;
}

}  // namespace

double cgroup_processors(const std::string& root) {
  double least = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");
  const std::string mounts = root + "/sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min({least, least_quota(mounts, path), least_quota(mounts + "/unified", path)});
      continue;
    }
    std::istringstream words(controllers);
    for (std::string word; std::getline(words, word, ',');)
      if (word == "cpu")
        least = std::min({least, least_quota(mounts + "/" + controllers, path), least_quota(mounts + "/cpu", path)});
  }
  return least;
}

std::vector<ThreadLimit> thread_limits() {
  std::vector<ThreadLimit> limits = fixed_limits();
  if (const int count = affinity()) limits.push_back({"affinity", double(count)});
  return limits;
}

int default_threads() {
  double least = affinity();
  if (!(least > 0)) least = kNoLimit;
  for (const ThreadLimit& limit : fixed_limits()) least = std::min(least, limit.processors);
  return static_cast<int>(std::clamp(std::ceil(least), 1.0, double(kMostThreads)));
}

}  // namespace zveno
