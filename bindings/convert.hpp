// Small values from Python that are read once, when a model is built.
#pragma once

#include <array>
#include <cmath>

#include <pybind11/stl.h>

#include <zveno/model/hexapod.hpp>

#include "arrays.hpp"
#include "types.hpp"

namespace zveno::bindings {

// numbers of a C-contiguous float64 array with `size` elements, null if it is none
inline const double* numbers_of(const py::handle& h, py::ssize_t size) {
  if (!py::array_t<double, py::array::c_style>::check_(h)) return nullptr;
  const auto a = py::reinterpret_borrow<py::array>(h);
  return a.size() == size ? static_cast<const double*>(a.data()) : nullptr;
}

inline Vec3<double> vector_of(const py::handle& h) {
  if (const double* x = numbers_of(h, 3)) return {x[0], x[1], x[2]};
  const auto a = h.cast<std::array<double, 3>>();
  return {a[0], a[1], a[2]};
}

inline Mat3<double> matrix_of(const py::handle& h) {
  Mat3<double> r;
  const double* x = numbers_of(h, 9);
  std::array<std::array<double, 3>, 3> a;
  if (!x) a = h.cast<decltype(a)>();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r(i, j) = x ? x[3 * i + j] : a[i][j];
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
