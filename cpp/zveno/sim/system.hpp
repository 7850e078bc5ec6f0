// What an integrator (integrate.hpp) moves. A System is any class with
//
// - Stage: what an evaluation leaves behind: `rate`, size() numbers and room for kBlock more, and what the system needs;
//   Stage make_stage() const.
// - int size() const: numbers of the state: positions, velocities, internal states of laws, and the accounts. These are
//   integrated by the same scheme as the motion, so that their distance from energy and momentum measures its error.
// - bool begin(t, y): the first state and its accounts.
// - bool rates(t, step, y, e, detail): the state's rates at time t, which lies in `step`. Forces may throw.
// - void expect(y, h), if that is of use to it: the next but one evaluation will be where the rates of the next one lead
// from
//   y in the time h, if nothing comes between.
// - void follow(dt, y, e, next): semi-implicit step: `next` holds y + dt rate; what follows the new velocities is put in.
// - bool project(t, next): back onto the manifold of states after a step.
// - void accept(e): a step ends with e: later evaluations may refer to it.
// - void find_events(t, dt, e0, e1).
// - void write(t, y, e, record, row): a recorded state.
// - void summarise(record, begin, end): what is worked out for many recorded states at once.
// - const Schema& schema() const: the table of its record.
//
// begin, rates and project return false on failure; what it is, the system knows. To evaluate allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <zveno/functions/job.hpp>
#include <zveno/functions/law.hpp>

namespace zveno {

// integrators work on blocks of so many numbers
constexpr std::size_t kBlock = 4;

// how much of an evaluation is wanted: inside a step, at its end, at its end and recorded
enum class Detail { stage, end, record };

template <class System, class = void>
constexpr bool kExpects = false;
template <class System>
constexpr bool kExpects<System, std::void_t<decltype(std::declval<System&>().expect(nullptr, 0.0))>> = true;
template <class System>
void expect([[maybe_unused]] System& system, [[maybe_unused]] const double* y, [[maybe_unused]] double h) {
  if constexpr (kExpects<System>) system.expect(y, h);
}

// laws of the driven joints, or of others
class Drives {
 public:
  Drives(const KernelTable& kernels, std::vector<JointLaw> laws) : laws_(std::move(laws)), call_(kernels.make_laws(laws_)) {
    for (const JointLaw& law : laws_) {
      states_ += law.states();
      any_ |= !law.empty();
    }
  }

  bool any() const { return any_; }
  int states() const { return states_; }
  const JointLaw& operator[](int k) const { return laws_[static_cast<std::size_t>(k)]; }
  const JointLaws* operator->() const { return call_.get(); }

 private:
  std::vector<JointLaw> laws_;
  std::unique_ptr<JointLaws> call_;
  int states_ = 0;
  bool any_ = false;
};

// row `step` of forces held over each step: `width` numbers, or as many for each step
inline const double* held_row(const std::vector<double>& rows, std::size_t width, std::ptrdiff_t step) {
  return rows.data() + std::min(static_cast<std::size_t>(step), rows.size() / width - 1) * width;
}

// samples of `width` numbers at time t
inline void sample(const Samples& samples, double t, int width, double* out) {
  const auto [i, weight] = samples.find(t);
  const double* x = samples.values.data() + static_cast<std::size_t>(width) * i;
  for (int c = 0; c < width; ++c) out[c] = weight == 0 ? x[c] : x[c] + weight * (x[width + c] - x[c]);
}

}  // namespace zveno
