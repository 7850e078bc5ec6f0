"""Simulation of hexapods; it lives in `zveno.sim`."""

from .sim.simulation import Simulation, StopEvent, simulate

__all__ = ["Simulation", "StopEvent", "simulate"]
