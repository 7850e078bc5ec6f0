// Laws of joints and simulations, as zveno.laws and zveno.simulation use them: arguments are checked there.
#include <pybind11/stl.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include <zveno/functions/steps_job.hpp>
#include <zveno/sim/linkage_holding.hpp>
#include <zveno/sim/simulations.hpp>
#include <zveno/solve/close.hpp>

#include "arrays.hpp"
#include "classes.hpp"
#include "interrupt.hpp"

namespace zveno::bindings {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::vector<double> numbers(const py::handle& h) {
  const auto a = h.cast<Doubles>();
  return {a.data(), a.data() + a.size()};
}

// of this size, or as many for each step
std::vector<double> numbers_of(const char* name, const py::handle& h, std::size_t size, std::ptrdiff_t steps = 1) {
  std::vector<double> x = numbers(h);
  if (x.size() != size && x.size() != size * static_cast<std::size_t>(steps))
    throw py::value_error("simulate: " + std::string(name) + " has " + std::to_string(x.size()) + " numbers, expected " +
                          std::to_string(size));
  return x;
}

void copy_exactly(const char* name, const py::handle& from, std::size_t size, double* to) {
  const std::vector<double> x = numbers_of(name, from, size);
  std::copy(x.begin(), x.end(), to);
}

std::vector<JointLaw> laws_of(const py::list& list, std::size_t count) {
  if (list.size() != count) throw py::value_error("simulate: expected " + std::to_string(count) + " laws");
  std::vector<JointLaw> laws(count);
  for (std::size_t k = 0; k < count; ++k)
    if (!list[k].is_none()) laws[k] = list[k].cast<const JointLaw&>();
  return laws;
}

Samples samples_of(const py::handle& times, const py::handle& values, std::size_t width = 6) {
  Samples s{numbers(times), numbers(values)};
  if (s.times.empty() || s.values.size() != width * s.times.size())
    throw py::value_error("simulate: a wrench or a motion has a wrong size");
  return s;
}

// (name, numbers...), as the laws of zveno.laws write themselves
Term term_of(const py::tuple& t) {
  const auto kind = t[0].cast<std::string>();
  const auto x = [&](std::size_t i) { return t[i].cast<double>(); };
  const auto fields = [&](std::size_t count) {
    if (t.size() != count + 1)
      throw py::value_error("JointLaw: '" + kind + "' has " + std::to_string(t.size() - 1) + " fields, expected " +
                            std::to_string(count));
  };
  if (kind == "spring_damper") return fields(4), SpringDamper{x(1), x(2), x(3), x(4)};
  if (kind == "dry_friction") return fields(2), DryFriction{x(1), x(2)};
  if (kind == "stops") return fields(4), Stops{x(1), x(2), x(3), x(4)};
  if (kind == "bumpers") return fields(5), Bumpers{x(1), x(2), x(3), x(4), x(5)};
  if (kind == "eddy_brake") return fields(2), EddyBrake{x(1), x(2)};
  if (kind == "lugre") return fields(6), LuGre{x(1), x(2), x(3), x(4), x(5), x(6)};
  if (kind == "slip_clutch") return fields(2), SlipClutch{x(1), t[2].cast<int>()};
  if (kind == "servo_constant") return fields(4), Servo{{x(1), x(2), x(3)}, Constant{x(4)}};
  if (kind == "servo_ramp") return fields(7), Servo{{x(1), x(2), x(3)}, Ramp{x(4), x(5), x(6), x(7)}};
  if (kind == "servo_table") {
    fields(5);
    auto samples = std::make_shared<Samples>(Samples{numbers(t[4]), numbers(t[5])});
    if (samples->times.empty() || samples->times.size() != samples->values.size())
      throw py::value_error("JointLaw: a table needs as many values as times, at least one");
    return Servo{{x(1), x(2), x(3)}, Table{std::move(samples)}};
  }
  if (kind == "formula") {  // reference, constants, operations of five numbers each
    fields(3);
    const std::vector<double> constants = numbers(t[2]), flat = numbers(t[3]);
    if (flat.size() % 5 != 0) throw py::value_error("JointLaw: operations of a formula have five numbers");
    std::vector<FormulaProgram::Step> steps;
    for (std::size_t i = 0; i < flat.size(); i += 5) {
      const auto y = [&](std::size_t k) { return static_cast<int>(flat[i + k]); };
      if (y(0) < 0 || y(0) >= FormulaProgram::kOps) throw py::value_error("JointLaw: unknown operation of a formula");
      steps.push_back({static_cast<FormulaProgram::Op>(y(0)), y(1), y(2), y(3), y(4)});
    }
    return Formula{x(1), std::make_shared<const FormulaProgram>(constants, std::move(steps))};
  }
  throw py::value_error("JointLaw: unknown term '" + kind + "'");
}

Doubles law_forces(const JointLaw& law, const Doubles& t, const Doubles& x, const Doubles& v,
                   const std::optional<Doubles>& z) {
  const py::ssize_t count = x.size(), states = law.states();
  if (t.size() != count || v.size() != count || (z && z->size() != count * states))
    throw py::value_error("JointLaw.force: sizes do not match");
  Doubles out(count);
  double settled[JointLaw::kMostStates], rate[JointLaw::kMostStates];
  const std::unique_ptr<JointLaws> laws = kernels->make_laws({law});
  for (py::ssize_t i = 0; i < count; ++i) {
    if (!z) laws->settle(v.data() + i, settled);
    laws->forces(t.data()[i], x.data() + i, v.data() + i, z ? z->data() + i * states : settled, rate, nullptr,
                 out.mutable_data() + i);
  }
  return out;
}

// `count` numbers that a callback returned
void read_numbers(const std::string& who, const char* what, const py::object& result, int count, double* to) {
  const std::string start = "simulate: " + who + " returned ";
  const std::string expected = std::string(", expected ") + what + " of shape (" + std::to_string(count) + ",)";
  const py::array any = py::array::ensure(result);
  if (!any) {
    PyErr_Clear();
    throw py::type_error(start + text_of(result) + expected);
  }
  const char kind = any.dtype().kind();
  if ((kind != 'f' && kind != 'i' && kind != 'u') || is_masked(result.ptr()))
    throw py::type_error(start + text_of(result) + expected);
  if (any.ndim() != 1 || any.size() != count)
    throw py::value_error(start + "an array of shape " + shape_text(any.shape(), static_cast<int>(any.ndim())) + expected);
  const Doubles numbers = Doubles::ensure(any);
  if (!numbers) throw py::error_already_set();
  std::copy_n(numbers.data(), count, to);
  for (int i = 0; i < count; ++i)
    if (!std::isfinite(to[i])) throw py::value_error(start + text_of(result) + ", expected finite numbers");
}

py::array_t<double> array_of(const double* x, py::ssize_t count) { return py::array_t<double>(count, x); }

// what the simulations of all systems are told
Schedule schedule_of(bool semi_implicit, double start, double dt, std::ptrdiff_t steps, std::ptrdiff_t every,
                     const std::string& implicit, double rtol, double atol, const std::vector<double>& breaks) {
  if (!(dt > 0) || steps < 0 || every < 1) throw py::value_error("simulate: dt, steps and every must be positive");
  if (!(rtol >= 0) || !(atol > 0)) throw py::value_error("simulate: rtol and atol must be positive");
  Schedule s{semi_implicit ? Stepper::semi_implicit : Stepper::rk4, start, dt, steps, every, {false, rtol, atol}};
  if (implicit == "midpoint")
    s.method = Stepper::midpoint;
  else if (implicit == "gauss")
    s.method = Stepper::gauss;
  else if (implicit == "radau")
    s.method = Stepper::radau, s.tolerances.controlled = rtol > 0;
  else if (!implicit.empty())
    throw py::value_error("simulate: unknown implicit method '" + implicit + "'");
  for (std::size_t i = 0; i < breaks.size(); ++i)
    if (!std::isfinite(breaks[i]) || (i > 0 && !(breaks[i] > breaks[i - 1])))
      throw py::value_error("simulate: breaks must increase");
  s.breaks = breaks;
  return s;
}

py::tuple event_of(const StopEvent& e) { return py::make_tuple(e.time, e.joint, e.upper, e.enters, e.rate); }

// a simulation, the Python objects it needs and the arrays it fills
template <class System>
class Run {
 public:
  // wanted: names of fields, None: all
  Run(py::object model, const Schedule& schedule, System system, bool calls_back, const py::object& wanted = py::none())
      : model_(std::move(model)), calls_back_(calls_back) {
    const Schema& schema = system.schema();
    Record record;
    for (int i = 0; i < schema.count; ++i) {
      if (!wanted.is_none() && !wanted.contains(schema.fields[i].name)) {
        record.data.push_back(nullptr);
        continue;
      }
      std::vector<py::ssize_t> shape{schedule.records()};
      for (const std::ptrdiff_t size : schema.shape(i)) shape.push_back(size);
      py::array_t<double> array = recycled_array(shape);
      record.data.push_back(array.mutable_data());
      arrays_[schema.fields[i].name] = array;
    }
    most_ = schedule.records();
    simulation_ = std::make_unique<Simulation<System>>(schedule, std::move(system), std::move(record));
  }

