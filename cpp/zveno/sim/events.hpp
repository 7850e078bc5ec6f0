// Passing of a bound, found inside a step on the cubic through coordinate and rate at both its ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <zveno/functions/law.hpp>

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
  // the curve lies between its control points p0, p0 + m0 / 3, p1 - m1 / 3, p1
  double most() const { return std::max(p0 + std::max(0.0, kThird * m0), p1 + std::max(0.0, -kThird * m1)); }
  double least() const { return std::min(p0 + std::min(0.0, kThird * m0), p1 + std::min(0.0, -kThird * m1)); }
  static constexpr double kThird = 0.34;  // and some room for rounding
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
    Watched w{joint, -kInfinity, kInfinity, {}};
    const auto add = [&](double at, bool is_upper) {
      const auto same = [&](const Bound& x) { return x.upper == is_upper && x.at == at; };
      if (!std::isfinite(at) || std::any_of(w.bounds.begin(), w.bounds.end(), same)) return;
      w.bounds.push_back({is_upper, at});
      (is_upper ? w.upper : w.lower) = is_upper ? std::min(w.upper, at) : std::max(w.lower, at);
    };
    bool stops = false;
    const auto add_both = [&](const auto* s) {
      if (s) add(s->lower, false), add(s->upper, true), stops = true;
    };
    for (const Term& term : law.terms()) add_both(std::get_if<Stops>(&term)), add_both(std::get_if<Bumpers>(&term));
    if (!stops) add(lower, false), add(upper, true);
    if (!w.bounds.empty()) watched_.push_back(std::move(w));
  }

  // p, v: coordinates and rates of the joints at both ends of a step from t
  void find(double t, double dt, const double* p0, const double* v0, const double* p1, const double* v1) {
    find(t, dt, p0, v0, p1, v1, found_);
  }
  void find(double t, double dt, const double* p0, const double* v0, const double* p1, const double* v1,
            std::vector<StopEvent>& found) const {
    const std::size_t first = found.size();
    for (const Watched& w : watched_) {
      const int k = w.joint;
      const Hermite way{p0[k], p1[k], dt * v0[k], dt * v1[k]};
      if (way.most() <= w.upper && way.least() >= w.lower) continue;
      for (const Bound& b : w.bounds) find(t, dt, k, way, b, found);
    }
    if (found.size() > first + 1)
      std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(), [](const StopEvent& a, const StopEvent& b) {
        return a.time != b.time ? a.time < b.time : a.joint < b.joint;
      });
  }

  const std::vector<StopEvent>& found() const { return found_; }
  // what lies behind the end of the motion
  void drop_after(double t) {
    while (!found_.empty() && found_.back().time > t) found_.pop_back();
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Bound {
    bool upper;
    double at;
  };
  struct Watched {
    int joint;
    double lower, upper;  // the innermost ones
    std::vector<Bound> bounds;
  };

  static void find(double t, double dt, int joint, const Hermite& way, const Bound& b, std::vector<StopEvent>& found) {
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
      found.push_back({t + dt * c, joint, b.upper, is, way.slope(c) / dt});
      was = is;
    }
  }

  std::vector<Watched> watched_;
  std::vector<StopEvent> found_;
};

}  // namespace zveno
