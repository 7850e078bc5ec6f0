// Rows of poses through closed forms, a pose in each lane. Rows with an exception, where branches meet or are singular or
// missing, are handed over one by one. docs/inverse-kinematics.md, section 3.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/arm_evaluation.hpp>

namespace zveno {
namespace {

// notes of solutions by three signs, digits to the base 3
struct NotesOfSigns {
  ArmNote note[27] = {};
  constexpr NotesOfSigns() {
    for (int i = 0; i < 27; ++i) {
      const int digit[3] = {i / 9, i / 3 % 3, i % 3};
      for (int s = 0; s < 3; ++s) note[i].configuration[s] = static_cast<std::int8_t>(digit[s] - 1);
      note[i].multiplicity = 1;
    }
  }
};
constexpr NotesOfSigns kOfSigns{};

class ArmLanes {
 public:
  ArmLanes(const ArmJob& job, Scratch& scratch)
      : job_(job),
        model_(*job.model),
        n_(job.plan->n),
        branches_(job.plan->branches()),
        layout_{n_},
        arm_(*job.plan, model_, scratch) {
    start_ = scratch.take<Packed>(job.n);
    arm_.resting = job.resting;
    in_order_ = n_ == job.n;
    for (int j = 0; j < n_; ++j) in_order_ &= model_.place[j] == j;
    if (!job.found) return;
    all_ = scratch.take<Packed>(kMostBranches * layout_.size());
    told_ = scratch.take<double>(static_cast<std::size_t>(kMostBranches) * layout_.size());
    solved_ = scratch.take<double>(static_cast<std::size_t>(kLanes) * kMostBranches * kSolved);
    for (int j = 0; j < n_; ++j) {
      const double low = model_.lower[j], high = model_.upper[j];
      const bool wide = !job.plan->prismatic[j];
      if (!job.limits || (std::isinf(low) && std::isinf(high))) continue;
      if (wide && std::isinf(low) != std::isinf(high)) one_sided_ = true;
      if (wide && std::fabs(low + kPi) < 0.5 * kArmInside && std::fabs(high - kPi) < 0.5 * kArmInside) {
        round_[turning_++] = j;  // one turn: inside, and no other is, but at its very ends
        continue;
      }
      limit_[limited_++] = {j, low, high, wide ? low - kArmInside + kTurn : INFINITY,
                            wide ? high + kArmInside - kTurn : -INFINITY};
    }
  }

  void lanes(std::ptrdiff_t row, std::ptrdiff_t end, int count) {
    gather(job_.pose, row, end, 16, arm_.pose);
    gather(job_.psi, row, end, 1, &arm_.psi);
    const bool poses = arm_.take();
    if (job_.resting || !job_.found) {
      gather(job_.start, row, end, job_.n, start_);
      for (int j = 0; j < n_; ++j) arm_.start[j] = start_[model_.place[j]];
    }
    for (int l = 0; l < count; ++l)
      job_.status[row + l] = poses ? 0 : static_cast<std::int8_t>(status_of_pose(job_.pose.row(row + l)));
    if (job_.found)
      all(row, count);
    else
      nearest(row, count);
  }

 private:
  struct Limit {
    int joint;
    double low, high;
    double turn_low, turn_high;  // beyond these another turn is inside
  };

  void nearest(std::ptrdiff_t row, int count) {
    arm_.nearest(job_.limits);
    const Packed gap = root(arm_.best_gap2), turn = root(arm_.best_turn2);
    for (int l = 0; l < count; ++l) {
      double q[kMostArmJoints];
      for (int j = 0; j < n_; ++j) q[j] = arm_.best[j][l];
      tell_nearest(row + l, q, arm_.found[l] > 0, arm_.beyond[l] > 0, gap[l], turn[l], arm_.missing[l]);
    }
  }

