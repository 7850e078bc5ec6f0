"""`Link` and `Chain`: what a mechanism is made of. The numbers are worked out by the C++ base class."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .compiled import CompiledFunction, TracedChainFunction, TraceOptions, compile_chain, trace_chain
from .errors import ModelError, ModelWarning
from .opcount import operations as _operations

if TYPE_CHECKING:
    from .sim_chain import ChainSimulation, JointEfforts, JointLaws, Load

__all__ = ["Chain", "Link"]

Array = NDArray[np.float64]

GRAVITY: Final = (0.0, 0.0, -9.81)
_FORMAT: Final = "zveno.chain"
_VERSION: Final = 1
_KINDS: Final = ("revolute", "prismatic", "fixed")
_FIELDS: Final = (
    "name", "parent", "joint", "joint_name", "axis", "position", "rotation", "mass", "com", "inertia",
    "lower", "upper", "velocity", "effort", "rotor_inertia", "friction",
)  # fmt: skip


def _show(value: object) -> str:
    """Short text of an unwanted value for an error message."""
    try:
        text = repr(value)
    except Exception:  # an object that cannot even be printed must not hide the error
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _is_name(value: object) -> bool:
    """A non-empty string that can be written as UTF-8 (JSON may smuggle in lone surrogates)."""
    return isinstance(value, str) and value != "" and not any("\ud800" <= c <= "\udfff" for c in value)


def as_number(value: object, fail: Callable[[str], NoReturn], what: str, *, infinite: bool = False) -> float:
    """Return `value` as a float or `fail`; infinities only where they mean "no limit"."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        fail(f"{what} is {_show(value)}, expected a number")
    try:
        number = float(value)
    except OverflowError:
        fail(f"{what} is {_show(value)}, too large for a float")
    if math.isnan(number) or (math.isinf(number) and not infinite):
        fail(f"{what} is {number}, expected a finite number")
    return number + 0.0  # no negative zeros: equal values have equal bytes


def as_array(value: object, fail: Callable[[str], NoReturn], what: str, *shapes: tuple[int, ...]) -> Array:
    """Return `value` as a finite read-only float64 array of one of `shapes`, or `fail`."""
    expected = " or ".join(str(s) for s in shapes)
    try:
        raw = np.asarray(value)
    except Exception as error:  # ragged lists, hostile __array__
        fail(f"{what} is {_show(value)}, expected numbers of shape {expected} ({error})")
    if raw.dtype.kind not in "iuf":
        fail(f"{what} is {_show(value)}, expected numbers of shape {expected}")
    if raw.shape not in shapes:
        fail(f"{what} has shape {raw.shape}, expected {expected}")
    with np.errstate(over="ignore"):  # a long double may not fit; reported below
        array = raw.astype(np.float64) + 0.0
    if not np.isfinite(array).all():
        fail(f"{what} is {_show(array.tolist())}, expected finite numbers")
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def turn(axis: int, angle: float) -> Array:
    """Active rotation by `angle` (rad) about the coordinate axis 0, 1 or 2.

    Sines and cosines that differ from zero only by the rounding of pi become zero: a right angle stays sparse.
    """
    c, s = (0.0 if abs(x) < 1e-15 else x for x in (math.cos(angle), math.sin(angle)))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[j, j] = R[k, k] = c
    R[k, j], R[j, k] = s, -s
    return R


def turned(R: Array, inertia: Array) -> Array:
    """Inertia tensor in the axes that R maps to."""
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is found by the check of the link
        return R @ inertia @ R.T


