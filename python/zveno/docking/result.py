"""Result of a docking."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from .._check import Array, _show, did_you_mean

if TYPE_CHECKING:
    from .scenario import Scenario

__all__ = ["Docking", "Event", "History", "LockedPair", "Peaks", "Work"]

# statuses of a run in the order of their codes; only the first two are results of a complete run
STATUS: Final = (
    "captured",
    "not_captured",
    "contact_range",
    "out_of_reach",
    "singular_leg",
    "not_finite",
    "chattering",
    "energy",
    "touching",
)
STATUS_TEXT: Final = {
    "captured": "captured",
    "not_captured": "not captured before the end of the run",
    "contact_range": "a penetration is beyond the range of the contact model",
    "out_of_reach": "a leg cannot reach the ring",
    "singular_leg": "a leg is singular",
    "not_finite": "a number is not finite",
    "chattering": "more than 16 events in one step",
    "energy": "the energy account does not close, even with the shortest step",
    "touching": "the rings touch at the start",
}


class Event(NamedTuple):
    """What happened when: "contact", "latch", "capture", "lost", "released", a phase, "timeout", "thrust_on", ..."""

    time: float
    name: str
    index: int = -1

    def __str__(self) -> str:
        return f"{self.time:10.6f} s  {self.name}" + (f" {self.index + 1}" if self.index >= 0 else "")


class Peaks(NamedTuple):
    """Largest loads, or the times when they occur: N and N m, or s.

    Interface loads are those of contact and latches on the first ring, at the origin of its frame in its axes. Between
    samples they are those of a parabola through three of them.
    """

    tension: float  # F_x > 0
    compression: float  # -F_x > 0
    axial: float
    shear: float
    force: float
    torsion: float
    bending: float
    latch: float  # of a single latch
    leg: float  # of a single leg of the first ring, N or N m
    base_force_a: float  # of the mechanism on the vehicle at the origin of its base frame
    base_moment_a: float
    base_force_b: float
    base_moment_b: float


class Work(NamedTuple):
    """Work since the start, J: of normal forces and friction in the contact, latches, legs, thrusters."""

    normal: float
    friction: float
    latch: float
    legs: float
    external: float

    @property
    def total(self) -> float:
        """Their sum."""
        return math.fsum(self)


@dataclass(frozen=True)
class LockedPair:
    """Motion of the vehicles once they are one body: v = sum P / sum m, omega = I^-1 L about the common centre of mass."""

    velocity: Array  # (3,) m/s, of the common centre of mass
    omega: Array  # (3,) rad/s
    mass: float  # kg
    com: Array  # (3,) m
    inertia: Array  # (3, 3) kg m^2, about the common centre of mass


class History(Mapping[str, Array]):
    """Time histories by name: arrays whose first axis is time. `units` and `texts` say what they are."""

    def __init__(self, arrays: Mapping[str, Array], units: Mapping[str, str], texts: Mapping[str, str]) -> None:
        self._arrays, self.units, self.texts = dict(arrays), dict(units), dict(texts)

    def __getitem__(self, name: str) -> Array:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"no history {_show(name)}{did_you_mean(name, self._arrays)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or name not in self._arrays:
            raise AttributeError(f"History has no {_show(name)}{did_you_mean(name, self._arrays)}")
        return self._arrays[name]

    def __repr__(self) -> str:
        rows = len(self._arrays["t"]) if "t" in self._arrays else 0
        return f"History({rows} rows: {', '.join(self._arrays)})"


@dataclass(frozen=True)
class Docking:
    """What `docking.simulate` returns.

    Attributes
    ----------
    scenario : Scenario
    status : str
        "captured", "not_captured", or why the run ended early: "contact_range", "out_of_reach", "singular_leg",
        "not_finite", "chattering", "energy".
    t_contact, t_capture : float, s
        First touch of the rings, last of the latches that were needed; nan: never.
    latch_times : (latches,) array, s
        When they closed last; nan: never. Latch k is at petal k of the first ring.
    t_end : float, s
        Where the run ended.
    gap : float, m
        Between the mating planes at the start.
    dt : float, s
        Step that was accepted.
    evaluations : int
        Of the equations of motion, with this step.
    peak, peak_time : Peaks
    stroke_min, stroke_max : float, m or rad
        Over the legs of the first ring, from the nominal pose.
    leg_strokes : (2, 6, 2) array, m or rad
        Least and largest stroke of each leg, by vehicle; nan for a rigid port.
    leg_forces : (2, 6) array, N or N m
        Largest force of each leg in size.
    leg_work : (2, 6) array, J
    work : Work
    energy_start, energy_end : float, J
        Kinetic energy of all bodies.
    energy_error : float, J
        Energy less its value at the start less all work: the error of the integration.
    energy_scale : float, J
        m v^2 / 2 of the approach, v the closing speed, m the reduced mass; runs are accepted below 1e-4 of it.
    momentum_error : float, N s
    angular_momentum_error : float, N m s
        Change of the total less the impulses of thrusters.
    penetration : float, m
        The deepest.
    impulse : (6,) array, N s, N m s
        Of contact and latches on the second vehicle, N axes about the origin of N.
    misalignment : (6,) array, m, rad
        Of the ports at the end: of the second in axes of the first, and rotation vector.
    state_a, state_b : dict
        Of the vehicles at the end: position, quaternion, velocity, omega, P, L.
    locked : LockedPair
        What the two would do if they were locked at the end.
    events : tuple of Event
    history : History
    """

    scenario: Scenario
    status: str
    t_contact: float
    t_capture: float
    latch_times: Array
    t_end: float
    gap: float
    dt: float
    evaluations: int
    peak: Peaks
    peak_time: Peaks
    stroke_min: float
    stroke_max: float
    leg_strokes: Array
    leg_forces: Array
    leg_work: Array
    work: Work
    energy_start: float
    energy_end: float
    energy_error: float
    energy_scale: float
    momentum_error: float
    angular_momentum_error: float
    penetration: float
    impulse: Array
    misalignment: Array
    state_a: dict[str, Array]
    state_b: dict[str, Array]
    locked: LockedPair
    events: tuple[Event, ...]
    history: History

    @property
    def captured(self) -> bool:
        """Whether as many latches closed as were needed, and the run was sound."""
        return self.status == "captured"

    @property
    def phase_times(self) -> dict[str, float]:
        """When the phases began, s."""
        from .scenario import PHASES

        return {event.name: event.time for event in self.events if event.name in PHASES}

    @property
    def reason(self) -> str:
        """The status in words."""
        return STATUS_TEXT[self.status]
