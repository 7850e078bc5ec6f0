// Equation numbers are those of docs/constraints.md.
#include <zveno/solve/close.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include <zveno/solve/decompositions.hpp>

namespace zveno {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

// (L16) radians of revolute joints to metres
Vector column_scale(const Linkage& linkage) {
  const Chain& chain = linkage.chain();
  Vector s(chain.n());
  for (int b = 0; b < chain.n(); ++b)
    s[chain.user_index()[b]] = chain.topology().kind[b] == JointKind::revolute ? 1.0 / linkage.length() : 1.0;
  return s;
}

Matrix scaled(const Linkage& linkage, const double* G) {
  Matrix A = Eigen::Map<const Matrix>(G, linkage.rows(), linkage.chain().n());
  return A * column_scale(linkage).asDiagonal();
}

constexpr double kStill = 1e-13;  // of rows of scaled columns

// (L17); where states need not be closed, what is open says nothing about the rank
double rank_tolerance(const Linkage& linkage, const double* f) {
  if (std::isinf(linkage.open())) return 1e-10;
  double most = 0;
  for (int i = 0; i < linkage.rows(); ++i) most = std::max(most, std::fabs(f[i]));
  return std::max(1e-10, 10 * most / linkage.length());
}

// Groups of loops (L32) move and close without each other.
class Closer {
 public:
  Closer(const KernelTable& kernels, const Linkage& linkage, const ClosingLimits& limits)
      : kernels_(kernels),
        linkage_(linkage),
        limits_(limits),
        all_joints_(linkage.chain().n()),
        all_rows_(linkage.rows()),
        scale_(column_scale(linkage)),
        residuals_(all_rows_),
        jacobian_(all_rows_, all_joints_),
        given_(linkage.given() + 1) {}

  Closing run(double* q, double* f) {
    Closing result;
    result.closed = true;
    const auto close = [&](const LoopGroup& group) {
      joints_.clear(), rows_.clear();
      for (const int b : group.bodies) joints_.push_back(linkage_.chain().user_index()[b]);
      std::sort(joints_.begin(), joints_.end());
      for (const int k : group.constraints) {
        const LoopConstraint& c = linkage_.constraints()[k];
        for (int i = c.first; i < c.first + c.count; ++i) rows_.push_back(i);
      }
      const Closing part = close_part(q);
      result.closed &= part.closed;
      result.steps += part.steps;
      result.residual = std::max(result.residual, part.residual);
      result.rate = std::max(result.rate, part.rate);
    };
    if (linkage_.grouped()) {
      for (const LoopGroup& group : linkage_.groups())
        if (!group.constraints.empty() && !stopped_) close(group);
    } else {
      close(linkage_.whole());
    }
    if (stopped_ || !ask(LinkageFunction::residual, q, f)) std::fill_n(f, all_rows_, INFINITY);
    return result;
  }

 private:
  static constexpr int kRestarts = 8, kMostSteps = 400;

  int n() const { return static_cast<int>(joints_.size()); }
  int m() const { return static_cast<int>(rows_.size()); }

  Closing close_part(double* q) {
    const Vector start = Eigen::Map<const Vector>(q, all_joints_);
    Closing best = from(q);
    // (L27) other starts, the same ones every time
    std::uint32_t seed = 12345;
    for (int k = 0; k < kRestarts && !best.closed && !stopped_; ++k) {
      Vector other = start;
      for (const int i : joints_) {
        seed = 1664525u * seed + 1013904223u;
        if (!limits_.held[i]) other[i] += 2.0 * (seed / 4294967296.0) - 1.0;
      }
      clip(other);
      const Closing found = from(other.data());
      if (!(found.residual < best.residual)) continue;
      best = found;
      for (const int i : joints_) q[i] = other[i];
    }
    return best;
  }

  void clip(Vector& q) const {
    for (const int i : joints_)
      if (!limits_.held[i]) q[i] = std::clamp(q[i], limits_.lower[i], limits_.upper[i]);
  }
  bool residual(const double* q, Vector& f) {
    if (!ask(LinkageFunction::residual, q, residuals_.data())) return false;
    for (int i = 0; i < m(); ++i) f[i] = residuals_[rows_[i]];
    return true;
  }
  bool jacobian(const double* q, Matrix& G) {
    if (!ask(LinkageFunction::constraint_jacobian, q, jacobian_.data())) return false;
    for (int i = 0; i < m(); ++i)
      for (int j = 0; j < n(); ++j) G(i, j) = jacobian_(rows_[i], joints_[j]);
    return true;
  }
  bool ask(LinkageFunction function, const double* q, double* out) {
    if (linkage_.given() && !limits_.given(q, given_.data())) return stopped_ = true, false;
    const LinkageJob job(linkage_, function);
    Rows rows;
    rows[Param::q] = {q, 0};
    if (linkage_.given()) rows[Param::given] = {given_.data(), 0};
    rows.out[0] = out;
    rows.count = 1;
    rows.check_inputs = true;
    return !kernels_.run(job, rows, 0, 1);
  }

