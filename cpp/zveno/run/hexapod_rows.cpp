// States of a hexapod: one state with its six legs in SIMD lanes, several states side by side in the lanes leg by leg.
// The sums over legs are made in the same order, so that both give the same bits.
#include <algorithm>
#include <cmath>
#include <limits>

#include <zveno/inst/legs.hpp>
#include <zveno/numeric/dense.hpp>
#include <zveno/run/custom_leg.hpp>
#include <zveno/run/hexapod.hpp>
#include <zveno/run/rows.hpp>

namespace zveno {
namespace {

using Cause = HexFailure::Cause;

LegCalls calls_of(LegType type, bool lean, BaseKind base) {
  switch (type) {
    case LegType::spu: return leg_calls<LegType::spu>(lean, base);
    case LegType::ucu: return leg_calls<LegType::ucu>(lean, base);
    case LegType::rus: return leg_calls<LegType::rus>(lean, base);
    case LegType::rsu: return leg_calls<LegType::rsu>(lean, base);
    default: return leg_calls<LegType::ups>(lean, base);
  }
}

using Kinematics = void (*)(const double*, const StillRing<Packed>&, Packed*, Packed*, Packed*, Packed*);
Kinematics kinematics_of(LegType type) {
  switch (type) {
    case LegType::spu: return &leg_kinematics<LegType::spu>;
    case LegType::ucu: return &leg_kinematics<LegType::ucu>;
    case LegType::rus: return &leg_kinematics<LegType::rus>;
    case LegType::rsu: return &leg_kinematics<LegType::rsu>;
    default: return &leg_kinematics<LegType::ups>;
  }
}

// what a function needs of the legs
enum class Need { kinematics, first, both };

struct Plan {
  Need need;
  BaseKind base;
  bool rows;  // of the Jacobian, besides dynamics

