"""What is stepped outside of Python: a mechanism, its laws, the period, inputs and outputs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NoReturn, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import Fail, _show, as_amount, as_choice, as_flag, as_integer, as_list, as_number
from .._output import checked_path, replacing
from .._record import require_keys
from ..errors import ModelError
from ..model import Chain, Hexapod
from ..sim import laws as law_types
from ..sim.laws import Law, joint_place, leg_places
from ..sim.simulation import as_laws, as_stack, initial_ring

__all__ = ["Channel", "Description", "RigOptions", "describe", "read_rig", "save_rig"]

Array = NDArray[np.float64]
METHODS: Final = ("rk4", "semi-implicit")
FORMAT: Final = "zveno.rig"
VERSION: Final = 1
KEYS: Final = (
    *("format", "version", "model", "period", "substeps", "method", "laws", "start", "external", "poses"),
    *("base_motion", "servo", "most_held", "jump", "note"),
)


class RigOptions(TypedDict, total=False):
    """Arguments of `save_rig` and `export_fmu` by name."""

    period: float
    substeps: int
    method: str
    laws: Any
    q: ArrayLike
    qd: ArrayLike
    r: Any
    R: Any
    quaternion: ArrayLike
    u: ArrayLike
    external: Sequence[str]
    poses: Sequence[str]
    base_motion: bool
    servo: Mapping[str, float]
    most_held: int
    jump: Mapping[str, float]


@dataclass(frozen=True)
class Channel:
    """A quantity among inputs or outputs."""

    name: str
    size: int
    unit: str


@dataclass(frozen=True)
class Description:
    """What `save_rig` writes and the exporters read: everything checked, every reference of a law filled in."""

    model: Chain | Hexapod
    period: float
    substeps: int
    method: str
    laws: tuple[Law | None, ...]
    start: Mapping[str, Array]
    external: tuple[str, ...]
    poses: tuple[str, ...]
    base_motion: bool
    servo: Mapping[str, float]
    most_held: int
    jump: Mapping[str, float]

    @property
    def step(self) -> float:
        """Step of the integrator, s."""
        return self.period / self.substeps

    @property
    def inputs(self) -> tuple[Channel, ...]:
        """Inputs in their order."""
        more = [Channel("base_motion", 9, "m/s^2, rad/s, rad/s^2")] if self.base_motion else []
        if isinstance(self.model, Hexapod):
            more += [Channel("drive.reference", 6, "m or rad")] if self.servo else []
            return Channel("wrench", 6, "N, N m"), Channel("tau", 6, "N or N m"), *more
        more += [Channel("drive.reference", self.model.n, "rad or m")] if self.servo else []
        loads = [Channel(f"external.{link}", 6, "N, N m") for link in self.external]
        return Channel("tau", self.model.n, "N m or N"), *loads, *more

    @property
    def outputs(self) -> tuple[Channel, ...]:
        """Outputs in their order."""
        if isinstance(self.model, Hexapod):
            return (
                Channel("ring.position", 3, "m"),
                Channel("ring.quaternion", 4, "1"),
                Channel("ring.twist", 6, "m/s, rad/s"),
                Channel("ring.acceleration", 6, "m/s^2, rad/s^2"),
                Channel("stroke", 6, "m or rad"),
                Channel("stroke_rate", 6, "m/s or rad/s"),
                Channel("leg_force", 6, "N or N m"),
                Channel("base_wrench", 6, "N, N m"),
            )
        n = self.model.n
        poses = [
            channel
            for link in self.poses
            for channel in (Channel(f"pose.{link}.position", 3, "m"), Channel(f"pose.{link}.quaternion", 4, "1"))
        ]
        return (
            Channel("q", n, "rad or m"),
            Channel("qd", n, "rad/s or m/s"),
            Channel("qdd", n, "rad/s^2 or m/s^2"),
            Channel("base_wrench", 6, "N, N m"),
            Channel("energy", 1, "J"),
            *poses,
        )

    def to_dict(self) -> dict[str, Any]:
        """What the file holds."""
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "period": self.period,
            "substeps": self.substeps,
            "method": self.method,
            "start": {key: value.tolist() for key, value in self.start.items()},
            "laws": [None if law is None else [_plain(term) for term in law._terms()] for law in self.laws],
        }
        data |= {key: list(names) for key, names in (("external", self.external), ("poses", self.poses)) if names}
        if self.base_motion:
            data["base_motion"] = True
        if self.servo:
            data["servo"] = dict(self.servo)
        if self.most_held:
            data["most_held"] = self.most_held
        if self.jump:
            data["jump"] = dict(self.jump)
        return data | {"model": self.model.to_dict()}

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def options(self) -> RigOptions:
        """What `describe` made it from."""
        some: dict[str, Any] = {
            "period": self.period,
            "substeps": self.substeps,
            "method": self.method,
            "laws": list(self.laws),
            "base_motion": self.base_motion,
            "servo": self.servo,
            "most_held": self.most_held,
            "jump": self.jump,
            **self.start,
        }
        if isinstance(self.model, Chain):
            some |= {"external": self.external, "poses": self.poses}
        return cast(RigOptions, some)


def _plain(term: Sequence[Any]) -> list[Any]:
    """A term of a law as JSON has it: null for infinity."""
    return [
        None
        if isinstance(x, float) and math.isinf(x)
        else np.asarray(x).tolist()
        if isinstance(x, np.ndarray | tuple)
        else x
        for x in term
    ]


def describe(function: str, model: Chain | Hexapod, options: RigOptions) -> Description:
    """Check the arguments of `function`."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{function}: {text}")

    if not isinstance(model, _core.Chain | _core.Hexapod):
        raise TypeError(f"{function}: model is {_show(model)}, expected a Chain or a Hexapod")
    ring = isinstance(model, Hexapod)
    foreign = ("q", "qd", "external", "poses") if ring else ("r", "R", "quaternion", "u")
    for key in foreign:
        if options.get(key) is not None:
            fail(f"{key} is given, but the model is a {'hexapod' if ring else 'chain'}")
    period = as_number(options.get("period", 1e-3), fail, "period")
    if not 0 < period <= 1e6:
        fail(f"period is {period:g}, expected a number > 0, s")
    substeps = as_integer(function, "substeps", options.get("substeps", 1), 1, 10_000)
    method = as_choice(options.get("method", "rk4"), fail, "method", METHODS)
    held = as_integer(function, "most_held", options.get("most_held", 0), 0, 10**9)
    try:
        if isinstance(model, Hexapod):
            who, expected = [f"laws[{k}]" for k in range(6)], "a Law or six of them"
            laws, called = as_laws(options.get("laws"), who, leg_places(model), expected)
            begin = initial_ring(model, options.get("r"), options.get("R"), options.get("quaternion"), options.get("u"))
            start = {"r": begin["r"], "quaternion": begin["q"], "u": begin["u"]}
        else:
            names = model.joint_names
            given = options.get("laws")
            if isinstance(given, Mapping):
                for name in given:
                    if name not in names:
                        fail(f"laws names joint {_show(name)}, expected one of {', '.join(map(repr, names))}")
                given = [given.get(name) for name in names]
            who = [f"law of joint '{name}'" for name in names]
            expected = f"a Law, {model.n} of them or a dict by joint name"
            laws, called = as_laws(given, who, partial(joint_place, model), expected)
            zeros = np.zeros(model.n)
            start = {
                key: as_stack(zeros if options.get(key) is None else options[key], key, (model.n,))
                for key in ("q", "qd")
            }
    except ValueError as error:
        fail(str(error).removeprefix("simulate: "))
    if called is not None:
        fail("laws is a function, expected laws of `zveno.laws`: a function of Python cannot leave it")
    for key, value in start.items():
        if value.ndim != 1:
            fail(f"{key} has shape {value.shape}, expected one state")
    jump = options.get("jump") or {}
    if not isinstance(jump, Mapping):
        fail(f"jump is {_show(jump)}, expected a dict of numbers by input")
    made = Description(
        model,
        period,
        substeps,
        method,
        tuple(laws),
        start,
        _links(model, options.get("external"), "external", fail),
        _links(model, options.get("poses"), "poses", fail),
        as_flag(options.get("base_motion", False), fail, "base_motion"),
        _servo(options.get("servo"), fail),
        held,
        {},
    )
    limits = {}
    for name, value in jump.items():
        if name not in (known := [channel.name for channel in made.inputs]):
            fail(f"jump names {_show(name)}, expected some of {', '.join(known)}")
        limits[name] = as_number(value, fail, f"jump of {name}")
        if not limits[name] > 0:
            fail(f"jump of {name} is {limits[name]:g}, expected a number > 0")
    object.__setattr__(made, "jump", limits)
    return made


