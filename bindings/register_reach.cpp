// Inverse kinematics of chains.
#include <pybind11/stl.h>

#include <cmath>
#include <limits>

#include <zveno/functions/reach_job.hpp>
#include <zveno/solve/arm_family.hpp>
#include <zveno/solve/arm_solutions.hpp>
#include <zveno/support/finite.hpp>

#include "arrays.hpp"
#include "classes.hpp"
#include "interrupt.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

// frames of a chain that are to be brought to a pose
struct Reach {
  std::string model_name;
  int n;
  ReachModel model;
  std::vector<std::string> names;  // of the targets, for messages
  ArmFamilyFound closed;           // of one target
};

std::unique_ptr<Reach> make_reach(const Chain& chain, const std::vector<std::pair<std::string, std::vector<bool>>>& wishes,
                                  const py::array_t<double>& lower, const py::array_t<double>& upper) {
  std::vector<ReachWish> all;
  auto reach = std::make_unique<Reach>();
  for (const auto& [name, held] : wishes) {
    ReachWish wish{chain.find_link(name), {}};
    if (wish.link < 0 || held.size() != 6) throw py::value_error("Reach: no such link, or not six components");
    for (int i = 0; i < 6; ++i) wish.held[i] = held[i];
    all.push_back(wish);
    reach->names.push_back(name);
  }
  if (lower.size() != chain.n() || upper.size() != chain.n()) throw py::value_error("Reach: sizes do not match");
  reach->model_name = chain.name();
  reach->n = chain.n();
  reach->model = make_reach_model(chain, all, lower.data(), upper.data());
  if (all.size() == 1)
    reach->closed = find_arm_family(reach->model);
  else
    reach->closed.what = "several targets have no closed form";
  return reach;
}

// One step of R (3 - R'R) / 2 removes rounding; what is no rotation stays one that is none.
void copy_pose(const double* T, double* goal) {
  double R[9];
  for (int i = 0; i < 3; ++i) {
    goal[i] = T[4 * i + 3];
    for (int j = 0; j < 3; ++j) R[3 * i + j] = T[4 * i + j];
  }
  for (int pass = 0; pass < 2; ++pass) {
    double out[9];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        double sum = 1.5 * R[3 * i + j];
        for (int k = 0; k < 3; ++k) sum -= 0.5 * R[3 * i + k] * (R[k] * R[j] + R[3 + k] * R[3 + j] + R[6 + k] * R[6 + j]);
        out[3 * i + j] = sum;
      }
    double change = 0;
    for (int i = 0; i < 9; ++i) change = std::fmax(change, std::fabs(out[i] - R[i]));
    if (!(change < 1e-6) || change < 1e-15) break;  // far from a rotation: left for the check; or one already
    std::copy_n(out, 9, R);
  }
  std::copy_n(R, 9, goal + 3);
}

// rows of poses and of starts, broadcast
struct Asked {
  LeadBuffer buffer;
  Lead lead;
  std::vector<Rowwise> poses;
  std::vector<double> goal;  // 12 a frame and row
  const double* start = nullptr;
  std::ptrdiff_t start_stride = 0;

  Asked(const Context& context, const std::vector<std::string>& names, int n, const py::list& targets,
        const py::object& q0) {
    const int frames = static_cast<int>(names.size());
    std::vector<Name> keys;
    std::vector<py::object> texts;
    for (int k = 0; k < frames; ++k) {
      texts.push_back(py::str(names[k]));
      keys.push_back(frames == 1 ? Name{"T"} : Name{"T", texts.back().ptr()});
      poses.push_back(read_rows(context, keys[k], py::object(targets[k]).ptr(), 4, 4));
    }
    if (!q0.is_none()) {
      keys.push_back(Name{"q0"});
      poses.push_back(read_rows(context, keys.back(), q0.ptr(), n));
    }
    lead = broadcast(context, poses.data(), keys.data(), static_cast<int>(poses.size()), buffer);
    const std::ptrdiff_t rows = lead.count();
    goal.resize(static_cast<std::size_t>(rows) * 12 * frames);
    for (std::ptrdiff_t row = 0; row < rows; ++row)
      for (int k = 0; k < frames; ++k) {
        const double* T = poses[k].data + poses[k].stride * row;
        if (T[12] != 0 || T[13] != 0 || T[14] != 0 || T[15] != 1)
          throw py::value_error(std::string(context.function) + ": the last row of " + keys[k].text() + " is " +
                                std::string(py::str(py::cast(std::vector<double>(T + 12, T + 16)))) +
                                (rows > 1 ? " in row " + std::to_string(row) : "") + ", expected [0, 0, 0, 1]");
        copy_pose(T, goal.data() + (row * frames + k) * 12);
      }
    if (!q0.is_none()) start = poses.back().data, start_stride = poses.back().stride;
  }

