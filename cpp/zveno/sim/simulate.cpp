#include <zveno/sim/simulate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace zveno {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

Vec3<double> vector(const double* x) { return {x[0], x[1], x[2]}; }
void add(double* to, const Vec3<double>& x) { to[0] += x.x(), to[1] += x.y(), to[2] += x.z(); }

void normalise(double* q) {
  const double size = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; ++i) q[i] /= size;
}

// of any quaternion but zero; row major
void rotation(const double* q, double* R) {
  const double s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double x = q[1], y = q[2], z = q[3], wx = s * q[0] * x, wy = s * q[0] * y, wz = s * q[0] * z;
  R[0] = 1 - s * (y * y + z * z), R[1] = s * x * y - wz, R[2] = s * x * z + wy;
  R[3] = s * x * y + wz, R[4] = 1 - s * (x * x + z * z), R[5] = s * y * z - wx;
  R[6] = s * x * z - wy, R[7] = s * y * z + wx, R[8] = 1 - s * (x * x + y * y);
}

// q o [a; b c d]
void product(const double* q, double a, double b, double c, double d, double* out) {
  out[0] = q[0] * a - q[1] * b - q[2] * c - q[3] * d;
  out[1] = q[0] * b + q[1] * a + q[2] * d - q[3] * c;
  out[2] = q[0] * c - q[1] * d + q[2] * a + q[3] * b;
  out[3] = q[0] * d + q[1] * c - q[2] * b + q[3] * a;
}

Vec3<double> turned(const double* R, const double* x) {
  return {R[0] * x[0] + R[1] * x[1] + R[2] * x[2], R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
          R[6] * x[0] + R[7] * x[1] + R[8] * x[2]};
}

// coordinate within a step from its values and rates at both ends
struct Hermite {
  double p0, p1, m0, m1;  // m: rate times step
  double operator()(double s) const {
    if (s == 0) return p0;
    if (s == 1) return p1;
    const double c = 3 * (p1 - p0) - 2 * m0 - m1, d = 2 * (p0 - p1) + m0 + m1;
    return p0 + s * (m0 + s * (c + s * d));
  }
  double slope(double s) const {
    const double c = 3 * (p1 - p0) - 2 * m0 - m1, d = 2 * (p0 - p1) + m0 + m1;
    return m0 + s * (2 * c + 3 * s * d);
  }
  // where the curve turns inside (0, 1), in order
  int turns(double* s) const {
    const double a = 3 * (2 * (p0 - p1) + m0 + m1), b = 3 * (p1 - p0) - 2 * m0 - m1, c = m0;  // a s^2 + 2 b s + c
    const double root = b * b - a * c;
    if (!(root > 0)) return 0;
    const double q = -(b + std::copysign(std::sqrt(root), b));
    const double candidates[2] = {a != 0 ? q / a : -1, q != 0 ? c / q : -1};
    int count = 0;
    for (double x : candidates)
      if (x > 0 && x < 1) s[count++] = x;
    if (count == 2 && s[0] > s[1]) std::swap(s[0], s[1]);
    return count;
  }
};

}  // namespace

Simulation::Simulation(SimulationSetup setup)
    : setup_(std::move(setup)), nj_(setup_.hexapod->joints()), layout_{nj_, false} {
  const Hexapod& hexapod = *setup_.hexapod;
  std::copy_n(setup_.r, 3, y_ + kR);
  std::copy_n(setup_.q, 4, y_ + kQ);
  normalise(y_ + kQ);
  std::copy_n(setup_.u, 6, y_ + kU);
  mass_ = hexapod.platform().mass + hexapod.leg_mass();
  needs_rates_ = static_cast<bool>(setup_.leg_forces);
  for (int k = 0; k < kLegs; ++k) {
    const LegLaw& law = setup_.laws[k];
    needs_rates_ |= !law.empty();
    bristles_[k + 1] = bristles_[k] + law.states();
    const std::size_t first = bounds_.size();
    const auto watch = [&](double lower, double upper) {
      for (const Bound& b : {Bound{k, false, lower}, Bound{k, true, upper}}) {
        const auto same = [&](const Bound& x) { return x.upper == b.upper && x.at == b.at; };
        if (std::isfinite(b.at) && std::none_of(bounds_.begin() + first, bounds_.end(), same)) bounds_.push_back(b);
      }
    };
    bool stops = false;
    for (const Term& term : law.terms())
      if (const auto* s = std::get_if<Stops>(&term)) watch(s->lower, s->upper), stops = true;
    if (!stops) watch(setup_.lower[k], setup_.upper[k]);
  }
}

