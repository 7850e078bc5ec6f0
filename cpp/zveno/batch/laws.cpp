// Laws of joints in lanes: neighbours whose laws have the same terms stand side by side.
#include <zveno/functions/law.hpp>

#include <algorithm>

#include <zveno/scalar/angle.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {
namespace {

constexpr auto at(int i) { return static_cast<std::size_t>(i); }

// a law that is nothing but numbers, with those of a joint in every lane; of(l): that of lane l
template <template <class> class Law, class Of>
Law<Packed> side_by_side(const Of& of) {
  constexpr int kNumbers = sizeof(Law<double>) / sizeof(double);
  static_assert(sizeof(Law<Packed>) == kNumbers * sizeof(Packed));
  double numbers[kLanes][kNumbers];
  const double* lane[kLanes];
  for (int l = 0; l < kLanes; ++l) std::memcpy(numbers[l], &of(l), sizeof numbers[l]), lane[l] = numbers[l];
  Packed packs[kNumbers];
  for (int i = 0; i < kNumbers; ++i) packs[i] = Packed::across(lane, i);
  Law<Packed> law;
  std::memcpy(&law, packs, sizeof packs);
  return law;
}

struct ServoLanes {
  ServoOf<Packed> of;
  const Servo* own[kLanes];
};
struct LuGreLanes {
  LuGreOf<Packed> of;
  int place;  // among the states of a joint
};
struct FormulaLanes {
  Packed reference;
  const FormulaProgram* program;
};
struct SlipClutchLanes {
  Packed limit;
  int terms;
};
using Lane = std::variant<SpringDamperOf<Packed>, DryFrictionOf<Packed>, StopsOf<Packed>, BumpersOf<Packed>,
                          EddyBrakeOf<Packed>, ServoLanes, LuGreLanes, FormulaLanes, SlipClutchLanes>;

// the same program, but for its numbers
bool alike(const JointLaw& a, const JointLaw& b) {
  const auto same = [](const Term& x, const Term& y) {
    if (x.index() != y.index()) return false;
    if (const auto* formula = std::get_if<Formula>(&x)) return *formula->program == *std::get<Formula>(y).program;
    const auto* clutch = std::get_if<SlipClutch>(&x);
    return !clutch || clutch->terms == std::get<SlipClutch>(y).terms;
  };
  return std::equal(a.terms().begin(), a.terms().end(), b.terms().begin(), b.terms().end(), same);
}

// neighbours in lanes; those beyond `count` repeat the last joint
struct Group {
  int first, count;
  int state[kLanes];  // where those of each joint begin
  std::vector<Lane> terms;

  Packed read(const double* x) const { return Packed::of(x + first, count); }
  void write(const Packed& x, double* to) const {
    ZVENO_UNROLL  // as a loop it would become a call of memcpy
        for (int l = 0; l < kLanes; ++l) if (l < count) to[first + l] = x[l];
  }
  Packed read_state(const double* z, int place) const {
    const double* lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = z + state[l];
    return Packed::across(lane, place);
  }
  void write_state(const Packed& x, int place, double* z) const {
    for (int l = 0; l < count; ++l) z[state[l] + place] = x[l];
  }
};

class LaneLaws : public JointLaws {
 public:
  explicit LaneLaws(std::vector<JointLaw> laws) : laws_(std::move(laws)) {
    const int joints = static_cast<int>(laws_.size());
    for (int k = 0, state = 0; k < joints;) {
      Group group{k, 0, {}, {}};
      while (k < joints && group.count < kLanes && alike(laws_[at(group.first)], laws_[at(k)])) {
        group.state[group.count++] = state;
        state += laws_[at(k++)].states();
      }
      std::fill(group.state + group.count, group.state + kLanes, group.state[group.count - 1]);
      const int terms = static_cast<int>(laws_[at(group.first)].terms().size());
      for (int i = 0, place = 0; i < terms; ++i) group.terms.push_back(lanes_of(group, i, place));
      if (terms > 0)
        groups_.push_back(std::move(group));
      else
        lawless_ = true;
    }
  }

  void forces(double t, const double* x, const double* v, const double* z, double* z_rate, double* decay,
              double* force) const override {
    if (lawless_) std::fill_n(force, laws_.size(), 0.0);
    for (const Group& group : groups_) {
      const Call call{group, t, group.read(x), group.read(v), z, z_rate, decay};
      const Packed total = sum(call, 0, static_cast<int>(group.terms.size()));
      group.write(total, force);
    }
  }

  void settle(const double* v, double* z) const override {
    for_friction(
        [&](const Group& group, const LuGreLanes& law) { group.write_state(law.of.settled(group.read(v)), law.place, z); });
  }

  void relax(double dt, const double* z, const double* z_rate, const double* decay, double* next) const override {
    for_friction([&](const Group& group, const LuGreLanes& law) {
      const auto read = [&](const double* state) { return group.read_state(state, law.place); };
      group.write_state(read(z) + law.of.step(read(z_rate), read(decay), dt), law.place, next);
    });
  }

