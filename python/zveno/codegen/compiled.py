"""Functions of one particular mechanism: traced to an expression graph, compiled to machine code."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._dispatch import cpu_features
from ..opcount import OpCount, operations
from .graph import Argument, Graph

if TYPE_CHECKING:
    from ..model import Chain
    from .llvm import Machine

__all__ = ["CompiledFunction", "Savings", "TracedFunction", "compile_chain", "trace_chain"]

Array = NDArray[np.float64]
Level = Literal["strict", "algebraic"]

LEVELS: Final = ("strict", "algebraic")
LIMIT: Final = 200_000
UNLIMITED: Final = 1 << 22  # for what has been compiled before
# results that stay the same when inertia is handed from link to link; reactions and loads on the base do not
_REGROUPABLE: Final = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics", "derivatives")
_STATE: Final = {
    "q": "joint coordinates, rad or m",
    "qd": "joint rates, rad/s or m/s",
    "qdd": "joint accelerations, rad/s^2 or m/s^2",
    "tau": "joint torques or forces, N m or N",
}
_WRENCH: Final = "[force; moment] at the origin of the link, base axes, N and N m"
_INERTIAL: Final = "m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link's origin in link axes; kg, kg m, kg m^2"


@dataclass(frozen=True)
class Savings:
    """What the algebraic level did to a graph.

    Attributes
    ----------
    before, after : OpCount
        Operations of the strict graph and of the algebraic one. A fused multiply-add counts as two operations.
    instructions_before, instructions_after : int
        The same with a fused multiply-add counted once.
    steps : dict of str to int
        How often each transformation was applied.
    difference : float
        Largest difference of a result between the two at random states, relative to the largest number of that result.
    """

    before: OpCount
    after: OpCount
    instructions_before: int
    instructions_after: int
    steps: Mapping[str, int]
    difference: float

    def __str__(self) -> str:
        return (
            f"{self.instructions_before} -> {self.instructions_after} instructions, "
            f"results differ by {self.difference:.1e}"
        )


class TracedFunction(ABC):
    """A function of one mechanism as a graph of elementary operations.

    Made by `Chain.trace` and `Hexapod.trace`; compiled functions are traced functions too.

    Attributes
    ----------
    model : Chain or Hexapod
    function : str
    options : dict
        Everything else that was decided when it was traced.
    level : {"strict", "algebraic"}
    graph : Graph
        Results only, without what the library needs to judge them.
    """

    def __init__(self, model: Any, function: str, options: Mapping[str, Any], level: Level, full: Graph, strict: Graph,
                 steps: Mapping[str, int], results: int) -> None:  # fmt: skip
        self.model = model
        self.function = function
        self.options = dict(options)
        self.level = level
        self.graph = full.only(results)
        self._full = full
        self._strict = strict
        self._steps = dict(steps)

    @property
    def operations(self) -> OpCount:
        """Operations of one evaluation; sign changes are free."""
        return self.graph.operations

    @property
    @abstractmethod
    def kernel_operations(self) -> OpCount | None:
        """Operations of the kernel as written, for any mechanism of this topology; None where they are not counted."""

    @property
    def digest(self) -> str:
        """SHA-256 of model, function, options and level."""
        return digest(self.model, self.function, self.options, self.level)

    @property
    def name(self) -> str:
        """A C identifier: model and function."""
        model = re.sub(r"\(.*?\)", "", self.model.name)  # remarks
        text = re.sub(r"[^0-9A-Za-z]+", "_", f"{model}_{self.function}").strip("_").lower()
        return text if text[:1].isalpha() else f"zv_{text}"

    @property
    def title(self) -> str:
        """One line for people."""
        arguments = ", ".join(x.name for x in self.graph.inputs)
        return f"{self.model.name}.{self.function}({arguments})"

    @property
    def origin(self) -> dict[str, str]:
        """Where the code comes from, for headers and records."""
        from .. import __version__

        chosen = {
            key: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            for key, value in _given(self.options).items()
        }
        return {
            "model": self.model.name,
            **self._described(),
            "function": self.function,
            **chosen,
            "level": self.level,
            "zveno": __version__,
            "hash": self.digest,
        }

    def _described(self) -> dict[str, str]:
        """What a user of the code must know of the model."""
        return {}

    @cached_property
    def savings(self) -> Savings | None:
        """What the algebraic level changed; None at the strict level. The difference is measured at 32 states."""
        if self.level == "strict":
            return None
        inputs, _ = self.reference(32, 0)
        flat = [np.moveaxis(x.reshape(32, -1), 0, -1) for x in inputs]
        before, after = (g.evaluate(*flat)[: len(self.graph.outputs)] for g in (self._strict, self._full))
        difference = 0.0
        for x, y in zip(before, after, strict=True):
            a, b = (np.array([np.broadcast_to(v, 32) for v in values]) for values in (x, y))
            scale = float(np.abs(a).max(initial=0.0)) or 1.0
            difference = max(difference, float(np.abs(a - b).max(initial=0.0)) / scale)
        strict = self._strict.only(len(self.graph.outputs))
        return Savings(
            strict.operations, self.operations, strict.instructions, self.graph.instructions, self._steps, difference
        )

    @abstractmethod
    def reference(self, count: int, seed: int = 0) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Random inputs and what the library's kernels compute for them, not the generated code.

        Parameters
        ----------
        count : int
            Number of states.
        seed : int

        Returns
        -------
        inputs, outputs : tuples of arrays
            One per argument of `graph`, each (count, ...).
        """

    def c_source(self, *, real: Literal["double", "float"] = "double", batch: int = 0) -> str:
        """Portable C99: the text of one file that needs nothing but a compiler.

        Parameters
        ----------
        real : {"double", "float"}
        batch : int
            Also a function over this many states, which compilers vectorise.
        """
        from .c import c_source

        code = c_source(self.graph, name=self.name, real=real, batch=batch, description=self.title, origin=self.origin)
        return code.single_file

    def save(self, directory: str | Path, *, real: Literal["double", "float"] = "double", batch: int = 0,
             overwrite: bool = False) -> list[Path]:  # fmt: skip
        """Write C source, header, self-test, CMake file and a description of the interface; returns their paths."""
        from .export import export

        return export(self, directory, real=real, batch=batch, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.title}: {self.operations}, {self.level}"


