// One leg of a hexapod: closure in closed form, constraint solves, inertia, reduction to the ring, reactions, load on the
// base. Golubev & Yaskevich (000) as corrected in docs/hexapods.md, whose equation numbers are used here. The five
// structures are types; what is known of them at compile time costs no operation. Base axes are those of frame 0.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>

#include <zveno/kernel/ring.hpp>
#include <zveno/scalar/angle.hpp>

namespace zveno {

enum class LegType : std::uint8_t { ups, spu, ucu, rus, rsu, custom };

namespace leg {

// Numbers of one leg, as an array. Lengths: `inner` from the housing's hinge to the slide's zero (or crank), `outer` from
// there to the ring's hinge (or coupler).
enum Param : int {
  kBase = 0,       // l_0, 3
  kFrame = 3,      // gamma_0 by rows, 9
  kRing = 12,      // l_C, 3
  kRingAxis = 15,  // second axis of the ring's U joint: row 3 of gamma_C, 3
  kInner = 18,
  kOuter = 19,
  kInvOuter = 20,
  kReach = 21,  // inner^2 - outer^2
  kHalfInvInner = 22,
  kReflected = 23,
  kElbow = 24,
  kSpin = 25,
  kInnerMass = 26,
  kInnerMoment = 27,   // 3
  kInnerInertia = 30,  // xx xy xz yy yz zz about the body's origin
  kOuterMass = 36,
  kOuterMoment = 37,
  kOuterInertia = 40,
  kCrankFrame = 46,  // gamma_1 by rows, 9
  kHook = 55,        // first axis of the ring's U joint in the last link: row 2 of gamma_L, 3
  kParams = 58,
};

// Parameters stand kSlots apart: legs of one structure side by side, or one leg repeated, ready to be loaded into lanes.
constexpr int kSlots = 8;

template <class T>
struct Params {
  const double* p;

  ZVENO_INLINE T operator()(int i) const { return load(p + i * kSlots, static_cast<T*>(nullptr)); }
  ZVENO_INLINE Vec3T<T> vec(int i) const { return {(*this)(i), (*this)(i + 1), (*this)(i + 2)}; }
  ZVENO_INLINE Rows3<T> rows(int i) const { return {vec(i), vec(i + 3), vec(i + 6)}; }

