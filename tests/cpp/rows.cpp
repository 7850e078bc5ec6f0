// Batches: arrays of exactly the right size (the address sanitizer watches their ends), any count, any thread.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include <zveno/support/scratch.hpp>
#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

// a heap array without slack, filled with NaN
class Exact {
 public:
  explicit Exact(std::ptrdiff_t size) : size_(size), data_(new double[static_cast<std::size_t>(size)]) {
    std::fill_n(data_.get(), size, std::numeric_limits<double>::quiet_NaN());
  }
  explicit Exact(const std::vector<double>& x) : Exact(static_cast<std::ptrdiff_t>(x.size())) {
    std::copy(x.begin(), x.end(), data_.get());
  }
  double* data() const { return data_.get(); }
  std::ptrdiff_t size() const { return size_; }

 private:
  std::ptrdiff_t size_;
  std::unique_ptr<double[]> data_;
};

// the three inputs and the wrenches of `count` states; with `shared`, qd and the wrenches are one row for all
struct Batch {
  std::vector<Exact> in;
  Exact external;
  bool shared;
  std::ptrdiff_t n, count;

  Batch(Random& random, std::ptrdiff_t n, std::ptrdiff_t width, std::ptrdiff_t count, bool shared)
      : external(random.vector(width * (shared ? 1 : count), -10, 10)), shared(shared), n(n), count(count) {
    for (int k = 0; k < 3; ++k) in.emplace_back(random.vector(n * (shared && k == 1 ? 1 : count)));
  }

  // results of rows [first, first + rows) computed in one call
  std::vector<Exact> results(const Job& job, std::ptrdiff_t first, std::ptrdiff_t rows_wanted, int threads) const {
    States states(job, {in[0].data(), in[1].data(), in[2].data()}, external.data(), count, shared, shared);
    std::vector<Exact> out;
    double* to[kMostOutputs] = {};
    for (int k = 0; k < result_count(job.function); ++k) {
      out.emplace_back(output_size(job, k) * rows_wanted);
      to[k] = out.back().data();
    }
    evaluate(job, states.rows(first, rows_wanted, to), threads);
    return out;
  }
};

}  // namespace

LAW(rows_do_not_depend_on_their_batch) {
  for (const Wanted& wanted :
       {Wanted{1}, Wanted{2, false, true, true, true}, Wanted{5}, Wanted{7, true, true, true, true}}) {
    Random random(50 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    const std::vector<LinkFrame> some = random_loads(random, chain), none;
    for (std::ptrdiff_t count = 0; count <= 17; ++count)
      for (const std::vector<LinkFrame>& loads : {std::cref(none), std::cref(some)})
        for (const bool shared : {false, true}) {
          const Batch batch(random, chain.n(), 6 * static_cast<std::ptrdiff_t>(loads.size()), count, shared);
          for (const auto& [name, job] : every_job(chain, loads)) {
            Scratch::of_this_thread().poison();
            const std::vector<Exact> all = batch.results(job, 0, count, count % 4 == 3 ? 3 : 1);
            for (std::ptrdiff_t row = 0; row < count; ++row) {
              Scratch::of_this_thread().poison();
              const std::vector<Exact> one = batch.results(job, row, 1, 1);
              for (std::size_t k = 0; k < all.size(); ++k)
                CHECK_SAME(name + ", " + std::to_string(count) + " rows", all[k].data() + row * one[k].size(), one[k].data(),
                           one[k].size());
            }
          }
        }
  }
}

// matrices of n > 64 go row by row as doubles, others in packs
LAW(rows_of_large_matrices_do_not_depend_on_their_batch) {
  for (int n : {64, 65}) {
    Random random(51);
    const Chain chain = make(random_links(random, {n, true, true, true, true}));
    const Batch batch(random, n, 0, 5, false);
    for (const auto& [name, job] : every_job(chain, {})) {
      const std::vector<Exact> all = batch.results(job, 0, 5, 2);
      for (std::ptrdiff_t row = 0; row < 5; ++row) {
        const std::vector<Exact> one = batch.results(job, row, 1, 1);
        for (std::size_t k = 0; k < all.size(); ++k)
          CHECK_SAME(name, all[k].data() + row * one[k].size(), one[k].data(), one[k].size());
      }
    }
  }
}

LAW(threads_do_not_change_a_bit) {
  Random random(52);
  const Chain chain = make(random_links(random, {9, true, true, true, true}));
  const std::vector<LinkFrame> loads = random_loads(random, chain);
  const Batch batch(random, 9, 6 * static_cast<std::ptrdiff_t>(loads.size()), 1001, false);
  for (const auto& [name, job] : every_job(chain, loads)) {
    const std::vector<Exact> one = batch.results(job, 0, 1001, 1);
    for (int threads : {0, 2, 5}) {
      const std::vector<Exact> several = batch.results(job, 0, 1001, threads);
      for (std::size_t k = 0; k < one.size(); ++k) CHECK_SAME(name, several[k].data(), one[k].data(), one[k].size());
    }
  }
}
