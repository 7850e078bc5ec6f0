// First derivatives of inverse dynamics, and the mass matrix, in one sweep: docs/derivatives.md (D4.1)-(D4.14).
//
// What is outboard of a joint is described relative to the body behind the joint, extended as a rigid body: its mass moments
// (m, c, S), and what its parts do beyond the rigid motion: momentum P, N = integral of v_rel r' dm, wrench F, M. A joint
// coordinate then acts on the outboard part through six-vectors u, t1, t2 and a three-vector y, and on the inboard joints
// through the twists psd, psdd of its own axis; every element of the three matrices is one product of such vectors.
#pragma once

#include <algorithm>

#include <zveno/kernel/chain/momentum.hpp>
#include <zveno/kernel/chain/rnea.hpp>
#include <zveno/scalar/neighbours.hpp>

namespace zveno {

// of a body, body axes: as in inverse dynamics, and the velocity v of its origin relative to the base
template <class T>
struct CarriedMotion {
  RigidMotion<T> rigid;
  Vec3<T> v;
};
template <class T, class F>
ZVENO_INLINE void each_number(CarriedMotion<T>& x, const F& f) {
  each_number(x.rigid.w, f), each_number(x.rigid.dw, f), each_number(x.rigid.a, f), each_number(x.rigid.K, f);
  each_number(x.v, f);
}

// outboard of a joint, about the origin of its body, body axes, (D4.2)
template <class T>
struct Outboard {
  T m;
  Vec3<T> c;
  Sym3<T> S;
  Vec3<T> P, F, M;
  Mat3<T> N;

