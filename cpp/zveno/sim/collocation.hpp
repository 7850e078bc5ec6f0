// Implicit steps by collocation for stiff systems: docs/simulation.md (S3.1)-(S3.7).
//
// Unknown are the accelerations a_i at the stages. The iteration's matrix is M + h lam D + h^2 lam^2 K, lam an eigenvalue of
// the tableau, with K and D diagonal: only the inertia of the joints differs from that of forward dynamics, O(n). What it
// leaves out slows the iteration down; the result is that of the equations.
//
// A System that can be moved so has, besides the members of system.hpp,
// - int joints() const: n; its state begins with n coordinates and n rates.
// - bool residuals(count, t, step, q, v, a, r): efforts that the motions q, v, a need at times t, minus those that act, for
//   `count` rows of n numbers.
// - void slopes(t, step, q, v, k, d): the diagonals K and D of the springs and dampers at a state.
// - InertiaSolver& inertia().
// - void add_powers(count, v, weight, next): weight[i] times the powers at the stages that `residuals` was last asked for
//   are added to the accounts of the state `next`.
// - bool jumps(step): whether forces are not continuous at the beginning of this step.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

#include <zveno/functions/inertia_solver.hpp>

namespace zveno {

// A, b, c of a collocation method, and A = T Lam T^-1: at most one real eigenvalue and one conjugate pair
struct Tableau {
  static constexpr int kMost = 3;
  using C = std::complex<double>;
  int stages = 0;
  double A[kMost][kMost] = {}, A2[kMost][kMost] = {}, b[kMost] = {}, bA[kMost] = {}, c[kMost] = {};
  bool has_real = false, has_pair = false;
  double real = 0, real_column[kMost] = {}, real_row[kMost] = {};
  C pair = 0, pair_column[kMost] = {}, pair_row[kMost] = {};

  static Tableau midpoint() { return Tableau(1, {0.5}, {1.0}, {0.5}); }
  static Tableau gauss() {
    const double r = std::sqrt(3.0) / 6;
    return Tableau(2, {0.25, 0.25 - r, 0.25 + r, 0.25}, {0.5, 0.5}, {0.5 - r, 0.5 + r});
  }
  static Tableau radau() {
    const double s = std::sqrt(6.0);
    return Tableau(3,
                   {(88 - 7 * s) / 360, (296 - 169 * s) / 1800, (-2 + 3 * s) / 225, (296 + 169 * s) / 1800,
                    (88 + 7 * s) / 360, (-2 - 3 * s) / 225, (16 - s) / 36, (16 + s) / 36, 1.0 / 9},
                   {(16 - s) / 36, (16 + s) / 36, 1.0 / 9}, {(4 - s) / 10, (4 + s) / 10, 1.0});
  }

 private:
  Tableau(int s, std::initializer_list<double> a, std::initializer_list<double> weights,
          std::initializer_list<double> places)
      : stages(s) {
    for (int i = 0; i < s; ++i) {
      for (int j = 0; j < s; ++j) A[i][j] = a.begin()[i * s + j];
      b[i] = weights.begin()[i];
      c[i] = places.begin()[i];
    }
    for (int i = 0; i < s; ++i)
      for (int j = 0; j < s; ++j)
        for (int k = 0; k < s; ++k) A2[i][j] += A[i][k] * A[k][j];
    for (int j = 0; j < s; ++j)
      for (int k = 0; k < s; ++k) bA[j] += b[k] * A[k][j];
    // eigenvalues of x^3 - p x^2 + q x - r, of x^2 - p x + q, of x - p
    const double p = A[0][0] + A[1][1] + A[2][2];
    const double q = A[0][0] * A[1][1] - A[0][1] * A[1][0] + (A[0][0] * A[2][2] - A[0][2] * A[2][0]) +
                     (A[1][1] * A[2][2] - A[1][2] * A[2][1]);
    has_real = s != 2, has_pair = s != 1;
    double sum = p, product = q;  // of the pair
    if (s == 1) real = p;
    if (s == 3) {
      const double r = A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
                       A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) + A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
      real = p / 3;
      for (int k = 0; k < 50; ++k) real -= (((real - p) * real + q) * real - r) / ((3 * real - 2 * p) * real + q);
      sum = p - real, product = r / real;
    }
    if (has_pair) pair = C(0.5 * sum, std::sqrt(product - 0.25 * sum * sum));
    if (has_real) vectors(real, real_column, real_row);
    if (has_pair) vectors(pair, pair_column, pair_row);
  }

