#pragma once

#include <pybind11/pybind11.h>

#include <zveno/functions/job.hpp>

namespace py = pybind11;

namespace zveno::bindings {

void register_types(py::module_& m);
void register_errors(py::module_& m);
void register_model(py::module_& m);
void register_hexapod(py::module_& m);
void register_linkage(py::module_& m);
void register_functions(py::module_& m);
void register_dispatch(py::module_& m);
void register_simulate(py::module_& m);
void register_graph(py::module_& m);
void register_compiled(py::module_& m);
void register_motion(py::module_& m);
void register_reach(py::module_& m);
void register_rates(py::module_& m);
void register_docking(py::module_& m);
void register_measure(py::module_& m);

extern const KernelTable* kernels;  // those in use

}  // namespace zveno::bindings
