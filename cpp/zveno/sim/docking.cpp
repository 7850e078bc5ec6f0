#include <zveno/sim/docking.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zveno::docking {
namespace {

using V = AnyVec<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr int kMostSplits = 16, kBisections = 60;
constexpr int kPatience = 32;           // steps between two looks at whether they are wanted
constexpr double kLeastSpeed = 1e-4;    // m/s, of an approach
constexpr double kSimultaneous = 1e-9;  // of a step: latches that close at once
constexpr double kLeastEnergy = 1e-2;   // J, where there is no speed of approach to compare with

void add(const V& x, double* to) { to[0] += x.x, to[1] += x.y, to[2] += x.z; }
double norm(const V& x) { return std::sqrt(dot(x, x)); }

void quaternion_of(const double* R, double* q) {
  const double trace = R[0] + R[4] + R[8];
  if (trace > 0) {
    q[0] = 1 + trace, q[1] = R[7] - R[5], q[2] = R[2] - R[6], q[3] = R[3] - R[1];
  } else {
    const int i = R[0] > R[4] && R[0] > R[8] ? 0 : R[4] > R[8] ? 1 : 2, j = (i + 1) % 3, k = (i + 2) % 3;
    q[0] = R[3 * k + j] - R[3 * j + k];
    q[1 + i] = 1 + R[4 * i] - R[4 * j] - R[4 * k];
    q[1 + j] = R[3 * j + i] + R[3 * i + j], q[1 + k] = R[3 * k + i] + R[3 * i + k];
  }
  normalise(q);
}

V rotation_vector(const double* R) {
  double q[4];
  quaternion_of(R, q);
  if (q[0] < 0)
    for (double& x : q) x = -x;
  const V v = vec(q + 1);
  const double s = norm(v);
  return scaled(v, s < 1e-9 ? 2.0 : 2 * std::atan2(s, q[0]) / s);
}

double unwrapped(double x, double near) { return x + 2 * kPi * std::round((near - x) / (2 * kPi)); }

}  // namespace

struct Docking::Vehicle {
  explicit Vehicle(const Setup& all, int k) : setup(all.vehicle[k]), shape(&all.vehicle[k].shape) {
    if (!setup.ring) return;
    motion = all.kernels->make_free_motion(*setup.ring);
    laws[0] = all.kernels->make_laws(setup.ready);
    laws[1] = all.kernels->make_laws(setup.attenuation);
    laws[2] = all.kernels->make_laws(setup.common);
    for (const auto* set : {&setup.ready, &setup.attenuation, &setup.common}) {
      int count = 0;
      for (const JointLaw& law : *set) count += law.states();
      states = std::max(states, count);
    }
    for (int i = 0; i < kLegs; ++i) {
      const LegType type = setup.ring->leg(i).type;
      angle[i] = type != LegType::custom && traits_of(type).hunt;
    }
  }
  void set_body(double factor) {
    body = setup.body;
    body.mass *= factor;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) body.inertia(i, j) *= factor;
    int at = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) inertia[at++] = body.inertia(i, j);
    invert(inertia, rigid.per_inertia);
    com = {body.com.x(), body.com.y(), body.com.z()};
    put(com, rigid.com);
    rigid.per_mass = 1 / body.mass;
    if (motion) motion->set_base(body);
  }
  double mass() const { return body.mass + (setup.ring ? setup.ring->leg_mass() + setup.ring->platform().mass : 0.0); }

  const VehicleSetup& setup;
  const RingShape* shape;
  std::unique_ptr<FreeMotion> motion;
  std::unique_ptr<JointLaws> laws[3];
  int states = 0;
  bool angle[kLegs] = {};
  BodySpec body;
  V com{0, 0, 0};
  double inertia[6];           // about the centre of mass
  RigidVehicle<double> rigid;  // if it has no ring
  double nominal[kLegs] = {};
  double from[kLegs] = {};  // of the ramps of a move
  const Move* move = nullptr;
};

// null: there is none
const Move* Docking::move_in(const Vehicle& v, Phase p) {
  return p == Phase::alignment ? &v.setup.alignment : p == Phase::retraction ? &v.setup.retraction : nullptr;
}

Docking::~Docking() = default;

Docking::Docking(Setup setup) : setup_(std::move(setup)) {
  for (int k = 0; k < 2; ++k) vehicle_[k] = std::make_unique<Vehicle>(setup_, k);
  const RingShape &a = setup_.vehicle[0].shape, &b = setup_.vehicle[1].shape;
  contact_ = setup_.kernels->make_contact(a, b);
  if (setup_.law.sticking) {
    bristles_.resize(static_cast<std::size_t>(contact_->bristles()));
    next_bristles_.resize(bristles_.size());
  }
  reach_a_ = a.height + b.height;
  for (const RingShape* s : {&a, &b})
    radius_ = std::max({radius_, s->root_radius, s->tip_radius, s->edge_radius, s->face_radius});
  latch_count_ = std::min<int>(kMostLatches, static_cast<int>(a.angles.size()));
  for (int j = 0; j < latch_count_; ++j) {
    const double angle = a.angles[static_cast<std::size_t>(j)], r = setup_.latches.radius;
    put({0.0, r * std::cos(angle), r * std::sin(angle)}, latch_at_[j]);
    put({0.0, latch_at_[j][1], -latch_at_[j][2]}, latch_at_b_[j]);
  }
  if (vehicle_[0]->states + vehicle_[1]->states > 0) size_ = kState;
  for (const ThrustSetup& t : setup_.thrusts) allow_split_contact_ |= t.start == ThrustSetup::Start::contact;
  const std::size_t thrusts = setup_.thrusts.size(), holds = setup_.holds.size();
  thrust_on_.resize(thrusts), thrust_off_.resize(thrusts), thrust_state_.resize(thrusts);
  hold_moment_.resize(holds);
  events_.reserve(256);
  prepare({});
  for (int k = 0; k < 2; ++k) {
    Vehicle& v = *vehicle_[k];
    if (!v.motion) continue;
    double R[9], still[6] = {};
    rotation(v.setup.q, R);
    if (!v.motion->place(v.setup.r, R, still, nullptr)) continue;  // the first evaluation says why
    std::copy_n(v.motion->position, kLegs, v.nominal);
  }
}

void Docking::prepare(const Factors& f) {
  vehicle_[0]->set_body(f.chaser_mass), vehicle_[1]->set_body(f.station_mass);
  law_ = setup_.law;
  law_.friction *= f.friction;
  for (double& d : law_.damping) d *= f.damping;
  law_.edge *= f.stiffness, law_.side *= f.stiffness, law_.face *= f.stiffness;
  latch_ = setup_.latches;
  latch_.axial *= f.latch_gap, latch_.lateral *= f.latch_gap;
  latch_.stiffness *= f.latch_stiffness, latch_.damping *= f.latch_stiffness;
  leg_force_ = f.leg_force;
}

// ---- kinematics

// ring frames of a state: B's in A's axes
void Docking::relative_pose(const double* y, double* turn, double* at) const {
  double R[2][9];
  V o[2];
  for (int k = 0; k < 2; ++k) {
    const Vehicle& v = *vehicle_[k];
    const double* s = y + k * kVehicle;
    double R0[9], RC[9];
    rotation(s + kQ0, R0);
    o[k] = vec(s + kX);
    if (v.motion) {
      rotation(s + kQC, RC);
      times(R0, RC, R[k]);
      o[k] = o[k] + turned(R0, vec(s + kRC)) + turned(R[k], {v.setup.offset, 0.0, 0.0});
    } else {
      std::copy_n(R0, 9, R[k]);
    }
  }
  times_back(R[0], R[1], turn);
  put(back(R[0], o[1] - o[0]), at);
}

void Docking::latch_gap(const double* turn, const double* at, int j, double* g) const {
  put(vec(at) + turned(turn, vec(latch_at_b_[j])) - vec(latch_at_[j]), g);
}

