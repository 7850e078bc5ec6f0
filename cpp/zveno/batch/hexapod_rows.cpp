// States of a hexapod: one state with its six legs in SIMD lanes, several states side by side in the lanes leg by leg.
// The sums over legs are made in the same order, so that both give the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <zveno/batch/program.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/functions/legs.hpp>
#include <zveno/math/dense.hpp>
#include <zveno/scalar/choose.hpp>
#include <zveno/solve/custom_leg.hpp>

namespace zveno {
namespace {

// ---- judging

Cause judge_leg(LegType type, const double* m, double& margin) {
  const auto vanishes = [&](int i) {
    margin = m[i] > 0 ? std::sqrt(m[i]) : 0.0;
    return !(m[i] > kTinySquare);
  };
  if (!traits_of(type).hunt) {
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

bool is_rotation(const Packed* R) {
  Packed m[2];
  rotation_measures(R, m);
  return all_above(m, 2, 0.0);
}

bool is_rotation(const double* R) {
  double m[2];
  rotation_measures(R, m);
  if (!(m[1] > 0)) return false;
  if (m[0] >= 0) return true;
  // the squares add up: element by element
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      if (!(std::fabs(R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - (i == j)) <= kRotationDefect)) return false;
  return true;
}

// numbers kept for a leg: its share, its kinematics or its outcome
constexpr int kKept = 80;
static_assert(kKept >= leg::kFreeShare && kKept % kLanes == 0);

// ---- a system of six equations in every lane

// solve_dense in lanes, with the same bits; false: a pivot is too small in some lane
bool solve_lanes(Packed (&A)[6][6], Packed* b) {
  Packed least = 0.0, most = 0.0;
  for (int j = 0; j < 6; ++j) {
    Packed pivot = size_of(A[j][j]);
    Mask<kLanes> larger[6];  // than all above it: the last such row is the one
    for (int i = j + 1; i < 6; ++i) {
      const Packed other = size_of(A[i][j]);
      larger[i] = above(other, pivot);
      pivot = chosen<kLanes>(larger[i], other, pivot);
    }
    for (int i = 6; i-- > j + 1;) {
      const auto swap = [&](Packed& x, Packed& y) {
        const Packed z = chosen<kLanes>(larger[i], y, x);
        y = chosen<kLanes>(larger[i], x, y);
        x = z;
      };
      for (int k = j; k < 6; ++k) swap(A[j][k], A[i][k]);
      swap(b[j], b[i]);
      for (int k = j + 1; k < i; ++k) larger[k] = without(larger[k], larger[i]);
    }
    least = j ? chosen<kLanes>(above(least, pivot), pivot, least) : pivot;
    most = j ? chosen<kLanes>(above(pivot, most), pivot, most) : pivot;
    for (int i = j + 1; i < 6; ++i) {
      const Packed l = A[i][j] / A[j][j];
      for (int k = j + 1; k < 6; ++k) A[i][k] -= l * A[j][k];
      b[i] -= l * b[j];
    }
  }
  for (int j = 6; j-- > 0;) {
    for (int i = j + 1; i < 6; ++i) b[j] -= A[j][i] * b[i];
    b[j] = b[j] / A[j][j];
  }
  const Packed margin = least - most * Packed(kTinyPivot);
  return all_above(&margin, 1, 0.0);
}

// J' tau = out; rows: those of J
Failure finish_inverse(const double* rows, double* out) {
  Failure failure;
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

bool finish_inverse(const Packed* rows, Packed* out) {
  Packed A[6][6];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) A[i][j] = rows[6 * j + i];
  return solve_lanes(A, out);
}

bool is_fine(const Packed* measures) { return all_above(measures, 4 * kLegs, kTinySquare); }

// ---- one run over rows

class HexapodRows {
 public:
  Results results;

  HexapodRows(const HexJob& job, const Rows& rows, Scratch& scratch)
      : results(job, rows),
        job_(job),
        rows_(rows),
        hexapod_(*job.hexapod),
        plan_(job, rows),
        nj_(hexapod_.joints()),
        scratch_(scratch) {
    for (std::size_t g = 0; g < hexapod_.groups().size(); ++g) {
      const LegGroup& group = hexapod_.groups()[g];
      if (plan_.task != LegTask::kinematics) calls_[g] = calls_of<Packed>(group.type, group.symmetric, plan_.base);
      kinematics_[g] = kinematics_of<Packed>(group.type);
    }
  }

  bool in_lanes(std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return end - begin > 1 && !hexapod_.has_custom() && !job_.newton;
  }

  Failure single(std::ptrdiff_t row) {
    double* out = results.row(0, row);
    Failure f = one_state(row, out);
    if (!f && !all_finite(out, results.size[0])) f.cause = Cause::overflow;
    if (f && !finite_inputs(row)) f = {Cause::input};
    return f;
  }

  void prepare() {
    prepare_legs();
    Packed* state = scratch_.take<Packed>(HexState<Packed>::kSize);
    std::fill_n(state, HexState<Packed>::kSize, Packed(0.0));  // what is not given stays so
    state_ = reinterpret_cast<HexState<Packed>*>(state);
    out_ = scratch_.take<Packed>(results.size[0]);
  }

  bool lanes(std::ptrdiff_t row, std::ptrdiff_t end, std::ptrdiff_t count) {
    return run_legs(row, end, *state_, out_) && (!inverse() || finish_inverse(jacobian_, out_)) &&
           results.write(&out_, row, count);
  }

 private:
  bool inverse() const { return job_.function == HexFunction::inverse_dynamics; }

  // ---- one state: legs in lanes

  // Asked only when something went wrong: a number that is not finite makes the result so, unless nothing depends on it.
  bool finite_inputs(std::ptrdiff_t row) const {
    bool finite = true;
    const auto look = [&](const RowData& d, int n) { finite &= all_finite(d.row(row), n); };
    for_arguments(job_, rows_, look);
    if (rows_[Param::start].data) look(rows_[Param::start], kLegs * nj_);
    return finite;
  }

  Failure one_state(std::ptrdiff_t row, double* out) {
    Failure failure;
    const auto read = [&](const RowData& data, int n, double* x) {
      if (data.data)
        std::copy_n(data.row(row), n, x);
      else
        std::fill_n(x, n, 0.0);
    };
    HexState<double> s;
    read_state(job_, plan_, rows_, read, s);
    if (!is_rotation(s.R)) return failure.cause = Cause::rotation, failure;
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

  void judge(const Packed* m, const LegGroup& group, const int* legs, int lanes, Failure& failure) const {
    if (all_above(m, 4, kTinySquare)) return;
    for (int l = 0; l < lanes; ++l) {
      const double own[4] = {m[0][l], m[1][l], m[2][l], m[3][l]};
      double margin;
      const Cause cause = judge_leg(group.type, own, margin);
      if (cause != Cause::none && (failure.cause == Cause::none || legs[l] < failure.part))
        failure.cause = cause, failure.part = legs[l], failure.margin = margin;
    }
  }

  // where Newton's method starts: given, where the closed form stands, or the leg's own
  const double* start_of(std::ptrdiff_t row, int k, const double* closed) const {
    if (rows_[Param::start].data) return rows_[Param::start].row(row) + k * nj_;
    return hexapod_.leg(k).type == LegType::custom ? nullptr : closed;
  }

  template <class R>
  Failure single_with(const HexState<double>& s, const R& ring, std::ptrdiff_t row, double* out) {
    Failure failure;
    double* kept = scratch_.take<double>(kLegs * kKept);
    const auto kept_of = [&](int k) { return kept + k * kKept; };
    CustomLeg* custom = hexapod_.has_custom() || job_.newton ? scratch_.take<CustomLeg>(kLegs) : nullptr;
    Packed wide[kInput];
    ZVENO_UNROLL
    for (int i = 0; i < 18; ++i) wide[i] = s.input()[i];
    for (int i = 18; plan_.base != BaseKind::still && i < kInput; ++i) wide[i] = s.input()[i];
    Sums<double> sums;

    if (plan_.task == LegTask::kinematics || plan_.rows) {
      for_packs([&](const LegGroup& group, std::size_t g, const double* params, const int* legs, int lanes, int) {
        Packed x[kKinematics];
        kinematics_[g](params, wide, x, x + 4, x + kRowAt, x + kMeasuresAt);
        if (!job_.newton) judge(x + kMeasuresAt, group, legs, lanes, failure);
        scatter(x, kKinematics, lanes, [&](int l) { return kept_of(legs[l]); });
      });
      if (failure) return failure;
      for (int k = 0; custom && k < kLegs; ++k) {
        if (hexapod_.leg(k).type != LegType::custom && !job_.newton) continue;
        failure = custom[k].close(hexapod_, k, s.r, s.R, start_of(row, k, kept_of(k)), scratch_);
        if (failure) return failure;
        custom[k].rates(s.u, ring.w);
        custom[k].write(kept_of(k));
      }
      for (int k = 0; k < kLegs; ++k) std::copy_n(kept_of(k) + kRowAt, 6, sums.rows + 6 * k);
      if (plan_.task == LegTask::kinematics) {
        for (int k = 0; k < kLegs; ++k) write_kinematics(job_, s.R, k, kept_of(k), out);
        return failure;
      }
    }

    const int count = plan_.share();
    CacheLine* held[2 * kLegs];
    for_packs([&](const LegGroup& group, std::size_t g, const double* params, const int* legs, int lanes, int pack) {
      held[pack] = scratch_.take<CacheLine>(calls_[g].lines);
      const double* lane[kLanes];
      for (int l = 0; l < kLanes; ++l) lane[l] = s.tau[legs[l < lanes ? l : 0]];
      Packed tau[4], measure[4], own[kKept];
      for (int j = 0; j < 4; ++j) tau[j] = Packed::across(lane, j);
      calls_[g].first(params, wide, held[pack], own, measure, nullptr);
      calls_[g].drive(tau, held[pack], own + leg::kRight, false);
      judge(measure, group, legs, lanes, failure);
      scatter(own, padded(count), lanes, [&](int l) { return kept_of(legs[l]); });
    });
    if (failure) return failure;
    for (int k = 0; custom && k < kLegs; ++k) {
      if (hexapod_.leg(k).type != LegType::custom) continue;
      failure = custom[k].close(hexapod_, k, s.r, s.R, start_of(row, k, nullptr), scratch_);
      if (failure) return failure;
      custom[k].rates(s.u, ring.w);
      custom[k].first(ring.w, flow_of(ring).data(), s.tau[k], plan_.base == BaseKind::free, kept_of(k), scratch_);
    }
    for (int i = 0; i < count; i += kLanes) {
      Packed sum = Packed::load(kept + i);
      for (int k = 1; k < kLegs; ++k) sum += Packed::load(kept_of(k) + i);
      sum.store(sums.total + i);
    }

    if (plan_.task == LegTask::first_half) {
      summed_result(job_, s, ring, sums, out);
      for (int k = 0; custom && job_.function == HexFunction::potential_energy && k < kLegs; ++k)
        if (hexapod_.leg(k).type == LegType::custom) out[0] += custom[k].spring_energy();
      return inverse() ? finish_inverse(sums.rows, out) : failure;
    }
    double x[12];
    solve(job_, plan_, s, ring, sums, x);
    const bool free = plan_.base == BaseKind::free;
    const DynamicsLayout& layout = plan_.layout;
    write_head(layout, ring, x, out);
    if (!plan_.second) return failure;
    Packed xs[12];
    for (int i = 0; i < (free ? 12 : 6); ++i) xs[i] = x[i];
    for_packs([&](const LegGroup&, std::size_t g, const double* params, const int* legs, int lanes, int pack) {
      struct {
        leg::Outcome<Packed> of;
        Packed fill[2];
      } outcome;
      outcome.fill[0] = outcome.fill[1] = 0.0;
      calls_[g].second(params, held[pack], xs, outcome.of.places(), plan_.whole);
      scatter(reinterpret_cast<const Packed*>(&outcome), 24, lanes, [&](int l) { return kept_of(legs[l]); });
    });
    for (int k = 0; k < kLegs; ++k) {
      if (hexapod_.leg(k).type == LegType::custom)
        custom[k].second(free ? x + 6 : x, free ? x : nullptr, kept_of(k), scratch_);
      write_leg(layout, kept_of(k), out + layout.head() + k * layout.per_leg());
    }
    for (int i = 0; layout.base_wrench() >= 0 && i < 6; ++i) {
      double& sum = out[layout.base_wrench() + i];
      sum = kept[16 + i];
      for (int k = 1; k < kLegs; ++k) sum += kept_of(k)[16 + i];
    }
    return failure;
  }

  // ---- many states: one per lane

  // every leg's parameters repeated in all lanes
  void prepare_legs() {
    for (std::size_t g = 0; g < hexapod_.groups().size(); ++g) {
      const LegGroup& group = hexapod_.groups()[g];
      for (int m = 0; m < group.count; ++m) {
        double* to = scratch_.take<double>(leg::kParams * leg::kSlots);
        for (int i = 0; i < leg::kParams; ++i)
          std::fill_n(to + i * leg::kSlots, leg::kSlots, group.params.number[i * leg::kSlots + m]);
        const bool dynamics = plan_.task != LegTask::kinematics;
        legs_[group.legs[m]] = {to, calls_[g], kinematics_[g],
                                dynamics ? scratch_.take<CacheLine>(calls_[g].lines) : nullptr};
      }
    }
  }

  bool run_legs(std::ptrdiff_t row, std::ptrdiff_t end, HexState<Packed>& s, Packed* out) {
    const auto read = [&](const RowData& d, int n, Packed* x) {
      if (d.data) gather(d, row, end, n, x);
    };
    read_state(job_, plan_, rows_, read, s);
    if (!is_rotation(s.R)) return false;
    bool fine = false;
    with_ring(plan_.base, s, [&](const auto& ring) {
      Packed measure[kLegs][4];
      fine = evaluate_legs(job_, plan_, legs_, s, ring, measure, jacobian_, out, &is_fine);
    });
    return fine;
  }

  const HexJob& job_;
  const Rows& rows_;
  const Hexapod& hexapod_;
  const LegPlan plan_;
  const int nj_;
  Scratch& scratch_;
  LegCalls calls_[2 * 5];
  Kinematics<Packed> kinematics_[2 * 5];
  // of batches
  OneLeg<Packed> legs_[kLegs];
  Packed jacobian_[36];
  HexState<Packed>* state_ = nullptr;
  Packed* out_ = nullptr;
};

// judged: measures of the legs, then the Jacobian of inverse dynamics
class HexapodJudge {
 public:
  HexapodJudge(const HexJob& job, const Rows& rows, Scratch& scratch)
      : job_(job), rows_(rows), scratch_(scratch), inverse_(job.function == HexFunction::inverse_dynamics) {}

  template <class T>
  bool takes(const T* const* in) const {
    return is_rotation(in[1]);
  }
  Failure finish(double* const* out, const double* judged) const {
    for (int i = 0; i < 4 * kLegs; ++i)
      if (!(judged[i] > kTinySquare)) return {Cause::singular};
    return inverse_ ? finish_inverse(judged + 4 * kLegs, out[0]) : Failure{};
  }
  bool finish_lanes(Packed* const* out, const Packed* judged) const {
    return is_fine(judged) && (!inverse_ || finish_inverse(judged + 4 * kLegs, out[0]));
  }
  // the kernels say why
  Failure explain(std::ptrdiff_t row, const Failure&) {
    if (!kernels_) kernels_.emplace(job_, rows_, scratch_);
    return kernels_->single(row);
  }

 private:
  const HexJob& job_;
  const Rows& rows_;
  Scratch& scratch_;
  const bool inverse_;
  std::optional<HexapodRows> kernels_;
};

}  // namespace

Failure run_hexapod(const HexJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  if (job.program && (job.program->one || end - begin > 1)) {
    HexapodJudge judge(job, rows, scratch);
    return run_program(job, rows, begin, end, judge, scratch);
  }
  HexapodRows work(job, rows, scratch);
  return run_over(work, rows, begin, end, scratch);
}

}  // namespace zveno
