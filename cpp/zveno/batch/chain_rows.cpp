// States of a chain: one as doubles, several side by side in the lanes.
#include <zveno/batch/rows.hpp>

#include <cmath>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/run.hpp>
#include <zveno/batch/transcendental.hpp>
#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {

// transcendental_fused.cpp
void sincos_of_fused(const double* x, double* s, double* c, int n);
void angle_of_fused(const double* s, const double* c, double* x, int n);
void sincos_packs_fused(const double* x, double* s, double* c, int n);
void angle_packs_fused(const double* s, const double* c, double* x, int n);

namespace {

// Beyond these sizes a matrix is computed state by state: for CRBA the double kernel's own loops are then long enough for
// SIMD, and otherwise the tables of a pack would take hundreds of megabytes.
constexpr int kLargestPackedCrba = 64, kLargestPackedMatrix = 256;

// Columns of d tau / d(q, qd) by duals, kLanes directions at a time; null: not wanted
void dual_columns(const Job& job, const Inputs<double>& in, double* dq, double* dqd, Scratch& scratch) {
  const int n = job.chain->n(), external = 6 * job.external_count;
  constexpr Param kWith[3] = {Param::q, Param::qd, Param::qdd};
  Inputs<Derived> derived;
  Derived* x[3];
  for (int k = 0; k < 3; ++k) derived[kWith[k]] = x[k] = scratch.take<Derived>(n);
  if (const double* base = in[Param::base_motion]) {
    Derived* to = scratch.take<Derived>(9);
    for (int k = 0; k < 9; ++k) to[k] = base[k];
    derived[Param::base_motion] = to;
  }
  Derived* wrench = scratch.take<Derived>(external);
  Derived* tau = scratch.take<Derived>(n);
  for (int k = 0; k < external; ++k) wrench[k] = in.external[k];
  derived.external = wrench;
  const int begin = dq ? 0 : n, end = dqd ? 2 * n : n;
  for (int first = begin; first < end; first += kLanes) {
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < n; ++j) x[k][j] = in[kWith[k]][j];
    const int count = std::min(kLanes, end - first);
    for (int d = 0; d < count; ++d) x[(first + d) / n][(first + d) % n].g.v[d] = 1.0;
    inverse_dynamics<Derived>(job, derived, tau, scratch);
    for (int d = 0; d < count; ++d) {
      double* out = first + d < n ? dq + (first + d) : dqd + (first + d - n);
      for (std::ptrdiff_t i = 0; i < n; ++i) out[i * n] = tau[i].g[d];
    }
  }
}

void derivatives(const Job& job, const Inputs<double>& in, double* const* out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  if (out[0] || out[1]) dual_columns(job, in, out[0], out[1], scratch);
  if (!out[2]) return;
  Job mass = job;  // d tau / d qdd
  mass.function = Function::mass_matrix;
  mass.method = mass_method_of_derivatives(job.chain->n());
  evaluate<double>(mass, in, out + 2, nullptr, scratch);
}

class ChainRows {
 public:
  ChainRows(const Job& job, const Rows& rows, Scratch& scratch)
      : job_(job),
        rows_(rows),
        row_(row_of(job.function)),
        n_(job.chain->n()),
        derive_(job.function == Function::derivatives),
        scratch_(scratch) {
    const Sizes sizes = sizes_of(job);
    for (int k = 0; k < row_.outputs.count; ++k) size_[k] = rows.out[k] ? numbers(row_.outputs[k].shape, sizes) : 0;
    const int largest = job.method == Method::crba ? kLargestPackedCrba : kLargestPackedMatrix;
    large_ = row_.cost == Cost::quadratic && n_ > largest;
  }

  // derivatives fill the lanes by themselves
  bool in_lanes(std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return end - begin > 1 && (job_.program || (!large_ && !derive_));
  }

  Failure single(std::ptrdiff_t row) {
    double* pivot = row_.has(kSolves) ? scratch_.take<double>(n_) : nullptr;
    double* out[kMostOutputs + 1] = {};
    for (int k = 0; k < row_.outputs.count; ++k) out[k] = rows_.out[k] ? rows_.out[k] + row * size_[k] : nullptr;
    if (rows_.check_inputs) {
      bool finite = true;
      for_arguments(job_, rows_, [&](const RowData& data, int count) { finite &= all_finite(data.row(row), count); });
      if (!finite) return {Cause::input};
    }
    if (job_.program) {
      const double** in = scratch_.take<const double*>(arguments());
      int k = 0;
      for_arguments(job_, rows_, [&](const RowData& data, int) { in[k++] = data.row(row); });
      job_.program->one(in, packed_outputs(out, pivot));
    } else {
      Inputs<double> in;
      for (const Param p : row_.params)
        if (is_array(p) && rows_[p].data) in[p] = rows_[p].row(row);
      if (job_.external_count) {
        double* wrench = scratch_.take<double>(6 * job_.external_count);
        for (int k = 0; k < job_.external_count; ++k) std::copy_n(rows_.external[k].row(row), 6, wrench + 6 * k);
        in.external = wrench;
      }
      if (derive_)
        derivatives(job_, in, out, scratch_);
      else
        evaluate<double>(job_, in, out, pivot, scratch_);
    }
    if (pivot)
      for (int b = n_; b-- > 0;)
        if (const double p = pivot[b]; !(p > job_.chain->tiny_pivot()[b])) {
          if (!std::isfinite(p)) return {Cause::overflow};
          return {Cause::massless, row, job_.chain->user_index()[b]};
        }
    for (int k = 0; k < row_.outputs.count; ++k)
      if (rows_.out[k] && !finite_result(rows_.out[k] + row * size_[k], size_[k])) return {Cause::overflow};
    return {};
  }

