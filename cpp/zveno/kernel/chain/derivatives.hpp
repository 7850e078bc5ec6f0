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
ZVENO_INLINE void each_number(Wrench<T>& x, const F& f) {
  each_number(x.f, f), each_number(x.n, f);
}
template <class T, class F>
ZVENO_INLINE void each_number(JointTerms<T>& x, const F& f) {
  each_number(x.u, f), each_number(x.t1, f), each_number(x.t2, f), each_number(x.y, f);
}

// how the axis of a joint is carried along, (D4.7): psd and psdd, about the origin of its body
template <class T>
ZVENO_INLINE Screw<T> axis_rate(const CarriedMotion<T>& at, bool revolute) {
  const Vec3<T>&w = at.rigid.w, &v = at.v;
  const Vec3<T> ed{w.y(), -w.x(), T(0.0)};
  if (!revolute) return {ed, zero3<T>()};
  return {{v.y(), -v.x(), T(0.0)}, ed};
}
template <class T>
ZVENO_INLINE Screw<T> axis_acceleration(const CarriedMotion<T>& at, bool revolute) {
  const Vec3<T>&w = at.rigid.w, &a = at.rigid.a, &v = at.v, Kz = at.rigid.K.col(2);
  if (!revolute) return {Kz, zero3<T>()};
  // 2 ed x v = 2 (-w_x v_z, -w_y v_z, w_x v_x + w_y v_y)
  const T wx = w.x() + w.x(), wy = w.y() + w.y();
  return {{a.y() + wx * v.z(), wy * v.z() - a.x(), -(wx * v.x() + wy * v.y())}, Kz};
}

// wrench of a unit acceleration, (D4.3) or (D4.9)
template <class T>
ZVENO_INLINE Wrench<T> unit_wrench(const Outboard<T>& x, bool revolute) {
  const Vec3<T>& c = x.c;
  const T zero(0.0);
  if (!revolute) return {{zero, zero, x.m}, {c.y(), -c.x(), zero}};
  return {{-c.y(), c.x(), zero}, {-x.S.xz, -x.S.yz, x.S.xx + x.S.yy}};
}

// effort of the joint
template <class T>
ZVENO_INLINE T joint_effort(const CarriedMotion<T>& at, const Outboard<T>& x, bool revolute) {
  const Vec3<T>&a = at.rigid.a, &c = x.c;
  const Mat3<T>& K = at.rigid.K;
  const Sym3<T>& S = x.S;
  if (!revolute) return a.z() * x.m + (K(2, 0) * c.x() + K(2, 1) * c.y() + K(2, 2) * c.z()) + x.F.z();
  const T turning = (K(1, 0) * S.xx + K(1, 2) * S.xz) - (K(0, 1) * S.yy + K(0, 2) * S.yz) + (K(1, 1) - K(0, 0)) * S.xy;
  return (c.x() * a.y() - c.y() * a.x()) + turning + x.M.z();
}

