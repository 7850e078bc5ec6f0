#include <zveno/sim/chain_system.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace zveno {

// place in the table, worked out by the compiler
#define ZVENO_FIELD(name) (std::integral_constant<int, field(chain_record::kFields, name)>::value)

ChainSystem::ChainSystem(ChainSetup setup)
    : setup_(std::move(setup)),
      chain_(setup_.chain),
      n_(chain_->n()),
      schema_(chain_record::kFields, 0, n_),
      drives_(*setup_.kernels, setup_.laws),
      friction_(static_cast<std::size_t>(n_)),
      jacobian_(static_cast<std::size_t>(6 * n_)),
      more_(static_cast<std::size_t>(n_)) {
  for (int j = 0; j < n_; ++j) {
    const auto i = static_cast<std::size_t>(j);
    events_.watch(j, drives_[j], setup_.lower[i], setup_.upper[i]);
    friction_[static_cast<std::size_t>(chain_->user_index()[i])] = chain_->friction()[i];
  }
  for (const ExternalWrench& w : setup_.external) frames_.push_back(w.frame);
  loads_.resize(frames_.size());
}

ChainSystem::Stage ChainSystem::make_stage() const {
  const auto n = static_cast<std::size_t>(n_), none = frames_.empty() ? 0 : n;
  return {std::vector<double>(static_cast<std::size_t>(size()) + kBlock),
          std::vector<double>(n),
          std::vector<double>(n),
          std::vector<double>(n),
          std::vector<double>(6 * frames_.size()),
          std::vector<double>(none)};
}

Failure ChainSystem::run(Job job, const double* y, const double* third, const Stage* e, double* out) {
  Rows rows;
  rows[Param::q].data = y, rows[Param::qd].data = y + n_;
  if (third) rows[job.function == Function::forward_dynamics ? Param::tau : Param::qdd].data = third;
  if (e && !frames_.empty()) {
    for (std::size_t k = 0; k < frames_.size(); ++k) loads_[k].data = e->wrenches.data() + 6 * k;
    job.external_frames = frames_.data();
    job.external_count = static_cast<int>(frames_.size());
    rows.external = loads_.data();
  }
  rows.out[0] = out;
  rows.count = 1;
  return setup_.kernels->run(job, rows, 0, 1);
}

bool ChainSystem::begin(double, double* y) {
  std::copy(setup_.q.begin(), setup_.q.end(), y);
  std::copy(setup_.qd.begin(), setup_.qd.end(), y + n_);
  drives_->settle(y + n_, y + bristles());
  double kinetic = 0, potential = 0;
  failure_ = run({chain_, Function::kinetic_energy}, y, nullptr, nullptr, &kinetic);
  if (failure_.cause == Cause::none) failure_ = run({chain_, Function::potential_energy}, y, nullptr, nullptr, &potential);
  energy_ = kinetic + potential;
  return failure_.cause == Cause::none;
}

bool ChainSystem::rates(double t, std::ptrdiff_t step, const double* y, Stage& e, Detail) {
  const double *q = y, *qd = y + n_;
  const auto n = static_cast<std::size_t>(n_);
  double* rate = e.rate.data();
  std::copy_n(q, n, e.p.data());
  std::copy_n(qd, n, e.v.data());
  if (setup_.tau.empty())
    std::fill(e.tau.begin(), e.tau.end(), 0.0);
  else
    std::copy_n(held_row(setup_.tau, n, step), n, e.tau.data());
  if (drives_.any()) {
    drives_->forces(t, q, qd, y + bristles(), rate + bristles(), more_.data());
    for (std::size_t j = 0; j < n; ++j) e.tau[j] += more_[j];
  }
  if (setup_.forces) {
    setup_.forces(t, q, qd, more_.data());
    for (std::size_t j = 0; j < n; ++j) e.tau[j] += more_[j];
  }
  std::fill(e.pushed.begin(), e.pushed.end(), 0.0);
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    const ExternalWrench& external = setup_.external[k];
    double* w = e.wrenches.data() + 6 * k;
    if (external.at)
      external.at(t, q, qd, w);
    else
      sample(external.samples, t, 6, w);
    Job job{chain_, Function::jacobian};
    job.frame = external.frame;
    if (failure_ = run(job, y, nullptr, nullptr, jacobian_.data()); failure_.cause != Cause::none) return false;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < n; ++j) e.pushed[j] += jacobian_[i * n + j] * w[i];
  }
  if (setup_.holding) {
    std::copy(e.tau.begin(), e.tau.end(), more_.begin());
    for (std::size_t j = 0; j < e.pushed.size(); ++j) more_[j] += e.pushed[j];
    failure_ = setup_.holding->accelerate(t, q, qd, more_.data(), rate + n_, e.held);
  } else {
    Job job{chain_, Function::forward_dynamics};
    job.method = Method::aba;
    failure_ = run(job, y, e.tau.data(), &e, rate + n_);
  }
  if (failure_.cause != Cause::none) return false;
  std::copy_n(qd, n, rate);
  double joints = 0, external = 0;
  for (std::size_t j = 0; j < n; ++j) joints += (e.tau[j] - friction_[j] * qd[j]) * qd[j];
  for (std::size_t j = 0; j < e.pushed.size(); ++j) external += e.pushed[j] * qd[j];
  rate[work()] = joints;
  rate[work() + 1] = external + e.held;
  return true;
}

