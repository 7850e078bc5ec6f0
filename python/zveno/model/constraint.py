"""Constraints between links: `Constraint`, the joints that close loops (`Loop`), targets that move in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _is_name, _show, as_amount, as_direction, as_list, as_number, as_vector, frozen
from .._record import Record, plain, require_keys
from .._rotation import as_matrix
from ..errors import ModelError

__all__ = ["Constraint", "Loop", "Target"]

Timed: TypeAlias = "float | Callable[[float], Any]"
_C = TypeVar("_C", bound="Constraint")

# rows of every joint, in this order; docs/constraints.md
_POINT: Final = ("along x", "along y", "along z")
_TILT: Final = ("tilt x", "tilt y")
_TURN: Final = ("turn x", "turn y", "turn z")
ROWS: Final[dict[str, tuple[str, ...]]] = {
    "spherical": _POINT,
    "revolute": (*_POINT, *_TILT),
    "prismatic": ("along x", "along y", *_TURN),
    "cylindrical": ("along x", "along y", *_TILT),
    "universal": (*_POINT, "dot"),
    "planar": ("along z", *_TILT),
    "screw": ("along x", "along y", "screw", *_TILT),
    "weld": (*_POINT, *_TURN),
    "distance": ("rod",),
    "point_on_line": ("along x", "along y"),
    "point_on_plane": ("along z",),
    "point_on_surface": ("surface",),
    "coupling": ("coupling",),
}
# what the multiplier of a row is, in axes of the joint frame on A
CARRIES: Final = {
    **{f"along {x}": f"force along {x}" for x in "xyz"},
    **{f"{kind} {x}": f"moment about {x}" for kind in ("tilt", "turn") for x in "xyz"},
    "dot": "moment across both axes",
    "rod": "force along the rod",
    "screw": "force along z and moment about z",
    "surface": "force along the normal",
    "coupling": "effort of the coupling",
    "function": "effort of the function",
}
_FIELDS: Final = (
    "kind", "name", "a", "b", "point_a", "rotation_a", "point_b", "rotation_b",
    "offset", "pitch", "phase", "length", "joints", "rows", "function",
)  # fmt: skip
_EYE: Final = frozen(np.eye(3))
_ORIGIN: Final = frozen(np.zeros(3))
_EMPTY: Final[dict[str, Any]] = {
    "a": None,
    "b": None,
    "point_a": _ORIGIN,
    "rotation_a": _EYE,
    "point_b": _ORIGIN,
    "rotation_b": _EYE,
    "offset": 0.0,
    "pitch": 0.0,
    "phase": 0.0,
    "length": 0.0,
    "joints": (),
    "rows": (),
    "function": None,
}


class Target:
    """A frame that moves in time as it is told; stands where the name of a link stands.

    Parameters
    ----------
    function : callable
        ``t -> (R, p, w, v, alpha, a)``: axes (3, 3) and origin (3,) m of the frame in the base, its angular velocity,
        velocity of the origin, angular acceleration and acceleration of the origin, all in base axes.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> still = (0, 0, 0)
    >>> lift = zv.constraints.target(lambda t: (np.eye(3), (0, 0, 0.1 * t), still, (0, 0, 0.1), still, still))
    >>> lift.motion(2.0)[9:12]
    array([0. , 0. , 0.2])
    """

    __slots__ = ("function",)

    def __init__(self, function: Callable[[float], Any]) -> None:
        if not callable(function):
            raise ModelError(f"target: function is {_show(function)}, expected t -> (R, p, w, v, alpha, a)")
        self.function = function

    def motion(self, t: float, who: str = "target") -> Array:
        """The 24 numbers of the frame at time t: R by rows, p, w, v, alpha, a.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> still = (0, 0, 0)
        >>> lift = zv.constraints.target(lambda t: (np.eye(3), (0, 0, 0.1 * t), still, (0, 0, 0.1), still, still))
        >>> lift.motion(2.0)[15:18]  # its velocity
        array([0. , 0. , 0.1])
        """
        parts = self.function(t)
        shapes = {"R": 9, "p": 3, "w": 3, "v": 3, "alpha": 3, "a": 3}
        if not isinstance(parts, tuple | list) or len(parts) != len(shapes):
            raise ValueError(f"{who}: the target gives {_show(parts)} at t = {t:g}, expected (R, p, w, v, alpha, a)")
        numbers = []
        for (key, size), part in zip(shapes.items(), parts, strict=True):
            numbers.append(given_numbers(part, size, f"{who}: {key} of the target at t = {t:g}"))
        R = numbers[0].reshape(3, 3)
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0:
            raise ValueError(f"{who}: R of the target at t = {t:g} is not a rotation: expected R'R = 1 within 1e-9")
        return np.concatenate(numbers)

    def __repr__(self) -> str:
        return f"Target({getattr(self.function, '__name__', 'function')})"


def given_numbers(value: Any, size: int, what: str) -> Array:
    """What a function of the user has returned, as `size` finite numbers."""
    try:
        if np.asarray(value).dtype.kind == "b":  # a comparison is no distance
            raise TypeError
        array = np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise ValueError(f"{what} is {_show(value)}, expected {size} numbers") from None
    if array.size != size:
        raise ValueError(f"{what} has {array.size} numbers, expected {size}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} is {_show(array.tolist())}, expected finite numbers")
    return array


class Constraint(Record):
    """Equations that hold between two links, or between joint coordinates. Immutable.

    Made by the functions of `zveno.constraints` and by `Loop`.

    Attributes
    ----------
    kind, name : str
    a, b : str, Target or None
        Links; the reaction is the wrench of A on B.
    point_a, point_b : (3,) array, m
    rotation_a, rotation_b : (3, 3) array
        Joint frames in axes of the links: z is the axis.
    """

    __slots__ = _FIELDS
    _required = ("kind", "name")

    kind: str
    name: str
    a: str | Target | None
    b: str | Target | None
    point_a: Array
    rotation_a: Array
    point_b: Array
    rotation_b: Array
    offset: Timed
    pitch: float
    phase: float
    length: Timed
    joints: tuple[tuple[str, float], ...]
    rows: tuple[str, ...]
    function: Any

    def __init__(self, **values: Any) -> None:
        super().__init__(**(_EMPTY | values))

    @property
    def row_names(self) -> tuple[str, ...]:
        """What the multiplier of each equation is, in axes of the joint frame on A."""
        return tuple(CARRIES[row] for row in self.rows)

    @property
    def timed(self) -> bool:
        """Whether a function of time or of the state is part of it."""
        return any(callable(x) for x in (self.offset, self.length)) or self.function is not None or bool(self.targets)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Frames that move in time."""
        return tuple(side for side in (self.a, self.b) if isinstance(side, Target))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary; constraints that move in time have none.

        Examples
        --------
        >>> import zveno as zv
        >>> hinge = zv.Loop.revolute("rocker", "base", point_a=(0.2, 0.0, 0.0), name="hinge")
        >>> hinge.to_dict()["kind"]
        'revolute'
        >>> zv.Loop.from_dict(hinge.to_dict()) == hinge
        True
        """
        if self.timed:
            raise ValueError(f"to_dict: constraint {_show(self.name)} has a function of time, which no file can hold")
        data: dict[str, Any] = {"kind": self.kind, "name": self.name}
        for key, default in _EMPTY.items():
            value = getattr(self, key)
            same = np.array_equal(value, default) if isinstance(default, np.ndarray) else value == default
            if not same and key != "function" and not (key == "rows" and self.kind in ROWS):
                data[key] = dict(value) if key == "joints" else plain(value)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the object of `to_dict`; absent keys take their default, unknown keys are an error.

        Examples
        --------
        >>> import json, zveno as zv
        >>> data = json.loads(json.dumps(zv.Loop.spherical("coupler", "base", name="ball").to_dict()))
        >>> zv.Loop.from_dict(data).name
        'ball'
        """
        require_keys(f"{cls.__name__}.from_dict", data, _FIELDS[:-1], cls._required)
        kind, name = data["kind"], data["name"]
        if not isinstance(kind, str) or (kind not in ROWS and kind != "pose"):
            raise ModelError(f"Constraint.from_dict: kind is {_show(kind)}, expected one of {', '.join(ROWS)}, pose")
        if not _is_name(name):
            raise ModelError(f"Constraint.from_dict: name is {_show(name)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"constraint {_show(name)}: {text}")

        values: dict[str, Any] = {"kind": kind, "name": name, "rows": ROWS.get(kind, ())}
        if kind == "pose":
            rows = as_list(data.get("rows")) or []
            if not rows or any(row not in (*_POINT, *_TURN) for row in rows):
                fail(f"rows is {_show(data.get('rows'))}, expected some of {', '.join((*_POINT, *_TURN))}")
            values["rows"] = tuple(rows)
        for key in ("a", "b"):
            if kind != "coupling":
                values[key] = _as_side(data.get(key), fail, key)
        for key in ("point_a", "point_b"):
            values[key] = as_vector(data.get(key, _ORIGIN), fail, key)
        for key in ("rotation_a", "rotation_b"):
            values[key] = as_matrix(data.get(key, _EYE), fail, key)
        for key in ("offset", "pitch", "phase", "length"):
            values[key] = as_number(data.get(key, 0.0), fail, key)
        if kind == "distance" and not values["length"] > 0:
            fail(f"length is {values['length']:g}, expected a number > 0")
        if kind == "screw" and values["pitch"] == 0:
            fail("pitch is 0, expected another number")
        if kind == "coupling":
            values["joints"] = _as_joints(data.get("joints"), fail)
        return cls._made(**(_EMPTY | values))

    def _sides(self) -> str:
        """What is constrained, in words."""
        if self.kind == "coupling":
            return " + ".join(f"{k:g} {joint}" for joint, k in self.joints)
        return "f(q, t)" if self.a is None else f"{self.a} -> {self.b}"

    def __repr__(self) -> str:
        rows = f"{len(self.rows)} equation{'s' * (len(self.rows) != 1)}"
        return f"{type(self).__name__}({_show(self.name)}, {self.kind}, {self._sides()}, {rows})"


def _as_side(value: Any, fail: Callable[[str], NoReturn], what: str) -> str | Target:
    if isinstance(value, Target) or _is_name(value):
        side: str | Target = value
        return side
    fail(f"{what} is {_show(value)}, expected the name of a link or a target")


def _as_joints(value: Any, fail: Callable[[str], NoReturn]) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping) or not value:
        fail(f"joints is {_show(value)}, expected a dictionary of names of joints to factors")
    pairs = []
    for joint, factor in value.items():
        if not _is_name(joint):
            fail(f"joints has {_show(joint)}, expected the name of a joint")
        pairs.append((joint, as_number(factor, fail, f"factor of joint {_show(joint)}")))
    if not any(factor for _, factor in pairs):
        fail("all factors are 0")
    return tuple(pairs)


