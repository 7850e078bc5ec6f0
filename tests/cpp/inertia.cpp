// Moments of mass against clouds of points, whose moments are sums.
#include <cmath>
#include <vector>

#include <zveno/model/inertial.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

struct Point {
  double m;
  Vec3<double> p;
};
using Cloud = std::vector<Point>;

Cloud random_cloud(Random& random, int count = 7) {
  Cloud cloud;
  for (int i = 0; i < count; ++i) cloud.push_back({random.uniform(0.1, 2), random.vector3(0.5)});
  return cloud;
}

// p -> shift + R p
Cloud placed(const Mat3<double>& R, const Vec3<double>& shift, Cloud cloud) {
  for (Point& point : cloud) point.p = shift + times(R, point.p);
  return cloud;
}

Moments<double> moments(const Cloud& cloud) {
  Moments<double> sum{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}};
  for (const auto& [m, p] : cloud) {
    sum.m += m;
    sum.mc += p * m;
    sum.S.xx += m * p.x() * p.x(), sum.S.xy += m * p.x() * p.y(), sum.S.xz += m * p.x() * p.z();
    sum.S.yy += m * p.y() * p.y(), sum.S.yz += m * p.y() * p.z(), sum.S.zz += m * p.z() * p.z();
  }
  return sum;
}

// sum of -m p~ p~
Inertia<double> inertia(const Cloud& cloud) {
  Mat3<double> I = diagonal(0.0);
  for (const auto& [m, p] : cloud) I = I + times(skew(p), skew(p)) * -m;
  const Moments<double> x = moments(cloud);
  return {x.m, x.mc, {I(0, 0), I(0, 1), I(0, 2), I(1, 1), I(1, 2), I(2, 2)}};
}

void check_same(const char* what, const Inertia<double>& got, const Inertia<double>& want) {
  double a[kInertial], b[kInertial];
  write_inertial(got, a);
  write_inertial(want, b);
  CHECK_NEAR(what, a, b, kInertial, 1e-14 * 40);
}
void check_same(const char* what, const Moments<double>& got, const Moments<double>& want) {
  const double a[] = {got.m, got.mc.x(), got.mc.y(), got.mc.z(), got.S.xx, got.S.xy, got.S.xz, got.S.yy, got.S.yz, got.S.zz};
  const double b[] = {want.m,    want.mc.x(), want.mc.y(), want.mc.z(), want.S.xx,
                      want.S.xy, want.S.xz,   want.S.yy,   want.S.yz,   want.S.zz};
  CHECK_NEAR(what, a, b, 10, 1e-14 * 40);
}

// a frame as `moved` of an inertia wants it
struct Frame {
  Mat3<double> R;
  Vec3<double> p;
  Vec3<double> to_parent(const Vec3<double>& a) const { return times(R, a); }
  Sym3<double> to_parent(const Sym3<double>& a) const { return rotated(R, a); }
  bool coincident() const { return false; }
};

BodySpec body(const Cloud& cloud) {
  const Moments<double> x = moments(cloud);
  BodySpec spec;
  spec.mass = x.m;
  spec.com = x.mc * (1 / x.m);
  spec.inertia = dense(inertia(placed(diagonal(1.0), -spec.com, cloud)).I);
  return spec;
}

Cloud together(Cloud a, const Cloud& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

LAW(moments_rotate_shift_and_add_like_points) {
  Random random(70);
  for (int i = 0; i < 50; ++i) {
    const Cloud cloud = random_cloud(random), other = random_cloud(random, 4);
    const Mat3<double> R = random.rotation();
    const Vec3<double> p = random.vector3(1);
    const Moments<double> x = moments(cloud);
    check_same("rotated", rotated(R, x), moments(placed(R, {0, 0, 0}, cloud)));
    check_same("shifted", shifted(p, x), moments(placed(diagonal(1.0), p, cloud)));
    check_same("moved", moved(R, p, x), moments(placed(R, p, cloud)));
    check_same("sum", x + moments(other), moments(together(cloud, other)));
  }
}

LAW(inertias_move_and_add_like_points) {
  Random random(71);
  for (int i = 0; i < 50; ++i) {
    const Cloud cloud = random_cloud(random), other = random_cloud(random, 4);
    const Mat3<double> R = random.rotation();
    const Vec3<double> p = random.vector3(1);
    check_same("moved", moved(Frame{R, p}, inertia(cloud)), inertia(placed(R, p, cloud)));
    Inertia<double> sum = inertia(cloud);
    sum.add(inertia(other));
    check_same("sum", sum, inertia(together(cloud, other)));
  }
}

LAW(the_two_forms_of_second_moments_turn_into_each_other) {
  Random random(72);
  for (int i = 0; i < 50; ++i) {
    const Cloud cloud = random_cloud(random);
    check_same("inertia of moments", inertia_of(moments(cloud)), inertia(cloud));
    check_same("moments of inertia", moments_of(inertia(cloud)), moments(cloud));
    double p[kInertial];
    write_inertial(inertia(cloud), p);
    check_same("numbers", inertia_from(p), inertia(cloud));
  }
}

LAW(a_body_about_its_origin_and_back) {
  Random random(73);
  for (int i = 0; i < 50; ++i) {
    const Cloud cloud = random_cloud(random);
    const BodySpec given = body(cloud);
    check_same("about the origin", inertia_of(given), inertia(cloud));
    const BodySpec back = body_of(inertia(cloud));
    CHECK_NEAR("mass", &back.mass, &given.mass, 1, 0.0);
    for (int k = 0; k < 3; ++k) CHECK_NEAR("com", &back.com[k], &given.com[k], 1, 1e-15);
    for (int k = 0; k < 9; ++k) CHECK_NEAR("inertia", &back.inertia(k / 3, k % 3), &given.inertia(k / 3, k % 3), 1, 1e-14);
  }
  const BodySpec massless = body_of({0, {0, 0, 0}, {1, 0, 0, 2, 0, 3}});
  CHECK_EQUAL(massless.com.x(), 0.0);
  CHECK_EQUAL(massless.inertia(1, 1), 2.0);
  CHECK_THROWS(body_of({0, {0, 1, 0}, {1, 0, 0, 2, 0, 3}}), ModelError, "mass is zero but the first moment is not");
}

// every link about its own origin, moved to the body, makes up the body
LAW(links_make_up_their_bodies) {
  Random random(74);
  for (const Wanted& wanted : mechanisms(6)) {
    const Chain chain = make(random_links(random, wanted));
    std::vector<int> seen(chain.links().size(), 0);
    for (int b = 0; b < chain.n(); ++b) {
      Moments<double> sum{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}};
      CHECK(chain.links()[chain.links_of_body(b).front()].joint_name == chain.joint_names()[chain.user_index()[b]]);
      for (int i : chain.links_of_body(b)) {
        const LinkFrame& frame = chain.frame(i);
        CHECK_EQUAL(frame.body, b);
        double p[kInertial];
        link_parameters(chain, i, p);
        sum = sum + moved(frame.R_BU, frame.p_BoUo_B, moments_of(inertia_from(p)));
        ++seen[i];
      }
      check_same("body", sum, moments_of(chain.body(b)));
    }
    for (std::size_t i = 0; i < seen.size(); ++i)
      CHECK_EQUAL(seen[i], chain.frame(static_cast<int>(i)).body == kWorld ? 0 : 1);
  }
}
