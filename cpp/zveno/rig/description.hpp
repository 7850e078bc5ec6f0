// A rig as its file describes it: docs/howto/c-library.md lists the keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zveno/functions/law.hpp>
#include <zveno/model/hexapod.hpp>
#include <zveno/model/linkage.hpp>
#include <zveno/sim/docking.hpp>

namespace zveno {

// two vehicles and their rings
struct DockingModel {
  std::string name;
  std::shared_ptr<const Hexapod> ring[2];  // null: a rigid port
  docking::Setup setup;                    // but for the kernels
};

// What stands between the reading of a force sensor and the wrench that the model is given, all in the sensor's axes but the
// last: tare, weight of what the sensor carries, lag, dead band; then to the point and the axes of the model.
struct Sensor {
  std::string input;
  bool turns = true;  // with the body that the wrench acts on; else it stands in the base
  Mat3<double> R = diagonal(1.0);
  Vec3<double> p{0, 0, 0};  // its origin from that of the body
  double mass = 0;
  Vec3<double> com{0, 0, 0}, gravity{0, 0, 0};  // gravity where the hardware stands, in axes of the model's base
  double tare[6] = {}, dead_band[6] = {};
  double lag = 0;
};

struct Description {
  // one of them; of a linkage the chain too
  std::shared_ptr<const Chain> chain;
  std::shared_ptr<const Hexapod> hexapod;
  std::shared_ptr<const DockingModel> docking;
  std::shared_ptr<const Linkage> linkage;

  double period = 1e-3;
  int substeps = 1;
  bool semi_implicit = false;
  std::vector<JointLaw> laws;  // of the driven joints
  bool servo = false;          // besides: of all drives, with references that are an input
  ServoOf<double> gains = {};
  std::vector<double> start;          // q, qd or r, quaternion, u or conditions of a docking
  std::vector<std::string> external;  // links with an external wrench
  std::vector<std::string> poses;     // links whose poses are given
  std::vector<std::string> outputs;   // that are wanted; none: all
  bool base_motion = false;           // the base moves as an input says
  bool contact_input = false;         // of a docking: the wrench of the contact is an input
  std::vector<Sensor> sensors;
  int most_held = 0;
  std::vector<std::pair<std::string, double>> jumps;  // largest change of an input in a period
};

const std::string& name_of(const Description& d);
const char* kind_of(const Description& d);

// From JSON, or from URDF with everything as by default. Throws TextError, ModelError.
Description read_description(std::string_view text);

}  // namespace zveno
