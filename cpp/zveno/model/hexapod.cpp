#include <zveno/model/hexapod.hpp>

#include <algorithm>
#include <cmath>

namespace zveno {
namespace {

[[noreturn]] void fail(const LegSpec& leg, const std::string& text) {
  throw ModelError(leg.name, "leg '" + leg.name + "': " + text);
}

double snapped(double x) { return zveno::snapped(x, 1e-15); }

bool finite(const Vec3<double>& a) { return std::isfinite(a.x()) && std::isfinite(a.y()) && std::isfinite(a.z()); }

Vec3<double> unit(const LegSpec& leg, const char* what, const Vec3<double>& a) {
  const double size = std::sqrt(dot(a, a));
  if (!(size > 0) || !std::isfinite(size)) fail(leg, std::string(what) + " is zero or not finite, expected a direction");
  return a * (1.0 / size);
}

void write_rows(const Mat3<double>& R, int at, double (&p)[leg::kParams]) {  // of the transpose
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) p[at + 3 * i + j] = snapped(R(j, i));
}

void write_params(const LegSpec& leg, double (&p)[leg::kParams]) {
  for (int i = 0; i < 3; ++i) {
    p[leg::kBase + i] = leg.base[i];
    p[leg::kRing + i] = leg.ring[i];
    p[leg::kRingAxis + i] = snapped(leg.ring_frame(i, 2));
    p[leg::kHook + i] = snapped(leg.tip_frame(i, 1));
  }
  write_rows(leg.base_frame, leg::kFrame, p);
  write_rows(leg.crank_frame, leg::kCrankFrame, p);
  p[leg::kInner] = leg.inner_length;
  p[leg::kOuter] = leg.outer_length;
  p[leg::kInvOuter] = 1 / (traits_of(leg.type).hunt ? leg.outer_length : leg.inner_length + leg.outer_length);
  p[leg::kReach] = leg.inner_length * leg.inner_length - leg.outer_length * leg.outer_length;
  p[leg::kHalfInvInner] = traits_of(leg.type).hunt ? 0.5 / leg.inner_length : 0;
  p[leg::kReflected] = leg.reflected;
  p[leg::kElbow] = leg.elbow;
  p[leg::kSpin] = leg.spin_branch;
  static_assert(leg::kInnerInertia + 6 == leg::kInnerMass + kInertial &&
                leg::kOuterInertia + 6 == leg::kOuterMass + kInertial);
  write_inertial(inertia_of(leg.inner), p + leg::kInnerMass);
  write_inertial(inertia_of(leg.outer), p + leg::kOuterMass);
}

// an axially symmetric body on its x axis; numbers that differ by rounding are made equal
bool make_rod(double (&p)[leg::kParams], int moment, int inertia) {
  const double size = std::fabs(p[inertia]) + std::fabs(p[inertia + 3]) + std::fabs(p[inertia + 5]), tiny = 1e-15 * size;
  if (p[moment + 1] != 0 || p[moment + 2] != 0) return false;
  for (int k : {1, 2, 4})
    if (std::fabs(p[inertia + k]) > tiny) return false;
  if (std::fabs(p[inertia + 3] - p[inertia + 5]) > tiny) return false;
  for (int k : {1, 2, 4}) p[inertia + k] = 0;
  p[inertia + 5] = p[inertia + 3];
  return true;
}

bool symmetric(const LegSpec& leg, double (&p)[leg::kParams]) {
  const bool inner = make_rod(p, leg::kInnerMoment, leg::kInnerInertia);
  const bool outer = make_rod(p, leg::kOuterMoment, leg::kOuterInertia);
  bool aligned = true;
  if (traits_of(leg.type).hunt)
    for (int i = 0; i < 9; ++i) aligned &= p[leg::kCrankFrame + i] == (i % 4 == 0 ? 1.0 : 0.0);
  if (traits_of(leg.type).spins) aligned &= p[leg::kHook] == 0 && p[leg::kHook + 1] == 1 && p[leg::kHook + 2] == 0;
  return inner && outer && aligned;
}

LinkSpec link(const char* name, LinkKind kind, const Vec3<double>& axis) {
  LinkSpec l;
  l.name = name;
  l.joint_name = name;
  l.kind = kind;
  l.axis = axis;
  return l;
}

// the five structures as chains
std::shared_ptr<const Chain> chain_of(const LegSpec& leg, const Vec3<double>& gravity) {
  const Vec3<double> x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  const LinkKind turn = LinkKind::revolute;
  std::vector<LinkSpec> links;
  links.push_back(link("1", turn, y));
  links[0].position = leg.base;
  links[0].rotation = leg.base_frame;
  if (traits_of(leg.type).hunt) {
    links.push_back(link("2", turn, y));
    links[1].position = {leg.inner_length, 0, 0};
    links[1].rotation = leg.crank_frame;
    links.push_back(link("3", turn, z));
    if (traits_of(leg.type).spins) links.push_back(link("4", turn, x));
    links[0].body = leg.inner;
    links[0].rotor_inertia = leg.reflected;
  } else {
    links.push_back(link("2", turn, z));
    if (traits_of(leg.type).spins) links.push_back(link("3", turn, x));
    links.push_back(link(traits_of(leg.type).spins ? "4" : "3", LinkKind::prismatic, x));
    links.back().position = {leg.inner_length, 0, 0};
    links.back().rotor_inertia = leg.reflected;
    links[traits_of(leg.type).housing_spins ? 2 : 1].body = leg.inner;
  }
  links.back().body = leg.outer;
  for (std::size_t i = 0; i < links.size(); ++i) links[i].parent = i ? links[i - 1].name : "base";
  try {
    return std::make_shared<const Chain>(leg.name, "base", gravity, std::move(links));
  } catch (const ModelError& e) {
    fail(leg, e.what());
  }
}

LegChain standard(const LegSpec& leg, const Vec3<double>& gravity) {
  LegChain c;
  c.chain = chain_of(leg, gravity);
  const int last = static_cast<int>(c.chain->links().size()) - 1;
  c.hook = c.chain->frame(last);
  c.hook.p_BoUo_B += times(c.hook.R_BU, Vec3<double>{leg.outer_length, 0, 0});
  c.hook.R_BU = times(c.hook.R_BU, leg.tip_frame);
  c.universal = traits_of(leg.type).spins;
  c.ring_axis = leg.ring_frame.col(2);
  c.actuated = traits_of(leg.type).hunt ? 0 : c.chain->n() - 1;
  c.start.assign(c.chain->n(), 0.0);
  return c;
}

LegChain custom(const LegSpec& leg) {
  LegChain c;
  if (!leg.chain) fail(leg, "has no chain");
  c.chain = leg.chain;
  c.universal = leg.universal;
  const int needed = leg.universal ? 4 : 3;
  if (c.chain->n() != needed)
    fail(leg, "chain has " + std::to_string(c.chain->n()) + " moving joints, expected " + std::to_string(needed) +
                  (leg.universal ? " before a universal joint" : " before a spherical joint"));
  if (!c.chain->topology().serial) fail(leg, "chain branches, expected a serial chain");
  if (c.chain->base_moments().m > 0) fail(leg, "links welded to the base have mass: they are part of the base");
  const int index = c.chain->find_link(leg.link);
  if (index < 0) fail(leg, "no link '" + leg.link + "' in its chain");
  c.hook = c.chain->frame(index);
  if (c.hook.body == kWorld) fail(leg, "link '" + leg.link + "' does not move");
  c.hook.p_BoUo_B += times(c.hook.R_BU, leg.point);
  if (leg.universal) {  // any frame whose y is the axis
    const Vec3<double> y = unit(leg, "axis", leg.axis);
    const int k = std::fabs(y.x()) < 0.8 ? 0 : 1;
    const Vec3<double> other{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, 0.0};
    const Vec3<double> z = unit(leg, "axis", cross(other, y)), x = cross(y, z);
    Mat3<double> R;
    for (int i = 0; i < 3; ++i) R(i, 0) = x[i], R(i, 1) = y[i], R(i, 2) = z[i];
    c.hook.R_BU = times(c.hook.R_BU, R);
    c.ring_axis = unit(leg, "ring_axis", leg.ring_axis);
  } else {
    c.ring_axis = {0, 0, 1};
  }
  const auto& names = c.chain->joint_names();
  const auto at = std::find(names.begin(), names.end(), leg.actuated);
  if (at == names.end()) fail(leg, "no joint '" + leg.actuated + "' in its chain");
  c.actuated = static_cast<int>(at - names.begin());
  c.start = leg.start;
  if (static_cast<int>(c.start.size()) != c.chain->n())
    fail(leg, "start has " + std::to_string(c.start.size()) + " numbers, expected " + std::to_string(c.chain->n()));
  for (double x : c.start)
    if (!std::isfinite(x)) fail(leg, "start is not finite");
  return c;
}

void check(const LegSpec& leg) {
  if (!finite(leg.base) || !finite(leg.ring)) fail(leg, "a hinge point is not finite");
  if (!std::isfinite(leg.reflected) || leg.reflected < 0)
    fail(leg, "reflected inertia " + std::to_string(leg.reflected) + ", expected a number >= 0");
  if (leg.type == LegType::custom) return;
  if (std::abs(leg.elbow) != 1 || std::abs(leg.spin_branch) != 1) fail(leg, "a branch is neither +1 nor -1");
  for (const double length : {leg.inner_length, leg.outer_length})
    if (!std::isfinite(length)) fail(leg, "a length is not finite");
  if (traits_of(leg.type).hunt && !(leg.inner_length > 0 && leg.outer_length > 0))
    fail(leg, "crank and coupler lengths must be positive");
  if (!traits_of(leg.type).hunt && !(leg.inner_length + leg.outer_length > 0))
    fail(leg, "the length at zero stroke must be positive");
  // the chain checks base_frame and crank_frame
  for (const Mat3<double>* R : {&leg.ring_frame, &leg.tip_frame}) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        if (!(std::fabs(dot(R->col(i), R->col(j)) - (i == j)) < 1e-9)) fail(leg, "a frame is not orthonormal");
    if (!(dot(cross(R->col(0), R->col(1)), R->col(2)) > 0)) fail(leg, "a frame is left-handed");
  }
}

}  // namespace

