"""What the commands that write steps and FMUs share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .. import Chain, Error, Hexapod
from ..deploy.description import FORMAT, RigOptions, read_rig
from .output import SNAP, fail, load, one_line


def model_of(command: str, model: str, snap: float = SNAP) -> tuple[Chain | Hexapod, RigOptions, list[str]]:
    """A mechanism, what a file of `save_rig` says besides, and warnings about it."""
    path = Path(model)
    if path.suffix == ".json" and path.is_file():
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            data = None  # `load` says what is wrong with it
        if isinstance(data, dict) and data.get("format") == FORMAT:
            try:
                description = read_rig(data)
            except (Error, ValueError, TypeError) as error:
                fail(f"{command}: {model}: {one_line(error)}", 1)
            return description.model, description.options(), []
    mechanism, warned = load(command, model, snap=snap)
    return mechanism, {}, warned


def with_options(options: RigOptions, **given: Any) -> dict[str, Any]:
    """Those of the file, changed by those of the command."""
    return {**options, **{key: value for key, value in given.items() if value is not None}}
