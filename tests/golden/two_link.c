/*
 * two_link
 *
 * Generated code, do not edit.
 *   model      two_link
 *   joints     upper_joint, lower_joint
 *   gravity    0.0, 0.0, -9.81 m/s^2, base axes
 *   function   inverse_dynamics
 *   arguments  q, qd, qdd
 *   level      strict
 *
 * Cost: 34 operations: 16 mul, 14 add, 4 trig.
 * Straight-line code: no loops, no branches, no allocation, no state.
 *
 *   q    in   2  joint coordinates, rad or m
 *   qd   in   2  joint rates, rad/s or m/s
 *   qdd  in   2  joint accelerations, rad/s^2 or m/s^2
 *   tau  out  2  joint efforts, N m or N
 *
 * Matrices are stored row by row. The arrays must not overlap; nothing is checked.
 */
#ifndef TWO_LINK_H
#define TWO_LINK_H

#define TWO_LINK_N_Q 2
#define TWO_LINK_N_QD 2
#define TWO_LINK_N_QDD 2
#define TWO_LINK_N_TAU 2

#ifdef __cplusplus
extern "C" {
#endif

void two_link(
    const double q[TWO_LINK_N_Q],
    const double qd[TWO_LINK_N_QD],
    const double qdd[TWO_LINK_N_QDD],
    double tau[TWO_LINK_N_TAU]);

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

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

void two_link(
    const double q[restrict TWO_LINK_N_Q],
    const double qd[restrict TWO_LINK_N_QD],
    const double qdd[restrict TWO_LINK_N_QDD],
    double tau[restrict TWO_LINK_N_TAU])
{
  const double t0 = q[0] + 1.5707963267948966;
  const double t1 = ZVENO_SIN(t0);
  const double t2 = ZVENO_COS(t0);
  const double t3 = ZVENO_SIN(q[1]);
  const double t4 = ZVENO_COS(q[1]);
  const double t5 = t1 * 9.81;
  const double t6 = t2 * 9.81;
  const double t7 = qd[0] * qd[0];
  const double t8 = 0.5 * t5;
  const double t9 = qdd[0] * 0.3333333333333333;
  const double t10 = t9 - t8;
  const double t11 = t5 - qdd[0];
  const double t12 = t6 - t7;
  const double t13 = t3 * t12;
  const double t14 = t4 * t11;
  const double t15 = t13 + t14;
  const double t16 = t3 * t11;
  const double t17 = t4 * t12;
  const double t18 = t17 - t16;
  const double t19 = qd[0] + qd[1];
  const double t20 = qdd[0] + qdd[1];
  const double t21 = t19 * t19;
  const double t22 = 0.5 * t20;
  const double t23 = 0.5 * t21;
  const double t24 = t15 - t22;
  const double t25 = t18 - t23;
  const double t26 = 0.5 * t15;
  const double t27 = 0.3333333333333333 * t20;
  const double t28 = t27 - t26;
  tau[1] = t28;
  const double t29 = t3 * t25;
  const double t30 = t4 * t24;
  const double t31 = t30 - t29;
  const double t32 = t28 - t31;
  const double t33 = t10 + t32;
  tau[0] = t33;
}