Hexapod::Hexapod(std::string name, const BodySpec& platform, const Vec3<double>& gravity, std::vector<LegSpec> legs)
    : name_(std::move(name)), gravity_(gravity), legs_(std::move(legs)) {
  if (legs_.size() != kLegs)
    throw ModelError("", "hexapod '" + name_ + "' has " + std::to_string(legs_.size()) + " legs, expected 6");
  if (!finite(gravity)) throw ModelError("", "hexapod '" + name_ + "': gravity is not finite");
  check_body(platform, "platform", "platform: ");
  if (!(platform.mass > 0)) throw ModelError("platform", "platform: mass is zero, expected a positive number");
  const Mat3<double>& I = platform.inertia;
  const double det = dot(cross(I.col(0), I.col(1)), I.col(2)), size = I(0, 0) + I(1, 1) + I(2, 2);
  if (!(det > 1e-12 * size * size * size))
    throw ModelError("platform", "platform: inertia is singular, expected a positive definite tensor");
  platform_ = {platform.mass, {I(0, 0), I(0, 1), I(0, 2), I(1, 1), I(1, 2), I(2, 2)}};

  for (int k = 0; k < kLegs; ++k) {
    const LegSpec& leg = legs_[k];
    check(leg);
    chains_.push_back(leg.type == LegType::custom ? custom(leg) : standard(leg, gravity));
    joints_ = std::max(joints_, chains_.back().chain->n());
    leg_mass_ += chains_.back().chain->total_mass();
    if (leg.type == LegType::custom) {
      has_custom_ = true;
      has_spring_ |= leg.chain->has_spring();
      continue;
    }
    double p[leg::kParams];
    write_params(leg, p);
    const bool simple = symmetric(leg, p);
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const LegGroup& g) { return g.type == leg.type && g.symmetric == simple; });
    if (group == groups_.end()) {
      LegGroup fresh{};
      fresh.type = leg.type;
      fresh.symmetric = simple;
      groups_.push_back(fresh);
      group = groups_.end() - 1;
    }
    // unused slots repeat the first leg: every lane computes with possible numbers
    const int first = group->count == 0 ? 0 : group->count;
    for (int i = 0; i < leg::kParams; ++i)
      for (int s = first; s < (group->count == 0 ? leg::kSlots : first + 1); ++s)
        group->params.number[i * leg::kSlots + s] = p[i];
    group->legs[group->count++] = k;
  }
}

}  // namespace zveno
