// One leg of a hexapod: inertia, reduction to the ring, reactions, load on the base. Golubev & Yaskevich (000) as corrected
// in docs/hexapods.md, whose equation numbers are used here.
#pragma once

#include <zveno/kernel/leg/pose.hpp>

namespace zveno::leg {

// ---- bodies

template <class S, class T>
ZVENO_INLINE auto body_of(const Params<T>& p, int mass, int moment, int inertia) {
  if constexpr (S::kSymmetric) {
    return Rod<T>{p(mass), p(moment), p(inertia), p(inertia + 3)};
  } else {
    return Solid<T>{p(mass),
                    p.vec(moment),
                    {p(inertia), p(inertia + 1), p(inertia + 2), p(inertia + 3), p(inertia + 4), p(inertia + 5)}};
  }
}

template <class S, class T>
struct Bodies {
  static constexpr bool kHousingSpins = traits_of(S::kType).housing_spins;
  using Any = std::conditional_t<S::kSymmetric, Rod<T>, Solid<T>>;
  std::conditional_t<kHousingSpins, NoBody, Any> b1;
  std::conditional_t<kHousingSpins, Any, NoBody> b2;
  Any b3;

  ZVENO_INLINE explicit Bodies(const Params<T>& p) : b3(body_of<S>(p, kOuterMass, kOuterMoment, kOuterInertia)) {
    if constexpr (kHousingSpins)
      b2 = body_of<S>(p, kInnerMass, kInnerMoment, kInnerInertia);
    else
      b1 = body_of<S>(p, kInnerMass, kInnerMoment, kInnerInertia);
  }
};

template <class A, class B, class C>
struct Three {
  A l1;
  B l2;
  C l3;
};
template <class A, class B, class C>
Three(A, B, C) -> Three<A, B, C>;

using AtRest = Motion<ZeroVec, ZeroVec>;

// rates of momentum of the bodies for joint accelerations q and those of the base: (39), (46)
template <class P, class B, class Q, class M = AtRest>
ZVENO_INLINE auto loads_of(const P& pose, const B& bodies, const Q& q, const M& base = {}) {
  const auto m1 = advance(pose.j1, base) + pose.drive1(q);
  const auto m2 = advance(pose.j2, m1) + pose.drive2(q);
  const auto m3 = advance(pose.j3, m2) + pose.drive3(q);
  return Three{inertial(bodies.b1, m1), inertial(bodies.b2, m2), inertial(bodies.b3, m3)};
}

// tip to joint kStop: (40), (43)
template <int kStop, class P, class L>
ZVENO_INLINE auto gathered(const P& pose, const L& l) {
  if constexpr (kStop == 3) {
    return Three{Unneeded(), Unneeded(), l.l3};
  } else {
    const auto l2 = l.l2 + transmit(pose.j3, l.l3);
    if constexpr (kStop == 2) {
      return Three{Unneeded(), l2, l.l3};
    } else {
      return Three{l.l1 + transmit(pose.j2, l2), l2, l.l3};
    }
  }
}

// a load of the first body as a row [force; moment about O_0] in base axes
template <class P, class L>
ZVENO_INLINE auto to_base(const P& pose, const L& l) {
  const auto f = pose.root_axes().undo(l.f);
  return Screw6{f, pose.root_axes().undo(l.m) + cross(pose.j1.offset(), f)};
}

template <class A, class B, class T>
ZVENO_INLINE void write(const Screw6<A, B>& row, T* out) {
  out[0] = value<T>(row.a.x), out[1] = value<T>(row.a.y), out[2] = value<T>(row.a.z);
  out[3] = value<T>(row.b.x), out[4] = value<T>(row.b.y), out[5] = value<T>(row.b.z);
}

// column i of the leg's inertia matrix, entries i and later
template <int i, class P, class B>
ZVENO_INLINE auto inertia_column(const P& pose, const B& bodies) {
  if constexpr (!P::Of::has(i)) {
    return Four{Unneeded(), Unneeded(), Zero(), Zero()};
  } else {
    const Four<Known<i == 0>, Known<i == 1>, Known<i == 2>, Known<i == 3>> unit;
    const auto l = gathered<P::joint(i)>(pose, loads_of(pose, bodies, unit));
    auto entry = [&](auto k) {
      if constexpr (decltype(k)::value >= i)
        return pose.template along<decltype(k)::value>(l.l1, l.l2, l.l3);
      else
        return Unneeded();
    };
    return Four{entry(std::integral_constant<int, 0>()), entry(std::integral_constant<int, 1>()),
                entry(std::integral_constant<int, 2>()), entry(std::integral_constant<int, 3>())};
  }
}

// the ring's share of one leg: sums over legs make the reduced system
enum Share : int {
  kMatrix = 0,  // H' A H, upper triangle by rows, 21
  kRight = 21,  // H' (b - A h), 6
  kFixedShare = 27,
  kCoupling = 27,   // M_bp H by rows, 36
  kBaseRight = 63,  // -B0 - M_bp h, 6
  kMoment = 69,     // mass times centre of mass, 3
  kInertia = 72,    // about O_0, 6
  kFreeShare = 78,
};

// what the second half needs of the first, besides the rates of momentum of the flow
template <class S, class T>
struct FirstHalf {
  Pose<S, T> pose;
  T H[4][6];  // that of a missing coordinate is not written
  T h[4], rate[4];
  T tau[4];     // the bias, till `drive` comes
  T forced[4];  // right-hand side: (tau - bias) - forced
};

// columns of a symmetric matrix of four coordinates; a00, a33 in the place of c0.a, c3.d
template <class A, class D, class C0, class C1, class C2, class C3>
struct LegInertia {
  A a00;
  D a33;
  C0 c0;
  C1 c1;
  C2 c2;
  C3 c3;
};
template <class A, class D, class C0, class C1, class C2, class C3>
LegInertia(A, D, C0, C1, C2, C3) -> LegInertia<A, D, C0, C1, C2, C3>;

// axes of the last body, spin included, in base axes
template <class T, class P>
ZVENO_INLINE Axes<T> spun(const P& pose) {
  const Axes<T>& a = pose.axes;
  if constexpr (P::Of::kUniversal) {
    const About<0, T>& t = [&]() -> const About<0, T>& {
      if constexpr (P::Of::kHunt)
        return pose.j3.turn;
      else
        return pose.j2.turn;
    }();
    return {a.x, scaled(a.y, t.c) + scaled(a.z, t.s), scaled(a.z, t.c) - scaled(a.y, t.s)};
  } else {
    return a;
  }
}

// adds first moments of mass about O_0 (3), and second ones (6), of a body at o
template <bool kSecond, class T>
ZVENO_INLINE void add_moments(const NoBody&, const Axes<T>&, const AnyVec<T>&, T*) {}
template <class T>
ZVENO_INLINE AnyVec<T> first_moment(const Solid<T>& b, const Axes<T>& axes) {
  return axes.undo(b.c);
}
template <class T>
ZVENO_INLINE AnyVec<T> first_moment(const Rod<T>& b, const Axes<T>& axes) {
  return scaled(axes.x, b.cx);
}
template <class T>
ZVENO_INLINE AnyVec<T> inertia_times(const Solid<T>& b, const AnyVec<T>& a) {
  return times(b.inertia, a);
}
template <class T>
ZVENO_INLINE AnyVec<T> inertia_times(const Rod<T>& b, const AnyVec<T>& a) {
  return {b.ix * a.x, b.it * a.y, b.it * a.z};
}
template <bool kSecond, class B, class T>
ZVENO_INLINE void add_moments(const B& b, const Axes<T>& axes, const AnyVec<T>& o, T* moments) {
  const AnyVec<T> c = first_moment(b, axes);
  moments[0] += o.x * b.mass + c.x;
  moments[1] += o.y * b.mass + c.y;
  moments[2] += o.z * b.mass + c.z;
  if constexpr (kSecond) {
    // R' I R: its columns are the images of the base axes
    const Axes<T> t{{axes.x.x, axes.y.x, axes.z.x}, {axes.x.y, axes.y.y, axes.z.y}, {axes.x.z, axes.y.z, axes.z.z}};
    const AnyVec<T> ix = inertia_times(b, t.x), iy = inertia_times(b, t.y), iz = inertia_times(b, t.z);
    const AnyVec<T> d = scaled(o, b.mass) + (c + c);  // I_O = I + (o.d) 1 - sym(o d')
    const T od = dot(o, d), half(0.5);
    T* I = moments + 3;
    I[0] += dot(ix, t.x) + od - o.x * d.x;
    I[1] += dot(ix, t.y) - half * (o.x * d.y + o.y * d.x);
    I[2] += dot(ix, t.z) - half * (o.x * d.z + o.z * d.x);
    I[3] += dot(iy, t.y) + od - o.y * d.y;
    I[4] += dot(iy, t.z) - half * (o.y * d.z + o.z * d.y);
    I[5] += dot(iz, t.z) + od - o.z * d.z;
  }
}

// those of the whole leg
template <bool kSecond, class T, class P, class B>
ZVENO_INLINE void composite(const Params<T>& p, const P& pose, const B& bodies, T* moments) {
  // packs one by one: to clear memory is dearer
  ZVENO_UNROLL
  for (int i = 0; i < (kSecond ? 9 : 3); ++i) moments[i] = T(0.0);
  const Axes<T> root = pose.root_axes(), last = spun<T>(pose);
  const AnyVec<T> o1 = p.vec(kBase);
  // origin of the last body: back from the ring's hinge
  const AnyVec<T> o3 = pose.hinge - scaled(last.x, p(kOuter));
  add_moments<kSecond>(bodies.b1, root, o1, moments);
  add_moments<kSecond>(bodies.b2, last, o1, moments);  // SPU: the housing spins about its hinge
  add_moments<kSecond>(bodies.b3, last, o3, moments);
}

template <class S, class T, class R>
struct LegEvaluation {
  const Params<T> p;
  const R& ring;

