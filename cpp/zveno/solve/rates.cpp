#include <zveno/solve/rates.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <zveno/solve/decompositions.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Three = Eigen::Vector3d;

constexpr double kSingular = 1e-10;  // singular values, relative to the largest
constexpr double kTie = 1e-5;        // weight of the wish beside the task where bounds hold, relative to the largest
constexpr double kRound = 1e-9;      // of a bound that is met

}  // namespace

struct RateSolver::Work {
  enum class Bound : std::int8_t { free, lower, upper };

  RateTask task;
  std::vector<int> held;
  Matrix J, part, stacked;
  Vector x, z, wish, rest, right, solved, gradient, trial;
  Eigen::JacobiSVD<Matrix> svd, svd_part;
  Eigen::HouseholderQR<Matrix> qr;
  std::vector<Bound> bound;
  std::vector<int> free;

  explicit Work(const RateTask& t) : task(t) {
    for (int i = 0; i < 6; ++i)
      if (t.scale[i] != 0) held.push_back(i);
    const int m = static_cast<int>(held.size()), n = t.n;
    J.resize(m, n);
    x.resize(m), rest.resize(m);
    z.resize(n), wish.resize(n), gradient.resize(n), trial.resize(n);
    bound.resize(static_cast<std::size_t>(n));
    free.reserve(static_cast<std::size_t>(n));
    svd = Eigen::JacobiSVD<Matrix>(m, n, Eigen::ComputeThinU | Eigen::ComputeThinV);
  }
  int rows() const { return static_cast<int>(held.size()); }

  bool read(const double* from) {
    if (!all_finite(from, 6 * task.n)) return false;
    for (int i = 0; i < rows(); ++i)
      for (int j = 0; j < task.n; ++j) J(i, j) = task.scale[held[i]] * from[held[i] * task.n + j];
    svd.compute(J);
    return true;
  }
  const Vector& values() const { return svd.singularValues(); }
  double smallest() const { return values()(values().size() - 1); }

  // z = wish + V diag(s / (s^2 + mu^2)) U' (x - A wish): the least |A z - x|^2 + mu^2 |z - wish|^2
  void damped(const Eigen::JacobiSVD<Matrix>& parts, const Matrix& A, const Vector& want, double mu, double tiny,
              Eigen::Ref<Vector> to) {
    rest = want - A * to;
    const Vector& s = parts.singularValues();
    for (Eigen::Index k = 0; k < s.size(); ++k)
      if (s(k) > tiny) to += parts.matrixV().col(k) * (parts.matrixU().col(k).dot(rest) * s(k) / (s(k) * s(k) + mu * mu));
  }

  // the least |J z - x|^2 + mu^2 |z - wish|^2 with lower <= z <= upper, from z inside: the active-set method for a strictly
  // convex problem, one bound taken or left at a time
  bool within(const double* lower, const double* upper, double mu, double largest) {
    const int m = rows(), n = task.n, most = 20 + 10 * n;
    for (int j = 0; j < n; ++j) bound[j] = z(j) <= lower[j] ? Bound::lower : z(j) >= upper[j] ? Bound::upper : Bound::free;
    const double slack = 1e-14 * largest * (largest * z.cwiseAbs().maxCoeff() + x.norm());
    for (int pass = 0; pass < most; ++pass) {
      free.clear();
      for (int j = 0; j < n; ++j)
        if (bound[j] == Bound::free) free.push_back(j);
      const int f = static_cast<int>(free.size());
      trial = z;
      if (f > 0) {
        stacked.setZero(m + f, f);
        right.resize(m + f);
        right.head(m) = x;
        for (int j = 0; j < n; ++j)
          if (bound[j] != Bound::free) right.head(m) -= J.col(j) * z(j);
        for (int a = 0; a < f; ++a) {
          stacked.col(a).head(m) = J.col(free[a]);
          stacked(m + a, a) = mu;
          right(m + a) = mu * wish(free[a]);
        }
        qr.compute(stacked);
        solved = qr.solve(right);
        for (int a = 0; a < f; ++a) trial(free[a]) = solved(a);
      }
      double step = 1;
      int hit = -1;
      for (const int j : free) {
        const double d = trial(j) - z(j);
        const double limit = d > 0 ? upper[j] : lower[j];
        if (d == 0 || !((trial(j) - limit) * d > 0)) continue;
        const double share = (limit - z(j)) / d;
        if (share < step) step = share, hit = j;
      }
      if (hit >= 0) {
        for (const int j : free) z(j) += step * (trial(j) - z(j));
        const bool up = trial(hit) > z(hit);
        bound[hit] = up ? Bound::upper : Bound::lower;
        z(hit) = up ? upper[hit] : lower[hit];
        continue;
      }
      z = trial;
      gradient = J.transpose() * (J * z - x) + mu * mu * (z - wish);
      int worst = -1;
      double most_wrong = slack;
      for (int j = 0; j < n; ++j) {
        if (bound[j] == Bound::free || lower[j] == upper[j]) continue;
        const double wrong = bound[j] == Bound::lower ? -gradient(j) : gradient(j);
        if (wrong > most_wrong) most_wrong = wrong, worst = j;
      }
      if (worst < 0) return true;
      bound[worst] = Bound::free;
    }
    return false;
  }

