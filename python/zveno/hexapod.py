"""`Body`, `Leg` and `Hexapod`: six legs that carry a platform. The numbers are worked out by the C++ base class.

Rotations are matrices that map components in a local frame to components in its reference frame, so the columns of a
leg's `base_frame` are the axes of its first joint frame in base axes: the transposes of the matrices of Golubev &
Yaskevich (000).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Self, SupportsIndex, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, ring
from .errors import ModelError, SingularityError, UnreachableError
from .compiled import CompiledFunction, TracedFunction, TraceOptions, compile_function, trace_function
from .model import Array, Chain, _is_name, _show, as_array, as_number, report, turn
from .opcount import OpCount
from .results import RingPose, Singularity

if TYPE_CHECKING:
    from .simulation import Laws, Simulation, Wrench

__all__ = ["Body", "Hexapod", "Leg"]

Fail = Callable[[str], NoReturn]
_T = TypeVar("_T", bound="Body | Leg")

_FORMAT: Final = "zveno.hexapod"
_VERSION: Final = 1
_LARGEST: Final = 1e100  # squares of larger lengths and masses overflow
_ORIGIN: Final = (0.0, 0.0, 0.0)

_JOINTS: Final = {
    "UPS": ("u1", "u2", "stroke"),
    "SPU": ("u1", "u2", "spin", "stroke"),
    "UCU": ("u1", "u2", "spin", "stroke"),
    "RUS": ("crank", "u1", "u2"),
    "RSU": ("crank", "u1", "u2", "spin"),
}
_HUNT: Final = ("RUS", "RSU")
_SPINNING: Final = ("SPU", "UCU", "RSU")
_FRAMES: Final = ("base_frame", "ring_frame", "crank_frame", "tip_frame")
_FRAMES_OF: Final = {
    "UPS": ("base_frame",),
    "SPU": ("base_frame", "ring_frame", "tip_frame"),
    "UCU": ("base_frame", "ring_frame", "tip_frame"),
    "RUS": ("base_frame", "crank_frame"),
    "RSU": _FRAMES,
    "custom": (),
}
_CUSTOM: Final = ("chain", "link", "point", "ring_axis", "start", "actuated")
_FIELDS: Final = (
    "type", "name", "base", "ring", *_FRAMES, "inner", "outer", "inner_length", "outer_length", "reflected",
    "elbow", "spin_branch", "lower", "upper", "chain", "link", "point", "axis", "ring_axis", "start", "actuated",
)  # fmt: skip


def _frozen(array: Array) -> Array:
    """A contiguous read-only copy without negative zeros."""
    array = np.ascontiguousarray(array + 0.0)
    array.setflags(write=False)
    return array


_IDENTITY: Final = _frozen(np.eye(3))


def as_rotation(value: object, fail: Fail, what: str) -> Array:
    """Return `value` as a rotation matrix without its rounding errors, or `fail`."""
    if hasattr(value, "as_matrix"):
        value = value.as_matrix()
    R = as_array(value, fail, what, (3, 3))
    with np.errstate(over="ignore", invalid="ignore"):
        defect = float(np.abs(R.T @ R - _IDENTITY).max())
    if not defect < 1e-9:
        fail(f"{what} is not orthonormal: the largest element of |R'R - 1| is {defect:.3g}, expected a rotation matrix")
    if np.linalg.det(R) < 0:
        fail(f"{what} is left-handed: determinant -1, expected a rotation matrix")
    return R if defect < 1e-14 else _nearest_rotation(R)


def _nearest_rotation(R: Array) -> Array:
    U, _, Vt = np.linalg.svd(R)
    return _frozen(U @ Vt)


def _as_vector(value: object, fail: Fail, what: str) -> Array:
    vector = as_array(value, fail, what, (3,))
    if np.abs(vector).max() > _LARGEST:
        fail(f"{what} is {_show(vector.tolist())}, too large to compute with")
    return vector


def _as_direction(value: object, fail: Fail, what: str) -> Array:
    vector = _as_vector(value, fail, what)
    length = math.hypot(*vector.tolist())
    if not length > 1e-100:
        fail(f"{what} is {_show(vector.tolist())}, expected a direction")
    return vector if abs(length - 1) < 1e-14 else _frozen(vector / length)


def _as_amount(value: object, fail: Fail, what: str, *, positive: bool = False) -> float:
    """A number >= 0, or > 0 if `positive`."""
    number = as_number(value, fail, what)
    if number < 0 or (positive and not number > 1e-100):
        fail(f"{what} is {number:g}, expected a number {'> 0' if positive else '>= 0'}")
    if number > _LARGEST:
        fail(f"{what} is {number:g}, too large to compute with")
    return number


def _unit(vector: Array, scale: float) -> Array | None:
    """Direction of `vector`, or None if it is too short beside `scale` to have a certain one."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-6 * scale else None


def _leg_fail(kind: str, name: object) -> Fail:
    """Check the name of a leg; return the function that reports what is wrong with the rest."""
    if name is not None and not _is_name(name):
        raise ModelError(f"{kind} leg: name is {_show(name)}, expected a non-empty string or None")
    who, link = (f"{kind} leg", None) if name is None else (f"leg '{name}'", str(name))

    def fail(text: str) -> NoReturn:
        raise ModelError(f"{who}: {text}", link)

    return fail