  // base to tip: (41)-(42)
  template <class P, class B, class Q, class Tip>
  ZVENO_INLINE auto flows(const P& pose, const B& bodies, const Q& rate, const Tip& tip) const {
    const auto f1 = pose.flow1(advance(pose.j1, ring.base, ring.K0), rate);
    const auto k1 = acceleration_matrix<S::kSymmetric>(f1.alpha, f1.omega);
    const auto f2 = pose.flow2(advance(pose.j2, f1, k1), rate);
    const auto k2 = next_acceleration_matrix<decltype(pose.j2)>(k1, f2);
    const auto f3 = pose.flow3(advance(pose.j3, f2, k2), rate);
    const auto k3 = next_acceleration_matrix<decltype(pose.j3)>(k2, f3);
    tip(f3, k3);
    enter_stage<T>(Stage::bias);
    return Three{inertial(bodies.b1, f1, k1), inertial(bodies.b2, f2, k2), inertial(bodies.b3, f3, k3)};
  }
  template <class J, class K, class F>
  static ZVENO_INLINE auto next_acceleration_matrix(const K& k, const F& f) {
    if constexpr (std::remove_const_t<std::remove_reference_t<J>>::kTurns)
      return acceleration_matrix<S::kSymmetric>(f.alpha, f.omega);
    else
      return k;
  }

