// The joint: the one place that knows how a body's frame stands in its parent's; docs/chains.md, section 1.
#pragma once

#include <zveno/kernel/stage.hpp>
#include <zveno/math/turn.hpp>
#include <zveno/model/params.hpp>

namespace zveno {

// sines and cosines of theta, and displacements (prismatic joints), one per body
template <class T>
struct JointPosition {
  const T* s;
  const T* c;
  const T* q;
};

template <class T>
struct Wrench {
  Vec3<T> f, n;  // force, moment about the origin of the frame it is given in
};

template <bool Stacked = false, class T, class P>
ZVENO_INLINE JointFrame<T, Stacked> joint_frame(const ModelView<P>& model, const JointPosition<T>& at, int b) {
  const BodyParams<P>& body = model.body[b];
  JointFrame<T, Stacked> frame{{at.s[b], at.c[b]},
                               {T(body.alpha.s), T(body.alpha.c)},
                               {T(body.phi.s), T(body.phi.c)},
                               model.topology->placement[b],
                               cast<T>(body.p_PJ)};
  if (!model.revolute(b)) frame.p += cast<T>(body.axis_P) * at.q[b];
  return frame;
}

// motion of the base, base axes, (5.9); gravity g enters as a = -g
template <class T>
struct BaseMotion {
  Vec3<T> w, dw, a;
  bool moving;  // false: w and dw are known zeros
};

}  // namespace zveno
