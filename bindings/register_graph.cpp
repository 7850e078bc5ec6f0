#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <zveno/graph/algebra.hpp>

#include "classes.hpp"

namespace zveno::bindings {
namespace {

template <class T, class Of>
py::array_t<T> column(const Graph& g, const Of& of) {
  py::array_t<T> a(static_cast<py::ssize_t>(g.size()));
  T* to = a.mutable_data();
  for (const Node& n : g.nodes()) *to++ = of(n);
  return a;
}

Graph::Id checked(const Graph& g, Graph::Id i) {
  if (i < 0 || static_cast<std::size_t>(i) >= g.size())
    throw py::index_error("Graph: node " + std::to_string(i) + ", expected 0 to " + std::to_string(g.size()) + " - 1");
  return i;
}

Op op_of(int op) {
  if (op <= static_cast<int>(Op::input) || op >= kOps)
    throw py::value_error("Graph: operation " + std::to_string(op) + ", expected 2 to " + std::to_string(kOps - 1));
  return static_cast<Op>(op);
}

}  // namespace

void register_graph(py::module_& m) {
  new_class<Graph>(m, "Graph")
      .def(py::init<std::size_t>(), py::arg("limit") = Graph::kLimit)
      .def("__len__", &Graph::size)
      .def("constant", &Graph::constant, py::arg("value"))
      .def(
          "input",
          [](Graph& g, int argument, int element) {
            if (argument < 0 || element < 0) throw py::index_error("Graph: argument and element must not be negative");
            return g.input(argument, element);
          },
          py::arg("argument"), py::arg("element"))
      .def(
          "apply",
          [](Graph& g, int op, Graph::Id a, Graph::Id b, Graph::Id c) {
            const Op o = op_of(op);
            checked(g, a);
            if (arity(o) > 1) checked(g, b);
            if (arity(o) > 2) checked(g, c);
            return g.apply(o, a, b, c);
          },
          py::arg("op"), py::arg("a"), py::arg("b") = -1, py::arg("c") = -1)
      .def("set_outputs",
           [](Graph& g, const std::vector<std::vector<Graph::Id>>& outputs) {
             for (const auto& list : outputs)
               for (const Graph::Id i : list) checked(g, i);
             g.outputs = outputs;
           })
      .def("copy", [](const Graph& g) { return Graph(g); })
      .def("pruned", &Graph::pruned)
      .def(
          "algebraic",
          [](const Graph& g) {
            AlgebraReport report;
            Graph simpler = [&] {
              const py::gil_scoped_release released;
              return algebraic(g, report);
            }();
            py::dict counts;
            counts["collected"] = report.collected;
            counts["distributed"] = report.distributed;
            counts["reciprocals"] = report.reciprocals;
            counts["identities"] = report.identities;
            counts["factored"] = report.factored;
            counts["shared"] = report.shared;
            counts["fused"] = report.fused;
            return py::make_tuple(std::move(simpler), counts);
          },
          "The same function in fewer instructions, rounded differently, and how often what was done.")
      .def("arrays",
           [](const Graph& g) {
             return py::make_tuple(column<std::uint8_t>(g, [](const Node& n) { return static_cast<std::uint8_t>(n.op); }),
                                   column<std::int32_t>(g, [](const Node& n) { return n.a; }),
                                   column<std::int32_t>(g, [](const Node& n) { return n.b; }),
                                   column<std::int32_t>(g, [](const Node& n) { return n.c; }),
                                   column<double>(g, [](const Node& n) { return n.value; }));
           })
      .def("outputs", [](const Graph& g) {
        py::list lists;
        for (const auto& list : g.outputs)
          lists.append(py::array_t<std::int32_t>(static_cast<py::ssize_t>(list.size()), list.data()));
        return lists;
      });
  m.def(
      "transcendental_addresses",
      [](bool fused) {
        const Transcendental& trig = fused ? kernels->fused_trig : kernels->trig;
        const auto address = [](auto* f) { return reinterpret_cast<std::uintptr_t>(f); };
        py::dict d;
        d["sincos"] = address(trig.sincos);
        d["angle"] = address(trig.angle);
        d["sincos_packs"] = address(trig.sincos_packs);
        d["angle_packs"] = address(trig.angle_packs);
        return d;
      },
      py::arg("fused") = false,
      "Where the kernels' sines, cosines and angles stand in memory, for machine code that calls them; fused: faster ones "
      "whose bits depend on the instruction set.");
}

}  // namespace zveno::bindings
