// A docking ring on six struts: strokes in a pose, acceleration under a contact force, load on the spacecraft.
#include <cstdio>
#include <string>
#include <vector>

#include <zveno/zveno.hpp>

namespace {

// a body whose centre of mass is on its x axis
zveno::BodySpec body(double mass, double x, double along, double across) {
  zveno::BodySpec b;
  b.mass = mass;
  b.com = {x, 0, 0};
  b.inertia(0, 0) = along, b.inertia(1, 1) = b.inertia(2, 2) = across;
  return b;
}

// x is the docking axis; the first axis of the joint on the base is y, the second z
zveno::LegSpec strut(std::string name, zveno::Vec3<double> base, zveno::Vec3<double> ring) {
  zveno::LegSpec leg;
  leg.type = zveno::LegType::ups;
  leg.name = std::move(name);
  leg.base = base;
  leg.ring = ring;
  leg.inner_length = leg.outer_length = 0.25;  // hinges 0.5 m apart at zero stroke
  leg.inner = body(4, 0.15, 0.002, 0.031);
  leg.outer = body(2.5, 0.11, 0.0004, 0.017);
  leg.reflected = 9.87;  // of the drive, kg
  return leg;
}

void print(const char* name, const double* values, int count) {
  std::printf("%s", name);
  for (int i = 0; i < count; ++i) std::printf(" %.17g", values[i]);
  std::printf("\n");
}

}  // namespace

int main() {
  const std::vector<zveno::LegSpec> legs{
      strut("leg1", {0, 0.618, 0.166}, {0, 0.424, 0.424}),    strut("leg2", {0, 0.618, -0.166}, {0, 0.424, -0.424}),
      strut("leg3", {0, -0.165, 0.618}, {0, 0.155, 0.58}),    strut("leg4", {0, -0.453, 0.453}, {0, -0.58, 0.155}),
      strut("leg5", {0, -0.453, -0.453}, {0, -0.58, -0.155}), strut("leg6", {0, -0.165, -0.618}, {0, 0.155, -0.58})};
  zveno::BodySpec platform;
  platform.mass = 45;
  platform.inertia(0, 0) = 15.5, platform.inertia(1, 1) = platform.inertia(2, 2) = 8.2;
  const zveno::Hexapod ring("ring", platform, {0, 0, 0}, legs);

  // rolled about the docking axis
  const double r[] = {0.38, 0.02, -0.01}, R[] = {1, 0, 0, 0, 0.96, -0.28, 0, 0.28, 0.96};
  const double u[] = {-0.05, 0.02, 0.01, 0.04, -0.03, 0.02};  // m/s in base axes, rad/s in ring axes
  const double contact[] = {-200, 40, -30, 5, -10, 8};        // N in base axes, N m in ring axes
  const double drives[] = {30, -10, 20, 5, -15, 25};          // N

  std::vector<double> p(zveno::kLegs * ring.joints());
  zveno::closure(ring, r, R, p.data());
  print("joint_coordinates", p.data(), int(p.size()));  // for each leg two angles and the stroke

  const zveno::DynamicsLayout layout(ring.joints(), false);
  std::vector<double> out(layout.size());
  zveno::forward_dynamics(ring, r, R, u, contact, drives, out.data());
  print("acceleration", out.data(), 6);     // m/s^2 in base axes, rad/s^2 in ring axes
  print("base_wrench", out.data() + 6, 6);  // N and N m about the base's origin

  // many states at once: the same pose under contact forces of 0, 100, ... 900 N
  std::vector<double> wrenches(60), accelerations(std::size_t(10 * layout.size()));
  for (int k = 0; k < 10; ++k) wrenches[6 * k] = -100 * k;
  const zveno::HexJob job{&ring, zveno::HexFunction::forward_dynamics};
  zveno::Rows rows;
  rows[zveno::Param::r].data = r, rows[zveno::Param::R].data = R,
  rows[zveno::Param::u].data = u;  // a stride of 0 repeats the row
  rows[zveno::Param::wrench] = {wrenches.data(), 6};
  rows.out[0] = accelerations.data();
  rows.count = 10;
  zveno::evaluate(job, rows, 2);
  print("hardest_contact", accelerations.data() + 9 * layout.size(), 6);

  try {
    const double aside[] = {0, 0.494, -0.258}, straight[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    zveno::closure(ring, aside, straight, p.data());
  } catch (const zveno::LegError& error) {
    std::printf("error %s\n", error.what());
  }
}
