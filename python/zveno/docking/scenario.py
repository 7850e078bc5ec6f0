"""What makes a docking: vehicles, interfaces, conditions, contact, latches, phases, external forces."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar, Final, Self

import numpy as np

from .. import mechanisms
from .._check import Array, _is_name, _show, as_list
from ..errors import ModelError
from ..model import Body, Hexapod
from ..sim.laws import Bumpers, DryFriction, Law, SpringDamper
from ._plain import Plain, law_from_dict, plain, read_data, toml_of, write_data

__all__ = [
    "AttitudeHold",
    "Conditions",
    "Contact",
    "Interface",
    "Latches",
    "Move",
    "Phases",
    "Scenario",
    "Thrust",
    "Vehicle",
]

_DEGREE: Final = math.pi / 180
PHASES: Final = ("ready", "attenuation", "alignment", "retraction", "hard_mate")


@dataclass(frozen=True)
class Interface(Plain):
    """Geometry of a docking ring: guide petals, the edge that slides on the partner's petals, the mating face.

    Ring frame: origin on the mating plane, x outwards to the partner, angles from y to z. Mated, the partner's axes are
    these turned by 180 degrees about y, so that its petals stand at the negative angles.

    Parameters
    ----------
    petals : int
        Their number.
    first_angle : float, rad
        Centre of the first; the others follow evenly.
    inward : bool
        Petals lean inwards and meet the partner's inner edge (IDSS, APAS-89); False: outwards, outer edge (APAS-75).
    root_radius, tip_radius, height : float, m
        Of a petal's guiding surface.
    root_half_angle, tip_half_angle : float, rad
        Half of a petal's width.
    edge_radius : float, m
        Circle that slides on the partner's petals.
    face_radius, face_half_width : float, m
        Circle and half-width of the face.
    fillet, window, extension, thickness : float, m
        Length over which a petal bends out of the ring; length over which contact fades at the ends of a surface; how
        far surfaces reach behind the mating plane; radial half-thickness of a petal.
    edge_nodes, side_nodes, face_nodes : int
        Points of contact on the edge, on each side of a petal, on the face.
    name : str

    Notes
    -----
    The default has the size of the 1.2 m class; dimensions of petals are plausible, not those of a standard's drawings.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Interface.idss_like().root_radius
    0.555
    >>> docking.Interface.apas_like().inward
    False
    """

    petals: int = 3
    first_angle: float = 30 * _DEGREE
    inward: bool = True
    root_radius: float = 0.555
    tip_radius: float = 0.440
    height: float = 0.11
    root_half_angle: float = 29.3 * _DEGREE
    tip_half_angle: float = 11 * _DEGREE
    edge_radius: float = 0.558
    face_radius: float = 0.585
    face_half_width: float = 0.05
    fillet: float = 0.01
    window: float = 0.01
    extension: float = 0.02
    thickness: float = 0.06
    edge_nodes: int = 60
    side_nodes: int = 5
    face_nodes: int = 24
    name: str = "idss-like"

    def __post_init__(self) -> None:
        lengths = (
            "root_radius tip_radius height edge_radius face_radius face_half_width fillet window extension thickness"
        )
        self._numbers(positive=f"{lengths} root_half_angle tip_half_angle", numbers="first_angle")
        self._counts(1, "petals", "edge_nodes", "side_nodes", "face_nodes")
        self._flags("inward")
        self._at_most(20.0, lengths)
        self._at_most(2 * math.pi, "first_angle")
        if not _is_name(self.name):
            self._fail(f"name is {_show(self.name)}, expected a non-empty string")
        lean = self.root_radius - self.tip_radius
        if lean == 0 or (lean > 0) != self.inward:
            way = "inwards: tip_radius < root_radius" if self.inward else "outwards: tip_radius > root_radius"
            self._fail(
                f"root_radius is {self.root_radius:g} and tip_radius is {self.tip_radius:g}, but petals lean {way}"
            )
        if not self.tip_half_angle <= self.root_half_angle:
            self._fail(f"tip_half_angle is {self.tip_half_angle:g}, expected at most root_half_angle")
        if not self.petals * self.root_half_angle < math.pi:
            self._fail(f"root_half_angle is {self.root_half_angle:g}: {self.petals} petals overlap one another")
        if not self.fillet < self.height:
            self._fail(f"fillet is {self.fillet:g}, expected less than the height {self.height:g}")

    @classmethod
    def idss_like(cls) -> Self:
        """Three inward petals on a ring of the 1.2 m class, as the International Docking System Standard has them.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Interface.idss_like().inward
        True
        """
        return cls()

    @classmethod
    def apas_like(cls) -> Self:
        """Three outward petals and an outer edge, as the androgynous system of 1975; dimensions are plausible.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.Interface.apas_like().inward
        False
        """
        return cls(
            inward=False,
            root_radius=0.600,
            tip_radius=0.715,
            edge_radius=0.597,
            face_radius=0.570,
            name="apas-like",
        )

    @property
    def petal_angles(self) -> Array:
        """Centres of the petals, (petals,) rad."""
        return np.asarray(self.first_angle + 2 * math.pi / self.petals * np.arange(self.petals), np.float64)

    def _core(self) -> tuple[Any, ...]:
        return (
            self.petal_angles.tolist(), self.inward, self.root_radius, self.tip_radius, self.height,
            self.root_half_angle, self.tip_half_angle, self.edge_radius, self.face_radius, self.face_half_width,
            self.fillet, self.window, self.extension, self.thickness,
            self.edge_nodes, self.side_nodes, self.face_nodes,
        )  # fmt: skip


def _ring_from(data: Any) -> Hexapod | None:
    """A hexapod, its dictionary, or the name of the legs of a demo ring."""
    if data is None or isinstance(data, Hexapod):
        return data
    return mechanisms.docking_ring(data) if isinstance(data, str) else Hexapod.from_dict(data)


def _body_from(data: Any) -> Body:
    return data if isinstance(data, Body) else Body.from_dict(data)


@dataclass(frozen=True)
class Vehicle(Plain):
    """A spacecraft: a rigid body that carries a ring, on a hexapod or fixed.

    Parameters
    ----------
    body : Body
        Without the ring and its legs; centre of mass in the base frame of the hexapod, or in the ring frame of a fixed
        port.
    ring : Hexapod, optional
        The mechanism that carries the ring; it needs a nominal pose, from which every docking starts. None: a rigid
        port, whose ring frame is the base frame. In dictionaries also "UPS", ...: a `mechanisms.docking_ring`.
    interface : Interface
    ring_offset : float, m
        Mating plane ahead of the ring's centre of mass, along x of the ring; nothing for a rigid port.
    name : str

    Examples
    --------
    >>> import zveno as zv
    >>> from zveno import docking
    >>> body = zv.Body(12e3, (22e3, 70e3, 70e3), com=(-3.5, 0, 0))
    >>> docking.Vehicle(body, ring=zv.mechanisms.docking_ring("UPS"), ring_offset=0.03).active
    True
    """

    body: Body
    ring: Hexapod | None = None
    interface: Interface = field(default_factory=Interface)
    ring_offset: float = 0.03
    name: str = "vehicle"
    _parts: ClassVar[Mapping[str, Any]] = {
        "body": _body_from,
        "ring": _ring_from,
        "interface": lambda data: data if isinstance(data, Interface) else Interface.from_dict(data),
    }

    def __post_init__(self) -> None:
        if not isinstance(self.body, Body):
            self._fail(f"body is {_show(self.body)}, expected a Body")
        if not self.body.mass > 0:
            self._fail("body has no mass")
        if not np.linalg.eigvalsh(self.body.inertia).min() > 0:
            self._fail("body has no inertia about some axis")
        if self.ring is not None:
            if not isinstance(self.ring, Hexapod):
                self._fail(f"ring is {_show(self.ring)}, expected a Hexapod or None")
            if self.ring.nominal is None:
                self._fail(f"ring '{self.ring.name}' has no nominal pose, from which a docking starts")
            if np.any(self.ring.gravity):
                self._fail(f"ring '{self.ring.name}' has gravity, expected none: vehicles fly freely")
            for leg in self.ring.legs:
                if leg.chain is not None and (np.any(leg.chain.friction) or np.any(leg.chain.stiffness)):
                    self._fail(
                        f"leg '{leg.name}' has friction or springs in its chain: give them to the laws of `Phases`"
                    )
        if not isinstance(self.interface, Interface):
            self._fail(f"interface is {_show(self.interface)}, expected an Interface")
        self._numbers(numbers="ring_offset")
        if not _is_name(self.name):
            self._fail(f"name is {_show(self.name)}, expected a non-empty string")

    @property
    def active(self) -> bool:
        """Whether its ring is on a hexapod."""
        return self.ring is not None

    @property
    def mass(self) -> float:
        """Of the whole vehicle, kg."""
        ring = self.ring
        return self.body.mass + (0.0 if ring is None else ring.platform.mass + sum(leg.mass for leg in ring.legs))

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary; a demo ring is named by its legs.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.demo("UPS").chaser.to_dict()["ring"]
        'UPS'
        """
        found = super().to_dict()
        found["body"] = plain(self.body)
        if self.ring is not None and self.ring.name.startswith("docking_ring "):
            kind = self.ring.name.partition(" ")[2]
            if kind in _DEMO_LEGS and self.ring == mechanisms.docking_ring(kind):
                found["ring"] = kind
        return found


