// All scalars give the bits of double, from working memory full of NaN.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/scalar/count.hpp>
#include <zveno/scalar/scalars.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

// kLanes states of one mechanism
struct LaneStates {
  std::vector<double> x[3][kLanes], external[kLanes];

  LaneStates(Random& random, int n, std::size_t loads) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (auto& xk : x) xk[lane] = random.vector(n);
      external[lane] = random.vector(6 * static_cast<std::ptrdiff_t>(loads), -10, 10);
    }
  }
};

template <class T>
T garbage() {
  T x;
  std::memset(static_cast<void*>(&x), 0xff, sizeof x);
  return x;
}

// output and, from what solves, pivots
template <class T>
struct Result {
  std::vector<T> out, pivot;
};

// twice: the first run sizes the scratch, the second finds it poisoned
template <class T, class Run>
std::vector<T> from_poisoned(Scratch& scratch, std::size_t size, Run&& run) {
  std::vector<T> out;
  for (int pass = 0; pass < 2; ++pass) {
    scratch.poison();
    out.assign(size, garbage<T>());
    run(out.data());
  }
  return out;
}

template <class T>
Result<T> evaluated(const Job& job, const std::vector<T> (&x)[3], const std::vector<T>& external, Scratch& scratch) {
  const int n = job.chain->n();
  std::size_t size = 0;
  for (int i = 0; i < output_count(job); ++i) size += static_cast<std::size_t>(output_size(job, i));
  Result<T> r;
  r.pivot.assign(row_of(job.function).has(kSolves) ? n : 0, garbage<T>());
  // functions get null for what they do not take
  Inputs<T> in;
  int k = 0;
  for (const Param p : arrays_of(job.function)) in[p] = x[std::min(k++, 2)].data();
  in.external = job.external_count ? external.data() : nullptr;
  r.out = from_poisoned<T>(scratch, size, [&](T* out) {
    T* to[kMostOutputs];
    for (int i = 0; i < output_count(job); ++i) to[i] = out, out += output_size(job, i);
    evaluate<T>(job, in, to, r.pivot.empty() ? nullptr : r.pivot.data(), scratch);
  });
  return r;
}

template <class T, class Make>
std::vector<T> converted(std::size_t size, Make&& make) {
  std::vector<T> y;
  for (std::size_t i = 0; i < size; ++i) y.push_back(make(i));
  return y;
}

Packed across(const std::vector<double> (&lanes)[kLanes], std::size_t i) {
  const double* row[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) row[lane] = lanes[lane].data();
  return Packed::across(row, static_cast<std::ptrdiff_t>(i));
}

template <class T>
std::vector<double> lane_of(const std::vector<T>& x, int lane) {
  return converted<double>(x.size(), [&](std::size_t i) { return x[i][lane]; });
}

std::vector<double> values_of(const std::vector<Counted>& x) {
  return converted<double>(x.size(), [&](std::size_t i) { return x[i].value(); });
}

void compare(const std::string& what, const std::vector<double>& got, const std::vector<double>& expected) {
  CHECK_EQUAL(got.size(), expected.size());
  CHECK_SAME(what, got.data(), expected.data(), static_cast<std::ptrdiff_t>(expected.size()));
}

bool all_numbers(const std::vector<double>& x) {
  for (double xi : x)
    if (!(xi - xi == 0)) return false;
  return true;
}

// calls use(chain, loads, states) for every mechanism, with and without external wrenches
template <class Use>
void for_every_mechanism(std::uint64_t seed, Use&& use) {
  for (const Wanted& wanted : mechanisms(12)) {
    Random random(seed + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    for (const bool loaded : {false, true}) {
      const std::vector<LinkFrame> loads = loaded ? random_loads(random, chain) : std::vector<LinkFrame>{};
      use(chain, loads, LaneStates(random, chain.n(), loads.size()));
    }
  }
}

}  // namespace

