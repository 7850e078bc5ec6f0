// Definitions, for the files that instantiate them.
#pragma once

#include <zveno/functions/linkage_evaluation.hpp>

namespace zveno {

template <class T>
void evaluate_linkage(const LinkageJob& job, const RowChoice& choice, const LinkageInputs<T>& in, T* const* out, T* judged,
                      Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  LinkageEvaluation<T>(job, choice, in, scratch)(out, judged);
}

template <class T>
void constraint_terms(const LinkageJob& job, const LinkageInputs<T>& in, const T* multiplier, T* force, T* fdd, T* fd,
                      Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  LinkageEvaluation<T>(job, job.linkage->choice(), in, scratch).constraint_terms(multiplier, force, fdd, fd);
}

}  // namespace zveno
