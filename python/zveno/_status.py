"""Statuses of rows in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from . import _core
from ._check import as_integer


def in_words(status: SupportsIndex, part: str, names: Sequence[str], joints: Sequence[str] = ()) -> str:
    """What a status says; `part` is what its part is called, `names` are those of the parts.

    `joints` are names of what moves no mass, where that is no part.
    """
    code = as_integer("explain", "status", status, 0, max(len(names), len(joints)) << 8 | 0xFF)
    if code == 0:
        return "computed"
    index = (code >> 8) - 1
    try:
        _, key, text = _core.cause(code & 0xFF)
        if joints and key == "moves no mass":
            part, names = "joint", joints
        if index >= len(names):
            raise ValueError
    except ValueError:
        raise ValueError(f"explain: status is {code}, expected the code of a row, as .status has it") from None
    return f"the state {text}" if index < 0 else f"{part} {names[index]} {text}"
