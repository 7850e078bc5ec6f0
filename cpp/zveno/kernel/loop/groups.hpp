// Articulated bodies with groups of joints in place of joints: docs/constraints.md (L32). A group are the joints on the
// paths of loops that share joints; what it hands to the body that carries it does not depend on how many groups there are.
//
// Everything in base axes about the base origin O: motions and wrenches of all bodies add without a transformation.
#pragma once

#include <zveno/kernel/loop/constraint.hpp>
#include <zveno/kernel/loop/multipliers.hpp>

namespace zveno {

// [force; moment] by [acceleration; angular acceleration], symmetric
template <class T>
struct GroupInertia {
  T x[6][6];

  void set(const Moments<T>& of) {
    const Sym3<T> I = inertia_of(of.S);
    const Mat3<T> c = skew(of.mc), J = dense(I);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        x[i][j] = i == j ? of.m : T(0.0);
        x[i][j + 3] = c(j, i);
        x[i + 3][j] = c(i, j);
        x[i + 3][j + 3] = J(i, j);
      }
  }
  void add(const GroupInertia& of) {
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) x[i][j] += of.x[i][j];
  }
  Screw<T> times(const Screw<T>& s) const {
    T y[6];
    for (int i = 0; i < 6; ++i)
      y[i] = x[i][0] * s.v.x() + x[i][1] * s.v.y() + x[i][2] * s.v.z() + x[i][3] * s.w.x() + x[i][4] * s.w.y() +
             x[i][5] * s.w.z();
    return {{y[0], y[1], y[2]}, {y[3], y[4], y[5]}};
  }
};

// a group on its way: factors of its mass matrix, its efforts, and what a motion of its carrier does to them
template <class T>
struct GroupSolution {
  T *M, *h, *effort;
  T* F[6];
  // if multipliers are wanted: the columns of its active rows, R N at rest of the carrier and how it changes with its motion
  const OrthogonalRows<T>* columns;
  T *N, *by[6];
};

// redundant rows of a group by its active ones: row j is X[j r ...] times them
template <class T>
struct GroupRedundancy {
  const int *active, *redundant;
  int r, e;
  const T* X;
};

}  // namespace zveno
