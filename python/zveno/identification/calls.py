"""What chains and hexapods offer of identification: methods of theirs, whose work is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from numpy.typing import ArrayLike

from .._check import Array

if TYPE_CHECKING:
    from ..model import Chain, Hexapod
    from .base_parameters import BaseParameters
    from .hexapod import HexapodBaseParameters

__all__ = ["base_parameters", "hexapod_base_parameters", "hexapod_regressor"]

TOLERANCE: Final = 1e-9


def base_parameters(
    self: Chain,
    *,
    parameters: str = "tensor",
    frames: Any = "link",
    extra: str | Iterable[str] | Mapping[str, Iterable[str]] = (),
    coupled: Iterable[tuple[str, str]] = (),
    measured: str | Iterable[str] = "efforts",
    gravity: ArrayLike | None = None,
    method: str = "recursion",
    tolerance: float = TOLERANCE,
) -> BaseParameters:
    """Base parameters: which combinations of the inertial parameters the efforts depend on.

    For chains and trees of any number of joints: the row space of the equations of motion is found link by link.

    Parameters
    ----------
    parameters : {"tensor", "moments"}
        Ten numbers for each link: as `inertial_parameters`, the columns of `regressor`; or second moments Ixx ... Izz,
        Sx Sy Sz, m.
    frames : {"link", "dh"} or (N, 4, 4) array
        Frames of the parameters: those of the links, distal standard Denavit-Hartenberg frames of a serial chain with
        the tool's as the last one, or poses in the links' frames.
    extra : some of "rotor_inertia", "friction", "coulomb", "offset", "stiffness", "gravity"
        Columns for each joint: qdd, qd, sign(qd), 1, q. A mapping has the names of joints for each. "gravity": three
        columns, how far it is from that of the model in base axes, for the values of the parameters that the model has.
    coupled : pairs of joint names
        Joints whose drives are coupled, as wrists are: three columns for each pair (i, j), with qdd_j, qd_j and
        sign(qd_i + qd_j) in the effort of i and qdd_i, qd_i and the same sign in that of j.
    measured : "efforts", "base_wrench" or both
        Whether the efforts of the joints or the wrench on the base are known, as from a force plate.
    gravity : (3,) or (k, 3) array, m/s^2
        Default: that of the model. Several where the base stands in several ways during the measurement.
    method : {"recursion", "basis-set", "sampling"}
        "recursion" link by link; "basis-set" coordinates of the Lagrangian in a basis of functions, which grows as 5^n,
        without what is constant; "sampling" the regressor at random states. The same set, but for what is too near to
        the tolerance; the last two are there to compare with. Only "recursion" takes everything.
    tolerance : float
        Directions smaller than this, relative to 1, do not count.

    Returns
    -------
    base : BaseParameters

    Raises
    ------
    UndecidedError
        A direction within a factor of 1000 of the tolerance.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> bp = arm.base_parameters()
    >>> bp.count, bp.per_link
    (36, (1, 7, 7, 7, 7, 7))
    >>> q, qd, qdd = np.ones((3, 6))
    >>> tau = arm.regressor(q, qd, qdd)[:, bp.pivots] @ bp.minimal()
    >>> bool(np.allclose(tau, bp.regressor(q, qd, qdd) @ (bp.Y @ arm.inertial_parameters.ravel())))
    True
    >>> print(zv.robots.two_link().base_parameters(parameters="moments"))
    Ixx1: Ixx1 + Izz1 + m2
     Sx1: Sx1 + m2
     Sz1: Sz1
    Ixx2: Ixx2 + Izz2
     Sx2: Sx2
     Sz2: Sz2
    links: 1 upper, 2 lower
    """
    from .base_parameters import found

    return found(self, parameters, frames, extra, coupled, measured, gravity, method, tolerance)


def hexapod_regressor(
    self: Hexapod, r: ArrayLike, R: Any, u: ArrayLike, acceleration: ArrayLike, *, measured: str = "forces"
) -> Array:
    """Regressor of the forces of the drives, or of the wrench on the base, by the parameters of ring and legs.

    Parameters
    ----------
    r : (..., 3) array, m
    R : (..., 3, 3) array
    u, acceleration : (..., 6) array
        Pose, velocity and acceleration of the ring as in `inverse_dynamics`. The point of the ring that r is the place
        of is the centre of mass of this model, whatever the parameters are.
    measured : {"forces", "base_wrench"}
        Forces of the six drives without a wrench on the ring; or force and moment on the base about its origin.

    Returns
    -------
    Y : (..., 6, k) array
        Columns: m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz of the ring about that point, of housing and rod or crank and
        coupler of each leg about their joints, or of all links of a custom leg; then the inertias of the drives. What
        else a custom leg may have, friction, springs and rotors of its other joints, has no columns.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> r, R = ring.nominal
    >>> u, acceleration = np.full(6, 0.1), np.full(6, 0.2)
    >>> Y = ring.regressor(r, R, u, acceleration)
    >>> Y.shape
    (6, 136)
    >>> bp = ring.base_parameters()
    >>> bool(np.allclose(Y @ bp.standard, ring.inverse_dynamics(r, R, u, acceleration)))
    True
    """
    from .hexapod import regressor

    return regressor(self, r, R, u, acceleration, measured)


def hexapod_base_parameters(
    self: Hexapod,
    *,
    measured: str | Iterable[str] = "forces",
    tolerance: float = TOLERANCE,
    samples: int = 60,
    seed: int = 0,
) -> HexapodBaseParameters:
    """Base parameters of ring and legs: which combinations of their inertial parameters motion and forces reveal.

    From the regressor at random poses, velocities and accelerations of the ring, with clear limits on what is taken for
    dependent.

    Parameters
    ----------
    measured : "forces", "base_wrench" or both
        Forces of the drives; force and moment on the base.
    tolerance : float
        Directions smaller than this, relative to 1, do not count.
    samples : int
        Random states; at least a third more equations than parameters are taken.
    seed : int

    Returns
    -------
    base : HexapodBaseParameters

    Raises
    ------
    UndecidedError
        A direction within a factor of 1000 of the tolerance.

    Examples
    --------
    >>> import zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> ring.base_parameters().count < ring.base_parameters(measured=("forces", "base_wrench")).count
    True
    """
    from .hexapod import found

    return found(self, measured, tolerance, samples, seed)
