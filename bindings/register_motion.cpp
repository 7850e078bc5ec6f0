// Time derivatives of the functions of a chain along its motions.
#include <pybind11/stl.h>

#include "call.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

[[noreturn]] void fail(const Context& c, const std::string& text) {
  throw py::value_error(std::string(c.function) + ": " + text);
}

// 'q, qd, qdd'
std::string motion_words(int rows) { return rows == 1 ? "q" : rows == 2 ? "q, qd" : "q, qd, qdd"; }

// An array with an axis of time derivatives before its last one, or `constant`: one that has no other axis. Returns how many
// rows there are.
int read_derivatives(const Context& c, Name name, PyObject* arg, int size, bool constant, Arrays& arrays) {
  py::object whole = as_array(c, name, arg);
  const auto* proxy = py::detail::array_proxy(whole.ptr());
  if (constant && proxy->nd == 1 && proxy->dimensions[0] == size) {
    arrays.read(c, name, whole.ptr(), size);
    arrays.keep(std::move(whole));
    return 1;
  }
  const std::string shape = shape_text(proxy->dimensions, proxy->nd), width = std::to_string(size);
  if (proxy->nd < 2 || proxy->dimensions[proxy->nd - 1] != size || proxy->dimensions[proxy->nd - 2] < 1)
    fail(c, name.text() + " has shape " + shape + ", expected (..., k, " + width + ")" +
                (constant ? " or (" + width + ",)" : "") + " for model '" + c.model +
                "': k rows, one for each time derivative");
  const py::ssize_t rows = proxy->dimensions[proxy->nd - 2];
  if (rows > kMostTimeDerivatives + 3)
    fail(c, name.text() + " has shape " + shape + ", expected at most " + std::to_string(kMostTimeDerivatives + 3) +
                " rows for the time derivatives");
  arrays.read(c, name, whole.ptr(), rows, size);
  arrays.keep(std::move(whole));
  return static_cast<int>(rows);
}

// order of the results, from what is wanted (none: as much as possible) and what is given
int order_of(const Context& c, const FunctionRow& row, const std::optional<int>& wanted, int given, const char* name,
             int first) {
  const std::string rows = std::to_string(given) + (given == 1 ? " row" : " rows");
  const std::string function = "'" + std::string(row.name) + "'";
  const std::string needs = function + " needs " +
                            (first == 1 ? "one row" : std::to_string(first) + " rows (" + motion_words(first) + ")") +
                            " and one more for each time derivative";
  if (given < first) fail(c, std::string(name) + " has " + rows + ": " + needs);
  const int order = wanted.value_or(given - first);
  if (order > kMostTimeDerivatives)
    fail(c, (wanted ? "order is " + std::to_string(order) : std::string(name) + " has " + rows + " for " + function) +
                ", expected at most " + std::to_string(wanted ? kMostTimeDerivatives : kMostTimeDerivatives + first) +
                (wanted ? "" : " or an order"));
  if (order < 0) fail(c, "order is " + std::to_string(order) + ", expected 0 to " + std::to_string(given - first));
  if (given < first + order)
    fail(c, "order is " + std::to_string(order) + " and " + name + " has " + rows + ": " + needs + ", " +
                std::to_string(first + order) + " in all");
  return order;
}

// arguments: options and arrays besides the motion by name; absent or None: not given
py::object time_derivatives(const Chain& chain, const std::string& function, const py::object& qs,
                            const std::optional<int>& order, const py::dict& arguments) {
  const Context c{"time_derivatives", chain.name()};
  const FunctionRow* row = find_row<Chain>(function);
  if (!row || row->has(kPrivate))
    fail(c, "unknown function '" + function + "', expected one of " + listed_functions<Chain>());
  Arguments a;
  for (int i = 0; i < kParams; ++i) {
    const Param p = static_cast<Param>(i);
    const bool common = p == Param::on_error || p == Param::status || p == Param::out || p == Param::threads ||
                        (p == Param::outputs && row->has(kSeveral));
    if ((row->takes(p) || common) && arguments.contains(name_of(p)))
      a.slot[i] = py::object(arguments[name_of(p)]).ptr();  // the dict holds it
  }

  MotionJob motion{Face<Chain>::options(c, chain, *row, a)};
  if (const char* why = refused_on_jets(motion.job)) fail(c, "function '" + function + "' " + why);
  if (PyObject* outputs = a[Param::outputs]) motion.job.outputs = outputs_of(c, *row, outputs);
  Arrays arrays;
  const auto read = [&](Param p, const char* name, PyObject* arg, bool constant) {
    motion.given[index_of(p)] = read_derivatives(c, {name}, arg, input_size(motion.job, p), constant, arrays);
    arrays.param[arrays.states++] = p;
  };
  read(Param::q, "qs", qs.ptr(), false);
  const int rows = motion.given[index_of(Param::q)];
  if (motion.driven()) {
    if (rows != 2)
      fail(c, "qs has " + std::to_string(rows) + (rows == 1 ? " row" : " rows") + ", expected 2 for '" + row->name +
                  "': q and qd; the motion beyond them follows from tau");
    if (!a[Param::tau])
      throw py::type_error(std::string(c.function) +
                           ": argument 'tau' is missing: efforts and their time derivatives, (..., k, " +
                           std::to_string(chain.n()) + ")");
    read(Param::tau, "tau", a[Param::tau], false);
    motion.order = order_of(c, *row, order, motion.given[index_of(Param::tau)], "tau", 1);
  } else {
    motion.order = order_of(c, *row, order, rows, "qs", rows_of_motion(*row));
  }
  for (int i = 0; i < row->params.count; ++i) {
    const Param p = row->params[i];
    if (!is_array(p) || is_of_motion(p) || p == Param::tau) continue;
    PyObject* arg = a[p];
    if (!arg && i < row->required)
      throw py::type_error(std::string(c.function) + ": argument '" + name_of(p) + "' is missing");
    if (arg) read(p, name_of(p), arg, true);
  }

  Small<LinkFrame, kFewLoads> frames;
  std::vector<int> given;
  py::object kept;
  if (PyObject* external = a[Param::external]) {
    require_dict(c, external);
    // a copy: reading a wrench may run Python code that changes the dict
    kept = py::reinterpret_steal<py::dict>(PyDict_Copy(external));
    if (!kept) throw py::error_already_set();
    for (const auto& [link, wrench] : py::reinterpret_borrow<py::dict>(kept)) {
      frames.push(frame_of(c, chain, "external link", link.ptr()));
      given.push_back(read_derivatives(c, {"external", link.ptr()}, wrench.ptr(), 6, true, arrays));
    }
    motion.job.external_frames = frames.data();
    motion.job.external_count = frames.size();
    motion.external_given = given.data();
  }
  PyObject* result = run_call<MovingChain>(c, motion, arrays, a);
  return py::reinterpret_steal<py::object>(result);
}

}  // namespace

void register_motion(py::module_& m) {
  m.attr("MOST_TIME_DERIVATIVES") = kMostTimeDerivatives;
  m.def("time_derivatives", &time_derivatives, py::arg("chain"), py::arg("function"), py::arg("qs"), py::arg("order"),
        py::arg("arguments"), "A function of a chain and its time derivatives along a motion.");
}

}  // namespace zveno::bindings
