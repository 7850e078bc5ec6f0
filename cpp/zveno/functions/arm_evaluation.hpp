// The closed form of an arm around its kernel: poses in, branches out that are polished and judged on the model itself, or
// the one nearest to a start. In lanes: of a batch a pose stands in each, of one pose a branch. docs/inverse-kinematics.md,
// section 3.
#pragma once

#include <zveno/functions/arm_job.hpp>
#include <zveno/kernel/arm/closed_form.hpp>
#include <zveno/kernel/chain/reach.hpp>

namespace zveno {

namespace detail {
inline bool nothing(double x) { return x == 0; }
template <int N>
bool nothing(const Pack<N>& x) {
  bool all = true;
  for (int l = 0; l < N; ++l) all &= x[l] == 0;
  return all;
}
}  // namespace detail

// goal, 12 numbers, <- pose, 16, with rounding of its rotation removed; false: to be looked at closer, in some lane
template <class T>
bool take_pose(const T* pose, T* goal) {
  const T zero(0.0), one(1.0);
  Mat3<T> R;
  T defect = magnitude(pose[12]) + magnitude(pose[13]) + magnitude(pose[14]) + magnitude<T>(pose[15] - one);
  for (int i = 0; i < 3; ++i) {
    goal[i] = pose[4 * i + 3];
    defect += goal[i] * zero;  // NaN if it is not finite
    for (int j = 0; j < 3; ++j) R(i, j) = pose[4 * i + j];
  }
  for (int pass = 0; pass < 2; ++pass) {
    // one step of R (3 - R'R) / 2
    Mat3<T> D;
    T off(0.0);
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        D(i, j) = D(j, i) = (i == j ? one : zero) - dot(R.col(i), R.col(j));
        off += magnitude(D(i, j));
      }
    if (pass == 0) {
      const T right = dot<T>(R.col(2), cross<T>(R.col(0), R.col(1)));
      defect += pick_below(zero, right, zero, one);
      defect += pick_below(off, T(1e-6), zero, one);
    }
    if (!any_below(T(pass ? 1e-9 : 1e-14), off)) break;
    const Mat3<T> step = times(R, D);
    const auto use = below(T(pass ? 1e-9 : 1e-14), off);
    for (int i = 0; i < 9; ++i) R(i / 3, i % 3) += pick(use, T(0.5) * step(i / 3, i % 3), zero);
  }
  for (int i = 0; i < 9; ++i) goal[3 + i] = R(i / 3, i % 3);
  return detail::nothing(defect);
}

// branches of the closed form for a goal, pairs of them side by side
template <class T>
void branches_for(const ArmPlan& plan, const T* goal, const Turn<T>& psi, const Turn<T>& rest, ArmBranch<T>* branch) {
  const Motion<T> M{cast<T>(plan.R_M), cast<T>(plan.p_M)};
  const Motion<T> at{goal_rotation(goal), {goal[0], goal[1], goal[2]}};
  ClosedForm<T>(plan, at * M.inverse())(branch, psi, rest);
}

template <class T>
class ArmEvaluation {
 public:
  ArmEvaluation(const ArmPlan& plan, const ReachModel& model, Scratch& scratch)
      : plan_(plan), model_(model), n_(plan.n), layout_{n_}, shared_(plan.shared()), state_(model, scratch) {
    branch_ = scratch.take<ArmBranch<T>>(kMostBranches);
    pose = scratch.take<T>(16), goal_ = scratch.take<T>(12), next_ = scratch.take<T>(n_), before_ = scratch.take<T>(n_);
    none_ = scratch.take<T>(2 * n_), angle_ = scratch.take<T>(n_), told = scratch.take<T>(layout_.size());
    start = scratch.take<T>(n_), best = scratch.take<T>(n_), near = scratch.take<T>(n_);
    for (int b = 0; b < n_; ++b) {
      none_[b] = T(-INFINITY), none_[n_ + b] = T(INFINITY);
      if (plan.prismatic[b]) state_.s[b] = T(model.fixed_turn[b].s), state_.c[b] = T(model.fixed_turn[b].c);
    }
  }

  T *pose, *start;  // 16, n in the order of the model: to be filled
  T psi{0.0};
  bool resting = false;  // a joint that is free keeps the value of `start`
  T* told;               // of a branch, see BranchLayout

