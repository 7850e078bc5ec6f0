// Docking of two vehicles, docs/docking.md: momenta as state, contact, latches, phases of the mechanisms, thrusters.
//
// A `Docking` is set up once and runs one docking after another without allocating.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <vector>

#include <zveno/functions/docking_lanes.hpp>
#include <zveno/functions/free_motion.hpp>
#include <zveno/functions/job.hpp>

namespace zveno::docking {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

enum class Phase : int { ready, attenuation, alignment, retraction, hard_mate };
constexpr int kPhases = 5;

// a servo on a ramp to a stroke; start nan: from where each leg is
struct Move {
  double target = 0, speed = 1, stiffness = 0, damping = 0, tolerance = 0, limit = kInfinite;
  double start = std::numeric_limits<double>::quiet_NaN();
};

struct VehicleSetup {
  BodySpec body;
  const Hexapod* ring = nullptr;  // nullptr: a rigid port
  double offset = 0;              // of the mating plane from the ring's centre of mass
  double r[3] = {}, q[4] = {1, 0, 0, 0};
  std::vector<JointLaw> ready, attenuation, common;
  Move alignment, retraction;
  RingShape shape;
};

struct LatchSetup {
  bool enabled = true;
  int need = 0;
  double radius = 0, axial = 0, lateral = 0, stiffness = 0, damping = 0, time_constant = 1, break_force = kInfinite,
         release = kInfinite;
};

struct PhaseSetup {
  bool enters[kPhases] = {};
  double rest_speed = 0, rest_rate = 0, dwell = 0, attenuation_time = kInfinite, move_time = kInfinite;
};

struct ThrustSetup {
  enum class Start { time, contact, capture };
  int vehicle = 0;
  double wrench[6] = {};
  Start start = Start::time;
  double delay = 0, duration = kInfinite;  // the delay of a time is that time
};

struct HoldSetup {
  int vehicle = 0;
  double stiffness = 0, damping = 0, period = 1, dead_band = 0, limit = kInfinite;
};

struct Setup {
  const KernelTable* kernels = nullptr;
  VehicleSetup vehicle[2];
  bool contact = true;
  ContactLaw law;
  double range = kInfinite;
  LatchSetup latches;
  PhaseSetup phases;
  std::vector<ThrustSetup> thrusts;
  std::vector<HoldSetup> holds;
};

// of a run
struct Conditions {
  double closing, offset[2], tilt[2], roll, lateral[2], rate[3], gap;  // gap nan: by the rule of the start
  static constexpr int kNumbers = 12;
};
struct Factors {
  double chaser_mass = 1, station_mass = 1, friction = 1, stiffness = 1, damping = 1, latch_gap = 1, latch_stiffness = 1,
         leg_force = 1;
  static constexpr int kNumbers = 8;
};
struct Options {
  double t_end = 10, after = kInfinite, dt = 1e-3, tolerance = 1e-4;
  int halvings = 3;
  int every = 0;  // steps of the first dt between rows of the history; 0: none
};

enum class Status : int {
  captured,
  not_captured,
  contact_range,
  out_of_reach,
  singular_leg,
  not_finite,
  chattering,
  energy,
  touching,
  stopped
};

enum class EventKind : int { contact, latch, capture, lost, released, phase, timeout, thrust_on, thrust_off };
struct Event {
  double time;
  EventKind kind;
  int index;
};

enum Peak : int {
  kTension,
  kCompression,
  kAxial,
  kShear,
  kForce,
  kTorsion,
  kBending,
  kLatch,
  kLeg,
  kBaseForceA,
  kBaseMomentA,
  kBaseForceB,
  kBaseMomentB,
  kPeaks
};

struct Result {
  Status status = Status::not_captured;
  double t_contact, t_capture, t_end, gap, dt, evaluations;
  double latch[kMostLatches];
  double peak[kPeaks], peak_time[kPeaks];
  double stroke[2][kLegs][2], leg_force[2][kLegs], leg_work[2][kLegs];  // least and largest
  double work[5];
  double energy_start, energy_end, energy_error, energy_scale, momentum_error, angular_error, penetration;
  double impulse[6], misalignment[6];
  double state[2][19];  // position, quaternion, velocity, omega, P, L
  double locked[19];    // velocity, omega, mass, com, inertia
};

// fields of the history: name, numbers, unit, text
struct HistoryField {
  const char* name;
  int size;
  const char* unit;
  const char* text;
};
constexpr HistoryField kHistory[] = {
    {"t", 1, "s", "Time."},
    {"position_a", 3, "m", "Origin of the base frame of the first vehicle, N axes."},
    {"quaternion_a", 4, "1", "Its base axes to N axes, scalar first."},
    {"velocity_a", 3, "m/s", "Of that origin, N axes."},
    {"omega_a", 3, "rad/s", "Angular velocity, base axes."},
    {"position_b", 3, "m", "Origin of the base frame of the second vehicle, N axes."},
    {"quaternion_b", 4, "1", "Its base axes to N axes, scalar first."},
    {"velocity_b", 3, "m/s", "Of that origin, N axes."},
    {"omega_b", 3, "rad/s", "Angular velocity, base axes."},
    {"ring_position_a", 3, "m", "Centre of mass of the first ring, base axes."},
    {"ring_quaternion_a", 4, "1", "Ring axes to base axes, scalar first."},
    {"ring_twist_a", 6, "m/s, rad/s", "u of the first ring."},
    {"ring_position_b", 3, "m", "Centre of mass of the second ring, base axes; of a rigid port zero."},
    {"ring_quaternion_b", 4, "1", "Ring axes to base axes, scalar first."},
    {"ring_twist_b", 6, "m/s, rad/s", "u of the second ring."},
    {"stroke_a", 6, "m or rad", "Of the legs of the first ring, from the nominal pose."},
    {"stroke_rate_a", 6, "m/s or rad/s", "Their rates."},
    {"leg_force_a", 6, "N or N m", "Their forces."},
    {"stroke_b", 6, "m or rad", "Of the legs of the second ring."},
    {"stroke_rate_b", 6, "m/s or rad/s", "Their rates."},
    {"leg_force_b", 6, "N or N m", "Their forces."},
    {"load", 6, "N, N m", "Of contact and latches on the first ring at the origin of its frame, its axes."},
    {"contact_load", 6, "N, N m", "The part of the contact."},
    {"base_load_a", 6, "N, N m", "On the body of the first vehicle about the origin of its base frame, base axes."},
    {"base_load_b", 6, "N, N m", "The same of the second."},
    {"misalignment", 6, "m, rad", "Second port in axes of the first: place, rotation vector from the mated attitude."},
    {"relative_twist", 6, "m/s, rad/s", "Velocity of the second port against the first, axes of the first."},
    {"penetration", 1, "m", "The deepest."},
    {"kinetic_energy", 1, "J", "Of all bodies."},
    {"work", 5, "J", "Of normal forces, friction, latches, legs, thrusters."},
    {"energy_error", 1, "J", "Energy less its first value less all work."},
    {"momentum", 6, "N s, N m s", "Of both vehicles, about the origin of N."},
    {"phase", 1, "1", "0 ready, 1 attenuation, 2 alignment, 3 retraction, 4 hard mate."},
    {"latches_closed", 1, "1", "How many."},
    {"latch_force", 1, "N", "The largest of them."},
};
constexpr int history_width() {
  int n = 0;
  for (const HistoryField& f : kHistory) n += f.size;
  return n;
}

// Forces of legs and vehicles that a user works out while a run is made. It may throw, which ends the run.
class Control {
 public:
  virtual ~Control() = default;
  // Adds to what is there. row: as of the history, but leg forces, loads of the bases, energies and works are nan;
  // position, rate: of the actuated joints, nullptr: a rigid port; force, wrench: on legs and vehicles, as of thrusters
  virtual void ask(double t, const double* row, const double* const (&position)[2], const double* const (&rate)[2],
                   double (&force)[2][kLegs], double (&wrench)[2][6]) = 0;
  virtual bool stopped() = 0;  // the run is not wanted any more
};

class Docking : private Forces {
 public:
  explicit Docking(Setup setup);
  ~Docking() override;
  Docking(const Docking&) = delete;