  static Outboard nothing() {
    const Vec3<T> o = zero3<T>();
    Outboard x;
    x.m = T(0.0), x.c = o, x.S = zero_sym3<T>(), x.P = o, x.F = o, x.M = o, x.N = diagonal(T(0.0));
    return x;
  }
  ZVENO_INLINE void add(const Outboard& b) {
    m += b.m;
    c += b.c;
    S = S + b.S;
    P += b.P;
    F += b.F;
    M += b.M;
    N = N + b.N;
  }
};
template <class T, class F>
ZVENO_INLINE void each_number(Outboard<T>& x, const F& f) {
  f(x.m), each_number(x.c, f), each_number(x.S, f);
  each_number(x.P, f), each_number(x.F, f), each_number(x.M, f), each_number(x.N, f);
}

// wrenches by q, qd and qdd of a joint, and y, (D4.3)-(D4.6) or (D4.9)
template <class T>
struct JointTerms {
  Wrench<T> u, t1, t2;
  Vec3<T> y;
};
template <class T, class F>
ZVENO_INLINE void each_number(JointTerms<T>& x, const F& f) {
  each_number(x.u.f, f), each_number(x.u.n, f), each_number(x.t1.f, f), each_number(x.t1.n, f);
  each_number(x.t2.f, f), each_number(x.t2.n, f), each_number(x.y, f);
}

// how the axis of a joint is carried along, (D4.7): about the origin of its body
template <class T>
struct AxisRates {
  Screw<T> psd, psdd;
};

template <class T>
ZVENO_INLINE AxisRates<T> axis_rates(const CarriedMotion<T>& at, bool revolute) {
  const Vec3<T>&w = at.rigid.w, &a = at.rigid.a, &v = at.v, o = zero3<T>();
  const Vec3<T> ed{w.y(), -w.x(), T(0.0)}, Kz = at.rigid.K.col(2);
  if (!revolute) return {{ed, o}, {Kz, o}};
  // 2 ed x v = 2 (-w_x v_z, -w_y v_z, w_x v_x + w_y v_y)
  const T wx = w.x() + w.x(), wy = w.y() + w.y();
  const Vec3<T> l{a.y() + wx * v.z(), wy * v.z() - a.x(), -(wx * v.x() + wy * v.y())};
  return {{{v.y(), -v.x(), T(0.0)}, ed}, {l, Kz}};
}

// (D4.3)-(D4.6)
template <class T>
ZVENO_INLINE JointTerms<T> revolute_terms(const CarriedMotion<T>& at, const Outboard<T>& x) {
  const Vec3<T>&w = at.rigid.w, &a = at.rigid.a, &v = at.v, &c = x.c, &P = x.P;
  const Mat3<T>& K = at.rigid.K;
  const Sym3<T>& S = x.S;
  const Mat3<T> Tn = complement(x.N);
  const T wx = w.x(), wy = w.y(), wz = w.z(), zero(0.0);
  JointTerms<T> t;
  t.u = {{-c.y(), c.x(), zero}, {-S.xz, -S.yz, S.xx + S.yy}};
  const T along = wx * c.x() + wy * c.y();  // w x fz = (-w_z c_x, -w_z c_y, along)
  const Vec3<T> Sw = times(S, w);
  t.t2.f = twice<T>({-(wz * c.x() + P.y()), P.x() - wz * c.y(), along});
  t.t2.n = twice<T>({Sw.y() + Tn(0, 2), Tn(1, 2) - Sw.x(), Tn(2, 2)});
  const T wx2 = wx + wx, wy2 = wy + wy;
  t.t1.f = {K(0, 1) * c.x() - K(0, 0) * c.y() - wx2 * P.z() - x.F.y(),
            K(1, 1) * c.x() - K(1, 0) * c.y() - wy2 * P.z() + x.F.x(),
            K(2, 1) * c.x() - K(2, 0) * c.y() + (wx2 * P.x() + wy2 * P.y())};
  // axial(K dS), dS = z~S - S z~
  const T d = S.xy + S.xy, e = S.xx - S.yy;
  const Vec3<T> turned{(K(2, 0) * e + K(2, 1) * d) + (K(2, 2) * S.xz + K(1, 0) * S.yz) - K(1, 1) * S.xz,
                       (K(0, 1) * S.xz - K(0, 0) * S.yz) + (K(2, 0) * d - K(2, 1) * e) + K(2, 2) * S.yz,
                       (K(1, 1) * e - K(1, 0) * d) - (K(1, 2) * S.yz + K(0, 0) * e) - (K(0, 1) * d + K(0, 2) * S.xz)};
  const Vec3<T> swept{Tn(0, 0) * wy2 - Tn(0, 1) * wx2, Tn(1, 0) * wy2 - Tn(1, 1) * wx2, Tn(2, 0) * wy2 - Tn(2, 1) * wx2};
  t.t1.n = Vec3<T>{c.x() * a.z() - x.M.y(), c.y() * a.z() + x.M.x(), -(c.x() * a.x() + c.y() * a.y())} + turned + swept;
  t.y = twice<T>({S.xx * wy - S.xy * wx + Tn(2, 0) - v.z() * c.x(), S.xy * wy - S.yy * wx + Tn(2, 1) - v.z() * c.y(),
                  S.xz * wy - S.yz * wx + Tn(2, 2) + (v.x() * c.x() + v.y() * c.y())});
  return t;
}

// (D4.9)
template <class T>
ZVENO_INLINE JointTerms<T> prismatic_terms(const CarriedMotion<T>& at, const Outboard<T>& x) {
  const Vec3<T>&w = at.rigid.w, &c = x.c;
  const T zero(0.0), wx2 = w.x() + w.x(), wy2 = w.y() + w.y();
  const Vec3<T> Kz = at.rigid.K.col(2);
  const Vec3<T> force = at.rigid.a * x.m + times(at.rigid.K, c) + x.F, momentum = at.v * x.m + cross<T>(w, c) + x.P;
  const Vec3<T> cK = cross<T>(c, Kz);
  JointTerms<T> t;
  t.u = {{zero, zero, x.m}, {c.y(), -c.x(), zero}};
  t.t2.f = {wy2 * x.m, -(wx2 * x.m), zero};
  t.t2.n = {c.z() * wx2, c.z() * wy2, -(c.x() * wx2 + c.y() * wy2)};
  t.t1.f = Kz * x.m;
  t.t1.n = {cK.x() - force.y(), cK.y() + force.x(), cK.z()};
  t.y = {momentum.y() + momentum.y(), -(momentum.x() + momentum.x()), zero};
  return t;
}

// from the level of a joint's body to that of its parent: (D4.8) or (D4.10), then (D4.11)
template <class T>
ZVENO_INLINE void pass_revolute(const Vec3<T>& w, const T& qd, const T& qdd, Outboard<T>& x) {
  const Sym3<T>& S = x.S;
  const Vec3<T> f{-x.c.y(), x.c.x(), T(0.0)}, n{-S.xz, -S.yz, S.xx + S.yy};
  const Vec3<T> g{(w.x() + w.x()) * qd, (w.y() + w.y()) * qd, (w.z() + w.z() - qd) * qd};
  const Vec3<T> Sg = times(S, g);
  x.P.x() += f.x() * qd;
  x.P.y() += f.y() * qd;
  x.N(0, 0) -= qd * S.xy, x.N(0, 1) -= qd * S.yy, x.N(0, 2) -= qd * S.yz;
  x.N(1, 0) += qd * S.xx, x.N(1, 1) += qd * S.xy, x.N(1, 2) += qd * S.xz;
  x.F += Vec3<T>{qdd * f.x() - g.z() * f.y(), qdd * f.y() + g.z() * f.x(), g.x() * f.y() - g.y() * f.x()};
  x.M += Vec3<T>{qdd * n.x() + Sg.y(), qdd * n.y() - Sg.x(), qdd * n.z()};
}
template <class T>
ZVENO_INLINE void pass_prismatic(const Vec3<T>& w, const T& qd, const T& qdd, Outboard<T>& x) {
  const T rate = qd + qd;
  const Vec3<T> a{rate * w.y(), -(rate * w.x()), qdd};
  x.P.z() += x.m * qd;
  for (int j = 0; j < 3; ++j) x.N(2, j) += qd * x.c[j];
  x.F += a * x.m;
  x.M += cross<T>(x.c, a);
}
template <class T>
ZVENO_INLINE Outboard<T> to_parent(const JointFrame<T>& X, const Outboard<T>& b) {
  const Vec3<T>& p = X.p;
  Outboard<T> x;
  x.m = b.m;
  x.P = X.to_parent(b.P);
  x.F = X.to_parent(b.F);
  x.M = X.to_parent(b.M) + cross<T>(p, x.F);
  x.N = X.to_parent(b.N);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) x.N(i, j) += x.P[i] * p[j];
  const Moments<T> moved = shifted(p, Moments<T>{b.m, X.to_parent(b.c), X.to_parent(b.S)});
  x.c = moved.mc;
  x.S = moved.S;
  return x;
}

