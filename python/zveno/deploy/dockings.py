"""Dockings for the C library: what a run of `zveno.docking` is set up with, as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..sim.laws import Law
from .terms import plain_terms
from .tunable import Parameter

if TYPE_CHECKING:
    from ..docking.scenario import Scenario

__all__ = ["check_steps", "docking_model", "docking_numbers", "docking_start"]

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


def docking_numbers(scenario: Scenario) -> list[tuple[tuple[str, int], Parameter]]:
    """Numbers of contact and latches that are finite: key and place in `docking_model`, and the parameter."""
    made: list[tuple[tuple[str, int], Parameter]] = []
    for key, prefix, rows, part in (
        ("contact", "contact", _CONTACT, scenario.contact),
        ("latches", "latch", _LATCHES, scenario.latches),
    ):
        for name, place, unit, zero in rows if part.enabled else ():
            value = float(getattr(part, name))
            if unit == "N/m2" and scenario.contact.exponent != 1:
                unit = "N/m2.5"
            if math.isfinite(value):
                made.append(((key, place), Parameter(f"{prefix}.{name}", (value,), (unit,), 0.0 if zero else 5e-324)))
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
