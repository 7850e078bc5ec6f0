"""Named results of calls that return several arrays."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._check import as_integer
from ._html import html_table

__all__ = [
    "ClosedFormSolutions",
    "ConstraintDerivatives",
    "Derivatives",
    "ForwardDerivatives",
    "HexapodDynamics",
    "InverseKinematics",
    "JacobianMeasures",
    "JointForces",
    "JointRates",
    "LinkageDynamics",
    "PayloadCapacity",
    "RingPose",
    "SecondDerivatives",
    "Singularity",
]

Array = NDArray[np.float64]

# units of the linear and the angular half of six components; of joints and their constraints either is possible
_UNITS: Final = {
    "acceleration": ("m/s^2", "rad/s^2"),
    "base_wrench": ("N", "N m"),
    "base_acceleration": ("m/s^2", "rad/s^2"),
    "joint_position": ("m or rad",),
    "joint_velocity": ("m/s or rad/s",),
    "joint_acceleration": ("m/s^2 or rad/s^2",),
    "reaction": ("N or N m",),
}


def _largest(array: NDArray[Any]) -> str:
    """The largest magnitude of what was computed."""
    known = np.abs(array[np.isfinite(array)])
    return f"{known.max():.4g}" if known.size else "nothing"


def _rows(arrays: Mapping[str, NDArray[Any]]) -> list[tuple[str, str, str]]:
    """Name, shape and peak of arrays."""
    rows = []
    for name, array in arrays.items():
        units = _UNITS.get(name, ())
        parts = np.split(array, 2, axis=-1) if len(units) == 2 else [array]
        peaks = (_largest(part) for part in parts)
        texts = (f"{peak} {unit}" for peak, unit in zip(peaks, units or [""], strict=True))
        rows.append((name, str(array.shape), ", ".join(texts).strip()))
    return rows


_HEADER: Final = ("", "shape", "up to")
_UNIQUE: Final = 1e-16  # of squares


class ConstraintDerivatives(NamedTuple):
    """First derivatives of the efforts G'N and of the rates f'', f' of constraints, by q.

    None for those that ``outputs=`` did not ask for.
    """

    dforce_dq: NDArray[np.float64]
    dfdd_dq: NDArray[np.float64]
    dfd_dq: NDArray[np.float64]

    def _repr_html_(self) -> str:
        arrays = {name: array for name, array in self._asdict().items() if array is not None}
        return html_table("Derivatives of the constraints", _rows(arrays), _HEADER)


class Derivatives(NamedTuple):
    """First derivatives of the joint efforts tau(q, qd, qdd); element [i, j] is d tau_i / d x_j.

    None for those that ``outputs=`` did not ask for.
    """

    dtau_dq: NDArray[np.float64]
    dtau_dqd: NDArray[np.float64]
    dtau_dqdd: NDArray[np.float64]

    def _repr_html_(self) -> str:
        arrays = {name: array for name, array in self._asdict().items() if array is not None}
        return html_table("Derivatives of the joint efforts", _rows(arrays), _HEADER)


class ForwardDerivatives(NamedTuple):
    """First derivatives of the joint accelerations qdd(q, qd, tau); element [i, j] is d qdd_i / d x_j.

    None for those that ``outputs=`` did not ask for.
    """

    dqdd_dq: NDArray[np.float64]
    dqdd_dqd: NDArray[np.float64]
    dqdd_dtau: NDArray[np.float64]

    def _repr_html_(self) -> str:
        arrays = {name: array for name, array in self._asdict().items() if array is not None}
        return html_table("Derivatives of the joint accelerations", _rows(arrays), _HEADER)


_NOTE: Final = np.dtype(
    [
        ("squares", np.float32, 2),
        ("configuration", np.int8, 3),
        ("singular", np.int8),
        ("branch", np.uint8),
        ("multiplicity", np.uint8),
        ("reserved", np.uint8, 2),
    ]
)


class ClosedFormSolutions(_core.ClosedFormBase):
    """Result of `Chain.ik_all`: every solution of one pose, or those of many poses one after another.

    Solutions of a pose are in the order of their branches; ``s.of(i)`` are those of pose i of a batch. ``q`` (k, n),
    rad or m, is there at once, the other arrays are made when they are asked for.
    """

    __slots__ = ()
    _fields = (
        "q",
        "configuration",
        "singular",
        "free",
        "branch",
        "multiplicity",
        "residual",
        "first",
        "missing",
        "outside",
    )

    @classmethod
    def _made(cls, q: Any, notes: Any, first: Any, missing: Any, outside: Any, free: Any) -> "ClosedFormSolutions":
        made = cls()
        made.q, made._notes, made._first, made._missing, made._outside, made._reach = (
            q,
            notes,
            first,
            missing,
            outside,
            free,
        )
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        notes = np.frombuffer(self._notes, np.uint8).reshape(-1, _NOTE.itemsize)
        return self._made, (self.q, notes, self.first, self.missing, self.outside, self.free)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, name) for name in self._fields)

    def __repr__(self) -> str:
        return f"ClosedFormSolutions({len(self.q)} solutions of {self.missing.size} poses, q={self.q!r})"

    def _note(self, name: str) -> NDArray[Any]:
        notes: NDArray[Any] = np.frombuffer(self._notes, _NOTE)
        return np.ascontiguousarray(notes[name])

    @property
    def configuration(self) -> NDArray[np.int8]:
        """(k, 3) signs of shoulder, elbow and wrist; 0 where one is singular, or has no meaning for the arm."""
        return self._note("configuration")

    @property
    def singular(self) -> NDArray[np.int8]:
        """(k,) bits: 1 shoulder, 2 elbow, 4 wrist, 8 the Jacobian."""
        return self._note("singular")

    @property
    def free(self) -> NDArray[np.float64]:
        """(k, n) direction in which a singular solution may be moved, zero for the others."""
        if not isinstance(self._reach, _core.Reach):
            return np.asarray(self._reach)
        free = np.zeros(self.q.shape)
        for i in np.flatnonzero(self.singular & 8):
            free[i] = self._reach.free(self.q[i].tolist())
        return free

    @property
    def branch(self) -> NDArray[np.int32]:
        """(k,) number of the branch of its pose; those that differ by whole turns have the same."""
        return self._note("branch").astype(np.int32)

    @property
    def multiplicity(self) -> NDArray[np.int32]:
        """(k,) branches that meet in the solution."""
        return self._note("multiplicity").astype(np.int32)

    @property
    def residual(self) -> NDArray[np.float64]:
        """(k, 2) difference of its pose from the wanted one, m and rad, to 7 digits."""
        return np.sqrt(self._note("squares").astype(np.float64))

    @property
    def first(self) -> NDArray[np.int64]:
        """(poses + 1,) where the solutions of a pose begin."""
        return np.array([0, len(self.q)]) if self._first is None else self._first

    @property
    def missing(self) -> NDArray[np.float64]:
        """(...) how far a pose without solution is from reach, m or rad; 0 for the others, nan if it is not known."""
        return np.asarray(self._missing)

    @property
    def outside(self) -> NDArray[np.int32]:
        """(...) branches that no whole turns bring inside of the limits."""
        return np.asarray(self._outside, np.int32)

    @property
    def names(self) -> list[str]:
        """Configurations in words, as ``"+ - +"``; a singular part is ``0``."""
        return [" ".join("0+-"[int(sign)] for sign in row) for row in self.configuration]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Solutions of each pose (...,)."""
        return np.diff(self.first).reshape(self.missing.shape)

    def of(self, pose: SupportsIndex) -> "ClosedFormSolutions":
        """The solutions of one pose of a batch, by its number in the flattened leading shape.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.puma560()
        >>> T = arm.pose([[0.1, -0.5, 0.4, 0.2, 0.6, 0.0], [0.3, -0.4, 0.2, 0.5, -0.6, 0.1]], "tool")
        >>> found = arm.ik_all(T)
        >>> bool(len(found.of(1).q) == found.counts[1])
        True
        """
        i = as_integer("of", "pose", pose, 0, self.missing.size - 1)
        part = slice(int(self.first[i]), int(self.first[i + 1]))
        notes = np.frombuffer(self._notes, np.uint8).reshape(-1, _NOTE.itemsize)[part]
        free = self._reach if isinstance(self._reach, _core.Reach) else self.free[part]
        missing, outside = self.missing.reshape(-1)[i], self.outside.reshape(-1)[i]
        return self._made(self.q[part], notes, None, float(missing), int(outside), free)

    def _repr_html_(self) -> str:
        rows = [
            (name, ", ".join(f"{x:.6g}" for x in q))
            for name, q in zip(self.names[:40], self.q[:40].tolist(), strict=True)
        ]
        return html_table(f"{len(self.q)} solutions", rows, ("configuration", "q"))


