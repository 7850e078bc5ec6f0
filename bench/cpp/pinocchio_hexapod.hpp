// A hexapod that tests/engines/hexapods.py has written, as a model of Pinocchio with loop constraints.
#pragma once

#include <pinocchio/algorithm/model.hpp>
#include <pinocchio/multibody.hpp>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

namespace pin = pinocchio;
using Vec = Eigen::VectorXd;
using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;

struct Hexapod {
  pin::Model model;
  std::vector<pin::RigidConstraintModel> constraints;
  std::vector<Vec> q, v, tau, expected;
};

inline double number(std::istream& in) {
  double value = 0;
  in >> value;
  return value;
}

inline Vec vector(std::istream& in, int size) {
  Vec values(size);
  for (int k = 0; k < size; ++k) values[k] = number(in);
  return values;
}

inline Mat3 matrix(std::istream& in) {
  Mat3 m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = number(in);
  return m;
}

inline pin::SE3 placement(std::istream& in) {
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

inline pin::JointModel joint(char kind, const Vec3& first, const Vec3& second) {
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

inline Hexapod read_hexapod(const char* path) {
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

}  // namespace bench
