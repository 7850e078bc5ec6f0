// Integrators on a system with a known motion; the systems of hexapods and chains on the integrators.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <zveno/batch/rows.hpp>
#include <zveno/functions/hexapod_motion.hpp>
#include <zveno/functions/stage_dynamics.hpp>
#include <zveno/sim/chain_system.hpp>
#include <zveno/sim/hexapod_system.hpp>
#include <zveno/sim/integrate.hpp>
#include <zveno/sim/periods.hpp>

#include "allocations.hpp"
#include "check.hpp"
#include "hexapods.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

constexpr Field kOscillation[] = {{"t", "s", "Time."}, {"x", "m", "Place and rate.", {{"component", "x v", 2}}}};

// x'' = -x, with x = sin t
struct Oscillator {
  struct Stage {
    std::array<double, 2 + kBlock> rate{};
    double p[1] = {}, v[1] = {};
  };
  double fails_after = 1e300, throws_after = 1e300;
  int evaluations = 0, projections = 0;
  Events events;
  Schema table{kOscillation, 0, 0};

  Stage make_stage() const { return {}; }
  int size() const { return 2; }
  const Schema& schema() const { return table; }
  bool begin(double, double* y) const { return y[0] = 0, y[1] = 1, true; }
  bool rates(double t, std::ptrdiff_t, const double* y, Stage& e, Detail) {
    ++evaluations;
    if (t > throws_after) throw std::runtime_error("no more");
    e.rate[0] = y[1], e.rate[1] = -y[0];
    e.p[0] = y[0], e.v[0] = y[1];
    return t <= fails_after;
  }
  void follow(double dt, const double* y, const Stage&, double* next) const { next[0] = y[0] + dt * next[1]; }
  bool project(double, double*) {
    ++projections;
    return true;
  }
  void accept(const Stage&) const {}
  void find_events(double t, double dt, const Stage& a, const Stage& b) { events.find(t, dt, a.p, a.v, b.p, b.v); }
  void write(double t, const double* y, const Stage&, const Record& record, std::ptrdiff_t row) const {
    record.put(field(kOscillation, "t"), row, t);
    record.put<2>(field(kOscillation, "x"), row, y);
  }
  void summarise(const Record&, std::ptrdiff_t, std::ptrdiff_t) const {}
};

// arrays for a schedule, and the simulation that fills them
template <class System>
struct Recorded {
  std::vector<std::vector<double>> arrays;
  Simulation<System> simulation;

  Recorded(const Schedule& schedule, System system)
      : arrays(arrays_of(schedule, system)), simulation(schedule, std::move(system), record_of(arrays)) {}

  static std::vector<std::vector<double>> arrays_of(const Schedule& schedule, const System& system) {
    std::vector<std::vector<double>> made;
    for (int i = 0; i < system.schema().count; ++i) {
      std::ptrdiff_t width = 1;
      for (const std::ptrdiff_t size : system.schema().shape(i)) width *= size;
      made.emplace_back(static_cast<std::size_t>(schedule.records() * width));
    }
    return made;
  }
  static Record record_of(std::vector<std::vector<double>>& arrays) {
    Record record;
    for (auto& array : arrays) record.data.push_back(array.data());
    return record;
  }
  const std::vector<double>& operator[](int field) const { return arrays[static_cast<std::size_t>(field)]; }
  void finish_without_allocating() {
    simulation.advance(10);
    const long before = allocations();
    while (simulation.advance(20)) {
    }
    CHECK_EQUAL(allocations() - before, 0L);
    CHECK(!simulation.failed());
  }
  void finish() {
    while (simulation.advance(7)) {
    }
  }
};

Schedule schedule_of(Stepper method, double end, std::ptrdiff_t steps, std::ptrdiff_t every = 1) {
  return {method, 0, end / static_cast<double>(steps), steps, every};
}

