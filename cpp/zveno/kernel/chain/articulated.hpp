// (M + diag x) z = y along a tree, O(n), factored once and solved for many y: docs/simulation.md (S3.4), (S3.5), the
// recursion of aba.hpp cut in two. G is the scalar of the geometry, T that of x, y and z: complex x leave the geometry real.
// Revolute joint: factor 128 mul 125 add 1 div, solve 49 mul 48 add.
#pragma once

#include <zveno/kernel/chain/aba.hpp>

namespace zveno {

// beside: n, x with the rotors. U, inverse: n each, the factors; pivot: n, the caller judges them. Stacked: see JointFrame.
template <bool Stacked = false, class G, class T, class P>
void factor_inertia(const ModelView<P>& model, const JointPosition<G>& at, const T* beside, Wrench<T>* U, T* inverse,
                    T* pivot, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  const bool tree = !model.topology->serial;
  Articulated<T>* I = scratch.take<Articulated<T>>(tree ? n : 0);
  Articulated<T> outboard{zero_sym3<T>(), diagonal(T(0.0)), zero_sym3<T>()};
  if (tree)
    for (int b = 0; b < n; ++b) I[b] = outboard;
  bool carried = false;
  for (int b = n; b-- > 0;) {
    Articulated<T> own;
    if (Stacked && model.hinge(b))
      own = outboard;
    else
      compose(model.body[b], carried, outboard, own);
    if (tree && model.topology->branches[b]) add_to(own, I[b]);
    Vec3<T> Uf, Un;
    T inertia;
    joint_column(own, model.revolute(b), Uf, Un, inertia);
    const T D = inertia + beside[b], inv = T(1.0) / D;
    const int parent = model.parent(b);
    carried = parent == b - 1 && parent != kWorld;
    if (parent != kWorld) {
      hand_over(joint_frame<Stacked>(model, at, b), own, Uf, Un, inv, outboard);
      if (!carried) add_to(I[parent], outboard);
    }
    U[b].f = Uf;
    U[b].n = Un;
    pivot[b] = D;
    inverse[b] = inv;
  }
}

// x: y on entry, z on return, of the first n bodies, those beyond are given no effort. F is the scalar of the factors:
// numbers of many y may be solved at once.
template <class G, class F, class T, class P>
void solve_inertia(const ModelView<P>& model, const JointPosition<G>& at, const Wrench<F>* U, const F* inverse, int n, T* x,
                   Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const bool tree = !model.topology->serial;
  Wrench<T>* others = scratch.take<Wrench<T>>(tree ? n : 0);  // of children other than the next body
  if (tree)
    for (int b = 0; b < n; ++b) others[b].f = others[b].n = zero3<T>();
  Vec3<T> f = zero3<T>(), m = f;
  bool carried = false;
  for (int b = n; b-- > 0;) {
    Vec3<T> force = carried ? f : zero3<T>(), moment = carried ? m : zero3<T>();
    if (tree && model.topology->branches[b]) {
      force += others[b].f;
      moment += others[b].n;
    }
    const T left = x[b] - (model.revolute(b) ? moment.z() : force.z());
    x[b] = left;
    const int parent = model.parent(b);
    carried = parent == b - 1 && parent != kWorld;
    if (parent == kWorld) continue;
    const JointFrame<G> X = joint_frame(model, at, b);
    const T share = left * T(inverse[b]);
    f = X.to_parent(force + cast<T>(U[b].f) * share);
    m = X.to_parent(moment + cast<T>(U[b].n) * share) + cross(X.p, f);
    if (!carried) {
      others[parent].f += f;
      others[parent].n += m;
    }
  }
  spread<false>(model, at, U, inverse, n, x, scratch);
}

// Forward dynamics with the factors of a position: aba cut in two, with its bits. bias: n, the wrenches that the bodies need
// without joint accelerations, changed; loaded: external ones among them; qdd: efforts on entry. U, inverse: see spread.
template <bool Stacked, class T, class P, class Wrenches, class Numbers>
void solve_motion(const ModelView<P>& model, const JointPosition<T>& at, const Wrenches& U, const Numbers& inverse,
                  Wrench<T>* bias, bool loaded, T* qdd, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  Vec3<T> f = zero3<T>(), m = f;
  bool carried = false;
  for (int b = model.size(); b-- > 0;) {
    Vec3<T> force, moment;
    load_body<Stacked>(model.hinge(b), carried, loaded, bias[b], f, m, force, moment);
    const T left = qdd[b] - (model.revolute(b) ? moment.z() : force.z());
    qdd[b] = left;
    const int parent = model.parent(b);
    carried = parent == b - 1 && parent != kWorld;
    if (parent == kWorld) continue;
    hand_over(joint_frame<Stacked>(model, at, b), force, moment, U[b], left * inverse[b], f, m);
    if (!carried) {
      bias[parent].f += f;
      bias[parent].n += m;
    }
  }
  spread<Stacked>(model, at, U, inverse, model.size(), qdd, scratch);
}

}  // namespace zveno
