// Motions of a chain, several side by side in the lanes; one alone takes all of them. Their time derivatives by jets,
// docs/derivatives.md: arguments as series in time, x_k = x^(k) / k!, results k! times their coefficients.
#include <zveno/batch/rows.hpp>

#include <new>

#include <zveno/batch/run.hpp>
#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/functions/motion_job.hpp>
#include <zveno/scalar/jet.hpp>

namespace zveno {
namespace {

double factorial(int k) { return k < 2 ? 1.0 : k * factorial(k - 1); }

// rows of `size` numbers, row k the k-th time derivative
struct Derivatives {
  Packed* x;
  int rows, size;

  Packed* row(int k) const { return x + static_cast<std::ptrdiff_t>(k) * size; }
};

// of the derivative of order `shift`; what is given once is constant, what is not given is zero
void make_series(const Derivatives& from, int shift, int degree, Moving* to) {
  const int own = from.rows == 1 ? 0 : degree;
  for (int i = 0; i < from.size; ++i) {
    ::new (to + i) Moving(Moving::of_degree(own));
    for (int k = 0; k <= own; ++k)
      to[i][k] = shift + k < from.rows ? from.row(shift + k)[i] / Packed(factorial(k)) : Packed(0.0);
  }
}

class MotionRows {
 public:
  Results results;

  MotionRows(const MotionJob& motion, const Rows& rows, Scratch& scratch)
      : results(motion, rows),
        motion_(motion),
        job_(motion.job),
        row_(row_of(motion.job.function)),
        rows_(rows),
        n_(motion.job.chain->n()),
        scratch_(scratch) {}

  // one motion as well: the lanes are then filled with it
  bool in_lanes(std::ptrdiff_t, std::ptrdiff_t) const { return true; }

  void prepare() {
    const int wanted = motion_.order + 1;
    for (const Param p : row_.params) {
      if (!is_array(p)) continue;
      const int size = input_size(job_, p);
      if (p == Param::q) {
        const int rows = motion_.driven() ? 1 + wanted : motion_.given[index_of(p)];
        q_ = {scratch_.take<Packed>(static_cast<std::size_t>(rows) * size), rows, size};
      } else if (!is_of_motion(p)) {
        if (!rows_[p].data) continue;
        const int rows = std::min(wanted, motion_.given[index_of(p)]);
        other_[others_] = {scratch_.take<Packed>(static_cast<std::size_t>(rows) * size), rows, size};
        param_[others_++] = p;
      }
      series_[index_of(p)] = scratch_.take<Moving>(size);
    }
    loads_ = scratch_.take<Derivatives>(job_.external_count);
    for (int k = 0; k < job_.external_count; ++k) {
      const int rows = std::min(wanted, motion_.external_given[k]);
      ::new (loads_ + k) Derivatives{scratch_.take<Packed>(6 * static_cast<std::size_t>(rows)), rows, 6};
    }
    external_ = scratch_.take<Moving>(6 * job_.external_count);
    pivot_ = scratch_.take<Moving>(n_);
    acceleration_ = scratch_.take<Moving>(motion_.driven() ? n_ : 0);
    for (int k = 0; k < results.count; ++k) {
      out_[k] = results.out[k] ? scratch_.take<Moving>(output_size(job_, k)) : nullptr;
      derivative_[k] = results.out[k] ? scratch_.take<Packed>(results.size[k]) : nullptr;
    }
  }

  bool lanes(std::ptrdiff_t row, std::ptrdiff_t end, std::ptrdiff_t count) {
    return read(row, end) && drive() && evaluate_at(job_, motion_.order, out_) && write(row, count);
  }

  Failure single(std::ptrdiff_t row) {
    if (!read(row, row + 1)) return {Cause::input};
    // what fails without derivatives tells why
    if (const Failure f = plain(row)) return f;
    return lanes(row, row + 1, 1) ? Failure{} : Failure{Cause::overflow};
  }

 private:
  int rows_given() const { return motion_.given[index_of(Param::q)]; }

