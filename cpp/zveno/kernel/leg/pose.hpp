// Poses of a leg: joint coordinates from the pose of the ring in closed form, and solves with the constraints C^d and their
// transpose, without a matrix. Golubev & Yaskevich (000), sections 4 and 7; equation numbers of docs/hexapods.md. The five
// structures are types: what is known of them at compile time costs no operation. Base axes are those of frame 0.
#pragma once

#include <new>
#include <type_traits>

#include <zveno/kernel/leg/ring.hpp>
#include <zveno/scalar/angle.hpp>

namespace zveno::leg {

template <class T>
struct Params {
  const double* p;

  ZVENO_INLINE T operator()(int i) const { return loaded<T>(p + i * kSlots); }
  ZVENO_INLINE AnyVec<T> vec(int i) const { return {(*this)(i), (*this)(i + 1), (*this)(i + 2)}; }
  ZVENO_INLINE Axes<T> rows(int i) const { return {vec(i), vec(i + 3), vec(i + 6)}; }
};

// Symmetric: crank_frame and tip_frame are identities, bodies are axially symmetric about their x axes.
template <LegType kTypeOf, bool kSymmetricOf>
struct Structure {
  static constexpr LegType kType = kTypeOf;
  static constexpr bool kSymmetric = kSymmetricOf;
  static constexpr bool kHunt = traits_of(kType).hunt;
  static constexpr bool kUniversal = traits_of(kType).spins;
  // of the four places for coordinates, UPS has no third and RUS no fourth
  static constexpr bool has(int i) { return kUniversal || i != (kHunt ? 3 : 2); }
  static constexpr int kCoordinates = traits_of(kType).coordinates;
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
struct Screw6 {
  A a;
  B b;
};
template <class A, class B>
Screw6(A, B) -> Screw6<A, B>;
#define ZVENO_SCREW2 template <class A, class B, class C, class D>
ZVENO_SCREW2 ZVENO_INLINE auto operator+(const Screw6<A, B>& x, const Screw6<C, D>& y) {
  return Screw6{x.a + y.a, x.b + y.b};
}
ZVENO_SCREW2 ZVENO_INLINE auto operator-(const Screw6<A, B>& x, const Screw6<C, D>& y) {
  return Screw6{x.a - y.a, x.b - y.b};
}
#undef ZVENO_SCREW2
template <class A, class B>
ZVENO_INLINE auto operator-(const Screw6<A, B>& x) {
  return Screw6{-x.a, -x.b};
}
template <class T>
using PlainScrew = Screw6<AnyVec<T>, AnyVec<T>>;
template <class T, class S>
ZVENO_INLINE auto operator*(const PlainScrew<T>& x, const S& s) {
  return Screw6{scaled(x.a, s), scaled(x.b, s)};
}
using NoScrew = Screw6<ZeroVec, ZeroVec>;
template <class S>
ZVENO_INLINE NoScrew operator*(const NoScrew&, const S&) {
  return {};
}

// in place of the coordinate that a structure does not have
template <class T>
ZVENO_INLINE Zero absent(const T&) {
  return {};
}
template <class T>
ZVENO_INLINE NoScrew absent(const PlainScrew<T>&) {
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
template <class T, bool kSymmetric>
struct Closing {
  using Hook = std::conditional_t<kSymmetric, Vec<Zero, One, Zero>, AnyVec<T>>;
  using Axis = std::conditional_t<kSymmetric, Vec<T, Zero, T>, AnyVec<T>>;
  AnyVec<T> rho;  // from the ring's centre to its hinge
  T measure[4];   // what must not vanish: squares, see judge_leg in batch/
  // of a U joint: its axes and n_R = hook x axis in body axes; the axes in base axes
  Hook hook;
  Axis axis, normal;
  AnyVec<T> hook_0, axis_0;
};

// of a U joint
template <class T>
struct Locking {
  T inverse;           // 1 / (n_R . X)
  AnyVec<T> normal_0;  // n_R, base axes
  T k[3];              // n_R . e_j of the rotations before the spin
};
struct Ball {};

// (25)-(27). axes: of the link before the spin; n: n_R in these axes
template <class S, class T, class R>
ZVENO_INLINE About<0, T> close_cross(const Params<T>& p, const Axes<T>& axes, const R& turn, Closing<T, S::kSymmetric>& x,
                                     Locking<T>& end, AnyVec<T>& n) {
  x.axis_0 = turn.times(p.vec(kRingAxis));
  const AnyVec<T> e = axes.times(x.axis_0);
  const T sign = p(kSpin);
  About<0, T> spin;
  if constexpr (S::kSymmetric) {
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
template <class T, int kAt>
struct KeptFrame {
  Params<T> p;
  template <class V>
  ZVENO_INLINE auto down(const V& a) const {
    return p.rows(kAt).times(a);
  }
  template <class V>
  ZVENO_INLINE auto up(const V& a) const {
    return p.rows(kAt).undo(a);
  }
};
template <class T>
struct NoFrame : Aligned {
  Params<T> p;
};

template <class T>
struct BaseFrame : KeptFrame<T, kFrame> {
  ZVENO_INLINE AnyVec<T> offset() const { return this->p.vec(kBase); }
};
template <class T, bool kSymmetric>
struct CrankFrame : std::conditional_t<kSymmetric, NoFrame<T>, KeptFrame<T, kCrankFrame>> {
  ZVENO_INLINE Vec<T, Zero, Zero> offset() const { return {this->p(kInner), {}, {}}; }
};

template <class T>
using SpinJoint = Hinge<Vec<One, Zero, Zero>, Same, About<0, T>>;

template <class S, class T>
struct PoseBase {
  using Of = S;
  using End = std::conditional_t<S::kUniversal, Locking<T>, Ball>;
  using SpinOrNone = std::conditional_t<S::kUniversal, SpinJoint<T>, Fixed>;

  AnyVec<T> hinge;
  Axes<T> axes;  // of the last link before the spin: tau*
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
  ZVENO_INLINE GoughPose(const Params<T>& p, const R& ring, Closing<T, S::kSymmetric>& closing) {
    closing.rho = ring.R.times(p.vec(kRing));
    this->hinge = ring.r + closing.rho;
    const AnyVec<T> leg = this->hinge - p.vec(kBase);
    const Axes<T> frame = p.rows(kFrame);
    const AnyVec<T> d = frame.times(leg);
    // (16)-(18)
    const T flat2 = d.x * d.x + d.z * d.z, length2 = flat2 + d.y * d.y;
    const T flat = root(flat2), length = root(length2);
    inv_flat = T(1.0) / flat;
    inv_length = T(1.0) / length;
    stroke = length - (p(kInner) + p(kOuter));
    const About<1, T> a1{-(d.z * inv_flat), d.x * inv_flat};
    const About<2, T> a2{d.y * inv_length, flat * inv_length};
    j1.frame.p = p;
    j1.first = a1;
    j1.second = a2;
    j3.length = p(kInner) + stroke;
    const AnyVec<T> x = scaled(leg, inv_length), z = scaled(frame.x, a1.s) + scaled(frame.z, a1.c);
    this->axes = {x, cross(z, x), z};
    const T relative = length * p(kInvOuter);
    closing.measure[0] = relative * relative;
    closing.measure[1] = a2.c * a2.c;
    closing.measure[2] = closing.measure[3] = T(1.0);
    if constexpr (S::kUniversal) {
      AnyVec<T> n;
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
  ZVENO_INLINE AnyVec<T> solve_transposed(const G& g, T& moment) const {
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
  ZVENO_INLINE const Axes<T>& root_axes() const { return this->axes; }

  ZVENO_INLINE T actuated() const { return stroke; }
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
  Universal<T, CrankFrame<T, S::kSymmetric>> j2;
  typename PoseBase<S, T>::SpinOrNone j3;
  Axes<T> root;                          // axes of the crank
  T inv_q, q2, q3, inv_outer, inv_flat;  // 1 / Q1, Q2, Q3, 1 / l23, 1 / (l23 c3)

  template <class R>
  ZVENO_INLINE HuntPose(const Params<T>& p, const R& ring, Closing<T, S::kSymmetric>& closing) {
    T(&measure)[4] = closing.measure;
    closing.rho = ring.R.times(p.vec(kRing));
    this->hinge = ring.r + closing.rho;
    const Axes<T> frame = p.rows(kFrame);
    const AnyVec<T> d = frame.times(this->hinge - p.vec(kBase));
    const T inner = p(kInner);
    inv_outer = p(kInvOuter);
    // (19)-(22)
    const T flat2 = d.x * d.x + d.z * d.z, flat = root_of(flat2), inv = T(1.0) / flat;
    const T ca = (flat2 + d.y * d.y + p(kReach)) * p(kHalfInvInner) * inv;
    measure[0] = T(1.0) - ca * ca;
    const T sa = p(kElbow) * root_of(measure[0]);
    const T cb = d.x * inv, sb = -(d.z * inv);
    const About<1, T> a1{sa * cb + ca * sb, ca * cb - sa * sb};
    j1.frame.p = p;
    j1.turn = a1;
    j2.frame.p = p;
    // (23)-(24)
    const AnyVec<T> d1 = a1.down(d);
    const AnyVec<T> a = j2.frame.down(AnyVec<T>{d1.x - inner, d1.y, d1.z});
    // not 1 - s3^2, which has no digits left where the coupler comes near the axis
    measure[1] = (a.x * a.x + a.z * a.z) * inv_outer * inv_outer;
    const T s3 = a.y * inv_outer, c3 = root_of(measure[1]);
    inv_flat = inv_outer / c3;
    j2.first = {-(a.z * inv_flat), a.x * inv_flat};
    j2.second = {s3, c3};
    // axes, row by row
    root.x = scaled(frame.x, a1.c) - scaled(frame.z, a1.s);
    root.y = frame.y;
    root.z = scaled(frame.x, a1.s) + scaled(frame.z, a1.c);
    Axes<T> u = root;
    if constexpr (!S::kSymmetric) {
      const Axes<T> g = p.rows(kCrankFrame);
      u = {root.undo(g.x), root.undo(g.y), root.undo(g.z)};
    }
    const AnyVec<T> x2 = scaled(u.x, j2.first.c) - scaled(u.z, j2.first.s);
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
      AnyVec<T> n;
      j3.turn = close_cross<S>(p, this->axes, ring.R, closing, this->end, n);
      T(&k)[3] = this->end.k;
      k[1] = dot(j2.axis(), n);
      if constexpr (S::kSymmetric)
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
  ZVENO_INLINE AnyVec<T> solve_transposed(const G& g, T& moment) const {
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
  ZVENO_INLINE const Axes<T>& root_axes() const { return root; }

  ZVENO_INLINE T actuated() const { return joint_angle(j1.turn.s, j1.turn.c); }
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

}  // namespace zveno::leg