  bool advance(std::ptrdiff_t count) {
    if (busy_.exchange(true)) throw std::runtime_error("simulate: already running");
    struct Release {
      std::atomic<bool>& flag;
      ~Release() { flag = false; }
    } release{busy_};
    if (calls_back_) return simulation_->advance(count);
    py::gil_scoped_release unlocked;
    return simulation_->advance(count);
  }

  void settle() { simulation_->settle(); }

  // ---- for steps that are made in Python; these call back or not, the interpreter's lock stays

  Doubles state() {
    if (!simulation_->open()) throw std::runtime_error("simulate: the first state has failed");
    return Doubles(simulation_->system().size(), simulation_->state());
  }
  py::object rates(double t, std::ptrdiff_t step, const Doubles& y) {
    check_state(y);
    const double* rate = simulation_->rates_at(t, step, y.data());
    if (!rate) return py::none();
    return Doubles(simulation_->system().size(), rate);
  }
  py::object project(double t, const Doubles& y) {
    check_state(y);
    Doubles next(y.size(), y.data());
    if (!simulation_->project_at(t, next.mutable_data())) return py::none();
    return next;
  }
  bool reach(double t, std::ptrdiff_t step, const Doubles& y, bool record, bool find_events) {
    check_state(y);
    if (record && simulation_->recorded() >= most_) throw std::runtime_error("simulate: the record is full");
    return simulation_->reach(t, step, y.data(), record, find_events);
  }
  py::tuple made() const {
    const auto* c = simulation_->collocation();
    if (!c) return py::make_tuple(simulation_->step(), 0, 0);
    return py::make_tuple(c->steps(), c->rejected(), c->iterations());
  }
  py::list crossings() const {
    py::list list;
    for (const Crossing& x : simulation_->system().crossings())
      list.append(py::make_tuple(x.time, x.which, x.rises, numbers_in(x.q), numbers_in(x.qd)));
    return list;
  }
  std::ptrdiff_t step() const { return simulation_->step(); }
  std::ptrdiff_t recorded() const { return simulation_->recorded(); }
  const py::dict& arrays() const { return arrays_; }