// negative where it may close
double Docking::latch_function(const double* turn, const double* at, int j) const {
  double g[3];
  latch_gap(turn, at, j, g);
  const double along = std::fabs(g[0]) - latch_.axial;
  return along < 0 ? std::max(along, std::hypot(g[1], g[2]) - latch_.lateral) : along;
}

void Docking::hermite(double x, double h, const double* y0, const double* f0, const double* y1, const double* f1,
                      double* y) const {
  const double x2 = x * x, x3 = x2 * x;
  const double a = 2 * x3 - 3 * x2 + 1, b = h * (x3 - 2 * x2 + x), c = 3 * x2 - 2 * x3, d = h * (x3 - x2);
  for (int i = 0; i < 2 * kVehicle; ++i) y[i] = a * y0[i] + b * f0[i] + c * y1[i] + d * f1[i];
}

void Docking::misalignment_of(const Stage& e, double* out) const {
  static const double S[9] = {-1, 0, 0, 0, 1, 0, 0, 0, -1};
  double R[9];
  times(e.turn, S, R);
  std::copy_n(e.at, 3, out);
  put(rotation_vector(R), out + 3);
}

double Docking::start_gap(const Conditions& c) const {
  const double cp = std::cos(c.tilt[0]), sp = std::sin(c.tilt[0]), cy = std::cos(c.tilt[1]), sy = std::sin(c.tilt[1]),
               cr = std::cos(c.roll), sr = std::sin(c.roll);
  const double pitch[9] = {cp, 0, sp, 0, 1, 0, -sp, 0, cp}, yaw[9] = {cy, -sy, 0, sy, cy, 0, 0, 0, 1},
               roll[9] = {-1, 0, 0, 0, cr, sr, 0, sr, -cr};  // R_x S
  double half[9], turn[9];
  times(pitch, yaw, half), times(half, roll, turn);
  const auto touches = [&](double gap) {
    const double at[3] = {gap, c.offset[0], c.offset[1]};
    return contact_->penetration(turn, at) > 0;
  };
  double low = 0.40;
  while (low > -0.05 && !touches(low)) low -= 0.002;
  double high = low + 0.002;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    (touches(middle) ? low : high) = middle;
  }
  return low + 0.005;
}

// ---- start

bool Docking::begin(const Conditions& c) {
  std::fill_n(y_, kState, 0.0);
  double RA[9], oA[3];
  {
    const VehicleSetup& a = setup_.vehicle[0];
    double* s = y_;
    s[kQ0] = 1, s[kQC] = 1;
    if (a.ring) {
      std::copy_n(a.r, 3, s + kRC), std::copy_n(a.q, 4, s + kQC);
      normalise(s + kQC);
      rotation(s + kQC, RA);
      put(vec(a.r) + turned(RA, {a.offset, 0.0, 0.0}), oA);
    } else {
      rotation(s + kQ0, RA);
      std::fill_n(oA, 3, 0.0);
    }
  }
  const double cp = std::cos(c.tilt[0]), sp = std::sin(c.tilt[0]), cy = std::cos(c.tilt[1]), sy = std::sin(c.tilt[1]),
               cr = std::cos(c.roll), sr = std::sin(c.roll);
  const double pitch[9] = {cp, 0, sp, 0, 1, 0, -sp, 0, cp}, yaw[9] = {cy, -sy, 0, sy, cy, 0, 0, 0, 1},
               roll[9] = {-1, 0, 0, 0, cr, sr, 0, sr, -cr};
  double half[9], turn[9], RB[9], R0[9];
  times(pitch, yaw, half), times(half, roll, turn), times(RA, turn, RB);
  const V oB = vec(oA) + turned(RA, {c.gap, c.offset[0], c.offset[1]});
  const VehicleSetup& b = setup_.vehicle[1];
  double* s = y_ + kVehicle;
  s[kQC] = 1;
  if (b.ring) {
    double RC[9], turned_back[9];
    std::copy_n(b.r, 3, s + kRC), std::copy_n(b.q, 4, s + kQC);
    normalise(s + kQC);
    rotation(s + kQC, RC);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) turned_back[3 * i + j] = RC[3 * j + i];
    times(RB, turned_back, R0);
    put(oB - turned(R0, vec(b.r) + turned(RC, {b.offset, 0.0, 0.0})), s + kX);
  } else {
    std::copy_n(RB, 9, R0);
    put(oB, s + kX);
  }
  quaternion_of(R0, s + kQ0);
  rotation(s + kQ0, R0);
  // momenta from velocities
  const V w = turned(RA, vec(c.rate)), vB = turned(RA, {0.0, c.lateral[0], c.lateral[1]});
  const V velocity[2] = {turned(RA, {c.closing, 0.0, 0.0}), vB + cross(w, vec(s + kX) - oB)};
  for (int k = 0; k < 2; ++k) {
    Vehicle& v = *vehicle_[k];
    double* x = y_ + k * kVehicle;
    double turn0[9], twist[6], p[6];
    rotation(x + kQ0, turn0);
    put(back(turn0, velocity[k]), twist);
    put(k ? back(turn0, w) : V{0.0, 0.0, 0.0}, twist + 3);
    if (v.motion) {
      double RC[9];
      rotation(x + kQC, RC);
      if (!v.motion->place(x + kRC, RC, x + kU, nullptr)) {
        evaluate(0, y_, *now_);  // fails, and says why
        return false;
      }
      v.motion->momentum(twist, p);
    } else {
      const V momentum = scaled(vec(twist) + cross(vec(twist + 3), v.com), v.body.mass);
      put(momentum, p);
      put(times6(v.inertia, vec(twist + 3)) + cross(v.com, momentum), p + 3);
    }
    put(turned(turn0, vec(p)), x + kP);
    put(turned(turn0, vec(p + 3)) + cross(vec(x + kX), vec(x + kP)), x + kL);
    std::copy_n(x + kQ0, 4, hold_attitude_[k]);
  }

  phase_ = moving_ = Phase::ready;
  phase_since_ = rest_since_ = 0;
  capture_ = contact_time_ = kNan;
  closed_ = 0;
  released_ = captured_ = touched_ = done_ = false;
  for (int j = 0; j < kMostLatches; ++j) latched_[j] = Latched::open, closed_at_[j] = kNan;
  for (std::size_t i = 0; i < setup_.thrusts.size(); ++i) {
    const ThrustSetup& t = setup_.thrusts[i];
    thrust_on_[i] = t.start == ThrustSetup::Start::time ? t.delay : kInfinite;
    thrust_off_[i] = thrust_on_[i] + t.duration;
    thrust_state_[i] = 0;
  }
  for (auto& m : hold_moment_) m = {};
  for (auto& e : external_) std::fill_n(e, 6, 0.0);
  std::fill_n(asked_force_[0], 2 * kLegs, 0.0), std::fill_n(asked_wrench_[0], 12, 0.0);
  evaluations_ = deepest_ = 0;
  energy_0_ = kNan;
  std::fill_n(momentum_0_, 6, kNan), std::fill_n(momentum_b_, 6, kNan);
  std::fill(bristles_.begin(), bristles_.end(), 0.0);
  if (law_.rebound > 0) std::fill_n(law_.damping, kFeatures, 0.0);
  bristle_time_ = 0;
  tracks_.clear();
  events_.clear();
  for (auto& v : vehicle_) {
    v->move = nullptr;
    if (v->states > 0) {
      const double still[kLegs] = {};
      v->laws[0]->settle(still, y_ + kZ + (v == vehicle_[1]) * kLegs * JointLaw::kMostStates);
    }
  }
  return true;
}

// ---- equations of motion

