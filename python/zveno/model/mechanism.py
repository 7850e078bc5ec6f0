"""`Mechanism`: what chains and hexapods have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self, SupportsIndex, Unpack

from .._check import Array, _show
from .._record import Record, Value, plain, require_keys
from .._status import in_words
from ..codegen.function import CompiledFunction, TracedFunction, TraceOptions, compile_function, trace_function
from ..errors import ModelError

__all__ = ["Mechanism"]

_VERSION: Final = 1  # of dictionaries


class Mechanism(Value):
    """Base of the models whose numbers are worked out by a C++ base class. Immutable; may be shared by threads."""

    _format: ClassVar[str]  # of dictionaries
    _fields: ClassVar[tuple[str, ...]]  # arguments of `_assemble`, kept under the same names with an underscore
    _parts: ClassVar[Mapping[str, type[Record]]]  # classes of fields that are dictionaries in a dictionary
    _many: ClassVar[str]  # the one of them that is a list
    _part: ClassVar[str]  # what a status names

    _name: str
    _gravity: Array

    def _assemble(self, *values: Any, **named: Any) -> None:
        """Check the values, build the C++ model."""
        raise NotImplementedError

    def _require_new(self) -> None:
        """A second __init__ would change the names of a model and not its numbers."""
        if hasattr(self, "_name"):  # not by __dict__: asking for it makes every later attribute slower
            raise TypeError(f"{type(self).__name__}.__init__: '{self._name}' exists already, and models do not change")

    @classmethod
    def _made(cls, **values: Any) -> Self:
        """Suspicions are not reported: those of a copy were reported when the original was made."""
        made = cls.__new__(cls)
        made._assemble(**values)
        return made

    def _values(self) -> dict[str, Any]:
        return {key: getattr(self, f"_{key}") for key in self._fields}

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
        if not isinstance(data, Mapping):
            raise ModelError(f"{what}: got {_show(data)}, expected a dictionary")
        if data.get("format") != cls._format:
            raise ModelError(f"{what}: format is {_show(data.get('format'))}, expected '{cls._format}'")
        if data.get("version") != _VERSION or isinstance(data["version"], bool):
            raise ModelError(f"{what}: version is {_show(data.get('version'))}, expected {_VERSION}")
        require_keys(what, data, ("format", "version", *cls._fields), cls._fields)
        values = {key: data[key] for key in cls._fields}
        if not isinstance(values[cls._many], list | tuple):
            raise ModelError(f"{what}: {cls._many} is {_show(values[cls._many])}, expected a list")
        for key, part in cls._parts.items():
            item = values[key]
            values[key] = [part.from_dict(one) for one in item] if key == cls._many else part.from_dict(item)
        return cls._made(**values)

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
        parameters : {"fixed", "symbolic"} or iterable of str
            Chains: whether inertial parameters are numbers in the code or arguments of it, of all moving links or of
            those named. Default: fixed.
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
