// A mechanism as a Pinocchio model over any scalar.
#pragma once

#include "engine.hpp"

#include <pinocchio/multibody.hpp>

namespace bench {

// the kinds of joints that a mechanism has: a third of Pinocchio's own list to compile
template <class Scalar, int options>
struct Joints : pinocchio::JointCollectionDefaultTpl<Scalar, options> {
  using All = pinocchio::JointCollectionDefaultTpl<Scalar, options>;
  using JointModelVariant =
      boost::variant<typename All::JointModelRX, typename All::JointModelRY, typename All::JointModelRZ,
                     typename All::JointModelRevoluteUnaligned, typename All::JointModelPX, typename All::JointModelPY,
                     typename All::JointModelPZ, typename All::JointModelPrismaticUnaligned>;
  using JointDataVariant =
      boost::variant<typename All::JointDataRX, typename All::JointDataRY, typename All::JointDataRZ,
                     typename All::JointDataRevoluteUnaligned, typename All::JointDataPX, typename All::JointDataPY,
                     typename All::JointDataPZ, typename All::JointDataPrismaticUnaligned>;
};

template <class Scalar>
using Model = pinocchio::ModelTpl<Scalar, 0, Joints>;
template <class Scalar>
using Data = pinocchio::DataTpl<Scalar, 0, Joints>;

// aligned axes get the specialised joints, Pinocchio's fastest
template <class X, class Y, class Z, class Any, class Joint>
Joint joint_about(const Eigen::Vector3d& axis) {
  if (axis == Eigen::Vector3d::UnitX()) return Joint(X());
  if (axis == Eigen::Vector3d::UnitY()) return Joint(Y());
  if (axis == Eigen::Vector3d::UnitZ()) return Joint(Z());
  return Joint(Any(axis.cast<typename Any::Scalar>()));
}

template <class Scalar, template <class, int> class Collection = Joints>
pinocchio::ModelTpl<Scalar, 0, Collection> pinocchio_model(const Mechanism& mechanism) {
  using Eigen::Map;
  using Eigen::Vector3d;
  using RowMat3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  using J = Collection<Scalar, 0>;
  using Joint = pinocchio::JointModelTpl<Scalar, 0, Collection>;
  pinocchio::ModelTpl<Scalar, 0, Collection> model;
  model.gravity.linear() = Vector3d(Map<const Vector3d>(mechanism.gravity.data())).cast<Scalar>();
  for (std::size_t k = 0; k < mechanism.joints.size(); ++k) {
    const bench::Joint& j = mechanism.joints[k];
    const Vector3d axis = Map<const Vector3d>(j.axis.data());
    const Joint kind = j.kind == 'r'
                           ? joint_about<typename J::JointModelRX, typename J::JointModelRY, typename J::JointModelRZ,
                                         typename J::JointModelRevoluteUnaligned, Joint>(axis)
                           : joint_about<typename J::JointModelPX, typename J::JointModelPY, typename J::JointModelPZ,
                                         typename J::JointModelPrismaticUnaligned, Joint>(axis);
    const pinocchio::SE3 placement(Map<const RowMat3>(j.rotation.data()), Map<const Vector3d>(j.position.data()));
    const pinocchio::Inertia body(j.mass, Map<const Vector3d>(j.com.data()), Map<const RowMat3>(j.inertia.data()));
    const auto id = model.addJoint(j.parent + 1, kind, placement.cast<Scalar>(), "j" + std::to_string(k));
    model.inertias[id] = body.cast<Scalar>();
  }
  return model;
}

}  // namespace bench
