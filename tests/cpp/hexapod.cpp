// Hexapods through zveno.hpp: mechanics, errors, batches, threads, memory.
#include <algorithm>
#include <cmath>
#include <limits>

#include <zveno/support/scratch.hpp>
#include <zveno/zveno.hpp>

#include "allocations.hpp"
#include "check.hpp"
#include "hexapods.hpp"

using namespace zveno;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Design {
  std::string name;
  Hexapod hexapod;
};

std::vector<Design> designs(const Vec3<double>& gravity = {0, 0, 0}) {
  std::vector<Design> all;
  for (const LegType type : kLegTypes)
    for (const bool symmetric : {true, false})
      all.push_back(
          {name_of(type) + (symmetric ? " symmetric" : " full"), make_hexapod(leg_specs(type, symmetric), gravity)});
  all.push_back({"mixed", mixed_hexapod(gravity)});
  return all;
}

// one leg of any geometry beside five of known ones: the UPS leg as a chain
Hexapod with_custom_leg() {
  std::vector<LegSpec> legs = leg_specs(LegType::ups, true);
  const Hexapod plain = make_hexapod(legs);
  legs[2].type = LegType::custom;
  legs[2].chain = plain.chain(2).chain;
  legs[2].link = "3";
  legs[2].point = {legs[2].outer_length, 0, 0};
  legs[2].start = {0, 0, 0};
  legs[2].actuated = "3";
  return make_hexapod(legs);
}

std::vector<double> results(const NamedHexJob& item, const RingStates& states, std::ptrdiff_t first, std::ptrdiff_t count,
                            int threads = 1) {
  std::vector<double> out(static_cast<std::size_t>(result_size(item.job) * count), kNaN);
  Rows rows = states.rows(first, count, item);
  rows.out[0] = out.data();
  evaluate(item.job, rows, threads);
  return out;
}

NamedHexJob job_of(const Hexapod& hexapod, HexFunction function) { return {"", HexJob{&hexapod, function}}; }

// where leg k, an open chain, brings its hook: 4 x 4
void hook_pose(const Hexapod& hexapod, int k, const double* p, double* T) {
  const LegChain& leg = hexapod.chain(k);
  Job job{leg.chain.get(), Function::pose};
  job.frame = leg.hook;
  Rows rows;
  rows[Param::q].data = p;
  rows.out[0] = T;
  rows.count = 1;
  evaluate(job, rows);
}

double component(const double* R, const Vec3<double>& a, int i) {  // of R a
  return R[3 * i] * a.x() + R[3 * i + 1] * a.y() + R[3 * i + 2] * a.z();
}

}  // namespace

LAW(closure_brings_every_leg_to_its_hinge) {
  for (const auto& [name, hexapod] : designs()) {
    Random random(100);
    const RingStates states(random, hexapod, 5);
    for (int row = 0; row < 5; ++row) {
      const double *r = &states.r[3 * row], *R = &states.R[9 * row];
      std::vector<double> p(kLegs * hexapod.joints());
      closure(hexapod, r, R, p.data());
      for (int k = 0; k < kLegs; ++k) {
        double T[16], got[4] = {}, expected[4] = {};
        hook_pose(hexapod, k, &p[k * hexapod.joints()], T);
        for (int i = 0; i < 3; ++i) {
          got[i] = T[4 * i + 3];
          expected[i] = r[i] + component(R, hexapod.leg(k).ring, i);
          // the axes of a universal joint are at right angles
          if (hexapod.chain(k).universal) got[3] += T[4 * i + 1] * component(R, hexapod.chain(k).ring_axis, i);
        }
        CHECK_NEAR(name + ", " + hexapod.leg(k).name, got, expected, 4, 3e-15);
      }
    }
  }
}