def coupling_of(joints: Any, offset: Any = 0.0, name: Any = None) -> Constraint:
    """A linear relation of joint coordinates."""
    label = name
    if name is None:
        label = ("-".join(str(x) for x in joints) if isinstance(joints, Mapping) else "") or "coupling"
    if not _is_name(label):
        raise ModelError(f"coupling: name is {_show(name)}, expected a non-empty string")

    def fail(text: str) -> NoReturn:
        raise ModelError(f"coupling {_show(label)}: {text}")

    values = {"joints": _as_joints(joints, fail), "offset": as_timed(offset, fail, "offset"), "rows": ("coupling",)}
    return Constraint._made(**(_EMPTY | {"kind": "coupling", "name": label} | values))


def as_timed(value: Any, fail: Callable[[str], NoReturn], what: str, *, positive: bool = False) -> Timed:
    """A number, or a function t -> (value, rate, second rate)."""
    if callable(value):
        timed: Timed = value
        return timed
    return as_amount(value, fail, what, positive=True) if positive else as_number(value, fail, what)


def joint_frame(axis: Any, reference: Any, fail: Callable[[str], NoReturn], side: str) -> Array:
    """z along the axis; x along the reference, or along the coordinate axis that is farthest from z."""
    z = as_direction(axis, fail, f"axis_{side}")
    if reference is None:
        x = np.eye(3)[int(np.argmin(np.abs(z)))]
    else:
        x = as_direction(reference, fail, f"reference_{side}")
    x = x - z * (z @ x)
    size = math.hypot(*x.tolist())
    if size < 1e-6:
        fail(f"reference_{side} is along axis_{side}, expected a direction across it")
    x = x / size
    return frozen(np.column_stack([x, np.cross(z, x), z]))


