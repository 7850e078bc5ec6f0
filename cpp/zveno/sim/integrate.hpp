// Motion of a System (system.hpp) with a constant step, recorded: docs/simulation.md. A step allocates nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <zveno/kernel/steps.hpp>
#include <zveno/sim/collocation.hpp>
#include <zveno/sim/record.hpp>
#include <zveno/sim/system.hpp>

namespace zveno {

enum class Stepper {
  rk4,            // classical, order 4
  semi_implicit,  // velocities first, then positions with the new velocities; order 1
  midpoint,       // implicit, order 2
  gauss,          // implicit, two stages, order 4
  radau,          // implicit, three stages, order 5, damps what is stiff
};
constexpr bool is_implicit(Stepper method) { return method != Stepper::rk4 && method != Stepper::semi_implicit; }

struct Schedule {
  Stepper method = Stepper::rk4;
  double start = 0, dt = 0;
  std::ptrdiff_t steps = 0, every = 1;
  Tolerances tolerances = {};  // of implicit steps
  // increasing times where forces or constraints change suddenly: steps end there, and their last stage just before
  std::vector<double> breaks = {};

  double time(std::ptrdiff_t step) const { return start + dt * static_cast<double>(step); }
  bool records(std::ptrdiff_t step) const { return step % every == 0 || step == steps; }
  // the first state, every `every`-th one and the last
  std::ptrdiff_t records() const { return steps / every + 1 + (steps % every != 0); }
};

// whether a System has what implicit steps need, and whether its events may end the motion
template <class System, class = void>
constexpr bool kSolvable = false;
template <class System>
constexpr bool kSolvable<System, std::void_t<decltype(std::declval<System&>().inertia())>> = true;
template <class System, class = void>
constexpr bool kEnds = false;
template <class System>
constexpr bool kEnds<System, std::void_t<decltype(std::declval<System&>().end_time())>> = true;

template <class System>
class Simulation {
 public:
  using Stage = typename System::Stage;

  Simulation(const Schedule& schedule, System system, Record record)
      : schedule_(schedule),
        system_(std::move(system)),
        record_(std::move(record)),
        ends_{system_.make_stage(), system_.make_stage()},
        stage_(system_.make_stage()),
        size_(static_cast<std::size_t>(system_.size())),
        y_(size_ + kBlock),
        next_y_(size_ + kBlock),
        stage_y_(size_ + kBlock),
        sum_(size_ + kBlock),
        time_(schedule.start) {
    if constexpr (kSolvable<System>) {
      if (!is_implicit(schedule.method)) return;
      const Tableau tableau = schedule.method == Stepper::midpoint ? Tableau::midpoint()
                              : schedule.method == Stepper::gauss  ? Tableau::gauss()
                                                                   : Tableau::radau();
      collocation_ = std::make_unique<Collocation<System>>(tableau, schedule.tolerances, system_);
    }
  }

  // Up to `count` steps more. False: the end is reached, or a step failed; then the last good state is recorded.
  bool advance(std::ptrdiff_t count) {
    if (failed_ || ended_) return false;
    if (recorded_step_ == -1) {
      if (failed_ = !begin(); failed_) return false;
      record();
    }
    for (; !failed_ && !ended_ && count > 0 && step_ < schedule_.steps; --count) {
      const Moved moved = step_once();
      failed_ = moved == Moved::failed;
      if (moved == Moved::done && !ended_ && step_ % schedule_.every == 0) record();
    }
    if (failed_ || ended_ || step_ == schedule_.steps) settle();
    summarise();
    return !failed_ && !ended_ && step_ < schedule_.steps;
  }

  // records the last good state unless it is recorded: for a caller that gives up
  void settle() {
    if (recorded_step_ == -1) return;
    if (recorded_step_ != step_) record();
    summarise();
  }

  std::ptrdiff_t step() const { return step_; }
  std::ptrdiff_t recorded() const { return recorded_; }
  bool failed() const { return failed_; }
  double failure_time() const { return failure_time_; }
  const System& system() const { return system_; }
  const Collocation<System>* collocation() const { return collocation_.get(); }

  // ---- for a caller that makes the steps itself: the state, its rates, and states that it has reached

  bool open() { return (recorded_step_ >= 0) || (!(failed_ = !begin()) && (record(), true)); }
  const double* state() const { return y_.data(); }
  const double* rates_at(double t, std::ptrdiff_t step, const double* y) {
    std::copy_n(y, size_, stage_y_.data());
    failed_ = !evaluate(t, step, stage_y_.data(), stage_, Detail::stage);
    return failed_ ? nullptr : stage_.rate.data();
  }
  // back onto constraints, if there are any
  bool project_at(double t, double* y) {
    if (!(failed_ = !system_.project(t, y))) return true;
    failure_time_ = t;
    return false;
  }
  // t lies in `step`; false: it has failed, or an event ends the motion
  bool reach(double t, std::ptrdiff_t step, const double* y, bool record_it, bool find_events) {
    std::copy_n(y, size_, next_y_.data());
    if (failed_ = !evaluate(t, step, next_y_.data(), *next_, Detail::record); failed_) return false;
    if (find_events) system_.find_events(time_, t - time_, *now_, *next_);
    if constexpr (kEnds<System>)
      if (find_events && std::isfinite(system_.end_time())) return false;
    turn(t);
    if (record_it) record(), summarise();
    return true;
  }

