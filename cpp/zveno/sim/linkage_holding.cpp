#include <zveno/sim/linkage_holding.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zveno {
namespace {

// of the length: a residual below is round-off, one above is open; more steps than these are not made
constexpr double kClosed = 1e-14, kOpen = 1e-9;
constexpr int kMostSteps = 3;

}  // namespace

LinkageHolding::LinkageHolding(const KernelTable& kernels, const Linkage& linkage, ChooseRows choose, Give give,
                               Baumgarte baumgarte)
    : kernels_(kernels),
      linkage_(linkage),
      choose_(choose),
      give_(std::move(give)),
      baumgarte_(baumgarte),
      given_(static_cast<std::size_t>(linkage.given())),
      multiplier_(static_cast<std::size_t>(linkage.rows())),
      rate_(multiplier_.size()),
      residual_(multiplier_.size()),
      next_(static_cast<std::size_t>(linkage.chain().n())),
      still_(next_.size()) {}

Failure LinkageHolding::run(LinkageFunction function, double t, const double* q, const double* qd, const double* tau,
                            double* first, double* second) {
  LinkageJob job(linkage_, function, choose_);
  job.damping = baumgarte_.damping, job.stiffness = baumgarte_.stiffness;
  job.anywhere = true;  // inside a step
  if (!second) job.outputs = 1;
  Rows rows;
  rows[Param::q].data = q;
  rows[Param::qd].data = qd;
  rows[Param::tau].data = tau;
  rows[Param::t].data = &t;
  if (!given_.empty()) {
    give_(t, q, qd, given_.data());
    rows[Param::given].data = given_.data();
  }
  rows.out[0] = first;
  rows.out[1] = second;
  rows.count = 1;
  return kernels_.run(job, rows, 0, 1);
}

Failure LinkageHolding::accelerate(double t, const double* q, const double* qd, const double* effort, double* qdd,
                                   double& power) {
  power = 0;
  if (given_.empty()) return run(LinkageFunction::forward_dynamics, t, q, qd, effort, qdd);
  if (const Failure f = run(LinkageFunction::forward_dynamics, t, q, qd, effort, qdd, multiplier_.data())) return f;
  // of constraints that move: N . G qd = -N . f_t, f_t the rate of f at rest
  if (const Failure f = run(LinkageFunction::constraint_velocity, t, q, still_.data(), nullptr, rate_.data())) return f;
  for (std::size_t i = 0; i < rate_.size(); ++i) power -= multiplier_[i] * rate_[i];
  return {};
}

Failure LinkageHolding::project(double t, double* q, double* qd) {
  if (baumgarte_.damping != 0 || baumgarte_.stiffness != 0) return {};
  for (int k = 0;; ++k) {
    if (const Failure f = run(LinkageFunction::residual, t, q, still_.data(), nullptr, residual_.data())) return f;
    std::size_t worst = 0;
    for (std::size_t i = 1; i < residual_.size(); ++i)
      if (std::abs(residual_[i]) > std::abs(residual_[worst])) worst = i;
    const double gap = residual_.empty() ? 0.0 : std::abs(residual_[worst]);
    if (gap <= kClosed * linkage_.length()) break;
    if (k == kMostSteps) {
      if (gap <= kOpen * linkage_.length()) break;
      return {Cause::open, -1, linkage_.constraint_of_row(static_cast<int>(worst)), gap};
    }
    if (const Failure f = run(LinkageFunction::project_position, t, q, still_.data(), nullptr, next_.data())) return f;
    std::copy(next_.begin(), next_.end(), q);
  }
  if (const Failure f = run(LinkageFunction::project_velocity, t, q, qd, nullptr, next_.data())) return f;
  std::copy(next_.begin(), next_.end(), qd);
  return {};
}

}  // namespace zveno
