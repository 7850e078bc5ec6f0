// Sums over bodies with Jacobians of the centres of mass, 003 (9.1), (9.3) = docs/chains.md (3.5)-(3.7):
//   A = sum_k C_k' J_k C_k + m_k D_k' D_k,   b = sum_k C_k' (J_k eps_k + om_k x J_k om_k - M_k) + D_k' (m_k w_k - F_k),
// all vectors of body k in base axes, or in the axes of body k, where J_k is constant. Own part, all-revolute serial chain:
// A in base axes N^3 + 12N^2 + 11N mul, N^3 + 8.5N^2 + 7.5N - 3 add; in link axes the columns are also turned from body to
// body.
#pragma once

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/kernel/chain/mirror.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

template <class P>
struct CentralBody {
  P m;
  Vec3<P> c;  // Bo -> centre of mass
  Sym3<P> J;  // about it
};

// a body without mass has its centre at Bo: what is added to the mass changes no other
template <class P>
CentralBody<P> central(const BodyParams<P>& body) {
  const P inverse = P(1.0) / (body.m + P(1e-300));
  const Vec3<P> c = body.mc_B * inverse, mc = body.mc_B;
  const P cc = dot<P>(c, mc);
  const auto moved = [&](const P& I, int i, int j) { return I + c[i] * mc[j]; };
  const Sym3<P>& I = body.I_BBo_B;
  return {body.m,
          c,
          {moved(I.xx, 0, 0) - cc, moved(I.xy, 0, 1), moved(I.xz, 0, 2), moved(I.yy, 1, 1) - cc, moved(I.yz, 1, 2),
           moved(I.zz, 2, 2) - cc}};
}

// body k with the columns of C_k and D_k of the joints on its path
template <class T>
struct CentralColumns {
  int body, depth;  // path[depth] = body
  const int* path;
  const Vec3<T>*C, *D;  // by joint
  const Vec3<T>* O;     // in base axes, origins of bodies
  T m;
  Vec3<T> c;
  Sym3<T> J;
};

// use(columns) for every body, bodies before those that they carry
template <bool kLinkAxes, class T, class P, class Use>
void for_central_columns(const ModelView<P>& model, const JointPosition<T>& at, Scratch& scratch, const Use& use) {
  const Topology& topology = *model.topology;
  const int n = model.size();
  const std::ptrdiff_t size = kLinkAxes && !topology.serial ? static_cast<std::ptrdiff_t>(n) * n : n;
  Vec3<T>* e = scratch.take<Vec3<T>>(size);  // axes; in link axes a row of them for each body
  Vec3<T>* L = scratch.take<Vec3<T>>(size);  // origins O_j; in link axes from O_j to O_k
  Vec3<T>* D = scratch.take<Vec3<T>>(n);
  int* path = scratch.take<int>(n);
  Mat3<T>* R_WB = nullptr;
  if constexpr (!kLinkAxes) {
    enter_stage<T>(Stage::kinematics);
    R_WB = scratch.take<Mat3<T>>(n);
    body_frames(model, at, R_WB, L);
    for (int b = 0; b < n; ++b) e[b] = R_WB[b].col(2);
  }
  for (int k = 0; k < n; ++k) {
    const int parent = model.parent(k);
    int depth = 0;
    for (int r = topology.first_run[k]; r < topology.first_run[k + 1]; ++r)
      for (int j = topology.ancestor_runs[r].begin; j < topology.ancestor_runs[r].end; ++j) path[depth++] = j;
    path[depth] = k;
    const CentralBody<P> body = central(model.body[k]);
    CentralColumns<T> x{k, depth, path, e, D, L, T(body.m), cast<T>(body.c), cast<T>(body.J)};
    Vec3<T>*own = e, *arm = L;
    if constexpr (kLinkAxes) {
      enter_stage<T>(Stage::algorithm);
      const std::ptrdiff_t from = topology.serial || parent == kWorld ? 0 : static_cast<std::ptrdiff_t>(parent) * n;
      own += topology.serial ? 0 : static_cast<std::ptrdiff_t>(k) * n;
      arm += topology.serial ? 0 : static_cast<std::ptrdiff_t>(k) * n;
      const JointFrame<T> X = joint_frame<false>(model, at, k);
      for (int a = 0; a < depth; ++a) {
        const int j = path[a];
        own[j] = X.to_body(e[from + j]);
        if (model.revolute(j)) arm[j] = X.to_body(Vec3<T>(L[from + j] + X.p));
      }
      own[k] = {T(0.0), T(0.0), T(1.0)};
      arm[k] = zero3<T>();
      x.C = own;
    } else {
      enter_stage<T>(Stage::kinematics);
      x.c = times(R_WB[k], x.c);
      x.J = rotated(R_WB[k], x.J);
      enter_stage<T>(Stage::algorithm);
    }
    const Vec3<T> centre = kLinkAxes || depth == 0 ? x.c : Vec3<T>(arm[k] + x.c);
    for (int a = 0; a <= depth; ++a) {
      const int j = path[a];
      if (!model.revolute(j))
        D[j] = own[j];
      else if (j == k)
        D[j] = cross<T>(own[j], x.c);
      else
        D[j] = cross<T>(own[j], Vec3<T>(kLinkAxes ? arm[j] + centre : centre - arm[j]));
    }
    use(x);
  }
}