double oscillator_error(Stepper method, std::ptrdiff_t steps) {
  Recorded<Oscillator> run(schedule_of(method, 1, steps, steps), {});
  run.finish();
  return std::fabs(run[1][2] - std::sin(1.0)) + std::fabs(run[1][3] - std::cos(1.0));
}

double largest(const std::vector<double>& x) {
  double most = 0;
  for (double v : x) most = std::max(most, std::fabs(v));
  return most;
}

JointLaw soft(bool hinge) {
  return JointLaw({SpringDamper{1, hinge ? 15.0 : 400.0, hinge ? 3.0 : 80.0, 0.05}, EddyBrake{2, 0.3},
                   LuGre{0.5, 0.7, 0.01, 1e3, 1, 0}, Stops{-0.5, 5, 4e3, 80}});
}

HexapodSetup setup_of(const Hexapod& hexapod, const RingStates& states) {
  HexapodSetup setup;
  setup.hexapod = &hexapod;
  setup.kernels = &kernel_table();
  std::copy_n(states.r.data(), 3, setup.r);
  for (int i = 0; i < 6; ++i) setup.u[i] = 0.05 * states.u[static_cast<std::size_t>(i)];
  for (int k = 0; k < kLegs; ++k) setup.laws[static_cast<std::size_t>(k)] = soft(is_hunt(hexapod.leg(k).type));
  return setup;
}

}  // namespace

LAW(integrators_have_their_order) {
  const double fine = std::log2(oscillator_error(Stepper::rk4, 10) / oscillator_error(Stepper::rk4, 20));
  CHECK(std::fabs(fine - 4) < 0.2);
  const double coarse =
      std::log2(oscillator_error(Stepper::semi_implicit, 100) / oscillator_error(Stepper::semi_implicit, 200));
  CHECK(std::fabs(coarse - 1) < 0.1);
}

LAW(a_step_evaluates_once_at_its_end_and_is_projected) {
  for (const Stepper method : {Stepper::rk4, Stepper::semi_implicit}) {
    Recorded<Oscillator> run(schedule_of(method, 1, 10), {});
    run.finish();
    CHECK_EQUAL(run.simulation.system().evaluations, 1 + 10 * (method == Stepper::rk4 ? 4 : 1));
    CHECK_EQUAL(run.simulation.system().projections, 10);
  }
}

LAW(every_so_many_states_and_the_last_are_recorded) {
  Recorded<Oscillator> all(schedule_of(Stepper::rk4, 1, 10), {}), some(schedule_of(Stepper::rk4, 1, 10, 4), {});
  all.finish(), some.finish();
  CHECK_EQUAL(all.simulation.recorded(), std::ptrdiff_t{11});
  CHECK_EQUAL(some.simulation.recorded(), std::ptrdiff_t{4});
  const int steps[] = {0, 4, 8, 10};
  for (int i = 0; i < 4; ++i) CHECK_SAME("state", &some[1][2 * i], &all[1][2 * steps[i]], 2);
}

LAW(a_failure_ends_the_run_with_the_last_good_state) {
  Oscillator system;
  system.fails_after = 0.52;
  Recorded<Oscillator> run(schedule_of(Stepper::rk4, 1, 10, 3), system);
  CHECK(!run.simulation.advance(100));
  CHECK(run.simulation.failed());
  CHECK_EQUAL(run.simulation.step(), std::ptrdiff_t{5});
  CHECK_EQUAL(run.simulation.recorded(), std::ptrdiff_t{3});  // 0, 3, 5
  CHECK(std::fabs(run.simulation.failure_time() - 0.55) < 1e-12);
  CHECK(std::fabs(run[0][2] - 0.5) < 1e-12);
  CHECK(!run.simulation.advance(1));
}

LAW(an_exception_leaves_the_state_between_two_steps) {
  Oscillator system;
  system.throws_after = 0.52;
  Recorded<Oscillator> run(schedule_of(Stepper::rk4, 1, 10, 100), system);
  CHECK_THROWS(run.simulation.advance(100), std::runtime_error, "no more", );
  CHECK_EQUAL(run.simulation.step(), std::ptrdiff_t{5});
  run.simulation.settle();
  CHECK_EQUAL(run.simulation.recorded(), std::ptrdiff_t{2});
  CHECK(std::fabs(run[0][1] - 0.5) < 1e-12);
}

