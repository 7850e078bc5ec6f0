// Frames of all bodies in base axes, Jacobians and their rates, energies. docs/chains.md (2.1)-(2.7), (9.2)-(10.3).
#pragma once

#include <zveno/kernel/chain/joint.hpp>

namespace zveno {

// R_WB and p_WoBo of every body; revolute joint: 33 mul 21 add
template <class T, class P>
void body_frames(const ModelView<P>& model, const JointPosition<T>& at, Mat3<T>* R_WB, Vec3<T>* p_W) {
  Mat3<T> R = diagonal(T(1.0));  // of the body before, in registers
  Vec3<T> p = zero3<T>();
  for (int b = 0; b < model.size(); ++b) {
    const JointFrame<T> X = joint_frame(model, at, b);
    const int parent = model.parent(b);
    if (parent == kWorld) {
      R = X.after(diagonal(T(1.0)));
      p = X.p;
    } else {
      if (parent != b - 1) R = R_WB[parent], p = p_W[parent];
      p += times(R, X.p);
      R = X.after(R);
    }
    R_WB[b] = R;
    p_W[b] = p;
  }
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
      v[b] = v[parent] + cross<T>(w[parent], p_W[b] - p_W[parent]);
    }
    (model.revolute(b) ? w[b] : v[b]) += rate;
  }
}

// Column of the Jacobian of a point x (base axes) for joint b: [v; w], (10.1)
template <class T, class P>
void jacobian_column(const ModelView<P>& model, int b, const Mat3<T>* R_WB, const Vec3<T>* p_W, const Vec3<T>& x, Vec3<T>& v,
                     Vec3<T>& w) {
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
    const JointFrame<T> X = joint_frame(model, at, b);
    const BodyParams<P>& body = model.body[b];
    const int parent = model.parent(b);
    if (parent == kWorld) {
      w[b] = zero3<T>();
      v[b] = zero3<T>();
    } else {
      w[b] = X.to_body(w[parent]);
      v[b] = X.to_body(v[parent] + cross<T>(w[parent], X.p));
    }
    (model.revolute(b) ? w[b] : v[b]).z() += qd[b];
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
    const BodyParams<P>& body = model.body[b];
    moment += p_W[b] * T(body.m) + times(R_WB[b], cast<T>(body.mc_B));
  }
  return -dot<T>(moment, g);
}

}  // namespace zveno
