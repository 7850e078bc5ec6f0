// Failures in words.
#pragma once

#include <cstdio>
#include <string>

#include <zveno/functions/job.hpp>
#include <zveno/model/linkage.hpp>

namespace zveno {

// what failed: "leg 'name'", "joint 'name' of model 'm'", or the mechanism
inline std::string subject_of(const Hexapod& hexapod, const Failure& f) {
  return f.part < 0 ? "hexapod '" + hexapod.name() + "'" : "leg '" + hexapod.leg(f.part).name + "'";
}
inline std::string subject_of(const Chain& chain, const Failure& f) {
  const std::string model = "model '" + chain.name() + "'";
  return f.part < 0 ? model : "joint '" + chain.joint_names()[f.part] + "' of " + model;
}

inline std::string subject_of(const Linkage& linkage, const Failure& f) {
  if (f.part < 0 || f.cause == Cause::massless) return subject_of(linkage.chain(), f);
  return "constraint '" + linkage.constraints()[f.part].name + "' of model '" + linkage.name() + "'";
}

// "leg 'name' has a straight elbow (Q1 = 0) in row 3, margin 1e-08"
template <class Model>
std::string failure_text(const Model& model, const Failure& f, bool batch) {
  const CauseText& t = *find_cause(static_cast<int>(f.cause));
  std::string text = subject_of(model, f) + " " + t.text;
  if (batch) text += " in row " + std::to_string(f.row);
  if ((t.kind == FailureKind::unreachable || t.kind == FailureKind::singular) && f.cause != Cause::massless) {
    char margin[40];
    std::snprintf(margin, sizeof margin, ", margin %.3g", f.margin);
    text += margin;
  }
  return text;
}

}  // namespace zveno
