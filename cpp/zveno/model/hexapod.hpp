// Hexapod: a ring on six legs, the compiled model. Immutable after construction, shared by threads.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <zveno/model/chain.hpp>
#include <zveno/model/leg_type.hpp>

namespace zveno {

constexpr int kLegs = 6;

// A leg as its designer describes it. Rotations map local components to those of the frame they stand in.
struct LegSpec {
  LegType type = LegType::ups;
  std::string name;
  Vec3<double> base{0, 0, 0}, ring{0, 0, 0};  // hinge points in base and ring axes
  Mat3<double> base_frame = diagonal(1.0);    // gamma_0'
  Mat3<double> ring_frame = diagonal(1.0);    // gamma_C'; its z is the second axis of the ring's U joint
  Mat3<double> crank_frame = diagonal(1.0);   // gamma_1': the U joint on the crank
  Mat3<double> tip_frame = diagonal(1.0);     // gamma_L'; its y is the first axis of the ring's U joint
  double inner_length = 0, outer_length = 0;  // housing to the slide's zero and rod; crank and coupler
  BodySpec inner, outer;
  double reflected = 0;  // of the drive, kg or kg m^2
  int elbow = 1, spin_branch = 1;
  // custom: a serial chain standing in the base frame, its hook on `link`; closed by Newton's method
  std::shared_ptr<const Chain> chain;
  std::string link;
  Vec3<double> point{0, 0, 0};
  bool universal = false;
  Vec3<double> axis{0, 1, 0}, ring_axis{0, 0, 1};
  std::vector<double> start;
  std::string actuated;
};

// any leg as an open chain and the joint that closes it
struct LegChain {
  std::shared_ptr<const Chain> chain;
  LinkFrame hook;          // stands at the ring's hinge; y is the first axis of a U joint
  bool universal;          // else spherical
  Vec3<double> ring_axis;  // second axis of a U joint, ring axes
  int actuated;            // index of the coordinate
  std::vector<double> start;
};

// legs of one structure, side by side
struct LegGroup {
  LegType type;
  bool symmetric;  // bodies axially symmetric, joints aligned: shorter code
  int count = 0;
  std::array<int, kLegs> legs{};
  struct alignas(64) Table {
    double number[leg::kParams * leg::kSlots];
  } params;
};

class Hexapod {
 public:
  // throws ModelError
  Hexapod(std::string name, const BodySpec& platform, const Vec3<double>& gravity, std::vector<LegSpec> legs);

  const std::string& name() const { return name_; }
  const Platform<double>& platform() const { return platform_; }
  const Vec3<double>& gravity() const { return gravity_; }
  bool has_gravity() const { return gravity_.x() != 0 || gravity_.y() != 0 || gravity_.z() != 0; }
  const LegSpec& leg(int k) const { return legs_[k]; }
  const LegChain& chain(int k) const { return chains_[k]; }
  int joints() const { return joints_; }  // the largest number of coordinates of a leg
  int joints(int k) const { return chains_[k].chain->n(); }
  const std::vector<LegGroup>& groups() const { return groups_; }
  bool has_custom() const { return has_custom_; }
  bool has_potential() const { return has_gravity() || has_spring_; }  // springs of custom legs
  double leg_mass() const { return leg_mass_; }

 private:
  std::string name_;
  Platform<double> platform_;
  Vec3<double> gravity_;
  std::vector<LegSpec> legs_;
  std::vector<LegChain> chains_;
  std::vector<LegGroup> groups_;
  int joints_ = 0;
  bool has_custom_ = false, has_spring_ = false;
  double leg_mass_ = 0;
};

}  // namespace zveno
