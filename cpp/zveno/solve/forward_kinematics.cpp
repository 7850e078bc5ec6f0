#include <zveno/solve/forward_kinematics.hpp>

#include <algorithm>
#include <cmath>

#include <zveno/math/dense.hpp>
#include <zveno/math/rotation.hpp>

namespace zveno {
namespace {

constexpr int kMostSteps = 100, kMostHalvings = 12;
constexpr double kLargestTurn = 0.5, kConverged = 1e-10;

// difference of the actuated coordinates from the wanted ones; angles to the nearest turn
struct Residual {
  const KernelTable& kernels;
  const Hexapod& hexapod;
  const double* strokes;

  double operator()(const double* r, const double* R, double* f, Failure& failure) const {
    double p[kLegs * 4];
    Rows rows;
    rows[Param::r] = {r, 0}, rows[Param::R] = {R, 0};
    rows.out[0] = p;
    rows.count = 1;
    failure = kernels.run(HexJob{&hexapod, HexFunction::closure}, rows, 0, 1);
    if (failure.cause != Cause::none) return INFINITY;
    double worst = 0;
    for (int k = 0; k < kLegs; ++k) {
      const LegChain& chain = hexapod.chain(k);
      f[k] = strokes[k] - p[k * hexapod.joints() + chain.actuated];
      const int body = chain.chain->body_of_joint()[chain.actuated];
      if (chain.chain->view().revolute(body)) f[k] = std::remainder(f[k], 2 * 3.141592653589793);
      worst = std::fmax(worst, std::fabs(f[k]));
    }
    return worst;
  }
};

}  // namespace

KinematicsResult forward_kinematics(const KernelTable& kernels, const Hexapod& hexapod, const double* strokes, double* r,
                                    double* R) {
  const Residual residual{kernels, hexapod, strokes};
  KinematicsResult result{{}, 0, 0};
  double f[kLegs];
  result.residual = residual(r, R, f, result.failure);
  if (result.failure.cause != Cause::none) return result;
  bool done = result.residual == 0;
  while (!done && result.iterations < kMostSteps) {
    ++result.iterations;
    double J[36];
    Rows rows;
    rows[Param::r] = {r, 0}, rows[Param::R] = {R, 0};
    rows.out[0] = J;
    rows.count = 1;
    result.failure = kernels.run(HexJob{&hexapod, HexFunction::jacobian}, rows, 0, 1);
    if (result.failure.cause != Cause::none) return result;
    const double pivot = solve_dense(J, kLegs, f);
    if (!(pivot > kTinyPivot)) {
      result.failure.cause = Cause::singular, result.failure.margin = pivot;
      return result;
    }
    const double turn = std::sqrt(f[3] * f[3] + f[4] * f[4] + f[5] * f[5]), before = result.residual;
    const double limit = turn > kLargestTurn ? kLargestTurn / turn : 1.0;
    double r1[3], R1[9], f1[kLegs];
    Failure trial;
    for (int k = 0; k < kMostHalvings; ++k) {
      const double part = std::ldexp(limit, -k);
      for (int i = 0; i < 3; ++i) r1[i] = r[i] + part * f[i];
      rotated_by(R, part * f[3], part * f[4], part * f[5], R1);
      result.residual = residual(r1, R1, f1, trial);
      if (result.residual < before || (before < kConverged && trial.cause == Cause::none)) break;
    }
    if (!(result.residual < before) && before >= kConverged) {
      result.residual = before;
      break;
    }
    if (before < kConverged && !(result.residual < before)) {  // rounding is all that is left
      result.residual = before;
      break;
    }
    std::copy_n(r1, 3, r), std::copy_n(R1, 9, R), std::copy_n(f1, kLegs, f);
    done = result.residual < 1e-15;
  }
  if (!(result.residual < kConverged)) result.failure.cause = Cause::newton, result.failure.margin = result.residual;
  return result;
}

}  // namespace zveno
