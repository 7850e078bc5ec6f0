// Dockings in lanes: mechanisms leg by leg, sums over the legs in their order, as in free_motion.cpp: same bits. Contact has
// nodes in its lanes already and is asked for docking after docking; so are legs of any geometry.
#include <zveno/functions/docking_lanes.hpp>

#include <algorithm>
#include <vector>

#include <zveno/batch/custom_legs.hpp>
#include <zveno/batch/lanes.hpp>
#include <zveno/functions/free_equations.hpp>

namespace zveno::docking {
namespace {

constexpr int kDriven = padded(2 * kLegs), kShare = padded(leg::kFreeShare), kStates = kState - kZ;

// a number of each lane side by side <- rows of lanes
void collect(const double* const (&rows)[kLanes], int n, Packed* out) {
  int j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    Packed block[kLanes];
    for (int l = 0; l < kLanes; ++l) block[l] = Packed::load(rows[l] + j);
    transpose(block);
    ZVENO_UNROLL
    for (int l = 0; l < kLanes; ++l) out[j + l] = block[l];
  }
  for (; j < n; ++j) out[j] = Packed::across(rows, j);
}

// custom legs of a lane
struct CustomLane {
  explicit CustomLane(const Hexapod& hexapod) : legs(hexapod) {}
  CustomLegs legs;
  HexState<double> s{};
  double position[kLegs] = {}, rate[kLegs] = {};
  alignas(64) double shares[kLegs][kShare] = {};
};

// numbers that differ from lane to lane and seldom change
template <int N>
struct PerLane {
  alignas(64) double number[N][kLanes] = {};
  void set(int lane, const double* x) {
    for (int i = 0; i < N; ++i) number[i][lane] = x[i];
  }
  void read(Packed* to) const {
    for (int i = 0; i < N; ++i) to[i] = Packed::load(number[i]);
  }
};

template <class S>
const double* numbers(const S& s) {
  return reinterpret_cast<const double*>(&s);
}

struct Ring {
  explicit Ring(const Hexapod& hexapod) : of(hexapod) {
    for (const LegGroup& group : hexapod.groups()) {
      const LegCalls calls = calls_of<Packed>(group.type, group.symmetric, BaseKind::free);
      for (int m = 0; m < group.count; ++m) {
        Leg& leg = legs[group.legs[m]];
        leg.calls = calls;
        leg.actuated = hexapod.chain(group.legs[m]).actuated;
        leg.held.resize(calls.lines);
        for (int i = 0; i < leg::kParams; ++i)
          std::fill_n(leg.params + i * leg::kSlots, leg::kSlots, group.params.number[i * leg::kSlots + m]);
      }
    }
    std::fill_n(reinterpret_cast<Packed*>(&s), HexState<Packed>::kSize, Packed(0.0));
    for (int k = 0; k < kLegs; ++k) legs[k].custom = CustomLegs::is_custom(hexapod, k);
    for (int l = 0; hexapod.has_custom() && l < kLanes; ++l) custom.emplace_back(hexapod);
  }

  // closes the legs; lanes: those in use; bad: set where one does not
  void place(const Packed* state, const Packed* RC, const bool (&lanes)[kLanes], bool (&bad)[kLanes]) {
    for (int i = 0; i < 3; ++i) s.r[i] = state[kRC + i];
    for (int i = 0; i < 9; ++i) s.R[i] = RC[i];
    for (int i = 0; i < 6; ++i) s.u[i] = state[kU + i];
    if (!custom.empty()) place_custom(lanes, bad);
    for (int k = 0; k < kLegs; ++k) {
      Packed own[leg::kFreeShare], measure[4], rates[4];
      Packed* share = k ? own : sums.total;
      Leg& leg = legs[k];
      if (leg.custom) {
        read_share(k, 0, leg::kFreeShare, share);
      } else {
        leg.calls.place(leg.params, s.input(), leg.held.data(), share, measure);
        if (!all_above(measure, 4, kTinySquare))
          for (int l = 0; l < kLanes; ++l)
            for (int i = 0; i < 4; ++i) bad[l] |= !(measure[i][l] > kTinySquare);
      }
      for (const auto& [begin, end] :
           {Range{leg::kMatrix, leg::kRight}, Range{leg::kCoupling, leg::kBaseRight}, Range{leg::kMoment, leg::kFreeShare}})
        for (int i = begin; k && i < end; ++i) sums.total[i] += own[i];
      if (leg.custom) continue;
      leg.calls.driven(leg.held.data(), driven[k], rates);
      driven[kLegs + k] = rates[leg.actuated];
    }
    of.make(s.r, s.R, s.u, sums);
  }