// with forces of the drives only, they are what inverse dynamics finds, and the ring obeys Newton
LAW(forward_dynamics_obeys_newton_and_inverse_dynamics_undoes_it) {
  for (const Vec3<double>& gravity : {Vec3<double>{0, 0, 0}, Vec3<double>{-9.81, 0.5, 0.3}})
    for (const auto& [name, hexapod] : designs(gravity)) {
      Random random(101);
      const RingStates states(random, hexapod, 3);
      const DynamicsLayout layout(hexapod.joints(), false);
      for (int row = 0; row < 3; ++row) {
        const double *r = &states.r[3 * row], *R = &states.R[9 * row], *u = &states.u[6 * row];
        const double *wrench = &states.wrench[6 * row], *tau = &states.tau[6 * row];
        std::vector<double> out(static_cast<std::size_t>(layout.size()), kNaN);
        forward_dynamics(hexapod, r, R, u, wrench, tau, out.data());

        const double mass = hexapod.platform().mass;
        double rate[3], force[3];
        for (int i = 0; i < 3; ++i) {
          rate[i] = mass * out[i];
          force[i] = wrench[i] + mass * gravity[i];
          for (int k = 0; k < kLegs; ++k) force[i] += out[layout.head() + k * layout.per_leg() + 3 * layout.joints + i];
        }
        CHECK_NEAR(name + ": ring", rate, force, 3, 1e-12);

        NamedHexJob inverse = job_of(hexapod, HexFunction::inverse_dynamics);
        Rows rows;
        rows[Param::r].data = r, rows[Param::R].data = R, rows[Param::u].data = u, rows[Param::wrench].data = wrench,
        rows[Param::acceleration].data = out.data();
        double back[6];
        rows.out[0] = back;
        rows.count = 1;
        evaluate(inverse.job, rows);
        CHECK_NEAR(name + ": drives", back, tau, 6, 1e-11);
      }
    }
}

LAW(results_of_hexapods_have_the_size_they_are_said_to_have) {
  const Hexapod three = make_hexapod(leg_specs(LegType::ups, true)), four = mixed_hexapod();
  for (const auto& [function, of_three, of_four] : {std::tuple<HexFunction, int, int>{HexFunction::closure, 18, 24},
                                                    {HexFunction::joint_velocity, 18, 24},
                                                    {HexFunction::jacobian, 36, 36},
                                                    {HexFunction::measures, 24, 24},
                                                    {HexFunction::mass_matrix, 36, 36},
                                                    {HexFunction::momentum, 6, 6},
                                                    {HexFunction::kinetic_energy, 1, 1},
                                                    {HexFunction::potential_energy, 1, 1},
                                                    {HexFunction::inverse_dynamics, 6, 6},
                                                    {HexFunction::forward_dynamics, 12 + 6 * 13, 12 + 6 * 16},
                                                    {HexFunction::free_dynamics, 18 + 6 * 13, 18 + 6 * 16}}) {
    CHECK_EQUAL(result_size(job_of(three, function).job), std::ptrdiff_t{of_three});
    CHECK_EQUAL(result_size(job_of(four, function).job), std::ptrdiff_t{of_four});
  }
}

LAW(the_short_calls_are_the_long_ones) {
  const Hexapod hexapod = make_hexapod(leg_specs(LegType::spu, true));
  Random random(102);
  const RingStates states(random, hexapod, 1);
  NamedHexJob item = job_of(hexapod, HexFunction::closure);
  std::vector<double> got(kLegs * hexapod.joints()), expected = results(item, states, 0, 1);
  closure(hexapod, states.r.data(), states.R.data(), got.data());
  CHECK_SAME("closure", got.data(), expected.data(), got.size());
  item = job_of(hexapod, HexFunction::forward_dynamics);
  item.job.actuated_only = true;
  expected = results(item, states, 0, 1);
  got.assign(expected.size(), kNaN);
  forward_dynamics(hexapod, states.r.data(), states.R.data(), states.u.data(), states.wrench.data(), states.tau.data(),
                   got.data());
  CHECK_SAME("forward_dynamics", got.data(), expected.data(), got.size());
}

