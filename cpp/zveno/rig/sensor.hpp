// From the reading of a force sensor to the wrench that a mechanism is given.
#pragma once

#include <cmath>

#include <zveno/rig/machine.hpp>

namespace zveno {

class Reading {
 public:
  static constexpr std::size_t kState = 6;

  Reading(const Sensor& sensor, int input, int offset, double period)
      : sensor_(sensor), input_(input), offset_(offset), part_(sensor.lag > 0 ? -std::expm1(-period / sensor.lag) : 1.0) {}

  double* state() { return state_; }
  const double* state() const { return state_; }
  void reset() {
    for (double& x : state_) x = 0;
  }

  // raw: all inputs as they were read; the wrench goes to the inputs of the machine, in its state at the beginning of a step
  void apply(const double* raw, Machine& machine) {
    Mat3<double> force, moment, base;
    machine.axes(input_, force, moment, base);
    const Vec3<double> down = sensor_.turns ? transposed_times(base, sensor_.gravity) : sensor_.gravity;
    const Vec3<double> weight = transposed_times(sensor_.R, down) * sensor_.mass;
    const Vec3<double> turning = cross(sensor_.com, weight);
    double x[6];
    for (int i = 0; i < 6; ++i) {
      const double carried = i < 3 ? weight[i] : turning[i - 3];
      state_[i] += part_ * (raw[offset_ + i] - sensor_.tare[i] - carried - state_[i]);
      const double over = std::fabs(state_[i]) - sensor_.dead_band[i];
      x[i] = over > 0 ? std::copysign(over, state_[i]) : 0.0;
    }
    Vec3<double> f = times(sensor_.R, Vec3<double>(x[0], x[1], x[2]));
    Vec3<double> m = times(sensor_.R, Vec3<double>(x[3], x[4], x[5])) + cross(sensor_.p, f);
    if (!sensor_.turns) f = transposed_times(base, f), m = transposed_times(base, m);
    f = times(force, f), m = times(moment, m);
    for (int i = 0; i < 3; ++i) {
      machine.in[static_cast<std::size_t>(offset_ + i)] = f[i];
      machine.in[static_cast<std::size_t>(offset_ + 3 + i)] = m[i];
    }
  }

 private:
  Sensor sensor_;
  int input_, offset_;
  double part_;
  double state_[kState] = {};  // behind the lag
};

}  // namespace zveno
