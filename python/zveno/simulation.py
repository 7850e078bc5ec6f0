"""Motion in time; it lives in `zveno.sim`."""

from .sim.chain import ChainSimulation, simulate_chain
from .sim.simulation import HexapodSimulation, Simulation, StopEvent, simulate

__all__ = ["ChainSimulation", "HexapodSimulation", "Simulation", "StopEvent", "simulate", "simulate_chain"]