 private:
  template <int N>
  static ZVENO_INLINE Pack<N> load(const double* x, Pack<N>*) {
    return Pack<N>::load(x);
  }
  template <class U>
  static ZVENO_INLINE U load(const double* x, U*) {
    return U(*x);
  }
};

// Lean: crank_frame and tip_frame are identities, bodies are axially symmetric about their x axes.
template <LegType kTypeOf, bool kLeanOf>
struct Structure {
  static constexpr LegType kType = kTypeOf;
  static constexpr bool kLean = kLeanOf;
  static constexpr bool kHunt = kType == LegType::rus || kType == LegType::rsu;
  static constexpr bool kUniversal = kType == LegType::spu || kType == LegType::ucu || kType == LegType::rsu;
  // of the four places for coordinates, UPS has no third and RUS no fourth
  static constexpr bool has(int i) { return kUniversal || i != (kHunt ? 3 : 2); }
  static constexpr int kCoordinates = kUniversal ? 4 : 3;
  static constexpr int place(int k) { return !has(2) && k == 2 ? 3 : k; }  // of the k-th coordinate
};

template <class A, class B, class C, class D>
struct Four {
  A a;
  B b;
  C c;
  D d;
};
template <class A, class B, class C, class D>
Four(A, B, C, D) -> Four<A, B, C, D>;

// six coefficients of [v; w in base axes]
template <class A, class B>
struct Row {
  A a;
  B b;
};
template <class A, class B>
Row(A, B) -> Row<A, B>;
#define ZVENO_ROW2 template <class A, class B, class C, class D>
ZVENO_ROW2 ZVENO_INLINE auto operator+(const Row<A, B>& x, const Row<C, D>& y) { return Row{x.a + y.a, x.b + y.b}; }
ZVENO_ROW2 ZVENO_INLINE auto operator-(const Row<A, B>& x, const Row<C, D>& y) { return Row{x.a - y.a, x.b - y.b}; }
#undef ZVENO_ROW2
template <class A, class B>
ZVENO_INLINE auto operator-(const Row<A, B>& x) {
  return Row{-x.a, -x.b};
}
template <class T>
using Row6 = Row<Vec3T<T>, Vec3T<T>>;
template <class T, class S>
ZVENO_INLINE auto operator*(const Row6<T>& x, const S& s) {
  return Row{scaled(x.a, s), scaled(x.b, s)};
}
using NoRow = Row<ZeroVec, ZeroVec>;
template <class S>
ZVENO_INLINE NoRow operator*(const NoRow&, const S&) {
  return {};
}

// in place of the coordinate that a structure does not have
ZVENO_INLINE Zero absent(double) { return {}; }
template <int N>
ZVENO_INLINE Zero absent(const Pack<N>&) {
  return {};
}
ZVENO_INLINE Zero absent(const Counted&) { return {}; }
template <class T>
ZVENO_INLINE NoRow absent(const Row6<T>&) {
  return {};
}

// from places to the order of the joints, a missing fourth is 0
template <class S, class T>
ZVENO_INLINE void in_order(const T (&place)[4], T* out) {
  for (int k = 0; k < 3; ++k) out[k] = place[S::place(k)];
  out[3] = S::kCoordinates == 4 ? place[3] : T(0.0);
}

// ---- the joint that closes the loop

// what only the first half needs of a pose
template <class T, bool kLean>
struct Closing {
  using Hook = std::conditional_t<kLean, Vec<Zero, One, Zero>, Vec3T<T>>;
  using Axis = std::conditional_t<kLean, Vec<T, Zero, T>, Vec3T<T>>;
  Vec3T<T> rho;  // from the ring's centre to its hinge
  T measure[4];  // what must not vanish: squares, see judge_leg in run/
  // of a U joint: its axes and n_R = hook x axis in body axes; the axes in base axes
  Hook hook;
  Axis axis, normal;
  Vec3T<T> hook_0, axis_0;
};

// of a U joint
template <class T>
struct Locking {
  T inverse;          // 1 / (n_R . X)
  Vec3T<T> normal_0;  // n_R, base axes
  T k[3];             // n_R . e_j of the rotations before the spin
};
struct Ball {};

// (25)-(27). axes: of the link before the spin; n: n_R in these axes
template <class S, class T, class R>
ZVENO_INLINE About<0, T> close_cross(const Params<T>& p, const Rows3<T>& axes, const R& turn, Closing<T, S::kLean>& x,
                                     Locking<T>& end, Vec3T<T>& n) {
  x.axis_0 = turn.times(p.vec(kRingAxis));
  const Vec3T<T> e = axes.times(x.axis_0);
  const T sign = p(kSpin);
  About<0, T> spin;
  if constexpr (S::kLean) {
    x.measure[3] = e.y * e.y + e.z * e.z;
    const T q = root(x.measure[3]);
    end.inverse = sign / q;
    spin = {-(e.y * end.inverse), e.z * end.inverse};
    x.axis = {e.x, {}, sign * q};
    x.normal = {x.axis.z, {}, -e.x};
  } else {
    x.hook = p.vec(kHook);
    const T A = x.hook.y * e.y + x.hook.z * e.z, B = x.hook.y * e.z - x.hook.z * e.y, C = x.hook.x * e.x;
    const T q2 = A * A + B * B;
    x.measure[3] = q2 - C * C;
    const T w = sign * root(x.measure[3]), inv = T(1.0) / q2;
    spin = {-((w * A + B * C) * inv), (w * B - A * C) * inv};
    x.axis = spin.down(e);
    x.normal = cross(x.hook, x.axis);
    end.inverse = T(1.0) / x.normal.x;
  }
  x.hook_0 = axes.undo(spin.up(x.hook));
  end.normal_0 = cross(x.hook_0, x.axis_0);
  const auto link = spin.up(x.normal);
  n = {link.x, link.y, link.z};
  return spin;
}

// ---- pose of a leg from the pose of the ring

// constant frames: read from the parameters where they are needed
template <class T>
struct BaseFrame {
  Params<T> p;
  ZVENO_INLINE Vec3T<T> offset() const { return p.vec(kBase); }
  template <class V>
  ZVENO_INLINE auto down(const V& a) const {
    return p.rows(kFrame).times(a);
  }
  template <class V>
  ZVENO_INLINE auto up(const V& a) const {
    return p.rows(kFrame).undo(a);
  }
};

template <class T, bool kLean>
struct CrankFrame {
  Params<T> p;
  ZVENO_INLINE Vec<T, Zero, Zero> offset() const { return {p(kInner), {}, {}}; }
  template <class V>
  ZVENO_INLINE auto down(const V& a) const {
    if constexpr (kLean)
      return a;
    else
      return p.rows(kCrankFrame).times(a);
  }
  template <class V>
  ZVENO_INLINE auto up(const V& a) const {
    if constexpr (kLean)
      return a;
    else
      return p.rows(kCrankFrame).undo(a);
  }
};

template <class T>
using SpinJoint = Hinge<Vec<One, Zero, Zero>, Same, About<0, T>>;

template <class S, class T>
struct PoseBase {
  using Of = S;
  using End = std::conditional_t<S::kUniversal, Locking<T>, Ball>;
  using SpinOrNone = std::conditional_t<S::kUniversal, SpinJoint<T>, Fixed>;