LAW(rows_of_hexapods_depend_neither_on_their_batch_nor_on_memory) {
  std::vector<Design> all = designs({-9.81, 0.5, 0.3});
  all.push_back({"still mixed", mixed_hexapod()});
  all.push_back({"custom", with_custom_leg()});
  for (const auto& [name, hexapod] : all) {
    Random random(103);
    const std::ptrdiff_t most = 19;
    const RingStates states(random, hexapod, most);
    for (const NamedHexJob& item : every_job(hexapod)) {
      const std::ptrdiff_t size = result_size(item.job);
      Scratch::of_this_thread().poison();
      const std::vector<double> batch = results(item, states, 0, most);
      for (const double x : batch) CHECK(std::isfinite(x));
      for (std::ptrdiff_t row = 0; row < most; ++row) {
        Scratch::of_this_thread().poison();
        const std::vector<double> one = results(item, states, row, 1);
        CHECK_SAME(name + ", " + item.name, one.data(), batch.data() + row * size, size);
      }
      for (const std::ptrdiff_t count : {0, 2, 3, 7, 9}) {
        Scratch::of_this_thread().poison();
        const std::vector<double> some = results(item, states, most - count, count);
        CHECK_SAME(name + ", " + item.name, some.data(), batch.data() + (most - count) * size, count * size);
      }
    }
  }
}

LAW(threads_do_not_change_a_bit_of_hexapods) {
  const Hexapod hexapod = mixed_hexapod({-9.81, 0, 0});
  Random random(104);
  const RingStates states(random, hexapod, 1001);
  for (const NamedHexJob& item : every_job(hexapod)) {
    const std::vector<double> one = results(item, states, 0, 1001);
    for (const int threads : {0, 2, 5}) {
      const std::vector<double> several = results(item, states, 0, 1001, threads);
      CHECK_SAME(item.name, several.data(), one.data(), one.size());
    }
  }
}

LAW(a_repeated_call_of_a_hexapod_allocates_nothing) {
  std::vector<Design> all = designs();
  all.push_back({"custom", with_custom_leg()});
  for (const auto& [name, hexapod] : all) {
    Random random(105);
    const RingStates states(random, hexapod, 9);
    for (const NamedHexJob& item : every_job(hexapod))
      for (const std::ptrdiff_t count : {1, 9})
        for (const int threads : {1, 2}) {
          std::vector<double> out(static_cast<std::size_t>(result_size(item.job) * count));
          Rows rows = states.rows(0, count, item);
          rows.out[0] = out.data();
          evaluate(item.job, rows, threads);
          const long before = allocations();
          for (int i = 0; i < 3; ++i) evaluate(item.job, rows, threads);
          CHECK_EQUAL(name + ", " + item.name + ": " + std::to_string(allocations() - before),
                      name + ", " + item.name + ": 0");
        }
  }
}

LAW(a_leg_out_of_reach_is_named) {
  const Hexapod hexapod = make_hexapod(leg_specs(LegType::rus, true));
  Random random(106);
  RingStates states(random, hexapod, 300);
  const NamedHexJob item = job_of(hexapod, HexFunction::closure);
  for (const std::ptrdiff_t row : {299, 41, 200}) states.r[3 * row] = 2.0;  // far beyond crank and coupler
  for (const int threads : {1, 2, 4})
    CHECK_THROWS(results(item, states, 0, 300, threads), LegError, "leg 'leg1' cannot reach its hinge",
                 CHECK_EQUAL(error.leg, std::string("leg1"));
                 CHECK_EQUAL(error.index, 0); CHECK(error.cause == Cause::reach); CHECK(error.margin > 0);
                 CHECK_EQUAL(error.row, std::ptrdiff_t{41});
                 CHECK(std::string(error.what()).find("in row 41, margin ") != std::string::npos));
}

