#include "registers.hpp"

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
  m.doc() = "Compiled core of zveno: models and their dynamics. Use the names of the package `zveno`.";
  zveno::bindings::register_types(m);
  zveno::bindings::register_errors(m);
  zveno::bindings::register_model(m);
  zveno::bindings::register_hexapod(m);
  zveno::bindings::register_linkage(m);
  zveno::bindings::register_functions(m);
  zveno::bindings::register_dispatch(m);
  zveno::bindings::register_simulate(m);
  zveno::bindings::register_graph(m);
  zveno::bindings::register_compiled(m);
  zveno::bindings::register_motion(m);
  zveno::bindings::register_reach(m);
  zveno::bindings::register_rates(m);
  zveno::bindings::register_docking(m);
  zveno::bindings::register_measure(m);
}
