"""Motions that reveal parameters: Fourier series or splines, optimised within the limits of the arm."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import (
    Array,
    Fail,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_integer,
    as_number,
    as_path,
    failing,
)
from .._extras import optional
from ..errors import InfeasibleError
from ..sim.output import write_csv
from ..sim.plan import progress_bar
from .fit import NOT, POOR, WELL, Parameter, Parameters
from .model import LinearModel
from .solve import student, triangular
from .terms import as_terms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain

__all__ = ["Excitation", "excitation"]

_MARGIN: Final = 0.98  # of each limit, for what happens between samples


class _Basis:
    """Motions q(t) = B(t) X that begin and end at rest, X (k, n)."""

    def __init__(self, kind: str, duration: float, count: int) -> None:
        self.kind, self.duration, self.count = kind, duration, count
        if kind == "fourier":
            w = 2 * math.pi * np.arange(1, count + 1) / duration
            # rate and acceleration at the begin: sum a = 0, sum b h w = 0, for q = sum a sin / (h w) - b cos / (h w)
            rows = np.zeros((2, 2 * count))
            rows[0, :count] = 1.0
            rows[1, count:] = w / w[0]
            free = np.linalg.svd(rows)[2][2:].T
            self._change = np.zeros((2 * count + 1, 2 * count - 1))
            self._change[0, 0] = 1.0  # the middle
            self._change[1:, 1:] = free
            self.size = 2 * count - 1
        else:  # B-splines of degree 5; the first three and the last three points are equal: rest at the ends
            self._knots = np.concatenate([np.zeros(5), np.linspace(0.0, duration, count + 2), np.full(5, duration)])
            points = len(self._knots) - 6
            self._change = np.zeros((points, points - 4))
            self._change[:3, 0] = 1.0
            self._change[np.arange(3, points - 3), np.arange(1, points - 5)] = 1.0
            self._change[points - 3 :, -1] = 1.0
            self.size = points - 4

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """B and its two derivatives in time, (m, size)."""
        if self.kind == "fourier":
            w = 2 * math.pi * np.arange(1, self.count + 1) / self.duration
            x = np.outer(t, w)
            s, c = np.sin(x), np.cos(x)
            one, zero = np.ones((len(t), 1)), np.zeros((len(t), 1))
            parts = (
                np.hstack([one, s / w, -c / w]),
                np.hstack([zero, c, s]),
                np.hstack([zero, -s * w, c * w]),
            )
        else:
            clipped = np.clip(t, 0.0, self.duration * (1 - 1e-15))
            parts = tuple(_b_splines(self._knots, 5, clipped, k) for k in range(3))  # type: ignore[assignment]
        a, b, c = (part @ self._change for part in parts)
        return a, b, c


def _b_splines(knots: Array, degree: int, t: Array, derivative: int) -> Array:
    """Values (m, k) of all B-splines, or of their derivatives."""
    if derivative:
        lower = _b_splines(knots, degree - 1, t, derivative - 1)
        count = len(knots) - degree - 1
        found = np.zeros((len(t), count))
        for i in range(count):
            for sign, k in ((1.0, i), (-1.0, i + 1)):
                width = knots[k + degree] - knots[k]
                if width > 0:
                    found[:, i] += sign * degree / width * lower[:, k]
        return found
    values = ((knots[:-1] <= t[:, None]) & (t[:, None] < knots[1:])).astype(float)
    for d in range(1, degree + 1):
        new = np.zeros((len(t), len(knots) - d - 1))
        for i in range(new.shape[1]):
            if knots[i + d] > knots[i]:
                new[:, i] += (t - knots[i]) / (knots[i + d] - knots[i]) * values[:, i]
            if knots[i + d + 1] > knots[i + 1]:
                new[:, i] += (knots[i + d + 1] - t) / (knots[i + d + 1] - knots[i + 1]) * values[:, i + 1]
        values = new
    return values


@dataclass(frozen=True)
class Excitation:
    """A motion to measure, made by `zveno.excitation`. Call it with times for ``(q, qd, qdd)``.

    Attributes
    ----------
    duration : float, s
        Of one period of a Fourier series, or of the spline; it begins and ends at rest.
    parameters : Parameters
        Base parameters of the model with the deviations that a measurement of this motion will have.
    condition : float
        Condition number of the equations with columns of unit size.
    criterion, start_criterion : float
        What was minimised, and its value for the random motion that was begun with.
    use : dict of (n,) array
        Largest part of each limit that the motion uses: of ``position``, ``velocity``, ``acceleration``, ``torque``.
    sizes : (r,) array
        Sizes of base parameters that verdicts compare deviations with.
    clearance : float
        The smallest that it meets; infinite without a function for it.
    seed : int
    """

    chain: Chain
    duration: float
    coefficients: Array
    parameters: Parameters
    condition: float
    criterion: float
    start_criterion: float
    use: dict[str, Array]
    sizes: Array
    clearance: float
    seed: int
    noise: Array
    rate: float
    _basis: _Basis

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return (q, qd, qdd) at times t (...), s; a Fourier series goes on, a spline stays at its ends."""
        try:
            times = np.asarray(t, dtype=np.float64)
        except (TypeError, ValueError):
            times = np.array(math.nan)
        if not np.isfinite(times).all():
            failing("Excitation")(f"t is {_show(t)}, expected finite numbers")
        flat = times.reshape(-1)
        inside = np.mod(flat, self.duration) if self._basis.kind == "fourier" else np.clip(flat, 0.0, self.duration)
        q, qd, qdd = ((B @ self.coefficients).reshape(*times.shape, self.chain.n) for B in self._basis(inside))
        return q, qd, qdd

    def to_csv(self, path: str | os.PathLike[str], *, rate: float = 100.0, periods: int = 1) -> None:
        """Write times, coordinates, rates and accelerations for the robot.

        Parameters
        ----------
        path : path
        rate : float, Hz
        periods : int
            How often a Fourier series is run through.

        Examples
        --------
        >>> import os, tempfile, numpy as np, zveno as zv
        >>> motion = zv.excitation(zv.robots.two_link(), duration=2.0, velocity=3.0, iterations=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "motion.csv")
        ...     motion.to_csv(path, rate=10.0)
        ...     len(np.loadtxt(path, delimiter=",", skiprows=1))
        21
        """
        fail = failing("Excitation.to_csv")
        as_path("Excitation.to_csv", path)
        rate = as_amount(rate, fail, "rate", positive=True)
        periods = as_integer("Excitation.to_csv", "periods", periods, 1, 10_000)
        if periods > 1 and self._basis.kind != "fourier":
            fail("periods is above 1, but a spline does not end where it begins")
        count = round(periods * self.duration * rate)
        t = np.arange(count + 1) / rate
        table = np.column_stack([t, *self(t)])
        names = [f"{key}.{joint}" for key in ("q", "qd", "qdd") for joint in self.chain.joint_names]
        write_csv(path, "Excitation.to_csv", ["t", *names], [((), table)], len(table), False)

    def plot(self) -> Figure:
        """Draw the motion within its limits, and the deviations to expect. Needs matplotlib.

        Examples
        --------
        >>> import zveno as zv
        >>> figure = zv.excitation(zv.robots.two_link(), duration=2.0, velocity=3.0, iterations=2).plot()
        >>> len(figure.axes) > 2
        True
        """
        plots = optional("zveno.plot.identification", "Excitation.plot", "matplotlib")
        figure: Figure = plots.draw_excitation(self)
        return figure

    def __repr__(self) -> str:
        known = sum(row.verdict == WELL for row in self.parameters)
        return (
            f"Excitation of chain '{self.chain.name}', {self.duration:g} s: {len(self.parameters)} base parameters, "
            f"{known} will be well known; condition {self.condition:.3g}"
        )


