"""Command line: ``zveno bench``, ``info``, ``export`` and ``cpu``. Needs typer and rich (``zveno[cli]``)."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, cast

from . import Chain, Error, __version__, robots, study
from .export import compile_command
from .export import export as export_code
from .opcount import OpCount, format_polynomial, operations

if TYPE_CHECKING:
    from .compiled import Level, TracedFunction

INSTALL: Final = 'pip install "zveno[cli]"'

try:
    import typer
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in {"typer", "rich"}:
        raise
    raise SystemExit(f"zveno: the command line needs {error.name}, install it with: {INSTALL}") from None

app = typer.Typer(
    name="zveno",
    help="Rigid-body dynamics of chains: compare the algorithms, look into a model, get C code for it.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
DEFAULT_FIGURE: Final = Path("zveno-bench.png")
INFO_FUNCTIONS: Final = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")


def main() -> NoReturn:
    """Entry point of the console script; a wrong option is one line on stderr and exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="zveno", standalone_mode=False)
    except Exception as error:
        # typer's own usage errors, whichever module its version keeps them in
        if not hasattr(error, "format_message"):
            raise
        typer.echo(f"zveno: {error.format_message()}", err=True)
        code = getattr(error, "exit_code", 2)
    sys.exit(code)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"zveno {message}", err=True)
    raise typer.Exit(code)


def _console(*, stderr: bool = False) -> Console:
    # names from model files are data, never markup
    return Console(stderr=stderr, markup=False, highlight=False)


def _table(title: str, columns: Iterable[str], *, left: int = 1, gap: int = 2) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD, show_edge=False, title_justify="left", title_style="bold")
    table.padding = (0, gap - 1, 0, 0)  # the box adds one space between columns
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k < left else "right", overflow="fold")
    return table


def _bullets(title: str, lines: Iterable[str], style: str) -> Table:
    table = Table.grid(padding=(0, 1))
    table.title, table.title_justify, table.title_style = title, "left", style
    for line in lines:
        table.add_row("-", line)
    return table


def _print(console: Console, parts: Iterable[Table | Text]) -> None:
    for part in parts:
        console.print(part)
        console.print()