  void finish(const Packed* omega, const Packed* tau, const bool (&lanes)[kLanes], const Packed* base_wrench,
              Packed* acceleration, Packed* base_acceleration) {
    for (int i = 0; i < 3; ++i) s.flow[3 + i] = omega[i];
    Packed right[6], base_right[6];
    if (!custom.empty()) drive_custom(omega, tau, lanes);
    for (int k = 0; k < kLegs; ++k) {
      Packed share[leg::kFreeShare], forces[4] = {0.0, 0.0, 0.0, 0.0};
      Leg& leg = legs[k];
      if (leg.custom) {
        read_share(k, leg::kRight, leg::kRight + 6, share);
        read_share(k, leg::kBaseRight, leg::kBaseRight + 6, share);
      } else {
        forces[leg.actuated] = tau[k];
        leg.calls.move(leg.params, s.input(), leg.held.data(), share);
        leg.calls.drive(forces, leg.held.data(), share + leg::kRight, false);
      }
      for (int i = 0; i < 6; ++i) {
        right[i] = k ? right[i] + share[leg::kRight + i] : share[leg::kRight + i];
        base_right[i] = k ? base_right[i] + share[leg::kBaseRight + i] : share[leg::kBaseRight + i];
      }
    }
    of.finish(s, base_wrench, right, base_right, acceleration, base_acceleration);
    for (int i = 0; i < 3; ++i) s.flow[3 + i] = 0.0;
  }

  ZVENO_COLD void place_custom(const bool (&lanes)[kLanes], bool (&bad)[kLanes]) {
    for (int l = 0; l < kLanes; ++l) {
      if (!lanes[l]) continue;
      CustomLane& x = custom[static_cast<std::size_t>(l)];
      for (int i = 0; i < 3; ++i) x.s.r[i] = s.r[i][l];
      for (int i = 0; i < 9; ++i) x.s.R[i] = s.R[i][l], x.s.flow[i] = 0;
      for (int i = 0; i < 6; ++i) x.s.u[i] = s.u[i][l];
      bad[l] |= !x.legs.place(x.s, nullptr, x.position, x.rate, x.shares);
    }
    const double *position[kLanes], *rate[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const CustomLane& x = custom[static_cast<std::size_t>(l)];
      position[l] = x.position, rate[l] = x.rate;
    }
    for (int k = 0; k < kLegs; ++k)
      if (legs[k].custom) driven[k] = Packed::across(position, k), driven[kLegs + k] = Packed::across(rate, k);
  }
  ZVENO_COLD void drive_custom(const Packed* omega, const Packed* tau, const bool (&lanes)[kLanes]) {
    for (int l = 0; l < kLanes; ++l) {
      if (!lanes[l]) continue;
      CustomLane& x = custom[static_cast<std::size_t>(l)];
      double forces[kLegs];
      for (int i = 0; i < 3; ++i) x.s.flow[3 + i] = omega[i][l];
      for (int k = 0; k < kLegs; ++k) forces[k] = tau[k][l];
      x.legs.drive(x.s, forces, x.shares);
    }
  }
  void read_share(int k, int begin, int end, Packed* share) const {
    const double* rows[kLanes];
    for (int l = 0; l < kLanes; ++l) rows[l] = custom[static_cast<std::size_t>(l)].shares[k] + begin;
    collect(rows, end - begin, share + begin);
  }

  struct Range {
    int begin, end;
  };
  struct Leg {
    alignas(64) double params[leg::kParams * leg::kSlots];
    LegCalls calls;
    int actuated = 0;
    bool custom = false;
    std::vector<CacheLine> held;
  };
  FreeEquations<Packed> of;
  Leg legs[kLegs];
  HexState<Packed> s;
  Sums<Packed> sums;
  Packed driven[kDriven] = {};  // coordinates of the actuated joints, then their rates
  PerLane<CarrierOf<double>::kNumbers> base;
  std::vector<CustomLane> custom;  // one of each lane, if there are such legs
};

class PackedDockings : public DockingLanes {
 public:
  PackedDockings(const Hexapod* const (&rings)[2], const double (&offsets)[2], int size) : size_(size) {
    for (int k = 0; k < 2; ++k) {
      if (rings[k]) ring_[k] = std::make_unique<Ring>(*rings[k]);
      offset_[k] = offsets[k];
      for (int i = 0; i < 9; ++i) at_.RC[k][i] = 0.0;
      for (int i = 0; i < 6; ++i) base_acceleration_[k][i] = 0.0;
    }
  }

