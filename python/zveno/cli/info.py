"""``zveno info``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from .. import Chain
from ..opcount import operations
from .output import MODEL_HELP, bullets, load, new_console, new_table, show, write_json

FUNCTIONS: Final = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")


def info(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Show the joints, links, totals, operation counts and warnings of a model file."""
    data = _describe(*load("info", model, strict=strict))
    if json_output:
        write_json(data, "-")
    else:
        show(new_console(), _info_report(data))


def _describe(chain: Chain, messages: list[str]) -> dict[str, Any]:
    counts = {name: operations(chain, name) for name in FUNCTIONS}
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

    joints = new_table("Moving joints", ["#", "joint", "type", "axis", "range", "speed", "effort"], left=4, gap=1)
    links = new_table("Links", ["link", "parent", "joint", "mass, kg", "centre of mass, m"], left=3)
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

    counts = new_table("Operations of one call", ["", "mul", "add", "div", "trig", "total"])
    for name, count in data["operations"].items():
        counts.add_row(name, *(f"{count[key]:,}" for key in ("mul", "add", "div", "trig", "total")))
    yield counts
    warned = data["warnings"]
    yield bullets(f"Warnings ({len(warned)})", warned, "bold yellow") if warned else Text("No warnings.")


def _vector(values: Iterable[float]) -> str:
    return " ".join(f"{value:.3g}" for value in values)
