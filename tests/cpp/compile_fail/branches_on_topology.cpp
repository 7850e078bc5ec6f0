// A kernel that looks at integers only: compiles for every scalar.
#include <zveno/scalar/complex.hpp>
#include <zveno/scalar/count.hpp>
#include <zveno/scalar/jet.hpp>
#include <zveno/scalar/scalars.hpp>

template <class T>
T sum(const T* x, int n, bool negative) {
  T total = T(0.0);
  for (int i = 0; i < n; ++i) total += x[i] * x[i] / T(2.0);
  return negative ? -total : total;
}

using zveno::Complex;
using zveno::Counted;
using zveno::Derived;
using zveno::Moving;
using zveno::Packed;
template SCALAR sum<SCALAR>(const SCALAR*, int, bool);
