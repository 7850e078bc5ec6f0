// Inverse kinematics of chains.
#include <pybind11/stl.h>
#include <structmember.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>

#include <zveno/functions/reach_job.hpp>
#include <zveno/solve/arm_family.hpp>
#include <zveno/solve/arm_solutions.hpp>
#include <zveno/solve/reach_path.hpp>
#include <zveno/support/finite.hpp>

#include "arrays.hpp"
#include "calls.hpp"
#include "classes.hpp"
#include "interrupt.hpp"
#include "registers.hpp"
#include "types.hpp"

namespace zveno::bindings {
namespace {

// frames of a chain that are to be brought to a pose
struct Reach {
  std::string model_name;
  int n;
  ReachModel model;
  std::vector<std::string> names;  // of the targets, for messages
  ArmFamilyFound closed;           // of one target
  std::vector<double> lower, upper, middle;
};

std::unique_ptr<Reach> make_reach(const Chain& chain, const std::vector<std::pair<std::string, std::vector<bool>>>& wishes,
                                  const py::array_t<double>& lower, const py::array_t<double>& upper,
                                  const py::array_t<double>& middle) {
  std::vector<ReachWish> all;
  auto reach = std::make_unique<Reach>();
  for (const auto& [name, held] : wishes) {
    ReachWish wish{chain.find_link(name), {}};
    if (wish.link < 0 || held.size() != 6) throw py::value_error("Reach: no such link, or not six components");
    for (int i = 0; i < 6; ++i) wish.held[i] = held[i];
    all.push_back(wish);
    reach->names.push_back(name);
  }
  if (lower.size() != chain.n() || upper.size() != chain.n() || middle.size() != chain.n())
    throw py::value_error("Reach: sizes do not match");
  reach->model_name = chain.name();
  reach->n = chain.n();
  reach->lower.assign(lower.data(), lower.data() + chain.n());
  reach->upper.assign(upper.data(), upper.data() + chain.n());
  reach->middle.assign(middle.data(), middle.data() + chain.n());
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
    double G[9], out[9], change = 0;  // G = R'R
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 3; ++j) G[3 * k + j] = R[k] * R[j] + R[3 + k] * R[3 + j] + R[6 + k] * R[6 + j];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        double sum = 1.5 * R[3 * i + j];
        for (int k = 0; k < 3; ++k) sum -= 0.5 * R[3 * i + k] * G[3 * k + j];
        out[3 * i + j] = sum;
        change = std::max(change, std::fabs(sum - R[3 * i + j]));
      }
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
  std::vector<Name> keys;
  std::vector<py::object> texts;
  const double* start = nullptr;
  std::ptrdiff_t start_stride = 0;

  Asked(const Context& context, const std::vector<std::string>& names, int n, const py::list& targets,
        const py::object& q0) {
    const int frames = static_cast<int>(names.size());
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
    if (!q0.is_none()) start = poses.back().data, start_stride = poses.back().stride;
  }

