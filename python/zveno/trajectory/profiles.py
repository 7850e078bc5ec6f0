"""Motions from one configuration to another: quintic polynomials, trapezoids and S-curves of the rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _show, as_amount, as_array, failing
from .._rotation import shape_of
from ..errors import InfeasibleError
from .limits import Joints, as_chain, as_sizes
from .motion import Trajectory, of_arm, positions_within, require_joints
from .pieces import Pieces, joined

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["quintic", "s_curve", "trapezoid"]


def quintic(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    qd1: ArrayLike | None = None,
    qdd0: ArrayLike | None = None,
    qdd1: ArrayLike | None = None,
    arm: Chain | None = None,
) -> Trajectory:
    """Polynomial of degree five in time between two states; all joints start and stop together.

    From rest to rest q = q0 + D (10 x^3 - 15 x^4 + 6 x^5), x = t/T, D = q1 - q0: the motion of least integrated squared
    jerk. Its peaks are 15/8 D/T, 10/sqrt(3) D/T^2 and 60 D/T^3 (jerk, at the ends), so that the shortest duration is

        T = max( 15 D/(8 v), sqrt(10 D/(sqrt(3) a)), cbrt(60 D/j) ) over the joints.                               (T1)

    Parameters
    ----------
    q0, q1 : (n,) array, rad or m
        First and last coordinates.
    duration : float, s, optional
        Default: the shortest within the limits. Limits that it exceeds are an error.
    velocity, acceleration, jerk : float or (n,) array, rad/s or m/s, /s^2, /s^3
        Limits of sizes, optional.
    qd0, qd1, qdd0, qdd1 : (n,) array, rad/s or m/s, rad/s^2 or m/s^2
        Rates and accelerations at the ends; default: zero. With them, `duration` is needed.
    arm : Chain, optional
        Names the joints; its limits of position are checked, its velocity limits are the default of `velocity`.

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
    >>> move = zv.trajectory.quintic([0.0, 0.0], [1.0, -0.4], velocity=0.5, acceleration=2.0, jerk=10.0)
    >>> move.duration
    3.75
    >>> print(move.peaks().qd)
    [0.5 0.2]
    """
    who = "quintic"
    fail = failing(who)
    a, b, joints, chain = _ends(who, q0, q1, arm)
    n = len(a)
    v, acc, j = _sizes(fail, n, velocity, acceleration, jerk, chain)
    given = {"qd0": qd0, "qd1": qd1, "qdd0": qdd0, "qdd1": qdd1}
    v0, v1, a0, a1 = (
        np.zeros(n) if value is None else as_array(value, fail, name, (n,)) for name, value in given.items()
    )
    moving = any(np.any(x) for x in (v0, v1, a0, a1))
    way = np.abs(b - a)
    if duration is not None:
        T = as_amount(duration, fail, "duration", positive=True)
    elif moving:
        fail("duration is missing, expected a number > 0 s: with rates at the ends it does not follow from limits")
    else:
        with np.errstate(invalid="ignore"):
            times = [15 * way / (8 * v), np.sqrt(10 * way / (math.sqrt(3) * acc)), np.cbrt(60 * way / j)]
        T = _longest(fail, times, "velocity, acceleration, jerk")
    h = b - a
    terms = np.stack(
        [
            a,
            v0,
            a0 / 2,
            (20 * h - (8 * v1 + 12 * v0) * T - (3 * a0 - a1) * T**2) / (2 * T**3),
            (-30 * h + (14 * v1 + 16 * v0) * T + (3 * a0 - 2 * a1) * T**2) / (2 * T**4),
            (12 * h - 6 * (v1 + v0) * T + (a1 - a0) * T**2) / (2 * T**5),
        ]
    )
    made = _finite(fail, Trajectory(Pieces(np.array([0.0, T]), terms[None]), None, joints))
    return _checked(who, made, chain, v, acc, j, duration is not None)


def trapezoid(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    arm: Chain | None = None,
) -> Trajectory:
    """Constant acceleration, constant rate, constant deceleration; all joints start and stop together.

    A joint alone needs T = D/v + v/a where D >= v^2/a, else 2 sqrt(D/a). In the common time T of the slowest the others
    keep their acceleration and cruise at

        v' = 2 D/(T + sqrt(T^2 - 4 D/a)).                                                                          (T2)

    Parameters
    ----------
    q0, q1 : (n,) array, rad or m
    duration : float, s, optional
        Default: the shortest. A shorter one is an error.
    velocity, acceleration : float or (n,) array, rad/s or m/s, rad/s^2 or m/s^2
        Limits of sizes; the acceleration is needed.
    arm : Chain, optional
        Names the joints; its limits of position are checked, its velocity limits are the default of `velocity`.

    Returns
    -------
    trajectory : Trajectory
        The accelerations jump: its jerk is zero between the jumps.

    Examples
    --------
    >>> import zveno as zv
    >>> move = zv.trajectory.trapezoid([0.0, 0.0], [1.0, 0.5], velocity=[0.5, 1.0], acceleration=2.0)
    >>> move.duration
    2.25
    >>> print(move.peaks().qd.round(4), move.peaks().qdd)
    [0.5    0.2344] [2. 2.]
    """
    who = "trapezoid"
    fail = failing(who)
    a, b, joints, chain = _ends(who, q0, q1, arm)
    n = len(a)
    v, acc, _ = _sizes(fail, n, velocity, acceleration, None, chain)
    if not np.isfinite(acc).all():
        fail("acceleration is missing or infinite, expected a limit > 0 for each joint")
    way = np.abs(b - a)
    with np.errstate(invalid="ignore", over="ignore"):
        times = np.where(way >= v**2 / acc, way / v + v / acc, 2 * np.sqrt(way / acc))
    T = _common(who, joints, times, duration)
    cruise = 2 * way / (T + np.sqrt(np.maximum(T**2 - 4 * way / acc, 0.0)))
    ramp = np.minimum(cruise / acc, T / 2)
    parts = []
    for i in range(n):
        sign = np.sign(b[i] - a[i])
        segments = [(ramp[i], sign * cruise[i]), (T - 2 * ramp[i], sign * cruise[i]), (ramp[i], 0.0)]
        parts.append(_ramps(a[i], b[i], T, segments))
    return _checked(who, Trajectory(joined(parts), None, joints), chain, v, acc, np.full(n, np.inf), False)


def s_curve(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    arm: Chain | None = None,
) -> Trajectory:
    """The fastest motion from rest to rest within limits of rate, acceleration and jerk; joints go and stop together.

    Seven pieces of constant jerk +J, 0, -J, 0, -J, 0, +J. With Tj the time of a piece of jerk, Ta that of the whole
    acceleration and Tv that of the constant rate,

        Tj = min(a/j, sqrt(v/j)),  Ta = Tj + v/(j Tj),  Tv = D/v - Ta;                                             (T3)

    where Tv < 0 the rate v is not reached: Tj = a/j, Ta = Tj/2 + sqrt(Tj^2/4 + D/a), and if then Ta < 2 Tj neither is
    the acceleration: Tj = cbrt(D/(2 j)), Ta = 2 Tj. T = 2 Ta + Tv. Joints that could be faster than the slowest are
    slowed as a whole: their limits only get slack.

    Parameters
    ----------
    q0, q1 : (n,) array, rad or m
    duration : float, s, optional
        Default: the shortest. A shorter one is an error.
    velocity, acceleration, jerk : float or (n,) array, rad/s or m/s, /s^2, /s^3
        Limits of sizes; the jerk is needed.
    arm : Chain, optional
        Names the joints; its limits of position are checked, its velocity limits are the default of `velocity`.

    Returns
    -------
    trajectory : Trajectory

    Examples
    --------
    >>> import zveno as zv
    >>> move = zv.trajectory.s_curve([0.0], [1.0], velocity=0.5, acceleration=2.0, jerk=10.0)
    >>> move.duration.__round__(9)
    2.45
    >>> print(*(x.round(6) for x in move.peaks()))
    [0.5] [2.] [10.]
    """
    who = "s_curve"
    fail = failing(who)
    a, b, joints, chain = _ends(who, q0, q1, arm)
    n = len(a)
    v, acc, j = _sizes(fail, n, velocity, acceleration, jerk, chain)
    if not np.isfinite(j).all():
        fail("jerk is missing or infinite, expected a limit > 0 for each joint")
    way = np.abs(b - a)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        Tj = np.minimum(acc / j, np.sqrt(v / j))
        Ta = Tj + v / (j * Tj)
        Tv = way / v - Ta
        cruises = np.isfinite(v) & (Tv >= 0)
        Tj2 = np.where(np.isfinite(acc), acc / j, np.inf)
        Ta2 = Tj2 / 2 + np.sqrt(Tj2**2 / 4 + way / acc)
        triangle = ~(Ta2 >= 2 * Tj2) | ~np.isfinite(Tj2)
    Tj3 = np.cbrt(way / (2 * j))
    Tj = np.where(cruises, Tj, np.where(triangle, Tj3, Tj2))
    Ta = np.where(cruises, Ta, np.where(triangle, 2 * Tj3, Ta2))
    Tv = np.where(cruises, Tv, 0.0)
    alone = 2 * Ta + Tv
    T = _common(who, joints, alone, duration)
    parts = []
    for i in range(n):
        if way[i] == 0:
            parts.append(Pieces(np.array([0.0, T]), np.array([[[a[i]]]])))
            continue
        slow = T / alone[i]  # stretch of time
        tj, ta, tv = Tj[i] * slow, Ta[i] * slow, Tv[i] * slow
        peak = way[i] / (ta + tv)
        J = np.sign(b[i] - a[i]) * peak / (tj * (ta - tj))
        parts.append(_jerks(a[i], b[i], T, tj, ta - 2 * tj, tv, J))
    return _checked(who, Trajectory(joined(parts), None, joints), chain, v, acc, j, False)


# ---- pieces


def _ramps(q0: float, q1: float, T: float, segments: list[tuple[float, float]]) -> Pieces:
    """A joint whose rate is linear in each segment (time, rate at its end), from rest."""
    breaks, terms, q, rate = [0.0], [], q0, 0.0
    for time, end in segments:
        if time > 0:
            terms.append([q, rate, (end - rate) / (2 * time)])
            breaks.append(breaks[-1] + time)
            q += 0.5 * (rate + end) * time
        rate = end
    breaks[-1] = T
    return _meeting(Pieces(np.array(breaks), np.array(terms)[:, :, None]), q1)


def _jerks(q0: float, q1: float, T: float, tj: float, ta: float, tv: float, J: float) -> Pieces:
    """A joint with pieces of constant jerk +J, 0, -J, 0, -J, 0, +J, from rest."""
    breaks, terms, q, rate, acc = [0.0], [], q0, 0.0, 0.0
    for time, jerk in ((tj, J), (ta, 0.0), (tj, -J), (tv, 0.0), (tj, -J), (ta, 0.0), (tj, J)):
        if time > 1e-15 * T:
            terms.append([q, rate, acc / 2, jerk / 6])
            breaks.append(breaks[-1] + time)
            q += time * (rate + time * (acc / 2 + time * jerk / 6))
            rate += time * (acc + time * jerk / 2)
            acc += time * jerk
    breaks[-1] = T
    return _meeting(Pieces(np.array(breaks), np.array(terms)[:, :, None]), q1)


def _meeting(pieces: Pieces, q1: float) -> Pieces:
    """The pieces without the rounding errors of their sums: the way is scaled so that it ends in q1."""
    way = float(pieces(np.array(pieces.end))[0][0]) - pieces.coefficients[0, 0, 0]
    if way == 0:
        return pieces
    terms = np.array(pieces.coefficients)
    first = terms[0, 0, 0]
    terms[:, 0] -= first
    terms *= (q1 - first) / way
    terms[:, 0] += first
    return Pieces(pieces.breaks, terms)


# ---- arguments


def _ends(who: str, q0: Any, q1: Any, arm: Any) -> tuple[Array, Array, Joints, Any]:
    """First and last coordinates, the joints, and the arm."""
    fail = failing(who)
    chain = None if arm is None else as_chain(arm, who)
    n = None if chain is None else chain.n
    first = _configuration(q0, fail, "q0", n)
    last = _configuration(q1, fail, "q1", len(first))
    if chain is not None:
        require_joints(who, chain, len(first), "q0")
    return first, last, Joints.of(chain, len(first)), chain


def _configuration(value: Any, fail: Fail, what: str, n: int | None) -> Array:
    shape = shape_of(value)
    if len(shape) != 1 or shape[0] < 1 or (n is not None and shape[0] != n):
        came = f"has shape {shape}" if shape else f"is {_show(value)}"
        fail(f"{what} {came}, expected ({'n' if n is None else n},)")
    values = as_array(value, fail, what, shape)
    if not np.abs(values).max() < 1e100:
        fail(f"{what} is {_show(value)}, too large to compute with")
    return values


def _sizes(
    fail: Fail, n: int, velocity: Any, acceleration: Any, jerk: Any, chain: Chain | None
) -> tuple[Array, Array, Array]:
    if velocity is None and chain is not None:
        velocity = of_arm(chain.velocity_limit)
    return (
        as_sizes(velocity, fail, "velocity", n),
        as_sizes(acceleration, fail, "acceleration", n),
        as_sizes(jerk, fail, "jerk", n),
    )


def _longest(fail: Fail, times: list[Array], limits: str) -> float:
    T = float(np.max(times))
    if not T > 0:
        fail(
            "q0 and q1 are the same or no limit is given, expected a duration: "
            f"it does not follow from {limits} of a motion of zero length"
        )
    return T


def _common(who: str, joints: Joints, times: Array, duration: Any) -> float:
    """The time of the slowest joint, or a longer one that is asked for."""
    fail = failing(who)
    slowest = int(times.argmax())
    if duration is None:
        return _longest(fail, [times], "limits")
    T = as_amount(duration, fail, "duration", positive=True)
    if times[slowest] * (1 - 1e-12) > T:
        name = joints.names[slowest]
        raise InfeasibleError(
            f"{who}: duration is {T:.6g} s, joint '{name}' needs {times[slowest]:.6g} s within its limits",
            name, quantity="duration", value=T, limit=float(times[slowest]),
        )  # fmt: skip
    return max(T, float(times[slowest]))


def _finite(fail: Fail, made: Trajectory) -> Trajectory:
    if not np.isfinite(made._curve.coefficients).all():
        fail("duration and the way are too far apart to compute with")
    return made


def _checked(
    who: str, made: Trajectory, chain: Chain | None, v: Array, acc: Array, j: Array, limits: bool
) -> Trajectory:
    """The motion, within the limits of position of the arm and, if asked for, the others."""
    if chain is not None:
        positions_within(who, made._curve, chain, "t")
    if limits:
        try:
            made.check(velocity=v, acceleration=acc, jerk=j)
        except InfeasibleError as error:
            error.args = (str(error).replace("Trajectory.check", who, 1),)
            raise
    return made
