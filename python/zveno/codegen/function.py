"""Functions of one particular mechanism: traced to an expression graph, compiled to machine code."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import threading
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, SupportsIndex, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, MaybeNone, _show, as_integer, as_list, called, refuse_masked
from .._dispatch import cpu_features
from .._interrupt import interruptible
from .._rotation import from_quaternion
from ..opcount import OpCount, operations
from .graph import Argument, Graph

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ..model import Body, Chain, Hexapod, Section
    from ..model.linkage import Linkage
    from .llvm import Machine

    _Result = TypeVar("_Result", default=Any)
else:
    from typing import TypeVar

    _Result = TypeVar("_Result")

__all__ = ["CompiledFunction", "Savings", "TraceOptions", "TracedFunction", "compile_function", "trace_function"]

Level = Literal["strict", "algebraic"]
Arrays = tuple[Array, ...]

LEVELS: Final = ("strict", "algebraic")
LIMIT: Final = 200_000
UNLIMITED: Final = 1 << 22  # for what has been compiled before
MOST: Final = (1 << 31) - 1  # nodes have 32-bit numbers


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


# ---- what is particular to a kind of mechanism -------------------------------------------------------------------


# options of chains that a method takes as they are
_FIXED: Final = (
    "method", "link", "point", "frame", "about", "order", "i", "j", "by", "motion", "external_frame", "parts",
)  # fmt: skip


def _base_options(model: Chain, parameters: str) -> dict[str, Any]:
    """Base parameters, second moments, as an argument or as the numbers of the model: all others are zero."""
    base = model.base_parameters(parameters="moments")
    moving = [i for i, link in enumerate(model.links) if link.joint != "fixed"]
    if parameters == "base-fixed":
        return {"numbers": tuple(base.full(base.values).reshape(-1, 10)[moving].ravel().tolist())}
    places = np.full(10 * len(model.links), -1)
    places[base.pivots] = np.arange(base.count)
    return {"pattern": tuple(places.reshape(-1, 10)[moving].ravel().tolist())}


def _plain(joint: Any) -> Any:
    """A place in q as an int; anything else as it is."""
    return int(joint) if isinstance(joint, np.integer) else joint


class _ChainKind:
    """Chains: methods, links, external wrenches, symbolic inertial parameters."""

    name = "chain"
    # without a wish the method whose code is shortest; the long ones only where they have a chance
    methods: Final = {
        "mass_matrix": (("crba", math.inf), ("crba-walk", 24), ("crba-columns", 10)),
        "forward_dynamics": (("aba", math.inf), ("cholesky", 24), ("cholesky-walk", 16)),
        "derivatives": (("sweep", math.inf), ("sweep-walk", 16)),
        "mass_matrix_derivatives": (("moments", math.inf), ("zaremba", 16)),
        "christoffel": (("moments", math.inf), ("zaremba", 16)),
    }
    wrench: Final = "[force; moment] at the origin of the link, base axes, N and N m"
    inertial: Final = "m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link's origin in link axes; kg, kg m, kg m^2"

    base: Final = "base parameters, in the order of base_parameters(parameters='moments').names; kg m^2, kg m, kg"

    @staticmethod
    def sizes(model: Chain) -> dict[str, int]:
        return {"n": model.n, "N": len(model.links), "P": len(model.regressor_pattern[0]) // 10}

    @staticmethod
    def options(who: str, model: Chain, given: Mapping[str, Any]) -> dict[str, Any]:
        parameters, external, point = given.get("parameters", "fixed"), given.get("external", ()), given.get("point")
        if not isinstance(parameters, str):
            symbolic = _names(who, "parameters", parameters)
        elif parameters in ("fixed", "symbolic", "base", "base-fixed"):
            symbolic = [x.name for x in model.links if x.joint != "fixed"] if parameters != "fixed" else []
        else:
            raise ValueError(
                f"{who}: parameters is {_show(parameters)}, expected 'fixed', 'symbolic', 'base', 'base-fixed' or "
                "names of links"
            )
        for what in ("method", "link", "frame", "about"):
            if not (given.get(what) is None or isinstance(given[what], str)):
                raise TypeError(f"{who}: {what} is {_show(given[what])}, expected a name")
        loaded = [external] if isinstance(external, str) else _names(who, "external", external)
        refuse_masked(point, f"{who}: point")
        try:
            if np.asarray(point).dtype.kind == "b":
                raise TypeError
            where = None if point is None else np.asarray(point, dtype=np.float64).tolist()
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{who}: point is {_show(point)}, expected three numbers") from None
        return {
            **{key: given.get(key) for key in ("method", "link", "frame", "about", "order", "motion")},
            **{key: given.get(key) for key in ("external_frame", "parts")},
            **{key: _plain(given.get(key)) for key in ("i", "j")},
            "by": tuple(map(_plain, by)) if isinstance(by := given.get("by", ()), list | tuple) else by,
            "section": _section_data(who, given.get("section")),
            "point": where,
            "external": tuple(loaded),
            "symbolic": tuple(symbolic),
            **(_base_options(model, parameters) if parameters in ("base", "base-fixed") else {}),
        }

    @classmethod
    def extra_inputs(cls, options: Mapping[str, Any]) -> list[Argument]:
        inputs: list[Argument] = []
        for link in options["external"]:
            name = "external_" + (re.sub(r"[^0-9A-Za-z]+", "_", link).strip("_") or "link")
            while name in (x.name for x in inputs):
                name += "_"
            inputs.append(Argument(name, (6,), f"{cls.wrench} '{link}'"))
        if options.get("pattern"):
            inputs.append(Argument("parameters", (max(options["pattern"]) + 1,), cls.base))
        elif options["symbolic"] and not options.get("numbers"):
            inputs.append(Argument("parameters", (len(options["symbolic"]), 10), cls.inertial))
        return inputs

    @staticmethod
    def outputs(row: Mapping[str, Any], wanted: list[Argument], model: Chain) -> tuple[list[Argument], int]:
        """Results of the graph, and how many of them are for users."""
        pivots = [Argument("pivots", (model.n,), "pivots of the solution")] if row["solves"] else []
        return [*wanted, *pivots], len(wanted)

    @staticmethod
    def described(model: Chain) -> dict[str, str]:
        return {"joints": ", ".join(model.joint_names)}

    @staticmethod
    def kernel_operations(model: Chain, function: str, options: Mapping[str, Any]) -> OpCount | None:
        if options["method"] == "dual":
            return None
        chosen = {key: options[key] for key in _FIXED[1:] if options[key] not in (None, ())}
        if options["section"] is not None:
            chosen["section"] = _section(options["section"])
        return operations(model, function, options["method"], **chosen)

    @staticmethod
    def reference(traced: TracedFunction, rng: np.random.Generator, count: int) -> tuple[list[Array], list[Any]]:
        model, options = traced.model, traced.options
        keywords = {key: options[key] for key in _FIXED if options[key] is not None}
        keywords = {key: value for key, value in keywords.items() if value != ()}
        if options["section"] is not None:
            keywords["section"] = _section(options["section"])
        inputs: list[Array] = []
        for x in traced.graph.inputs:
            limit = np.pi if x.name == "q" else 2.0
            inputs.append(rng.uniform(-limit, limit, (count, *x.shape)))
        states = dict(zip(options["arguments"], inputs, strict=False))
        loads = inputs[len(states) :][: len(options["external"])]
        if loads:
            keywords["external"] = dict(zip(options["external"], loads, strict=True))
        if options["symbolic"] and not options.get("numbers"):
            inputs[-1] = np.broadcast_to(traced.parameters, inputs[-1].shape).copy()
        result = getattr(model, traced.function)(**states, **keywords)
        names = [x.name for x in traced.graph.outputs]
        return inputs, [getattr(result, name) for name in names] if traced._row["several"] else [result]


class _HexapodKind:
    """Hexapods: measures of the legs, the ring's block of results, the body of a free base."""

    name = "hexapod"
    methods: Final[dict[str, tuple[tuple[str, float], ...]]] = {}
    measures: Final = Argument(
        "measures", (6, 4), "of each leg: it cannot take the pose unless all four are above 1e-14", above=1e-14
    )
    # At the strict level, where the bits are the same, single states are left to the kernels: six legs in lanes beat
    # scalar code. Not so for these: little is left of them, or the kernel computes more than they need.
    short: Final = ("closure", "joint_velocity", "jacobian", "momentum", "potential_energy")

    @staticmethod
    def sizes(model: Hexapod) -> dict[str, int]:
        return {"nj": model.nj}

    @staticmethod
    def options(who: str, model: Hexapod, given: Mapping[str, Any]) -> dict[str, Any]:
        from ..model.body import Body

        tau, base = given.get("tau", "actuated"), given.get("base")
        if not isinstance(tau, str) or tau not in ("actuated", "all"):
            raise ValueError(f"{who}: tau is {_show(tau)}, expected 'actuated' or 'all'")
        if base is not None and not isinstance(base, Body):
            raise TypeError(f"{who}: base is of type {type(base).__name__}, expected a zveno.Body")
        return {"tau": tau, "base": None if base is None else base.to_dict()}

    @staticmethod
    def extra_inputs(options: Mapping[str, Any]) -> list[Argument]:
        return []

    @classmethod
    def outputs(cls, row: Mapping[str, Any], wanted: list[Argument], model: Hexapod) -> tuple[list[Argument], int]:
        results = wanted
        if row["block"]:
            head = [x for x in wanted if len(x.shape) == 1]
            parts = tuple((x.name, x.shape[1]) for x in wanted if len(x.shape) == 2)
            per_leg = sum(size for _, size in parts)
            legs = "of each leg: " + ", ".join(name for name, _ in parts)
            # what a free base is given has the same name
            results = [Argument("base_load", x.shape, x.unit) if x.name == "base_wrench" else x for x in head]
            results += [Argument("legs", (6, per_leg), legs, parts)] if per_leg else []
        elif row["name"] == "inverse_dynamics":
            results = [Argument("load", (6,), "jacobian' forces, base axes, N and N m")]
        results = [*results, cls.measures]
        if row["name"] == "inverse_dynamics":
            results.append(Argument("jacobian", (6, 6), "rates of the actuated joints by velocities in base axes"))
        return results, len(results)

    @staticmethod
    def described(model: Hexapod) -> dict[str, str]:
        return {"legs": ", ".join(f"{leg.name} {leg.type}" for leg in model.legs)}

    @staticmethod
    def kernel_operations(model: Hexapod, function: str, options: Mapping[str, Any]) -> OpCount | None:
        if function != "forward_dynamics":
            return None
        moving = "base_motion" in options["arguments"] or bool(model.gravity.any())
        return model.operations(moving=moving)

    @staticmethod
    def reference(traced: TracedFunction, rng: np.random.Generator, count: int) -> tuple[list[Array], list[Any]]:
        model, options = traced.model, traced.options
        r, R = _random_poses(model, rng, count)
        values = {x.name: rng.uniform(-1.0, 1.0, (count, *x.shape)) for x in traced.graph.inputs} | {"r": r, "R": R}
        extra = {} if options["base"] is None else {"base": _body(options["base"])}
        if options["outputs"] is not None:
            extra["outputs"] = options["outputs"]
        result = getattr(model, traced.function)(**values, **extra)
        parts = [result]
        if traced._row["block"]:
            head = sum(6 for x in traced.graph.outputs if x.shape == (6,))
            parts = [result._data[:, k : k + 6] for k in range(0, head, 6)]
            parts += [result._data[:, head:]] if result._data.shape[1] > head else []
        elif traced.function == "inverse_dynamics":
            jacobian = model.jacobian(r, R)
            jacobian[..., 3:] = jacobian[..., 3:] @ np.swapaxes(R, -1, -2)
            parts = [(result[:, None, :] @ jacobian)[:, 0], model._measures(r, R), jacobian]
        if traced.function != "inverse_dynamics":
            parts.append(model._measures(r, R))
        return [values[x.name] for x in traced.graph.inputs], parts


