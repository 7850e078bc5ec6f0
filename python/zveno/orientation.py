"""Orientations as angles, quaternions and rotation vectors, each from and to a rotation matrix, many at once.

A matrix R maps components in the local frame to components in its reference frame; its columns are the local axes.
Where this module takes a rotation it takes any form of it: a matrix, an object with ``.as_matrix()`` (SciPy's
``Rotation``) or ``{"quaternion": (w, x, y, z)}``.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import Array, as_array, as_flag, common_lead, failing
from ._rotation import as_pose, as_rotation, shape_of, to_quaternions
from ._rotation import from_quaternion as _from_quaternion
from ._rotation import from_rotation_vector as _from_rotation_vector
from ._rotation import to_rotation_vector as _to_rotation_vector

__all__ = [
    "from_pyr",
    "from_quaternion",
    "from_rotation_vector",
    "is_gimbal_locked",
    "other_pyr",
    "pose",
    "to_pyr",
    "to_quaternion",
    "to_rotation_vector",
]

_LOCK: Final = 1e-9  # cos Y below which P and R are not told apart


def from_pyr(angles: ArrayLike) -> Array:
    """Rotation by the angles P, Y, R of Leskov et al. (2017): about x, then the new y, then the new z.

    ``Rx(P) Ry(Y) Rz(R)``, as SciPy's ``Rotation.from_euler("XYZ", angles)``. These are also the installation angles
    alpha, beta, gamma of `Chain.from_textbook`. Multiples of a right angle give exact zeros and ones.

    Parameters
    ----------
    angles : (..., 3) array, rad

    Returns
    -------
    R : (..., 3, 3) array

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.orientation.from_pyr([0, 0, np.pi / 2])
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    given = as_array(angles, failing("from_pyr"), "angles", (3,), lead=True)
    c, s = (np.where(np.abs(x) < 1e-15, 0.0, x) for x in (np.cos(given), np.sin(given)))
    (cp, cy, cr), (sp, sy, sr) = (np.moveaxis(x, -1, 0) for x in (c, s))
    rows = (
        (cy * cr, -cy * sr, sy),
        (cp * sr + sp * sy * cr, cp * cr - sp * sy * sr, -sp * cy),
        (sp * sr - cp * sy * cr, sp * cr + cp * sy * sr, cp * cy),
    )
    return np.asarray(np.stack([np.stack(row, axis=-1) for row in rows], axis=-2) + 0.0)


def to_pyr(R: Any, previous: ArrayLike = 0.0) -> Array:
    """Angles P, Y, R of a rotation, ``R = Rx(P) Ry(Y) Rz(R)``, with -pi/2 <= Y <= pi/2.

    cos Y = sqrt(t23^2 + t33^2), Y = atan2(t13, cos Y), P = atan2(-t23, t33),
    R = atan2(t21 cos P + t31 sin P, t22 cos P + t32 sin P) (Leskov et al. 2017, section 3.2, as corrected in the
    errata). The other triple of the same rotation is that of `other_pyr`.

    Parameters
    ----------
    R : rotation, (..., 3, 3)
    previous : (...) array, rad
        P where it is not defined: at Y = +-pi/2 only P + R or R - P is, and R takes what is left. SciPy puts the
        third angle to zero there instead, with a warning.

    Returns
    -------
    angles : (..., 3) array, rad
        P and R in (-pi, pi], except a `previous` that was taken as it is.

    See Also
    --------
    is_gimbal_locked : where P and R are not told apart

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> R = zv.orientation.from_pyr(np.radians([-115.5, -18.0, 175.9]))
    >>> np.degrees(zv.orientation.to_pyr(R)).round(9)
    array([-115.5,  -18. ,  175.9])
    >>> straight_up = zv.orientation.from_pyr(np.radians([30, 90, 40]))
    >>> np.degrees(zv.orientation.to_pyr(straight_up)).round(9)  # P + R = 70 degrees is all there is
    array([ 0., 90., 70.])
    """
    fail = failing("to_pyr")
    t = as_rotation(R, fail, "R", lead=True)
    lead = shape_of(previous)
    held = as_array(previous, fail, "previous", lead).reshape(lead)
    shape = common_lead(fail, {"R": t.shape[:-2], "previous": held.shape})
    t = np.broadcast_to(t, (*shape, 3, 3))
    c_y = np.hypot(t[..., 1, 2], t[..., 2, 2])
    P = np.where(c_y > _LOCK, np.arctan2(0.0 - t[..., 1, 2], t[..., 2, 2]), held)
    c, s = np.cos(P), np.sin(P)
    last = np.arctan2(t[..., 1, 0] * c + t[..., 2, 0] * s + 0.0, t[..., 1, 1] * c + t[..., 2, 1] * s)
    return np.asarray(np.stack([P, np.arctan2(t[..., 0, 2], c_y), last], axis=-1) + 0.0)


def other_pyr(angles: ArrayLike) -> Array:
    """The other angles of the same rotation, (P + pi, pi - Y, R + pi), each in (-pi, pi].

    Parameters
    ----------
    angles : (..., 3) array, rad

    Returns
    -------
    angles : (..., 3) array, rad

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> np.degrees(zv.orientation.other_pyr(np.radians([30, 20, -50]))).round(9)
    array([-150.,  160.,  130.])
    """
    given = as_array(angles, failing("other_pyr"), "angles", (3,), lead=True)
    turned = np.array([1.0, -1.0, 1.0]) * given + math.pi
    wrapped = math.pi - (math.pi - turned) % (2 * math.pi)
    return np.asarray(wrapped)