_DEMO_LEGS: Final = ("UPS", "SPU", "UCU", "RUS", "RSU")


@dataclass(frozen=True)
class Conditions(Plain):
    """Relative motion at the interface when the docking begins, in the ring axes of the first vehicle.

    That vehicle flies along its docking axis; the port of the second has the lateral velocity and the angular rate, and
    stands at (gap, offset) from the first, turned by R_y(pitch) R_z(yaw) R_x(roll) from the mated attitude.

    Parameters
    ----------
    closing : float, m/s
        Speed of approach.
    offset : (2,) array, m
        y and z of the second port.
    tilt : (2,) array, rad
        Pitch about y, yaw about z.
    roll : float, rad
    lateral : (2,) array, m/s
        y and z of the velocity of the second port.
    rate : (3,) array, rad/s
        Angular velocity of the second vehicle.
    gap : float, optional, m
        Between the mating planes. None: 5 mm more than where the first node touches.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Conditions(0.08, offset=(0.05, 0.02), gap=0.16).lateral
    (0.0, 0.0)
    """

    closing: float = 0.08
    offset: tuple[float, float] = (0.0, 0.0)
    tilt: tuple[float, float] = (0.0, 0.0)
    roll: float = 0.0
    lateral: tuple[float, float] = (0.0, 0.0)
    rate: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gap: float | None = None

    def __post_init__(self) -> None:
        self._numbers(numbers="closing roll")
        for key, size in (("offset", 2), ("tilt", 2), ("lateral", 2), ("rate", 3)):
            self._vector(key, size)
        if self.gap is not None:
            self._numbers(numbers="gap")
        self._at_most(10.0, "closing offset lateral")
        self._at_most(math.pi, "roll rate")
        self._at_most(100.0, "gap")
        if max(map(abs, self.tilt)) > math.pi / 2:
            self._fail(f"tilt is {self.tilt}, expected at most pi / 2 in size (radians)")

    @classmethod
    def from_degrees(
        cls,
        closing: float = 0.08,
        offset: Any = (0.0, 0.0),
        tilt: Any = (0.0, 0.0),
        roll: float = 0.0,
        lateral: Any = (0.0, 0.0),
        rate: Any = (0.0, 0.0, 0.0),
        gap: float | None = None,
    ) -> Self:
        """The same with `tilt` and `roll` in degrees and `rate` in degrees per second.

        Examples
        --------
        >>> from zveno import docking
        >>> round(docking.Conditions.from_degrees(roll=180).roll, 4)
        3.1416
        """
        given = cls(closing, offset, (0.0, 0.0), 0.0, lateral, rate, gap)
        for value, size, what in ((tilt, 2, "tilt"), (roll, 0, "roll")):
            if np.shape(value) != ((size,) if size else ()):
                given._fail(f"{what} is {_show(value)}, expected {size or 'a'} number{'s' if size else ''}")
        return given.replace(
            tilt=tuple(np.radians(tilt).tolist()), roll=math.radians(roll), rate=tuple(np.radians(rate).tolist())
        )

    def _row(self) -> list[float]:
        """As the core takes them: closing, offset, tilt, roll, lateral, rate, gap (nan: by the rule)."""
        gap = math.nan if self.gap is None else self.gap
        return [self.closing, *self.offset, *self.tilt, self.roll, *self.lateral, *self.rate, gap]


