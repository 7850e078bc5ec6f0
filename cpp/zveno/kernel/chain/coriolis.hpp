// Coriolis matrix of Christoffel symbols, docs/chains.md (12.4)-(12.6): C_ij = integral of (dr/dq_i) . d/dt (dr/dq_j) dm.
//
// With screws s_j = [v_j; e_j] and their rates at the base origin, and a body that moves by [V; W], the rate of dr/dq_j is
// v_j' + e_j' x r + e_j x (V + W x r). Its integral over the mass needs, besides the moments, the linear momentum p and
// D = integral of r (dr/dt)' dm = mc V' - S W~; both add up over the bodies that a joint carries.
#pragma once

#include <zveno/kernel/chain/momentum.hpp>

namespace zveno {

// C by rows, in the order of bodies
template <class T, class P>
void coriolis_matrix(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, const T* qd, T* C,
                     Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  const Moments<T>* sum = composite_moments(model, R_WB, p_W, scratch);
  Screw<T>* s = scratch.take<Screw<T>>(n);     // of the joints
  Screw<T>* rate = scratch.take<Screw<T>>(n);  // of the screws
  Screw<T>* twist = scratch.take<Screw<T>>(n);
  Vec3<T>* p = scratch.take<Vec3<T>>(n);
  Mat3<T>* G = scratch.take<Mat3<T>>(n);  // tr(D) E - D'
  for (int b = 0; b < n; ++b) {
    const int parent = model.parent(b);
    s[b] = joint_screw(model, b, R_WB, p_W);
    const Vec3<T> v = s[b].v * qd[b], w = s[b].w * qd[b];
    twist[b] = parent == kWorld ? Screw<T>{v, w} : Screw<T>{twist[parent].v + v, twist[parent].w + w};
    const Screw<T>& t = twist[b];
    rate[b] = {cross<T>(t.w, s[b].v) + cross<T>(t.v, s[b].w), cross<T>(t.w, s[b].w)};
    if (model.hinge(b)) {
      p[b] = zero3<T>(), G[b] = diagonal(T(0.0));
      continue;
    }
    const Moments<T> x = moments_about_base(model, b, R_WB, p_W);
    p[b] = t.v * x.m + cross<T>(t.w, x.mc);
    Mat3<T> D;
    const T S[3][3] = {{x.S.xx, x.S.xy, x.S.xz}, {x.S.xy, x.S.yy, x.S.yz}, {x.S.xz, x.S.yz, x.S.zz}};
    for (int i = 0; i < 3; ++i) {
      const Vec3<T> turning = cross<T>(t.w, Vec3<T>{S[i][0], S[i][1], S[i][2]});  // row i of -S W~
      for (int j = 0; j < 3; ++j) D(i, j) = x.mc[i] * t.v[j] + turning[j];
    }
    const T trace = D(0, 0) + D(1, 1) + D(2, 2);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) G[b](i, j) = i == j ? trace - D(j, i) : -D(j, i);
  }
  for (int b = static_cast<int>(n); b-- > 0;)
    if (const int parent = model.parent(b); parent != kWorld) {
      p[parent] += p[b];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) G[parent](i, j) += G[b](i, j);
    }
  enter_stage<T>(Stage::assembly);
  for (std::ptrdiff_t k = 0; k < n * n; ++k) C[k] = T(0.0);
  for (int b = 0; b < n; ++b) {
    const bool turns = model.revolute(b);
    Screw<T> column = momentum_of(sum[b], rate[b]);  // of the forces that this joint's rate causes
    if (turns) {
      column.v += cross<T>(s[b].w, p[b]);
      column.w += times(G[b], s[b].w);
    }
    const Screw<T> row = momentum_of(sum[b], s[b]);
    const Vec3<T> swept = turns ? cross<T>(p[b], s[b].v) + transposed_times(G[b], s[b].w) : cross<T>(p[b], s[b].v);
    C[b * n + b] = dot(s[b], column);
    for (int i = model.parent(b); i != kWorld; i = model.parent(i)) {
      C[i * n + b] = dot(s[i], column);
      C[b * n + i] = model.revolute(i) ? dot(row, rate[i]) + dot<T>(swept, s[i].w) : dot(row, rate[i]);
    }
  }
}

}  // namespace zveno
