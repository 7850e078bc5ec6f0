"""`Leg` of a hexapod, and what distinguishes its types."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, Fail, MaybeNone, _is_name, _show, as_amount, as_array, as_direction, as_range, as_vector
from .._record import Record
from .._rotation import IDENTITY, as_rotation
from ..errors import ModelError
from .body import Body
from .chain import Chain

__all__ = ["TRAITS", "Leg", "LegTraits"]


FRAMES: Final = ("base_frame", "ring_frame", "crank_frame", "tip_frame")


class LegTraits(NamedTuple):
    """What distinguishes a type of legs; the table of the compiled core.

    Attributes
    ----------
    name : str
        Joints by letter, base to ring.
    hunt : bool
        Crank and coupler, actuated at the crank.
    spins : bool
        Closes with a universal joint and has a spin about its line.
    coordinates : tuple of str
        Names of the joint coordinates, base to ring; none of a custom leg, whose chain has them.
    """

    name: str
    hunt: bool
    spins: bool
    coordinates: tuple[str, ...]

    @property
    def gough(self) -> bool:
        """Housing and rod, the stroke actuated. A custom leg is neither this nor `hunt`."""
        return bool(self.coordinates) and not self.hunt

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames that it may be given: of the first joint, of a universal joint on the ring, of one on the crank."""
        mine = bool(self.coordinates), self.spins, self.hunt, self.spins
        return tuple(frame for frame, has in zip(FRAMES, mine, strict=True) if has)


STANDARD: Final = {row[0]: LegTraits(*row) for row in _core.leg_types()}
TRAITS: Final = STANDARD | {"custom": LegTraits("custom", False, False, ())}

_ORIGIN: Final = (0.0, 0.0, 0.0)
_CUSTOM: Final = ("chain", "link", "point", "ring_axis", "start", "actuated")
_FIELDS: Final = (
    "type", "name", "base", "ring", *FRAMES, "inner", "outer", "inner_length", "outer_length", "reflected",
    "elbow", "spin_branch", "lower", "upper", "chain", "link", "point", "axis", "ring_axis", "start", "actuated",
)  # fmt: skip


def leg_fail(kind: str, name: object) -> Fail:
    """Check the name of a leg; return the function that reports what is wrong with the rest."""
    if name is not None and not _is_name(name):
        raise ModelError(f"{kind} leg: name is {_show(name)}, expected a non-empty string or None")
    who, link = (f"{kind} leg", None) if name is None else (f"leg {_show(name)}", str(name))

    def fail(text: str) -> NoReturn:
        raise ModelError(f"{who}: {text}", link)

    return fail


