// Moments of mass about the base origin O, base axes: centre of mass, momentum and its matrix. docs/chains.md (12.1)-(12.3).
// A motion is the pair [v; w] of the velocity at O and the angular velocity.
#pragma once

#include <zveno/kernel/chain/joint.hpp>
#include <zveno/math/inertia.hpp>

namespace zveno {

template <class T>
struct Screw {
  Vec3<T> v, w;  // a motion [v; w] at O, or a momentum [linear; angular] about O
};

template <class T>
ZVENO_INLINE T dot(const Screw<T>& a, const Screw<T>& b) {
  return dot<T>(a.v, b.v) + dot<T>(a.w, b.w);
}

// motion of joint b at unit rate
template <class T, class P>
Screw<T> joint_screw(const ModelView<P>& model, int b, const Mat3<T>* R_WB, const Vec3<T>* p_W) {
  const Vec3<T> e = R_WB[b].col(2);
  if (model.revolute(b)) return {cross<T>(p_W[b], e), e};
  return {e, zero3<T>()};
}

template <class T, class P>
Moments<T> moments_about_base(const ModelView<P>& model, int b, const Mat3<T>* R_WB, const Vec3<T>* p_W) {
  const BodyParams<P>& body = model.body[b];
  return moved(R_WB[b], p_W[b], Moments<T>{T(body.m), cast<T>(body.mc_B), cast<T>(body.S_BBo_B)});
}

// every body with all that it carries
template <class T, class P>
Moments<T>* composite_moments(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, Scratch& scratch) {
  const int n = model.size();
  Moments<T>* sum = scratch.take<Moments<T>>(n);
  for (int b = 0; b < n; ++b)
    if (!model.hinge(b)) sum[b] = moments_about_base(model, b, R_WB, p_W);
  for (int b = n; b-- > 0;)
    if (const int parent = model.parent(b); parent != kWorld)
      sum[parent] = model.hinge(parent) ? sum[b] : sum[parent] + sum[b];
  return sum;
}

// momentum of the mass x in the motion s: m v + w x mc, mc x v + I w
template <class T>
Screw<T> momentum_of(const Moments<T>& x, const Screw<T>& s) {
  return {s.v * x.m + cross<T>(s.w, x.mc), cross<T>(x.mc, s.v) + times(inertia_of(x.S), s.w)};
}

// the moving bodies together
template <class T, class P>
Moments<T> whole_moments(const ModelView<P>& model, const Moments<T>* composite) {
  Moments<T> whole{T(0.0), zero3<T>(), {T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0)}};
  for (int b = 0; b < model.size(); ++b)
    if (model.parent(b) == kWorld) whole = whole + composite[b];
  return whole;
}

}  // namespace zveno
