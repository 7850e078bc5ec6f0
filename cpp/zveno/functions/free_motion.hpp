// A hexapod on a base that flies freely, one state after another, with the momenta of the whole as state: docs/docking.md
// (D1)-(D6). Set up once; to evaluate it allocates nothing.
#pragma once

#include <memory>

#include <zveno/model/hexapod.hpp>

namespace zveno {

class FreeMotion {
 public:
  virtual ~FreeMotion() = default;

  // the body that carries the mechanism
  virtual void set_base(const BodySpec& body) = 0;

  // Ring at r, R (row major) with u = [v; w in ring axes]: closes the legs, makes the inertia of the whole. start: kLegs x
  // joints() coordinates where custom legs begin, nullptr: their own. False: a leg does not close, or is singular.
  virtual bool place(const double* r, const double* R, const double* u, const double* start) = 0;
  // (D1): [v_0; Omega] of the base from the momentum of the whole, linear and about the base's origin; base axes
  virtual void twist(const double* momentum, double* out) const = 0;
  // the other way round
  virtual void momentum(const double* twist, double* out) const = 0;
  // twice the kinetic energy is [twist; u]' M [twist; u]
  virtual double kinetic(const double* twist) const = 0;
  // (D4) for the forces of the actuated joints, the wrench on the ring (force in base axes, moment about its centre of mass
  // in ring axes) and on the base (at its centre of mass, base axes). False: not finite.
  virtual bool finish(const double* omega, const double* tau, const double* wrench, const double* base_wrench) = 0;

  // after place()
  double position[kLegs], rate[kLegs];  // of the actuated joints
  double mass, moment[3], inertia[6];   // of the whole about the base's origin: xx xy xz yy yz zz
  // after finish()
  double acceleration[6];       // u'
  double base_acceleration[6];  // a_0 = v_0' + Omega x v_0, Omega'
};

std::unique_ptr<FreeMotion> make_free_motion(const Hexapod& hexapod);

}  // namespace zveno
