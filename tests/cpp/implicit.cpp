// Inertia with numbers on its diagonal, complex numbers, implicit steps of chains.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <zveno/batch/rows.hpp>
#include <zveno/functions/inertia_solver.hpp>
#include <zveno/sim/chain_system.hpp>
#include <zveno/sim/integrate.hpp>

#include "allocations.hpp"
#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

using C = std::complex<double>;

std::vector<double> mass_matrix(const Chain& chain, const std::vector<double>& q) {
  std::vector<double> M(q.size() * q.size());
  Rows rows;
  rows[Param::q].data = q.data();
  rows.out[0] = M.data();
  rows.count = 1;
  CHECK_EQUAL(static_cast<int>(run_chain({&chain, Function::mass_matrix}, rows, 0, 1).cause), 0);
  return M;
}

}  // namespace

LAW(complex_numbers_obey_their_laws) {
  Random random(300);
  for (int k = 0; k < 50; ++k) {
    const auto x = random.vector(4);
    const C a(x[0], x[1]), b(x[2], x[3]);
    const Complex u(x[0], x[1]), v(x[2], x[3]);
    const auto near = [](const char* what, const Complex& got, const C& expected) {
      const double pair[2] = {got.re(), got.im()}, want[2] = {expected.real(), expected.imag()};
      CHECK_NEAR(what, pair, want, 2, 1e-14);
    };
    near("sum", u + v, a + b), near("difference", u - v, a - b), near("negative", -u, -a);
    near("product", u * v, a * b), near("quotient", u / v, a / b);
    near("real factor", x[2] * u, x[2] * a), near("real factor behind", u * x[2], x[2] * a),
        near("real", Complex(x[0]), x[0]);
    Complex w = u;
    w += v, w *= v, w -= u;
    near("in place", w, (a + b) * b - a);
  }
}

