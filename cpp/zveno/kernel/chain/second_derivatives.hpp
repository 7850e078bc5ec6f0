// Second derivatives of nu . tau, docs/derivatives.md (D3.1)-(D3.8), in base axes about the base origin O.
//
// Every joint gives a few six-vectors at O; an element of a Hessian is a product of those of two joints of which one carries
// the other. nu enters as rates: W, the motion that the joints would have with these rates, is a field like the velocity.
// All-revolute serial chain: 24 n^2 + O(n) mul, as much as the first derivatives.
#pragma once

#include <zveno/kernel/chain/christoffel.hpp>
#include <zveno/kernel/chain/rnea.hpp>
#include <zveno/kernel/chain/zaremba.hpp>

namespace zveno {

// H_ij = d2 (nu . tau) / dx_i dy_j by rows, in the order of bodies; null: not wanted
template <class T>
struct Hessians {
  T *qq, *qqd, *qdqd, *qqdd;
};

namespace second_order {

template <class T>
Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r(i, j) = a[i] * b[j];
  return r;
}
// integral of v r' dm of a body that moves by s: v c' + w~ S
template <class T>
Mat3<T> spread(const Screw<T>& s, const Vec3<T>& c, const Sym3<T>& S) {
  const Vec3<T> x = cross<T>(s.w, Vec3<T>{S.xx, S.xy, S.xz}), y = cross<T>(s.w, Vec3<T>{S.xy, S.yy, S.yz}),
                z = cross<T>(s.w, Vec3<T>{S.xz, S.yz, S.zz});
  Mat3<T> N;
  for (int i = 0; i < 3; ++i) {
    N(i, 0) = x[i] + s.v[i] * c.x();
    N(i, 1) = y[i] + s.v[i] * c.y();
    N(i, 2) = z[i] + s.v[i] * c.z();
  }
  return N;
}

// half of Y[T, P](x): T' w + P x v, (D3.4)
template <class T>
Vec3<T> half_y(const Mat3<T>& Tm, const Vec3<T>& P, const Screw<T>& x, bool turns) {
  const Vec3<T> y = cross<T>(P, x.v);
  return turns ? transposed_times(Tm, x.w) + y : y;
}

// motion of a body, in the fields at O
template <class T>
struct Fields {
  Vec3<T> w, v, dw, a;
  Mat3<T> K;
};

// sums over a body and all that it carries
template <class T>
struct Carried {
  Vec3<T> mc;
  Sym3<T> S;
  Vec3<T> P, Pw, Z, F, M;
  Mat3<T> Tm, Tw;

  void add(const Carried& x) {
    mc += x.mc, S = S + x.S;
    P += x.P, Pw += x.Pw, Z += x.Z, F += x.F, M += x.M;
    Tm = Tm + x.Tm, Tw = Tw + x.Tw;
  }
};

// of the joint that carries the other one
template <class T>
struct Inner {
  Screw<T> J, Om, psd2, psdd;  // psd2: twice psd
  Vec3<T> ed;
};

}  // namespace second_order

// wrenches on one body whose components in base axes do not change: sums over its loads, then over all that it carries
template <class T>
struct FixedLoads {
  Vec3<T> f, n;
  Mat3<T> G;  // sum of f x', x the point of the force
  Mat3<T> Q;  // sum of W(x) f' + wW n'

  // at the point x of a body that moves by W
  void add(const Vec3<T>& force, const Vec3<T>& moment, const Vec3<T>& x, const Screw<T>& W) {
    const Vec3<T> v = W.v + cross<T>(W.w, x);
    f += force, n += moment;
    G = G + second_order::outer<T>(force, x);
    Q = Q + second_order::outer<T>(v, force) + second_order::outer<T>(W.w, moment);
  }
  void add(const FixedLoads& x) { f += x.f, n += x.n, G = G + x.G, Q = Q + x.Q; }
};

// W of every body: the motion of the joints at the rates nu
template <class T, class P>
Screw<T>* weighted_motions(const ModelView<P>& model, const Screw<T>* screw, const T* nu, Scratch& scratch) {
  Screw<T>* W = scratch.take<Screw<T>>(model.size());
  for (int b = 0; b < model.size(); ++b) {
    const int parent = model.parent(b);
    const Screw<T>& J = screw[b];
    const Vec3<T> v = J.v * nu[b];
    if (model.revolute(b)) {
      const Vec3<T> w = J.w * nu[b];
      W[b] = parent == kWorld ? Screw<T>{v, w} : Screw<T>{W[parent].v + v, W[parent].w + w};
    } else {
      W[b] = parent == kWorld ? Screw<T>{v, zero3<T>()} : Screw<T>{W[parent].v + v, W[parent].w};
    }
  }
  return W;
}

