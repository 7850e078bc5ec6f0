// The numeric methods of Hexapod: plain CPython methods from a table of signatures, as those of Chain.
#include <pybind11/stl.h>

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <zveno/batch/compute.hpp>
#include <zveno/functions/hexapod.hpp>
#include <zveno/functions/hexapod_causes.hpp>
#include <zveno/instruments/hexapod_opcount.hpp>
#include <zveno/instruments/hexapod_trace.hpp>
#include <zveno/solve/forward_kinematics.hpp>
#include <zveno/support/pool.hpp>

#include "arrays.hpp"
#include "callable.hpp"
#include "calls.hpp"
#include "convert.hpp"
#include "hexapod_docstrings.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

using Cause = HexFailure::Cause;

// ---- failures

// in zveno.errors, or Python's own
const char* type_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::argument: return "ValueError";
    case FailureKind::unreachable: return "UnreachableError";
    case FailureKind::singular: return "SingularityError";
    default: return "FloatingPointError";
  }
}

[[noreturn]] void raise(const char* function, const Hexapod& hexapod, const HexFailure& f, bool batch) {
  const CauseText& t = *find_cause(f.cause);
  const std::string text = std::string(function) + ": " + failure_text(hexapod, f, batch);
  if (t.kind == FailureKind::argument) throw py::value_error(text);
  if (t.kind == FailureKind::overflow) {
    PyErr_SetString(PyExc_FloatingPointError, text.c_str());
    throw py::error_already_set();
  }
  py::object error = make_error(type_of(t.kind), text);
  error.attr("leg") = f.leg < 0 ? py::object(py::none()) : py::object(py::str(hexapod.leg(f.leg).name));
  error.attr("leg_index") = f.leg < 0 ? py::object(py::none()) : py::object(py::int_(f.leg));
  error.attr("cause") = t.key;
  error.attr("margin") = f.margin;
  error.attr("row") = batch ? py::object(py::int_(f.row)) : py::object(py::none());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

// ---- signatures

enum class Param {
  r,
  R,
  u,
  acceleration,
  wrench,
  tau,
  base_motion,
  omega,
  base_wrench,
  start,
  method,
  base,
  on_error,
  out,
  threads
};
using P = Param;
constexpr int kParamCount = 15;

struct Spec {
  Param param;
  const char* name;
  bool required;
};

struct Signature {
  HexFunction function;
  const char* name;
  std::vector<Spec> params;  // positional; on_error, out, threads are keyword-only
  const char* doc;
};

const Spec kR{P::r, "r", true}, kRot{P::R, "R", true}, kU{P::u, "u", true};
const Spec kWrench{P::wrench, "wrench", true}, kTau{P::tau, "tau", true};

const Signature kSignatures[] = {
    {HexFunction::closure, "closure", {kR, kRot, {P::method, "method", false}, {P::start, "start", false}}, kClosureDoc},
    {HexFunction::joint_velocity, "joint_velocity", {kR, kRot, kU}, kJointVelocityDoc},
    {HexFunction::jacobian, "jacobian", {kR, kRot}, kHexJacobianDoc},
    {HexFunction::measures, "_measures", {kR, kRot}, kMeasuresDoc},
    {HexFunction::mass_matrix, "mass_matrix", {kR, kRot}, kHexMassMatrixDoc},
    {HexFunction::momentum, "momentum", {kR, kRot, kU}, kMomentumDoc},
    {HexFunction::kinetic_energy, "kinetic_energy", {kR, kRot, kU}, kHexKineticEnergyDoc},
    {HexFunction::potential_energy, "potential_energy", {kR, kRot}, kHexPotentialEnergyDoc},
    {HexFunction::inverse_dynamics,
     "inverse_dynamics",
     {kR,
      kRot,
      kU,
      {P::acceleration, "acceleration", true},
      {P::wrench, "wrench", false},
      {P::tau, "tau", false},
      {P::base_motion, "base_motion", false}},
     kHexInverseDynamicsDoc},
    {HexFunction::forward_dynamics,
     "forward_dynamics",
     {kR, kRot, kU, kWrench, kTau, {P::base_motion, "base_motion", false}},
     kHexForwardDynamicsDoc},
    {HexFunction::free_dynamics,
     "forward_dynamics_free",
     {kR,
      kRot,
      kU,
      kWrench,
      kTau,
      {P::base, "base", true},
      {P::omega, "omega", false},
      {P::base_wrench, "base_wrench", false}},
     kFreeDynamicsDoc},
};

Keywords keywords[std::size(kSignatures)];

struct Arguments {
  PyObject* slot[kParamCount] = {};
  PyObject* operator[](Param p) const {
    PyObject* x = slot[static_cast<int>(p)];
    return x == Py_None ? nullptr : x;
  }
};

Arguments parse(const Signature& s, const Keywords& names, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  Arguments a;
  place_arguments(s.name, names, s.params.size(), "on_error, out and threads", args, count, kwnames, a.slot);
  for (const Spec& p : s.params)
    if (p.required && !a[p.param]) throw py::type_error(std::string(s.name) + ": argument '" + p.name + "' is missing");
  return a;
}

// anything with as_matrix() is a rotation
py::object rotation_of(PyObject* arg) {
  if (py::detail::npy_api::get().PyArray_Check_(arg)) return py::reinterpret_borrow<py::object>(arg);
  static PyObject* const name = interned("as_matrix");
  PyObject* method = PyObject_GetAttr(arg, name);
  if (!method) {
    PyErr_Clear();
    return py::reinterpret_borrow<py::object>(arg);
  }
  return py::reinterpret_steal<py::object>(method)();
}

bool wants_nan(const Signature& s, PyObject* arg) {
  if (!arg) return false;
  if (PyUnicode_Check(arg)) {
    if (PyUnicode_CompareWithASCIIString(arg, "raise") == 0) return false;
    if (PyUnicode_CompareWithASCIIString(arg, "nan") == 0) return true;
  }
  throw py::value_error(std::string(s.name) + ": on_error is " + text_of(arg) + ", expected 'raise' or 'nan'");
}

bool wants_newton(const Signature& s, PyObject* arg) {
  if (!arg) return false;
  if (PyUnicode_Check(arg)) {
    if (PyUnicode_CompareWithASCIIString(arg, "closed") == 0) return false;
    if (PyUnicode_CompareWithASCIIString(arg, "newton") == 0) return true;
  }
  throw py::value_error(std::string(s.name) + ": method is " + text_of(arg) + ", expected 'closed' or 'newton'");
}

// ---- the result of forward dynamics: a plain C object, which costs a fifth of one with Python slots

struct DynamicsObject {
  PyObject ob_base;
  PyObject* data;
  PyObject* status;  // None or int16 codes
  int layout;        // joints of a leg, + 8 on a free base
};

void free_dynamics(PyObject* self) {
  auto* object = reinterpret_cast<DynamicsObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(object->data);
  Py_XDECREF(object->status);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef dynamics_members[] = {
    {"_data", T_OBJECT_EX, offsetof(DynamicsObject, data), 0, "Rows of numbers."},
    {"_status", T_OBJECT_EX, offsetof(DynamicsObject, status), 0, "None or codes."},
    {"_layout", T_INT, offsetof(DynamicsObject, layout), 0, "Joints of a leg, + 8 on a free base."},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot dynamics_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(&free_dynamics)},
    {Py_tp_members, dynamics_members},
    {Py_tp_doc, const_cast<char*>("Numbers of zveno.results.HexapodDynamics.")},
    {0, nullptr},
};

PyType_Spec dynamics_spec = {"zveno._core.DynamicsRows", sizeof(DynamicsObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                             dynamics_slots};

DynamicsObject* dynamics_of(PyObject* object) { return reinterpret_cast<DynamicsObject*>(object); }

py::object make_dynamics(py::object data, int layout, py::object status) {
  PyTypeObject* type = adopted(Adopted::HexapodDynamics);
  PyObject* result = type->tp_alloc(type, 0);
  if (!result) throw py::error_already_set();
  dynamics_of(result)->data = data.release().ptr();
  dynamics_of(result)->status = status.release().ptr();
  dynamics_of(result)->layout = layout;
  return py::reinterpret_steal<py::object>(result);
}

// the public name
const char* name_of(const Signature& s) { return s.function == HexFunction::measures ? "singularity" : s.name; }

// what is left to do when the job is known: arrays, result, errors
PyObject* run_call(const Context& c, const Signature& s, HexJob job, const Arguments& a) {
  const Hexapod* hexapod = job.hexapod;
  const char* const who = c.function;
  const py::ssize_t nj = hexapod->joints();
  const bool nan = wants_nan(s, a[P::on_error]);
  constexpr int kMost = 10;
  Rowwise arrays[kMost];
  Name array_names[kMost];
  RowData HexRows::* targets[kMost];
  int arrays_count = 0;
  py::object rotation;
  const auto add = [&](const char* name, RowData HexRows::* target, PyObject* arg, py::ssize_t tail, py::ssize_t inner = 0) {
    array_names[arrays_count] = {name};
    targets[arrays_count] = target;
    arrays[arrays_count++] = read_rows(c, {name}, arg, tail, inner);
  };
  for (const Spec& p : s.params) {
    PyObject* arg = a[p.param];
    if (!arg) continue;
    switch (p.param) {
      case P::r: add(p.name, &HexRows::r, arg, 3); break;
      case P::R:
        rotation = rotation_of(arg);
        add(p.name, &HexRows::R, rotation.ptr(), 3, 3);
        break;
      case P::u: add(p.name, &HexRows::u, arg, 6); break;
      case P::acceleration: add(p.name, &HexRows::acceleration, arg, 6); break;
      case P::wrench: add(p.name, &HexRows::wrench, arg, 6); break;
      case P::tau: {  // (..., 6) of the actuated joints or (..., 6, nj) of all
        py::object whole = as_array(c, {p.name}, arg);
        const auto* proxy = py::detail::array_proxy(whole.ptr());
        if (!job.program) {  // which was made for one of them
          job.actuated_only = proxy->nd < 1 || proxy->dimensions[proxy->nd - 1] != nj;
          if (job.actuated_only && (proxy->nd < 1 || proxy->dimensions[proxy->nd - 1] != 6))
            throw py::value_error(std::string(who) + ": tau has shape " + shape_text(proxy->dimensions, proxy->nd) +
                                  ", expected (..., 6) for the actuated joints or (..., 6, " + std::to_string(nj) +
                                  ") for all joints of model '" + hexapod->name() + "'");
        }
        add(p.name, &HexRows::tau, whole.ptr(), 6, job.actuated_only ? 0 : nj);
        if (!arrays[arrays_count - 1].owner) arrays[arrays_count - 1].owner = whole;
        break;
      }
      case P::base_motion: add(p.name, &HexRows::base, arg, 9); break;
      case P::omega: add(p.name, &HexRows::omega, arg, 3); break;
      case P::base_wrench: add(p.name, &HexRows::base_wrench, arg, 6); break;
      case P::start: add(p.name, &HexRows::start, arg, 6, nj); break;
      default: break;
    }
  }

  LeadBuffer lead_dims;
  const Lead lead = broadcast(c, arrays, array_names, arrays_count, lead_dims);
  HexRows rows;
  for (int k = 0; k < arrays_count; ++k) rows.*targets[k] = {arrays[k].data, arrays[k].stride};
  rows.count = lead.count();
  const int threads = threads_of(c, a[P::threads]);

  const bool dynamics = s.function == HexFunction::forward_dynamics || s.function == HexFunction::free_dynamics;
  py::ssize_t tail[2] = {hex_output_size(job), 0};
  int tail_nd = 1;
  if (s.function == HexFunction::closure || s.function == HexFunction::joint_velocity)
    tail[0] = 6, tail[1] = nj, tail_nd = 2;
  else if (s.function == HexFunction::measures)
    tail[0] = 6, tail[1] = 4, tail_nd = 2;
  else if (s.function == HexFunction::jacobian || s.function == HexFunction::mass_matrix)
    tail[0] = tail[1] = 6, tail_nd = 2;
  else if (tail[0] == 1)
    tail_nd = 0;

  PyObject* out = a[P::out];
  py::object reused;
  if (dynamics) {
    if (out) {  // an earlier result
      if (!PyObject_TypeCheck(out, adopted(Adopted::HexapodDynamics)))
        throw py::type_error(std::string(who) + ": out is a " + Py_TYPE(out)->tp_name +
                             ", expected a HexapodDynamics of an earlier call");
      reused = py::reinterpret_borrow<py::object>(dynamics_of(out)->data);
      if (!reused) throw py::value_error(std::string(who) + ": out holds no result");
    }
  }
  py::object result = result_array(c, {"out"}, dynamics ? reused.ptr() : out, lead, tail, tail_nd, arrays, array_names,
                                   arrays_count, rows.out);
  py::object status = py::none();
  if (nan && (dynamics || s.function == HexFunction::measures)) {
    py::array_t<std::int16_t> codes(std::vector<py::ssize_t>(lead.dims, lead.dims + lead.nd));
    rows.status = codes.mutable_data();
    status = codes;
  }

  HexFailure failure;
  if (rows.count > 4) {
    py::gil_scoped_release release;
    failure = compute_hexapod(*kernels, job, rows, threads);
  } else if (rows.count > 0) {
    failure = kernels->run_hexapod(job, rows, 0, rows.count);
  }
  if (failure.cause != Cause::none && !nan) {
    if (failure.cause == Cause::input)
      for (int k = 0; k < arrays_count; ++k) require_finite(c, array_names[k], arrays[k]);
    if (failure.cause == Cause::rotation) {
      const std::string where = lead.nd ? " (row " + std::to_string(failure.row) + ")" : "";
      throw py::value_error(std::string(who) + ": R" + where +
                            " is not a rotation: expected R'R = 1 within 1e-9 and determinant +1");
    }
    raise(who, *hexapod, failure, lead.nd > 0);
  }
  if (dynamics) {
    const int layout = static_cast<int>(nj) + (s.function == HexFunction::free_dynamics ? 8 : 0);
    if (!out) return make_dynamics(std::move(result), layout, std::move(status)).release().ptr();
    PyObject* before = std::exchange(dynamics_of(out)->status, status.release().ptr());
    Py_XDECREF(before);
    dynamics_of(out)->layout = layout;
    Py_INCREF(out);
    return out;
  }
  if (rows.status) return py::make_tuple(result, status).release().ptr();
  if (tail_nd == 0 && lead.nd == 0 && !out) return PyFloat_FromDouble(rows.out[0]);
  return result.release().ptr();
}

PyObject* evaluate_call(const Signature& s, const Keywords& names, PyObject* self, PyObject* const* args, Py_ssize_t count,
                        PyObject* kwnames) {
  const auto* instance = reinterpret_cast<const py::detail::instance*>(self);
  const Hexapod* hexapod = instance->simple_layout ? static_cast<const Hexapod*>(instance->simple_value_holder[0])
                                                   : py::cast<const Hexapod*>(py::handle(self));
  if (!hexapod) throw py::type_error(std::string(s.name) + ": Hexapod.__init__ was not called");
  const Context c{name_of(s), hexapod->name()};
  const Arguments a = parse(s, names, args, count, kwnames);
  HexJob job{hexapod, s.function};
  job.newton = wants_newton(s, a[P::method]);
  if (a[P::start] && !job.newton && !hexapod->has_custom())
    throw py::value_error(std::string(c.function) + ": start is given, but method 'closed' does not start anywhere");
  if (a[P::base]) job.base = body_of(c, "base", a[P::base]);
  return run_call(c, s, job, a);
}

template <int kIndex>
PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  return guarded([&] { return evaluate_call(kSignatures[kIndex], keywords[kIndex], self, args, count, kwnames); });
}

template <std::size_t... kIndices>
void add_methods(const py::object& type, std::index_sequence<kIndices...>) {
  static PyMethodDef definitions[sizeof...(kIndices)];
  for (std::size_t i = 0; i < std::size(kSignatures); ++i) {
    const auto add = [&](Param p, const char* name) { keywords[i].emplace_back(static_cast<int>(p), interned(name)); };
    for (const Spec& p : kSignatures[i].params) add(p.param, p.name);
    add(P::on_error, "on_error"), add(P::out, "out"), add(P::threads, "threads");
  }
  (add_method(type, definitions[kIndices], kSignatures[kIndices].name, &method<kIndices>, kSignatures[kIndices].doc), ...);
}

// ---- functions of one hexapod as graphs, and the objects that call the machine code made from them

// the row data of an argument; null for what is no array
RowData HexRows::* rows_of(Param p) {
  switch (p) {
    case P::r: return &HexRows::r;
    case P::R: return &HexRows::R;
    case P::u: return &HexRows::u;
    case P::acceleration: return &HexRows::acceleration;
    case P::wrench: return &HexRows::wrench;
    case P::tau: return &HexRows::tau;
    case P::base_motion: return &HexRows::base;
    case P::omega: return &HexRows::omega;
    case P::base_wrench: return &HexRows::base_wrench;
    case P::start: return &HexRows::start;
    default: return nullptr;
  }
}

// what is decided when a function is compiled
struct Choice {
  const Signature* signature = nullptr;
  std::vector<Spec> arguments;  // in the order of the method
  HexJob job{};
  HexRows given;  // what has data is given, see trace_hexapod
};

// arguments: names of those that calls will give; base: a Body or None
Choice choose(const Hexapod& hexapod, const std::string& function, const std::vector<std::string>& arguments, bool actuated,
              const py::object& base) {
  const auto fail = [](const std::string& text) { throw py::value_error("compile: " + text); };
  static const double something = 0;
  Choice choice;
  std::string known;
  for (const Signature& s : kSignatures) {
    if (s.function == HexFunction::measures) continue;
    if (s.name == function) choice.signature = &s;
    known += (known.empty() ? "'" : ", '") + std::string(s.name) + "'";
  }
  if (!choice.signature) fail("unknown function '" + function + "', expected one of " + known);
  known.clear();
  for (const Spec& p : choice.signature->params) {
    if (p.param == P::method || p.param == P::start || p.param == P::base) continue;
    known += (known.empty() ? "'" : ", '") + std::string(p.name) + "'";
    const auto wanted = std::count(arguments.begin(), arguments.end(), p.name);
    if (wanted > 1) fail("arguments has '" + std::string(p.name) + "' twice");
    if (wanted == 0 && (p.param == P::r || p.param == P::R)) fail("arguments lacks '" + std::string(p.name) + "'");
    if (wanted == 0) continue;
    choice.arguments.push_back(p);
    (choice.given.*rows_of(p.param)).data = &something;
  }
  if (choice.arguments.size() != arguments.size())
    for (const std::string& name : arguments)
      if (std::none_of(choice.arguments.begin(), choice.arguments.end(), [&](const Spec& p) { return p.name == name; }))
        fail("function '" + function + "' takes no argument '" + name + "', expected some of " + known);
  choice.job = {&hexapod, choice.signature->function};
  choice.job.actuated_only = actuated && choice.given.tau.data;
  const bool free = choice.job.function == HexFunction::free_dynamics;
  if (free == base.is_none()) fail("function '" + function + (free ? "' needs a base" : "' takes no base"));
  if (free) choice.job.base = body_of(Context{"compile", hexapod.name()}, "base", base.ptr());
  for (int k = 0; k < kLegs; ++k)
    if (hexapod.leg(k).type == LegType::custom)
      fail("leg '" + hexapod.leg(k).name + "' is custom: closed by iteration, it has no fixed sequence of operations");
  return choice;
}

struct CompiledState {
  py::object hexapod, code;  // kept alive
  Choice choice;
  Program program;
  Keywords names;

  // (hexapod, function, arguments, actuated, base, code, scalar address or 0, vector address, lanes)
  static std::unique_ptr<CompiledState> make(const py::tuple& t) {
    if (t.size() != 9) throw py::type_error("CompiledHexapod: expected 9 arguments");
    require_lanes("CompiledHexapod", t[8]);
    const auto address = [&](int i) { return reinterpret_cast<Program::Call>(t[i].cast<std::uintptr_t>()); };
    auto state = std::make_unique<CompiledState>();
    state->hexapod = t[0];
    state->code = t[5];
    state->choice = choose(t[0].cast<const Hexapod&>(), t[1].cast<std::string>(), t[2].cast<std::vector<std::string>>(),
                           t[3].cast<bool>(), t[4]);
    state->program = {address(6), address(7)};
    state->choice.job.program = &state->program;
    const auto add = [&](Param p, const char* name) { state->names.emplace_back(static_cast<int>(p), interned(name)); };
    for (const Spec& p : state->choice.arguments) add(p.param, p.name);
    add(P::on_error, "on_error"), add(P::out, "out"), add(P::threads, "threads");
    return state;
  }

  PyObject* call(PyObject* const* args, Py_ssize_t count, PyObject* kwnames) const {
    const Signature& s = *choice.signature;
    Arguments a;
    place_arguments(s.name, names, choice.arguments.size(), "on_error, out and threads", args, count, kwnames, a.slot);
    for (const Spec& p : choice.arguments)
      if (!a[p.param]) throw py::type_error(std::string(s.name) + ": argument '" + p.name + "' is missing");
    return run_call(Context{s.name, choice.job.hexapod->name()}, s, choice.job, a);
  }
};

// ---- the model

LegType leg_type_of(const std::string& text) {
  for (const LegTraits& row : kLegTraits)
    if (text == row.name) return row.type;
  if (text == "custom") return LegType::custom;
  throw ModelError("", "unknown leg type '" + text + "', expected UPS, SPU, UCU, RUS, RSU or custom");
}

BodySpec body_of_tuple(const py::handle& h) {
  const auto t = py::reinterpret_borrow<py::tuple>(h);
  if (t.size() != 3) throw py::value_error("Hexapod: a body has " + std::to_string(t.size()) + " fields, expected 3");
  return {t[0].cast<double>(), vector_of(t[1]), matrix_of(t[2])};
}

LegSpec leg_of(const py::tuple& t) {
  if (t.size() != 22) throw py::value_error("Hexapod: a leg has " + std::to_string(t.size()) + " fields, expected 22");
  LegSpec leg;
  leg.type = leg_type_of(t[0].cast<std::string>());
  leg.name = t[1].cast<std::string>();
  leg.base = vector_of(t[2]);
  leg.base_frame = matrix_of(t[3]);
  leg.ring = vector_of(t[4]);
  leg.ring_frame = matrix_of(t[5]);
  leg.crank_frame = matrix_of(t[6]);
  leg.tip_frame = matrix_of(t[7]);
  leg.inner_length = t[8].cast<double>();
  leg.outer_length = t[9].cast<double>();
  leg.inner = body_of_tuple(t[10]);
  leg.outer = body_of_tuple(t[11]);
  leg.reflected = t[12].cast<double>();
  leg.elbow = t[13].cast<int>();
  leg.spin_branch = t[14].cast<int>();
  if (leg.type == LegType::custom) {
    // a copy: the leg outlives the Python object
    leg.chain = std::make_shared<const Chain>(t[15].cast<const Chain&>());
    leg.link = t[16].cast<std::string>();
    leg.point = vector_of(t[17]);
    leg.universal = !t[18].is_none();
    if (leg.universal) {
      leg.axis = vector_of(t[18]);
      leg.ring_axis = vector_of(t[19]);
    }
    leg.start = t[20].cast<std::vector<double>>();
    leg.actuated = t[21].cast<std::string>();
  }
  return leg;
}

py::dict count_call(const Hexapod& hexapod, int leg, bool moving, bool free) {
  py::dict result;
  for (const auto& [name, n] : count_leg_operations(hexapod, leg, moving, free))
    result[name] = py::make_tuple(n.mul, n.add, n.div, n.sqrt, n.trig);
  return result;
}

}  // namespace