LAW(inertia_with_a_diagonal_is_solved) {
  for (const Wanted& wanted : mechanisms(9)) {
    Random random(301 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    const auto n = static_cast<std::size_t>(chain.n());
    const std::vector<double> q = random.vector(chain.n()), x = random.vector(chain.n(), 0, 3), y = random.vector(chain.n());
    const std::vector<double> im = random.vector(chain.n(), 0, 3), M = mass_matrix(chain, q);
    const auto solver = make_inertia_solver(chain);
    solver->set(q.data());
    std::vector<double> z = y;
    CHECK(!solver->factor(x.data()));
    std::vector<Complex> complex_x(n), complex_z(n);
    for (std::size_t j = 0; j < n; ++j) complex_x[j] = Complex(x[j], im[j]), complex_z[j] = Complex(y[j], -2 * y[j]);
    CHECK(!solver->factor(complex_x.data()));
    const long before = allocations();
    solver->set(q.data());
    CHECK(!solver->factor(x.data()) && !solver->factor(complex_x.data()));
    solver->solve(z.data()), solver->solve(complex_z.data());
    CHECK_EQUAL(allocations() - before, 0L);
    std::vector<double> back(n), re(n), imaginary(n), twice(n);
    for (std::size_t i = 0; i < n; ++i) {
      C sum = C(x[i], im[i]) * C(complex_z[i].re(), complex_z[i].im());
      back[i] = x[i] * z[i];
      for (std::size_t j = 0; j < n; ++j) {
        back[i] += M[i * n + j] * z[j];
        sum += M[i * n + j] * C(complex_z[j].re(), complex_z[j].im());
      }
      re[i] = sum.real(), imaginary[i] = sum.imag(), twice[i] = -2 * y[i];
    }
    CHECK_NEAR("real", back.data(), y.data(), chain.n(), 1e-11);
    CHECK_NEAR("real part", re.data(), y.data(), chain.n(), 1e-11);
    CHECK_NEAR("imaginary part", imaginary.data(), twice.data(), chain.n(), 1e-11);
  }
}

LAW(tableaus_have_their_eigenvalues) {
  for (const Tableau& t : {Tableau::midpoint(), Tableau::gauss(), Tableau::radau()})
    for (int i = 0; i < t.stages; ++i) {
      double sum = 0;
      for (int j = 0; j < t.stages; ++j) {
        sum += t.A[i][j];
        // A = T Lam T^-1
        double product = t.has_real ? t.real_column[i] * t.real * t.real_row[j] : 0;
        if (t.has_pair) product += 2 * (t.pair_column[i] * t.pair * t.pair_row[j]).real();
        CHECK(std::fabs(product - t.A[i][j]) < 1e-14);
      }
      CHECK(std::fabs(sum - t.c[i]) < 1e-15);
    }
}

LAW(implicit_steps_of_a_chain_allocate_nothing_and_keep_its_energy) {
  for (const Stepper method : {Stepper::midpoint, Stepper::gauss, Stepper::radau}) {
    Random random(302);
    const Chain chain = make(random_links(random, {6, true, true, true, true, true}));
    const auto n = static_cast<std::size_t>(chain.n());
    ChainSetup setup;
    setup.chain = &chain;
    setup.kernels = &kernel_table();
    setup.q = random.vector(chain.n()), setup.qd = random.vector(chain.n(), -0.2, 0.2);
    setup.laws.assign(n, JointLaw({SpringDamper{0.1, 2, 0.1, 0.3}, DryFriction{0.1, 0.2}}));
    setup.lower.assign(n, -1e300), setup.upper.assign(n, 1e300);
    setup.external.push_back({chain.frame(0), {{0.0, 1.0}, random.vector(12)}, {}});
    setup.base = {{0.0}, std::vector<double>(9)};
    Schedule schedule{method, 0, 5e-4, 200, 3};
    schedule.tolerances.controlled = method == Stepper::radau;
    schedule.tolerances.relative = 1e-7;
    ChainSystem system(setup);
    std::vector<std::vector<double>> arrays;
    Record record;
    for (int i = 0; i < system.schema().count; ++i) {
      std::ptrdiff_t width = 1;
      for (const std::ptrdiff_t size : system.schema().shape(i)) width *= size;
      arrays.emplace_back(static_cast<std::size_t>(schedule.records() * width));
    }
    for (auto& array : arrays) record.data.push_back(array.data());
    Simulation<ChainSystem> run(schedule, std::move(system), record);
    run.advance(10);
    const long before = allocations();
    while (run.advance(20)) {
    }
    CHECK_EQUAL(allocations() - before, 0L);
    CHECK(!run.failed());
    CHECK(run.collocation()->steps() >= 200);
    const auto row = [&](const char* name) { return arrays[static_cast<std::size_t>(field(chain_record::kFields, name))]; };
    const double energy = row("kinetic_energy").back() + row("potential_energy").back() - row("kinetic_energy")[0] -
                          row("potential_energy")[0] - row("work_joints").back() - row("work_external").back();
    CHECK(std::fabs(energy) < 1e-4 * (std::fabs(row("kinetic_energy").back()) + std::fabs(row("work_joints").back())));
  }
}

LAW(laws_with_states_are_refused_by_implicit_steps) {
  Random random(303);
  const Chain chain = make(random_links(random, {2, false, false, true, true, true}));
  const auto n = static_cast<std::size_t>(chain.n());
  ChainSetup setup;
  setup.chain = &chain;
  setup.kernels = &kernel_table();
  setup.q.assign(n, 0), setup.qd.assign(n, 0);
  setup.laws.assign(n, JointLaw({LuGre{0.5, 0.7, 0.01, 1e2, 1, 0}}));
  setup.lower.assign(n, -1e300), setup.upper.assign(n, 1e300);
  ChainSystem system(setup);
  const double t = 0;
  std::vector<double> zero(n), r(n);
  CHECK(!system.residuals(1, &t, 0, zero.data(), zero.data(), zero.data(), r.data()));
}
