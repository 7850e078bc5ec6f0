"""What is stepped outside of Python: a mechanism, its laws, the period, inputs and outputs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import Fail, _show, as_amount, as_array, as_choice, as_flag, as_integer, as_list, as_number, did_you_mean
from .._output import checked_path, replacing
from .._record import require_keys
from ..errors import ModelError, StepError
from ..model import Chain, Hexapod, Linkage
from ..sim.laws import Law
from ..sim.simulation import as_joint_laws, as_leg_laws, as_stack, initial_ring
from .dockings import check_steps, docking_model, docking_start
from .terms import law_of_terms, plain_terms

if TYPE_CHECKING:
    from ..docking.scenario import Scenario

__all__ = ["Channel", "Description", "RigOptions", "describe", "read_rig", "save_rig"]

Array = NDArray[np.float64]
METHODS: Final = ("rk4", "semi-implicit")
FORMAT: Final = "zveno.rig"
LONGEST_PERIOD: Final = 1e6
VERSION: Final = 1
KEYS: Final = (
    *("format", "version", "model", "period", "substeps", "method", "laws", "start", "external", "poses"),
    *("base_motion", "servo", "most_held", "jump", "note", "loops", "contact_input", "sensor", "outputs"),
)
LATE: Final = ("qdd", "base_wrench", "ring.acceleration", "leg_force")  # need forces at the end of a period
SENSOR: Final = ("turns", "rotation", "position", "mass", "com", "gravity", "tare", "dead_band", "lag")


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
    contact_input: bool
    sensor: Mapping[str, Mapping[str, Any]]
    outputs: Sequence[str] | None


@dataclass(frozen=True)
class Channel:
    """A quantity among inputs or outputs."""

    name: str
    size: int
    unit: str


@dataclass(frozen=True)
class Description:
    """What `save_rig` writes and the exporters read: everything checked, every reference of a law filled in."""

    model: Chain | Hexapod | Linkage | Scenario
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
    contact_input: bool = False
    sensor: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()  # outputs; none: all

    @property
    def name(self) -> str:
        """Of the model."""
        return self.model.name if isinstance(self.model, Chain | Hexapod | Linkage) else "docking"

    @property
    def step(self) -> float:
        """Step of the integrator, s."""
        return self.period / self.substeps

    @property
    def start_numbers(self) -> Array:
        """As ``zv_rig_reset`` takes it; factors of a docking are ones."""
        known = isinstance(self.model, Chain | Hexapod | Linkage)
        return np.concatenate([*map(np.ravel, self.start.values()), np.ones(0 if known else 8)])

    @property
    def inputs(self) -> tuple[Channel, ...]:
        """Inputs in their order."""
        more = [Channel("base_motion", 9, "m/s^2, rad/s, rad/s^2")] if self.base_motion else []
        if isinstance(self.model, Hexapod):
            more += [Channel("drive.reference", 6, "m or rad")] if self.servo else []
            return Channel("wrench", 6, "N, N m"), Channel("tau", 6, "N or N m"), *more
        if not isinstance(self.model, Chain | Linkage):
            contact = [Channel("contact_wrench", 6, "N, N m")] if self.contact_input else []
            thrust = [
                Channel(f"{who}thrust.{what}", 3, unit)
                for who in ("", "B.")
                for what, unit in (("force", "N"), ("moment", "N m"))
            ]
            return *thrust, Channel("phase_command", 1, "1"), *contact
        more += [Channel("drive.reference", self.model.n, "rad or m")] if self.servo else []
        loads = [Channel(f"external.{link}", 6, "N, N m") for link in self.external]
        return Channel("tau", self.model.n, "N m or N"), *loads, *more

    @property
    def outputs(self) -> tuple[Channel, ...]:
        """Those that are wanted, in their order."""
        return tuple(channel for channel in self.all_outputs if not self.wanted or channel.name in self.wanted)

    @property
    def brief(self) -> bool:
        """Whether no output needs accelerations or forces at the end of a period: they are not computed there."""
        return not any(channel.name in LATE for channel in self.outputs)

    @property
    def all_outputs(self) -> tuple[Channel, ...]:
        """What can be wanted."""
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
        if not isinstance(self.model, Chain | Linkage):  # the library knows them
            from .library import Stepper

            stepper = Stepper(self.model, **(self.options() | {"outputs": None}))
            return tuple(
                Channel(name, part.stop - part.start, stepper.units[name]) for name, part in stepper.outputs.items()
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
            "start": {
                key: float(value[0]) if key in ("closing", "roll", "gap") else value.tolist()
                for key, value in self.start.items()
            },
            "laws": [None if law is None else plain_terms(law) for law in self.laws],
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
        if self.sensor:
            data["sensor"] = {name: dict(sensor) for name, sensor in self.sensor.items()}
        if self.wanted:
            data["outputs"] = list(self.wanted)
        if isinstance(self.model, Linkage):
            data["loops"] = _loops(self.model)
        if isinstance(self.model, Chain | Hexapod | Linkage):
            return data | {"model": self.model.to_dict()}
        del data["laws"]
        if self.contact_input:
            data["contact_input"] = True
        return data | {"model": docking_model(self.model, self.name)}

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def options(self) -> RigOptions:
        """What `describe` made it from."""
        some: dict[str, Any] = {
            "period": self.period,
            "substeps": self.substeps,
            "method": self.method,
            "most_held": self.most_held,
            "jump": self.jump,
            "sensor": self.sensor,
            "outputs": self.wanted or None,
        }
        if not isinstance(self.model, Chain | Hexapod | Linkage):
            return cast(RigOptions, some | {"contact_input": self.contact_input})
        some |= {"laws": list(self.laws), "base_motion": self.base_motion, "servo": self.servo, **self.start}
        if isinstance(self.model, Chain | Linkage):
            some |= {"external": self.external, "poses": self.poses}
        return cast(RigOptions, some)


_STARTS: Final = ("q", "qd", "r", "quaternion", "u")
_OF_CHAINS: Final = ("q", "qd", "external", "poses")
_OF_RINGS: Final = ("r", "R", "quaternion", "u")
_OF_BOTH: Final = ("laws", "base_motion", "servo")
_FOREIGN: Final = {
    "chain": (*_OF_RINGS, "contact_input"),
    "linkage": (*_OF_RINGS, "contact_input"),
    "hexapod": (*_OF_CHAINS, "contact_input"),
    "docking": (*_OF_CHAINS, *_OF_RINGS, *_OF_BOTH),
}


def _kind(function: str, model: Any) -> str:
    kinds = {"linkage": _core.Linkage, "chain": _core.Chain, "hexapod": _core.Hexapod}
    for kind, core in kinds.items():
        if isinstance(model, core):
            return kind
    from ..docking.scenario import Scenario

    if isinstance(model, Scenario):
        return "docking"
    raise TypeError(f"{function}: model is {_show(model)}, expected a Chain, Linkage, Hexapod or docking Scenario")


def describe(function: str, model: Chain | Hexapod | Linkage | Scenario, options: RigOptions) -> Description:
    """Check the arguments of `function`."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{function}: {text}")

    kind = _kind(function, model)
    for key in options:
        if key not in RigOptions.__annotations__:
            hint = did_you_mean(key, RigOptions.__annotations__)
            raise TypeError(f"{function}: {_show(key)} is no option of a rig{hint}")
    for key in _FOREIGN[kind]:
        given = options.get(key)
        if given is not None and given is not False:
            fail(f"{key} is given, but the model is a {kind}")
    period = as_number(options.get("period", 1e-3), fail, "period")
    if not 0 < period <= LONGEST_PERIOD:
        fail(f"period is {period:g}, expected a number > 0 and at most {LONGEST_PERIOD:g}, s")
    substeps = as_integer(function, "substeps", options.get("substeps", 1), 1, 10_000)
    method = as_choice(options.get("method", "rk4"), fail, "method", METHODS)
    held = as_integer(function, "most_held", options.get("most_held", 0), 0, 10**9)
    laws: Sequence[Law | None] = ()
    called: Any = None
    try:
        if not isinstance(model, Chain | Hexapod | Linkage):
            if method != "rk4":
                fail(f"method is {method!r}, expected 'rk4' for a docking")
            check_steps(function, model, period / substeps)
            start = docking_start(model)
        elif isinstance(model, Hexapod):
            expected = "a Law, six of them or a dict by leg name"
            laws, _, called = as_leg_laws(options.get("laws"), model, expected, passive=False)
            begin = initial_ring(model, options.get("r"), options.get("R"), options.get("quaternion"), options.get("u"))
            start = {"r": begin["r"], "quaternion": begin["q"], "u": begin["u"]}
        else:
            expected = f"a Law, {model.n} of them or a dict by joint name"
            chain = model.chain if isinstance(model, Linkage) else model
            laws, called = as_joint_laws(options.get("laws"), chain, expected)
            zeros = np.zeros(model.n)
            start = {
                key: as_stack(zeros if options.get(key) is None else options[key], key, (model.n,))
                for key in ("q", "qd")
            }
            if isinstance(model, Linkage):
                start = _closed_start(model, start, options.get("q") is not None, fail)
    except StepError:
        raise
    except ValueError as error:
        fail(str(error).removeprefix("simulate: ").removeprefix(f"{function}: "))
    if called is not None:
        fail("laws is a function, expected laws of `zveno.laws`: a function of Python cannot leave it")
    for key, value in start.items():
        if value.ndim != 1:
            fail(f"{key} has shape {value.shape}, expected one state")
    jump = {} if options.get("jump") is None else options["jump"]
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
        as_flag(options.get("contact_input", False), fail, "contact_input"),
    )
    object.__setattr__(made, "sensor", _sensors(options.get("sensor"), made.inputs, fail))
    limits = {}
    for name, value in jump.items():
        if name not in (known := [channel.name for channel in made.inputs]):
            fail(f"jump names {_show(name)}, expected some of {', '.join(known)}")
        limits[name] = as_number(value, fail, f"jump of {name}")
        if not limits[name] > 0:
            fail(f"jump of {name} is {limits[name]:g}, expected a number > 0")
    object.__setattr__(made, "jump", limits)
    object.__setattr__(made, "wanted", _wanted(options.get("outputs"), made, fail))
    return made