def _write_json(data: dict[str, Any], target: str) -> None:
    text = json.dumps(data, indent=2, allow_nan=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
    else:
        Path(target).write_text(text, encoding="utf-8")


def _version(show: bool) -> None:
    if show:
        typer.echo(f"zveno {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
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
        _fail(f"bench: --against is {against!r}, expected '{study.RIVAL}'", 2)
    if against and importlib.util.find_spec("pinocchio") is None:
        _fail("bench: --against pinocchio needs Pinocchio, install it with: pip install pin", 2)
    if not (math.isfinite(seconds) and seconds > 0 and repeat > 0 and seed >= 0):
        _fail(
            f"bench: --seconds {seconds:g} --repeat {repeat} --seed {seed}: expected positive seconds and repeat, "
            "and a seed of at least 0",
            2,
        )
    picture, note = _figure_path(figure, no_figure)
    if json_file not in (None, "-"):
        _require_writable("--json", Path(json_file or ""))
    try:
        steps = study.steps(max_n)
    except study.StudyError as error:
        _fail(f"bench: --max-n: {error}", 2)

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_console(stderr=True), transient=True, disable=quiet) as progress:
        task = progress.add_task("", total=steps)

        def report(what: str) -> None:
            progress.update(task, description=f"{what:24}", completed=next(done))

        done = iter(range(steps))
        try:
            result = study.run(
                max_n, seconds=seconds, repeat=repeat, seed=seed, against=against is not None, report=report
            )
        except study.StudyError as error:
            _fail(f"bench: {error}", 1)

    if not quiet and json_file != "-":
        console = _console()
        _print(console, _bench_report(result, ascii_only=not console.encoding.startswith("utf")))
    messages = _console(stderr=json_file == "-")
    try:
        if json_file is not None:
            _write_json(result.to_dict(), json_file)
        if picture is not None:
            from .plots import save_bench_figure

            save_bench_figure(result, picture)
            note = f"Figure: {picture}"
    except OSError as error:
        _fail(f"bench: cannot write {error.filename or picture}: {error.strerror}", 1)
    if note and not quiet:
        messages.print(note, soft_wrap=True)


def _figure_path(figure: Path | None, no_figure: bool) -> tuple[Path | None, str]:
    """Where to draw, checked before anything is measured, and a note where nothing is drawn."""
    if no_figure:
        return None, ""
    if importlib.util.find_spec("matplotlib") is None:
        if figure is not None:
            _fail(f"bench: --figure needs matplotlib, install it with: {INSTALL}", 2)
        return None, f"No figure: matplotlib is not installed ({INSTALL})."
    path = figure or DEFAULT_FIGURE
    if path.suffix not in {".png", ".svg"}:
        _fail(f"bench: --figure is {str(path)!r}, expected a name ending in .png or .svg", 2)
    _require_writable("--figure", path)
    return path, ""


def _require_writable(option: str, path: Path) -> None:
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        _fail(f"bench: {option}: cannot write {str(path)!r}: {error.strerror}", 2)
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
    yield _bullets("Verdict", study.verdict(result), "bold")


def _method_headers() -> list[str]:
    return [method.replace("-", "-\n") for method in study.METHODS]


def _emphasised(cells: Sequence[str], best: int) -> list[Text]:
    return [Text(cell, style="bold green" if k == best else "") for k, cell in enumerate(cells)]


def _operations_table(result: study.Study) -> Table:
    table = _table("Operations; own = mul + add without the kinematics", ["N", "", *_method_headers()], left=0, gap=1)
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
    def show(polynomial: study.Polynomial | None) -> str:
        return "-" if polynomial is None else format_polynomial(polynomial, compact=not ascii_only)

    total = _table("mul + add with kinematics, exactly", ["", "printed in (002)", "corrected", "our kernel"], gap=1)
    own = _table("Own part, exactly", ["", "", "corrected", "our kernel"], left=2)
    for method, fit in result.fits.items():
        published = study.PUBLISHED[method]
        total.add_row(method, show(published.printed), show(published.total), show(fit.total))
        own.add_row(method, "mul", show(published.own_mul), show(fit.own_mul))
        own.add_row("", "add", show(published.own_add), show(fit.own_add))
    total.caption = (
        "Kinematics in base axes: 246N in (002), corrected 243N. kosynka: only its cost is published, the corrected "
        "column counts a reconstruction."
    )
    total.caption_justify = "left"
    yield total
    yield own


def _digits(value: float) -> str:
    """Three significant digits, never an exponent."""
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}"


def _time_table(result: study.Study, title: str, seconds: Callable[[study.Measurement], float]) -> Table:
    table = _table(title, ["N", *_method_headers()], left=0)
    for n in result.sizes:
        times = [seconds(result[method, n]) * 1e6 for method in study.METHODS]
        table.add_row(str(n), *_emphasised([_digits(t) for t in times], times.index(min(times))))
    return table