@dataclass(frozen=True)
class Contact(Plain):
    """Law of contact of the rings: F_n = k l W ramp(d)^n max(0, 1 - damping v_n), friction against sliding.

    Parameters
    ----------
    edge_stiffness, side_stiffness, face_stiffness : float, N/m^2
        Of edges on petals, of sides of petals, of the faces, per length of contact; N/m^2.5 for an exponent of 1.5.
    blend : float, m
        Penetration over which the stiffness sets in.
    damping : float, s/m
        Hunt-Crossley: dissipation in proportion to the elastic force. `Contact.for_restitution` finds it.
    lankarani_nikravesh : float
        A coefficient of restitution e, below 1: the damping of edges, sides and faces is 3 (1 - e^2) / (4 v) then,
        with the speed v of approach when they begin to touch, and `damping` does not act. The rebound is near e for e
        near 1, elsewhere larger: `restitution` says it. 0: Hunt-Crossley.
    friction : float
    creep_speed : float, m/s
        Where friction reaches 71 % of its limit.
    sticking : bool
        Friction with bristles at the nodes, which hold without creep; first order in the step.
    exponent : float
        1 or 1.5 (Hertz).
    range : float, m
        Penetration beyond which the model does not hold; a run that passes it ends with the status "contact_range".
    enabled : bool

    Examples
    --------
    >>> from zveno import docking
    >>> round(docking.Contact().restitution(0.08), 6)
    0.698257
    """

    edge_stiffness: float = 1e6
    side_stiffness: float = 2e6
    face_stiffness: float = 4e5
    blend: float = 0.2e-3
    damping: float = 8.0
    lankarani_nikravesh: float = 0.0
    friction: float = 0.10
    creep_speed: float = 5e-3
    sticking: bool = False
    exponent: float = 1.0
    range: float = 0.02
    enabled: bool = True

    def __post_init__(self) -> None:
        self._numbers(
            amounts="edge_stiffness side_stiffness face_stiffness damping lankarani_nikravesh friction",
            positive="blend creep_speed exponent",
            infinite="range",
        )
        self._flags("sticking", "enabled")
        if self.exponent not in (1.0, 1.5):
            self._fail(f"exponent is {self.exponent:g}, expected 1 or 1.5")
        if not self.lankarani_nikravesh < 1:
            self._fail(f"lankarani_nikravesh is {self.lankarani_nikravesh:g}, expected below 1")

    def restitution(self, speed: float) -> float:
        """Ratio of speeds after and before a head-on impact: a (1 + e) = ln((1 + a) / (1 - a e)), a = damping speed.

        It holds for any elastic law that grows with the penetration. With `lankarani_nikravesh` a is
        3 (1 - e^2) / 4 at any speed.

        Examples
        --------
        >>> from zveno import docking
        >>> round(docking.Contact(damping=4.0).restitution(0.1), 4)
        0.7885
        """
        if self.lankarani_nikravesh > 0:
            return restitution(0.75 * (1 - self.lankarani_nikravesh**2), 1.0)
        return restitution(self.damping, speed)

    @classmethod
    def for_restitution(cls, e: float, speed: float, **others: Any) -> Self:
        """Contact whose damping gives the restitution `e` at the approach speed `speed`.

        Examples
        --------
        >>> from zveno import docking
        >>> round(docking.Contact.for_restitution(0.698256682, 0.08).damping, 6)
        8.0
        """
        given = cls(**others)
        for value, what in ((e, "e"), (speed, "speed")):
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                given._fail(f"for_restitution: {what} is {_show(value)}, expected a number > 0")
        if e > 1:
            given._fail(f"for_restitution: e is {e:g}, expected at most 1")
        low, high = 0.0, 1.0
        while restitution(high, speed) > e:
            high *= 2
        for _ in range(200):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            low, high = (middle, high) if restitution(middle, speed) > e else (low, middle)
        return given.replace(damping=0.5 * (low + high) if e < 1 else 0.0)


