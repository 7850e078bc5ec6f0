// Processor time of a call: other work on the machine does not count.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace bench {

inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// smallest time of call(k), which returns a number of its result, over k = 0 .. states - 1 in turns; nanoseconds
template <class Call>
double best_of(std::size_t states, double seconds, Call&& call) {
  constexpr double kTurnSeconds = 500e-6;  // long against the clock, short against the machine's moods
  using Clock = std::chrono::steady_clock;
  const auto turn = [&](int rounds) {
    [[maybe_unused]] volatile double sink = 0;
    const double start = processor_seconds();
    for (int round = 0; round < rounds; ++round)
      for (std::size_t k = 0; k < states; ++k) sink = call(k);
    return (processor_seconds() - start) / (double(rounds) * double(states));
  };
  turn(1);
  const int rounds = std::max(1, int(kTurnSeconds / (turn(1) * double(states))));
  double best = std::numeric_limits<double>::infinity();
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  for (int k = 0; k < 5 || Clock::now() < deadline; ++k) best = std::min(best, turn(rounds));
  return best * 1e9;
}

}  // namespace bench
