#include <zveno/batch/rows.hpp>

#include <algorithm>
#include <cmath>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/transcendental.hpp>
#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/functions/hexapod.hpp>
#include <zveno/functions/hexapod_motion.hpp>

namespace zveno {

// transcendental_fused.cpp
void sincos_of_fused(const double* x, double* s, double* c, int n);
void angle_of_fused(const double* s, const double* c, double* x, int n);
void sincos_packs_fused(const double* x, double* s, double* c, int n);
void angle_packs_fused(const double* s, const double* c, double* x, int n);

namespace {

// Beyond these sizes a mass matrix is computed state by state: for CRBA the double kernel's own loops are then long enough
// for SIMD, and for the other methods the tables of a pack would take hundreds of megabytes.
constexpr int kLargestPackedCrba = 64, kLargestPackedMatrix = 256;

double lane_of(double x, int) { return x; }
double lane_of(const Packed& x, int lane) { return x[lane]; }

// pivots of `count` rows held in the lanes of a T
template <class T>
void judge(const Chain& chain, const T* pivot, std::ptrdiff_t first, std::ptrdiff_t count, Failure& failure) {
  for (std::ptrdiff_t l = 0; l < count && failure.kind == Failure::none; ++l)
    for (int b = chain.n(); b-- > 0;)
      if (const double p = lane_of(pivot[b], static_cast<int>(l)); !(p > chain.tiny_pivot()[b])) {
        failure = {std::isfinite(p) ? Failure::singular : Failure::overflow, first + l, b};
        break;
      }
}

void check_finite(const double* out, std::ptrdiff_t size, std::ptrdiff_t first, std::ptrdiff_t count, Failure& failure) {
  if (failure.kind != Failure::none || all_finite(out, size * count)) return;
  for (std::ptrdiff_t l = 0; l < count; ++l)
    if (!all_finite(out + l * size, size)) {
      failure = {Failure::overflow, first + l, -1};
      return;
    }
}

// Columns of d tau / d(q, qd) by duals, kLanes directions at a time
void dual_columns(const Job& job, const Inputs<double>& in, double* dq, double* dqd, Scratch& scratch) {
  const int n = job.chain->n(), external = 6 * job.external_count;
  Derived* x[3];
  for (int k = 0; k < 3; ++k) x[k] = scratch.take<Derived>(n);
  Derived* wrench = scratch.take<Derived>(external);
  Derived* tau = scratch.take<Derived>(n);
  for (int k = 0; k < external; ++k) wrench[k] = in.external[k];
  for (int first = 0; first < 2 * n; first += kLanes) {
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < n; ++j) x[k][j] = in.x[k][j];
    const int count = std::min(kLanes, 2 * n - first);
    for (int d = 0; d < count; ++d) x[(first + d) / n][(first + d) % n].g.v[d] = 1.0;
    inverse_dynamics<Derived>(job, {{x[0], x[1], x[2]}, wrench}, tau, scratch);
    for (int d = 0; d < count; ++d) {
      double* out = first + d < n ? dq + (first + d) : dqd + (first + d - n);
      for (std::ptrdiff_t i = 0; i < n; ++i) out[i * n] = tau[i].g[d];
    }
  }
}

void derivatives(const Job& job, const Inputs<double>& in, double* const* out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  dual_columns(job, in, out[0], out[1], scratch);
  Job mass = job;  // d tau / d qdd
  mass.function = Function::mass_matrix;
  mass.method = mass_method_of_derivatives(job.chain->n());
  evaluate<double>(mass, in, out[2], nullptr, scratch);
}

// The same with machine code made for this job.
class ProgramRun {
 public:
  ProgramRun(const Job& job, const Rows& rows) : job_(job), rows_(rows), n_(job.chain->n()) {
    size_ = output_size(job.function, n_);
    inputs_ = input_count(job.function);
    outputs_ = job.function == Function::derivatives ? 3 : 1;
    solves_ = job.function == Function::forward_dynamics;
  }

  Failure singles(std::ptrdiff_t begin, std::ptrdiff_t end) {
    Failure failure;
    const Scratch::Frame frame(scratch_);
    const double** in = scratch_.take<const double*>(arguments());
    double* pivot = scratch_.take<double>(n_);
    for (std::ptrdiff_t row = begin; row < end; ++row) {
      bool finite = true;
      for_arguments([&](int k, const RowData& data, int count) {
        in[k] = data.row(row);
        if (rows_.check_inputs) finite &= all_finite(in[k], count);
      });
      if (!finite) {
        note({Failure::input, row, -1}, failure);
        continue;
      }
      double* out[4] = {};
      for (int k = 0; k < outputs_; ++k) out[k] = rows_.out[k] + row * size_;
      out[outputs_] = pivot;
      job_.program->one(in, out);
      if (solves_) judge(*job_.chain, pivot, row, 1, failure);
      for (int k = 0; k < outputs_; ++k) check_finite(out[k], size_, row, 1, failure);
    }
    return failure;
  }