// of body b, at X in its parent
template <class T, class P>
ZVENO_INLINE void enter_body(const ModelView<P>& model, const JointFrame<T>& X, int b, const T& qd, const T& qdd,
                             const BaseMotion<T>& base, const NeighbourTable<CarriedMotion, T>& motion) {
  const int parent = model.parent(b);
  const bool revolute = model.revolute(b);
  Vec3<T> w, dw, a, v;
  if (parent != kWorld) {
    const CarriedMotion<T>& at = motion[parent];
    const RigidMotion<T>& from = at.rigid;
    enter(X, from.w, from.dw, from.a, from.K, w, dw, a);
    v = X.to_body(at.v + cross<T>(from.w, X.p));  // (D4.1)
  } else {
    enter(X, base, w, dw, a);
    v = base.moving ? X.to_body(cross<T>(base.w, X.p)) : zero3<T>();
  }
  add_joint(revolute, parent == kWorld && !base.moving, qd, &qdd, w, dw, a);
  if (!revolute) v.z() += qd;
  motion.set(b, CarriedMotion<T>{{w, dw, a, rotation_acceleration(w, dw)}, v});
}

// base to tips
template <class T, class P>
ZVENO_INLINE void carried_motions(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                                  const BaseMotion<T>& base, const NeighbourTable<CarriedMotion, T>& motion) {
  for (int b = 0; b < model.size(); ++b)
    ask_once(joint_frame(model, at, b),
             [&](const JointFrame<T>& X) ZVENO_INLINED { enter_body(model, X, b, qd[b], qdd[b], base, motion); });
}

