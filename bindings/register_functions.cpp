// The numeric methods of Chain and Hexapod, from the tables of functions. They are plain CPython methods (METH_FASTCALL):
// pybind11's own call costs more than the kernel of a six-joint arm.
#include <pybind11/stl.h>

#include <zveno/instruments/count.hpp>

#include "call.hpp"
#include "docstring.hpp"
#include "registers.hpp"
#include "result.hpp"
#include "types.hpp"

namespace zveno::bindings {
namespace {

// pybind11's own way to the object behind `self` costs 30 ns; it is needed only for exotic subclasses
template <class Model>
const Model& model_of(PyObject* self, const char* function) {
  const auto* instance = reinterpret_cast<const py::detail::instance*>(self);
  const auto* model = instance->simple_layout ? static_cast<const Model*>(instance->simple_value_holder[0])
                                              : py::cast<const Model*>(py::handle(self));
  if (!model) throw py::type_error(std::string(function) + ": " + Face<Model>::kType + ".__init__ was not called");
  return *model;
}

// external wrenches of a call: names of the links are arguments too
void read_loads(const Context& c, const Chain& chain, PyObject* external, Small<LinkFrame, kFewLoads>& frames,
                py::object& kept, Arrays& arrays) {
  require_dict(c, external);
  // a copy: reading a wrench may run Python code that changes the dict
  kept = py::reinterpret_steal<py::dict>(PyDict_Copy(external));
  if (!kept) throw py::error_already_set();
  for (const auto& [link, wrench] : py::reinterpret_borrow<py::dict>(kept)) {
    frames.push(frame_of(c, chain, "external link", link.ptr()));
    arrays.read(c, {"external", link.ptr()}, wrench.ptr(), 6);
  }
}

template <class Model>
PyObject* evaluate_call(const FunctionRow& row, const Keywords& names, PyObject* self, PyObject* const* args,
                        Py_ssize_t count, PyObject* kwnames) {
  const char* const name = row.has(kPrivate) ? "singularity" : row.name;
  const Model& model = model_of<Model>(self, name);
  const Context c{name, model.name()};
  if (PyObject* result = run_quickly(c, model, row, args, count, kwnames)) return result;
  Arguments a;
  place_arguments(name, names, row.params.count, [&] { return keyword_only(row); }, args, count, kwnames, a.slot);
  if (row.has(kAlsoBy) && a[Param::wrt]) {  // several functions answer, put together in Python
    py::dict given;
    for (const auto& [slot, key] : names)
      if (a.slot[slot]) given[key] = py::handle(a.slot[slot]);
    return adopted_function(Adopted::sensitivities)(py::handle(self), given).release().ptr();
  }
  py::object pose;
  if constexpr (std::is_same_v<Model, Hexapod>)
    if (a[Param::r] && !a[Param::R]) {  // a whole pose in place of both
      pose = adopted_function(Adopted::pose_of)(name, py::handle(a[Param::r]));
      if (!pose.is_none()) {
        a.slot[index_of(Param::r)] = PyTuple_GET_ITEM(pose.ptr(), 0);
        a.slot[index_of(Param::R)] = PyTuple_GET_ITEM(pose.ptr(), 1);
      }
    }
  auto job = Face<Model>::options(c, model, row, a);
  if (PyObject* outputs = a[Param::outputs]) job.outputs = outputs_of(c, row, outputs);
  [[maybe_unused]] py::object states;
  if constexpr (std::is_same_v<Model, Linkage>)
    if (a[Param::t]) states = look_at_times(c, model, job, self, row.required, a);
  Arrays arrays;
  read_states<Model>(c, job, a, row.required, ~0u, arrays);
  if constexpr (std::is_same_v<Model, Linkage>)
    if (const int size = input_size(job, Param::given)) {  // functions of time and of the state are Python's
      const auto or_none = [&](Param p) { return py::handle(a[p] ? a[p] : Py_None); };
      py::object given = py::handle(self).attr("_given")(name, or_none(Param::q), or_none(Param::qd), or_none(Param::t));
      arrays.read(c, {"given"}, given.ptr(), size);
      arrays.keep(std::move(given));
      arrays.param[arrays.states++] = Param::given;
    }
  if constexpr (!std::is_same_v<Model, Hexapod>) {
    if (PyObject* external = a[Param::external]) {
      Small<LinkFrame, kFewLoads> frames;
      py::object kept;
      read_loads(c, tree_of(model), external, frames, kept, arrays);
      tree_of(job).external_frames = frames.data();
      tree_of(job).external_count = frames.size();
      return run_call<Model>(c, job, arrays, a);
    }
  }
  return run_call<Model>(c, job, arrays, a);
}

template <class Model>
Keywords keywords[Face<Model>::kCount];

template <class Model, int kIndex>
PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  return guarded(
      [&] { return evaluate_call<Model>(Face<Model>::kRows[kIndex], keywords<Model>[kIndex], self, args, count, kwnames); });
}

template <class Model, std::size_t... kIndices>
void add_methods(const py::object& type, std::index_sequence<kIndices...>) {
  static PyMethodDef definitions[sizeof...(kIndices)];
  static std::string docs[sizeof...(kIndices)];
  const auto& rows = Face<Model>::kRows;
  ((keywords<Model>[kIndices] = keywords_of(rows[kIndices])), ...);
  ((docs[kIndices] = docstring_of(rows[kIndices])), ...);
  (add_method(type, definitions[kIndices], rows[kIndices].name, &method<Model, kIndices>, docs[kIndices].c_str()), ...);
}

// ---- the tables, for Python

py::tuple shape_of(const Shape& shape) {
  py::tuple dims(static_cast<std::size_t>(shape.count));
  for (int i = 0; i < shape.count; ++i) {
    const Dim& d = shape[i];
    const char* const size = kSizeNames[static_cast<int>(d.size)];
    dims[i] = d.size == Size::one ? py::object(py::int_(d.factor))
              : d.factor == 1     ? py::object(py::str(size))
                                  : py::object(py::str(std::to_string(d.factor) + size));
  }
  return dims;
}

py::dict slot_of_row(const Slot& s) {
  return py::dict(py::arg("name") = s.name, py::arg("shape") = shape_of(s.shape), py::arg("unit") = s.unit,
                  py::arg("text") = s.text);
}

template <class Model>
py::list table() {
  py::list rows;
  for (int i = 0; i < Face<Model>::kCount; ++i) {
    const FunctionRow& row = Face<Model>::kRows[i];
    py::list params, methods, outputs;
    for (int k = 0; k < row.params.count; ++k) {
      const Param p = row.params[k];
      py::dict entry = is_array(p) ? slot_of_row(slot_of(p))
                                   : py::dict(py::arg("name") = name_of(p), py::arg("text") = option_of(p).text);
      entry["array"] = is_array(p);
      entry["required"] = k < row.required;
      params.append(entry);
    }
    for (const MethodName& m : row.methods) methods.append(m.name);
    for (const Slot& s : row.outputs) outputs.append(slot_of_row(s));
    static const char* const kCosts[] = {"fixed", "linear", "quadratic", "cubic", "quartic"};
    rows.append(py::dict(py::arg("name") = row.name, py::arg("parameters") = params, py::arg("methods") = methods,
                         py::arg("outputs") = outputs, py::arg("cost") = kCosts[static_cast<int>(row.cost)],
                         py::arg("private") = row.has(kPrivate), py::arg("several") = row.has(kSeveral),
                         py::arg("block") = row.has(kOneBlock), py::arg("wrt") = row.has(kAlsoBy),
                         py::arg("regroups") = row.has(kRegroups), py::arg("solves") = row.has(kSolves),
                         py::arg("result") = row.result,
                         py::arg("frame") = row.has(kInCutAxes)    ? "section"
                                            : row.has(kInLinkAxes) ? "link"
                                                                   : "world",
                         py::arg("summary") = row.summary));
  }
  return rows;
}

py::list functions(const std::string& mechanism) {
  if (mechanism == "chain") return table<Chain>();
  if (mechanism == "hexapod") return table<Hexapod>();
  if (mechanism == "linkage") return table<Linkage>();
  throw py::value_error("functions: mechanism is '" + mechanism + "', expected 'chain', 'hexapod' or 'linkage'");
}

py::dict counts_of(const std::vector<StageCounts>& stages) {
  py::dict result;
  for (const auto& [name, n] : stages) result[name] = py::make_tuple(n.mul, n.add, n.div, n.sqrt, n.trig);
  return result;
}

// `options` by the names of parameters; without them the tip and the joint nearest to the base
py::dict count_operations_call(const Chain& chain, const std::string& function, const std::optional<std::string>& method,
                               const py::dict& options) {
  const FunctionRow* row = find_row<Chain>(function);
  if (!row)
    throw py::value_error("operations: unknown function '" + function + "', expected one of " + listed_functions<Chain>());
  if (method && !row->methods.count) throw py::value_error("operations: function '" + function + "' has no methods");
  Arguments a;
  const auto last = static_cast<std::size_t>(&chain.joint_frame(chain.n() - 1) - &chain.frame(0));
  const py::str name(method ? *method : ""), tip(chain.links()[last].name);
  if (method) a.slot[index_of(Param::method)] = name.ptr();
  a.slot[index_of(Param::link)] = tip.ptr();
  const py::int_ root(chain.user_index()[0]);
  a.slot[index_of(Param::i)] = a.slot[index_of(Param::j)] = root.ptr();
  for (const auto& [key, value] : options) {
    const Param* found = nullptr;
    for (const Param& p : row->params)
      if (!is_array(p) && p != Param::method && key.cast<std::string>() == name_of(p)) found = &p;
    if (!found) throw py::value_error("operations: function '" + function + "' takes no " + text_of(key));
    a.slot[index_of(*found)] = value.ptr();
  }
  const Job job = Face<Chain>::options({"operations", chain.name()}, chain, *row, a);
  if (job.method == Method::dual) throw py::value_error("operations: dual numbers are not counted");
  return counts_of(count_operations(job));
}

// see Section._resolved
std::shared_ptr<SectionCut> make_cut(const Chain& chain, int link, const py::array_t<double>& point,
                                     const py::array_t<double>& axes, const py::array_t<double, py::array::c_style>& far,
                                     const std::vector<int>& welded, const std::vector<int>& carried, bool loaded, int frame,
                                     int parts) {
  Mat3<double> R_US;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R_US(i, j) = axes.at(i, j);
  auto cut = std::make_shared<SectionCut>(cut_of(chain, link, {point.at(0), point.at(1), point.at(2)}, R_US,
                                                 inertia_from(far.data()), welded, carried, loaded, SectionAxes(frame)));
  cut->at_rest = parts != 2;
  cut->in_motion = parts != 1;
  return cut;
}

}  // namespace