bool Simulation::call(HexFunction function, const double* y, const Evaluation& e, double* out, const double* base) {
  HexJob job;
  job.hexapod = setup_.hexapod;
  job.function = function;
  Rows rows;
  rows[Param::r].data = y + kR;
  rows[Param::R].data = e.R;
  rows[Param::u].data = y + kU;
  if (function == HexFunction::forward_dynamics) {
    rows[Param::wrench].data = e.wrench;
    rows[Param::leg_tau].data = e.tau;
    rows[Param::base_motion].data = base;
  }
  if (ready_ && setup_.hexapod->has_custom()) rows[Param::start].data = last_p_;  // Newton's method stays on its branch
  rows.out[0] = out;
  rows.count = 1;
  const Failure failure = setup_.kernels->run(job, rows, 0, 1);
  if (failure.cause == Cause::none) return true;
  failure_ = failure;
  return false;
}

// angles of closed forms jump by a turn; here they follow the last step
void Simulation::unwrap(double* p, int stride) const {
  if (!ready_) return;
  const Hexapod& hexapod = *setup_.hexapod;
  for (int k = 0; k < kLegs; ++k) {
    const LegType type = hexapod.leg(k).type;
    if (type == LegType::custom) continue;
    for (int j = 0; j < hexapod.joints(k) - !traits_of(type).hunt; ++j) {  // a stroke is no angle
      double& x = p[k * stride + j];
      const double jump = last_p_[k * nj_ + j] - x;
      if (std::fabs(jump) > kPi) x += 2 * kPi * std::round(jump / (2 * kPi));
    }
  }
}

// e.tau, rates of the bristles
bool Simulation::forces(double t, std::ptrdiff_t step, const double* y, Evaluation& e) {
  const Hexapod& hexapod = *setup_.hexapod;
  const std::size_t size = static_cast<std::size_t>(kLegs * nj_);
  if (setup_.tau.empty()) {
    std::fill_n(e.tau, size, 0.0);
  } else {
    const std::size_t rows = setup_.tau.size() / size;
    const std::size_t row = std::min(static_cast<std::size_t>(step), rows - 1);
    std::copy_n(setup_.tau.data() + row * size, size, e.tau);
  }
  if (!needs_rates_) return true;
  double p[kLegs * kMostJoints], v[kLegs * kMostJoints];
  if (!call(HexFunction::closure, y, e, p) || !call(HexFunction::joint_velocity, y, e, v)) return false;
  unwrap(p, nj_);
  for (int k = 0; k < kLegs; ++k) {
    const int j = k * nj_ + hexapod.chain(k).actuated;
    e.p[k] = p[j], e.v[k] = v[j];
    const int z = kZ + bristles_[k];
    e.tau[j] += setup_.laws[k].force({t, p[j], v[j]}, y + z, e.rate + z);
  }
  if (setup_.leg_forces) {
    double more[kLegs];
    setup_.leg_forces(t, e.p, e.v, more);
    for (int k = 0; k < kLegs; ++k) e.tau[k * nj_ + hexapod.chain(k).actuated] += more[k];
  }
  return true;
}

