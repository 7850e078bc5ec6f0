// Hexapods, as a rig steps them.
#include <algorithm>

#include <zveno/functions/failure.hpp>
#include <zveno/math/quaternion.hpp>
#include <zveno/rig/stepping.hpp>
#include <zveno/sim/hexapod_system.hpp>

namespace zveno {
namespace {

class HexapodMachine : public Stepping<HexapodSystem> {
 public:
  HexapodMachine(const Description& d, const KernelTable& kernels) : model_(d.hexapod) {
    inputs.add("wrench", 6, "N, N m");
    inputs.add("tau", kLegs, "N or N m");
    if (d.base_motion) inputs.add("base_motion", 9, "m/s^2, rad/s, rad/s^2");
    if (d.servo) inputs.add("drive.reference", kLegs, "m or rad");
    outputs.add("ring.position", 3, "m");
    outputs.add("ring.quaternion", 4, "1");
    outputs.add("ring.twist", 6, "m/s, rad/s");
    outputs.add("ring.acceleration", 6, "m/s^2, rad/s^2");
    outputs.add("stroke", kLegs, "m or rad");
    outputs.add("stroke_rate", kLegs, "m/s or rad/s");
    outputs.add("leg_force", kLegs, "N or N m");
    outputs.add("base_wrench", 6, "N, N m");
    choose_outputs(d.outputs);
    in.resize(static_cast<std::size_t>(inputs.size_of_all));

    HexapodSetup setup;
    setup.hexapod = model_.get();
    setup.kernels = &kernels;
    setup.laws = laws_of(d);
    const double *wrench = in.data(), *tau = wrench + 6, *base = tau + kLegs;
    setup.wrench_at = [wrench](double, const double*, const double*, const double*, double* out) {
      std::copy_n(wrench, 6, out);
    };
    setup.forces = [tau](double, const double*, const double*, double* out) { std::copy_n(tau, kLegs, out); };
    if (d.base_motion) {
      setup.base.assign(9, 0.0);
      setup.base_at = [base](double, double* motion) { std::copy_n(base, 9, motion); };
    }
    set_up(std::move(setup), d, !wants({"ring.acceleration", "leg_force", "base_wrench"}));
  }

  bool begin(const double* start) override {
    periods_->system().start_from(start);
    return periods_->begin();
  }

  bool write(double* out) override {
    using System = HexapodSystem;
    const double* y = periods_->state();
    const System::Stage& e = periods_->stage();
    double force[kLegs];
    for (int k = 0; k < kLegs; ++k) force[k] = e.tau[k][periods_->system().actuated(k)];
    auto place = places.begin();
    const auto put = [&](const double* x, int count) {  // in the order in which they were added
      if (*place >= 0) std::copy_n(x, count, out + *place);
      ++place;
    };
    put(y + System::kR, 3), put(y + System::kQ, 4), put(y + System::kU, 6), put(e.rate.data() + System::kU, 6);
    put(e.p, kLegs), put(e.v, kLegs), put(force, kLegs), put(periods_->system().motion().load, 6);
    return true;
  }

  bool axes(int input, Mat3<double>& force, Mat3<double>& moment, Mat3<double>& base) const override {
    if (input != 0) return false;
    double R[9];
    rotation(periods_->state() + HexapodSystem::kQ, R);
    force = base = matrix_of(R), moment = diagonal(1.0);
    return true;
  }

  std::string explain(const Failure& failure) const override { return failure_text(*model_, failure, false); }

 private:
  std::shared_ptr<const Hexapod> model_;
};

}  // namespace

std::unique_ptr<Machine> make_hexapod_machine(const Description& d, const KernelTable& kernels) {
  return std::make_unique<HexapodMachine>(d, kernels);
}

}  // namespace zveno
