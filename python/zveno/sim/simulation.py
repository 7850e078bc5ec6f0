"""Motion in time: `simulate` of hexapods and the records of all simulations. The steps are made in C++."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    NoReturn,
    Self,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    Unpack,
    overload,
)

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, errors
from .._check import Array, _show, as_array, as_flag, as_list, did_you_mean, failing
from .._extras import optional as _optional
from .._rotation import as_matrix, as_pose, as_rotation, from_quaternion, to_quaternion
from . import output, stability, storage
from .batch import AnySimulation, Runs, SimulationBatch, common_shape, rows_of, run_batch
from .laws import Law, Place, joint_place, leg_joints, leg_places, program
from .plan import Plan, Run, advance, doubts, limit_of, percent, progress_bar, refuse, warn
from .words import answering

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain, Hexapod

__all__ = ["EnergyBalance", "HexapodSimulation", "RecordField", "Simulation", "StopEvent", "simulate"]

LegForces: TypeAlias = Callable[[float, Array, Array], ArrayLike]
RingWrench: TypeAlias = Callable[[float, Array, Array, Array], ArrayLike]
Laws: TypeAlias = Law | Sequence[Law | None] | Mapping[str, Law | None] | LegForces | None
Wrench: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | RingWrench | None


class RecordField(NamedTuple):
    """What a simulation records under one name; the tables stand in C++ (cpp/zveno/sim).

    `dims` are the dimensions behind time, each with its labels; those of legs and joints are the mechanism's own: None.
    """

    name: str
    unit: str
    doc: str
    dims: tuple[tuple[str, tuple[str, ...] | None], ...]

    def text(self) -> str:
        """Entry of a docstring."""
        sizes = ["n"]
        for dim, labels in self.dims:
            sizes.append(str(len(labels)) if labels is not None else {"leg": "6", "joint": "nj"}[dim])
        shape = "(n,)" if len(sizes) == 1 else f"({', '.join(sizes)})"
        unit = "" if self.unit == "1" else f", {self.unit}"
        return f"    {self.name} : {shape} array{unit}\n        {self.doc}\n"


class Column(NamedTuple):
    """One number of a record over time."""

    name: str  # base_wrench.fx
    field: str
    where: str  # fx
    unit: str
    values: Array


class EnergyBalance(NamedTuple):
    """How well the energy of a simulation is accounted for; nan where a moving base leaves no balance.

    `exchanged`, J: the first kinetic energy and all changes of kinetic energy, potential energy and work, added by
    size. `error`, J: the largest `energy_error`. `ratio`: error / exchanged, or zero if the error is mere rounding.
    Between recorded states work is that of the recorded power at least, so a sparse record (`every`) knows less.
    """

    exchanged: float
    error: float
    ratio: float

    def __str__(self) -> str:
        if math.isnan(self.ratio):
            return "no energy balance"
        text = f"{self.exchanged:.3g} J exchanged"
        if self.ratio < 1e-9:
            return f"{text}, error < 1e-9 of it"
        return f"{text}, error {self.error:.2g} J ({percent(self.ratio)})"


class StopEvent(NamedTuple):
    """The actuated joint of a leg passes an end of its way: a stop of its law, or else a limit of the leg.

    Or another joint passes a stop of its law: then `leg` has the name of that joint, ``"leg1.u1"``.

    `time` (s) is found inside the step, on the cubic through coordinate and rate at both its ends; `rate` (m/s or
    rad/s) is that of the joint.
    """

    time: float
    leg: str
    side: Literal["lower", "upper"]
    kind: Literal["enter", "leave"]
    rate: float


_COMMON_ATTRIBUTES: Final = """\
    events : list
        Passed ends of ways, in the order of time.
    failure : Exception or None
        What ended the run before its time; everything up to then is recorded. Its attribute ``time`` says when.
    method : str
    dt : float, s
        Step in use.
