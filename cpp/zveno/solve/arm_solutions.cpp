// docs/inverse-kinematics.md, section 3
#include <zveno/solve/arm_solutions.hpp>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace zveno {
namespace {

using V = Vec3<double>;
constexpr double kTurn = 6.283185307179586, kPi = 3.141592653589793;
constexpr double kVerified = 1e-11, kSame = 1e-6, kSingular = 1e-9, kNoSign = 1e-7, kInside = 1e-9;

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

std::int8_t sign_of(double x) { return static_cast<std::int8_t>(std::fabs(x) < kNoSign ? 0 : x > 0 ? 1 : -1); }

// direction of q that does not move the frame to first order, of the Jacobian with lengths over the reach; false: none
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

bool same(const ArmPlan& plan, const double* a, const double* b) {
  for (int i = 0; i < plan.n; ++i) {
    double d = std::fabs(a[i] - b[i]);
    if (plan.prismatic[i])
      d /= plan.reach;
    else if (d > kPi)
      d = kTurn - d;
    if (d > kSame) return false;
  }
  return true;
}

}  // namespace

void collect_solutions(const ArmPlan& plan, const ReachModel& model, const double* branches, const double* first,
                       bool limits, ArmRow& row) {
  const BranchLayout layout{plan.n};
  const int n = plan.n;
  row.inside.clear(), row.outside.clear();
  row.missing = 0;
  ArmSolution found[kMostBranches];
  int count = 0;
  double missing = INFINITY;
  for (int i = 0; i < plan.branches(); ++i) {
    const double* b = branches + i * layout.size();
    if (!(b[layout.gap()] <= kVerified * std::max(1.0, plan.reach) && b[layout.turn()] <= kVerified)) {
      if (b[layout.miss()] < missing) missing = b[layout.miss()];
      continue;
    }
    ArmSolution s{};
    for (int j = 0; j < n; ++j) {
      s.q[j] = b[j];
      if (!plan.prismatic[j] && s.q[j] > kPi) s.q[j] -= kTurn;
      if (!plan.prismatic[j] && s.q[j] <= -kPi) s.q[j] += kTurn;
    }
    for (int k = 0; k < 3; ++k) s.configuration[k] = sign_of(b[layout.sign(k)]);
    s.gap = b[layout.gap()], s.turn = b[layout.turn()];
    s.multiplicity = 1;
    for (int k = 0; k < 3; ++k) s.singular |= static_cast<std::uint8_t>((b[layout.singular(k)] < (k == 2 ? kSingular * kSingular : kSingular)) << k);
    int known = 0;
    while (known < count && !same(plan, found[known].q, s.q)) ++known;
    if (known < count) {
      ++found[known].multiplicity;
      found[known].singular |= s.singular;
    } else {
      found[count++] = s;
    }
  }
  if (count == 0) {
    row.missing = std::isfinite(missing) ? missing : std::numeric_limits<double>::quiet_NaN();
    return;
  }
  // by q, what differs by rounding only counted as equal
  const auto before = [n](const ArmSolution& a, const ArmSolution& b) {
    for (int j = 0; j < n; ++j)
      if (std::fabs(a.q[j] - b.q[j]) > kSame) return a.q[j] < b.q[j];
    return false;
  };
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && before(found[j], found[j - 1]); --j) std::swap(found[j], found[j - 1]);
  for (int i = 0; i < count; ++i) {
    ArmSolution& s = found[i];
    s.branch = i;
    if (s.singular || s.multiplicity > 1)
      if (free_direction(plan, s.q, s.free)) s.singular |= 8;
    if (!limits) {
      row.inside.push_back(s);
      continue;
    }
    // (K24) whole turns inside of the limits
    int from[kMostArmJoints], to[kMostArmJoints];
    bool inside = true;
    for (int j = 0; j < n; ++j) {
      const double low = model.lower[j], high = model.upper[j];
      from[j] = to[j] = 0;
      if (!plan.prismatic[j] && std::isfinite(low) && std::isfinite(high)) {
        from[j] = static_cast<int>(std::ceil((low - kInside - s.q[j]) / kTurn));
        to[j] = static_cast<int>(std::floor((high + kInside - s.q[j]) / kTurn));
      } else {
        const double slack = kInside;
        if (plan.prismatic[j] ? s.q[j] < low - slack || s.q[j] > high + slack : false) inside = false;
        // one limit only: the turn that is nearest to it inside
        if (!plan.prismatic[j] && s.q[j] < low - slack)
          from[j] = to[j] = static_cast<int>(std::ceil((low - slack - s.q[j]) / kTurn));
        if (!plan.prismatic[j] && s.q[j] > high + slack)
          from[j] = to[j] = static_cast<int>(std::floor((high + slack - s.q[j]) / kTurn));
      }
      inside &= from[j] <= to[j];
    }
    if (!inside) {
      row.outside.push_back(s);
      continue;
    }
    int turns[kMostArmJoints];
    std::copy_n(from, n, turns);
    for (;;) {
      ArmSolution w = s;
      for (int j = 0; j < n; ++j) w.q[j] = std::min(std::max(s.q[j] + kTurn * turns[j], model.lower[j]), model.upper[j]);
      row.inside.push_back(w);
      int j = n - 1;
      while (j >= 0 && turns[j] == to[j]) turns[j] = from[j], --j;
      if (j < 0) break;
      ++turns[j];
    }
  }
  if (!limits || row.inside.size() <= static_cast<std::size_t>(count)) return;  // no branch has two: in order already
  const auto away = [&](const ArmSolution& s) {
    double most = 0;
    for (int j = 0; j < n; ++j) {
      const double low = model.lower[j], high = model.upper[j];
      const double middle = first                                       ? first[model.place[j]]
                            : std::isfinite(low) && std::isfinite(high) ? 0.5 * (low + high)
                                                                        : 0.0;
      most = std::max(most, std::fabs(s.q[j] - middle) / (plan.prismatic[j] ? model.length : 1.0));
    }
    return most;
  };
  std::stable_sort(row.inside.begin(), row.inside.end(), [&](const ArmSolution& a, const ArmSolution& b) {
    if (a.branch != b.branch) return a.branch < b.branch;
    return away(a) < away(b);
  });
}

}  // namespace zveno
