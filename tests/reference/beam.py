"""Timoshenko's beam, clamped at x = 0, by transfer of its state along x; Euler's is the limit of stiff shear.

State (w, psi, M, Q) of a motion in one plane at the frequency omega:
w' = psi + Q/(kappa G A), psi' = M/(E I), M' = -Q - omega^2 rho I psi, Q' = -omega^2 rho A w.
"""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

__all__ = ["cantilever_roots", "elastica", "frequencies"]


def cantilever_roots(count):
    """beta L of Euler's cantilever: cos(x) cosh(x) = -1."""
    shifted = [brentq(lambda x: math.cos(x) + 1 / math.cosh(x), r * math.pi, (r + 1) * math.pi) for r in range(count)]
    return np.array(shifted)


def _free_end(omega, length, EI, rhoA, rhoI, kGA, tip_mass, tip_inertia):
    """Determinant of the conditions at the free end; constants are functions of x."""

    def rates(x, flat):
        y = flat.reshape(4, 2)
        shear = y[3] / kGA(x) if kGA else 0.0
        bend = y[2] / EI(x)
        turn = -y[3] - omega**2 * rhoI(x) * y[1]
        return np.concatenate([y[1] + shear, bend, turn, -(omega**2) * rhoA(x) * y[0]])

    start = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    run = solve_ivp(rates, (0.0, length), start.ravel(), method="DOP853", rtol=1e-11, atol=1e-13)
    w, psi, M, Q = run.y[:, -1].reshape(4, 2)
    # a tip of mass m and inertia I about its centre, which is at the end: Q = omega^2 m w, M = omega^2 I psi
    return np.linalg.det(np.array([M - omega**2 * tip_inertia * psi, Q - omega**2 * tip_mass * w]))


def frequencies(count, length, EI, rhoA, rhoI=None, kGA=None, *, tip_mass=0.0, tip_inertia=0.0, start=0.3, factor=1.3):
    """The first frequencies, rad/s; EI, rhoA, rhoI, kGA are functions of x, None for no such term."""
    unit = math.sqrt(EI(length / 2) / (rhoA(length / 2) * length**4))
    constants = (length, EI, rhoA, rhoI or (lambda x: 0.0), kGA, tip_mass, tip_inertia)
    found, low = [], start * unit
    at_low = _free_end(low, *constants)
    while len(found) < count:
        high = factor * low
        at_high = _free_end(high, *constants)
        if at_low * at_high < 0:
            found.append(brentq(_free_end, low, high, args=constants, rtol=1e-12))
        low, at_low = high, at_high
    return np.array(found)


def elastica(load):
    """Tip (along, across)/L of a cantilever under a dead force across it, load = F L^2/(E I).

    theta'' = -load cos(theta), theta(0) = 0, theta'(1) = 0, by shooting for the curvature at the root.
    """

    def run(curvature):
        def rates(s, y):
            return [y[1], -load * math.cos(y[0]), math.cos(y[0]), math.sin(y[0])]

        start = [0.0, curvature, 0.0, 0.0]
        return solve_ivp(rates, (0.0, 1.0), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]

    # theta'^2 = 2 load (sin(end) - sin(theta)) bounds the curvature, the load's moment about the root does too
    curvature = brentq(lambda k: run(k)[1], 1e-9, min(load, math.sqrt(2 * load)), xtol=1e-14)
    return tuple(run(curvature)[2:])
