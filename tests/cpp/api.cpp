// The functions of zveno.hpp and what they throw.
#include <cmath>
#include <limits>
#include <tuple>

#include <zveno/instruments/count.hpp>
#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

// a point mass on a massless rod of length l, turning about y
LinkSpec pendulum(const std::string& name, const std::string& parent, double mass) {
  LinkSpec link;
  link.name = name;
  link.parent = parent;
  link.joint_name = name + "_joint";
  link.axis = {0, 1, 0};
  link.body.mass = mass;
  link.body.com = {0, 0, -0.5};
  return link;
}

// links 0 .. n - 1 in a row, those in `massless` without mass
std::vector<LinkSpec> row_of_links(int n, const std::vector<int>& massless) {
  Random random(70);
  std::vector<LinkSpec> links;
  for (int i = 0; i < n; ++i) {
    links.push_back(random_link(random, "l" + std::to_string(i), i ? links.back().name : "base", LinkKind::revolute));
    for (int m : massless)
      if (i == m) links.back().body.mass = 0, links.back().body.inertia = diagonal(0.0);
  }
  return links;
}

}  // namespace

LAW(a_pendulum_falls_as_in_the_textbook) {
  const Chain chain("pendulum", "base", {0, 0, -9.81}, {pendulum("rod", "base", 2.0)});
  const double q = 0.3, qd = 1.5, qdd = -0.7;
  const double inertia = 2.0 * 0.25, weight = 2.0 * 9.81 * 0.5 * std::sin(q);
  double x;
  mass_matrix(chain, &q, &x);
  CHECK_NEAR("mass matrix", &x, &inertia, 1, 1e-15);
  bias(chain, &q, &qd, &x);
  CHECK_NEAR("bias", &x, &weight, 1, 1e-15);
  inverse_dynamics(chain, &q, &qd, &qdd, &x);
  const double tau = inertia * qdd + weight;
  CHECK_NEAR("inverse dynamics", &x, &tau, 1, 1e-15);
  for (Method method : {Method::aba, Method::cholesky, Method::cholesky_walk}) {
    forward_dynamics(chain, &q, &qd, &tau, &x, method);
    CHECK_NEAR("forward dynamics", &x, &qdd, 1, 1e-14);
  }
}

LAW(mass_times_acceleration_plus_bias_is_effort) {
  for (const Wanted& wanted : mechanisms(12)) {
    Random random(71 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    const int n = chain.n();
    const std::vector<double> q = random.vector(n), qd = random.vector(n), qdd = random.vector(n);
    std::vector<double> M(n * n), h(n), tau(n), back(n), crba(n * n);
    bias(chain, q.data(), qd.data(), h.data());
    inverse_dynamics(chain, q.data(), qd.data(), qdd.data(), tau.data());
    mass_matrix(chain, q.data(), crba.data());
    for (Method method : {Method::crba, Method::crba_walk, Method::crba_columns, Method::kane, Method::kane_triangular,
                          Method::kane_recurrent, Method::kane_collapsed, Method::kosynka}) {
      const bool serial_only = method == Method::kane_recurrent || method == Method::kosynka;
      if (serial_only && !chain.topology().serial) {
        CHECK_THROWS(mass_matrix(chain, q.data(), M.data(), method), std::invalid_argument, "serial");
        continue;
      }
      mass_matrix(chain, q.data(), M.data(), method);
      CHECK_NEAR("mass matrix", M.data(), crba.data(), n * n, 1e-13 * n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) CHECK(check::same_bits(M[i * n + j], M[j * n + i]));
      std::vector<double> sum = h;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) sum[i] += M[i * n + j] * qdd[j];
      CHECK_NEAR("M qdd + bias", sum.data(), tau.data(), n, 1e-13 * n);
    }
    for (Method method : {Method::aba, Method::cholesky, Method::cholesky_walk}) {
      forward_dynamics(chain, q.data(), qd.data(), tau.data(), back.data(), method);
      CHECK_NEAR("forward after inverse dynamics", back.data(), qdd.data(), n, 1e-11 * n);
    }
  }
}

LAW(a_joint_that_moves_no_mass_is_named) {
  for (const auto& [n, massless, joint] :
       {std::tuple<int, std::vector<int>, const char*>{1, {0}, "l0_joint"}, {4, {3}, "l3_joint"}, {5, {3, 4}, "l4_joint"}}) {
    const Chain chain = make(row_of_links(n, massless));
    CHECK(!chain.suspicions().empty());
    Random random(72);
    const std::vector<double> q = random.vector(n), qd = random.vector(n), tau = random.vector(n);
    std::vector<double> qdd(n);
    for (Method method : {Method::aba, Method::cholesky, Method::cholesky_walk})
      CHECK_THROWS(forward_dynamics(chain, q.data(), qd.data(), tau.data(), qdd.data(), method), SingularityError, joint,
                   CHECK_EQUAL(error.joint, std::string(joint));
                   CHECK_EQUAL(error.row, std::ptrdiff_t{0}));
    inverse_dynamics(chain, q.data(), qd.data(), tau.data(), qdd.data());
  }
}

