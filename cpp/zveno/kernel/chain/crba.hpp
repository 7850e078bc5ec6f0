// Mass matrix by composite rigid bodies, docs/chains.md (6.1)-(6.4), and by columns of unit accelerations.
//
// The composites travel tip to base in body axes. The wrench of a unit acceleration of joint j is moved once to base
// axes and the base origin, (6.4); every off-diagonal element is then one product of six-vectors, independent of the others,
// instead of a walk from body to body.
#pragma once

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/kernel/chain/mirror.hpp>
#include <zveno/kernel/chain/rnea.hpp>
#include <zveno/math/inertia.hpp>

namespace zveno {

// visit(b, composite of body b and everything outboard of it), tips to base
template <class T, class P, class Visit>
ZVENO_INLINE void for_composites(const ModelView<P>& model, const JointPosition<T>& at, Scratch& scratch,
                                 const Visit& visit) {
  const int n = model.size();
  const bool tree = !model.topology->serial;
  Inertia<T>* composite = scratch.take<Inertia<T>>(tree ? n : 0);  // of children other than the next body
  Inertia<T> outboard;  // of body b + 1, seen in body b: along a chain the composite stays in registers
  outboard.set(T(0.0), zero3<T>(), zero_sym3<T>());
  if (tree)
    for (int b = 0; b < n; ++b) composite[b] = outboard;
  bool carried = false;
  for (int b = n; b-- > 0;) {
    const BodyParams<P>& body = model.body[b];
    Inertia<T> own;
    if (model.hinge(b)) {
      own.set(outboard.m, outboard.mc, outboard.I);
    } else {
      own.set(T(body.m), cast<T>(body.mc_B), cast<T>(body.I_BBo_B));
      if (carried) own.add(outboard);
    }
    if (tree && model.topology->branches[b]) own.add(composite[b]);
    const int parent = model.parent(b);
    carried = parent == b - 1 && parent != kWorld;
    if (parent != kWorld) {
      outboard = moved(joint_frame<true>(model, at, b), own);  // (6.3)
      if (!carried) composite[parent].add(outboard);
    }
    visit(b, own);
  }
}

// M: n x n, row major, all of it written
template <class T, class P>
void crba(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Topology& topology = *model.topology;
  const std::ptrdiff_t n = model.size();
  Mat3<T>* R_WB = scratch.take<Mat3<T>>(n);
  Vec3<T>* p_W = scratch.take<Vec3<T>>(n);
  Wrench<T>* wrench = scratch.take<Wrench<T>>(n);
  T* screw = scratch.take<T>(6 * n);  // joint axes as screws about the base origin: six rows of n

  enter_stage<T>(Stage::kinematics);
  body_frames(model, at, R_WB, p_W);
  enter_stage<T>(Stage::algorithm);
  for_composites<T>(model, at, scratch, [&](int b, const Inertia<T>& own) {
    // (6.1) wrench of a unit acceleration, about the base origin, base axes: the joint axis is z
    const Vec3<T> ex = R_WB[b].col(0), ey = R_WB[b].col(1), ez = R_WB[b].col(2), p = p_W[b];
    const bool revolute = model.revolute(b);
    const Vec3<T> f = revolute ? ey * own.mc.x() - ex * own.mc.y() : ez * own.m;
    const Vec3<T> m = revolute ? ex * own.I.xz + ey * own.I.yz + ez * own.I.zz : ex * own.mc.y() - ey * own.mc.x();
    const Vec3<T> v = revolute ? cross<T>(p, ez) : ez;
    wrench[b].n = m + cross<T>(p, f);
    wrench[b].f = f;
    M[b * n + b] = revolute ? own.I.zz : own.m;
    for (int k = 0; k < 3; ++k) {
      screw[k * n + b] = v[k];
      screw[(k + 3) * n + b] = revolute ? ez[k] : T(0.0);
    }
  });

  // (6.4) projected on the axes inboard; every few rows are mirrored while they are in the cache
  constexpr int block = Block<T>::kSize;
  enter_stage<T>(Stage::assembly);
  for (int b = 0; b < n; ++b) {
    const Vec3<T> f = wrench[b].f, m = wrench[b].n;
    T* row = M + b * n;
    int done = 0;
    for (int r = topology.first_run[b]; r < topology.first_run[b + 1]; ++r) {
      const Span run = topology.ancestor_runs[r];
      for (int i = done; i < run.begin; ++i) row[i] = T(0.0);
      ZVENO_INDEPENDENT
      for (int i = run.begin; i < run.end; ++i)
        row[i] = (f.x() * screw[i] + f.y() * screw[n + i] + f.z() * screw[2 * n + i]) +
                 (m.x() * screw[3 * n + i] + m.y() * screw[4 * n + i] + m.z() * screw[5 * n + i]);
      done = run.end;
    }
    for (int i = done; i < b; ++i) row[i] = T(0.0);
    if ((b + 1) % block == 0 || b + 1 == n) mirror_rows(M, n, b / block * block);
  }
}

// The same, the wrenches walking from body to body in body axes as (6.2) is printed: every element waits for the one before,
// but in code written out for one chain most of the steps vanish (docs/generated-code.md).
template <class T, class P>
void crba_walk_lower(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  enter_stage<T>(Stage::algorithm);
  for_composites<T>(model, at, scratch, [&](int b, const Inertia<T>& own) {
    const T zero(0.0);
    const bool revolute = model.revolute(b);
    Vec3<T> f = revolute ? Vec3<T>{-own.mc.y(), own.mc.x(), zero} : Vec3<T>{zero, zero, own.m};
    Vec3<T> m = revolute ? Vec3<T>{own.I.xz, own.I.yz, own.I.zz} : Vec3<T>{own.mc.y(), -own.mc.x(), zero};
    T* row = M + b * n;
    for (int i = 0; i < b; ++i) row[i] = zero;
    row[b] = revolute ? own.I.zz : own.m;
    for (int i = b; model.parent(i) != kWorld; i = model.parent(i)) {
      const JointFrame<T, true> X = joint_frame<true>(model, at, i);
      f = X.to_parent(f);
      m = X.moment_to_parent(m, f);
      row[model.parent(i)] = model.revolute(model.parent(i)) ? m.z() : f.z();
    }
  });
}
template <class T, class P>
void crba_walk(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  crba_walk_lower(model, at, M, scratch);
  enter_stage<T>(Stage::assembly);
  mirror_lower(M, model.size());
}

// n runs of RNEA with unit accelerations, no rates, no gravity
template <class T, class P>
void crba_columns(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  T* qd = scratch.take<T>(n);
  T* qdd = scratch.take<T>(n);
  Wrench<T>* wrench = scratch.take<Wrench<T>>(n);
  enter_stage<T>(Stage::algorithm);
  for (int b = 0; b < n; ++b) qd[b] = qdd[b] = T(0.0);
  const BaseMotion<T> rest{zero3<T>(), zero3<T>(), zero3<T>(), false};
  const Wrench<T>* no_external = nullptr;
  for (int j = 0; j < n; ++j) {
    qdd[j] = T(1.0);
    rnea(model, at, qd, qdd, rest, no_external, wrench, M + static_cast<std::ptrdiff_t>(j) * n, scratch);
    qdd[j] = T(0.0);
  }
  mirror_lower(M, n);
}

}  // namespace zveno
