// Times engines in turns on one mechanism; the first is the reference for the results.
//   compare_pinocchio <mechanism.txt> <seconds per function> <engine.so>...
// One line per function and engine: function, engine, variant, nanoseconds per state; variant "batch": many states in one
// call. Exit code 1 if results differ.
#include "load_engine.hpp"
#include "measure.hpp"
#include "mechanism.hpp"
#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

namespace {

using bench::Clock;
using bench::Engine;
using bench::Function;
using bench::Mechanism;

constexpr int kStates = 16;            // calls walk over several states, as in use
constexpr int kBatch = -1;             // the variant that takes many states at once
constexpr double kAgreement = 1e-9;    // relative
constexpr int kLongestMatrices = 100;  // of derivatives and regressors

struct States {
  std::vector<double> q, qd, x;
  std::vector<double> tau;  // that x = qdd needs: with any other the accelerations of a long chain are enormous
};

struct Candidate {
  Engine* engine;
  std::string name, variant;
  int index;
  double best = std::numeric_limits<double>::infinity();
};

// results of more would leave the cache
int batch_size(int n) { return std::clamp(12544 / (n * n), kStates, 256); }

bool is_derivative(Function f) { return f == Function::rnea_derivatives || f == Function::aba_derivatives; }

int result_size(Function f, int n) {
  if (f == Function::regressor) return 10 * n * n;
  return f == Function::crba || is_derivative(f) ? n * n : n;
}

States random_states(int n) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  States states;
  for (auto* values : {&states.q, &states.qd, &states.x}) {
    values->resize(std::size_t(batch_size(n)) * n);
    for (double& value : *values) value = uniform(generator);
  }
  return states;
}

const double* evaluate(const Candidate& c, Function f, const States& s, int state, int n) {
  const double* x = (f == Function::aba_derivatives ? s.tau : s.x).data();
  if (c.index == kBatch) return c.engine->run_batch(f, batch_size(n), s.q.data(), s.qd.data(), x);
  const std::ptrdiff_t at = std::ptrdiff_t(state) * n;
  return c.engine->run(f, c.index, s.q.data() + at, s.qd.data() + at, x + at);
}

// result of one state; of a mass matrix the upper triangle, stored by columns or, being symmetric, by rows; of a regressor
// the numbers in one order
std::vector<double> collect(const Candidate& c, Function f, const States& s, int state, int n) {
  const int size = result_size(f, n);
  const double* result = evaluate(c, f, s, state, n) + (c.index == kBatch ? state * size : 0);
  if (f == Function::regressor) {
    std::vector<double> numbers;
    for (int k = 0; k < size; ++k) numbers.push_back(result[c.engine->regressor_place(n, k / (10 * n), k / 10 % n, k % 10)]);
    return numbers;
  }
  if (f != Function::crba) return {result, result + size};
  std::vector<double> upper;
  for (int column = 0; column < n; ++column)
    for (int row = 0; row <= column; ++row) upper.push_back(result[column * n + row]);
  return upper;
}

void require_agreement(const std::vector<Candidate>& candidates, Function f, const States& states, int n) {
  for (int state = 0; state < kStates; ++state) {
    const auto expected = collect(candidates.front(), f, states, state, n);
    double size = 0;
    for (double value : expected) size = std::max(size, std::abs(value));
    for (const Candidate& c : candidates) {
      const auto value = collect(c, f, states, state, n);
      for (std::size_t k = 0; k < value.size(); ++k)
        if (!(std::abs(value[k] - expected[k]) <= kAgreement * size))
          throw std::runtime_error(c.name + " " + c.variant + " disagrees with " + candidates.front().name);
    }
  }
}

void compare(std::vector<Candidate> candidates, Function f, const char* name, double seconds, const States& states, int n) {
  require_agreement(candidates, f, states, n);
  const auto call = [&](const Candidate& c) {
    return [&](std::size_t state) { return *evaluate(c, f, states, int(state), n); };
  };
  const auto calls = [](const Candidate& c) -> std::size_t { return c.index == kBatch ? 1 : kStates; };
  std::vector<int> rounds;
  for (const Candidate& c : candidates) rounds.push_back(bench::rounds_of_a_turn(calls(c), call(c)));
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  for (int turn = 0; turn < 5 || Clock::now() < deadline; ++turn)
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      Candidate& c = candidates[k];
      const int states = c.index == kBatch ? batch_size(n) : 1;
      c.best = std::min(c.best, bench::seconds_per_call(calls(c), rounds[k], call(c)) / states);
    }
  for (const Candidate& c : candidates)
    std::printf("%s\t%s\t%s\t%.1f\n", name, c.name.c_str(), c.variant.c_str(), c.best * 1e9);
}

std::string stem(const std::string& path) {
  const std::string file = path.substr(path.find_last_of('/') + 1);
  return file.substr(0, file.find('.'));
}

void run(int argc, char** argv) {
  const Mechanism mechanism = bench::read_mechanism(argv[1]);
  const double seconds = std::atof(argv[2]);
  const int n = int(mechanism.joints.size());
  States states = random_states(n);

  std::vector<std::pair<std::string, std::unique_ptr<Engine>>> engines;
  for (int k = 3; k < argc; ++k) engines.emplace_back(stem(argv[k]), bench::load_engine(argv[k], mechanism));

  for (std::size_t at = 0; at < states.q.size(); at += std::size_t(n)) {
    const double* tau = engines.front().second->run(Function::rnea, 0, &states.q[at], &states.qd[at], &states.x[at]);
    states.tau.insert(states.tau.end(), tau, tau + n);
  }

  const std::pair<Function, const char*> functions[] = {{Function::rnea, "RNEA"},
                                                        {Function::crba, "CRBA"},
                                                        {Function::aba, "ABA"},
                                                        {Function::rnea_derivatives, "dRNEA"},
                                                        {Function::aba_derivatives, "dABA"},
                                                        {Function::regressor, "regressor"}};
  for (const auto& [f, name] : functions) {
    if (result_size(f, n) > n && f != Function::crba && n > kLongestMatrices) continue;
    std::vector<Candidate> candidates;
    for (const auto& [label, engine] : engines) {
      const auto variants = engine->variants(f);
      for (std::size_t k = 0; k < variants.size(); ++k) candidates.push_back({engine.get(), label, variants[k], int(k)});
      if (engine->run_batch(f, 1, states.q.data(), states.qd.data(), states.x.data()))
        candidates.push_back({engine.get(), label, "batch", kBatch});
    }
    compare(std::move(candidates), f, name, seconds, states, n);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::program(argc, argv, 3, "<mechanism.txt> <seconds per function> <engine.so>...", [&] { run(argc, argv); });
}
