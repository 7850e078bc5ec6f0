"""`Hexapod`: six legs that carry a platform. The numbers are worked out by the C++ base class.

Rotations are matrices that map components in a local frame to components in its reference frame, so the columns of a
leg's `base_frame` are the axes of its first joint frame in base axes: the transposes of the matrices of Golubev &
Yaskevich (000).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Self, SupportsIndex, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import Array, Fail, _is_name, _show, as_vector, frozen
from .._record import model_fields
from .._rotation import IDENTITY, as_rotation
from ..codegen.function import CompiledFunction, TracedFunction, TraceOptions, compile_function, trace_function
from ..errors import ModelError, SingularityError, UnreachableError
from ..kinematics import hexapods as kinematics
from ..opcount import OpCount
from ..results import RingPose, Singularity
from .body import Body
from .frames import NominalPose, complete
from .leg import Leg

if TYPE_CHECKING:
    from ..sim.simulation import Laws, Simulation, Wrench

__all__ = ["Hexapod"]

_FORMAT: Final = "zveno.hexapod"
_VERSION: Final = 1
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
        return frozen(np.array([leg.lower for leg in self._legs]))

    @property
    def upper(self) -> Array:
        """Upper limits of the actuated coordinates, (6,) m or rad, inf where there is none."""
        return frozen(np.array([leg.upper for leg in self._legs]))

    @property
    def radius(self) -> float:
        """Mean distance of the ring hinges from the ring's centre of mass, m."""
        return float(np.mean([np.linalg.norm(leg.ring) for leg in self._legs]))

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a JSON-safe dictionary, every frame filled in.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> import json
        >>> ring = zv.mechanisms.docking_ring("SPU")
        >>> zv.Hexapod.from_dict(json.loads(json.dumps(ring.to_dict()))) == ring
        True
        """
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
        what = "Hexapod.from_dict"
        parts = model_fields(what, data, _FORMAT, _VERSION, ("name", "gravity", "nominal", "platform", "legs"))
        if not isinstance(parts["legs"], list | tuple):
            raise ModelError(f"{what}: legs is {_show(parts['legs'])}, expected a list")
        parts["platform"] = Body.from_dict(parts["platform"])
        parts["legs"] = [Leg.from_dict(item) for item in parts["legs"]]
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

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> r, R = ring.nominal
        >>> pose = ring.forward_kinematics([0.01, 0, 0, 0, 0, 0])  # one strut 1 cm longer
        >>> np.allclose(ring.closure(pose.r, pose.R)[:, 2], [0.01, 0, 0, 0, 0, 0])
        True
        >>> (1e3 * (pose.r - r)).round(2)  # mm
        array([ 2.15, -3.71,  3.7 ])
        """
        return kinematics.forward_kinematics(self, strokes, start, on_error, threads)

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

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> r, R = ring.nominal
        >>> poses = ring.forward_kinematics_all(np.zeros(6))
        >>> len(poses.r) > 1  # other poses have the same strokes
        True
        >>> np.allclose(ring.closure(poses.r, poses.R)[..., 2], 0, atol=1e-9)
        True
        """
        return kinematics.all_poses(self, strokes, start, reach, tilt, tries, seed)

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

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> r, R = ring.nominal
        >>> float(ring.singularity(r, R).condition.round(2))
        1.72
        >>> float(ring.singularity([0.01, 0, 0], R).condition.round(1))  # nearly flat
        45.7
        """
        return kinematics.singularity(self, r, R, on_error, threads)

    def status(self, r: ArrayLike, R: ArrayLike, *, threads: SupportsIndex | None = None) -> NDArray[np.int16]:
        """0 where the mechanism can take a pose, else a code for `explain`. (...,)

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("RSU")
        >>> r, R = ring.nominal
        >>> status = ring.status([r, r + [2, 0, 0]], R)
        >>> [ring.explain(s) for s in status]
        ['computed', "leg 'leg1' cannot reach its hinge: crank and coupler do not meet"]
        """
        _, status = self._measures(r, R, on_error="nan", threads=threads)
        return status

    def explain(self, status: SupportsIndex) -> str:
        """A status in words, with the name of the leg.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("RSU")
        >>> r, R = ring.nominal
        >>> ring.explain(ring.status(r + [2, 0, 0], R))
        "leg 'leg1' cannot reach its hinge: crank and coupler do not meet"
        """
        return kinematics.explain(status, self)

    def workspace(
        self,
        axes: Sequence[str] = ("y", "z"),
        extent: Sequence[float] = (0.3, 0.3),
        points: int | Sequence[int] = 101,
        *,
        centre: Any = None,
        threads: SupportsIndex | None = None,
    ) -> kinematics.Workspace:
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

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> r, R = ring.nominal
        >>> ws = ring.workspace(("y", "tilt z"), (0.2, 0.4), 21)
        >>> ws.usable.shape, bool(ws.usable[10, 10])  # the middle is the nominal pose
        ((21, 21), True)
        """
        return kinematics.workspace(self, axes, extent, points, centre, threads)

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

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> r, R = ring.nominal
        >>> print(ring.operations(0))  # one leg
        600 operations: 351 mul, 243 add, 2 div, 2 sqrt, 2 trig
        >>> print(ring.operations())  # six legs, ring and solve
        4108 operations: 2285 mul, 1781 add, 18 div, 12 sqrt, 12 trig
        """
        return kinematics.operations(self, leg, moving=moving, free=free)

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
        """Motion of the ring in time on a fixed base: `zveno.simulation.simulate`, where the options are described.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> r, R = ring.nominal
        >>> law = zv.laws.SpringDamper(400.0, 80.0)
        >>> sim = ring.simulate(2.0, 1e-3, u=[-0.08, 0, 0, 0, 0, 0], laws=law)
        >>> sim
        Simulation('docking_ring UPS (made-up data)', 2001 states from t = 0 to 2 s, rk4, dt = 0.001 s)
        >>> bool(np.abs(sim.energy_error).max() < 1e-6 * sim.kinetic_energy[0])  # energy is accounted for
        True
        """
        from ..sim.simulation import simulate

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
        return as_vector(nominal[0], fail, "r of nominal"), as_rotation(nominal[1], fail, "R of nominal")
    return as_vector(nominal, fail, "nominal"), IDENTITY