def restitution(damping: float, speed: float) -> float:
    """Root e of a (1 + e) = ln((1 + a) / (1 - a e)) with a = damping speed."""
    a = damping * abs(speed)
    if a < 1e-8:
        return 1 - 2 * a / 3

    def surplus(e: float) -> float:  # falls from positive to negative infinity
        return a * (1 + e) - math.log1p(a) + math.log1p(-a * e)

    low, high = 0.0, min(1.0, 1 / a)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if a * middle < 1 and surplus(middle) > 0 else (low, middle)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class Latches(Plain):
    """Latches at the petals of the first ring, which close when the rings are near, and draw them together.

    Force f = stiffness (g - g0 exp(-(t - t_c) / time_constant)) + damping g' for the gap g in axes of the first ring,
    g0 that at closing.

    Parameters
    ----------
    radius : float, m
        Of the latch points, on the mating planes.
    axial_gap, lateral_gap : float, m
        A latch closes where its gap is smaller than both.
    stiffness : float, N/m
    damping : float, N s/m
    time_constant : float, s
        Of the draw-in.
    break_force : float, N
        A latch that is loaded beyond it is lost.
    release_time : float, s
        When all latches are opened; they close again only after having been 1.5 gaps apart.
    need : int, optional
        How many make a capture; None: all.
    enabled : bool

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Latches(need=2).stiffness
    150000.0
    """

    radius: float = 0.585
    axial_gap: float = 8e-3
    lateral_gap: float = 20e-3
    stiffness: float = 1.5e5
    damping: float = 1500.0
    time_constant: float = 0.25
    break_force: float = math.inf
    release_time: float = math.inf
    need: int | None = None
    enabled: bool = True

    def __post_init__(self) -> None:
        self._numbers(
            positive="radius axial_gap lateral_gap time_constant",
            amounts="stiffness damping",
            infinite="break_force release_time",
        )
        self._at_most(20.0, "radius")
        self._at_most(1.0, "axial_gap lateral_gap")
        if self.need is not None:
            self._counts(1, "need")
        self._flags("enabled")