  // the nearest solution, and whether there is one, inside of the limits or only outside
  T *best, *near, best_gap2{0.0}, best_turn2{0.0}, found{0.0}, beyond{0.0}, missing{0.0};

  bool take() {
    const bool taken = take_pose(pose, goal_);
    want();
    return taken;
  }

  // f(i) after each branch, whose numbers are in `told`
  template <class F>
  void each(const F& f) {
    Turn<T> swivel{T(0.0), T(1.0)};
    if (plan_.family == ArmFamily::swivel) joint_trig(&psi, &swivel.s, &swivel.c, 1);
    Turn<T> rest{T(0.0), T(1.0)};
    if (resting && plan_.idle() >= 0) joint_trig(&start[plan_.idle()], &rest.s, &rest.c, 1);
    branches_for(plan_, goal_, swivel, rest, branch_);
    fresh_ = true;
    for (int i = 0; i < plan_.branches(); ++i) {
      const bool second = i & 1;
      tell(branch_[i], second && !fresh_ ? shared_ : 0, second), f(i);
    }
  }

  // the same of one pose, whose branches stand in the lanes
  void tell_in_lanes(const double* goal, const ArmBranch<T>& branches) {
    for (int i = 0; i < 12; ++i) goal_[i] = goal[i];
    want();
    tell(branches, 0, false);
  }

  // 1 where the branch that is told meets the pose
  T verified() const {
    const double metre = kArmVerified * std::fmax(1.0, plan_.reach);
    const T one(1.0), zero(0.0);
    return pick_below(told[layout_.gap2()], T(metre * metre),
                      pick_below(told[layout_.turn2()], T(kArmVerified * kArmVerified), one, zero), zero);
  }

  // the solution nearest to `start`, largest difference of a joint; slides in units of the model's length
  void nearest(bool limits) {
    const T zero(0.0), one(1.0);
    T least(INFINITY);
    found = beyond = best_gap2 = best_turn2 = zero, missing = T(INFINITY);
    for (int j = 0; j < n_; ++j) best[j] = start[j];
    each([&](int) {
      const T away = approach(limits), good = verified();
      beyond = greater(beyond, good);
      missing = lesser(missing, pick_below(zero, good, zero, told[layout_.miss()]));
      const auto better = below(away, least);
      least = pick(better, away, least), found = pick(better, one, found);
      for (int j = 0; j < n_; ++j) best[j] = pick(better, near[j], best[j]);
      best_gap2 = pick(better, told[layout_.gap2()], best_gap2),
      best_turn2 = pick(better, told[layout_.turn2()], best_turn2);
    });
  }

  // `near` <- the branch that is told, in the turns nearest to `start`; how far it is from there, infinite: no solution
  T approach(bool limits) {
    const T zero(0.0);
    T inside = verified(), away = zero;
    for (int j = 0; j < n_; ++j) {
      T q = told[j];
      const double low = limits ? model_.lower[j] : -INFINITY, high = limits ? model_.upper[j] : INFINITY;
      if (!plan_.prismatic[j]) {
        const T whole(6755399441055744.0);  // 1.5 2^52: what is added to it is rounded
        q = q + T(kTurn) * (((start[j] - q) * T(1 / kTurn) + whole) - whole);
        q = pick_below(q, T(low - kArmInside), q + T(kTurn), pick_below(T(high + kArmInside), q, q - T(kTurn), q));
      }
      inside = pick_below(q, T(low - kArmInside), zero, pick_below(T(high + kArmInside), q, zero, inside));
      near[j] = greater(T(low), lesser(T(high), q));
      away = greater(away, magnitude<T>(near[j] - start[j]) * T(plan_.prismatic[j] ? 1 / model_.length : 1.0));
    }
    return pick_below(zero, inside, away, T(INFINITY));
  }

 private:
  static constexpr int kPolishing = 6, kPolishingRoots = 24;  // where two roots meet a step only halves the error
  static constexpr double kExact = 1e-12;                     // m over max(1, reach) and rad

