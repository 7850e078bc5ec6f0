// Definition of evaluate<T>, for the files that instantiate it.
#pragma once

#include <zveno/run/evaluate.hpp>

namespace zveno {

template <class T>
void evaluate(const Job& job, const Inputs<T>& in, T* out, T* pivot, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  Evaluation<T> evaluation(job, in, scratch);
  evaluation(out, pivot);
}

}  // namespace zveno