bool Simulation::evaluate(double t, std::ptrdiff_t step, const double* y, Evaluation& e) {
  const Hexapod& hexapod = *setup_.hexapod;
  rotation(y + kQ, e.R);
  if (setup_.wrench_at) {
    setup_.wrench_at(t, y + kR, e.R, y + kU, e.wrench);
  } else if (setup_.wrench.times.empty()) {
    std::fill_n(e.wrench, 6, 0.0);
  } else {
    const auto [i, weight] = setup_.wrench.find(t);
    const double* x = setup_.wrench.values.data() + 6 * i;
    for (int c = 0; c < 6; ++c) e.wrench[c] = weight == 0 ? x[c] : x[c] + weight * (x[6 + c] - x[c]);
  }
  const double* base = setup_.base.empty() ? nullptr : setup_.base.data();
  if (!forces(t, step, y, e) || !call(HexFunction::forward_dynamics, y, e, e.dynamics, base)) {
    failure_time_ = t;
    return false;
  }
  unwrap(e.dynamics + layout_.head(), layout_.per_leg());

  // rates of the state
  const double *v = y + kU, *w = y + kU + 3, *f = e.wrench, *load = e.dynamics + 6;
  std::copy_n(v, 3, e.rate + kR);
  product(y + kQ, 0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2], e.rate + kQ);
  std::copy_n(e.dynamics, 6, e.rate + kU);
  for (int i = 0; i < 3; ++i) {
    e.rate[kMomentum + i] = f[i] - load[i] + mass_ * hexapod.gravity()[i];
    e.rate[kMomentum + 3 + i] = -load[3 + i];
  }
  add(e.rate + kMomentum + 3, cross(vector(y + kR), vector(f)) + turned(e.R, f + 3));
  if (hexapod.has_gravity()) add(e.rate + kMomentum + 3, cross(vector(y + kMoment), hexapod.gravity()));
  std::copy_n(y + kMomentum, 3, e.rate + kMoment);
  double power = 0, legs = 0;
  for (int i = 0; i < 6; ++i) power += f[i] * y[kU + i];
  for (int k = 0; k < kLegs; ++k) {
    const double *p = joints(e, k), *rate = p + nj_;
    const LegChain& chain = hexapod.chain(k);
    for (int j = 0; j < hexapod.joints(k); ++j) legs += e.tau[k * nj_ + j] * rate[j];
    if (hexapod.leg(k).type == LegType::custom && chain.chain->has_friction())
      for (int b = 0; b < chain.chain->n(); ++b) {
        const double x = rate[chain.chain->user_index()[b]];
        legs -= chain.chain->friction()[b] * x * x;
      }
    e.p[k] = p[chain.actuated], e.v[k] = rate[chain.actuated];
  }
  e.rate[kWorkWrench] = power;
  e.rate[kWorkLegs] = legs;
  return true;
}

// Sum of mass times position. With the whole at rest and the base accelerated by a, the load on the base has the moment
// -L(u') + moment x (g - a), where L is the angular momentum of the accelerations.
bool Simulation::first_moment(double* moment) {
  double y[kState] = {};
  std::copy_n(y_, 7, y);
  Evaluation& e = stage_;
  rotation(y + kQ, e.R);
  std::fill_n(e.wrench, 6, 0.0);
  std::fill_n(e.tau, kLegs * nj_, 0.0);
  double cross_by[2][3];
  for (int axis = 0; axis < 2; ++axis) {
    double base[9] = {}, l[6];
    for (int i = 0; i < 3; ++i) base[i] = setup_.hexapod->gravity()[i] - (i == axis);
    std::fill_n(y + kU, 6, 0.0);
    if (!call(HexFunction::forward_dynamics, y, e, e.dynamics, base)) return false;
    std::copy_n(e.dynamics, 6, y + kU);
    if (!call(HexFunction::momentum, y, e, l)) return false;
    for (int i = 0; i < 3; ++i) cross_by[axis][i] = e.dynamics[9 + i] + l[3 + i];
  }
  moment[0] = cross_by[1][2], moment[1] = -cross_by[0][2], moment[2] = cross_by[0][1];
  return true;
}

bool Simulation::begin() {
  Evaluation& e = *now_;
  for (double& x : e.rate) x = 0;
  for (double& x : next_->rate) x = 0;
  for (double& x : stage_.rate) x = 0;
  double p[kLegs * kMostJoints], v[kLegs * kMostJoints], kinetic, potential = 0;
  rotation(y_ + kQ, e.R);
  failure_time_ = setup_.start;
  if (!call(HexFunction::closure, y_, e, p) || !call(HexFunction::joint_velocity, y_, e, v)) return false;
  std::copy_n(p, kLegs * nj_, last_p_);
  ready_ = true;
  for (int k = 0; k < kLegs; ++k) {
    const int j = k * nj_ + setup_.hexapod->chain(k).actuated;
    setup_.laws[k].settled({setup_.start, p[j], v[j]}, y_ + kZ + bristles_[k]);
  }
  if (!call(HexFunction::kinetic_energy, y_, e, &kinetic) || !call(HexFunction::momentum, y_, e, y_ + kMomentum))
    return false;
  if (setup_.hexapod->has_potential() && !call(HexFunction::potential_energy, y_, e, &potential)) return false;
  if (setup_.hexapod->has_gravity() && !first_moment(y_ + kMoment)) return false;
  energy_ = kinetic + potential;
  return evaluate(setup_.start, 0, y_, e);
}