 private:
  bool evaluate(double t, std::ptrdiff_t step, const double* y, Stage& e, Detail detail) {
    if (system_.rates(t, step, y, e, detail)) return true;
    failure_time_ = t;
    return false;
  }

  // before the first stage of a step, at y
  void expect_first(const double* y) {
    if (schedule_.method == Stepper::rk4) expect(system_, y, first_way(schedule_.dt));
  }

  bool begin() {
    failure_time_ = schedule_.start;
    if (!system_.begin(schedule_.start, y_.data())) return false;
    expect_first(y_.data());
    if (!evaluate(schedule_.start, 0, y_.data(), *now_, Detail::record)) return false;
    system_.accept(*now_);
    return true;
  }

  Moved step_once() {
    const double end = schedule_.time(step_ + 1), near = 1e-9 * schedule_.dt;
    for (; broken_ < schedule_.breaks.size() && schedule_.breaks[broken_] < end - near; ++broken_) {
      const double at = schedule_.breaks[broken_];
      if (at <= time_ + near) continue;
      if (const Moved moved = part(at, just_before(at) - time_, step_, false); moved != Moved::done || ended_) return moved;
      forget();
    }
    const bool breaks = broken_ < schedule_.breaks.size() && schedule_.breaks[broken_] <= end + near;
    const bool whole = time_ == schedule_.time(step_);
    const double dt = breaks ? just_before(end) - time_ : whole ? schedule_.dt : end - time_;
    const Moved moved = part(end, dt, step_ + 1, schedule_.records(step_ + 1));
    if (moved != Moved::done || ended_) return moved;
    if (breaks) ++broken_, forget();
    ++step_;
    return Moved::done;
  }

  // over dt to the time t
  Moved part(double t, double dt, std::ptrdiff_t step, bool recorded) {
    if (const Moved moved = move(dt); moved != Moved::done) return moved;
    if (!arrive(t, step, recorded)) return Moved::failed;
    system_.find_events(time_, dt, *now_, *next_);
    if constexpr (kEnds<System>)
      if (const double end = system_.end_time(); std::isfinite(end)) return finish_at(end);
    turn(t);
    return Moved::done;
  }
  double just_before(double t) const {
    return t - 8 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(t), schedule_.dt);
  }
  void forget() {
    if (collocation_) collocation_->forget();
  }

  // the last step, cut short
  Moved finish_at(double end) {
    forget();
    if (end > time_) {
      Moved moved = Moved::paused;
      while (moved == Moved::paused) moved = move(end - time_);
      if (moved == Moved::failed || !arrive(end, step_, true)) return Moved::failed;
      turn(end);
    }
    ended_ = true;
    recorded_step_ = -2;  // this state is not recorded
    return Moved::done;
  }

  Moved move(double dt) {
    switch (schedule_.method) {
      case Stepper::rk4: return rk4(dt) ? Moved::done : Moved::failed;
      case Stepper::semi_implicit: return semi_implicit(dt), Moved::done;
      default: return implicit(dt);
    }
  }

  // at the end of a step
  bool arrive(double t, std::ptrdiff_t step, bool recorded) {
    if (!system_.project(t, next_y_.data())) {
      failure_time_ = t;
      return false;
    }
    if constexpr (kSolvable<System>)
      if (collocation_ && !recorded) return system_.observe(t, step, next_y_.data(), *next_), true;
    expect_first(next_y_.data());
    return evaluate(t, step, next_y_.data(), *next_, recorded ? Detail::record : Detail::end);
  }

  void turn(double t) {
    system_.accept(*next_);
    y_.swap(next_y_);
    std::swap(now_, next_);
    time_ = t;
  }

  bool rk4(double dt) {
    return rk4_step<kBlock>(time_, dt, size_, y_.data(), now_->rate.data(), stage_y_.data(), sum_.data(), next_y_.data(),
                            [&](double t, const double* at, double h) {
                              expect(system_, y_.data(), h);
                              return evaluate(t, step_, at, stage_, Detail::stage) ? stage_.rate.data() : nullptr;
                            });
  }

  void semi_implicit(double dt) {
    euler_step<kBlock>(dt, size_, y_.data(), now_->rate.data(), next_y_.data());
    system_.follow(dt, y_.data(), *now_, next_y_.data());
  }

  Moved implicit([[maybe_unused]] double dt) {
    if constexpr (kSolvable<System>) {
      const Moved moved = collocation_->advance(system_, time_, dt, step_, y_.data(), next_y_.data());
      if (moved != Moved::failed) return moved;
      failure_time_ = collocation_->failure_time();
      system_.refuse(collocation_->failure());
    }
    return Moved::failed;
  }

  void record() {
    system_.write(time_, y_.data(), *now_, record_, recorded_);
    ++recorded_;
    recorded_step_ = step_;
  }

  void summarise() {
    if (summarised_ == recorded_) return;
    system_.summarise(record_, summarised_, recorded_);
    summarised_ = recorded_;
  }

  Schedule schedule_;
  System system_;
  Record record_;
  Stage ends_[2], stage_;
  Stage *now_ = &ends_[0], *next_ = &ends_[1];
  std::size_t size_;
  std::vector<double> y_, next_y_, stage_y_, sum_;
  std::ptrdiff_t step_ = 0, recorded_ = 0, recorded_step_ = -1, summarised_ = 0;
  std::size_t broken_ = 0;  // breaks that are behind
  bool failed_ = false, ended_ = false;
  double failure_time_ = 0, time_;
  std::unique_ptr<Collocation<System>> collocation_;
};

}  // namespace zveno
