// A call of any function of any mechanism: from Python's arguments to rows of states and back. What is particular to a kind
// of mechanism is its Face.
#pragma once

#include <new>
#include <string>
#include <utility>
#include <vector>

#include <zveno/functions/linkage_job.hpp>
#include <zveno/functions/motion_job.hpp>

#include "arrays.hpp"
#include "calls.hpp"

namespace zveno::bindings {

// arguments by Param; None is as good as nothing
struct Arguments {
  PyObject* slot[kParams] = {};
  PyObject* operator[](Param p) const {
    PyObject* x = slot[index_of(p)];
    return x == Py_None ? nullptr : x;
  }
};

// the parameters of a function, those that every function has included, and how many may be positional
Keywords keywords_of(const FunctionRow& row);
std::string keyword_only(const FunctionRow& row);

// A list that stays on the stack while it is short: a call allocates nothing but its result. Its memory is not initialised:
// clearing what is not used costs as much as reading an array.
template <class T, int kInline>
class Small {
 public:
  Small() = default;
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
  ~Small() {
    for (int i = 0; i < size_ && i < kInline; ++i) few()[i].~T();
  }
  // the object that `make` returns, built in its place
  template <class Make>
  void push_made(const Make& make) {
    if (size_ < kInline) {
      ::new (static_cast<void*>(few() + size_)) T(make());
    } else {
      if (more_.empty()) more_.assign(std::make_move_iterator(few()), std::make_move_iterator(few() + kInline));
      more_.push_back(make());
    }
    ++size_;
  }
  void push(const T& x) {
    push_made([&] { return x; });
  }
  T* data() { return size_ > kInline ? more_.data() : few(); }
  T& operator[](int i) { return data()[i]; }
  int size() const { return size_; }

 private:
  T* few() { return std::launder(reinterpret_cast<T*>(bytes_)); }

  alignas(T) unsigned char bytes_[kInline * sizeof(T)];
  std::vector<T> more_;
  int size_ = 0;
};

constexpr int kFewLoads = 4, kFewArrays = 9 + kFewLoads;

// array arguments of a call: those of the function, then the external wrenches, then inertial parameters
struct Arrays {
  Small<Rowwise, kFewArrays> rows;
  Small<Name, kFewArrays> names;
  Param param[kInputs];  // of the first ones
  int states = 0;

  void read(const Context& c, Name name, PyObject* arg, py::ssize_t tail, py::ssize_t inner = 0) {
    names.push(name);
    rows.push_made([&] { return read_rows(c, name, arg, tail, inner); });
  }
  // the last one lives as long as the call
  void keep(py::object owner) {
    if (Rowwise& last = rows[rows.size() - 1]; !last.owner) last.owner = std::move(owner);
  }
};

template <class Model>
struct Face;

template <>
struct Face<Chain> {
  using Work = Job;
  static constexpr const char* kType = "Chain";
  static constexpr const FunctionRow* kRows = chain_table::kRows;
  static constexpr int kCount = sizeof(chain_table::kRows) / sizeof(FunctionRow);
  static const FunctionRow& row(const Work& job) { return row_of(job.function); }
  static const Chain& model(const Work& job) { return *job.chain; }

  // what is no array of the state: method, link, point, frame, about, joints
  static Work options(const Context& c, const Chain& chain, const FunctionRow& row, const Arguments& a);
  static void read(const Context& c, const Chain& chain, Work&, Param p, PyObject* arg, Arrays& arrays);
};

template <>
struct Face<Hexapod> {
  using Work = HexJob;
  static constexpr const char* kType = "Hexapod";
  static constexpr const FunctionRow* kRows = hexapod_table::kRows;
  static constexpr int kCount = sizeof(hexapod_table::kRows) / sizeof(FunctionRow);
  static const FunctionRow& row(const Work& job) { return row_of(job.function); }
  static const Hexapod& model(const Work& job) { return *job.hexapod; }

  static Work options(const Context& c, const Hexapod& hexapod, const FunctionRow& row, const Arguments& a);
  static void read(const Context& c, const Hexapod& hexapod, Work& job, Param p, PyObject* arg, Arrays& arrays);
};

template <>
struct Face<Linkage> {
  using Work = LinkageJob;
  static constexpr const char* kType = "Linkage";
  static constexpr const FunctionRow* kRows = linkage_table::kRows;
  static constexpr int kCount = sizeof(linkage_table::kRows) / sizeof(FunctionRow);
  static const FunctionRow& row(const Work& job) { return row_of(job.function); }
  static const Linkage& model(const Work& job) { return *job.linkage; }

