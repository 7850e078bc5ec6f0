// A program of the benchmark: arguments counted, errors told.
#pragma once

#include <cstdio>
#include <exception>

namespace bench {

// usage: the arguments in words; least: how many of them there must be
template <class Run>
int program(int argc, char** argv, int least, const char* usage, Run&& run) {
  if (argc <= least) {
    std::fprintf(stderr, "usage: %s %s\n", argv[0], usage);
    return 2;
  }
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace bench
