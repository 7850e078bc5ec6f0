"""Dockings for the C library: what a run of `zveno.docking` is set up with, as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..sim.laws import Law
from .terms import law_of_terms, plain_terms
from .tunable import Parameter, Tunables

if TYPE_CHECKING:
    from ..docking.scenario import Scenario
    from ..model import Hexapod

__all__ = ["check_steps", "docking_model", "docking_numbers", "docking_start"]

Path = tuple[str | int, ...]

# numbers of `docking_model` that an FMU may have other ones of: name, place in the list, unit, whether it may be zero
_CONTACT: Final = (
    ("edge_stiffness", 0, "N/m2", True),
    ("side_stiffness", 1, "N/m2", True),
    ("face_stiffness", 2, "N/m2", True),
    ("blend", 3, "m", False),
    ("damping", 4, "s/m", True),
    ("friction", 5, "1", True),
    ("creep_speed", 6, "m/s", False),
)
_LATCHES: Final = (
    ("radius", 2, "m", False),
    ("axial_gap", 3, "m", True),
    ("lateral_gap", 4, "m", True),
    ("stiffness", 5, "N/m", True),
    ("damping", 6, "N.s/m", True),
    ("time_constant", 7, "s", False),
    ("break_force", 8, "N", False),
    ("release_time", 9, "s", True),
)
# of the drives of a ring: in alignment and retraction the common ones act
_LAWS: Final = ("ready", "attenuation", "common")
_MOVES: Final = ("alignment", "retraction")
_MOVE: Final = (
    ("target", ("m", "rad")),
    ("speed", ("m/s", "rad/s")),
    ("stiffness", ("N/m", "N.m/rad")),
    ("damping", ("N.s/m", "N.m.s/rad")),
    ("tolerance", ("m", "rad")),
)


def docking_numbers(scenario: Scenario) -> list[tuple[list[Path], Parameter]]:
    """Finite numbers of contact, latches, laws and moves: their places in `docking_model`, and the parameter."""
    made: list[tuple[list[Path], Parameter]] = []
    for key, prefix, rows, part in (
        ("contact", "contact", _CONTACT, scenario.contact),
        ("latches", "latch", _LATCHES, scenario.latches),
    ):
        for name, place, unit, zero in rows if part.enabled else ():
            value = float(getattr(part, name))
            if unit == "N/m2" and scenario.contact.exponent != 1:
                unit = "N/m2.5"
            if math.isfinite(value):
                least = 0.0 if zero else 5e-324
                made.append(([(key, place)], Parameter(f"{prefix}.{name}", (value,), (unit,), least)))
    model = docking_model(scenario, "")
    for key, who, ring in (("a", "", scenario.chaser.ring), ("b", "B.", scenario.station.ring)):
        if ring is None:
            continue
        turns = [leg.unit == "rad" for leg in ring.legs]
        for phase in _LAWS:
            made += _law_numbers(model[key][phase], (key, phase), f"{who}law.{phase}", ring, turns)
        for move in _MOVES:
            for place, (name, units) in enumerate(_MOVE):
                value = float(model[key][move][place])
                unit = units[turns[0]]
                made.append(([(key, move, place)], Parameter(f"{who}move.{move}.{name}", (value,), (unit,))))
    return made


def _law_numbers(
    laws: list[list[list[Any]]], at: Path, prefix: str, ring: Hexapod, turns: list[bool]
) -> list[tuple[list[Path], Parameter]]:
    """Those of the laws of a ring's legs, which stand at a place of the model."""
    terms = [law_of_terms(law) if law else None for law in laws]
    tunables = Tunables(terms, {}, [str(leg.name) for leg in ring.legs], turns, 0)
    places: dict[str, Path] = {}
    for j, law in enumerate(laws):
        seen: dict[str, int] = {}
        for i, (kind, *_) in enumerate(law):
            for k, text in tunables.spell(j, seen, kind).items():
                places[text] = (*at, j, i, 1 + k)
    numbered = iter(range(len(places)))
    made = []
    for p in tunables.parameters:
        name = prefix + p.name.removeprefix("law")
        made.append(([places[f"in[{next(numbered)}]"] for _ in p.values], replace(p, name=name)))
    return made


def docking_start(scenario: Scenario) -> dict[str, Any]:
    """Conditions of the start, with the gap that its rule gives."""
    from ..docking.simulate import start_gap

    c = scenario.conditions
    row = c._row()
    gap = start_gap(scenario) if math.isnan(row[11]) else row[11]
    parts = np.split(np.array([*row[:11], gap]), [1, 3, 5, 6, 8, 11])
    return dict(zip(("closing", "offset", "tilt", "roll", "lateral", "rate", "gap"), parts, strict=True))


def check_steps(function: str, scenario: Scenario, step: float) -> None:
    """Refuse a step that the stiffness of the model or the holds do not allow."""
    from ..docking.simulate import _options

    _options(function, scenario, 1.0, None, step, None)


def docking_model(scenario: Scenario, name: str) -> dict[str, Any]:
    """The model of a rig; ``scenario`` in it is for Python, everything else for C."""
    from ..docking.simulate import setup_of

    def law(of_leg: Law) -> list[list[Any]]:
        return plain_terms(of_leg)

    setup = setup_of(scenario.replace(conditions=type(scenario.conditions)()), law)
    head = {"format": "zveno.docking", "version": 1, "name": name, "scenario": scenario.to_dict()}
    return head | {key: _json(value) for key, value in setup.items()}


def _json(value: Any) -> Any:
    """Numbers that are not finite become null: infinite, or a start that is not given."""
    if isinstance(value, Mapping):
        return {key: _json(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_json(x) for x in value]
    if isinstance(value, np.ndarray):
        return _json(value.tolist())
    if isinstance(value, np.generic):
        return _json(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value
