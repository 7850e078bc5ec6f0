"""Rotations. A matrix R maps components in a local frame to components in its reference frame.

What a model chooses by itself is computed with `dot`, `applied` and `product`: separate products and sums, which have
the same bits on every machine. Those of ``@`` and ``numpy.linalg`` depend on the processor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NoReturn

import numpy as np

from ._check import Array, Fail, _show, as_array, frozen

IDENTITY: Final = frozen(np.eye(3))
_POSES: Final = "(r, R), an object with as_matrix() or {'r': r, 'quaternion': (w, x, y, z)}"


def about_axis(axis: int, angle: float) -> Array:
    """Active rotation by `angle` (rad) about the coordinate axis 0, 1 or 2.

    Sines and cosines that differ from zero only by the rounding of pi become zero: a right angle stays sparse.
    """
    c, s = (0.0 if abs(x) < 1e-15 else x for x in (math.cos(angle), math.sin(angle)))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[j, j] = R[k, k] = c
    R[k, j], R[j, k] = s, -s
    return R


def dot(a: Array, b: Array) -> float:
    """Scalar product of vectors (3,)."""
    x, y, z = (a * b).tolist()
    return float(x + y + z)


def length(a: Array) -> float:
    """Length of a vector (3,)."""
    return math.sqrt(dot(a, a))


def applied(R: Array, a: Array) -> Array:
    """R a for a matrix (3, 3) and a vector (3,)."""
    terms = R * a
    return np.asarray(terms[:, 0] + terms[:, 1] + terms[:, 2])


def product(*factors: Array) -> Array:
    """Product of matrices (..., 3, 3)."""
    result = factors[0]
    for factor in factors[1:]:
        terms = result[..., :, :, None] * factor[..., None, :, :]
        result = terms[..., :, 0, :] + terms[..., :, 1, :] + terms[..., :, 2, :]
    return result


def rotated(R: Array, tensor: Array) -> Array:
    """A tensor of second rank in the axes that R maps to."""
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is found by the check of the link
        return R @ tensor @ R.T


def nearest_rotation(R: Array) -> Array:
    """R without its rounding errors, (..., 3, 3): Newton's method, whose error is squared in each of its steps."""
    for _ in range(3):
        R = product(R, 1.5 * IDENTITY - 0.5 * product(R.swapaxes(-1, -2), R))
    return frozen(R)


def as_rotation(value: object, fail: Fail, what: str, *, lead: bool = False) -> Array:
    """Return `value`, in any form of `as_matrix`, as a rotation matrix without its rounding errors, or `fail`."""
    return _proper(as_matrix(value, fail, what, lead=lead), fail, what)


def _proper(R: Array, fail: Fail, what: str) -> Array:
    """Rotation matrices (..., 3, 3) without their rounding errors."""
    with np.errstate(over="ignore", invalid="ignore"):
        defect = float(np.abs(R.swapaxes(-1, -2) @ R - IDENTITY).max(initial=0.0))
    if not defect < 1e-9:
        fail(f"{what} is not orthonormal: the largest element of |R'R - 1| is {defect:.3g}, expected a rotation matrix")
    if (np.linalg.det(R) < 0).any():
        fail(f"{what} is left-handed: determinant -1, expected a rotation matrix")
    return R if defect < 1e-14 else nearest_rotation(R)


def as_matrix(value: object, fail: Fail, what: str, *, lead: bool = False) -> Array:
    """The (3, 3) numbers of a rotation as they are, or `fail`; with `lead` (..., 3, 3).

    Taken are matrices, objects with ``.as_matrix()`` (SciPy's Rotation), ``{"quaternion": (w, x, y, z)}`` of length 1,
    and 4x4 matrices that shift nothing.
    """
    if isinstance(value, Mapping):
        if set(value) != {"quaternion"}:
            fail(f"{what} is {_show(value)}, expected {{'quaternion': (w, x, y, z)}} or a rotation matrix")
        return _of_quaternion(value["quaternion"], fail, f"quaternion of {what}", lead)
    numbers = value.as_matrix() if hasattr(value, "as_matrix") else value
    shape = shape_of(numbers)
    if shape == (4,):
        named = "{'quaternion': (w, x, y, z)}"
        fail(f"{what} is {_show(value)}: four numbers may be scalar first or last, expected a matrix or {named}")
    if shape[-2:] == (4, 4):
        r, R = _split(numbers, fail, what, lead)
        if r.any():
            fail(f"{what} is a 4x4 matrix that also shifts, by {_show(r.tolist())} m, expected a rotation")
        return R
    return as_array(numbers, fail, what, (3, 3), lead=lead)


def matrix_of(function: str, value: object) -> Array:
    """The (..., 3, 3) numbers of the rotation `R` that a compiled function was given as a mapping."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{function}: {text}")

    if not isinstance(value, Mapping) or set(value) != {"quaternion"}:
        raise TypeError(
            f"{function}: R is {_show(value)}, expected a rotation matrix or {{'quaternion': (w, x, y, z)}}"
        )
    return as_matrix(value, fail, "R", lead=True)


def pose_of(function: str, value: object) -> tuple[Array, Array] | None:
    """Places (..., 3) and rotations (..., 3, 3) of whole poses that a compiled function was given as `r`, without `R`.

    None if they are places only.
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{function}: {text}")

    if not isinstance(value, Mapping) and not hasattr(value, "as_matrix") and not hasattr(value, "R"):
        try:
            whole = np.shape(value)[-2:] == (4, 4)  # type: ignore[call-overload]
        except (ValueError, TypeError):  # of different shapes: a pair (r, R), or nothing
            whole = isinstance(value, tuple | list) and len(value) == 2
        if not whole:
            return None
    return as_pose(value, fail, "r", lead=True, exact=False)


