// Our sine and cosine: 2 ulp below the limit, the C library beyond, every lane on its own. Exponential and tanh.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>

#include <zveno/scalar/exponential.hpp>
#include <zveno/scalar/scalars.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

struct SinCos {
  double s, c;
};

template <int N>
SinCos in_lane(double x, int lane, double others) {
  Pack<N> theta(others), s, c;
  theta.v[lane] = x;
  sincos<1>(&theta, &s, &c);
  return {s[lane], c[lane]};
}

SinCos ours(double x) { return in_lane<kLanes>(x, 0, x); }

// multiples of pi/2 and their neighbours, powers of two, the ends of the range, and numbers of every size
std::vector<double> difficult_angles() {
  std::vector<double> x{0.0, 0.25 * kPi, DBL_MIN, DBL_TRUE_MIN, 1e-300, 1e-16, 1e-8, std::nextafter(kTrigLimit, 0)};
  Random random(11);
  const int quadrants = static_cast<int>(kTrigLimit / (kPi / 2));
  for (int i = 0; i < 20000; ++i) {
    const int k = i < 100 ? i : random.below(quadrants);
    double at = k * (kPi / 2) + (i % 3 ? 0 : kPi / 4);
    for (int step = random.below(4); step > 0; --step) at = std::nextafter(at, random.chance(0.5) ? 0 : kTrigLimit);
    x.push_back(at);
    x.push_back(random.uniform(0, kTrigLimit));
    x.push_back(random.uniform(0, 10));
    x.push_back(std::ldexp(random.uniform(1, 2), random.below(60) - 44));
  }
  for (double& xi : x)
    if (random.chance(0.5)) xi = -xi;
  return x;
}

}  // namespace

// the reference needs more digits than double has
#if LDBL_MANT_DIG >= 64
namespace {
double ulps(double got, long double exact) {
  const double nearest = static_cast<double>(exact), size = std::fabs(nearest);
  const double ulp = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(std::fabs((static_cast<long double>(got) - exact) / static_cast<long double>(ulp)));
}
}  // namespace

LAW(exponential_and_tangent_are_off_by_three_ulp_at_most) {
  double worst = 0;
  Random random(12);
  for (int i = 0; i < 200000; ++i) {
    const double size = i % 2 ? random.uniform(0, 40) : std::ldexp(random.uniform(1, 2), random.below(80) - 74);
    const double x = random.chance(0.5) ? size : -size;
    const Packed lanes = Packed::of(&x, 1);
    worst = std::fmax(worst, std::fmax(ulps(expm1_of(lanes)[0], expm1l(x)), ulps(tanh_of(lanes)[0], tanhl(x))));
  }
  CHECK(worst < 3.0);
}
LAW(error_is_at_most_two_ulp_below_the_limit) {
  double worst = 0;
  for (double x : difficult_angles()) {
    if (!(std::fabs(x) < kTrigLimit)) continue;
    const SinCos got = ours(x);
    const double error = std::fmax(ulps(got.s, sinl(x)), ulps(got.c, cosl(x)));
    if (!(error <= 2)) check::fail(__FILE__, __LINE__, "error at " + check::text(x) + " is " + check::text(error) + " ulp");
    worst = std::fmax(worst, error);
  }
  std::printf("  largest error %.3f ulp\n", worst);
}
#endif

LAW(sine_is_odd_and_cosine_even) {
  for (double x : difficult_angles()) {
    if (x == 0) continue;  // the sign of zero is not kept
    const SinCos plus = ours(x), minus = ours(-x);
    CHECK(check::same_bits(plus.s, -minus.s));
    CHECK(check::same_bits(plus.c, minus.c));
  }
  for (double zero : {0.0, -0.0}) {
    CHECK_EQUAL(ours(zero).s, 0.0);
    CHECK_EQUAL(ours(zero).c, 1.0);
  }
}

LAW(beyond_the_limit_the_c_library_answers) {
  for (double x : {kTrigLimit, 123456.789, 1e15, 1e22, DBL_MAX})
    for (double y : {x, -x}) {
      CHECK(check::same_bits(ours(y).s, std::sin(y)));
      CHECK(check::same_bits(ours(y).c, std::cos(y)));
    }
}

LAW(what_is_no_number_has_no_sine) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double x : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(std::isnan(ours(x).s));
    CHECK(std::isnan(ours(x).c));
  }
}

LAW(a_lane_does_not_see_its_neighbours_nor_the_width_of_the_pack) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> angles = difficult_angles();
  for (std::size_t i = 0; i < angles.size(); i += 7) {
    const double x = angles[i];
    const SinCos alone = ours(x);
    for (double others : {0.0, 1e300, nan}) {
      for (const SinCos& got : {in_lane<2>(x, 1, others), in_lane<4>(x, 2, others), in_lane<8>(x, 5, others)}) {
        CHECK(check::same_bits(got.s, alone.s));
        CHECK(check::same_bits(got.c, alone.c));
      }
    }
  }
}

LAW(the_joints_of_one_state_and_the_states_of_a_pack_agree) {
  Random random(12);
  for (int n = 1; n <= 19; ++n) {
    std::vector<double> theta = random.vector(n, -10, 10), s(padded(n)), c(padded(n));
    if (n > 2) theta[1] = 3e6;
    joint_trig(theta.data(), s.data(), c.data(), n);
    for (int i = 0; i < n; ++i) {
      CHECK(check::same_bits(s[i], ours(theta[i]).s));
      CHECK(check::same_bits(c[i], ours(theta[i]).c));
    }
  }
}

LAW(exponential_and_tangent_of_the_ends_of_the_range) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto expm1_at = [](double x) { return expm1_of(Packed(x))[0]; };
  const auto tanh_at = [](double x) { return tanh_of(Packed(x))[0]; };
  CHECK(expm1_at(-inf) == -1 && expm1_at(-800) == -1 && expm1_at(0) == 0);
  CHECK(expm1_at(inf) > 8e307 && std::isnan(expm1_at(std::nan(""))));
  CHECK(tanh_at(inf) == 1 && tanh_at(-inf) == -1 && tanh_at(0) == 0 && tanh_at(-1e-300) == -1e-300);
  CHECK(std::isnan(tanh_at(std::nan(""))));
}
