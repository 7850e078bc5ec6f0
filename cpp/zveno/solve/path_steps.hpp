// Reachability along a path: the x = (ds/dt)^2 from which its end can be reached, and the fastest way through them.
// docs/trajectories.md, (T5), (T6).
#pragma once

#include <cstddef>

namespace zveno {

// Steps of one length; in step i the acceleration u is between the lines below + slope x and above + slope x of each row,
// count x rows each.
struct PathSteps {
  std::ptrdiff_t count, rows;
  double length;
  const double *slope, *above, *below;
  const double *least, *most;  // of x at the begin of each step, by rows without u and by rates; most may be infinite
};

// where there is no way
struct PathStop {
  std::ptrdiff_t step = -1;           // none
  double x = 0;                       // last one looked at
  std::ptrdiff_t up = -1, down = -1;  // rows that leave no u between them; -1: the interval behind the step
  bool closed = false;                // least is above most
};

// low, high (count + 1): the x from which `end` can be reached
PathStop reach_end(const PathSteps& steps, double end, double* low, double* high);

// x (count + 1), u (count): as fast as the intervals allow; x[0] is given. A stop is a step that begins and ends at rest.
PathStop go_fast(const PathSteps& steps, const double* low, const double* high, double* x, double* u);

}  // namespace zveno
