"""What the commands that write steps and FMUs share."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import Chain, Error, Hexapod
from ..deploy.description import FORMAT, RigOptions, read_rig
from .output import SNAP, fail, load_any, one_line

if TYPE_CHECKING:
    from .. import Linkage
    from ..docking import Scenario

RIG_HELP = "Or a scenario of a docking, .toml, or a file of save_rig."


def model_of(
    command: str, model: str, snap: float = SNAP
) -> tuple[Chain | Hexapod | Linkage | Scenario, RigOptions, list[str]]:
    """A mechanism, what a file of `save_rig` says besides, and warnings about it."""
    path = Path(model)
    if path.suffix == ".toml":
        from ..docking import Scenario

        try:
            return Scenario.load(path), {}, []
        except OSError as error:
            fail(f"{command}: cannot read {model!r}: {error.strerror or one_line(error)}", 1)
        except (Error, ValueError, TypeError) as error:
            fail(f"{command}: {model}: {one_line(error)}", 1)
    if path.suffix == ".json" and path.is_file():
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            data = None  # `load` says what is wrong with it
        if isinstance(data, dict) and data.get("format") == FORMAT:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    description = read_rig(data)
                except (Error, ValueError, TypeError, ArithmeticError) as error:
                    fail(f"{command}: {model}: {one_line(error)}", 1)
            return description.model, description.options(), [str(item.message) for item in caught]
    mechanism, warned = load_any(command, model, snap=snap)
    return mechanism, {}, warned


def with_options(options: RigOptions, **given: Any) -> dict[str, Any]:
    """Those of the file, changed by those of the command."""
    return {**options, **{key: value for key, value in given.items() if value is not None}}
