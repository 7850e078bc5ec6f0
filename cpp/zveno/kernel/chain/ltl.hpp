// M = L' D L along the tree, without pivoting: M is positive definite, and L has the sparsity of the ancestors,
// docs/chains.md (8.6).
// Featherstone's branch-induced factorisation; row i of L touches the ancestors of body i only.
#pragma once

#include <zveno/model/topology.hpp>
#include <zveno/scalar/block.hpp>
#include <zveno/support/scratch.hpp>

#include <algorithm>
#include <cstddef>

namespace zveno {

// lower triangle of M -> D on the diagonal, L (unit diagonal) below; reciprocal: n, D^-1, or null
template <class T>
void ltl(const Topology& topology, T* M, T* reciprocal = nullptr) {
  const int n = topology.size();
  auto row = [&](int i) { return M + static_cast<std::ptrdiff_t>(i) * n; };
  for (int k = n; k-- > 0;) {
    const T inverse = T(1.0) / row(k)[k];
    if (reciprocal) reciprocal[k] = inverse;
    for (int i = topology.parent[k]; i != kWorld; i = topology.parent[i]) {
      const T a = row(k)[i] * inverse;
      T *Mi = row(i), *Mk = row(k);
      // ancestors of i and i itself
      for (int r = topology.first_run[i]; r < topology.first_run[i + 1]; ++r) {
        const Span run = topology.ancestor_runs[r];
        ZVENO_INDEPENDENT
        for (int j = run.begin; j < run.end; ++j) Mi[j] -= a * Mk[j];
      }
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

// M^-1 = B D^-1 B', B = L^-1, with the factors of ltl; docs/derivatives.md (D4.16). Row by row, neighbours at once: B is
// kept by columns too.
template <class T>
void ltl_inverse(const Topology& topology, const T* M, T* inverse, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = topology.size();
  T* B = scratch.take<T>(n * n);        // below the diagonal
  T* columns = scratch.take<T>(n * n);  // of B, as rows
  T* reciprocal = scratch.take<T>(n);   // D^-1
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    T *Bi = B + i * n, *to = inverse + i * n;
    reciprocal[i] = T(1.0) / M[i * n + i];
    for (std::ptrdiff_t j = 0; j < i; ++j) Bi[j] = to[j] = T(0.0);
    for (int k = topology.parent[i]; k != kWorld; k = topology.parent[k]) {
      const T a = M[i * n + k], *Bk = B + k * n;
      Bi[k] -= a;
      for (int r = topology.first_run[k]; r < topology.first_run[k + 1]; ++r) {
        const Span run = topology.ancestor_runs[r];
        ZVENO_INDEPENDENT
        for (int j = run.begin; j < run.end; ++j) Bi[j] -= a * Bk[j];
      }
    }
    for (std::ptrdiff_t j = 0; j < i; ++j) columns[j * n + i] = Bi[j];
    T own = reciprocal[i];
    for (int r = topology.first_run[i]; r < topology.first_run[i + 1]; ++r)
      for (int k = topology.ancestor_runs[r].begin; k < topology.ancestor_runs[r].end; ++k) {
        const T a = Bi[k] * reciprocal[k], *from = columns + k * n;
        own += a * Bi[k];
        to[k] += a;
        ZVENO_INDEPENDENT
        for (std::ptrdiff_t j = k + 1; j < i; ++j) to[j] += a * from[j];
      }
    to[i] = own;
    for (std::ptrdiff_t j = 0; j < i; ++j) inverse[j * n + i] = to[j];
  }
}

namespace detail {

// kRows x kStep elements of C from row i and column j on
template <int kRows, class T>
ZVENO_INLINE void multiply_block(const T* A, const T* B, T* C, std::ptrdiff_t n, std::ptrdiff_t i, std::ptrdiff_t j) {
  using W = typename Wide<T>::type;
  W sum[kRows];
  const W first = Wide<T>::load(B + j);
  for (int r = 0; r < kRows; ++r) sum[r] = W(A[(i + r) * n]) * first;
  for (std::ptrdiff_t k = 1; k < n; ++k) {
    const W row = Wide<T>::load(B + k * n + j);
    for (int r = 0; r < kRows; ++r) sum[r] += W(A[(i + r) * n + k]) * row;
  }
  for (int r = 0; r < kRows; ++r) Wide<T>::store(C + (i + r) * n + j, sum[r]);
}

}  // namespace detail

// C = A B, n x n matrices that share no memory
template <class T>
void multiply(const T* A, const T* B, T* C, std::ptrdiff_t n) {
  constexpr int kStep = Wide<T>::kStep, kRows = 4;
  if (n < kStep) {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        T sum = A[i * n] * B[j];
        for (std::ptrdiff_t k = 1; k < n; ++k) sum += A[i * n + k] * B[k * n + j];
        C[i * n + j] = sum;
      }
    return;
  }
  for (std::ptrdiff_t next = 0; next < n; next += kStep) {
    const std::ptrdiff_t j = std::min(next, n - kStep);  // the last step ends with the row
    std::ptrdiff_t i = 0;
    for (; i + kRows <= n; i += kRows) detail::multiply_block<kRows>(A, B, C, n, i, j);
    for (; i < n; ++i) detail::multiply_block<1>(A, B, C, n, i, j);
  }
}

}  // namespace zveno
