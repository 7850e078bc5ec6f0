#include <zveno/solve/custom_leg.hpp>

#include <cstring>

#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/math/dense.hpp>

namespace zveno {
namespace {

constexpr int kMostSteps = 60, kMostHalvings = 12;

void cross3(const double* a, const double* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}
double dot3(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

void CustomLeg::run(Function function, const double* qdd, const double* flow, double* out, Scratch& scratch) const {
  Job job{chain_->chain.get(), function};
  job.method = function == Function::mass_matrix ? Method::crba : Method::none;
  job.frame = chain_->hook;
  job.weightless = true;
  Inputs<double> in;
  in[Param::q] = q_, in[Param::qd] = qd_, in[Param::qdd] = qdd, in[Param::base_motion] = flow;
  evaluate<double>(job, in, &out, nullptr, scratch);
}

Failure CustomLeg::close(const Hexapod& hexapod, int leg, const double* r, const double* R, const double* start,
                         Scratch& scratch) {
  chain_ = &hexapod.chain(leg);
  n_ = chain_->chain->n();
  const int m = n_;
  for (int i = 0; i < 3; ++i) {
    rho_[i] = e2_[i] = 0;
    for (int j = 0; j < 3; ++j) {
      rho_[i] += R[3 * i + j] * hexapod.leg(leg).ring[j];
      e2_[i] += R[3 * i + j] * chain_->ring_axis[j];
    }
    hinge_[i] = r[i] + rho_[i];
  }
  double f[4];
  const auto residual = [&] {
    double T[16];
    run(Function::pose, nullptr, nullptr, T, scratch);
    for (int i = 0; i < 3; ++i) f[i] = T[4 * i + 3] - hinge_[i], e1_[i] = T[4 * i + 1];
    if (chain_->universal) f[3] = dot3(e1_, e2_);
    double size = 0;
    for (int i = 0; i < m; ++i) size = std::fmax(size, std::fabs(f[i]));
    return size;
  };
  const auto linearise = [&] {
    double J[24];
    run(Function::jacobian, nullptr, nullptr, J, scratch);
    cross3(e1_, e2_, normal_);
    for (int j = 0; j < n_; ++j) {
      for (int i = 0; i < 3; ++i) C_[i * n_ + j] = J[i * n_ + j];
      if (chain_->universal)
        C_[3 * n_ + j] = normal_[0] * J[3 * n_ + j] + normal_[1] * J[4 * n_ + j] + normal_[2] * J[5 * n_ + j];
    }
  };
  std::copy_n(start ? start : chain_->start.data(), n_, q_);
  std::fill(qd_, qd_ + 4, 0.0);
  double scale = 1;
  for (double x : hinge_) scale = std::fmax(scale, std::fabs(x));
  double size = residual(), pivot = 1;
  int left = kMostSteps;
  for (bool done = false; !done && left > 0; --left) {
    linearise();
    double C[16], step[4], q0[4];
    std::copy_n(C_, 16, C);
    std::copy_n(f, n_, step);
    pivot = solve_dense(C, n_, step);
    if (!(pivot > kTinyPivot)) break;
    std::copy_n(q_, n_, q0);
    const double before = size;
    for (int k = 0; k < kMostHalvings; ++k) {
      const double part = std::ldexp(1.0, -k);
      for (int j = 0; j < n_; ++j) q_[j] = q0[j] - part * step[j];
      size = residual();
      if (size < before || before < 1e-11 * scale) break;
    }
    done = size <= 4e-15 * scale || (size < 1e-11 * scale && size >= 0.25 * before);
    if (!(size < before) && !done) break;
  }
  Failure failure;
  if (!(pivot > kTinyPivot)) {
    failure.cause = Cause::singular, failure.part = leg, failure.margin = pivot;
  } else if (!(size < 1e-11 * scale)) {
    failure.cause = Cause::newton, failure.part = leg, failure.margin = size;
  } else {
    linearise();
    double C[16], none[4] = {};
    std::copy_n(C_, 16, C);
    pivot_ = solve_dense(C, n_, none);
    if (!(pivot_ > 1e-9)) failure.cause = Cause::singular, failure.part = leg, failure.margin = pivot_;
  }
  return failure;
}

void CustomLeg::rates(const double* u, const AnyVec<double>& w) {
  const double o[3] = {w.x, w.y, w.z};
  double C[16], y[4];
  cross3(o, rho_, y);
  for (int i = 0; i < 3; ++i) y[i] += u[i];
  if (chain_->universal) y[3] = dot3(normal_, o);
  std::copy_n(C_, 16, C);
  solve_dense(C, n_, y);
  std::copy_n(y, n_, qd_);
  // H by columns of [1, -rho~; 0, n_R']
  double right[24] = {};
  for (int i = 0; i < 3; ++i) right[6 * i + i] = 1;
  right[4] = rho_[2], right[5] = -rho_[1], right[9] = -rho_[2], right[11] = rho_[0], right[15] = rho_[1],
  right[16] = -rho_[0];
  if (chain_->universal) std::copy_n(normal_, 3, right + 21);
  std::copy_n(C_, 16, C);
  solve_dense(C, n_, right, 6);
  std::copy_n(right, 6 * n_, H_);
}

double CustomLeg::spring_energy() const {
  double q[4], energy = 0;
  for (int b = 0; b < n_; ++b) q[b] = q_[chain_->chain->user_index()[b]];
  JointForces<double>(*chain_->chain).add_potential_energy(q, &energy);
  return energy;
}

void CustomLeg::write(double* out) const {
  std::fill(out, out + 8, 0.0);
  std::copy_n(q_, n_, out);
  std::copy_n(qd_, n_, out + 4);
  std::copy_n(H_ + 6 * chain_->actuated, 6, out + 8);
  out[14] = pivot_ * pivot_;
  out[15] = out[16] = out[17] = 1;
}

void CustomLeg::first(const AnyVec<double>& w, const double* flow, const double* tau, bool free, double* share,
                      Scratch& scratch) {
  std::copy_n(flow, 9, flow_);
  const double o[3] = {w.x, w.y, w.z}, none[4] = {};
  // docs/hexapods.md (30)-(31) with relative rates
  double J[24], dJ[24], tip[6] = {}, spin[3] = {};
  run(Function::jacobian, nullptr, nullptr, J, scratch);
  run(Function::jacobian_rate, nullptr, nullptr, dJ, scratch);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < n_; ++j) {
      tip[i] += dJ[i * n_ + j] * qd_[j];
      if (i >= 3) spin[i - 3] += J[i * n_ + j] * qd_[j];
    }
  double across[3], inward[3];
  cross3(o, rho_, across);
  cross3(o, across, inward);
  for (int i = 0; i < 3; ++i) h_[i] = inward[i] - tip[i];
  if (chain_->universal)
    h_[3] = -dot3(normal_, tip + 3) - dot3(e1_, spin) * dot3(e2_, spin) - dot3(e1_, o) * dot3(e2_, o) +
            2 * dot3(e1_, o) * dot3(e2_, spin);
  double C[16];
  std::copy_n(C_, 16, C);
  solve_dense(C, n_, h_);

  run(Function::mass_matrix, nullptr, nullptr, A_, scratch);
  run(Function::inverse_dynamics, none, flow_, b_, scratch);
  for (int j = 0; j < n_; ++j) b_[j] = tau[j] - b_[j];
  double rest[4], G[24];
  for (int i = 0; i < n_; ++i) {
    rest[i] = b_[i];
    for (int c = 0; c < 6; ++c) G[6 * i + c] = 0;
    for (int j = 0; j < n_; ++j) {
      rest[i] -= A_[i * n_ + j] * h_[j];
      for (int c = 0; c < 6; ++c) G[6 * i + c] += A_[i * n_ + j] * H_[6 * j + c];
    }
  }
  for (int r = 0; r < 6; ++r) {
    double right = 0;
    for (int i = 0; i < n_; ++i) right += H_[6 * i + r] * rest[i];
    share[leg::kRight + r] = right;
    for (int c = r; c < 6; ++c) {
      double sum = 0;
      for (int i = 0; i < n_; ++i) sum += H_[6 * i + r] * G[6 * i + c];
      share[leg::kMatrix + upper6(r, c)] = sum;
    }
  }
  if (!free) return;
  // loads on the base are minus the rates of momentum
  const double still[9] = {};
  double flow_load[6], wrench[6], rate[4];
  run(Function::base_wrench, none, flow_, flow_load, scratch);
  std::copy_n(qd_, n_, rate);
  std::fill(qd_, qd_ + n_, 0.0);
  for (int j = 0; j < n_; ++j) {
    double unit[4] = {};
    unit[j] = 1;
    run(Function::base_wrench, unit, still, wrench, scratch);
    for (int i = 0; i < 6; ++i) coupling_[i * n_ + j] = -wrench[i];
  }
  for (int i = 0; i < 6; ++i) {
    double left = -flow_load[i];
    for (int j = 0; j < n_; ++j) left += coupling_[i * n_ + j] * h_[j];
    share[leg::kBaseRight + i] = -left;
    for (int c = 0; c < 6; ++c) {
      double sum = 0;
      for (int j = 0; j < n_; ++j) sum += coupling_[i * n_ + j] * H_[6 * j + c];
      share[leg::kCoupling + 6 * i + c] = sum;
    }
  }
  // first and second moments: moments about O_0 for unit angular accelerations of the base
  int k = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double turn[9] = {};
    turn[6 + axis] = 1;
    run(Function::base_wrench, none, turn, wrench, scratch);
    for (int i = axis; i < 3; ++i) share[leg::kInertia + k++] = -wrench[3 + i];
    // force for Omega' = e is e x c: the next axis' component is that of the third, negated once more by the load
    share[leg::kMoment + (axis + 2) % 3] = wrench[(axis + 1) % 3];
  }
  std::copy_n(rate, n_, qd_);
}

void CustomLeg::second(const double* x, const double* base, double* out, Scratch& scratch) {
  double* const load = out + 16;
  double qdd[4], g[4], transposed[16];
  for (int i = 0; i < n_; ++i) {
    qdd[i] = h_[i];
    for (int c = 0; c < 6; ++c) qdd[i] += H_[6 * i + c] * x[c];
  }
  for (int i = 0; i < n_; ++i) {
    g[i] = b_[i];
    for (int j = 0; j < n_; ++j) {
      g[i] -= A_[i * n_ + j] * qdd[j];
      transposed[i * n_ + j] = C_[j * n_ + i];
    }
    for (int c = 0; base && c < 6; ++c) g[i] -= coupling_[c * n_ + i] * base[c];
  }
  solve_dense(transposed, n_, g);
  if (base)
    for (int i = 0; i < 3; ++i) flow_[i] += base[i], flow_[6 + i] += base[3 + i];
  run(Function::base_wrench, qdd, flow_, load, scratch);
  double moment[3];
  cross3(hinge_, g, moment);
  for (int i = 0; i < 3; ++i) {
    load[i] -= g[i];
    load[3 + i] -= moment[i] + (chain_->universal ? g[3] * normal_[i] : 0.0);
  }
  std::fill(out, out + 16, 0.0);
  std::copy_n(q_, n_, out);
  std::copy_n(qd_, n_, out + 4);
  std::copy_n(qdd, n_, out + 8);
  std::copy_n(g, n_, out + 12);
}

}  // namespace zveno