"""


class Simulation(ABC):
    """Record of a simulated motion, as `Hexapod.simulate` and `Chain.simulate` return it. ``len()``: number of states.

    Immutable. Every field of its system's table is an attribute, an array with time in front; `fields` has their units
    and labels.
    """

    fields: ClassVar[tuple[RecordField, ...]] = ()
    _mechanism: ClassVar[str] = ""  # name of the attribute that holds it
    _event: ClassVar[Callable[..., Any]]
    _shown: ClassVar[str] = "Simulation"
    _called: ClassVar[str]  # what messages call the mechanism, and what moves it
    _efforts: ClassVar[str]

    method: str
    dt: float
    events: list[Any]
    failure: BaseException | None
    if TYPE_CHECKING:
        t: Array

    def __getattr__(self, name: str) -> Any:
        known = not name.startswith("_") and any(field.name == name for field in type(self).fields)
        why = "was not recorded: name it in record= of simulate" if known else "is not an attribute of it"
        raise AttributeError(f"{self._shown}: '{name}' {why}", name=name, obj=self)

    def __init_subclass__(cls, mechanism: str, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._mechanism = mechanism
        cls.fields = tuple(RecordField(*field) for field in _core.record_fields(mechanism))
        entries = "".join(field.text() for field in cls.fields) + f"    {mechanism} : {mechanism.title()}\n"
        cls.__doc__ = f"{cls.__doc__}\n\n    Attributes\n    ----------\n{entries}{_COMMON_ATTRIBUTES}    "

    def __init__(
        self,
        arrays: Mapping[str, Array],
        mechanism: Any,
        *,
        method: str,
        dt: float,
        events: list[Any],
        failure: BaseException | None = None,
    ) -> None:
        recorded = tuple(field for field in self.fields if field.name in arrays)
        values = {field.name: arrays[field.name] for field in recorded} | {self._mechanism: mechanism}
        if len(recorded) < len(self.fields):
            values["fields"] = recorded
        self.__dict__.update(values, method=method, dt=dt, events=events, failure=failure)

    @classmethod
    def _blank(
        cls, mechanism: Any, method: str = "rk4", dt: float = 1.0, fields: Iterable[RecordField] | None = None
    ) -> Self:
        """A record without states, which knows labels and units."""
        none = {field.name: np.empty(0) for field in (cls.fields if fields is None else fields)}
        return cls(none, mechanism, method=method, dt=dt, events=[])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot assign to '{name}': a simulation is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete '{name}': a simulation is immutable")

    @property
    def _model(self) -> Any:
        return self.__dict__[self._mechanism]

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        states = f"{len(self)} state{'' if len(self) == 1 else 's'}"
        span = f" from t = {self.t[0]:g} to {self.t[-1]:g} s" if len(self) else ""
        events = f", {len(self.events)} event{'' if len(self.events) == 1 else 's'}" if self.events else ""
        failure = f", ended by {type(self.failure).__name__}" if self.failure is not None else ""
        energy = f", {self.energy_balance}" if len(self) else ""
        what = f"'{self._model.name}', {states}{span}, {self.method}, dt = {self.dt:g} s{energy}{events}{failure}"
        return f"{self._shown}({what})"

    def _repr_html_(self) -> str:
        return output.html_of(repr(self), self.fields, self.to_dict())

    @property
    def energy_balance(self) -> EnergyBalance:
        """Energy exchanged, the error of its balance, and their ratio.

        Examples
        --------
        >>> import zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> sim = ring.simulate(1.0, 1e-3, u=[-0.08, 0, 0, 0, 0, 0], laws=zv.laws.SpringDamper(400.0, 80.0))
        >>> print(sim.energy_balance)
        1.04 J exchanged, error < 1e-9 of it
        >>> sim.energy_balance.ratio < 1e-9
        True
        """
        if not len(self):
            return EnergyBalance(0.0, 0.0, 0.0)
        return EnergyBalance(*(float(number) for number in self._balances()))

    def _balances(self) -> tuple[Array, Array, Array]:
        """The numbers of `EnergyBalance`, of records (..., n) for (...) runs at once."""
        if len(self.fields) < len(type(self).fields):  # what it takes may be missing
            none = np.full(self.q.shape[:-2], math.nan)
            return none, none, none
        kinetic, potential, t = self.kinetic_energy, self.potential_energy, self.t
        with np.errstate(all="ignore"):  # of a motion that overflows
            error = np.abs(self.energy_error).max(axis=-1)
            works = self._works()
            exchanged = kinetic[..., 0] + _way(kinetic) + _way(potential)
            changes = [_way(work) for work in works]
            if len(t) > 1 and t[1] - t[0] > 1.5 * self.dt:  # a sparse record
                changes = [_larger(*pair) for pair in zip(changes, self._through(), strict=True)]
            exchanged = exchanged + sum(changes)
            ratio = np.where(exchanged != 0, error / exchanged, np.where(error == 0, 0.0, math.inf))
            if (ratio > 1e-10).any():
                # what rounding may do to energies and to forces times lengths, once in each step
                size = sum(np.abs(array).max(axis=-1) for array in (kinetic, potential, *works))
                steps = 100 + float(t[-1] - t[0]) / self.dt
                rounding = float(np.finfo(float).eps) * steps * (size + self._force_times_length())
                ratio = np.where((ratio > 1e-10) & (error <= rounding), 0.0, ratio)
        return np.asarray(exchanged), np.asarray(error), np.asarray(ratio)

    @abstractmethod
    def _works(self) -> list[Array]:
        """Works, of which the first is that of the drives."""

    @abstractmethod
    def _through(self) -> list[Array]:
        """Integrals of the size of the recorded power of each work, J; zero where it is not recorded."""

    @abstractmethod
    def _end_rates(self) -> Array:
        """Rates of the parts in the first and the last state, (2, parts)."""

    @abstractmethod
    def _force_times_length(self) -> Array | float:
        """Size of the products whose rounding disturbs the work, J."""

    def to_dict(self) -> dict[str, Array]:
        """Return all arrays by name.

        Examples
        --------
        >>> import zveno as zv
        >>> run = zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0])
        >>> run.to_dict()["q"].shape
        (11, 2)
        """
        return {field.name: self.__dict__[field.name] for field in self.fields}

    @abstractmethod
    def _labels(self, dim: str) -> tuple[str, ...]:
        """Labels of a dimension that are the mechanism's own."""

    def _parts(self) -> tuple[str, ...]:
        """Names of what may pass an end of its way."""
        return self._labels("leg")

    @abstractmethod
    def _turns(self, field: RecordField, index: tuple[int, ...]) -> bool:
        """Whether one of the numbers of a field that has "m or rad" belongs to a hinge."""

    def _place(self, sets: list[tuple[str, ...]], index: tuple[int, ...], field: RecordField) -> list[str] | None:
        """Labels of one number of a field; None: it is not used."""
        return [labels[i] for labels, i in zip(sets, index, strict=True)]

    def _unit(self, field: RecordField, index: tuple[int, ...]) -> str:
        """Unit of one number of a field."""
        if " or " in field.unit:
            turns = self._turns(field, index)
            return next(unit for unit in field.unit.split(" or ") if ("rad" in unit or unit == "N m") == turns)
        first, _, second = field.unit.partition(", ")
        return second if second and index[-1] >= 3 else first  # forces and moments, velocities and rates

    def _columns(self, arrays: Mapping[str, Array] | None = None) -> Iterator[Column]:
        """Every number of the record, or of arrays (..., n, *dims), field by field."""
        for field in self.fields:
            array = (self.__dict__ if arrays is None else arrays)[field.name]
            sets = [self._labels(dim) if labels is None else labels for dim, labels in field.dims]
            for index in np.ndindex(*(len(labels) for labels in sets)):
                place = self._place(sets, index, field)
                if place is not None:
                    values = array[(..., *index)] if index else array
                    where = ".".join(place)
                    name = f"{field.name}.{where}" if where else field.name
                    yield Column(name, field.name, where, self._unit(field, index), values)

    def _chosen(
        self, who: str, fields: Iterable[str] | str | None, arrays: Mapping[str, Array] | None = None
    ) -> list[Column]:
        """Columns of the named fields, or columns by their own names; None: all. Time comes first and once."""
        columns = list(self._columns(arrays))
        if fields is None:
            return columns
        names = [fields] if isinstance(fields, str) else as_list(fields)
        if names is None:
            raise TypeError(f"{who}: fields is {_show(fields)}, expected names")
        chosen = [column for column in columns if column.name == "t"]
        for name in names:
            found = [column for column in columns if name in (column.field, column.name)]
            if not found:
                known = ", ".join(field.name for field in self.fields)
                raise ValueError(f"{who}: fields names {_show(name)}, expected some of {known}, or of columns()")
            chosen += [column for column in found if column not in chosen]
        return chosen

    def _quantities(
        self, who: str, fields: Iterable[str] | str | None, arrays: Mapping[str, Array] | None = None
    ) -> list[Column]:
        """As `_chosen` without time; None: all that have a unit."""
        chosen = self._chosen(who, fields, arrays)
        return [column for column in chosen if column.field != "t" and (fields is not None or column.unit != "1")]

    def columns(self) -> dict[str, Array]:
        """Return every number as a column over time: ``{"t": (n,), "r.x": (n,), ..., "tau.leg1": (n,), ...}``.

        Joints have their names (``joint_position.leg1.stroke``); places that a leg does not use are left out.

        Examples
        --------
        >>> import zveno as zv
        >>> list(zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0]).columns())[:3]
        ['t', 'q.upper_joint', 'q.lower_joint']
        """
        return {column.name: column.values for column in self._columns()}

    def summary(self, fields: Iterable[str] | str | None = None, *, each: bool = False) -> output.Summary:
        """Peaks of every quantity: its largest size with sign, unit, time, and the leg, joint or component.

        Parameters
        ----------
        fields : iterable of str, optional
            Names of fields, or of `columns`; default: all that have a unit.
        each : bool
            A row for every leg, joint or component instead of the largest of them.

        Returns
        -------
        summary : Summary
            A tuple of `Peak`; prints as a table, ``.to_dict()`` and ``.to_pandas()`` give its columns.

        Examples
        --------
        >>> import zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> sim = ring.simulate(0.5, 1e-3, u=[-0.08, 0.02, 0, 0, 0, 0], laws=zv.laws.SpringDamper(400.0, 80.0))
        >>> print(sim.summary(["base_wrench", "tau"]))
        quantity     where  peak      unit  time, s
        base_wrench  fx     -16.0483  N     0.109
        base_wrench  mz     0.903584  N m   0.357
        tau          leg2   6.22914   N     0.128
        """
        who = "Simulation.summary"
        return output.peaks(self.t, self._quantities(who, fields), as_flag(each, failing(who), "each"))

    def to_csv(
        self, path: str | os.PathLike[str], fields: Iterable[str] | str | None = None, *, progress: bool | None = None
    ) -> None:
        """Write a table: names with units in its first line (``base_wrench.fx [N]``), then a line for each state.

        The file appears when it is complete. Numbers have a decimal point and read back to the same bits.

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
        >>> sim = zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "swing.csv")
        ...     sim.to_csv(path, ["q"])
        ...     print(path.read_text().splitlines()[:2])
        ['t [s],q.upper_joint [rad],q.lower_joint [rad]', '0.0,0.5,0.0']
        """
        chosen = self._chosen("Simulation.to_csv", fields)
        table = np.column_stack([column.values for column in chosen])
        header = [f"{column.name} [{column.unit}]" for column in chosen]
        output.write_csv(path, "Simulation.to_csv", header, [((), table)], len(table), progress)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame of `columns` with the time as its index. Needs pandas.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0]).to_pandas().index.name
        't'
        """
        columns = self.columns()
        index = columns.pop("t")
        pandas = _optional("pandas", "Simulation.to_pandas")
        return pandas.DataFrame(columns, index=pandas.Index(index, name="t"))

    def to_xarray(self) -> Any:
        """Return an xarray.Dataset with named dimensions, labels and units. Needs xarray.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0]).to_xarray()["q"].dims
        ('t', 'joint')
        """
        return output.dataset("Simulation.to_xarray", self, self.to_dict(), (), {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything, the mechanism included, to a compressed .npz file; `load` reads it.

        The file appears when it is complete.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> run = zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.npz")
        ...     run.save(path)
        ...     bool((zv.ChainSimulation.load(path).q == run.q).all())
        True
        """
        storage.save(self, path)

    @classmethod
    def _recorded(
        cls,
        plan: Plan,
        run: Run,
        model: Any,
        names: Sequence[str],
        linear: stability.Linearised | None,
        stopped: BaseException | None,
    ) -> tuple[Any, Self]:
        """What ended a run, and its record; `names` are those of the joints or legs."""
        failure: Any = stopped
        if failure is None and run.failure is not None:
            (cause, part, margin), at = run.failure
            when = f"simulate: at t = {at:.9g} s"
            if _core.cause(cause)[0] in ("UnreachableError", "SingularityError") or _core.cause(cause)[1] == "open":
                failure = cls._impossible(model, cause, part, margin, when)
            elif _core.cause(cause)[1] == "no step":
                failure = errors.StepError(
                    f"{when} the equations of a step of '{plan.method}' are not solved, however short it is: the laws"
                    f" or loads of {cls._called} '{model.name}' jump, or its motion breaks down",
                    plan.dt,
                )
            else:
                limit, culprit = limit_of(plan, linear, cls._entered(run))
                stable = "" if math.isinf(limit) else f"; '{plan.method}' is stable up to {limit:.3g} s, for {culprit}"
                failure = FloatingPointError(
                    f"{when} the motion of {cls._called} '{model.name}' is not finite: dt = {plan.dt:g} s is too long,"
                    f" or {cls._efforts} are too large{stable}"
                )
            if not isinstance(failure, errors.UnreachableError) and run.recorded:
                failure = cls._explained(failure, model, plan, run, at)
            failure.time = at
        events = cls._listed(run.events, names) + cls._crossed(plan, run)
        events.sort(key=lambda event: event.time)
        arrays = {name: array[: run.recorded] for name, array in run.arrays.items()}
        record = cls(arrays, model, method=plan.method, dt=plan.dt, events=events, failure=failure)
        record.__dict__.update(cls._more(run))
        return failure, record

    @classmethod
    def _listed(cls, events: Iterable[tuple[float, int, bool, bool, float]], names: Sequence[str]) -> list[Any]:
        """Passed ends of ways, as C++ tells them."""
        return [
            cls._event(at, names[part], "upper" if upper else "lower", "enter" if enters else "leave", rate)
            for at, part, upper, enters, rate in events
        ]

    @classmethod
    def _explained(cls, failure: Any, model: Any, plan: Plan, run: Run, at: float) -> Any:
        """A failure at a time, or a better word for it."""
        return failure

    @classmethod
    def _crossed(cls, plan: Plan, run: Run) -> list[Any]:
        """Events of the caller."""
        return []

    @classmethod
    def _more(cls, run: Run) -> dict[str, Any]:
        """What else a run says of itself."""
        return {}

    def _is_crossing(self, event: Any) -> bool:
        """Whether an entry of a file is an event of the caller."""
        return False

    def _crossing(self, event: list[Any]) -> Any:
        """That event; a record without such events has none."""
        raise TypeError(f"{type(self).__name__} has no events of the caller")

    @staticmethod
    def _entered(run: Run) -> set[int]:
        """Legs or joints that have met an end of their way."""
        return {part for _, part, _, enters, _ in run.events if enters}

    @staticmethod
    @abstractmethod
    def _impossible(model: Any, cause: int, part: int, margin: float, when: str) -> Exception:
        """The error about a state that has no acceleration."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a simulation that `save` has written, of whatever mechanism.

        Raises
        ------
        ValueError
            The file is damaged or holds something else; the message names the file and the field.
        OSError
            The file cannot be opened.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.npz")
        ...     zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0]).save(path)
        ...     zv.Simulation.load(path).chain.n
        2
        """
        found = storage.load(path, "Simulation.load")
        if not isinstance(found, cls):
            what = f"the simulation of a {found._mechanism}, expected one of a {cls._mechanism}"
            if isinstance(found, SimulationBatch):
                what = "a batch of simulations, expected one: SimulationBatch.load and zveno.load read it"
            raise ValueError(f"Simulation.load: '{os.fspath(path)}' holds {what}")
        return found

    @abstractmethod
    def plot(self) -> Figure:
        """Draw the motion in one figure. Needs matplotlib (``zveno[plot]``).

        Examples
        --------
        >>> import zveno as zv
        >>> figure = zv.robots.two_link().simulate(0.1, 1e-2, q=[0.5, 0.0]).plot()
        >>> len(figure.axes) > 3
        True
        """

    def animate(self, path: str | os.PathLike[str], *, speed: float = 1.0) -> None:
        """Write the motion as a moving picture that any browser plays: lines between the parts of the mechanism.

        Parameters
        ----------
        path : str or path
            ``.html``: a page with a button and a slider; ``.svg``: the picture alone. Nothing else is needed to see it.
        speed : float
            Seconds of motion in a second of the picture; 0.1 is slow motion.

        Examples
        --------
        >>> import tempfile, pathlib, zveno as zv
        >>> sim = zv.robots.two_link().simulate(2.0, 1e-2, q=[0.5, 0.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "swing.html")
        ...     sim.animate(path)
        ...     "<animate" in path.read_text()
        True
        """
        _optional("zveno.plot.motion", "Simulation.animate").animate(self, path, speed)


