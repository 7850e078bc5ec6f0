"""Immutable objects: what models have in common, and what `Link`, `Body` and `Leg` are."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from ._check import _show, did_you_mean
from .errors import ModelError


class Value:
    """Base of immutable objects that are equal where all their values are.

    Not an ABC: classes bound by pybind11, which some of them are too, have a metaclass of their own.
    """

    __slots__: tuple[str, ...] = ()

    _kind: ClassVar[type[Value]]  # Link, Body, Leg, Chain or Hexapod, also of a user's subclass

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if Value not in cls.__bases__ and not hasattr(cls, "_kind"):
            cls._kind = cls

    @abstractmethod
    def _values(self) -> dict[str, Any]:
        """Everything that makes the object, by name."""

    @classmethod
    @abstractmethod
    def _made(cls, **values: Any) -> Self:
        """An object from its values, whatever arguments the constructor of a subclass takes."""

    def _with(self, **changes: Any) -> Self:
        """The same object with other values."""
        return self._made(**self._values() | changes)

    def _key(self) -> tuple[object, ...]:
        return tuple(_hashable(value) for value in self._values().values())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, self._kind) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._values())


def _hashable(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_hashable(item) for item in value)
    return value.tobytes() if isinstance(value, np.ndarray) else value


def _rebuild(cls: type[Value], values: dict[str, Any]) -> Value:
    """Unpickle."""
    return cls._made(**values)


def plain(value: Any) -> Any:
    """A value as JSON has it: lists for arrays, dictionaries for bodies and chains, None for no limit."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return None if isinstance(value, float) and math.isinf(value) else value


class Record(Value):
    """Base of immutable objects whose fields are their slots.

    Arrays among the fields are read-only and hold no negative zeros, so equal numbers are equal bytes.
    """

    __slots__ = ()

    _required: ClassVar[tuple[str, ...]] = ()
    _limits: ClassVar[tuple[str, ...]] = ()  # None in a dictionary means infinite
    _parts: ClassVar[Mapping[str, Any]] = {}  # classes of fields that are dictionaries in a dictionary

    def __init__(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> NoReturn:
        hint = "" if hasattr(self, key) else did_you_mean(key, self._kind.__slots__)
        raise AttributeError(f"{self._kind.__name__} is immutable, cannot set '{key}'{hint}", name=key)

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError(f"{self._kind.__name__} is immutable, cannot delete '{key}'")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary: lists for arrays, dictionaries for bodies and chains, None for no limit.

        Examples
        --------
        >>> import zveno as zv
        >>> body = zv.Body(2.0, inertia=[0.1, 0.1, 0.2])
        >>> body.to_dict()["mass"]
        2.0
        """
        return {key: plain(value) for key, value in self._values().items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the object of `to_dict`; absent keys take their default, unknown keys are an error.

        Examples
        --------
        >>> import json, zveno as zv
        >>> body = zv.Body(2.0, inertia=[0.1, 0.1, 0.2])
        >>> zv.Body.from_dict(json.loads(json.dumps(body.to_dict()))) == body
        True
        """
        cls._check_keys(data)
        values = {key: value for key, value in data.items() if value is not None or key not in cls._limits}
        for key, part in cls._parts.items():
            if values.get(key) is not None:
                values[key] = part.from_dict(values[key])
        return cls(**values)

    @classmethod
    def _check_keys(cls, data: Mapping[str, Any]) -> None:
        require_keys(f"{cls.__name__}.from_dict", data, cls._kind.__slots__, cls._required)

    def _values(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self._kind.__slots__}

    @classmethod
    def _made(cls, **values: Any) -> Self:
        """The values are not checked again."""
        made = object.__new__(cls)
        for value in values.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)  # pickle forgets it
        Record.__init__(made, **values)
        return made


def require_keys(what: str, data: object, known: tuple[str, ...], required: tuple[str, ...]) -> None:
    """A dictionary with all the required keys and no unknown one, or a `ModelError`."""
    if not isinstance(data, Mapping):
        raise ModelError(f"{what}: got {_show(data)}, expected a dictionary")
    for key in data:
        if key not in known:
            raise ModelError(f"{what}: unknown key {_show(key)}")
    for key in required:
        if key not in data:
            raise ModelError(f"{what}: '{key}' is missing")
