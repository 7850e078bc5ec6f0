// A planar arm of two rods: mass matrix, torques that hold it at rest, and the acceleration when they let go.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <zveno/zveno.hpp>

namespace {

// slender rod of 1 m and 1 kg along x, turning about y
zveno::LinkSpec rod(std::string name, std::string parent, double x) {
  zveno::LinkSpec link;
  link.joint_name = name + "_joint";
  link.name = std::move(name);
  link.parent = std::move(parent);
  link.axis = {0, 1, 0};
  link.position = {x, 0, 0};
  link.body.mass = 1;
  link.body.com = {0.5, 0, 0};
  link.body.inertia(1, 1) = link.body.inertia(2, 2) = 1.0 / 12;
  return link;
}

void print(const char* name, const std::vector<double>& values) {
  std::printf("%s", name);
  for (const double value : values) std::printf(" %.17g", value);
  std::printf("\n");
}

}  // namespace

int main() {
  const zveno::Chain arm("two_link", "base", {0, 0, -9.81}, {rod("upper", "base", 0), rod("lower", "upper", 1)});
  const std::vector<double> q{0.3, -0.5}, rest{0, 0};
  std::vector<double> M(4), tau(2), qdd(2);

  zveno::mass_matrix(arm, q.data(), M.data());
  zveno::inverse_dynamics(arm, q.data(), rest.data(), rest.data(), tau.data());
  zveno::forward_dynamics(arm, q.data(), rest.data(), rest.data(), qdd.data());
  print("mass_matrix", M);             // kg m^2, row by row
  print("holding_torque", tau);        // N m
  print("falling_acceleration", qdd);  // rad/s^2

  try {
    zveno::Chain("broken", "base", {0, 0, -9.81}, {rod("upper", "nowhere", 0)});
  } catch (const zveno::ModelError& error) {
    std::printf("error %s\n", error.what());
  }
}
