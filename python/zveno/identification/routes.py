"""Other ways to the row space of `span`: the basis set of functions, and samples of the regressor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import Array
from .span import Joint, _cross

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["basis_dimension", "basis_set_blocks", "sampled_rows"]


def basis_dimension(kinds: Sequence[str]) -> int:
    """Number of functions of the basis set: velocity monomials times functions of the joints, and potentials."""
    n, turning = len(kinds), sum(kind == "revolute" for kind in kinds)
    sliding = n - turning
    return int((n * n + n) // 2 * 5**turning * 3**sliding + 3**turning * 2**sliding)


def _points(kind: str, degree: int) -> tuple[Array, Array]:
    """Coordinates of a joint at which its functions are told apart, and the matrix of values to coefficients."""
    if kind == "prismatic":
        x = np.array([-1.0, 0.0, 1.0]) if degree == 2 else np.array([0.0, 1.0])
        values = np.stack([x**k for k in range(degree + 1)], axis=1)
    else:
        x = 2 * np.pi * np.arange(2 * degree + 1) / (2 * degree + 1)
        values = np.stack(
            [np.ones_like(x), *(f(k * x) for k in range(1, degree + 1) for f in (np.cos, np.sin))], axis=1
        )
    return x, np.linalg.inv(values)


def _motions(joint: Joint, x: Array) -> Array:
    """Poses of the link in its parent at coordinates x, (k, 4, 4)."""
    J = np.tile(np.identity(4), (len(x), 1, 1))
    if joint.kind == "prismatic":
        J[:, :3, 3] = x[:, None] * joint.axis
    elif joint.kind == "revolute":
        A, S = np.outer(joint.axis, joint.axis), _cross(joint.axis)
        J[:, :3, :3] = A + np.cos(x)[:, None, None] * (np.identity(3) - A) + np.sin(x)[:, None, None] * S
    return np.asarray(joint.M @ J)


def _way(joints: Sequence[Joint], k: int) -> list[int]:
    way = []
    while k >= 0:
        way.append(k)
        k = joints[k].parent
    return way[::-1]


def _carried(matrices: Array, joint: Joint, twist: bool, degree: int) -> Array:
    """Twists or rows g' T, (grid, ...), carried through one more joint: one more axis of the grid."""
    if joint.kind == "fixed":
        A = joint.M
        return np.asarray(np.linalg.inv(A) @ matrices @ A if twist else matrices @ A)
    A = _motions(joint, _points(joint.kind, degree)[0])
    spread = matrices[..., None, :, :]
    return np.asarray(np.linalg.inv(A) @ spread @ A if twist else spread @ A)


def _hat(joint: Joint) -> Array:
    X = np.zeros((4, 4))
    if joint.kind == "revolute":
        X[:3, :3] = _cross(joint.axis)
    else:
        X[:3, 3] = joint.axis
    return X


def _coefficients(values: Array, joints: Sequence[Joint], passed: Sequence[int], degree: int) -> Array:
    """Values on the grid of the joints passed, (points, ..., 4, 4), to coefficients of products of functions."""
    for axis, k in enumerate(passed):
        change = _points(joints[k].kind, degree)[1]
        values = np.moveaxis(np.tensordot(change, values, axes=(1, axis)), 0, axis)
    return values


def basis_set_blocks(joints: Sequence[Joint], gravities: Array) -> Iterator[Array]:
    """Rows of the coordinate matrix Z of the Lagrangian, block by block: (functions, links, 4, 4), constants left out.

    One block for each velocity monomial, with functions of the joints that it depends on, and one for the potential.
    """
    moving = [k for k, joint in enumerate(joints) if joint.kind != "fixed"]
    ways = [_way(joints, k) for k in range(len(joints))]
    for i, j in combinations_with_replacement(moving, 2):
        if i not in ways[j]:
            continue
        beyond = [k for k in moving if i in ways[k] and k != i]
        shape = [3 if joints[k].kind == "prismatic" else 5 for k in beyond]
        Z = np.zeros((*shape, len(joints), 4, 4))
        for link, way in enumerate(ways):
            if j not in way:
                continue
            X, Y = _hat(joints[i]), None
            passed: list[int] = []
            for k in way[way.index(i) :]:
                if k != i:
                    X = _carried(X, joints[k], True, 2)
                    if joints[k].kind != "fixed":
                        passed.append(k)
                        if Y is not None:
                            Y = _carried(Y, joints[k], True, 2)
                        elif k == j:
                            Y = np.broadcast_to(_hat(joints[j]), X.shape)
                    elif Y is not None:
                        Y = _carried(Y, joints[k], True, 2)
            Y = X if Y is None else Y
            C = np.swapaxes(X, -1, -2) @ Y
            C = _coefficients((C + np.swapaxes(C, -1, -2)) / 2, joints, passed, 2)
            place: list[Any] = [slice(None) if k in passed else 0 for k in beyond]
            Z[(*place, link)] = C
        yield Z.reshape(-1, len(joints), 4, 4)
    for g in gravities:
        shape = [2 if joints[k].kind == "prismatic" else 3 for k in moving]
        Z = np.zeros((*shape, len(joints), 4, 4))
        for link, way in enumerate(ways):
            row = np.array([[*g, 0.0]])
            passed = [k for k in way if joints[k].kind != "fixed"]
            for k in way:
                row = _carried(row, joints[k], False, 1)
            C = np.zeros((*row.shape[:-2], 4, 4))
            C[..., :, 3] = row[..., 0, :] / 2
            C[..., 3, :] += row[..., 0, :] / 2
            place = [slice(None) if k in passed else 0 for k in moving]
            Z[(*place, link)] = _coefficients(C, joints, passed, 1)
        yield Z.reshape(-1, len(joints), 4, 4)[1:]


def sampled_rows(regressor: Any, chain: Chain, columns: int, seed: int) -> Array:
    """Triangular factor of a regressor at random states, as many rows as there are columns at the most."""
    rng = np.random.default_rng(seed)
    count = 2 * columns // max(chain.n, 1) + 20
    q = rng.uniform(-np.pi, np.pi, (count, chain.n))
    qd, qdd = rng.uniform(-2.0, 2.0, (2, count, chain.n))
    W = regressor(q, qd, qdd).reshape(-1, columns)
    return np.asarray(np.linalg.qr(W, mode="r"))
