"""What a joint needs besides moving the links: friction, offsets, the inertia of its drive."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from .._check import Array, Fail, _show, as_amount, as_array, as_list, did_you_mean
from ..inertial import SYMBOLS

__all__ = ["Coulomb", "DriveInertia", "ExtraTerm", "LoadFriction", "Offset", "Stribeck", "Term", "Viscous"]


@dataclass(frozen=True)
class Term(ABC):
    """One unknown number for each joint; the joint needs that number times `values` more effort.

    `joints` are names of the joints that have it, by default all.
    """

    symbol: ClassVar[str] = ""
    units: ClassVar[tuple[str, str]] = ("", "")  # of revolute and of prismatic joints

    joints: tuple[str, ...] | None = None

    @abstractmethod
    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        """Factors (m, n) of the unknowns; `load` are efforts without friction, where they are known.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> zv.identification.Viscous().values(None, np.array([[2.0, -1.0]]), None, None)
        array([[ 2., -1.]])
        """

    @property
    def needs_load(self) -> bool:
        return False

    @property
    def reference(self) -> Array | None:
        """Values (n,) of the unknowns at which the effort of the term is zero, if not at zero."""
        return None

    @property
    def discontinuous(self) -> bool:
        """Whether samples near standstill tell little about it."""
        return False


@dataclass(frozen=True)
class DryTerm(Term):
    """A term that changes its sign with the rate, at once or as tanh(qd / smooth)."""

    smooth: float = 0.0

    def sign(self, qd: Array) -> Array:
        """Sign of the rates, or tanh(qd / smooth).

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> zv.identification.Coulomb(smooth=0.1).sign(np.array([0.1, -5.0])).round(4)
        array([ 0.7616, -1.    ])
        """
        return np.tanh(qd / self.smooth) if self.smooth else np.sign(qd)

    @property
    def discontinuous(self) -> bool:
        return self.smooth == 0.0


@dataclass(frozen=True)
class Viscous(Term):
    """Viscous friction: the effort b qd."""

    symbol = "Fv"
    units = ("N m s/rad", "N s/m")

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        return qd


@dataclass(frozen=True)
class Coulomb(DryTerm):
    """Dry friction: the effort c sign(qd), or c tanh(qd / smooth)."""

    symbol = "Fc"
    units = ("N m", "N")

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        return self.sign(qd)


@dataclass(frozen=True)
class Stribeck(DryTerm):
    """What dry friction has more at low rates: the effort s sign(qd) exp(-(qd / rate)^2).

    `rate` is one number, one for each joint, or None: then `identify` finds it for each joint, with its interval.
    """

    symbol = "Fs"
    units = ("N m", "N")

    rate: float | tuple[float, ...] | None = None

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        return self.sign(qd) * np.exp(-((qd / np.asarray(self.rate, dtype=np.float64)) ** 2))


class Profile(NamedTuple):
    """What a rate of Stribeck friction costs: rates tried, roots of the growth of the squares (in deviations).

    For each of them, best values and deviations of the other parameters.
    """

    rates: tuple[float, ...]
    off: tuple[float, ...]
    names: tuple[str, ...] = ()
    values: tuple[tuple[float, ...], ...] = ()
    deviations: tuple[tuple[float, ...], ...] = ()

    def finely(self, what: Array | None = None) -> tuple[Array, Array]:
        """Many rates, and the growth or something else between those that were tried."""
        logs = np.log(self.rates)
        fine = np.linspace(logs[0], logs[-1], 1000)
        return np.exp(fine), np.interp(fine, logs, np.asarray(self.off) if what is None else what)


@dataclass(frozen=True)
class StribeckRate(DryTerm):
    """The rate v of `Stribeck` as an unknown: s S(v) is s S(v0) + s0 S'(v0) (v - v0) near v0, its `rate`, and s0."""

    symbol = "vs"
    units = ("rad/s", "m/s")

    rate: tuple[float, ...] = ()
    size: tuple[float, ...] = ()
    profile: tuple[Profile, ...] = ()  # of each joint

    def interval(self, joint: int, deviations: float) -> tuple[float, float] | None:
        """Rates for which the squares grow by no more than those of so many deviations, where that was looked at."""
        if len(self.profile) <= joint or len(self.profile[joint].rates) < 3:
            return None
        rates, off = self.profile[joint].finely()
        inside = np.flatnonzero(off <= deviations)
        if not inside.size:
            return None
        first, last = int(inside[0]), int(inside[-1])
        return (float(rates[first]) if first else 0.0, float(rates[last]) if last < len(rates) - 1 else np.inf)

    def within(self, name: str, joint: int, deviations: float) -> tuple[float, float] | None:
        """The same of another parameter: its values for any of these rates."""
        if len(self.profile) <= joint or name not in self.profile[joint].names:
            return None
        some = self.profile[joint]
        k = some.names.index(name)
        _, off = some.finely()
        inside = off <= deviations
        if not inside.any():
            return None
        value, spread = (some.finely(np.array(x)[:, k])[1][inside] for x in (some.values, some.deviations))
        half = spread * np.sqrt(np.maximum(deviations**2 - off[inside] ** 2, 0.0))
        return float((value - half).min()), float((value + half).max())

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        rate = np.asarray(self.rate)
        ratio = (qd / rate) ** 2
        return np.asarray(self.sign(qd) * np.exp(-ratio) * ratio * (2 * np.asarray(self.size) / rate))

    @property
    def reference(self) -> Array:
        return np.asarray(self.rate)


