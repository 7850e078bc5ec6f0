"""``zveno dock``."""

from __future__ import annotations

import math
import os
import re
import warnings
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer
import typer.core
from rich.table import Table
from rich.text import Text

from .. import Error
from . import output
from .output import bullets, fail, new_console, new_table, require_file, require_picture, show, write_json

if TYPE_CHECKING:
    from ..docking import Box, Campaign, Cases, Docking, Scenario

NOT_CAPTURED: Final = 3
INTERRUPTED: Final = 130
EPILOG: Final = "Exit codes: 0 captured, 3 not captured, 2 bad input, 1 a failed run or a file that cannot be written."


class _Group(typer.core.TyperGroup):
    """Commands, and before them a command without a name: the docking of a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            args = ["--help"]
        elif args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return list(super().parse_args(ctx, args))


app: Final = typer.Typer(
    name="dock",
    cls=_Group,
    help="Dock two spacecraft: `zveno dock scenario.toml`, or `zveno dock --demo` with nothing at hand.",
    epilog=EPILOG,
)


@app.command("run", epilog=EPILOG)
def run(
    scenario: Annotated[str | None, typer.Argument(help="Scenario, a TOML or JSON file.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="The demo docking: 12 t against 350 t.")] = False,
    legs: Annotated[str, typer.Option("--legs", help="Legs of the demo: UPS, SPU, UCU, RUS, RSU.")] = "UPS",
    case: Annotated[str, typer.Option("--case", help="Demo: aligned, nominal or limit.")] = "nominal",
    t_end: Annotated[float, typer.Option("--t-end", help="End of the run, s.")] = 10.0,
    dt: Annotated[str, typer.Option("--dt", help="Step, s, or auto.")] = "0.001",
    plot: Annotated[str | None, typer.Option("--plot", help="Draw histories: .png, .svg or .pdf.")] = None,
    animate: Annotated[str | None, typer.Option("--animate", help="A page with the motion, .html.")] = None,
    save: Annotated[str | None, typer.Option("--save", help="Write the scenario, .toml or .json.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Run one docking: events, peak loads, energies. The command `run` may be left out."""
    from .. import docking

    require_picture("dock", "--plot", plot)
    if animate and not animate.lower().endswith((".html", ".svg")):
        fail(f"dock: --animate is {animate!r}, expected a name ending in .html or .svg", 2)
    require_file("dock", "--animate", animate)
    require_file("dock", "--save", save)
    if (scenario is None) != demo:
        fail("dock: give a scenario, or --demo", 2)
    try:
        chosen = docking.demo(legs, case) if scenario is None else _load(scenario)
        step = _step(dt)
        if save is not None:
            chosen.save(save)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = docking.simulate(chosen, t_end=t_end, dt=step)
    except (Error, ValueError, TypeError) as error:
        fail(f"dock: {one_line(error)}", 2)
    if json_output:
        write_json(_described(found))
    else:
        show(new_console(), _report(found, [str(item.message) for item in caught]))
    if plot is not None:
        _draw(found, plot)
    if animate is not None:
        found.animate(animate)
    if found.captured:
        return
    raise typer.Exit(NOT_CAPTURED if found.status == "not_captured" else 1)


