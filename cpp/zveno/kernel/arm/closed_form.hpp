// All branches of the closed form of an arm for one pose (or one in each lane). docs/inverse-kinematics.md (K11)-(K21).
#pragma once

#include <zveno/kernel/arm/subproblems.hpp>
#include <zveno/model/arm_plan.hpp>

namespace zveno {

template <class T>
struct ArmBranch {
  Turn<T> turn[kMostArmJoints];  // of revolute joints
  T slide[kMostArmJoints];       // of the others
  T miss;                        // m or rad: how far from solvable, at the worst step
  T singular[3];                 // about zero where shoulder, elbow, wrist are singular; the wrist's is a square
};

// a rigid motion x -> R x + t
template <class T>
struct Motion {
  Mat3<T> R;
  Vec3<T> t;
  ZVENO_INLINE Vec3<T> operator()(const Vec3<T>& x) const { return times(R, x) + t; }
  Motion inverse() const {
    const Mat3<T> r = R.transposed();
    return {r, -times(r, t)};
  }
  friend Motion operator*(const Motion& a, const Motion& b) { return {times(a.R, b.R), a(b.t)}; }
};

template <class T>
struct Screw {
  Vec3<T> k, p;
  Motion<T> turned_by(const Turn<T>& t) const {
    const Mat3<T> R = rotation_about(k, t);
    return {R, p - times(R, p)};
  }
};

// one solution of the regional problem
template <class T>
struct Carried {
  Turn<T> turn[3];
  T slide[3], miss, shoulder, elbow;
};

// the slide and the last turn of a slide between two axes
template <class T>
void carried_rpr(Carried<T>& x, const Turn<T>& first, const T& slide, const Vec3<T>& v, const Vec3<T>& k2, const Vec3<T>& k3,
                 const Vec3<T>& y) {
  x.turn[0] = first, x.slide[1] = slide;
  x.turn[2] = turn_to<T>(k3, y, v - k2 * slide).turn;
}

// E_a E_b E_d c = w, (K13); lengths in units of the reach in `shoulder` and `elbow`
template <class T>
void carry(Regional how, const Screw<T>* s, const Vec3<T>& c, const Vec3<T>& w, const T& per_reach, Carried<T>* out) {
  const Vec3<T> a = w - s[0].p;
  const Vec3<T>&k1 = s[0].k, &k2 = s[1].k, &k3 = s[2].k, &p1 = s[0].p, &p2 = s[1].p, &p3 = s[2].p;
  const T one(1.0);
  for (int i = 0; i < branches_of(how); ++i) {
    for (int j = 0; j < 3; ++j) out[i].turn[j] = {T(0.0), one}, out[i].slide[j] = T(0.0);
    out[i].miss = T(0.0), out[i].shoulder = out[i].elbow = one;
  }
  const auto miss = [](Carried<T>& x, const T& m) { x.miss = greater(x.miss, m); };
  switch (how) {
    case Regional::rrr_second_along_third: {
      const TwoTurns<T> q1 = turn_to_plane<T>(k2, k1, a, dot<T>(k2, c - p1), true);
      const TwoSides<T> sides(k3, across<T>(k3, c - p3), across<T>(k3, p2 - p3));
      for (int i = 0; i < 2; ++i) {
        const Vec3<T> y = turned<T>(k1, reversed(q1.turn[i]), a) + p1 - p2;
        const TwoTurns<T> q3 = turn_to_side<T>(sides, length_of(across(k2, y)));
        for (int j = 0; j < 2; ++j) {
          Carried<T>& x = out[2 * i + j];
          x.turn[0] = q1.turn[i], x.turn[2] = q3.turn[j];
          const OneTurn<T> q2 = turn_to<T>(k2, swung(k3, p3, q3.turn[j], c) - p2, y);
          x.turn[1] = q2.turn;
          miss(x, q1.miss), miss(x, q3.miss);
          x.shoulder = magnitude<T>(q1.size - magnitude<T>(dot<T>(k2, c - p1) - dot(k2, k1) * dot(k1, a))) * per_reach;
          x.elbow = q3.size * per_reach;
        }
      }
      return;
    }
    case Regional::rrr_first_meets_second:
    case Regional::rrp_first_meets_second: {  // p1 = p2
      const bool slides = how == Regional::rrp_first_meets_second;
      const T d = length_of(a);
      TwoTurns<T> q3;
      T slide[2];
      if (slides) {
        const Vec3<T> y = c - p1;
        const T along = dot(k3, y), side = length_of(across(k3, y)), half = clipped_root<T>((d - side) * (d + side));
        slide[0] = half - along, slide[1] = -half - along;
        q3 = {{{T(0.0), one}, {T(0.0), one}}, greater<T>(side - d, T(0.0)), magnitude<T>(d - side)};
      } else {
        q3 = turn_to_distance<T>(k3, c - p3, p1 - p3, d);
      }
      for (int i = 0; i < 2; ++i) {
        const Vec3<T> y = (slides ? c + k3 * slide[i] : swung(k3, p3, q3.turn[i], c)) - p1;
        const TwoTurns<T> q2 = turn_to_plane<T>(k1, k2, y, dot(k1, a));
        for (int j = 0; j < 2; ++j) {
          Carried<T>& x = out[2 * i + j];
          x.turn[2] = q3.turn[i], x.turn[1] = q2.turn[j];
          if (slides) x.slide[2] = slide[i];
          const OneTurn<T> q1 = turn_to<T>(k1, turned(k2, q2.turn[j], y), a);
          x.turn[0] = q1.turn;
          miss(x, q3.miss), miss(x, q2.miss);
          x.shoulder = root(q1.size) * per_reach, x.elbow = q3.size * per_reach;
        }
      }
      return;
    }
    case Regional::rrr_first_along_second:
    case Regional::rrp_first_along_second: {
      const bool slides = how == Regional::rrp_first_along_second;
      TwoTurns<T> q3{{{T(0.0), one}, {T(0.0), one}}, T(0.0), one};
      T slide(0.0);
      if (slides)
        slide = dot<T>(k1, w - c) / dot(k1, k3);
      else
        q3 = turn_to_plane<T>(k1, k3, c - p3, dot<T>(k1, w - p3));
      for (int i = 0; i < (slides ? 1 : 2); ++i) {
        const Vec3<T> y = slides ? c + k3 * slide : swung(k3, p3, q3.turn[i], c);
        const TwoTurns<T> q2 =
            turn_to_distance<T>(k2, across<T>(k2, y - p2), across<T>(k2, p1 - p2), length_of(across(k1, a)));
        for (int j = 0; j < 2; ++j) {
          Carried<T>& x = out[2 * i + j];
          x.turn[2] = q3.turn[i], x.turn[1] = q2.turn[j];
          x.slide[2] = slide;
          const OneTurn<T> q1 = turn_to<T>(k1, swung(k2, p2, q2.turn[j], y) - p1, a);
          x.turn[0] = q1.turn;
          miss(x, q3.miss), miss(x, q2.miss);
          x.shoulder = root(q1.size) * per_reach, x.elbow = q2.size * per_reach;
        }
      }
      return;
    }
    case Regional::rrr_second_meets_third: {  // p2 = p3
      const TwoTurns<T> q1 = turn_to_distance<T>(k1, a, p2 - p1, length_of(c - p2));
      for (int i = 0; i < 2; ++i) {
        const Vec3<T> x0 = turned(k1, q1.turn[i], a) + p1 - p2;  // the turn is that of R_1'
        const TwoTurns<T> q3 = turn_to_plane<T>(k2, k3, c - p2, dot(k2, x0));
        for (int j = 0; j < 2; ++j) {
          Carried<T>& x = out[2 * i + j];
          x.turn[0] = reversed(q1.turn[i]), x.turn[2] = q3.turn[j];
          const OneTurn<T> q2 = turn_to<T>(k2, turned<T>(k3, q3.turn[j], c - p2), x0);
          x.turn[1] = q2.turn;
          miss(x, q1.miss), miss(x, q3.miss);
          x.shoulder = q1.size * per_reach, x.elbow = root(q2.size) * per_reach;
        }
      }
      return;
    }
    case Regional::rrr_general: {  // (K14)
      const Vec3<T> o = p2 - p1, side = across(k2, k1);
      const Vec3<T> e1 = side * (one / greater(length_of(side), T(1e-30))), e2 = cross<T>(k2, e1);
      const T N[2][2] = {{dot(o, e1), dot(o, e2)}, {dot(k1, e1), dot(k1, e2)}};
      const T det = N[0][0] * N[1][1] - N[0][1] * N[1][0];
      const auto plane = [&](const Vec3<T>& y, T& r1, T& r2) {  // adj(N) rhs
        const T m = dot(k2, y), r = T(0.5) * (dot(a, a) - dot(o, o) - dot(y, y)) - m * dot(o, k2);
        const T u = dot<T>(k1, a - o) - m * dot(k1, k2);
        r1 = N[1][1] * r - N[0][1] * u, r2 = N[0][0] * u - N[1][0] * r;
      };
      T f[5];
      for (int m = 0; m < 5; ++m) {
        const Vec3<T> y = swung<T>(k3, p3, {T(detail::kFifth[0][m]), T(detail::kFifth[1][m])}, c) - p2, yp = across(k2, y);
        T r1, r2;
        plane(y, r1, r2);
        f[m] = r1 * r1 + r2 * r2 - det * det * dot(yp, yp);
      }
      const FourTurns<T> q3 = four_roots(f);
      const T sign = pick_below(det, T(0.0), T(-1.0), one);
      for (int i = 0; i < 4; ++i) {
        Carried<T>& x = out[i];
        const Vec3<T> y = swung(k3, p3, q3.turn[i], c) - p2;
        T r1, r2;
        plane(y, r1, r2);
        x.turn[2] = q3.turn[i];
        x.turn[1] = turn_to<T>(k2, y, e1 * (r1 * sign) + e2 * (r2 * sign)).turn;
        const OneTurn<T> q1 = turn_to<T>(k1, swung<T>(k2, p2, x.turn[1], y + p2) - p1, a);
        x.turn[0] = q1.turn;
        miss(x, q3.miss[i]);
        x.shoulder = root(q1.size) * per_reach;
      }
      return;
    }
    case Regional::rpp:
    case Regional::prp: {  // the slides span a plane; prp: the first one is along the axis
      const bool first = how == Regional::prp;
      const Vec3<T>&k = first ? k2 : k1, &p = first ? p2 : p1, &ka = first ? k1 : k2, &kb = k3;
      const Vec3<T> n = cross<T>(ka, kb), from = w - p;
      const T inverse = one / dot(n, n);
      const TwoTurns<T> turn = turn_to_plane<T>(n, k, from, dot<T>(n, c - p), true);
      for (int i = 0; i < 2; ++i) {
        Carried<T>& x = out[i];
        x.turn[first] = turn.turn[i];
        const Vec3<T> rest = turned<T>(k, reversed(turn.turn[i]), from) - (c - p);
        x.slide[first ? 0 : 1] = dot<T>(cross<T>(rest, kb), n) * inverse;
        x.slide[2] = dot<T>(cross<T>(ka, rest), n) * inverse;
        miss(x, turn.miss);
        x.shoulder = turn.size * per_reach;
      }
      return;
    }
    case Regional::ppr: {
      const Vec3<T> n = cross<T>(k1, k2);
      const T inverse = one / dot(n, n);
      const TwoTurns<T> turn = turn_to_plane<T>(n, k3, c - p3, dot<T>(n, w - p3));
      for (int i = 0; i < 2; ++i) {
        Carried<T>& x = out[i];
        x.turn[2] = turn.turn[i];
        const Vec3<T> rest = w - swung(k3, p3, turn.turn[i], c);
        x.slide[0] = dot<T>(cross<T>(rest, k2), n) * inverse;
        x.slide[1] = dot<T>(cross<T>(k1, rest), n) * inverse;
        miss(x, turn.miss);
        x.shoulder = turn.size * per_reach;
      }
      return;
    }
    case Regional::rpr_square:
    case Regional::rpr: {  // R_1' a + p1 - p3 = q2 k2 + R_3 (c - p3)
      const Vec3<T> y = c - p3, o = p1 - p3;
      const T yy = dot(y, y);
      if (how == Regional::rpr_square) {
        const TwoTurns<T> q1 = turn_to_plane<T>(k3, k1, a, dot<T>(k3, y - o), true);
        for (int i = 0; i < 4; ++i) {
          const Vec3<T> v = turned<T>(k1, reversed(q1.turn[i / 2]), a) + o;
          const T along = dot(k2, v), rest = yy - dot(v, v) + along * along, half = clipped_root<T>(rest);
          carried_rpr(out[i], q1.turn[i / 2], i % 2 ? T(along - half) : T(along + half), v, k2, k3, y);
          miss(out[i], q1.miss), miss(out[i], clipped_root<T>(-rest));
          out[i].shoulder = q1.size * per_reach, out[i].elbow = half * per_reach;
        }
        return;
      }
      const T inverse = one / dot(k2, k3), high = dot(k3, y);
      const auto slide = [&](const Vec3<T>& v) { return (dot(k3, v) - high) * inverse; };
      T f[5];
      for (int m = 0; m < 5; ++m) {
        const Vec3<T> v = turned<T>(k1, {T(-detail::kFifth[0][m]), T(detail::kFifth[1][m])}, a) + o;
        const Vec3<T> left = v - k2 * slide(v);
        f[m] = dot(left, left) - yy;
      }
      const FourTurns<T> q1 = four_roots(f);
      for (int i = 0; i < 4; ++i) {
        const Vec3<T> v = turned<T>(k1, reversed(q1.turn[i]), a) + o;
        carried_rpr(out[i], q1.turn[i], slide(v), v, k2, k3, y);
        miss(out[i], q1.miss[i]);
      }
      return;
    }
    case Regional::prr_square:
    case Regional::prr_second_along_third: {  // w - p2 - q1 k1 = R_2 (E_3 c - p2)
      const Vec3<T> z = w - p2;
      if (how == Regional::prr_second_along_third) {
        const T slide = dot<T>(k2, w - c) / dot(k1, k2);
        const Vec3<T> v = z - k1 * slide;
        const TwoSides<T> sides(k3, across<T>(k3, c - p3), across<T>(k3, p2 - p3));
        const TwoTurns<T> q3 = turn_to_side<T>(sides, length_of(across(k2, v)));
        for (int i = 0; i < 2; ++i) {
          out[i].slide[0] = slide, out[i].turn[2] = q3.turn[i];
          out[i].turn[1] = turn_to<T>(k2, swung(k3, p3, q3.turn[i], c) - p2, v).turn;
          miss(out[i], q3.miss);
          out[i].elbow = q3.size * per_reach;
        }
        return;
      }
      const TwoTurns<T> q3 = turn_to_plane<T>(k2, k3, c - p3, dot<T>(k2, w - p3));
      for (int i = 0; i < 4; ++i) {
        Carried<T>& x = out[i];
        const Vec3<T> y = swung(k3, p3, q3.turn[i / 2], c) - p2;
        const T along = dot(k1, z), rest = dot(y, y) - dot(z, z) + along * along, half = clipped_root<T>(rest);
        x.slide[0] = i % 2 ? T(along - half) : T(along + half), x.turn[2] = q3.turn[i / 2];
        const OneTurn<T> q2 = turn_to<T>(k2, y, z - k1 * x.slide[0]);
        x.turn[1] = q2.turn;
        miss(x, q3.miss), miss(x, clipped_root<T>(-rest));
        x.shoulder = half * per_reach, x.elbow = root(q2.size) * per_reach;
      }
      return;
    }
    case Regional::ppp: {
      const Vec3<T> x = w - c, n = cross<T>(k2, k3);
      const T inverse = one / dot(k1, n);
      out[0].slide[0] = dot(x, n) * inverse;
      out[0].slide[1] = dot<T>(x, cross<T>(k3, k1)) * inverse;
      out[0].slide[2] = dot<T>(x, cross<T>(k1, k2)) * inverse;
    }
  }
}

// R_4 R_5 R_6 = R, (K12)
template <class T>
struct Oriented {
  Turn<T> turn[2][3];
  T miss, size[2];
};
template <class T>
struct Wrist {
  Vec3<T> k[3], beside;
  Cone<T> cone;
  Wrist(const Screw<T>& a, const Screw<T>& b, const Screw<T>& c, const Vec3<T>& normal)
      : k{a.k, b.k, c.k}, beside(normal), cone(a.k, b.k, c.k) {}
};
// last, after: R k_6, and R beside, a vector across k_6; rest: the first turn where it is free
template <class T>
ZVENO_INLINE Oriented<T> orient(const Wrist<T>& wrist, const Vec3<T>& last, const Vec3<T>& after, const Turn<T>& rest) {
  Oriented<T> out;
  const Vec3<T>* k = wrist.k;
  const TwoTurns<T> second = turn_to_angle(wrist.cone, last);
  out.miss = second.miss;
  for (int i = 0; i < 2; ++i) {
    const OneTurn<T> first = turn_to<T>(k[0], turned(k[1], second.turn[i], k[2]), last, rest);
    const Vec3<T> v = turned<T>(k[1], reversed(second.turn[i]), turned<T>(k[0], reversed(first.turn), after));
    out.turn[i][0] = first.turn, out.turn[i][1] = second.turn[i];
    out.turn[i][2] = turn_to(k[2], wrist.beside, v).turn;
    out.size[i] = first.size;
  }
  return out;
}

// Numbers whose signs name a configuration, (K25), from frames of the bodies; 0: has no meaning for this arm
template <class T>
void configuration_of(const ArmPlan& plan, const Mat3<T>* R_WB, const Vec3<T>* p_W, const ArmBranch<T>& branch, T* sign) {
  sign[0] = sign[1] = sign[2] = T(0.0);
  const T L(1 / plan.reach), L2(1 / (plan.reach * plan.reach));
  const auto elbow = [&](int axis, const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
    return dot<T>(R_WB[axis].col(2), cross<T>(b - a, c - b)) * L2;
  };
  if (plan.family == ArmFamily::swivel)
    for (int i = 0; i < 3; ++i) sign[i] = branch.turn[2 * i + 1].s;
  if (plan.family == ArmFamily::scara)
    sign[1] = elbow(plan.triple[0], p_W[plan.triple[0]], p_W[plan.triple[1]], p_W[plan.triple[2]]) * T(plan.sign[0]);
  if (!plan.named()) return;
  const Vec3<T> c = p_W[plan.centre_body] + times(R_WB[plan.centre_body], cast<T>(plan.centre_B));
  sign[0] = dot<T>(R_WB[1].col(2), cross<T>(R_WB[0].col(2), c - p_W[0])) * L;
  if (plan.family == ArmFamily::parallel)
    sign[1] = elbow(1, p_W[1], p_W[2], p_W[3]);
  else if (!plan.prismatic[2])
    sign[1] = elbow(2, p_W[1], p_W[2], c);
  sign[2] = dot<T>(R_WB[3].col(2), cross<T>(R_WB[4].col(2), R_WB[5].col(2)));
}

// Every branch; X = T M^-1. psi: swivel angle of seven joints; rest: of joint plan.idle() where a singular wrist leaves it
// free.
template <class T>
class ClosedForm {
 public:
  ClosedForm(const ArmPlan& plan, const Motion<T>& X) : plan_(plan), X_(X), per_reach_(1.0 / plan.reach) {
    for (int i = 0; i < plan.n; ++i) s_[i] = {cast<T>(plan.k[i]), cast<T>(plan.p[i])};
  }

