"""Motion in time; it lives in `zveno.sim`."""

from .sim.batch import BatchBalance, SimulationBatch
from .sim.chain import ChainSimulation, LimitEvent, simulate_chain
from .sim.output import BatchSummary, Peak, RunPeak, Summary
from .sim.simulation import EnergyBalance, HexapodSimulation, Simulation, StopEvent, simulate

__all__ = [
    "BatchBalance",
    "BatchSummary",
    "ChainSimulation",
    "EnergyBalance",
    "HexapodSimulation",
    "LimitEvent",
    "Peak",
    "RunPeak",
    "Simulation",
    "SimulationBatch",
    "StopEvent",
    "Summary",
    "simulate",
    "simulate_chain",
]
