"""Many simulations at once: runs side by side in threads, and their common record."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._check import Array
from .._extras import optional
from . import plan as _plan
from .plan import Plan, Run, progress_bar
from .stability import Linearised

if TYPE_CHECKING:
    from .simulation import RecordField, Simulation

__all__ = ["SimulationBatch"]

_TICK: Final = 0.05  # s between two looks at the progress and at Ctrl-C while threads work


class SimulationBatch:
    """Record of many simulated motions, as `simulate` returns it where initial states have leading dimensions.

    Immutable. Fields are those of a single simulation with the leading dimensions in front: ``r`` is (..., n, 3) for n
    recorded states; ``t`` is (n,) for all. ``batch[i]`` is the simulation of one run, ``batch[1:3]`` a smaller batch,
    without copies. Static checkers know a call as a batch by its argument `threads`.

    Attributes
    ----------
    shape : tuple of int
        The leading dimensions.
    status : (...) int16 array
        0 for runs that reached their end; ``hexapod.explain(status)`` or ``chain.explain(status)`` has the words. What
        a failed run did not reach is nan.
    states : (...) int array
        Numbers of recorded states.
    energy_ratio : (...) array
        Error of each energy balance beside the energy exchanged (see `Simulation.energy_balance`).
    failures : dict of Exception by flat index
    method, dt : str, float
    fields : tuple of RecordField

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> u = np.zeros((4, 6))
    >>> u[:, 0] = [-0.02, -0.04, -0.06, -0.08]
    >>> runs = ring.simulate(0.5, 1e-3, u=u, laws=zv.laws.SpringDamper(400.0, 80.0), threads=2)
    >>> runs.base_wrench.shape
    (4, 501, 6)
    >>> np.abs(runs.base_wrench[..., 0]).max(axis=1).round(1)
    array([ 4. ,  8.1, 12.1, 16.1])
    >>> print(runs[3].energy_balance)
    0.94 J exchanged, error < 1e-9 of it
    """

    if TYPE_CHECKING:
        t: Array
        shape: tuple[int, ...]
        status: NDArray[np.int16]
        states: NDArray[np.intp]
        energy_ratio: Array
        failures: dict[int, BaseException]
        method: str
        dt: float

        def __getattr__(self, name: str) -> Any: ...

    def __init__(
        self,
        kind: type[Simulation],
        mechanism: Any,
        arrays: dict[str, Array],
        *,
        method: str,
        dt: float,
        status: NDArray[np.int16],
        states: NDArray[np.intp],
        energy_ratio: Array,
        events: NDArray[np.object_],
        failures: dict[int, BaseException],
    ) -> None:
        about = {"method": method, "dt": dt, "status": status, "states": states, "energy_ratio": energy_ratio}
        named = {kind._mechanism: mechanism, "shape": status.shape, "failures": failures}
        self.__dict__.update(arrays, _kind=kind, _events=events, **about, **named)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot assign to '{name}': a simulation is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete '{name}': a simulation is immutable")

    @property
    def fields(self) -> tuple[RecordField, ...]:
        """What is recorded, with units and labels."""
        fields: tuple[RecordField, ...] = self._kind.fields
        return fields

    @property
    def _model(self) -> Any:
        return self.__dict__[self._kind._mechanism]

    def to_dict(self) -> dict[str, Array]:
        """Return all arrays by name."""
        return {field.name: self.__dict__[field.name] for field in self.fields}

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        """The simulation of one run, or the batch of several."""
        flat = np.arange(math.prod(self.shape)).reshape(self.shape)[index]
        about, arrays = self._about(), self.to_dict()
        if np.ndim(flat) == 0:
            count, place = int(self.states[index]), np.unravel_index(int(flat), self.shape)
            one = {name: array[:count] if name == "t" else array[place][:count] for name, array in arrays.items()}
            failure = self.failures.get(int(flat))
            return self._kind(one, self._model, events=self._events[place], failure=failure, **about)
        failures = {
            new: self.failures[old] for new, old in enumerate(flat.reshape(-1).tolist()) if old in self.failures
        }
        return SimulationBatch(
            self._kind,
            self._model,
            {name: array if name == "t" else array[index] for name, array in arrays.items()},
            status=self.status[index],
            states=self.states[index],
            energy_ratio=self.energy_ratio[index],
            events=self._events[index],
            failures=failures,
            **about,
        )

    def __repr__(self) -> str:
        runs = f"{math.prod(self.shape)} runs {self.shape}"
        span = f"{len(self.t)} states from t = {self.t[0]:g} to {self.t[-1]:g} s"
        failed = int(np.count_nonzero(self.status))
        known = self.energy_ratio[np.isfinite(self.energy_ratio)]
        worst = float(known.max()) if known.size else math.nan
        energy = "no energy balance" if math.isnan(worst) else f"worst energy error {max(worst, 1e-9):.1g} of exchanged"
        what = f"'{self._model.name}', {runs}, {span}, {self.method}, dt = {self.dt:g} s, {energy}"
        return f"SimulationBatch({what}{f', {failed} failed' if failed else ''})"

    def to_xarray(self) -> Any:
        """Return an xarray.Dataset; leading dimensions are run, or run_0, run_1, ... Needs xarray."""
        xarray = optional("xarray", "SimulationBatch.to_xarray", "xarray")
        count = len(self.shape)
        lead = ("run",) if count == 1 else tuple(f"run_{i}" for i in range(count))
        time, *fields = self.fields
        coords: dict[str, Any] = {"t": ("t", self.t, {"units": time.unit})}
        first = self._kind({name: a[:0] for name, a in self.to_dict().items()}, self._model, events=[], **self._about())
        variables: dict[str, Any] = {"status": (lead, self.status), "energy_ratio": (lead, self.energy_ratio)}
        for name, unit, doc, dims in fields:
            for dim, labels in dims:
                coords[dim] = list(first._labels(dim) if labels is None else labels)
            about = {"units": unit, "long_name": doc}
            variables[name] = ((*lead, "t", *(dim for dim, _ in dims)), self.__dict__[name], about)
        return xarray.Dataset(
            variables, coords=coords, attrs={self._kind._mechanism: self._model.name, **self._about()}
        )

    def _about(self) -> dict[str, Any]:
        return {"method": self.method, "dt": self.dt}


class _CancelledError(Exception):
    """A run that nobody waits for any more."""


class _Batch:
    """Runs that are made one after another or side by side, and the arrays that they fill."""

    def __init__(
        self,
        plan: Plan,
        lead: tuple[int, ...],
        make: Callable[[int], Run],
        linear: Callable[[int], Linearised | None],
        kind: type[Simulation],
        model: Any,
        names: Sequence[str],
        sizes: dict[str, tuple[int, ...]],
    ) -> None:
        self.plan, self.lead, self.make, self.linear = plan, lead, make, linear
        self.kind, self.model, self.names = kind, model, names
        self.count = math.prod(lead)
        self.arrays = {name: np.empty((self.count, plan.records, *size)) for name, size in sizes.items() if name != "t"}
        self.times = plan.start + plan.dt * np.minimum(np.arange(plan.records) * plan.every, plan.steps)
        self.status = np.zeros(self.count, np.int16)
        self.states = np.zeros(self.count, np.intp)
        self.ratio = np.zeros(self.count)
        self.events = np.empty(self.count, object)
        self.failures: dict[int, Any] = {}
        self.doubts: dict[int, str] = {}
        self.steps = np.zeros(self.count, np.int64)  # made so far
        self.last = self.count  # rows behind it need not be made
        self.stopped = threading.Event()
        self.rows = iter(range(self.count))

    def work(self, tick: Callable[[], None]) -> None:
        """Make runs until none is left."""
        for row in self.rows:  # the next row is taken under the interpreter's lock
            if row > self.last or self.stopped.is_set():
                return
            try:
                self.one(row, tick)
            except _CancelledError:
                continue

    def one(self, row: int, tick: Callable[[], None]) -> None:
        run, plan = self.make(row), self.plan

        def look(step: int) -> None:
            self.steps[row] = step
            if self.stopped.is_set() or row > self.last:
                raise _CancelledError
            tick()

        try:
            _plan.advance(run, plan.steps, look)
        except _CancelledError:
            raise
        except BaseException as error:  # of a function, or Ctrl-C
            run.settle()
            self.last = min(self.last, row)
            _, error.simulation = self.kind._recorded(plan, run, self.model, self.names, None, error)  # type: ignore[attr-defined]
            raise
        linear = self.linear(row) if run.failure is not None or run.step else None
        failure, record = self.kind._recorded(plan, run, self.model, self.names, linear, None)
        self.steps[row] = plan.steps
        self.collect(row, run, record, failure, linear)
        tick()

    def collect(self, row: int, run: Run, record: Simulation, failure: Any, linear: Linearised | None) -> None:
        n = run.recorded
        for name, array in self.arrays.items():
            array[row, :n] = run.arrays[name][:n]
            array[row, n:] = np.nan
        if n == len(self.times):
            self.times = record.t  # the same for all
        self.states[row], self.events[row] = n, record.events
        self.ratio[row] = record.energy_balance.ratio
        if failure is not None:
            (cause, part, _), _ = run.failure  # type: ignore[misc]  # there is one
            self.status[row] = cause | (part + 1) << 8
            failure.row = row
            self.failures[row] = failure
            if self.plan.on_error == "raise":
                failure.simulation = record
                self.last = min(self.last, row)
        else:
            text = _plan.doubts(self.plan, record, linear, self.kind._entered(run))
            if text:
                self.doubts[row] = text

    def place(self, row: int) -> str:
        return str(tuple(map(int, np.unravel_index(row, self.lead))))


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_batch(
    plan: Plan,
    lead: tuple[int, ...],
    make: Callable[[int], Run],
    linear: Callable[[int], Linearised | None],
    kind: type[Simulation],
    model: Any,
    names: Sequence[str],
    sizes: dict[str, tuple[int, ...]],
    calls_back: bool,
) -> SimulationBatch:
    """Make all runs; those with functions of Python one after another, since only one of them can run at a time."""
    plan.require_on_error("raise", "nan")
    plan.require_memory(sum(math.prod(size) for size in sizes.values()), math.prod(lead))
    batch = _Batch(plan, lead, make, linear, kind, model, names, sizes)
    if plan.check_step:
        for row in range(batch.count):
            plan.require_step(linear(row), f" for run {batch.place(row)}")
    threads = 1 if calls_back else min(plan.threads or processors(), batch.count)
    words = ("simulating", "steps", "simulate: progress=True")
    with progress_bar(plan.progress, plan.steps * batch.count, words) as bar:
        if threads <= 1:
            batch.work(lambda: bar(int(batch.steps.sum())))
        else:
            _side_by_side(batch, threads, lambda: bar(int(batch.steps.sum())))
    if batch.failures and plan.on_error == "raise":
        raise batch.failures[min(batch.failures)]
    if batch.doubts:
        worst = max(batch.doubts, key=lambda row: batch.ratio[row] if batch.ratio[row] == batch.ratio[row] else -1.0)
        many = f"{len(batch.doubts)} of {batch.count} runs are not to be trusted; run {batch.place(worst)}: "
        _plan.warn(many + batch.doubts[worst], stacklevel=4)
    return SimulationBatch(
        kind,
        model,
        {"t": batch.times} | {name: array.reshape(*lead, *array.shape[1:]) for name, array in batch.arrays.items()},
        method=plan.method,
        dt=plan.dt,
        status=batch.status.reshape(lead),
        states=batch.states.reshape(lead),
        energy_ratio=batch.ratio.reshape(lead),
        events=batch.events.reshape(lead),
        failures=batch.failures,
    )


def _side_by_side(batch: _Batch, threads: int, tick: Callable[[], None]) -> None:
    """Work in threads, while this one looks at the progress; Ctrl-C ends them all."""
    from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait  # brings logging

    pool = ThreadPoolExecutor(threads, thread_name_prefix="zveno.simulate")
    left: set[Future[None]] = set()
    try:
        left.update(pool.submit(batch.work, lambda: None) for _ in range(threads))
        while left:
            done, left = wait(left, timeout=_TICK, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            tick()
    finally:
        batch.stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)


def common_shape(shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The leading dimensions that arguments have in common; those of one run are ()."""
    if not any(shapes.values()):
        return ()
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        texts = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        _plan.refuse(f"leading dimensions do not broadcast: {texts}")


def rows_of(array: Array, lead: tuple[int, ...], core: int) -> Array:
    """An array with all leading dimensions made one, without a copy where possible; `core` dimensions remain."""
    if not lead:
        return array[None]
    inner = array.shape[array.ndim - core :]
    return np.broadcast_to(array, (*lead, *inner)).reshape(-1, *inner)
