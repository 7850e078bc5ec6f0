// Finite rotations in plain doubles.
#pragma once

#include <cmath>

namespace zveno {

// R exp(w~), rows made orthonormal again: rounding does not add up over many steps. 3 x 3 row major.
inline void rotated_by(const double* R, double x, double y, double z, double* out) {
  const double a2 = x * x + y * y + z * z, a = std::sqrt(a2);
  // sin a / a and (1 - cos a) / a^2
  const double s = a > 1e-4 ? std::sin(a) / a : 1 - a2 / 6, h = std::sin(0.5 * a);
  const double c = a > 1e-4 ? 2 * h * h / a2 : 0.5 - a2 / 24;
  const double E[9] = {1 - c * (y * y + z * z), c * x * y - s * z,       c * x * z + s * y,
                       c * x * y + s * z,       1 - c * (x * x + z * z), c * y * z - s * x,
                       c * x * z - s * y,       c * y * z + s * x,       1 - c * (x * x + y * y)};
  double t[9];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) t[3 * i + j] = R[3 * i] * E[j] + R[3 * i + 1] * E[3 + j] + R[3 * i + 2] * E[6 + j];
  // one step of R (3 - R'R) / 2
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 1.5 * t[3 * i + j];
      for (int k = 0; k < 3; ++k) {
        const double g = t[k] * t[j] + t[3 + k] * t[3 + j] + t[6 + k] * t[6 + j];
        sum -= 0.5 * t[3 * i + k] * g;
      }
      out[3 * i + j] = sum;
    }
}

}  // namespace zveno
