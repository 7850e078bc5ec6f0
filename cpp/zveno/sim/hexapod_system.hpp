// The ring of a hexapod under drives, laws of its other joints and an external wrench, on a base that does not answer.
//
// State: r, quaternion of the ring (scalar first, ring axes -> base axes), u; the accounts: momentum by its impulses, first
// moment of mass, work of wrench and legs; internal states of the laws, those of the drives first.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <zveno/functions/hexapod_motion.hpp>
#include <zveno/functions/job.hpp>
#include <zveno/sim/events.hpp>
#include <zveno/sim/periods.hpp>
#include <zveno/sim/record.hpp>
#include <zveno/sim/system.hpp>

namespace zveno {

namespace hexapod_record {

constexpr Dimension kRing{"ring", "vx vy vz wx wy wz", 6}, kRingAxis{"ring_axis", "x y z", 3},
    kReaction{"reaction_component", "fx fy fz m", 4}, kMomentum{"momentum_component", "px py pz lx ly lz", 6},
    kQuaternion{"component", "w x y z", 4};

constexpr Field kFields[] = {
    {"t", "s", "Time."},
    {"r", "m", "Centre of mass of the ring, base axes.", {kAxis}},
    {"R", "1", "Ring axes to base axes.", {kAxis, kRingAxis}},
    {"quaternion", "1", "The same rotation, scalar first.", {kQuaternion}},
    {"u", "m/s, rad/s", "Velocity in base axes, angular velocity in ring axes.", {kRing}},
    {"acceleration", "m/s^2, rad/s^2", "u'.", {kRing}},
    {"joint_position",
     "m or rad",
     "Coordinates of the legs' joints; angles are continuous in time.",
     {kLegAxis, kJointAxis}},
    {"joint_velocity", "m/s or rad/s", "Their rates.", {kLegAxis, kJointAxis}},
    {"joint_acceleration", "m/s^2 or rad/s^2", "Their accelerations.", {kLegAxis, kJointAxis}},
    {"tau",
     "N or N m",
     "Forces of the actuated joints: laws and `tau` of the call together. Of passive joints: their laws at the recorded "
     "positions and rates.",
     {kLegAxis}},
    {"reaction",
     "N, N m",
     "Of the legs on the ring: force at the hinge in base axes, moment about the normal of a universal joint.",
     {kLegAxis, kReaction}},
    {"base_wrench", "N, N m", "Of the legs on the base about its origin, base axes.", {kWrenchAxis}},
    {"wrench",
     "N, N m",
     "External one on the ring: force in base axes, moment about its centre of mass in ring axes.",
     {kWrenchAxis}},
    {"kinetic_energy", "J", "Of the whole mechanism."},
    {"potential_energy", "J", "Of its weight."},
    {"work_wrench", "J", "Work of the external wrench, counted from the first state."},
    {"work_legs", "J", "Work of the forces in all joints of the legs, dampers, brakes and friction included."},
    {"energy_error", "J",
     "Energy now, minus energy of the first state, minus work: zero but for the error of the integration."},
    {"momentum", "kg m/s, kg m^2/s", "Linear, and angular about the base's origin, base axes.", {kMomentum}},
    {"momentum_error",
     "kg m/s, kg m^2/s",
     "Momentum, minus that of the first state, minus the impulse of wrench, base and weight.",
     {kMomentum}},
};

}  // namespace hexapod_record

// a joint that is not driven and its law
struct PassiveLaw {
  int leg, joint;
  JointLaw law;
};

struct HexapodSetup {
  const Hexapod* hexapod = nullptr;
  const KernelTable* kernels = nullptr;
  double r[3] = {}, q[4] = {1, 0, 0, 0}, u[6] = {};
  std::vector<JointLaw> laws = std::vector<JointLaw>(kLegs);  // of the drives
  std::vector<PassiveLaw> passive;
  // limits whose passing is an event, for legs whose law has no stops
  std::vector<double> lower = std::vector<double>(kLegs, -std::numeric_limits<double>::infinity());
  std::vector<double> upper = std::vector<double>(kLegs, std::numeric_limits<double>::infinity());
  std::vector<double> tau;                                // 6 x nj numbers, or as many for each step; empty: zero
  Samples wrench;                                         // six numbers for each time; empty: zero
  std::vector<double> base;                               // [a_0; Omega; Omega'] or empty
  std::function<void(double t, double* motion)> base_at;  // instead of `base`, which must not be empty then
  // called at every evaluation besides the laws and instead of the samples; may throw, which ends advance() between two
  // steps
  std::function<void(double t, const double* p, const double* v, double* tau)> forces;
  std::function<void(double t, const double* r, const double* R, const double* u, double* wrench)> wrench_at;
};

class HexapodSystem {
 public:
  static constexpr int kPlaces = HexMotion::kPlaces;
  // places in the state
  static constexpr int kR = 0, kQ = 3, kU = 7, kMomentum = 13, kMoment = 19, kWorkWrench = 22, kWorkLegs = 23, kZ = 24,
                       kMostStates = kLegs * JointLaw::kMostStates, kState = kZ + kMostStates + static_cast<int>(kBlock);