  // right and left eigenvector with the product 1
  template <class S>
  void vectors(const S& x, S* column, S* row) const {
    if (stages == 1) {
      column[0] = row[0] = 1;
      return;
    }
    if (stages == 2) {
      column[0] = A[0][1], column[1] = x - A[0][0];
      row[0] = A[1][0], row[1] = x - A[0][0];
    } else {  // orthogonal to two rows, to two columns of A - x
      const auto B = [&](int i, int j) { return i == j ? S(A[i][i]) - x : S(A[i][j]); };
      for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        column[k] = B(0, i) * B(1, j) - B(0, j) * B(1, i);
        row[k] = B(i, 0) * B(j, 1) - B(j, 0) * B(i, 1);
      }
    }
    S product = 0;
    for (int k = 0; k < stages; ++k) product += row[k] * column[k];
    for (int k = 0; k < stages; ++k) row[k] /= product;
  }
};

// how exactly: of the coordinates
struct Tolerances {
  bool controlled = false;  // steps are chosen by (S3.7), else only shortened where the iteration does not converge
  double relative = 0, absolute = 1e-12;

  // of the iteration; small, because what is left of it stays in the rates
  double iteration() const { return controlled ? 1e-3 * (absolute + relative) : absolute; }
};

// what came of a step: paused ones want to be asked again, so that a caller stays in control of long ones
enum class Moved { done, paused, failed };

template <class System>
class Collocation {
 public:
  Collocation(const Tableau& tableau, const Tolerances& tolerances, const System& system)
      : x_(tableau),
        tolerances_(tolerances),
        stages_(static_cast<std::size_t>(tableau.stages)),
        n_(static_cast<std::size_t>(system.joints())),
        size_(static_cast<std::size_t>(system.size())) {
    for (std::vector<double>* x : {&q_, &v_, &a_, &r_, &change_, &last_a_}) x->resize(stages_ * n_);
    for (std::vector<double>* x : {&k_, &d_, &real_, &error_, &rate_}) x->resize(n_);
    complex_.resize(n_);
    from_.resize(size_), to_.resize(size_);
  }

  // y -> next over one step of the schedule; of one that failed see failure()
  Moved advance(System& system, double t, double dt, std::ptrdiff_t step, const double* y, double* next) {
    if (done_ == 0) {
      if (step == 0 || system.jumps(step)) known_ = false;
      std::copy_n(y, size_, from_.data());
    }
    const Moved moved = tolerances_.controlled ? controlled(system, t, dt, step) : halved(system, t, dt, step);
    if (moved == Moved::paused) return moved;
    done_ = 0;
    std::copy_n(from_.data(), size_, next);
    return moved;
  }

  // the next step does not continue the last one
  void forget() { known_ = false, done_ = 0; }
  const Failure& failure() const { return failure_; }
  double failure_time() const { return failure_time_; }
  std::ptrdiff_t steps() const { return made_; }
  std::ptrdiff_t rejected() const { return rejected_; }
  std::ptrdiff_t iterations() const { return iterations_; }

 private:
  static constexpr int kMostIterations = 25, kMostHalvings = 12, kPatience = 64;

  // a fixed step, or parts of it where the iteration does not converge
  Moved halved(System& system, double t, double dt, std::ptrdiff_t step) {
    const std::ptrdiff_t whole = std::ptrdiff_t{1} << kMostHalvings;
    std::ptrdiff_t done = 0, part = whole;
    while (done < whole) {
      const double at = t + dt * (static_cast<double>(done) / whole), h = dt * (static_cast<double>(part) / whole);
      if (solve(system, at, h, step)) {
        accept(h);
        done += part;
        while (part < whole && done % (2 * part) == 0) part *= 2;
      } else {
        ++rejected_;
        known_ = false;
        if (part == 1) return refuse(at);
        part /= 2;
      }
    }
    return Moved::done;
  }

  Moved controlled(System& system, double t, double dt, std::ptrdiff_t step) {
    if (!(h_ > 0)) h_ = dt;
    bool last_rejected = false;
    for (int tries = 0; done_ < dt; ++tries) {
      if (tries == kPatience && done_ > 0) return Moved::paused;
      const double left = dt - done_, h = h_ >= left ? left : left / std::ceil(left / h_ - 1e-9);
      if (h < 1e-9 * dt) return refuse(t + done_);
      if (!solve(system, t + done_, h, step)) {
        ++rejected_;
        known_ = false, last_rejected = true;
        h_ = 0.25 * h;
        continue;
      }
      const double error = error_of(system, t + done_, h, step);
      if (!std::isfinite(error)) return refuse(t + done_);
      const double factor = std::clamp(0.9 * std::pow(std::max(error, 1e-10), -0.25), 0.2, last_rejected ? 1.0 : 5.0);
      if (error <= 1) {
        done_ = h == left ? dt : done_ + h;
        accept(h);
        if (h >= 0.99 * h_ || factor < 1) h_ = h * factor;  // a step that was cut short says little
        last_rejected = false;
      } else {
        ++rejected_;
        known_ = false, last_rejected = true;
        h_ = h * factor;
      }
    }
    return Moved::done;
  }

