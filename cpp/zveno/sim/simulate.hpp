// Motion of the ring of a hexapod on a fixed base under leg laws and an external wrench, with a constant step.
//
// State: r, quaternion of the ring (scalar first, ring axes -> base axes), u, deflections of LuGre terms, and the accounts:
// momentum by its impulses, first moment of mass, work of wrench and legs. The accounts are integrated by the same scheme as
// the motion, so that their distance from momentum() and the energies measures its error. A step allocates nothing.
#pragma once

#include <functional>
#include <vector>

#include <zveno/functions/job.hpp>
#include <zveno/sim/laws.hpp>

namespace zveno {

enum class Stepper {
  rk4,            // classical, order 4
  semi_implicit,  // velocities first, then positions with the new velocities; order 1
};

// what a record holds, in this order; (rows, columns) of one state, 0 columns: a vector, 0 rows: a number, kJoints: nj
struct RecordField {
  const char* name;
  int rows, columns;
};
constexpr int kJoints = -1;
constexpr RecordField kRecordFields[] = {
    {"t", 0, 0},
    {"r", 3, 0},
    {"R", 3, 3},
    {"quaternion", 4, 0},
    {"u", 6, 0},
    {"acceleration", 6, 0},
    {"joint_position", kLegs, kJoints},
    {"joint_velocity", kLegs, kJoints},
    {"joint_acceleration", kLegs, kJoints},
    {"tau", 6, 0},
    {"reaction", kLegs, 4},
    {"base_wrench", 6, 0},
    {"wrench", 6, 0},
    {"kinetic_energy", 0, 0},
    {"potential_energy", 0, 0},
    {"work_wrench", 0, 0},
    {"work_legs", 0, 0},
    {"energy_error", 0, 0},
    {"momentum", 6, 0},
    {"momentum_error", 6, 0},
};
constexpr int kRecordFieldCount = sizeof(kRecordFields) / sizeof(kRecordFields[0]);

// numbers of one state
inline int record_width(const RecordField& f, int joints) {
  return (f.rows ? f.rows : 1) * (f.columns == kJoints ? joints : f.columns ? f.columns : 1);
}

struct SimulationSetup {
  const Hexapod* hexapod = nullptr;
  const KernelTable* kernels = nullptr;
  Stepper method = Stepper::rk4;
  double start = 0, dt = 0;
  std::ptrdiff_t steps = 0, every = 1;
  double r[3] = {}, q[4] = {1, 0, 0, 0}, u[6] = {};
  LegLaw laws[kLegs];
  double lower[kLegs], upper[kLegs];       // limits whose passing is an event, for legs whose law has no stops
  std::vector<double> tau;                 // 6 x nj numbers, or as many for each step; empty: zero
  Samples wrench;                          // six numbers for each time; empty: zero
  std::vector<double> base;                // [a_0; Omega; Omega'] or empty
  double* record[kRecordFieldCount] = {};  // arrays of records() rows
  // called at every evaluation instead of the laws and the samples; may throw, which ends advance() between two steps
  std::function<void(double t, const double* p, const double* v, double* tau)> leg_forces;
  std::function<void(double t, const double* r, const double* R, const double* u, double* wrench)> wrench_at;

  // the first state, every `every`-th one and the last
  std::ptrdiff_t records() const { return steps / every + 1 + (steps % every != 0); }
};

// the actuated joint of a leg passes an end of its way
struct StopEvent {
  double time;
  int leg;
  bool upper, enters;
  double rate;
};

class Simulation {
 public:
  explicit Simulation(SimulationSetup setup);

  // Up to `count` steps more. False: the end is reached, or a step failed; then the last good state is recorded.
  bool advance(std::ptrdiff_t count);
  // records the last good state unless it is recorded: for a caller that gives up
  void settle();

  std::ptrdiff_t step() const { return step_; }
  std::ptrdiff_t recorded() const { return recorded_; }
  double time() const { return time_at(step_); }
  const Failure& failure() const { return failure_; }
  double failure_time() const { return failure_time_; }
  const std::vector<StopEvent>& events() const { return events_; }

 private:
  static constexpr int kMostJoints = 4, kBristles = kLegs * LegLaw::kMostStates;
  // places in the state
  static constexpr int kR = 0, kQ = 3, kU = 7, kMomentum = 13, kMoment = 19, kWorkWrench = 22, kWorkLegs = 23, kZ = 24,
                       kState = kZ + kBristles;

  struct Evaluation {
    double R[9], wrench[6], tau[kLegs * kMostJoints];
    double dynamics[12 + kLegs * (3 * kMostJoints + 4)];  // as DynamicsLayout says
    double rate[kState];                                  // of the state
    double p[kLegs], v[kLegs];                            // of the actuated joints
  };

  double time_at(std::ptrdiff_t step) const { return setup_.start + setup_.dt * static_cast<double>(step); }
  bool begin();
  bool step_once();
  bool evaluate(double t, std::ptrdiff_t step, const double* y, Evaluation& e);
  bool forces(double t, std::ptrdiff_t step, const double* y, Evaluation& e);
  // false: failure_ says why
  bool call(HexFunction function, const double* y, const Evaluation& e, double* out, const double* base = nullptr);
  bool rk4(double* next);
  bool semi_implicit(double* next);
  bool first_moment(double* moment);
  void unwrap(double* p, int stride) const;
  void find_events(const Evaluation& before, const Evaluation& after);
  void record();
  void summarise();  // energies, momentum and the errors of new records, many states at once
  const double* joints(const Evaluation& e, int leg) const { return e.dynamics + layout_.head() + leg * layout_.per_leg(); }

  struct Bound {
    int leg;
    bool upper;
    double at;
  };

  SimulationSetup setup_;
  int nj_;
  DynamicsLayout layout_;
  bool needs_rates_ = false, ready_ = false;
  double mass_ = 0, energy_ = 0;
  int bristles_[kLegs + 1] = {};  // place of a leg's deflections behind kZ
  std::vector<Bound> bounds_;
  std::vector<StopEvent> events_;
  Evaluation evaluations_[2], stage_;
  Evaluation* now_ = &evaluations_[0];
  Evaluation* next_ = &evaluations_[1];
  double y_[kState] = {};
  double last_p_[kLegs * kMostJoints] = {};  // coordinates of the last step: angles are continuous in time
  std::ptrdiff_t step_ = 0, recorded_ = 0, recorded_step_ = -1, summarised_ = 0;
  Failure failure_;
  double failure_time_ = 0;
};

}  // namespace zveno
