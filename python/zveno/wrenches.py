"""Wrenches at points: from what a contact gives to what the functions of a hexapod take."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ._check import Array, as_array, as_choice, common_lead
from ._rotation import as_rotation

__all__ = ["wrench_at"]


def wrench_at(
    point: ArrayLike,
    force: ArrayLike,
    moment: ArrayLike | None = None,
    axes: str = "base",
    *,
    r: ArrayLike | None = None,
    R: Any = None,
) -> Array:
    """Wrench on the ring of a hexapod, in the convention of all its functions, of a force at a point.

    All inputs are in one set of axes, named by `axes`; leading dimensions broadcast.

    Parameters
    ----------
    point : (..., 3) array, m
        Where the force acts: from the origin of the base in base axes, or from the ring's centre of mass in ring axes.
    force : (..., 3) array, N
    moment : (..., 3) array, N m, optional
        A couple besides the force; default: none.
    axes : {"base", "ring"}
        Axes of `point`, `force` and `moment`.
    r : (..., 3) array, m
        Centre of mass of the ring in base axes. Needed for ``axes="base"``.
    R : (..., 3, 3) array or another form of a rotation, see `Hexapod`
        Ring axes to base axes.

    Returns
    -------
    wrench : (..., 6) array
        [force in base axes, N; moment about the centre of mass in ring axes, N m], the ``wrench`` of
        `Hexapod.forward_dynamics`, `inverse_dynamics` and `simulate`.

    See Also
    --------
    Hexapod.origin : add it to points that are measured from the platform's own origin.

    Examples
    --------
    A push of 100 N along -x on the rim of the ring, 0.6 m from its axis:

    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> r, R = ring.nominal
    >>> zv.wrench_at((0.38, 0.6, 0), (-100, 0, 0), r=r, R=R)
    array([-100.,    0.,    0.,    0.,    0.,   60.])
    >>> zv.wrench_at((0, 0.6, 0), (-100, 0, 0), axes="ring", R=R)
    array([-100.,    0.,    0.,    0.,    0.,   60.])
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"wrench_at: {text}")

    as_choice(axes, fail, "axes", ("base", "ring"))
    if R is None:
        fail("R is missing, expected the rotation of the ring, ring axes to base axes")
    if axes == "base" and r is None:
        fail("r is missing, expected the centre of mass of the ring: a point in base axes needs it")
    p, f = as_array(point, fail, "point", (3,), lead=True), as_array(force, fail, "force", (3,), lead=True)
    couple = np.zeros(3) if moment is None else as_array(moment, fail, "moment", (3,), lead=True)
    centre = np.zeros(3) if r is None else as_array(r, fail, "r", (3,), lead=True)
    turn = as_rotation(R, fail, "R", lead=True)
    vectors = {"point": p, "force": f, "moment": couple, "r": centre}
    lead = common_lead(fail, {name: array.shape[:-1] for name, array in vectors.items()} | {"R": turn.shape[:-2]})
    with np.errstate(over="ignore", invalid="ignore"):
        if axes == "base":
            about = np.cross(p - centre, f) + couple
            parts = f, (turn.swapaxes(-1, -2) @ about[..., None])[..., 0]
        else:
            parts = (turn @ f[..., None])[..., 0], np.cross(p, f) + couple
    wrench = np.empty((*lead, 6))
    wrench[..., :3], wrench[..., 3:] = parts
    wrench += 0.0  # no negative zeros
    if not np.isfinite(wrench).all():
        fail("point and force are too large to compute with")
    return wrench
