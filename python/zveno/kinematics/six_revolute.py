"""All solutions of six revolute joints of any geometry, as eigenvalues (Raghavan and Roth, Manocha and Canny)."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._check import Array
from ..results import _NOTE

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["SixRevolute"]

_SHIFT: Final = (0.37, -0.61, 0.83)  # of joints 3, 4, 5: no half tangent is infinite
_CUTS: Final = (1, 2, 4, 0, 3, 5)  # joints after which the loop is cut; parallel and meeting axes spoil some of them
_PROBES: Final = (0.71, -1.3)  # half tangents at which a cut that can tell solutions apart has a regular matrix
_REGULAR: Final = 1e-11
_EXACT: Final = 2e-12  # m and rad
_SAME: Final = 1e-5  # rad: solutions that differ by less are one
_INSIDE: Final = 1e-9  # of limits
_SINGULAR: Final = 1e-7
_SAMPLES: Final = 2 * math.pi / 3 * np.arange(3)
# values at the samples -> coefficients of 1, cos, sin
_FIT: Final = np.linalg.inv(np.stack([np.ones(3), np.cos(_SAMPLES), np.sin(_SAMPLES)], axis=1))
# these -> coefficients of 1, x, x^2 over 1 + x^2, x the half tangent
_HALF: Final = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 2.0, 0.0]])
_MOST_AT_ONCE: Final = 512  # poses


def _about(k: Array, angle: Array | float, v: Array) -> Array:
    """Vectors turned about unit axes."""
    angle = np.asarray(angle)[..., None]
    c, s = np.cos(angle), np.sin(angle)
    along: Array = k * (k * v).sum(axis=-1, keepdims=True)
    turned: Array = along + c * (v - along) + s * np.cross(k, v)
    return turned


class _Loop:
    """The joints of a closed loop E_1 ... E_6 G = 1 for poses, (m, 3) axes and points each."""

    def __init__(self, k: list[Array], p: list[Array], R: Array, t: Array, length: float) -> None:
        self.k, self.p, self.R, self.t, self.length = k, p, R, t, length

    def back(self, x: Array, point: bool) -> Array:
        """G^-1 of a point or of a direction."""
        y: Array = np.einsum("mji,mj->mi", self.R, x - self.t if point else x)
        return y

    def moved(self, joint: int, angle: Array | float, x: Array, point: bool) -> Array:
        """E of a joint on points or directions."""
        p = self.p[joint] if point else 0.0
        return p + _about(self.k[joint], angle, x - p)

    def _fourteen(self, p: Array, d: Array) -> Array:
        """(K22) what a line says, (m, 14)."""
        p = p / self.length
        pp, pd = (p * p).sum(axis=-1, keepdims=True), (p * d).sum(axis=-1, keepdims=True)
        return np.concatenate([d, p, np.cross(p, d), pp * d - 2 * pd * p, pp, pd], axis=-1)

    def _left(self, four: Array | float, five: Array | float) -> Array:
        p, d = self.p[5], self.k[5]
        for joint, angle in ((4, five), (3, four)):
            p, d = self.moved(joint, angle, p, True), self.moved(joint, angle, d, False)
        return self._fourteen(p - self.p[2], d)

    def _right(self, one: Array | float, two: Array | float) -> Array:
        p, d = self.back(self.p[5], True), self.back(self.k[5], False)
        for joint, angle in ((0, one), (1, two)):
            p, d = self.moved(joint, -angle, p, True), self.moved(joint, -angle, d, False)
        return self._fourteen(p - self.p[2], d)

    def solve(self) -> tuple[NDArray[np.intp], Array, NDArray[np.bool_]]:
        """Numbers of poses and the six angles of a candidate each; which poses are regular:

        where det(A0 + A1 x + A2 x^2) vanishes for every x, eigenvalues are what rounding makes of them.
        """
        shift3, shift4, shift5 = _SHIFT
        left = np.array([[self._left(a + shift4, b + shift5) for b in _SAMPLES] for a in _SAMPLES])
        right = np.array([[self._right(a, b) for b in _SAMPLES] for a in _SAMPLES])
        # (m, 14, 9): coefficients of products of 1, cos, sin of the two joints
        L, Q = (np.einsum("ua,vb,abmr->mruv", _FIT, _FIT, x).reshape(x.shape[2], 14, 9) for x in (left, right))
        const, Q8 = Q[:, :, 0], Q[:, :, 1:]
        N = np.swapaxes(np.linalg.svd(Q8)[0][:, :, 8:], 1, 2)  # what the first two joints cannot do
        k = self.k[2]
        along, eye = k[:, :, None] * k[:, None, :], np.eye(3)
        skew = np.cross(eye[None], k[:, None, :])  # k x
        blocks = L[:, :12].reshape(-1, 4, 3, 9)
        parts = []
        for turn in (along, eye - along, skew):
            part = np.zeros_like(L)
            part[:, :12] = np.einsum("mij,mbjc->mbic", turn, blocks).reshape(-1, 12, 9)
            parts.append(part)
        parts[0][:, 12:] = L[:, 12:]
        parts[0][:, :, 0] -= const
        F0, Fc, Fs = (N @ part for part in parts)
        Fc, Fs = math.cos(shift3) * Fc + math.sin(shift3) * Fs, math.cos(shift3) * Fs - math.sin(shift3) * Fc
        half = np.kron(_HALF, _HALF)
        A = []
        for F in (F0 + Fc, 2 * Fs, F0 - Fc):  # of 1, x3, x3^2; columns x4^i x5^j, the rows once more times x4
            F = F @ half
            full = np.zeros((len(F), 12, 12))
            full[:, :6, :9], full[:, 6:, 3:] = F, F
            A.append(full)
        A0, A1, A2 = A
        sizes = np.linalg.svd(np.stack([A0 + x * (A1 + x * A2) for x in _PROBES], axis=1), compute_uv=False)
        regular: NDArray[np.bool_] = np.any(sizes[..., -1] > _REGULAR * sizes[..., 0], axis=1)
        companion = np.zeros((len(A0), 24, 24))
        companion[:, :12, 12:] = np.eye(12)
        with np.errstate(all="ignore"):
            try:
                companion[:, 12:] = -np.linalg.solve(A2, np.concatenate([A0, A1], axis=2))
            except np.linalg.LinAlgError:
                companion[:, 12:] = -np.linalg.pinv(A2) @ np.concatenate([A0, A1], axis=2)
            companion[~np.isfinite(companion).all(axis=(1, 2))] = 0.0
            x, v = np.linalg.eig(companion)
        real = np.abs(x.imag) < 1e-2 * (1 + np.abs(x))
        pose, which = np.nonzero(real)
        x3 = x.real[pose, which]
        v = v[pose, :12, which]
        v = (v / v[np.arange(len(v)), np.abs(v).argmax(axis=1)][:, None]).real.reshape(-1, 4, 3)
        x4, x5 = _ratio(v), _ratio(np.swapaxes(v, 1, 2))
        q3, q4, q5 = (2 * np.arctan(y) for y in (x3, x4, x5))
        q4, q5 = q4 + shift4, q5 + shift5
        mine = _Loop([a[pose] for a in self.k], [a[pose] for a in self.p], self.R[pose], self.t[pose], self.length)
        there = mine._left(q4, q5)
        q3 = q3 + shift3
        blocks = there[:, :12].reshape(-1, 4, 3)
        there[:, :12] = _about(mine.k[2][:, None], np.repeat(q3[:, None], 4, axis=1), blocks).reshape(-1, 12)
        y = np.einsum("mij,mj->mi", np.linalg.pinv(Q8)[pose], there - const[pose])
        # of the products without the first: 1 c2, 1 s2, c1, ..., s1
        q1, q2 = np.arctan2(y[:, 5], y[:, 2]), np.arctan2(y[:, 1], y[:, 0])
        # what is left for the last joint: R_6 = (R_1 ... R_5)' R_G'
        k6 = mine.k[5]
        beside = np.cross(k6, np.where(np.abs(k6[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]))
        after = mine.back(beside, False)
        for joint, angle in enumerate((q1, q2, q3, q4, q5)):
            after = mine.moved(joint, -angle, after, False)
        q6 = np.arctan2((np.cross(k6, beside) * after).sum(axis=1), (beside * after).sum(axis=1))
        return pose, np.stack([q1, q2, q3, q4, q5, q6], axis=1), regular


def _ratio(v: Array) -> Array:
    """The number by which each row of (m, a, b) is larger than the one before, by least squares."""
    up, down = v[:, 1:], v[:, :-1]
    size = (down * down).sum(axis=(1, 2))
    ratio: Array = (up * down).sum(axis=(1, 2)) / np.where(size > 0, size, 1.0)
    return ratio


class SixRevolute:
    """Six revolute joints of any geometry: screws at q = 0, base frame."""

    def __init__(self, chain: Chain, link: str, reach: _core.Reach) -> None:
        self.chain, self.link, self.reach = chain, link, reach
        zero = np.zeros(chain.n)
        J, self.M = chain.jacobian(zero, link), chain.pose(zero, link)
        self.joints = [j for j in range(chain.n) if np.abs(J[:, j]).max() > 0]
        self.k = J[3:, self.joints].T
        self.p = self.M[:3, 3] - np.cross(J[:3, self.joints].T, self.k)
        self.length = reach.length

    @property
    def moves(self) -> bool:
        """Whether the link can be moved in all six directions."""
        q = np.random.default_rng(1).uniform(-3, 3, (8, self.chain.n))
        values = np.linalg.svd(self._scaled(q), compute_uv=False)
        return bool((values[:, -1] / values[:, 0]).max() > 1e-9)

    def _scaled(self, q: Array) -> Array:
        """Jacobians, lengths over that of the arm."""
        J = self.chain.jacobian(q, self.link)[:, :, self.joints]
        J[:, :3] /= self.length
        return J

    def _candidates(self, T: Array, cut: int) -> tuple[NDArray[np.intp], Array, NDArray[np.bool_]]:
        """The loop cut behind joint `cut`; those before it are moved past the seam, (K3)."""
        R = np.einsum("ij,mkj->mik", self.M[:3, :3], T[:, :3, :3])
        t = self.M[:3, 3] - np.einsum("mij,mj->mi", R, T[:, :3, 3])
        k, p = [], []
        order = [(i + cut) % 6 for i in range(6)]
        for i in order:
            if i >= cut:
                k.append(np.repeat(self.k[None, i], len(T), axis=0))
                p.append(np.repeat(self.p[None, i], len(T), axis=0))
            else:
                k.append(R @ self.k[i])
                p.append(R @ self.p[i] + t)
        pose, q, regular = _Loop(k, p, R, t, self.length).solve()
        out = np.empty_like(q)
        out[:, order] = q
        good = np.isfinite(out).all(axis=1)
        return pose[good], out[good], regular

    def _found(self, T: Array, rest: Array, cut: int, threads: Any) -> tuple[list[list[Array]], NDArray[np.bool_]]:
        """Solutions of each pose, polished on the model, angles in (-pi, pi]; and which poses are regular."""
        pose, part, regular = self._candidates(T, cut)
        q = rest[pose]
        q[:, self.joints] = part
        here = np.abs(self.chain.pose(q, self.link) - T[pose])
        near = (here[:, :3, :3].max(axis=(1, 2)) < 0.5) & (here[:, :3, 3].max(axis=1) < 0.5 * self.length)
        pose, q = pose[near], q[near]
        found: list[list[Array]] = [[] for _ in T]
        if len(pose):
            q, status, *_ = self.reach.solve([T[pose]], q, rest[0], False, False, _EXACT, _EXACT, 1, 0, threads)
            part = q[:, self.joints]
            q[:, self.joints] = math.pi - (math.pi - part) % (2 * math.pi)
            for i, row, state in zip(pose, q, status, strict=True):
                if state == 0:
                    _add(found[i], row)
        return found, regular

    def all(self, T: Array, rest: Array, threads: Any) -> list[list[Array]]:
        """Every solution of poses (m, 4, 4), in the order of q; other joints as in rest (m, n)."""
        found: list[list[Array]] = []
        for begin in range(0, len(T), _MOST_AT_ONCE):
            part = slice(begin, begin + _MOST_AT_ONCE)
            found += self._some(T[part], rest[part], threads)
        return found

    def _some(self, T: Array, rest: Array, threads: Any) -> list[list[Array]]:
        """Cut after cut, until two that are regular have found the same, of an even number and not nothing."""
        every: list[list[Array]] = [[] for _ in T]
        agreed = np.zeros(len(T), int)  # regular cuts that found all that is known
        open_ = np.arange(len(T))
        for cut in _CUTS:
            found, regular = self._found(T[open_], rest[open_], cut, threads)
            for i, more, sure in zip(open_.tolist(), found, regular.tolist(), strict=True):
                known = len(every[i])
                for row in more:
                    _add(every[i], row)
                agreed[i] = (agreed[i] if len(every[i]) == known else 0) + (sure and len(more) == len(every[i]))
            done = np.array([agreed[i] >= 2 and len(every[i]) % 2 == 0 and len(every[i]) > 0 for i in open_.tolist()])
            open_ = open_[~done]
            if not len(open_):
                break
        for rows in every:
            rows.sort(key=lambda q: [round(x / _SAME) for x in q])
        return every

    def solutions(
        self, T: Array, rest: Array, lower: Array, upper: Array, limits: bool, threads: Any
    ) -> tuple[Array, NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32], Array]:
        """(q, notes, first, outside, free) as `ClosedFormSolutions` has them."""
        rows: list[Array] = []
        branch: list[int] = []
        first, outside = np.zeros(len(T) + 1, np.int64), np.zeros(len(T), np.int32)
        for i, found in enumerate(self.all(T, rest, threads)):
            for number, q in enumerate(found):
                turns = [q] if not limits else self._turns(q, rest[i], lower, upper)
                outside[i] += not turns
                rows += turns
                branch += [number] * len(turns)
            first[i + 1] = len(rows)
        q = np.array(rows).reshape(-1, self.chain.n)
        notes, free = np.zeros(len(q), _NOTE), np.zeros_like(q)
        notes["branch"], notes["multiplicity"] = branch, 1
        if len(q):
            off = self.chain.pose(q, self.link) - T[np.repeat(np.arange(len(T)), np.diff(first))]
            notes["squares"] = np.stack(
                [(off[:, :3, 3] ** 2).sum(axis=1), 0.5 * (off[:, :3, :3] ** 2).sum(axis=(1, 2))], axis=1
            )
            _, values, across = np.linalg.svd(self._scaled(q))
            singular = values[:, 5] < _SINGULAR * values[:, 0]
            notes["singular"] = 8 * singular
            for i in np.flatnonzero(singular).tolist():
                along = across[i, 5]
                free[i, self.joints] = along * np.sign(along[np.abs(along).argmax()])
        return q, notes.view(np.uint8).reshape(-1, _NOTE.itemsize), first, outside, free

    def _turns(self, q: Array, rest: Array, lower: Array, upper: Array) -> list[Array]:
        """(K24) q and whole turns inside of the limits, nearest to `rest` first."""
        choices = []
        for j in range(self.chain.n):
            low, high = lower[j] - _INSIDE, upper[j] + _INSIDE
            if j not in self.joints or not (np.isfinite(low) or np.isfinite(high)):
                choices.append([q[j]])
                continue
            first = math.ceil((low - q[j]) / (2 * math.pi)) if np.isfinite(low) else None
            last = math.floor((high - q[j]) / (2 * math.pi)) if np.isfinite(high) else None
            if first is None or last is None:  # of one limit only: the turn that is nearest to it inside
                first = last = max(first, 0) if first is not None else min(last or 0, 0)
            values = q[j] + 2 * math.pi * np.arange(first, last + 1)
            choices.append(np.clip(values, lower[j], upper[j]).tolist())
        every = [np.array(row) for row in itertools.product(*choices)]
        every.sort(key=lambda row: float(np.abs(row - rest).max()))
        return every


def _add(found: list[Array], q: Array) -> None:
    """Unless it is there."""
    for other in found:
        if (np.abs((q - other + math.pi) % (2 * math.pi) - math.pi) < _SAME).all():
            return
    found.append(q)
