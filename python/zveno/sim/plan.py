"""How a simulation is run: its arguments, its steps in slices, its progress bar, and what is said about its result."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Self, TypeAlias

import numpy as np

from .. import _core
from .._check import _show, as_array, as_choice, as_integer, as_list, as_number, levels_outside, refuse_masked
from .._extras import optional
from ..errors import SimulationWarning, StepError
from .stability import FAR, Linearised, Spring

if TYPE_CHECKING:
    from .adaptive import AdaptiveRun
    from .simulation import Simulation

Run: TypeAlias = "_core.HexapodRun | _core.ChainRun | AdaptiveRun"

_LONG: Final = 2.0  # s: shorter work shows no progress bar
_CHUNK: Final = 0.1  # s between two looks at the clock and at Ctrl-C
_FEWEST: Final = 50  # steps of "semi-implicit" below which motion from rest has 1 / (2 steps) > 1 % of error anyway
TOLERANCE: Final = 0.01  # of the energy exchanged

EXPLICIT: Final = ("rk4", "semi-implicit")
IMPLICIT: Final = ("implicit", "gauss", "midpoint", "radau")
ADAPTIVE: Final = ("adaptive", "adaptive-stiff")
METHODS: Final = (*EXPLICIT, *IMPLICIT, *ADAPTIVE)
# relative and absolute tolerances; without the first only the iteration of a step has one
_TOLERANCES: Final = {
    "gauss": (None, 1e-12),
    "midpoint": (None, 1e-12),
    "radau": (1e-6, 1e-8),
    "adaptive": (1e-8, 1e-10),
    "adaptive-stiff": (1e-6, 1e-8),
}


def refuse(text: str) -> NoReturn:
    """Refuse an argument of a simulation."""
    raise ValueError(f"simulate: {text}")


class Plan(NamedTuple):
    """Arguments that the simulations of all mechanisms have in common."""

    start: float
    dt: float
    steps: int
    method: str
    every: int
    progress: bool | None
    on_error: str
    check_step: bool
    threads: int
    rtol: float = 0.0
    atol: float = 1e-12
    watched: tuple[str, ...] = ()  # names of the caller's events
    breaks: tuple[float, ...] = ()  # times at which a step ends, increasing

    @classmethod
    def checked(
        cls,
        t_end: Any,
        dt: Any,
        t_start: Any,
        method: Any,
        every: Any,
        progress: Any,
        on_error: Any,
        check_step: Any,
        threads: Any,
        methods: Sequence[str] = EXPLICIT,
        rtol: Any = None,
        atol: Any = None,
    ) -> Self:
        method = as_choice(method, refuse, "method", methods)
        method = "gauss" if method == "implicit" else method
        tolerances = _tolerances(method, rtol, atol)
        if progress is not None and not isinstance(progress, bool):
            refuse(f"progress is {_show(progress)}, expected True, False or None")
        if not isinstance(check_step, bool):
            refuse(f"check_step is {_show(check_step)}, expected True or False")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            refuse(f"every is {_show(every)}, expected a whole number > 0")
        count = 1 if threads is None else as_integer("simulate", "threads", threads, 0, _core.MOST_THREADS)
        start, end = as_number(t_start, refuse, "t_start"), as_number(t_end, refuse, "t_end")
        step = as_number(dt, refuse, "dt")
        if not end > start:
            refuse(f"t_end is {end:g}, expected more than t_start = {start:g}")
        if not step > 0:
            refuse(f"dt is {step:g}, expected a number > 0")
        steps = _steps((end - start) / step)
        step = (end - start) / steps
        if not end - step < end:
            refuse(f"dt is {step:g}, too short beside t_end = {end:g}")
        return cls(
            start, step, steps, method, min(int(every), steps), progress, on_error, check_step, count, *tolerances
        )

    @property
    def records(self) -> int:
        """Number of recorded states: the first, every `every`-th and the last."""
        return self.steps // self.every + 1 + (self.steps % self.every != 0)

    def schedule(self) -> _core.Schedule:
        return _core.Schedule(
            semi_implicit=self.method == "semi-implicit",
            start=self.start,
            dt=self.dt,
            steps=self.steps,
            every=self.every,
            implicit=self.method if self.method in IMPLICIT else "",
            rtol=self.rtol,
            atol=self.atol,
            breaks=list(self.breaks),
        )

    def broken_at(self, breaks: Any, functions: Sequence[Any]) -> Self:
        """The plan with steps that end at `breaks`, and where functions say by their attribute of that name."""
        found: set[float] = set()
        named = [("breaks", breaks)] if breaks is not None else []
        named += [
            (f"breaks of function '{getattr(x, '__name__', type(x).__name__)}'", x.breaks)
            for x in functions
            if hasattr(x, "breaks")
        ]
        for what, given in named:
            refuse_masked(given, f"simulate: {what}")
            times = as_list(given)
            if times is None:
                refuse(f"{what} is {_show(given)}, expected times (k,)")
            found |= set(as_array(times, refuse, what, (len(times),)).tolist())
        end = self.start + self.dt * self.steps
        near = 1e-9 * self.dt
        inside = sorted(t for t in found if self.start + near < t <= end + near)
        return self._replace(breaks=tuple(t for i, t in enumerate(inside) if not i or t > inside[i - 1] + near))

    @property
    def explicit(self) -> bool:
        """Whether steps have a limit of stability."""
        return self.method in EXPLICIT

    def require_on_error(self, *choices: str) -> None:
        if self.on_error not in choices:
            refuse(f"on_error is {_show(self.on_error)}, expected {' or '.join(map(repr, choices))}")

    def require_memory(self, numbers: int, runs: int | None) -> None:
        """Refuse records that do not fit into the memory of the machine; `numbers` are those of one state."""
        need, most = 8 * numbers * self.records * (1 if runs is None else runs), memory()
        if need > most:
            times = "" if runs is None else f"{runs} runs x "
            refuse(
                f"the record needs {need} bytes ({times}{self.records} states x {numbers} numbers), this machine has"
                f" {most}: record fewer states with every="
            )

    def require_step(self, linear: Linearised | None, where: str = "") -> None:
        """Refuse a step that is far beyond the limit of stability at the start."""
        if linear is None or not self.check_step:
            return
        acting = linear.acting(self.dt)
        if linear.stable(self.dt / FAR, acting):
            return
        limit, cause = linear.limit(acting)
        raise StepError(
            f"simulate: dt is {self.dt:g} s{where}, more than {FAR:g} times the longest stable step of '{self.method}',"
            f" {limit:.3g} s, because of {cause}: the motion would explode; shorten dt (check_step=False runs it"
            " nevertheless)",
            self.dt,
            limit,
            cause,
        )


def _tolerances(method: str, rtol: Any, atol: Any) -> tuple[float, float]:
    """Tolerances of a method; those that it does not have are refused."""
    relative, absolute = _TOLERANCES.get(method, (None, None))
    if method == "radau" and _is_zero(rtol):  # steps are not controlled, only their equations solved
        absolute = _TOLERANCES["gauss"][1]
    found = []
    for name, given, default in (("rtol", rtol, relative), ("atol", atol, absolute)):
        if given is None:
            found.append(default)
            continue
        if default is None:
            refuse(f"{name} is {_show(given)}, which method '{method}' does not have")
        number = as_number(given, refuse, name)
        if not (number > 0 or (number == 0 and name == "rtol" and method == "radau")):
            refuse(f"{name} is {number:g}, expected a number > 0")
        found.append(number)
    return found[0] or 0.0, found[1] or 1e-12


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def _steps(ratio: float) -> int:
    """Whole steps that cover `ratio` steps; a ratio that is whole but for rounding stays whole."""
    if not ratio < 2**40:
        refuse(f"dt makes {ratio:.3g} steps, expected less than {2**40:.3g}")
    nearest = round(ratio)
    return max(1, nearest if abs(ratio - nearest) < 1e-9 * max(1.0, ratio) else math.ceil(ratio))


def memory() -> int:
    """Bytes of memory of this machine, or 2^36 where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**36


