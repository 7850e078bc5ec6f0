"""Loops with one delay, A(s) x + exp(-h s) B(s) x = 0 with polynomials of real matrices: where they lose stability.

Roots change their half plane only where exp(i w h) is an eigenvalue mu of -A(iw)^-1 B(iw): docs/rigs.md, (R9). The
moduli of mu, by size, are continuous in w; where one passes 1 it is bracketed and polished. They vary slowly but for
places near roots of A, B, A + B and A - B, so frequencies are laid densest there, and where a modulus turns back short
of 1 more are added. No rational approximation of the delay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._check import Array

__all__ = ["Crossing", "Delayed"]

Complex = NDArray[np.complex128]

_TURN: Final = 2 * math.pi
_MARGINAL: Final = 1e-9  # of the scale: real parts that are mere rounding
_MARGINAL_HELD: Final = 4e-10  # of the root itself, where nothing is at rest
_SLOW: Final = 1e-3  # of the scale: roots below it are those of the reversed polynomial
_MOST_POLISHED: Final = 12  # roots
_MOST_STEPS: Final = 30
_REGULAR: Final = 1e-10  # reciprocal condition of stiffnesses that hold every motion
_AT_REST: Final = 1e-6  # of the scale: roots of rigid-body motion, double and therefore inexact
_ZERO_ANGLE: Final = 1e-9  # rad
_REFINED: Final = 8  # times that frequencies are added
_AROUND: Final = np.concatenate([-np.geomspace(30, 0.03, 13), [0.0], np.geomspace(0.03, 30, 13)])  # a root, its width


@dataclass(frozen=True)
class Crossing:
    """A root i w of the loop: with `delay`, and with every multiple of 2 pi/w more. `rate` is that of Re s by h."""

    frequency: float
    delay: float
    rate: float


class Delayed:
    """A loop with coefficients `a`, `b` (p + 1, n, n) of A and B, ascending powers of s; the last of `a` is regular."""

    def __init__(self, a: Array, b: Array) -> None:
        self.n = a.shape[1]
        top = np.linalg.inv(a[-1])
        a, b = top @ a, top @ b
        self.degree = len(a) - 1
        powers = np.arange(self.degree, 0, -1)
        sizes = [np.abs(a[:-1]).max(axis=(1, 2)), np.abs(b[:-1]).max(axis=(1, 2))]
        self.scale = float(max((size ** (1 / powers)).max() for size in sizes)) or 1.0
        by = self.scale ** np.arange(-self.degree, 1.0)[:, None, None]
        self.a, self.b = a * by, b * by  # in units of the scale
        self.held = _is_regular((self.a + self.b)[0])  # no motion is at rest: slow roots are roots

    # ---- without delay, and for any short one -----------------------------------------------------------------------

    def roots_without_delay(self) -> Complex:
        """Roots s of the loop without delay, 1/s."""
        return np.asarray(self.scale * _polynomial_roots(self.a + self.b))

    def unstable_without_delay(self) -> complex | None:
        """The root that grows fastest without delay, or None; motions that nothing holds do not count."""
        if abs(np.linalg.det((self.a + self.b)[-1])) < 1e-12:
            return complex(math.inf)
        roots = self.roots_without_delay() / self.scale
        size = np.abs(roots)
        fast = (roots.real > _MARGINAL) & (size > _AT_REST)
        growing = roots[roots.real > _MARGINAL_HELD * size if self.held else fast]
        return complex(self.scale * growing[growing.real.argmax()]) if growing.size else None

    @property
    def high_frequency_gain(self) -> float:
        """Spectral radius of the delayed part at infinite frequency: from 1 on any delay makes the loop unstable."""
        return float(np.abs(np.linalg.eigvals(self.b[-1])).max())

    # ---- crossings --------------------------------------------------------------------------------------------------

    def _multipliers(self, w: Array) -> Complex:
        """Eigenvalues mu of -A^-1 B at s = iw, scaled frequencies, by falling modulus, (..., n)."""
        s = 1j * np.asarray(w)[..., None, None]
        A, B = self.a[-1].astype(complex), self.b[-1].astype(complex)
        for a, b in zip(self.a[-2::-1], self.b[-2::-1], strict=True):
            A, B = A * s + a, B * s + b
        if self.n == 1:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray((-B / A)[..., 0])
        try:
            mu = np.linalg.eigvals(-np.linalg.solve(A, B))
        except np.linalg.LinAlgError:  # a natural frequency of A itself, to the last bit
            return self._multipliers(np.asarray(w) * (1 + 1e-13) + 1e-300)
        return np.asarray(np.take_along_axis(mu, np.argsort(-np.abs(mu), axis=-1, kind="stable"), axis=-1))

    def _levels(self, w: Array) -> Array:
        """Logarithms of the moduli of mu by falling size, (..., n)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.abs(self._multipliers(w))))

    def _nodes(self) -> tuple[Array, Array]:
        """Scaled frequencies, rising, close enough to see every passage of 1, and the levels there."""
        if self.n == 1:
            return self._nodes_of_one()
        low = 1e-5
        if self.held:  # filters may be much faster than the mechanism
            low = min(low, 0.01 * float(np.abs(_polynomial_roots(self.a + self.b)).min()))
        w = [np.geomspace(low, 1e2, math.ceil(26 * math.log10(1e2 / low)))]
        for c in (self.a, self.b, self.a + self.b, self.a - self.b):
            top = next((k for k in range(len(c) - 1, 0, -1) if np.abs(np.linalg.det(c[k])) > 1e-12), 0)
            if top and not np.any(c[top + 1 :]):
                s = _polynomial_roots(c[: top + 1])
                width = np.maximum(np.abs(s.real), 1e-9 * np.abs(s))
                w.append((np.abs(s.imag)[:, None] + width[:, None] * _AROUND).ravel())
        nodes = np.unique(np.concatenate(w))
        nodes = nodes[nodes > 0.1 * low]
        level = self._levels(nodes)
        for _ in range(_REFINED):
            size = np.clip(level, -1e3, 1e3)
            here, left, right = size[1:-1], size[:-2], size[2:]
            turns = (np.abs(here) < 1) & (np.abs(here) <= np.abs(left)) & (np.abs(here) <= np.abs(right))
            turns &= (np.sign(here) == np.sign(left)) & (np.sign(here) == np.sign(right))
            at = np.flatnonzero(turns.any(axis=1))
            wide = nodes[at + 2] - nodes[at] > 1e-9 * nodes[at + 1]
            at = at[wide]
            if not at.size:
                break
            more = np.concatenate([0.5 * (nodes[at] + nodes[at + 1]), 0.5 * (nodes[at + 1] + nodes[at + 2])])
            more = np.setdiff1d(more, nodes)
            order = np.argsort(np.concatenate([nodes, more]), kind="stable")
            nodes = np.concatenate([nodes, more])[order]
            level = np.concatenate([level, self._levels(more)])[order]
        return nodes, level

    def _nodes_of_one(self) -> tuple[Array, Array]:
        """The same of one axis: between the roots of |A(iw)|^2 - |B(iw)|^2, a polynomial in w^2."""
        signs = (-1.0) ** np.arange(self.degree + 1)
        a, b = self.a[:, 0, 0], self.b[:, 0, 0]
        even = (np.convolve(a, a * signs) - np.convolve(b, b * signs))[::2]  # A(s) A(-s), powers of s^2 = -w^2
        falling = (even * (-1.0) ** np.arange(len(even)))[::-1]
        roots = np.roots(falling)
        near = np.sqrt(np.unique(roots.real[(roots.real > 0) & (np.abs(roots.imag) < 1e-3 * np.abs(roots))]))
        if not near.size:
            near = np.ones(1)
        nodes = np.concatenate([[0.5 * near[0]], np.sqrt(near[1:] * near[:-1]), [2 * near[-1]]])
        return nodes, self._levels(nodes)

    def crossings(self) -> list[Crossing]:
        """All of them, by rising delay."""
        nodes, level = self._nodes()
        found = []
        for i, k in np.argwhere((level[1:] > 0) != (level[:-1] > 0)).tolist():
            w = self._polished(k, nodes[i], nodes[i + 1], level[i, k], level[i + 1, k])
            mu = complex(self._multipliers(np.asarray(w))[k])
            angle = math.atan2(mu.imag, mu.real)
            angle = 0.0 if abs(angle) < _ZERO_ANGLE else angle % _TURN
            delay = angle / w
            found.append(Crossing(w * self.scale, delay / self.scale, self._rate(w, delay)))
        return sorted(found, key=lambda crossing: crossing.delay)

    def _polished(self, k: int, low: float, high: float, at_low: float, at_high: float) -> float:
        """Zero of the logarithm of the k-th modulus, by regula falsi with halving (Illinois) and bisection."""

        def level(w: float) -> float:
            return float(self._levels(np.asarray(w))[k])

        sign, kept = at_low > 0, 0
        for step in range(200):
            if high - low <= 4e-16 * high:
                break
            secant = math.isfinite(at_low) and math.isfinite(at_high) and step % 4 != 3
            w = (low * at_high - high * at_low) / (at_high - at_low) if secant else 0.5 * (low + high)
            w = w if low < w < high else 0.5 * (low + high)
            value = level(w)
            if value == 0.0 or w in (low, high):
                return w
            if (value > 0) == sign:
                low, at_low = w, value
                at_high = 0.5 * at_high if kept == 1 else at_high
                kept = 1
            else:
                high, at_high = w, value
                at_low = 0.5 * at_low if kept == -1 else at_low
                kept = -1
        return 0.5 * (low + high)

    def _rate(self, w: float, h: float) -> float:
        """Real part of ds/dh at a crossing, in units of the squared scale."""
        s, turn = 1j * w, np.exp(-1j * w * h)
        powers = s ** np.arange(self.degree + 1)
        slopes = np.arange(self.degree + 1) * s ** np.maximum(np.arange(self.degree + 1) - 1.0, 0.0)
        A, B = np.tensordot(powers, self.a, 1), np.tensordot(powers, self.b, 1)
        dA, dB = np.tensordot(slopes, self.a, 1), np.tensordot(slopes, self.b, 1)
        left, _, right = np.linalg.svd(A + turn * B)
        y, x = left[:, -1].conj(), right[-1].conj()
        down = y @ (dA + turn * (dB - h * B)) @ x
        return float((s * turn * (y @ B @ x) / down).real) if down else math.inf

    def margin(self) -> tuple[float, float]:
        """Smallest delay that makes the loop unstable, s, and the frequency there, rad/s; 0 if it is without one."""
        growing = self.unstable_without_delay()
        if growing is not None:
            return 0.0, abs(growing.imag)
        crossings = self.crossings()
        if self.high_frequency_gain >= 1:
            return 0.0, math.inf
        for crossing in crossings:
            if crossing.delay > 0 or crossing.rate > 0:
                return crossing.delay, crossing.frequency
        return math.inf, math.nan

    # ---- a second way -----------------------------------------------------------------------------------------------

    def rightmost(self, delay: float, points: int) -> complex:
        """Root with the largest real part, 1/s, of a pair the upper one.

        From Chebyshev collocation of the delay on `points` + 1 points.
        """
        p, n = self.degree, self.n
        size = n * p
        now, then = np.zeros((size, size)), np.zeros((size, size))
        now[: size - n, n:] = np.eye(size - n)
        now[size - n :] = -np.hstack(list(self.a[:-1]))
        then[size - n :] = -np.hstack(list(self.b[:-1]))
        h = delay * self.scale
        if h == 0:
            roots = np.linalg.eigvals(now + then)
        else:
            generator = np.kron(2 / h * _differentiation(points), np.eye(size))
            generator[:size] = 0
            generator[:size, :size], generator[:size, -size:] = now, then
            roots = np.linalg.eigvals(generator)
        held = roots if self.held else roots[np.abs(roots) > _AT_REST]
        # eigenvalues are as exact as the largest is: beside fast filters the first ones are found again by themselves
        first = held[np.argsort(-held.real)[:_MOST_POLISHED]]
        best = max((self._root_near(complex(x), h) for x in first), key=lambda x: x.real, default=0j)
        return self.scale * complex(best.real, abs(best.imag))

    def _root_near(self, start: complex, h: float) -> complex:
        """The root of det(a(x) + b(x) e^(-hx)) that Newton's method finds from near it; else `start`."""
        x, powers = start, np.arange(self.degree + 1)
        for _ in range(_MOST_STEPS):
            power = x**powers
            slope = powers[1:] * power[:-1]
            a, a_slope = np.tensordot(power, self.a, 1), np.tensordot(slope, self.a[1:], 1)
            b, b_slope = np.tensordot(power, self.b, 1), np.tensordot(slope, self.b[1:], 1)
            late = np.exp(-h * x)
            try:
                change = 1 / np.trace(np.linalg.solve(a + late * b, a_slope + late * (b_slope - h * b)))
            except np.linalg.LinAlgError:  # x is a root
                return complex(x)
            x = complex(x - change)
            if not abs(x - start) <= 0.1 * abs(start):
                return start
            if abs(change) <= 1e-14 * abs(x):
                return x
        return start


