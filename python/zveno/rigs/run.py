"""A rig in time: one contact or a held one, with delay, filters, compensation and a mass or a true mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _show, as_amount, as_array, as_choice, as_integer, as_number, failing
from .._extras import optional
from .compensation import (
    Compensation,
    Lead,
    Passivity,
    Predictor,
    VirtualDamper,
    as_compensations,
    as_matrix_of,
    refuse_other_size,
)
from .rig import Rig

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plant", "RigContact", "RigRun", "simulate"]

_MOST_STEPS: Final = 5_000_000


class Plant(Protocol):
    """What the software of a rig simulates: a displacement x and its rate v, and a step under a force held over it."""

    def reset(self, v: Any) -> tuple[Any, Any]:
        """Start with the displacement 0 and the rate `v`; returns x, v."""

    def step(self, force: Any) -> tuple[Any, Any]:
        """One period under a force against the displacement; returns x, v at its end."""


class RigContact(NamedTuple):
    """One contact: times of its start and end in the software, s; speeds there, m/s; kinetic energies, J.

    `restitution` is above 1 where the contact has returned more than it took; nan of one that has not ended.
    """

    start: float
    end: float
    restitution: float
    energy_in: float
    energy_out: float


@dataclass(frozen=True, eq=False, repr=False)
class RigRun:
    """A rig in time; made by `simulate`.

    Attributes
    ----------
    rig : Rig
    t : (m,) array, s
    x, v : (m,) or (m, n) array, m, m/s
        Of the simulated body; positive x is into the contact.
    force : the same shape, N
        As the software gets it: delayed, filtered.
    force_used : the same shape, N
        After compensation.
    energy : (m,) array, J
        What the contact has taken from the simulated body, by the observer: below 0 it has given more.
    damper : (m,) array, N s/m
        Of the passivity controller.
    contacts : tuple of RigContact
    """

    rig: Rig
    t: Array
    x: Array
    v: Array
    force: Array
    force_used: Array
    energy: Array
    damper: Array
    contacts: tuple[RigContact, ...]

    @property
    def restitution(self) -> float:
        """Of the first contact that has ended; nan if there is none."""
        return next((c.restitution for c in self.contacts if not math.isnan(c.restitution)), math.nan)

    @property
    def alarm(self) -> bool:
        """Whether a contact has returned more energy than it took."""
        return any(c.restitution > 1 for c in self.contacts) or bool(self.energy.min() < -1e-9 * self._largest())

    def _largest(self) -> float:
        M = self.rig.matrices[0]
        v = self.v.reshape(len(self.t), -1)
        return float(0.5 * np.einsum("ti,ij,tj->t", v, M, v).max())

    @property
    def growth(self) -> float:
        """Rate of the amplitude in a held contact, 1/s: above 0 unstable. Of the run's second half."""
        M, K1, _, K0, _ = self.rig.matrices
        x, v = (a.reshape(len(self.t), -1) for a in (self.x, self.v))
        energy = 0.5 * (np.einsum("ti,ij,tj->t", v, M, v) + np.einsum("ti,ij,tj->t", x, K0 + K1, x))
        half = len(energy) // 2
        t, late = self.t[half:], energy[half:]
        good = late > 1e-280
        if good.sum() < 8:
            return -math.inf
        return float(0.5 * np.polyfit(t[good], np.log(late[good]), 1)[0])

    def __repr__(self) -> str:
        text = f"RigRun: {self.t[-1]:.3g} s, {len(self.t)} steps, {len(self.contacts)} contacts"
        return text if math.isnan(self.restitution) else f"{text}, restitution {self.restitution:.4f}"

    def plot(self) -> Figure:
        """Displacement, force and energy over time. Needs matplotlib (``zveno[plot]``).

        Examples
        --------
        >>> import zveno as zv
        >>> figure = zv.rigs.simulate(zv.rigs.Rig(100, 1e4, 100, delay=8e-3)).plot()
        >>> len(figure.axes)
        3
        """
        figure: Figure = optional("zveno.plot.rigs", "RigRun.plot", "matplotlib").plot_run(self)
        return figure


