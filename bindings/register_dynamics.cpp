// The numeric methods of Chain. They are plain CPython methods (METH_FASTCALL): pybind11's own call costs more than the
// kernel of a six-joint arm. One parser serves them all, from a table of signatures.
#include <pybind11/stl.h>

#include <string_view>
#include <thread>

#include <zveno/batch/compute.hpp>
#include <zveno/instruments/opcount.hpp>

#include "docstrings.hpp"
#include "dynamics.hpp"
#include "registers.hpp"
#include "types.hpp"

namespace zveno::bindings {

const KernelTable* kernels = nullptr;

namespace {

const std::vector<std::pair<const char*, Method>> kMassMethods = {
    {"crba", Method::crba},
    {"crba-walk", Method::crba_walk},
    {"crba-columns", Method::crba_columns},
    {"kane", Method::kane},
    {"kane-triangular", Method::kane_triangular},
    {"kane-recurrent", Method::kane_recurrent},
    {"kane-collapsed", Method::kane_collapsed},
    {"kosynka", Method::kosynka},
};

// order of enum Function
const Signature kSignatures[] = {
    {Function::mass_matrix, "mass_matrix", {{P::q, "q"}, {P::method, "method"}}, kMassMethods, kMassMatrixDoc},
    {Function::bias,
     "bias",
     {{P::q, "q"}, {P::qd, "qd"}, {P::external, "external"}, {P::method, "method"}},
     {{"rnea", Method::rnea}, {"kane", Method::kane_bias}},
     kBiasDoc},
    {Function::inverse_dynamics,
     "inverse_dynamics",
     {{P::q, "q"}, {P::qd, "qd"}, {P::third, "qdd"}, {P::external, "external"}},
     {},
     kInverseDynamicsDoc},
    {Function::forward_dynamics,
     "forward_dynamics",
     {{P::q, "q"}, {P::qd, "qd"}, {P::third, "tau"}, {P::external, "external"}, {P::method, "method"}},
     {{"aba", Method::aba}, {"cholesky", Method::cholesky}, {"cholesky-walk", Method::cholesky_walk}},
     kForwardDynamicsDoc},
    {Function::reactions,
     "reactions",
     {{P::q, "q"}, {P::qd, "qd"}, {P::third, "qdd"}, {P::external, "external"}, {P::frame, "frame"}},
     {},
     kReactionsDoc},
    {Function::base_wrench,
     "base_wrench",
     {{P::q, "q"}, {P::qd, "qd"}, {P::third, "qdd"}, {P::external, "external"}},
     {},
     kBaseWrenchDoc},
    {Function::kinetic_energy, "kinetic_energy", {{P::q, "q"}, {P::qd, "qd"}}, {}, kKineticEnergyDoc},
    {Function::potential_energy, "potential_energy", {{P::q, "q"}}, {}, kPotentialEnergyDoc},
    {Function::pose, "pose", {{P::q, "q"}, {P::link, "link"}}, {}, kPoseDoc},
    {Function::jacobian,
     "jacobian",
     {{P::q, "q"}, {P::link, "link"}, {P::point, "point"}, {P::frame, "frame"}},
     {},
     kJacobianDoc},
    {Function::jacobian_rate,
     "jacobian_rate",
     {{P::q, "q"}, {P::qd, "qd"}, {P::link, "link"}, {P::point, "point"}, {P::frame, "frame"}},
     {},
     kJacobianRateDoc},
    {Function::derivatives,
     "derivatives",
     {{P::q, "q"}, {P::qd, "qd"}, {P::third, "qdd"}, {P::external, "external"}},
     {},
     kDerivativesDoc},
};
std::string list_of_methods(const Signature& s) {
  std::string text;
  for (const auto& [name, method] : s.methods) text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
  return text;
}

Keywords keywords[std::size(kSignatures)];

Keywords keywords_of(const Signature& s) {
  Keywords names;
  for (const auto& [param, name] : s.params) names.emplace_back(static_cast<int>(param), interned(name));
  names.emplace_back(static_cast<int>(Param::out), interned("out"));
  names.emplace_back(static_cast<int>(Param::threads), interned("threads"));
  return names;
}

}  // namespace

const Signature* find_signature(const std::string& function) {
  for (const Signature& s : kSignatures)
    if (s.name == function) return &s;
  return nullptr;
}

std::string list_of_functions() {
  std::string known;
  for (const Signature& s : kSignatures) known += (known.empty() ? "'" : ", '") + std::string(s.name) + "'";
  return known;
}

Method method_of(const Chain& chain, const Signature& s, PyObject* arg) {
  if (s.methods.empty()) return Method::none;
  if (!arg) return s.methods.front().second;
  if (!PyUnicode_Check(arg))
    throw py::type_error(std::string(s.name) + ": method is " + text_of(arg) + ", expected one of " + list_of_methods(s));
  for (const auto& [name, method] : s.methods) {
    if (PyUnicode_CompareWithASCIIString(arg, name) != 0) continue;
    if ((method == Method::kane_recurrent || method == Method::kosynka) && !chain.topology().serial)
      throw py::value_error(std::string(s.name) + ": method '" + std::string(name) +
                            "' exists only for serial chains, and model '" + chain.name() + "' branches");
    return method;
  }
  throw py::value_error(std::string(s.name) + ": unknown method " + text_of(arg) + ", expected one of " +
                        list_of_methods(s));
}

LinkFrame frame_of(const Context& c, const Chain& chain, const char* what, PyObject* name) {
  if (!name || !PyUnicode_Check(name))
    throw py::type_error(std::string(c.function) + ": " + what + " is " + (name ? text_of(name) : "missing") +
                         ", expected the name of a link");
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);  // null for lone surrogates: no link has such a name
  if (!text) PyErr_Clear();
  const int index = text ? chain.find_link(std::string(text, static_cast<std::size_t>(length))) : Chain::kNoLink;
  if (index == Chain::kNoLink) {
    std::string known;
    int shown = 0;
    for (const LinkSpec& l : chain.links())
      if (shown++ < 8) known += ", '" + l.name + "'";
    throw py::value_error(std::string(c.function) + ": " + what + " " + text_of(name) + " is not in model '" + chain.name() +
                          "', expected one of '" + chain.base() + "'" + known + (shown > 8 ? ", ..." : ""));
  }
  if (index == Chain::kBase) return {kWorld, diagonal(1.0), {0, 0, 0}};
  return chain.frame(index);
}

