// A rigid body as its designer describes it.
#pragma once

#include <zveno/math/inertia.hpp>
#include <zveno/model/error.hpp>

namespace zveno {

// inertia about the centre of mass, body axes
struct BodySpec {
  double mass = 0;
  Vec3<double> com{0, 0, 0};
  Mat3<double> inertia = diagonal(0.0);
};

// Throws ModelError for numbers that cannot be computed with, `name` its link, its message beginning with `who`. Returns
// what no real body has.
std::vector<std::string> check_body(const BodySpec& body, const std::string& name, const std::string& who);

// of what is a rotation but for rounding
Mat3<double> nearest_rotation(const Mat3<double>& R);

// about the body's origin
Inertia<double> inertia_of(const BodySpec& body);

// The body whose inertia about its origin is x; throws ModelError if a first moment belongs to no mass.
BodySpec body_of(const Inertia<double>& x);

}  // namespace zveno