  void require_last_row(const Context& context, std::ptrdiff_t row) const {
    for (std::size_t k = 0; k < keys.size() - (start != nullptr); ++k) {
      const double* T = poses[k].data + poses[k].stride * row;
      if (T[12] != 0 || T[13] != 0 || T[14] != 0 || T[15] != 1)
        throw py::value_error(std::string(context.function) + ": the last row of " + keys[k].text() + " is " +
                              std::string(py::str(py::cast(std::vector<double>(T + 12, T + 16)))) +
                              (lead.count() > 1 ? " in row " + std::to_string(row) : "") + ", expected [0, 0, 0, 1]");
    }
  }
  // p, R of every frame and row
  std::vector<double> goals(const Context& context) const {
    const std::ptrdiff_t rows = lead.count(), frames = static_cast<std::ptrdiff_t>(keys.size()) - (start != nullptr);
    std::vector<double> all(static_cast<std::size_t>(rows * 12 * frames));
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
      require_last_row(context, row);
      for (std::ptrdiff_t k = 0; k < frames; ++k)
        copy_pose(poses[k].data + poses[k].stride * row, all.data() + (row * frames + k) * 12);
    }
    return all;
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
  const std::vector<double> goal = asked.goals(context);
  auto q = asked.array<double>(reach.n), residual = asked.array<double>(2);
  auto iterations = asked.array<std::int32_t>(), started = asked.array<std::int32_t>();
  auto status = asked.array<std::int8_t>();
  ReachJob job{&reach.model,
               reach.n,
               {goal.data(), static_cast<std::ptrdiff_t>(12 * reach.names.size())},
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

void require_closed(const Reach& reach) {
  if (reach.closed.plan.family == ArmFamily::none) throw py::value_error("Reach: " + reach.closed.what);
}

// ---- closed forms

// memory that an array takes over
struct Room : ArmFound {
  int n;

  explicit Room(int numbers) : n(numbers) { grow = &enlarge; }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { std::free(q), std::free(note); }

  static void enlarge(ArmFound& found, std::ptrdiff_t more) {
    Room& room = static_cast<Room&>(found);
    room.resize(std::max(2 * room.capacity, room.size + more));
  }
  void resize(std::ptrdiff_t count) {
    const auto take = [](auto*& block, std::size_t bytes) {
      void* moved = std::realloc(block, std::max<std::size_t>(bytes, 16));
      if (!moved) throw std::bad_alloc();
      block = static_cast<std::remove_reference_t<decltype(block)>>(moved);
    };
    take(q, sizeof(double) * static_cast<std::size_t>(count * n + 8));
    take(note, sizeof(ArmNote) * static_cast<std::size_t>(count));
    capacity = count;
  }
  void append(const Room& other) {
    need(other.size);
    std::copy_n(other.q, other.size * n, q + size * n);
    std::copy_n(other.note, other.size, note + size);
    size += other.size;
  }
  // (k, n) numbers and (k, 16) bytes
  std::pair<py::object, py::object> arrays() {
    if (2 * size < capacity) resize(size);  // else it stays as it is: the next call gets the same block from malloc
    const auto owner = [](void* block) { return py::capsule(block, [](void* p) { std::free(p); }); };
    const py::capsule first = owner(std::exchange(q, nullptr)), second = owner(std::exchange(note, nullptr));
    const auto k = static_cast<py::ssize_t>(size);
    return {py::array_t<double>({k, py::ssize_t{n}}, static_cast<double*>(first.get_pointer()), first),
            py::array_t<std::uint8_t>({k, py::ssize_t{sizeof(ArmNote)}}, static_cast<std::uint8_t*>(second.get_pointer()),
                                      second)};
  }
};

// Rows of poses through the closed form. Several threads write into rooms of their own, which `room` gets in the end.
void run_closed(ArmJob& job, std::ptrdiff_t rows, int threads, Room* room) {
  struct Shared {
    ArmJob& job;
    bool several;
    int n;
    std::mutex mutex;
    std::map<std::ptrdiff_t, std::unique_ptr<Room>> rooms;
  } shared{job, room && threads != 1, room ? room->n : 0, {}, {}};
  job.found = room;
  job.collect = &collect_solutions;
  Unlocked unlocked;
  parallel_for(
      rows, 16 * kernels->lanes, threads,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        Shared& s = *static_cast<Shared*>(context);
        if (!s.several) return kernels->run_arm(s.job, begin, end);
        auto own = std::make_unique<Room>(s.n);
        own->resize((end - begin) * kMostBranches);
        ArmJob job = s.job;
        job.found = own.get();
        kernels->run_arm(job, begin, end);
        const std::lock_guard<std::mutex> lock(s.mutex);
        s.rooms.emplace(begin, std::move(own));
      },
      &shared, &unlocked.watch);
  if (unlocked.watch.stopped()) unlocked.raise();
  for (const auto& [begin, part] : shared.rooms) room->append(*part);
}

ArmJob closed_job(const Reach& reach, const Asked& asked, const py::array_t<double>& rest, bool limits) {
  ArmJob job{&reach.closed.plan, &reach.model, reach.n, {asked.poses[0].data, asked.poses[0].stride}, {}, {}};
  job.start = asked.start ? RowData{asked.start, asked.start_stride} : RowData{rest.data(), 0};
  job.limits = limits, job.resting = asked.start != nullptr;
  return job;
}

// (q, status, residual) of rows: the solution nearest to q0
py::tuple nearest_closed(const Reach& reach, const py::list& targets, const py::object& q0, const py::array_t<double>& rest,
                         bool limits, const py::object& threads) {
  require_closed(reach);
  const Context context{"ik", reach.model_name};
  const int workers = threads_of(context, threads.ptr());
  const Asked asked(context, reach.names, reach.n, targets, q0);
  const std::ptrdiff_t rows = asked.lead.count();
  auto q = asked.array<double>(reach.n), residual = asked.array<double>(2);
  auto status = asked.array<std::int8_t>();
  ArmJob job = closed_job(reach, asked, rest, limits);
  job.q = q.mutable_data(), job.residual = residual.mutable_data(), job.status = status.mutable_data();
  run_closed(job, rows, workers, nullptr);
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    bool bad = job.status[row] >= static_cast<std::int8_t>(ReachStatus::input);
    if (bad) asked.require_last_row(context, row);
    for (int j = 0; !bad && asked.start && j < reach.n; ++j)
      if (!std::isfinite(job.start.row(row)[j])) bad = true, job.status[row] = static_cast<std::int8_t>(ReachStatus::input);
    if (!bad) continue;
    std::fill_n(job.q + row * reach.n, reach.n, std::numeric_limits<double>::quiet_NaN());
    job.residual[2 * row] = job.residual[2 * row + 1] = std::numeric_limits<double>::quiet_NaN();
  }
  return py::make_tuple(q, status, residual);
}

