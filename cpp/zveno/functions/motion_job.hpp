// A function of a chain along a motion: its time derivatives from those of its arguments.
#pragma once

#include <zveno/functions/job.hpp>
#include <zveno/scalar/contract.hpp>

namespace zveno {

// Rows hold q, qd, qdd, ... as the rows of one matrix at Param::q. Every other array is given as a matrix too: itself and
// its time derivatives; those that are not given are zero.
struct MotionJob {
  Job job;
  int order = 0;            // of the results: themselves and so many derivatives
  int given[kInputs] = {};  // rows of each array
  const int* external_given = nullptr;

  // Where efforts are given, the motion beyond q and qd follows from them.
  bool driven() const { return row_of(job.function).takes(Param::tau); }
};

// rows of q, qd, ... that a value takes; each derivative takes one more
constexpr int rows_of_motion(const FunctionRow& row) { return row.takes(Param::qdd) ? 3 : row.takes(Param::qd) ? 2 : 1; }

// why a function has no time derivatives; null: it has
inline const char* refused_on_jets(const Job& job) {
  if (job.method == Method::dual) return "is made of dual numbers with this method and has no time derivatives";
  return nullptr;
}

constexpr bool is_of_motion(Param p) { return p == Param::q || p == Param::qd || p == Param::qdd; }

inline Sizes sizes_of(const MotionJob& m) { return sizes_of(m.job); }
inline int output_count(const MotionJob& m) { return output_count(m.job); }
inline std::ptrdiff_t output_size(const MotionJob& m, int k = 0) { return (m.order + 1) * output_size(m.job, k); }

}  // namespace zveno
