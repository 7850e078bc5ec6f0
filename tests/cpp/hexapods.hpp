// Hexapods of every type near the data of a docking ring, and states that their legs can take.
#pragma once

#include <string>
#include <vector>

#include <zveno/functions/job.hpp>

#include "mechanisms.hpp"

constexpr zveno::LegType kLegTypes[] = {zveno::LegType::ups, zveno::LegType::spu, zveno::LegType::ucu, zveno::LegType::rus,
                                        zveno::LegType::rsu};
std::string name_of(zveno::LegType type);
inline bool is_hunt(zveno::LegType t) { return t == zveno::LegType::rus || t == zveno::LegType::rsu; }

// x is the docking axis; legs are named leg1 .. leg6. Symmetric: rods with joints at right angles; else bodies of any shape
// on frames that are turned against each other.
std::vector<zveno::LegSpec> leg_specs(zveno::LegType type, bool symmetric);
zveno::Hexapod make_hexapod(const std::vector<zveno::LegSpec>& legs, const zveno::Vec3<double>& gravity = {0, 0, 0});
// one leg of each type, and a symmetric one more
zveno::Hexapod mixed_hexapod(const zveno::Vec3<double>& gravity = {0, 0, 0});

struct NamedHexJob {
  std::string name;
  zveno::HexJob job;
  bool moving = false;  // the base
};
// every function, on every kind of base, and Newton's closure
std::vector<NamedHexJob> every_job(const zveno::Hexapod& hexapod);

// rows of what the functions take, near the nominal pose
struct RingStates {
  RingStates(Random& random, const zveno::Hexapod& hexapod, std::ptrdiff_t count);
  // what the function takes of rows [first, first + count); `out` remains to be set
  zveno::Rows rows(std::ptrdiff_t first, std::ptrdiff_t count, const NamedHexJob& item) const;

  std::vector<double> r, R, u, acceleration, wrench, tau, base, omega, base_wrench;
  int tau_width;
};
