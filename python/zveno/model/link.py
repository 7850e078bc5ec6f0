"""`Link`: a rigid body and the joint that carries it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _is_name, _show, as_array, as_number, as_range
from .._record import Record
from .._rotation import as_matrix, as_pose
from ..errors import ModelError
from .body import Body

__all__ = ["Link"]

KINDS: Final = ("revolute", "prismatic", "fixed")
_FIELDS: Final = (
    "name", "parent", "joint", "joint_name", "axis", "position", "rotation", "mass", "com", "inertia",
    "lower", "upper", "velocity", "effort", "rotor_inertia", "friction", "stiffness", "rest",
)  # fmt: skip
NO_JOINT: Final = {
    "lower": -math.inf,
    "upper": math.inf,
    "velocity": math.inf,
    "effort": math.inf,
    "rotor_inertia": 0.0,
    "friction": 0.0,
    "stiffness": 0.0,
    "rest": 0.0,
}


class Link(Record):
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
    rotation : (3, 3) array, object with ``.as_matrix()`` or ``{"quaternion": (w, x, y, z)}``
        Maps components in J to components in the parent frame.
    pose : (4, 4) array, object with ``.as_matrix()`` that is one, or pair (position, rotation), optional
        Both in one, instead of `position` and `rotation`.
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
    stiffness : float, N m/rad or N/m
    rest : float, rad or m
        Spring in the joint: it needs the additional effort ``stiffness * (q - rest)``.

    Examples
    --------
    >>> Link("arm", axis=(0, 1, 0), position=(0, 0, 0.3), mass=4.0, com=(0, 0, 0.2), inertia=(0.1, 0.1, 0.02))
    Link('arm', revolute about (0, 1, 0) at (0, 0, 0.3), 4 kg, com (0, 0, 0.2))
    """

    __slots__ = _FIELDS
    _limits = ("lower", "upper", "velocity", "effort")

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
    stiffness: float
    rest: float

    def __init__(
        self,
        name: str,
        *,
        parent: str | None = None,
        joint: str = "revolute",
        joint_name: str | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        position: ArrayLike | None = None,
        rotation: Any = None,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = 0.0,
        lower: float = -math.inf,
        upper: float = math.inf,
        velocity: float = math.inf,
        effort: float = math.inf,
        rotor_inertia: float = 0.0,
        friction: float = 0.0,
        stiffness: float = 0.0,
        rest: float = 0.0,
        pose: Any = None,
    ) -> None:
        if not _is_name(name):
            raise ModelError(f"Link: name is {_show(name)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"link {_show(name)}: {text}", name)

        for key, text in (("parent", parent), ("joint_name", joint_name)):
            if text is not None and not _is_name(text):
                fail(f"{key} is {_show(text)}, expected a non-empty string or None")
        if not isinstance(joint, str) or joint not in (*KINDS, "continuous"):
            fail(f"joint is {_show(joint)}, expected 'revolute', 'prismatic', 'fixed' or 'continuous'")

        if pose is not None and (position is not None or rotation is not None):
            fail("pose is given and so is position or rotation; expected one or the other")
        place, turn = (position, rotation) if pose is None else as_pose(pose, fail, "pose", exact=False)
        values: dict[str, Any] = {
            "name": name,
            "parent": parent,
            "joint": "revolute" if joint == "continuous" else joint,
            "joint_name": joint_name or f"{name}_joint",
            "axis": as_array(axis, fail, "axis", (3,)),
            "position": as_array((0.0, 0.0, 0.0) if place is None else place, fail, "position", (3,)),
            "mass": as_number(mass, fail, "mass"),
            "com": as_array(com, fail, "com", (3,)),
        }
        if not values["axis"].any():
            fail("axis is zero, expected a direction")
        values["rotation"] = as_matrix(np.eye(3) if turn is None else turn, fail, "rotation")
        tensor = as_array(inertia, fail, "inertia", (3, 3), (3,), ())
        if tensor.ndim < 2:
            tensor = np.diag(np.broadcast_to(tensor, 3))
            tensor.setflags(write=False)
        values["inertia"] = tensor

        values["lower"], values["upper"] = as_range(lower, upper, fail, "joint")
        for key, number in (("velocity", velocity), ("effort", effort)):
            values[key] = as_number(number, fail, key, infinite=True)
        joint_numbers = (rotor_inertia, friction, stiffness, rest)
        for key, number in zip(("rotor_inertia", "friction", "stiffness", "rest"), joint_numbers, strict=True):
            values[key] = as_number(number, fail, key)
        for key in ("velocity", "effort", "rotor_inertia", "friction", "stiffness"):
            if values[key] < 0:
                fail(f"{key} is {values[key]:g}, expected a number >= 0")
        if joint == "continuous" and (values["lower"], values["upper"]) != (-math.inf, math.inf):
            fail("a continuous joint has no lower or upper limit; use 'revolute'")
        if joint == "fixed":
            for key, default in NO_JOINT.items():
                if values[key] != default:
                    fail(f"{key} is {values[key]:g}, but the joint is fixed")

        super().__init__(**values)

    @classmethod
    def _check_keys(cls, data: Mapping[str, Any]) -> None:
        if not isinstance(data, Mapping):
            raise ModelError(f"Link.from_dict: got {_show(data)}, expected a dictionary")
        name = data.get("name")
        link = name if isinstance(name, str) else None
        for key in data:
            if key not in _FIELDS:
                raise ModelError(f"link {_show(name)}: unknown key {_show(key)}", link)
        if "name" not in data:
            raise ModelError("Link.from_dict: a link has no 'name'")

    @property
    def body(self) -> Body:
        """Mass, centre of mass and inertia as a `Body`."""
        return Body(self.mass, self.inertia, self.com)

    def _child_of(self, parent: str) -> Self:
        """The same link with its parent spelled out."""
        return self if self.parent == parent else self._with(parent=parent)

    def __repr__(self) -> str:
        how = {"revolute": f" about {_row(self.axis)}", "prismatic": f" along {_row(self.axis)}", "fixed": ""}[
            self.joint
        ]
        where = f" at {_row(self.position)}" + (f" of {_show(self.parent)}" if self.parent else "")
        com = f", com {_row(self.com)}" if self.mass else ""
        return f"Link({_show(self.name)}, {self.joint}{how}{where}, {self.mass:g} kg{com})"


def _row(vector: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in vector.tolist()) + ")"