class _LinkageKind:
    """Linkages whose constraints are no functions of Python, with the equations that were chosen for them."""

    name = "linkage"
    methods: Final[dict[str, tuple[tuple[str, float], ...]]] = {}

    @staticmethod
    def sizes(model: Linkage) -> dict[str, int]:
        return {"n": model.n, "N": len(model.chain.links), "m": model.m, "k": len(model.constraints)}

    @staticmethod
    def options(who: str, model: Linkage, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"symbolic": ()}

    @staticmethod
    def extra_inputs(options: Mapping[str, Any]) -> list[Argument]:
        return []

    @staticmethod
    def outputs(row: Mapping[str, Any], wanted: list[Argument], model: Linkage) -> tuple[list[Argument], int]:
        judged = Argument("judged", (model.n + 2 * model.m + 1,), "pivots, then what has to be positive")
        return [*wanted, judged] if row["name"] in ("forward_dynamics", "project_velocity") else wanted, len(wanted)

    @staticmethod
    def described(model: Linkage) -> dict[str, str]:
        names = ", ".join(x.name for x in model.constraints)
        return {"joints": ", ".join(model.joint_names), "constraints": names}

    @staticmethod
    def kernel_operations(model: Linkage, function: str, options: Mapping[str, Any]) -> OpCount | None:
        return None

    @staticmethod
    def reference(traced: TracedFunction, rng: np.random.Generator, count: int) -> tuple[list[Array], list[Any]]:
        model = traced.model
        gaps = traced.function in ("residual", "constraint_velocity")  # of closed states nothing but rounding
        q = rng.uniform(-1.0, 1.0, (count, model.n)) if gaps else _random_closed(model, rng, count)
        values = {x.name: rng.uniform(-1.0, 1.0, (count, *x.shape)) for x in traced.graph.inputs} | {"q": q}
        if "qd" in values and not gaps and traced.function != "project_velocity":
            values["qd"] = model.project_velocity(q, values["qd"])
        outputs = traced.options["outputs"]
        chosen = {} if outputs is None else {"outputs": outputs}
        result = getattr(model, traced.function)(**values, **chosen)
        names = [x.name for x in traced.graph.outputs]
        parts = [getattr(result, name) for name in names] if traced._row["several"] else [result]
        return [values[x.name] for x in traced.graph.inputs], parts