@dataclass(frozen=True)
class LoadFriction(DryTerm):
    """Friction that grows with the load of the gear: the effort l |tau| sign(qd), tau that of the rigid links."""

    symbol = "Fl"
    units = ("1", "1")

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        if load is None:
            raise ValueError("LoadFriction: the load is not known yet")
        return np.abs(load) * self.sign(qd)

    @property
    def needs_load(self) -> bool:
        return True


@dataclass(frozen=True)
class Offset(Term):
    """A constant effort: the zero of the sensor, or friction that differs with the direction."""

    symbol = "F0"
    units = ("N m", "N")

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        return np.ones_like(q)


@dataclass(frozen=True)
class DriveInertia(Term):
    """Reflected inertia of the drive: the effort J qdd; what it shares with links is told apart by the analysis."""

    symbol = "Ia"
    units = ("kg m^2", "kg")

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        return qdd


@dataclass(frozen=True)
class ExtraTerm(Term):
    """A term of your own, as friction that depends on the position: ``function(q, qd, qdd)`` of (m, n) arrays."""

    name: str = "x"
    function: Callable[[Array, Array, Array], Any] = lambda q, qd, qdd: np.zeros_like(q)
    unit: str = "1"

    def values(self, q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        given = self.function(q.copy(), qd.copy(), qdd.copy())
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.array(np.nan)
        if values.shape != q.shape or not np.isfinite(values).all():
            raise ValueError(
                f"ExtraTerm {self.name!r}: the function gives {_show(given)} for coordinates of shape {q.shape}, "
                "expected finite numbers of that shape"
            )
        return values


_WORDS: Final[dict[str, Callable[[], Term]]] = {
    "viscous": Viscous,
    "coulomb": Coulomb,
    "stribeck": Stribeck,
    "load": LoadFriction,
    "offset": Offset,
    "drive_inertia": DriveInertia,
}


def as_terms(value: Any, fail: Fail, joints: tuple[str, ...], *, search: bool = False) -> tuple[Term, ...]:
    """Terms given as objects or words; what names a joint that is not there is refused.

    `search`: rates of `Stribeck` may be missing.
    """
    given: Iterable[Any] = value.split(",") if isinstance(value, str) else () if value is None else value
    items = as_list(given)
    if items is None:
        fail(f"friction is {_show(value)}, expected words or terms: {', '.join(_WORDS)}")
    terms = []
    for item in items:
        if isinstance(item, str):
            word = item.strip()
            if word not in _WORDS:
                nearest = did_you_mean(word, _WORDS)
                fail(f"friction has {_show(item)}, expected one of {', '.join(_WORDS)}{nearest}")
            item = _WORDS[word]()
        if not isinstance(item, Term):
            fail(f"friction has {_show(item)}, expected a term of zveno.identification")
        if isinstance(item, DryTerm):
            as_amount(item.smooth, fail, f"{type(item).__name__}.smooth")
        if isinstance(item, ExtraTerm):
            _check_extra(item, fail)
        if isinstance(item, Stribeck):
            item = _with_rates(item, fail, joints, search)
        if item.joints is not None:
            chosen = None if isinstance(item.joints, str) else as_list(item.joints)
            if chosen is None:
                fail(f"{type(item).__name__}.joints is {_show(item.joints)}, expected names of joints")
            for name in chosen:
                if name not in joints:
                    fail(f"{type(item).__name__}.joints has {_show(name)}, no joint{did_you_mean(name, joints)}")
            item = replace(item, joints=tuple(chosen))
        terms.append(item)
    names = [getattr(term, "name", type(term).__name__) for term in terms]
    for name in names:
        if names.count(name) > 1:
            fail(f"friction has {name} twice")
    return tuple(terms)


def _check_extra(term: ExtraTerm, fail: Fail) -> None:
    if not isinstance(term.name, str) or not term.name.strip():
        fail(f"ExtraTerm.name is {_show(term.name)}, expected a word")
    taken = {*SYMBOLS["tensor"], *(made.symbol for made in (*_WORDS.values(), StribeckRate))}  # type: ignore[attr-defined]
    if term.name in taken:
        fail(f"ExtraTerm.name is {_show(term.name)}, which is the name of other parameters")
    if not callable(term.function):
        fail(f"ExtraTerm.function is {_show(term.function)}, expected a function of q, qd and qdd")


def _with_rates(term: Stribeck, fail: Fail, joints: tuple[str, ...], search: bool) -> Stribeck:
    rate: Any = term.rate
    if rate is None:
        if not search:
            fail("Stribeck.rate is missing, expected the rate (rad/s or m/s) at which it has fallen to 1/e")
        return term
    if np.ndim(rate) == 0:
        as_amount(rate, fail, "Stribeck.rate", positive=True)
        return term
    numbers = as_array(rate, fail, "Stribeck.rate", (len(joints),))
    if not (numbers > 0).all():
        fail(f"Stribeck.rate is {_show(rate)}, expected positive numbers")
    return replace(term, rate=tuple(numbers.tolist()))
