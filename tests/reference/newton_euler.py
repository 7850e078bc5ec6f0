"""Recursive Newton-Euler and composite bodies in body axes (Luh-Walker-Paul; Walker-Orin); numbers: docs/chains.md."""

import numpy as np

from .chain import base_axes, joint, skew


def _placements(chain, q):
    """C_j (components j-1 -> j) and r_j (in axes j-1)."""
    joints = [joint(chain, j, q[j]) for j in range(chain.n)]
    C = [alpha @ chain.gamma[j] for j, (alpha, _) in enumerate(joints)]
    r = [chain.l[j] + chain.gamma[j].T @ t for j, (_, t) in enumerate(joints)]
    return C, r


def reactions(chain, q, qd, qdd, force=None, moment=None, g=None):
    """Wrenches (F_j, M_j) that body j-1 applies to body j, about O_j, axes j; external ones in base axes at O_j."""
    n, m = chain.n, chain.m
    C, r = _placements(chain, q)
    tau = base_axes(chain, q).tau
    g = chain.g if g is None else g
    force = np.zeros((n, 3)) if force is None else force
    moment = np.zeros((n, 3)) if moment is None else moment
    om, dom, acc = np.zeros(3), np.zeros(3), -g
    own = []
    for j in range(n):
        a = chain.axis[j]
        acc = C[j] @ (acc + np.cross(dom, r[j]) + np.cross(om, np.cross(om, r[j])))  # (5.1)
        om_in, dom_in = C[j] @ om, C[j] @ dom
        if chain.revolute[j]:
            om = om_in + a * qd[j]  # (5.2)
            dom = dom_in + a * qdd[j] + np.cross(om_in, a * qd[j])  # (5.2)
        else:
            om, dom = om_in, dom_in  # (5.3)
            acc = acc + a * qdd[j] + 2 * np.cross(om, a * qd[j])  # (5.3)
        c, inertia = m[j] * chain.d[j], chain.I[j]
        F = m[j] * acc + np.cross(dom, c) + np.cross(om, np.cross(om, c)) - tau[j] @ force[j]  # (5.4)
        M = np.cross(c, acc) + inertia @ dom + np.cross(om, inertia @ om) - tau[j] @ moment[j]  # (5.5)
        own.append((F, M))
    out = [None] * n
    F_up, M_up = 0, 0
    for j in range(n - 1, -1, -1):
        F, M = own[j][0] + F_up, own[j][1] + M_up
        out[j] = np.concatenate([F, M])
        F_up = C[j].T @ F  # (5.4)
        M_up = C[j].T @ M + np.cross(r[j], F_up)  # (5.5)
    return np.array(out)


def rnea(chain, q, qd, qdd, force=None, moment=None, g=None):
    """Joint efforts Q."""
    wrench = reactions(chain, q, qd, qdd, force, moment, g)
    pairs = zip(chain.revolute, chain.axis, wrench, strict=True)
    return np.array([a @ (w[3:] if revolute else w[:3]) for revolute, a, w in pairs])  # (5.6)


def columns(chain, q):
    """Mass matrix by unit accelerations."""
    n = chain.n
    still, g = np.zeros(n), np.zeros(3)
    return np.stack([rnea(chain, q, still, unit, g=g) for unit in np.eye(n)], axis=-1)


def composite(chain, q):
    """Mass matrix by composite bodies."""
    n = chain.n
    C, r = _placements(chain, q)
    A = np.zeros((n, n), dtype=np.result_type(*C))
    m, c, inertia = 0, np.zeros(3), np.zeros((3, 3))
    for j in range(n - 1, -1, -1):
        m, c, inertia = m + chain.m[j], c + chain.m[j] * chain.d[j], inertia + chain.I[j]
        a = chain.axis[j]
        F, M = (np.cross(a, c), inertia @ a) if chain.revolute[j] else (m * a, np.cross(c, a))  # (6.1)
        for i in range(j, -1, -1):
            A[i, j] = A[j, i] = chain.axis[i] @ (M if chain.revolute[i] else F)  # (6.2)
            F = C[i].T @ F  # (6.2)
            M = C[i].T @ M + np.cross(r[i], F)  # (6.2)
        c1 = C[j].T @ c
        cross = skew(r[j]) @ skew(c1).T
        inertia = C[j].T @ inertia @ C[j] + cross + cross.T + m * skew(r[j]) @ skew(r[j]).T  # (6.3)
        c = c1 + m * r[j]  # (6.3)
    return A