  void blank(std::ptrdiff_t row) const {
    for (int k = 0; k < row_.outputs.count; ++k)
      if (rows_.out[k]) fill_nan(rows_.out[k] + row * size_[k], size_[k]);
  }

  void prepare() {
    for (const Param p : row_.params)
      if (is_array(p) && rows_[p].data) in_[p] = scratch_.take<Packed>(input_size(p, sizes_of(job_)));
    in_.external = scratch_.take<Packed>(6 * job_.external_count);
    parameters_ = scratch_.take<Packed>(job_.parameters);
    for (int k = 0; k < row_.outputs.count; ++k) out_[k] = rows_.out[k] ? scratch_.take<Packed>(size_[k]) : nullptr;
    if (row_.has(kSolves)) pivot_ = scratch_.take<Packed>(n_);
  }

  bool lanes(std::ptrdiff_t row, std::ptrdiff_t end, std::ptrdiff_t count) {
    bool finite = true;
    const auto read = [&](const RowData& data, int numbers, const Packed* to) {
      gather(data, row, end, numbers, const_cast<Packed*>(to));
      if (rows_.check_inputs) finite &= all_finite_lanes(to, numbers);
    };
    const Sizes sizes = sizes_of(job_);
    for (const Param p : row_.params)
      if (is_array(p) && rows_[p].data) read(rows_[p], static_cast<int>(input_size(p, sizes)), in_[p]);
    for (int k = 0; k < job_.external_count; ++k) read(rows_.external[k], 6, in_.external + 6 * k);
    if (job_.parameters) read(rows_.parameters, job_.parameters, parameters_);
    if (!finite) return false;
    if (job_.program)
      run_program();
    else
      evaluate<Packed>(job_, in_, out_, pivot_, scratch_);
    if (pivot_)
      for (int b = 0; b < n_; ++b)
        if (!all_above(pivot_ + b, 1, job_.chain->tiny_pivot()[b])) return false;
    for (int k = 0; k < row_.outputs.count; ++k) {
      if (!out_[k]) continue;
      if (!all_finite_lanes(out_[k], size_[k])) return false;
      double* to = rows_.out[k] + row * size_[k];
      scatter(out_[k], static_cast<int>(size_[k]), static_cast<int>(count), [&](int l) { return to + l * size_[k]; });
    }
    return true;
  }

 private:
  int arguments() const { return kInputs + job_.external_count + 1; }

  // those that are wanted, and the pivots, side by side
  template <class T>
  T* const* packed_outputs(T** out, T* pivot) const {
    int count = 0;
    for (int k = 0; k < row_.outputs.count; ++k)
      if (out[k]) out[count++] = out[k];
    out[count] = pivot;
    return out;
  }

  void run_program() {
    const Scratch::Frame frame(scratch_);
    const Packed** in = scratch_.take<const Packed*>(arguments());
    int count = 0;
    for (const Param p : row_.params)
      if (is_array(p) && rows_[p].data) in[count++] = in_[p];
    for (int k = 0; k < job_.external_count; ++k) in[count++] = in_.external + 6 * k;
    in[count] = parameters_;
    Packed* out[kMostOutputs + 1];
    std::copy_n(out_, row_.outputs.count, out);
    packed_outputs(out, pivot_);
    job_.program->packs(reinterpret_cast<const double* const*>(in), reinterpret_cast<double* const*>(out));
  }

  // of a large symmetric matrix one half tells it
  bool finite_result(const double* out, std::ptrdiff_t size) const {
    if (!large_ || job_.function != Function::mass_matrix) return all_finite(out, size);
    bool finite = true;
    for (std::ptrdiff_t i = 0; i < n_; ++i) finite &= all_finite(out + i * n_, i + 1);
    return finite;
  }

  const Job& job_;
  const Rows& rows_;
  const FunctionRow& row_;
  const int n_;
  const bool derive_;
  bool large_;
  Scratch& scratch_;
  std::ptrdiff_t size_[kMostOutputs];
  // of packs
  Inputs<Packed> in_;
  Packed* parameters_ = nullptr;
  Packed* out_[kMostOutputs];
  Packed* pivot_ = nullptr;
};

}  // namespace

Failure run_chain(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  ChainRows work(job, rows, scratch);
  return run_over(work, rows, begin, end, scratch);
}

namespace {

// one by one, as a kernel sees a single angle
void sincos_singly(const double* x, double* s, double* c, int n) {
  for (int i = 0; i < n; ++i) {
    double si[kLanes], ci[kLanes];
    joint_trig(x + i, si, ci, 1);
    s[i] = si[0], c[i] = ci[0];
  }
}

}  // namespace

const KernelTable& kernel_table() {
  static const KernelTable table{ZVENO_ISA_NAME,
                                 kLanes,
                                 &run_chain,
                                 &run_hexapod,
                                 &sincos_singly,
                                 {&sincos_of, &angle_of, &sincos_packs, &angle_packs},
                                 {&sincos_of_fused, &angle_of_fused, &sincos_packs_fused, &angle_packs_fused}};
  return table;
}

}  // namespace zveno
