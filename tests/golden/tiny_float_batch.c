/*
 * tiny
 *
 * Generated code, do not edit.
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
 *
 * tiny_batch does the same for 4 states:
 * element e of state i of each array is x[e * 4 + i].
 */
#ifndef TINY_H
#define TINY_H

#define TINY_N_Q 2
#define TINY_N_V 1
#define TINY_N_LOAD 6
#define TINY_N_M 2
#define TINY_N_E 1
#define TINY_N_DOUBLE_ 2
#define TINY_BATCH 4

#ifdef __cplusplus
extern "C" {
#endif

void tiny(
    const float q[TINY_N_Q],
    const float v[TINY_N_V],
    const float load[TINY_N_LOAD],
    float M[TINY_N_M],
    float E[TINY_N_E],
    float double_[TINY_N_DOUBLE_]);

void tiny_batch(
    const float q[TINY_N_Q * TINY_BATCH],
    const float v[TINY_N_V * TINY_BATCH],
    const float load[TINY_N_LOAD * TINY_BATCH],
    float M[TINY_N_M * TINY_BATCH],
    float E[TINY_N_E * TINY_BATCH],
    float double_[TINY_N_DOUBLE_ * TINY_BATCH]);

#ifdef __cplusplus
}
#endif

#endif

#ifdef ZVENO_MATH_HEADER
#include ZVENO_MATH_HEADER
#else
#include <math.h>
#endif
#ifndef ZVENO_SINF
#define ZVENO_SINF sinf
#endif
#ifndef ZVENO_COSF
#define ZVENO_COSF cosf
#endif
#ifndef ZVENO_ATAN2F
#define ZVENO_ATAN2F atan2f
#endif
#ifndef ZVENO_SQRTF
#define ZVENO_SQRTF sqrtf
#endif
#ifndef ZVENO_FMAF
#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ZVENO_FMAF fmaf
#else
#define ZVENO_FMAF(a, b, c) (((a) * (b)) + (c))
#endif
#endif

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

void tiny(
    const float q[restrict TINY_N_Q],
    const float v[restrict TINY_N_V],
    const float load[restrict TINY_N_LOAD],
    float M[restrict TINY_N_M],
    float E[restrict TINY_N_E],
    float double_[restrict TINY_N_DOUBLE_])
{
  (void)load;
  double_[1] = q[1];
  const float t0 = ZVENO_SINF(q[0]);
  const float t1 = ZVENO_COSF(q[0]);
  const float t2 = t0 * 0.1f;
  const float t3 = t2 - t1;
  const float t4 = t3 / v[0];
  M[0] = t4;
  const float t5 = ZVENO_FMAF(t4, 1e-07f, 2.0f);
  const float t6 = ZVENO_SQRTF(t5);
  const float t7 = -t6;
  M[1] = t7;
  const float t8 = q[1] - t6;
  const float t9 = ZVENO_COSF(t8);
  const float t10 = ZVENO_ATAN2F(t9, (-0.3f));
  E[0] = t10;
  double_[0] = (-0.5f);
}

void tiny_batch(
    const float q[restrict TINY_N_Q * TINY_BATCH],
    const float v[restrict TINY_N_V * TINY_BATCH],
    const float load[restrict TINY_N_LOAD * TINY_BATCH],
    float M[restrict TINY_N_M * TINY_BATCH],
    float E[restrict TINY_N_E * TINY_BATCH],
    float double_[restrict TINY_N_DOUBLE_ * TINY_BATCH])
{
  (void)load;
  float t0[4];
  float t1[4];
  float t5[4];
  float t6[4];
  float t8[4];
  for (int i = 0; i < 4; ++i) {
    t0[i] = ZVENO_SINF(q[i]);
    t1[i] = ZVENO_COSF(q[i]);
  }
  for (int i = 0; i < 4; ++i) {
    const float t2 = t0[i] * 0.1f;
    const float t3 = t2 - t1[i];
    const float t4 = t3 / v[i];
    M[i] = t4;
    t5[i] = ZVENO_FMAF(t4, 1e-07f, 2.0f);
  }
  for (int i = 0; i < 4; ++i) {
    t6[i] = ZVENO_SQRTF(t5[i]);
  }
  for (int i = 0; i < 4; ++i) {
    t8[i] = q[4 + i] - t6[i];
  }
  for (int i = 0; i < 4; ++i) {
    const float t9 = ZVENO_COSF(t8[i]);
    const float t10 = ZVENO_ATAN2F(t9, (-0.3f));
    E[i] = t10;
  }
  for (int i = 0; i < 4; ++i) {
    double_[4 + i] = q[4 + i];
    const float t7 = -t6[i];
    M[4 + i] = t7;
    double_[i] = (-0.5f);
  }
}
