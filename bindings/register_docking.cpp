// Dockings, as zveno.docking uses them: arguments are checked there.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

#include <zveno/instruments/count.hpp>
#include <zveno/sim/docking.hpp>
#include <zveno/support/processors.hpp>

#include "classes.hpp"
#include "convert.hpp"
#include "interrupt.hpp"

namespace zveno::bindings {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;
namespace dk = zveno::docking;

constexpr const char* kEvents[] = {"contact", "latch",   "capture",   "lost",      "released",
                                   "phase",   "timeout", "thrust_on", "thrust_off"};

void exactly(const py::handle& from, py::ssize_t size, double* to) {
  const auto a = from.cast<Doubles>();
  if (a.size() != size)
    throw py::value_error("docking: " + std::to_string(a.size()) + " numbers, expected " + std::to_string(size));
  std::copy_n(a.data(), size, to);
}

// as Interface._core writes it
RingShape shape_of(const py::tuple& t) {
  if (t.size() != 17) throw py::value_error("docking: an interface has 17 fields");
  const auto x = [&](std::size_t i) { return t[i].cast<double>(); };
  RingShape s;
  s.angles = t[0].cast<std::vector<double>>();
  s.sign = t[1].cast<bool>() ? 1 : -1;
  s.root_radius = x(2), s.tip_radius = x(3), s.height = x(4), s.root_half_angle = x(5), s.tip_half_angle = x(6);
  s.edge_radius = x(7), s.face_radius = x(8), s.face_half_width = x(9);
  s.fillet = x(10), s.window = x(11), s.extension = x(12), s.thickness = x(13);
  s.edge_nodes = t[14].cast<int>(), s.side_nodes = t[15].cast<int>(), s.face_nodes = t[16].cast<int>();
  return s;
}

// edge, side, face, blend, damping, friction, creep speed, exponent, sticking, mass, rebound
ContactLaw law_of(const py::tuple& t) {
  if (t.size() != 11) throw py::value_error("docking: a contact has 11 numbers");
  const auto x = [&](std::size_t i) { return t[i].cast<double>(); };
  ContactLaw law;
  law.edge = x(0), law.side = x(1), law.face = x(2), law.blend = x(3);
  std::fill_n(law.damping, kFeatures, x(4));
  law.friction = x(5), law.creep_speed = x(6);
  law.hertz = x(7) > 1.25, law.sticking = x(8) != 0;
  law.mass = x(9), law.rebound = x(10);
  return law;
}

dk::Move move_of(const py::tuple& t) {
  if (t.size() != 7) throw py::value_error("docking: a move has 7 numbers");
  const auto x = [&](std::size_t i) { return t[i].cast<double>(); };
  return {x(0), x(1), x(2), x(3), x(4), x(5), x(6)};
}

std::vector<JointLaw> laws_of(const py::list& list) {
  if (list.size() != kLegs) throw py::value_error("docking: expected a law for every leg");
  std::vector<JointLaw> laws;
  for (const py::handle& law : list) laws.push_back(law.cast<const JointLaw&>());
  return laws;
}

dk::VehicleSetup vehicle_of(const py::dict& d) {
  dk::VehicleSetup v;
  const Context c{"docking", "vehicle"};
  v.body = body_of(c, "body", py::object(d["body"]).ptr());
  v.shape = shape_of(d["interface"]);
  if (!d.contains("ring")) return v;
  v.ring = d["ring"].cast<const Hexapod*>();
  v.offset = d["offset"].cast<double>();
  exactly(d["r"], 3, v.r), exactly(d["q"], 4, v.q);
  v.ready = laws_of(d["ready"]), v.attenuation = laws_of(d["attenuation"]), v.common = laws_of(d["common"]);
  v.alignment = move_of(d["alignment"]), v.retraction = move_of(d["retraction"]);
  return v;
}

dk::Setup setup_of(const py::dict& d) {
  dk::Setup s;
  s.kernels = kernels;
  s.vehicle[0] = vehicle_of(d["a"]), s.vehicle[1] = vehicle_of(d["b"]);
  s.contact = d["contact_on"].cast<bool>();
  s.law = law_of(d["contact"]);
  s.range = d["range"].cast<double>();
  const auto latch = d["latches"].cast<py::tuple>();
  const auto x = [&](std::size_t i) { return latch[i].cast<double>(); };
  s.latches = {latch[0].cast<bool>(), latch[1].cast<int>(), x(2), x(3), x(4), x(5), x(6), x(7), x(8), x(9)};
  const auto phases = d["phases"].cast<py::tuple>();
  for (const py::handle& i : phases[0]) s.phases.enters[i.cast<int>()] = true;
  s.phases.rest_speed = phases[1].cast<double>(), s.phases.rest_rate = phases[2].cast<double>();
  s.phases.dwell = phases[3].cast<double>(), s.phases.attenuation_time = phases[4].cast<double>();
  s.phases.move_time = phases[5].cast<double>();
  for (const py::handle& h : d["thrusts"].cast<py::list>()) {
    const auto t = h.cast<py::tuple>();
    dk::ThrustSetup thrust;
    thrust.vehicle = t[0].cast<int>();
    exactly(t[1], 6, thrust.wrench);
    thrust.start = static_cast<dk::ThrustSetup::Start>(t[2].cast<int>());
    thrust.delay = t[3].cast<double>(), thrust.duration = t[4].cast<double>();
    s.thrusts.push_back(thrust);
  }
  for (const py::handle& h : d["holds"].cast<py::list>()) {
    const auto t = h.cast<py::tuple>();
    const auto y = [&](std::size_t i) { return t[i].cast<double>(); };
    s.holds.push_back({t[0].cast<int>(), y(1), y(2), y(3), y(4), y(5)});
  }
  return s;
}

dk::Conditions conditions_of(const double* x) {
  return {x[0], {x[1], x[2]}, {x[3], x[4]}, x[5], {x[6], x[7]}, {x[8], x[9], x[10]}, x[11]};
}
dk::Factors factors_of(const double* x) { return {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]}; }