def _wanted(names: Any, made: Description, fail: Fail) -> tuple[str, ...]:
    """Names of outputs in their order."""
    if names is None:
        return ()
    listed = None if isinstance(names, str) else as_list(names)
    if not listed:
        fail(f"outputs is {_show(names)}, expected names of outputs")
    known = [channel.name for channel in made.all_outputs]
    for name in listed:
        if not isinstance(name, str) or name not in known:
            fail(f"outputs names {_show(name)}, expected some of {', '.join(known)}{did_you_mean(name, known)}")
    if len(set(listed)) < len(listed):
        fail("outputs names one output twice")
    return tuple(name for name in known if name in listed)


def read_rig(data: Mapping[str, Any]) -> Description:
    """The description that `Description.to_dict` has made a dictionary of."""

    def fail(text: str) -> NoReturn:
        raise ModelError(f"rig: {text}")

    require_keys("rig", data, KEYS, ("format", "version", "model"))
    if data["format"] != FORMAT or data["version"] != VERSION:
        fail(f"format is {_show(data['format'])}, version {_show(data['version'])}, expected '{FORMAT}', {VERSION}")
    kinds: dict[Any, Any] = {kind._format: kind.from_dict for kind in (Chain, Hexapod, Linkage)}
    kinds["zveno.docking"] = _scenario_of
    its = data["model"].get("format") if isinstance(data["model"], Mapping) else None
    urdf = isinstance(data["model"], str) and data["model"].lstrip("\ufeff \t\r\n").startswith("<")
    if not urdf and (not isinstance(its, str) or its not in kinds):
        fail(f"format of the model is {_show(its)}, expected {' or '.join(map(repr, kinds))}, or URDF text")
    model = Chain.from_urdf(data["model"]) if urdf else kinds[its](data["model"])
    apart = ("format", "version", "model", "note", "loops")
    options: dict[str, Any] = {key: data[key] for key in data if key not in apart}
    start = options.pop("start", None) or {}
    if not isinstance(start, Mapping):
        fail(f"start is {_show(start)}, expected an object")
    for key in start:
        if its != "zveno.docking" and key not in _STARTS:
            fail(f"start has an unknown key {_show(key)}, expected some of {', '.join(_STARTS)}")
    if its == "zveno.docking":
        start = {}  # the scenario has it
    given = options.pop("laws", None)
    try:
        if given is not None:
            options["laws"] = [None if terms is None else law_of_terms(terms) for terms in given]
        return describe("rig", model, cast(RigOptions, options | dict(start)))
    except (TypeError, ValueError) as error:
        fail(str(error).removeprefix("rig: "))


