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

// a part of G with scaled columns
Matrix scaled(const Linkage& linkage, const LoopGroup& part, const Vector& scale, const double* G) {
  const int n = linkage.chain().n();
  Matrix A(static_cast<int>(part.rows.size()), static_cast<int>(part.joints.size()));
  for (int i = 0; i < A.rows(); ++i)
    for (int j = 0; j < A.cols(); ++j) {
      const int joint = part.joints[static_cast<std::size_t>(j)];
      A(i, j) = G[static_cast<std::ptrdiff_t>(part.rows[static_cast<std::size_t>(i)]) * n + joint] * scale[joint];
    }
  return A;
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
        given_(linkage.given() + 1) {}

  Closing run(double* q, double* f) {
    Closing result;
    result.closed = true;
    for (const LoopGroup* group : linkage_.parts()) {
      if (stopped_) break;
      part_ = group;
      const Closing part = close_part(q);
      result.closed &= part.closed;
      result.steps += part.steps;
      result.residual = std::max(result.residual, part.residual);
      result.rate = std::max(result.rate, part.rate);
    }
    part_ = &linkage_.whole();
    if (stopped_ || !ask(LinkageFunction::residual, q, f)) std::fill_n(f, all_rows_, INFINITY);
    return result;
  }

 private:
  static constexpr int kRestarts = 8, kMostSteps = 400;

  int n() const { return static_cast<int>(part_->joints.size()); }
  int m() const { return static_cast<int>(part_->rows.size()); }

  Closing close_part(double* q) {
    const Vector start = Eigen::Map<const Vector>(q, all_joints_);
    Closing best = from(q);
    // (L27) other starts, the same ones every time
    std::uint32_t seed = 12345;
    for (int k = 0; k < kRestarts && !best.closed && !stopped_; ++k) {
      Vector other = start;
      for (const int i : part_->joints) {
        seed = 1664525u * seed + 1013904223u;
        if (!limits_.held[i]) other[i] += 2.0 * (seed / 4294967296.0) - 1.0;
      }
      clip(other);
      const Closing found = from(other.data());
      if (!(found.residual < best.residual)) continue;
      best = found;
      for (const int i : part_->joints) q[i] = other[i];
    }
    return best;
  }

  void clip(Vector& q) const {
    for (const int i : part_->joints)
      if (!limits_.held[i]) q[i] = std::clamp(q[i], limits_.lower[i], limits_.upper[i]);
  }
  bool residual(const double* q, Vector& f) { return ask(LinkageFunction::residual, q, f.data()); }
  bool jacobian(const double* q, Matrix& G) { return ask(LinkageFunction::constraint_jacobian, q, G.data()); }
  bool ask(LinkageFunction function, const double* q, double* out) {
    if (linkage_.given() && !limits_.given(q, given_.data())) return stopped_ = true, false;
    LinkageJob job(linkage_, function);
    job.only = part_;
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
    for (int j = 0; j < n(); ++j) scale[j] = scale_[part_->joints[j]];
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
        if (limits_.held[part_->joints[j]]) A.col(j).setZero();
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
    for (int j = 0; j < n(); ++j) next[part_->joints[j]] = q[part_->joints[j]] + scale_[part_->joints[j]] * step[j];
    clip(next);
    if (!next.allFinite() || !residual(next.data(), trial)) return false;
    return trial.norm() < norm;
  }

  const KernelTable& kernels_;
  const Linkage& linkage_;
  const ClosingLimits& limits_;
  const int all_joints_, all_rows_;
  const Vector scale_;
  const LoopGroup* part_ = nullptr;  // that is being closed
  std::vector<double> given_;
  bool stopped_ = false;
};

}  // namespace

Closing close_linkage(const KernelTable& kernels, const Linkage& linkage, const ClosingLimits& limits, double* q,
                      double* f) {
  return Closer(kernels, linkage, limits).run(q, f);
}

