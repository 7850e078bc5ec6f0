// A chain or tree on a base that is fixed or moves as prescribed, under forces of its joints and external wrenches.
//
// State: q, qd; the accounts: work of joints, and of wrenches and constraints; internal states of the laws.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <zveno/functions/inertia_solver.hpp>
#include <zveno/functions/job.hpp>
#include <zveno/functions/stage_dynamics.hpp>
#include <zveno/sim/events.hpp>
#include <zveno/sim/periods.hpp>
#include <zveno/sim/record.hpp>
#include <zveno/sim/system.hpp>

namespace zveno {

namespace chain_record {

constexpr Field kFields[] = {
    {"t", "s", "Time."},
    {"q", "rad or m", "Joint coordinates.", {kJointAxis}},
    {"qd", "rad/s or m/s", "Their rates.", {kJointAxis}},
    {"qdd", "rad/s^2 or m/s^2", "Their accelerations.", {kJointAxis}},
    {"tau",
     "N m or N",
     "Joint efforts: laws and `tau` of the call together, without the links' own friction.",
     {kJointAxis}},
    {"base_wrench",
     "N, N m",
     "Force and moment about the base's origin that the mechanism applies to its base, world axes.",
     {kWrenchAxis}},
    {"kinetic_energy", "J", "Rotors included."},
    {"potential_energy", "J", "Of the weight, zero with all mass at the base's origin."},
    {"work_joints", "J", "Work of efforts and of the links' own friction, counted from the first state."},
    {"work_external", "J", "Work of the external wrenches and of constraints that move."},
    {"energy_error", "J",
     "Energy now, minus energy of the first state, minus work: zero but for the error of the integration."},
};
constexpr int kAlways = 3;  // the first fields are always recorded

}  // namespace chain_record

// a wrench [f; m] at the origin of a link, world axes
struct ExternalWrench {
  LinkFrame frame;
  Samples samples;  // six numbers for each time
  // instead of the samples; may throw
  std::function<void(double t, const double* q, const double* qd, double* wrench)> at;
};

// What holds the links of a chain besides its joints
class Holding {
 public:
  virtual ~Holding() = default;
  // accelerations under all efforts of the joints, and the power of the constraints, which those that move have; base: its
  // motion, or null
  virtual Failure accelerate(double t, const double* q, const double* qd, const double* effort, const double* base,
                             double* qdd, double& power) = 0;
  // the inertia of the tree -> that of what is held, for residuals of accelerations; at the time of the last `at`
  virtual std::unique_ptr<InertiaSolver> held(std::unique_ptr<InertiaSolver> tree) = 0;
  virtual void at(double t) = 0;
  // back onto the constraints after a step
  virtual Failure project(double t, double* q, double* qd) = 0;
};

// A function of time and state whose zero is an event. Either `at`, or the height of a point of a link over a plane.
struct WatchedFunction {
  std::function<double(double t, const double* q, const double* qd)> at;  // may throw
  LinkFrame point{};
  double normal[3] = {}, height = 0;  // normal . x - height, base axes
  int direction = 0;                  // 1: upwards only, -1: downwards only
  bool terminal = false;
};

// a zero of a watched function, found inside a step
struct Crossing {
  double time;
  int which;
  bool rises;
  std::vector<double> q, qd;
};

struct ChainSetup {
  const Chain* chain = nullptr;
  const KernelTable* kernels = nullptr;
  std::vector<double> q, qd;
  std::vector<JointLaw> laws;        // n
  std::vector<double> lower, upper;  // n: limits whose passing is an event, for joints whose law has no stops
  std::vector<double> tau;           // n numbers, or as many for each step; empty: zero
  std::vector<ExternalWrench> external;
  // called at every evaluation besides the laws; may throw, which ends advance() between two steps
  std::function<void(double t, const double* q, const double* qd, double* tau)> forces;
  std::shared_ptr<Holding> holding;
  std::ptrdiff_t hold = 0;  // so many steps long what the function gave is held; 0: not held
  // [a; Omega; Omega'] of the base; neither: it rests
  Samples base;
  std::function<void(double t, double* motion)> base_at;  // may throw
  std::vector<WatchedFunction> watched;
};

class ChainSystem {
 public:
  struct Stage {
    std::vector<double> rate, p, v, tau, decay;
    std::vector<double> wrenches;  // 6 for each external one
    std::vector<double> pushed;    // their generalised forces, n
    double held = 0;               // power of constraints that move
    double base[9];
  };

  explicit ChainSystem(ChainSetup setup);

