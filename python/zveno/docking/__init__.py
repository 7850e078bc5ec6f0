"""Docking of two spacecraft: contact, capture, retraction, and campaigns of many dockings."""

from . import statistics
from .sampling import Box, Normal, Uniform

__all__ = ["Box", "Normal", "Uniform", "statistics"]


def __dir__() -> list[str]:
    return sorted(__all__)
