// Directions that a singular arm may be moved in. docs/inverse-kinematics.md, section 3.
#include <algorithm>
#include <cmath>

#include <zveno/solve/arm_solutions.hpp>
#include <zveno/solve/decompositions.hpp>

namespace zveno {
namespace {

using V = Vec3<double>;
Mat3<double> rotation(const V& k, double q) {
  const double s = std::sin(q), c = std::cos(q);
  Mat3<double> R = skew<double>(k * s);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R(i, j) = R(i, j) + (1 - c) * k[i] * k[j] + (i == j ? c : 0.0);
  return R;
}

// axes and points of the joints at q, base axes
struct Screws {
  V z[kMostArmJoints], p[kMostArmJoints], tool;

  Screws(const ArmPlan& plan, const double* q) {
    Mat3<double> R = diagonal(1.0);
    V t{0, 0, 0};
    for (int i = 0; i < plan.n; ++i) {
      z[i] = times(R, plan.k[i]);
      p[i] = times(R, plan.p[i]) + t;
      if (plan.prismatic[i]) {
        t += z[i] * q[i];
      } else {
        const Mat3<double> E = rotation(plan.k[i], q[i]);
        t = t + times(R, plan.p[i] - times(E, plan.p[i]));
        R = times(R, E);
      }
    }
    tool = times(R, plan.p_M) + t;
  }
};

}  // namespace

bool free_direction(const ArmPlan& plan, const double* q, double* free) {
  const Screws s(plan, q);
  const int rows = plan.family == ArmFamily::position ? 3 : 6;
  Eigen::MatrixXd J(rows, plan.n);
  for (int i = 0; i < plan.n; ++i) {
    const V v = plan.prismatic[i] ? s.z[i] : cross<double>(s.z[i], s.tool - s.p[i]) * (1 / plan.reach);
    for (int r = 0; r < 3; ++r) J(r, i) = v[r];
    for (int r = 3; r < rows; ++r) J(r, i) = plan.prismatic[i] ? 0.0 : s.z[i][r - 3];
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(J, Eigen::ComputeFullV);
  const int k = std::min(rows, plan.n);
  if (plan.n > rows || !(svd.singularValues()[k - 1] < 1e-7 * svd.singularValues()[0])) return false;
  Eigen::VectorXd v = svd.matrixV().col(plan.n - 1);
  int largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  const double sign = v[largest] < 0 ? -1 : 1;
  // the first of those of equal size decides
  int lead = largest;
  for (int i = 0; i < plan.n; ++i)
    if (std::fabs(v[i]) > std::fabs(v[largest]) * (1 - 1e-6)) {
      lead = i;
      break;
    }
  const double turned = lead == largest ? sign : (v[lead] < 0 ? -1.0 : 1.0);
  for (int i = 0; i < plan.n; ++i) free[i] = turned * v[i];
  return true;
}

}  // namespace zveno