  explicit Plan(const HexJob& job, const HexRows& rows) : need(Need::first), base(BaseKind::still), rows(false) {
    const bool moving = rows.base.data || job.hexapod->has_gravity();
    switch (job.function) {
      case HexFunction::closure:
      case HexFunction::joint_velocity:
      case HexFunction::measures:
      case HexFunction::jacobian: need = Need::kinematics; break;
      case HexFunction::momentum:
      case HexFunction::potential_energy: base = BaseKind::free; break;
      case HexFunction::inverse_dynamics:
        this->rows = true;
        if (moving) base = BaseKind::moving;
        break;
      case HexFunction::forward_dynamics:
        need = Need::both;
        if (moving) base = BaseKind::moving;
        break;
      case HexFunction::free_dynamics:
        need = Need::both;
        base = BaseKind::free;
        break;
      default: break;
    }
  }
  int share() const { return base == BaseKind::free ? leg::kFreeShare : leg::kFixedShare; }
};

// one state, or one state per lane
template <class T>
struct State {
  T r[3], R[9], u[6], acceleration[6], wrench[6], base[9], base_wrench[6];
  T tau[kLegs][4];
};

template <class T>
MovingBase<T> base_flow(const Hexapod& hexapod, BaseKind kind, const State<T>& s) {
  const T* b = s.base;
  const Vec3<double>& g = hexapod.gravity();
  const Vec3T<T> weight{T(-g.x()), T(-g.y()), T(-g.z())}, omega{b[3], b[4], b[5]}, zero{T(0.0), T(0.0), T(0.0)};
  if (kind == BaseKind::free) return {weight, zero, omega};
  return {Vec3T<T>{b[0], b[1], b[2]} + weight, {b[6], b[7], b[8]}, omega};
}

// calls f with the ring in its own type
template <class T, class F>
void with_ring(const Hexapod& hexapod, BaseKind kind, const State<T>& s, F&& f) {
  if (kind == BaseKind::still)
    f(make_ring<T>(s.r, s.R, s.u, StillBase()));
  else
    f(make_ring<T>(s.r, s.R, s.u, base_flow(hexapod, kind, s)));
}

// sums over the legs, in base axes
template <class T>
struct Sums {
  T total[leg::kFreeShare];
  T rows[36];  // Jacobian of the actuated joints
};

template <class T>
Platform<T> platform_of(const Hexapod& hexapod) {
  return {T(hexapod.platform().mass), cast<T>(hexapod.platform().inertia)};
}

template <class T>
void add_reduced(const Sums<T>& sums, const Platform<T>& body, const Sym3<T>& I, T (&A)[6][6]) {
  const T zero(0.0);
  const T own[6][6] = {{body.mass}, {zero, body.mass},           {zero, zero, body.mass}, {zero, zero, zero, I.xx},
                       {zero, zero, zero, I.xy, I.yy}, {zero, zero, zero, I.xz, I.yz, I.zz}};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) A[i][j] = sums.total[leg::kMatrix + upper6(j, i)] + own[i][j];
}

// ---- a row of the result from the sums

// x: accelerations of ring [v'; w'] in base axes; for a free base those of the base first
template <class T, class R>
void accelerations(const HexJob& job, const State<T>& s, const R& ring, const Sums<T>& sums, T* x) {
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
void free_accelerations(const HexJob& job, const State<T>& s, const R& ring, const Sums<T>& sums, T* x) {
  const Hexapod& hexapod = *job.hexapod;
  const Platform<T> body = platform_of<T>(hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  T ring_matrix[6][6], A[12][12], f[6];
  add_reduced(sums, body, I, ring_matrix);
  ring_forces(body, I, ring, s.wrench, f);
  const Vec3T<T>&r = ring.r, force{f[0], f[1], f[2]}, moment{f[3], f[4], f[5]};

  // the base body about O_0, with the legs frozen to it: first and second moments
  const BodySpec& b = job.base;
  const Vec3<double> c = b.com * b.mass;
  const double mass_0 = b.mass + hexapod.leg_mass(), cc = dot(b.com, c);
  auto own = [&](int i, int j) { return b.inertia(i, j) + (i == j ? cc : 0.0) - b.com[i] * c[j]; };
  const T* m1 = sums.total + leg::kMoment;
  const T* m2 = sums.total + leg::kInertia;
  const T rr = dot(r, r), cx = m1[0] + T(c.x()) + r.x * body.mass, cy = m1[1] + T(c.y()) + r.y * body.mass,
          cz = m1[2] + T(c.z()) + r.z * body.mass, zero(0.0), mass = T(mass_0) + body.mass;
  const T Ixx = m2[0] + T(own(0, 0)) + I.xx + (rr - r.x * r.x) * body.mass, Ixy = m2[1] + T(own(0, 1)) + I.xy - r.x * r.y * body.mass;
  const T Ixz = m2[2] + T(own(0, 2)) + I.xz - r.x * r.z * body.mass, Iyy = m2[3] + T(own(1, 1)) + I.yy + (rr - r.y * r.y) * body.mass;
  const T Iyz = m2[4] + T(own(1, 2)) + I.yz - r.y * r.z * body.mass, Izz = m2[5] + T(own(2, 2)) + I.zz + (rr - r.z * r.z) * body.mass;
  const T top[6][6] = {{mass}, {zero, mass}, {zero, zero, mass}, {zero, -cz, cy, Ixx}, {cz, zero, -cx, Ixy, Iyy}, {-cy, cx, zero, Ixz, Iyz, Izz}};
  // ring by base: X_C' M_C X_C
  const T m = body.mass;
  const T mixed[6][6] = {{m, zero, zero, zero, m * r.z, -(m * r.y)},
                         {zero, m, zero, -(m * r.z), zero, m * r.x},
                         {zero, zero, m, m * r.y, -(m * r.x), zero},
                         {zero, zero, zero, I.xx, I.xy, I.xz},
                         {zero, zero, zero, I.xy, I.yy, I.yz},
                         {zero, zero, zero, I.xz, I.yz, I.zz}};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      if (j <= i) A[i][j] = top[i][j];
      A[6 + i][j] = sums.total[leg::kCoupling + 6 * j + i] + mixed[i][j];
      if (j <= i) A[6 + i][6 + j] = ring_matrix[i][j];
    }
  // right-hand sides
  const Vec3T<T> w = ring.base.o, com{T(b.com.x()), T(b.com.y()), T(b.com.z())};
  const Vec3<double>& g = hexapod.gravity();
  const Vec3T<T> weight{T(b.mass * g.x()), T(b.mass * g.y()), T(b.mass * g.z())};
  const Vec3T<T> fb = Vec3T<T>{s.base_wrench[0], s.base_wrench[1], s.base_wrench[2]} + weight;
  const Vec3T<T> Iw{T(own(0, 0)) * w.x + T(own(0, 1)) * w.y + T(own(0, 2)) * w.z,
                    T(own(0, 1)) * w.x + T(own(1, 1)) * w.y + T(own(1, 2)) * w.z,
                    T(own(0, 2)) * w.x + T(own(1, 2)) * w.y + T(own(2, 2)) * w.z};
  const Vec3T<T> fr = fb - cross(w, cross(w, scaled(com, T(b.mass)))) + force;
  const Vec3T<T> mr = Vec3T<T>{s.base_wrench[3], s.base_wrench[4], s.base_wrench[5]} + cross(com, fb) - cross(w, Iw) +
                      moment + cross(r, force);
  const T rhs[6] = {fr.x, fr.y, fr.z, mr.x, mr.y, mr.z};
  for (int i = 0; i < 6; ++i) {
    x[i] = sums.total[leg::kBaseRight + i] + rhs[i];
    x[6 + i] = sums.total[leg::kRight + i] + f[i];
  }
  solve_symmetric<12>(A, x);
}

// Functions that need only the sums; out has hex_output_size numbers
template <class T, class R>
void summed_result(const HexJob& job, const State<T>& s, const R& ring, const Sums<T>& sums, T* out) {
  const Platform<T> body = platform_of<T>(*job.hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  const T x[6] = {ring.v.x, ring.v.y, ring.v.z, ring.w.x, ring.w.y, ring.w.z};
  T A[6][6];
  switch (job.function) {
    case HexFunction::mass_matrix: {  // to ring axes
      add_reduced(sums, body, I, A);
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) A[j][i] = A[i][j];
      const auto turned = [&](const T& a, const T& b, const T& c) {  // R' [a b c]'
        return ring.R.undo(Vec3T<T>{a, b, c});
      };
      T half[6][6];
      for (int i = 0; i < 6; ++i) {
        const Vec3T<T> t = turned(A[i][3], A[i][4], A[i][5]);
        for (int j = 0; j < 3; ++j) half[i][j] = A[i][j];
        half[i][3] = t.x, half[i][4] = t.y, half[i][5] = t.z;
      }
      for (int j = 0; j < 6; ++j) {
        const Vec3T<T> t = turned(half[3][j], half[4][j], half[5][j]);
        for (int i = 0; i < 3; ++i) out[6 * i + j] = half[i][j];
        out[18 + j] = t.x, out[24 + j] = t.y, out[30 + j] = t.z;
      }
      for (int i = 0; i < 6; ++i)  // rounding must not break the symmetry
        for (int j = 0; j < i; ++j) out[6 * j + i] = out[6 * i + j];
      break;
    }
    case HexFunction::kinetic_energy: {
      add_reduced(sums, body, I, A);
      T energy(0.0);
      for (int i = 0; i < 6; ++i) {
        T row = A[i][i] * x[i] * T(0.5);
        for (int j = 0; j < i; ++j) row += A[i][j] * x[j];
        energy += row * x[i];
      }
      out[0] = energy;
      break;
    }
    case HexFunction::momentum: {
      for (int i = 0; i < 6; ++i) {
        out[i] = T(0.0);
        for (int j = 0; j < 6; ++j) out[i] += sums.total[leg::kCoupling + 6 * i + j] * x[j];
      }
      const Vec3T<T> p = scaled(ring.v, body.mass), l = cross(ring.r, p) + leg::times(I, ring.w);
      out[0] += p.x, out[1] += p.y, out[2] += p.z, out[3] += l.x, out[4] += l.y, out[5] += l.z;
      break;
    }
    case HexFunction::potential_energy: {
      const Vec3<double>& g = job.hexapod->gravity();
      const T* c = sums.total + leg::kMoment;
      out[0] = -(T(g.x()) * (c[0] + body.mass * ring.r.x) + T(g.y()) * (c[1] + body.mass * ring.r.y) +
                 T(g.z()) * (c[2] + body.mass * ring.r.z));
      break;
    }
    default: {  // inverse dynamics: what the actuated joints must give, in base axes
      add_reduced(sums, body, I, A);
      const Vec3T<T> e = ring.R.times(Vec3T<T>{s.acceleration[3], s.acceleration[4], s.acceleration[5]});
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

// ---- judging

Cause judge_leg(LegType type, const double* m, double& margin) {
  const bool hunt = type == LegType::rus || type == LegType::rsu;
  const auto vanishes = [&](int i) {
    margin = std::sqrt(std::max(m[i], 0.0));
    return !(m[i] > kTinySquare);
  };
  if (!hunt) {
    if (vanishes(0)) return Cause::along_axis;
  } else {
    if (!std::isfinite(m[0])) return margin = 0, Cause::on_axis;
    if (m[0] < -kTinySquare) return margin = std::sqrt(1 - m[0]) - 1, Cause::reach;
    if (vanishes(0)) return Cause::elbow;
    if (vanishes(1)) return Cause::coupler;
    if (vanishes(2)) return Cause::elbow;
  }
  if (m[3] < -kTinySquare) return margin = std::sqrt(-m[3]), Cause::hook_reach;
  if (vanishes(3)) return Cause::hook;
  return Cause::none;
}

bool is_rotation(const double* R) {
  double worst = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const double d = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - (i == j);
      worst = std::fabs(d) > worst ? std::fabs(d) : worst;
    }
  const double det = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
  return worst <= kRotationDefect && det > 0;
}

// all lanes above a bound
bool all_above(const Packed* x, int count, double bound) {
#if defined(__GNUC__)
  using I = typename Lanes<std::int64_t, kLanes>::type;
  const Packed b(bound);
  I good = (I)(x[0].v > b.v);
  for (int i = 1; i < count; ++i) good &= (I)(x[i].v > b.v);
  std::int64_t all = -1;
  for (int l = 0; l < kLanes; ++l) all &= good[l];
  return all != 0;
#else
  bool good = true;
  for (int i = 0; i < count; ++i)
    for (int l = 0; l < kLanes; ++l) good &= x[i][l] > bound;
  return good;
#endif
}

// of the matrix in every lane: bound on the square of its defect, and its handedness
void rotation_measures(const Packed* R, Packed* m) {
  Packed defect(0.0);
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const Packed d = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - Packed(i == j ? 1.0 : 0.0);
      defect += d * d;
    }
  m[0] = Packed(kRotationDefect * kRotationDefect) - defect;
  m[1] = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
}

// numbers of a leg's kinematics: coordinates, rates, row of the Jacobian, measures
constexpr int kKinematics = 4 + 4 + 6 + 4;

// ---- one run over rows

class Runner {
 public:
  Runner(const HexJob& job, const HexRows& rows, Scratch& scratch)
      : job_(job), rows_(rows), hexapod_(*job.hexapod), plan_(job, rows), nj_(hexapod_.joints()), size_(hex_output_size(job)),
        scratch_(scratch) {
    for (std::size_t g = 0; g < hexapod_.groups().size(); ++g) {
      const LegGroup& group = hexapod_.groups()[g];
      if (plan_.need != Need::kinematics) calls_[g] = calls_of(group.type, group.lean, plan_.base);
      kinematics_[g] = kinematics_of(group.type);
    }
  }

  HexFailure run(std::ptrdiff_t begin, std::ptrdiff_t end) {
    const bool by_state = end - begin > 1 && !hexapod_.has_custom() && !job_.newton;
    return by_state ? batch(begin, end) : singles(begin, end);
  }

 private:
  // ---- one state: legs in lanes

  HexFailure singles(std::ptrdiff_t begin, std::ptrdiff_t end) {
    HexFailure failure;
    for (std::ptrdiff_t row = begin; row < end; ++row) {
      const Scratch::Frame frame(scratch_);
      double* out = rows_.out + row * size_;
      HexFailure f = single(row, out);
      if (f.cause == Cause::none && !all_finite(out, size_)) f.cause = Cause::overflow;
      report(f, row, failure);
    }
    return failure;
  }

  void report(HexFailure f, std::ptrdiff_t row, HexFailure& first) {
    if (f.cause != Cause::none) {
      f.row = row;
      double* out = rows_.out + row * size_;
      std::fill(out, out + size_, std::numeric_limits<double>::quiet_NaN());
      if (first.cause == Cause::none) first = f;
    }
    if (rows_.status) rows_.status[row] = f.code();
  }

  template <std::size_t n>
  static void read(const RowData& data, std::ptrdiff_t row, double (&x)[n]) {
    if (data.data)
      std::copy_n(data.row(row), n, x);
    else
      std::fill(x, x + n, 0.0);
  }

  // place of a leg's tau in a row
  const double* tau_at(const double* row, int k, int j) const {
    if (!row) return nullptr;
    if (!job_.actuated_only) return row + k * nj_ + j;
    return j == hexapod_.chain(k).actuated ? row + k : nullptr;
  }

  void read_tau(std::ptrdiff_t row, double (&tau)[kLegs][4]) const {
    const double* from = rows_.tau.data ? rows_.tau.row(row) : nullptr;
    for (int k = 0; k < kLegs; ++k) {
      for (double& t : tau[k]) t = 0;
      for (int j = 0; j < hexapod_.joints(k); ++j) {
        const double* t = tau_at(from, k, j);
        const bool wanted = job_.function == HexFunction::inverse_dynamics && j == hexapod_.chain(k).actuated;
        if (t && !wanted) tau[k][hexapod_.place(k, j)] = *t;
      }
    }
  }

  bool finite_inputs(std::ptrdiff_t row) const {
    const auto ok = [&](const RowData& d, int n) { return !d.data || all_finite(d.row(row), n); };
    return ok(rows_.r, 3) && ok(rows_.R, 9) && ok(rows_.u, 6) && ok(rows_.acceleration, 6) && ok(rows_.wrench, 6) &&
           ok(rows_.tau, job_.actuated_only ? 6 : 6 * nj_) && ok(rows_.base, 9) && ok(rows_.omega, 3) && ok(rows_.base_wrench, 6) &&
           ok(rows_.start, 6 * nj_);
  }

  HexFailure single(std::ptrdiff_t row, double* out) {
    HexFailure failure;
    if (!finite_inputs(row)) return failure.cause = Cause::input, failure;
    State<double> s;
    read(rows_.r, row, s.r), read(rows_.R, row, s.R), read(rows_.u, row, s.u);
    if (!is_rotation(s.R)) return failure.cause = Cause::rotation, failure;
    if (plan_.need != Need::kinematics) {
      read(rows_.acceleration, row, s.acceleration), read(rows_.wrench, row, s.wrench);
      read(rows_.base, row, s.base), read(rows_.base_wrench, row, s.base_wrench);
      if (rows_.omega.data) std::copy_n(rows_.omega.row(row), 3, s.base + 3);
      read_tau(row, s.tau);
    }
    with_ring<double>(hexapod_, plan_.base, s, [&](const auto& ring) { failure = single_with(s, ring, row, out); });
    return failure;
  }

  static State<Packed> broadcast(const State<double>& s) {
    State<Packed> b;
    for (int i = 0; i < 3; ++i) b.r[i] = s.r[i];
    for (int i = 0; i < 9; ++i) b.R[i] = s.R[i], b.base[i] = s.base[i];
    for (int i = 0; i < 6; ++i) b.u[i] = s.u[i];
    return b;
  }

  // lanes of `count` packs -> rows[leg][i]
  template <class Rows>
  static void spread(const Packed* packs, int count, const int* legs, int lanes, Rows&& row_of) {
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      Packed block[kLanes];
      for (int l = 0; l < kLanes; ++l) block[l] = packs[i + l];
      transpose(block);
      for (int l = 0; l < lanes; ++l) block[l].store(row_of(legs[l]) + i);
    }
    for (; i < count; ++i) {
      double x[kLanes];
      packs[i].store(x);
      for (int l = 0; l < lanes; ++l) row_of(legs[l])[i] = x[l];
    }
  }

  template <class F>
  void for_packs(F&& f) const {
    int pack = 0;
    for (std::size_t g = 0; g < hexapod_.groups().size(); ++g) {
      const LegGroup& group = hexapod_.groups()[g];
      for (int at = 0; at < group.count; at += kLanes)
        f(g, group, group.params.number + at, group.legs.data() + at, std::min(kLanes, group.count - at), pack++);
    }
  }

  void measured(const Packed* m, const LegGroup& group, const int* legs, int lanes, HexFailure& failure) const {
    if (all_above(m, 4, kTinySquare)) return;
    for (int l = 0; l < lanes; ++l) {
      const double own[4] = {m[0][l], m[1][l], m[2][l], m[3][l]};
      double margin;
      const Cause cause = judge_leg(group.type, own, margin);
      if (cause != Cause::none && (failure.cause == Cause::none || legs[l] < failure.leg))
        failure.cause = cause, failure.leg = legs[l], failure.margin = margin;
    }
  }

  template <class R>
  HexFailure single_with(const State<double>& s, const R& ring, std::ptrdiff_t row, double* out) {
    HexFailure failure;
    const State<Packed> wide = broadcast(s);
    constexpr int kRow = 80;                        // doubles kept for one leg, rounded up
    double* share = scratch_.take<double>(kLegs * kRow);
    CustomLeg* custom = hexapod_.has_custom() || job_.newton ? scratch_.take<CustomLeg>(kLegs) : nullptr;
    const auto share_of = [&](int k) { return share + k * kRow; };
    Sums<double> sums;

    if (plan_.need == Need::kinematics || plan_.rows) {
      const StillRing<Packed> still = make_ring<Packed>(wide.r, wide.R, wide.u, StillBase());
      for_packs([&](std::size_t g, const LegGroup& group, const double* params, const int* legs, int lanes, int) {
        Packed x[kKinematics];
        kinematics_[g](params, still, x, x + 4, x + 8, x + 14);
        measured(x + 14, group, legs, lanes, failure);
        spread(x, kKinematics, legs, lanes, share_of);
      });
      if (failure.cause != Cause::none && !job_.newton) return failure;
      failure = HexFailure();
      for (int k = 0; custom && k < kLegs; ++k) {
        if (hexapod_.leg(k).type != LegType::custom && !job_.newton) continue;
        double closed[4];  // where the closed form stands
        for (int j = 0; j < hexapod_.joints(k); ++j) closed[j] = share_of(k)[hexapod_.place(k, j)];
        const double* own = hexapod_.leg(k).type == LegType::custom ? nullptr : closed;
        const double* start = rows_.start.data ? rows_.start.row(row) + k * nj_ : own;
        failure = custom[k].close(hexapod_, k, s.r, s.R, start, scratch_);
        if (failure.cause != Cause::none) return failure;
        custom[k].rates(s.u, ring.w);
        custom[k].write(hexapod_, share_of(k));
      }
      for (int k = 0; k < kLegs; ++k) std::copy_n(share_of(k) + 8, 6, sums.rows + 6 * k);
      if (plan_.need == Need::kinematics) return kinematic_result(s, share_of, sums.rows, out), failure;
    }

    struct alignas(64) Chunk {
      char bytes[64];
    };
    Chunk* held[kLegs + 4];
    const auto wide_ring = [&] {
      if constexpr (std::is_same_v<R, StillRing<double>>)
        return make_ring<Packed>(wide.r, wide.R, wide.u, StillBase());
      else
        return make_ring<Packed>(wide.r, wide.R, wide.u, base_flow(hexapod_, plan_.base, wide));
    }();
    const int count = plan_.share();
    for_packs([&](std::size_t g, const LegGroup& group, const double* params, const int* legs, int lanes, int pack) {
      held[pack] = scratch_.take<Chunk>((calls_[g].size + 63) / 64);
      Packed tau[4], measure[4], own[kRow];
      for (int j = 0; j < 4; ++j) {
        const double* lane[kLanes];
        for (int l = 0; l < kLanes; ++l) lane[l] = s.tau[legs[l < lanes ? l : 0]];
        tau[j] = Packed::across(lane, j);
      }
      calls_[g].first(params, &wide_ring, tau, held[pack], own, measure);
      measured(measure, group, legs, lanes, failure);
      spread(own, padded(count) <= kRow ? padded(count) : count, legs, lanes, share_of);
    });
    if (failure.cause != Cause::none) return failure;
    if (hexapod_.has_custom())
      for (int k = 0; k < kLegs; ++k) {
        if (hexapod_.leg(k).type != LegType::custom) continue;
        const double* start = rows_.start.data ? rows_.start.row(row) + k * nj_ : nullptr;
        failure = custom[k].close(hexapod_, k, s.r, s.R, start, scratch_);
        if (failure.cause != Cause::none) return failure;
        const double flow[9] = {value<double>(ring.base.w.x), value<double>(ring.base.w.y), value<double>(ring.base.w.z),
                                value<double>(ring.base.o.x), value<double>(ring.base.o.y), value<double>(ring.base.o.z),
                                value<double>(ring.base.e.x), value<double>(ring.base.e.y), value<double>(ring.base.e.z)};
        custom[k].rates(s.u, ring.w);
        custom[k].first(hexapod_, ring, flow, s.tau[k], plan_.base == BaseKind::free, share_of(k), scratch_);
      }
    for (int i = 0; i < count; ++i) sums.total[i] = share[i];
    for (int k = 1; k < kLegs; ++k)
      for (int i = 0; i < count; ++i) sums.total[i] += share_of(k)[i];

    if (plan_.need == Need::first) {
      summed_result(job_, s, ring, sums, out);
      return finish_inverse(sums.rows, out);
    }
    double x[12];
    if (plan_.base == BaseKind::free) {
      if constexpr (!std::is_same_v<R, StillRing<double>>) free_accelerations(job_, s, ring, sums, x);
    } else {
      accelerations(job_, s, ring, sums, x);
    }
    const double* ring_x = plan_.base == BaseKind::free ? x + 6 : x;
    const DynamicsLayout layout{nj_, plan_.base == BaseKind::free};
    write_head(ring, x, layout.free, out);
    double load[kLegs][8];
    Packed xs[12];
    for (int i = 0; i < (layout.free ? 12 : 6); ++i) xs[i] = x[i];
    for_packs([&](std::size_t g, const LegGroup&, const double* params, const int* legs, int lanes, int pack) {
      struct {
        leg::Outcome<Packed> of;
        Packed rest[2];
      } outcome;
      outcome.rest[0] = outcome.rest[1] = 0.0;
      calls_[g].second(params, held[pack], xs, outcome.of);
      spread(reinterpret_cast<const Packed*>(&outcome), 24, legs, lanes, share_of);
    });
    for (int k = 0; k < kLegs; ++k) {
      double* to = out + layout.head() + k * layout.per_leg();
      if (hexapod_.leg(k).type == LegType::custom) {
        custom[k].second(hexapod_, ring_x, layout.free ? x : nullptr, to, load[k], scratch_);
        continue;
      }
      write_leg(k, share_of(k), to, load[k]);
    }
    for (int i = 0; i < 6; ++i) {
      double sum = load[0][i];
      for (int k = 1; k < kLegs; ++k) sum += load[k][i];
      out[6 + i] = sum;
    }
    return failure;
  }

  template <class R>
  void write_head(const R& ring, const double* x, bool free, double* out) const {
    const double* y = free ? x + 6 : x;
    const auto w = ring.R.undo(Vec3T<double>{y[3], y[4], y[5]});
    for (int i = 0; i < 3; ++i) out[i] = y[i];
    out[3] = w.x, out[4] = w.y, out[5] = w.z;
    if (free) std::copy_n(x, 6, out + 12);
  }

  // o: an Outcome of this leg
  void write_leg(int k, const double* o, double* to, double* load) const {
    const int n = hexapod_.joints(k);
    for (int q = 0; q < 3; ++q)
      for (int j = 0; j < nj_; ++j) to[q * nj_ + j] = j < n ? o[4 * q + hexapod_.place(k, j)] : 0.0;
    std::copy_n(o + 12, 4, to + 3 * nj_);
    std::copy_n(o + 16, 6, load);
  }

  template <class Rows>
  void kinematic_result(const State<double>& s, Rows&& row_of, const double* jacobian, double* out) const {
    if (job_.function == HexFunction::jacobian) {
      for (int k = 0; k < kLegs; ++k) turn_row(s.R, jacobian + 6 * k, out + 6 * k);
      return;
    }
    if (job_.function == HexFunction::measures) {
      for (int k = 0; k < kLegs; ++k) std::copy_n(row_of(k) + 14, 4, out + 4 * k);
      return;
    }
    const int from = job_.function == HexFunction::closure ? 0 : 4;
    for (int k = 0; k < kLegs; ++k)
      for (int j = 0; j < nj_; ++j)
        out[k * nj_ + j] = j < hexapod_.joints(k) ? row_of(k)[from + hexapod_.place(k, j)] : 0.0;
  }

  // coefficients of [v; w base axes] -> of [v; w ring axes]
  static void turn_row(const double* R, const double* row, double* out) {
    for (int i = 0; i < 3; ++i) {
      out[i] = row[i];
      out[3 + i] = R[i] * row[3] + R[3 + i] * row[4] + R[6 + i] * row[5];
    }
  }

  // J' tau = out
  HexFailure finish_inverse(const double* rows, double* out) const {
    HexFailure failure;
    if (job_.function != HexFunction::inverse_dynamics) return failure;
    double A[36];
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) A[6 * i + j] = rows[6 * j + i];
    const double pivot = solve_dense(A, 6, out);
    if (!(pivot > kTinyPivot)) failure.cause = Cause::singular, failure.margin = pivot;
    return failure;
  }

  // ---- many states: one per lane

  HexFailure batch(std::ptrdiff_t begin, std::ptrdiff_t end) {
    HexFailure failure;
    // every leg's parameters repeated in all lanes
    double* params = scratch_.take<double>(kLegs * leg::kParams * leg::kSlots);
    for (const LegGroup& group : hexapod_.groups())
      for (int m = 0; m < group.count; ++m) {
        double* to = params + group.legs[m] * leg::kParams * leg::kSlots;
        for (int i = 0; i < leg::kParams; ++i)
          for (int l = 0; l < leg::kSlots; ++l) to[i * leg::kSlots + l] = group.params.number[i * leg::kSlots + m];
      }
    std::size_t group_of[kLegs] = {};
    for (std::size_t g = 0; g < hexapod_.groups().size(); ++g)
      for (int m = 0; m < hexapod_.groups()[g].count; ++m) group_of[hexapod_.groups()[g].legs[m]] = g;
    for (std::ptrdiff_t row = begin; row < end; row += kLanes) {
      const Scratch::Frame frame(scratch_);
      const std::ptrdiff_t count = std::min<std::ptrdiff_t>(kLanes, end - row);
      Packed* s_memory = scratch_.take<Packed>(sizeof(State<Packed>) / sizeof(Packed));
      State<Packed>& s = *reinterpret_cast<State<Packed>*>(s_memory);
      const bool finite = gather_state(row, end, s);
      Packed rotation[2];
      rotation_measures(s.R, rotation);
      bool fine = finite && all_above(rotation, 2, 0.0);
      Packed* out = scratch_.take<Packed>(static_cast<std::size_t>(size_));
      if (fine) {
        with_ring<Packed>(hexapod_, plan_.base, s,
                          [&](const auto& ring) { fine = batch_with(s, ring, params, group_of, out); });
        if (fine) {
          scatter(out, count, rows_.out + row * size_);
          fine = all_zero_times(out);
        }
      }
      if (fine && job_.function != HexFunction::inverse_dynamics) {
        if (rows_.status) std::fill_n(rows_.status + row, count, std::int16_t{0});
        continue;
      }
      if (!fine) {  // a row has failed: one by one, which gives the same numbers for the others
        const HexFailure f = singles(row, row + count);
        if (f.cause != Cause::none && failure.cause == Cause::none) failure = f;
        continue;
      }
      for (std::ptrdiff_t l = 0; l < count; ++l) {
        double rows[36], *to = rows_.out + (row + l) * size_;
        for (int i = 0; i < 36; ++i) rows[i] = jacobian_[i][static_cast<int>(l)];
        report(finish_inverse(rows, to), row + l, failure);
      }
    }
    return failure;
  }

  static void gather(const RowData& data, std::ptrdiff_t row, std::ptrdiff_t end, int n, Packed* x) {
    if (!data.data) {
      for (int i = 0; i < n; ++i) x[i] = 0.0;
      return;
    }
    const double* lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = data.row(std::min(row + l, end - 1));
    for (int i = 0; i < n; ++i) x[i] = Packed::across(lane, i);
  }

  // false if a number is not finite
  bool gather_state(std::ptrdiff_t row, std::ptrdiff_t end, State<Packed>& s) const {
    gather(rows_.r, row, end, 3, s.r);
    gather(rows_.R, row, end, 9, s.R);
    gather(rows_.u, row, end, 6, s.u);
    gather(rows_.acceleration, row, end, 6, s.acceleration);
    gather(rows_.wrench, row, end, 6, s.wrench);
    gather(rows_.base, row, end, 9, s.base);
    if (rows_.omega.data) gather(rows_.omega, row, end, 3, s.base + 3);
    gather(rows_.base_wrench, row, end, 6, s.base_wrench);
    const int width = job_.actuated_only ? 6 : 6 * nj_;
    Packed tau[kLegs * 4];
    gather(rows_.tau, row, end, width, tau);
    for (int k = 0; k < kLegs; ++k) {
      for (Packed& t : s.tau[k]) t = 0.0;
      for (int j = 0; j < hexapod_.joints(k); ++j) {
        const bool actuated = j == hexapod_.chain(k).actuated;
        if (job_.actuated_only && !actuated) continue;
        if (job_.function == HexFunction::inverse_dynamics && actuated) continue;
        s.tau[k][hexapod_.place(k, j)] = tau[job_.actuated_only ? k : k * nj_ + j];
      }
    }
    Packed sum(0.0);
    const Packed zero(0.0);
    for (const Packed& x : s.r) sum += x * zero;
    for (const Packed& x : s.R) sum += x * zero;
    for (const Packed& x : s.u) sum += x * zero;
    for (const Packed& x : s.acceleration) sum += x * zero;
    for (const Packed& x : s.wrench) sum += x * zero;
    for (const Packed& x : s.base) sum += x * zero;
    for (const Packed& x : s.base_wrench) sum += x * zero;
    for (int i = 0; i < width; ++i) sum += tau[i] * zero;
    bool finite = true;
    for (int l = 0; l < kLanes; ++l) finite &= sum[l] == 0.0;
    return finite;
  }

  bool all_zero_times(const Packed* x) const {
    Packed sum[2] = {0.0, 0.0};
    for (int i = 0; i < size_; ++i) sum[i % 2] += x[i] * Packed(0.0);
    bool finite = true;
    for (int l = 0; l < kLanes; ++l) finite &= (sum[0] + sum[1])[l] == 0.0;
    return finite;
  }

  void scatter(const Packed* in, std::ptrdiff_t count, double* out) const {
    int j = 0;
    for (; j + kLanes <= size_; j += kLanes) {
      Packed block[kLanes];
      for (int l = 0; l < kLanes; ++l) block[l] = in[j + l];
      transpose(block);
      for (std::ptrdiff_t l = 0; l < count; ++l) block[l].store(out + l * size_ + j);
    }
    for (; j < size_; ++j) {
      double x[kLanes];
      in[j].store(x);
      for (std::ptrdiff_t l = 0; l < count; ++l) out[l * size_ + j] = x[l];
    }
  }

  template <class R>
  bool batch_with(const State<Packed>& s, const R& ring, const double* params, const std::size_t* group_of, Packed* out) {
    Packed measure[kLegs][4];
    const auto params_of = [&](int k) { return params + k * leg::kParams * leg::kSlots; };
    if (plan_.need == Need::kinematics || plan_.rows) {
      const StillRing<Packed> still = make_ring<Packed>(s.r, s.R, s.u, StillBase());
      for (int k = 0; k < kLegs; ++k) {
        Packed x[14];
        kinematics_[group_of[k]](params_of(k), still, x, x + 4, x + 8, measure[k]);
        for (int i = 0; i < 6; ++i) jacobian_[6 * k + i] = x[8 + i];
        if (job_.function == HexFunction::measures)
          for (int i = 0; i < 4; ++i) out[4 * k + i] = measure[k][i];
        else if (plan_.need == Need::kinematics && job_.function != HexFunction::jacobian)
          for (int j = 0; j < nj_; ++j)
            out[k * nj_ + j] = j < hexapod_.joints(k)
                                   ? x[(job_.function == HexFunction::closure ? 0 : 4) + hexapod_.place(k, j)]
                                   : Packed(0.0);
      }
      if (plan_.need == Need::kinematics) {
        if (job_.function == HexFunction::jacobian)
          for (int k = 0; k < kLegs; ++k)
            for (int i = 0; i < 3; ++i) {
              const Packed* row = jacobian_ + 6 * k;
              out[6 * k + i] = row[i];
              out[6 * k + 3 + i] = s.R[i] * row[3] + s.R[3 + i] * row[4] + s.R[6 + i] * row[5];
            }
        return all_above(measure[0], 4 * kLegs, kTinySquare);
      }
    }
    struct alignas(64) Chunk {
      char bytes[64];
    };
    const int count = plan_.share();
    Chunk* held[kLegs];
    Sums<Packed> sums;
    for (int k = 0; k < kLegs; ++k) {
      const LegCalls& calls = calls_[group_of[k]];
      held[k] = scratch_.take<Chunk>((calls.size + 63) / 64);
      Packed own[leg::kFreeShare];
      calls.first(params_of(k), &ring, s.tau[k], held[k], own, measure[k]);
      for (int i = 0; i < count; ++i) sums.total[i] = k ? sums.total[i] + own[i] : own[i];
    }
    if (!all_above(measure[0], 4 * kLegs, kTinySquare)) return false;
    if (plan_.need == Need::first) return summed_result(job_, s, ring, sums, out), true;
    Packed x[12];
    const DynamicsLayout layout{nj_, plan_.base == BaseKind::free};
    if (layout.free) {
      if constexpr (!std::is_same_v<R, StillRing<Packed>>) free_accelerations(job_, s, ring, sums, x);
    } else {
      accelerations(job_, s, ring, sums, x);
    }
    const Packed* y = layout.free ? x + 6 : x;
    const auto w = ring.R.undo(Vec3T<Packed>{y[3], y[4], y[5]});
    for (int i = 0; i < 3; ++i) out[i] = y[i];
    out[3] = w.x, out[4] = w.y, out[5] = w.z;
    if (layout.free)
      for (int i = 0; i < 6; ++i) out[12 + i] = x[i];
    for (int k = 0; k < kLegs; ++k) {
      leg::Outcome<Packed> o;
      calls_[group_of[k]].second(params_of(k), held[k], x, o);
      Packed* to = out + layout.head() + k * layout.per_leg();
      const Packed* quantity[3] = {o.position, o.rate, o.acceleration};
      for (int q = 0; q < 3; ++q)
        for (int j = 0; j < nj_; ++j)
          to[q * nj_ + j] = j < hexapod_.joints(k) ? quantity[q][hexapod_.place(k, j)] : Packed(0.0);
      for (int i = 0; i < 4; ++i) to[3 * nj_ + i] = o.reaction[i];
      for (int i = 0; i < 6; ++i) out[6 + i] = k ? out[6 + i] + o.base[i] : o.base[i];
    }
    return true;
  }

  const HexJob& job_;
  const HexRows& rows_;
  const Hexapod& hexapod_;
  const Plan plan_;
  const int nj_, size_;
  Scratch& scratch_;
  LegCalls calls_[2 * 5];
  Kinematics kinematics_[2 * 5];
  Packed jacobian_[36];
};

}  // namespace

HexFailure run_hexapod(const HexJob& job, const HexRows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  return Runner(job, rows, scratch).run(begin, end);
}

}  // namespace zveno