def _rival_table(result: study.Study) -> Table:
    headers = ["N", "Pinocchio\none state", "crba\nfaster", "fastest\nfaster"]
    table = _table(
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


SNAP: Final = 1e-11  # as in Chain.from_urdf
MODEL_HELP: Final = f"URDF file, or a built-in robot: {', '.join(robots.__all__)}."


def _load(command: str, model: str, *, strict: bool = False, snap: float = SNAP) -> tuple[Chain, list[str]]:
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
                _fail(f"{command}: there is no file {model!r}, nor is it a built-in robot: {names}", 1)
        except OSError as error:
            _fail(f"{command}: cannot read {model!r}: {error.strerror or error}", 1)
        except (Error, ValueError) as error:
            _fail(f"{command}: {model}: {_one_line(error)}", 1)
    return chain, [str(item.message) for item in caught]


def _one_line(error: Exception) -> str:
    """What went wrong, without the name of the function that noticed it."""
    return re.sub(r"^(compile|c_source|export): ", "", " ".join(str(error).split()))


@app.command()
def info(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Show the joints, links, totals, operation counts and warnings of a model file."""
    data = _describe(*_load("info", model, strict=strict))
    if json_output:
        _write_json(data, "-")
    else:
        _print(_console(), _info_report(data))


def _describe(chain: Chain, messages: list[str]) -> dict[str, Any]:
    counts = {name: operations(chain, name) for name in INFO_FUNCTIONS}
    names = ("mul", "add", "div", "sqrt", "trig", "total")
    return {
        "name": chain.name,
        "base": chain.base_name,
        "n": chain.n,
        "serial": bool(chain.is_serial),
        "total_mass": float(chain.total_mass),
        "gravity": list(map(float, chain.gravity)),
        "links": [link.to_dict() for link in chain.links],
        "operations": {key: {name: getattr(count, name) for name in names} for key, count in counts.items()},
        "warnings": messages,
    }


def _info_report(data: dict[str, Any]) -> Iterable[Table | Text]:
    kind = "serial" if data["serial"] else "branching"
    gravity = ", ".join(f"{g:g}" for g in data["gravity"])
    yield Text.assemble(
        (data["name"], "bold"),
        f": {kind} chain, {data['n']} moving joints, {len(data['links'])} links\n"
        f"total mass {data['total_mass']:.6g} kg, base '{data['base']}', gravity ({gravity}) m/s^2",
    )

    joints = _table("Moving joints", ["#", "joint", "type", "axis", "range", "speed", "effort"], left=4, gap=1)
    links = _table("Links", ["link", "parent", "joint", "mass, kg", "centre of mass, m"], left=3)
    moving = 0
    for link in data["links"]:
        links.add_row(link["name"], link["parent"], link["joint"], f"{link['mass']:.4g}", _vector(link["com"]))
        if link["joint"] == "fixed":
            continue
        moving += 1
        unit, effort = ("rad", "N m") if link["joint"] == "revolute" else ("m", "N")
        bounded = link["lower"] is not None or link["upper"] is not None
        bounds = " .. ".join("-" if link[side] is None else f"{link[side]:.3g}" for side in ("lower", "upper"))
        joints.add_row(
            str(moving),
            link["joint_name"],
            link["joint"],
            _vector(link["axis"]),
            f"{bounds} {unit}" if bounded else "unlimited",
            "-" if link["velocity"] is None else f"{link['velocity']:.3g} {unit}/s",
            "-" if link["effort"] is None else f"{link['effort']:.3g} {effort}",
        )
    yield joints
    yield links

    counts = _table("Operations of one call", ["", "mul", "add", "div", "trig", "total"])
    for name, count in data["operations"].items():
        counts.add_row(name, *(f"{count[key]:,}" for key in ("mul", "add", "div", "trig", "total")))
    yield counts
    warned = data["warnings"]
    yield _bullets(f"Warnings ({len(warned)})", warned, "bold yellow") if warned else Text("No warnings.")


def _vector(values: Iterable[float]) -> str:
    return " ".join(f"{value:.3g}" for value in values)


@app.command()
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
        _fail(f"export: --lang is {lang!r}, expected 'c'", 2)
    chain, warned = _load("export", model, snap=snap)
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
        _fail(f"export: {error.filename} exists; give another directory with -o, or --force", 1)
    except OSError as error:
        _fail(f"export: cannot write {str(error.filename or out)!r}: {error.strerror or error}", 1)
    except ArithmeticError as error:
        _fail(f"export: {_one_line(error)}", 1)
    except (Error, ValueError, TypeError) as error:
        _fail(f"export: {_one_line(error)}", 2)
    for line in warned:
        typer.echo(f"Warning: {line}", err=True)
    _print(_console(), [Text(traced.title, "bold"), _export_table(traced)])
    typer.echo("\n".join(["Written", *(f"  {path}" for path in paths), ""]))
    typer.echo(f"Compile and test\n  {compile_command(paths[0], paths[2])}")


def _export_table(traced: TracedFunction) -> Table:
    table = _table("Operations of one call", ["", "mul", "add", "div", "sqrt", "trig", "total"])
    counts = {"kernel as written": traced.kernel_operations, f"generated code, {traced.level}": traced.operations}
    for name, count in counts.items():
        if count is not None:
            parts = (count.mul, count.add, count.div, count.sqrt, count.trig, count.total)
            table.add_row(name, *(f"{part:,}" for part in parts))
    return table


@app.command()
def cpu() -> None:
    """Show which instruction set the batch kernels use on this machine."""
    machine = study.machine()
    features = machine["features"]
    typer.echo(f"{machine['cpu']}, {machine['cores']} cores")
    typer.echo(f"selected: {features['selected']}, {features['lanes']} lanes")
    typer.echo(f"available: {', '.join(map(str, features['available']))}")


if __name__ == "__main__":
    main()
