"""Functions of one particular hexapod: traced to an expression graph, compiled to machine code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

import numpy as np

from .. import _core
from ..opcount import OpCount
from .compiled import (
    LIMIT,
    UNLIMITED,
    Array,
    Level,
    MachineFunction,
    TracedFunction,
    check_level,
    machine_for,
    simplified,
)
from .graph import Argument, Graph

if TYPE_CHECKING:
    from ..model import Body, Hexapod
    from .llvm import Machine

__all__ = [
    "CompiledHexapodFunction",
    "HexapodTraceOptions",
    "TracedHexapodFunction",
    "compile_hexapod",
    "trace_hexapod",
]

_RING: Final = ("r", "R", "u")
_REQUIRED: Final = {
    "closure": ("r", "R"),
    "joint_velocity": _RING,
    "jacobian": ("r", "R"),
    "mass_matrix": ("r", "R"),
    "momentum": _RING,
    "kinetic_energy": _RING,
    "potential_energy": ("r", "R"),
    "inverse_dynamics": (*_RING, "acceleration"),
    "forward_dynamics": (*_RING, "wrench", "tau"),
    "forward_dynamics_free": (*_RING, "wrench", "tau"),
}
_INPUTS: Final = {
    "r": Argument("r", (3,), "centre of mass of the ring in the base frame, m"),
    "R": Argument("R", (3, 3), "ring axes to base axes"),
    "u": Argument("u", (6,), "velocity of the centre, base axes, m/s; angular velocity, ring axes, rad/s"),
    "acceleration": Argument("acceleration", (6,), "wanted rate of u, m/s^2 and rad/s^2"),
    "wrench": Argument("wrench", (6,), "force on the ring, base axes, N; moment, ring axes, N m"),
    "tau": Argument("tau", (6,), "forces of the actuated joints, N or N m"),
    "base_motion": Argument("base_motion", (9,), "acceleration, angular velocity and its rate, of the base, base axes"),
    "omega": Argument("omega", (3,), "angular velocity of the base, base axes, rad/s"),
    "base_wrench": Argument("base_wrench", (6,), "force and moment on the base at its centre of mass, N and N m"),
}
# At the strict level, where the bits are the same, single states are left to the kernels: six legs in lanes beat scalar
# code. Not so for these: little is left of them, or the kernel computes more than they need.
_SHORT: Final = ("closure", "joint_velocity", "jacobian", "momentum", "potential_energy")
_MEASURES: Final = Argument("measures", (6, 4), "of each leg: it cannot take the pose unless all four are above 1e-14")


class TracedHexapodFunction(TracedFunction):
    """A traced function of a hexapod.

    Besides its results it gives ``measures``, which tell poses that a leg cannot take. Inverse dynamics ends with
    ``jacobian' forces = load``, a system that is not part of the graph: the library solves it with pivoting.
    """

    model: Hexapod

    @property
    def kernel_operations(self) -> OpCount | None:
        """Operations of the kernel as written, for any hexapod with such legs; counted for forward dynamics."""
        if self.function != "forward_dynamics":
            return None
        moving = "base_motion" in self.options["arguments"] or bool(self.model.gravity.any())
        return self.model.operations(moving=moving)

    def _described(self) -> dict[str, str]:
        gravity = ", ".join(map(repr, self.model.gravity.tolist()))
        legs = ", ".join(f"{leg.name} {leg.type}" for leg in self.model.legs)
        return {"legs": legs, "gravity": f"{gravity} m/s^2, base axes"}

    def reference(self, count: int, seed: int = 0) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        rng = np.random.default_rng(seed)
        r, R = _random_poses(self.model, rng, count)
        values = {x.name: rng.uniform(-1.0, 1.0, (count, *x.shape)) for x in self.graph.inputs} | {"r": r, "R": R}
        base = _body(self.options["base"])
        extra = {} if base is None else {"base": base}
        result = getattr(self.model, self.function)(**values, **extra)
        parts: tuple[Array, ...]
        if self.function.startswith("forward_dynamics"):
            head = 18 if extra else 12
            parts = (*(result._data[:, k : k + 6] for k in range(0, head, 6)), result._data[:, head:])
        elif self.function == "inverse_dynamics":
            jacobian = self.model.jacobian(r, R)
            jacobian[..., 3:] = jacobian[..., 3:] @ np.swapaxes(R, -1, -2)
            load = (result[:, None, :] @ jacobian)[:, 0]
            parts = (load, self.model._measures(r, R), jacobian)
        else:
            parts = (result,)
        if self.function != "inverse_dynamics":
            parts = (*parts, self.model._measures(r, R))
        outputs = zip(parts, self.graph.outputs, strict=True)
        inputs = tuple(values[x.name] for x in self.graph.inputs)
        return inputs, tuple(np.ascontiguousarray(x).reshape(count, *out.shape) for x, out in outputs)


class CompiledHexapodFunction(MachineFunction, TracedHexapodFunction, _core.CompiledHexapod):
    """Machine code for one function of one hexapod. Call it like the method it replaces.

    It takes the arrays that it was compiled for, single states or batches of any leading shape, with ``on_error=``,
    ``out=`` and ``threads=``, gives the same kind of result and raises the same errors.
    """

    def __init__(self, traced: TracedHexapodFunction, machine: Machine) -> None:
        self._adopt(traced, machine)
        singly = machine.scalar if traced.level != "strict" or traced.function in _SHORT else 0
        _core.CompiledHexapod.__init__(
            self, traced.model, traced.function, *_core_options(traced.options), machine, singly, machine.vector,
            machine.lanes,
        )  # fmt: skip


def _recompile(model: Hexapod, function: str, options: dict[str, Any], level: Level) -> CompiledHexapodFunction:
    return _compiled(_traced(model, function, options, level, UNLIMITED))


CompiledHexapodFunction._again = staticmethod(_recompile)


def _compiled(traced: TracedHexapodFunction) -> CompiledHexapodFunction:
    return CompiledHexapodFunction(traced, machine_for(traced))


def _body(data: Mapping[str, Any] | None) -> Body | None:
    from ..model import Body

    return None if data is None else Body.from_dict(data)


def _core_options(options: Mapping[str, Any]) -> tuple[list[str], bool, Body | None]:
    return list(options["arguments"]), options["tau"] == "actuated", _body(options["base"])


def _random_poses(model: Hexapod, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Poses that the mechanism takes well, near the nominal one if there is one."""
    size = max(float(np.linalg.norm(x)) for leg in model.legs for x in (leg.base, leg.ring) if x is not None)
    r, R = (np.zeros(3), np.eye(3)) if model.nominal is None else model.nominal
    shift, tilt = (0.7 * size, 1.0) if model.nominal is None else (0.05 * size, 0.05)
    found: list[tuple[Array, Array]] = []
    for _ in range(50):
        tries = 10 * count + 1000 * len(found) + 100
        q = rng.normal(size=(tries, 4)) * np.array([1.0, tilt, tilt, tilt])
        position = r + rng.uniform(-shift, shift, (tries, 3))
        turn = R @ _rotations(q / np.linalg.norm(q, axis=-1, keepdims=True))
        quality = model.singularity(position, turn, on_error="nan")
        good = quality.ok & (np.nan_to_num(quality.condition, nan=np.inf) < 1e3)
        good &= np.nan_to_num(quality.leg).min(axis=-1) > 0.05
        found.append((position[good], turn[good]))
        if sum(len(x) for x, _ in found) >= count:
            positions, turns = (np.concatenate(x)[:count] for x in zip(*found, strict=True))
            return positions, turns
    raise ValueError(f"reference: no {count} poses found that model '{model.name}' takes well")