  Vec3T<T> hinge;
  Rows3<T> axes;  // of the last link before the spin: tau*
  End end;
};

template <class S, class T>
struct GoughPose : PoseBase<S, T> {
  static constexpr int kActuated = 3;
  Universal<T, BaseFrame<T>> j1;
  typename PoseBase<S, T>::SpinOrNone j2;
  Slide<T> j3;
  T stroke, inv_length, inv_flat;  // 1 / L, 1 / (L c2)

  template <class R>
  ZVENO_INLINE GoughPose(const Params<T>& p, const R& ring, Closing<T, S::kLean>& closing) {
    closing.rho = ring.R.times(p.vec(kRing));
    this->hinge = ring.r + closing.rho;
    const Vec3T<T> leg = this->hinge - p.vec(kBase);
    const Rows3<T> frame = p.rows(kFrame);
    const Vec3T<T> d = frame.times(leg);
    // (16)-(18)
    const T flat2 = d.x * d.x + d.z * d.z, length2 = flat2 + d.y * d.y;
    const T flat = root(flat2), length = root(length2);
    inv_flat = T(1.0) / flat;
    inv_length = T(1.0) / length;
    stroke = length - (p(kInner) + p(kOuter));
    const About<1, T> a1{-(d.z * inv_flat), d.x * inv_flat};
    const About<2, T> a2{d.y * inv_length, flat * inv_length};
    j1 = {{p}, a1, a2};
    j3.length = p(kInner) + stroke;
    const Vec3T<T> x = scaled(leg, inv_length), z = scaled(frame.x, a1.s) + scaled(frame.z, a1.c);
    this->axes = {x, cross(z, x), z};
    closing.measure[0] = a2.c * a2.c;
    closing.measure[1] = closing.measure[2] = closing.measure[3] = T(1.0);
    if constexpr (S::kUniversal) {
      Vec3T<T> n;
      j2.turn = close_cross<S>(p, this->axes, ring.R, closing, this->end, n);
      this->end.k[0] = dot(j1.axis(), n);
      this->end.k[1] = n.z;
    }
  }

  // (33); numbers or rows
  template <class D, class Y>
  ZVENO_INLINE auto solve(const D& x, const D& y, const D& z, const Y& last) const {
    const D a = -(z * inv_flat), b = y * inv_length;
    if constexpr (S::kUniversal) {
      const D c = (last - (a * this->end.k[0] + b * this->end.k[1])) * this->end.inverse;
      return Four{a, b, c, x};
    } else {
      return Four{a, b, absent(x), x};
    }
  }
  // (35)-(36); the force in axes tau*, the moment about n_R
  template <class G>
  ZVENO_INLINE Vec3T<T> solve_transposed(const G& g, T& moment) const {
    if constexpr (S::kUniversal) {
      moment = g.c * this->end.inverse;
      return {g.d, (g.b - moment * this->end.k[1]) * inv_length, -((g.a - moment * this->end.k[0]) * inv_flat)};
    } else {
      moment = T(0.0);
      return {g.d, g.b * inv_length, -(g.a * inv_flat)};
    }
  }

  // accelerations of the coordinates as motions of the three joints
  template <class Q>
  ZVENO_INLINE auto drive1(const Q& q) const {
    return j1.motion(q.a, q.b);
  }
  template <class Q>
  ZVENO_INLINE auto drive2(const Q& q) const {
    return j2.motion(q.c);
  }
  template <class Q>
  ZVENO_INLINE auto drive3(const Q& q) const {
    return j3.motion(q.d);
  }
  template <class F, class Q>
  ZVENO_INLINE auto flow1(const F& f, const Q& q) const {
    return j1.add_rate(f, q.a, q.b);
  }
  template <class F, class Q>
  ZVENO_INLINE auto flow2(const F& f, const Q& q) const {
    return j2.add_rate(f, q.c);
  }
  template <class F, class Q>
  ZVENO_INLINE auto flow3(const F& f, const Q& q) const {
    return j3.add_rate(f, q.d);
  }
  // load along a coordinate's axis, from the loads at the joints
  template <int i, class L1, class L2, class L3>
  ZVENO_INLINE auto along(const L1& l1, const L2& l2, const L3& l3) const {
    if constexpr (i == 0) {
      return dot(j1.axis(), l1.m);
    } else if constexpr (i == 1) {
      return l1.m.z;
    } else if constexpr (i == 2) {
      if constexpr (S::kUniversal)
        return l2.m.x;
      else
        return Zero();
    } else {
      return l3.f.x;
    }
  }
  // joint that carries coordinate i
  static constexpr int joint(int i) { return i < 2 ? 1 : i; }

