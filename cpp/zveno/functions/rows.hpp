// Rows of states, and what may go wrong in one of them. Plain data, shared by all mechanisms and instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

#include <zveno/functions/table.hpp>

namespace zveno {

// row-major numbers of many states; a stride of 0 repeats one row; no data: not given
struct RowData {
  const double* data;
  std::ptrdiff_t stride;

  const double* row(std::ptrdiff_t i) const { return data + stride * i; }
};

constexpr int kMostOutputs = 7;

struct Rows {
  RowData in[kInputs];                // only those of `given` are set
  std::uint32_t given = 0;            // a bit for each Param that was touched
  const RowData* external = nullptr;  // 6 numbers a row, one for each of the job's external frames
  RowData parameters{};               // of a program
  double* out[kMostOutputs] = {};     // one for each result, null: not wanted; of kOneBlock only the first
  std::int16_t* status = nullptr;     // 0 or a code of each row; absent: only the first failure is told
  std::ptrdiff_t count = 0;
  bool check_inputs = false;  // refuse rows that are not finite; off: the result is refused instead
  bool nan_on_error = false;  // a row that fails is filled with NaN, else left as it is

  RowData& operator[](Param p) {
    if (!has(p)) in[index_of(p)] = {}, given |= 1u << index_of(p);
    return in[index_of(p)];
  }
  const RowData& operator[](Param p) const {
    static constexpr RowData kNone{};
    return has(p) ? in[index_of(p)] : kNone;
  }

 private:
  bool has(Param p) const { return given >> index_of(p) & 1; }
};

enum class Cause : std::uint8_t {
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
  massless,    // a joint of a chain moves no mass
  open,        // a constraint of a linkage is not met
  deficient,   // constraints of a linkage depend on each other here and not elsewhere
  step,        // the equations of an implicit step were not solved
  slips,       // rates violate a constraint of a linkage
};

// what went wrong in the lowest offending row
struct Failure {
  Cause cause = Cause::none;
  std::ptrdiff_t row = -1;
  int part = -1;      // leg of a hexapod, joint of a chain in the user's order; -1: the whole
  double margin = 0;  // the factor that vanished, or how far the reach is exceeded

  explicit operator bool() const { return cause != Cause::none; }
  // parts that do not fit are left out
  std::int16_t code() const {
    return static_cast<std::int16_t>(static_cast<int>(cause) | (part < 127 ? (part + 1) << 8 : 0));
  }
};

enum class FailureKind : std::uint8_t { argument, unreachable, singular, overflow };

struct CauseText {
  Cause cause;
  FailureKind kind;
  const char* key;
  const char* text;  // after "leg 'name' ", "joint 'name' " or the mechanism's name
};

inline constexpr CauseText kCauses[] = {
    {Cause::input, FailureKind::argument, "not finite", "has an argument that is not finite"},
    {Cause::rotation, FailureKind::argument, "not a rotation", "has an R that is not a rotation"},
    {Cause::reach, FailureKind::unreachable, "out of reach", "cannot reach its hinge: crank and coupler do not meet"},
    {Cause::collapsed, FailureKind::singular, "no length", "has no length: its hinges coincide (L = 0)"},
    {Cause::along_axis, FailureKind::singular, "along first axis",
     "lies along the first axis of its base joint (L cos p2 = 0)"},
    {Cause::on_axis, FailureKind::singular, "hinge on crank axis", "has its ring hinge on the axis of the crank (l13 = 0)"},
    {Cause::elbow, FailureKind::singular, "straight elbow", "has a straight elbow (Q1 = 0)"},
    {Cause::coupler, FailureKind::singular, "coupler along axis",
     "has its coupler along the first axis of the crank's joint (cos p3 = 0)"},
    {Cause::hook, FailureKind::singular, "ring joint locked", "has a locked universal joint on the ring (n_R . X = 0)"},
    {Cause::hook_reach, FailureKind::unreachable, "ring joint out of reach",
     "cannot bring the axes of its universal joint on the ring to a right angle"},
    {Cause::newton, FailureKind::unreachable, "no convergence",
     "was not closed by Newton's method: out of reach or a bad start"},
    {Cause::singular, FailureKind::singular, "singular", "is singular: its joints do not determine the motion of the ring"},
    {Cause::overflow, FailureKind::overflow, "overflow", "gives results that are not finite: arguments are too large"},
    {Cause::massless, FailureKind::singular, "moves no mass", "moves no mass: its acceleration is not determined"},
    {Cause::open, FailureKind::argument, "open", "is not met by q: close(q) finds a state that does"},
    {Cause::deficient, FailureKind::singular, "singular",
     "is singular here: its constraints depend on each other, accelerations are not determined"},
    {Cause::step, FailureKind::overflow, "no step", "has equations of an implicit step that were not solved"},
    {Cause::slips, FailureKind::argument, "rates", "is violated by qd: project_velocity(q, qd) finds rates that it allows"},
};

// nullptr if there is no such cause
constexpr const CauseText* find_cause(int cause) {
  for (const CauseText& t : kCauses)
    if (static_cast<int>(t.cause) == cause) return &t;
  return nullptr;
}

}  // namespace zveno