def as_pose(value: object, fail: Fail, what: str, *, lead: bool = False, exact: bool = True) -> tuple[Array, Array]:
    """Place r (3,), m, and rotation R (3, 3) of a pose in any of its forms, or `fail`; with `lead` many of them.

    Taken are pairs (r, R), R any rotation of `as_matrix`; objects with attributes ``r`` and ``R``; 4x4 matrices;
    objects with ``.as_matrix()`` that is one (SciPy's RigidTransform); ``{"r": r, "R": R}`` and
    ``{"r": r, "quaternion": (w, x, y, z)}``. `exact`: R is checked and freed of rounding errors, else taken as it is.
    """
    if isinstance(value, Mapping):
        keys = set(value)
        if keys not in ({"r", "R"}, {"r", "quaternion"}):
            fail(f"{what} is {_show(value)}, expected a pose: a 4x4 matrix, {_POSES}")
        r = value["r"]
        turn = value["R"] if "R" in keys else {"quaternion": value["quaternion"]}
    elif hasattr(value, "r") and hasattr(value, "R"):
        r, turn = value.r, value.R
    elif isinstance(value, tuple | list) and len(value) == 2 and shape_of(value) != (2, 4, 4):
        r, turn = value
    else:
        numbers = value.as_matrix() if hasattr(value, "as_matrix") else value
        shape = shape_of(numbers)
        if shape[-2:] != (4, 4):
            came = f"has shape {shape}" if shape and not isinstance(value, tuple) else f"is {_show(value)}"
            fail(f"{what} {came}, expected (4, 4) or another form of a pose: {_POSES}")
        place, R = _split(numbers, fail, what, lead)
        return place, _proper(R, fail, f"R of {what}") if exact else R
    place = as_array(r, fail, f"r of {what}", (3,), lead=lead)
    R = as_matrix(turn, fail, f"R of {what}", lead=lead)
    return place, _proper(R, fail, f"R of {what}") if exact else R


def shape_of(value: object) -> tuple[int, ...]:
    """Shape of an array, () of what is none."""
    try:
        return np.asarray(value).shape
    except Exception:  # ragged lists, hostile __array__; refused by whoever needs the numbers
        return ()


def _split(value: object, fail: Fail, what: str, lead: bool) -> tuple[Array, Array]:
    """Translation and rotation of a homogeneous matrix."""
    T = as_array(value, fail, what, (4, 4), lead=lead)
    if (T[..., 3, :] != (0.0, 0.0, 0.0, 1.0)).any():
        fail(f"the last row of {what} is {_show(T[..., 3, :].tolist())}, expected [0, 0, 0, 1]")
    return frozen(T[..., :3, 3]), frozen(T[..., :3, :3])


def _of_quaternion(value: object, fail: Fail, what: str, lead: bool) -> Array:
    q = as_array(value, fail, what, (4,), lead=lead)
    size = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (np.abs(size - 1) < 1e-6).all():
        fail(f"{what} has length {_show(size[..., 0].tolist())}, expected 1")
    return frozen(from_quaternion((q / size).reshape(-1, 4)).reshape(*q.shape[:-1], 3, 3))


def from_rotation_vector(vector: Array) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3), rad."""
    a = np.linalg.norm(vector, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vector, -1, 0)
    o = np.zeros_like(x)
    K = np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)
    R: Array = np.eye(3) + np.sinc(a / math.pi) * K + 0.5 * np.sinc(a / (2 * math.pi)) ** 2 * (K @ K)
    return R


def to_rotation_vector(R: Array) -> Array:
    """Axis times angle of rotation matrices (..., 3, 3), (..., 3) rad, not longer than pi."""
    q = to_quaternions(R)
    size = np.sqrt((q[..., 1:] ** 2).sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size > 1e-150, 2 * np.arctan2(size, q[..., 0]) / size, 2.0)
    return np.asarray(q[..., 1:] * ratio[..., None])


def to_quaternions(R: Array) -> Array:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3), as `to_quaternion` gives them one by one."""
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=-1)
    sums, differences = R + R.swapaxes(-1, -2), R - R.swapaxes(-1, -2)
    products = np.empty((*R.shape[:-2], 4, 4))  # 4 q q': each row is a multiple of q
    products[..., 0, 1:] = products[..., 1:, 0] = np.stack(
        [differences[..., 2, 1], differences[..., 0, 2], differences[..., 1, 0]], axis=-1
    )
    products[..., 1:, 1:] = sums
    for i in range(4):
        products[..., i, i] = squares[..., i]
    largest = squares.argmax(axis=-1)[..., None, None]
    q = np.take_along_axis(products, largest, axis=-2)[..., 0, :]
    q = q / np.sqrt((q**2).sum(axis=-1, keepdims=True))
    return np.asarray(np.where(q[..., :1] < 0, -q, q))


def to_quaternion(R: Array) -> Array:
    """Unit quaternion (4,) of a rotation matrix (3, 3), scalar first and not negative; from its largest component."""
    xx, yy, zz = np.diagonal(R).tolist()
    squares = np.array([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz])
    i = int(squares.argmax())
    sums, differences = R + R.T, R - R.T
    w = np.array([differences[2, 1], differences[0, 2], differences[1, 0]])
    q = np.empty(4)
    if i == 0:
        q[:] = squares[0], *w
    else:
        q[:] = w[i - 1], *sums[i - 1]
        q[i] = squares[i]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def from_quaternion(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4), scalar first."""
    w, (x, y, z) = q[:, 0, None, None], q[:, 1:].T
    K = np.zeros((len(q), 3, 3))  # of v x
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -z, y, -x
    K[:, 1, 0], K[:, 2, 0], K[:, 2, 1] = z, -y, x
    return np.asarray(np.eye(3) + 2 * w * K + 2 * K @ K)