_Kind = type[_ChainKind] | type[_HexapodKind] | type[_LinkageKind]


def _kind(model: Any) -> _Kind:
    if isinstance(model, _core.Linkage):
        return _LinkageKind
    return _ChainKind if isinstance(model, _core.Chain) else _HexapodKind


def _random_closed(model: Linkage, rng: np.random.Generator, count: int) -> Array:
    """Closed configurations with rates that the equations of the model determine."""
    found: list[Array] = []
    for _ in range(50 + 5 * count):
        q = model.close(rng.uniform(-1.0, 1.0, model.n), on_error="nan")
        if np.isfinite(q).all() and model.mobility(q).status == "regular":
            found.append(q)
            if len(found) == count:
                return np.array(found)
    raise ValueError(f"reference: no {count} closed configurations of model '{model.name}' found")


@cache
def _rows(kind: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in _core.functions(kind)}


def _body(data: Mapping[str, Any] | None) -> Body | None:
    from ..model.body import Body

    return None if data is None else Body.from_dict(data)


def _section(data: Mapping[str, Any] | None) -> Section | None:
    from ..model.section import Section

    return None if data is None else Section.from_dict(data)


def _section_data(who: str, section: object) -> dict[str, Any] | None:
    from ..model.section import Section

    if section is not None and not isinstance(section, Section):
        raise TypeError(f"{who}: section is {_show(section)}, expected a zveno.Section")
    return None if section is None else section.to_dict()


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
        turn = R @ from_quaternion(q / np.linalg.norm(q, axis=-1, keepdims=True))
        quality = model.singularity(position, turn, on_error="nan")
        good = quality.ok & (np.nan_to_num(quality.condition, nan=np.inf) < 1e3)
        good &= np.nan_to_num(quality.leg).min(axis=-1) > 0.05
        found.append((position[good], turn[good]))
        if sum(len(x) for x, _ in found) >= count:
            positions, turns = (np.concatenate(x)[:count] for x in zip(*found, strict=True))
            return positions, turns
    raise ValueError(f"reference: no {count} poses found that model '{model.name}' takes well")


