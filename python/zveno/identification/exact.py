"""The row space in rational arithmetic: a rank that no rounding can have changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..inertial import COLUMN, ROW, TWICE_MOMENTS, frame_change
from .span import Joint, row_space

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["InexactError", "exact_rows", "rational_geometry"]

_NEAR: Final = 1e-12
_LARGEST: Final = 1000  # denominator of an element of a rotation


class InexactError(ValueError):
    """Geometry that has no rational numbers."""


class _Fractions:
    """Spans by elimination with integers."""

    def span(self, rows: Any, what: str) -> Any:
        basis, _ = echelon(rows, range(rows.shape[1]))
        return fractions(basis) if len(basis) else rows[:0]


def fractions(rows: Any) -> Any:
    out = np.empty(np.shape(rows), object)
    for k, value in enumerate(x for row in rows for x in row):
        out.flat[k] = Fraction(value)
    return out


def _integers(row: Sequence[Any]) -> list[int]:
    """The row times what makes all its elements integers, without common factors."""
    common = math.lcm(*(Fraction(x).denominator for x in row))
    whole = [int(x * common) for x in row]
    factor = math.gcd(*whole)
    return [x // factor for x in whole] if factor > 1 else whole


def echelon(rows: Any, order: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Independent rows, each with zeros in the pivots of the others, and the pivots: first in `order`."""
    left = [row for row in map(_integers, rows.tolist()) if any(row)]
    done: list[list[int]] = []
    pivots: list[int] = []
    for c in order:
        at = next((k for k, row in enumerate(left) if row[c]), None)
        if at is None:
            continue
        pivot = left.pop(at)
        left = [row for row in (_cleared(row, pivot, c) for row in left) if any(row)]
        done = [_cleared(row, pivot, c) for row in done]
        done.append(pivot)
        pivots.append(c)
        if not left:
            break
    return done, pivots


def _cleared(row: list[int], pivot: list[int], c: int) -> list[int]:
    if not row[c]:
        return row
    a, b = pivot[c], row[c]
    out = [a * x - b * y for x, y in zip(row, pivot, strict=True)]
    factor = math.gcd(*out)
    return [x // factor for x in out] if factor > 1 else out


def _number(x: float) -> Fraction:
    """The number as it is printed."""
    return Fraction(repr(float(x)))


def _rotation(R: Any, what: str) -> Any:
    """A rotation with rational elements, as turns by right angles have, or those of 3, 4, 5."""
    out = np.empty((3, 3), object)
    for k, x in enumerate(np.asarray(R).ravel().tolist()):
        out.flat[k] = near = Fraction(x).limit_denominator(_LARGEST)
        if abs(float(near) - x) > _NEAR:
            raise InexactError(f"the rotation of {what} has the element {x:.6g}, which is not rational")
    if (out @ out.T != np.identity(3, int)).any():
        raise InexactError(f"the rotation of {what} is not one with rational elements")
    return out


def _pose(T: Any, what: str) -> Any:
    M = np.zeros((4, 4), object) + Fraction(0)
    M[:3, :3] = _rotation(T[:3, :3], what)
    for i in range(3):
        x = float(T[i, 3])
        M[i, 3] = _number(0.0 if abs(x) < 1e-15 else round(x, 12) if abs(x - round(x, 12)) < 1e-15 else x)
    M[3, 3] = Fraction(1)
    return M


def rational_geometry(chain: Chain, joints: Sequence[Joint], order: Sequence[int]) -> list[Joint]:
    """The joints with rational numbers; raises `InexactError`."""
    out = []
    for joint, i in zip(joints, order, strict=True):
        name = f"link '{chain.links[i].name}'"
        axis = np.array([Fraction(x).limit_denominator(_LARGEST) for x in joint.axis.tolist()], object)
        far = max(abs(float(a) - x) for a, x in zip(axis, joint.axis.tolist(), strict=True)) > _NEAR
        if joint.kind != "fixed" and (far or axis @ axis != 1):
            raise InexactError(f"the axis of {name} has no rational direction")
        out.append(replace(joint, M=_pose(joint.M, name), axis=axis))
    return out


def exact_rows(
    chain: Chain,
    joints: Sequence[Joint],
    order: Sequence[int],
    gravities: Any,
    parameters: str,
    frames: Any,
    **options: Any,
) -> tuple[Any, Any]:
    """Rows of `row_space` and all of them with the ten columns of each link, in rational numbers and metres."""
    exact = rational_geometry(chain, joints, order)
    g = np.array([[_number(x) for x in row] for row in np.asarray(gravities).tolist()], object)
    rows = row_space(exact, g, _Fractions(), **options)
    first = (
        np.array([[Fraction(x, 2) for x in row] for row in TWICE_MOMENTS], object)
        if parameters == "tensor"
        else np.array([[Fraction(int(i == j)) for j in range(10)] for i in range(10)], object)
    )
    double = np.array([Fraction(1 if i == j else 2) for i, j in zip(ROW, COLUMN, strict=True)], object)
    R = np.zeros((rows.count, 10 * len(order)), object) + Fraction(0)
    for k, i in enumerate(order):
        if len(rows.passing[k]):
            change = first if frames is None else frame_change(_pose(frames[i], chain.links[i].name)) @ first
            R[rows.where[k], 10 * i : 10 * i + 10] = (rows.passing[k][:, ROW, COLUMN] * double) @ change
    return rows, R
