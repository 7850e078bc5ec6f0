// States of a hexapod: one state with its six legs in SIMD lanes, several states side by side in the lanes leg by leg.
// The sums over legs are made in the same order, so that both give the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <zveno/inst/legs.hpp>
#include <zveno/numeric/dense.hpp>
#include <zveno/run/custom_leg.hpp>
#include <zveno/run/hexapod.hpp>
#include <zveno/run/hexapod_system.hpp>
#include <zveno/run/lanes.hpp>
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

using Kinematics = void (*)(const double*, const Packed*, Packed*, Packed*, Packed*, Packed*);
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

// ---- judging

Cause judge_leg(LegType type, const double* m, double& margin) {
  const bool hunt = type == LegType::rus || type == LegType::rsu;
  const auto vanishes = [&](int i) {
    margin = m[i] > 0 ? std::sqrt(m[i]) : 0.0;
    return !(m[i] > kTinySquare);
  };
  if (!hunt) {
    if (vanishes(0)) return Cause::collapsed;
    if (vanishes(1)) return Cause::along_axis;
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
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      if (!(std::fabs(R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - (i == j)) <= kRotationDefect)) return false;
  return true;
}

// positive for a rotation: room left for the square of its defect, and its handedness
template <class T>
void rotation_measures(const T* R, T* m) {
  T defect(0.0);
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const T d = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - T(i == j ? 1.0 : 0.0);
      defect += d * d;
    }
  m[0] = T(kRotationDefect * kRotationDefect) - defect;
  m[1] = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
}

// numbers of a leg's kinematics: coordinates, rates, row of the Jacobian, measures
constexpr int kKinematics = 4 + 4 + 6 + 4;
constexpr int kRowAt = 8, kMeasuresAt = 14;
// numbers kept for a leg: its share, its kinematics or its outcome
constexpr int kKept = 80;
static_assert(kKept >= leg::kFreeShare && kKept % kLanes == 0);

struct alignas(64) Chunk {
  char bytes[64];
};

// rows [v; w base axes] -> [v; w ring axes]
template <class T>
void turn_row(const T* R, const T* row, T* out) {
  for (int i = 0; i < 3; ++i) {
    out[i] = row[i];
    out[3 + i] = R[i] * row[3] + R[3 + i] * row[4] + R[6 + i] * row[5];
  }
}

// ---- one run over rows

class Runner {
 public:
  Runner(const HexJob& job, const HexRows& rows, Scratch& scratch)
      : job_(job),
        rows_(rows),
        hexapod_(*job.hexapod),
        plan_(job, rows),
        nj_(hexapod_.joints()),
        tau_width_(job.actuated_only ? kLegs : kLegs * nj_),
        size_(hex_output_size(job)),
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
  bool inverse() const { return job_.function == HexFunction::inverse_dynamics; }

  // tau of a row as it was given -> by leg and joint
  template <class T>
  void sort_tau(const T* given, State<T>& s) const {
    for (int k = 0; k < kLegs; ++k) {
      const int actuated = hexapod_.chain(k).actuated;
      for (int j = 0; j < 4; ++j) s.tau[k][j] = T(0.0);
      if (!rows_.tau.data) continue;
      if (job_.actuated_only)
        s.tau[k][actuated] = given[k];
      else
        for (int j = 0; j < hexapod_.joints(k); ++j) s.tau[k][j] = given[k * nj_ + j];
      if (inverse()) s.tau[k][actuated] = T(0.0);
    }
  }

  // a leg's outcome -> its part of the result
  template <class T>
  void write_leg(const T* o, T* to) const {
    if (nj_ == 4) {
      std::memcpy(to, o, 16 * sizeof(T));
    } else {
      for (int q = 0; q < 3; ++q) std::memcpy(to + 3 * q, o + 4 * q, 3 * sizeof(T));
      std::memcpy(to + 9, o + 12, 4 * sizeof(T));
    }
  }

  // kinematics of leg k -> result
  template <class T>
  void write_kinematics(const T* R, int k, const T* x, T* out) const {
    switch (job_.function) {
      case HexFunction::jacobian: return turn_row(R, x + kRowAt, out + 6 * k);
      case HexFunction::measures:
        for (int i = 0; i < 4; ++i) out[4 * k + i] = x[kMeasuresAt + i];
        return;
      default:
        for (int j = 0; j < nj_; ++j) out[k * nj_ + j] = x[(job_.function == HexFunction::closure ? 0 : 4) + j];
    }
  }