class InverseKinematics(NamedTuple):
    """Result of `Chain.ik`: one solution for each target. Rows that failed (``on_error="nan"``) hold NaN in q."""

    q: NDArray[np.float64]
    """(..., n), rad or m."""
    status: NDArray[np.int8]
    """(...) 0 where it was found, 1 not found, 2 only outside of the joint limits, 3 out of reach by the closed form,
    4 not finite, 5 not a rotation; of a path 6 found on another branch, 7 the same at a singularity."""
    residual: NDArray[np.float64]
    """(..., 2) what is left of the way to the target, m and rad."""
    iterations: NDArray[np.int32]
    """(...) steps of all starts, 0 of a closed form."""
    starts: NDArray[np.int32]
    """(...) starts that were made; of a path the parts of a step."""

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Rows that were solved (...,)."""
        return np.asarray(self.status == 0)

    def _repr_html_(self) -> str:
        return html_table("Inverse kinematics", _rows(self._asdict()), _HEADER)


class JacobianMeasures(NamedTuple):
    """Result of `Chain.manipulability`: singular values of a Jacobian and what follows from them."""

    singular_values: NDArray[np.float64]
    """(..., k), descending."""
    manipulability: NDArray[np.float64]
    """(...) their product, sqrt(det J J') for no fewer joints than components."""
    condition: NDArray[np.float64]
    """(...) the largest over the smallest, infinite at a singularity."""
    distance: NDArray[np.float64]
    """(...) the smallest: distance of the Jacobian from the nearest singular matrix."""
    direction: NDArray[np.float64]
    """(..., 6) motion that is the hardest to make, lost at a singularity: unit length, scaled components [v; w]."""
    d_manipulability: NDArray[np.float64]
    """(..., n) derivatives by q; None unless they were asked for."""
    d_condition: NDArray[np.float64]
    """(..., n)"""
    d_distance: NDArray[np.float64]
    """(..., n)"""

    def _repr_html_(self) -> str:
        arrays = {name: array for name, array in self._asdict().items() if array is not None}
        return html_table("Manipulability", _rows(arrays), _HEADER)


class JointForces(NamedTuple):
    """Result of `Chain.joint_forces` and `Chain.statics`: what passes through the joints."""

    force: NDArray[np.float64]
    """(..., n, 3), N: of the parent on the child."""
    moment: NDArray[np.float64]
    """(..., n, 3), N m."""
    tau: NDArray[np.float64]
    """(..., n), N m or N: efforts of the drives."""
    base_wrench: NDArray[np.float64]
    """(..., 6), N and N m: of the mechanism on its base, about the base origin, world axes."""

    def _repr_html_(self) -> str:
        return html_table("Forces in the joints", _rows(self._asdict()), _HEADER)


class JointRates(NamedTuple):
    """Result of `Chain.inverse_velocity` and `Chain.inverse_acceleration`.

    Rows that failed (``on_error="nan"``) hold NaN in qd.
    """

    qd: NDArray[np.float64]
    """(..., n), rad/s or m/s; accelerations, if those were asked for."""
    status: NDArray[np.int8]
    """(...) 0 where they were found, 1 where limits take away a part of the motion, 2 singular, 3 not decided."""
    residual: NDArray[np.float64]
    """(..., 6) wanted motion less the motion that is made, m/s and rad/s; 0 for components that are not held."""
    distance: NDArray[np.float64]
    """(...) smallest singular value of the scaled Jacobian."""
    damping: NDArray[np.float64]
    """(...) mu that was used, 0 away from singularities."""

    @property
    def qdd(self) -> NDArray[np.float64]:
        """The same as qd, of `Chain.inverse_acceleration`."""
        return self.qd

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Rows whose motion is made, but for damping (...,)."""
        return np.asarray(self.status == 0)

    def _repr_html_(self) -> str:
        return html_table("Joint rates", _rows(self._asdict()), _HEADER)


class PayloadCapacity(NamedTuple):
    """Result of `Chain.payload_capacity`: the heaviest point mass that the drives can carry."""

    mass: NDArray[np.float64]
    """(...), kg; 0 where the arm does not even carry itself, infinite where no drive feels the payload."""
    limited_by: NDArray[np.int64]
    """(...) index of the joint whose drive sets the limit, -1 where none does."""
    tau: NDArray[np.float64]
    """(..., n), N m or N: efforts without payload."""
    slope: NDArray[np.float64]
    """(..., n), N m/kg or N/kg: efforts by mass of the payload."""

    def _repr_html_(self) -> str:
        return html_table("Payload", _rows(self._asdict()), _HEADER)


class HexapodDynamics(_core.HexapodDynamicsBase):
    """Result of `Hexapod.forward_dynamics` and `forward_dynamics_free`.

    All numbers of a state stand together in memory; the attributes are views: ``acceleration``, ``base_wrench``,
    ``joint_position``, ``joint_velocity``, ``joint_acceleration``, ``reaction`` and, on a free base,
    ``base_acceleration``, as far as they were asked for (``outputs``). Rows that failed (``on_error="nan"``) hold NaN.
    """

    __slots__ = ()

    @property
    def joints(self) -> int:
        """Number of places for joints of a leg, nj."""
        return self._joints

    @property
    def status(self) -> NDArray[np.int16]:
        """0 where a row was computed; `Hexapod.explain` puts other codes into words. (...,)"""
        return np.zeros(self._data.shape[:-1], np.int16) if self._status is None else self._status

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Rows that were computed (...,)."""
        return np.asarray(self.status == 0)

    def to_dict(self) -> dict[str, Array]:
        """Return contiguous copies of all arrays by name.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring, zero = zv.mechanisms.docking_ring("UPS"), np.zeros(6)
        >>> list(ring.forward_dynamics(*ring.nominal, zero, zero, zero).to_dict())
        ['acceleration', 'base_wrench', 'joint_position', 'joint_velocity', 'joint_acceleration', 'reaction']
        """
        return {name: np.array(getattr(self, name)) for name in self.outputs}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._data, self._joints, self._free, self._outputs, self._status)

    def _title(self) -> str:
        shape = self._data.shape[:-1]
        failed = int(np.count_nonzero(~self.ok))
        states = f"{shape} states" if shape else "one state"
        return f"HexapodDynamics({states}{f', {failed} failed' if failed else ''})"

    def _peaks(self) -> list[tuple[str, str, str]]:
        return _rows({name: getattr(self, name) for name in self.outputs})

    def __repr__(self) -> str:
        rows = self._peaks()
        widths = [max(len(row[i]) for row in rows) for i in range(2)]
        lines = (f"  {name:<{widths[0]}}  {shape:<{widths[1]}}  up to {peak}" for name, shape, peak in rows)
        return "\n".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._peaks(), _HEADER)