class MachineFunction(TracedFunction):
    """What compiled functions of any mechanism have in common.

    Attributes
    ----------
    machine : Machine
        Addresses of the code, see `zveno.machine`. It lives as long as this object.
    """

    machine: Machine
    _again: ClassVar[Callable[..., MachineFunction]]  # from (model, function, options, level), for unpickling

    def _adopt(self, traced: TracedFunction, machine: Machine) -> None:
        TracedFunction.__init__(
            self, traced.model, traced.function, traced.options, traced.level, traced._full, traced._strict,
            traced._steps, len(traced.graph.outputs),
        )  # fmt: skip
        self.machine = machine

    @property
    def seconds(self) -> float:
        """Time that the compilation took."""
        return self.machine.seconds

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._again, (self.model, self.function, self.options, self.level)

    def __repr__(self) -> str:
        return f"{super().__repr__()}, compiled in {self.seconds * 1e3:.0f} ms"


class TracedChainFunction(TracedFunction):
    """A traced function of a chain."""

    model: Chain

    @property
    def kernel_operations(self) -> OpCount | None:
        """Operations of the kernel as written, for any chain of this topology; derivatives are not counted."""
        if self.function == "derivatives":
            return None
        return operations(self.model, self.function, self.options["method"])

    def _described(self) -> dict[str, str]:
        gravity = ", ".join(map(repr, self.model.gravity.tolist()))
        return {"joints": ", ".join(self.model.joint_names), "gravity": f"{gravity} m/s^2, base axes"}

    @property
    def parameters(self) -> Array:
        """Inertial parameters of the model for the links whose parameters are arguments, (k, 10).

        Each row: m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link's origin in link axes, everything welded to
        the link included. Rows of bodies in the same axes about the same origin add up: a payload is added to its
        link's row.
        """
        rows = {link.name: k for k, link in enumerate(link for link in self.model.links if link.joint != "fixed")}
        return _core.inertial_parameters(self.model)[[rows[name] for name in self.options["symbolic"]]].reshape(-1, 10)

    def reference(self, count: int, seed: int = 0) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        rng = np.random.default_rng(seed)
        states, keywords = [], _call_options(self.function, self.options)
        inputs: list[Array] = []
        for x in self.graph.inputs:
            values = rng.uniform(-np.pi if x.name == "q" else -2.0, np.pi if x.name == "q" else 2.0, (count, *x.shape))
            inputs.append(values)
            if x.name in _STATE:
                states.append(values)
        loads = inputs[len(states) :][: len(self.options["external"])]
        if loads:
            keywords["external"] = dict(zip(self.options["external"], loads, strict=True))
        if self.options["symbolic"]:
            inputs[-1] = np.broadcast_to(self.parameters, inputs[-1].shape).copy()
        result = getattr(self.model, self.function)(*states, **keywords)
        outputs = result if self.function == "derivatives" else (result,)
        return tuple(inputs), tuple(np.asarray(x, dtype=np.float64).reshape(count, *out.shape)
                                    for x, out in zip(outputs, self.graph.outputs, strict=True))  # fmt: skip


