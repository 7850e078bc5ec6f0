"""Runs of dockings: one with its history, many with their summaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, Fail, _show, as_array, as_integer, as_number, common_lead, did_you_mean, failing
from .._rotation import to_quaternions
from ..errors import ModelError, StepError
from ..model import Hexapod
from ..sim.laws import Law, program
from ..sim.simulation import Laws
from .control import Control, StateFunction
from .result import STATUS, Docking, Event, History, LockedPair, Peaks, Work
from .scenario import PHASES, Conditions, Contact, Interface, Scenario, Vehicle

__all__ = ["ContactWrench", "contact_operations", "contact_wrench", "run_batch", "simulate", "start_gap", "step_scales"]

# columns of a row of conditions; gap nan: by the rule of the start
CONDITIONS: Final = (
    "closing", "offset_y", "offset_z", "pitch", "yaw", "roll",
    "lateral_y", "lateral_z", "rate_x", "rate_y", "rate_z", "gap",
)  # fmt: skip
# factors of uncertain parameters, one of each for a run
FACTORS: Final = (
    "chaser_mass",
    "station_mass",
    "friction",
    "stiffness",
    "damping",
    "latch_gap",
    "latch_stiffness",
    "leg_force",
)
# what a run leaves: one array (n,) of each
COLUMNS: Final = (
    "status", "t_contact", "t_capture", "t_end", "gap", "dt", "evaluations",
    *Peaks._fields,
    "stroke_min", "stroke_max",
    "work_normal", "work_friction", "work_latch", "work_legs", "work_external",
    "energy_start", "energy_end", "energy_error", "energy_scale", "momentum_error", "angular_momentum_error",
    "penetration",
)  # fmt: skip

_AUTO: Final = 2e-3  # s, where dt="auto" begins
_TOLERANCE: Final = 1e-4  # of the energy of approach
_HALVINGS: Final = 3
_S: Final = np.diag([-1.0, 1.0, -1.0])


class ContactWrench(NamedTuple):
    """What `contact_wrench` returns: load on the second ring in axes of the first."""

    force: Array  # (..., 3) N
    moment: Array  # (..., 3) N m, about the origin of the first ring frame
    normal_power: Array  # (...,) W
    friction_power: Array  # (...,) W
    penetration: Array  # (...,) m, the deepest


def contact_wrench(
    interface_a: Interface,
    interface_b: Interface,
    r: ArrayLike,
    R: ArrayLike | None = None,
    twist: ArrayLike | None = None,
    contact: Contact | None = None,
) -> ContactWrench:
    """Load of the contact of two rings at given poses.

    Parameters
    ----------
    interface_a, interface_b : Interface
    r : (..., 3) array, m
        Origin of the second ring frame in axes of the first.
    R : (..., 3, 3) array, optional
        Axes of the second ring to axes of the first. None: mated, diag(-1, 1, -1).
    twist : (..., 6) array, m/s, rad/s, optional
        Velocity of the second ring against the first at the origin of the first, angular velocity; axes of the first.
    contact : Contact, optional

    Returns
    -------
    load : ContactWrench
        On the second ring.

    Examples
    --------
    >>> from zveno import docking
    >>> ring = docking.Interface.idss_like()
    >>> docking.contact_wrench(ring, ring, [[0.1, 0, 0], [-0.001, 0, 0]]).force[:, 0].round(1) + 0.0
    array([   0. , 1323.2])
    """
    fail = failing("contact_wrench")
    for value, what in ((interface_a, "interface_a"), (interface_b, "interface_b")):
        if not isinstance(value, Interface):
            fail(f"{what} is {_show(value)}, expected an Interface")
    contact = Contact() if contact is None else contact
    if not isinstance(contact, Contact):
        fail(f"contact is {_show(contact)}, expected a Contact")
    if contact.lankarani_nikravesh:
        fail("contact has lankarani_nikravesh: its forces depend on the speed at first touch, not on the pose alone")
    place = as_array(r, fail, "r", (3,), lead=True)
    turn = as_array(_S if R is None else R, fail, "R", (3, 3), lead=True)
    if np.abs(np.einsum("...ji,...jk->...ik", turn, turn) - np.eye(3)).max(initial=0.0) > 1e-9:
        fail("R is no rotation")
    move = as_array(np.zeros(6) if twist is None else twist, fail, "twist", (6,), lead=True)
    lead = common_lead(fail, {"r": place.shape[:-1], "R": turn.shape[:-2], "twist": move.shape[:-1]})
    rows = np.empty((*lead, 18))
    rows[..., :9] = turn.reshape(*turn.shape[:-2], 9)
    rows[..., 9:12] = place
    rows[..., 12:] = move
    out = _core.contact_wrench(interface_a._core(), interface_b._core(), _law(contact), rows).reshape(*lead, 9)
    return ContactWrench(out[..., :3], out[..., 3:6], out[..., 6], out[..., 7], out[..., 8])


def contact_operations() -> dict[str, dict[str, int]]:
    """Operations of the contact of one node that touches, counted by running it.

    Returns
    -------
    counts : dict
        For "edge", "side" and "face": numbers of mul, add, div, sqrt, trig (an angle from its sine and cosine). To move
        the node into axes of the other ring are 9 mul and 9 add more, to add up forces 8 add.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.contact_operations()["face"]["trig"]
    0
    """
    return {kind: dict(counts) for kind, counts in _core.contact_operations().items()}


def _law(c: Contact, mass: float = 1.0) -> tuple[float, ...]:
    """As the core takes it; mass: of the rings against each other."""
    return (
        c.edge_stiffness, c.side_stiffness, c.face_stiffness, c.blend, c.damping, c.friction, c.creep_speed, c.exponent,
        float(c.sticking), mass, c.lankarani_nikravesh,
    )  # fmt: skip


def _inverse_mass(vehicle: Vehicle) -> float:
    """Of what the ring moves along its axis, 1/kg."""
    if vehicle.ring is None:
        return 1 / vehicle.body.mass
    return 1 / float(vehicle.ring.mass_matrix(*vehicle.ring.nominal)[0, 0])


Extra: TypeAlias = tuple[tuple[Law | None, ...] | None, ...]  # laws of the legs of both vehicles besides their phases


def _vehicle(
    scenario: Scenario, vehicle: Vehicle, law: Callable[[Law], Any], extra: tuple[Law | None, ...] | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {"body": vehicle.body, "interface": vehicle.interface._core()}
    ring = vehicle.ring
    if ring is None:
        return found
    r, R = ring.nominal
    laws = [scenario.phases.laws(ring, leg) for leg in range(6)]
    if extra is not None:
        laws = [
            (a + more, b + more, c + more) if more else (a, b, c) for (a, b, c), more in zip(laws, extra, strict=True)
        ]
    moves = scenario.phases.moves(ring)
    found |= {"ring": ring, "offset": vehicle.ring_offset, "r": r, "q": to_quaternions(R)}
    for k, name in enumerate(("ready", "attenuation", "common")):
        found[name] = [law(of_leg[k]) for of_leg in laws]
    for name, move in zip(("alignment", "retraction"), moves, strict=True):
        start = math.nan if move.start is None else move.start
        found[name] = (move.target, move.speed, move.stiffness, move.damping, move.tolerance, move.limit, start)
    return found


def setup_of(scenario: Scenario, law: Callable[[Law], Any] = program, extra: Extra = (None, None)) -> dict[str, Any]:
    """What the core is told of a scenario; conditions are not part of it. law: makes what a law of a leg is there."""
    latches, phases = scenario.latches, scenario.phases
    count = scenario.chaser.interface.petals
    need = count if latches.need is None else latches.need
    first, second = scenario.chaser.interface, scenario.station.interface
    if count > 16:
        raise ModelError(f"simulate: the chaser's ring has {count} petals, expected at most 16")
    if scenario.contact.enabled:
        mated = float(contact_wrench(first, second, (0.0, 0.0, 0.0)).penetration)
        if mated > 1e-9:
            raise ModelError(
                f"simulate: interfaces cannot mate: parts are {1e3 * mated:.3g} mm inside each other when mated"
            )
    starts = {"contact": 1, "capture": 2}
    return {
        "a": _vehicle(scenario, scenario.chaser, law, extra[0]),
        "b": _vehicle(scenario, scenario.station, law, extra[1]),
        "contact_on": scenario.contact.enabled,
        "contact": _law(scenario.contact, 1 / (_inverse_mass(scenario.chaser) + _inverse_mass(scenario.station))),
        "range": scenario.contact.range,
        "latches": (
            latches.enabled, need, latches.radius, latches.axial_gap, latches.lateral_gap, latches.stiffness,
            latches.damping, latches.time_constant, latches.break_force, latches.release_time,
        ),
        "phases": (
            [PHASES.index(name) for name in phases.sequence], phases.rest_speed, phases.rest_rate, phases.dwell,
            phases.attenuation_time, phases.move_time,
        ),
        "thrusts": [
            (
                "ab".index(t.vehicle), [*t.force, *t.moment], starts[t.at] if isinstance(t.at, str) else 0,
                t.delay + (0.0 if isinstance(t.at, str) else t.at), t.duration,
            )
            for t in scenario.thrust
        ],
        "holds": [
            ("ab".index(h.vehicle), h.stiffness, h.damping, h.period, h.dead_band, h.limit)
            for h in scenario.attitude_hold
        ],
    }  # fmt: skip


@lru_cache(maxsize=32)
def runner(scenario: Scenario, extra: Extra = (None, None)) -> _core.DockingRunner:
    """The compiled form of a scenario; conditions are not part of it."""
    return _core.DockingRunner(setup_of(scenario, extra=extra), (scenario.chaser.ring, scenario.station.ring))


def _runner(scenario: Scenario, extra: Extra = (None, None)) -> _core.DockingRunner:
    """Of a scenario, whatever its conditions."""
    return runner(scenario.replace(conditions=Conditions()), extra)


# ---- the step


def _leg_scales(scenario: Scenario, ring: Hexapod, who: str) -> tuple[float, dict[str, float]]:
    """Axial inertia of a ring on its legs, and the rates of their laws, 1/s."""
    r, R = ring.nominal
    inertia = ring.mass_matrix(r, R)
    H = ring.jacobian(r, R)
    most = float(np.linalg.eigvals(np.linalg.solve(inertia, H.T @ H)).real.max())
    scales: dict[str, float] = {}
    for k, phase in ((0, "ready"), (1, "attenuation")):
        slopes = scenario.phases.laws(ring, 0)[k]._slopes()
        damping = max((s.damping for s in slopes if s.ends is None), default=0.0)
        stiffness = sum(s.stiffness for s in slopes if s.ends is None)
        scales[f"legs of the {who} in phase {phase}"] = max(damping * most, math.sqrt(stiffness * most))
    return float(inertia[0, 0]), scales


@lru_cache(maxsize=64)
def _scales(scenario: Scenario) -> dict[str, float]:
    contact, latches = scenario.contact, scenario.latches
    scales: dict[str, float] = {}
    inverse = 0.0
    for vehicle, who in ((scenario.chaser, "chaser"), (scenario.station, "station")):
        if vehicle.ring is None:
            inverse += 1 / vehicle.body.mass
            continue
        mass, more = _leg_scales(scenario, vehicle.ring, who)
        inverse += 1 / mass
        scales |= more
    if contact.enabled:
        ring = scenario.station.interface
        if contact.exponent == 1.0:
            # faces meet all around, edges and sides at a node here and there
            edge = 2 * math.pi * ring.edge_radius / ring.edge_nodes
            side = math.hypot(ring.height, ring.root_radius - ring.tip_radius) / ring.side_nodes
            for name, stiffness in (
                ("faces", contact.face_stiffness * 2 * math.pi * ring.face_radius),
                ("edges", contact.edge_stiffness * edge),
                ("sides of petals", contact.side_stiffness * side),
            ):
                scales[f"stiffness of the {name}"] = math.sqrt(stiffness * inverse)
        scales["friction at 1 kN"] = contact.friction * 1e3 / contact.creep_speed * inverse
    if latches.enabled:
        count = scenario.chaser.interface.petals
        scales["stiffness of the latches"] = math.sqrt(count * latches.stiffness * inverse)
        scales["damping of the latches"] = count * latches.damping * inverse
    return scales


def step_scales(scenario: Scenario) -> dict[str, float]:
    """Estimated rates of what limits the step, 1/s: `simulate` refuses steps beyond the inverse of the largest.

    Examples
    --------
    >>> from zveno import docking
    >>> {name: round(rate) for name, rate in docking.step_scales(docking.demo("UPS")).items() if "faces" in name}
    {'stiffness of the faces': 126}
    """
    return dict(_scales(scenario.replace(conditions=Conditions())))


def _step(function: str, scenario: Scenario, dt: float | str) -> float:
    """The first step to try."""
    fail = failing(function)
    scales = _scales(scenario.replace(conditions=Conditions()))
    name = max(scales, key=lambda key: scales[key]) if scales else ""
    most = scales.get(name, 0.0)
    if isinstance(dt, str):
        if dt != "auto":
            fail(f"dt is {_show(dt)}, expected a number or 'auto'")
        step = _AUTO
        while step * most > 1:
            step /= 2
        return step
    step = as_number(dt, fail, "dt")
    if not step > 0:
        fail(f"dt is {step:g}, expected a number > 0")
    if step * most > 1:
        raise StepError(
            f"{function}: dt is {step:g} s, too large for the {name}, whose rate is {most:.3g} 1/s: "
            f"expected at most {1 / most:.3g} s",
            step,
            1 / most,
            name,
        )
    return step


def _require_multiple(fail: Fail, name: str, period: float, step: float) -> None:
    times = period / step
    if abs(times - round(times)) > 1e-6 * times or round(times) < 1:
        fail(f"{name} is {period:g}, expected a multiple of the step {step:g}")


def _options(
    function: str, scenario: Scenario, t_end: float, after: float | None, dt: float | str, record: float | None
) -> tuple[_core.DockingOptions, int]:
    """What a run is told, and how many rows its history may have."""
    fail = failing(function)
    step = _step(function, scenario, dt)
    end = as_number(t_end, fail, "t_end")
    if not 0 < end <= 1e4:
        fail(f"t_end is {end:g}, expected a number > 0, at most 10000")
    later = math.inf if after is None else as_number(after, fail, "after")
    if later < 0:
        fail(f"after is {later:g}, expected a number >= 0 or None")
    if end / step > 1e8:
        fail(f"dt is {step:g}, which makes more than 1e8 steps until t_end = {end:g}")
    every = 0
    if record is not None:
        between = as_number(record, fail, "record")
        if not between > 0:
            fail(f"record is {between:g}, expected a number > 0")
        every = max(1, round(between / step))
    for hold in scenario.attitude_hold:
        _require_multiple(fail, "attitude_hold.period", hold.period, step)
    options = _core.DockingOptions(
        t_end=end, after=later, dt=step, tolerance=_TOLERANCE, halvings=_HALVINGS, every=every
    )
    return options, int(end / (every * step)) + 4 if every else 0


def _scenario(function: str, scenario: object) -> Scenario:
    if not isinstance(scenario, Scenario):
        raise TypeError(f"{function}: scenario is {_show(scenario)}, expected a Scenario")
    return scenario


# ---- runs


def simulate(
    scenario: Scenario,
    t_end: float = 10.0,
    dt: float | str = 1e-3,
    *,
    after: float | None = None,
    record: float = 0.01,
    laws: Laws | Mapping[str, Laws] = None,
    tau: StateFunction | Mapping[str, StateFunction] | None = None,
    thrust: StateFunction | Mapping[str, StateFunction] | None = None,
    hold: float | None = None,
) -> Docking:
    """Simulate a docking of two vehicles: contact, capture, what the mechanism does then.

    State are positions, attitudes and momenta of the vehicles, and pose and velocity of the rings: the total momentum
    is constant to rounding for any step. Steps are classical Runge-Kutta; a step in which a latch closes or a thruster
    is switched is split there. A run is accepted if its energy account closes to 1e-4 of the energy of approach;
    otherwise it is repeated with half the step, at most three times.

    Parameters
    ----------
    scenario : Scenario
    t_end : float, s
        Where a run ends at the latest; it also ends with the phase "hard_mate".
    dt : float, s, or "auto"
        First step to try; "auto": 2 ms, or less where the model is stiffer.
    after : float, optional, s
        The run ends so long after capture.
    record : float, s
        Between rows of the history; a multiple of dt.
    laws : Law, six Law or None, or callable
        Forces of the drives of the first ring besides those of its phases, as of `Hexapod.simulate`: one law for all
        legs, one for each, or ``f(t, p, v) -> (6,)`` with the coordinates p (6,) and rates v (6,) of the actuated
        joints, N or N m. ``{"a": ..., "b": ...}``: of both rings. Joints that are not driven have none.
    tau : callable
        ``f(t, state) -> (6,)``: the same with all that is known of the docking, a `State`. ``{"a": ..., "b": ...}``.
    thrust : callable
        ``f(t, state) -> (6,)``: force and moment on the first vehicle besides its thrusters and its attitude hold, at
        the centre of mass of its body, base axes, N and N m. ``{"a": ..., "b": ...}``: on both.
    hold : float, s
        Functions are called once in each period of this length, a whole number of steps, and what they gave is held;
        default: they are called at every evaluation.

    Returns
    -------
    docking : Docking
        Also of a run that failed: its `status` says why.

    Raises
    ------
    StepError
        dt is too large for a stiffness or damping of the model, which is named.
    ModelError
        Rings that touch at the start, or that cannot mate.

    Notes
    -----
    Errors that functions raise pass through, with a note that names the function and the time; what is not six finite
    numbers is an error, too. They and the KeyboardInterrupt of Ctrl-C have the docking up to then as their attribute
    ``simulation``, with the status "stopped". A run that is repeated with half the step begins anew at t = 0: functions
    that remember should forget there.

    Examples
    --------
    >>> from zveno import docking
    >>> d = docking.simulate(docking.demo("UPS", "aligned"), dt=2e-3, after=1.0)
    >>> d.status, round(d.t_capture, 6), round(d.peak.axial, 1)
    ('captured', 1.9, 545.7)

    Thrust that keeps the rings together from contact on:

    >>> def push(t, state):
    ...     return [200.0 if state.penetration > 0 or state.latches_closed else 0.0, 0, 0, 0, 0, 0]
    >>> d = docking.simulate(docking.demo("UPS"), dt=2e-3, after=1.0, thrust=push, hold=0.1)
    >>> d.status, bool(d.t_capture < 2.86)
    ('captured', True)
    """
    _scenario("simulate", scenario)
    options, room = _options("simulate", scenario, t_end, after, dt, record)
    fail = failing("simulate")
    control = Control("simulate", scenario, laws, tau, thrust)
    period = 0.0
    if hold is not None:
        period = as_number(hold, fail, "hold")
        if not period > 0:
            fail(f"hold is {period:g}, expected a number > 0")
        if not control.asks:
            fail("hold is given, but no function to hold the values of")
        _require_multiple(fail, "hold", period, _step("simulate", scenario, dt))
    of = _runner(scenario, (control.laws[0], control.laws[1]))
    found = of.run(scenario.conditions._row(), options, room, None, control if control.asks else None, period)
    if STATUS[found["status"]] == "touching":
        raise ModelError(
            f"simulate: the rings touch at the start: conditions.gap is {found['gap']:g} m, expected more than "
            f"{round(start_gap(scenario) - 5e-3, 9) + 0.0:.6g} m, or None for the rule of the start"
        )
    return _finished(scenario, found)


def _finished(scenario: Scenario, found: dict[str, Any]) -> Docking:
    """The docking of a run, or the error that has ended it."""
    error: BaseException | None = found.pop("error")
    made = _docking(scenario, found, STATUS[found["status"]])
    if error is not None:
        error.simulation = made  # type: ignore[attr-defined]
        raise error
    return made


def _docking(scenario: Scenario, found: dict[str, Any], status: str) -> Docking:
    fields = _core.docking_history()
    rows = found.pop("history")[: found.pop("rows")]
    arrays: dict[str, Array] = {}
    at = 0
    for name, size, _, _ in fields:
        arrays[name] = np.ascontiguousarray(rows[:, at] if size == 1 else rows[:, at : at + size])
        at += size
    history = History(arrays, {f[0]: f[2] for f in fields}, {f[0]: f[3] for f in fields})
    events = tuple(
        Event(time, PHASES[index]) if name == "phase" else Event(time, name, index)
        for time, name, index in found["events"]
    )
    locked = found.pop("locked")
    states = []
    for x in found.pop("state"):
        keys = ("position", "quaternion", "velocity", "omega", "P", "L")
        parts = np.split(x, [3, 7, 10, 13, 16])
        states.append(dict(zip(keys, parts, strict=True)))
    strokes = found["leg_strokes"][0]
    return Docking(
        scenario=scenario,
        **(found | {"status": status, "events": events})
        | {"peak": Peaks(*found["peak"].tolist()), "peak_time": Peaks(*found["peak_time"].tolist())}
        | {"work": Work(*found["work"].tolist())},
        stroke_min=float(strokes[:, 0].min()),
        stroke_max=float(strokes[:, 1].max()),
        state_a=states[0],
        state_b=states[1],
        locked=LockedPair(locked[:3], locked[3:6], float(locked[6]), locked[7:10], locked[10:].reshape(3, 3)),
        history=history,
    )


def _rows(function: str, scenario: Scenario, conditions: Any) -> Array:
    fail = failing(function)
    if isinstance(conditions, Conditions):
        conditions = [conditions]
    if isinstance(conditions, list | tuple) and conditions and all(isinstance(c, Conditions) for c in conditions):
        return np.array([c._row() for c in conditions])
    try:
        rows = np.array(conditions, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"conditions is {_show(conditions)}, expected (n, {len(CONDITIONS)}) numbers or Conditions")
    if rows.ndim != 2 or rows.shape[1] != len(CONDITIONS):
        fail(f"conditions has shape {rows.shape}, expected (n, {len(CONDITIONS)}): {', '.join(CONDITIONS)}")
    if not np.isfinite(rows[:, :-1]).all() or np.isinf(rows[:, -1]).any():
        fail("conditions holds numbers that are not finite; only gap may be nan")
    return rows


def run_batch(
    scenario: Scenario,
    conditions: Any,
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
    scenario : Scenario
        Its own conditions do not matter.
    conditions : (n, 12) array or list of Conditions
        Rows of closing, offset y z, pitch, yaw, roll, lateral y z, rates x y z, gap (nan: by the rule of the start);
        m, m/s, rad, rad/s.
    factors : mapping of (n,) arrays, optional
        By which parameters of single runs are multiplied: chaser_mass, station_mass (with the inertia of the body),
        friction, stiffness and damping of the contact, latch_gap, latch_stiffness (with its damping), leg_force.
    t_end, after, dt
        As of `simulate`.
    threads : int, optional
        None: as many as the machine has.

    Returns
    -------
    table : dict of (n,) arrays
        `status` is int64, an index of `zveno.docking.STATUS`: 0 captured, 1 not captured, beyond that failures, whose
        other columns but gap and dt are nan. The result of a run depends on the scenario, its conditions and its
        factors alone.

    Examples
    --------
    >>> import numpy as np
    >>> from zveno import docking
    >>> s = docking.demo("UPS", "aligned")
    >>> table = docking.run_batch(s, [docking.Conditions(v) for v in (0.05, 0.08)])
    >>> table["status"], table["axial"].round(0)
    (array([0, 0]), array([352., 653.]))
    """
    _scenario("run_batch", scenario)
    fail = failing("run_batch")
    rows = _rows("run_batch", scenario, conditions)
    options, _ = _options("run_batch", scenario, t_end, after, dt, None)
    count = None
    if factors is not None and not isinstance(factors, Mapping):
        fail(f"factors is {_show(factors)}, expected a mapping from names of factors to numbers")
    if factors:
        count = np.ones((len(rows), len(FACTORS)))
        for name, values in factors.items():
            if name not in FACTORS:
                fail(f"factors has {_show(name)}, expected some of {', '.join(FACTORS)}{did_you_mean(name, FACTORS)}")
            column = as_array(values, fail, f"factors[{name!r}]", (len(rows),), ())
            if not (column > 0).all():
                fail(f"factors[{name!r}] is not positive everywhere")
            count[:, FACTORS.index(name)] = column
    wanted = 0 if threads is None else as_integer("run_batch", "threads", threads, 1, _core.MOST_THREADS)
    out = _runner(scenario).batch(rows, count, options, wanted)
    table: dict[str, Array] = {name: np.ascontiguousarray(out[:, k]) for k, name in enumerate(COLUMNS)}
    table["status"] = table["status"].astype(np.int64)
    return table


def start_gap(scenario: Scenario, conditions: Any = None) -> Any:
    """Gap between the mating planes at which a docking begins by default: 5 mm more than where the first node touches.

    Parameters
    ----------
    scenario : Scenario
    conditions : Conditions or (n, 12) array, optional
        None: those of the scenario.

    Returns
    -------
    gap : float, or (n,) array of a batch, m

    Examples
    --------
    >>> from zveno import docking
    >>> round(docking.start_gap(docking.demo("UPS", "limit")), 6)
    0.105904
    """
    _scenario("start_gap", scenario)
    single = conditions is None or isinstance(conditions, Conditions)
    rows = _rows("start_gap", scenario, scenario.conditions if conditions is None else conditions)
    of = _runner(scenario)
    gaps = np.array([of.start_gap(row) for row in rows])
    return float(gaps[0]) if single else gaps
