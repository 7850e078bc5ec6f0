// A mechanism from the plain numbers that bench/compare.py writes.
#pragma once

#include "engine.hpp"

#include <fstream>
#include <stdexcept>

namespace bench {

template <std::size_t N>
void read(std::istream& in, std::array<double, N>& values) {
  for (double& value : values) in >> value;
}

inline Mechanism read_mechanism(const char* path) {
  std::ifstream in(path);
  Mechanism mechanism;
  int n = 0;
  in >> mechanism.name >> n;
  read(in, mechanism.gravity);
  for (int k = 0; k < n && in; ++k) {
    Joint j;
    in >> j.parent >> j.kind;
    read(in, j.axis);
    read(in, j.position);
    read(in, j.rotation);
    in >> j.mass;
    read(in, j.com);
    read(in, j.inertia);
    mechanism.joints.push_back(j);
  }
  if (!in || n < 1) throw std::runtime_error(std::string("cannot read mechanism from ") + path);
  return mechanism;
}

}  // namespace bench
