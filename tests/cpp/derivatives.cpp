// Derivatives by duals against the complex step: tau(x + ih) = tau(x) + ih dtau/dx, exact but for round-off.
#include <complex>

#include <zveno/inst/evaluate.hpp>
#include <zveno/zveno.hpp>

#include "check.hpp"
#include "mechanisms.hpp"

using namespace zveno;

namespace {

class Complex {
 public:
  Complex() = default;
  Complex(double x) : z_(x) {}
  explicit Complex(std::complex<double> z) : z_(z) {}
  double imag() const { return z_.imag(); }

  friend Complex operator+(Complex a, Complex b) { return Complex(a.z_ + b.z_); }
  friend Complex operator-(Complex a, Complex b) { return Complex(a.z_ - b.z_); }
  friend Complex operator*(Complex a, Complex b) { return Complex(a.z_ * b.z_); }
  friend Complex operator/(Complex a, Complex b) { return Complex(a.z_ / b.z_); }
  friend Complex operator-(Complex a) { return Complex(-a.z_); }
  Complex& operator+=(Complex b) { return *this = *this + b; }
  Complex& operator-=(Complex b) { return *this = *this - b; }

  friend void joint_trig(const Complex* theta, Complex* s, Complex* c, int n) {
    for (int i = 0; i < n; ++i) {
      s[i] = Complex(std::sin(theta[i].z_));
      c[i] = Complex(std::cos(theta[i].z_));
    }
  }

 private:
  std::complex<double> z_;
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
    z[which][j] = Complex({x[which][j], kStep});
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

    constexpr int kCount = 3;  // of states; one by one and as a batch
    const std::ptrdiff_t width = 6 * job.external_count;
    const std::vector<double> x[3] = {random.vector(n * kCount), random.vector(n * kCount), random.vector(n * kCount)};
    const std::vector<double> external = random.vector(width * kCount, -10, 10);
    std::vector<double> out[3];
    for (auto& o : out) o.resize(static_cast<std::size_t>(size * kCount));
    Rows rows;
    for (int k = 0; k < 3; ++k) rows.in[k] = x[k].data(), rows.in_stride[k] = n, rows.out[k] = out[k].data();
    rows.external = external.data(), rows.external_stride = width;
    rows.count = kCount;
    evaluate(job, rows);

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
