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
#include <zveno/scalar/block.hpp>

namespace zveno {

// of a body, body axes: as in inverse dynamics, and the velocity v of its origin relative to the base
template <class T>
struct CarriedMotion {
  RigidMotion<T> rigid;
  Vec3<T> v;
};

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

// wrenches by q, qd and qdd of a joint, and y, (D4.3)-(D4.6) or (D4.9)
template <class T>
struct JointTerms {
  Wrench<T> u, t1, t2;
  Vec3<T> y;
};

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
                             const BaseMotion<T>& base, CarriedMotion<T>* motion) {
  const int parent = model.parent(b);
  const bool revolute = model.revolute(b);
  Vec3<T> w, dw, a, v;
  if (parent != kWorld) {
    const RigidMotion<T>& from = motion[parent].rigid;
    enter(X, from.w, from.dw, from.a, from.K, w, dw, a);
    v = X.to_body(motion[parent].v + cross<T>(from.w, X.p));  // (D4.1)
  } else {
    enter(X, base, w, dw, a);
    v = base.moving ? X.to_body(cross<T>(base.w, X.p)) : zero3<T>();
  }
  add_joint(revolute, parent == kWorld && !base.moving, qd, &qdd, w, dw, a);
  if (!revolute) v.z() += qd;
  CarriedMotion<T>& here = motion[b];
  here.rigid.w = w, here.rigid.dw = dw, here.rigid.a = a, here.rigid.K = rotation_acceleration(w, dw), here.v = v;
}

// base to tips
template <class T, class P>
ZVENO_INLINE void carried_motions(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                                  const BaseMotion<T>& base, CarriedMotion<T>* motion) {
  for (int b = 0; b < model.size(); ++b)
    ask_once(joint_frame(model, at, b),
             [&](const JointFrame<T>& X) ZVENO_INLINED { enter_body(model, X, b, qd[b], qdd[b], base, motion); });
}

