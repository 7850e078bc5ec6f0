#include <zveno/sim/chain_system.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <zveno/kernel/steps.hpp>
#include <zveno/support/finite.hpp>

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
  const auto n = static_cast<std::size_t>(n_);
  Job motion{chain_, Function::forward_dynamics, Method::aba};
  motion.external_frames = frames_.data();
  motion.external_count = static_cast<int>(frames_.size());
  motion_ = setup_.kernels->make_stage_dynamics(motion);
  for (std::vector<double>* x : {&held_, &ahead_}) x->resize(n);
  for (std::vector<double>* x : {&heights_, &next_heights_}) x->resize(setup_.watched.size());
  for (std::vector<double>* x : {&way_q_, &way_qd_}) x->resize(n);
  inertia_ = setup_.kernels->make_inertia_solver(*chain_);
  if (setup_.holding) inertia_ = setup_.holding->held(std::move(inertia_));
  stage_tau_.resize(kMostStages * n);
  stage_wrenches_.resize(6 * kMostStages * frames_.size());
  more_wrenches_.resize(6 * frames_.size());
  stage_pushed_.resize(frames_.empty() ? 0 : kMostStages * n);
  stage_base_.resize(9 * kMostStages);
  slope_.resize(4 * n);
}

ChainSystem::Stage ChainSystem::make_stage() const {
  const auto n = static_cast<std::size_t>(n_), none = frames_.empty() ? 0 : n;
  return {std::vector<double>(static_cast<std::size_t>(size()) + kBlock),
          std::vector<double>(n),
          std::vector<double>(n),
          std::vector<double>(n),
          std::vector<double>(static_cast<std::size_t>(drives_.states())),
          std::vector<double>(6 * frames_.size()),
          std::vector<double>(none),
          0.0,
          {}};
}

Failure ChainSystem::run(const Job& job, const double* y, const double* third, const Stage* e, double* out) {
  Rows rows;
  rows[Param::q].data = y, rows[Param::qd].data = y + n_;
  if (third) rows[job.function == Function::forward_dynamics ? Param::tau : Param::qdd].data = third;
  rows.out[0] = out;
  rows.count = 1;
  return run(job, rows, e ? e->wrenches.data() : nullptr, 6, e && moves() ? e->base : nullptr);
}

// wrenches: of all frames, `stride` numbers from one to the next; base: nine for each row, or null
Failure ChainSystem::run(const Job& job, Rows& rows, const double* wrenches, std::ptrdiff_t stride, const double* base) {
  if (base) rows[Param::base_motion] = {base, rows.count > 1 ? 9 : 0};
  if (!wrenches || frames_.empty()) return setup_.kernels->run(job, rows, 0, rows.count);
  for (std::size_t k = 0; k < frames_.size(); ++k)
    loads_[k] = {wrenches + static_cast<std::ptrdiff_t>(k) * stride, rows.count > 1 ? 6 : 0};
  Job loaded = job;
  loaded.external_frames = frames_.data();
  loaded.external_count = static_cast<int>(frames_.size());
  rows.external = loads_.data();
  return setup_.kernels->run(loaded, rows, 0, rows.count);
}

bool ChainSystem::begin(double t, double* y) {
  std::copy(setup_.q.begin(), setup_.q.end(), y);
  std::copy(setup_.qd.begin(), setup_.qd.end(), y + n_);
  drives_->settle(y + n_, y + bristles());
  double kinetic = 0, potential = 0;
  const bool fine = keep(run({chain_, Function::kinetic_energy}, y, nullptr, nullptr, &kinetic)) &&
                    keep(run({chain_, Function::potential_energy}, y, nullptr, nullptr, &potential));
  energy_ = kinetic + potential;
  for (std::size_t k = 0; k < heights_.size(); ++k) next_heights_[k] = height(k, t, y, y + n_);  // see accept
  return fine;
}

void ChainSystem::call_held(double t, std::ptrdiff_t step, const double* q, const double* qd) {
  const std::ptrdiff_t period = step / setup_.hold;
  if (period == period_) return;
  setup_.forces(t, q, qd, held_.data());
  period_ = period;
}