  template <class V>
  ZVENO_INLINE auto unspun(const V& a) const {
    return j2.up(a);
  }
  ZVENO_INLINE const Rows3<T>& root_axes() const { return this->axes; }

  ZVENO_INLINE void coordinates(T* p) const {
    p[0] = joint_angle(j1.first.s, j1.first.c);
    p[1] = joint_angle(j1.second.s, j1.second.c);
    p[2] = p[3] = stroke;
    if constexpr (S::kUniversal)
      p[2] = joint_angle(j2.turn.s, j2.turn.c);
    else
      p[3] = T(0.0);
  }
};

template <class S, class T>
struct HuntPose : PoseBase<S, T> {
  static constexpr int kActuated = 0;
  Hinge<Vec<Zero, One, Zero>, BaseFrame<T>, About<1, T>> j1;
  Universal<T, CrankFrame<T, S::kLean>> j2;
  typename PoseBase<S, T>::SpinOrNone j3;
  Rows3<T> root;                         // axes of the crank
  T inv_q, q2, q3, inv_outer, inv_flat;  // 1 / Q1, Q2, Q3, 1 / l23, 1 / (l23 c3)

  template <class R>
  ZVENO_INLINE HuntPose(const Params<T>& p, const R& ring, Closing<T, S::kLean>& closing) {
    T(&measure)[4] = closing.measure;
    closing.rho = ring.R.times(p.vec(kRing));
    this->hinge = ring.r + closing.rho;
    const Rows3<T> frame = p.rows(kFrame);
    const Vec3T<T> d = frame.times(this->hinge - p.vec(kBase));
    const T inner = p(kInner);
    inv_outer = p(kInvOuter);
    // (19)-(22)
    const T flat2 = d.x * d.x + d.z * d.z, flat = root_of(flat2), inv = T(1.0) / flat;
    const T ca = (flat2 + d.y * d.y + p(kReach)) * p(kHalfInvInner) * inv;
    measure[0] = T(1.0) - ca * ca;
    const T sa = p(kElbow) * root_of(measure[0]);
    const T cb = d.x * inv, sb = -(d.z * inv);
    const About<1, T> a1{sa * cb + ca * sb, ca * cb - sa * sb};
    j1 = {{p}, a1};
    j2.frame = {p};
    // (23)-(24)
    const Vec3T<T> d1 = a1.down(d);
    const Vec3T<T> a = j2.frame.down(Vec3T<T>{d1.x - inner, d1.y, d1.z});
    const T s3 = a.y * inv_outer;
    measure[1] = T(1.0) - s3 * s3;
    const T c3 = root_of(measure[1]);
    inv_flat = inv_outer / c3;
    j2.first = {-(a.z * inv_flat), a.x * inv_flat};
    j2.second = {s3, c3};
    // axes, row by row
    root.x = scaled(frame.x, a1.c) - scaled(frame.z, a1.s);
    root.y = frame.y;
    root.z = scaled(frame.x, a1.s) + scaled(frame.z, a1.c);
    Rows3<T> u = root;
    if constexpr (!S::kLean) {
      const Rows3<T> g = p.rows(kCrankFrame);
      u = {root.undo(g.x), root.undo(g.y), root.undo(g.z)};
    }
    const Vec3T<T> x2 = scaled(u.x, j2.first.c) - scaled(u.z, j2.first.s);
    this->axes = {scaled(x2, c3) + scaled(u.y, s3), scaled(u.y, c3) - scaled(x2, s3),
                  scaled(u.x, j2.first.s) + scaled(u.z, j2.first.c)};
    // Q = y_0 x (hinge - l_0), in axes tau*
    const auto Q = j2.down(Vec<T, Zero, T>{d1.z, {}, -d1.x});
    inv_q = T(1.0) / Q.x;
    q2 = Q.y;
    q3 = Q.z;
    const T scale = p(kHalfInvInner) + p(kHalfInvInner);
    measure[2] = Q.x * Q.x * scale * scale;
    measure[3] = T(1.0);
    if constexpr (S::kUniversal) {
      Vec3T<T> n;
      j3.turn = close_cross<S>(p, this->axes, ring.R, closing, this->end, n);
      T(&k)[3] = this->end.k;
      k[1] = dot(j2.axis(), n);
      if constexpr (S::kLean)
        k[0] = k[1];  // both axes are parallel
      else
        k[0] = dot(j2.down(Vec<Zero, One, Zero>()), n);
      k[2] = n.z;
    }
  }