// visit(b, outboard of its joint), tips to base. external_B: wrenches fixed in the bodies
template <class T, class P, class Visit>
ZVENO_INLINE void first_order_sweep(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                                    const Wrench<T>* external_B, const CarriedMotion<T>* motion, Scratch& scratch,
                                    const Visit& visit) {
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

// u, t1, t2 and y of one joint, component by component: forces beside y, then moments
template <class T>
struct TermRows {
  T row[3][8];

  ZVENO_INLINE void set(const JointTerms<T>& t) {
    for (int k = 0; k < 3; ++k) {
      row[k][0] = t.u.f[k], row[k][1] = t.t1.f[k], row[k][2] = t.t2.f[k], row[k][3] = t.y[k];
      row[k][4] = t.u.n[k], row[k][5] = t.t1.n[k], row[k][6] = t.t2.n[k], row[k][7] = T(0.0);
    }
  }

  // (D4.13): to the axes and the origin of a frame in which this one stands at R, p; several vectors at once
  ZVENO_INLINE void place(const Mat3<T>& R, const Vec3<T>& p) {
    using W = Wide<T, 4>;
    using V = typename W::type;
    const auto times_R = [&](int k) {
      const V x = W::load(row[0] + k), y = W::load(row[1] + k), z = W::load(row[2] + k);
      const auto line = [&](int i) { return V(R(i, 0)) * x + V(R(i, 1)) * y + V(R(i, 2)) * z; };
      return Vec3<V>{line(0), line(1), line(2)};
    };
    const auto store = [&](int k, const Vec3<V>& a) {
      for (int i = 0; i < 3; ++i) W::store(row[i] + k, a[i]);
    };
    const Vec3<V> arm{V(p.x()), V(p.y()), V(p.z())};
    for (int k = 0; k < 4; k += W::kStep) {
      const Vec3<V> f = times_R(k);
      store(k, f);
      if (k < 3) store(k + 4, times_R(k + 4) + cross<V>(arm, f));
    }
  }
};

// of every joint in root axes: the screw of its axis, psd and psdd; joints that are loaded at once stand side by side
enum { kAxisV, kAxisW, kPsdV, kPsdW, kPsddV, kPsddW };
template <class T>
class AxisTable {
 public:
  static constexpr int kStep = Wide<T>::kStep;
  using W = typename Wide<T>::type;

  AxisTable(std::ptrdiff_t n, Scratch& scratch) : table_(scratch.take<T>(18 * (n + kStep - 1))) {}
  // R, p: in root axes; no R: the root itself
  ZVENO_INLINE void place(int b, bool revolute, const CarriedMotion<T>& motion, const Mat3<T>* R, const Vec3<T>& p) {
    const AxisRates<T> rates = axis_rates(motion, revolute);
    const Vec3<T> o = zero3<T>();
    if (!R) {
      const Vec3<T> z{T(0.0), T(0.0), T(1.0)};
      put(kAxisV, b, revolute ? o : z), put(kAxisW, b, revolute ? z : o);
      put(kPsdV, b, rates.psd.v), put(kPsdW, b, rates.psd.w);
      put(kPsddV, b, rates.psdd.v), put(kPsddW, b, rates.psdd.w);
      return;
    }
    const Vec3<T> z = R->col(2), psd_v = times_xy(*R, rates.psd.v.x(), rates.psd.v.y());
    put(kAxisV, b, revolute ? cross<T>(p, z) : z);
    put(kAxisW, b, revolute ? z : o);
    if (revolute) {
      const Vec3<T> psd_w = times_xy(*R, rates.psd.w.x(), rates.psd.w.y()), psdd_w = times(*R, rates.psdd.w);
      put(kPsdV, b, psd_v + cross<T>(p, psd_w)), put(kPsdW, b, psd_w);
      put(kPsddV, b, times(*R, rates.psdd.v) + cross<T>(p, psdd_w)), put(kPsddW, b, psdd_w);
    } else {
      put(kPsdV, b, psd_v), put(kPsdW, b, o);
      put(kPsddV, b, times(*R, rates.psdd.v)), put(kPsddW, b, o);
    }
  }
  // of kStep joints from j on, a multiple of kStep; tips, and what is beyond the last joint, may be anything
  ZVENO_INLINE Vec3<W> at(int which, int j) const {
    const T* x = table_ + 18 * j + 3 * which * kStep;
    return {Wide<T>::load(x), Wide<T>::load(x + kStep), Wide<T>::load(x + 2 * kStep)};
  }

 private:
  ZVENO_INLINE void put(int which, int b, const Vec3<T>& a) {
    T* x = table_ + 18 * (b / kStep * kStep) + 3 * which * kStep + b % kStep;
    x[0] = a.x(), x[kStep] = a.y(), x[2 * kStep] = a.z();
  }

  T* const table_;
};

// Rows of pairs, (D4.12): joint i with all inboard of it, tips to base.
template <class T>
class PairRows {
 public:
  PairRows(const Topology& topology, const FirstOrder<T>& out) : topology_(topology), out_(out), n_(topology.size()) {}

  // t: terms in root axes, null for a root; diagonal: of dq, dqd, M; still: acceleration of the root if it turns about an
  // axis at rest, else null
  ZVENO_INLINE void row(int i, const TermRows<T>* t, const Vec3<T>& diagonal, const AxisTable<T>& axes,
                        const Vec3<T>* still) {
    T *const row_q = out_.dq + i * n_, *const row_qd = out_.dqd + i * n_, *const row_M = out_.M + i * n_;
    T *const column_q = out_.dq + i, *const column_qd = out_.dqd + i, *const column_M = out_.M + i;
    int done = 0;  // joints that are neither inboard nor outboard of this one
    const auto clear = [&](int end) {
      for (; done < end; ++done) {
        row_M[done] = row_q[done] = row_qd[done] = T(0.0);
        column_M[done * n_] = column_q[done * n_] = column_qd[done * n_] = T(0.0);
      }
    };
    if (t) {
      const auto wide = [&](int k) { return Vec3<W>{W(t->row[0][k]), W(t->row[1][k]), W(t->row[2][k])}; };
      const Vec3<W> uf = wide(0), af = wide(1), bf = wide(2), y = wide(3), un = wide(4), an = wide(5), bn = wide(6);
      const Vec3<W> uf2 = uf + uf, un2 = un + un;
      for (int r = topology_.first_run[i]; r < topology_.first_run[i + 1]; ++r) {
        const Span run = topology_.ancestor_runs[r];
        clear(run.begin);
        const bool simple = still && topology_.parent[run.begin] == kWorld;  // of a still root little is left
        const int begin = run.begin + (simple && (kStep == 1 || run.end - run.begin == 1));  // whole steps, then corrected
        for (int j = begin / kStep * kStep; j < run.end; j += kStep) {
          const Vec3<W> l = axes.at(kAxisV, j), e = axes.at(kAxisW, j), dl = axes.at(kPsdV, j), de = axes.at(kPsdW, j);
          const auto along = [&](T* x, const W& value) { Wide<T>::store(x + j, 1, begin - j, run.end - j, value); };
          const auto down = [&](T* x, const W& value) { Wide<T>::store(x + j * n_, n_, begin - j, run.end - j, value); };
          const W M = dot<W>(uf, l) + dot<W>(un, e);
          along(row_M, M);
          down(column_M, M);
          along(row_qd, (dot<W>(uf2, dl) + dot<W>(un2, de)) + dot<W>(y, e));
          along(row_q, (dot<W>(uf, axes.at(kPsddV, j)) + dot<W>(un, axes.at(kPsddW, j))) + dot<W>(y, de));
          down(column_qd, dot<W>(bf, l) + dot<W>(bn, e));
          down(column_q, dot<W>(af, l) + dot<W>(an, e));
        }
        done = run.end;
        if (!simple) continue;
        const int j = run.begin;
        row_M[j] = column_M[j * n_] = t->row[2][4];
        column_q[j * n_] = t->row[2][5];
        column_qd[j * n_] = t->row[2][6];
        row_qd[j] = t->row[2][3];
        row_q[j] = t->row[0][0] * still->y() - t->row[1][0] * still->x();
      }
    }
    clear(i);
    row_q[i] = diagonal.x(), row_qd[i] = diagonal.y(), row_M[i] = diagonal.z();
  }

 private:
  using W = typename Wide<T>::type;
  static constexpr int kStep = Wide<T>::kStep;
  const Topology& topology_;
  const FirstOrder<T> out_;
  const std::ptrdiff_t n_;
};

// Pairs in the axes of the root body of each branch, (D4.12)-(D4.13): one product per element over contiguous inboard
// joints.
template <class T, class P>
void derivatives_at_root(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                         const BaseMotion<T>& base, const Wrench<T>* external_B, const FirstOrder<T>& out,
                         Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Topology& topology = *model.topology;
  const int n = model.size();
  CarriedMotion<T>* motion = scratch.take<CarriedMotion<T>>(n);
  Mat3<T>* R = scratch.take<Mat3<T>>(n);
  Vec3<T>* p = scratch.take<Vec3<T>>(n);
  int* root = scratch.take<int>(n);
  AxisTable<T> axes(n, scratch);
  for (int b = 0; b < n; ++b)
    ask_once(joint_frame(model, at, b), [&](const JointFrame<T>& X) ZVENO_INLINED {
      const int parent = model.parent(b);
      root[b] = parent == kWorld ? b : root[parent];
      enter_stage<T>(Stage::algorithm);
      enter_body(model, X, b, qd[b], qdd[b], base, motion);
      enter_stage<T>(Stage::kinematics);
      if (parent != kWorld) {
        if (root[b] == parent) {
          R[b] = X.rotation();
          p[b] = X.p;
        } else {
          R[b] = X.after(R[parent]);
          p[b] = p[parent] + times(R[parent], X.p);
        }
      }
      if (!topology.is_tip(b)) axes.place(b, model.revolute(b), motion[b], parent == kWorld ? nullptr : R + b, p[b]);
    });

  PairRows<T> pairs(topology, out);
  first_order_sweep(model, at, qd, qdd, external_B, motion, scratch, [&](int b, const Outboard<T>& x) ZVENO_INLINED {
    enter_stage<T>(Stage::algorithm);
    const bool revolute = model.revolute(b), inner = model.parent(b) != kWorld;
    const JointTerms<T> t = revolute ? revolute_terms(motion[b], x) : prismatic_terms(motion[b], x);
    const Vec3<T> diagonal =
        revolute ? Vec3<T>{t.t1.n.z(), t.t2.n.z(), t.u.n.z()} : Vec3<T>{t.t1.f.z(), t.t2.f.z(), t.u.f.z()};
    TermRows<T> terms;
    if (inner) {
      enter_stage<T>(Stage::kinematics);
      terms.set(t);
      terms.place(R[b], p[b]);
    }
    enter_stage<T>(Stage::assembly);
    const bool still = model.revolute(root[b]) && !base.moving;
    pairs.row(b, inner ? &terms : nullptr, diagonal, axes, still ? &motion[root[b]].rigid.a : nullptr);
    enter_stage<T>(Stage::algorithm);
  });
}

// The same from body to body in body axes, (D4.12): in code written out for one chain most of the steps vanish.
template <class T, class P>
void derivatives_walk(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                      const BaseMotion<T>& base, const Wrench<T>* external_B, const FirstOrder<T>& out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  CarriedMotion<T>* motion = scratch.take<CarriedMotion<T>>(n);
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