// What `ik_all` returns: arrays, and numbers from which others are made when they are asked for.
struct ClosedObject {
  PyObject ob_base;
  PyObject *reach, *q, *notes, *first, *missing, *outside;
};
ClosedObject* closed(PyObject* object) { return reinterpret_cast<ClosedObject*>(object); }

PyObject* new_closed(PyObject* reach, py::object q, py::object notes, py::object first, py::object missing,
                     py::object outside) {
  PyTypeObject* type = adopted(Adopted::ClosedFormSolutions);
  PyObject* made = type->tp_alloc(type, 0);
  if (!made) throw py::error_already_set();
  Py_INCREF(reach);
  *closed(made) = {closed(made)->ob_base,  reach,
                   q.release().ptr(),      notes.release().ptr(),
                   first.release().ptr(),  missing.release().ptr(),
                   outside.release().ptr()};
  return made;
}

void destroy_closed(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  ClosedObject& c = *closed(self);
  for (PyObject* part : {c.reach, c.q, c.notes, c.first, c.missing, c.outside}) Py_XDECREF(part);
  type->tp_free(self);
  Py_DECREF(type);
}

void register_closed_type(py::module_& m) {
  static PyMemberDef members[] = {
      {"_reach", T_OBJECT, offsetof(ClosedObject, reach), 0, "Of the arm; or directions that are free."},
      {"q", T_OBJECT, offsetof(ClosedObject, q), 0, "(k, n), rad or m."},
      {"_notes", T_OBJECT, offsetof(ClosedObject, notes), 0, "(k, 16) bytes, what is told of a solution."},
      {"_first", T_OBJECT, offsetof(ClosedObject, first), 0, "None of one pose."},
      {"_missing", T_OBJECT, offsetof(ClosedObject, missing), 0, "A number or an array."},
      {"_outside", T_OBJECT, offsetof(ClosedObject, outside), 0, "A number or an array."},
      {nullptr, 0, 0, 0, nullptr},
  };
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(&destroy_closed)},
      {Py_tp_members, members},
      {Py_tp_doc, const_cast<char*>("Numbers of zveno.results.ClosedFormSolutions.")},
      {0, nullptr},
  };
  static PyType_Spec spec = {"zveno._core.ClosedFormBase", sizeof(ClosedObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                             slots};
  m.attr("ClosedFormBase") = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
}

// all solutions of rows, one after another
py::object all_closed(const py::object& self, const py::list& targets, const py::object& q0, const py::array_t<double>& rest,
                      const py::object& psi, bool limits, const py::object& threads) {
  const Reach& reach = self.cast<const Reach&>();
  require_closed(reach);
  const Context context{"ik_all", reach.model_name};
  const int workers = threads_of(context, threads.ptr());
  const Asked asked(context, reach.names, reach.n, targets, q0);
  const std::ptrdiff_t rows = asked.lead.count();
  ArmJob job = closed_job(reach, asked, rest, limits);
  py::array_t<double, py::array::c_style> given;
  if (!psi.is_none()) {
    given = psi.cast<py::array_t<double, py::array::c_style>>();
    if (given.size() != 1 && given.size() != rows) throw py::value_error("ik_all: swivel does not broadcast with T");
    job.psi = {given.data(), given.size() == 1 ? 0 : 1};
  }
  auto missing = asked.array<double>();
  auto outside = asked.array<std::int32_t>();
  std::vector<std::int8_t> status(static_cast<std::size_t>(rows));
  std::vector<std::int32_t> count(static_cast<std::size_t>(rows));
  job.missing = missing.mutable_data(), job.outside = outside.mutable_data();
  job.status = status.data(), job.count = count.data();
  Room room(reach.n);
  room.resize(workers == 1 ? rows * kMostBranches : 0);
  run_closed(job, rows, workers, &room);
  py::array_t<std::int64_t> first(rows + 1);
  std::int64_t total = 0, *const begins = first.mutable_data();
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    if (status[static_cast<std::size_t>(row)] != 0) {
      asked.require_last_row(context, row);
      throw py::value_error("ik_all: T is not a pose in row " + std::to_string(row));
    }
    begins[row] = total;
    total += count[static_cast<std::size_t>(row)];
  }
  begins[rows] = total;
  auto [q, notes] = room.arrays();
  return py::reinterpret_steal<py::object>(
      new_closed(self.ptr(), std::move(q), std::move(notes), std::move(first), std::move(missing), std::move(outside)));
}

