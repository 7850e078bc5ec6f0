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
  double* const to[3] = {out.data(), out.data() + size, out.data() + 2 * size};
  States states(job, {x[0].data(), x[1].data(), x[2].data()}, external.data(), 1);
  evaluate(job, states.rows(0, 1, to));
  return out;
}

// results of `b` brought to the order of `a`
std::vector<double> reordered(Function function, const std::vector<double>& x, const std::vector<int>& place) {
  const std::size_t n = place.size();
  std::vector<double> y = x;
  for (std::size_t i = 0; i < n; ++i) switch (function) {
      case Function::mass_matrix:
      case Function::derivatives:
        for (std::size_t m = 0; m < x.size(); m += n * n)
          for (std::size_t j = 0; j < n; ++j) y[m + i * n + j] = x[m + place[i] * n + place[j]];
        break;
      case Function::reactions:
        for (std::size_t k = 0; k < 6; ++k) y[6 * i + k] = x[6 * place[i] + k];
        break;
      case Function::jacobian:
      case Function::jacobian_rate:
        for (std::size_t k = 0; k < 6; ++k) y[k * n + i] = x[k * n + place[i]];
        break;
      case Function::bias:
      case Function::inverse_dynamics:
      case Function::forward_dynamics: y[i] = x[place[i]]; break;
      default: break;
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
        job_a.frame = loads_a[0], job_b.frame = loads_b[0];  // of the same link
        const std::vector<double> expected = result(job_a, xa, external);
        const std::vector<double> got = reordered(job_b.function, result(job_b, xb, external), place);
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