void ChainSystem::efforts(double t, std::ptrdiff_t step, const double* q, const double* qd, const double* z, double* z_rate,
                          double* decay, double* tau) {
  const auto n = static_cast<std::size_t>(n_);
  if (setup_.tau.empty())
    std::fill_n(tau, n, 0.0);
  else
    std::copy_n(held_row(setup_.tau, n, step), n, tau);
  if (drives_.any()) {
    drives_->forces(t, q, qd, z, z_rate, decay, more_.data());
    for (std::size_t j = 0; j < n; ++j) tau[j] += more_[j];
  }
  if (!setup_.forces) return;
  if (setup_.hold > 0)
    call_held(t, step, q, qd);
  else
    setup_.forces(t, q, qd, held_.data());
  for (std::size_t j = 0; j < n; ++j) tau[j] += held_[j];
}

bool ChainSystem::loads(double t, const double* q, const double* qd, double* wrenches, double* pushed) {
  const auto n = static_cast<std::size_t>(n_);
  if (!frames_.empty()) std::fill_n(pushed, n, 0.0);
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    const ExternalWrench& external = setup_.external[k];
    double* w = wrenches + 6 * k;
    if (external.at)
      external.at(t, q, qd, w);
    else
      sample(external.samples, t, 6, w);
    Job job{chain_, Function::jacobian};
    job.frame = external.frame;
    Rows rows;
    rows[Param::q].data = q;
    rows.out[0] = jacobian_.data();
    rows.count = 1;
    if (!keep(run(job, rows, nullptr, 0, nullptr))) return false;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < n; ++j) pushed[j] += jacobian_[i * n + j] * w[i];
  }
  return true;
}

void ChainSystem::move_base(double t, double* base) {
  if (setup_.base_at)
    setup_.base_at(t, base);
  else if (moves())
    sample(setup_.base, t, 9, base);
}

bool ChainSystem::rates(double t, std::ptrdiff_t step, const double* y, Stage& e, Detail detail) {
  const double *q = y, *qd = y + n_;
  const auto n = static_cast<std::size_t>(n_);
  double* rate = e.rate.data();
  const double* from = std::exchange(from_, nullptr);
  for (std::size_t j = 0; from && j < n; ++j) ahead_[j] = from[j] + way_ * qd[j];
  if (detail != Detail::stage) {
    std::copy_n(q, n, e.p.data());
    std::copy_n(qd, n, e.v.data());
  }
  efforts(t, step, q, qd, y + bristles(), rate + bristles(), e.decay.data(), e.tau.data());
  if (!loads(t, q, qd, e.wrenches.data(), e.pushed.data())) return false;
  move_base(t, e.base);
  if (setup_.holding) {
    std::copy(e.tau.begin(), e.tau.end(), more_.begin());
    for (std::size_t j = 0; j < e.pushed.size(); ++j) more_[j] += e.pushed[j];
    if (!keep(setup_.holding->accelerate(t, q, qd, more_.data(), moves() ? e.base : nullptr, rate + n_, e.held)))
      return false;
  } else if (!keep(motion_->run(
                 {q, qd, e.tau.data(), moves() ? e.base : nullptr, e.wrenches.data(), from ? ahead_.data() : nullptr},
                 rate + n_))) {
    return false;
  }
  std::copy_n(qd, n, rate);
  double external = 0;
  for (std::size_t j = 0; j < e.pushed.size(); ++j) external += e.pushed[j] * qd[j];
  rate[work()] = joint_power(n_, e.tau.data(), friction_.data(), qd, qd);
  rate[work() + 1] = external + e.held;
  return true;
}

bool ChainSystem::arrive(const double* y, Stage&) { return all_finite(y, 2 * n_) || keep({Cause::overflow}); }

bool ChainSystem::project(double t, double* next) {
  return !setup_.holding || keep(setup_.holding->project(t, next, next + n_));
}

void ChainSystem::follow(double dt, const double* y, const Stage& e, double* next) const {
  const double *qd = y + n_, *new_qd = next + n_;
  double external = 0;
  follow_speed(dt, n_, y, new_qd, next);
  for (std::size_t j = 0; j < e.pushed.size(); ++j) external += e.pushed[j] * new_qd[j];
  if (drives_.states() > 0)
    drives_->relax(dt, y + bristles(), e.rate.data() + bristles(), e.decay.data(), next + bristles());
  // force times displacement
  next[work()] = y[work()] + dt * joint_power(n_, e.tau.data(), friction_.data(), qd, new_qd);
  next[work() + 1] = y[work() + 1] + dt * (external + e.held);
}

void ChainSystem::observe(double t, std::ptrdiff_t step, const double* y, Stage& e) {
  const auto n = static_cast<std::size_t>(n_);
  std::copy_n(y, n, e.p.data());
  std::copy_n(y + n_, n, e.v.data());
  if (setup_.hold > 0) call_held(t, step, y, y + n_);
}

