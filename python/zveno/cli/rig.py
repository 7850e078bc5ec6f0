"""``zveno rig margin``, ``zveno rig measure``, ``zveno rig describe``."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer
from rich.text import Text

from .. import Error, Hexapod, Stepper, laws
from .output import (
    MODEL_HELP,
    complain,
    complete_model,
    fail,
    new_console,
    new_table,
    one_line,
    require_file,
    require_picture,
    write_json,
)
from .rig_options import RIG_HELP, model_of, with_options

if TYPE_CHECKING:
    from ..rigs import Rig
    from ..rigs.compensation import Compensation

# of what was asked for rightly; ArithmeticError: results that are not finite
FAILURES: Final = (Error, ImportError, OSError, ArithmeticError, MemoryError)

app = typer.Typer(
    name="rig",
    help="Hardware-in-the-loop rigs: is the force loop stable, how long does a step take, what goes in and out.",
    no_args_is_help=True,
)

Law = Annotated[
    str | None, typer.Option("--law", help="Spring and damper of every drive: STIFFNESS,DAMPING; N/m or N m/rad.")
]

Outputs = Annotated[str | None, typer.Option(help="Which of them, as ring.position,stroke; default: all.")]


def _numbers(command: str, option: str, text: str, least: int, most: int, what: str) -> list[float]:
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not least <= len(numbers) <= most:
        fail(f"rig {command}: {option} is {text!r}, expected {what}", 2)
    return numbers


def _law(command: str, text: str | None) -> laws.Law | None:
    if text is None:
        return None
    numbers = _numbers(command, "--law", text, 1, 2, "a stiffness, or stiffness and damping: 400,80")
    try:
        return laws.SpringDamper(*numbers)
    except ValueError as error:
        fail(f"rig {command}: --law: {one_line(error)}", 2)


def _refused(command: str, error: Exception) -> NoReturn:
    """What the library does not take, by the name of the option."""
    fail(f"rig {command}: {_without_function(error)}", 2)


def _without_function(error: Exception) -> str:
    return re.sub(r"^[\w.]+: ", "", one_line(error))


def _failed(command: str, error: Exception) -> NoReturn:
    text = one_line(error)
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
    fail(f"rig {command}: {text or type(error).__name__}", 1)


@app.command()
def margin(
    model: Annotated[
        str | None,
        typer.Argument(
            help="Docking ring instead of --mass: a JSON file or docking_ring:UPS.", autocompletion=complete_model
        ),
    ] = None,
    mass: Annotated[float | None, typer.Option(help="Reduced mass m_A m_B/(m_A + m_B), kg.")] = None,
    stiffness: Annotated[float | None, typer.Option(help="Of the contact, N/m; of a ring per m of its face.")] = None,
    damping: Annotated[float, typer.Option(help="Of the contact, N s/m; of a ring per m of its face.")] = 0.0,
    delay: Annotated[float, typer.Option(help="Of the whole loop, s.")] = 0.0,
    period: Annotated[float | None, typer.Option(help="Of the software, s.")] = None,
    lag: Annotated[str | None, typer.Option(help="Time constants of filters, s: T or T,T,...")] = None,
    robot: Annotated[str | None, typer.Option(help="What carries the hardware: rad/s,damping ratio.")] = None,
    integrator: Annotated[str, typer.Option(help="Of the mass: semi-implicit, exact or explicit.")] = "semi-implicit",
    lead: Annotated[float | None, typer.Option(help="Compensation: lead, s.")] = None,
    damper: Annotated[float | None, typer.Option(help="Compensation: virtual damper, N s/m.")] = None,
    predict: Annotated[float | None, typer.Option(help="Compensation: stiffness of a predictor, N/m.")] = None,
    law: Law = None,
    plot: Annotated[str | None, typer.Option(help="Write a stability map: a PNG, SVG or PDF file.")] = None,
    over: Annotated[str, typer.Option(help="What the map is over: two of mass, stiffness, damping, delay.")] = "",
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Is the force loop of a rig stable, how far from the limit is it, and what would help.

    zveno rig margin --mass 100 --stiffness 1e4 --damping 100 --delay 8e-3 --plot map.png
    """
    from .. import rigs

    require_picture("rig margin", "--plot", plot)
    if over and plot is None:
        fail("rig margin: --over is given, but no --plot", 2)
    given: dict[str, Any] = {"delay": delay, "period": period, "integrator": integrator}
    if lag is not None:
        given["lag"] = _numbers("margin", "--lag", lag, 1, 8, "times: 2e-3 or 2e-3,1e-3")
    if robot is not None:
        given["robot"] = _numbers("margin", "--robot", robot, 2, 2, "frequency and damping ratio: 200,0.7")
    try:
        if model is not None:
            for option, value in (("--damper", damper), ("--predict", predict)):
                if value is not None:
                    fail(
                        f"rig margin: {option} is given, but a ring has six axes; in Python it takes a (6, 6) array", 2
                    )
            rig = _of_ring(model, stiffness, damping, law, mass, given)
        else:
            if mass is None or stiffness is None:
                missing = "--mass" if mass is None else "--stiffness"
                fail(f"rig margin: {missing} is missing; give --mass and --stiffness, or a docking ring", 2)
            if law is not None:
                fail("rig margin: --law is given, but no ring", 2)
            rig = rigs.Rig(mass, stiffness, damping, **given)
        means: list[rigs.compensation.Compensation] = []
        for option, kind, value in (
            ("--lead", rigs.Lead, lead),
            ("--damper", rigs.VirtualDamper, damper),
            ("--predict", rigs.Predictor, predict),
        ):
            if value is not None:
                means.append(_compensation(option, kind, value))
        verdict, found = rig.verdict(means), rig.margin(means or None)
        if plot is not None:
            axes = over.split(",") if over else ["stiffness", "delay" if delay else "mass"]
            rigs.chart(rig, axes, compensation=means).plot().savefig(plot, dpi=150)
    except (ValueError, TypeError) as error:
        _refused("margin", error)
    except FAILURES as error:
        _failed("margin", error)
    if json_output:
        numbers = {"delay": found.delay, "frequency": found.frequency, "restitution_delay": found.restitution_delay}
        write_json(
            {
                "stable": verdict.stable,
                "delay": verdict.delay,
                "limit": _finite(verdict.limit),
                "restitution": verdict.restitution,
                "margin": {
                    key: None if value is None or value - value != 0 else value for key, value in numbers.items()
                },
                "remedies": list(verdict.remedies),
                "text": str(verdict),
            }
        )
        return
    typer.echo("\n".join(textwrap.wrap(str(verdict), 80)))
    typer.echo("\n".join(textwrap.wrap(f"Margin: {found}.", 80)))
    if plot is not None:
        typer.echo(f"Written {plot}")


