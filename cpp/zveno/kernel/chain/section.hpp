// The wrench through a cut of a link: docs/chains.md (9.4)-(9.5), after Newton-Euler.
//
// Body axes: a, w, dw of the cut body along its path to the base, then the part of the body beyond the cut and the joint
// wrenches that hang on it. A joint of the path: 41 mul 34 add, a joint on the far part: 22 mul 20 add; the cut, turned to
// its axes: 66 mul 57 add.
#pragma once

#include <zveno/kernel/chain/rnea.hpp>
#include <zveno/model/section.hpp>

namespace zveno {

// (5.1)-(5.3) from the base to one body: its motion in its own axes; qdd may be null (zero accelerations)
template <class T, class P>
BaseMotion<T> motion_of_body(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* qdd,
                             const BaseMotion<T>& base, int body, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  int* path = scratch.take<int>(model.size());
  int length = 0;
  for (int b = body; b != kWorld; b = model.parent(b)) path[length++] = b;
  BaseMotion<T> motion = base;
  while (length-- > 0) {
    const int b = path[length];
    const JointFrame<T, true> X = joint_frame<true>(model, at, b);
    const bool still = !motion.moving;
    const T rate = qd[b];
    Vec3<T> a = motion.a;
    if (still) {
      motion.w = motion.dw = zero3<T>();
    } else {
      if (!X.coincident()) a += times(rotation_acceleration(motion.w, motion.dw), X.p);
      motion.w = X.to_body(motion.w);
      motion.dw = X.to_body(motion.dw);
    }
    motion.a = X.to_body(a);
    motion.moving = true;
    if (model.revolute(b)) {
      if (!still) {
        motion.dw.x() += motion.w.y() * rate;
        motion.dw.y() -= motion.w.x() * rate;
      }
      motion.w.z() = still ? rate : motion.w.z() + rate;
      if (qdd) motion.dw.z() = still ? qdd[b] : motion.dw.z() + qdd[b];
    } else {
      if (!still) {
        motion.a.x() += motion.w.y() * (rate + rate);
        motion.a.y() -= motion.w.x() * (rate + rate);
      }
      if (qdd) motion.a.z() += qdd[b];
    }
  }
  return motion;
}

// What the near side applies to the far side, about the cut, body axes. motion: of the cut body, as above; joint: wrenches
// through all joints, from rnea; load: external wrench on the far part about Bo, null for none.
template <class T, class P>
Wrench<T> section_wrench(const ModelView<P>& model, const JointPosition<T>& at, const SectionCut& cut,
                         const BaseMotion<T>& motion, const Wrench<T>* joint, const Wrench<T>* load) {
  const Vec3<T> c = cast<T>(cut.far.mc);
  Vec3<T> f = motion.a * T(cut.far.m), m = cross<T>(c, motion.a);
  if (motion.moving) {
    const Mat3<T> K = rotation_acceleration(motion.w, motion.dw);
    f += times(K, c);
    m += axial_of_product(K, cast<T>(cut.far.S));
  }
  for (const int b : cut.carried) {
    const JointFrame<T, true> X = joint_frame<true>(model, at, b);
    const Vec3<T> force = X.to_parent(joint[b].f);
    f += force;
    m += X.moment_to_parent(joint[b].n, force);
  }
  if (load) {
    f -= load->f;
    m -= load->n;
  }
  m -= cross<T>(cast<T>(cut.p_BoCut_B), f);
  return {f, m};
}

}  // namespace zveno