def _rebuild(cls: type[_T], values: dict[str, Any]) -> _T:
    """An immutable object from its checked fields."""
    made = object.__new__(cls)
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)  # pickle forgets it
        object.__setattr__(made, key, value)
    return made


def _from_dict(cls: type[_T], data: Mapping[str, Any], keys: tuple[str, ...], required: tuple[str, ...]) -> _T:
    """Call `cls` with the items of `data`; unknown and missing keys are an error."""
    what = cls.__name__
    if not isinstance(data, Mapping):
        raise ModelError(f"{what}.from_dict: got {_show(data)}, expected a dictionary")
    for key in data:
        if key not in keys:
            raise ModelError(f"{what}.from_dict: unknown key {_show(key)}")
    for key in required:
        if key not in data:
            raise ModelError(f"{what}.from_dict: '{key}' is missing")
    return cls(**data)


class Body:
    """A rigid body. Immutable.

    Parameters
    ----------
    mass : float, kg
    inertia : (3, 3) or (3,) array or float, kg m^2
        Inertia tensor about the centre of mass in body axes; three numbers are its diagonal, one a sphere's.
    com : (3,) array, m
        Centre of mass in the body frame.

    Raises
    ------
    ModelError
        A negative mass, an inertia that is not symmetric or has a negative eigenvalue.

    Warns
    -----
    ModelWarning
        An inertia that breaks the triangle inequality, or that belongs to a body without mass.

    Examples
    --------
    >>> Body(45.0, (15.5, 8.2, 8.2))
    Body(45 kg)
    """

    __slots__ = ("com", "inertia", "mass")

    mass: float
    inertia: Array
    com: Array

    def __init__(self, mass: float, inertia: ArrayLike, com: ArrayLike = _ORIGIN) -> None:
        def fail(text: str) -> NoReturn:
            raise ModelError(f"Body: {text}")

        number = _as_amount(mass, fail, "mass")
        tensor = as_array(inertia, fail, "inertia", (3, 3), (3,), ())
        if tensor.ndim < 2:
            tensor = np.diag(np.broadcast_to(tensor, 3))
        if np.abs(tensor).max() > _LARGEST:
            fail(f"inertia is {_show(tensor.tolist())}, too large to compute with")
        place = _as_vector(com, fail, "com")
        doubts = _core.check_body("Body", number, place, tensor)
        object.__setattr__(self, "mass", number)
        object.__setattr__(self, "inertia", _frozen(0.5 * (tensor + tensor.T)))
        object.__setattr__(self, "com", place)
        report(doubts, "Body", strict=False)

    @classmethod
    def cylinder(cls, mass: float, radius: float, length: float, start: float = 0.0) -> Self:
        """Homogeneous solid cylinder about the x axis, from x = `start` to x = `start` + `length`.

        Parameters
        ----------
        mass : float, kg
        radius, length, start : float, m

        Returns
        -------
        body : Body
            I_x = m r^2 / 2, I_y = I_z = m (3 r^2 + l^2) / 12 about the centre of mass.
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Body.cylinder: {text}")

        m, r, size = (_as_amount(x, fail, what) for x, what in ((mass, "mass"), (radius, "radius"), (length, "length")))
        x = as_number(start, fail, "start") + size / 2
        across = m * (3 * r**2 + size**2) / 12
        return cls(m, (m * r**2 / 2, across, across), (x, 0.0, 0.0))

    def __setattr__(self, key: str, value: object) -> NoReturn:
        raise AttributeError(f"Body is immutable, cannot set '{key}'")

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError(f"Body is immutable, cannot delete '{key}'")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary: lists for arrays."""
        return {"mass": self.mass, "inertia": self.inertia.tolist(), "com": self.com.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the body of `to_dict`; `com` may be absent, unknown keys are an error."""
        return _from_dict(cls, data, ("mass", "inertia", "com"), ("mass", "inertia"))

    def _key(self) -> tuple[object, ...]:
        return self.mass, self.inertia.tobytes(), self.com.tobytes()

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Body) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), {key: getattr(self, key) for key in Body.__slots__})

    def __repr__(self) -> str:
        return f"Body({self.mass:g} kg)"


class Leg:
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
        Hinge points in base and ring axes; `base` is None for "custom".
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

    type: str
    name: str | None
    base: Array | None
    ring: Array
    base_frame: Array | None
    ring_frame: Array | None
    crank_frame: Array | None
    tip_frame: Array | None
    inner: Body | None
    outer: Body | None
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
        if not isinstance(type, str) or type not in (*_JOINTS, "custom"):
            expected = ", ".join(f"'{key}'" for key in _JOINTS)
            raise ModelError(f"Leg: type is {_show(type)}, expected {expected} or 'custom'")
        fail = _leg_fail(type, name)
        hunt = type in _HUNT
        values: dict[str, Any] = dict.fromkeys(_FIELDS) | {"type": type, "name": name}
        foreign: dict[str, object]
        values["ring"] = _as_vector(ring, fail, "ring")

        frames = (base_frame, ring_frame, crank_frame, tip_frame)
        for key, frame in zip(_FRAMES, frames, strict=True):
            if frame is not None:
                values[key] = as_rotation(frame, fail, key)
                if key not in _FRAMES_OF[type] and (values[key] != _IDENTITY).any():
                    fail(f"{key} is {_show(values[key].tolist())}, but a {type} leg has no such frame")

        for key, number in (("lower", lower), ("upper", upper)):
            values[key] = as_number(number, fail, key, infinite=True)
        if not values["lower"] <= values["upper"] or values["lower"] == math.inf or values["upper"] == -math.inf:
            fail(f"lower = {values['lower']:g} and upper = {values['upper']:g} leave no room for the drive")
        values["reflected"] = _as_amount(reflected, fail, "reflected")
        for key, sign, mine in (("elbow", elbow, hunt), ("spin_branch", spin_branch, type in _SPINNING)):
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
            values["base"] = _as_vector(base, fail, "base")
            words = ("crank", "coupler") if hunt else ("housing", "rod")
            bodies, lengths = (inner, outer), (inner_length, outer_length)
            for key, word, body, length in zip(("inner", "outer"), words, bodies, lengths, strict=True):
                if not isinstance(body, Body):
                    fail(f"{word} is {_show(body)}, expected a Body")
                values[key] = body
                if word != "rod" or length is not None:
                    values[f"{key}_length"] = _as_amount(length, fail, f"{word}_length", positive=True)
            if axis is not None:
                if not hunt:
                    fail(f"axis is {_show(axis)}, but a {type} leg has no R joint")
                if base_frame is not None:
                    fail("base_frame and axis are both given; the y axis of base_frame is the R axis")
                values["axis"] = _as_direction(axis, fail, "axis")

        for key, value in values.items():
            object.__setattr__(self, key, value)

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
        fail = _leg_fail(type, name)
        J = _as_amount(rotor_inertia, fail, "rotor_inertia")
        if reflected_mass is not None:
            if J or lead is not None:
                fail("reflected_mass is given and so is rotor_inertia or lead; expected one or the other")
            reflected = _as_amount(reflected_mass, fail, "reflected_mass")
        elif lead is None:
            if J:
                fail(f"rotor_inertia is {J:g} but lead is None; expected the lead of the screw, m per turn")
            reflected = 0.0
        else:
            reflected = J * (2 * math.pi / _as_amount(lead, fail, "lead", positive=True)) ** 2
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
            Their sum is the distance of the hinges at zero stroke: L_0 of Golubev & Yaskevich (000), (17).
            `rod_length` None: the stroke is zero in the nominal pose.
        base_frame : (3, 3) array or object with ``.as_matrix()``, optional
            Local to base axes. Default: see `Hexapod`.
        rotor_inertia : float, kg m^2
        lead : float, m
            Of the screw, per turn: the rotor adds rotor_inertia (2 pi / lead)^2 to the inertia of the stroke.
        reflected_mass : float, kg
            The same directly.
        lower, upper : float, m
            Limits of the stroke.
        name : str, optional
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
        ring_frame : (3, 3) array or object with ``.as_matrix()``, optional
            Local to ring axes; z is the axis of the universal joint that is fixed in the ring. Default: see `Hexapod`.
        tip_frame : (3, 3) array or object with ``.as_matrix()``, optional
            Local to rod axes; y is the axis of the universal joint that is fixed in the rod. Default: identity.
        spin_branch : {1, -1}
            The two spins that close the leg; s of Golubev & Yaskevich (000), (27). Zero spin is on branch 1.
        base, ring, housing, rod, housing_length, rod_length, base_frame, rotor_inertia, lead, reflected_mass, lower,\
 upper, name
            As in `ups`.
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
        """
        return cls._linear(
            "UCU", rotor_inertia, lead, reflected_mass, name, base=base, ring=ring, inner=housing, outer=rod,
            inner_length=housing_length, outer_length=rod_length, base_frame=base_frame, ring_frame=ring_frame,
            tip_frame=tip_frame, lower=lower, upper=upper, spin_branch=spin_branch,
        )  # fmt: skip

    @classmethod
    def _rotary(cls, type: str, rotor_inertia: float, gear: float, name: str | None, **fields: Any) -> Self:
        """A Hunt leg with the drive inertia J gear^2."""
        fail = _leg_fail(type, name)
        J, ratio = _as_amount(rotor_inertia, fail, "rotor_inertia"), _as_amount(gear, fail, "gear", positive=True)
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
        base_frame : (3, 3) array or object with ``.as_matrix()``, optional
            Local to base axes; y is the crank's axis, x the direction of the crank at zero. Default: see `Hexapod`.
        axis : (3,) array, optional
            The crank's axis in base axes, instead of `base_frame`; x then points to the nominal ring hinge.
        crank_frame : (3, 3) array or object with ``.as_matrix()``, optional
            Universal joint on the crank, local to crank axes. Default: identity.
        elbow : {1, -1}
            The two cranks that reach a point; sigma of Golubev & Yaskevich (000), (22).
        rotor_inertia : float, kg m^2
        gear : float
            The rotor adds rotor_inertia gear^2 to the inertia of the crank angle.
        lower, upper : float, rad
            Limits of the crank angle.
        name : str, optional
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
        """
        return cls(
            "custom", name=name, ring=ring, chain=chain, link=link, point=point, axis=axis, ring_axis=ring_axis,
            start=start, actuated=actuated,
        )  # fmt: skip

    @property
    def joint_count(self) -> int:
        """Number of joint coordinates, 3 or 4."""
        return len(self.joint_names)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joint coordinates, from the base to the ring."""
        return _JOINTS[self.type] if self.chain is None else self.chain.joint_names

    @property
    def actuated_index(self) -> int:
        """Index of the actuated joint coordinate."""
        if self.chain is not None:
            return self.joint_names.index(str(self.actuated))
        return 0 if self.type in _HUNT else len(_JOINTS[self.type]) - 1

    @property
    def unit(self) -> str:
        """Unit of the actuated coordinate, "m" or "rad"."""
        if self.chain is not None:
            return "m" if self.chain.joint_types[self.actuated_index] == "prismatic" else "rad"
        return "rad" if self.type in _HUNT else "m"

    @property
    def mass(self) -> float:
        """Mass of the moving bodies, kg."""
        if self.chain is not None:
            return self.chain.total_mass
        return sum(body.mass for body in (self.inner, self.outer) if body is not None)

    def __setattr__(self, key: str, value: object) -> NoReturn:
        raise AttributeError(f"Leg is immutable, cannot set '{key}'")

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError(f"Leg is immutable, cannot delete '{key}'")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary: lists for arrays, dictionaries for bodies and chains, None for no limit."""
        values: dict[str, Any] = {}
        for key in _FIELDS:
            value = getattr(self, key)
            if isinstance(value, np.ndarray):
                value = value.tolist()
            elif isinstance(value, Body | Chain):
                value = value.to_dict()
            elif isinstance(value, float) and math.isinf(value):
                value = None
            values[key] = value
        return values

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the leg of `to_dict`; absent keys take their default, unknown keys are an error."""
        if isinstance(data, Mapping):
            data = {key: value for key, value in data.items() if value is not None or key not in ("lower", "upper")}
            for key, made_by in (("inner", Body.from_dict), ("outer", Body.from_dict), ("chain", Chain.from_dict)):
                if data.get(key) is not None:
                    data[key] = made_by(data[key])
        return _from_dict(cls, data, _FIELDS, ("type",))

    def _values(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in _FIELDS}

    def _key(self) -> tuple[object, ...]:
        """Everything that makes a leg, hashable. Arrays hold no negative zeros, so equal numbers are equal bytes."""
        return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for v in self._values().values())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Leg) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._values())

    def __repr__(self) -> str:
        return f"Leg({self.name!r}, {self.type}, {self.mass:g} kg)"


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
        "point": _as_vector(_ORIGIN if point is None else point, fail, "point"),
        "axis": None if axis is None else _as_direction(axis, fail, "axis"),
        "ring_axis": None if ring_axis is None else _as_direction(ring_axis, fail, "ring_axis"),
        "start": as_array(start, fail, "start", (n,)),
        "actuated": actuated,
        "lower": float(chain.lower[index]),
        "upper": float(chain.upper[index]),
    }