  ZVENO_INLINE auto hook_row(const Pose<S, T>& pose) const {
    if constexpr (S::kUniversal)
      return Screw6{ZeroVec(), pose.end.normal_0};
    else
      return NoScrew();
  }
  // (29), (32): rates of the coordinates are H [v; w]
  ZVENO_INLINE auto jacobian(const Pose<S, T>& pose, const AnyVec<T>& rho) const {
    const auto line = [&](const AnyVec<T>& a) { return PlainScrew<T>{a, cross(rho, a)}; };
    return pose.solve(line(pose.axes.x), line(pose.axes.y), line(pose.axes.z), hook_row(pose));
  }
  ZVENO_INLINE auto rates(const Pose<S, T>& pose, const AnyVec<T>& rho) const {
    const AnyVec<T> d = pose.axes.times(ring.v + cross(ring.w, rho));
    if constexpr (S::kUniversal)
      return pose.solve(d.x, d.y, d.z, dot(pose.end.normal_0, ring.w));
    else
      return pose.solve(d.x, d.y, d.z, Zero());
  }
  // (30)-(32); absolute rates on both sides, f: flow of the last body
  template <class F, class K>
  ZVENO_INLINE auto drift(const Pose<S, T>& pose, const Closing<T, S::kSymmetric>& x, const F& f, const K& k) const {
    const auto tip = f.a + k.times(Vec<T, Zero, Zero>{p(kOuter), {}, {}});
    const auto d = pose.axes.times(ring.a + ring.K.times(x.rho)) - pose.unspun(tip);
    if constexpr (S::kUniversal) {
      // n_R' . (o_n - o_C) with n_R' = e1 (o_n . e2) - e2 (o_C . e1), since e1 . e2 = 0
      const T e1n = dot(x.hook, f.omega), e2n = dot(x.axis, f.omega), e1c = dot(x.hook_0, ring.omega),
              e2c = dot(x.axis_0, ring.omega);
      const T turning = e1n * e2n + e2c * e1c - (e1c + e1c) * e2n;
      return pose.solve(d.x, d.y, d.z, dot(pose.end.normal_0, ring.alpha) - dot(x.normal, f.alpha) - turning);
    } else {
      return pose.solve(d.x, d.y, d.z, Zero());
    }
  }

