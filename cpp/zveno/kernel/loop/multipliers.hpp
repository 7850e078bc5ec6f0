// Accelerations and multipliers of a tree whose joints must obey G qdd + gam = 0. docs/constraints.md (L28), (L22).
//
// M = L'DL along the tree. The columns of V = L^-T G' are made orthogonal to each other with the weights D^-1, one after the
// other: a factorisation of V and not of V'D^-1 V, whose condition would be squared. No roots, no pivoting: which rows are
// active is decided before, and the caller judges the squares that are left.
#pragma once

#include <zveno/kernel/chain/ltl.hpp>

namespace zveno {

// ltl of a few joints, one number at a time: neighbours at once would wait for each other's stores
template <class T>
void ltl_small(const Topology& topology, T* M, T* reciprocal) {
  const std::ptrdiff_t n = topology.size();
  for (std::ptrdiff_t k = n; k-- > 0;) {
    T* const Mk = M + k * n;
    const T inverse = T(1.0) / Mk[k];
    reciprocal[k] = inverse;
    for (std::ptrdiff_t i = topology.parent[k]; i != kWorld; i = topology.parent[i]) {
      const T a = Mk[i] * inverse;
      for (std::ptrdiff_t j = i; j != kWorld; j = topology.parent[j]) M[i * n + j] -= a * Mk[j];
      Mk[i] = a;
    }
  }
}

// x <- L^-T x
template <class T>
void ltl_to_tree(const Topology& topology, const T* M, T* x) {
  const std::ptrdiff_t n = topology.size();
  for (int i = static_cast<int>(n); i-- > 0;)
    for (int j = topology.parent[i]; j != kWorld; j = topology.parent[j]) x[j] -= M[i * n + j] * x[i];
}
// x <- L^-1 x
template <class T>
void ltl_from_tree(const Topology& topology, const T* M, T* x) {
  const std::ptrdiff_t n = topology.size();
  for (int i = 0; i < n; ++i)
    for (int j = topology.parent[i]; j != kWorld; j = topology.parent[j]) x[i] -= M[i * n + j] * x[j];
}

template <class T>
class OrthogonalRows {
 public:
  // h: D^-1
  OrthogonalRows(int n, int most, const T* h, Scratch& scratch)
      : n_(n),
        most_(most),
        h_(h),
        v_(scratch.take<T>(static_cast<std::size_t>(n) * most)),
        R_(scratch.take<T>(static_cast<std::size_t>(most) * most)),
        square_(scratch.take<T>(most)),
        inverse_(scratch.take<T>(most)) {}

  T product(const T* x, const T* y) const {
    T sum = x[0] * y[0] * h_[0];
    for (int b = 1; b < n_; ++b) sum += x[b] * y[b] * h_[b];
    return sum;
  }
  // takes away what x shares with the columns so far; by: so much of each
  void remove(T* x, T* by) const {
    for (int j = 0; j < count_; ++j) {
      const T* v = v_ + static_cast<std::ptrdiff_t>(j) * n_;
      const T c = product(v, x) * inverse_[j];
      for (int b = 0; b < n_; ++b) x[b] -= c * v[b];
      by[j] = c;
    }
  }
  // column x joins; returns what is left of its square
  T add(const T* x) {
    T* v = v_ + static_cast<std::ptrdiff_t>(count_) * n_;
    for (int b = 0; b < n_; ++b) v[b] = x[b];
    remove(v, R_ + static_cast<std::ptrdiff_t>(count_) * most_);
    const T square = product(v, v);
    square_[count_] = square;
    inverse_[count_] = T(1.0) / square;
    ++count_;
    return square;
  }
  // R x = x, R unit upper; column k of R stands in row k
  void solve(T* x) const {
    for (int k = count_; k-- > 0;)
      for (int j = 0; j < k; ++j) x[j] -= R_[static_cast<std::ptrdiff_t>(k) * most_ + j] * x[k];
  }
  // R' x = x
  void solve_transposed(T* x) const {
    for (int k = 0; k < count_; ++k)
      for (int j = 0; j < k; ++j) x[k] -= R_[static_cast<std::ptrdiff_t>(k) * most_ + j] * x[j];
  }
  const T* column(int j) const { return v_ + static_cast<std::ptrdiff_t>(j) * n_; }
  const T& inverse(int j) const { return inverse_[j]; }
  int count() const { return count_; }

 private:
  const int n_, most_;
  const T* h_;
  T *v_, *R_, *square_, *inverse_;
  int count_ = 0;
};

// (L28) effort: n, L^-T (tau - bias), on return L^-T of all efforts; gam: of the columns, on return R times the multipliers
template <class T>
void hold_efforts(const OrthogonalRows<T>& rows, int n, T* effort, T* gam, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int r = rows.count();
  T* c = scratch.take<T>(r);
  rows.remove(effort, c);
  for (int j = 0; j < r; ++j) gam[j] = -gam[j];
  rows.solve_transposed(gam);
  for (int j = 0; j < r; ++j) {
    const T s = gam[j] * rows.inverse(j), *v = rows.column(j);
    for (int b = 0; b < n; ++b) effort[b] += s * v[b];
    gam[j] = s - c[j];
  }
}
// on return gam are the multipliers
template <class T>
void constrained_efforts(const OrthogonalRows<T>& rows, int n, T* effort, T* gam, Scratch& scratch) {
  hold_efforts(rows, n, effort, gam, scratch);
  rows.solve(gam);
}

// S x = x for a small positive definite S (k x k, destroyed)
template <class T>
void solve_definite(T* S, int k, T* x) {
  for (int j = 0; j < k; ++j) {
    const T inverse = T(1.0) / S[j * k + j];
    for (int i = j + 1; i < k; ++i) {
      const T a = S[i * k + j] * inverse;
      for (int l = j + 1; l < k; ++l) S[i * k + l] -= a * S[j * k + l];
      x[i] -= a * x[j];
    }
  }
  for (int j = k; j-- > 0;) {
    for (int i = j + 1; i < k; ++i) x[j] -= S[j * k + i] * x[i];
    x[j] = x[j] / S[j * k + j];
  }
}

}  // namespace zveno