def last_link(leg: Leg, hinge: Array) -> tuple[Array, Array]:
    """Orientation of the last link before its spin, local to base axes, and the angles that give it.

    Golubev & Yaskevich (000), (16)-(18) and (19)-(24). `leg` has its `base_frame`; `hinge` is the ring hinge in base
    axes.
    """
    assert leg.base is not None and leg.base_frame is not None
    d1, d2, d3 = d = leg.base_frame.T @ (hinge - leg.base)
    if leg.type not in _HUNT:
        angles = np.array([math.atan2(-d3, d1), math.atan2(d2, math.hypot(d1, d3))])
        return leg.base_frame @ turn(1, angles[0]) @ turn(2, angles[1]), angles
    assert leg.outer_length is not None
    l12, l13, l23 = leg.inner_length, math.hypot(d1, d3), leg.outer_length
    cosine = (l12**2 + l13**2 - l23**2 + d2**2) / (2 * l12 * l13) if l13 > 1e-100 else math.inf
    if not (abs(d2) <= l23 and abs(cosine) <= 1):
        _leg_fail(leg.type, leg.name)(
            f"out of reach in the nominal pose: the hinges are {np.linalg.norm(d):g} m apart, {abs(d2):g} m of it along"
            f" the crank's axis; crank_length is {l12:g}, coupler_length {l23:g}"
        )
    p1 = math.atan2(-d3, d1) + leg.elbow * math.acos(cosine)
    crank = turn(1, p1) @ (_IDENTITY if leg.crank_frame is None else leg.crank_frame)
    a1, a2, a3 = crank.T @ (d - turn(1, p1) @ (l12, 0.0, 0.0))
    p2, p3 = math.atan2(-a3, a1), math.atan2(a2, math.hypot(a1, a3))
    return leg.base_frame @ crank @ turn(1, p2) @ turn(2, p3), np.array([p1, p2, p3])


