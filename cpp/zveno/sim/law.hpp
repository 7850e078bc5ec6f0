// Forces of the drives as functions of time, coordinate and rate of a joint. Laws switch on values, so they are
// plain double and no kernels. A law is a short program of terms; to evaluate it allocates nothing.
//
// A positive force increases the coordinate. Units: N, m for a slide; N m, rad for a hinge.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace zveno {

struct JointState {
  double t, x, v;  // time, coordinate, rate
};

struct SpringDamper {
  double force, stiffness, damping, reference;
  double operator()(const JointState& s) const { return force - stiffness * (s.x - reference) - damping * s.v; }
};

// smooth: creeps under any load; see LuGre for sticking
struct DryFriction {
  double force, speed;
  double operator()(const JointState& s) const { return -force * std::tanh(s.v / speed); }
};

// springs and dampers beyond the ends; dampers act inwards only, so that a stop never pulls
struct Stops {
  double lower, upper, stiffness, damping;
  double operator()(const JointState& s) const {
    if (s.x > upper) return -stiffness * (s.x - upper) - damping * std::max(s.v, 0.0);
    if (s.x < lower) return -stiffness * (s.x - lower) - damping * std::min(s.v, 0.0);
    return 0;
  }
};

// eddy currents: -force at rate = speed is the largest
struct EddyBrake {
  double force, speed;
  double operator()(const JointState& s) const {
    const double w = s.v / speed;
    return std::fabs(w) < 1 ? -2 * force * w / (1 + w * w) : -2 * force / (w + 1 / w);
  }
};

// ---- references of a servo: value and rate

struct Reference {
  double value, rate;
};

struct Constant {
  double value;
  Reference at(double) const { return {value, 0}; }
};

// rests at `from`, leaves at time `begin`, stops at `to`
struct Ramp {
  double from, to, speed, begin;
  Reference at(double t) const {
    const double way = to - from, moved = speed * (t - begin);
    if (!(moved >= 0)) return {from, 0};
    if (moved >= std::fabs(way)) return {to, 0};
    return {from + std::copysign(moved, way), std::copysign(speed, way)};
  }
};

// numbers over time: linear between samples, constant outside
struct Samples {
  std::vector<double> times, values;  // values: width numbers for each time

  // first: index of the sample at or before t; weight: of the next one
  std::pair<std::size_t, double> find(double t) const {
    if (!(t >= times.front())) return {0, 0};
    const std::size_t after = std::upper_bound(times.begin(), times.end(), t) - times.begin();
    if (after == times.size()) return {after - 1, 0};
    return {after - 1, (t - times[after - 1]) / (times[after] - times[after - 1])};
  }
};

struct Table {
  std::shared_ptr<const Samples> samples;
  Reference at(double t) const {
    const auto [i, weight] = samples->find(t);
    const double* y = samples->values.data() + i;
    const bool outside = i + 1 == samples->times.size() || t < samples->times.front();
    if (outside) return {*y, 0};
    const double slope = (y[1] - y[0]) / (samples->times[i + 1] - samples->times[i]);
    return {y[0] + weight * (y[1] - y[0]), slope};
  }
};

// position servo with a limited force
struct Servo {
  double stiffness, damping, limit;
  std::variant<Constant, Ramp, Table> reference;
  double operator()(const JointState& s) const {
    const Reference r = std::visit([&](const auto& x) { return x.at(s.t); }, reference);
    return std::clamp(stiffness * (r.value - s.x) + damping * (r.rate - s.v), -limit, limit);
  }
};

// Friction with true sticking (Canudas de Wit et al. 1995): bristles of deflection z between the surfaces, z' = v - decay z.
struct LuGre {
  double force, breakaway, speed, stiffness, damping, viscous;
  double decay(double v) const {
    const double w = v / speed;
    return stiffness * std::fabs(v) / (force + (breakaway - force) * std::exp(-w * w));
  }
  double operator()(const JointState& s, double z, double& rate) const {
    rate = s.v - decay(s.v) * z;
    return -(stiffness * z + damping * rate + viscous * s.v);
  }
  // deflection in steady sliding
  double settled(double v) const { return v == 0 ? 0 : v / decay(v); }
};

// limits the sum of the `terms` terms that follow it
struct SlipClutch {
  double limit;
  int terms;
};

using Term = std::variant<SpringDamper, DryFriction, Stops, EddyBrake, Servo, LuGre, SlipClutch>;

// Sum of terms. A term with an internal state (LuGre) has its place in z, in the order of the program.
class JointLaw {
 public:
  static constexpr int kMostStates = 4;
  static constexpr int kMostNesting = 32;

  JointLaw() = default;
  explicit JointLaw(std::vector<Term> terms) : terms_(std::move(terms)) {
    check(0, static_cast<int>(terms_.size()), 0);
    for (const Term& term : terms_) states_ += std::holds_alternative<LuGre>(term);
    if (states_ > kMostStates) throw std::invalid_argument("laws: more than four LuGre terms in the law of a joint");
  }

  const std::vector<Term>& terms() const { return terms_; }
  bool empty() const { return terms_.empty(); }
  int states() const { return states_; }

  // z, rate of z: states() numbers
  double force(const JointState& s, const double* z, double* z_rate) const {
    int used = 0;
    return sum(0, static_cast<int>(terms_.size()), s, z, z_rate, used);
  }

  // z' = v - decay z: what an exponential step needs
  void decays(const JointState& s, double* decay) const {
    for (const Term& term : terms_)
      if (const auto* friction = std::get_if<LuGre>(&term)) *decay++ = friction->decay(s.v);
  }

  void settled(const JointState& s, double* z) const {
    for (const Term& term : terms_)
      if (const auto* friction = std::get_if<LuGre>(&term)) *z++ = friction->settled(s.v);
  }

 private:
  void check(int begin, int end, int depth) const {
    if (depth > kMostNesting) throw std::invalid_argument("laws: slip clutches are nested more than 32 deep");
    for (int i = begin; i < end; ++i)
      if (const auto* clutch = std::get_if<SlipClutch>(&terms_[i])) {
        if (clutch->terms < 0 || clutch->terms > end - i - 1)
          throw std::invalid_argument("laws: slip clutch without its terms");
        check(i + 1, i + 1 + clutch->terms, depth + 1);
        i += clutch->terms;
      }
  }

  double sum(int begin, int end, const JointState& s, const double* z, double* z_rate, int& used) const {
    double total = 0;
    for (int i = begin; i < end; ++i) {
      const Term& term = terms_[i];
      if (const auto* clutch = std::get_if<SlipClutch>(&term)) {
        const double inner = sum(i + 1, i + 1 + clutch->terms, s, z, z_rate, used);
        total += std::clamp(inner, -clutch->limit, clutch->limit);
        i += clutch->terms;
      } else if (const auto* friction = std::get_if<LuGre>(&term)) {
        total += (*friction)(s, z[used], z_rate[used]);
        ++used;
      } else {
        total += std::visit(
            [&](const auto& law) {
              using L = std::decay_t<decltype(law)>;
              if constexpr (std::is_same_v<L, LuGre> || std::is_same_v<L, SlipClutch>)
                return 0.0;
              else
                return law(s);
            },
            term);
      }
    }
    return total;
  }

  std::vector<Term> terms_;
  int states_ = 0;
};

}  // namespace zveno