class _Mass:
    """A mass, or a mass matrix with springs and dampers of the software."""

    def __init__(self, rig: Rig, dt: float, thrust: Any) -> None:
        self.dt, self.integrator, self.thrust = dt, rig.integrator, thrust
        M, _, _, K0, D0 = rig.matrices
        if rig.n == 1:
            m, self.k, self.d = float(M[0, 0]), float(K0[0, 0]), float(D0[0, 0])
            self.by_mass: Any = lambda f: f / m
            self.inner: Any = (lambda x, v: self.k * x + self.d * v) if self.k or self.d else (lambda x, v: 0.0)
        else:
            inverse = np.linalg.inv(M)
            self.by_mass = lambda f: inverse @ f
            self.inner = lambda x, v: K0 @ x + D0 @ v

    def reset(self, v: Any) -> tuple[Any, Any]:
        self.x, self.v = 0.0 * v, v
        return self.x, self.v

    def step(self, force: Any) -> tuple[Any, Any]:
        dt = self.dt
        a = self.by_mass(self.thrust - force - self.inner(self.x, self.v))
        v = self.v + a * dt
        if self.integrator == "semi-implicit":
            self.x = self.x + v * dt
        elif self.integrator == "exact":
            self.x = self.x + 0.5 * (self.v + v) * dt
        else:
            self.x = self.x + self.v * dt
        self.v = v
        return self.x, v


class _Path:
    """Robots and filters of the delayed path, by the trapezoidal rule."""

    def __init__(self, rig: Rig, dt: float, x: Any, v: Any) -> None:
        self.robots = []
        for w, z in rig.robot:
            x = x - 2 * z / w * v  # a ramp followed for long
            down = 1 + z * w * dt + 0.25 * (w * dt) ** 2
            self.robots.append([w, z, down, x, v, None])
        self.lags = [[dt / (2 * T + dt), None, None] for T in rig.lag]
        self.dt = dt

    def move(self, x: Any, v: Any) -> tuple[Any, Any]:
        """Where the hardware is for the command x with rate v."""
        dt = self.dt
        for robot in self.robots:
            w, z, down, y, rate, last = robot
            mean = x if last is None else 0.5 * (x + last)
            a = (w * w * (mean - y - 0.5 * dt * rate) - 2 * z * w * rate) / down
            robot[3], robot[4], robot[5] = y + dt * rate + 0.5 * dt * dt * a, rate + dt * a, x
            x, v = robot[3], robot[4]
        return x, v

    def sense(self, force: Any) -> Any:
        """What the sensor says of a force."""
        for lag in self.lags:
            share, y, last = lag
            y = force if y is None else y + share * (force + last - 2 * y)
            lag[1], lag[2] = y, force
            force = y
        return force


class _Delay:
    """A line of past commands; between steps they are interpolated."""

    def __init__(self, delay: float, dt: float, before: Any) -> None:
        steps = delay / dt
        whole = abs(steps - round(steps)) < 1e-6 * max(1.0, steps)
        self.back = round(steps) if whole else math.floor(steps)
        self.part = 0.0 if whole else steps - self.back
        self.before = before

    def __call__(self, history: list[Any], i: int) -> Any:
        late = history[i - self.back] if i >= self.back else self.before(i - self.back)
        if not self.part:
            return late
        later = history[i - self.back - 1] if i > self.back else self.before(i - self.back - 1)
        return tuple(a + self.part * (b - a) for a, b in zip(late, later, strict=True))