bool link_axes(const Context& c, PyObject* arg, bool fallback) {
  if (!arg) return fallback;
  if (PyUnicode_Check(arg)) {
    if (PyUnicode_CompareWithASCIIString(arg, "link") == 0) return true;
    if (PyUnicode_CompareWithASCIIString(arg, "world") == 0) return false;
  }
  throw py::value_error(std::string(c.function) + ": frame is " + text_of(arg) + ", expected 'world' or 'link'");
}

// releasing the interpreter lock costs as much as a small kernel: hold it for work below a few microseconds
bool worth_releasing(Function f, std::ptrdiff_t rows, std::ptrdiff_t n) {
  const bool matrix = f == Function::mass_matrix || f == Function::derivatives;
  return rows * n * (matrix ? n : 1) > 256;
}

int result_tail(Function f, int n, py::ssize_t (&tail)[2]) {
  const auto matrix = [&](int rows, int columns) { return tail[0] = rows, tail[1] = columns, 2; };
  tail[0] = n;
  switch (f) {
    case Function::mass_matrix:
    case Function::derivatives: return matrix(n, n);
    case Function::reactions: return matrix(n, 6);
    case Function::jacobian:
    case Function::jacobian_rate: return matrix(6, n);
    case Function::pose: return matrix(4, 4);
    case Function::base_wrench: return tail[0] = 6, 1;
    case Function::kinetic_energy:
    case Function::potential_energy: return 0;
    default: return 1;
  }
}

void require_dict(const Context& c, PyObject* external) {
  if (!PyDict_Check(external))
    throw py::type_error(std::string(c.function) + ": external is a " + Py_TYPE(external)->tp_name +
                         ", expected a dict {link name: (..., 6) wrench}");
}

void read_point(const Context& c, PyObject* arg, LinkFrame& frame) {
  if (!arg || arg == Py_None) return;
  const Rowwise point = read_rows(c, {"point"}, arg, 3);
  require_finite(c, {"point"}, point);
  if (point.lead.nd) throw py::value_error(std::string(c.function) + ": point has more than one row, expected (3,)");
  frame.p_BoUo_B += times(frame.R_BU, Vec3<double>{point.data[0], point.data[1], point.data[2]});
}

bool about_a_link(Function f) { return f == Function::pose || f == Function::jacobian || f == Function::jacobian_rate; }