class Link:
    """A rigid body and the joint that carries it. Immutable.

    The joint frame J is placed in the frame of the parent link; the link frame is J moved by the joint
    coordinate q (the URDF convention): turned about `axis`, or shifted along it.

    Parameters
    ----------
    name : str
    parent : str, optional
        Name of the parent link or of the chain's base. Default: the previous link in the list, the base for the first.
    joint : {"revolute", "prismatic", "fixed", "continuous"}
        "continuous" is a revolute joint without limits.
    joint_name : str, optional
        Default: ``f"{name}_joint"``.
    axis : (3,) array
        Joint axis in J (the same in link axes); any length but zero.
    position : (3,) array, m
        Origin of J in the parent frame.
    rotation : (3, 3) array or object with ``.as_matrix()``
        Maps components in J to components in the parent frame.
    mass : float, kg
    com : (3,) array, m
        Centre of mass in the link frame.
    inertia : (3, 3) or (3,) array or float, kg m^2
        Inertia tensor about the centre of mass in link axes; three numbers are its diagonal, one a sphere's.
    lower, upper : float, rad or m
    velocity : float, rad/s or m/s
    effort : float, N m or N
        Limits, infinite by default; information for the user, no function enforces them.
    rotor_inertia : float, kg m^2 or kg
        Reflected inertia of the drive, added to the diagonal of the mass matrix.
    friction : float, N m s/rad or N s/m
        Viscous coefficient b: the joint needs the additional effort b qd.

    Examples
    --------
    >>> Link("arm", axis=(0, 1, 0), position=(0, 0, 0.3), mass=4.0, com=(0, 0, 0.2), inertia=(0.1, 0.1, 0.02))
    Link('arm', revolute, 4 kg)
    """

    __slots__ = _FIELDS

    name: str
    parent: str | None
    joint: str
    joint_name: str
    axis: Array
    position: Array
    rotation: Array
    mass: float
    com: Array
    inertia: Array
    lower: float
    upper: float
    velocity: float
    effort: float
    rotor_inertia: float
    friction: float

    def __init__(
        self,
        name: str,
        *,
        parent: str | None = None,
        joint: str = "revolute",
        joint_name: str | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = 0.0,
        lower: float = -math.inf,
        upper: float = math.inf,
        velocity: float = math.inf,
        effort: float = math.inf,
        rotor_inertia: float = 0.0,
        friction: float = 0.0,
    ) -> None:
        if not _is_name(name):
            raise ModelError(f"Link: name is {_show(name)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"link '{name}': {text}", name)

        for key, text in (("parent", parent), ("joint_name", joint_name)):
            if text is not None and not _is_name(text):
                fail(f"{key} is {_show(text)}, expected a non-empty string or None")
        if not isinstance(joint, str) or joint not in (*_KINDS, "continuous"):
            fail(f"joint is {_show(joint)}, expected 'revolute', 'prismatic', 'fixed' or 'continuous'")

        values: dict[str, Any] = {
            "name": name,
            "parent": parent,
            "joint": "revolute" if joint == "continuous" else joint,
            "joint_name": joint_name or f"{name}_joint",
            "axis": as_array(axis, fail, "axis", (3,)),
            "position": as_array(position, fail, "position", (3,)),
            "mass": as_number(mass, fail, "mass"),
            "com": as_array(com, fail, "com", (3,)),
        }
        if not values["axis"].any():
            fail("axis is zero, expected a direction")
        if hasattr(rotation, "as_matrix"):
            rotation = rotation.as_matrix()
        values["rotation"] = as_array(rotation, fail, "rotation", (3, 3))
        tensor = as_array(inertia, fail, "inertia", (3, 3), (3,), ())
        if tensor.ndim < 2:
            tensor = np.diag(np.broadcast_to(tensor, 3))
            tensor.setflags(write=False)
        values["inertia"] = tensor

        for key, number in (("lower", lower), ("upper", upper)):
            values[key] = as_number(number, fail, key, infinite=True)
        if not values["lower"] <= values["upper"] or values["lower"] == math.inf or values["upper"] == -math.inf:
            fail(f"lower = {values['lower']:g} and upper = {values['upper']:g} leave no room for the joint")
        for key, number in (("velocity", velocity), ("effort", effort)):
            values[key] = as_number(number, fail, key, infinite=True)
        for key, number in (("rotor_inertia", rotor_inertia), ("friction", friction)):
            values[key] = as_number(number, fail, key)
        for key in ("velocity", "effort", "rotor_inertia", "friction"):
            if values[key] < 0:
                fail(f"{key} is {values[key]:g}, expected a number >= 0")
        if joint == "continuous" and (values["lower"], values["upper"]) != (-math.inf, math.inf):
            fail("a continuous joint has no lower or upper limit; use 'revolute'")
        if joint == "fixed":
            for key, default in _NO_JOINT.items():
                if values[key] != default:
                    fail(f"{key} is {values[key]:g}, but the joint is fixed")

        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> NoReturn:
        raise AttributeError(f"Link is immutable, cannot set '{key}'")

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError(f"Link is immutable, cannot delete '{key}'")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary: lists for arrays, None for an infinite limit."""
        values: dict[str, Any] = {}
        for key in _FIELDS:
            value = getattr(self, key)
            if isinstance(value, np.ndarray):
                value = value.tolist()
            elif isinstance(value, float) and math.isinf(value):
                value = None
            values[key] = value
        return values

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build a link from `to_dict`'s dictionary; absent keys take their default, unknown keys are an error."""
        if not isinstance(data, Mapping):
            raise ModelError(f"Link.from_dict: got {_show(data)}, expected a dictionary")
        name = data.get("name")
        link = name if isinstance(name, str) else None
        for key in data:
            if key not in _FIELDS:
                raise ModelError(f"link {_show(name)}: unknown key {_show(key)}", link)
        if "name" not in data:
            raise ModelError("Link.from_dict: a link has no 'name'")
        infinite = {key for key in ("lower", "upper", "velocity", "effort") if data.get(key) is None}
        return cls(**{key: value for key, value in data.items() if key not in infinite})

    def _key(self) -> tuple[object, ...]:
        """Everything that makes a link, hashable. Arrays hold no negative zeros, so equal numbers are equal bytes."""
        values = (getattr(self, key) for key in _FIELDS)
        return tuple(v.tobytes() if isinstance(v, np.ndarray) else v for v in values)

    def _child_of(self, parent: str) -> Self:
        """The same link with its parent spelled out."""
        if self.parent == parent:
            return self
        link = object.__new__(type(self))
        for key in _FIELDS:
            object.__setattr__(link, key, getattr(self, key))
        object.__setattr__(link, "parent", parent)
        return link

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Link) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        return f"Link({self.name!r}, {self.joint}, {self.mass:g} kg)"