bool Docking::evaluate(double t, const double* y, Stage& e) {
  evaluations_ += 1;
  elsewhere_ = false;
  for (int k = 0; k < 2; ++k) {
    Vehicle& v = *vehicle_[k];
    const double* s = y + k * kVehicle;
    double p[6];
    rotation(s + kQ0, e.R0[k]);
    momentum_in_base(s, e.R0[k], p);
    if (v.motion) {
      double* RC = e.RC[k];
      rotation(s + kQC, RC);
      if (!v.motion->place(s + kRC, RC, s + kU, nullptr)) {
        HexJob job;
        job.hexapod = v.setup.ring;
        job.function = HexFunction::closure;
        Rows rows;
        double out[kLegs * 4];
        rows[Param::r].data = s + kRC, rows[Param::R].data = RC, rows.out[0] = out, rows.count = 1;
        failure_ = setup_.kernels->run(job, rows, 0, 1);
        if (!failure_) failure_.cause = Cause::singular;
        return false;
      }
      v.motion->twist(p, e.twist[k]);
      move_ring(s, v.setup.offset, k, e);
    } else {
      move_port(v.rigid, s, p, k, e);
    }
  }
  relate(e);
  touch(t, e);
  if (given.asks && !(given.hold > 0)) ask(t, y, e);
  double* rate = e.rate.data();
  double leg_power = 0, external_power = 0;
  const LoadInN<double> on_b = load_on_b(e.load, e), on_a = on_b.reversed();
  for (int k = 0; k < 2; ++k) {
    Vehicle& v = *vehicle_[k];
    const double *s = y + k * kVehicle, *ext = external_[k];
    double sum[6];
    if (given.asks) {
      for (int i = 0; i < 6; ++i) sum[i] = external_[k][i] + asked_wrench_[k][i];
      ext = sum;
    }
    const LoadInN<double>& load = k ? on_b : on_a;
    external_power += move_vehicle(s, v.rigid.com, load, ext, k, e, rate);
    if (!v.motion) continue;
    drive(t, k, v.motion->position, v.motion->rate, y + kZ, e);
    for (int i = 0; i < kLegs; ++i) {
      const double power = e.tau[k][i] * v.motion->rate[i];
      leg_power += power;
      rate[kLegWork + k * kLegs + i] = power;
    }
    double wrench[6];
    ring_wrench(s, load, k, e, wrench);
    if (!v.motion->finish(e.twist[k] + 3, e.tau[k], wrench, ext)) {
      failure_ = {};
      failure_.cause = Cause::overflow;
      return false;
    }
    move_on(s, v.motion->acceleration, rate + k * kVehicle);
    std::copy_n(v.motion->base_acceleration, 6, e.base_acceleration[k]);
  }
  rate[kWork + 3] = leg_power, rate[kWork + 4] = external_power;
  return true;
}

void Docking::touch(double t, Stage& e) const {
  const double across = std::sqrt(e.turn[3] * e.turn[3] + e.turn[6] * e.turn[6]);  // x_A x x_B
  if (given.contact) {                                                             // measured: on the first ring
    e.contact = {};
    for (int i = 0; i < 3; ++i) e.contact.force[i] = -given.contact[i], e.contact.moment[i] = -given.contact[3 + i];
    e.contact.normal_power = dot(vec(e.contact.force), vec(e.v)) + dot(vec(e.contact.moment), vec(e.w));
  } else if (!setup_.contact || e.at[0] > reach_a_ + radius_ * across) {
    e.contact = {};
  } else if (law_.sticking) {
    contact_->hold(law_, e.turn, e.at, e.v, e.w, bristles_.data(), t - bristle_time_, e.contact);
  } else {
    contact_->evaluate(law_, e.turn, e.at, e.v, e.w, e.contact);
  }
  std::copy_n(e.contact.force, 3, e.load), std::copy_n(e.contact.moment, 3, e.load + 3);
  double latch_power = 0;
  for (int j = 0; j < latch_count_; ++j) {
    e.latch_force[j] = 0;
    if (latched_[j] != Latched::closed) continue;
    double g[3];
    latch_gap(e.turn, e.at, j, g);
    const V x = vec(e.at) + turned(e.turn, vec(latch_at_b_[j])), v = vec(e.v) + cross(vec(e.w), x);
    const double rest = std::exp(-(t - closed_at_[j]) / latch_.time_constant);
    const V f = scaled(vec(g) - scaled(vec(gap_0_[j]), rest), latch_.stiffness) + scaled(v, latch_.damping);
    add(-f, e.load), add(-cross(x, f), e.load + 3);
    e.latch_force[j] = norm(f);
    latch_power -= dot(f, v);
  }
  e.rate[kWork] = e.contact.normal_power, e.rate[kWork + 1] = e.contact.friction_power, e.rate[kWork + 2] = latch_power;
}

void Docking::drive(double t, int k, const double* position, const double* speed, const double* z, Stage& e) const {
  const Vehicle& v = *vehicle_[k];
  double x[kLegs], *force = e.tau[k];
  for (int i = 0; i < kLegs; ++i) {
    x[i] = v.angle[i] ? unwrapped(position[i], v.nominal[i]) : position[i];
    e.stroke[k][i] = x[i] - v.nominal[i], e.speed[k][i] = speed[i];
  }
  const int law = phase_ == Phase::ready ? 0 : phase_ == Phase::attenuation ? 1 : 2;
  const int own = k * kLegs * JointLaw::kMostStates;
  v.laws[law]->forces(t, x, speed, z + own, e.rate.data() + kZ + own, nullptr, force);
  for (int i = 0; i < kLegs; ++i) {
    if (v.move) {
      const Ramp ramp{v.from[i], v.nominal[i] + v.move->target, v.move->speed, phase_since_};
      const Reference to = ramp.at(t);
      const double wanted = v.move->stiffness * (to.value - x[i]) + v.move->damping * (to.rate - speed[i]);
      force[i] += std::clamp(wanted, -v.move->limit, v.move->limit);
    }
    if (given.asks) force[i] += asked_force_[k][i];
    force[i] *= leg_force_;
  }
}

// forces of the control at a state whose motion is known
void Docking::ask(double t, const double* y, Stage& e) {
  double row[history_width()], at[2][kLegs], force[2][kLegs] = {}, wrench[2][6] = {};
  const double *position[2] = {}, *rate[2] = {};
  for (int k = 0; k < 2; ++k) {
    const Vehicle& v = *vehicle_[k];
    if (!v.motion) continue;
    for (int i = 0; i < kLegs; ++i) {
      at[k][i] = v.angle[i] ? unwrapped(v.motion->position[i], v.nominal[i]) : v.motion->position[i];
      e.stroke[k][i] = at[k][i] - v.nominal[i], e.speed[k][i] = v.motion->rate[i];
    }
    position[k] = at[k], rate[k] = v.motion->rate;
  }
  write(t, y, e, row, false);
  given.control->ask(t, row, position, rate, force, wrench);
  std::copy_n(force[0], 2 * kLegs, asked_force_[0]), std::copy_n(wrench[0], 12, asked_wrench_[0]);
}

// of the state that was evaluated last
double Docking::kinetic(const Stage& e) {
  double total = 0;
  for (int k = 0; k < 2; ++k) {
    const Vehicle& v = *vehicle_[k];
    const V w = vec(e.twist[k] + 3), vc = vec(e.twist[k]) + cross(w, v.com);
    total += v.motion ? v.motion->kinetic(e.twist[k]) : 0.5 * (v.body.mass * dot(vc, vc) + dot(w, times6(v.inertia, w)));
  }
  return total;
}

bool Docking::step(double t, double h, const double* y, const Stage& e, double* next) {
  return runge_kutta(size_, h, y, e.rate.data(), mid_.rate.data(), tmp_.data(), next,
                     [&](int stage) { return evaluate(stage < 2 ? t + 0.5 * h : t + h, tmp_.data(), mid_); });
}

// ---- peaks

void Docking::Tracks::clear() {
  count = 0;
  t0 = t1 = 0;
  best.fill(-kInfinite), when.fill(kNan), f0.fill(0), f1.fill(0);
}

