// The leg kernels with every scalar: double, counter and lanes give the same bits, duals the derivatives.
#include <algorithm>
#include <cmath>

#include <zveno/functions/legs.hpp>
#include <zveno/zveno.hpp>

#include "check.hpp"
#include "hexapods.hpp"

using namespace zveno;

namespace {

double number(double x) { return x; }
double number(const Counted& x) { return x.value(); }

// a leg's part of one forward dynamics call: share, measures, outcome
struct Numbers {
  double share[leg::kFreeShare], measure[4], outcome[22];
};

// r, R, u, flow of the base; accelerations of base and ring that the second half is told
struct Input {
  double ring[kInput], x[12];
};

template <class S, class T, bool kFree, class B>
void run_leg(const double* params, const Input& in, const double* tau, const B& base, Numbers& out) {
  T state[18], x[12], t[4], share[leg::kFreeShare], measure[4];
  for (int i = 0; i < 18; ++i) state[i] = in.ring[i];
  for (int i = 0; i < 12; ++i) x[i] = in.x[i];
  for (int i = 0; i < 4; ++i) t[i] = tau[i];
  const auto ring = make_ring<T>(state, state + 3, state + 12, base);
  const leg::LegEvaluation<S, T, decltype(ring)> evaluation{{params}, ring};
  alignas(leg::FirstHalf<S, T>) unsigned char memory[sizeof(leg::FirstHalf<S, T>)];
  auto& held = *reinterpret_cast<leg::FirstHalf<S, T>*>(memory);
  const auto flow = evaluation.template first<kFree>(share, measure, held);
  leg::drive(t, held, share + leg::kRight, false);
  leg::Outcome<T> outcome;
  if constexpr (kFree)
    leg::second({params}, held, flow, x + 6, outcome.places(), true,
                leg::Motion{AnyVec<T>{x[0], x[1], x[2]}, AnyVec<T>{x[3], x[4], x[5]}});
  else
    leg::second({params}, held, flow, x, outcome.places());
  for (int i = 0; i < (kFree ? leg::kFreeShare : leg::kFixedShare); ++i) out.share[i] = number(share[i]);
  for (int i = 0; i < 4; ++i) {
    out.measure[i] = number(measure[i]);
    out.outcome[i] = number(outcome.position[i]), out.outcome[4 + i] = number(outcome.rate[i]);
    out.outcome[8 + i] = number(outcome.acceleration[i]), out.outcome[12 + i] = number(outcome.reaction[i]);
  }
  for (int i = 0; i < 6; ++i) out.outcome[16 + i] = number(outcome.base[i]);
}

template <class T>
MovingBase<T> moving(const Input& in) {
  T b[9];
  std::copy_n(in.ring + 18, 9, b);
  return moving_base(b);
}

// the library's code: kLanes legs of a group from number `at` on
void run_lanes(const LegCalls& calls, const double* params, const Input& in, const double (*tau)[4], int lanes, bool free,
               Numbers* out) {
  Packed ring[kInput], x[12], t[4], share[leg::kFreeShare], measure[4];
  for (int i = 0; i < kInput; ++i) ring[i] = in.ring[i];
  for (int i = 0; i < 12; ++i) x[i] = in.x[i];
  for (int j = 0; j < 4; ++j) {
    double lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = tau[l < lanes ? l : 0][j];
    t[j] = Packed::load(lane);
  }
  std::vector<CacheLine> held(calls.lines);
  leg::Outcome<Packed> outcome;
  calls.first(params, ring, held.data(), share, measure, nullptr);
  std::vector<CacheLine> before = held;
  calls.drive(t, held.data(), share + leg::kRight, false);
  calls.second(params, held.data(), x, outcome.places(), true);

  // added to what was there
  Packed sum[leg::kFixedShare], expected[leg::kFixedShare], rest[leg::kFreeShare], again[4];
  for (int i = 0; i < leg::kFixedShare; ++i) sum[i] = 0.3 * i - 1, expected[i] = sum[i] + share[i];
  calls.drive(t, before.data(), sum + leg::kRight, true);
  calls.first(params, ring, before.data(), rest, again, sum);
  const auto same = [](const char* what, const Packed* a, const Packed* b, int count) {
    CHECK_SAME(what, reinterpret_cast<const double*>(a), reinterpret_cast<const double*>(b), count * kLanes);
  };
  same("sums", sum, expected, leg::kFixedShare);
  if (free) same("rest of the share", rest + leg::kFixedShare, share + leg::kFixedShare, leg::kFreeShare - leg::kFixedShare);
  same("measures", again, measure, 4);
  for (int l = 0; l < lanes; ++l) {
    for (int i = 0; i < (free ? leg::kFreeShare : leg::kFixedShare); ++i) out[l].share[i] = share[i][l];
    for (int i = 0; i < 4; ++i) {
      out[l].measure[i] = measure[i][l];
      out[l].outcome[i] = outcome.position[i][l], out[l].outcome[4 + i] = outcome.rate[i][l];
      out[l].outcome[8 + i] = outcome.acceleration[i][l], out[l].outcome[12 + i] = outcome.reaction[i][l];
    }
    for (int i = 0; i < 6; ++i) out[l].outcome[16 + i] = outcome.base[i][l];
  }
}

template <LegType kType>
void compare_scalars(bool symmetric) {
  using Symmetric = leg::Structure<kType, true>;
  using Full = leg::Structure<kType, false>;
  const Hexapod hexapod = make_hexapod(leg_specs(kType, symmetric));
  CHECK_EQUAL(hexapod.groups().size(), std::size_t{1});
  const LegGroup& group = hexapod.groups()[0];
  CHECK_EQUAL(group.symmetric, symmetric);
  Random random(110);
  const RingStates states(random, hexapod, 3);
  for (int row = 0; row < 3; ++row) {
    Input in;
    std::copy_n(&states.r[3 * row], 3, in.ring), std::copy_n(&states.R[9 * row], 9, in.ring + 3);
    std::copy_n(&states.u[6 * row], 6, in.ring + 12), std::copy_n(&states.base[9 * row], 9, in.ring + 18);
    for (double& x : in.x) x = random.uniform(-1, 1);
    double tau[kLegs + kLanes][4];
    for (auto& leg : tau)
      for (double& t : leg) t = random.uniform(-20, 20);

    for (const BaseKind base : {BaseKind::still, BaseKind::moving, BaseKind::free}) {
      const bool free = base == BaseKind::free;
      const LegCalls calls = leg_calls<kType>(group.symmetric, base);
      for (int at = 0; at < kLegs; at += kLanes) {
        Numbers lanes[kLanes];
        const int count = std::min(kLanes, kLegs - at);
        run_lanes(calls, group.params.number + at, in, tau + at, count, free, lanes);
        for (int l = 0; l < count; ++l) {
          const double* params = group.params.number + at + l;
          Numbers plain, counted;
          const bool short_form = symmetric && !free;
          if (free)
            run_leg<Full, double, true>(params, in, tau[at + l], moving<double>(in), plain);
          else if (base == BaseKind::moving && symmetric)
            run_leg<Symmetric, double, false>(params, in, tau[at + l], moving<double>(in), plain);
          else if (base == BaseKind::moving)
            run_leg<Full, double, false>(params, in, tau[at + l], moving<double>(in), plain);
          else if (symmetric)
            run_leg<Symmetric, double, false>(params, in, tau[at + l], StillBase(), plain);
          else
            run_leg<Full, double, false>(params, in, tau[at + l], StillBase(), plain);
          const std::string what = name_of(kType) + (short_form ? " symmetric" : " full") + " base " +
                                   std::to_string(static_cast<int>(base)) + " leg " + std::to_string(at + l);
          const auto same = [&](const std::string& who, const Numbers& got) {
            CHECK_SAME(what + who + ": share", got.share, plain.share, free ? leg::kFreeShare : leg::kFixedShare);
            CHECK_SAME(what + who + ": measures", got.measure, plain.measure, 4);
            CHECK_SAME(what + who + ": outcome", got.outcome, plain.outcome, 22);
          };
          same(" in lanes", lanes[l]);
          // counters on the longest and the shortest code
          if (free)
            run_leg<Full, Counted, true>(params, in, tau[at + l], moving<Counted>(in), counted);
          else if (base == BaseKind::still && symmetric)
            run_leg<Symmetric, Counted, false>(params, in, tau[at + l], StillBase(), counted);
          else
            continue;
          same(" counted", counted);
        }
      }
    }
  }
}

// d p / d t of a leg whose ring moves with u, by duals; the numbers stand in all lanes alike
template <LegType kType>
void derive_closure(const Hexapod& hexapod, int k, const double* r, const double* R, const double* u, double* p,
                    double* pd) {
  using S = leg::Structure<kType, false>;
  const LegGroup& group = hexapod.groups()[0];
  Derived state[18];
  for (int i = 0; i < 3; ++i) {
    state[i] = {r[i], u[i]};
    const double *row = R + 3 * i, *w = u + 3;  // R' = R w~
    const double rate[3] = {row[1] * w[2] - row[2] * w[1], row[2] * w[0] - row[0] * w[2], row[0] * w[1] - row[1] * w[0]};
    for (int j = 0; j < 3; ++j) state[3 + 3 * i + j] = {row[j], rate[j]};
  }
  for (int i = 12; i < 18; ++i) state[i] = 0.0;
  const auto ring = make_ring<Derived>(state, state + 3, state + 12, StillBase());
  leg::Closing<Derived, false> closing;
  const leg::Pose<S, Derived> pose({group.params.number + k}, ring, closing);
  Derived q[4];
  pose.coordinates(q);
  for (int i = 0; i < 4; ++i) p[i] = q[i].v[0], pd[i] = q[i].g[kLanes - 1];
}

std::vector<double> evaluated(const Hexapod& hexapod, HexFunction function, const double* r, const double* R,
                              const double* u = nullptr) {
  const HexJob job{&hexapod, function};
  std::vector<double> out(static_cast<std::size_t>(result_size(job)));
  Rows rows;
  rows[Param::r].data = r, rows[Param::R].data = R, rows[Param::u].data = u;
  rows.out[0] = out.data();
  rows.count = 1;
  evaluate(job, rows);
  return out;
}

template <LegType kType>
void compare_derivatives() {
  const Hexapod hexapod = make_hexapod(leg_specs(kType, false));
  const int nj = hexapod.joints();
  Random random(111);
  const RingStates states(random, hexapod, 4);
  for (int row = 0; row < 4; ++row) {
    const double *r = &states.r[3 * row], *R = &states.R[9 * row], *u = &states.u[6 * row];
    const std::vector<double> position = evaluated(hexapod, HexFunction::closure, r, R);
    const std::vector<double> rate = evaluated(hexapod, HexFunction::joint_velocity, r, R, u);
    // central differences
    std::vector<double> moved[2];
    const double step = 1e-5;
    for (int side = 0; side < 2; ++side) {
      const double h = side ? step : -step;
      const Vec3<double> w{u[3], u[4], u[5]};
      const Mat3<double> turn = rotation_about(w, h * std::sqrt(dot(w, w)));
      double r1[3], R1[9];
      for (int i = 0; i < 3; ++i) {
        r1[i] = r[i] + h * u[i];
        for (int j = 0; j < 3; ++j)
          R1[3 * i + j] = R[3 * i] * turn(0, j) + R[3 * i + 1] * turn(1, j) + R[3 * i + 2] * turn(2, j);
      }
      moved[side] = evaluated(hexapod, HexFunction::closure, r1, R1);
    }
    for (int k = 0; k < kLegs; ++k) {
      double p[4], pd[4], difference[4];
      derive_closure<kType>(hexapod, k, r, R, u, p, pd);
      for (int j = 0; j < nj; ++j) difference[j] = (moved[1][k * nj + j] - moved[0][k * nj + j]) / (2 * step);
      const std::string what = name_of(kType) + " leg " + std::to_string(k);
      CHECK_SAME(what + " closure", p, &position[k * nj], nj);
      CHECK_NEAR(what + " rates by the Jacobian", pd, &rate[k * nj], nj, 1e-13);
      CHECK_NEAR(what + " rates by differences", pd, difference, nj, 1e-9);
    }
  }
}

}  // namespace

LAW(scalars_do_not_change_a_bit_of_a_leg) {
  for (const bool symmetric : {true, false}) {
    compare_scalars<LegType::ups>(symmetric);
    compare_scalars<LegType::spu>(symmetric);
    compare_scalars<LegType::ucu>(symmetric);
    compare_scalars<LegType::rus>(symmetric);
    compare_scalars<LegType::rsu>(symmetric);
  }
}

LAW(the_derivative_of_closure_is_the_rate_of_the_joints) {
  compare_derivatives<LegType::ups>();
  compare_derivatives<LegType::spu>();
  compare_derivatives<LegType::ucu>();
  compare_derivatives<LegType::rus>();
  compare_derivatives<LegType::rsu>();
}
