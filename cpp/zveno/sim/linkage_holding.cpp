#include <zveno/sim/linkage_holding.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zveno {

LinkageHolding::LinkageHolding(const KernelTable& kernels, const Linkage& linkage, ChooseRows choose, Give give,
                               Baumgarte baumgarte, std::vector<LoopDrive> drives)
    : kernels_(kernels),
      linkage_(linkage),
      choose_(choose),
      give_(std::move(give)),
      baumgarte_(baumgarte),
      drives_(std::move(drives)),
      given_(static_cast<std::size_t>(linkage.given())),
      multiplier_(static_cast<std::size_t>(linkage.rows())),
      rate_(multiplier_.size()),
      residual_(multiplier_.size()),
      next_(static_cast<std::size_t>(linkage.chain().n())),
      still_(next_.size()),
      effort_(next_.size()),
      pushed_(next_.size()),
      jacobian_(6 * next_.size()) {}

Failure LinkageHolding::run(LinkageFunction function, double t, const double* q, const double* qd, const double* tau,
                            double* first, double* second, const double* base) {
  LinkageJob job(linkage_, function, choose_);
  job.baumgarte = baumgarte_;
  job.anywhere = true;  // inside a step
  if (!second) job.outputs = 1;
  Rows rows;
  rows[Param::q].data = q;
  rows[Param::qd].data = qd;
  rows[Param::tau].data = tau;
  rows[Param::t].data = &t;
  if (base) rows[Param::base_motion].data = base;
  if (!given_.empty()) {
    give_(t, q, qd, given_.data());
    rows[Param::given].data = given_.data();
  }
  rows.out[0] = first;
  rows.out[1] = second;
  rows.count = 1;
  return kernels_.run(job, rows, 0, 1);
}

Failure LinkageHolding::frame(Function function, const LoopSide& side, const double* q, double* out) {
  Job job{&linkage_.chain(), function};
  job.frame = {side.body, side.R, side.p};
  Rows rows;
  rows[Param::q].data = q;
  rows.out[0] = out;
  rows.count = 1;
  return kernels_.run(job, rows, 0, 1);
}

Failure LinkageHolding::drive(double t, const double* q, const double* qd) {
  const std::size_t n = pushed_.size();
  std::fill(pushed_.begin(), pushed_.end(), 0.0);
  if (!given_.empty()) give_(t, q, qd, given_.data());
  for (const LoopDrive& d : drives_) {
    const LoopConstraint& c = linkage_.constraints()[static_cast<std::size_t>(d.constraint)];
    double e[2];
    if (d.at)
      d.at(t, q, qd, e);
    else
      sample(d.samples, t, 2, e);
    Vec3<double> point[2], axis{0, 0, 1};
    for (const LoopSide* side : {&c.b, &c.a}) {
      Mat3<double> R;
      Vec3<double> p;
      if (side->target >= 0) {
        const double* x = given_.data() + static_cast<std::ptrdiff_t>(Linkage::kTargetSize) * side->target;
        for (int i = 0; i < 9; ++i) R(i / 3, i % 3) = x[i];
        p = Vec3<double>{x[9], x[10], x[11]} + times(R, side->p);
        R = times(R, side->R);
      } else {
        double pose[16];
        if (const Failure f = frame(Function::pose, *side, q, pose)) return f;
        for (int i = 0; i < 9; ++i) R(i / 3, i % 3) = pose[4 * (i / 3) + i % 3];
        p = {pose[3], pose[7], pose[11]};
      }
      point[side == &c.a] = p;
      axis = R.col(2);
    }
    const Vec3<double> f = axis * e[0], m = axis * e[1], lever = cross<double>(point[0] - point[1], f);
    for (const LoopSide* side : {&c.b, &c.a}) {
      if (side->target >= 0 || side->body == kWorld) continue;
      if (const Failure failure = frame(Function::jacobian, *side, q, jacobian_.data())) return failure;
      const bool of_b = side == &c.b;
      const Vec3<double> moment = of_b ? m : m + lever;
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
          const auto row = static_cast<std::size_t>(i);
          sum += jacobian_[row * n + j] * f[i] + jacobian_[(row + 3) * n + j] * moment[i];
        }
        pushed_[j] += of_b ? sum : -sum;
      }
    }
  }
  return {};
}

