// The model of a linkage, and its closing.
#include <pybind11/stl.h>

#include <cmath>

#include <zveno/solve/close.hpp>
#include <zveno/support/compiler.hpp>

#include "call.hpp"
#include "classes.hpp"
#include "convert.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

using Numbers = py::array_t<double, py::array::c_style>;

// (name of a link or number of a target, R, p)
LoopSide side_of(const Chain& chain, const py::tuple& t) {
  LoopSide side;
  const Mat3<double> R = matrix_of(t[1]);
  const Vec3<double> p = vector_of(t[2]);
  if (py::isinstance<py::int_>(t[0])) {
    side.target = t[0].cast<int>();
    side.R = R;
    side.p = p;
    return side;
  }
  const int link = chain.find_link(t[0].cast<std::string>());
  if (link == Chain::kNoLink) throw ModelError("", "no link '" + t[0].cast<std::string>() + "'");
  const LinkFrame frame = link == Chain::kBase ? LinkFrame{kWorld, diagonal(1.0), {0, 0, 0}} : chain.frame(link);
  side.body = frame.body;
  side.R = times(frame.R_BU, R);
  side.p = frame.p_BoUo_B + times(frame.R_BU, p);
  side.R_U = frame.R_BU;
  return side;
}

RowType type_of_row(const std::string& text) {
  static constexpr const char* kTypes[] = {"along", "dots", "rod", "screw", "coupling", "surface", "function"};
  for (int i = 0; i < 7; ++i)
    if (text == kTypes[i]) return static_cast<RowType>(i);
  throw ModelError("", "no row '" + text + "'");
}

// (type, axis, ((i, j, k), ...), scale, c, given, name)
LoopRow row_of_tuple(const py::tuple& t) {
  LoopRow row;
  row.type = type_of_row(t[0].cast<std::string>());
  row.axis = t[1].cast<int>();
  for (const py::handle& h : t[2].cast<py::tuple>()) {
    const auto term = py::reinterpret_borrow<py::tuple>(h);
    row.term[row.terms++] = {term[0].cast<int>(), term[1].cast<int>(), term[2].cast<double>()};
  }
  row.scale = t[3].cast<double>();
  row.c = t[4].cast<double>();
  row.given = t[5].cast<int>();
  row.name = t[6].cast<std::string>();
  return row;
}

// (name, side A or None, side B or None, coefficients in the order of q or None, rows)
std::unique_ptr<Linkage> make_linkage(const Chain& chain, double length, double open, int given,
                                      const py::list& constraints) {
  std::vector<LoopConstraint> all;
  std::vector<LoopRow> rows;
  for (const py::handle& h : constraints) {
    const auto t = py::reinterpret_borrow<py::tuple>(h);
    LoopConstraint c;
    c.name = t[0].cast<std::string>();
    c.placed = !t[1].is_none();
    if (c.placed) {
      c.a = side_of(chain, t[1].cast<py::tuple>());
      c.b = side_of(chain, t[2].cast<py::tuple>());
    }
    c.coefficients.assign(chain.n(), 0.0);
    if (!t[3].is_none()) {
      const auto k = t[3].cast<std::vector<double>>();
      for (int b = 0; b < chain.n(); ++b) c.coefficients[b] = k[chain.user_index()[b]];
    }
    c.first = static_cast<int>(rows.size());
    for (const py::handle& row : t[4].cast<py::tuple>())
      rows.push_back(row_of_tuple(py::reinterpret_borrow<py::tuple>(row)));
    c.count = static_cast<int>(rows.size()) - c.first;
    all.push_back(std::move(c));
  }
  // a copy of the chain: the linkage may outlive the Python object
  return std::make_unique<Linkage>(std::make_shared<const Chain>(chain), length, open, given, std::move(all),
                                   std::move(rows));
}

