"""What the commands share: messages, tables, reading a model."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import Chain, Error, Hexapod, Linkage, robots
from ..files import open_model
from ..model.leg import STANDARD

PICTURES: Final = (".jpeg", ".jpg", ".pdf", ".png", ".svg")
FILES: Final = {".urdf", ".xml", ".json"}
SNAP: Final = 1e-11  # as in Chain.from_urdf
MODELS: Final = (", ".join(robots.__all__), f"docking_ring:{'|'.join(STANDARD)}")
MODEL_HELP: Final = f"URDF file, JSON file of zveno, or a built-in model: {', '.join(MODELS)}."


def complete_model(incomplete: str) -> list[str]:
    """What Tab offers for a model: built-in names, and files and folders."""
    names = [*robots.__all__, *(f"docking_ring:{kind}" for kind in STANDARD)]
    folder = Path(incomplete).parent if "/" in incomplete else Path()
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    files = [f"{path}/" if path.is_dir() else str(path) for path in paths if path.suffix in FILES or path.is_dir()]
    return [name for name in (*names, *files) if name.startswith(incomplete)]


def complain(message: str) -> None:
    """One line on stderr; on a terminal it is broken between words, which a terminal would not do."""
    text = message
    if sys.stderr.isatty():
        width = max(20, shutil.get_terminal_size().columns)
        lines = textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        text = "\n".join(lines)
    typer.echo(text, err=True)


def fail(message: str, code: int) -> NoReturn:
    complain(f"zveno {message}")
    raise typer.Exit(code)


def new_console(*, stderr: bool = False) -> Console:
    # names from model files are data, never markup
    plain = {"color_system": None} if os.environ.get("NO_COLOR") else {}
    return Console(stderr=stderr, markup=False, highlight=False, **plain)  # type: ignore[arg-type]


def new_table(title: str, columns: Iterable[str], *, left: int = 1, gap: int = 2) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD, show_edge=False, title_justify="left", title_style="bold")
    table.padding = (0, gap - 1, 0, 0)  # the box adds one space between columns
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k < left else "right", overflow="fold")
    return table


def bullets(title: str, lines: Iterable[str], style: str) -> Table:
    table = Table.grid(padding=(0, 1))
    table.title, table.title_justify, table.title_style = title, "left", style
    for line in lines:
        table.add_row("-", line)
    return table


def show(console: Console, parts: Iterable[Table | Text]) -> None:
    for part in parts:
        console.print(part)
        console.print()


def write_json(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data, indent=2, allow_nan=False) + "\n")


def load(command: str, model: str) -> tuple[Chain | Hexapod, list[str]]:
    """The chain or hexapod of a file, or a built-in one, and the warnings about it."""
    found, messages = load_any(command, model)
    if isinstance(found, Linkage):
        fail(f"{command}: {model} is a linkage, expected a chain or a hexapod", 1)
    return found, messages


def load_any(
    command: str, model: str, *, strict: bool = False, snap: float = SNAP
) -> tuple[Chain | Hexapod | Linkage, list[str]]:
    """The model of a file, or a built-in one, and the warnings about it."""
    if not (math.isfinite(snap) and 0 <= snap < 0.1):
        fail(f"{command}: --snap is {snap:g}, expected 0 to 0.1 rad", 2)
    if not model:
        fail(f"{command}: the model is '', expected a file or a built-in model: {', '.join(MODELS)}", 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = open_model(model, strict=strict, snap=snap)
        except OSError as error:
            fail(f"{command}: cannot read {model!r}: {error.strerror or one_line(error)}", 1)
        except (Error, ValueError, TypeError, RecursionError) as error:
            text = one_line(error)
            fail(f"{command}: {text if model in text else f'{model}: {text}'}", 1)
    return found, [str(item.message) for item in caught]


def require_file(command: str, option: str, text: str | None) -> None:
    """Refuse a file that cannot be written before any work is done; nothing is left behind."""
    if text is None:
        return
    if not text:
        fail(f"{command}: {option} is '', expected the name of a file", 2)
    path = Path(text)
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        fail(f"{command}: {option}: cannot write {text!r}: {error.strerror}", 2)
    if not existed:
        path.unlink()


def require_picture(command: str, option: str, text: str | None) -> None:
    """Refuse a figure that cannot be drawn or written before any work is done."""
    if text and Path(text).suffix.lower() not in PICTURES:
        fail(f"{command}: {option} is {text!r}, expected a name ending in {', '.join(PICTURES)}", 2)
    if text and find_spec("matplotlib") is None:
        fail(f'{command}: {option} needs matplotlib, install it with: pip install "zveno[plot]"', 2)
    require_file(command, option, text)


def one_line(error: Exception) -> str:
    """What went wrong, without the name of the function that noticed it."""
    text = " ".join(str(error).split())
    return re.sub(r"^(compile|trace|c_source|c_library|export|identify|open_model|load): ", "", text)