  py::list events() const {
    py::list list;
    for (const StopEvent& e : simulation_->system().events()) list.append(event_of(e));
    return list;
  }
  py::object failure() const {
    if (!simulation_->failed()) return py::none();
    const Failure& f = simulation_->system().failure();
    return py::make_tuple(py::make_tuple(static_cast<int>(f.cause), f.part, f.margin), simulation_->failure_time());
  }

 private:
  static Doubles numbers_in(const std::vector<double>& x) { return Doubles(static_cast<py::ssize_t>(x.size()), x.data()); }
  void check_state(const Doubles& y) const {
    if (y.size() != simulation_->system().size()) throw py::value_error("simulate: a state has a wrong size");
  }

  py::object model_;
  py::dict arrays_;
  std::ptrdiff_t most_ = 0;
  bool calls_back_;
  std::atomic<bool> busy_{false};
  std::unique_ptr<Simulation<System>> simulation_;
};

using HexapodRun = Run<HexapodSystem>;
using ChainRun = Run<ChainSystem>;

std::unique_ptr<HexapodRun> run_hexapod_of(const py::object& hexapod, const Schedule& schedule, const py::object& r,
                                           const py::object& q, const py::object& u, const py::list& laws,
                                           const py::object& lower, const py::object& upper, const py::object& tau,
                                           const py::object& forces, const py::object& wrench, const py::object& base,
                                           const py::list& passive) {
  HexapodSetup s;
  s.hexapod = hexapod.cast<const Hexapod*>();
  s.kernels = kernels;
  copy_exactly("r", r, 3, s.r), copy_exactly("q", q, 4, s.q), copy_exactly("u", u, 6, s.u);
  s.laws = laws_of(laws, kLegs);
  for (const py::handle& item : passive) {  // (leg, joint, law)
    const auto t = item.cast<py::tuple>();
    s.passive.push_back({t[0].cast<int>(), t[1].cast<int>(), t[2].cast<const JointLaw&>()});
  }
  s.lower = numbers_of("lower", lower, kLegs), s.upper = numbers_of("upper", upper, kLegs);
  const auto row = static_cast<std::size_t>(kLegs * s.hexapod->joints());
  if (!tau.is_none()) s.tau = numbers_of("tau", tau, row, schedule.steps);
  if (!base.is_none()) s.base = numbers_of("base", base, 9);
  if (!forces.is_none())
    s.forces = [f = forces](double t, const double* p, const double* v, double* out) {
      read_numbers("laws(t, p, v)", "forces", f(t, array_of(p, kLegs), array_of(v, kLegs)), kLegs, out);
    };
  if (py::isinstance<py::tuple>(wrench))
    s.wrench = samples_of(wrench.cast<py::tuple>()[0], wrench.cast<py::tuple>()[1]);
  else if (!wrench.is_none())
    s.wrench_at = [f = wrench](double t, const double* x, const double* R, const double* w, double* out) {
      const py::array_t<double> rotation({3, 3}, R);
      read_numbers("wrench(t, r, R, u)", "a wrench", f(t, array_of(x, 3), rotation, array_of(w, 6)), 6, out);
    };
  const bool calls_back = s.forces || s.wrench_at;
  return std::make_unique<HexapodRun>(hexapod, schedule, HexapodSystem(std::move(s)), calls_back);
}

// (function, name, direction, terminal), or (link, point, normal, height, direction, terminal)
WatchedFunction watched_of(const Chain& chain, const py::tuple& t) {
  WatchedFunction w;
  w.direction = t[t.size() - 2].cast<int>(), w.terminal = t[t.size() - 1].cast<bool>();
  if (t.size() == 4) {
    const int n = chain.n();
    w.at = [f = py::object(t[0]), who = t[1].cast<std::string>() + "(t, q, qd)", n](double at, const double* q,
                                                                                    const double* qd) {
      double value;
      const py::object given = f(at, array_of(q, n), array_of(qd, n));
      read_numbers(who, "a number", py::module_::import("numpy").attr("ravel")(given), 1, &value);
      return value;
    };
    return w;
  }
  const auto name = t[0].cast<std::string>();
  const int link = chain.find_link(name);
  if (link == Chain::kNoLink || link == Chain::kBase)
    throw py::value_error("simulate: event names link '" + name + "', expected a link of model '" + chain.name() + "'");
  double point[3];
  copy_exactly("point", t[1], 3, point), copy_exactly("normal", t[2], 3, w.normal);
  w.point = chain.frame(link);
  w.point.p_BoUo_B += times(w.point.R_BU, Vec3<double>{point[0], point[1], point[2]});
  w.height = t[3].cast<double>();
  return w;
}

std::unique_ptr<ChainRun> run_chain_of(const py::object& chain, const Schedule& schedule, const py::object& q,
                                       const py::object& qd, const py::list& laws, const py::object& lower,
                                       const py::object& upper, const py::object& tau, const py::list& forces,
                                       const py::list& external, std::ptrdiff_t hold, const py::object& base,
                                       const py::list& watched, const py::object& wanted, const py::object& linkage,
                                       std::pair<double, double> baumgarte, const py::list& drives) {
  ChainSetup s;
  s.chain = chain.cast<const Chain*>();
  s.kernels = kernels;
  const int n = s.chain->n();
  const auto width = static_cast<std::size_t>(n);
  s.q = numbers_of("q", q, width), s.qd = numbers_of("qd", qd, width);
  s.laws = laws_of(laws, width);
  s.lower = numbers_of("lower", lower, width), s.upper = numbers_of("upper", upper, width);
  if (!tau.is_none()) s.tau = numbers_of("tau", tau, width, schedule.steps);
  bool calls_back = !forces.empty();
  if (calls_back)
    s.forces = [named = forces, n, more = std::vector<double>(width)](double t, const double* x, const double* v,
                                                                      double* out) mutable {
      std::fill_n(out, n, 0.0);
      for (const py::handle& item : named) {  // (name, function)
        const auto pair = item.cast<py::tuple>();
        const std::string who = pair[0].cast<std::string>() + "(t, q, qd)";
        read_numbers(who, "efforts", pair[1](t, array_of(x, n), array_of(v, n)), n, more.data());
        for (int j = 0; j < n; ++j) out[j] += more[static_cast<std::size_t>(j)];
      }
    };
  for (const py::handle& item : external) {  // (link, (times, values) or function)
    const auto pair = item.cast<py::tuple>();
    const auto name = pair[0].cast<std::string>();
    const int link = s.chain->find_link(name);
    if (link == Chain::kNoLink || link == Chain::kBase)
      throw py::value_error("simulate: external link is '" + name + "', expected a link of model '" + s.chain->name() + "'");
    ExternalWrench w{s.chain->frame(link), {}, {}};
    if (py::isinstance<py::tuple>(pair[1])) {
      w.samples = samples_of(pair[1].cast<py::tuple>()[0], pair[1].cast<py::tuple>()[1]);
    } else {
      calls_back = true;
      const std::string who = "external['" + name + "'](t, q, qd)";
      w.at = [f = py::object(pair[1]), who, n](double t, const double* x, const double* v, double* out) {
        read_numbers(who, "a wrench", f(t, array_of(x, n), array_of(v, n)), 6, out);
      };
    }
    s.external.push_back(std::move(w));
  }
  if (hold < 0) throw py::value_error("simulate: hold must not be negative");
  s.hold = hold;
  if (py::isinstance<py::tuple>(base)) {
    s.base = samples_of(base.cast<py::tuple>()[0], base.cast<py::tuple>()[1], 9);
  } else if (!base.is_none()) {
    calls_back = true;
    s.base_at = [f = base](double t, double* out) { read_numbers("base_motion(t)", "a motion", f(t), 9, out); };
  }
  for (const py::handle& item : watched) {
    s.watched.push_back(watched_of(*s.chain, item.cast<py::tuple>()));
    calls_back |= static_cast<bool>(s.watched.back().at);
  }
  if (!linkage.is_none()) {
    const Linkage& held = *linkage.cast<const Linkage*>();
    calls_back |= held.given() > 0;
    const ChooseRows choose = &choose_rows;
    const auto give = [linkage, n](double t, const double* x, const double* v, double* to) {
      const Doubles given = linkage.attr("_given")("simulate", array_of(x, n), array_of(v, n), t);
      std::copy_n(given.data(), given.size(), to);
    };
    std::vector<LoopDrive> loops;
    for (const py::handle& item : drives) {  // (place, name, (times, values) or function)
      const auto t = item.cast<py::tuple>();
      LoopDrive d{t[0].cast<int>(), {}, {}};
      if (d.constraint < 0 || d.constraint >= static_cast<int>(held.constraints().size()))
        throw py::value_error("simulate: a drive has no constraint");
      if (py::isinstance<py::tuple>(t[2])) {
        d.samples = samples_of(t[2].cast<py::tuple>()[0], t[2].cast<py::tuple>()[1], 2);
      } else {
        calls_back = true;
        const std::string who = "drive['" + t[1].cast<std::string>() + "'](t, q, qd)";
        d.at = [f = py::object(t[2]), who, n](double at, const double* x, const double* v, double* out) {
          read_numbers(who, "force and moment", f(at, array_of(x, n), array_of(v, n)), 2, out);
        };
      }
      loops.push_back(std::move(d));
    }
    s.holding = std::make_shared<LinkageHolding>(*kernels, held, choose, give, Baumgarte{baumgarte.first, baumgarte.second},
                                                 std::move(loops));
  }
  return std::make_unique<ChainRun>(linkage.is_none() ? chain : linkage, schedule, ChainSystem(std::move(s)), calls_back,
                                    wanted);
}

// What simulations in lanes find: events of every run. The calling thread hears Ctrl-C for all.
struct Passed {
  const Schedule* schedule;
  Events events;
  std::vector<std::vector<StopEvent>> found;
  Watch* watch = nullptr;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> stopped{false};

