// Derivatives by duals against the complex step: tau(x + ih) = tau(x) + ih dtau/dx, exact but for round-off.
#include <cmath>

#include <zveno/instances/chain.hpp>
#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

// std::complex looks for infinities in every product
class Complex {
 public:
  Complex() = default;
  Complex(double re, double im = 0) : re_(re), im_(im) {}
  double imag() const { return im_; }

  friend Complex operator+(Complex a, Complex b) { return {a.re_ + b.re_, a.im_ + b.im_}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re_ - b.re_, a.im_ - b.im_}; }
  friend Complex operator*(Complex a, Complex b) { return {a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_}; }
  friend Complex operator-(Complex a) { return {-a.re_, -a.im_}; }
  Complex& operator+=(Complex b) { return *this = *this + b; }
  Complex& operator-=(Complex b) { return *this = *this - b; }

  friend void joint_trig(const Complex* theta, Complex* s, Complex* c, int n) {
    for (int i = 0; i < n; ++i) {
      const double re = theta[i].re_, im = theta[i].im_;
      s[i] = {std::sin(re) * std::cosh(im), std::cos(re) * std::sinh(im)};
      c[i] = {std::cos(re) * std::cosh(im), -std::sin(re) * std::sinh(im)};
    }
  }

 private:
  double re_, im_;
};

constexpr double kStep = 1e-30;

// d tau / d x[which], row major
std::vector<double> by_complex_step(const Job& job, const std::vector<double> (&x)[3], const std::vector<double>& external,
                                    int which) {
  const std::size_t n = x[0].size();
  const std::vector<Complex> loads(external.begin(), external.end());
  std::vector<double> J(n * n);
  Scratch scratch;
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<Complex> z[3];
    for (int k = 0; k < 3; ++k) z[k].assign(x[k].begin(), x[k].end());
    z[which][j] = Complex(x[which][j], kStep);
    std::vector<Complex> tau(n);
    inverse_dynamics<Complex>(job, {{z[0].data(), z[1].data(), z[2].data()}, loads.data()}, tau.data(), scratch);
    for (std::size_t i = 0; i < n; ++i) J[i * n + j] = tau[i].imag() / kStep;
  }
  return J;
}

}  // namespace

LAW(derivatives_are_those_of_the_complex_step) {
  for (const Wanted& wanted : mechanisms(12)) {
    Random random(20 + static_cast<std::uint64_t>(wanted.n));
    const Chain chain = make(random_links(random, wanted));
    const std::ptrdiff_t n = chain.n(), size = n * n;
    const std::vector<LinkFrame> loads = random_loads(random, chain);
    Job job{&chain, Function::derivatives};
    job.external_frames = loads.data();
    job.external_count = static_cast<int>(loads.size());

    constexpr int kCount = 3;
    const std::ptrdiff_t width = 6 * job.external_count;
    const std::vector<double> x[3] = {random.vector(n * kCount), random.vector(n * kCount), random.vector(n * kCount)};
    const std::vector<double> external = random.vector(width * kCount, -10, 10);
    std::vector<double> out[3];
    for (auto& o : out) o.resize(static_cast<std::size_t>(size * kCount));
    States states(job, {x[0].data(), x[1].data(), x[2].data()}, external.data(), kCount);
    double* const to[3] = {out[0].data(), out[1].data(), out[2].data()};
    evaluate(job, states.rows(0, kCount, to));

    for (int row = 0; row < kCount; ++row) {
      std::vector<double> state[3];
      for (int k = 0; k < 3; ++k) state[k].assign(x[k].begin() + row * n, x[k].begin() + (row + 1) * n);
      const std::vector<double> load(external.begin() + row * width, external.begin() + (row + 1) * width);
      for (int k = 0; k < 3; ++k) {
        const char* const names[] = {"dtau/dq", "dtau/dqd", "dtau/dqdd"};
        const std::string what = names[k] + std::string(", n = ") + std::to_string(n);
        const std::vector<double> expected = by_complex_step(job, state, load, k);
        CHECK_NEAR(what, out[k].data() + row * size, expected.data(), size, 2e-14 * static_cast<double>(n));
      }
    }
  }
}
