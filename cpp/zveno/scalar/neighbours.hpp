// Structures of numbers that belong to consecutive bodies, kept side by side: what a formula does with one of them it does
// with Wide<T>::kStep of them at once.
#pragma once

#include <zveno/math/lin.hpp>
#include <zveno/scalar/block.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// f(number) for every number of a structure; those that are made of these say so beside their definition
template <class T, class F>
ZVENO_INLINE void each_number(Vec3<T>& a, const F& f) {
  for (int k = 0; k < 3; ++k) f(a[k]);
}
template <class T, class F>
ZVENO_INLINE void each_number(Sym3<T>& a, const F& f) {
  f(a.xx), f(a.xy), f(a.xz), f(a.yy), f(a.yz), f(a.zz);
}
template <class T, class F>
ZVENO_INLINE void each_number(Mat3<T>& a, const F& f) {
  for (int k = 0; k < 9; ++k) f(a(k / 3, k % 3));
}

template <template <class> class S, class T, int kStep = Wide<T>::kStep>
class Neighbours {
 public:
  using W = typename Wide<T>::type;

  // for those that are not set: what is computed of them goes nowhere, but garbage may be slow to compute with
  void clear() {
    for (auto& lanes : number_)
      for (T& x : lanes) x = T(0.0);
  }
  ZVENO_INLINE void set(int lane, S<T> x) {
    int k = 0;
    each_number(x, [&](const T& value) ZVENO_INLINED { number_[k++][lane] = value; });
  }
  ZVENO_INLINE void set(S<W> x) {
    int k = 0;
    each_number(x, [&](const W& value) ZVENO_INLINED { Wide<T>::store(number_[k++], value); });
  }
  ZVENO_INLINE S<T> one(int lane) const {
    S<T> x;
    int k = 0;
    each_number(x, [&](T& value) ZVENO_INLINED { value = number_[k++][lane]; });
    return x;
  }
  ZVENO_INLINE S<W> all() const {
    S<W> x;
    int k = 0;
    each_number(x, [&](W& value) ZVENO_INLINED { value = Wide<T>::load(number_[k++]); });
    return x;
  }
  // f(all of them), which sets every number, or some
  template <class F>
  ZVENO_INLINE void make(const F& f) {
    S<W> x;
    f(x);
    set(x);
  }
  template <class F>
  ZVENO_INLINE void change(const F& f) {
    S<W> x = all();
    f(x);
    set(x);
  }
  // one of them in the place of all
  ZVENO_INLINE S<W> repeated(int lane) const {
    S<W> x;
    int k = 0;
    each_number(x, [&](W& value) ZVENO_INLINED { value = W(number_[k++][lane]); });
    return x;
  }

 private:
  alignas(64) T number_[sizeof(S<T>) / sizeof(T)][kStep];
};

template <template <class> class S, class T>
class Neighbours<S, T, 1> {
 public:
  ZVENO_INLINE void clear() {}
  ZVENO_INLINE void set(int, const S<T>& x) { x_ = x; }
  ZVENO_INLINE void set(const S<T>& x) { x_ = x; }
  ZVENO_INLINE const S<T>& one(int) const { return x_; }
  ZVENO_INLINE const S<T>& all() const { return x_; }
  template <class F>
  ZVENO_INLINE void make(const F& f) {
    f(x_);
  }
  template <class F>
  ZVENO_INLINE void change(const F& f) {
    f(x_);
  }
  ZVENO_INLINE const S<T>& repeated(int) const { return x_; }

 private:
  S<T> x_;
};

// those of n bodies
template <template <class> class S, class T>
class NeighbourTable {
 public:
  static constexpr int kStep = Wide<T>::kStep;
  using Group = Neighbours<S, T>;

  NeighbourTable(int n, Scratch& scratch) : group_(scratch.take<Group>((n + kStep - 1) / kStep)) { around(n - 1).clear(); }
  ZVENO_INLINE Group& around(int b) const { return group_[b / kStep]; }
  ZVENO_INLINE void set(int b, const S<T>& x) const { around(b).set(b % kStep, x); }
  ZVENO_INLINE decltype(auto) operator[](int b) const { return static_cast<const Group&>(around(b)).one(b % kStep); }

 private:
  Group* const group_;
};

}  // namespace zveno
