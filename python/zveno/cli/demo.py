"""``zveno demo``."""

from __future__ import annotations

import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from .. import Error
from .._page import as_url
from .jobs import JOBS, Outcome
from .output import fail, new_console, new_table, one_line, require_file
from .page import Section, page, picture, source_of


def demo(
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="The page to write, .html (default: a temporary file).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the name of the page.")] = False,
) -> None:
    """Do the main jobs in under a minute and leave one page to look at.

    An arm, a docking ring under a contact pulse, compiled code, operation counts.
    """
    require_file("demo", "--out", out)
    if out is not None and Path(out).suffix.lower() not in {".html", ".htm"}:
        fail(f"demo: --out is {out!r}, expected a name ending in .html", 2)
    if out is not None and Path(out).exists() and not force:
        fail(f"demo: {out} exists; give another name with -o, or --force", 1)
    start = time.perf_counter()
    drawing = find_spec("matplotlib") is not None
    sections: list[Section] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = new_console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("", total=2 * len(JOBS))
        for job in JOBS:
            progress.update(task, description=f"{job.title:36}")
            missing = bool(job.needs) and find_spec(job.needs) is None
            if missing:
                outcome = Outcome([f"Left out: {job.needs} is not installed ({job.install})."])
            else:
                try:
                    outcome = job.show(job.run())
                except Error as error:
                    fail(f"demo: {job.title}: {one_line(error)}", 1)
            progress.advance(task)
            figures = [as_url(outcome.moving.encode())] if outcome.moving else []
            figures += [picture(draw) for draw in outcome.figures] if drawing else []
            note = "" if drawing or not outcome.figures else 'No figures: pip install "zveno[plot]" brings matplotlib.'
            sections.append(Section(job.title, source_of(job.run), outcome.text, outcome.table, figures, note))
            progress.advance(task)
    seconds = time.perf_counter() - start
    text = page(sections, seconds)
    try:
        path = _write(text, out)
    except OSError as error:
        fail(f"demo: cannot write {str(error.filename or out)!r}: {error.strerror or error}", 1)
    if quiet:
        typer.echo(path)
        return
    shown = new_console()
    for section in sections:
        _show(shown, section)
    typer.echo(f"{seconds:.0f} s. One page with figures and the code that made them:\n{path}")


def _show(console: Console, section: Section) -> None:
    console.print(Text(section.title, "bold"))
    for line in section.text:
        console.print(Text(line))
    if section.table:
        table = new_table("", section.table[0])
        table.title = None
        for row in section.table[1:]:
            table.add_row(*row)
        console.print(table)
    console.print()


def _write(text: str, out: str | None) -> str:
    """All or nothing: the page takes its name when it is complete."""
    folder = Path(out).resolve().parent if out is not None else None
    handle, name = tempfile.mkstemp(".html", "zveno-demo-", folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        if out is not None:
            os.chmod(name, 0o644)
            os.replace(name, out)
    except BaseException:
        os.unlink(name)
        raise
    return out if out is not None else name
