"""The functions of the kernels in C: the same polynomials in the same order, so the same bits."""

from __future__ import annotations

from typing import Final

__all__ = ["MATH", "SIDE_BY_SIDE"]

# cpp/zveno/scalar: sincos.hpp, angle.hpp, exponential.hpp; cpp/zveno/math/quaternion.hpp; cpp/zveno/functions/law.hpp
MATH: Final = r"""
static double zv_polynomial(const double a[6], double z)
{
  const double z2 = z * z;
  return (a[0] + z * a[1]) + z2 * ((a[2] + z * a[3]) + z2 * (a[4] + z * a[5]));
}

/* sine and cosine, at most 2 units in the last place off below 1e5; beyond it the C library's */
static void zv_sincos(double x, double *s, double *c)
{
  static const double sine[6] = {-0.16666666666666632,   0.008333333333322413,   -0.0001984126982980783,
                                 2.7557313691924606e-06, -2.505075811624784e-08, 1.589679570750817e-10};
  static const double cosine[6] = {0.0416666666666666,      -0.0013888888888874125, 2.4801587289482174e-05,
                                   -2.7557314352328286e-07, 2.0875723272501922e-09, -1.135964776172661e-11};
  if (!(fabs(x) < 1e5)) {
    *s = sin(x);
    *c = cos(x);
  } else {
    const double shifted = x * 0.6366197723675814 + 6755399441055744.0;
    const double k = shifted - 6755399441055744.0;
    const double a = x - k * 0x1.921fb54400000p+0;
    const double b = k * 0x1.0b4611a600000p-34;
    const double t = a - b;
    const double e1 = (a - t) - b;
    const double d = k * 0x1.3198a2e000000p-69;
    const double r = t - d;
    const double e2 = (t - r) - d;
    const double tail = (e1 + e2) - k * 0x1.b839a252049c1p-104;
    const double hi = r + tail;
    const double lo = (r - hi) + tail;
    const double z = hi * hi;
    const double half = 0.5 * z;
    const double w = 1.0 - half;
    const double si = hi + (hi * z * zv_polynomial(sine, z) + lo * (1.0 - half));
    const double ci = w + (((1.0 - w) - half) + (z * z * zv_polynomial(cosine, z) - hi * lo));
    const int32_t quadrant = (int32_t)k;
    const int odd = quadrant & 1;
    const double s1 = (odd != 0) ? ci : si;
    const double c1 = (odd != 0) ? si : ci;
    *s = ((quadrant & 2) != 0) ? -s1 : s1;
    *c = (((quadrant + 1) & 2) != 0) ? -c1 : c1;
  }
}

/* angle whose sine and cosine are s and c */
static double zv_angle(double s, double c)
{
  static const double a[11] = {0.16666666666666666,  0.0749999999999928,   0.04464285714481799,  0.03038194423663781,
                               0.022372170352640938, 0.017352409713076663, 0.013971772560507249, 0.01146556687592882,
                               0.010441849885445366, 0.005145462985626148, 0.01548928609731137};
  const double as = fabs(s);
  const double ac = fabs(c);
  const int flat = as < 0.41421356237309503 * ac;
  const int steep = ac < 0.41421356237309503 * as;
  const double y = (flat != 0) ? as : ((steep != 0) ? -ac : (as - ac) * 0.7071067811865476);
  const double turn = (flat != 0) ? 0.0 : ((steep != 0) ? 3.141592653589793 / 2.0 : 3.141592653589793 / 4.0);
  const double rest = (flat != 0) ? 0.0 : ((steep != 0) ? 1.2246467991473532e-16 / 2.0 : 1.2246467991473532e-16 / 4.0);
  const double z = y * y;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double low = (a[0] + z * a[1]) + z2 * (a[2] + z * a[3]);
  const double mid = (a[4] + z * a[5]) + z2 * (a[6] + z * a[7]);
  const double high = (a[8] + z * a[9]) + z2 * a[10];
  const double arc = y + y * z * (low + z4 * (mid + z4 * high));
  const double first = turn + (arc + rest);
  const double second = 3.141592653589793 - (first - 1.2246467991473532e-16);
  return copysign((c < 0.0) ? second : first, s);
}

/* e^x - 1 */
static double zv_expm1(double given)
{
  static const double a[11] = {0.5,
                               0.1666666666666667,
                               0.04166666666666667,
                               0.008333333333326141,
                               0.0013888888888883752,
                               0.00019841269874800493,
                               2.4801587325533363e-05,
                               2.7557255425746198e-06,
                               2.755727366134847e-07,
                               2.510520637405601e-08,
                               2.0914679376654634e-09};
  const double above = (given < -708.0) ? -708.0 : given;
  const double x = (above > 709.0) ? 709.0 : above;
  const double shifted = x * 1.4426950408889634 + 6755399441055744.0;
  const double k = shifted - 6755399441055744.0;
  const double hi = x - k * 0x1.62e42fee00000p-1;
  const double lo = k * 0x1.a39ef35793c76p-33;
  const double r = hi - lo;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double p01 = a[0] + r * a[1];
  const double p23 = a[2] + r * a[3];
  const double p45 = a[4] + r * a[5];
  const double p67 = a[6] + r * a[7];
  const double p89 = a[8] + r * a[9];
  const double p = (p01 + r2 * p23) + r4 * ((p45 + r2 * p67) + r4 * (p89 + r2 * a[10]));
  const double small = hi + (r2 * p - lo);
  const double power = ldexp(1.0, (isfinite(k) != 0) ? (int)k : 0); /* of what is no number neither is `small` */
  return power * small + (power - 1.0);
}

static double zv_size(double x) { return (x > 0.0) ? x : -x; }

static double zv_tanh(double x)
{
  const double size = zv_size(x);
  const double y = zv_expm1((size > 40.0) ? 80.0 : size + size);
  const double t = y / (y + 2.0);
  return (x < 0.0) ? -t : t;
}

static double zv_limited(double x, double limit)
{
  const double low = (-limit > x) ? -limit : x;
  return (low > limit) ? limit : low;
}

static double zv_stops(double x, double v, double lower, double upper, double stiffness, double damping)
{
  const double over = -stiffness * (x - upper) - damping * ((v > 0.0) ? v : 0.0);
  const double under = -stiffness * (x - lower) - damping * ((v > 0.0) ? 0.0 : v);
  return (x > upper) ? over : ((lower > x) ? under : 0.0);
}

static double zv_push(double depth, double inward, double stiffness, double damping, double blend)
{
  const double rest = depth - blend;
  const double rise = 1.0 + damping * inward;
  const double part = (depth > 0.0) ? ((blend > depth) ? depth / blend : 1.0) : 0.0;
  const double ramp = blend * (part * part * part) * (1.0 - 0.5 * part) + ((rest > 0.0) ? rest : 0.0);
  return (depth > 0.0) ? stiffness * ramp * ((rise > 0.0) ? rise : 0.0) : 0.0;
}

static double zv_bumpers(double x, double v, double lower, double upper, double stiffness, double damping, double blend)
{
  return zv_push(lower - x, -v, stiffness, damping, blend) - zv_push(x - upper, v, stiffness, damping, blend);
}

static double zv_eddy_brake(double v, double force, double speed)
{
  const double w = v / speed;
  const double most = -2.0 * force;
  return (1.0 > zv_size(w)) ? most * w / (1.0 + w * w) : most / (w + 1.0 / w);
}

static double zv_decay(double v, double force, double breakaway, double speed, double stiffness)
{
  const double w = v / speed;
  return stiffness * zv_size(v) / (breakaway + (breakaway - force) * zv_expm1(-w * w));
}

static double zv_ramp(double t, double from, double to, double speed, double begin, double *rate)
{
  const double way = to - from;
  const double moved = speed * (t - begin);
  double value = from + copysign(moved, way);
  *rate = copysign(speed, way);
  if (!(moved >= 0.0)) {
    value = from;
    *rate = 0.0;
  } else if (moved >= fabs(way)) {
    value = to;
    *rate = 0.0;
  }
  return value;
}

static double zv_table(double t, const double *times, const double *values, int count, double *rate)
{
  int i = 0;
  double value = values[0];
  *rate = 0.0;
  for (int k = 1; k < count; ++k) {
    i += (t >= times[k]) ? 1 : 0;
  }
  if (i + 1 == count) {
    value = values[i];
  } else if (t >= times[0]) {
    const double weight = (t - times[i]) / (times[i + 1] - times[i]);
    *rate = (values[i + 1] - values[i]) / (times[i + 1] - times[i]);
    value = values[i] + weight * (values[i + 1] - values[i]);
  }
  return value;
}

static void zv_normalise(double q[4])
{
  const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; ++i) {
    q[i] /= size;
  }
}

static void zv_rotation(const double q[4], double R[9])
{
  const double s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double x = q[1];
  const double y = q[2];
  const double z = q[3];
  const double wx = s * q[0] * x;
  const double wy = s * q[0] * y;
  const double wz = s * q[0] * z;
  R[0] = 1.0 - s * (y * y + z * z);
  R[1] = s * x * y - wz;
  R[2] = s * x * z + wy;
  R[3] = s * x * y + wz;
  R[4] = 1.0 - s * (x * x + z * z);
  R[5] = s * y * z - wx;
  R[6] = s * x * z - wy;
  R[7] = s * y * z + wx;
  R[8] = 1.0 - s * (x * x + y * y);
}

static void zv_product(const double q[4], double a, double b, double c, double d, double out[4])
{
  out[0] = q[0] * a - q[1] * b - q[2] * c - q[3] * d;
  out[1] = q[0] * b + q[1] * a + q[2] * d - q[3] * c;
  out[2] = q[0] * c - q[1] * d + q[2] * a + q[3] * b;
  out[3] = q[0] * d + q[1] * c - q[2] * b + q[3] * a;
}

static void zv_quaternion(const double T[16], double q[4])
{
  const double wx = T[9] - T[6];
  const double wy = T[2] - T[8];
  const double wz = T[4] - T[1];
  const double xy = T[1] + T[4];
  const double xz = T[2] + T[8];
  const double yz = T[6] + T[9];
  const double products[4][4] = {{1.0 + T[0] + T[5] + T[10], wx, wy, wz},
                                 {wx, 1.0 + T[0] - T[5] - T[10], xy, xz},
                                 {wy, xy, 1.0 - T[0] + T[5] - T[10], yz},
                                 {wz, xz, yz, 1.0 - T[0] - T[5] + T[10]}};
  int k = 0;
  for (int i = 1; i < 4; ++i) {
    k = (products[i][i] > products[k][k]) ? i : k;
  }
  for (int i = 0; i < 4; ++i) {
    q[i] = products[k][i];
  }
  zv_normalise(q);
}

static double zv_unwrapped(double x, double last)
{
  const double jump = last - x;
  return (fabs(jump) > 3.14159265358979323846)
             ? x + 2.0 * 3.14159265358979323846 * round(jump / (2.0 * 3.14159265358979323846))
             : x;
}
"""