class _Pose:
    """The nominal pose and what the default frames take from it."""

    def __init__(self, r: Array, R: Array, legs: Iterable[Leg]) -> None:
        self.r, self.R = r, R
        both = [(leg.base, self.hinge(leg)) for leg in legs if leg.base is not None]
        hinges = np.array([list(pair) for pair in both]).reshape(-1, 2, 3)
        centres = hinges.mean(axis=0) if both else np.zeros((2, 3))
        self.size = float(np.abs(hinges - centres[0]).max(initial=0.0))
        self.centre = centres[0]
        self.axis = _unit(centres[1] - centres[0], self.size)

    def hinge(self, leg: Leg) -> Array:
        """Ring hinge in base axes."""
        return self.r + self.R @ leg.ring

    def base_frame(self, leg: Leg, fail: Fail) -> Array:
        """Default of `base_frame`."""
        assert leg.base is not None
        chord = self.hinge(leg) - leg.base
        x = _unit(chord, self.size)
        if x is None:
            fail("the base hinge and the ring hinge coincide in the nominal pose; give base_frame=")
        if leg.type not in _HUNT:
            out = leg.base - self.centre
            if self.axis is not None:
                out = out - self.axis * (self.axis @ out)
            z = _unit(np.cross(x, out), self.size)
            if z is None:
                z = _unit(np.cross(x, _IDENTITY[np.abs(x).argmin()]), 1.0)
            assert z is not None
            return _nearest_rotation(np.column_stack([x, np.cross(z, x), z]))
        if leg.axis is None and self.axis is None:
            fail("the mechanism has no axis: hinges of base and ring have the same centre; give base_frame= or axis=")
        normal = leg.axis if leg.axis is not None else self.axis
        assert normal is not None
        x = _unit(chord - normal * (normal @ chord), self.size)
        if x is None:
            along = "the crank's axis" if leg.axis is not None else "the axis of the mechanism"
            fail(f"the ring hinge is on {along} through the base hinge in the nominal pose; give base_frame=")
        if leg.axis is not None:
            return _nearest_rotation(np.column_stack([x, normal, np.cross(x, normal)]))
        return _nearest_rotation(np.column_stack([x, np.cross(x, normal), -normal]))