  Closing from(double* start) {
    Eigen::Map<Vector> q(start, all_joints_);
    Vector f(m()), trial(m()), next(all_joints_), gradient(n()), scale(n());
    Matrix G(m(), n()), A(m(), n());
    for (int j = 0; j < n(); ++j) scale[j] = scale_[joints_[j]];
    Closing result;
    const double length = linkage_.length();
    const auto most = [](const Vector& x) { return x.size() ? x.cwiseAbs().maxCoeff() : 0.0; };
    if (!residual(q.data(), f)) f.setConstant(INFINITY);
    double norm = f.norm(), mu = -1, reference = norm;
    int idle = 0;
    for (; result.steps < kMostSteps && std::isfinite(norm); ++result.steps) {
      if (most(f) <= 1e-13 * length) {
        result.closed = true;
        // one more step costs little and leaves rounding only
        if (most(f) <= 2e-16 * length || result.steps == 0) break;
      }
      if (!jacobian(q.data(), G)) break;
      A = G * scale.asDiagonal();
      for (int j = 0; j < n(); ++j)
        if (limits_.held[joints_[j]]) A.col(j).setZero();
      gradient = A.transpose() * f;
      if (!result.closed && norm > 1e-9 * length && (gradient.norm() <= 1e-10 * norm || idle >= 50)) break;
      bool moved = false;
      // (L24) far, (L25) near; near without descent: one step of the other
      for (int attempt = 0; attempt < 2 && !moved; ++attempt) {
        const bool near = attempt == 0 && norm <= 1e-3 * length;
        if (attempt == 1 && (norm > 1e-3 * length || result.closed)) break;
        if (near) {
          moved = take(q, truncated(A, f, norm), next, trial, norm);
        } else {
          if (mu < 0) mu = 0.01 * A.colwise().squaredNorm().maxCoeff();
          for (int tries = 0; tries < 40 && !moved; ++tries) {
            const Eigen::MatrixXd H = A.transpose() * A;
            Eigen::MatrixXd damped = H;
            damped.diagonal().array() += std::max(mu, 1e-300);
            moved = take(q, -damped.ldlt().solve(gradient), next, trial, norm);
            mu = moved ? mu / 5 : 4 * mu;
          }
        }
      }
      if (!moved) break;
      const double after = trial.norm();
      result.rate = norm > 0 ? after / (norm * norm) : 0;
      idle = after < 0.99 * reference ? 0 : idle + 1;
      if (after < 0.99 * reference) reference = after;
      q = next;
      f = trial;
      norm = after;
      if (result.closed) break;
    }
    result.residual = most(f);
    return result;
  }

  // (L25) a limit that the step would cross takes its column out
  Vector truncated(Matrix A, const Vector& f, double norm) const {
    const double tolerance = std::min(1e-3, std::max(1e-10, norm / linkage_.length()));
    Eigen::JacobiSVD<Eigen::MatrixXd> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Vector& s = svd.singularValues();
    Vector y = -svd.matrixU().transpose() * f;
    for (int i = 0; i < y.size(); ++i) y[i] = s[i] > tolerance * s[0] ? y[i] / s[i] : 0.0;
    return svd.matrixV() * y;
  }

  // a step of scaled coordinates inside the limits; false: |f| does not fall
  bool take(const Eigen::Map<Vector>& q, const Vector& step, Vector& next, Vector& trial, double norm) {
    next = q;
    for (int j = 0; j < n(); ++j) next[joints_[j]] = q[joints_[j]] + scale_[joints_[j]] * step[j];
    clip(next);
    if (!next.allFinite() || !residual(next.data(), trial)) return false;
    return trial.norm() < norm;
  }

  const KernelTable& kernels_;
  const Linkage& linkage_;
  const ClosingLimits& limits_;
  const int all_joints_, all_rows_;
  const Vector scale_;
  Vector residuals_;
  Matrix jacobian_;
  std::vector<int> joints_, rows_;  // those that are being closed
  std::vector<double> given_;
  bool stopped_ = false;
};

}  // namespace

