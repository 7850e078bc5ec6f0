// Which build of the kernels computes.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string_view>

#include <zveno/support/pool.hpp>
#include <zveno/support/processors.hpp>

#include "registers.hpp"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace zveno::bindings {

const KernelTable* kernels = nullptr;

namespace {

// instruction sets of this processor that wheels may carry kernels for, best first
std::vector<std::string> cpu_levels() {
  std::vector<std::string> levels;
#if defined(_WIN32) && defined(_M_X64)
  int one[4], seven[4];  // eax, ebx, ecx, edx; what the system saves is its own answer
  __cpuid(one, 1);
  __cpuidex(seven, 7, 0);
  const auto has = [](int word, int bit) { return (word >> bit & 1) != 0; };
  if (IsProcessorFeaturePresent(PF_AVX512F_INSTRUCTIONS_AVAILABLE) && has(seven[1], 17) && has(seven[1], 31))  // DQ, VL
    levels.push_back("avx512");
  if (IsProcessorFeaturePresent(PF_AVX2_INSTRUCTIONS_AVAILABLE) && has(one[2], 12)) levels.push_back("avx2");  // FMA
#elif (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
  // not __builtin_cpu_supports: with clang's own runtime it cannot be linked into a module
  unsigned one[4] = {}, seven[4] = {}, saved = 0, high;  // eax, ebx, ecx, edx; registers that the system saves
  __get_cpuid(1, one, one + 1, one + 2, one + 3);
  __get_cpuid_count(7, 0, seven, seven + 1, seven + 2, seven + 3);
  const auto has = [](unsigned word, int bit) { return (word >> bit & 1) != 0; };
  if (has(one[2], 27)) __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if ((saved & 0xe6) == 0xe6 && has(seven[1], 16) && has(seven[1], 17) && has(seven[1], 31))  // F, DQ, VL
    levels.push_back("avx512");
  if ((saved & 6) == 6 && has(seven[1], 5) && has(one[2], 12)) levels.push_back("avx2");  // AVX2, FMA
#endif
  levels.push_back("baseline");
  return levels;
}

}  // namespace

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
