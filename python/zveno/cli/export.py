"""``zveno export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.table import Table
from rich.text import Text

from .. import Error
from ..codegen.export import compile_command
from ..codegen.export import export as export_code
from .output import MODEL_HELP, SNAP, fail, load, new_console, new_table, one_line, show

if TYPE_CHECKING:
    from ..codegen.function import Level, TracedFunction


def export(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory to write to.")],
    function: Annotated[str, typer.Option(help="What to compute: any numeric method of Chain.")] = "inverse_dynamics",
    lang: Annotated[str, typer.Option(help="Language: c.")] = "c",
    method: Annotated[str | None, typer.Option(help="Algorithm, where there is a choice.")] = None,
    link: Annotated[str | None, typer.Option(help="Link, for pose, jacobian and jacobian_rate.")] = None,
    frame: Annotated[str | None, typer.Option(help="Axes of the result, where there is a choice.")] = None,
    parameters: Annotated[
        str, typer.Option(help="fixed: inertial parameters are numbers in the code; symbolic: arguments of it.")
    ] = "fixed",
    level: Annotated[str, typer.Option(help="strict: the bits of the kernel; algebraic: fewer operations.")] = "strict",
    snap: Annotated[
        float,
        typer.Option(help="Angles of the file so close to a right angle, rad, are one: 1e-5 if it prints 1.5708."),
    ] = SNAP,
    single: Annotated[bool, typer.Option("--float", help="float instead of double.")] = False,
    batch: Annotated[int, typer.Option(help="Also a function for so many states at once.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write one function of a model as C99 without branches: source, header, self-test, CMake file, description."""
    if lang != "c":
        fail(f"export: --lang is {lang!r}, expected 'c'", 2)
    chain, warned = load("export", model, snap=snap)
    try:
        traced = chain.trace(
            function,
            method=method,
            link=link,
            frame=frame,
            parameters=parameters if parameters in ("fixed", "symbolic") else parameters.split(","),
            level=cast("Level", level),
        )
        paths = export_code(traced, out, real="float" if single else "double", batch=batch, overwrite=force)
    except FileExistsError as error:
        fail(f"export: {error.filename} exists; give another directory with -o, or --force", 1)
    except OSError as error:
        fail(f"export: cannot write {str(error.filename or out)!r}: {error.strerror or error}", 1)
    except ArithmeticError as error:
        fail(f"export: {one_line(error)}", 1)
    except (Error, ValueError, TypeError) as error:
        fail(f"export: {one_line(error)}", 2)
    for line in warned:
        typer.echo(f"Warning: {line}", err=True)
    show(new_console(), [Text(traced.title, "bold"), _export_table(traced)])
    typer.echo("\n".join(["Written", *(f"  {path}" for path in paths), ""]))
    typer.echo(f"Compile and test\n  {compile_command(paths[0], paths[2])}")


def _export_table(traced: TracedFunction) -> Table:
    table = new_table("Operations of one call", ["", "mul", "add", "div", "sqrt", "trig", "total"])
    counts = {"kernel as written": traced.kernel_operations, f"generated code, {traced.level}": traced.operations}
    for name, count in counts.items():
        if count is not None:
            parts = (count.mul, count.add, count.div, count.sqrt, count.trig, count.total)
            table.add_row(name, *(f"{part:,}" for part in parts))
    return table
