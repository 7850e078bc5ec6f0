#include <zveno/run/rows.hpp>

#include <algorithm>
#include <cmath>

#include <zveno/run/evaluate.hpp>
#include <zveno/run/hexapod.hpp>
#include <zveno/run/lanes.hpp>
#include <zveno/scalar/scalars.hpp>
#include <zveno/scalar/sincos.hpp>

namespace zveno {
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
  mass.method = Method::crba;
  evaluate<double>(mass, in, out[2], nullptr, scratch);
}

}  // namespace

bool all_finite(const double* x, std::ptrdiff_t count) {
  // x * 0 is NaN for NaN and infinity
  std::ptrdiff_t i = 0;
  bool finite = true;
  if (count >= kLanes) {
    Packed sum[4] = {0.0, 0.0, 0.0, 0.0};  // four sums hide the latency of addition
    for (; i + 4 * kLanes <= count; i += 4 * kLanes)
      for (int k = 0; k < 4; ++k) sum[k] += Packed::load(x + i + k * kLanes) * Packed(0.0);
    for (; i + kLanes <= count; i += kLanes) sum[0] += Packed::load(x + i) * Packed(0.0);
    finite = zero_in_all_lanes(sum[0] + sum[1] + (sum[2] + sum[3]));
  }
  double even = 0, odd = 0;
  for (; i + 2 <= count; i += 2) {
    even += x[i] * 0.0;
    odd += x[i + 1] * 0.0;
  }
  if (i < count) even += x[i] * 0.0;
  return finite & (even + odd == 0.0);
}

Failure run_rows(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
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

const KernelTable& kernel_table() {
  static const KernelTable table{
      ZVENO_ISA_NAME, kLanes, &run_rows, &run_hexapod, &all_finite, [](const double* x, double* s, double* c, int n) {
        for (int i = 0; i < n; ++i) {
          double si[kLanes], ci[kLanes];
          joint_trig(x + i, si, ci, 1);
          s[i] = si[0], c[i] = ci[0];
        }
      }};
  return table;
}

}  // namespace zveno
