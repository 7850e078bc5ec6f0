// A state of a hexapod leg by leg, for any scalar: the ring's equations from the sums over its legs, (44), (50), (51) of
// docs/hexapods.md, in base axes, and what remains to be done with each leg.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <zveno/functions/job.hpp>
#include <zveno/functions/legs.hpp>

namespace zveno {

// what a function asks of the legs
enum class LegTask { kinematics, first_half, both_halves };

// what a job asks of them
struct LegPlan {
  LegTask task;
  BaseKind base;
  bool rows;    // of the Jacobian, besides dynamics
  bool second;  // half of the legs: accelerations and loads of the joints, or of the base
  bool whole;   // their coordinates and reactions too
  DynamicsLayout layout;

  explicit LegPlan(const HexJob& job, const Rows& rows)
      : task(LegTask::first_half), base(BaseKind::still), rows(false), second(false), whole(false) {
    const bool moving = rows[Param::base_motion].data || job.hexapod->has_gravity();
    switch (job.function) {
      case HexFunction::closure:
      case HexFunction::joint_velocity:
      case HexFunction::measures:
      case HexFunction::jacobian: task = LegTask::kinematics; break;
      case HexFunction::momentum:
      case HexFunction::potential_energy: base = BaseKind::free; break;
      case HexFunction::inverse_dynamics:
        this->rows = true;
        if (moving) base = BaseKind::moving;
        break;
      case HexFunction::forward_dynamics:
        task = LegTask::both_halves;
        if (moving) base = BaseKind::moving;
        break;
      case HexFunction::free_dynamics:
        task = LegTask::both_halves;
        base = BaseKind::free;
        break;
      default: break;
    }
    if (task == LegTask::both_halves) {
      layout = DynamicsLayout(job.hexapod->joints(), base == BaseKind::free, job.outputs);
      second = layout.per_leg() > 0 || layout.base_wrench() >= 0;
      whole = layout.leg(0) >= 0 || layout.leg(3) >= 0;
    }
  }
  int share() const { return base == BaseKind::free ? leg::kFreeShare : leg::kFixedShare; }
};

template <class T>
LegFunctions<T> calls_of(LegType type, bool symmetric, BaseKind base) {
  return with_leg_type(type, [&](auto t) { return leg_calls<decltype(t)::value, T>(symmetric, base); });
}

template <class T>
using Kinematics = void (*)(const double* params, const T* input, T* position, T* rate, T* row, T* measure);
template <class T>
Kinematics<T> kinematics_of(LegType type) {
  return with_leg_type(type, [](auto t) -> Kinematics<T> { return &leg_kinematics<decltype(t)::value, T>; });
}

// numbers of a leg's kinematics: coordinates, rates, row of the Jacobian, measures
constexpr int kKinematics = 4 + 4 + 6 + 4;
constexpr int kRowAt = 8, kMeasuresAt = 14;

// one state, or one state per lane
template <class T>
struct HexState {
  T r[3], R[9], u[6], flow[9], acceleration[6], wrench[6], base[9], base_wrench[6];
  T tau[kLegs][4];                                                     // in the order of joints
  const T* input() const { return reinterpret_cast<const T*>(this); }  // of the legs: r, R, u, flow
  static constexpr int kSize = 3 + 9 + 6 + 9 + 6 + 6 + 9 + 6 + 4 * kLegs;
};

// [a_0 - g; Omega; Omega']
template <class T>
void set_flow(const Hexapod& hexapod, BaseKind kind, HexState<T>& s) {
  for (int i = 0; i < 3; ++i) {
    const T weight(-hexapod.gravity()[i]);
    s.flow[i] = kind == BaseKind::free ? weight : s.base[i] + weight;
    s.flow[3 + i] = s.base[3 + i];
    s.flow[6 + i] = kind == BaseKind::free ? T(0.0) : s.base[6 + i];
  }
}

// tau of a row as it was given -> by leg and joint
template <class T>
void sort_tau(const HexJob& job, const T* given, HexState<T>& s) {
  const Hexapod& hexapod = *job.hexapod;
  for (int k = 0; k < kLegs; ++k) {
    const int actuated = hexapod.chain(k).actuated;
    for (int j = 0; j < 4; ++j) s.tau[k][j] = T(0.0);
    if (job.actuated_only)
      s.tau[k][actuated] = given[k];
    else
      for (int j = 0; j < hexapod.joints(k); ++j) s.tau[k][j] = given[k * hexapod.joints() + j];
    if (job.function == HexFunction::inverse_dynamics) s.tau[k][actuated] = T(0.0);
  }
}

// read(rows, n, x): x <- n numbers, zeros if there are no rows and x may be anything else
template <class T, class Read>
void read_state(const HexJob& job, const LegPlan& plan, const Rows& rows, const Read& read, HexState<T>& s) {
  read(rows[Param::r], 3, s.r), read(rows[Param::R], 9, s.R), read(rows[Param::u], 6, s.u);
  if (plan.task == LegTask::kinematics) return;
  read(rows[Param::wrench], 6, s.wrench);
  if (rows[Param::leg_tau].data) {
    T tau[4 * kLegs];
    read(rows[Param::leg_tau], input_size(job, Param::leg_tau), tau);
    sort_tau(job, tau, s);
  } else {
    read(rows[Param::leg_tau], 4 * kLegs, s.tau[0]);
  }
  if (plan.base != BaseKind::still) {
    read(rows[Param::base_motion], 9, s.base);
    if (rows[Param::omega].data) read(rows[Param::omega], 3, s.base + 3);
    set_flow(*job.hexapod, plan.base, s);
  }
  if (plan.base == BaseKind::free) read(rows[Param::base_wrench], 6, s.base_wrench);
  if (job.function == HexFunction::inverse_dynamics) read(rows[Param::acceleration], 6, s.acceleration);
}

// calls f with the ring in its own type
template <class T, class F>
void with_ring(BaseKind kind, const HexState<T>& s, F&& f) {
  if (kind == BaseKind::still)
    f(make_ring<T>(s.r, s.R, s.u, StillBase()));
  else
    f(make_ring<T>(s.r, s.R, s.u, moving_base(s.flow)));
}

// sums over the legs, in base axes
template <class T>
struct Sums {
  T total[80];  // leg::Share, room for whole packs
  T rows[36];   // Jacobian of the actuated joints
};

template <class T>
Platform<T> platform_of(const Hexapod& hexapod) {
  return {T(hexapod.platform().mass), cast<T>(hexapod.platform().inertia)};
}

// written out where it is called, which helps doubles and costs packs their registers
template <class T>
ZVENO_INLINE void add_reduced_here(const Sums<T>& sums, const Platform<T>& body, const Sym3<T>& I, T (&A)[6][6]) {
  const T zero(0.0);
  const T own[21] = {body.mass, zero, body.mass, zero, zero, body.mass, zero, zero, zero, I.xx, zero,
                     zero,      zero, I.xy,      I.yy, zero, zero,      zero, I.xz, I.yz, I.zz};
  ZVENO_UNROLL
  for (int i = 0; i < 6; ++i) ZVENO_UNROLL
  for (int j = 0; j <= i; ++j) A[i][j] = sums.total[leg::kMatrix + upper6(j, i)] + own[i * (i + 1) / 2 + j];
}

template <class T>
void add_reduced(const Sums<T>& sums, const Platform<T>& body, const Sym3<T>& I, T (&A)[6][6]) {
  add_reduced_here(sums, body, I, A);
}

// x' A x / 2 of a symmetric matrix given by its lower triangle
template <class T>
T half_square(const T (&A)[6][6], const T* x) {
  T total(0.0);
  for (int i = 0; i < 6; ++i) {
    T row = A[i][i] * x[i] * T(0.5);
    for (int j = 0; j < i; ++j) row += A[i][j] * x[j];
    total += row * x[i];
  }
  return total;
}

// ---- a row of the result from the sums

// x: accelerations of ring [v'; w'] in base axes; for a free base those of the base first
template <class T, class R>
void accelerations(const HexJob& job, const HexState<T>& s, const R& ring, const Sums<T>& sums, T* x) {
  enter_stage<T>(Stage::ring);
  const Platform<T> body = platform_of<T>(*job.hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  T A[6][6];
  add_reduced(sums, body, I, A);
  ring_forces(body, I, ring, s.wrench, x);
  for (int i = 0; i < 6; ++i) x[i] += sums.total[leg::kRight + i];
  enter_stage<T>(Stage::solve);
  solve_symmetric<6>(A, x);
}

// (51): unknowns [a_0; Omega'; v'; w']
template <class T, class R>
void free_accelerations(const HexJob& job, const HexState<T>& s, const R& ring, const Sums<T>& sums, T* x) {
  const Hexapod& hexapod = *job.hexapod;
  const Platform<T> body = platform_of<T>(hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  T ring_matrix[6][6], A[12][12], f[6];
  add_reduced(sums, body, I, ring_matrix);
  ring_forces(body, I, ring, s.wrench, f);
  const AnyVec<T>&r = ring.r, force{f[0], f[1], f[2]}, moment{f[3], f[4], f[5]};

  // the base body about O_0, with the legs frozen to it: first and second moments
  const BodySpec& b = job.base;
  const Vec3<double> c = b.com * b.mass;
  const double mass_0 = b.mass + hexapod.leg_mass(), cc = dot(b.com, c);
  // in this order of operations, not inertia_of(b)'s: its bits are recorded, tests/frozen.py
  auto own = [&](int i, int j) { return b.inertia(i, j) + (i == j ? cc : 0.0) - b.com[i] * c[j]; };
  const T* m1 = sums.total + leg::kMoment;
  const T* m2 = sums.total + leg::kInertia;
  const T rr = dot(r, r), cx = m1[0] + T(c.x()) + r.x * body.mass, cy = m1[1] + T(c.y()) + r.y * body.mass,
          cz = m1[2] + T(c.z()) + r.z * body.mass, zero(0.0), mass = T(mass_0) + body.mass;
  const T Ixx = m2[0] + T(own(0, 0)) + I.xx + (rr - r.x * r.x) * body.mass,
          Ixy = m2[1] + T(own(0, 1)) + I.xy - r.x * r.y * body.mass;
  const T Ixz = m2[2] + T(own(0, 2)) + I.xz - r.x * r.z * body.mass,
          Iyy = m2[3] + T(own(1, 1)) + I.yy + (rr - r.y * r.y) * body.mass;
  const T Iyz = m2[4] + T(own(1, 2)) + I.yz - r.y * r.z * body.mass,
          Izz = m2[5] + T(own(2, 2)) + I.zz + (rr - r.z * r.z) * body.mass;
  const T top[6][6] = {{mass},
                       {zero, mass},
                       {zero, zero, mass},
                       {zero, -cz, cy, Ixx},
                       {cz, zero, -cx, Ixy, Iyy},
                       {-cy, cx, zero, Ixz, Iyz, Izz}};
  // ring by base: X_C' M_C X_C
  const T m = body.mass;
  const T mixed[6][6] = {{m, zero, zero, zero, m * r.z, -(m * r.y)}, {zero, m, zero, -(m * r.z), zero, m * r.x},
                         {zero, zero, m, m * r.y, -(m * r.x), zero}, {zero, zero, zero, I.xx, I.xy, I.xz},
                         {zero, zero, zero, I.xy, I.yy, I.yz},       {zero, zero, zero, I.xz, I.yz, I.zz}};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      if (j <= i) A[i][j] = top[i][j];
      A[6 + i][j] = sums.total[leg::kCoupling + 6 * j + i] + mixed[i][j];
      if (j <= i) A[6 + i][6 + j] = ring_matrix[i][j];
    }
  // right-hand sides
  const AnyVec<T> w = ring.base.omega, com{T(b.com.x()), T(b.com.y()), T(b.com.z())};
  const Vec3<double>& g = hexapod.gravity();
  const AnyVec<T> weight{T(b.mass * g.x()), T(b.mass * g.y()), T(b.mass * g.z())};
  const AnyVec<T> fb = AnyVec<T>{s.base_wrench[0], s.base_wrench[1], s.base_wrench[2]} + weight;
  const AnyVec<T> Iw{T(own(0, 0)) * w.x + T(own(0, 1)) * w.y + T(own(0, 2)) * w.z,
                     T(own(0, 1)) * w.x + T(own(1, 1)) * w.y + T(own(1, 2)) * w.z,
                     T(own(0, 2)) * w.x + T(own(1, 2)) * w.y + T(own(2, 2)) * w.z};
  const AnyVec<T> fr = fb - cross(w, cross(w, scaled(com, T(b.mass)))) + force;
  const AnyVec<T> mr = AnyVec<T>{s.base_wrench[3], s.base_wrench[4], s.base_wrench[5]} + cross(com, fb) - cross(w, Iw) +
                       moment + cross(r, force);
  const T rhs[6] = {fr.x, fr.y, fr.z, mr.x, mr.y, mr.z};
  for (int i = 0; i < 6; ++i) {
    x[i] = sums.total[leg::kBaseRight + i] + rhs[i];
    x[6 + i] = sums.total[leg::kRight + i] + f[i];
  }
  solve_symmetric<12>(A, x);
}

// linear momentum, and angular about the base's origin
template <class T, class R>
void add_ring_momentum(const Platform<T>& body, const Sym3<T>& I, const R& ring, T* out) {
  const AnyVec<T> p = scaled(ring.v, body.mass), l = cross(ring.r, p) + leg::times(I, ring.w);
  out[0] += p.x, out[1] += p.y, out[2] += p.z, out[3] += l.x, out[4] += l.y, out[5] += l.z;
}

// c: first moment of mass of the legs
template <class T, class R>
T weight_energy(const Vec3<double>& g, const Platform<T>& body, const R& ring, const T* c) {
  return -(T(g.x()) * (c[0] + body.mass * ring.r.x) + T(g.y()) * (c[1] + body.mass * ring.r.y) +
           T(g.z()) * (c[2] + body.mass * ring.r.z));
}

// Functions that need only the sums; out has output_size numbers
template <class T, class R>
void summed_result(const HexJob& job, const HexState<T>& s, const R& ring, const Sums<T>& sums, T* out) {
  const Platform<T> body = platform_of<T>(*job.hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  const T x[6] = {ring.v.x, ring.v.y, ring.v.z, ring.w.x, ring.w.y, ring.w.z};
  T A[6][6];
  switch (job.function) {
    case HexFunction::mass_matrix: {  // to ring axes
      add_reduced(sums, body, I, A);
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) A[j][i] = A[i][j];
      const auto to_ring = [&](const T& a, const T& b, const T& c) {  // R' [a b c]'
        return ring.R.undo(AnyVec<T>{a, b, c});
      };
      T half[6][6];
      for (int i = 0; i < 6; ++i) {
        const AnyVec<T> t = to_ring(A[i][3], A[i][4], A[i][5]);
        for (int j = 0; j < 3; ++j) half[i][j] = A[i][j];
        half[i][3] = t.x, half[i][4] = t.y, half[i][5] = t.z;
      }
      for (int j = 0; j < 6; ++j) {
        const AnyVec<T> t = to_ring(half[3][j], half[4][j], half[5][j]);
        for (int i = 0; i < 3; ++i) out[6 * i + j] = half[i][j];
        out[18 + j] = t.x, out[24 + j] = t.y, out[30 + j] = t.z;
      }
      for (int i = 0; i < 6; ++i)  // rounding must not break the symmetry
        for (int j = 0; j < i; ++j) out[6 * j + i] = out[6 * i + j];
      break;
    }
    case HexFunction::kinetic_energy: {
      add_reduced(sums, body, I, A);
      out[0] = half_square(A, x);
      break;
    }
    case HexFunction::momentum: {
      for (int i = 0; i < 6; ++i) {
        out[i] = T(0.0);
        for (int j = 0; j < 6; ++j) out[i] += sums.total[leg::kCoupling + 6 * i + j] * x[j];
      }
      add_ring_momentum(body, I, ring, out);
      break;
    }
    case HexFunction::potential_energy: {
      out[0] = weight_energy(job.hexapod->gravity(), body, ring, sums.total + leg::kMoment);
      break;
    }
    default: {  // inverse dynamics: what the actuated joints must give, in base axes
      add_reduced(sums, body, I, A);
      const AnyVec<T> e = ring.R.times(AnyVec<T>{s.acceleration[3], s.acceleration[4], s.acceleration[5]});
      const T want[6] = {s.acceleration[0], s.acceleration[1], s.acceleration[2], e.x, e.y, e.z};
      T have[6];
      ring_forces(body, I, ring, s.wrench, have);
      for (int i = 0; i < 6; ++i) {
        out[i] = -(have[i] + sums.total[leg::kRight + i]);
        for (int j = 0; j < 6; ++j) out[i] += A[std::max(i, j)][std::min(i, j)] * want[j];
      }
    }
  }
}

// ---- a row of the result

// rows [v; w base axes] -> [v; w ring axes]
template <class T>
void turn_row(const T* R, const T* row, T* out) {
  for (int i = 0; i < 3; ++i) {
    out[i] = row[i];
    out[3 + i] = R[i] * row[3] + R[3 + i] * row[4] + R[6 + i] * row[5];
  }
}

// kinematics of leg k -> result
template <class T>
void write_kinematics(const HexJob& job, const T* R, int k, const T* x, T* out) {
  const int nj = job.hexapod->joints();
  switch (job.function) {
    case HexFunction::jacobian: return turn_row(R, x + kRowAt, out + 6 * k);
    case HexFunction::measures:
      for (int i = 0; i < 4; ++i) out[4 * k + i] = x[kMeasuresAt + i];
      return;
    default:
      for (int j = 0; j < nj; ++j) out[k * nj + j] = x[(job.function == HexFunction::closure ? 0 : 4) + j];
  }
}

// a leg's outcome (coordinates, rates, accelerations, reaction: four places each) -> its part of the result
template <class T>
void write_leg(const DynamicsLayout& layout, const T* o, T* to) {
  if (layout.whole()) {  // copies of known length
    if (layout.joints == 4) {
      std::memcpy(to, o, 16 * sizeof(T));
    } else {
      for (int q = 0; q < 3; ++q) std::memcpy(to + 3 * q, o + 4 * q, 3 * sizeof(T));
      std::memcpy(to + 9, o + 12, 4 * sizeof(T));
    }
    return;
  }
  for (int k = 0; k < 4; ++k)
    if (layout.leg(k) >= 0) std::memcpy(to + layout.leg(k), o + 4 * k, (k < 3 ? layout.joints : 4) * sizeof(T));
}

// u' and the base's acceleration -> result
template <class T, class R>
void write_head(const DynamicsLayout& layout, const R& ring, const T* x, T* out) {
  constexpr bool kMayBeFree = !std::is_same_v<decltype(ring.base), StillBase>;
  const T* y = kMayBeFree && layout.free ? x + 6 : x;
  if (const int at = layout.acceleration(); at >= 0) {
    const auto w = ring.R.undo(AnyVec<T>{y[3], y[4], y[5]});
    for (int i = 0; i < 3; ++i) out[at + i] = y[i];
    out[at + 3] = w.x, out[at + 4] = w.y, out[at + 5] = w.z;
  }
  if (const int at = layout.base_acceleration(); at >= 0)
    for (int i = 0; i < 6; ++i) out[at + i] = x[i];
}

template <class T, class R>
void solve(const HexJob& job, const LegPlan& plan, const HexState<T>& s, const R& ring, const Sums<T>& sums, T* x) {
  if constexpr (!std::is_same_v<decltype(ring.base), StillBase>)
    if (plan.base == BaseKind::free) return free_accelerations(job, s, ring, sums, x);
  accelerations(job, s, ring, sums, x);
}

// a leg, the same in all lanes
template <class T>
struct OneLeg {
  const double* params;
  LegFunctions<T> calls;
  Kinematics<T> kinematics;
  void* held;
};

// One state, or one state per lane, leg by leg. fine(measures) may end it; jacobian: rows of inverse dynamics.
template <class T, class R, class Fine>
bool evaluate_legs(const HexJob& job, const LegPlan& plan, const OneLeg<T>* legs, const HexState<T>& s, const R& ring,
                   T (&measure)[kLegs][4], T* jacobian, T* out, const Fine& fine) {
  if (plan.task == LegTask::kinematics || plan.rows) {
    for (int k = 0; k < kLegs; ++k) {
      T x[kKinematics];
      legs[k].kinematics(legs[k].params, s.input(), x, x + 4, x + kRowAt, x + kMeasuresAt);
      std::copy_n(x + kRowAt, 6, jacobian + 6 * k);
      std::copy_n(x + kMeasuresAt, 4, measure[k]);
      if (plan.task == LegTask::kinematics) write_kinematics(job, s.R, k, x, out);
    }
    if (plan.task == LegTask::kinematics) return fine(measure[0]);
  }
  const int count = plan.share();
  Sums<T> sums;
  for (int k = 0; k < kLegs; ++k) {
    T own[leg::kFreeShare];
    T* const share = k ? own : sums.total;
    legs[k].calls.first(legs[k].params, s.input(), legs[k].held, share, measure[k], k ? sums.total : nullptr);
    legs[k].calls.drive(s.tau[k], legs[k].held, sums.total + leg::kRight, k > 0);
    for (int i = leg::kFixedShare; k && i < count; ++i) sums.total[i] += own[i];
  }
  if (!fine(measure[0])) return false;
  if (plan.task == LegTask::first_half) return summed_result(job, s, ring, sums, out), true;
  T x[12];
  solve(job, plan, s, ring, sums, x);
  const DynamicsLayout& layout = plan.layout;
  write_head(layout, ring, x, out);
  if (!plan.second) return true;
  const int load = layout.base_wrench();
  T base[kLegs][6];
  for (int i = 0; i < kLegs; ++i) {
    // in lanes the last leg first: what the first half left of it is still in the fastest cache
    const int k = std::is_same_v<T, Packed> ? kLegs - 1 - i : i;
    T* const to = out + layout.head() + k * layout.per_leg();
    if (layout.whole()) {  // straight to their places
      const leg::Places<T> places{to + layout.leg(0), to + layout.leg(1), to + layout.leg(2), to + layout.leg(3), base[k]};
      legs[k].calls.second(legs[k].params, legs[k].held, x, places, true);
    } else {
      leg::Outcome<T> o;
      legs[k].calls.second(legs[k].params, legs[k].held, x, o.places(), plan.whole);
      write_leg(layout, o.position, to);
      std::copy_n(o.base, 6, base[k]);
    }
  }
  for (int i = 0; load >= 0 && i < 6; ++i) {
    out[load + i] = base[0][i];
    for (int k = 1; k < kLegs; ++k) out[load + i] += base[k][i];
  }
  return true;
}

}  // namespace zveno
