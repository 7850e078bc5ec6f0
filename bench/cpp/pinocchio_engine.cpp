// Pinocchio behind engine.hpp. Built twice: against the shipped library, and instantiated for the processor at hand.
#include "engine.hpp"
#include "pinocchio_model.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

using bench::Function;
using bench::Mechanism;
using Eigen::Map;
using Vec = Eigen::VectorXd;
using pinocchio::Convention;

class PinocchioEngine final : public bench::Engine {
 public:
  explicit PinocchioEngine(const Mechanism& mechanism)
      : model_(bench::pinocchio_model<double, pinocchio::JointCollectionDefaultTpl>(mechanism)),
        data_(model_),
        result_(model_.nv) {}

  std::vector<std::string> variants(Function f) const override {
    if (f == Function::rnea) return {"local"};
    if (f == Function::crba) return {"local", "world"};
    if (f == Function::aba) return {"local", "world", "crba + UDUt"};
    return {"analytic"};
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
      case Function::rnea_derivatives:
        pinocchio::computeRNEADerivatives(model_, data_, q, qd, x);
        return data_.dtau_dq.data();
      case Function::aba_derivatives: pinocchio::computeABADerivatives(model_, data_, q, qd, x); return data_.ddq_dq.data();
      case Function::regressor: return pinocchio::computeJointTorqueRegressor(model_, data_, q, qd, x).data();
    }
    return nullptr;
  }

  // by columns; m, mc, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
  std::size_t regressor_place(int n, int row, int link, int parameter) const override {
    constexpr int kPlace[] = {0, 1, 2, 3, 4, 5, 7, 6, 8, 9};
    return std::size_t((10 * link + kPlace[parameter]) * n + row);
  }

 private:
  pinocchio::Model model_;
  pinocchio::Data data_;
  Vec result_;
};

}  // namespace

extern "C" bench::Engine* make_engine(const bench::Mechanism& mechanism) { return new PinocchioEngine(mechanism); }
