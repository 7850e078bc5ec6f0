// Times zveno's forward dynamics of a hexapod written by bench/compare.py, one call a state.
//   hexapod_zveno <hexapod.txt> <seconds>
// Prints JSON: nanoseconds per call and the largest deviation from the accelerations in the file.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <zveno/zveno.hpp>

#include "measure.hpp"
#include "program.hpp"

namespace {

double number(std::istream& in) {
  double value = 0;
  in >> value;
  return value;
}

zveno::Vec3<double> vector(std::istream& in) {
  const double x = number(in), y = number(in), z = number(in);
  return {x, y, z};
}

zveno::Mat3<double> matrix(std::istream& in) {
  zveno::Mat3<double> m;
  for (int i = 0; i < 9; ++i) m(i / 3, i % 3) = number(in);
  return m;
}

zveno::BodySpec body(std::istream& in) {
  zveno::BodySpec b;
  b.mass = number(in);
  b.com = vector(in);
  b.inertia = matrix(in);
  return b;
}

zveno::LegSpec leg(std::istream& in, int index) {
  zveno::LegSpec l;
  l.name = "leg" + std::to_string(index + 1);
  l.type = static_cast<zveno::LegType>(int(number(in)));
  l.base = vector(in);
  l.ring = vector(in);
  for (zveno::Mat3<double>* frame : {&l.base_frame, &l.ring_frame, &l.crank_frame, &l.tip_frame}) *frame = matrix(in);
  l.inner_length = number(in);
  l.outer_length = number(in);
  l.inner = body(in);
  l.outer = body(in);
  l.reflected = number(in);
  l.elbow = int(number(in));
  l.spin_branch = int(number(in));
  return l;
}

struct State {
  double r[3], R[9], u[6], wrench[6], tau[6], expected[6];
};

void run(const char* path, double seconds) {
  std::ifstream in(path);
  const zveno::Vec3<double> gravity = vector(in);
  const zveno::BodySpec platform = body(in);
  std::vector<zveno::LegSpec> legs;
  for (int k = 0; k < zveno::kLegs; ++k) legs.push_back(leg(in, k));
  const zveno::Hexapod hexapod("hexapod", platform, gravity, legs);
  std::vector<State> states(std::size_t(number(in)));
  for (State& s : states) {
    for (double& x : s.r) x = number(in);
    for (double& x : s.R) x = number(in);
    for (double* part : {s.u, s.wrench, s.tau, s.expected})
      for (int i = 0; i < 6; ++i) part[i] = number(in);
  }
  if (!in || states.empty()) throw std::runtime_error(std::string("cannot read hexapod from ") + path);

  std::vector<double> out(zveno::DynamicsLayout{hexapod.joints(), false}.size());
  const auto call = [&](std::size_t k) {
    const State& s = states[k];
    zveno::forward_dynamics(hexapod, s.r, s.R, s.u, s.wrench, s.tau, out.data());
    return out[0];
  };
  const double deviation = bench::deviation(
      states.size(), 6, [&](std::size_t k) { return call(k), out.data(); },
      [&](std::size_t k) { return states[k].expected; });
  const double nanoseconds = bench::best_of(states.size(), seconds, call);
  std::printf("{\"forward_dynamics\": {\"ns\": %.1f, \"deviation\": %.1e}}\n", nanoseconds, deviation);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::program(argc, argv, 2, "<hexapod.txt> <seconds>", [&] { run(argv[1], std::atof(argv[2])); });
}
