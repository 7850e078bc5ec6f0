// Contact of two docking rings at a node: a point of ring Q against a surface of ring P, in axes of P. docs/docking.md
// (D7)-(D12). Every force is continuously differentiable in the pose.
#pragma once

#include <zveno/math/known.hpp>
#include <zveno/model/interface.hpp>
#include <zveno/scalar/select.hpp>

namespace zveno::contact {

template <class T>
ZVENO_INLINE T clipped(const T& x) {
  return lesser(greater(x, T(0.0)), T(1.0));
}
template <class T>
ZVENO_INLINE T step(const T& x) {
  const T c = clipped(x);
  return c * c * (T(3.0) - (c + c));
}
// (D7); rises with slope 1 beyond `blend`
template <class T>
ZVENO_INLINE T ramp(const T& x, double blend) {
  const T c = clipped(T(x * T(1 / blend)));
  return T(blend) * (c * c * c) * (T(1.0) - T(0.5) * c) + greater(T(x - T(blend)), T(0.0));
}

// a surface of a ring with petals, as its nodes see it
struct Petals {
  explicit Petals(const RingShape& s)
      : sign(s.sign),
        root(s.root_radius),
        lean(s.lean()),
        height(s.height),
        half_angle(s.root_half_angle),
        taper(s.taper()) {
    fillet = s.fillet, per_window = 1 / s.window, extension = s.extension, thickness = s.thickness;
  }
  double sign, root, lean, height, half_angle, taper, fillet, per_window, extension, thickness;
};

template <class T>
struct Direction {
  T c, s;
};

// a node in axes of P: axial and radial coordinates, the direction of its radius
template <class T>
struct Place {
  AnyVec<T> at;
  T r, cy, cz;  // radius; cosine and sine of its angle

  ZVENO_INLINE explicit Place(const AnyVec<T>& x) : at(x), r(root(x.y * x.y + x.z * x.z)) {
    const T inverse = T(1.0) / r;
    cy = x.y * inverse, cz = x.z * inverse;
  }
  // a normal with these radial, circumferential and axial parts
  ZVENO_INLINE AnyVec<T> normal(const T& radial, const T& around, const T& axial) const {
    return {axial, radial * cy - around * cz, radial * cz + around * cy};
  }
};

// depth of a node behind a surface, its normal, which acts on Q, and the window
template <class T>
struct Touch {
  T depth, weight;
  AnyVec<T> normal;
};

// angle from the middle of a petal at `middle`, with its sign
template <class T>
ZVENO_INLINE T angle_from(const Place<T>& p, const Direction<T>& middle) {
  return joint_angle(T(p.cz * middle.c - p.cy * middle.s), T(p.cy * middle.c + p.cz * middle.s));
}

template <class T>
ZVENO_INLINE T window_along(const Petals& q, const T& s) {
  return step(T((T(q.height) - s) * T(q.per_window))) * step(T((s + T(q.extension)) * T(q.per_window)));
}

// (D9) an edge on the face of a petal
template <class T>
ZVENO_INLINE Touch<T> edge(const Petals& q, const Place<T>& p, const Direction<T>& middle) {
  const T s = p.at.x, sign(q.sign);
  const T rise = ramp(s, q.fillet), slope = step(T(s * T(1 / q.fillet)));
  const T surface = T(q.root) - sign * T(q.lean) * rise, width = T(q.half_angle) - T(q.taper) * rise;
  const T t = T(q.lean) * slope, c = T(1.0) / root(T(1.0) + t * t);
  const T inside = (width - magnitude(angle_from(p, middle))) * p.r;
  return {sign * (surface - p.r) * c, step(T(inside * T(q.per_window))) * window_along(q, s),
          p.normal(sign * c, T(0.0), t * c)};
}

// (D10) the side of a petal on the side of another
template <class T>
ZVENO_INLINE Touch<T> side(const Petals& q, const Place<T>& p, const Direction<T>& middle) {
  const T s = p.at.x;
  const T rise = ramp(s, q.fillet), slope = step(T(s * T(1 / q.fillet)));
  const T surface = T(q.root) - T(q.sign * q.lean) * rise, width = T(q.half_angle) - T(q.taper) * rise;
  const T g = p.r * T(q.taper) * slope, inverse = T(1.0) / root(T(1.0) + g * g);
  const T angle = angle_from(p, middle);
  const T near = T(q.thickness) - magnitude(T(p.r - surface));
  return {p.r * (width - magnitude(angle)) * inverse, step(T(near * T(q.per_window))) * window_along(q, s),
          p.normal(T(0.0), pick_below(angle, T(0.0), T(-inverse), inverse), g * inverse)};
}

// (D11) a face on the mating plane
template <class T>
ZVENO_INLINE Touch<T> face(double radius, double half_width, double per_window, const Place<T>& p) {
  const T near = T(half_width) - magnitude(T(p.r - T(radius)));
  return {-p.at.x, step(T(near * T(per_window))), {T(1.0), T(0.0), T(0.0)}};
}

// what nodes add up to: force on Q, moment about the origin of P, powers of normal forces and friction
template <class T>
struct Sums {
  AnyVec<T> force, moment;
  T normal_power, friction_power;
};

// what a node is: stiffness and damping of its feature, the length it stands for
template <class T>
struct Spot {
  double stiffness, damping;
  T length;
  AnyVec<T> at;
};

// What a node pushes with, and how it slips: v is its velocity against P.
template <class T>
struct Sliding {
  T push, speed, stiffness;  // stiffness: of bristles
  AnyVec<T> slip;

