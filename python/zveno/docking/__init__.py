"""Docking of two spacecraft: contact of the rings, capture by latches, attenuation, retraction.

Examples
--------
>>> from zveno import docking
>>> s = docking.demo("UPS", "aligned")
>>> s.conditions.closing
0.08
"""

from .result import STATUS, Docking, Event, History, LockedPair, Peaks, Work
from .scenario import (
    AttitudeHold,
    Conditions,
    Contact,
    Interface,
    Latches,
    Move,
    Phases,
    Scenario,
    Thrust,
    Vehicle,
    demo,
)
from .simulate import ContactWrench, contact_wrench, run_batch, simulate, start_gap, step_scales

__all__ = [
    "STATUS",
    "AttitudeHold",
    "Conditions",
    "Contact",
    "ContactWrench",
    "Docking",
    "Event",
    "History",
    "Interface",
    "Latches",
    "LockedPair",
    "Move",
    "Peaks",
    "Phases",
    "Scenario",
    "Thrust",
    "Vehicle",
    "Work",
    "contact_wrench",
    "demo",
    "run_batch",
    "simulate",
    "start_gap",
    "step_scales",
]


def __dir__() -> list[str]:
    return sorted(__all__)
