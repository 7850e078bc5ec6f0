// Pinocchio's derivatives of inverse dynamics behind engine.hpp, as a variant of RNEA: d tau / d q, row by row; d tau / d qd
// and the mass matrix are computed with it.
#include "engine.hpp"
#include "pinocchio_model.hpp"

#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace {

class DerivativesEngine final : public bench::Engine {
 public:
  explicit DerivativesEngine(const bench::Mechanism& mechanism)
      : model_(bench::pinocchio_model<double>(mechanism)), data_(model_) {}

  std::vector<std::string> variants(bench::Function f) const override {
    if (f == bench::Function::rnea) return {"analytic"};
    return {};
  }

  const double* run(bench::Function, int, const double* q, const double* qd, const double* qdd) override {
    using Vec = Eigen::Map<const Eigen::VectorXd>;
    pinocchio::computeRNEADerivatives(model_, data_, Vec(q, model_.nq), Vec(qd, model_.nv), Vec(qdd, model_.nv));
    return data_.dtau_dq.data();
  }

 private:
  bench::Model<double> model_;
  bench::Data<double> data_;
};

}  // namespace

extern "C" bench::Engine* make_engine(const bench::Mechanism& mechanism) { return new DerivativesEngine(mechanism); }