class Leg(Record):
    """A leg of a hexapod, from the base to the ring. Immutable.

    Use the constructor of its type: `ups`, `spu`, `ucu` (Gough-Stewart: a housing and a rod that slides in it), `rus`,
    `rsu` (Hunt: a crank and a coupler) or `custom` (any chain). The letters are the joints from base to ring: revolute,
    universal, spherical, prismatic, cylindrical.

    Attributes
    ----------
    type : {"UPS", "SPU", "UCU", "RUS", "RSU", "custom"}
    name : str or None
        None: `Hexapod` calls it ``leg1 ... leg6``.
    base, ring : (3,) array, m
        Hinge points in base and ring axes; `base` is None for "custom". `ring` is measured from the origin of the
        platform's frame, in `Hexapod.legs` from the centre of mass.
    base_frame : (3, 3) array or None
        First joint frame, local to base axes. Joints are U: y, then z; R: y; the x axis is where angles are zero.
    ring_frame : (3, 3) array or None
        Frame of the ring's universal joint, local to ring axes; its z axis is fixed in the ring.
    crank_frame : (3, 3) array or None
        Frame of the universal or spherical joint on the crank, local to crank axes.
    tip_frame : (3, 3) array or None
        Frame of the ring's universal joint, local to the axes of the last link; its y axis is fixed in that link.
    inner, outer : Body or None
        Housing and rod, or crank and coupler.
    inner_length, outer_length : float or None, m
        Of the same; `outer_length` None: from the nominal pose.
    reflected : float, kg or kg m^2
        Drive inertia seen by the actuated coordinate.
    elbow, spin_branch : {1, -1}
        Branches of the assembly.
    lower, upper : float, m or rad
        Limits of the actuated coordinate, infinite by default; information for the user, no function enforces them.
    chain, link, point, axis, ring_axis, start, actuated
        Of a "custom" leg. `axis` of a Hunt leg: its R axis in base axes, until `Hexapod` makes a `base_frame` of it.

    Notes
    -----
    Frames that are None are filled in by `Hexapod`, see there; `Hexapod.legs` has all four of every leg, the identity
    where its type has no use for one.
    """

    __slots__ = _FIELDS
    _required = ("type",)
    _limits = ("lower", "upper")
    _parts: ClassVar = {"inner": Body, "outer": Body, "chain": Chain}

    type: str
    name: str | None
    base: Array | MaybeNone
    ring: Array
    base_frame: Array | MaybeNone
    ring_frame: Array | MaybeNone
    crank_frame: Array | None
    tip_frame: Array | None
    inner: Body | MaybeNone
    outer: Body | MaybeNone
    inner_length: float
    outer_length: float | None
    reflected: float
    elbow: int
    spin_branch: int
    lower: float
    upper: float
    chain: Chain | None
    link: str | None
    point: Array | None
    axis: Array | None
    ring_axis: Array | None
    start: Array | None
    actuated: str | None

    def __init__(
        self,
        type: str,
        *,
        name: str | None = None,
        base: ArrayLike | None = None,
        ring: ArrayLike | None = None,
        base_frame: Any = None,
        ring_frame: Any = None,
        crank_frame: Any = None,
        tip_frame: Any = None,
        inner: Body | None = None,
        outer: Body | None = None,
        inner_length: float | None = None,
        outer_length: float | None = None,
        reflected: float = 0.0,
        elbow: int = 1,
        spin_branch: int = 1,
        lower: float = -math.inf,
        upper: float = math.inf,
        chain: Chain | None = None,
        link: str | None = None,
        point: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        ring_axis: ArrayLike | None = None,
        start: ArrayLike | None = None,
        actuated: str | None = None,
    ) -> None:
        if not isinstance(type, str) or type not in TRAITS:
            expected = ", ".join(f"'{key}'" for key in STANDARD)
            raise ModelError(f"Leg: type is {_show(type)}, expected {expected} or 'custom'")
        fail = leg_fail(type, name)
        traits = TRAITS[type]
        values: dict[str, Any] = dict.fromkeys(_FIELDS) | {"type": type, "name": name}
        foreign: dict[str, object]
        values["ring"] = as_vector(ring, fail, "ring")

        frames = (base_frame, ring_frame, crank_frame, tip_frame)
        for key, frame in zip(FRAMES, frames, strict=True):
            if frame is not None:
                values[key] = as_rotation(frame, fail, key)
                if key not in traits.frames and (values[key] != IDENTITY).any():
                    fail(f"{key} is {_show(values[key].tolist())}, but a {type} leg has no such frame")

        values["lower"], values["upper"] = as_range(lower, upper, fail, "drive")
        values["reflected"] = as_amount(reflected, fail, "reflected")
        for key, sign, mine in (("elbow", elbow, traits.hunt), ("spin_branch", spin_branch, traits.spins)):
            if isinstance(sign, bool) or not isinstance(sign, int | np.integer) or sign not in (1, -1):
                fail(f"{key} is {_show(sign)}, expected 1 or -1")
            if not mine and sign != 1:
                fail(f"{key} is -1, but a {type} leg has no such branch")
            values[key] = int(sign)

        if type == "custom":
            foreign = {"base": base, "inner": inner, "outer": outer}
            foreign |= {"inner_length": inner_length, "outer_length": outer_length}
            for key, value in foreign.items():
                if value is not None and not (isinstance(value, float) and value == 0):
                    fail(f"{key} is {_show(value)}, but a custom leg is made of its chain")
            if values["reflected"]:
                fail("reflected is given, but the drive of a custom leg is the rotor_inertia of its chain's joint")
            values |= {"inner_length": 0.0, "outer_length": 0.0}
            limits = values["lower"], values["upper"]
            values |= _custom_fields(fail, chain, link, point, axis, ring_axis, start, actuated)
            if limits not in ((-math.inf, math.inf), (values["lower"], values["upper"])):
                fail("lower and upper are given, but the limits of a custom leg are those of its chain's joint")
        else:
            foreign = dict(zip(_CUSTOM, (chain, link, point, ring_axis, start, actuated), strict=True))
            for key, value in foreign.items():
                if value is not None:
                    fail(f"{key} is {_show(value)}, but only a custom leg has one")
            values["base"] = as_vector(base, fail, "base")
            words = ("crank", "coupler") if traits.hunt else ("housing", "rod")
            bodies, lengths = (inner, outer), (inner_length, outer_length)
            for key, word, body, length in zip(("inner", "outer"), words, bodies, lengths, strict=True):
                if not isinstance(body, Body):
                    fail(f"{word} is {_show(body)}, expected a Body")
                values[key] = body
                if word != "rod" or length is not None:
                    values[f"{key}_length"] = as_amount(length, fail, f"{word}_length", positive=True)
            if axis is not None:
                if not traits.hunt:
                    fail(f"axis is {_show(axis)}, but a {type} leg has no R joint")
                if base_frame is not None:
                    fail("base_frame and axis are both given; the y axis of base_frame is the R axis")
                values["axis"] = as_direction(axis, fail, "axis")

        super().__init__(**values)

    @classmethod
    def _linear(
        cls,
        type: str,
        rotor_inertia: float,
        lead: float | None,
        reflected_mass: float | None,
        name: str | None,
        **fields: Any,
    ) -> Self:
        """A Gough-Stewart leg with the drive inertia J (2 pi / lead)^2."""
        fail = leg_fail(type, name)
        J = as_amount(rotor_inertia, fail, "rotor_inertia")
        if reflected_mass is not None:
            if J or lead is not None:
                fail("reflected_mass is given and so is rotor_inertia or lead; expected one or the other")
            reflected = as_amount(reflected_mass, fail, "reflected_mass")
        elif lead is None:
            if J:
                fail(f"rotor_inertia is {J:g} but lead is None; expected the lead of the screw, m per turn")
            reflected = 0.0
        else:
            reflected = J * (2 * math.pi / as_amount(lead, fail, "lead", positive=True)) ** 2
        return cls(type, name=name, reflected=reflected, **fields)

    @classmethod
    def ups(
        cls,
        base: ArrayLike,
        ring: ArrayLike,
        *,
        housing: Body,
        rod: Body,
        housing_length: float,
        rod_length: float | None = None,
        base_frame: Any = None,
        rotor_inertia: float = 0.0,
        lead: float | None = None,
        reflected_mass: float | None = None,
        lower: float = -math.inf,
        upper: float = math.inf,
        name: str | None = None,
    ) -> Self:
        """Gough-Stewart leg: universal joint on the base, actuated slide, spherical joint on the ring.

        Coordinates: u1 about y and u2 about z of `base_frame` (rad), then the stroke (m).

        Parameters
        ----------
        base, ring : (3,) array, m
            Hinge points in base and ring axes.
        housing, rod : Body
            Both frames have x along the leg towards the ring and are not turned against each other. The housing's is at
            the base hinge, the rod's at `housing_length` + stroke from it.
        housing_length, rod_length : float, m
            Their sum is the distance of the hinges at zero stroke: L_0 of Golubev & Yaskevich, (17).
            `rod_length` None: the stroke is zero in the nominal pose.
        base_frame : (3, 3) array or another form of a rotation, see `Hexapod`, optional
            Local to base axes. Default: see `Hexapod`.
        rotor_inertia : float, kg m^2
        lead : float, m
            Of the screw, per turn: the rotor adds rotor_inertia (2 pi / lead)^2 to the inertia of the stroke.
        reflected_mass : float, kg
            The same directly.
        lower, upper : float, m
            Limits of the stroke.
        name : str, optional

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> bodies = {"housing": zv.Body.cylinder(4, 0.03, 0.3), "rod": zv.Body.cylinder(2, 0.02, 0.3)}
        >>> leg = zv.Leg.ups((0, 0.6, 0), (0, 0.5, 0.1), housing_length=0.3, **bodies)
        >>> leg.type, leg.joint_names, leg.unit
        ('UPS', ('u1', 'u2', 'stroke'), 'm')
        """
        return cls._linear(
            "UPS", rotor_inertia, lead, reflected_mass, name, base=base, ring=ring, inner=housing, outer=rod,
            inner_length=housing_length, outer_length=rod_length, base_frame=base_frame, lower=lower, upper=upper,
        )  # fmt: skip

    @classmethod
    def spu(
        cls,
        base: ArrayLike,
        ring: ArrayLike,
        *,
        housing: Body,
        rod: Body,
        housing_length: float,
        rod_length: float | None = None,
        base_frame: Any = None,
        ring_frame: Any = None,
        tip_frame: Any = None,
        rotor_inertia: float = 0.0,
        lead: float | None = None,
        reflected_mass: float | None = None,
        lower: float = -math.inf,
        upper: float = math.inf,
        spin_branch: int = 1,
        name: str | None = None,
    ) -> Self:
        """Gough-Stewart leg: spherical joint on the base, actuated slide, universal joint on the ring.

        Coordinates: u1 about y, u2 about z of `base_frame`, the spin about x, which the housing shares (rad), then the
        stroke (m).

        Parameters
        ----------
        ring_frame : (3, 3) array or another form of a rotation, see `Hexapod`, optional
            Local to ring axes; z is the axis of the universal joint that is fixed in the ring. Default: see `Hexapod`.
        tip_frame : (3, 3) array or another form of a rotation, see `Hexapod`, optional
            Local to rod axes; y is the axis of the universal joint that is fixed in the rod. Default: identity.
        spin_branch : {1, -1}
            The two spins that close the leg; s of Golubev & Yaskevich, (27). Zero spin is on branch 1.
        base, ring, housing, rod, housing_length, rod_length, base_frame, rotor_inertia, lead, reflected_mass, lower,\
 upper, name
            As in `ups`.

        Examples
        --------
        >>> import zveno as zv
        >>> bodies = {"housing": zv.Body.cylinder(4, 0.03, 0.3), "rod": zv.Body.cylinder(2, 0.02, 0.3)}
        >>> leg = zv.Leg.spu((0, 0.6, 0), (0, 0.5, 0.1), housing_length=0.3, **bodies)
        >>> leg.type, leg.joint_names
        ('SPU', ('u1', 'u2', 'spin', 'stroke'))
        """
        return cls._linear(
            "SPU", rotor_inertia, lead, reflected_mass, name, base=base, ring=ring, inner=housing, outer=rod,
            inner_length=housing_length, outer_length=rod_length, base_frame=base_frame, ring_frame=ring_frame,
            tip_frame=tip_frame, lower=lower, upper=upper, spin_branch=spin_branch,
        )  # fmt: skip

    @classmethod
    def ucu(
        cls,
        base: ArrayLike,
        ring: ArrayLike,
        *,
        housing: Body,
        rod: Body,
        housing_length: float,
        rod_length: float | None = None,
        base_frame: Any = None,
        ring_frame: Any = None,
        tip_frame: Any = None,
        rotor_inertia: float = 0.0,
        lead: float | None = None,
        reflected_mass: float | None = None,
        lower: float = -math.inf,
        upper: float = math.inf,
        spin_branch: int = 1,
        name: str | None = None,
    ) -> Self:
        """Gough-Stewart leg: universal joint on the base, actuated slide that also turns, universal joint on the ring.

        As `spu`, but only the rod spins.

        Examples
        --------
        >>> import zveno as zv
        >>> bodies = {"housing": zv.Body.cylinder(4, 0.03, 0.3), "rod": zv.Body.cylinder(2, 0.02, 0.3)}
        >>> leg = zv.Leg.ucu((0, 0.6, 0), (0, 0.5, 0.1), housing_length=0.3, **bodies)
        >>> leg.type, leg.joint_names
        ('UCU', ('u1', 'u2', 'spin', 'stroke'))
        """
        return cls._linear(
            "UCU", rotor_inertia, lead, reflected_mass, name, base=base, ring=ring, inner=housing, outer=rod,
            inner_length=housing_length, outer_length=rod_length, base_frame=base_frame, ring_frame=ring_frame,
            tip_frame=tip_frame, lower=lower, upper=upper, spin_branch=spin_branch,
        )  # fmt: skip

    @classmethod
    def _rotary(cls, type: str, rotor_inertia: float, gear: float, name: str | None, **fields: Any) -> Self:
        """A Hunt leg with the drive inertia J gear^2."""
        fail = leg_fail(type, name)
        J, ratio = as_amount(rotor_inertia, fail, "rotor_inertia"), as_amount(gear, fail, "gear", positive=True)
        return cls(type, name=name, reflected=J * ratio**2, **fields)

    @classmethod
    def rus(
        cls,
        base: ArrayLike,
        ring: ArrayLike,
        *,
        crank: Body,
        coupler: Body,
        crank_length: float,
        coupler_length: float,
        base_frame: Any = None,
        axis: ArrayLike | None = None,
        crank_frame: Any = None,
        elbow: int = 1,
        rotor_inertia: float = 0.0,
        gear: float = 1.0,
        lower: float = -math.inf,
        upper: float = math.inf,
        name: str | None = None,
    ) -> Self:
        """Hunt leg: actuated crank on the base, universal joint, coupler, spherical joint on the ring.

        Coordinates: crank about y of `base_frame`, u1 about y and u2 about z of `crank_frame` (rad).

        Parameters
        ----------
        base, ring : (3,) array, m
            Centre of the crank's joint in base axes, hinge point in ring axes.
        crank, coupler : Body
            Frames with x along the link; the crank's is at `base`, the coupler's at the crank's end.
        crank_length, coupler_length : float, m
        base_frame : (3, 3) array or another form of a rotation, see `Hexapod`, optional
            Local to base axes; y is the crank's axis, x the direction of the crank at zero. Default: see `Hexapod`.
        axis : (3,) array, optional
            The crank's axis in base axes, instead of `base_frame`; x then points to the nominal ring hinge.
        crank_frame : (3, 3) array or another form of a rotation, see `Hexapod`, optional
            Universal joint on the crank, local to crank axes. Default: identity.
        elbow : {1, -1}
            The two cranks that reach a point; sigma of Golubev & Yaskevich, (22).
        rotor_inertia : float, kg m^2
        gear : float
            The rotor adds rotor_inertia gear^2 to the inertia of the crank angle.
        lower, upper : float, rad
            Limits of the crank angle.
        name : str, optional

        Examples
        --------
        >>> import zveno as zv
        >>> bodies = {"crank": zv.Body.cylinder(2, 0.03, 0.26), "coupler": zv.Body.cylinder(2, 0.02, 0.42)}
        >>> leg = zv.Leg.rus((0, 0.6, 0), (0, 0.5, 0.1), crank_length=0.26, coupler_length=0.42, **bodies)
        >>> leg.type, leg.joint_names, leg.unit
        ('RUS', ('crank', 'u1', 'u2'), 'rad')
        """
        return cls._rotary(
            "RUS", rotor_inertia, gear, name, base=base, ring=ring, inner=crank, outer=coupler,
            inner_length=crank_length, outer_length=coupler_length, base_frame=base_frame, axis=axis,
            crank_frame=crank_frame, elbow=elbow, lower=lower, upper=upper,
        )  # fmt: skip

    @classmethod
    def rsu(
        cls,
        base: ArrayLike,
        ring: ArrayLike,
        *,
        crank: Body,
        coupler: Body,
        crank_length: float,
        coupler_length: float,
        base_frame: Any = None,
        axis: ArrayLike | None = None,
        crank_frame: Any = None,
        ring_frame: Any = None,
        tip_frame: Any = None,
        elbow: int = 1,
        spin_branch: int = 1,
        rotor_inertia: float = 0.0,
        gear: float = 1.0,
        lower: float = -math.inf,
        upper: float = math.inf,
        name: str | None = None,
    ) -> Self:
        """Hunt leg: actuated crank on the base, spherical joint, coupler, universal joint on the ring.

        Coordinates: those of `rus`, then the spin of the coupler about its x axis (rad).

        Parameters
        ----------
        ring_frame, tip_frame, spin_branch
            As in `spu`, with the coupler for the rod.
        base, ring, crank, coupler, crank_length, coupler_length, base_frame, axis, crank_frame, elbow, rotor_inertia,\
 gear, lower, upper, name
            As in `rus`.

        Examples
        --------
        >>> import zveno as zv
        >>> bodies = {"crank": zv.Body.cylinder(2, 0.03, 0.26), "coupler": zv.Body.cylinder(2, 0.02, 0.42)}
        >>> leg = zv.Leg.rsu((0, 0.6, 0), (0, 0.5, 0.1), crank_length=0.26, coupler_length=0.42, **bodies)
        >>> leg.type, leg.joint_names, leg.unit
        ('RSU', ('crank', 'u1', 'u2', 'spin'), 'rad')
        """
        return cls._rotary(
            "RSU", rotor_inertia, gear, name, base=base, ring=ring, inner=crank, outer=coupler,
            inner_length=crank_length, outer_length=coupler_length, base_frame=base_frame, axis=axis,
            crank_frame=crank_frame, ring_frame=ring_frame, tip_frame=tip_frame, elbow=elbow, spin_branch=spin_branch,
            lower=lower, upper=upper,
        )  # fmt: skip

    @classmethod
    def custom(
        cls,
        chain: Chain,
        link: str,
        *,
        ring: ArrayLike,
        start: ArrayLike,
        actuated: str,
        point: ArrayLike = _ORIGIN,
        axis: ArrayLike | None = None,
        ring_axis: ArrayLike | None = None,
        name: str | None = None,
    ) -> Self:
        """Leg of any geometry; its joint coordinates are found by Newton's method.

        Parameters
        ----------
        chain : Chain
            From the base to the ring; its base frame is the base frame of the hexapod. Three moving joints, or four if
            `axis` is given. Its gravity is not used: the hexapod has its own.
        link : str
            The link that holds the ring.
        ring, point : (3,) array, m
            Centre of the joint between them in ring axes and in the frame of `link`.
        start : (n,) array, rad or m
            Joint coordinates near those of the nominal pose: they select the branch of the assembly.
        actuated : str
            Name of the driven joint of `chain`.
        axis, ring_axis : (3,) array, optional
            Axes of a universal joint on the ring: the one fixed in `link`, in the axes of `link`, and the one fixed in
            the ring, in ring axes. The joint keeps them perpendicular. Default: a spherical joint.
        name : str, optional

        Examples
        --------
        >>> import zveno as zv
        >>> links = [
        ...     zv.Link("yaw", axis=(0, 1, 0), position=(0, 0.6, 0)),
        ...     zv.Link("pitch", axis=(0, 0, 1), mass=4.0, inertia=0.05),
        ...     zv.Link("rod", joint="prismatic", axis=(1, 0, 0), mass=2.0, inertia=0.02),
        ... ]
        >>> leg = zv.Leg.custom(zv.Chain(links), "rod", ring=(0, 0.5, 0.1), start=(0, 0, 0.5), actuated="rod_joint")
        >>> leg.joint_names, leg.actuated_index
        (('yaw_joint', 'pitch_joint', 'rod_joint'), 2)
        """
        return cls(
            "custom", name=name, ring=ring, chain=chain, link=link, point=point, axis=axis, ring_axis=ring_axis,
            start=start, actuated=actuated,
        )  # fmt: skip

    @property
    def traits(self) -> LegTraits:
        """What distinguishes legs of this type."""
        return TRAITS[self.type]

    @property
    def joint_count(self) -> int:
        """Number of joint coordinates, 3 or 4."""
        return len(self.joint_names)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joint coordinates, from the base to the ring."""
        return self.traits.coordinates if self.chain is None else self.chain.joint_names

    @property
    def actuated_index(self) -> int:
        """Index of the actuated joint coordinate."""
        if self.chain is not None:
            return self.joint_names.index(str(self.actuated))
        return 0 if self.traits.hunt else len(self.traits.coordinates) - 1

    @property
    def unit(self) -> str:
        """Unit of the actuated coordinate, "m" or "rad"."""
        if self.chain is not None:
            return "m" if self.chain.joint_types[self.actuated_index] == "prismatic" else "rad"
        return "rad" if self.traits.hunt else "m"

    @property
    def mass(self) -> float:
        """Mass of the moving bodies, kg."""
        if self.chain is not None:
            return self.chain.total_mass
        return sum(body.mass for body in (self.inner, self.outer) if body is not None)

    @property
    def _drive(self) -> str:
        """The actuated coordinate with its limits, if it has any."""
        if math.isinf(self.lower) and math.isinf(self.upper):
            return ""
        return f"{self.joint_names[self.actuated_index]} {self.lower:.4g} to {self.upper:.4g} {self.unit}"

    def __repr__(self) -> str:
        start = f"chain '{self.chain.name}'" if self.chain is not None else f"base {point_text(self.base)}"
        limits = f", {self._drive}" if self._drive else ""
        ends = f"{start} to ring {point_text(self.ring)} m"
        return f"Leg({self.name!r}, {self.type}, {self.mass:g} kg, {ends}{limits})"


def point_text(point: Array | None) -> str:
    """A point with four digits."""
    return "" if point is None else f"({', '.join(f'{x:.4g}' for x in point.round(12) + 0.0)})"


def _custom_fields(
    fail: Fail,
    chain: object,
    link: object,
    point: object,
    axis: object,
    ring_axis: object,
    start: object,
    actuated: object,
) -> dict[str, Any]:
    """Check what makes a custom leg; return these fields and the limits of the drive."""
    if not isinstance(chain, Chain):
        fail(f"chain is {_show(chain)}, expected a Chain")
    if link not in chain.link_names:
        fail(f"link is {_show(link)}, expected a link of chain '{chain.name}': {_show(chain.link_names)}")
    if (axis is None) != (ring_axis is None):
        fail("axis and ring_axis go together: a universal joint has both, a spherical joint none")
    n, joint = (3, "spherical") if axis is None else (4, "universal")
    if chain.n != n:
        fail(f"chain '{chain.name}' has {chain.n} moving joints, expected {n} for a {joint} joint on the ring")
    parent = {item.name: item.parent for item in chain.links}
    at, path = str(link), set()
    while at != chain.base_name:
        path.add(at)
        at = str(parent[at])
    for item in chain.links:
        if item.joint != "fixed" and item.name not in path:
            fail(f"joint '{item.joint_name}' of chain '{chain.name}' is not between the base and link '{link}'")
    if actuated not in chain.joint_names:
        fail(f"actuated is {_show(actuated)}, expected a joint of chain '{chain.name}': {_show(chain.joint_names)}")
    index = chain.joint_names.index(str(actuated))
    return {
        "chain": chain,
        "link": link,
        "point": as_vector(_ORIGIN if point is None else point, fail, "point"),
        "axis": None if axis is None else as_direction(axis, fail, "axis"),
        "ring_axis": None if ring_axis is None else as_direction(ring_axis, fail, "ring_axis"),
        "start": as_array(start, fail, "start", (n,)),
        "actuated": actuated,
        "lower": float(chain.lower[index]),
        "upper": float(chain.upper[index]),
    }