py::array_t<double> array_of(const double* x, std::vector<py::ssize_t> shape) { return py::array_t<double>(shape, x); }

// what a run of a batch leaves, in the order of zveno.docking.simulate.COLUMNS
constexpr int kColumns = 7 + dk::kPeaks + 2 + 5 + 6 + 1;
void write_columns(const dk::Result& r, double* to) {
  *to++ = static_cast<int>(r.status);
  const bool complete = r.status == dk::Status::captured || r.status == dk::Status::not_captured;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (!complete) {
    std::fill_n(to, kColumns - 1, nan);
    to[3] = r.gap, to[4] = r.dt;
    return;
  }
  for (const double x : {r.t_contact, r.t_capture, r.t_end, r.gap, r.dt, r.evaluations}) *to++ = x;
  to = std::copy_n(r.peak, dk::kPeaks, to);
  double low = nan, high = nan;
  for (int i = 0; i < kLegs; ++i) low = std::fmin(low, r.stroke[0][i][0]), high = std::fmax(high, r.stroke[0][i][1]);
  *to++ = low, *to++ = high;
  to = std::copy_n(r.work, 5, to);
  for (const double x :
       {r.energy_start, r.energy_end, r.energy_error, r.energy_scale, r.momentum_error, r.angular_error, r.penetration})
    *to++ = x;
}

// a run that is made without the interpreter, and hears Ctrl-C
class Patient : public dk::Control {
 public:
  explicit Patient(Watch& watch) : watch_(watch) {}
  void ask(double, const double*, const double* const (&)[2], const double* const (&)[2], double (&)[2][kLegs],
           double (&)[2][6]) override {}
  bool stopped() override { return watch_.stops(); }

 private:
  Watch& watch_;
};

// a run that asks a function of Python, whose lock it has
class Asking : public dk::Control {
 public:
  explicit Asking(const py::object& f) : f_(f) {}
  void ask(double t, const double* row, const double* const (&position)[2], const double* const (&rate)[2],
           double (&force)[2][kLegs], double (&wrench)[2][6]) override {
    const auto six = [](const double* x) -> py::object {
      return x ? py::object(array_of(x, {kLegs})) : py::object(py::none());
    };
    const Doubles got =
        f_(t, array_of(row, {dk::history_width()}), six(position[0]), six(rate[0]), six(position[1]), six(rate[1]))
            .cast<Doubles>();
    if (got.size() != 2 * kLegs + 12) throw py::value_error("docking: a control gives 24 numbers");
    std::copy_n(got.data(), 2 * kLegs, force[0]), std::copy_n(got.data() + 2 * kLegs, 12, wrench[0]);
  }
  bool stopped() override {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return false;
  }

 private:
  py::object f_;
};

class Runner {
 public:
  Runner(const py::dict& d, py::object kept) : kept_(std::move(kept)), setup_(setup_of(d)) {
    free_.push_back(std::make_unique<dk::Fleet>(setup_));
  }

