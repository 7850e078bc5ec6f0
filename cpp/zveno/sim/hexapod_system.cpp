#include <zveno/sim/hexapod_system.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <zveno/math/quaternion.hpp>

namespace zveno {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
// Passive joints are looked at before they can have turned by this, rad, since they were last: well before half a turn
constexpr double kFarthest = 1.0;

Vec3<double> vector(const double* x) { return {x[0], x[1], x[2]}; }
void add(double* to, const Vec3<double>& x) { to[0] += x.x(), to[1] += x.y(), to[2] += x.z(); }

Vec3<double> rotated(const double* R, const double* x) {
  return {R[0] * x[0] + R[1] * x[1] + R[2] * x[2], R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
          R[6] * x[0] + R[7] * x[1] + R[8] * x[2]};
}

// angles of closed forms jump by a turn; here they follow the last ones
double unwrapped(double x, double last) {
  const double jump = last - x;
  return std::fabs(jump) > kPi ? x + 2 * kPi * std::round(jump / (2 * kPi)) : x;
}

// place in the table, worked out by the compiler
#define ZVENO_FIELD(name) (std::integral_constant<int, field(hexapod_record::kFields, name)>::value)

}  // namespace

HexapodSystem::HexapodSystem(HexapodSetup setup)
    : setup_(std::move(setup)),
      hexapod_(setup_.hexapod),
      nj_(hexapod_->joints()),
      schema_(hexapod_record::kFields, kLegs, nj_),
      drives_(*setup_.kernels, setup_.laws),
      driven_(setup_.tau.empty() && setup_.passive.empty()),
      motion_(setup_.kernels->make_motion(*hexapod_, setup_.base.empty() ? nullptr : setup_.base.data())),
      last_p_(static_cast<std::size_t>(kLegs * nj_)) {
  mass_ = hexapod_->platform().mass + hexapod_->leg_mass();
  for (int k = 0; k < kLegs; ++k) {
    const LegType type = hexapod_->leg(k).type;
    actuated_[k] = hexapod_->chain(k).actuated;
    // a stroke is no angle, and Newton's method does not jump
    const int angles = type == LegType::custom ? 0 : hexapod_->joints(k) - !traits_of(type).hunt;
    for (int j = 0; j < angles; ++j) angle_[k][j] = true;
    events_.watch(k, drives_[k], setup_.lower[static_cast<std::size_t>(k)], setup_.upper[static_cast<std::size_t>(k)]);
  }
  if (!setup_.passive.empty()) set_passive();
}

void HexapodSystem::set_passive() {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<JointLaw> laws;
  std::vector<int> places;
  for (const PassiveLaw& one : setup_.passive) {
    if (one.leg < 0 || one.leg >= kLegs || one.joint < 0 || one.joint >= hexapod_->joints(one.leg) ||
        one.joint == actuated_[one.leg])
      throw std::invalid_argument("simulate: the law of a passive joint has no joint");
    places.push_back(one.leg * nj_ + one.joint);
    if (std::count(places.begin(), places.end(), places.back()) > 1)
      throw std::invalid_argument("simulate: a passive joint has two laws");
    laws.push_back(one.law);
    events_.watch(kLegs + places.back(), one.law, -kNone, kNone);
  }
  const std::vector<double> none(places.size());
  passive_ =
      std::make_unique<Passive>(Passive{Drives(*setup_.kernels, std::move(laws)), std::move(places), none, none, none});
  if (drives_.states() + passive_->laws.states() > kMostStates)
    throw std::invalid_argument("simulate: more than 24 LuGre terms in the laws of a hexapod");
}

HexapodSystem::Stage HexapodSystem::make_stage() const {
  Stage e;
  if (passive_) e.joints.resize(static_cast<std::size_t>(2 * watched()));
  return e;
}

