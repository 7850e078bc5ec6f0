// Runs of a chain or linkage side by side in the lanes, step by step: the formulas of kernel/steps.hpp, so that every run
// has the bits that it has alone.
#include <zveno/batch/rows.hpp>

#include <algorithm>

#include <zveno/batch/lanes.hpp>
#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/functions/law.hpp>
#include <zveno/functions/linkage_evaluation.hpp>
#include <zveno/functions/steps_job.hpp>
#include <zveno/kernel/steps.hpp>
#include <zveno/scalar/choose.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {
namespace {

Packed larger(const Packed& a, const Packed& b) { return chosen(above(a, b), a, b); }
Packed smaller(const Packed& a, const Packed& b) { return chosen(above(a, b), b, a); }

// whether a bound may lie between them in some lane
bool between(const Packed& least, double bound, const Packed& most) {
  const Packed outside = (most - Packed(bound)) * (least - Packed(bound));  // positive if both are on one side
  return !all_above(&outside, 1, 0.0);
}

// up to kLanes runs
class Bundle {
 public:
  Bundle(const StepsJob& job, Scratch& scratch)
      : job_(job),
        chain_(*job.chain),
        n_(chain_.n()),
        size_(static_cast<std::size_t>(2 * n_ + 1)),
        scratch_(scratch),
        dynamics_{&chain_, Function::forward_dynamics},
        friction_(scratch.take<double>(n_)),
        bad_(0.0) {
    dynamics_.method = Method::aba;
    for (int b = 0; b < n_; ++b) friction_[chain_.user_index()[b]] = chain_.friction()[b];
    for (Packed** x : {&y_, &next_, &at_, &sum_, &rate_, &next_rate_, &stage_rate_}) *x = scratch.take<Packed>(size_);
    for (Packed** x : {&tau_, &next_tau_, &pivot_}) *x = scratch.take<Packed>(n_);
    if (job.linkage) {
      judged_ = scratch.take<Packed>(judged_size(LinkageJob(*job.linkage, LinkageFunction::forward_dynamics)));
      residual_ = scratch.take<Packed>(job.linkage->rows());
    }
    ends_ = scratch.take<double>(4 * n_);
    if (job.lower)
      for (int j = 0; j < n_; ++j) bounded_ |= job.lower[j] > -kInfinity || job.upper[j] < kInfinity;
  }

  // false: not wanted any more
  bool run(std::ptrdiff_t first, std::ptrdiff_t end) {
    first_ = first, end_ = end;
    count_ = static_cast<int>(std::min<std::ptrdiff_t>(kLanes, end - first));
    gather(job_.q, first, end, n_, y_);
    gather(job_.qd, first, end, n_, y_ + n_);
    y_[2 * n_] = 0.0;
    bad_ = 0.0;
    for (int l = 0; l < kLanes; ++l) light_[l] = false;
    rates(0, y_, rate_, tau_);
    record(0);
    std::ptrdiff_t row = 1;
    for (std::ptrdiff_t step = 0; step < job_.steps; ++step) {
      if (step % kPatience == 0 && job_.unwanted && job_.unwanted(job_.context)) return false;
      if (job_.semi_implicit)
        semi_implicit();
      else
        rk4(step);
      if (job_.linkage && !job_.baumgarte.any()) project();
      rates(step + 1, next_, next_rate_, next_tau_);
      if (bounded_) look(step);
      std::swap(y_, next_), std::swap(rate_, next_rate_), std::swap(tau_, next_tau_);
      if ((step + 1) % job_.every == 0 || step + 1 == job_.steps) record(row++);
    }
    bad_ += defect_of(y_, static_cast<std::ptrdiff_t>(size_)) + defect_of(rate_, static_cast<std::ptrdiff_t>(size_));
    for (int l = 0; l < count_; ++l) job_.broken[first + l] = light_[l] || bad_[l] != 0;
    return true;
  }

 private:
  static constexpr std::ptrdiff_t kPatience = 256;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // of a state within `step`
  void rates(std::ptrdiff_t step, const Packed* y, Packed* rate, Packed* tau) {
    const Packed *q = y, *qd = y + n_;
    const std::ptrdiff_t held = std::min(step, job_.held - 1) * n_;
    if (job_.tau.data)
      gather({job_.tau.data + held, job_.tau.stride}, first_, end_, n_, tau);
    else
      for (int j = 0; j < n_; ++j) tau[j] = 0.0;
    if (job_.spring)
      for (int j = 0; j < n_; ++j) {
        const double* s = job_.spring + 4 * j;
        const SpringDamperOf<Packed> law{s[0], s[1], s[2], s[3]};
        tau[j] += Packed(0.0) + law(q[j], qd[j]);
      }
    Inputs<Packed> in;
    in[Param::q] = q, in[Param::qd] = qd, in[Param::tau] = tau;
    Packed* qdd = rate + n_;
    if (job_.linkage) {
      hold(LinkageFunction::forward_dynamics, q, qd, tau, qdd);
    } else {
      evaluate<Packed>(dynamics_, in, &qdd, pivot_, scratch_);
      for (int b = 0; b < n_; ++b)
        if (!all_above(pivot_ + b, 1, chain_.tiny_pivot()[b])) note_light(pivot_[b], chain_.tiny_pivot()[b]);
    }
    for (int j = 0; j < n_; ++j) rate[j] = qd[j];
    rate[2 * n_] = joint_power(n_, tau, friction_, qd, qd);
  }
  ZVENO_COLD void note_light(const Packed& x, double least) {
    for (int l = 0; l < kLanes; ++l) light_[l] |= !(x[l] > least);
  }

