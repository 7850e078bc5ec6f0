"""Docking of two spacecraft: contact of the rings, capture by latches, attenuation, retraction.

Examples
--------
>>> from zveno import docking
>>> s = docking.demo("UPS", "aligned")
>>> s.conditions.closing
0.08
"""

from .result import Docking, Event, History, LockedPair, Peaks, Work
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
from .simulate import contact_wrench, run_batch, simulate, start_gap

__all__ = [
    "AttitudeHold",
    "Conditions",
    "Contact",
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
]


def __dir__() -> list[str]:
    return sorted(__all__)