// screw: of the joints, W: of weighted_motions; loads: what acts on each body, on return on all that it carries; or null
template <class T, class P>
void second_derivatives(const ModelView<P>& model, const Mat3<T>* R_WB, const Vec3<T>* p_W, const Screw<T>* screw,
                        const Screw<T>* W, const T* qd, const T* qdd, const BaseMotion<T>& base, FixedLoads<T>* loads,
                        const Hessians<T>& H, Scratch& scratch) {
  using namespace second_order;
  const Scratch::Frame frame(scratch);
  const std::ptrdiff_t n = model.size();
  Fields<T>* motion = scratch.take<Fields<T>>(n);
  Carried<T>* sum = scratch.take<Carried<T>>(n);
  Inner<T>* inner = scratch.take<Inner<T>>(n);
  const P* mass = carried_mass(model, scratch);
  const Vec3<T> none = zero3<T>();

  for (int b = 0; b < n; ++b) {
    const int parent = model.parent(b);
    const bool turns = model.revolute(b), root = parent == kWorld, still = root && !base.moving;
    const Screw<T> J = screw[b];
    const Vec3<T> e = turns ? J.w : J.v;
    Fields<T> f = root ? Fields<T>{base.w, none, base.dw, base.a, diagonal(T(0.0))} : motion[parent];
    if (root && base.moving) f.K = rotation_acceleration(base.w, base.dw);

    // (D3.2), with the motion before the joint: the same as with the one behind it
    Inner<T>& in = inner[b];
    in.J = J;
    const Vec3<T> ed = still ? none : cross<T>(f.w, e), ed2 = still ? none : twice<T>(ed);
    if (turns) {
      in.ed = ed;
      if (still) {
        in.psd2 = {none, none};
        in.psdd = {cross<T>(f.a, e), none};
      } else {
        in.psd2 = {root ? twice<T>(cross<T>(f.w, J.v)) : twice<T>(cross<T>(f.v, e) + cross<T>(f.w, J.v)), ed2};
        in.psdd = {cross<T>(f.a, e) + times(f.K, J.v), times(f.K, e)};
        if (!root) in.psdd.v -= cross<T>(ed2, f.v);
      }
      in.Om = root ? Screw<T>{none, none} : product(W[parent], J);
    } else {
      in.ed = none;
      in.psd2 = {ed2, none};
      in.psdd = {still ? none : times(f.K, e), none};
      in.Om = root ? Screw<T>{none, none} : Screw<T>{cross<T>(W[parent].w, e), none};
    }

    // (D3.1) behind the joint
    if (turns) {
      const Vec3<T> rate = e * qd[b];
      const Vec3<T> w = still ? rate : f.w + rate;
      const Vec3<T> g = (still ? w : f.w + w) * qd[b];
      f.v = root ? J.v * qd[b] : f.v + J.v * qd[b];
      f.a += J.v * qdd[b] + cross<T>(g, J.v);
      f.dw = still ? e * qdd[b] : f.dw + e * qdd[b] + ed * qd[b];
      f.w = w;
      f.K = rotation_acceleration(f.w, f.dw);
    } else {
      f.v = root ? e * qd[b] : f.v + e * qd[b];
      f.a += e * qdd[b];
      if (!still) f.a += ed2 * qd[b];
    }
    motion[b] = f;
    const Screw<T>& t = W[b];

    // (D3.3) of this body alone
    const Moments<T> x = moments_about_base(model, b, R_WB, p_W);
    const T m = T(model.body[b].m);
    Carried<T>& own = sum[b];
    own.mc = x.mc, own.S = x.S;
    own.P = f.v * m + cross<T>(f.w, x.mc);
    own.Pw = t.v * m + cross<T>(t.w, x.mc);
    own.Tm = complement(spread(Screw<T>{f.v, f.w}, x.mc, x.S));
    own.Tw = complement(spread(t, x.mc, x.S));
    own.Z = twice<T>(transposed_times(own.Tm, t.w) + cross<T>(own.P, t.v));
    own.F = f.a * m + times(f.K, x.mc);
    own.M = axial_of_product(f.K, x.S) + cross<T>(x.mc, f.a);
  }

  enter_stage<T>(Stage::assembly);
  for (T* const out : {H.qq, H.qqd, H.qdqd, H.qqdd})
    for (std::ptrdiff_t k = 0; out && k < n * n; ++k) out[k] = T(0.0);
  for (int j = static_cast<int>(n); j-- > 0;) {
    const bool turns = model.revolute(j);
    const int parent = model.parent(j);
    const Carried<T>& c = sum[j];
    if (parent != kWorld) sum[parent].add(c);
    const Inner<T>& in = inner[j];
    const T m = T(mass[j]);
    const Sym3<T> I = inertia_of(c.S);
    const auto momentum = [&](const Screw<T>& s) {
      if (!turns) return Screw<T>{s.v * m, cross<T>(c.mc, s.v)};
      return Screw<T>{s.v * m + cross<T>(s.w, c.mc), cross<T>(c.mc, s.v) + times(I, s.w)};
    };
    // (D3.5), (D3.6)
    const Vec3<T>&e = in.J.w, &l = in.J.v;
    Screw<T> t1 = momentum(in.psdd), t2 = momentum(in.psd2), r1 = momentum(in.Om);
    const Screw<T> u = momentum(in.J);
    Vec3<T> r2 = half_y(c.Tm, c.P, in.Om, turns);
    const Vec3<T> s = -twice<T>(half_y(c.Tw, c.Pw, in.J, turns));
    if (turns) {
      const Vec3<T> L{c.Tw(1, 2) - c.Tw(2, 1), c.Tw(2, 0) - c.Tw(0, 2), c.Tw(0, 1) - c.Tw(1, 0)};
      const Vec3<T> eP = cross<T>(e, c.P), Te = times(c.Tm, e), ed2 = in.psd2.w;
      t2.v += twice<T>(eP), t2.w += twice<T>(Te);
      t1.v += cross<T>(ed2, c.P) + cross<T>(e, c.F);
      t1.w += times(c.Tm, ed2) + cross<T>(e, c.M) + cross<T>(l, c.F);
      r1.v += cross<T>(e, c.Pw);
      r1.w += cross<T>(e, L) + cross<T>(l, c.Pw);
      r2 = twice<T>(r2) - half_y(c.Tw, c.Pw, in.psd2, true) + cross<T>(e, c.Z);
    } else {
      t1.w += cross<T>(l, c.F);
      r1.w += cross<T>(l, c.Pw);
      r2 = twice<T>(r2) - cross<T>(c.Pw, in.psd2.v);
    }
    // (D3.8) wrenches fixed in the base axes
    Vec3<T> turned = none, arm = none;
    if (loads) {
      const FixedLoads<T>& x = loads[j];
      if (parent != kWorld) loads[parent].add(x);
      const Mat3<T> Gt = x.G.transposed(), along = outer<T>(l, x.f);
      const Mat3<T> D = turns ? along + times(skew(e), Gt) : along;
      turned = -times(complement(D), W[j].w);
      if (turns) {
        const Mat3<T> rigid = outer<T>(W[j].v, x.f) + times(skew(W[j].w), Gt) + outer<T>(W[j].w, x.n);
        turned += times(complement(rigid), e) - times(complement(x.Q), e);
      }
      arm = {D(1, 2) - D(2, 1), D(2, 0) - D(0, 2), D(0, 1) - D(1, 0)};
    }
    // (D3.7)
    for (int k = j; k != kWorld; k = model.parent(k)) {
      const Inner<T>& x = inner[k];
      const bool k_turns = model.revolute(k);
      if (H.qq) {
        T h = dot(t1, x.Om) + dot(r1, x.psdd);
        if (k_turns) h += dot<T>(r2, x.ed);
        if (k_turns && loads) h -= dot<T>(turned, x.J.w) + dot<T>(arm, x.Om.w);
        H.qq[j * n + k] = H.qq[k * n + j] = h;
      }
      if (H.qdqd && k_turns) H.qdqd[j * n + k] = H.qdqd[k * n + j] = dot<T>(s, x.J.w);
      if (H.qqd) {
        const T h = dot(r1, x.psd2);
        H.qqd[j * n + k] = k_turns ? h + dot<T>(r2, x.J.w) : h;
        if (k != j) {
          const T g = dot(t2, x.Om);
          H.qqd[k * n + j] = k_turns ? g + dot<T>(s, x.ed) : g;
        }
      }
      if (H.qqdd) {
        H.qqdd[j * n + k] = dot(r1, x.J);
        if (k != j) H.qqdd[k * n + j] = dot(u, x.Om);
      }
    }
  }
}

}  // namespace zveno