# ---- what is said about a run


def limit_of(plan: Plan, linear: Linearised | None, entered: set[int]) -> tuple[float, str]:
    """The step limit of what has acted in a run, and its cause; infinite where nothing is known."""
    met: Sequence[Spring] = [] if linear is None else linear.met(plan.dt, entered)
    return linear.limit(met) if linear is not None and met else (math.inf, "")


def doubts(plan: Plan, record: Simulation, linear: Linearised | None, entered: set[int]) -> str:
    """Why a record is not to be trusted; empty if it may be."""
    balance = record.energy_balance
    judged = plan.method != "semi-implicit" or plan.steps >= _FEWEST
    broken = balance.ratio > TOLERANCE and judged
    unstable = linear is not None and not (
        linear.stable(plan.dt, linear.acting(plan.dt, entered))
        and linear.stable(plan.dt, linear.sticking(plan.dt, entered, record._end_rates()))
    )
    if not broken and not unstable:
        return ""
    text = f"dt = {plan.dt:g} s is too long"
    if broken:
        text = (
            f"the energy error of {balance.error:.3g} J is {percent(balance.ratio)} of the {balance.exchanged:.3g} J"
            f" exchanged: {text}"
        )
    limit, cause = limit_of(plan, linear, entered)
    if math.isinf(limit):
        return f"{text} for the motion, or forces given as functions are too stiff"
    if plan.dt > 0.05 * limit:
        text += f"; '{plan.method}' is stable up to {limit:.3g} s, because of {cause}"
        if plan.dt < limit:
            text += ", and accurate far below that"
        return text
    return (
        f"{text} for the motion or for forces given as functions: that of {cause} would be stable up to {limit:.3g} s"
    )