  // joint coordinates, rates, the actuated row of H, what must not vanish
  ZVENO_INLINE void kinematics(T* position, T* rate, T* row, T* measure) const {
    Closing<T, S::kSymmetric> closing;
    const Pose<S, T> pose(p, ring, closing);
    pose.coordinates(position);
    const auto q = rates(pose, closing.rho);
    const T by_place[4] = {value<T>(q.a), value<T>(q.b), value<T>(q.c), value<T>(q.d)};
    in_order<S>(by_place, rate);
    const auto H = jacobian(pose, closing.rho);
    if constexpr (S::kHunt)
      write(H.a, row);
    else
      write(H.d, row);
    for (int i = 0; i < 4; ++i) measure[i] = closing.measure[i];
  }

  // first half: the leg's share of the reduced system (44), or of (51); forces may answer to what is known then, so that
  // kRight of the share is left to `drive`. sum: null, or where kMatrix of the share is added, and not written. Fills `held`
  // (raw memory); returns the rates of momentum of the flow.
  template <bool kFree>
  ZVENO_INLINE auto first(T* share, T* measure, FirstHalf<S, T>& held, T* sum = nullptr) const {
    Closing<T, S::kSymmetric> closing;
    if constexpr (kFree) {
      T column[4][6];
      const auto inertia = place<S>(share, measure, held, closing, column, sum);
      return move(inertia, closing, column, held, share);
    } else {
      const Bodies<S, T> bodies(p);
      const auto rate = open(measure, held, closing);
      const auto flow = flow_of(bodies, rate, closing, held, [](const auto&) {});
      const auto inertia = inertia_of(held.pose, bodies);
      force(inertia, held);
      add_or_write(inertia, held.H, share, sum);
      return flow;
    }
  }

