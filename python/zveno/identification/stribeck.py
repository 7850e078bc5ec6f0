"""Rates of Stribeck friction: the one nonlinear unknown, found by variable projection.

For any rates the other unknowns are those of linear least squares. One pass over the samples takes columns for several
rates of every joint into the triangular factor; any choice among them is then solved without the samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._check import Array
from .model import LinearModel
from .solve import Factors, factorise, solve, triangular
from .terms import LoadFriction, Profile, Stribeck, StribeckRate, Term

if TYPE_CHECKING:
    from .log import Signals

__all__ = ["with_rates"]

_RATES: Final = 10  # tried at once
_RANGE: Final = (0.01, 0.6)  # of the highest rate of a joint
_PASSES: Final = 3
_STEPS: Final = 20  # of Gauss and Newton, at most
_ASIDE: Final = np.array([-1.0, -0.75, -0.5, -0.35, -0.2, 0.2, 0.35, 0.5, 0.75, 1.0])  # where intervals are looked for
_WIDE: Final = (0.004, 3.0)  # of the highest rate of a joint: where, if nearly any rate will do


def with_rates(
    made: type[LinearModel],
    chain: Any,
    terms: Sequence[Term],
    signals: Signals,
    threads: int,
) -> tuple[Term, ...]:
    """The terms with the rates that fit best, and with a term for their uncertainty; `made` is the kind of model."""
    wanted = next(term for term in terms if isinstance(term, Stribeck) and term.rate is None)
    others = [term for term in terms if term is not wanted and not isinstance(term, LoadFriction)]
    simple = made(chain, others)
    n = simple.drives
    peak = np.zeros(n)
    for chunk in signals.chunks():
        np.maximum(peak, np.abs(simple.rates(chunk.q, chunk.qd)[:, :n]).max(axis=0, initial=0.0), out=peak)
    peak = np.where(peak > 0, peak, 1.0)
    grid = np.geomspace(*_RANGE, _RATES)[:, None] * peak  # (tried, n)
    for _ in range(_PASSES):
        tried = [replace(wanted, rate=tuple(row)) for row in grid.tolist()]
        model = made(chain, [*others, *tried], tried)
        train, _ = factorise(model, signals.chunks(), threads=threads)
        best = _choose(model, train, tried)
        around = [grid[np.clip(best + k, 0, _RATES - 1), np.arange(n)] for k in (-1, 0, 1)]
        rates = around[1]
        grid = np.geomspace(around[0], around[2], _RATES)
    size, sure = np.zeros(n), {}
    for k in range(_STEPS):
        known: list[Term] = [*others, replace(wanted, rate=tuple(rates.tolist()))]
        if k:
            known.append(_unknown(wanted, rates, size))
        model = made(chain, known)
        train, _ = factorise(model, signals.chunks(), threads=threads)
        solution = solve(model, train)
        found = {
            (type(term), j): v for (term, j), v in zip(model._added, solution.values[-len(model._added) :], strict=True)
        }
        size = np.array([found.get((Stribeck, j), np.nan) for j in range(n)])
        step = np.array([found.get((StribeckRate, j), np.nan) for j in range(n)]) - rates
        step, size = np.nan_to_num(step), np.maximum(np.nan_to_num(size), 0.0)
        rates = rates + np.clip(step, -0.3 * rates, 0.3 * rates)
        if k:
            spread = np.sqrt(np.diag(solution.covariance)[-len(model._added) :])
            sure = {key: d for key, d in zip(found, spread.tolist(), strict=True)}
            fine = [1e-3 * sure.get((StribeckRate, j), 0.0) for j in range(n)]
            if (np.abs(step) < np.maximum(fine, 1e-6 * rates)).all():
                break
    index = list(terms).index(wanted)
    new = replace(wanted, rate=tuple(rates.tolist()))
    unknown = _unknown(wanted, rates, size)
    wide = np.array([sure.get((StribeckRate, j), np.nan) for j in range(n)]) / rates
    tried = [replace(wanted, rate=tuple(row)) for row in _around(rates, wide, peak).tolist()]
    model = made(chain, [*others, new, unknown, *tried], tried)
    train, _ = factorise(model, signals.chunks(), threads=threads)
    unknown = replace(unknown, profile=_profile(model, train, solution.noise, new, unknown, tried))
    return (*terms[:index], new, unknown, *terms[index + 1 :])


def _around(rates: Array, relative: Array, peak: Array) -> Array:
    """Rates (tried, n) at which to look: near those found if they are known well, everywhere otherwise."""
    near = rates * np.exp(_ASIDE[:, None] * np.clip(4 * np.nan_to_num(relative), 1e-7, 2.0))
    everywhere = np.geomspace(*_WIDE, len(_ASIDE))[:, None] * peak
    return np.asarray(np.where(relative < 0.4, near, everywhere))


def _profile(
    model: LinearModel, train: Factors, noise: Array, best: Stribeck, unknown: StribeckRate, tried: Sequence[Stribeck]
) -> tuple[Profile, ...]:
    """What is lost with each of the rates tried, and the other unknowns that are best for it."""
    width = model.count - len(model._added)
    columns = {(term, j): width + k for k, (term, j) in enumerate(model._added)}
    fixed = [k for k in range(model.count) if k < width or model._added[k - width][0] not in tried]
    R = train.stacked(model, noise)
    found = []
    for j, rate in enumerate(unknown.rate):
        own, slope = columns.get((best, j)), columns.get((unknown, j))
        others = [k for k in fixed if k not in (own, slope)]
        # efforts are those of the unknown from its reference on
        right = R[:, -1] if slope is None else R[:, -1] - rate * R[:, slope]
        rows = []
        for term in [best, *tried] if own is not None else []:
            if (term, j) in columns:
                value = np.broadcast_to(np.asarray(term.rate, dtype=float), (model.drives,))[j].item()
                rows.append((value, *_solved(R[:, [*others, columns[term, j]]], right)))
        rows.sort(key=lambda row: row[0])
        least = min((row[1] for row in rows), default=0.0)
        names = [model.base_names[k] for k in (*others, own) if k is not None] if rows else []
        found.append(
            Profile(
                tuple(row[0] for row in rows),
                tuple(math.sqrt(row[1] - least) for row in rows),
                tuple(names),
                tuple(tuple(row[2].tolist()) for row in rows),
                tuple(tuple(row[3].tolist()) for row in rows),
            )
        )
    return tuple(found)


def _solved(A: Array, y: Array) -> tuple[float, Array, Array]:
    """Squares that are left, values and deviations; those of what the rows do not show are large."""
    size = np.linalg.norm(A, axis=0)
    size = np.where(size > 1e-12 * size.max(initial=0.0), size, 1.0)
    U, d, Vt = np.linalg.svd(A / size, full_matrices=False)
    seen = d > 1e-9 * d[0]
    c = np.where(seen, U.T @ y, 0.0)
    x = Vt.T @ (c / np.where(seen, d, 1.0))
    left = y - U @ c
    spread = np.linalg.norm(Vt.T / np.where(seen, d, 1e-9 * d[0]), axis=1)
    return float(left @ left), x / size, spread / size


def _unknown(term: Stribeck, rates: Array, size: Array) -> StribeckRate:
    return StribeckRate(term.joints, term.smooth, tuple(rates.tolist()), tuple(size.tolist()))


def _choose(model: LinearModel, train: Factors, tried: Sequence[Stribeck]) -> Array:
    """Which of the rates tried (n,) fit best: one joint after the other, until nothing changes."""
    n = model.drives
    width = model.count - len(model._added)
    columns = {(term, j): width + k for k, (term, j) in enumerate(model._added)}
    fixed = [k for k in range(model.count) if k < width or model._added[k - width][0] not in tried]
    joints = [j for j in range(n) if (tried[0], j) in columns]
    best = np.full(n, len(tried) // 2)

    def chosen(last: int = -1) -> list[int]:
        order = [j for j in joints if j != last] + ([last] if last >= 0 else [])
        return fixed + [columns[tried[best[j]], j] for j in order]

    noise = np.sqrt(np.maximum(train.signal(), 1e-300) / np.maximum(train.rows, 1))
    for _ in range(4):
        R = train.stacked(model, noise)
        before = best.copy()
        for j in joints:
            costs = []
            for k in range(len(tried)):
                best[j] = k
                T = triangular(R[:, [*chosen(j), model.count]])
                falls = T[-2, -1] * T[-2, -2] > 0  # more friction at low rates, not less
                costs.append(abs(float(T[-1, -1])) if falls else np.inf)
            best[j] = int(np.argmin(costs))
        at = chosen()
        T = triangular(R[:, [*at, model.count]])
        p = np.zeros(model.count)
        p[at] = np.linalg.lstsq(T[:-1, :-1], T[:-1, -1], rcond=1e-12)[0]
        noise = np.maximum(np.sqrt(train.squares(model, p) / np.maximum(train.rows, 1)), 1e-12 * noise)
        if (best == before).all():
            break
    return best
