// States of a linkage: one as doubles, several side by side in the lanes.
#include <zveno/batch/rows.hpp>

#include <algorithm>
#include <cmath>
#include <new>

#include <zveno/batch/program.hpp>
#include <zveno/functions/linkage_evaluation.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

// the tables of a pack would take too much memory beyond this
constexpr int kLargestPacked = 128;

// Columns of docs/constraints.md (L38) and (L40) by duals, kLanes directions at a time
void derivatives(const LinkageJob& job, const LinkageInputs<double>& in, const double* multiplier, double* const* out,
                 Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = job.linkage->chain().n(), m = job.linkage->rows(), numbers = job.linkage->given();
  constexpr Param kWith[3] = {Param::q, Param::qd, Param::qdd};
  LinkageInputs<Derived> derived;
  Derived* x[3];
  for (int k = 0; k < 3; ++k) derived[kWith[k]] = x[k] = scratch.take<Derived>(n);
  Derived* told = scratch.take<Derived>(numbers);
  derived.given = told;
  Derived* N = scratch.take<Derived>(m);
  for (int i = 0; i < m; ++i) N[i] = multiplier[i];
  Derived *force = scratch.take<Derived>(n), *fdd = scratch.take<Derived>(m), *fd = scratch.take<Derived>(m);
  const auto column = [n](double* to, const Derived* from, int rows, int j, int lane) {
    for (std::ptrdiff_t i = 0; to && i < rows; ++i) to[i * n + j] = from[i].g[lane];
  };
  for (int first = 0; first < n; first += kLanes) {
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < n; ++j) x[k][j] = in[kWith[k]][j];
    for (int i = 0; i < numbers; ++i) told[i] = in.given[i];
    const int count = std::min(kLanes, n - first);
    for (int d = 0; d < count; ++d) {
      const std::ptrdiff_t by = first + d;
      x[0][by].g.v[d] = 1.0;
      for (int i = 0; i < numbers; ++i) told[i].g.v[d] = in.given[(1 + by) * numbers + i];
    }
    constraint_terms<Derived>(job, derived, N, force, fdd, fd, scratch);
    for (int d = 0; d < count; ++d) {
      column(out[0], force, n, first + d, d);
      column(out[1], fdd, m, first + d, d);
      column(out[2], fd, m, first + d, d);
    }
  }
}

class LinkageRows {
 public:
  Results results;

  LinkageRows(const LinkageJob& job, const Rows& rows, Scratch& scratch)
      : results(job, rows), job_(job), linkage_(*job.linkage), rows_(rows), scratch_(scratch) {
    const int n = linkage_.chain().n();
    for (const Param p : row_of(job.function).params)
      if (is_array(p) && p != Param::t && rows[p].data) input_[inputs_++] = {p, p <= Param::tau ? n : input_size(job, p)};
    if (linkage_.given()) input_[inputs_++] = {Param::given, input_size(job, Param::given)};
  }

  bool in_lanes(std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return end - begin > 1 && !derives() && linkage_.chain().n() + linkage_.rows() <= kLargestPacked;
  }

  Failure single(std::ptrdiff_t row) {
    LinkageInputs<double> in;
    const double* multiplier = nullptr;
    bool finite = true;
    for (int k = 0; k < inputs_; ++k) {
      const double* x = rows_[input_[k].param].row(row);
      if (input_[k].param == Param::multiplier)
        multiplier = x;
      else
        place(in, input_[k].param) = x;
      if (rows_.check_inputs) finite &= all_finite(x, input_[k].size);
    }
    if (const int count = job_.tree.external_count) {
      double* wrench = scratch_.take<double>(6 * count);
      for (int k = 0; k < count; ++k) std::copy_n(rows_.external[k].row(row), 6, wrench + 6 * k);
      if (rows_.check_inputs) finite &= all_finite(wrench, 6 * count);
      in.external = wrench;
    }
    if (!finite) return {Cause::input};
    double* out[kMostOutputs];
    for (int k = 0; k < results.count; ++k) out[k] = results.row(k, row);
    double* judged = scratch_.take<double>(judged_size(job_));
    if (derives())
      derivatives(job_, in, multiplier, out, scratch_);
    else if (!solves() || linkage_.chosen())
      evaluate_linkage(job_, linkage_.choice(), in, out, judged, scratch_);
    if (solves()) {
      Failure f = linkage_.chosen() ? judge(judged) : Failure{Cause::deficient};
      if (f.cause == Cause::deficient) f = chosen_here(in, out, judged);
      if (f.cause == Cause::slips) tell(in, f);
      if (f) return f;
    }
    for (int k = 0; k < results.count; ++k)
      if (out[k] && !all_finite(out[k], results.size[k])) return {Cause::overflow};
    return {};
  }

  void prepare() {
    in_ = ::new (scratch_.take<LinkageInputs<Packed>>(1)) LinkageInputs<Packed>;
    for (int k = 0; k < inputs_; ++k) place(*in_, input_[k].param) = packs_[k] = scratch_.take<Packed>(input_[k].size);
    in_->external = external_ = scratch_.take<Packed>(6 * job_.tree.external_count);
    for (int k = 0; k < results.count; ++k) out_[k] = results.out[k] ? scratch_.take<Packed>(results.size[k]) : nullptr;
    judged_ = scratch_.take<Packed>(judged_size(job_));
  }

