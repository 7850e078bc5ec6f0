// The closed form of an arm around its kernel: poses in, branches out that are polished and judged on the model itself, or
// the one nearest to a start. docs/inverse-kinematics.md, section 3.
#pragma once

#include <zveno/functions/arm_job.hpp>
#include <zveno/kernel/arm/closed_form.hpp>
#include <zveno/kernel/chain/reach.hpp>

namespace zveno {

template <class T>
class ArmEvaluation {
 public:
  ArmEvaluation(const ArmPlan& plan, const ReachModel& model, Scratch& scratch)
      : plan_(plan), model_(model), n_(plan.n), layout_{n_}, shared_(plan.shared()), state_(model, scratch) {
    branch_ = scratch.take<ArmBranch<T>>(kMostBranches);
    pose = scratch.take<T>(16), goal_ = scratch.take<T>(12), next_ = scratch.take<T>(n_), before_ = scratch.take<T>(n_);
    none_ = scratch.take<T>(2 * n_), angle_ = scratch.take<T>(n_), told = scratch.take<T>(layout_.size());
    start = scratch.take<T>(n_), best = scratch.take<T>(n_), near_ = scratch.take<T>(n_);
    for (int b = 0; b < n_; ++b) {
      none_[b] = T(-INFINITY), none_[n_ + b] = T(INFINITY);
      if (plan.prismatic[b]) state_.s[b] = T(model.fixed_turn[b].s), state_.c[b] = T(model.fixed_turn[b].c);
    }
  }

  T *pose, *start;  // 16, n in the order of the model: to be filled
  T psi{0.0};
  T* told;  // of a branch, see BranchLayout

  // the nearest solution, and whether there is one, inside of the limits or only outside
  T *best, best_gap2{0.0}, best_turn2{0.0}, found{0.0}, beyond{0.0}, missing{0.0};

  // Takes the pose, with rounding of its rotation removed; false: it has to be looked at closer, in some lane.
  bool take() {
    const T zero(0.0), one(1.0);
    Mat3<T> R;
    T defect = magnitude(pose[12]) + magnitude(pose[13]) + magnitude(pose[14]) + magnitude<T>(pose[15] - one);
    for (int i = 0; i < 3; ++i) {
      goal_[i] = pose[4 * i + 3];
      defect += goal_[i] * zero;  // NaN if it is not finite
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
    for (int i = 0; i < 9; ++i) goal_[3 + i] = R(i / 3, i % 3);
    return none(defect);
  }

  // f(i) after each branch, whose numbers are in `told`
  template <class F>
  void each(const F& f) {
    T s(0.0), c(1.0);
    if (plan_.family == ArmFamily::swivel) turn_of(psi, s, c);
    const Motion<T> M{cast<T>(plan_.R_M), cast<T>(plan_.p_M)};
    const Motion<T> at{goal_rotation(goal_), {goal_[0], goal_[1], goal_[2]}};
    ClosedForm<T>(plan_, at * M.inverse())(branch_, {s, c});
    fresh_ = true;
    for (int i = 0; i < plan_.branches(); ++i) tell(i), f(i);
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
      const T good = verified();
      T inside = good, away = zero;
      for (int j = 0; j < n_; ++j) {
        T q = told[j];
        const double low = limits ? model_.lower[j] : -INFINITY, high = limits ? model_.upper[j] : INFINITY;
        if (!plan_.prismatic[j]) {
          const T whole(6755399441055744.0);  // 1.5 2^52: what is added to it is rounded
          q = q + T(kTurn) * (((start[j] - q) * T(1 / kTurn) + whole) - whole);
          q = pick_below(q, T(low - kArmInside), q + T(kTurn), pick_below(T(high + kArmInside), q, q - T(kTurn), q));
        }
        inside = pick_below(q, T(low - kArmInside), zero, pick_below(T(high + kArmInside), q, zero, inside));
        near_[j] = greater(T(low), lesser(T(high), q));
        away = greater(away, magnitude<T>(near_[j] - start[j]) * T(plan_.prismatic[j] ? 1 / model_.length : 1.0));
      }
      beyond = greater(beyond, good);
      missing = lesser(missing, pick_below(zero, good, zero, told[layout_.miss()]));
      const auto better = below(pick_below(zero, inside, away, T(INFINITY)), least);
      least = pick(better, away, least), found = pick(better, one, found);
      for (int j = 0; j < n_; ++j) best[j] = pick(better, near_[j], best[j]);
      best_gap2 = pick(better, told[layout_.gap2()], best_gap2),
      best_turn2 = pick(better, told[layout_.turn2()], best_turn2);
    });
  }