LAW(events_are_found_inside_their_step) {
  Oscillator system;
  system.events.watch(0, JointLaw(), -2, 0.5);  // sin t = 1 / 2
  system.events.watch(0, JointLaw({Stops{-1e300, 0.999, 1, 0}}), 0, 0);
  Recorded<Oscillator> run(schedule_of(Stepper::rk4, 3, 12), system);
  run.finish();
  const auto& found = run.simulation.system().events.found();
  const double times[] = {kPi / 6, std::asin(0.999), kPi - std::asin(0.999), 5 * kPi / 6};
  CHECK_EQUAL(found.size(), std::size_t{4});
  for (std::size_t i = 0; i < std::min<std::size_t>(4, found.size()); ++i) {
    CHECK(std::fabs(found[i].time - times[i]) < 4e-3);
    CHECK(found[i].upper);
    CHECK_EQUAL(found[i].enters, i < 2);
    CHECK_EQUAL(found[i].rate > 0, i < 2);
  }
}

// the legs are closed first, the forces come later
LAW(motion_has_the_bits_of_forward_dynamics) {
  const auto compare = [](const Hexapod& hexapod, bool moving, const std::string& what) {
    Random random(210);
    const RingStates states(random, hexapod, 5);
    const int nj = hexapod.joints();
    const DynamicsLayout layout{nj, false};
    const auto motion = make_motion(hexapod, moving ? states.base.data() : nullptr);
    for (std::ptrdiff_t row = 0; row < 5; ++row) {
      const double *r = &states.r[3 * row], *R = &states.R[9 * row], *u = &states.u[6 * row],
                   *wrench = &states.wrench[6 * row];
      Rows rows;
      rows[Param::r].data = r, rows[Param::R].data = R, rows[Param::u].data = u, rows[Param::wrench].data = wrench;
      rows.count = 1;
      double position[kLegs * 4], velocity[kLegs * 4], out[200], tau[kLegs][4] = {}, flat[kLegs * 4], kinetic;
      const auto run = [&](HexFunction function, double* to) {
        rows.out[0] = to;
        const Failure failure = run_hexapod({&hexapod, function}, rows, 0, 1);
        CHECK_EQUAL(static_cast<int>(failure.cause), 0);
      };
      CHECK(motion->close(r, R, u, wrench, nullptr));
      run(HexFunction::closure, position), run(HexFunction::joint_velocity, velocity);
      for (int k = 0; k < kLegs; ++k) {
        const int actuated = hexapod.chain(k).actuated;
        CHECK_SAME(what + ": position", &motion->position[k], position + k * nj + actuated, 1);
        CHECK_SAME(what + ": speed", &motion->speed[k], velocity + k * nj + actuated, 1);
        for (int j = 0; j < hexapod.joints(k); ++j) tau[k][j] = random.uniform(-20, 20);
        std::copy_n(tau[k], nj, flat + k * nj);
      }
      if (moving) rows[Param::base_motion].data = states.base.data();
      rows[Param::leg_tau].data = flat;
      run(HexFunction::forward_dynamics, out);
      rows[Param::leg_tau].data = rows[Param::base_motion].data = nullptr;
      run(HexFunction::kinetic_energy, &kinetic);
      motion->find_joints();
      for (int k = 0; k < kLegs; ++k) {
        const double* leg = out + layout.head() + k * layout.per_leg();
        CHECK_SAME(what + ": joint position that is asked for", motion->joint_position[k], leg, nj);
        CHECK_SAME(what + ": joint rate that is asked for", motion->rate[k], leg + nj, nj);
      }
      using Extent = HexMotion::Extent;
      for (const Extent extent : {Extent::brief, Extent::joints, Extent::whole}) {
        CHECK(motion->close(r, R, u, wrench, nullptr) && motion->finish(tau, false, extent));
        CHECK_SAME(what + ": acceleration", motion->acceleration, out, 6);
        CHECK_SAME(what + ": load", motion->load, out + 6, 6);
        for (int k = 0; k < kLegs && extent != Extent::brief; ++k) {
          const double* leg = out + layout.head() + k * layout.per_leg();
          CHECK_SAME(what + ": joint rate", motion->rate[k], leg + nj, nj);
          CHECK_SAME(what + ": joint acceleration", motion->joint_acceleration[k], leg + 2 * nj, nj);
          if (extent == Extent::joints) continue;
          CHECK_SAME(what + ": joint position", motion->joint_position[k], leg, nj);
          CHECK_SAME(what + ": reaction", motion->reaction[k], leg + 3 * nj, 4);
        }
      }
      CHECK_SAME(what + ": kinetic energy", &motion->kinetic, &kinetic, 1);
      double momentum[6], potential = 0;
      run(HexFunction::momentum, momentum);
      CHECK_NEAR(what + ": momentum", motion->momentum, momentum, 6, 1e-14);
      if (hexapod.has_gravity()) run(HexFunction::potential_energy, &potential);
      CHECK_NEAR(what + ": potential energy", &motion->potential, &potential, 1, 1e-14);
    }
  };
  for (const Vec3<double>& gravity : {Vec3<double>{0, 0, 0}, Vec3<double>{-3, 1, 2}})
    for (const bool moving : {false, true}) {
      for (const LegType type : kLegTypes)
        for (const bool symmetric : {false, true})
          compare(make_hexapod(leg_specs(type, symmetric), gravity), moving, name_of(type));
      compare(mixed_hexapod(gravity), moving, "mixed");
    }
}

