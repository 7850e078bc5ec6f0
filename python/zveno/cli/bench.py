"""``zveno bench``."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from ..bench import mass_matrix as study
from ..bench.published import PUBLISHED, Polynomial
from ..bench.timing import StudyError
from ..opcount import OpCount, format_polynomial
from . import INSTALL
from .output import bullets, fail, new_console, new_table, show, write_json

DEFAULT_FIGURE: Final = Path("zveno-bench.png")


def bench(
    max_n: Annotated[int, typer.Option("--max-n", help=f"Largest number of joints, 2 to {study.SIZES[-1]}.")] = (
        study.DEFAULT_MAX_N
    ),
    against: Annotated[str | None, typer.Option(help="Also time another engine: pinocchio.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write everything to this file; - for stdout.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(help=f"Figure, .png or .svg (default {DEFAULT_FIGURE}).")] = None,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Draw no figure.")] = False,
    seconds: Annotated[float, typer.Option(help="Time to spend on each measurement, s.")] = 0.1,
    repeat: Annotated[int, typer.Option(help="Smallest number of turns of each measurement.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the random chains and states.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No tables, no progress bar.")] = False,
) -> None:
    """Count operations and measure times of the mass-matrix algorithms over the chain length N."""
    if against not in (None, study.RIVAL):
        fail(f"bench: --against is {against!r}, expected '{study.RIVAL}'", 2)
    if against and importlib.util.find_spec("pinocchio") is None:
        fail("bench: --against pinocchio needs Pinocchio, install it with: pip install pin", 2)
    if not (math.isfinite(seconds) and seconds > 0 and repeat > 0 and seed >= 0):
        fail(
            f"bench: --seconds {seconds:g} --repeat {repeat} --seed {seed}: expected positive seconds and repeat, "
            "and a seed of at least 0",
            2,
        )
    picture, note = _figure_path(figure, no_figure)
    if json_file not in (None, "-"):
        _require_writable("--json", Path(json_file or ""))
    try:
        steps = study.steps(max_n)
    except StudyError as error:
        fail(f"bench: --max-n: {error}", 2)

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=new_console(stderr=True), transient=True, disable=quiet) as progress:
        task = progress.add_task("", total=steps)

        def report(what: str) -> None:
            progress.update(task, description=f"{what:24}", completed=next(done))

        done = iter(range(steps))
        try:
            result = study.run(
                max_n, seconds=seconds, repeat=repeat, seed=seed, against=against is not None, report=report
            )
        except StudyError as error:
            fail(f"bench: {error}", 1)

    if not quiet and json_file != "-":
        console = new_console()
        show(console, _bench_report(result, ascii_only=not console.encoding.startswith("utf")))
    messages = new_console(stderr=json_file == "-")
    try:
        if json_file is not None:
            write_json(result.to_dict(), json_file)
        if picture is not None:
            from ..plot.bench import save_bench_figure

            save_bench_figure(result, picture)
            note = f"Figure: {picture}"
    except OSError as error:
        fail(f"bench: cannot write {error.filename or picture}: {error.strerror}", 1)
    if note and not quiet:
        messages.print(note, soft_wrap=True)


def _figure_path(figure: Path | None, no_figure: bool) -> tuple[Path | None, str]:
    """Where to draw, checked before anything is measured, and a note where nothing is drawn."""
    if no_figure:
        return None, ""
    if importlib.util.find_spec("matplotlib") is None:
        if figure is not None:
            fail(f"bench: --figure needs matplotlib, install it with: {INSTALL}", 2)
        return None, f"No figure: matplotlib is not installed ({INSTALL})."
    path = figure or DEFAULT_FIGURE
    if path.suffix not in {".png", ".svg"}:
        fail(f"bench: --figure is {str(path)!r}, expected a name ending in .png or .svg", 2)
    _require_writable("--figure", path)
    return path, ""


def _require_writable(option: str, path: Path) -> None:
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        fail(f"bench: {option}: cannot write {str(path)!r}: {error.strerror}", 2)
    if not existed:
        path.unlink()


def _bench_report(result: study.Study, *, ascii_only: bool) -> Iterable[Table | Text]:
    machine = result.machine
    features = machine["features"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield Text(
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, {features['selected']} "
        f"({features['lanes']} lanes)\n{versions}\n"
        f"Mass matrix of all-revolute chains of general geometry, N joints, seed {result.seed}"
    )
    yield _operations_table(result)
    yield from _polynomial_tables(result, ascii_only=ascii_only)
    yield _time_table(result, "Time of one call from Python, one state, microseconds", lambda m: m.single)
    yield _time_table(result, "Time per state in a batch, one thread, microseconds", lambda m: m.batch)
    if result.rival:
        yield _rival_table(result)
    yield bullets("Verdict", study.verdict(result), "bold")


def _method_headers() -> list[str]:
    return [method.replace("-", "-\n") for method in study.METHODS]


def _emphasised(cells: Sequence[str], best: int) -> list[Text]:
    return [Text(cell, style="bold green" if k == best else "") for k, cell in enumerate(cells)]


def _operations_table(result: study.Study) -> Table:
    table = new_table(
        "Operations; own = mul + add without the kinematics", ["N", "", *_method_headers()], left=0, gap=1
    )
    for n in result.sizes:
        row = [result[method, n] for method in study.METHODS]
        best = min(range(len(row)), key=lambda k: row[k].flops)
        picks: dict[str, Callable[[OpCount], int]] = {
            "mul": lambda c: c.mul,
            "add": lambda c: c.add,
            "own": lambda c: c.own.mul + c.own.add,
        }
        for label, pick in picks.items():
            cells = _emphasised([f"{pick(item.count):,}" for item in row], best)
            table.add_row(str(n) if label == "mul" else "", label, *cells)
    return table


def _polynomial_tables(result: study.Study, *, ascii_only: bool) -> Iterable[Table]:
    def show(polynomial: Polynomial | None) -> str:
        return "-" if polynomial is None else format_polynomial(polynomial, compact=not ascii_only)

    total = new_table("mul + add with kinematics, exactly", ["", "printed", "corrected", "our kernel"], gap=1)
    own = new_table("Own part, exactly", ["", "", "corrected", "our kernel"], left=2)
    for method, fit in result.fits.items():
        published = PUBLISHED[method]
        total.add_row(method, show(published.printed), show(published.total), show(fit.total))
        own.add_row(method, "mul", show(published.own_mul), show(fit.own_mul))
        own.add_row("", "add", show(published.own_add), show(fit.own_add))
    total.caption = (
        "Printed: the table of Yaskevich. Kinematics in base axes: 246N there, corrected 243N. kosynka: only its cost "
        "is published, the corrected column counts a reconstruction."
    )
    total.caption_justify = "left"
    yield total
    yield own


def _digits(value: float) -> str:
    """Three significant digits, never an exponent."""
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}"


def _time_table(result: study.Study, title: str, seconds: Callable[[study.Measurement], float]) -> Table:
    table = new_table(title, ["N", *_method_headers()], left=0)
    for n in result.sizes:
        times = [seconds(result[method, n]) * 1e6 for method in study.METHODS]
        table.add_row(str(n), *_emphasised([_digits(t) for t in times], times.index(min(times))))
    return table


def _rival_table(result: study.Study) -> Table:
    headers = ["N", "Pinocchio\none state", "crba\nfaster", "fastest\nfaster"]
    table = new_table(
        "Pinocchio's CRBA from Python, microseconds; we are x times faster",
        [*headers, "Pinocchio\nin a loop", "crba batch\nfaster", "fastest\nfaster"],
        left=0,
    )
    for n in result.sizes:
        rows = [result[method, n] for method in study.METHODS]
        cells = []
        for position, own in enumerate(([m.single for m in rows], [m.batch for m in rows])):
            rival = result.rival[n][position]
            cells += [_digits(rival * 1e6), f"{rival / own[0]:.1f}x", f"{rival / min(own):.1f}x"]
        table.add_row(str(n), *cells)
    return table