  ZVENO_INLINE Sliding(const ContactLaw& law, const Spot<T>& n, const Touch<T>& x, const AnyVec<T>& v)
      : speed(dot(v, x.normal)), slip(v - scaled(x.normal, speed)) {
    const T rise = ramp(x.depth, law.blend), plain = T(n.stiffness) * n.length * x.weight;
    const T secant = law.hertz ? T(plain * root(rise)) : plain;
    push = secant * rise * greater(T(T(1.0) - T(n.damping) * speed), T(0.0));
    stiffness = T(2.0 / 3.0) * secant;
  }
};

// Friction by bristles of deflection z, which is frozen within a step that began `since` ago: the force is that of z + slip
// since and of a damper, at most friction times push. share: of the mass that moves with the node.
template <class T>
ZVENO_INLINE Sums<T> hold(const ContactLaw& law, const Spot<T>& n, const T& share, const Touch<T>& x, const AnyVec<T>& v,
                          const AnyVec<T>& z, double since) {
  const Sliding<T> s(law, n, x, v);
  const AnyVec<T> bent = z - scaled(x.normal, dot(z, x.normal)) + scaled(s.slip, T(since));
  const T damping = T(1.4) * root(s.stiffness * T(law.mass) * share);
  const AnyVec<T> wanted = -(scaled(bent, s.stiffness) + scaled(s.slip, damping));
  const T size = root(dot(wanted, wanted)), most = T(law.friction) * s.push;
  const AnyVec<T> friction = scaled(wanted, pick_below(most, size, T(most / greater(size, T(1e-300))), T(1.0)));
  const AnyVec<T> force = scaled(x.normal, s.push) + friction;
  return {force, cross(n.at, force), s.push * s.speed, dot(friction, s.slip)};
}

// the deflection with which the next step begins: as far as friction holds, zero where nothing touches
template <class T>
ZVENO_INLINE AnyVec<T> bristles(const ContactLaw& law, const Spot<T>& n, const Touch<T>& x, const AnyVec<T>& v,
                                const AnyVec<T>& z, double dt) {
  const Sliding<T> s(law, n, x, v);
  const AnyVec<T> bent = z - scaled(x.normal, dot(z, x.normal)) + scaled(s.slip, T(dt));
  const T size = s.stiffness * root(dot(bent, bent)), most = T(law.friction) * s.push;
  const T kept = pick_below(most, size, T(most / greater(size, T(1e-300))), T(1.0));
  return scaled(bent, pick_below(T(0.0), s.push, kept, T(0.0)));
}

// (D12); v: velocity of Q against P at the node
template <class T>
ZVENO_INLINE Sums<T> respond(const ContactLaw& law, const Spot<T>& n, const Touch<T>& x, const AnyVec<T>& v) {
  const Sliding<T> s(law, n, x, v);
  const T slipping = dot(s.slip, s.slip);
  const T drag = T(law.friction) * s.push / root(slipping + T(law.creep_speed * law.creep_speed));
  const AnyVec<T> force = scaled(x.normal, s.push) - scaled(s.slip, drag);
  return {force, cross(n.at, force), s.push * s.speed, -(drag * slipping)};
}

}  // namespace zveno::contact
