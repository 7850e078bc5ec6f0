#include <zveno/rig/machine.hpp>

#include <algorithm>
#include <limits>

#include <zveno/functions/failure.hpp>
#include <zveno/math/quaternion.hpp>
#include <zveno/sim/chain_system.hpp>
#include <zveno/sim/hexapod_system.hpp>
#include <zveno/sim/linkage_holding.hpp>
#include <zveno/sim/periods.hpp>

namespace zveno {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// what both have
template <class System>
class Stepping : public Machine {
 public:
  bool advance() override {
    own_ = {};
    return periods_->advance();
  }
  const Failure& failure() const override { return own_ ? own_ : periods_->system().failure(); }
  double time() const override { return periods_->time(); }
  std::size_t size() const override { return periods_->size(); }
  void save(double* to) const override { periods_->save(to); }
  void restore(const double* from) override { periods_->restore(from); }

 protected:
  template <class Setup>
  void set_up(Setup setup, const Description& d) {
    periods_ =
        std::make_unique<Periods<System>>(System(std::move(setup)), d.semi_implicit, d.period / d.substeps, d.substeps);
  }

  // the laws, and servos whose references are the input that was added last
  std::vector<JointLaw> laws_of(const Description& d) const {
    if (!d.servo) return d.laws;
    std::vector<JointLaw> laws;
    for (std::size_t k = 0; k < d.laws.size(); ++k) {
      std::vector<Term> terms = d.laws[k].terms();
      terms.emplace_back(Servo{d.gains, Given{in.data() + inputs.back().offset + static_cast<int>(k)}});
      laws.emplace_back(std::move(terms));
    }
    return laws;
  }

  std::unique_ptr<Periods<System>> periods_;
  Failure own_;  // of what is worked out here
};

// where the rows of a linkage do not do: others would have to be looked for, in no time that is known
bool no_other_rows(const Linkage&, const double*, const double*, RowChoice&) { return false; }

Mat3<double> matrix_of(const double* R) {
  Mat3<double> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = R[3 * i + j];
  return m;
}

class ChainMachine : public Stepping<ChainSystem> {
 public:
  ChainMachine(const Description& d, const KernelTable& kernels)
      : model_(d.chain),
        linkage_(d.linkage),
        chain_(*d.chain),
        kernels_(kernels),
        n_(d.chain->n()),
        base_motion_(d.base_motion) {
    inputs.add("tau", n_, "N m or N");
    for (const std::string& link : d.external) {
      frames_.push_back(chain_.frame(chain_.find_link(link)));
      inputs.add("external." + link, 6, "N, N m");
    }
    if (base_motion_) inputs.add("base_motion", 9, "m/s^2, rad/s, rad/s^2");
    const int base = base_motion_ ? inputs.back().offset : 0;
    if (d.servo) inputs.add("drive.reference", n_, "rad or m");
    outputs.add("q", n_, "rad or m");
    outputs.add("qd", n_, "rad/s or m/s");
    outputs.add("qdd", n_, "rad/s^2 or m/s^2");
    outputs.add("base_wrench", 6, "N, N m");
    outputs.add("energy", 1, "J");
    for (const std::string& link : d.poses) {
      poses_.push_back(chain_.frame(chain_.find_link(link)));
      outputs.add("pose." + link + ".position", 3, "m");
      outputs.add("pose." + link + ".quaternion", 4, "1");
    }
    in.resize(static_cast<std::size_t>(inputs.size_of_all));
    loads_.resize(frames_.size());

    ChainSetup setup;
    const auto n = static_cast<std::size_t>(n_);
    setup.chain = &chain_;
    setup.kernels = &kernels_;
    setup.q.resize(n), setup.qd.resize(n);
    setup.laws = laws_of(d);
    setup.lower.assign(n, -kInfinity), setup.upper.assign(n, kInfinity);
    const double* given = in.data();
    setup.forces = [given, n](double, const double*, const double*, double* tau) { std::copy_n(given, n, tau); };
    for (std::size_t k = 0; k < frames_.size(); ++k) {
      const double* wrench = given + inputs[1 + k].offset;
      loads_[k] = {wrench, 0};
      setup.external.push_back(
          {frames_[k], {}, [wrench](double, const double*, const double*, double* out) { std::copy_n(wrench, 6, out); }});
    }
    base_ = given + base;
    if (base_motion_) setup.base_at = [base = base_](double, double* motion) { std::copy_n(base, 9, motion); };
    if (linkage_) setup.holding.reset(new LinkageHolding(kernels_, *linkage_, no_other_rows, {}, {}));
    first_.resize(2 * n), next_.resize(2 * n);
    set_up(std::move(setup), d);
  }

