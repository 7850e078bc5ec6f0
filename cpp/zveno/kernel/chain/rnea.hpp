// Recursive Newton-Euler in body axes: docs/chains.md (5.1)-(5.6), rearranged as (5.7).
//
// K = [dw]~ + [w]~[w]~ is formed once per body: it gives the accelerations of the children's origins (a + K p), the
// force m a + K mc, and, with S = integral of p p' dm, the moment about the origin, the axial vector of K S.
// Revolute joint: 99 mul 84 add; a hinge, (5.10), on a hinge at a right angle: 22 mul 14 add.
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

// (5.1)-(5.3): w, dw, a of the body that stands at X in its parent or in the base, and moves by a joint; qdd may be null
// (zero). Results by reference, member by member: structures that are returned go through memory.
template <class T, bool Stacked>
ZVENO_INLINE void enter(const JointFrame<T, Stacked>& X, const Vec3<T>& w_P, const Vec3<T>& dw_P, const Vec3<T>& a_P,
                        const Mat3<T>& K_P, Vec3<T>& w, Vec3<T>& dw, Vec3<T>& a) {
  w = X.to_body(w_P);
  dw = X.to_body(dw_P);
  if (X.coincident())
    a = X.to_body(a_P);
  else
    a = X.to_body(a_P + times(K_P, X.p));
}
template <class T, bool Stacked>
ZVENO_INLINE void enter(const JointFrame<T, Stacked>& X, const BaseMotion<T>& base, Vec3<T>& w, Vec3<T>& dw, Vec3<T>& a) {
  if (base.moving) {
    enter(X, base.w, base.dw, base.a, rotation_acceleration(base.w, base.dw), w, dw, a);
  } else {
    w = dw = zero3<T>();
    a = X.to_body(base.a);
  }
}
template <class T>
ZVENO_INLINE void add_joint(bool revolute, bool still, const T& rate, const T* qdd, Vec3<T>& w, Vec3<T>& dw, Vec3<T>& a) {
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
}

// base to tips: the wrench that each body's motion needs, about Bo, body axes; qdd may be null (zero accelerations)
template <bool Stacked, class T, class P>
void body_wrenches(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                   const BaseMotion<T>& base, const Wrench<T>* external_B, Wrench<T>* wrench, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  // along a chain the parent's motion stays in registers; a tree remembers it
  const bool tree = !model.topology->serial;
  RigidMotion<T>* motion = scratch.take<RigidMotion<T>>(tree ? n : 0);
  Vec3<T> w = zero3<T>(), dw = w, a = w;
  Mat3<T> K = diagonal(T(0.0));
  for (int b = 0; b < n; ++b) {
    // computed in locals and stored at the end: a store in between makes the compiler reload every parameter
    const JointFrame<T, Stacked> X = joint_frame<Stacked>(model, at, b);
    const BodyParams<P>& body = model.body[b];
    const int parent = model.parent(b);
    Vec3<T> wb, dwb, ab;
    if (parent != kWorld) {
      if (parent != b - 1) {
        const RigidMotion<T>& from = motion[parent];
        w = from.w, dw = from.dw, a = from.a, K = from.K;
      }
      enter(X, w, dw, a, K, wb, dwb, ab);
    } else {
      enter(X, base, wb, dwb, ab);
    }
    add_joint(model.revolute(b), parent == kWorld && !base.moving, qd[b], qdd ? qdd + b : nullptr, wb, dwb, ab);
    if (Stacked && model.hinge(b)) {  // no mass to move, and K has no arm to act on
      w = wb, dw = dwb, a = ab;
      wrench[b].f = external_B ? -external_B[b].f : zero3<T>();
      wrench[b].n = external_B ? -external_B[b].n : zero3<T>();
      continue;
    }
    const Mat3<T> Kb = rotation_acceleration(wb, dwb);
    Vec3<T> f = ab * T(body.m) + times(Kb, cast<T>(body.mc_B));
    Vec3<T> m = axial_of_product(Kb, cast<T>(body.S_BBo_B)) + cross<T>(cast<T>(body.mc_B), ab);
    if (external_B) {
      f -= external_B[b].f;
      m -= external_B[b].n;
    }
    w = wb, dw = dwb, a = ab, K = Kb;
    if (tree) motion[b].w = wb, motion[b].dw = dwb, motion[b].a = ab, motion[b].K = Kb;
    wrench[b].f = f;
    wrench[b].n = m;
  }
}

// tips to base: wrench[b] becomes the wrench that the parent applies to body b through its joint, about Bo, body axes;
// loaded: there are external wrenches, hinges may have one
template <bool Stacked, class T, class P>
void accumulate_wrenches(const ModelView<P>& model, const JointPosition<T>& at, bool loaded, Wrench<T>* wrench) {
  Vec3<T> f = zero3<T>(), m = f;  // from the child b + 1, in registers
  bool carried = false;
  for (int b = model.size(); b-- > 0;) {
    const int parent = model.parent(b);
    Vec3<T> fb = wrench[b].f, nb = wrench[b].n;
    if (carried) {
      if (Stacked && model.hinge(b) && !loaded) {
        fb = f, nb = m;
      } else {
        fb += f;
        nb += m;
      }
      wrench[b].f = fb;
      wrench[b].n = nb;
    }
    carried = parent == b - 1 && parent != kWorld;
    if (parent == kWorld) continue;
    const JointFrame<T, Stacked> X = joint_frame<Stacked>(model, at, b);
    f = X.to_parent(fb);
    m = X.moment_to_parent(nb, f);
    if (!carried) {
      wrench[parent].f += f;
      wrench[parent].n += m;
    }
  }
}

// wrench: n, on return those that the parents apply to the bodies through their joints
template <class T, class P>
void joint_wrenches(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                    const BaseMotion<T>& base, const Wrench<T>* external_B, Wrench<T>* wrench, Scratch& scratch) {
  const bool loaded = external_B != nullptr;
  if (model.topology->stacked) {
    body_wrenches<true>(model, at, qd, qdd, base, external_B, wrench, scratch);
    accumulate_wrenches<true>(model, at, loaded, wrench);
  } else {
    body_wrenches<false>(model, at, qd, qdd, base, external_B, wrench, scratch);
    accumulate_wrenches<false>(model, at, loaded, wrench);
  }
}

// generalised forces, those of the joints themselves excluded; wrench: as above
template <class T, class P>
void rnea(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd, const BaseMotion<T>& base,
          const Wrench<T>* external_B, Wrench<T>* wrench, T* tau, Scratch& scratch) {
  joint_wrenches(model, at, qd, qdd, base, external_B, wrench, scratch);
  for (int b = 0; b < model.size(); ++b) tau[b] = model.revolute(b) ? wrench[b].n.z() : wrench[b].f.z();
}

}  // namespace zveno
