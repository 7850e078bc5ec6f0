"""Numbers that users give of a rig."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .._check import LARGEST, SMALLEST, Array, Fail, _show, as_raw, common_lead

__all__ = ["amounts", "lags_of", "robots_of", "square"]

MOST_ELEMENTS: Final = 8  # of each kind; polynomials of many are no numbers any more


def _finite(value: object, fail: Fail, what: str) -> Array:
    array = as_raw(value, fail, what).astype(np.float64)
    if not np.isfinite(array).all() or (array.size and np.abs(array).max() > LARGEST):
        fail(f"{what} is {_show(array.tolist())}, expected finite numbers")
    if ((array != 0) & (np.abs(array) <= SMALLEST)).any():
        fail(f"{what} is {_show(array.tolist())}, too small to compute with")
    return array


def amounts(fail: Fail, **given: Any) -> tuple[Array, ...]:
    """Arrays of numbers >= 0, broadcast against each other."""
    arrays = {name: _finite(value, fail, name) for name, value in given.items()}
    for name, array in arrays.items():
        if array.size and array.min() < 0:
            fail(f"{name} is {array.min():g}, expected numbers >= 0")
    common_lead(fail, {name: array.shape for name, array in arrays.items()})
    return tuple(np.broadcast_arrays(*arrays.values()))


def square(value: object, fail: Fail, what: str, n: int | None = None) -> Array:
    """Matrices (..., n, n); a number 0 is the zero matrix."""
    array = _finite(value, fail, what)
    if n is not None and array.ndim == 0 and not array:
        return np.zeros((n, n))
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or (n is not None and array.shape[-1] != n):
        size = "n" if n is None else n
        fail(f"{what} has shape {array.shape}, expected ({size}, {size}) or (..., {size}, {size})")
    return array


def lags_of(value: object, fail: Fail) -> tuple[float, ...]:
    """Time constants of first-order lags: None, a number or several."""
    if value is None:
        return ()
    array = np.atleast_1d(_finite(value, fail, "lag"))
    if array.ndim != 1 or (array.size and array.min() < 0):
        fail(f"lag is {_show(value)}, expected a time >= 0, s, or several")
    if array.size > MOST_ELEMENTS:
        fail(f"lag has {array.size} times, expected at most {MOST_ELEMENTS}")
    return tuple(t for t in array.tolist() if t > 0)


def robots_of(value: object, fail: Fail) -> tuple[tuple[float, float], ...]:
    """Second-order elements: None, a pair (frequency, damping ratio) or several."""
    if value is None:
        return ()
    array = _finite(value, fail, "robot")
    if array.size == 0:
        return ()
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != 2 or array.min() <= 0:
        fail(f"robot is {_show(value)}, expected (frequency, damping ratio), rad/s and 1, both > 0")
    if len(array) > MOST_ELEMENTS:
        fail(f"robot has {len(array)} elements, expected at most {MOST_ELEMENTS}")
    return tuple((w, z) for w, z in array.tolist())