// ---- paths

constexpr double kCalledSingular = 1e-3;

// Rows of targets as one path: each the continuation of the one before, or by another start and told so. q0: solves the
// first row. (q, status, residual, iterations, parts)
py::tuple follow(const Reach& reach, const py::list& targets, const py::array_t<double, py::array::c_style>& q0, bool limits,
                 double gap, double turn, int starts, std::uint64_t seed) {
  const Context context{"ik", reach.model_name};
  const Asked asked(context, reach.names, reach.n, targets, py::none());
  const std::ptrdiff_t rows = asked.lead.count(), n = reach.n;
  if (asked.lead.nd != 1 || q0.size() != n) throw py::value_error("Reach.follow: sizes do not match");
  const std::vector<double> goal = asked.goals(context);
  const auto width = static_cast<std::ptrdiff_t>(12 * reach.names.size());
  auto q = asked.array<double>(n), residual = asked.array<double>(2);
  auto iterations = asked.array<std::int32_t>(), parts = asked.array<std::int32_t>();
  auto status = asked.array<std::int8_t>();
  double *const to = q.mutable_data(), *const left = residual.mutable_data();
  std::int8_t* const told = status.mutable_data();
  std::int32_t *const steps = iterations.mutable_data(), *const cut = parts.mutable_data();
  ReachPath path(reach.model);
  std::vector<double> at(q0.data(), q0.data() + n);
  const ArmFamily family = reach.closed.plan.family;
  const bool closed = family != ArmFamily::none && family != ArmFamily::swivel;
  {
    Unlocked unlocked;
    std::ptrdiff_t last = 0;  // the row that `at` belongs to
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
      if (unlocked.watch.stops()) unlocked.raise();
      const double* const want = goal.data() + row * width;
      bool fits = all_finite(want, static_cast<int>(width)), rotates = fits;
      for (std::ptrdiff_t k = 0; k < width && fits; k += 12) rotates &= is_rotation(want + k + 3);
      if (!rotates) {
        std::fill_n(to + row * n, n, std::numeric_limits<double>::quiet_NaN());
        left[2 * row] = left[2 * row + 1] = std::numeric_limits<double>::quiet_NaN();
        steps[row] = cut[row] = 0;
        told[row] = static_cast<std::int8_t>(fits ? ReachStatus::rotation : ReachStatus::input);
        continue;
      }
      std::vector<double> further = at;
      const ReachPath::Step step = path.follow(goal.data() + last * width, want, further.data());
      bool inside = step.certain;
      for (std::ptrdiff_t j = 0; limits && inside && j < n; ++j) {
        inside = further[j] >= reach.lower[j] - kArmInside && further[j] <= reach.upper[j] + kArmInside;
        further[j] = std::fmin(std::fmax(further[j], reach.lower[j]), reach.upper[j]);
      }
      steps[row] = step.corrections, cut[row] = step.parts;
      left[2 * row] = step.gap, left[2 * row + 1] = step.turn;
      std::int8_t now = 0;
      if (!inside) {  // from another side
        std::copy_n(at.data(), n, to + row * n);
        if (closed) {
          ArmJob job{&reach.closed.plan, &reach.model, reach.n, {asked.poses[0].data + row * asked.poses[0].stride, 0}, {},
                     {at.data(), 0}};
          job.limits = limits, job.resting = true, job.status = &now, job.q = to + row * n, job.residual = left + 2 * row;
          run_one_arm(job, *kernels);
        } else {
          std::int32_t iterated = 0, started = 0;
          ReachJob job{&reach.model, reach.n, {want, 0}, {at.data(), 0}};
          job.limits = limits, job.gap = gap, job.turn = turn, job.starts = starts;
          job.seed = seed + static_cast<std::uint64_t>(row);
          job.q = to + row * n, job.residual = left + 2 * row, job.iterations = &iterated, job.started = &started;
          job.status = &now;
          kernels->run_reach(job, 0, 1);
        }
        if (now != 0) {
          told[row] = now;
          continue;
        }
        further.assign(to + row * n, to + (row + 1) * n);
        now = static_cast<std::int8_t>(!step.certain && step.sigma < kCalledSingular ? ReachStatus::singular
                                                                                     : ReachStatus::jump);
      }
      at = further, last = row;
      std::copy_n(at.data(), n, to + row * n);
      told[row] = now;
    }
  }
  return py::make_tuple(q, status, residual, iterations, parts);
}

