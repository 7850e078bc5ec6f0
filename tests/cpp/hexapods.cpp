#include "hexapods.hpp"

#include <cmath>

using namespace zveno;

namespace {

Vec3<double> unit(const Vec3<double>& a) { return a * (1 / std::sqrt(dot(a, a))); }

Mat3<double> columns(const Vec3<double>& x, const Vec3<double>& y, const Vec3<double>& z) {
  Mat3<double> R;
  for (int i = 0; i < 3; ++i) R(i, 0) = x[i], R(i, 1) = y[i], R(i, 2) = z[i];
  return R;
}

Vec3<double> on_circle(double radius, double angle) { return {0, radius * std::cos(angle), radius * std::sin(angle)}; }

BodySpec rod(double mass, double length) {
  const double across = mass * length * length / 12;
  BodySpec body;
  body.mass = mass;
  body.com = {length / 2, 0, 0};
  body.inertia(0, 0) = 0.01 * across, body.inertia(1, 1) = body.inertia(2, 2) = across;
  return body;
}

BodySpec lump(Random& random, double mass) {
  BodySpec body;
  body.mass = mass;
  body.com = Vec3<double>{0.12, 0, 0} + random.vector3(0.03);
  const double a = random.uniform(0.01, 0.05), b = random.uniform(0.01, 0.05), c = random.uniform(0.01, 0.05);
  body.inertia = dense(rotated(random.rotation(), Sym3<double>{a + b, 0, 0, b + c, 0, a + c}));
  return body;
}

Mat3<double> small_turn(Random& random) { return rotation_about(random.vector3(1), random.uniform(-0.2, 0.2)); }

constexpr double kHeight = 0.4;  // of the ring over the base, nominal

}  // namespace

std::string name_of(LegType type) {
  const char* const names[] = {"UPS", "SPU", "UCU", "RUS", "RSU", "custom"};
  return names[static_cast<int>(type)];
}

std::vector<LegSpec> leg_specs(LegType type, bool symmetric) {
  Random random(90 + static_cast<std::uint64_t>(type));
  const bool hunt = is_hunt(type);
  const double apart = (hunt ? 10 : 15) * kPi / 180;
  std::vector<LegSpec> legs;
  for (int k = 0; k < kLegs; ++k) {
    const double sign = k % 2 ? -1 : 1, middle = 2 * kPi / 3 * (k / 2);
    LegSpec leg;
    leg.type = type;
    leg.name = "leg" + std::to_string(k + 1);
    leg.base = on_circle(0.64, middle + sign * apart);
    leg.ring = on_circle(0.60, middle + sign * (kPi / 3 - apart));
    const Vec3<double> axis{1, 0, 0}, across = leg.ring - leg.base, along = unit(across + axis * kHeight);
    if (hunt) {  // cranks at right angles to the axis, couplers steep
      const Vec3<double> x = times(rotation_about(axis, 0.07 * sign), unit(across)), z = -axis;
      leg.base_frame = columns(x, cross(z, x), z);
      leg.ring_frame = columns(axis, cross(x, axis), x);
      leg.inner_length = 0.26, leg.outer_length = 0.42;
      leg.elbow = -1;
    } else {
      const Vec3<double> y = unit(cross(axis, along));
      leg.base_frame = columns(along, y, cross(along, y));
      leg.ring_frame = leg.base_frame;
      leg.inner_length = 0.25, leg.outer_length = 0.25;
    }
    leg.inner = symmetric ? rod(4, 0.3) : lump(random, 4);
    leg.outer = symmetric ? rod(2.5, 0.28) : lump(random, 2.5);
    leg.reflected = hunt ? 0.15 : 9.9;
    if (!symmetric) {
      leg.base_frame = times(leg.base_frame, small_turn(random));
      leg.crank_frame = small_turn(random);
      leg.tip_frame = small_turn(random);
    }
    if (type == LegType::ups || type == LegType::rus) leg.ring_frame = leg.tip_frame = diagonal(1.0);
    if (!hunt) leg.crank_frame = diagonal(1.0);
    legs.push_back(leg);
  }
  return legs;
}

Hexapod make_hexapod(const std::vector<LegSpec>& legs, const Vec3<double>& gravity) {
  BodySpec ring;
  ring.mass = 45;
  ring.inertia(0, 0) = 15.5, ring.inertia(1, 1) = ring.inertia(2, 2) = 8.2;
  ring.inertia(0, 1) = ring.inertia(1, 0) = 0.3;
  return Hexapod("ring", ring, gravity, legs);
}