class HexapodSimulation(Simulation, mechanism="hexapod"):
    """Record of the simulated motion of a hexapod's ring. ``len()`` is the number of recorded states n."""

    hexapod: Hexapod
    events: list[StopEvent]
    _event = StopEvent
    _called = "hexapod"
    _efforts = "forces"

    @property
    def omega_base(self) -> Array:
        """Angular velocity of the ring in base axes, (n, 3) rad/s; `u` has it in ring axes.

        Examples
        --------
        >>> import zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> ring.simulate(0.01, 1e-3, u=[0, 0, 0, 0.1, 0, 0]).omega_base[0]
        array([0.1, 0. , 0. ])
        """
        return np.asarray((self.R @ self.u[:, 3:, None])[..., 0])

    @property
    def actuated_position(self) -> Array:
        """Coordinates of the actuated joints, (n, 6) m or rad."""
        positions: Array = self.joint_position[:, np.arange(6), self.hexapod.actuated]
        return positions

    @property
    def actuated_velocity(self) -> Array:
        """Rates of the actuated joints, (n, 6) m/s or rad/s."""
        rates: Array = self.joint_velocity[:, np.arange(6), self.hexapod.actuated]
        return rates

    def _labels(self, dim: str) -> tuple[str, ...]:
        return self.hexapod.leg_names if dim == "leg" else tuple(str(j + 1) for j in range(self.hexapod.nj))

    def _place(self, sets: list[tuple[str, ...]], index: tuple[int, ...], field: RecordField) -> list[str] | None:
        place = super()._place(sets, index, field)
        if [dim for dim, _ in field.dims] == ["leg", "joint"] and place is not None:
            joints = self.hexapod.legs[index[0]].joint_names
            return [place[0], joints[index[1]]] if index[1] < len(joints) else None
        return place

    def _turns(self, field: RecordField, index: tuple[int, ...]) -> bool:
        leg = self.hexapod.legs[index[0]]
        if len(index) == 1:
            return leg.unit == "rad"
        if leg.chain is not None:
            return bool(leg.chain.joint_types[index[1]] != "prismatic")
        return leg.joint_names[index[1]] != "stroke"

    def _works(self) -> list[Array]:
        return [self.work_legs, self.work_wrench]

    def _through(self) -> list[Array]:
        powers = ((self.tau * self.actuated_velocity).sum(axis=1), (self.wrench * self.u).sum(axis=1))
        return [through(power, self.t) for power in powers]

    def _end_rates(self) -> Array:
        rates = self.joint_velocity[[0, -1]]
        return np.concatenate([rates[:, np.arange(6), self.hexapod.actuated], rates.reshape(2, -1)], axis=1)

    def _parts(self) -> tuple[str, ...]:
        return parts_of(self.hexapod)

    def _force_times_length(self) -> float:
        size = np.abs(self.tau).max() + np.abs(self.wrench).max()
        return float(size * (self.hexapod.radius + np.abs(self.r).max()))

    @staticmethod
    def _impossible(model: Hexapod, cause: int, part: int, margin: float, when: str) -> Exception:
        kind, key, text = _core.cause(cause)
        leg, index = (None, None) if part < 0 else (model.leg_names[part], part)
        who = f"hexapod '{model.name}'" if leg is None else f"leg '{leg}'"
        error: type[errors.SingularityError] | type[errors.UnreachableError] = getattr(errors, kind)
        return error(f"{when} {who} {text}, margin {margin:.3g}", leg=leg, leg_index=index, cause=key, margin=margin)

    def plot(self) -> Figure:
        """Draw ring, strokes, forces, load on the base and energy in one figure. Needs matplotlib (``zveno[plot]``).

        Examples
        --------
        >>> import zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> figure = ring.simulate(0.1, 1e-3, laws=zv.laws.SpringDamper(400.0, 80.0)).plot()
        >>> len(figure.axes) > 3
        True
        """
        figure: Figure = _optional("zveno.plot.simulation", "Simulation.plot", "matplotlib").plot_simulation(self)
        return figure