def _servo(given: Any, fail: Fail) -> Mapping[str, float]:
    """Gains of the servos whose references are an input; empty: there are none."""
    if given is None or (isinstance(given, Mapping) and not given):
        return {}
    if not isinstance(given, Mapping) or not {"stiffness"} <= set(given) <= {"stiffness", "damping", "limit"}:
        fail(f"servo is {_show(given)}, expected a dict with stiffness, and damping and limit if there are any")
    gains = {key: as_amount(value, fail, f"{key} of servo", positive=key == "limit") for key, value in given.items()}
    return {"damping": 0.0} | gains


def _scenario_of(data: Mapping[str, Any]) -> Scenario:
    from ..docking.scenario import Scenario

    return Scenario.from_dict(data["scenario"])


def _loops(linkage: Linkage) -> dict[str, Any]:
    """Equations of the constraints as the core has them, and which of them it computes with."""
    _, active, redundant, zero = linkage._choice
    constraints = [linkage._core_of(k) for k in range(len(linkage.constraints))]
    return {
        "length": linkage.length,
        "open": linkage._open,
        "choice": {"active": active, "redundant": redundant, "zero": zero},
        "constraints": json.loads(json.dumps(constraints, default=lambda x: np.asarray(x).tolist())),
    }


def _closed_start(linkage: Linkage, start: Mapping[str, Array], given: bool, fail: Fail) -> dict[str, Array]:
    from ..sim.linkage import LinkageSimulation

    if linkage._giver.size:
        fail(f"a constraint of '{linkage.name}' is a function of Python or moves in time: that cannot leave Python")
    if not linkage._choice[0]:
        fail(f"no closed configuration of '{linkage.name}' was found, from which equations are chosen")
    if not given:
        fail("q is missing: linkage.close(guess) finds a closed state to start from")
    rows = {key: np.asarray(value, float)[np.newaxis] for key, value in start.items()}
    closed = LinkageSimulation._begun(linkage, rows, cast(Any, SimpleNamespace(start=0.0)))
    return {key: value[0] for key, value in closed.items()}