  void operator()(ArmBranch<T>* out, const Turn<T>& psi, const Turn<T>& rest) {
    for (int i = 0; i < plan_.branches(); ++i) {
      out[i].miss = T(0.0);
      for (T& x : out[i].singular) x = T(1.0);
    }
    switch (plan_.family) {
      case ArmFamily::point: return point(out, rest);
      case ArmFamily::parallel: return parallel(out, rest);
      case ArmFamily::scara: return scara(out);
      case ArmFamily::five: return five(out);
      case ArmFamily::position: return position(out);
      case ArmFamily::swivel: return swivel(out, psi, rest);
      default: return;
    }
  }

 private:
  static void miss(ArmBranch<T>& b, const T& m) { b.miss = greater(b.miss, m); }
  PlanarLinks<T> planar_links() const {
    Vec3<T> at[3];
    for (int j = 0; j < 3; ++j) at[j] = s_[plan_.triple[j]].p;
    return PlanarLinks<T>(cast<T>(plan_.direction), at);
  }
  // the joints outside of the triple in the order of the equations, those past the seam moved by G, (K3)
  void others(const Motion<T>& G, Screw<T>* s) const {
    for (int i = 0; i < 3; ++i) {
      s[i] = s_[plan_.other[i]];
      if (plan_.moved[i]) s[i] = {times(G.R, s[i].k), G(s[i].p)};
    }
  }

