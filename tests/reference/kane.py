"""Kane's matrix form, its recurrent, collapsed and block-triangular forms, Yaskevich (002); numbers: docs/chains.md."""

import numpy as np

from .chain import base_axes, body_wrenches, skew


def _partials(chain, k):
    """Partial angular velocities R_j and velocities T_j, each 3 x N."""
    n = chain.n
    R, T = np.zeros((3, n)), np.zeros((3, n))
    out = []
    for j in range(n):
        T = T + skew(k.r[j]).T @ R  # (3.2)
        column = np.outer(k.e[j], np.eye(n)[j])
        if chain.revolute[j]:
            R = R + column  # (3.1)
        else:
            T = T + column  # (3.2)
        out.append((R, T))
    return out


def kane(chain, q):
    """Mass matrix by the dense Kane sums."""
    k = base_axes(chain, q)
    A = 0
    for j, (R, T) in enumerate(_partials(chain, k)):
        X = T.T @ skew(k.c[j]).T @ R  # (3.3)
        A = A + chain.m[j] * T.T @ T + X + X.T + R.T @ k.I[j] @ R  # (3.3)
    return A


def bias_base_axes(chain, q, qd, force=None, moment=None):
    """Bias h = Q - b by Kane's sum of the inertial-plus-external wrenches."""
    k = base_axes(chain, q)
    fIE, mIE = body_wrenches(chain, k, qd, force, moment)
    return -sum(T.T @ f + R.T @ m for (R, T), f, m in zip(_partials(chain, k), fIE, mIE, strict=True))  # (3.4)


def kane_recurrent(chain, q):
    """Mass matrix by the recurrent algorithm with its triple sum."""
    n, k = chain.n, base_axes(chain, q)
    I, m, c = k.I, chain.m, k.c  # noqa: E741, the paper's letter
    zero = np.zeros((3, 3))
    r, cstar = {}, {}
    for j in range(n):
        r[j, j] = np.zeros(3)
        for i in range(j - 1, -1, -1):
            r[i, j] = k.r[i + 1] + r[i + 1, j]  # (4.1)
        for i in range(j + 1):
            cstar[i, j] = m[j] * r[i, j] + c[j]  # (4.2)
    mS, I1 = np.zeros(n + 1), [zero] * (n + 1)
    I2, I3, I5, cS = {}, {}, {}, {}
    for j in range(n - 1, -1, -1):
        mS[j] = m[j] + mS[j + 1]  # (4.3)
        I1[j] = I[j] + I1[j + 1]  # (4.4)
        for i in range(j + 1):
            cS[i, j] = cstar[i, j] + cS.get((i, j + 1), np.zeros(3))  # (4.10)
        for i in range(j):
            I2[i, j] = m[j] * skew(r[i, j]) @ skew(r[i, j]).T + I2.get((i, j + 1), zero)  # (4.5)
            I5[i, j] = skew(c[j]) @ skew(r[i, j]).T + I5.get((i, j + 1), zero)  # (4.8)
            for k_ in range(n - 1, j, -1):
                I3[i, j, k_] = skew(cstar[i, k_]) @ skew(r[j, k_]).T + I3.get((i, j, k_ + 1), zero)  # (4.6)
    IS = {}
    for i in range(n):
        IS[i, i] = I1[i]
        if i < n - 1:
            IS[i, i] = I1[i] + I2[i, i + 1] + I5[i, i + 1] + I5[i, i + 1].T  # (4.9)
        for j in range(i + 1, n):
            I4 = I3.get((i, j, j + 1), zero)  # (4.7)
            IS[i, j] = I1[j] + I4 + I5[i, j].T  # (4.9)
    return _assemble(chain, k.e, IS, cS, mS)


def kane_collapsed(chain, q):
    """Mass matrix by the recurrent algorithm without its triple sum."""
    n, k = chain.n, base_axes(chain, q)
    mS, cjj, Ijj = chain.m[n - 1], k.c[n - 1], k.I[n - 1]
    masses, c, inertia = {n - 1: mS}, {n - 1: cjj}, {n - 1: Ijj}
    for j in range(n - 2, -1, -1):
        r, c1, m1 = k.r[j + 1], c[j + 1], masses[j + 1]
        masses[j] = chain.m[j] + m1
        c[j] = k.c[j] + c1 + m1 * r  # (4.13)
        shift = skew(c1) @ skew(r).T
        inertia[j] = k.I[j] + inertia[j + 1] + shift + shift.T + m1 * skew(r) @ skew(r).T  # (4.13)
    IS, cS = {}, {}
    for j in range(n):
        r = np.zeros(3)
        for i in range(j, -1, -1):
            IS[i, j] = inertia[j] + skew(r) @ skew(c[j]).T  # (4.12)
            cS[i, j] = c[j] + masses[j] * r
            r = k.r[i] + r
    return _assemble(chain, k.e, IS, cS, masses)


def _assemble(chain, e, IS, cS, mS):
    """The four joint pairs of docs/chains.md, section 4."""
    n = chain.n
    A = np.zeros((n, n), dtype=np.result_type(*e))
    for i in range(n):
        for j in range(i, n):
            pair = chain.revolute[i], chain.revolute[j]
            if pair == (True, True):
                A[i, j] = e[i] @ IS[i, j] @ e[j]
            elif pair == (True, False):
                A[i, j] = e[i] @ np.cross(cS[i, j], e[j])
            elif pair == (False, True):
                A[i, j] = e[i] @ np.cross(e[j], cS[j, j])
            else:
                A[i, j] = mS[j] * (e[i] @ e[j])
            A[j, i] = A[i, j]
    return A


def kosynka(chain, q):
    """Mass matrix by the block-triangular form with stacked twists (v, om)."""
    n, k = chain.n, base_axes(chain, q)
    zero, E = np.zeros((3, 3)), np.eye(3)
    A = np.zeros((n, n), dtype=np.result_type(*k.e))
    U = {}
    for j in range(n):
        P = np.block([[E, skew(k.r[j]).T], [zero, E]])  # (7.1)
        for i in range(j):
            U[j, i] = P @ U[j - 1, i]  # (7.2)
        U[j, j] = np.concatenate([0 * k.e[j], k.e[j]] if chain.revolute[j] else [k.e[j], 0 * k.e[j]])  # (7.1)
        body = np.block([[chain.m[j] * E, skew(k.c[j]).T], [skew(k.c[j]), k.I[j]]])  # (7.3)
        for i in range(j + 1):
            for s in range(j + 1):
                A[i, s] += U[j, i] @ body @ U[j, s]  # (7.3)
    return A
