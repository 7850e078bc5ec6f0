// Forward dynamics by articulated bodies, O(n): docs/chains.md (8.2)-(8.5).
//
// The bodies are first moved with zero joint accelerations (body_wrenches of RNEA: rates, gravity, external wrenches);
// the recursion then only knows deviations from that motion, so no velocity-product terms appear in it.
// A body resists [a; dw] at Bo with f = A a + B dw, n = B' a + C dw.
#pragma once

#include <zveno/kernel/chain/rnea.hpp>

namespace zveno {

template <class T>
struct Articulated {
  Sym3<T> A;
  Mat3<T> B;
  Sym3<T> C;
};

// (8.4) shift of the reference point by p, axes unchanged: B1 = B - A p~, C1 = C - B' p~ + p~ B1; 42 mul 42 add
template <class T, class G>
ZVENO_INLINE void shift(Articulated<T>& I, const Vec3<G>& p) {
  const Mat3<T> A = dense(I.A), B = I.B;
  Mat3<T> B1;
  for (int i = 0; i < 3; ++i) {  // row i of A p~ is a x p
    B1(i, 0) = B(i, 0) - (A(i, 1) * p.z() - A(i, 2) * p.y());
    B1(i, 1) = B(i, 1) - (A(i, 2) * p.x() - A(i, 0) * p.z());
    B1(i, 2) = B(i, 2) - (A(i, 0) * p.y() - A(i, 1) * p.x());
  }
  I.C.xx += (p.y() * B1(2, 0) - p.z() * B1(1, 0)) - (B(1, 0) * p.z() - B(2, 0) * p.y());
  I.C.xy += (p.y() * B1(2, 1) - p.z() * B1(1, 1)) - (B(2, 0) * p.x() - B(0, 0) * p.z());
  I.C.xz += (p.y() * B1(2, 2) - p.z() * B1(1, 2)) - (B(0, 0) * p.y() - B(1, 0) * p.x());
  I.C.yy += (p.z() * B1(0, 1) - p.x() * B1(2, 1)) - (B(2, 1) * p.x() - B(0, 1) * p.z());
  I.C.yz += (p.z() * B1(0, 2) - p.x() * B1(2, 2)) - (B(0, 1) * p.y() - B(1, 1) * p.x());
  I.C.zz += (p.x() * B1(1, 2) - p.y() * B1(0, 2)) - (B(0, 2) * p.y() - B(1, 2) * p.x());
  I.B = B1;
}

// (8.3) I - U U'/D, U = (f, n), u1 = U/D; 21 mul 21 add
template <class T>
ZVENO_INLINE void remove_joint(Articulated<T>& I, const Wrench<T>& U, const Wrench<T>& u1) {
  auto sym = [](Sym3<T>& S, const Vec3<T>& a, const Vec3<T>& b) {
    S.xx -= a.x() * b.x(), S.xy -= a.x() * b.y(), S.xz -= a.x() * b.z();
    S.yy -= a.y() * b.y(), S.yz -= a.y() * b.z(), S.zz -= a.z() * b.z();
  };
  sym(I.A, U.f, u1.f);
  sym(I.C, U.n, u1.n);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) I.B(i, j) -= U.f[i] * u1.n[j];
}

// a body, A = m E, B = -mc~, C = I, and what hangs on it by the next body, if that is its child
template <class T, class P>
ZVENO_INLINE void compose(const BodyParams<P>& body, bool carried, const Articulated<T>& outboard, Articulated<T>& own) {
  const T mass = T(body.m);
  const Vec3<T> mc = cast<T>(body.mc_B);
  if (carried) {
    own = outboard;
    own.A.xx += mass, own.A.yy += mass, own.A.zz += mass;
    own.B(0, 1) += mc.z(), own.B(1, 0) -= mc.z(), own.B(0, 2) -= mc.y();
    own.B(2, 0) += mc.y(), own.B(1, 2) += mc.x(), own.B(2, 1) -= mc.x();
    own.C = cast<T>(body.I_BBo_B) + own.C;
  } else {
    const T zero = T(0.0);
    own.A = {mass, zero, zero, mass, zero, mass};
    own.B = skew(-mc);
    own.C = cast<T>(body.I_BBo_B);
  }
}