@dataclass(frozen=True)
class Move(Plain):
    """A servo that takes all legs to one stroke on a ramp; strokes are counted from the nominal pose.

    Parameters
    ----------
    target : float, m or rad
        From the coordinate of the nominal pose.
    speed : float, m/s or rad/s
    stiffness, damping : float, N/m, N s/m or N m/rad, N m s/rad
    tolerance : float, m or rad
        The move has ended when the ramp has, and all legs are this near.
    limit : float, N or N m
        The largest force.
    start : float, optional, m or rad
        Where the ramp begins. None: where each leg is.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Move(-0.11, 8e-3, 3000.0, 4000.0, 2e-3).limit
    inf
    """

    target: float
    speed: float
    stiffness: float
    damping: float
    tolerance: float
    limit: float = math.inf
    start: float | None = None

    def __post_init__(self) -> None:
        self._numbers(numbers="target", positive="speed tolerance", amounts="stiffness damping", infinite="limit")
        if self.start is not None:
            self._numbers(numbers="start")


def _move_from(data: Any) -> Any:
    return data if data is None or isinstance(data, Move) else Move.from_dict(data)


def _maybe_law(data: Any) -> Any:
    if isinstance(data, list | tuple):
        return tuple(law_from_dict(item) for item in data)
    return None if data is None else law_from_dict(data)