  ZVENO_APART void point(ArmBranch<T>* out, const Turn<T>& rest) {  // (K16)
    Screw<T> s[3];
    others(X_, s);
    const Vec3<T> c = cast<T>(plan_.centre);
    const bool seam = plan_.moved[0] || plan_.moved[1] || plan_.moved[2];
    const Vec3<T> from = seam ? X_(c) : c, to = seam ? c : plan_.inverse ? X_.inverse()(c) : X_(c);
    Carried<T> carried[4];
    carry(plan_.regional, s, from, to, per_reach_, carried);
    const int first = plan_.triple[0];
    const Wrist<T> hand(s_[first], s_[first + 1], s_[first + 2], cast<T>(plan_.beside));
    for (int i = 0; i < branches_of(plan_.regional); ++i) {
      const Carried<T>& x = carried[i];
      Turn<T> turn[kMostArmJoints];
      for (int j = 0; j < 3; ++j) turn[plan_.other[j]] = plan_.back ? reversed(x.turn[j]) : x.turn[j];
      // what the triple has to do with two vectors: what is before and behind it taken off
      Vec3<T> last = hand.k[2], after = hand.beside;
      for (int j = first + 3; j < 6; ++j) {  // A' = R_6' ... , applied from the first of them on
        if (plan_.prismatic[j]) continue;
        last = turned<T>(s_[j].k, reversed(turn[j]), last), after = turned<T>(s_[j].k, reversed(turn[j]), after);
      }
      last = times(X_.R, last), after = times(X_.R, after);
      for (int j = 0; j < first; ++j) {
        if (plan_.prismatic[j]) continue;
        last = turned<T>(s_[j].k, reversed(turn[j]), last), after = turned<T>(s_[j].k, reversed(turn[j]), after);
      }
      const Oriented<T> wrist = orient<T>(hand, last, after, rest);
      for (int w = 0; w < 2; ++w) {
        ArmBranch<T>& b = out[2 * i + w];
        for (int j = 0; j < 3; ++j) {
          b.turn[plan_.other[j]] = turn[plan_.other[j]];
          b.slide[plan_.other[j]] = plan_.back ? -x.slide[j] : x.slide[j];
          b.turn[plan_.triple[j]] = wrist.turn[w][j];
        }
        miss(b, x.miss), miss(b, wrist.miss);
        b.singular[0] = x.shoulder, b.singular[1] = x.elbow, b.singular[2] = wrist.size[w];
      }
    }
  }