// visit(b, outboard of its joint), tips to base. external_B: wrenches fixed in the bodies
template <class T, class P, class Visit>
ZVENO_INLINE void first_order_sweep(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                                    const Wrench<T>* external_B, const NeighbourTable<CarriedMotion, T>& motion,
                                    Scratch& scratch, const Visit& visit) {
  const int n = model.size();
  const bool tree = !model.topology->serial;
  Outboard<T>* joined = scratch.take<Outboard<T>>(tree ? n : 0);  // of children other than the next body
  for (int b = 0; tree && b < n; ++b)
    if (model.topology->branches[b]) joined[b] = Outboard<T>::nothing();
  Outboard<T> x;  // along a chain in registers
  bool carried = false;
  for (int b = n; b-- > 0;) {
    const BodyParams<P>& body = model.body[b];
    if (!carried) x = Outboard<T>::nothing();
    if (tree && model.topology->branches[b]) x.add(joined[b]);
    x.m += T(body.m);
    x.c += cast<T>(body.mc_B);
    x.S = x.S + cast<T>(body.S_BBo_B);
    if (external_B) {
      x.F -= external_B[b].f;
      x.M -= external_B[b].n;
    }
    visit(b, x);
    const int parent = model.parent(b);
    carried = parent == b - 1 && parent != kWorld;
    if (parent == kWorld) continue;
    if (model.revolute(b))
      pass_revolute(motion[b].rigid.w, qd[b], qdd[b], x);
    else
      pass_prismatic(motion[b].rigid.w, qd[b], qdd[b], x);
    ask_once(joint_frame(model, at, b), [&](const JointFrame<T>& X) ZVENO_INLINED { x = to_parent(X, x); });
    if (!carried) joined[parent].add(x);
  }
}

// The three matrices by rows, in the order of bodies
template <class T>
struct FirstOrder {
  T *dq, *dqd, *M;
};

// where a body stands in the axes of its root body
template <class T>
struct Placing {
  Mat3<T> R;
  Vec3<T> p;
};
template <class T, class F>
ZVENO_INLINE void each_number(Placing<T>& x, const F& f) {
  each_number(x.R, f), each_number(x.p, f);
}

// of a joint in root axes: the screw of its axis, psd and psdd
template <class T>
struct PlacedAxis {
  Screw<T> axis, psd, psdd;
};
template <class T, class F>
ZVENO_INLINE void each_number(PlacedAxis<T>& x, const F& f) {
  each_number(x.axis.v, f), each_number(x.axis.w, f), each_number(x.psd.v, f), each_number(x.psd.w, f);
  each_number(x.psdd.v, f), each_number(x.psdd.w, f);
}

// of a root, in its own axes
template <class T>
ZVENO_INLINE PlacedAxis<T> root_axis(const CarriedMotion<T>& motion, bool revolute) {
  const Vec3<T> o = zero3<T>(), z{T(0.0), T(0.0), T(1.0)};
  const AxisRates<T> rates = axis_rates(motion, revolute);
  return {revolute ? Screw<T>{o, z} : Screw<T>{z, o}, rates.psd, rates.psdd};
}
// (D4.13)
template <class T>
ZVENO_INLINE PlacedAxis<T> placed_axis(const CarriedMotion<T>& motion, bool revolute, const Placing<T>& at) {
  const Mat3<T>& R = at.R;
  const Vec3<T> z = R.col(2), o = zero3<T>();
  const AxisRates<T> rates = axis_rates(motion, revolute);
  const Vec3<T> psd_v = times_xy(R, rates.psd.v.x(), rates.psd.v.y()), psdd_v = times(R, rates.psdd.v);
  if (!revolute) return {{z, o}, {psd_v, o}, {psdd_v, o}};
  const Vec3<T> psd_w = times_xy(R, rates.psd.w.x(), rates.psd.w.y()), psdd_w = times(R, rates.psdd.w);
  return {{cross<T>(at.p, z), z}, {psd_v + cross<T>(at.p, psd_w), psd_w}, {psdd_v + cross<T>(at.p, psdd_w), psdd_w}};
}