  int latches() const { return latch_count_; }
  // largest gap at which a node touches, plus 5 mm
  double start_gap(const Conditions& c) const;
  // history: rows of history_width() numbers, `room` of them; rows: how many were written
  void run(const Conditions& conditions, const Factors& factors, const Options& options, Result& result,
           double* history = nullptr, std::ptrdiff_t room = 0, std::ptrdiff_t* rows = nullptr);

  // The same in pieces: while next(), a step is to be made, by make() or, if lanes() exist, as plan() says, and then take().
  void start(const Conditions& conditions, const Factors& factors, const Options& options, Result& result,
             double* history = nullptr, std::ptrdiff_t room = 0, std::ptrdiff_t* rows = nullptr);
  bool next();
  void make();
  LaneStep plan();
  void take(bool fine);
  std::unique_ptr<DockingLanes> lanes() const;  // nullptr: two rigid ports
  const BodySpec& body(int k) const;

  const std::vector<Event>& events() const { return events_; }

  // ---- steps of a rig: so much after another, under what acts from outside; nothing is allocated

  struct Given {
    double wrench[2][6] = {};         // on both vehicles, as of thrusters
    const double* contact = nullptr;  // on the first ring at the origin of its frame, its axes; null: that of the model
    bool steps = false, phase = false;
    Control* control = nullptr;  // of the next run()
    bool asks = false;           // it has something to say; false: it may only stop
    double hold = 0;             // asked so often, and held; 0: at every evaluation
  };
  Given given;

