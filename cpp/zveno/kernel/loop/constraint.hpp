// Constraints between two frames: residual, rate, what the acceleration has without qdd, and the wrench of a unit
// multiplier. docs/constraints.md (L1)-(L11).
//
// Everything in base axes. The wrench of a row gives its Jacobian: the virtual power that it has on the joints.
#pragma once

#include <zveno/kernel/chain/momentum.hpp>
#include <zveno/model/linkage.hpp>

namespace zveno {

// what is known of a frame, in base axes
template <class T>
struct LoopFrame {
  Mat3<T> R;
  Vec3<T> p;
  Vec3<T> w, v;    // rates
  Vec3<T> eps, a;  // accelerations at qdd = 0
};

// how much is asked of a row
enum class LoopOrder { position, velocity, acceleration };

// of a body, seen at the base origin, base axes
template <class T>
struct LoopMotion {
  Screw<T> speed;  // from LoopOrder::velocity on
  Screw<T> bent;   // from LoopOrder::acceleration on: accelerations at qdd = 0
};

// bodies of the chain
template <class T>
struct LoopBodies {
  const Mat3<T>* R_WB;
  const Vec3<T>* p_W;
  const LoopMotion<T>* motion;
};

// rate of a motion s that is fixed in a body with the motion V
template <class T>
ZVENO_INLINE Screw<T> carried(const Screw<T>& V, const Screw<T>& s) {
  return {cross<T>(V.w, s.v) + cross<T>(V.v, s.w), cross<T>(V.w, s.w)};
}
// rate of a momentum h that is fixed in it
template <class T>
ZVENO_INLINE Screw<T> carried_momentum(const Screw<T>& V, const Screw<T>& h) {
  return {cross<T>(V.w, h.v), cross<T>(V.w, h.w) + cross<T>(V.v, h.v)};
}
template <class T>
ZVENO_INLINE void add(Screw<T>& to, const Screw<T>& x) {
  to.v += x.v, to.w += x.w;
}
template <class T>
ZVENO_INLINE void add(Screw<T>& to, const Screw<T>& x, const T& k) {
  to.v += x.v * k, to.w += x.w * k;
}

// of all bodies, on a base at rest; joint: motions of the joints at unit rates
template <LoopOrder order, class T, class P>
void loop_motions(const ModelView<P>& model, const Screw<T>* joint, const T* qd, LoopMotion<T>* motion) {
  for (int b = 0; b < model.size(); ++b) {
    const int parent = model.parent(b);
    LoopMotion<T>& x = motion[b];
    if (parent == kWorld) {
      x.speed = {joint[b].v * qd[b], joint[b].w * qd[b]};
      if (order == LoopOrder::acceleration) x.bent = {zero3<T>(), zero3<T>()};
      continue;
    }
    const LoopMotion<T>& from = motion[parent];
    if (order == LoopOrder::acceleration) {
      x.bent = from.bent;
      add(x.bent, carried(from.speed, joint[b]), qd[b]);
    }
    x.speed = from.speed;
    add(x.speed, joint[b], qd[b]);
  }
}

// (L1); axes: whether R is wanted
template <LoopOrder order, class T>
ZVENO_INLINE void loop_frame(const LoopSide& side, const LoopBodies<T>& bodies, const T* given, bool axes,
                             LoopFrame<T>& out) {
  Mat3<T> R;
  Vec3<T> p;
  if (side.target >= 0) {
    const T* x = given + Linkage::kTargetSize * side.target;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) R(i, j) = x[3 * i + j];
    const auto vector = [&](int k) { return Vec3<T>{x[9 + 3 * k], x[10 + 3 * k], x[11 + 3 * k]}; };
    p = vector(0);
    out.w = vector(1), out.v = vector(2), out.eps = vector(3), out.a = vector(4);
  } else if (side.body != kWorld) {
    R = bodies.R_WB[side.body];
    p = bodies.p_W[side.body];
  } else {
    out.R = cast<T>(side.R);
    out.p = cast<T>(side.p);
    if (order != LoopOrder::position) out.w = out.v = zero3<T>();
    if (order == LoopOrder::acceleration) out.eps = out.a = zero3<T>();
    return;
  }
  Vec3<T> arm = times(R, cast<T>(side.p));
  if (axes) out.R = side.aligned ? R : times(R, cast<T>(side.R));
  out.p = p + arm;
  if (order == LoopOrder::position) return;
  if (side.target < 0) {
    const LoopMotion<T>& x = bodies.motion[side.body];
    out.w = x.speed.w, out.v = x.speed.v;
    if (order == LoopOrder::acceleration) out.eps = x.bent.w, out.a = x.bent.v;
    arm = out.p;
  }
  const Vec3<T> turning = cross<T>(out.w, arm);
  if (order == LoopOrder::acceleration)
    out.a += cross<T>(out.eps, arm) + cross<T>(out.w, side.target < 0 ? out.v + turning : turning);
  out.v += turning;
}

// what the rows of one constraint share
template <class T>
struct LoopPair {
  LoopFrame<T> a, b;
  Vec3<T> d;       // P_B - P_A
  Vec3<T> dv, da;  // (L2) its rates in base axes
  Vec3<T> rv, ra;  // the same seen from A
  Vec3<T> wr, er;  // angular velocity and acceleration of B against A
};

template <LoopOrder order, class T>
ZVENO_INLINE void relate(LoopPair<T>& x) {
  x.d = x.b.p - x.a.p;
  if (order == LoopOrder::position) return;
  x.dv = x.b.v - x.a.v;
  x.rv = x.dv - cross<T>(x.a.w, x.d);
  x.wr = x.b.w - x.a.w;
  if (order == LoopOrder::velocity) return;
  x.da = x.b.a - x.a.a;
  x.ra = x.da - twice<T>(cross<T>(x.a.w, x.dv)) - cross<T>(x.a.eps, x.d) + cross<T>(x.a.w, cross<T>(x.a.w, x.d));
  x.er = x.b.eps - x.a.eps;
}