  template <class T>
  py::array_t<T> array(py::ssize_t tail = 0) const {
    std::vector<py::ssize_t> shape(lead.dims, lead.dims + lead.nd);
    if (tail) shape.push_back(tail);
    return py::array_t<T>(shape);
  }
};

py::tuple solve(const Reach& reach, const py::list& targets, const py::object& q0, const py::array_t<double>& rest,
                bool limits, bool nearest, double gap, double turn, int starts, std::uint64_t seed,
                const py::object& threads, const py::object& numbers) {
  const Context context{"ik", reach.model_name};
  const int workers = threads_of(context, threads.ptr());
  const Asked asked(context, reach.names, reach.n, targets, q0);
  const std::ptrdiff_t rows = asked.lead.count();
  auto q = asked.array<double>(reach.n), residual = asked.array<double>(2);
  auto iterations = asked.array<std::int32_t>(), started = asked.array<std::int32_t>();
  auto status = asked.array<std::int8_t>();
  ReachJob job{&reach.model,
               reach.n,
               {asked.goal.data(), static_cast<std::ptrdiff_t>(12 * reach.names.size())},
               {asked.start, asked.start_stride}};
  job.limits = limits, job.nearest = nearest, job.gap = gap, job.turn = turn, job.starts = starts, job.seed = seed;
  job.q = q.mutable_data(), job.residual = residual.mutable_data();
  job.iterations = iterations.mutable_data(), job.started = started.mutable_data(), job.status = status.mutable_data();
  py::array_t<std::int64_t, py::array::c_style> number;
  if (!numbers.is_none()) {
    number = numbers.cast<decltype(number)>();
    if (number.size() != rows) throw py::value_error("Reach.solve: sizes do not match");
    job.number = number.data();
  }
  // joints that no target needs keep what they are told
  for (std::ptrdiff_t row = 0; row < rows; ++row)
    std::copy_n(asked.start ? asked.start + asked.start_stride * row : rest.data(), reach.n, job.q + row * reach.n);
  {
    Unlocked unlocked;
    parallel_for(
        rows, 32 * kernels->lanes, workers,
        [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
          kernels->run_reach(*static_cast<const ReachJob*>(context), begin, end);
        },
        &job, &unlocked.watch);
    if (unlocked.watch.stopped()) unlocked.raise();
  }
  return py::make_tuple(q, status, residual, iterations, started);
}

// Rows of poses through the closed form, a few at a time; f(row, solutions) on any thread.
template <class F>
void run_closed(const Reach& reach, const Asked& asked, RowData psi, bool limits, int threads, const F& f) {
  const std::ptrdiff_t rows = asked.lead.count();
  struct Shared {
    const Reach& reach;
    const Asked& asked;
    RowData psi;
    bool limits;
    const F& f;
  } shared{reach, asked, psi, limits, f};
  Unlocked unlocked;
  parallel_for(
      rows, 16 * kernels->lanes, threads,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const Shared& s = *static_cast<const Shared*>(context);
        const ArmPlan& plan = s.reach.closed.plan;
        const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(plan.branches()) * BranchLayout{plan.n}.size();
        std::vector<double> branches(static_cast<std::size_t>((end - begin) * size));
        const RowData psi{s.psi.data ? s.psi.row(begin) : nullptr, s.psi.stride};
        kernels->run_arm({&plan, &s.reach.model, {s.asked.goal.data() + 12 * begin, 12}, psi, branches.data()}, 0,
                         end - begin);
        ArmRow row;
        for (std::ptrdiff_t i = begin; i < end; ++i) {
          const double* first = s.asked.start ? s.asked.start + s.asked.start_stride * i : nullptr;
          collect_solutions(plan, s.reach.model, branches.data() + (i - begin) * size, first, s.limits, row);
          s.f(i, row);
        }
      },
      &shared, &unlocked.watch);
  if (unlocked.watch.stopped()) unlocked.raise();
}

