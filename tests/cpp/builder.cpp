// From links to a model: what is refused, what is tolerated, and how fast.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <map>

#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

std::vector<LinkSpec> three_links() {
  Random random(40);
  return {random_link(random, "shoulder", "base", LinkKind::revolute),
          random_link(random, "elbow", "shoulder", LinkKind::prismatic),
          random_link(random, "wrist", "elbow", LinkKind::revolute)};
}

// after `spoil`, the model is refused with a message that contains `text` and names the link
template <class Spoil>
void refused(int line, Spoil&& spoil, const std::string& link, const std::string& text) {
  std::vector<LinkSpec> links = three_links();
  spoil(links);
  try {
    make(links);
  } catch (const ModelError& error) {
    const std::string message = error.what();
    if (message.find(text) == std::string::npos)
      check::fail(__FILE__, line, "message " + check::text(message) + " lacks " + check::text(text));
    if (error.link != link)
      check::fail(__FILE__, line, "error names " + check::text(error.link) + ", expected " + check::text(link));
    if (message.find(link) == std::string::npos)
      check::fail(__FILE__, line, check::text(message) + " does not name the link");
    return;
  }
  check::fail(__FILE__, line, "accepted, expected an error with " + check::text(text));
}
#define REFUSED(CHANGE, LINK, TEXT) refused(__LINE__, [](std::vector<LinkSpec>& links) { CHANGE; }, LINK, TEXT)

Mat3<double> principal(double x, double y, double z) { return dense(Sym3<double>{x, 0, 0, y, 0, z}); }

using Pose = std::array<double, 16>;  // row major

Pose pose(const Chain& chain, const std::vector<double>& q, int link) {
  Job job{&chain, Function::pose};
  job.frame = chain.frame(link);
  Pose H;
  double* const to[1] = {H.data()};
  States states(job, {q.data(), nullptr, nullptr}, nullptr, 1);
  evaluate(job, states.rows(0, 1, to));
  return H;
}

Vec3<double> unit(const Vec3<double>& a) { return a * (1 / std::sqrt(dot(a, a))); }

// straight from the definition of LinkSpec
Pose pose_by_definition(const Chain& chain, const std::vector<double>& q, int link) {
  std::map<std::string, double> position;
  for (std::size_t j = 0; j < q.size(); ++j) position[chain.joint_names()[j]] = q[j];
  Mat3<double> R = diagonal(1.0);
  Vec3<double> p{0, 0, 0};
  for (int i = link; i >= 0; i = chain.find_link(chain.links()[i].parent)) {
    const LinkSpec& l = chain.links()[i];
    if (l.kind == LinkKind::revolute) {
      const Mat3<double> turn = rotation_about(l.axis, position[l.joint_name]);
      R = times(turn, R);
      p = times(turn, p);
    } else if (l.kind == LinkKind::prismatic) {
      p += unit(l.axis) * position[l.joint_name];
    }
    R = times(l.rotation, R);
    p = l.position + times(l.rotation, p);
  }
  return {R(0, 0), R(0, 1), R(0, 2), p.x(), R(1, 0), R(1, 1), R(1, 2), p.y(),
          R(2, 0), R(2, 1), R(2, 2), p.z(), 0.0,     0.0,     0.0,     1.0};
}

void check_poses(const std::string& what, const Chain& chain, const std::vector<double>& q) {
  for (int i = 0; i < static_cast<int>(chain.links().size()); ++i) {
    const Pose got = pose(chain, q, i), expected = pose_by_definition(chain, q, i);
    CHECK_NEAR(what + ", " + chain.links()[i].name, got.data(), expected.data(), 16, 2e-14 * (chain.n() + 1));
  }
}