def read_rig(data: Mapping[str, Any]) -> Description:
    """The description that `Description.to_dict` has made a dictionary of."""

    def fail(text: str) -> NoReturn:
        raise ModelError(f"rig: {text}")

    require_keys("rig", data, KEYS, ("format", "version", "model"))
    if data["format"] != FORMAT or data["version"] != VERSION:
        fail(f"format is {_show(data['format'])}, version {_show(data['version'])}, expected '{FORMAT}', {VERSION}")
    kinds: dict[Any, type[Chain] | type[Hexapod]] = {kind._format: kind for kind in (Chain, Hexapod)}
    its = data["model"].get("format") if isinstance(data["model"], Mapping) else None
    if not isinstance(its, str) or its not in kinds:
        fail(f"format of the model is {_show(its)}, expected {' or '.join(map(repr, kinds))}")
    model = kinds[its].from_dict(data["model"])
    options: dict[str, Any] = {key: data[key] for key in data if key not in ("format", "version", "model", "note")}
    start = options.pop("start", None) or {}
    given = options.pop("laws", None)
    try:
        if given is not None:
            options["laws"] = [None if terms is None else law_of_terms(terms) for terms in given]
        return describe("rig", model, cast(RigOptions, options | dict(start)))
    except (TypeError, ValueError) as error:
        fail(str(error).removeprefix("rig: "))


