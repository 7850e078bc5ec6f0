"""How long single steps take on this machine: measured, not promised."""

from __future__ import annotations

import ctypes as ct
import math
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._check import Array, _show, as_amount, as_flag, as_integer, called, failing
from .._extras import optional
from ..deploy.description import RigOptions
from ..deploy.library import Stepper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain, Hexapod

__all__ = ["Latency", "measure"]

Counts = NDArray[np.int64]

_OCTAVE: Final = 32  # bins
_BINS: Final = 40 * _OCTAVE  # up to 18 minutes
_ROWS: Final = 1000  # steps of the motion that is repeated
_DOCKING: Final = 4.0  # s of a docking, after which it begins again
_MOST_ROWS: Final = 400_000
_SLOWEST: Final = 10.0
_LATEST: Final = 1e6
_PRIORITY: Final = 80
_LOCK_ALL: Final = 3  # MCL_CURRENT | MCL_FUTURE


@dataclass(frozen=True, eq=False)
class Latency:
    """Time of single steps; made by `measure`. Printing it shows a table.

    Attributes
    ----------
    model : str
    steps : int
    pace : float, s
        Time from one step to the next, at most 10; 0: one right after another.
    deadline : float, s
    microseconds : dict
        Of a step: "p50", "p99", "p99.9", "p99.99", upper ends of bins 2 % wide, and "max", exact.
    late_microseconds : dict
        The same of the start of steps after their time; empty without a period.
    over_deadline : int
        Steps that ended after it, late start included.
    failures : int
        Steps that the library could not make.
    page_faults, switches, preemptions : int or None
        Of the thread while it stepped: page faults, voluntary and forced changes of context; None where unknown.
    realtime : str
        "on", or why not.
    machine : dict
        Processor, kernel, governor, load.
    counts, late_counts : array of int
        Histograms, bins of 1/32 octave: bin i begins at 2^(i/32) ns.
    """

    model: str
    steps: int
    pace: float
    deadline: float
    microseconds: dict[str, float]
    late_microseconds: dict[str, float]
    over_deadline: int
    failures: int
    page_faults: int | None
    switches: int | None
    preemptions: int | None
    realtime: str
    machine: dict[str, Any]
    counts: Counts
    late_counts: Counts

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; histograms as pairs (ns, count).

        Examples
        --------
        >>> import zveno as zv
        >>> zv.rigs.measure(zv.robots.two_link(), steps=1000, warm_up=100).to_dict()["steps"]
        1000
        """
        data = asdict(self)
        for key in ("counts", "late_counts"):
            filled = np.flatnonzero(data[key])
            data[key] = [[round(2 ** (i / _OCTAVE), 1), int(data[key][i])] for i in filled.tolist()]
        return data

    def __str__(self) -> str:
        pace = f"every {1e3 * self.pace:g} ms" if self.pace else "one after another"
        lines = [
            f"{self.steps:,} steps of {self.model}, {pace}; real-time scheduling: {self.realtime}",
            f"  {'us':<12}" + "".join(f"{key:>10}" for key in self.microseconds),
            f"  {'step':<12}" + "".join(f"{value:>10.2f}" for value in self.microseconds.values()),
        ]
        if self.late_microseconds:
            lines.append(f"  {'late start':<12}" + "".join(f"{x:>10.2f}" for x in self.late_microseconds.values()))
        lines.append(f"  {self.over_deadline} over the deadline of {1e6 * self.deadline:g} us, {self.failures} failed")
        if self.page_faults is not None:
            lines.append(f"  {self.page_faults} page faults, {self.switches} waits, {self.preemptions} preemptions")
        lines.append("  " + ", ".join(f"{key} {value}" for key, value in self.machine.items()))
        return "\n".join(lines)

    def plot(self) -> Figure:
        """The histogram. Needs matplotlib (``zveno[plot]``).

        Examples
        --------
        >>> import zveno as zv
        >>> figure = zv.rigs.measure(zv.robots.two_link(), steps=1000, warm_up=100).plot()
        >>> figure.axes[0].get_xlabel()
        'time of a step, us'
        """
        figure: Figure = optional("zveno.plot.rigs", "Latency.plot", "matplotlib").plot_latency(self)
        return figure


def measure(
    model: Chain | Hexapod | Stepper,
    *,
    steps: int = 1_000_000,
    warm_up: int = 10_000,
    pace: float = 0.0,
    deadline: float | None = None,
    realtime: bool = False,
    **options: Unpack[RigOptions],
) -> Latency:
    """Time single steps of a mechanism in the C library, each with a monotonic clock, without Python in between.

    A hexapod runs against a wall and away from it again, with the wrench of the contact; a chain swings under
    its static forces and a sine. That motion of 1000 steps is repeated. The maximum under ordinary scheduling is the
    machine's, not the library's.

    Parameters
    ----------
    model : Chain, Hexapod or Stepper
    steps : int
        1 to 1e9.
    warm_up : int
        Steps before them that do not count.
    pace : float, s
        Time from one step to the next, at most 10; 0: one right after another.
    deadline : float, s
        Default: the pace, or without one the period of the step.
    realtime : bool
        SCHED_FIFO with priority 80 and locked memory, if the system permits it; afterwards all is as before.
    **options
        Of a model that is not a stepper: period, laws, substeps and others of `save_rig`.

    Returns
    -------
    latency : Latency

    Examples
    --------
    >>> import zveno as zv
    >>> found = zv.rigs.measure(zv.mechanisms.docking_ring("UPS"), steps=2000, warm_up=200)
    >>> found.failures, found.microseconds["p50"] <= found.microseconds["max"]
    (0, True)
    """
    fail = failing("rigs.measure")
    count = as_integer("rigs.measure", "steps", steps, 1, 10**9)
    before = as_integer("rigs.measure", "warm_up", warm_up, 0, 10**9)
    tick = as_amount(pace, fail, "pace")
    if tick > _SLOWEST:
        fail(f"pace is {tick:g}, expected at most {_SLOWEST:g} s")
    urgent = as_flag(realtime, fail, "realtime")
    if isinstance(model, Stepper):
        if options:
            fail(f"{next(iter(options))} is given, but the model is a Stepper, which has its own")
        stepper, name = model, "a stepper"
    else:
        from ..docking.scenario import Scenario
        from ..model import Chain, Hexapod, Linkage

        if not isinstance(model, Chain | Hexapod | Linkage | Scenario):
            expected = "a Chain, Linkage, Hexapod, docking Scenario or Stepper"
            raise TypeError(f"rigs.measure: model is {_show(model)}, expected {expected}")
        if isinstance(model, Hexapod) and options.get("u") is None:
            options["u"] = [0.05, 0, 0, 0, 0, 0]
        with called("rigs.measure", "Stepper"):
            stepper = Stepper(model, **options)
        name = "docking" if isinstance(model, Scenario) else model.name
    limit = as_amount((tick or stepper.period) if deadline is None else deadline, fail, "deadline", positive=True)
    if limit > _LATEST:
        fail(f"deadline is {limit:g}, expected at most {_LATEST:g} s")
    kept = stepper.state
    library, handle = stepper._library, int(stepper._handle or 0)
    step, reset = (int(ct.cast(f, ct.c_void_p).value or 0) for f in (library.zv_rig_step, library.zv_rig_reset))
    size = int(stepper._out.size)
    counts, late = np.zeros(_BINS, dtype=np.int64), np.zeros(_BINS, dtype=np.int64)

    def run(inputs: Array, number: int, tick: float) -> tuple[int, int, int, int]:
        return _core.time_steps(step, reset, handle, inputs, size, number, tick, limit, counts, late)

    try:
        if isinstance(model, Stepper):
            inputs = _inputs(stepper, None)
        else:  # of the same motion whatever is given
            whole = Stepper(model, **(options | {"outputs": None})) if options.get("outputs") else stepper
            inputs = _inputs(whole, model)
        with _scheduled(urgent) as how:
            run(inputs, before, 0.0)
            counts[:], late[:] = 0, 0
            used = _usage()
            longest, latest, over, failures = run(inputs, count, tick)
            after = _usage()
    finally:
        stepper.state = kept
    faults, waits, preempted = (b - a for a, b in zip(used, after, strict=True)) if used and after else (None,) * 3
    return Latency(
        name,
        count,
        tick,
        limit,
        _percentiles(counts, longest),
        _percentiles(late, latest) if tick else {},
        over,
        failures,
        faults,
        waits,
        preempted,
        how,
        _machine(),
        counts,
        late,
    )


def _inputs(stepper: Stepper, model: Any) -> Array:
    """Inputs of a motion that is repeated, (rows, size)."""
    docks = "phase_command" in stepper.inputs  # approach, contact and capture
    rows = np.zeros((math.ceil(min(_MOST_ROWS, _DOCKING / stepper.period)) if docks else _ROWS, stepper._in.size))
    stepper.reset()
    if "wrench" in stepper.inputs and "ring.position" in stepper.outputs:  # a ring against a wall in front of it
        push = stepper.inputs["wrench"].start
        place = stepper.outputs["ring.position"].start
        wall = None
        for i, row in enumerate(rows[:-1]):
            x = float(stepper.step_array(row)[place])
            wall = x + 1e-3 if wall is None else wall
            rows[i + 1, push] = -4e4 * max(0.0, x - wall)
    elif model is not None and not docks:
        chain = getattr(model, "chain", model)
        rest = np.zeros(chain.n)
        hold = np.asarray(chain.inverse_dynamics(rest, rest, rest)) * (chain is model)
        turn = np.sin(2 * math.pi * np.arange(_ROWS) / _ROWS)
        rows[:, stepper.inputs["tau"]] = hold + 0.2 * np.maximum(np.abs(hold), 1e-3) * turn[:, None]
    stepper.reset()
    return rows


def _percentiles(counts: Counts, largest: int) -> dict[str, float]:
    """Microseconds below which so many steps took; the upper end of their bin, at most the largest."""
    total, sums = int(counts.sum()), np.cumsum(counts)
    found = {}
    for share in (50, 99, 99.9, 99.99):
        i = int(np.searchsorted(sums, math.ceil(total * share / 100)))
        found[f"p{share:g}"] = min(2 ** ((i + 1) / _OCTAVE), float(largest)) / 1e3
    return found | {"max": largest / 1e3}


def _usage() -> tuple[int, int, int] | None:
    """Page faults, waits and preemptions of this thread so far."""
    try:
        import resource

        used = resource.getrusage(resource.RUSAGE_THREAD)
    except (ImportError, AttributeError, OSError):
        return None
    return used.ru_minflt + used.ru_majflt, used.ru_nvcsw, used.ru_nivcsw


@contextmanager
def _scheduled(wanted: bool) -> Iterator[str]:
    """Real-time scheduling and locked memory while it lasts; says whether there is."""
    if not wanted:
        yield "not asked for"
        return
    if sys.platform != "linux":
        yield "not available on this system"
        return
    before, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except OSError as error:
        yield f"not permitted ({error.strerror})"
        return
    libc = ct.CDLL(None, use_errno=True)
    locked = libc.mlockall(_LOCK_ALL) == 0
    try:
        yield "on" if locked else f"on, memory not locked ({os.strerror(ct.get_errno())})"
    finally:
        if locked:
            libc.munlockall()
        os.sched_setscheduler(0, before, parameter)


def _machine() -> dict[str, Any]:
    """What a figure of time belongs to."""
    from ..versions import versions

    found: dict[str, Any] = {"cpu": versions()["cpu"], "kernel": f"{platform.system()} {platform.release()}"}
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.exists():
        found["governor"] = governor.read_text(encoding="ascii").strip()
    if hasattr(os, "getloadavg"):
        found["load"] = round(os.getloadavg()[0], 2)
    return found