  struct Stage {
    std::array<double, kState> rate{};
    double R[9] = {}, wrench[6] = {}, tau[kLegs][kPlaces] = {};
    double p[kLegs] = {}, v[kLegs] = {};  // of the actuated joints
    double decay[kMostStates] = {};
    std::vector<double> joints;  // coordinates of drives and of all joints, then rates; empty: no passive joint has a law
  };

  explicit HexapodSystem(HexapodSetup setup);

  Stage make_stage() const;
  int size() const { return kZ + drives_.states() + (passive_ ? passive_->laws.states() : 0); }
  const Schema& schema() const { return schema_; }
  bool begin(double t, double* y);
  bool rates(double t, std::ptrdiff_t step, const double* y, Stage& e, Detail detail);
  // The end of a period of which nobody asks for accelerations and forces: whether the legs reach the pose; p, v of e.
  bool arrive(const double* y, Stage& e);
  void follow(double dt, const double* y, const Stage& e, double* next);
  bool project(double, double* next) const;
  void accept(const Stage& e);
  void find_events(double t, double dt, const Stage& e0, const Stage& e1) {
    if (!passive_) return events_.find(t, dt, e0.p, e0.v, e1.p, e1.v);
    const double *now = e0.joints.data(), *next = e1.joints.data();
    events_.find(t, dt, now, now + watched(), next, next + watched());
  }
  void write(double t, const double* y, const Stage& e, const Record& record, std::ptrdiff_t row);
  void summarise(const Record&, std::ptrdiff_t, std::ptrdiff_t) const {}

  // joint: a leg, or 6 + k nj + j for joint j of leg k that is not driven
  const std::vector<StopEvent>& events() const { return events_.found(); }
  const Failure& failure() const { return failure_; }
  // of the last evaluation
  const HexMotion& motion() const { return *motion_; }
  int actuated(int leg) const { return actuated_[leg]; }

  // another first state: r, quaternion, u
  void start_from(const double* start) {
    std::copy_n(start, 3, setup_.r), std::copy_n(start + 3, 4, setup_.q), std::copy_n(start + 7, 6, setup_.u);
  }
  // what evaluations refer to besides the state: so many numbers
  int memory_size() const { return kLegs * nj_ + kLegs + 2; }
  void save(double* memory) const;
  void restore(const double* memory);

 private:
  struct Passive {
    Drives laws;
    std::vector<int> place;           // of each joint among all of them, 6 x nj
    std::vector<double> x, v, force;  // of each joint
  };

  // coordinates that may have events: of the drives, and then of all joints
  int watched() const { return kLegs + kLegs * nj_; }
  // false: failure_ says why
  bool call(HexFunction function, const double* y, const Stage& e, double* out, const double* base);
  bool explain(const double* y, const Stage& e);
  bool first_moment(const double* y, double* moment);
  bool close(const double* y, Stage& e);
  void complete(const double* y, const Stage& e);
  void follow_joints();
  void set_passive();
  void add_passive(double t, const double* y, Stage& e);

  HexapodSetup setup_;
  const Hexapod* hexapod_;
  int nj_;
  Schema schema_;
  Drives drives_;
  std::unique_ptr<Passive> passive_;  // null: no passive joint has a law
  bool driven_;                       // no forces in the joints but those of the drives
  Events events_;
  std::unique_ptr<HexMotion> motion_;
  const Stage* holder_ = nullptr;  // whose numbers motion_ has
  bool whole_ = false;             // all of them
  bool ready_ = false;
  int actuated_[kLegs];
  bool angle_[kLegs][kPlaces] = {};  // may jump by a turn
  double mass_ = 0, energy_ = 0;
  std::vector<double> last_p_;  // coordinates of the last step that was followed, 6 x nj: angles are continuous in time
  double last_actuated_[kLegs] = {};
  double last_time_ = 0, travel_ = 0;  // of the passive joints since then, at most
  Failure failure_;
};

extern template class Periods<HexapodSystem>;  // compiled for speed, whoever calls it

}  // namespace zveno
