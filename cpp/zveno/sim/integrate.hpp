// Motion of a System (system.hpp) with a constant step, recorded. A step allocates nothing.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <zveno/sim/record.hpp>
#include <zveno/sim/system.hpp>

namespace zveno {

enum class Stepper {
  rk4,            // classical, order 4
  semi_implicit,  // velocities first, then positions with the new velocities; order 1
};

struct Schedule {
  Stepper method = Stepper::rk4;
  double start = 0, dt = 0;
  std::ptrdiff_t steps = 0, every = 1;

  double time(std::ptrdiff_t step) const { return start + dt * static_cast<double>(step); }
  bool records(std::ptrdiff_t step) const { return step % every == 0 || step == steps; }
  // the first state, every `every`-th one and the last
  std::ptrdiff_t records() const { return steps / every + 1 + (steps % every != 0); }
};

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
        sum_(size_ + kBlock) {}

  // Up to `count` steps more. False: the end is reached, or a step failed; then the last good state is recorded.
  bool advance(std::ptrdiff_t count) {
    if (failed_) return false;
    if (recorded_step_ < 0) {
      if (failed_ = !begin(); failed_) return false;
      record();
    }
    for (; !failed_ && count > 0 && step_ < schedule_.steps; --count) {
      failed_ = !step_once();
      if (!failed_ && step_ % schedule_.every == 0) record();
    }
    if (failed_ || step_ == schedule_.steps) settle();
    summarise();
    return !failed_ && step_ < schedule_.steps;
  }

  // records the last good state unless it is recorded: for a caller that gives up
  void settle() {
    if (recorded_step_ < 0) return;
    if (recorded_step_ != step_) record();
    summarise();
  }

  std::ptrdiff_t step() const { return step_; }
  std::ptrdiff_t recorded() const { return recorded_; }
  bool failed() const { return failed_; }
  double failure_time() const { return failure_time_; }
  const System& system() const { return system_; }

 private:
  bool evaluate(double t, std::ptrdiff_t step, const double* y, Stage& e, Detail detail) {
    if (system_.rates(t, step, y, e, detail)) return true;
    failure_time_ = t;
    return false;
  }

  bool begin() {
    failure_time_ = schedule_.start;
    if (!system_.begin(schedule_.start, y_.data())) return false;
    if (!evaluate(schedule_.start, 0, y_.data(), *now_, Detail::record)) return false;
    system_.accept(*now_);
    return true;
  }

  bool step_once() {
    const bool moved = schedule_.method == Stepper::rk4 ? rk4() : semi_implicit();
    if (!moved) return false;
    if (!system_.project(schedule_.time(step_ + 1), next_y_.data())) {
      failure_time_ = schedule_.time(step_ + 1);
      return false;
    }
    const Detail detail = schedule_.records(step_ + 1) ? Detail::record : Detail::end;
    if (!evaluate(schedule_.time(step_ + 1), step_ + 1, next_y_.data(), *next_, detail)) return false;
    system_.find_events(schedule_.time(step_), schedule_.dt, *now_, *next_);
    system_.accept(*next_);
    y_.swap(next_y_);
    std::swap(now_, next_);
    ++step_;
    return true;
  }

  // f(i) for all numbers of the state; a few more have room
  template <class F>
  void for_state(const F& f) const {
    for (std::size_t i = 0; i < size_; i += kBlock)
      for (std::size_t k = i; k < i + kBlock; ++k) f(k);
  }

  bool rk4() {
    const double dt = schedule_.dt, t = schedule_.time(step_), way[3] = {0.5, 0.5, 1}, weight[3] = {2, 2, 1};
    const double *y = y_.data(), *rate = now_->rate.data();
    double *at = stage_y_.data(), *sum = sum_.data(), *next = next_y_.data();
    for_state([&](std::size_t i) { sum[i] = rate[i]; });
    for (int k = 0; k < 3; ++k) {
      const double h = dt * way[k], w = weight[k];
      for_state([&](std::size_t i) { at[i] = y[i] + h * rate[i]; });
      if (!evaluate(t + h, step_, at, stage_, Detail::stage)) return false;
      rate = stage_.rate.data();
      for_state([&](std::size_t i) { sum[i] += w * rate[i]; });
    }
    for_state([&](std::size_t i) { next[i] = y[i] + dt / 6 * sum[i]; });
    return true;
  }

  bool semi_implicit() {
    const double dt = schedule_.dt, *y = y_.data(), *rate = now_->rate.data();
    double* next = next_y_.data();
    for_state([&](std::size_t i) { next[i] = y[i] + dt * rate[i]; });
    system_.follow(dt, y, *now_, next);
    return true;
  }

  void record() {
    system_.write(schedule_.time(step_), y_.data(), *now_, record_, recorded_);
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
  bool failed_ = false;
  double failure_time_ = 0;
};

}  // namespace zveno
