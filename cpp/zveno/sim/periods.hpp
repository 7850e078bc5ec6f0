// Motion of a System (system.hpp) one period after another, under inputs that are held over a period and not known before
// it begins. Nothing is recorded, no events are found, nothing is allocated. The states have the bits of Simulation
// (integrate.hpp) with the same step and the same inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <zveno/kernel/steps.hpp>
#include <zveno/sim/system.hpp>

namespace zveno {

template <class System>
class Periods {
 public:
  using Stage = typename System::Stage;

  // brief: the end of a period is not evaluated, see arrive of the systems
  Periods(System system, bool semi_implicit, double dt, int substeps, bool brief = false)
      : system_(std::move(system)),
        semi_implicit_(semi_implicit),
        dt_(dt),
        substeps_(substeps),
        brief_(brief),
        ends_{system_.make_stage(), system_.make_stage()},
        stage_(system_.make_stage()),
        size_(static_cast<std::size_t>(system_.size())),
        y_(size_ + kBlock),
        next_y_(size_ + kBlock),
        stage_y_(size_ + kBlock),
        sum_(size_ + kBlock) {}

  // To the first state of the system.
  bool begin() {
    step_ = 0;
    std::fill(y_.begin(), y_.end(), 0.0);  // accounts of work too: a system writes its coordinates alone
    return system_.begin(0.0, y_.data()) && system_.rates(0.0, 0, y_.data(), *now_, Detail::end);
  }

  // False: the system knows why, and the state means nothing until restore(). The end of a period is accepted when the next
  // one begins: it is evaluated again then, with new inputs, and must find what it found before.
  bool advance() {
    expect_first(y_.data());
    if (!system_.rates(time(), step_, y_.data(), *now_, Detail::end)) return false;
    system_.accept(*now_);
    for (int k = 1; k < substeps_; ++k) {
      if (!substep(false)) return false;
      system_.accept(*now_);
    }
    return substep(brief_);
  }

  double time() const { return dt_ * static_cast<double>(step_); }
  std::ptrdiff_t steps() const { return step_; }
  const double* state() const { return y_.data(); }
  const Stage& stage() const { return *now_; }  // at the end of the last period
  System& system() { return system_; }
  const System& system() const { return system_; }

  // ---- snapshots: size() numbers

  std::size_t size() const { return 1 + size_ + static_cast<std::size_t>(system_.memory_size()); }
  void save(double* to) const {
    to[0] = static_cast<double>(step_);
    std::copy_n(y_.data(), size_, to + 1);
    system_.save(to + 1 + size_);
  }
  void restore(const double* from) {
    step_ = static_cast<std::ptrdiff_t>(from[0]);
    std::copy_n(from + 1, size_, y_.data());
    system_.restore(from + 1 + size_);
  }

 private:
  // before the first stage of a step, at y
  void expect_first(const double* y) {
    if (!semi_implicit_) expect(system_, y, first_way(dt_));
  }

  bool substep(bool brief) {
    if (semi_implicit_) {
      euler_step<kBlock>(dt_, size_, y_.data(), now_->rate.data(), next_y_.data());
      system_.follow(dt_, y_.data(), *now_, next_y_.data());
    } else if (!rk4_step<kBlock>(time(), dt_, size_, y_.data(), now_->rate.data(), stage_y_.data(), sum_.data(),
                                 next_y_.data(), [&](double t, const double* at, double h) {
                                   expect(system_, y_.data(), h);
                                   const bool fine = system_.rates(t, step_, at, stage_, Detail::stage);
                                   return fine ? stage_.rate.data() : nullptr;
                                 })) {
      return false;
    }
    const double end = dt_ * static_cast<double>(step_ + 1);
    if (!system_.project(end, next_y_.data())) return false;
    expect_first(next_y_.data());
    if (!(brief ? system_.arrive(next_y_.data(), *next_)
                : system_.rates(end, step_ + 1, next_y_.data(), *next_, Detail::end)))
      return false;
    y_.swap(next_y_);
    std::swap(now_, next_);
    ++step_;
    return true;
  }

  System system_;
  bool semi_implicit_;
  double dt_;
  int substeps_;
  bool brief_;
  Stage ends_[2], stage_;
  Stage *now_ = &ends_[0], *next_ = &ends_[1];
  std::size_t size_;
  std::vector<double> y_, next_y_, stage_y_, sum_;
  std::ptrdiff_t step_ = 0;
};

}  // namespace zveno
