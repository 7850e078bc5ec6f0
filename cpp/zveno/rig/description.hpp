// A rig as its file describes it: docs/howto/c-library.md lists the keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zveno/functions/law.hpp>
#include <zveno/model/hexapod.hpp>

namespace zveno {

struct Description {
  // one of them
  std::shared_ptr<const Chain> chain;
  std::shared_ptr<const Hexapod> hexapod;

  double period = 1e-3;
  int substeps = 1;
  bool semi_implicit = false;
  std::vector<JointLaw> laws;  // of the driven joints
  bool servo = false;          // besides: of all drives, with references that are an input
  ServoOf<double> gains = {};
  std::vector<double> start;          // q, qd or r, quaternion, u
  std::vector<std::string> external;  // links with an external wrench
  std::vector<std::string> poses;     // links whose poses are given
  bool base_motion = false;           // the base moves as an input says
  int most_held = 0;
  std::vector<std::pair<std::string, double>> jumps;  // largest change of an input in a period
};

// Throws json::TextError, ModelError.
Description read_description(std::string_view text);

}  // namespace zveno
