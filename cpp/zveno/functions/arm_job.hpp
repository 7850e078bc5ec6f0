// Closed forms of arms: what is asked for rows of poses, and what is told of each branch and each solution.
#pragma once

#include <cmath>
#include <cstdint>

#include <zveno/functions/reach_job.hpp>
#include <zveno/model/arm_plan.hpp>

namespace zveno {

// numbers told of a branch: q (n), squares of what is left of the way (m, rad), how far from solvable, the three singular
// measures, the three numbers whose signs name the configuration
struct BranchLayout {
  int n;
  int gap2() const { return n; }
  int turn2() const { return n + 1; }
  int miss() const { return n + 2; }
  int singular(int i) const { return n + 3 + i; }
  int sign(int i) const { return n + 6 + i; }
  int size() const { return n + 9; }
};

constexpr double kArmVerified = 1e-11;  // m over max(1, reach), and rad
constexpr double kArmSame = 1e-6;       // rad, or m over the reach: solutions that differ by less are one
constexpr double kArmSingular = 1e-9, kArmNoSign = 1e-7;
constexpr double kArmInside = 1e-9;  // of limits, rad or m

// what is told of a solution beside q
struct ArmNote {
  float gap2 = 0, turn2 = 0;  // squares of m, rad
  std::int8_t configuration[3] = {};
  std::uint8_t singular = 0;      // bits: shoulder, elbow, wrist, 8: of the Jacobian
  std::uint8_t branch = 0;        // in the order of q without whole turns
  std::uint8_t multiplicity = 1;  // branches that meet in it
  std::uint8_t reserved[2] = {};
};
static_assert(sizeof(ArmNote) == 16);

inline std::int8_t arm_sign(double x) { return static_cast<std::int8_t>((x > kArmNoSign) - (x < -kArmNoSign)); }

// solutions of rows, one after another
struct ArmFound {
  double* q = nullptr;  // eight numbers more than those of `capacity` rows
  ArmNote* note = nullptr;
  std::ptrdiff_t size = 0, capacity = 0;
  void (*grow)(ArmFound&, std::ptrdiff_t more) = nullptr;  // room for so many more

  void need(std::ptrdiff_t more) {
    if (capacity - size < more) grow(*this, more);
  }
};

struct ArmJob {
  const ArmPlan* plan;
  const ReachModel* model;  // its joints are those of the plan
  int n;                    // numbers of a row of q, of which the model has some
  RowData pose;             // 16
  RowData psi;              // 1
  RowData start;            // n: decides between whole turns, and what other joints keep; a stride of 0: for all rows
  bool limits = true;
  bool resting = false;           // what a singular wrist leaves free stays as in `start`, else at zero
  std::int8_t* status = nullptr;  // ReachStatus

  // every solution
  ArmFound* found = nullptr;
  std::int32_t *count = nullptr, *outside = nullptr;
  double* missing = nullptr;
  void (*collect)(const ArmJob& job, std::ptrdiff_t row, const double* branches) = nullptr;  // of a row with an exception

  // or the one nearest to the start
  double *q = nullptr, *residual = nullptr;

  // q of a solution in the order of the model -> a row
  void write(std::ptrdiff_t row, const double* from, double* to) const {
    const int* place = model->place.data();
    if (model->size() != n)
      for (int j = 0; j < n; ++j) to[j] = start.row(row)[j];
    for (int j = 0; j < model->size(); ++j) to[place[j]] = from[j];
  }
};

// whether 16 numbers are a pose; one whose last row is not 0, 0, 0, 1 counts as input
inline ReachStatus status_of_pose(const double* T) {
  double R[9];
  bool finite = true;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R[3 * i + j] = T[4 * i + j];
  for (int i = 0; i < 16; ++i) finite &= std::isfinite(T[i]);
  if (!finite || T[12] != 0 || T[13] != 0 || T[14] != 0 || T[15] != 1) return ReachStatus::input;
  return is_rotation(R) ? ReachStatus::found : ReachStatus::rotation;
}

}  // namespace zveno
