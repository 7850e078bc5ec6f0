// Counted: a number that counts the operations made with it. Constants, copies and negation are free.
#pragma once

#include <zveno/scalar/sincos.hpp>

namespace zveno {

struct Counts {
  long mul = 0, add = 0, div = 0, sqrt = 0, trig = 0;
};

class Counted {
 public:
  Counted() = default;
  Counted(double x) : x_(x) {}

  double value() const { return x_; }

  friend Counted operator+(Counted a, Counted b) { return ++now().add, Counted(a.x_ + b.x_); }
  friend Counted operator-(Counted a, Counted b) { return ++now().add, Counted(a.x_ - b.x_); }
  friend Counted operator*(Counted a, Counted b) { return ++now().mul, Counted(a.x_ * b.x_); }
  friend Counted operator/(Counted a, Counted b) { return ++now().div, Counted(a.x_ / b.x_); }
  friend Counted operator-(Counted a) { return Counted(-a.x_); }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
  Counted& operator*=(Counted b) { return *this = *this * b; }
  ZVENO_NO_COMPARISON(Counted);

  // counts of this thread, by stage
  static Counts* stages() {
    thread_local Counts counts[kStages];
    return counts;
  }
  static int& stage() {
    thread_local int current = 0;
    return current;
  }
  static Counts& now() { return stages()[stage()]; }
  static void reset() {
    for (int i = 0; i < kStages; ++i) stages()[i] = Counts{};
    stage() = 0;
  }

 private:
  double x_;
};

inline void joint_trig(const Counted* theta, Counted* s, Counted* c, int n) {
  for (int i = 0; i < n; ++i) {
    const double x = theta[i].value();
    double si[padded(1)], ci[padded(1)];
    joint_trig(&x, si, ci, 1);
    Counted::now().trig += 2;
    s[i] = si[0];
    c[i] = ci[0];
  }
}

template <>
struct StageMarker<Counted> {
  static void enter(int stage) { Counted::stage() = stage; }
};

}  // namespace zveno
