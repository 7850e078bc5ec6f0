// Leg laws and the simulation of a hexapod, as zveno.laws and zveno.simulation use them: arguments are checked there.
#include <pybind11/stl.h>

#include <atomic>
#include <cmath>

#include <zveno/sim/simulate.hpp>

#include "arrays.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::vector<double> numbers(const py::handle& h) {
  const auto a = h.cast<Doubles>();
  return {a.data(), a.data() + a.size()};
}

void copy_exactly(const char* name, const Doubles& from, py::ssize_t size, double* to) {
  if (from.size() != size)
    throw py::value_error("HexapodRun: " + std::string(name) + " has " + std::to_string(from.size()) +
                          " numbers, expected " + std::to_string(size));
  std::copy_n(from.data(), size, to);
}

// (name, numbers...), as the laws of zveno.laws write themselves
Term term_of(const py::tuple& t) {
  const auto kind = t[0].cast<std::string>();
  const auto x = [&](std::size_t i) { return t[i].cast<double>(); };
  const auto fields = [&](std::size_t count) {
    if (t.size() != count + 1)
      throw py::value_error("LegLaw: '" + kind + "' has " + std::to_string(t.size() - 1) + " fields, expected " +
                            std::to_string(count));
  };
  if (kind == "spring_damper") return fields(4), SpringDamper{x(1), x(2), x(3), x(4)};
  if (kind == "dry_friction") return fields(2), DryFriction{x(1), x(2)};
  if (kind == "stops") return fields(4), Stops{x(1), x(2), x(3), x(4)};
  if (kind == "eddy_brake") return fields(2), EddyBrake{x(1), x(2)};
  if (kind == "lugre") return fields(6), LuGre{x(1), x(2), x(3), x(4), x(5), x(6)};
  if (kind == "slip_clutch") return fields(2), SlipClutch{x(1), t[2].cast<int>()};
  if (kind == "servo_constant") return fields(4), Servo{x(1), x(2), x(3), Constant{x(4)}};
  if (kind == "servo_ramp") return fields(7), Servo{x(1), x(2), x(3), Ramp{x(4), x(5), x(6), x(7)}};
  if (kind == "servo_table") {
    fields(5);
    auto samples = std::make_shared<Samples>(Samples{numbers(t[4]), numbers(t[5])});
    if (samples->times.empty() || samples->times.size() != samples->values.size())
      throw py::value_error("LegLaw: a table needs as many values as times, at least one");
    return Servo{x(1), x(2), x(3), Table{std::move(samples)}};
  }
  throw py::value_error("LegLaw: unknown term '" + kind + "'");
}

Doubles law_forces(const LegLaw& law, const Doubles& t, const Doubles& x, const Doubles& v,
                   const std::optional<Doubles>& z) {
  const py::ssize_t count = x.size(), states = law.states();
  if (t.size() != count || v.size() != count || (z && z->size() != count * states))
    throw py::value_error("LegLaw.force: sizes do not match");
  Doubles out(count);
  double deflection[LegLaw::kMostStates], rate[LegLaw::kMostStates];
  for (py::ssize_t i = 0; i < count; ++i) {
    const LegState s{t.data()[i], x.data()[i], v.data()[i]};
    if (z)
      std::copy_n(z->data() + i * states, states, deflection);
    else
      law.settled(s, deflection);
    out.mutable_data()[i] = law.force(s, deflection, rate);
  }
  return out;
}

// what a callback returned
void read_six(const char* who, const char* what, const py::object& result, double* to) {
  const std::string start = std::string("simulate: ") + who + " returned ";
  const std::string expected = std::string(", expected ") + what + " of shape (6,)";
  const py::array any = py::array::ensure(result);
  if (!any) {
    PyErr_Clear();
    throw py::type_error(start + text_of(result) + expected);
  }
  const char kind = any.dtype().kind();
  if (kind != 'f' && kind != 'i' && kind != 'u') throw py::type_error(start + text_of(result) + expected);
  if (any.ndim() != 1 || any.size() != 6)
    throw py::value_error(start + "an array of shape " + shape_text(any.shape(), static_cast<int>(any.ndim())) + expected);
  const Doubles six = Doubles::ensure(any);
  if (!six) throw py::error_already_set();
  std::copy_n(six.data(), 6, to);
  for (int i = 0; i < 6; ++i)
    if (!std::isfinite(to[i])) throw py::value_error(start + text_of(result) + ", expected finite numbers");
}