LAW(a_leg_that_does_not_close_is_refused_and_named) {
  const Hexapod hexapod = make_hexapod(leg_specs(LegType::rus, true));
  Random random(211);
  HexapodSetup setup = setup_of(hexapod, RingStates(random, hexapod, 1));
  setup.r[0] = 5;
  Recorded<HexapodSystem> far(schedule_of(Stepper::rk4, 1, 10), HexapodSystem(setup));
  CHECK(!far.simulation.advance(1));
  CHECK_EQUAL(static_cast<int>(far.simulation.system().failure().cause), static_cast<int>(Cause::reach));
  CHECK_EQUAL(far.simulation.recorded(), std::ptrdiff_t{0});
}

LAW(a_hexapod_keeps_its_balances_and_a_step_allocates_nothing) {
  for (const LegType type : {LegType::ups, LegType::rsu})
    for (const Stepper method : {Stepper::rk4, Stepper::semi_implicit}) {
      const Hexapod hexapod = make_hexapod(leg_specs(type, true), {-1, 0.5, 0.2});
      Random random(212);
      const HexapodSetup setup = setup_of(hexapod, RingStates(random, hexapod, 1));
      Recorded<HexapodSystem> run(schedule_of(method, 0.05, 200, 3), HexapodSystem(setup));
      run.finish_without_allocating();
      const auto array = [&](const char* name) { return run[field(hexapod_record::kFields, name)]; };
      const double bound = method == Stepper::rk4 ? 1e-7 : 1e-2;
      CHECK(largest(array("energy_error")) < bound * largest(array("kinetic_energy")));
      CHECK(largest(array("momentum_error")) < bound * largest(array("momentum")));
      CHECK(largest(array("work_legs")) > 0);
    }
}

