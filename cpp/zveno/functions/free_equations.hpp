// A hexapod on a base that flies freely, from the sums over its legs: docs/docking.md (D1), (D4), (D6), docs/hexapods.md
// (51). One state, or one in each lane.
#pragma once

#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/kernel/contact/vehicles.hpp>

namespace zveno {

// the body that carries the mechanism
template <class T>
struct CarrierOf {
  T mass, com[3], own[6];  // own: inertia about the base's origin
  static constexpr int kNumbers = 10;
};

inline CarrierOf<double> carrier_of(const BodySpec& b) {
  CarrierOf<double> x;
  x.mass = b.mass;
  const Vec3<double> c = b.com * b.mass;
  const double cc = dot(b.com, c);
  int at = 0;
  for (int i = 0; i < 3; ++i) x.com[i] = b.com[i];
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) x.own[at++] = b.inertia(i, j) + (i == j ? cc : 0.0) - b.com[i] * c[j];
  return x;
}

template <class T>
class FreeEquations {
 public:
  using V = AnyVec<T>;
  explicit FreeEquations(const Hexapod& hexapod) : body_(platform_of<T>(hexapod)), leg_mass_(hexapod.leg_mass()) {}

  CarrierOf<T> base;
  T mass, moment[3], inertia[6];  // of the whole about the base's origin: xx xy xz yy yz zz

  // (D1), (D4): inertia of the whole, its inverse about the common centre of mass, coupling, Schur complement; total: sums
  // over the legs, their right-hand sides do not matter
  void make(const T* r_, const T* R, const T* u, const Sums<T>& sums) {
    const Axes<T> turn{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}};
    platform_inertia_ = inertia_in_base(body_, turn);
    const Sym3<T>& I = platform_inertia_;
    const T* total = sums.total;
    const T m = body_.mass, zero(0.0);
    const V r = docking::vec(r_);
    const T rr = dot(r, r);
    mass = base.mass + T(leg_mass_) + m;
    for (int i = 0; i < 3; ++i) moment[i] = total[leg::kMoment + i] + base.com[i] * base.mass + r_[i] * m;
    const T ring[6] = {I.xx + (rr - r.x * r.x) * m, I.xy - r.x * r.y * m, I.xz - r.x * r.z * m,
                       I.yy + (rr - r.y * r.y) * m, I.yz - r.y * r.z * m, I.zz + (rr - r.z * r.z) * m};
    for (int i = 0; i < 6; ++i) inertia[i] = total[leg::kInertia + i] + base.own[i] + ring[i];
    per_mass_ = T(1.0) / mass;
    centre_ = scaled(docking::vec(+moment), per_mass_);
    const V c = centre_;
    const T cc = dot(c, c);
    const T about[6] = {inertia[0] - mass * (cc - c.x * c.x), inertia[1] + mass * c.x * c.y,
                        inertia[2] + mass * c.x * c.z,        inertia[3] - mass * (cc - c.y * c.y),
                        inertia[4] + mass * c.y * c.z,        inertia[5] - mass * (cc - c.z * c.z)};
    docking::invert(about, per_inertia_);