  // (34)
  template <class D, class Y>
  ZVENO_INLINE auto solve(const D& x, const D& y, const D& z, const Y& last) const {
    const D a = x * inv_q, c = (y - a * q2) * inv_outer, b = (a * q3 - z) * inv_flat;
    if constexpr (S::kUniversal) {
      const D d = (last - (a * this->end.k[0] + b * this->end.k[1] + c * this->end.k[2])) * this->end.inverse;
      return Four{a, b, c, d};
    } else {
      return Four{a, b, c, absent(x)};
    }
  }
  // (35), (37)
  template <class G>
  ZVENO_INLINE Vec3T<T> solve_transposed(const G& g, T& moment) const {
    T a = g.a, b = g.b, c = g.c;
    if constexpr (S::kUniversal) {
      moment = g.d * this->end.inverse;
      a -= moment * this->end.k[0];
      b -= moment * this->end.k[1];
      c -= moment * this->end.k[2];
    } else {
      moment = T(0.0);
    }
    const T y = c * inv_outer, z = -(b * inv_flat);
    return {(a - q2 * y - q3 * z) * inv_q, y, z};
  }

  template <class Q>
  ZVENO_INLINE auto drive1(const Q& q) const {
    return j1.motion(q.a);
  }
  template <class Q>
  ZVENO_INLINE auto drive2(const Q& q) const {
    return j2.motion(q.b, q.c);
  }
  template <class Q>
  ZVENO_INLINE auto drive3(const Q& q) const {
    return j3.motion(q.d);
  }
  template <class F, class Q>
  ZVENO_INLINE auto flow1(const F& f, const Q& q) const {
    return j1.add_rate(f, q.a);
  }
  template <class F, class Q>
  ZVENO_INLINE auto flow2(const F& f, const Q& q) const {
    return j2.add_rate(f, q.b, q.c);
  }
  template <class F, class Q>
  ZVENO_INLINE auto flow3(const F& f, const Q& q) const {
    return j3.add_rate(f, q.d);
  }
  template <int i, class L1, class L2, class L3>
  ZVENO_INLINE auto along(const L1& l1, const L2& l2, const L3& l3) const {
    if constexpr (i == 0) {
      return l1.m.y;
    } else if constexpr (i == 1) {
      return dot(j2.axis(), l2.m);
    } else if constexpr (i == 2) {
      return l2.m.z;
    } else {
      if constexpr (S::kUniversal)
        return l3.m.x;
      else
        return Zero();
    }
  }
  static constexpr int joint(int i) { return i == 0 ? 1 : i == 3 ? 3 : 2; }

  template <class V>
  ZVENO_INLINE auto unspun(const V& a) const {
    return j3.up(a);
  }
  ZVENO_INLINE const Rows3<T>& root_axes() const { return root; }

  ZVENO_INLINE void coordinates(T* p) const {
    p[0] = joint_angle(j1.turn.s, j1.turn.c);
    p[1] = joint_angle(j2.first.s, j2.first.c);
    p[2] = joint_angle(j2.second.s, j2.second.c);
    if constexpr (S::kUniversal)
      p[3] = joint_angle(j3.turn.s, j3.turn.c);
    else
      p[3] = T(0.0);
  }

 private:
  static ZVENO_INLINE T root_of(const T& x) { return zveno::root(x); }
};

template <class S, class T>
using Pose = std::conditional_t<S::kHunt, HuntPose<S, T>, GoughPose<S, T>>;

// ---- bodies

template <class S, class T>
ZVENO_INLINE auto body_of(const Params<T>& p, int mass, int moment, int inertia) {
  if constexpr (S::kLean) {
    return Rod<T>{p(mass), p(moment), p(inertia), p(inertia + 3)};
  } else {
    return Solid<T>{p(mass),
                    p.vec(moment),
                    {p(inertia), p(inertia + 1), p(inertia + 2), p(inertia + 3), p(inertia + 4), p(inertia + 5)}};
  }
}

template <class S, class T>
struct Bodies {
  using Any = std::conditional_t<S::kLean, Rod<T>, Solid<T>>;
  std::conditional_t<S::kType == LegType::spu, NoBody, Any> b1;
  std::conditional_t<S::kType == LegType::spu, Any, NoBody> b2;
  Any b3;