  bool read(std::ptrdiff_t row, std::ptrdiff_t end) {
    bool finite = true;
    const auto take = [&](const RowData& data, const Derivatives& to, int rows) {
      gather(data, row, end, rows * to.size, to.x);
      if (rows_.check_inputs) finite &= all_finite_lanes(to.x, static_cast<std::ptrdiff_t>(rows) * to.size);
    };
    take(rows_[Param::q], q_, rows_given());
    for (int k = 0; k < others_; ++k) take(rows_[param_[k]], other_[k], other_[k].rows);
    for (int k = 0; k < job_.external_count; ++k) take(rows_.external[k], loads_[k], loads_[k].rows);
    return finite;
  }

  // the motion that efforts drive: accelerations and their derivatives one after the other, that of order k from rows up to
  // k + 1; results of the wanted order need no more than order - 1
  bool drive() {
    if (!motion_.driven()) return true;
    Job dynamics = job_;
    dynamics.function = Function::forward_dynamics;
    if (job_.function != Function::forward_dynamics) dynamics.method = Method::aba;
    for (int k = 0; k < motion_.order; ++k) {
      if (!evaluate_at(dynamics, k, &acceleration_)) return false;
      for (int i = 0; i < n_; ++i) q_.row(k + 2)[i] = acceleration_[i].coefficient(k) * Packed(factorial(k));
    }
    return true;
  }

  // false: a pivot is too small
  bool evaluate_at(const Job& job, int degree, Moving* const* out) {
    Inputs<Moving> in;
    for (const Param p : row_of(job.function).params) {
      if (!is_array(p) || !is_of_motion(p)) continue;
      make_series(q_, index_of(p) - index_of(Param::q), degree, series_[index_of(p)]);
      in[p] = series_[index_of(p)];
    }
    for (int k = 0; k < others_; ++k) {
      make_series(other_[k], 0, degree, series_[index_of(param_[k])]);
      in[param_[k]] = series_[index_of(param_[k])];
    }
    for (int k = 0; k < job_.external_count; ++k) make_series(loads_[k], 0, degree, external_ + 6 * k);
    in.external = external_;
    evaluate<Moving>(job, in, out, pivot_, scratch_);
    if (row_of(job.function).has(kSolves))
      for (int b = 0; b < n_; ++b)
        if (!all_above(&pivot_[b][0], 1, job.chain->tiny_pivot()[b])) return false;
    return true;
  }

  // false: a result is not finite
  bool write(std::ptrdiff_t row, std::ptrdiff_t count) {
    for (int r = 0; r < results.count; ++r) {
      if (!out_[r]) continue;
      const std::ptrdiff_t size = output_size(job_, r);
      for (int k = 0; k <= motion_.order; ++k) {
        const Packed scale(factorial(k));
        for (std::ptrdiff_t i = 0; i < size; ++i) derivative_[r][k * size + i] = out_[r][i].coefficient(k) * scale;
      }
    }
    return results.write(derivative_, row, count);
  }

  // the function itself
  Failure plain(std::ptrdiff_t row) {
    Rows one;
    const double* const q = rows_[Param::q].row(row);
    for (const Param p : row_.params) {
      if (!is_array(p)) continue;
      if (is_of_motion(p))
        one[p] = {q + static_cast<std::ptrdiff_t>(index_of(p) - index_of(Param::q)) * n_, 0};
      else if (rows_[p].data)
        one[p] = {rows_[p].row(row), 0};
    }
    RowData* loads = scratch_.take<RowData>(job_.external_count);
    for (int k = 0; k < job_.external_count; ++k) loads[k] = {rows_.external[k].row(row), 0};
    one.external = loads;
    for (int k = 0; k < results.count; ++k)
      if (results.out[k]) one.out[k] = scratch_.take<double>(output_size(job_, k));
    one.count = 1;
    return run_chain(job_, one, 0, 1);
  }

  const MotionJob& motion_;
  const Job& job_;
  const FunctionRow& row_;
  const Rows& rows_;
  const int n_;
  Scratch& scratch_;
  Derivatives q_{}, other_[kInputs], *loads_ = nullptr;
  Param param_[kInputs];  // of the others
  int others_ = 0;
  Moving* series_[kInputs] = {};
  Moving *external_ = nullptr, *pivot_ = nullptr, *acceleration_ = nullptr, *out_[kMostOutputs] = {};
  Packed* derivative_[kMostOutputs] = {};
};

}  // namespace

Failure run_motion(const MotionJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  MotionRows work(job, rows, scratch);
  return run_over(work, rows, begin, end, scratch);
}

}  // namespace zveno
