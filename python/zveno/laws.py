"""Force laws of the drives of a hexapod's legs; they live in `zveno.sim.laws`."""

from .sim.laws import (
    DryFriction,
    EddyBrake,
    Law,
    LuGre,
    Ramp,
    Servo,
    SlipClutch,
    SpringDamper,
    Stops,
    Sum,
    Table,
)

__all__ = [
    "DryFriction",
    "EddyBrake",
    "Law",
    "LuGre",
    "Ramp",
    "Servo",
    "SlipClutch",
    "SpringDamper",
    "Stops",
    "Sum",
    "Table",
]
