// Frames of all bodies in base axes, Jacobians and their rates, energies. docs/chains.md (2.1)-(2.7), (9.2)-(10.4).
#pragma once

#include <zveno/kernel/chain/joint.hpp>

namespace zveno {

template <bool Stacked, class T, class P>
ZVENO_APART void chain_of_frames(const ModelView<P>& model, const JointPosition<T>& at, Mat3<T>* R_WB, Vec3<T>* p_W,
                                 int from = 0) {
  Mat3<T> R = diagonal(T(1.0));  // of the body before, in registers
  Vec3<T> p = zero3<T>();
  if (from > 0) R = R_WB[from - 1], p = p_W[from - 1];
  for (int b = from; b < model.size(); ++b) {
    const JointFrame<T, Stacked> X = joint_frame<Stacked>(model, at, b);
    const int parent = model.parent(b);
    if (parent == kWorld) {
      R = X.after(diagonal(T(1.0)));
      p = X.p;
    } else {
      if (parent != b - 1) R = R_WB[parent], p = p_W[parent];
      if (!X.coincident()) p += times(R, X.p);
      R = X.after(R);
    }
    R_WB[b] = R;
    p_W[b] = p;
  }
}

// R_WB and p_WoBo of every body; revolute joint: 33 mul 21 add
template <class T, class P>
void body_frames(const ModelView<P>& model, const JointPosition<T>& at, Mat3<T>* R_WB, Vec3<T>* p_W) {
  if (model.topology->stacked)
    chain_of_frames<true>(model, at, R_WB, p_W);
  else
    chain_of_frames<false>(model, at, R_WB, p_W);
}
// the same of the bodies after the first `from`, whose frames are known
template <class T, class P>
void body_frames_after(int from, const ModelView<P>& model, const JointPosition<T>& at, Mat3<T>* R_WB, Vec3<T>* p_W) {
  if (model.topology->stacked)
    chain_of_frames<true>(model, at, R_WB, p_W, from);
  else
    chain_of_frames<false>(model, at, R_WB, p_W, from);
}

// angular velocities and velocities of the origins, base axes
template <class T, class P>
void body_velocities(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, const T* qd, Vec3<T>* w,
                     Vec3<T>* v) {
  for (int b = 0; b < model.size(); ++b) {
    const int parent = model.parent(b);
    const Vec3<T> e = R_WB[b].col(2), rate = e * qd[b];
    if (parent == kWorld) {
      w[b] = zero3<T>();
      v[b] = zero3<T>();
    } else {
      w[b] = w[parent];
      v[b] = v[parent];
      if (!model.coincident(b)) v[b] += cross<T>(w[parent], p_W[b] - p_W[parent]);
    }
    (model.revolute(b) ? w[b] : v[b]) += rate;
  }
}

// velocity of a point x (base axes) of body `last`, along its path to the base
template <class T, class P>
void point_velocity(const ModelView<P>& model, int last, const Mat3<T>* R_WB, const Vec3<T>* p_W, const Vec3<T>& x,
                    const T* qd, Vec3<T>& v, Vec3<T>& w) {
  v = w = zero3<T>();
  for (int b = last; b != kWorld; b = model.parent(b)) {
    const Vec3<T> rate = R_WB[b].col(2) * qd[b];
    if (model.revolute(b)) {
      w += rate;
      v += cross<T>(rate, x - p_W[b]);
    } else {
      v += rate;
    }
  }
}

template <class T>
struct BodyMotion {
  Vec3<T> w, alpha, a;  // a: of the body's origin, classical
};

// absolute motions of all bodies, base axes; their accelerations are those of (10.4), and of the base, (5.9)
template <class T, class P>
void body_motions(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, const T* qd, const T* qdd,
                  const BaseMotion<T>& base, BodyMotion<T>* motion) {
  for (int b = 0; b < model.size(); ++b) {
    const int parent = model.parent(b);
    const BodyMotion<T> from = parent == kWorld ? BodyMotion<T>{base.w, base.dw, base.a} : motion[parent];
    const Vec3<T> e = R_WB[b].col(2), rate = e * qd[b];
    Vec3<T> w = from.w, alpha = from.alpha, a = from.a;
    if (!model.coincident(b)) {
      const Vec3<T> r = parent == kWorld ? p_W[b] : p_W[b] - p_W[parent];
      a = from.a + cross<T>(from.alpha, r) + cross<T>(from.w, cross<T>(from.w, r));
    }
    if (model.revolute(b)) {
      alpha += cross<T>(w, rate) + e * qdd[b];
      w += rate;
    } else {
      a += cross<T>(w, Vec3<T>(rate + rate)) + e * qdd[b];
    }
    motion[b] = {w, alpha, a};
  }
}

// classical acceleration of a point x (base axes) of a body, and the body's angular one
template <class T>
ZVENO_INLINE void point_acceleration(int body, const Vec3<T>* p_W, const Vec3<T>& x, const BodyMotion<T>* motion, Vec3<T>& a,
                                     Vec3<T>& alpha) {
  a = alpha = zero3<T>();
  if (body == kWorld) return;
  const BodyMotion<T>& m = motion[body];
  const Vec3<T> d = x - p_W[body];
  alpha = m.alpha;
  a = m.a + cross<T>(m.alpha, d) + cross<T>(m.w, cross<T>(m.w, d));
}

// Column of the Jacobian of a point x (base axes) for joint b: [v; w], (10.1)
template <class T, class P>
ZVENO_INLINE void jacobian_column(const ModelView<P>& model, int b, const Mat3<T>* R_WB, const Vec3<T>* p_W,
                                  const Vec3<T>& x, Vec3<T>& v, Vec3<T>& w) {
  const Vec3<T> e = R_WB[b].col(2);
  if (model.revolute(b)) {
    v = cross<T>(e, x - p_W[b]);
    w = e;
  } else {
    v = e;
    w = zero3<T>();
  }
}

// Its time derivative; w_b, v_b of body b, v_x of the point, (10.2)
template <class T, class P>
void jacobian_rate_column(const ModelView<P>& model, int b, const Mat3<T>* R_WB, const Vec3<T>* p_W, const Vec3<T>& x,
                          const Vec3<T>& w_b, const Vec3<T>& v_b, const Vec3<T>& v_x, Vec3<T>& v, Vec3<T>& w) {
  const Vec3<T> e = R_WB[b].col(2), ed = cross<T>(w_b, e);
  if (model.revolute(b)) {
    v = cross<T>(ed, x - p_W[b]) + cross<T>(e, v_x - v_b);
    w = ed;
  } else {
    v = ed;
    w = zero3<T>();
  }
}

// Kinetic energy in body axes, rotors excluded
template <class T, class P>
T kinetic_energy(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, Vec3<T>* w, Vec3<T>* v) {
  T twice = T(0.0);
  for (int b = 0; b < model.size(); ++b) {
    const JointFrame<T, true> X = joint_frame<true>(model, at, b);
    const BodyParams<P>& body = model.body[b];
    const int parent = model.parent(b);
    if (parent == kWorld) {
      w[b] = zero3<T>();
      v[b] = zero3<T>();
    } else {
      w[b] = X.to_body(w[parent]);
      v[b] = X.velocity_to_body(v[parent], w[parent]);
    }
    (model.revolute(b) ? w[b] : v[b]).z() += qd[b];
    if (model.hinge(b)) continue;
    const Vec3<T> momentum = v[b] * T(body.m) + cross<T>(w[b], cast<T>(body.mc_B));
    const Vec3<T> spin = times(cast<T>(body.I_BBo_B), w[b]) + cross<T>(cast<T>(body.mc_B), v[b]);
    twice += dot<T>(v[b], momentum) + dot<T>(w[b], spin);
  }
  return twice * T(0.5);
}

// Potential energy of gravity, zero with every mass at the base origin
template <class T, class P>
T potential_energy(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, const Vec3<T>& g) {
  Vec3<T> moment = zero3<T>();
  for (int b = 0; b < model.size(); ++b) {
    if (model.hinge(b)) continue;
    const BodyParams<P>& body = model.body[b];
    moment += p_W[b] * T(body.m) + times(R_WB[b], cast<T>(body.mc_B));
  }
  return -dot<T>(moment, g);
}

}  // namespace zveno
