/*
 * puma560_com: puma560.com(q)
 *
 * Generated code, do not edit.
 *   model      puma560
 *   joints     link1_joint, link2_joint, link3_joint, link4_joint, link5_joint, link6_joint
 *   gravity    0.0, 0.0, -9.81 m/s^2, base axes
 *   function   com
 *   arguments  q
 *   level      strict
 *   zveno      0.1.0
 *   hash       317cd19681473faa33ed486c29f195b143e41d5e60d9fb7920c3ebc452ae21be
 *
 * Cost: 141 operations: 76 mul, 55 add, 10 trig.
 * Straight-line code: no loops, no branches, no allocation, no state.
 *
 *   q  in   6  joint coordinates, rad or m
 *   p  out  3  centre of mass, world axes, m
 *
 * Matrices are stored row by row. The arrays must not overlap; nothing is checked.
 */
#ifndef PUMA560_COM_H
#define PUMA560_COM_H

#define PUMA560_COM_N_Q 6
#define PUMA560_COM_N_P 3

#ifdef __cplusplus
extern "C" {
#endif

void puma560_com(
    const double q[PUMA560_COM_N_Q],
    double p[PUMA560_COM_N_P]);

#ifdef __cplusplus
}
#endif

#endif