bool HexapodSystem::call(HexFunction function, const double* y, const Stage& e, double* out, const double* base) {
  HexJob job;
  job.hexapod = hexapod_;
  job.function = function;
  Rows rows;
  double tau[kLegs * kPlaces];
  for (int k = 0; k < kLegs; ++k) std::copy_n(e.tau[k], nj_, tau + k * nj_);
  rows[Param::r].data = y + kR;
  rows[Param::R].data = e.R;
  rows[Param::u].data = y + kU;
  if (function == HexFunction::forward_dynamics) {
    rows[Param::wrench].data = e.wrench;
    rows[Param::leg_tau].data = tau;
    rows[Param::base_motion].data = base;
  }
  if (ready_ && hexapod_->has_custom()) rows[Param::start].data = last_p_.data();  // Newton's method stays on its branch
  rows.out[0] = out;
  rows.count = 1;
  const Failure failure = setup_.kernels->run(job, rows, 0, 1);
  if (failure.cause == Cause::none) return true;
  failure_ = failure;
  return false;
}

// motion_ has failed: the general functions know the cause. Always false.
bool HexapodSystem::explain(const double* y, const Stage& e) {
  double out[12 + kLegs * (3 * kPlaces + 4)];
  holder_ = nullptr;
  if (!call(HexFunction::closure, y, e, out, nullptr)) return false;
  if (!call(HexFunction::forward_dynamics, y, e, out, setup_.base.empty() ? nullptr : setup_.base.data())) return false;
  failure_.cause = Cause::overflow;
  return false;
}

// Sum of mass times position. With the whole at rest and the base accelerated by a, the load on the base has the moment
// -L(u') + moment x (g - a), where L is the angular momentum of the accelerations.
bool HexapodSystem::first_moment(const double* y_now, double* moment) {
  double y[kU + 6] = {}, out[12 + kLegs * (3 * kPlaces + 4)];
  std::copy_n(y_now, 7, y);
  Stage e;
  rotation(y + kQ, e.R);
  double cross_by[2][3];
  for (int axis = 0; axis < 2; ++axis) {
    double base[9] = {}, l[6];
    for (int i = 0; i < 3; ++i) base[i] = hexapod_->gravity()[i] - (i == axis);
    std::fill_n(y + kU, 6, 0.0);
    if (!call(HexFunction::forward_dynamics, y, e, out, base)) return false;
    std::copy_n(out, 6, y + kU);
    if (!call(HexFunction::momentum, y, e, l, nullptr)) return false;
    for (int i = 0; i < 3; ++i) cross_by[axis][i] = out[9 + i] + l[3 + i];
  }
  moment[0] = cross_by[1][2], moment[1] = -cross_by[0][2], moment[2] = cross_by[0][1];
  return true;
}

bool HexapodSystem::begin(double t, double* y) {
  std::copy_n(setup_.r, 3, y + kR);
  std::copy_n(setup_.q, 4, y + kQ);
  normalise(y + kQ);
  std::copy_n(setup_.u, 6, y + kU);
  Stage e;
  double v[kLegs * kPlaces], kinetic, potential = 0;
  rotation(y + kQ, e.R);
  ready_ = false;
  if (!call(HexFunction::closure, y, e, last_p_.data(), nullptr)) return false;
  if (!call(HexFunction::joint_velocity, y, e, v, nullptr)) return false;
  ready_ = true;
  last_time_ = t;
  travel_ = 0;
  double speed[kLegs];
  for (int k = 0; k < kLegs; ++k) {
    const int j = k * nj_ + actuated_[k];
    last_actuated_[k] = last_p_[static_cast<std::size_t>(j)];
    speed[k] = v[j];
  }
  drives_->settle(speed, y + kZ);
  if (passive_) {
    for (std::size_t i = 0; i < passive_->place.size(); ++i) passive_->v[i] = v[passive_->place[i]];
    passive_->laws->settle(passive_->v.data(), y + kZ + drives_.states());
  }
  if (!call(HexFunction::kinetic_energy, y, e, &kinetic, nullptr)) return false;
  if (!call(HexFunction::momentum, y, e, y + kMomentum, nullptr)) return false;
  if (hexapod_->has_potential() && !call(HexFunction::potential_energy, y, e, &potential, nullptr)) return false;
  if (hexapod_->has_gravity() && !first_moment(y, y + kMoment)) return false;
  energy_ = kinetic + potential;
  return true;
}

// the legs of a state whose R is there; coordinates and rates of the drives
bool HexapodSystem::close(const double* y, Stage& e) {
  holder_ = nullptr;
  const double* start = hexapod_->has_custom() ? last_p_.data() : nullptr;
  if (!motion_->close(y + kR, e.R, y + kU, e.wrench, start)) return explain(y, e);
  for (int k = 0; k < kLegs; ++k) {
    e.p[k] = angle_[k][actuated_[k]] ? unwrapped(motion_->position[k], last_actuated_[k]) : motion_->position[k];
    e.v[k] = motion_->speed[k];
  }
  return true;
}

