// Rows of wanted poses through the lanes: a lane whose row is done takes the next one. What becomes of a row depends on
// nothing but the row. docs/inverse-kinematics.md (K27)-(K29).
#include <algorithm>
#include <cmath>
#include <limits>

#include <zveno/batch/rows.hpp>
#include <zveno/functions/reach_job.hpp>
#include <zveno/kernel/chain/reach.hpp>
#include <zveno/scalar/scalars.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kSamples = 4, kPatientFrom = 25, kIdleStarts = 5, kStartsWithoutLimits = 40;
constexpr int kPatience = 2;  // steps that a lane waits for others whose samples share a state with its own
constexpr int kAtOnce = 24;   // starts of a single row that are made before those before them have failed

// what a lane is doing
struct Lane {
  std::ptrdiff_t row = -1;  // none: idle
  int start = 0, step = 0;
  int total = 0;         // steps of all starts
  double reference = 0;  // E when last compared
  bool free = false;     // limits are left out, to see whether they are what is in the way
  double distance = kInfinite;
  int since = 0;  // starts since something nearer was found
  bool found = false;
  int waiting = 0;  // steps since a start is to be sampled
};

class ReachLanes {
 public:
  ReachLanes(const ReachJob& job, Scratch& scratch)
      : job_(job),
        model_(*job.model),
        n_(model_.size()),
        goals_(12 * static_cast<int>(model_.frame.size())),
        state_(model_, scratch),
        sample_(model_, scratch) {
    const auto packs = [&](int count) { return scratch.take<Packed>(count); };
    goal_ = packs(goals_), sample_goal_ = packs(goals_), next_ = packs(n_);
    lower_ = packs(n_), upper_ = packs(n_), best_q_ = packs(n_);
    first_ = scratch.take<double>(static_cast<std::size_t>(kLanes) * n_);
    answer_ = scratch.take<double>(static_cast<std::size_t>(kLanes) * n_);
    // bounds inside of which q is kept; one that leaves a whole turn does not bind, it is met by turns at the end
    inner_ = scratch.take<double>(4 * static_cast<std::size_t>(n_));
    low_ = inner_ + 2 * n_, range_ = low_ + n_;
    for (int b = 0; b < n_; ++b) {
      low_[b] = low(b), range_[b] = high(b) - low_[b];
      const bool wide = revolute(b) && model_.upper[b] - model_.lower[b] >= kTurn;
      inner_[2 * b] = wide ? -kInfinite : model_.lower[b];
      inner_[2 * b + 1] = wide ? kInfinite : model_.upper[b];
    }
  }

  // One row, several of its starts at once: the answer is that of the first that leads there, as if they had been made one
  // after another. false: none of the first ones does, or the row makes no sense.
  bool run_one(std::ptrdiff_t begin) {
    constexpr int kFirst = std::min(kLanes, 3);
    next_row_ = begin, end_ = begin + 1;
    if (job_.nearest || !take_row(0)) return false;
    const int starts = std::min(job_.starts, kAtOnce);
    for (int i = 0; i < goals_; ++i) goal_[i] = Packed(job_.goal.row(begin)[i]);
    for (int b = 0; b < n_; ++b) {
      state_.q[b] = Packed(first_[b]);
      lower_[b] = Packed(job_.limits ? inner_[2 * b] : -kInfinite);
      upper_[b] = Packed(job_.limits ? inner_[2 * b + 1] : kInfinite);
      for (int l = 1; l < kFirst; ++l) first_[l * n_ + b] = first_[b];
    }
    int made = 1, lead = starts, steps[kAtOnce] = {};  // `lead`: the first start that has led there
    const auto begin_start = [&](int l) { lane_[l] = {}, lane_[l].row = begin, lane_[l].start = made++; };
    int who[kLanes], count = 0;  // lanes whose start is to be sampled
    for (int l = 1; l < kFirst && made < starts; ++l) begin_start(l), who[count++] = l;
    sample(who, count, goal_);
    while (true) {
      reach_error(model_, goal_, state_);
      bool any = false;
      count = 0;
      for (int l = 0; l < kFirst; ++l) {
        Lane& lane = lane_[l];
        if (lane.row < 0 || lane.start > lead) continue;
        const double E = state_.E[l], gap2 = state_.gap2[l], turn2 = state_.turn2[l];
        const bool there = arrived(gap2, turn2);
        if (there && wind(l)) {
          lead = lane.start;
          steps[lead] = lane.total;
          keep(l, gap2, turn2);
          std::copy_n(answer_ + l * n_, n_, answer_);
          lane.row = -1;
        } else if (there || hopeless(lane, E)) {
          steps[lane.start] = lane.total;
          lane.row = -1;
          if (made < std::min(starts, lead)) begin_start(l), who[count++] = l;
        } else {
          ++lane.step, ++lane.total;
          any = true;
        }
      }
      // lanes that have nothing to do move too, which nobody sees
      if (any)
        reach_step(model_, goal_, lower_, upper_, Packed(0.05) * state_.E + Packed(1e-12), state_, state_.q);
      else if (count == 0)
        break;
      sample(who, count, goal_);
    }
    if (lead == starts) return false;
    lane_[0] = {};
    lane_[0].row = begin, lane_[0].start = lead;
    for (int k = 0; k <= lead; ++k) lane_[0].total += steps[k];
    finish(0, ReachStatus::found);
    return true;
  }

