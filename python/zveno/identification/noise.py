"""Noise that has a colour: spectra of residuals, and how far estimates spread because of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from .._check import Array
from .log import LogError
from .solve import Chunk, in_order, joint_rows
from .solve import predicted as efforts_of

if TYPE_CHECKING:
    from .log import Signals
    from .model import LinearModel

__all__ = ["contiguous", "score_covariance"]

_GRID: Final = 256  # of spectra, and the longest lag but one half of it
_LAGS: Final = 48
_LOOK: Final = 1 << 17  # samples of a stretch that tell how noisy a quantity is

T = TypeVar("T")
Load = Callable[[Chunk], Array] | None


def contiguous(pieces: Iterable[tuple[Array, T]], step: float) -> Iterator[tuple[Array, T, bool]]:
    """Times (m,) of pieces and what belongs to them, and whether a piece goes on where the one before it ended."""
    last = np.nan
    for t, values in pieces:
        if len(t):
            yield t, values, bool(abs(t[0] - last - step) < 0.5 * step)
            last = float(t[-1])


def _products(h: Array) -> Array:
    """Sums of h[k] h[k + lag] over k, relative to that of lag 0."""
    size = 1 << (2 * len(h) - 1).bit_length()
    found = np.fft.irfft(np.abs(np.fft.rfft(h, size)) ** 2, size)[: len(h)]
    return np.asarray(found / found[0])


def _even(lags: Array) -> Array:
    found = np.zeros(_GRID)
    count = min(len(lags), _GRID // 2)
    found[:count] = lags[:count]
    found[_GRID - count + 1 :] = lags[count - 1 : 0 : -1]
    return found


def _spectrum(lags: Array) -> Array:
    power = np.fft.fft(lags, axis=-1).real
    return np.asarray(np.maximum(power, 1e-12 * power.max(axis=-1, keepdims=True)))


class Periodogram:
    """Cross-spectra (grid, n, n) of a signal that comes in pieces: means over segments under a Hann window."""

    def __init__(self, n: int, length: int) -> None:
        self._window = np.hanning(length + 2)[1:-1, None]
        self._window /= np.linalg.norm(self._window)
        self.smear = _even(_products(self._window[:, 0]))  # times autocovariances: what segments of finite length see
        self._rest = np.zeros((0, n))
        self.sum = np.zeros((_GRID, n, n))
        self.segments = 0

    def add(self, e: Array, follows: bool) -> None:
        length = len(self._window)
        e = np.concatenate([self._rest, e]) if follows else e
        begin = 0
        while begin + length <= len(e):
            F = np.fft.fft(e[begin : begin + length] * self._window, _GRID, axis=0)
            self.sum += (F[:, :, None].conj() * F[:, None, :]).real
            self.segments += 1
            begin += length // 2
        self._rest = e[begin:]

    @property
    def mean(self) -> Array:
        return self.sum / max(1, self.segments)


def fitted_parts(power: Array, basis: Array) -> Array:
    """Coefficients (k,), none negative, of the basis (k, grid) that fits a periodogram as Whittle's likelihood wants.

    Each turn multiplies them by what makes sum(log S + power / S) smaller.
    """
    c = max(float(power.mean()), 1e-300) / basis.mean(axis=1) / len(basis)
    for _ in range(400):
        S = c @ basis
        factor = (basis @ (power / S**2)) / (basis @ (1 / S))
        c = np.maximum(c * factor, 1e-300)
        if np.abs(factor[c > 1e-12 * c.max()] - 1).max() < 1e-4:
            break
    return np.asarray(c)


@dataclass(frozen=True)
class Source:
    """White noise of one logged quantity: the filters it passes, and which derivatives of efforts they belong to."""

    key: str
    ways: tuple[tuple[int, Array], ...]  # derivative by q, qd or qdd: 0, 1, 2


def sources(signals: Signals) -> list[Source]:
    """Where noise of the coordinates, rates and accelerations of residuals comes from."""
    log, g = signals.log, signals.kernel
    if g is None:
        return []
    h = [np.ones(1)] if signals.kernels is None else [np.convolve(g, x)[::-1] for x in signals.kernels.T]
    if signals.kernels is None:
        return [Source(key, ((k, g),)) for k, key in enumerate(("q", "qd", "qdd"))]
    if log.qd is None:
        return [Source("q", ((0, h[0]), (1, h[1]), (2, h[2])))]
    return [Source("q", ((0, h[0]),)), Source("qd", ((1, h[0]), (2, h[1])))]


def variance(signals: Signals, key: str) -> Array:
    """Variance of the noise of each column of a logged quantity, white: what the filter takes away of it."""
    filters = signals.kernel if signals.kernels is None else signals.kernels[:, 0]
    assert filters is not None
    inverse = -filters
    inverse[len(filters) // 2] += 1.0
    values = getattr(signals.log, key)
    total, rows = np.zeros(values.shape[1]), 0
    for span in signals.spans:
        raw = np.asarray(values[span.begin : min(span.end, span.begin + _LOOK)])
        size = 1 << (len(raw) + len(inverse) - 2).bit_length()
        F = np.fft.rfft(raw - raw.mean(axis=0), size, axis=0) * np.fft.rfft(inverse, size)[:, None]
        rest = np.fft.irfft(F, size, axis=0)[len(inverse) - 1 : len(raw)]
        total += (rest * rest).sum(axis=0)
        rows += len(rest)
    return np.asarray(total / max(1, rows) / (inverse @ inverse))


def derivatives(model: LinearModel, p: Array, chunk: Chunk) -> list[Array]:
    """Of n efforts at the rows of a chunk by d coordinates, rates, accelerations, (m, n, d); dry friction has none."""
    smooth = np.array(p)
    for k, column in enumerate(model.pivots.tolist()):
        if column >= model.links and model.extra[column - model.links][0].discontinuous:
            smooth[k] = 0.0
    first = 0 if chunk.kernel is None else len(chunk.kernel) // 2
    state = [x[first :: chunk.stride][: len(chunk.t)] for x in (chunk.q, chunk.qd, chunk.qdd)]
    nothing = np.zeros((len(state[0]), model.chain.n))
    found = []
    for which, step in enumerate((1e-5, 0.5, 0.5)):  # quadratic in rates, linear in accelerations
        columns = []
        for j in range(chunk.q.shape[1]):
            sides = []
            for sign in (1.0, -1.0):
                q, qd, qdd = (x + sign * step * np.eye(len(x.T))[j] if k == which else x for k, x in enumerate(state))
                sides.append(model.efforts(smooth, q, qd, qdd, nothing) + model.known(q, qd, qdd))
            columns.append((sides[0] - sides[1]) / (2 * step))
        found.append(np.stack(columns, axis=-1))
    return found


def _cross_lags(a: Array, b: Array, stride: int) -> Array:
    """Sums of a[k] b[k + lag] over k, (2 L + 1,) for lags -L to L in steps of the stride."""
    size = 1 << (len(a) + len(b)).bit_length()
    found = np.fft.irfft(np.fft.rfft(a, size).conj() * np.fft.rfft(b, size), size)
    middle = len(b) // 2 - len(a) // 2  # lag of kernels that stand over the same sample
    lags = middle + stride * np.arange(-_LAGS, _LAGS + 1)
    inside = (lags > -len(a)) & (lags < len(b))
    return np.where(inside, found[lags % size], 0.0)


def score_covariance(
    model: LinearModel, signals: Signals, p: Array, noise: Array, threads: int, load: Load, *, instruments: bool
) -> Array:
    """Covariance (r, r) of the sum of z e / s^2 over joints and samples.

    z are rows of the commanded motion (`instruments`) or of the measured one, e residuals of the parameters p, s the
    `noise` of joints. Residuals are noise of efforts, stationary, and noise of coordinates times derivatives of
    efforts, which passes filters that are known: almost all of its power may lie far above the motion, and only the
    rest counts.
    """
    r, n, d = model.count, model.chain.n, signals.log.q.shape[1]
    step, stride = signals.step * signals.stride, signals.stride

    def fitted() -> Iterator[Chunk]:
        return (chunk for chunk in signals.chunks() if chunk.part == 0)

    from_log = sources(signals)
    ways = [(derivative, h) for source in from_log for derivative, h in source.ways]
    levels = [variance(signals, source.key) for source in from_log]
    # channels: the efforts, then each coordinate once for every way that its noise comes in
    width = n + d * len(ways)
    G = np.zeros((2 * _LAGS + 1, width, width))
    at = 0
    for source, level in zip(from_log, levels, strict=True):
        for a, (_, left) in enumerate(source.ways):
            for b, (_, right) in enumerate(source.ways):
                for j in range(d):
                    place = n + (at + a) * d + j, n + (at + b) * d + j
                    G[:, place[0], place[1]] = level[j] * _cross_lags(left, right, stride)
        at += len(source.ways)

    def residuals(chunk: Chunk) -> tuple[Array, tuple[Array, Array]]:
        e = (chunk.tau - efforts_of(model, p, chunk, load)) / noise
        T = derivatives(model, p, chunk) if ways else []
        # mean products of what multiplies noise of the channels in the residuals of a joint
        x = np.stack([T[k] for k, _ in ways], axis=2).reshape(len(e), n, -1) if ways else np.zeros((len(e), n, 0))
        products = np.einsum("tjc,tjd->jcd", x, x) / noise[:, None, None] ** 2
        return chunk.t, (e if chunk.use is None else np.where(chunk.use, e, 0.0), products)

    length = _GRID
    while length > 32 and 3 * length > signals.count:
        length //= 2
    spectra = Periodogram(n, length)
    products, count = np.zeros((n, width - n, width - n)), 0
    for _, (e, some), follows in contiguous(in_order(residuals, fitted(), threads), step):
        spectra.add(e, follows)
        products += some
        count += len(e)
    if not spectra.segments:
        raise LogError(
            f"identify: methods for noisy coordinates need {length} independent samples in a row, the log has "
            f"{signals.count:,}; a longer log, or a higher cutoff"
        )
    expected = np.einsum("jcd,lcd->jl", products / max(1, count), G[:, n:, n:])
    G[:, :n, :n], scale = noise_of_efforts(spectra, signals, expected)
    G[:, n:, n:] *= scale

    def rows(chunk: Chunk) -> tuple[Array, Array]:
        blocks, _ = joint_rows(model, _commanded(chunk) if instruments else chunk, load)
        z = np.zeros((len(chunk.t), width, r))
        for j, (block, active) in enumerate(zip(blocks, model.active, strict=True)):
            use: Any = 1.0 if chunk.use is None else chunk.use[:, j, None]
            z[:, j, active] = block * use / noise[j]
        if ways:
            T = derivatives(model, p, chunk)
            efforts = z[:, :n] / noise[:, None]
            for k, (which, _) in enumerate(ways):
                z[:, n + k * d : n + (k + 1) * d] = np.swapaxes(T[which], 1, 2) @ efforts
        return chunk.t, z

    total = np.zeros((r, r))
    tail = np.zeros((0, width, r))
    for _, z, follows in contiguous(in_order(rows, fitted(), threads), step):
        before = tail if follows else tail[:0]
        both = np.concatenate([before, z])
        m, k = len(z), len(before)
        mixed = np.zeros_like(z)  # G z of what came before, in this piece and in the last
        total += _product(z, G[_LAGS] @ z)
        for lag in range(1, min(_LAGS, m + k - 1) + 1):
            first = max(0, k - lag)
            part = both[first : m + k - lag]
            mixed[first + lag - k : first + lag - k + len(part)] += G[_LAGS - lag] @ part
        product = _product(z, mixed)
        total += product + product.T
        tail = both[-_LAGS:]
    return total


def noise_of_efforts(spectra: Periodogram, signals: Signals, expected: Array) -> tuple[Array, float]:
    """Autocovariance (2 L + 1, n, n) of the noise of efforts, and a factor for that of coordinates.

    Both are fitted to the periodogram of residuals: noise of efforts has passed the last filter, that of coordinates
    has the autocovariances `expected` (n, 2 L + 1). What the fit does not explain is smoothed and given to the efforts.
    """
    n = len(expected)
    white = np.eye(1, _GRID)[0] if signals.kernel is None else _even(_products(signals.kernel)[:: signals.stride])
    power = spectra.mean
    found, factors, weights = np.zeros((2 * _LAGS + 1, n, n)), [], []
    half = int(np.clip(400 // max(1, spectra.segments), 4, _GRID // 8))
    taps = np.hanning(2 * half + 3)[1:-1]
    taps /= taps.sum()
    for j in range(n):
        lags = np.stack([white, _even(expected[j, _LAGS:])]) if expected[j, _LAGS] > 0 else white[None]
        basis = _spectrum(lags * spectra.smear)
        parts = fitted_parts(power[:, j, j], basis)
        flat = power[:, j, j] / (parts @ basis)
        padded = np.concatenate([flat[-half:], flat, flat[:half]])
        S = parts[0] * _spectrum(white) * np.convolve(padded, taps, "valid")
        gamma = np.fft.ifft(S).real
        found[:, j, j] = np.concatenate([gamma[-_LAGS:], gamma[: _LAGS + 1]])
        if len(parts) > 1:
            factors.append(parts[1])
            weights.append(parts[1] * expected[j, _LAGS] / max(float(power[:, j, j].mean()), 1e-300))
    return found, float(np.average(factors, weights=weights)) if sum(weights) > 0 else 0.0


def _commanded(chunk: Chunk) -> Chunk:
    assert chunk.reference is not None
    q, qd, qdd = chunk.reference
    return chunk._replace(q=q, qd=qd, qdd=qdd)


def _product(a: Array, b: Array) -> Array:
    return np.asarray(a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1]))
