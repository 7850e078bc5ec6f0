// One extension module per instruction set: nothing but a capsule with the table of its kernels. Separate shared objects
// keep inline code compiled for a newer processor out of the baseline. The library for C loads the same modules without
// Python, whose functions are weak for that.
#include <Python.h>

#include <zveno/batch/rows.hpp>

#define ZVENO_CONCAT_(a, b) a##b
#define ZVENO_CONCAT(a, b) ZVENO_CONCAT_(a, b)

namespace {

int fill(PyObject* module) {
  auto* table = const_cast<zveno::KernelTable*>(&zveno::kernel_table());
  PyObject* capsule = PyCapsule_New(table, "zveno.kernels", nullptr);
  const int failed = PyModule_AddObjectRef(module, "table", capsule);
  Py_XDECREF(capsule);
  return failed;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(fill)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "kernels", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace

#if defined(__ELF__)
#pragma weak PyCapsule_New
#pragma weak PyModule_AddObjectRef
#pragma weak PyModuleDef_Init
#pragma weak _Py_Dealloc
#endif

#if !defined(_WIN32)
extern "C" __attribute__((visibility("default"))) const zveno::KernelTable* ZVENO_KERNELS_SYMBOL() {
  return &zveno::kernel_table();
}
#endif

PyMODINIT_FUNC ZVENO_CONCAT(PyInit_, ZVENO_MODULE)() { return PyModuleDef_Init(&definition); }