// into += more
template <class T>
ZVENO_INLINE void add_to(Articulated<T>& into, const Articulated<T>& more) {
  into.A = into.A + more.A;
  into.B = into.B + more.B;
  into.C = into.C + more.C;
}

// what the body's joint feels of it: U = I z and z'U
template <class T>
ZVENO_INLINE void joint_column(const Articulated<T>& own, bool revolute, Vec3<T>& Uf, Vec3<T>& Un, T& inertia) {
  Uf = revolute ? own.B.col(2) : Vec3<T>{own.A.xz, own.A.yz, own.A.zz};
  Un = revolute ? Vec3<T>{own.C.xz, own.C.yz, own.C.zz} : own.B.row(2);
  inertia = revolute ? own.C.zz : own.A.zz;
}

// (8.3), (8.4): what the parent feels of a body through its joint
template <class T, class Frame>
ZVENO_INLINE void hand_over(const Frame& X, Articulated<T>& own, const Vec3<T>& Uf, const Vec3<T>& Un, const T& inv,
                            Articulated<T>& outboard) {
  remove_joint(own, {Uf, Un}, {Uf * inv, Un * inv});
  outboard.A = X.to_parent(own.A);
  outboard.B = X.to_parent(own.B);
  outboard.C = X.to_parent(own.C);
  if (!X.coincident()) shift(outboard, X.p);
}

// of the wrench that the body needs; share: the effort left for its joint over its inertia
template <class T, class Frame>
ZVENO_INLINE void hand_over(const Frame& X, const Vec3<T>& force, const Vec3<T>& moment, const Wrench<T>& U, const T& share,
                            Vec3<T>& outboard_f, Vec3<T>& outboard_n) {
  outboard_f = X.to_parent(force + U.f * share);
  outboard_n = X.moment_to_parent(moment + U.n * share, outboard_f);
}

// The wrench that a body needs, `bias`, with what hangs on it by the next body; loaded: hinges may have one of their own.
template <bool Stacked, class T>
ZVENO_INLINE void load_body(bool hinge, bool carried, bool loaded, const Wrench<T>& bias, const Vec3<T>& outboard_f,
                            const Vec3<T>& outboard_n, Vec3<T>& force, Vec3<T>& moment) {
  force = bias.f;
  moment = bias.n;
  if (Stacked && hinge) {
    force = loaded ? force + outboard_f : outboard_f;
    moment = loaded ? moment + outboard_n : outboard_n;
  } else if (carried) {
    force += outboard_f;
    moment += outboard_n;
  }
}

// base to tips, (8.5): efforts left for the joints of the first n bodies -> accelerations, in place. U[b], inverse[b]:
// pointers, or what gives them.
template <bool Stacked, class G, class Wrenches, class Numbers, class T, class P>
ZVENO_INLINE void spread(const ModelView<P>& model, const JointPosition<G>& at, const Wrenches& U, const Numbers& inverse,
                         int n, T* qdd, Scratch& scratch) {
  const bool tree = !model.topology->serial;
  Vec3<T>* da = scratch.take<Vec3<T>>(tree ? n : 0);
  Vec3<T>* dw = scratch.take<Vec3<T>>(tree ? n : 0);
  Vec3<T> linear = zero3<T>(), angular = linear;
  for (int b = 0; b < n; ++b) {
    const int parent = model.parent(b);
    T acceleration = qdd[b];
    if (parent == kWorld) {
      linear = angular = zero3<T>();
      acceleration = acceleration * T(inverse[b]);
    } else {
      if (parent != b - 1) linear = da[parent], angular = dw[parent];
      const JointFrame<G, Stacked> X = joint_frame<Stacked>(model, at, b);
      linear = X.velocity_to_body(linear, angular);
      angular = X.to_body(angular);
      const auto& u = U[b];
      acceleration = (acceleration - (dot(cast<T>(u.f), linear) + dot(cast<T>(u.n), angular))) * T(inverse[b]);
    }
    if (model.revolute(b))
      angular.z() += acceleration;
    else
      linear.z() += acceleration;
    qdd[b] = acceleration;
    if (tree) da[b] = linear, dw[b] = angular;
  }
}

