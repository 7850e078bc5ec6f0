// The constraints of a linkage in a simulation of its chain: accelerations (L28), projection (L35) of docs/constraints.md.
#pragma once

#include <functional>
#include <vector>

#include <zveno/functions/linkage_job.hpp>
#include <zveno/sim/chain_system.hpp>

namespace zveno {

// (L15) force along and moment about the axis of a joint that closes a loop
struct LoopDrive {
  int constraint;
  Samples samples;                                                                     // two numbers for each time
  std::function<void(double t, const double* q, const double* qd, double* drive)> at;  // instead of them; may throw
};

class LinkageHolding final : public Holding {
 public:
  // numbers that the linkage is given, at a state; may throw
  using Give = std::function<void(double t, const double* q, const double* qd, double* to)>;

  LinkageHolding(const KernelTable& kernels, const Linkage& linkage, ChooseRows choose, Give give, Baumgarte baumgarte,
                 std::vector<LoopDrive> drives = {});

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

  // a function of one frame of the tree
  Failure frame(Function function, const LoopSide& side, const double* q, double* out);
  // pushed_ <- what the drives do to the joints of the tree
  Failure drive(double t, const double* q, const double* qd);

  const KernelTable& kernels_;
  const Linkage& linkage_;
  ChooseRows choose_;
  Give give_;
  Baumgarte baumgarte_;
  std::vector<LoopDrive> drives_;
  double time_ = 0;
  std::vector<double> given_, multiplier_, rate_, residual_, next_, still_;
  std::vector<double> effort_, pushed_, jacobian_;
};

}  // namespace zveno
