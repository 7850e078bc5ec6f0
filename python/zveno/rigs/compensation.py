"""What software does against the delay of a rig: docs/rigs.md, section 5."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._check import Array, Fail, _show, as_amount, as_number, failing, frozen
from .given import square

__all__ = [
    "Compensation",
    "Lead",
    "Passivity",
    "Predictor",
    "VirtualDamper",
    "as_compensations",
    "as_matrix_of",
    "refuse_other_size",
]


@dataclass(frozen=True)
class Lead:
    """Lead F + T F': the measured force continued by `time`. A lead as long as the delay is not quite enough.

    Parameters
    ----------
    time : float, s
    filter : float, s
        Time constant of the filter of F', 0 for none. A true sensor needs one.

    Examples
    --------
    >>> import zveno as zv
    >>> print(zv.rigs.delay_margin(mass=100, stiffness=1e4, compensation=zv.rigs.Lead(10e-3)))
    stable below 9.967 ms of delay, oscillates there with 10.03 rad/s
    """

    time: float
    filter: float = 0.0

    def __post_init__(self) -> None:
        fail = failing("Lead")
        object.__setattr__(self, "time", as_amount(self.time, fail, "time"))
        object.__setattr__(self, "filter", as_amount(self.filter, fail, "filter"))


def _amount_or_matrix(value: Any, fail: Fail, what: str) -> Any:
    """A number >= 0 or a read-only (n, n) array."""
    if np.ndim(value) == 0:
        return as_amount(value, fail, what)
    matrix = square(value, fail, what)
    if matrix.ndim > 2:
        fail(f"{what} has shape {matrix.shape}, expected (n, n)")
    return frozen(matrix)


@dataclass(frozen=True, eq=False)
class VirtualDamper:
    """A damper in the simulated body, in contact only: no delay holds it back. Wants about k h - d.

    Parameters
    ----------
    damping : float, N s/m, or (n, n) array for many axes

    Examples
    --------
    >>> import zveno as zv
    >>> print(zv.rigs.delay_margin(mass=100, stiffness=1e4, compensation=zv.rigs.VirtualDamper(80)))
    stable below 8.009 ms of delay, oscillates there with 9.984 rad/s
    """

    damping: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "damping", _amount_or_matrix(self.damping, failing("VirtualDamper"), "damping"))


@dataclass(frozen=True, eq=False)
class Predictor:
    """Smith's prediction: the force F + k x - k x(t-h) with a stiffness k of the contact that is believed.

    Of a stiffness believed too low a part k - k_true of the delay's push is left; believe rather too much.

    Parameters
    ----------
    stiffness : float, N/m, or (n, n) array for many axes
    delay : float, optional, s
        The delay that is believed; default: that of the rig.

    Examples
    --------
    >>> import zveno as zv
    >>> print(zv.rigs.delay_margin(mass=100, stiffness=1e4, compensation=zv.rigs.Predictor(1e4)))
    stable for every delay
    """

    stiffness: Any
    delay: float | None = None

    def __post_init__(self) -> None:
        fail = failing("Predictor")
        object.__setattr__(self, "stiffness", _amount_or_matrix(self.stiffness, fail, "stiffness"))
        if self.delay is not None:
            object.__setattr__(self, "delay", as_amount(self.delay, fail, "delay"))


@dataclass(frozen=True)
class Passivity:
    """Energy observer and passivity controller: what a contact returns beyond what it took is damped away.

    E += F v dt each period, F the force against the approach, v the speed of approach; where E < 0 a damper
    -E/(v^2 dt) takes the surplus: (R10). It never restores the damping of the contact, and it acts at the end of a
    bounce.

    Parameters
    ----------
    largest : float, N s/m
        Bound of the damper.
    slowest : float, m/s
        Below this speed it waits.

    Examples
    --------
    >>> import zveno as zv
    >>> rig = zv.rigs.Rig(mass=100, stiffness=1e4, delay=16e-3)
    >>> bare, kept = zv.rigs.simulate(rig), zv.rigs.simulate(rig, zv.rigs.Passivity())
    >>> print(round(bare.restitution, 2), round(kept.restitution, 2))
    1.28 1.0
    """

    largest: float = 1e9
    slowest: float = 1e-9

    def __post_init__(self) -> None:
        fail = failing("Passivity")
        object.__setattr__(self, "largest", as_amount(self.largest, fail, "largest", positive=True))
        object.__setattr__(self, "slowest", as_number(self.slowest, fail, "slowest"))
        if not self.slowest > 0:
            fail(f"slowest is {self.slowest:g}, expected a number > 0")


Compensation: TypeAlias = Lead | VirtualDamper | Predictor | Passivity

_KINDS = (Lead, VirtualDamper, Predictor, Passivity)


def as_compensations(value: object, fail: Fail) -> tuple[Compensation, ...]:
    """None, one or several, at most one of a kind."""
    if value is None:
        return ()
    listed = [value] if isinstance(value, _KINDS) else list(value) if isinstance(value, Iterable) else None
    names = "Lead, VirtualDamper, Predictor or Passivity"
    if listed is None or not all(isinstance(item, _KINDS) for item in listed):
        fail(f"compensation is {_show(value)}, expected a {names}, or several")
    if len({type(item) for item in listed}) < len(listed):
        fail(f"compensation is {_show(value)}, expected at most one of each kind")
    return tuple(item for item in listed if isinstance(item, _KINDS))


def as_matrix_of(value: Any, n: int) -> Array:
    """A number as a multiple of the unit matrix, a matrix as it is."""
    return np.asarray(value * np.eye(n) if np.ndim(value) == 0 else value)


def refuse_other_size(compensations: Iterable[Compensation], n: int, fail: Fail) -> None:
    """Dampers and predictors of n axes: matrices (n, n), of one axis numbers."""
    for item in compensations:
        if isinstance(item, VirtualDamper | Predictor):
            value, name = (
                (item.damping, "damping") if isinstance(item, VirtualDamper) else (item.stiffness, "stiffness")
            )
            shape = np.shape(value)
            if shape not in ((), (1, 1)) if n == 1 else shape != (n, n):
                expected = "a number" if n == 1 else f"({n}, {n})"
                fail(f"{name} of {type(item).__name__} has shape {shape}, expected {expected}")
