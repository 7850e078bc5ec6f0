// Steps of Pinocchio for rig_latency.c: Runge-Kutta of order 4 around its forward dynamics, and nothing else.
//   RIG_CHAIN: aba of a mechanism that bench/compare.py writes; otherwise constraintDynamics or lcaba, whichever is faster
//   here, of a hexapod that tests/engines/hexapods.py writes.
#ifdef RIG_CHAIN
#include <pinocchio/algorithm/aba.hpp>

#include "mechanism.hpp"
#include "pinocchio_model.hpp"
#else
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

#include "measure.hpp"
#include "pinocchio_hexapod.hpp"
#endif

#include <cstdio>
#include <exception>
#include <memory>

namespace {

using Vec = Eigen::VectorXd;
namespace pin = pinocchio;

#ifdef RIG_CHAIN
struct Rig {
  pin::Model model;
  pin::Data data;
  Vec first;
  explicit Rig(const char* path)
      : model(bench::pinocchio_model<double, pin::JointCollectionDefaultTpl>(bench::read_mechanism(path))),
        data(model),
        first(Vec::Zero(model.nq)) {}
  const Vec& rates(const Vec& q, const Vec& v, const Vec& tau) { return pin::aba(model, data, q, v, tau); }
  void move(const Vec& q, const Vec& v, double h, Vec& next) { next.noalias() = q + h * v; }
};
#else
struct Rig {
  bench::Hexapod hexapod;
  pin::Model& model = hexapod.model;
  pin::Data data, loops;
  std::vector<pin::RigidConstraintData> datas;
  pin::ProximalSettings exact{1e-14, 0.0, 1}, proximal{1e-10, 1e-6, 5};
  Vec first;
  bool recursive = false;
  explicit Rig(const char* path) : hexapod(bench::read_hexapod(path)), data(model), loops(model), first(hexapod.q[0]) {
    for (const auto& constraint : hexapod.constraints) datas.emplace_back(constraint);
    pin::initConstraintDynamics(model, data, hexapod.constraints, datas);
    pin::computeJointMinimalOrdering(model, loops, hexapod.constraints);
    double times[2];
    const Vec rest = Vec::Zero(model.nv);
    for (const bool way : {false, true}) {
      recursive = way;
      times[way] = bench::best_of(1, 0.05, [&](std::size_t) { return rates(first, rest, rest)[0]; });
    }
    recursive = times[1] < times[0];
  }
  const Vec& rates(const Vec& q, const Vec& v, const Vec& tau) {
    if (recursive) return pin::lcaba(model, loops, q, v, tau, hexapod.constraints, datas, proximal);
    return pin::constraintDynamics(model, data, q, v, tau, hexapod.constraints, datas, exact);
  }
  void move(const Vec& q, const Vec& v, double h, Vec& next) {
    step_ = h * v;
    pin::integrate(model, q, step_, next);
  }

 private:
  Vec step_;
};
#endif

std::unique_ptr<Rig> rig;
Vec q, v, tau, k1, k2, k3, a, x, w, w2, w3, change;

}  // namespace

extern "C" int rig_open(const char* path) {
  try {
    rig = std::make_unique<Rig>(path);
  } catch (const std::exception& e) {
    return std::puts(e.what()), 0;
  }
  q = x = rig->first;
  v = tau = k1 = k2 = k3 = a = w = w2 = w3 = change = Vec::Zero(rig->model.nv);
  return 1;
}

extern "C" void rig_start(void) { q = rig->first, v.setZero(); }

extern "C" int rig_step(double force, double h) {
  tau[0] = force;
  k1 = rig->rates(q, v, tau);
  rig->move(q, v, 0.5 * h, x), w.noalias() = v + 0.5 * h * k1;
  k2 = rig->rates(x, w, tau);
  rig->move(q, w, 0.5 * h, x), w2.noalias() = v + 0.5 * h * k2;
  k3 = rig->rates(x, w2, tau);
  rig->move(q, w2, h, x), w3.noalias() = v + h * k3;
  a = rig->rates(x, w3, tau);
  change.noalias() = (v + 2 * w + 2 * w2 + w3) / 6;
  rig->move(q, change, h, x);
  q.swap(x);
  v.noalias() += h / 6 * (k1 + 2 * k2 + 2 * k3 + a);
  return v.allFinite() ? 0 : 1;
}
