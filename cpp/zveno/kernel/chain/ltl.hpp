// M = L' D L along the tree, without pivoting: M is positive definite, and L has the sparsity of the ancestors,
// docs/chains.md (8.6).
// Featherstone's branch-induced factorisation; row i of L touches the ancestors of body i only.
#pragma once

#include <zveno/kernel/chain/mirror.hpp>
#include <zveno/model/topology.hpp>
#include <zveno/scalar/block.hpp>
#include <zveno/support/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace zveno {

// length of rows that whole groups of neighbours fill
template <class T>
constexpr std::ptrdiff_t wide_stride(std::ptrdiff_t n) {
  return (n + Wide<T>::kStep - 1) / Wide<T>::kStep * Wide<T>::kStep;
}
// n x n, of stride n or wide_stride(n), with room for what is read beyond the last row
template <class T>
T* take_square(std::ptrdiff_t n, Scratch& scratch) {
  return scratch.take<T>(static_cast<std::size_t>(wide_stride<T>(n) * wide_stride<T>(n)));
}

// lower triangle of M, from take_square -> D on the diagonal, L (unit diagonal) below; above it anything. reciprocal: n,
// D^-1, or null
template <class T>
void ltl(const Topology& topology, T* M, std::ptrdiff_t stride, T* reciprocal = nullptr) {
  using V = Wide<T>;
  using W = typename V::type;
  constexpr int kStep = V::kStep;
  const int n = topology.size();
  for (int k = n; k-- > 0;) {
    T* const Mk = M + k * stride;
    const T inverse = T(1.0) / Mk[k];
    if (reciprocal) reciprocal[k] = inverse;
    for (int i = topology.parent[k]; i != kWorld; i = topology.parent[i]) {
      T* const Mi = M + i * stride;
      const T a = Mk[i] * inverse;
      for (int j = 0; j <= i; j += kStep)
        if (kStep > 1 || i < topology.end[j])
          V::store(Mi + j, static_cast<int>(stride) - j, V::load(Mi + j) - W(a) * V::load(Mk + j));
      if (kStep == 1) Mk[i] = a;
    }
    for (int j = 0; kStep > 1 && j < k; j += kStep) {
      const W row = V::load(Mk + j);
      V::store(Mk + j, static_cast<int>(stride) - j, V::chosen(V::first(k - j), row * W(inverse), row));
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

namespace detail {

// row by row: what is added to the elements of a row does not wait for each other
template <class T>
void ltl_inverse_singly(const Topology& topology, const T* M, const T* reciprocal, T* inverse, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = topology.size();
  T* const B = scratch.take<T>(n * n);  // below its diagonal
  const auto for_ancestors = [&](std::ptrdiff_t i, const auto& f) ZVENO_INLINED {
    for (int r = topology.first_run[i]; r < topology.first_run[i + 1]; ++r)
      for (std::ptrdiff_t k = topology.ancestor_runs[r].begin; k < topology.ancestor_runs[r].end; ++k) f(k);
  };
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    T* const row = B + i * n;
    for (std::ptrdiff_t j = 0; j < i; ++j) row[j] = T(0.0);
    for (std::ptrdiff_t k = topology.parent[i]; k != kWorld; k = topology.parent[k]) {
      const T a = M[i * n + k];
      const T* const from = B + k * n;
      for_ancestors(k, [&](std::ptrdiff_t j) ZVENO_INLINED { row[j] -= a * from[j]; });
      row[k] -= a;
    }
  }
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    T* const row = inverse + i * n;
    for (std::ptrdiff_t j = 0; j < i; ++j) row[j] = T(0.0);
    row[i] = reciprocal[i];
    for_ancestors(i, [&](std::ptrdiff_t k) ZVENO_INLINED {
      const T weight = B[i * n + k] * reciprocal[k];
      row[k] += weight;
      for (std::ptrdiff_t j = k + 1; j <= i; ++j) row[j] += weight * B[j * n + k];
    });
  }
}

// neighbours in a row at once: then B has ones on its diagonal, and is kept by columns too
template <class T>
void ltl_inverse_widely(const Topology& topology, const T* M, const T* reciprocal, T* inverse, Scratch& scratch) {
  using V = Wide<T>;
  using W = typename V::type;
  constexpr int kStep = V::kStep;
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = topology.size(), stride = (n + kStep - 1) / kStep * kStep;
  T* B = scratch.take<T>(stride * stride);
  T* columns = scratch.take<T>(stride * stride);  // of B, as rows
  T* weight = scratch.take<T>(stride);
  const W zero(0.0), one(1.0);
  for (std::ptrdiff_t k = n * stride; k < stride * stride; k += kStep) V::store(B + k, zero);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; j += kStep) {
      W sum = zero;
      for (int k = topology.parent[i]; k >= j; k = topology.parent[k])
        sum -= W(M[i * stride + k]) * V::load(B + k * stride + j);
      sum = V::chosen(V::first(i - j), sum, V::chosen(V::first(i - j + 1), one, zero));
      V::store(B + i * stride + j, sum);
    }
  }
  for (std::ptrdiff_t i = 0; i < stride; i += kStep)
    for (std::ptrdiff_t j = 0; j <= i; j += kStep)
      Block<T>::transpose(B + i * stride + j, stride, columns + j * stride + i, stride);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (int r = topology.first_run[i]; r < topology.first_run[i + 1]; ++r)
      for (int k = topology.ancestor_runs[r].begin; k < topology.ancestor_runs[r].end; ++k)
        weight[k] = B[i * stride + k] * reciprocal[k];
    for (int j = 0; j <= i; j += kStep) {
      const int own = static_cast<int>(i) - j;
      W sum = V::chosen(V::first(own), zero, V::chosen(V::first(own + 1), W(reciprocal[i]), zero));
      for (int r = topology.first_run[i]; r < topology.first_run[i + 1]; ++r)
        for (int k = topology.ancestor_runs[r].begin; k < topology.ancestor_runs[r].end && k < j + kStep; ++k)
          sum += W(weight[k]) * V::load(columns + k * stride + j);
      V::store(inverse + i * stride + j, sum);
    }
  }
}

}  // namespace detail