Failure LinkageHolding::accelerate(double t, const double* q, const double* qd, const double* effort, const double* base,
                                   double* qdd, double& power) {
  power = 0;
  if (!drives_.empty()) {
    if (const Failure f = drive(t, q, qd)) return f;
    for (std::size_t j = 0; j < pushed_.size(); ++j) effort_[j] = effort[j] + pushed_[j], power += pushed_[j] * qd[j];
    effort = effort_.data();
  }
  if (given_.empty()) return run(LinkageFunction::forward_dynamics, t, q, qd, effort, qdd, nullptr, base);
  if (const Failure f = run(LinkageFunction::forward_dynamics, t, q, qd, effort, qdd, multiplier_.data(), base)) return f;
  // of constraints that move: N . G qd = -N . f_t, f_t the rate of f at rest
  if (const Failure f = run(LinkageFunction::constraint_velocity, t, q, still_.data(), nullptr, rate_.data())) return f;
  for (std::size_t i = 0; i < rate_.size(); ++i) power -= multiplier_[i] * rate_[i];
  return {};
}

Failure LinkageHolding::project(double t, double* q, double* qd) {
  if (baumgarte_.any()) return {};
  for (int k = 0;; ++k) {
    if (const Failure f = run(LinkageFunction::residual, t, q, still_.data(), nullptr, residual_.data())) return f;
    std::size_t worst = 0;
    for (std::size_t i = 1; i < residual_.size(); ++i)
      if (std::abs(residual_[i]) > std::abs(residual_[worst])) worst = i;
    const double gap = residual_.empty() ? 0.0 : std::abs(residual_[worst]);
    if (gap <= kClosed * linkage_.length()) break;
    if (k == kMostProjections) {
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

// Implicit steps of what is held. With F = a - qdd(q, v) and E = x D + x^2 K of the joints, the change of the accelerations
// is F - u, where (M + E) u + G'l = E F and G u = 0: docs/constraints.md (L43).
class LinkageHolding::Inertia final : public InertiaSolver {
 public:
  Inertia(LinkageHolding& holding, std::unique_ptr<InertiaSolver> tree)
      : holding_(holding),
        tree_(std::move(tree)),
        n_(static_cast<std::size_t>(holding.linkage_.chain().n())),
        G_(static_cast<std::size_t>(holding.linkage_.rows()) * n_) {}

  void set(const double* q) override {
    tree_->set(q);
    LinkageHolding& x = holding_;
    failure_ = x.run(LinkageFunction::constraint_jacobian, x.time_, q, x.still_.data(), nullptr, G_.data());
    if (failure_ || x.linkage_.chosen()) return;
    failure_ = x.run(LinkageFunction::residual, x.time_, q, x.still_.data(), nullptr, x.residual_.data());
    if (!failure_ && !x.choose_(x.linkage_, G_.data(), x.residual_.data(), here_)) failure_ = {Cause::deficient};
  }
  Failure factor(const double* x) override { return factor(x, real_); }
  Failure factor(const Complex* x) override { return factor(x, complex_); }
  void solve(double* y) const override { solve(y, real_); }
  void solve(Complex* y) const override { solve(y, complex_); }
  void solve(double* y, const double* force, int) const override {
    solve(y, real_);
    std::vector<double> u(force, force + n_);
    respond(u.data(), real_);
    for (std::size_t i = 0; i < n_; ++i) y[i] += u[i];
  }

 private:
  template <class T>
  struct Factors {
    std::vector<T> E, V, S, l, u;  // V: rows are (M + E)^-1 G'
    std::vector<std::size_t> pivot;
  };
  static double size_of(double x) { return std::fabs(x); }
  static double size_of(const Complex& x) { return std::hypot(x.re(), x.im()); }

  const std::vector<int>& active() const {
    return holding_.linkage_.chosen() ? holding_.linkage_.choice().active : here_.active;
  }
  const double* row(std::size_t j) const { return G_.data() + static_cast<std::size_t>(active()[j]) * n_; }

  template <class T>
  Failure factor(const T* x, Factors<T>& f) {
    if (failure_) return failure_;
    if (const Failure failure = tree_->factor(x)) return failure;
    const std::size_t r = active().size();
    f.E.assign(x, x + n_), f.V.resize(r * n_), f.S.resize(r * r), f.l.resize(r), f.u.resize(n_), f.pivot.resize(r);
    for (std::size_t j = 0; j < r; ++j) {
      for (std::size_t i = 0; i < n_; ++i) f.V[j * n_ + i] = T(row(j)[i]);
      tree_->solve(f.V.data() + j * n_);
    }
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < r; ++j) f.S[i * r + j] = product(row(i), f.V.data() + j * n_);
    for (std::size_t k = 0; k < r; ++k) {  // with row exchanges
      std::size_t best = k;
      for (std::size_t i = k + 1; i < r; ++i)
        if (size_of(f.S[i * r + k]) > size_of(f.S[best * r + k])) best = i;
      f.pivot[k] = best;
      if (!(size_of(f.S[best * r + k]) > 0)) return {Cause::deficient};
      for (std::size_t j = 0; j < r && best != k; ++j) std::swap(f.S[k * r + j], f.S[best * r + j]);
      const T inverse = T(1.0) / f.S[k * r + k];
      for (std::size_t i = k + 1; i < r; ++i) {
        f.S[i * r + k] = f.S[i * r + k] * inverse;
        for (std::size_t j = k + 1; j < r; ++j) f.S[i * r + j] -= f.S[i * r + k] * f.S[k * r + j];
      }
    }
    return {};
  }

  template <class T>
  T product(const double* g, const T* x) const {
    T sum(0.0);
    for (std::size_t i = 0; i < n_; ++i) sum += T(g[i]) * x[i];
    return sum;
  }

  // u <- (M + E)^-1 (u - G'l) with G u = 0
  template <class T>
  void respond(T* u, Factors<T>& f) const {
    const std::size_t r = active().size();
    tree_->solve(u);
    for (std::size_t j = 0; j < r; ++j) f.l[j] = product(row(j), u);
    for (std::size_t k = 0; k < r; ++k) std::swap(f.l[k], f.l[f.pivot[k]]);
    for (std::size_t k = 0; k < r; ++k)
      for (std::size_t i = k + 1; i < r; ++i) f.l[i] -= f.S[i * r + k] * f.l[k];
    for (std::size_t k = r; k-- > 0;) {
      for (std::size_t j = k + 1; j < r; ++j) f.l[k] -= f.S[k * r + j] * f.l[j];
      f.l[k] = f.l[k] / f.S[k * r + k];
    }
    for (std::size_t j = 0; j < r; ++j)
      for (std::size_t i = 0; i < n_; ++i) u[i] -= f.V[j * n_ + i] * f.l[j];
  }

  template <class T>
  void solve(T* y, Factors<T>& f) const {
    for (std::size_t i = 0; i < n_; ++i) f.u[i] = f.E[i] * y[i];
    respond(f.u.data(), f);
    for (std::size_t i = 0; i < n_; ++i) y[i] -= f.u[i];
  }

  LinkageHolding& holding_;
  std::unique_ptr<InertiaSolver> tree_;
  const std::size_t n_;
  std::vector<double> G_;
  RowChoice here_;
  Failure failure_;
  mutable Factors<double> real_;
  mutable Factors<Complex> complex_;
};

std::unique_ptr<InertiaSolver> LinkageHolding::held(std::unique_ptr<InertiaSolver> tree) {
  return std::make_unique<Inertia>(*this, std::move(tree));
}

}  // namespace zveno
