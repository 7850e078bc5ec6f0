// Sines and cosines of a chain's joints, docs/chains.md, section 1.
#pragma once

#include <vector>

#include <zveno/model/chain.hpp>
#include <zveno/scalar/sincos.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// angles of the joints that turn, side by side; q: in the order of bodies
template <class T>
ZVENO_INLINE void joint_angles(const Chain& chain, const T* q, T* theta) {
  const std::vector<int>& joints = chain.turning();
  const int turning = static_cast<int>(joints.size());
  for (int i = 0; i < turning; ++i) {
    const double offset = chain.offset()[joints[i]];
    theta[i] = offset == 0 ? q[joints[i]] : q[joints[i]] + T(offset);
  }
}
// sines and cosines of those -> of every body, in place
template <class T>
ZVENO_INLINE void spread_turns(const Chain& chain, T* s, T* c) {
  int turning = static_cast<int>(chain.turning().size());
  if (turning == chain.n()) return;
  for (int b = chain.n(); b-- > 0;) {
    const bool revolute = chain.view().revolute(b);
    s[b] = revolute ? s[--turning] : T(chain.fixed_turn()[b].s);
    c[b] = revolute ? c[turning] : T(chain.fixed_turn()[b].c);
  }
}

// s, c: with room for padded(n)
template <class T>
ZVENO_INLINE void turn_joints(const Chain& chain, const T* q, T* s, T* c, Scratch& scratch) {
  const int turning = static_cast<int>(chain.turning().size());
  const T* theta = q;
  if (turning < chain.n() || chain.has_offset()) {
    T* own = scratch.take<T>(turning);
    joint_angles(chain, q, own);
    theta = own;
  }
  joint_trig(theta, s, c, turning);
  spread_turns(chain, s, c);
}

}  // namespace zveno
