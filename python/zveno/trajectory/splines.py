"""Cubic splines through via points: paths q(s) and motions q(t)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, as_array, as_choice, failing
from .limits import Joints, as_chain, as_points, as_sizes
from .motion import JointPath, Trajectory, positions_within, read_limits, require_joints
from .pieces import cubic

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["path", "spline"]


def path(
    points: ArrayLike,
    s: ArrayLike | None = None,
    *,
    ends: Literal["natural", "not-a-knot"] = "natural",
    weights: ArrayLike | None = None,
    arm: Chain | None = None,
) -> JointPath:
    """Curve through via points: the cubic spline q(s), twice continuously differentiable; two points: a straight line.

    Parameters
    ----------
    points : (k, n) array, rad or m
        Via points, k >= 2.
    s : (k,) array, optional
        Parameters of the points, increasing. Default: sums of the distances between them.
    ends : {"natural", "not-a-knot"}
        No second derivative at the ends; or one polynomial over the first two pieces and over the last two. Derivatives
        of zero at the ends, as of a `spline` in time, would leave the path without a direction there.
    weights : float or (n,) array, rad/s or m/s
        Distances are those of ``points / weights``: limits of rate make s a time. Default: 1.
    arm : Chain, optional
        Names the joints; its limits of position are checked, between the points too.

    Returns
    -------
    path : JointPath

    Raises
    ------
    InfeasibleError
        A limit of position is crossed: joint, value, limit, s.

    Examples
    --------
    >>> import zveno as zv
    >>> way = zv.trajectory.path([[0.3, 0.4], [0.9, -0.5], [1.4, 0.8], [0.6, 1.5]], s=[0, 1 / 3, 2 / 3, 1])
    >>> print(*(x.round(6) for x in way.at(0.25)[:3]))
    [ 0.730312 -0.480625] [ 1.92375 -1.4075 ] [ 2.43 25.38]
    """
    who = "path"
    fail = failing(who)
    chain = None if arm is None else as_chain(arm, who)
    rows = as_points(points, fail, "points", None)
    n = rows.shape[1]
    if chain is not None:
        require_joints(who, chain, n, "points")
    as_choice(ends, fail, "ends", ("natural", "not-a-knot"))
    scale = np.ones(n) if weights is None else as_sizes(weights, fail, "weights", n)
    if s is None:
        steps = np.linalg.norm(np.diff(rows, axis=0) / scale, axis=1)
        _require_ways(fail, rows, steps)
        knots = np.concatenate([[0.0], np.cumsum(steps)])
    else:
        knots = _increasing(s, fail, "s", rows)
        _require_ways(fail, rows, np.abs(np.diff(rows, axis=0)).max(axis=1), all_of_them=True)
    curve = cubic(knots, rows, ends)
    if chain is not None:
        positions_within(who, curve, chain, "s")
    return JointPath(curve, Joints.of(chain, n))


def spline(
    points: ArrayLike,
    times: ArrayLike | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    qd1: ArrayLike | None = None,
    arm: Chain | None = None,
) -> Trajectory:
    """Motion through via points: the cubic spline q(t), its accelerations continuous, with given rates at the ends.

    Parameters
    ----------
    points : (k, n) array, rad or m
        Via points, k >= 2.
    times : (k,) array, s, optional
        When the joints are there, increasing; the trajectory begins at the first, which is its time 0. Default: spaced
        by the largest of way / rate over the joints, then stretched as a whole to the shortest within the limits.
    velocity, acceleration, jerk, torque : float, (n,) or (2, n) array, rad/s or m/s, /s^2, /s^3; N m or N
        Limits, see `Trajectory.within`. With `times` given they are checked.
    qd0, qd1 : (n,) array, rad/s or m/s
        Rates at the ends; default: zero. Others than zero need `times`.
    arm : Chain, optional
        Names the joints; its limits of position are checked, between the points too; its velocity and effort limits
        are the defaults of `velocity` and `torque`.

    Returns
    -------
    trajectory : Trajectory

    Raises
    ------
    InfeasibleError
        A limit is exceeded: joint, value, limit, time.

    Examples
    --------
    >>> import zveno as zv
    >>> move = zv.trajectory.spline([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0]], [0.0, 1.0, 2.0])
    >>> print(*(x.round(4) for x in move.at(1.0)))
    [1.  0.5] [0.375 0.75 ] [-4.5  0. ] [ 8.25 -1.5 ]
    >>> zv.trajectory.spline([[0.0], [1.0], [0.5]], velocity=2.0, acceleration=8.0).duration.__round__(4)
    1.6771
    """
    who = "spline"
    fail = failing(who)
    chain = None if arm is None else as_chain(arm, who)
    rows = as_points(points, fail, "points", None)
    n = rows.shape[1]
    if chain is not None:
        require_joints(who, chain, n, "points")
    rates = {"qd0": qd0, "qd1": qd1}
    first, last = (np.zeros(n) if x is None else as_array(x, fail, name, (n,)) for name, x in rates.items())
    limits = read_limits(who, chain, n, velocity, acceleration, jerk, torque)
    options: dict[str, Any] = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "torque": torque}
    if times is not None:
        knots = _increasing(times, fail, "times", rows)
        knots = knots - knots[0]
    else:
        if np.any(first) or np.any(last):
            fail("times is missing, expected (k,) increasing: with rates at the ends it does not follow from limits")
        if not any(bounds.any for bounds in limits.values()):
            fail("times is missing, expected (k,) increasing or limits that they follow from")
        sizes = np.minimum(-limits["qd"].low, limits["qd"].high)
        ways = np.abs(np.diff(rows, axis=0))
        steps = (ways / np.where(np.isfinite(sizes), sizes, 1.0)).max(axis=1)
        _require_ways(fail, rows, steps)
        knots = np.concatenate([[0.0], np.cumsum(steps)])
    curve = cubic(knots, rows, "clamped", (first, last))
    if chain is not None:
        positions_within(who, curve, chain, "t")
    made = Trajectory(curve, None, Joints.of(chain, n))
    try:
        if times is None:
            return made.within(chain, **options)
        made.check(chain, **options)
    except ValueError as error:
        for name in ("Trajectory.within", "Trajectory.check"):
            if str(error).startswith(name):
                error.args = (who + str(error)[len(name) :],)
        raise
    return made


def _increasing(value: Any, fail: Fail, what: str, rows: Array) -> Array:
    """Numbers (k,) that increase from point to point."""
    knots = as_array(value, fail, what, (len(rows),))
    steps = np.diff(knots)
    if not (steps > 0).all():
        i = int((steps > 0).argmin())
        same = knots[i] == knots[i + 1]
        story = "contradict each other, two places at once" if same and (rows[i] != rows[i + 1]).any() else "turn back"
        if same and (rows[i] == rows[i + 1]).all():
            story = "are the same point twice"
        fail(
            f"{what}[{i}] = {knots[i]:g} and {what}[{i + 1}] = {knots[i + 1]:g} of points {i} and {i + 1} {story}, "
            "expected increasing numbers"
        )
    if not (steps > 1e-12 * (knots[-1] - knots[0])).all():
        i = int(steps.argmin())
        fail(f"{what}[{i}] and {what}[{i + 1}] differ by {steps[i]:g} only, too little to compute with")
    return knots


def _require_ways(fail: Fail, rows: Array, steps: Array, all_of_them: bool = False) -> None:
    """No two neighbours at one place; with `all_of_them` only: not all points at one place."""
    if not steps.max() > 0:
        fail(f"all {len(rows)} points are the same, expected a path of some length")
    if not all_of_them and not (steps > 1e-12 * steps.sum()).all():
        i = int(steps.argmin())
        fail(f"points {i} and {i + 1} are the same, expected different neighbours (or their parameters)")
