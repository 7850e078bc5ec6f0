// One state after another of a hexapod in free flight, legs in lanes: docs/docking.md (D1)-(D6), docs/hexapods.md (51). Sums
// over the legs are made in their order.
#include <zveno/functions/free_motion.hpp>

#include <algorithm>
#include <vector>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/solve/custom_leg.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

constexpr int kShare = padded(leg::kFreeShare);
using V3 = AnyVec<double>;

ZVENO_INLINE V3 vec(const double* x) { return {x[0], x[1], x[2]}; }
ZVENO_INLINE void put(const V3& x, double* to) { to[0] = x.x, to[1] = x.y, to[2] = x.z; }

// inverse of a symmetric 3 x 3 matrix xx xy xz yy yz zz
inline void invert(const double* a, double* b) {
  const double c0 = a[3] * a[5] - a[4] * a[4], c1 = a[2] * a[4] - a[1] * a[5], c2 = a[1] * a[4] - a[2] * a[3];
  const double d = 1 / (a[0] * c0 + a[1] * c1 + a[2] * c2);
  b[0] = c0 * d, b[1] = c1 * d, b[2] = c2 * d;
  b[3] = (a[0] * a[5] - a[2] * a[2]) * d, b[4] = (a[1] * a[2] - a[0] * a[4]) * d, b[5] = (a[0] * a[3] - a[1] * a[1]) * d;
}
ZVENO_INLINE V3 times6(const double* a, const V3& x) {
  return {a[0] * x.x + a[1] * x.y + a[2] * x.z, a[1] * x.x + a[3] * x.y + a[4] * x.z, a[2] * x.x + a[4] * x.y + a[5] * x.z};
}

class LanesFreeMotion : public FreeMotion {
 public:
  explicit LanesFreeMotion(const Hexapod& hexapod) : hexapod_(hexapod), body_(platform_of<double>(hexapod)) {
    std::fill_n(s_.base, 9, 0.0);
    for (const LegGroup& group : hexapod.groups()) {
      const LegCalls calls = calls_of<Packed>(group.type, group.symmetric, BaseKind::free);
      for (int at = 0; at < group.count; at += kLanes) {
        LegPack pack{calls, group.params.number + at, {}, std::vector<CacheLine>(calls.lines)};
        const int end = std::min({group.count, kLegs, at + kLanes});
        for (int l = 0; l < kLanes; ++l) pack.legs[l] = kLegs + l;
        for (int k = at; k < end; ++k) pack.legs[k - at] = group.legs[k];
        packs_.push_back(std::move(pack));
      }
    }
    for (int k = 0; k < kLegs; ++k) actuated_[k] = hexapod.chain(k).actuated;
    set_base({});
  }

