// Legs of any geometry of one state of a hexapod on a base that flies freely: closed by Newton's method, in doubles.
#pragma once

#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/solve/custom_leg.hpp>

namespace zveno {

class CustomLegs {
 public:
  explicit CustomLegs(const Hexapod& hexapod) : hexapod_(&hexapod) {}

  static bool is_custom(const Hexapod& hexapod, int k) { return hexapod.leg(k).type == LegType::custom; }

  // At r, R, u of s: coordinates and rates of the actuated joints, shares of the equations, kRow numbers of each leg. start:
  // as of FreeMotion::place. False: a leg does not close.
  template <int kRow>
  ZVENO_COLD bool place(const HexState<double>& s, const double* start, double* position, double* rate,
                        double (*shares)[kRow]) {
    {
      Scratch& scratch = Scratch::of_this_thread();
      const Scratch::Frame frame(scratch);
      const auto ring = make_ring<double>(s.r, s.R, s.u, moving_base(s.flow));
      for (int k = 0; k < kLegs; ++k) {
        if (!is_custom(*hexapod_, k)) continue;
        const double* own = start ? start + k * hexapod_->joints() : nullptr;
        if (legs_[k].close(*hexapod_, k, s.r, s.R, own, scratch).cause != Cause::none) return false;
        double x[kKinematics];
        legs_[k].rates(s.u, ring.w);
        legs_[k].write(x);
        const int actuated = hexapod_->chain(k).actuated;
        position[k] = x[actuated], rate[k] = x[4 + actuated];
      }
    }
    const double none[kLegs] = {};
    drive(s, none, shares);
    return true;
  }

  // shares for the forces of the actuated joints, at the motion of the base in s
  template <int kRow>
  ZVENO_COLD void drive(const HexState<double>& s, const double* tau, double (*shares)[kRow]) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    const auto ring = make_ring<double>(s.r, s.R, s.u, moving_base(s.flow));
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(*hexapod_, k)) continue;
      double forces[4] = {};
      forces[hexapod_->chain(k).actuated] = tau[k];
      legs_[k].first(ring.w, s.flow, forces, true, shares[k], scratch);
    }
  }

 private:
  const Hexapod* hexapod_;
  CustomLeg legs_[kLegs];
};

}  // namespace zveno
