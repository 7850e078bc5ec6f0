// Block-triangular form, "kosynka": a reconstruction, docs/chains.md (7.1)-(7.3); 002 only names it and quotes its cost.
// Dense 6x6 blocks, as the matrix form has it: N^3 + 39N^2 + 2N mul, N^3 + 32.5N^2 + 1.5N add beyond base_axes.
#pragma once

#include <zveno/kernel/chain/base_axes.hpp>
#include <zveno/kernel/chain/mirror.hpp>

namespace zveno {

template <class T>
struct Six {
  T x[6];
};

// dense 6x6 times 6: 36 mul 30 add
template <class T>
Six<T> times(const T (&A)[6][6], const Six<T>& v) {
  Six<T> r;
  for (int i = 0; i < 6; ++i) {
    r.x[i] = A[i][0] * v.x[0];
    for (int k = 1; k < 6; ++k) r.x[i] = r.x[i] + A[i][k] * v.x[k];
  }
  return r;
}

template <class T>
void set_block(T (&A)[6][6], int row, int col, const Mat3<T>& block) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) A[row + i][col + j] = block(i, j);
}

// serial chains
template <class T, class P>
void kosynka(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const BaseAxes<T> x = base_axes(model, at, scratch);
  const int n = model.size();
  Six<T>* U = scratch.take<Six<T>>(n);   // row j of the kerchief: U_jk, k <= j
  Six<T>* MU = scratch.take<Six<T>>(n);  // M_j U_jk
  const Mat3<T> zero = diagonal(T(0.0));
  const Mat3<T> unit = diagonal(T(1.0));
  for (int j = 0; j < n; ++j) {
    T transport[6][6], inertia[6][6];
    set_block<T>(transport, 0, 0, unit);
    set_block<T>(transport, 3, 3, unit);
    set_block<T>(transport, 3, 0, zero);
    set_block<T>(transport, 0, 3, skew<T>(-x.r[j]));  // r~'
    set_block<T>(inertia, 0, 0, diagonal(x.m[j]));
    set_block<T>(inertia, 0, 3, skew<T>(-x.c[j]));  // c~'
    set_block<T>(inertia, 3, 0, skew<T>(x.c[j]));
    set_block<T>(inertia, 3, 3, dense(x.I[j]));
    for (int k = 0; k < j; ++k) U[k] = times(transport, U[k]);  // (7.2)
    for (int k = 0; k < 3; ++k) {
      U[j].x[k] = model.revolute(j) ? T(0.0) : x.e[j][k];
      U[j].x[k + 3] = model.revolute(j) ? x.e[j][k] : T(0.0);
    }
    for (int k = 0; k <= j; ++k) MU[k] = times(inertia, U[k]);
    for (int k = 0; k <= j; ++k)
      for (int i = 0; i <= k; ++i) {  // (7.3)
        T term = U[i].x[0] * MU[k].x[0];
        for (int a = 1; a < 6; ++a) term = term + U[i].x[a] * MU[k].x[a];
        T& element = M[static_cast<std::ptrdiff_t>(k) * n + i];
        element = j == k ? term : element + term;
      }
  }
  mirror_lower(M, n);
}

}  // namespace zveno
