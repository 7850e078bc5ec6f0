"""Loops of a docking ring in a rig, linearised: docs/rigs.md, many axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._check import Array, Fail, _show, as_amount, as_list, failing
from .._rotation import as_pose, shape_of
from ..sim.laws import Law, leg_places
from .given import square

if TYPE_CHECKING:
    from ..model import Body, Hexapod

__all__ = ["FaceContact", "law_slopes", "ring_matrices"]

_STEP: Final = 1e-6  # m or rad, m/s or rad/s: slopes of laws
_MATED: Final = np.diag([-1.0, 1.0, -1.0])  # axes of B's port in those of A's ring


@dataclass(frozen=True)
class FaceContact:
    """Contact of two ring faces along a circle, frictionless: what the hardware of an interface rig feels.

    K1 = sum of k l J'J over the circle, J = [n', (p x n)'] with the ring's axis n, D1 = `time` K1.

    Parameters
    ----------
    stiffness : float, N/m^2
        Per length of the circle. The demo rings have 4e5: 1.47 MN/m in all.
    time : float, s
        Damping by stiffness.
    radius : float, m
    offset : float, m
        Plane of the face ahead of the ring's centre of mass.

    Examples
    --------
    >>> import zveno as zv
    >>> print(zv.rigs.FaceContact(4e5).matrices()[0][0, 0].round())
    1470265.0
    """

    stiffness: float
    time: float = 0.0
    radius: float = 0.585
    offset: float = 0.03

    def __post_init__(self) -> None:
        fail = failing("FaceContact")
        object.__setattr__(self, "stiffness", as_amount(self.stiffness, fail, "stiffness", positive=True))
        object.__setattr__(self, "time", as_amount(self.time, fail, "time"))
        object.__setattr__(self, "radius", as_amount(self.radius, fail, "radius", positive=True))
        object.__setattr__(self, "offset", as_amount(self.offset, fail, "offset"))

    def matrices(self, R: Array | None = None) -> tuple[Array, Array]:
        """K1 and D1 in the coordinates of u for a ring turned by R, (6, 6) each, N/m, N, N m and times s.

        Examples
        --------
        >>> import zveno as zv
        >>> K, D = zv.rigs.FaceContact(4e3).matrices()
        >>> K.shape, bool(K[0, 0] > 0)
        ((6, 6), True)
        """
        turn = np.eye(3) if R is None else R
        n = turn[:, 0]
        K = np.zeros((6, 6))
        length = 2 * np.pi * self.radius
        K[:3, :3] = length * np.outer(n, n)
        K[4, 4] = K[5, 5] = 0.5 * length * self.radius**2  # mean of the squares of the circle's coordinates
        K *= self.stiffness
        return K, self.time * K


def law_slopes(law: Law, x: float) -> tuple[float, float]:
    """Stiffness and damping of a law at rest in a coordinate."""
    force = law(0.0, np.array([x + _STEP, x - _STEP, x, x]), np.array([0.0, 0.0, _STEP, -_STEP]))
    F = np.asarray(force)
    return float(F[1] - F[0]) / (2 * _STEP), float(F[3] - F[2]) / (2 * _STEP)


def _legs(fail: Fail, hexapod: Hexapod, laws: Any, r: Array, R: Array) -> tuple[Array, Array]:
    """H'kH and H'cH of the drives, coordinates of u."""
    given = [laws] * 6 if isinstance(laws, Law) or laws is None else as_list(laws)
    if given is None or len(given) != 6 or not all(law is None or isinstance(law, Law) for law in given):
        fail(f"laws is {_show(laws)}, expected a Law or six of them")
    J = np.asarray(hexapod.jacobian(r, R))
    p = np.asarray(hexapod.closure(r, R))[np.arange(6), hexapod.actuated]
    k, c, places = np.zeros(6), np.zeros(6), leg_places(hexapod)
    for leg, law in enumerate(given):
        if law is not None:
            k[leg], c[leg] = law_slopes(law._resolved(places(leg)), float(p[leg]))
    return J.T @ (k[:, None] * J), J.T @ (c[:, None] * J)


def _contact(fail: Fail, contact: Any, R: Array) -> tuple[Array, Array]:
    if contact is None:
        fail("contact is missing, expected what the rings touch with: zv.rigs.FaceContact(4e5)")
    if isinstance(contact, FaceContact):
        return contact.matrices(R)
    if hasattr(contact, "face_stiffness"):
        return FaceContact(contact.face_stiffness).matrices(R)
    pair = list(contact) if isinstance(contact, tuple | list) and len(contact) == 2 else [contact, 0.0]
    K1, D1 = square(pair[0], fail, "contact", 6), square(pair[1], fail, "damping of contact", 6)
    if K1.ndim > 2 or D1.ndim > 2:
        fail(f"contact has shape {K1.shape}, expected (6, 6)")
    return K1, D1


def mobility(mass: float, inertia: Array, lever: Array) -> Array:
    """Twist of a point of a free body by a unit wrench there, (6, 6); `lever` runs from the centre of mass to it."""
    x, y, z = lever.tolist()
    X = np.eye(6)
    X[:3, 3:] = -np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    inner = np.zeros((6, 6))
    inner[:3, :3], inner[3:, 3:] = np.eye(3) / mass, np.linalg.inv(inertia)
    return np.asarray(X @ inner @ X.T)


def ring_matrices(
    fail: Fail,
    hexapod: Hexapod,
    pose: Any,
    laws: Any,
    contact: Any,
    kind: str,
    vehicles: tuple[Body, Body] | None,
) -> tuple[Array, Array, Array, Array, Array]:
    """M, K1, D1, K0, D0 of a ring in a rig; twists of the ring's centre of mass, base axes and (turns) ring axes."""
    from ..model import Body, Hexapod  # the model imports much of the package

    if not isinstance(hexapod, Hexapod):
        raise TypeError(f"delay_margin: hexapod is {_show(hexapod)}, expected a Hexapod")
    if pose is None:
        if hexapod.nominal is None:
            fail(f"pose is missing, and hexapod '{hexapod.name}' has no nominal pose")
        r, R = hexapod.nominal
    elif shape_of(pose) == (3,):
        r, R = np.asarray(pose, dtype=float), np.eye(3)
    else:
        r, R = as_pose(pose, fail, "pose")
    K, D = _legs(fail, hexapod, laws, r, R)
    none = np.zeros((6, 6))
    if kind == "interface":
        K1, D1 = _contact(fail, contact, R)
        return np.asarray(hexapod.mass_matrix(r, R)), K1, D1, K, D
    if not (isinstance(vehicles, tuple | list) and len(vehicles) == 2 and all(isinstance(v, Body) for v in vehicles)):
        fail(f"vehicles is {_show(vehicles)}, expected two Body: A in base axes, B in those of its port")
    if not K.any():
        fail("laws have no stiffness in this pose: the mechanism does not hold the vehicles")
    offset = contact.offset if isinstance(contact, FaceContact) else 0.03
    A, B = vehicles
    for name, body in (("A", A), ("B", B)):
        if not body.mass > 0 or not np.linalg.eigvalsh(body.inertia).min() > 0:
            fail(f"vehicle {name} has no mass or no inertia, expected a body with both")
    to_ring = np.eye(6)
    to_ring[3:, 3:] = R.T  # turns in ring axes
    com_b = R @ (np.array([offset, 0.0, 0.0]) + _MATED @ B.com)  # from the ring's centre of mass, base axes
    turn_b = R @ _MATED
    both = mobility(A.mass, A.inertia, r - A.com) + mobility(B.mass, turn_b @ B.inertia @ turn_b.T, -com_b)
    M = np.linalg.inv(to_ring @ both @ to_ring.T)
    return 0.5 * (M + M.T), K, D, none, none
