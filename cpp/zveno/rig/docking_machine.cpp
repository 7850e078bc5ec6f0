// Two vehicles that dock, as a rig steps them.
#include <algorithm>
#include <cmath>

#include <zveno/functions/failure.hpp>
#include <zveno/rig/machine.hpp>

namespace zveno {
namespace {

namespace dk = docking;

// an output and the field of the history that it is; of: whose ring it needs
struct Field {
  const char* name;
  const char* of;
  int ring = -1;
};
constexpr Field kFields[] = {
    {"A.position", "position_a"},
    {"A.quaternion", "quaternion_a"},
    {"A.velocity", "velocity_a"},
    {"A.angular_velocity", "omega_a"},
    {"B.position", "position_b"},
    {"B.quaternion", "quaternion_b"},
    {"B.velocity", "velocity_b"},
    {"B.angular_velocity", "omega_b"},
    {"ring.position", "ring_position_a", 0},
    {"ring.quaternion", "ring_quaternion_a", 0},
    {"ring.twist", "ring_twist_a", 0},
    {"stroke", "stroke_a", 0},
    {"stroke_rate", "stroke_rate_a", 0},
    {"leg_force", "leg_force_a", 0},
    {"B.ring.position", "ring_position_b", 1},
    {"B.ring.quaternion", "ring_quaternion_b", 1},
    {"B.ring.twist", "ring_twist_b", 1},
    {"B.stroke", "stroke_b", 1},
    {"B.stroke_rate", "stroke_rate_b", 1},
    {"B.leg_force", "leg_force_b", 1},
    {"misalignment", "misalignment"},
    {"relative_twist", "relative_twist"},
    {"interface_load", "load"},
    {"contact_load", "contact_load"},
    {"base_wrench", "base_load_a"},
    {"B.base_wrench", "base_load_b"},
    {"penetration", "penetration"},
    {"energy", "kinetic_energy"},
    {"energy_error", "energy_error"},
    {"phase", "phase"},
};

constexpr bool same(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}
// where a field of the history begins
constexpr int place_of(const char* name, int& size) {
  int at = 0;
  for (const dk::HistoryField& f : dk::kHistory) {
    size = f.size;
    if (same(f.name, name)) return at;
    at += f.size;
  }
  return -1;
}

const char* remark_of(dk::Status s) {
  switch (s) {
    case dk::Status::contact_range: return "the contact is deeper than the range of its model";
    case dk::Status::chattering: return "latches or thrusters switch too often in one step";
    case dk::Status::touching: return "the rings touch at the start";
    default: return nullptr;
  }
}

class DockingMachine final : public Machine {
 public:
  DockingMachine(const Description& d, const KernelTable& kernels)
      : model_(d.docking), dt_(d.period / d.substeps), substeps_(d.substeps), runner_(with(model_->setup, kernels)) {
    inputs.add("thrust.force", 3, "N");
    inputs.add("thrust.moment", 3, "N m");
    inputs.add("B.thrust.force", 3, "N");
    inputs.add("B.thrust.moment", 3, "N m");
    inputs.add("phase_command", 1, "1");
    if (d.contact_input) inputs.add("contact_wrench", 6, "N, N m");
    in.resize(static_cast<std::size_t>(inputs.size_of_all));
    if (d.contact_input) runner_.given.contact = in.data() + inputs.back().offset;
    for (const Field& f : kFields) {
      if (f.ring >= 0 && !model_->ring[f.ring]) continue;
      int size = 0;
      const int at = place_of(f.of, size);
      fields_.push_back({at, size});
      const auto* unit = std::find_if(std::begin(dk::kHistory), std::end(dk::kHistory),
                                      [&](const dk::HistoryField& h) { return same(h.name, f.of); });
      outputs.add(f.name, size, unit->unit);
    }
    outputs.add("latch_closed", runner_.latches(), "1");
    outputs.add("captured", 1, "1");
    outputs.add("energy_observer", 1, "J");
    outputs.add("momentum_error", 1, "N s");
    all_.resize(static_cast<std::size_t>(outputs.size_of_all));
    const Channels every = outputs;
    choose_outputs(d.outputs);
    for (std::size_t k = 0; k < every.size(); ++k)
      if (places[k] >= 0) kept_.push_back({every[k].offset, every[k].size});
  }

  bool begin(const double* x) override {
    const dk::Conditions c{x[0], {x[1], x[2]}, {x[3], x[4]}, x[5], {x[6], x[7]}, {x[8], x[9], x[10]}, x[11]};
    const dk::Factors f{x[12], x[13], x[14], x[15], x[16], x[17], x[18], x[19]};
    give();
    return fine(runner_.begin_steps(c, f, dt_));
  }
  bool advance() override {
    give();
    const int command = static_cast<int>(in[kCommand]);
    for (int k = 0; k < substeps_; ++k)
      if (!fine(runner_.advance(command))) return false;
    return true;
  }
  bool takes(const double* x) const override {
    return x[kCommand] >= -1 && x[kCommand] < dk::kPhases && x[kCommand] == std::floor(x[kCommand]);
  }
  bool axes(int input, Mat3<double>& force, Mat3<double>& moment, Mat3<double>& base) const override {
    if (inputs[static_cast<std::size_t>(input)].size != 6) return false;
    // the base is the ring: how that stands in its own facility is not known here
    force = moment = base = diagonal(1.0);
    return true;
  }
  bool write(double* to) override {
    double row[dk::history_width()];
    runner_.observe(row);
    double* out = all_.data();
    for (const auto& [at, size] : fields_) out = std::copy_n(row + at, size, out);
    for (int j = 0; j < runner_.latches(); ++j) *out++ = runner_.closed(j);
    *out++ = runner_.captured();
    int size = 0;
    const double* work = row + place_of("work", size);
    *out++ = -(work[0] + work[1]);  // what the contact has taken
    *out = runner_.momentum_error();
    for (const auto& [at, size] : kept_) to = std::copy_n(all_.data() + at, size, to);
    return true;
  }
  const Failure& failure() const override { return runner_.failure(); }
  double time() const override { return runner_.time(); }
  std::string explain(const Failure& f) const override {
    return model_->ring[0] ? failure_text(*model_->ring[0], f, false) : "the docking has failed";
  }
  std::size_t size() const override { return runner_.snapshot_size(); }
  void save(double* to) const override { runner_.save(to); }
  bool fits(const double* from) const override { return runner_.fits(from); }
  void restore(const double* from) override { runner_.restore(from); }

 private:
  static constexpr int kCommand = 12;

  static dk::Setup with(dk::Setup setup, const KernelTable& kernels) {
    setup.kernels = &kernels;
    return setup;
  }
  bool fine(dk::Status s) {
    remark = remark_of(s);
    return s == dk::Status::captured;
  }
  void give() {
    for (int k = 0; k < 2; ++k) std::copy_n(in.data() + 6 * k, 6, runner_.given.wrench[k]);
  }

  struct Part {
    int at, size;
  };
  std::shared_ptr<const DockingModel> model_;
  double dt_;
  int substeps_;
  dk::Docking runner_;
  std::vector<Part> fields_, kept_;
  std::vector<double> all_;  // outputs, of which those that are kept are given
};

}  // namespace

std::unique_ptr<Machine> make_docking_machine(const Description& d, const KernelTable& kernels) {
  return std::make_unique<DockingMachine>(d, kernels);
}

}  // namespace zveno
