"""Row space of the equations of motion of a tree of joints: what can be seen of its inertial parameters.

The energies of a link are traces with its pseudo-inertia H. Carried through joint k, H becomes A_k(q) H A_k(q)', A_k
constant, linear in the sine and cosine of a revolute coordinate, or in a prismatic one. Every coefficient function of
the Lagrangian is a product of such factors, and the last one that is not constant belongs to one link: its rows begin
there and are carried by the constant parts B0 of the transfers to the links beyond. So the row space is found link by
link, whatever the number of joints. Rows are kept as symmetric matrices C with tr(C H) = row . p, and the text runs on
doubles and on fractions alike: `Numbers` says how a span is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

__all__ = ["Joint", "Numbers", "Rows", "base_rows", "row_space"]


@dataclass(frozen=True)
class Joint:
    """A link and how it is carried: frame M in the parent, then a turn about the axis or a shift along it."""

    parent: int  # -1: the base
    kind: str  # "revolute", "prismatic", "fixed"
    M: Any  # (4, 4)
    axis: Any  # (3,), of unit length
    name: str = ""


class Numbers(Protocol):
    """How to compute with the numbers in use."""

    def span(self, rows: Any, what: str) -> Any:
        """A basis of the rows (k, m)."""
        ...


@dataclass
class Rows:
    """The row space: of each link the rows (k, 4, 4) that begin there, all rows (r, 4, 4) that pass it, and which."""

    born: list[Any] = field(default_factory=list)  # (d_k, 4, 4)
    extra: list[Any] = field(default_factory=list)  # (d_k, e_k): their part in the columns that belong to the joint
    passing: list[Any] = field(default_factory=list)  # (r_k, 4, 4)
    where: list[Any] = field(default_factory=list)  # (r_k,) indices of rows
    first: Any = None  # rows that begin at the base, (d, 4, 4)
    count: int = 0


def _flat(C: Any) -> Any:
    return C.reshape(len(C), 16)


def _half(like: Any) -> Any:
    """One half of a kind that keeps fractions exact."""
    if like.dtype != object:
        return 0.5
    from fractions import Fraction

    return Fraction(1, 2)


def _cross(a: Any) -> Any:
    x, y, z = a
    return np.array([[x * 0, -z, y], [z, x * 0, -x], [-y, x, x * 0]])


def _twist_matrices(V: Any) -> Any:
    """(k, 6) twists [v; w] as (k, 4, 4) matrices."""
    W = np.zeros((len(V), 4, 4), V.dtype)
    v, w = V[:, :3], V[:, 3:]
    W[:, :3, 3] = v
    W[:, 2, 1], W[:, 1, 2] = w[:, 0], -w[:, 0]
    W[:, 0, 2], W[:, 2, 0] = w[:, 1], -w[:, 1]
    W[:, 1, 0], W[:, 0, 1] = w[:, 2], -w[:, 2]
    return W


def _kinetic(s: Any, V: Any) -> Any:
    """Rows of tr(s H v') for the twist s and each v, (k, 4, 4)."""
    X, Y = _twist_matrices(s[None])[0], _twist_matrices(V)
    G = np.swapaxes(Y, 1, 2) @ X
    return (G + np.swapaxes(G, 1, 2)) * _half(G)


def _moved(joint: Joint, V: Any) -> Any:
    """Twists of the parent in the joint frame before its motion."""
    R, p = joint.M[:3, :3], joint.M[:3, 3]
    v, w = V[:, :3], V[:, 3:]
    return np.hstack([(v + _crossed(w, p)) @ R, w @ R])


def _crossed(a: Any, b: Any) -> Any:
    """Rows of a times b."""
    out = np.empty_like(a)
    out[:, 0] = a[:, 1] * b[2] - a[:, 2] * b[1]
    out[:, 1] = a[:, 2] * b[0] - a[:, 0] * b[2]
    out[:, 2] = a[:, 0] * b[1] - a[:, 1] * b[0]
    return out


class _Transfer:
    """Coefficients of the joint's functions in what is carried through it."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        dtype = joint.M.dtype
        a = joint.axis
        P, Q, S = np.zeros((3, 4, 4), dtype)
        if joint.kind == "revolute":
            P[:3, :3] = np.outer(a, a)
            P[3, 3] = 1
            Q[:3, :3] = np.identity(3, dtype) - P[:3, :3]
            S[:3, :3] = _cross(a)
        elif joint.kind == "prismatic":
            P[...] = np.identity(4, dtype)
            S[:3, 3] = a
        self.P, self.Q, self.S = P, Q, S

    def rows(self, C: Any) -> tuple[Any, list[Any]]:
        """B0 C, and the other B_l C."""
        M, P, Q, S = self.joint.M, self.P, self.Q, self.S
        C = M.T @ C @ M
        if self.joint.kind == "fixed":
            return C, []
        if self.joint.kind == "prismatic":
            CS = C @ S
            return C, [CS + np.swapaxes(CS, 1, 2), S.T @ CS]
        CP, CQ, CS = C @ P, C @ Q, C @ S
        QQ, SS = Q.T @ CQ, S.T @ CS
        PQ, PS, QS = P.T @ CQ, P.T @ CS, Q.T @ CS
        half = _half(C)
        double = [(QQ - SS) * half, (QS + np.swapaxes(QS, 1, 2)) * half]
        return P.T @ CP + (QQ + SS) * half, [PQ + np.swapaxes(PQ, 1, 2), PS + np.swapaxes(PS, 1, 2), *double]

    def constant(self, C: Any) -> Any:
        M, P, Q, S = self.joint.M, self.P, self.Q, self.S
        C = M.T @ C @ M
        if self.joint.kind != "revolute":
            return C
        return P @ C @ P + (Q @ C @ Q + S.T @ C @ S) * _half(C)

    def twists(self, V: Any) -> tuple[Any, list[Any]]:
        """Constant part of carried twists, and the other parts."""
        V = _moved(self.joint, V)
        a = self.joint.axis
        if self.joint.kind == "fixed" or not len(V):
            return V, []
        if self.joint.kind == "prismatic":
            shift = np.zeros_like(V)
            shift[:, :3] = _crossed(V[:, 3:], a)
            return V, [shift]
        P, S = self.P[:3, :3], self.S[:3, :3]
        along = np.hstack([V[:, :3] @ P, V[:, 3:] @ P])
        return along, [V - along, np.hstack([V[:, :3] @ S, V[:, 3:] @ S])]

    @property
    def motion(self) -> Any:
        """The joint's own twist in the link."""
        a = self.joint.axis
        zero = np.zeros(3, self.joint.M.dtype)
        return np.concatenate([zero, a] if self.joint.kind == "revolute" else [a, zero])


def base_rows(gravity: Any) -> Any:
    """Rows of the force and the moment of the weight on the base, (6, 4, 4): m g and the elements of S x g."""
    g = gravity
    dtype = g.dtype
    half = _half(g)
    C = np.zeros((6, 4, 4), dtype)
    for i in range(3):
        C[i, 3, 3] = g[i]
    x, y, z = _cross(g)
    for i, moment in enumerate((x, y, z)):
        C[3 + i, :3, 3] = moment * half
        C[3 + i, 3, :3] = moment * half
    return C


def row_space(
    joints: Sequence[Joint],
    gravities: Any,
    numbers: Numbers,
    *,
    extras: Sequence[Sequence[tuple[str, int]]] | None = None,
    efforts: bool = True,
    wrench: bool = False,
) -> Rows:
    """Rows of the equations of motion, without what is constant in the Lagrangian.

    Parameters
    ----------
    joints : parents before children
    gravities : (k, 3) array
        Gravity in base axes; several where the base is turned between measurements.
    numbers : Numbers
    extras : of each link, the columns that belong to its joint: ("inertia", 0), ("force", 0), or ("coupled", joint)
        "inertia" adds 1/2 qd^2 to the Lagrangian, "force" -q, "coupled" qd_i qd.
    efforts, wrench : bool
        Efforts of the joints are measured; the wrench on the base is.
    """
    dtype = joints[0].M.dtype
    one = 2 * _half(joints[0].M)
    weight = np.zeros((len(gravities), 4, 4), dtype)  # g4' T H e4
    weight[:, :3, 3] = weight[:, 3, :3] = gravities * _half(gravities)
    if wrench:
        first = numbers.span(_flat(np.concatenate([base_rows(g) for g in gravities])), "base").reshape(-1, 4, 4)
        start_V = np.identity(6, dtype)
    else:
        first = np.zeros((0, 4, 4), dtype)
        start_V = np.zeros((0, 6), dtype)
    if not efforts:
        weight = weight[:0]
    out = Rows(first=first, count=len(first))
    C: list[Any] = []  # of every function but the constant weight
    V: list[Any] = []
    still: list[Any] = []  # the weight carried by constant parts only
    for k, joint in enumerate(joints):
        transfer = _Transfer(joint)
        up = joint.parent
        C_up, V_up, still_up = (first, start_V, weight) if up < 0 else (C[up], V[up], still[up])
        passing_up, where_up = (first, np.arange(len(first))) if up < 0 else (out.passing[up], out.where[up])
        constant, others = transfer.rows(C_up)
        still_here, falling = transfer.rows(still_up)
        kept, varying = transfer.twists(V_up)
        columns = extras[k] if extras is not None else ()
        still.append(still_here)
        if joint.kind == "fixed":
            C.append(constant)
            V.append(kept)
            out.born.append(np.zeros((0, 4, 4), dtype))
            out.extra.append(np.zeros((0, len(columns)), dtype))
            out.passing.append(transfer.constant(passing_up))
            out.where.append(where_up)
            continue
        carried = np.concatenate([kept, *varying])
        carried = numbers.span(carried, f"link '{joints[k].name}'") if len(carried) else carried
        s = transfer.motion
        partners = [partner for what, partner in columns if what == "coupled"]
        seen, still_twists = _apart(joints, partners, k, start_V, numbers) if partners else (carried, {})
        G = [*others, _kinetic(s, seen)]
        E = [np.zeros((sum(map(len, G)), len(columns)), dtype)]
        for part, rows in enumerate(falling):
            G.append(rows)
            E.append(
                _marked(columns, ("force", 0), len(rows), -one, dtype)
                if part == 0
                else _marked(columns, None, len(rows), one, dtype)
            )
        for partner, twist in still_twists.items():
            G.append(_kinetic(s, twist[None]))
            E.append(_marked(columns, ("coupled", partner), 1, one, dtype))
        if efforts:
            G.append(_kinetic(s, s[None]))
            E.append(_marked(columns, ("inertia", 0), 1, one, dtype))
        flat = _flat(np.concatenate(G))
        plain = numbers.span(flat, f"link '{joint.name}'")
        D = numbers.span(np.hstack([flat, np.concatenate(E)]), f"link '{joint.name}'") if columns else plain
        born = D[:, :16].reshape(-1, 4, 4)
        out.born.append(born)
        out.extra.append(D[:, 16:])
        C.append(numbers.span(np.concatenate([plain, _flat(constant)]), f"link '{joint.name}'").reshape(-1, 4, 4))
        V.append(numbers.span(np.concatenate([carried, s[None]]), f"link '{joints[k].name}'") if efforts else carried)
        out.passing.append(np.concatenate([transfer.constant(passing_up), born]))
        out.where.append(np.concatenate([where_up, np.arange(out.count, out.count + len(born))]))
        out.count += len(born)
    return out


def _marked(
    columns: Sequence[tuple[str, int]], column: tuple[str, int] | None, count: int, value: Any, dtype: Any
) -> Any:
    """Rows that have the value in that column, if there is one."""
    E = np.zeros((count, len(columns)), dtype)
    if column in columns:
        E[:, columns.index(column)] = value
    return E


def _apart(
    joints: Sequence[Joint], partners: Sequence[int], end: int, start: Any, numbers: Numbers
) -> tuple[Any, dict[int, Any]]:
    """Twists carried to a link, and apart those of some joints as far as constant parts only carry them."""
    way = [end]
    while joints[way[-1]].parent >= 0:
        way.append(joints[way[-1]].parent)
    seen = start
    still: dict[int, Any] = {}
    for k in reversed(way):
        transfer = _Transfer(joints[k])
        kept, varying = transfer.twists(seen)
        parts = [kept, *varying]
        for partner, twist in still.items():
            constant, others = transfer.twists(twist[None])
            still[partner] = constant[0]
            parts += others
        seen = np.concatenate(parts)
        if k in partners:
            still[k] = transfer.motion
        elif joints[k].kind != "fixed" and k != end:
            seen = np.concatenate([seen, transfer.motion[None]])
        seen = numbers.span(seen, f"link '{joints[k].name}'") if len(seen) else seen
    return seen, still
