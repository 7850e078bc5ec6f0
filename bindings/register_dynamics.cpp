// The numeric methods of Chain. They are plain CPython methods (METH_FASTCALL): pybind11's own call costs more than the
// kernel of a six-joint arm. One parser serves them all, from a table of signatures.
#include <pybind11/stl.h>

#include <string_view>
#include <thread>

#include <zveno/run/compute.hpp>
#include <zveno/run/opcount.hpp>

#include "arrays.hpp"
#include "calls.hpp"
#include "docstrings.hpp"
#include "registers.hpp"

namespace zveno::bindings {

const KernelTable* kernels = nullptr;

namespace {

PyObject* derivatives_type = nullptr;  // zveno.results.Derivatives, once it is needed

enum class Param { q, qd, third, external, method, link, point, frame, out, threads };

struct Signature {
  Function function;
  const char* name;
  std::vector<std::pair<Param, const char*>> params;  // in positional order; out and threads are keyword-only
  std::vector<std::pair<const char*, Method>> methods;
  const char* doc;
};

using P = Param;

const std::vector<std::pair<const char*, Method>> kMassMethods = {
    {"crba", Method::crba},
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
     {{"aba", Method::aba}, {"cholesky", Method::cholesky}},
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
constexpr int kParams = 10;

std::string list_of_methods(const Signature& s) {
  std::string text;
  for (const auto& [name, method] : s.methods) text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
  return text;
}

// arguments by kind
struct Arguments {
  PyObject* slot[kParams] = {};
  PyObject* operator[](Param p) const { return slot[static_cast<int>(p)]; }
};

Keywords keywords[std::size(kSignatures)];

Keywords keywords_of(const Signature& s) {
  Keywords names;
  for (const auto& [param, name] : s.params) names.emplace_back(static_cast<int>(param), interned(name));
  names.emplace_back(static_cast<int>(Param::out), interned("out"));
  names.emplace_back(static_cast<int>(Param::threads), interned("threads"));
  return names;
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

// a list that stays on the stack while it is short: a call allocates nothing but its result
constexpr int kFewLoads = 4;
template <class T, int kInline>
class Small {
 public:
  void push(T&& x) {
    if (size_ == kInline) more_.assign(std::make_move_iterator(few_), std::make_move_iterator(few_ + size_));
    if (size_ < kInline)
      few_[size_] = std::move(x);
    else
      more_.push_back(std::move(x));
    ++size_;
  }
  T* data() { return size_ > kInline ? more_.data() : few_; }
  T& operator[](int i) { return data()[i]; }
  int size() const { return size_; }

 private:
  T few_[kInline];
  std::vector<T> more_;
  int size_ = 0;
};

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
  const int n = chain->n();

  Job job{chain, s.function, method_of(*chain, s, a[P::method])};
  job.link_axes = link_axes(c, a[P::frame], s.function == Function::reactions);

  // q, qd, third, then the external wrenches
  Small<Rowwise, 3 + kFewLoads> arrays;
  Small<Name, 3 + kFewLoads> array_names;
  const int inputs = input_count(s.function);
  for (const auto& [param, name] : s.params) {
    if (param != P::q && param != P::qd && param != P::third) continue;
    if (!a[param]) throw py::type_error(std::string(s.name) + ": argument '" + name + "' is missing");
    array_names.push({name});
    arrays.push(read_rows(c, {name}, a[param], n));
  }
  Small<LinkFrame, kFewLoads> load_frames;
  py::object wrenches;
  if (a[P::external] && a[P::external] != Py_None) {
    if (!PyDict_Check(a[P::external]))
      throw py::type_error(std::string(s.name) + ": external is a " + Py_TYPE(a[P::external])->tp_name +
                           ", expected a dict {link name: (..., 6) wrench}");
    // a copy: reading a wrench may run Python code that changes the dict
    wrenches = py::reinterpret_steal<py::dict>(PyDict_Copy(a[P::external]));
    if (!wrenches) throw py::error_already_set();
    for (const auto& [link, wrench] : py::reinterpret_borrow<py::dict>(wrenches)) {
      load_frames.push(frame_of(c, *chain, "external link", link.ptr()));
      array_names.push({"external", link.ptr()});
      arrays.push(read_rows(c, {"external", link.ptr()}, wrench.ptr(), 6));
    }
  }
  if (s.function == Function::pose || s.function == Function::jacobian || s.function == Function::jacobian_rate) {
    job.frame = frame_of(c, *chain, "link", a[P::link]);
    if (a[P::point] && a[P::point] != Py_None) {
      const Rowwise point = read_rows(c, {"point"}, a[P::point], 3);
      require_finite(c, {"point"}, point);
      if (point.lead.nd) throw py::value_error(std::string(s.name) + ": point has more than one row, expected (3,)");
      job.frame.p_BoUo_B += times(job.frame.R_BU, Vec3<double>{point.data[0], point.data[1], point.data[2]});
    }
  }

  LeadBuffer lead_dims;
  const Lead lead = broadcast(c, arrays.data(), array_names.data(), arrays.size(), lead_dims);
  Rows rows;
  Small<RowData, kFewLoads> loads;
  for (int k = 0; k < arrays.size(); ++k) {
    const RowData data{arrays[k].data, arrays[k].stride};
    if (k < inputs)
      rows.in[k] = data;
    else
      loads.push(RowData(data));
  }
  rows.external = loads.data();
  job.external_frames = load_frames.data();
  job.external_count = load_frames.size();
  rows.count = lead.count();
  rows.check_inputs = true;
  const int threads = threads_of(c, a[P::threads]);

  const py::ssize_t tails[][2] = {{n, n}, {n, 6}, {6, n}, {4, 4}, {n, 0}, {6, 0}};
  const py::ssize_t* tail = tails[4];
  int tail_nd = 1;
  switch (s.function) {
    case Function::mass_matrix:
    case Function::derivatives: tail = tails[0], tail_nd = 2; break;
    case Function::reactions: tail = tails[1], tail_nd = 2; break;
    case Function::jacobian:
    case Function::jacobian_rate: tail = tails[2], tail_nd = 2; break;
    case Function::pose: tail = tails[3], tail_nd = 2; break;
    case Function::base_wrench: tail = tails[5]; break;
    case Function::kinetic_energy:
    case Function::potential_energy: tail_nd = 0; break;
    default: break;
  }

  py::object results[3];
  const bool three = s.function == Function::derivatives;
  static const char* const kThree[3] = {"out[0]", "out[1]", "out[2]"};
  PyObject* outs[3] = {a[P::out], nullptr, nullptr};
  if (three && a[P::out] && a[P::out] != Py_None) {
    if (!PyTuple_Check(a[P::out]) || PyTuple_GET_SIZE(a[P::out]) != 3)
      throw py::type_error(std::string(s.name) + ": out is " + Py_TYPE(a[P::out])->tp_name +
                           ", expected a tuple of three arrays");
    for (int k = 0; k < 3; ++k) outs[k] = PyTuple_GET_ITEM(a[P::out], k);
  }
  for (int k = 0; k < (three ? 3 : 1); ++k)
    results[k] = result_array(c, {three ? kThree[k] : "out"}, outs[k], lead, tail, tail_nd, arrays.data(),
                              array_names.data(), arrays.size(), rows.out[k]);
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
    for (int k = 0; k < arrays.size(); ++k) require_finite(c, array_names[k], arrays[k]);
  if (failure.kind != Failure::none) raise_failure(s.name, *chain, failure, lead.nd > 0);

  if (three) {
    if (!derivatives_type)
      derivatives_type = py::object(py::module_::import("zveno.results").attr("Derivatives")).release().ptr();
    return py::reinterpret_borrow<py::object>(derivatives_type)(results[0], results[1], results[2]).release().ptr();
  }
  // energies of one state are numbers
  if (tail_nd == 0 && lead.nd == 0 && (!a[P::out] || a[P::out] == Py_None)) return PyFloat_FromDouble(rows.out[0][0]);
  return results[0].release().ptr();
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
  if (__builtin_cpu_supports("avx2")) levels.push_back("avx2");
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
