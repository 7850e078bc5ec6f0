"""``zveno export``."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer
from rich.table import Table
from rich.text import Text

from .. import Chain, Error, Hexapod, Linkage, Section, _core
from .._check import did_you_mean
from ..codegen.export import compile_command, prepare
from ..deploy.step import export_step
from .output import MODEL_HELP, SNAP, complain, complete_model, fail, load_any, new_console, new_table, one_line, show
from .rig_options import model_of, with_options

if TYPE_CHECKING:
    from ..codegen.function import TracedFunction

DEFAULT: Final = {"chain": "inverse_dynamics", "hexapod": "forward_dynamics", "linkage": "forward_dynamics"}


def _functions() -> list[str]:
    """Everything that some model can compute."""
    return sorted({name for kind in DEFAULT for name in _rows(kind)})


def _rows(kind: str) -> dict[str, dict[str, Any]]:
    """Rows of the table by name."""
    return {row["name"]: row for row in _core.functions(kind) if not row["private"]}


def export(
    model: Annotated[str, typer.Argument(help=MODEL_HELP, autocompletion=complete_model)],
    out: Annotated[str, typer.Option("--out", "-o", help="Directory to write to.")],
    function: Annotated[
        list[str] | None,
        typer.Option(
            "--function",
            "-f",
            help="What to compute: a numeric method of Chain, Hexapod or Linkage; repeat it for several in one "
            "library. Default: inverse_dynamics, of rings and linkages forward_dynamics. step: a period of motion, "
            "see zveno.export_step.",
            autocompletion=lambda incomplete: [name for name in _functions() if name.startswith(incomplete)],
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Of files and library; default: after function or model.")] = None,
    lang: Annotated[str, typer.Option(help="Language: c.")] = "c",
    method: Annotated[str | None, typer.Option(help="Algorithm, where there is a choice.")] = None,
    link: Annotated[str | None, typer.Option(help="Link, for pose, jacobian, velocity and the like.")] = None,
    point: Annotated[str | None, typer.Option(help="Point of that link in its axes, m: x,y,z.")] = None,
    frame: Annotated[str | None, typer.Option(help="Axes of the result, where there is a choice.")] = None,
    about: Annotated[str | None, typer.Option(help="Point of momentum, where there is a choice.")] = None,
    section: Annotated[
        str | None,
        typer.Option(help="Cut for section_load, LINK:x,y,z or LINK:x,y,z:normal: point, m, and normal in link axes."),
    ] = None,
    parts: Annotated[str | None, typer.Option(help="Of section_load: total, static or dynamic.")] = None,
    external: Annotated[
        list[str] | None, typer.Option(help="Link with an external wrench as an argument; repeat it for several.")
    ] = None,
    external_frame: Annotated[str | None, typer.Option(help="Axes of external wrenches: world or link.")] = None,
    arguments: Annotated[
        str | None, typer.Option(help="Arrays that calls give, as q,qd,qdd,base_motion; the others are zero.")
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(help="Which of several results, as acceleration,reaction; of step: ring.position,stroke."),
    ] = None,
    parameters: Annotated[
        str,
        typer.Option(help="fixed: inertial parameters are numbers in the code; symbolic, or links a,b: arguments."),
    ] = "fixed",
    level: Annotated[str, typer.Option(help="strict: the bits of the kernel; algebraic: fewer operations.")] = "strict",
    snap: Annotated[
        float,
        typer.Option(help="Angles of a URDF so close to a right angle, rad, are one: 1e-5 if it prints 1.5708."),
    ] = SNAP,
    single: Annotated[bool, typer.Option("--float", help="float instead of double.")] = False,
    batch: Annotated[int, typer.Option(help="Also a function for so many states at once.")] = 0,
    period: Annotated[float | None, typer.Option(help="Of --function step: time between two steps, s.")] = None,
    substeps: Annotated[int | None, typer.Option(help="Of --function step: integrator steps in a period.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write functions of a model as C99 without branches: one header, source, self-test, CMake target, description.

    zveno export puma560 -f inverse_dynamics -f mass_matrix -o arm_c
    """
    if lang != "c":
        fail(f"export: --lang is {lang!r}, expected 'c'", 2)
    if "step" in (function or ()):
        if function != ["step"]:
            fail("export: --function step is exported alone, in a directory of its own", 2)
        others = {
            "--link": link,
            "--point": point,
            "--frame": frame,
            "--about": about,
            "--section": section,
            "--parts": parts,
            "--external-frame": external_frame,
            "--arguments": arguments,
            "--parameters": parameters if parameters != "fixed" else None,
            "--float": single or None,
            "--batch": batch or None,
        }
        for option, value in others.items():
            if value is not None:
                fail(f"export: {option} is given, which --function step does not have", 2)
        chosen = {"method": method, "external": external, "period": period, "substeps": substeps}
        chosen["outputs"] = None if outputs is None else outputs.split(",")
        return _export_step(model, out, name, level, snap, force, chosen)
    if period is not None or substeps is not None:
        fail("export: --period and --substeps are of --function step alone", 2)
    if not out:
        fail("export: -o is '', expected the name of a directory ('.' is this one)", 2)
    mechanism, warned = load_any("export", model, snap=snap)
    given: dict[str, Any] = {
        "method": method,
        "link": link,
        "point": None if point is None else _vector("--point", point),
        "frame": frame,
        "about": about,
        "parts": parts,
        "external": external or None,
        "external_frame": external_frame,
        "arguments": None if arguments is None else arguments.split(","),
        "outputs": None if outputs is None else outputs.split(","),
        "level": level,
    }
    if parameters != "fixed":
        given["parameters"] = parameters if parameters == "symbolic" else parameters.split(",")
    wanted = function or [DEFAULT[_kind(mechanism)]]
    try:
        if section is not None:
            given["section"] = _section(section)
        traced = [
            mechanism.trace(one, **options)
            for one, options in zip(wanted, _shared(mechanism, wanted, given), strict=True)
        ]
        package = prepare(traced, name=name, real="float" if single else "double", batch=batch)
        paths = package.write(out, overwrite=force)
    except FileExistsError as error:
        fail(f"export: {error.filename} exists; give another directory with -o, or --force", 1)
    except OSError as error:
        why = (error.strerror or str(error)).removeprefix("export: ")
        fail(f"export: cannot write {str(error.filename or out)!r}: {why}", 1)
    except ArithmeticError as error:
        fail(f"export: {one_line(error)}", 1)
    except (Error, ValueError, TypeError) as error:
        fail(f"export: {one_line(error)}", 2)
    for line in warned:
        complain(f"Warning: {line}")
    titles = [Text(item.title, "bold") for item in traced]
    sizes = new_table("Size, bytes", ["", "code", "stack"])
    for one, code in package.footprint.code.items():
        sizes.add_row(one, f"{code:,}", f"{package.footprint.stack[one]:,}")
    sizes.caption, sizes.caption_justify = package.footprint.how.replace("`", ""), "left"
    show(new_console(), [Text("\n").join(titles), _export_table(traced), sizes])
    typer.echo("\n".join(["Written", *(f"  {path}" for path in paths), ""]))
    command = f"{compile_command(Path(paths[0].name), Path(paths[2].name))} && ./{paths[2].stem}"
    typer.echo("Compile and test")
    typer.echo(_continued(f"cd {shlex.quote(str(paths[0].parent))} && {command}"))


