"""Loops beside a URDF: a small file in TOML or JSON.

A number ``length`` (m, may be absent) and a list ``loops``. Every entry has a ``kind`` and the arguments of the
function of that name::

    length = 1.0

    [[loops]]
    kind = "revolute"
    a = "coupler"
    b = "rocker"
    point_a = [0.9, 0, 0]
    point_b = [0.7, 0, 0]

    [[loops]]
    kind = "coupling"
    joints = { motor = 1.0, shaft = -3.0 }
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from .._check import _show, as_list, as_path, did_you_mean
from ..errors import ModelError
from .constraint import Constraint, Loop, coupling_of, placed

__all__ = ["read_loops"]

_JOINTS: Final = (
    "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "weld", "distance",
)  # fmt: skip
_POINTS: Final = ("point_on_line", "point_on_plane")
_KINDS: Final = (*_JOINTS, *_POINTS, "coupling")
_LARGEST: Final = 2**24  # bytes


def read_loops(path: str | os.PathLike[str]) -> tuple[tuple[Constraint, ...], float | None]:
    """The constraints of a file, and its length."""
    text = as_path("from_urdf", path)
    where = os.path.basename(text)
    with open(text, "rb") as file:
        raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise ModelError(f"from_urdf: {where}: is larger than {_LARGEST >> 20} MiB")
    try:
        decoded = raw.decode("utf-8-sig")
        data = json.loads(decoded) if decoded.lstrip().startswith("{") else tomllib.loads(decoded)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"from_urdf: {where}: is neither TOML nor JSON ({error})") from None
    for key in data:
        if key not in ("loops", "length"):
            raise ModelError(f"from_urdf: {where}: unknown key {_show(key)}, expected 'loops' and 'length'")
    listed = as_list(data.get("loops"))
    if listed is None:
        raise ModelError(f"from_urdf: {where}: loops is {_show(data.get('loops'))}, expected a list")
    made = []
    for i, entry in enumerate(listed):
        try:
            made.append(_made(entry))
        except (ModelError, TypeError) as error:
            raise ModelError(f"from_urdf: {where}: loops[{i}]: {error}") from None
    return tuple(made), data.get("length")


def _made(entry: Any) -> Constraint:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("kind"), str):
        raise ModelError(f"is {_show(entry)}, expected a table with a kind")
    values = {key: value for key, value in entry.items() if key != "kind"}
    kind = entry["kind"]
    if kind in _JOINTS:
        loop: Constraint = getattr(Loop, kind)(**values)
        return loop
    if kind in _POINTS:
        return placed(Constraint, kind, values.pop("a", None), values.pop("b", None), **values)
    if kind == "coupling":
        return coupling_of(**values)
    raise ModelError(f"kind is {_show(kind)}, expected one of {', '.join(_KINDS)}{did_you_mean(kind, _KINDS)}")