def _way(values: Array) -> Array:
    """All changes of a number, added by size."""
    return np.asarray(np.abs(values[..., 1:] - values[..., :-1]).sum(axis=-1))


def _larger(a: Array, b: Array) -> Array:
    """The second where it is larger."""
    return np.where(b > a, b, a)


def through(power: Array, t: Array) -> Array:
    """Integral of the size of a power over time, by trapezoids."""
    size = np.abs(power)
    return np.asarray((0.5 * (size[..., 1:] + size[..., :-1]) * np.diff(t)).sum(axis=-1))


class Options(TypedDict, total=False):
    """Arguments by name that the simulations of all mechanisms have in common."""

    t_start: float
    every: int
    progress: bool | None
    on_error: Literal["raise", "stop", "nan"]
    check_step: bool


class HexapodOptions(Options, total=False):
    """Arguments of `simulate` by name, without those that its overloads spell out."""

    r: Any
    R: Any
    quaternion: ArrayLike | None
    u: ArrayLike | None
    laws: Laws
    tau: ArrayLike | None
    wrench: Wrench
    base_motion: ArrayLike | None
    breaks: ArrayLike | None
    method: Literal["rk4", "semi-implicit"]


_BRISTLES: Final = 24  # internal states of the laws of a hexapod, as in C++