  bool lanes(std::ptrdiff_t row, std::ptrdiff_t end, std::ptrdiff_t count) {
    if (solves() && !linkage_.chosen()) return false;
    bool finite = true;
    const auto read = [&](const RowData& data, int numbers, Packed* to) {
      gather(data, row, end, numbers, to);
      if (rows_.check_inputs) finite &= all_finite_lanes(to, numbers);
    };
    for (int k = 0; k < inputs_; ++k) read(rows_[input_[k].param], input_[k].size, packs_[k]);
    for (int k = 0; k < job_.tree.external_count; ++k) read(rows_.external[k], 6, external_ + 6 * k);
    if (!finite) return false;
    evaluate_linkage<Packed>(job_, linkage_.choice(), *in_, out_, judged_, scratch_);
    return trusts(judged_) && results.write(out_, row, count);
  }

  // of packs, whether all may be trusted
  bool trusts(const Packed* judged) const {
    if (!solves()) return true;
    const Chain& chain = linkage_.chain();
    for (int b = 0; b < chain.n(); ++b)
      if (!all_above(judged + b, 1, chain.tiny_pivot()[b])) return false;
    const int m = linkage_.rows();
    return !m || all_above(judged + chain.n(), job_.anywhere ? m : 2 * m + 1, 0.0);
  }
  Failure judge(const double* judged) const { return solves() ? judge(judged, true) : Failure{}; }

 private:
  template <class T>
  static const T*& place(LinkageInputs<T>& in, Param p) {
    return p == Param::given ? in.given : p == Param::drive ? in.drive : in[p];
  }

  // duals fill the lanes by themselves
  bool derives() const { return job_.function == LinkageFunction::constraint_derivatives; }
  bool solves() const { return judged_size(job_) > 0; }

  Failure judge(const double* judged, bool of_choice) const {
    const Chain& chain = linkage_.chain();
    const int n = chain.n(), m = linkage_.rows();
    for (int b = n; b-- > 0;)
      if (!(judged[b] > chain.tiny_pivot()[b])) {
        if (std::isfinite(judged[b])) return {Cause::massless, -1, chain.user_index()[b]};
        // a row with nothing left spoils what carries its group
        for (int i = 0; i < m && of_choice; ++i)
          if (judged[n + i] <= 0) return {Cause::deficient, -1, linkage_.constraint_of_row(i)};
        return {Cause::overflow};
      }
    const double open = linkage_.open();
    for (int i = 0; i < m && !job_.anywhere; ++i)
      if (!(judged[n + m + i] > 0))
        return {Cause::open, -1, linkage_.constraint_of_row(i), std::sqrt(open * open - judged[n + m + i])};
    if (!job_.anywhere && !(judged[n + 2 * m] > 0)) return {Cause::slips};
    for (int i = 0; i < m && of_choice; ++i)
      if (!(judged[n + i] > 0)) return {Cause::deficient, -1, linkage_.constraint_of_row(i)};
    return {};
  }

  // which constraint the rates violate most
  void tell(const LinkageInputs<double>& in, Failure& f) {
    const Scratch::Frame frame(scratch_);
    double* fd = scratch_.take<double>(linkage_.rows());
    LinkageJob job = job_;
    job.function = LinkageFunction::constraint_velocity;
    evaluate_linkage(job, linkage_.choice(), in, &fd, static_cast<double*>(nullptr), scratch_);
    for (int i = 0; i < linkage_.rows(); ++i)
      if (!(std::fabs(fd[i]) <= f.margin)) f.margin = std::fabs(fd[i]), f.part = linkage_.constraint_of_row(i);
  }

  // rows that do at this state, where those of the linkage do not
  Failure chosen_here(const LinkageInputs<double>& in, double* const* out, double* judged) {
    const Scratch::Frame frame(scratch_);
    const int n = linkage_.chain().n(), m = linkage_.rows();
    double* G = scratch_.take<double>(static_cast<std::size_t>(m) * n);
    double* f = scratch_.take<double>(m);
    LinkageJob job = job_;
    job.function = LinkageFunction::constraint_jacobian;
    evaluate_linkage(job, linkage_.choice(), in, &G, static_cast<double*>(nullptr), scratch_);
    job.function = LinkageFunction::residual;
    evaluate_linkage(job, linkage_.choice(), in, &f, static_cast<double*>(nullptr), scratch_);
    RowChoice choice;
    if (!job_.choose(linkage_, G, f, choice)) return {Cause::deficient};
    evaluate_linkage(job_, choice, in, out, judged, scratch_);
    return judge(judged, false);
  }

  struct Input {
    Param param;
    int size;
  };

  const LinkageJob& job_;
  const Linkage& linkage_;
  const Rows& rows_;
  Scratch& scratch_;
  Input input_[kChainInputs + 2];
  int inputs_ = 0;
  // of packs
  LinkageInputs<Packed>* in_ = nullptr;
  Packed *packs_[kChainInputs + 2], *external_ = nullptr, *out_[kMostOutputs], *judged_ = nullptr;
};

// rows of machine code that are refused are left to the kernels, which may choose other equations
struct Judged {
  LinkageRows& kernel;

  template <class T>
  bool takes(const T* const*) const {
    return true;
  }
  Failure finish(double* const*, const double* judged) const { return kernel.judge(judged); }
  bool finish_lanes(Packed* const*, const Packed* judged) const { return kernel.trusts(judged); }
  Failure explain(std::ptrdiff_t row, const Failure&) const { return kernel.single(row); }
};

}  // namespace

Failure run_linkage(const LinkageJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Scratch& scratch = Scratch::of_this_thread();
  const Scratch::Frame frame(scratch);
  LinkageRows work(job, rows, scratch);
  if (job.program) {
    Judged judge{work};
    return run_program(job, rows, begin, end, judge, scratch);
  }
  return run_over(work, rows, begin, end, scratch);
}

}  // namespace zveno
