"""Time-optimal motion along a path by reachability analysis (Pham and Pham, 2018), with rows at both ends of a step."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, _show, as_amount, as_integer, failing
from ..errors import InfeasibleError
from .limits import UNITS, Bounds, Joints, as_bounds, as_chain
from .motion import JointPath, Trajectory, of_arm, positions_within, require_joints
from .pieces import Pieces
from .splines import path as _path

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["time_optimal"]

_MOST: Final = 20_000  # nodes
_INSIDE: Final = np.linspace(0.0, 1.0, 13)  # places of a step where limits are looked at
_BLOCK: Final = 600  # of them at once: what fits into the nearer memory
_SETTLED: Final = 1e-10  # change of the duration from sweep to sweep
_NEAR: Final = 0.03
_SWEEPS: Final = 60
_WIDTHS: Final = 14  # times of averaging that are tried


def time_optimal(
    arm: Chain,
    path: JointPath | ArrayLike,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    speed: float | None = None,
    link: str | None = None,
    start: float = 0.0,
    end: float = 0.0,
    nodes: int = 200,
    tolerance: float = 2e-3,
) -> Trajectory:
    """The fastest motion along a path q(s) within limits of rates, accelerations and joint efforts.

    On the path qd = q' s', qdd = q' s'' + q'' s'^2, and the efforts are, with x = s'^2 and u = s'',

        tau = a u + b x + c,   c = ID(q, 0, 0),   a = ID(q, 0, q') - c,   b = ID(q, q', q'') - c.    (T4)

    On nodes s_i with x_{i+1} = x_i + 2 D u_i a sweep from the end finds the interval of x at each node from which the
    end can be reached; a sweep from the start takes the largest u that leads into the next interval. Limits hold at
    both ends of each step. Viscous friction, d s' with d = f q' taken off b, is settled by repeated sweeps.

    Parameters
    ----------
    arm : Chain
        Its limits of position are checked.
    path : JointPath or (k, n) array, rad or m
        Or via points of `path`. Its derivative q' must not vanish.
    velocity, acceleration, torque : float, (n,) or (2, n) array, rad/s or m/s, rad/s^2 or m/s^2, N m or N
        Sizes, or the least and the largest values. `velocity` and `torque` default to the limits of the arm.
    jerk : float, (n,) or (2, n) array, rad/s^3 or m/s^3, optional
        The optimum under the other limits is then rounded, see Notes: a motion that keeps all limits, but no longer the
        fastest one. Needs rest at both ends.
    speed : float, m/s, optional
        Limit of the speed of the origin of `link`.
    link : str, optional
        Default: the last link.
    start, end : float
        Speeds s' at the ends of the path, in units of s per second.
    nodes : int
        Steps of the grid to begin with, equal in s; doubled until `tolerance` holds.
    tolerance : float
        Part of a limit by which it may be exceeded between nodes; what is left is ``excess`` of the result.

    Returns
    -------
    trajectory : Trajectory
        The grid makes it slower: the duration T(N) falls to the optimum with 1/N, and 2 T(2 N) - T(N) estimates that.
        Without `jerk` efforts switch: the jerk is not bounded.

    Raises
    ------
    InfeasibleError
        No motion keeps the limits: place s, joint, what is needed and what is allowed.

    Notes
    -----
    One sweep takes about a microsecond for each node, to look at the limits between nodes ten times as much.

    With `jerk` the speed of the optimum along the path is averaged over a time w, which makes its acceleration
    continuous and bounds its jerk, and the motion is stretched until all limits hold (`Trajectory.within`); w is the
    one that makes the result shortest. One joint from rest to rest takes 11 % longer than the S-curve, the optimum
    there, if its acceleration switches once.

    References
    ----------
    Bobrow, Dubowsky and Gibson (1985), Time-optimal control of robotic manipulators along specified paths. Pham and
    Pham (2018), A new approach to time-optimal path parameterization based on reachability analysis.

    Examples
    --------
    One joint over 2 rad with 3 rad/s^2: half the way is accelerated, T = 2 sqrt(2/3) s.

    >>> import zveno as zv
    >>> rotor = zv.Chain([zv.Link("rotor", axis=(0, 0, 1), mass=1.0, inertia=2.0)], gravity=(0, 0, 0))
    >>> zv.trajectory.time_optimal(rotor, [[0.0], [2.0]], acceleration=3.0).duration.__round__(6)
    1.632993
    >>> zv.trajectory.time_optimal(rotor, [[0.0], [2.0]], torque=6.0).duration.__round__(6)
    1.632993
    """
    who = "time_optimal"
    fail = failing(who)
    chain = as_chain(arm, who)
    way = path if isinstance(path, JointPath) else _points(chain, path)
    require_joints(who, chain, way.n, "the path")
    positions_within(who, way._curve, chain, "s")
    n = chain.n
    bounds = {
        "qd": as_bounds(of_arm(chain.velocity_limit) if velocity is None else velocity, fail, "velocity", n),
        "qdd": as_bounds(acceleration, fail, "acceleration", n),
        "tau": as_bounds(
            of_arm(chain.effort_limit) if torque is None else torque, fail, "torque", n, around_zero=False
        ),
    }
    if not (bounds["qdd"].any or bounds["tau"].any):
        fail("no limit of acceleration or torque is given, expected one: rates alone would jump")
    if speed is None and link is not None:
        fail(f"link is {_show(link)} without speed, expected the limit of its speed too")
    tool = None
    if speed is not None:
        if link is None:
            link = chain.link_names[-1]
        elif link not in chain.link_names:
            fail(f"link is {_show(link)}, expected one of {', '.join(map(repr, chain.link_names))}")
        tool = (link, as_amount(speed, fail, "speed", positive=True))
    part = as_amount(tolerance, fail, "tolerance", positive=True)
    count = as_integer(who, "nodes", nodes, 2, _MOST)
    ends = as_amount(start, fail, "start"), as_amount(end, fail, "end")
    jerks = as_bounds(jerk, fail, "jerk", n)
    if jerks.any and max(ends) > 0:
        which = "start" if ends[0] > 0 else "end"
        fail(f"{which} is {_show(start if ends[0] > 0 else end)} with a limit of jerk, expected rest at both ends")
    problem = _Problem(chain, way, bounds, tool, ends)
    first: InfeasibleError | None = None
    while True:
        grid = problem.grid(count)
        try:
            x, u = problem.solve(grid)
        except (
            InfeasibleError
        ) as error:  # rows at both ends of long steps are stricter than the path: look closer, once
            if first is not None or 4 * count > _MOST:
                raise (first or error) from None
            first, count = error, 4 * count
            continue
        excess = problem.excess(grid, x, u)
        if excess <= part:
            break
        if 2 * count > _MOST:
            fail(f"limits are exceeded by {excess:.2g} of their size with {count} nodes, expected {part:g}: "
                 "is the path rougher than its nodes?")  # fmt: skip
        count *= 2
    root = np.sqrt(x)
    step = grid.s[1] - grid.s[0]
    times = np.concatenate([[0.0], np.cumsum(2 * step / (root[:-1] + root[1:]))])
    law = Pieces(times, np.stack([grid.s[:-1], root[:-1], u / 2], axis=1)[:, :, None])
    fastest = Trajectory(way._curve, law, Joints.of(chain, n), max(excess, 0.0))
    if not jerks.any:
        return fastest
    return _rounded(
        fastest, chain, {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "torque": torque}, tool
    )


def _rounded(fastest: Trajectory, chain: Chain, limits: dict[str, Any], tool: tuple[str, float] | None) -> Trajectory:
    """A motion whose accelerations do not jump: the speed averaged over the time that makes the result shortest."""
    law = fastest._timed

    def made(width: float) -> Trajectory:
        smooth = Trajectory(fastest._curve, _averaged(law, width), fastest._joints).within(chain, **limits)
        if tool is not None:
            q, qd, _ = smooth(smooth._instants())
            most = float(np.linalg.norm(chain.velocity(q, qd, tool[0])[:, :3], axis=1).max())
            if most > tool[1]:
                smooth = smooth._scaled(most / tool[1])
        return smooth

    # golden section over log w: the duration falls, then rises with w
    ratio = (math.sqrt(5) - 1) / 2
    low, high = math.log(1e-3 * law.end), math.log(2 * law.end)
    inner, outer = high - ratio * (high - low), low + ratio * (high - low)
    try:
        first, second = made(math.exp(inner)), made(math.exp(outer))
        for _ in range(_WIDTHS):
            if first.duration <= second.duration:
                high, outer, second = outer, inner, first
                inner = high - ratio * (high - low)
                first = made(math.exp(inner))
            else:
                low, inner, first = inner, outer, second
                outer = low + ratio * (high - low)
                second = made(math.exp(outer))
    except InfeasibleError as error:
        error.args = (str(error).replace("Trajectory.within:", "time_optimal: with a limit of jerk"), *error.args[1:])
        raise
    return first if first.duration <= second.duration else second


def _averaged(law: Pieces, width: float) -> Pieces:
    """s(t), quadratic pieces from rest to rest, averaged over the time `width` before t: cubic pieces."""
    t, c = law.breaks, law.coefficients[:, :, 0]
    end, step = law.end, np.diff(t)
    final = c[-1, 0] + step[-1] * (c[-1, 1] + step[-1] * c[-1, 2])
    areas = step * (c[:, 0] + step * (c[:, 1] / 2 + step * c[:, 2] / 3))
    sums = np.concatenate([[0.0], np.cumsum(areas)])

    def terms(x: Array) -> tuple[Array, Array, Array, Array]:
        """The integral of s from 0, s and two derivatives after x; before 0 and after the end it stands."""
        i = np.clip(np.searchsorted(t, x + 1e-13 * end, side="right") - 1, 0, len(c) - 1)
        h = x - t[i]
        before, after = x < -1e-13 * end, x > end * (1 - 1e-13)
        area = sums[i] + h * (c[i, 0] + h * (c[i, 1] / 2 + h * c[i, 2] / 3))
        area = np.where(before, c[0, 0] * x, np.where(after, sums[-1] + final * (x - end), area))
        place = np.where(before, c[0, 0], np.where(after, final, c[i, 0] + h * (c[i, 1] + h * c[i, 2])))
        rate = np.where(before | after, 0.0, c[i, 1] + 2 * h * c[i, 2])
        return area, place, rate, np.where(before | after, 0.0, 2 * c[i, 2])

    breaks = np.sort(np.concatenate([t, t + width]))
    breaks = breaks[np.concatenate([[True], np.diff(breaks) > 1e-12 * end])]
    now, past = terms(breaks[:-1]), terms(breaks[:-1] - width)
    parts = [(a - b) / width / by for a, b, by in zip(now, past, (1, 1, 2, 6), strict=True)]
    return Pieces(breaks, np.stack(parts, axis=1)[:, :, None])


def _points(chain: Chain, points: Any) -> JointPath:
    try:
        return _path(points, arm=chain)
    except ValueError as error:  # about the argument as it is called here
        error.args = ("time_optimal: " + re.sub(r"^points (?=has|is)", "path ", str(error).removeprefix("path: ")),)
        raise


class _Grid(NamedTuple):
    """Nodes, and the coefficients of limits there: low <= a u + b x + c + d sqrt(x) <= high, (N + 1, rows) each."""

    s: Array
    q: Array
    dq: Array
    a: Array
    b: Array
    c: Array
    d: Array
    most: Array  # largest x by rates and the speed of the tool, (N + 1,)
    why: np.ndarray[Any, np.dtype[np.intp]]  # joint that sets it, n for the tool


class _Problem:
    """Limits on a path."""

    def __init__(
        self,
        chain: Chain,
        way: JointPath,
        bounds: dict[str, Bounds],
        tool: tuple[str, float] | None,
        ends: tuple[float, float],
    ) -> None:
        self.chain, self.way, self.bounds, self.tool, self.ends = chain, way, bounds, tool, ends
        self.joints = Joints.of(chain, chain.n)
        rows = [(quantity, j) for quantity in ("tau", "qdd") for j in range(chain.n)]
        low = np.concatenate([bounds["tau"].low, bounds["qdd"].low])
        high = np.concatenate([bounds["tau"].high, bounds["qdd"].high])
        kept = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        self.rows = [rows[k] for k in kept]  # what each row limits
        self.kept, self.low, self.high = kept, low[kept], high[kept]
        self.size = Bounds(self.low, self.high).size

    def grid(self, count: int) -> _Grid:
        return self.at(np.linspace(self.way.start, self.way.end, count + 1), True)

    def at(self, s: Array, refuse: bool) -> _Grid:
        """Coefficients at places of the path."""
        q, dq, ddq = self.way._curve(s, 2)
        if refuse:
            self._require_direction(s, q, dq)
        rest = np.zeros_like(q)
        if self.bounds["tau"].any:
            efforts = self.chain.inverse_dynamics
            c, d = efforts(q, rest, rest), self.chain.friction * dq
            a, b = efforts(q, rest, dq) - c, efforts(q, dq, ddq) - c - d
        else:
            a = b = c = d = rest
        pairs = (a, dq), (b, ddq), (c, rest), (d, rest)
        if self.kept[0] >= self.chain.n:  # none of efforts
            A, B, C, D = (pair[1][:, self.kept - self.chain.n] for pair in pairs)
        else:
            A, B, C, D = (np.concatenate(pair, axis=1) for pair in pairs)
            if len(self.kept) < A.shape[1]:
                A, B, C, D = (x[:, self.kept] for x in (A, B, C, D))
        with np.errstate(divide="ignore", over="ignore"):
            limit = np.where(dq > 0, self.bounds["qd"].high, self.bounds["qd"].low)
            tops = np.where(dq != 0, (limit / np.where(dq != 0, dq, 1.0)) ** 2, np.inf)
            if self.tool is not None:
                v = np.linalg.norm(self.chain.velocity(q, dq, self.tool[0])[:, :3], axis=1)
                top = np.where(v > 0, (self.tool[1] / np.where(v > 0, v, 1.0)) ** 2, np.inf)
                tops = np.concatenate([tops, top[:, None]], axis=1)
        return _Grid(s, q, dq, A, B, C, D, tops.min(axis=1), tops.argmin(axis=1))

    def _require_direction(self, s: Array, q: Array, dq: Array) -> None:
        size = np.linalg.norm(dq, axis=1)
        i = int(size.argmin())
        if not size[i] > 1e-9 * size.max():
            raise InfeasibleError(
                f"time_optimal: the path has no direction at s = {s[i]:.6g}: q'(s) vanishes there, expected a path "
                "that goes on everywhere (a point given twice, or rates of zero?)",
                quantity="speed", s=float(s[i]), q=q[i],
            )  # fmt: skip

    # ---- the sweeps

    def solve(self, grid: _Grid) -> tuple[Array, Array]:
        """x at the nodes, u of the steps; friction settled.

        Its d sqrt(x) is replaced by a line in x: the chord from 0 to the x of the sweep before, which keeps standing
        possible, and near the solution the tangent there, which settles in a few sweeps.
        """
        x, u = self._sweep(grid, grid.b, grid.c)
        if not grid.d.any():
            return x, u
        before, tangents = _duration(grid.s, x), True
        near = False
        for _ in range(_SWEEPS):
            root = np.sqrt(x)[:, None]
            chord = np.divide(grid.d, root, out=np.zeros_like(grid.d), where=root > 0)
            if near and tangents:
                try:
                    x, u = self._sweep(grid, grid.b + 0.5 * chord, grid.c + 0.5 * grid.d * root)
                except InfeasibleError:
                    tangents = False
                    continue
            else:
                x, u = self._sweep(grid, grid.b + chord, grid.c)
            now = _duration(grid.s, x)
            change = abs(now - before) / now
            if change < _SETTLED:
                break
            near, before = change < _NEAR, now
        return x, u

    def _sweep(self, grid: _Grid, b: Array, c: Array) -> tuple[Array, Array]:
        steps = _Steps(self, grid, b, c)
        low, high = steps.backward(self.ends[1] ** 2)
        return steps.forward(self.ends[0] ** 2, low, high)

    def excess(self, grid: _Grid, x: Array, u: Array) -> float:
        """The largest part of a limit by which it is exceeded inside the steps."""
        step = grid.s[1] - grid.s[0]
        knots = self.way.breaks[1:-1]  # where efforts have corners
        i = np.concatenate([np.repeat(np.arange(len(u)), len(_INSIDE)), np.searchsorted(grid.s, knots) - 1])
        s = np.concatenate([(grid.s[:-1, None] + step * _INSIDE).ravel(), knots])
        most = -np.inf
        for block in range(0, len(s), _BLOCK):
            some = slice(block, block + _BLOCK)
            most = max(
                most, self._over(np.minimum(s[some], grid.s[-1]), s[some] - grid.s[i[some]], x[i[some]], u[i[some]])
            )
        return most

    def _over(self, s: Array, way: Array, x: Array, u: Array) -> float:
        """The same at places s, the distance `way` behind nodes with x and u."""
        here = np.maximum(x + 2 * u * way, 0.0)
        dense = self.at(s, False)
        values = dense.a * u[:, None] + dense.b * here[:, None] + dense.c
        if dense.d.any():
            values += dense.d * np.sqrt(here)[:, None]
        over = np.maximum(values - self.high, self.low - values) / self.size
        with np.errstate(divide="ignore", invalid="ignore"):
            faster = np.sqrt(np.where(np.isfinite(dense.most), here / dense.most, 0.0)) - 1.0
        return float(max(over.max(), faster.max()))


def _duration(s: Array, x: Array) -> float:
    root = np.sqrt(x)
    with np.errstate(divide="ignore"):
        return float((2 * np.diff(s) / (root[:-1] + root[1:])).sum())


class _Steps:
    """The steps of a grid: rows as lines u <= above + slope x, u >= below + slope x, (N, 2 rows) each."""

    def __init__(self, problem: _Problem, grid: _Grid, b: Array, c: Array) -> None:
        self.problem, self.grid, self.c = problem, grid, c
        step = float(grid.s[1] - grid.s[0])
        A = np.concatenate([grid.a[:-1], grid.a[1:] + 2 * step * b[1:]], axis=1)
        B = np.concatenate([b[:-1], b[1:]], axis=1)
        L = np.concatenate([problem.low - c[:-1], problem.low - c[1:]], axis=1)
        H = np.concatenate([problem.high - c[:-1], problem.high - c[1:]], axis=1)
        # rows without u bound x alone: zero-inertia points
        flat = np.abs(A) < 1e-12 * np.abs(A).max(axis=0, keepdims=True).clip(1e-300)
        up = A > 0
        safe = np.where(flat, 1.0, A)
        slope = np.where(flat, 0.0, -B / safe)
        above = np.where(flat, np.inf, np.where(up, H, L) / safe)
        below = np.where(flat, -np.inf, np.where(up, L, H) / safe)
        self.flat = flat
        still = flat & (np.abs(B) < 1e-12 * np.abs(B).max(axis=0, keepdims=True).clip(1e-300))
        turning = flat & ~still
        safe = np.where(turning, B, 1.0)
        tops = np.where(turning, np.where(B > 0, H, L) / safe, np.inf)
        bottoms = np.where(turning, np.where(B > 0, L, H) / safe, -np.inf)
        stuck = still & ((L > 0) | (H < 0))  # at no x
        least = np.where(stuck.any(axis=1), np.inf, np.maximum(0.0, bottoms.max(axis=1)))
        self.lines = step, slope, above, below, least, np.minimum(grid.most[:-1], tops.min(axis=1))

    def backward(self, end: float) -> tuple[Array, Array]:
        """Intervals of x (N + 1,) from which the end can be reached."""
        if end > self.grid.most[-1] * (1 + 1e-12):
            self._too_fast(-1, end, "end")
        low, high, stop, x, rows = _core.reach_path_end(*self.lines, end)
        if stop >= 0:
            self._blocked(stop, x, rows)
        return low, high

    def forward(self, start: float, low: Array, high: Array) -> tuple[Array, Array]:
        """x at the nodes and u of the steps: as fast as the intervals allow."""
        rounding = 1e-9 * max(high[0], start)
        if not low[0] - rounding <= start <= high[0] + rounding:
            if start > self.grid.most[0]:
                self._too_fast(0, start, "start")
            self._bad_start(start, float(low[0]), float(high[0]))
        x, u, stop = _core.go_fast_on_path(*self.lines, low, high, min(max(start, low[0]), high[0]))
        if stop >= 0:
            self._standing(stop)
        return x, u

    # ---- what cannot be done, and why

    def _said(self, i: int, row: int, x: float) -> str:
        """A row in words."""
        problem, count = self.problem, len(self.problem.rows)
        quantity, j = problem.rows[row % count]
        limits = f"{problem.low[row % count]:.6g} to {problem.high[row % count]:.6g}"
        return (
            f"{UNITS[quantity][2]} of joint '{problem.joints.names[j]}' ({limits} {problem.joints.unit(quantity, j)})"
        )

    def _blocked(self, i: int, x: float, rows: tuple[int, int] | None) -> None:
        problem, s, q = self.problem, float(self.grid.s[i]), self.grid.q[i]
        weight = self.c[i]
        over = np.maximum(weight - problem.high, problem.low - weight)
        k = int(over.argmax())
        if over[k] > 0:
            quantity, j = problem.rows[k]
            value, name = float(weight[k]), problem.joints.names[j]
            limit = float(problem.high[k] if value > problem.high[k] else problem.low[k])
            raise InfeasibleError(
                f"time_optimal: the path cannot be followed at s = {s:.6g}: joint '{name}' cannot hold the arm there, "
                f"it needs {problem.joints.amount(quantity, j, value)} at rest, limit {limit:.6g}, and no speed helps",
                name, quantity="torque", value=value, limit=limit, s=s, q=q,
            )  # fmt: skip
        texts = [self._said(i, row, x) for row in rows or () if row >= 0]
        if rows is None:
            texts = [self._said(i, row, x) for row in np.flatnonzero(self.flat[i])[:2]]
        cause = " and ".join(dict.fromkeys(texts)) or "what follows on the path"
        named = [problem.rows[row % len(problem.rows)] for row in rows or () if row >= 0]
        raise InfeasibleError(
            f"time_optimal: the path cannot be followed at s = {s:.6g}: at no speed there is an acceleration that "
            f"keeps {cause} and stays within the limits behind it",
            problem.joints.names[named[0][1]] if named else None,
            quantity=UNITS[named[0][0]][2] if named else "speed", s=s, q=q,
        )  # fmt: skip

    def _too_fast(self, i: int, x: float, what: str) -> None:
        j, n = int(self.grid.why[i]), self.problem.chain.n
        s, limit = float(self.grid.s[i]), math.sqrt(self.grid.most[i])
        tool = self.problem.tool
        name = None if j == n else self.problem.joints.names[j]
        whose = f"the speed of link '{tool[0]}'" if tool and j == n else f"the velocity of joint '{name}'"
        raise InfeasibleError(
            f"time_optimal: {what} is {math.sqrt(x):.6g}, too fast at s = {s:.6g}: {whose} allows {limit:.6g}",
            name, quantity="speed", value=math.sqrt(x), limit=limit, s=s, q=self.grid.q[i],
        )  # fmt: skip

    def _bad_start(self, start: float, low: float, high: float) -> None:
        s, given = float(self.grid.s[0]), math.sqrt(start)
        least, most = math.sqrt(low), math.sqrt(high)
        way = "fast" if start > high else "slow"
        weight = self.c[0]
        over = np.maximum(weight - self.problem.high, self.problem.low - weight)
        k, hint, name = int(over.argmax()), "", None
        if over[k] > 0:
            quantity, j = self.problem.rows[k]
            name = self.problem.joints.names[j]
            held = self.problem.joints.amount(quantity, j, float(weight[k]))
            hint = f"; joint '{name}' needs {held} to hold the arm there, limits {self.problem.low[k]:.6g} to "
            hint += f"{self.problem.high[k]:.6g}"
        raise InfeasibleError(
            f"time_optimal: start is {given:.6g}, too {way} at s = {s:.6g}: the limits along the path allow "
            f"{least:.6g} to {most:.6g}{hint}",
            name, quantity="speed", value=given, limit=most if way == "fast" else least, s=s, q=self.grid.q[0],
        )  # fmt: skip

    def _standing(self, i: int) -> None:
        s = float(self.grid.s[i])
        raise InfeasibleError(
            f"time_optimal: the path cannot be followed at s = {s:.6g}: the limits leave no speed but zero there",
            quantity="speed", value=0.0, limit=0.0, s=s, q=self.grid.q[i],
        )  # fmt: skip
