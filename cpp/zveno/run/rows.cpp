#include <zveno/run/rows.hpp>

#include <algorithm>
#include <cmath>

#include <zveno/run/evaluate.hpp>
#include <zveno/scalar/dual.hpp>
#include <zveno/scalar/scalars.hpp>
#include <zveno/scalar/sincos.hpp>

namespace zveno {
namespace {

// beyond this size the matrices of a pack leave the cache; the double kernel's own loops are long enough for SIMD
constexpr int kLargestPackedMatrix = 64;

// row `row` of an input
const double* row_of(const double* base, std::ptrdiff_t stride, std::ptrdiff_t row) { return base + stride * row; }

// lanes <- rows first .. first + kLanes - 1; rows past the end repeat the last one
void gather(const double* base, std::ptrdiff_t stride, std::ptrdiff_t first, std::ptrdiff_t end, int count, Packed* out) {
  const double* lane[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = row_of(base, stride, std::min(first + l, end - 1));
  for (int j = 0; j < count; ++j) {
    double x[kLanes];
    for (int l = 0; l < kLanes; ++l) x[l] = lane[l][j];
    out[j] = Packed::load(x);
  }
}

void scatter(const Packed* in, std::ptrdiff_t count, std::ptrdiff_t rows, double* out, std::ptrdiff_t stride) {
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    double x[kLanes];
    in[j].store(x);
    for (std::ptrdiff_t l = 0; l < rows; ++l) out[l * stride + j] = x[l];
  }
}

double lane_of(double x, int) { return x; }
double lane_of(const Packed& x, int lane) { return x[lane]; }

// pivots of `count` rows held in the lanes of a T
template <class T>
void judge(const Chain& chain, const T* pivot, std::ptrdiff_t first, std::ptrdiff_t count, Failure& failure) {
  for (std::ptrdiff_t l = 0; l < count && failure.kind == Failure::none; ++l)
    for (int b = chain.n(); b-- > 0;)
      if (!(lane_of(pivot[b], static_cast<int>(l)) > chain.tiny_pivot()[b])) {
        failure = {Failure::singular, first + l, b};
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

// Columns of d tau / d(q, qd) by duals, kDirections at a time. V holds the state(s), G the directions.
template <class V, class G, int kDirections, class Direction>
void dual_columns(const Job& job, const Inputs<V>& in, V* dq, V* dqd, Scratch& scratch, Direction&& direction) {
  using D = Dual<V, G>;
  const Scratch::Frame frame(scratch);
  const int n = job.chain->n(), external = 6 * job.external_count;
  Job inverse = job;
  inverse.function = Function::inverse_dynamics;
  D* x[3];
  for (int k = 0; k < 3; ++k) x[k] = scratch.take<D>(n);
  D* wrench = scratch.take<D>(external);
  D* tau = scratch.take<D>(n);
  for (int k = 0; k < external; ++k) wrench[k] = {in.external[k], G(0.0)};
  for (int first = 0; first < 2 * n; first += kDirections) {
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < n; ++j) x[k][j] = {in.x[k][j], G(0.0)};
    for (int d = 0; d < kDirections && first + d < 2 * n; ++d) direction(x[(first + d) / n][(first + d) % n].g, d) = 1.0;
    evaluate<D>(inverse, {{x[0], x[1], x[2]}, wrench}, tau, nullptr, scratch);
    for (int d = 0; d < kDirections && first + d < 2 * n; ++d) {
      const int column = first + d;
      V* out = column < n ? dq + column : dqd + (column - n);
      for (std::ptrdiff_t i = 0; i < n; ++i) out[i * n] = direction(tau[i].g, d);
    }
  }
}

// a lane of a pack of directions, readable and writable
struct LaneOfPack {
  Packed::V& v;
  int d;
  LaneOfPack& operator=(double x) {
    v[d] = x;
    return *this;
  }
  operator double() const { return v[d]; }
};

void derivatives(const Job& job, const Inputs<double>& in, double* const* out, Scratch& scratch) {
  dual_columns<double, Packed, kLanes>(job, in, out[0], out[1], scratch,
                                       [](Packed& g, int d) { return LaneOfPack{g.v, d}; });
}

void derivatives(const Job& job, const Inputs<Packed>& in, Packed* const* out, Scratch& scratch) {
  dual_columns<Packed, PackedDirections, kDirections>(
      job, in, out[0], out[1], scratch, [](PackedDirections& g, int d) -> Packed& { return g.d[d]; });
}

// everything of one state or one pack
template <class T>
void compute(const Job& job, const Inputs<T>& in, T* const* out, T* pivot, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  if (job.function != Function::derivatives) return evaluate<T>(job, in, out[0], pivot, scratch);
  derivatives(job, in, out, scratch);
  Job mass = job;  // d tau / d qdd
  mass.function = Function::mass_matrix;
  mass.method = Method::crba;
  evaluate<T>(mass, in, out[2], nullptr, scratch);
}

}  // namespace

bool all_finite(const double* x, std::ptrdiff_t count) {
  double sum = 0;  // x * 0 is NaN for NaN and infinity; four sums for instruction-level parallelism
  double s[4] = {};
  std::ptrdiff_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; ++k) s[k] += x[i + k] * 0.0;
  for (; i < count; ++i) sum += x[i] * 0.0;
  return sum + s[0] + s[1] + s[2] + s[3] == 0.0;
}

Failure run_rows(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  const Chain& chain = *job.chain;
  const int n = chain.n(), inputs = input_count(job.function), outputs = job.function == Function::derivatives ? 3 : 1;
  const std::ptrdiff_t size = output_size(job.function, n);
  const bool solves = job.function == Function::forward_dynamics;
  Failure failure;

  const bool matrix = size > static_cast<std::ptrdiff_t>(kLargestPackedMatrix) * kLargestPackedMatrix;
  if (end - begin == 1 || matrix) {
    double* pivot = solves ? scratch.take<double>(n) : nullptr;
    for (std::ptrdiff_t row = begin; row < end; ++row) {
      Inputs<double> in{{}, rows.external ? row_of(rows.external, rows.external_stride, row) : nullptr};
      for (int k = 0; k < inputs; ++k) in.x[k] = row_of(rows.in[k], rows.in_stride[k], row);
      double* out[3];
      for (int k = 0; k < outputs; ++k) out[k] = rows.out[k] + row * size;
      compute(job, in, out, pivot, scratch);
      if (solves) judge(chain, pivot, row, 1, failure);
      for (int k = 0; k < outputs; ++k) check_finite(out[k], size, row, 1, failure);
    }
    return failure;
  }

  const int external = 6 * job.external_count;
  Packed* x[3];
  for (int k = 0; k < inputs; ++k) x[k] = scratch.take<Packed>(n);
  Packed* wrench = scratch.take<Packed>(external);
  Packed* pivot = solves ? scratch.take<Packed>(n) : nullptr;
  Packed* out[3];
  for (int k = 0; k < outputs; ++k) out[k] = scratch.take<Packed>(size);
  for (std::ptrdiff_t row = begin; row < end; row += kLanes) {
    const std::ptrdiff_t count = std::min<std::ptrdiff_t>(kLanes, end - row);
    for (int k = 0; k < inputs; ++k) gather(rows.in[k], rows.in_stride[k], row, end, n, x[k]);
    if (external) gather(rows.external, rows.external_stride, row, end, external, wrench);
    compute<Packed>(job, {{x[0], inputs > 1 ? x[1] : nullptr, inputs > 2 ? x[2] : nullptr}, wrench}, out, pivot, scratch);
    if (solves) judge(chain, pivot, row, count, failure);
    for (int k = 0; k < outputs; ++k) {
      scatter(out[k], size, count, rows.out[k] + row * size, size);
      check_finite(rows.out[k] + row * size, size, row, count, failure);
    }
  }
  return failure;
}

const KernelTable& kernel_table() {
  static const KernelTable table{ZVENO_ISA_NAME, kLanes, &run_rows, &all_finite,
                                 [](const double* x, double* s, double* c, int n) { joint_trig(x, s, c, n); }};
  return table;
}

}  // namespace zveno
