"""Objects that are plain data: checked once, immutable, to and from dictionaries, TOML and JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn, Self

import numpy as np

from .._check import Fail, _show, as_array, as_number, as_path, did_you_mean
from ..errors import ModelError
from ..sim import laws as _laws


class Plain:
    """Base of the frozen dataclasses of `zveno.docking`."""

    _parts: ClassVar[Mapping[str, Any]] = {}  # what builds a field from its dictionary

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON and TOML can hold; None, infinite defaults and empty are left out.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Move(-0.11, 8e-3, 3000.0, 4000.0, 2e-3).to_dict()["speed"]
        0.008
        """
        found = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = _of_field(self, field)
            if value is not None and value != []:
                found[field.name] = value
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the object of `to_dict`; absent keys take their default, unknown keys are an error.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Conditions.from_dict({"closing": 0.08, "gap": 0.2}).gap
        0.2
        """
        who = f"{cls.__name__}.from_dict"
        if not isinstance(data, Mapping):
            raise ModelError(f"{who}: got {_show(data)}, expected a dictionary")
        fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for key in data:
            if key not in fields:
                raise ModelError(f"{who}: unknown key {_show(key)}{did_you_mean(key, fields)}")
        for key, field in fields.items():
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if needed and key not in data:
                raise ModelError(f"{who}: '{key}' is missing")
        return cls(
            **{key: cls._parts[key](value) if key in cls._parts else _number(value) for key, value in data.items()}
        )

    def replace(self, **changes: Any) -> Self:
        """The same object with other values, which are checked.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Conditions(0.08).replace(closing=0.1).closing
        0.1
        """
        known = {field.name for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        for key in changes:
            if key not in known:
                self._fail(f"has no field {_show(key)}{did_you_mean(key, known)}")
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def _fail(self, text: str) -> NoReturn:
        raise ModelError(f"{type(self).__name__}: {text}")

    def _set(self, key: str, value: object) -> None:
        object.__setattr__(self, key, value)

    def _numbers(self, *, amounts: str = "", positive: str = "", infinite: str = "", numbers: str = "") -> None:
        """Turn the named fields into floats: `amounts` are >= 0, `positive` > 0, `infinite` > 0 or infinite."""
        for key in f"{amounts} {positive} {infinite} {numbers}".split():
            number = as_number(getattr(self, key), self._fail, key, infinite=key in infinite.split())
            if key in amounts.split() and number < 0:
                self._fail(f"{key} is {number:g}, expected a number >= 0")
            if key in f"{positive} {infinite}".split() and not number > 0:
                self._fail(f"{key} is {number:g}, expected a number > 0")
            self._set(key, number)

    def _counts(self, least: int, *keys: str) -> None:
        for key in keys:
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= 10_000:
                self._fail(f"{key} is {_show(value)}, expected an integer from {least} to 10000")
            self._set(key, int(value))

    def _flags(self, *keys: str) -> None:
        for key in keys:
            if not isinstance(getattr(self, key), bool):
                self._fail(f"{key} is {_show(getattr(self, key))}, expected True or False")

    def _vector(self, key: str, size: int) -> None:
        """Turn a field into a tuple of floats."""
        self._set(key, tuple(as_array(getattr(self, key), self._fail, key, (size,)).tolist()))

    def _at_most(self, most: float, keys: str) -> None:
        """Refuse numbers, or vectors, that can only be meant in other units; None is left alone."""
        for key in keys.split():
            value = getattr(self, key)
            if value is None or np.abs(value).max() <= most:
                continue
            text = f"{value:g}" if isinstance(value, float) else value
            self._fail(f"{key} is {text}, expected at most {most:.4g} in size (SI units, radians)")


# JSON has no word for it, and TOML another one
_INFINITE: Final = {"inf": math.inf, "-inf": -math.inf}


def _of_field(owner: Any, field: Any) -> Any:
    """The plain value of a field; an infinite one by its name, unless that is what is meant without it."""
    value = getattr(owner, field.name)
    if isinstance(value, float) and math.isinf(value) and value != field.default:
        return "inf" if value > 0 else "-inf"
    return plain(value)


def _number(value: Any) -> Any:
    """What `_of_field` has named."""
    return _INFINITE.get(value, value) if isinstance(value, str) else value


def plain(value: Any) -> Any:
    """A value as JSON and TOML have it; None and infinite: left out."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, _laws.Law | _laws.Ramp | _laws.Table):
        return law_to_dict(value)
    if hasattr(value, "to_dict"):
        return without_none(value.to_dict())
    if isinstance(value, float) and math.isinf(value):
        return None
    return value