def _rotations(q: Array) -> Array:
    """Matrices of unit quaternions, real part first."""
    w, v = q[:, 0, None, None], q[:, 1:]
    K = np.cross(np.eye(3), v[:, None, :])
    return np.asarray(np.eye(3) + 2 * w * K + 2 * K @ K)


def _results(model: Hexapod, function: str) -> list[Argument]:
    nj = model.nj
    head = [Argument("acceleration", (6,), "rate of u: m/s^2, base axes; rad/s^2, ring axes")]
    head += [Argument("base_load", (6,), "force and moment of the legs on the base about its origin, N and N m")]
    legs = Argument("legs", (6, 3 * nj + 4), "of each leg: coordinates, rates, accelerations; reaction on the ring (4)")
    free = Argument("base_acceleration", (6,), "of the base's origin, m/s^2; angular, rad/s^2; base axes")
    results = {
        "closure": [Argument("p", (6, nj), "joint coordinates, rad or m")],
        "joint_velocity": [Argument("pd", (6, nj), "joint rates, rad/s or m/s")],
        "jacobian": [Argument("J", (6, 6), "rates of the actuated joints by u")],
        "mass_matrix": [Argument("A", (6, 6), "inertia of the mechanism reduced to the ring")],
        "momentum": [Argument("momentum", (6,), "linear; angular about the base origin, base axes")],
        "kinetic_energy": [Argument("energy", (), "J")],
        "potential_energy": [Argument("energy", (), "J")],
        "inverse_dynamics": [Argument("load", (6,), "jacobian' forces, base axes, N and N m")],
        "forward_dynamics": [*head, legs],
        "forward_dynamics_free": [*head, free, legs],
    }[function]
    jacobian = Argument("jacobian", (6, 6), "rates of the actuated joints by velocities in base axes")
    return [*results, _MEASURES, *([jacobian] if function == "inverse_dynamics" else [])]


