// How long single steps of the C library take.
#include <pybind11/numpy.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "interrupt.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

using Clock = std::chrono::steady_clock;
using Step = int (*)(void*, const double*, double*);
using Reset = int (*)(void*, const double*);
using Bins = py::array_t<std::int64_t, py::array::c_style>;

constexpr double kBinsPerOctave = 32.0;

std::int64_t nanoseconds(Clock::duration d) { return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count(); }

void put(std::int64_t* bins, std::int64_t size, std::int64_t ns) {
  const double bin = kBinsPerOctave * std::log2(static_cast<double>(std::max<std::int64_t>(ns, 1)));
  bins[std::min(static_cast<std::int64_t>(bin), size - 1)] += 1;
}

py::tuple time_steps(std::uintptr_t step, std::uintptr_t reset, std::uintptr_t rig,
                     const py::array_t<double, py::array::c_style>& inputs, std::int64_t outputs, std::int64_t count,
                     double period, double deadline, Bins& durations, Bins& delays) {
  if (inputs.ndim() != 2 || inputs.shape(0) < 1 || !step || !reset || !rig || outputs < 1 || durations.size() < 2 ||
      delays.size() < 2)
    throw py::value_error("time_steps: wrong arguments");
  const std::int64_t rows = inputs.shape(0), size = inputs.shape(1);
  const double* in = inputs.data();
  std::int64_t* took = durations.mutable_data();
  std::int64_t* late = delays.mutable_data();
  const std::int64_t took_size = durations.size(), late_size = delays.size();
  std::vector<double> out(static_cast<std::size_t>(outputs));
  std::int64_t longest = 0, latest = 0, over = 0, failures = 0;
  {
    Unlocked unlocked;
    const auto make_step = reinterpret_cast<Step>(step);
    const auto start_again = reinterpret_cast<Reset>(reset);
    void* handle = reinterpret_cast<void*>(rig);
    const auto tick = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * period));
    const auto limit = static_cast<std::int64_t>(1e9 * deadline);
    auto due = Clock::now() + tick;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = i % rows;
      if (row == 0) start_again(handle, nullptr);
      std::int64_t waited = 0;
      if (period > 0) {
        while (due - Clock::now() > 2 * Watch::kPeriod) {
          std::this_thread::sleep_for(Watch::kPeriod);
          if (unlocked.watch.stops()) unlocked.raise();
        }
        std::this_thread::sleep_until(due);
        waited = nanoseconds(Clock::now() - due);
      }
      const auto begin = Clock::now();
      const int code = make_step(handle, in + row * size, out.data());
      const auto end = Clock::now();
      const std::int64_t ns = nanoseconds(end - begin);
      failures += code < 0;
      put(took, took_size, ns);
      longest = std::max(longest, ns);
      if (unlocked.watch.stops(end)) unlocked.raise();  // before the next one is due, which is not late by that
      if (period > 0) {
        put(late, late_size, waited);
        latest = std::max(latest, waited);
        due += tick;
        if (Clock::now() > due) due = Clock::now() + tick;  // a period was missed: no burst follows
      }
      over += limit > 0 && ns + waited > limit;
    }
  }
  return py::make_tuple(longest, latest, over, failures);
}

}  // namespace

void register_measure(py::module_& m) {
  m.def("time_steps", &time_steps, py::arg("step"), py::arg("reset"), py::arg("rig"), py::arg("inputs"), py::arg("outputs"),
        py::arg("count"), py::arg("period"), py::arg("deadline"), py::arg("durations"), py::arg("delays"),
        "Time steps of a handle of the C library, by addresses: longest, ns, latest start, ns, number over the deadline, "
        "number that failed. Counts are added to bins of 1/32 octave of nanoseconds.");
}

}  // namespace zveno::bindings