// M^-1 = B D^-1 B', B = L^-1, with the factors of ltl; docs/derivatives.md (D4.16). reciprocal: D^-1. M and the inverse are
// of wide_stride and may be the same memory; of the inverse the lower triangle.
template <class T>
void ltl_inverse(const Topology& topology, const T* M, const T* reciprocal, T* inverse, Scratch& scratch) {
  if constexpr (Wide<T>::kStep == 1)
    detail::ltl_inverse_singly(topology, M, reciprocal, inverse, scratch);
  else
    detail::ltl_inverse_widely(topology, M, reciprocal, inverse, scratch);
}

// y = A x, A symmetric, of wide_stride; y has room for as many
template <class T>
void multiply_symmetric(const T* A, const T* x, T* y, std::ptrdiff_t n) {
  using V = Wide<T>;
  using W = typename V::type;
  const std::ptrdiff_t stride = wide_stride<T>(n);
  for (std::ptrdiff_t i = 0; i < n; i += V::kStep) {
    W sum = W(x[0]) * V::load(A + i);
    for (std::ptrdiff_t k = 1; k < n; ++k) sum += W(x[k]) * V::load(A + k * stride + i);
    V::store(y + i, sum);
  }
}

// rows of a product whose sums fit the registers
constexpr int kProductRows = kLanes == 8 ? 8 : 4;

namespace detail {

// f(kMost consecutive numbers at a time from 0 on, and what is left of `count`): f(first, how many as a constant)
template <int kMost, class F>
ZVENO_INLINE void in_groups(std::ptrdiff_t count, const F& f) {
  std::ptrdiff_t first = 0;
  for (; first + kMost <= count; first += kMost) f(first, std::integral_constant<int, kMost>());
  if constexpr (kMost > 1) {
    const auto rest = [&](auto&& self, auto size) ZVENO_INLINED {
      if (count - first == size.value) return f(first, size);
      if constexpr (size.value > 1) self(self, std::integral_constant<int, size.value - 1>());
    };
    rest(rest, std::integral_constant<int, kMost - 1>());
  }
}

// kRows x kStep elements of each product from row i and column j on
template <int kRows, int kProducts, class T>
ZVENO_INLINE void multiply_block(const T* A, const T* const* B, T* const* C, std::ptrdiff_t n, std::ptrdiff_t i,
                                 std::ptrdiff_t j) {
  using V = Wide<T>;
  using W = typename V::type;
  const std::ptrdiff_t stride = wide_stride<T>(n);
  W sum[kProducts][kRows];
  for (int p = 0; p < kProducts; ++p) {
    const W row = V::load(B[p] + j);
    for (int r = 0; r < kRows; ++r) sum[p][r] = W(A[i + r]) * row;
  }
  const T* a = A + i;  // symmetric: column by column
  const T* b[kProducts];
  for (int p = 0; p < kProducts; ++p) b[p] = B[p] + j;
  ZVENO_ROLLED
  for (std::ptrdiff_t k = 1; k < n; ++k) {
    a += stride;
    W row[kProducts];
    for (int p = 0; p < kProducts; ++p) row[p] = V::load(b[p] += n);
    for (int r = 0; r < kRows; ++r)
      for (int p = 0; p < kProducts; ++p) sum[p][r] += W(a[r]) * row[p];
  }
  for (int p = 0; p < kProducts; ++p)
    for (int r = 0; r < kRows; ++r) V::store(C[p] + (i + r) * n + j, static_cast<int>(n - j), -sum[p][r]);
}

}  // namespace detail

// C = -A B of kProducts n x n matrices B from take_square; A symmetric, of wide_stride. C may be B up to kProductRows,
// otherwise none is in the memory of another.
template <int kProducts, class T>
void multiply_negated(const T* A, const T* const* B, T* const* C, std::ptrdiff_t n) {
  for (std::ptrdiff_t j = 0; j < n; j += Wide<T>::kStep)
    detail::in_groups<kProductRows>(n, [&](std::ptrdiff_t i, auto rows) ZVENO_INLINED {
      detail::multiply_block<rows.value, kProducts>(A, B, C, n, i, j);
    });
}

}  // namespace zveno
