"""Immutable records: what `Link`, `Body` and `Leg` have in common, and the frame of a model's dictionary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np

from ._check import _show
from .errors import ModelError


class Record:
    """Base of immutable objects whose fields are their slots.

    Arrays among the fields are read-only and hold no negative zeros, so equal numbers are equal bytes.
    """

    __slots__: tuple[str, ...] = ()

    _kind: ClassVar[type[Record]]  # the record itself where the class is a user's subclass
    _required: ClassVar[tuple[str, ...]] = ()
    _limits: ClassVar[tuple[str, ...]] = ()  # None in a dictionary means infinite
    _parts: ClassVar[Mapping[str, Any]] = {}  # classes of fields that are dictionaries in a dictionary

    def __init_subclass__(cls) -> None:
        if Record in cls.__bases__:
            cls._kind = cls

    def __init__(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> NoReturn:
        raise AttributeError(f"{self._kind.__name__} is immutable, cannot set '{key}'")

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError(f"{self._kind.__name__} is immutable, cannot delete '{key}'")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary: lists for arrays, dictionaries for bodies and chains, None for no limit."""

        def plain(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return value.tolist()
            if hasattr(value, "to_dict"):
                return value.to_dict()
            return None if isinstance(value, float) and math.isinf(value) else value

        return {key: plain(value) for key, value in self._values().items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the object of `to_dict`; absent keys take their default, unknown keys are an error."""
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

    def _with(self, **changes: Any) -> Self:
        """The same object with other fields, which are not checked again."""
        return _rebuild(type(self), self._values() | changes)

    def _key(self) -> tuple[object, ...]:
        """Everything that makes the object, hashable."""
        return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for v in self._values().values())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, self._kind) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._values())


_AnyRecord = TypeVar("_AnyRecord", bound=Record)


def _rebuild(cls: type[_AnyRecord], values: dict[str, Any]) -> _AnyRecord:
    """A record from its checked fields."""
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


def model_fields(
    what: str, data: Mapping[str, Any], format: str, version: int, keys: tuple[str, ...]
) -> dict[str, Any]:
    """The items `keys` of a model's dictionary, once its format and version are right and no key is unknown."""
    if not isinstance(data, Mapping):
        raise ModelError(f"{what}: got {_show(data)}, expected a dictionary")
    if data.get("format") != format:
        raise ModelError(f"{what}: format is {_show(data.get('format'))}, expected '{format}'")
    if data.get("version") != version or isinstance(data["version"], bool):
        raise ModelError(f"{what}: version is {_show(data.get('version'))}, expected {version}")
    require_keys(what, data, ("format", "version", *keys), keys)
    return {key: data[key] for key in keys}