@dataclass(frozen=True)
class Phases(Plain):
    """What the legs do, phase after phase: ready, attenuation, alignment, retraction, hard mate.

    Parameters
    ----------
    ready, attenuation : Law or six of them, optional
        Of every leg before and after capture, besides `common`. None: the demo values for the kind of leg, springs and
        dampers of 400, 80 and 700, 2500 (slides) or 15, 3 and 26, 95 (cranks). `laws.Formula` is a law of your own.
    common : Law or six of them, optional
        Acts in every phase. None: friction of 5 N, 2 mm/s (0.2 N m, 0.01 rad/s) and `laws.Bumpers` at the legs' limits.
    alignment, retraction : Move, optional
        None: the demo values, 3000, 4000 at 8 mm/s to 0 and -0.11 m (110, 150 at 0.04 rad/s to 0 and -0.60 rad).
    sequence : tuple of str
        Phases that are entered, in this order. The run ends with "hard_mate", where the vehicles are locked.
    rest_speed, rest_rate, dwell : float, m/s, rad/s, s
        Attenuation ends when the ports have moved more slowly than this against each other for so long,
    attenuation_time : float, s
        or after this time, which is flagged.
    move_time : float, s
        Alignment and retraction end at the latest after this time, which is flagged.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Phases(sequence=("ready", "attenuation")).dwell
    0.5
    """

    ready: Law | tuple[Law, ...] | None = None
    attenuation: Law | tuple[Law, ...] | None = None
    common: Law | tuple[Law, ...] | None = None
    alignment: Move | None = None
    retraction: Move | None = None
    sequence: tuple[str, ...] = PHASES
    rest_speed: float = 2e-3
    rest_rate: float = 0.1 * _DEGREE
    dwell: float = 0.5
    attenuation_time: float = 15.0
    move_time: float = 60.0
    _parts: ClassVar[Mapping[str, Any]] = {
        "ready": _maybe_law,
        "attenuation": _maybe_law,
        "common": _maybe_law,
        "alignment": _move_from,
        "retraction": _move_from,
    }

    def __post_init__(self) -> None:
        for key in ("ready", "attenuation", "common"):
            value = getattr(self, key)
            if value is None or isinstance(value, Law):
                continue
            six = as_list(value)
            if six is None or len(six) != 6 or not all(isinstance(law, Law) for law in six):
                function = ": functions of Python are arguments of docking.simulate" if callable(value) else ""
                self._fail(f"{key} is {_show(value)}, expected a Law, six of them, or None{function}")
            self._set(key, tuple(six))
        for key in ("alignment", "retraction"):
            if getattr(self, key) is not None and not isinstance(getattr(self, key), Move):
                self._fail(f"{key} is {_show(getattr(self, key))}, expected a Move or None")
        names = as_list(self.sequence)
        places = [PHASES.index(name) if name in PHASES else -1 for name in names or ()]
        if not places or places[0] != 0 or -1 in places or places != sorted(set(places)):
            self._fail(f"sequence is {_show(self.sequence)}, expected 'ready' and later ones of {PHASES}")
        self._set("sequence", tuple(names or ()))
        self._numbers(amounts="rest_speed rest_rate dwell", infinite="attenuation_time move_time")

    def laws(self, ring: Hexapod, leg: int) -> tuple[Law, Law, Law]:
        """Laws of a leg that hold in phases ready, attenuation, and beside the moves; references are resolved.

        Examples
        --------
        >>> from zveno import docking
        >>> scenario = docking.demo("UPS")
        >>> ready, attenuation, common = scenario.phases.laws(scenario.chaser.ring, 0)
        >>> attenuation == ready
        False
        """
        rotary = ring.legs[leg].unit == "rad"
        given = [
            value[leg] if isinstance(value, tuple) else value for value in (self.ready, self.attenuation, self.common)
        ]
        ready = given[0] or (SpringDamper(15.0, 3.0) if rotary else SpringDamper(400.0, 80.0))
        attenuation = given[1] or (SpringDamper(26.0, 95.0) if rotary else SpringDamper(700.0, 2500.0))
        common = given[2]
        if common is None:
            common = DryFriction(0.2, 0.01) if rotary else DryFriction(5.0, 2e-3)
            if math.isfinite(ring.legs[leg].lower) or math.isfinite(ring.legs[leg].upper):
                common = common + (Bumpers(4e3, 2.0, 5e-3) if rotary else Bumpers(1e5, 10.0, 1e-3))
        made = [law.of(ring, leg) for law in (ready + common, attenuation + common, common)]
        return made[0], made[1], made[2]

    def moves(self, ring: Hexapod) -> tuple[Move, Move]:
        """Alignment and retraction of a ring.

        Examples
        --------
        >>> from zveno import docking
        >>> scenario = docking.demo("UPS")
        >>> len(scenario.phases.moves(scenario.chaser.ring))
        2
        """
        rotary = ring.legs[0].unit == "rad"
        gains = (0.04, 110.0, 150.0, 0.01) if rotary else (8e-3, 3000.0, 4000.0, 2e-3)
        return self.alignment or Move(0.0, *gains), self.retraction or Move(-0.60 if rotary else -0.11, *gains)