def simulate(
    rig: Rig,
    compensation: Compensation | Sequence[Compensation] | None = None,
    *,
    v: ArrayLike = 0.05,
    t_end: float | None = None,
    dt: float | None = None,
    contact: str = "bounce",
    thrust: float = 0.0,
    plant: Plant | None = None,
    seed: int = 0,
) -> RigRun:
    """A rig in time: what the simulated body does in a contact that it feels too late.

    Parameters
    ----------
    rig : Rig
    compensation : Lead, VirtualDamper, Predictor or Passivity, or several of them
    v : float or (n,) array, m/s
        Speed of approach; the body touches at t = 0.
    t_end : float, s
        Default: until the first contact is over, or 12 periods of the oscillation in a held contact.
    dt : float, s
        Step, where the rig has no period. Default: 1/20000 of the period of the oscillation.
    contact : {"bounce", "held"}
        "bounce": the hardware pushes only and lets go; one axis. "held": it pulls too, as a latched one: whether small
        oscillations grow or die out, see `RigRun.growth`.
    thrust : float, N
        Constant push into the contact: it bounces again and again.
    plant : object with reset(v) and step(force)
        Simulates instead of `rig.mass`, as `RingPlant` does: the loop is closed around a true step function.
    seed : int
        Of the sensor's noise.

    Returns
    -------
    run : RigRun

    Examples
    --------
    >>> import zveno as zv
    >>> rig = zv.rigs.Rig(mass=100, stiffness=1e4, delay=8e-3)
    >>> for means in (None, zv.rigs.Lead(10e-3), zv.rigs.VirtualDamper(100), zv.rigs.Predictor(1.1e4)):
    ...     print(f"{zv.rigs.simulate(rig, means).restitution:.3f}")
    1.134
    0.969
    0.961
    0.988
    """
    fail = failing("rigs.simulate")
    if not isinstance(rig, Rig):
        raise TypeError(f"rigs.simulate: rig is {_show(rig)}, expected a Rig")
    compensations = as_compensations(compensation, fail)
    refuse_other_size(compensations, rig.n, fail)
    as_choice(contact, fail, "contact", ("bounce", "held"))
    as_integer("rigs.simulate", "seed", seed, 0, 2**63 - 1)
    held = contact == "held"
    one = rig.n == 1
    if not one and not held:
        fail(f"contact is 'bounce', expected 'held' for a rig of {rig.n} axes")
    push = as_number(thrust, fail, "thrust")
    if push and (plant is not None or not one):
        fail("thrust is given, expected none with many axes or a plant")
    speed: Any = as_amount(v, fail, "v", positive=True) if one else np.array(as_array(v, fail, "v", (rig.n,)))
    M, K1, D1, K0, _ = rig.matrices
    w0 = math.sqrt(float(np.abs(np.linalg.eigvals(np.linalg.solve(M, K0 + K1))).max()))
    w0 = max(w0, float(np.abs(np.linalg.eigvals(np.linalg.solve(M, D1))).max()))
    cycle = 2 * math.pi / w0
    if rig.period is not None:
        if dt is not None:
            fail("dt is given, but the rig has a period, which is the step")
        step = rig.period
    else:
        step = cycle / 20000 if dt is None else as_amount(dt, fail, "dt", positive=True)
    if t_end is not None:
        end = as_amount(t_end, fail, "t_end", positive=True)
    elif held:
        slow = np.abs(np.linalg.eigvals(np.linalg.solve(M, K0 + K1)))
        slowest = math.sqrt(float(slow[slow > 1e-9 * slow.max()].min()))
        end = 12 * 2 * math.pi / slowest
    else:
        end = 20 * cycle + 20 * rig.delay
    steps = math.ceil(end / step)
    if steps > _MOST_STEPS:
        fail(f"t_end = {end:g} s needs {steps} steps of {step:g} s, expected at most {_MOST_STEPS}; give dt or t_end")
    if plant is not None and not (hasattr(plant, "reset") and hasattr(plant, "step")):
        raise TypeError(f"rigs.simulate: plant is {_show(plant)}, expected an object with reset(v) and step(force)")
    body: Plant = _Mass(rig, step, push) if plant is None else plant
    return _closed(rig, compensations, body, speed, step, steps, held, t_end is None and not held, seed)


