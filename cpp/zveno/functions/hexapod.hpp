// What is to be computed of a hexapod, for many states. Plain data, shared by all instruction sets.
// Equation numbers are those of docs/hexapods.md.
#pragma once

#include <cstdint>

#include <zveno/functions/job.hpp>
#include <zveno/model/hexapod.hpp>

namespace zveno {

enum class HexFunction {
  closure,           // joint coordinates, 6 x nj
  joint_velocity,    // 6 x nj
  jacobian,          // rates of the actuated joints by u, 6 x 6
  measures,          // squares of the factors of (38), 6 x 4
  mass_matrix,       // (44), 6 x 6
  momentum,          // linear and angular about O_0, 6
  kinetic_energy,    // 1
  potential_energy,  // 1
  inverse_dynamics,  // forces of the actuated joints, 6
  forward_dynamics,  // see DynamicsLayout
  free_dynamics,     // the same and the base's acceleration [a_0; Omega'], 6
};

// One row of a forward dynamics result: u' (6), load on the base (6), [base acceleration (6)], then for each leg its
// coordinates, rates, accelerations (nj each) and the reaction on the ring (4).
struct DynamicsLayout {
  int joints;
  bool free;
  int head() const { return free ? 18 : 12; }
  int per_leg() const { return 3 * joints + 4; }
  int size() const { return head() + kLegs * per_leg(); }
};

struct HexJob {
  const Hexapod* hexapod;
  HexFunction function;
  bool newton = false;         // closure by Newton's method for every leg
  bool actuated_only = false;  // rows of tau hold the 6 actuated forces instead of 6 x nj
  BodySpec base = {};          // of free dynamics: its centre of mass stands at base.com in the base frame
  // computes instead of the kernels: the rows that have data, in the order of kHexInputs -> HexParts
  const Program* program = nullptr;
};

inline int hex_output_size(const HexJob& job) {
  const int nj = job.hexapod->joints();
  switch (job.function) {
    case HexFunction::closure:
    case HexFunction::joint_velocity: return kLegs * nj;
    case HexFunction::jacobian:
    case HexFunction::mass_matrix: return 36;
    case HexFunction::measures: return kLegs * 4;
    case HexFunction::momentum:
    case HexFunction::inverse_dynamics: return 6;
    case HexFunction::kinetic_energy:
    case HexFunction::potential_energy: return 1;
    case HexFunction::forward_dynamics: return DynamicsLayout{nj, false}.size();
    case HexFunction::free_dynamics: return DynamicsLayout{nj, true}.size();
  }
  return 0;
}

// rows without data are zeros
struct HexRows {
  RowData r, R;                    // 3; 9 row major, ring -> base
  RowData u;                       // 6: [v base axes; w ring axes]
  RowData acceleration;            // 6: u', of inverse dynamics
  RowData wrench;                  // 6: [f base axes; m ring axes] at the ring's centre of mass
  RowData tau;                     // 6 x nj or 6
  RowData base;                    // 9: [a_0; Omega; Omega'] base axes
  RowData omega;                   // 3: Omega of a free base
  RowData base_wrench;             // 6: on the free base at its centre of mass
  RowData start;                   // 6 x nj: where Newton's method starts; absent: the legs' own
  double* out = nullptr;           // hex_output_size numbers a row
  std::int16_t* status = nullptr;  // 0, or a cause and a leg; absent: the first failure is reported
  std::ptrdiff_t count = 0;
};

// what a row may be given, and how many numbers each of them has
struct HexInput {
  RowData HexRows::* rows;
  int size;  // 0: that of tau, 6 x nj or 6
};
constexpr HexInput kHexInputs[] = {
    {&HexRows::r, 3},   {&HexRows::R, 9},    {&HexRows::u, 6},     {&HexRows::acceleration, 6}, {&HexRows::wrench, 6},
    {&HexRows::tau, 0}, {&HexRows::base, 9}, {&HexRows::omega, 3}, {&HexRows::base_wrench, 6}};
constexpr int kHexInputCount = 9;

inline int hex_input_size(const HexJob& job, const HexInput& input) {
  return input.size ? input.size : job.actuated_only ? kLegs : kLegs * job.hexapod->joints();
}

// What a program writes: a row of the result in its parts, the measures of the legs (6 x 4), and for inverse dynamics the
// Jacobian of the actuated joints by rows, unknowns in base axes (6 x 6).
template <class T>
struct HexParts {
  T* data[6];
  int size[6];
  int count = 0;

  // every number takes `lanes` places
  HexParts(const HexJob& job, T* row, T* measures, T* jacobian, int lanes = 1) {
    const auto add = [&](T* part, int n) { data[count] = part, size[count++] = n; };
    const bool free = job.function == HexFunction::free_dynamics;
    if (free || job.function == HexFunction::forward_dynamics) {
      const DynamicsLayout layout{job.hexapod->joints(), free};
      for (int at = 0; at < layout.head(); at += 6) add(row + at * lanes, 6);
      add(row + layout.head() * lanes, kLegs * layout.per_leg());
    } else {
      add(row, hex_output_size(job));
    }
    add(measures, 4 * kLegs);
    if (job.function == HexFunction::inverse_dynamics) add(jacobian, 36);
  }
};

struct HexFailure {
  enum Cause : std::int16_t {
    none,
    input,       // a number is not finite
    rotation,    // R is not a rotation
    reach,       // hinge out of the leg's reach
    collapsed,   // hinges coincide
    along_axis,  // leg along the first axis of its base joint
    on_axis,     // hinge on the crank's axis
    elbow,       // straight elbow
    coupler,     // coupler along the first axis of the crank's joint
    hook,        // universal joint on the ring locked
    hook_reach,  // no spin brings the axes of that joint to a right angle
    newton,      // no convergence
    singular,    // the actuated joints do not determine the ring's motion, or a custom leg is singular
    overflow,    // a result is not finite
  } cause = none;
  std::ptrdiff_t row = -1;
  int leg = -1;
  double margin = 0;  // the factor that vanished, or how far the reach is exceeded

  std::int16_t code() const { return static_cast<std::int16_t>(cause | (leg + 1) << 8); }
};

// squares of leg factors below this are zero: the factor itself has lost half of its digits
constexpr double kTinySquare = 1e-14;
// R'R may differ from 1 by this
constexpr double kRotationDefect = 1e-9;

HexFailure run_hexapod(const HexJob& job, const HexRows& rows, std::ptrdiff_t begin, std::ptrdiff_t end);

// over threads
HexFailure compute_hexapod(const KernelTable& kernels, const HexJob& job, const HexRows& rows, int threads);

}  // namespace zveno