  void all(std::ptrdiff_t row, int count) {
    const Packed zero(0.0), one(1.0);
    const int size = layout_.size();
    Packed good[kMostBranches], kind[kMostBranches], code[kMostBranches], some = zero, odd = zero;
    arm_.told = all_;
    arm_.each([&](int i) {
      good[i] = arm_.verified();
      some = greater(some, good[i]);
      const Packed* const singular = arm_.told + layout_.singular(0);
      const Packed near = pick_below(lesser(singular[0], singular[1]), Packed(kArmSingular), one, zero);
      odd = greater(odd, good[i] * pick_below(singular[2], Packed(kArmSingular * kArmSingular), one, near));
      // signs as digits to the base 3
      code[i] = zero;
      for (int s = 0; s < 3; ++s) {
        const Packed& x = arm_.told[layout_.sign(s)];
        code[i] = Packed(3.0) * code[i] +
                  pick_below(Packed(kArmNoSign), x, Packed(2.0), pick_below(x, Packed(-kArmNoSign), zero, one));
      }
      kind[i] = one;
      if (limited_ || turning_) kind[i] = turns();
      scatter(arm_.told, n_ + 2, count, [&](int l) { return solved_ + (l * kMostBranches + i) * kSolved; });
      arm_.told += size;
    });
    Packed rank[kMostBranches];
    odd = greater(odd, order(good, rank));
    odd = pick_below(zero, some, odd, one);
    std::int32_t tag[kMostBranches][kLanes];  // -1, or from the right: rank (3 bits), kind (2), code of the signs
    for (int i = 0; i < branches_; ++i) {
      const Packed t = pick_below(zero, good[i], rank[i] + Packed(8.0) * kind[i] + Packed(32.0) * code[i], Packed(-1.0));
      for (int l = 0; l < kLanes; ++l) tag[i][l] = static_cast<std::int32_t>(t[l]);
    }
    job_.found->need(kLanes * kMostBranches);
    for (int l = 0; l < count; ++l) {
      const auto closer = [&] {
        for (int k = 0; k < branches_ * size; ++k) told_[k] = all_[k][l];
        job_.collect(job_, row + l, told_);
        job_.found->need(kLanes * kMostBranches);
      };
      if (job_.status[row + l] != 0 || odd[l] > 0 || one_sided_) {
        closer();
        continue;
      }
      std::uint8_t sorted[kMostBranches];
      int known = 0, inside = 0, more = 0;
      for (int i = 0; i < branches_; ++i) {
        const int t = tag[i][l];
        if (t < 0) continue;
        sorted[t & 7] = static_cast<std::uint8_t>(i);
        ++known, inside += t >> 3 & 1, more |= t & 16;
      }
      if (more) {
        closer();
        continue;
      }
      ArmFound& found = *job_.found;
      for (int k = 0; k < known; ++k) {
        const int i = sorted[k], t = tag[i][l];
        if (!(t & 8)) continue;
        const double* b = solved_ + (l * kMostBranches + i) * kSolved;
        double* const q = found.q + found.size * job_.n;
        if (in_order_)
          for (int j = 0; j < 8; j += kLanes) Packed::load(b + j).store(q + j);  // what is beyond will be written over
        else
          job_.write(row + l, b, q);
        // into its place part by part: a copy of what has just been put together would wait for its parts
        ArmNote& note = found.note[found.size++];
        note.gap2 = static_cast<float>(b[layout_.gap2()]), note.turn2 = static_cast<float>(b[layout_.turn2()]);
        std::memcpy(note.configuration, kOfSigns.note[t >> 5].configuration,
                    sizeof(ArmNote) - offsetof(ArmNote, configuration));
        note.branch = static_cast<std::uint8_t>(k);
      }
      job_.count[row + l] = inside;
      job_.outside[row + l] = known - inside;
      job_.missing[row + l] = 0;
    }
  }

  // told_ <- the branches of one pose, one in each lane
  template <class F>
  void each_of_one(const double* goal, const ArmBranch<double>* branch, const F& f) {
    static_assert(sizeof(ArmBranch<Packed>) == kLanes * sizeof(ArmBranch<double>));
    constexpr int kNumbers = sizeof(ArmBranch<double>) / sizeof(double);
    ArmBranch<Packed> lanes;
    for (int first = 0; first < branches_; first += kLanes) {
      gather({reinterpret_cast<const double*>(branch), kNumbers}, first, kMostBranches + 1, kNumbers,
             reinterpret_cast<Packed*>(&lanes));
      arm_.tell_in_lanes(goal, lanes);
      f(first, std::min(kLanes, branches_ - first));
    }
  }

 public:
  void one(const double* goal, const ArmBranch<double>* branch) {
    if (job_.found) {
      each_of_one(goal, branch, [&](int first, int count) {  // rows beyond `count` are left out
        scatter(arm_.told, layout_.size(), count, [&](int l) { return told_ + (first + l) * layout_.size(); });
      });
      return job_.collect(job_, 0, told_);
    }
    for (int j = 0; j < n_; ++j) arm_.start[j] = job_.start.data[model_.place[j]];
    double least = INFINITY, gap2 = 0, turn2 = 0, missing = INFINITY, q[kMostArmJoints];
    bool beyond = false;
    for (int j = 0; j < n_; ++j) q[j] = job_.start.data[model_.place[j]];
    each_of_one(goal, branch, [&](int, int count) {
      const Packed away = arm_.approach(job_.limits), good = arm_.verified();
      for (int l = 0; l < count; ++l) {
        beyond |= good[l] > 0;
        missing = std::min(missing, good[l] > 0 ? 0.0 : arm_.told[layout_.miss()][l]);
        if (!(away[l] < least)) continue;
        least = away[l], gap2 = arm_.told[layout_.gap2()][l], turn2 = arm_.told[layout_.turn2()][l];
        for (int j = 0; j < n_; ++j) q[j] = arm_.near[j][l];
      }
    });
    tell_nearest(0, q, least < INFINITY, beyond, std::sqrt(gap2), std::sqrt(turn2), missing);
  }

