// Inverse velocity problem of chains, measures of their Jacobians; sweeps along a path.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include <zveno/solve/path_steps.hpp>
#include <zveno/solve/rates.hpp>

#include "arrays.hpp"
#include "interrupt.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

using Numbers = py::array_t<double, py::array::c_style>;

const std::string kOfAnArm = "chain";

// rows of (N, 6, n)
struct Rows {
  std::ptrdiff_t count;
  RateTask task;

  Rows(const Numbers& J, const Numbers& scale) {
    if (J.ndim() != 3 || J.shape(1) != 6 || J.shape(2) < 1 || scale.size() != 6)
      throw py::value_error("joint_rates: J has to be (N, 6, n), scale (6,)");
    count = J.shape(0);
    task.n = static_cast<int>(J.shape(2));
    std::copy_n(scale.data(), 6, task.scale);
    if (std::all_of(task.scale, task.scale + 6, [](double x) { return x == 0; }))
      throw py::value_error("joint_rates: no component is held");
  }
  const double* of(const std::optional<Numbers>& x, py::ssize_t width) const {
    if (!x) return nullptr;
    if (x->size() != count * width) throw py::value_error("joint_rates: sizes do not match");
    return x->data();
  }
};

// work(solver, row) on any thread
template <class Work>
void run(const Rows& rows, const py::object& threads, const Work& work) {
  const int workers = threads_of({"threads", kOfAnArm}, threads.ptr());
  struct Shared {
    const Rows& rows;
    const Work& work;
  } shared{rows, work};
  Unlocked unlocked;
  parallel_for(
      rows.count, 32, workers,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const Shared& s = *static_cast<const Shared*>(context);
        RateSolver solver(s.rows.task);
        for (std::ptrdiff_t i = begin; i < end; ++i) s.work(solver, i);
      },
      &shared, &unlocked.watch);
  if (unlocked.watch.stopped()) unlocked.raise();
}

py::tuple joint_rates(const Numbers& J, const Numbers& twist, const Numbers& scale, const std::optional<Numbers>& wish,
                      const std::optional<Numbers>& lower, const std::optional<Numbers>& upper, double damping,
                      double region, const py::object& threads) {
  Rows rows(J, scale);
  rows.task.damping = damping, rows.task.region = region;
  const py::ssize_t N = rows.count, n = rows.task.n;
  Numbers qd({N, n}), residual({N, py::ssize_t{6}}), smallest(N), mu(N);
  py::array_t<std::int8_t> status(N);
  const double *Js = J.data(), *given = rows.of(twist, 6), *wanted = rows.of(wish, n);
  const double *low = rows.of(lower, n), *high = rows.of(upper, n);
  if (!low != !high) throw py::value_error("joint_rates: lower and upper go together");
  double *to = qd.mutable_data(), *left = residual.mutable_data(), *s = smallest.mutable_data(), *d = mu.mutable_data();
  std::int8_t* told = status.mutable_data();
  run(rows, threads, [&](RateSolver& solver, std::ptrdiff_t i) {
    const auto at = [&](const double* x) { return x ? x + i * n : nullptr; };
    told[i] = static_cast<std::int8_t>(solver.solve(
        {Js + i * 6 * n, given + 6 * i, at(wanted), at(low), at(high), to + i * n, left + 6 * i, s + i, d + i}));
  });
  return py::make_tuple(qd, status, residual, smallest, mu);
}

