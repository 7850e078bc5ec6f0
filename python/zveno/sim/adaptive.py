"""Steps of SciPy's integrators: error control and dense output. Rates, events and the record are those of C++."""

from __future__ import annotations

import bisect
from typing import Any, Final

import numpy as np

from .. import _core
from .._check import Array
from .._extras import optional
from .plan import Plan

__all__ = ["AdaptiveRun"]

_SOLVERS: Final = {"adaptive": "DOP853", "adaptive-stiff": "Radau"}


class _FailedError(Exception):
    """Rates that are not there: the run knows why."""


class Dense:
    """States between the steps of a solver."""

    def __init__(self) -> None:
        self.times: list[float] = []  # ends of the steps
        self.pieces: list[Any] = []

    def add(self, t: float, piece: Any) -> None:
        self.times.append(t)
        self.pieces.append(piece)

    def __call__(self, t: float) -> Array:
        place = min(bisect.bisect_left(self.times, t), len(self.pieces) - 1)
        return np.asarray(self.pieces[place](t))


class AdaptiveRun:
    """A run of a chain whose steps are made by SciPy, as `_core.ChainRun` is one of constant steps.

    `restart`: loads jump after every so many steps of the record; 0: never. `held`: states are projected back onto
    constraints after every step of the solver.
    """

    def __init__(self, run: _core.ChainRun, plan: Plan, restart: int, held: bool = False) -> None:
        integrate = optional("scipy.integrate", f"simulate: method '{plan.method}'", "scipy")
        self._solver_type = getattr(integrate, _SOLVERS[plan.method])
        self._run, self._plan, self._restart, self._held = run, plan, restart, held
        self.step = 0
        self._solver: Any = None
        self.dense = Dense()
        self._broken_at: float | None = None
        self._break: float | None = None
        self._near = 1e-9 * plan.dt
        self._ended = False

    def advance(self, count: int) -> bool:
        """Up to `count` steps of the record more; False at the end or after a failure."""
        plan = self._plan
        try:
            if self._solver is None:
                self._begin(plan.start, self._run.state())
            for _ in range(count):
                if self._ended or self.step == plan.steps or not self._one():
                    break
        except _FailedError:
            self._ended = True
        return not self._ended and self.step < plan.steps

    def _time(self, step: int) -> float:
        return self._plan.start + self._plan.dt * step

    def _begin(self, t: float, y: Array) -> None:
        last = self._plan.steps if not self._restart else min(self.step + self._restart, self._plan.steps)
        piece = self.step

        def rates(t: float, y: Array) -> Array:
            found = self._run.rates(t, piece, y)
            if found is None:
                raise _FailedError
            return found

        tolerances = {"rtol": max(self._plan.rtol, 3e-14), "atol": self._plan.atol}
        end = self._time(last)
        self._break = next((x for x in self._plan.breaks if t + self._near < x <= end + self._near), None)
        if self._break is not None:  # what holds from there on is not seen before
            end = self._break - 8 * float(np.finfo(float).eps) * max(abs(self._break), self._plan.dt)
        self._solver = self._solver_type(rates, t, y, end, **tolerances)
        self._bound = last

    def _one(self) -> bool:
        """To the next state of the record."""
        solver, target = self._solver, self._time(self.step + 1)
        breaks = False
        while solver.t < target:
            if solver.status == "finished" and self._break is not None:
                if breaks := self._break >= target - self._near:
                    break
                self._begin(self._break, self._projected(self._break, solver.y))
                solver = self._solver
            solver.step()
            if solver.status == "failed":
                self._broken_at, self._ended = float(solver.t), True
                return False
            self.dense.add(float(solver.t), solver.dense_output())
            if self._held:
                solver.y = self._projected(float(solver.t), solver.y)
                solver.f = solver.fun(solver.t, solver.y)
            if solver.t < target and not self._reach(float(solver.t), self.step, solver.y, False):
                return False
        if breaks:
            y = self._projected(target, solver.y)
        else:
            y = solver.y if solver.t == target else self._projected(target, self.dense(target))
        restarts = (self.step + 1 == self._bound or breaks) and self.step + 1 < self._plan.steps
        recorded = (self.step + 1) % self._plan.every == 0 or self.step + 1 == self._plan.steps
        if not self._reach(target, self.step + 1, y, recorded):
            return False
        self.step += 1
        if restarts:
            self._begin(target, y)
        return True

    def _projected(self, t: float, y: Array) -> Array:
        found = self._run.project(t, y) if self._held else y
        if found is None:
            raise _FailedError
        return found

    def _reach(self, t: float, step: int, y: Array, record: bool) -> bool:
        if self._run.reach(t, step, y, record):
            return True
        self._ended = True
        if self._run.failure is None:  # an event ends the motion
            end = max(event[0] for event in self._run.crossings)
            self._run.reach(end, self.step, self._projected(end, self.dense(end)), True, False)
        return False

    def settle(self) -> None:
        """What is recorded is kept as it is."""

    @property
    def made(self) -> tuple[int, int, int]:
        return len(self.dense.pieces), 0, 0

    @property
    def recorded(self) -> int:
        return self._run.recorded

    @property
    def failure(self) -> tuple[Any, float] | None:
        if self._broken_at is None:
            return self._run.failure
        return (_no_step(), -1, 0.0), self._broken_at

    @property
    def events(self) -> list[tuple[float, int, bool, bool, float]]:
        return self._run.events

    @property
    def crossings(self) -> list[tuple[float, int, bool, Array, Array]]:
        return self._run.crossings

    @property
    def arrays(self) -> dict[str, Array]:
        return self._run.arrays


def _no_step() -> int:
    """The cause of a step that was not made."""
    return next(cause for cause in range(1, 128) if _core.cause(cause)[1] == "no step")