def law_of_terms(terms: Sequence[Sequence[Any]]) -> Law | None:
    """The law whose terms these are."""
    made: list[Law] = []
    i = 0
    while i < len(terms):
        kind, *x = terms[i]
        numbers = [math.inf if value is None else value for value in x]
        if kind == "slip_clutch":
            inner = law_of_terms(terms[i + 1 : i + 1 + x[1]])
            if inner is None:
                raise ValueError("a slip clutch without its terms")
            made.append(law_types.SlipClutch(numbers[0], inner))
            i += x[1]
        elif kind == "spring_damper":
            force, stiffness, damping, reference = numbers
            made.append(law_types.SpringDamper(stiffness, damping, force=force, reference=reference))
        elif kind == "stops":
            lower, upper, stiffness, damping = (-math.inf if x[0] is None else x[0], *numbers[1:])
            made.append(law_types.Stops(stiffness, damping, lower=lower, upper=upper))
        elif kind in ("dry_friction", "eddy_brake", "lugre"):
            plain = {"dry_friction": law_types.DryFriction, "eddy_brake": law_types.EddyBrake, "lugre": law_types.LuGre}
            made.append(plain[kind](*numbers))
        elif isinstance(kind, str) and kind.startswith("servo_"):
            stiffness, damping, limit, *rest = numbers
            references: dict[str, Callable[..., Any]] = {
                "servo_constant": lambda value: value,
                "servo_ramp": lambda begin, end, speed, at: law_types.Ramp(end, speed, start=begin, begin=at),
                "servo_table": law_types.Table,
            }
            reference = references[kind](*rest)
            made.append(law_types.Servo(stiffness, damping, limit=limit, reference=reference))
        else:
            raise ValueError(f"unknown term {_show(kind)} of a law")
        i += 1
    return None if not made else made[0] if len(made) == 1 else law_types.Sum(tuple(made))


