// From the user's links to the compiled model: check, order depth first, weld fixed links, turn every joint axis to z.
//
// Any placement splits as R_PJ = Rz(phi) Rx(alpha) Rz(psi). Rz(psi) joins the joint angle; the frame of a body is turned
// about its own axis so that phi vanishes for its first child. A chain then needs two plane rotations per joint.

#include <zveno/model/chain.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <zveno/model/rotation.hpp>

namespace zveno {
namespace {

constexpr std::int64_t kMostPairs = 200'000'000;  // more of them fill no array
constexpr std::size_t kMaxLinks = 100000;
constexpr long double kPi = 3.141592653589793238462643383279502884L;  // what is near 0 after a turn keeps its digits

using Vector = Vec3<double>;
using Matrix = Mat3<double>;

// A x and A B; the last row is added up from its end: recorded bits, tests/frozen.py
double last_of(const Vector& a, const Vector& b) { return a.x() * b.x() + (a.y() * b.y() + a.z() * b.z()); }
Vector product(const Matrix& A, const Vector& x) { return {dot(A.row(0), x), dot(A.row(1), x), last_of(A.row(2), x)}; }
Matrix product(const Matrix& A, const Matrix& B) {
  Matrix r;
  for (int j = 0; j < 3; ++j) {
    const Vector x = product(A, B.col(j));
    for (int i = 0; i < 3; ++i) r(i, j) = x[i];
  }
  return r;
}

double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

// of a vector whose squares may not be numbers
double safe_norm(const Vector& a) {
  const double largest = std::max({std::fabs(a.x()), std::fabs(a.y()), std::fabs(a.z())});
  return largest > 0 ? largest * norm(a * (1 / largest)) : 0;
}

bool all_finite(const Vector& a) { return std::isfinite(a.x()) && std::isfinite(a.y()) && std::isfinite(a.z()); }
bool all_finite(const Matrix& a) { return all_finite(a.col(0)) && all_finite(a.col(1)) && all_finite(a.col(2)); }

std::string who(const LinkSpec& link) { return "link '" + link.name + "': "; }

[[noreturn]] void fail(const LinkSpec& link, const std::string& what) { throw ModelError(link.name, who(link) + what); }

// what a sine, a cosine or a component of a direction lost on the way through angles
double snapped(double x) { return zveno::snapped(x, 1e-14); }

Turn<double> turn_of(double angle) { return {snapped(std::sin(angle)), snapped(std::cos(angle))}; }

Matrix rz(const Turn<double>& t) {
  Matrix R = diagonal(1.0);
  R(0, 0) = R(1, 1) = t.c, R(0, 1) = -t.s, R(1, 0) = t.s;
  return R;
}

void check_numbers(const LinkSpec& link) {
  auto finite = [&](const char* what, auto&& x) {
    if (!all_finite(x)) fail(link, std::string(what) + " is not finite");
  };
  finite("axis", link.axis);
  finite("position", link.position);
  finite("rotation", link.rotation);
  for (auto [what, x] : {std::pair<const char*, double>{"rotor_inertia", link.rotor_inertia},
                         {"friction", link.friction},
                         {"stiffness", link.stiffness}}) {
    if (!std::isfinite(x)) fail(link, std::string(what) + " is not finite");
    if (x < 0) fail(link, std::string(what) + " " + number_text(x) + " is negative");
  }
  if (!std::isfinite(link.rest)) fail(link, "rest is not finite");
  // squares of it enter the inertia about the origin
  if (const double x = norm(link.position); x > 1e100)
    fail(link, "value " + number_text(x) + " is too large to compute with");
}

// |R'R - 1|
double defect_of(const Matrix& R) {
  double square = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double x = dot(R.col(i), R.col(j)) - (i == j);
      square += x * x;
    }
  return std::sqrt(square);
}

Matrix checked_rotation(const LinkSpec& link) {
  const Matrix& R = link.rotation;
  const double defect = defect_of(R), det = dot(cross(R.col(0), R.col(1)), R.col(2));
  if (!(defect < 1e-6)) fail(link, "rotation is not orthonormal: |R'R - 1| = " + number_text(defect));
  if (det < 0) fail(link, "rotation is left-handed: determinant " + number_text(det));
  return used_rotation(R);
}

// a rotation whose z column is `axis`; permutations for axes along x, y, z, so that zeros stay zeros
Matrix z_to(const Vector& axis) {
  const Vector z{snapped(axis.x()), snapped(axis.y()), snapped(axis.z())};
  int k = 0;
  for (int i = 1; i < 3; ++i)
    if (std::fabs(z[i]) > std::fabs(z[k])) k = i;
  const int next = (k + 1) % 3;
  Vector x{next == 0 ? 1.0 : 0.0, next == 1 ? 1.0 : 0.0, next == 2 ? 1.0 : 0.0};
  if (std::fabs(z[k]) != 1.0 || z[next] != 0.0 || z[(k + 2) % 3] != 0.0) {
    x -= z * z[next];
    const double length = norm(x);
    x = {x.x() / length, x.y() / length, x.z() / length};
  }
  const Vector y = cross(z, x);
  Matrix R;
  for (int i = 0; i < 3; ++i) R(i, 0) = x[i], R(i, 1) = y[i], R(i, 2) = z[i];
  return R;
}

// R = Rz(phi) Rx(alpha) Rz(psi)
struct Angles {
  double phi, psi;
  Turn<double> alpha;
  bool free;  // alpha is 0 or pi: only a combination of phi and psi is determined, phi = 0 is taken
};

Angles split(const Matrix& R) {
  const double sa = snapped(std::hypot(R(0, 2), R(1, 2))), ca = snapped(R(2, 2));
  if (sa == 0) return {0.0, std::atan2(R(1, 0) * (ca > 0 ? 1 : -1), R(0, 0)), {0.0, ca > 0 ? 1.0 : -1.0}, true};
  const double r = std::hypot(sa, ca), phi = std::atan2(R(0, 2), -R(1, 2));
  // psi from the first row of Rz(-phi) R: with alpha near 0 phi is ill-determined, but psi then makes up for it
  const double c = std::cos(phi), s = std::sin(phi);
  const double psi = std::atan2(-(c * R(0, 1) + s * R(1, 1)), c * R(0, 0) + s * R(1, 0));
  return {phi, psi, {snapped(sa / r), snapped(ca / r)}, false};
}

bool is_zero(const Vec3<double>& a) { return a.x() == 0 && a.y() == 0 && a.z() == 0; }
bool is_massless(const BodyParams<double>& b) {
  const Sym3<double>& I = b.I_BBo_B;
  return b.m == 0 && is_zero(b.mc_B) && is_zero({I.xx, I.xy, I.xz}) && is_zero({I.yy, I.yz, I.zz});
}

Sym3<double> symmetric(const Matrix& A) { return {A(0, 0), A(0, 1), A(0, 2), A(1, 1), A(1, 2), A(2, 2)}; }

// What is welded together, about a frame's origin. The whole tensor: R I R' rounds the two sides of the diagonal
// differently, and both enter the turn about z.
struct Welded {
  double m = 0;
  Vector mc{0, 0, 0};
  Matrix I = diagonal(0.0);

