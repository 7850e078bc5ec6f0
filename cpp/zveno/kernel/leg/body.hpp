// What a leg is made of: joints, bodies, and how motions and loads pass from one to the next, in body axes.
// Golubev & Yaskevich (000), sections 3 and 5, with known zeros and ones as types (section 7 of the paper);
// equation numbers of docs/hexapods.md.
#pragma once

#include <zveno/math/known.hpp>

namespace zveno::leg {

// ---- quantities of one body frame

// acceleration of the origin, angular acceleration; linear in the joint accelerations
template <class A, class E>
struct Motion {
  A a;
  E e;
};
template <class A, class E>
Motion(A, E) -> Motion<A, E>;

// rate of momentum or force, and moment about the origin
template <class F, class M>
struct Load {
  F f;
  M m;
};
template <class F, class M>
Load(F, M) -> Load<F, M>;

// what remains when all joint accelerations are zero: acceleration of the origin, angular acceleration and velocity
template <class A, class E, class O>
struct Flow {
  A a;
  E alpha;
  O omega;
};
template <class A, class E, class O>
Flow(A, E, O) -> Flow<A, E, O>;

template <class A, class E, class B, class F>
ZVENO_INLINE auto operator+(const Motion<A, E>& x, const Motion<B, F>& y) {
  return Motion{x.a + y.a, x.e + y.e};
}
template <class A, class E, class B, class F>
ZVENO_INLINE auto operator+(const Load<A, E>& x, const Load<B, F>& y) {
  return Load{x.f + y.f, x.m + y.m};
}

struct Unneeded {};

// K = e~ + o~ o~ by columns; symmetric legs have all their vectors along x and need the first one only
template <class X, class Y, class Z, class P, class Q>
struct Swirl {
  X x;
  Y y;
  Z z;
  P xy;  // o.x o.y
  Q xz;

  template <class A, class B, class C>
  ZVENO_INLINE auto times(const Vec<A, B, C>& v) const {
    if constexpr (detail::known<B> == 0 && detail::known<C> == 0) {
      return scaled(x, v.x);
    } else {
      return scaled(x, v.x) + scaled(y, v.y) + scaled(z, v.z);
    }
  }
};
template <class X, class Y, class Z, class P, class Q>
Swirl(X, Y, Z, P, Q) -> Swirl<X, Y, Z, P, Q>;

template <bool kSymmetric, class E, class O>
ZVENO_INLINE auto acceleration_matrix(const E& e, const O& o) {
  const auto xy = o.x * o.y;
  const auto xz = o.x * o.z;
  const auto yy = o.y * o.y;
  const auto zz = o.z * o.z;
  const Vec x{-(yy + zz), xy + e.z, xz - e.y};
  if constexpr (kSymmetric) {
    return Swirl{x, Unneeded(), Unneeded(), xy, xz};
  } else {
    const auto xx = o.x * o.x;
    const auto yz = o.y * o.z;
    return Swirl{x, Vec{xy - e.z, -(xx + zz), yz + e.x}, Vec{xz + e.y, yz - e.x, -(xx + yy)}, xy, xz};
  }
}

// ---- bodies; inertia about the origin of the body frame

struct NoBody {};

// axially symmetric about x, centre of mass on x
template <class T>
struct Rod {
  T mass, cx, ix, it;
};

template <class T>
struct Solid {
  T mass;
  AnyVec<T> c;  // mass times centre of mass
  Sym3<T> inertia;
};

template <class T, class A, class B, class C>
ZVENO_INLINE auto times(const Sym3<T>& S, const Vec<A, B, C>& a) {
  return Vec{S.xx * a.x + S.xy * a.y + S.xz * a.z, S.xy * a.x + S.yy * a.y + S.yz * a.z,
             S.xz * a.x + S.yz * a.y + S.zz * a.z};
}

// rate of momentum for a motion: (39)
template <class Mo>
ZVENO_INLINE auto inertial(const NoBody&, const Mo&) {
  return Load{ZeroVec(), ZeroVec()};
}
template <class T, class Mo>
ZVENO_INLINE auto inertial(const Rod<T>& b, const Mo& m) {
  const Vec<T, Zero, Zero> c{b.cx, {}, {}};
  return Load{scaled(m.a, b.mass) + cross(m.e, c), Vec{m.e.x * b.ix, m.e.y * b.it, m.e.z * b.it} + cross(c, m.a)};
}
template <class T, class Mo>
ZVENO_INLINE auto inertial(const Solid<T>& b, const Mo& m) {
  return Load{scaled(m.a, b.mass) + cross(m.e, b.c), times(b.inertia, m.e) + cross(b.c, m.a)};
}

// rate of momentum of the flow: (42)
template <class Fl, class K>
ZVENO_INLINE auto inertial(const NoBody&, const Fl&, const K&) {
  return Load{ZeroVec(), ZeroVec()};
}
template <class T, class Fl, class K>
ZVENO_INLINE auto inertial(const Rod<T>& b, const Fl& f, const K& k) {
  const Vec<T, Zero, Zero> c{b.cx, {}, {}};
  // I e + o x I o with I = diag(ix, it, it), in terms of K's first column
  const Vec turning{f.alpha.x * b.ix, k.xz * b.ix - k.x.z * b.it, k.x.y * b.it - k.xy * b.ix};
  return Load{scaled(f.a, b.mass) + k.times(c), turning + cross(c, f.a)};
}
template <class T, class Fl, class K>
ZVENO_INLINE auto inertial(const Solid<T>& b, const Fl& f, const K& k) {
  return Load{scaled(f.a, b.mass) + k.times(b.c),
              times(b.inertia, f.alpha) + cross(b.c, f.a) + cross(f.omega, times(b.inertia, f.omega))};
}

// ---- rotations, parent components -> child components (down) and back (up)

template <int kAxis, class T>
struct About {
  T s, c;

