// What the algorithms of 002 share: every body seen in base axes. docs/chains.md (2.1)-(2.5).
#pragma once

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

template <class T>
struct BaseAxes {
  Vec3<T>* e;  // joint axis
  Vec3<T>* r;  // O_parent -> O
  T* m;        // mass
  Vec3<T>* c;  // first moment about O
  Sym3<T>* I;  // inertia about O
};

template <class T, class P>
BaseAxes<T> base_axes(const ModelView<P>& model, const JointPosition<T>& at, Scratch& scratch) {
  enter_stage<T>(Stage::kinematics);
  const int n = model.size();
  const BaseAxes<T> x{scratch.take<Vec3<T>>(n), scratch.take<Vec3<T>>(n), scratch.take<T>(n), scratch.take<Vec3<T>>(n),
                      scratch.take<Sym3<T>>(n)};
  const Scratch::Frame frame(scratch);
  Mat3<T>* R_WB = scratch.take<Mat3<T>>(n);
  for (int b = 0; b < n; ++b) {
    const JointFrame<T, true> X = joint_frame<true>(model, at, b);
    const BodyParams<P>& body = model.body[b];
    const int parent = model.parent(b);
    if (parent == kWorld) {
      R_WB[b] = X.after(diagonal(T(1.0)));
      x.r[b] = X.p;
    } else {
      R_WB[b] = X.after(R_WB[parent]);
      x.r[b] = times(R_WB[parent], X.p);  // (2.3)
    }
    x.e[b] = R_WB[b].col(2);  // (2.4)
    x.m[b] = T(body.m);
    x.c[b] = times(R_WB[b], cast<T>(body.mc_B));  // (2.5)
    x.I[b] = rotated(R_WB[b], cast<T>(body.I_BBo_B));
  }
  enter_stage<T>(Stage::algorithm);
  return x;
}

}  // namespace zveno
