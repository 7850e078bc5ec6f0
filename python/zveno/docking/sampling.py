"""What the runs of a campaign start from: boxes of contact conditions, spreads of parameters, designs.

A design puts run i at a point of the unit cube that depends on the seed and on i alone; a box makes conditions of it.
The coordinates are, in this order: offset (radius, angle), tilt, lateral rate, tilt rate, each a disc of two numbers;
roll, closing speed, roll rate; then one for each uncertain parameter.
"""

from __future__ import annotations

import csv
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from statistics import NormalDist
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn, Self

import numpy as np

from .._check import (
    Array,
    Fail,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_flag,
    as_list,
    as_number,
    as_path,
    did_you_mean,
    failing,
    frozen,
)
from .._extras import optional

__all__ = ["CONDITIONS", "DESIGNS", "FACTORS", "Box", "Cases", "Normal", "Sampler", "Spread", "Uniform"]

DISCS: Final = ("offset", "tilt", "lateral", "tilt_rate")
INTERVALS: Final = ("roll", "closing", "roll_rate")
FACTORS: Final = (*DISCS, *INTERVALS)  # in the order of the numbers of a stream
# columns of a table, with their units
CONDITIONS: Final = MappingProxyType(
    {
        "offset_y": "m",
        "offset_z": "m",
        "pitch": "rad",
        "yaw": "rad",
        "roll": "rad",
        "closing": "m/s",
        "lateral_y": "m/s",
        "lateral_z": "m/s",
        "rate_x": "rad/s",
        "rate_y": "rad/s",
        "rate_z": "rad/s",
    }
)
DESIGNS: Final = ("random", "latin", "sobol", "corners", "saltelli")
DIRECTIONS: Final = 4  # on the rim of a disc, of the corners
_STANDARD: Final = NormalDist()
_BASE: Final = 2 * len(DISCS) + len(INTERVALS)  # numbers of a stream before those of parameters
_MOST_PARAMETERS: Final = 256


class Spread(ABC):
    """Distribution of one uncertain number: `Uniform` or `Normal`."""

    __slots__ = ()

    @abstractmethod
    def at(self, u: float) -> float:
        """The number at cumulative probability `u`, 0 to 1."""

    def to_dict(self) -> dict[str, Any]:
        """A JSON-safe dictionary; its `kind` is the name of the class.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Uniform(0.05, 0.15).to_dict()
        {'kind': 'uniform', 'low': 0.05, 'high': 0.15, 'relative': False}
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        return {"kind": type(self).__name__.lower()} | {
            key: None if isinstance(value, float) and math.isinf(value) else value for key, value in values.items()
        }


@dataclass(frozen=True, slots=True)
class Uniform(Spread):
    """A number anywhere between two limits.

    Parameters
    ----------
    low, high : float
    relative : bool
        Factors of the scenario's value instead of values.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Uniform(0.05, 0.15).at(0.25)
    0.075
    """

    low: float
    high: float
    relative: bool = False

    def __post_init__(self) -> None:
        fail = failing("Uniform")
        _set(self, low=as_number(self.low, fail, "low"), high=as_number(self.high, fail, "high"))
        _set(self, relative=as_flag(self.relative, fail, "relative"))
        if not self.low <= self.high:
            fail(f"low = {self.low:g} is above high = {self.high:g}")

    def at(self, u: float) -> float:
        """The number at cumulative probability `u`."""
        return self.low + (self.high - self.low) * u


@dataclass(frozen=True, slots=True)
class Normal(Spread):
    """A normal number, cut off at two limits.

    Parameters
    ----------
    mean, std : float
    low, high : float, optional
        Limits; by default three standard deviations on either side.
    relative : bool
        Factors of the scenario's value instead of values.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Normal(0.1, 0.02).at(0.5)
    0.1
    """

    mean: float
    std: float
    low: float = -math.inf
    high: float = math.inf
    relative: bool = False

    def __post_init__(self) -> None:
        fail = failing("Normal")
        mean, std = as_number(self.mean, fail, "mean"), as_amount(self.std, fail, "std")
        low, high = (as_number(getattr(self, key), fail, key, infinite=True) for key in ("low", "high"))
        low = mean - 3 * std if low == -math.inf else low
        high = mean + 3 * std if high == math.inf else high
        if not low <= mean <= high:
            fail(f"mean = {mean:g} is not between low = {low:g} and high = {high:g}")
        _set(self, mean=mean, std=std, low=low, high=high, relative=as_flag(self.relative, fail, "relative"))

    def at(self, u: float) -> float:
        """The number at cumulative probability `u`."""
        return _truncated(u, self.mean, self.std, self.low, self.high)


def _truncated(u: float, mean: float, std: float, low: float, high: float) -> float:
    """Inverse distribution function of a normal number between two limits."""
    if std == 0:
        return mean
    below, above = (_STANDARD.cdf((limit - mean) / std) for limit in (low, high))
    p = below + (above - below) * u
    if not 0 < p < 1:
        return low if u < 0.5 else high
    return min(max(mean + std * _STANDARD.inv_cdf(p), low), high)


def _set(made: object, **values: object) -> None:
    for key, value in values.items():
        object.__setattr__(made, key, value)


def spread_from_dict(data: object, what: str) -> Spread:
    """The spread of a dictionary `to_dict`, of a pair of limits, or the spread itself."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"Box: {text}")

    if isinstance(data, Spread):
        return data
    pair = as_list(data)
    if pair is not None and len(pair) == 2:
        return Uniform(*pair)
    if not isinstance(data, Mapping):
        fail(f"{what} is {_show(data)}, expected Uniform, Normal or a pair (low, high)")
    kinds: dict[str, type[Uniform] | type[Normal]] = {"uniform": Uniform, "normal": Normal}
    kind = kinds[as_choice(data.get("kind", "uniform"), fail, f"kind of {what}", tuple(kinds))]
    known = [item.name for item in fields(kind)]
    for key in data:
        if key != "kind" and key not in known:
            fail(f"{what} has an unknown key {_show(key)}{did_you_mean(key, known)}")
    given = {key: value for key, value in data.items() if key != "kind" and value is not None}
    try:
        return kind(**given)
    except TypeError:
        fail(f"{what} is {_show(dict(data))}, expected {', '.join(known)}")