// of a joint in root axes
template <class T>
struct PlacedTerms {
  JointTerms<T> once;
  Wrench<T> twice_u;
};
template <class T, class F>
ZVENO_INLINE void each_number(PlacedTerms<T>& x, const F& f) {
  each_number(x.once, f), each_number(x.twice_u.f, f), each_number(x.twice_u.n, f);
}
// (D4.13)
template <class T>
ZVENO_INLINE PlacedTerms<T> placed_terms(const JointTerms<T>& t, const Placing<T>& at) {
  const auto placed = [&](const Wrench<T>& a) {
    const Vec3<T> f = times(at.R, a.f);
    return Wrench<T>{f, times(at.R, a.n) + cross<T>(at.p, f)};
  };
  const Wrench<T> u = placed(t.u);
  return {{u, placed(t.t1), placed(t.t2), times(at.R, t.y)}, {twice(u.f), twice(u.n)}};
}

// elements of dq, dqd, M on the diagonal
template <class T>
ZVENO_INLINE Vec3<T> own_elements(const JointTerms<T>& t, bool revolute) {
  return revolute ? Vec3<T>{t.t1.n.z(), t.t2.n.z(), t.u.n.z()} : Vec3<T>{t.t1.f.z(), t.t2.f.z(), t.u.f.z()};
}

// some of the neighbours from body b on; those beyond the last body are as it is
template <class T, int kStep = Wide<T>::kStep>
class Some {
 public:
  using W = typename Wide<T>::type;
  bool none, all;

  template <class Is>
  ZVENO_INLINE Some(int b, int n, const Is& is) {
    const auto at = [&](int k) { return is(std::min(b + k, n - 1)); };
    int count = 0;
    for (int k = 0; k < kStep; ++k) count += at(k);
    none = count == 0, all = count == kStep;
    if (!none && !all) some_ = Wide<T>::those(at);
  }
  ZVENO_INLINE W choose(const W& these, const W& others) const {
    return all ? these : none ? others : Wide<T>::chosen(some_, these, others);
  }
  // f(true) for these, f(false) for the others
  template <class F>
  ZVENO_INLINE auto ask(const F& f) const {
    auto these = f(!none);
    if (none || all) return these;
    auto others = f(false);
    W number[sizeof(these) / sizeof(W)];
    int k = 0;
    each_number(these, [&](const W& x) ZVENO_INLINED { number[k++] = x; });
    k = 0;
    each_number(others, [&](W& x) ZVENO_INLINED { x = Wide<T>::chosen(some_, number[k++], x); });
    return others;
  }

 private:
  typename Wide<T>::Some some_{};
};
template <class T>
class Some<T, 1> {
 public:
  const bool none, all;

  template <class Is>
  ZVENO_INLINE Some(int b, int, const Is& is) : none(!is(b)), all(!none) {}
  ZVENO_INLINE const T& choose(const T& these, const T& others) const { return all ? these : others; }
  template <class F>
  ZVENO_INLINE auto ask(const F& f) const {
    return f(all);
  }
};

// Pairs in root axes, (D4.12), in square tiles: neighbours i with neighbours j, those inboard of them.
template <class T>
class PairTiles {
 public:
  static constexpr int kStep = Wide<T>::kStep;
  using W = typename Wide<T>::type;

  PairTiles(const Topology& topology, bool base_moves, const NeighbourTable<PlacedAxis, T>& axes, const FirstOrder<T>& out)
      : topology_(topology), base_moves_(base_moves), axes_(axes), out_(out), n_(topology.size()) {}

