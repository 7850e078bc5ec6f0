// Definitions, for the files that instantiate them.
#pragma once

#include <zveno/functions/linkage_evaluation.hpp>

namespace zveno {

template <class T>
void evaluate_linkage(const LinkageJob& job, const RowChoice& choice, const Inputs<T>& in, const T* given, T* const* out,
                      T* judged, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  LinkageEvaluation<T>(job, choice, in, given, scratch)(out, judged);
}

template <class T>
void constraint_terms(const LinkageJob& job, const Inputs<T>& in, const T* given, const T* multiplier, T* force, T* fdd,
                      T* fd, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  LinkageEvaluation<T>(job, job.linkage->choice(), in, given, scratch).constraint_terms(multiplier, force, fdd, fd);
}

}  // namespace zveno
