"""What the commands share: messages, tables, reading a model."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import Chain, Error, robots

SNAP: Final = 1e-11  # as in Chain.from_urdf
MODEL_HELP: Final = f"URDF file, or a built-in robot: {', '.join(robots.__all__)}."


def fail(message: str, code: int) -> NoReturn:
    typer.echo(f"zveno {message}", err=True)
    raise typer.Exit(code)


def new_console(*, stderr: bool = False) -> Console:
    # names from model files are data, never markup
    return Console(stderr=stderr, markup=False, highlight=False)


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


def write_json(data: dict[str, Any], target: str) -> None:
    text = json.dumps(data, indent=2, allow_nan=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
    else:
        Path(target).write_text(text, encoding="utf-8")


def load(command: str, model: str, *, strict: bool = False, snap: float = SNAP) -> tuple[Chain, list[str]]:
    """The chain of a file, or a built-in one, and the warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if Path(model).exists():
                chain = Chain.from_urdf(Path(model), strict=strict, snap=snap)
            elif model in robots.__all__:
                chain = getattr(robots, model)()
            else:
                names = ", ".join(robots.__all__)
                fail(f"{command}: there is no file {model!r}, nor is it a built-in robot: {names}", 1)
        except OSError as error:
            fail(f"{command}: cannot read {model!r}: {error.strerror or error}", 1)
        except (Error, ValueError) as error:
            fail(f"{command}: {model}: {one_line(error)}", 1)
    return chain, [str(item.message) for item in caught]


def one_line(error: Exception) -> str:
    """What went wrong, without the name of the function that noticed it."""
    return re.sub(r"^(compile|c_source|export): ", "", " ".join(str(error).split()))
