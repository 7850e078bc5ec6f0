// Pinocchio behind engine.hpp. Built twice: against the shipped library, and instantiated for the processor at hand.
#include "engine.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

namespace {

using bench::Function;
using bench::Mechanism;
using Eigen::Map;
using RowMat3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using Vec = Eigen::VectorXd;
using pinocchio::Convention;

// aligned axes get the specialised joints, Pinocchio's fastest
template <class X, class Y, class Z, class Any>
pinocchio::JointModel joint_about(const Eigen::Vector3d& axis) {
  if (axis == Eigen::Vector3d::UnitX()) return X();
  if (axis == Eigen::Vector3d::UnitY()) return Y();
  if (axis == Eigen::Vector3d::UnitZ()) return Z();
  return Any(axis);
}

pinocchio::Model build(const Mechanism& mechanism) {
  using namespace pinocchio;
  Model model;
  model.gravity.linear() = Map<const Eigen::Vector3d>(mechanism.gravity.data());
  for (std::size_t k = 0; k < mechanism.joints.size(); ++k) {
    const bench::Joint& j = mechanism.joints[k];
    const Eigen::Vector3d axis = Map<const Eigen::Vector3d>(j.axis.data());
    const JointModel kind = j.kind == 'r'
                                ? joint_about<JointModelRX, JointModelRY, JointModelRZ, JointModelRevoluteUnaligned>(axis)
                                : joint_about<JointModelPX, JointModelPY, JointModelPZ, JointModelPrismaticUnaligned>(axis);
    const SE3 placement(Map<const RowMat3>(j.rotation.data()), Map<const Eigen::Vector3d>(j.position.data()));
    const JointIndex id = model.addJoint(JointIndex(j.parent + 1), kind, placement, "j" + std::to_string(k));
    const Inertia body(j.mass, Map<const Eigen::Vector3d>(j.com.data()), Map<const RowMat3>(j.inertia.data()));
    model.appendBodyToJoint(id, body, SE3::Identity());
  }
  return model;
}

class PinocchioEngine final : public bench::Engine {
 public:
  explicit PinocchioEngine(const Mechanism& mechanism) : model_(build(mechanism)), data_(model_), result_(model_.nv) {}

  std::vector<std::string> variants(Function f) const override {
    if (f == Function::rnea) return {"local"};
    if (f == Function::crba) return {"local", "world"};
    return {"local", "world", "crba + UDUt"};
  }

  const double* run(Function f, int variant, const double* q_, const double* qd_, const double* x_) override {
    const Map<const Vec> q(q_, model_.nq), qd(qd_, model_.nv), x(x_, model_.nv);
    const Convention convention = variant == 0 ? Convention::LOCAL : Convention::WORLD;
    switch (f) {
      case Function::rnea: return pinocchio::rnea(model_, data_, q, qd, x).data();
      case Function::crba: return pinocchio::crba(model_, data_, q, convention).data();
      case Function::aba:
        if (variant < 2) return pinocchio::aba(model_, data_, q, qd, x, convention).data();
        pinocchio::crba(model_, data_, q, Convention::WORLD);
        pinocchio::cholesky::decompose(model_, data_);
        result_ = x - pinocchio::nonLinearEffects(model_, data_, q, qd);
        pinocchio::cholesky::solve(model_, data_, result_);
        return result_.data();
    }
    return nullptr;
  }

 private:
  pinocchio::Model model_;
  pinocchio::Data data_;
  Vec result_;
};

}  // namespace

extern "C" bench::Engine* make_engine(const bench::Mechanism& mechanism) { return new PinocchioEngine(mechanism); }