void Docking::Tracks::add(double t, const Row& f, int n) {
  bool turned = false;
  for (int i = 0; i < n; ++i) {
    const bool more = f[i] > best[i];
    best[i] = more ? f[i] : best[i], when[i] = more ? t : when[i];
    turned |= (f1[i] > f0[i]) & (f1[i] >= f[i]);
  }
  for (int i = 0; count >= 2 && turned && i < n; ++i) {
    if (!(f1[i] > f0[i] && f1[i] >= f[i])) continue;
    // a parabola through three samples
    const double d0 = t1 - t0, d1 = t - t1, s0 = (f1[i] - f0[i]) / d0, s1 = (f[i] - f1[i]) / d1;
    const double curve = (s1 - s0) / (d0 + d1);
    if (!(curve < 0)) continue;
    const double slope = (s0 * d1 + s1 * d0) / (d0 + d1), top = f1[i] - 0.25 * slope * slope / curve;
    if (top > best[i]) best[i] = top, when[i] = t1 - 0.5 * slope / curve;
  }
  t0 = t1, t1 = t;
  std::copy_n(f1.data(), n, f0.data()), std::copy_n(f.data(), n, f1.data());
  ++count;
}

void Docking::base_load(int k, const Stage& e, double* out) const {
  const Vehicle& v = *vehicle_[k];
  double ext[6];
  for (int i = 0; i < 6; ++i) ext[i] = given.asks ? external_[k][i] + asked_wrench_[k][i] : external_[k][i];
  if (!v.motion) {
    const V F = turned(e.RN[0], vec(e.load)), M = turned(e.RN[0], vec(e.load + 3));  // on B about o_A
    const V f = k ? F : -F, m = k ? M + cross(vec(e.o[0]) - vec(e.o[1]), F) : -M;
    put(back(e.R0[k], f), out), put(back(e.R0[k], m), out + 3);
    return;
  }
  const V a = vec(e.base_acceleration[k]), d = vec(e.base_acceleration[k] + 3), w = vec(e.twist[k] + 3), c = v.com;
  const V f = scaled(a + cross(d, c) + cross(w, cross(w, c)), v.body.mass) - vec(ext);
  const V spin = times6(v.inertia, d) + cross(w, times6(v.inertia, w)) - vec(ext + 3);
  put(f, out), put(spin + cross(c, f), out + 3);
}

void Docking::sample(double t, const Stage& e) {
  const V F = -vec(e.load), M = -vec(e.load + 3);  // on A's ring
  Tracks::Row f;
  f[kTension] = F.x, f[kCompression] = -F.x, f[kAxial] = std::fabs(F.x);
  f[kShear] = std::hypot(F.y, F.z), f[kForce] = norm(F), f[kTorsion] = std::fabs(M.x);
  f[kBending] = std::hypot(M.y, M.z);
  double* to = f.data() + Tracks::kLatches;
  for (int j = 0; j < latch_count_; ++j) *to++ = e.latch_force[j];
  for (int k = 0; k < 2; ++k) {
    double load[6];
    base_load(k, e, load);
    f[Tracks::kBase + 2 * k] = norm(vec(load)), f[Tracks::kBase + 2 * k + 1] = norm(vec(load + 3));
    if (!vehicle_[k]->motion) continue;
    for (int i = 0; i < kLegs; ++i) *to++ = -e.stroke[k][i], *to++ = e.stroke[k][i], *to++ = std::fabs(e.tau[k][i]);
  }
  tracks_.add(t, f, static_cast<int>(to - f.data()));
  deepest_ = std::max(deepest_, e.contact.penetration);
}

// ---- phases, thrusters

void Docking::note(double t, EventKind kind, int index) {
  if (events_.size() < events_.capacity()) events_.push_back({t, kind, index});
}

void Docking::set_phase(Phase p, double t, const Stage& e) {
  phase_ = p, phase_since_ = t, rest_since_ = t;
  note(t, EventKind::phase, static_cast<int>(p));
  if (p == Phase::hard_mate) done_ = !given.steps;
  if (p != Phase::hard_mate || done_) moving_ = p;  // with the rings locked the drives of a rig hold what they held
  for (int k = 0; k < 2; ++k) {
    Vehicle& v = *vehicle_[k];
    v.move = move_in(v, moving_);
    for (int i = 0; i < kLegs; ++i)
      v.from[i] = v.nominal[i] + (v.move && !std::isnan(v.move->start) ? v.move->start : e.stroke[k][i]);
    if (v.states > 0 && p != Phase::hard_mate)
      v.laws[p == Phase::attenuation ? 1 : 2]->settle(e.speed[k], y_ + kZ + k * kLegs * JointLaw::kMostStates);
  }
}

// true: another phase has begun
bool Docking::look_for_phase(double t, const Stage& e) {
  const PhaseSetup& p = setup_.phases;
  const auto next = [&] {
    for (int i = static_cast<int>(phase_) + 1; i < kPhases; ++i)
      if (p.enters[i]) return set_phase(static_cast<Phase>(i), t, e), true;
    return false;
  };
  const double spent = t - phase_since_;
  const auto there_is_another = [&] {
    for (int i = static_cast<int>(phase_) + 1; i < kPhases; ++i)
      if (p.enters[i]) return true;
    return false;
  };
  if (phase_ == Phase::attenuation) {
    const V v = vec(e.v) + cross(vec(e.w), vec(e.at));
    if (norm(v) > p.rest_speed || norm(vec(e.w)) > p.rest_rate) rest_since_ = t;
    if (t - rest_since_ >= p.dwell - 1e-12) return next();
    if (spent >= p.attenuation_time - 1e-12 && there_is_another())
      return note(t, EventKind::timeout, static_cast<int>(phase_)), next();
  } else if (phase_ == Phase::alignment || phase_ == Phase::retraction) {
    bool arrived = true;
    for (int k = 0; k < 2; ++k) {
      const Vehicle& v = *vehicle_[k];
      if (!v.motion) continue;
      for (int i = 0; i < kLegs; ++i) {
        const double way = v.nominal[i] + v.move->target - v.from[i];
        arrived &= v.move->speed * spent >= std::fabs(way) && std::fabs(e.stroke[k][i] - v.move->target) < v.move->tolerance;
      }
    }
    if (arrived) return next();
    if (spent >= p.move_time - 1e-12 && there_is_another())
      return note(t, EventKind::timeout, static_cast<int>(phase_)), next();
  }
  return false;
}

// the next time at which forces jump
double Docking::next_edge(double t) const {
  double next = kInfinite;
  const auto offer = [&](double at) {
    if (at > t) next = std::min(next, at);
  };
  for (std::size_t i = 0; i < thrust_on_.size(); ++i) offer(thrust_on_[i]), offer(thrust_off_[i]);
  if (!released_) offer(latch_.release);
  for (int k = 0; k < 2; ++k) {
    const Vehicle& v = *vehicle_[k];
    for (int i = 0; v.move && v.motion && i < kLegs; ++i)
      offer(phase_since_ + std::fabs(v.nominal[i] + v.move->target - v.from[i]) / v.move->speed);
  }
  return next;
}

void Docking::apply_edges(double t) {
  for (std::size_t i = 0; i < thrust_on_.size(); ++i) {
    if (thrust_state_[i] == 0 && t >= thrust_on_[i])
      thrust_state_[i] = 1, note(t, EventKind::thrust_on, static_cast<int>(i));
    if (thrust_state_[i] == 1 && t >= thrust_off_[i])
      thrust_state_[i] = 2, note(t, EventKind::thrust_off, static_cast<int>(i));
  }
  if (!released_ && t >= latch_.release) {
    released_ = true;
    for (int j = 0; j < latch_count_; ++j)
      if (latched_[j] == Latched::closed) latched_[j] = Latched::disarmed;
    if (closed_ > 0) note(t, EventKind::released, -1);
    closed_ = 0;
  }
  for (int k = 0; k < 2; ++k) std::copy_n(given.wrench[k], 6, external_[k]);
  for (std::size_t i = 0; i < thrust_on_.size(); ++i)
    for (int j = 0; thrust_state_[i] == 1 && j < 6; ++j)
      external_[setup_.thrusts[i].vehicle][j] += setup_.thrusts[i].wrench[j];
  for (std::size_t i = 0; i < hold_moment_.size(); ++i)
    for (int j = 0; j < 3; ++j) external_[setup_.holds[i].vehicle][3 + j] += hold_moment_[i][static_cast<std::size_t>(j)];
}