bool ChainSystem::residuals(int count, const double* t, std::ptrdiff_t step, const double* q, const double* v,
                            const double* a, double* r) {
  const auto n = static_cast<std::size_t>(n_), rows_count = static_cast<std::size_t>(count);
  const std::size_t wide = frames_.empty() ? 0 : n;
  if (drives_.states() > 0) return keep({Cause::step});  // bristles are no part of the equations
  for (std::size_t i = 0; i < rows_count; ++i) {
    efforts(t[i], step, q + i * n, v + i * n, nullptr, nullptr, nullptr, stage_tau_.data() + i * n);
    if (!frames_.empty()) {  // frame by frame, six numbers for each stage
      if (!loads(t[i], q + i * n, v + i * n, more_wrenches_.data(), stage_pushed_.data() + i * wide)) return false;
      for (std::size_t k = 0; k < frames_.size(); ++k)
        std::copy_n(more_wrenches_.data() + 6 * k, 6, stage_wrenches_.data() + 6 * (k * rows_count + i));
    }
    move_base(t[i], stage_base_.data() + 9 * i);
  }
  if (setup_.holding) {  // a - qdd(q, v)
    for (std::size_t i = 0; i < rows_count; ++i) {
      for (std::size_t j = 0; j < n; ++j) more_[j] = stage_tau_[i * n + j] + (wide ? stage_pushed_[i * n + j] : 0.0);
      if (!keep(setup_.holding->accelerate(t[i], q + i * n, v + i * n, more_.data(),
                                           moves() ? stage_base_.data() + 9 * i : nullptr, r + i * n, stage_held_[i])))
        return false;
      for (std::size_t j = i * n; j < (i + 1) * n; ++j) r[j] = a[j] - r[j];
    }
    return true;
  }
  Rows rows;
  rows[Param::q] = {q, n_}, rows[Param::qd] = {v, n_}, rows[Param::qdd] = {a, n_};
  rows.out[0] = r;
  rows.count = count;
  if (!keep(run({chain_, Function::inverse_dynamics}, rows, stage_wrenches_.data(), 6 * count,
                moves() ? stage_base_.data() : nullptr)))
    return false;
  for (std::size_t k = 0; k < rows_count * n; ++k) r[k] -= stage_tau_[k];
  return true;
}

// of the links, and those of the laws by differences: a joint's law knows its own coordinate only
void ChainSystem::slopes(double t, std::ptrdiff_t, const double* q, const double* v, double* k, double* d) {
  const auto n = static_cast<std::size_t>(n_);
  if (setup_.holding) setup_.holding->at(t);
  for (std::size_t b = 0; b < n; ++b) {
    const auto j = static_cast<std::size_t>(chain_->user_index()[b]);
    k[j] = chain_->stiffness()[b], d[j] = chain_->friction()[b];
  }
  if (!drives_.any() || drives_.states() > 0) return;
  double *at = slope_.data(), *step = at + n, *low = step + n;
  const auto slope = [&](const double* x, bool rate, double* sum) {
    for (std::size_t j = 0; j < n; ++j) step[j] = 1e-6 * (1 + std::fabs(x[j]));
    const auto forces = [&](double sign, double* out) {
      for (std::size_t j = 0; j < n; ++j) at[j] = x[j] + sign * step[j];
      rate ? drives_->forces(t, q, at, nullptr, nullptr, nullptr, out)
           : drives_->forces(t, at, v, nullptr, nullptr, nullptr, out);
    };
    forces(-1, low);
    forces(1, more_.data());
    for (std::size_t j = 0; j < n; ++j) sum[j] += std::max(0.0, (low[j] - more_[j]) / (2 * step[j]));
  };
  slope(q, false, k);
  slope(v, true, d);
}

void ChainSystem::add_powers(int count, const double* v, const double* weight, double* next) const {
  for (int i = 0; i < count; ++i) {
    const double* vi = v + i * n_;
    double external = stage_held_[i];
    for (int j = 0; !frames_.empty() && j < n_; ++j) external += stage_pushed_[static_cast<std::size_t>(i * n_ + j)] * vi[j];
    next[work()] += weight[i] * joint_power(n_, stage_tau_.data() + i * n_, friction_.data(), vi, vi);
    next[work() + 1] += weight[i] * external;
  }
}

bool ChainSystem::jumps(std::ptrdiff_t step) const {
  const auto n = static_cast<std::size_t>(n_);
  if (setup_.hold > 0 && step % setup_.hold == 0) return true;
  if (setup_.tau.size() <= n || step == 0) return false;
  return !std::equal(held_row(setup_.tau, n, step), held_row(setup_.tau, n, step) + n, held_row(setup_.tau, n, step - 1));
}