def _export_step(
    model: str,
    out: str,
    name: str | None,
    level: str,
    snap: float,
    force: bool,
    chosen: dict[str, Any],
) -> None:
    """Write the step of a mechanism, or of a file of `save_rig`."""
    mechanism, options, warned = model_of("export", model, snap)
    if not isinstance(mechanism, Chain | Hexapod):
        fail(f"export: {model} is a linkage or a docking, expected a chain or a hexapod: `zveno fmu` exports it", 2)
    given = with_options(options, **chosen)
    try:
        paths = export_step(mechanism, out, name=name, overwrite=force, level=cast(Any, level), **given)
    except FileExistsError as error:
        fail(f"export: {error.filename} exists; give another directory with -o, or --force", 1)
    except OSError as error:
        fail(f"export: cannot write {str(error.filename or out)!r}: {error.strerror or error}", 1)
    except (Error, ValueError, TypeError) as error:
        fail(f"export: {one_line(error).removeprefix('export_step: ')}", 2)
    for line in warned:
        complain(f"Warning: {line}")
    typer.echo("\n".join(["Written", *(f"  {path}" for path in paths), ""]))
    command = f"{compile_command(Path(paths[0].name), Path(paths[2].name))} && ./{paths[2].stem}"
    typer.echo("Compile and test")
    typer.echo(_continued(f"cd {shlex.quote(str(paths[0].parent))} && {command}"))