  void want() { wanted_ = times(goal_rotation(goal_), cast<T>(model_.frame[0].R_BU.transposed())); }
  // angles of the branch; the second of a pair has some of the first
  void angles(const ArmBranch<T>& b, bool second) {
    for (int j = 0; j < n_; ++j) {
      if (plan_.prismatic[j])
        angle_[j] = b.slide[j];
      else if (!second || !plan_.paired(j))
        angle_[j] = joint_angle(b.turn[j].s, b.turn[j].c);
    }
  }
  // numbers of a branch, polished and judged; from: joints before it are where they were
  ZVENO_APART void tell(const ArmBranch<T>& b, int from, bool second) {
    for (int j = from; j < n_; ++j) {
      if (plan_.prismatic[j]) {
        state_.q[j] = b.slide[j];
        continue;
      }
      const Turn<T> t =
          plan_.turned[j] ? product(b.turn[j], Turn<T>{T(plan_.offset[j].s), T(plan_.offset[j].c)}) : b.turn[j];
      state_.s[j] = t.s, state_.c[j] = t.c;
    }
    reach_chord(model_, goal_, wanted_, from, state_);
    fresh_ = false;
    // before a polish, whose frames in a lane depend on what other lanes need
    configuration_of(plan_, state_.R_WB, state_.p_W, b, told + layout_.sign(0));
    angles(b, second);
    for (int j = 0; j < n_; ++j) told[j] = angle_[j];
    if (rough()) polish(), fresh_ = true;
    told[layout_.gap2()] = state_.gap2, told[layout_.turn2()] = state_.turn2;
    told[layout_.miss()] = b.miss;
    for (int k = 0; k < 3; ++k) told[layout_.singular(k)] = b.singular[k];
  }

  // 1 where a step is of use
  T needs() const {
    const double metre = kExact * std::fmax(1.0, model_.reach);
    const T one(1.0), zero(0.0);
    const T off = pick_below(T(metre * metre), state_.gap2, one, pick_below(T(kExact * kExact), state_.turn2, one, zero));
    // what is further away than rounding and this is no solution
    const double hopeless = (plan_.quartic() ? 1e-3 : 1e-6) + 1e3 * plan_.deviation;
    return pick_below(state_.E, T(hopeless * hopeless), off, zero);
  }
  bool rough() const { return any_below(T(0.5), needs()); }

  // Newton's method on the model, which may differ from its ideal form; only what is nearer is taken
  ZVENO_APART void polish() {
    const T zero(0.0);
    for (int j = 0; j < n_; ++j) state_.q[j] = angle_[j];
    const T wants = needs(), gap2 = state_.gap2, turn2 = state_.turn2;
    reach_error(model_, goal_, state_);
    for (int step = 0; step < (plan_.quartic() ? kPolishingRoots : kPolishing); ++step) {
      const T need = needs() * wants;
      if (!any_below(T(0.5), need)) break;
      const T E = state_.E, g = state_.gap2, t = state_.turn2;
      reach_step(model_, goal_, none_, none_ + n_, T(1e-3) * E + T(1e-18), state_, next_);
      for (int j = 0; j < n_; ++j) before_[j] = state_.q[j], state_.q[j] = next_[j];
      reach_error(model_, goal_, state_);
      const auto nearer = below(state_.E, need * E);  // a lane does not depend on what others need
      for (int j = 0; j < n_; ++j) state_.q[j] = pick(nearer, state_.q[j], before_[j]);
      state_.E = pick(nearer, state_.E, E);
      state_.gap2 = pick(nearer, state_.gap2, g), state_.turn2 = pick(nearer, state_.turn2, t);
      // frames are those of the step, which matters where it is not taken: the next step is not taken either
    }
    const auto wanted = below(T(0.5), wants);
    state_.gap2 = pick(wanted, state_.gap2, gap2), state_.turn2 = pick(wanted, state_.turn2, turn2);
    for (int j = 0; j < n_; ++j) {
      T q = pick(wanted, state_.q[j], angle_[j]);
      if (!plan_.prismatic[j]) {
        q = q - T(kTurn) * pick_below(T(kPi), q, T(1.0), zero);
        q = q + T(kTurn) * pick_below(T(-kPi), q, zero, T(1.0));
      }
      told[j] = q;
    }
  }

  const ArmPlan& plan_;
  const ReachModel& model_;
  const int n_;
  const BranchLayout layout_;
  const int shared_;
  ReachState<T> state_;
  ArmBranch<T>* branch_;
  Mat3<T> wanted_;     // rotation of the last body
  bool fresh_ = true;  // the frames are not those of the branch before
  T *goal_, *next_, *before_, *none_, *angle_;
};

}  // namespace zveno