  ZVENO_INLINE explicit Bodies(const Params<T>& p) : b3(body_of<S>(p, kOuterMass, kOuterMoment, kOuterInertia)) {
    if constexpr (S::kType == LegType::spu)
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
  return Row{f, pose.root_axes().undo(l.m) + cross(pose.j1.offset(), f)};
}

template <class A, class B, class T>
ZVENO_INLINE void write(const Row<A, B>& row, T* out) {
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
struct Held {
  Pose<S, T> pose;
  Row6<T> H[4];
  T h[4], rate[4], tau[4];
};

template <class S, class T, class R>
struct Evaluation {
  const Params<T> p;
  const R& ring;

  // base to tip: (41)-(42)
  template <class P, class B, class Q, class Tip>
  ZVENO_INLINE auto flows(const P& pose, const B& bodies, const Q& rate, const Tip& tip) const {
    const auto f1 = pose.flow1(advance(pose.j1, ring.base, ring.K0), rate);
    const auto k1 = swirl<S::kLean>(f1.e, f1.o);
    const auto f2 = pose.flow2(advance(pose.j2, f1, k1), rate);
    const auto k2 = next_swirl<decltype(pose.j2)>(k1, f2);
    const auto f3 = pose.flow3(advance(pose.j3, f2, k2), rate);
    const auto k3 = next_swirl<decltype(pose.j3)>(k2, f3);
    tip(f3, k3);
    enter_stage<T>(Stage::bias);
    return Three{inertial(bodies.b1, f1, k1), inertial(bodies.b2, f2, k2), inertial(bodies.b3, f3, k3)};
  }
  template <class J, class K, class F>
  static ZVENO_INLINE auto next_swirl(const K& k, const F& f) {
    if constexpr (std::remove_const_t<std::remove_reference_t<J>>::kTurns)
      return swirl<S::kLean>(f.e, f.o);
    else
      return k;
  }

  ZVENO_INLINE auto hook_row(const Pose<S, T>& pose) const {
    if constexpr (S::kUniversal)
      return Row{ZeroVec(), pose.end.normal_0};
    else
      return NoRow();
  }
  // (29), (32): rates of the coordinates are H [v; w]
  ZVENO_INLINE auto jacobian(const Pose<S, T>& pose, const Vec3T<T>& rho) const {
    const auto line = [&](const Vec3T<T>& a) { return Row6<T>{a, cross(rho, a)}; };
    return pose.solve(line(pose.axes.x), line(pose.axes.y), line(pose.axes.z), hook_row(pose));
  }
  ZVENO_INLINE auto rates(const Pose<S, T>& pose, const Vec3T<T>& rho) const {
    const Vec3T<T> d = pose.axes.times(ring.v + cross(ring.w, rho));
    if constexpr (S::kUniversal)
      return pose.solve(d.x, d.y, d.z, dot(pose.end.normal_0, ring.w));
    else
      return pose.solve(d.x, d.y, d.z, Zero());
  }
  // (30)-(32); absolute rates on both sides, f: flow of the last body
  template <class F, class K>
  ZVENO_INLINE auto drift(const Pose<S, T>& pose, const Closing<T, S::kLean>& x, const F& f, const K& k) const {
    const auto tip = f.w + k.times(Vec<T, Zero, Zero>{p(kOuter), {}, {}});
    const auto d = pose.axes.times(ring.a + ring.K.times(x.rho)) - pose.unspun(tip);
    if constexpr (S::kUniversal) {
      // n_R' . (o_n - o_C) with n_R' = e1 (o_n . e2) - e2 (o_C . e1), since e1 . e2 = 0
      const T e1n = dot(x.hook, f.o), e2n = dot(x.axis, f.o), e1c = dot(x.hook_0, ring.o), e2c = dot(x.axis_0, ring.o);
      const T turning = e1n * e2n + e2c * e1c - (e1c + e1c) * e2n;
      return pose.solve(d.x, d.y, d.z, dot(pose.end.normal_0, ring.e) - dot(x.normal, f.e) - turning);
    } else {
      return pose.solve(d.x, d.y, d.z, Zero());
    }
  }

  // joint coordinates, rates, the actuated row of H, what must not vanish
  ZVENO_INLINE void kinematics(T* position, T* rate, T* row, T* measure) const {
    Closing<T, S::kLean> closing;
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

  // first half: the leg's share of the reduced system (44), or of (51)
  // Fills `held` (raw memory); returns the rates of momentum of the flow.
  template <bool kFree>
  ZVENO_INLINE auto first(const T* tau, T* share, T* measure, Held<S, T>& held) const {
    enter_stage<T>(Stage::closure);
    Closing<T, S::kLean> closing;
    const Pose<S, T>& pose = *::new (&held.pose) Pose<S, T>(p, ring, closing);
    for (int i = 0; i < 4; ++i) measure[i] = closing.measure[i];
    const Bodies<S, T> bodies(p);
    enter_stage<T>(Stage::jacobian);
    const auto H = jacobian(pose, closing.rho);
    const auto rate = rates(pose, closing.rho);
    held.H[0] = full(H.a), held.H[1] = full(H.b), held.H[2] = full(H.c), held.H[3] = full(H.d);
    held.rate[0] = value<T>(rate.a), held.rate[1] = value<T>(rate.b);
    held.rate[2] = value<T>(rate.c), held.rate[3] = value<T>(rate.d);
    for (int k = 0; k < S::kCoordinates; ++k) held.tau[S::place(k)] = tau[k];
    enter_stage<T>(Stage::drift);
    T(&h_)[4] = held.h;
    const auto flow = flows(pose, bodies, rate, [&](const auto& f, const auto& k) {
      const auto h = drift(pose, closing, f, k);
      h_[0] = value<T>(h.a), h_[1] = value<T>(h.b), h_[2] = value<T>(h.c), h_[3] = value<T>(h.d);
    });
    enter_stage<T>(Stage::bias);
    const auto l = gathered<1>(pose, flow);
    const T(&t)[4] = held.tau;
    const T ba = t[0] - pose.template along<0>(l.l1, l.l2, l.l3), bb = t[1] - pose.template along<1>(l.l1, l.l2, l.l3);
    const auto bc = kept<2>(t[2]) - pose.template along<2>(l.l1, l.l2, l.l3);
    const auto bd = kept<3>(t[3]) - pose.template along<3>(l.l1, l.l2, l.l3);

    enter_stage<T>(Stage::inertia);
    const auto A0 = inertia_column<0>(pose, bodies), A1 = inertia_column<1>(pose, bodies);
    const auto A2 = inertia_column<2>(pose, bodies), A3 = inertia_column<3>(pose, bodies);
    const auto a00 = add_reflected<0>(A0.a);
    const auto a33 = add_reflected<3>(A3.d);

    enter_stage<T>(Stage::reduction);
    const auto ha = h_[0], hb = h_[1];
    const auto hc = kept<2>(h_[2]);
    const auto hd = kept<3>(h_[3]);
    const auto ra = ba - (a00 * ha + A0.b * hb + A0.c * hc + A0.d * hd);
    const auto rb = bb - (A0.b * ha + A1.b * hb + A1.c * hc + A1.d * hd);
    const auto rc = bc - (A0.c * ha + A1.c * hb + A2.c * hc + A2.d * hd);
    const auto rd = bd - (A0.d * ha + A1.d * hb + A2.d * hc + a33 * hd);
    const auto Ga = H.a * a00 + H.b * A0.b + H.c * A0.c + H.d * A0.d;
    const auto Gb = H.a * A0.b + H.b * A1.b + H.c * A1.c + H.d * A1.d;
    const auto Gc = H.a * A0.c + H.b * A1.c + H.c * A2.c + H.d * A2.d;
    const auto Gd = H.a * A0.d + H.b * A1.d + H.c * A2.d + H.d * a33;
    T x[4][6], g[4][6];
    write(H.a, x[0]), write(H.b, x[1]), write(H.c, x[2]), write(H.d, x[3]);
    write(Ga, g[0]), write(Gb, g[1]), write(Gc, g[2]), write(Gd, g[3]);
    const T r[4] = {value<T>(ra), value<T>(rb), value<T>(rc), value<T>(rd)};
    constexpr int count = S::kCoordinates;
    for (int i = 0; i < 6; ++i) {
      for (int j = i; j < 6; ++j) {
        T sum = x[0][i] * g[0][j];
        for (int k = 1; k < count; ++k) sum += x[S::place(k)][i] * g[S::place(k)][j];
        share[kMatrix + upper6(i, j)] = sum;
      }
      T sum = x[0][i] * r[0];
      for (int k = 1; k < count; ++k) sum += x[S::place(k)][i] * r[S::place(k)];
      share[kRight + i] = sum;
    }
    if constexpr (kFree) {
      T column[4][6], flow_0[6];
      write(to_base(pose, l.l1), flow_0);
      base_column<0>(pose, bodies, column[0]);
      base_column<1>(pose, bodies, column[1]);
      base_column<2>(pose, bodies, column[2]);
      base_column<3>(pose, bodies, column[3]);
      for (int i = 0; i < 6; ++i) {
        T left = flow_0[i];
        for (int k = 0; k < count; ++k) left += column[S::place(k)][i] * h_[S::place(k)];
        share[kBaseRight + i] = -left;
        for (int j = 0; j < 6; ++j) {
          T sum = column[0][i] * x[0][j];
          for (int k = 1; k < count; ++k) sum += column[S::place(k)][i] * x[S::place(k)][j];
          share[kCoupling + 6 * i + j] = sum;
        }
      }
      composite(pose, bodies, share);
    }
    return flow;
  }

 private:
  static ZVENO_INLINE Row6<T> full(const Row6<T>& r) { return r; }
  static ZVENO_INLINE Row6<T> full(const NoRow&) { return {{T(0.0), T(0.0), T(0.0)}, {T(0.0), T(0.0), T(0.0)}}; }
  template <int i>
  static ZVENO_INLINE auto kept(const T& x) {
    if constexpr (S::has(i))
      return x;
    else
      return Zero();
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
      for (int k = 0; k < 6; ++k) out[k] = T(0.0);
    }
  }

  // first and second moments of mass about O_0
  template <class P, class B>
  ZVENO_INLINE void composite(const P& pose, const B& bodies, T* share) const {
    for (int i = 0; i < 9; ++i) share[kMoment + i] = T(0.0);
    const Rows3<T> root = pose.root_axes(), last = spun(pose);
    const Vec3T<T> o1 = p.vec(kBase);
    // origin of the last body: back from the ring's hinge
    const Vec3T<T> o3 = pose.hinge - scaled(last.x, p(kOuter));
    add_moments(bodies.b1, root, o1, share);
    add_moments(bodies.b2, last, o1, share);  // SPU: the housing spins about its hinge
    add_moments(bodies.b3, last, o3, share);
  }
  ZVENO_INLINE Rows3<T> spun(const Pose<S, T>& pose) const {
    const Rows3<T>& a = pose.axes;
    if constexpr (S::kUniversal) {
      const About<0, T>& t = spin_of(pose);
      return {a.x, scaled(a.y, t.c) + scaled(a.z, t.s), scaled(a.z, t.c) - scaled(a.y, t.s)};
    } else {
      return a;
    }
  }
  static ZVENO_INLINE const About<0, T>& spin_of(const Pose<S, T>& pose) {
    if constexpr (S::kHunt)
      return pose.j3.turn;
    else
      return pose.j2.turn;
  }
  static ZVENO_INLINE void add_moments(const NoBody&, const Rows3<T>&, const Vec3T<T>&, T*) {}
  static ZVENO_INLINE void add_moments(const Rod<T>& b, const Rows3<T>& axes, const Vec3T<T>& o, T* share) {
    const T zero(0.0);
    add_moments(Solid<T>{b.mass, {b.cx, zero, zero}, {b.ix, zero, zero, b.it, zero, b.it}}, axes, o, share);
  }
  static ZVENO_INLINE void add_moments(const Solid<T>& b, const Rows3<T>& axes, const Vec3T<T>& o, T* share) {
    const Vec3T<T> c = axes.undo(b.c);
    // R' I R: its columns are the images of the base axes
    const Rows3<T> t{{axes.x.x, axes.y.x, axes.z.x}, {axes.x.y, axes.y.y, axes.z.y}, {axes.x.z, axes.y.z, axes.z.z}};
    const auto ix = times(b.inertia, t.x), iy = times(b.inertia, t.y), iz = times(b.inertia, t.z);
    const Vec3T<T> d = scaled(o, b.mass) + (c + c);  // I_O = I + (o.d) 1 - sym(o d')
    const T od = dot(o, d), half(0.5);
    share[kMoment] += o.x * b.mass + c.x;
    share[kMoment + 1] += o.y * b.mass + c.y;
    share[kMoment + 2] += o.z * b.mass + c.z;
    T* I = share + kInertia;
    I[0] += dot(ix, t.x) + od - o.x * d.x;
    I[1] += dot(ix, t.y) - half * (o.x * d.y + o.y * d.x);
    I[2] += dot(ix, t.z) - half * (o.x * d.z + o.z * d.x);
    I[3] += dot(iy, t.y) + od - o.y * d.y;
    I[4] += dot(iy, t.z) - half * (o.y * d.z + o.z * d.y);
    I[5] += dot(iz, t.z) + od - o.z * d.z;
  }
};

// the leg's results, coordinates in the order of the joints
template <class T>
struct Outcome {
  T position[4], rate[4], acceleration[4], reaction[4];
  T base[6];  // load on the base about O_0
};

// second half, the ring's acceleration known: (45)-(48). x: [v'; w'] in base axes; base: what a free base adds to the flow
template <class S, class T, class L, class M = AtRest>
ZVENO_INLINE void second(const Params<T>& p, const Held<S, T>& held, const L& flow, const T* x, Outcome<T>& out,
                         const M& base = {}) {
  enter_stage<T>(Stage::reaction);
  const Pose<S, T>& pose = held.pose;
  const Vec3T<T> v{x[0], x[1], x[2]}, w{x[3], x[4], x[5]};
  const auto acceleration = [&](int i) { return dot(held.H[i].a, v) + dot(held.H[i].b, w) + held.h[i]; };
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
  const Vec3T<T> force = pose.axes.undo(pose.solve_transposed(g, moment));
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
  write(Row{f, with_hook}, out.base);
  out.reaction[0] = force.x, out.reaction[1] = force.y, out.reaction[2] = force.z, out.reaction[3] = moment;
  pose.coordinates(out.position);
  const T by_place[4] = {q.a, q.b, value<T>(q.c), value<T>(q.d)};
  in_order<S>(by_place, out.acceleration);
  in_order<S>(held.rate, out.rate);
}

}  // namespace leg
}  // namespace zveno
