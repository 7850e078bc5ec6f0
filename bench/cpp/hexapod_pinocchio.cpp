// Times Pinocchio's forward dynamics with loop constraints on a hexapod written by bench/hexapod_engines.py, or on a linkage
// written by bench/loops_table.py.
//   hexapod_pinocchio <hexapod.txt> <seconds per function>
// Prints JSON: for each function nanoseconds per call and the largest deviation from the accelerations in the file.
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "measure.hpp"
#include "pinocchio_hexapod.hpp"
#include "program.hpp"

namespace {

using bench::Hexapod;
using bench::read_hexapod;
namespace pin = pinocchio;
using Vec = Eigen::VectorXd;

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