  ZVENO_APART void parallel(ArmBranch<T>* out, const Turn<T>& rest) {  // (K17)
    const Motion<T> G = X_.inverse();
    Screw<T> s[3];
    others(G, s);
    const Vec3<T> k = cast<T>(plan_.direction), p = s_[plan_.triple[0]].p, m = times(G.R, k), g = G(p);
    const Vec3<T>&ka = s[0].k, &kb = s[1].k, &kd = s[2].k;
    const Vec3<T> u = s[1].p - s[0].p, v = s[2].p - s[1].p, kp = across(ka, k), mp = across(kd, m);
    const T& L = per_reach_;
    const T A[2][2] = {{-dot(kb, kp), dot<T>(kb, cross<T>(ka, k))},
                       {dot<T>(k, across(ka, u)) * L, dot<T>(k, cross<T>(ka, u)) * L}};
    const T B[2][2] = {{dot(kb, mp), dot<T>(kb, cross<T>(kd, m))}, {dot(v, mp) * L, dot<T>(v, cross<T>(kd, m)) * L}};
    const T d[2] = {dot(kb, ka) * dot(ka, k) - dot(kb, kd) * dot(kd, m),
                    (dot<T>(k, p - s[0].p) - dot<T>(m, g - s[2].p) - dot(k, ka) * dot(ka, u) - dot(v, kd) * dot(kd, m)) * L};
    PlanePair<T> pair;
    if (plan_.route == PlaneRoute::quartic) {
      pair = two_planes<T>(A, B, d);
    } else {  // one of the angles stands alone in the second row
      const bool second = plan_.route == PlaneRoute::second_alone;
      const Cone<T> cone(kb, second ? ka : kd, second ? k : m);
      const TwoTurns<T> alone = second ? meet<T>(B[1][0], B[1][1], d[1]) : meet<T>(A[1][0], A[1][1], d[1]);
      for (int h = 0; h < 2; ++h) {
        const Turn<T>& t = alone.turn[h];
        const TwoTurns<T> other =
            second ? turn_to_angle<T>(cone, turned(kd, t, m), true) : turn_to_angle<T>(cone, turned<T>(ka, reversed(t), k));
        for (int i = 0; i < 2; ++i) {
          (second ? pair.second : pair.first)[2 * h + i] = t;
          (second ? pair.first : pair.second)[2 * h + i] = other.turn[i];
          pair.miss[2 * h + i] = greater(alone.miss, other.miss);
        }
      }
      pair.size = magnitude<T>(alone.size - magnitude(d[1]));
    }
    const PlanarLinks<T> links = planar_links();
    const Vec3<T> beside = cast<T>(plan_.beside);
    for (int i = 0; i < 4; ++i) {
      const Vec3<T> from = turned(kd, pair.second[i], m);
      const OneTurn<T> middle = turn_to<T>(kb, from, turned<T>(ka, reversed(pair.first[i]), k), rest);
      // the motion of the triple undoes the others: X E_d' E_b' E_a'
      Vec3<T> at = links.last, after = beside;
      const Turn<T> turn[3] = {reversed(pair.first[i]), reversed(middle.turn), reversed(pair.second[i])};
      for (int j = 0; j < 3; ++j) at = swung(s[j].k, s[j].p, turn[j], at), after = turned(s[j].k, turn[j], after);
      const PlanarTriple<T> triple = planar_triple<T>(links, plan_.sign, X_(at), beside, times(X_.R, after));
      for (int j = 0; j < 2; ++j) {
        ArmBranch<T>& b = out[2 * i + j];
        b.turn[plan_.other[0]] = pair.first[i], b.turn[plan_.other[1]] = middle.turn,
        b.turn[plan_.other[2]] = pair.second[i];
        for (int l = 0; l < 3; ++l) b.turn[plan_.triple[l]] = triple.turn[j][l];
        miss(b, T(plan_.reach) * pair.miss[i]), miss(b, triple.miss);
        b.singular[0] = pair.size, b.singular[1] = triple.size * per_reach_, b.singular[2] = middle.size;
      }
    }
  }

