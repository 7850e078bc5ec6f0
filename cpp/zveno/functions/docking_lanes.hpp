// Dockings side by side, one in each lane: a step of all of them, every one with its own time and length. What a lane gets
// has the bits that it has alone, and no lane knows of its neighbours.
#pragma once

#include <array>
#include <memory>

#include <zveno/functions/contact.hpp>
#include <zveno/functions/law.hpp>
#include <zveno/kernel/contact/vehicles.hpp>
#include <zveno/model/hexapod.hpp>

namespace zveno::docking {

constexpr int kMostLatches = 16;
static_assert(kRods == kLegs);
constexpr int kZ = kPlain, kState = kZ + 2 * kLegs * JointLaw::kMostStates;  // z: of the laws of the legs

// what is known of a state besides its rates
struct Stage : Kinematics<double> {
  std::array<double, kState> rate{};
  ContactLoad contact;
  double load[6];  // on B at A's origin, A's axes: contact and latches
  double latch_force[kMostLatches];
  double stroke[2][kLegs], speed[2][kLegs], tau[2][kLegs];
  double base_acceleration[2][6];
};

// forces of one docking
class Forces {
 public:
  virtual ~Forces() = default;
  // contact and latches at the relative motion of e: contact, load, latch_force, three rates of work
  virtual void touch(double t, Stage& e) const = 0;
  // legs of vehicle k: stroke, speed, tau, rates of the states of laws; z: these states, of both vehicles
  virtual void drive(double t, int k, const double* position, const double* rate, const double* z, Stage& e) const = 0;
};

struct LaneStep {
  const Forces* forces;
  double t, h, end;             // end: t + h but for rounding
  const double *y, *rate;       // state, rates
  const double (*external)[6];  // thrust on both
  double* next;                 // state at the end
  Stage* then;                  // and what is known of it
  bool fine;                    // false: it fails
};

class DockingLanes {
 public:
  virtual ~DockingLanes() = default;
  virtual int count() const = 0;
  virtual void set_body(int lane, int vehicle, const BodySpec& body) = 0;
  // steps: one for each lane; forces nullptr: an idle one
  virtual void step(LaneStep* steps) = 0;
};

// rings: nullptr of a rigid port; offsets of the mating planes; size: numbers of a state, kZ or, if laws have states, kState
std::unique_ptr<DockingLanes> make_docking_lanes(const Hexapod* const (&rings)[2], const double (&offsets)[2], int size);

}  // namespace zveno::docking
