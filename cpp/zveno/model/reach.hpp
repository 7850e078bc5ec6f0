// What of a chain carries the frames that are to be brought to a pose: its own bodies, fewer than those of the chain.
#pragma once

#include <vector>

#include <zveno/model/chain.hpp>

namespace zveno {

constexpr int kMostReachRows = 6;  // of one frame

// a frame U of body `body`, and which of its six components are held: along base axes, about axes of the wanted frame
struct ReachFrame {
  int body;
  Mat3<double> R_BU;
  Vec3<double> p_BoUo_B;
  bool held[6];
  bool whole;     // all of them are
  bool straight;  // R_BU is the identity
  bool turned;    // some component of the rotation is free, so that their axes matter
  bool swing;     // the turn about the frame's own axis `spin` is free
  int spin;
  std::vector<char> moved_by;  // by the joints of which bodies
};

struct ReachModel {
  Topology topology;
  std::vector<BodyParams<double>> body;
  std::vector<double> offset;
  std::vector<Turn<double>> fixed_turn;
  std::vector<int> place;            // of body b in q
  std::vector<double> lower, upper;  // of body b; infinite: none
  // bounds inside of which q of body b is kept; one that leaves a whole turn does not bind, it is met by turns at the end
  std::vector<double> inner_lower, inner_upper;
  std::vector<double> low, range, middle;  // where starts are sampled
  std::vector<ReachFrame> frame;
  double reach = 0;      // sum of the distances between joint origins on the longest path, m
  double length = 0;     // that turns metres into radians, m
  double per_metre = 0;  // 1 / length

  int size() const { return static_cast<int>(body.size()); }
  ModelView<double> view() const { return {&topology, body.data()}; }
  bool revolute(int b) const { return topology.kind[b] == JointKind::revolute; }
  // a step of 1 in the unknown of body b is so many of q
  double scale(int b) const { return revolute(b) ? 1.0 : length; }
};

struct ReachWish {
  int link;  // of the chain
  bool held[6];
};

// lower, upper: n of the chain, user's order. Throws ModelError where no joint moves a frame.
ReachModel make_reach_model(const Chain& chain, const std::vector<ReachWish>& wishes, const double* lower,
                            const double* upper);

}  // namespace zveno
