"""Stability maps of rigs over two of their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .._check import Array, _show, as_amount, as_integer, as_list, failing
from .._extras import optional
from .compensation import Compensation, as_compensations
from .margin import closed_form, refuse_without_margin
from .rig import Rig

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["StabilityMap", "chart"]

UNITS: Final = {"mass": "kg", "stiffness": "N/m", "damping": "N s/m", "delay": "s", "period": "s", "D0": "N s/m"}


@dataclass(frozen=True, eq=False)
class StabilityMap:
    """Delay that a rig bears over two of its numbers; made by `chart`.

    Attributes
    ----------
    rig : Rig
    over : pair of str
    first, second : (p,), (q,) array
        Values of the two numbers.
    limit : (p, q) array, s
        Delay at which the loop loses stability.
    delay : (p, q) array, s
        That it has, with the hold of the force.
    """

    rig: Rig
    over: tuple[str, str]
    first: Array
    second: Array
    limit: Array
    delay: Array

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Where the loop is stable, (p, q)."""
        return np.asarray(self.delay < self.limit)

    @property
    def ratio(self) -> Array:
        """Limit by delay, (p, q): above 1 stable."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.delay > 0, self.limit / self.delay, math.inf))

    def plot(self, ax: Any = None) -> Figure:
        """The map as a picture. Needs matplotlib (``zveno[plot]``).

        Examples
        --------
        >>> import zveno as zv
        >>> map = zv.rigs.chart(zv.rigs.Rig(100, 1e4, 100, delay=8e-3), points=12)
        >>> map.plot().axes[0].get_xlabel()
        'mass, kg'
        """
        figure: Figure = optional("zveno.plot.rigs", "StabilityMap.plot", "matplotlib").plot_map(self, ax)
        return figure


def chart(
    rig: Rig,
    over: Sequence[str] = ("mass", "stiffness"),
    *,
    span: float = 10.0,
    points: int = 40,
    compensation: Compensation | Sequence[Compensation] | None = None,
) -> StabilityMap:
    """Where a rig of one axis is stable, over two of its numbers.

    Parameters
    ----------
    rig : Rig
        In the middle of the map.
    over : two of "mass", "stiffness", "damping", "delay", "period", "D0"
        Those that the rig has as numbers > 0.
    span : float
        From 1/span to span times the values of the rig, on a logarithmic scale.
    points : int
        In each direction, 2 to 200.
    compensation : Lead, VirtualDamper or Predictor, or several of them

    Returns
    -------
    map : StabilityMap
        With ``plot()``.

    Examples
    --------
    >>> import zveno as zv
    >>> map = zv.rigs.chart(zv.rigs.Rig(100, 1e4, 100, delay=8e-3), over=("stiffness", "damping"), points=3)
    >>> map.stable  # soft and damped is stable
    array([[ True,  True,  True],
           [False,  True,  True],
           [False, False,  True]])
    """
    fail = failing("rigs.chart")
    if not isinstance(rig, Rig):
        raise TypeError(f"rigs.chart: rig is {_show(rig)}, expected a Rig")
    if rig.n != 1:
        fail(f"rig has {rig.n} axes, expected one")
    names = as_list(over)
    known = names is not None and len(names) == 2 and all(isinstance(name, str) and name in UNITS for name in names)
    if names is None or not known or names[0] == names[1]:
        fail(f"over is {_show(over)}, expected two of {', '.join(UNITS)}")
    factor = as_amount(span, fail, "span", positive=True)
    if not factor > 1:
        fail(f"span is {factor:g}, expected a number > 1")
    count = as_integer("rigs.chart", "points", points, 2, 200)
    compensations = as_compensations(compensation, fail)
    refuse_without_margin(compensations, fail)
    axes = []
    for name in names:
        middle = getattr(rig, name)
        if not middle:
            fail(f"{name} of the rig is {middle}, expected a number > 0 for the middle of the map")
        axes.append(middle * np.geomspace(1 / factor, factor, count))
    first, second = axes
    limit, delay = np.empty((count, count)), np.empty((count, count))
    bare = rig._bare and not compensations and "D0" not in names
    for i, a in enumerate(first.tolist()):
        for j, b in enumerate(second.tolist()):
            one = rig.with_(**{names[0]: a, names[1]: b})
            delay[i, j] = one.total_delay
            if bare:
                m, k, d = (np.asarray(float(x)) for x in (one.mass, one.stiffness, one.damping))
                limit[i, j] = closed_form(m, k, d)[0]
            else:
                limit[i, j] = one._margin(compensations)[0]
    return StabilityMap(rig, (names[0], names[1]), first, second, limit, delay)