  double start_gap(const Doubles& c) {
    if (c.size() != dk::Conditions::kNumbers) throw py::value_error("docking: conditions have 12 numbers");
    Loan d(*this);
    return d->start_gap(conditions_of(c.data()));
  }

  int side_by_side() {
    Loan d(*this);
    return d.fleet().side_by_side();
  }

  // control: None, or called with the time, what is told of the state, and coordinates and rates of the drives of both
  // vehicles, for 24 numbers: forces of the legs of both, wrenches on both; hold: so often, 0: at every evaluation
  py::dict run(const Doubles& c, const dk::Options& o, std::ptrdiff_t room, const std::optional<Doubles>& factors,
               const py::object& control, double hold) {
    if (c.size() != dk::Conditions::kNumbers) throw py::value_error("docking: conditions have 12 numbers");
    if (factors && factors->size() != dk::Factors::kNumbers) throw py::value_error("docking: factors have 8 numbers");
    if (room < 0) throw py::value_error("docking: room is negative");
    py::array_t<double> history({static_cast<py::ssize_t>(room), static_cast<py::ssize_t>(dk::history_width())});
    const dk::Conditions conditions = conditions_of(c.data());
    const dk::Factors changed = factors ? factors_of(factors->data()) : dk::Factors();
    dk::Result r;
    std::ptrdiff_t rows = 0;
    Loan d(*this);
    double* data = history.mutable_data();
    py::dict out;
    out["error"] = py::none();
    struct Reset {
      dk::Docking& d;
      ~Reset() { d.given = {}; }
    } reset{*d.operator->()};
    const auto go = [&](dk::Control& control) {
      d->given.control = &control;
      d->run(conditions, changed, o, r, data, room, &rows);
    };
    try {
      if (control.is_none()) {
        Unlocked unlocked;
        Patient patient(unlocked.watch);
        go(patient);
        if (unlocked.watch.stopped()) unlocked.raise();
      } else {
        d->given.asks = true, d->given.hold = hold;
        Asking asking(control);
        go(asking);
      }
    } catch (py::error_already_set& e) {
      out["error"] = e.value();
      if (e.trace()) out["error"].attr("__traceback__") = e.trace();
    }
    out["status"] = static_cast<int>(r.status);
    const std::pair<const char*, double> numbers[] = {{"t_contact", r.t_contact},
                                                      {"t_capture", r.t_capture},
                                                      {"t_end", r.t_end},
                                                      {"gap", r.gap},
                                                      {"dt", r.dt},
                                                      {"energy_start", r.energy_start},
                                                      {"energy_end", r.energy_end},
                                                      {"energy_error", r.energy_error},
                                                      {"energy_scale", r.energy_scale},
                                                      {"momentum_error", r.momentum_error},
                                                      {"angular_momentum_error", r.angular_error},
                                                      {"penetration", r.penetration}};
    for (const auto& [name, x] : numbers) out[name] = x;
    out["evaluations"] = static_cast<long long>(r.evaluations);
    out["latch_times"] = array_of(r.latch, {d->latches()});
    out["peak"] = array_of(r.peak, {dk::kPeaks});
    out["peak_time"] = array_of(r.peak_time, {dk::kPeaks});
    out["leg_strokes"] = array_of(r.stroke[0][0], {2, kLegs, 2});
    out["leg_forces"] = array_of(r.leg_force[0], {2, kLegs});
    out["leg_work"] = array_of(r.leg_work[0], {2, kLegs});
    out["work"] = array_of(r.work, {5});
    out["impulse"] = array_of(r.impulse, {6});
    out["misalignment"] = array_of(r.misalignment, {6});
    out["state"] = array_of(r.state[0], {2, 19});
    out["locked"] = array_of(r.locked, {19});
    py::list events;
    for (const dk::Event& e : d->events()) events.append(py::make_tuple(e.time, kEvents[static_cast<int>(e.kind)], e.index));
    out["events"] = events;
    out["history"] = history;
    out["rows"] = rows;
    return out;
  }

  py::array_t<double> batch(const Doubles& conditions, const std::optional<Doubles>& factors, const dk::Options& o,
                            int threads, bool lanes) {
    if (Stop::stops_this_thread()) Stop::raise();  // many short ones would never ask
    const py::ssize_t n = conditions.size() / dk::Conditions::kNumbers;
    if (conditions.size() != n * dk::Conditions::kNumbers || (factors && factors->size() != n * dk::Factors::kNumbers))
      throw py::value_error("docking: conditions or factors have a wrong size");
    py::array_t<double> out({n, static_cast<py::ssize_t>(kColumns)});
    const std::size_t workers = static_cast<std::size_t>(std::min<py::ssize_t>(
        threads > 0 ? std::min(threads, kMostThreads) : default_threads(), std::max<py::ssize_t>(n, 1)));
    Unlocked unlocked;
    Work work(*this, conditions.data(), factors ? factors->data() : nullptr, o, out.mutable_data(), n, lanes,
              unlocked.watch);
    parallel_for(
        static_cast<std::ptrdiff_t>(workers), 1, static_cast<int>(workers),
        [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
          for (std::ptrdiff_t i = begin; i < end; ++i) static_cast<Work*>(context)->run();
        },
        &work);
    if (unlocked.watch.stopped()) unlocked.raise();
    return out;
  }