def excitation(
    arm: Chain,
    *,
    duration: float = 10.0,
    kind: str = "fourier",
    harmonics: int = 5,
    criterion: str = "d",
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    clearance: Callable[[Array], Any] | None = None,
    friction: Any = ("viscous", "coulomb"),
    noise: ArrayLike | None = None,
    rate: float = 100.0,
    centre: ArrayLike | None = None,
    iterations: int = 60,
    starts: int = 3,
    seed: int = 0,
    progress: bool | None = None,
) -> Excitation:
    """Find a motion whose measurement reveals the base parameters.

    Maximises the determinant of the information W' W / noise^2, or minimises the condition number, over motions that
    begin and end at rest. Gradients are exact: in each coordinate, efforts are trigonometric polynomials of degree two
    (of a prismatic joint, polynomials), whose derivatives are combinations of a few of their values.

    Parameters
    ----------
    arm : Chain
    duration : float, s
    kind : {'fourier', 'spline'}
        A periodic motion of some harmonics of 1 / duration, or a spline of degree five through so many points.
    harmonics : int
        Of the series; of a spline, half the number of its inner points.
    criterion : {'d', 'condition'}
        Volume of the confidence ellipsoid, or condition number of the equations.
    position : (n, 2) array, rad or m, optional
        Lower and upper limits; default: those of the links, or half a turn and 0.5 m either way.
    velocity, acceleration, torque : float or (n,) array, optional
        Largest sizes; default: those of the links (velocity, effort), else 2 rad/s or 0.5 m/s, four times the velocity
        limit per second, and none.
    clearance : callable, optional
        Of coordinates (m, n): distances (m,) or (m, k), m, that must stay positive, from whatever knows about
        collisions.
    friction : words or terms
        What else will be identified; see `identify`.
    noise : float or (n,) array, N m or N, optional
        Standard deviation of measured efforts; default: 1 % of the largest efforts that hold the arm still.
    rate : float, Hz
        Independent samples per second of the measurement: of a filtered one, twice its cut-off.
    centre : (n,) array, optional
        Where motions begin to be looked for; default: the middle between the limits.
    iterations, starts : int
        Steps of the optimisation, and random motions among which the best is taken.
    seed : int
        The result depends on nothing else.
    progress : bool, optional

    Returns
    -------
    motion : Excitation

    Raises
    ------
    InfeasibleError
        The arm cannot even stand still at the centre.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> motion = zv.excitation(arm, duration=5.0, velocity=3.0, iterations=10)
    >>> bool(motion.criterion < motion.start_criterion), bool(max(x.max() for x in motion.use.values()) <= 1)
    (True, True)
    >>> q, qd, qdd = motion(np.linspace(0.0, 5.0, 100))
    >>> bool(abs(qd[[0, -1]]).max() < 1e-9)
    True
    """
    fail = failing("excitation")
    if not isinstance(arm, _core.Chain):
        raise TypeError(f"excitation: arm is {_show(arm)}, expected a Chain")
    duration = as_amount(duration, fail, "duration", positive=True)
    as_choice(kind, fail, "kind", ("fourier", "spline"))
    as_choice(criterion, fail, "criterion", ("d", "condition"))
    harmonics = as_integer("excitation", "harmonics", harmonics, 2, 100)
    iterations = as_integer("excitation", "iterations", iterations, 0, 100_000)
    starts = as_integer("excitation", "starts", starts, 1, 1000)
    seed = as_integer("excitation", "seed", seed, 0, 2**63 - 1)
    rate = as_amount(rate, fail, "rate", positive=True)
    if clearance is not None and not callable(clearance):
        raise TypeError(f"excitation: clearance is {_show(clearance)}, expected a function of coordinates")
    terms = as_terms(friction, fail, arm.joint_names)
    model = LinearModel(arm, terms)
    if model.needs_load:
        fail("friction has LoadFriction, which is not linear in the parameters")
    limits = _Limits(arm, fail, position, velocity, acceleration, torque, clearance)
    middle = limits.middle if centre is None else as_array(centre, fail, "centre", (arm.n,))
    if noise is None:
        rng = np.random.default_rng(0)
        q = middle + 0.5 * (limits.upper - limits.lower) * rng.uniform(-1, 1, (200, arm.n))
        still = np.zeros_like(q)
        moving = limits.acceleration * rng.uniform(-1, 1, q.shape)
        size = np.abs(arm.inverse_dynamics(q, still, moving)).max(axis=0)
        sigma = np.maximum(0.01 * size, 1e-3 * max(float(size.max()), 1e-9))
    else:
        sigma = _each(noise, fail, "noise", arm.n)
    job = _Job(model, limits, _Basis(kind, duration, harmonics), sigma, criterion)
    limits.require(middle, fail)
    best: tuple[float, float, Array] | None = None
    with progress_bar(progress, starts * max(1, iterations), ("exciting", "steps", "excitation: progress=True")) as bar:
        for k in range(starts):
            X = job.random(middle, np.random.default_rng((seed, k)))
            begin = job.value(X)
            X = job.improve(X, iterations, lambda done, k=k: bar(k * iterations + done))  # type: ignore[misc]
            end = job.value(X)
            if best is None or end < best[1]:
                best = (begin, end, X)
    assert best is not None
    begin, end, X = best
    return _finished(job, X, begin, end, rate, seed)


