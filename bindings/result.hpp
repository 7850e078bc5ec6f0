// Results that are more than one array: a block of rows with views on it, or a named tuple.
#pragma once

#include <zveno/functions/linkage_job.hpp>
#include <zveno/functions/motion_job.hpp>

#include "arrays.hpp"

namespace zveno::bindings {

// ---- one block: a plain C object, which costs a fifth of one with Python slots; views are made when they are asked for

void register_blocks(py::module_& m);

inline std::ptrdiff_t block_size(const HexJob& job) { return output_size(job); }
inline std::ptrdiff_t block_size(const Job& job) { return output_size(job); }
inline std::ptrdiff_t block_size(const MotionJob& job) { return output_size(job); }
inline std::ptrdiff_t block_size(const LinkageJob& job) { return output_size(job); }

// the array of an earlier result, or throws
PyObject* block_of(const Context& c, PyObject* out);
// a new result, or `out` filled
py::object block_result(py::object data, const HexJob& job, py::object status, PyObject* out);
inline py::object block_result(py::object data, const Job&, py::object, PyObject*) { return data; }
inline py::object block_result(py::object data, const MotionJob&, py::object, PyObject*) { return data; }
inline py::object block_result(py::object data, const LinkageJob&, py::object, PyObject*) { return data; }

// ---- several arrays

// make(k, name in messages, array given or null) -> numbers, for every result that is wanted; they must not overlap
template <class Make>
void open_results(const Context& c, const FunctionRow& row, unsigned wanted, PyObject* out, const Make& make,
                  double* const* data) {
  static const char* const kNames[kMostOutputs] = {"out[0]", "out[1]", "out[2]", "out[3]", "out[4]", "out[5]", "out[6]"};
  static const char* const kWords[kMostOutputs + 1] = {"no", "one", "two", "three", "four", "five", "six", "seven"};
  int count = 0, of[kMostOutputs];
  for (int k = 0; k < row.outputs.count; ++k)
    if (wanted >> k & 1) of[count++] = k;
  if (out && (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != count))
    throw py::type_error(std::string(c.function) + ": out is " + Py_TYPE(out)->tp_name + ", expected a tuple of " +
                         kWords[count] + (count == 1 ? " array" : " arrays"));
  std::ptrdiff_t size[kMostOutputs];
  for (int i = 0; i < count; ++i) size[i] = make(of[i], {kNames[i]}, out ? PyTuple_GET_ITEM(out, i) : nullptr);
  for (int i = 0; out && i < count; ++i)
    for (int j = 0; j < i; ++j)
      if (size[i] && size[j] && overlaps(data[of[i]], size[i], data[of[j]], size[j]))
        throw py::value_error(std::string(c.function) + ": " + kNames[i] + " shares memory with " + kNames[j]);
}

// the named tuple of zveno.results for this function; None for what was not asked for
py::object named_result(const FunctionRow& row, py::object* results);

// The results of the last two calls of a function. Their objects take as long to make as a small kernel takes to run: one
// that is held nowhere else is written again.
class KeptResults {
 public:
  // a named tuple of arrays of one state, its numbers in `out`; empty: there is none. asked: a bit for each result
  py::object again(const FunctionRow& row, unsigned asked, const Sizes& sizes, double** out) const;
  void keep(const py::object& result);

 private:
  [[maybe_unused]] PyObject* last_[2] = {};
  [[maybe_unused]] int next_ = 0;
};

// ---- errors of zveno.errors

const char* type_of(FailureKind kind);
[[noreturn]] void raise_error(const char* type, const std::string& text,
                              std::initializer_list<std::pair<const char*, py::object>> data);
inline py::object row_or_none(std::ptrdiff_t row, bool batch) {
  return batch ? py::object(py::int_(row)) : py::object(py::none());
}

}  // namespace zveno::bindings