    const T mixed[6][6] = {{m, zero, zero, zero, zero, zero},           {zero, m, zero, zero, zero, zero},
                           {zero, zero, m, zero, zero, zero},           {zero, -m * r.z, m * r.y, I.xx, I.xy, I.xz},
                           {m * r.z, zero, -m * r.x, I.xy, I.yy, I.yz}, {-m * r.y, m * r.x, zero, I.xz, I.yz, I.zz}};
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) coupling_[i][j] = total[leg::kCoupling + 6 * i + j] + mixed[i][j];
    add_reduced_here(sums, body_, I, ring_matrix_);
    reduce();
    factor_symmetric(schur_, inverse_, nullptr);
    for (int i = 0; i < 3; ++i) u_[i] = u[i];
    docking::put(turn.times(docking::vec(u + 3)), u_ + 3);
  }

  // (D1)
  void twist(const T* momentum, T* out) const {
    T x[6];
    for (int i = 0; i < 6; ++i) {
      x[i] = momentum[i];
      for (int j = 0; j < 6; ++j) x[i] -= coupling_[i][j] * u_[j];
    }
    solve_base(x, out);
  }
  void momentum(const T* twist, T* out) const {
    const V v = docking::vec(twist), w = docking::vec(twist + 3), c = docking::vec(+moment);
    docking::put(V(scaled(v, mass) + cross(w, c)), out);
    docking::put(V(cross(c, v) + docking::times6(inertia, w)), out + 3);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) out[i] += coupling_[i][j] * u_[j];
  }
  // (D6)
  T kinetic(const T* twist) const {
    T p[6], energy = half_square(ring_matrix_, u_);
    momentum(twist, p);
    for (int i = 0; i < 6; ++i) {
      T own(0.0);
      for (int j = 0; j < 6; ++j) own += coupling_[i][j] * u_[j];
      energy += T(0.5) * twist[i] * (p[i] + own);
    }
    return energy;
  }

  // (D4); s: r, R, u, flow [0; Omega; 0], wrench on the ring; right, base_right: sums over the legs; base_wrench: on the
  // base at its centre of mass
  void finish(const HexState<T>& s, const T* base_wrench, const T* right, const T* base_right, T* acceleration,
              T* base_acceleration) const {
    const auto ring = make_ring<T>(s.r, s.R, s.u, moving_base(s.flow));
    T f[6];
    ring_forces(body_, platform_inertia_, ring, s.wrench, f);
    const V w = docking::vec(s.flow + 3), com = docking::vec(+base.com), force = docking::vec(+f),
            fb = docking::vec(base_wrench);
    const V rho = fb - cross(w, cross(w, scaled(com, base.mass))) + force;
    const V mu = docking::vec(base_wrench + 3) + cross(com, fb) - cross(w, docking::times6(base.own, w)) +
                 docking::vec(f + 3) + cross(ring.r, force);
    T b[6] = {base_right[0] + rho.x, base_right[1] + rho.y, base_right[2] + rho.z,
              base_right[3] + mu.x,  base_right[4] + mu.y,  base_right[5] + mu.z};
    T x[6];
    for (int j = 0; j < 6; ++j) {
      x[j] = right[j] + f[j];
      for (int i = 0; i < 6; ++i) x[j] -= reduced_[i][j] * b[i];
    }
    solve_factored(schur_, inverse_, x);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) b[i] -= coupling_[i][j] * x[j];
    solve_base(b, base_acceleration);
    for (int i = 0; i < 3; ++i) acceleration[i] = x[i];
    docking::put(ring.R.undo(docking::vec(x + 3)), acceleration + 3);
  }

 private:
  // M_bb x = b: through the common centre of mass
  template <class U>
  static ZVENO_INLINE void solve(const U& per_mass, const U* per_inertia, const AnyVec<U>& centre, const U* b, U* x) {
    const AnyVec<U> p = docking::vec(b), l = docking::vec(b + 3),
                    w = docking::times6(per_inertia, AnyVec<U>(l - cross(centre, p)));
    docking::put(AnyVec<U>(scaled(p, per_mass) - cross(w, centre)), x);
    docking::put(w, x + 3);
  }
  ZVENO_INLINE void solve_base(const T* b, T* x) const { solve(per_mass_, +per_inertia_, centre_, b, x); }

  // reduced: M_bb^-1 M_bu; Schur complement: M_uu - M_bu' of it, lower triangle
  ZVENO_INLINE void reduce() {
    if constexpr (std::is_same_v<T, double>) {  // columns in lanes: the same operations
      double rows[6][kWide];
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < kWide; ++j) rows[i][j] = j <= i ? ring_matrix_[i][j] : 0.0;
      Packed per_inertia[6];
      for (int i = 0; i < 6; ++i) per_inertia[i] = per_inertia_[i];
      const AnyVec<Packed> centre{centre_.x, centre_.y, centre_.z};
      for (int at = 0; at < 6; at += kLanes) {
        Packed b[6], x[6];
        for (int i = 0; i < 6; ++i) b[i] = Packed::load(coupling_[i] + at);
        solve(Packed(per_mass_), +per_inertia, centre, +b, +x);
        for (int i = 0; i < 6; ++i) x[i].store(reduced_[i] + at);
        for (int i = 0; i < 6; ++i) {
          Packed row = Packed::load(rows[i] + at);
          for (int k = 0; k < 6; ++k) row -= Packed(coupling_[k][i]) * x[k];
          row.store(rows[i] + at);
        }
      }
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j) schur_[i][j] = rows[i][j];
    } else {
      for (int j = 0; j < 6; ++j) {
        T column[6], x[6];
        for (int i = 0; i < 6; ++i) column[i] = coupling_[i][j];
        solve_base(column, x);
        for (int i = 0; i < 6; ++i) reduced_[i][j] = x[i];
      }
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j) {
          T x = ring_matrix_[i][j];
          for (int k = 0; k < 6; ++k) x -= coupling_[k][i] * reduced_[k][j];
          schur_[i][j] = x;
        }
    }
  }

  static constexpr int kWide = std::is_same_v<T, double> ? 8 : 6;
  const Platform<T> body_;
  const double leg_mass_;
  Sym3<T> platform_inertia_;
  T per_mass_, per_inertia_[6];
  V centre_;
  T u_[6];  // base axes
  T coupling_[6][kWide] = {}, reduced_[6][kWide] = {}, ring_matrix_[6][6], schur_[6][6], inverse_[6];
};

}  // namespace zveno