Closing close_linkage(const KernelTable& kernels, const Linkage& linkage, const ClosingLimits& limits, double* q,
                      double* f) {
  return Closer(kernels, linkage, limits).run(q, f);
}

int scaled_rank(const Linkage& linkage, const double* G, const double* f, double* values) {
  const Matrix A = scaled(linkage, G);
  const int count = static_cast<int>(std::min(A.rows(), A.cols()));
  if (!A.size()) return 0;
  if (linkage.grouped()) {  // the blocks of the groups have the values of the whole
    std::fill_n(values, count, 0.0);
    double* to = values;
    for (const LoopGroup& group : linkage.groups()) {
      const auto n = static_cast<Eigen::Index>(group.bodies.size());
      Eigen::MatrixXd block(0, n);
      for (const int k : group.constraints) {
        const LoopConstraint& c = linkage.constraints()[k];
        const Eigen::Index first = block.rows();
        block.conservativeResize(first + c.count, n);
        for (Eigen::Index j = 0; j < n; ++j)
          block.block(first, j, c.count, 1) = A.block(c.first, linkage.chain().user_index()[group.bodies[j]], c.count, 1);
      }
      if (!block.size()) continue;
      const Eigen::JacobiSVD<Eigen::MatrixXd> svd(block);
      to = std::copy_n(svd.singularValues().data(), svd.singularValues().size(), to);
    }
    std::sort(values, values + count, std::greater<double>());
  } else {
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(A);
    std::copy_n(svd.singularValues().data(), count, values);
  }
  const double least = rank_tolerance(linkage, f) * values[0];
  return static_cast<int>(std::count_if(values, values + count, [&](double s) { return s > least; }));
}

bool choose_rows(const Linkage& linkage, const double* G, const double* f, RowChoice& choice) {
  const Matrix A = scaled(linkage, G);
  choice = {};
  const int m = linkage.rows();
  if (m == 0) return true;  // Eigen does not factor nothing
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(A.transpose());
  const double least = rank_tolerance(linkage, f) * std::fabs(qr.matrixR()(0, 0));
  const int most = std::min<int>(m, linkage.chain().n());
  for (int j = 0; j < m; ++j) {
    const int row = qr.colsPermutation().indices()[j];
    const bool kept = j < most && std::fabs(qr.matrixR()(j, j)) > least;
    (kept ? choice.active : choice.redundant).push_back(row);
  }
  choice.assign_roles();
  return !linkage.chosen() || choice.active.size() >= linkage.choice().active.size();
}

RowChoice choose_rows(const Linkage& linkage, const double* G, int count) {
  const int m = linkage.rows(), n = linkage.chain().n();
  std::vector<Matrix> left;
  std::vector<double> whole;
  for (int s = 0; s < count; ++s) {
    left.push_back(scaled(linkage, G + static_cast<std::ptrdiff_t>(s) * m * n));
    whole.push_back(left.back().rowwise().squaredNorm().maxCoeff());
  }
  RowChoice choice;
  std::vector<bool> taken(m, false);
  for (int step = 0; step < std::min(m, n); ++step) {
    int best = -1;
    double most = 0;
    for (int i = 0; i < m; ++i) {
      if (taken[i]) continue;
      double least = INFINITY;
      for (int s = 0; s < count; ++s) least = std::min(least, left[s].row(i).squaredNorm() / whole[s]);
      if (least > most) most = least, best = i;
    }
    if (best < 0 || most < 1e-14) break;
    taken[best] = true;
    choice.active.push_back(best);
    for (int s = 0; s < count; ++s) {
      const Eigen::RowVectorXd v = left[s].row(best) / left[s].row(best).norm();
      left[s] -= (left[s] * v.transpose()) * v;
    }
  }
  std::sort(choice.active.begin(), choice.active.end());
  // what no joint moves at any of the states, moves nowhere: across the plane of a planar loop
  Vector most = Vector::Zero(m);
  for (int s = 0; s < count; ++s)
    most = most.cwiseMax(scaled(linkage, G + static_cast<std::ptrdiff_t>(s) * m * n).cwiseAbs().rowwise().maxCoeff());
  for (const bool still : {false, true})
    for (int i = 0; i < m; ++i)
      if (!taken[i] && (most[i] < kStill) == still) choice.redundant.push_back(i), choice.zero += still;
  choice.assign_roles();
  return choice;
}

}  // namespace zveno
