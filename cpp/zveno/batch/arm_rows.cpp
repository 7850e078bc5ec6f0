// Rows of poses through closed forms, a pose in each lane; every branch is polished and judged on the model itself.
// docs/inverse-kinematics.md, section 4.
#include <algorithm>
#include <cmath>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/arm_job.hpp>
#include <zveno/kernel/arm/closed_form.hpp>
#include <zveno/kernel/chain/reach.hpp>

namespace zveno {
namespace {

constexpr int kPolishing = 6;
constexpr double kExact = 1e-13, kHopeless = 1e-2;  // m over max(1, reach) and rad

class ArmLanes {
 public:
  ArmLanes(const ArmJob& job, Scratch& scratch)
      : job_(job), model_(*job.model), n_(job.plan->n), layout_{n_}, state_(model_, scratch) {
    branch_ = scratch.take<ArmBranch<Packed>>(kMostBranches);
    goal_ = scratch.take<Packed>(12), next_ = scratch.take<Packed>(n_), before_ = scratch.take<Packed>(n_);
    none_ = scratch.take<Packed>(2 * n_);
    told_ = scratch.take<Packed>(layout_.size());
    for (int b = 0; b < n_; ++b) none_[b] = -INFINITY, none_[n_ + b] = INFINITY;
  }

  void lanes(std::ptrdiff_t row, std::ptrdiff_t end, int count) {
    gather(job_.goal, row, end, 12, goal_);
    Packed psi(0.0), s(0.0), c(1.0);
    gather(job_.psi, row, end, 1, &psi);
    joint_trig(&psi, &s, &c, 1);
    const Motion<Packed> M{cast<Packed>(job_.plan->R_M), cast<Packed>(job_.plan->p_M)};
    const Motion<Packed> T{goal_rotation(goal_), {goal_[0], goal_[1], goal_[2]}};
    ClosedForm<Packed>(*job_.plan, T * M.inverse())(branch_, {s, c});
    const int branches = job_.plan->branches();
    for (int i = 0; i < branches; ++i) {
      const ArmBranch<Packed>& b = branch_[i];
      for (int j = 0; j < n_; ++j)
        state_.q[j] = job_.plan->prismatic[j] ? b.slide[j] : joint_angle(b.turn[j].s, b.turn[j].c);
      reach_error(model_, goal_, state_);
      // before a polish, whose frames in a lane depend on what other lanes need
      configuration_of(*job_.plan, state_.R_WB, state_.p_W, b, told_ + layout_.sign(0));
      polish();
      for (int j = 0; j < n_; ++j) told_[j] = state_.q[j];
      told_[layout_.gap()] = root(state_.gap2), told_[layout_.turn()] = root(state_.turn2);
      told_[layout_.miss()] = b.miss;
      for (int k = 0; k < 3; ++k) told_[layout_.singular(k)] = b.singular[k];
      const std::ptrdiff_t size = layout_.size();
      double* const first = job_.out + (row * branches + i) * size;
      scatter(told_, layout_.size(), count, [=](int l) { return first + l * branches * size; });
    }
  }

 private:
  // Newton's method on the model, which may differ from its ideal form; only what is nearer is taken
  void polish() {
    const double metre = kExact * std::max(1.0, model_.reach), gap2 = metre * metre, turn2 = kExact * kExact;
    for (int step = 0; step < kPolishing; ++step) {
      Packed needs(0.0);
      bool any = false;
      for (int l = 0; l < kLanes; ++l)
        if ((state_.gap2[l] > gap2 || state_.turn2[l] > turn2) && state_.E[l] < kHopeless * kHopeless)
          needs.v[l] = 1.0, any = true;
      if (!any) return;
      const Packed E = state_.E, g = state_.gap2, t = state_.turn2;
      reach_step(model_, goal_, none_, none_ + n_, Packed(1e-3) * E + Packed(1e-18), state_, next_);
      for (int j = 0; j < n_; ++j) before_[j] = state_.q[j], state_.q[j] = next_[j];
      reach_error(model_, goal_, state_);
      const auto nearer = below(state_.E, needs * E);  // a lane does not depend on what others need
      for (int j = 0; j < n_; ++j) state_.q[j] = pick(nearer, state_.q[j], before_[j]);
      state_.E = pick(nearer, state_.E, E);
      state_.gap2 = pick(nearer, state_.gap2, g), state_.turn2 = pick(nearer, state_.turn2, t);
      // frames are those of the step, which matters where it is not taken: the next step is not taken either
    }
  }

  const ArmJob& job_;
  const ReachModel& model_;
  const int n_;
  const BranchLayout layout_;
  ReachState<Packed> state_;
  ArmBranch<Packed>* branch_;
  Packed *goal_, *next_, *before_, *none_, *told_;
};

}  // namespace

void run_arm(const ArmJob& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  ArmLanes lanes(job, scratch);
  for (std::ptrdiff_t row = begin; row < end; row += kLanes)
    lanes.lanes(row, end, static_cast<int>(std::min<std::ptrdiff_t>(kLanes, end - row)));
}

}  // namespace zveno
