"""Motion in time: `simulate` of hexapods and the records of all simulations. The steps are made in C++."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, NoReturn, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, errors
from .._check import Array, _show, as_array, as_number
from .._extras import optional as _optional
from .._rotation import as_rotation, to_quaternion
from .laws import Law, Place, leg_place, program

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Hexapod

__all__ = ["HexapodSimulation", "RecordField", "Simulation", "StopEvent", "simulate"]

LegForces: TypeAlias = Callable[[float, Array, Array], ArrayLike]
RingWrench: TypeAlias = Callable[[float, Array, Array, Array], ArrayLike]
Laws: TypeAlias = Law | Sequence[Law | None] | LegForces | None
Run: TypeAlias = _core.HexapodRun | _core.ChainRun
Wrench: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | RingWrench | None

_FORMAT: Final = "zveno.simulation"
_VERSION: Final = 1
_LONG: Final = 2.0  # s: shorter runs show no progress bar
_CHUNK: Final = 0.1  # s between two looks at the clock and at Ctrl-C


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


class StopEvent(NamedTuple):
    """The actuated joint of a leg passes an end of its way: a stop of its law, or else a limit of the leg.

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
    method : {"rk4", "semi-implicit"}
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

        def __getattr__(self, name: str) -> Any: ...

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
        values = {field.name: arrays[field.name] for field in self.fields} | {self._mechanism: mechanism}
        self.__dict__.update(values, method=method, dt=dt, events=events, failure=failure)

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
        what = f"'{self._model.name}', {states}{span}, {self.method}, dt = {self.dt:g} s{events}{failure}"
        return f"{self._shown}({what})"

    def to_dict(self) -> dict[str, Array]:
        """Return all arrays by name."""
        return {field.name: self.__dict__[field.name] for field in self.fields}

    @abstractmethod
    def _labels(self, dim: str) -> tuple[str, ...]:
        """Labels of a dimension that are the mechanism's own."""

    def _place(self, sets: list[tuple[str, ...]], index: tuple[int, ...], field: RecordField) -> list[str] | None:
        """Labels of one number of a field; None: it is not used."""
        return [labels[i] for labels, i in zip(sets, index, strict=True)]

    def columns(self) -> dict[str, Array]:
        """Return every number as a column over time: ``{"t": (n,), "r.x": (n,), ..., "tau.leg1": (n,), ...}``.

        Joints have their names (``joint_position.leg1.stroke``); places that a leg does not use are left out.
        """
        table = {}
        for field in self.fields:
            array = self.__dict__[field.name]
            sets = [self._labels(dim) if labels is None else labels for dim, labels in field.dims]
            for index in np.ndindex(*(len(labels) for labels in sets)):
                place = self._place(sets, index, field)
                if place is not None:
                    table[".".join([field.name, *place])] = array[(slice(None), *index)] if index else array
        return table

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame of `columns` with the time as its index. Needs pandas."""
        columns = self.columns()
        index = columns.pop("t")
        pandas = _optional("pandas", "Simulation.to_pandas")
        return pandas.DataFrame(columns, index=pandas.Index(index, name="t"))

    def to_xarray(self) -> Any:
        """Return an xarray.Dataset with named dimensions, labels and units. Needs xarray."""
        xarray = _optional("xarray", "Simulation.to_xarray")
        time, *fields = self.fields
        coords: dict[str, Any] = {"t": ("t", self.t, {"units": time.unit})}
        variables = {}
        for name, unit, doc, dims in fields:
            for dim, labels in dims:
                coords[dim] = list(self._labels(dim) if labels is None else labels)
            about = {"units": unit, "long_name": doc}
            variables[name] = (("t", *(dim for dim, _ in dims)), self.__dict__[name], about)
        attrs = {self._mechanism: self._model.name, "method": self.method, "dt": self.dt}
        return xarray.Dataset(variables, coords=coords, attrs=attrs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything, the mechanism included, to a compressed .npz file; `load` reads it."""
        about = {
            "format": _FORMAT,
            "version": _VERSION,
            self._mechanism: self._model.to_dict(),
            "method": self.method,
            "dt": self.dt,
            "events": [list(event) for event in self.events],
            "failure": None if self.failure is None else _described(self.failure),
        }
        with open(path, "wb") as file:  # np.savez would append a suffix
            np.savez_compressed(file, about=np.array(json.dumps(about)), **self.to_dict())  # type: ignore[arg-type]

    @staticmethod
    @abstractmethod
    def _impossible(model: Any, cause: int, part: int, margin: float, when: str) -> Exception:
        """The error about a state that has no acceleration."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a simulation that `save` has written, of whatever mechanism."""

        def fail(text: str) -> NoReturn:
            raise ValueError(f"Simulation.load: '{os.fspath(path)}' {text}")

        try:
            with np.load(path, allow_pickle=False) as data:
                if not hasattr(data, "files") or "about" not in data.files:
                    fail("holds no simulation")
                about = json.loads(str(data["about"]))
                arrays = {name: data[name] for name in data.files if name != "about"}
        except (ValueError, EOFError, OSError, KeyError) as error:
            if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
                raise
            fail(f"is not a simulation file ({error})")
        if about.get("format") != _FORMAT or about.get("version") != _VERSION:
            fail(f"is not a file of '{_FORMAT}', version {_VERSION}")
        kind = next((kind for kind in Simulation.__subclasses__() if kind._mechanism in about), HexapodSimulation)
        if not issubclass(kind, cls):
            fail(f"holds the simulation of a {kind._mechanism}, expected one of a {cls._mechanism}")
        missing = [field.name for field in kind.fields if field.name not in arrays]
        if missing:
            fail(f"lacks {', '.join(missing)}")
        from .. import model  # which knows this module

        return kind(
            arrays,
            getattr(model, kind._mechanism.title()).from_dict(about[kind._mechanism]),
            method=about["method"],
            dt=about["dt"],
            events=[kind._event(*event) for event in about["events"]],
            failure=None if about["failure"] is None else _recalled(about["failure"]),
        )

    @abstractmethod
    def plot(self) -> Figure:
        """Draw the motion in one figure. Needs matplotlib (``zveno[plot]``)."""