def _each(value: Any, fail: Fail, what: str, n: int) -> Array:
    try:
        one = np.ndim(value) == 0
        array = np.full(n, as_number(value, fail, what, infinite=True)) if one else np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if str(error).startswith("excitation"):
            raise
        fail(f"{what} is {_show(value)}, expected a number > 0, or {n} of them")
    if array.shape != (n,) or np.isnan(array).any() or (array <= 0).any():
        fail(f"{what} is {_show(value)}, expected a number > 0, or {n} of them")
    return array


class _Limits:
    def __init__(
        self, arm: Chain, fail: Fail, position: Any, velocity: Any, acceleration: Any, torque: Any, clearance: Any
    ) -> None:
        n = arm.n
        self.arm, self.clearance = arm, clearance
        turning = np.array([kind == "revolute" for kind in arm.joint_types])
        room = np.where(turning, math.pi, 0.5)
        if position is None:
            low = np.where(
                np.isfinite(arm.lower), arm.lower, np.where(np.isfinite(arm.upper), arm.upper - 2 * room, -room)
            )
            high = np.where(np.isfinite(arm.upper), arm.upper, low + 2 * room)
        else:
            both = as_array(position, fail, "position", (n, 2))
            low, high = both[:, 0], both[:, 1]
        if (low >= high).any():
            j = int((low >= high).argmax())
            fail(f"position leaves no room for joint '{arm.joint_names[j]}': {low[j]:g} to {high[j]:g}")
        # a turn and a half is enough to see everything
        self.lower, self.upper = low, high
        self.middle = 0.5 * (low + high)
        default = np.where(
            np.isfinite(arm.velocity_limit) & (arm.velocity_limit > 0), arm.velocity_limit, np.where(turning, 2.0, 0.5)
        )
        self.velocity = default if velocity is None else _each(velocity, fail, "velocity", n)
        self.acceleration = 4 * self.velocity if acceleration is None else _each(acceleration, fail, "acceleration", n)
        for word, limit in (("velocity", self.velocity), ("acceleration", self.acceleration)):
            if not np.isfinite(limit).all():
                fail(f"{word} is {_show(velocity if word == 'velocity' else acceleration)}, expected finite numbers")
        given = arm.effort_limit if torque is None else _each(torque, fail, "torque", n)
        self.torque = np.where(given > 0, given, np.inf)
        self._fail = fail

    def require(self, q: Array, fail: Fail) -> None:
        """The arm must be able to stand at q."""
        arm = self.arm
        if ((q <= self.lower) | (q >= self.upper)).any():
            j = int(((q <= self.lower) | (q >= self.upper)).argmax())
            fail(
                f"centre has {q[j]:g} for joint '{arm.joint_names[j]}', expected it between {self.lower[j]:g} and "
                f"{self.upper[j]:g}"
            )
        tau = np.abs(arm.inverse_dynamics(q, 0 * q, 0 * q))
        if (tau > _MARGIN * self.torque).any():
            j = int((tau / self.torque).argmax())
            raise InfeasibleError(
                f"excitation: standing at the centre, joint '{arm.joint_names[j]}' needs {tau[j]:.4g}, its limit is "
                f"{self.torque[j]:.4g}; choose another centre"
            )
        if self.clearance is not None and self.distances(q[None]).min() <= 0:
            raise InfeasibleError(
                f"excitation: at the centre the clearance is {self.distances(q[None]).min():.4g}, expected it positive"
            )

    def distances(self, q: Array) -> Array:
        given = self.clearance(q)
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            self._fail(f"clearance gives {_show(given)} for {len(q)} states, expected finite numbers for each")
        if found.shape[:1] != (len(q),) or not np.isfinite(found).all():
            self._fail(f"clearance gives shape {found.shape} for {len(q)} states, expected finite numbers for each")
        return found.reshape(len(q), -1)

    def use(self, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
        """Largest parts of limits (n,)."""
        half = 0.5 * (self.upper - self.lower)
        return {
            "position": (np.abs(q - self.middle) / half).max(axis=0),
            "velocity": (np.abs(qd) / self.velocity).max(axis=0),
            "acceleration": (np.abs(qdd) / self.acceleration).max(axis=0),
            "torque": (np.abs(self.arm.inverse_dynamics(q, qd, qdd)) / self.torque).max(axis=0),
        }


class _Job:
    """The function to be minimised and its gradient."""

    def __init__(self, model: LinearModel, limits: _Limits, basis: _Basis, noise: Array, criterion: str) -> None:
        self.model, self.limits, self.basis, self.noise, self.criterion = model, limits, basis, noise, criterion
        arm = model.chain
        count = max(80, 6 * basis.size, math.ceil(3 * model.count / arm.n))
        self.t = (np.arange(count) + 0.5) * basis.duration / count
        self.B = basis(self.t)
        self.fine = basis(np.linspace(0.0, basis.duration, 8 * count + 1))
        self.scale: Array | None = None
        self.turning = [kind == "revolute" for kind in arm.joint_types]

    def states(self, X: Array, B: tuple[Array, Array, Array] | None = None) -> tuple[Array, Array, Array]:
        q, qd, qdd = (b @ X for b in (self.B if B is None else B))
        return q, qd, qdd

    def random(self, middle: Array, rng: np.random.Generator) -> Array:
        """A motion about the middle, as large as limits let it be."""
        X = rng.normal(size=(self.basis.size, len(middle)))
        if self.basis.kind == "fourier":
            X[0] = middle
        else:
            X += middle - X.mean(axis=0)
        return self.inside(X, middle)

    def inside(self, X: Array, middle: Array | None = None) -> Array:
        """Motions shrunk about their middle until every limit is kept."""
        fixed = np.zeros_like(X)
        rest = self.limits.middle if middle is None else middle
        if self.basis.kind == "fourier":
            fixed[0] = rest
        else:
            fixed[:] = rest
        part = X - fixed
        q, qd, qdd = self.states(X, self.fine)
        lim = self.limits
        with np.errstate(divide="ignore"):
            room = np.where(
                q > rest,
                (lim.upper - rest) / np.maximum(q - rest, 1e-300),
                (rest - lim.lower) / np.maximum(rest - q, 1e-300),
            )
            factor = np.minimum.reduce(
                [
                    room.min(axis=0),
                    (lim.velocity / np.maximum(np.abs(qd), 1e-300)).min(axis=0),
                    (lim.acceleration / np.maximum(np.abs(qdd), 1e-300)).min(axis=0),
                ]
            )
        part = part * np.minimum(1.0 if middle is None else np.inf, _MARGIN * factor)
        low, high = 0.0, 1.0
        if not self._feasible(fixed + part):
            for _ in range(30):
                centre = 0.5 * (low + high)
                low, high = (centre, high) if self._feasible(fixed + centre * part) else (low, centre)
            part = low * part
        return np.asarray(fixed + part)

    def _feasible(self, X: Array) -> bool:
        q, qd, qdd = self.states(X, self.fine)
        use = self.limits.use(q, qd, qdd)
        if max(float(x.max()) for x in use.values()) > 1.0:
            return False
        return self.limits.clearance is None or bool(self.limits.distances(q).min() > 0)

    def rows(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Equations (m, n, r) divided by the noise of their joint."""
        return np.asarray(self.model.base_columns(q, qd, qdd) / self.noise[:, None])

    def value(self, X: Array) -> float:
        return float(self._criterion(self.rows(*self.states(X)))[0])

    def _criterion(self, W: Array) -> tuple[float, Array]:
        """The criterion, and its derivative with respect to W."""
        flat = W.reshape(-1, W.shape[-1])
        if self.scale is None:
            size = np.linalg.norm(flat, axis=0)
            self.scale = np.where(size > 0, size, 1.0)
        A = flat / self.scale
        _, s, Vt = np.linalg.svd(triangular(A))
        s = np.maximum(s, 1e-12 * s[0])
        if self.criterion == "d":  # of U S V': U S^-1 V' = A (V S^-2 V')
            value = -2 * float(np.log(s).mean())
            middle = -2 / len(s) * (Vt.T / s**2) @ Vt
        else:
            value = float(np.log(s[0] / s[-1]))
            middle = np.outer(Vt[0], Vt[0]) / s[0] ** 2 - np.outer(Vt[-1], Vt[-1]) / s[-1] ** 2
        P = np.einsum("ij,jk->ik", A, middle)  # small products are not worth the threads of a library
        return value, (P / self.scale).reshape(W.shape)

    def cost(self, X: Array, penalty: float) -> tuple[float, Array]:
        """Criterion and penalties for what is outside of limits, and the gradient (k, n)."""
        q, qd, qdd = self.states(X)
        value, P = self._criterion(self.rows(q, qd, qdd))
        gq, gd, gdd = self._through(P, q, qd, qdd)
        lim = self.limits

        def hinge(x: Array, limit: Array) -> tuple[float, Array]:
            over = np.maximum(np.abs(x) / limit - _MARGIN, 0.0)
            return penalty * float((over**2).sum()) / len(x), 2 * penalty / len(x) * over * np.sign(x) / limit

        half = 0.5 * (lim.upper - lim.lower)
        for x, bound, g in ((q - lim.middle, half, gq), (qd, lim.velocity, gd), (qdd, lim.acceleration, gdd)):
            cost, slope = hinge(x, bound)
            value += cost
            g += slope
        if np.isfinite(lim.torque).any():
            arm = self.model.chain
            cost, slope = hinge(arm.inverse_dynamics(q, qd, qdd), lim.torque)
            value += cost
            if cost:
                d = arm.derivatives(q, qd, qdd)
                gq += np.einsum("mi,mij->mj", slope, d.dtau_dq)
                gd += np.einsum("mi,mij->mj", slope, d.dtau_dqd)
                gdd += np.einsum("mi,mij->mj", slope, d.dtau_dqdd)
        if lim.clearance is not None:
            under = np.minimum(lim.distances(q), 0.0)
            value += penalty * float((under**2).sum()) / len(q)
            if under.any():
                for j in range(q.shape[1]):
                    step = np.zeros(q.shape[1])
                    step[j] = 1e-5
                    slope_j = (lim.distances(q + step) - lim.distances(q - step)) / 2e-5
                    gq[:, j] += 2 * penalty / len(q) * (under * slope_j).sum(axis=1)
        return value, self.B[0].T @ gq + self.B[1].T @ gd + self.B[2].T @ gdd

    def _through(self, P: Array, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Derivatives of sum(P W) with respect to q, qd and qdd, (m, n) each, from values of W alone.

        W is affine in each acceleration and of degree two in each rate. In an angle it is a trigonometric polynomial f
        of degree two: f'(x) = sum_k (-1)^k f(x + (2 k + 1) pi / 4) / (8 sin^2((2 k + 1) pi / 8)), k = 0 ... 3.
        """
        m, n = q.shape
        k = len(self.model._inertial)
        G = P[..., :k] / self.noise[:, None]
        turns = [(2 * i + 1) * math.pi / 4 for i in range(4)]
        weights = [(-1) ** i / (8 * math.sin(x / 2) ** 2) for i, x in enumerate(turns)]
        shifts: list[tuple[int, int, float, float]] = [(2, j, 1.0, 1.0) for j in range(n)]
        for j in range(n):
            shifts += [(1, j, 1.0, 0.5), (1, j, -1.0, -0.5)]
            if self.turning[j]:
                shifts += [(0, j, x, w) for x, w in zip(turns, weights, strict=True)]
            else:
                shifts += [(0, j, 1.0, 0.5), (0, j, -1.0, -0.5)]
        found = [np.zeros((m, n)) for _ in range(3)]
        inertial = self.model._inertial
        regressor = self.model.chain.regressor

        def inner(state: list[Array]) -> Array:
            return np.asarray(np.einsum("mjc,mjc->m", regressor(*state)[..., inertial], G))

        here = inner([q, qd, qdd])
        for which, j, shift, weight in shifts:
            state = [q, qd, qdd]
            state[which] = state[which].copy()
            state[which][:, j] += shift
            value = inner(state)
            found[which][:, j] += weight * (value - here if which == 2 else value)
        added = self.model._added
        if added:
            h = 1e-6
            for which in range(3):
                plus, minus = [q, qd, qdd], [q, qd, qdd]
                plus[which] = plus[which] + h
                minus[which] = minus[which] - h
                up = self.model._term_values(added, plus[0], plus[1], plus[2], None)
                down = self.model._term_values(added, minus[0], minus[1], minus[2], None)
                for i, (term, j) in enumerate(added):
                    slope = (up[term][:, j] - down[term][:, j]) / (2 * h)
                    slope = np.where(np.abs(slope) < 1e5, slope, 0.0)  # a jump of dry friction
                    found[which][:, j] += slope * P[:, j, k + i] / self.noise[j]
        return found[0], found[1], found[2]

    def improve(self, X: Array, iterations: int, tick: Callable[[int], None]) -> Array:
        """Quasi-Newton steps with limited memory; afterwards every limit is kept."""
        best, least = X, self.value(X)
        penalty, done = 10.0, 0
        for stage in range(3):
            steps = iterations // 3 + (stage < iterations % 3)
            X = _descend(lambda x, p=penalty: self.cost(x, p), X, steps, lambda k, d=done: tick(d + k))  # type: ignore[misc]
            done += steps
            penalty *= 10
            kept = self.inside(X)
            value = self.value(kept)
            if value < least:
                best, least = kept, value
        return best


def _descend(cost: Callable[[Array], tuple[float, Array]], X: Array, steps: int, tick: Callable[[int], None]) -> Array:
    """Minimise by the limited-memory BFGS method with a search along each direction."""
    shape = X.shape
    x = X.ravel()

    def f(x: Array) -> tuple[float, Array]:
        value, slope = cost(x.reshape(shape))
        return value, slope.ravel()

    value, g = f(x)
    pairs: list[tuple[Array, Array]] = []
    for k in range(steps):
        d = -g
        weights = []
        for s, y in reversed(pairs):
            a = (s @ d) / (s @ y)
            weights.append(a)
            d = d - a * y
        if pairs:
            s, y = pairs[-1]
            d = d * ((s @ y) / (y @ y))
        else:
            d = d * min(1.0, 0.1 * float(np.linalg.norm(x)) / max(float(np.linalg.norm(g)), 1e-300))
        for (s, y), a in zip(pairs, reversed(weights), strict=True):
            d = d + (a - (y @ d) / (s @ y)) * s
        slope = float(g @ d)
        if slope >= 0:
            pairs.clear()
            d, slope = -g, -float(g @ g)
        length = 1.0
        for _ in range(20):
            new, g_new = f(x + length * d)
            if math.isfinite(new) and new <= value + 1e-4 * length * slope:
                break
            length *= 0.4
        else:
            break
        s, y = length * d, g_new - g
        if s @ y > 1e-10 * math.sqrt(float((s @ s) * (y @ y))):
            pairs.append((s, y))
            del pairs[:-12]
        done = value - new < 1e-7 * (abs(value) + 1e-3)
        x, value, g = x + s, new, g_new
        tick(k + 1)
        if done:
            break
    return x.reshape(shape)


def _finished(job: _Job, X: Array, begin: float, end: float, rate: float, seed: int) -> Excitation:
    model, arm = job.model, job.model.chain
    W = job.rows(*job.states(X)).reshape(-1, model.count)
    size = np.linalg.norm(W, axis=0)
    size = np.where(size > 0, size, 1.0)
    _, s, Vt = np.linalg.svd(triangular(W / size))
    seen = s > 1e-9 * s[0]
    samples = rate * job.basis.duration
    C = (Vt[seen].T / s[seen]) @ (Vt[seen] / s[seen][:, None])
    deviation = np.sqrt(np.diag(C) * len(job.t) / samples) / size
    hidden = np.linalg.norm(Vt[~seen], axis=0) > 1e-6 if (~seen).any() else np.zeros(model.count, dtype=bool)
    given = model.Y @ model.full_values()
    theta = np.abs(arm.inertial_parameters)
    mass, inertia = theta[:, 0], theta[:, [4, 7, 9]].max(axis=1)
    length = np.sqrt(inertia / np.where(mass > 0, mass, 1.0))
    sizes = np.column_stack([mass, *3 * [mass * length], *6 * [inertia]]).ravel()
    q, qd, qdd = job.states(X, job.fine)
    peak = np.abs(arm.inverse_dynamics(q, qd, qdd)).max(axis=0)
    rates = {"Fv": np.abs(qd).max(axis=0), "Ia": np.abs(qdd).max(axis=0)}
    extra = [0.02 * peak[j] / max(float(rates.get(term.symbol, np.ones(arm.n))[j]), 1e-300) for term, j in model.extra]
    scale = np.maximum(np.abs(given), 0.2 * (np.abs(model.Y) @ np.concatenate([sizes, extra])))
    factor = student(samples * arm.n - model.count) if samples * arm.n > model.count else math.inf
    rows: list[Parameter] = []
    for i, value in enumerate(given.tolist()):
        d = math.inf if hidden[i] else float(deviation[i])
        verdict = NOT if d > 0.5 * scale[i] else POOR if d > 0.05 * scale[i] else WELL
        half = factor * d
        rows.append(
            Parameter(
                model.base_names[i],
                model.combinations[i],
                value,
                d,
                value - half,
                value + half,
                model.base_units[i],
                verdict,
                value,
            )
        )
    near = math.inf if job.limits.clearance is None else float(job.limits.distances(q).min())
    return Excitation(
        arm,
        job.basis.duration,
        X,
        Parameters(rows),
        float(s[0] / s[-1]),
        end,
        begin,
        job.limits.use(q, qd, qdd),
        scale,
        near,
        seed,
        job.noise,
        rate,
        job.basis,
    )
