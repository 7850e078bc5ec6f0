// Jets against polynomials and known series, and through the kernels: their first coefficients are the bits of double.
#include <cmath>
#include <cstring>

#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/scalar/jet.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

constexpr int kMost = kMostTimeDerivatives;
using Series = Jet<double, kMost>;

Series series(const std::vector<double>& c) {
  Series x = Series::of_degree(static_cast<int>(c.size()) - 1);
  for (int k = 0; k <= x.degree(); ++k) x[k] = c[static_cast<std::size_t>(k)];
  return x;
}

void compare(const std::string& what, const Series& got, const std::vector<double>& expected, double tolerance = 0) {
  CHECK_EQUAL(got.degree() + 1, static_cast<int>(expected.size()));
  CHECK_NEAR(what, &got[0], expected.data(), static_cast<std::ptrdiff_t>(expected.size()), tolerance);
}

// coefficients of t^0 .. t^degree of (1 + t)^power
std::vector<double> binomial(int power, int degree) {
  std::vector<double> c{1};
  for (int k = 0; k < degree; ++k) c.push_back(c.back() * (power - k) / (k + 1));
  return c;
}

}  // namespace

LAW(products_are_those_of_polynomials_at_every_degree) {
  for (int degree = 1; degree <= kMost; ++degree) {
    Series power = 1.0;
    for (int n = 1; n <= 5; ++n) {
      power *= series(binomial(1, degree));
      compare("(1 + t)^" + std::to_string(n), power, binomial(n, degree));
    }
    // what is cut off never comes back
    compare("(1 + t)^5 / (1 + t)^7", power / (power * series(binomial(2, degree))), binomial(-2, degree), 1e-12);
  }
}

LAW(quotients_are_geometric_series) {
  for (int degree = 0; degree <= kMost; ++degree)
    compare("1 / (1 + t)", Series(1.0) / series(binomial(1, degree)), binomial(-1, degree));
}

LAW(sines_and_cosines_of_a_line_are_their_series) {
  const double a = 0.7, w = 1.3;
  std::vector<double> line(kMost + 1, 0.0), sine, cosine;
  line[0] = a, line[1] = w;
  double factor = 1;
  for (int k = 0; k <= kMost; factor *= w / ++k) {
    sine.push_back(factor * std::sin(a + k * kPi / 2));
    cosine.push_back(factor * std::cos(a + k * kPi / 2));
  }
  const Series x = series(line);
  Series s, c;
  joint_trig(&x, &s, &c, 1);
  compare("sine", s, sine, 1e-15);
  compare("cosine", c, cosine, 1e-15);
}

LAW(squares_of_sine_and_cosine_add_to_one) {
  Random random(1);
  for (int degree = 0; degree <= kMost; ++degree) {
    const Series x = series(random.vector(degree + 1, -1, 1));
    Series s, c;
    joint_trig(&x, &s, &c, 1);
    std::vector<double> one(static_cast<std::size_t>(degree) + 1, 0.0);
    one[0] = 1;
    compare("s^2 + c^2", s * s + c * c, one, 1e-14);
  }
}

LAW(constants_have_degree_zero_and_leave_the_others_alone) {
  const Series x = series({1, 2, 3}), two = 2.0;
  CHECK_EQUAL((two * two + two).degree(), 0);
  compare("2 x", two * x, {2, 4, 6});
  compare("x 2", x * two, {2, 4, 6});
  compare("x + 2", x + two, {3, 2, 3});
  compare("2 - x", two - x, {1, -2, -3});
  compare("x - 2", x - two, {-1, 2, 3});
  compare("x / 2", x / two, {0.5, 1, 1.5});
  compare("-x", -x, {-1, -2, -3});
}

LAW(first_coefficients_are_the_bits_of_double) {
  Scratch scratch;
  for (const Wanted& wanted : mechanisms(8)) {
    Random random(30 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    const std::vector<LinkFrame> loads = random_loads(random, chain);
    const int n = chain.n();
    const std::vector<double> x[4] = {random.vector(n), random.vector(n), random.vector(n), random.vector(n)};
    const std::vector<double> external = random.vector(6 * static_cast<std::ptrdiff_t>(loads.size()), -10, 10);
    constexpr int kDegree = 3;
    std::vector<Moving> moving[4], moving_external;
    const auto rising = [&](const std::vector<double>& from, std::vector<Moving>& to) {
      for (const double value : from) {
        to.push_back(Moving::of_degree(kDegree));
        to.back()[0] = value;
        for (int k = 1; k <= kDegree; ++k) to.back()[k] = random.uniform(-1, 1);
      }
    };
    for (int k = 0; k < 4; ++k) rising(x[k], moving[k]);
    rising(external, moving_external);

    for (const auto& [name, job] : every_job(chain, loads)) {
      if (job.method == Method::dual) continue;
      std::size_t size = 0, begin[kMostOutputs] = {};  // results one behind the other
      for (int k = 0; k < output_count(job); ++k) begin[k] = size, size += static_cast<std::size_t>(output_size(job, k));
      Inputs<double> in;
      Inputs<Moving> in_moving;
      int k = 0;
      for (const Param p : arrays_of(job.function)) in[p] = x[k].data(), in_moving[p] = moving[k++].data();
      in.external = external.data();
      in_moving.external = moving_external.data();
      std::vector<double> out(size), pivot(static_cast<std::size_t>(n)), values;
      double* to[kMostOutputs] = {};
      for (int k = 0; k < output_count(job); ++k) to[k] = out.data() + begin[k];
      evaluate<double>(job, in, to, pivot.data(), scratch);
      std::vector<Moving> out_moving(size), pivot_moving(static_cast<std::size_t>(n));
      Moving* to_moving[kMostOutputs] = {};
      for (int k = 0; k < output_count(job); ++k) to_moving[k] = out_moving.data() + begin[k];
      for (int pass = 0; pass < 2; ++pass) {  // the second one finds the scratch poisoned
        scratch.poison();
        evaluate<Moving>(job, in_moving, to_moving, pivot_moving.data(), scratch);
      }
      for (const Moving& y : out_moving) values.push_back(y[0][kLanes - 1]);
      CHECK_SAME(name + ", n = " + std::to_string(n), values.data(), out.data(), static_cast<std::ptrdiff_t>(size));
    }
  }
}