  int count() const override { return kLanes; }

  void set_body(int lane, int k, const BodySpec& body) override {
    if (ring_[k]) {
      const CarrierOf<double> c = carrier_of(body);
      ring_[k]->base.set(lane, numbers(c));
    }
    RigidVehicle<double> v;
    v.per_mass = 1 / body.mass;
    double inertia[6];
    int at = 0;
    for (int i = 0; i < 3; ++i) {
      v.com[i] = body.com[i];
      for (int j = i; j < 3; ++j) inertia[at++] = body.inertia(i, j);
    }
    invert(inertia, v.per_inertia);
    rigid_[k].set(lane, numbers(v));
  }

  void step(LaneStep* steps) override {
    const LaneStep* any = nullptr;
    for (int l = 0; l < kLanes; ++l)
      if (steps[l].forces) any = &steps[l];
    if (!any) return;
    const double *y[kLanes], *rate[kLanes], *external[kLanes];
    double h[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const LaneStep& from = steps[l].forces ? steps[l] : *any;
      y[l] = from.y, rate[l] = from.rate, external[l] = from.external[0], h[l] = from.h;
      steps[l].fine = true;
    }
    collect(y, size_, y_), collect(rate, size_, first_), collect(external, 12, external_);
    for (int k = 0; k < 2; ++k) {
      if (ring_[k]) ring_[k]->base.read(reinterpret_cast<Packed*>(&ring_[k]->of.base));
      rigid_[k].read(reinterpret_cast<Packed*>(&body_[k]));
    }
    const Packed length = Packed::load(h);
    steps_ = steps;
    runge_kutta(size_, length, +y_, +first_, +k_, +x_, +next_, [&](int stage) {
      evaluate(x_, [&](const LaneStep& s) { return stage < 2 ? s.t + 0.5 * s.h : s.t + s.h; });
      return true;
    });
    evaluate(next_, [](const LaneStep& s) { return s.end; });
    // to the lanes
    const auto deal = [&](const Packed* from, int n, const auto& row_of) {
      scatter(from, n, kLanes, [&](int l) { return steps[l].forces ? row_of(steps[l]) : spare_; });
    };
    deal(next_, size_, [](const LaneStep& s) { return s.next; });
    deal(k_, size_, [](const LaneStep& s) { return s.then->rate.data(); });
    deal(reinterpret_cast<const Packed*>(&at_), Kinematics<double>::kSize,
         [](const LaneStep& s) { return reinterpret_cast<double*>(static_cast<Kinematics<double>*>(s.then)); });
    deal(base_acceleration_[0], 12, [](const LaneStep& s) { return s.then->base_acceleration[0]; });
  }

