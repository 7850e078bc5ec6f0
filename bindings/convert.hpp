// Small values from Python that are read once, when a model is built.
#pragma once

#include <array>
#include <cmath>

#include <pybind11/stl.h>

#include <zveno/model/hexapod.hpp>

#include "arrays.hpp"

namespace zveno::bindings {

inline Vec3<double> vector_of(const py::handle& h) {
  const auto a = h.cast<std::array<double, 3>>();
  return {a[0], a[1], a[2]};
}

inline Mat3<double> matrix_of(const py::handle& h) {
  const auto a = h.cast<std::array<std::array<double, 3>, 3>>();
  Mat3<double> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r(i, j) = a[i][j];
  return r;
}

// a zveno.Body, which has checked its numbers
inline BodySpec body_of(const Context& c, const char* name, PyObject* arg) {
  const py::object type = py::module_::import("zveno.hexapod").attr("Body");
  if (!py::isinstance(py::handle(arg), type))
    throw py::type_error(std::string(c.function) + ": " + name + " is a " + Py_TYPE(arg)->tp_name +
                         ", expected a zveno.Body");
  const py::handle body(arg);
  const BodySpec spec{body.attr("mass").cast<double>(), vector_of(body.attr("com")), matrix_of(body.attr("inertia"))};
  if (!(spec.mass > 0)) throw py::value_error(std::string(c.function) + ": " + name + " has no mass");
  return spec;
}

}  // namespace zveno::bindings