  // the free joints again, without the weight that chose the bounds
  void polish(const double* lower, const double* upper, double mu) {
    const int n = task.n;
    free.clear();
    for (int j = 0; j < n; ++j)
      if (bound[j] == Bound::free) free.push_back(j);
    const int f = static_cast<int>(free.size());
    if (f == 0) return;
    part.resize(rows(), f);
    Vector want = x, at(f);
    for (int j = 0; j < n; ++j)
      if (bound[j] != Bound::free) want -= J.col(j) * z(j);
    for (int a = 0; a < f; ++a) part.col(a) = J.col(free[a]), at(a) = wish(free[a]);
    svd_part.compute(part, Eigen::ComputeThinU | Eigen::ComputeThinV);
    damped(svd_part, part, want, mu, kSingular * svd_part.singularValues()(0), at);
    for (int a = 0; a < f; ++a)
      if (!(at(a) >= lower[free[a]] - kRound && at(a) <= upper[free[a]] + kRound)) return;
    for (int a = 0; a < f; ++a) z(free[a]) = std::clamp(at(a), lower[free[a]], upper[free[a]]);
  }
};

RateSolver::RateSolver(const RateTask& task) : work_(std::make_unique<Work>(task)) {}
RateSolver::~RateSolver() = default;
int RateSolver::rows() const { return work_->rows(); }

RateStatus RateSolver::solve(const RateRow& row) {
  Work& w = *work_;
  const int n = w.task.n, m = w.rows();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(row.qd, n, nan);
  std::fill_n(row.residual, 6, nan);
  *row.smallest = *row.mu = nan;
  if (!all_finite(row.twist, 6) || (row.wish && !all_finite(row.wish, n)) || !w.read(row.J)) return RateStatus::not_finite;
  for (int i = 0; i < m; ++i) w.x(i) = w.task.scale[w.held[i]] * row.twist[w.held[i]];
  for (int j = 0; j < n; ++j) w.wish(j) = row.wish ? row.wish[j] : 0.0;
  const double largest = w.values()(0), smallest = w.smallest();
  double mu = 0;
  if (smallest < w.task.region) mu = w.task.damping * std::sqrt(1 - (smallest / w.task.region) * (smallest / w.task.region));
  *row.smallest = smallest;
  *row.mu = mu;
  const bool singular = !(smallest > kSingular * largest);
  if (singular && mu == 0 && !row.lower) return RateStatus::singular;
  w.z = w.wish;
  w.damped(w.svd, w.J, w.x, mu, mu > 0 ? 0.0 : kSingular * largest, w.z);
  if (!w.z.allFinite()) return RateStatus::singular;
  RateStatus status = RateStatus::found;
  if (row.lower) {
    bool inside = !singular || mu > 0;
    for (int j = 0; j < n; ++j) inside &= w.z(j) >= row.lower[j] && w.z(j) <= row.upper[j];
    if (!inside) {
      for (int j = 0; j < n; ++j) w.z(j) = std::clamp(w.z(j), row.lower[j], row.upper[j]);
      const double tie = std::max(mu, largest > 0 ? kTie * largest : 1.0);
      if (!w.within(row.lower, row.upper, tie, std::max(largest, tie))) return RateStatus::undecided;
      if (mu < tie) w.polish(row.lower, row.upper, mu);
      w.rest = w.x - w.J * w.z;
      if (w.rest.norm() > 1e-7 * (w.x.norm() + largest * w.z.norm())) status = RateStatus::limited;
    }
  }
  for (int j = 0; j < n; ++j) row.qd[j] = w.z(j);
  std::fill_n(row.residual, 6, 0.0);
  for (const int i : w.held) {
    double sum = row.twist[i];
    for (int j = 0; j < n; ++j) sum -= row.J[i * n + j] * w.z(j);
    row.residual[i] = sum;
  }
  return status;
}

