// Recursive Newton-Euler in body axes: docs/chains.md (5.1)-(5.6), rearranged as (5.7).
//
// K = [dw]~ + [w]~[w]~ is formed once per body: it gives the accelerations of the children's origins (a + K p), the
// force m a + K mc, and, with S = integral of p p' dm, the moment about the origin, the axial vector of K S.
// Revolute joint: 99 mul 84 add.
#pragma once

#include <zveno/kernel/chain/joint.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// K = dw~ + w~ w~, 6 mul 9 add
template <class T>
ZVENO_INLINE Mat3<T> rotation_acceleration(const Vec3<T>& w, const Vec3<T>& dw) {
  const T xx = w.x() * w.x(), yy = w.y() * w.y(), zz = w.z() * w.z();
  const T xy = w.x() * w.y(), xz = w.x() * w.z(), yz = w.y() * w.z();
  Mat3<T> K;
  K(0, 0) = -(yy + zz), K(1, 1) = -(xx + zz), K(2, 2) = -(xx + yy);
  K(0, 1) = xy - dw.z(), K(1, 0) = xy + dw.z();
  K(0, 2) = xz + dw.y(), K(2, 0) = xz - dw.y();
  K(1, 2) = yz - dw.x(), K(2, 1) = yz + dw.x();
  return K;
}

// integral of p x (K p) dm, 18 mul 15 add
template <class T>
ZVENO_INLINE Vec3<T> axial_of_product(const Mat3<T>& K, const Sym3<T>& S) {
  return {K(2, 0) * S.xy + K(2, 1) * S.yy + K(2, 2) * S.yz - K(1, 0) * S.xz - K(1, 1) * S.yz - K(1, 2) * S.zz,
          K(0, 0) * S.xz + K(0, 1) * S.yz + K(0, 2) * S.zz - K(2, 0) * S.xx - K(2, 1) * S.xy - K(2, 2) * S.xz,
          K(1, 0) * S.xx + K(1, 1) * S.xy + K(1, 2) * S.xz - K(0, 0) * S.xy - K(0, 1) * S.yy - K(0, 2) * S.yz};
}

// of a body, body axes; a: of its origin, gravity included
template <class T>
struct RigidMotion {
  Vec3<T> w, dw, a;
  Mat3<T> K;
};

// the joint's own part of (5.2)-(5.3); qdd may be null (zero). still: the body hangs on a base that does not move
template <class T>
ZVENO_INLINE RigidMotion<T> with_joint(bool revolute, bool still, const T& rate, const T* qdd, Vec3<T> w, Vec3<T> dw,
                                       Vec3<T> a) {
  if (revolute) {
    if (!still) {  // (w_P x z) qd
      dw.x() += w.y() * rate;
      dw.y() -= w.x() * rate;
    }
    w.z() = still ? rate : w.z() + rate;
    if (qdd) dw.z() = still ? *qdd : dw.z() + *qdd;
  } else {
    if (!still) {  // 2 (w x z) qd
      a.x() += w.y() * (rate + rate);
      a.y() -= w.x() * (rate + rate);
    }
    if (qdd) a.z() += *qdd;
  }
  return {w, dw, a, rotation_acceleration(w, dw)};
}

// the motion of body b, which stands at X in its parent or in the base
template <class T>
ZVENO_INLINE RigidMotion<T> entered(const JointFrame<T>& X, bool revolute, const RigidMotion<T>& from, const T& rate,
                                    const T* qdd) {
  // one after the other: the order of arguments is the compiler's, and so would be that of a traced graph
  const Vec3<T> w = X.to_body(from.w), dw = X.to_body(from.dw), a = X.to_body(from.a + times(from.K, X.p));
  return with_joint<T>(revolute, false, rate, qdd, w, dw, a);
}
template <class T>
ZVENO_INLINE RigidMotion<T> entered(const JointFrame<T>& X, bool revolute, const BaseMotion<T>& base, const T& rate,
                                    const T* qdd) {
  if (!base.moving) return with_joint<T>(revolute, true, rate, qdd, zero3<T>(), zero3<T>(), X.to_body(base.a));
  const Vec3<T> w = X.to_body(base.w), dw = X.to_body(base.dw),
                a = X.to_body(base.a + times(rotation_acceleration(base.w, base.dw), X.p));
  return with_joint<T>(revolute, false, rate, qdd, w, dw, a);
}

// base to tips: the wrench that each body's motion needs, about Bo, body axes; qdd may be null (zero accelerations)
template <class T, class P>
void body_wrenches(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                   const BaseMotion<T>& base, const Wrench<T>* external_B, Wrench<T>* wrench, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  // along a chain the parent's motion stays in registers; a tree remembers it
  const bool tree = !model.topology->serial;
  RigidMotion<T>* motion = scratch.take<RigidMotion<T>>(tree ? n : 0);
  RigidMotion<T> x;
  for (int b = 0; b < n; ++b) {
    // computed in locals and stored at the end: a store in between makes the compiler reload every parameter
    const JointFrame<T> X = joint_frame(model, at, b);
    const BodyParams<P>& body = model.body[b];
    const int parent = model.parent(b);
    const bool revolute = model.revolute(b);
    const T* const acceleration = qdd ? qdd + b : nullptr;
    if (parent == kWorld)
      x = entered(X, revolute, base, qd[b], acceleration);
    else
      x = entered(X, revolute, parent == b - 1 ? x : motion[parent], qd[b], acceleration);
    Vec3<T> f = x.a * T(body.m) + times(x.K, cast<T>(body.mc_B));
    Vec3<T> m = axial_of_product(x.K, cast<T>(body.S_BBo_B)) + cross<T>(cast<T>(body.mc_B), x.a);
    if (external_B) {
      f -= external_B[b].f;
      m -= external_B[b].n;
    }
    if (tree) motion[b] = x;
    wrench[b].f = f;
    wrench[b].n = m;
  }
}

// tips to base: wrench[b] becomes the wrench that the parent applies to body b through its joint, about Bo, body axes
template <class T, class P>
void accumulate_wrenches(const ModelView<P>& model, const JointPosition<T>& at, Wrench<T>* wrench) {
  Vec3<T> f = zero3<T>(), m = f;  // from the child b + 1, in registers
  bool carried = false;
  for (int b = model.size(); b-- > 0;) {
    const int parent = model.parent(b);
    Vec3<T> fb = wrench[b].f, nb = wrench[b].n;
    if (carried) {
      fb += f;
      nb += m;
      wrench[b].f = fb;
      wrench[b].n = nb;
    }
    carried = parent == b - 1 && parent != kWorld;
    if (parent == kWorld) continue;
    const JointFrame<T> X = joint_frame(model, at, b);
    f = X.to_parent(fb);
    m = X.to_parent(nb) + cross<T>(X.p, f);
    if (!carried) {
      wrench[parent].f += f;
      wrench[parent].n += m;
    }
  }
}

// generalised forces, those of the joints themselves excluded; wrench: n, on return the joint wrenches
template <class T, class P>
void rnea(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd, const BaseMotion<T>& base,
          const Wrench<T>* external_B, Wrench<T>* wrench, T* tau, Scratch& scratch) {
  body_wrenches(model, at, qd, qdd, base, external_B, wrench, scratch);
  accumulate_wrenches(model, at, wrench);
  for (int b = 0; b < model.size(); ++b) tau[b] = model.revolute(b) ? wrench[b].n.z() : wrench[b].f.z();
}

}  // namespace zveno