# ---- traced and compiled functions -------------------------------------------------------------------------------


class Writable:
    """What has a graph and can be written as C: see `zveno.codegen.export.Exportable`."""

    graph: Graph
    name: Any
    title: Any
    origin: Any

    @property
    def operations(self) -> OpCount:
        """Operations of one evaluation; sign changes are free."""
        return self.graph.operations

    @abstractmethod
    def reference(self, count: int, seed: int = 0) -> tuple[Arrays, Arrays]:
        """Random inputs and results of something other than the generated code, (count, ...) arrays."""

    def c_source(self, *, real: Literal["double", "float"] = "double", batch: int = 0) -> str:
        """Portable C99: the text of one file that needs nothing but a compiler.

        Parameters
        ----------
        real : {"double", "float"}
        batch : int
            Also a function over this many states, which compilers vectorise.

        Examples
        --------
        >>> import zveno as zv
        >>> traced = zv.robots.two_link().trace("inverse_dynamics")
        >>> "void two_link_inverse_dynamics(" in traced.c_source()
        True
        """
        from .c import c_source

        code = c_source(self.graph, name=self.name, real=real, batch=batch, description=self.title, origin=self.origin)
        return code.single_file

    def save(self, directory: str | Path, *, real: Literal["double", "float"] = "double", batch: int = 0,
             overwrite: bool = False) -> list[Path]:  # fmt: skip
        """Write C source, header, self-test, CMake file and a description of the interface; returns their paths.

        Examples
        --------
        >>> import tempfile, zveno as zv
        >>> traced = zv.robots.two_link().trace("inverse_dynamics")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(path.suffix for path in traced.save(folder))
        ['.c', '.c', '.h', '.md', '.txt']
        """
        from .export import export

        with called("save", "export"), called("save", "c_source"):
            return export(self, directory, real=real, batch=batch, overwrite=overwrite)