 private:
  static constexpr int kPolishing = 6;
  static constexpr double kExact = 1e-12;  // m over max(1, reach) and rad

  static bool none(double defect) { return defect == 0; }
  template <int N>
  static bool none(const Pack<N>& defect) {
    bool all = true;
    for (int l = 0; l < N; ++l) all &= defect[l] == 0;
    return all;
  }
  static void turn_of(double psi, double& s, double& c) {
    double ss[8 * kLanes], cc[8 * kLanes];
    joint_trig(&psi, ss, cc, 1);
    s = ss[0], c = cc[0];
  }
  template <int N>
  static void turn_of(const Pack<N>& psi, Pack<N>& s, Pack<N>& c) {
    joint_trig(&psi, &s, &c, 1);
  }

  // angles of the branch; the second of a pair has some of the first
  template <int N>
  void angles(const ArmBranch<Pack<N>>& b, bool second) {
    for (int j = 0; j < n_; ++j) {
      if (plan_.prismatic[j])
        angle_[j] = b.slide[j];
      else if (!second || !plan_.paired(j))
        angle_[j] = joint_angle(b.turn[j].s, b.turn[j].c);
    }
  }
  void angles(const ArmBranch<double>& b, bool second) {  // they fill the lanes
    double s[kMostArmJoints + kLanes], c[kMostArmJoints + kLanes];
    int joint[kMostArmJoints], count = 0;
    for (int j = 0; j < n_; ++j) {
      if (plan_.prismatic[j])
        angle_[j] = b.slide[j];
      else if (!second || !plan_.paired(j))
        s[count] = b.turn[j].s, c[count] = b.turn[j].c, joint[count++] = j;
    }
    for (int i = 0; i < count; i += kLanes) {
      for (int l = count; l < i + kLanes; ++l) s[l] = 0.0, c[l] = 1.0;
      const Pack<kLanes> angle = joint_angle(Pack<kLanes>::load(s + i), Pack<kLanes>::load(c + i));
      for (int l = 0; l < kLanes && i + l < count; ++l) angle_[joint[i + l]] = angle[l];
    }
  }

  // numbers of a branch, polished and judged
  ZVENO_APART void tell(int i) {
    const ArmBranch<T>& b = branch_[i];
    const bool second = i & 1;
    const int from = second && !fresh_ ? shared_ : 0;
    for (int j = from; j < n_; ++j) {
      if (plan_.prismatic[j]) {
        state_.q[j] = b.slide[j];
        continue;
      }
      const Turn<T> t =
          plan_.turned[j] ? product(b.turn[j], Turn<T>{T(plan_.offset[j].s), T(plan_.offset[j].c)}) : b.turn[j];
      state_.s[j] = t.s, state_.c[j] = t.c;
    }
    reach_chord(model_, goal_, from, state_);
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
    const double hopeless = 1e-6 + 1e3 * plan_.deviation;  // what is further away than rounding and this is no solution
    return pick_below(state_.E, T(hopeless * hopeless), off, zero);
  }
  bool rough() const { return any_below(T(0.5), needs()); }

  // Newton's method on the model, which may differ from its ideal form; only what is nearer is taken
  ZVENO_APART void polish() {
    const T zero(0.0);
    for (int j = 0; j < n_; ++j) state_.q[j] = angle_[j];
    const T wants = needs(), gap2 = state_.gap2, turn2 = state_.turn2;
    reach_error(model_, goal_, state_);
    for (int step = 0; step < kPolishing; ++step) {
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
  bool fresh_ = true;  // the frames are not those of the branch before
  T *goal_, *next_, *before_, *none_, *angle_, *near_;
};

}  // namespace zveno
