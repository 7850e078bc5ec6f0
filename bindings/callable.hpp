// Objects that are called like functions: a plain CPython type with a vectorcall slot, so that a call
// makes no tuple of its arguments.
#pragma once

#include <pybind11/pybind11.h>

#include <structmember.h>

#include <cstddef>
#include <memory>
#include <string>

#include "calls.hpp"
#include "registers.hpp"

namespace zveno::bindings {

// throws unless code was made for the number of lanes that kernels use
inline void require_lanes(const char* who, const py::handle& lanes) {
  if (lanes.cast<int>() != kernels->lanes)
    throw py::value_error(std::string(who) + ": code for " + std::to_string(lanes.cast<int>()) + " lanes, expected " +
                          std::to_string(kernels->lanes));
}

// State offers
//   static std::unique_ptr<State> make(const py::tuple&)                  from the arguments of the constructor
//   PyObject* call(PyObject* const* args, Py_ssize_t, PyObject* kwnames) const
template <class State>
struct Callable {
  PyObject ob_base;
  vectorcallfunc entry;
  State* state;

  // name: with its module, kept by the type
  static py::object type(const char* name) {
    static PyMethodDef methods[] = {
        {"__init_subclass__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&init_subclass)),
         METH_CLASS | METH_VARARGS | METH_KEYWORDS, nullptr},
        {"__class_getitem__", &Py_GenericAlias, METH_CLASS | METH_O, "Its results by their type."},
        {nullptr, nullptr, 0, nullptr}};
    static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Callable, entry), READONLY, nullptr},
                                    {nullptr, 0, 0, 0, nullptr}};
    static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&create)},
                                  {Py_tp_init, reinterpret_cast<void*>(&initialise)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
                                  {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                  {Py_tp_methods, methods},
                                  {Py_tp_members, members},
                                  {0, nullptr}};
    PyType_Spec spec = {name, sizeof(Callable), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
                        slots};
    py::object made = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
    if (!made) throw py::error_already_set();
    return made;
  }

 private:
  static Callable* of(PyObject* self) { return reinterpret_cast<Callable*>(self); }

  static PyObject* call(PyObject* self, PyObject* const* args, std::size_t count, PyObject* kwnames) {
    return guarded([&] {
      const State* state = of(self)->state;
      if (!state) throw py::type_error(std::string(Py_TYPE(self)->tp_name) + ".__init__ was not called");
      return state->call(args, PyVectorcall_NARGS(count), kwnames);
    });
  }
  static PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* self = type->tp_alloc(type, 0);
    if (self) of(self)->entry = &call;
    return self;
  }
  static int initialise(PyObject* self, PyObject* args, PyObject*) {
    PyObject* done = guarded([&] {
      if (of(self)->state) throw py::type_error(std::string(Py_TYPE(self)->tp_name) + ": already initialised");
      of(self)->state = State::make(py::reinterpret_borrow<py::tuple>(args)).release();
      return Py_None;
    });
    return done ? 0 : -1;
  }
  static void destroy(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    delete of(self)->state;
    type->tp_free(self);
    Py_DECREF(type);
  }
  // before Python 3.12 a class made by a class statement does not inherit the vectorcall protocol
  static PyObject* init_subclass(PyObject* type, PyObject*, PyObject*) {
    reinterpret_cast<PyTypeObject*>(type)->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    Py_RETURN_NONE;
  }
};

}  // namespace zveno::bindings