// processor time to build a model: other processes do not count
double seconds(const std::vector<LinkSpec>& links) {
  double best = kInfinity;
  for (int i = 0; i < 3; ++i) {
    std::vector<LinkSpec> copy = links;
    const std::clock_t start = std::clock();
    const Chain chain("long", "base", {0, 0, -9.81}, std::move(copy));
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// link i hangs on link parent(i); -1 is the base
template <class Parent>
std::vector<LinkSpec> many_links(int count, Parent&& parent) {
  std::vector<LinkSpec> links(count);
  for (int i = 0; i < count; ++i) {
    LinkSpec& link = links[i];
    link.name = "l" + std::to_string(i);
    link.joint_name = "j" + std::to_string(i);
    const int p = parent(i);
    link.parent = p < 0 ? "base" : "l" + std::to_string(p);
    link.kind = i % 5 == 4 ? LinkKind::prismatic : LinkKind::revolute;
    link.position = {0.1, 0, 0.02};
    link.body.mass = 1;
    link.body.inertia = diagonal(0.01);
  }
  return links;
}

int in_line(int i) { return i - 1; }
int comb(int i) { return i % 2 ? i - 1 : i - 2; }  // a spine of the even links, a tooth on each
int star(int) { return -1; }
int binary(int i) { return (i - 1) / 2 - (i == 0); }

}  // namespace

LAW(numbers_without_mechanical_sense_are_refused) {
  REFUSED(links[1].body.mass = -0.5, "elbow", "mass -0.5 is negative");
  REFUSED(links[1].rotor_inertia = -1, "elbow", "rotor_inertia -1 is negative");
  REFUSED(links[1].friction = -2, "elbow", "friction -2 is negative");
  REFUSED(links[1].stiffness = -3, "elbow", "stiffness -3 is negative");
  for (double bad : {kNan, kInfinity, -kInfinity}) {
    static double x;
    x = bad;
    REFUSED(links[2].body.mass = x, "wrist", "mass is not finite");
    REFUSED(links[2].rotor_inertia = x, "wrist", "rotor_inertia is not finite");
    REFUSED(links[2].friction = x, "wrist", "friction is not finite");
    REFUSED(links[2].stiffness = x, "wrist", "stiffness is not finite");
    REFUSED(links[2].rest = x, "wrist", "rest is not finite");
    REFUSED(links[2].axis[1] = x, "wrist", "axis is not finite");
    REFUSED(links[2].position[1] = x, "wrist", "position is not finite");
    REFUSED(links[2].rotation(0, 1) = x, "wrist", "rotation is not finite");
    REFUSED(links[2].body.com[1] = x, "wrist", "com is not finite");
    REFUSED(links[2].body.inertia(0, 1) = x, "wrist", "inertia is not finite");
    CHECK_THROWS(Chain("m", "base", {0, x, 0}, three_links()), ModelError, "gravity is not finite");
  }
  REFUSED(links[0].body.mass = 1e150, "shoulder", "too large");
  REFUSED(links[0].body.com = links[0].body.com * 1e200, "shoulder", "too large");
}

LAW(inertias_that_no_matter_has_are_refused) {
  REFUSED(links[1].body.inertia(0, 2) += 0.1, "elbow", "inertia is not symmetric");
  REFUSED(links[1].body.inertia = principal(0.1, 0.1, -0.1), "elbow", "inertia eigenvalue -0.1");
  std::vector<LinkSpec> links = three_links();
  links[1].body.inertia = principal(0.1, 0.1, 0.5);
  const Chain chain = make(links);
  CHECK_EQUAL(chain.suspicions().size(), std::size_t{1});
  CHECK_EQUAL(chain.suspicions().at(0).first, std::string("elbow"));
  CHECK(chain.suspicions().at(0).second.find("triangle inequality") != std::string::npos);
}

LAW(placements_that_are_no_placements_are_refused) {
  REFUSED(links[1].rotation = links[1].rotation * -1.0, "elbow", "left-handed");
  REFUSED(links[1].rotation = links[1].rotation * 1.001, "elbow", "not orthonormal");
  REFUSED(links[1].rotation = diagonal(0.0), "elbow", "not orthonormal");
  REFUSED(links[1].axis = zero3<double>(), "elbow", "no direction");
}

LAW(names_are_checked) {
  REFUSED(links[2].name = "elbow", "elbow", "used twice");
  REFUSED(links[2].joint_name = links[0].joint_name, "wrist", "used twice");
  REFUSED(links[1].name = "", "", "empty name");
  REFUSED(links[1].name = "base", "base", "name of the base");
  REFUSED(links[1].parent = "knee", "elbow", "unknown parent 'knee'");
}

LAW(links_hang_on_the_base) {
  REFUSED(links[0].parent = "wrist", "shoulder", "loop");
  REFUSED(links[1].parent = "wrist", "elbow", "loop");
  REFUSED(links[2].parent = "wrist", "wrist", "loop");
}

LAW(a_chain_needs_a_moving_joint) {
  CHECK_THROWS(Chain("none", "base", {0, 0, 0}, {}), ModelError, "no links", CHECK_EQUAL(error.link, std::string()));
  std::vector<LinkSpec> links = three_links();
  for (LinkSpec& link : links) link.kind = LinkKind::fixed;
  CHECK_THROWS(make(links), ModelError, "no moving joint");
  CHECK_THROWS(make(many_links(100001, in_line)), ModelError, "100001");
}

LAW(axes_of_any_length_are_directions) {
  for (double length : {1e-9, 1e-3, 1e3, 1e100, 1e160, 1e300}) {
    std::vector<LinkSpec> links = three_links();
    for (LinkSpec& link : links) link.axis = unit(link.axis) * length;
    const std::vector<double> q{0.3, -0.2, 1.1};
    const Pose got = pose(make(links), q, 2), expected = pose_by_definition(make(three_links()), q, 2);
    CHECK_NEAR("axis of length " + check::text(length), got.data(), expected.data(), 16, 1e-14);
  }
}

LAW(poses_follow_from_the_definition_of_a_link) {
  for (const Wanted& wanted : mechanisms(12)) {
    Random random(41 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    check_poses("n = " + std::to_string(wanted.n), chain, random.vector(chain.n()));
  }
}

LAW(nearly_parallel_axes_are_no_special_case) {
  Random random(42);
  for (int exponent = 1; exponent <= 20; ++exponent)
    for (const bool opposite : {false, true}) {
      std::vector<LinkSpec> links;
      for (int i = 0; i < 6; ++i) {
        LinkSpec link = random_link(random, "l" + std::to_string(i), i ? links.back().name : "base", LinkKind::revolute);
        if (i == 3) link.kind = LinkKind::prismatic;
        link.axis = {0, 0, 1};
        const double tilt = std::pow(10, -exponent) * random.uniform(1, 10) + (opposite ? kPi : 0);
        const double direction = random.uniform(-kPi, kPi);
        const Vec3<double> about{std::cos(direction), std::sin(direction), 0};
        link.rotation = times(rotation_about(about, tilt), rotation_about({0, 0, 1}, random.uniform(-3, 3)));
        links.push_back(link);
      }
      check_poses("tilt 1e-" + std::to_string(exponent), make(links), random.vector(6));
    }
}

LAW(a_rotation_with_round_off_is_made_orthonormal) {
  std::vector<LinkSpec> links = three_links();
  links[1].rotation = links[1].rotation * (1 + 1e-8);
  const std::vector<double> q{0.3, -0.2, 1.1};
  const Pose got = pose(make(links), q, 2), expected = pose(make(three_links()), q, 2);
  CHECK_NEAR("pose", got.data(), expected.data(), 16, 1e-14);
}

LAW(building_takes_time_in_proportion) {
  // a quadratic step would take 16 times longer for four times the links
  for (const auto& [name, parent] :
       {std::pair<const char*, int (*)(int)>{"chain", in_line}, {"comb", comb}, {"star", star}, {"binary tree", binary}}) {
    const double small = seconds(many_links(5000, parent)), large = seconds(many_links(20000, parent));
    std::printf("  %s of 20000 links: %.0f ms\n", name, 1e3 * large);
    if (!(large < 12 * small))
      check::fail(__FILE__, __LINE__,
                  std::string(name) + ": 5000 links take " + check::text(small) + " s, 20000 " + check::text(large));
  }
}

LAW(ancestors_come_in_few_runs) {
  constexpr int kCount = 20000;
  for (int (*parent)(int) : {in_line, comb, star, binary}) {
    const Chain chain = Chain("long", "base", {0, 0, -9.81}, many_links(kCount, parent));
    const Topology& t = chain.topology();
    CHECK(static_cast<double>(t.ancestor_runs.size()) <= kCount * std::log2(kCount));
    for (int b = 0; b < kCount; b += 97) {
      std::vector<int> ancestors, expected;
      for (int r = t.first_run[b]; r < t.first_run[b + 1]; ++r)
        for (int i = t.ancestor_runs[r].begin; i < t.ancestor_runs[r].end; ++i) ancestors.push_back(i);
      for (int i = t.parent[b]; i != kWorld; i = t.parent[i]) expected.push_back(i);
      std::reverse(expected.begin(), expected.end());
      CHECK(ancestors == expected);
    }
  }
}

LAW(a_long_chain_can_be_computed_with) {
  constexpr int kCount = 20000;
  for (int (*parent)(int) : {in_line, comb, binary}) {
    const Chain chain = Chain("long", "base", {0, 0, -9.81}, many_links(kCount, parent));
    Random random(43);
    const std::vector<double> q = random.vector(kCount, -0.01, 0.01), qd(kCount, 0.0),
                              qdd = random.vector(kCount, -0.01, 0.01);
    std::vector<double> tau(kCount);
    inverse_dynamics(chain, q.data(), qd.data(), qdd.data(), tau.data());
    for (double t : tau) CHECK(std::isfinite(t));
  }
}