def _continued(command: str) -> str:
    """A shell command on several lines that fit 80 columns."""
    lines = textwrap.wrap(command, 76, break_long_words=False, break_on_hyphens=False)
    return " \\\n".join(f"  {line}" for line in lines)


def _kind(mechanism: Chain | Hexapod | Linkage) -> str:
    return "chain" if isinstance(mechanism, Chain) else "hexapod" if isinstance(mechanism, Hexapod) else "linkage"


def _shared(mechanism: Chain | Hexapod | Linkage, functions: list[str], given: dict[str, Any]) -> list[Any]:
    """Of the options each function's own: those that no function takes are refused."""
    rows = _rows(_kind(mechanism))
    for function in functions:
        if function == "step":
            raise ValueError("--function step stands with others, expected it alone: it is a library of its own")
        if function not in rows:
            hint, expected = did_you_mean(function, rows), f", expected one of {', '.join(rows)}"
            raise ValueError(f"--function is {function!r}{hint or expected}")
    takes = {name: {slot["name"] for slot in row["parameters"]} for name, row in rows.items()}
    general = {"level"} | ({"parameters"} if isinstance(mechanism, Chain) else set())
    chosen = {key: value for key, value in given.items() if value is not None}

    def applies(key: str, function: str) -> bool:
        if key == "arguments":
            return set(chosen[key]) <= takes[function]
        if key == "outputs":
            return set(chosen[key]) <= {slot["name"] for slot in rows[function]["outputs"]}
        return key in general or key in takes[function]

    for key, value in chosen.items():
        if not any(applies(key, function) for function in functions):
            of = " and ".join(functions)
            raise ValueError(
                f"--{key.replace('_', '-')} is {_text(value)!r}, which {of} of {mechanism.name!r} cannot have"
            )
    return [{key: value for key, value in chosen.items() if applies(key, one)} for one in functions]


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _section(text: str) -> Section:
    link, *vectors = text.split(":")
    if not link or len(vectors) not in (1, 2):
        fail(f"export: --section is {text!r}, expected LINK:x,y,z or LINK:x,y,z:normal", 2)
    normal = _vector("normal of --section", vectors[1]) if vectors[1:] else None
    return Section(link, _vector("point of --section", vectors[0]), normal)


def _vector(option: str, text: str) -> list[float]:
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 3:
        fail(f"export: {option} is {text!r}, expected three numbers: x,y,z", 2)
    return numbers


def _export_table(functions: list[TracedFunction]) -> Table:
    table = new_table("Operations of one call", ["", "mul", "add", "div", "sqrt", "trig", "total"])
    for traced in functions:
        if len(functions) > 1:
            table.add_row(Text(traced.function, "bold"))
        counts = {"kernel as written": traced.kernel_operations, f"generated code, {traced.level}": traced.operations}
        for name, count in counts.items():
            if count is not None:
                parts = (count.mul, count.add, count.div, count.sqrt, count.trig, count.total)
                table.add_row(name, *(f"{part:,}" for part in parts))
    return table