def percent(ratio: float) -> str:
    """A ratio in words."""
    return f"{100 * ratio:.2g} %" if 1e-4 < ratio < 9.5 else f"{ratio:.1e}"


def warn(text: str) -> None:
    """A warning that points at the line that called the package."""
    warnings.warn(f"simulate: {text}", SimulationWarning, stacklevel=levels_outside() + 1)


# ---- steps


def advance(run: Run, steps: int, tick: Callable[[int], None]) -> None:
    """Make all steps of a run, in slices between which `tick` is told the number of steps made, and Ctrl-C is heard."""
    last = time.perf_counter()
    count = 16
    while run.advance(count):
        now = time.perf_counter()
        if now - last < 0.5 * _CHUNK:
            count = min(2 * count, steps)
        elif now - last > 2 * _CHUNK:
            count = max(1, count // 2)
        last = now
        tick(run.step)
    tick(run.step)


class Progress:
    """A progress bar on stderr that appears when the work turns out to be long, and a clock for it."""

    def __init__(self, wanted: bool | None, total: int, words: tuple[str, str, str], rate: bool = False) -> None:
        self._forced, self._total, self._words, self._rate = wanted is True, total, words, rate
        self._wanted = self._forced or (wanted is None and _can_show())
        self._begin = time.perf_counter()
        self._bar: Any = None

    def __call__(self, done: int) -> None:
        if not self._wanted:
            return
        spent = time.perf_counter() - self._begin
        long = spent > _CHUNK and spent * self._total / max(1, done) > _LONG
        if self._bar is None and (self._forced or long):
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=done, rate=f"{done / spent:.3g}/s" if done else "")

    def _open(self) -> None:
        what, unit, who = self._words
        progress = optional("rich.progress", who, "rich")
        console = optional("rich.console", who, "rich").Console(stderr=True)
        columns = (
            progress.TextColumn(what),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn(unit),
            *((progress.TextColumn("{task.fields[rate]}"),) if self._rate else ()),
            progress.TimeRemainingColumn(),
        )
        self._bar = progress.Progress(*columns, console=console, transient=True)
        self._bar.start()
        self._task = self._bar.add_task("", total=self._total, rate="")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress_bar(
    wanted: bool | None, total: int, words: tuple[str, str, str], *, rate: bool = False
) -> Iterator[Progress]:
    """`words`: what is done, its unit, and who asks for rich; `rate`: how much in a second is shown too."""
    bar = Progress(wanted, total, words, rate)
    if wanted is True:
        bar(0)
    try:
        yield bar
    finally:
        bar.close()


def _can_show() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and importlib.util.find_spec("rich") is not None
