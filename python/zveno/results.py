"""Named results of calls that return several arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core

__all__ = ["Derivatives", "HexapodDynamics", "RingPose", "Singularity"]

Array = NDArray[np.float64]


class Derivatives(NamedTuple):
    """First derivatives of the joint efforts tau(q, qd, qdd); element [i, j] is d tau_i / d x_j."""

    dtau_dq: NDArray[np.float64]
    dtau_dqd: NDArray[np.float64]
    dtau_dqdd: NDArray[np.float64]


class HexapodDynamics(_core.DynamicsRows):
    """Result of `Hexapod.forward_dynamics` and `forward_dynamics_free`.

    All numbers of a state stand together in memory; the attributes are views. Rows that failed (``on_error="nan"``)
    hold NaN.
    """

    __slots__ = ()

    def _legs(self, start: int, count: int) -> Array:
        joints, head = self._layout & 7, 18 if self._layout & 8 else 12
        legs = self._data[..., head:]
        return legs.reshape(*legs.shape[:-1], 6, 3 * joints + 4)[..., start : start + count]

    @property
    def joints(self) -> int:
        """Number of places for joints of a leg, nj."""
        return self._layout & 7

    @property
    def acceleration(self) -> Array:
        """u' (..., 6): acceleration in base axes, m/s^2, and rate of the angular velocity in ring axes, rad/s^2."""
        return self._data[..., 0:6]

    @property
    def base_wrench(self) -> Array:
        """Force and moment of all legs on the base about its origin (..., 6), base axes, N and N m."""
        return self._data[..., 6:12]

    @property
    def base_acceleration(self) -> Array:
        """Acceleration of the free base's origin and its angular acceleration (..., 6), base axes."""
        if not self._layout & 8:
            raise AttributeError("base_acceleration: only forward_dynamics_free has one")
        return self._data[..., 12:18]

    @property
    def joint_position(self) -> Array:
        """Joint coordinates (..., 6, nj), rad or m."""
        return self._legs(0, self.joints)

    @property
    def joint_velocity(self) -> Array:
        """Joint rates (..., 6, nj)."""
        return self._legs(self.joints, self.joints)

    @property
    def joint_acceleration(self) -> Array:
        """Joint accelerations (..., 6, nj)."""
        return self._legs(2 * self.joints, self.joints)

    @property
    def reaction(self) -> Array:
        """Reaction of every leg on the ring (..., 6, 4): force at the hinge in base axes, N, moment about n_R, N m."""
        return self._legs(3 * self.joints, 4)

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
        names = ["acceleration", "base_wrench", "joint_position", "joint_velocity", "joint_acceleration", "reaction"]
        if self._layout & 8:
            names.append("base_acceleration")
        return {name: np.array(getattr(self, name)) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._data, self._layout, self._status)

    def __repr__(self) -> str:
        shape = self._data.shape[:-1]
        rows = f"{shape} states" if shape else f"acceleration {self.acceleration}"
        failed = int(np.count_nonzero(~self.ok))
        return f"HexapodDynamics({rows}{f', {failed} failed' if failed else ''})"


def _restore(data: Array, layout: int, status: NDArray[np.int16] | None) -> HexapodDynamics:
    result = HexapodDynamics()
    result._data, result._layout, result._status = data, layout, status
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