// ---- one pose in its plainest form; None: it has to be looked at closer

// numbers of a start inside of the limits, or of the middle of them; null: neither
const double* plain_start(const Reach& reach, PyObject* q0) {
  if (q0 == Py_None) return reach.middle.data();
  const double* start = plain_vector(q0, reach.n);
  if (!start) return nullptr;
  for (int j = 0; j < reach.n; ++j)
    if (!(start[j] >= reach.lower[j] - kArmInside && start[j] <= reach.upper[j] + kArmInside)) return nullptr;
  return start;
}

constexpr py::ssize_t kPose[2] = {4, 4};

// without pybind11's search for the type, which the method's descriptor has looked at
const Reach& reach_of(PyObject* self) {
  const auto* instance = reinterpret_cast<const py::detail::instance*>(self);
  const auto* reach = instance->simple_layout ? static_cast<const Reach*>(instance->simple_value_holder[0])
                                              : py::cast<const Reach*>(py::handle(self));
  if (!reach) throw py::type_error("Reach.__init__ was not called");
  return *reach;
}

// all(T, q0, limits): every solution
PyObject* all_of_one(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Reach& reach = reach_of(self);
    if (count != 3) throw py::type_error("Reach.one_all: three arguments expected");
    const double* const T = plain_in(args[0], 2, kPose);
    const double* const start = args[1] == Py_None ? reach.middle.data() : plain_vector(args[1], reach.n);
    if (!T || !start || !all_finite(start, reach.n) || reach.closed.plan.family == ArmFamily::none ||
        reach.closed.plan.family == ArmFamily::swivel)
      return py::none().release().ptr();
    static thread_local std::unique_ptr<Room> kept;
    if (!kept || kept->n != reach.n) kept = std::make_unique<Room>(reach.n);
    kept->size = 0;
    std::int8_t status = 0;
    std::int32_t number = 0, outside = 0;
    double missing = 0;
    ArmJob job{&reach.closed.plan, &reach.model, reach.n, {T, 0}, {}, {start, 0}};
    job.limits = args[2] == Py_True, job.resting = args[1] != Py_None, job.status = &status, job.found = kept.get();
    job.count = &number, job.outside = &outside, job.missing = &missing;
    run_one_arm(job, *kernels);
    if (status != 0) return py::none().release().ptr();
    const py::ssize_t dims[2] = {static_cast<py::ssize_t>(kept->size), reach.n};
    double* numbers = nullptr;
    py::object q = new_array(2, dims, numbers);
    std::copy_n(kept->q, kept->size * reach.n, numbers);
    py::object notes = py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(
        reinterpret_cast<const char*>(kept->note), static_cast<Py_ssize_t>(sizeof(ArmNote)) * kept->size));
    return new_closed(self, std::move(q), std::move(notes), py::none(), py::float_(missing), py::int_(outside));
  });
}

// an array without dimensions that nobody writes to
PyObject* constant(const char* type, int value) {
  py::array made = py::module_::import("numpy").attr("array")(value, py::str(type));
  made.attr("setflags")(py::arg("write") = false);
  return made.release().ptr();
}

// counts, small ones made once
py::object counted(int value) {
  static PyObject* small[256] = {};
  if (value < 0 || value >= 256) return py::reinterpret_steal<py::object>(constant("int32", value));
  if (!small[value]) small[value] = constant("int32", value);
  return py::reinterpret_borrow<py::object>(small[value]);
}

