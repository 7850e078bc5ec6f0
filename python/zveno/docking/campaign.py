"""Campaigns: many dockings over a box of conditions, in threads or on a cluster, and what they say together."""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeVar, cast

import numpy as np

from .._check import (
    Array,
    _show,
    as_amount,
    as_choice,
    as_flag,
    as_integer,
    as_list,
    as_number,
    did_you_mean,
    failing,
    levels_outside,
)
from .._extras import optional
from .._html import html_table
from ..errors import Error, SimulationWarning
from ..sim.plan import progress_bar
from . import statistics
from .campaign_run import Chunk, Job, Runner, on_cluster, on_threads
from .campaign_store import Columns, DamagedError, Store
from .sampling import CONDITIONS, DESIGNS, DISCS, Box, Cases, box_from_dict
from .statistics import PERCENTILES, Percentile, Probability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .result import Docking
    from .scenario import Scenario

__all__ = ["Campaign", "Envelope", "Indices", "RunOf", "campaign"]

_SEEDS: Final = 2**64 - 1
_RUNS: Final = 10**12
_FEWEST: Final = 0.9  # share of captured runs below which their conditions are no longer independent of each other
# quantities of a run, with their units; those of loads are largest values over the run
LOADS: Final = {
    "tension": "N",
    "compression": "N",
    "shear": "N",
    "torsion": "N m",
    "bending": "N m",
    "latch": "N",
    "leg": "N or N m",
}
UNITS: Final = {
    **CONDITIONS,
    **LOADS,
    "gap": "m",
    "t_contact": "s",
    "t_capture": "s",
    "t_end": "s",
    "dt": "s",
    "evaluations": "",
    "axial": "N",
    "force": "N",
    "base_force_a": "N",
    "base_moment_a": "N m",
    "base_force_b": "N",
    "base_moment_b": "N m",
    "stroke_min": "m or rad",
    "stroke_max": "m or rad",
    "work_normal": "J",
    "work_friction": "J",
    "work_latch": "J",
    "work_legs": "J",
    "work_external": "J",
    "energy_start": "J",
    "energy_end": "J",
    "energy_error": "J",
    "energy_scale": "J",
    "momentum_error": "N s",
    "angular_momentum_error": "N m s",
    "penetration": "m",
    "offset": "m",
    "tilt": "rad",
    "lateral": "m/s",
    "tilt_rate": "rad/s",
    "abs_roll": "rad",
    "abs_rate_x": "rad/s",
}
_VECTORS: Final = {
    "offset": ("offset_y", "offset_z"),
    "tilt": ("pitch", "yaw"),
    "lateral": ("lateral_y", "lateral_z"),
    "tilt_rate": ("rate_y", "rate_z"),
}
SIZES: Final = (*_VECTORS, "abs_roll", "closing", "abs_rate_x")  # of the misalignment, whatever its direction
_FALLING: Final = ("stroke_min",)  # worst where least


class RunOf(NamedTuple):
    """One run of a campaign, and why it is shown."""

    number: int
    value: float
    status: str
    conditions: dict[str, float]


@dataclass(frozen=True)
class Envelope:
    """Capture over two quantities, cell by cell.

    Attributes
    ----------
    x, y : str
    x_edges, y_edges : array (nx + 1,), (ny + 1,)
    runs, captured : array (nx, ny), int
        Failed runs count among the runs.
    probability, low, high : array (nx, ny)
        Share of captured runs, and the interval of Clopper and Pearson for it; NaN, 0 and 1 where there is no run.
    confidence : float
    """

    x: str
    y: str
    x_edges: Array
    y_edges: Array
    runs: Any
    captured: Any
    probability: Array
    low: Array
    high: Array
    confidence: float


@dataclass(frozen=True)
class Indices:
    """Sobol's indices of one quantity.

    Attributes
    ----------
    quantity : str
    factors : tuple of str
    first : array (d,)
        Share of the variance that a factor explains alone.
    total : array (d,) or None
        Share that is left when all the others are known; only of a design "saltelli".
    runs : int
        Runs behind them.
    error : float
        One standard deviation of the estimate of an index that is zero, about 1 / sqrt(runs).
    """

    quantity: str
    factors: tuple[str, ...]
    first: Array
    total: Array | None
    runs: int
    error: float