  Failure packs(std::ptrdiff_t begin, std::ptrdiff_t end) {
    Failure failure;
    const Scratch::Frame frame(scratch_);
    Packed** in = scratch_.take<Packed*>(arguments());
    for_arguments([&](int k, const RowData&, int count) { in[k] = scratch_.take<Packed>(count); });
    Packed* out[4] = {};
    for (int k = 0; k < outputs_; ++k) out[k] = scratch_.take<Packed>(size_);
    Packed* pivot = out[outputs_] = scratch_.take<Packed>(n_);
    for (std::ptrdiff_t row = begin; row < end; row += kLanes) {
      const std::ptrdiff_t count = std::min<std::ptrdiff_t>(kLanes, end - row);
      bool finite = true;
      for_arguments([&](int k, const RowData& data, int numbers) {
        gather(data, row, end, numbers, in[k]);
        if (rows_.check_inputs) finite &= all_finite_lanes(in[k], numbers);
      });
      if (!finite) {
        note({Failure::input, row, -1}, failure);
        continue;
      }
      job_.program->packs(reinterpret_cast<const double* const*>(in), reinterpret_cast<double* const*>(out));
      if (solves_) judge(*job_.chain, pivot, row, count, failure);
      for (int k = 0; k < outputs_; ++k) {
        double* to = rows_.out[k] + row * size_;
        scatter(out[k], static_cast<int>(size_), static_cast<int>(count), [&](int l) { return to + l * size_; });
        if (!all_finite_lanes(out[k], size_)) check_finite(to, size_, row, count, failure);
      }
    }
    return failure;
  }

 private:
  int arguments() const { return inputs_ + job_.external_count + 1; }
  template <class F>
  void for_arguments(const F& f) const {
    int k = 0;
    for (; k < inputs_; ++k) f(k, rows_.in[k], n_);
    for (int e = 0; e < job_.external_count; ++e) f(k++, rows_.external[e], 6);
    if (job_.parameters) f(k, rows_.parameters, job_.parameters);
  }
  static void note(const Failure& f, Failure& first) {
    if (first.kind == Failure::none) first = f;
  }

  const Job& job_;
  const Rows& rows_;
  const int n_;
  std::ptrdiff_t size_;
  int inputs_, outputs_;
  bool solves_;
  Scratch& scratch_ = Scratch::of_this_thread();
};

}  // namespace

Failure run_rows(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  if (job.program) {
    ProgramRun run(job, rows);
    return end - begin == 1 ? run.singles(begin, end) : run.packs(begin, end);
  }
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  const Chain& chain = *job.chain;
  const int n = chain.n(), inputs = input_count(job.function), outputs = job.function == Function::derivatives ? 3 : 1;
  const std::ptrdiff_t size = output_size(job.function, n);
  const bool solves = job.function == Function::forward_dynamics;
  Failure failure;

  const int largest = job.method == Method::crba ? kLargestPackedCrba : kLargestPackedMatrix;
  const bool matrix = job.function == Function::mass_matrix && n > largest;
  const bool derive = job.function == Function::derivatives;  // fills the lanes by itself
  if (end - begin == 1 || matrix || derive) {
    double* pivot = solves ? scratch.take<double>(n) : nullptr;
    double* wrench = scratch.take<double>(6 * job.external_count);
    for (std::ptrdiff_t row = begin; row < end; ++row) {
      Inputs<double> in{{}, wrench};
      for (int k = 0; k < inputs; ++k) in.x[k] = rows.in[k].row(row);
      for (int k = 0; k < job.external_count; ++k) std::copy_n(rows.external[k].row(row), 6, wrench + 6 * k);
      if (rows.check_inputs) {
        bool finite = all_finite(wrench, 6 * job.external_count);
        for (int k = 0; k < inputs; ++k) finite &= all_finite(in.x[k], n);
        if (!finite) {
          if (failure.kind == Failure::none) failure = {Failure::input, row, -1};
          continue;
        }
      }
      double* out[3];
      for (int k = 0; k < outputs; ++k) out[k] = rows.out[k] + row * size;
      if (derive)
        derivatives(job, in, out, scratch);
      else
        evaluate<double>(job, in, out[0], pivot, scratch);
      if (solves) judge(chain, pivot, row, 1, failure);
      for (int k = 0; k < outputs; ++k) {
        if (!matrix) {
          check_finite(out[k], size, row, 1, failure);
        } else {  // half of a large symmetric matrix
          for (int i = 0; i < n; ++i) check_finite(out[k] + i * static_cast<std::ptrdiff_t>(n), i + 1, row, 1, failure);
        }
      }
    }
    return failure;
  }

  Packed* x[3] = {};
  for (int k = 0; k < inputs; ++k) x[k] = scratch.take<Packed>(n);
  Packed* wrench = scratch.take<Packed>(6 * job.external_count);
  Packed* pivot = solves ? scratch.take<Packed>(n) : nullptr;
  Packed* out = scratch.take<Packed>(size);
  for (std::ptrdiff_t row = begin; row < end; row += kLanes) {
    const std::ptrdiff_t count = std::min<std::ptrdiff_t>(kLanes, end - row);
    for (int k = 0; k < inputs; ++k) gather(rows.in[k], row, end, n, x[k]);
    for (int k = 0; k < job.external_count; ++k) gather(rows.external[k], row, end, 6, wrench + 6 * k);
    if (rows.check_inputs) {
      bool finite = all_finite_lanes(wrench, 6 * job.external_count);
      for (int k = 0; k < inputs; ++k) finite &= all_finite_lanes(x[k], n);
      if (!finite) {
        if (failure.kind == Failure::none) failure = {Failure::input, row, -1};
        continue;
      }
    }
    evaluate<Packed>(job, {{x[0], x[1], x[2]}, wrench}, out, pivot, scratch);
    if (solves) judge(chain, pivot, row, count, failure);
    scatter(out, static_cast<int>(size), static_cast<int>(count), [&](int l) { return rows.out[0] + (row + l) * size; });
    if (!all_finite_lanes(out, size)) check_finite(rows.out[0] + row * size, size, row, count, failure);
  }
  return failure;
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
                                 &run_rows,
                                 &run_hexapod,
                                 &make_motion,
                                 &sincos_singly,
                                 {&sincos_of, &angle_of, &sincos_packs, &angle_packs},
                                 {&sincos_of_fused, &angle_of_fused, &sincos_packs_fused, &angle_packs_fused}};
  return table;
}

}  // namespace zveno
