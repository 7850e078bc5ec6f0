// Definitions, for the files that instantiate them.
#pragma once

#include <zveno/functions/chain_evaluation.hpp>

namespace zveno {

template <class T>
void evaluate(const Job& job, const Inputs<T>& in, T* const* out, T* pivot, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  ChainEvaluation<T>(job, job.chain->view(), in, scratch)(out, pivot);
}

template <class T>
void inverse_dynamics(const Job& job, const Inputs<T>& in, T* tau, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  ChainEvaluation<T>(job, job.chain->view(), in, scratch).inverse_dynamics(tau);
}

}  // namespace zveno
