// Chains and linkages, as a rig steps them.
#include <algorithm>
#include <limits>

#include <zveno/functions/failure.hpp>
#include <zveno/math/quaternion.hpp>
#include <zveno/rig/stepping.hpp>
#include <zveno/sim/chain_system.hpp>
#include <zveno/sim/linkage_holding.hpp>

namespace zveno {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// where the rows of a linkage do not do: others would have to be looked for, in no time that is known
bool no_other_rows(const Linkage&, const double*, const double*, RowChoice&) { return false; }

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
    choose_outputs(d.outputs);
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
    set_up(std::move(setup), d, !wants({"qdd", "base_wrench"}));
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
    auto place = places.begin();  // in the order in which they were added
    for (const double* x : {y, y + n_, qdd}) {
      if (*place >= 0) std::copy_n(x, n_, out + *place);
      ++place;
    }
    if (const int at = *place++; at >= 0) {
      Job job{&chain_, Function::base_wrench};
      job.external_frames = frames_.data();
      job.external_count = static_cast<int>(frames_.size());
      Rows rows = state(y);
      rows[Param::qdd].data = qdd;
      rows.external = loads_.data();
      if (base_motion_) rows[Param::base_motion].data = base_;
      if (!run(job, rows, out + at)) return false;
    }
    if (const int at = *place++; at >= 0) {
      double kinetic, potential;
      if (!run({&chain_, Function::kinetic_energy}, state(y), &kinetic)) return false;
      if (!run({&chain_, Function::potential_energy}, state(y), &potential)) return false;
      out[at] = kinetic + potential;
    }
    for (const LinkFrame& frame : poses_) {
      const int position = *place++, turn = *place++;
      if (position < 0 && turn < 0) continue;
      double pose[16];
      Job where{&chain_, Function::pose};
      where.frame = frame;
      if (!run(where, state(y), pose)) return false;
      for (int i = 0; i < 3 && position >= 0; ++i) out[position + i] = pose[4 * i + 3];
      const double R[9] = {pose[0], pose[1], pose[2], pose[4], pose[5], pose[6], pose[8], pose[9], pose[10]};
      if (turn >= 0) quaternion(R, out + turn);
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

}  // namespace

std::unique_ptr<Machine> make_chain_machine(const Description& d, const KernelTable& kernels) {
  return std::make_unique<ChainMachine>(d, kernels);
}

}  // namespace zveno
