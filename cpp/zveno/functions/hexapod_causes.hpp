// Failures of a hexapod in words.
#pragma once

#include <cstdio>
#include <string>

#include <zveno/functions/hexapod.hpp>

namespace zveno {

enum class FailureKind { argument, unreachable, singular, overflow };

struct CauseText {
  HexFailure::Cause cause;
  FailureKind kind;
  const char* key;
  const char* text;  // after "leg 'name' " or "hexapod 'name' "
};

inline constexpr CauseText kCauses[] = {
    {HexFailure::input, FailureKind::argument, "not finite", "has an argument that is not finite"},
    {HexFailure::rotation, FailureKind::argument, "not a rotation", "has an R that is not a rotation"},
    {HexFailure::reach, FailureKind::unreachable, "out of reach", "cannot reach its hinge: crank and coupler do not meet"},
    {HexFailure::collapsed, FailureKind::singular, "no length", "has no length: its hinges coincide (L = 0)"},
    {HexFailure::along_axis, FailureKind::singular, "along first axis",
     "lies along the first axis of its base joint (L cos p2 = 0)"},
    {HexFailure::on_axis, FailureKind::singular, "hinge on crank axis",
     "has its ring hinge on the axis of the crank (l13 = 0)"},
    {HexFailure::elbow, FailureKind::singular, "straight elbow", "has a straight elbow (Q1 = 0)"},
    {HexFailure::coupler, FailureKind::singular, "coupler along axis",
     "has its coupler along the first axis of the crank's joint (cos p3 = 0)"},
    {HexFailure::hook, FailureKind::singular, "ring joint locked", "has a locked universal joint on the ring (n_R . X = 0)"},
    {HexFailure::hook_reach, FailureKind::unreachable, "ring joint out of reach",
     "cannot bring the axes of its universal joint on the ring to a right angle"},
    {HexFailure::newton, FailureKind::unreachable, "no convergence",
     "was not closed by Newton's method: out of reach or a bad start"},
    {HexFailure::singular, FailureKind::singular, "singular",
     "is singular: its joints do not determine the motion of the ring"},
    {HexFailure::overflow, FailureKind::overflow, "overflow", "gives results that are not finite: arguments are too large"},
};

// nullptr if there is no such cause
inline const CauseText* find_cause(int cause) {
  for (const CauseText& t : kCauses)
    if (t.cause == cause) return &t;
  return nullptr;
}

// "leg 'name' has a straight elbow (Q1 = 0) in row 3, margin 1e-08"
inline std::string failure_text(const Hexapod& hexapod, const HexFailure& f, bool batch) {
  const CauseText& t = *find_cause(f.cause);
  std::string text = f.leg < 0 ? "hexapod '" + hexapod.name() + "' " : "leg '" + hexapod.leg(f.leg).name + "' ";
  text += t.text;
  if (batch) text += " in row " + std::to_string(f.row);
  if (t.kind == FailureKind::unreachable || t.kind == FailureKind::singular) {
    char margin[40];
    std::snprintf(margin, sizeof margin, ", margin %.3g", f.margin);
    text += margin;
  }
  return text;
}

}  // namespace zveno
