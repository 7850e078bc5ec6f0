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

// A body in its parent: R_PB, as above, and p_PoBo_P. Stacked: what is known of bodies on hinges is made use of; not to do
// so is right too, and faster where there are none.
template <class T, bool Stacked = false>
struct JointFrame {
  Turn<T> theta, alpha, phi;
  std::uint8_t placement;
  Vec3<T> p;

  ZVENO_INLINE bool coincident() const { return Stacked && (placement & kCoincident) != 0; }

  // components in B -> components in P
  template <class Tensor>
  ZVENO_INLINE Tensor to_parent(Tensor a) const {
    turn_z(theta, a);
    if (Stacked && (placement & kSquare))
      quarter_turn_x(a);
    else
      turn_x(alpha, a);
    if (placement & kTurned) turn_z(phi, a);
    return a;
  }
  // components in P -> components in B
  ZVENO_INLINE Vec3<T> to_body(Vec3<T> a) const {
    if (placement & kTurned) unturn_z(phi, a);
    if (Stacked && (placement & kSquare))
      quarter_unturn_x(a);
    else
      unturn_x(alpha, a);
    unturn_z(theta, a);
    return a;
  }
  // of a wrench: moment n about Bo, B axes, and force f, P axes -> moment about Po, P axes
  ZVENO_INLINE Vec3<T> moment_to_parent(const Vec3<T>& n, const Vec3<T>& f) const {
    if (coincident()) return to_parent(n);
    return to_parent(n) + cross<T>(p, f);
  }
  // of a motion: velocity v of Po and angular velocity w, P axes -> velocity of Bo as a point of P, B axes
  ZVENO_INLINE Vec3<T> velocity_to_body(const Vec3<T>& v, const Vec3<T>& w) const {
    if (coincident()) return to_body(v);
    return to_body(v + cross<T>(w, p));
  }
  // R_PB, 4 mul, with phi 12 mul 4 add
  ZVENO_INLINE Mat3<T> rotation() const {
    Mat3<T> R;
    R(0, 0) = theta.c, R(0, 1) = -theta.s, R(0, 2) = T(0.0);
    R(1, 0) = alpha.c * theta.s, R(1, 1) = alpha.c * theta.c, R(1, 2) = -alpha.s;
    R(2, 0) = alpha.s * theta.s, R(2, 1) = alpha.s * theta.c, R(2, 2) = alpha.c;
    for (int j = 0; (placement & kTurned) && j < 3; ++j) phi.apply(R(0, j), R(1, j));
    return R;
  }
  // R_WP -> R_WB, 24 mul 12 add
  ZVENO_INLINE Mat3<T> after(Mat3<T> R) const {
    for (int i = 0; i < 3; ++i) {
      const Vec3<T> row = to_body(R.row(i));
      for (int j = 0; j < 3; ++j) R(i, j) = row[j];
    }
    return R;
  }
};

// what a kernel needs of a model; P is the scalar of the parameters
template <class P>
struct ModelView {
  const Topology* topology;
  const BodyParams<P>* body;

  int size() const { return topology->size(); }
  int parent(int b) const { return topology->parent[b]; }
  bool revolute(int b) const { return topology->kind[b] == JointKind::revolute; }
  bool hinge(int b) const { return topology->hinge[b] != 0; }
  bool coincident(int b) const { return (topology->placement[b] & kCoincident) != 0; }
};

}  // namespace zveno
