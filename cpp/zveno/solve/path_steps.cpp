#include <zveno/solve/path_steps.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace zveno {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// the lines of one step, and the interval behind it as two more: (low - x) half <= u <= (high - x) half
struct Lines {
  std::ptrdiff_t rows;
  const double *slope, *above, *below;
  double half, low, high;

  struct Bound {
    std::ptrdiff_t row;
    double value, slope;
  };
  Bound upper(double x) const {
    Bound b{-1, kInfinite, 0.0};
    for (std::ptrdiff_t k = 0; k < rows; ++k)
      if (const double u = above[k] + slope[k] * x; u < b.value) b = {k, u, slope[k]};
    if ((high - x) * half < b.value) b = {-1, (high - x) * half, -half};
    return b;
  }
  Bound lower(double x) const {
    Bound b{-1, -kInfinite, 0.0};
    for (std::ptrdiff_t k = 0; k < rows; ++k)
      if (const double u = below[k] + slope[k] * x; u > b.value) b = {k, u, slope[k]};
    if ((low - x) * half > b.value) b = {-1, (low - x) * half, -half};
    return b;
  }
  // where the lines meet that bound u at the largest x; beyond it there is no u
  double far() const {
    double least = -half, upper = high * half, most = -half, lower = low * half;
    for (std::ptrdiff_t k = 0; k < rows; ++k) {
      if (above[k] < kInfinite && (slope[k] < least || (slope[k] == least && above[k] < upper)))
        least = slope[k], upper = above[k];
      if (below[k] > -kInfinite && (slope[k] > most || (slope[k] == most && below[k] > lower)))
        most = slope[k], lower = below[k];
    }
    return most > least ? std::max((upper - lower) / (most - least), 0.0) : 1e100;
  }

  // From x up (side 1) or down (-1) to where there is a u: Newton's method on a concave piecewise linear function. Outside
  // of least to most there is none.
  bool settle(int side, double least, double most, double& x, PathStop& stop) const {
    for (int k = 0; k < 200; ++k) {
      const Bound up = upper(x), down = lower(x);
      const double gap = up.value - down.value, size = std::fabs(up.value) + std::fabs(down.value);
      const double rate = up.slope - down.slope;
      if (gap >= -1e-15 * size) return true;
      if (-gap <= 1e-14 * size && -gap <= 1e-14 * std::fabs(rate * x)) return true;  // as near as rounding lets it come
      const double next = x - gap / rate;
      if (!(rate * side > 0) || (side > 0 ? next > most * (1 + 1e-12) : next < least - 1e-12 * x)) {
        stop.x = x, stop.up = up.row, stop.down = down.row;
        return false;
      }
      x = std::max(next, 0.0);
    }
    return true;
  }
};

}  // namespace

PathStop reach_end(const PathSteps& steps, double end, double* low, double* high) {
  PathStop stop;
  low[steps.count] = high[steps.count] = end;
  for (std::ptrdiff_t i = steps.count; i-- > 0;) {
    const double least = steps.least[i], most = steps.most[i];
    if (!(least <= most)) {
      stop.step = i, stop.x = least, stop.closed = true;
      return stop;
    }
    const std::ptrdiff_t at = i * steps.rows;
    const Lines lines{steps.rows,         steps.slope + at, steps.above + at, steps.below + at,
                      0.5 / steps.length, low[i + 1],       high[i + 1]};
    low[i] = least, high[i] = most < kInfinite ? most : lines.far();
    if (!lines.settle(-1, least, most, high[i], stop) || !lines.settle(1, least, most, low[i], stop)) {
      stop.step = i;
      return stop;
    }
    low[i] = std::min(low[i], high[i]);  // touching, but for rounding
  }
  return stop;
}

PathStop go_fast(const PathSteps& steps, const double* low, const double* high, double* x, double* u) {
  PathStop stop;
  const double half = 0.5 / steps.length;
  for (std::ptrdiff_t i = 0; i < steps.count; ++i) {
    const double *slope = steps.slope + i * steps.rows, *above = steps.above + i * steps.rows;
    double best = (high[i + 1] - x[i]) * half;
    for (std::ptrdiff_t k = 0; k < steps.rows; ++k) best = std::min(best, above[k] + slope[k] * x[i]);
    x[i + 1] = std::min(std::max(x[i] + 2 * steps.length * best, low[i + 1]), high[i + 1]);
    u[i] = (x[i + 1] - x[i]) * half;
    if (!(x[i] + x[i + 1] > 0)) {
      stop.step = i;
      return stop;
    }
  }
  return stop;
}

}  // namespace zveno