  // The same for a free base in two steps. First what its motion does not matter for: all of the share but kRight and
  // kBaseRight, and what the second step needs: closing, column (M_bp) and the inertia of the leg, which is returned. Of: S,
  // or with symmetric bodies, if they are; that leaves out only terms that are zero, which (42) in the second step does not.
  template <class Of>
  ZVENO_INLINE auto place(T* share, T* measure, FirstHalf<S, T>& held, Closing<T, S::kSymmetric>& closing, T (&column)[4][6],
                          T* sum = nullptr) const {
    const Bodies<Of, T> bodies(p);
    open(measure, held, closing);
    const auto inertia = inertia_of(held.pose, bodies);
    add_or_write(inertia, held.H, share, sum);
    couple(held.pose, bodies, held.H, column, share);
    composite<true>(p, held.pose, bodies, share + kMoment);
    return inertia;
  }
  // the inertia as numbers, from one step to the other
  static constexpr int kInertiaNumbers = 10;
  template <class I>
  static ZVENO_INLINE void keep(const I& A, T (&to)[kInertiaNumbers]) {
    to[0] = value<T>(A.a00), to[1] = value<T>(A.c0.b), to[2] = value<T>(A.c0.c), to[3] = value<T>(A.c0.d);
    to[4] = value<T>(A.c1.b), to[5] = value<T>(A.c1.c), to[6] = value<T>(A.c1.d);
    to[7] = value<T>(A.c2.c), to[8] = value<T>(A.c2.d), to[9] = value<T>(A.a33);
  }
  static ZVENO_INLINE auto kept_inertia(const T (&A)[kInertiaNumbers]) {
    return LegInertia{A[0],
                      kept<3>(A[9]),
                      Four{Unneeded(), A[1], kept<2>(A[2]), kept<3>(A[3])},
                      Four{Unneeded(), A[4], kept<2>(A[5]), kept<3>(A[6])},
                      Four{Unneeded(), Unneeded(), kept<2>(A[7]), kept<3>(kept<2>(A[8]))},
                      Unneeded()};
  }
  // then, its motion known, kBaseRight; returns the rates of momentum of the flow
  template <class I>
  ZVENO_INLINE auto move(const I& inertia, const Closing<T, S::kSymmetric>& closing, const T (&column)[4][6],
                         FirstHalf<S, T>& held, T* share) const {
    T flow_0[6];
    const Four rate{held.rate[0], held.rate[1], kept<2>(held.rate[2]), kept<3>(held.rate[3])};
    const auto flow = flow_of(Bodies<S, T>(p), rate, closing, held, [&](const auto& l) {
      enter_stage<T>(Stage::reduction);
      write(to_base(held.pose, l.l1), flow_0);
    });
    force(inertia, held);
    for (int i = 0; i < 6; ++i) {
      T left = flow_0[i];
      for (int k = 0; k < S::kCoordinates; ++k) left += column[S::place(k)][i] * held.h[S::place(k)];
      share[kBaseRight + i] = -left;
    }
    return flow;
  }

 private:
  // pose, H, rates of the coordinates, which are returned
  ZVENO_INLINE auto open(T* measure, FirstHalf<S, T>& held, Closing<T, S::kSymmetric>& closing) const {
    enter_stage<T>(Stage::closure);
    const Pose<S, T>& pose = *::new (&held.pose) Pose<S, T>(p, ring, closing);
    for (int i = 0; i < 4; ++i) measure[i] = closing.measure[i];
    enter_stage<T>(Stage::jacobian);
    const auto H = jacobian(pose, closing.rho);
    const auto rate = rates(pose, closing.rho);
    T(&x)[4][6] = held.H;
    write(H.a, x[0]), write(H.b, x[1]);
    if constexpr (S::has(2)) write(H.c, x[2]);
    if constexpr (S::has(3)) write(H.d, x[3]);
    held.rate[0] = value<T>(rate.a), held.rate[1] = value<T>(rate.b);
    held.rate[2] = value<T>(rate.c), held.rate[3] = value<T>(rate.d);
    return rate;
  }

