#include <zveno/graph/graph.hpp>

#include "registers.hpp"
#include "types.hpp"

namespace zveno::bindings {
namespace {

// an exception of the Python package with its data
py::object make(const char* type, const std::string& text, std::initializer_list<std::pair<const char*, py::object>> data) {
  py::object error = make_error(type, text);
  for (const auto& [name, value] : data) error.attr(name) = value;
  return error;
}

}  // namespace

void register_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const ModelError& e) {
      const py::object link = e.link.empty() ? py::object(py::none()) : py::object(py::str(e.link));
      const py::object error = make("ModelError", e.what(), {{"link", link}});
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    } catch (const GraphSizeError& e) {
      const py::object error = make("GraphSizeError", e.what(), {{"limit", py::int_(e.limit)}});
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    }
  });
}

}  // namespace zveno::bindings
