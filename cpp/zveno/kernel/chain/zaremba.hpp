// Zaremba's screw form and its derivatives of any order (001), docs/derivatives.md (D1.1)-(D1.11).
//
// A screw [v; w] in a frame k is the motion of joint i at unit rate seen there, l_k^i if i is inboard of k, g_k^i if it is
// outboard. Derivatives of screws are products of screws, those of effective inertias are products of screws and inertias,
// and every derivative of an element of the mass matrix is a single term.
#pragma once

#include <zveno/kernel/chain/crba.hpp>
#include <zveno/kernel/chain/momentum.hpp>

namespace zveno {

// a x b, the motion product: -<a>'b; 18 mul 12 add
template <class T>
ZVENO_INLINE Screw<T> product(const Screw<T>& a, const Screw<T>& b) {
  return {cross<T>(a.w, b.v) + cross<T>(a.v, b.w), cross<T>(a.w, b.w)};
}

// <a> f, the wrench product; 18 mul 12 add
template <class T>
ZVENO_INLINE Screw<T> wrench_product(const Screw<T>& a, const Screw<T>& f) {
  return {cross<T>(a.w, f.v), cross<T>(a.v, f.v) + cross<T>(a.w, f.w)};
}

// whether joint a moves body b: a is b or inboard of it
template <class P>
bool carries(const ModelView<P>& model, int a, int b) {
  while (b > a) b = model.parent(b);
  return a == b;
}

// ---- theorems 1-3 in any frame: R_WU its axes, x its origin

template <class T, class P>
struct Observer {
  const ModelView<P>& model;
  const Mat3<T>* R_WB;
  const Vec3<T>* p_W;
  Mat3<T> R_WU;
  Vec3<T> x;

  Screw<T> screw(int b) const {
    Vec3<T> v, w;
    jacobian_column(model, b, R_WB, p_W, x, v, w);
    return {transposed_times(R_WU, v), model.revolute(b) ? transposed_times(R_WU, w) : w};
  }

  // Theorem 1: joint i inboard of the frame, t[0] <= t[1] <= ... between them; (D1.5)
  Screw<T> inboard(int i, const int* t, int order) const {
    Screw<T> l = screw(i);
    for (int k = 0; k < order; ++k) l = product(l, screw(t[k]));
    return l;
  }

  // Theorem 2: joint i outboard of the frame; (D1.6)
  Screw<T> outboard(int i, const int* t, int order) const {
    Screw<T> g = screw(i);
    for (int k = order; k-- > 0;) g = product(screw(t[k]), g);
    return g;
  }

  // body b and what it carries, seen here
  Moments<T> carried(int b) const {
    Moments<T> sum = moments_about_base(model, b, R_WB, p_W);
    for (int c = b + 1; c < model.size() && model.parent(c) >= b; ++c) sum = sum + moments_about_base(model, c, R_WB, p_W);
    return seen(sum);
  }

  // moments about the base origin, seen here
  Moments<T> seen(const Moments<T>& about_base) const {
    return rotated(R_WU.transposed(), shifted(Vec3<T>(-x), about_base));
  }

  // Theorem 3: derivative of an effective inertia by t[0] <= t[1] <= ..., all outboard of the frame, order >= 1; (D1.8)
  Moments<T> derived(const int* t, int order) const {
    Moments<T> X = carried(t[order - 1]);
    for (int k = order; k-- > 0;) X = moved_by(screw(t[k]), X);
    return X;
  }

  // rate of moments that move by the screw g: <g> X + X <g>'
  static Moments<T> moved_by(const Screw<T>& g, const Moments<T>& X) {
    const Vec3<T> c = X.mc;
    // columns of w~ S + v c'
    const Vec3<T> bx = cross<T>(g.w, Vec3<T>{X.S.xx, X.S.xy, X.S.xz}) + g.v * c.x();
    const Vec3<T> by = cross<T>(g.w, Vec3<T>{X.S.xy, X.S.yy, X.S.yz}) + g.v * c.y();
    const Vec3<T> bz = cross<T>(g.w, Vec3<T>{X.S.xz, X.S.yz, X.S.zz}) + g.v * c.z();
    return {T(0.0),
            cross<T>(g.w, c) + g.v * X.m,
            {bx.x() + bx.x(), bx.y() + by.x(), bx.z() + bz.x(), by.y() + by.y(), by.z() + bz.y(), bz.z() + bz.z()}};
  }
};

// ---- all columns in body axes

// l_k^i of all joints i inboard of body k and of k itself, at [k n + i]; (D1.3)
template <class T, class P>
Screw<T>* body_columns(const ModelView<P>& model, const JointPosition<T>& at, Scratch& scratch) {
  const std::ptrdiff_t n = model.size();
  Screw<T>* l = scratch.take<Screw<T>>(n * n);
  const T zero(0.0), one(1.0);
  const Vec3<T> none = zero3<T>(), z{zero, zero, one};
  for (int k = 0; k < n; ++k) {
    Screw<T>* const row = l + k * n;
    row[k] = model.revolute(k) ? Screw<T>{none, z} : Screw<T>{z, none};
    const int parent = model.parent(k);
    if (parent == kWorld) continue;
    const JointFrame<T, true> X = joint_frame<true>(model, at, k);
    const Screw<T>* const from = l + parent * n;
    for (int i = parent; i != kWorld; i = model.parent(i)) {
      if (!model.revolute(i))
        row[i] = {X.to_body(from[i].v), none};
      else if (i == parent)  // about z of the parent
        row[i] = {X.to_body(Vec3<T>{-X.p.y(), X.p.x(), zero}), X.to_body(z)};
      else
        row[i] = {X.velocity_to_body(from[i].v, from[i].w), X.to_body(from[i].w)};
    }
  }
  return l;
}

// What the derivatives need of the effective inertia of a body, in body axes: u = Th* f, and the rate (0, dc, dI) of Th* at
// unit rate of its joint, B = <f> Th* + Th* <f>'
template <class T>
struct EffectiveInertia {
  Screw<T> u;
  Vec3<T> dc;
  Sym3<T> dI;