  // rates of momentum of the flow, h, bias; root: called with their sums
  template <class B, class Q, class Root>
  ZVENO_INLINE auto flow_of(const B& bodies, const Q& rate, const Closing<T, S::kSymmetric>& closing, FirstHalf<S, T>& held,
                            const Root& root) const {
    const Pose<S, T>& pose = held.pose;
    enter_stage<T>(Stage::drift);
    T(&h_)[4] = held.h;
    const auto flow = flows(pose, bodies, rate, [&](const auto& f, const auto& k) {
      const auto h = drift(pose, closing, f, k);
      h_[0] = value<T>(h.a), h_[1] = value<T>(h.b), h_[2] = value<T>(h.c), h_[3] = value<T>(h.d);
    });
    enter_stage<T>(Stage::bias);
    const auto l = gathered<1>(pose, flow);
    held.tau[0] = value<T>(pose.template along<0>(l.l1, l.l2, l.l3));
    held.tau[1] = value<T>(pose.template along<1>(l.l1, l.l2, l.l3));
    held.tau[2] = value<T>(pose.template along<2>(l.l1, l.l2, l.l3));
    held.tau[3] = value<T>(pose.template along<3>(l.l1, l.l2, l.l3));
    root(l);
    return flow;
  }

  // A by columns, with the drive on its diagonal
  template <class B>
  ZVENO_INLINE auto inertia_of(const Pose<S, T>& pose, const B& bodies) const {
    enter_stage<T>(Stage::inertia);
    const auto A0 = inertia_column<0>(pose, bodies);
    const auto A1 = inertia_column<1>(pose, bodies);
    const auto A2 = inertia_column<2>(pose, bodies);
    const auto A3 = inertia_column<3>(pose, bodies);
    return LegInertia{add_reflected<0>(A0.a), add_reflected<3>(A3.d), A0, A1, A2, A3};
  }

  // A h
  template <class I>
  static ZVENO_INLINE void force(const I& A, FirstHalf<S, T>& held) {
    enter_stage<T>(Stage::reduction);
    const T(&h_)[4] = held.h;
    const auto ha = h_[0], hb = h_[1];
    const auto hc = kept<2>(h_[2]);
    const auto hd = kept<3>(h_[3]);
    held.forced[0] = value<T>(A.a00 * ha + A.c0.b * hb + A.c0.c * hc + A.c0.d * hd);
    held.forced[1] = value<T>(A.c0.b * ha + A.c1.b * hb + A.c1.c * hc + A.c1.d * hd);
    held.forced[2] = value<T>(A.c0.c * ha + A.c1.c * hb + A.c2.c * hc + A.c2.d * hd);
    held.forced[3] = value<T>(A.c0.d * ha + A.c1.d * hb + A.c2.d * hc + A.a33 * hd);
  }

  // H' A H column by column: A H as a whole would not stay in registers
  template <bool kAdd, class I>
  static ZVENO_INLINE void reduce(const I& A, const T (&x)[4][6], T* matrix) {
    enter_stage<T>(Stage::reduction);
    ZVENO_UNROLL
    for (int i = 0; i < 6; ++i) {
      const auto xc = kept<2>(x[2][i]);
      const auto xd = kept<3>(x[3][i]);
      const T g[4] = {value<T>(A.a00 * x[0][i] + A.c0.b * x[1][i] + A.c0.c * xc + A.c0.d * xd),
                      value<T>(A.c0.b * x[0][i] + A.c1.b * x[1][i] + A.c1.c * xc + A.c1.d * xd),
                      value<T>(A.c0.c * x[0][i] + A.c1.c * x[1][i] + A.c2.c * xc + A.c2.d * xd),
                      value<T>(A.c0.d * x[0][i] + A.c1.d * x[1][i] + A.c2.d * xc + A.a33 * xd)};
      ZVENO_UNROLL
      for (int j = i; j < 6; ++j) {
        T sum = g[0] * x[0][j];
        ZVENO_UNROLL
        for (int k = 1; k < S::kCoordinates; ++k) sum += g[S::place(k)] * x[S::place(k)][j];
        T& to = matrix[upper6(i, j)];
        if constexpr (kAdd)
          to += sum;
        else
          to = sum;
      }
    }
  }
  template <class I>
  static ZVENO_INLINE void add_or_write(const I& A, const T (&x)[4][6], T* share, T* sum) {
    if (sum)
      reduce<true>(A, x, sum + kMatrix);
    else
      reduce<false>(A, x, share + kMatrix);
  }