def _compensation(option: str, kind: Callable[[float], Compensation], value: float) -> Compensation:
    try:
        return kind(value)
    except ValueError as error:
        # "time is -1, expected ...": the library's name for it is not the option's
        fail(f"rig margin: {option} is {_without_function(error).partition(' is ')[2]}", 2)


def _finite(value: float | None) -> float | None:
    """What JSON has a number for."""
    return value if value is not None and math.isfinite(value) else None


def _of_ring(
    model: str, stiffness: float | None, damping: float, law: str | None, mass: float | None, given: dict[str, Any]
) -> Rig:
    from .. import rigs

    ring, options, warned = model_of("rig margin", model)
    for line in warned:
        complain(f"Warning: {line}")
    if not isinstance(ring, Hexapod):
        fail(
            f"rig margin: {model} is a {type(ring).__name__.lower()}, expected a docking ring; of one axis give --mass",
            2,
        )
    if mass is not None:
        fail("rig margin: --mass and a ring are given, expected one of them", 2)
    if stiffness is None:
        fail("rig margin: --stiffness is missing, that of the ring's face: 4e5 N/m per m", 2)
    face = rigs.FaceContact(stiffness, damping / stiffness if stiffness else 0.0)
    drives = options.get("laws") if law is None else _law("margin", law)
    return rigs.Rig.of_ring(ring, laws=drives, contact=face, **given)


