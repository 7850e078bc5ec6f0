#include "types.hpp"

#include <array>
#include <string_view>

#include "registers.hpp"

namespace zveno::bindings {
namespace {

constexpr int kCount = static_cast<int>(Adopted::count);
constexpr std::array<const char*, kCount> kNames = {
    "ModelError",  "SingularityError",   "UnreachableError", "GraphSizeError",    "Body",
    "Derivatives", "ForwardDerivatives", "HexapodDynamics",  "SecondDerivatives",
};
std::array<PyTypeObject*, kCount> types{};  // owned

int index_of(std::string_view name) {
  for (int i = 0; i < kCount; ++i)
    if (name == kNames[i]) return i;
  throw py::value_error("adopt: the core has no use for a type '" + std::string(name) + "'");
}

void adopt(const py::args& given) {
  for (const py::handle& type : given) {
    if (!PyType_Check(type.ptr())) throw py::type_error("adopt: expected types");
    PyTypeObject*& place = types[index_of(type.attr("__name__").cast<std::string>())];
    Py_XDECREF(place);
    place = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  }
}

}  // namespace

PyTypeObject* adopted(Adopted which) {
  const int i = static_cast<int>(which);
  if (!types[i]) throw std::runtime_error(std::string("zveno._core: the type '") + kNames[i] + "' was not adopted");
  return types[i];
}

PyTypeObject* adopted(const char* name) { return adopted(static_cast<Adopted>(index_of(name))); }

py::object make_error(const char* type, const std::string& text) {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(adopted(type)))(text);
}

void register_types(py::module_& m) {
  m.def("adopt", &adopt, "Take over types of the package that the core makes or recognises.");
}

}  // namespace zveno::bindings