def is_gimbal_locked(R: Any) -> NDArray[np.bool_]:
    """Whether P and R of a rotation are not told apart: cos Y is below 1e-9.

    Parameters
    ----------
    R : rotation, (..., 3, 3)

    Returns
    -------
    locked : (...) array of bool

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.orientation.is_gimbal_locked(zv.orientation.from_pyr([[0.3, 1.5, 0], [0.3, np.pi / 2, 0]]))
    array([False,  True])
    """
    t = as_rotation(R, failing("is_gimbal_locked"), "R", lead=True)
    return np.asarray(np.hypot(t[..., 1, 2], t[..., 2, 2]) <= _LOCK)


def from_quaternion(quaternion: ArrayLike, *, scalar_first: bool = True) -> Array:
    """Rotation of a unit quaternion.

    Parameters
    ----------
    quaternion : (..., 4) array
        (w, x, y, z), of length 1 within 1e-6; its negative is the same rotation.
    scalar_first : bool
        False for (x, y, z, w), the default of SciPy's ``Rotation.from_quat``.

    Returns
    -------
    R : (..., 3, 3) array

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.orientation.from_quaternion([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]).round(9) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    fail = failing("from_quaternion")
    q = as_array(quaternion, fail, "quaternion", (4,), lead=True)
    if not as_flag(scalar_first, fail, "scalar_first"):
        q = np.roll(q, 1, axis=-1)
    size = np.sqrt((q**2).sum(axis=-1, keepdims=True))
    worst = float(np.abs(size - 1).max(initial=0.0))
    if not worst < 1e-6:
        fail(f"quaternion has a length that differs from 1 by {worst:.3g}, expected unit quaternions")
    return np.asarray(_from_quaternion((q / size).reshape(-1, 4)).reshape(*q.shape[:-1], 3, 3) + 0.0)


def to_quaternion(R: Any, *, scalar_first: bool = True) -> Array:
    """Unit quaternion of a rotation, with its scalar part not negative.

    Parameters
    ----------
    R : rotation, (..., 3, 3)
    scalar_first : bool
        False for (x, y, z, w), the default of SciPy's ``Rotation.as_quat``.

    Returns
    -------
    quaternion : (..., 4) array

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.orientation.to_quaternion(zv.orientation.from_pyr([np.pi, 0, 0]))
    array([0., 1., 0., 0.])
    """
    fail = failing("to_quaternion")
    q = to_quaternions(as_rotation(R, fail, "R", lead=True)) + 0.0
    return q if as_flag(scalar_first, fail, "scalar_first") else np.roll(q, -1, axis=-1)


def from_rotation_vector(vector: ArrayLike) -> Array:
    """Rotation about the direction of a vector by its length, rad: ``exp`` of its cross-product matrix.

    Parameters
    ----------
    vector : (..., 3) array, rad

    Returns
    -------
    R : (..., 3, 3) array

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.orientation.from_rotation_vector([0, 0, 0.1]).round(4)
    array([[ 0.995 , -0.0998,  0.    ],
           [ 0.0998,  0.995 ,  0.    ],
           [ 0.    ,  0.    ,  1.    ]])
    """
    given = as_array(vector, failing("from_rotation_vector"), "vector", (3,), lead=True)
    return _from_rotation_vector(given) + 0.0


def to_rotation_vector(R: Any) -> Array:
    """Axis times angle of a rotation, not longer than pi; accurate for the smallest angles and up to pi.

    Parameters
    ----------
    R : rotation, (..., 3, 3)

    Returns
    -------
    vector : (..., 3) array, rad
        Of two opposite vectors of length pi either may come.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.orientation.to_rotation_vector(zv.orientation.from_rotation_vector([1e-9, 0, 0]))
    array([1.e-09, 0.e+00, 0.e+00])
    """
    return _to_rotation_vector(as_rotation(R, failing("to_rotation_vector"), "R", lead=True)) + 0.0


def pose(r: Any, R: Any = None) -> Array:
    """Homogeneous matrix of a place and a rotation, or of a pose in any other form.

    Parameters
    ----------
    r : (..., 3) array, m, or a pose
        With `R` left out a whole pose: a 4x4 matrix, a pair (r, R), an object whose ``.as_matrix()`` is 4x4 (SciPy's
        ``RigidTransform``), ``{"r": r, "R": R}`` or ``{"r": r, "quaternion": (w, x, y, z)}``.
    R : rotation, (..., 3, 3), optional

    Returns
    -------
    T : (..., 4, 4) array

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> T = zv.orientation.pose((0, 0, 0.1), zv.orientation.from_pyr(np.radians([-30, 0, 0])))
    >>> T.round(3) + 0.0
    array([[ 1.   ,  0.   ,  0.   ,  0.   ],
           [ 0.   ,  0.866,  0.5  ,  0.   ],
           [ 0.   , -0.5  ,  0.866,  0.1  ],
           [ 0.   ,  0.   ,  0.   ,  1.   ]])
    """
    fail = failing("pose")
    if R is None:
        place, turn = as_pose(r, fail, "r", lead=True)
    else:
        place = as_array(r, fail, "r", (3,), lead=True)
        turn = as_rotation(R, fail, "R", lead=True)
    shape = common_lead(fail, {"r": place.shape[:-1], "R": turn.shape[:-2]})
    T = np.zeros((*shape, 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = turn, place, 1.0
    return T