  bool begin(const double* start) override {
    own_ = {};
    std::copy_n(start, 2 * n_, first_.data());
    if (linkage_ && (own_ = open())) return false;
    periods_->system().start_from(first_.data(), first_.data() + n_);
    return periods_->begin();
  }

  bool axes(int input, Mat3<double>& force, Mat3<double>& moment, Mat3<double>& base) const override {
    const std::string& name = inputs[static_cast<std::size_t>(input)].name;
    if (name.compare(0, 9, "external.") != 0) return false;
    Job job{&chain_, Function::pose};
    job.frame = frames_[static_cast<std::size_t>(input) - 1];
    Rows rows = state(periods_->state());
    double pose[16];
    rows.out[0] = pose;
    rows.count = 1;
    kernels_.run(job, rows, 0, 1);
    const double R[9] = {pose[0], pose[1], pose[2], pose[4], pose[5], pose[6], pose[8], pose[9], pose[10]};
    force = moment = base = matrix_of(R);
    return true;
  }

  bool write(double* out) override {
    const double* y = periods_->state();
    const double* qdd = periods_->stage().rate.data() + n_;
    std::copy_n(y, 2 * n_, out);
    std::copy_n(qdd, n_, out + 2 * n_);
    double* at = out + 3 * n_;
    Job job{&chain_, Function::base_wrench};
    job.external_frames = frames_.data();
    job.external_count = static_cast<int>(frames_.size());
    Rows rows = state(y);
    rows[Param::qdd].data = qdd;
    rows.external = loads_.data();
    if (base_motion_) rows[Param::base_motion].data = base_;
    double kinetic, potential, pose[16];
    if (!run(job, rows, at)) return false;
    at += 6;
    if (!run({&chain_, Function::kinetic_energy}, state(y), &kinetic)) return false;
    if (!run({&chain_, Function::potential_energy}, state(y), &potential)) return false;
    *at++ = kinetic + potential;
    for (const LinkFrame& frame : poses_) {
      Job where{&chain_, Function::pose};
      where.frame = frame;
      if (!run(where, state(y), pose)) return false;
      for (int i = 0; i < 3; ++i) at[i] = pose[4 * i + 3];
      const double R[9] = {pose[0], pose[1], pose[2], pose[4], pose[5], pose[6], pose[8], pose[9], pose[10]};
      quaternion(R, at + 3);
      at += 7;
    }
    return true;
  }

  std::string explain(const Failure& failure) const override {
    return linkage_ ? failure_text(*linkage_, failure, false) : failure_text(chain_, failure, false);
  }

 private:
  // why a start is none
  Failure open() {
    LinkageJob job(*linkage_, LinkageFunction::forward_dynamics, no_other_rows);
    job.outputs = 1;
    Rows rows = state(first_.data());
    std::fill(next_.begin(), next_.end(), 0.0);
    rows[Param::tau].data = next_.data();
    rows.out[0] = next_.data() + n_;
    rows.count = 1;
    return kernels_.run(job, rows, 0, 1);
  }
  Rows state(const double* y) const {
    Rows rows;
    rows[Param::q].data = y, rows[Param::qd].data = y + n_;
    return rows;
  }
  bool run(const Job& job, Rows rows, double* out) {
    rows.out[0] = out;
    rows.count = 1;
    own_ = kernels_.run(job, rows, 0, 1);
    return !own_;
  }

  std::shared_ptr<const Chain> model_;
  std::shared_ptr<const Linkage> linkage_;
  std::vector<double> first_, next_;
  const Chain& chain_;
  const KernelTable& kernels_;
  int n_;
  bool base_motion_;
  const double* base_;
  std::vector<LinkFrame> frames_, poses_;
  std::vector<RowData> loads_;
};

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
    set_up(std::move(setup), d);
  }

  bool begin(const double* start) override {
    periods_->system().start_from(start);
    return periods_->begin();
  }

  bool write(double* out) override {
    using System = HexapodSystem;
    const double* y = periods_->state();
    const System::Stage& e = periods_->stage();
    out = std::copy_n(y + System::kR, 3, out);
    out = std::copy_n(y + System::kQ, 4, out);
    out = std::copy_n(y + System::kU, 6, out);
    out = std::copy_n(e.rate.data() + System::kU, 6, out);
    out = std::copy_n(e.p, kLegs, out);
    out = std::copy_n(e.v, kLegs, out);
    for (int k = 0; k < kLegs; ++k) *out++ = e.tau[k][periods_->system().actuated(k)];
    std::copy_n(periods_->system().motion().load, 6, out);
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

std::unique_ptr<Machine> make_machine(const Description& d, const KernelTable& kernels) {
  if (d.docking) return make_docking_machine(d, kernels);
  if (d.chain) return std::make_unique<ChainMachine>(d, kernels);
  return std::make_unique<HexapodMachine>(d, kernels);
}

}  // namespace zveno