LAW(laws_of_passive_joints_balance_and_a_step_allocates_nothing) {
  for (const LegType type : {LegType::spu, LegType::rus})
    for (const Stepper method : {Stepper::rk4, Stepper::semi_implicit}) {
      const Hexapod hexapod = make_hexapod(leg_specs(type, false), {-1, 0.5, 0.2});
      Random random(214);
      HexapodSetup setup = setup_of(hexapod, RingStates(random, hexapod, 1));
      setup.laws.assign(kLegs, JointLaw());
      setup.laws[1] = soft(is_hunt(type));
      for (int k = 0; k < kLegs; ++k)
        for (int j = 0; j < hexapod.joints(k); ++j)
          if (j != hexapod.chain(k).actuated && (j + k) % 2)
            setup.passive.push_back(
                {k, j,
                 JointLaw({SpringDamper{0.1, 2, 0.1, 0.3}, LuGre{0.05, 0.07, 0.01, 1e2, 1, 0}, Stops{-4, 4, 1e3, 1}})});
      Recorded<HexapodSystem> run(schedule_of(method, 0.05, 200, 3), HexapodSystem(setup));
      run.finish_without_allocating();
      const auto array = [&](const char* name) { return run[field(hexapod_record::kFields, name)]; };
      const double bound = method == Stepper::rk4 ? 1e-7 : 1e-2;
      CHECK(largest(array("energy_error")) < bound * largest(array("kinetic_energy")));
      CHECK(largest(array("momentum_error")) < bound * largest(array("momentum")));
      CHECK(largest(array("work_legs")) > 0);
    }
}

LAW(a_passive_law_wants_a_joint_of_its_own_and_room_for_its_states) {
  const Hexapod hexapod = make_hexapod(leg_specs(LegType::ups, true));
  const LuGre bristles{0.5, 0.7, 0.01, 1e3, 1, 0};
  const auto make = [&](int leg, int joint, std::size_t laws, const JointLaw& law) {
    HexapodSetup setup;
    setup.hexapod = &hexapod;
    setup.kernels = &kernel_table();
    setup.laws.assign(kLegs, JointLaw({bristles, bristles, bristles, bristles}));
    setup.passive.assign(laws, PassiveLaw{leg, joint, law});
    HexapodSystem system(setup);
  };
  const JointLaw spring({SpringDamper{0, 1, 0, 0}});
  make(5, 1, 1, spring);
  CHECK_THROWS(make(6, 0, 1, spring), std::invalid_argument, "has no joint", );
  CHECK_THROWS(make(0, 3, 1, spring), std::invalid_argument, "has no joint", );
  CHECK_THROWS(make(0, 2, 1, spring), std::invalid_argument, "has no joint", );  // the drive
  CHECK_THROWS(make(0, -1, 1, spring), std::invalid_argument, "has no joint", );
  CHECK_THROWS(make(0, 1, 2, spring), std::invalid_argument, "has two laws", );
  CHECK_THROWS(make(0, 1, 1, JointLaw({bristles})), std::invalid_argument, "more than 24 LuGre", );
}

LAW(a_chain_keeps_its_energy_and_a_step_allocates_nothing) {
  for (const Stepper method : {Stepper::rk4, Stepper::semi_implicit}) {
    Random random(213);
    const Chain chain = make(random_links(random, {6, true, true, true, true}));
    const auto n = static_cast<std::size_t>(chain.n());
    ChainSetup setup;
    setup.chain = &chain;
    setup.kernels = &kernel_table();
    setup.q = random.vector(chain.n()), setup.qd = random.vector(chain.n(), -0.2, 0.2);
    setup.laws.assign(n, JointLaw({SpringDamper{0.1, 2, 0.1, 0.3}, LuGre{0.5, 0.7, 0.01, 1e2, 1, 0}}));
    setup.lower.assign(n, -1e300), setup.upper.assign(n, 1e300);
    setup.external.push_back({chain.frame(0), {{0.0, 1.0}, random.vector(12)}, {}});
    Recorded<ChainSystem> run(schedule_of(method, 0.02, 400, 3), ChainSystem(setup));
    run.finish_without_allocating();
    const auto array = [&](const char* name) { return run[field(chain_record::kFields, name)]; };
    const double scale = largest(array("kinetic_energy")) + largest(array("work_joints"));
    CHECK(largest(array("energy_error")) < (method == Stepper::rk4 ? 1e-6 : 1e-1) * scale);
    CHECK(largest(array("work_external")) > 0);
  }
}

