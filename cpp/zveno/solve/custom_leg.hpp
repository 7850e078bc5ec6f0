// A leg of any geometry: an open chain closed by Newton's method. docs/hexapods.md (14)-(15), (28)-(32), (44)-(48) with the
// chain's own kernels for kinematics and inertia, in plain doubles.
#pragma once

#include <array>

#include <zveno/functions/job.hpp>
#include <zveno/kernel/leg/leg.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// [a_0 - g; Omega; Omega'] of the base that carries the ring
template <class Ring>
std::array<double, 9> flow_of(const Ring& ring) {
  const Vec3<double> a = plain<double>(ring.base.a), o = plain<double>(ring.base.omega), e = plain<double>(ring.base.alpha);
  return {a.x(), a.y(), a.z(), o.x(), o.y(), o.z(), e.x(), e.y(), e.z()};
}

class CustomLeg {
 public:
  // joint coordinates for the ring at (r, R); start: where to begin, nullptr: the leg's own
  Failure close(const Hexapod& hexapod, int leg, const double* r, const double* R, const double* start, Scratch& scratch);
  // joint rates; w: the ring's relative angular velocity in base axes
  void rates(const double* u, const AnyVec<double>& w);
  // coordinates, rates (4 places each), the actuated row of H (6), measures (4)
  void write(double* out) const;

  // share of the reduced system; w: as above, flow: see flow_of
  void first(const AnyVec<double>& w, const double* flow, const double* tau, bool free, double* share, Scratch& scratch);
  // x: [v'; w'] base axes; base: [a_0; Omega'] of a free base. out: the numbers of a leg::Outcome
  void second(const double* x, const double* base, double* out, Scratch& scratch);
  // of the springs in its joints
  double spring_energy() const;

 private:
  void run(Function function, const double* qdd, const double* flow, double* out, Scratch& scratch) const;

  const LegChain* chain_;
  int n_;
  double pivot_;  // smallest of C^d, relative
  double q_[4], qd_[4];
  double rho_[3], hinge_[3], normal_[3], e1_[3], e2_[3];
  double C_[16] = {};  // C^d, n_ x n_
  double H_[24], h_[4], A_[16], b_[4];
  double coupling_[24];  // M_bp, 6 x n
  double flow_[9];
};

}  // namespace zveno