bool Simulation::rk4(double* next) {
  const int size = kZ + bristles_[kLegs];
  const double dt = setup_.dt, t = time_at(step_);
  double y[kState], sum[kState];
  std::copy_n(now_->rate, size, sum);
  const Evaluation* last = now_;
  const double way[3] = {0.5, 0.5, 1}, weight[3] = {2, 2, 1};
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < size; ++i) y[i] = y_[i] + dt * way[k] * last->rate[i];
    if (!evaluate(t + dt * way[k], step_, y, stage_)) return false;
    for (int i = 0; i < size; ++i) sum[i] += weight[k] * stage_.rate[i];
    last = &stage_;
  }
  for (int i = 0; i < size; ++i) next[i] = y_[i] + dt / 6 * sum[i];
  normalise(next + kQ);
  return true;
}

bool Simulation::semi_implicit(double* next) {
  const int size = kZ + bristles_[kLegs];
  const double dt = setup_.dt;
  const Evaluation& e = *now_;
  for (int i = 0; i < size; ++i) next[i] = y_[i] + dt * e.rate[i];
  const double *v = next + kU, *w = next + kU + 3;
  for (int i = 0; i < 3; ++i) {
    next[kR + i] = y_[kR + i] + dt * v[i];
    next[kMoment + i] = y_[kMoment + i] + dt * next[kMomentum + i];
  }
  // exponential map: a turn by dt w
  const double half = 0.5 * dt * std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  const double s = 0.5 * dt * (half < 1e-4 ? 1 - half * half / 6 : std::sin(half) / half);
  product(y_ + kQ, std::cos(half), s * w[0], s * w[1], s * w[2], next + kQ);
  normalise(next + kQ);
  // work: force times displacement
  double power = 0, legs = e.rate[kWorkLegs];
  for (int i = 0; i < 6; ++i) power += e.wrench[i] * next[kU + i];
  for (int k = 0; k < kLegs; ++k) {
    const double* growth = joints(e, k) + 2 * nj_;
    for (int j = 0; j < setup_.hexapod->joints(k); ++j) legs += e.tau[k * nj_ + j] * dt * growth[j];
    // bristles relax faster than the step: z' = v - decay z is solved for this v
    double decay[LegLaw::kMostStates];
    setup_.laws[k].decays({time(), e.p[k], e.v[k]}, decay);
    for (int i = 0; i < setup_.laws[k].states(); ++i) {
      const int z = kZ + bristles_[k] + i;
      const double x = dt * decay[i];
      next[z] = y_[z] + dt * e.rate[z] * (x < 1e-8 ? 1 - 0.5 * x : -std::expm1(-x) / x);
    }
  }
  next[kWorkWrench] = y_[kWorkWrench] + dt * power;
  next[kWorkLegs] = y_[kWorkLegs] + dt * legs;
  return true;
}

bool Simulation::step_once() {
  double y[kState];
  const bool moved = setup_.method == Stepper::rk4 ? rk4(y) : semi_implicit(y);
  if (!moved || !evaluate(time_at(step_ + 1), step_ + 1, y, *next_)) return false;
  find_events(*now_, *next_);
  std::copy_n(y, kZ + bristles_[kLegs], y_);
  for (int k = 0; k < kLegs; ++k) std::copy_n(joints(*next_, k), nj_, last_p_ + k * nj_);
  std::swap(now_, next_);
  ++step_;
  return true;
}

bool Simulation::advance(std::ptrdiff_t count) {
  if (failure_.cause != Cause::none) return false;
  if (recorded_step_ < 0) {
    if (!begin()) return false;
    record();
  }
  bool fine = true;
  for (; fine && count > 0 && step_ < setup_.steps; --count) {
    fine = step_once();
    if (fine && step_ % setup_.every == 0) record();
  }
  if (!fine || step_ == setup_.steps) settle();
  summarise();
  return fine && step_ < setup_.steps;
}

void Simulation::settle() {
  if (recorded_step_ < 0) return;
  if (recorded_step_ != step_) record();
  summarise();
}