def _resolved(leg: Leg, name: str, pose: _Pose | None) -> Leg:
    """The leg with its name and everything that `Hexapod` chooses."""
    fail = _leg_fail(leg.type, name)
    values = leg._values() | {"name": name}
    for key in _FRAMES:
        if values[key] is None and (key in ("crank_frame", "tip_frame") or key not in _FRAMES_OF[leg.type]):
            values[key] = _IDENTITY
    if leg.type == "custom":
        return _rebuild(type(leg), values)
    for key, word in (("base_frame", "base_frame"), ("ring_frame", "ring_frame"), ("outer_length", "rod_length")):
        if values[key] is None and pose is None:
            fail(f"{word} is None; give {word}= of the leg or nominal= of the hexapod")
    if pose is not None:
        if values["outer_length"] is None:
            distance = float(np.linalg.norm(pose.hinge(leg) - values["base"]))
            if not distance > leg.inner_length:
                fail(f"housing_length is {leg.inner_length:g}, the nominal distance of the hinges only {distance:g} m")
            values["outer_length"] = _as_amount(distance - leg.inner_length, fail, "rod_length", positive=True)
        if values["base_frame"] is None:
            values["base_frame"] = pose.base_frame(leg, fail)
        if values["ring_frame"] is None:
            link, _ = last_link(_rebuild(type(leg), values), pose.hinge(leg))
            values["ring_frame"] = _frozen(pose.R.T @ link @ values["tip_frame"])
    if leg.type in _HUNT:
        values["axis"] = None
    return _rebuild(type(leg), values)


def _core_leg(leg: Leg, gravity: Array) -> tuple[Any, ...]:
    """A resolved leg as the compiled part takes it; a chain comes with the gravity of the hexapod."""
    chain = None if leg.chain is None else leg.chain.with_gravity(gravity)
    bodies = ((b.mass, b.com, b.inertia) if b is not None else (0.0, np.zeros(3), np.zeros((3, 3)))
              for b in (leg.inner, leg.outer))  # fmt: skip
    return (
        leg.type.lower(), leg.name, np.zeros(3) if leg.base is None else leg.base, leg.base_frame, leg.ring,
        leg.ring_frame, leg.crank_frame, leg.tip_frame, leg.inner_length, leg.outer_length, *bodies, leg.reflected,
        leg.elbow, leg.spin_branch, chain, leg.link or "", np.zeros(3) if leg.point is None else leg.point,
        leg.axis, leg.ring_axis, [] if leg.start is None else leg.start.tolist(), leg.actuated or "",
    )  # fmt: skip