  template <class X, class Y, class Z>
  ZVENO_INLINE auto down(const Vec<X, Y, Z>& a) const {
    if constexpr (kAxis == 0) {
      return Vec{a.x, c * a.y + s * a.z, c * a.z - s * a.y};
    } else if constexpr (kAxis == 1) {
      return Vec{c * a.x - s * a.z, a.y, s * a.x + c * a.z};
    } else {
      return Vec{c * a.x + s * a.y, c * a.y - s * a.x, a.z};
    }
  }
  template <class X, class Y, class Z>
  ZVENO_INLINE auto up(const Vec<X, Y, Z>& a) const {
    return About{-s, c}.down(a);
  }
};

struct Aligned {
  template <class V>
  ZVENO_INLINE V down(const V& a) const {
    return a;
  }
  template <class V>
  ZVENO_INLINE V up(const V& a) const {
    return a;
  }
};

// where a joint frame stands: not turned, at the origin or along x
struct Same : Aligned {
  ZVENO_INLINE ZeroVec offset() const { return {}; }
};

// ---- joints. A joint frame stands at (offset, frame) in the parent; the body frame is the joint frame moved.

struct Fixed : Aligned {
  static constexpr bool kTurns = false;
  ZVENO_INLINE ZeroVec offset() const { return {}; }
  ZVENO_INLINE auto motion(Zero) const { return Motion{ZeroVec(), ZeroVec()}; }
  template <class Fl>
  ZVENO_INLINE Fl add_rate(const Fl& f, Zero) const {
    return f;
  }
};

// Frame: how the joint frame stands in the parent (down, up, offset); it may read its numbers where they are kept
template <class Axis, class Fr, class R>
struct Hinge {
  static constexpr bool kTurns = true;
  Fr frame;
  R turn;

  ZVENO_INLINE auto offset() const { return frame.offset(); }

  template <class V>
  ZVENO_INLINE auto down(const V& a) const {
    return turn.down(frame.down(a));
  }
  template <class V>
  ZVENO_INLINE auto up(const V& a) const {
    return frame.up(turn.up(a));
  }
  template <class Q>
  ZVENO_INLINE auto motion(const Q& q) const {
    return Motion{ZeroVec(), scaled(Axis(), q)};
  }
  template <class Fl, class Q>
  ZVENO_INLINE auto add_rate(const Fl& f, const Q& rate) const {
    const auto o = scaled(Axis(), rate);
    return Flow{f.a, f.alpha + cross(f.omega, o), f.omega + o};
  }
};

// two hinges whose axes y, z meet at a right angle; the body between has no mass
template <class T, class Fr>
struct Universal {
  static constexpr bool kTurns = true;
  Fr frame;
  About<1, T> first;
  About<2, T> second;

  ZVENO_INLINE auto offset() const { return frame.offset(); }

  template <class V>
  ZVENO_INLINE auto down(const V& a) const {
    return second.down(first.down(frame.down(a)));
  }
  template <class V>
  ZVENO_INLINE auto up(const V& a) const {
    return frame.up(first.up(second.up(a)));
  }
  // the first axis in body axes; the second is z
  ZVENO_INLINE Vec<T, T, Zero> axis() const { return {second.s, second.c, {}}; }
  template <class Q, class P>
  ZVENO_INLINE auto motion(const Q& q1, const P& q2) const {
    return Motion{ZeroVec(), scaled(axis(), q1) + Vec<Zero, Zero, P>{{}, {}, q2}};
  }
  template <class Fl, class Q>
  ZVENO_INLINE auto add_rate(const Fl& f, const Q& rate1, const Q& rate2) const {
    const auto o1 = scaled(axis(), rate1);
    const Vec<Zero, Zero, Q> o2{{}, {}, rate2};
    const auto between = f.omega + o1;
    return Flow{f.a, f.alpha + cross(f.omega, o1) + cross(between, o2), between + o2};
  }
};

// along x
template <class T>
struct Slide : Aligned {
  static constexpr bool kTurns = false;
  T length;  // displacement included

  ZVENO_INLINE Vec<T, Zero, Zero> offset() const { return {length, {}, {}}; }
  template <class Q>
  ZVENO_INLINE auto motion(const Q& q) const {
    return Motion{Vec<Q, Zero, Zero>{q, {}, {}}, ZeroVec()};
  }
  template <class Fl, class Q>
  ZVENO_INLINE auto add_rate(const Fl& f, const Q& rate) const {
    const Vec<Q, Zero, Zero> twice{rate + rate, {}, {}};
    return Flow{f.a + cross(f.omega, twice), f.alpha, f.omega};
  }
};

// ---- from body to body

// (39): field of the parent in the child
template <class J, class Mo>
ZVENO_INLINE auto advance(const J& j, const Mo& m) {
  return Motion{j.down(m.a + cross(m.e, j.offset())), j.down(m.e)};
}
// (41) without the joint's own rate
template <class J, class Fl, class K>
ZVENO_INLINE auto advance(const J& j, const Fl& f, const K& k) {
  return Flow{j.down(f.a + k.times(j.offset())), j.down(f.alpha), j.down(f.omega)};
}
// (40): load of the child in the parent
template <class J, class L>
ZVENO_INLINE auto transmit(const J& j, const L& l) {
  const auto f = j.up(l.f);
  return Load{f, j.up(l.m) + cross(j.offset(), f)};
}

}  // namespace zveno::leg