// (D4.3)-(D4.6)
template <class T>
ZVENO_INLINE JointTerms<T> revolute_terms(const CarriedMotion<T>& at, const Outboard<T>& x) {
  const Vec3<T>&w = at.rigid.w, &a = at.rigid.a, &v = at.v, &c = x.c, &P = x.P;
  const Mat3<T>& K = at.rigid.K;
  const Sym3<T>& S = x.S;
  const Mat3<T> Tn = complement(x.N);
  const T wx = w.x(), wy = w.y(), wz = w.z();
  JointTerms<T> t;
  t.u = unit_wrench(x, true);
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
  t.u = unit_wrench(x, false);
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
  x.N = X.to_parent(b.N);
  if (X.placement & kCoincident) {
    x.M = X.to_parent(b.M);
    x.c = X.to_parent(b.c);
    x.S = X.to_parent(b.S);
    return x;
  }
  x.M = X.to_parent(b.M) + cross<T>(p, x.F);
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
    if (X.placement & kCoincident) {
      w = X.to_body(from.w), dw = X.to_body(from.dw), a = X.to_body(from.a);
      v = X.to_body(at.v);
    } else {
      enter(X, from.w, from.dw, from.a, from.K, w, dw, a);
      v = X.to_body(at.v + cross<T>(from.w, X.p));  // (D4.1)
    }
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
    if (!model.hinge(b)) {
      x.m += T(body.m);
      x.c += cast<T>(body.mc_B);
      x.S = x.S + cast<T>(body.S_BBo_B);
    }
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
ZVENO_INLINE void each_number(Screw<T>& x, const F& f) {
  each_number(x.v, f), each_number(x.w, f);
}
template <class T, class F>
ZVENO_INLINE void each_number(PlacedAxis<T>& x, const F& f) {
  each_number(x.axis, f), each_number(x.psd, f), each_number(x.psdd, f);
}

// of a root, in its own axes
template <class T>
ZVENO_INLINE PlacedAxis<T> root_axis(const CarriedMotion<T>& motion, bool revolute) {
  const Vec3<T> o = zero3<T>(), z{T(0.0), T(0.0), T(1.0)};
  return {revolute ? Screw<T>{o, z} : Screw<T>{z, o}, axis_rate(motion, revolute), axis_acceleration(motion, revolute)};
}
// (D4.13)
template <class T>
ZVENO_INLINE Screw<T> placed_axis(bool revolute, const Placing<T>& at) {
  const Vec3<T> z = at.R.col(2), o = zero3<T>();
  return revolute ? Screw<T>{cross<T>(at.p, z), z} : Screw<T>{z, o};
}
template <class T>
ZVENO_INLINE Screw<T> placed_rate(const CarriedMotion<T>& motion, bool revolute, const Placing<T>& at) {
  const Screw<T> psd = axis_rate(motion, revolute);
  const Vec3<T> v = times_xy(at.R, psd.v.x(), psd.v.y());
  if (!revolute) return {v, zero3<T>()};
  const Vec3<T> w = times_xy(at.R, psd.w.x(), psd.w.y());
  return {v + cross<T>(at.p, w), w};
}
template <class T>
ZVENO_INLINE Screw<T> placed_acceleration(const CarriedMotion<T>& motion, bool revolute, const Placing<T>& at) {
  const Screw<T> psdd = axis_acceleration(motion, revolute);
  const Vec3<T> v = times(at.R, psdd.v);
  if (!revolute) return {v, zero3<T>()};
  const Vec3<T> w = times(at.R, psdd.w);
  return {v + cross<T>(at.p, w), w};
}

// of a joint in root axes
template <class T>
struct PlacedTerms {
  Wrench<T> t1, t2, twice_u;
  Vec3<T> y;
};
template <class T, class F>
ZVENO_INLINE void each_number(PlacedTerms<T>& x, const F& f) {
  each_number(x.t1, f), each_number(x.t2, f), each_number(x.twice_u, f), each_number(x.y, f);
}
// (D4.13)
template <class T>
ZVENO_INLINE Wrench<T> placed(const Wrench<T>& a, const Placing<T>& at) {
  const Vec3<T> f = times(at.R, a.f);
  return {f, times(at.R, a.n) + cross<T>(at.p, f)};
}
// along the joint's own axis
template <class T>
ZVENO_INLINE T own_element(const Wrench<T>& a, bool revolute) {
  return revolute ? a.n.z() : a.f.z();
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
  // the first of them, or none
  explicit ZVENO_INLINE Some(bool first) : none(!first), all(false) {
    if (first) some_ = Wide<T>::first(1);
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

// Pairs in root axes, (D4.12): each of the neighbours i with everything inboard.
template <class T, int kStep = Wide<T>::kStep>
class Pairs;

template <class T>
ZVENO_INLINE T power(const Wrench<T>& f, const Screw<T>& x) {
  return dot<T>(f.f, x.v) + dot<T>(f.n, x.w);
}

// turning about an axis at rest little is left
inline bool still_root(const Topology& topology, bool base_moves, int j) {
  return topology.parent[j] == kWorld && !base_moves && topology.kind[j] == JointKind::revolute;
}

// one by one
template <class T>
class Pairs<T, 1> {
 public:
  Pairs(const Topology& topology, bool base_moves, const NeighbourTable<PlacedAxis, T>& axes, const FirstOrder<T>& out)
      : topology_(topology), base_moves_(base_moves), axes_(axes), out_(out), n_(topology.size()) {}

  // M of body i; u: null if there is nothing inboard; own: the element on the diagonal; both: above it too
  ZVENO_INLINE void mass(int i, const Neighbours<Wrench, T>* u, const T& own, bool both) const {
    at(out_.M, i, i) = own;
    for (int j = i; j-- > 0;) {
      T M = T(0.0);
      if (u && i < topology_.end[j]) M = still(j) ? u->all().n.z() : power<T>(u->all(), axes_[j].axis);
      at(out_.M, i, j) = M;
      if (both) at(out_.M, j, i) = M;
    }
  }

  // dq and dqd
  ZVENO_INLINE void slopes(int i, const Neighbours<Wrench, T>* u, const Neighbours<PlacedTerms, T>& terms, const T& own_q,
                           const T& own_qd) const {
    at(out_.dq, i, i) = own_q;
    at(out_.dqd, i, i) = own_qd;
    if (!u) {
      for (int j = i; j-- > 0;) at(out_.dq, i, j) = at(out_.dqd, i, j) = at(out_.dq, j, i) = at(out_.dqd, j, i) = T(0.0);
      return;
    }
    for (int j = i; j-- > 0;) {
      T &q = at(out_.dq, i, j), &qd = at(out_.dqd, i, j), &column_q = at(out_.dq, j, i), &column_qd = at(out_.dqd, j, i);
      if (i >= topology_.end[j]) {
        q = qd = column_q = column_qd = T(0.0);
        continue;
      }
      const Wrench<T>& f = u->all();
      const PlacedTerms<T>& t = terms.all();
      const PlacedAxis<T>& a = axes_[j];
      if (still(j)) {
        qd = t.y.z();
        q = f.f.x() * a.psdd.v.x() + f.f.y() * a.psdd.v.y();
        column_qd = t.t2.n.z();
        column_q = t.t1.n.z();
      } else {
        qd = power<T>(t.twice_u, a.psd) + dot<T>(t.y, a.axis.w);
        q = power<T>(f, a.psdd) + dot<T>(t.y, a.psd.w);
        column_qd = power<T>(t.t2, a.axis);
        column_q = power<T>(t.t1, a.axis);
      }
    }
  }

 private:
  ZVENO_INLINE bool still(int j) const { return still_root(topology_, base_moves_, j); }
  ZVENO_INLINE T& at(T* matrix, std::ptrdiff_t i, int j) const { return matrix[i * n_ + j]; }

  const Topology& topology_;
  const bool base_moves_;
  const NeighbourTable<PlacedAxis, T>& axes_;
  const FirstOrder<T> out_;
  const int n_;
};

// In square tiles, neighbours i with neighbours j. What stands in row i is computed of neighbours j at once, what stands in
// row j of neighbours i: no element has to change its lane but those of M, which is symmetric.
template <class T, int kStep>
class Pairs {
 public:
  using W = typename Wide<T>::type;

  Pairs(const Topology& topology, bool base_moves, const NeighbourTable<PlacedAxis, T>& axes, const FirstOrder<T>& out)
      : topology_(topology), base_moves_(base_moves), axes_(axes), out_(out), n_(topology.size()) {}

  // M of the neighbours from i0 on; own: elements on the diagonal
  ZVENO_INLINE void mass(int i0, const Neighbours<Wrench, T>* u, const W& own, bool) const {
    const int count = std::min(kStep, n_ - i0);
    ZVENO_ASSUME(count > 0);
    for (int j0 = i0; j0 >= 0; j0 -= kStep) {
      const Related related(*this, i0, j0, count);
      W row[kStep];
      if (related.plain) {
        const Screw<W> axis = axes_.around(j0).all().axis;
        ZVENO_ROLLED
        for (int k = 0; k < count; ++k) {
          row[k] = power<W>(u->repeated(k), axis);
          Wide<T>::store(at(out_.M, i0 + k, j0), row[k]);
        }
      } else {
        const Screw<W> axis = axes_.around(j0).all().axis;
        ZVENO_ROLLED
        for (int k = 0; k < count; ++k) {
          const Wrench<W> f = u->repeated(k);
          row[k] = related.still.choose(f.n.z(), power<W>(f, axis));
          if (!related.all) row[k] = inboard(i0 + k, j0).choose(row[k], W(0.0));
        }
      }
      W column[kStep];
      for (int k = 0; k < kStep; ++k) column[k] = row[k < count ? k : 0];
      Wide<T>::transpose(column);
      if (related.plain)
        store_columns(column, out_.M, i0, j0, count);
      else
        store(row, column, out_.M, own, i0, j0, count);
    }
  }

  // dq and dqd
  ZVENO_INLINE void slopes(int i0, const Neighbours<Wrench, T>* u, const Neighbours<PlacedTerms, T>& terms, const W& own_q,
                           const W& own_qd) const {
    const int count = std::min(kStep, n_ - i0);
    for (int j0 = i0; j0 >= 0; j0 -= kStep) {
      const Related related(*this, i0, j0, count);
      const Neighbours<PlacedAxis, T>& axes = axes_.around(j0);
      if (related.plain) {
        const PlacedAxis<W> a = axes.all();
        ZVENO_ROLLED
        for (int k = 0; k < count; ++k) {
          const PlacedTerms<W> t = terms.repeated(k);
          Wide<T>::store(at(out_.dqd, i0 + k, j0), power<W>(t.twice_u, a.psd) + dot<W>(t.y, a.axis.w));
          Wide<T>::store(at(out_.dq, i0 + k, j0), power<W>(u->repeated(k), a.psdd) + dot<W>(t.y, a.psd.w));
        }
        const PlacedTerms<W> t = terms.all();
        ZVENO_ROLLED
        for (int k = 0; k < kStep; ++k) {
          const Screw<W> axis = axes.repeated(k).axis;
          Wide<T>::store(at(out_.dqd, j0 + k, i0), count, power<W>(t.t2, axis));
          Wide<T>::store(at(out_.dq, j0 + k, i0), count, power<W>(t.t1, axis));
        }
        continue;
      }
      const W zero(0.0);
      W row_q[kStep], row_qd[kStep], column_q[kStep], column_qd[kStep];
      const PlacedAxis<W> a = axes.all();
      ZVENO_ROLLED
      for (int k = 0; k < count; ++k) {
        const PlacedTerms<W> t = terms.repeated(k);
        const Wrench<W> f = u->repeated(k);
        const W qd = power<W>(t.twice_u, a.psd) + dot<W>(t.y, a.axis.w);
        const W q = power<W>(f, a.psdd) + dot<W>(t.y, a.psd.w);
        const W still_q = f.f.x() * a.psdd.v.x() + f.f.y() * a.psdd.v.y();
        row_qd[k] = related.still.choose(t.y.z(), qd);
        row_q[k] = related.still.choose(still_q, q);
        if (related.all) continue;
        const Some<T> those = inboard(i0 + k, j0);
        row_qd[k] = those.choose(row_qd[k], zero), row_q[k] = those.choose(row_q[k], zero);
      }
      const int columns = i0 == j0 ? count : kStep;
      ZVENO_ROLLED
      for (int k = 0; k < columns; ++k) {
        const PlacedTerms<W> t = terms.all();
        const Screw<W> axis = axes.repeated(k).axis;
        const int j = j0 + k;
        const bool still = still_root(topology_, base_moves_, j);
        column_qd[k] = still ? t.t2.n.z() : power<W>(t.t2, axis);
        column_q[k] = still ? t.t1.n.z() : power<W>(t.t1, axis);
        if (related.all) continue;
        const auto those = Wide<T>::first(topology_.end[j] - i0);
        column_qd[k] = Wide<T>::chosen(those, column_qd[k], zero), column_q[k] = Wide<T>::chosen(those, column_q[k], zero);
      }
      store(row_q, column_q, out_.dq, own_q, i0, j0, count);
      store(row_qd, column_qd, out_.dqd, own_qd, i0, j0, count);
    }
  }

 private:
  // neighbours from i0 on with those from j0 on
  struct Related {
    const Some<T> still;
    const bool all, plain;  // all j are inboard of all i; and none is at rest

    ZVENO_INLINE Related(const Pairs& x, int i0, int j0, int count)
        : still(x.topology_.serial ? Some<T>(j0 == 0 && still_root(x.topology_, x.base_moves_, 0))
                                   : Some<T>(j0, x.n_, [&](int j) { return still_root(x.topology_, x.base_moves_, j); })),
          all(x.topology_.serial || Some<T>(j0, x.n_, [&](int j) { return i0 + count <= x.topology_.end[j]; }).all),
          plain(i0 != j0 && all && still.none) {}
  };

  ZVENO_INLINE Some<T> inboard(int i, int j0) const {
    return Some<T>(j0, n_, [&](int j) { return i < topology_.end[j]; });
  }
  ZVENO_INLINE T* at(T* matrix, std::ptrdiff_t i, int j) const { return matrix + i * n_ + j; }

  ZVENO_INLINE void store_columns(const W (&column)[kStep], T* matrix, int i0, int j0, int count) const {
    for (int k = 0; k < kStep; ++k) Wide<T>::store(at(matrix, j0 + k, i0), count, column[k]);
  }
  // elements (i, j) by rows i and (j, i) by rows j; a tile on the diagonal has all three parts of the matrix
  ZVENO_INLINE void store(const W (&row)[kStep], const W (&column)[kStep], T* matrix, const W& own, int i0, int j0,
                          int count) const {
    if (i0 == j0) {
      ZVENO_ROLLED
      for (int k = 0; k < count; ++k) {
        const W upper = Wide<T>::chosen(Wide<T>::first(k + 1), own, column[k]);
        Wide<T>::store(at(matrix, i0 + k, j0), count, Wide<T>::chosen(Wide<T>::first(k), row[k], upper));
      }
      return;
    }
    for (int k = 0; k < count; ++k) Wide<T>::store(at(matrix, i0 + k, j0), row[k]);
    store_columns(column, matrix, i0, j0, count);
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
class AtRoot {
 public:
  using W = typename Wide<T>::type;
  static constexpr int kStep = Wide<T>::kStep;

  AtRoot(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const BaseMotion<T>& base,
         const Wrench<T>* external_B, const FirstOrder<T>& out, Scratch& scratch)
      : model_(model),
        topology_(*model.topology),
        at_(at),
        qd_(qd),
        base_(base),
        external_B_(external_B),
        scratch_(scratch),
        n_(model.size()),
        motion_(n_, scratch),
        place_(n_, scratch),
        axes_(n_, scratch),
        pairs_(topology_, base.moving, axes_, out) {}

  // of given accelerations
  ZVENO_INLINE void derive(const T* qdd) {
    enter_bodies(qdd, true);
    Neighbours<Outboard, T> outboard;
    outboard.clear();
    const auto use = [&](int b, const Outboard<W>& x) ZVENO_INLINED {
      enter_stage<T>(Stage::algorithm);
      const Some<T> revolute = revolute_from(b);
      const JointTerms<W> t = terms(b, revolute, x);
      enter_stage<T>(Stage::kinematics);
      Neighbours<Wrench, T> u;
      if (inner(b)) place_wrench(b, t.u, u);
      pair(b, revolute, t, u, true);
    };
    first_order_sweep(model_, at_, qd_, qdd, external_B_, motion_, scratch_, [&](int b, const Outboard<T>& x) ZVENO_INLINED {
      if constexpr (kStep == 1) {
        use(b, x);
      } else {
        outboard.set(b % kStep, x);
        if (b % kStep == 0) use(b, outboard.all());
      }
    });
  }

  // of the accelerations that solve(efforts without accelerations, qdd) finds when M is there: what does not depend on them
  // is computed before
  template <class Solve>
  ZVENO_INLINE void derive_solved(const Solve& solve) {
    T* const effort = scratch_.take<T>(padded_size());
    T* const qdd = scratch_.take<T>(padded_size());
    for (int b = 0; b < n_; ++b) qdd[b] = T(0.0);
    enter_bodies(qdd, false);
    const NeighbourTable<Outboard, T> outboard(n_, scratch_);
    const NeighbourTable<Wrench, T> u(n_, scratch_);
    first_order_sweep(model_, at_, qd_, qdd, external_B_, motion_, scratch_, [&](int b, const Outboard<T>& x) ZVENO_INLINED {
      outboard.set(b, x);
      if (b % kStep) return;
      enter_stage<T>(Stage::algorithm);
      const Some<T> revolute = revolute_from(b);
      const Outboard<W>& all = outboard.around(b).all();
      const CarriedMotion<W>& motion = motion_.around(b).all();
      Wide<T>::store(effort + b, one_of(revolute, [&](bool r) ZVENO_INLINED { return joint_effort<W>(motion, all, r); }));
      const Wrench<W> unit = revolute.ask([&](bool r) ZVENO_INLINED { return unit_wrench<W>(all, r); });
      const W own = one_of(revolute, [&](bool r) ZVENO_INLINED { return own_element<W>(unit, r); });
      enter_stage<T>(Stage::kinematics);
      if (inner(b)) place_wrench(b, unit, u.around(b));
      enter_stage<T>(Stage::assembly);
      pairs_.mass(b, inner(b) ? &u.around(b) : nullptr, own, false);
      enter_stage<T>(Stage::algorithm);
    });
    solve(effort, qdd);
    accelerate(qdd);
    add_wrenches(qdd, outboard, [&](int b, const Wrench<W>& added) ZVENO_INLINED {
      const Some<T> revolute = revolute_from(b);
      outboard.around(b).change([&](Outboard<W>& x) ZVENO_INLINED {
        x.F += added.f;
        x.M += added.n;
      });
      pair(b, revolute, terms(b, revolute, outboard.around(b).all()), u.around(b), false);
    });
  }

 private:
  bool is_root(int b) const { return model_.parent(b) == kWorld; }
  // in the place of neighbours: with something inboard
  ZVENO_INLINE bool inner(int b) const { return kStep > 1 || !is_root(b); }
  ZVENO_INLINE bool last_of_neighbours(int b) const { return b + 1 == n_ || (b + 1) % kStep == 0; }
  ZVENO_INLINE Some<T> revolute_from(int b) const {
    return Some<T>(b, n_, [&](int k) { return model_.revolute(k); });
  }
  std::size_t padded_size() const { return static_cast<std::size_t>((n_ + kStep - 1) / kStep * kStep); }
  template <class F>
  static ZVENO_INLINE W one_of(const Some<T>& some, const F& f) {
    return some.all ? f(true) : some.none ? f(false) : some.choose(f(true), f(false));
  }

  ZVENO_INLINE JointTerms<W> terms(int b, const Some<T>& revolute, const Outboard<W>& x) const {
    return revolute.ask([&](bool r) ZVENO_INLINED {
      const CarriedMotion<W>& at = motion_.around(b).all();
      return r ? revolute_terms<W>(at, x) : prismatic_terms<W>(at, x);
    });
  }

  ZVENO_INLINE void place_wrench(int b, const Wrench<W>& a, Neighbours<Wrench, T>& to) const {
    to.make([&](Wrench<W>& x) ZVENO_INLINED { x = placed<W>(a, place_.around(b).all()); });
  }

  // rows and columns of the neighbours from b on; u: placed
  ZVENO_INLINE void pair(int b, const Some<T>& revolute, const JointTerms<W>& t, const Neighbours<Wrench, T>& u,
                         bool mass) const {
    const W own_q = one_of(revolute, [&](bool r) ZVENO_INLINED { return own_element<W>(t.t1, r); });
    const W own_qd = one_of(revolute, [&](bool r) ZVENO_INLINED { return own_element<W>(t.t2, r); });
    enter_stage<T>(Stage::kinematics);
    Neighbours<PlacedTerms, T> terms;
    const Neighbours<Wrench, T>* unit = inner(b) ? &u : nullptr;
    if (unit)
      terms.make([&](PlacedTerms<W>& x) ZVENO_INLINED {
        const Placing<W>& place = place_.around(b).all();
        x.t1 = placed<W>(t.t1, place);
        x.t2 = placed<W>(t.t2, place);
        x.twice_u = {twice(u.all().f), twice(u.all().n)};
        x.y = times(place.R, t.y);
      });
    enter_stage<T>(Stage::assembly);
    if (mass) pairs_.mass(b, unit, one_of(revolute, [&](bool r) ZVENO_INLINED { return own_element<W>(t.u, r); }), true);
    pairs_.slopes(b, unit, terms, own_q, own_qd);
    enter_stage<T>(Stage::algorithm);
  }

  // base to tips: how bodies move and where they are; accelerated: all of it
  ZVENO_INLINE void enter_bodies(const T* qdd, bool accelerated) {
    for (int b = 0; b < n_; ++b) {
      ask_once(joint_frame(model_, at_, b), [&](const JointFrame<T>& X) ZVENO_INLINED {
        enter_stage<T>(Stage::algorithm);
        enter_body(model_, X, b, qd_[b], qdd[b], base_, motion_);
        enter_stage<T>(Stage::kinematics);
        const int parent = model_.parent(b);
        if (parent == kWorld) {
          if (kStep > 1) place_.set(b, {diagonal(T(1.0)), zero3<T>()});
        } else if (is_root(parent)) {
          place_.set(b, {X.rotation(), X.p});
        } else {
          const Placing<T>& from = place_[parent];
          const bool coincident = (X.placement & kCoincident) != 0;
          place_.set(b, {X.after(from.R), coincident ? from.p : from.p + times(from.R, X.p)});
        }
      });
      if (last_of_neighbours(b)) place_axes(b, accelerated);
    }
  }
  // of the neighbours up to b; accelerated: with psdd
  ZVENO_INLINE void place_axes(int b, bool accelerated) {
    if (has_axes(b))
      axes_.around(b).make([&](PlacedAxis<W>& x) ZVENO_INLINED {
        const CarriedMotion<W>& motion = motion_.around(b).all();
        const Placing<W>& place = place_.around(b).all();
        const Some<T> revolute = revolute_from(b / kStep * kStep);
        x.axis = revolute.ask([&](bool r) ZVENO_INLINED { return placed_axis<W>(r, place); });
        x.psd = revolute.ask([&](bool r) ZVENO_INLINED { return placed_rate<W>(motion, r, place); });
        if (accelerated)
          x.psdd = revolute.ask([&](bool r) ZVENO_INLINED { return placed_acceleration<W>(motion, r, place); });
        else if (kStep > 1)  // written as a whole
          x.psdd = {zero3<W>(), zero3<W>()};
      });
    place_roots(b);
  }
  ZVENO_INLINE void place_accelerations(int b) {
    if (has_axes(b))
      axes_.around(b).change([&](PlacedAxis<W>& x) ZVENO_INLINED {
        const CarriedMotion<W>& motion = motion_.around(b).all();
        const Placing<W>& place = place_.around(b).all();
        x.psdd = revolute_from(b / kStep * kStep).ask([&](bool r) ZVENO_INLINED {
          return placed_acceleration<W>(motion, r, place);
        });
      });
    place_roots(b);
  }
  ZVENO_INLINE void place_roots(int b) {
    for (int k = b / kStep * kStep; k <= b; ++k)
      if (is_root(k) && !topology_.is_tip(k)) axes_.set(k, root_axis<T>(motion_[k], model_.revolute(k)));
  }
  ZVENO_INLINE bool has_axes(int b) const { return kStep > 1 || (!is_root(b) && !topology_.is_tip(b)); }

  // base to tips: motions without accelerations of the joints -> with them
  ZVENO_INLINE void accelerate(const T* qdd) {
    const NeighbourTable<Screw, T> added(n_, scratch_);
    Screw<T> x{zero3<T>(), zero3<T>()};  // along a chain in registers
    for (int b = 0; b < n_; ++b) {
      ask_once(joint_frame(model_, at_, b), [&](const JointFrame<T>& X) ZVENO_INLINED {
        const int parent = model_.parent(b);
        if (parent == kWorld) {
          x = {zero3<T>(), zero3<T>()};
        } else {
          if (parent != b - 1) x = added[parent];
          if (!(X.placement & kCoincident)) x.v += cross<T>(x.w, X.p);
          x = {X.to_body(x.v), X.to_body(x.w)};
        }
        if (model_.revolute(b))
          x.w.z() += qdd[b];
        else
          x.v.z() += qdd[b];
        if (kStep > 1 || topology_.branches[b]) added.set(b, x);
      });
      if (!last_of_neighbours(b)) continue;
      const auto more = [&]() ZVENO_INLINED {
        if constexpr (kStep > 1)
          return added.around(b).all();
        else
          return x;
      }();
      motion_.around(b).change([&](CarriedMotion<W>& motion) ZVENO_INLINED {
        Mat3<W>& K = motion.rigid.K;
        motion.rigid.a += more.v;
        K(1, 0) += more.w.z(), K(0, 1) -= more.w.z();
        K(0, 2) += more.w.y(), K(2, 0) -= more.w.y();
        K(2, 1) += more.w.x(), K(1, 2) -= more.w.x();
      });
      place_accelerations(b);
    }
  }

  // tips to base: visit(b, what accelerations add to F and M of the neighbours from b on)
  template <class Visit>
  ZVENO_INLINE void add_wrenches(const T* qdd, const NeighbourTable<Outboard, T>& outboard, const Visit& visit) {
    const bool tree = !topology_.serial;
    Wrench<T>* joined = scratch_.take<Wrench<T>>(tree ? n_ : 0);  // of children other than the next body
    for (int b = 0; tree && b < n_; ++b)
      if (topology_.branches[b]) joined[b] = {zero3<T>(), zero3<T>()};
    Neighbours<Wrench, T> added;
    added.clear();
    Wrench<T> x{zero3<T>(), zero3<T>()};
    bool carried = false;
    for (int b = n_; b-- > 0;) {
      if (!carried) x = {zero3<T>(), zero3<T>()};
      if (tree && topology_.branches[b]) {
        x.f += joined[b].f;
        x.n += joined[b].n;
      }
      added.set(b % kStep, x);
      if (b % kStep == 0) visit(b, added.all());
      const int parent = model_.parent(b);
      carried = parent == b - 1 && parent != kWorld;
      if (parent == kWorld) continue;
      const Wrench<T> unit = unit_wrench<T>(outboard[b], model_.revolute(b));
      x.f += unit.f * qdd[b];
      x.n += unit.n * qdd[b];
      ask_once(joint_frame(model_, at_, b), [&](const JointFrame<T>& X) ZVENO_INLINED {
        x.f = X.to_parent(x.f);
        x.n = X.to_parent(x.n);
        if (!(X.placement & kCoincident)) x.n += cross<T>(X.p, x.f);
      });
      if (carried) continue;
      joined[parent].f += x.f;
      joined[parent].n += x.n;
    }
  }

  const ModelView<P>& model_;
  const Topology& topology_;
  const JointPosition<T>& at_;
  const T* const qd_;
  const BaseMotion<T>& base_;
  const Wrench<T>* const external_B_;
  Scratch& scratch_;
  const int n_;
  const NeighbourTable<CarriedMotion, T> motion_;
  const NeighbourTable<Placing, T> place_;
  const NeighbourTable<PlacedAxis, T> axes_;
  const Pairs<T> pairs_;
};

template <class T, class P>
void derivatives_at_root(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                         const BaseMotion<T>& base, const Wrench<T>* external_B, const FirstOrder<T>& out,
                         Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  AtRoot<T, P>(model, at, qd, base, external_B, out, scratch).derive(qdd);
}

// solve(efforts that the motion without joint accelerations needs, qdd), called when the lower triangle of out.M is there;
// what it takes of the scratch memory stays
template <class T, class P, class Solve>
void solved_derivatives_at_root(const ModelView<P>& model, const JointPosition<T>& at, const T* qd,
                                const BaseMotion<T>& base, const Wrench<T>* external_B, const FirstOrder<T>& out,
                                Scratch& scratch, const Solve& solve) {
  AtRoot<T, P>(model, at, qd, base, external_B, out, scratch).derive_solved(solve);
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
      const Screw<T> psd = axis_rate(motion[j], model.revolute(j)), psdd = axis_acceleration(motion[j], model.revolute(j));
      const auto on = [&](const Screw<T>& a) { return dot<T>(u.f, a.v) + dot<T>(u.n, a.w); };
      // psd has no components along z
      const T inwards = u.f.x() * psd.v.x() + u.f.y() * psd.v.y() + u.n.x() * psd.w.x() + u.n.y() * psd.w.y();
      out.M[b * n + j] = out.M[j * n + b] = along(j, u);
      out.dq[j * n + b] = along(j, t1);
      out.dqd[j * n + b] = along(j, t2);
      out.dq[b * n + j] = on(psdd) + y.x() * psd.w.x() + y.y() * psd.w.y();
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