def placed(
    cls: type[_C],
    kind: str,
    a: Any,
    b: Any,
    *,
    point_a: Any = (0.0, 0.0, 0.0),
    point_b: Any = (0.0, 0.0, 0.0),
    axis_a: Any = (0.0, 0.0, 1.0),
    axis_b: Any = (0.0, 0.0, 1.0),
    reference_a: Any = None,
    reference_b: Any = None,
    rotation_a: Any = None,
    rotation_b: Any = None,
    name: Any = None,
    turning: bool = False,
    **values: Any,
) -> _C:
    """A constraint between two frames."""
    label = name if name is not None else "-".join(x if isinstance(x, str) else "target" for x in (a, b))
    if not _is_name(label):
        raise ModelError(f"{kind}: name is {_show(name)}, expected a non-empty string")

    def fail(text: str) -> NoReturn:
        raise ModelError(f"{kind} {_show(label)}: {text}")

    a, b = _as_side(a, fail, "a"), _as_side(b, fail, "b")
    if a == b:
        fail(f"a and b are both {_show(a)}, expected two links")
    frames = []
    for side, axis, reference, rotation in (
        ("a", axis_a, reference_a, rotation_a),
        ("b", axis_b, reference_b, rotation_b),
    ):
        if rotation is not None:
            frames.append(as_matrix(rotation, fail, f"rotation_{side}"))
        elif turning and reference is None:
            fail(f"reference_{side} is missing: the joint holds the turn about its axis; give references or rotations")
        else:
            frames.append(joint_frame(axis, reference, fail, side))
    for key in ("offset", "length"):
        if key in values:
            values[key] = as_timed(values[key], fail, key, positive=key == "length")
    for key in ("pitch", "phase"):
        if key in values:
            values[key] = as_number(values[key], fail, key)
    if kind == "screw" and abs(values["pitch"]) < 1e-12:
        fail(f"pitch is {values['pitch']:g}, expected the way along the axis per turn, m")
    return cls._made(
        **(
            _EMPTY
            | {
                "kind": kind,
                "name": label,
                "a": a,
                "b": b,
                "point_a": as_vector(point_a, fail, "point_a"),
                "rotation_a": frames[0],
                "point_b": as_vector(point_b, fail, "point_b"),
                "rotation_b": frames[1],
                "rows": ROWS.get(kind, ()),
            }
            | values
        )
    )