  py::object evaluate(const Doubles& c, const Doubles& r, const Doubles& q, const Doubles& u) {
    if (c.size() != dk::Conditions::kNumbers || r.size() != 3 || q.size() != 4 || u.size() != 6)
      throw py::value_error("docking: a state has a wrong size");
    Loan d(*this);
    dk::Stage e{};
    double kinetic, state[2 * dk::kVehicle];
    if (!d->evaluate_once(conditions_of(c.data()), r.data(), q.data(), u.data(), e, &kinetic, state)) return py::none();
    py::dict out;
    out["state"] = array_of(state, {2, dk::kVehicle});
    out["rate"] = array_of(e.rate.data(), {dk::kZ});
    out["twist"] = array_of(e.twist[0], {2, 6});
    out["leg_force"] = array_of(e.tau[0], {2, kLegs});
    out["load"] = array_of(e.load, {6});
    out["place"] = array_of(e.at, {3});
    out["turn"] = array_of(e.turn, {3, 3});
    out["base_acceleration"] = array_of(e.base_acceleration[0], {2, 6});
    out["ring"] = array_of(e.RN[0], {2, 3, 3});
    out["origin"] = array_of(e.o[0], {2, 3});
    out["powers"] = array_of(e.rate.data() + dk::kWork, {5});
    out["kinetic"] = kinetic;
    return out;
  }

 private:
  // an engine of one's own for a while
  class Loan {
   public:
    explicit Loan(Runner& of) : of_(of) {
      {
        std::lock_guard lock(of.mutex_);
        if (!of.free_.empty()) {
          fleet_ = std::move(of.free_.back());
          of.free_.pop_back();
        }
      }
      if (!fleet_) fleet_ = std::make_unique<dk::Fleet>(of.setup_);
    }
    ~Loan() {
      std::lock_guard lock(of_.mutex_);
      of_.free_.push_back(std::move(fleet_));
    }
    dk::Docking* operator->() { return &fleet_->one(); }
    dk::Fleet& fleet() { return *fleet_; }

   private:
    Runner& of_;
    std::unique_ptr<dk::Fleet> fleet_;
  };

  // rows of a batch, which threads take one after another
  class Work : public dk::Fleet::Source {
   public:
    Work(Runner& runner, const double* conditions, const double* factors, const dk::Options& o, double* out,
         std::ptrdiff_t count, bool lanes, Watch& watch)
        : runner_(runner),
          conditions_(conditions),
          factors_(factors),
          options_(o),
          out_(out),
          count_(count),
          lanes_(lanes),
          watch_(watch) {}

    void run() {
      Loan loan(runner_);
      if (lanes_) return loan.fleet().run(*this, options_);
      std::ptrdiff_t i;
      dk::Conditions conditions;
      dk::Factors factors;
      dk::Result result;
      while (!stopped() && next(i, conditions, factors)) {
        loan->run(conditions, factors, options_, result);
        done(i, result);
      }
    }

    bool next(std::ptrdiff_t& i, dk::Conditions& conditions, dk::Factors& factors) override {
      i = next_++;
      if (i >= count_) return false;
      conditions = conditions_of(conditions_ + i * dk::Conditions::kNumbers);
      factors = factors_ ? factors_of(factors_ + i * dk::Factors::kNumbers) : dk::Factors();
      return true;
    }
    void done(std::ptrdiff_t i, const dk::Result& result) override { write_columns(result, out_ + i * kColumns); }
    bool stopped() override {
      if (std::this_thread::get_id() == caller_ && watch_.stops()) stop_ = true;
      return stop_;
    }

   private:
    Runner& runner_;
    const double *conditions_, *factors_;
    const dk::Options& options_;
    double* out_;
    std::ptrdiff_t count_;
    bool lanes_;
    Watch& watch_;
    std::atomic<std::ptrdiff_t> next_{0};
    std::atomic<bool> stop_{false};
    const std::thread::id caller_ = std::this_thread::get_id();
  };