  // a function of the linkage inside of a step; where its rows do not do, runs are made alone
  void hold(LinkageFunction function, const Packed* q, const Packed* qd, const Packed* tau, Packed* first) {
    LinkageJob job(*job_.linkage, function);
    job.baumgarte = job_.baumgarte;
    job.outputs = 1;
    LinkageInputs<Packed> in;
    in[Param::q] = q, in[Param::qd] = qd, in[Param::tau] = tau;
    Packed* out[kMostOutputs] = {first};
    evaluate_linkage<Packed>(job, job_.linkage->choice(), in, out, judged_, scratch_);
    if (function == LinkageFunction::residual) return;
    for (int b = 0; b < n_; ++b)
      if (!all_above(judged_ + b, 1, chain_.tiny_pivot()[b])) note_light(judged_[b], chain_.tiny_pivot()[b]);
    for (int i = n_; i < n_ + job_.linkage->rows(); ++i)
      if (!all_above(judged_ + i, 1, 0.0)) note_light(judged_[i], 0.0);
  }

  // as LinkageHolding::project, lane by lane
  void project() {
    const double closed = kClosed * job_.linkage->length(), open = kOpen * job_.linkage->length();
    for (int k = 0;; ++k) {
      hold(LinkageFunction::residual, next_, nullptr, nullptr, residual_);
      Packed gap(0.0);
      for (int i = 0; i < job_.linkage->rows(); ++i) gap = larger(gap, larger(residual_[i], -residual_[i]));
      bool apart = false;
      for (int l = 0; l < kLanes; ++l) {
        apart |= gap[l] > closed;
        if (k == kMostProjections) light_[l] |= gap[l] > open;
      }
      if (!apart || k == kMostProjections) break;
      hold(LinkageFunction::project_position, next_, nullptr, nullptr, at_);
      for (int j = 0; j < n_; ++j) next_[j] = chosen(above(gap, Packed(closed)), at_[j], next_[j]);
    }
    hold(LinkageFunction::project_velocity, next_, next_ + n_, nullptr, at_);
    std::copy_n(at_, n_, next_ + n_);
  }

  void rk4(std::ptrdiff_t step) {
    rk4_step<1>(0, job_.dt, size_, y_, rate_, at_, sum_, next_, [&](double, const Packed* at, double) {
      rates(step, at, stage_rate_, next_tau_);
      return stage_rate_;
    });
  }

  void semi_implicit() {
    euler_step<1>(job_.dt, size_, y_, rate_, next_);
    const Packed *qd = y_ + n_, *speed = next_ + n_;
    follow_speed(job_.dt, n_, y_, speed, next_);
    next_[2 * n_] = y_[2 * n_] + Packed(job_.dt) * joint_power(n_, tau_, friction_, qd, speed);
  }

  void record(std::ptrdiff_t row) {
    const auto put = [&](double* out, const Packed* x, int width) {
      if (out) scatter(x, width, count_, [&](int l) { return out + ((first_ + l) * job_.records + row) * width; });
    };
    put(job_.out_q, y_, n_);
    put(job_.out_qd, y_ + n_, n_);
    put(job_.out_qdd, rate_ + n_, n_);
    put(job_.out_tau, tau_, n_);
    put(job_.out_work, y_ + 2 * n_, 1);
  }

  // the cubic of a joint lies between four points, see Hermite in sim/events.hpp: a bound between them may be passed
  void look(std::ptrdiff_t step) {
    const Packed third(0.34 * job_.dt);
    bool near = false;
    for (int j = 0; j < n_; ++j) {
      const double low = job_.lower[j], high = job_.upper[j];
      if (low == -kInfinity && high == kInfinity) continue;
      const Packed p0 = y_[j], p1 = next_[j], a = p0 + third * y_[n_ + j], b = p1 - third * next_[n_ + j];
      const Packed most = larger(larger(p0, a), larger(p1, b)), least = smaller(smaller(p0, a), smaller(p1, b));
      near |= between(least, high, most) || between(least, low, most);
    }
    if (near) tell(step);
  }
  ZVENO_COLD void tell(std::ptrdiff_t step) {
    const Packed* from[4] = {y_, y_ + n_, next_, next_ + n_};
    for (int l = 0; l < count_; ++l) {
      for (int k = 0; k < 4; ++k)
        for (int j = 0; j < n_; ++j) ends_[k * n_ + j] = from[k][j][l];
      job_.passing(job_.context, first_ + l, step, ends_, ends_ + n_, ends_ + 2 * n_, ends_ + 3 * n_);
    }
  }

  const StepsJob& job_;
  const Chain& chain_;
  const int n_;
  const std::size_t size_;
  Scratch& scratch_;
  Job dynamics_;
  double *friction_, *ends_;
  Packed *y_, *next_, *at_, *sum_, *rate_, *next_rate_, *stage_rate_, *tau_, *next_tau_, *pivot_;
  Packed *judged_ = nullptr, *residual_ = nullptr;  // of a linkage
  Packed bad_;
  bool light_[kLanes];
  bool bounded_ = false;
  std::ptrdiff_t first_ = 0, end_ = 0;
  int count_ = 0;
};

}  // namespace

void run_steps(const StepsJob& job, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  Bundle bundle(job, scratch);
  for (std::ptrdiff_t first = begin; first < end && bundle.run(first, end); first += kLanes) {
  }
}

}  // namespace zveno