  // of the neighbours from i0 on, with everything inboard; terms: null if that is nothing; own: elements of dq, dqd, M on
  // the diagonal
  ZVENO_INLINE void rows(int i0, const Neighbours<PlacedTerms, T>* terms, const Vec3<W>& own) const {
    const int count = kStep == 1 ? 1 : std::min(kStep, n_ - i0);
    if (kStep == 1) {
      const std::ptrdiff_t corner = static_cast<std::ptrdiff_t>(i0) * n_ + i0;
      Wide<T>::store(out_.dq + corner, own.x());
      Wide<T>::store(out_.dqd + corner, own.y());
      Wide<T>::store(out_.M + corner, own.z());
    }
    for (int j0 = kStep == 1 ? i0 - 1 : i0; j0 >= 0; j0 -= kStep) {
      Tile t;
      fill(i0, j0, count, terms, t);
      store(t.q, t.column_q, out_.dq, own.x(), i0, j0, count);
      store(t.qd, t.column_qd, out_.dqd, own.y(), i0, j0, count);
      store(t.M, t.column_M, out_.M, own.z(), i0, j0, count);
    }
  }

 private:
  // elements (i, j), and (j, i) in their place
  struct Tile {
    W q[kStep], qd[kStep], M[kStep];
    W column_q[kStep], column_qd[kStep], column_M[kStep];
  };

  // row, column: elements (i, j) and (j, i); a tile on the diagonal has all three parts of the matrix
  ZVENO_INLINE void store(const W (&row)[kStep], W (&column)[kStep], T* matrix, const W& own, int i0, int j0,
                          int count) const {
    const auto at = [&](std::ptrdiff_t i, int j) { return matrix + i * n_ + j; };
    if (kStep > 1) Wide<T>::transpose(column);
    for (int k = 0; i0 == j0 && k < count; ++k) {
      const W upper = Wide<T>::chosen(Wide<T>::first(k + 1), own, column[k]);
      Wide<T>::store(at(i0 + k, j0), count, Wide<T>::chosen(Wide<T>::first(k), row[k], upper));
    }
    if (i0 == j0) return;
    for (int k = 0; k < count; ++k) Wide<T>::store(at(i0 + k, j0), row[k]);
    for (int k = 0; k < kStep; ++k) Wide<T>::store(at(j0 + k, i0), count, column[k]);
  }

  ZVENO_INLINE void fill(int i0, int j0, int count, const Neighbours<PlacedTerms, T>* terms, Tile& to) const {
    const std::vector<int>& end = topology_.end;
    const W zero(0.0);
    const bool related = terms && (topology_.serial || !Some<T>(j0, n_, [&](int j) { return i0 < end[j]; }).none);
    const bool all_related = topology_.serial || Some<T>(j0, n_, [&](int j) { return i0 + count <= end[j]; }).all;
    // turning about an axis at rest little is left
    const Some<T> still(j0, n_, [&](int j) {
      return topology_.parent[j] == kWorld && !base_moves_ && topology_.kind[j] == JointKind::revolute;
    });
    const PlacedAxis<W>& a = axes_.around(j0).all();
    for (int k = 0; k < count; ++k) {
      W &M = to.M[k], &q = to.q[k], &qd = to.qd[k], &column_q = to.column_q[k], &column_qd = to.column_qd[k];
      if (!related) {
        M = q = qd = column_q = column_qd = to.column_M[k] = zero;
        continue;
      }
      const PlacedTerms<W>& t = terms->repeated(k);
      const auto on = [](const Wrench<W>& f, const Screw<W>& x) { return dot<W>(f.f, x.v) + dot<W>(f.n, x.w); };
      if (!still.all) {
        M = on(t.once.u, a.axis);
        qd = on(t.twice_u, a.psd) + dot<W>(t.once.y, a.axis.w);
        q = on(t.once.u, a.psdd) + dot<W>(t.once.y, a.psd.w);
        column_qd = on(t.once.t2, a.axis);
        column_q = on(t.once.t1, a.axis);
      }
      if (!still.none) {
        M = still.choose(t.once.u.n.z(), M);
        qd = still.choose(t.once.y.z(), qd);
        q = still.choose(t.once.u.f.x() * a.psdd.v.x() + t.once.u.f.y() * a.psdd.v.y(), q);
        column_qd = still.choose(t.once.t2.n.z(), column_qd);
        column_q = still.choose(t.once.t1.n.z(), column_q);
      }
      if (!all_related) {
        const Some<T> inboard(j0, n_, [&](int j) { return i0 + k < end[j]; });
        M = inboard.choose(M, zero), q = inboard.choose(q, zero), qd = inboard.choose(qd, zero);
        column_q = inboard.choose(column_q, zero), column_qd = inboard.choose(column_qd, zero);
      }
      to.column_M[k] = M;
    }
  }