class LinkageDynamics(NamedTuple):
    """Result of `Linkage.forward_dynamics`; None for what ``outputs=`` did not ask for.

    Reactions that redundant constraints leave open are the least ones over all joints (L22); `unique` and
    `loop_unique` tell which components do not depend on that.
    """

    qdd: Array
    multiplier: Array
    loop_reaction: Array
    reaction: Array
    ambiguity: Array
    loop_ambiguity: Array

    @property
    def unique(self) -> NDArray[np.bool_]:
        """Components of `reaction` that are determined by the motion alone (..., n, 6)."""
        return self._determined("ambiguity")

    @property
    def loop_unique(self) -> NDArray[np.bool_]:
        """Components of `loop_reaction` that are determined by the motion alone (..., k, 6)."""
        return self._determined("loop_ambiguity")

    def _determined(self, name: str) -> NDArray[np.bool_]:
        ambiguity = getattr(self, name)
        if ambiguity is None:
            raise AttributeError(f"{name} was not asked for: it is not among the outputs of the call")
        return np.asarray(ambiguity <= _UNIQUE)

    @property
    def metric(self) -> str:
        """What is least where reactions are not unique: 'all', over the joints of the tree and of the loops."""
        return "all"

    def _repr_html_(self) -> str:
        arrays = {name: array for name, array in self._asdict().items() if array is not None}
        return html_table("Dynamics of a linkage", _rows(arrays), _HEADER)