namespace {

// at (q, qd) under tau, as one row of a batch
Failure one_row(const Job& job, const StageDynamics::State& x, double* qdd) {
  Rows rows;
  rows[Param::q].data = x.q, rows[Param::qd].data = x.qd, rows[Param::tau].data = x.tau;
  if (x.base_motion) rows[Param::base_motion].data = x.base_motion;
  std::vector<RowData> loads;
  for (int k = 0; k < job.external_count; ++k) loads.push_back({x.external + 6 * k, 0});
  rows.external = loads.data();
  rows.out[0] = qdd;
  rows.count = 1;
  return run_chain(job, rows, 0, 1);
}

// every second link without mass, and the next one turning at the same place about an axis square to it, or not
std::vector<LinkSpec> stacked_links(Random& random, int n, bool square) {
  std::vector<LinkSpec> links;
  for (int i = 0; i < n; ++i) {
    links.push_back(random_link(random, "link" + std::to_string(i), i ? links.back().name : "base", LinkKind::revolute));
    if (i % 2) {
      links[i - 1].body = {};
      links[i].position = {0, 0, 0};
      if (square) links[i].rotation = diagonal(1.0), links[i - 1].axis = {0, 0, 1}, links[i].axis = {0, 1, 0};
    }
    links.back().rotor_inertia = 0.2;
  }
  return links;
}

}  // namespace

LAW(stages_have_the_bits_of_forward_dynamics) {
  std::vector<Chain> chains;
  for (const Wanted& wanted : mechanisms(9)) {
    Random random(401 + static_cast<std::uint64_t>(wanted.n));
    chains.push_back(make(random_links(random, wanted)));
  }
  for (const bool square : {false, true}) {
    Random random(402);
    chains.push_back(make(stacked_links(random, 8, square)));
    CHECK(chains.back().topology().stacked);
  }
  for (const Chain& chain : chains) {
    Random random(403);
    const auto n = static_cast<std::size_t>(chain.n());
    const std::vector<LinkFrame> some = random_loads(random, chain), none;
    for (const std::vector<LinkFrame>& loads : {std::cref(none), std::cref(some)})
      for (const bool moving : {false, true}) {
        Job job{&chain, Function::forward_dynamics, Method::aba};
        job.external_frames = loads.data();
        job.external_count = static_cast<int>(loads.size());
        const auto stages = make_stage_dynamics(job);
        const std::vector<double> external = random.vector(6 * static_cast<std::ptrdiff_t>(loads.size()));
        const std::vector<double> base = random.vector(9);
        std::vector<std::vector<double>> q;
        for (int k = 0; k < 4; ++k) q.push_back(random.vector(chain.n()));
        // (position, the one that is expected next): known ones, alone, in turn, and one that does not come
        constexpr int kWay[][2] = {{0, -1}, {0, 1}, {1, 2}, {2, 3}, {0, -1}, {3, -1}, {1, 0}, {3, -1}, {0, 0}, {1, -1}};
        for (const auto& [here, next] : kWay) {
          const std::vector<double> qd = random.vector(chain.n()), tau = random.vector(chain.n());
          const StageDynamics::State state{q[static_cast<std::size_t>(here)].data(),
                                           qd.data(),
                                           tau.data(),
                                           moving ? base.data() : nullptr,
                                           external.data(),
                                           next < 0 ? nullptr : q[static_cast<std::size_t>(next)].data()};
          std::vector<double> got(n), expected(n);
          CHECK(!one_row(job, state, expected.data()));
          const long before = allocations();
          CHECK(!stages->run(state, got.data()));
          CHECK_EQUAL(allocations() - before, 0L);
          CHECK_SAME("accelerations", got.data(), expected.data(), chain.n());
        }
      }
  }
}

