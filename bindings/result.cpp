#include "result.hpp"

#include "call.hpp"
#include "types.hpp"

#include <structmember.h>

#include <bitset>
#include <cstring>

namespace zveno::bindings {
namespace {

struct BlockObject {
  PyObject ob_base;
  PyObject* data;
  PyObject* status;  // None or int16 codes
  int joints;        // of a leg
  int free;
  unsigned outputs;
};

BlockObject* block(PyObject* object) { return reinterpret_cast<BlockObject*>(object); }

const FunctionRow& row_of_block(const BlockObject& b) {
  return row_of(b.free ? HexFunction::free_dynamics : HexFunction::forward_dynamics);
}

void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(block(self)->data);
  Py_XDECREF(block(self)->status);
  type->tp_free(self);
  Py_DECREF(type);
}

// the result called `name` as a view
PyObject* view(PyObject* self, void* name) {
  const BlockObject& b = *block(self);
  const FunctionRow& row = row_of_block(b);
  const DynamicsLayout layout(b.joints, b.free, b.outputs);
  int k = 0;
  while (k < row.outputs.count && std::strcmp(row.outputs[k].name, static_cast<const char*>(name)) != 0) ++k;
  if (!b.data || k == row.outputs.count || layout.at[k] < 0) {
    const char* why = !b.data                  ? "%s: there is no result yet"
                      : k == row.outputs.count ? "%s: only forward_dynamics_free has one"
                                               : "%s was not asked for: it is not among the outputs of the call";
    PyErr_Format(PyExc_AttributeError, why, static_cast<const char*>(name));
    return nullptr;
  }
  try {
    const auto whole = py::reinterpret_borrow<py::array>(b.data);
    if (!py::isinstance<py::array_t<double>>(whole) || !whole.ndim() || whole.shape(whole.ndim() - 1) != layout.size())
      throw py::type_error(std::string(row.outputs[k].name) + ": _data, _joints, _free and _outputs do not fit together");
    const bool of_legs = row.outputs[k].shape.count == 2;
    const py::ssize_t number = sizeof(double);
    std::vector<py::ssize_t> shape(whole.shape(), whole.shape() + whole.ndim() - 1);
    std::vector<py::ssize_t> strides(whole.strides(), whole.strides() + whole.ndim() - 1);
    if (of_legs) shape.push_back(kLegs), strides.push_back(layout.per_leg() * number);
    shape.push_back(row.outputs[k].shape[of_legs].of(Sizes::of_hexapod(b.joints))), strides.push_back(number);
    const auto* first = static_cast<const double*>(whole.data()) + layout.at[k] + (of_legs ? layout.head() : 0);
    return py::array(py::dtype::of<double>(), shape, strides, first, whole).release().ptr();
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  }
  return nullptr;
}

PyObject* wanted(PyObject* self, void*) {
  const BlockObject& b = *block(self);
  const FunctionRow& row = row_of_block(b);
  py::tuple names(std::bitset<32>(b.outputs).count());
  int i = 0;
  for (int k = 0; k < row.outputs.count; ++k)
    if (b.outputs >> k & 1) names[i++] = py::str(row.outputs[k].name);
  return names.release().ptr();
}

PyMemberDef members[] = {
    {"_data", T_OBJECT_EX, offsetof(BlockObject, data), 0, "Rows of numbers."},
    {"_status", T_OBJECT_EX, offsetof(BlockObject, status), 0, "None or codes."},
    {"_joints", T_INT, offsetof(BlockObject, joints), 0, "Places for the joints of a leg."},
    {"_free", T_INT, offsetof(BlockObject, free), 0, "1 on a free base."},
    {"_outputs", T_UINT, offsetof(BlockObject, outputs), 0, "A bit for each result."},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

void register_blocks(py::module_& m) {
  static PyGetSetDef attributes[kMostOutputs + 2] = {};
  static std::string docs[kMostOutputs];
  const FunctionRow& row = row_of(HexFunction::free_dynamics);
  for (int k = 0; k < row.outputs.count; ++k) {
    const Slot& s = row.outputs[k];
    const std::string shape = s.shape.count == 1 ? "(..., 6)" : s.shape[1].size == Size::nj ? "(..., 6, nj)" : "(..., 6, 4)";
    docs[k] = shape + " array, " + s.unit + ". " + s.text;
    attributes[k] = {s.name, &view, nullptr, docs[k].c_str(), const_cast<char*>(s.name)};
  }
  attributes[row.outputs.count] = {"outputs", &wanted, nullptr, "Names of the results that are there.", nullptr};
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {Py_tp_doc, const_cast<char*>("Numbers of zveno.results.HexapodDynamics.")},
      {0, nullptr},
  };
  static PyType_Spec spec = {"zveno._core.HexapodDynamicsBase", sizeof(BlockObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  m.attr("HexapodDynamicsBase") = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
}

PyObject* block_of(const Context& c, PyObject* out) {
  if (!PyObject_TypeCheck(out, adopted(Adopted::HexapodDynamics)))
    throw py::type_error(std::string(c.function) + ": out is a " + Py_TYPE(out)->tp_name +
                         ", expected a HexapodDynamics of an earlier call");
  if (!block(out)->data) throw py::value_error(std::string(c.function) + ": out holds no result");
  return block(out)->data;
}

py::object block_result(py::object data, const HexJob& job, py::object status, PyObject* out) {
  py::object result;
  if (out) {
    result = py::reinterpret_borrow<py::object>(out);
    Py_XDECREF(std::exchange(block(out)->status, status.release().ptr()));
  } else {
    PyTypeObject* type = adopted(Adopted::HexapodDynamics);
    result = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
    if (!result) throw py::error_already_set();
    block(result.ptr())->data = data.release().ptr();
    block(result.ptr())->status = status.release().ptr();
  }
  BlockObject& b = *block(result.ptr());
  b.joints = job.hexapod->joints();
  b.free = job.function == HexFunction::free_dynamics;
  b.outputs = job.outputs & row_of(job.function).all();
  return result;
}

py::object named_result(const FunctionRow& row, py::object* results) {
  // the named tuple itself: its constructor is Python code and takes longer than the call
  PyTypeObject* type = adopted(row.result);
  PyObject* tuple = type->tp_alloc(type, row.outputs.count);
  if (!tuple) throw py::error_already_set();
  for (int k = 0; k < row.outputs.count; ++k)
    PyTuple_SET_ITEM(tuple, k, results[k] ? results[k].release().ptr() : py::none().release().ptr());
  return py::reinterpret_steal<py::object>(tuple);
}

#ifdef Py_GIL_DISABLED  // another thread may take hold of it at any time

py::object KeptResults::again(const FunctionRow&, unsigned, const Sizes&, double**) const { return {}; }
void KeptResults::keep(const py::object&) {}

#else

namespace {

bool held_once(PyObject* object) {
  const Py_ssize_t at = Py_TYPE(object)->tp_weaklistoffset;
  return Py_REFCNT(object) == 1 && (at <= 0 || !*reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + at));
}
constexpr py::ssize_t kMostKept = 1 << 16;  // bytes: beyond it making the objects is not what takes the time
bool owns_data(PyObject* array) { return py::detail::array_proxy(array)->flags & py::detail::npy_api::NPY_ARRAY_OWNDATA_; }

}  // namespace

py::object KeptResults::again(const FunctionRow& row, unsigned asked, const Sizes& sizes, double** out) const {
  for (PyObject* const result : last_) {
    if (!result || !held_once(result)) continue;
    bool fits = true;
    for (int k = 0; fits && k < row.outputs.count; ++k) {
      PyObject* const item = PyTuple_GET_ITEM(result, k);
      if (!(asked >> k & 1)) {
        fits = item == Py_None;
        continue;
      }
      const Tail tail(row.outputs[k].shape, sizes);
      fits = held_once(item) && (out[k] = plain_out(item, tail.nd, tail.dims)) && owns_data(item);
    }
    if (fits) return py::reinterpret_borrow<py::object>(result);
  }
  return {};
}

void KeptResults::keep(const py::object& result) {
  py::ssize_t bytes = 0;
  for (py::ssize_t k = 0; k < PyTuple_GET_SIZE(result.ptr()); ++k) {
    const py::handle item = PyTuple_GET_ITEM(result.ptr(), k);
    if (py::isinstance<py::array>(item)) bytes += py::reinterpret_borrow<py::array>(item).nbytes();
  }
  if (bytes > kMostKept) return;
  next_ ^= 1;
  Py_XDECREF(std::exchange(last_[next_], result.inc_ref().ptr()));
}

#endif

const char* type_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::argument: return "ValueError";
    case FailureKind::unreachable: return "UnreachableError";
    case FailureKind::singular: return "SingularityError";
    default: return "FloatingPointError";
  }
}

void raise_error(const char* type, const std::string& text, std::initializer_list<std::pair<const char*, py::object>> data) {
  const py::object error = make_error(type, text);
  for (const auto& [name, value] : data) error.attr(name) = value;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace zveno::bindings
