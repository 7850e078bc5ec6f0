// The numbers of a body, as the kernels see them: every joint about or along its local z axis.
#pragma once

#include <zveno/math/lin.hpp>
#include <zveno/math/turn.hpp>
#include <zveno/model/topology.hpp>

namespace zveno {

// R_PB = Rz(phi) Rx(alpha) Rz(theta), theta = q + offset (revolute) or offset (prismatic);
// p_PoBo_P = p_PJ (revolute) or p_PJ + axis_P q (prismatic)
template <class T>
struct BodyParams {
  Turn<T> phi, alpha;
  Vec3<T> p_PJ;    // origin of the joint, parent axes
  Vec3<T> axis_P;  // joint axis, parent axes
  T m;
  Vec3<T> mc_B;     // first moment m p_BoBcm
  Sym3<T> I_BBo_B;  // inertia about Bo
  Sym3<T> S_BBo_B;  // integral of p p' dm = tr(I)/2 E - I
};

// a body in its parent: R_PB, as above, and p_PoBo_P
template <class T>
struct JointFrame {
  Turn<T> theta, alpha, phi;
  bool has_phi;
  Vec3<T> p;

  // components in B -> components in P
  template <class Tensor>
  ZVENO_INLINE Tensor to_parent(Tensor a) const {
    turn_z(theta, a);
    turn_x(alpha, a);
    if (has_phi) turn_z(phi, a);
    return a;
  }
  // components in P -> components in B
  ZVENO_INLINE Vec3<T> to_body(Vec3<T> a) const {
    if (has_phi) unturn_z(phi, a);
    unturn_x(alpha, a);
    unturn_z(theta, a);
    return a;
  }
  // R_PB, 4 mul, with phi 12 mul 4 add
  ZVENO_INLINE Mat3<T> rotation() const {
    Mat3<T> R;
    R(0, 0) = theta.c, R(0, 1) = -theta.s, R(0, 2) = T(0.0);
    R(1, 0) = alpha.c * theta.s, R(1, 1) = alpha.c * theta.c, R(1, 2) = -alpha.s;
    R(2, 0) = alpha.s * theta.s, R(2, 1) = alpha.s * theta.c, R(2, 2) = alpha.c;
    for (int j = 0; has_phi && j < 3; ++j) phi.apply(R(0, j), R(1, j));
    return R;
  }
  // R_WP -> R_WB, 24 mul 12 add
  ZVENO_INLINE Mat3<T> after(Mat3<T> R) const {
    for (int i = 0; i < 3; ++i) {
      if (has_phi) phi.undo(R(i, 0), R(i, 1));
      alpha.undo(R(i, 1), R(i, 2));
      theta.undo(R(i, 0), R(i, 1));
    }
    return R;
  }
};

// f(X), in two copies: whether there is phi is asked once, not before every turn
template <class T, class F>
ZVENO_INLINE void ask_once(const JointFrame<T>& X, const F& f) {
  if (X.has_phi)
    f(X);
  else
    f(X);
}

// what a kernel needs of a model; P is the scalar of the parameters
template <class P>
struct ModelView {
  const Topology* topology;
  const BodyParams<P>* body;

  int size() const { return topology->size(); }
  int parent(int b) const { return topology->parent[b]; }
  bool revolute(int b) const { return topology->kind[b] == JointKind::revolute; }
};

}  // namespace zveno
