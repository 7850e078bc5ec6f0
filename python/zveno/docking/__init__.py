"""Docking of two spacecraft: contact of the rings, capture by latches, attenuation, retraction; campaigns.

Examples
--------
>>> from zveno import docking
>>> s = docking.demo("UPS", "aligned")
>>> s.conditions.closing
0.08
"""

from . import statistics
from .campaign import Campaign, Envelope, Indices, RunOf, campaign
from .control import State
from .result import STATUS, Docking, Event, History, LockedPair, Peaks, Work
from .sampling import Box, Cases, Normal, Uniform
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
from .simulate import ContactWrench, contact_operations, contact_wrench, run_batch, simulate, start_gap, step_scales

__all__ = [
    "STATUS",
    "AttitudeHold",
    "Box",
    "Campaign",
    "Cases",
    "Conditions",
    "Contact",
    "ContactWrench",
    "Docking",
    "Envelope",
    "Event",
    "History",
    "Indices",
    "Interface",
    "Latches",
    "LockedPair",
    "Move",
    "Normal",
    "Peaks",
    "Phases",
    "RunOf",
    "Scenario",
    "State",
    "Thrust",
    "Uniform",
    "Vehicle",
    "Work",
    "campaign",
    "contact_operations",
    "contact_wrench",
    "demo",
    "run_batch",
    "simulate",
    "start_gap",
    "statistics",
    "step_scales",
]


def __dir__() -> list[str]:
    return sorted(__all__)