  void run(std::ptrdiff_t begin, std::ptrdiff_t end) {
    next_row_ = begin, end_ = end;
    int busy = 0;
    for (int b = 0; b < n_; ++b) state_.q[b] = 0.0;
    for (int i = 0; i < goals_; ++i) goal_[i] = 0.0;
    for (int l = 0; l < kLanes; ++l) {
      for (int b = 0; b < n_; ++b) lower_[b].v[l] = -kInfinite, upper_[b].v[l] = kInfinite;
      busy += take_row(l);
    }
    while (busy > 0) {
      reach_error(model_, goal_, state_);
      remember();
      Packed moves(0.0);
      bool any = false;
      int late = 0, waiting = 0, who[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        Lane& lane = lane_[l];
        if (lane.row < 0) continue;
        if (lane.waiting == 0) {
          const Next what = judge(l);
          if (what == Next::step) moves.v[l] = 1.0, any = true;
          if (what == Next::row && !take_row(l)) --busy;
          if (what != Next::sample) continue;
        }
        late = std::max(late, ++lane.waiting);
        who[waiting++] = l;
      }
      if (waiting >= kTogether || late > kPatience || !any) sample(who, waiting, nullptr);
      if (!any) continue;
      reach_step(model_, goal_, lower_, upper_, Packed(0.05) * state_.E + Packed(1e-12), state_, next_);
      const auto move = below(Packed(0.5), moves);
      for (int b = 0; b < n_; ++b) state_.q[b] = pick(move, next_[b], state_.q[b]);
    }
  }

 private:
  enum class Next { step, again, sample, row };
  static constexpr int kTogether = std::max(1, kLanes / kSamples);  // starts whose samples fill a state

  // the best states seen, of lanes that have not found anything
  void remember() {
    const auto better = below(state_.E, best_E_);
    best_E_ = pick(better, state_.E, best_E_);
    best_gap2_ = pick(better, state_.gap2, best_gap2_), best_turn2_ = pick(better, state_.turn2, best_turn2_);
    for (int b = 0; b < n_; ++b) best_q_[b] = pick(better, state_.q[b], best_q_[b]);
  }

  bool revolute(int b) const { return model_.topology.kind[b] == JointKind::revolute; }
  double low(int b) const { return std::isfinite(model_.lower[b]) ? model_.lower[b] : open(b, -1); }
  double high(int b) const { return std::isfinite(model_.upper[b]) ? model_.upper[b] : open(b, 1); }
  // where a limit is missing: half a turn or the reach, from the other limit or from zero
  double open(int b, int side) const {
    const double other = side < 0 ? model_.upper[b] : model_.lower[b];
    const double room = revolute(b) ? kPi : model_.reach;
    return std::isfinite(other) ? other + 2 * side * room : side * room;
  }

