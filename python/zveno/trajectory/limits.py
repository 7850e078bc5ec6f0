"""Limits of joints, their names and units, as arguments give them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from .. import _core
from .._check import Array, Fail, _show, as_array, as_raw
from .._rotation import shape_of

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["Bounds", "Joints", "as_bounds", "as_chain", "as_places", "as_points", "as_sizes"]

UNITS: Final = {
    "q": ("rad", "m", ""),
    "qd": ("rad/s", "m/s", "velocity"),
    "qdd": ("rad/s^2", "m/s^2", "acceleration"),
    "jerk": ("rad/s^3", "m/s^3", "jerk"),
    "tau": ("N m", "N", "torque"),
}


class Joints(NamedTuple):
    """Names of joints, and which of them turn; None where nobody said."""

    names: tuple[str, ...]
    turns: tuple[bool, ...] | None

    @classmethod
    def of(cls, chain: Chain | None, n: int) -> Joints:
        if chain is None:
            return cls(tuple(f"joint{i + 1}" for i in range(n)), None)
        return cls(chain.joint_names, tuple(kind != "prismatic" for kind in chain.joint_types))

    def unit(self, quantity: str, joint: int) -> str:
        turning, sliding, _ = UNITS[quantity]
        if self.turns is None:
            return f"{turning} or {sliding}"
        return turning if self.turns[joint] else sliding

    def amount(self, quantity: str, joint: int, value: float) -> str:
        return f"{value:.6g} {self.unit(quantity, joint)}"


class Bounds(NamedTuple):
    """Least and largest values (n,), infinite where there is no limit."""

    low: Array
    high: Array

    @property
    def any(self) -> bool:
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @property
    def size(self) -> Array:
        """What excesses are compared with (n,)."""
        sizes = [np.where(np.isfinite(x), np.abs(x), 0.0) for x in self]
        return np.asarray(np.maximum(np.maximum(*sizes), 1e-300))


def as_chain(value: object, who: str) -> Any:
    """A chain, or a TypeError."""
    if not isinstance(value, _core.Chain):
        raise TypeError(f"{who}: arm is {_show(value)}, expected a Chain")
    return value


def as_sizes(value: object, fail: Fail, what: str, n: int, *, needed: bool = False) -> Array:
    """Limits > 0 of n joints, (n,): one number for all or one for each; infinite where None."""
    if value is None:
        if needed:
            fail(f"{what} is missing, expected one limit > 0 for all joints or {n}, one for each")
        return np.full(n, np.inf)
    sizes = _numbers(value, fail, what, n, ((), (n,)))
    if not (sizes > 0).all():
        fail(f"{what} is {_show(value)}, expected limits > 0")
    return np.array(np.broadcast_to(sizes, (n,)))


def as_bounds(value: object, fail: Fail, what: str, n: int, *, around_zero: bool = True) -> Bounds:
    """Limits of n joints: sizes, or (2, n) with the least and the largest values; None: no limits."""
    if value is None:
        return Bounds(np.full(n, -np.inf), np.full(n, np.inf))
    numbers = _numbers(value, fail, what, n, ((), (n,), (2, n)))
    if numbers.ndim == 2:
        low, high = np.array(numbers)
        if not (low < high).all() or (around_zero and not ((low < 0) & (high > 0)).all()):
            wanted = "the least < 0 < the largest" if around_zero else "the least < the largest"
            fail(f"{what} is {_show(value)}, expected {wanted} of each joint")
        return Bounds(low, high)
    if not (numbers > 0).all():
        fail(f"{what} is {_show(value)}, expected limits > 0, or the least and the largest values of shape (2, {n})")
    return Bounds(-np.array(np.broadcast_to(numbers, (n,))), np.array(np.broadcast_to(numbers, (n,))))


def _numbers(value: object, fail: Fail, what: str, n: int, shapes: tuple[tuple[int, ...], ...]) -> Array:
    """Numbers of one of the shapes; infinite ones are no limit."""
    expected = " or ".join(map(str, shapes))
    raw = as_raw(value, fail, what, lambda: f" of shape {expected}")
    if raw.shape not in shapes:
        fail(f"{what} has shape {raw.shape}, expected {expected} for {n} joints")
    numbers = raw.astype(np.float64)
    if np.isnan(numbers).any():
        fail(f"{what} is {_show(value)}, expected no nan")
    return numbers


def as_places(value: object, fail: Fail, what: str) -> Array:
    """Finite numbers of any shape: times, places on a path."""
    shape = shape_of(value)
    return np.reshape(as_array(value, fail, what, shape), shape)


def as_points(value: object, fail: Fail, what: str, n: int | None, least: int = 2) -> Array:
    """Points (k, n) with k >= `least`; of one joint also (k,)."""
    shape = shape_of(value)
    wanted = f"({least} or more, {'n' if n is None else n})"
    if len(shape) == 1 and shape[0] > 0 and n in (None, 1):
        value, shape = np.reshape(np.asarray(value), (-1, 1)), (shape[0], 1)
    if len(shape) != 2 or shape[0] < least or shape[1] < 1 or (n is not None and shape[1] != n):
        came = f"has shape {shape}" if shape else f"is {_show(value)}"
        fail(f"{what} {came}, expected {wanted}")
    points = as_array(value, fail, what, shape)
    largest = float(np.abs(points).max())
    if not largest < math.sqrt(1e200):
        fail(f"{what} has {largest:g}, too large to compute with")
    return points