void register_hexapod(py::module_& m) {
  m.attr("DynamicsRows") = py::reinterpret_steal<py::object>(PyType_FromSpec(&dynamics_spec));
  py::class_<Hexapod>(m, "Hexapod")
      .def(py::init([](const std::string& name, const py::tuple& platform, const py::object& gravity, const py::list& legs) {
             std::vector<LegSpec> specs;
             specs.reserve(legs.size());
             for (const py::handle& leg : legs) specs.push_back(leg_of(py::reinterpret_borrow<py::tuple>(leg)));
             if (platform.size() != 2) throw py::value_error("Hexapod: platform has not 2 fields");
             const BodySpec ring{platform[0].cast<double>(), {0, 0, 0}, matrix_of(platform[1])};
             return std::make_unique<Hexapod>(name, ring, vector_of(gravity), std::move(specs));
           }),
           py::arg("name"), py::arg("platform"), py::arg("gravity"), py::arg("legs"))
      .def_property_readonly("nj", py::overload_cast<>(&Hexapod::joints, py::const_), "Largest number of joints of a leg.")
      .def_property_readonly(
          "lean",
          [](const Hexapod& h) {
            std::vector<bool> lean(kLegs, false);
            for (const LegGroup& g : h.groups())
              for (int k = 0; k < g.count; ++k) lean[g.legs[k]] = g.lean;
            return lean;
          },
          "Which legs are computed with the shorter code of axially symmetric bodies and aligned joints.");
  add_methods(m.attr("Hexapod"), std::make_index_sequence<std::size(kSignatures)>());
  m.def(
      "hexapod_forward_kinematics",
      [](const Hexapod& hexapod, const py::array_t<double, py::array::c_style>& strokes,
         py::array_t<double, py::array::c_style>& r, py::array_t<double, py::array::c_style>& R, int threads) {
        const py::ssize_t count = strokes.size() / 6;
        if (strokes.size() != 6 * count || r.size() != 3 * count || R.size() != 9 * count)
          throw py::value_error("hexapod_forward_kinematics: sizes do not match");
        py::array_t<double> residual(count), margin(count);
        py::array_t<int> iterations(count);
        py::array_t<std::int16_t> status(count);
        struct Shared {
          const Hexapod& hexapod;
          const double* strokes;
          double *r, *R, *residual, *margin;
          int* iterations;
          std::int16_t* status;
        } shared{hexapod,
                 strokes.data(),
                 r.mutable_data(),
                 R.mutable_data(),
                 residual.mutable_data(),
                 margin.mutable_data(),
                 iterations.mutable_data(),
                 status.mutable_data()};
        {
          py::gil_scoped_release release;
          parallel_for(
              count, 16, threads,
              [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
                const Shared& s = *static_cast<Shared*>(context);
                for (std::ptrdiff_t i = begin; i < end; ++i) {
                  const KinematicsResult k =
                      forward_kinematics(*kernels, s.hexapod, s.strokes + 6 * i, s.r + 3 * i, s.R + 9 * i);
                  s.residual[i] = k.residual;
                  s.margin[i] = k.failure.margin;
                  s.iterations[i] = k.iterations;
                  s.status[i] = k.failure.code();
                }
              },
              &shared);
        }
        return py::make_tuple(residual, iterations, status, margin);
      },
      py::arg("hexapod"), py::arg("strokes").noconvert(), py::arg("r").noconvert(), py::arg("R").noconvert(),
      py::arg("threads") = 1, kForwardKinematicsDoc);
  m.attr("CompiledHexapod") = Callable<CompiledState>::type("zveno._core.CompiledHexapod");
  m.def(
      "trace_hexapod",
      [](const Hexapod& hexapod, const std::string& function, const std::vector<std::string>& arguments, bool actuated,
         const py::object& base, std::size_t limit) {
        const Choice choice = choose(hexapod, function, arguments, actuated, base);
        const py::gil_scoped_release release;
        return trace_hexapod(choice.job, choice.given, limit);
      },
      py::arg("hexapod"), py::arg("function"), py::arg("arguments"), py::arg("actuated"), py::arg("base"), py::arg("limit"),
      "What a method computes for this hexapod, as a graph: results, measures of the legs, of inverse dynamics the "
      "Jacobian.");
  m.def("hexapod_operations", &count_call, py::arg("hexapod"), py::arg("leg"), py::arg("moving") = false,
        py::arg("free") = false,
        "Operations of one leg by stage, or of the ring (leg -1): {stage: (mul, add, div, sqrt, trig)}.");
  m.def(
      "hexapod_cause",
      [](int cause) {
        const CauseText* t = find_cause(cause);
        if (!t) throw py::value_error("status " + std::to_string(cause) + " is no status of a hexapod");
        return py::make_tuple(type_of(t->kind), t->key, t->text);
      },
      py::arg("cause"), "Kind of error, key and text of a cause in a status.");
}

}  // namespace zveno::bindings
