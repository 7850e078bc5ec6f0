#include "convert.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

LinkKind kind_of(const std::string& text, const std::string& link) {
  if (text == "fixed") return LinkKind::fixed;
  if (text == "revolute") return LinkKind::revolute;
  if (text == "prismatic") return LinkKind::prismatic;
  throw ModelError(link, "link '" + link + "': unknown joint '" + text + "', expected revolute, prismatic or fixed");
}

LinkSpec link_of(const py::tuple& t) {
  if (t.size() != 12) throw py::value_error("Chain: a link has " + std::to_string(t.size()) + " fields, expected 12");
  LinkSpec link;
  link.name = t[0].cast<std::string>();
  link.parent = t[1].cast<std::string>();
  link.kind = kind_of(t[2].cast<std::string>(), link.name);
  link.joint_name = t[3].cast<std::string>();
  link.axis = vector_of(t[4]);
  link.position = vector_of(t[5]);
  link.rotation = matrix_of(t[6]);
  link.mass = t[7].cast<double>();
  link.com = vector_of(t[8]);
  link.inertia = matrix_of(t[9]);
  link.rotor_inertia = t[10].cast<double>();
  link.friction = t[11].cast<double>();
  return link;
}

// rows of kLegTraits for zveno.model.leg
py::list leg_types() {
  py::list rows;
  for (const LegTraits& t : kLegTraits) {
    py::list coordinates;
    for (int i = 0; i < t.coordinates; ++i) coordinates.append(t.coordinate[i]);
    rows.append(py::make_tuple(t.name, t.hunt, t.spins, py::tuple(coordinates)));
  }
  return rows;
}

}  // namespace

void register_model(py::module_& m) {
  m.def("leg_types", &leg_types, "Traits of the leg types: name, hunt, spins, coordinates.");
  py::class_<Chain>(m, "Chain")
      .def(py::init([](const std::string& name, const std::string& base, const py::object& gravity, const py::list& links) {
             std::vector<LinkSpec> specs;
             specs.reserve(links.size());
             for (const py::handle& link : links) specs.push_back(link_of(py::reinterpret_borrow<py::tuple>(link)));
             return std::make_unique<Chain>(name, base, vector_of(gravity), std::move(specs));
           }),
           py::arg("name"), py::arg("base"), py::arg("gravity"), py::arg("links"))
      .def_property_readonly("n", &Chain::n, "Number of moving joints.")
      .def_property_readonly(
          "is_serial", [](const Chain& c) { return c.topology().serial; },
          "Whether every body carries at most one moving child, in one line from the base.")
      .def_property_readonly("total_mass", &Chain::total_mass, "Mass of all links, kg.")
      .def_property_readonly("suspicions", &Chain::suspicions, "What looks wrong but can be computed with: (link, text).");
}

}  // namespace zveno::bindings
