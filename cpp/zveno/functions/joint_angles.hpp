// Sines and cosines of a chain's joints, docs/chains.md, section 1.
#pragma once

#include <vector>

#include <zveno/model/chain.hpp>
#include <zveno/scalar/sincos.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// q: in the order of bodies; s, c: of every body, prismatic joints too, with room for padded(n)
template <class T>
ZVENO_INLINE void turn_joints(const Chain& chain, const T* q, T* s, T* c, Scratch& scratch) {
  const int n = chain.n();
  const std::vector<int>& joints = chain.turning();  // angles side by side, prismatic joints left out
  int turning = static_cast<int>(joints.size());
  const T* theta = q;
  if (turning < n || chain.has_offset()) {
    T* sum = scratch.take<T>(n);
    for (int i = 0; i < turning; ++i) {
      const double offset = chain.offset()[joints[i]];
      sum[i] = offset == 0 ? q[joints[i]] : q[joints[i]] + T(offset);
    }
    theta = sum;
  }
  joint_trig(theta, s, c, turning);
  if (turning == n) return;
  for (int b = n; b-- > 0;) {
    const bool revolute = chain.view().revolute(b);
    s[b] = revolute ? s[--turning] : T(chain.fixed_turn()[b].s);
    c[b] = revolute ? c[turning] : T(chain.fixed_turn()[b].c);
  }
}

}  // namespace zveno
