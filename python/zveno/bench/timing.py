"""Timing of calls in turns, comparison of their results, and the machine that they ran on."""

from __future__ import annotations

import os
import platform
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from .._dispatch import cpu_features

__all__ = [
    "RELATIVE_AGREEMENT",
    "Call",
    "StudyError",
    "Times",
    "best_of",
    "call",
    "deviation",
    "host",
    "measure",
    "require_agreement",
]

K = TypeVar("K")

RELATIVE_AGREEMENT: Final = 1e-9
TURN: Final = 2e-4  # seconds: long against the clock, short against a time slice of the system


class StudyError(RuntimeError):
    """The study cannot be run, or two engines disagree, so that their times must not be compared."""


@dataclass(frozen=True)
class Call:
    """A call to be timed: ``function(*args, **kwargs)``, which treats ``states`` states."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    states: int = 1

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def timer(self, clock: Callable[[], float] = time.perf_counter) -> timeit.Timer:
        """A timer whose loop makes this very call on local variables, without a wrapper function around it."""
        names = {f"a{k}": value for k, value in enumerate(self.args)} | {f"k_{k}": v for k, v in self.kwargs.items()}
        arguments = [*(f"a{k}" for k in range(len(self.args))), *(f"{k}=k_{k}" for k in self.kwargs)]
        setup = "; ".join(["f = _f", *(f"{name} = _{name}" for name in names)])
        scope = {"_f": self.function} | {f"_{name}": value for name, value in names.items()}
        return timeit.Timer(f"f({', '.join(arguments)})", setup, clock, globals=scope)


def call(function: Callable[..., Any], *args: Any, states: int = 1, **kwargs: Any) -> Call:
    """A :class:`Call`, written like the call itself."""
    return Call(function, args, kwargs, states)


class Times(NamedTuple):
    """Seconds per state of one call: the smallest wall time of a turn, and the mean processor time of all turns.

    Processor time is a check: where it is far above the wall time several threads worked, where it is far below the
    mean wall time (`busy`) others did.
    """

    wall: float
    processor: float
    busy: float  # mean wall time over mean processor time; nan where the clock of the processor did not move


def measure(calls: Mapping[K, Call], seconds: float = 0.1, repeat: int = 5) -> dict[K, Times]:
    """Wall and processor time per state of each call; the calls take turns, so that all meet the same machine.

    The smallest wall time counts, because others can only lengthen a turn. The clock of the processor may stand still
    during a turn: its minimum would be too small, its sum over all turns is not.

    Parameters
    ----------
    calls : Mapping[K, Call]
    seconds : float
        Time to spend on each call.
    repeat : int
        Smallest number of turns, whatever they cost.

    Returns
    -------
    dict[K, Times]
    """
    timers = {}
    for key, item in calls.items():
        timer = item.timer()
        once = max(min(timer.timeit(1), timer.timeit(1)), 1e-8)
        timers[key] = timer, max(1, int(TURN / once))
    best = dict.fromkeys(calls, float("inf"))
    wall, processor = dict.fromkeys(calls, 0.0), dict.fromkeys(calls, 0.0)
    deadline = timeit.default_timer() + seconds * len(calls)
    turns = 0
    while turns < repeat or timeit.default_timer() < deadline:
        for key, (timer, number) in timers.items():
            before = time.process_time()
            turn = timer.timeit(number)
            processor[key] += time.process_time() - before
            wall[key] += turn
            best[key] = min(best[key], turn / number)
        turns += 1
    return {
        key: Times(
            # a clock that does not move in a turn cannot tell less than its own step
            max(best[key], _TICK / number) / calls[key].states,
            processor[key] / (turns * number) / calls[key].states,
            wall[key] / processor[key] if processor[key] > 0 else float("nan"),
        )
        for key, (_, number) in timers.items()
    }


_TICK: Final = time.get_clock_info("perf_counter").resolution


def best_of(calls: Mapping[K, Call], seconds: float = 0.1, repeat: int = 5) -> dict[K, float]:
    """Smallest wall time per state of each call, in seconds, see :func:`measure`."""
    return {key: times.wall for key, times in measure(calls, seconds, repeat).items()}


def deviation(value: Any, reference: Any) -> float:
    """Largest difference of two arrays, relative to the largest element of the reference."""
    value, reference = np.asarray(value, float), np.asarray(reference, float)
    return float(np.max(np.abs(value - reference), initial=0.0) / np.max(np.abs(reference), initial=1e-300))


def require_agreement(what: str, value: Any, reference: Any) -> None:
    """Raise :class:`StudyError` unless two results agree: times of different results say nothing."""
    if not (error := deviation(value, reference)) <= RELATIVE_AGREEMENT:
        raise StudyError(f"{what}: results differ by {error:.1e}, expected at most {RELATIVE_AGREEMENT:g} (relative)")


def host(*packages: str) -> dict[str, Any]:
    """Processor, system, instruction set chosen by zveno, and versions, for the head of every report."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    versions = {"python": platform.python_version()}
    for package in ("zveno", "numpy", *packages):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "features": dict(cpu_features()),
        "versions": versions,
    }