void Docking::sample_holds(const double* y, const Stage& e) {
  for (std::size_t i = 0; i < setup_.holds.size(); ++i) {
    const HoldSetup& h = setup_.holds[i];
    double then[9], turn[9];
    rotation(hold_attitude_[h.vehicle], then);
    rotation(y + h.vehicle * kVehicle + kQ0, turn);
    double since[9];
    times_back(then, turn, since);
    double angle[3];
    put(rotation_vector(since), angle);
    for (int j = 0; j < 3; ++j) {
      double signal = h.stiffness * angle[j] + h.damping * e.twist[h.vehicle][3 + j];
      if (h.stiffness > 0) {
        const double dead = h.stiffness * h.dead_band;
        signal = signal > dead ? signal - dead : signal < -dead ? signal + dead : 0;
      }
      hold_moment_[i][static_cast<std::size_t>(j)] = -std::clamp(signal, -h.limit, h.limit);
    }
  }
}

// ---- runs

void Docking::run(const Conditions& conditions, const Factors& factors, const Options& o, Result& result, double* history,
                  std::ptrdiff_t room, std::ptrdiff_t* rows) {
  try {
    start(conditions, factors, o, result, history, room, rows);
    for (long long n = 1; next(); ++n) {
      if (given.control && n % kPatience == 0 && given.control->stopped()) return stop();
      make();
    }
  } catch (...) {
    stop();
    throw;
  }
}

// ends a run before its time: what there is up to now is its result
void Docking::stop() {
  given.hold = kInfinite;  // forces that were asked for last stay
  run_.left = 0;
  if (!evaluate(run_.t, y_, *now_)) return conclude(Status::stopped);
  if (run_.written == 0 || run_.history[(run_.written - 1) * history_width()] != run_.t) record(true);
  finish(run_.t, y_, *now_, *run_.result);
  run_.result->status = Status::stopped;
  run_.over = true;
}

void Docking::start(const Conditions& given, const Factors& factors, const Options& o, Result& result, double* history,
                    std::ptrdiff_t room, std::ptrdiff_t* rows) {
  Conditions c = given;
  prepare(factors);
  if (std::isnan(c.gap)) c.gap = start_gap(c);
  const double m = vehicle_[0]->mass(), M = vehicle_[1]->mass();
  run_ = {};
  run_.conditions = c, run_.options = o, run_.result = &result;
  run_.history = history, run_.room = room, run_.rows = rows;
  run_.scale = std::max(0.5 * m * M / (m + M) * c.closing * c.closing, kLeastEnergy);
  run_.parts = 1, run_.left = o.halvings;
  attempt();
}

std::unique_ptr<DockingLanes> Docking::lanes() const {
  const Hexapod* const rings[2] = {setup_.vehicle[0].ring, setup_.vehicle[1].ring};
  const double offsets[2] = {setup_.vehicle[0].offset, setup_.vehicle[1].offset};
  if (!rings[0] && !rings[1]) return nullptr;
  return setup_.kernels->make_docking_lanes(rings, offsets, size_);
}

const BodySpec& Docking::body(int k) const { return vehicle_[k]->body; }

LaneStep Docking::plan() { return {this, run_.t, run_.h, run_.t1, y_, now_->rate.data(), external_, next_, then_, true}; }

void Docking::make() {
  if (step(run_.t, run_.h, y_, *now_, next_) && evaluate(run_.t1, next_, *then_))
    after();
  else
    end(failed());
}

void Docking::take(bool fine) {
  if (!fine) return make();  // which says why
  evaluations_ += 4;
  elsewhere_ = true;
  after();
}

Status Docking::failed() const {
  switch (failure_.cause) {
    case Cause::reach:
    case Cause::hook_reach:
    case Cause::newton: return Status::out_of_reach;
    case Cause::overflow:
    case Cause::input:
    case Cause::rotation: return Status::not_finite;
    default: return Status::singular_leg;
  }
}

// an attempt has come to its end: good enough, or once more with half the step
void Docking::conclude(Status s) {
  Result& result = *run_.result;
  result.status = s;
  const bool sound = std::fabs(result.energy_error) <= run_.options.tolerance * run_.scale;
  run_.over = s == Status::touching || (sound && s != Status::not_finite);
  if (run_.over) return;
  if (run_.left <= 0) {
    run_.over = true;
    if (s == Status::captured || s == Status::not_captured) result.status = Status::energy;
    return;
  }
  run_.parts *= 2, --run_.left;
  attempt();
}

void Docking::end(Status s) {
  const bool complete = s == Status::captured || s == Status::not_captured;
  const double count = evaluations_;
  if ((!complete || elsewhere_) && !evaluate(run_.t, y_, *now_)) return conclude(s);
  if (complete) evaluations_ = count;
  record(true);
  finish(run_.t, y_, *now_, *run_.result);
  conclude(s);
}

void Docking::close_latch(int j) {
  const double t = run_.t;
  latched_[j] = Latched::closed;
  closed_at_[j] = t;
  latch_gap(now_->turn, now_->at, j, gap_0_[j]);
  ++closed_;
  note(t, EventKind::latch, j);
  if (captured_ || closed_ < latch_.need) return;
  captured_ = true;
  capture_ = t;
  note(t, EventKind::capture, -1);
  if (setup_.phases.enters[static_cast<int>(Phase::attenuation)] && !given.phase) set_phase(Phase::attenuation, t, *now_);
  run_.t_stop = std::min(run_.options.t_end, t + run_.options.after);
  for (std::size_t i = 0; i < thrust_on_.size(); ++i)
    if (setup_.thrusts[i].start == ThrustSetup::Start::capture)
      thrust_on_[i] = t + setup_.thrusts[i].delay, thrust_off_[i] = thrust_on_[i] + setup_.thrusts[i].duration;
}

void Docking::touched(double at) {
  touched_ = true;
  contact_time_ = at;
  note(at, EventKind::contact, -1);
  for (std::size_t i = 0; i < thrust_on_.size(); ++i)
    if (setup_.thrusts[i].start == ThrustSetup::Start::contact)
      thrust_on_[i] = at + setup_.thrusts[i].delay, thrust_off_[i] = thrust_on_[i] + setup_.thrusts[i].duration;
}

// forces have jumped: rates anew
bool Docking::again() {
  apply_edges(run_.t);
  tracks_.count = 0;
  if (!evaluate(run_.t, y_, *now_)) return false;
  sample(run_.t, *now_);
  return true;
}

void Docking::record(bool last) {
  if (!run_.history || run_.written >= run_.room || (run_.written + 1 == run_.room && !last)) return;
  write(run_.t, y_, *now_, run_.history + run_.written * history_width());
  ++run_.written;
  if (run_.rows) *run_.rows = run_.written;
}

// where in a step of length h the first node touches
double Docking::contact_between(double h) const {
  double low = 0, high = 1, turn[9], at[3];
  std::array<double, 2 * kVehicle> between;
  for (int i = 0; i < kBisections && high - low > 1e-13; ++i) {
    const double x = 0.5 * (low + high);
    hermite(x, h, y_, now_->rate.data(), next_, then_->rate.data(), between.data());
    relative_pose(between.data(), turn, at);
    (contact_->penetration(turn, at) > 0 ? high : low) = x;
  }
  return high;
}