def _traced(
    model: Hexapod, function: str, options: Mapping[str, Any], level: Level, limit: int
) -> TracedHexapodFunction:
    core = _core.trace_hexapod(model, function, *_core_options(options), limit)
    inputs = [_INPUTS[name] for name in _INPUTS if name in options["arguments"]]
    if options["tau"] == "all":
        forces = Argument("tau", (6, model.nj), "forces of all joints, N or N m")
        inputs = [forces if x.name == "tau" else x for x in inputs]
    outputs = _results(model, function)
    strict = full = Graph(core, inputs, outputs)
    core, steps = simplified(core, level)
    if level != "strict":
        full = Graph(core, inputs, outputs)
    return TracedHexapodFunction(model, function, options, level, full, strict, steps, len(outputs))


class HexapodTraceOptions(TypedDict, total=False):
    """Keywords of `Hexapod.trace` and `Hexapod.compile`."""

    arguments: Iterable[str] | None
    tau: Literal["actuated", "all"]
    base: Body | None
    level: Level
    limit: int


def trace_hexapod(model: Hexapod, function: str, **options: Unpack[HexapodTraceOptions]) -> TracedHexapodFunction:
    """See `Hexapod.trace`."""
    if unknown := options.keys() - HexapodTraceOptions.__annotations__.keys():
        raise TypeError(f"compile: unknown argument {min(unknown)!r}")
    level = check_level(options.get("level", "strict"), "compile")
    arguments, tau, base = options.get("arguments"), options.get("tau", "actuated"), options.get("base")
    if tau not in ("actuated", "all"):
        raise ValueError(f"compile: tau is {tau!r}, expected 'actuated' or 'all'")
    if isinstance(arguments, str):
        raise TypeError(f"compile: arguments is {arguments!r}, expected a sequence of names")
    from ..model import Body

    if base is not None and not isinstance(base, Body):
        raise TypeError(f"compile: base is of type {type(base).__name__}, expected a zveno.Body")
    given = _REQUIRED.get(function, ()) if arguments is None else tuple(arguments)
    chosen = {
        "arguments": given,
        "tau": tau if "tau" in given else None,
        "base": None if base is None else base.to_dict(),
    }
    return _traced(model, function, chosen, level, options.get("limit", LIMIT))


def compile_hexapod(model: Hexapod, function: str, **options: Unpack[HexapodTraceOptions]) -> CompiledHexapodFunction:
    """See `Hexapod.compile`."""
    return _compiled(trace_hexapod(model, function, **options))