  py::object kept_;  // what the setup points to
  dk::Setup setup_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<dk::Fleet>> free_;
};

// rows of R (9), p (3), v (3), w (3) -> rows of force, moment (about A's origin), powers, penetration
py::array_t<double> contact_rows(const py::tuple& a, const py::tuple& b, const py::tuple& law, const Doubles& rows) {
  const py::ssize_t n = rows.size() / 18;
  if (rows.size() != 18 * n) throw py::value_error("contact_wrench: rows have a wrong size");
  const std::unique_ptr<ContactPair> pair = kernels->make_contact(shape_of(a), shape_of(b));
  const ContactLaw of = law_of(law);
  py::array_t<double> out({n, py::ssize_t{9}});
  const double* x = rows.data();
  double* y = out.mutable_data();
  py::gil_scoped_release unlocked;
  for (py::ssize_t i = 0; i < n; ++i, x += 18, y += 9) {
    ContactLoad load;
    pair->evaluate(of, x, x + 9, x + 12, x + 15, load);
    std::copy_n(load.force, 3, y), std::copy_n(load.moment, 3, y + 3);
    y[6] = load.normal_power, y[7] = load.friction_power, y[8] = load.penetration;
  }
  return out;
}

py::dict operations_of_contact() {
  py::dict out;
  for (const auto& [kind, n] : count_contact()) {
    py::dict counts;
    counts["mul"] = n.mul, counts["add"] = n.add, counts["div"] = n.div, counts["sqrt"] = n.sqrt, counts["trig"] = n.trig;
    out[kind] = counts;
  }
  return out;
}

}  // namespace

void register_docking(py::module_& m) {
  new_class<Stop>(m, "Stop", "Ends long calls of other threads.")
      .def(py::init<>())
      .def("set", &Stop::set, "End the calls that follow it with a KeyboardInterrupt, and those to come.")
      .def("is_set", &Stop::is_set)
      .def(
          "call",
          [](const Stop& stop, const py::function& work) {
            const Stop::Following following(stop);
            return work();
          },
          py::arg("work"), "What work() returns, whose long calls follow the stop.");
  m.def("contact_operations", &operations_of_contact, "Operations of a node of each kind.");
  new_class<dk::Options>(m, "DockingOptions", "Ends, step and acceptance of a run.")
      .def(py::init([](double t_end, double after, double dt, double tolerance, int halvings, int every) {
             if (!(t_end > 0) || !(dt > 0) || !(after >= 0) || halvings < 0 || every < 0)
               throw py::value_error("docking: t_end, dt, after, halvings and every must be positive");
             return dk::Options{t_end, after, dt, tolerance, halvings, every};
           }),
           py::kw_only(), py::arg("t_end"), py::arg("after"), py::arg("dt"), py::arg("tolerance"), py::arg("halvings"),
           py::arg("every"));
  new_class<Runner>(m, "DockingRunner", "Dockings of one scenario.")
      .def(py::init<const py::dict&, py::object>(), py::arg("setup"), py::arg("kept"))
      .def("start_gap", &Runner::start_gap, py::arg("conditions"), "Gap at which a docking begins.")
      .def("run", &Runner::run, py::arg("conditions"), py::arg("options"), py::arg("room"), py::arg("factors") = py::none(),
           py::arg("control") = py::none(), py::arg("hold") = 0.0,
           "One docking with at most `room` rows of its history; `error` of it: what has ended it before its time.")
      .def("batch", &Runner::batch, py::arg("conditions"), py::arg("factors"), py::arg("options"), py::arg("threads"),
           py::arg("lanes") = true, "Many dockings: their summaries in rows; lanes: side by side, same results.")
      .def("side_by_side", &Runner::side_by_side, "How many dockings of a batch a thread runs side by side.")
      .def("evaluate", &Runner::evaluate, py::arg("conditions"), py::arg("r"), py::arg("q"), py::arg("u"),
           "One evaluation of the equations of motion with the momenta of the start; None: it has failed.");
  m.def(
      "docking_history",
      [] {
        py::list list;
        for (const dk::HistoryField& f : dk::kHistory) list.append(py::make_tuple(f.name, f.size, f.unit, f.text));
        return list;
      },
      "What the history of a docking holds: (name, numbers, unit, text) of every field.");
  m.def("contact_wrench", &contact_rows, py::arg("a"), py::arg("b"), py::arg("law"), py::arg("rows"),
        "Contact of two rings for rows of R, p, v, w: force, moment, powers, penetration.");
}

}  // namespace zveno::bindings
