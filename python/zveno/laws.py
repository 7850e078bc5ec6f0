"""Force laws of joints and drives; they live in `zveno.sim.laws`."""

from .sim.laws import *  # noqa: F403
from .sim.laws import __all__ as __all__