bool HexapodSystem::arrive(const double* y, Stage& e) {
  rotation(y + kQ, e.R);
  return close(y, e);
}

bool HexapodSystem::rates(double t, std::ptrdiff_t step, const double* y, Stage& e, Detail detail) {
  rotation(y + kQ, e.R);
  if (setup_.wrench_at)
    setup_.wrench_at(t, y + kR, e.R, y + kU, e.wrench);
  else if (!setup_.wrench.times.empty())
    sample(setup_.wrench, t, 6, e.wrench);

  if (setup_.base_at) {
    setup_.base_at(t, setup_.base.data());
    motion_->move_base(setup_.base.data());
  }
  const bool custom = hexapod_->has_custom();
  const bool driven = driven_;
  if (!close(y, e)) return false;
  if (!driven && setup_.tau.empty()) {
    std::fill_n(e.tau[0], kLegs * kPlaces, 0.0);
  } else if (!driven) {
    const double* row = held_row(setup_.tau, static_cast<std::size_t>(kLegs * nj_), step);
    for (int k = 0; k < kLegs; ++k) std::copy_n(row + k * nj_, nj_, e.tau[k]);
  }
  double force[kLegs], more[kLegs];
  if (drives_.any()) drives_->forces(t, e.p, e.v, y + kZ, e.rate.data() + kZ, e.decay, force);
  if (setup_.forces) setup_.forces(t, e.p, e.v, more);
  if (drives_.any() || setup_.forces)
    for (int k = 0; k < kLegs; ++k) {
      double& tau = e.tau[k][actuated_[k]];
      if (driven) tau = 0;
      if (drives_.any()) tau += force[k];
      if (setup_.forces) tau += more[k];
    }
  if (passive_) add_passive(t, y, e);

  bool whole = detail == Detail::record || (detail == Detail::end && custom);
  if (detail != Detail::stage) {
    travel_ += (t - last_time_) * motion_->fastest;
    last_time_ = t;
    whole |= travel_ > kFarthest;
  }
  using Extent = HexMotion::Extent;
  const Extent extent = whole ? Extent::whole : driven ? Extent::brief : Extent::joints;
  if (!motion_->finish(e.tau, driven, extent)) return explain(y, e);
  holder_ = &e;
  whole_ = whole;

  double* rate = e.rate.data();
  const double *v = y + kU, *w = y + kU + 3, *f = e.wrench, *load = motion_->load;
  for (int i = 0; i < 3; ++i) rate[kR + i] = v[i];
  product(y + kQ, 0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2], rate + kQ);
  for (int i = 0; i < 6; ++i) rate[kU + i] = motion_->acceleration[i];
  for (int i = 0; i < 3; ++i) {
    rate[kMomentum + i] = f[i] - load[i] + mass_ * hexapod_->gravity()[i];
    rate[kMomentum + 3 + i] = -load[3 + i];
  }
  add(rate + kMomentum + 3, cross(vector(y + kR), vector(f)) + rotated(e.R, f + 3));
  if (hexapod_->has_gravity()) add(rate + kMomentum + 3, cross(vector(y + kMoment), hexapod_->gravity()));
  for (int i = 0; i < 3; ++i) rate[kMoment + i] = y[kMomentum + i];
  double power = 0, legs = 0;
  for (int i = 0; i < 6; ++i) power += f[i] * y[kU + i];
  for (int k = 0; k < kLegs; ++k) {
    if (driven)
      legs += e.tau[k][actuated_[k]] * e.v[k];
    else
      for (int j = 0; j < kPlaces; ++j) legs += e.tau[k][j] * motion_->rate[k][j];
    if (!custom) continue;
    const LegChain& leg = hexapod_->chain(k);
    if (hexapod_->leg(k).type == LegType::custom && leg.chain->has_friction())
      for (int b = 0; b < leg.chain->n(); ++b) {
        const double x = motion_->rate[k][leg.chain->user_index()[static_cast<std::size_t>(b)]];
        legs -= leg.chain->friction()[static_cast<std::size_t>(b)] * x * x;
      }
  }
  rate[kWorkWrench] = power;
  rate[kWorkLegs] = legs;
  return true;
}

