"""Estimates for coordinates that are noisy themselves: instruments, total least squares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from .._check import Array
from .log import LogError
from .noise import score_covariance
from .solve import Chunk, Factors, Solution, in_order, joint_rows, triangular

if TYPE_CHECKING:
    from .log import Signals
    from .model import LinearModel

__all__ = ["instrumental", "total"]

_DRAWN: Final = 20_000  # rows with more noise, and how often all rows are taken for them
_FEWEST, _MOST = 3, 16

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

    p = (Z'W)^-1 Z'tau, covariance (Z'W)^-1 Z'GZ (W'Z)^-1 of rows divided by the noise of their joint, G the
    autocovariance of residuals: noise of accelerations has nearly all of its power far above the motion.
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
        scale = np.sqrt(np.maximum(np.diag(G), 1e-300))
        scaled = A / np.outer(scale, scale)
        if not np.linalg.svd(scaled, compute_uv=False)[-1] > 1e-9:
            raise LogError("identify: method='iv': the commanded motion q_ref does not show every base parameter")
        inverse = np.linalg.inv(scaled)
        p = (inverse @ (b / scale)) / scale
        inverse = inverse / np.outer(scale, scale)
        free = np.maximum(train.rows - start.leverage, 1.0)
        new = np.sqrt(train.squares(model, p) / free)
        done = np.abs(new / noise - 1).max() < 1e-6
        noise = np.maximum(new, 1e-300)
        if done:
            break
    middle = score_covariance(model, signals, p, noise, threads, load, instruments=True)
    covariance = inverse @ middle @ inverse.T
    seen = np.ones(r, dtype=bool)
    return Solution(p, p, covariance, noise, start.missing, start.condition, start.R, start.leverage, seen, True)


def total(
    model: LinearModel,
    signals: Signals,
    train: Factors,
    start: Solution,
    position_noise: Array,
    threads: int,
    load: Load,
) -> Solution:
    """Total least squares: columns are noisy because coordinates are.

    How noisy is found by adding noise of the known deviation to the coordinates once more, several times where the log
    is short: differences D of columns then have the second moments M of their noise. W'W - M are the normal equations
    of columns without noise, (W'W - M) p = W'tau.
    """
    _require_seen(start, "tls")
    r = model.count
    draws = int(np.clip(_DRAWN // max(1, signals.count), _FEWEST, _MOST))
    drawn = _moments(model, signals, position_noise, draws, threads, load)
    moments = [sum(some) / draws for some in zip(*drawn, strict=True)]
    free = np.maximum(train.rows - start.leverage, 1.0)
    noise, p = start.noise, start.any
    for _ in range(20):
        R = train.stacked(model, noise)
        G = R.T @ R
        A = G[:r, :r] - _weighted(model, moments, noise)
        scale = np.sqrt(np.maximum(np.diag(G)[:r], 1e-300))
        w, V = np.linalg.eigh(A / np.outer(scale, scale))
        if w[0] <= 1e-9:
            raise LogError(
                "identify: method='tls': the columns are hardly larger than their noise; a position_noise of "
                f"{position_noise.max():g} is too much for this log, or the cutoff is too high"
            )
        inverse = (V / w) @ V.T / np.outer(scale, scale)
        p = inverse @ G[:r, r]
        # residuals that noise of columns makes
        extra = np.array([p[a] @ M @ p[a] for a, M in zip(model.active, moments, strict=True)])
        squares = train.squares(model, p)
        new = np.sqrt(np.maximum(squares - extra, 0.01 * squares) / free)
        done = np.abs(new / noise - 1).max() < 1e-6
        noise = np.maximum(new, 1e-300)
        if done:
            break
    # noise of residuals spreads the estimate, and so do moments that differ from their mean, in log and draws
    middle = score_covariance(model, signals, p, noise, threads, load, instruments=False)
    pulls = np.array([_weighted(model, some, noise) @ p for some in drawn])
    middle += np.cov(pulls.T) * (0.5 + 1 / draws)  # rows are noisy: the other half is in them
    seen = np.maximum(np.sqrt(squares / free), 1e-300)
    return Solution(
        p,
        p,
        inverse @ middle @ inverse.T,
        seen,
        start.missing,
        math.sqrt(w[-1] / w[0]),
        triangular(train.stacked(model, seen)),
        start.leverage,
        np.ones(r, dtype=bool),
        True,
    )


def _moments(
    model: LinearModel, signals: Signals, position_noise: Array, draws: int, threads: int, load: Load
) -> list[list[Array]]:
    """Sums D'D of each joint over the samples that are fitted, for each draw of noise."""
    several = zip(signals.chunks(), *(signals.chunks(position_noise, 1 + k) for k in range(draws)), strict=True)

    def work(chunks: tuple[Chunk, ...]) -> list[list[Array]]:
        use = chunks[0].use
        rows, *others = (joint_rows(model, chunk, load)[0] for chunk in chunks)
        changes = ([a - b for a, b in zip(other, rows, strict=True)] for other in others)
        used = ([D if use is None else D[use[:, j]] for j, D in enumerate(some)] for some in changes)
        return [[D.T @ D for D in some] for some in used]

    moments = [[np.zeros((len(a), len(a))) for a in model.active] for _ in range(draws)]
    for found in in_order(work, (chunks for chunks in several if not chunks[0].part), threads):
        for sums, parts in zip(moments, found, strict=True):
            for total_, part in zip(sums, parts, strict=True):
                total_ += part
    return moments


def _weighted(model: LinearModel, moments: Sequence[Array], noise: Array) -> Array:
    """Sum (r, r) over joints, those of joint j divided by noise[j]^2."""
    total_ = np.zeros((model.count, model.count))
    for M, active, s in zip(moments, model.active, noise.tolist(), strict=True):
        total_[np.ix_(active, active)] += M / s**2
    return total_