// one(T, q0, numeric=False): a solution inside of the limits, within the usual tolerance
PyObject* one_of_one(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Reach& reach = reach_of(self);
    if (count != 2 && count != 3) throw py::type_error("Reach.one: two or three arguments expected");
    const bool numeric = count == 3 && args[2] == Py_True;
    const double* const T = plain_in(args[0], 2, kPose);
    const double* const start = T && reach.names.size() == 1 ? plain_start(reach, args[1]) : nullptr;
    if (!start) return py::none().release().ptr();
    const py::ssize_t n = reach.n, two = 2;
    double *q = nullptr, *residual = nullptr;
    py::object results[5] = {new_array(1, &n, q), {}, new_array(1, &two, residual), {}, {}};
    std::int8_t status = 0;
    static PyObject* const zero = constant("int8", 0);
    const ArmFamily family = reach.closed.plan.family;
    if (!numeric && family != ArmFamily::none && family != ArmFamily::swivel) {
      ArmJob job{&reach.closed.plan, &reach.model, reach.n, {T, 0}, {}, {start, 0}};
      job.status = &status, job.q = q, job.residual = residual, job.resting = args[1] != Py_None;
      run_one_arm(job, *kernels);
      results[3] = counted(0), results[4] = counted(1);
    } else {
      if (T[12] != 0 || T[13] != 0 || T[14] != 0 || T[15] != 1) return py::none().release().ptr();
      double goal[12];
      copy_pose(T, goal);
      std::int32_t iterations = 0, started = 0;
      ReachJob job{&reach.model, reach.n, {goal, 0}, {args[1] == Py_None ? nullptr : start, 0}};
      job.q = q, job.residual = residual, job.iterations = &iterations, job.started = &started, job.status = &status;
      job.starts = 301;
      std::copy_n(start, n, q);
      job.brief = true;  // some microseconds: shorter than giving the lock away is worth
      kernels->run_reach(job, 0, 1);
      if (status == static_cast<std::int8_t>(ReachStatus::not_found)) {
        Unlocked unlocked;
        job.brief = false;
        kernels->run_reach(job, 0, 1);
      }
      results[3] = counted(iterations), results[4] = counted(started);
    }
    if (status != 0) return py::none().release().ptr();
    results[1] = py::reinterpret_borrow<py::object>(zero);
    PyTypeObject* type = adopted(Adopted::InverseKinematics);
    PyObject* tuple = type->tp_alloc(type, 5);
    if (!tuple) throw py::error_already_set();
    for (int k = 0; k < 5; ++k) PyTuple_SET_ITEM(tuple, k, results[k].release().ptr());
    return tuple;
  });
}

const char* family_name(ArmFamily family) {
  constexpr const char* kNames[] = {"", "point", "parallel", "scara", "five", "position", "swivel"};
  return kNames[static_cast<int>(family)];
}

}  // namespace

void register_reach(py::module_& m) {
  register_closed_type(m);
  auto type = new_class<Reach>(m, "Reach");
  static PyMethodDef one, one_all;
  add_method(type, one, "one", &one_of_one, "A solution for one target and start in their plainest form, else None.");
  add_method(type, one_all, "one_all", &all_of_one, "All solutions for one target in its plainest form, else None.");
  type.def(py::init(&make_reach), py::arg("chain"), py::arg("wishes"), py::arg("lower"), py::arg("upper"), py::arg("middle"))
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
      .def(
          "free",
          [](const Reach& r, const std::vector<double>& q) {
            require_closed(r);
            if (static_cast<int>(q.size()) != r.n) throw py::value_error("Reach.free: sizes do not match");
            double own[kMostArmJoints], along[kMostArmJoints] = {};
            for (int j = 0; j < r.model.size(); ++j) own[j] = q[r.model.place[j]];
            std::vector<double> all(q.size());
            if (free_direction(r.closed.plan, own, along))
              for (int j = 0; j < r.model.size(); ++j) all[r.model.place[j]] = along[j];
            return all;
          },
          py::arg("q"), "Direction in which a singular q may be moved, zero if there is none.")
      .def("follow", &follow, py::arg("targets"), py::arg("q0"), py::arg("limits"), py::arg("gap"), py::arg("turn"),
           py::arg("starts"), py::arg("seed"),
           "(q, status, residual, iterations, parts) of rows of targets, each the continuation of the one before.")
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