@dataclass(frozen=True)
class Thrust(Plain):
    """Thrusters of the first vehicle: a force and a moment for a while, base axes, at the body's centre of mass.

    Parameters
    ----------
    force : (3,) array, N
    moment : (3,) array, N m
    at : float or {"contact", "capture"}
        Time, s, or event from which the delay is counted.
    delay, duration : float, s
    vehicle : {"a", "b"}

    Examples
    --------
    >>> from zveno import docking
    >>> docking.Thrust((300, 20, 0), (0, 5, 3), at="contact", delay=0.05, duration=0.2).at
    'contact'
    """

    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    at: float | str = "contact"
    delay: float = 0.0
    duration: float = math.inf
    vehicle: str = "a"

    def __post_init__(self) -> None:
        self._vector("force", 3)
        self._vector("moment", 3)
        self._numbers(amounts="delay", infinite="duration")
        if isinstance(self.at, str):
            if self.at not in ("contact", "capture"):
                self._fail(f"at is {_show(self.at)}, expected a time, 'contact' or 'capture'")
        else:
            self._numbers(amounts="at")
        if self.vehicle not in ("a", "b"):
            self._fail(f"vehicle is {_show(self.vehicle)}, expected 'a' or 'b'")


@dataclass(frozen=True)
class AttitudeHold(Plain):
    """Attitude control of a vehicle: moment -stiffness theta - damping omega, sampled and held, base axes.

    theta is the rotation vector from the attitude at the start. Axis by axis the moment is zero while both terms are
    inside the dead band, and limited.

    Parameters
    ----------
    stiffness : float, N m/rad
    damping : float, N m s/rad
    period : float, s
        Between samples: a multiple of the step.
    dead_band : float, rad
        The law acts on theta + (damping / stiffness) omega beyond it; with no stiffness it is ignored.
    limit : float, N m
    vehicle : {"a", "b"}

    Examples
    --------
    >>> from zveno import docking
    >>> docking.AttitudeHold(2e3, 2e4, period=0.1, dead_band=0.002).limit
    inf
    """

    stiffness: float = 0.0
    damping: float = 0.0
    period: float = 0.1
    dead_band: float = 0.0
    limit: float = math.inf
    vehicle: str = "a"

    def __post_init__(self) -> None:
        self._numbers(amounts="stiffness damping dead_band", positive="period", infinite="limit")
        if self.vehicle not in ("a", "b"):
            self._fail(f"vehicle is {_show(self.vehicle)}, expected 'a' or 'b'")


def _items(cls: type[Plain], key: str, made: Plain, value: Any) -> tuple[Any, ...]:
    """One, several or none."""
    if value is None:
        return ()
    given = (value,) if isinstance(value, cls) else as_list(value)
    if given is None or not all(isinstance(item, cls) for item in given):
        made._fail(f"{key} is {_show(value)}, expected {cls.__name__}, some of them, or None")
    return tuple(given)


def _several(cls: type[Plain]) -> Any:
    def build(data: Any) -> Any:
        if data is None or isinstance(data, cls):
            return data
        if isinstance(data, Mapping):
            return cls.from_dict(data)
        return tuple(item if isinstance(item, cls) else cls.from_dict(item) for item in as_list(data) or ())

    return build


def _part(cls: type[Plain]) -> Any:
    return lambda data: data if isinstance(data, cls) else cls.from_dict(data)


