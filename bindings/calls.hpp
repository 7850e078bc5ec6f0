// Methods as plain CPython functions (METH_FASTCALL): arguments into slots, exceptions into Python's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace zveno::bindings {

// names of a function's parameters, positional ones first; interned, which makes matching a pointer comparison
using Keywords = std::vector<std::pair<int, PyObject*>>;  // (slot, name)

[[noreturn]] ZVENO_COLD inline void refuse_argument(const char* function, const Keywords& names, PyObject* key) {
  py::list known;
  std::string listed;
  for (const auto& name : names) {
    const py::handle word(name.second);
    listed += (known.empty() ? "" : ", ") + std::string(py::str(word));
    known.append(word);
  }
  const std::string near = nearest_text(key, known);
  throw py::type_error(std::string(function) + ": unknown argument " + text_of(key) +
                       (near.empty() ? "; there are " : near + " There are ") + listed);
}

// slot[...] <- arguments; rest() says which parameters are keyword-only
template <class Rest>
void place_arguments(const char* function, const Keywords& names, std::size_t positional, const Rest& rest,
                     PyObject* const* args, Py_ssize_t count, PyObject* kwnames, PyObject** slot) {
  if (count > static_cast<Py_ssize_t>(positional))
    throw py::type_error(std::string(function) + ": " + std::to_string(count) + " positional arguments given, at most " +
                         std::to_string(positional) + " expected (" + rest() + " by keyword)");
  for (Py_ssize_t i = 0; i < count; ++i) slot[names[i].first] = args[i];
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t k = 0; k < named; ++k) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    const std::pair<int, PyObject*>* found = nullptr;
    for (const auto& name : names)
      if (name.second == key) found = &name;
    if (!found)
      for (const auto& name : names)
        if (PyUnicode_Compare(name.second, key) == 0) found = &name;
    if (!found) refuse_argument(function, names, key);
    PyObject*& place = slot[found->first];
    if (place) throw py::type_error(std::string(function) + ": argument " + text_of(key) + " given twice");
    place = args[count + k];
  }
}

template <class F>
PyObject* guarded(const F& f) {
  try {
    return f();
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

using FastCall = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames);

// the definition must outlive the type
inline void add_method(const py::object& type, PyMethodDef& definition, const char* name, FastCall call, const char* doc) {
  definition = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call)), METH_FASTCALL | METH_KEYWORDS, doc};
  PyObject* descriptor = PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &definition);
  if (!descriptor) throw py::error_already_set();
  type.attr(name) = py::reinterpret_steal<py::object>(descriptor);
}

}  // namespace zveno::bindings