// Forces of the laws of passive joints, of a state whose legs are closed. Their angles follow those of the last step.
void HexapodSystem::add_passive(double t, const double* y, Stage& e) {
  motion_->find_joints();
  double *p = e.joints.data(), *v = p + watched();
  p = std::copy_n(e.p, kLegs, p), v = std::copy_n(e.v, kLegs, v);
  for (int k = 0; k < kLegs; ++k)
    for (int j = 0; j < nj_; ++j) {
      const int i = k * nj_ + j;
      const double x = motion_->joint_position[k][j];
      p[i] = angle_[k][j] ? unwrapped(x, last_p_[static_cast<std::size_t>(i)]) : x;
      v[i] = motion_->rate[k][j];
    }
  Passive& passive = *passive_;
  const int first = drives_.states();  // of their internal states
  for (std::size_t i = 0; i < passive.place.size(); ++i)
    passive.x[i] = p[passive.place[i]], passive.v[i] = v[passive.place[i]];
  passive.laws->forces(t, passive.x.data(), passive.v.data(), y + kZ + first, e.rate.data() + kZ + first, e.decay + first,
                       passive.force.data());
  for (std::size_t i = 0; i < passive.place.size(); ++i)
    e.tau[passive.place[i] / nj_][passive.place[i] % nj_] += passive.force[i];
}

// the numbers of a state that was evaluated in brief, or long ago
void HexapodSystem::complete(const double* y, const Stage& e) {
  motion_->close(y + kR, e.R, y + kU, e.wrench, hexapod_->has_custom() ? last_p_.data() : nullptr);
  motion_->finish(e.tau, driven_, HexMotion::Extent::whole);
  holder_ = &e;
  whole_ = true;
}

// last_p_ <- coordinates of the joints; angles follow the last ones
void HexapodSystem::follow_joints() {
  const auto last = [&](int k, int j) -> double& { return last_p_[static_cast<std::size_t>(k * nj_ + j)]; };
  double farthest[kPlaces] = {};
  for (int k = 0; k < kLegs; ++k)
    for (int j = 0; j < nj_; ++j) farthest[j] = std::max(farthest[j], std::fabs(last(k, j) - motion_->joint_position[k][j]));
  const bool jumped = *std::max_element(farthest, farthest + kPlaces) > kPi;
  for (int k = 0; k < kLegs; ++k)
    for (int j = 0; j < nj_; ++j) {
      const double x = motion_->joint_position[k][j];
      last(k, j) = jumped && angle_[k][j] ? unwrapped(x, last(k, j)) : x;
    }
}

void HexapodSystem::accept(const Stage& e) {
  for (int k = 0; k < kLegs; ++k) last_actuated_[k] = e.p[k];
  if (passive_)
    std::copy_n(e.joints.data() + kLegs, last_p_.size(), last_p_.data());
  else if (whole_)
    follow_joints();
  else
    return;
  travel_ = 0;
}

void HexapodSystem::save(double* memory) const {
  memory = std::copy(last_p_.begin(), last_p_.end(), memory);
  memory = std::copy_n(last_actuated_, kLegs, memory);
  memory[0] = last_time_, memory[1] = travel_;
}

void HexapodSystem::restore(const double* memory) {
  std::copy_n(memory, last_p_.size(), last_p_.begin());
  std::copy_n(memory + last_p_.size(), kLegs, last_actuated_);
  last_time_ = memory[last_p_.size() + kLegs], travel_ = memory[last_p_.size() + kLegs + 1];
  holder_ = nullptr;
  ready_ = true;
}

bool HexapodSystem::project(double, double* next) const {
  normalise(next + kQ);
  return true;
}

