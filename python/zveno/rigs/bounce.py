"""One contact of a delayed loop, exact: the delay equation solved by steps, docs/rigs.md, (R4), (R5)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, as_amount, failing
from .given import amounts

__all__ = ["MOST_DAMPED", "restitution", "restitution_delay"]

MOST_DAMPED: Final = 10.0  # times the critical damping: beyond it terms of (R4) are too large for doubles
_LONGEST: Final = 60.0  # contacts, in units of 1/w0
_STEP: Final = 0.02


@lru_cache(maxsize=64)
def _series(zeta: float, order: int) -> tuple[Array, Array, Array]:
    """Number n of delays, power and coefficient of the terms of (R4) for w0 = v = 1."""
    numbers, powers, factors = [], [], []
    for n in range(order + 1):
        for j in range(n + 1 if zeta else 1):
            power = 2 * n + 1 - j
            logarithm = math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) - math.lgamma(power + 1)
            numbers.append(n)
            powers.append(power)
            factors.append((-1) ** n * math.exp(logarithm) * (2 * zeta) ** j)
    return np.array(numbers, dtype=float), np.array(powers, dtype=float), np.array(factors)


def _motion(zeta: float, delay: float, t: Array) -> tuple[Array, Array]:
    """Displacement and rate of the simulated body at times `t` (k,) of a contact, for w0 = v = 1."""
    latest = float(t.max())
    reach = max(1.0, 2 * zeta) * latest
    order = min(int(latest / delay) if delay > 0 else 10**6, int(3 * reach) + 24)
    n, power, factor = _series(zeta, order)
    since = np.maximum(t[:, None] - n * delay, 0.0)
    below = since ** (power - 1)
    return (factor * below * since).sum(axis=1), (factor * power * below).sum(axis=1)


def _ratio(zeta: float, delay: float) -> float:
    """e of (R5) for w0 = 1."""

    def force(t: Array) -> Array:
        x, v = _motion(zeta, delay, t)
        return np.asarray(x + 2 * zeta * v)

    start = _STEP
    while True:
        times = start + _STEP * np.arange(101.0)
        below = np.flatnonzero(force(times) <= 0)
        if below.size:
            break
        start = float(times[-1])
        if start > _LONGEST:
            return 0.0  # it never lets go
    end = float(times[below[0]])
    low, high = end - _STEP, end
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(force(np.array([middle]))[0]) > 0 else (low, middle)
    return -float(_motion(zeta, delay, np.array([high + delay]))[1][0])


def restitution(mass: ArrayLike, stiffness: ArrayLike, damping: ArrayLike, delay: ArrayLike) -> Array | float:
    """Restitution of one bounce in a rig with a delay: speed after contact by speed before it, exact.

    The simulated body of `mass` obeys m x'' + d x'(t-h) + k x(t-h) = 0 while the hardware touches. The hardware lets go
    where k x + d x' becomes zero; the body learns of it a delay later. Above 1 a bounce returns more energy than it
    took: the alarm of a rig.

    Parameters
    ----------
    mass : float or array, kg
        Reduced mass m_A m_B/(m_A + m_B) of the two bodies.
    stiffness, damping : float or array, N/m, N s/m
        Of the contact.
    delay : float or array, s
        Of the whole loop.

    Returns
    -------
    e : float, or array of the shape of all arguments broadcast

    Examples
    --------
    >>> import zveno as zv
    >>> zv.rigs.restitution(100.0, 1e4, 100.0, [0.0, 5e-3, 10e-3]).round(4)
    array([0.8588, 0.9291, 1.0055])
    """
    fail = failing("restitution")
    m, k, d, h = amounts(fail, mass=mass, stiffness=stiffness, damping=damping, delay=delay)
    for name, value in (("mass", m), ("stiffness", k)):
        if not (value > 0).all():
            fail(f"{name} is {value.min():g}, expected numbers > 0")
    w0 = np.sqrt(k / m)
    zeta, turn = d / (2 * m * w0), w0 * h
    if zeta.size and zeta.max() > MOST_DAMPED:
        fail(f"damping gives {zeta.max():.3g} of the critical one, expected at most {MOST_DAMPED:g}")
    if turn.size and turn.max() > 10:
        fail(f"delay times the natural frequency is {turn.max():.3g}, expected at most 10")
    e = np.array([_ratio(a, b) for a, b in zip(zeta.ravel().tolist(), turn.ravel().tolist(), strict=True)])
    return e.reshape(zeta.shape) if zeta.shape else float(e[0])


def restitution_delay(mass: float, stiffness: float, damping: float, longest: float) -> float:
    """Delay at which a bounce returns all its energy, e = 1; `longest`: the delay margin, s. nan above MOST_DAMPED."""
    fail = failing("restitution_delay")
    m = as_amount(mass, fail, "mass", positive=True)
    w0 = math.sqrt(as_amount(stiffness, fail, "stiffness", positive=True) / m)
    zeta = as_amount(damping, fail, "damping") / (2 * m * w0)
    if zeta == 0 or longest == 0:
        return 0.0
    if zeta > MOST_DAMPED:
        return math.nan
    if zeta < 1e-6:  # rounding of e is larger than what it differs by: (R5a)
        return longest * (1 - 2 / math.pi * zeta)
    low, high = 0.0, longest * w0
    while _ratio(zeta, high) < 1 and high < 5:
        low, high = high, 1.5 * high
    at_low, at_high = _ratio(zeta, low) - 1, _ratio(zeta, high) - 1
    kept = 0
    for _ in range(100):
        if high - low <= 1e-13 * high or at_low == at_high:
            break
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        value = _ratio(zeta, middle) - 1
        if value == 0:
            return middle / w0
        if value < 0:
            low, at_low = middle, value
            at_high = 0.5 * at_high if kept == 1 else at_high
            kept = 1
        else:
            high, at_high = middle, value
            at_low = 0.5 * at_low if kept == -1 else at_low
            kept = -1
        if abs(value) < 1e-14:
            return middle / w0
    return 0.5 * (low + high) / w0
