"""Motion in time; it lives in `zveno.sim`."""

from .sim.batch import BatchBalance, SimulationBatch
from .sim.chain import ChainSimulation, JointState, LimitEvent, simulate_chain
from .sim.events import Crossing, Event, PlaneContact
from .sim.output import BatchSummary, Peak, RunPeak, Summary
from .sim.simulation import EnergyBalance, HexapodSimulation, Simulation, StopEvent, simulate

__all__ = [
    "BatchBalance",
    "BatchSummary",
    "ChainSimulation",
    "Crossing",
    "EnergyBalance",
    "Event",
    "HexapodSimulation",
    "JointState",
    "LimitEvent",
    "Peak",
    "PlaneContact",
    "RunPeak",
    "Simulation",
    "SimulationBatch",
    "StopEvent",
    "Summary",
    "simulate",
    "simulate_chain",
]
