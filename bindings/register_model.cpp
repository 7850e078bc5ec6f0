#include <zveno/model/inertial.hpp>
#include <zveno/model/rotation.hpp>
#include <zveno/solve/row_factor.hpp>

#include "classes.hpp"
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

// the attributes of a zveno.Link that the model is made of, interned once
struct LinkKeys {
  PyObject *name = interned("name"), *parent = interned("parent"), *joint = interned("joint"),
           *joint_name = interned("joint_name"), *axis = interned("axis"), *position = interned("position"),
           *rotation = interned("rotation"), *mass = interned("mass"), *com = interned("com"),
           *inertia = interned("inertia"), *rotor_inertia = interned("rotor_inertia"), *friction = interned("friction"),
           *stiffness = interned("stiffness"), *rest = interned("rest");
};

LinkSpec link_of(const py::handle& from) {
  static const LinkKeys key;
  const auto get = [&](PyObject* name) {
    PyObject* value = PyObject_GetAttr(from.ptr(), name);
    if (!value) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(value);
  };
  LinkSpec link;
  link.name = get(key.name).cast<std::string>();
  link.parent = get(key.parent).cast<std::string>();
  link.kind = kind_of(get(key.joint).cast<std::string>(), link.name);
  link.joint_name = get(key.joint_name).cast<std::string>();
  link.axis = vector_of(get(key.axis));
  link.position = vector_of(get(key.position));
  link.rotation = matrix_of(get(key.rotation));
  link.body = {get(key.mass).cast<double>(), vector_of(get(key.com)), matrix_of(get(key.inertia))};
  link.rotor_inertia = get(key.rotor_inertia).cast<double>();
  link.friction = get(key.friction).cast<double>();
  link.stiffness = get(key.stiffness).cast<double>();
  link.rest = get(key.rest).cast<double>();
  return link;
}

// (N, 10), read-only
py::array_t<double> parameters_of(const Chain& chain) {
  const int count = static_cast<int>(chain.links().size());
  py::array_t<double> all({count, kInertial});
  for (int i = 0; i < count; ++i) link_parameters(chain, i, all.mutable_data(i, 0));
  py::detail::array_proxy(all.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return all;
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
  new_class<Chain>(m, "Chain")
      .def(py::init([](const std::string& name, const std::string& base, const py::object& gravity, const py::list& links) {
             std::vector<LinkSpec> specs;
             specs.reserve(links.size());
             for (const py::handle& link : links) specs.push_back(link_of(link));
             return std::make_unique<Chain>(name, base, vector_of(gravity), std::move(specs));
           }),
           py::arg("name"), py::arg("base"), py::arg("gravity"), py::arg("links"))
      .def_property_readonly("n", &Chain::n, "Number of moving joints.")
      .def_property_readonly(
          "is_serial", [](const Chain& c) { return c.topology().serial; },
          "Whether every body carries at most one moving child, in one line from the base.")
      .def_property_readonly("total_mass", &Chain::total_mass, "Mass of all links, kg.")
      .def_property_readonly("suspicions", &Chain::suspicions, "What looks wrong but can be computed with: (link, text).")
      .def_property_readonly(
          "inertial_parameters", &parameters_of,
          "Inertial parameters of all links in the order of `links`, (N, 10), read-only.\n\n"
          "Each row, about the origin of the link in its axes: m (kg), m c (3, kg m), Ixx, Ixy, Ixz, Iyy, "
          "Iyz, Izz (kg m^2).");
  m.def(
      "check_body",
      [](const std::string& who, double mass, const py::object& com, const py::object& inertia) {
        return check_body({mass, vector_of(com), matrix_of(inertia)}, "", who + ": ");
      },
      py::arg("who"), py::arg("mass"), py::arg("com"), py::arg("inertia"),
      "Raise ModelError for a body that cannot be; return what looks wrong but can be computed with.");
  m.def(
      "rotation_of",
      [](const py::object& rotation) {
        const Mat3<double> R = used_rotation(matrix_of(rotation));
        py::array_t<double> made({3, 3});
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) made.mutable_at(i, j) = R(i, j);
        return made;
      },
      py::arg("rotation"), "The rotation that a chain computes with: the nearest one, if this is one but for rounding.");
  m.def(
      "body_of_parameters",
      [](const std::array<double, kInertial>& parameters) {
        const BodySpec body = body_of(inertia_from(parameters.data()));
        py::array_t<double> inertia({3, 3});
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) inertia.mutable_at(i, j) = body.inertia(i, j);
        return py::make_tuple(body.mass, py::make_tuple(body.com.x(), body.com.y(), body.com.z()), inertia);
      },
      py::arg("parameters"), "Mass, centre of mass and inertia about it from a row of Chain.inertial_parameters.");
  m.def(
      "add_rows",
      [](py::array_t<double, py::array::c_style>& R, const py::array_t<double, py::array::c_style>& rows) {
        if (R.ndim() != 2 || rows.ndim() != 2 || R.shape(0) != R.shape(1) || rows.shape(1) != R.shape(1) ||
            R.shape(0) > 100000)
          throw py::value_error("add_rows: expected R (k, k) and rows (m, k)");
        double* factor = R.mutable_data();
        const double* data = rows.data();
        const int k = static_cast<int>(R.shape(0));
        const std::int64_t count = rows.shape(0);
        const py::gil_scoped_release release;
        add_rows(factor, k, data, count);
      },
      py::arg("R").noconvert(), py::arg("rows").noconvert(),
      "Update the upper triangular factor R (k, k) of rows by further rows (m, k): R'R grows by rows'rows.");
}

}  // namespace zveno::bindings
