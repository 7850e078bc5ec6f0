// Mass matrix by composite rigid bodies, serial-chains.md (6.1)-(6.3), and by columns of unit accelerations.
//
// The composites travel tip to base in body axes. The wrench of a unit acceleration of joint j is moved once to base
// axes and the base origin; every off-diagonal element is then one product of six-vectors, independent of the others,
// instead of a walk from body to body.
#pragma once

#include <zveno/kernel/kinematics.hpp>
#include <zveno/kernel/mirror.hpp>
#include <zveno/kernel/rnea.hpp>

namespace zveno {

template <class T>
struct Composite {
  T m;
  Vec3<T> c;  // first moment
  Sym3<T> I;  // about Bo
};

// (6.3) composite of a child, in the parent's frame; revolute 45 mul 53 add with the sum into the parent
template <class T>
ZVENO_INLINE Composite<T> moved_to_parent(const Composite<T>& child, const JointFrame<T>& X) {
  const Vec3<T> c = X.to_parent(child.c), p = X.p;
  const Vec3<T> c1 = c + p * child.m;
  // I + p~ c~' + c~ p~' + m p~ p~' = I + p~ c1~' + c~ p~'
  const T xx = p.x() * c1.x() + c.x() * p.x(), yy = p.y() * c1.y() + c.y() * p.y(), zz = p.z() * c1.z() + c.z() * p.z();
  Sym3<T> I = X.to_parent(child.I);
  I.xx += yy + zz;
  I.yy += xx + zz;
  I.zz += xx + yy;
  I.xy -= p.x() * c1.y() + c.x() * p.y();
  I.xz -= p.x() * c1.z() + c.x() * p.z();
  I.yz -= p.y() * c1.z() + c.y() * p.z();
  return {child.m, c1, I};
}

// M: n x n, row major, all of it written
template <class T, class P>
void crba(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Topology& topology = *model.topology;
  const std::ptrdiff_t n = model.size();
  Mat3<T>* R_WB = scratch.take<Mat3<T>>(n);
  Vec3<T>* p_W = scratch.take<Vec3<T>>(n);
  Composite<T>* composite = scratch.take<Composite<T>>(n);
  Wrench<T>* wrench = scratch.take<Wrench<T>>(n);
  T* screw = scratch.take<T>(6 * n);  // joint axes as screws about the base origin: six rows of n

  enter_stage<T>(Stage::kinematics);
  body_frames(model, at, R_WB, p_W);
  enter_stage<T>(Stage::algorithm);
  for (int b = 0; b < n; ++b) {
    const BodyParams<P>& body = model.body[b];
    composite[b] = {T(body.m), cast<T>(body.mc_B), cast<T>(body.I_BBo_B)};
    const Vec3<T> e = R_WB[b].col(2), zero = zero3<T>();
    const Vec3<T> v = model.revolute(b) ? cross<T>(p_W[b], e) : e, w = model.revolute(b) ? e : zero;
    for (int k = 0; k < 3; ++k) screw[k * n + b] = v[k], screw[(k + 3) * n + b] = w[k];
  }
  for (int b = static_cast<int>(n); b-- > 0;) {
    const Composite<T>& own = composite[b];
    if (const int parent = model.parent(b); parent != kWorld) {
      const Composite<T> moved = moved_to_parent(own, joint_frame(model, at, b));
      Composite<T>& sum = composite[parent];
      sum.m += moved.m;
      sum.c += moved.c;
      sum.I = sum.I + moved.I;
    }
    // (6.1) wrench of a unit acceleration, about the base origin, base axes: the joint axis is z
    Vec3<T> f, m;
    if (model.revolute(b)) {
      M[b * n + b] = own.I.zz;
      f = R_WB[b].col(1) * own.c.x() - R_WB[b].col(0) * own.c.y();
      m = times(R_WB[b], Vec3<T>{own.I.xz, own.I.yz, own.I.zz});
    } else {
      M[b * n + b] = own.m;
      f = R_WB[b].col(2) * own.m;
      m = R_WB[b].col(0) * own.c.y() - R_WB[b].col(1) * own.c.x();
    }
    wrench[b].n = m + cross<T>(p_W[b], f);
    wrench[b].f = f;
  }

  // (6.2) projected on the axes inboard; every few rows are mirrored while they are in the cache
  enter_stage<T>(Stage::assembly);
  for (int b = 0; b < n; ++b) {
    const Vec3<T> f = wrench[b].f, m = wrench[b].n;
    T* row = M + b * n;
    int done = 0;
    for (int r = topology.first_run[b]; r < topology.first_run[b + 1]; ++r) {
      const Run run = topology.ancestor_runs[r];
      for (int i = done; i < run.begin; ++i) row[i] = T(0.0);
      ZVENO_INDEPENDENT
      for (int i = run.begin; i < run.end; ++i)
        row[i] = (f.x() * screw[i] + f.y() * screw[n + i] + f.z() * screw[2 * n + i]) +
                 (m.x() * screw[3 * n + i] + m.y() * screw[4 * n + i] + m.z() * screw[5 * n + i]);
      done = run.end;
    }
    for (int i = done; i < b; ++i) row[i] = T(0.0);
    if ((b + 1) % kLanes == 0 || b + 1 == n) mirror_rows(M, static_cast<int>(n), b / kLanes * kLanes);
  }
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