def _sensors(given: Any, inputs: Sequence[Channel], fail: Fail) -> dict[str, dict[str, Any]]:
    """Force sensors by input, checked, as JSON has them."""
    if given is None:
        return {}
    wrenches = [c.name for c in inputs if c.name in ("wrench", "contact_wrench") or c.name.startswith("external.")]
    if not isinstance(given, Mapping):
        fail(f"sensor is {_show(given)}, expected a dict of sensors by input")
    made: dict[str, dict[str, Any]] = {}
    shapes = {"rotation": (3, 3), "position": (3,), "com": (3,), "gravity": (3,), "tare": (6,), "dead_band": (6,)}
    for name, sensor in given.items():
        who = f"sensor of {_show(name)}"
        if name not in wrenches:
            known = ", ".join(wrenches) or "none here"
            fail(f"{who}: there is no such wrench among the inputs, expected some of: {known}")
        if not isinstance(sensor, Mapping) or not set(sensor) <= set(SENSOR):
            fail(f"{who} is {_show(sensor)}, expected a dict with some of {', '.join(SENSOR)}")
        one: dict[str, Any] = {}
        for key, value in sensor.items():
            what = f"{key} of the {who}"
            if key in shapes:
                one[key] = as_array(value, fail, what, shapes[key]).tolist()
            elif key == "turns":
                one[key] = as_flag(value, fail, what)
            else:
                one[key] = as_amount(value, fail, what)
        R = np.array(one.get("rotation", np.eye(3)))
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0:
            fail(f"rotation of the {who} is no rotation")
        if min(one.get("dead_band", [0.0])) < 0:
            fail(f"dead_band of the {who} is negative")
        made[name] = one
    return made