  bool unwanted() {
    if (std::this_thread::get_id() == caller && watch->stops()) stopped = true;
    return stopped;
  }
};

// Many runs of a chain or linkage in lanes; arrays of results are written in place: None, or (runs, records, ...). Returns
// flags of the runs that have failed, and the events of each.
py::tuple run_steps_of(const Chain& chain, const Schedule& schedule, const Doubles& q, const Doubles& qd,
                       const std::optional<Doubles>& tau, std::ptrdiff_t held, bool tau_by_run,
                       const std::optional<Doubles>& spring, const Doubles& lower, const Doubles& upper, const py::dict& out,
                       std::ptrdiff_t begin, std::ptrdiff_t end, int threads, const Linkage* linkage,
                       const std::pair<double, double>& baumgarte) {
  const auto n = static_cast<py::ssize_t>(chain.n());
  const py::ssize_t runs = n ? q.size() / n : 0;
  const auto wrong = [](const char* what) { throw py::value_error(std::string("simulate: ") + what + " has a wrong size"); };
  if (q.size() != runs * n || qd.size() != q.size() || begin < 0 || end > runs || begin > end) wrong("q or qd");
  if (held < 1 || (tau && tau->size() != n * held * (tau_by_run ? runs : 1))) wrong("tau");
  if ((spring && spring->size() != 4 * n) || lower.size() != n || upper.size() != n) wrong("spring or a limit");
  StepsJob job;
  if (linkage && (linkage->chain().n() != n || linkage->given() || !linkage->chosen()))
    throw py::value_error("simulate: this linkage does not run in lanes");
  job.chain = linkage ? &linkage->chain() : &chain;
  job.linkage = linkage;
  job.baumgarte = {baumgarte.first, baumgarte.second};
  job.semi_implicit = schedule.method == Stepper::semi_implicit;
  job.dt = schedule.dt, job.steps = schedule.steps, job.every = schedule.every, job.records = schedule.records();
  job.q = {q.data(), n}, job.qd = {qd.data(), n};
  if (tau) job.tau = {tau->data(), tau_by_run ? n * held : 0}, job.held = held;
  if (spring) job.spring = spring->data();
  job.lower = lower.data(), job.upper = upper.data();
  const auto place = [&](const char* name, py::ssize_t width) -> double* {
    if (!out.contains(name)) return nullptr;
    auto array = py::cast<py::array_t<double, py::array::c_style>>(out[name]);
    if (array.size() != runs * job.records * width) wrong(name);
    return array.mutable_data();
  };
  job.out_q = place("q", n), job.out_qd = place("qd", n), job.out_qdd = place("qdd", n);
  job.out_tau = place("tau", n), job.out_work = place("work_joints", 1);
  std::vector<std::uint8_t> broken(static_cast<std::size_t>(runs));
  job.broken = broken.data();
  Passed passed{&schedule, {}, std::vector<std::vector<StopEvent>>(static_cast<std::size_t>(runs))};
  job.unwanted = [](void* context) { return static_cast<Passed*>(context)->unwanted(); };
  for (int j = 0; j < chain.n(); ++j) passed.events.watch(j, JointLaw(), lower.data()[j], upper.data()[j]);
  job.context = &passed;
  job.passing = [](void* context, std::ptrdiff_t run, std::ptrdiff_t step, const double* p0, const double* v0,
                   const double* p1, const double* v1) {
    Passed& p = *static_cast<Passed*>(context);
    p.events.find(p.schedule->time(step), p.schedule->dt, p0, v0, p1, v1, p.found[static_cast<std::size_t>(run)]);
  };
  {
    struct Work {
      const StepsJob* job;
      std::ptrdiff_t begin;
    } work{&job, begin};
    Unlocked unlocked;
    passed.watch = &unlocked.watch;
    parallel_for(
        end - begin, kernels->lanes, threads,
        [](void* context, std::ptrdiff_t from, std::ptrdiff_t to) {
          const Work& w = *static_cast<Work*>(context);
          kernels->run_steps(*w.job, w.begin + from, w.begin + to);
        },
        &work, &unlocked.watch);
    if (passed.stopped || unlocked.watch.stopped()) unlocked.raise();
  }
  py::list events;
  for (std::ptrdiff_t run = begin; run < end; ++run) {
    py::list own;
    for (const StopEvent& e : passed.found[static_cast<std::size_t>(run)]) own.append(event_of(e));
    events.append(own);
  }
  return py::make_tuple(py::array_t<std::uint8_t>(runs, broken.data()), events);
}

// (name, unit, doc, ((dimension, labels), ...)); labels of a mechanism's own are None
template <std::size_t N>
py::list fields_of(const Field (&fields)[N]) {
  py::list list;
  for (const Field& f : fields) {
    py::list dims;
    for (const Dimension& d : f.dims) {
      if (!d.name) continue;
      const py::object labels = d.size > 0 ? py::object(py::tuple(py::str(d.labels).attr("split")())) : py::none();
      dims.append(py::make_tuple(d.name, labels));
    }
    list.append(py::make_tuple(f.name, f.unit, f.doc, py::tuple(dims)));
  }
  return list;
}

template <class R>
py::class_<R> register_run(py::module_& m, const char* name) {
  return new_class<R>(m, name, "A simulation under way; see zveno.simulation.")
      .def("advance", &R::advance, py::arg("count"), "Up to count steps more; False at the end or after a failure.")
      .def("settle", &R::settle, "Record the last good state unless it is recorded.")
      .def_property_readonly("step", &R::step)
      .def_property_readonly("recorded", &R::recorded)
      .def_property_readonly("failure", &R::failure, "None, or what went wrong and the time.")
      .def_property_readonly("events", &R::events, "(time, joint, upper, enters, rate) of every event.")
      .def_property_readonly("arrays", &R::arrays, "Records by name; only the first `recorded` rows are set.");
}

}  // namespace