LAW(a_singular_leg_is_named) {
  std::vector<LegSpec> legs = leg_specs(LegType::ups, true);
  const Vec3<double> along = legs[3].base_frame.col(0), other = legs[3].base_frame.col(2);
  Mat3<double>& frame = legs[3].base_frame;  // y, the first axis, along the leg
  for (int i = 0; i < 3; ++i) frame(i, 1) = along[i], frame(i, 0) = cross(along, other)[i];
  const Hexapod hexapod = make_hexapod(legs);
  const double r[3] = {0.4, 0, 0}, R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double p[18];
  CHECK_THROWS(closure(hexapod, r, R, p), LegError, "leg 'leg4' lies along the first axis of its base joint",
               CHECK_EQUAL(error.index, 3);
               CHECK(error.cause == Cause::along_axis); CHECK(error.margin < 1e-7);
               CHECK_EQUAL(error.row, std::ptrdiff_t{0}));
}

// six parallel legs do not hold the ring
LAW(a_singular_mechanism_is_no_legs_fault) {
  std::vector<LegSpec> legs = leg_specs(LegType::ups, true);
  for (LegSpec& leg : legs) leg.ring = leg.base;
  const Hexapod hexapod = make_hexapod(legs);
  const double r[3] = {0.4, 0, 0}, R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  NamedHexJob item = job_of(hexapod, HexFunction::inverse_dynamics);
  Rows rows;
  rows[Param::r].data = r, rows[Param::R].data = R;
  double tau[6];
  rows.out[0] = tau;
  rows.count = 1;
  CHECK_THROWS(evaluate(item.job, rows), LegError, "hexapod 'ring' is singular", CHECK_EQUAL(error.leg, std::string());
               CHECK_EQUAL(error.index, -1); CHECK(error.cause == Cause::singular));
}

LAW(bad_numbers_are_refused) {
  const Hexapod hexapod = mixed_hexapod();
  Random random(107);
  const RingStates good(random, hexapod, 20);
  NamedHexJob item = job_of(hexapod, HexFunction::forward_dynamics);
  for (const double bad : {kNaN, std::numeric_limits<double>::infinity()})
    for (std::vector<double> RingStates::* part :
         {&RingStates::r, &RingStates::R, &RingStates::u, &RingStates::wrench, &RingStates::tau}) {
      RingStates states = good;
      std::vector<double>& x = states.*part;
      x[13 * (x.size() / 20)] = bad;
      CHECK_THROWS(results(item, states, 0, 20), std::invalid_argument, "row 13");
    }
  RingStates states = good;
  for (int i = 0; i < 3; ++i) states.R[9 * 7 + i] *= -1;  // left-handed
  CHECK_THROWS(results(item, states, 0, 20), std::invalid_argument, "R is not a rotation in row 7");
  states = good;
  states.u[6 * 4] = 1e200;
  CHECK_THROWS(results(item, states, 0, 20), std::overflow_error, "row 4");
}

LAW(with_a_status_nothing_is_thrown) {
  const Hexapod hexapod = make_hexapod(leg_specs(LegType::rus, false));
  Random random(108);
  RingStates states(random, hexapod, 50);
  const NamedHexJob item = job_of(hexapod, HexFunction::forward_dynamics);
  const std::vector<double> good = results(item, states, 0, 50);
  states.r[3 * 31] = 2.0;
  std::vector<double> out(good.size(), 0.0);
  std::vector<std::int16_t> status(50, -1);
  Rows rows = states.rows(0, 50, item);
  rows.out[0] = out.data();
  rows.status = status.data();
  evaluate(item.job, rows, 2);
  const std::ptrdiff_t size = result_size(item.job);
  for (std::ptrdiff_t row = 0; row < 50; ++row) {
    CHECK_EQUAL(int{status[row]}, row == 31 ? static_cast<int>(Cause::reach) | 1 << 8 : 0);
    for (std::ptrdiff_t i = row * size; i < (row + 1) * size; ++i)
      CHECK(row == 31 ? std::isnan(out[i]) : check::same_bits(out[i], good[i]));
  }
}

LAW(a_hexapod_has_six_legs) {
  std::vector<LegSpec> legs = leg_specs(LegType::ups, true);
  legs.pop_back();
  CHECK_THROWS(make_hexapod(legs), ModelError, "5 legs, expected 6");
}