// a simulation, the Python objects it needs and the arrays it fills
class HexapodRun {
 public:
  HexapodRun(const py::object& hexapod, bool semi_implicit, double start, double dt, std::ptrdiff_t steps,
             std::ptrdiff_t every, const Doubles& r, const Doubles& q, const Doubles& u, const py::list& laws,
             const Doubles& lower, const Doubles& upper, const py::object& tau, const py::object& wrench_times,
             const py::object& wrench_values, const py::object& base, const py::object& leg_forces, const py::object& wrench)
      : hexapod_(hexapod) {
    SimulationSetup s;
    s.hexapod = hexapod.cast<const Hexapod*>();
    s.kernels = kernels;
    s.method = semi_implicit ? Stepper::semi_implicit : Stepper::rk4;
    s.start = start, s.dt = dt, s.steps = steps, s.every = every;
    if (!(dt > 0) || steps < 0 || every < 1) throw py::value_error("HexapodRun: dt, steps and every must be positive");
    copy_exactly("r", r, 3, s.r), copy_exactly("q", q, 4, s.q), copy_exactly("u", u, 6, s.u);
    copy_exactly("lower", lower, kLegs, s.lower), copy_exactly("upper", upper, kLegs, s.upper);
    if (laws.size() != kLegs) throw py::value_error("HexapodRun: expected six laws");
    for (int k = 0; k < kLegs; ++k)
      if (!laws[k].is_none()) s.laws[k] = laws[k].cast<const LegLaw&>();
    const int nj = s.hexapod->joints();
    if (!tau.is_none()) s.tau = numbers(tau);
    const auto row = static_cast<std::size_t>(kLegs * nj);
    if (!s.tau.empty() && s.tau.size() != row && s.tau.size() != row * static_cast<std::size_t>(steps))
      throw py::value_error("HexapodRun: tau has " + std::to_string(s.tau.size()) + " numbers");
    if (!wrench_times.is_none()) s.wrench = {numbers(wrench_times), numbers(wrench_values)};
    if (s.wrench.values.size() != 6 * s.wrench.times.size()) throw py::value_error("HexapodRun: wrench has a wrong size");
    if (!base.is_none()) s.base.resize(9), copy_exactly("base", base.cast<Doubles>(), 9, s.base.data());
    if (!leg_forces.is_none())
      s.leg_forces = [f = leg_forces](double t, const double* p, const double* v, double* forces) {
        read_six("laws(t, p, v)", "forces", f(t, py::array_t<double>(6, p), py::array_t<double>(6, v)), forces);
      };
    if (!wrench.is_none())
      s.wrench_at = [f = wrench](double t, const double* x, const double* R, const double* w, double* out) {
        const py::array_t<double> rotation({3, 3}, R);
        read_six("wrench(t, r, R, u)", "a wrench", f(t, py::array_t<double>(3, x), rotation, py::array_t<double>(6, w)),
                 out);
      };
    calls_back_ = s.leg_forces || s.wrench_at;
    const std::ptrdiff_t records = s.records();
    for (int i = 0; i < kRecordFieldCount; ++i) {
      const RecordField& f = kRecordFields[i];
      std::vector<py::ssize_t> shape{records};
      if (f.rows) shape.push_back(f.rows);
      if (f.columns) shape.push_back(f.columns == kJoints ? nj : f.columns);
      py::array_t<double> array(shape);
      s.record[i] = array.mutable_data();
      arrays_[f.name] = array;
    }
    simulation_ = std::make_unique<Simulation>(std::move(s));
  }

  bool advance(std::ptrdiff_t count) {
    if (busy_.exchange(true)) throw std::runtime_error("HexapodRun.advance: already running");
    struct Release {
      std::atomic<bool>& flag;
      ~Release() { flag = false; }
    } release{busy_};
    if (calls_back_) return simulation_->advance(count);
    py::gil_scoped_release unlocked;
    return simulation_->advance(count);
  }

  py::object failure() const {
    const Failure& f = simulation_->failure();
    if (!f) return py::none();
    return py::make_tuple(static_cast<int>(f.cause), f.part, f.margin, simulation_->failure_time());
  }

  py::list events() const {
    py::list list;
    for (const StopEvent& e : simulation_->events()) list.append(py::make_tuple(e.time, e.leg, e.upper, e.enters, e.rate));
    return list;
  }

  Simulation& simulation() { return *simulation_; }
  const py::dict& arrays() const { return arrays_; }

 private:
  py::object hexapod_;
  py::dict arrays_;
  bool calls_back_ = false;
  std::atomic<bool> busy_{false};
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace

void register_simulate(py::module_& m) {
  py::class_<LegLaw>(m, "LegLaw", "Program of a leg's law; see zveno.laws.")
      .def(py::init([](const py::list& terms) {
             std::vector<Term> program;
             program.reserve(terms.size());
             for (const py::handle& t : terms) program.push_back(term_of(t.cast<py::tuple>()));
             return LegLaw(std::move(program));
           }),
           py::arg("terms"))
      .def_property_readonly("states", &LegLaw::states, "Number of internal states.")
      .def("force", &law_forces, py::arg("t"), py::arg("x"), py::arg("v"), py::arg("z") = py::none(),
           "Force for arrays of one size; z: internal states, by default those of steady sliding.");

  py::class_<HexapodRun>(m, "HexapodRun", "A simulation under way; see zveno.simulation.")
      .def(py::init<const py::object&, bool, double, double, std::ptrdiff_t, std::ptrdiff_t, const Doubles&, const Doubles&,
                    const Doubles&, const py::list&, const Doubles&, const Doubles&, const py::object&, const py::object&,
                    const py::object&, const py::object&, const py::object&, const py::object&>(),
           py::arg("hexapod"), py::kw_only(), py::arg("semi_implicit"), py::arg("start"), py::arg("dt"), py::arg("steps"),
           py::arg("every"), py::arg("r"), py::arg("q"), py::arg("u"), py::arg("laws"), py::arg("lower"), py::arg("upper"),
           py::arg("tau") = py::none(), py::arg("wrench_times") = py::none(), py::arg("wrench_values") = py::none(),
           py::arg("base") = py::none(), py::arg("leg_forces") = py::none(), py::arg("wrench") = py::none())
      .def("advance", &HexapodRun::advance, py::arg("count"), "Up to count steps more; False at the end or after a failure.")
      .def(
          "settle", [](HexapodRun& run) { run.simulation().settle(); }, "Record the last good state unless it is recorded.")
      .def_property_readonly("step", [](HexapodRun& run) { return run.simulation().step(); })
      .def_property_readonly("recorded", [](HexapodRun& run) { return run.simulation().recorded(); })
      .def_property_readonly("failure", &HexapodRun::failure, "None, or cause, leg, margin and time.")
      .def_property_readonly("events", &HexapodRun::events, "(time, leg, upper, enters, rate) of every event.")
      .def_property_readonly("arrays", &HexapodRun::arrays, "Records by name; only the first `recorded` rows are set.");
}

}  // namespace zveno::bindings
