// The ring's equations from the sums over its legs: (44), (50), (51), in base axes.
#pragma once

#include <algorithm>

#include <zveno/inst/legs.hpp>
#include <zveno/run/hexapod.hpp>

namespace zveno {

// one state, or one state per lane
template <class T>
struct State {
  T r[3], R[9], u[6], flow[9], acceleration[6], wrench[6], base[9], base_wrench[6];
  T tau[kLegs][4];                                                     // in the order of joints
  const T* input() const { return reinterpret_cast<const T*>(this); }  // of the legs: r, R, u, flow
  static constexpr int kSize = 3 + 9 + 6 + 9 + 6 + 6 + 9 + 6 + 4 * kLegs;
};

// [a_0 - g; Omega'; Omega]
template <class T>
void set_flow(const Hexapod& hexapod, BaseKind kind, State<T>& s) {
  for (int i = 0; i < 3; ++i) {
    const T weight(-hexapod.gravity()[i]);
    s.flow[i] = kind == BaseKind::free ? weight : s.base[i] + weight;
    s.flow[3 + i] = kind == BaseKind::free ? T(0.0) : s.base[6 + i];
    s.flow[6 + i] = s.base[3 + i];
  }
}

// calls f with the ring in its own type
template <class T, class F>
void with_ring(BaseKind kind, const State<T>& s, F&& f) {
  const T* b = s.flow;
  if (kind == BaseKind::still)
    f(make_ring<T>(s.r, s.R, s.u, StillBase()));
  else
    f(make_ring<T>(s.r, s.R, s.u, MovingBase<T>{{b[0], b[1], b[2]}, {b[3], b[4], b[5]}, {b[6], b[7], b[8]}}));
}

// sums over the legs, in base axes
template <class T>
struct Sums {
  T total[80];  // leg::Share, room for whole packs
  T rows[36];   // Jacobian of the actuated joints
};

template <class T>
Platform<T> platform_of(const Hexapod& hexapod) {
  return {T(hexapod.platform().mass), cast<T>(hexapod.platform().inertia)};
}

template <class T>
void add_reduced(const Sums<T>& sums, const Platform<T>& body, const Sym3<T>& I, T (&A)[6][6]) {
  const T zero(0.0);
  const T own[6][6] = {{body.mass},
                       {zero, body.mass},
                       {zero, zero, body.mass},
                       {zero, zero, zero, I.xx},
                       {zero, zero, zero, I.xy, I.yy},
                       {zero, zero, zero, I.xz, I.yz, I.zz}};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) A[i][j] = sums.total[leg::kMatrix + upper6(j, i)] + own[i][j];
}

// ---- a row of the result from the sums

