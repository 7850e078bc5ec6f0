// Passing of a bound, found inside a step on the cubic through coordinate and rate at both its ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <zveno/sim/law.hpp>

namespace zveno {

// coordinate within a step from its values and rates at both ends
struct Hermite {
  double p0, p1, m0, m1;  // m: rate times step
  double operator()(double s) const {
    if (s == 0) return p0;
    if (s == 1) return p1;
    const double c = 3 * (p1 - p0) - 2 * m0 - m1, d = 2 * (p0 - p1) + m0 + m1;
    return p0 + s * (m0 + s * (c + s * d));
  }
  double slope(double s) const {
    const double c = 3 * (p1 - p0) - 2 * m0 - m1, d = 2 * (p0 - p1) + m0 + m1;
    return m0 + s * (2 * c + 3 * s * d);
  }
  // where the curve turns inside (0, 1), in order
  int turns(double* s) const {
    const double a = 3 * (2 * (p0 - p1) + m0 + m1), b = 3 * (p1 - p0) - 2 * m0 - m1, c = m0;  // a s^2 + 2 b s + c
    const double root = b * b - a * c;
    if (!(root > 0)) return 0;
    const double q = -(b + std::copysign(std::sqrt(root), b));
    const double candidates[2] = {a != 0 ? q / a : -1, q != 0 ? c / q : -1};
    int count = 0;
    for (double x : candidates)
      if (x > 0 && x < 1) s[count++] = x;
    if (count == 2 && s[0] > s[1]) std::swap(s[0], s[1]);
    return count;
  }
  // the curve lies between its control points
  double most() const { return std::max(std::max(p0, p1), std::max(p0 + m0 / 3, p1 - m1 / 3)); }
  double least() const { return std::min(std::min(p0, p1), std::min(p0 + m0 / 3, p1 - m1 / 3)); }
};

// a joint passes an end of its way
struct StopEvent {
  double time;
  int joint;
  bool upper, enters;
  double rate;
};

class Events {
 public:
  // the stops of a joint's law, or else its limits
  void watch(int joint, const JointLaw& law, double lower, double upper) {
    const std::size_t first = bounds_.size();
    const auto add = [&](double low, double high) {
      for (const Bound& b : {Bound{joint, false, low}, Bound{joint, true, high}}) {
        const auto same = [&](const Bound& x) { return x.upper == b.upper && x.at == b.at; };
        if (std::isfinite(b.at) && std::none_of(bounds_.begin() + static_cast<std::ptrdiff_t>(first), bounds_.end(), same))
          bounds_.push_back(b);
      }
    };
    bool stops = false;
    for (const Term& term : law.terms())
      if (const auto* s = std::get_if<Stops>(&term)) add(s->lower, s->upper), stops = true;
    if (!stops) add(lower, upper);
  }

  // p, v: coordinates and rates of the joints at both ends of a step from t
  void find(double t, double dt, const double* p0, const double* v0, const double* p1, const double* v1) {
    const std::size_t first = found_.size();
    for (const Bound& b : bounds_) {
      const Hermite way{p0[b.joint], p1[b.joint], dt * v0[b.joint], dt * v1[b.joint]};
      const double most = way.most(), least = way.least();
      if (b.upper ? most <= b.at || least > b.at : least >= b.at || most < b.at) continue;
      const auto beyond = [&](double s) { return b.upper ? way(s) > b.at : way(s) < b.at; };
      double ends[4] = {0};
      const int turns = way.turns(ends + 1);
      ends[turns + 1] = 1;
      bool was = beyond(0);
      for (int i = 0; i <= turns; ++i) {
        const bool is = beyond(ends[i + 1]);
        if (is == was) continue;
        double a = ends[i], c = ends[i + 1];
        for (int k = 0; k < 60; ++k) {
          const double middle = 0.5 * (a + c);
          (beyond(middle) == was ? a : c) = middle;
        }
        found_.push_back({t + dt * c, b.joint, b.upper, is, way.slope(c) / dt});
        was = is;
      }
    }
    if (found_.size() > first + 1)
      std::sort(
          found_.begin() + static_cast<std::ptrdiff_t>(first), found_.end(),
          [](const StopEvent& a, const StopEvent& b) { return a.time != b.time ? a.time < b.time : a.joint < b.joint; });
  }

  const std::vector<StopEvent>& found() const { return found_; }

 private:
  struct Bound {
    int joint;
    bool upper;
    double at;
  };
  std::vector<Bound> bounds_;
  std::vector<StopEvent> found_;
};

}  // namespace zveno