void HexapodSystem::follow(double dt, const double* y, const Stage& e, double* next) {
  if (holder_ != &e) complete(y, e);
  const double *v = next + kU, *w = next + kU + 3;
  for (int i = 0; i < 3; ++i) {
    next[kR + i] = y[kR + i] + dt * v[i];
    next[kMoment + i] = y[kMoment + i] + dt * next[kMomentum + i];
  }
  // exponential map: a turn by dt w
  const double half = 0.5 * dt * std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  const double s = 0.5 * dt * (half < 1e-4 ? 1 - half * half / 6 : std::sin(half) / half);
  product(y + kQ, std::cos(half), s * w[0], s * w[1], s * w[2], next + kQ);
  // work: force times displacement
  double power = 0, legs = e.rate[kWorkLegs];
  for (int i = 0; i < 6; ++i) power += e.wrench[i] * next[kU + i];
  for (int k = 0; k < kLegs; ++k) {
    if (driven_)
      legs += e.tau[k][actuated_[k]] * dt * motion_->speed_rate[k];
    else
      for (int j = 0; j < kPlaces; ++j) legs += e.tau[k][j] * dt * motion_->joint_acceleration[k][j];
  }
  if (drives_.states() > 0) drives_->relax(dt, y + kZ, e.rate.data() + kZ, e.decay, next + kZ);
  if (const int first = drives_.states(); passive_ && passive_->laws.states() > 0)
    passive_->laws->relax(dt, y + kZ + first, e.rate.data() + kZ + first, e.decay + first, next + kZ + first);
  next[kWorkWrench] = y[kWorkWrench] + dt * power;
  next[kWorkLegs] = y[kWorkLegs] + dt * legs;
}

void HexapodSystem::write(double t, const double* y, const Stage& e, const Record& record, std::ptrdiff_t row) {
  if (holder_ != &e || !whole_) complete(y, e), follow_joints();
  const auto by_joint = [&](int f, const double (*from)[kPlaces]) {
    double* to = record.row(f, kLegs * nj_, row);
    if (nj_ == kPlaces) return void(std::memcpy(to, from[0], kLegs * kPlaces * sizeof(double)));
    for (int k = 0; k < kLegs; ++k)
      for (int j = 0; j < 3; ++j) to[k * 3 + j] = from[k][j];
  };
  double tau[kLegs];
  for (int k = 0; k < kLegs; ++k) tau[k] = e.tau[k][actuated_[k]];
  record.put(ZVENO_FIELD("t"), row, t);
  record.put<3>(ZVENO_FIELD("r"), row, y + kR);
  record.put<9>(ZVENO_FIELD("R"), row, e.R);
  record.put<4>(ZVENO_FIELD("quaternion"), row, y + kQ);
  record.put<6>(ZVENO_FIELD("u"), row, y + kU);
  record.put<6>(ZVENO_FIELD("acceleration"), row, motion_->acceleration);
  if (nj_ == 4)
    record.put<kLegs * 4>(ZVENO_FIELD("joint_position"), row, last_p_.data());
  else
    record.put<kLegs * 3>(ZVENO_FIELD("joint_position"), row, last_p_.data());
  by_joint(ZVENO_FIELD("joint_velocity"), motion_->rate);
  by_joint(ZVENO_FIELD("joint_acceleration"), motion_->joint_acceleration);
  record.put<kLegs>(ZVENO_FIELD("tau"), row, tau);
  record.put<kLegs * 4>(ZVENO_FIELD("reaction"), row, motion_->reaction[0]);
  record.put<6>(ZVENO_FIELD("base_wrench"), row, motion_->load);
  record.put<6>(ZVENO_FIELD("wrench"), row, e.wrench);
  record.put(ZVENO_FIELD("kinetic_energy"), row, motion_->kinetic);
  record.put(ZVENO_FIELD("work_wrench"), row, y[kWorkWrench]);
  record.put(ZVENO_FIELD("work_legs"), row, y[kWorkLegs]);
  record.put(ZVENO_FIELD("potential_energy"), row, motion_->potential);
  record.put<6>(ZVENO_FIELD("momentum"), row, motion_->momentum);
  const bool balanced = setup_.base.empty();
  const double energy = motion_->kinetic + motion_->potential - energy_, work = y[kWorkWrench] + y[kWorkLegs];
  record.put(ZVENO_FIELD("energy_error"), row, balanced ? energy - work : kNan);
  double* error = record.row(ZVENO_FIELD("momentum_error"), 6, row);
  for (int i = 0; i < 6; ++i) error[i] = balanced ? motion_->momentum[i] - y[kMomentum + i] : kNan;
}

#undef ZVENO_FIELD

template class Periods<HexapodSystem>;

}  // namespace zveno
