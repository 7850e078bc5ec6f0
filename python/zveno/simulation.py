"""Motion in time; it lives in `zveno.sim`."""

from .sim.batch import SimulationBatch
from .sim.chain import ChainSimulation, LimitEvent, simulate_chain
from .sim.output import Peak, Summary
from .sim.simulation import EnergyBalance, HexapodSimulation, Simulation, StopEvent, simulate

__all__ = [
    "ChainSimulation",
    "EnergyBalance",
    "HexapodSimulation",
    "LimitEvent",
    "Peak",
    "Simulation",
    "SimulationBatch",
    "StopEvent",
    "Summary",
    "simulate",
    "simulate_chain",
]