  ZVENO_APART void scara(ArmBranch<T>* out) {  // (K18)
    const Vec3<T> k = cast<T>(plan_.direction), tilt = times(X_.R, k) - k;
    const PlanarLinks<T> links = planar_links();
    const Vec3<T> beside = cast<T>(plan_.beside);
    const PlanarTriple<T> triple = planar_triple<T>(links, plan_.sign, X_(links.last), beside, times(X_.R, beside));
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) out[i].turn[plan_.triple[j]] = triple.turn[i][j];
      const int slide = plan_.other[0];
      if (slide >= 0)
        out[i].slide[slide] = dot(k, s_[slide].k) * dot(k, X_.t);
      else
        miss(out[i], magnitude(dot(k, X_.t)));
      miss(out[i], triple.miss), miss(out[i], length_of(tilt));
      out[i].singular[1] = triple.size * per_reach_;
    }
  }

  ZVENO_APART void five(ArmBranch<T>* out) {  // (K19): joints 5 and 1, which the pose has moved
    const Motion<T> G = X_.inverse();
    const Vec3<T> k = cast<T>(plan_.direction), p = s_[plan_.triple[0]].p, m = times(G.R, k), g = G(p);
    const Screw<T> a = s_[4], d{times(G.R, s_[0].k), G(s_[0].p)};
    const TwoTurns<T> first = turn_to_plane<T>(d.p - a.p, d.k, m, dot<T>(k, p - a.p) - dot<T>(m, g - d.p));
    const PlanarLinks<T> links = planar_links();
    const Vec3<T> beside = cast<T>(plan_.beside);
    for (int i = 0; i < 2; ++i) {
      const Vec3<T> from = turned(d.k, first.turn[i], m);
      const OneTurn<T> last = turn_to<T>(a.k, from, k);
      const T gap = gap_after_turn<T>(a.k, from, k);
      const Turn<T> q5 = reversed(last.turn), q1 = reversed(first.turn[i]);
      const Vec3<T> at = X_(swung(d.k, d.p, q1, swung(a.k, a.p, q5, links.last)));
      const Vec3<T> after = times(X_.R, turned(d.k, q1, turned(a.k, q5, beside)));
      const PlanarTriple<T> triple = planar_triple<T>(links, plan_.sign, at, beside, after);
      for (int j = 0; j < 2; ++j) {
        ArmBranch<T>& b = out[2 * i + j];
        b.turn[0] = first.turn[i], b.turn[4] = last.turn;
        for (int l = 0; l < 3; ++l) b.turn[plan_.triple[l]] = triple.turn[j][l];
        miss(b, first.miss), miss(b, gap), miss(b, triple.miss);
        b.singular[0] = first.size * per_reach_, b.singular[1] = triple.size * per_reach_, b.singular[2] = last.size;
      }
    }
  }

  ZVENO_APART void position(ArmBranch<T>* out) {  // (K13) with the tool's point
    const Vec3<T> c = cast<T>(plan_.p_M);
    Carried<T> carried[4];
    carry(plan_.regional, s_, c, X_(c), per_reach_, carried);
    for (int i = 0; i < branches_of(plan_.regional); ++i) {
      for (int j = 0; j < 3; ++j) out[i].turn[j] = carried[i].turn[j], out[i].slide[j] = carried[i].slide[j];
      out[i].miss = carried[i].miss, out[i].singular[0] = carried[i].shoulder, out[i].singular[1] = carried[i].elbow;
    }
  }

  ZVENO_APART void swivel(ArmBranch<T>* out, const Turn<T>& psi, const Turn<T>& rest) {  // (K21)
    const Vec3<T> S = cast<T>(plan_.shoulder), W = cast<T>(plan_.wrist), e = cast<T>(plan_.elbow), w = X_(W);
    const Vec3<T>&k1 = s_[0].k, &k4 = s_[3].k, &p4 = s_[3].p;
    const T d = length_of(w - S);
    const Vec3<T> u = (w - S) * (T(1.0) / greater(d, T(1e-30)));
    const TwoTurns<T> q4 = turn_to_distance<T>(k4, W - p4, S - p4, d);
    // about the line to the wrist, from the plane of k1; another axis where the line is along it
    const Vec3<T> plain = cross<T>(u, k1), other = cross<T>(u, s_[1].k);
    const T side = length_of(plain);
    const auto usual = below(T(1e-9), side);
    Vec3<T> reference;
    for (int i = 0; i < 3; ++i) reference[i] = pick(usual, plain[i], other[i]);
    reference = reference * (T(1.0) / length_of(reference));
    const Vec3<T> n1 = turned(u, psi, reference), f1 = cross<T>(u, n1);
    const Vec3<T> beside = cast<T>(plan_.beside), wrist_beside = cast<T>(plan_.wrist_beside);
    const Wrist<T> upper(s_[0], s_[1], s_[2], beside), lower(s_[4], s_[5], s_[6], wrist_beside);
    const Vec3<T> tip = times(X_.R, lower.k[2]), tip_beside = times(X_.R, wrist_beside);
    for (int i = 0; i < 2; ++i) {
      const Vec3<T> v = swung(k4, p4, q4.turn[i], W) - S, bent = cross<T>(v, e - S);
      const T size = length_of(bent);
      const auto some = below(T(1e-12), size);
      Vec3<T> n0;  // straight elbow: its axis
      for (int j = 0; j < 3; ++j) n0[j] = pick(some, bent[j], k4[j]);
      n0 = n0 * (T(1.0) / length_of(n0));
      const Vec3<T> u0 = v * (T(1.0) / greater(length_of(v), T(1e-30))), f0 = cross<T>(u0, n0);
      Mat3<T> R;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) R(r, c) = u[r] * u0[c] + n1[r] * n0[c] + f1[r] * f0[c];
      const Oriented<T> arm = orient<T>(upper, times(R, upper.k[2]), times(R, beside), {T(0.0), T(1.0)});
      const Mat3<T> after = times(R, rotation_about(k4, q4.turn[i]));
      const Oriented<T> hand = orient<T>(lower, transposed_times(after, tip), transposed_times(after, tip_beside), rest);
      for (int a = 0; a < 2; ++a)
        for (int h = 0; h < 2; ++h) {
          ArmBranch<T>& b = out[4 * i + 2 * a + h];
          for (int j = 0; j < 3; ++j) b.turn[j] = arm.turn[a][j], b.turn[4 + j] = hand.turn[h][j];
          b.turn[3] = q4.turn[i];
          miss(b, q4.miss), miss(b, arm.miss), miss(b, hand.miss);
          b.singular[0] = root(arm.size[a]), b.singular[1] = lesser<T>(q4.size * per_reach_, size * per_reach_ * per_reach_);
          b.singular[2] = hand.size[h];
        }
    }
  }

  const ArmPlan& plan_;
  const Motion<T> X_;
  const T per_reach_;
  Screw<T> s_[kMostArmJoints];
};

}  // namespace zveno
