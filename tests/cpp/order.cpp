// The order in which links are listed permutes the results, nothing else.
#include <algorithm>

#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

// place[j] of joint j of `a` in `b`
std::vector<int> places(const Chain& a, const Chain& b) {
  std::vector<int> place;
  for (const std::string& joint : a.joint_names()) {
    const auto& names = b.joint_names();
    place.push_back(static_cast<int>(std::find(names.begin(), names.end(), joint) - names.begin()));
  }
  return place;
}

std::vector<double> result(const Job& job, const std::vector<double> (&x)[3], const std::vector<double>& external) {
  const std::ptrdiff_t size = result_size(*job.chain, job.function);
  std::vector<double> out(static_cast<std::size_t>(size * result_count(job.function)));
  double* to[kMostOutputs];
  for (int k = 0; k < result_count(job.function); ++k) to[k] = out.data() + k * size;
  States states(job, {x[0].data(), x[1].data(), x[2].data()}, external.data(), 1);
  evaluate(job, states.rows(0, 1, to));
  return out;
}

std::vector<int> link_places(const Chain& a, const Chain& b) {
  std::vector<int> place;
  for (const LinkSpec& link : a.links()) place.push_back(b.find_link(link.name));
  return place;
}

// results of `b` brought to the order of `a`: dimensions that count joints or links are permuted
std::vector<double> reordered(const Job& b, const std::vector<double>& x, const std::vector<int>& joints,
                              const std::vector<int>& links) {
  std::vector<double> y;
  const double* result = x.data();
  const auto place = [&](const Dim& d, int i) {
    return d.size == Size::n ? joints[i] : d.size == Size::links ? kInertial * links[i / kInertial] + i % kInertial : i;
  };
  for (const Slot& slot : row_of(b.function).outputs) {
    const std::ptrdiff_t size = numbers(slot.shape, sizes_of(b));
    for (std::ptrdiff_t k = 0; k < size; ++k) {
      std::ptrdiff_t from = 0, block = size, rest = k;  // indices of element k, one by one
      for (const Dim& d : slot.shape) {
        const int length = d.of(sizes_of(b));
        block /= length;
        from = from * length + place(d, static_cast<int>(rest / block));
        rest %= block;
      }
      y.push_back(result[from]);
    }
    result += size;
  }
  return y;
}

}  // namespace

LAW(listing_links_in_another_order_permutes_the_results) {
  for (int n = 1; n <= 12; ++n)
    for (const bool branching : {false, true}) {
      Random random(60 + static_cast<std::uint64_t>(n));
      std::vector<LinkSpec> links = random_links(random, {n, branching, false, true, true});
      const Chain a = make(links);
      shuffle(random, links);
      const Chain b = make(links);
      const std::vector<int> place = places(a, b);

      std::vector<double> xa[3], xb[3];
      for (int k = 0; k < 3; ++k) {
        xa[k] = random.vector(n);
        xb[k].resize(xa[k].size());
        for (int j = 0; j < n; ++j) xb[k][place[j]] = xa[k][j];
      }
      const char* const loaded[] = {"tool", "link0"};
      std::vector<LinkFrame> loads_a, loads_b;
      for (const char* link : loaded) {
        loads_a.push_back(a.frame(a.find_link(link)));
        loads_b.push_back(b.frame(b.find_link(link)));
      }
      const std::vector<double> external = random.vector(12, -10, 10);

      const std::vector<NamedJob> jobs_a = every_job(a, loads_a), jobs_b = every_job(b, loads_b);
      CHECK_EQUAL(jobs_a.size(), jobs_b.size());
      for (std::size_t i = 0; i < jobs_a.size(); ++i) {
        Job job_a = jobs_a[i].job, job_b = jobs_b[i].job;
        // its places follow from both orders, joints and links: tests/chain/test_regressors.py unpacks it for trees
        if (job_a.function == Function::packed_regressor) continue;
        job_a.frame = loads_a[0], job_b.frame = loads_b[0];  // of the same link
        const auto same = [&](int body) { return b.body_of_joint()[place[a.user_index()[body]]]; };
        job_b.i = same(job_a.i), job_b.j = same(job_a.j);
        for (int k = 0; k < job_a.order; ++k) job_b.by[k] = same(job_a.by[k]);
        const std::vector<double> expected = result(job_a, xa, external);
        const std::vector<double> got = reordered(job_b, result(job_b, xb, external), place, link_places(a, b));
        const std::string what = jobs_a[i].name + ", n = " + std::to_string(n);
        const auto size = static_cast<std::ptrdiff_t>(expected.size());
        // siblings change places, and so does the order of their sums; a serial chain has none
        if (branching)
          CHECK_NEAR(what, got.data(), expected.data(), size, 1e-13 * n);
        else
          CHECK_SAME(what, got.data(), expected.data(), size);
      }
    }
}