py::dict jacobian_measures(const Numbers& J, const Numbers& scale, bool link_axes, bool gradients,
                           const py::object& threads) {
  Rows rows(J, scale);
  rows.task.link_axes = link_axes;
  const py::ssize_t N = rows.count, n = rows.task.n;
  const py::ssize_t values = std::min<py::ssize_t>(RateSolver(rows.task).rows(), n), wide = gradients ? n : 0;
  Numbers s({N, values}), direction({N, py::ssize_t{6}}), product(N), condition(N);
  Numbers d_product({N, wide}), d_condition({N, wide}), d_smallest({N, wide});
  const double* Js = J.data();
  double *sd = s.mutable_data(), *dd = direction.mutable_data(), *pd = product.mutable_data(),
         *cd = condition.mutable_data();
  double* slope[3] = {d_product.mutable_data(), d_condition.mutable_data(), d_smallest.mutable_data()};
  run(rows, threads, [&](RateSolver& solver, std::ptrdiff_t i) {
    const auto at = [&](double* x) { return gradients ? x + i * n : nullptr; };
    solver.measure({Js + i * 6 * n, sd + i * values, dd + 6 * i, pd + i, cd + i, at(slope[0]), at(slope[1]), at(slope[2])});
  });
  py::dict out;
  out["values"] = s, out["direction"] = direction, out["manipulability"] = product, out["condition"] = condition;
  out["d_manipulability"] = d_product, out["d_condition"] = d_condition, out["d_smallest"] = d_smallest;
  return out;
}

// (count, rows) lines, and bounds of x
PathSteps path_steps(double length, const Numbers& slope, const Numbers& above, const Numbers& below, const Numbers& least,
                     const Numbers& most) {
  if (slope.ndim() != 2 || above.size() != slope.size() || below.size() != slope.size() || least.size() != slope.shape(0) ||
      most.size() != slope.shape(0) || !(length > 0))
    throw py::value_error("path_steps: sizes do not match");
  return {slope.shape(0), slope.shape(1), length, slope.data(), above.data(), below.data(), least.data(), most.data()};
}

py::tuple reach_path_end(double length, const Numbers& slope, const Numbers& above, const Numbers& below,
                         const Numbers& least, const Numbers& most, double end) {
  const PathSteps steps = path_steps(length, slope, above, below, least, most);
  Numbers low(steps.count + 1), high(steps.count + 1);
  double *const lows = low.mutable_data(), *const highs = high.mutable_data();
  PathStop stop;
  {
    Unlocked unlocked;
    stop = reach_end(steps, end, lows, highs);
  }
  return py::make_tuple(low, high, stop.step, stop.x,
                        stop.closed ? py::object(py::none()) : py::make_tuple(stop.up, stop.down));
}

py::tuple go_fast_on_path(double length, const Numbers& slope, const Numbers& above, const Numbers& below,
                          const Numbers& least, const Numbers& most, const Numbers& low, const Numbers& high, double start) {
  const PathSteps steps = path_steps(length, slope, above, below, least, most);
  if (low.size() != steps.count + 1 || high.size() != steps.count + 1)
    throw py::value_error("path_steps: sizes do not match");
  Numbers x(steps.count + 1), u(steps.count);
  double *const to = x.mutable_data(), *const pull = u.mutable_data();
  to[0] = start;
  PathStop stop;
  {
    Unlocked unlocked;
    stop = go_fast(steps, low.data(), high.data(), to, pull);
  }
  return py::make_tuple(x, u, stop.step);
}

}  // namespace

void register_rates(py::module_& m) {
  m.def("reach_path_end", &reach_path_end, py::arg("length"), py::arg("slope"), py::arg("above"), py::arg("below"),
        py::arg("least"), py::arg("most"), py::arg("end"));
  m.def("go_fast_on_path", &go_fast_on_path, py::arg("length"), py::arg("slope"), py::arg("above"), py::arg("below"),
        py::arg("least"), py::arg("most"), py::arg("low"), py::arg("high"), py::arg("start"));
  m.def("joint_rates", &joint_rates, py::arg("J"), py::arg("twist"), py::arg("scale"), py::arg("wish").none(true),
        py::arg("lower").none(true), py::arg("upper").none(true), py::arg("damping"), py::arg("region"),
        py::arg("threads").none(true));
  m.def("jacobian_measures", &jacobian_measures, py::arg("J"), py::arg("scale"), py::arg("link_axes"), py::arg("gradients"),
        py::arg("threads").none(true));
}

}  // namespace zveno::bindings
