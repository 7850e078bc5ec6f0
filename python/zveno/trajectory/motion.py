"""Motions of joints: `JointPath`, a curve q(s), and `Trajectory`, a motion q(t)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _show, as_amount, as_integer, failing, frozen
from .._extras import optional
from ..errors import InfeasibleError
from .limits import UNITS, Bounds, Joints, as_bounds, as_chain, as_places
from .pieces import Pieces

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain

__all__ = ["JointPath", "MotionPeaks", "MotionState", "PathState", "Trajectory"]

_ROUNDING: Final = 1e-9  # of limits, which a motion may touch
_SAMPLES: Final = 2000  # where there is no polynomial to ask


class MotionState(NamedTuple):
    """Coordinates of joints and their derivatives by time, (..., n) each."""

    q: Array
    qd: Array
    qdd: Array
    jerk: Array


class PathState(NamedTuple):
    """Coordinates of joints on a path and their derivatives by its parameter s, (..., n) each."""

    q: Array
    dq: Array
    ddq: Array
    dddq: Array


class MotionPeaks(NamedTuple):
    """Largest sizes of rates, accelerations and jerks of the joints, (n,) each."""

    qd: Array
    qdd: Array
    jerk: Array


class JointPath:
    """A curve q(s) of joint coordinates, twice continuously differentiable; made by `path` and `joint_path`.

    Attributes
    ----------
    n : int
        Number of joints.
    start, end : float
        First and last parameter s.
    breaks : (k + 1,) array
        Parameters where one polynomial ends and the next begins.
    deviation : float, rad or m
        How far it is from what it interpolates, as far as that was measured; else 0.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> way = zv.trajectory.path([[0.0, 0.0], [1.0, 0.5], [1.5, 2.0]])
    >>> way
    JointPath of 2 joints: s from 0 to 2.69917, 2 pieces
    >>> way.at(way.breaks[1]).q.round(9) + 0.0
    array([1. , 0.5])
    """

    __slots__ = ("_curve", "_joints", "deviation")

    _curve: Pieces
    _joints: Joints
    deviation: float

    def __init__(self, curve: Pieces, joints: Joints, deviation: float = 0.0) -> None:
        self._curve, self._joints, self.deviation = curve, joints, deviation

    @property
    def n(self) -> int:
        return self._curve.n

    @property
    def start(self) -> float:
        return self._curve.start

    @property
    def end(self) -> float:
        return self._curve.end

    @property
    def breaks(self) -> Array:
        return self._curve.breaks

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self._joints.names

    def at(self, s: ArrayLike) -> PathState:
        """Coordinates and their derivatives by s.

        Parameters
        ----------
        s : float or (...) array
            From `start` to `end`.

        Returns
        -------
        state : PathState
            ``q``, ``dq``, ``ddq`` and ``dddq``, (..., n).

        Examples
        --------
        >>> import zveno as zv
        >>> way = zv.trajectory.path([[0.0, 0.0], [1.0, 0.5], [1.5, 2.0]])
        >>> way.at(way.end).q
        array([1.5, 2. ])
        """
        fail = failing("JointPath.at")
        given = as_places(s, fail, "s")
        rounding = 1e-12 * (self.end - self.start)
        if not ((given >= self.start - rounding) & (given <= self.end + rounding)).all():
            fail(f"s is {_show(s)}, expected numbers from {self.start:g} to {self.end:g}")
        return PathState(*self._curve(given, 3))

    def check(self, arm: Chain) -> None:
        """Raise `InfeasibleError` if the path leaves the limits of position of an arm: joint, value and place.

        Parameters
        ----------
        arm : Chain
            Its `lower` and `upper` count.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.puma560()
        >>> zv.trajectory.path([[0.0] * 6, [0.5] * 6]).check(arm)  # inside: nothing is said
        """
        chain = as_chain(arm, "JointPath.check")
        require_joints("JointPath.check", chain, self.n, "the path")
        positions_within("JointPath.check", self._curve, chain, "s")

    def timed(self, law: Trajectory | float) -> Trajectory:
        """The motion along the path under a law of time s(t).

        Parameters
        ----------
        law : float, s, or Trajectory
            Duration of the motion from rest to rest s = start + (end - start) (10 x^3 - 15 x^4 + 6 x^5), x = t/T; or a
            trajectory of one joint that goes from `start` to `end`.

        Returns
        -------
        trajectory : Trajectory
            qd = q' s', qdd = q'' s'^2 + q' s''. `Trajectory.within` fits its duration to limits.

        Examples
        --------
        >>> import zveno as zv
        >>> way = zv.trajectory.path([[0.0, 0.0], [1.0, 0.5], [1.5, 2.0]])
        >>> way.timed(2.0).within(velocity=1.0, acceleration=3.0, jerk=40.0).duration.__round__(4)
        4.5096
        >>> steady = zv.trajectory.trapezoid([way.start], [way.end], velocity=0.5, acceleration=2.0)
        >>> way.timed(steady).at(steady.duration / 2).qd.round(4)
        array([0.2585, 0.3873])
        """
        who = "JointPath.timed"
        fail = failing(who)
        if isinstance(law, Trajectory):
            if law.n != 1:
                fail(f"law has {law.n} joints, expected a trajectory of one, s(t)")
            ends = law.at([0.0, law.duration]).q[:, 0]
            if np.abs(ends - [self.start, self.end]).max() > 1e-9 * (self.end - self.start):
                fail(f"law goes from {ends[0]:g} to {ends[1]:g}, expected s from {self.start:g} to {self.end:g}")
            if law._law is not None:
                fail("law is itself a motion along a path, expected a trajectory of polynomials in time")
            low, high, *_ = law._curve.peaks(0)
            rounding = 1e-9 * (self.end - self.start)
            if low[0] < self.start - rounding or high[0] > self.end + rounding:
                fail(f"law leaves the path: s from {low[0]:g} to {high[0]:g}, expected {self.start:g} to {self.end:g}")
            return Trajectory(self._curve, law._curve, self._joints)
        duration = as_amount(law, fail, "law", positive=True)
        way = self.end - self.start
        terms = np.array([self.start, 0.0, 0.0, 10 * way, -15 * way, 6 * way]) / duration ** np.arange(6.0)
        return Trajectory(self._curve, Pieces(np.array([0.0, duration]), terms[None, :, None]), self._joints)

    def __repr__(self) -> str:
        pieces = len(self.breaks) - 1
        return (
            f"JointPath of {self.n} joint{'s' * (self.n > 1)}: s from {self.start:g} to {self.end:g}, "
            f"{pieces} piece{'s' * (pieces > 1)}"
        )


class Trajectory:
    """A motion of joints in time, from 0 to `duration`; made by the functions of `zveno.trajectory`.

    Call it with times for ``(q, qd, qdd)``, the arguments of `Chain.inverse_dynamics` and the references of
    `zveno.control.ComputedTorque`. Before 0 and after `duration` the joints stand at the ends.

    Attributes
    ----------
    n : int
        Number of joints.
    duration : float, s
    joint_names : tuple of str
    breaks : (k + 1,) array, s
        Times where one polynomial ends and the next begins.
    excess : float
        Of a time-optimal motion: by which part of a limit it is exceeded between nodes; else 0.

    Examples
    --------
    Torques, and a simulation that follows the motion:

    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> move = zv.trajectory.quintic([0.0, 0.0], [1.0, -0.5], velocity=2.0, arm=arm)
    >>> move
    Trajectory of 2 joints, 0.9375 s
    >>> t = np.linspace(0.0, move.duration, 5)
    >>> arm.inverse_dynamics(*move(t)).shape
    (5, 2)
    >>> control = zv.control.ComputedTorque(arm, kp=400.0, kd=40.0)
    >>> run = arm.simulate(1.0, 1e-3, tau=control.follow(move), hold=1e-3)
    >>> bool(abs(run.q - move.at(run.t).q).max() < 1e-3)
    True
    """

    __slots__ = ("_curve", "_joints", "_law", "excess")

    _curve: Pieces  # q(t), or q(s) where there is a law s(t)
    _law: Pieces | None
    _joints: Joints
    excess: float

    def __init__(self, curve: Pieces, law: Pieces | None, joints: Joints, excess: float = 0.0) -> None:
        self._curve, self._law, self._joints, self.excess = curve, law, joints, excess

    @property
    def n(self) -> int:
        return self._curve.n

    @property
    def breaks(self) -> Array:
        return self._timed.breaks

    @property
    def duration(self) -> float:
        return self._timed.end

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self._joints.names

    @property
    def _timed(self) -> Pieces:
        return self._curve if self._law is None else self._law

    def at(self, t: ArrayLike) -> MotionState:
        """Coordinates, rates, accelerations and jerks at any times.

        Parameters
        ----------
        t : float or (...) array, s
            Outside of 0 to `duration` the joints stand at the nearer end.

        Returns
        -------
        state : MotionState
            ``q``, ``qd``, ``qdd`` and ``jerk``, (..., n). Where accelerations jump, the jerk is that of the later side.

        Examples
        --------
        >>> import zveno as zv
        >>> move = zv.trajectory.quintic([0.0], [1.0], 2.0)
        >>> print(*(x.round(4) for x in move.at(1.0)))
        [0.5] [0.9375] [0.] [-3.75]
        """
        times = as_places(t, failing("Trajectory.at"), "t")
        return MotionState(*self._at(times))

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return (q, qd, qdd) at times t (...), s; see `at`."""
        times = as_places(t, failing("Trajectory"), "t")
        q, qd, qdd = self._at(times, 2)
        return q, qd, qdd

    def _at(self, times: Array, order: int = 3) -> list[Array]:
        values = self._on(np.clip(times, 0.0, self.duration), order)
        rounding = 1e-12 * self.duration
        out = (times < -rounding) | (times > self.duration + rounding)
        if out.any():
            values[1:] = [np.where(out[..., None], 0.0, value) for value in values[1:]]
        return values

    def _on(self, times: Array, order: int) -> list[Array]:
        if self._law is None:
            return self._curve(times, order)
        s, *rates = self._law(times, order)
        return chained(self._curve(s[..., 0], order), rates)

    def path_parameter(self, t: ArrayLike) -> Array:
        """Place s on the path at times t (...), s; of motions along a path.

        Examples
        --------
        >>> import zveno as zv
        >>> way = zv.trajectory.path([[0.0, 0.0], [1.0, 0.5], [1.5, 2.0]])
        >>> way.timed(2.0).path_parameter([0.0, 2.0]) - [way.start, way.end]
        array([0.0000000e+00, 8.8817842e-16])
        """
        if self._law is None:
            raise ValueError("Trajectory.path_parameter: the motion was not made along a path")
        times = as_places(t, failing("Trajectory.path_parameter"), "t")
        return self._law(np.clip(times, 0.0, self.duration))[0][..., 0]

    def sample(self, count: int = 200) -> tuple[Array, MotionState]:
        """Equally spaced times (count,), ends included, and the states there.

        Examples
        --------
        >>> import zveno as zv
        >>> t, motion = zv.trajectory.quintic([0.0], [1.0], 2.0).sample(3)
        >>> t, motion.q[:, 0]
        (array([0., 1., 2.]), array([0. , 0.5, 1. ]))
        """
        times = np.linspace(0.0, self.duration, as_integer("Trajectory.sample", "count", count, 2, 10**8))
        return times, MotionState(*self._on(times, 3))

    def peaks(self) -> MotionPeaks:
        """Largest sizes of rates, accelerations and jerks: exact for polynomials in time, sampled for paths.

        Where accelerations jump the jerk has no size; what is given is that between the jumps.

        Examples
        --------
        >>> import zveno as zv
        >>> print(*(x.round(4) for x in zv.trajectory.quintic([0.0], [1.0], 1.0).peaks()))
        [1.875] [5.7735] [60.]
        """
        return MotionPeaks(*(np.maximum(-low, high) for low, high, *_ in map(self._extremes, (1, 2, 3))))

    def _extremes(self, order: int) -> tuple[Array, Array, Array, Array]:
        """Least and largest values (n,) of a derivative, and when."""
        if self._law is None:
            return self._curve.peaks(order)
        times = self._instants()
        values = self._on(times, order)[order]
        low, high, columns = values.argmin(axis=0), values.argmax(axis=0), np.arange(self.n)
        return values[low, columns], values[high, columns], times[low], times[high]

    def _instants(self) -> Array:
        """Times to look at: many between breaks, and both sides of each."""
        breaks = self.breaks
        if self._law is not None:
            breaks = np.union1d(breaks, _inverse(self._law, self._curve.breaks[1:-1]))
        each = max(8, _SAMPLES // len(breaks))
        inside = np.linspace(0.0, 1.0, each, endpoint=False)[1:]
        between = (breaks[:-1, None] + np.diff(breaks)[:, None] * inside).ravel()
        tiny = 1e-9 * self.duration
        sides = np.clip(np.concatenate([breaks - tiny, breaks, breaks + tiny]), 0.0, self.duration)
        return np.union1d(between, sides)

    def stretched(self, duration: float) -> Trajectory:
        """The same motion in another time: rates go with 1/T, accelerations with 1/T^2, jerks with 1/T^3.

        Parameters
        ----------
        duration : float, s

        Examples
        --------
        >>> import zveno as zv
        >>> move = zv.trajectory.quintic([0.0], [1.0], 1.0)
        >>> move.stretched(2.0).peaks().qd
        array([0.9375])
        """
        wanted = as_amount(duration, failing("Trajectory.stretched"), "duration", positive=True)
        return self._scaled(wanted / self.duration)

    def _scaled(self, factor: float) -> Trajectory:
        if self._law is None:
            return Trajectory(self._curve.stretched(factor), None, self._joints)
        return Trajectory(self._curve, self._law.stretched(factor), self._joints)

    def within(
        self,
        arm: Chain | None = None,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        torque: ArrayLike | None = None,
    ) -> Trajectory:
        """The same motion in the shortest time that limits allow, stretched or shortened as a whole.

        With k = T/T_old the rates are qd/k, the accelerations qdd/k^2, the jerks qddd/k^3 and the efforts
        c + d/k + b/k^2: c carries the weight, d is viscous friction, b the rest.

        Parameters
        ----------
        arm : Chain, optional
            Its velocity and effort limits count where `velocity` or `torque` is not given; needed for `torque`.
        velocity, acceleration, jerk, torque : float, (n,) or (2, n) array
            Sizes, or the least and the largest values: rad/s or m/s, /s^2, /s^3; N m or N.

        Returns
        -------
        trajectory : Trajectory

        Raises
        ------
        InfeasibleError
            The arm cannot even stand on the path: joint, time (of this trajectory), effort and limit.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.two_link()
        >>> swing = zv.trajectory.quintic([1.2, 0.0], [2.0, 0.3], 1.0)
        >>> swing.within(arm, torque=[15.0, 6.0]).duration.__round__(3)
        0.812
        """
        who = "Trajectory.within"
        limits = read_limits(who, arm, self.n, velocity, acceleration, jerk, torque)
        if not any(bounds.any for bounds in limits.values()):
            failing(who)("no limit is given, expected velocity, acceleration, jerk or torque")
        if limits["jerk"].any:
            self._require_smooth(who)
        pace = np.inf  # of the new motion over the old one, 1/k
        for quantity, order in (("qd", 1), ("qdd", 2), ("jerk", 3)):
            if limits[quantity].any:
                low, high, *_ = self._extremes(order)
                worst = max(_share(high, limits[quantity].high), _share(low, limits[quantity].low))
                if worst > 0:
                    pace = min(pace, worst ** (-1 / order))
        if limits["tau"].any:
            pace = self._torque_pace(who, as_chain(arm, who), limits["tau"], pace)
        if not np.isfinite(pace):
            failing(who)("the limits do not bound the speed of this motion, expected one that does")
        return self._scaled(1 / pace)

    def _require_smooth(self, who: str) -> None:
        """Raise `InfeasibleError` if accelerations jump inside the motion, so that no limit of jerk can be kept."""
        pieces = self._timed
        if len(pieces.breaks) < 3:
            return
        i, none = np.arange(len(pieces.breaks) - 2), np.zeros(len(pieces.breaks) - 2)
        before, after = pieces.on(i, np.diff(pieces.breaks)[:-1], 2)[2], pieces.on(i + 1, none, 2)[2]
        jump = np.abs(after - before).max(axis=1)
        k = int(jump.argmax())
        if jump[k] > 1e-6 * max(np.abs(before).max(), np.abs(after).max()):
            time = float(pieces.breaks[k + 1])
            raise InfeasibleError(
                f"{who}: accelerations jump at t = {time:.6g} s, no limit of jerk can be kept, expected a motion with "
                "continuous accelerations (s_curve, quintic, spline, path.timed)",
                quantity="jerk", value=math.inf, time=time, q=self._on(np.array(time), 0)[0],
            )  # fmt: skip

    def _torque_pace(self, who: str, arm: Chain, bounds: Bounds, pace: float) -> float:
        """The largest pace up to one at which efforts c + d pace + b pace^2 keep their bounds at all times."""
        times = self._instants()
        q, qd, qdd = self._on(times, 2)
        rest = np.zeros_like(q)
        c = arm.inverse_dynamics(q, rest, rest)
        forward, backward = arm.inverse_dynamics(q, qd, qdd), arm.inverse_dynamics(q, -qd, qdd)
        b, d = 0.5 * (forward + backward) - c, 0.5 * (forward - backward)
        for room, sign in ((bounds.high - c, 1.0), (c - bounds.low, -1.0)):
            if (room < 0).any():
                i, j = np.unravel_index(room.argmin(), room.shape)
                limit = float((bounds.high if sign > 0 else bounds.low)[j])
                name, value = self._joints.names[j], float(c[i, j])
                raise InfeasibleError(
                    f"{who}: joint '{name}' cannot hold the arm at t = {times[i]:.6g} s: it needs "
                    f"{self._joints.amount('tau', int(j), value)} at rest, limit {limit:.6g}",
                    name, quantity="torque", value=value, limit=limit, time=float(times[i]), q=q[i],
                )  # fmt: skip
            # least positive root of sign (d p + b p^2) = room, without cancellation
            B, D = sign * b, sign * d
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                inner = D * D + 4 * B * room
                root = 2 * room / (D + np.sqrt(inner))
            root = np.where((inner >= 0) & (root > 0), root, np.inf)
            pace = min(pace, float(root.min()))
        return pace

    def check(
        self,
        arm: Chain | None = None,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        tolerance: float = _ROUNDING,
    ) -> None:
        """Raise `InfeasibleError` if the motion exceeds a limit: joint, time, value and limit.

        Parameters
        ----------
        arm : Chain, optional
            Its limits of position count, and those of velocity and effort where none are given; needed for `torque`.
        velocity, acceleration, jerk, torque : float, (n,) or (2, n) array
            See `within`.
        tolerance : float
            Part of a limit by which it may be exceeded.

        Examples
        --------
        >>> import zveno as zv
        >>> move = zv.trajectory.quintic([0.0, 0.0], [1.0, -0.5], 1.0)
        >>> try:
        ...     move.check(velocity=1.5)
        ... except zv.InfeasibleError as error:
        ...     print(error)
        Trajectory.check: joint 'joint1' reaches a velocity of 1.875 rad/s or m/s at t = 0.5 s, limit 1.5
        """
        who = "Trajectory.check"
        part = as_amount(tolerance, failing(who), "tolerance")
        limits = read_limits(who, arm, self.n, velocity, acceleration, jerk, torque)
        if limits["jerk"].any:
            self._require_smooth(who)
        if arm is not None:
            if self._law is None:
                positions_within(who, self._curve, arm, "t")
            else:
                times = self._instants()
                q = self._on(times, 0)[0]
                self._compare(who, "q", Bounds(arm.lower, arm.upper), (q.min(0), q.max(0)),
                              (times[q.argmin(0)], times[q.argmax(0)]), _ROUNDING)  # fmt: skip
        for quantity, order in (("qd", 1), ("qdd", 2), ("jerk", 3)):
            if limits[quantity].any:
                low, high, at_low, at_high = self._extremes(order)
                self._compare(who, quantity, limits[quantity], (low, high), (at_low, at_high), part)
        if limits["tau"].any:
            times = self._instants()
            q, qd, qdd = self._on(times, 2)
            tau = as_chain(arm, who).inverse_dynamics(q, qd, qdd)
            at = times[tau.argmin(0)], times[tau.argmax(0)]
            self._compare(who, "tau", limits["tau"], (tau.min(0), tau.max(0)), at, part)

    def _compare(
        self,
        who: str,
        quantity: str,
        bounds: Bounds,
        found: tuple[Array, Array],
        when: tuple[Array, Array],
        part: float,
    ) -> None:
        """Raise the worst excess over bounds."""
        excess = np.stack([bounds.low - found[0], found[1] - bounds.high]) / bounds.size
        side, j = (int(k) for k in np.unravel_index(excess.argmax(), excess.shape))
        if excess[side, j] <= part:
            return
        value, limit, time = (float(pair[side][j]) for pair in (found, bounds, when))
        word = UNITS[quantity][2] or "position"
        article = "an" if word[0] == "a" else "a"
        name = self._joints.names[j]
        raise InfeasibleError(
            f"{who}: joint '{name}' reaches {article} {word} of {self._joints.amount(quantity, j, value)} "
            f"at t = {time:.6g} s, limit {limit:.6g}",
            name, quantity=word, value=value, limit=limit, time=time, q=self._on(np.array(time), 0)[0],
        )  # fmt: skip

    def columns(self, count: int = 200) -> dict[str, Array]:
        """Equally spaced times and all coordinates, by names such as ``qd.elbow``; (count,) each.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.trajectory.quintic([0.0], [1.0], 2.0).columns(3)["t"]
        array([0., 1., 2.])
        """
        times, state = self.sample(count)
        table = {"t": times}
        for quantity, values in state._asdict().items():
            table |= {f"{quantity}.{name}": values[:, j] for j, name in enumerate(self._joints.names)}
        return table

    def to_csv(self, path: str | PathLike[str], *, count: int | None = None, dt: float | None = None) -> None:
        """Write a table: t and q, qd, qdd, jerk of each joint; numbers read back as they were.

        Parameters
        ----------
        path : str or path
        count : int, optional
            Rows, equally spaced from 0 to `duration`. Default: 200.
        dt : float, s, optional
            Or the time from row to row; the last row is that of `duration`.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = os.path.join(folder, "move.csv")
        ...     zv.trajectory.quintic([0.0], [1.0], 1.0).to_csv(file, dt=0.5)
        ...     with open(file) as written:
        ...         print(written.read())
        t [s],q.joint1,qd.joint1,qdd.joint1,jerk.joint1
        0.0,0.0,0.0,0.0,60.0
        0.5,0.5,1.875,0.0,-30.0
        1.0,1.0,0.0,0.0,60.0
        <BLANKLINE>
        """
        from ..sim.output import write_csv

        who = "Trajectory.to_csv"
        if count is not None and dt is not None:
            failing(who)("count and dt are both given, expected one of them")
        if dt is None:
            times = np.linspace(0.0, self.duration, as_integer(who, "count", 200 if count is None else count, 2, 10**8))
        else:
            step = as_amount(dt, failing(who), "dt", positive=True)
            if self.duration / step > 1e8:
                failing(who)(f"dt is {step:g} s, too short for {self.duration:g} s")
            rows = math.ceil(self.duration / step * (1 - 1e-9))
            times = np.append(step * np.arange(float(rows)), self.duration)
        table = np.concatenate([times[:, None], *self._on(times, 3)], axis=1)
        header = ["t [s]"]
        for quantity in MotionState._fields:
            for j, name in enumerate(self._joints.names):
                unit = "" if self._joints.turns is None else f" [{self._joints.unit(quantity, j)}]"
                header.append(f"{quantity}.{name}{unit}")
        write_csv(path, who, header, [((), table + 0.0)], len(table), False)

    def plot(self, count: int = 400) -> Figure:
        """Draw coordinates, rates, accelerations and jerks over time. Needs matplotlib (``zveno[plot]``).

        Examples
        --------
        >>> import zveno as zv
        >>> len(zv.trajectory.quintic([0.0], [1.0], 2.0).plot().axes)
        4
        """
        plots = optional("zveno.plot.trajectory", "Trajectory.plot", "matplotlib")
        figure: Figure = plots.plot_trajectory(self, as_integer("Trajectory.plot", "count", count, 2, 10**6))
        return figure

    def __repr__(self) -> str:
        return f"Trajectory of {self.n} joint{'s' * (self.n > 1)}, {self.duration:.6g} s"


def chained(curve: list[Array], rates: list[Array]) -> list[Array]:
    """Derivatives of q(s(t)) by time, from those of q by s and of s by t (..., 1)."""
    q, *d = curve
    result = [q]
    if rates:
        result.append(d[0] * rates[0])
    if len(rates) > 1:
        result.append(d[1] * rates[0] ** 2 + d[0] * rates[1])
    if len(rates) > 2:
        result.append(d[2] * rates[0] ** 3 + 3 * d[1] * rates[0] * rates[1] + d[0] * rates[2])
    return result


def _inverse(law: Pieces, s: Array) -> Array:
    """Times at which a law passes places; the first of them where it passes several times."""
    times = np.unique(np.concatenate([np.linspace(law.start, law.end, _SAMPLES), law.breaks]))
    values = np.maximum.accumulate(law(times)[0][:, 0])
    i = np.clip(np.searchsorted(values, s), 1, len(times) - 1)
    low, high = times[i - 1], times[i]
    for _ in range(50):
        middle = 0.5 * (low + high)
        before = law(middle)[0][:, 0] < s
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return low


def _share(values: Array, limits: Array) -> float:
    """The largest part of a limit of its sign that values use."""
    used = np.where(np.isfinite(limits), values / np.where(np.isfinite(limits), limits, 1.0), 0.0)
    return float(used.max())


def read_limits(
    who: str, arm: Any, n: int, velocity: Any, acceleration: Any, jerk: Any, torque: Any
) -> Mapping[str, Bounds]:
    """Limits by quantity; those of the arm where none are given."""
    fail = failing(who)
    if arm is not None:
        require_joints(who, as_chain(arm, who), n, "the motion")
        velocity = of_arm(arm.velocity_limit) if velocity is None else velocity
        torque = of_arm(arm.effort_limit) if torque is None else torque
    elif torque is not None:
        fail("torque is given without arm, expected the Chain that moves")
    return {
        "qd": as_bounds(velocity, fail, "velocity", n),
        "qdd": as_bounds(acceleration, fail, "acceleration", n),
        "jerk": as_bounds(jerk, fail, "jerk", n),
        "tau": as_bounds(torque, fail, "torque", n, around_zero=False),
    }


def of_arm(limits: Array) -> Array:
    """Limits that a model gives; 0, as files have it that know none, is no limit."""
    return np.where(limits > 0, limits, np.inf)


def require_joints(who: str, arm: Chain, n: int, what: str) -> None:
    if arm.n != n:
        failing(who)(f"{what} has {n} joints, chain '{arm.name}' has {arm.n}")


def positions_within(who: str, curve: Pieces, arm: Chain, parameter: str) -> None:
    """Raise `InfeasibleError` if a curve leaves the limits of position of an arm."""
    low, high, at_low, at_high = curve.peaks(0)
    joints = Joints.of(arm, curve.n)
    for found, limits, where, sign, side in (
        (low, arm.lower, at_low, -1.0, "lower"),
        (high, arm.upper, at_high, 1.0, "upper"),
    ):
        excess = np.where(np.isfinite(limits), sign * (found - limits), -np.inf)
        j = int(excess.argmax())
        if excess[j] > _ROUNDING * max(1.0, abs(limits[j])):
            place = float(where[j])
            key = {"time" if parameter == "t" else "s": place}
            raise InfeasibleError(
                f"{who}: joint '{joints.names[j]}' is at {joints.amount('q', j, float(found[j]))} at {parameter} = "
                f"{place:.6g}{' s' if parameter == 't' else ''}, its {side} limit is {limits[j]:.6g}",
                joints.names[j],
                quantity="position",
                value=float(found[j]),
                limit=float(limits[j]),
                q=frozen(curve(np.array(place))[0]),
                **key,
            )
