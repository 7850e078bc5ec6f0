// Times Pinocchio's forward dynamics with loop constraints on a hexapod written by bench/hexapod_engines.py, or on a linkage
// written by bench/loops_table.py.
//   hexapod_pinocchio <hexapod.txt> <seconds per function>
// Prints JSON: for each function nanoseconds per call and the largest deviation from the accelerations in the file.
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/model.hpp>
#include <pinocchio/multibody.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.hpp"
#include "program.hpp"

namespace {

namespace pin = pinocchio;
using Vec = Eigen::VectorXd;
using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;

struct Hexapod {
  pin::Model model;
  std::vector<pin::RigidConstraintModel> constraints;
  std::vector<Vec> q, v, tau, expected;
};

double number(std::istream& in) {
  double value = 0;
  in >> value;
  return value;
}

Vec vector(std::istream& in, int size) {
  Vec values(size);
  for (int k = 0; k < size; ++k) values[k] = number(in);
  return values;
}

Mat3 matrix(std::istream& in) {
  Mat3 m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = number(in);
  return m;
}

pin::SE3 placement(std::istream& in) {
  const Mat3 rotation = matrix(in);
  return pin::SE3(rotation, Vec3(vector(in, 3)));
}

// aligned axes get the specialised joints, Pinocchio's fastest
template <class X, class Y, class Z, class Any>
pin::JointModel joint_about(const Vec3& axis) {
  if (axis == Vec3::UnitX()) return X();
  if (axis == Vec3::UnitY()) return Y();
  if (axis == Vec3::UnitZ()) return Z();
  return Any(axis);
}

pin::JointModel joint(char kind, const Vec3& first, const Vec3& second) {
  switch (kind) {
    case 'F': return pin::JointModelFreeFlyer();
    case 'S': return pin::JointModelSpherical();
    case 'U': return pin::JointModelUniversal(first, second);
    case 'P':
      return joint_about<pin::JointModelPX, pin::JointModelPY, pin::JointModelPZ, pin::JointModelPrismaticUnaligned>(first);
    case 'R':
      return joint_about<pin::JointModelRX, pin::JointModelRY, pin::JointModelRZ, pin::JointModelRevoluteUnaligned>(first);
    default: throw std::runtime_error(std::string("unknown joint kind ") + kind);
  }
}

Hexapod read_hexapod(const char* path) {
  std::ifstream in(path);
  int joints = 0, constraints = 0, states = 0;
  in >> joints >> constraints >> states;
  Hexapod h;
  h.model.gravity.linear() = vector(in, 3);
  for (int k = 0; k < joints && in; ++k) {
    std::size_t parent = 0;
    char kind = 0;
    in >> parent >> kind;
    const Vec3 first = vector(in, 3), second = vector(in, 3);
    const pin::SE3 place = placement(in);
    const pin::JointIndex id = h.model.addJoint(parent, joint(kind, first, second), place, "j" + std::to_string(k));
    const double mass = number(in);
    const Vec3 com = vector(in, 3);
    const Mat3 inertia = matrix(in);
    if (mass > 0) h.model.appendBodyToJoint(id, pin::Inertia(mass, com, inertia), pin::SE3::Identity());
  }
  h.model.armature = vector(in, h.model.nv);
  for (int k = 0; k < constraints && in; ++k) {
    int weld = 0;
    std::size_t first = 0, second = 0;
    in >> weld >> first;
    const pin::SE3 on_first = placement(in);
    in >> second;
    const pin::SE3 on_second = placement(in);
    h.constraints.emplace_back(weld ? pin::CONTACT_6D : pin::CONTACT_3D, h.model, first, on_first, second, on_second,
                               pin::LOCAL);
  }
  for (auto* rows : {&h.q, &h.v, &h.tau, &h.expected})
    for (int k = 0; k < states && in; ++k) rows->push_back(vector(in, rows == &h.q ? h.model.nq : h.model.nv));
  if (!in || states < 1) throw std::runtime_error(std::string("cannot read hexapod from ") + path);
  return h;
}

struct Result {
  double nanoseconds, deviation;
};

template <class Function>
Result measure(const Hexapod& h, double seconds, Function&& function) {
  const auto call = [&](std::size_t k) -> const Vec& { return function(h.q[k], h.v[k], h.tau[k]); };
  const double deviation = bench::deviation(
      h.q.size(), h.model.nv, [&](std::size_t k) { return call(k).data(); },
      [&](std::size_t k) { return h.expected[k].data(); });
  return {bench::best_of(h.q.size(), seconds, [&](std::size_t k) { return call(k)[0]; }), deviation};
}

void run(const char* path, double seconds) {
  const Hexapod h = read_hexapod(path);
  std::vector<pin::RigidConstraintData> datas;
  for (const auto& constraint : h.constraints) datas.emplace_back(constraint);

  pin::Data data(h.model);
  pin::initConstraintDynamics(h.model, data, h.constraints, datas);
  pin::ProximalSettings exact(1e-14, 0.0, 1);  // no regularisation: the constraints are independent
  const auto dense = [&](pin::ProximalSettings& settings) {
    return measure(h, seconds, [&](const Vec& q, const Vec& v, const Vec& tau) -> const Vec& {
      return pin::constraintDynamics(h.model, data, q, v, tau, h.constraints, datas, settings);
    });
  };
  const Result plain = dense(exact);
  pin::ProximalSettings redundant(1e-12, 1e-10, 10);  // where they are not
  const Result iterated = dense(redundant);

  pin::Data loops(h.model);
  pin::ProximalSettings proximal(1e-10, 1e-6, 5);
  pin::computeJointMinimalOrdering(h.model, loops, h.constraints);
  const Result recursive = measure(h, seconds, [&](const Vec& q, const Vec& v, const Vec& tau) -> const Vec& {
    return pin::lcaba(h.model, loops, q, v, tau, h.constraints, datas, proximal);
  });

  const auto print = [](const char* before, const char* name, const Result& x, const char* after) {
    std::printf("%s\"%s\": {\"ns\": %.1f, \"deviation\": %.1e}%s\n", before, name, x.nanoseconds, x.deviation, after);
  };
  print("{", "constraintDynamics", plain, ",");
  print(" ", "constraintDynamics proximal", iterated, ",");
  print(" ", "lcaba", recursive, "}");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::program(argc, argv, 2, "<hexapod.txt> <seconds per function>", [&] { run(argv[1], std::atof(argv[2])); });
}
