"""`Mechanism`: what chains and hexapods have in common."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self, SupportsIndex, Unpack

from numpy.typing import ArrayLike

from .._check import Array, _is_name, _show, did_you_mean
from .._output import checked_path, replacing
from .._record import Record, Value, plain, require_keys
from .._status import in_words
from ..codegen.function import CompiledFunction, TracedFunction, TraceOptions, compile_function, trace_function
from ..errors import ModelError
from .other_names import answer, names_of, teach, without_words

__all__ = ["Mechanism"]

_VERSION: Final = 1  # of dictionaries


def require_format(what: str, data: object, expected: str) -> None:
    """Refuse what is no dictionary of `to_dict` of this format and version."""
    if not isinstance(data, Mapping):
        raise ModelError(f"{what}: got {_show(data)}, expected a dictionary")
    kind, version = data.get("format"), data.get("version")
    if not isinstance(kind, str) or kind != expected:
        raise ModelError(f"{what}: format is {_show(kind)}, expected '{expected}'")
    number = version if isinstance(version, int | float) and not isinstance(version, bool) else 0
    if number != _VERSION:
        newer = ": a newer zveno has written it" if number > _VERSION else ""
        raise ModelError(f"{what}: version is {_show(version)}, expected {_VERSION}{newer}")


class Mechanism(Value):
    """Base of the models whose numbers are worked out by a C++ base class. Immutable; may be shared by threads."""

    _format: ClassVar[str]  # of dictionaries
    _fields: ClassVar[tuple[str, ...]]  # arguments of `_assemble`, kept under the same names with an underscore
    _parts: ClassVar[Mapping[str, type[Record]]]  # classes of fields that are dictionaries in a dictionary
    _many: ClassVar[str]  # the one of them that is a list
    _part: ClassVar[str]  # what a status names
    _extra: ClassVar[tuple[str, ...]] = ("note",)  # fields that a dictionary has only where they are not empty

    _name: str
    _gravity: Array
    _note: str = ""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if Mechanism in cls.__bases__:
            teach(cls)

    @abstractmethod
    def _assemble(self, *values: Any, **named: Any) -> None:
        """Check the values, build the C++ model."""

    def _require_new(self) -> None:
        """A second __init__ would change the names of a model and not its numbers."""
        if hasattr(self, "_name"):  # not by __dict__: asking for it makes every later attribute slower
            raise TypeError(f"{type(self).__name__}.__init__: '{self._name}' exists already, and models do not change")

    @classmethod
    def _made(cls, **values: Any) -> Self:
        """Suspicions are not reported: those of a copy were reported when the original was made."""
        note = values.pop("note", "")
        if not (isinstance(note, str) and (note == "" or _is_name(note))):
            raise ModelError(f"{cls._kind.__name__}: note is {_show(note)}, expected a string")
        made = cls.__new__(cls)
        made._assemble(**values)
        return made._noted(note)

    def _noted(self, note: str) -> Self:
        """The same object with a note; for whoever has just made it."""
        self._note = note
        return self

    def _values(self) -> dict[str, Any]:
        extra = {key: getattr(self, f"_{key}") for key in self._extra}
        values = {key: getattr(self, f"_{key}") for key in self._fields}
        return values | {key: value for key, value in extra.items() if value is not None and len(value)}

    @property
    def note(self) -> str:
        """What a reader should know about the data, as "made-up data"; shown by ``repr``, empty by default."""
        return self._note

    def _with_note(self, text: str) -> str:
        """The text of ``repr``."""
        return f"{text} ({self._note})" if self._note else text

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._name

    @property
    def gravity(self) -> Array:
        """Gravity in base axes, (3,) m/s^2, read-only."""
        return self._gravity

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a JSON-safe dictionary: lists, None for an infinite limit, every frame filled in.

        ``note``, and ``origin`` of a hexapod, are among the keys only where there is one.

        Examples
        --------
        >>> import json, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> text = json.dumps(arm.to_dict())
        >>> zv.Chain.from_dict(json.loads(text)) == arm
        True
        >>> ring = zv.mechanisms.docking_ring("SPU")
        >>> zv.Hexapod.from_dict(json.loads(json.dumps(ring.to_dict()))) == ring
        True
        """
        values = {key: plain(value) for key, value in self._values().items()}
        return {"format": self._format, "version": _VERSION} | values

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Self:
        """The model of `to_dict`."""
        what = f"{cls._kind.__name__}.from_dict"
        require_format(what, data, cls._format)
        require_keys(what, data, ("format", "version", *cls._fields, *cls._extra), cls._fields)
        values = {key: data[key] for key in (*cls._fields, *cls._extra) if key in data}
        if not isinstance(values[cls._many], list | tuple):
            raise ModelError(f"{what}: {cls._many} is {_show(values[cls._many])}, expected a list")
        for key, part in cls._parts.items():
            if key != cls._many:
                values[key] = _part_of(part, values[key], f"{what}: {key}")
            else:
                listed = enumerate(values[key])
                values[key] = [_part_of(part, item, f"{what}: {key}[{i}]") for i, item in listed]
        return cls._made(**values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON; `zveno.load` reads it back, equal to the last bit.

        The file is written whole or not at all: what was there stays until the new one is complete. `zveno.files`
        describes its fields.

        Parameters
        ----------
        path : path
            It must end in ``.json``.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "ring.json")
        ...     ring.save(path)
        ...     zv.load(path) == ring
        True
        """
        write_json(self.to_dict(), self._many, path)

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """Return a new mechanism under another gravity, (3,) m/s^2 in base axes.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> space = arm.with_gravity((0, 0, 0))
        >>> space.bias([0.3, 0.4], [0, 0]).round(3) + 0.0
        array([0., 0.])
        >>> np.array_equal(space.mass_matrix([0.3, 0.4]), arm.mass_matrix([0.3, 0.4]))
        True
        >>> zv.mechanisms.docking_ring("UPS").with_gravity((-9.81, 0, 0)).gravity
        array([-9.81,  0.  ,  0.  ])
        """
        return self._with(gravity=gravity)

    def __setattr__(self, key: str, value: object) -> None:
        if not key.startswith("_"):
            require_own(self, key)
        super().__setattr__(key, value)

    def __dir__(self) -> list[str]:
        return without_words(type(self), super().__dir__())

    def explain(self, status: SupportsIndex) -> str:
        """A status of a row in words, with the name of the joint or leg.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> q, status = np.array([[0.1, 0.2], [0.1, np.nan]]), np.zeros(2, np.int16)
        >>> arm.potential_energy(q, on_error="nan", status=status).round(3)
        array([-2.919,    nan])
        >>> arm.explain(status[1])
        'the state has an argument that is not finite'
        >>> ring = zv.mechanisms.docking_ring("RSU")
        >>> r, R = ring.nominal
        >>> ring.explain(ring.status(r + [2, 0, 0], R))
        "leg 'leg1' cannot reach its hinge: crank and coupler do not meet"
        """
        return in_words(status, self._part, [repr(name) for name in getattr(self, f"{self._part}_names")])

    def trace(self, function: str, **options: Unpack[TraceOptions]) -> TracedFunction:
        """Write a method out for this mechanism: straight-line code without a zero or one left in it.

        Parameters
        ----------
        function : str
            Name of a numeric method: ``"inverse_dynamics"``, ``"mass_matrix"``, ``"derivatives"``, ...; of hexapods
            ``"forward_dynamics"``, ``"closure"`` (closed form), ...
        arguments : iterable of str
            Arrays that calls will give, by the names of the method: ``("q", "qd", "qdd", "base_motion")``; what is left
            out is zero and costs nothing. Default: those that the method requires.
        outputs : iterable of str
            Which of several results: code for the others is left out.
        level : {"strict", "algebraic"}
            Strict, the default: the operations of the kernel in their order, the same bits. Algebraic: inertia
            regrouped along the chain, common factors, shared reciprocals, fused multiply-adds: fewer instructions,
            other rounding; see `TracedFunction.savings`.
        limit : int
            Largest number of nodes, 200,000 by default.
        method, link, point, frame, about : optional
            Chains: those of the method; fixed from now on. Without `method` the one whose code is shortest for this
            chain.
        external : iterable of str
            Chains: links that external wrenches act on.
        parameters : {"fixed", "symbolic", "base", "base-fixed"} or iterable of str
            Chains: whether inertial parameters are numbers in the code or arguments of it, of all moving links or of
            those named. "base": an argument (count,) with the base parameters of
            ``Chain.base_parameters(parameters="moments")``, for adaptive control; "base-fixed": those of the model as
            numbers. All other parameters are zero: the fewest operations, for functions of the equations of motion.
            Default: fixed.
        tau : {"actuated", "all"}
            Hexapods: whether forces are given for the actuated joints, (6,), the default, or for all, (6, nj).
        base : Body
            Hexapods: the spacecraft of ``"forward_dynamics_free"``; its numbers become part of the code.

        Returns
        -------
        TracedFunction
            With ``.operations``, ``.graph``, ``.c_source()``, ``.save(directory)``.

        Raises
        ------
        ValueError
            An unknown function or argument, or a custom leg: closed by iteration, it has no fixed list of operations.
        GraphSizeError
            More than `limit` nodes.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.puma560()
        >>> arm.trace("inverse_dynamics").operations.total < arm.operations("inverse_dynamics").total
        True
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> ring.trace("forward_dynamics").operations.total < ring.operations().total
        True
        """
        return trace_function(self, function, options)

    def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction:
        """Machine code of a method for this very mechanism. Needs llvmlite (``zveno[jit]``); arguments as in `trace`.

        Returns
        -------
        CompiledFunction
            Called like the method: the same shapes, batches, results, ``on_error=``, ``out=``, ``threads=`` and errors.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.puma560()
        >>> f = arm.compile("inverse_dynamics")
        >>> q = np.linspace(0, 1, arm.n)
        >>> bool((f(q, q, q) == arm.inverse_dynamics(q, q, q)).all())
        True
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> closure = ring.compile("closure")
        >>> bool((closure(*ring.nominal) == ring.closure(*ring.nominal)).all())
        True
        """
        return compile_function(self, function, options)


def require_own(model: Value, key: str) -> None:
    """Refuse to set an attribute that the model has, or, of the library's own classes, one that it has not.

    Objects of a user's subclass take attributes that the library does not know: they may be the subclass's own.
    """
    kind = model._kind
    if hasattr(kind, key):
        own = getattr(type(model), key)
        if getattr(own, "fset", None) is None:  # a subclass may know what it does
            raise AttributeError(f"{kind.__name__} is immutable, cannot set '{key}'{_copied(kind, key)}", name=key)
    elif type(model) is kind:
        hint = answer(kind, key)
        if not hint and (near := did_you_mean(key, names_of(kind))):
            name = near.split("'")[1]
            hint = near + _copied(kind, name) if hasattr(kind, name) else near.removesuffix("?") + answer(kind, name)
        raise AttributeError(f"{kind.__name__} is immutable and has no attribute '{key}'{hint}", name=key)


def _copied(kind: type[Value], key: str) -> str:
    """The end of a message: what returns a copy in which `key` is another."""
    changed = f"with_{key}"
    return f"; {changed}(...) returns a changed copy" if hasattr(kind, changed) else ""


def write_json(data: Mapping[str, Any], many: str, path: str | os.PathLike[str]) -> None:
    """A model in a file, whole or not at all; the items of the list `many` stand on lines of their own."""
    target = checked_path("save", path, ".json")
    lines = []
    for key, value in data.items():
        if key == many:  # differences of two files can be read
            items = ",\n    ".join(json.dumps(item, allow_nan=False) for item in value)
            lines.append(f'"{key}": [\n    {items}\n  ]')
        else:
            lines.append(f'"{key}": {json.dumps(value, allow_nan=False)}')
    text = "{\n  " + ",\n  ".join(lines) + "\n}\n"
    with replacing(target) as file:
        file.write(text.encode())


def _part_of(part: type[Record], data: Any, where: str) -> Record:
    """The part of a dictionary; an error that does not name the part by itself says where it stands."""
    try:
        return part.from_dict(data)
    except ModelError as error:
        if error.link is not None:
            raise
        raise ModelError(f"{where}: {error}") from None
