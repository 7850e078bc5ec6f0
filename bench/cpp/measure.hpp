// Wall time of a call: the smallest of many short turns, which other work on the machine can only lengthen. A clock of
// processor time may stand still for a whole turn, and its minimum would be too small.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>

namespace bench {

using Clock = std::chrono::steady_clock;

// mean of call(k), k = 0 .. states - 1, over some rounds; the number that it returns is used, so that no compiler drops it
template <class Call>
double seconds_per_call(std::size_t states, int rounds, Call&& call) {
  [[maybe_unused]] volatile double sink = 0;
  const auto start = Clock::now();
  for (int round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < states; ++k) sink = call(k);
  const std::chrono::duration<double> spent = Clock::now() - start;
  return std::max(spent.count(), 1e-9) / (double(rounds) * double(states));
}

// rounds of a turn: long against the clock, short against the machine's moods
template <class Call>
int rounds_of_a_turn(std::size_t states, Call&& call) {
  constexpr double kTurnSeconds = 500e-6;
  seconds_per_call(states, 1, call);
  return std::max(1, int(kTurnSeconds / (seconds_per_call(states, 1, call) * double(states))));
}

// smallest time of call(k) in turns, nanoseconds
template <class Call>
double best_of(std::size_t states, double seconds, Call&& call) {
  const int rounds = rounds_of_a_turn(states, call);
  double best = std::numeric_limits<double>::infinity();
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  for (int k = 0; k < 5 || Clock::now() < deadline; ++k) best = std::min(best, seconds_per_call(states, rounds, call));
  return best * 1e9;
}

// largest difference of the n numbers result(k) and expected(k), relative to the largest number expected; huge if one is
// not finite
template <class Result, class Expected>
double deviation(std::size_t states, int n, Result&& result, Expected&& expected) {
  double error = 0, size = 0;
  for (std::size_t k = 0; k < states; ++k) {
    const double *found = result(k), *wanted = expected(k);
    for (int i = 0; i < n; ++i) {
      if (!std::isfinite(found[i])) return std::numeric_limits<double>::max();
      error = std::max(error, std::abs(found[i] - wanted[i]));
      size = std::max(size, std::abs(wanted[i]));
    }
  }
  return error / size;
}

}  // namespace bench