  void add(double mass, const Vector& com, const Matrix& about_com) {
    m += mass;
    mc += com * mass;
    I = I + (about_com + dense(point_inertia(mass, com, dot(com, com))));
  }
};

}  // namespace

Mat3<double> used_rotation(const Mat3<double>& R) { return defect_of(R) < 1e-14 ? R : nearest_rotation(R); }

Chain::Chain(std::string name, std::string base, const Vec3<double>& gravity, std::vector<LinkSpec> links)
    : name_(std::move(name)), base_(std::move(base)), gravity_(gravity), links_(std::move(links)) {
  if (links_.empty()) throw ModelError("", "chain '" + name_ + "' has no links");
  if (links_.size() > kMaxLinks)
    throw ModelError("", "chain '" + name_ + "' has " + std::to_string(links_.size()) + " links, at most " +
                             std::to_string(kMaxLinks) + " are accepted");
  if (!all_finite(gravity)) throw ModelError("", "chain '" + name_ + "': gravity is not finite");

  // names and numbers
  const int count = static_cast<int>(links_.size());
  std::unordered_map<std::string, int> joints;
  for (int i = 0; i < count; ++i) {
    const LinkSpec& link = links_[i];
    if (link.name.empty()) throw ModelError("", "link " + std::to_string(i) + " has an empty name");
    if (link.name == base_) fail(link, "has the name of the base");
    if (!index_.emplace(link.name, i).second) fail(link, "name is used twice");
    if (link.kind != LinkKind::fixed && link.joint_name.empty()) fail(link, "joint name is empty");
    if (link.kind != LinkKind::fixed && !joints.emplace(link.joint_name, i).second)
      fail(link, "joint name '" + link.joint_name + "' is used twice");
    check_numbers(link);
    for (const std::string& doubt : check_body(link.body, link.name, who(link)))
      suspicions_.emplace_back(link.name, who(link) + doubt);
  }

  // children in the user's order
  std::vector<std::vector<int>> children(count + 1);  // the last one: of the base
  for (int i = 0; i < count; ++i) {
    const int parent = find_link(links_[i].parent);
    if (parent == kNoLink) fail(links_[i], "unknown parent '" + links_[i].parent + "'");
    children[parent == kBase ? count : parent].push_back(i);
  }

  // the heaviest subtree first: a body then has O(log n) runs of ancestors
  std::vector<int> reached(children[count]), weight(count, 1);
  for (std::size_t k = 0; k < reached.size(); ++k)
    reached.insert(reached.end(), children[reached[k]].begin(), children[reached[k]].end());
  for (std::size_t k = reached.size(); k-- > 0;)
    if (const int parent = find_link(links_[reached[k]].parent); parent != kBase) weight[parent] += weight[reached[k]];
  for (std::vector<int>& c : children)
    std::rotate(c.begin(), std::max_element(c.begin(), c.end(), [&](int a, int b) { return weight[a] < weight[b]; }),
                c.end());
  if (static_cast<int>(reached.size()) != count) {
    std::vector<char> connected(count, 0);
    for (int i : reached) connected[i] = 1;
    for (int i = 0; i < count; ++i)
      if (!connected[i]) fail(links_[i], "is not connected to the base '" + base_ + "': its parents form a loop");
  }

  // moving joints in the user's order
  std::vector<int> joint_of_link(count, -1);
  for (int i = 0; i < count; ++i) {
    if (links_[i].kind == LinkKind::fixed) continue;
    joint_of_link[i] = static_cast<int>(joint_names_.size());
    joint_names_.push_back(links_[i].joint_name);
  }
  const int n = static_cast<int>(joint_names_.size());
  if (n == 0) throw ModelError("", "chain '" + name_ + "' has no moving joint");

  // depth first: frames of the links in their bodies, before bodies are turned about z
  struct Placed {
    int body;
    Matrix R;
    Vector p;
  };
  std::vector<Placed> placed(count);
  std::vector<Welded> welded(n);
  Welded to_base;
  std::vector<Matrix> R_PJ(n);
  std::vector<Vector> p_PJ(n);
  std::vector<int> stack(children[count].rbegin(), children[count].rend());
  body_of_joint_.assign(n, -1);
  while (!stack.empty()) {
    const int i = stack.back();
    stack.pop_back();
    const LinkSpec& link = links_[i];
    const int parent_link = find_link(link.parent);
    const Placed at = parent_link == kBase ? Placed{kWorld, diagonal(1.0), {0, 0, 0}} : placed[parent_link];
    const Matrix R = product(at.R, checked_rotation(link));
    const Vector p = at.p + product(at.R, link.position);
    Placed& frame = placed[i];
    if (link.kind == LinkKind::fixed) {
      frame = {at.body, R, p};
    } else {
      const Vector& axis = link.axis;
      const double length = safe_norm(axis);
      if (!(length > 1e-12)) fail(link, "joint axis has no direction: length " + number_text(length));
      const Matrix align = z_to({axis.x() / length, axis.y() / length, axis.z() / length});
      const int b = topology_.size();
      topology_.parent.push_back(at.body);
      topology_.kind.push_back(link.kind == LinkKind::revolute ? JointKind::revolute : JointKind::prismatic);
      R_PJ[b] = product(R, align);
      p_PJ[b] = p;
      frame = {b, align.transposed(), {0, 0, 0}};
      link_of_body_.push_back(i);
      user_index_.push_back(joint_of_link[i]);
      body_of_joint_[joint_of_link[i]] = b;
      links_of_body_.emplace_back();
      rotor_.push_back(link.rotor_inertia);
      friction_.push_back(link.friction);
      stiffness_.push_back(link.stiffness);
      rest_.push_back(link.rest);
    }
    if (frame.body != kWorld) links_of_body_[frame.body].push_back(i);
    const BodySpec& body = link.body;
    const Matrix I = (body.inertia + body.inertia.transposed()) * 0.5;
    (frame.body == kWorld ? to_base : welded[frame.body])
        .add(body.mass, frame.p + product(frame.R, body.com), product(product(frame.R, I), frame.R.transposed()));
    total_mass_ += body.mass;
    stack.insert(stack.end(), children[i].rbegin(), children[i].rend());
  }
  base_moments_ = {to_base.m, to_base.mc, second_moment_of(symmetric(to_base.I))};

  // turn of each body about its own axis: phi of the first child that determines one
  std::vector<Angles> angles(n);
  std::vector<double> turn(n, 0.0);
  std::vector<char> has_turn(n, 0);
  for (int b = 0; b < n; ++b) {
    angles[b] = split(R_PJ[b]);
    const int parent = topology_.parent[b];
    if (parent != kWorld && !angles[b].free && !has_turn[parent]) {
      turn[parent] = angles[b].phi;
      has_turn[parent] = 1;
    }
  }

  body_.resize(n);
  frames_.reserve(count);
  offset_.resize(n);
  topology_.placement.assign(n, kPlain);
  topology_.hinge.assign(n, 0);
  for (int b = 0; b < n; ++b) {
    const int parent = topology_.parent[b];
    const double parent_turn = parent == kWorld ? 0.0 : turn[parent];
    Angles a = angles[b];
    // with alpha = 0 or pi the turn of the parent passes through Rx to the other side
    if (a.free) a.psi -= parent_turn * a.alpha.c, a.phi = parent_turn;
    BodyParams<double>& body = body_[b];
    body.phi = turn_of(a.phi - parent_turn);
    body.alpha = a.alpha;
    if (body.phi.s != 0.0 || body.phi.c != 1.0) topology_.placement[b] = kTurned;
    offset_[b] = static_cast<double>(std::remainder(a.psi + turn[b], 2 * kPi));
    fixed_turn_.push_back(turn_of(offset_[b]));
    if (topology_.kind[b] == JointKind::revolute) {
      turning_.push_back(b);
      has_offset_ |= offset_[b] != 0;
    }
    const Matrix back_parent = rz(turn_of(-parent_turn)), back = rz(turn_of(-turn[b]));
    body.p_PJ = product(back_parent, p_PJ[b]);
    body.axis_P = product(rz(body.phi), {0.0, -body.alpha.s, body.alpha.c});
    body.m = welded[b].m;
    body.mc_B = product(back, welded[b].mc);
    const Matrix I = product(product(back, welded[b].I), back.transposed());
    body.I_BBo_B = symmetric(I);
    body.S_BBo_B = second_moment_of(body.I_BBo_B, I(0, 0) + (I(1, 1) + I(2, 2)));
    has_rotor_ |= rotor_[b] != 0;
    has_friction_ |= friction_[b] != 0;
    has_spring_ |= stiffness_[b] != 0;
    identity_order_ &= user_index_[b] == b;
    topology_.serial &= parent == b - 1;
  }
  for (const Placed& frame : placed) {
    const Matrix back = frame.body == kWorld ? diagonal(1.0) : rz(turn_of(-turn[frame.body]));
    const Matrix R = product(back, frame.R);
    const Vector p = product(back, frame.p);
    bool stands = is_zero(p);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) stands &= R(i, j) == (i == j);
    frames_.push_back({frame.body, R, p, static_cast<int>(frames_.size()), stands});
  }

  std::vector<std::int64_t> carried(n, 0);  // links that a joint moves
  for (const Placed& frame : placed)
    if (frame.body != kWorld) ++carried[frame.body];
  for (int b = n; b-- > 0;)
    if (topology_.parent[b] != kWorld) carried[topology_.parent[b]] += carried[b];
  first_pair_.resize(n);
  std::int64_t pairs = 0;
  for (const int b : body_of_joint_) {
    first_pair_[b] = static_cast<int>(std::min(pairs, kMostPairs));
    pairs += carried[b];
  }
  pairs_ = static_cast<int>(std::min(pairs, kMostPairs));

  topology_.find_ends();
  topology_.branches.assign(n, 0);
  for (int b = 0; b < n; ++b)
    if (const int parent = topology_.parent[b]; parent != kWorld && parent != b - 1) topology_.branches[parent] = 1;

  for (int b = 1; b < n; ++b) {
    const int parent = b - 1;
    if (topology_.parent[b] != parent || topology_.branches[parent] || topology_.kind[b] != JointKind::revolute) continue;
    if (!is_massless(body_[parent]) || !is_zero(body_[b].p_PJ)) continue;
    topology_.hinge[parent] = 1;
    topology_.stacked = true;
    topology_.placement[b] |= kCoincident;
    if (body_[b].alpha.s == 1.0 && body_[b].alpha.c == 0.0) topology_.placement[b] |= kSquare;
  }

  // ancestors as runs: those of the parent, prolonged by the parent itself
  topology_.first_run.push_back(0);
  for (int b = 0; b < n; ++b) {
    const int parent = topology_.parent[b];
    if (parent != kWorld) {
      for (int r = topology_.first_run[parent]; r < topology_.first_run[parent + 1]; ++r)
        topology_.ancestor_runs.push_back(Span(topology_.ancestor_runs[r]));
      const bool own = topology_.first_run[parent] < topology_.first_run[parent + 1];
      if (own && topology_.ancestor_runs.back().end == parent)
        topology_.ancestor_runs.back().end = parent + 1;
      else
        topology_.ancestor_runs.push_back({parent, parent + 1});
    }
    topology_.first_run.push_back(static_cast<int>(topology_.ancestor_runs.size()));
  }

  // a pivot below this is round-off of the outboard inertia: the joint moves no mass
  std::vector<double> mass(n), first(n), second(n);
  tiny_pivot_.resize(n);
  constexpr double kRoundOff = 8 * std::numeric_limits<double>::epsilon();
  for (int b = n; b-- > 0;) {
    mass[b] += body_[b].m;
    first[b] += norm(body_[b].mc_B);
    second[b] += body_[b].I_BBo_B.xx + body_[b].I_BBo_B.yy + body_[b].I_BBo_B.zz;
    const bool revolute = topology_.kind[b] == JointKind::revolute;
    tiny_pivot_[b] = kRoundOff * (revolute ? second[b] : mass[b]);
    if (mass[b] == 0 && second[b] == 0 && rotor_[b] == 0) {
      const LinkSpec& link = links_[link_of_body_[b]];
      suspicions_.emplace_back(link.name, who(link) + "joint '" + link.joint_name + "' moves no mass");
    }
    if (const int p = topology_.parent[b]; p != kWorld) {
      const double r = norm(body_[b].p_PJ);
      mass[p] += mass[b];
      first[p] += first[b] + mass[b] * r;
      second[p] += second[b] + 2 * (2 * first[b] * r + mass[b] * r * r);
    }
  }
}

}  // namespace zveno
