"""`Hexapod`: six legs that carry a platform. The numbers are worked out by the C++ base class.

Rotations are matrices that map components in a local frame to components in its reference frame, so the columns of a
leg's `base_frame` are the axes of its first joint frame in base axes: the transposes of the matrices of Golubev &
Yaskevich.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import Array, Fail, _is_name, _show, as_vector, frozen
from .._rotation import IDENTITY, as_rotation
from ..errors import ModelError, SingularityError, UnreachableError
from ..kinematics import hexapods as kinematics
from ..sim import simulation
from .body import Body
from .frames import NominalPose, complete
from .leg import Leg
from .mechanism import Mechanism

__all__ = ["Hexapod"]

_ORIGIN: Final = (0.0, 0.0, 0.0)


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


class Hexapod(Mechanism, _core.Hexapod):
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

    _format = "zveno.hexapod"
    _fields = ("name", "gravity", "nominal", "platform", "legs")
    _parts: ClassVar = {"platform": Body, "legs": Leg}
    _many = "legs"
    _part = "leg"

    def __init__(
        self,
        platform: Body,
        legs: Iterable[Leg],
        *,
        nominal: Any = None,
        gravity: ArrayLike = _ORIGIN,
        name: str = "hexapod",
    ) -> None:
        self._assemble(name, gravity, nominal, platform, legs)

    def _assemble(self, name: str, gravity: ArrayLike, nominal: Any, platform: Body, legs: Iterable[Leg]) -> None:
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

        g = as_vector(gravity, fail, "gravity")
        pair = _as_pose(nominal, fail) if nominal is not None else None
        pose = NominalPose(*pair, listed) if pair is not None else None
        resolved = tuple(complete(leg, text, pose) for leg, text in zip(listed, names, strict=True))
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
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the model of `to_dict`; every key is checked, an unknown one is a `ModelError`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> heavier = ring.to_dict()
        >>> heavier["platform"]["mass"] = 90.0
        >>> print(zv.Hexapod.from_dict(heavier))
        Hexapod 'docking_ring UPS (made-up data)': 6 UPS legs, 90.0 kg ring, 39.0 kg legs
        """
        return cls._read(data)

    forward_kinematics = kinematics.forward_kinematics
    forward_kinematics_all = kinematics.forward_kinematics_all
    operations = kinematics.operations
    simulate = simulation.simulate
    singularity = kinematics.singularity
    status = kinematics.status
    workspace = kinematics.workspace

    def __repr__(self) -> str:
        kinds = " and ".join(f"{count} {kind}" for kind, count in Counter(leg.type for leg in self._legs).items())
        legs = sum(leg.mass for leg in self._legs)
        return f"Hexapod '{self._name}': {kinds} legs, {self._platform.mass:.1f} kg ring, {legs:.1f} kg legs"


def _as_pose(nominal: Any, fail: Fail) -> tuple[Array, Array]:
    """The nominal pose (r, R) from r alone or both."""
    if isinstance(nominal, list | tuple) and len(nominal) == 2:
        return as_vector(nominal[0], fail, "r of nominal"), as_rotation(nominal[1], fail, "R of nominal")
    return as_vector(nominal, fail, "nominal"), IDENTITY