_OTHER_WORDS: Final = {
    **dict.fromkeys(("external", "load", "loads", "contact", "external_wrench", "wrenches"), "wrench"),
    **dict.fromkeys(("pose", "position", "x", "r0", "q", "q0", "x0"), "r"),
    **dict.fromkeys(("rotation", "orientation", "attitude", "r_wc"), "R"),
    **dict.fromkeys(("quat",), "quaternion"),
    **dict.fromkeys(("velocity", "twist", "v", "v0", "u0", "qd", "speed"), "u"),
    **dict.fromkeys(("base", "base_acceleration", "motion"), "base_motion"),
    **dict.fromkeys(("tstops", "break_times", "discontinuities"), "breaks"),
}


@overload
def simulate(
    hexapod: Hexapod, t_end: float, dt: float, *, threads: SupportsIndex, **options: Unpack[HexapodOptions]
) -> SimulationBatch: ...
@overload
def simulate(hexapod: Hexapod, t_end: float, dt: float, **options: Unpack[HexapodOptions]) -> HexapodSimulation: ...
@answering(_OTHER_WORDS)
def simulate(
    hexapod: Hexapod,
    t_end: float,
    dt: float,
    *,
    r: Any = None,
    R: Any = None,
    quaternion: ArrayLike | None = None,
    u: ArrayLike | None = None,
    laws: Laws = None,
    tau: ArrayLike | None = None,
    wrench: Wrench = None,
    base_motion: ArrayLike | None = None,
    breaks: ArrayLike | None = None,
    t_start: float = 0.0,
    method: Literal["rk4", "semi-implicit"] = "rk4",
    every: int = 1,
    progress: bool | None = None,
    on_error: Literal["raise", "stop", "nan"] = "raise",
    check_step: bool = True,
    threads: SupportsIndex | None = None,
) -> HexapodSimulation | SimulationBatch:
    """Motion of the ring of a hexapod in time on a fixed base; `Hexapod.simulate` is this function.

    Parameters
    ----------
    hexapod : Hexapod
        Its gravity acts.
    t_end, dt : float, s
        End and step. The step is shortened where needed, so that whole steps lead to the end.
    r : (..., 3) array, m, or a pose
        Initial centre of mass of the ring, base axes; default: the nominal pose. Without `R` and `quaternion` also a
        whole pose: (..., 4, 4) array, a pair (r, R), a dictionary, or an object with ``.as_matrix()``.
    R : (..., 3, 3) array or object with ``.as_matrix()``
        Initial rotation, ring axes to base axes; default: the nominal pose, or the identity.
    quaternion : (..., 4) array
        The same, scalar first; instead of `R`.
    u : (..., 6) array, m/s and rad/s
        Initial velocity in base axes and angular velocity in ring axes; default: at rest.
    laws : Law, six Law or None, dict of Law by name, or callable
        Forces of the drives: one law for all legs, one for each, or ``f(t, p, v) -> (6,)`` with the coordinates p (6,)
        and rates v (6,) of the actuated joints. A dict has laws of some joints, driven or not, by their names
        ``"leg1.u1"``, as in `HexapodSimulation.columns`; the name of a leg is that of its actuated joint. A reference
        of None is the coordinate of the joint in the nominal pose; limits of None are those of the leg, or of the joint
        in the chain of a custom leg. Angles are those of `closure` at the start and continuous in time.
    tau : (6,), (6, nj), (steps, 6) or (steps, 6, nj) array, N or N m
        Forces besides those of the laws: of the actuated joints or of all, constant or held over each step. In a batch
        also (..., 6) and (..., 6, nj) with its leading dimensions, or (..., steps, 6) and (..., steps, 6, nj).
    wrench : (..., 6) array, pair of arrays, or callable
        External wrench on the ring: force in base axes, N; moment about its centre of mass in ring axes, N m. Constant;
        or (times (k,), values (..., k, 6)), linear between the times and constant outside; or
        ``f(t, r, R, u) -> (6,)``.
    base_motion : (..., 9) array
        [a_0; Omega; Omega'] of the base in base axes, held constant. Energy and momentum are then those relative to the
        base; their balances are not formed, the errors are nan.
    breaks : (k,) array, s
        See `Chain.simulate`: times at which functions change suddenly, where steps end; `laws` and `wrench` may have
        them as their attribute ``breaks`` too.
    t_start : float, s
    method : {"rk4", "semi-implicit"}
        Runge-Kutta of order 4; or Euler with velocities first, then positions with the new velocities, order 1, which
        takes a quarter of the evaluations and stands more stiffness where forces switch.
    every : int
        Record every so many steps, and the last one.
    progress : bool, optional
        Show a progress bar. Default: if rich is installed, stderr is a terminal and the run takes more than 2 s.
    on_error : {"raise", "stop", "nan"}
        What to do if a leg goes out of reach, the mechanism becomes singular or numbers overflow. "raise": the error
        has the record up to then as its attribute ``simulation``, and that of a batch, the first that fails, ``row``.
        "stop": return that record with ``failure`` set. "nan", of a batch: what the run did not reach is nan, and
        ``status`` says why. Errors raised by callables are always raised, with that attribute.
    check_step : bool
        Refuse a step more than twice as long as the longest stable one; see Notes.
    threads : int, optional
        Runs of a batch that are made side by side; 0: as many as there are processors, or as a quota of the container
        leaves (`zveno.show_versions`). Default: 1. Runs with callables are made one after another.

    Returns
    -------
    simulation : HexapodSimulation or SimulationBatch
        A batch if an initial state, `wrench`, `base_motion` or `tau` has leading dimensions, which are broadcast: its
        arrays have them in front. Every run has the same bits as alone.

    Raises
    ------
    UnreachableError, SingularityError, FloatingPointError
        With the attributes ``time`` and ``simulation``.
    StepError
        The step is far beyond the limit of stability.

    Warns
    -----
    SimulationWarning
        The energy balance is off by more than 1 % of the energy exchanged (`Simulation.energy_balance`), or stops were
        met for which the step is too long to be stable. The message names the step limit and its cause.

    Notes
    -----
    Steps must be short beside the fastest motion. At the start, small motions obey M x'' + J'C J x' + J'K J x = 0 with
    the mass matrix M, the Jacobian J and the steepest slopes K, C of the laws. Modes stay bounded for omega dt < 2.83
    (springs) and c dt < 2.79 (dampers) with "rk4", omega^2 dt^2 + 2 c dt < 4 with "semi-implicit". Twice beyond that
    every step multiplies the motion by 3 to 40, and `check_step` refuses it. Springs of `Stops` count from the
    start only if they are met there; forces that have a bound (`DryFriction`, `EddyBrake`, `SlipClutch`, `Servo` with a
    limit) chatter and do not explode: the energy balance tells. Callables are not judged. To be accurate wants steps
    far shorter: the error of the energy balance is about 0.4 omega dt with "semi-implicit", which a run of less than 50
    steps is not judged by, since a start from rest alone makes 1 / (2 steps).

    Forces of joints that are not driven are no part of the record, but of ``work_legs``: they are ``law.of(hexapod,
    "leg1.u1")(t, x, v)`` at their recorded coordinates x and rates v, but for `LuGre`, whose bristles are not recorded.
    Such joints are not watched for limits, but for stops of their laws. All laws together have at most 24 `LuGre`.

    Ctrl-C ends a run in about 0.1 s, with its record as the attribute ``simulation`` of the KeyboardInterrupt. It is
    heard only where Python hears it: in the main thread, with Python's handler of SIGINT in place; a process that
    ignores SIGINT (started in the background of a shell, by nohup, by some CI) does not hear it.

    A record takes 8 bytes for each number: 142 of them for each state of a ring of UPS legs, about 1.1 kB. A batch
    needs its whole record, and one run more for each thread. Records beyond the machine's memory are refused. Memory of
    records that nobody holds any more, at most 32 MB of it, is kept for the next ones.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> law = zv.laws.SpringDamper(400.0, 80.0)
    >>> sim = ring.simulate(2.0, 1e-3, u=[-0.08, 0, 0, 0, 0, 0], laws=law)
    >>> print(sim.energy_balance)  # as the repr shows it, too
    1.07 J exchanged, error < 1e-9 of it
    >>> bool(np.abs(sim.energy_error).max() < 1e-6 * sim.kinetic_energy[0])  # energy is accounted for
    True
    """
    if not isinstance(hexapod, _core.Hexapod):
        raise TypeError(f"simulate: hexapod is {_show(hexapod)}, expected a Hexapod")
    plan = Plan.checked(t_end, dt, t_start, method, every, progress, on_error, check_step, threads)
    expected = "a Law, six of them, a dict by names of legs or joints, or a function f(t, p, v)"
    chosen, passive, forces = as_leg_laws(laws, hexapod, expected)
    programs = [None if law is None else program(law) for law in chosen]
    resisting = [(leg, joint, program(law)) for (leg, joint), law in passive.items()]
    start = initial_ring(hexapod, r, R, quaternion, u)
    load = None if wrench is None else as_load(wrench, "wrench")
    base = None if base_motion is None else as_stack(base_motion, "base_motion", (9,))
    plan = plan.broken_at(breaks, [x for x in (forces, wrench) if callable(x)])
    shapes = {name: array.shape[:-1] for name, array in start.items()}
    shapes["wrench"] = () if load is None else load.lead
    shapes["base_motion"] = () if base is None else base.shape[:-1]
    lead = common_shape(shapes)
    effort = None if tau is None else as_efforts(tau, plan.steps, ((6,), (6, hexapod.nj)), lead)
    lead = common_shape(shapes | {"tau": () if effort is None else effort.lead})
    rows = {name: rows_of(array, lead, 1) for name, array in start.items()}
    loads = load and load.rows(lead)
    efforts = effort and effort.rows(lead, partial(_all_joints, hexapod))
    bases = None if base is None else rows_of(base, lead, 1)
    lower, upper = hexapod.lower, hexapod.upper

    def make(i: int) -> _core.HexapodRun:
        return _core.HexapodRun(
            hexapod,
            plan.schedule(),
            r=rows["r"][i],
            q=rows["q"][i],
            u=rows["u"][i],
            laws=programs,
            lower=lower,
            upper=upper,
            forces=forces,
            wrench=loads and loads(i),
            tau=efforts and efforts(i),
            base=None if bases is None else bases[i],
            passive=resisting,
        )

    def linear(i: int) -> stability.Linearised | None:
        return stability.of_hexapod(
            hexapod,
            plan.method,
            chosen,
            rows["r"][i],
            lambda: np.asarray(from_quaternion(rows["q"][i : i + 1])[0]),
            rows["u"][i],
            passive,
        )

    calls_back = forces is not None or (load is not None and load.function is not None)
    sizes = {"leg": 6, "joint": hexapod.nj}
    return run_all(Runs(plan, lead, make, linear, HexapodSimulation, hexapod, parts_of(hexapod), sizes, calls_back))


