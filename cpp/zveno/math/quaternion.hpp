// Quaternions of rotations, scalar first.
#pragma once

#include <cmath>

#include <zveno/support/compiler.hpp>

namespace zveno {

template <class T>
T square_of(const T* q) {
  return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
}

ZVENO_INLINE void normalise(double* q) {
  const double w = q[0], x = q[1], y = q[2], z = q[3], size = std::sqrt(square_of(q));
  q[0] = w / size, q[1] = x / size, q[2] = y / size, q[3] = z / size;  // a pair of them would wait for both stores
}

// of any quaternion but zero; row major
template <class T>
ZVENO_INLINE void rotation(const T* q, T* R) {
  const T one(1.0), s = T(2.0) / square_of(q);
  const T x = q[1], y = q[2], z = q[3], wx = s * q[0] * x, wy = s * q[0] * y, wz = s * q[0] * z;
  R[0] = one - s * (y * y + z * z), R[1] = s * x * y - wz, R[2] = s * x * z + wy;
  R[3] = s * x * y + wz, R[4] = one - s * (x * x + z * z), R[5] = s * y * z - wx;
  R[6] = s * x * z - wy, R[7] = s * y * z + wx, R[8] = one - s * (x * x + y * y);
}

// of a rotation, row major: the products 4 q_i q_j, of which the row with the largest square is taken
inline void quaternion(const double* R, double* q) {
  const double wx = R[7] - R[5], wy = R[2] - R[6], wz = R[3] - R[1], xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  const double products[4][4] = {{1 + R[0] + R[4] + R[8], wx, wy, wz},
                                 {wx, 1 + R[0] - R[4] - R[8], xy, xz},
                                 {wy, xy, 1 - R[0] + R[4] - R[8], yz},
                                 {wz, xz, yz, 1 - R[0] - R[4] + R[8]}};
  int k = 0;
  for (int i = 1; i < 4; ++i)
    if (products[i][i] > products[k][k]) k = i;
  for (int i = 0; i < 4; ++i) q[i] = products[k][i];
  normalise(q);
}

// q o [a; b c d]
template <class T>
ZVENO_INLINE void product(const T* q, const T& a, const T& b, const T& c, const T& d, T* out) {
  out[0] = q[0] * a - q[1] * b - q[2] * c - q[3] * d;
  out[1] = q[0] * b + q[1] * a + q[2] * d - q[3] * c;
  out[2] = q[0] * c - q[1] * d + q[2] * a + q[3] * b;
  out[3] = q[0] * d + q[1] * c - q[2] * b + q[3] * a;
}

}  // namespace zveno
