// Regressors: what is linear in the inertial parameters of the links, docs/chains.md (11.4)-(11.10). Ten numbers for each
// link of the user, m, mc (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about its origin in its axes.
//
// In link axes the wrench of a link about its origin is f = m a + K mc, n = mc x a + I alpha + w x I w; its power in a
// motion [v; e] of that origin is v . f + e . n. Efforts take the motion of a joint, power that of the link itself, the
// wrench on the base those of the base. From rest accelerations are velocities and f, n momenta.
#pragma once

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/kernel/chain/rnea.hpp>
#include <zveno/model/chain.hpp>

namespace zveno {

// of a link of the user
template <class T>
struct LinkMotion {
  Mat3<T> R_WU;
  Vec3<T> x;            // its origin, base axes
  Vec3<T> a, alpha, w;  // link axes
  Mat3<T> K;
};

template <class T>
LinkMotion<T> link_motion(const LinkFrame& link, const Mat3<T>* R_WB, const Vec3<T>* p_W, const BodyMotion<T>* motion,
                          const BaseMotion<T>& base) {
  LinkMotion<T> m;
  const int body = link.body;
  BodyMotion<T> at;
  if (body == kWorld) {
    m.R_WU = cast<T>(link.R_BU);
    m.x = cast<T>(link.p_BoUo_B);
    at = {base.w, base.dw, base.a + cross<T>(base.dw, m.x) + cross<T>(base.w, cross<T>(base.w, m.x))};
  } else {
    m.R_WU = times(R_WB[body], cast<T>(link.R_BU));
    m.x = p_W[body] + times(R_WB[body], cast<T>(link.p_BoUo_B));
    at.w = motion[body].w;
    point_acceleration(body, p_W, m.x, motion, at.a, at.alpha);
  }
  m.a = transposed_times(m.R_WU, at.a);
  m.alpha = transposed_times(m.R_WU, at.alpha);
  m.w = transposed_times(m.R_WU, at.w);
  m.K = rotation_acceleration(m.w, m.alpha);
  return m;
}

// v . f by the ten parameters; v in link axes
template <class T>
ZVENO_INLINE void inertial_row_of_force(const Vec3<T>& v, const LinkMotion<T>& m, T* y) {
  y[0] = dot<T>(v, m.a);
  const Vec3<T> first = transposed_times(m.K, v);
  for (int k = 0; k < 3; ++k) y[1 + k] = first[k];
  for (int k = 4; k < 10; ++k) y[k] = T(0.0);
}

// v . f + e . n by the ten parameters; v, e in link axes
template <class T>
ZVENO_INLINE void inertial_row(const Vec3<T>& v, const Vec3<T>& e, const LinkMotion<T>& m, T* y) {
  y[0] = dot<T>(v, m.a);
  Vec3<T> first = transposed_times(m.K, v);
  first += cross<T>(m.a, e);
  for (int k = 0; k < 3; ++k) y[1 + k] = first[k];
  const Vec3<T>&alpha = m.alpha, &w = m.w;
  const Vec3<T> c = cross<T>(e, w);
  const auto square = [&](int i) { return e[i] * alpha[i] + c[i] * w[i]; };
  const auto product = [&](int i, int j) { return e[i] * alpha[j] + e[j] * alpha[i] + (c[i] * w[j] + c[j] * w[i]); };
  y[4] = square(0), y[5] = product(0, 1), y[6] = product(0, 2);
  y[7] = square(1), y[8] = product(1, 2), y[9] = square(2);
}

// The ten columns of a link of a body in the efforts; row(b): where those of joint b go, asked for from the link to the
// base. Joints that do not carry the link are left alone.
template <class T, class P, class Row>
void link_regressor(const ModelView<P>& model, int body, const LinkMotion<T>& m, const Mat3<T>* R_WB, const Vec3<T>* p_W,
                    const Row& row) {
  for (int b = body; b != kWorld; b = model.parent(b)) {
    Vec3<T> v, e;
    jacobian_column(model, b, R_WB, p_W, m.x, v, e);
    v = transposed_times(m.R_WU, v);
    if (model.revolute(b))
      inertial_row(v, transposed_times(m.R_WU, e), m, row(b));
    else
      inertial_row_of_force(v, m, row(b));
  }
}

}  // namespace zveno