  Stage make_stage() const;
  int size() const { return 2 * n_ + 2 + drives_.states(); }
  const Schema& schema() const { return schema_; }
  bool begin(double, double* y);
  bool rates(double t, std::ptrdiff_t step, const double* y, Stage& e, Detail detail);
  // the end of a period of which nobody asks for accelerations: whether there is such a state
  bool arrive(const double* y, Stage& e);
  void expect(const double* y, double h) { from_ = y, way_ = h; }
  void follow(double dt, const double* y, const Stage& e, double* next) const;
  bool project(double t, double* next);
  void accept(const Stage&) { heights_.swap(next_heights_); }
  void find_events(double t, double dt, const Stage& e0, const Stage& e1);
  // of the motion, by the last events found; none: infinite
  double end_time() const { return end_time_; }
  void write(double t, const double* y, const Stage& e, const Record& record, std::ptrdiff_t row);
  void summarise(const Record& record, std::ptrdiff_t begin, std::ptrdiff_t end) const;

  // ---- implicit steps, collocation.hpp

  int joints() const { return n_; }
  bool residuals(int count, const double* t, std::ptrdiff_t step, const double* q, const double* v, const double* a,
                 double* r);
  void slopes(double t, std::ptrdiff_t step, const double* q, const double* v, double* k, double* d);
  InertiaSolver& inertia() { return *inertia_; }
  void add_powers(int count, const double* v, const double* weight, double* next) const;
  bool jumps(std::ptrdiff_t step) const;
  // the end of a step that is not recorded
  void observe(double t, std::ptrdiff_t step, const double* y, Stage& e);
  void refuse(const Failure& failure) { failure_ = failure; }

  // another first state
  void start_from(const double* q, const double* qd) {
    std::copy_n(q, n_, setup_.q.begin());
    std::copy_n(qd, n_, setup_.qd.begin());
  }
  // evaluations refer to nothing but the state
  int memory_size() const { return 0; }
  void save(double*) const {}
  void restore(const double*) {}

  const std::vector<StopEvent>& events() const { return events_.found(); }
  const std::vector<Crossing>& crossings() const { return crossings_; }
  const Failure& failure() const { return failure_; }

 private:
  int work() const { return 2 * n_; }
  int bristles() const { return 2 * n_ + 2; }
  // of one state with the wrenches of e; third: effort or acceleration
  Failure run(const Job& job, const double* y, const double* third, const Stage* e, double* out);
  Failure run(const Job& job, Rows& rows, const double* wrenches, std::ptrdiff_t stride, const double* base);
  bool keep(const Failure& failure) {  // whether there is none
    if (failure) failure_ = failure;
    return !failure;
  }
  bool moves() const { return setup_.base_at || !setup_.base.times.empty(); }
  // everything that acts at a state: held and given efforts, laws; wrenches and what they do to the joints; the base
  void efforts(double t, std::ptrdiff_t step, const double* q, const double* qd, const double* z, double* z_rate,
               double* decay, double* tau);
  bool loads(double t, const double* q, const double* qd, double* wrenches, double* pushed);
  void move_base(double t, double* base);
  void call_held(double t, std::ptrdiff_t step, const double* q, const double* qd);
  double height(std::size_t k, double t, const double* q, const double* qd);

  ChainSetup setup_;
  const Chain* chain_;
  int n_;
  Schema schema_;
  Drives drives_;
  Events events_;
  std::vector<LinkFrame> frames_;
  std::vector<RowData> loads_;
  std::vector<double> friction_;  // in the order of q
  std::vector<double> jacobian_, more_;
  double energy_ = 0;
  Failure failure_;
  std::unique_ptr<StageDynamics> motion_;
  std::vector<double> ahead_;  // position of the next evaluation, if it is expected `way_` from `from_`
  const double* from_ = nullptr;
  double way_ = 0;
  std::vector<double> held_;  // what the function gave
  std::ptrdiff_t period_ = -1;
  std::vector<double> heights_, next_heights_;  // of the watched functions at the beginning and the end of a step
  std::vector<double> way_q_, way_qd_;
  std::vector<Crossing> crossings_;
  double end_time_ = std::numeric_limits<double>::infinity();
  // of the stages of an implicit step
  static constexpr std::size_t kMostStages = 3;
  std::unique_ptr<InertiaSolver> inertia_;
  std::vector<double> stage_tau_, stage_wrenches_, more_wrenches_, stage_pushed_, stage_base_, slope_;
  double stage_held_[kMostStages] = {};
};

extern template class Periods<ChainSystem>;  // compiled for speed, whoever calls it

}  // namespace zveno