LAW(a_rotor_is_mass_enough) {
  std::vector<LinkSpec> links = row_of_links(4, {3});
  links[3].rotor_inertia = 0.1;
  const Chain chain = make(links);
  const std::vector<double> x(4, 0.1);
  std::vector<double> qdd(4);
  forward_dynamics(chain, x.data(), x.data(), x.data(), qdd.data());
  for (double a : qdd) CHECK(std::isfinite(a));
}

LAW(mass_on_the_axis_is_no_inertia_about_it) {
  std::vector<LinkSpec> links = row_of_links(3, {});
  links[2].axis = {0, 0, 1};
  links[2].body.com = {0, 0, 0.3};
  links[2].body.inertia = diagonal(0.0);
  const Chain chain = make(links);
  const std::vector<double> x(3, 0.4);
  std::vector<double> qdd(3);
  for (Method method : {Method::aba, Method::cholesky, Method::cholesky_walk})
    CHECK_THROWS(forward_dynamics(chain, x.data(), x.data(), x.data(), qdd.data(), method), SingularityError, "l2_joint");
}

// two joints about one line are each fine, but only their sum is determined at this position of the chain
LAW(a_singular_position_names_its_row) {
  std::vector<LinkSpec> links;
  for (const char* name : {"a", "b"}) {
    LinkSpec link = pendulum(name, links.empty() ? "base" : "a", links.empty() ? 0.0 : 1.0);
    if (links.empty()) link.axis = {0, 0, 1};
    links.push_back(link);
  }
  const Chain chain = make(links);  // with q[1] = 0 the mass hangs on the axis of joint a
  constexpr std::ptrdiff_t kCount = 500;
  std::vector<double> q(2 * kCount, 0.7), rest(2 * kCount, 0.0), out(2 * kCount);
  for (std::ptrdiff_t row : {499, 77, 301}) q[2 * row + 1] = 0;
  double* const to[1] = {out.data()};
  for (Method method : {Method::aba, Method::cholesky, Method::cholesky_walk})
    for (int threads : {1, 2, 4}) {
      const Job job{&chain, Function::forward_dynamics, method};
      States states(job, {q.data(), rest.data(), rest.data()}, nullptr, kCount);
      CHECK_THROWS(evaluate(job, states.rows(0, kCount, to), threads), SingularityError, "row 77",
                   CHECK_EQUAL(error.joint, std::string("a_joint"));
                   CHECK_EQUAL(error.row, std::ptrdiff_t{77}));
    }
}

LAW(a_result_that_is_not_finite_is_an_error) {
  Random random(73);
  const Chain chain = make(random_links(random, {5}));
  for (double bad : {1e200, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> x = random.vector(5), out(5);
    x[2] = bad;
    CHECK_THROWS(inverse_dynamics(chain, x.data(), x.data(), x.data(), out.data()), std::overflow_error, "not finite");
  }
}

LAW(results_have_the_size_they_are_said_to_have) {
  Random random(74);
  const Chain chain = make(random_links(random, {5}));
  for (const auto& [function, size] : {std::pair<Function, int>{Function::mass_matrix, 25},
                                       {Function::derivatives, 25},
                                       {Function::bias, 5},
                                       {Function::inverse_dynamics, 5},
                                       {Function::forward_dynamics, 5},
                                       {Function::reactions, 30},
                                       {Function::base_wrench, 6},
                                       {Function::kinetic_energy, 1},
                                       {Function::potential_energy, 1},
                                       {Function::pose, 16},
                                       {Function::jacobian, 30},
                                       {Function::jacobian_rate, 30}})
    CHECK_EQUAL(result_size(chain, function), std::ptrdiff_t{size});
}

LAW(operations_are_counted_without_leaving_a_trace) {
  Random random(75);
  const Chain chain = make(random_links(random, {6}));
  for (const auto& [name, job] : every_job(chain, {})) {
    if (job.function == Function::derivatives) continue;
    const auto first = count_operations(job), second = count_operations(job);
    for (int s = 0; s < 3; ++s) {
      CHECK_EQUAL(first[s].second.mul, second[s].second.mul);
      CHECK_EQUAL(first[s].second.add, second[s].second.add);
    }
    CHECK(first[0].second.trig <= 2L * chain.n());
  }
}