  Moved refuse(double t) {
    failure_time_ = t;
    if (!failure_) failure_ = {Cause::step};
    return Moved::failed;
  }

  void accept(double h) {
    from_.swap(to_);
    last_a_.swap(a_);
    last_h_ = h, known_ = true;
    failure_ = {};
    ++made_;
  }

  // a of the stages: the last polynomial, carried on, or zero
  void start(double h) {
    std::fill(a_.begin(), a_.end(), 0.0);
    if (!known_) return;
    for (int i = 0; i < x_.stages; ++i)
      for (int j = 0; j < x_.stages; ++j) {
        double weight = 1;
        for (int k = 0; k < x_.stages; ++k)
          if (k != j) weight *= (1 + x_.c[i] * h / last_h_ - x_.c[k]) / (x_.c[j] - x_.c[k]);
        add(weight, row(last_a_, j), row(a_, i));
      }
  }

  // (S3.1)
  void place(double h) {
    const double *q = from_.data(), *v = q + n_;
    for (int i = 0; i < x_.stages; ++i) {
      double *qi = row(q_, i), *vi = row(v_, i);
      for (std::size_t k = 0; k < n_; ++k) qi[k] = q[k] + h * x_.c[i] * v[k], vi[k] = v[k];
      for (int j = 0; j < x_.stages; ++j) {
        add(h * h * x_.A2[i][j], row(a_, j), qi);
        add(h * x_.A[i][j], row(a_, j), vi);
      }
    }
  }

  // the equations of one step, from_ -> to_; false: no convergence
  bool solve(System& system, double t, double h, std::ptrdiff_t step) {
    const double *q = from_.data(), *v = q + n_;
    InertiaSolver& inertia = system.inertia();
    for (std::size_t k = 0; k < n_; ++k) rate_[k] = q[k] + 0.5 * h * v[k];
    system.slopes(t + 0.5 * h, step, rate_.data(), v, k_.data(), d_.data());
    inertia.set(rate_.data());
    if (!factor(inertia, h)) return false;
    double times[Tableau::kMost];
    for (int i = 0; i < x_.stages; ++i) times[i] = t + x_.c[i] * h;
    start(h);
    const double wanted = tolerances_.iteration();
    double before = 0, rounding = 1e-14;
    for (std::size_t k = 0; k < n_; ++k) rounding = std::max(rounding, 1e-15 * std::fabs(q[k]));
    for (int it = 0; it < kMostIterations; ++it) {
      place(h);
      if (!system.residuals(x_.stages, times, step, q_.data(), v_.data(), a_.data(), r_.data())) {
        failure_ = system.failure();
        return false;
      }
      ++iterations_;
      correct(inertia);
      const double size = moved(h);
      if (!std::isfinite(size)) return false;
      // rounding is all that is left, or the changes to come are small: a geometric series
      bool done = size < rounding || (!known_ && size < 1e-3 * wanted);
      if (it > 0 && !done) {
        const double ratio = size / before;
        if (ratio >= 1 && size > std::max(wanted, 100 * rounding)) {
          if (it > 2 || ratio > 2) return false;
        } else {
          done = ratio >= 1 || ratio / (1 - ratio) * size < wanted;
        }
      }
      if (done) return finish(system, h), true;
      before = size;
    }
    return false;
  }

  // (S3.4)
  bool factor(InertiaSolver& inertia, double h) {
    Failure f;
    if (x_.has_pair) {
      const Tableau::C x = h * x_.pair, xx = x * x;
      for (std::size_t k = 0; k < n_; ++k) {
        const Tableau::C sum = x * d_[k] + xx * k_[k];
        complex_[k] = Complex(sum.real(), sum.imag());
      }
      f = inertia.factor(complex_.data());
    }
    if (x_.has_real && !f) {
      const double x = h * x_.real;
      for (std::size_t k = 0; k < n_; ++k) real_[k] = x * d_[k] + x * x * k_[k];
      f = inertia.factor(real_.data());
    }
    if (f) failure_ = f;
    return !f;
  }