void Docking::attempt() {
  const Options& o = run_.options;
  Result& result = *run_.result;
  result = {};
  run_.dt = o.dt / run_.parts;
  result.gap = run_.conditions.gap, result.dt = run_.dt, result.energy_scale = run_.scale;
  result.energy_error = kNan;
  run_.written = 0;
  if (run_.rows) *run_.rows = 0;
  if (!begin(run_.conditions)) return conclude(failed());
  double& t = run_.t = 0;
  apply_edges(t);
  if (!evaluate(t, y_, *now_)) return conclude(failed());
  energy_0_ = kinetic(*now_);
  for (int i = 0; i < 6; ++i) {
    momentum_b_[i] = y_[kVehicle + kP + i];
    momentum_0_[i] = y_[kP + i] + momentum_b_[i];
  }
  if (now_->contact.penetration > 0) return finish(t, y_, *now_, result), conclude(Status::touching);

  run_.t_stop = o.t_end;
  if (latch_.enabled) {
    bool any = false;
    for (int j = 0; j < latch_count_; ++j)
      if (latch_function(now_->turn, now_->at, j) < 0) close_latch(j), any = true;
    if (any && (apply_edges(t), !evaluate(t, y_, *now_))) return conclude(failed());
  }
  if (!setup_.holds.empty()) {
    sample_holds(y_, *now_);
    apply_edges(t);
    if (!evaluate(t, y_, *now_)) return conclude(failed());
  }
  if (given.asks && given.hold > 0) {
    ask(t, y_, *now_);
    if (!evaluate(t, y_, *now_)) return conclude(failed());
  }
  sample(t, *now_);
  record(false);
  run_.steps = 1, run_.splits = 0;
  run_.grid = run_.dt;
}

// the next step on the way to a time; false: there were too many
bool Docking::plan_to(double target) {
  const double edge = next_edge(run_.t);
  run_.t1 = std::min(target, edge), run_.h = run_.t1 - run_.t;
  run_.jumps = run_.t1 == edge;
  return ++run_.splits <= kMostSplits;
}

// what is due at the end of a step that was asked for; false: it fails
bool Docking::arrive() {
  if (!given.phase && look_for_phase(run_.t, *now_) && !again()) return false;
  if (run_.t != run_.grid) return true;
  const auto ends = [&](double period) {
    return run_.steps % (std::max(1LL, std::llround(period / run_.options.dt)) * run_.parts) == 0;
  };
  bool due = false;
  for (const HoldSetup& hold : setup_.holds) due |= ends(hold.period);
  const bool asks = given.asks && given.hold > 0 && ends(given.hold);
  if (due) sample_holds(y_, *now_);
  if (asks) ask(run_.t, y_, *now_);
  if ((due || asks) && !again()) return false;
  const long long every = static_cast<long long>(run_.options.every) * run_.parts;
  if (every > 0 && run_.steps % every == 0 && run_.t < run_.t_stop) record(false);
  return true;
}

// whether there is a step to make, and which
bool Docking::next() {
  while (!run_.over) {
    const double target = std::min(run_.grid, run_.t_stop);
    if (run_.t < target && !done_) {
      if (plan_to(target)) return true;
      end(Status::chattering);
      continue;
    }
    if (!done_ && run_.t > 0 && !arrive()) {
      end(failed());
      continue;
    }
    if (run_.t < run_.t_stop && !done_) {
      run_.grid = static_cast<double>(++run_.steps) * run_.dt;
      run_.splits = 0;
      continue;
    }
    end(captured_ && (closed_ >= latch_.need || released_) ? Status::captured : Status::not_captured);
  }
  return false;
}

// Lankarani-Nikravesh: features that have begun to touch keep their speed, those that are apart forget it. True: some have
// changed.
bool Docking::note_approach() {
  double speed[kFeatures];
  contact_->approach(now_->turn, now_->at, now_->v, now_->w, speed);
  bool changed = false;
  for (int f = 0; f < kFeatures; ++f) {
    double& d = law_.damping[f];
    const bool touches = speed[f] > ContactPair::kApart;
    if (touches == (d > 0)) continue;
    d = touches ? 0.75 * (1 - law_.rebound * law_.rebound) / std::max(speed[f], kLeastSpeed) : 0.0;
    changed = true;
  }
  return changed;
}

// A step has been made, from y_, now_ to next_, then_: what happened on the way, the earliest first.
void Docking::after() {
  double& t = run_.t;
  double h = run_.h, t1 = run_.t1, first = 2, theta[kMostLatches], turn[9], at[3];
  bool jumps = run_.jumps;
  std::array<double, 2 * kVehicle> between;
  for (int j = 0; j < latch_count_; ++j) {
    theta[j] = 2;
    if (!latch_.enabled || latched_[j] != Latched::open || !(latch_function(then_->turn, then_->at, j) < 0)) continue;
    double low = 0, high = 1;
    for (int i = 0; i < kBisections && high - low > 1e-15; ++i) {
      const double x = 0.5 * (low + high);
      hermite(x, h, y_, now_->rate.data(), next_, then_->rate.data(), between.data());
      relative_pose(between.data(), turn, at);
      (latch_function(turn, at, j) < 0 ? high : low) = x;
    }
    theta[j] = high;
    first = std::min(first, high);
  }
  double contact = 2;
  const bool splits_at_contact = allow_split_contact_ && !touched_ && then_->contact.penetration > 0;
  if (splits_at_contact) contact = contact_between(h);
  int broken = -1;
  for (int j = 0; j < latch_count_; ++j)
    if (latched_[j] == Latched::closed && then_->latch_force[j] > latch_.break_force) broken = j;
  double shortened = std::min(first, contact) * h;
  const auto remake = [&](double length, double end) {
    return step(t, length, y_, *now_, next_) && evaluate(end, next_, *then_);
  };
  if (broken >= 0) {  // by repeated steps: forces are no function of the pose alone
    double low = 0, high = std::min(shortened, h);
    for (int i = 0; i < 40; ++i) {
      const double x = 0.5 * (low + high);
      if (!remake(x, t + x)) return end(failed());
      double most = 0;
      for (int j = 0; j < latch_count_; ++j) most = std::max(most, then_->latch_force[j]);
      (most > latch_.break_force ? high : low) = x;
    }
    if (high < shortened)
      shortened = high, first = contact = 2;
    else
      broken = -1;
  }
  if (shortened < h || broken >= 0) {
    jumps = false;
    h = std::min(shortened, h), t1 = t + h;
    if (!remake(h, t1)) return end(failed());
  }
  if (!touched_ && !splits_at_contact && then_->contact.penetration > 0) touched(t + h * contact_between(h));
  std::swap(y_, next_);
  std::swap(now_, then_);
  t = t1;
  if (law_.sticking) {
    contact_->advance(law_, now_->turn, now_->at, now_->v, now_->w, bristles_.data(), t - bristle_time_,
                      next_bristles_.data());
    std::swap(bristles_, next_bristles_);
    bristle_time_ = t;
    if (!evaluate(t, y_, *now_)) return end(failed());
  }
  if (law_.rebound > 0 && note_approach() && !evaluate(t, y_, *now_)) return end(failed());
  sample(t, *now_);
  bool acted = jumps;
  if (splits_at_contact && contact <= first && contact < 2) touched(t), acted = true;
  if (first < 2 && first <= contact)
    for (int j = 0; j < latch_count_; ++j)
      if (theta[j] <= first + kSimultaneous) close_latch(j), acted = true;
  if (broken >= 0)
    for (int j = 0; j < latch_count_; ++j)
      if (latched_[j] == Latched::closed && now_->latch_force[j] > latch_.break_force * (1 - 1e-9))
        latched_[j] = Latched::lost, --closed_, note(t, EventKind::lost, j), acted = true;
  for (int j = 0; j < latch_count_; ++j) {
    if (latched_[j] != Latched::disarmed) continue;
    double g[3];
    latch_gap(now_->turn, now_->at, j, g);
    if (std::fabs(g[0]) > 1.5 * latch_.axial || std::hypot(g[1], g[2]) > 1.5 * latch_.lateral) latched_[j] = Latched::open;
  }
  if (acted && !again()) return end(failed());
  if (now_->contact.penetration > setup_.range) return end(Status::contact_range);
}

