// Two positions of a chain side by side in lanes, then the states one by one.
#include <zveno/functions/stage_dynamics.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <zveno/batch/pivots.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/scalar/scalars.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

using Two = Pack<2>;

class ArticulatedStages : public StageDynamics {
 public:
  explicit ArticulatedStages(const Job& job)
      : job_(job),
        chain_(*job.chain),
        n_(static_cast<std::size_t>(chain_.n())),
        room_(static_cast<std::size_t>(padded(chain_.n()))),
        s_(n_),
        c_(n_),
        q_(n_),
        beside_(n_),
        U_(n_),
        inverse_(n_),
        pivot_(n_),
        lane_(n_) {
    for (Pair* x : {&given_, &place_, &angle_, &sine_, &cosine_}) x->assign(2 * room_, 0.0);
    for (std::size_t b = 0; b < n_; ++b) beside_[b] = chain_.rotor_inertia()[b];
  }

  Failure run(const State& state, double* qdd) override {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    Inputs<double> in;
    in[Param::q] = state.q, in[Param::qd] = state.qd, in[Param::tau] = state.tau;
    in[Param::base_motion] = state.base_motion;
    in.external = state.external;
    int here = find(state.q);
    if (here < 0 && state.ahead) factor(state.q, state.ahead, scratch), here = 0;
    Failure failure;
    if (here >= 0) {
      ChainEvaluation<double>(job_, chain_.view(), in, {row(sine_, here), row(cosine_, here), row(place_, here)}, scratch)
          .accelerations(LaneOfWrenches{U_.data(), here}, LaneOfNumbers{inverse_.data(), here}, qdd);
      failure = failures_[here];
    } else {
      double* pivot = scratch.take<double>(n_);
      evaluate<double>(job_, in, &qdd, pivot, scratch);
      failure = judge_pivots(chain_, pivot);
    }
    if (!failure && !all_finite(qdd, chain_.n())) failure.cause = Cause::overflow;
    if (failure) failure.row = 0;
    return failure;
  }

 private:
  struct LaneOfWrenches {
    const Wrench<Two>* U;
    int lane;
    Wrench<double> operator[](int b) const { return {of(U[b].f), of(U[b].n)}; }
    Vec3<double> of(const Vec3<Two>& x) const { return {x.x()[lane], x.y()[lane], x.z()[lane]}; }
  };
  struct LaneOfNumbers {
    const Two* x;
    int lane;
    double operator[](int b) const { return x[b][lane]; }
  };

  // of two positions, one after the other
  using Pair = std::vector<double>;
  double* row(Pair& x, int l) const { return x.data() + static_cast<std::size_t>(l) * room_; }

  // by bits: a zero has a sign; none: -1
  int find(const double* q) {
    for (int l = 0; known_ && l < 2; ++l)
      if (std::memcmp(row(given_, l), q, n_ * sizeof(double)) == 0) return l;
    return -1;
  }

  // of q, and of `ahead` beside it
  void factor(const double* q, const double* ahead, Scratch& scratch) {
    const double* given[2] = {q, ahead};
    for (int l = 0; l < 2; ++l) {
      std::copy_n(given[l], n_, row(given_, l));
      for (std::size_t b = 0; b < n_; ++b) row(place_, l)[b] = given[l][chain_.user_index()[b]];
      joint_angles(chain_, row(place_, l), row(angle_, l));
    }
    joint_trig(angle_.data(), sine_.data(), cosine_.data(), static_cast<int>(room_ + chain_.turning().size()));
    for (int l = 0; l < 2; ++l) spread_turns(chain_, row(sine_, l), row(cosine_, l));
    const auto join = [&](const Pair& x, std::vector<Two>& to) {
      for (std::size_t b = 0; b < n_; ++b) to[b].v = Two::V{x[b], x[room_ + b]};
    };
    join(sine_, s_), join(cosine_, c_), join(place_, q_);
    const JointPosition<Two> at{s_.data(), c_.data(), q_.data()};
    if (chain_.topology().stacked)
      factor_inertia<true>(chain_.view(), at, beside_.data(), U_.data(), inverse_.data(), pivot_.data(), scratch);
    else
      factor_inertia<false>(chain_.view(), at, beside_.data(), U_.data(), inverse_.data(), pivot_.data(), scratch);
    for (int l = 0; l < 2; ++l) {
      for (std::size_t b = 0; b < n_; ++b) lane_[b] = pivot_[b][l];
      failures_[l] = judge_pivots(chain_, lane_.data());
    }
    known_ = true;
  }

  const Job job_;
  const Chain& chain_;
  const std::size_t n_, room_;
  Pair given_, place_, angle_, sine_, cosine_;  // given: as it came
  Failure failures_[2];
  bool known_ = false;
  std::vector<Two> s_, c_, q_, beside_;
  std::vector<Wrench<Two>> U_;
  std::vector<Two> inverse_, pivot_;
  std::vector<double> lane_;
};

}  // namespace

std::unique_ptr<StageDynamics> make_stage_dynamics(const Job& job) { return std::make_unique<ArticulatedStages>(job); }

}  // namespace zveno
