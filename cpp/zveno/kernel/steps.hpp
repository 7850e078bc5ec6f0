// Steps of motion, docs/simulation.md (S2.1), (S2.2): written once for a run in doubles and for runs in lanes. Loops go over
// blocks of kBlock numbers; arrays have room for whole blocks.
#pragma once

#include <cstddef>

namespace zveno {

template <std::size_t kBlock, class F>
void for_blocks(std::size_t size, const F& f) {
  for (std::size_t i = 0; i < size; i += kBlock)
    for (std::size_t k = i; k < i + kBlock; ++k) f(k);
}

// h of the second stage
template <class T>
T first_way(const T& dt) {
  return dt * T(0.5);
}

// (S2.1) from y with its `rate`; rates(t, at, h) gives those of a stage, or null, which ends it; the next one stands h of
// them from y. at, sum: room.
template <std::size_t kBlock, class T, class Rates>
bool rk4_step(double t, double dt, std::size_t size, const T* y, const T* rate, T* at, T* sum, T* next, const Rates& rates) {
  const double way[4] = {first_way(dt), dt * 0.5, dt, 0}, weight[3] = {2, 2, 1};
  for_blocks<kBlock>(size, [&](std::size_t i) { sum[i] = rate[i]; });
  for (int k = 0; k < 3; ++k) {
    const T h(way[k]), w(weight[k]);
    for_blocks<kBlock>(size, [&](std::size_t i) { at[i] = y[i] + h * rate[i]; });
    rate = rates(t + way[k], at, way[k + 1]);
    if (!rate) return false;
    for_blocks<kBlock>(size, [&](std::size_t i) { sum[i] += w * rate[i]; });
  }
  const T sixth(dt / 6);
  for_blocks<kBlock>(size, [&](std::size_t i) { next[i] = y[i] + sixth * sum[i]; });
  return true;
}

// y + dt rate
template <std::size_t kBlock, class T>
void euler_step(double dt, std::size_t size, const T* y, const T* rate, T* next) {
  const T h(dt);
  for_blocks<kBlock>(size, [&](std::size_t i) { next[i] = y[i] + h * rate[i]; });
}

// power of efforts and of the links' friction: sum of (tau - friction qd) speed
template <class T>
T joint_power(int n, const T* tau, const double* friction, const T* qd, const T* speed) {
  T sum(0.0);
  for (int j = 0; j < n; ++j) sum += (tau[j] - T(friction[j]) * qd[j]) * speed[j];
  return sum;
}

// (S2.2) what follows the new velocities `speed` of a semi-implicit step: coordinates
template <class T>
void follow_speed(double dt, int n, const T* q, const T* speed, T* next) {
  for (int j = 0; j < n; ++j) next[j] = q[j] + T(dt) * speed[j];
}

}  // namespace zveno