  // column: M_bp; share: M_bp H
  template <class P, class B>
  static ZVENO_INLINE void couple(const P& pose, const B& bodies, const T (&H)[4][6], T (&column)[4][6], T* share) {
    base_column<0>(pose, bodies, column[0]);
    base_column<1>(pose, bodies, column[1]);
    base_column<2>(pose, bodies, column[2]);
    base_column<3>(pose, bodies, column[3]);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) {
        T sum = column[0][i] * H[0][j];
        for (int k = 1; k < S::kCoordinates; ++k) sum += column[S::place(k)][i] * H[S::place(k)][j];
        share[kCoupling + 6 * i + j] = sum;
      }
  }
  template <int i>
  static ZVENO_INLINE auto kept(const T& x) {
    if constexpr (S::has(i))
      return x;
    else
      return Zero();
  }
  template <int i>
  static ZVENO_INLINE Zero kept(Zero) {
    return {};
  }
  template <int i, class A>
  ZVENO_INLINE auto add_reflected(const A& a) const {
    if constexpr (i == Pose<S, T>::kActuated)
      return a + p(kReflected);
    else
      return a;
  }
  template <int i, class P, class B>
  static ZVENO_INLINE void base_column(const P& pose, const B& bodies, T* out) {
    if constexpr (S::has(i)) {
      const Four<Known<i == 0>, Known<i == 1>, Known<i == 2>, Known<i == 3>> unit;
      write(to_base(pose, gathered<1>(pose, loads_of(pose, bodies, unit)).l1), out);
    } else {
      ZVENO_UNROLL
      for (int k = 0; k < 6; ++k) out[k] = T(0.0);
    }
  }
};

// Where the leg's results go, coordinates in the order of the joints. Four numbers each, written in this order: three joints
// may stand closer, then what follows is written over the fourth place.
template <class T>
struct Places {
  T *position, *rate, *acceleration, *reaction;
  T* base;  // 6, load on the base about O_0
};
template <class T>
struct Outcome {
  T position[4], rate[4], acceleration[4], reaction[4], base[6];
  Places<T> places() { return {position, rate, acceleration, reaction, base}; }
};

// what forces may answer to: coordinate of the actuated joint, rates in the order of the joints
template <class S, class T>
ZVENO_INLINE void driven(const FirstHalf<S, T>& held, T& position, T* rate) {
  position = held.pose.actuated();
  in_order<S>(held.rate, rate);
}

// the forces that `first` waits for: kRight of the share, H' (tau - bias - forced), added to what is there or written
template <class S, class T>
ZVENO_INLINE void drive(const T* tau, FirstHalf<S, T>& held, T* right, bool add) {
  T r[4];
  enter_stage<T>(Stage::bias);
  for (int k = 0; k < S::kCoordinates; ++k) {
    const int i = S::place(k);
    r[i] = tau[k] - held.tau[i];
    held.tau[i] = tau[k];
  }
  enter_stage<T>(Stage::reduction);
  for (int k = 0; k < S::kCoordinates; ++k) r[S::place(k)] -= held.forced[S::place(k)];
  ZVENO_UNROLL
  for (int i = 0; i < 6; ++i) {
    T sum = held.H[0][i] * r[0];
    ZVENO_UNROLL
    for (int k = 1; k < S::kCoordinates; ++k) sum += held.H[S::place(k)][i] * r[S::place(k)];
    if (add)
      right[i] += sum;
    else
      right[i] = sum;
  }
}