  // (S3.3) a -= change
  void correct(InertiaSolver& inertia) {
    std::fill(change_.begin(), change_.end(), 0.0);
    if (x_.has_real) {
      std::fill(real_.begin(), real_.end(), 0.0);
      for (int j = 0; j < x_.stages; ++j) add(x_.real_row[j], row(r_, j), real_.data());
      inertia.solve(real_.data());
      for (int i = 0; i < x_.stages; ++i) add(x_.real_column[i], real_.data(), row(change_, i));
    }
    if (x_.has_pair) {
      for (std::size_t k = 0; k < n_; ++k) {
        double re = 0, im = 0;
        for (int j = 0; j < x_.stages; ++j) {
          const double r = row(r_, j)[k];
          re += x_.pair_row[j].real() * r, im += x_.pair_row[j].imag() * r;
        }
        complex_[k] = Complex(re, im);
      }
      inertia.solve(complex_.data());
      for (int i = 0; i < x_.stages; ++i) {  // the conjugate eigenvalue adds the conjugate
        const double re = 2 * x_.pair_column[i].real(), im = 2 * x_.pair_column[i].imag();
        double* to = row(change_, i);
        for (std::size_t k = 0; k < n_; ++k) to[k] += re * complex_[k].re() - im * complex_[k].im();
      }
    }
    for (std::size_t k = 0; k < a_.size(); ++k) a_[k] -= change_[k];
  }

  // largest change of a coordinate at a stage
  double moved(double h) {
    double most = 0;
    bool finite = true;
    for (int i = 0; i < x_.stages; ++i)
      for (std::size_t k = 0; k < n_; ++k) {
        double sum = 0;
        for (int j = 0; j < x_.stages; ++j) sum += x_.A2[i][j] * row(change_, j)[k];
        finite &= std::isfinite(sum);
        most = std::max(most, std::fabs(sum));
      }
    return finite ? h * h * most : std::numeric_limits<double>::infinity();
  }

  // (S3.2), and the accounts by (S3.6)
  void finish(System& system, double h) {
    place(h);
    const double *q = from_.data(), *v = q + n_;
    double *next = to_.data(), *speed = next + n_;
    std::copy_n(from_.data(), size_, next);
    for (std::size_t k = 0; k < n_; ++k) next[k] = q[k] + h * v[k];
    for (int j = 0; j < x_.stages; ++j) {
      add(h * h * x_.bA[j], row(a_, j), next);
      add(h * x_.b[j], row(a_, j), speed);
    }
    double weights[Tableau::kMost];
    for (int i = 0; i < x_.stages; ++i) weights[i] = h * x_.b[i];
    system.add_powers(x_.stages, v_.data(), weights, next);
  }

  // (S3.7), of three stages of Radau
  double error_of(System& system, double t, double h, std::ptrdiff_t step) {
    const double s = std::sqrt(6.0), e[3] = {(-13 - 7 * s) / 3, (-13 + 7 * s) / 3, -1.0 / 3}, x = h * x_.real;
    const double *q = from_.data(), *v = q + n_;
    for (std::size_t k = 0; k < n_; ++k) rate_[k] = v[k], real_[k] = 0;
    for (int i = 0; i < x_.stages; ++i)
      for (std::size_t k = 0; k < n_; ++k) {
        rate_[k] += e[i] * (row(q_, i)[k] - q[k]) / h;
        real_[k] -= e[i] * (row(v_, i)[k] - v[k]) / h;
      }
    if (!system.residuals(1, &t, step, q, v, real_.data(), error_.data()))
      return failure_ = system.failure(), std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < n_; ++k) error_[k] *= -x, real_[k] = -x * x * k_[k] * rate_[k];
    system.inertia().solve(error_.data(), real_.data(), static_cast<int>(n_));
    double sum = 0;
    for (std::size_t k = 0; k < n_; ++k) {
      const double size = std::max(1.0, std::fabs(q[k]));
      const double one = x * (rate_[k] + error_[k]) / (tolerances_.absolute + tolerances_.relative * size);
      sum += one * one;
    }
    return std::sqrt(sum / static_cast<double>(n_));
  }

  double* row(std::vector<double>& x, int i) const { return x.data() + static_cast<std::size_t>(i) * n_; }
  void add(double weight, const double* x, double* to) const {
    for (std::size_t k = 0; k < n_; ++k) to[k] += weight * x[k];
  }

  Tableau x_;
  Tolerances tolerances_;
  std::size_t stages_, n_, size_;
  std::vector<double> q_, v_, a_, r_, change_, last_a_;  // rows of the stages
  std::vector<double> k_, d_, real_, error_, rate_, from_, to_;
  std::vector<Complex> complex_;
  bool known_ = false;  // last_a_ belongs to the step before
  double last_h_ = 1, h_ = 0;
  double done_ = 0;  // of a step under way
  Failure failure_;
  double failure_time_ = 0;
  std::ptrdiff_t made_ = 0, rejected_ = 0, iterations_ = 0;
};

}  // namespace zveno
