// Rows through machine code that was made for a job: one by one, or one state per lane.
#pragma once

#include <zveno/batch/run.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {

// A Judge knows the mechanism:
//   bool takes(in)                  whether arguments are acceptable, doubles or packs; finite they are
//   Failure finish(out, judged)     completes the results of a state and judges them; finite they need not be
//   bool finish_lanes(out, judged)  the same of packs
//   Failure explain(row, failure)   of a row that was refused
template <class J, class Judge>
class ProgramRows {
 public:
  Results results;

  ProgramRows(const J& job, const Rows& rows, Judge& judge, Scratch& scratch)
      : results(job, rows), program_(*job.program), pieces_(pieces_of(job)), judge_(judge), scratch_(scratch) {
    results.later = program_.passing;
    argument_ = scratch.take<Argument>(most_arguments(job));
    for_arguments(job, rows, [&](const RowData& data, int size) {
      argument_[count_++] = {data, size};
      numbers_ += size;
    });
  }

  bool in_lanes(std::ptrdiff_t begin, std::ptrdiff_t end) const { return end - begin > 1; }

  Failure single(std::ptrdiff_t row) {
    const Failure failure = program_.one ? one(row) : Failure{Cause::input};
    return failure ? judge_.explain(row, failure) : failure;
  }

  void prepare() {
    input_ = scratch_.take<Packed>(numbers_);
    in_ = scratch_.take<const Packed*>(count_);
    const Packed* from = input_;
    for (int k = 0; k < count_; from += argument_[k++].size) in_[k] = from;
    for (int k = 0; k < results.count; ++k) out_[k] = results.out[k] ? scratch_.take<Packed>(results.size[k]) : nullptr;
    judged_ = scratch_.take<Packed>(pieces_.judged);
    list(out_, judged_, to_);
  }

  bool lanes(std::ptrdiff_t row, std::ptrdiff_t end, std::ptrdiff_t count) {
    Packed* to = input_;
    for (int k = 0; k < count_; to += argument_[k++].size) gather(argument_[k].data, row, end, argument_[k].size, to);
    // results of a program need not depend on every argument
    if (!all_finite_lanes(input_, numbers_) || !judge_.takes(in_)) return false;
    const auto in = reinterpret_cast<const double* const*>(in_);
    if (const Vectors* waiting = results.waiting())
      program_.passing(in, to_, waiting), results.passed();
    else
      program_.packs(in, to_);
    return judge_.finish_lanes(out_, judged_) && results.write(out_, row, count);
  }

 private:
  struct Argument {
    RowData data;
    int size;
  };

  template <class T>
  void list(T* const* out, T* judged, double** to) const {
    for (const Pieces::Piece& p : pieces_) *to++ = reinterpret_cast<double*>(place_of(p, out, judged));
  }

  Failure one(std::ptrdiff_t row) {
    const double** in = scratch_.take<const double*>(count_);
    double* judged = scratch_.take<double>(pieces_.judged);
    bool finite = true;
    for (int k = 0; k < count_; ++k) {
      in[k] = argument_[k].data.row(row);
      finite &= all_finite(in[k], argument_[k].size);
    }
    if (!finite || !judge_.takes(in)) return {Cause::input};
    double *out[kMostOutputs], *to[Pieces::kMost];
    for (int k = 0; k < results.count; ++k) out[k] = results.row(k, row);
    list(out, judged, to);
    program_.one(in, to);
    Failure failure = judge_.finish(out, judged);
    for (int k = 0; !failure && k < results.count; ++k)
      if (out[k] && !all_finite(out[k], results.size[k])) failure.cause = Cause::overflow;
    return failure;
  }

  const Program& program_;
  const Pieces pieces_;
  Judge& judge_;
  Scratch& scratch_;
  Argument* argument_;
  int count_ = 0, numbers_ = 0;
  // of packs
  Packed *input_, *out_[kMostOutputs], *judged_;
  const Packed** in_;
  double* to_[Pieces::kMost];
};

template <class J, class Judge>
Failure run_program(const J& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end, Judge& judge,
                    Scratch& scratch) {
  ProgramRows<J, Judge> work(job, rows, judge, scratch);
  return run_over(work, rows, begin, end, scratch);
}

}  // namespace zveno
