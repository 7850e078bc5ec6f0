"""Models by name or file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import mechanisms, robots
from .errors import ModelError
from .model import Chain, Hexapod
from .model.leg import STANDARD

__all__ = ["open_model"]


def open_model(text: str, **urdf_options: Any) -> Chain | Hexapod:
    """The model of a file (URDF, JSON of `to_dict`), or a built-in one: ``puma560``, ``docking_ring:UPS``.

    Examples
    --------
    >>> from zveno.files import open_model
    >>> open_model("docking_ring:UPS").nj
    3
    """
    path = Path(text)
    if path.exists():
        if path.suffix.lower() != ".json":
            return Chain.from_urdf(path, **urdf_options)
        data = json.loads(path.read_text(encoding="utf-8"))
        kind: Any = Hexapod if isinstance(data, dict) and data.get("format") == Hexapod._format else Chain
        return kind.from_dict(data)  # type: ignore[no-any-return]
    if text in robots.__all__:
        return getattr(robots, text)()  # type: ignore[no-any-return]
    name, _, kind = text.partition(":")
    if name == "docking_ring" and kind:
        return mechanisms.docking_ring(kind)
    names = ", ".join([*robots.__all__, *(f"docking_ring:{kind}" for kind in STANDARD)])
    raise ModelError(f"open_model: there is no file {text!r}, nor is it a built-in model: {names}")