  Screw<T> rate_times(const Screw<T>& s, bool turns) const {
    if (!turns) return {zero3<T>(), cross<T>(dc, s.v)};
    return {cross<T>(s.w, dc), cross<T>(dc, s.v) + times(dI, s.w)};
  }
};

template <class T, class P>
EffectiveInertia<T>* effective_inertias(const ModelView<P>& model, const JointPosition<T>& at, Scratch& scratch) {
  EffectiveInertia<T>* all = scratch.take<EffectiveInertia<T>>(model.size());
  const T zero(0.0);
  for_composites<T>(model, at, scratch, [&](int b, const Inertia<T>& x) {
    const Vec3<T>& c = x.mc;
    EffectiveInertia<T>& e = all[b];
    if (model.revolute(b)) {
      e.dc = {-c.y(), c.x(), zero};
      e.u = {e.dc, {x.I.xz, x.I.yz, x.I.zz}};
      const T twice = x.I.xy + x.I.xy;
      e.dI = {-twice, x.I.xx - x.I.yy, -x.I.yz, twice, x.I.xz, zero};
    } else {
      e.dc = {zero, zero, x.m};
      e.u = {e.dc, {c.y(), -c.x(), zero}};
      const T twice = c.z() + c.z();
      e.dI = {twice, zero, -c.x(), twice, -c.y(), zero};
    }
  });
  return all;
}

// First derivatives of the mass matrix, (D1.10), for bodies a, b, c on one path to a tip:
//   use.middle(a, b, c, dM_ac/dq_b, dM_ab/dq_c) for a < b < c,  use.first(b, c, dM_bb/dq_c),  use.last(a, c, dM_ac/dq_c).
// What is not visited is zero.
template <class T, class P, class Use>
void for_zaremba_triples(const ModelView<P>& model, const JointPosition<T>& at, Scratch& scratch, const Use& use) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  enter_stage<T>(Stage::algorithm);
  const Screw<T>* columns = body_columns(model, at, scratch);
  const EffectiveInertia<T>* inertia = effective_inertias(model, at, scratch);
  Screw<T>* y = scratch.take<Screw<T>>(n);
  enter_stage<T>(Stage::assembly);
  for (int c = 0; c < n; ++c) {
    const int parent = model.parent(c);
    if (parent == kWorld) continue;
    const Screw<T>* const l = columns + c * n;
    const Screw<T> last = wrench_product(l[c], inertia[c].u);
    for (int b = parent; b != kWorld; b = model.parent(b)) {
      y[b] = inertia[c].rate_times(l[b], model.revolute(b));
      use.last(b, c, dot(last, l[b]));
      use.first(b, c, dot(l[b], y[b]));
    }
    for (int b = parent; b != kWorld; b = model.parent(b)) {
      if (model.parent(b) == kWorld) continue;
      const Screw<T> z = wrench_product(l[b], inertia[c].u);
      for (int a = model.parent(b); a != kWorld; a = model.parent(a)) use.middle(a, b, c, dot(z, l[a]), dot(l[b], y[a]));
    }
  }
}

// Second derivatives of the mass matrix by the single-term rule, (D1.11): use(i, j, s, t, d2M_ij / dq_s dq_t) for i >= j and
// s <= t. What is not visited is zero.
template <class T, class P, class Use>
void for_second_derivatives_of_mass(const ModelView<P>& model, const JointPosition<T>& at, Scratch& scratch,
                                    const Use& use) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  enter_stage<T>(Stage::algorithm);
  const Screw<T>* columns = body_columns(model, at, scratch);
  const EffectiveInertia<T>* inertia = effective_inertias(model, at, scratch);
  Screw<T>* y = scratch.take<Screw<T>>(n);      // B_k l_k^i
  Screw<T>* c = scratch.take<Screw<T>>(n * n);  // (l_k^i)^s at [s n + i]
  enter_stage<T>(Stage::assembly);
  for (int k = 0; k < n; ++k) {
    const Screw<T>* const l = columns + k * n;
    for (int s = k; s != kWorld; s = model.parent(s)) {
      if (s != k) y[s] = inertia[k].rate_times(l[s], model.revolute(s));
      for (int i = model.parent(s); i != kWorld; i = model.parent(i)) c[s * n + i] = product(l[i], l[s]);
    }
    // both joints between j and i = k
    for (int t = k; t != kWorld; t = model.parent(t)) {
      const Screw<T> z = wrench_product(l[t], inertia[k].u);
      for (int s = t; s != kWorld; s = model.parent(s))
        for (int j = model.parent(s); j != kWorld; j = model.parent(j)) use(k, j, s, t, dot(z, c[s * n + j]));
    }
    // the outer one, t = k, beyond i; the inner one between j and i, or beyond i
    for (int i = model.parent(k); i != kWorld; i = model.parent(i))
      for (int j = i; j != kWorld; j = model.parent(j))
        for (int s = k; s != j; s = model.parent(s)) {
          const T between = dot(y[i], c[s * n + j]);
          use(i, j, s, k, s > i ? dot(c[s * n + i], y[j]) + between : between);
        }
  }
}

}  // namespace zveno
