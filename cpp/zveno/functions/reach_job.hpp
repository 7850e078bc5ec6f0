// Joint coordinates that bring frames of a chain to wanted poses: what is asked, and what is told of each row.
// docs/inverse-kinematics.md, section 4.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <zveno/functions/rows.hpp>
#include <zveno/model/reach.hpp>

namespace zveno {

constexpr double kPi = 3.141592653589793, kTurn = 2 * kPi;

enum class ReachStatus : std::int8_t {
  found = 0,
  not_found = 1,    // no start has led there
  limits = 2,       // only outside of the joint limits
  unreachable = 3,  // by the closed form
  input = 4,        // a number is not finite
  rotation = 5,     // not a rotation
  jump = 6,         // of a path: found, but not as the continuation of the row before
  singular = 7,     // the same, and a singularity is there
};

struct ReachJob {
  const ReachModel* model;
  int n;          // joints of the chain, of which the model has some
  RowData goal;   // 12 a frame: p, R by rows
  RowData start;  // n; no data: the middle of the limits
  bool limits = true;
  bool nearest = false;            // further starts, as long as they bring something nearer to the first
  double gap = 1e-6, turn = 1e-6;  // tolerances, m and rad
  int starts = 300;
  bool brief = false;  // one row, and only its first starts: what they do not find counts as not found
  std::uint64_t seed = 0;
  const std::int64_t* number = nullptr;  // of the rows, for their starts; null: 0, 1, ...

  double* q = nullptr;         // n a row
  double* residual = nullptr;  // 2 a row: m, rad
  std::int32_t* iterations = nullptr;
  std::int32_t* started = nullptr;
  std::int8_t* status = nullptr;
};

// (K29) a number in [0, 1) for a row, of which it takes mixed(row), a sample and a joint, and nothing else
template <class U = std::uint64_t>
inline U mixed(U z) {
  z += std::uint64_t{0x9E3779B97F4A7C15u};
  z = (z ^ z >> 30) * std::uint64_t{0xBF58476D1CE4E5B9u};
  z = (z ^ z >> 27) * std::uint64_t{0x94D049BB133111EBu};
  return z ^ z >> 31;
}
inline double uniform(std::uint64_t mixed_row, std::uint64_t sample, std::uint64_t joint) {
  return static_cast<double>(static_cast<std::int64_t>(mixed(mixed_row + 64 * sample + joint) >> 11)) * 0x1p-53;
}

// 3 x 3 by rows, to 1e-6
inline bool is_rotation(const double* R) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) {
      const double g = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j];
      if (!(std::fabs(g - (i == j)) < 1e-6)) return false;
    }
  return R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]) > 0;
}

}  // namespace zveno