class CompiledFunction(MachineFunction, TracedChainFunction, _core.Compiled):
    """Machine code for one function of one chain. Call it like the method it replaces.

    ``f(q, qd, qdd)`` takes the same arrays, single states or batches of any leading shape, with ``out=`` and
    ``threads=``, and raises the same errors. What was decided by `Chain.compile` (method, link, point, frame) is not an
    argument any more; external wrenches must be on the links it was compiled with, and symbolic inertial parameters are
    given as ``parameters=``, (..., k, 10).
    """

    def __init__(self, traced: TracedChainFunction, machine: Machine) -> None:
        self._adopt(traced, machine)
        _core.Compiled.__init__(
            self, traced.model, traced.function, _given(traced.options), machine, machine.scalar, machine.vector,
            machine.lanes,
        )  # fmt: skip


def _recompile(model: Chain, function: str, options: Mapping[str, Any], level: Level) -> CompiledFunction:
    return _compiled(_traced(model, function, dict(options), level, UNLIMITED))


CompiledFunction._again = staticmethod(_recompile)


def digest(model: Any, function: str, options: Mapping[str, Any], level: str) -> str:
    """SHA-256 of everything that generated code depends on."""
    text = json.dumps([model.to_dict(), function, dict(options), level], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


_machines: weakref.WeakValueDictionary[tuple[str, int], Machine] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _unlock() -> None:  # another thread may have held it
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def machine_for(traced: TracedFunction) -> Machine:
    """Machine code of a traced function; the same code is made once and shared while somebody uses it."""
    from .llvm import compile_graph

    key = traced.digest, cpu_features()["lanes"]
    with _lock:
        machine = _machines.get(key)
        if machine is None:
            machine = _machines[key] = compile_graph(traced._full, name=traced.name)
    return machine


def check_level(level: object, who: str) -> Level:
    """`level`, or a ValueError."""
    if level not in LEVELS:
        raise ValueError(f"{who}: level is {level!r}, expected 'strict' or 'algebraic'")
    return level


def simplified(core: _core.Graph, level: Level) -> tuple[_core.Graph, dict[str, int]]:
    """The graph at this level, and what was done to it."""
    return core.algebraic() if level == "algebraic" else (core, {})


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value not in (None, ())}


