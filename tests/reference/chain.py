"""Data model and base-axes kinematics of a serial chain, Yaskevich (002); equation numbers of docs/chains.md."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np


@dataclass
class Serial:
    """A serial chain of N bodies; body j hangs on body j-1 through joint j (lists are indexed from 0).

    gamma maps components of frame j-1 to the joint frame o; l is given in frame j-1; axis in o (and in j);
    d and I (about the origin O_j, not the centre of mass) in frame j; g in base axes.
    """

    revolute: list
    l: np.ndarray  # noqa: E741, the paper's letter
    gamma: np.ndarray
    axis: np.ndarray
    m: np.ndarray
    d: np.ndarray
    I: np.ndarray  # noqa: E741, the paper's letter
    g: np.ndarray

    @property
    def n(self):
        return len(self.revolute)


def skew(a):
    """a~, so that a~ b = a x b."""
    x, y, z = a
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def complex_step(f, x, h=1e-30):
    """Derivative of f at x, directions last; exact to rounding because h*h vanishes beside 1."""
    x = np.asarray(x, dtype=float)
    steps = (x + 1j * h * unit for unit in np.eye(x.size))
    return np.stack([np.imag(f(step)) / h for step in steps], axis=-1)


def joint(chain, j, q):
    """alpha_j (components o -> j) and the sliding vector t_j (in o)."""
    a = chain.axis[j]
    if chain.revolute[j]:
        rotation = np.eye(3) + np.sin(q) * skew(a) + (1 - np.cos(q)) * skew(a) @ skew(a)
        return rotation.T, 0 * q * a
    return np.eye(3) + 0 * q, a * q


def base_axes(chain, q):
    """Orientation tau, step r from the previous origin, axis e, first moment c and inertia I in base axes."""
    tau_prev, origin = np.eye(3), np.zeros(3)
    k = SimpleNamespace(tau=[], r=[], e=[], c=[], I=[], origin=[])
    for j in range(chain.n):
        alpha, t = joint(chain, j, q[j])
        theta = chain.gamma[j] @ tau_prev  # (2.1)
        tau = alpha @ theta  # (2.2)
        r = tau_prev.T @ (chain.l[j] + chain.gamma[j].T @ t)  # (2.3)
        origin = origin + r
        k.tau.append(tau)
        k.r.append(r)
        k.e.append(theta.T @ chain.axis[j])  # (2.4)
        k.c.append(tau.T @ (chain.m[j] * chain.d[j]))  # (2.5)
        k.I.append(tau.T @ chain.I[j] @ tau)  # (2.5)
        k.origin.append(origin)
        tau_prev = tau
    return k


def rates(chain, k, qd):
    """Angular velocity om, velocity v of the origins and the accelerations eps, w at zero qdd."""
    zero = np.zeros(3)
    out = SimpleNamespace(om=[], v=[], eps=[], w=[])
    om, v, eps, w = zero, zero, zero, zero
    for j in range(chain.n):
        slide = k.e[j] * qd[j]
        wr, vr = (slide, zero) if chain.revolute[j] else (zero, slide)
        r = k.r[j]
        v = v + np.cross(om, r) + vr  # (2.7)
        w = w + np.cross(eps, r) + np.cross(om, np.cross(om, r)) + 2 * np.cross(om, vr)  # (2.9)
        eps = eps + np.cross(om, wr)  # (2.8)
        om = om + wr  # (2.6)
        for name, value in (("om", om), ("v", v), ("eps", eps), ("w", w)):
            getattr(out, name).append(value)
    return out


def body_wrenches(chain, k, qd, force=None, moment=None):
    """Inertial-plus-external wrenches fIE, mIE about the origins; force, moment: (N, 3) in base axes, no gravity."""
    m, s = chain.m, rates(chain, k, qd)
    force = np.zeros((chain.n, 3)) if force is None else force
    moment = np.zeros((chain.n, 3)) if moment is None else moment
    fIE, mIE = [], []
    for j in range(chain.n):
        om, eps, w, c, inertia = s.om[j], s.eps[j], s.w[j], k.c[j], k.I[j]
        fE = force[j] + m[j] * chain.g
        mE = moment[j] + np.cross(c, chain.g)
        fIE.append(fE - m[j] * w - np.cross(eps, c) - np.cross(om, np.cross(om, c)))  # (2.10)
        mIE.append(mE - np.cross(c, w) - inertia @ eps - np.cross(om, inertia @ om))  # (2.11)
    return fIE, mIE