@dataclass(frozen=True, eq=True)
class Box:
    """Ranges of the conditions at first contact, and spreads of uncertain parameters.

    Parameters
    ----------
    closing : (float, float), m/s
        Limits of the closing speed.
    offset, lateral : float, m and m/s
        Largest lateral offset and lateral rate: vectors, everywhere in a disc of this radius.
    tilt, tilt_rate : float, rad and rad/s
        Largest pitch and yaw, and their rates, as vectors likewise.
    roll, roll_rate : float or (float, float), rad and rad/s
        Limits; one number stands for both signs.
    distribution : {"uniform", "normal"}
        Uniform in intervals and over the area of discs; or normal about their middle, cut off at their limits.
    sigmas : float
        Of "normal": how many standard deviations lie between the middle and the limit.
    uncertain : mapping of str to Uniform, Normal or (low, high)
        Further numbers of the scenario, by their place in ``Scenario.to_dict()``: keys with dots between them, numbers
        for places of a list. ``relative=True`` multiplies what stands there, all numbers of an array alike. Or factors
        that the engine knows and applies without building a scenario for each run: `chaser_mass`, `station_mass` (with
        the inertia of the body), `friction`, `stiffness`, `damping` of the contact, `latch_gap`, `latch_stiffness`
        (with its damping), `leg_force`.

    Examples
    --------
    >>> from zveno import docking
    >>> box = docking.Box.idss(uncertain={"contact.friction": (0.05, 0.15)})
    >>> box.closing, box.offset
    ((0.05, 0.1), 0.1)
    """

    closing: tuple[float, float]
    offset: float = 0.0
    lateral: float = 0.0
    tilt: float = 0.0
    roll: tuple[float, float] = (0.0, 0.0)
    tilt_rate: float = 0.0
    roll_rate: tuple[float, float] = (0.0, 0.0)
    distribution: str = "uniform"
    sigmas: float = 3.0
    uncertain: Mapping[str, Spread] = field(default_factory=dict)

    def __post_init__(self) -> None:
        fail = failing("Box")
        for name in DISCS:
            _set(self, **{name: as_amount(getattr(self, name), fail, name)})
        for name in INTERVALS:
            _set(self, **{name: _interval(getattr(self, name), fail, name, symmetric=name != "closing")})
        if not self.closing[0] >= 0 or not self.closing[1] > 0:
            fail(f"closing is {self.closing}, expected speeds >= 0, not both 0")
        _set(self, distribution=as_choice(self.distribution, fail, "distribution", ("uniform", "normal")))
        _set(self, sigmas=as_amount(self.sigmas, fail, "sigmas", positive=True))
        if not isinstance(self.uncertain, Mapping):
            fail(f"uncertain is {_show(self.uncertain)}, expected a mapping of names to spreads")
        if len(self.uncertain) > _MOST_PARAMETERS:
            fail(f"uncertain has {len(self.uncertain)} parameters, expected at most {_MOST_PARAMETERS}")
        spreads = {}
        for key, value in self.uncertain.items():
            if not isinstance(key, str) or not all(key.split(".")):
                fail(f"uncertain has the name {_show(key)}, expected keys with dots between them")
            if key in CONDITIONS:
                fail(f"uncertain has the name {key!r}, which is a condition of the box")
            spreads[key] = spread_from_dict(value, f"uncertain[{key!r}]")
        _set(self, uncertain=MappingProxyType(spreads))

    def __hash__(self) -> int:
        return hash(tuple(tuple(value.items()) if isinstance(value, Mapping) else value for value in self._values()))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, item.name) for item in fields(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)

    @classmethod
    def idss(
        cls,
        *,
        distribution: str = "uniform",
        sigmas: float = 3.0,
        uncertain: Mapping[str, Any] | None = None,
    ) -> Self:
        """The box that secondary sources quote from the docking standard (IDSS IDD, table 3.3.1.1-2).

        Closing 0.05 to 0.10 m/s, lateral rate 0.04 m/s, offset 0.10 m, pitch and yaw 4 degrees as a vector, roll 4
        degrees, rates 0.20 degrees/s. Check it against your copy of the standard.

        Examples
        --------
        >>> from zveno import docking
        >>> round(docking.Box.idss().tilt, 4)
        0.0698
        """
        degree = math.pi / 180
        return cls(
            closing=(0.05, 0.10),
            offset=0.10,
            lateral=0.04,
            tilt=4 * degree,
            roll=(-4 * degree, 4 * degree),
            tilt_rate=0.20 * degree,
            roll_rate=(-0.20 * degree, 0.20 * degree),
            distribution=distribution,
            sigmas=sigmas,
            uncertain=uncertain or {},
        )

    @property
    def dimension(self) -> int:
        """Numbers that one run takes from its design."""
        return _BASE + len(self.uncertain)

    def conditions(self, u: Array) -> dict[str, float]:
        """Conditions and parameters of one point of the unit cube, by the names of the columns of a table.

        Examples
        --------
        >>> import numpy as np
        >>> from zveno import docking
        >>> box = docking.Box(closing=(0.05, 0.1), offset=0.1)
        >>> round(box.conditions(np.full(11, 0.25))["offset_z"], 4)
        0.05
        """
        numbers = [float(x) for x in u]
        offset, tilt, lateral, tilt_rate = (
            self._disc(getattr(self, name), numbers[2 * k], numbers[2 * k + 1]) for k, name in enumerate(DISCS)
        )
        start = 2 * len(DISCS)
        roll, closing, roll_rate = (
            self._within(getattr(self, name), numbers[start + k]) for k, name in enumerate(INTERVALS)
        )
        values = (*offset, *tilt, roll, closing, *lateral, roll_rate, *tilt_rate)
        made = dict(zip(CONDITIONS, values, strict=True))
        for k, (name, spread) in enumerate(self.uncertain.items()):
            made[name] = spread.at(numbers[_BASE + k])
        return made

    def _disc(self, radius: float, u: float, turn: float) -> tuple[float, float]:
        """A vector in a disc; libm's functions, which do not depend on the place in an array."""
        if self.distribution == "uniform":
            length = radius * math.sqrt(u)
        else:  # length of a vector of two normal numbers, cut off at the radius
            s = self.sigmas
            length = radius / s * math.sqrt(-2 * math.log1p(u * math.expm1(-0.5 * s * s)))
        angle = 2 * math.pi * turn
        return length * math.cos(angle) + 0.0, length * math.sin(angle) + 0.0  # no negative zeros

    def _within(self, limits: tuple[float, float], u: float) -> float:
        low, high = limits
        if self.distribution == "uniform":
            return low + (high - low) * u
        return _truncated(u, 0.5 * (low + high), 0.5 * (high - low) / self.sigmas, low, high)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-safe dictionary.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Box.from_dict(docking.Box.idss().to_dict()) == docking.Box.idss()
        True
        """
        made: dict[str, Any] = {
            item.name: list(value) if isinstance(value := getattr(self, item.name), tuple) else value
            for item in fields(self)
        }
        made["uncertain"] = {key: spread.to_dict() for key, spread in self.uncertain.items()}
        return made

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The box of `to_dict`, or of a table of a TOML file; absent keys take their default, unknown ones are refused.

        Angles may be given in degrees, as `tilt_deg`, `roll_deg`, `tilt_rate_deg`, `roll_rate_deg`.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Box.from_dict({"closing": [0.05, 0.1], "roll_deg": 180}).roll
        (-3.141592653589793, 3.141592653589793)
        """
        fail = failing("Box.from_dict")
        if not isinstance(data, Mapping):
            fail(f"got {_show(data)}, expected a dictionary")
        angles = ("tilt", "roll", "tilt_rate", "roll_rate")
        known = [item.name for item in fields(cls)]
        values: dict[str, Any] = {}
        for key, value in data.items():
            name = key.removesuffix("_deg") if isinstance(key, str) else key
            if name not in known or (name != key and name not in angles):
                every = [*known, *(f"{angle}_deg" for angle in angles)]
                fail(f"unknown key {_show(key)}{did_you_mean(key, every)}")
            if name in values:
                fail(f"{name} is given twice, in radians and in degrees")
            if name != key:
                factor = math.pi / 180
                pair = as_list(value)
                items = [factor * as_number(x, fail, key) for x in (pair if pair is not None else [value])]
                value = items if pair is not None else items[0]
            values[name] = value
        if "closing" not in values:
            fail("'closing' is missing")
        return cls(**values)


