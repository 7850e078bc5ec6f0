// Inertia of a chain with numbers on its diagonal, real and complex; geometry in doubles.
#include <zveno/functions/inertia_solver.hpp>

#include <cmath>
#include <memory>
#include <vector>

#include <zveno/batch/rows.hpp>
#include <zveno/functions/joint_angles.hpp>
#include <zveno/kernel/chain/articulated.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {
namespace {

// of a pivot
double size_of_pivot(double x) { return x; }
double size_of_pivot(const Complex& x) { return std::hypot(x.re(), x.im()); }

template <class T>
struct Factors {
  std::vector<Wrench<T>> U;
  std::vector<T> inverse, pivot, beside, ordered;

  explicit Factors(std::size_t n) : U(n), inverse(n), pivot(n), beside(n), ordered(n) {}
};

class ArticulatedSolver : public InertiaSolver {
 public:
  explicit ArticulatedSolver(const Chain& chain)
      : chain_(chain),
        n_(static_cast<std::size_t>(chain.n())),
        s_(room(n_)),
        c_(room(n_)),
        q_(n_),
        real_(n_),
        complex_(n_) {}

  void set(const double* q) override {
    for (std::size_t b = 0; b < n_; ++b) q_[b] = q[chain_.user_index()[b]];
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    turn_joints(chain_, q_.data(), s_.data(), c_.data(), scratch);
  }

  Failure factor(const double* x) override { return factor(x, real_); }
  Failure factor(const Complex* x) override { return factor(x, complex_); }
  using InertiaSolver::solve;
  void solve(double* y) const override { solve(y, real_); }
  void solve(Complex* y) const override { solve(y, complex_); }

 private:
  static std::size_t room(std::size_t n) { return static_cast<std::size_t>(padded(static_cast<int>(n))); }
  JointPosition<double> at() const { return {s_.data(), c_.data(), q_.data()}; }

  template <class T>
  Failure factor(const T* x, Factors<T>& f) {
    for (std::size_t b = 0; b < n_; ++b) f.beside[b] = x[chain_.user_index()[b]] + T(chain_.rotor_inertia()[b]);
    factor_inertia(chain_.view(), at(), f.beside.data(), f.U.data(), f.inverse.data(), f.pivot.data(),
                   Scratch::of_this_thread());
    for (std::size_t b = n_; b-- > 0;) {
      const double size = size_of_pivot(f.pivot[b]);
      if (!std::isfinite(size)) return {Cause::overflow};
      if (!(size > chain_.tiny_pivot()[b])) return {Cause::massless, -1, chain_.user_index()[b]};
    }
    return {};
  }

  template <class T>
  void solve(T* y, Factors<T>& f) const {
    for (std::size_t b = 0; b < n_; ++b) f.ordered[b] = y[chain_.user_index()[b]];
    solve_inertia(chain_.view(), at(), f.U.data(), f.inverse.data(), chain_.n(), f.ordered.data(),
                  Scratch::of_this_thread());
    for (std::size_t b = 0; b < n_; ++b) y[chain_.user_index()[b]] = f.ordered[b];
  }

  const Chain& chain_;
  const std::size_t n_;
  std::vector<double> s_, c_, q_;
  mutable Factors<double> real_;
  mutable Factors<Complex> complex_;
};

}  // namespace

std::unique_ptr<InertiaSolver> make_inertia_solver(const Chain& chain) { return std::make_unique<ArticulatedSolver>(chain); }

}  // namespace zveno