_NO_JOINT: Final = {
    "lower": -math.inf,
    "upper": math.inf,
    "velocity": math.inf,
    "effort": math.inf,
    "rotor_inertia": 0.0,
    "friction": 0.0,
}


def report(texts: Sequence[str], who: str, strict: bool, *, stacklevel: int = 3) -> None:
    """Emit one `ModelWarning` that lists `texts`, or with `strict` raise it as a `ModelError`.

    The warning points at the caller of the function that calls this one.
    """
    if not texts:
        return
    shown = list(texts[:8]) + ([f"and {len(texts) - 8} more (see Chain.suspicions)"] if len(texts) > 8 else [])
    message = f"{who}: " + "; ".join(shown)
    if strict:
        raise ModelError(f"{message} (strict=True)")
    warnings.warn(message, ModelWarning, stacklevel=stacklevel)


class Chain(_core.Chain):
    """An open chain or tree of rigid links on a fixed base. Immutable; may be shared by threads.

    Joint coordinates q follow the order of the moving joints in `links`. The world frame is the base frame.

    Parameters
    ----------
    links : iterable of Link
        In any order; parents may come after their children.
    gravity : (3,) array, m/s^2
        In base axes.
    name, base : str
        Names of the mechanism and of its base.
    strict : bool
        Raise `ModelError` for suspicious data (see `suspicions`) instead of a `ModelWarning`.

    Raises
    ------
    ModelError
        Duplicate or unknown names, cycles, negative mass, an inertia that no body has, no moving joint.

    Examples
    --------
    >>> arm = Chain([Link("l1", mass=1.0, com=(0.5, 0, 0)), Link("l2", position=(1, 0, 0), mass=1.0, com=(0.5, 0, 0))])
    >>> arm
    Chain 'chain': 2 joints (2 revolute), 2 links, 2.0 kg
    """

    def __init__(
        self,
        links: Iterable[Link],
        *,
        gravity: ArrayLike = GRAVITY,
        name: str = "chain",
        base: str = "base",
        strict: bool = False,
    ) -> None:
        self._assemble(links, gravity, name, base)
        report([text for _, text in self.suspicions], f"Chain '{name}'", strict)

    operations = _operations

    def _assemble(self, links: Iterable[Link], gravity: ArrayLike, name: str, base: str) -> None:
        """Check the arguments, resolve parents, build the C++ model."""
        for key, text in (("name", name), ("base", base)):
            if not _is_name(text):
                raise ModelError(f"Chain: {key} is {_show(text)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Chain '{name}': {text}")

        if isinstance(links, str | bytes | Mapping) or not isinstance(links, Iterable):
            fail(f"links is {_show(links)}, expected a list of Link")
        resolved: list[Link] = []
        previous = base
        for item in links:
            if not isinstance(item, Link):
                fail(f"links[{len(resolved)}] is {_show(item)}, expected a Link")
            resolved.append(item._child_of(item.parent or previous))
            previous = item.name
        g = as_array(gravity, fail, "gravity", (3,))
        _core.Chain.__init__(
            self,
            name,
            base,
            g.tolist(),
            [
                (
                    *(link.name, link.parent, link.joint, link.joint_name, link.axis, link.position, link.rotation),
                    *(link.mass, link.com, link.inertia, link.rotor_inertia, link.friction),
                )
                for link in resolved
            ],
        )
        self._links = tuple(resolved)
        self._moving = tuple(link for link in resolved if link.joint != "fixed")
        self._name, self._base, self._gravity = name, base, g

    @classmethod
    def _quiet(cls, links: Iterable[Link], gravity: ArrayLike, name: str, base: str) -> Self:
        """Build without reporting suspicions: those of a copy were reported when the original was made."""
        chain = cls.__new__(cls)
        chain._assemble(links, gravity, name, base)
        return chain

    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str] | bytes,
        *,
        gravity: ArrayLike = GRAVITY,
        name: str | None = None,
        friction: bool = False,
        snap: float = 1e-11,
        strict: bool = False,
    ) -> Self:
        """Read a URDF file, or XML text.

        Parameters
        ----------
        source : path, or str or bytes with the XML itself
            A str whose first visible character is ``<`` is XML text, any other a path.
        gravity : (3,) array, m/s^2
        name : str, optional
            Default: the robot's name in the file.
        friction : bool
            Apply ``<dynamics damping>`` as viscous friction. By default it is not applied, as in Pinocchio's ``rnea``.
        snap : float, rad
            Roll, pitch and yaw angles no further than this from a multiple of 90 degrees are taken to be it: exact
            zeros make generated code much shorter. The default covers files that print 1.57079632679; many print
            1.5708, which takes ``snap=1e-5``.
        strict : bool
            Raise `ModelError` wherever a `ModelWarning` would be emitted.

        Returns
        -------
        chain : Chain
            The base is the root link; joints are in depth-first order, children in the order of the document.

        Notes
        -----
        Read: revolute, continuous, prismatic and fixed joints, origins, axes, limits, damping, inertials. A mimic
        joint becomes an independent joint. Transmissions, Coulomb friction, meshes, materials, collision shapes,
        safety controllers and extensions are ignored; those that matter for dynamics are named in a `ModelWarning`.
        Floating and planar joints are a `ModelError`: the base is fixed.
        """
        from . import urdf

        return urdf.read(cls, source, gravity=gravity, name=name, friction=friction, snap=snap, strict=strict)

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Sequence[float]],
        *,
        convention: str = "standard",
        joints: str | Sequence[str] = "revolute",
        masses: ArrayLike | None = None,
        coms: ArrayLike | None = None,
        inertias: Sequence[ArrayLike] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        rotor_inertia: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        base_pose: ArrayLike | None = None,
        tool_pose: ArrayLike | None = None,
        tool: str = "tool",
        gravity: ArrayLike = GRAVITY,
        name: str = "chain",
        base: str = "base",
        strict: bool = False,
    ) -> Self:
        """Build a serial chain from Denavit-Hartenberg rows ``(theta0, d, a, alpha)``, rad and m.

        With q added to theta0 (revolute) or to d (prismatic), frame i in frame i-1 is
        ``Rz(theta) Tz(d) Tx(a) Rx(alpha)`` ("standard": the joint axis is z of frame i-1, frame i sits at the far
        end of link i) or ``Rx(alpha) Tx(a) Rz(theta) Tz(d)`` ("modified", Craig: the joint axis is z of frame i).

        Parameters
        ----------
        rows : n rows of four numbers
            In a "modified" row a and alpha are those usually written with index i-1.
        joints : "revolute", "prismatic" or a sequence of n of them
        masses : (n,) array, kg
        coms : (n, 3) array, m
            Centres of mass in DH frame i.
        inertias : n inertias, kg m^2
            About the centre of mass, in the axes of DH frame i; each as in `Link`.
        lower, upper, velocity, effort, rotor_inertia, friction : (n,) arrays
            As in `Link`.
        names : n link names
            Default: ``link1 ... linkn``.
        base_pose, tool_pose : (4, 4) arrays
            Homogeneous: DH frame 0 in the base, the tool frame in DH frame n. Default: identity.
        tool : str
            Name of the massless fixed link that carries the tool frame.

        Returns
        -------
        chain : Chain
            n moving links and the tool. The frame of a link is at its joint: in the standard convention link i has
            the origin of DH frame i-1 and turns with link i, and ``com`` and ``inertia`` of ``chain.links`` are
            expressed there; in the modified one it is DH frame i. ``chain.pose(q, tool)`` is DH frame n times
            `tool_pose` in both.
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"from_dh: {text} for chain {_show(name)}")

        if convention not in ("standard", "modified"):
            fail(f"convention is {_show(convention)}, expected 'standard' or 'modified'")
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            fail(f"rows is {_show(rows)}, expected rows (theta0, d, a, alpha)")
        table = [as_array(row, fail, f"rows[{i}]", (4,)).tolist() for i, row in enumerate(rows)]
        n = len(table)
        kinds = [joints] * n if isinstance(joints, str) else joints

        columns: dict[str, Any] = {
            "name": [f"link{i + 1}" for i in range(n)] if names is None else names,
            "joint": kinds,
            "mass": masses,
            "com": coms,
            "inertia": inertias,
            "lower": lower,
            "upper": upper,
            "velocity": velocity,
            "effort": effort,
            "rotor_inertia": rotor_inertia,
            "friction": friction,
        }
        given: dict[str, list[Any]] = {}
        for key, column in columns.items():
            if isinstance(column, str) or not (column is None or isinstance(column, Sequence | np.ndarray)):
                fail(f"'{key}' of the links is {_show(column)}, expected {n} entries")
            if column is not None:
                given[key] = list(np.atleast_1d(column) if isinstance(column, np.ndarray) else column)
                if len(given[key]) != n:
                    fail(f"'{key}' of the links has {len(given[key])} entries, expected {n}")

        R_next, p_next = _split_pose(base_pose, fail, "base_pose")
        R_tool, p_tool = _split_pose(tool_pose, fail, "tool_pose")
        links = []
        for i, (theta, d, a, alpha) in enumerate(table):
            body = {key: column[i] for key, column in given.items()}
            if body["joint"] not in ("revolute", "prismatic"):
                fail(f"joints[{i}] is {_show(body['joint'])}, expected 'revolute' or 'prismatic'")
            if convention == "standard":
                # the joint frame is DH frame i-1; R_BF, p_BF place DH frame i in the link
                R_BF, p_BF = turn(2, theta) @ turn(0, alpha), turn(2, theta) @ (a, 0.0, 0.0) + (0.0, 0.0, d)
                link = Link(**body)  # checked before it is moved
                body |= {"com": p_BF + R_BF @ link.com, "inertia": turned(R_BF, link.inertia)}
                link = Link(**body, position=p_next, rotation=R_next)
                R_next, p_next = R_BF, p_BF
            else:
                R_row = turn(0, alpha)
                position = p_next + R_next @ ((a, 0.0, 0.0) + R_row @ (0.0, 0.0, d))
                link = Link(**body, position=position, rotation=R_next @ R_row @ turn(2, theta))
                R_next, p_next = np.eye(3), np.zeros(3)
            links.append(link)
        links.append(Link(tool, joint="fixed", position=p_next + R_next @ p_tool, rotation=R_next @ R_tool))
        chain = cls._quiet(links, gravity, name, base)
        report([text for _, text in chain.suspicions], f"Chain '{name}'", strict)
        return chain

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a JSON-safe dictionary (lists, None for an infinite limit)."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "name": self._name,
            "base": self._base,
            "gravity": self._gravity.tolist(),
            "links": [link.to_dict() for link in self._links],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Build the model of `to_dict`; every key is checked, an unknown one is a `ModelError`."""
        chain = cls._quiet(**_chain_arguments(data))
        report([text for _, text in chain.suspicions], f"Chain '{chain.name}'", strict)
        return chain

    def with_payload(
        self,
        link: str,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = 0.0,
        name: str = "payload",
    ) -> Self:
        """Return a new chain with a body welded to `link`.

        Parameters
        ----------
        link : str
        mass : float, kg
        com : (3,) array, m
            Centre of mass of the payload in the frame of `link`.
        inertia : (3, 3) or (3,) array or float, kg m^2
            About that centre of mass, in the axes of `link`.
        name : str
            Name of the new link; its frame is that of `link`.
        """
        if link not in self.link_names:
            raise ModelError(f"with_payload: no link {_show(link)} in chain '{self._name}'")
        load = Link(name, parent=link, joint="fixed", mass=mass, com=com, inertia=inertia)
        chain = self._quiet((*self._links, load), self._gravity, self._name, self._base)
        texts = [text for who, text in chain.suspicions if who == name]
        report(texts, f"Chain '{self._name}'", strict=False)
        return chain

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """Return a new chain under another gravity, (3,) m/s^2 in base axes."""
        return self._quiet(self._links, gravity, self._name, self._base)

    def trace(self, function: str, **options: Unpack[TraceOptions]) -> TracedChainFunction:
        """Write a method out for this chain: straight-line code without a zero or one left in it.

        Parameters
        ----------
        function : str
            Name of a numeric method: ``"inverse_dynamics"``, ``"mass_matrix"``, ``"derivatives"``, ...
        method, link, point, frame : optional
            Those of the method; fixed from now on. Without `method` the one whose code is shortest for this chain.
        external : iterable of str
            Links that external wrenches act on.
        parameters : {"fixed", "symbolic"} or iterable of str
            Whether inertial parameters are numbers in the code or arguments of it, of all moving links or of those
            named. Default: fixed.
        level : {"strict", "algebraic"}
            Strict, the default: the operations of the kernel in their order, the same bits. Algebraic: inertia
            regrouped along the chain, common factors, shared reciprocals, fused multiply-adds: fewer instructions,
            other rounding; see `TracedFunction.savings`.
        limit : int
            Largest number of nodes, 200,000 by default.

        Returns
        -------
        TracedChainFunction
            With ``.operations``, ``.graph``, ``.c_source()``, ``.save(directory)``.

        Raises
        ------
        GraphSizeError
            More than `limit` nodes.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.puma560()
        >>> arm.trace("inverse_dynamics").operations.total < arm.operations("inverse_dynamics").total
        True
        """
        return trace_chain(self, function, **options)

    def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction:
        """Machine code of a method for this very chain. Needs llvmlite (``zveno[jit]``); arguments as in `trace`.

        Returns
        -------
        CompiledFunction
            Called like the method: the same shapes, batches, ``out=``, ``threads=`` and errors.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.puma560()
        >>> f = arm.compile("inverse_dynamics")
        >>> q = np.linspace(0, 1, arm.n)
        >>> bool((f(q, q, q) == arm.inverse_dynamics(q, q, q)).all())
        True
        """
        return compile_chain(self, function, **options)

    def simulate(
        self,
        t_end: float,
        dt: float,
        *,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        tau: ArrayLike | JointEfforts | None = None,
        laws: JointLaws = None,
        external: Mapping[str, Load] | None = None,
        t_start: float = 0.0,
        method: Literal["rk4", "semi-implicit"] = "rk4",
        every: int = 1,
        progress: bool | None = None,
        on_error: Literal["raise", "stop"] = "raise",
    ) -> ChainSimulation:
        """Motion in time on the fixed base: `zveno.sim_chain.simulate_chain`, where the options are described."""
        from .sim_chain import simulate_chain

        return simulate_chain(
            self, t_end, dt, q=q, qd=qd, tau=tau, laws=laws, external=external, t_start=t_start, method=method,
            every=every, progress=progress, on_error=on_error,
        )  # fmt: skip

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._name

    @property
    def base_name(self) -> str:
        """Name of the fixed base."""
        return self._base

    @property
    def gravity(self) -> Array:
        """Gravity in base axes, (3,) m/s^2, read-only."""
        return self._gravity

    @property
    def links(self) -> tuple[Link, ...]:
        """All links as given, fixed ones too, with their parents spelled out."""
        return self._links

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links in the order of `links`; the base is not among them."""
        return tuple(link.name for link in self._links)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the n moving joints in the order of q."""
        return tuple(link.joint_name for link in self._moving)

    @property
    def joint_types(self) -> tuple[str, ...]:
        """ "revolute" or "prismatic" for each of the n moving joints."""
        return tuple(link.joint for link in self._moving)

    def _column(self, key: str) -> Array:
        column = np.array([getattr(link, key) for link in self._moving])
        column.setflags(write=False)
        return column

    @property
    def lower(self) -> Array:
        """Lower joint limits, (n,) rad or m, -inf where there is none."""
        return self._column("lower")

    @property
    def upper(self) -> Array:
        """Upper joint limits, (n,) rad or m, inf where there is none."""
        return self._column("upper")

    @property
    def velocity_limit(self) -> Array:
        """Velocity limits, (n,) rad/s or m/s."""
        return self._column("velocity")

    @property
    def effort_limit(self) -> Array:
        """Effort limits, (n,) N m or N."""
        return self._column("effort")

    @property
    def rotor_inertia(self) -> Array:
        """Reflected drive inertias, (n,) kg m^2 or kg."""
        return self._column("rotor_inertia")

    @property
    def friction(self) -> Array:
        """Viscous friction coefficients, (n,) N m s/rad or N s/m."""
        return self._column("friction")

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Chain) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self._name, self._base, self._gravity.tobytes(), self._links

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.to_dict())

    def __repr__(self) -> str:
        counts = ((sum(t == kind for t in self.joint_types), kind) for kind in _KINDS[:2])
        kinds = ", ".join(f"{count} {kind}" for count, kind in counts if count)
        mass = self.total_mass
        kg = f"{mass:.1f}" if mass >= 1 or mass == 0 else f"{mass:.2g}"
        return (
            f"Chain '{self._name}': {_plural(self.n, 'joint')} ({kinds}), {_plural(len(self._links), 'link')}, {kg} kg"
        )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _restore(cls: type[Chain], data: Mapping[str, Any]) -> Chain:
    """Unpickle: `from_dict` without a second report."""
    return cls._quiet(**_chain_arguments(data))