void Simulation::find_events(const Evaluation& before, const Evaluation& after) {
  const double dt = setup_.dt, t = time_at(step_);
  const std::size_t first = events_.size();
  for (const Bound& b : bounds_) {
    const Hermite way{before.p[b.leg], after.p[b.leg], dt * before.v[b.leg], dt * after.v[b.leg]};
    const auto beyond = [&](double s) { return b.upper ? way(s) > b.at : way(s) < b.at; };
    double ends[4] = {0};
    const int turns = way.turns(ends + 1);
    ends[turns + 1] = 1;
    bool was = beyond(0);
    for (int i = 0; i <= turns; ++i) {
      const bool is = beyond(ends[i + 1]);
      if (is == was) continue;
      double a = ends[i], c = ends[i + 1];
      for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (a + c);
        (beyond(middle) == was ? a : c) = middle;
      }
      events_.push_back({t + dt * c, b.leg, b.upper, is, way.slope(c) / dt});
      was = is;
    }
  }
  std::sort(events_.begin() + first, events_.end(),
            [](const StopEvent& a, const StopEvent& b) { return a.time != b.time ? a.time < b.time : a.leg < b.leg; });
}

void Simulation::record() {
  const Evaluation& e = *now_;
  double tau[kLegs], joint[3][kLegs * kMostJoints], reaction[kLegs * 4];
  const double t = time(), work = y_[kWorkWrench] + y_[kWorkLegs];
  for (int k = 0; k < kLegs; ++k) {
    const double* from = joints(e, k);
    for (int q = 0; q < 3; ++q) std::copy_n(from + q * nj_, nj_, joint[q] + k * nj_);
    std::copy_n(from + 3 * nj_, 4, reaction + 4 * k);
    tau[k] = e.tau[k * nj_ + setup_.hexapod->chain(k).actuated];
  }
  // order of kRecordFields; the missing ones and the errors are worked out by summarise()
  const double* const values[] = {&t,
                                  y_ + kR,
                                  e.R,
                                  y_ + kQ,
                                  y_ + kU,
                                  e.dynamics,
                                  joint[0],
                                  joint[1],
                                  joint[2],
                                  tau,
                                  reaction,
                                  e.dynamics + 6,
                                  e.wrench,
                                  nullptr,
                                  nullptr,
                                  y_ + kWorkWrench,
                                  y_ + kWorkLegs,
                                  &work,
                                  nullptr,
                                  y_ + kMomentum};
  static_assert(sizeof(values) / sizeof(values[0]) == kRecordFieldCount);
  for (int i = 0; i < kRecordFieldCount; ++i) {
    const int width = record_width(kRecordFields[i], nj_);
    if (values[i]) std::copy_n(values[i], width, setup_.record[i] + recorded_ * width);
  }
  ++recorded_;
  recorded_step_ = step_;
}

void Simulation::summarise() {
  if (summarised_ == recorded_) return;
  const auto field = [&](const char* name) {
    for (int i = 0; i < kRecordFieldCount; ++i)
      if (std::string_view(kRecordFields[i].name) == name) return setup_.record[i];
    return static_cast<double*>(nullptr);
  };
  HexJob job;
  job.hexapod = setup_.hexapod;
  Rows rows;
  rows[Param::r] = {field("r"), 3}, rows[Param::R] = {field("R"), 9}, rows[Param::u] = {field("u"), 6};
  if (setup_.hexapod->has_custom()) rows[Param::start] = {field("joint_position"), kLegs * nj_};
  rows.count = recorded_;
  const auto fill = [&](HexFunction function, double* out) {  // a row that overflows is nan
    job.function = function;
    rows.out[0] = out;
    setup_.kernels->run(job, rows, summarised_, recorded_);
  };
  double *kinetic = field("kinetic_energy"), *potential = field("potential_energy"), *momentum = field("momentum");
  fill(HexFunction::kinetic_energy, kinetic);
  fill(HexFunction::momentum, momentum);
  if (setup_.hexapod->has_potential())
    fill(HexFunction::potential_energy, potential);
  else
    std::fill(potential + summarised_, potential + recorded_, 0.0);
  // until now the errors hold work and impulse
  double *energy_error = field("energy_error"), *momentum_error = field("momentum_error");
  const bool balanced = setup_.base.empty();
  for (std::ptrdiff_t i = summarised_; i < recorded_; ++i) {
    energy_error[i] = balanced ? kinetic[i] + potential[i] - energy_ - energy_error[i] : kNan;
    for (std::ptrdiff_t c = 6 * i; c < 6 * i + 6; ++c) momentum_error[c] = balanced ? momentum[c] - momentum_error[c] : kNan;
  }
  summarised_ = recorded_;
}

}  // namespace zveno
