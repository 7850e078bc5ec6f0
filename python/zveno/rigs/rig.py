"""`Rig`: a hardware-in-the-loop rig as data, and what can be said of it in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import SMALLEST, Array, as_amount, as_choice, called, failing, frozen
from .compensation import Compensation, Lead, Passivity, Predictor, VirtualDamper, as_compensations, refuse_other_size
from .given import lags_of, robots_of
from .margin import INTEGRATORS, DelayMargin, delay_margin, loop_of, matrices_of, refuse_without_margin, sampled_margin
from .ring import ring_matrices

if TYPE_CHECKING:
    from ..model import Hexapod

__all__ = ["Rig", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether a rig is stable, and what to change. Printing it gives the sentence.

    Attributes
    ----------
    stable : bool
    delay : float, s
        Of the whole loop, with the hold of the force.
    limit : float, s
        Delay at which the loop loses stability; inf if it never does.
    frequency : float, rad/s
        Of the oscillation there.
    restitution : float or None
        Of one bounce; one axis without filters and compensation, damped at most 10 times the critical amount.
    remedies : tuple of str
        What would make the limit twice the delay; empty where it is.
    """

    stable: bool
    delay: float
    limit: float
    frequency: float
    restitution: float | None
    remedies: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """Limit by delay: below 1 unstable; inf without delay."""
        return math.inf if self.delay == 0 else self.limit / self.delay

    def __str__(self) -> str:
        have = f"the loop has {_ms(self.delay)} of delay" if self.delay else "the loop has no delay"
        if math.isinf(self.limit):
            text = f"Stable: {have} and bears any."
        elif self.limit == 0:
            text = f"Unstable: {have} and bears none."
        elif self.stable:
            text = f"Stable: {have} and bears {_ms(self.limit)}"
            text += f", {self.ratio:.3g} times as much." if self.delay else "."
        else:
            text = (
                f"Unstable: {have} and bears {_ms(self.limit)} only; "
                f"it will oscillate with about {self.frequency:.3g} rad/s ({self.frequency / (2 * math.pi):.3g} Hz)."
            )
        if self.restitution is not None:
            text += f" A bounce returns {self.restitution:.3f} of its speed"
            text += ", more than it had." if self.restitution > 1 else "."
        if self.remedies:
            text += " For twice the delay: " + "; or ".join(self.remedies) + "."
        return text


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


