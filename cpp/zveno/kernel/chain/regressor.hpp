// Regressor of the joint efforts, docs/chains.md (11.4)-(11.6): tau = Y theta, theta ten numbers for each link of the user,
// m, mc (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about its origin in its axes.
//
// In link axes the wrench of a link about its origin is f = m a + K mc, n = mc x a + I alpha + w x I w; an effort is v . f +
// e . n with the joint's motion [v; e] at that origin.
#pragma once

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/kernel/chain/rnea.hpp>
#include <zveno/model/chain.hpp>

namespace zveno {

// The ten columns of a link that stands at `link` in its body; row(b): where those of joint b go. Joints that do not carry
// the link are left alone.
template <class T, class P, class Row>
void link_regressor(const ModelView<P>& model, const LinkFrame& link, const Mat3<T>* R_WB, const Vec3<T>* p_W,
                    const BodyMotion<T>* motion, const Row& row) {
  const int body = link.body;
  const Mat3<T> R_WU = times(R_WB[body], cast<T>(link.R_BU));
  const Vec3<T> x = p_W[body] + times(R_WB[body], cast<T>(link.p_BoUo_B));
  Vec3<T> a_W, alpha_W;
  point_acceleration(body, p_W, x, motion, a_W, alpha_W);
  const Vec3<T> a = transposed_times(R_WU, a_W), alpha = transposed_times(R_WU, alpha_W);
  const Vec3<T> w = transposed_times(R_WU, motion[body].w);
  const Mat3<T> K = rotation_acceleration(w, alpha);
  for (int b = body; b != kWorld; b = model.parent(b)) {
    Vec3<T> v_W, e_W;
    jacobian_column(model, b, R_WB, p_W, x, v_W, e_W);
    const Vec3<T> v = transposed_times(R_WU, v_W);
    T* y = row(b);
    y[0] = dot<T>(v, a);
    Vec3<T> first = transposed_times(K, v);
    if (!model.revolute(b)) {
      for (int k = 0; k < 3; ++k) y[1 + k] = first[k];
      for (int k = 4; k < 10; ++k) y[k] = T(0.0);
      continue;
    }
    const Vec3<T> e = transposed_times(R_WU, e_W), c = cross<T>(e, w);
    first += cross<T>(a, e);
    for (int k = 0; k < 3; ++k) y[1 + k] = first[k];
    const auto square = [&](int i) { return e[i] * alpha[i] + c[i] * w[i]; };
    const auto product = [&](int i, int j) { return e[i] * alpha[j] + e[j] * alpha[i] + (c[i] * w[j] + c[j] * w[i]); };
    y[4] = square(0), y[5] = product(0, 1), y[6] = product(0, 2);
    y[7] = square(1), y[8] = product(1, 2), y[9] = square(2);
  }
}

}  // namespace zveno