  void set_base(const BodySpec& b) override {
    base_ = b;
    const Vec3<double> c = b.com * b.mass;
    const double cc = dot(b.com, c);
    int at = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) own_[at++] = b.inertia(i, j) + (i == j ? cc : 0.0) - b.com[i] * c[j];
  }

  bool place(const double* r, const double* R, const double* u, const double* start) override {
    std::copy_n(r, 3, s_.r), std::copy_n(R, 9, s_.R), std::copy_n(u, 6, s_.u);
    std::fill_n(s_.flow, 9, 0.0);
    for (int i = 0; i < kInput; ++i) wide_[i] = s_.input()[i];
    const Packed none[4] = {0.0, 0.0, 0.0, 0.0};
    bool fine = true;
    for (LegPack& pack : packs_) {
      Packed measure[4], way, rates[4];
      pack.calls.first(pack.params, wide_, none, pack.held.data(), share_, measure);
      fine &= all_above(measure, 4, kTinySquare);
      keep(pack);
      pack.calls.driven(pack.held.data(), way, rates);
      for (int l = 0; l < kLanes; ++l) {
        if (pack.legs[l] >= kLegs) continue;
        position[pack.legs[l]] = way[l];
        rate[pack.legs[l]] = rates[actuated_[pack.legs[l]]][l];
      }
    }
    if (hexapod_.has_custom()) fine = fine && place_custom(start);
    if (!fine) return false;
    add_up(0, kShare, total_);
    make_inertia();
    return true;
  }

  void twist(const double* momentum, double* out) const override {
    double x[6];
    for (int i = 0; i < 6; ++i) {
      x[i] = momentum[i];
      for (int j = 0; j < 6; ++j) x[i] -= coupling_[i][j] * u_[j];
    }
    solve_base(x, out);
  }

  void momentum(const double* twist, double* out) const override {
    const V3 v = vec(twist), w = vec(twist + 3), c = vec(moment);
    put(scaled(v, mass) + cross(w, c), out);
    put(cross(c, v) + times6(inertia, w), out + 3);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) out[i] += coupling_[i][j] * u_[j];
  }

  double kinetic(const double* twist) const override {
    double p[6], energy = half_square(ring_matrix_, u_);
    momentum(twist, p);
    for (int i = 0; i < 6; ++i) {
      double own = 0;
      for (int j = 0; j < 6; ++j) own += coupling_[i][j] * u_[j];
      energy += 0.5 * twist[i] * (p[i] + own);
    }
    return energy;
  }

  bool finish(const double* omega, const double* tau, const double* wrench, const double* base_wrench) override {
    std::copy_n(wrench, 6, s_.wrench);
    std::copy_n(omega, 3, s_.flow + 3);
    for (int i = 0; i < 3; ++i) wide_[21 + i] = omega[i];
    for (LegPack& pack : packs_) {
      Packed forces[4] = {0.0, 0.0, 0.0, 0.0}, measure[4];
      double own[kLanes] = {};
      for (int l = 0; l < kLanes; ++l)
        if (pack.legs[l] < kLegs) own[l] = tau[pack.legs[l]];
      forces[actuated_[pack.legs[0]]] = Packed::of(own, kLanes);
      pack.calls.first(pack.params, wide_, forces, pack.held.data(), share_, measure);
      for (const int from : {leg::kRight + 0, leg::kBaseRight + 0})  // the rest does not depend on velocities
        scatter(share_ + from, 6, kLanes, [&](int l) { return rows_[pack.legs[l]] + from; });
    }
    if (hexapod_.has_custom()) drive_custom(tau);
    double right[padded(6)], base_right[padded(6)];
    add_up(leg::kRight, padded(6), right);
    add_up(leg::kBaseRight, padded(6), base_right);

    const auto ring = make_ring<double>(s_.r, s_.R, s_.u, moving_base(s_.flow));
    double f[6];
    ring_forces(body_, platform_inertia_, ring, s_.wrench, f);
    // (51)
    const V3 w = vec(omega), com{base_.com.x(), base_.com.y(), base_.com.z()}, force = vec(f), fb = vec(base_wrench);
    const V3 rho = fb - cross(w, cross(w, scaled(com, base_.mass))) + force;
    const V3 mu = vec(base_wrench + 3) + cross(com, fb) - cross(w, times6(own_, w)) + vec(f + 3) + cross(ring.r, force);
    double b[6] = {base_right[0] + rho.x, base_right[1] + rho.y, base_right[2] + rho.z,
                   base_right[3] + mu.x,  base_right[4] + mu.y,  base_right[5] + mu.z};
    // (D4)
    double x[6];
    for (int j = 0; j < 6; ++j) {
      x[j] = right[j] + f[j];
      for (int i = 0; i < 6; ++i) x[j] -= reduced_[j][i] * b[i];
    }
    solve_factored(schur_, inverse_, x);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) b[i] -= coupling_[i][j] * x[j];
    solve_base(b, base_acceleration);
    std::copy_n(x, 3, acceleration);
    put(ring.R.undo(vec(x + 3)), acceleration + 3);
    return all_finite(acceleration, 6) & all_finite(base_acceleration, 6);
  }

 private:
  struct LegPack {
    LegCalls calls;
    const double* params;
    int legs[kLanes];
    std::vector<CacheLine> held;
  };

  void keep(const LegPack& pack) {
    scatter(share_, kShare, kLanes, [&](int l) { return rows_[pack.legs[l]]; });
  }
  void add_up(int from, int count, double* out) const {
    for (int i = 0; i < count; ++i) out[i] = rows_[0][from + i];
    for (int k = 1; k < kLegs; ++k)
      for (int i = 0; i < count; ++i) out[i] += rows_[k][from + i];
  }

  // (D1), (D4): inertia of the whole, its inverse about the common centre of mass, coupling, Schur complement
  void make_inertia() {
    const double* R = s_.R;
    platform_inertia_ = inertia_in_base(body_, Axes<double>{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}});
    const Sym3<double>& I = platform_inertia_;
    const double m = body_.mass;
    const V3 r = vec(s_.r);
    const double rr = dot(r, r);
    mass = base_.mass + hexapod_.leg_mass() + m;
    for (int i = 0; i < 3; ++i) moment[i] = total_[leg::kMoment + i] + base_.com[i] * base_.mass + s_.r[i] * m;
    const double ring[6] = {I.xx + (rr - r.x * r.x) * m, I.xy - r.x * r.y * m, I.xz - r.x * r.z * m,
                            I.yy + (rr - r.y * r.y) * m, I.yz - r.y * r.z * m, I.zz + (rr - r.z * r.z) * m};
    for (int i = 0; i < 6; ++i) inertia[i] = total_[leg::kInertia + i] + own_[i] + ring[i];
    per_mass_ = 1 / mass;
    centre_ = scaled(vec(moment), per_mass_);
    const V3 c = centre_;
    const double cc = dot(c, c);
    const double about[6] = {inertia[0] - mass * (cc - c.x * c.x), inertia[1] + mass * c.x * c.y,
                             inertia[2] + mass * c.x * c.z,        inertia[3] - mass * (cc - c.y * c.y),
                             inertia[4] + mass * c.y * c.z,        inertia[5] - mass * (cc - c.z * c.z)};
    invert(about, per_inertia_);

    const double mixed[6][6] = {{m, 0, 0, 0, 0, 0},
                                {0, m, 0, 0, 0, 0},
                                {0, 0, m, 0, 0, 0},
                                {0, -m * r.z, m * r.y, I.xx, I.xy, I.xz},
                                {m * r.z, 0, -m * r.x, I.xy, I.yy, I.yz},
                                {-m * r.y, m * r.x, 0, I.xz, I.yz, I.zz}};
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) coupling_[i][j] = total_[leg::kCoupling + 6 * i + j] + mixed[i][j];
    Sums<double> sums;
    std::copy_n(total_, leg::kRight, sums.total);
    add_reduced_here(sums, body_, I, ring_matrix_);
    for (int j = 0; j < 6; ++j) {
      double column[6];
      for (int i = 0; i < 6; ++i) column[i] = coupling_[i][j];
      solve_base(column, reduced_[j]);
    }
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j <= i; ++j) {
        double x = ring_matrix_[i][j];
        for (int k = 0; k < 6; ++k) x -= coupling_[k][i] * reduced_[j][k];
        schur_[i][j] = x;
      }
    factor_symmetric(schur_, inverse_, nullptr);
    const Axes<double> turn{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}};
    std::copy_n(s_.u, 3, u_);
    put(turn.times(vec(s_.u + 3)), u_ + 3);
  }

  // M_bb x = b: through the common centre of mass
  ZVENO_INLINE void solve_base(const double* b, double* x) const {
    const V3 p = vec(b), l = vec(b + 3), w = times6(per_inertia_, l - cross(centre_, p));
    put(scaled(p, per_mass_) - cross(w, centre_), x);
    put(w, x + 3);
  }

  bool is_custom(int k) const { return hexapod_.leg(k).type == LegType::custom; }

  ZVENO_COLD bool place_custom(const double* start) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    const auto ring = make_ring<double>(s_.r, s_.R, s_.u, moving_base(s_.flow));
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(k)) continue;
      const double* own = start ? start + k * hexapod_.joints() : nullptr;
      if (custom_[k].close(hexapod_, k, s_.r, s_.R, own, scratch).cause != Cause::none) return false;
      double x[kKinematics];
      custom_[k].rates(s_.u, ring.w);
      custom_[k].write(x);
      position[k] = x[actuated_[k]], rate[k] = x[4 + actuated_[k]];
    }
    const double none[kLegs] = {};
    drive_custom(none);
    return true;
  }
  ZVENO_COLD void drive_custom(const double* tau) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    const auto ring = make_ring<double>(s_.r, s_.R, s_.u, moving_base(s_.flow));
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(k)) continue;
      double forces[4] = {};
      forces[actuated_[k]] = tau[k];
      custom_[k].first(ring.w, s_.flow, forces, true, rows_[k], scratch);
    }
  }

  const Hexapod& hexapod_;
  const Platform<double> body_;
  BodySpec base_;
  double own_[6];  // inertia of the base body about the base's origin
  int actuated_[kLegs];
  HexState<double> s_;
  Packed wide_[kInput], share_[kShare];
  std::vector<LegPack> packs_;
  alignas(64) double rows_[kLegs + 8][kShare] = {};
  double total_[kShare];
  Sym3<double> platform_inertia_;
  double per_mass_, per_inertia_[6];
  V3 centre_;
  double u_[6];  // base axes
  double coupling_[6][6], reduced_[6][6], ring_matrix_[6][6], schur_[6][6], inverse_[6];
  CustomLeg custom_[kLegs];
};

}  // namespace

std::unique_ptr<FreeMotion> make_free_motion(const Hexapod& hexapod) { return std::make_unique<LanesFreeMotion>(hexapod); }

}  // namespace zveno
