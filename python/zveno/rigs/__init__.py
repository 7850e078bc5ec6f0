"""Hardware-in-the-loop rigs: is the force loop with its delay stable, how far, and what helps. docs/rigs.md.

Examples
--------
>>> import zveno as zv
>>> print(zv.rigs.delay_margin(mass=100, stiffness=1e4, damping=100))
stable below 9.967 ms of delay, oscillates there with 10.03 rad/s; a bounce returns all its energy at 9.651 ms
"""

from .bounce import restitution
from .chart import StabilityMap, chart
from .compensation import Lead, Passivity, Predictor, VirtualDamper
from .margin import DelayMargin, delay_margin, rightmost_root, sampled_margin
from .measure import Latency, measure
from .plant import RingPlant
from .rig import Rig, Verdict
from .ring import FaceContact
from .run import RigContact, RigRun, simulate

__all__ = [
    "DelayMargin",
    "FaceContact",
    "Latency",
    "Lead",
    "Passivity",
    "Predictor",
    "Rig",
    "RigContact",
    "RigRun",
    "RingPlant",
    "StabilityMap",
    "Verdict",
    "VirtualDamper",
    "chart",
    "delay_margin",
    "measure",
    "restitution",
    "rightmost_root",
    "sampled_margin",
    "simulate",
]


def __dir__() -> list[str]:
    return sorted(__all__)