void Docking::finish(double t, const double* y, const Stage& e, Result& r) {
  r.t_contact = contact_time_, r.t_capture = capture_, r.t_end = t, r.evaluations = evaluations_;
  std::copy_n(closed_at_, kMostLatches, r.latch);
  const double *best = tracks_.best.data(), *when = tracks_.when.data();
  const auto take = [&](int from, int to) {
    const bool none = !(best[from] > 0);
    r.peak[to] = none ? 0 : best[from], r.peak_time[to] = none ? kNan : when[from];
  };
  for (int i = 0; i <= kBending; ++i) take(i, i);
  for (int i = 0; i < 4; ++i) take(Tracks::kBase + i, kBaseForceA + i);
  r.peak[kLatch] = r.peak[kLeg] = 0, r.peak_time[kLatch] = r.peak_time[kLeg] = kNan;
  const auto raise = [&](int from, int to) {
    if (best[from] > r.peak[to]) r.peak[to] = best[from], r.peak_time[to] = when[from];
  };
  int at = Tracks::kLatches;
  for (int j = 0; j < latch_count_; ++j) raise(at++, kLatch);
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < kLegs; ++i) {
      r.stroke[k][i][0] = r.stroke[k][i][1] = r.leg_force[k][i] = r.leg_work[k][i] = kNan;
      if (!vehicle_[k]->motion) continue;
      r.stroke[k][i][0] = -best[at], r.stroke[k][i][1] = best[at + 1], r.leg_force[k][i] = best[at + 2];
      r.leg_work[k][i] = y[kLegWork + k * kLegs + i];
      if (!k) raise(at + 2, kLeg);
      at += 3;
    }
  double sum = 0;
  for (int i = 0; i < 5; ++i) sum += r.work[i] = y[kWork + i];
  r.energy_start = energy_0_, r.energy_end = kinetic(e);
  r.energy_error = r.energy_end - energy_0_ - sum;
  double change[6];
  for (int i = 0; i < 6; ++i) {
    const double* ext = y + kExternal;
    change[i] = y[kP + i] + y[kVehicle + kP + i] - momentum_0_[i] - ext[i] - ext[6 + i];
    r.impulse[i] = y[kVehicle + kP + i] - momentum_b_[i] - ext[6 + i];
  }
  r.momentum_error = norm(vec(change)), r.angular_error = norm(vec(change + 3));
  r.penetration = deepest_;
  misalignment_of(e, r.misalignment);
  // the pair as one body
  double mass = 0;
  V first{0, 0, 0};
  for (int k = 0; k < 2; ++k) {
    const Vehicle& v = *vehicle_[k];
    const double* s = y + k * kVehicle;
    double* to = r.state[k];
    std::copy_n(s + kX, 3, to), std::copy_n(s + kQ0, 4, to + 3);
    put(turned(e.R0[k], vec(e.twist[k])), to + 7), std::copy_n(e.twist[k] + 3, 3, to + 10);
    std::copy_n(s + kP, 6, to + 13);
    const double m = v.mass();
    const V c = v.motion ? vec(v.motion->moment) : scaled(v.com, m);
    mass += m;
    first = first + scaled(vec(s + kX), m) + turned(e.R0[k], c);
  }
  const V com = scaled(first, 1 / mass), P = vec(y + kP) + vec(y + kVehicle + kP);
  double I[6] = {};
  for (int k = 0; k < 2; ++k) {
    const Vehicle& v = *vehicle_[k];
    const double m = v.mass();
    double own[6];  // about its own centre of mass, base axes
    V c = v.com;
    if (v.motion) {
      c = scaled(vec(v.motion->moment), 1 / m);
      const double* a = v.motion->inertia;
      const double cc = dot(c, c);
      const double shifted[6] = {a[0] - m * (cc - c.x * c.x), a[1] + m * c.x * c.y, a[2] + m * c.x * c.z,
                                 a[3] - m * (cc - c.y * c.y), a[4] + m * c.y * c.z, a[5] - m * (cc - c.z * c.z)};
      std::copy_n(shifted, 6, own);
    } else {
      std::copy_n(v.inertia, 6, own);
    }
    const double full[9] = {own[0], own[1], own[2], own[1], own[3], own[4], own[2], own[4], own[5]};
    double half[9], N[9], back_[9];
    times(e.R0[k], full, half);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) back_[3 * i + j] = e.R0[k][3 * j + i];
    times(half, back_, N);
    const V d = vec(y + k * kVehicle + kX) + turned(e.R0[k], c) - com;
    const double dd = dot(d, d);
    const double here[6] = {N[0] + m * (dd - d.x * d.x), N[1] - m * d.x * d.y, N[2] - m * d.x * d.z,
                            N[4] + m * (dd - d.y * d.y), N[5] - m * d.y * d.z, N[8] + m * (dd - d.z * d.z)};
    for (int i = 0; i < 6; ++i) I[i] += here[i];
  }
  double per[6];
  invert(I, per);
  put(scaled(P, 1 / mass), r.locked);
  put(times6(per, vec(y + kL) + vec(y + kVehicle + kL) - cross(com, P)), r.locked + 3);
  r.locked[6] = mass;
  put(com, r.locked + 7);
  const double full[9] = {I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5]};
  std::copy_n(full, 9, r.locked + 10);
}

// not whole: without what follows from the forces of the legs
void Docking::write(double t, const double* y, const Stage& e, double* row, bool whole) {
  const auto give = [&](const double* x, int n) { row = std::copy_n(x, n, row); };
  const auto give_if_whole = [&](const double* x, int n) {
    row = whole ? std::copy_n(x, n, row) : std::fill_n(row, n, kNan);
  };
  double x[6] = {};
  give(&t, 1);
  for (int k = 0; k < 2; ++k) {
    const double* s = y + k * kVehicle;
    give(s + kX, 3), give(s + kQ0, 4);
    put(turned(e.R0[k], vec(e.twist[k])), x);
    give(x, 3), give(e.twist[k] + 3, 3);
  }
  for (int k = 0; k < 2; ++k) give(y + k * kVehicle + kRC, 13);
  const double none[kLegs] = {};
  for (int k = 0; k < 2; ++k) {
    const bool legs = vehicle_[k]->motion != nullptr;
    give(legs ? e.stroke[k] : none, kLegs), give(legs ? e.speed[k] : none, kLegs);
    give_if_whole(legs ? e.tau[k] : none, kLegs);
  }
  for (int i = 0; i < 6; ++i) x[i] = -e.load[i];
  give(x, 6);
  for (int i = 0; i < 3; ++i) x[i] = -e.contact.force[i], x[3 + i] = -e.contact.moment[i];
  give(x, 6);
  for (int k = 0; k < 2; ++k) {
    if (whole) base_load(k, e, x);
    give_if_whole(x, 6);
  }
  misalignment_of(e, x);
  give(x, 6);
  put(vec(e.v) + cross(vec(e.w), vec(e.at)), x), std::copy_n(e.w, 3, x + 3);
  give(x, 6);
  give(&e.contact.penetration, 1);
  const double energy = whole ? kinetic(e) : kNan;
  double error = energy - energy_0_;
  for (int i = 0; i < 5; ++i) error -= y[kWork + i];
  give_if_whole(&energy, 1), give_if_whole(y + kWork, 5), give_if_whole(&error, 1);
  for (int i = 0; i < 6; ++i) x[i] = y[kP + i] + y[kVehicle + kP + i];
  give(x, 6);
  x[0] = static_cast<int>(phase_), x[1] = closed_, x[2] = 0;
  for (int j = 0; j < latch_count_; ++j) x[2] = std::max(x[2], e.latch_force[j]);
  give(x, 3);
}