class TracedFunction(Writable):
    """A function of one mechanism as a graph of elementary operations.

    Made by `Chain.trace`, `Hexapod.trace` and `Linkage.trace`; compiled functions are traced functions too. Functions
    of hexapods give ``measures`` besides their results, which tell poses that a leg cannot take; inverse dynamics of
    hexapods ends with ``jacobian' forces = load``, a system that is not part of the graph: the library solves it with
    pivoting.

    Attributes
    ----------
    model : Chain, Hexapod or Linkage
    function : str
    options : dict
        Everything else that was decided when it was traced.
    level : {"strict", "algebraic"}
    graph : Graph
        Results only, without what the library needs to judge them.
    """

    def __init__(self, model: Any, function: str, options: Mapping[str, Any], level: Level, limit: int,
                 who: str = "trace") -> None:  # fmt: skip
        self.model = model
        self.function = function
        self.options = dict(options)
        self.level = level
        self._limit = limit
        self._who = who
        self._steps: dict[str, int] = {}
        if level == "strict":
            self._full = self._strict
        else:
            self._full, self._steps = self._algebraic()
        self.graph = self._full.only(self._results)

    @property
    def _row(self) -> dict[str, Any]:
        return _rows(_kind(self.model).name)[self.function]

    def _shape(self, slot: Mapping[str, Any]) -> tuple[int, ...]:
        sizes = _kind(self.model).sizes(self.model)

        def number(dim: int | str) -> int:
            if isinstance(dim, int):
                return dim
            factor, symbol = re.fullmatch(r"(\d*)(\w+)", dim).groups()  # type: ignore[union-attr]
            return int(factor or 1) * sizes[symbol]

        return tuple(number(dim) for dim in slot["shape"])

    @cached_property
    def _interface(self) -> tuple[list[Argument], list[Argument], int]:
        """Arguments, results, and how many results are for users."""
        kind, options = _kind(self.model), self.options
        inputs = []
        for slot in self._row["parameters"]:
            if slot["array"] and slot["name"] in options["arguments"]:
                whole = slot["name"] == "tau" and options.get("tau") == "all"
                shape = (6, self.model.nj) if whole else self._shape(slot)
                inputs.append(Argument(slot["name"], shape, _meaning(slot)))
        inputs += kind.extra_inputs(options)
        wanted = [Argument(slot["name"], self._shape(slot), _meaning(slot)) for slot in self._row["outputs"]
                  if options["outputs"] is None or slot["name"] in options["outputs"]]  # fmt: skip
        return inputs, *kind.outputs(self._row, wanted, self.model)

    @property
    def _results(self) -> int:
        return self._interface[2]

    def _traced(self, regroup: bool) -> _core.Graph:
        return _core.trace(self.model, self.function, _core_options(self.options), self._who, regroup, self._limit)

    @cached_property
    def _strict(self) -> Graph:
        inputs, outputs, _ = self._interface if self.function in _rows(_kind(self.model).name) else ([], [], 0)
        return Graph(self._traced(False), inputs, outputs)

    def _algebraic(self) -> tuple[Graph, dict[str, int]]:
        regroup = self._row["regroups"] and not self.options.get("symbolic")
        core, steps = self._traced(bool(regroup)).algebraic()
        return Graph(core, *self._interface[:2]), steps

    @property
    def kernel_operations(self) -> OpCount | None:
        """Operations of the kernel as written, for any mechanism of this topology; None where they are not counted."""
        return _kind(self.model).kernel_operations(self.model, self.function, self.options)

    @property
    def digest(self) -> str:
        """SHA-256 of model, function, options and level."""
        text = json.dumps([self.model.to_dict(), self.function, self.options, self.level], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

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
            for key, value in self.options.items()
            if value not in (None, ()) and key not in ("pattern", "numbers")
        }
        gravity = ", ".join(map(repr, getattr(self.model, "chain", self.model).gravity.tolist()))
        return {
            "model": self.model.name,
            **_kind(self.model).described(self.model),
            "gravity": f"{gravity} m/s^2, base axes",
            "function": self.function,
            **chosen,
            "level": self.level,
            "zveno": __version__,
            "hash": self.digest,
        }

    @property
    def parameters(self) -> Array:
        """Inertial parameters of the model for the links whose parameters are arguments, (k, 10); or base parameters.

        Each row: m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link's origin in link axes, everything welded to
        the link included. Rows of bodies in the same axes about the same origin add up: a payload is added to its
        link's row.
        """
        if self.options.get("pattern"):
            return self.model.base_parameters(parameters="moments").values  # type: ignore[no-any-return]
        if self.options.get("numbers"):
            return np.empty((0, 10))
        rows = {link.name: k for k, link in enumerate(link for link in self.model.links if link.joint != "fixed")}
        return _core.body_parameters(self.model)[[rows[name] for name in self.options["symbolic"]]].reshape(-1, 10)

    @cached_property
    def savings(self) -> Savings | MaybeNone:
        """What the algebraic level changed; None at the strict level. The difference is measured at 32 states.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.puma560()
        >>> arm.trace("inverse_dynamics").savings is None
        True
        >>> saved = arm.trace("inverse_dynamics", level="algebraic").savings
        >>> saved.after.total < saved.before.total, saved.difference < 1e-12
        (True, True)
        """
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

    def reference(self, count: int, seed: int = 0) -> tuple[Arrays, Arrays]:
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

        Examples
        --------
        >>> import zveno as zv
        >>> inputs, results = zv.robots.two_link().trace("bias").reference(3)
        >>> [x.shape for x in inputs], [x.shape for x in results]
        ([(3, 2), (3, 2)], [(3, 2)])
        """
        count, seed = as_integer("reference", "count", count, 1, 10**6), as_integer("reference", "seed", seed, 0, 2**63)
        inputs, parts = _kind(self.model).reference(self, np.random.default_rng(seed), count)
        outputs = tuple(
            np.ascontiguousarray(x, dtype=np.float64).reshape(count, *out.shape)
            for x, out in zip(parts, self.graph.outputs, strict=True)
        )
        return tuple(inputs), outputs

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.title}: {self.operations}, {self.level}"


class CompiledFunction(TracedFunction, _core.Compiled[_Result]):
    """Machine code for one function of one mechanism. Call it like the method it replaces.

    ``f(q, qd, qdd)`` takes the same arrays, single states or batches of any leading shape, with ``on_error=``, ``out=``
    and ``threads=``, gives the same kind of result and raises the same errors. What was decided by `compile` (method,
    link, point, frame, results) is not an argument any more; external wrenches must be on the links it was compiled
    with, and symbolic inertial parameters are given as ``parameters=``, (..., k, 10). For type checkers it is generic
    in what a call returns: ``CompiledFunction[NDArray[np.float64]]``.

    Attributes
    ----------
    machine : Machine
        Addresses of the code. It lives as long as this object.
    """

    machine: Machine

    def __init__(self, traced: TracedFunction, machine: Machine) -> None:
        self.__dict__.update(traced.__dict__)
        self.machine = machine
        kernel = isinstance(self.model, _core.Hexapod) and self.level == "strict"
        singly = 0 if kernel and self.function not in _HexapodKind.short else machine.scalar
        addresses = singly, machine.vector, machine.passing
        options = _core_options(self.options)
        _core.Compiled.__init__(self, self.model, self.function, options, machine, *addresses, machine.lanes)

    @property
    def seconds(self) -> float:
        """Time that the compilation took."""
        return self.machine.seconds

    def __reduce__(self) -> tuple[Any, ...]:
        return _recompile, (self.model, self.function, self.options, self.level)

    def __repr__(self) -> str:
        return f"{super().__repr__()}, compiled in {self.seconds * 1e3:.0f} ms"


def _recompile(model: Any, function: str, options: Mapping[str, Any], level: Level) -> CompiledFunction:
    return _compiled(TracedFunction(model, function, options, level, UNLIMITED))


def _meaning(slot: Mapping[str, Any]) -> str:
    """Text and unit of a slot for people who read generated code."""
    text = re.sub(r", or an object with as_matrix\(\).*", "", slot["text"].rstrip("."))  # no matter in C
    text = text[:1].lower() + text[1:] if text[1:2].islower() else text
    return text if slot["unit"] in ("", "1") else f"{text}, {slot['unit']}"


def _core_options(options: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in options.items() if value not in (None, ()) or key == "arguments"}
    if "section" in given:
        given["section"] = _section(given["section"])
    return given | {"base": _body(given["base"])} if "base" in given else given


_machines: weakref.WeakValueDictionary[tuple[str, int, tuple[int, ...]], Machine] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _unlock() -> None:  # another thread may have held it
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def _compiled(traced: TracedFunction) -> CompiledFunction:
    """The same code is made once and shared while somebody uses it."""
    from .llvm import compile_graph

    rows = tuple(_core.streamed_rows(traced.model, traced.function, _core_options(traced.options)))
    key = traced.digest, cpu_features()["lanes"], rows
    with _lock:
        machine = _machines.get(key)
        if machine is None:
            machine = _machines[key] = compile_graph(traced._full, name=traced.name, rows=rows)
    return CompiledFunction(traced, machine)


_DIVISION: Final = 8  # operations that a division or a root takes as long as


def _cost(traced: TracedFunction) -> int:
    count = traced._full.operations
    return traced._full.instructions + (_DIVISION - 1) * (count.div + count.sqrt)


def _names(who: str, what: str, value: object) -> list[str]:
    given = as_list(value)
    given = [value] if given is None else given
    names = [name for name in given if isinstance(name, str)]
    if len(names) != len(given):
        raise TypeError(f"{who}: {what} is {_show(value)}, expected names of links")
    if len(set(names)) != len(names):
        raise ValueError(f"{who}: {what} names a link twice: {_show(names)}")
    return names


class TraceOptions(TypedDict, total=False):
    """Keywords of `Chain.trace`, `Chain.compile`, `Hexapod.trace` and `Hexapod.compile`."""

    arguments: Iterable[str] | None
    outputs: Iterable[str] | None
    level: Level
    limit: int
    # of chains
    method: str | None
    link: str | None
    point: ArrayLike | None
    frame: str | None
    about: str | None
    external_frame: str | None
    section: Section | None
    parts: str | None
    order: Literal[1, 2]
    i: str | SupportsIndex
    j: str | SupportsIndex
    by: Sequence[str | SupportsIndex]
    motion: str | None
    external: Iterable[str]
    parameters: str | Iterable[str]
    # of hexapods
    tau: Literal["actuated", "all"]
    base: Body | None


_COMMON: Final = {"arguments", "outputs", "level", "limit"}
_OWN: Final = {
    "chain": {*_FIXED, "section", "external", "parameters"},
    "hexapod": {"tau", "base"},
    "linkage": set[str](),
}


def as_level(who: str, level: object) -> Level:
    """A level by its name."""
    if not isinstance(level, str) or level not in LEVELS:
        raise ValueError(f"{who}: level is {_show(level)}, expected 'strict' or 'algebraic'")
    return "strict" if level == "strict" else "algebraic"


def _sequence(who: str, what: str, value: Iterable[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = as_list(value)
    if not names or not all(isinstance(name, str) and len(name) <= 100 for name in names):
        raise TypeError(f"{who}: {what} is {_show(value)}, expected a sequence of names")
    return tuple(names)


def trace_function(model: Any, function: str, options: Mapping[str, Any]) -> TracedFunction:
    """See `Chain.trace` and `Hexapod.trace`."""
    return interruptible(lambda: _traced(model, function, options, "trace"))


def _traced(model: Any, function: str, options: Mapping[str, Any], who: str) -> TracedFunction:
    """`who` stands in messages."""
    kind = _kind(model)
    if unknown := options.keys() - _COMMON - _OWN[kind.name]:
        raise TypeError(f"{who}: unknown argument {min(unknown)!r}")
    if not isinstance(function, str) or len(function) > 100:
        raise TypeError(f"{who}: function is {_show(function)}, expected the name of a method")
    if function == "mass_matrix_derivatives" and options.get("order") == 2:
        return _traced(model, "mass_matrix_second_derivatives", {**options, "order": None}, who)
    limit = as_integer(who, "limit", options.get("limit", LIMIT), 1, MOST)
    level = as_level(who, options.get("level", "strict"))
    row = _rows(kind.name).get(function)
    arguments = _sequence(who, "arguments", options.get("arguments"))
    if arguments is None:
        needed = () if row is None else row["parameters"]
        arguments = tuple(slot["name"] for slot in needed if slot["array"] and slot["required"])
    chosen = {"arguments": arguments, "outputs": _sequence(who, "outputs", options.get("outputs"))}
    if (
        isinstance(options.get("parameters"), str)
        and options["parameters"].startswith("base")
        and row is not None
        and not row["regroups"]
    ):
        raise ValueError(
            f"{who}: parameters is {options['parameters']!r}, but '{function}' depends on more than base parameters; "
            "expected 'fixed', 'symbolic' or names of links"
        )
    chosen |= kind.options(who, model, options)
    if "tau" not in arguments:
        chosen.pop("tau", None)

    def traced(**more: Any) -> TracedFunction:
        return TracedFunction(model, function, chosen | more, level, limit, who)

    methods = kind.methods.get(function, ())
    if not methods or chosen.get("method") is not None:
        return traced()
    n = model.n
    return min((traced(method=method) for method, largest in methods if n <= largest), key=_cost)


def compile_function(model: Any, function: str, options: Mapping[str, Any]) -> CompiledFunction[Any]:
    """See `Chain.compile` and `Hexapod.compile`."""
    return interruptible(lambda: _compiled(_traced(model, function, options, "compile")))
