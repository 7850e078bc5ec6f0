// The model of a hexapod, and its forward kinematics.
#include <pybind11/stl.h>

#include <zveno/solve/forward_kinematics.hpp>

#include "classes.hpp"
#include "convert.hpp"
#include "interrupt.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

LegType leg_type_of(const std::string& text) {
  std::string known;
  for (const LegTraits& row : kLegTraits) {
    if (text == row.name) return row.type;
    known += std::string(known.empty() ? "" : ", ") + row.name;
  }
  if (text == "custom") return LegType::custom;
  throw ModelError("", "unknown leg type '" + text + "', expected " + known + " or custom");
}

BodySpec body_of_tuple(const py::handle& h) {
  const auto t = py::reinterpret_borrow<py::tuple>(h);
  if (t.size() != 3) throw py::value_error("Hexapod: a body has " + std::to_string(t.size()) + " fields, expected 3");
  return {t[0].cast<double>(), vector_of(t[1]), matrix_of(t[2])};
}

LegSpec leg_of(const py::tuple& t) {
  if (t.size() != 22) throw py::value_error("Hexapod: a leg has " + std::to_string(t.size()) + " fields, expected 22");
  LegSpec leg;
  leg.type = leg_type_of(t[0].cast<std::string>());
  leg.name = t[1].cast<std::string>();
  leg.base = vector_of(t[2]);
  leg.base_frame = matrix_of(t[3]);
  leg.ring = vector_of(t[4]);
  leg.ring_frame = matrix_of(t[5]);
  leg.crank_frame = matrix_of(t[6]);
  leg.tip_frame = matrix_of(t[7]);
  leg.inner_length = t[8].cast<double>();
  leg.outer_length = t[9].cast<double>();
  leg.inner = body_of_tuple(t[10]);
  leg.outer = body_of_tuple(t[11]);
  leg.reflected = t[12].cast<double>();
  leg.elbow = t[13].cast<int>();
  leg.spin_branch = t[14].cast<int>();
  if (leg.type == LegType::custom) {
    // a copy: the leg outlives the Python object
    leg.chain = std::make_shared<const Chain>(t[15].cast<const Chain&>());
    leg.link = t[16].cast<std::string>();
    leg.point = vector_of(t[17]);
    leg.universal = !t[18].is_none();
    if (leg.universal) {
      leg.axis = vector_of(t[18]);
      leg.ring_axis = vector_of(t[19]);
    }
    leg.start = t[20].cast<std::vector<double>>();
    leg.actuated = t[21].cast<std::string>();
  }
  return leg;
}

}  // namespace

void register_hexapod(py::module_& m) {
  new_class<Hexapod>(m, "Hexapod")
      .def(py::init([](const std::string& name, const py::tuple& platform, const py::object& gravity, const py::list& legs) {
             std::vector<LegSpec> specs;
             specs.reserve(legs.size());
             for (const py::handle& leg : legs) specs.push_back(leg_of(py::reinterpret_borrow<py::tuple>(leg)));
             if (platform.size() != 2) throw py::value_error("Hexapod: platform has not 2 fields");
             const BodySpec ring{platform[0].cast<double>(), {0, 0, 0}, matrix_of(platform[1])};
             return std::make_unique<Hexapod>(name, ring, vector_of(gravity), std::move(specs));
           }),
           py::arg("name"), py::arg("platform"), py::arg("gravity"), py::arg("legs"))
      .def_property_readonly("nj", py::overload_cast<>(&Hexapod::joints, py::const_), "Largest number of joints of a leg.")
      .def_property_readonly(
          "_symmetric",
          [](const Hexapod& h) {
            std::vector<bool> symmetric(kLegs, false);
            for (const LegGroup& g : h.groups())
              for (int k = 0; k < g.count; ++k) symmetric[g.legs[k]] = g.symmetric;
            return symmetric;
          },
          "Which legs are computed with the shorter code of axially symmetric bodies and aligned joints.");
  m.def(
      "hexapod_forward_kinematics",
      [](const Hexapod& hexapod, const py::array_t<double, py::array::c_style>& strokes,
         py::array_t<double, py::array::c_style>& r, py::array_t<double, py::array::c_style>& R, int threads) {
        const py::ssize_t count = strokes.size() / 6;
        if (strokes.size() != 6 * count || r.size() != 3 * count || R.size() != 9 * count)
          throw py::value_error("hexapod_forward_kinematics: sizes do not match");
        py::array_t<double> residual(count), margin(count);
        py::array_t<int> iterations(count);
        py::array_t<std::int16_t> status(count);
        struct Shared {
          const Hexapod& hexapod;
          const double* strokes;
          double *r, *R, *residual, *margin;
          int* iterations;
          std::int16_t* status;
        } shared{hexapod,
                 strokes.data(),
                 r.mutable_data(),
                 R.mutable_data(),
                 residual.mutable_data(),
                 margin.mutable_data(),
                 iterations.mutable_data(),
                 status.mutable_data()};
        {
          Unlocked unlocked;
          parallel_for(
              count, 16, threads,
              [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
                const Shared& s = *static_cast<Shared*>(context);
                for (std::ptrdiff_t i = begin; i < end; ++i) {
                  const KinematicsResult k =
                      forward_kinematics(*kernels, s.hexapod, s.strokes + 6 * i, s.r + 3 * i, s.R + 9 * i);
                  s.residual[i] = k.residual;
                  s.margin[i] = k.failure.margin;
                  s.iterations[i] = k.iterations;
                  s.status[i] = k.failure.code();
                }
              },
              &shared, &unlocked.watch);
          if (unlocked.watch.stopped()) unlocked.raise();
        }
        return py::make_tuple(residual, iterations, status, margin);
      },
      py::arg("hexapod"), py::arg("strokes").noconvert(), py::arg("r").noconvert(), py::arg("R").noconvert(),
      py::arg("threads") = 1,
      "Ring poses whose actuated coordinates are `strokes`, by Newton's method on the closed form from (r, R); changes r "
      "and "
      "R in place and returns (residual, iterations, status, margin).");
}

}  // namespace zveno::bindings
