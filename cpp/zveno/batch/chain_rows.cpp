// States of a chain: one as doubles, several side by side in the lanes.
#include <zveno/batch/rows.hpp>

#include <cmath>
#include <new>

#include <zveno/batch/pivots.hpp>
#include <zveno/batch/program.hpp>
#include <zveno/functions/chain_evaluation.hpp>

namespace zveno {
namespace {

// Beyond these sizes a matrix is computed state by state: for CRBA and derivatives the double kernel's own loops are then
// long enough for SIMD, and otherwise the tables of a pack would take hundreds of megabytes.
constexpr int kLargestPackedPairs = 64, kLargestPackedSolve = 48, kLargestPackedMatrix = 256, kLargestPackedCube = 64,
              kLargestPackedQuartic = 20;

int largest_packed(const Job& job) {
  if (job.function == Function::forward_derivatives) return kLargestPackedSolve;
  if (job.method == Method::crba || job.method == Method::sweep) return kLargestPackedPairs;
  switch (row_of(job.function).cost) {
    case Cost::quadratic: return kLargestPackedMatrix;
    case Cost::cubic: return kLargestPackedCube;
    case Cost::quartic: return kLargestPackedQuartic;
    default: return job.chain->n();
  }
}

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

bool pivots_are_fine(const Chain& chain, const Packed* pivot) {
  return all_above(pivot, chain.n(), [&](int b) ZVENO_INLINED { return chain.tiny_pivot()[b]; });
}

struct ChainJudge {
  const Chain& chain;
  const bool solves;

  template <class T>
  bool takes(const T* const*) const {
    return true;
  }
  Failure finish(double* const*, const double* pivot) const { return solves ? judge_pivots(chain, pivot) : Failure{}; }
  bool finish_lanes(Packed* const*, const Packed* pivot) const { return !solves || pivots_are_fine(chain, pivot); }
  Failure explain(std::ptrdiff_t, const Failure& failure) const { return failure; }
};

class ChainRows {
 public:
  Results results;

  ChainRows(const Job& job, const Rows& rows, Scratch& scratch)
      : results(job, rows),
        job_(job),
        rows_(rows),
        n_(job.chain->n()),
        derive_(job.function == Function::derivatives && job.method == Method::dual),
        solves_(row_of(job.function).has(kSolves)),
        large_(n_ > largest_packed(job)),
        scratch_(scratch) {
    for (const Param p : row_of(job.function).params)
      if (is_array(p) && rows[p].data) input_[inputs_++] = {p, input_size(job, p)};
  }

  // duals fill the lanes by themselves
  bool in_lanes(std::ptrdiff_t begin, std::ptrdiff_t end) const { return end - begin > 1 && !large_ && !derive_; }

  Failure single(std::ptrdiff_t row) {
    Inputs<double> in;
    bool finite = true;
    for (int k = 0; k < inputs_; ++k) {
      const double* x = rows_[input_[k].param].row(row);
      in[input_[k].param] = x;
      if (rows_.check_inputs) finite &= all_finite(x, input_[k].size);
    }
    if (job_.external_count) {
      double* wrench = scratch_.take<double>(6 * job_.external_count);
      for (int k = 0; k < job_.external_count; ++k) std::copy_n(rows_.external[k].row(row), 6, wrench + 6 * k);
      if (rows_.check_inputs) finite &= all_finite(wrench, 6 * job_.external_count);
      in.external = wrench;
    }
    if (!finite) return {Cause::input};

    double* pivot = solves_ ? scratch_.take<double>(n_) : nullptr;
    double* out[kMostOutputs];
    // tiles go where the cache has them, rows from there to where it has not
    const bool apart = large_ && rows_.count > 1 && (job_.method == Method::sweep || solves_);
    for (int k = 0; k < results.count; ++k) {
      out[k] = results.row(k, row);
      if (apart && out[k]) out[k] = scratch_.take<double>(results.size[k]);
    }
    if (derive_)
      derivatives(job_, in, out, scratch_);
    else
      evaluate<double>(job_, in, out, pivot, scratch_);
    if (pivot)
      if (const Failure f = judge_pivots(*job_.chain, pivot)) return f;
    for (int k = 0; k < results.count; ++k)
      if (out[k] && !finite_result(k, out[k], results.size[k])) return {Cause::overflow};
    for (int k = 0; apart && k < results.count; ++k)
      if (out[k]) std::copy_n(out[k], results.size[k], results.row(k, row));
    return {};
  }

  void prepare() {
    in_ = ::new (scratch_.take<Inputs<Packed>>(1)) Inputs<Packed>;
    for (int k = 0; k < inputs_; ++k) (*in_)[input_[k].param] = packs_[k] = scratch_.take<Packed>(input_[k].size);
    in_->external = external_ = scratch_.take<Packed>(6 * job_.external_count);
    for (int k = 0; k < results.count; ++k) out_[k] = results.out[k] ? scratch_.take<Packed>(results.size[k]) : nullptr;
    pivot_ = solves_ ? scratch_.take<Packed>(n_) : nullptr;
  }

  bool lanes(std::ptrdiff_t row, std::ptrdiff_t end, std::ptrdiff_t count) {
    bool finite = true;
    const auto read = [&](const RowData& data, int numbers, Packed* to) {
      gather(data, row, end, numbers, to);
      if (rows_.check_inputs) finite &= all_finite_lanes(to, numbers);
    };
    for (int k = 0; k < inputs_; ++k) read(rows_[input_[k].param], input_[k].size, packs_[k]);
    for (int k = 0; k < job_.external_count; ++k) read(rows_.external[k], 6, external_ + 6 * k);
    if (!finite) return false;
    evaluate<Packed>(job_, *in_, out_, pivot_, scratch_);
    if (pivot_ && !pivots_are_fine(*job_.chain, pivot_)) return false;
    return results.write(out_, row, count);
  }

 private:
  // of a large symmetric matrix one half tells it
  bool finite_result(int k, const double* out, std::ptrdiff_t size) const {
    const bool mass = job_.function == Function::mass_matrix || (job_.function == Function::derivatives && k == 2);
    if (!large_ || !mass) return all_finite(out, size);
    bool finite = true;
    for (std::ptrdiff_t i = 0; i < n_; ++i) finite &= all_finite(out + i * n_, i + 1);
    return finite;
  }

  struct Input {
    Param param;
    int size;
  };

  const Job& job_;
  const Rows& rows_;
  const int n_;
  const bool derive_, solves_, large_;
  Scratch& scratch_;
  Input input_[kChainInputs];  // arrays that are given
  int inputs_ = 0;
  // of packs
  Inputs<Packed>* in_;
  Packed *packs_[kChainInputs], *external_, *out_[kMostOutputs], *pivot_;
};

}  // namespace

Failure run_chain(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  if (job.program) {
    const ChainJudge judge{*job.chain, row_of(job.function).has(kSolves)};
    return run_program(job, rows, begin, end, judge, scratch);
  }
  ChainRows work(job, rows, scratch);
  return run_over(work, rows, begin, end, scratch);
}

}  // namespace zveno