template <bool Stacked, class T, class P>
void articulated_bodies(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* tau,
                        const double* rotor, const BaseMotion<T>& base, const Wrench<T>* external_B, T* qdd, T* pivot,
                        Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  Wrench<T>* bias = scratch.take<Wrench<T>>(n);
  Wrench<T>* U = scratch.take<Wrench<T>>(n);
  T* inverse = scratch.take<T>(n);
  const T* no_acceleration = nullptr;
  body_wrenches<Stacked>(model, at, qd, no_acceleration, base, external_B, bias, scratch);

  // of children other than the next body
  const bool tree = !model.topology->serial;
  Articulated<T>* I = scratch.take<Articulated<T>>(tree ? n : 0);
  Articulated<T> outboard{zero_sym3<T>(), diagonal(T(0.0)), zero_sym3<T>()};
  if (tree)
    for (int b = 0; b < n; ++b) I[b] = outboard;

  // tips to base: qdd[b] holds the effort left for the joint. Along a chain the child's share stays in registers.
  Vec3<T> outboard_f = zero3<T>(), outboard_n = outboard_f;
  bool carried = false;
  for (int b = n; b-- > 0;) {
    const BodyParams<P>& body = model.body[b];
    const bool hinge = Stacked && model.hinge(b);
    Articulated<T> own;
    Vec3<T> force, moment;
    load_body<Stacked>(hinge, carried, external_B != nullptr, bias[b], outboard_f, outboard_n, force, moment);
    if (hinge)
      own = outboard;
    else
      compose(body, carried, outboard, own);
    if (tree && model.topology->branches[b]) add_to(own, I[b]);
    const bool revolute = model.revolute(b);
    Vec3<T> Uf, Un;
    T inertia;
    joint_column(own, revolute, Uf, Un, inertia);
    const T D = rotor ? inertia + T(rotor[b]) : inertia;
    const T inv = T(1.0) / D, left = tau[b] - (revolute ? moment.z() : force.z());
    const int parent = model.parent(b);
    carried = parent == b - 1 && parent != kWorld;
    if (parent != kWorld) {
      const JointFrame<T, Stacked> X = joint_frame<Stacked>(model, at, b);
      hand_over(X, own, Uf, Un, inv, outboard);
      hand_over(X, force, moment, {Uf, Un}, left * inv, outboard_f, outboard_n);
      if (!carried) {
        add_to(I[parent], outboard);
        bias[parent].f += outboard_f;
        bias[parent].n += outboard_n;
      }
    }
    U[b].f = Uf;
    U[b].n = Un;
    pivot[b] = D;
    inverse[b] = inv;
    qdd[b] = left;
  }

  spread<Stacked>(model, at, U, inverse, n, qdd, scratch);
}

// rotor: reflected inertias or null. pivot: n, the inertia each joint's drive feels; the caller judges them.
template <class T, class P>
void aba(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const T* tau, const double* rotor,
         const BaseMotion<T>& base, const Wrench<T>* external_B, T* qdd, T* pivot, Scratch& scratch) {
  if (model.topology->stacked)
    articulated_bodies<true>(model, at, qd, tau, rotor, base, external_B, qdd, pivot, scratch);
  else
    articulated_bodies<false>(model, at, qd, tau, rotor, base, external_B, qdd, pivot, scratch);
}

}  // namespace zveno