# ---- running


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _without_functions(function: _Function) -> _Function:
    """Refuse what only a single docking takes."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        for name in ("laws", "tau", "thrust", "hold"):
            if name in options:
                raise TypeError(
                    f"{function.__name__}: {name} is an argument of docking.simulate: functions of Python would hold "
                    "up every run, and no worker or store knows them. Put laws of your own into the scenario, as "
                    "Phases(ready=laws.Formula(...)), thrusters and attitude control as Thrust and AttitudeHold"
                )
        return function(*args, **options)

    return cast(_Function, call)


@_without_functions
def campaign(
    scenario: Scenario,
    n: int | None = None,
    box: Box | Cases | Mapping[str, Any] | None = None,
    seed: int = 2026,
    threads: int | None = None,
    cluster: Any = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = True,
    *,
    design: str = "random",
    t_end: float = 30.0,
    after: float | None = 1.0,
    dt: float | str = "auto",
    chunk: int | None = None,
    part: tuple[int, int] | None = None,
    progress: bool | None = None,
) -> Campaign:
    """Run many dockings whose conditions are drawn from a box.

    Run i depends on the scenario, the box, the seed, the design, `t_end`, `after`, `dt` and i alone: neither the number
    of threads or workers nor an interruption changes a bit of it.

    Parameters
    ----------
    scenario : Scenario
        Its conditions are replaced by drawn ones; the gap at the start follows from them.
    n : int, optional
        Number of runs; default: 10 000, or all of the cases.
    box : Box or Cases, optional
        What conditions and uncertain parameters are drawn from; default: `Box.idss()`. A dictionary is taken by
        `Box.from_dict`. `Cases` are run one after another as they are.
    seed : int
        0 to 2^64 - 1.
    threads : int, optional
        Of this process; default: one for each processor.
    cluster : distributed.Client or str, optional
        A Dask cluster or the address of its scheduler, to run there instead (``zveno[cluster]``).
    store : path, optional
        Folder for the results: one file for each chunk of runs, written when it is complete (Parquet; ``.npz`` where
        pyarrow is missing). Default: they stay in memory.
    resume : bool
        Go on with a store of the same campaign: chunks that are there and intact are kept. A store of another campaign
        is refused in any case.
    design : {"random", "latin", "sobol", "corners", "saltelli"}
        Independent points; a Latin hypercube; Sobol's sequence, scrambled by the seed (needs SciPy); corners of the
        box,         discs at four points of their rim; blocks of runs for Sobol's total indices.
    t_end : float, s
        Where a run ends at the latest.
    after : float, s, optional
        A captured run ends so long after capture; None: at `t_end`.
    dt : float or "auto", s
        As of `simulate`.
    chunk : int, optional
        Runs in a file, 256 by default.
    part : (int, int), optional
        (k, m): do only chunks k, k + m, k + 2 m, ...: m processes with one store share a campaign.
    progress : bool, optional
        Show a progress bar. Default: if rich is installed, stderr is a terminal and it takes more than 2 s.

    Returns
    -------
    campaign : Campaign

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; chunks that were complete are in the store, and in the `campaign` of the exception.

    Examples
    --------
    >>> from zveno import docking
    >>> c = docking.campaign(docking.demo("UPS"), n=2, threads=1)
    >>> c.outcomes
    {'captured': 2, 'not_captured': 0, 'failed': 0}
    """
    from .scenario import Scenario
    from .simulate import _options

    fail = failing("campaign")
    if not isinstance(scenario, Scenario):
        fail(f"scenario is {_show(scenario)}, expected a docking.Scenario")
    if box is not None and not isinstance(box, Box | Cases):
        if not isinstance(box, Mapping):
            fail(f"box is {_show(box)}, expected a docking.Box or docking.Cases")
        box = Box.from_dict(box)
    box = Box.idss() if box is None else box
    cases = isinstance(box, Cases)
    if cases and design != "random":
        fail(f"design is {_show(design)}, but cases are run as they are")
    if n is None:
        n = len(box) if isinstance(box, Cases) else 10_000
    settings = _settings(t_end, after, dt)
    job = Job(
        scenario.to_dict(),
        box.to_dict(),
        as_integer("campaign", "seed", seed, 0, _SEEDS),
        "cases" if cases else as_choice(design, fail, "design", DESIGNS),
        as_integer("campaign", "n", n, 1, _RUNS),
        settings,
        version("zveno"),
    )
    require_parameters(job)
    _options("campaign", scenario, settings["t_end"], settings["after"], settings["dt"], None)  # refuses long steps
    return run(job, engine, threads, cluster, store, resume, chunk=chunk, part=part, progress=progress)


def _settings(t_end: Any, after: Any, dt: Any) -> dict[str, Any]:
    fail = failing("campaign")
    end = as_amount(t_end, fail, "t_end", positive=True)
    later = None if after is None else as_amount(after, fail, "after")
    if isinstance(dt, str):
        if dt != "auto":
            fail(f"dt is {_show(dt)}, expected a number > 0 or 'auto'")
    else:
        dt = as_amount(dt, fail, "dt", positive=True)
    return {"t_end": end, "after": later, "dt": dt}


def run(
    job: Job,
    runner: Runner,
    threads: int | None = None,
    cluster: Any = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = True,
    *,
    chunk: int | None = None,
    part: tuple[int, int] | None = None,
    progress: bool | None = None,
) -> Campaign:
    """Work off a job with any runner."""
    who, fail = "campaign", failing("campaign")
    count = 0 if threads is None else as_integer(who, "threads", threads, 1, 4096)
    size = None if chunk is None else as_integer(who, "chunk", chunk, 1, 10**7)
    most = job.sampler.most
    if most is not None and job.n > most:
        fail(f"n is {job.n}, but the box has {most} {job.design}")
    if cluster is not None and not isinstance(cluster, str) and not hasattr(cluster, "submit"):
        fail(f"cluster is {_show(cluster)}, expected a distributed.Client or the address of a scheduler")
    if cluster is not None and threads is not None:
        fail("threads are those of this process, and the workers of a cluster have their own: give one of them")
    if progress is not None:
        as_flag(progress, fail, "progress")
    share = _part(part, fail, store)
    kept = None
    if store is not None:
        kept = Store.create(store, who, job.head(), size, as_flag(resume, fail, "resume"))
        size = kept.chunk
    made = Campaign(job, kept, size or 256, runner)
    todo = made._todo(share)
    runs = sum(item[2] for item in todo)
    with progress_bar(progress, runs, ("docking", "runs", "campaign: progress=True"), rate=True) as bar:
        try:
            if cluster is not None:
                on_cluster(job, runner, todo, cluster, made._keep, bar)
            else:
                on_threads(job, runner, todo, count, made._keep, bar)
        except KeyboardInterrupt as error:
            error.campaign = made  # type: ignore[attr-defined]
            raise
    if kept is not None:
        kept.clear()
    return made


def _part(part: Any, fail: Any, store: object) -> tuple[int, int]:
    if part is None:
        return 0, 1
    pair = as_list(part) or []
    good = len(pair) == 2 and all(isinstance(x, int) and not isinstance(x, bool) for x in pair)
    if not good or not 0 <= pair[0] < pair[1]:
        fail(f"part is {_show(part)}, expected (k, m) with 0 <= k < m")
    if store is None:
        fail("part needs a store, where the other parts are")
    return pair[0], pair[1]


# ---- the engine as a runner


@lru_cache(maxsize=4)
def _scenario(text: str) -> Scenario:
    import json

    from .scenario import Scenario

    return Scenario.from_dict(json.loads(text))


def _base(job: Job) -> Scenario:
    import json

    return _scenario(json.dumps(job.scenario, sort_keys=True))


def engine(job: Job, conditions: Columns) -> Columns:
    """Runs of one piece: conditions to results, by the compiled batch."""
    from .result import STATUS
    from .simulate import CONDITIONS as ORDER
    from .simulate import FACTORS, run_batch

    count = len(conditions["closing"])
    rows = np.column_stack([conditions.get(name, np.full(count, math.nan)) for name in ORDER])
    names = [name for name in conditions if name not in CONDITIONS]
    factors = {name: conditions[name] for name in names if name in FACTORS}
    others = [name for name in names if name not in FACTORS]
    options = {"t_end": job.settings["t_end"], "after": job.settings["after"], "dt": job.settings["dt"], "threads": 1}
    if not others:
        table = run_batch(_base(job), rows, factors=factors, **options)
        codes = table.pop("status")
        return {"status": np.array([STATUS[code] for code in codes]), **table}
    parts = []
    for k in range(count):  # a scenario of its own for each run
        values = {name: float(conditions[name][k]) for name in others}
        single = {name: column[k : k + 1] for name, column in factors.items()}
        try:
            changed = altered(job, values)
            table = run_batch(changed, rows[k : k + 1], factors=single, **options)
            table["status"] = np.array([STATUS[table["status"][0]]])
        except (Error, ValueError):  # such a scenario cannot be
            table = {"status": np.array(["invalid"])}
        parts.append(table)
    blank = next((part for part in parts if len(part) > 1), None)
    if blank is None:
        blank = run_batch(_base(job), rows[:0], **options)
    found: Columns = {"status": np.array([str(part["status"][0]) for part in parts])}
    for name, like in blank.items():
        if name != "status":
            missing = np.zeros(1, like.dtype) if like.dtype.kind in "iub" else np.full(1, math.nan)
            found[name] = np.concatenate([part.get(name, missing) for part in parts])
    return found


def altered(job: Job, values: Mapping[str, float]) -> Scenario:
    """The scenario with some of its numbers replaced or multiplied, by their place in its dictionary."""
    import copy

    from .scenario import Scenario

    data: Any = copy.deepcopy(dict(job.scenario))
    spreads = box_from_dict(job.box).uncertain
    for name, value in values.items():
        *path, last = name.split(".")
        place = data
        for key in path:
            place = place[_key(place, key, name)]
        if not path:
            _nowhere(name, place)
        where = _key(place, last, name, new=True)
        if getattr(spreads[name], "relative", False):
            if isinstance(place, dict) and where not in place:
                raise ValueError(f"campaign: the scenario has no number {name!r} that could be multiplied")
            value = _scaled(place[where], value, name)
        place[where] = value
    changed = {name.partition(".")[0] for name in values}  # rings of the other parts are not built again
    return _base(job).replace(**{part: Scenario._parts[part](data[part]) for part in changed})


def _key(place: Any, key: str, name: str, *, new: bool = False) -> Any:
    """Key or index of a part of the scenario; `new`: also of a number that is left at its default."""
    if isinstance(place, list) and key.isdigit() and int(key) < len(place):
        return int(key)
    if not isinstance(place, dict) or not (new or key in place):
        _nowhere(name, place)
    return key


def _nowhere(name: str, place: Any = None) -> NoReturn:
    from .simulate import FACTORS

    hint = did_you_mean(name, FACTORS) or (f"; there are {', '.join(place)}" if isinstance(place, dict) else "")
    raise ValueError(f"campaign: uncertain has {name!r}, which is no place in the scenario{hint}")


def _scaled(value: Any, factor: float, name: str) -> Any:
    if isinstance(value, list):
        return [_scaled(item, factor, name) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"campaign: {name!r} of the scenario is {_show(value)}, which cannot be multiplied")
    return value * factor


def require_parameters(job: Job) -> None:
    """Refuse uncertain parameters that the scenario does not have, before any run."""
    from .simulate import FACTORS

    spreads = box_from_dict(job.box).uncertain
    values = {name: spread.at(0.5) for name, spread in spreads.items() if name not in FACTORS}
    for name in values:
        if name.startswith("conditions."):
            raise ValueError(
                f"campaign: uncertain has {name!r}, but conditions are what the box draws: give their ranges to the box"
            )
    if values:
        altered(job, values)


# ---- results


class Campaign:
    """Runs of a campaign: their table, and what it says.

    Attributes
    ----------
    n : int
        Runs that were asked for.
    seed : int
    design : str
    settings : dict
        `t_end`, `after`, `dt`.
    store : str or None
        Folder of the results.

    Examples
    --------
    >>> from zveno import docking
    >>> c = docking.campaign(docking.demo("UPS"), n=2, threads=1)
    >>> c.complete, c.capture_probability.value
    (True, 1.0)
    """

    def __init__(self, job: Job, store: Store | None, chunk: int, runner: Runner) -> None:
        self._job, self._store, self._chunk, self._runner = job, store, chunk, runner
        self._tables: dict[int, Columns] = {}  # of chunks, without a store
        self._cache: dict[str, Any] = {}

    @classmethod
    def load(cls, store: str | os.PathLike[str]) -> Campaign:
        """The campaign in a folder, complete or not; chunks that are damaged are left out, with a warning.

        Examples
        --------
        >>> import tempfile
        >>> from zveno import docking
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     c = docking.campaign(docking.demo("UPS"), n=2, store=folder, threads=1)
        ...     len(docking.Campaign.load(folder))
        2
        """
        kept = Store.open(store, "Campaign.load")
        made = cls(Job.of(kept.head), kept, kept.chunk, engine)
        for number, path in made._files().items():
            try:
                kept.verify(number, path, made._count(number))
            except DamagedError as error:
                _warn(f"Campaign.load: {os.path.basename(path)} is left out: {error}")
                made._cache.setdefault("damaged", set()).add(number)
        return made

    # ---- chunks

    def _count(self, number: int) -> int:
        return min(self._chunk, self.n - number * self._chunk)

    def _todo(self, share: tuple[int, int]) -> list[Chunk]:
        """Chunks that are not there, or damaged."""
        files = self._files()
        todo: list[Chunk] = []
        for number in range(share[0], -(-self.n // self._chunk), share[1]):
            count = self._count(number)
            if number in files and self._store is not None:
                try:
                    self._store.verify(number, files[number], count)
                    continue
                except DamagedError as error:
                    _warn(f"campaign: {os.path.basename(files[number])} is done again: {error}")
                    with contextlib.suppress(OSError):  # what cannot be removed cannot be replaced, which is said then
                        os.unlink(files[number])
            todo.append((number, number * self._chunk, count))
        return todo

    def _files(self) -> dict[int, str]:
        if self._store is None:
            return {}
        most = -(-self.n // self._chunk)
        damaged = self._cache.get("damaged", ())
        return {k: path for k, path in self._store.present().items() if k < most and k not in damaged}

    def _keep(self, number: int, columns: Columns) -> None:
        if self._store is None:
            self._tables[number] = columns
        else:
            self._store.write(number, columns)

    def _pieces(self, names: Sequence[str] | None) -> Iterator[Columns]:
        if self._store is None:
            yield from (self._tables[number] for number in sorted(self._tables))
            return
        for number, path in sorted(self._files().items()):
            columns = self._store.read(path, names)
            count = self._count(number)
            yield {name: values[:count] for name, values in columns.items()}

    # ---- the table

    @property
    def n(self) -> int:
        return self._job.n

    @property
    def seed(self) -> int:
        return self._job.seed

    @property
    def design(self) -> str:
        return self._job.design

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self._job.settings)

    @property
    def store(self) -> str | None:
        return None if self._store is None else self._store.path

    @property
    def box(self) -> Box | Cases:
        """What conditions were drawn from."""
        return box_from_dict(self._job.box)

    @property
    def scenario(self) -> Scenario:
        """What all runs have in common."""
        return _base(self._job)

    @property
    def fingerprint(self) -> str:
        """Of all that the results depend on, 64 hexadecimal digits."""
        return self._job.fingerprint

    @property
    def complete(self) -> bool:
        """Whether all runs are there."""
        return len(self) == self.n

    def __len__(self) -> int:
        """Runs that are there."""
        return len(self._raw("index"))

    def _raw(self, name: str) -> Any:
        """A column of the table; read once."""
        if name not in self._cache:
            pieces = [piece[name] for piece in self._pieces([name])]
            self._cache[name] = (
                np.concatenate(pieces) if pieces else np.zeros(0, np.int64 if name == "index" else float)
            )
            self._cache[name].setflags(write=False)
        return self._cache[name]

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the table."""
        if self._store is None:
            return list(next(iter(self._tables.values()), {}))
        files = self._files()
        return list(self._store.read(files[min(files)])) if files else []

    @property
    def table(self) -> dict[str, Any]:
        """All results: a dictionary of arrays with one element for each run, in the order of their numbers.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.campaign(docking.demo("UPS"), n=2, threads=1).table["index"]
        array([0, 1])
        """
        missing = [name for name in self.columns if name not in self._cache]
        if missing:
            pieces = list(self._pieces(None))
            for name in missing:
                self._cache[name] = np.concatenate([piece[name] for piece in pieces])
                self._cache[name].setflags(write=False)
        return {name: self._cache[name] for name in self.columns}

    def column(self, name: str) -> Any:
        """One column, or what follows from some.

        That is: sizes of the vectors `offset`, `tilt`, `lateral` and `tilt_rate`; `abs_roll`, `abs_rate_x`; `captured`.

        Parameters
        ----------
        name : str

        Returns
        -------
        values : array (runs,)

        Examples
        --------
        >>> from zveno import docking
        >>> bool((docking.campaign(docking.demo("UPS"), n=2, threads=1).column("offset") <= 0.1).all())
        True
        """
        if name in _VECTORS:
            a, b = (self._raw(part) for part in _VECTORS[name])
            return np.hypot(a, b)
        if name in ("abs_roll", "abs_rate_x"):
            return np.abs(self._raw(name.removeprefix("abs_")))
        if name == "captured":
            return self._raw("status") == "captured"
        known = self.columns
        if not isinstance(name, str) or name not in known:
            every = (*known, *_VECTORS, "abs_roll", "abs_rate_x", "captured")
            raise KeyError(f"campaign: no column {_show(name)}{did_you_mean(name, every)}")
        return self._raw(name)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame, its index the number of the run. Needs pandas (``zveno[data]``).

        Examples
        --------
        >>> from zveno import docking
        >>> docking.campaign(docking.demo("UPS"), n=2, threads=1).to_pandas().index.name
        'index'
        """
        pandas = optional("pandas", "Campaign.to_pandas")
        return pandas.DataFrame(self.table).set_index("index")

    # ---- what it says

    @property
    def outcomes(self) -> dict[str, int]:
        """Runs that were captured, were not, and failed; their sum is the number of runs."""
        status = self._raw("status")
        captured, missed = (int(np.count_nonzero(status == word)) for word in ("captured", "not_captured"))
        return {"captured": captured, "not_captured": missed, "failed": len(status) - captured - missed}

    @property
    def failures(self) -> dict[str, int]:
        """How many runs failed for which reason."""
        words, counts = np.unique(self._raw("status"), return_counts=True)
        return {
            str(word): int(count)
            for word, count in zip(words, counts, strict=True)
            if word not in ("captured", "not_captured")
        }

    @property
    def capture_probability(self) -> Probability:
        """Share of captured runs among all, failed ones too, with intervals of 95 % by Wilson and Clopper and Pearson.

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=4, threads=1)
        >>> [round(x, 6) for x in c.capture_probability.wilson]
        [0.510109, 1.0]
        """
        return self.probability()

    def probability(self, confidence: float = 0.95) -> Probability:
        """The capture probability at another confidence.

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=2, threads=1)
        >>> c.probability(0.99).confidence
        0.99
        """
        self._require_runs("probability")
        return statistics.probability(self.outcomes["captured"], len(self), confidence)

    def percentiles(
        self, quantity: str, percents: Iterable[float] = PERCENTILES, confidence: float = 0.95
    ) -> list[Percentile]:
        """Percentiles of a quantity over the captured runs, with intervals that assume no distribution.

        Parameters
        ----------
        quantity : str
            A column of the table.
        percents : iterable of float
        confidence : float

        Returns
        -------
        percentiles : list of Percentile
            A limit is infinite where there are too few runs for it.

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=4, threads=1)
        >>> [p.percent for p in c.percentiles("shear", (50, 90))]
        [50.0, 90.0]
        """
        values = self._of_captured(quantity)
        if not len(values):
            raise ValueError("percentiles: no run was captured")
        return [statistics.percentile_interval(values, percent, confidence) for percent in percents]

    def worst(self, quantity: str, count: int = 10) -> list[RunOf]:
        """Runs with the largest values of a quantity (of `stroke_min`: the least), failed ones left out.

        Parameters
        ----------
        quantity : str
        count : int

        Returns
        -------
        runs : list of RunOf
            Number, value, status and conditions, the worst first.

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=4, threads=1)
        >>> worst = c.worst("bending", 3)
        >>> worst[0].value >= worst[1].value >= worst[2].value
        True
        """
        count = as_integer("worst", "count", count, 1, 10**9)
        values, status = np.asarray(self.column(quantity), float), self._raw("status")
        sound = np.flatnonzero(np.isin(status, ("captured", "not_captured")) & np.isfinite(values))
        sign = 1.0 if quantity in _FALLING else -1.0
        chosen = sound[np.argsort(sign * values[sound], kind="stable")[:count]]
        names = [*CONDITIONS, *self.box.uncertain]
        columns = {name: self._raw(name) for name in names}
        return [
            RunOf(
                int(self._raw("index")[k]),
                float(values[k]),
                str(status[k]),
                {name: float(columns[name][k]) for name in names},
            )
            for k in chosen
        ]

    def rerun(self, i: int, *, record: float = 0.01) -> Docking:
        """Run i once more, alone, with its whole history.

        Parameters
        ----------
        i : int
            Number of the run, also of one that was not run before.
        record : float, s
            Between the samples of the history.

        Returns
        -------
        docking : Docking

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=2, threads=1)
        >>> bool(c.rerun(1).t_capture == c.table["t_capture"][1])
        True
        """
        from .simulate import FACTORS, _finished, _options, _runner

        as_integer("rerun", "i", i, 0, self.n - 1)
        made, settings = self.scenario_of(i), self._job.settings
        found = self._drawn(i)
        factors = np.array([found.get(name, 1.0) for name in FACTORS])
        options, room = _options("rerun", made, settings["t_end"], settings["after"], settings["dt"], record)
        result = _runner(made).run(made.conditions._row(), options, room, factors)
        return _finished(made, result)

    def scenario_of(self, i: int) -> Scenario:
        """The scenario of run i, with its conditions, and with the parameters that are places in a scenario.

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=1, threads=1)
        >>> round(c.scenario_of(0).conditions.closing, 6)
        0.066189
        """
        from .scenario import Conditions
        from .simulate import FACTORS

        found = self._drawn(as_integer("scenario_of", "i", i, 0, self.n - 1))
        others = {name: value for name, value in found.items() if name not in CONDITIONS and name not in FACTORS}
        made = altered(self._job, others) if others else self.scenario
        conditions = Conditions(
            closing=found["closing"],
            offset=(found["offset_y"], found["offset_z"]),
            tilt=(found["pitch"], found["yaw"]),
            roll=found["roll"],
            lateral=(found["lateral_y"], found["lateral_z"]),
            rate=(found["rate_x"], found["rate_y"], found["rate_z"]),
            gap=None,
        )
        return made.replace(conditions=conditions)

    def _own_scenarios(self) -> list[str]:
        """Uncertain parameters that are places in the scenario: runs that differ in them do not run side by side."""
        from .simulate import FACTORS

        return [name for name in self.box.uncertain if name not in FACTORS]

    def _drawn(self, i: int) -> dict[str, float]:
        """Conditions and parameters of run i."""
        return {name: float(values[0]) for name, values in self._job.sampler.conditions(i, 1).items()}

    def rank_correlations(self, quantities: Iterable[str] = tuple(LOADS)) -> dict[str, dict[str, float]]:
        """Spearman's correlation of every condition and parameter with every quantity, over the captured runs.

        Beside the components there are the sizes of vectors and the absolute values of roll and its rate, on which
        loads of a ring that is alike all around depend.

        Parameters
        ----------
        quantities : iterable of str

        Returns
        -------
        correlations : dict of dict
            ``correlations["bending"]["offset"]``; NaN where something is constant.

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=4, threads=1)
        >>> -1 <= c.rank_correlations(["shear"])["shear"]["closing"] <= 1
        True
        """
        names = [*SIZES, *(name for name in CONDITIONS if name not in SIZES), *self.box.uncertain]
        captured = self.column("captured")
        columns = {name: np.asarray(self.column(name), float)[captured] for name in names}
        return {
            quantity: {
                name: statistics.rank_correlation(values, found) if len(found) else math.nan
                for name, values in columns.items()
            }
            for quantity in quantities
            for found in [self._of_captured(quantity)]
        }

    def sobol_indices(self, quantity: str) -> Indices:
        """Sobol's indices: how much of the variance of a quantity each factor explains.

        First-order ones from any random design, for sizes and directions of vectors; with total ones from a design
        "saltelli", for whole vectors. Loads are known of captured runs only; where fewer than nine of ten are captured,
        their conditions depend on each other, and indices are refused.

        Parameters
        ----------
        quantity : str
            A column of the table, or "captured".

        Returns
        -------
        indices : Indices

        Examples
        --------
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=8, threads=1)
        >>> c.sobol_indices("shear").factors[:2]
        ('offset', 'offset_angle')
        """
        fail = failing("sobol_indices")
        if self.design in ("corners", "cases"):
            fail(f"{self.design} are no random sample of a box: take another design")
        self._require_runs("sobol_indices")
        if quantity == "captured":
            usable = np.ones(len(self), bool)
        else:
            usable = self.column("captured") & np.isfinite(np.asarray(self.column(quantity), float))
            if usable.mean() < _FEWEST:
                share = f"{100 * usable.mean():.3g} %"
                fail(f"only {share} of the runs were captured; what is known of those says too little about all")
        if np.count_nonzero(usable) < 2:
            fail("one run has no variance to explain: take more")
        values = np.asarray(self.column(quantity), float)
        if self.design == "saltelli":
            return self._total_indices(quantity, values, usable)
        factors: dict[str, Array] = {}
        for name in DISCS:
            a, b = (self._raw(part) for part in _VECTORS[name])
            factors |= {name: np.hypot(a, b), f"{name}_angle": np.arctan2(b, a)}
        for name in ("roll", "closing", "rate_x", *self.box.uncertain):
            factors[name] = self._raw(name)
        x = np.column_stack([column[usable] for column in factors.values()])
        runs = int(usable.sum())
        first = statistics.first_order_indices(x, values[usable])
        return Indices(quantity, tuple(factors), first, None, runs, 1 / math.sqrt(runs))

    def _total_indices(self, quantity: str, values: Array, usable: Any) -> Indices:
        sampler = self._job.sampler
        width = len(sampler.factors) + 2
        index = self._raw("index")
        full = np.zeros(self.n, bool)
        full[index[usable]] = True
        every = np.full(self.n, math.nan)
        every[index] = values
        blocks = self.n // width
        if not blocks:
            failing("sobol_indices")(f"a block of this design has {width} runs, the campaign {self.n}")
        grid, good = every[: blocks * width].reshape(blocks, width), full[: blocks * width].reshape(blocks, width)
        chosen = grid[good.all(axis=1)]
        if len(chosen) < 2:
            failing("sobol_indices")("fewer than two blocks of runs are complete")
        first, total = statistics.saltelli_indices(chosen[:, 0], chosen[:, 1], chosen[:, 2:])
        return Indices(quantity, tuple(sampler.factors), first, total, chosen.size, 1 / math.sqrt(len(chosen)))

    def envelope(
        self, x: str = "offset", y: str = "tilt", bins: int | tuple[int, int] = 8, confidence: float = 0.95
    ) -> Envelope:
        """Capture over two quantities: where in the box dockings succeed.

        Parameters
        ----------
        x, y : str
            Columns, sizes of vectors among them (see `column`).
        bins : int or (int, int)
            Cells along x and y.
        confidence : float

        Returns
        -------
        envelope : Envelope

        Examples
        --------
        >>> from zveno import docking
        >>> e = docking.campaign(docking.demo("UPS"), n=4, threads=1).envelope(bins=2)
        >>> int(e.runs.sum())
        4
        """
        self._require_runs("envelope")
        pair = as_list(bins)
        nx, ny = (as_integer("envelope", "bins", b, 1, 1000) for b in (pair if pair is not None else (bins, bins)))
        a, b = (np.asarray(self.column(name), float) for name in (x, y))
        edges = [_edges(values, count) for values, count in ((a, nx), (b, ny))]
        captured = self.column("captured")
        runs = np.histogram2d(a, b, edges)[0].astype(int)
        hits = np.histogram2d(a[captured], b[captured], edges)[0].astype(int)
        share, low, high = np.full((nx, ny), math.nan), np.zeros((nx, ny)), np.ones((nx, ny))
        for cell in zip(*np.nonzero(runs), strict=True):
            share[cell] = hits[cell] / runs[cell]
            low[cell], high[cell] = statistics.clopper_pearson(int(hits[cell]), int(runs[cell]), confidence)
        return Envelope(
            x,
            y,
            edges[0],
            edges[1],
            runs,
            hits,
            share,
            low,
            high,
            as_number(confidence, failing("envelope"), "confidence"),
        )

    def _require_runs(self, who: str) -> None:
        if not len(self):
            raise ValueError(f"{who}: the campaign has no run yet")

    def _of_captured(self, quantity: str) -> Array:
        values = np.asarray(self.column(quantity), float)[self.column("captured")]
        return np.asarray(values[np.isfinite(values)], float)

    # ---- shown

    def _lines(self) -> list[tuple[str, str]]:
        of = f"{len(self)}" if self.complete else f"{len(self)} of {self.n}"
        lines = [("runs", f"{of} ({self.design}, seed {self.seed})")]
        if own := self._own_scenarios():
            lines.append(("one by one", f"every run has a scenario of its own ({', '.join(own)})"))
        if len(self):
            out, p = self.outcomes, self.capture_probability
            lines.append(("outcomes", ", ".join(f"{key.replace('_', ' ')} {count}" for key, count in out.items())))
            if out["failed"]:
                lines.append(("failures", ", ".join(f"{word} {count}" for word, count in self.failures.items())))
            lines.append(
                (
                    "capture",
                    f"{p.value:.6g}, 95 %: Wilson {_pair(p.wilson)}, Clopper-Pearson {_pair(p.clopper_pearson)}",
                )
            )
            if out["captured"]:
                for name in LOADS:
                    half, high = self.percentiles(name, (50, 99))
                    text = (
                        f"median {half.value:.4g}, 99 % {high.value:.4g}, largest {self._of_captured(name).max():.4g}"
                    )
                    lines.append((name, f"{text} {UNITS[name]} (captured runs)"))
        if self.store:
            lines.append(("store", self.store))
        return lines

    def __str__(self) -> str:
        return "\n".join(f"{name:12}{text}" for name, text in self._lines())

    def __repr__(self) -> str:
        return f"Campaign({len(self)} of {self.n} runs, {self.design}, seed {self.seed})"

    def _repr_html_(self) -> str:
        return html_table("Campaign of dockings", self._lines())

    def plot(self, kind: str = "overview") -> Figure:
        """Draw results. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        kind : {"overview", "envelope", "loads", "sensitivity", "conditions"}

        Returns
        -------
        figure : matplotlib Figure

        Examples
        --------
        >>> from zveno import docking
        >>> figure = docking.campaign(docking.demo("UPS"), n=4, threads=1).plot("loads")
        """
        self._require_runs("plot")
        figures = optional("zveno.plot.campaign", "Campaign.plot", "matplotlib")
        kinds = figures.KINDS
        return kinds[as_choice(kind, failing("plot"), "kind", tuple(kinds))](self)  # type: ignore[no-any-return]

    def report(self, path: str | os.PathLike[str], *, histories: int = 3, quantity: str = "bending") -> str:
        """Write one page of HTML without anything outside it: numbers, figures, the worst runs and their histories.

        Parameters
        ----------
        path : path
            A name that ends in .html.
        histories : int
            How many of the worst runs are run again for their time histories.
        quantity : str
            By which the worst are chosen.

        Returns
        -------
        path : str

        Examples
        --------
        >>> import os, tempfile
        >>> from zveno import docking
        >>> c = docking.campaign(docking.demo("UPS"), n=4, threads=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = c.report(os.path.join(folder, "report.html"), histories=0)
        """
        from .report import write_report

        return write_report(self, path, histories=histories, quantity=quantity)


def _edges(values: Array, count: int) -> Array:
    low, high = float(values.min()), float(values.max())
    return np.linspace(low, high, count + 1) if high > low else np.linspace(low - 0.5, low + 0.5, count + 1)


def _pair(interval: statistics.Interval) -> str:
    return f"{interval.low:.6g} to {interval.high:.6g}"


def _warn(text: str) -> None:
    warnings.warn(text, SimulationWarning, stacklevel=levels_outside() + 1)
