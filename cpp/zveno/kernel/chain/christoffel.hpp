// First derivatives of the mass matrix and Christoffel symbols in base axes, docs/derivatives.md (D2.1)-(D2.6).
//
// A point r moves with unit rate of joint c by s_c(r) = l_c + e_c x r, and d2r / dq_a dq_b = e_a x s_b(r) for a inboard of
// b. So the integral of s_b x s_c over what c carries, X_bc, and two products with axes for every three joints are enough.
// All-revolute serial chain: n^3 + 7.5 n^2 + O(n) mul.
#pragma once

#include <zveno/kernel/chain/momentum.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// Mass that each body carries, itself included: sums of model parameters, not operations of a state.
template <class P>
P* carried_mass(const ModelView<P>& model, Scratch& scratch) {
  const int n = model.size();
  P* m = scratch.take<P>(n);
  for (int b = 0; b < n; ++b) m[b] = model.body[b].m;
  for (int b = n; b-- > 0;)
    if (const int parent = model.parent(b); parent != kWorld) m[parent] = m[parent] + m[b];
  return m;
}

template <class T>
struct SweptMoments {
  Vec3<T> f;  // integral of s_c dm
  Mat3<T> Z;  // A - tr(A) E, A = integral of r s_c' dm

  // integral of s_b x s_c dm, (D2.2)
  Vec3<T> with(const Screw<T>& s, bool turns) const {
    const Vec3<T> x = cross<T>(s.v, f);
    return turns ? x + times(Z, s.w) : x;
  }
};

// (D2.1) for the mass m, mc, S that joint s carries
template <class T, class P>
SweptMoments<T> swept_moments(const P& m, const Vec3<T>& mc, const Sym3<T>& S, const Screw<T>& s, bool turns) {
  SweptMoments<T> x;
  x.f = s.v * T(m);
  Vec3<T> A[3];
  for (int i = 0; i < 3; ++i) A[i] = s.v * mc[i];
  if (turns) {
    x.f += cross<T>(s.w, mc);
    A[0] += cross<T>(s.w, Vec3<T>{S.xx, S.xy, S.xz});
    A[1] += cross<T>(s.w, Vec3<T>{S.xy, S.yy, S.yz});
    A[2] += cross<T>(s.w, Vec3<T>{S.xz, S.yz, S.zz});
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) x.Z(i, j) = i == j ? -(A[(i + 1) % 3][(i + 1) % 3] + A[(i + 2) % 3][(i + 2) % 3]) : A[i][j];
  return x;
}

// For bodies a, b, c on one path to a tip, with alpha = e_a . X_bc and beta = e_b . X_ac, (D2.3):
//   use.middle(a, b, c, alpha, beta) for a < b < c,  use.first(b, c, alpha) for a = b,  use.last(a, c, beta) for b = c.
// What is not visited is zero.
template <class T, class P, class Use>
void for_swept_triples(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, Scratch& scratch,
                       const Use& use) {
  const Scratch::Frame frame(scratch);
  const int n = model.size();
  Screw<T>* s = scratch.take<Screw<T>>(n);
  Vec3<T>* mc = scratch.take<Vec3<T>>(n);
  Sym3<T>* S = scratch.take<Sym3<T>>(n);
  Vec3<T>* X = scratch.take<Vec3<T>>(n);
  const P* m = carried_mass(model, scratch);
  for (int b = 0; b < n; ++b) {
    s[b] = joint_screw(model, b, R_WB, p_W);
    const Moments<T> own = moments_about_base(model, b, R_WB, p_W);
    mc[b] = own.mc;
    S[b] = own.S;
  }
  enter_stage<T>(Stage::assembly);
  const T zero(0.0);
  for (int c = n; c-- > 0;) {
    const bool turns = model.revolute(c);
    const int parent = model.parent(c);
    if (parent != kWorld) {
      mc[parent] += mc[c];
      S[parent] = S[parent] + S[c];
      const SweptMoments<T> swept = swept_moments(m[c], mc[c], S[c], s[c], turns);
      for (int b = parent; b != kWorld; b = model.parent(b)) {
        X[b] = swept.with(s[b], model.revolute(b));
        if (turns) use.last(b, c, dot<T>(s[c].w, X[b]));
      }
      for (int b = parent; b != kWorld; b = model.parent(b)) {
        const bool b_turns = model.revolute(b);
        if (b_turns) use.first(b, c, dot<T>(s[b].w, X[b]));
        for (int a = model.parent(b); a != kWorld; a = model.parent(a)) {
          const bool a_turns = model.revolute(a);
          if (a_turns || b_turns)
            use.middle(a, b, c, a_turns ? dot<T>(s[a].w, X[b]) : zero, b_turns ? dot<T>(s[b].w, X[a]) : zero);
        }
      }
    }
  }
}

// Gravity stiffness K_ij = d tau_i / dq_j of the weight, symmetric, (D2.6): with the force f_i that a unit acceleration of
// joint i needs, K_ij = e_j . (g x f_i) for j inboard of i or i itself. K by rows, all of it written.
template <class T, class P>
void gravity_stiffness(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, const Vec3<T>& gravity, T* K,
                       Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  Vec3<T>* mc = scratch.take<Vec3<T>>(n);  // of what each body carries, about its origin
  const P* m = carried_mass(model, scratch);
  for (int b = 0; b < n; ++b) mc[b] = times(R_WB[b], cast<T>(model.body[b].mc_B));
  for (std::ptrdiff_t k = 0; k < n * n; ++k) K[k] = T(0.0);
  for (int i = static_cast<int>(n); i-- > 0;) {
    const int parent = model.parent(i);
    const Vec3<T> e = R_WB[i].col(2);
    const Vec3<T> f = model.revolute(i) ? cross<T>(e, mc[i]) : e * T(m[i]);
    const Vec3<T> turned = cross<T>(gravity, f);
    for (int j = i; j != kWorld; j = model.parent(j))
      if (model.revolute(j)) K[i * n + j] = K[j * n + i] = dot<T>(R_WB[j].col(2), turned);
    if (parent != kWorld) mc[parent] += mc[i] + (p_W[i] - p_W[parent]) * T(m[i]);
  }
}

}  // namespace zveno
