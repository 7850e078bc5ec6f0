// What acts in the joints themselves, besides the bodies: drives' rotors, viscous friction, springs.
//
// tau = M qdd + bias with M = M_bodies + diag(J), bias = bias_bodies + b qd + k (q - rest). Vectors in the order of bodies.
// Chains without one of them do not pay for it: the branches are on the model.
#pragma once

#include <zveno/model/chain.hpp>

namespace zveno {

template <class T>
class JointForces {
 public:
  explicit JointForces(const Chain& chain) : chain_(chain), n_(chain.n()) {}

  // reflected inertias, null if there are none
  const double* rotors() const { return chain_.has_rotor() ? chain_.rotor_inertia().data() : nullptr; }

  // M: n x n
  void add_rotors(T* M) const {
    const std::ptrdiff_t n = n_;
    if (const double* J = rotors())
      for (std::ptrdiff_t b = 0; b < n; ++b) M[b * n + b] += T(J[b]);
  }

  // efforts for accelerations (may be null: zero), rates and displacements
  void add_efforts(const T* q, const T* qd, const T* qdd, T* tau) const {
    if (const double* J = rotors(); J && qdd)
      for (int b = 0; b < n_; ++b) tau[b] += qdd[b] * T(J[b]);
    if (chain_.has_friction())
      for (int b = 0; b < n_; ++b) tau[b] += qd[b] * T(chain_.friction()[b]);
    if (chain_.has_spring())
      for (int b = 0; b < n_; ++b)
        if (sprung(b)) tau[b] += stretch(q, b) * T(chain_.stiffness()[b]);
  }

  // what they add to the derivatives of the efforts by q and qd, n x n each
  void add_slopes(T* dq, T* dqd) const {
    const std::ptrdiff_t n = n_;
    for (std::ptrdiff_t b = 0; b < n; ++b) {
      if (chain_.has_friction()) dqd[b * n + b] += T(chain_.friction()[b]);
      if (chain_.has_spring() && sprung(static_cast<int>(b))) dq[b * n + b] += T(chain_.stiffness()[b]);
    }
  }

  // whether efforts are needed without accelerations
  bool resists() const { return chain_.has_friction() || chain_.has_spring(); }

  // what friction and springs leave of the efforts tau
  void take_efforts(const T* q, const T* qd, const T* tau, T* left) const {
    for (int b = 0; b < n_; ++b) left[b] = chain_.has_friction() ? tau[b] - qd[b] * T(chain_.friction()[b]) : tau[b];
    if (chain_.has_spring())
      for (int b = 0; b < n_; ++b)
        if (sprung(b)) left[b] -= stretch(q, b) * T(chain_.stiffness()[b]);
  }

  void add_kinetic_energy(const T* qd, T* energy) const {
    if (const double* J = rotors())
      for (int b = 0; b < n_; ++b) *energy += qd[b] * qd[b] * T(0.5 * J[b]);
  }

  void add_potential_energy(const T* q, T* energy) const {
    if (!chain_.has_spring()) return;
    for (int b = 0; b < n_; ++b)
      if (sprung(b)) {
        const T x = stretch(q, b);
        *energy += x * x * T(0.5 * chain_.stiffness()[b]);
      }
  }

 private:
  bool sprung(int b) const { return chain_.stiffness()[b] != 0; }
  T stretch(const T* q, int b) const {
    const double rest = chain_.rest()[b];
    return rest == 0 ? q[b] : q[b] - T(rest);
  }

  const Chain& chain_;
  const int n_;
};

}  // namespace zveno
