"""`Hexapod`: six legs that carry a platform. The numbers are worked out by the C++ base class.

Rotations are matrices that map components in a local frame to components in its reference frame, so the columns of a
leg's `base_frame` are the axes of its first joint frame in base axes: the transposes of the matrices of Golubev &
Yaskevich.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Self, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import (
    Array,
    Fail,
    MaybeNone,
    _is_name,
    _show,
    as_array,
    as_list,
    as_vector,
    common_lead,
    frozen,
    report,
)
from .._extras import optional
from .._html import html_table
from .._rotation import IDENTITY, applied, as_pose, shape_of
from ..errors import ModelError, SingularityError, UnreachableError
from ..identification.calls import hexapod_base_parameters, hexapod_regressor
from ..kinematics import hexapods as kinematics
from ..sim import simulation
from .body import Body
from .doubts import doubts
from .frames import NominalPose, complete
from .leg import Leg, point_text
from .mechanism import Mechanism
from .other_names import MechanismType

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..codegen.function import CompiledFunction, TraceOptions
    from ..results import HexapodDynamics

__all__ = ["Hexapod"]


_ORIGIN: Final = (0.0, 0.0, 0.0)
_NO_SHIFT: Final = frozen(np.zeros(3))


def _core_leg(leg: Leg, gravity: Array) -> tuple[Any, ...]:
    """A resolved leg as the compiled part takes it; a chain comes with the gravity of the hexapod."""
    chain = None if leg.chain is None else leg.chain.with_gravity(gravity)
    bodies = ((b.mass, b.com, b.inertia) if b is not None else (0.0, np.zeros(3), np.zeros((3, 3)))
              for b in (leg.inner, leg.outer))  # fmt: skip
    return (
        leg.type, leg.name, np.zeros(3) if leg.base is None else leg.base, leg.base_frame, leg.ring,
        leg.ring_frame, leg.crank_frame, leg.tip_frame, leg.inner_length, leg.outer_length, *bodies, leg.reflected,
        leg.elbow, leg.spin_branch, chain, leg.link or "", np.zeros(3) if leg.point is None else leg.point,
        leg.axis, leg.ring_axis, [] if leg.start is None else leg.start.tolist(), leg.actuated or "",
    )  # fmt: skip


class Hexapod(Mechanism, _core.Hexapod, metaclass=MechanismType):
    """Six legs between a base and a platform, the ring. Immutable; may be shared by threads.

    The state is the pose of the ring on the base and its rate:

    * ``r`` (3,), m: centre of mass of the ring in base axes; ``R`` (3, 3): ring axes to base axes,
    * ``u`` (6,): velocity of the centre of mass in base axes, m/s; angular velocity in ring axes, rad/s.

    Wrenches on the ring are [force in base axes; moment about the centre of mass in ring axes]; `wrench_at` makes them
    from a force at a point.

    Parameters
    ----------
    platform : Body
        The ring. Its frame may have any origin: ``platform.com`` is the centre of mass in it.
    legs : six Leg
        Their ``ring`` points are in the frame of the platform.
    nominal : (3,) array or pose, optional
        Place r or pose (r, R) of the platform's frame in which the mechanism is assembled, see Notes for the forms of a
        pose. It must be within reach of every leg.
    gravity : (3,) array, m/s^2
        In base axes; default zero.
    name : str
    strict : bool
        Raise `ModelError` for suspicious data (see `suspicions`) instead of a `ModelWarning`.

    Raises
    ------
    ModelError
        Not six legs, a platform without mass or inertia, a leg that does not close in the nominal pose, or a default
        that needs a nominal pose. ``.link`` is the name of the leg.

    Warns
    -----
    ModelWarning
        Numbers out of proportion, as lengths in millimetres make them: see `suspicions`.

    Notes
    -----
    The platform's own frame counts in this call alone. The hexapod keeps its axes, puts the origin into the centre of
    mass, and shifts ring hinges and nominal pose for you. From then on `legs`, `nominal`, every ``r`` that a function
    takes or returns, velocities and moments refer to the centre of mass, and ``platform.com`` is zero. `origin` knows
    where the frame's own origin is; `to_origin` and `from_origin` convert states, ``point + ring.origin`` converts
    points of the platform.

    A pose may be a pair (r, R), a 4x4 homogeneous matrix, an object whose ``.as_matrix()`` is one (SciPy's
    ``RigidTransform``), ``{"r": r, "quaternion": (w, x, y, z)}``, or a result with ``.r`` and ``.R``. A rotation may be
    a 3x3 matrix, an object with ``.as_matrix()`` (SciPy's ``Rotation``) or ``{"quaternion": (w, x, y, z)}``, scalar
    first and of length 1.

    What a leg leaves open is chosen in the nominal pose; the axis of the mechanism runs from the centre of the base
    hinges to that of the ring hinges.

    * `rod_length`: the stroke is zero.
    * `base_frame` of UPS, SPU, UCU: x along the leg, z = x cross the radius from the centre of the base hinges at right
      angles to the axis. The angles are zero.
    * `base_frame` of RUS, RSU: z against the axis, x towards the ring hinge at right angles to it. With `axis`: y along
      it, x towards the ring hinge at right angles to it.
    * `ring_frame` of SPU, UCU, RSU: along the `tip_frame` of the leg. The spin is zero.
    * `crank_frame`, `tip_frame`: identity.

    Examples
    --------
    A ring whose drawing has its origin 50 mm above the centre of mass:

    >>> import numpy as np, zveno as zv
    >>> drawn = zv.mechanisms.docking_ring("UPS")
    >>> c = np.array([-0.05, 0, 0])  # m, centre of mass in the frame of the drawing
    >>> platform = zv.Body(drawn.platform.mass, drawn.platform.inertia, com=c)
    >>> legs = [zv.Leg.from_dict(leg.to_dict() | {"ring": leg.ring + c}) for leg in drawn.legs]
    >>> ring = zv.Hexapod(platform, legs, nominal=(0.43, 0, 0))
    >>> ring.nominal[0].round(3)  # of the centre of mass
    array([0.38, 0.  , 0.  ])
    >>> ring.to_origin(*ring.nominal)[0].round(3)
    array([0.43, 0.  , 0.  ])
    """

    _format = "zveno.hexapod"
    _fields = ("name", "gravity", "nominal", "platform", "legs")
    _parts: ClassVar = {"platform": Body, "legs": Leg}
    _many = "legs"
    _part = "leg"
    _extra = ("note", "origin")

    def __init__(
        self,
        platform: Body,
        legs: Iterable[Leg],
        *,
        nominal: Any = None,
        gravity: ArrayLike = _ORIGIN,
        name: str = "hexapod",
        strict: bool = False,
    ) -> None:
        self._assemble(name, gravity, nominal, platform, legs)
        report([text for _, text in self.suspicions], f"Hexapod '{name}'", strict)

    regressor = hexapod_regressor
    base_parameters = hexapod_base_parameters

    if TYPE_CHECKING:

        @overload
        def compile(
            self, function: _core._HexapodArrays, **options: Unpack[TraceOptions]
        ) -> CompiledFunction[Array]: ...
        @overload
        def compile(
            self, function: _core._HexapodBlocks, **options: Unpack[TraceOptions]
        ) -> CompiledFunction[HexapodDynamics]: ...
        @overload
        def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction[Any]: ...
        def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction[Any]: ...

    def _assemble(
        self,
        name: str,
        gravity: ArrayLike,
        nominal: Any,
        platform: Body,
        legs: Iterable[Leg],
        origin: ArrayLike | None = None,
    ) -> None:
        """Check the arguments, move to the centre of mass, fill in what the legs leave open, build the C++ model."""
        self._require_new()
        if not _is_name(name):
            raise ModelError(f"Hexapod: name is {_show(name)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Hexapod '{name}': {text}")

        if not isinstance(platform, Body):
            fail(f"platform is {_show(platform)}, expected a Body")
        if not platform.mass > 0:
            fail(f"mass of the platform is {platform.mass:g}, expected a number > 0")
        smallest, _, largest = np.linalg.eigvalsh(platform.inertia).tolist()
        if not smallest > 1e-12 * largest:
            fail(f"inertia of the platform has the eigenvalue {smallest:.3g} kg m^2, expected all > 0")

        listed = as_list(legs)
        if listed is None:
            fail(f"legs is {_show(legs)}, expected six Leg")
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

        g = as_vector(gravity, fail, "gravity")
        pair = _as_pose(nominal, fail) if nominal is not None else None
        start = None if origin is None else as_vector(origin, fail, "origin")
        if platform.com.any():
            com = platform.com
            start = frozen(-com if start is None else start - com)
            listed = [leg._with(ring=frozen(leg.ring - com)) for leg in listed]
            platform = platform._with(com=frozen(np.zeros(3)))
            pair = pair and (frozen(pair[0] + applied(pair[1], com)), pair[1])
            if not any(leg.ring.any() for leg in listed):
                fail("ring of every leg is the centre of mass: hinges at one point cannot hold the platform")
        pose = NominalPose(*pair, listed) if pair is not None else None
        resolved = tuple(complete(leg, text, pose) for leg, text in zip(listed, names, strict=True))
        body = platform.mass, platform.inertia
        _core.Hexapod.__init__(self, name, body, g, [_core_leg(leg, g) for leg in resolved])
        self._platform, self._legs, self._nominal, self._gravity, self._name = platform, resolved, pair, g, name
        self._origin = start if start is not None and start.any() else None
        if pair is not None:
            try:
                self.closure(*pair)
            except (UnreachableError, SingularityError, FloatingPointError) as error:
                culprit = getattr(error, "leg", None)
                who = "a leg" if culprit is None else f"leg '{culprit}'"
                text = f"Hexapod '{name}': {who} does not close in the nominal pose: {error}"
                raise ModelError(text, culprit) from error

    @property
    def platform(self) -> Body:
        """The ring; its frame has the origin at the centre of mass."""
        return self._platform

    @property
    def origin(self) -> Array:
        """Origin of the frame in which the platform was given, from the centre of mass in ring axes, (3,) m, read-only.

        Minus the ``com`` of that platform, so zero if it had none. A point p of that frame is p + ``origin`` in ours.
        """
        return _NO_SHIFT if self._origin is None else self._origin

    def from_origin(self, r: Any, R: Any = None, u: ArrayLike | None = None) -> tuple[Array, ...]:
        """State of the ring, as every function takes it, from that of the platform's own origin; see `origin`.

        Parameters
        ----------
        r : (..., 3) array, m, or pose
            Place of the origin in base axes; with a whole pose (4x4 matrix, ...) without `R`.
        R : (..., 3, 3) array or another form of a rotation
            Ring axes to base axes.
        u : (..., 6) array, optional
            Velocity of the origin in base axes, m/s; angular velocity in ring axes, rad/s.

        Returns
        -------
        r, R : (..., 3), (..., 3, 3) arrays
            Of the centre of mass.
        u : (..., 6) array
            If it was given.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> data = zv.mechanisms.docking_ring("UPS").to_dict()
        >>> data["platform"]["com"] = [0.1, 0, 0]
        >>> for leg in data["legs"]:
        ...     leg["ring"][0] += 0.1
        >>> data["nominal"] = [0.28, 0, 0]
        >>> ring = zv.Hexapod.from_dict(data)
        >>> r, R, u = ring.from_origin((0.3, 0, 0), np.eye(3), (0, 0, 0, 0, 0, 2))  # turns about its own origin
        >>> r.round(3), u.round(3)
        (array([0.4, 0. , 0. ]), array([0. , 0.2, 0. , 0. , 0. , 2. ]))
        """
        return self._shifted("from_origin", r, R, u, -self.origin)

    def to_origin(self, r: Any, R: Any = None, u: ArrayLike | None = None) -> tuple[Array, ...]:
        """State of the platform's own origin from that of the centre of mass; undoes `from_origin`.

        Examples
        --------
        >>> import zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")  # whose origin is the centre of mass
        >>> ring.to_origin(*ring.nominal)[0]
        array([0.38, 0.  , 0.  ])
        """
        return self._shifted("to_origin", r, R, u, self.origin)

    def _shifted(self, function: str, r: Any, R: Any, u: Any, shift: Array) -> tuple[Array, ...]:
        """State of the point of the ring that is `shift` away, ring axes."""

        def fail(text: str) -> NoReturn:
            raise ValueError(f"{function}: {text}")

        place, turn = as_pose(r if R is None else (r, R), fail, "pose" if R is None else "state", lead=True)
        rate = np.zeros(6) if u is None else as_array(u, fail, "u", (6,), lead=True)
        shapes = {"r": place.shape[:-1], "R": turn.shape[:-2], "u": rate.shape[:-1]}
        lead = common_lead(fail, shapes)
        moved = np.empty((*lead, 3)), np.empty((*lead, 3, 3))
        moved[0][...], moved[1][...] = place + turn @ shift, turn
        if u is None:
            return moved
        velocity = np.empty((*lead, 6))
        velocity[...] = rate
        velocity[..., :3] += (turn @ np.cross(rate[..., 3:], shift)[..., None])[..., 0]
        return *moved, velocity

    @property
    def suspicions(self) -> list[tuple[str, str]]:
        """What looks wrong but can be computed with: (name of the leg or "", text).

        Reported as one `ModelWarning` when a hexapod is made, as a `ModelError` with ``strict=True``. Looked at are

        * ring hinges more than 20 m from the centre of mass: millimetres;
        * base and ring hinges on circles whose radii differ by more than a factor of 100;
        * a radius of gyration of the platform below 1/100 or above 300 times that of its hinges;
        * a platform denser than any material;
        * gravity of more than 1000 m/s^2;
        * in a leg a stroke, a housing and rod, a centre of mass or a radius of gyration above 10 times its length;
        * a crank that may turn by more than four turns: degrees;
        * a drive that adds more than 10^4 times the mass of everything to a stroke, 10^3 times that to a crank;
        * a nominal pose outside the limits of a leg: limits are those of the stroke, not of the distance of its hinges.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.mechanisms.docking_ring("UPS").suspicions
        []
        """
        return doubts(self)

    @property
    def legs(self) -> tuple[Leg, ...]:
        """The six legs with names, every frame filled in."""
        return self._legs

    @property
    def leg_names(self) -> tuple[str, ...]:
        """Names of the six legs."""
        return tuple(str(leg.name) for leg in self._legs)

    @property
    def nominal(self) -> tuple[Array, Array] | MaybeNone:
        """Pose (r, R) in which the mechanism is assembled, (3,) m and (3, 3), read-only; None if it was not given."""
        return self._nominal

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
        return frozen(np.array([leg.lower for leg in self._legs]))

    @property
    def upper(self) -> Array:
        """Upper limits of the actuated coordinates, (6,) m or rad, inf where there is none."""
        return frozen(np.array([leg.upper for leg in self._legs]))

    @property
    def radius(self) -> float:
        """Mean distance of the ring hinges from the ring's centre of mass, m."""
        return float(np.mean([np.linalg.norm(leg.ring) for leg in self._legs]))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Build the model of `to_dict`; every key is checked, an unknown one is a `ModelError`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> heavier = ring.to_dict()
        >>> heavier["platform"]["mass"] = 90.0
        >>> print(zv.Hexapod.from_dict(heavier))
        Hexapod 'docking_ring UPS': 6 UPS legs, 90.0 kg ring, 39.0 kg legs (made-up data)
        """
        made = cls._read(data)
        report([text for _, text in made.suspicions], f"Hexapod '{made.name}'", strict)
        return made

    forward_kinematics = kinematics.forward_kinematics
    forward_kinematics_all = kinematics.forward_kinematics_all
    operations = kinematics.operations
    simulate = simulation.simulate
    singularity = kinematics.singularity
    status = kinematics.status
    workspace = kinematics.workspace

    def plot(self, pose: Any = None, *, ax: Any = None) -> Figure:
        """Draw the hexapod in space. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        pose : (3,) array or pose, optional
            Place r of the ring's centre of mass, or (r, R) in any form of a pose. Default: the nominal one.
        ax : Axes3D, optional
            Default: new ones in a new figure.

        Returns
        -------
        figure : matplotlib Figure

        Examples
        --------
        >>> import zveno as zv
        >>> figure = zv.mechanisms.docking_ring("RSU").plot()
        >>> figure.axes[0].get_title()
        'docking_ring RSU'
        """

        def fail(text: str) -> NoReturn:
            raise ValueError(f"plot: {text}")

        if pose is None and self._nominal is None:
            fail(f"pose is missing, and hexapod '{self._name}' has no nominal pose")
        r, R = (None, None) if pose is None else _as_pose(pose, fail, "pose")
        if ax is not None and not hasattr(ax, "add_collection3d"):
            fail(f"ax is {_show(ax)}, expected Axes3D: `figure.add_subplot(projection='3d')`")
        drawing = optional("zveno.plot.mechanism", "Hexapod.plot", "matplotlib")
        figure: Figure = drawing.draw_mechanism(self, r, R, ax).figure
        return figure

    def __repr__(self) -> str:
        kinds = " and ".join(f"{count} {kind}" for kind, count in Counter(leg.type for leg in self._legs).items())
        legs = sum(leg.mass for leg in self._legs)
        ring = f"{self._platform.mass:.1f} kg ring"
        return self._with_note(f"Hexapod '{self._name}': {kinds} legs, {ring}, {legs:.1f} kg legs")

    def _repr_html_(self) -> str:
        rows = []
        for leg in self._legs:
            base = "" if leg.base is None else point_text(leg.base)
            rows.append((str(leg.name), leg.type, base, point_text(leg.ring), f"{leg.mass:g}", leg._drive))
        return html_table(repr(self), rows, ("leg", "type", "base hinge, m", "ring hinge, m", "mass, kg", "drive"))


def _as_pose(pose: Any, fail: Fail, what: str = "nominal") -> tuple[Array, Array]:
    """A pose (r, R) from r alone or in any of its forms."""
    if shape_of(pose) == (3,):
        return as_vector(pose, fail, what), IDENTITY
    r, R = as_pose(pose, fail, what)
    return as_vector(r, fail, f"r of {what}"), R
