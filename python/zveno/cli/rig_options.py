"""What the commands that write steps and FMUs share."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Chain, Error, Hexapod, Linkage
from ..deploy.description import FORMAT, RigOptions, read_rig
from .output import SNAP, fail, load_any, one_line

if TYPE_CHECKING:
    from ..docking import Scenario

RIG_HELP = "Or a scenario of a docking, .toml or .json, or a file of save_rig."


def model_of(
    command: str, model: str, snap: float = SNAP
) -> tuple[Chain | Hexapod | Linkage | Scenario, RigOptions, list[str]]:
    """A mechanism, what a file of `save_rig` says besides, and warnings about it."""
    path = Path(model)
    data: Any = None
    if path.suffix == ".json" and path.is_file():
        with suppress(OSError, ValueError, RecursionError):  # `load_any` says what is wrong with it
            data = json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".toml" or (isinstance(data, dict) and "format" not in data and "chaser" in data):
        from ..docking import Scenario

        try:
            return Scenario.load(path), {}, []
        except OSError as error:
            fail(f"{command}: cannot read {model!r}: {error.strerror or one_line(error)}", 1)
        except (Error, ValueError, TypeError) as error:
            fail(f"{command}: {model}: {one_line(error)}", 1)
    if isinstance(data, dict) and data.get("format") == FORMAT:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                description = read_rig(data)
        except (Error, ValueError, TypeError, ArithmeticError) as error:
            fail(f"{command}: {model}: {one_line(error)}", 1)
        return description.model, description.options(), [str(item.message) for item in caught]
    mechanism, warned = load_any(command, model, snap=snap)
    if not isinstance(mechanism, Linkage):
        return mechanism, {}, warned
    try:
        q = mechanism.close(np.zeros(mechanism.n))
    except (Error, ValueError) as error:
        fail(f"{command}: {model}: no closed state to start from: {one_line(error)}; save_rig(q=...) gives one", 1)
    note = f"{model}: starts from the closed state found from zero coordinates; save_rig(q=...) gives another"
    return mechanism, {"q": q}, [*warned, note]


def with_options(options: RigOptions, **given: Any) -> dict[str, Any]:
    """Those of the file, changed by those of the command."""
    return {**options, **{key: value for key, value in given.items() if value is not None}}