 private:
  struct Call {
    const Group& group;
    double t;
    Packed x, v;
    const double* z;
    double *z_rate, *decay;
  };

  // term i of a group; place: of the next internal state
  Lane lanes_of(const Group& group, int i, int& place) const {
    const auto term = [&](int l) -> const Term& {
      return laws_[at(group.first + std::min(l, group.count - 1))].terms()[at(i)];
    };
    return std::visit(
        [&](const auto& one) -> Lane {
          using Law = std::decay_t<decltype(one)>;
          const auto own = [&](int l) -> const Law& { return std::get<Law>(term(l)); };
          if constexpr (std::is_same_v<Law, Servo>) {
            ServoLanes lanes{side_by_side<ServoOf>([&](int l) -> const ServoOf<double>& { return own(l).of; }), {}};
            for (int l = 0; l < kLanes; ++l) lanes.own[l] = &own(l);
            return lanes;
          } else if constexpr (std::is_same_v<Law, LuGre>) {
            return LuGreLanes{side_by_side<LuGreOf>(own), place++};
          } else if constexpr (std::is_same_v<Law, Formula>) {
            double reference[kLanes];
            for (int l = 0; l < kLanes; ++l) reference[l] = own(l).reference;
            return FormulaLanes{Packed::load(reference), one.program.get()};
          } else if constexpr (std::is_same_v<Law, SlipClutch>) {
            double limit[kLanes];
            for (int l = 0; l < kLanes; ++l) limit[l] = own(l).limit;
            return SlipClutchLanes{Packed::load(limit), one.terms};
          } else {
            return plain_lanes(one, own);
          }
        },
        term(0));
  }
  template <template <class> class Law, class Own>
  static Law<Packed> plain_lanes(const Law<double>&, const Own& own) {
    return side_by_side<Law>(own);
  }

  template <class F>
  void for_friction(const F& f) const {
    for (const Group& group : groups_)
      for (const Lane& term : group.terms)
        if (const auto* law = std::get_if<LuGreLanes>(&term)) f(group, *law);
  }

  static Packed sum(const Call& c, int begin, int end) {
    Packed total(0.0);
    for (int i = begin; i < end; ++i) {
      const Lane& term = c.group.terms[at(i)];
      if (const auto* clutch = std::get_if<SlipClutchLanes>(&term)) {
        total += limited(sum(c, i + 1, i + 1 + clutch->terms), clutch->limit);
        i += clutch->terms;
      } else {
        total += std::visit([&](const auto& law) { return force(c, law); }, term);
      }
    }
    return total;
  }
  template <class Law>
  static Packed force(const Call& c, const Law& law) {
    return law(c.x, c.v);
  }
  static Packed force(const Call&, const SlipClutchLanes&) { return 0.0; }
  static Packed force(const Call& c, const LuGreLanes& law) {
    const Packed decay = law.of.decay(c.v);
    Packed rate;
    const Packed force = law.of(c.v, c.group.read_state(c.z, law.place), decay, rate);
    c.group.write_state(rate, law.place, c.z_rate);
    if (c.decay) c.group.write_state(decay, law.place, c.decay);
    return force;
  }
  static Packed force(const Call& c, const FormulaLanes& law) {
    using Op = FormulaProgram::Op;
    Packed r[FormulaProgram::kMostRegisters], other, *to = r + FormulaProgram::kInputs;
    r[0] = c.t, r[1] = c.x - law.reference, r[2] = c.v;
    for (const double x : law.program->constants) *to++ = x;
    for (const FormulaProgram::Step& s : law.program->steps) {
      const Packed &a = r[s.a], &b = r[s.b];
      switch (s.op) {
        case Op::add: *to = a + b; break;
        case Op::sub: *to = a - b; break;
        case Op::mul: *to = a * b; break;
        case Op::div: *to = a / b; break;
        case Op::neg: *to = -a; break;
        case Op::sqrt: *to = root(a); break;
        case Op::abs: *to = size_of(a); break;
        case Op::exp: *to = expm1_of(a) + Packed(1.0); break;
        case Op::tanh: *to = tanh_of(a); break;
        case Op::sin: sincos<1>(&a, to, &other); break;
        case Op::cos: sincos<1>(&a, &other, to); break;
        case Op::min: *to = chosen(above(a, b), b, a); break;
        case Op::max: *to = chosen(above(a, b), a, b); break;
        case Op::choose: *to = chosen(above(a, b), r[s.c], r[s.d]); break;
      }
      ++to;
    }
    return to[-1];
  }
  static Packed force(const Call& c, const ServoLanes& law) {
    double value[kLanes], rate[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const Reference r = law.own[l]->at(c.t);
      value[l] = r.value, rate[l] = r.rate;
    }
    return law.of(c.x, c.v, Packed::of(value, kLanes), Packed::of(rate, kLanes));
  }

  std::vector<JointLaw> laws_;
  std::vector<Group> groups_;
  bool lawless_ = false;  // some joints
};

}  // namespace

std::unique_ptr<JointLaws> make_laws(const std::vector<JointLaw>& laws) { return std::make_unique<LaneLaws>(laws); }

}  // namespace zveno
