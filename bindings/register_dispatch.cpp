// Which build of the kernels computes.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string_view>

#include <zveno/support/instruction_sets.hpp>
#include <zveno/support/pool.hpp>
#include <zveno/support/processors.hpp>

#include "registers.hpp"

namespace zveno::bindings {

const KernelTable* kernels = nullptr;

void register_dispatch(py::module_& m) {
  m.def("cpu_levels", &cpu_levels, "Instruction sets of this processor that kernels may exist for, best first.");
  m.def(
      "use_kernels",
      [](const py::capsule& table) {
        if (std::string_view(table.name() ? table.name() : "") != "zveno.kernels")
          throw py::value_error("use_kernels: not a table of kernels");
        kernels = table.get_pointer<const KernelTable>();
        return py::make_tuple(kernels->name, kernels->lanes);
      },
      py::arg("table"), "Compute with these kernels from now on; returns their name and number of lanes.");
  m.attr("MOST_THREADS") = kMostThreads;
  m.def("default_threads", &default_threads, "Threads that threads=0 uses: the least of thread_limits(), rounded up.");
  m.def(
      "thread_limits",
      [] {
        py::dict limits;
        for (const ThreadLimit& limit : thread_limits()) limits[py::str(limit.source)] = limit.processors;
        return limits;
      },
      "Processors that this process may use, by what says so: processors, affinity, control group, SLURM_CPUS_PER_TASK.");
  m.def("cgroup_processors", &cgroup_processors, py::arg("root") = "",
        "Processors that the quotas of control groups leave, inf without; files are looked for under `root`.");
  m.def(
      "sincos",
      [](const py::array_t<double, py::array::c_style | py::array::forcecast>& x) {
        py::array_t<double> s(x.size()), c(x.size());
        kernels->sincos(x.data(), s.mutable_data(), c.mutable_data(), static_cast<int>(x.size()));
        return py::make_tuple(s, c);
      },
      py::arg("x"), "Sines and cosines as the kernels compute them.");
}

}  // namespace zveno::bindings