def run_all(runs: Runs[AnySimulation]) -> AnySimulation | SimulationBatch:
    """One run, or a batch if there are leading dimensions."""
    if runs.lead:
        return run_batch(runs)
    runs.plan.require_on_error("raise", "stop")
    runs.require_memory()
    linear = runs.linear(0)
    runs.plan.require_step(linear)
    return run_once(runs, linear)


def run_once(runs: Runs[AnySimulation], linear: stability.Linearised | None) -> AnySimulation:
    """Make all steps of one run and return its record, or raise with it."""
    plan, kind, run = runs.plan, runs.kind, runs.make(0)
    stopped: BaseException | None = None
    try:
        _advance(run, plan.steps, plan.progress)
    except BaseException as error:  # Ctrl-C too: nothing that was computed is lost
        run.settle()
        stopped = error
    failure, record = kind._recorded(plan, run, runs.model, runs.names, linear, stopped)
    if failure is not None:
        if plan.on_error == "raise" or stopped is not None:
            failure.simulation = record
            raise failure
        return record
    text = doubts(plan, record, linear, kind._entered(run))
    if text:
        warn(text)
    return record


def _advance(run: Run, steps: int, progress: bool | None) -> None:
    """Make all steps under a progress bar."""
    with progress_bar(progress, steps, ("simulating", "steps", "simulate: progress=True")) as bar:
        advance(run, steps, bar)


