"""``zveno info``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from .. import Chain, Hexapod, Linkage, OpCount
from ..opcount import operations
from .output import MODEL_HELP, bullets, complete_model, load_any, new_console, new_table, show, write_json

FUNCTIONS: Final = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")
COUNTED: Final = ("mul", "add", "div", "sqrt", "trig", "total")


def info(
    model: Annotated[str, typer.Argument(help=MODEL_HELP, autocompletion=complete_model)],
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Show joints or legs, links, totals, operation counts and warnings of a model."""
    mechanism, messages = load_any("info", model, strict=strict)
    if isinstance(mechanism, Hexapod):
        data, report = _describe_ring(mechanism, messages), _ring_report
    elif isinstance(mechanism, Chain):
        data, report = _describe(mechanism, messages), _info_report
    else:
        data, report = _describe_linkage(mechanism, messages), _linkage_report
    if json_output:
        write_json(data)
    else:
        show(new_console(), report(data))


def _counts(count: OpCount) -> dict[str, int]:
    return {name: getattr(count, name) for name in COUNTED}


def _describe(chain: Chain, messages: list[str]) -> dict[str, Any]:
    return {
        "kind": "chain",
        "name": chain.name,
        "base": chain.base_name,
        "n": chain.n,
        "serial": bool(chain.is_serial),
        "total_mass": float(chain.total_mass),
        "gravity": list(map(float, chain.gravity)),
        "links": [link.to_dict() for link in chain.links],
        "operations": {name: _counts(operations(chain, name)) for name in FUNCTIONS},
        "warnings": messages,
    }


def _describe_linkage(linkage: Linkage, messages: list[str]) -> dict[str, Any]:
    tree = _describe(linkage.chain, messages)
    constraints = [
        {"name": c.name, "kind": c.kind, "between": c._sides(), "equations": list(c.rows)} for c in linkage.constraints
    ]
    return {**tree, "kind": "linkage", "name": linkage.name, "equations": linkage.m, "constraints": constraints}


def _describe_ring(ring: Hexapod, messages: list[str]) -> dict[str, Any]:
    pose = None
    if ring.nominal is not None:
        r, R = ring.nominal
        quality = ring.singularity(r, R)
        coordinates = ring.closure(r, R)[np.arange(6), ring.actuated]
        pose = {
            "r": r.tolist(),
            "R": R.tolist(),
            "actuated": coordinates.tolist(),
            "condition": float(quality.condition),
        }
    data = ring.to_dict()
    return {
        "kind": "hexapod",
        "name": ring.name,
        "leg_types": [leg.type for leg in ring.legs],
        "units": [leg.unit for leg in ring.legs],
        "platform": data["platform"],
        "legs": data["legs"],
        "masses": {"platform": float(ring.platform.mass), "legs": [float(leg.mass) for leg in ring.legs]},
        "gravity": list(map(float, ring.gravity)),
        "nominal": pose,
        "operations": {"forward_dynamics": _counts(ring.operations(moving=bool(ring.gravity.any())))},
        "warnings": messages,
    }


def _ring_report(data: dict[str, Any]) -> Iterable[Table | Text]:
    types = ", ".join(dict.fromkeys(data["leg_types"]))
    gravity = ", ".join(f"{g:g}" for g in data["gravity"])
    masses = data["masses"]
    inertia = np.diagonal(np.asarray(data["platform"]["inertia"]))
    lines = [
        f": hexapod, six legs ({types})",
        f"ring {masses['platform']:.6g} kg, legs {sum(masses['legs']):.6g} kg, gravity ({gravity}) m/s^2",
        f"ring inertia about its axes {_vector(inertia)} kg m^2",
    ]
    pose = data["nominal"]
    lines.append(
        "no nominal pose"
        if pose is None
        else f"nominal pose r = ({', '.join(f'{x:.4g}' for x in pose['r'])}) m, condition {pose['condition']:.3g}"
    )
    yield Text.assemble((data["name"], "bold"), "\n".join(lines))

    table = new_table(
        "Legs", ["leg", "type", "base hinge, m", "ring hinge, m", "range", "nominal", "kg"], left=2, gap=1
    )
    for k, leg in enumerate(data["legs"]):
        unit = data["units"][k]
        bounds = [leg["lower"], leg["upper"]]
        limited = any(x is not None for x in bounds)
        table.add_row(
            str(leg["name"]),
            data["leg_types"][k],
            _vector(leg["base"]),
            _vector(leg["ring"]),
            " .. ".join("-" if x is None else f"{x:.3g}" for x in bounds) + f" {unit}" if limited else "unlimited",
            "-" if pose is None else f"{_tidy(pose['actuated'][k]):.3g} {unit}",
            f"{masses['legs'][k]:.3g}",
        )
    yield table
    yield _operation_table(data)
    yield _warnings(data)


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

    yield _operation_table(data)
    yield _warnings(data)


def _linkage_report(data: dict[str, Any]) -> Iterable[Table | Text]:
    count = len(data["constraints"])
    yield Text.assemble(
        (data["name"], "bold"),
        f": closed mechanism, {count} constraint{'s' * (count != 1)}, {data['equations']} equations; opened it is",
    )
    table = new_table("Constraints", ["constraint", "kind", "between", "equations"], left=3)
    for row in data["constraints"]:
        table.add_row(row["name"], row["kind"], row["between"], str(len(row["equations"])))
    tree, *rest = _info_report(data)
    yield from (tree, table, *rest)


def _operation_table(data: dict[str, Any]) -> Table:
    counts = new_table("Operations of one call", ["", *COUNTED])
    for name, count in data["operations"].items():
        counts.add_row(name, *(f"{count[key]:,}" for key in COUNTED))
    return counts


def _warnings(data: dict[str, Any]) -> Table | Text:
    warned = data["warnings"]
    return bullets(f"Warnings ({len(warned)})", warned, "bold yellow") if warned else Text("No warnings.")


def _tidy(value: float) -> float:
    """Without what rounding leaves of zero."""
    return 0.0 if abs(value) < 1e-12 else value


def _vector(values: Iterable[float]) -> str:
    return " ".join(f"{_tidy(value):.3g}" for value in values)