PyObject* run_call(const Context& c, const Signature& s, const Job& job, Arrays& arrays, PyObject* out,
                   PyObject* threads_arg) {
  const Chain& chain = *job.chain;
  const int n = chain.n(), inputs = input_count(s.function);
  LeadBuffer lead_dims;
  const Lead lead = broadcast(c, arrays.rows.data(), arrays.names.data(), arrays.rows.size(), lead_dims);
  Rows rows;
  Small<RowData, kFewLoads> loads;
  for (int k = 0; k < arrays.rows.size(); ++k) {
    const RowData data{arrays.rows[k].data, arrays.rows[k].stride};
    if (k < inputs)
      rows.in[k] = data;
    else if (k < inputs + job.external_count)
      loads.push(data);
    else
      rows.parameters = data;
  }
  rows.external = loads.data();
  rows.count = lead.count();
  rows.check_inputs = true;
  const int threads = threads_of(c, threads_arg);

  py::ssize_t tail[2];
  const int tail_nd = result_tail(s.function, n, tail);
  py::object results[3];
  const bool three = s.function == Function::derivatives, given = out && out != Py_None;
  static const char* const kThree[3] = {"out[0]", "out[1]", "out[2]"};
  PyObject* outs[3] = {out, nullptr, nullptr};
  if (three && given) {
    if (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != 3)
      throw py::type_error(std::string(s.name) + ": out is " + Py_TYPE(out)->tp_name + ", expected a tuple of three arrays");
    for (int k = 0; k < 3; ++k) outs[k] = PyTuple_GET_ITEM(out, k);
  }
  for (int k = 0; k < (three ? 3 : 1); ++k)
    results[k] = result_array(c, {three ? kThree[k] : "out"}, outs[k], lead, tail, tail_nd, arrays.rows.data(),
                              arrays.names.data(), arrays.rows.size(), rows.out[k]);
  if (three) {
    const std::ptrdiff_t size = rows.count * output_size(s.function, n);
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < k; ++j)
        if (size && rows.out[k] < rows.out[j] + size && rows.out[j] < rows.out[k] + size)
          throw py::value_error(std::string(s.name) + ": out[" + std::to_string(k) + "] shares memory with out[" +
                                std::to_string(j) + "]");
  }

  Failure failure;
  if (worth_releasing(s.function, rows.count, n)) {
    py::gil_scoped_release release;
    failure = compute(*kernels, job, rows, threads);
  } else if (rows.count > 0) {
    failure = kernels->run(job, rows, 0, rows.count);
  }
  if (failure.kind == Failure::input)
    for (int k = 0; k < arrays.rows.size(); ++k) require_finite(c, arrays.names[k], arrays.rows[k]);
  if (failure.kind != Failure::none) raise_failure(s.name, chain, failure, lead.nd > 0);

  if (three) {
    // the named tuple itself: its constructor is Python code and takes longer than the call
    PyTypeObject* type = adopted(Adopted::Derivatives);
    PyObject* tuple = type->tp_alloc(type, 3);
    if (!tuple) throw py::error_already_set();
    for (int k = 0; k < 3; ++k) PyTuple_SET_ITEM(tuple, k, results[k].release().ptr());
    return tuple;
  }
  // energies of one state are numbers
  if (tail_nd == 0 && lead.nd == 0 && !given) return PyFloat_FromDouble(rows.out[0][0]);
  return results[0].release().ptr();
}