// one row: fd = row qd + f_t, fdd = row qdd + gam, (L5)
template <class T>
struct RowValue {
  T f, fd, gam;
  Vec3<T> force, moment;  // on B at P_B for a unit multiplier; the opposite acts on A at the same point
};

// (L4)
template <LoopOrder order, class T>
void add_dot(const LoopPair<T>& x, int i, int j, const T& k, RowValue<T>& out) {
  const Vec3<T> u = x.a.R.col(i), b = x.b.R.col(j), n = cross<T>(b, u);
  out.f += k * dot(u, b);
  out.moment += n * k;
  if (order == LoopOrder::position) return;
  out.fd += k * dot(n, x.wr);
  if (order == LoopOrder::velocity) return;
  const Vec3<T> nd = cross<T>(cross<T>(x.b.w, b), u) + cross<T>(b, cross<T>(x.a.w, u));
  out.gam += k * (dot(nd, x.wr) + dot(n, x.er));
}

// offset of the points along z of A: what the turn of a screw belongs to
template <class T>
T screw_slide(const LoopPair<T>& x) {
  return dot(x.a.R.col(2), x.d);
}

// sine, cosine: of slide / h - phase, screws only. given: c, c', c'' of this row or null
template <LoopOrder order, class T>
void loop_row(const LoopRow& row, const LoopPair<T>& x, const T* given, const T* sine, const T* cosine, RowValue<T>& out) {
  const T zero = T(0.0);
  out.f = out.fd = out.gam = zero;
  out.force = out.moment = zero3<T>();
  switch (row.type) {
    case RowType::along: {  // (L3)
      const Vec3<T> u = x.a.R.col(row.axis);
      out.f = dot(u, x.d);
      out.force = u;
      if (order != LoopOrder::position) out.fd = dot(u, x.rv);
      if (order == LoopOrder::acceleration) out.gam = dot(u, x.ra);
      break;
    }
    case RowType::dots:
      for (int k = 0; k < row.terms; ++k) add_dot<order>(x, row.term[k].i, row.term[k].j, T(row.term[k].k), out);
      break;
    case RowType::rod: {  // (L8)
      const T s = T(row.scale), l = given ? given[0] : T(row.c);
      out.f = (dot(x.d, x.d) - l * l) * (s * T(0.5));
      out.force = x.d * s;
      if (order != LoopOrder::position) out.fd = dot(x.d, x.dv) * s;
      if (order == LoopOrder::acceleration) out.gam = (dot(x.d, x.da) + dot(x.dv, x.dv)) * s;
      if (!given) return;
      const T ld = given[1], ldd = given[2];
      out.fd -= l * ld * s;
      out.gam -= (ld * ld + l * ldd) * s;
      return;
    }
    case RowType::screw: {  // (L9)
      const T h = T(row.scale), one = T(1.0), sn = *sine, cs = *cosine;
      RowValue<T> C{zero, zero, zero, zero3<T>(), zero3<T>()}, S = C;
      add_dot<order>(x, 0, 0, one, C);
      add_dot<order>(x, 1, 0, one, S);
      const T g = C.f * cs + S.f * sn;
      const Vec3<T> z = x.a.R.col(2);
      out.f = h * (C.f * sn - S.f * cs);
      out.force = z * g;
      out.moment = (C.moment * sn - S.moment * cs) * h;
      if (order == LoopOrder::position) return;
      const T sd = dot(z, x.rv);
      out.fd = h * (sn * C.fd - cs * S.fd) + g * sd;
      if (order == LoopOrder::velocity) return;
      const T turning = C.fd * cs + S.fd * sn;
      out.gam = h * (sn * C.gam - cs * S.gam) + g * dot(z, x.ra) + (turning + turning) * sd +
                sd * sd * T(1.0 / row.scale) * (S.f * cs - C.f * sn);
      return;
    }
    case RowType::surface: {  // (L11), given: g, g_t, x'Hx + 2 g_xt x + g_tt, g_x (3)
      const Vec3<T> u = times(x.a.R, Vec3<T>{given[3], given[4], given[5]});
      out.f = given[0];
      out.force = u;
      if (order != LoopOrder::position) out.fd = dot(u, x.rv) + given[1];
      if (order == LoopOrder::acceleration) out.gam = dot(u, x.ra) + given[2];
      return;
    }
    default: return;
  }
  // a moment row that is given by its cosine is scaled, and so is what it is compared with
  const T s = T(row.scale);
  if (!given) {
    if (row.c != 0) out.f -= s * T(row.c);
    return;
  }
  out.f -= s * given[0];
  out.fd -= s * given[1];
  out.gam -= s * given[2];
}

// rates of a row by the joints that move one end against the other: the virtual power of its wrench; row: one of G
template <class T>
void loop_jacobian(const LoopConstraint& c, const Topology& topology, const Screw<T>* joint, const Vec3<T>& point,
                   const Vec3<T>& force, const Vec3<T>& moment, T* row) {
  const Vec3<T> about_origin = moment + cross<T>(point, force);
  for (const PathStep& step : c.path) {
    const int b = step.body;
    const T power = topology.kind[b] == JointKind::revolute ? dot(joint[b].w, about_origin) + dot(joint[b].v, force)
                                                            : dot(joint[b].v, force);
    row[b] = step.to_b ? power : -power;
  }
}

}  // namespace zveno
