// (M + diag x) z = y of a chain, O(n): factored once, solved often. Joints in the user's order. Nothing is allocated after
// construction.
#pragma once

#include <zveno/functions/rows.hpp>
#include <zveno/scalar/complex.hpp>

namespace zveno {

class InertiaSolver {
 public:
  virtual ~InertiaSolver() = default;
  // state at which M is taken
  virtual void set(const double* q) = 0;
  // x besides the rotors
  virtual Failure factor(const double* x) = 0;
  virtual Failure factor(const Complex* x) = 0;
  // y on entry, z on return, by the last factors of that scalar
  virtual void solve(double* y) const = 0;
  virtual void solve(Complex* y) const = 0;
  // of residuals y and of forces together; links that are held have residuals of accelerations
  virtual void solve(double* y, const double* force, int n) const {
    for (int i = 0; i < n; ++i) y[i] += force[i];
    solve(y);
  }
};

}  // namespace zveno
