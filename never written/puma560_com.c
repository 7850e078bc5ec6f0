/* puma560_com: generated code, see the header. */
#include "puma560_com.h"

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

void puma560_com(
    const double q[restrict PUMA560_COM_N_Q],
    double p[restrict PUMA560_COM_N_P])
{
  const double t0 = q[0] + 3.141592653589793;
  const double t1 = q[1] - 3.141592653589793;
  const double t2 = q[3] + 3.141592653589793;
  const double t3 = q[4] - 3.141592653589793;
  const double t4 = ZVENO_SIN(t0);
  const double t5 = ZVENO_COS(t0);
  const double t6 = ZVENO_SIN(t1);
  const double t7 = ZVENO_COS(t1);
  const double t8 = ZVENO_SIN(q[2]);
  const double t9 = ZVENO_COS(q[2]);
  const double t10 = ZVENO_SIN(t2);
  const double t11 = ZVENO_COS(t2);
  const double t12 = ZVENO_SIN(t3);
  const double t13 = ZVENO_COS(t3);
  const double t14 = t4 * 0.2435;
  const double t15 = t5 * 0.2435;
  const double t16 = t5 * t7;
  const double t17 = t5 * t6;
  const double t18 = t4 * t7;
  const double t19 = t4 * t6;
  const double t20 = t4 * 0.0934;
  const double t21 = 0.4318 * t16;
  const double t22 = t21 - t20;
  const double t23 = t5 * 0.0934;
  const double t24 = 0.4318 * t18;
  const double t25 = t23 + t24;
  const double t26 = 0.4318 * t6;
  const double t27 = t14 + t22;
  const double t28 = t25 - t15;
  const double t29 = t8 * t17;
  const double t30 = t9 * t16;
  const double t31 = t30 - t29;
  const double t32 = t8 * t16;
  const double t33 = t9 * t17;
  const double t34 = t32 + t33;
  const double t35 = t8 * t19;
  const double t36 = t9 * t18;
  const double t37 = t36 - t35;
  const double t38 = t8 * t18;
  const double t39 = t9 * t19;
  const double t40 = t38 + t39;
  const double t41 = t7 * t8;
  const double t42 = t6 * t9;
  const double t43 = t41 + t42;
  const double t44 = t6 * t8;
  const double t45 = t7 * t9;
  const double t46 = t45 - t44;
  const double t47 = t34 * 0.4331;
  const double t48 = t31 * 0.0203;
  const double t49 = t47 - t48;
  const double t50 = t40 * 0.4331;
  const double t51 = t37 * 0.0203;
  const double t52 = t50 - t51;
  const double t53 = t46 * 0.4331;
  const double t54 = t43 * 0.0203;
  const double t55 = t53 + t54;
  const double t56 = t27 + t49;
  const double t57 = t28 + t52;
  const double t58 = t26 - t55;
  const double t59 = t4 * t10;
  const double t60 = t11 * t31;
  const double t61 = t59 + t60;
  const double t62 = t5 * t10;
  const double t63 = t11 * t37;
  const double t64 = t63 - t62;
  const double t65 = t11 * t43;
  const double t66 = t12 * t61;
  const double t67 = t13 * t34;
  const double t68 = t67 - t66;
  const double t69 = t12 * t64;
  const double t70 = t13 * t40;
  const double t71 = t70 - t69;
  const double t72 = t12 * t65;
  const double t73 = t13 * t46;
  const double t74 = t72 + t73;
  const double t75 = t4 * 0.2784;
  const double t76 = 0.10439999999999999 * t17;
  const double t77 = 1.1832 * t16;
  const double t78 = t77 - t76;
  const double t79 = t78 - t75;
  const double t80 = t5 * 0.2784;
  const double t81 = 0.10439999999999999 * t19;
  const double t82 = 1.1832 * t18;
  const double t83 = t82 - t81;
  const double t84 = t80 + t83;
  const double t85 = 0.10439999999999999 * t7;
  const double t86 = 1.1832 * t6;
  const double t87 = t85 + t86;
  const double t88 = 17.4 * t14;
  const double t89 = 17.4 * t15;
  const double t90 = t79 + t88;
  const double t91 = t84 - t89;
  const double t92 = 0.0672 * t4;
  const double t93 = t34 * 0.336;
  const double t94 = t92 + t93;
  const double t95 = 0.0672 * t5;
  const double t96 = t40 * 0.336;
  const double t97 = t96 - t95;
  const double t98 = t46 * 0.336;
  const double t99 = 4.8 * t27;
  const double t100 = 4.8 * t28;
  const double t101 = 4.8 * t26;
  const double t102 = t94 + t99;
  const double t103 = t97 + t100;
  const double t104 = t101 - t98;
  const double t105 = t90 + t102;
  const double t106 = t91 + t103;
  const double t107 = t87 + t104;
  const double t108 = t34 * 0.015579999999999998;
  const double t109 = t40 * 0.015579999999999998;
  const double t110 = t46 * 0.015579999999999998;
  const double t111 = 0.82 * t56;
  const double t112 = 0.82 * t57;
  const double t113 = 0.82 * t58;
  const double t114 = t111 - t108;
  const double t115 = t112 - t109;
  const double t116 = t110 + t113;
  const double t117 = t105 + t114;
  const double t118 = t106 + t115;
  const double t119 = t107 + t116;
  const double t120 = 0.34 * t56;
  const double t121 = 0.34 * t57;
  const double t122 = 0.34 * t58;
  const double t123 = t117 + t120;
  const double t124 = t118 + t121;
  const double t125 = t119 + t122;
  const double t126 = 0.0028799999999999997 * t68;
  const double t127 = 0.0028799999999999997 * t71;
  const double t128 = 0.0028799999999999997 * t74;
  const double t129 = 0.09 * t56;
  const double t130 = 0.09 * t57;
  const double t131 = 0.09 * t58;
  const double t132 = t129 - t126;
  const double t133 = t130 - t127;
  const double t134 = t128 + t131;
  const double t135 = t123 + t132;
  const double t136 = t124 + t133;
  const double t137 = t125 + t134;
  const double t138 = t135 * 0.027434842249657063;
  p[0] = t138;
  const double t139 = t136 * 0.027434842249657063;
  p[1] = t139;
  const double t140 = t137 * 0.027434842249657063;
  p[2] = t140;
}
