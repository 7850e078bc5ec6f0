"""Runs of dockings: one with its history, many with their peaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from numpy.typing import ArrayLike

from .._check import Array
from .result import Docking
from .scenario import Contact, Interface, Scenario

__all__ = ["contact_wrench", "run_batch", "simulate", "start_gap"]

# columns of a row of conditions, as Conditions._row makes them; gap nan: by the rule of the start
CONDITIONS: Final = (
    "closing", "offset_y", "offset_z", "pitch", "yaw", "roll", "lateral_y", "lateral_z", "rate_x", "rate_y", "rate_z", "gap",
)  # fmt: skip
# factors of uncertain parameters, one of each for a run
FACTORS: Final = (
    "chaser_mass",
    "station_mass",
    "friction",
    "stiffness",
    "restitution_damping",
    "latch_gap",
    "latch_stiffness",
    "leg_force",
)
# what a run leaves: one array (n,) of each
COLUMNS: Final = (
    "status", "t_contact", "t_capture", "t_end", "gap", "dt", "evaluations",
    "tension", "compression", "axial", "shear", "force", "torsion", "bending", "latch", "leg",
    "base_force_a", "base_moment_a", "base_force_b", "base_moment_b",
    "stroke_min", "stroke_max",
    "work_normal", "work_friction", "work_latch", "work_legs", "work_external",
    "energy_start", "energy_end", "energy_error", "energy_scale", "momentum_error", "angular_momentum_error",
    "penetration",
)  # fmt: skip


def simulate(
    scenario: Scenario,
    t_end: float = 10.0,
    dt: float | str = 1e-3,
    *,
    after: float | None = None,
    record: float = 0.01,
) -> Docking:
    """Simulate a docking."""
    raise NotImplementedError


def run_batch(
    scenario: Scenario,
    conditions: ArrayLike,
    *,
    factors: Mapping[str, ArrayLike] | None = None,
    t_end: float = 30.0,
    after: float | None = 1.0,
    dt: float | str = "auto",
    threads: int | None = None,
) -> dict[str, Array]:
    """Simulate many dockings of one scenario that differ in their conditions, and keep only their summaries.

    Parameters
    ----------
    conditions : (n, 12) array
        Rows of closing, offset y z, pitch, yaw, roll, lateral y z, rates x y z, gap (nan: by the rule of the start);
        m, m/s, rad, rad/s.
    factors : mapping of (n,) arrays, optional
        By which parameters of single runs are multiplied: names of `FACTORS`.

    Returns
    -------
    table : dict of (n,) arrays
        `COLUMNS`: status is int64, an index of `result.STATUS`; 0 is "captured", 1 "not_captured", the others failures,
        whose other columns are nan. The result of a run depends on the scenario, its row and its factors alone.
    """
    raise NotImplementedError


def start_gap(scenario: Scenario, conditions: ArrayLike | None = None) -> Any:
    """Gap at which a docking begins."""
    raise NotImplementedError


def contact_wrench(
    interface_a: Interface, interface_b: Interface, pose: Any, twist: Any, contact: Contact | None = None
) -> Any:
    """Wrench of the contact of two rings."""
    raise NotImplementedError