def _links(model: Any, names: Any, what: str, fail: Fail) -> tuple[str, ...]:
    if names is None or not isinstance(model, Chain | Linkage):
        return ()
    model = model.chain if isinstance(model, Linkage) else model
    listed = None if isinstance(names, str) else as_list(names)
    if listed is None:
        fail(f"{what} is {_show(names)}, expected a list of names of links")
    for name in listed:
        if not isinstance(name, str) or name not in model.link_names:
            fail(f"{what} names {_show(name)}, expected some of {', '.join(map(repr, model.link_names))}")
    if len(set(listed)) < len(listed):
        fail(f"{what} names a link twice")
    return tuple(listed)


def save_rig(
    model: Chain | Hexapod | Linkage | Scenario, path: str | os.PathLike[str], **options: Unpack[RigOptions]
) -> None:
    """Write a mechanism, its laws and its period for the C library: ``zv_rig_open`` of ``zveno.h`` reads the file.

    Parameters
    ----------
    model : Chain, Linkage, Hexapod or docking.Scenario
        Linkages without constraints that are functions or move in time. Of a scenario the conditions are the start.
    path : path
        It must end in ``.json``.
    period : float, s
        Time between two steps; default: 1e-3. Inputs are held over it.
    substeps : int
        Steps of the integrator in a period; default: 1.
    method : {"rk4", "semi-implicit"}
        As of `Chain.simulate`.
    laws : Law, sequence or dict of Law
        As of `Chain.simulate` and `Hexapod.simulate`, without functions of Python; in a hexapod those of drives only.
    q, qd : (n,) arrays, rad or m, rad/s or m/s
        Start of a chain, default: zeros; of a linkage a closed state, as of `Linkage.simulate`.
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
    contact_input : bool
        Of a docking: the wrench of the contact is an input, ``contact_wrench``, on the first ring at the origin of its
        frame, in its axes; the contact of the model does not act. Latches do.
    sensor : dict of dict by input
        Force sensors in front of ``wrench``, ``external.<link>`` or ``contact_wrench``: the input is what the sensor
        reads. Keys: ``tare`` (6,), ``mass`` and ``com`` (3,) of what it carries and ``gravity`` (3,) there, base axes;
        ``lag``, s; ``dead_band`` (6,); all these act in its own axes, in this order; then ``rotation`` (3, 3) and
        ``position`` (3,) of the sensor at the origin of the body that it turns with, or with ``turns=False`` in base
        axes.
    outputs : sequence of str, optional
        Those that are wanted, by name and in their own order; default: all. Others are not computed: without
        accelerations, forces of legs and wrench on the base a step of Runge-Kutta costs four evaluations of the
        dynamics instead of five. A state that cannot go on may be found one period later then.

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