# Sines and cosines of several angles, with the bits of zv_sincos: four at a time where the compiler has vectors. Put in
# line, so that a function that is compiled for AVX has AVX here too.
SIDE_BY_SIDE: Final = r"""
#if defined(__GNUC__)
typedef double zv_four __attribute__((vector_size(32)));
typedef int64_t zv_four_bits __attribute__((vector_size(32)));
#define ZV_POLYNOMIAL(a, z, zz) \
  (((a)[0] + (z) * (a)[1]) + (zz) * (((a)[2] + (z) * (a)[3]) + (zz) * ((a)[4] + (z) * (a)[5])))
__attribute__((always_inline)) static inline void zv_sincos_of(const double *x, double *s, double *c, int count)
{
  static const double sine[6] = {-0.16666666666666632,   0.008333333333322413,   -0.0001984126982980783,
                                 2.7557313691924606e-06, -2.505075811624784e-08, 1.589679570750817e-10};
  static const double cosine[6] = {0.0416666666666666,      -0.0013888888888874125, 2.4801587289482174e-05,
                                   -2.7557314352328286e-07, 2.0875723272501922e-09, -1.135964776172661e-11};
  const zv_four up = {6755399441055744.0, 6755399441055744.0, 6755399441055744.0, 6755399441055744.0};
  for (int i = 0; i < count; i += 4) {
    zv_four at;
    (void)memcpy(&at, x + i, sizeof at);
    const zv_four shifted = at * 0.6366197723675814 + up;
    const zv_four k = shifted - up;
    const zv_four a = at - k * 0x1.921fb54400000p+0;
    const zv_four b = k * 0x1.0b4611a600000p-34;
    const zv_four t = a - b;
    const zv_four e1 = (a - t) - b;
    const zv_four d = k * 0x1.3198a2e000000p-69;
    const zv_four r = t - d;
    const zv_four e2 = (t - r) - d;
    const zv_four tail = (e1 + e2) - k * 0x1.b839a252049c1p-104;
    const zv_four hi = r + tail;
    const zv_four lo = (r - hi) + tail;
    const zv_four z = hi * hi;
    const zv_four zz = z * z;
    const zv_four half = 0.5 * z;
    const zv_four w = 1.0 - half;
    const zv_four si = hi + (hi * z * ZV_POLYNOMIAL(sine, z, zz) + lo * (1.0 - half));
    const zv_four ci = w + (((1.0 - w) - half) + (z * z * ZV_POLYNOMIAL(cosine, z, zz) - hi * lo));
    /* the low bits of `shifted` are k */
    const zv_four_bits quadrant = (zv_four_bits)shifted;
    const zv_four_bits odd = -(quadrant & 1);
    const zv_four_bits bits_s = (zv_four_bits)si;
    const zv_four_bits bits_c = (zv_four_bits)ci;
    const zv_four s1 = (zv_four)(((bits_s & ~odd) | (bits_c & odd)) ^ ((quadrant & 2) << 62));
    const zv_four c1 = (zv_four)(((bits_c & ~odd) | (bits_s & odd)) ^ (((quadrant + 1) & 2) << 62));
    (void)memcpy(s + i, &s1, sizeof s1);
    (void)memcpy(c + i, &c1, sizeof c1);
    for (int j = i; j < i + 4; ++j) {
      if (!(fabs(x[j]) < 1e5)) {
        zv_sincos(x[j], &s[j], &c[j]);
      }
    }
  }
}
#else
static void zv_sincos_of(const double *x, double *s, double *c, int count)
{
  for (int i = 0; i < count; ++i) {
    zv_sincos(x[i], &s[i], &c[i]);
  }
}
#endif
"""
