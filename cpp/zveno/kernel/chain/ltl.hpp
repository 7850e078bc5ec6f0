// M = L' D L along the tree, without pivoting: M is positive definite, and L has the sparsity of the ancestors,
// docs/chains.md (8.6).
// Featherstone's branch-induced factorisation; row i of L touches the ancestors of body i only.
#pragma once

#include <zveno/model/topology.hpp>
#include <zveno/support/scratch.hpp>

#include <cstddef>

namespace zveno {

// lower triangle of M -> D on the diagonal, L (unit diagonal) below
template <class T>
void ltl(const Topology& topology, T* M) {
  const int n = topology.size();
  auto row = [&](int i) { return M + static_cast<std::ptrdiff_t>(i) * n; };
  for (int k = n; k-- > 0;) {
    const T inverse = T(1.0) / row(k)[k];
    for (int i = topology.parent[k]; i != kWorld; i = topology.parent[i]) {
      const T a = row(k)[i] * inverse;
      T *Mi = row(i), *Mk = row(k);
      // ancestors of i and i itself
      for (int r = topology.first_run[i]; r < topology.first_run[i + 1]; ++r)
        for (int j = topology.ancestor_runs[r].begin; j < topology.ancestor_runs[r].end; ++j) Mi[j] -= a * Mk[j];
      Mi[i] -= a * Mk[i];
      Mk[i] = a;
    }
  }
}

// M x = x in place, with the factors of ltl
template <class T>
void ltl_solve(const Topology& topology, const T* M, T* x) {
  const int n = topology.size();
  auto row = [&](int i) { return M + static_cast<std::ptrdiff_t>(i) * n; };
  for (int i = n; i-- > 0;)  // L' y = x
    for (int j = topology.parent[i]; j != kWorld; j = topology.parent[j]) x[j] -= row(i)[j] * x[i];
  for (int i = 0; i < n; ++i) x[i] = x[i] / row(i)[i];
  for (int i = 0; i < n; ++i)  // L z = y
    for (int j = topology.parent[i]; j != kWorld; j = topology.parent[j]) x[i] -= row(i)[j] * x[j];
}

}  // namespace zveno