class HexapodSimulation(Simulation, mechanism="hexapod"):
    """Record of the simulated motion of a hexapod's ring. ``len()`` is the number of recorded states n."""

    hexapod: Hexapod
    events: list[StopEvent]
    _event = StopEvent
    _called = "hexapod"
    _efforts = "forces"

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

    @staticmethod
    def _impossible(model: Hexapod, cause: int, part: int, margin: float, when: str) -> Exception:
        kind, key, text = _core.cause(cause)
        leg, index = (None, None) if part < 0 else (model.leg_names[part], part)
        who = f"hexapod '{model.name}'" if leg is None else f"leg '{leg}'"
        error: type[errors.SingularityError] | type[errors.UnreachableError] = getattr(errors, kind)
        return error(f"{when} {who} {text}, margin {margin:.3g}", leg=leg, leg_index=index, cause=key, margin=margin)

    def plot(self) -> Figure:
        """Draw ring, strokes, forces and the load on the base in one figure. Needs matplotlib (``zveno[plot]``)."""
        figure: Figure = _optional("zveno.plot.simulation", "Simulation.plot", "matplotlib").plot_simulation(self)
        return figure


_FAILURE_DATA: Final = ("leg", "leg_index", "joint", "cause", "margin", "time")


def _described(failure: BaseException) -> dict[str, Any]:
    data = {key: getattr(failure, key) for key in _FAILURE_DATA if hasattr(failure, key)}
    return {"type": type(failure).__name__, "message": str(failure), "data": data}


def _recalled(failure: dict[str, Any]) -> BaseException:
    known = {kind.__name__: kind for kind in (errors.UnreachableError, errors.SingularityError, FloatingPointError)}
    error = known.get(failure["type"], errors.Error)(failure["message"])
    for key, value in failure["data"].items():
        setattr(error, key, value)
    return error


