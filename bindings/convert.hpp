// Small values from Python that are read once, when a model is built.
#pragma once

#include <array>
#include <cmath>

#include <pybind11/stl.h>

#include <zveno/model/hexapod.hpp>

#include "arrays.hpp"
#include "types.hpp"

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

// a zveno.Body, which has checked its numbers: its arrays are C-contiguous float64
inline BodySpec body_of(const Context& c, const char* name, PyObject* arg) {
  static PyObject* const names[3] = {interned("mass"), interned("com"), interned("inertia")};
  if (!PyObject_TypeCheck(arg, adopted(Adopted::Body)))
    throw py::type_error(std::string(c.function) + ": " + name + " is of type " + Py_TYPE(arg)->tp_name +
                         ", expected a zveno.Body");
  py::object field[3];
  for (int i = 0; i < 3; ++i) {
    field[i] = py::reinterpret_steal<py::object>(PyObject_GetAttr(arg, names[i]));
    if (!field[i]) throw py::error_already_set();
  }
  const auto numbers = [&](int i) { return reinterpret_cast<const double*>(py::detail::array_proxy(field[i].ptr())->data); };
  BodySpec spec;
  spec.mass = PyFloat_AsDouble(field[0].ptr());
  for (int i = 0; i < 3; ++i) {
    spec.com[i] = numbers(1)[i];
    for (int j = 0; j < 3; ++j) spec.inertia(i, j) = numbers(2)[3 * i + j];
  }
  if (!(spec.mass > 0)) throw py::value_error(std::string(c.function) + ": " + name + " has no mass");
  return spec;
}

}  // namespace zveno::bindings
