"""What functions of time and of the state give to the kernels of a linkage, as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import Array, _show
from ..errors import ModelError
from .constraint import Constraint, Target, given_numbers

if TYPE_CHECKING:
    from .chain import Chain

_STEP = 1e-30  # complex
_EIGHTH = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # weights of central differences
_NEAR = 5e-3  # their step, in rad or in lengths of the mechanism


class Given:
    """The numbers of one linkage: targets first, then what rows ask for."""

    def __init__(self, chain: Chain, constraints: tuple[Constraint, ...]) -> None:
        self.chain, self.constraints = chain, constraints
        self.targets: list[Target] = []
        self.of_target: list[str] = []  # the constraint that has it first
        for constraint in constraints:
            new = [x for x in constraint.targets if all(x is not y for y in self.targets)]
            self.targets += new
            self.of_target += [f"constraint {_show(constraint.name)}"] * len(new)
        self.size = 24 * len(self.targets)
        self.places: list[int] = []  # of every constraint's first row, -1: nothing
        self.checked: set[int] = set()
        for constraint in constraints:
            width = self.width(constraint)
            self.places.append(self.size if width else -1)
            self.size += width * len(constraint.rows) if constraint.function is not None else width

    def target(self, side: str | Target | None) -> int:
        return next(k for k, x in enumerate(self.targets) if x is side)

    def width(self, constraint: Constraint) -> int:
        """Numbers of a row, or of the one row that depends on time."""
        if constraint.kind == "function":
            return 3 + self.chain.n
        if constraint.function is not None:
            return 6
        return 3 if callable(constraint.offset) or callable(constraint.length) else 0

    def at(self, q: Array, qd: Array, t: float) -> Array:
        """The numbers at one state."""
        out = np.empty(self.size)
        who = ""
        try:
            for k, target in enumerate(self.targets):
                who = self.of_target[k]
                out[24 * k : 24 * k + 24] = target.motion(t, who)
            for index, (constraint, place) in enumerate(zip(self.constraints, self.places, strict=True)):
                if place < 0:
                    continue
                who = f"constraint {_show(constraint.name)}"
                if constraint.kind == "function":
                    self._function(index, constraint, q, qd, t, out[place:], who)
                elif constraint.function is not None:
                    self._surfaces(constraint, q, qd, t, out, place, who)
                else:
                    timed: Any = constraint.length if callable(constraint.length) else constraint.offset
                    out[place : place + 3] = given_numbers(timed(t), 3, f"{who}: value, rate, second rate at t = {t:g}")
        except Exception as error:
            if who not in str(error):
                error.add_note(f"raised by a function of {who} at t = {t:.9g} s")
            raise
        return out

    def require_rates(self, t: float, h: float) -> None:
        """Refuse functions of time whose rates are not those of their values, smooth from t to t + 2h."""

        def compare(who: str, what: str, x: list[Array], told: Array) -> None:
            first, second, mean = (x[1] - x[0]) / h, (x[2] - x[1]) / h, (x[2] - x[0]) / (2 * h)
            scale = float(np.abs(mean).max() + np.abs(told).max())
            rounding = 1e-9 * float(np.abs(x[1]).max()) / h
            smooth = np.abs(second - first).max() <= 1e-2 * scale + rounding
            if smooth and np.abs(mean - told).max() > 1e-2 * scale + rounding:
                raise ValueError(
                    f"{who}: {what} at t = {t + h:g} is {_show(told.round(9).tolist())}, but what it is the rate of"
                    f" changes at {_show(mean.round(9).tolist())}"
                )

        times = [t + k * h for k in range(3)]
        for target, who in zip(self.targets, self.of_target, strict=True):
            at = [target.motion(x, who) for x in times]
            compare(who, "v of the target", [x[9:12] for x in at], at[1][15:18])
            compare(who, "a of the target", [x[15:18] for x in at], at[1][21:24])
            R = at[1][:9].reshape(3, 3)
            turned = [x[:9].reshape(3, 3) @ R.T for x in at]
            compare(who, "w of the target", [np.array([T[2, 1], T[0, 2], T[1, 0]]) for T in turned], at[1][12:15])
            compare(who, "alpha of the target", [x[12:15] for x in at], at[1][18:21])
        for constraint, place in zip(self.constraints, self.places, strict=True):
            if place < 0 or constraint.function is not None:
                continue
            timed: Any = constraint.length if callable(constraint.length) else constraint.offset
            who = f"constraint {_show(constraint.name)}"
            at = [given_numbers(timed(x), 3, f"{who}: value, rate, second rate at t = {x:g}") for x in times]
            compare(who, "rate", [x[:1] for x in at], at[1][1:2])
            compare(who, "second rate", [x[1:2] for x in at], at[1][2:3])

    def with_slopes(self, q: Array, qd: Array, t: Array, length: float) -> Array:
        """The numbers at states (..., n), each followed by its slopes by every q."""
        lead, n = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], t.shape), self.chain.n
        step = np.array([_NEAR * (length if kind == "prismatic" else 1.0) for kind in self.chain.joint_types])
        states, rates, times = np.broadcast_to(q, (*lead, n)), np.broadcast_to(qd, (*lead, n)), np.broadcast_to(t, lead)
        out = np.empty((*lead, (1 + n) * self.size))
        for at in np.ndindex(lead):
            out[at] = self._sloping(states[at], rates[at], float(times[at]), step).ravel()
        return out

    def _sloping(self, q: Array, qd: Array, t: float, step: Array) -> Array:
        """Of functions of the state by differences of eighth order; functions of time have no slopes."""
        n = q.size
        out = np.zeros((1 + n, self.size))
        out[0] = self.at(q, qd, t)
        if any(constraint.function is not None for constraint in self.constraints):
            for k, dq in enumerate(np.diag(step)):
                for i, weight in enumerate(_EIGHTH, 1):
                    out[1 + k] += weight / step[k] * (self.at(q + i * dq, qd, t) - self.at(q - i * dq, qd, t))
        return out

    def _function(
        self, index: int, constraint: Constraint, q: Array, qd: Array, t: float, out: Array, who: str
    ) -> None:
        f, jacobian, rate, bias = constraint.function
        rows, n = len(constraint.rows), self.chain.n
        where = f"at t = {t:g}, q = {_show(q.tolist())}"

        def numbers(function: Callable[..., Any], what: str, size: int, *arguments: Any) -> Array:
            return given_numbers(function(*arguments), size, f"{who}: {what} {where}")

        value = numbers(f, "f", rows, q.copy(), t)
        if jacobian is not None:
            J = numbers(jacobian, "jacobian", rows * n, q.copy(), t).reshape(rows, n)
            f_t = numbers(rate, "time_derivative", rows, q.copy(), t) if rate is not None else np.zeros(rows)
            gam = numbers(bias, "bias", rows, q.copy(), qd.copy(), t)
            if index not in self.checked:
                self._check(constraint, q, t, who)
                self.checked.add(index)
        else:
            J, f_t, gam = self._stepped(f, rows, q, qd, t, who)
        for i in range(rows):
            at = out[i * (3 + n) : (i + 1) * (3 + n)]
            at[0], at[1], at[2], at[3:] = value[i], f_t[i], gam[i], J[i]

    def _stepped(self, f: Any, rows: int, q: Array, qd: Array, t: float, who: str) -> tuple[Array, Array, Array]:
        """Derivatives by complex step; the second ones by differences of it."""

        def imaginary(direction: Array, by_t: float, q: Array, t: float) -> Array:
            try:
                value = np.asarray(f(q + 1j * _STEP * direction, t + 1j * _STEP * by_t)).ravel()
            except Exception as error:
                raise ValueError(
                    f"{who}: f cannot be called with complex numbers, give jacobian and bias ({error})"
                ) from error
            return given_numbers(np.imag(value) / _STEP, rows, f"{who}: derivative of f at t = {t:g}")

        n = q.size
        J = np.column_stack([imaginary(np.eye(n)[j], 0.0, q, t) for j in range(n)])
        f_t = imaginary(np.zeros(n), 1.0, q, t)
        # along the motion: the rate of the rate; fourth order differences of an exact first derivative
        size = max(1.0, float(np.abs(qd).max()))
        h = 1e-3 / size
        along = [imaginary(qd, 1.0, q + k * h * qd, t + k * h) for k in (-2, -1, 1, 2)]
        gam = (along[0] - 8 * along[1] + 8 * along[2] - along[3]) / (12 * h)
        return J, f_t, gam

    def _check(self, constraint: Constraint, q: Array, t: float, who: str) -> None:
        """What the user gives against differences, once: near q and in motion, where nothing is zero by chance."""
        f, jacobian, rate, bias = constraint.function
        rows, n, h = len(constraint.rows), q.size, 1e-5
        q = q + 0.05 * np.cos(1.0 + np.arange(n))
        qd = np.cos(2.0 + 3.0 * np.arange(n))

        def value(dq: Array, dt: float) -> Array:
            return given_numbers(f(q + dq, t + dt), rows, f"{who}: f")

        def slope(dq: Array, dt: float) -> Array:
            return given_numbers(jacobian(q + dq, t + dt), rows * n, f"{who}: jacobian").reshape(rows, n)

        def drift(dq: Array, dt: float) -> Array:
            return given_numbers(rate(q + dq, t + dt), rows, f"{who}: time_derivative") if rate else np.zeros(rows)

        def first(dq: Array, dt: float) -> Array:
            return np.asarray(slope(dq, dt) @ qd + drift(dq, dt))

        still = np.zeros(n)
        found = {
            "jacobian": (slope(still, 0), np.column_stack([value(h * e, 0) - value(-h * e, 0) for e in np.eye(n)])),
            "time_derivative": (drift(still, 0), value(still, h) - value(still, -h)),
            "bias": (given_numbers(bias(q, qd, t), rows, f"{who}: bias"), first(h * qd, h) - first(-h * qd, -h)),
        }
        for key, (given, change) in found.items():
            differences = change / (2 * h)
            if np.abs(given - differences).max() > 1e-5 * max(1.0, float(np.abs(differences).max())):
                expected = _show(differences.round(6).tolist())
                raise ModelError(f"{who}: {key} is {_show(given.tolist())}, but differences of f give {expected}")

    def _surfaces(
        self, constraint: Constraint, q: Array, qd: Array, t: float, out: Array, place: int, who: str
    ) -> None:
        x, rate = self._relative(constraint, q, qd, out)
        for i, surface in enumerate(constraint.function):
            result = surface(x.copy(), t)
            if not isinstance(result, tuple | list) or len(result) not in (3, 6):
                raise ValueError(
                    f"{who}: the surface gives {_show(result)} at t = {t:g}, expected (g, gradient, Hessian)"
                )
            sizes = (1, 3, 9, 1, 3, 1)
            parts = [
                given_numbers(part, size, f"{who}: surface at t = {t:g}, x = {_show(x.tolist())}")
                for part, size in zip(result, sizes, strict=False)
            ]
            moving = parts[3:] or [np.zeros(1), np.zeros(3), np.zeros(1)]
            second = rate @ parts[2].reshape(3, 3) @ rate + 2 * moving[1] @ rate + moving[2][0]
            out[place + 6 * i : place + 6 * i + 6] = [parts[0][0], moving[0][0], second, *parts[1]]

    def _relative(self, constraint: Constraint, q: Array, qd: Array, out: Array) -> tuple[Array, Array]:
        """The point of B in the frame of A, and its rate there."""
        sides = []
        for side, point in ((constraint.a, constraint.point_a), (constraint.b, constraint.point_b)):
            if isinstance(side, Target):
                k = 24 * self.target(side)
                R, p, w, v = (
                    out[k : k + 9].reshape(3, 3),
                    out[k + 9 : k + 12],
                    out[k + 12 : k + 15],
                    out[k + 15 : k + 18],
                )
            else:
                pose, twist = self.chain.pose(q, str(side)), self.chain.velocity(q, qd, str(side))
                R, p, w, v = pose[:3, :3], pose[:3, 3], twist[3:], twist[:3]
            arm = R @ point
            sides.append((R, p + arm, w, v + np.cross(w, arm)))
        (R_a, p_a, w_a, v_a), (_, p_b, _, v_b) = sides
        frame = R_a @ constraint.rotation_a
        return frame.T @ (p_b - p_a), frame.T @ (v_b - v_a - np.cross(w_a, p_b - p_a))
