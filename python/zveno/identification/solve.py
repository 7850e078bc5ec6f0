"""Least squares from factors of the stacked rows: one pass over the samples, memory that does not grow with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._check import Array

if TYPE_CHECKING:
    from .model import LinearModel

__all__ = ["Chunk", "Factors", "Solution", "factorise", "in_order", "solve", "widened"]

_UNSEEN: Final = 1e-9  # singular value of columns of unit size, below which the data do not show a combination

Mask = NDArray[np.bool_]
T = TypeVar("T")
U = TypeVar("U")


class Chunk(NamedTuple):
    """Some samples: arrays (M, n) of the motion, and m rows of times and efforts for them.

    Where efforts are filtered, columns must be too: `reduce` takes what was computed of the motion to the m rows.
    """

    t: Array  # (m,)
    q: Array  # (M, n)
    qd: Array
    qdd: Array
    tau: Array  # (m, n)
    use: Mask | None  # (m, n): which efforts count
    part: int  # 0 to fit, 1 to validate
    reference: tuple[Array, Array, Array] | None = None  # instruments: coordinates that no sensor has disturbed
    kernel: Array | None = None  # of the filter, as long as M is larger than the stretch of the m rows
    stride: int = 1

    def reduce(self, values: Array) -> Array:
        """Filtered values (M, ...) at the m rows."""
        if self.kernel is None:
            return values
        columns = np.ascontiguousarray(values.reshape(len(values), -1).T)
        windows = np.lib.stride_tricks.sliding_window_view(columns, len(self.kernel), axis=1)[:, :: self.stride]
        found = np.einsum("ckl,l->kc", windows, self.kernel)
        return np.ascontiguousarray(found).reshape(len(found), *values.shape[1:])


def in_order(work: Callable[[T], U], items: Iterable[T], threads: int) -> Iterator[U]:
    """Results of `work` in the order of the items, computed by threads with a few items in flight."""
    if threads < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting = []
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()


@dataclass
class Factors:
    """Upper triangular factors of [W_j, y_j], a stack of rows for each joint j.

    |R_j (p, -1)|^2 is the sum of squared residuals of joint j for any parameters p: weights of joints can be changed
    without the samples.
    """

    R: list[Array]
    rows: Array  # samples of each joint

    @classmethod
    def empty(cls, model: LinearModel) -> Factors:
        sizes = [len(active) + 1 for active in model.active]
        return cls([np.zeros((size, size)) for size in sizes], np.zeros(len(sizes), dtype=int))

    def add(self, parts: list[Array], rows: Array) -> None:
        """Add factors of further samples."""
        for R, part in zip(self.R, parts, strict=True):
            _core.add_rows(R, part)
        self.rows = self.rows + rows

    def squares(self, model: LinearModel, p: Array) -> Array:
        """Sums of squared residuals (n,)."""
        sums = [
            np.linalg.norm(R[:, :-1] @ p[active] - R[:, -1]) ** 2
            for R, active in zip(self.R, model.active, strict=True)
        ]
        return np.array(sums)

    def signal(self) -> Array:
        """Sums of squared efforts (n,)."""
        return np.array([np.linalg.norm(R[:, -1]) ** 2 for R in self.R])

    def stacked(self, model: LinearModel, noise: Array) -> Array:
        """Factor (k, r + 1) of all rows [W, y], those of joint j divided by noise[j]."""
        r = model.count
        rows = []
        for R, active, s in zip(self.R, model.active, noise.tolist(), strict=True):
            block = np.zeros((len(R), r + 1))
            block[:, active] = R[:, :-1] / s
            block[:, r] = R[:, -1] / s
            rows.append(block)
        return triangular(np.concatenate(rows))


def triangular(rows: Array) -> Array:
    """R (k, k) of rows (m, k) = Q R. Not by LAPACK, whose threads would get into the way of ours."""
    R = np.zeros((rows.shape[1],) * 2)
    _core.add_rows(R, np.ascontiguousarray(rows))
    return R


def factorise(
    model: LinearModel,
    chunks: Iterable[Chunk],
    *,
    threads: int = 1,
    load: Callable[[Chunk], Array] | None = None,
    weigh: Callable[[Chunk, list[Array], Array], list[Array]] | None = None,
    tick: Callable[[int], None] = lambda done: None,
) -> tuple[Factors, Factors]:
    """Factors of the samples to fit and of those to validate.

    `weigh` gives a weight for each row of each joint of chunks that are fitted; see `joint_rows`.
    """

    def work(chunk: Chunk) -> tuple[int, int, list[Array], Array]:
        blocks, y = joint_rows(model, chunk, load)
        weights = weigh(chunk, blocks, y) if weigh is not None and chunk.part == 0 else None
        parts, rows = [], np.zeros(len(blocks), dtype=int)
        for j, block in enumerate(blocks):
            A = np.column_stack([block, y[:, j]])
            if chunk.use is not None:
                A = A[chunk.use[:, j]]
            if weights is not None:
                A = A * np.sqrt(weights[j] if chunk.use is None else weights[j][chunk.use[:, j]])[:, None]
            rows[j] = len(A)
            parts.append(triangular(A))
        return chunk.part, len(y), parts, rows

    both = Factors.empty(model), Factors.empty(model)
    done = 0
    for part, count, parts, rows in in_order(work, chunks, threads):
        both[part].add(parts, rows)
        done += count
        tick(done)
    return both


def joint_rows(
    model: LinearModel, chunk: Chunk, load: Callable[[Chunk], Array] | None = None
) -> tuple[list[Array], Array]:
    """Columns (m, k) of each joint, and efforts (m, n) without those that are known."""
    carried = load(chunk) if load is not None else None
    blocks = [chunk.reduce(x) for x in model.joint_blocks(chunk.q, chunk.qd, chunk.qdd, carried)]
    known = model.known(chunk.q, chunk.qd, chunk.qdd)
    return blocks, chunk.tau - (chunk.reduce(known) if isinstance(known, np.ndarray) else known)


def predicted(model: LinearModel, base: Array, chunk: Chunk, load: Callable[[Chunk], Array] | None = None) -> Array:
    """Efforts (m, n) of base parameters, with those that are known."""
    carried = load(chunk) if load is not None else None
    tau = model.efforts(base, chunk.q, chunk.qd, chunk.qdd, carried) + model.known(chunk.q, chunk.qd, chunk.qdd)
    return chunk.reduce(tau)


@dataclass(frozen=True)
class Solution:
    """Weighted least squares of base parameters.

    `values` has NaN and `covariance` infinite deviations for parameters that the data do not determine; `any` predicts
    as well as every other solution. Rows of `missing` are the combinations of base parameters that were not seen.
    """

    values: Array
    any: Array
    covariance: Array
    noise: Array
    missing: Array
    condition: float
    R: Array  # of the weighted rows [W, y]
    leverage: Array  # parameters that each joint's rows pay for
    seen: Array  # of bool
    coloured: bool = False  # the covariance is that of residuals with their own spectrum


def solve(model: LinearModel, factors: Factors, *, weighted: bool = True, noise: Array | None = None) -> Solution:
    """Least squares; `weighted` with a deviation of the noise for each joint, found from the residuals by iteration."""
    n = len(factors.R)
    rows = factors.rows.astype(float)
    signal = np.sqrt(factors.signal() / np.maximum(rows, 1))
    least = np.maximum(1e-14 * signal, 1e-14 * max(signal.max(initial=0.0), 1e-250))  # what rounding leaves
    fixed = noise is not None
    s = np.ones(n) if noise is None else np.asarray(noise, dtype=float)
    for _ in range(30):
        found = _once(model, factors, s)
        if fixed:
            break
        squares = factors.squares(model, found.any)
        if weighted:
            free = np.maximum(rows - found.leverage, 1e-9)
            new = np.where(rows - found.leverage > 0.5, np.sqrt(squares / free), np.sqrt(squares))
        else:
            new = np.full(n, math.sqrt(squares.sum() / max(rows.sum() - found.leverage.sum(), 1e-9)))
        new = np.maximum(new, least)
        change = np.abs(new / s - 1).max()
        s = new
        if change < 1e-6:
            break
    return _once(model, factors, s)


def _once(model: LinearModel, factors: Factors, noise: Array) -> Solution:
    r = model.count
    R = factors.stacked(model, noise)
    A, z = R[:, :r], R[:, r]
    size = np.linalg.norm(A, axis=0)
    flat = size <= 1e-12 * size.max(initial=0.0)
    scale = np.where(flat, 1.0, size)
    U, d, Vt = np.linalg.svd(A / scale, full_matrices=True)
    d = np.concatenate([d, np.zeros(r - len(d))])
    rank = int((d > _UNSEEN * d.max(initial=0.0)).sum()) if d.size and d[0] > 0 else 0
    V = Vt[:rank].T
    inverse = (V / d[:rank]) @ U[:, :rank].T
    any_solution = (inverse @ z) / scale
    half = (V / d[:rank]) / scale[:, None]
    covariance = half @ half.T
    null = Vt[rank:]
    seen = np.linalg.norm(null, axis=0) < 1e-6 if len(null) else np.ones(r, dtype=bool)
    values = np.where(seen, any_solution, np.nan)
    leverage = np.array(
        [
            np.linalg.norm((block[:, :-1] / s) @ half[active]) ** 2
            for block, active, s in zip(factors.R, model.active, noise.tolist(), strict=True)
        ]
    )
    covariance = covariance.copy()
    covariance[~seen, :] = 0.0
    covariance[:, ~seen] = 0.0
    covariance[~seen, ~seen] = np.inf
    condition = float(d[0] / d[r - 1]) if rank == r and d[r - 1] > 0 else math.inf
    missing = sparse_basis(null) / scale if len(null) else np.zeros((0, r))
    if len(missing):
        missing = missing / np.abs(missing).max(axis=1)[:, None]
    return Solution(values, any_solution, covariance, noise, missing, condition, R, leverage, seen)


def widened(C: Array, model: LinearModel, factors: Factors, noise: Array, inflation: Array) -> Array:
    """Covariance C where residuals of joints are correlated in time: C (sum f_j R_j' R_j / s_j^2) C."""
    if (inflation <= 1.0).all():
        return C
    r = model.count
    finite = np.where(np.isfinite(C), C, 0.0)
    middle = np.zeros((r, r))
    for R, active, s, f in zip(factors.R, model.active, noise, inflation, strict=True):
        W = R[:, :-1] / s
        middle[np.ix_(active, active)] += f * (W.T @ W)
    wide = np.asarray(finite @ middle @ finite)
    np.fill_diagonal(wide, np.where(np.isfinite(np.diag(C)), np.diag(wide), np.inf))
    return wide


def sparse_basis(null: Array) -> Array:
    """Another basis (k, r) of the same space whose rows have many zeros: reduced echelon form with the best pivots."""
    rows = np.array(null)
    for i in range(len(rows)):
        candidates = np.abs(rows[i:])
        row, column = map(int, np.unravel_index(int(candidates.argmax()), candidates.shape))
        rows[[i, i + row]] = rows[[i + row, i]]
        rows[i] /= rows[i, column]
        for k in range(len(rows)):
            if k != i:
                rows[k] -= rows[k, column] * rows[i]
    rows[np.abs(rows) < 1e-7] = 0.0
    return rows


def student(degrees: float, level: float = 0.95) -> float:
    """Quantile of Student's distribution that holds `level` of it between its two signs; infinite below one degree."""
    if degrees < 1:
        return math.inf
    if degrees < 30:  # t = sqrt(v) tan(a) has the density cos(a)^(v - 1)
        a = np.linspace(0.0, math.pi / 2, 20_001)
        density = np.cos(a) ** (degrees - 1)
        part = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
        return math.sqrt(degrees) * math.tan(float(np.interp(level, part / part[-1], a)))
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + level / 2)  # by Cornish and Fisher
    v = degrees
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + g1 / v + g2 / v**2 + g3 / v**3