  // u' and the base's acceleration -> result
  template <class T, class R>
  void write_head(const R& ring, const T* x, T* out) const {
    const bool free = plan_.base == BaseKind::free;
    const T* y = free ? x + 6 : x;
    const auto w = ring.R.undo(Vec3T<T>{y[3], y[4], y[5]});
    for (int i = 0; i < 3; ++i) out[i] = y[i];
    out[3] = w.x, out[4] = w.y, out[5] = w.z;
    for (int i = 0; free && i < 6; ++i) out[12 + i] = x[i];
  }

  template <class T, class R>
  void solve(const State<T>& s, const R& ring, const Sums<T>& sums, T* x) const {
    if constexpr (!std::is_same_v<decltype(ring.base), StillBase>)
      if (plan_.base == BaseKind::free) return free_accelerations(job_, s, ring, sums, x);
    accelerations(job_, s, ring, sums, x);
  }

  // J' tau = out
  HexFailure finish_inverse(const double* rows, double* out) const {
    HexFailure failure;
    double A[36];
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) A[6 * i + j] = rows[6 * j + i];
    const double pivot = solve_dense(A, 6, out);
    if (!(pivot > kTinyPivot))
      failure.cause = Cause::singular, failure.margin = pivot;
    else if (!all_finite(out, 6))
      failure.cause = Cause::overflow;
    return failure;
  }

  void report(HexFailure f, std::ptrdiff_t row, HexFailure& first) {
    if (f.cause != Cause::none) {
      f.row = row;
      std::fill_n(rows_.out + row * size_, size_, std::numeric_limits<double>::quiet_NaN());
      if (first.cause == Cause::none) first = f;
    }
    if (rows_.status) rows_.status[row] = f.code();
  }

  // ---- one state: legs in lanes

  HexFailure singles(std::ptrdiff_t begin, std::ptrdiff_t end) {
    HexFailure failure;
    for (std::ptrdiff_t row = begin; row < end; ++row) {
      const Scratch::Frame frame(scratch_);
      double* out = rows_.out + row * size_;
      HexFailure f = single(row, out);
      if (f.cause == Cause::none && !all_finite(out, size_)) f.cause = Cause::overflow;
      if (f.cause != Cause::none && !finite_inputs(row)) f = {Cause::input, row};
      report(f, row, failure);
    }
    return failure;
  }

  // Asked only when something went wrong: a number that is not finite makes the result so, unless nothing depends on it.
  bool finite_inputs(std::ptrdiff_t row) const {
    const auto ok = [&](const RowData& d, int n) { return !d.data || all_finite(d.row(row), n); };
    return ok(rows_.r, 3) && ok(rows_.R, 9) && ok(rows_.u, 6) && ok(rows_.acceleration, 6) && ok(rows_.wrench, 6) &&
           ok(rows_.tau, tau_width_) && ok(rows_.base, 9) && ok(rows_.omega, 3) && ok(rows_.base_wrench, 6) &&
           ok(rows_.start, kLegs * nj_);
  }

  HexFailure single(std::ptrdiff_t row, double* out) {
    HexFailure failure;
    const auto read = [&](const RowData& data, int n, double* x) {
      if (data.data)
        std::copy_n(data.row(row), n, x);
      else
        std::fill_n(x, n, 0.0);
    };
    State<double> s;
    read(rows_.r, 3, s.r), read(rows_.R, 9, s.R), read(rows_.u, 6, s.u);
    if (plan_.need != Need::kinematics) {
      double tau[4 * kLegs];
      read(rows_.wrench, 6, s.wrench), read(rows_.tau, tau_width_, tau);
      sort_tau(tau, s);
      if (plan_.base != BaseKind::still) {
        read(rows_.base, 9, s.base);
        if (rows_.omega.data) read(rows_.omega, 3, s.base + 3);
        set_flow(hexapod_, plan_.base, s);
      }
      if (plan_.base == BaseKind::free) read(rows_.base_wrench, 6, s.base_wrench);
      if (inverse()) read(rows_.acceleration, 6, s.acceleration);
    }
    double rotation[2];
    rotation_measures(s.R, rotation);
    if (!(rotation[0] >= 0 || is_rotation(s.R)) || !(rotation[1] > 0)) return failure.cause = Cause::rotation, failure;
    with_ring(plan_.base, s, [&](const auto& ring) { failure = single_with(s, ring, row, out); });
    return failure;
  }

  // f(group, its index, parameters, legs, lanes in use, number of the pack)
  template <class F>
  void for_packs(F&& f) const {
    int pack = 0;
    for (std::size_t g = 0; g < hexapod_.groups().size(); ++g) {
      const LegGroup& group = hexapod_.groups()[g];
      for (int at = 0; at < group.count; at += kLanes)
        f(group, g, group.params.number + at, group.legs.data() + at, std::min(kLanes, group.count - at), pack++);
    }
  }

  void judge(const Packed* m, const LegGroup& group, const int* legs, int lanes, HexFailure& failure) const {
    if (all_above(m, 4, kTinySquare)) return;
    for (int l = 0; l < lanes; ++l) {
      const double own[4] = {m[0][l], m[1][l], m[2][l], m[3][l]};
      double margin;
      const Cause cause = judge_leg(group.type, own, margin);
      if (cause != Cause::none && (failure.cause == Cause::none || legs[l] < failure.leg))
        failure.cause = cause, failure.leg = legs[l], failure.margin = margin;
    }
  }

  // where Newton's method starts: given, where the closed form stands, or the leg's own
  const double* start_of(std::ptrdiff_t row, int k, const double* closed) const {
    if (rows_.start.data) return rows_.start.row(row) + k * nj_;
    return hexapod_.leg(k).type == LegType::custom ? nullptr : closed;
  }

  template <class R>
  HexFailure single_with(const State<double>& s, const R& ring, std::ptrdiff_t row, double* out) {
    HexFailure failure;
    double* kept = scratch_.take<double>(kLegs * kKept);
    const auto kept_of = [&](int k) { return kept + k * kKept; };
    CustomLeg* custom = hexapod_.has_custom() || job_.newton ? scratch_.take<CustomLeg>(kLegs) : nullptr;
    Packed wide[kInput];
    ZVENO_UNROLL
    for (int i = 0; i < 18; ++i) wide[i] = s.input()[i];
    for (int i = 18; plan_.base != BaseKind::still && i < kInput; ++i) wide[i] = s.input()[i];
    Sums<double> sums;

    if (plan_.need == Need::kinematics || plan_.rows) {
      for_packs([&](const LegGroup& group, std::size_t g, const double* params, const int* legs, int lanes, int) {
        Packed x[kKinematics];
        kinematics_[g](params, wide, x, x + 4, x + kRowAt, x + kMeasuresAt);
        if (!job_.newton) judge(x + kMeasuresAt, group, legs, lanes, failure);
        scatter(x, kKinematics, lanes, [&](int l) { return kept_of(legs[l]); });
      });
      if (failure.cause != Cause::none) return failure;
      for (int k = 0; custom && k < kLegs; ++k) {
        if (hexapod_.leg(k).type != LegType::custom && !job_.newton) continue;
        failure = custom[k].close(hexapod_, k, s.r, s.R, start_of(row, k, kept_of(k)), scratch_);
        if (failure.cause != Cause::none) return failure;
        custom[k].rates(s.u, ring.w);
        custom[k].write(kept_of(k));
      }
      for (int k = 0; k < kLegs; ++k) std::copy_n(kept_of(k) + kRowAt, 6, sums.rows + 6 * k);
      if (plan_.need == Need::kinematics) {
        for (int k = 0; k < kLegs; ++k) write_kinematics(s.R, k, kept_of(k), out);
        return failure;
      }
    }

    const int count = plan_.share();
    Chunk* held[2 * kLegs];
    for_packs([&](const LegGroup& group, std::size_t g, const double* params, const int* legs, int lanes, int pack) {
      held[pack] = scratch_.take<Chunk>((calls_[g].size + 63) / 64);
      const double* lane[kLanes];
      for (int l = 0; l < kLanes; ++l) lane[l] = s.tau[legs[l < lanes ? l : 0]];
      Packed tau[4], measure[4], own[kKept];
      for (int j = 0; j < 4; ++j) tau[j] = Packed::across(lane, j);
      calls_[g].first(params, wide, tau, held[pack], own, measure);
      judge(measure, group, legs, lanes, failure);
      scatter(own, padded(count), lanes, [&](int l) { return kept_of(legs[l]); });
    });
    if (failure.cause != Cause::none) return failure;
    for (int k = 0; custom && k < kLegs; ++k) {
      if (hexapod_.leg(k).type != LegType::custom) continue;
      failure = custom[k].close(hexapod_, k, s.r, s.R, start_of(row, k, nullptr), scratch_);
      if (failure.cause != Cause::none) return failure;
      const Vec3<double> a = plain<double>(ring.base.w), o = plain<double>(ring.base.o), e = plain<double>(ring.base.e);
      const double flow[9] = {a.x(), a.y(), a.z(), o.x(), o.y(), o.z(), e.x(), e.y(), e.z()};
      custom[k].rates(s.u, ring.w);
      custom[k].first(ring.w, flow, s.tau[k], plan_.base == BaseKind::free, kept_of(k), scratch_);
    }
    for (int i = 0; i < count; i += kLanes) {
      Packed sum = Packed::load(kept + i);
      for (int k = 1; k < kLegs; ++k) sum += Packed::load(kept_of(k) + i);
      sum.store(sums.total + i);
    }

    if (plan_.need == Need::first) {
      summed_result(job_, s, ring, sums, out);
      return inverse() ? finish_inverse(sums.rows, out) : failure;
    }
    double x[12];
    solve(s, ring, sums, x);
    write_head(ring, x, out);
    const bool free = plan_.base == BaseKind::free;
    Packed xs[12];
    for (int i = 0; i < (free ? 12 : 6); ++i) xs[i] = x[i];
    for_packs([&](const LegGroup&, std::size_t g, const double* params, const int* legs, int lanes, int pack) {
      struct {
        leg::Outcome<Packed> of;
        Packed fill[2];
      } outcome;
      outcome.fill[0] = outcome.fill[1] = 0.0;
      calls_[g].second(params, held[pack], xs, outcome.of);
      scatter(reinterpret_cast<const Packed*>(&outcome), 24, lanes, [&](int l) { return kept_of(legs[l]); });
    });
    const DynamicsLayout layout{nj_, free};
    for (int k = 0; k < kLegs; ++k) {
      if (hexapod_.leg(k).type == LegType::custom)
        custom[k].second(free ? x + 6 : x, free ? x : nullptr, kept_of(k), scratch_);
      write_leg(kept_of(k), out + layout.head() + k * layout.per_leg());
    }
    for (int i = 0; i < 6; ++i) {
      out[6 + i] = kept[16 + i];
      for (int k = 1; k < kLegs; ++k) out[6 + i] += kept_of(k)[16 + i];
    }
    return failure;
  }

  // ---- many states: one per lane

  HexFailure batch(std::ptrdiff_t begin, std::ptrdiff_t end) {
    HexFailure failure;
    // every leg's parameters repeated in all lanes
    for (std::size_t g = 0; g < hexapod_.groups().size(); ++g) {
      const LegGroup& group = hexapod_.groups()[g];
      for (int m = 0; m < group.count; ++m) {
        double* to = scratch_.take<double>(leg::kParams * leg::kSlots);
        for (int i = 0; i < leg::kParams; ++i)
          std::fill_n(to + i * leg::kSlots, leg::kSlots, group.params.number[i * leg::kSlots + m]);
        params_[group.legs[m]] = to;
        group_of_[group.legs[m]] = g;
      }
    }
    State<Packed>& s = *reinterpret_cast<State<Packed>*>(scratch_.take<Packed>(State<Packed>::kSize));
    Packed* out = scratch_.take<Packed>(static_cast<std::size_t>(size_));
    for (std::ptrdiff_t row = begin; row < end; row += kLanes) {
      const Scratch::Frame frame(scratch_);
      const std::ptrdiff_t count = std::min<std::ptrdiff_t>(kLanes, end - row);
      Packed rotation[2];
      gather_state(row, end, s);
      rotation_measures(s.R, rotation);
      bool fine = all_above(rotation, 2, 0.0);
      if (fine) with_ring(plan_.base, s, [&](const auto& ring) { fine = batch_with(s, ring, out); });
      if (!fine || !all_finite_lanes(out, size_)) {  // a row has failed: one by one, with the same numbers for the others
        const HexFailure f = singles(row, row + count);
        if (f.cause != Cause::none && failure.cause == Cause::none) failure = f;
        continue;
      }
      scatter(out, size_, static_cast<int>(count), [&](int l) { return rows_.out + (row + l) * size_; });
      if (rows_.status) std::fill_n(rows_.status + row, count, std::int16_t{0});
      for (std::ptrdiff_t l = 0; inverse() && l < count; ++l) {
        double jacobian[36];
        for (int i = 0; i < 36; ++i) jacobian[i] = jacobian_[i][static_cast<int>(l)];
        report(finish_inverse(jacobian, rows_.out + (row + l) * size_), row + l, failure);
      }
    }
    return failure;
  }

  void gather_state(std::ptrdiff_t row, std::ptrdiff_t end, State<Packed>& s) const {
    gather(rows_.r, row, end, 3, s.r), gather(rows_.R, row, end, 9, s.R), gather(rows_.u, row, end, 6, s.u);
    if (plan_.need == Need::kinematics) return;
    Packed tau[4 * kLegs];
    gather(rows_.wrench, row, end, 6, s.wrench), gather(rows_.tau, row, end, tau_width_, tau);
    sort_tau(tau, s);
    if (plan_.base != BaseKind::still) {
      gather(rows_.base, row, end, 9, s.base);
      if (rows_.omega.data) gather(rows_.omega, row, end, 3, s.base + 3);
      set_flow(hexapod_, plan_.base, s);
    }
    if (plan_.base == BaseKind::free) gather(rows_.base_wrench, row, end, 6, s.base_wrench);
    if (inverse()) gather(rows_.acceleration, row, end, 6, s.acceleration);
  }

  template <class R>
  bool batch_with(const State<Packed>& s, const R& ring, Packed* out) {
    Packed measure[kLegs][4];
    if (plan_.need == Need::kinematics || plan_.rows) {
      for (int k = 0; k < kLegs; ++k) {
        Packed x[kKinematics];
        kinematics_[group_of_[k]](params_[k], s.input(), x, x + 4, x + kRowAt, x + kMeasuresAt);
        std::copy_n(x + kRowAt, 6, jacobian_ + 6 * k);
        std::copy_n(x + kMeasuresAt, 4, measure[k]);
        if (plan_.need == Need::kinematics) write_kinematics(s.R, k, x, out);
      }
      if (plan_.need == Need::kinematics) return all_above(measure[0], 4 * kLegs, kTinySquare);
    }
    const int count = plan_.share();
    Chunk* held[kLegs];
    Sums<Packed> sums;
    for (int k = 0; k < kLegs; ++k) {
      const LegCalls& calls = calls_[group_of_[k]];
      held[k] = scratch_.take<Chunk>((calls.size + 63) / 64);
      Packed own[leg::kFreeShare];
      calls.first(params_[k], s.input(), s.tau[k], held[k], k ? own : sums.total, measure[k]);
      for (int i = 0; k && i < count; ++i) sums.total[i] += own[i];
    }
    if (!all_above(measure[0], 4 * kLegs, kTinySquare)) return false;
    if (plan_.need == Need::first) return summed_result(job_, s, ring, sums, out), true;
    Packed x[12];
    solve(s, ring, sums, x);
    write_head(ring, x, out);
    const DynamicsLayout layout{nj_, plan_.base == BaseKind::free};
    for (int k = 0; k < kLegs; ++k) {
      leg::Outcome<Packed> o;
      calls_[group_of_[k]].second(params_[k], held[k], x, o);
      write_leg(o.position, out + layout.head() + k * layout.per_leg());
      for (int i = 0; i < 6; ++i) out[6 + i] = k ? out[6 + i] + o.base[i] : o.base[i];
    }
    return true;
  }

  const HexJob& job_;
  const HexRows& rows_;
  const Hexapod& hexapod_;
  const Plan plan_;
  const int nj_, tau_width_, size_;
  Scratch& scratch_;
  LegCalls calls_[2 * 5];
  Kinematics kinematics_[2 * 5];
  // of batches
  const double* params_[kLegs];
  std::size_t group_of_[kLegs];
  Packed jacobian_[36];
};

}  // namespace

HexFailure run_hexapod(const HexJob& job, const HexRows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  return Runner(job, rows, scratch).run(begin, end);
}

}  // namespace zveno