class Hexapod(_core.Hexapod):
    """Six legs between a base and a platform, the ring. Immutable; may be shared by threads.

    The state is the pose of the ring on the base and its rate:

    * ``r`` (3,), m: centre of mass of the ring in base axes; ``R`` (3, 3): ring axes to base axes,
    * ``u`` (6,): velocity of the centre of mass in base axes, m/s; angular velocity in ring axes, rad/s.

    Wrenches on the ring are [force in base axes; moment about the centre of mass in ring axes].

    Parameters
    ----------
    platform : Body
        The ring. Its frame has the origin at its centre of mass, so ``platform.com`` is zero.
    legs : six Leg
    nominal : (3,) array or pair of (3,) and (3, 3) arrays, optional
        Pose r or (r, R) in which the mechanism is assembled. It must be within reach of every leg.
    gravity : (3,) array, m/s^2
        In base axes; default zero.
    name : str

    Raises
    ------
    ModelError
        Not six legs, a platform without mass or inertia, a leg that does not close in the nominal pose, or a default
        that needs a nominal pose. ``.link`` is the name of the leg.

    Notes
    -----
    What a leg leaves open is chosen in the nominal pose; the axis of the mechanism runs from the centre of the base
    hinges to that of the ring hinges.

    * `rod_length`: the stroke is zero.
    * `base_frame` of UPS, SPU, UCU: x along the leg, z = x cross the radius from the centre of the base hinges at right
      angles to the axis. The angles are zero.
    * `base_frame` of RUS, RSU: z against the axis, x towards the ring hinge at right angles to it. With `axis`: y along
      it, x towards the ring hinge at right angles to it.
    * `ring_frame` of SPU, UCU, RSU: along the `tip_frame` of the leg. The spin is zero.
    * `crank_frame`, `tip_frame`: identity.
    """

    def __init__(
        self,
        platform: Body,
        legs: Iterable[Leg],
        *,
        nominal: Any = None,
        gravity: ArrayLike = _ORIGIN,
        name: str = "hexapod",
    ) -> None:
        self._assemble(platform, legs, nominal, gravity, name)

    def _assemble(self, platform: Body, legs: Iterable[Leg], nominal: Any, gravity: ArrayLike, name: str) -> None:
        """Check the arguments, fill in what the legs leave open, build the C++ model."""
        if not _is_name(name):
            raise ModelError(f"Hexapod: name is {_show(name)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Hexapod '{name}': {text}")

        if not isinstance(platform, Body):
            fail(f"platform is {_show(platform)}, expected a Body")
        if platform.com.any():
            fail(
                f"com of the platform is {_show(platform.com.tolist())}, expected zero: the origin of the ring frame is"
                " the centre of mass, measure the ring hinges of the legs from there"
            )
        if not platform.mass > 0:
            fail(f"mass of the platform is {platform.mass:g}, expected a number > 0")
        smallest, _, largest = np.linalg.eigvalsh(platform.inertia).tolist()
        if not smallest > 1e-12 * largest:
            fail(f"inertia of the platform has the eigenvalue {smallest:.3g} kg m^2, expected all > 0")

        if isinstance(legs, str | bytes | Mapping) or not isinstance(legs, Iterable):
            fail(f"legs is {_show(legs)}, expected six Leg")
        listed = list(legs)
        for i, leg in enumerate(listed):
            if not isinstance(leg, Leg):
                fail(f"legs[{i}] is {_show(leg)}, expected a Leg")
        if len(listed) != 6:
            fail(f"legs has {len(listed)} entries, expected six Leg")
        names = [leg.name or f"leg{i + 1}" for i, leg in enumerate(listed)]
        for leg_name, count in Counter(names).items():
            if count > 1:
                raise ModelError(f"Hexapod '{name}': {count} legs have the name '{leg_name}'", leg_name)
        if not any(leg.ring.any() for leg in listed):
            fail("ring of every leg is zero: hinges at one point cannot hold the platform")

        g = _as_vector(gravity, fail, "gravity")
        pair = _as_pose(nominal, fail) if nominal is not None else None
        pose = _Pose(*pair, listed) if pair is not None else None
        resolved = tuple(_resolved(leg, text, pose) for leg, text in zip(listed, names, strict=True))
        body = platform.mass, platform.inertia
        _core.Hexapod.__init__(self, name, body, g, [_core_leg(leg, g) for leg in resolved])
        self._platform, self._legs, self._nominal, self._gravity, self._name = platform, resolved, pair, g, name
        if pair is not None:
            try:
                self.closure(*pair)
            except (UnreachableError, SingularityError, FloatingPointError) as error:
                culprit = getattr(error, "leg", None)
                who = "a leg" if culprit is None else f"leg '{culprit}'"
                text = f"Hexapod '{name}': {who} does not close in the nominal pose: {error}"
                raise ModelError(text, culprit) from error

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._name

    @property
    def platform(self) -> Body:
        """The ring."""
        return self._platform

    @property
    def legs(self) -> tuple[Leg, ...]:
        """The six legs with names, every frame filled in."""
        return self._legs

    @property
    def leg_names(self) -> tuple[str, ...]:
        """Names of the six legs."""
        return tuple(str(leg.name) for leg in self._legs)

    @property
    def nominal(self) -> tuple[Array, Array] | None:
        """Pose (r, R) in which the mechanism is assembled, (3,) m and (3, 3), read-only; None if it was not given."""
        return self._nominal

    @property
    def gravity(self) -> Array:
        """Gravity in base axes, (3,) m/s^2, read-only."""
        return self._gravity

    @property
    def nj(self) -> int:
        """Largest number of joint coordinates of a leg, 3 or 4: joint arrays are (..., 6, nj)."""
        return max(leg.joint_count for leg in self._legs)

    @property
    def actuated(self) -> NDArray[np.intp]:
        """Index of the actuated joint coordinate of each leg, (6,)."""
        index = np.array([leg.actuated_index for leg in self._legs], dtype=np.intp)
        index.setflags(write=False)
        return index

    @property
    def lower(self) -> Array:
        """Lower limits of the actuated coordinates, (6,) m or rad, -inf where there is none."""
        return _frozen(np.array([leg.lower for leg in self._legs]))

    @property
    def upper(self) -> Array:
        """Upper limits of the actuated coordinates, (6,) m or rad, inf where there is none."""
        return _frozen(np.array([leg.upper for leg in self._legs]))

    @property
    def radius(self) -> float:
        """Mean distance of the ring hinges from the ring's centre of mass, m."""
        return float(np.mean([np.linalg.norm(leg.ring) for leg in self._legs]))

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a JSON-safe dictionary, every frame filled in."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "name": self._name,
            "gravity": self._gravity.tolist(),
            "nominal": None if self._nominal is None else [part.tolist() for part in self._nominal],
            "platform": self._platform.to_dict(),
            "legs": [leg.to_dict() for leg in self._legs],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the model of `to_dict`; every key is checked, an unknown one is a `ModelError`."""
        what = "Hexapod.from_dict"
        if not isinstance(data, Mapping):
            raise ModelError(f"{what}: got {_show(data)}, expected a dictionary")
        if data.get("format") != _FORMAT:
            raise ModelError(f"{what}: format is {_show(data.get('format'))}, expected '{_FORMAT}'")
        if data.get("version") != _VERSION or isinstance(data["version"], bool):
            raise ModelError(f"{what}: version is {_show(data.get('version'))}, expected {_VERSION}")
        keys = ("name", "gravity", "nominal", "platform", "legs")
        for key in data:
            if key not in ("format", "version", *keys):
                raise ModelError(f"{what}: unknown key {_show(key)}")
        for key in keys:
            if key not in data:
                raise ModelError(f"{what}: '{key}' is missing")
        if not isinstance(data["legs"], list | tuple):
            raise ModelError(f"{what}: legs is {_show(data['legs'])}, expected a list")
        parts = {key: data[key] for key in keys}
        parts["platform"] = Body.from_dict(data["platform"])
        parts["legs"] = [Leg.from_dict(item) for item in data["legs"]]
        return _restore(cls, parts)

    # ---- numeric methods that are not in the core

    def forward_kinematics(
        self,
        strokes: ArrayLike,
        start: Any = None,
        *,
        on_error: str = "raise",
        threads: SupportsIndex | None = None,
    ) -> RingPose:
        """Pose of the ring whose actuated coordinates are `strokes`.

        Newton's method on the closed form; the solution is the one that it reaches from `start`, and ``.residual``
        proves it. At most 100 steps.

        Parameters
        ----------
        strokes : (..., 6) array
            Actuated coordinates, m or rad.
        start : pair (r, R), optional
            Where to begin; default: the nominal pose.
        on_error : {"raise", "nan"}
            What to do where it does not converge.
        threads : int, optional

        Returns
        -------
        RingPose
            r (..., 3), R (..., 3, 3), residual (...), iterations (...).
        """
        return ring.forward_kinematics(self, strokes, start, on_error, threads)

    def forward_kinematics_all(
        self,
        strokes: ArrayLike,
        start: Any = None,
        *,
        reach: float = 0.3,
        tilt: float = 1.0,
        tries: int = 200,
        seed: int = 0,
    ) -> RingPose:
        """All poses of the ring with these actuated coordinates that are found near `start`.

        A hexapod has up to 40 assemblies. Newton's method is begun at `tries` poses spread over +-`reach` m and
        +-`tilt` rad about `start`; what converges is listed once, the nearest first. Nothing proves that there are no
        others.

        Parameters
        ----------
        strokes : (6,) array
        start : pair (r, R), optional
        reach, tilt : float, m and rad
        tries, seed : int

        Returns
        -------
        RingPose
            One row for each solution, perhaps none.
        """
        return ring.all_poses(self, strokes, start, reach, tilt, tries, seed)

    def singularity(
        self, r: ArrayLike, R: ArrayLike, *, on_error: str = "raise", threads: SupportsIndex | None = None
    ) -> Singularity:
        """Distance of poses from singularities of the mechanism and of its legs.

        Parameters
        ----------
        r : (..., 3) array, m
        R : (..., 3, 3) array
        on_error : {"raise", "nan"}
        threads : int, optional

        Returns
        -------
        Singularity
            condition (...): of the actuated Jacobian with rotations scaled by the ring radius; leg (..., 6): smallest
            factor of Golubev & Yaskevich (000), (38), between 0 and 1; status (...).
        """
        return ring.singularity(self, r, R, on_error, threads)

    def status(self, r: ArrayLike, R: ArrayLike, *, threads: SupportsIndex | None = None) -> NDArray[np.int16]:
        """0 where the mechanism can take a pose, else a code for `explain`. (...,)"""
        _, status = self._measures(r, R, on_error="nan", threads=threads)
        return status

    def explain(self, status: SupportsIndex) -> str:
        """A status in words, with the name of the leg."""
        return ring.explain(status, self)

    def workspace(
        self,
        axes: Sequence[str] = ("y", "z"),
        extent: Sequence[float] = (0.3, 0.3),
        points: int | Sequence[int] = 101,
        *,
        centre: Any = None,
        threads: SupportsIndex | None = None,
    ) -> ring.Workspace:
        """Scan a grid of poses: condition number, leg factors, limits.

        Parameters
        ----------
        axes : two of "x", "y", "z", "tilt x", "tilt y", "tilt z"
            Displacements along base axes, rotations about ring axes.
        extent : two floats, m or rad
            The grid runs from minus to plus extent about `centre`.
        points : int or two ints
        centre : pair (r, R), optional
            Default: the nominal pose.
        threads : int, optional

        Returns
        -------
        Workspace
            ``.plot()`` draws it.
        """
        return ring.workspace(self, axes, extent, points, centre, threads)

    def operations(self, leg: int | None = None, *, moving: bool = False, free: bool = False) -> OpCount:
        """Exact operations of one forward dynamics call, by stage.

        Parameters
        ----------
        leg : int, optional
            One leg, 0 to 5; default: the whole mechanism with the ring and the solve.
        moving, free : bool
            With a base that moves or gravity; with a free base (the leg's part only).

        Returns
        -------
        OpCount
            ``trig`` counts the arc functions that turn sines and cosines into joint angles.
        """
        return ring.operations(self, leg, moving=moving, free=free)

    def trace(self, function: str, **options: Unpack[TraceOptions]) -> TracedFunction:
        """Write a method out for this hexapod: straight-line code without a zero or one left in it.

        Parameters
        ----------
        function : str
            Name of a numeric method: ``"forward_dynamics"``, ``"closure"`` (closed form), ``"mass_matrix"``, ...
        arguments : iterable of str
            Arrays that calls will give, by the names of the method; what is left out is zero and costs nothing.
            Default: those that the method requires.
        outputs : iterable of str
            Which of several results: code for the others is left out.
        tau : {"actuated", "all"}
            Whether forces are given for the actuated joints, (6,), the default, or for all, (6, nj).
        base : Body
            The spacecraft of ``"forward_dynamics_free"``; its numbers become part of the code.
        level : {"strict", "algebraic"}
            Strict, the default: the operations of the kernel in their order, the same bits. Algebraic: common factors,
            shared reciprocals, fused multiply-adds: fewer instructions, other rounding; see `TracedFunction.savings`.
        limit : int
            Largest number of nodes, 200,000 by default.

        Returns
        -------
        TracedFunction
            With ``.operations``, ``.graph``, ``.c_source()``, ``.save(directory)``.

        Raises
        ------
        ValueError
            An unknown function or argument, or a custom leg: closed by iteration, it has no fixed list of operations.
        GraphSizeError
            More than `limit` nodes.

        Examples
        --------
        >>> import zveno as zv
        >>> hx = zv.mechanisms.docking_ring("UPS")
        >>> hx.trace("forward_dynamics").operations.total < hx.operations().total
        True
        """
        return trace_function(self, function, options)

    def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction:
        """Machine code of a method for this very hexapod. Needs llvmlite (``zveno[jit]``); arguments as in `trace`.

        Returns
        -------
        CompiledFunction
            Called like the method: the same shapes, batches, results, ``on_error=``, ``out=``, ``threads=`` and errors.

        Examples
        --------
        >>> import zveno as zv
        >>> hx = zv.mechanisms.docking_ring("UPS")
        >>> closure = hx.compile("closure")
        >>> bool((closure(*hx.nominal) == hx.closure(*hx.nominal)).all())
        True
        """
        return compile_function(self, function, options)

    def simulate(
        self,
        t_end: float,
        dt: float,
        *,
        r: ArrayLike | None = None,
        R: Any = None,
        quaternion: ArrayLike | None = None,
        u: ArrayLike | None = None,
        laws: Laws = None,
        tau: ArrayLike | None = None,
        wrench: Wrench = None,
        base_motion: ArrayLike | None = None,
        t_start: float = 0.0,
        method: Literal["rk4", "semi-implicit"] = "rk4",
        every: int = 1,
        progress: bool | None = None,
        on_error: Literal["raise", "stop"] = "raise",
    ) -> Simulation:
        """Motion of the ring in time on a fixed base: `zveno.simulation.simulate`, where the options are described."""
        from .simulation import simulate

        return simulate(
            self, t_end, dt, r=r, R=R, quaternion=quaternion, u=u, laws=laws, tau=tau, wrench=wrench,
            base_motion=base_motion, t_start=t_start, method=method, every=every, progress=progress, on_error=on_error,
        )  # fmt: skip

    def _parts(self) -> dict[str, Any]:
        return {
            "platform": self._platform,
            "legs": self._legs,
            "nominal": self._nominal,
            "gravity": self._gravity,
            "name": self._name,
        }

    def _key(self) -> tuple[object, ...]:
        pose = self._nominal and tuple(part.tobytes() for part in self._nominal)
        return self._name, self._gravity.tobytes(), pose, self._platform, self._legs

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Hexapod) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._parts())

    def __repr__(self) -> str:
        kinds = " and ".join(f"{count} {kind}" for kind, count in Counter(leg.type for leg in self._legs).items())
        legs = sum(leg.mass for leg in self._legs)
        return f"Hexapod '{self._name}': {kinds} legs, {self._platform.mass:.1f} kg ring, {legs:.1f} kg legs"


_AnyHexapod = TypeVar("_AnyHexapod", bound=Hexapod)


def _restore(cls: type[_AnyHexapod], parts: Mapping[str, Any]) -> _AnyHexapod:
    """A hexapod from its parts, whatever arguments the constructor of a subclass takes."""
    made = cls.__new__(cls)
    made._assemble(**parts)
    return made


def _as_pose(nominal: Any, fail: Fail) -> tuple[Array, Array]:
    """The nominal pose (r, R) from r alone or both."""
    if isinstance(nominal, list | tuple) and len(nominal) == 2:
        return _as_vector(nominal[0], fail, "r of nominal"), as_rotation(nominal[1], fail, "R of nominal")
    return _as_vector(nominal, fail, "nominal"), _IDENTITY
