// Regressors: what is linear in the inertial parameters of the links, docs/chains.md (11.4)-(11.10). Ten numbers for each
// link of the user, m, mc (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about its origin in its axes.
//
// In link axes the wrench of a link about its origin is f = m a + K mc, n = mc x a + I alpha + w x I w. Its columns are
// taken to base axes and to the base origin once; efforts are their products with the motions of joints at that origin,
// power and energy with that of the link itself, and there they are the wrench on the base. From rest accelerations are
// velocities and f, n momenta.
#pragma once

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/kernel/chain/momentum.hpp>
#include <zveno/kernel/chain/rnea.hpp>
#include <zveno/model/chain.hpp>
#include <zveno/scalar/block.hpp>

namespace zveno {

// of a link of the user
template <class T>
struct LinkMotion {
  Mat3<T> R_WU;
  Vec3<T> x, a;      // its origin, base axes
  Vec3<T> alpha, w;  // link axes
  Mat3<T> K;
};

template <class T>
ZVENO_INLINE LinkMotion<T> link_motion(const LinkFrame& link, const Mat3<T>* R_WB, const Vec3<T>* p_W,
                                       const BodyMotion<T>* motion, const BaseMotion<T>& base) {
  LinkMotion<T> m;
  const int body = link.body;
  Vec3<T> w, alpha;
  if (body == kWorld) {
    m.R_WU = cast<T>(link.R_BU);
    m.x = cast<T>(link.p_BoUo_B);
    w = base.w, alpha = base.dw;
    m.a = base.a + cross<T>(base.dw, m.x) + cross<T>(base.w, cross<T>(base.w, m.x));
  } else if (link.stands_on_body) {
    m.R_WU = R_WB[body];
    m.x = p_W[body];
    w = motion[body].w, alpha = motion[body].alpha, m.a = motion[body].a;
  } else {
    m.R_WU = times(R_WB[body], cast<T>(link.R_BU));
    m.x = p_W[body] + times(R_WB[body], cast<T>(link.p_BoUo_B));
    w = motion[body].w;
    point_acceleration(body, p_W, m.x, motion, m.a, alpha);
  }
  m.alpha = transposed_times(m.R_WU, alpha);
  m.w = transposed_times(m.R_WU, w);
  m.K = rotation_acceleration(m.w, m.alpha);
  return m;
}

// Columns of force and moment about the base origin, base axes: the first four of forces, all of moments
template <class T>
struct LinkColumns {
  T f[3][4], n[3][kInertial];

  // of a motion [v; w] at the base origin, or of a translation; copied: a row that is stored might be the motion
  ZVENO_INLINE void along(const Screw<T>& motion, T* y) const {
    const Vec3<T> v = motion.v, w = motion.w;
    write<4>(0, y, [&](int c, auto some) ZVENO_INLINED { return product(some, w, n, c) + product(some, v, f, c); });
    write<4>(4, y, [&](int c, auto some) ZVENO_INLINED { return product(some, w, n, c); });
    write<2>(8, y, [&](int c, auto some) ZVENO_INLINED { return product(some, w, n, c); });
  }
  ZVENO_INLINE void along(const Vec3<T>& motion, T* y) const {
    const Vec3<T> v = motion;
    write<4>(0, y, [&](int c, auto some) ZVENO_INLINED { return product(some, v, f, c); });
    for (int c = 4; c < kInertial; ++c) y[c] = T(0.0);
  }

 private:
  // columns first ... first + N - 1 of a row
  template <int N, class F>
  static ZVENO_INLINE void write(int first, T* y, const F& columns) {
    using Some = Few<N, T>;
    for (int c = first; c < first + N; c += Some::kStep) Some::store(y + c, columns(c, Some{}));
  }
  template <class Some, int kWidth>
  static ZVENO_INLINE auto product(Some, const Vec3<T>& a, const T (&rows)[3][kWidth], int c) {
    return a.x() * Some::load(rows[0] + c) + a.y() * Some::load(rows[1] + c) + a.z() * Some::load(rows[2] + c);
  }
};

// (11.5) in base axes about the base origin
template <class T>
ZVENO_INLINE void link_columns(const LinkMotion<T>& m, LinkColumns<T>& y) {
  const Mat3<T>&R = m.R_WU, &K = m.K;
  const Vec3<T>&w = m.w, &alpha = m.alpha;
  const auto put = [](T* to, int stride, const Vec3<T>& v) ZVENO_INLINED {
    for (int i = 0; i < 3; ++i) to[i * stride] = v[i];
  };
  put(&y.f[0][0], 4, m.a);
  put(&y.n[0][0], kInertial, cross<T>(m.x, m.a));
  for (int k = 0; k < 3; ++k) {
    const Vec3<T> f = times(R, K.col(k));
    put(&y.f[0][1 + k], 4, f);
    put(&y.n[0][1 + k], kInertial, cross<T>(R.col(k), m.a) + cross<T>(m.x, f));
  }
  // I alpha + w x I w is linear in K but for the diagonal
  const T xy = w.x() * w.y(), xz = w.x() * w.z(), yz = w.y() * w.z();
  const Vec3<T> moments[] = {
      {alpha.x(), xz, -xy}, {-K(2, 0), K(2, 1), K(0, 0) - K(1, 1)}, {K(1, 0), K(2, 2) - K(0, 0), -K(1, 2)},
      {-yz, alpha.y(), xy}, {K(1, 1) - K(2, 2), -K(0, 1), K(0, 2)}, {yz, -xz, alpha.z()}};
  for (int k = 0; k < 6; ++k) put(&y.n[0][4 + k], kInertial, times(R, moments[k]));
}

// The ten columns of a link of a body in the efforts; row(b): where those of joint b go, asked for from the link to the
// base. Joints that do not carry the link are left alone.
template <class T, class P, class Row>
ZVENO_INLINE void link_regressor(const ModelView<P>& model, int body, const LinkColumns<T>& columns, const Screw<T>* screws,
                                 const Row& row) {
  for (int b = body; b != kWorld; b = model.parent(b)) {
    if (model.revolute(b))
      columns.along(screws[b], row(b));
    else
      columns.along(screws[b].v, row(b));
  }
}

}  // namespace zveno
