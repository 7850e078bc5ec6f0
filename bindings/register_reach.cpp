// Inverse kinematics of chains.
#include <pybind11/stl.h>

#include <cmath>
#include <limits>

#include <zveno/functions/reach_job.hpp>

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
          throw py::value_error(std::string(context.function) + ": the last row of " + keys[k].text() +
                                " is not [0, 0, 0, 1]" + (rows > 1 ? " in row " + std::to_string(row) : ""));
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
                bool limits, bool nearest, double gap, double turn, int starts, std::uint64_t seed, const py::object& threads) {
  const Context context{"ik", reach.model_name};
  const int workers = threads_of(context, threads.ptr());
  const Asked asked(context, reach.names, reach.n, targets, q0);
  const std::ptrdiff_t rows = asked.lead.count();
  auto q = asked.array<double>(reach.n), residual = asked.array<double>(2);
  auto iterations = asked.array<std::int32_t>(), started = asked.array<std::int32_t>();
  auto status = asked.array<std::int8_t>();
  ReachJob job{&reach.model, reach.n, {asked.goal.data(), static_cast<std::ptrdiff_t>(12 * reach.names.size())},
               {asked.start, asked.start_stride}};
  job.limits = limits, job.nearest = nearest, job.gap = gap, job.turn = turn, job.starts = starts, job.seed = seed;
  job.q = q.mutable_data(), job.residual = residual.mutable_data();
  job.iterations = iterations.mutable_data(), job.started = started.mutable_data(), job.status = status.mutable_data();
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

}  // namespace

void register_reach(py::module_& m) {
  new_class<Reach>(m, "Reach")
      .def(py::init(&make_reach), py::arg("chain"), py::arg("wishes"), py::arg("lower"), py::arg("upper"))
      .def_property_readonly("length", [](const Reach& r) { return r.model.reach; }, "Length of the arm, m.")
      .def("solve", &solve, py::arg("targets"), py::arg("q0"), py::arg("rest"), py::arg("limits"), py::arg("nearest"),
           py::arg("gap"), py::arg("turn"), py::arg("starts"), py::arg("seed"), py::arg("threads"),
           "(q, status, residual, iterations, starts) of rows of targets, one (..., 4, 4) array for each frame.");
}

}  // namespace zveno::bindings
