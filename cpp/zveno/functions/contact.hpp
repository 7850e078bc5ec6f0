// Contact of two docking rings, node by node. Set up once for a pair; to evaluate it allocates nothing. A pair remembers
// which nodes were near each other: poses that follow one another are cheap, and what they give does not depend on those
// before.
#pragma once

#include <memory>

#include <zveno/model/interface.hpp>

namespace zveno {

// of ring B on ring A: force on B, moment about A's origin; A's axes
struct ContactLoad {
  double force[3] = {}, moment[3] = {};
  double normal_power = 0, friction_power = 0;
  double penetration = 0;  // the deepest where surfaces meet, zero: nothing touches
};

class ContactPair {
 public:
  virtual ~ContactPair() = default;
  // R (row major), p: B's axes and origin in A's; v, w: velocity of B against A at A's origin and its angular velocity, A's
  // axes
  virtual void evaluate(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w,
                        ContactLoad& load) = 0;
  // Friction that sticks: z holds bristles() numbers, those at the beginning of the step that began `since` ago; next: those
  // at its end, dt later, in this state
  virtual int bristles() const = 0;
  virtual void hold(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w,
                    const double* z, double since, ContactLoad& load) = 0;
  virtual void advance(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w,
                       const double* z, double dt, double* next) = 0;
  // of each feature the largest speed of approach among its nodes that touch, kApart: none does
  static constexpr double kApart = -1e300;
  virtual void approach(const double* R, const double* p, const double* v, const double* w, double* speeds) = 0;
  // the deepest penetration alone
  virtual double penetration(const double* R, const double* p) const = 0;
};

std::unique_ptr<ContactPair> make_contact(const RingShape& a, const RingShape& b);

}  // namespace zveno
