/*
 * tiny: Nothing useful
 *
 * Generated code, do not edit.
 *   model  none
 *   zveno  0
 *
 * Cost: 11 operations: 2 mul, 3 add, 1 div, 1 sqrt, 4 trig.
 * Straight-line code: no loops, no branches, no allocation, no state.
 *
 *   q        in   2      angles, rad
 *   v        in   1      rate, m/s
 *   load     in   6      N and N m
 *   M        out  2 x 1  mass matrix
 *   E        out  1      J
 *   double_  out  2
 *
 * Matrices are stored row by row. The arrays must not overlap; nothing is checked.
 */
#ifndef TINY_H
#define TINY_H

#define TINY_N_Q 2
#define TINY_N_V 1
#define TINY_N_LOAD 6
#define TINY_N_M 2
#define TINY_N_E 1
#define TINY_N_DOUBLE_ 2

#ifdef __cplusplus
extern "C" {
#endif

void tiny(
    const double q[TINY_N_Q],
    const double v[TINY_N_V],
    const double load[TINY_N_LOAD],
    double M[TINY_N_M],
    double E[TINY_N_E],
    double double_[TINY_N_DOUBLE_]);

#ifdef __cplusplus
}
#endif

#endif

#ifdef ZVENO_MATH_HEADER
#include ZVENO_MATH_HEADER
#else
#include <math.h>
#endif
#ifndef ZVENO_SIN
#define ZVENO_SIN sin
#endif
#ifndef ZVENO_COS
#define ZVENO_COS cos
#endif
#ifndef ZVENO_ATAN2
#define ZVENO_ATAN2 atan2
#endif
#ifndef ZVENO_SQRT
#define ZVENO_SQRT sqrt
#endif
#ifndef ZVENO_FMA
#if defined(FP_FAST_FMA) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ZVENO_FMA fma
#else
#define ZVENO_FMA(a, b, c) (((a) * (b)) + (c))
#endif
#endif

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

void tiny(
    const double q[restrict TINY_N_Q],
    const double v[restrict TINY_N_V],
    const double load[restrict TINY_N_LOAD],
    double M[restrict TINY_N_M],
    double E[restrict TINY_N_E],
    double double_[restrict TINY_N_DOUBLE_])
{
  (void)load;
  double_[1] = q[1];
  const double t0 = ZVENO_SIN(q[0]);
  const double t1 = ZVENO_COS(q[0]);
  const double t2 = t0 * 0.1;
  const double t3 = t2 - t1;
  const double t4 = t3 / v[0];
  M[0] = t4;
  const double t5 = ZVENO_FMA(t4, 1e-07, 2.0);
  const double t6 = ZVENO_SQRT(t5);
  const double t7 = -t6;
  M[1] = t7;
  const double t8 = q[1] - t6;
  const double t9 = ZVENO_COS(t8);
  const double t10 = ZVENO_ATAN2(t9, (-0.3));
  E[0] = t10;
  double_[0] = (-0.5);
}
