// The constraints of a linkage in a simulation of its chain: accelerations (L28), projection (L35) of docs/constraints.md.
#pragma once

#include <functional>
#include <vector>

#include <zveno/functions/linkage_job.hpp>
#include <zveno/sim/chain_system.hpp>

namespace zveno {

class LinkageHolding final : public Holding {
 public:
  // numbers that the linkage is given, at a state; may throw
  using Give = std::function<void(double t, const double* q, const double* qd, double* to)>;

  LinkageHolding(const KernelTable& kernels, const Linkage& linkage, ChooseRows choose, Give give, Baumgarte baumgarte);

  Failure accelerate(double t, const double* q, const double* qd, const double* effort, const double* base, double* qdd,
                     double& power) override;
  std::unique_ptr<InertiaSolver> held(std::unique_ptr<InertiaSolver> tree) override;
  void at(double t) override { time_ = t; }
  Failure project(double t, double* q, double* qd) override;

 private:
  class Inertia;

  // of one state; out: one or two results
  Failure run(LinkageFunction function, double t, const double* q, const double* qd, const double* tau, double* first,
              double* second = nullptr, const double* base = nullptr);

  const KernelTable& kernels_;
  const Linkage& linkage_;
  ChooseRows choose_;
  Give give_;
  Baumgarte baumgarte_;
  double time_ = 0;
  std::vector<double> given_, multiplier_, rate_, residual_, next_, still_;
};

}  // namespace zveno