void register_simulate(py::module_& m) {
  new_class<JointLaw>(m, "JointLaw", "Program of a joint's law; see zveno.laws.")
      .def(py::init([](const py::list& terms) {
             std::vector<Term> program;
             program.reserve(terms.size());
             for (const py::handle& t : terms) program.push_back(term_of(t.cast<py::tuple>()));
             return JointLaw(std::move(program));
           }),
           py::arg("terms"))
      .def_property_readonly("states", &JointLaw::states, "Number of internal states.")
      .def("force", &law_forces, py::arg("t"), py::arg("x"), py::arg("v"), py::arg("z") = py::none(),
           "Force for arrays of one size; z: internal states, by default those of steady sliding.");

  new_class<Schedule>(m, "Schedule", "Method, steps and records of a simulation.")
      .def(py::init(&schedule_of), py::kw_only(), py::arg("semi_implicit"), py::arg("start"), py::arg("dt"),
           py::arg("steps"), py::arg("every"), py::arg("implicit") = "", py::arg("rtol") = 0.0, py::arg("atol") = 1e-12,
           py::arg("breaks") = std::vector<double>());

  m.def(
      "record_fields",
      [](const std::string& system) {
        if (system == "hexapod") return fields_of(hexapod_record::kFields);
        if (system == "chain" || system == "linkage") return fields_of(chain_record::kFields);
        throw py::value_error("record_fields: system is '" + system + "', expected 'hexapod', 'chain' or 'linkage'");
      },
      py::arg("system"), py::pos_only(),
      "What simulations record: (name, unit, description, ((dimension, labels or None), ...)) of every field.");

  register_run<HexapodRun>(m, "HexapodRun")
      .def(py::init(&run_hexapod_of), py::arg("hexapod"), py::arg("schedule"), py::kw_only(), py::arg("r"), py::arg("q"),
           py::arg("u"), py::arg("laws"), py::arg("lower"), py::arg("upper"), py::arg("tau") = py::none(),
           py::arg("forces") = py::none(), py::arg("wrench") = py::none(), py::arg("base") = py::none(),
           py::arg("passive") = py::list());
  register_run<ChainRun>(m, "ChainRun")
      .def(py::init(&run_chain_of), py::arg("chain"), py::arg("schedule"), py::kw_only(), py::arg("q"), py::arg("qd"),
           py::arg("laws"), py::arg("lower"), py::arg("upper"), py::arg("tau") = py::none(), py::arg("forces") = py::list(),
           py::arg("external") = py::list(), py::arg("hold") = 0, py::arg("base") = py::none(),
           py::arg("watched") = py::list(), py::arg("wanted") = py::none(), py::arg("linkage") = py::none(),
           py::arg("baumgarte") = std::make_pair(0.0, 0.0), py::arg("drives") = py::list())
      .def("state", &ChainRun::state, "The state with its accounts, (size,); the first call records it.")
      .def("rates", &ChainRun::rates, py::arg("t"), py::arg("step"), py::arg("y"),
           "Rates of a state at time t within a step of the schedule; None: it has failed.")
      .def("project", &ChainRun::project, py::arg("t"), py::arg("y"),
           "The state back on the constraints, if there are any; None: it has failed.")
      .def("reach", &ChainRun::reach, py::arg("t"), py::arg("step"), py::arg("y"), py::arg("record"),
           py::arg("find_events") = true,
           "Look for events up to a state, and record it; False at the end or after a failure.")
      .def_property_readonly("made", &ChainRun::made, "Steps made, steps rejected, iterations of implicit steps.")
      .def_property_readonly("crossings", &ChainRun::crossings, "(time, which, rises, q, qd) of every watched zero.");
  m.def("run_steps", &run_steps_of, py::arg("chain"), py::arg("schedule"), py::kw_only(), py::arg("q"), py::arg("qd"),
        py::arg("tau"), py::arg("held"), py::arg("tau_by_run"), py::arg("spring"), py::arg("lower"), py::arg("upper"),
        py::arg("out"), py::arg("begin"), py::arg("end"), py::arg("threads"), py::arg("linkage").none(true) = py::none(),
        py::arg("baumgarte") = std::make_pair(0.0, 0.0),
        "Runs begin to end of a chain or linkage in lanes: (flags of failed runs, events of each); results are written to "
        "`out`.");
}

}  // namespace zveno::bindings