def simulate(
    hexapod: Hexapod,
    t_end: float,
    dt: float,
    *,
    r: ArrayLike | None = None,
    R: Any = None,
    quaternion: ArrayLike | None = None,
    u: ArrayLike | None = None,
    laws: Laws = None,
    tau: ArrayLike | None = None,
    wrench: Wrench = None,
    base_motion: ArrayLike | None = None,
    t_start: float = 0.0,
    method: Literal["rk4", "semi-implicit"] = "rk4",
    every: int = 1,
    progress: bool | None = None,
    on_error: Literal["raise", "stop"] = "raise",
) -> HexapodSimulation:
    """Motion of the ring of a hexapod in time on a fixed base; `Hexapod.simulate` is this function.

    Parameters
    ----------
    hexapod : Hexapod
        Its gravity acts.
    t_end, dt : float, s
        End and step. The step is shortened where needed, so that whole steps lead to the end.
    r : (3,) array, m
        Initial centre of mass of the ring, base axes; default: the nominal pose.
    R : (3, 3) array or object with ``.as_matrix()``
        Initial rotation, ring axes to base axes; default: the nominal pose, or the identity.
    quaternion : (4,) array
        The same, scalar first; instead of `R`.
    u : (6,) array, m/s and rad/s
        Initial velocity in base axes and angular velocity in ring axes; default: at rest.
    laws : Law, six Law or None, or callable
        Forces of the drives: one law for all legs, one for each, or ``f(t, p, v) -> (6,)`` with the coordinates p (6,)
        and rates v (6,) of the actuated joints.
    tau : (6,), (6, nj), (steps, 6) or (steps, 6, nj) array, N or N m
        Forces besides those of the laws: of the actuated joints or of all, constant or held over each step.
    wrench : (6,) array, pair of arrays, or callable
        External wrench on the ring: force in base axes, N; moment about its centre of mass in ring axes, N m. Constant;
        or (times (k,), values (k, 6)), linear between the times and constant outside; or ``f(t, r, R, u) -> (6,)``.
    base_motion : (9,) array
        [a_0; Omega; Omega'] of the base in base axes, held constant. Energy and momentum are then those relative to the
        base; their balances are not formed, the errors are nan.
    t_start : float, s
    method : {"rk4", "semi-implicit"}
        Runge-Kutta of order 4; or Euler with velocities first, then positions with the new velocities, order 1, which
        takes a quarter of the evaluations and stands more stiffness where forces switch.
    every : int
        Record every so many steps, and the last one.
    progress : bool, optional
        Show a progress bar. Default: if rich is installed, stderr is a terminal and the run takes more than 2 s.
    on_error : {"raise", "stop"}
        What to do if a leg goes out of reach, the mechanism becomes singular or numbers overflow. "raise": the error
        has the record up to then as its attribute ``simulation``. "stop": return that record with ``failure`` set.
        Errors raised by callables are always raised, with that attribute.

    Returns
    -------
    simulation : HexapodSimulation

    Raises
    ------
    UnreachableError, SingularityError, FloatingPointError
        With the attributes ``time`` and ``simulation``.

    Notes
    -----
    Steps must be short beside the fastest motion. With stiffness k and damping c of the legs, J the Jacobian and A the
    mass matrix: semi-implicit steps want dt sqrt(k lambda) < 0.2 and dt c lambda < 1, where lambda is the largest
    eigenvalue of A^-1 J'J. Count the stiffness and damping of stops.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> law = zv.laws.SpringDamper(400.0, 80.0)
    >>> sim = ring.simulate(2.0, 1e-3, u=[-0.08, 0, 0, 0, 0, 0], laws=law)
    >>> sim
    Simulation('docking_ring UPS', 2001 states from t = 0 to 2 s, rk4, dt = 0.001 s)
    >>> bool(np.abs(sim.energy_error).max() < 1e-6 * sim.kinetic_energy[0])  # energy is accounted for
    True
    """
    if not isinstance(hexapod, _core.Hexapod):
        raise TypeError(f"simulate: hexapod is {_show(hexapod)}, expected a Hexapod")
    plan = Plan.checked(t_end, dt, t_start, method, every, progress, on_error)
    who, expected = [f"laws[{k}]" for k in range(6)], "a Law, six of them, or a function f(t, p, v)"
    programs, forces = as_laws(laws, who, partial(leg_place, hexapod), expected)
    run = _core.HexapodRun(
        hexapod,
        plan.schedule(),
        **_initial(hexapod, r, R, quaternion, u),
        laws=programs,
        lower=hexapod.lower,
        upper=hexapod.upper,
        forces=forces,
        wrench=None if wrench is None else as_load(wrench, "wrench"),
        tau=None if tau is None else _joint_forces(hexapod, tau, plan.steps),
        base=None if base_motion is None else as_array(base_motion, refuse, "base_motion", (9,)),
    )
    return plan.made(run, HexapodSimulation, hexapod, hexapod.leg_names)


