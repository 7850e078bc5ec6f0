// The closed form of an arm: which one, and the screws of its joints at q = 0, made exact where they are nearly parallel or
// nearly meet. docs/inverse-kinematics.md, sections 2 and 3.
#pragma once

#include <cstdint>

#include <zveno/math/turn.hpp>

namespace zveno {

constexpr int kMostArmJoints = 7, kMostBranches = 8;

enum class ArmFamily : std::uint8_t {
  none,
  point,     // six joints, three consecutive axes meet in a point, (K16)
  parallel,  // six revolute joints, three consecutive axes are parallel, (K17)
  scara,     // three revolute joints and perhaps a slide, all along one direction, (K18)
  five,      // five revolute joints, axes 2, 3, 4 are parallel, (K19)
  position,  // three joints carry a point, (K13)
  swivel,    // seven revolute joints, axes 1-3 and 5-7 meet in points, (K21)
};

// how three joints carry a point, (K13); r: revolute, p: prismatic
enum class Regional : std::uint8_t {
  rrr_second_along_third,
  rrr_first_meets_second,
  rrr_first_along_second,
  rrr_second_meets_third,
  rrr_general,
  rrp_first_meets_second,
  rrp_first_along_second,
  rpp,
  prp,
  ppp,
  ppr,
  rpr_square,  // the slide at right angles to the last axis
  rpr,
  prr_square,  // the slide at right angles to the next axis
  prr_second_along_third,
};
constexpr int branches_of(Regional r) {
  switch (r) {
    case Regional::ppp: return 1;
    case Regional::rpp:
    case Regional::prp:
    case Regional::ppr:
    case Regional::prr_second_along_third:
    case Regional::rrp_first_along_second: return 2;
    default: return 4;
  }
}

// of the two equations of (K17), how they are solved: the last or the first of the angles stands alone in the second one
enum class PlaneRoute : std::uint8_t { second_alone, first_alone, quartic };

struct ArmPlan {
  ArmFamily family = ArmFamily::none;
  int n = 0;
  bool prismatic[kMostArmJoints] = {};
  Vec3<double> k[kMostArmJoints], p[kMostArmJoints];  // axis and a point on it, base axes, q = 0
  Mat3<double> R_M;                                   // the frame at q = 0
  Vec3<double> p_M;
  Turn<double> offset[kMostArmJoints];  // theta of a joint of the model is q and this
  bool turned[kMostArmJoints] = {};     // by an offset that is not zero
  double reach = 1;                     // m
  double deviation = 0;                 // of the arm from this form: rad, or m over the reach
  // point: the triple and its point. parallel, scara, five: the triple (the revolute joints), its direction and signs.
  int triple[3] = {};
  Vec3<double> centre, direction, beside;  // beside: at right angles to `direction`, or to the last axis of the triple
  double sign[3] = {1, 1, 1};
  // the other joints in the order of the equations; moved: carried along by the pose; back: turns have the other sign
  int other[3] = {};
  bool moved[3] = {};
  bool back = false;
  bool inverse = false;  // of the pose: the regional problem is for X^-1
  Regional regional = Regional::rrr_general;
  PlaneRoute route = PlaneRoute::quartic;
  // what configurations are named by, (K25): a point of a body of the model
  int centre_body = 0;
  Vec3<double> centre_B{0, 0, 0};
  // swivel
  Vec3<double> shoulder, wrist, elbow, wrist_beside;

  // of six joints: whether shoulder, elbow and wrist have a meaning
  bool named() const {
    if (prismatic[0] || prismatic[1]) return false;
    return (family == ArmFamily::point && triple[0] == 3) ||
           (family == ArmFamily::parallel && triple[0] == 1 && route == PlaneRoute::second_alone);
  }

  // Branches come in pairs: joints that have the same value in both, and how many of them stand before all others
  bool paired(int j) const {
    switch (family) {
      case ArmFamily::point:
      case ArmFamily::parallel:
      case ArmFamily::five: return j < triple[0] || j > triple[2];
      case ArmFamily::swivel: return j < 4;
      default: return false;
    }
  }
  int shared() const { return family == ArmFamily::swivel ? 4 : paired(0) ? triple[0] : 0; }

  // roots of a quartic: those that nearly meet have few digits
  bool quartic() const {
    if (family == ArmFamily::parallel) return route == PlaneRoute::quartic;
    return (family == ArmFamily::point || family == ArmFamily::position) &&
           (regional == Regional::rrr_general || regional == Regional::rpr);
  }

  // the joint that a singular wrist leaves free, -1: none
  int idle() const {
    switch (family) {
      case ArmFamily::point: return triple[0];
      case ArmFamily::parallel: return other[1];
      case ArmFamily::swivel: return 4;
      default: return -1;
    }
  }

  // branches that meet are singular ones
  bool meet_flagged() const {
    return (family == ArmFamily::point && regional == Regional::rrr_second_along_third) ||
           (family == ArmFamily::parallel && route != PlaneRoute::quartic);
  }

  int branches() const {
    switch (family) {
      case ArmFamily::none: return 0;
      case ArmFamily::point: return 2 * branches_of(regional);
      case ArmFamily::position: return branches_of(regional);
      case ArmFamily::scara: return 2;
      case ArmFamily::five: return 4;
      default: return kMostBranches;
    }
  }
};

}  // namespace zveno
