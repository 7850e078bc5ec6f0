"""Motion of a hexapod's ring in time: `simulate` and its record `Simulation`. The steps are made in C++."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, errors
from .._check import _show, as_array, as_number
from .._rotation import as_rotation
from ..model import Hexapod
from .laws import Law, _place, program

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Simulation", "StopEvent", "simulate"]

Array = NDArray[np.float64]
LegForces: TypeAlias = Callable[[float, Array, Array], ArrayLike]
RingWrench: TypeAlias = Callable[[float, Array, Array, Array], ArrayLike]
Laws: TypeAlias = Law | Sequence[Law | None] | LegForces | None
Wrench: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | RingWrench | None

_FORMAT: Final = "zveno.simulation"
_VERSION: Final = 1
_LONG: Final = 2.0  # s: shorter runs show no progress bar
_CHUNK: Final = 0.1  # s between two looks at the clock and at Ctrl-C

_XYZ: Final = ("x", "y", "z")
_RING: Final = ("vx", "vy", "vz", "wx", "wy", "wz")
_WRENCH: Final = ("fx", "fy", "fz", "mx", "my", "mz")
_REACTION: Final = ("fx", "fy", "fz", "m")
_LEGS, _JOINTS = "leg", "joint"

# dimensions behind time with their labels, and the unit
_Dims: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
_FIELDS: Final[dict[str, tuple[_Dims, str]]] = {
    "r": ((("axis", _XYZ),), "m"),
    "R": ((("axis", _XYZ), ("ring_axis", _XYZ)), "1"),
    "quaternion": ((("component", ("w", "x", "y", "z")),), "1"),
    "u": ((("ring", _RING),), "m/s, rad/s"),
    "acceleration": ((("ring", _RING),), "m/s^2, rad/s^2"),
    "joint_position": (((_LEGS, ()), (_JOINTS, ())), "m or rad"),
    "joint_velocity": (((_LEGS, ()), (_JOINTS, ())), "m/s or rad/s"),
    "joint_acceleration": (((_LEGS, ()), (_JOINTS, ())), "m/s^2 or rad/s^2"),
    "tau": (((_LEGS, ()),), "N or N m"),
    "reaction": (((_LEGS, ()), ("reaction_component", _REACTION)), "N, N m"),
    "base_wrench": ((("wrench_component", _WRENCH),), "N, N m"),
    "wrench": ((("wrench_component", _WRENCH),), "N, N m"),
    "kinetic_energy": ((), "J"),
    "potential_energy": ((), "J"),
    "work_wrench": ((), "J"),
    "work_legs": ((), "J"),
    "energy_error": ((), "J"),
    "momentum": ((("momentum_component", ("px", "py", "pz", "lx", "ly", "lz")),), "kg m/s, kg m^2/s"),
    "momentum_error": ((("momentum_component", ("px", "py", "pz", "lx", "ly", "lz")),), "kg m/s, kg m^2/s"),
}


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


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Record of a simulated motion. ``len()`` is the number of recorded states n.

    Attributes
    ----------
    t : (n,) array, s
    r : (n, 3) array, m
        Centre of mass of the ring, base axes.
    R : (n, 3, 3) array
        Ring axes to base axes.
    quaternion : (n, 4) array
        The same rotation, scalar first.
    u : (n, 6) array, m/s and rad/s
        Velocity in base axes, angular velocity in ring axes.
    acceleration : (n, 6) array, m/s^2 and rad/s^2
        u'.
    joint_position, joint_velocity, joint_acceleration : (n, 6, nj) array, m or rad, s
        Angles are continuous in time.
    tau : (n, 6) array, N or N m
        Forces of the actuated joints: laws and `tau` of the call together.
    reaction : (n, 6, 4) array, N and N m
        Of the legs on the ring: force at the hinge in base axes, moment about the normal of a universal joint.
    base_wrench : (n, 6) array, N and N m
        Of the legs on the base about its origin, base axes.
    wrench : (n, 6) array, N and N m
        External one on the ring: force in base axes, moment about its centre of mass in ring axes.
    kinetic_energy, potential_energy, work_wrench, work_legs : (n,) array, J
        Work is counted from the first state; that of the legs includes dampers, brakes and friction.
    energy_error : (n,) array, J
        Energy now, minus energy of the first state, minus work: zero but for the error of the integration.
    momentum : (n, 6) array, kg m/s and kg m^2/s
        Linear, and angular about the base's origin, base axes.
    momentum_error : (n, 6) array
        Momentum, minus that of the first state, minus the impulse of wrench, base and weight.
    events : list of StopEvent
        In the order of time.
    failure : Exception or None
        What ended the run before its time; everything up to then is recorded. Its attribute ``time`` says when.
    hexapod : Hexapod
    method : {"rk4", "semi-implicit"}
    dt : float, s
        Step in use.
    """

    t: Array
    r: Array
    R: Array
    quaternion: Array
    u: Array
    acceleration: Array
    joint_position: Array
    joint_velocity: Array
    joint_acceleration: Array
    tau: Array
    reaction: Array
    base_wrench: Array
    wrench: Array
    kinetic_energy: Array
    potential_energy: Array
    work_wrench: Array
    work_legs: Array
    energy_error: Array
    momentum: Array
    momentum_error: Array
    hexapod: Hexapod
    method: str
    dt: float
    events: list[StopEvent] = field(default_factory=list)
    failure: BaseException | None = None

    @property
    def actuated_position(self) -> Array:
        """Coordinates of the actuated joints, (n, 6) m or rad."""
        return self.joint_position[:, np.arange(6), self.hexapod.actuated]

    @property
    def actuated_velocity(self) -> Array:
        """Rates of the actuated joints, (n, 6) m/s or rad/s."""
        return self.joint_velocity[:, np.arange(6), self.hexapod.actuated]

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        states = f"{len(self)} state{'' if len(self) == 1 else 's'}"
        span = f" from t = {self.t[0]:g} to {self.t[-1]:g} s" if len(self) else ""
        events = f", {len(self.events)} event{'' if len(self.events) == 1 else 's'}" if self.events else ""
        failure = f", ended by {type(self.failure).__name__}" if self.failure is not None else ""
        return f"Simulation('{self.hexapod.name}', {states}{span}, {self.method}, dt = {self.dt:g} s{events}{failure})"

    def to_dict(self) -> dict[str, Array]:
        """Return all arrays by name."""
        return {"t": self.t} | {name: getattr(self, name) for name in _FIELDS}

    def _labels(self, dim: str, labels: tuple[str, ...]) -> tuple[str, ...]:
        if dim == _LEGS:
            return self.hexapod.leg_names
        return tuple(str(j + 1) for j in range(self.hexapod.nj)) if dim == _JOINTS else labels

    def columns(self) -> dict[str, Array]:
        """Return every number as a column over time: ``{"t": (n,), "r.x": (n,), ..., "tau.leg1": (n,), ...}``.

        Joints have their names (``joint_position.leg1.stroke``); places that a leg does not use are left out.
        """
        table = {"t": self.t}
        for name, (dims, _) in _FIELDS.items():
            array = getattr(self, name)
            sets = [self._labels(dim, labels) for dim, labels in dims]
            for index in np.ndindex(*(len(labels) for labels in sets)):
                parts = [labels[i] for labels, i in zip(sets, index, strict=True)]
                if [dim for dim, _ in dims] == [_LEGS, _JOINTS]:
                    joints = self.hexapod.legs[index[0]].joint_names
                    if index[1] >= len(joints):
                        continue
                    parts[1] = joints[index[1]]
                table[".".join([name, *parts])] = array[(slice(None), *index)]
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
        coords: dict[str, Any] = {"t": ("t", self.t, {"units": "s"})}
        variables = {}
        for name, (dims, unit) in _FIELDS.items():
            for dim, labels in dims:
                coords[dim] = list(self._labels(dim, labels))
            variables[name] = (("t", *(dim for dim, _ in dims)), getattr(self, name), {"units": unit})
        attrs = {"hexapod": self.hexapod.name, "method": self.method, "dt": self.dt}
        return xarray.Dataset(variables, coords=coords, attrs=attrs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything, the hexapod included, to a compressed .npz file; `load` reads it."""
        about = {
            "format": _FORMAT,
            "version": _VERSION,
            "hexapod": self.hexapod.to_dict(),
            "method": self.method,
            "dt": self.dt,
            "events": [list(event) for event in self.events],
            "failure": None if self.failure is None else _described(self.failure),
        }
        with open(path, "wb") as file:  # np.savez would append a suffix
            np.savez_compressed(file, about=np.array(json.dumps(about)), **self.to_dict())  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a simulation that `save` has written."""

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
        missing = [name for name in ("t", *_FIELDS) if name not in arrays]
        if missing:
            fail(f"lacks {', '.join(missing)}")
        return cls(
            **{name: arrays[name] for name in ("t", *_FIELDS)},
            hexapod=Hexapod.from_dict(about["hexapod"]),
            method=about["method"],
            dt=about["dt"],
            events=[StopEvent(*event) for event in about["events"]],
            failure=None if about["failure"] is None else _recalled(about["failure"]),
        )

    def plot(self) -> Figure:
        """Draw ring, strokes, forces and the load on the base in one figure. Needs matplotlib (``zveno[cli]``)."""
        figure: Figure = _optional("zveno.plot.simulation", "Simulation.plot", "matplotlib").plot_simulation(self)
        return figure


def _optional(module: str, who: str, package: str | None = None) -> Any:
    package = package or module
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        extra = "zveno[cli]" if package in ("matplotlib", "rich") else package
        raise ImportError(f"{who} needs {package}: install it with `pip install {extra}`", name=package) from error


_FAILURE_DATA: Final = ("leg", "leg_index", "cause", "margin", "time")


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
) -> Simulation:
    """Simulate the ring of a hexapod on a fixed base.

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
    simulation : Simulation

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
    >>> from zveno import laws, mechanisms
    >>> ring = mechanisms.docking_ring("UPS")
    >>> simulate(ring, 0.5, 1e-3, u=[-0.05, 0, 0, 0, 0, 0], laws=laws.SpringDamper(400.0, 80.0))
    Simulation('docking_ring UPS (made-up data)', 501 states from t = 0 to 0.5 s, rk4, dt = 0.001 s)
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"simulate: {text}")

    if not isinstance(hexapod, Hexapod):
        raise TypeError(f"simulate: hexapod is {_show(hexapod)}, expected a Hexapod")
    if method not in ("rk4", "semi-implicit"):
        fail(f"method is {_show(method)}, expected 'rk4' or 'semi-implicit'")
    if on_error not in ("raise", "stop"):
        fail(f"on_error is {_show(on_error)}, expected 'raise' or 'stop'")
    if progress is not None and not isinstance(progress, bool):
        fail(f"progress is {_show(progress)}, expected True, False or None")
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        fail(f"every is {_show(every)}, expected a whole number > 0")
    start, end, step = as_number(t_start, fail, "t_start"), as_number(t_end, fail, "t_end"), as_number(dt, fail, "dt")
    if not end > start:
        fail(f"t_end is {end:g}, expected more than t_start = {start:g}")
    if not step > 0:
        fail(f"dt is {step:g}, expected a number > 0")
    steps = _steps((end - start) / step, fail)
    step = (end - start) / steps
    if not end - step < end:
        fail(f"dt is {step:g}, too short beside t_end = {end:g}")

    run = _core.HexapodRun(
        hexapod,
        semi_implicit=method == "semi-implicit",
        start=start,
        dt=step,
        steps=steps,
        every=min(int(every), steps),
        lower=hexapod.lower,
        upper=hexapod.upper,
        **_initial(hexapod, r, R, quaternion, u, fail),
        **_drives(hexapod, laws, fail),
        **_external(wrench, fail),
        tau=None if tau is None else _joint_forces(hexapod, tau, steps, fail),
        base=None if base_motion is None else as_array(base_motion, fail, "base_motion", (9,)),
    )
    stopped: BaseException | None = None
    try:
        _advance(run, steps, progress)
    except BaseException as error:  # Ctrl-C too: nothing that was computed is lost
        run.settle()
        stopped = error
    failure = stopped
    if failure is None and run.failure is not None:
        failure = _error(hexapod, step, *run.failure)
    done = run.recorded
    record = Simulation(
        **{name: array[:done] for name, array in run.arrays.items()},
        hexapod=hexapod,
        method=method,
        dt=step,
        events=[
            StopEvent(at, hexapod.leg_names[leg], "upper" if upper else "lower", "enter" if enters else "leave", rate)
            for at, leg, upper, enters, rate in run.events
        ],
        failure=failure,
    )
    if failure is not None and (on_error == "raise" or stopped is not None):
        failure.simulation = record  # type: ignore[attr-defined]
        raise failure
    return record


def _steps(ratio: float, fail: Callable[[str], NoReturn]) -> int:
    """Whole steps that cover `ratio` steps; a ratio that is whole but for rounding stays whole."""
    if not ratio < 2**40:
        fail(f"dt makes {ratio:.3g} steps, expected less than {2**40:.3g}")
    nearest = round(ratio)
    return max(1, nearest if abs(ratio - nearest) < 1e-9 * max(1.0, ratio) else math.ceil(ratio))


def _initial(
    hexapod: Hexapod, r: Any, R: Any, quaternion: Any, u: Any, fail: Callable[[str], NoReturn]
) -> dict[str, Any]:
    """Arguments r, q, u of the run."""
    nominal = hexapod.nominal
    if r is None and nominal is None:
        fail(f"r is missing, and hexapod '{hexapod.name}' has no nominal pose")
    if R is not None and quaternion is not None:
        fail("R and quaternion are both given, expected one of them")
    if quaternion is not None:
        q = as_array(quaternion, fail, "quaternion", (4,))
        size = float(np.linalg.norm(q))
        if not abs(size - 1) < 1e-6:
            fail(f"quaternion has length {size:g}, expected 1")
        q = q / size
    elif R is not None:
        q = _quaternion(as_rotation(R, fail, "R"))
    else:
        q = _quaternion(np.eye(3) if nominal is None else nominal[1])
    return {
        "r": nominal[0] if r is None and nominal is not None else as_array(r, fail, "r", (3,)),
        "q": q,
        "u": np.zeros(6) if u is None else as_array(u, fail, "u", (6,)),
    }


def _quaternion(R: Array) -> Array:
    """Scalar first, from the largest of its components."""
    xx, yy, zz = np.diagonal(R).tolist()
    squares = np.array([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz])
    i = int(squares.argmax())
    sums, differences = R + R.T, R - R.T
    w = np.array([differences[2, 1], differences[0, 2], differences[1, 0]])
    q = np.empty(4)
    if i == 0:
        q[:] = squares[0], *w
    else:
        q[:] = w[i - 1], *sums[i - 1]
        q[i] = squares[i]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def _drives(hexapod: Hexapod, laws: Any, fail: Callable[[str], NoReturn]) -> dict[str, Any]:
    """Arguments laws and leg_forces of the run."""
    if laws is not None and not isinstance(laws, Law) and callable(laws):
        return {"laws": [None] * 6, "leg_forces": laws}
    if laws is None or isinstance(laws, Law):
        listed: list[Any] = [laws] * 6
    elif isinstance(laws, Sequence) and not isinstance(laws, str | bytes):
        listed = list(laws)
    else:
        fail(f"laws is {_show(laws)}, expected a Law, six of them, or a function f(t, p, v)")
    if len(listed) != 6:
        fail(f"laws has {len(listed)} entries, expected 6")
    for k, law in enumerate(listed):
        if law is not None and not isinstance(law, Law):
            fail(f"laws[{k}] is {_show(law)}, expected a Law or None")
    programs = [law and program(law._resolved(_place(hexapod, k))) for k, law in enumerate(listed)]
    return {"laws": programs}


def _external(wrench: Any, fail: Callable[[str], NoReturn]) -> dict[str, Any]:
    """Arguments wrench, wrench_times and wrench_values of the run."""
    if wrench is None:
        return {}
    if callable(wrench):
        return {"wrench": wrench}
    if not (isinstance(wrench, tuple | list) and len(wrench) == 2):
        values = as_array(wrench, fail, "wrench", (6,))
        return {"wrench_times": np.zeros(1), "wrench_values": values}
    count = len(wrench[0]) if hasattr(wrench[0], "__len__") else 0
    if not count:
        fail(f"times of wrench is {_show(wrench[0])}, expected (k,) numbers with k > 0")
    times = as_array(wrench[0], fail, "times of wrench", (count,))
    if not (np.diff(times) > 0).all():
        fail("times of wrench are not increasing")
    return {"wrench_times": times, "wrench_values": as_array(wrench[1], fail, "values of wrench", (count, 6))}


def _joint_forces(hexapod: Hexapod, tau: ArrayLike, steps: int, fail: Callable[[str], NoReturn]) -> Array:
    """`tau` as (6, nj) or (steps, 6, nj)."""
    nj = hexapod.nj
    given = as_array(tau, fail, "tau", (6,), (6, nj), (steps, 6), (steps, 6, nj))
    if given.shape[-2:] == (6, nj):
        return given
    full = np.zeros((*given.shape, nj))
    full[..., np.arange(6), hexapod.actuated] = given
    return full


def _error(hexapod: Hexapod, dt: float, cause: int, leg: int, margin: float, at: float) -> Exception:
    """The exception for a failed evaluation."""
    kind, key, text = _core.cause(cause)
    when = f"simulate: at t = {at:.9g} s"
    error: Any
    if kind not in ("UnreachableError", "SingularityError"):
        error = FloatingPointError(
            f"{when} the motion of hexapod '{hexapod.name}' is not finite: dt = {dt:g} s is too long, or forces are too"
            " large"
        )
    else:
        who = f"hexapod '{hexapod.name}'" if leg < 0 else f"leg '{hexapod.leg_names[leg]}'"
        error = getattr(errors, kind)(f"{when} {who} {text}, margin {margin:.3g}")
        error.leg, error.leg_index = (None, None) if leg < 0 else (hexapod.leg_names[leg], leg)
        error.cause, error.margin = key, margin
    error.time = at
    return error  # type: ignore[no-any-return]


def _advance(run: _core.HexapodRun, steps: int, progress: bool | None) -> None:
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