  // false: no row is left
  bool take_row(int l) {
    lane_[l] = {};
    best_E_.v[l] = best_gap2_.v[l] = best_turn2_.v[l] = kInfinite;
    for (; next_row_ < end_; ++next_row_) {
      const std::ptrdiff_t row = next_row_;
      const double *goal = job_.goal.row(row), *start = job_.start.data ? job_.start.row(row) : nullptr;
      ReachStatus bad = ReachStatus::found;
      if (!all_finite(goal, goals_) || (start && !all_finite(start, job_.n))) bad = ReachStatus::input;
      for (int k = 0; bad == ReachStatus::found && k < goals_; k += 12)
        if (!is_rotation(goal + k + 3)) bad = ReachStatus::rotation;
      if (bad != ReachStatus::found) {
        std::fill_n(job_.q + row * job_.n, job_.n, std::numeric_limits<double>::quiet_NaN());
        job_.residual[2 * row] = job_.residual[2 * row + 1] = std::numeric_limits<double>::quiet_NaN();
        job_.iterations[row] = job_.started[row] = 0;
        job_.status[row] = static_cast<std::int8_t>(bad);
        continue;
      }
      ++next_row_;
      lane_[l].row = row;
      for (int i = 0; i < goals_; ++i) goal_[i].v[l] = goal[i];
      for (int b = 0; b < n_; ++b) {
        double q = start ? start[model_.place[b]] : 0.5 * (low(b) + high(b));
        if (job_.limits) q = std::min(std::max(q, inner_[2 * b]), inner_[2 * b + 1]);
        first_[l * n_ + b] = q;
        state_.q[b].v[l] = best_q_[b].v[l] = q;
      }
      bound(l, job_.limits);
      return true;
    }
    return false;
  }

  void bound(int l, bool limits) {
    lane_[l].free = job_.limits && !limits;
    for (int b = 0; b < n_; ++b) {
      lower_[b].v[l] = limits ? inner_[2 * b] : -kInfinite;
      upper_[b].v[l] = limits ? inner_[2 * b + 1] : kInfinite;
    }
  }

  // what comes next for a lane whose state has been evaluated
  Next judge(int l) {
    Lane& lane = lane_[l];
    const double E = state_.E[l], gap2 = state_.gap2[l], turn2 = state_.turn2[l];
    if (arrived(gap2, turn2)) {
      if (lane.free) return finish(l, ReachStatus::limits);
      if (wind(l)) {
        const double distance = distance_of(l);
        if (distance < lane.distance) {
          lane.distance = distance, lane.since = 0;
          keep(l, gap2, turn2);
        }
        lane.found = true;
        best_E_.v[l] = -kInfinite;
        if (!job_.nearest || lane.since >= kIdleStarts) return finish(l, ReachStatus::found);
      }
      return start_again(l);
    }
    if (hopeless(lane, E)) return start_again(l);
    ++lane.step, ++lane.total;
    return Next::step;
  }

  // (K28) whether a start is given up
  static bool hopeless(Lane& lane, double E) {
    if (lane.step == 0) {
      lane.reference = E;
      return false;
    }
    const bool patient = lane.start >= kPatientFrom;
    const int period = patient ? 8 : 2, most = patient ? 60 : 20;
    bool lost = !std::isfinite(E) || lane.step >= most || (!patient && lane.step >= 8 && E > 0.1);
    if (lane.step % period == 0) {
      lost |= E > (patient ? 0.9 : 0.5) * lane.reference;
      lane.reference = E;
    }
    return lost;
  }

  Next start_again(int l) {
    Lane& lane = lane_[l];
    ++lane.start, ++lane.since;
    lane.step = 0;
    if (lane.found && (lane.since > kIdleStarts || lane.start >= job_.starts)) return finish(l, ReachStatus::found);
    const int most = lane.free ? std::min(job_.starts, kStartsWithoutLimits) : job_.starts;
    if (lane.start >= most) {
      if (lane.free || !job_.limits) return finish(l, ReachStatus::not_found);
      bound(l, false);
      best_E_.v[l] = -kInfinite;
      lane.start = 0;
      for (int b = 0; b < n_; ++b) state_.q[b].v[l] = first_[l * n_ + b];
      return Next::again;
    }
    return Next::sample;
  }

  bool arrived(double gap2, double turn2) const {
    return gap2 < 0.25 * job_.gap * job_.gap && turn2 < 0.25 * job_.turn * job_.turn;
  }