LAW(packs_and_counters_give_the_bits_of_double) {
  Scratch scratch;
  for_every_mechanism(1, [&](const Chain& chain, const std::vector<LinkFrame>& loads, const LaneStates& states) {
    std::vector<Packed> packed[3];
    for (int k = 0; k < 3; ++k)
      packed[k] = converted<Packed>(states.x[k][0].size(), [&](std::size_t i) { return across(states.x[k], i); });
    const auto packed_loads =
        converted<Packed>(states.external[0].size(), [&](std::size_t i) { return across(states.external, i); });

    for (const auto& [name, job] : every_job(chain, loads)) {
      if (job.function == Function::derivatives) continue;
      const std::string what = name + ", n = " + std::to_string(chain.n());
      const Result<Packed> pack = evaluated<Packed>(job, packed, packed_loads, scratch);
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::vector<double> x[3] = {states.x[0][lane], states.x[1][lane], states.x[2][lane]};
        const Result<double> plain = evaluated<double>(job, x, states.external[lane], scratch);
        CHECK(all_numbers(plain.out) && all_numbers(plain.pivot));
        compare(what + ", pack", lane_of(pack.out, lane), plain.out);
        compare(what + ", pivots of the pack", lane_of(pack.pivot, lane), plain.pivot);
        if (lane) continue;
        std::vector<Counted> counted[3];
        for (int k = 0; k < 3; ++k) counted[k].assign(x[k].begin(), x[k].end());
        const std::vector<Counted> counted_loads(states.external[lane].begin(), states.external[lane].end());
        const Result<Counted> count = evaluated<Counted>(job, counted, counted_loads, scratch);
        compare(what + ", counter", values_of(count.out), plain.out);
        compare(what + ", pivots of the counter", values_of(count.pivot), plain.pivot);
      }
    }
  });
}

LAW(values_of_duals_are_the_bits_of_double) {
  Scratch scratch;
  for_every_mechanism(2, [&](const Chain& chain, const std::vector<LinkFrame>& loads, const LaneStates& states) {
    Job job{&chain, Function::inverse_dynamics};
    job.external_frames = loads.data();
    job.external_count = static_cast<int>(loads.size());
    const std::size_t n = states.x[0][0].size(), external = states.external[0].size();
    const std::string what = "inverse_dynamics, n = " + std::to_string(n);

    std::vector<Derived> x[3];
    for (int k = 0; k < 3; ++k) x[k] = converted<Derived>(n, [&](std::size_t i) { return Derived{states.x[k][0][i], 1.0}; });
    const auto wrench = converted<Derived>(external, [&](std::size_t i) { return Derived{states.external[0][i], 0.0}; });
    const auto tau = from_poisoned<Derived>(scratch, n, [&](Derived* out) {
      inverse_dynamics<Derived>(job, {{x[0].data(), x[1].data(), x[2].data()}, wrench.data()}, out, scratch);
    });
    const std::vector<double> state[3] = {states.x[0][0], states.x[1][0], states.x[2][0]};
    const std::vector<double> plain = evaluated<double>(job, state, states.external[0], scratch).out;
    for (int l = 0; l < kLanes; ++l) compare(what, converted<double>(n, [&](std::size_t i) { return tau[i].v[l]; }), plain);
  });
}

LAW(counts_do_not_depend_on_the_numbers) {
  Scratch scratch;
  for_every_mechanism(3, [&](const Chain& chain, const std::vector<LinkFrame>& loads, const LaneStates& states) {
    for (const auto& [name, job] : every_job(chain, loads)) {
      if (job.function == Function::derivatives || kLanes < 2) continue;
      long totals[2];
      for (int lane = 0; lane < 2; ++lane) {
        std::vector<Counted> x[3];
        for (int k = 0; k < 3; ++k) x[k].assign(states.x[k][lane].begin(), states.x[k][lane].end());
        const std::vector<Counted> external(states.external[lane].begin(), states.external[lane].end());
        Counted::reset();
        evaluated<Counted>(job, x, external, scratch);
        totals[lane] = 0;
        for (int s = 0; s < 3; ++s) {
          const Counts& c = Counted::stages()[s];
          totals[lane] = 31 * totals[lane] + c.mul + 3 * c.add + 5 * c.div + 7 * c.sqrt + 11 * c.trig;
        }
      }
      CHECK_EQUAL(totals[0], totals[1]);
    }
  });
}