def without_none(value: Any) -> Any:
    """Dictionaries without keys that are None, which TOML has no word for."""
    if isinstance(value, dict):
        return {key: without_none(item) for key, item in value.items() if item is not None}
    return [without_none(item) for item in value] if isinstance(value, list) else value


# ---- laws


def law_to_dict(law: Any) -> dict[str, Any]:
    """A law by its class name and fields; fields that are None, or infinite by default, are left out."""
    found: dict[str, Any] = {"kind": type(law).__name__}
    for field in dataclasses.fields(law):
        value = _of_field(law, field)
        if isinstance(law, _laws.Formula) and field.name == "parameters":
            value = dict(law.parameters) or None
        if value is not None:
            found[field.name] = value
    return found


def law_from_dict(data: Any) -> Any:
    """The law of `law_to_dict`; laws pass."""
    if isinstance(data, _laws.Law | _laws.Ramp | _laws.Table):
        return data
    fail: Fail = _law_fail
    if not isinstance(data, Mapping) or not isinstance(data.get("kind"), str):
        fail(f"got {_show(data)}, expected a dictionary with the key 'kind', the name of a law")
    name = data["kind"]
    cls = getattr(_laws, name, None) if name in _laws.__all__ and name != "Law" else None
    if cls is None:
        fail(f"unknown law {_show(name)}{did_you_mean(name, _laws.__all__)}")
    known = {field.name for field in dataclasses.fields(cls)}
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key == "kind":
            continue
        if key not in known:
            fail(f"unknown key {_show(key)} of {name}{did_you_mean(key, known)}")
        if isinstance(value, Mapping) and not (cls is _laws.Formula and key == "parameters"):
            value = law_from_dict(value)
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            value = tuple(law_from_dict(item) for item in value)
        values[key] = _number(value)
    try:
        return cls(**values)
    except TypeError as error:
        fail(f"{name}: {error}")


def _law_fail(text: str) -> NoReturn:
    raise ModelError(f"law: {text}")


# ---- TOML


def toml_of(data: Mapping[str, Any]) -> str:
    """A dictionary of plain values as TOML."""
    lines: list[str] = []

    def table(values: Mapping[str, Any], path: tuple[str, ...]) -> None:
        inner = {key: value for key, value in values.items() if isinstance(value, Mapping)}
        if path and (len(inner) < len(values) or not values):
            lines.append(("\n" if lines else "") + f"[{'.'.join(_key(part) for part in path)}]")
        for key, value in values.items():
            if key not in inner:
                lines.append(f"{_key(key)} = {_toml(value)}")
        for key, value in inner.items():
            table(value, (*path, key))

    table(data, ())
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    bare = key.replace("_", "").replace("-", "")
    return key if bare.isascii() and bare.isalnum() else json.dumps(key)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return str(int(value))


def read_data(function: str, path: object) -> dict[str, Any]:
    """The dictionary of a TOML or JSON file, told apart by its name and, failing that, its first character."""
    import tomllib

    name = as_path(function, path)
    try:
        text = Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{function}: {name} is no text in UTF-8: {error.reason} at byte {error.start}") from None
    is_json = name.endswith(".json") or (not name.endswith(".toml") and text.lstrip().startswith("{"))
    try:
        data = json.loads(text) if is_json else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ModelError(f"{function}: {name} is no {'JSON' if is_json else 'TOML'}: {error}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{function}: {name} holds {_show(data)}, expected a table")
    return data


def write_data(function: str, path: object, data: Mapping[str, Any]) -> None:
    """Write a dictionary as TOML, or as JSON if the name ends in .json."""
    name = as_path(function, path)
    text = json.dumps(data, indent=1) + "\n" if name.endswith(".json") else toml_of(data)
    Path(name).write_text(text, encoding="utf-8")
