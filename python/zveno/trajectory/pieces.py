"""Piecewise polynomials of several coordinates: evaluation, cubic splines, largest values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._check import Array, frozen

__all__ = ["Pieces", "cubic", "joined"]


class Pieces:
    """Polynomials between breaks: on piece i the value is the sum of coefficients[i, m] (x - breaks[i])^m.

    Parameters
    ----------
    breaks : (k + 1,) array, increasing
    coefficients : (k, d + 1, n) array
    """

    __slots__ = ("breaks", "coefficients")

    def __init__(self, breaks: Array, coefficients: Array) -> None:
        self.breaks, self.coefficients = frozen(breaks), frozen(coefficients)

    def __getstate__(self) -> tuple[Array, Array]:
        return self.breaks, self.coefficients

    def __setstate__(self, state: tuple[Array, Array]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    @property
    def n(self) -> int:
        return int(self.coefficients.shape[2])

    @property
    def start(self) -> float:
        return float(self.breaks[0])

    @property
    def end(self) -> float:
        return float(self.breaks[-1])

    def __call__(self, x: Array, order: int = 0) -> list[Array]:
        """Values (..., n) at x (...), and derivatives up to an order."""
        i = np.clip(np.searchsorted(self.breaks, x, side="right") - 1, 0, len(self.breaks) - 2)
        return self.on(i, x - self.breaks[i], order)

    def on(self, i: Array | np.ndarray[tuple[int, ...], np.dtype[np.intp]], h: Array, order: int = 0) -> list[Array]:
        """Values on the pieces i at the distances h from their begins, and derivatives up to an order."""
        h = h[..., None]
        terms = [self.coefficients[i, m] for m in range(self.coefficients.shape[1])]
        results = []
        for k in range(order + 1):
            if k:
                terms = [m * term for m, term in enumerate(terms)][1:] or [np.zeros_like(terms[0])]
            value = terms[-1]
            for term in terms[-2::-1]:
                value = value * h + term
            results.append(value + np.zeros_like(h) if len(terms) == 1 else value)
        return results

    def stretched(self, factor: float) -> Pieces:
        """The same values over a longer or shorter interval that begins at 0."""
        powers = factor ** -np.arange(self.coefficients.shape[1], dtype=float)
        return Pieces((self.breaks - self.breaks[0]) * factor, self.coefficients * powers[:, None])

    def peaks(self, order: int) -> tuple[Array, Array, Array, Array]:
        """Least and largest values (n,) of a derivative, exact, and where they are.

        At breaks where it jumps both sides count.
        """
        terms = self.coefficients
        for _ in range(order):
            terms = _derivative(terms)
        width = np.diff(self.breaks)[:, None]
        none = np.zeros((1, len(width), self.n))
        h = np.concatenate([none, none + width, roots(_derivative(terms), width)])
        values = _horner(terms, h)
        flat = values.reshape(-1, self.n)
        where = (self.breaks[None, :-1, None] + h).reshape(-1, self.n)
        low, high, columns = flat.argmin(axis=0), flat.argmax(axis=0), np.arange(self.n)
        return flat[low, columns], flat[high, columns], where[low, columns], where[high, columns]


def _derivative(terms: Array) -> Array:
    if terms.shape[1] == 1:
        return np.zeros_like(terms)
    return terms[:, 1:] * np.arange(1.0, terms.shape[1])[:, None]


def _horner(terms: Array, h: Array) -> Array:
    """Polynomials (k, d + 1, n) at h (..., k, n)."""
    value = terms[:, -1] + np.zeros_like(h)
    for m in range(terms.shape[1] - 2, -1, -1):
        value = value * h + terms[:, m]
    return value


def roots(terms: Array, width: Array) -> Array:
    """Zeros of polynomials (k, d + 1, n) inside [0, width], (d, k, n); 0 in place of those that are not there.

    Of degree one and two by formulas. Else between two zeros of the derivative a polynomial has one zero or none: found
    by halving, all at once.
    """
    degree = terms.shape[1] - 1
    if degree == 0:
        return np.zeros((0, terms.shape[0], terms.shape[2]))
    if degree <= 2:
        c, b = terms[:, 0], terms[:, 1]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if degree == 1:
                found = (-c / b)[None]
            else:
                a = terms[:, 2]
                larger = -0.5 * (b + np.copysign(np.sqrt(b * b - 4 * a * c), b))
                found = np.stack([larger / a, c / larger])
        return np.where((found > 0) & (found < width), found, 0.0)
    inner = roots(_derivative(terms), width)
    ends = np.zeros((1, terms.shape[0], terms.shape[2]))
    stations = np.sort(np.concatenate([ends, inner, ends + width]), axis=0)
    low, high = stations[:-1], stations[1:]
    rising = _horner(terms, low) <= 0
    there = rising == (_horner(terms, high) >= 0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        left = (_horner(terms, middle) <= 0) == rising
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return np.where(there, low, 0.0)


def cubic(x: Array, y: Array, ends: str, rates: tuple[Array, Array] | None = None) -> Pieces:
    """The cubic spline with continuous second derivative through y (k, n) at x (k,).

    `ends`: "clamped" (derivatives `rates` at both ends), "natural" (no second derivative there) or "not-a-knot" (no
    break at the second and the last but one; with less than four points "natural").
    """
    h, k = np.diff(x), len(x)
    slope = np.diff(y, axis=0) / h[:, None]
    if ends == "not-a-knot" and k < 4:
        ends = "natural"
    # rows of the tridiagonal system of the derivatives m at the points: below, diagonal, above, right side
    below, diagonal, above, right = np.zeros(k), np.ones(k), np.zeros(k), np.zeros_like(y)
    below[1:-1], above[1:-1], diagonal[1:-1] = h[1:], h[:-1], 2 * (h[1:] + h[:-1])
    right[1:-1] = 3 * (h[1:, None] * slope[:-1] + h[:-1, None] * slope[1:])
    if ends == "clamped":
        assert rates is not None
        right[0], right[-1] = rates
    elif ends == "natural":
        diagonal[[0, -1]], above[0], below[-1] = 2.0, 1.0, 1.0
        right[0], right[-1] = 3 * slope[0], 3 * slope[-1]
    else:
        for end, near, far in ((0, 0, 1), (-1, -1, -2)):
            a, b = h[near], h[far]
            diagonal[end], (above if end == 0 else below)[end] = b, a + b
            right[end] = ((3 * a + 2 * b) * b * slope[near] + a * a * slope[far]) / (a + b)
    for i in range(1, k):
        factor = below[i] / diagonal[i - 1]
        diagonal[i] -= factor * above[i - 1]
        right[i] = right[i] - factor * right[i - 1]
    m = np.empty_like(y)
    m[-1] = right[-1] / diagonal[-1]
    for i in range(k - 2, -1, -1):
        m[i] = (right[i] - above[i] * m[i + 1]) / diagonal[i]
    h = h[:, None]
    c2, c3 = (3 * slope - 2 * m[:-1] - m[1:]) / h, (m[:-1] + m[1:] - 2 * slope) / h**2
    return Pieces(x, np.stack([y[:-1], m[:-1], c2, c3], axis=1))


def joined(parts: Sequence[Pieces]) -> Pieces:
    """Coordinates with breaks of their own, over one interval, as one; breaks that differ by rounding are one."""
    breaks = np.unique(np.concatenate([part.breaks for part in parts]))
    keep = np.concatenate([[True], np.diff(breaks) > 1e-12 * (breaks[-1] - breaks[0])])
    end = breaks[-1]
    breaks = breaks[keep]
    breaks[-1] = end
    middle = 0.5 * (breaks[:-1] + breaks[1:])
    degree = max(part.coefficients.shape[1] for part in parts) - 1
    columns = []
    for part in parts:
        i = np.searchsorted(part.breaks, middle, side="right") - 1
        values = part.on(i, breaks[:-1] - part.breaks[i], degree)
        columns.append(np.stack([value / math.factorial(m) for m, value in enumerate(values)], axis=1))
    return Pieces(breaks, np.concatenate(columns, axis=2))
