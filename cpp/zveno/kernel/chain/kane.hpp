// Kane's matrix form, 002 eq. (2) = docs/chains.md (3.1)-(3.3):
//   M = sum_j m_j T_j'T_j + X_j + X_j' + R_j' I_j R_j,   X_j = T_j' c~_j' R_j,   om_j = R_j qd,   v_j = T_j qd.
// Dense: 9N^3 + 30N^2 mul, 10N^3 + 23N^2 add. Columns of ancestors only, upper half: N^3 + 18N^2 - N mul,
// N^3 + 14.5N^2 - 7.5N + 3 add (all-revolute serial chain, beyond base_axes).
#pragma once

#include <zveno/kernel/chain/base_axes.hpp>
#include <zveno/kernel/chain/mirror.hpp>

namespace zveno {

// all matrices dense, 3 x N, as printed
template <class T, class P>
void kane_dense(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const BaseAxes<T> x = base_axes(model, at, scratch);
  const int n = model.size();
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(n) * n;
  // R_j, T_j of the bodies that still have children to come are kept: n x n columns for a tree
  Vec3<T>* R = scratch.take<Vec3<T>>(model.topology->serial ? n : size);
  Vec3<T>* V = scratch.take<Vec3<T>>(model.topology->serial ? n : size);
  Vec3<T>* mT = scratch.take<Vec3<T>>(n);
  Vec3<T>* cR = scratch.take<Vec3<T>>(n);
  Vec3<T>* IR = scratch.take<Vec3<T>>(n);
  T* X = scratch.take<T>(size);
  for (int j = 0; j < n; ++j) {
    const int parent = model.parent(j);
    const std::ptrdiff_t own = model.topology->serial ? 0 : static_cast<std::ptrdiff_t>(j) * n;
    const std::ptrdiff_t from = model.topology->serial || parent == kWorld ? 0 : static_cast<std::ptrdiff_t>(parent) * n;
    Vec3<T>*Rj = R + own, *Tj = V + own;
    const Vec3<T> r = x.r[j], c = x.c[j], zero = zero3<T>();
    const Mat3<T> I = dense(x.I[j]);
    const Mat3<T> rt = skew(-r), ct = skew(-c);  // r~', c~'
    for (int k = 0; k < n; ++k) {
      const Vec3<T> Rp = parent == kWorld ? zero : R[from + k], Tp = parent == kWorld ? zero : V[from + k];
      Tj[k] = Tp + times(rt, Rp);                                  // (3.2)
      Rj[k] = Rp + (k == j && model.revolute(j) ? x.e[j] : zero);  // (3.1)
      if (k == j && !model.revolute(j)) Tj[k] = Tj[k] + x.e[j];
    }
    for (int k = 0; k < n; ++k) {
      mT[k] = Tj[k] * x.m[j];
      cR[k] = times(ct, Rj[k]);
      IR[k] = times(I, Rj[k]);
    }
    auto place = [n](int i, int k) { return static_cast<std::ptrdiff_t>(i) * n + k; };
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k) X[place(i, k)] = dot<T>(Tj[i], cR[k]);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k) {  // (3.3)
        const T term = dot<T>(Tj[i], mT[k]) + X[place(i, k)] + X[place(k, i)] + dot<T>(Rj[i], IR[k]);
        T& element = M[place(i, k)];
        element = j == 0 ? term : element + term;
      }
  }
  mirror_lower(M, n);
}

// columns of ancestors, half of M; f_k = m T_k + R_k x c and n_k = c x T_k + I R_k join the four terms into two
template <class T, class P>
void kane_triangular(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const BaseAxes<T> x = base_axes(model, at, scratch);
  const Topology& topology = *model.topology;
  const int n = model.size();
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(n) * n;
  Vec3<T>* V = scratch.take<Vec3<T>>(topology.serial ? n : size);  // columns of T_j; those of R_j are the axes
  Vec3<T>* f = scratch.take<Vec3<T>>(n);
  Vec3<T>* m = scratch.take<Vec3<T>>(n);
  int* path = scratch.take<int>(n);
  if (!topology.serial)
    for (std::ptrdiff_t k = 0; k < size; ++k) M[k] = T(0.0);

  for (int j = 0; j < n; ++j) {
    const int parent = model.parent(j);
    Vec3<T>* Tj = V + (topology.serial ? 0 : static_cast<std::ptrdiff_t>(j) * n);
    const Vec3<T>* Tp = V + (topology.serial || parent == kWorld ? 0 : static_cast<std::ptrdiff_t>(parent) * n);
    int depth = 0;
    for (int r = topology.first_run[j]; r < topology.first_run[j + 1]; ++r)
      for (int k = topology.ancestor_runs[r].begin; k < topology.ancestor_runs[r].end; ++k) path[depth++] = k;
    path[depth] = j;

    for (int a = 0; a < depth; ++a) {  // (3.2); the parent's own column starts at zero if it is revolute
      const int k = path[a];
      if (!model.revolute(k))
        Tj[k] = k == parent ? x.e[k] : Tp[k];
      else if (k == parent)
        Tj[k] = cross<T>(x.e[k], x.r[j]);
      else
        Tj[k] = Tp[k] + cross<T>(x.e[k], x.r[j]);
    }
    const bool moves_origin = !model.revolute(j);
    if (moves_origin) Tj[j] = x.e[j];

    for (int a = 0; a <= depth; ++a) {
      const int k = path[a];
      const bool has_T = k != j || moves_origin;
      if (!model.revolute(k)) {
        f[k] = Tj[k] * x.m[j];
        m[k] = cross<T>(x.c[j], Tj[k]);
      } else if (has_T) {
        f[k] = Tj[k] * x.m[j] + cross<T>(x.e[k], x.c[j]);
        m[k] = cross<T>(x.c[j], Tj[k]) + times(x.I[j], x.e[k]);
      } else {
        f[k] = cross<T>(x.e[k], x.c[j]);
        m[k] = times(x.I[j], x.e[k]);
      }
    }
    for (int b = 0; b <= depth; ++b)
      for (int a = 0; a <= b; ++a) {
        const int i = path[a], k = path[b];
        T term;
        if (!model.revolute(i))
          term = dot<T>(Tj[i], f[k]);
        else if (i == j)
          term = dot<T>(x.e[i], m[k]);
        else
          term = dot<T>(Tj[i], f[k]) + dot<T>(x.e[i], m[k]);
        T& element = M[static_cast<std::ptrdiff_t>(k) * n + i];
        element = k == j ? term : element + term;  // body k is the first that joint k moves
      }
  }
  mirror_lower(M, n);
}

}  // namespace zveno