  const Topology& topology_;
  const bool base_moves_;
  const NeighbourTable<PlacedAxis, T>& axes_;
  const FirstOrder<T> out_;
  const int n_;
};

// Pairs in the axes of the root body of each branch, (D4.12)-(D4.13). From body to body one after the other; what belongs
// to one body alone, of neighbours at once.
template <class T, class P>
void derivatives_at_root(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                         const BaseMotion<T>& base, const Wrench<T>* external_B, const FirstOrder<T>& out,
                         Scratch& scratch) {
  using W = typename Wide<T>::type;
  constexpr int kStep = Wide<T>::kStep;
  const Scratch::Frame frame(scratch);
  const Topology& topology = *model.topology;
  const int n = model.size();
  const NeighbourTable<CarriedMotion, T> motion(n, scratch);
  const NeighbourTable<Placing, T> place(n, scratch);
  const NeighbourTable<PlacedAxis, T> axes(n, scratch);
  const auto is_revolute = [&](int b) { return model.revolute(b); };
  const auto is_root = [&](int b) { return model.parent(b) == kWorld; };
  const auto last_of = [&](int b) { return b + 1 == n || (b + 1) % kStep == 0; };  // of neighbours
  for (int b = 0; b < n; ++b) {
    ask_once(joint_frame(model, at, b), [&](const JointFrame<T>& X) ZVENO_INLINED {
      enter_stage<T>(Stage::algorithm);
      enter_body(model, X, b, qd[b], qdd[b], base, motion);
      enter_stage<T>(Stage::kinematics);
      const int parent = model.parent(b);
      if (parent == kWorld) {
        if (kStep > 1) place.set(b, {diagonal(T(1.0)), zero3<T>()});
      } else if (is_root(parent)) {
        place.set(b, {X.rotation(), X.p});
      } else {
        const Placing<T>& from = place[parent];
        place.set(b, {X.after(from.R), from.p + times(from.R, X.p)});
      }
    });
    if (!last_of(b)) continue;
    const int first = b / kStep * kStep;
    if (kStep > 1 || (!is_root(b) && !topology.is_tip(b)))
      axes.around(b).set(Some<T>(first, n, is_revolute).ask([&](bool revolute) ZVENO_INLINED {
        return placed_axis<W>(motion.around(b).all(), revolute, place.around(b).all());
      }));
    for (int k = first; k <= b; ++k)
      if (is_root(k) && !topology.is_tip(k)) axes.set(k, root_axis<T>(motion[k], model.revolute(k)));
  }

  const PairTiles<T> pairs(topology, base.moving, axes, out);
  Neighbours<Outboard, T> outboard;
  outboard.clear();
  first_order_sweep(model, at, qd, qdd, external_B, motion, scratch, [&](int b, const Outboard<T>& x) ZVENO_INLINED {
    outboard.set(b % kStep, x);
    if (b % kStep) return;
    enter_stage<T>(Stage::algorithm);
    const Some<T> revolute(b, n, is_revolute);
    const JointTerms<W> t = revolute.ask([&](bool revolute) ZVENO_INLINED {
      const CarriedMotion<W>& at = motion.around(b).all();
      return revolute ? revolute_terms<W>(at, outboard.all()) : prismatic_terms<W>(at, outboard.all());
    });
    const Vec3<W> own = revolute.ask([&](bool revolute) ZVENO_INLINED { return own_elements<W>(t, revolute); });
    enter_stage<T>(Stage::kinematics);
    Neighbours<PlacedTerms, T> terms;
    const bool inner = kStep > 1 || !is_root(b);
    if (inner) terms.set(placed_terms<W>(t, place.around(b).all()));
    enter_stage<T>(Stage::assembly);
    pairs.rows(b, inner ? &terms : nullptr, own);
    enter_stage<T>(Stage::algorithm);
  });
}

