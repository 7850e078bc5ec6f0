// A kernel that looks at the numbers. CONDITION is one way of looking, SCALAR the type it is compiled for: only double
// may.
#include <algorithm>

#include <zveno/scalar/complex.hpp>
#include <zveno/scalar/count.hpp>
#include <zveno/scalar/jet.hpp>
#include <zveno/scalar/scalars.hpp>

template <class T>
T smaller(const T& x, const T& y) {
  if (CONDITION) return x;
  return y;
}

using zveno::Complex;
using zveno::Counted;
using zveno::Derived;
using zveno::Moving;
using zveno::Packed;
template SCALAR smaller<SCALAR>(const SCALAR&, const SCALAR&);