def _call_options(function: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of the method that compute the same."""
    return {key: options[key] for key in ("method", "link", "point", "frame") if options[key] is not None}


def _arguments(model: Chain, function: str, options: Mapping[str, Any]) -> tuple[list[Argument], list[Argument]]:
    n, links = model.n, len(options["symbolic"])
    result = {
        "mass_matrix": [Argument("M", (n, n), "mass matrix, kg m^2, kg m or kg")],
        "bias": [Argument("bias", (n,), "bias forces, N m or N")],
        "inverse_dynamics": [Argument("tau", (n,), _STATE["tau"])],
        "forward_dynamics": [Argument("qdd", (n,), _STATE["qdd"]), Argument("pivots", (n,), "pivots of the solution")],
        "reactions": [Argument("wrench", (n, 6), "[force; moment] through each joint, N and N m")],
        "base_wrench": [Argument("wrench", (6,), "[force; moment] on the base about its origin, N and N m")],
        "kinetic_energy": [Argument("energy", (), "J")],
        "potential_energy": [Argument("energy", (), "J")],
        "pose": [Argument("T", (4, 4), "homogeneous matrix, link to base; m")],
        "jacobian": [Argument("J", (6, n), "[linear; angular] velocity by rates")],
        "jacobian_rate": [Argument("Jd", (6, n), "time derivative of the Jacobian")],
        "derivatives": [Argument(f"dtau_d{x}", (n, n), f"d tau / d {x}") for x in ("q", "qd", "qdd")],
    }[function]
    names: tuple[str, ...] = ("q", "qd", "tau" if function == "forward_dynamics" else "qdd")
    count = {
        "mass_matrix": 1,
        "potential_energy": 1,
        "pose": 1,
        "jacobian": 1,
        "bias": 2,
        "kinetic_energy": 2,
        "jacobian_rate": 2,
    }
    inputs = [Argument(name, (n,), _STATE[name]) for name in names[: count.get(function, 3)]]
    taken: set[str] = set()
    for link in options["external"]:
        name = "external_" + (re.sub(r"[^0-9A-Za-z]+", "_", link).strip("_") or "link")
        while name in taken:
            name += "_"
        taken.add(name)
        inputs.append(Argument(name, (6,), f"{_WRENCH} '{link}'"))
    if links:
        inputs.append(Argument("parameters", (links, 10), _INERTIAL))
    return inputs, result


# without a wish the method whose code is shortest; the long ones only where they have a chance
_METHODS: Final = {
    "mass_matrix": (("crba", math.inf), ("crba-walk", 24), ("crba-columns", 10)),
    "forward_dynamics": (("aba", math.inf), ("cholesky", 24), ("cholesky-walk", 16)),
}
_DIVISION: Final = 8  # operations that a division or a root takes as long as


def _cost(graph: Graph) -> int:
    count = graph.operations
    return graph.instructions + (_DIVISION - 1) * (count.div + count.sqrt)


def _shortest(model: Chain, function: str, options: dict[str, Any], level: Level, limit: int) -> TracedChainFunction:
    methods = _METHODS.get(function, ())
    if options["method"] is not None or not methods:
        return _traced(model, function, options, level, limit)
    named = [options | {"method": method} for method, largest in methods if model.n <= largest]
    return min((_traced(model, function, x, level, limit) for x in named), key=lambda traced: _cost(traced._full))


def _traced(model: Chain, function: str, options: dict[str, Any], level: Level, limit: int) -> TracedChainFunction:
    core = _core.trace_chain(model, function, _given(options), False, limit)
    inputs, outputs = _arguments(model, function, options)
    strict = full = Graph(core, inputs, outputs)
    steps: dict[str, int] = {}
    if level == "algebraic":
        regroup = function in _REGROUPABLE and not options["symbolic"]
        core, steps = simplified(
            _core.trace_chain(model, function, _given(options), True, limit) if regroup else core, level
        )
        full = Graph(core, inputs, outputs)
    results = len(outputs) - (function == "forward_dynamics")
    return TracedChainFunction(model, function, options, level, full, strict, steps, results)


def _compiled(traced: TracedChainFunction) -> CompiledFunction:
    return CompiledFunction(traced, machine_for(traced))


def _names(what: str, value: object) -> list[str]:
    given = list(value) if isinstance(value, Iterable) else [value]
    names = [name for name in given if isinstance(name, str)]
    if len(names) != len(given):
        raise TypeError(f"compile: {what} is {value!r}, expected names of links")
    if len(set(names)) != len(names):
        raise ValueError(f"compile: {what} names a link twice: {names}")
    return names


def _options(model: Chain, given: TraceOptions) -> dict[str, Any]:
    """What is decided at compile time, checked as far as the core does not check it; JSON-safe."""
    parameters, external, point = given.get("parameters", "fixed"), given.get("external", ()), given.get("point")
    if not isinstance(parameters, str):
        symbolic = _names("parameters", parameters)
    elif parameters in ("fixed", "symbolic"):
        symbolic = [x.name for x in model.links if x.joint != "fixed"] if parameters == "symbolic" else []
    else:
        raise ValueError(f"compile: parameters is {parameters!r}, expected 'fixed', 'symbolic' or names of links")
    loaded = [external] if isinstance(external, str) else _names("external", external)
    try:
        where = None if point is None else np.asarray(point, dtype=np.float64).tolist()
    except (TypeError, ValueError):
        raise TypeError(f"compile: point is {point!r}, expected three numbers") from None
    return {
        "method": given.get("method"),
        "link": given.get("link"),
        "point": where,
        "frame": given.get("frame"),
        "external": tuple(loaded),
        "symbolic": tuple(symbolic),
    }


class TraceOptions(TypedDict, total=False):
    """Keywords of `Chain.trace` and `Chain.compile`."""

    method: str | None
    link: str | None
    point: ArrayLike | None
    frame: str | None
    external: Iterable[str]
    parameters: str | Iterable[str]
    level: Level
    limit: int


def trace_chain(model: Chain, function: str, **options: Unpack[TraceOptions]) -> TracedChainFunction:
    """See `Chain.trace`."""
    unknown = options.keys() - TraceOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"compile: unknown argument {sorted(unknown)[0]!r}")
    if not isinstance(function, str):
        raise TypeError(f"compile: function is {function!r}, expected the name of a method")
    limit = options.get("limit", LIMIT)
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"compile: limit is {limit!r}, expected a number of nodes")
    level = check_level(options.get("level", "strict"), "compile")
    return _shortest(model, function, _options(model, options), level, limit)


def compile_chain(model: Chain, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction:
    """See `Chain.compile`."""
    return _compiled(trace_chain(model, function, **options))