// momentum of the leg, linear and about O_0 in base axes (6), and its first moment of mass (3)
template <class S, class T>
ZVENO_INLINE void momenta(const Params<T>& p, const FirstHalf<S, T>& held, T* out) {
  const Bodies<S, T> bodies(p);
  const auto rate = [&](auto i) {
    if constexpr (S::has(decltype(i)::value))
      return held.rate[decltype(i)::value];
    else
      return Zero();
  };
  const Four q{held.rate[0], held.rate[1], rate(std::integral_constant<int, 2>()), rate(std::integral_constant<int, 3>())};
  write(to_base(held.pose, gathered<1>(held.pose, loads_of(held.pose, bodies, q)).l1), out);
  composite<false>(p, held.pose, bodies, out + 6);
}

// second half, the ring's acceleration known: (45)-(48). x: [v'; w'] in base axes; base: what a free base adds to the flow.
// Angles are dear: without `coordinates`, position is not written.
template <class S, class T, class L, class M = AtRest>
ZVENO_INLINE void second(const Params<T>& p, const FirstHalf<S, T>& held, const L& flow, const T* x, const Places<T>& out,
                         bool coordinates = true, const M& base = {}) {
  enter_stage<T>(Stage::reaction);
  const Pose<S, T>& pose = held.pose;
  if (coordinates) pose.coordinates(out.position);  // first: it does not wait for x
  const AnyVec<T> v{x[0], x[1], x[2]}, w{x[3], x[4], x[5]};
  const auto acceleration = [&](int i) {
    const T(&row)[6] = held.H[i];
    return dot(AnyVec<T>{row[0], row[1], row[2]}, v) + dot(AnyVec<T>{row[3], row[4], row[5]}, w) + held.h[i];
  };
  const auto optional = [&](auto has, int i) {
    if constexpr (decltype(has)::value)
      return acceleration(i);
    else
      return Zero();
  };
  const Four q{acceleration(0), acceleration(1), optional(std::bool_constant<S::has(2)>(), 2),
               optional(std::bool_constant<S::has(3)>(), 3)};
  const auto loads = loads_of(pose, Bodies<S, T>(p), q, base);
  const auto l = gathered<1>(pose, Three{loads.l1 + flow.l1, loads.l2 + flow.l2, loads.l3 + flow.l3});
  const auto rest = [&](auto i, const auto& qi) {
    constexpr int k = decltype(i)::value;
    if constexpr (std::is_same_v<std::decay_t<decltype(qi)>, Zero>) {
      return Zero();
    } else {
      const T g = held.tau[k] - pose.template along<k>(l.l1, l.l2, l.l3);
      if constexpr (k == Pose<S, T>::kActuated)
        return T(g - p(kReflected) * qi);
      else
        return g;
    }
  };
  const Four g{rest(std::integral_constant<int, 0>(), q.a), rest(std::integral_constant<int, 1>(), q.b),
               rest(std::integral_constant<int, 2>(), q.c), rest(std::integral_constant<int, 3>(), q.d)};
  T moment;
  const AnyVec<T> force = pose.axes.undo(pose.solve_transposed(g, moment));
  // what the ring's reaction and the rates of momentum leave for the base
  const auto inertia = to_base(pose, l.l1);
  const auto f = -(force + inertia.a);
  const auto m = cross(pose.hinge, force) + inertia.b;
  const auto with_hook = [&] {
    if constexpr (S::kUniversal)
      return -(m + scaled(pose.end.normal_0, moment));
    else
      return -m;
  }();
  write(Screw6{f, with_hook}, out.base);
  const T by_place[4] = {q.a, q.b, value<T>(q.c), value<T>(q.d)};
  in_order<S>(held.rate, out.rate);
  in_order<S>(by_place, out.acceleration);
  out.reaction[0] = force.x, out.reaction[1] = force.y, out.reaction[2] = force.z, out.reaction[3] = moment;
}

}  // namespace zveno::leg