Hexapod mixed_hexapod(const Vec3<double>& gravity) {
  std::vector<LegSpec> legs;
  for (int k = 0; k < 5; ++k) legs.push_back(leg_specs(kLegTypes[k], false)[static_cast<std::size_t>(k)]);
  legs.push_back(leg_specs(LegType::rus, true)[5]);
  return make_hexapod(legs, gravity);
}

RingStates::RingStates(Random& random, const Hexapod& hexapod, std::ptrdiff_t count)
    : u(random.vector(6 * count, -0.3, 0.3)),
      acceleration(random.vector(6 * count)),
      wrench(random.vector(6 * count, -100, 100)),
      tau(random.vector(kLegs * hexapod.joints() * count, -20, 20)),
      base(random.vector(9 * count, -1, 1)),
      omega(random.vector(3 * count, -1, 1)),
      base_wrench(random.vector(6 * count, -100, 100)),
      tau_width(kLegs * hexapod.joints()) {
  r.reserve(static_cast<std::size_t>(3 * count)), R.reserve(static_cast<std::size_t>(9 * count));  // no slack to read
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Vec3<double> p = Vec3<double>{kHeight, 0, 0} + random.vector3(0.03);
    const Mat3<double> turn = rotation_about(random.vector3(1), random.uniform(-0.08, 0.08));
    for (int j = 0; j < 3; ++j) r.push_back(p[j]);
    for (int j = 0; j < 9; ++j) R.push_back(turn(j / 3, j % 3));
  }
}

Rows RingStates::rows(std::ptrdiff_t first, std::ptrdiff_t count, const NamedHexJob& item) const {
  const auto from = [&](const std::vector<double>& x, int width) { return RowData{x.data() + first * width, width}; };
  Rows rows;
  rows[Param::r] = from(r, 3), rows[Param::R] = from(R, 9);
  rows.count = count;
  switch (item.job.function) {
    case HexFunction::inverse_dynamics:
    case HexFunction::forward_dynamics:
    case HexFunction::free_dynamics:
      rows[Param::wrench] = from(wrench, 6);
      rows[Param::leg_tau] = from(tau, item.job.actuated_only ? kLegs : tau_width);
      [[fallthrough]];
    case HexFunction::joint_velocity:
    case HexFunction::momentum:
    case HexFunction::kinetic_energy: rows[Param::u] = from(u, 6); break;
    default: break;
  }
  if (item.moving) rows[Param::base_motion] = from(base, 9);
  if (item.job.function == HexFunction::inverse_dynamics) rows[Param::acceleration] = from(acceleration, 6);
  if (item.job.function == HexFunction::free_dynamics)
    rows[Param::omega] = from(omega, 3), rows[Param::base_wrench] = from(base_wrench, 6);
  return rows;
}

std::vector<NamedHexJob> every_job(const Hexapod& hexapod) {
  std::vector<NamedHexJob> jobs;
  const auto add = [&](const char* name, HexFunction function) -> NamedHexJob& {
    jobs.push_back({name, HexJob{&hexapod, function}});
    return jobs.back();
  };
  add("closure", HexFunction::closure);
  add("closure by Newton's method", HexFunction::closure).job.newton = true;
  add("joint_velocity", HexFunction::joint_velocity);
  add("jacobian", HexFunction::jacobian);
  add("measures", HexFunction::measures);
  add("mass_matrix", HexFunction::mass_matrix);
  add("momentum", HexFunction::momentum);
  add("kinetic_energy", HexFunction::kinetic_energy);
  add("potential_energy", HexFunction::potential_energy);
  add("inverse_dynamics", HexFunction::inverse_dynamics);
  add("inverse_dynamics on a moving base", HexFunction::inverse_dynamics).moving = true;
  add("forward_dynamics", HexFunction::forward_dynamics);
  add("forward_dynamics, forces of the drives", HexFunction::forward_dynamics).job.actuated_only = true;
  add("forward_dynamics on a moving base", HexFunction::forward_dynamics).moving = true;
  BodySpec& base = add("free_dynamics", HexFunction::free_dynamics).job.base;
  base.mass = 8000;
  base.com = {-2, 0.1, 0.2};
  base.inertia = diagonal(9000.0);
  return jobs;
}