// ---- events

double ChainSystem::height(std::size_t k, double t, const double* q, const double* qd) {
  const WatchedFunction& f = setup_.watched[k];
  if (f.at) return f.at(t, q, qd);
  Job job{chain_, Function::pose};
  job.frame = f.point;
  double pose[16];
  Rows rows;
  rows[Param::q].data = q;
  rows.out[0] = pose;
  rows.count = 1;
  run(job, rows, nullptr, 0, nullptr);
  return f.normal[0] * pose[3] + f.normal[1] * pose[7] + f.normal[2] * pose[11] - f.height;
}

void ChainSystem::find_events(double t, double dt, const Stage& e0, const Stage& e1) {
  events_.find(t, dt, e0.p.data(), e0.v.data(), e1.p.data(), e1.v.data());
  const auto n = static_cast<std::size_t>(n_);
  const std::size_t first = crossings_.size();
  const auto at = [&](std::size_t k, double s) {
    for (std::size_t j = 0; j < n; ++j) {
      const Hermite way{e0.p[j], e1.p[j], dt * e0.v[j], dt * e1.v[j]};
      way_q_[j] = way(s), way_qd_[j] = way.slope(s) / dt;
    }
    return height(k, t + s * dt, way_q_.data(), way_qd_.data());
  };
  for (std::size_t k = 0; k < heights_.size(); ++k) {
    const double before = heights_[k], after = next_heights_[k] = height(k, t + dt, e1.p.data(), e1.v.data());
    const bool rises = before < 0 && after >= 0, falls = before > 0 && after <= 0;
    const WatchedFunction& f = setup_.watched[k];
    if (!(rises && f.direction >= 0) && !(falls && f.direction <= 0)) continue;
    double a = 0, c = 1;
    for (int i = 0; i < 52; ++i) {
      const double middle = 0.5 * (a + c), value = at(k, middle);
      (rises ? value >= 0 : value <= 0) ? c = middle : a = middle;
    }
    at(k, c);
    crossings_.push_back({t + c * dt, static_cast<int>(k), rises, way_q_, way_qd_});
    if (f.terminal) end_time_ = std::min(end_time_, t + c * dt);
  }
  if (crossings_.size() > first + 1)
    std::stable_sort(crossings_.begin() + static_cast<std::ptrdiff_t>(first), crossings_.end(),
                     [](const Crossing& a, const Crossing& b) { return a.time < b.time; });
  if (std::isfinite(end_time_)) {  // the motion ends here
    events_.drop_after(end_time_);
    while (crossings_.size() > first && crossings_.back().time > end_time_) crossings_.pop_back();
  }
}

void ChainSystem::write(double t, const double* y, const Stage& e, const Record& record, std::ptrdiff_t row) {
  const double* qdd = e.rate.data() + n_;
  record.put(ZVENO_FIELD("t"), row, t);
  record.put(ZVENO_FIELD("q"), row, y, n_);
  record.put(ZVENO_FIELD("qd"), row, y + n_, n_);
  record.put(ZVENO_FIELD("qdd"), row, qdd, n_);
  record.put(ZVENO_FIELD("tau"), row, e.tau.data(), n_);
  double* wrench = record.row(ZVENO_FIELD("base_wrench"), 6, row);
  if (record.has(ZVENO_FIELD("base_wrench")) &&
      run({chain_, Function::base_wrench}, y, qdd, &e, wrench).cause != Cause::none)
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
  if (record.has(ZVENO_FIELD("kinetic_energy"))) fill(Function::kinetic_energy, kinetic);
  if (record.has(ZVENO_FIELD("potential_energy"))) fill(Function::potential_energy, potential);
  if (!record.has(ZVENO_FIELD("energy_error"))) return;
  const double *joints = rows(ZVENO_FIELD("work_joints"), 1), *external = rows(ZVENO_FIELD("work_external"), 1);
  double* error = rows(ZVENO_FIELD("energy_error"), 1);
  if (moves()) return void(std::fill_n(error, end - begin, std::numeric_limits<double>::quiet_NaN()));
  for (std::ptrdiff_t i = 0; i < end - begin; ++i)
    error[i] = kinetic[i] + potential[i] - energy_ - (joints[i] + external[i]);
}

#undef ZVENO_FIELD

template class Periods<ChainSystem>;

}  // namespace zveno