def _is_regular(matrix: Any) -> bool:
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return bool(sizes[-1] > _REGULAR * sizes[0])


def _polynomial_roots(c: Any) -> Complex:
    """Roots of det(c_0 + c_1 x + ...), by rising modulus; the last coefficient is regular.

    Eigenvalues of a companion matrix are as exact as the largest is: slow ones are those of the reversed polynomial.
    """
    roots = _companion_roots(c)
    roots = roots[np.argsort(np.abs(roots), kind="stable")]
    slow = int((np.abs(roots) < _SLOW * np.abs(roots).max(initial=0.0)).sum())
    if slow and _is_regular(c[0]):
        inverse = _companion_roots(c[::-1])
        inverse = inverse[np.argsort(-np.abs(inverse), kind="stable")]
        roots[:slow] = 1 / inverse[:slow]
    return roots


def _companion_roots(c: Any) -> Complex:
    p, n = len(c) - 1, c.shape[1]
    monic = np.linalg.solve(c[-1], c[:-1])
    companion = np.zeros((n * p, n * p), dtype=monic.dtype)
    companion[: n * (p - 1), n:] = np.eye(n * (p - 1))
    companion[n * (p - 1) :] = -np.hstack(list(monic))
    return np.asarray(np.linalg.eigvals(companion), dtype=complex)


def _differentiation(N: int) -> Array:
    """Differentiation matrix on the Chebyshev points cos(pi j/N), j = 0..N (Trefethen)."""
    x = np.cos(np.pi * np.arange(N + 1) / N)
    c = np.where((np.arange(N + 1) == 0) | (np.arange(N + 1) == N), 2.0, 1.0) * (-1.0) ** np.arange(N + 1)
    D = np.outer(c, 1 / c) / (x[:, None] - x[None, :] + np.eye(N + 1))
    return np.asarray(D - np.diag(D.sum(axis=1)))
