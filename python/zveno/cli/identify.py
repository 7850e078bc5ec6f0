"""``zveno identify``."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import Chain, Error, Hexapod
from ..identification.fit import METHODS, Fit, IdentificationWarning, percent
from ..identification.fit import identify as run
from ..identification.log import LogError
from ..identification.report import write_report
from ..identification.ring import RingFit
from .output import MODEL_HELP, complain, complete_model, fail, load, new_console, new_table, one_line

FILES = ("report.html", "parameters.csv", "model.urdf", "model.json")


def identify(
    model: Annotated[str, typer.Argument(help=MODEL_HELP, autocompletion=complete_model)],
    log: Annotated[str, typer.Argument(help="Log of the motion: .csv with names of columns, .npz or .parquet.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Directory to write to.")],
    friction: Annotated[
        str,
        typer.Option(help="Terms of joints: some of viscous,coulomb,stribeck,load,offset,drive_inertia, or none."),
    ] = "viscous,coulomb",
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS[:-1])} or {METHODS[-1]}.")] = "wls",
    cutoff: Annotated[float | None, typer.Option(help="Of the low-pass filter, Hz; default: from the motion.")] = None,
    period: Annotated[float | None, typer.Option(help="The motion repeats itself after this time, s.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples in a second, where the log has no times.")] = None,
    units: Annotated[str, typer.Option(help="Of columns: q=deg,t=ms,tau=mNm.")] = "",
    columns: Annotated[
        str, typer.Option(help="Names of columns: q=pos_{},tau=eff_{},t=stamp, or one by one: q=a+b,tau=c+d.")
    ] = "",
    position_noise: Annotated[
        float | None, typer.Option(help="Standard deviation of the noise of coordinates, rad or m, for tls.")
    ] = None,
    delay: Annotated[
        str, typer.Option(help="Of efforts behind coordinates, s, or 'estimate': they are put in line.")
    ] = "0",
    validation: Annotated[float, typer.Option(help="Part of the log that is predicted, not fitted.")] = 0.25,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Identify inertial parameters and friction from a log; write a report, the parameters, and the model.

    The model is written as URDF and as JSON, a hexapod as JSON.

    zveno identify arm.urdf log.csv -o report
    """
    if method not in METHODS:
        fail(f"identify: --method is {method!r}, expected one of {', '.join(METHODS)}", 2)
    chain, warned = load("identify", model)
    if not isinstance(chain, Chain | Hexapod):
        fail(f"identify: {model} is neither a chain nor a hexapod", 1)
    if not Path(log).is_file():
        there = Path(log).exists()
        fail(f"identify: {log!r} is no file that can be read" if there else f"identify: there is no file {log!r}", 1)
    folder = Path(out)
    if not out:
        fail("identify: -o is '', expected the name of a directory", 2)
    old = [name for name in FILES if (folder / name).exists()]
    if old and not force:
        fail(f"identify: {folder / old[0]} exists; give another directory with -o, or --force", 1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"identify: cannot make the directory {out!r}: {error.strerror or error}", 1)
    for text in warned:
        complain(f"zveno identify: {text}")
    named = _pairs("--columns", columns, "q=pos_{},t=stamp")
    options: dict[str, Any] = {
        "friction": None if friction in ("", "none") else friction,
        "method": method,
        "cutoff": cutoff,
        "period": period,
        "rate": rate,
        "validation": validation,
        "units": _pairs("--units", units, "q=deg,t=ms"),
        "columns": {key: word.split("+") if "+" in word else word for key, word in named.items()} if named else None,
        "position_noise": position_noise,
        "delay": _delay(delay),
    }
    page = folder / "report.html"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdentificationWarning)  # they are on the page and below
            fit = run(chain, log, **options)
            fit.report(page)
    except (Error, ValueError, TypeError, OSError) as error:
        findings = error.findings if isinstance(error, LogError) else ()
        write_report(page, None, title=f"Identification of {chain.name}", findings=findings, failure=one_line(error))
        complain(f"zveno identify: {one_line(error)}")
        complain(f"What was seen until then: {page}")
        raise typer.Exit(1) from None
    written = _write(folder, fit)
    _show(fit)
    typer.echo(f"{page}\n{written}")


def _delay(text: str) -> float | str:
    if text == "estimate":
        return text
    try:
        return float(text)
    except ValueError:
        fail(f"identify: --delay is {text!r}, expected seconds or 'estimate'", 2)


def _pairs(option: str, text: str, example: str) -> dict[str, str] | None:
    if not text:
        return None
    pairs = [word.partition("=") for word in text.split(",")]
    for key, equals, value in pairs:
        if not (key and equals and value):
            fail(f"identify: {option} is {text!r}, expected words as {example}", 2)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _write(folder: Path, fit: Fit) -> Path:
    """Parameters and model; the file of the model."""
    with (folder / "parameters.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        table = fit.parameters.to_dict()
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    if isinstance(fit, RingFit):
        fit.hexapod.save(folder / "model.json")
        return folder / "model.json"
    dry = {
        joint: max(0.0, values.get("Fc", 0.0)) for joint, values in fit.friction().items() if values.get("Fc", 0.0) > 0
    }
    fit.chain.to_urdf(folder / "model.urdf", coulomb=dry)
    fit.chain.save(folder / "model.json")
    return folder / "model.urdf"


def _show(fit: Fit) -> None:
    console = new_console()
    table = new_table("Joints", ["joint", "rms", "of the effort", "validation rms"])
    rows = zip(fit._given.joint_names, fit.rms, fit.relative_rms, fit.validation_rms, strict=True)
    for name, rms, relative, check in rows:
        table.add_row(name, f"{rms:.4g}", percent(relative), f"{check:.4g}")
    console.print(table)
    verdicts = [row.verdict for row in fit.parameters]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in ("well known", "poor", "not identifiable"))
    typer.echo(f"{len(verdicts)} base parameters: {counts}")
    for finding in fit.findings:
        typer.echo(f"{finding.level}: {finding}")