def _split_pose(pose: ArrayLike | None, fail: Callable[[str], NoReturn], what: str) -> tuple[Array, Array]:
    """Rotation and translation of a homogeneous matrix; identity for None."""
    T = np.eye(4) if pose is None else as_array(pose, fail, what, (4, 4))
    if T[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        fail(f"the last row of {what} is {T[3].tolist()}, expected [0, 0, 0, 1]")
    return T[:3, :3], T[:3, 3]


def _chain_arguments(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check the frame of a chain dictionary; return the arguments of `Chain`."""
    if not isinstance(data, Mapping):
        raise ModelError(f"Chain.from_dict: got {_show(data)}, expected a dictionary")
    if data.get("format") != _FORMAT:
        raise ModelError(f"Chain.from_dict: format is {_show(data.get('format'))}, expected '{_FORMAT}'")
    if data.get("version") != _VERSION or isinstance(data["version"], bool):
        raise ModelError(f"Chain.from_dict: version is {_show(data.get('version'))}, expected {_VERSION}")
    for key in data:
        if key not in ("format", "version", "name", "base", "gravity", "links"):
            raise ModelError(f"Chain.from_dict: unknown key {_show(key)}")
    for key in ("name", "base", "gravity", "links"):
        if key not in data:
            raise ModelError(f"Chain.from_dict: '{key}' is missing")
    if not isinstance(data["links"], list | tuple):
        raise ModelError(f"Chain.from_dict: links is {_show(data['links'])}, expected a list")
    links = [Link.from_dict(item) for item in data["links"]]
    return {"links": links, "gravity": data["gravity"], "name": data["name"], "base": data["base"]}
