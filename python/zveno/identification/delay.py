"""Delay between efforts and coordinates of a log: how large it is, and how well that is known.

tau_j(t) = f_j(t - d_j) is, to first order, a column -df_j/dt beside those of the base parameters. Both are fitted
together: the deviation of d_j knows how much a delay resembles friction. Steps of Gauss and Newton, each with the
efforts put in line by what was found before, end it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .._check import Array
from .log import Finding
from .model import LinearModel
from .residuals import Residuals, _chi_square_tail, _Sums
from .solve import Chunk, Factors, Solution, factorise, in_order, predicted, solve, student, widened

if TYPE_CHECKING:
    from .log import Signals

__all__ = ["Delays", "find_delays"]

LEVEL: Final = 1e-3  # of a false alarm about a log
_SAMPLES: Final = 30_000  # of the log, that delays are estimated from, about,
_ROWS: Final = 20  # and equations for each unknown at least, if there are so many
_STEPS: Final = 12  # of Gauss and Newton
_EFFECT: Final = 2e-3  # of the deviation of an effort: what a delay that matters changes
_POOR: Final = 0.3  # part of an effort left over by a fit, from which on far delays are tried too
_ALONE: Final = 0.5  # longest delay of one joint alone, in cut-offs: a tenth of the period of the fastest motion
_TRIED: Final = 12  # to each side
_FINEST: Final = 1e-3  # of a sample: delays are not told apart any better
_MISFIT: Final = 1.5  # inflation of residuals that the model does not explain,
_EXPLAINED: Final = 0.3  # and the part of them that a delay has to explain then

Mask = NDArray[np.bool_]
Load = Callable[[Chunk], Array] | None


@dataclass(frozen=True)
class Delays:
    """Of efforts behind coordinates, s: of each joint, and of all of them if they may be the same.

    `deviation` is infinite where the motion does not show it, `sure` says where it cannot be chance and matters,
    `misfit` where the model leaves more unexplained. `slopes` (r, n) are rates of change of base parameters.
    """

    value: Array
    covariance: Array
    sure: Mask
    misfit: Mask
    same: bool
    common: float
    common_deviation: float
    common_sure: bool
    slopes: Array

    @property
    def deviation(self) -> Array:
        return np.sqrt(np.diag(self.covariance))

    def to_apply(self) -> tuple[Array, Array]:
        """Delays (n,) to put efforts in line by, and their covariance: the same, or one by one those that are sure."""
        n = len(self.value)
        if self.same:
            return np.full(n, self.common), np.full((n, n), self.common_deviation**2)
        return np.where(self.sure, self.value, 0.0), np.where(np.outer(self.sure, self.sure), self.covariance, 0.0)

    def spread_of(self, covariance: Array) -> Array:
        """What delays in doubt add to the covariance of base parameters, of those that are known."""
        known = np.isfinite(np.diag(covariance))
        more = self.slopes @ self.to_apply()[1] @ self.slopes.T
        return np.where(np.outer(known, known), more, 0.0)

    def sentences(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """What was found, of all joints together or by joint."""

        def words(d: float, s: float, misfit: bool) -> str:
            verb = "seem to come" if misfit else "come"
            return f"{verb} {milliseconds(abs(d), s)} {'after' if d > 0 else 'before'} the positions"

        if self.same and self.common_sure:
            return [("tau", "efforts " + words(self.common, self.common_deviation, bool(self.misfit.all())))]
        rows = zip(names, self.value.tolist(), self.deviation.tolist(), self.sure, self.misfit, strict=True)
        return [(name, "its efforts " + words(d, s, misfit)) for name, d, s, sure, misfit in rows if sure]


def milliseconds(x: float, deviation: float) -> str:
    """A time and its deviation, of which two digits are shown."""
    digits = min(6, max(0, 1 - math.floor(math.log10(1e3 * deviation))))
    return f"{1e3 * x:.{digits}f} +- {1e3 * deviation:.{digits}f} ms"


def find_delays(
    model: LinearModel,
    given: Signals,
    threads: int,
    load: Load,
    fit: tuple[Solution, Residuals] | None = None,
) -> Delays:
    """Delays of the samples that are fitted, from some of them, behind a filter: dry friction must not jump.

    After a fit, more than one step is made only if the first finds something, or if the fit is poor.
    """
    step = _Step(model, given.smooth(), threads, load)
    first = step.made(step.begun, fit)
    coloured = np.ones(model.chain.n, dtype=bool) if fit is None else fit[1].whiteness < 0.01  # and not just noise
    poor = bool((coloured & (step.left > _POOR)).any())
    if fit is not None and not (first.common_sure or first.sure.any() or poor):
        return first
    start = first.value if not poor else step.scanned()
    found = step.converged(start, first) if start is first.value else None
    if found is None:
        start = step.scanned() if start is first.value else start
        found = step.converged(start, None)
    if found is not None:
        return found
    # it does not converge: no delay explains the efforts
    n = model.chain.n
    nothing, lost = np.zeros(n, dtype=bool), np.diag(np.full(n, np.inf))
    return replace(first, value=step.begun, covariance=lost, sure=nothing, same=False, common_sure=False)


class _Delayed(LinearModel):
    """A linear model with one more column for each joint: what a delay of its effort changes, for given parameters."""

    def __init__(self, model: LinearModel, base: Array, step: float) -> None:
        self.chain, self._plain, self._base, self._step = model.chain, model, base, step
        self.active = [np.append(active, model.count + j) for j, active in enumerate(model.active)]

    @property
    def count(self) -> int:
        return self._plain.count + self.chain.n

    def _slopes(self, tau: Array, q: Array, qd: Array, qdd: Array) -> Array:
        """Of efforts (m, n) without those that are known."""
        if len(q) < 2:
            return np.zeros_like(tau)
        return np.asarray(np.gradient(tau + self._plain.known(q, qd, qdd), self._step, axis=0))

    def joint_blocks(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> list[Array]:
        plain = self._plain
        blocks = plain.joint_blocks(q, qd, qdd, load)
        tau = [block @ self._base[active] for block, active in zip(blocks, plain.active, strict=True)]
        slopes = self._slopes(np.stack(tau, axis=1), q, qd, qdd)
        return [np.column_stack([block, -slopes[:, j]]) for j, block in enumerate(blocks)]

    def known(self, q: Array, qd: Array, qdd: Array) -> Array | float:
        return self._plain.known(q, qd, qdd)

    def efforts(self, base: Array, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        r = self._plain.count
        slopes = self._slopes(self._plain.efforts(self._base, q, qd, qdd, load), q, qd, qdd)
        return self._plain.efforts(base[:r], q, qd, qdd, load) - base[r:] * slopes


class _Step:
    """Steps of Gauss and Newton from delays by which efforts are in line, to delays and base parameters.

    `begun` are the delays in question, from which those found differ or not.
    """

    def __init__(self, model: LinearModel, signals: Signals, threads: int, load: Load) -> None:
        self._model, self._signals, self._threads, self._load = model, signals, threads, load
        needed = _ROWS * (model.count + model.chain.n) / model.chain.n
        self._every = max(1, int(signals.count / max(needed, _SAMPLES / signals.stride)))
        self.begun = np.zeros(model.chain.n) if signals.delay is None else signals.delay
        self._base, self._noise, self._last = np.zeros(0), np.zeros(0), self.begun
        self._before = np.zeros(0)  # squares of residuals without delays, at the first step
        self.left = np.zeros(0)  # part of the efforts, that the model without delays leaves

    def _chunks(self, delay: Array) -> Iterator[Chunk]:
        signals = self._signals if delay is self.begun else replace(self._signals, delay=delay)
        return signals.chunks(every=self._every, fitted=True)

    def _plain(self, delay: Array) -> Factors:
        return factorise(self._model, self._chunks(delay), threads=self._threads, load=self._load)[0]

    def converged(self, delay: Array, found: Delays | None) -> Delays | None:
        """What steps from a delay, which `found` has, end at; None if they do not."""
        for _ in range(_STEPS):
            if found is not None:
                known = np.isfinite(found.deviation)
                near = np.maximum(0.1 * found.deviation[known], 0.1 * _FINEST * self._signals.step)
                if (np.abs(found.value - self._last)[known] < near).all():
                    return found
                delay = np.where(known, found.value, self._last)
            if (np.abs(delay) > self._signals.longest_delay).any():
                return None
            found = self.made(delay)
        return None

    def scanned(self) -> Array:
        """One delay for all that leaves the least of the efforts, among some up to a period of the fastest motion."""
        if not self._signals.cutoff:
            return self.begun
        apart, most = 0.25 / self._signals.cutoff, self._signals.longest_delay
        best, least = self.begun, math.inf
        for k in range(-_TRIED, _TRIED + 1):
            delay = self.begun + k * apart
            if (np.abs(delay) > most).any():
                continue
            train = self._plain(delay)
            signal = train.signal()
            noise = np.sqrt(np.maximum(signal, 1e-250) / np.maximum(train.rows, 1))
            solution = solve(self._model, train, noise=noise)
            left = float((train.squares(self._model, solution.any) / np.maximum(signal, 1e-250)).sum())
            if left < least:
                best, least, self._base, self._noise = delay, left, solution.any, noise
        return best

    def made(self, delay: Array, fit: tuple[Solution, Residuals] | None = None) -> Delays:
        model, load, threads = self._model, self._load, self._threads
        n, r = model.chain.n, model.count
        if not self._base.size:
            first = solve(model, self._plain(delay)) if fit is None else fit[0]
            self._base, self._noise = first.any, first.noise
        both = _Delayed(model, self._base, self._signals.step)
        train, _ = factorise(both, self._chunks(delay), threads=threads, load=load)
        if not self._before.size:
            plain = Factors([np.delete(R, -2, axis=1) for R in train.R], train.rows)
            self._before = plain.squares(model, solve(model, plain, noise=self._noise).any)
            self.left = np.sqrt(self._before / np.maximum(train.signal(), 1e-250))
        solution = solve(both, train, noise=self._noise)
        noise = np.sqrt(train.squares(both, solution.any) / np.maximum(train.rows - solution.leverage, 1.0))
        solution = solve(both, train, noise=np.maximum(noise, 1e-3 * self._noise))
        if fit is not None:  # of white residuals, and of those of the fit: its are wider
            inflation, spread = fit[1].inflation, fit[1].spread
            white = self._judged(both, train, solution, np.ones(n), spread, delay, np.zeros(n))
            if not (white.sure.any() or white.common_sure):
                self._last = delay
                return self._judged(both, train, solution, inflation, spread, delay, np.zeros(n))
        sums = _Sums(n, 16, self._signals.step * self._signals.stride)

        jumps = _Jumps(model, self._base, self._signals.step)

        def work(chunk: Chunk) -> tuple[Chunk, Array]:
            return chunk, predicted(both, solution.any, chunk, load)

        for chunk, tau in in_order(work, self._chunks(delay), threads):
            sums.add(chunk, tau)
            jumps.add(chunk, load)
        _, spread, _, _, inflation, _, _ = sums.results()
        self._noise, self._base, self._last = solution.noise, solution.any[:r], delay
        more = jumps.variance(np.array([np.linalg.norm(R[:, -2]) for R in train.R]))
        return self._judged(both, train, solution, inflation, spread, delay, more)

    def _judged(
        self,
        both: _Delayed,
        train: Factors,
        solution: Solution,
        inflation: Array,
        spread: Array,
        delay: Array,
        more: Array,
    ) -> Delays:
        """What a solution says, with residuals that are correlated, efforts that vary so much, and more variance."""
        n, r = self._model.chain.n, self._model.count
        C = widened(solution.covariance, both, train, solution.noise, inflation)[r:, r:]
        C = C + np.diag(more + (_FINEST * self._signals.step) ** 2)
        known = np.isfinite(solution.values[r:]) & np.isfinite(np.diag(C)) & (train.rows > 0)
        C = np.where(np.outer(known, known), C, np.where(np.identity(n) > 0, np.inf, 0.0))
        value = delay + np.where(known, solution.values[r:], 0.0)
        off = value - self.begun
        explained = 1.0 - train.squares(both, solution.any) / np.maximum(self._before, 1e-300)
        misfit = (inflation > _MISFIT) & (explained < _EXPLAINED)
        rates = np.array([np.linalg.norm(R[:, -2]) for R in train.R]) / np.sqrt(np.maximum(train.rows, 1))
        matters = np.abs(off) * rates > _EFFECT * spread
        limit = student(float(train.rows.sum() - solution.leverage.sum()), 1.0 - LEVEL / (n + 1))
        sure = known & matters & ~misfit & (np.abs(off) > limit * np.sqrt(np.diag(C)))
        if n > 1 and self._signals.cutoff:  # of one joint alone: what is long is something else
            sure &= np.abs(off) < _ALONE / self._signals.cutoff
        at = np.flatnonzero(known)
        same = together = False
        mean, deviation = math.nan, math.inf
        if at.size:
            own = C[np.ix_(at, at)]
            weights = np.linalg.solve(own, np.ones(at.size))
            weights, deviation = weights / weights.sum(), 1.0 / math.sqrt(weights.sum())
            mean = float(weights @ value[at])
            rest = value[at] - mean
            same = at.size == 1 or _chi_square_tail(float(rest @ np.linalg.solve(own, rest)), at.size - 1) > LEVEL
            distance = abs(float(weights @ off[at]))
            together = same and distance > limit * deviation and bool(matters[at].any() and not misfit[at].any())
        W = train.stacked(both, solution.noise)
        size = np.linalg.norm(W[:, :r], axis=0)
        size[size == 0] = 1.0
        slopes = -np.linalg.lstsq(W[:, :r] / size, W[:, r : r + n], rcond=1e-9)[0] / size[:, None]
        return Delays(value, C, sure, misfit, same, mean, deviation, together, slopes)


class _Jumps:
    """Dry friction jumps somewhere between two samples: how much delays are in doubt because of that."""

    def __init__(self, model: LinearModel, base: Array, step: float) -> None:
        n, links = model.chain.n, model.count - len(model._added)
        dry = [term.discontinuous for term, _ in model._added]
        self._dry = np.where(np.concatenate([np.zeros(links, dtype=bool), np.array(dry, dtype=bool)]), base, 0.0)
        self._model, self._step = model, step
        self._slopes, self._count = np.zeros(n), np.zeros(n)

    def add(self, chunk: Chunk, load: Load) -> None:
        state = chunk.q, chunk.qd, chunk.qdd
        if not self._dry.any() or len(chunk.q) < 2:
            return
        own = self._model.efforts(self._dry, *state, None if load is None else load(chunk))
        self._slopes += (chunk.reduce(np.gradient(own, self._step, axis=0)) ** 2).sum(axis=0)
        rates = self._model.rates(chunk.q, chunk.qd)
        changes = (rates[1:] * rates[:-1] < 0).sum(axis=0)
        self._count[: len(changes)] += changes[: len(self._count)]

    def variance(self, slopes: Array) -> Array:
        """Of delays (n,), for the norms of all slopes: jumps of motion and of effort are each off by step^2 / 12."""
        share = self._slopes / np.maximum(slopes**2, 1e-250)
        return np.asarray(share * self._step**2 / (6 * np.maximum(self._count, 1.0)))


def delay_findings(delays: Delays, names: Sequence[str], level: str, tail: str) -> list[Finding]:
    """Sentences about delays that are sure."""
    return [Finding(level, where, text + tail) for where, text in delays.sentences(names)]