def _servo(given: Any, fail: Fail) -> Mapping[str, float]:
    """Gains of the servos whose references are an input; empty: there are none."""
    if not given:
        return {}
    if not isinstance(given, Mapping) or not {"stiffness"} <= set(given) <= {"stiffness", "damping", "limit"}:
        fail(f"servo is {_show(given)}, expected a dict with stiffness, and damping and limit if there are any")
    gains = {key: as_amount(value, fail, f"{key} of servo", positive=key == "limit") for key, value in given.items()}
    return {"damping": 0.0} | gains


def _links(model: Chain | Hexapod, names: Any, what: str, fail: Fail) -> tuple[str, ...]:
    if names is None or isinstance(model, Hexapod):
        return ()
    listed = None if isinstance(names, str) else as_list(names)
    if listed is None:
        fail(f"{what} is {_show(names)}, expected a list of names of links")
    for name in listed:
        if name not in model.link_names:
            fail(f"{what} names {_show(name)}, expected some of {', '.join(map(repr, model.link_names))}")
    if len(set(listed)) < len(listed):
        fail(f"{what} names a link twice")
    return tuple(listed)


def save_rig(model: Chain | Hexapod, path: str | os.PathLike[str], **options: Unpack[RigOptions]) -> None:
    """Write a mechanism, its laws and its period for the C library: ``zv_rig_open`` of ``zveno.h`` reads the file.

    Parameters
    ----------
    model : Chain or Hexapod
    path : path
        It must end in ``.json``.
    period : float, s
        Time between two steps; default: 1e-3. Inputs are held over it.
    substeps : int
        Steps of the integrator in a period; default: 1.
    method : {"rk4", "semi-implicit"}
        As of `Chain.simulate`.
    laws : Law, sequence or dict of Law
        As of `Chain.simulate` and `Hexapod.simulate`, without functions of Python.
    q, qd : (n,) arrays, rad or m, rad/s or m/s
        Start of a chain; default: zeros.
    r, R, quaternion, u
        Start of a hexapod, as of `Hexapod.simulate`.
    external : sequence of str
        Links of a chain on which wrenches act: inputs ``external.<link>``, [force; moment] at the origin, world axes.
    poses : sequence of str
        Links of a chain whose poses are outputs ``pose.<link>.position`` and ``pose.<link>.quaternion``.
    base_motion : bool
        Whether the motion of the base is an input: [a; Omega; Omega'] in base axes.
    servo : dict, optional
        Gains ``stiffness``, ``damping``, ``limit`` of position servos of all drives, besides the laws; their references
        are the input ``drive.reference``.
    most_held : int
        Refused inputs in a row after which the rig stops; 0, the default: never.
    jump : dict of float by input
        Largest change of an input from one period to the next; what jumps farther is refused.

    See Also
    --------
    export_fmu : the same as an FMU.

    Examples
    --------
    >>> import os, tempfile, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "ring.json")
    ...     zv.save_rig(ring, path, period=1e-3, laws=zv.laws.SpringDamper(400.0, 80.0))
    ...     stepper = zv.Stepper.open(path)
    >>> out = stepper.step(wrench=[-100.0, 0, 0, 0, 0, 0])  # a push for a millisecond
    >>> bool((out["stroke_rate"] < 0).all())
    True
    """
    description = describe("save_rig", model, options)
    target = checked_path("save_rig", path, ".json")
    with replacing(target) as file:
        file.write(description.to_json().encode())