@dataclass(frozen=True, eq=False)
class Rig:
    """A hardware-in-the-loop rig: simulated mass, touching hardware, and the delay between them. Immutable.

    Parameters
    ----------
    mass : float or (n, n) array, kg
        Reduced mass m_A m_B/(m_A + m_B), or mass matrix.
    stiffness, damping : float or (n, n) array, N/m, N s/m
        Of the contact, with what the structure of the rig adds.
    delay : float, s
        Of the whole loop: computation, transport, actuation, sensing; not the hold of a period, not `lag` and `robot`.
    period : float, optional, s
        Of the software. None: so short that it does not matter.
    lag : float or several, s
        Filters 1/(T s + 1) of the force sensor.
    robot : (frequency, damping ratio) or several, rad/s and 1
        Second-order motion of what carries the hardware.
    integrator : {"exact", "semi-implicit", "explicit"}
        Of the simulated mass, see `sampled_margin`.
    K0, D0 : float or (n, n) array
        Springs and dampers in the software, without delay.
    noise : float, N
        Standard deviation of the sensor; for `simulate` only, as is `quantum`.
    quantum : float, N
        Step of the sensor's digits.

    Examples
    --------
    >>> import zveno as zv
    >>> rig = zv.rigs.Rig(mass=100, stiffness=1e4, damping=100, delay=12e-3)
    >>> print(rig.verdict())
    Unstable: the loop has 12 ms of delay and bears 9.97 ms only; it will oscillate with about 10 rad/s (1.6 Hz). A
    bounce returns 1.038 of its speed, more than it had. For twice the delay: a lead F + T F' of T >= 14.1 ms; or a
    virtual damper >= 141 N s/m; or contact damping >= 245 N s/m; or contact stiffness <= 4.13e+03 N/m.
    """

    mass: Any
    stiffness: Any
    damping: Any = 0.0
    delay: float = 0.0
    period: float | None = None
    lag: Any = None
    robot: Any = None
    integrator: str = "semi-implicit"
    K0: Any = 0.0
    D0: Any = 0.0
    noise: float = 0.0
    quantum: float = 0.0

    def __post_init__(self) -> None:
        fail = failing("Rig")

        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        if np.ndim(self.mass) == 0:
            put("mass", as_amount(self.mass, fail, "mass", positive=True))
            put("stiffness", as_amount(self.stiffness, fail, "stiffness", positive=True))
            for name in ("damping", "K0", "D0"):
                put(name, as_amount(getattr(self, name), fail, name))
        else:
            matrices = matrices_of(fail, self.mass, self.stiffness, self.damping, self.K0, self.D0)
            if matrices[0].ndim > 2:
                fail(f"mass has shape {matrices[0].shape}, expected (n, n)")
            for name, matrix in zip(("mass", "stiffness", "damping", "K0", "D0"), matrices, strict=True):
                put(name, frozen(matrix))
        for name in ("delay", "noise", "quantum"):
            put(name, as_amount(getattr(self, name), fail, name))
        if 0 < self.quantum <= SMALLEST:
            fail(f"quantum is {self.quantum:g}, too small to compute with")
        if self.period is not None:
            put("period", as_amount(self.period, fail, "period", positive=True))
        put("lag", lags_of(self.lag, fail))
        put("robot", robots_of(self.robot, fail))
        as_choice(self.integrator, fail, "integrator", INTEGRATORS)

    @classmethod
    def of_ring(
        cls,
        hexapod: Hexapod,
        *,
        pose: Any = None,
        laws: Any = None,
        contact: Any = None,
        kind: str = "interface",
        vehicles: Any = None,
        **rest: Any,
    ) -> Rig:
        """The rig of a docking ring, linearised at a pose; arguments as in `delay_margin`, the `rest` as in `Rig`.

        Examples
        --------
        >>> import zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> law, face = zv.laws.SpringDamper(700.0, 2500.0), zv.rigs.FaceContact(4e5)
        >>> print(zv.rigs.Rig.of_ring(ring, laws=law, contact=face, delay=3e-3).verdict())
        Stable: the loop has 3 ms of delay and bears 6.44 ms, 2.15 times as much.
        """
        fail = failing("Rig.of_ring")
        as_choice(kind, fail, "kind", ("interface", "spacecraft"))
        with called("Rig.of_ring", "delay_margin"):
            M, K1, D1, K0, D0 = ring_matrices(fail, hexapod, pose, laws, contact, kind, vehicles)
        return cls(M, K1, D1, K0=K0, D0=D0, **rest)

    @property
    def n(self) -> int:
        """Number of axes."""
        return 1 if np.ndim(self.mass) == 0 else len(self.mass)

    @property
    def matrices(self) -> tuple[Array, Array, Array, Array, Array]:
        """M, K1, D1, K0, D0, (n, n) each."""
        given = (self.mass, self.stiffness, self.damping, self.K0, self.D0)
        return tuple(np.reshape(np.asarray(x, dtype=float), (self.n, self.n)) for x in given)  # type: ignore[return-value]

    @property
    def hold(self) -> float:
        """What a force that is held over a period costs, s: half a period, one less with semi-implicit steps."""
        parts = {"exact": 0.5, "semi-implicit": 0.0, "explicit": 1.0}
        return 0.0 if self.period is None else parts[self.integrator] * self.period

    @property
    def total_delay(self) -> float:
        """Delay and hold, s: what a margin is compared with."""
        return self.delay + self.hold

    @property
    def _bare(self) -> bool:
        """One axis, nothing but a delay."""
        return self.n == 1 and not (self.lag or self.robot or self.K0 or self.D0)

    def with_(self, **changes: Any) -> Rig:
        """The rig with other values.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.rigs.Rig(100, 1e4).with_(delay=2e-3).delay
        0.002
        """
        return replace(self, **changes)

    def margin(self, compensation: Compensation | Sequence[Compensation] | None = None) -> DelayMargin:
        """The delay that this loop bears, its own `delay` and `period` aside; see `delay_margin`.

        Examples
        --------
        >>> import zveno as zv
        >>> rig = zv.rigs.Rig(mass=500, stiffness=1e4, damping=300, lag=4e-3, robot=(200.0, 0.7))
        >>> print(rig.margin())
        stable below 18.82 ms of delay, oscillates there with 4.492 rad/s
        """
        if compensation is None and self._bare:
            return delay_margin(self.mass, self.stiffness, self.damping)
        delay, frequency = self._margin(compensation)
        return DelayMargin(delay, frequency)

    def _margin(self, compensation: Any) -> tuple[float, float]:
        fail = failing("Rig.margin")
        compensations = as_compensations(compensation, fail)
        refuse_without_margin(compensations, fail)
        refuse_other_size(compensations, self.n, fail)
        delay, frequency = loop_of(self.matrices, self.lag, self.robot, compensations).margin()
        return float(delay), float(frequency)

    def verdict(self, compensation: Compensation | Sequence[Compensation] | None = None) -> Verdict:
        """Stable or not, how far, and what to change. One axis with a period and no filters is judged by (R7).

        `Passivity` does not move the boundary of small motions: it is left out here.

        Examples
        --------
        >>> import zveno as zv
        >>> rig = zv.rigs.Rig(mass=11602, stiffness=1392, damping=1000, delay=40e-3, period=1e-3)
        >>> print(rig.verdict())
        Stable: the loop has 40 ms of delay and bears 704 ms, 17.6 times as much. A bounce returns 0.711 of its speed.
        """
        from .bounce import MOST_DAMPED, restitution

        fail = failing("Rig.verdict")
        given = tuple(c for c in as_compensations(compensation, fail) if not isinstance(c, Passivity))
        limit, frequency = self._margin(given)
        bare = self._bare and not given
        if bare and self.period is not None:
            periods = float(sampled_margin(self.mass, self.stiffness, self.damping, self.period, self.integrator))
            limit = periods * self.period + self.hold if periods else 0.0
        e = None
        slow = self.total_delay * math.sqrt(self.stiffness / self.mass) < 6 if bare else False
        if slow and self.damping <= 2 * MOST_DAMPED * math.sqrt(self.stiffness * self.mass):
            e = float(restitution(self.mass, self.stiffness, self.damping, self.total_delay))
        wanted = 2 * self.total_delay
        remedies = () if limit >= wanted else tuple(self._remedies(given, wanted))
        return Verdict(self.total_delay < limit, self.total_delay, limit, frequency, e, remedies)

    def _remedies(self, given: tuple[Compensation, ...], wanted: float) -> list[str]:
        """Changes, one at a time, after which the loop bears the wanted delay."""
        found = []
        kinds = {type(item) for item in given}
        enough = partial_enough(wanted)
        if Lead not in kinds and Predictor not in kinds:
            time = enough(lambda T: self._margin((*given, Lead(T)))[0], 0.05 * wanted, 20 * wanted)
            if time is not None:
                found.append(f"a lead F + T F' of T >= {_ms(time)}")
        if self.n > 1:
            return found
        k, m = self.stiffness, self.mass
        unit = k * wanted
        if VirtualDamper not in kinds:
            d = enough(lambda d: self._margin((*given, VirtualDamper(d)))[0], 0.01 * unit, 100 * unit)
            if d is not None:
                found.append(f"a virtual damper >= {d:.3g} N s/m")
        d = enough(lambda d: self.with_(damping=self.damping + d)._margin(given)[0], 0.01 * unit, 100 * unit)
        if d is not None:
            found.append(f"contact damping >= {self.damping + d:.3g} N s/m")
        if self.damping:
            soft = enough(lambda c: self.with_(stiffness=k / c)._margin(given)[0], 1.0001, 1e4)
            if soft is not None:
                found.append(f"contact stiffness <= {k / soft:.3g} N/m")
        heavy = enough(lambda c: self.with_(mass=m * c)._margin(given)[0], 1.0001, 10.0)
        if heavy is not None:
            found.append(f"a simulated mass >= {m * heavy:.3g} kg")
        return found


def partial_enough(wanted: float) -> Callable[[Callable[[float], float], float, float], float | None]:
    """What finds the smallest amount, from `low` to `high`, whose margin is the wanted one; None if there is none."""

    def enough(margin: Callable[[float], float], low: float, high: float) -> float | None:
        grid = [float(x) for x in np.geomspace(low, high, 15)]
        first = next((i for i, x in enumerate(grid) if margin(x) >= wanted), None)
        if first is None:
            return None
        a, b = (grid[first - 1] if first else 0.5 * low), grid[first]
        for _ in range(11):
            middle = math.sqrt(a * b)
            a, b = (a, middle) if margin(middle) >= wanted else (middle, b)
        return b

    return enough
