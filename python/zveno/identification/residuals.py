"""What residuals tell: their size, whether they are white, their spectrum, and something to draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._check import Array
from .solve import Chunk, in_order
from .solve import predicted as efforts_of

if TYPE_CHECKING:
    from .log import Signals
    from .model import LinearModel
    from .solve import Solution

__all__ = ["Residuals", "look_at_residuals"]

_LAGS: Final = 40
_SEGMENT: Final = 256  # of the spectrum; less where samples are few
_DRAWN: Final = 2400


@dataclass(frozen=True)
class Residuals:
    """Statistics of residuals, measured minus predicted efforts.

    Attributes
    ----------
    deviation, spread : (n,) array
        Standard deviations of residuals and of efforts, both of the part that was fitted.
    correlation : (lags + 1, n) array
        Autocorrelation of residuals.
    whiteness, inflation : (n,) array
        See `Fit`.
    frequency, spectrum : (k,) and (k, n) arrays
        Power spectral density of residuals, effort^2 / Hz.
    peaks : dict of (n,) array
        Largest efforts, rates and accelerations.
    times, measured, predicted, given : arrays
        Samples to draw; `given` is what the model predicts that was known before.
    validated_from : float
        Time after which samples were not fitted.
    """

    deviation: Array
    spread: Array
    correlation: Array
    whiteness: Array
    inflation: Array
    frequency: Array
    spectrum: Array
    peaks: dict[str, Array]
    times: Array
    measured: Array
    predicted: Array
    given: Array
    validated_from: float
    with_model: Array | None


def look_at_residuals(
    model: LinearModel,
    signals: Signals,
    solution: Solution,
    threads: int,
    load: Callable[[Chunk], Array] | None,
    tick: Callable[[int], None],
) -> Residuals:
    """One more pass over the samples."""
    arm, n = model.chain, model.chain.n
    total = max(1, signals.count)
    # a stretch around the place where validation begins, if not all can be drawn
    until = signals.first_validated
    margin = _DRAWN // 2 * signals.stride
    window = (0, 1 << 62) if total <= _DRAWN else (until - margin, until + margin)

    def work(chunk: Chunk) -> tuple[Chunk, Array]:
        return chunk, efforts_of(model, solution.any, chunk, load)

    segment = _SEGMENT
    while segment > 16 and 4 * segment > total:
        segment //= 2
    sums = _Sums(n, segment, signals.step * signals.stride)
    drawn: list[tuple[Array, Array, Array, Chunk]] = []
    validated_from = math.inf
    width = signals.log.q.shape[1]
    peaks = {"tau": np.zeros(n), "qd": np.zeros(width), "qdd": np.zeros(width)}
    t0, done = float(signals.log.t[0]), 0
    taken = 0
    for chunk, tau in in_order(work, signals.chunks(), threads):
        done += len(tau)
        tick(done)
        for key, size in peaks.items():
            np.maximum(size, np.abs(getattr(chunk, key)).max(axis=0, initial=0.0), out=size)
        if chunk.part and math.isinf(validated_from):
            validated_from = float(chunk.t[0])
        if not chunk.part:
            sums.add(chunk, tau)
        low, high = ((x * signals.step + t0) for x in window)
        near = (chunk.t >= low) & (chunk.t <= high)
        if near.any() and taken < 2 * _DRAWN:
            drawn.append((chunk.t[near], chunk.tau[near], tau[near], chunk))
            taken += int(near.sum())
    times = np.concatenate([x[0] for x in drawn]) if drawn else np.zeros(0)
    measured = np.concatenate([x[1] for x in drawn]) if drawn else np.zeros((0, n))
    predicted = np.concatenate([x[2] for x in drawn]) if drawn else np.zeros((0, n))
    known_model, similar = np.zeros_like(predicted), None
    if len(times) > 20:
        parts = []
        for t, _, _, chunk in drawn:
            keep = (chunk.t >= t[0]) & (chunk.t <= t[-1])
            parts.append(chunk.reduce(arm.inverse_dynamics(chunk.q, chunk.qd, chunk.qdd))[keep])
        known_model = np.concatenate(parts)
        similar = _correlations(known_model, measured)
    deviation, spread, correlation, white, inflation, frequency, spectrum = sums.results()
    return Residuals(
        deviation,
        spread,
        correlation,
        white,
        inflation,
        frequency,
        spectrum,
        peaks,
        times,
        measured,
        predicted,
        known_model,
        validated_from,
        similar,
    )


class _Sums:
    def __init__(self, n: int, segment: int, step: float) -> None:
        self.n, self.step = n, step
        self.window = np.hanning(segment)[:, None]
        self.rest, self.last = np.zeros((0, n)), math.nan  # residuals of no segment yet, their last time
        self.count = np.zeros(n)
        self.squares = np.zeros((_LAGS + 1, n))
        self.pairs = np.zeros((_LAGS + 1, n))
        self.tau = np.zeros((2, n))
        self.power = np.zeros((segment // 2 + 1, n))
        self.segments = 0

    def add(self, chunk: Chunk, tau: Array) -> None:
        e = chunk.tau - tau
        use: Any = np.ones(e.shape, dtype=bool) if chunk.use is None else chunk.use
        e = np.where(use, e, 0.0)
        self.count += use.sum(axis=0)
        lags = min(_LAGS + 1, len(e))
        self.squares[:lags] += _autocorrelation(e)[:lags]
        if chunk.use is None:
            self.pairs[:lags] += (len(e) - np.arange(lags))[:, None]
        else:
            self.pairs[:lags] += np.round(_autocorrelation(use.astype(np.float64))[:lags])
        y = np.where(use, chunk.tau, 0.0)
        self.tau[0] += y.sum(axis=0)
        self.tau[1] += (y * y).sum(axis=0)
        if len(e) and abs(chunk.t[0] - self.last - self.step) < 0.5 * self.step:
            e = np.concatenate([self.rest, e])
        length = len(self.window)
        begin = 0
        while begin + length <= len(e):
            self.power += np.abs(np.fft.rfft(e[begin : begin + length] * self.window, axis=0)) ** 2
            self.segments += 1
            begin += length
        self.rest = e[begin:]
        self.last = float(chunk.t[-1]) if len(chunk.t) else math.nan

    def results(self) -> tuple[Any, ...]:
        m = np.maximum(self.count, 1)
        variance = self.squares[0] / m
        spread = np.sqrt(np.maximum(self.tau[1] / m - (self.tau[0] / m) ** 2, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            gamma = self.squares / np.maximum(self.pairs, 1)
            rho = np.where(variance > 0, gamma / variance, 0.0)
        lags = min(20, _LAGS)
        k = np.arange(1, lags + 1)[:, None]
        pairs = np.maximum(self.pairs[1 : lags + 1], 1)
        Q = (rho[1 : lags + 1] ** 2 * pairs * (m + 2) / np.maximum(m - k, 1)).sum(axis=0)
        white = np.array([_chi_square_tail(q, lags) for q in Q])
        white = np.where(self.count > 3 * lags, white, 1.0)
        inflation = np.ones(self.n)
        for j in range(self.n):
            if white[j] < 0.01 and self.count[j] > 3 * _LAGS:
                total = 1.0
                for lag in range(1, _LAGS + 1):  # until it is lost in its own noise
                    if rho[lag, j] < 2 / math.sqrt(m[j]):
                        break
                    total += 2 * rho[lag, j]
                inflation[j] = max(1.0, total)
        spectrum = 2 * self.step * self.power / max(1, self.segments) / (self.window**2).sum()
        frequency = np.fft.rfftfreq(len(self.window), self.step)
        if not self.segments:
            frequency, spectrum = np.zeros(0), np.zeros((0, self.n))
        return np.sqrt(variance), spread, rho, white, inflation, frequency, spectrum


def _autocorrelation(x: Array) -> Array:
    """Sums of x[k] x[k + lag] over k, for every lag."""
    size = 1 << (2 * len(x) - 1).bit_length()
    return np.asarray(np.fft.irfft(np.abs(np.fft.rfft(x, size, axis=0)) ** 2, size, axis=0)[: len(x)])


def _chi_square_tail(x: float, degrees: int) -> float:
    """Probability above x (Wilson and Hilferty)."""
    z = ((x / degrees) ** (1 / 3) - (1 - 2 / (9 * degrees))) / math.sqrt(2 / (9 * degrees))
    return 0.5 * math.erfc(z / math.sqrt(2))


def _correlations(model: Array, measured: Array) -> Array:
    """Of efforts k of the model and j as measured: their correlation [0, k, j], their relative difference [1, k, j]."""
    a, b = model - model.mean(axis=0), measured - measured.mean(axis=0)
    na, nb = np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0)
    size: Any = np.outer(na, nb)
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.where(size > 1e-12 * size.max(initial=0.0), (a.T @ b) / size, 0.0)
        apart = np.linalg.norm(model[:, :, None] - measured[:, None, :], axis=0) / np.linalg.norm(measured, axis=0)
    return np.stack([alike, np.where(np.isfinite(apart), apart, np.inf)])