class Loop(Constraint):
    """A joint that closes a loop: link A plays the parent, link B the child. Immutable.

    ``point_a``, ``axis_a`` are in axes of link A, ``point_b``, ``axis_b`` in axes of link B; at closure points (or
    lines) and axes coincide. ``reference_a`` and ``reference_b`` are directions across the axes that fix the zero of
    the angle; joints that hold it, prismatic ones and welds, need both, or ``rotation_a`` and ``rotation_b``, the
    joint frames themselves. Either link may be the base, or a `zveno.constraints.target`.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.Loop.revolute("coupler", "rocker", point_a=(0.9, 0, 0), point_b=(0.7, 0, 0))
    Loop('coupler-rocker', revolute, coupler -> rocker, 5 equations)
    """

    __slots__ = ()
    _kind = Constraint

    @classmethod
    def revolute(cls, a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
                 axis_a: ArrayLike = (0, 0, 1), axis_b: ArrayLike = (0, 0, 1), reference_a: ArrayLike | None = None,
                 reference_b: ArrayLike | None = None, name: str | None = None) -> Self:  # fmt: skip
        """A hinge: points and axes coincide, five equations.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.Loop.revolute("rocker", "base", point_a=(0.2, 0, 0), point_b=(0.4, 0, 0))
        Loop('rocker-base', revolute, rocker -> base, 5 equations)
        """
        return placed(cls, "revolute", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, axis_b=axis_b,
                      reference_a=reference_a, reference_b=reference_b, name=name)  # fmt: skip

    @classmethod
    def prismatic(cls, a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
                  axis_a: ArrayLike = (0, 0, 1), axis_b: ArrayLike = (0, 0, 1), reference_a: ArrayLike | None = None,
                  reference_b: ArrayLike | None = None, rotation_a: Any = None, rotation_b: Any = None,
                  name: str | None = None) -> Self:  # fmt: skip
        """A slide: the point of B stays on the axis of A and B does not turn, five equations.

        Examples
        --------
        >>> import zveno as zv
        >>> along, up = (1, 0, 0), (0, 0, 1)
        >>> zv.Loop.prismatic("base", "slider", axis_a=along, axis_b=along, reference_a=up, reference_b=up)
        Loop('base-slider', prismatic, base -> slider, 5 equations)
        """
        return placed(cls, "prismatic", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, axis_b=axis_b,
                      reference_a=reference_a, reference_b=reference_b, rotation_a=rotation_a, rotation_b=rotation_b,
                      name=name, turning=True)  # fmt: skip

    @classmethod
    def cylindrical(cls, a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
                    axis_a: ArrayLike = (0, 0, 1), axis_b: ArrayLike = (0, 0, 1), reference_a: ArrayLike | None = None,
                    reference_b: ArrayLike | None = None, name: str | None = None) -> Self:  # fmt: skip
        """A sleeve: axes coincide, B turns and slides on A, four equations.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.Loop.cylindrical("base", "sleeve", axis_a=(0, 1, 0), axis_b=(0, 1, 0))
        Loop('base-sleeve', cylindrical, base -> sleeve, 4 equations)
        """
        return placed(cls, "cylindrical", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, axis_b=axis_b,
                      reference_a=reference_a, reference_b=reference_b, name=name)  # fmt: skip

    @classmethod
    def universal(cls, a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
                  axis_a: ArrayLike = (0, 0, 1), axis_b: ArrayLike = (0, 0, 1), offset: Timed = 0.0,
                  reference_a: ArrayLike | None = None, name: str | None = None) -> Self:  # fmt: skip
        """A Hooke joint: points coincide, the axes of its cross keep the cosine `offset`; four equations.

        ``axis_a`` is fixed in A, ``axis_b`` in B; with the default cosine 0 they are perpendicular.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.Loop.universal("shaft1", "shaft2", axis_a=(1, 0, 0), axis_b=(0, 1, 0))
        Loop('shaft1-shaft2', universal, shaft1 -> shaft2, 4 equations)
        """
        return placed(cls, "universal", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, axis_b=axis_b,
                      offset=offset, reference_a=reference_a, name=name)  # fmt: skip

    @classmethod
    def spherical(cls, a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
                  axis_a: ArrayLike = (0, 0, 1), reference_a: ArrayLike | None = None,
                  name: str | None = None) -> Self:  # fmt: skip
        """A ball: points coincide, three equations; axis and reference are those of the multipliers.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.Loop.spherical("rod", "rocker", point_a=(0.4, 0, 0), point_b=(0.2, 0, 0))
        Loop('rod-rocker', spherical, rod -> rocker, 3 equations)
        """
        return placed(cls, "spherical", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, reference_a=reference_a,
                      name=name)  # fmt: skip

    @classmethod
    def planar(cls, a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
               axis_a: ArrayLike = (0, 0, 1), axis_b: ArrayLike = (0, 0, 1), offset: Timed = 0.0,
               reference_a: ArrayLike | None = None, name: str | None = None) -> Self:  # fmt: skip
        """Plane on plane: normals coincide, the point of B is `offset` m above the plane of A; three equations.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.Loop.planar("base", "puck", offset=0.01)
        Loop('base-puck', planar, base -> puck, 3 equations)
        """
        return placed(cls, "planar", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, axis_b=axis_b,
                      offset=offset, reference_a=reference_a, name=name)  # fmt: skip

    @classmethod
    def screw(cls, a: Any, b: Any, *, pitch: float, phase: float = 0.0, point_a: ArrayLike = (0, 0, 0),
              point_b: ArrayLike = (0, 0, 0), axis_a: ArrayLike = (0, 0, 1), axis_b: ArrayLike = (0, 0, 1),
              reference_a: ArrayLike | None = None, reference_b: ArrayLike | None = None,
              name: str | None = None) -> Self:  # fmt: skip
        """A nut: B moves `pitch` m along the axis per turn, five equations. Which turn it is on, the start tells.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.Loop.screw("spindle", "nut", pitch=2e-3, reference_a=(1, 0, 0), reference_b=(1, 0, 0))
        Loop('spindle-nut', screw, spindle -> nut, 5 equations)
        """
        return placed(cls, "screw", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, axis_b=axis_b,
                      reference_a=reference_a, reference_b=reference_b, pitch=pitch, phase=phase,
                      name=name)  # fmt: skip

    @classmethod
    def weld(cls, a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
             axis_a: ArrayLike = (0, 0, 1), axis_b: ArrayLike = (0, 0, 1), reference_a: ArrayLike | None = None,
             reference_b: ArrayLike | None = None, rotation_a: Any = None, rotation_b: Any = None,
             name: str | None = None) -> Self:  # fmt: skip
        """No motion of B against A, six equations.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> zv.Loop.weld("left", "right", point_a=(0.1, 0, 0), rotation_a=np.eye(3), rotation_b=np.eye(3))
        Loop('left-right', weld, left -> right, 6 equations)
        """
        return placed(cls, "weld", a, b, point_a=point_a, point_b=point_b, axis_a=axis_a, axis_b=axis_b,
                      reference_a=reference_a, reference_b=reference_b, rotation_a=rotation_a, rotation_b=rotation_b,
                      name=name, turning=True)  # fmt: skip

    @classmethod
    def distance(cls, a: Any, b: Any, *, length: Timed, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
                 name: str | None = None) -> Self:  # fmt: skip
        """A massless rod between two points, one equation; `length` m, or t -> (length, rate, second rate).

        Examples
        --------
        >>> import zveno as zv
        >>> zv.Loop.distance("base", "coupler", length=0.35, point_b=(0.3, 0, 0))
        Loop('base-coupler', distance, base -> coupler, 1 equation)
        """
        return placed(cls, "distance", a, b, point_a=point_a, point_b=point_b, length=length, name=name)
