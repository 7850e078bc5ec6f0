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
from typing import Any, Final, TypeVar

import numpy as np

from .._dispatch import cpu_features

__all__ = ["RELATIVE_AGREEMENT", "Call", "StudyError", "best_of", "call", "deviation", "host", "require_agreement"]

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

    def timer(self, clock: Callable[[], float]) -> timeit.Timer:
        """A timer whose loop makes this very call on local variables, without a wrapper function around it."""
        names = {f"a{k}": value for k, value in enumerate(self.args)} | {f"k_{k}": v for k, v in self.kwargs.items()}
        arguments = [*(f"a{k}" for k in range(len(self.args))), *(f"{k}=k_{k}" for k in self.kwargs)]
        setup = "; ".join(["f = _f", *(f"{name} = _{name}" for name in names)])
        scope = {"_f": self.function} | {f"_{name}": value for name, value in names.items()}
        return timeit.Timer(f"f({', '.join(arguments)})", setup, clock, globals=scope)


def call(function: Callable[..., Any], *args: Any, states: int = 1, **kwargs: Any) -> Call:
    """A :class:`Call`, written like the call itself."""
    return Call(function, args, kwargs, states)


def best_of(
    calls: Mapping[K, Call], seconds: float = 0.1, repeat: int = 5, clock: Callable[[], float] = time.process_time
) -> dict[K, float]:
    """Smallest time per state of each call, in seconds; the calls take turns, so that all meet the same machine.

    Processor time by default: on a busy machine long calls are always interrupted and short ones are not, and wall
    time would favour the engine with the shorter calls.

    Parameters
    ----------
    calls : Mapping[K, Call]
    seconds : float
        Time to spend on each call.
    repeat : int
        Smallest number of turns, whatever they cost.
    clock : Callable[[], float]
        ``time.perf_counter`` where several threads work.

    Returns
    -------
    dict[K, float]
    """
    timers = {}
    for key, item in calls.items():
        timer = item.timer(clock)
        once = max(min(timer.timeit(1), timer.timeit(1)), 1e-8)
        timers[key] = timer, max(1, int(TURN / once))
    best = dict.fromkeys(calls, float("inf"))
    deadline = timeit.default_timer() + seconds * len(calls)
    turns = 0
    while turns < repeat or timeit.default_timer() < deadline:
        for key, (timer, number) in timers.items():
            best[key] = min(best[key], timer.timeit(number) / number)
        turns += 1
    return {key: value / calls[key].states for key, value in best.items()}


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