// alone, as the first and as the second of two positions
LAW(stages_fail_as_forward_dynamics_does) {
  Random random(404);
  std::vector<LinkSpec> links = random_links(random, {5});
  for (LinkSpec& link : links)
    if (link.name == "link4" || link.name == "tool" || link.name == "weld4") link.body = {};
  const Chain light = make(links), heavy = make(random_links(random, {5}));
  const std::vector<double> qd = random.vector(5), tau = random.vector(5), good = random.vector(5);
  for (const Chain* chain : {&light, &heavy})
    for (const double bad :
         {0.0, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      const Job job{chain, Function::forward_dynamics, Method::aba};
      std::vector<double> q = good, out(5);
      if (bad != 0) q[1] = bad;
      const auto state = [&](const std::vector<double>& at, const double* ahead) {
        return StageDynamics::State{at.data(), qd.data(), tau.data(), nullptr, nullptr, ahead};
      };
      const Failure expected = one_row(job, state(q, nullptr), out.data());
      const auto stages = make_stage_dynamics(job);
      const auto fails = [&](const Failure& f) {
        CHECK(f.cause == expected.cause && f.part == expected.part && f.row == expected.row);
      };
      fails(stages->run(state(q, nullptr), out.data()));
      fails(stages->run(state(q, good.data()), out.data()));
      const auto fresh = make_stage_dynamics(job);
      fresh->run(state(good, q.data()), out.data());
      fails(fresh->run(state(q, nullptr), out.data()));
    }
}

namespace {

// the stages of one that was made, and how many were where they had been expected
struct Watched : StageDynamics {
  static inline int evaluations = 0, expected = 0;
  std::unique_ptr<StageDynamics> stages;
  std::vector<double> ahead;
  std::size_t n;

  explicit Watched(const Job& job) : stages(make_stage_dynamics(job)), n(static_cast<std::size_t>(job.chain->n())) {}
  Failure run(const State& state, double* qdd) override {
    ++evaluations;
    expected += !ahead.empty() && std::equal(ahead.begin(), ahead.end(), state.q);
    ahead.assign(state.ahead, state.ahead ? state.ahead + n : nullptr);
    return stages->run(state, qdd);
  }
};

}  // namespace

LAW(positions_of_stages_are_where_they_are_expected) {
  Random random(405);
  const Chain chain = make(random_links(random, {6, true, true, true, true, true}));
  const auto n = static_cast<std::size_t>(chain.n());
  KernelTable kernels = kernel_table();
  kernels.make_stage_dynamics = [](const Job& job) -> std::unique_ptr<StageDynamics> {
    return std::make_unique<Watched>(job);
  };
  const auto system = [&] {
    ChainSetup setup;
    setup.chain = &chain;
    setup.kernels = &kernels;
    setup.q = random.vector(chain.n()), setup.qd = random.vector(chain.n(), -0.2, 0.2);
    setup.laws.assign(n, JointLaw({SpringDamper{0.1, 2, 0.1, 0.3}}));
    setup.lower.assign(n, -1e300), setup.upper.assign(n, 1e300);
    Watched::evaluations = Watched::expected = 0;
    return ChainSystem(std::move(setup));
  };
  Recorded<ChainSystem> run(schedule_of(Stepper::rk4, 1e-3, 10, 1), system());
  run.simulation.advance(10);
  CHECK_EQUAL(Watched::evaluations, 41);  // four a step and the first state
  CHECK_EQUAL(Watched::expected, 30);     // all but where a step ends
  Periods<ChainSystem> brief(system(), false, 1e-3, 2, true);
  CHECK(brief.begin() && brief.advance() && brief.advance());
  CHECK_EQUAL(Watched::evaluations, 17);
  CHECK_EQUAL(Watched::expected, 12);
  Recorded<ChainSystem> plain(schedule_of(Stepper::semi_implicit, 1e-3, 10, 1), system());
  plain.simulation.advance(10);
  CHECK_EQUAL(Watched::expected, 0);
}
