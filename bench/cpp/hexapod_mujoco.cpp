// Times MuJoCo's forward dynamics on a hexapod written by bench/compare.py.
//   hexapod_mujoco <hexapod.mjb> <states.txt> <seconds>
// Prints JSON: nanoseconds per call and the largest deviation from the accelerations in the file.
#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.hpp"
#include "program.hpp"

namespace {

struct State {
  std::vector<double> q, v, tau, expected;
};

void run(const char* path, const char* states_path, double seconds) {
  const std::unique_ptr<mjModel, void (*)(mjModel*)> model(mj_loadModel(path, nullptr), &mj_deleteModel);
  if (!model) throw std::runtime_error(std::string("cannot load ") + path);
  const std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(model.get()), &mj_deleteData);
  std::ifstream in(states_path);
  std::size_t count = 0;
  in >> count;
  std::vector<State> states(count);
  for (State& s : states)
    for (auto* part : {&s.q, &s.v, &s.tau, &s.expected}) {
      part->resize(std::size_t(part == &s.q ? model->nq : model->nv));
      for (double& x : *part) in >> x;
    }
  if (!in || states.empty()) throw std::runtime_error(std::string("cannot read states from ") + states_path);

  const auto call = [&](std::size_t k) {
    const State& s = states[k];
    std::copy(s.q.begin(), s.q.end(), data->qpos);
    std::copy(s.v.begin(), s.v.end(), data->qvel);
    std::copy(s.tau.begin(), s.tau.end(), data->qfrc_applied);
    mj_forward(model.get(), data.get());
    return data->qacc[0];
  };
  const double deviation = bench::deviation(
      states.size(), int(model->nv), [&](std::size_t k) { return call(k), data->qacc; },
      [&](std::size_t k) { return states[k].expected.data(); });
  const double nanoseconds = bench::best_of(states.size(), seconds, call);
  std::printf("{\"mj_forward\": {\"ns\": %.1f, \"deviation\": %.1e}}\n", nanoseconds, deviation);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::program(argc, argv, 3, "<hexapod.mjb> <states.txt> <seconds>",
                        [&] { run(argv[1], argv[2], std::atof(argv[3])); });
}