@dataclass(frozen=True)
class Scenario(Plain):
    """All that makes a docking. Plain data: to and from dictionaries, TOML and JSON.

    Parameters
    ----------
    chaser, station : Vehicle
        The first has its ring on a hexapod, or not; the second likewise.
    conditions : Conditions
    contact : Contact
    latches : Latches
    phases : Phases
        Of both rings.
    thrust : Thrust or several, optional
    attitude_hold : AttitudeHold or several, optional

    Examples
    --------
    >>> from zveno import docking
    >>> s = docking.demo()
    >>> docking.Scenario.from_dict(s.to_dict()) == s
    True
    """

    chaser: Vehicle
    station: Vehicle
    conditions: Conditions = field(default_factory=Conditions)
    contact: Contact = field(default_factory=Contact)
    latches: Latches = field(default_factory=Latches)
    phases: Phases = field(default_factory=Phases)
    thrust: tuple[Thrust, ...] = ()
    attitude_hold: tuple[AttitudeHold, ...] = ()
    _parts: ClassVar[Mapping[str, Any]] = {
        "chaser": _part(Vehicle),
        "station": _part(Vehicle),
        "conditions": _part(Conditions),
        "contact": _part(Contact),
        "latches": _part(Latches),
        "phases": _part(Phases),
        "thrust": _several(Thrust),
        "attitude_hold": _several(AttitudeHold),
    }

    def __post_init__(self) -> None:
        kinds: dict[str, type[Plain]] = {
            "chaser": Vehicle, "station": Vehicle, "conditions": Conditions,
            "contact": Contact, "latches": Latches, "phases": Phases,
        }  # fmt: skip
        for key, cls in kinds.items():
            if not isinstance(getattr(self, key), cls):
                self._fail(f"{key} is {_show(getattr(self, key))}, expected {cls.__name__}")
        self._set("thrust", _items(Thrust, "thrust", self, self.thrust))
        self._set("attitude_hold", _items(AttitudeHold, "attitude_hold", self, self.attitude_hold))
        first, second = self.chaser.interface, self.station.interface
        if first.inward != second.inward:
            self._fail("interfaces cannot mate: the petals of one lean inwards, of the other outwards")
        latches, petals = self.latches, first.petals
        if latches.enabled and latches.need is not None and latches.need > petals:
            self._fail(f"latches.need is {latches.need}, but the ring of the chaser has {petals} latches")

    @property
    def hash(self) -> str:
        """Of all that is in it: 64 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a TOML or JSON file; unknown keys are refused.

        Examples
        --------
        >>> import os, tempfile
        >>> from zveno import docking
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "scenario.json")
        ...     docking.demo("RSU").save(path)
        ...     docking.Scenario.load(path).chaser.ring.legs[0].type
        'RSU'
        """
        data = read_data("Scenario.load", path)
        if "format" in data:  # of chains, hexapods, ...
            raise ModelError(f"Scenario.load: {path} has the format {_show(data['format'])}, a scenario has none")
        try:
            return cls.from_dict(data)
        except ModelError as error:
            raise ModelError(f"Scenario.load: {path}: {error}", error.link) from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write a TOML file, or a JSON file if its name ends in .json.

        Examples
        --------
        >>> import os, tempfile
        >>> from zveno import docking
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "scenario.toml")
        ...     docking.demo("UPS").save(path)
        ...     docking.Scenario.load(path) == docking.demo("UPS")
        True
        """
        write_data("Scenario.save", path, self.to_dict())

    def to_toml(self) -> str:
        """The text of the TOML file.

        Examples
        --------
        >>> from zveno import docking
        >>> docking.demo("UPS").to_toml().splitlines()[0]
        '[chaser]'
        """
        return toml_of(self.to_dict())


def demo(kind: str = "UPS", case: str = "nominal", *, both: bool = False) -> Scenario:
    """The demo docking: 12 t with a ring on six legs against 350 t. Data are made up.

    Parameters
    ----------
    kind : {"UPS", "SPU", "UCU", "RUS", "RSU"}
        Legs of the chaser's ring.
    case : {"aligned", "nominal", "limit"}
        Conditions: head-on; typical misalignment; near the corner of the usual box of initial conditions.
    both : bool
        The station has a ring on such legs too.

    Returns
    -------
    scenario : Scenario

    Examples
    --------
    >>> from zveno import docking
    >>> docking.demo("RSU", "limit").conditions.closing
    0.1
    """
    cases = {
        "aligned": Conditions(0.08, gap=0.16),
        "nominal": Conditions.from_degrees(0.08, (0.05, 0.02), (2, 1.5), 2, (0.02, 0), (0.05, 0.06, 0.06), 0.16),
        "limit": Conditions.from_degrees(0.10, (0.08, 0.06), (3.2, 2.4), 4, (0.032, 0.024), (0.2, 0.16, 0.12), 0.16),
    }
    if not isinstance(case, str) or case not in cases:
        raise ModelError(f"demo: case is {_show(case)}, expected 'aligned', 'nominal' or 'limit'")
    ring = mechanisms.docking_ring(kind)
    chaser = Vehicle(Body(12e3, (22e3, 70e3, 70e3), com=(-3.5, 0, 0)), ring, name="chaser")
    station = Vehicle(Body(350e3, (5e7, 1e8, 1e8), com=(-15, 0, 0)), ring if both else None, name="station")
    return Scenario(chaser, station, cases[case])