bool ChainSystem::project(double t, double* next) {
  if (setup_.holding) failure_ = setup_.holding->project(t, next, next + n_);
  return failure_.cause == Cause::none;
}

void ChainSystem::follow(double dt, const double* y, const Stage& e, double* next) const {
  const double *qd = y + n_, *new_qd = next + n_;
  double joints = 0, external = 0;
  for (int j = 0; j < n_; ++j) {
    const auto i = static_cast<std::size_t>(j);
    next[j] = y[j] + dt * new_qd[j];
    joints += (e.tau[i] - friction_[i] * qd[j]) * new_qd[j];
    if (!e.pushed.empty()) external += e.pushed[i] * new_qd[j];
  }
  if (drives_.states() > 0) drives_->relax(dt, qd, y + bristles(), e.rate.data() + bristles(), next + bristles());
  // force times displacement
  next[work()] = y[work()] + dt * joints;
  next[work() + 1] = y[work() + 1] + dt * (external + e.held);
}

void ChainSystem::write(double t, const double* y, const Stage& e, const Record& record, std::ptrdiff_t row) {
  const double* qdd = e.rate.data() + n_;
  record.put(ZVENO_FIELD("t"), row, t);
  record.put(ZVENO_FIELD("q"), row, y, n_);
  record.put(ZVENO_FIELD("qd"), row, y + n_, n_);
  record.put(ZVENO_FIELD("qdd"), row, qdd, n_);
  record.put(ZVENO_FIELD("tau"), row, e.tau.data(), n_);
  double* wrench = record.row(ZVENO_FIELD("base_wrench"), 6, row);
  if (run({chain_, Function::base_wrench}, y, qdd, &e, wrench).cause != Cause::none)
    std::fill_n(wrench, 6, std::numeric_limits<double>::quiet_NaN());
  record.put(ZVENO_FIELD("work_joints"), row, y[work()]);
  record.put(ZVENO_FIELD("work_external"), row, y[work() + 1]);
}

void ChainSystem::summarise(const Record& record, std::ptrdiff_t begin, std::ptrdiff_t end) const {
  const auto rows = [&](int f, int width) { return record.row(f, width, begin); };
  const auto fill = [&](Function function, double* out) {
    Rows states;
    states[Param::q] = {rows(ZVENO_FIELD("q"), n_), n_};
    states[Param::qd] = {rows(ZVENO_FIELD("qd"), n_), n_};
    states.out[0] = out;
    states.count = end - begin;
    setup_.kernels->run(Job{chain_, function}, states, 0, end - begin);
  };
  double *kinetic = rows(ZVENO_FIELD("kinetic_energy"), 1), *potential = rows(ZVENO_FIELD("potential_energy"), 1);
  fill(Function::kinetic_energy, kinetic);
  fill(Function::potential_energy, potential);
  const double *joints = rows(ZVENO_FIELD("work_joints"), 1), *external = rows(ZVENO_FIELD("work_external"), 1);
  double* error = rows(ZVENO_FIELD("energy_error"), 1);
  for (std::ptrdiff_t i = 0; i < end - begin; ++i)
    error[i] = kinetic[i] + potential[i] - energy_ - (joints[i] + external[i]);
}

#undef ZVENO_FIELD

}  // namespace zveno