  // lanes who[0], ... <- their starts: of a few samples each the best, which fill the lanes of another state; goal: that of
  // all lanes, if they have the same
  void sample(const int* who, int count, const Packed* goal) {
    for (int from = 0; from < count * kSamples; from += kLanes) {
      const int here = std::min(kLanes, count * kSamples - from);
      for (int k = 0; k < kLanes; ++k) {
        const int at = from + std::min(k, here - 1), l = who[at / kSamples];
        const Lane& lane = lane_[l];
        const std::ptrdiff_t number = job_.number ? job_.number[lane.row] : lane.row;
        const std::uint64_t row = mixed(static_cast<std::uint64_t>(number) + job_.seed);
        const std::uint64_t which = 64 * static_cast<std::uint64_t>(lane.start) + at % kSamples;
        for (int i = 0; !goal && i < goals_; ++i) sample_goal_[i].v[k] = goal_[i][l];
        for (int b = 0; b < n_; ++b) sample_.q[b].v[k] = low_[b] + uniform(row, which, b) * range_[b];
      }
      reach_error(model_, goal ? goal : sample_goal_, sample_);
      for (int k = 0; k < here; ++k) {
        Lane& lane = lane_[who[(from + k) / kSamples]];
        if ((from + k) % kSamples == 0) lane.reference = kInfinite;
        if (!(sample_.E[k] < lane.reference)) continue;
        lane.reference = sample_.E[k];
        for (int b = 0; b < n_; ++b) state_.q[b].v[who[(from + k) / kSamples]] = sample_.q[b][k];
      }
    }
    for (int i = 0; i < count; ++i) lane_[who[i]].waiting = 0;
  }

  // whole turns that bring q inside of the limits and nearest to the start; false: there are none
  bool wind(int l) {
    for (int b = 0; b < n_; ++b) {
      double q = state_.q[b][l];
      const double low = job_.limits ? model_.lower[b] : -kInfinite, high = job_.limits ? model_.upper[b] : kInfinite;
      if (revolute(b) && !(q >= low && q <= high && std::fabs(q - first_[l * n_ + b]) <= kPi)) {
        q += kTurn * std::nearbyint((first_[l * n_ + b] - q) / kTurn);
        if (q < low) q += kTurn * std::ceil((low - 1e-9 - q) / kTurn);
        if (q > high) q -= kTurn * std::ceil((q - high - 1e-9) / kTurn);
      }
      if (q < low - 1e-9 || q > high + 1e-9) return false;
      state_.q[b].v[l] = std::min(std::max(q, low), high);
    }
    return true;
  }

  double distance_of(int l) const {
    double most = 0;
    for (int b = 0; b < n_; ++b)
      most = std::max(most, std::fabs(state_.q[b][l] - first_[l * n_ + b]) / (revolute(b) ? 1.0 : model_.length));
    return most;
  }

  void keep(int l, double gap2, double turn2) {
    for (int b = 0; b < n_; ++b) answer_[l * n_ + b] = state_.q[b][l];
    job_.residual[2 * lane_[l].row] = std::sqrt(gap2), job_.residual[2 * lane_[l].row + 1] = std::sqrt(turn2);
  }

  Next finish(int l, ReachStatus status) {
    const Lane& lane = lane_[l];
    double* q = job_.q + lane.row * job_.n;
    for (int b = 0; b < n_; ++b) q[model_.place[b]] = status == ReachStatus::found ? answer_[l * n_ + b] : best_q_[b][l];
    if (status != ReachStatus::found) {
      bool chord = true;  // of the turn, see rotation_chord; a part of it, or a swing, is told as it is
      for (const ReachFrame& f : model_.frame) chord &= !f.turned;
      const double turn = std::sqrt(best_turn2_[l]);
      job_.residual[2 * lane.row] = std::sqrt(best_gap2_[l]);
      job_.residual[2 * lane.row + 1] = chord ? 2 * std::asin(std::min(1.0, 0.5 * turn)) : turn;
    }
    job_.iterations[lane.row] = lane.total;
    job_.started[lane.row] = lane.start + 1 - (status != ReachStatus::found);
    job_.status[lane.row] = static_cast<std::int8_t>(status);
    return Next::row;
  }

  const ReachJob& job_;
  const ReachModel& model_;
  const int n_, goals_;
  ReachState<Packed> state_, sample_;
  Packed *goal_, *sample_goal_, *next_, *lower_, *upper_;
  Packed *best_q_, best_E_{kInfinite}, best_gap2_{0.0}, best_turn2_{0.0};
  double *first_, *answer_, *inner_, *low_, *range_;
  Lane lane_[kLanes];
  std::ptrdiff_t next_row_ = 0, end_ = 0;
};

}  // namespace

void run_reach(const ReachJob& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  ReachLanes lanes(job, scratch);
  if (end - begin == 1 && lanes.run_one(begin)) return;
  if (job.brief)
    job.status[begin] = static_cast<std::int8_t>(ReachStatus::not_found);
  else
    lanes.run(begin, end);
}

}  // namespace zveno
