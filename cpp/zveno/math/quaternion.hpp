// Quaternions of rotations, scalar first.
#pragma once

#include <cmath>

namespace zveno {

inline void normalise(double* q) {
  const double size = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; ++i) q[i] /= size;
}

// of any quaternion but zero; row major
inline void rotation(const double* q, double* R) {
  const double s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double x = q[1], y = q[2], z = q[3], wx = s * q[0] * x, wy = s * q[0] * y, wz = s * q[0] * z;
  R[0] = 1 - s * (y * y + z * z), R[1] = s * x * y - wz, R[2] = s * x * z + wy;
  R[3] = s * x * y + wz, R[4] = 1 - s * (x * x + z * z), R[5] = s * y * z - wx;
  R[6] = s * x * z - wy, R[7] = s * y * z + wx, R[8] = 1 - s * (x * x + y * y);
}

// q o [a; b c d]
inline void product(const double* q, double a, double b, double c, double d, double* out) {
  out[0] = q[0] * a - q[1] * b - q[2] * c - q[3] * d;
  out[1] = q[0] * b + q[1] * a + q[2] * d - q[3] * c;
  out[2] = q[0] * c - q[1] * d + q[2] * a + q[3] * b;
  out[3] = q[0] * d + q[1] * c - q[2] * b + q[3] * a;
}

}  // namespace zveno