def initial_ring(hexapod: Hexapod, r: Any, R: Any, quaternion: Any, u: Any) -> dict[str, Any]:
    """Arguments r, q, u of the run."""
    nominal = hexapod.nominal
    if r is None and nominal is None:
        refuse(f"r is missing, and hexapod '{hexapod.name}' has no nominal pose")
    if R is not None and quaternion is not None:
        refuse("R and quaternion are both given, expected one of them")
    if _is_pose(r):
        if R is not None or quaternion is not None:
            refuse(f"r is a whole pose, {_show(r)}, and {'R' if R is not None else 'quaternion'} is given too")
        r, R = as_pose(r, refuse, "pose", lead=True, exact=False)
    if quaternion is not None:
        q = as_stack(quaternion, "quaternion", (4,))
        q = np.array([_unit_quaternion(row) for row in q.reshape(-1, 4)]).reshape(q.shape)
    elif R is not None:
        turns = as_matrix(R, refuse, "R", lead=True)  # each by itself: a batch has the bits of single runs
        each = [to_quaternion(as_rotation(turn, refuse, "R")) for turn in turns.reshape(-1, 3, 3)]
        q = np.array(each).reshape(*turns.shape[:-2], 4)
    else:
        q = to_quaternion(np.eye(3) if nominal is None else nominal[1])
    return {
        "r": nominal[0] if r is None and nominal is not None else as_stack(r, "r", (3,)),
        "q": q,
        "u": np.zeros(6) if u is None else as_stack(u, "u", (6,)),
    }


def _is_pose(r: Any) -> bool:
    """Whether an argument holds place and rotation: a form of `as_pose`, not an array (..., 3)."""
    if isinstance(r, Mapping) or hasattr(r, "as_matrix") or (hasattr(r, "r") and hasattr(r, "R")):
        return True
    shape = _shape(r)
    return shape[-2:] == (4, 4) or (isinstance(r, tuple | list) and len(r) == 2 and shape == ())


def _unit_quaternion(q: Array) -> Array:
    size = float(np.linalg.norm(q))
    if not abs(size - 1) < 1e-6:
        refuse(f"quaternion has length {size:g}, expected 1")
    return np.asarray(q / size)


def as_stack(value: Any, what: str, core: tuple[int, ...]) -> Array:
    """`value` as finite numbers of shape (..., *core)."""
    shape = _shape(value)
    lead = shape[: len(shape) - len(core)] if shape[len(shape) - len(core) :] == core else ()
    return as_array(value, refuse, what, (*lead, *core))


def _shape(value: Any) -> tuple[int, ...]:
    """Shape of what may become an array; () for what cannot, as the check of its numbers will say."""
    try:
        return np.shape(value)
    except (ValueError, TypeError):
        return ()


def as_laws(
    laws: Any, who: Sequence[str], place: Callable[[int], Place], expected: str
) -> tuple[list[Law | None], Any]:
    """Laws of the drives with their references, and the function that gives the forces of all; `who` names the laws."""
    count = len(who)
    require_callable(laws, "laws")
    if not isinstance(laws, Law) and callable(laws):
        return [None] * count, laws
    if laws is None or isinstance(laws, Law):
        listed: list[Any] = [laws] * count
    elif isinstance(laws, Sequence) and not isinstance(laws, str | bytes):
        listed = list(laws)
    else:
        refuse(f"laws is {_show(laws)}, expected {expected}")
    if len(listed) != count:
        refuse(f"laws has {len(listed)} entries, expected {count}")
    for name, law in zip(who, listed, strict=True):
        if law is not None and not isinstance(law, Law):
            refuse(f"{name} is {_show(law)}, expected a Law or None")
    return [law and law._resolved(place(k)) for k, law in enumerate(listed)], None


class LegLaws(NamedTuple):
    """Laws of the drives, of other joints by leg and joint, and the function that gives the forces of all drives."""

    drives: list[Law | None]
    passive: dict[tuple[int, int], Law]
    function: Any = None


def as_leg_laws(laws: Any, hexapod: Hexapod, expected: str, *, passive: bool = True) -> LegLaws:
    """`as_laws` for the legs of a hexapod, by names of legs and joints too; `passive`: other joints than drives may."""
    places = leg_places(hexapod)
    if not isinstance(laws, Mapping):
        drives, function = as_laws(laws, [f"laws[{k}]" for k in range(6)], places, expected)
        return LegLaws(drives, {}, function)
    known = leg_joints(hexapod)
    found: dict[tuple[int, int], tuple[str, Law | None]] = {}
    for name, law in laws.items():
        named = {place for other, place in known if other == name}
        if len(named) != 1:
            refuse(f"laws names {f'{_show(name)}, which is two joints' if named else _unknown(hexapod, name, known)}")
        if (place := named.pop()) in found:
            refuse(f"laws names {_show(found[place][0])} and {_show(name)}, the same joint")
        what = "leg" if name in hexapod.leg_names else "joint"
        if law is not None and not isinstance(law, Law):
            refuse(f"law of {what} {_show(name)} is {_show(law)}, expected a Law or None")
        if not passive and place[1] != hexapod.actuated[place[0]]:
            refuse(f"laws names joint {_show(name)}, which is not driven: only drives have laws here")
        found[place] = (name, law and law._resolved(places(*place)))
    drives = [found.pop((k, j), ("", None))[1] for k, j in enumerate(hexapod.actuated.tolist())]
    resisting = {place: law for place, (_, law) in found.items() if law is not None}
    # neighbours whose laws have the same form are evaluated side by side
    resisting = dict(sorted(resisting.items(), key=lambda item: item[0][::-1]))
    states = sum(program(law).states for law in (*drives, *resisting.values()) if law is not None)
    if states > _BRISTLES:
        refuse(f"laws have {states} LuGre terms, expected at most {_BRISTLES} in the joints of a hexapod")
    return LegLaws(drives, resisting)