int scaled_rank(const Linkage& linkage, const double* G, const double* f, double* values) {
  const int m = linkage.rows(), n = linkage.chain().n(), count = std::min(m, n);
  if (!count) return 0;
  const Vector scale = column_scale(linkage);
  std::fill_n(values, count, 0.0);
  double* to = values;
  for (const LoopGroup* part : linkage.parts()) {
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(scaled(linkage, *part, scale, G));
    to = std::copy_n(svd.singularValues().data(), svd.singularValues().size(), to);
  }
  std::sort(values, values + count, std::greater<double>());
  const double least = rank_tolerance(linkage, f) * values[0];
  return static_cast<int>(std::count_if(values, values + count, [&](double s) { return s > least; }));
}

bool choose_rows(const Linkage& linkage, const double* G, const double* f, RowChoice& choice) {
  choice = {};
  if (linkage.rows() == 0) return true;  // Eigen does not factor nothing
  const Vector scale = column_scale(linkage);
  const std::vector<const LoopGroup*> parts = linkage.parts();
  std::vector<Eigen::ColPivHouseholderQR<Eigen::MatrixXd>> qr;
  double largest = 0;
  for (const LoopGroup* part : parts) {
    qr.emplace_back(scaled(linkage, *part, scale, G).transpose());
    largest = std::max(largest, std::fabs(qr.back().matrixR()(0, 0)));
  }
  const double least = rank_tolerance(linkage, f) * largest;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const int m = static_cast<int>(parts[p]->rows.size()), most = std::min<int>(m, static_cast<int>(qr[p].rows()));
    for (int j = 0; j < m; ++j) {
      const int row = parts[p]->rows[static_cast<std::size_t>(qr[p].colsPermutation().indices()[j])];
      const bool kept = j < most && std::fabs(qr[p].matrixR()(j, j)) > least;
      (kept ? choice.active : choice.redundant).push_back(row);
    }
  }
  choice.assign_roles();
  return !linkage.chosen() || choice.active.size() >= linkage.choice().active.size();
}

RowChoice choose_rows(const Linkage& linkage, const double* G, int count) {
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(linkage.rows()) * linkage.chain().n();
  const Vector scale = column_scale(linkage);
  const std::vector<const LoopGroup*> parts = linkage.parts();
  std::vector<std::vector<Matrix>> left(parts.size());  // of each part, at each state
  std::vector<double> whole(static_cast<std::size_t>(count), 0.0);
  RowChoice choice;
  std::vector<int> moved, still;  // redundant; what no joint moves at any of the states, moves nowhere
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (int s = 0; s < count; ++s) {
      left[p].push_back(scaled(linkage, *parts[p], scale, G + s * size));
      double& most = whole[static_cast<std::size_t>(s)];
      most = std::max(most, left[p].back().rowwise().squaredNorm().maxCoeff());
    }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::vector<int>& rows = parts[p]->rows;
    const auto m = static_cast<Eigen::Index>(rows.size()), n = left[p][0].cols();
    Vector largest = Vector::Zero(m);
    for (const Matrix& A : left[p]) largest = largest.cwiseMax(A.cwiseAbs().rowwise().maxCoeff());
    std::vector<bool> taken(rows.size(), false);
    for (Eigen::Index step = 0; step < std::min(m, n); ++step) {
      Eigen::Index best = -1;
      double most = 0;
      for (Eigen::Index i = 0; i < m; ++i) {
        if (taken[static_cast<std::size_t>(i)]) continue;
        double least = INFINITY;
        for (std::size_t s = 0; s < whole.size(); ++s) least = std::min(least, left[p][s].row(i).squaredNorm() / whole[s]);
        if (least > most) most = least, best = i;
      }
      if (best < 0 || most < 1e-14) break;
      taken[static_cast<std::size_t>(best)] = true;
      for (Matrix& A : left[p]) {
        const Eigen::RowVectorXd v = A.row(best) / A.row(best).norm();
        A -= (A * v.transpose()) * v;
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      (taken[i] ? choice.active : largest[static_cast<Eigen::Index>(i)] < kStill ? still : moved).push_back(rows[i]);
  }
  std::sort(choice.active.begin(), choice.active.end());
  std::sort(moved.begin(), moved.end());
  std::sort(still.begin(), still.end());
  choice.redundant = std::move(moved);
  choice.redundant.insert(choice.redundant.end(), still.begin(), still.end());
  choice.zero = static_cast<int>(still.size());
  choice.assign_roles();
  return choice;
}

}  // namespace zveno