def _closed(
    rig: Rig,
    compensations: tuple[Compensation, ...],
    plant: Plant,
    speed: Any,
    dt: float,
    steps: int,
    held: bool,
    once: bool,
    seed: int,
) -> RigRun:
    """The loop. Numbers are floats with one axis and arrays with many; the text is the same."""
    fail = failing("rigs.simulate")
    one = rig.n == 1
    M, K1, D1, _, _ = rig.matrices
    k, d = (float(K1[0, 0]), float(D1[0, 0])) if one else (K1, D1)
    lead = next((c for c in compensations if isinstance(c, Lead)), None)
    damper = next((c for c in compensations if isinstance(c, VirtualDamper)), None)
    predictor = next((c for c in compensations if isinstance(c, Predictor)), None)
    passivity = next((c for c in compensations if isinstance(c, Passivity)), None)

    def times(matrix: Any, vector: Any) -> Any:
        return matrix * vector if one else matrix @ vector

    def number(value: Any) -> Any:
        return float(as_matrix_of(value, 1)[0, 0]) if one else np.asarray(value)

    def before(i: int) -> tuple[Any, Any]:
        return (0.0 * speed, 0.0 * speed) if held else (speed * (i * dt), speed)

    d_v = 0.0 if damper is None else number(damper.damping)
    believed = None if predictor is None else number(predictor.stiffness)
    line = _Delay(rig.delay, dt, before)
    path = _Path(rig, dt, *before(-line.back))
    expected_line, expected_path = line, None
    if predictor is not None:
        expected_line = line if predictor.delay is None else _Delay(predictor.delay, dt, before)
        expected_path = _Path(rig, dt, *before(-expected_line.back))
    random = np.random.default_rng(seed) if rig.noise else None
    x, v = plant.reset(speed)
    history: list[Any] = []
    forces, used, energies, dampers = [], [], [], []
    contacts: list[RigContact] = []
    energy, last, slope, touched = 0.0, None, 0.0 * speed, None
    mass = float(M[0, 0])
    for i in range(steps + 1):
        history.append((x, v))
        at, rate = path.move(*line(history, i))
        pushing = held or at > 0
        F = times(k, at) + times(d, rate) if pushing else 0.0 * speed
        F = F if held or F > 0 else 0.0
        if random is not None:
            F = F + rig.noise * (random.standard_normal() if one else random.standard_normal(rig.n))
        if rig.quantum:
            F = rig.quantum * np.round(F / rig.quantum) if not one else rig.quantum * round(F / rig.quantum)
        F = path.sense(F)
        G = F
        if lead is not None:
            change = 0.0 * speed if last is None else (F - last) / dt
            slope = change if not lead.filter else slope + (dt / (lead.filter + dt)) * (change - slope)
            G = G + lead.time * slope
            last = F
        if expected_path is not None:
            late, _ = expected_path.move(*expected_line(history, i))
            now = times(believed, x) if held or x > 0 else 0.0 * speed
            then = times(believed, late) if held or late > 0 else 0.0 * speed
            G = G + now - expected_path.sense(then)
        active = held or F > 0 or x > 0
        if damper is not None and active:
            G = G + times(d_v, v)
        power = F * v if one else float(F @ v)
        alpha = 0.0
        if passivity is not None:
            power = G * v if one else float(G @ v)
            square = v * v if one else float(v @ v)
            energy += power * dt
            if energy < 0 and square > passivity.slowest**2:
                alpha = min(-energy / (square * dt), passivity.largest)
                G = G + alpha * v
                energy += alpha * square * dt
        else:
            energy += power * dt
        forces.append(F)
        used.append(G)
        energies.append(energy)
        dampers.append(alpha)
        if not held:
            if touched is None and active:
                touched = (i * dt, v)
            elif touched is not None and not active and not pushing:
                start, before_v = touched
                ratio = -v / before_v if before_v else math.nan
                contacts.append(RigContact(start, i * dt, ratio, 0.5 * mass * before_v**2, 0.5 * mass * v * v))
                touched = None
                if once:
                    break
        if i < steps:
            x, v = plant.step(G)
            if not (math.isfinite(x) if one else np.isfinite(x).all()):
                fail(f"the motion at t = {(i + 1) * dt:g} s is not finite: the rig is unstable, give a shorter t_end")
    if touched is not None:
        start, before_v = touched
        contacts.append(RigContact(start, math.nan, math.nan, 0.5 * mass * before_v**2, math.nan))
    states = np.array(history)
    m = len(history)
    return RigRun(
        rig,
        np.asarray(dt * np.arange(m), dtype=np.float64),
        np.ascontiguousarray(states[:, 0]),
        np.ascontiguousarray(states[:, 1]),
        np.array(forces),
        np.array(used),
        np.array(energies),
        np.array(dampers),
        tuple(contacts),
    )
