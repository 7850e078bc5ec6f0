"""Named results of calls that return several arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core

__all__ = ["Derivatives", "HexapodDynamics", "RingPose", "Singularity"]

Array = NDArray[np.float64]


class Derivatives(NamedTuple):
    """First derivatives of the joint efforts tau(q, qd, qdd); element [i, j] is d tau_i / d x_j.

    None for those that ``outputs=`` did not ask for.
    """

    dtau_dq: NDArray[np.float64]
    dtau_dqd: NDArray[np.float64]
    dtau_dqdd: NDArray[np.float64]


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
        """Return contiguous copies of all arrays by name."""
        return {name: np.array(getattr(self, name)) for name in self.outputs}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._data, self._joints, self._free, self._outputs, self._status)

    def __repr__(self) -> str:
        shape = self._data.shape[:-1]
        rows = f"{shape} states" if shape else f"{self.outputs[0]} {getattr(self, self.outputs[0])}"
        failed = int(np.count_nonzero(~self.ok))
        return f"HexapodDynamics({rows}{f', {failed} failed' if failed else ''})"


def _restore(data: Array, joints: int, free: int, outputs: int, status: NDArray[np.int16] | None) -> HexapodDynamics:
    result = HexapodDynamics()
    result._data, result._joints, result._free, result._outputs, result._status = data, joints, free, outputs, status
    return result


class RingPose(NamedTuple):
    """Pose of the ring found by `Hexapod.forward_kinematics`.

    `residual` is the largest difference of an actuated coordinate, by the closed form, from the wanted one: the proof
    that this is a solution. Rows that did not converge hold NaN with ``on_error="nan"``.
    """

    r: Array
    R: Array
    residual: Array
    iterations: NDArray[np.int32]


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