py::tuple close(const Linkage& linkage, const Numbers& guess, const Numbers& lower, const Numbers& upper,
                const std::vector<bool>& held, const py::object& given) {
  const int n = linkage.chain().n(), m = linkage.rows();
  if (guess.size() != n || lower.size() != n || upper.size() != n || static_cast<int>(held.size()) != n)
    throw py::value_error("close: sizes do not match");
  Numbers q(n), f(m);
  std::copy_n(guess.data(), n, q.mutable_data());
  const std::unique_ptr<bool[]> fixed(new bool[held.size()]);
  for (int i = 0; i < n; ++i) fixed[i] = held[i];
  ClosingLimits limits{lower.data(), upper.data(), fixed.get(), {}};
  limits.given = [&](const double* at, double* to) {
    Numbers x(n);
    std::copy_n(at, n, x.mutable_data());
    const Numbers result = given(x);
    if (result.size() != linkage.given()) throw py::value_error("close: numbers given have the wrong size");
    std::copy_n(result.data(), linkage.given(), to);
    return true;
  };
  Closing result;
  {
    // functions of the user need the interpreter
    const std::optional<py::gil_scoped_release> unlocked =
        linkage.given() ? std::nullopt : std::optional<py::gil_scoped_release>(std::in_place);
    result = close_linkage(*kernels, linkage, limits, q.mutable_data(), f.mutable_data());
  }
  return py::make_tuple(q, f, result.closed, result.steps, result.rate);
}

py::tuple rank_of(const Linkage& linkage, const Numbers& G, const Numbers& f) {
  const int m = linkage.rows(), n = linkage.chain().n();
  if (G.size() != static_cast<py::ssize_t>(m) * n || f.size() != m) throw py::value_error("rank: sizes do not match");
  Numbers values(std::min(m, n));
  const int rank = scaled_rank(linkage, G.data(), f.data(), values.mutable_data());
  return py::make_tuple(rank, values);
}

void choose(Linkage& linkage, const Numbers& G) {
  const py::ssize_t one = static_cast<py::ssize_t>(linkage.rows()) * linkage.chain().n();
  if (linkage.chosen() || !one || !G.size() || G.size() % one) throw py::value_error("choose: nothing to choose from");
  linkage.choose(choose_rows(linkage, G.data(), static_cast<int>(G.size() / one)));
}

}  // namespace

ZVENO_COLD py::object look_at_times(const Context& c, const Linkage& linkage, LinkageJob& job, PyObject* self, int required,
                                    Arguments& a) {
  PyObject* const t = a[Param::t];
  const bool number = PyLong_CheckExact(t) || (PyFloat_Check(t) && std::isfinite(PyFloat_AS_DOUBLE(t)));
  if (number || input_size(job, Param::given)) return {};
  Arrays looked_at;
  read_states<Linkage>(c, job, a, required, ~0u, looked_at);
  const auto or_none = [&](Param p) { return py::handle(a[p] ? a[p] : Py_None); };
  const py::array none = py::handle(self).attr("_given")(c.function, or_none(Param::q), or_none(Param::qd), py::handle(t));
  if (none.ndim() == 1) return {};
  py::list shape(none.attr("shape"));
  shape[shape.size() - 1] = linkage.chain().n();
  py::object states = py::module_::import("numpy").attr("broadcast_to")(or_none(Param::q), shape);
  a.slot[index_of(Param::q)] = states.ptr();
  return states;
}

void register_linkage(py::module_& m) {
  new_class<Linkage>(m, "Linkage")
      .def(py::init(&make_linkage), py::arg("chain"), py::arg("length"), py::arg("open"), py::arg("given"),
           py::arg("constraints"))
      .def_property_readonly("_active", [](const Linkage& x) { return x.choice().active; })
      .def_property_readonly("_choice",
                             [](const Linkage& x) {
                               const RowChoice& c = x.choice();
                               return py::make_tuple(x.chosen(), c.active, c.redundant, c.zero);
                             })
      .def_property_readonly("_parts",
                             [](const Linkage& x) {
                               py::list parts;
                               for (const LoopGroup* part : x.parts())
                                 parts.append(py::make_tuple(part->rows, part->joints));
                               return parts;
                             })
      .def_property_readonly("m", &Linkage::rows, "Number of equations.");
  m.def("linkage_close", &close, py::arg("linkage"), py::arg("guess"), py::arg("lower"), py::arg("upper"), py::arg("held"),
        py::arg("given"),
        "A configuration near the guess that meets all constraints, or the best: (q, residuals, closed, steps, rate).");
  m.def("linkage_rank", &rank_of, py::arg("linkage"), py::arg("G"), py::arg("f"),
        "Rank of a Jacobian with scaled columns, and its singular values.");
  m.def("linkage_choose", &choose, py::arg("linkage"), py::arg("G"),
        "Choose the rows to compute with from Jacobians at closed configurations; once.");
}

}  // namespace zveno::bindings
