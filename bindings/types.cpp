#include "types.hpp"

#include <array>
#include <atomic>
#include <string_view>

#include "registers.hpp"

namespace zveno::bindings {
namespace {

constexpr int kCount = static_cast<int>(Adopted::count), kFunctions = static_cast<int>(Adopted::matrix_of);
constexpr std::array<std::string_view, kCount> kNames = {
    "ModelError",
    "SingularityError",
    "UnreachableError",
    "GraphSizeError",
    "Body",
    "ConstraintDerivatives",
    "Derivatives",
    "ForwardDerivatives",
    "HexapodDynamics",
    "ClosedFormSolutions",
    "InverseKinematics",
    "LinkageDynamics",
    "SecondDerivatives",
    "matrix_of",
    "pose_of",
    "sensitivities",
};
std::array<PyObject*, kCount> objects{};  // owned

int index_of(std::string_view name) {
  for (int i = 0; i < kCount; ++i)
    if (name == kNames[i]) return i;
  throw py::value_error("adopt: the core has no use for '" + std::string(name) + "'");
}

void adopt(const py::args& given) {
  for (const py::handle& object : given) {
    if (!PyType_Check(object.ptr()) && !PyFunction_Check(object.ptr()))
      throw py::type_error("adopt: expected types and functions");
    const int i = index_of(object.attr("__name__").cast<std::string>());
    if (PyType_Check(object.ptr()) != (i < kFunctions)) throw py::type_error("adopt: not a " + std::string(kNames[i]));
    Py_XDECREF(objects[i]);
    objects[i] = object.inc_ref().ptr();
  }
}

PyObject* object_of(Adopted which) {
  const int i = static_cast<int>(which);
  if (!objects[i]) throw std::runtime_error("zveno._core: '" + std::string(kNames[i]) + "' was not adopted");
  return objects[i];
}

}  // namespace

PyTypeObject* adopted(Adopted which) { return reinterpret_cast<PyTypeObject*>(object_of(which)); }

py::function adopted_function(Adopted which) { return py::reinterpret_borrow<py::function>(object_of(which)); }

PyTypeObject* adopted(const char* name) {
  // names come from the tables: the same pointer every time
  static std::array<std::atomic<const char*>, kCount> known{};
  static std::atomic<int> last{0};
  const auto is = [&](int i) { return known[i].load(std::memory_order_relaxed) == name; };
  int i = last.load(std::memory_order_relaxed);
  if (is(i)) return adopted(static_cast<Adopted>(i));
  for (i = 0; i < kCount && !is(i);) ++i;
  if (i == kCount) known[i = index_of(name)].store(name, std::memory_order_relaxed);
  last.store(i, std::memory_order_relaxed);
  return adopted(static_cast<Adopted>(i));
}

py::object make_error(const char* type, const std::string& text) {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(adopted(type)))(text);
}

void register_types(py::module_& m) {
  m.def("adopt", &adopt, "Take over types of the package that the core makes or recognises.");
}

}  // namespace zveno::bindings