def _interval(value: object, fail: Fail, what: str, *, symmetric: bool) -> tuple[float, float]:
    pair = as_list(value)
    if pair is None and symmetric:
        high = as_amount(value, fail, what)
        return (0.0 - high, high)
    if pair is None or len(pair) != 2:
        fail(f"{what} is {_show(value)}, expected a pair (low, high)")
    low, high = (as_number(x, fail, what) for x in pair)
    if not low <= high:
        fail(f"{what} is {_show(value)}, expected low <= high")
    return (low, high)


@dataclass(frozen=True, eq=False)
class Cases:
    """A list of conditions, instead of a box to draw from: run i has those of row i.

    Parameters
    ----------
    columns : mapping of str to array (n,)
        Conditions by the names of the columns of a table: `closing`, `offset_y`, `offset_z`, `pitch`, `yaw`, `roll`,
        `lateral_y`, `lateral_z`, `rate_x`, `rate_y`, `rate_z`; m, m/s, rad, rad/s, or degrees with `_deg` at the end of
        the name. Those that are absent are zero, but for `closing`.

    Examples
    --------
    >>> from zveno import docking
    >>> cases = docking.Cases({"closing": [0.05, 0.1], "pitch_deg": [1.0, 4.0]})
    >>> len(cases)
    2
    """

    columns: Mapping[str, Array]

    def __post_init__(self) -> None:
        fail = failing("Cases")
        if not isinstance(self.columns, Mapping):
            fail(f"columns is {_show(self.columns)}, expected a mapping of names to numbers")
        known = [*CONDITIONS, *(f"{name}_deg" for name, unit in CONDITIONS.items() if unit.startswith("rad"))]
        found: dict[str, Array] = {}
        for key, values in self.columns.items():
            if key not in known:
                fail(f"unknown column {_show(key)}{did_you_mean(key, known)}")
            column = as_array(values, fail, f"column {key!r}", (np.size(values),))
            name = key.removesuffix("_deg")
            if name in found:
                fail(f"{name} is given twice, in radians and in degrees")
            found[name] = column if name == key else frozen(column * (math.pi / 180))
        if "closing" not in found:
            fail("the column 'closing' is missing")
        n = len(found["closing"])
        for name, column in found.items():
            if len(column) != n:
                fail(f"column {name!r} has {len(column)} numbers, 'closing' has {n}")
        if not n or not (found["closing"] > 0).all():
            fail("closing has numbers that are not > 0, or none")
        _set(self, columns=MappingProxyType({name: found.get(name, frozen(np.zeros(n))) for name in CONDITIONS}))

    def __len__(self) -> int:
        return len(self.columns["closing"])

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Cases) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(column.tobytes() for column in self.columns.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ({name: np.array(column) for name, column in self.columns.items()},)

    @property
    def uncertain(self) -> Mapping[str, Spread]:
        """None."""
        return MappingProxyType({})

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Self:
        """Cases of a table of text: the first line has the names of columns, commas or semicolons between them.

        Examples
        --------
        >>> import os, tempfile
        >>> from zveno import docking
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "cases.csv")
        ...     with open(path, "w") as file:
        ...         _ = file.write("closing,offset_y,roll_deg\\n0.08,0.05,2\\n0.1,0.08,4\\n")
        ...     len(docking.Cases.from_csv(path))
        2
        """
        fail = failing("Cases.from_csv")
        with open(as_path("Cases.from_csv", path), encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            rows = list(csv.reader([head, *file], delimiter=";" if ";" in head else ","))
        names = [cell.strip() for cell in rows[0]] if rows else []
        if len(set(names)) < len(names) or not all(names):
            fail(f"the first line is {_show(head)}, expected different names of columns")
        table: dict[str, list[float]] = {name: [] for name in names}
        for number, row in enumerate(rows[1:], 2):
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(names):
                fail(f"line {number} has {len(row)} cells, the first has {len(names)}")
            for name, cell in zip(names, row, strict=True):
                try:
                    table[name].append(float(cell))
                except ValueError:
                    fail(f"line {number} has {name} = {_show(cell)}, expected a number")
        return cls({name: np.array(values) for name, values in table.items()})

    def to_dict(self) -> dict[str, Any]:
        """A JSON-safe dictionary.

        Examples
        --------
        >>> from zveno import docking
        >>> list(docking.Cases({"closing": [0.05, 0.1], "pitch_deg": [1.0, 4.0]}).to_dict())
        ['cases']
        """
        return {"cases": {name: column.tolist() for name, column in self.columns.items()}}


def box_from_dict(data: Mapping[str, Any]) -> Box | Cases:
    """What conditions come from: a box or a list of cases."""
    return Cases(data["cases"]) if isinstance(data, Mapping) and "cases" in data else Box.from_dict(data)


# ---- designs


class Sampler(NamedTuple):
    """Points of a design by their number; the same whoever asks, in whatever order.

    Parameters
    ----------
    box : Box
    seed : int
        0 to 2^64 - 1.
    design : {"random", "latin", "sobol", "corners", "saltelli"}
    n : int
        Runs of the campaign; the points of "latin" depend on it, those of the others do not.
    """

    box: Box | Cases
    seed: int
    design: str
    n: int

    @property
    def _dimension(self) -> int:
        return _BASE + len(self.box.uncertain)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """Coordinates of each factor: two of a disc, one of an interval or a parameter."""
        discs = [(2 * k, 2 * k + 1) for k in range(len(DISCS))]
        return discs + [(k,) for k in range(2 * len(DISCS), self._dimension)]

    @property
    def factors(self) -> list[str]:
        """Names of the factors, in the order of `groups`."""
        return [*FACTORS, *self.box.uncertain]

    @property
    def most(self) -> int | None:
        """How many different runs the design has; None: any number."""
        if isinstance(self.box, Cases):
            return len(self.box)
        return DIRECTIONS ** len(DISCS) * 2 ** (len(INTERVALS) + len(self.box.uncertain)) if self._corners else None

    @property
    def _corners(self) -> bool:
        return self.design == "corners"

    def points(self, first: int, count: int) -> Array:
        """Points of the runs first, ..., first + count - 1, (count, dimension)."""
        d = self._dimension
        if self.design == "sobol":
            return self._sobol(first, count)
        if self.design == "latin":
            return self._latin(first, count)
        if self._corners:
            return self._corner(first, count)
        indices = range(first, first + count)
        if self.design == "saltelli":
            return np.array([self._saltelli(i) for i in indices])
        return np.array([self._stream(i).random(d) for i in indices])

    def conditions(self, first: int, count: int) -> dict[str, Array]:
        """Columns of conditions and parameters of consecutive runs."""
        if isinstance(self.box, Cases):
            return {name: column[first : first + count] for name, column in self.box.columns.items()}
        rows = [self.box.conditions(u) for u in self.points(first, count)]
        return {name: np.array([row[name] for row in rows], float) for name in (*CONDITIONS, *self.box.uncertain)}

    def _stream(self, i: int) -> np.random.Generator:
        """Random numbers of run i: a counter-based generator, so that no run waits for another."""
        return np.random.Generator(np.random.Philox(key=np.array([self.seed, i], np.uint64)))

    def _latin(self, first: int, count: int) -> Array:
        """In every coordinate each of n equal intervals holds one run: a permutation for each, with a random place."""
        d = self._dimension
        indices = np.arange(first, first + count, dtype=np.uint64)
        cells = np.stack([_permuted(indices, self.n, _mixed(self.seed, k)) for k in range(d)], axis=1)
        inside = np.stack([self._stream(i).random(d) for i in range(first, first + count)])
        return (cells + inside) / self.n

    def _sobol(self, first: int, count: int) -> Array:
        qmc = optional("scipy.stats.qmc", "docking.campaign(design='sobol')", "scipy")
        # the name of the argument was `seed` before SciPy 1.15; the place is the same
        sobol = qmc.Sobol(self._dimension, scramble=True, bits=30, **{_rng_name(qmc.Sobol): self.seed})
        if first:
            sobol.fast_forward(first)
        import warnings

        with warnings.catch_warnings():  # about numbers that are no power of two: chunks are, the last may not be
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(sobol.random(count), float)

    def _corner(self, first: int, count: int) -> Array:
        """Corners: rims of discs at quarter turns, ends of intervals; all of them in an order made by the seed."""
        indices = np.arange(first, first + count, dtype=np.uint64)
        numbers = _permuted(indices, self.most or 1, _mixed(self.seed, 0)).astype(np.int64)
        u = np.ones((count, self._dimension))
        for k in range(len(DISCS)):
            numbers, u[:, 2 * k + 1] = numbers // DIRECTIONS, numbers % DIRECTIONS / DIRECTIONS
        for k in range(2 * len(DISCS), self._dimension):
            numbers, u[:, k] = numbers // 2, numbers % 2
        return u

    def _saltelli(self, i: int) -> Array:
        """Blocks of runs A, B, and A with the coordinates of one factor from B, for total effects."""
        groups = self.groups
        block, place = divmod(i, len(groups) + 2)
        a, b = self._stream(block).random((2, self._dimension))
        if place < 2:
            return np.asarray((a, b)[place], float)
        chosen = list(groups[place - 2])
        a[chosen] = b[chosen]
        return np.asarray(a, float)


def _rng_name(sobol: Any) -> str:
    import inspect

    return "rng" if "rng" in inspect.signature(sobol.__init__).parameters else "seed"


def _mixed(seed: int, k: int) -> int:
    """A key of 64 bits from a seed and a number."""
    return int(np.random.SeedSequence([seed, k]).generate_state(1, np.uint64)[0])


def _permuted(i: Array | Any, n: int, key: int) -> Any:
    """Images of `i` under a permutation of 0, ..., n - 1, without a table: a Feistel network on the next power of four,
    repeated while the image is n or more.
    """
    half = max(1, ((n - 1).bit_length() + 1) // 2)
    mask, shift = np.uint64((1 << half) - 1), np.uint64(half)
    keys = np.random.SeedSequence(key).generate_state(6, np.uint64)
    x = np.asarray(i, np.uint64).copy()
    todo = np.ones(x.shape, bool)
    while todo.any():
        left, right = x[todo] >> shift, x[todo] & mask
        for k in keys:
            left, right = right, left ^ (_hashed(right ^ k) & mask)
        x[todo] = (left << shift) | right
        todo = x >= n
    return x


def _hashed(x: Any) -> Any:
    """Finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