RateStatus RateSolver::measure(const MeasureRow& row) {
  Work& w = *work_;
  const int n = w.task.n, m = w.rows(), count = std::min(m, n);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (!w.read(row.J)) {
    std::fill_n(row.values, count, nan);
    std::fill_n(row.direction, 6, nan);
    *row.manipulability = *row.condition = nan;
    for (double* d : {row.d_manipulability, row.d_condition, row.d_smallest})
      if (d) std::fill_n(d, n, nan);
    return RateStatus::not_finite;
  }
  const Vector& s = w.values();
  double product = 1;
  for (int k = 0; k < count; ++k) row.values[k] = s(k), product *= s(k);
  *row.manipulability = product;
  const double smallest = w.smallest();
  *row.condition = smallest > 0 ? s(0) / smallest : std::numeric_limits<double>::infinity();
  std::fill_n(row.direction, 6, 0.0);
  for (int i = 0; i < m; ++i) row.direction[w.held[i]] = w.svd.matrixU()(i, count - 1);
  if (!row.d_smallest) return RateStatus::found;

  std::fill_n(row.d_manipulability, n, 0.0);
  std::vector<double> first(static_cast<std::size_t>(n));
  const auto linear = [&](int j) { return Three(row.J[j], row.J[n + j], row.J[2 * n + j]); };
  const auto angular = [&](int j) { return Three(row.J[3 * n + j], row.J[4 * n + j], row.J[5 * n + j]); };
  for (int k = 0; k < count; ++k) {
    // ds_k / dq_i = u_k' W (dJ/dq_i) v_k, with sums of columns before joint i and from it on
    Three a_v = Three::Zero(), a_w = Three::Zero();
    for (int i = 0; i < m; ++i) (w.held[i] < 3 ? a_v : a_w)(w.held[i] % 3) = w.svd.matrixU()(i, k) * w.task.scale[w.held[i]];
    Three before_v = Three::Zero(), before_w = Three::Zero(), after_v = Three::Zero(), after_w = Three::Zero();
    for (int j = 0; j < n; ++j) {
      after_v += linear(j) * w.svd.matrixV()(j, k);
      after_w += angular(j) * w.svd.matrixV()(j, k);
    }
    double others = 1;
    for (int l = 0; l < count; ++l)
      if (l != k) others *= s(l);
    for (int i = 0; i < n; ++i) {
      const Three v = linear(i), spin = angular(i);
      double slope;
      if (w.task.link_axes)
        slope = a_v.dot(before_w.cross(v) - spin.cross(before_v)) - a_w.dot(spin.cross(before_w));
      else
        slope = a_v.dot(spin.cross(after_v) + before_w.cross(v)) + a_w.dot(spin.cross(after_w));
      row.d_manipulability[i] += others * slope;
      if (k == 0) first[static_cast<std::size_t>(i)] = slope;
      if (k == count - 1) row.d_smallest[i] = slope;
      const double part = w.svd.matrixV()(i, k);
      before_v += v * part, before_w += spin * part;
      after_v -= v * part, after_w -= spin * part;
    }
  }
  for (int i = 0; i < n; ++i)
    row.d_condition[i] = (first[static_cast<std::size_t>(i)] - *row.condition * row.d_smallest[i]) / smallest;
  return RateStatus::found;
}

}  // namespace zveno
