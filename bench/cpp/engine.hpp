// The mechanism as plain numbers, and what an engine offers the benchmark. No Eigen types here: the two sides are
// compiled for different instruction sets, for which Eigen aligns memory differently.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct Joint {
  int parent;  // index into Mechanism::joints, -1 for the base
  char kind;   // 'r' or 'p'
  std::array<double, 3> axis, position;
  std::array<double, 9> rotation;  // row by row, joint frame -> parent frame
  double mass;
  std::array<double, 3> com;
  std::array<double, 9> inertia;  // about the centre of mass, link axes
};

struct Mechanism {
  std::string name;
  std::array<double, 3> gravity;
  std::vector<Joint> joints;
};

// derivatives: all three matrices; the first of them, row by row, is what `run` returns
enum class Function { rnea, crba, aba, rnea_derivatives, aba_derivatives, regressor };

// One way to compute each function; `x` is qdd for RNEA, tau for ABA, of derivatives too. The result lives until the next
// call.
struct Engine {
  virtual ~Engine() = default;
  virtual std::vector<std::string> variants(Function) const = 0;
  virtual const double* run(Function, int variant, const double* q, const double* qd, const double* x) = 0;
  // rows of many states at once; null: a loop is all there is
  virtual const double* run_batch(Function, int /*states*/, const double* /*q*/, const double* /*qd*/, const double* /*x*/) {
    return nullptr;
  }
  // where the regressor of n joints keeps the number of a row, a link and a parameter: m, mc, Ixx, Ixy, Ixz, Iyy, Iyz, Izz
  virtual std::size_t regressor_place(int n, int row, int link, int parameter) const = 0;
};

using MakeEngine = Engine* (*)(const Mechanism&);

}  // namespace bench
