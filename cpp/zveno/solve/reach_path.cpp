// docs/inverse-kinematics.md, section 5
#include <zveno/solve/reach_path.hpp>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include <zveno/kernel/chain/reach.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {
namespace {

constexpr int kHalvings = 20, kMostParts = 2048, kCorrections = 8;
constexpr double kExact = 1e-12;  // of the error, lengths over the reach
constexpr double kShorter = 0.125;
constexpr double kSigma = 1e-5;  // nearer to a singularity joints turn over: that is no continuation to be used

Mat3<double> rotation_of(const Vec3<double>& v) {
  const double angle = std::sqrt(dot(v, v)), half = 0.5 * angle;
  const double s = angle > 1e-8 ? std::sin(angle) / angle : 1.0;
  const double h = angle > 1e-8 ? std::sin(half) / angle : 0.5, c = 2 * h * h;
  Mat3<double> R = skew<double>(v * s);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R(i, j) += c * v[i] * v[j] + (i == j ? 1 - c * angle * angle : 0.0);
  return R;
}

}  // namespace

struct ReachPath::Work {
  const ReachModel& model;
  const int n, goals;
  Scratch scratch;
  ReachState<double> state;
  std::vector<int> held;  // rows of the error that count
  double gamma;           // bounds the change of the Jacobian, (K30)
  Eigen::MatrixXd J, V;
  Eigen::VectorXd e, y;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  Step told{};
  double sigma = 0;            // least singular value here
  std::vector<double> halves;  // goals in the middle, of each depth

  explicit Work(const ReachModel& m)
      : model(m), n(m.size()), goals(12 * static_cast<int>(m.frame.size())), state(m, scratch) {
    for (std::size_t k = 0; k < m.frame.size(); ++k)
      for (int i = 0; i < 6; ++i)
        if (m.frame[k].held[i]) held.push_back(static_cast<int>(6 * k) + i);
    const auto turning = std::count(m.topology.kind.begin(), m.topology.kind.end(), JointKind::revolute);
    gamma = std::sqrt(2.0 * static_cast<double>(m.frame.size())) * static_cast<double>(std::max<std::ptrdiff_t>(1, turning));
    J.resize(static_cast<int>(held.size()), n), e.resize(static_cast<int>(held.size()));
    halves.resize(static_cast<std::size_t>((kHalvings + 1) * goals));
  }

  // what is left of the way, lengths over the reach
  double error(const double* goal, const double* q) {
    std::copy_n(q, n, state.q);
    reach_error(model, goal, state);
    for (std::size_t r = 0; r < held.size(); ++r)
      e[static_cast<int>(r)] = state.e[held[r]] * (held[r] % 6 < 3 ? model.length / model.reach : 1.0);
    return e.cwiseAbs().maxCoeff();
  }
  // least change of q that takes the error away to first order, after error()
  Eigen::VectorXd newton(const double* goal) {
    reach_jacobian(model, goal, state);
    const int rows = 6 * static_cast<int>(model.frame.size());
    for (std::size_t r = 0; r < held.size(); ++r)
      for (int b = 0; b < n; ++b)
        J(static_cast<int>(r), b) = state.column[b * rows + held[r]] * (held[r] % 6 < 3 ? model.length / model.reach : 1.0);
    solver.compute(J * J.transpose());
    const auto& values = solver.eigenvalues();
    sigma = std::sqrt(std::max(values[0], 0.0));
    told.sigma = std::min(told.sigma, sigma);
    ++told.corrections;
    return again();
  }
  // the same for the error as it is now, with the Jacobian of the last newton()
  Eigen::VectorXd again() {
    y = solver.eigenvectors().transpose() * e;
    const auto& values = solver.eigenvalues();
    const double least = 1e-14 * values[values.size() - 1];
    for (int i = 0; i < y.size(); ++i) y[i] = values[i] > least ? y[i] / values[i] : 0.0;
    return J.transpose() * (solver.eigenvectors() * y);
  }
  bool turns_right() const { return J.determinant() > 0; }
  void move(double* q, const Eigen::VectorXd& d) const {
    for (int b = 0; b < n; ++b) q[b] += d[b] * model.scale(b);
  }

  // Whether a step from q to `at` is undone by one of Newton's method to where it came from, and no singularity is between
  bool leads_back(const double* from, const double* q, const double* at, double away, bool right, double before) {
    error(from, at);
    const Eigen::VectorXd d = newton(from);
    double off = 0;
    for (int b = 0; b < n; ++b) off += std::pow((at[b] - q[b]) / model.scale(b) + d[b], 2);
    return std::sqrt(off) <= 2 * kShorter * away && turns_right() == right && sigma > 0.5 * before;
  }

  bool go(const double* from, const double* to, double* q, int depth) {
    ++told.parts;
    error(to, q);
    const Eigen::VectorXd d = newton(to);
    const double step = d.norm(), here = sigma;
    const bool certain = gamma * step <= 0.5 * here, square = J.rows() == J.cols();
    const bool right = square && turns_right();
    std::vector<double> at(q, q + n);
    move(at.data(), d);
    double left = error(to, at.data());
    // (K30), or what it bounds, measured: how much shorter the next step of Newton's method is
    if (certain || (square && here > kSigma && again().norm() <= kShorter * step)) {
      for (int i = 0; left > kExact && i < kCorrections; ++i) {
        move(at.data(), newton(to));
        left = error(to, at.data());
      }
      double away = 0;
      for (int b = 0; b < n; ++b) away += std::pow((at[b] - q[b]) / model.scale(b), 2);
      away = std::sqrt(away);
      told.gap = std::sqrt(state.gap2), told.turn = std::sqrt(state.turn2);
      if (left <= kExact && away <= 2 * step + 1e-9 && (certain || leads_back(from, q, at.data(), away, right, here))) {
        std::copy_n(at.data(), n, q);
        return true;
      }
      if (certain) return false;
    }
    if (depth == kHalvings || told.parts > kMostParts || here < kSigma) return false;
    double* const middle = halves.data() + depth * goals;
    for (int k = 0; k < goals; k += 12) {
      const Mat3<double> a = goal_rotation(from + k), b = goal_rotation(to + k);
      const Mat3<double> R = times(rotation_of(rotation_vector(times(b, a.transposed())) * 0.5), a);
      for (int i = 0; i < 3; ++i) middle[k + i] = 0.5 * (from[k + i] + to[k + i]);
      for (int i = 0; i < 9; ++i) middle[k + 3 + i] = R(i / 3, i % 3);
    }
    return go(from, middle, q, depth + 1) && go(middle, to, q, depth + 1);
  }
};

ReachPath::ReachPath(const ReachModel& model) : work_(std::make_unique<Work>(model)) {}
ReachPath::~ReachPath() = default;

ReachPath::Step ReachPath::follow(const double* from, const double* to, double* q) {
  Work& w = *work_;
  w.told = {};
  w.told.sigma = INFINITY;
  std::vector<double> own(static_cast<std::size_t>(w.n));
  for (int b = 0; b < w.n; ++b) own[b] = q[w.model.place[b]];
  w.told.certain = w.go(from, to, own.data(), 0);
  if (w.told.certain)
    for (int b = 0; b < w.n; ++b) q[w.model.place[b]] = own[b];
  return w.told;
}

}  // namespace zveno
