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

// M x = x in place, with the factors of ltl; x: n rows of `columns` right-hand sides
template <class T>
void ltl_solve(const Topology& topology, const T* M, T* x, std::ptrdiff_t columns = 1) {
  const int n = topology.size();
  auto row = [&](int i) { return M + static_cast<std::ptrdiff_t>(i) * n; };
  auto subtract = [&](int i, const T& a, int j) {  // row i of x -= a times row j
    T *to = x + i * columns, *from = x + j * columns;
    ZVENO_INDEPENDENT
    for (std::ptrdiff_t k = 0; k < columns; ++k) to[k] -= a * from[k];
  };
  for (int i = n; i-- > 0;)  // L' y = x
    for (int j = topology.parent[i]; j != kWorld; j = topology.parent[j]) subtract(j, row(i)[j], i);
  for (int i = 0; i < n; ++i)
    for (std::ptrdiff_t k = 0; k < columns; ++k) x[i * columns + k] = x[i * columns + k] / row(i)[i];
  for (int i = 0; i < n; ++i)  // L z = y
    for (int j = topology.parent[i]; j != kWorld; j = topology.parent[j]) subtract(i, row(i)[j], j);
}

// M^-1 = B D^-1 B', B = L^-1, with the factors of ltl; docs/derivatives.md (D4.16)
template <class T>
void ltl_inverse(const Topology& topology, const T* M, T* inverse, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = topology.size();
  T* B = scratch.take<T>(n * n);       // below the diagonal
  T* scaled = scratch.take<T>(n);      // row of B D^-1
  T* reciprocal = scratch.take<T>(n);  // D^-1
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    T* Bi = B + i * n;
    reciprocal[i] = T(1.0) / M[i * n + i];
    for (std::ptrdiff_t j = 0; j < i; ++j) Bi[j] = T(0.0);
    for (int k = topology.parent[i]; k != kWorld; k = topology.parent[k]) {
      const T a = M[i * n + k], *Bk = B + k * n;
      Bi[k] -= a;
      for (int r = topology.first_run[k]; r < topology.first_run[k + 1]; ++r)
        for (int j = topology.ancestor_runs[r].begin; j < topology.ancestor_runs[r].end; ++j) Bi[j] -= a * Bk[j];
    }
    for (std::ptrdiff_t j = 0; j < i; ++j) scaled[j] = Bi[j] * reciprocal[j];
    for (std::ptrdiff_t j = 0; j < i; ++j) {
      T sum = scaled[j];
      for (int r = topology.first_run[j]; r < topology.first_run[j + 1]; ++r)
        for (int k = topology.ancestor_runs[r].begin; k < topology.ancestor_runs[r].end; ++k)
          sum += scaled[k] * B[j * n + k];
      inverse[i * n + j] = inverse[j * n + i] = sum;
    }
    T sum = reciprocal[i];
    for (int r = topology.first_run[i]; r < topology.first_run[i + 1]; ++r)
      for (int k = topology.ancestor_runs[r].begin; k < topology.ancestor_runs[r].end; ++k) sum += scaled[k] * Bi[k];
    inverse[i * n + i] = sum;
  }
}

}  // namespace zveno
