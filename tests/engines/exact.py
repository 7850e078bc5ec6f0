"""Exact derivatives from values: coefficients of trigonometric polynomials.

Poses, Jacobians, inertias and joint efforts of a chain are trigonometric polynomials of degree two or less in every
angle, polynomials of degree two or less in every displacement, rate and acceleration. Five values determine those, and
their derivatives of any order to round-off.
"""

from collections import Counter
from math import factorial

import numpy as np

POINTS = 5
ANGLES = 2 * np.pi * np.arange(POINTS) / POINTS
STEPS = np.arange(POINTS) - POINTS // 2


def _stencil(order, angle):
    """Shifts, and the weights of the values there in the derivative at zero."""
    if not angle:
        wanted = factorial(order) * (np.arange(POINTS) == order)
        return STEPS, np.linalg.solve(STEPS ** np.arange(POINTS)[:, None], wanted)
    wave = STEPS[:, None]
    return ANGLES, ((1j * wave) ** order * np.exp(-1j * wave * ANGLES)).sum(axis=0).real / POINTS


def derivative(f, x, by, angle):
    """Derivative of f at x (n,) by the components `by`, which may repeat; angle[i]: x_i is an angle.

    f takes (count, n) and gives (count, ...).
    """
    x = np.asarray(x, dtype=float)
    points, weights = x[None], np.ones(1)
    for i, order in Counter(by).items():
        shifts, own = _stencil(order, angle[i])
        points = np.repeat(points, POINTS, axis=0)
        points[:, i] += np.tile(shifts, len(weights))
        weights = np.outer(weights, own).ravel()
    return np.tensordot(weights, np.asarray(f(points)), axes=1)


def angles(chain):
    """Which coordinates are angles."""
    return [kind == "revolute" for kind in chain.joint_types]