// The same from body to body in body axes, (D4.12): in code written out for one chain most of the steps vanish.
template <class T, class P>
void derivatives_walk(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                      const BaseMotion<T>& base, const Wrench<T>* external_B, const FirstOrder<T>& out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  const NeighbourTable<CarriedMotion, T> motion(static_cast<int>(n), scratch);
  enter_stage<T>(Stage::algorithm);
  for (std::ptrdiff_t k = 0; k < n * n; ++k) out.dq[k] = out.dqd[k] = out.M[k] = T(0.0);
  carried_motions(model, at, qd, qdd, base, motion);
  first_order_sweep(model, at, qd, qdd, external_B, motion, scratch, [&](int b, const Outboard<T>& x) {
    const JointTerms<T> t = model.revolute(b) ? revolute_terms(motion[b], x) : prismatic_terms(motion[b], x);
    Wrench<T> u = t.u, t1 = t.t1, t2 = t.t2;
    Vec3<T> y = t.y;
    const auto along = [&](int j, const Wrench<T>& a) { return model.revolute(j) ? a.n.z() : a.f.z(); };
    out.M[b * n + b] = along(b, u);
    out.dq[b * n + b] = along(b, t1);
    out.dqd[b * n + b] = along(b, t2);
    for (int i = b; model.parent(i) != kWorld; i = model.parent(i)) {
      const JointFrame<T> X = joint_frame(model, at, i);
      const auto carry = [&](Wrench<T>& a) {
        a.f = X.to_parent(a.f);
        a.n = X.to_parent(a.n) + cross<T>(X.p, a.f);
      };
      carry(u);
      carry(t1);
      carry(t2);
      y = X.to_parent(y);
      const int j = model.parent(i);
      const AxisRates<T> rates = axis_rates(motion[j], model.revolute(j));
      const auto on = [&](const Screw<T>& a) { return dot<T>(u.f, a.v) + dot<T>(u.n, a.w); };
      // psd has no components along z
      const T inwards =
          u.f.x() * rates.psd.v.x() + u.f.y() * rates.psd.v.y() + u.n.x() * rates.psd.w.x() + u.n.y() * rates.psd.w.y();
      out.M[b * n + j] = out.M[j * n + b] = along(j, u);
      out.dq[j * n + b] = along(j, t1);
      out.dqd[j * n + b] = along(j, t2);
      out.dq[b * n + j] = on(rates.psdd) + y.x() * rates.psd.w.x() + y.y() * rates.psd.w.y();
      out.dqd[b * n + j] = model.revolute(j) ? inwards + inwards + y.z() : inwards + inwards;
    }
  });
}

// ---- wrenches that keep their components in the world, (D4.14)

// on a body, then on it and everything outboard: forces f at points x, moments n, and the sum of f x', base axes and origin
template <class T>
struct FixedLoad {
  Vec3<T> f, n;
  Mat3<T> G;
};

// dq -= their part; load: n, on return sums over the bodies outboard
template <class T, class P>
void subtract_fixed_loads(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, FixedLoad<T>* load, T* dq) {
  const std::ptrdiff_t n = model.size();
  for (int b = static_cast<int>(n); b-- > 0;) {
    if (const int parent = model.parent(b); parent != kWorld) {
      load[parent].f += load[b].f;
      load[parent].n += load[b].n;
      load[parent].G = load[parent].G + load[b].G;
    }
    const Vec3<T> e = R_WB[b].col(2);
    const FixedLoad<T>& x = load[b];
    Vec3<T> column = cross<T>(e, x.f), row = column;
    if (model.revolute(b)) {
      const T trace = x.G(0, 0) + x.G(1, 1) + x.G(2, 2);
      column = cross<T>(cross<T>(p_W[b], e), x.f) + transposed_times(x.G, e) - e * trace;
      row = column + cross<T>(e, x.n);
    }
    for (int j = b; j != kWorld; j = model.parent(j)) {
      if (!model.revolute(j)) continue;
      const Vec3<T> axis = R_WB[j].col(2);
      dq[j * n + b] -= dot<T>(column, axis);
      if (j != b) dq[b * n + j] -= dot<T>(row, axis);
    }
  }
}

}  // namespace zveno
