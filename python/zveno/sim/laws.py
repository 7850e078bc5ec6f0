"""Force laws of drives and joints: what `Hexapod.simulate` and `Chain.simulate` take as `laws`.

A law gives the force of a drive or joint from time t, coordinate x and rate v of its joint. A positive force increases
the coordinate. Units are N and m for a slide, N m and rad for a hinge. Laws add up with ``+``; `SlipClutch` limits the
sum it is given. Calling a law evaluates the same compiled formula that the simulation uses.

The inertia of a drive seen through a ball screw or a gear is no law: it belongs to the equations of motion, and the
constructors of `Leg` take it as `rotor_inertia` with `lead` or `gear`.

Examples
--------
>>> law = SpringDamper(400.0, 80.0) + DryFriction(5.0, 2e-3) + Stops(1e5, 2e3, lower=-0.13, upper=0.15)
>>> law(0.0, 0.01, 0.0)
-4.0
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import _is_name, _show, as_array, as_list, as_number, refuse_masked
from . import formula as _formula

if TYPE_CHECKING:
    from ..model import Chain, Hexapod

__all__ = [
    "Bumpers",
    "DryFriction",
    "EddyBrake",
    "Formula",
    "Law",
    "LuGre",
    "Ramp",
    "Servo",
    "SlipClutch",
    "SpringDamper",
    "Stops",
    "Sum",
    "Table",
]

Array = NDArray[np.float64]
_Term = tuple[Any, ...]
_DEEPEST: Final = 32  # nesting of slip clutches, as in C++


class Slope(NamedTuple):
    """Steepest slopes of a law or of one of its terms: what the step of an integration has to follow.

    `bounded`: the force does not grow without end, so steps that are too long make it chatter, not explode.
    """

    law: str
    stiffness: float = 0.0  # -dF/dx, N/m or N m/rad
    damping: float = 0.0  # -dF/dv, N s/m or N m s/rad
    words: tuple[str, str] = ("stiffness", "damping")  # which parameters make them
    bounded: bool = False
    ends: tuple[float, float] | None = None  # acts beyond these coordinates only
    bristles: LuGre | None = None

    def acts_at(self, x: float, v: float, dt: float) -> bool:
        """Whether it acts in a state from which a step dt is made."""
        if self.ends is not None:
            return not self.ends[0] < x < self.ends[1]
        return self.bristles is None or self.bristles._sticks(v, dt)


class Place(NamedTuple):
    """What a law may take from its leg or joint."""

    who: str
    nominal: Callable[[], float]
    lower: float
    upper: float


def _fail_of(made: object) -> Callable[[str], NoReturn]:
    def fail(text: str) -> NoReturn:
        raise ValueError(f"{type(made).__name__}: {text}")

    return fail


@lru_cache
def _rules(amounts: str, positive: str, infinite: str, numbers: str) -> tuple[tuple[str, bool, bool, bool], ...]:
    """Of each named field: whether it must be >= 0, whether > 0, whether it may be infinite."""
    return tuple(
        (key, group is amounts, group is positive or group is infinite, group is infinite)
        for group in (amounts, positive, infinite, numbers)
        for key in group.split()
    )


def _check(made: object, *, amounts: str = "", positive: str = "", infinite: str = "", numbers: str = "") -> None:
    """Turn the named fields into floats: `amounts` are >= 0, `positive` > 0, `infinite` > 0 or infinite."""
    fail = _fail_of(made)
    for key, amount, above, endless in _rules(amounts, positive, infinite, numbers):
        number = as_number(getattr(made, key), fail, key, infinite=endless)
        if amount and number < 0:
            fail(f"{key} is {number:g}, expected a number >= 0")
        if above and not number > 1e-100:
            fail(f"{key} is {number:g}, expected a number > 0")
        object.__setattr__(made, key, number)


class Law(ABC):
    """Base of all laws. Immutable, hashable; `a + b` is the sum of two laws.

    Examples
    --------
    >>> import zveno as zv
    >>> law = zv.laws.SpringDamper(400.0, 80.0) + zv.laws.DryFriction(5.0, 1e-3)
    >>> law.at(zv.robots.two_link(), 0)(0.0, 0.01, 0.1)  # t, x, v
    -17.0
    """

    __slots__ = ()

    @overload
    def __call__(self, t: float, x: float, v: float) -> float: ...
    @overload
    def __call__(self, t: ArrayLike, x: ArrayLike, v: ArrayLike) -> Array | float: ...
    def __call__(self, t: ArrayLike, x: ArrayLike, v: ArrayLike) -> Array | float:
        """Force of the drive.

        Parameters
        ----------
        t, x, v : array or float
            Time, s; coordinate, m or rad; rate, m/s or rad/s. They are broadcast. Where a law refers to the nominal
            coordinate of its leg (a reference of None), `x` is the distance from it; `Law.of` puts in the true value.

        Returns
        -------
        force : array or float, N or N m
            Of `LuGre`: in steady sliding.

        Raises
        ------
        ValueError
            An argument is not a number or not finite.
        FloatingPointError
            The force overflows.
        """
        fail = _fail_of(self)
        arrays = []
        for name, value in (("t", t), ("x", x), ("v", v)):
            refuse_masked(value, f"{type(self).__name__}: {name}")
            array = np.asarray(value)
            if array.dtype.kind not in "iuf":
                fail(f"{name} is {_show(value)}, expected numbers")
            with np.errstate(over="ignore"):  # a long double may not fit; reported below
                array = array.astype(np.float64, copy=False)
            if not np.isfinite(array).all():
                fail(f"{name} is {_show(array.tolist())}, expected finite numbers")
            arrays.append(array)
        try:
            arrays = list(np.broadcast_arrays(*arrays))
        except ValueError:
            fail(f"t, x, v have shapes {', '.join(str(a.shape) for a in arrays)}, which do not broadcast")
        shape = arrays[0].shape
        states = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
        force = program(self).force(*states)
        if not np.isfinite(force).all():
            at = ", ".join(
                f"{name} = {values[int(np.isfinite(force).argmin())]:g}"
                for name, values in zip("txv", states, strict=True)
            )
            formula = any(term[0] == "formula" for term in self._terms())
            why = "numbers are too large" + (", or a formula has no value there" if formula else "")
            raise FloatingPointError(f"{type(self).__name__}: the force at {at} is not finite: {why}")
        return force.reshape(shape) if shape else float(force[0])

    def of(self, hexapod: Hexapod, leg: int | str) -> Law:
        """The law as it acts in a leg of a hexapod: references of None and limits of None take their values.

        Legs have numbers and names, all joints names as in ``laws`` of `Hexapod.simulate`.

        Examples
        --------
        >>> import zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> zv.laws.SpringDamper(400.0, 80.0).of(ring, 0)
        SpringDamper(stiffness=400.0, damping=80.0, force=0.0, reference=0.0)
        >>> round(zv.laws.SpringDamper(5.0).of(ring, "leg1.u1").reference, 3)
        0.0
        """
        found = [place for name, place in leg_joints(hexapod) if isinstance(leg, str) and name == leg]
        if len(set(found)) == 1:
            return self._resolved(leg_places(hexapod)(*found[0]))
        return self._resolved(leg_places(hexapod)(self._index("of", "leg", leg, hexapod.leg_names)))

    def at(self, chain: Chain, joint: int | str) -> Law:
        """The law as it acts in a joint of a chain: references of None are zero, limits of None take their values.

        Examples
        --------
        >>> import zveno as zv
        >>> SpringDamper(50.0).at(zv.robots.two_link(), "upper_joint").reference
        0.0
        """
        return self._resolved(joint_place(chain, self._index("at", "joint", joint, chain.joint_names)))

    def _index(self, method: str, what: str, place: Any, names: tuple[str, ...]) -> int:
        """Index of a leg or joint that is given by number or name."""
        if isinstance(place, str) and place in names:
            place = names.index(place)
        if isinstance(place, bool) or not isinstance(place, int | np.integer) or not 0 <= place < len(names):
            expected = f"0 to {len(names) - 1} or one of {names}"
            raise ValueError(f"{type(self).__name__}.{method}: {what} is {_show(place)}, expected {expected}")
        return int(place)

    def __add__(self, other: object) -> Sum:
        return Sum((self, other)) if isinstance(other, Law) else NotImplemented

    def __radd__(self, other: object) -> Law:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def _resolved(self, place: Place) -> Law:
        return self

    @abstractmethod
    def _terms(self) -> list[_Term]: ...

    @abstractmethod
    def _slopes(self) -> list[Slope]: ...

    @property
    def _depth(self) -> int:
        """How deep slip clutches are nested in it."""
        return 0


def leg_joints(hexapod: Hexapod) -> list[tuple[str, tuple[int, int]]]:
    """Names of legs, which stand for their actuated joints, and of all joints, with the indices of leg and joint."""
    legs = list(enumerate(zip(hexapod.leg_names, hexapod.legs, strict=True)))
    named = [(name, (k, leg.actuated_index)) for k, (name, leg) in legs]
    return named + [(f"{name}.{joint}", (k, j)) for k, (name, leg) in legs for j, joint in enumerate(leg.joint_names)]


def leg_places(hexapod: Hexapod) -> Callable[..., Place]:
    """What a law may take from each leg of a hexapod: of its actuated joint, or of another one."""

    @cache
    def closed() -> Array | None:
        return None if hexapod.nominal is None else hexapod.closure(*hexapod.nominal)

    def place(leg: int, joint: int | None = None) -> Place:
        part = hexapod.legs[leg]
        at, who = part.actuated_index, f"leg '{part.name}'"
        ends = float(part.lower), float(part.upper)
        if joint is not None and joint != at:
            at, who = joint, f"joint '{part.joint_names[joint]}' of {who}"
            ends = -math.inf, math.inf
            if part.chain is not None:
                ends = float(part.chain.lower[at]), float(part.chain.upper[at])

        def nominal() -> float:
            if (p := closed()) is None:
                raise ValueError(f"{who}: reference is None, but hexapod '{hexapod.name}' has no nominal pose")
            return float(p[leg, at])

        return Place(who, nominal, *ends)

    return place


def joint_place(chain: Chain, joint: int) -> Place:
    """What a law may take from a joint of a chain, whose nominal coordinate is zero."""
    return Place(
        f"joint '{chain.joint_names[joint]}'", lambda: 0.0, float(chain.lower[joint]), float(chain.upper[joint])
    )


@lru_cache(maxsize=256)
def program(law: Law) -> _core.JointLaw:
    """The compiled form of a law."""
    return _core.JointLaw(law._terms())


@dataclass(frozen=True)
class SpringDamper(Law):
    """Spring and damper: force - stiffness (x - reference) - damping v.

    Parameters
    ----------
    stiffness : float, N/m or N m/rad
    damping : float, N s/m or N m s/rad
    force : float, N or N m
        Preload: the force at the reference.
    reference : float, optional, m or rad
        Where the spring is relaxed. None: the coordinate of the leg in the hexapod's nominal pose, zero in a chain.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.SpringDamper(400.0, 80.0)
    >>> float(law(0.0, 0.01, 0.5))  # time, coordinate, rate: -400 * 0.01 - 80 * 0.5
    -44.0
    """

    stiffness: float
    damping: float = 0.0
    force: float = 0.0
    reference: float | None = None

    def __post_init__(self) -> None:
        _check(self, amounts="stiffness damping", numbers="force")
        if self.reference is not None:
            _check(self, numbers="reference")

    def _resolved(self, place: Place) -> Law:
        return self if self.reference is not None else replace(self, reference=place.nominal())

    def _terms(self) -> list[_Term]:
        return [("spring_damper", self.force, self.stiffness, self.damping, self.reference or 0.0)]

    def _slopes(self) -> list[Slope]:
        return [Slope("SpringDamper", self.stiffness, self.damping)]


@dataclass(frozen=True)
class DryFriction(Law):
    """Dry friction, smooth at rest: -force tanh(v / speed). It creeps under any load; `LuGre` sticks.

    Parameters
    ----------
    force : float, N or N m
    speed : float, m/s or rad/s
        Where 76 % of the force is reached. The shorter, the shorter the steps must be.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.DryFriction(5.0, 1e-3)
    >>> law(0.0, 0.0, [-1.0, 0.0, 1.0]).round(3) + 0.0
    array([ 5.,  0., -5.])
    """

    force: float
    speed: float

    def __post_init__(self) -> None:
        _check(self, amounts="force", positive="speed")

    def _terms(self) -> list[_Term]:
        return [("dry_friction", self.force, self.speed)]

    def _slopes(self) -> list[Slope]:
        return [Slope("DryFriction", 0.0, self.force / self.speed, ("", "force / speed"), bounded=True)]


@dataclass(frozen=True)
class LuGre(Law):
    """Friction with true sticking (Canudas de Wit et al. 1995).

    Bristles between the surfaces have the deflection z, an internal state that `simulate` integrates:
    z' = v - stiffness |v| z / g(v) with g(v) = force + (breakaway - force) exp(-(v / speed)^2); the force is
    -(stiffness z + damping z' + viscous v). A simulation starts with the deflection of steady sliding at the initial
    rate, zero at rest. At most four of them in one law.

    Parameters
    ----------
    force : float, N or N m
        In sliding (Coulomb).
    breakaway : float, N or N m
        The largest one at rest, at least `force`.
    speed : float, m/s or rad/s
        Of the fall from one to the other (Stribeck).
    stiffness : float, N/m or N m/rad
        Of the bristles: sticking bodies yield by force / stiffness.
    damping : float, N s/m or N m s/rad
        Of the bristles.
    viscous : float, N s/m or N m s/rad

    Notes
    -----
    Bristles relax with the rate stiffness |v| / g(v); its product with the step must be below 2.7 for "rk4". With
    "semi-implicit" they stick quietly for steps below about (damping + viscous) / stiffness only; beyond that they
    chatter, and `simulate` warns if they stick at the start or the end of a run.

    Examples
    --------
    >>> import zveno as zv
    >>> law = zv.laws.LuGre(force=10.0, breakaway=15.0, speed=0.01, stiffness=1e5)
    >>> round(law(0.0, 0.0, 0.2), 6)  # steady sliding
    -10.0
    """

    force: float
    breakaway: float
    speed: float
    stiffness: float
    damping: float = 0.0
    viscous: float = 0.0

    def __post_init__(self) -> None:
        _check(self, positive="force breakaway speed stiffness", amounts="damping viscous")
        if self.breakaway < self.force:
            _fail_of(self)(f"breakaway is {self.breakaway:g}, expected at least force = {self.force:g}")

    def _terms(self) -> list[_Term]:
        return [
            ("lugre", self.force, self.breakaway, self.speed, self.stiffness, self.damping, self.viscous),
        ]

    def _slopes(self) -> list[Slope]:
        slopes = [Slope("LuGre", self.stiffness, self.damping, bristles=self)]
        return [*slopes, Slope("LuGre", 0.0, self.viscous, ("", "viscous"))] if self.viscous else slopes

    def _level(self, v: float) -> float:
        """Size g(v) of the force in steady sliding, without the viscous part."""
        w = min(abs(v) / self.speed, 30.0)  # e^-900 is zero
        return self.force + (self.breakaway - self.force) * math.exp(-w * w)

    def _decay(self, v: float) -> float:
        """Rate at which bristles relax at the speed v, 1/s."""
        return self.stiffness * abs(v) / self._level(v)

    def _sticks(self, v: float, dt: float) -> bool:
        """Whether bristles are far from sliding within a step: then they are a spring."""
        return self._decay(v) * dt < 1


class _Ends(Law):
    """A law that acts beyond the limits of a leg or joint."""

    lower: float | None
    upper: float | None

    def _check_ends(self) -> None:
        fail = _fail_of(self)
        for key in ("lower", "upper"):
            value = getattr(self, key)
            if value is not None:
                object.__setattr__(self, key, as_number(value, fail, key, infinite=True))
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            fail(f"lower is {self.lower:g} and upper is {self.upper:g}, expected lower < upper")
        if self.lower == math.inf or self.upper == -math.inf:
            fail(f"lower is {self.lower} and upper is {self.upper}, which leaves no way")

    def _resolved(self, place: Place) -> Law:
        lower = place.lower if self.lower is None else self.lower
        upper = place.upper if self.upper is None else self.upper
        if math.isinf(lower) and math.isinf(upper):
            raise ValueError(f"{type(self).__name__}: {place.who} has no limits; give lower= and upper=")
        return replace(self, lower=lower, upper=upper)  # type: ignore[type-var]

    def _need_ends(self) -> None:
        for key in ("lower", "upper"):
            if getattr(self, key) is None:
                _fail_of(self)(f"{key} is None, the limit of a leg; give a number, or choose the leg with Law.of")

    def _ends(self) -> tuple[float, float]:
        return -math.inf if self.lower is None else self.lower, math.inf if self.upper is None else self.upper


@dataclass(frozen=True)
class Stops(_Ends):
    """Ends of the way: springs beyond them, with dampers that act inwards only, so that a stop never pulls.

    x > upper: -stiffness (x - upper) - damping max(v, 0); x < lower: -stiffness (x - lower) - damping min(v, 0).

    Parameters
    ----------
    stiffness : float, N/m or N m/rad
    damping : float, N s/m or N m s/rad
    lower, upper : float, optional, m or rad
        None: the limit of the leg or joint; infinite: no stop on this side.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.Stops(1e5, 0.0, lower=-0.1, upper=0.1)
    >>> law(0.0, [-0.11, 0.0, 0.11], 0.0).round(6) + 0.0
    array([ 1000.,     0., -1000.])
    """

    stiffness: float
    damping: float = 0.0
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        _check(self, positive="stiffness", amounts="damping")
        self._check_ends()

    def _terms(self) -> list[_Term]:
        self._need_ends()
        return [("stops", self.lower, self.upper, self.stiffness, self.damping)]

    def _slopes(self) -> list[Slope]:
        return [Slope("Stops", self.stiffness, self.damping, ends=self._ends())]


@dataclass(frozen=True)
class Bumpers(_Ends):
    """Ends of the way that set in smoothly: stiffness ramp(depth) max(0, 1 + damping v) inwards, v into the stop.

    ramp(x) = blend c^3 (1 - c / 2) + max(x - blend, 0) with c = x / blend, at most 1: twice continuously
    differentiable, so that an integration keeps its order across the stop. `Stops` jump with their damper.

    Parameters
    ----------
    stiffness : float, N/m or N m/rad
    damping : float, s/m or s/rad
        In proportion to the elastic force.
    blend : float, m or rad
        Depth over which the stiffness sets in.
    lower, upper : float, optional, m or rad
        None: the limit of the leg or joint; infinite: no stop on this side.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.Bumpers(1e5, 10.0, 1e-3, lower=-0.1, upper=0.1)
    >>> law(0.0, [-0.11, 0.0, 0.11], [0.0, 0.0, 0.05]).round(6) + 0.0
    array([  950.,     0., -1425.])
    """

    stiffness: float
    damping: float = 0.0
    blend: float = 1e-3
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        _check(self, positive="stiffness blend", amounts="damping")
        self._check_ends()

    def _terms(self) -> list[_Term]:
        self._need_ends()
        return [("bumpers", self.lower, self.upper, self.stiffness, self.damping, self.blend)]

    def _slopes(self) -> list[Slope]:
        return [Slope("Bumpers", self.stiffness, 0.0, ends=self._ends())]


@dataclass(frozen=True)
class EddyBrake(Law):
    """Eddy-current brake: -2 force (v / speed) / (1 + (v / speed)^2).

    Parameters
    ----------
    force : float, N or N m
        The largest one.
    speed : float, m/s or rad/s
        Where it is reached.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.EddyBrake(60.0, 0.1)
    >>> float(law(0.0, 0.0, 0.1))  # strongest at its critical speed
    -60.0
    """

    force: float
    speed: float

    def __post_init__(self) -> None:
        _check(self, amounts="force", positive="speed")

    def _terms(self) -> list[_Term]:
        return [("eddy_brake", self.force, self.speed)]

    def _slopes(self) -> list[Slope]:
        return [Slope("EddyBrake", 0.0, 2 * self.force / self.speed, ("", "2 force / speed"), bounded=True)]


@dataclass(frozen=True)
class Ramp:
    """Reference of a `Servo`: rests at `start`, leaves at time `begin` with constant speed, rests at `target`.

    Parameters
    ----------
    target : float, m or rad
    speed : float, m/s or rad/s
        Positive; the direction follows from `target`.
    start : float, optional, m or rad
        None: the coordinate of the leg in the hexapod's nominal pose, zero in a chain.
    begin : float, s
    relative : bool
        `target` and `start` are counted from the nominal coordinate of the leg.

    Examples
    --------
    >>> import zveno as zv
    >>> servo = zv.laws.Servo(1e4, 0.0, limit=1e3, reference=zv.laws.Ramp(0.1, speed=0.02, start=0.0))
    >>> [servo(t, 0.0, 0.0) for t in (0.0, 1.0, 10.0)]
    [0.0, 200.0, 1000.0]
    """

    target: float
    speed: float
    start: float | None = None
    begin: float = 0.0
    relative: bool = False

    def __post_init__(self) -> None:
        _check(self, positive="speed", numbers="target begin")
        if self.start is not None:
            _check(self, numbers="start")
        _check_flag(self)

    def _resolved(self, place: Place) -> Ramp:
        if not self.relative:
            return self if self.start is not None else replace(self, start=place.nominal())
        nominal = place.nominal()
        return replace(self, start=nominal + (self.start or 0.0), target=nominal + self.target, relative=False)

    def _reference(self) -> _Term:
        return ("ramp", self.start or 0.0, self.target, self.speed, self.begin)


@dataclass(frozen=True, eq=False)
class Table:
    """Reference of a `Servo`: samples over time, linear between them, constant before the first and after the last.

    Parameters
    ----------
    times : (n,) array, s
        Increasing.
    values : (n,) array, m or rad
    relative : bool
        `values` are counted from the nominal coordinate of the leg.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.Servo(100.0, reference=zv.laws.Table([0.0, 1.0], [0.0, 0.1]))
    >>> law([0.0, 0.5, 2.0], 0.0, 0.0).round(3)
    array([ 0.,  5., 10.])
    """

    times: Array
    values: Array
    relative: bool = False

    def __post_init__(self) -> None:
        fail = _fail_of(self)
        count = len(as_list(self.times) or ())
        if not count:
            fail(f"times is {_show(self.times)}, expected (n,) numbers with n > 0")
        times = as_array(self.times, fail, "times", (count,))
        if not (np.diff(times) > 0).all():
            fail("times are not increasing")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", as_array(self.values, fail, "values", (count,)))
        _check_flag(self)

    def _resolved(self, place: Place) -> Table:
        return Table(self.times, self.values + place.nominal()) if self.relative else self

    def _reference(self) -> _Term:
        return ("table", self.times, self.values)

    def _key(self) -> tuple[object, ...]:
        return self.times.tobytes(), self.values.tobytes(), self.relative

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Table) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        start, end = self.times[[0, -1]].tolist()
        return f"Table({len(self.times)} samples from {start:g} to {end:g} s{', relative' if self.relative else ''})"


def _check_flag(made: Ramp | Table) -> None:
    if not isinstance(made.relative, bool):
        _fail_of(made)(f"relative is {_show(made.relative)}, expected True or False")


@dataclass(frozen=True)
class Servo(Law):
    """Position servo: stiffness (p - x) + damping (p' - v), at most `limit` in size, for the reference p(t).

    Parameters
    ----------
    stiffness : float, N/m or N m/rad
    damping : float, N s/m or N m s/rad
    reference : float, Ramp or Table, optional
        p(t), m or rad. None: the coordinate of the leg in the hexapod's nominal pose, zero in a chain.
    limit : float, N or N m
        The largest force, infinite by default.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.Servo(1000.0, 50.0, zv.laws.Ramp(0.1, 0.02, start=0.0))
    >>> law([0.0, 5.0, 10.0], 0.0, 0.0).round(3)  # pulls towards 0, 0.1, 0.1 m; moving at 0.02 m/s until 5 s
    array([  1., 100., 100.])
    """

    stiffness: float
    damping: float = 0.0
    reference: float | Ramp | Table | None = None
    limit: float = math.inf

    def __post_init__(self) -> None:
        _check(self, amounts="stiffness damping", infinite="limit")
        if self.reference is not None and not isinstance(self.reference, Ramp | Table):
            number = as_number(self.reference, _fail_of(self), "reference")
            object.__setattr__(self, "reference", number)

    def _resolved(self, place: Place) -> Law:
        reference = self.reference
        if reference is None:
            return replace(self, reference=place.nominal())
        return self if isinstance(reference, float) else replace(self, reference=reference._resolved(place))

    def _terms(self) -> list[_Term]:
        reference = self.reference
        kind, *rest = reference._reference() if isinstance(reference, Ramp | Table) else ("constant", reference or 0.0)
        return [(f"servo_{kind}", self.stiffness, self.damping, self.limit, *rest)]

    def _slopes(self) -> list[Slope]:
        return [Slope("Servo", self.stiffness, self.damping, bounded=math.isfinite(self.limit))]


@dataclass(frozen=True)
class Formula(Law):
    """A law of your own: a formula of t, x and v, compiled once and run without Python.

    Parameters
    ----------
    text : str or callable
        ``"-400 * x - 80 * v"``, or a function ``f(t, x, v)`` that is called once with symbols and turned into such a
        text. Known are + - * /, ``x ** n`` with a whole n or 0.5, sqrt, abs, exp, tanh, sin, cos, min, max, clip,
        ``where(v > 0, a, b)`` or ``a if v > 0 else b``, pi, and in a text also intermediate results: ``u = v / 0.01;
        -5 * tanh(u)``. A function uses NumPy's, and ``np.where`` where it decides.
    parameters : dict of str to float, optional
        Numbers that the text names.
    reference : float, optional, m or rad
        x is counted from here. None: the coordinate of the leg in the hexapod's nominal pose, zero in a chain.

    Notes
    -----
    It is plain data, and has no steepest slope: where the step of a simulation is judged by its laws, a formula is
    left out, and the energy balance tells. Files for the C library and generated steps do not have it.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.Formula("-k * x - 5 * tanh(v / 0.002)", {"k": 400.0})
    >>> law(0.0, 0.01, [0.0, 1.0])
    array([-4., -9.])
    >>> law = zv.laws.Formula(lambda t, x, v: np.where(x > 0.1, -1e5 * (x - 0.1), 0.0))
    >>> law.text
    'where(x > 0.1, (-100000.0) * (x - 0.1), 0.0)'
    """

    text: str | Callable[[Any, Any, Any], Any]
    parameters: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    reference: float | None = None

    def __post_init__(self) -> None:
        fail = _fail_of(self)
        given = self.parameters
        if not isinstance(given, Mapping):
            try:
                given = dict(given)
            except (TypeError, ValueError):
                fail(f"parameters is {_show(self.parameters)}, expected a dictionary of numbers by name")
        known = {*_formula.INPUTS, *_formula.FUNCTIONS, "pi"}
        for name in given:
            if not (_is_name(name) and name.isidentifier()) or name in known:
                fail(f"parameters has the name {_show(name)}, expected one that means nothing else")
        numbers = {name: as_number(x, fail, f"parameters[{name!r}]") for name, x in given.items()}
        object.__setattr__(self, "parameters", tuple(sorted(numbers.items())))
        if self.reference is not None:
            _check(self, numbers="reference")
        if not isinstance(self.text, str):
            if not callable(self.text) or isinstance(self.text, Law):
                fail(f"text is {_show(self.text)}, expected a text or a function f(t, x, v)")
            try:
                text = _formula.write(self.text)
            except (TypeError, ValueError) as error:
                raise type(error)(f"Formula: {error}") from error
            object.__setattr__(self, "text", text)
        self._program()
        words = set(re.findall(r"[^\W\d]\w*", str(self.text)))
        for name in numbers:
            if name not in words:
                fail(f"parameters has {name!r}, which the text {_show(self.text)} does not name")

    def _program(self) -> _formula.Program:
        try:
            return _formula.program_of(_formula.read(str(self.text), dict(self.parameters)))
        except (ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
            _fail_of(self)(f"{_show(self.text)}: {error}")

    def _resolved(self, place: Place) -> Law:
        return self if self.reference is not None else replace(self, reference=place.nominal())

    def _terms(self) -> list[_Term]:
        constants, steps = self._program()
        return [("formula", self.reference or 0.0, np.array(constants), np.array(steps, np.float64).ravel())]

    def _slopes(self) -> list[Slope]:
        return []


@dataclass(frozen=True)
class SlipClutch(Law):
    """A law whose force is limited: |force| <= limit.

    Parameters
    ----------
    limit : float, N or N m
        The force at which the clutch slips.
    law : Law
        What it transmits; may be a sum.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> law = zv.laws.SlipClutch(9.0, zv.laws.Servo(1000.0))
    >>> law(0.0, [0.001, 0.1], 0.0).round(6)  # never more than 9 N
    array([-1., -9.])
    """

    limit: float
    law: Law

    def __post_init__(self) -> None:
        _check(self, positive="limit")
        if not isinstance(self.law, Law):
            _fail_of(self)(f"law is {_show(self.law)}, expected a Law")
        depth = 1 + self.law._depth
        if depth > _DEEPEST:
            _fail_of(self)(f"slip clutches are nested more than {_DEEPEST} deep")
        object.__setattr__(self, "_deep", depth)

    @property
    def _depth(self) -> int:
        return int(self.__dict__["_deep"])

    def _resolved(self, place: Place) -> Law:
        return replace(self, law=self.law._resolved(place))

    def _terms(self) -> list[_Term]:
        inner = self.law._terms()
        return [("slip_clutch", self.limit, len(inner)), *inner]

    def _slopes(self) -> list[Slope]:
        return [slope._replace(bounded=True) for slope in self.law._slopes()]


@dataclass(frozen=True)
class Sum(Law):
    """Sum of laws; ``a + b`` makes one.

    Parameters
    ----------
    laws : tuple of Law

    Examples
    --------
    >>> import zveno as zv
    >>> spring, brake = zv.laws.SpringDamper(400.0, reference=0.0), zv.laws.EddyBrake(50.0, 0.2)
    >>> zv.laws.Sum((spring, brake)) == spring + brake
    True
    """

    laws: tuple[Law, ...]
    _most: ClassVar[int] = 256

    def __post_init__(self) -> None:
        flat: list[Law] = []
        given = as_list(self.laws)
        if given is None:
            _fail_of(self)(f"laws is {_show(self.laws)}, expected a tuple of Law")
        for law in given:
            if not isinstance(law, Law):
                _fail_of(self)(f"laws holds {_show(law)}, expected a Law")
            flat.extend(law.laws if isinstance(law, Sum) else [law])
        if len(flat) > self._most:
            _fail_of(self)(f"laws has {len(flat)} entries, expected at most {self._most}")
        object.__setattr__(self, "laws", tuple(flat))

    def _resolved(self, place: Place) -> Law:
        return Sum(tuple(law._resolved(place) for law in self.laws))

    def _terms(self) -> list[_Term]:
        return [term for law in self.laws for term in law._terms()]

    def _slopes(self) -> list[Slope]:
        return [slope for law in self.laws for slope in law._slopes()]

    @property
    def _depth(self) -> int:
        return max((law._depth for law in self.laws), default=0)

    def __repr__(self) -> str:
        return " + ".join(repr(law) for law in self.laws)
