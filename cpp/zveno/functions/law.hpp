// Forces of the drives as functions of time, coordinate and rate of a joint. A law is a short program of terms; to evaluate
// it allocates nothing. Terms are written for lanes: where they switch on values, both ways are worked out.
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

#include <zveno/scalar/exponential.hpp>

namespace zveno {

// SpringDamperOf<double> holds the numbers of one joint, those of packs the numbers of several; they are nothing but
// numbers. x, v: coordinate, rate.
template <class T>
struct SpringDamperOf {
  T force, stiffness, damping, reference;
  T operator()(const T& x, const T& v) const { return force - stiffness * (x - reference) - damping * v; }
};
using SpringDamper = SpringDamperOf<double>;

// smooth: creeps under any load; see LuGre for sticking
template <class T>
struct DryFrictionOf {
  T force, speed;
  T operator()(const T&, const T& v) const { return -force * tanh_of(v / speed); }
};
using DryFriction = DryFrictionOf<double>;

// springs and dampers beyond the ends; dampers act inwards only, so that a stop never pulls
template <class T>
struct StopsOf {
  T lower, upper, stiffness, damping;
  T operator()(const T& x, const T& v) const {
    const T zero(0.0);
    const auto out = above(v, zero);
    const T over = -stiffness * (x - upper) - damping * chosen(out, v, zero);
    const T under = -stiffness * (x - lower) - damping * chosen(out, zero, v);
    return chosen(above(x, upper), over, chosen(above(lower, x), under, zero));
  }
};
using Stops = StopsOf<double>;

// Stops that set in smoothly: -stiffness ramp(depth) max(0, 1 + damping v), v into the stop. ramp(x) = blend c^3 (1 - c/2) +
// max(x - blend, 0), c = x / blend within 0 and 1.
template <class T>
struct BumpersOf {
  T lower, upper, stiffness, damping, blend;
  T operator()(const T& x, const T& v) const { return push(lower - x, -v) - push(x - upper, v); }

 private:
  T push(const T& depth, const T& inward) const {
    const T zero(0.0), one(1.0), rest = depth - blend, rise = one + damping * inward;
    const T part = chosen(above(depth, zero), chosen(above(blend, depth), depth / blend, one), zero);
    const T ramp = blend * (part * part * part) * (one - T(0.5) * part) + chosen(above(rest, zero), rest, zero);
    return chosen(above(depth, zero), stiffness * ramp * chosen(above(rise, zero), rise, zero), zero);
  }
};
using Bumpers = BumpersOf<double>;

// eddy currents: -force at rate = speed is the largest
template <class T>
struct EddyBrakeOf {
  T force, speed;
  T operator()(const T&, const T& v) const {
    const T w = v / speed, one(1.0), most = T(-2.0) * force;
    return chosen(above(one, size_of(w)), most * w / (one + w * w), most / (w + one / w));
  }
};
using EddyBrake = EddyBrakeOf<double>;

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

// a number that somebody else sets, held over a step
struct Given {
  const double* value;
  Reference at(double) const { return {*value, 0}; }
};

template <class T>
T limited(const T& x, const T& limit) {
  const T low = chosen(above(-limit, x), -limit, x);
  return chosen(above(low, limit), limit, low);
}

// position servo with a limited force
template <class T>
struct ServoOf {
  T stiffness, damping, limit;
  T operator()(const T& x, const T& v, const T& value, const T& rate) const {
    return limited(stiffness * (value - x) + damping * (rate - v), limit);
  }
};
struct Servo {
  ServoOf<double> of;
  std::variant<Constant, Ramp, Table, Given> reference;
  Reference at(double t) const {
    return std::visit([&](const auto& r) { return r.at(t); }, reference);
  }
};

// Friction with true sticking (Canudas de Wit et al. 1995): bristles of deflection z between the surfaces, z' = v - decay z.
template <class T>
struct LuGreOf {
  T force, breakaway, speed, stiffness, damping, viscous;
  T decay(const T& v) const {
    const T w = v / speed;
    return stiffness * size_of(v) / (breakaway + (breakaway - force) * expm1_of(-w * w));
  }
  T operator()(const T& v, const T& z, const T& decay, T& rate) const {
    rate = v - decay * z;
    return -(stiffness * z + damping * rate + viscous * v);
  }
  // deflection in steady sliding
  T settled(const T& v) const { return chosen(above(size_of(v), T(0.0)), v / decay(v), T(0.0)); }
  // dt times the mean of z' over a step with constant v
  static T step(const T& rate, const T& decay, double dt) {
    const T x = T(dt) * decay, one(1.0);
    return T(dt) * rate * chosen(above(T(1e-8), x), one - T(0.5) * x, -expm1_of(-x) / x);
  }
};
using LuGre = LuGreOf<double>;

// A formula of the user: straight-line arithmetic in registers. First stand t, x - reference and v, then constants, then
// what each operation gives; the last one is the force.
struct FormulaProgram {
  enum class Op : int { add, sub, mul, div, neg, sqrt, abs, exp, tanh, sin, cos, min, max, choose };
  static constexpr int kOps = 14, kInputs = 3, kMostRegisters = 256;
  struct Step {
    Op op;
    int a, b, c, d;  // choose: c where a > b, else d
    friend bool operator==(const Step& x, const Step& y) {
      return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
    }
  };
  std::vector<double> constants;
  std::vector<Step> steps;

  FormulaProgram(std::vector<double> numbers, std::vector<Step> operations)
      : constants(std::move(numbers)), steps(std::move(operations)) {
    const int first = kInputs + static_cast<int>(constants.size()), count = static_cast<int>(steps.size());
    if (count == 0) throw std::invalid_argument("laws: a formula without operations");
    if (first + count > kMostRegisters)
      throw std::invalid_argument("laws: a formula of more than 253 numbers and operations");
    for (int i = 0; i < count; ++i)
      for (const int r : {steps[i].a, steps[i].b, steps[i].c, steps[i].d})
        if (r < 0 || r >= first + i) throw std::invalid_argument("laws: a formula uses what it has not computed");
  }
  friend bool operator==(const FormulaProgram& x, const FormulaProgram& y) {
    return x.constants == y.constants && x.steps == y.steps;
  }
};
struct Formula {
  double reference;
  std::shared_ptr<const FormulaProgram> program;
};

// limits the sum of the `terms` terms that follow it
struct SlipClutch {
  double limit;
  int terms;
};

using Term = std::variant<SpringDamper, DryFriction, Stops, Bumpers, EddyBrake, Servo, LuGre, Formula, SlipClutch>;

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

  std::vector<Term> terms_;
  int states_ = 0;
};

// Laws of the joints of a mechanism, evaluated side by side. Internal states stand joint by joint.
class JointLaws {
 public:
  virtual ~JointLaws() = default;
  // of all joints; z' = v - decay z: rates of the internal states, decays where there is room for them
  virtual void forces(double t, const double* x, const double* v, const double* z, double* z_rate, double* decay,
                      double* force) const = 0;
  // internal states of steady sliding
  virtual void settle(const double* v, double* z) const = 0;
  // next <- internal states after a step with constant v: bristles relax faster than a step
  virtual void relax(double dt, const double* z, const double* z_rate, const double* decay, double* next) const = 0;
};

std::unique_ptr<JointLaws> make_laws(const std::vector<JointLaw>& laws);

}  // namespace zveno
