// The steps of closed forms of arms: what they solve, at the boundary and beyond it, in every scalar, and their counts.
#include <cmath>

#include <zveno/kernel/arm/closed_form.hpp>
#include <zveno/scalar/scalars.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

using V = Vec3<double>;

// to an absolute tolerance
#define CLOSE(GOT, EXPECTED, TOLERANCE) CHECK(std::fabs((GOT) - (EXPECTED)) < (TOLERANCE))

V unit_of(Random& random) {
  V a{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
  return a * (1 / length_of(a));
}
V vector_of(Random& random) { return {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}; }
bool finite(const Turn<double>& t) { return std::fabs(t.s * t.s + t.c * t.c - 1) < 1e-14; }

}  // namespace

LAW(a_plane_is_met_inside_and_approached_outside) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const double A = random.uniform(-1, 1), B = random.uniform(-1, 1), C = 1.5 * random.uniform(-1, 1), r = std::hypot(A, B);
    const TwoTurns<double> t = meet(A, B, C);
    CLOSE(t.miss, std::fmax(0.0, std::fabs(C) - r), 1e-14);
    for (const Turn<double>& x : t.turn) {
      CHECK(finite(x));
      if (std::fabs(C) < r)
        CLOSE(A * x.c + B * x.s, C, 1e-13);
      else
        CLOSE(A * x.c + B * x.s, std::copysign(r, C), 1e-13);
    }
  }
  const TwoTurns<double> nothing = meet(0.0, 0.0, 0.0);
  CHECK(finite(nothing.turn[0]) && finite(nothing.turn[1]));
}

LAW(a_turn_brings_a_vector_nearest_to_another) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const V k = unit_of(random), p = vector_of(random), w = vector_of(random);
    const OneTurn<double> t = turn_to(k, p, w);
    const double left = length_of<double>(turned(k, t.turn, p) - w);
    CLOSE(left, gap_after_turn(k, p, w), 1e-13);
    const Turn<double> aside = product(t.turn, Turn<double>{std::sin(0.1), std::cos(0.1)});
    CHECK(length_of<double>(turned(k, aside, p) - w) >= left);
  }
  const V k{0, 0, 1}, along{0, 0, 2};
  CHECK_EQUAL(turn_to(k, along, along).turn.s, 0.0);  // indefinite: no turn
}

LAW(a_distance_is_met_and_a_folded_arm_keeps_its_digits) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const V k = unit_of(random), p = vector_of(random), w = vector_of(random);
    const Turn<double> some = unit_turn(random.uniform(-1, 1), random.uniform(-1, 1));
    const double d = length_of<double>(turned(k, some, p) - w);
    const TwoTurns<double> t = turn_to_distance(k, p, w, d);
    CLOSE(t.miss, 0.0, 1e-12);
    for (const Turn<double>& x : t.turn) CLOSE(length_of<double>(turned(k, x, p) - w), d, 1e-12);
    const double most = length_of(across(k, p)) + length_of(across(k, w));
    const double h = dot<double>(k, p - w), far = std::hypot(most + 0.3, h);
    const TwoTurns<double> beyond = turn_to_distance(k, p, w, far);
    CLOSE(beyond.miss, 0.3, 1e-9);
    CHECK(finite(beyond.turn[0]) && finite(beyond.turn[1]));
  }
  const V k{0, 0, 1}, a{1, 0, 0};
  const double small = 1e-9;  // two equal arms, nearly folded
  const TwoTurns<double> folded = turn_to_distance(k, a, a, small);
  CLOSE(std::fabs(folded.turn[0].s) / small, 1.0, 1e-14);
}

LAW(an_angle_keeps_its_digits_at_both_ends) {
  const V k{0, 1, 0}, p{0, 0, 1};
  for (const double t : {1e-12, 1e-6, 0.3, 3.0, 3.14159}) {
    const V w = turned<double>(k, {std::sin(t), std::cos(t)}, p);
    const TwoTurns<double> found = turn_to_angle(p, k, p, w);
    CLOSE(std::fabs(found.turn[0].s) / std::sin(t), 1.0, 1e-9);
    CLOSE(found.turn[0].c, std::cos(t), 1e-15);
  }
}

LAW(four_roots_are_those_that_made_the_samples) {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    // product of two plane equations: their roots are known
    const double A = random.uniform(-1, 1), B = random.uniform(-1, 1), C = 0.9 * std::hypot(A, B) * random.uniform(-1, 1);
    const double D = random.uniform(-1, 1), E = random.uniform(-1, 1), F = 0.9 * std::hypot(D, E) * random.uniform(-1, 1);
    double f[5];
    for (int m = 0; m < 5; ++m) {
      const double s = detail::kFifth[0][m], c = detail::kFifth[1][m];
      f[m] = (A * c + B * s - C) * (D * c + E * s - F);
    }
    const FourTurns<double> roots = four_roots(f);
    const TwoTurns<double> one = meet(A, B, C), two = meet(D, E, F);
    for (const Turn<double>& want : {one.turn[0], one.turn[1], two.turn[0], two.turn[1]}) {
      double nearest = 10;
      for (const Turn<double>& x : roots.turn) nearest = std::fmin(nearest, std::hypot(x.s - want.s, x.c - want.c));
      CHECK(nearest < 1e-5);  // close pairs lose digits
    }
    for (const double miss : roots.miss) CHECK_EQUAL(miss, 0.0);
  }
}

LAW(lanes_have_the_bits_of_numbers) {
  Random random(6);
  for (int i = 0; i < 200; ++i) {
    const V k = unit_of(random), p = vector_of(random), w = vector_of(random);
    const double d = std::fabs(random.uniform(-1, 1));
    const TwoTurns<double> one = turn_to_distance(k, p, w, d);
    const TwoTurns<Packed> all = turn_to_distance(cast<Packed>(k), cast<Packed>(p), cast<Packed>(w), Packed(d));
    for (int b = 0; b < 2; ++b) {
      CHECK_EQUAL(all.turn[b].s[kLanes - 1], one.turn[b].s);
      CHECK_EQUAL(all.turn[b].c[0], one.turn[b].c);
    }
    CHECK_EQUAL(all.miss[0], one.miss);
  }
}

LAW(steps_can_be_counted) {
  Counted::reset();
  meet(Counted(0.3), Counted(0.4), Counted(0.1));
  const Counts& c = Counted::now();
  CHECK_EQUAL(static_cast<double>(c.trig), 0.0);  // sines and cosines only
  CHECK_EQUAL(static_cast<double>(c.sqrt), 2.0);
  CHECK(c.mul > 0 && c.mul < 40);
}