def _restore(data: Array, joints: int, free: int, outputs: int, status: NDArray[np.int16] | None) -> HexapodDynamics:
    result = HexapodDynamics()
    result._data, result._joints, result._free, result._outputs, result._status = data, joints, free, outputs, status
    return result


class RingPose(NamedTuple):
    """Pose of the ring found by `Hexapod.forward_kinematics`.

    `residual` is the largest difference of an actuated coordinate, by the closed form, from the wanted one: the proof
    that this is a solution. `status` (...,) is 0 where one was found; `Hexapod.explain` puts other codes into words.
    With ``on_error="nan"`` rows that did not converge hold NaN in `r`, `R` and `residual`.
    """

    r: Array
    R: Array
    residual: Array
    iterations: NDArray[np.int32]
    status: NDArray[np.int16]

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Poses that were found (...,)."""
        return np.asarray(self.status == 0)

    def _repr_html_(self) -> str:
        failed = int(np.count_nonzero(~self.ok))
        title = f"RingPose({self.status.shape or 'one pose'}{f', {failed} failed' if failed else ''})"
        return html_table(title, _rows(self._asdict()), _HEADER)


class SecondDerivatives(NamedTuple):
    """Second derivatives of nu . tau, nu the weights and tau(q, qd, qdd) the joint efforts.

    Element [i, j] of ``H_xy`` is d^2 (nu . tau) / dx_i dy_j; ``H_qq`` and ``H_qdqd`` are symmetric. None for those that
    ``outputs=`` did not ask for.
    """

    H_qq: NDArray[np.float64]
    H_qqd: NDArray[np.float64]
    H_qdqd: NDArray[np.float64]
    H_qqdd: NDArray[np.float64]

    def _repr_html_(self) -> str:
        arrays = {name: array for name, array in self._asdict().items() if array is not None}
        return html_table("Second derivatives of weighted joint efforts", _rows(arrays), _HEADER)


class Singularity(NamedTuple):
    """How far a pose is from losing a degree of freedom.

    `condition` (...,): condition number of the actuated Jacobian, rotations scaled by the ring radius. `leg` (..., 6):
    the smallest factor of (38) of every leg, 0 at a singularity of the leg, 1 at best. `status` (...,): 0, or why there
    are no numbers.
    """

    condition: Array
    leg: Array
    status: NDArray[np.int16]

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Poses that could be evaluated (...,)."""
        return np.asarray(self.status == 0)

    def _repr_html_(self) -> str:
        return html_table("Distance from singularities", _rows(self._asdict()), _HEADER)
