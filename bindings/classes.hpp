// Classes of the core.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "registers.hpp"

namespace zveno::bindings {

// A class whose objects are refused before their __init__: pybind11 would make room for the object that is missing and hand
// out whatever stands there.
template <class T>
py::class_<T> new_class(py::module_& m, const char* name, const char* doc = "") {
  static const std::string refusal = std::string(name) + ".__init__ was not called";
  py::class_<T> made(m, name, doc);
  py::detail::get_type_info(typeid(T))->operator_new = [](std::size_t) -> void* { throw py::type_error(refusal); };
  return made;
}

}  // namespace zveno::bindings
