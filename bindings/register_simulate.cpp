// Laws of joints and simulations, as zveno.laws and zveno.simulation use them: arguments are checked there.
#include <pybind11/stl.h>

#include <atomic>
#include <cmath>

#include <zveno/sim/chain_system.hpp>
#include <zveno/sim/hexapod_system.hpp>
#include <zveno/sim/integrate.hpp>
#include <zveno/sim/linkage_holding.hpp>
#include <zveno/solve/close.hpp>

#include "arrays.hpp"
#include "classes.hpp"

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

Samples samples_of(const py::handle& times, const py::handle& values) {
  Samples s{numbers(times), numbers(values)};
  if (s.times.empty() || s.values.size() != 6 * s.times.size()) throw py::value_error("simulate: a wrench has a wrong size");
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
    laws->forces(t.data()[i], x.data() + i, v.data() + i, z ? z->data() + i * states : settled, rate,
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
Schedule schedule_of(bool semi_implicit, double start, double dt, std::ptrdiff_t steps, std::ptrdiff_t every) {
  if (!(dt > 0) || steps < 0 || every < 1) throw py::value_error("simulate: dt, steps and every must be positive");
  return {semi_implicit ? Stepper::semi_implicit : Stepper::rk4, start, dt, steps, every};
}

// a simulation, the Python objects it needs and the arrays it fills
template <class System>
class Run {
 public:
  Run(py::object model, const Schedule& schedule, System system, bool calls_back)
      : model_(std::move(model)), calls_back_(calls_back) {
    const Schema& schema = system.schema();
    Record record;
    for (int i = 0; i < schema.count; ++i) {
      std::vector<py::ssize_t> shape{schedule.records()};
      for (const std::ptrdiff_t size : schema.shape(i)) shape.push_back(size);
      py::array_t<double> array(shape);
      record.data.push_back(array.mutable_data());
      arrays_[schema.fields[i].name] = array;
    }
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
  std::ptrdiff_t step() const { return simulation_->step(); }
  std::ptrdiff_t recorded() const { return simulation_->recorded(); }
  const py::dict& arrays() const { return arrays_; }

  py::list events() const {
    py::list list;
    for (const StopEvent& e : simulation_->system().events())
      list.append(py::make_tuple(e.time, e.joint, e.upper, e.enters, e.rate));
    return list;
  }
  py::object failure() const {
    if (!simulation_->failed()) return py::none();
    const Failure& f = simulation_->system().failure();
    return py::make_tuple(py::make_tuple(static_cast<int>(f.cause), f.part, f.margin), simulation_->failure_time());
  }

 private:
  py::object model_;
  py::dict arrays_;
  bool calls_back_;
  std::atomic<bool> busy_{false};
  std::unique_ptr<Simulation<System>> simulation_;
};

using HexapodRun = Run<HexapodSystem>;
using ChainRun = Run<ChainSystem>;

std::unique_ptr<HexapodRun> run_hexapod_of(const py::object& hexapod, const Schedule& schedule, const py::object& r,
                                           const py::object& q, const py::object& u, const py::list& laws,
                                           const py::object& lower, const py::object& upper, const py::object& tau,
                                           const py::object& forces, const py::object& wrench, const py::object& base) {
  HexapodSetup s;
  s.hexapod = hexapod.cast<const Hexapod*>();
  s.kernels = kernels;
  copy_exactly("r", r, 3, s.r), copy_exactly("q", q, 4, s.q), copy_exactly("u", u, 6, s.u);
  s.laws = laws_of(laws, kLegs);
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

std::unique_ptr<ChainRun> run_chain_of(const py::object& chain, const Schedule& schedule, const py::object& q,
                                       const py::object& qd, const py::list& laws, const py::object& lower,
                                       const py::object& upper, const py::object& tau, const py::list& forces,
                                       const py::list& external, const py::object& linkage) {
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
  if (!linkage.is_none()) {
    const Linkage& held = *linkage.cast<const Linkage*>();
    calls_back |= held.given() > 0;
    const ChooseRows choose = &choose_rows;
    const auto give = [linkage, n](double t, const double* x, const double* v, double* to) {
      const Doubles given = linkage.attr("_given")("simulate", array_of(x, n), array_of(v, n), t);
      std::copy_n(given.data(), given.size(), to);
    };
    s.holding = std::make_shared<LinkageHolding>(*kernels, held, choose, give);
  }
  return std::make_unique<ChainRun>(linkage.is_none() ? chain : linkage, schedule, ChainSystem(std::move(s)), calls_back);
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
           py::arg("steps"), py::arg("every"));

  m.def(
      "record_fields",
      [](const std::string& system) {
        if (system == "hexapod") return fields_of(hexapod_record::kFields);
        if (system == "chain") return fields_of(chain_record::kFields);
        throw py::value_error("record_fields: system is '" + system + "', expected 'hexapod' or 'chain'");
      },
      py::arg("system"), py::pos_only(),
      "What simulations record: (name, unit, description, ((dimension, labels or None), ...)) of every field.");

  register_run<HexapodRun>(m, "HexapodRun")
      .def(py::init(&run_hexapod_of), py::arg("hexapod"), py::arg("schedule"), py::kw_only(), py::arg("r"), py::arg("q"),
           py::arg("u"), py::arg("laws"), py::arg("lower"), py::arg("upper"), py::arg("tau") = py::none(),
           py::arg("forces") = py::none(), py::arg("wrench") = py::none(), py::arg("base") = py::none());
  register_run<ChainRun>(m, "ChainRun")
      .def(py::init(&run_chain_of), py::arg("chain"), py::arg("schedule"), py::kw_only(), py::arg("q"), py::arg("qd"),
           py::arg("laws"), py::arg("lower"), py::arg("upper"), py::arg("tau") = py::none(), py::arg("forces") = py::list(),
           py::arg("external") = py::list(), py::arg("linkage") = py::none());
}

}  // namespace zveno::bindings