namespace {

PyObject* evaluate_call(const Signature& s, const Keywords& names, PyObject* self, PyObject* const* args, Py_ssize_t count,
                        PyObject* kwnames) {
  // pybind11's own way to the object behind `self` costs 30 ns; it is needed only for exotic subclasses
  const auto* instance = reinterpret_cast<const py::detail::instance*>(self);
  const Chain* chain = instance->simple_layout ? static_cast<const Chain*>(instance->simple_value_holder[0])
                                               : py::cast<const Chain*>(py::handle(self));
  if (!chain) throw py::type_error(std::string(s.name) + ": Chain.__init__ was not called");
  const Context c{s.name, chain->name()};
  Arguments a;
  place_arguments(s.name, names, s.params.size(), "out and threads", args, count, kwnames, a.slot);

  Job job{chain, s.function, method_of(*chain, s, a[P::method])};
  job.link_axes = link_axes(c, a[P::frame], s.function == Function::reactions);
  Arrays arrays;
  arrays.read_states(c, s, a, chain->n());
  Small<LinkFrame, kFewLoads> load_frames;
  py::object wrenches;
  if (a[P::external] && a[P::external] != Py_None) {
    require_dict(c, a[P::external]);
    // a copy: reading a wrench may run Python code that changes the dict
    wrenches = py::reinterpret_steal<py::dict>(PyDict_Copy(a[P::external]));
    if (!wrenches) throw py::error_already_set();
    for (const auto& [link, wrench] : py::reinterpret_borrow<py::dict>(wrenches)) {
      load_frames.push(frame_of(c, *chain, "external link", link.ptr()));
      arrays.read(c, {"external", link.ptr()}, wrench.ptr(), 6);
    }
  }
  job.external_frames = load_frames.data();
  job.external_count = load_frames.size();
  if (about_a_link(s.function)) {
    job.frame = frame_of(c, *chain, "link", a[P::link]);
    read_point(c, a[P::point], job.frame);
  }
  return run_call(c, s, job, arrays, a[P::out], a[P::threads]);
}

template <int kIndex>
PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  return guarded([&] { return evaluate_call(kSignatures[kIndex], keywords[kIndex], self, args, count, kwnames); });
}

template <std::size_t... kIndices>
void add_methods(const py::object& type, std::index_sequence<kIndices...>) {
  static PyMethodDef definitions[sizeof...(kIndices)];
  ((keywords[kIndices] = keywords_of(kSignatures[kIndices])), ...);
  (add_method(type, definitions[kIndices], kSignatures[kIndices].name, &method<kIndices>, kSignatures[kIndices].doc), ...);
}

py::dict count_operations_call(const Chain& chain, const std::string& function, const std::optional<std::string>& method) {
  for (const Signature& s : kSignatures) {
    if (s.name != function || s.function == Function::derivatives) continue;
    Signature named = s;
    named.name = "operations";
    if (method && s.methods.empty()) throw py::value_error("operations: function '" + function + "' has no methods");
    Job job{&chain, s.function, method_of(chain, named, method ? py::str(*method).ptr() : nullptr)};
    job.link_axes = s.function == Function::reactions;
    job.frame = chain.joint_frame(chain.n() - 1);
    const auto counts = count_operations(job);
    py::dict result;
    const char* stages[] = {"kinematics", "algorithm", "assembly"};
    for (int k = 0; k < 3; ++k)
      result[stages[k]] = py::make_tuple(counts[k].mul, counts[k].add, counts[k].div, counts[k].sqrt, counts[k].trig);
    return result;
  }
  std::string known;
  for (const Signature& s : kSignatures)
    if (s.function != Function::derivatives) known += (known.empty() ? "'" : ", '") + std::string(s.name) + "'";
  throw py::value_error("operations: unknown function '" + function + "', expected one of " + known);
}

// instruction sets of this processor that wheels may carry kernels for, best first
std::vector<std::string> cpu_levels() {
  std::vector<std::string> levels;
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    levels.push_back("avx512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) levels.push_back("avx2");
#endif
  levels.push_back("baseline");
  return levels;
}

}  // namespace

void register_dynamics(py::module_& m) {
  initialise_arrays();
  add_methods(m.attr("Chain"), std::make_index_sequence<std::size(kSignatures)>());

  m.def("count_operations", &count_operations_call, py::arg("chain"), py::arg("function"), py::arg("method") = py::none(),
        "Operations of one call by stage: {stage: (mul, add, div, sqrt, trig)}.");
  m.def("cpu_levels", &cpu_levels, "Instruction sets of this processor that kernels may exist for, best first.");
  m.def(
      "use_kernels",
      [](const py::capsule& table) {
        if (std::string_view(table.name() ? table.name() : "") != "zveno.kernels")
          throw py::value_error("use_kernels: not a table of kernels");
        kernels = table.get_pointer<const KernelTable>();
        return py::make_tuple(kernels->name, kernels->lanes);
      },
      py::arg("table"), "Compute with these kernels from now on; returns their name and number of lanes.");
  m.def(
      "sincos",
      [](const py::array_t<double, py::array::c_style | py::array::forcecast>& x) {
        py::array_t<double> s(x.size()), c(x.size());
        kernels->sincos(x.data(), s.mutable_data(), c.mutable_data(), static_cast<int>(x.size()));
        return py::make_tuple(s, c);
      },
      py::arg("x"), "Sines and cosines as the kernels compute them.");
}

}  // namespace zveno::bindings