 private:
  void tell_nearest(std::ptrdiff_t row, const double* q, bool found, bool beyond, double gap, double turn, double missing) {
    job_.write(row, q, job_.q + row * job_.n);
    if (job_.status[row] == 0)
      job_.status[row] = static_cast<std::int8_t>(found    ? ReachStatus::found
                                                  : beyond ? ReachStatus::limits
                                                           : ReachStatus::unreachable);
    job_.residual[2 * row] = found ? gap : missing;
    job_.residual[2 * row + 1] = found ? turn : 0.0;
  }

  // 0: no turns bring the branch inside of the limits, 1: it is, and no others do, 2: to be looked at
  Packed turns() {
    const Packed zero(0.0), one(1.0);
    Packed here = one, out = zero, more = zero, most = zero;
    for (int k = 0; k < turning_; ++k) most = greater(most, magnitude(arm_.told[round_[k]]));
    more = pick_below(Packed(kPi - 2 * kArmInside), most, one, zero);
    for (int k = 0; k < limited_; ++k) {
      const Limit& limit = limit_[k];
      Packed& q = arm_.told[limit.joint];
      const Packed in =
          pick_below(q, Packed(limit.low - kArmInside), zero, pick_below(Packed(limit.high + kArmInside), q, zero, one));
      const Packed other = pick_below(q, Packed(limit.turn_high), one, pick_below(Packed(limit.turn_low), q, one, zero));
      here = here * in, more = greater(more, other), out = greater(out, (one - in) * (one - other));
      q = pick_below(zero, in, greater(Packed(limit.low), lesser(Packed(limit.high), q)), q);
    }
    return pick_below(zero, out, zero, pick_below(zero, here * (one - more), one, Packed(2.0)));
  }

  // Ranks of the good branches in the order of q, what differs by rounding only counted as equal; 1 where two are the same.
  Packed order(const Packed* good, Packed* rank) {
    const Packed zero(0.0), one(1.0);
    Packed same = zero;
    for (int i = 0; i < branches_; ++i) rank[i] = zero;
    for (int i = 1; i < branches_; ++i)
      for (int k = 0; k < i; ++k) {
        Packed first = zero, open = good[i] * good[k], alike = open;  // whether k is before i
        for (int j = 0; j < n_ && any_below(zero, alike); ++j) {
          const Packed d = all_[k * layout_.size() + j] - all_[i * layout_.size() + j], size = magnitude(d);
          const auto equal = below(size, Packed(kArmSame));
          first = first + pick(equal, zero, pick_below(d, zero, open, zero));
          open = pick(equal, open, zero);
          alike = pick(equal, alike, pick_below(size, Packed(kTurn - kArmSame), zero, alike));
        }
        same = greater(same, alike);
        rank[i] += good[k] * first, rank[k] += good[i] * (one - first);
      }
    return same;
  }

  const ArmJob& job_;
  const ReachModel& model_;
  const int n_, branches_;
  const BranchLayout layout_;
  ArmEvaluation<Packed> arm_;
  static constexpr int kSolved =
      16;                           // numbers kept of a branch in its lane: q, gap2, turn2, and what a block reaches beyond
  Packed *start_, *all_ = nullptr;  // all: branches, with all that is told
  double *told_ = nullptr, *solved_ = nullptr;  // of one pose, of all lanes
  Limit limit_[kMostArmJoints];
  int round_[kMostArmJoints];
  int limited_ = 0, turning_ = 0;
  bool one_sided_ = false, in_order_ = true;
};

}  // namespace

void run_arm_branches(const ArmJob& job, const double* goal, const ArmBranch<double>* branches) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  ArmLanes(job, scratch).one(goal, branches);
}

void run_arm(const ArmJob& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  ArmLanes lanes(job, scratch);
  for (std::ptrdiff_t row = begin; row < end; row += kLanes)
    lanes.lanes(row, end, static_cast<int>(std::min<std::ptrdiff_t>(kLanes, end - row)));
}

}  // namespace zveno