  // Status::captured: it goes on; otherwise why not
  Status begin_steps(const Conditions& conditions, const Factors& factors, double dt);
  // command: 0: phases follow each other as set up; else that one is entered when the command changes, -1: ready
  Status advance(int command);
  double time() const { return run_.t; }
  const Failure& failure() const { return failure_; }
  void observe(double* row);  // of the history
  double momentum_error() const;
  bool closed(int latch) const { return latched_[latch] == Latched::closed; }
  bool captured() const { return captured_; }
  // snapshots: finite numbers; what follows a restored one has the same bits
  std::size_t snapshot_size() const;
  void save(double* to) const;
  bool fits(const double* from) const;
  void restore(const double* from);

  // one state for tests: the case with the gap given, then ring and velocity of A as given; phase ready, t = 0
  bool evaluate_once(const Conditions& conditions, const double* r, const double* q, const double* u, Stage& stage,
                     double* kinetic, double* state);

 private:
  struct Vehicle;
  // Largest values of numbers that are sampled together: loads on the first ring, loads on both bases, latches, and of each
  // leg that there is the stroke either way and the force
  struct Tracks {
    static constexpr int kBase = kBending + 1, kLatches = kBase + 4, kMost = kLatches + kMostLatches + 2 * kLegs * 3;
    using Row = std::array<double, kMost>;
    Row f0, f1, best, when;  // the last two samples
    double t0, t1;
    int count;  // of samples since forces jumped
    void clear();
    void add(double t, const Row& f, int n);
  };
  enum class Latched : int { open, closed, lost, disarmed };

  void prepare(const Factors& f);
  bool begin(const Conditions& c);
  void attempt();
  void after();
  void stop();
  void conclude(Status s);
  void end(Status s);
  bool plan_to(double target);
  bool arrive();
  Status failed() const;
  static const Move* move_in(const Vehicle& v, Phase p);
  template <class Self, class F>
  static void each(Self& d, const F& f);
  void close_latch(int j);
  void touched(double at);
  bool again();
  bool note_approach();
  void record(bool last);
  double contact_between(double h) const;
  void touch(double t, Stage& e) const override;
  void drive(double t, int k, const double* position, const double* rate, const double* z, Stage& e) const override;
  bool evaluate(double t, const double* y, Stage& e);
  bool step(double t, double h, const double* y, const Stage& e, double* next);
  void relative_pose(const double* y, double* turn, double* at) const;
  void latch_gap(const double* turn, const double* at, int j, double* g) const;
  double latch_function(const double* turn, const double* at, int j) const;
  void hermite(double theta, double h, const double* y0, const double* f0, const double* y1, const double* f1,
               double* y) const;
  double kinetic(const Stage& e);
  void sample(double t, const Stage& e);
  void set_phase(Phase p, double t, const Stage& e);
  bool look_for_phase(double t, const Stage& e);
  double next_edge(double t) const;
  void apply_edges(double t);
  void sample_holds(const double* y, const Stage& e);
  void base_load(int k, const Stage& e, double* out) const;
  void write(double t, const double* y, const Stage& e, double* row, bool whole = true);
  void ask(double t, const double* y, Stage& e);
  void finish(double t, const double* y, const Stage& e, Result& r);
  void note(double t, EventKind kind, int index);
  void misalignment_of(const Stage& e, double* out) const;