// (3.6)
template <bool kLinkAxes, class T, class P>
void leskov(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  Vec3<T>* JC = scratch.take<Vec3<T>>(n);
  Vec3<T>* mD = scratch.take<Vec3<T>>(n);
  if (!model.topology->serial)
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(n) * n; ++k) M[k] = T(0.0);
  for_central_columns<kLinkAxes>(model, at, scratch, [&](const CentralColumns<T>& x) {
    for (int b = 0; b <= x.depth; ++b) {
      const int j = x.path[b];
      mD[j] = x.D[j] * x.m;
      if (model.revolute(j)) JC[j] = times(x.J, x.C[j]);
      for (int a = 0; a <= b; ++a) {
        const int i = x.path[a];
        T term = dot<T>(x.D[i], mD[j]);
        if (model.revolute(i) && model.revolute(j)) term = term + dot<T>(x.C[i], JC[j]);
        T& element = M[static_cast<std::ptrdiff_t>(j) * n + i];
        element = j == x.body ? term : element + term;
      }
    }
  });
  mirror_lower(M, n);
}

// (3.7) with gravity, the motion of the base and loads; external: wrench on each body about its origin in the axes of the
// sums, or null
template <bool kLinkAxes, class T, class P>
void leskov_bias(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const BaseMotion<T>& base,
                 const Wrench<T>* external, T* bias, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  BodyMotion<T>* motion = scratch.take<BodyMotion<T>>(n);  // a: of the origin
  for (int j = 0; j < n; ++j) bias[j] = T(0.0);
  for_central_columns<kLinkAxes>(model, at, scratch, [&](const CentralColumns<T>& x) {
    const int k = x.body, parent = model.parent(k);
    const bool still = parent == kWorld && !base.moving;
    BodyMotion<T> m = parent == kWorld ? BodyMotion<T>{base.w, base.dw, base.a} : motion[parent];
    Vec3<T> arm;
    if constexpr (kLinkAxes) {
      const JointFrame<T> X = joint_frame<false>(model, at, k);
      arm = X.p;
      if (!still) m.w = X.to_body(m.w), m.alpha = X.to_body(m.alpha), arm = X.to_body(arm);
      m.a = X.to_body(m.a);
    } else {
      arm = parent == kWorld ? x.O[k] : Vec3<T>(x.O[k] - x.O[parent]);
    }
    const Vec3<T> rate = x.C[k] * qd[k];
    if (!still) m.a += cross<T>(m.alpha, arm) + cross<T>(m.w, cross<T>(m.w, arm));
    if (model.revolute(k)) {
      if (!still) m.alpha += cross<T>(m.w, rate);
      m.w = still ? rate : Vec3<T>(m.w + rate);
    } else if (!still) {
      m.a += cross<T>(m.w, Vec3<T>(rate + rate));
    }
    motion[k] = m;
    const Vec3<T> w = m.a + cross<T>(m.alpha, x.c) + cross<T>(m.w, cross<T>(m.w, x.c));
    Vec3<T> f = w * x.m, moment = times(x.J, m.alpha) + cross<T>(m.w, times(x.J, m.w));
    if (external) {
      f -= external[k].f;
      moment -= external[k].n - cross<T>(x.c, external[k].f);
    }
    for (int a = 0; a <= x.depth; ++a) {
      const int i = x.path[a];
      bias[i] += model.revolute(i) ? dot<T>(x.D[i], f) + dot<T>(x.C[i], moment) : dot<T>(x.D[i], f);
    }
  });
}

}  // namespace zveno