def refuse(text: str) -> NoReturn:
    """Refuse an argument of a simulation."""
    raise ValueError(f"simulate: {text}")


_AnySimulation = TypeVar("_AnySimulation", bound=Simulation)


class Plan(NamedTuple):
    """Arguments that the simulations of all mechanisms have in common."""

    start: float
    dt: float
    steps: int
    method: str
    every: int
    progress: bool | None
    on_error: str

    @classmethod
    def checked(cls, t_end: Any, dt: Any, t_start: Any, method: Any, every: Any, progress: Any, on_error: Any) -> Self:
        if method not in ("rk4", "semi-implicit"):
            refuse(f"method is {_show(method)}, expected 'rk4' or 'semi-implicit'")
        if on_error not in ("raise", "stop"):
            refuse(f"on_error is {_show(on_error)}, expected 'raise' or 'stop'")
        if progress is not None and not isinstance(progress, bool):
            refuse(f"progress is {_show(progress)}, expected True, False or None")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            refuse(f"every is {_show(every)}, expected a whole number > 0")
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
        return cls(start, step, steps, method, min(int(every), steps), progress, on_error)

    def schedule(self) -> _core.Schedule:
        return _core.Schedule(
            semi_implicit=self.method == "semi-implicit",
            start=self.start,
            dt=self.dt,
            steps=self.steps,
            every=self.every,
        )

    def made(self, run: Run, kind: type[_AnySimulation], model: Any, names: Sequence[str]) -> _AnySimulation:
        """Make all steps and return the record, or raise with it; `names` are those of the joints or legs."""
        stopped: BaseException | None = None
        try:
            _advance(run, self.steps, self.progress)
        except BaseException as error:  # Ctrl-C too: nothing that was computed is lost
            run.settle()
            stopped = error
        failure: Any = stopped
        if failure is None and run.failure is not None:
            (cause, part, margin), at = run.failure
            when = f"simulate: at t = {at:.9g} s"
            if _core.cause(cause)[0] in ("UnreachableError", "SingularityError"):
                failure = kind._impossible(model, cause, part, margin, when)
            else:
                failure = FloatingPointError(
                    f"{when} the motion of {kind._called} '{model.name}' is not finite: dt = {self.dt:g} s is too long,"
                    f" or {kind._efforts} are too large"
                )
            failure.time = at
        record = kind(
            {name: array[: run.recorded] for name, array in run.arrays.items()},
            model,
            method=self.method,
            dt=self.dt,
            events=[
                kind._event(at, names[part], "upper" if upper else "lower", "enter" if enters else "leave", rate)
                for at, part, upper, enters, rate in run.events
            ],
            failure=failure,
        )
        if failure is not None and (self.on_error == "raise" or stopped is not None):
            failure.simulation = record
            raise failure
        return record


def _steps(ratio: float) -> int:
    """Whole steps that cover `ratio` steps; a ratio that is whole but for rounding stays whole."""
    if not ratio < 2**40:
        refuse(f"dt makes {ratio:.3g} steps, expected less than {2**40:.3g}")
    nearest = round(ratio)
    return max(1, nearest if abs(ratio - nearest) < 1e-9 * max(1.0, ratio) else math.ceil(ratio))