def _mechanism(
    command: str, model: str, law: str | None, outputs: str | None, **given: Any
) -> tuple[Any, dict[str, Any]]:
    """A mechanism and the options of its steps, from a file of `save_rig` too."""
    mechanism, options, warned = model_of(f"rig {command}", model)
    for line in warned:
        complain(f"Warning: {line}")
    chosen = None if outputs is None else outputs.split(",")
    return mechanism, with_options(options, laws=_law(command, law), outputs=chosen, **given)


@app.command()
def measure(
    model: Annotated[str, typer.Argument(help=f"{MODEL_HELP} {RIG_HELP}", autocompletion=complete_model)],
    steps: Annotated[int, typer.Option(help="How many.")] = 1_000_000,
    pace: Annotated[float, typer.Option(help="Time from step to step, s; 0: one right after another.")] = 0.0,
    period: Annotated[float | None, typer.Option(help="Of simulated time in a step, s; default: 1e-3.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Of a step, s; default: pace or period.")] = None,
    fifo: Annotated[bool, typer.Option("--fifo", help="Also with SCHED_FIFO and locked memory, if permitted.")] = False,
    law: Law = None,
    substeps: Annotated[int | None, typer.Option(help="Of the integrator in a period; default: 1.")] = None,
    outputs: Outputs = None,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Write a report: a JSON file.")] = None,
    plot: Annotated[str | None, typer.Option(help="Write the histogram: a PNG, SVG or PDF file.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Time single steps of a mechanism in the C library: percentiles, maximum, page faults, context switches.

    zveno rig measure docking_ring:UPS --law 400,80 --steps 1000000
    """
    from .. import rigs

    require_file("rig measure", "--out", out)
    require_picture("rig measure", "--plot", plot)
    mechanism, options = _mechanism("measure", model, law, outputs, period=period, substeps=substeps)
    runs = []
    try:
        for realtime in (False, True) if fifo else (False,):
            runs.append(
                rigs.measure(mechanism, steps=steps, pace=pace, deadline=deadline, realtime=realtime, **options)
            )
        if plot is not None:
            runs[-1].plot().savefig(plot, dpi=150)
    except (ValueError, TypeError) as error:
        _refused("measure", error)
    except FAILURES as error:
        _failed("measure", error)
    data = {"runs": [run.to_dict() for run in runs]}
    if out is not None:
        import json

        try:
            Path(out).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            fail(f"rig measure: --out: cannot write {out!r}: {error.strerror or one_line(error)}", 1)
    if json_output:
        write_json(data)
        return
    typer.echo("\n".join(map(str, runs)))
    for path in filter(None, (out, plot)):
        typer.echo(f"Written {path}")


@app.command()
def describe(
    model: Annotated[str, typer.Argument(help=f"{MODEL_HELP} {RIG_HELP}", autocompletion=complete_model)],
    law: Law = None,
    period: Annotated[float | None, typer.Option(help="Of a step, s; default: 1e-3.")] = None,
    outputs: Outputs = None,
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Show inputs and outputs of a step in C: names, places in the arrays, units."""
    mechanism, options = _mechanism("describe", model, law, outputs, period=period)
    try:
        stepper, name = Stepper(mechanism, **options), getattr(mechanism, "name", "docking")
    except (ValueError, TypeError) as error:
        _refused("describe", error)
    except FAILURES as error:
        _failed("describe", error)
    sides = {"inputs": stepper.inputs, "outputs": stepper.outputs}
    if json_output:
        write_json(
            {"name": name, "period": stepper.period, "kernels": stepper.kernels}
            | {
                side: [
                    {"name": key, "offset": part.start, "size": part.stop - part.start, "unit": stepper.units[key]}
                    for key, part in channels.items()
                ]
                for side, channels in sides.items()
            }
        )
        return
    console = new_console()
    console.print(Text(f"{name}: a step of {1e3 * stepper.period:g} ms, kernels {stepper.kernels}", "bold"))
    for side, channels in sides.items():
        table = new_table(side.capitalize(), ["name", "unit", "from", "numbers"], left=2)
        for key, part in channels.items():
            table.add_row(key, stepper.units[key], str(part.start), str(part.stop - part.start))
        console.print(table)
