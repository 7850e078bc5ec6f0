// Geometry of a docking ring and the law of contact, docs/docking.md. Ring frame: origin on the mating plane, x outwards,
// angles from y to z.
#pragma once

#include <vector>

namespace zveno {

struct RingShape {
  std::vector<double> angles;  // centres of the petals
  double sign;                 // 1: petals lean inwards, -1: outwards
  double root_radius, tip_radius, height;
  double root_half_angle, tip_half_angle;
  double edge_radius, face_radius, face_half_width;
  double fillet, window, extension, thickness;
  int edge_nodes, side_nodes, face_nodes;

  double lean() const { return (sign * (root_radius - tip_radius)) / height; }
  double taper() const { return (root_half_angle - tip_half_angle) / height; }
};

// curves on surfaces: edges and sides of B on petals of A, faces of B on the plane of A, edges and sides of A on petals of B
constexpr int kFeatures = 5;

struct ContactLaw {
  double edge = 0, side = 0, face = 0;  // N/m^2, or N/m^2.5
  double blend = 1, damping[kFeatures] = {}, friction = 0, creep_speed = 1;
  bool hertz = false;  // exponent 1.5
  bool sticking = false;
  double mass = 1;  // of the rings against each other: damping of bristles
  double rebound =
      0;  // Lankarani-Nikravesh: damping of a feature is 3 (1 - rebound^2) / (4 speed at first touch); 0: as given
};

}  // namespace zveno
