"""Many simulations at once: runs side by side in threads, and their common record."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._check import Array, as_flag, failing
from .._extras import optional
from . import output, storage
from . import plan as _plan
from .plan import Plan, Run, progress_bar
from .stability import Linearised

if TYPE_CHECKING:
    from .simulation import RecordField, Simulation

__all__ = ["BatchBalance", "SimulationBatch"]

AnySimulation = TypeVar("AnySimulation", bound="Simulation")

_NAMED: Final = 8  # runs that a message names
_TICK: Final = 0.05  # s between two looks at the progress and at Ctrl-C while threads work


class BatchBalance(NamedTuple):
    """How well the energies of the runs of a batch are accounted for: the numbers of `EnergyBalance` for each run."""

    exchanged: Array
    error: Array
    ratio: Array

    @property
    def worst(self) -> tuple[int, ...] | None:
        """Index of the run with the largest ratio; None if no run has a balance."""
        known = np.isfinite(self.ratio)
        if not known.any():
            return None
        flat = int(np.where(known, self.ratio, -1.0).argmax())
        return tuple(map(int, np.unravel_index(flat, self.ratio.shape)))

    def __str__(self) -> str:
        run = self.worst
        if run is None:
            return "no energy balance"
        size = self.ratio[run]
        return f"worst energy error {max(size, 1e-9):.1g} of exchanged{f' in run {run}' if size > 1e-9 else ''}"


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
    failures : dict of Exception by flat index
    method, dt : str, float
    fields : tuple of RecordField
    hexapod or chain : Hexapod or Chain

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
    >>> print(runs.summary(["base_wrench.fx", "kinetic_energy"]))
    quantity        where  peak      unit  time, s  run   mean      deviation  least
    base_wrench     fx     -16.063   N     0.109    (3,)  10.0628   4.47941    4.04359
    kinetic_energy         0.296668  J     0        (3,)  0.139063  0.105297   0.0185418
    """

    if TYPE_CHECKING:
        t: Array
        _kind: type[Simulation]
        _energy: Array
        _events: NDArray[np.object_]
        shape: tuple[int, ...]
        status: NDArray[np.int16]
        states: NDArray[np.intp]
        failures: dict[int, BaseException]
        method: str
        dt: float

    def __getattr__(self, name: str) -> Any:
        known = not name.startswith("_") and any(field.name == name for field in self._kind.fields)
        why = "was not recorded: name it in record= of simulate" if known else "is not an attribute of it"
        raise AttributeError(f"SimulationBatch: '{name}' {why}", name=name, obj=self)

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
        energy: Array,
        events: NDArray[np.object_],
        failures: dict[int, BaseException],
    ) -> None:
        about = {"method": method, "dt": dt, "status": status, "states": states, "failures": failures}
        named = {kind._mechanism: mechanism, "shape": status.shape}
        self.__dict__.update(arrays, _kind=kind, _events=events, _energy=energy, **about, **named)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot assign to '{name}': a simulation is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete '{name}': a simulation is immutable")

    @property
    def fields(self) -> tuple[RecordField, ...]:
        """What is recorded, with units and labels."""
        fields: tuple[RecordField, ...] = self._kind.fields
        return tuple(field for field in fields if field.name in self.__dict__)

    @property
    def energy_balance(self) -> BatchBalance:
        """Energy exchanged, the error of its balance, and their ratio, an array (...) each; prints the worst run.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.5, 1e-2, q=[[0, 0], [1, 0]], method="semi-implicit", threads=1)
        >>> print(runs.energy_balance)
        worst energy error 0.007 of exchanged in run (0,)
        >>> runs.energy_balance.exchanged.round(2)
        array([31.95,  5.76])
        """
        return BatchBalance(*np.moveaxis(self._energy, -1, 0))

    @property
    def energy_ratio(self) -> Array:
        """Errors of the energy balances beside the energies exchanged, (...)."""
        return self.energy_balance.ratio

    @property
    def _mechanism(self) -> str:
        name: str = self._kind._mechanism
        return name

    @property
    def _model(self) -> Any:
        return self.__dict__[self._mechanism]

    @property
    def _blank(self) -> Simulation:
        """A record without states, which knows labels and units."""
        blank: Simulation = self._kind._blank(self._model, self.method, self.dt, self.fields)
        return blank

    def to_dict(self) -> dict[str, Array]:
        """Return all arrays by name.

        Examples
        --------
        >>> import zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.0, 0.5]], threads=1)
        >>> runs.to_dict()["q"].shape
        (2, 11, 2)
        """
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
            energy=self._energy[index],
            events=self._events[index],
            failures=failures,
            **about,
        )

    def __repr__(self) -> str:
        runs = f"{math.prod(self.shape)} runs {self.shape}"
        span = f"{len(self.t)} states from t = {self.t[0]:g} to {self.t[-1]:g} s"
        failed = int(np.count_nonzero(self.status))
        what = f"'{self._model.name}', {runs}, {span}, {self.method}, dt = {self.dt:g} s, {self.energy_balance}"
        return f"SimulationBatch({what}{f', {failed} failed' if failed else ''})"

    def _repr_html_(self) -> str:
        return output.html_of(repr(self), self.fields, self.to_dict())

    def columns(self) -> dict[str, Array]:
        """Return every number as a column over time, ``{"t": (n,), "r.x": (..., n), "tau.leg1": (..., n), ...}``.

        Examples
        --------
        >>> import zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.0, 0.5]], threads=1)
        >>> next(x.shape for name, x in runs.columns().items() if name != "t")
        (2, 11)
        """
        return {column.name: column.values for column in self._blank._columns(self.to_dict())}

    def summary(self, fields: Iterable[str] | str | None = None, *, each: bool = False) -> output.BatchSummary:
        """Peaks of every quantity: of the worst run, which is named, and mean, deviation and least over the runs.

        Parameters
        ----------
        fields : iterable of str, optional
            Names of fields, or of `columns`; default: all that have a unit.
        each : bool
            A row for every leg, joint or component instead of the largest of them.

        Returns
        -------
        summary : BatchSummary
            A tuple of `RunPeak`; prints as a table. ``.runs`` has the peaks of every run, ``.to_dict()`` and
            ``.to_pandas()`` the columns of the table. Failed runs count up to where they came.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> u = np.array([-0.02, -0.08, -0.04])[:, None] * [1, -0.25, 0, 0, 0, 0]
        >>> runs = ring.simulate(0.5, 1e-3, u=u, laws=zv.laws.SpringDamper(400.0, 80.0), threads=2)
        >>> print(runs.summary(["base_wrench.fx", "tau"]))
        quantity     where  peak      unit  time, s  run   mean     deviation  least
        base_wrench  fx     -16.0483  N     0.109    (1,)  9.3854   4.98941    4.04266
        tau          leg2   6.22914   N     0.128    (1,)  3.63388  1.94215    1.55755
        """
        who = "SimulationBatch.summary"
        chosen = self._blank._quantities(who, fields, self.to_dict())
        return output.batch_peaks(self.t, chosen, as_flag(each, failing(who), "each"), self.shape)

    def _reached(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """Number, index and number of states of every run."""
        for flat, count in enumerate(self.states.reshape(-1).tolist()):
            yield flat, tuple(map(int, np.unravel_index(flat, self.shape))), count

    def to_csv(
        self, path: str | os.PathLike[str], fields: Iterable[str] | str | None = None, *, progress: bool | None = None
    ) -> None:
        """Write one table of all runs: a line for each state, run by run, behind the index of the run.

        The first line has names with units (``run,t [s],base_wrench.fx [N]``; ``run_0,run_1,...`` for several leading
        dimensions). Failed runs have lines up to where they came. The file appears when it is complete.

        Parameters
        ----------
        path : str or path
        fields : iterable of str, optional
            Names of fields (``"base_wrench"``) or of columns (``"tau.leg3"``); default: all. Time comes first.
        progress : bool, optional
            Show a progress bar. Default: if rich is installed, stderr is a terminal and it takes more than 2 s.

        Examples
        --------
        >>> import tempfile, pathlib, zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.0, 0.5]], threads=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "swings.csv")
        ...     runs.to_csv(path, ["q"])
        ...     print(*path.read_text().splitlines()[::11], sep="\\n")
        run,t [s],q.upper_joint [rad],q.lower_joint [rad]
        0,0.1,0.5546341622906173,-0.07185482469155553
        1,0.1,0.060704033026589416,0.42267153963164517
        """
        chosen = self._blank._chosen("SimulationBatch.to_csv", fields, self.to_dict())
        header = [*output.run_names(self.shape), *(f"{column.name} [{column.unit}]" for column in chosen)]
        tables = (
            (place, np.column_stack([(c.values if c.field == "t" else c.values[place])[:count] for c in chosen]))
            for _, place, count in self._reached()
        )
        output.write_csv(path, "SimulationBatch.to_csv", header, tables, int(self.states.sum()), progress)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame of `columns`, its index the run and the time; what no run reached is left out.

        Needs pandas.

        Examples
        --------
        >>> import zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.0, 0.5]], threads=1)
        >>> runs.to_pandas().index.names
        FrozenList(['run', 't'])
        """
        pandas = optional("pandas", "SimulationBatch.to_pandas")
        columns = self.columns()
        t = columns.pop("t")
        counts = self.states.reshape(-1)
        reached = np.arange(len(t)) < counts[:, None]  # (runs, n)
        rows = np.repeat(np.arange(len(counts)), counts)
        index = output.run_index(pandas, rows, self.shape, [("t", np.broadcast_to(t, reached.shape)[reached])])
        flat = {name: values.reshape(reached.shape)[reached] for name, values in columns.items()}
        return pandas.DataFrame(flat, index=index)

    def to_xarray(self) -> Any:
        """Return an xarray.Dataset; leading dimensions are run, or run_0, run_1, ... Needs xarray.

        Examples
        --------
        >>> import zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.0, 0.5]], threads=1)
        >>> runs.to_xarray()["q"].dims
        ('run', 't', 'joint')
        """
        lead = output.run_names(self.shape)
        more = {"status": (lead, self.status), "energy_ratio": (lead, self.energy_ratio)}
        return output.dataset("SimulationBatch.to_xarray", self._blank, self.to_dict(), lead, more)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all runs, the mechanism included, to a compressed .npz file; `load` and ``zveno.load`` read it.

        The file appears when it is complete.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.0, 0.5]], threads=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "swings.npz")
        ...     runs.save(path)
        ...     bool((zv.load(path).q == runs.q).all())
        True
        """
        storage.save_batch(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SimulationBatch:
        """Read a batch that `save` has written, of whatever mechanism.

        Raises
        ------
        ValueError
            The file is damaged or holds something else; the message names the file and the field.
        OSError
            The file cannot be opened.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> runs = zv.robots.two_link().simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.0, 0.5]], threads=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "runs.npz")
        ...     runs.save(path)
        ...     len(zv.SimulationBatch.load(path))
        2
        """
        found = storage.load(path, "SimulationBatch.load")
        if not isinstance(found, cls):
            what = "one simulation, expected a batch: Simulation.load and zveno.load read it"
            raise ValueError(f"SimulationBatch.load: '{os.fspath(path)}' holds {what}")
        return found

    def _about(self) -> dict[str, Any]:
        return {"method": self.method, "dt": self.dt}


class _CancelledError(Exception):
    """A run that nobody waits for any more."""


class Lanes(NamedTuple):
    """Runs under efforts, springs and dampers of the joints alone, as C++ makes them side by side."""

    q: Array  # (runs, n)
    qd: Array
    tau: Array | None  # (n,), (held, n), (runs, n) or (runs, held, n)
    held: int  # efforts of so many steps are given, or one for all
    tau_by_run: bool
    spring: Array | None  # (n, 4): force, stiffness, damping, reference
    linkage: Any = None  # what holds the links besides their joints
    baumgarte: tuple[float, float] = (0.0, 0.0)

    def slopes(self, chain: Any) -> tuple[Array, Array]:
        """Stiffness and damping of every joint, the links' own included, (n,) each."""
        own = np.zeros((chain.n, 4)) if self.spring is None else self.spring
        return chain.stiffness + own[:, 1], chain.friction + own[:, 2]

    def calm(self, chain: Any, dt: float) -> NDArray[np.bool_]:
        """Runs for which a bound says quickly that the step is far below the limit of stability; see `stability`."""
        k, c = self.slopes(chain)
        if self.linkage is not None or (not k.any() and not c.any()):
            return np.ones(len(self.q), bool)
        inverse = chain.inverse_mass_matrix(self.q, on_error="nan")
        weight = np.diagonal(inverse, axis1=1, axis2=2)
        calm: NDArray[np.bool_] = dt * np.sqrt(weight @ k) + dt * (weight @ c) < 1
        return calm


class Runs(NamedTuple, Generic[AnySimulation]):
    """The runs of one call of `simulate`."""

    plan: Plan
    lead: tuple[int, ...]  # () of a single run
    make: Callable[[int], Run]
    linear: Callable[[int], Linearised | None]  # small motions about the start of a run
    kind: type[AnySimulation]
    model: Any
    names: Sequence[str]  # of the legs or joints
    own: Mapping[str, int]  # sizes of the mechanism's own dimensions
    calls_back: bool  # into Python, where only one run can be made at a time
    wanted: Sequence[str] | None = None  # names of the fields to record; None: all
    lanes: Lanes | None = None  # of runs that can be made side by side in them

    @property
    def chain(self) -> Any:
        """The tree of runs in lanes."""
        return self.model if self.lanes is None or self.lanes.linkage is None else self.model.chain

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """What every recorded field has behind time."""
        return {
            field.name: tuple(self.own[dim] if labels is None else len(labels) for dim, labels in field.dims)
            for field in self.kind.fields
            if self.wanted is None or field.name in self.wanted
        }

    def require_memory(self) -> None:
        numbers = sum(math.prod(size) for size in self.sizes.values())
        self.plan.require_memory(numbers, math.prod(self.lead) if self.lead else None)


class _Batch(Generic[AnySimulation]):
    """Runs that are made one after another or side by side, and the arrays that they fill."""

    def __init__(self, runs: Runs[AnySimulation]) -> None:
        plan = runs.plan
        self.runs, self.plan, self.kind = runs, plan, runs.kind
        self.count, sizes = math.prod(runs.lead), runs.sizes
        self.arrays = {name: np.empty((self.count, plan.records, *size)) for name, size in sizes.items() if name != "t"}
        self.times = plan.start + plan.dt * np.minimum(np.arange(plan.records) * plan.every, plan.steps)
        self.status = np.zeros(self.count, np.int16)
        self.states = np.zeros(self.count, np.intp)
        self.energy = np.zeros((self.count, 3))
        self.events = np.empty(self.count, object)
        self.calm = np.zeros(self.count, bool)  # nothing that acts at the start is too stiff for the step
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
        run, plan, model, names = self.runs.make(row), self.plan, self.runs.model, self.runs.names

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
            _, error.simulation = self.kind._recorded(plan, run, model, names, None, error)  # type: ignore[attr-defined]
            raise
        linear = self.runs.linear(row) if run.failure is not None else None
        failure, record = self.kind._recorded(plan, run, model, names, linear, None)
        self.steps[row] = plan.steps
        self.collect(row, run, record, failure)
        tick()

    def check_step(self) -> None:
        """Refuse a step that is far too long for one of the runs."""
        lanes = self.runs.lanes
        if lanes is not None:
            self.calm = lanes.calm(self.runs.chain, self.plan.dt)
        for row in np.flatnonzero(~self.calm).tolist():
            linear = self.runs.linear(row)
            self.plan.require_step(linear, f" for run {self.place(row)}")
            self.calm[row] = linear is None or linear.calm(self.plan.dt)

    def side_by_side(self, threads: int, tick: Callable[[], None]) -> None:
        """Make all runs in lanes; those that fail are made again one by one, which tells why."""
        plan, lanes, model = self.plan, self.runs.lanes, self.runs.model
        assert lanes is not None
        chain = self.runs.chain
        out: dict[str, Array] = {
            name: self.arrays[name] for name in ("q", "qd", "qdd", "tau", "work_joints") if name in self.arrays
        }
        if "base_wrench" in self.arrays and "qdd" not in out:
            out["qdd"] = np.empty_like(out["q"])
        broken = np.zeros(self.count, bool)
        listed: list[Any] = []
        block = max(256, -(-self.count // 64))
        for begin in range(0, self.count, block):
            end = min(begin + block, self.count)
            flags, events = _core.run_steps(
                chain,
                plan.schedule(),
                **lanes._asdict(),
                lower=chain.lower,
                upper=chain.upper,
                out=out,
                begin=begin,
                end=end,
                threads=threads,
            )
            broken[begin:end] = flags[begin:end]
            listed += events
            self.steps[begin:end] = plan.steps
            tick()
        self._account(out, threads)
        self.states[:] = plan.records
        for row, events in enumerate(listed):
            self.events[row] = self.kind._listed(events, self.runs.names)
        whole = self.kind({"t": self.times, **self.arrays}, model, method=plan.method, dt=plan.dt, events=[])
        self.energy[:] = np.stack(whole._balances(), axis=-1)
        for row in np.flatnonzero(broken).tolist():
            if row > self.last:
                break
            self.one(row, tick)
        self._doubt(broken)

    def _doubt(self, broken: NDArray[np.bool_]) -> None:
        """Runs in lanes that are not to be trusted; there are no stops that could have been met."""
        plan, ratio = self.plan, self.energy[:, 2]
        loud = ~broken & (ratio > _plan.TOLERANCE)
        told = ~broken & ~self.calm
        if loud.any():  # one text for all of them, that of the worst
            told[int(np.where(loud, ratio, -1.0).argmax())] = True
        found = {}
        for row in np.flatnonzero(told).tolist():
            arrays = {name: array[row] for name, array in self.arrays.items()} | {"t": self.times}
            record = self.kind(arrays, self.runs.model, method=plan.method, dt=plan.dt, events=[])
            found[row] = _plan.doubts(plan, record, self.runs.linear(row), set())
        if any(found.get(row) for row in np.flatnonzero(loud).tolist()):
            self.doubts.update(dict.fromkeys(np.flatnonzero(loud).tolist(), ""))
        self.doubts.update({row: text for row, text in found.items() if text})

    def _account(self, out: Mapping[str, Array], threads: int) -> None:
        """What follows from the recorded states of all runs."""
        chain, arrays = self.runs.chain, self.arrays
        state = (arrays["q"], arrays["qd"])
        how: dict[str, Any] = {"on_error": "nan", "threads": threads}
        if "base_wrench" in arrays:
            arrays["base_wrench"][...] = chain.base_wrench(*state, out["qdd"], **how)
        if "work_external" in arrays:
            arrays["work_external"][...] = 0.0
        if "kinetic_energy" in arrays:
            arrays["kinetic_energy"][...] = chain.kinetic_energy(*state, **how)
        if "potential_energy" in arrays:
            arrays["potential_energy"][...] = chain.potential_energy(state[0], **how)
        if "energy_error" in arrays:
            energy = arrays["kinetic_energy"] + arrays["potential_energy"]
            works = arrays["work_joints"] + arrays["work_external"]
            arrays["energy_error"][...] = energy - energy[:, :1] - works

    def collect(self, row: int, run: Run, record: Simulation, failure: Any) -> None:
        n = run.recorded
        for name, array in self.arrays.items():
            array[row, :n] = run.arrays[name][:n]
            array[row, n:] = np.nan
        if n == len(self.times):
            self.times = record.t  # the same for all
        self.states[row], self.events[row] = n, record.events
        self.energy[row] = record.energy_balance
        if failure is not None:
            (cause, part, _), _ = run.failure  # type: ignore[misc]  # there is one
            self.status[row] = cause | (part + 1) << 8
            failure.row = row
            self.failures[row] = failure
            if self.plan.on_error == "raise":
                failure.simulation = record
                self.last = min(self.last, row)
        else:
            entered = self.kind._entered(run)
            clear = self.calm[row] and not entered and not self.energy[row, 2] > _plan.TOLERANCE
            text = "" if clear else _plan.doubts(self.plan, record, self.runs.linear(row), entered)
            if text:
                self.doubts[row] = text

    def warning(self) -> str:
        """About the runs that are not to be trusted: how many, which, and what is wrong with the worst."""
        ratio = self.energy[:, 2]
        rows = sorted(self.doubts)  # threads find them in any order
        worst = max(rows, key=lambda row: ratio[row] if ratio[row] == ratio[row] else -1.0)
        named = ", ".join(self.place(row) for row in rows[:_NAMED])
        more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        which = f": {named}{more}; the worst, run {self.place(worst)}" if len(rows) > 1 else f"; run {named}"
        return f"{len(rows)} of {self.count} runs are not to be trusted{which}: {self.doubts[worst]}"

    def place(self, row: int) -> str:
        return str(tuple(map(int, np.unravel_index(row, self.runs.lead))))


def run_batch(runs: Runs[AnySimulation]) -> SimulationBatch:
    """Make all runs; those with functions of Python one after another, since only one of them can run at a time."""
    plan, lead = runs.plan, runs.lead
    plan.require_on_error("raise", "nan")
    runs.require_memory()
    batch = _Batch(runs)
    if plan.check_step:
        batch.check_step()
    threads = 1 if runs.calls_back else min(plan.threads or _core.default_threads(), batch.count)
    words = ("simulating", "steps", "simulate: progress=True")
    with progress_bar(plan.progress, plan.steps * batch.count, words) as bar:
        if runs.lanes is not None:
            batch.side_by_side(threads, lambda: bar(int(batch.steps.sum())))
        elif threads <= 1:
            batch.work(lambda: bar(int(batch.steps.sum())))
        else:
            _side_by_side(batch, threads, lambda: bar(int(batch.steps.sum())))
    if batch.failures and plan.on_error == "raise":
        raise batch.failures[min(batch.failures)]
    if batch.doubts:
        _plan.warn(batch.warning())
    return SimulationBatch(
        runs.kind,
        runs.model,
        {"t": batch.times} | {name: array.reshape(*lead, *array.shape[1:]) for name, array in batch.arrays.items()},
        method=plan.method,
        dt=plan.dt,
        status=batch.status.reshape(lead),
        states=batch.states.reshape(lead),
        energy=batch.energy.reshape(*lead, 3),
        events=batch.events.reshape(lead),
        failures=batch.failures,
    )


def _side_by_side(batch: _Batch[AnySimulation], threads: int, tick: Callable[[], None]) -> None:
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