  Setup setup_;
  std::unique_ptr<Vehicle> vehicle_[2];
  std::unique_ptr<ContactPair> contact_;
  ContactLaw law_;
  LatchSetup latch_;
  double leg_force_ = 1;
  double factors_[Factors::kNumbers] = {1, 1, 1, 1, 1, 1, 1, 1};  // of a rig
  int latch_count_ = 0;
  double latch_at_[kMostLatches][3], latch_at_b_[kMostLatches][3];
  double reach_a_ = 0, radius_ = 0;  // broad phase

  // of a run under way
  struct Course {
    Conditions conditions;
    Options options;
    Result* result;
    double* history;
    std::ptrdiff_t room, *rows, written;
    double scale;  // of its energy
    int parts, left;
    bool over;
    double dt, t, t_stop, grid;  // grid: where the step ends but for events
    long long steps;
    int splits;
    double h, t1;
    bool jumps;
  };
  Course run_{};
  Result last_;             // of a rig
  bool elsewhere_ = false;  // the last state was evaluated in lanes
  int size_ = kZ;
  bool allow_split_contact_ = false;
  Phase phase_ = Phase::ready, moving_ = Phase::ready;  // the moves of the legs are those of the second
  int commanded_ = 0;
  double phase_since_ = 0, rest_since_ = 0, capture_ = 0, contact_time_ = 0;
  int closed_ = 0;
  Latched latched_[kMostLatches];
  double closed_at_[kMostLatches], gap_0_[kMostLatches][3];
  bool released_ = false, captured_ = false, touched_ = false, done_ = false;
  std::vector<double> thrust_on_, thrust_off_;
  std::vector<char> thrust_state_;
  std::vector<std::array<double, 3>> hold_moment_;
  double external_[2][6];
  double asked_force_[2][kLegs] = {}, asked_wrench_[2][6] = {};  // by the control of a run
  double evaluations_ = 0, deepest_ = 0, energy_0_ = 0, momentum_0_[6], momentum_b_[6];
  double hold_attitude_[2][4];
  Failure failure_;
  std::vector<double> bristles_, next_bristles_;  // of the contact, where friction sticks
  double bristle_time_ = 0;
  std::array<double, kState> states_[2]{}, tmp_{};
  double *y_ = states_[0].data(), *next_ = states_[1].data();
  Stage stages_[2], mid_;
  Stage *now_ = &stages_[0], *then_ = &stages_[1];
  Tracks tracks_;
  std::vector<Event> events_;
};

// Dockings side by side in lanes, as many at a time as there are; a lane that has finished takes the next. Every result is
// that of Docking::run.
class Fleet {
 public:
  // where runs come from and go to
  class Source {
   public:
    virtual ~Source() = default;
    virtual bool next(std::ptrdiff_t& number, Conditions& conditions, Factors& factors) = 0;
    virtual void done(std::ptrdiff_t number, const Result& result) = 0;
    virtual bool stopped() = 0;
  };

  explicit Fleet(Setup setup);
  Docking& one() { return *dockings_[0]; }
  int side_by_side() { return fill(), static_cast<int>(dockings_.size()); }
  void run(Source& source, const Options& options);

 private:
  void fill();
  bool begin(std::size_t lane, Source& source, const Options& options);

  Setup setup_;
  std::vector<std::unique_ptr<Docking>> dockings_;
  std::unique_ptr<DockingLanes> lanes_;
  std::vector<LaneStep> steps_;
  std::vector<Result> results_;
  std::vector<std::ptrdiff_t> numbers_;
};

}  // namespace zveno::docking
