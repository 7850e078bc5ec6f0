// Bias by the base-axes recursion of 002, docs/chains.md (2.6)-(2.11), (4.11): 87N - 51 mul, 80N - 66 add for an
// all-revolute serial chain, N >= 2, beyond base_axes. Sign: M qdd + bias = tau, so bias = -(e . fS) or -(e . MS).
#pragma once

#include <zveno/kernel/chain/base_axes.hpp>
#include <zveno/kernel/chain/joint.hpp>

namespace zveno {

// external_W: wrench on each body about its origin, base axes, or null
template <class T, class P>
void kane_bias(const ModelView<P>& model, const JointPosition<T>& at, const T* qd, const BaseMotion<T>& base,
               const Wrench<T>* external_W, T* bias, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const BaseAxes<T> x = base_axes(model, at, scratch);
  const int n = model.size();
  Vec3<T>* om = scratch.take<Vec3<T>>(n);
  Vec3<T>* eps = scratch.take<Vec3<T>>(n);
  Vec3<T>* w = scratch.take<Vec3<T>>(n);
  Wrench<T>* sum = scratch.take<Wrench<T>>(n);
  // known zeros of the inboard bodies follow from the topology: a first joint turns nothing before it
  enum : unsigned char { kSpins = 1, kEps = 2, kAccelerates = 4 };
  unsigned char* has = scratch.take<unsigned char>(n);
  const unsigned char of_base = base.moving ? kSpins | kEps : 0;
  const Vec3<T> g = -base.a;
  for (int j = 0; j < n; ++j) {
    const int parent = model.parent(j);
    const unsigned char before = parent == kWorld ? of_base : has[parent];
    const Vec3<T>&om_P = parent == kWorld ? base.w : om[parent], &eps_P = parent == kWorld ? base.dw : eps[parent];
    const Vec3<T> rate = x.e[j] * qd[j];
    const Vec3<T>& r = x.r[j];
    has[j] = before;
    om[j] = before & kSpins ? om_P : zero3<T>();
    eps[j] = before & kEps ? eps_P : zero3<T>();
    w[j] = before & kAccelerates ? w[parent] : zero3<T>();
    auto add = [&](Vec3<T>& sum_so_far, const Vec3<T>& term, unsigned char bit) {
      sum_so_far = has[j] & bit ? Vec3<T>(sum_so_far + term) : term;
      has[j] |= bit;
    };
    if (before & kEps) add(w[j], cross<T>(eps_P, r), kAccelerates);
    if (before & kSpins) {
      add(w[j], cross<T>(om_P, cross<T>(om_P, r)), kAccelerates);  // (2.9)
      if (model.revolute(j))
        add(eps[j], cross<T>(om_P, rate), kEps);  // (2.8)
      else
        add(w[j], cross<T>(om_P, Vec3<T>(rate + rate)), kAccelerates);
    }
    if (model.revolute(j)) add(om[j], rate, kSpins);  // (2.6)

    const Vec3<T>& c = x.c[j];
    const Vec3<T> fall = has[j] & kAccelerates ? Vec3<T>(g - w[j]) : g;
    Vec3<T> f = fall * x.m[j], m = cross<T>(c, fall);
    if (has[j] & kEps) {
      f -= cross<T>(eps[j], c);
      m -= times(x.I[j], eps[j]);
    }
    if (has[j] & kSpins) {
      f -= cross<T>(om[j], cross<T>(om[j], c));    // (2.10)
      m -= cross<T>(om[j], times(x.I[j], om[j]));  // (2.11)
    }
    if (external_W) {
      f += external_W[j].f;
      m += external_W[j].n;
    }
    sum[j] = {f, m};
  }
  enter_stage<T>(Stage::assembly);
  for (int j = n; j-- > 0;) {
    bias[j] = -(model.revolute(j) ? dot<T>(x.e[j], sum[j].n) : dot<T>(x.e[j], sum[j].f));
    const int parent = model.parent(j);
    if (parent == kWorld) continue;
    sum[parent].f = sum[parent].f + sum[j].f;  // (4.11)
    sum[parent].n = sum[parent].n + sum[j].n + cross<T>(x.r[j], sum[j].f);
  }
}

}  // namespace zveno