void register_functions(py::module_& m) {
  initialise_arrays();
  py::class_<SectionCut, std::shared_ptr<SectionCut>>(m, "SectionCut", "A section of a chain.").def(py::init(&make_cut));
  register_blocks(m);
  add_methods<Chain>(m.attr("Chain"), std::make_index_sequence<Face<Chain>::kCount>());
  add_methods<Hexapod>(m.attr("Hexapod"), std::make_index_sequence<Face<Hexapod>::kCount>());
  add_methods<Linkage>(m.attr("Linkage"), std::make_index_sequence<Face<Linkage>::kCount>());
  m.def("functions", &functions, py::arg("mechanism"),
        "Rows of the table of functions of a 'chain', a 'hexapod' or a 'linkage'.");
  m.def("count_operations", &count_operations_call, py::arg("chain"), py::arg("function"), py::arg("method") = py::none(),
        py::arg("options") = py::dict(), "Operations of one call by stage: {stage: (mul, add, div, sqrt, trig)}.");
  m.def(
      "hexapod_operations",
      [](const Hexapod& hexapod, int leg, bool moving, bool free) {
        return counts_of(count_operations(hexapod, leg, moving, free));
      },
      py::arg("hexapod"), py::arg("leg"), py::arg("moving") = false, py::arg("free") = false,
      "Operations of one leg by stage, or of the ring (leg -1): {stage: (mul, add, div, sqrt, trig)}.");
  m.def(
      "cause",
      [](int cause) {
        const CauseText* t = find_cause(cause);
        if (!t) throw py::value_error("status " + std::to_string(cause) + " is no status of a row");
        return py::make_tuple(type_of(t->kind), t->key, t->text);
      },
      py::arg("cause"), "Kind of error, key and text of a cause in a status.");
}

}  // namespace zveno::bindings