void require_closed(const Reach& reach) {
  if (reach.closed.plan.family == ArmFamily::none) throw py::value_error("Reach: " + reach.closed.what);
}

double distance(const Reach& reach, const ArmSolution& s, const double* to) {
  double most = 0;
  for (int j = 0; j < reach.model.size(); ++j)
    most = std::fmax(most, std::fabs(s.q[j] - to[reach.model.place[j]]) / reach.model.scale(j));
  return most;
}

// (q, status, residual) of rows: the solution nearest to q0
py::tuple nearest_closed(const Reach& reach, const py::list& targets, const py::object& q0, const py::array_t<double>& rest,
                         bool limits, const py::object& threads) {
  require_closed(reach);
  const Context context{"ik", reach.model_name};
  const int workers = threads_of(context, threads.ptr());
  const Asked asked(context, reach.names, reach.n, targets, q0);
  auto q = asked.array<double>(reach.n), residual = asked.array<double>(2);
  auto status = asked.array<std::int8_t>();
  double *to = q.mutable_data(), *left = residual.mutable_data();
  std::int8_t* told = status.mutable_data();
  const double* middle = rest.data();
  run_closed(reach, asked, {}, limits, workers, [&](std::ptrdiff_t i, const ArmRow& row) {
    const double* start = asked.start ? asked.start + asked.start_stride * i : middle;
    double* x = to + i * reach.n;
    std::copy_n(start, reach.n, x);
    const ArmSolution* best = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const ArmSolution& s : row.inside) {
      // without limits every turn is allowed: the nearest one
      ArmSolution near = s;
      for (int j = 0; !limits && j < reach.model.size(); ++j)
        if (reach.model.topology.kind[j] == JointKind::revolute)
          near.q[j] += 6.283185307179586 * std::nearbyint((start[reach.model.place[j]] - s.q[j]) / 6.283185307179586);
      const double d = distance(reach, near, start);
      if (!(d < least)) continue;
      least = d, best = &s;
      for (int j = 0; j < reach.model.size(); ++j) x[reach.model.place[j]] = near.q[j];
    }
    told[i] = static_cast<std::int8_t>(best                  ? ReachStatus::found
                                       : row.outside.empty() ? ReachStatus::unreachable
                                                             : ReachStatus::limits);
    left[2 * i] = best ? best->gap : row.missing, left[2 * i + 1] = best ? best->turn : 0.0;
  });
  return py::make_tuple(q, status, residual);
}