 private:
  // rates of a state to k_, everything else to at_; time: of a lane
  template <class Time>
  void evaluate(const Packed* y, const Time& time) {
    bool lanes[kLanes], bad[kLanes] = {};
    for (int l = 0; l < kLanes; ++l) lanes[l] = steps_[l].forces && steps_[l].fine;
    for (int k = 0; k < 2; ++k) {
      const Packed* s = y + k * kVehicle;
      Packed p[6];
      rotation(s + kQ0, at_.R0[k]);
      momentum_in_base(s, at_.R0[k], p);
      if (ring_[k]) {
        rotation(s + kQC, at_.RC[k]);
        ring_[k]->place(s, at_.RC[k], lanes, bad);
        ring_[k]->of.twist(p, at_.twist[k]);
        move_ring(s, offset_[k], k, at_);
      } else {
        move_port(body_[k], s, p, k, at_);
      }
    }
    relate(at_);
    for_lanes([&](int l, LaneStep& s) { s.fine &= !bad[l]; });

    // forces, docking after docking
    alignas(64) double relative[kLanes][24], driven[2][kLanes][kDriven], states[kLanes][padded(kStates)];
    if (size_ > kZ) scatter(y + kZ, kStates, kLanes, [&](int l) { return states[l]; });
    scatter(at_.turn, 18, kLanes, [&](int l) { return relative[l]; });
    for (int k = 0; k < 2; ++k)
      if (ring_[k]) scatter(ring_[k]->driven, kDriven, kLanes, [&](int l) { return driven[k][l]; });
    const double *load[kLanes], *work[kLanes], *tau[2][kLanes], *bristles[kLanes];
    for (int l = 0; l < kLanes; ++l) load[l] = work[l] = tau[0][l] = tau[1][l] = bristles[l] = kNothing;
    for_lanes([&](int l, LaneStep& s) {
      if (!s.fine) return;
      Stage& e = *s.then;
      std::copy_n(relative[l], 9, e.turn), std::copy_n(relative[l] + 9, 3, e.at);
      std::copy_n(relative[l] + 12, 3, e.v), std::copy_n(relative[l] + 15, 3, e.w);
      const double t = time(s);
      s.forces->touch(t, e);
      load[l] = e.load, work[l] = e.rate.data() + kWork, bristles[l] = e.rate.data() + kZ;
      for (int k = 0; k < 2; ++k) {
        if (!ring_[k]) continue;
        s.forces->drive(t, k, driven[k][l], driven[k][l] + kLegs, states[l], e);
        tau[k][l] = e.tau[k];
      }
    });
    if (size_ > kZ) collect(bristles, kStates, k_ + kZ);
    Packed loads[6], leg_power(0.0), external_power(0.0);
    for (int i = 0; i < 6; ++i) loads[i] = Packed::across(load, i);
    for (int i = 0; i < 3; ++i) k_[kWork + i] = Packed::across(work, i);
    Packed defect(0.0);
    const LoadInN<Packed> on_b = load_on_b(loads, at_), on_a = on_b.reversed();
    for (int k = 0; k < 2; ++k) {
      const Packed* s = y + k * kVehicle;
      const LoadInN<Packed>& of = k ? on_b : on_a;
      external_power += move_vehicle(s, body_[k].com, of, external_ + 6 * k, k, at_, k_);
      if (!ring_[k]) {
        for (int i = kRC; i < kVehicle; ++i) k_[k * kVehicle + i] = 0.0;
        for (int i = 0; i < kLegs; ++i) k_[kLegWork + k * kLegs + i] = 0.0;
        continue;
      }
      Packed force[kLegs], wrench[6], acceleration[6];
      for (int i = 0; i < kLegs; ++i) {
        force[i] = Packed::across(tau[k], i);
        const Packed power = force[i] * ring_[k]->driven[kLegs + i];
        leg_power += power;
        k_[kLegWork + k * kLegs + i] = power;
      }
      ring_wrench(s, of, k, at_, wrench);
      std::copy_n(wrench, 6, ring_[k]->s.wrench);
      ring_[k]->finish(at_.twist[k] + 3, force, lanes, external_ + 6 * k, acceleration, base_acceleration_[k]);
      move_on(s, acceleration, k_ + k * kVehicle);
      defect += defect_of(acceleration, 6) + defect_of(base_acceleration_[k], 6);
    }
    k_[kWork + 3] = leg_power, k_[kWork + 4] = external_power;
    for_lanes([&](int l, LaneStep& s) { s.fine &= defect[l] == 0; });
  }

  template <class F>
  void for_lanes(const F& f) {
    for (int l = 0; l < kLanes; ++l)
      if (steps_[l].forces) f(l, steps_[l]);
  }

  static constexpr double kNothing[kStates] = {};

  const int size_;

  std::unique_ptr<Ring> ring_[2];
  double offset_[2];
  PerLane<10> rigid_[2];
  RigidVehicle<Packed> body_[2];
  LaneStep* steps_ = nullptr;
  Kinematics<Packed> at_;
  Packed base_acceleration_[2][6];
  Packed y_[kState], x_[kState], k_[kState], first_[kState], next_[kState], external_[12];
  double spare_[kState + kLanes];
};

}  // namespace

std::unique_ptr<DockingLanes> make_docking_lanes(const Hexapod* const (&rings)[2], const double (&offsets)[2], int size) {
  return std::make_unique<PackedDockings>(rings, offsets, size);
}

}  // namespace zveno::docking