bool Docking::evaluate_once(const Conditions& c, const double* r, const double* q, const double* u, Stage& stage,
                            double* energy, double* state) {
  prepare({});
  if (!begin(c)) return false;
  if (vehicle_[0]->motion) std::copy_n(r, 3, y_ + kRC), std::copy_n(q, 4, y_ + kQC), std::copy_n(u, 6, y_ + kU);
  if (!evaluate(0, y_, stage)) return false;
  *energy = kinetic(stage);
  std::copy_n(y_, 2 * kVehicle, state);
  return true;
}

// ---- many of them

Fleet::Fleet(Setup setup) : setup_(std::move(setup)) { dockings_.push_back(std::make_unique<Docking>(setup_)); }

void Fleet::fill() {
  if (!steps_.empty()) return;
  lanes_ = dockings_[0]->lanes();
  for (int l = 1; lanes_ && l < lanes_->count(); ++l) dockings_.push_back(std::make_unique<Docking>(setup_));
  results_.resize(dockings_.size()), numbers_.resize(dockings_.size()), steps_.resize(dockings_.size());
}

void Fleet::run(Source& source, const Options& options) {
  fill();
  const std::size_t count = dockings_.size();
  std::size_t active = 0;
  // the next step of a lane, or of the next run
  const auto look = [&](std::size_t l) {
    while (!dockings_[l]->next()) {
      source.done(numbers_[l], results_[l]);
      if (!begin(l, source, options)) return --active, void(steps_[l] = {});
    }
    steps_[l] = dockings_[l]->plan();
  };
  for (std::size_t l = 0; l < count; ++l) {
    steps_[l] = {};
    if (!begin(l, source, options)) continue;
    ++active;
    look(l);
  }
  for (long long n = 0; active > 0; ++n) {
    if (n % kPatience == 0 && source.stopped()) return;
    const bool wide = lanes_ && active > 1;
    if (wide) lanes_->step(steps_.data());
    for (std::size_t l = 0; l < count; ++l) {
      if (!steps_[l].forces) continue;
      wide ? dockings_[l]->take(steps_[l].fine) : dockings_[l]->make();
      look(l);
    }
  }
}

bool Fleet::begin(std::size_t l, Source& source, const Options& options) {
  Conditions conditions;
  Factors factors;
  if (!source.next(numbers_[l], conditions, factors)) return false;
  Docking& d = *dockings_[l];
  d.start(conditions, factors, options, results_[l]);
  for (int k = 0; lanes_ && k < 2; ++k) lanes_->set_body(static_cast<int>(l), k, d.body(k));
  return true;
}

// ---- steps of a rig

Status Docking::begin_steps(const Conditions& conditions, const Factors& f, double dt) {
  const double numbers[] = {f.chaser_mass, f.station_mass, f.friction,        f.stiffness,
                            f.damping,     f.latch_gap,    f.latch_stiffness, f.leg_force};
  std::copy_n(numbers, Factors::kNumbers, factors_);
  given.steps = true, given.phase = false;
  commanded_ = 0;
  Options o;
  o.t_end = o.after = o.tolerance = kInfinite, o.dt = dt, o.halvings = 0;
  start(conditions, f, o, last_);
  run_.steps = 0;
  return run_.over ? last_.status : Status::captured;
}

Status Docking::advance(int command) {
  given.phase = command != 0;
  if (!again()) return failed();
  if (given.phase && command != commanded_) {
    set_phase(static_cast<Phase>(std::max(command, 0)), run_.t, *now_);
    if (!again()) return failed();
  }
  commanded_ = command;
  events_.clear();
  run_.grid = static_cast<double>(++run_.steps) * run_.dt;
  run_.splits = 0;
  while (run_.t < run_.grid) {
    if (!plan_to(run_.grid)) return Status::chattering;
    make();
    if (run_.over) return last_.status;
  }
  return arrive() ? Status::captured : failed();
}

void Docking::observe(double* row) { write(run_.t, y_, *now_, row); }

double Docking::momentum_error() const {
  const double* ext = y_ + kExternal;
  return norm(vec(y_ + kP) + vec(y_ + kVehicle + kP) - vec(momentum_0_) - vec(ext) - vec(ext + 6));
}

// f of every number of a snapshot, as a member and as a double
template <class Self, class F>
void Docking::each(Self& d, const F& f) {
  f(d.run_.t), f(d.run_.steps), f(d.commanded_), f(d.phase_), f(d.moving_), f(d.phase_since_), f(d.rest_since_);
  f(d.capture_), f(d.contact_time_), f(d.closed_), f(d.released_), f(d.captured_), f(d.touched_), f(d.bristle_time_);
  f(d.energy_0_);
  for (int i = 0; i < d.size_; ++i) f(d.y_[i]);
  for (int i = 0; i < 6; ++i) f(d.momentum_0_[i]), f(d.momentum_b_[i]);
  for (int j = 0; j < d.latch_count_; ++j) {
    f(d.latched_[j]), f(d.closed_at_[j]);
    for (int i = 0; i < 3; ++i) f(d.gap_0_[j][i]);
  }
  for (std::size_t i = 0; i < d.thrust_on_.size(); ++i) f(d.thrust_on_[i]), f(d.thrust_off_[i]), f(d.thrust_state_[i]);
  for (auto& moment : d.hold_moment_)
    for (auto& x : moment) f(x);
  for (auto& q : d.hold_attitude_)
    for (auto& x : q) f(x);
  for (auto& x : d.bristles_) f(x);
  for (auto& x : d.factors_) f(x);
  for (auto& x : d.law_.damping) f(x);
  for (auto& v : d.vehicle_)
    for (int i = 0; v->motion && i < kLegs; ++i) f(v->from[i]);
}

std::size_t Docking::snapshot_size() const {
  std::size_t count = 0;
  each(*this, [&](const auto&) { ++count; });
  return count;
}

// times that are not known, and those that never come, are negative in a snapshot, where everything is finite
void Docking::save(double* to) const {
  each(*this, [&](const auto& x) {
    const double number = static_cast<double>(x);
    *to++ = std::isnan(number) ? -1 : number == kInfinite ? -2 : number;
  });
}

bool Docking::fits(const double* from) const {
  std::size_t place = 0;
  bool fine = true;
  each(*this, [&](const auto& x) {
    using T = std::decay_t<decltype(x)>;
    const double number = from[place++];
    if constexpr (std::is_same_v<T, Phase>)
      fine &= number >= 0 && number < kPhases;
    else if constexpr (std::is_same_v<T, Latched>)
      fine &= number >= 0 && number <= static_cast<int>(Latched::disarmed);
    else if constexpr (!std::is_same_v<T, double>)
      fine &= std::fabs(number) <= 9007199254740992.0 && (sizeof(T) > 4 || std::fabs(number) <= 127);
  });
  return fine;
}

void Docking::restore(const double* from) {
  const auto time = [](double& x) { x = x == -1 ? kNan : x == -2 ? kInfinite : x; };
  const auto read = [&] {
    const double* next = from;
    each(*this, [&](auto& x) { x = static_cast<std::decay_t<decltype(x)>>(*next++); });
  };
  double f[Factors::kNumbers];
  std::copy_n(factors_, Factors::kNumbers, f);
  read();
  if (!std::equal(f, f + Factors::kNumbers, factors_)) {
    std::copy_n(factors_, Factors::kNumbers, f);
    prepare({f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]});
    read();  // what that has changed
  }
  run_.over = false;
  time(capture_), time(contact_time_);
  for (int j = 0; j < latch_count_; ++j) time(closed_at_[j]);
  for (std::size_t i = 0; i < thrust_on_.size(); ++i) time(thrust_on_[i]), time(thrust_off_[i]);
  for (auto& v : vehicle_) v->move = move_in(*v, moving_);
}

}  // namespace zveno::docking