def _initial(hexapod: Hexapod, r: Any, R: Any, quaternion: Any, u: Any) -> dict[str, Any]:
    """Arguments r, q, u of the run."""
    nominal = hexapod.nominal
    if r is None and nominal is None:
        refuse(f"r is missing, and hexapod '{hexapod.name}' has no nominal pose")
    if R is not None and quaternion is not None:
        refuse("R and quaternion are both given, expected one of them")
    if quaternion is not None:
        q = as_array(quaternion, refuse, "quaternion", (4,))
        size = float(np.linalg.norm(q))
        if not abs(size - 1) < 1e-6:
            refuse(f"quaternion has length {size:g}, expected 1")
        q = q / size
    elif R is not None:
        q = to_quaternion(as_rotation(R, refuse, "R"))
    else:
        q = to_quaternion(np.eye(3) if nominal is None else nominal[1])
    return {
        "r": nominal[0] if r is None and nominal is not None else as_array(r, refuse, "r", (3,)),
        "q": q,
        "u": np.zeros(6) if u is None else as_array(u, refuse, "u", (6,)),
    }


def as_laws(laws: Any, who: Sequence[str], place: Callable[[int], Place], expected: str) -> tuple[list[Any], Any]:
    """Compiled laws of the drives, and the function that gives the forces of all; `who` are names of the laws."""
    count = len(who)
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
    return [law and program(law._resolved(place(k))) for k, law in enumerate(listed)], None


def as_load(load: Any, what: str) -> Any:
    """A wrench as C++ takes it: (times, values) or a function."""
    if callable(load):
        return load
    if not (isinstance(load, tuple | list) and len(load) == 2):
        return np.zeros(1), as_array(load, refuse, what, (6,))
    count = len(load[0]) if hasattr(load[0], "__len__") else 0
    if not count:
        refuse(f"times of {what} is {_show(load[0])}, expected (k,) numbers with k > 0")
    times = as_array(load[0], refuse, f"times of {what}", (count,))
    if not (np.diff(times) > 0).all():
        refuse(f"times of {what} are not increasing")
    return times, as_array(load[1], refuse, f"values of {what}", (count, 6))


def _joint_forces(hexapod: Hexapod, tau: ArrayLike, steps: int) -> Array:
    """`tau` as (6, nj) or (steps, 6, nj)."""
    nj = hexapod.nj
    given = as_array(tau, refuse, "tau", (6,), (6, nj), (steps, 6), (steps, 6, nj))
    if given.shape[-2:] == (6, nj):
        return given
    full = np.zeros((*given.shape, nj))
    full[..., np.arange(6), hexapod.actuated] = given
    return full


def _advance(run: Run, steps: int, progress: bool | None) -> None:
    """Make all steps, in pieces between which Ctrl-C and the progress bar have their turn."""
    begin = last = time.perf_counter()
    wanted = progress is True or (progress is None and _can_show())
    count = 16
    while run.advance(count):
        now = time.perf_counter()
        if now - last < 0.5 * _CHUNK:
            count = min(2 * count, steps)
        elif now - last > 2 * _CHUNK:
            count = max(1, count // 2)
        last = now
        expected = (now - begin) * steps / max(1, run.step)
        if wanted and (progress or (now - begin > _CHUNK and expected > _LONG)):
            with _bar(steps) as update:
                while run.advance(count):
                    update(run.step)
                update(run.step)
            return


def _can_show() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and importlib.util.find_spec("rich") is not None


@contextmanager
def _bar(steps: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr; yields the function that moves it."""
    progress = _optional("rich.progress", "simulate: progress=True", "rich")
    console = _optional("rich.console", "simulate: progress=True", "rich").Console(stderr=True)
    columns = (
        progress.TextColumn("simulating"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("steps"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=steps)
        yield lambda done: bar.update(task, completed=done)