def _unknown(hexapod: Hexapod, name: Any, known: Sequence[tuple[str, Any]]) -> str:
    """What is said of a name that no leg or joint has."""
    legs = hexapod.leg_names
    nearest = next((k for k, leg in enumerate(legs) if isinstance(name, str) and name.startswith(leg)), 0)
    joints = ", ".join(repr(f"{legs[nearest]}.{joint}") for joint in hexapod.legs[nearest].joint_names)
    expected = f"a leg, {', '.join(map(repr, legs))}, or a joint of one, as {joints}"
    return f"joint {_show(name)}, expected {expected}{did_you_mean(name, [other for other, _ in known])}"


def parts_of(hexapod: Hexapod) -> tuple[str, ...]:
    """What events and limits of the step are of: legs, which stand for their drives, and then nj joints of each leg."""
    names = list(hexapod.leg_names)
    for leg in hexapod.legs:
        names += [f"{leg.name}.{joint}" for joint in leg.joint_names] + [""] * (hexapod.nj - leg.joint_count)
    return tuple(names)


def as_joint_laws(laws: Any, chain: Chain, expected: str) -> tuple[list[Law | None], Any]:
    """`as_laws` for the joints of a chain, by their names too."""
    names = chain.joint_names
    if isinstance(laws, Mapping):
        for name in laws:
            if name not in names:
                refuse(f"laws names joint {_show(name)}, expected one of {', '.join(map(repr, names))}")
        laws = [laws.get(name) for name in names]
    return as_laws(laws, [f"law of joint '{name}'" for name in names], partial(joint_place, chain), expected)


def require_callable(given: Any, what: str) -> None:
    """Refuse what can be called, but not with a time and a state: classes, and controllers without a reference."""
    if isinstance(given, type):
        refuse(f"{what} is the class {given.__name__}, expected an object of it, or a function")
    if callable(getattr(given, "follow", None)):
        refuse(f"{what} is a {type(given).__name__} without a reference, expected what its follow(...) returns")


class Load(NamedTuple):
    """A wrench or a motion over time: a function, or values (..., k, 6) at times (k,)."""

    function: Any
    times: Array
    values: Array

    @property
    def lead(self) -> tuple[int, ...]:
        return self.values.shape[:-2]

    def rows(self, lead: tuple[int, ...]) -> Callable[[int], Any]:
        """Its numbers in each run as C++ takes them."""
        if self.function is not None:
            return lambda i: self.function
        rows = rows_of(self.values, lead, 2)
        return lambda i: (self.times, rows[i])


def as_load(load: Any, what: str, width: int = 6) -> Load:
    """A wrench, or another quantity of `width` numbers: (..., 6) constant, (times, values) or a function."""
    if callable(load):
        return Load(load, np.zeros(1), np.zeros((1, width)))
    if not (isinstance(load, tuple | list) and len(load) == 2):
        return Load(None, np.zeros(1), as_stack(load, what, (width,))[..., None, :])
    count = len(load[0]) if hasattr(load[0], "__len__") else 0
    if not count:
        refuse(f"times of {what} is {_show(load[0])}, expected (k,) numbers with k > 0")
    times = as_array(load[0], refuse, f"times of {what}", (count,))
    if not (np.diff(times) > 0).all():
        refuse(f"times of {what} are not increasing")
    return Load(None, times, as_stack(load[1], f"values of {what}", (count, width)))


class Efforts(NamedTuple):
    """Forces of joints: values (..., *core), of which `core` numbers of dimensions belong to one run."""

    values: Array
    core: int

    @property
    def lead(self) -> tuple[int, ...]:
        return self.values.shape[: self.values.ndim - self.core]

    def rows(self, lead: tuple[int, ...], final: Callable[[Array], Array]) -> Callable[[int], Array]:
        rows = rows_of(self.values, lead, self.core)
        return lambda i: final(rows[i])


def as_efforts(tau: Any, steps: int, each: Sequence[tuple[int, ...]], lead: tuple[int, ...]) -> Efforts:
    """Forces of joints; `each` are the shapes that those of one step may have, `lead` the dimensions of the states."""
    single = [*each, *((steps, *core) for core in each)]
    shape = _shape(tau)
    if shape in single:
        if lead == (steps,) and shape[0] == steps and shape not in each:
            whole = (steps, *shape)
            refuse(
                f"tau of shape {shape} may hold a row for each step or for each run, which are {steps} both: give"
                f" {whole}"
            )
        return Efforts(as_array(tau, refuse, "tau", shape), len(shape))
    for core in each:
        size = len(core)
        if len(shape) > size + 1 and shape[-size:] == core and shape[-size - 1] in (1, steps):
            values = as_array(tau, refuse, "tau", shape)
            one = shape[-size - 1] == 1  # the same in all steps
            return Efforts(np.squeeze(values, -size - 1), size) if one else Efforts(values, size + 1)
        before = shape[: len(shape) - size]
        if lead and before and shape[-size:] == core and _spreads(before, lead):
            return Efforts(as_array(tau, refuse, "tau", shape), size)
    return Efforts(as_array(tau, refuse, "tau", *single), 0)  # says what is wrong


def _spreads(shape: tuple[int, ...], lead: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, lead) == lead
    except ValueError:
        return False


def _all_joints(hexapod: Hexapod, tau: Array) -> Array:
    """Forces of the actuated joints, (..., 6), as those of all, (..., 6, nj)."""
    if tau.shape[-2:] == (6, hexapod.nj):
        return tau
    full = np.zeros((*tau.shape, hexapod.nj))
    full[..., np.arange(6), hexapod.actuated] = tau
    return full


__test__: Final = {"simulate": simulate}  # doctest passes over what a decorator has wrapped