// x: accelerations of ring [v'; w'] in base axes; for a free base those of the base first
template <class T, class R>
void accelerations(const HexJob& job, const State<T>& s, const R& ring, const Sums<T>& sums, T* x) {
  enter_stage<T>(Stage::ring);
  const Platform<T> body = platform_of<T>(*job.hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  T A[6][6];
  add_reduced(sums, body, I, A);
  ring_forces(body, I, ring, s.wrench, x);
  for (int i = 0; i < 6; ++i) x[i] += sums.total[leg::kRight + i];
  enter_stage<T>(Stage::solve);
  solve_symmetric<6>(A, x);
}

// (51): unknowns [a_0; Omega'; v'; w']
template <class T, class R>
void free_accelerations(const HexJob& job, const State<T>& s, const R& ring, const Sums<T>& sums, T* x) {
  const Hexapod& hexapod = *job.hexapod;
  const Platform<T> body = platform_of<T>(hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  T ring_matrix[6][6], A[12][12], f[6];
  add_reduced(sums, body, I, ring_matrix);
  ring_forces(body, I, ring, s.wrench, f);
  const Vec3T<T>&r = ring.r, force{f[0], f[1], f[2]}, moment{f[3], f[4], f[5]};

  // the base body about O_0, with the legs frozen to it: first and second moments
  const BodySpec& b = job.base;
  const Vec3<double> c = b.com * b.mass;
  const double mass_0 = b.mass + hexapod.leg_mass(), cc = dot(b.com, c);
  auto own = [&](int i, int j) { return b.inertia(i, j) + (i == j ? cc : 0.0) - b.com[i] * c[j]; };
  const T* m1 = sums.total + leg::kMoment;
  const T* m2 = sums.total + leg::kInertia;
  const T rr = dot(r, r), cx = m1[0] + T(c.x()) + r.x * body.mass, cy = m1[1] + T(c.y()) + r.y * body.mass,
          cz = m1[2] + T(c.z()) + r.z * body.mass, zero(0.0), mass = T(mass_0) + body.mass;
  const T Ixx = m2[0] + T(own(0, 0)) + I.xx + (rr - r.x * r.x) * body.mass,
          Ixy = m2[1] + T(own(0, 1)) + I.xy - r.x * r.y * body.mass;
  const T Ixz = m2[2] + T(own(0, 2)) + I.xz - r.x * r.z * body.mass,
          Iyy = m2[3] + T(own(1, 1)) + I.yy + (rr - r.y * r.y) * body.mass;
  const T Iyz = m2[4] + T(own(1, 2)) + I.yz - r.y * r.z * body.mass,
          Izz = m2[5] + T(own(2, 2)) + I.zz + (rr - r.z * r.z) * body.mass;
  const T top[6][6] = {{mass},
                       {zero, mass},
                       {zero, zero, mass},
                       {zero, -cz, cy, Ixx},
                       {cz, zero, -cx, Ixy, Iyy},
                       {-cy, cx, zero, Ixz, Iyz, Izz}};
  // ring by base: X_C' M_C X_C
  const T m = body.mass;
  const T mixed[6][6] = {{m, zero, zero, zero, m * r.z, -(m * r.y)}, {zero, m, zero, -(m * r.z), zero, m * r.x},
                         {zero, zero, m, m * r.y, -(m * r.x), zero}, {zero, zero, zero, I.xx, I.xy, I.xz},
                         {zero, zero, zero, I.xy, I.yy, I.yz},       {zero, zero, zero, I.xz, I.yz, I.zz}};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      if (j <= i) A[i][j] = top[i][j];
      A[6 + i][j] = sums.total[leg::kCoupling + 6 * j + i] + mixed[i][j];
      if (j <= i) A[6 + i][6 + j] = ring_matrix[i][j];
    }
  // right-hand sides
  const Vec3T<T> w = ring.base.o, com{T(b.com.x()), T(b.com.y()), T(b.com.z())};
  const Vec3<double>& g = hexapod.gravity();
  const Vec3T<T> weight{T(b.mass * g.x()), T(b.mass * g.y()), T(b.mass * g.z())};
  const Vec3T<T> fb = Vec3T<T>{s.base_wrench[0], s.base_wrench[1], s.base_wrench[2]} + weight;
  const Vec3T<T> Iw{T(own(0, 0)) * w.x + T(own(0, 1)) * w.y + T(own(0, 2)) * w.z,
                    T(own(0, 1)) * w.x + T(own(1, 1)) * w.y + T(own(1, 2)) * w.z,
                    T(own(0, 2)) * w.x + T(own(1, 2)) * w.y + T(own(2, 2)) * w.z};
  const Vec3T<T> fr = fb - cross(w, cross(w, scaled(com, T(b.mass)))) + force;
  const Vec3T<T> mr = Vec3T<T>{s.base_wrench[3], s.base_wrench[4], s.base_wrench[5]} + cross(com, fb) - cross(w, Iw) +
                      moment + cross(r, force);
  const T rhs[6] = {fr.x, fr.y, fr.z, mr.x, mr.y, mr.z};
  for (int i = 0; i < 6; ++i) {
    x[i] = sums.total[leg::kBaseRight + i] + rhs[i];
    x[6 + i] = sums.total[leg::kRight + i] + f[i];
  }
  solve_symmetric<12>(A, x);
}

// Functions that need only the sums; out has hex_output_size numbers
template <class T, class R>
void summed_result(const HexJob& job, const State<T>& s, const R& ring, const Sums<T>& sums, T* out) {
  const Platform<T> body = platform_of<T>(*job.hexapod);
  const Sym3<T> I = inertia_in_base(body, ring.R);
  const T x[6] = {ring.v.x, ring.v.y, ring.v.z, ring.w.x, ring.w.y, ring.w.z};
  T A[6][6];
  switch (job.function) {
    case HexFunction::mass_matrix: {  // to ring axes
      add_reduced(sums, body, I, A);
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) A[j][i] = A[i][j];
      const auto turned = [&](const T& a, const T& b, const T& c) {  // R' [a b c]'
        return ring.R.undo(Vec3T<T>{a, b, c});
      };
      T half[6][6];
      for (int i = 0; i < 6; ++i) {
        const Vec3T<T> t = turned(A[i][3], A[i][4], A[i][5]);
        for (int j = 0; j < 3; ++j) half[i][j] = A[i][j];
        half[i][3] = t.x, half[i][4] = t.y, half[i][5] = t.z;
      }
      for (int j = 0; j < 6; ++j) {
        const Vec3T<T> t = turned(half[3][j], half[4][j], half[5][j]);
        for (int i = 0; i < 3; ++i) out[6 * i + j] = half[i][j];
        out[18 + j] = t.x, out[24 + j] = t.y, out[30 + j] = t.z;
      }
      for (int i = 0; i < 6; ++i)  // rounding must not break the symmetry
        for (int j = 0; j < i; ++j) out[6 * j + i] = out[6 * i + j];
      break;
    }
    case HexFunction::kinetic_energy: {
      add_reduced(sums, body, I, A);
      T energy(0.0);
      for (int i = 0; i < 6; ++i) {
        T row = A[i][i] * x[i] * T(0.5);
        for (int j = 0; j < i; ++j) row += A[i][j] * x[j];
        energy += row * x[i];
      }
      out[0] = energy;
      break;
    }
    case HexFunction::momentum: {
      for (int i = 0; i < 6; ++i) {
        out[i] = T(0.0);
        for (int j = 0; j < 6; ++j) out[i] += sums.total[leg::kCoupling + 6 * i + j] * x[j];
      }
      const Vec3T<T> p = scaled(ring.v, body.mass), l = cross(ring.r, p) + leg::times(I, ring.w);
      out[0] += p.x, out[1] += p.y, out[2] += p.z, out[3] += l.x, out[4] += l.y, out[5] += l.z;
      break;
    }
    case HexFunction::potential_energy: {
      const Vec3<double>& g = job.hexapod->gravity();
      const T* c = sums.total + leg::kMoment;
      out[0] = -(T(g.x()) * (c[0] + body.mass * ring.r.x) + T(g.y()) * (c[1] + body.mass * ring.r.y) +
                 T(g.z()) * (c[2] + body.mass * ring.r.z));
      break;
    }
    default: {  // inverse dynamics: what the actuated joints must give, in base axes
      add_reduced(sums, body, I, A);
      const Vec3T<T> e = ring.R.times(Vec3T<T>{s.acceleration[3], s.acceleration[4], s.acceleration[5]});
      const T want[6] = {s.acceleration[0], s.acceleration[1], s.acceleration[2], e.x, e.y, e.z};
      T have[6];
      ring_forces(body, I, ring, s.wrench, have);
      for (int i = 0; i < 6; ++i) {
        out[i] = -(have[i] + sums.total[leg::kRight + i]);
        for (int j = 0; j < 6; ++j) out[i] += A[std::max(i, j)][std::min(i, j)] * want[j];
      }
    }
  }
}

}  // namespace zveno
