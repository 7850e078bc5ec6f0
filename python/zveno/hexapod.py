"""`Body`, `Leg` and `Hexapod`; they live in `zveno.model`."""

from .model import Body, Hexapod, Leg

__all__ = ["Body", "Hexapod", "Leg"]
