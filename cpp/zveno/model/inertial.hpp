// Inertial parameters of the links of a chain, kInertial numbers each, and what of them the equations of motion can tell.
#pragma once

#include <zveno/math/inertia.hpp>
#include <zveno/model/chain.hpp>

namespace zveno {

// of the user's link i as it was given, welded or not: about its origin, in its axes
void link_parameters(const Chain& chain, int i, double* p);

// of the link that body b's joint moves, everything welded to it included: about its origin, in its axes
void body_parameters(const Chain& chain, int b, double* p);

template <class T>
Moments<T> moments_of(const BodyParams<T>& body) {
  return {body.m, body.mc_B, body.S_BBo_B};
}

template <class T>
void set_moments(BodyParams<T>& body, const Moments<T>& x) {
  body.m = x.m;
  body.mc_B = x.mc;
  body.S_BBo_B = x.S;
  body.I_BBo_B = inertia_of(x.S);
}

// Inertial parameters that have the same effect on the equations of motion, though not on reactions: whatever lies on the
// axis of a revolute joint moves with the parent too, and so does the inertia of a prismatic joint's body, which does not
// turn against it. All of that is handed to the parent, docs/chains.md (11.3), and leaves zeros: m, m c_z, S_zz or S.
std::vector<BodyParams<double>> regrouped(const Chain& chain);

}  // namespace zveno