@app.command("campaign", epilog="Exit codes: 0 done, 2 bad input, 1 a store that cannot be written, 130 interrupted.")
def campaign(
    scenario: Annotated[str | None, typer.Argument(help="Scenario, a TOML or JSON file.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="The demo docking.")] = False,
    legs: Annotated[str, typer.Option("--legs", help="Legs of the demo.")] = "UPS",
    n: Annotated[int | None, typer.Option("-n", "--runs", help="Number of runs; default: 10000.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the draws.")] = 2026,
    box: Annotated[
        str | None, typer.Option("--box", help="Box of conditions, TOML or JSON, or cases, CSV; default: IDSS.")
    ] = None,
    design: Annotated[str, typer.Option("--design", help="random, latin, sobol, corners, saltelli.")] = "random",
    store: Annotated[str | None, typer.Option("--store", help="Folder of the results.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in the store.")] = False,
    dask: Annotated[str | None, typer.Option("--dask", help="Address of a Dask scheduler.")] = None,
    threads: Annotated[int | None, typer.Option("--threads", help="Default: one for each processor.")] = None,
    chunk: Annotated[int | None, typer.Option("--chunk", help="Runs in a file, 256 by default.")] = None,
    part: Annotated[str | None, typer.Option("--part", help="k/m: the k-th of m processes, from 0.")] = None,
    t_end: Annotated[float, typer.Option("--t-end", help="End of a run at the latest, s.")] = 30.0,
    after: Annotated[float, typer.Option("--after", help="A run goes on so long after capture, s.")] = 1.0,
    dt: Annotated[str, typer.Option("--dt", help="Step, s, or auto.")] = "auto",
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Run many dockings over a box of conditions."""
    from .. import docking

    if (scenario is None) != demo:
        fail("dock campaign: give a scenario, or --demo", 2)
    try:
        chosen = docking.demo(legs) if scenario is None else _load(scenario)
        found = docking.campaign(
            chosen, n, _box(box), seed, threads, dask, store, resume,
            design=design, t_end=t_end, after=after, dt=_step(dt), chunk=chunk, part=_part(part),
        )  # fmt: skip
    except KeyboardInterrupt as error:
        kept: Campaign | None = getattr(error, "campaign", None)
        if kept is not None and len(kept):
            show(new_console(), _summary(kept))
        raise
    except FileExistsError as error:
        fail(f"dock campaign: {one_line(error)} (on the command line: --resume)", 2)
    except OSError as error:
        fail(f"dock campaign: {one_line(error)}", 1)
    except (Error, ValueError, TypeError, ImportError, RuntimeError) as error:
        fail(f"dock campaign: {one_line(error)}", 2)
    _show_campaign(found, json_output)


@app.command("report")
def report(
    store: Annotated[str, typer.Argument(help="Folder of a campaign.")],
    out: Annotated[str | None, typer.Option("--out", "-o", help="The page, .html; default: in the folder.")] = None,
    histories: Annotated[int, typer.Option("--histories", help="Worst runs shown over time.")] = 3,
    quantity: Annotated[str, typer.Option("--by", help="What the worst are chosen by.")] = "bending",
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Write the report of a campaign: one page with numbers, figures and the worst runs."""
    from .. import docking

    require_file("dock report", "--out", out)
    try:
        found = docking.Campaign.load(store)
        path = found.report(out or os.path.join(store, "report.html"), histories=histories, quantity=quantity)
    except OSError as error:
        fail(f"dock report: {one_line(error)}", 2)
    except (Error, ValueError, TypeError) as error:
        fail(f"dock report: {one_line(error)}", 2)
    except KeyError as error:
        fail(f"dock report: {error.args[0]}", 2)
    _show_campaign(found, json_output)
    if not json_output:
        typer.echo(path)


def one_line(error: Exception) -> str:
    """What went wrong, without the name of the function that noticed it."""
    return re.sub(r"^(campaign|Campaign\.load|Scenario\.load|report|simulate|--box): ", "", output.one_line(error))


# ---- arguments


def _load(path: str) -> Scenario:
    from .. import docking

    try:
        return docking.Scenario.load(path)
    except OSError as error:
        _refuse(f"cannot read {path!r}: {error.strerror or error}")


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _step(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        _refuse(f"--dt is {text!r}, expected a number or auto")


def _part(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, slash, second = text.partition("/")
    if not (slash and first.isdigit() and second.isdigit()):
        _refuse(f"--part is {text!r}, expected k/m, as 0/4")
    return int(first), int(second)


def _box(path: str | None) -> Box | Cases | None:
    if path is None:
        return None
    from ..docking import Box, Cases
    from ..docking._plain import read_data

    try:
        return Cases.from_csv(path) if path.lower().endswith(".csv") else Box.from_dict(read_data("--box", path))
    except OSError as error:
        _refuse(f"cannot read {path!r}: {error.strerror or error}")


# ---- shown


def _finite(value: Any) -> Any:
    """A number as JSON has it: what never happened is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _described(found: Docking) -> dict[str, Any]:
    return {
        "status": found.status,
        "captured": found.captured,
        "t_contact": _finite(float(found.t_contact)),
        "t_capture": _finite(float(found.t_capture)),
        "t_end": float(found.t_end),
        "gap": float(found.gap),
        "dt": float(found.dt),
        "peak": {key: _finite(float(value)) for key, value in found.peak._asdict().items()},
        "peak_time": {key: _finite(float(value)) for key, value in found.peak_time._asdict().items()},
        "stroke_min": _finite(float(found.stroke_min)),
        "stroke_max": _finite(float(found.stroke_max)),
        "penetration": _finite(float(found.penetration)),
        "work": {key: _finite(float(value)) for key, value in found.work._asdict().items()},
        "energy_error": _finite(float(found.energy_error)),
        "momentum_error": _finite(float(found.momentum_error)),
        "angular_momentum_error": _finite(float(found.angular_momentum_error)),
        "events": [{"time": event.time, "name": event.name, "which": event.which} for event in found.events],
    }


def _report(found: Docking, messages: list[str]) -> list[Table | Text]:
    lines = [""] if found.captured else [f"\n{found.reason}"]
    if math.isfinite(found.t_contact):
        lines.append(f"first contact {found.t_contact:.6f} s")
    if math.isfinite(found.t_capture):
        lines.append(f"capture {found.t_capture:.6f} s")
    lines.append(f"run to {found.t_end:g} s with a step of {1e3 * found.dt:g} ms")
    head = Text.assemble((found.status.replace("_", " "), "bold"), "\n".join(lines))
    peaks = new_table("Peaks", ["", "value", "unit", "at, s"])
    units = {"torsion": "N m", "bending": "N m", "leg": "N or N m", "base_moment_a": "N m", "base_moment_b": "N m"}
    for name, value in found.peak._asdict().items():
        if math.isfinite(value):
            when = getattr(found.peak_time, name)
            peaks.add_row(name.replace("_", " "), f"{value:.5g}", units.get(name, "N"), f"{when:.4f}")
    work = new_table("Work, J", ["", "value"])
    for name, value in found.work._asdict().items():
        work.add_row(name, f"{value:.5g}")
    work.add_row("residual of the energy account", f"{found.energy_error:.2g}")
    parts: list[Table | Text] = [head, peaks, work]
    parts.append(bullets("Events", (str(event).strip() for event in found.events), "bold"))
    if messages:
        parts.append(bullets("Warnings", messages, "bold yellow"))
    return parts


def _draw(found: Docking, path: str) -> None:
    import matplotlib

    matplotlib.use("agg")
    try:
        found.plot().savefig(path)
    except OSError as error:
        fail(f"dock: cannot write {path!r}: {error.strerror or error}", 1)


def _summary(found: Campaign) -> list[Table | Text]:
    return [Text(str(found))]


def _show_campaign(found: Campaign, json_output: bool) -> None:
    if not json_output:
        show(new_console(), _summary(found))
        return
    p = found.capture_probability if len(found) else None
    data: dict[str, Any] = {
        "runs": len(found),
        "n": found.n,
        "complete": found.complete,
        "seed": found.seed,
        "design": found.design,
        "fingerprint": found.fingerprint,
        "store": found.store,
    }
    if p is not None:
        data |= {"outcomes": found.outcomes, "failures": found.failures}
        data["capture_probability"] = {
            "value": p.value, "wilson": list(p.wilson), "clopper_pearson": list(p.clopper_pearson),
        }  # fmt: skip
        if found.outcomes["captured"]:
            from ..docking.campaign import LOADS

            data["percentiles"] = {
                name: [
                    {"percent": item.percent, "value": item.value, "low": _finite(item.interval.low),
                     "high": _finite(item.interval.high)}
                    for item in found.percentiles(name)
                ]
                for name in LOADS
            }  # fmt: skip
    write_json(data)