  static Work options(const Context& c, const Linkage& linkage, const FunctionRow& row, const Arguments& a);
  static void read(const Context& c, const Linkage& linkage, Work& job, Param p, PyObject* arg, Arrays& arrays);
};

// a chain along its motions
struct MovingChain {};

template <>
struct Face<MovingChain> {
  using Work = MotionJob;
  static const FunctionRow& row(const Work& motion) { return row_of(motion.job.function); }
  static const Chain& model(const Work& motion) { return *motion.job.chain; }
};

// null if there is none; private ones are found too
template <class Model>
const FunctionRow* find_row(const std::string& name) {
  for (int i = 0; i < Face<Model>::kCount; ++i)
    if (name == Face<Model>::kRows[i].name) return &Face<Model>::kRows[i];
  return nullptr;
}
// 'a', 'b', 'c'
std::string listed(const std::vector<std::string>& names);
template <class Model>
std::string listed_functions() {
  std::vector<std::string> names;
  for (int i = 0; i < Face<Model>::kCount; ++i)
    if (!Face<Model>::kRows[i].has(kPrivate)) names.push_back(Face<Model>::kRows[i].name);
  return listed(names);
}

// the arrays of the states that `given` names; throws if one of the first `required` parameters is missing
template <class Model>
void read_states(const Context& c, typename Face<Model>::Work& job, const Arguments& a, int required, unsigned given,
                 Arrays& arrays) {
  const FunctionRow& row = Face<Model>::row(job);
  for (int i = 0; i < row.params.count; ++i) {
    const Param p = row.params[i];
    if (!is_array(p) || p == Param::t) continue;  // time is for those who give what depends on it
    if (!(given >> index_of(p) & 1)) continue;
    PyObject* arg = i < required ? a.slot[index_of(p)] : a[p];  // None is no array
    if (!arg && i >= required) continue;
    if (!arg) throw py::type_error(std::string(c.function) + ": argument '" + name_of(p) + "' is missing");
    Face<Model>::read(c, Face<Model>::model(job), job, p, arg, arrays);
    arrays.param[arrays.states++] = p;
  }
}

// Times for a linkage in which nothing depends on time: what is none is refused, and many times are many states. What is
// returned must live as long as the arguments do.
py::object look_at_times(const Context& c, const Linkage& linkage, LinkageJob& job, PyObject* self, int required,
                         Arguments& a);

// what external wrenches act on
inline const Chain& tree_of(const Chain& chain) { return chain; }
inline const Chain& tree_of(const Linkage& linkage) { return linkage.chain(); }
inline Job& tree_of(Job& job) { return job; }
inline Job& tree_of(LinkageJob& job) { return job.tree; }

LinkFrame frame_of(const Context& c, const Chain& chain, const char* what, PyObject* name);
void require_dict(const Context& c, PyObject* external);
// one bit for each result that `arg`, a sequence of names, asks for; null: all
unsigned outputs_of(const Context& c, const FunctionRow& row, PyObject* arg);

// shape of one result
struct Tail {
  py::ssize_t dims[1 + Shape::kCapacity];
  int nd = 0;
  Tail(const Shape& shape, const Sizes& sizes) { add(shape, sizes); }
  void add(const Shape& shape, const Sizes& sizes) {
    for (const Dim& d : shape) dims[nd++] = d.of(sizes);
  }
};
template <class Work>
Tail tail_of(const Work& job, const Slot& slot) {
  return Tail(slot.shape, sizes_of(job));
}
inline Tail tail_of(const MotionJob& motion, const Slot& slot) {
  Tail tail(Shape{motion.order + 1}, sizes_of(motion));
  tail.add(slot.shape, sizes_of(motion));
  return tail;
}

// one bit for each result
template <class Work>
unsigned wanted_of(const Work& job) {
  return job.outputs;
}
inline unsigned wanted_of(const MotionJob& motion) { return motion.job.outputs; }

// The common call: one state in plain arrays, perhaps with a few external wrenches and `out`, nothing else asked for. Null
// without an error: something is unusual or wrong, and the long way tells what.
template <class Model>
PyObject* run_quickly(const Context& c, const Model& model, const FunctionRow& row, PyObject* const* args, Py_ssize_t count,
                      PyObject* kwnames);

// The arrays have been read, the job is complete. Chains: external wrenches and parameters follow the arrays of the state.
template <class Model>
PyObject* run_call(const Context& c, typename Face<Model>::Work& job, Arrays& arrays, const Arguments& a);

}  // namespace zveno::bindings
