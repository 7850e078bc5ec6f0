"""Estimates for coordinates that are noisy themselves: instruments, total least squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .._check import Array
from .log import LogError
from .solve import Chunk, Factors, Solution, in_order, joint_rows, triangular

if TYPE_CHECKING:
    from .log import Signals
    from .model import LinearModel

__all__ = ["instrumental", "total"]

Load = Callable[[Chunk], Array] | None


def _require_seen(solution: Solution, who: str) -> None:
    if len(solution.missing):
        raise LogError(
            f"identify: method='{who}' needs a motion that shows every base parameter; {len(solution.missing)} "
            "combinations are not seen (method='wls' names them)"
        )


def instrumental(
    model: LinearModel, signals: Signals, train: Factors, start: Solution, threads: int, load: Load
) -> Solution:
    """Instrumental variables: Z'(tau - W p) = 0 with columns Z of commanded coordinates, which have no noise.

    p = (Z'W)^-1 Z'tau, covariance (Z'W)^-1 Z'Z (W'Z)^-1 of rows divided by the noise of their joint.
    """
    _require_seen(start, "iv")
    r, n = model.count, model.chain.n

    def work(chunk: Chunk) -> list[tuple[Array, Array, Array, Array]]:
        W, y = joint_rows(model, chunk, load)
        assert chunk.reference is not None
        q, qd, qdd = chunk.reference
        Z, _ = joint_rows(model, chunk._replace(q=q, qd=qd, qdd=qdd), load)
        found = []
        for j in range(n):
            use = slice(None) if chunk.use is None else chunk.use[:, j]
            w, z, e = W[j][use], Z[j][use], y[use, j]
            found.append((z.T @ w, z.T @ e, z.T @ z, np.array([e @ e])))
        return found

    sums: list[list[Array]] | None = None
    for parts in in_order(work, (c for c in signals.chunks() if c.part == 0), threads):
        if sums is None:
            sums = [list(part) for part in parts]
        else:
            for total_, part in zip(sums, parts, strict=True):
                for k in range(4):
                    total_[k] = total_[k] + part[k]
    assert sums is not None
    noise = start.noise
    p = start.any
    for _ in range(10):
        A, b, G = np.zeros((r, r)), np.zeros(r), np.zeros((r, r))
        for (zw, zy, zz, _), active, s in zip(sums, model.active, noise.tolist(), strict=True):
            at = np.ix_(active, active)
            A[at] += zw / s**2
            b[active] += zy / s**2
            G[at] += zz / s**2
        scale = np.sqrt(np.diag(G))
        inverse = np.linalg.inv(A / np.outer(scale, scale))
        p = (inverse @ (b / scale)) / scale
        inverse = inverse / np.outer(scale, scale)
        free = np.maximum(train.rows - start.leverage, 1.0)
        new = np.sqrt(train.squares(model, p) / free)
        done = np.abs(new / noise - 1).max() < 1e-6
        noise = np.maximum(new, 1e-300)
        if done:
            break
    covariance = inverse @ G @ inverse.T
    return Solution(
        p, p, covariance, noise, start.missing, start.condition, start.R, start.leverage, np.ones(r, dtype=bool)
    )


def total(
    model: LinearModel,
    signals: Signals,
    train: Factors,
    start: Solution,
    position_noise: float,
    threads: int,
    load: Load,
) -> Solution:
    """Total least squares: columns are noisy because coordinates are.

    How noisy is found by adding noise of the known deviation to the coordinates once more: differences D of columns
    then have twice the second moments that their noise has. With [W, tau] = Q R the estimate is the eigenvector of the
    smallest eigenvalue of R'R v = lambda C v, C the covariance of the noise of a row.
    """
    _require_seen(start, "tls")
    r, n = model.count, model.chain.n
    moments = [np.zeros((len(a), len(a))) for a in model.active]
    rows = np.zeros(n)
    pairs = zip(signals.chunks(position_noise, 1), signals.chunks(), strict=True)

    def work(pair: tuple[Chunk, Chunk]) -> tuple[list[Array], Array] | None:
        other, chunk = pair
        if chunk.part:
            return None
        A, _ = joint_rows(model, other, load)
        B, _ = joint_rows(model, chunk, load)
        found, count = [], np.zeros(n)
        for j in range(n):
            D = A[j] - B[j] if chunk.use is None else (A[j] - B[j])[chunk.use[:, j]]
            found.append(D.T @ D)
            count[j] = len(D)
        return found, count

    for result in in_order(work, pairs, threads):
        if result is not None:
            for sum_, part in zip(moments, result[0], strict=True):
                sum_ += part
            rows += result[1]
    noise, p = start.noise, start.any
    for _ in range(20):
        R = train.stacked(model, noise)
        C = np.zeros((r + 1, r + 1))
        for M, active, s in zip(moments, model.active, noise.tolist(), strict=True):
            C[np.ix_(active, active)] += M / s**2
        C[r, r] = float(rows.sum())
        # bias of R'R removed: the normal equations of columns without noise
        G = R.T @ R
        A = G[:r, :r] - C[:r, :r]
        scale = np.sqrt(np.maximum(np.diag(G[:r, :r]), 1e-300))
        w, V = np.linalg.eigh(A / np.outer(scale, scale))
        if w[0] <= 1e-9:
            raise LogError(
                "identify: method='tls': the columns are hardly larger than their noise; a position_noise of "
                f"{position_noise:g} is too much for this log, or the cutoff is too high"
            )
        inverse = (V / w) @ V.T / np.outer(scale, scale)
        p = inverse @ G[:r, r]
        extra = np.array(
            [p[a] @ M @ p[a] for a, M in zip(model.active, moments, strict=True)]
        )  # residuals that noise of columns makes
        squares = train.squares(model, p)
        new = np.sqrt(np.maximum(squares - extra, 0.01 * squares) / np.maximum(train.rows - start.leverage, 1.0))
        done = np.abs(new / noise - 1).max() < 1e-6
        noise = np.maximum(new, 1e-300)
        if done:
            break
    # noise of efforts and of columns both spread the estimate
    seen = np.sqrt(squares / np.maximum(train.rows - start.leverage, 1.0))
    middle = np.zeros((r, r))
    for R_j, active, s, e in zip(train.R, model.active, noise.tolist(), seen.tolist(), strict=True):
        W = R_j[:, :-1] / s
        middle[np.ix_(active, active)] += (e / s) ** 2 * (W.T @ W)
    covariance = inverse @ middle @ inverse.T
    stacked = triangular(train.stacked(model, seen))
    return Solution(
        p,
        p,
        covariance,
        seen,
        start.missing,
        math.nan if not w[0] > 0 else float(math.sqrt(w[-1] / w[0])),
        stacked,
        start.leverage,
        np.ones(r, dtype=bool),
    )
