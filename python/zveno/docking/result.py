"""Result of a docking."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from .._check import Array, _show, as_path, did_you_mean
from .._extras import optional

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
    "stopped",
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
    "stopped": "ended before its time, by Ctrl-C or by an error of a function of the user",
}


class Event(NamedTuple):
    """What happened when: "contact", "latch", "capture", "lost", "released", a phase, "timeout", "thrust_on", ..."""

    time: float
    name: str
    which: int = -1  # latch, thruster, phase that timed out, from 0

    def __str__(self) -> str:
        return f"{self.time:10.6f} s  {self.name}" + (f" {self.which + 1}" if self.which >= 0 else "")


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
    """Motion of the vehicles locked to one body: v = sum P / sum m, omega = I^-1 L about the common centre of mass."""

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


@dataclass(frozen=True, repr=False)
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

    def summary(self) -> str:
        """A table of what happened and of the peaks, as text.

        Examples
        --------
        >>> from zveno import docking
        >>> print(docking.simulate(docking.demo(), t_end=0.1).summary().splitlines()[0])
        status               not captured before the end of the run
        """
        rows = [("status", self.reason, "")]
        rows += [
            (name, f"{value:.6g}", unit)
            for name, value, unit in (
                ("first contact", self.t_contact, "s"),
                ("capture", self.t_capture, "s"),
                ("end", self.t_end, "s"),
                ("gap at the start", self.gap, "m"),
            )
        ]
        ring = self.scenario.chaser.ring
        leg = "N m" if ring is not None and ring.legs[0].unit == "rad" else "N"
        units = {"torsion": "N m", "bending": "N m", "leg": leg, "base_moment_a": "N m", "base_moment_b": "N m"}
        for name, value, time in zip(Peaks._fields, self.peak, self.peak_time, strict=True):
            when = "" if math.isnan(time) else f" at {time:.4f} s"
            rows.append((f"peak {name.replace('_', ' ')}", f"{value:.6g}", units.get(name, "N") + when))
        if ring is not None:
            rows.append(("strokes", f"{self.stroke_min:.5g} to {self.stroke_max:.5g}", ring.legs[0].unit))
        rows.append(("deepest penetration", f"{1e3 * self.penetration:.4g}", "mm"))
        for name, value in self.work._asdict().items():
            rows.append((f"work {name}", f"{value:.6g}", "J"))
        rows.append(("kinetic energy", f"{self.energy_start:.6g} to {self.energy_end:.6g}", "J"))
        rows.append(("energy error", f"{self.energy_error:.2g}", f"J of {self.energy_scale:.3g}"))
        rows.append(("momentum error", f"{self.momentum_error:.2g}", "N s"))
        rows.append(("step", f"{1e3 * self.dt:g}", f"ms, {self.evaluations} evaluations"))
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in rows)

    def __repr__(self) -> str:
        when = f" at {self.t_capture:.4f} s" if self.captured else ""
        return f"Docking({self.reason}{when}, peak force {self.peak.force:.4g} N)"

    def __str__(self) -> str:
        return self.summary()

    # ---- other forms

    def to_dict(self, *, history: bool = True, scenario: bool = True) -> dict[str, Any]:
        """Return a dictionary that JSON can hold; numbers that are not finite are None.

        Parameters
        ----------
        history, scenario : bool
            With the time histories; with the scenario.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.simulate(docking.demo(), t_end=0.1).to_dict(history=False)["status"]
        'not_captured'
        """
        found: dict[str, Any] = {}
        for key, value in self.__dict__.items():
            if key == "scenario":
                if scenario:
                    found[key] = value.to_dict()
            elif key == "history":
                if history:
                    found[key] = {name: _json(array) for name, array in value.items()}
            elif key == "events":
                found[key] = [event._asdict() for event in value]
            elif key == "locked":
                found[key] = {name: _json(part) for name, part in value.__dict__.items()}
            elif hasattr(value, "_asdict"):
                found[key] = {name: _json(part) for name, part in value._asdict().items()}
            elif isinstance(value, dict):
                found[key] = {name: _json(part) for name, part in value.items()}
            else:
                found[key] = _json(value)
        return found

    def to_json(self, path: str | None = None, *, history: bool = True) -> str:
        """Return `to_dict` as JSON, and write it to a file if there is a path.

        Examples
        --------
        >>> import json
        >>> from zveno import docking
        >>> json.loads(docking.simulate(docking.demo(), t_end=0.1).to_json(history=False))["t_end"]
        0.1
        """
        text = json.dumps(self.to_dict(history=history))
        if path is not None:
            from ..sim.output import whole_file

            with whole_file(as_path("Docking.to_json", path), "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def columns(self) -> dict[str, Array]:
        """Return the histories as columns: "load.0", ...

        Examples
        --------
        >>> from zveno import docking
        >>> "load.0" in docking.simulate(docking.demo(), t_end=0.1).columns()
        True
        """
        found: dict[str, Array] = {}
        for name, array in self.history.items():
            if array.ndim == 1:
                found[name] = array
            else:
                found |= {f"{name}.{k}": array[:, k] for k in range(array.shape[1])}
        return found

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame of `columns`, its index the time. Needs pandas.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.simulate(docking.demo(), t_end=0.1).to_pandas().index.name
        't'
        """
        pandas = optional("pandas", "Docking.to_pandas")
        columns = self.columns()
        index = pandas.Index(columns.pop("t"), name="t")
        return pandas.DataFrame(columns, index=index)

    def to_xarray(self) -> Any:
        """Return an xarray.Dataset of the histories with units. Needs xarray.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.simulate(docking.demo(), t_end=0.1).to_xarray()["load"].dims
        ('t', 'load_component')
        """
        xarray = optional("xarray", "Docking.to_xarray")
        variables = {}
        for name, array in self.history.items():
            if name != "t":
                dims = ("t",) if array.ndim == 1 else ("t", f"{name}_component")
                about = {"units": self.history.units[name], "long_name": self.history.texts[name]}
                variables[name] = (dims, array, about)
        attrs = {"status": self.status, "t_contact": self.t_contact, "t_capture": self.t_capture, "dt": self.dt}
        return xarray.Dataset(variables, coords={"t": ("t", self.history.t, {"units": "s"})}, attrs=attrs)

    def to_parquet(self, path: str) -> None:
        """Write `columns` to a Parquet file, units in its metadata. Needs pyarrow.

        Examples
        --------
        >>> import os, tempfile
        >>> from zveno import docking
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.parquet")
        ...     docking.simulate(docking.demo(), t_end=0.1).to_parquet(path)
        ...     os.path.getsize(path) > 0
        True
        """
        arrow = optional("pyarrow", "Docking.to_parquet")
        parquet = optional("pyarrow.parquet", "Docking.to_parquet", "pyarrow")
        meta = {"units": json.dumps(self.history.units), "docking": json.dumps(self.to_dict(history=False))}
        table = arrow.table(self.columns()).replace_schema_metadata(meta)
        from ..sim.output import whole_file

        with whole_file(as_path("Docking.to_parquet", path), "wb") as file:
            parquet.write_table(table, file)

    # ---- pictures

    def plot(self) -> Any:
        """Draw loads, misalignment, strokes and work over time; a matplotlib figure. Needs matplotlib.

        Examples
        --------
        >>> from zveno import docking
        >>> figure = docking.simulate(docking.demo(), t_end=0.1).plot()
        >>> len(figure.axes) > 3
        True
        """
        from ..plot.docking import plot_docking

        return plot_docking(self)

    def animate(self, path: str, speed: float = 1.0) -> None:
        """Write the motion as a moving picture, an .html or .svg file that a browser plays.

        Parameters
        ----------
        path : str
        speed : float
            How much faster than the motion it is shown.

        Examples
        --------
        >>> import os, tempfile
        >>> from zveno import docking
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.html")
        ...     docking.simulate(docking.demo(), t_end=0.1).animate(path)
        ...     os.path.getsize(path) > 0
        True
        """
        from ..plot.docking import animate_docking

        animate_docking(self, path, speed)


def _json(value: Any) -> Any:
    """Numbers and arrays as JSON has them."""
    if isinstance(value, np.ndarray):
        return [_json(item) for item in value.tolist()]
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