// all solutions of rows, one after another
py::dict all_closed(const Reach& reach, const py::list& targets, const py::object& q0, const py::array_t<double>& rest,
                    const py::object& psi, bool limits, const py::object& threads) {
  require_closed(reach);
  const Context context{"ik_all", reach.model_name};
  const int workers = threads_of(context, threads.ptr());
  const Asked asked(context, reach.names, reach.n, targets, q0);
  const std::ptrdiff_t rows = asked.lead.count();
  for (std::ptrdiff_t row = 0; row < rows; ++row)
    if (!all_finite(asked.goal.data() + 12 * row, 12) || !is_rotation(asked.goal.data() + 12 * row + 3))
      throw py::value_error("ik_all: T is not a pose in row " + std::to_string(row));
  RowData swivel{};
  py::array_t<double, py::array::c_style> given;
  if (!psi.is_none()) {
    given = psi.cast<py::array_t<double, py::array::c_style>>();
    if (given.size() != 1 && given.size() != rows) throw py::value_error("ik_all: swivel does not broadcast with T");
    swivel = {given.data(), given.size() == 1 ? 0 : 1};
  }
  std::vector<std::vector<ArmSolution>> found(static_cast<std::size_t>(rows));
  auto missing = asked.array<double>();
  auto outside = asked.array<std::int32_t>();
  double* lacking = missing.mutable_data();
  std::int32_t* beyond = outside.mutable_data();
  run_closed(reach, asked, swivel, limits, workers, [&](std::ptrdiff_t i, const ArmRow& row) {
    found[static_cast<std::size_t>(i)] = row.inside;
    lacking[i] = row.missing;
    beyond[i] = static_cast<std::int32_t>(row.outside.size());
  });
  py::array_t<std::int64_t> first(rows + 1);
  std::int64_t total = 0;
  for (std::ptrdiff_t i = 0; i <= rows; ++i) {
    first.mutable_at(i) = total;
    if (i < rows) total += static_cast<std::int64_t>(found[static_cast<std::size_t>(i)].size());
  }
  const auto K = static_cast<py::ssize_t>(total), n = static_cast<py::ssize_t>(reach.n);
  py::array_t<double> q({K, n}), residual({K, py::ssize_t{2}}), free({K, n});
  py::array_t<std::int8_t> configuration({K, py::ssize_t{3}}), singular(K);
  py::array_t<std::int32_t> branch(K), multiplicity(K);
  double *to = q.mutable_data(), *left = residual.mutable_data(), *along = free.mutable_data();
  std::ptrdiff_t at = 0;
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    for (const ArmSolution& s : found[static_cast<std::size_t>(i)]) {
      std::copy_n(asked.start ? asked.start + asked.start_stride * i : rest.data(), n, to + at * n);
      std::fill_n(along + at * n, n, 0.0);
      for (int j = 0; j < reach.model.size(); ++j) {
        to[at * n + reach.model.place[j]] = s.q[j];
        along[at * n + reach.model.place[j]] = s.free[j];
      }
      left[2 * at] = s.gap, left[2 * at + 1] = s.turn;
      std::copy_n(s.configuration, 3, configuration.mutable_data() + 3 * at);
      singular.mutable_data()[at] = static_cast<std::int8_t>(s.singular);
      branch.mutable_data()[at] = s.branch, multiplicity.mutable_data()[at] = s.multiplicity;
      ++at;
    }
  py::dict out;
  out["q"] = q, out["residual"] = residual, out["free"] = free, out["configuration"] = configuration;
  out["singular"] = singular, out["branch"] = branch, out["multiplicity"] = multiplicity, out["first"] = first;
  out["missing"] = missing, out["outside"] = outside;
  return out;
}

const char* family_name(ArmFamily family) {
  constexpr const char* kNames[] = {"", "point", "parallel", "scara", "five", "position", "swivel"};
  return kNames[static_cast<int>(family)];
}

}  // namespace

void register_reach(py::module_& m) {
  new_class<Reach>(m, "Reach")
      .def(py::init(&make_reach), py::arg("chain"), py::arg("wishes"), py::arg("lower"), py::arg("upper"))
      .def_property_readonly(
          "length", [](const Reach& r) { return r.model.reach; }, "Length of the arm, m.")
      .def_property_readonly(
          "family", [](const Reach& r) { return family_name(r.closed.plan.family); },
          "Closed form: its name, empty if there is none.")
      .def_property_readonly(
          "what", [](const Reach& r) { return r.closed.what; }, "The closed form in words, or why there is none.")
      .def_property_readonly(
          "deviation", [](const Reach& r) { return r.closed.deviation; },
          "Of the arm from the ideal form: rad, or m over the length.")
      .def("closed", &all_closed, py::arg("targets"), py::arg("q0"), py::arg("rest"), py::arg("swivel"), py::arg("limits"),
           py::arg("threads"), "All solutions of rows of targets, one after another.")
      .def("nearest_closed", &nearest_closed, py::arg("targets"), py::arg("q0"), py::arg("rest"), py::arg("limits"),
           py::arg("threads"), "(q, status, residual): of the solutions of each row the one nearest to q0.")
      .def("solve", &solve, py::arg("targets"), py::arg("q0"), py::arg("rest"), py::arg("limits"), py::arg("nearest"),
           py::arg("gap"), py::arg("turn"), py::arg("starts"), py::arg("seed"), py::arg("threads"),
           py::arg("numbers") = py::none(),
           "(q, status, residual, iterations, starts) of rows of targets, one (..., 4, 4) array for each frame.");
}

}  // namespace zveno::bindings
