"""Numbers about many runs: probabilities and percentiles with their confidence, what depends on what.

Nothing here assumes a distribution of the results; probabilities are counted, percentiles are order statistics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, as_array, as_integer, as_number, failing

__all__ = [
    "Interval",
    "Percentile",
    "Probability",
    "clopper_pearson",
    "first_order_indices",
    "percentile_interval",
    "probability",
    "rank_correlation",
    "saltelli_indices",
    "wilson",
]

PERCENTILES: Final = (50.0, 90.0, 95.0, 99.0, 99.73)
_MOST: Final = 10**15
_FEWEST: Final = 4  # pairs without which a rank correlation says nothing


class Interval(NamedTuple):
    """Limits that hold the true value with a stated confidence."""

    low: float
    high: float


class Probability(NamedTuple):
    """A share of runs with two intervals for the probability behind it.

    `wilson` is the shorter one, right on average; `clopper_pearson` is never too short.
    """

    value: float
    wilson: Interval
    clopper_pearson: Interval
    successes: int
    runs: int
    confidence: float

    def __str__(self) -> str:
        low, high = self.clopper_pearson
        counts = f"{self.successes} of {self.runs}"
        return f"{self.value:.6g} ({low:.6g} to {high:.6g} at {100 * self.confidence:g} %; {counts})"


class Percentile(NamedTuple):
    """A percentile and an interval made of two values of the sample; infinite where the sample is too small for one."""

    percent: float
    value: float
    interval: Interval
    runs: int
    confidence: float


def wilson(count: int, runs: int, confidence: float = 0.95) -> Interval:
    """Interval of Wilson for a probability of which `count` of `runs` trials were successes.

    Parameters
    ----------
    count, runs : int
    confidence : float

    Returns
    -------
    interval : Interval
        All p whose distance from count / runs is at most z sqrt(p (1 - p) / runs).

    Examples
    --------
    >>> from zveno import docking
    >>> [round(x, 6) for x in docking.statistics.wilson(16, 16)]
    [0.806392, 1.0]
    """
    k, n, confidence = _trials("wilson", count, runs, confidence)
    z2 = _quantile(0.5 + 0.5 * confidence) ** 2
    share = k / n
    middle, half = share + 0.5 * z2 / n, math.sqrt(z2 * (share * (1 - share) + 0.25 * z2 / n) / n)
    low = 0.0 if k == 0 else max(0.0, (middle - half) / (1 + z2 / n))
    high = 1.0 if k == n else min(1.0, (middle + half) / (1 + z2 / n))
    return Interval(low, high)


def clopper_pearson(count: int, runs: int, confidence: float = 0.95) -> Interval:
    """Interval of Clopper and Pearson: both tails of the binomial distribution have at most half of what may be missed.

    Parameters
    ----------
    count, runs : int
    confidence : float

    Returns
    -------
    interval : Interval

    Examples
    --------
    >>> from zveno import docking
    >>> [round(x, 6) for x in docking.statistics.clopper_pearson(9987, 10_000)]
    [0.997778, 0.999308]
    """
    k, n, confidence = _trials("clopper_pearson", count, runs, confidence)
    tail = 0.5 * (1 - confidence)
    low = 0.0 if k == 0 else _root(lambda p: incomplete_beta(k, n - k + 1, p) - tail)
    high = 1.0 if k == n else _root(lambda p: incomplete_beta(k + 1, n - k, p) - (1 - tail))
    return Interval(low, high)


def probability(count: int, runs: int, confidence: float = 0.95) -> Probability:
    """Share of successes with both intervals.

    Examples
    --------
    >>> from zveno import docking
    >>> print(docking.statistics.probability(9987, 10_000))
    0.9987 (0.997778 to 0.999308 at 95 %; 9987 of 10000)
    """
    k, n, confidence = _trials("probability", count, runs, confidence)
    return Probability(k / n, wilson(k, n, confidence), clopper_pearson(k, n, confidence), k, n, confidence)


def _trials(function: str, count: Any, runs: Any, confidence: Any) -> tuple[int, int, float]:
    n = as_integer(function, "runs", runs, 1, _MOST)
    return as_integer(function, "count", count, 0, n), n, _as_confidence(confidence, failing(function))


def _as_confidence(value: Any, fail: Fail) -> float:
    number = as_number(value, fail, "confidence")
    if not 0 < number < 1:
        fail(f"confidence is {number:g}, expected a number between 0 and 1")
    return number


def _quantile(p: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def _root(f: Callable[[float], float]) -> float:
    """Where a function that increases from 0 to 1 is zero, by bisection to the last bit."""
    low, high = 0.0, 1.0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if f(middle) < 0:
            low = middle
        else:
            high = middle


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function I_x(a, b), a and b > 0, by its continued fraction.

    The binomial distribution is P(X <= k) = 1 - I_p(k + 1, n - k).
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    tiny = 1e-300
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - _log_beta(a, b)) / a
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + term * d, 1 + term / c
            d, c = 1 / (d if abs(d) > tiny else tiny), c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return min(1.0, front * value)


def _log_beta(a: float, b: float) -> float:
    """ln B(a, b); Stirling's series where the larger number makes the difference of two logarithms lose its digits."""
    small, large = min(a, b), max(a, b)
    if large < 1e3:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    total = small + large
    # ln Gamma(x) = (x - 1/2) ln x - x + ln sqrt(2 pi) + r(x)
    ratio = (large - 0.5) * math.log1p(-small / total) - small * math.log(total) + small
    ratio += _stirling(large) - _stirling(total)
    if small < 1e3:
        return math.lgamma(small) + ratio
    return (small - 0.5) * math.log(small) - small + 0.5 * math.log(2 * math.pi) + _stirling(small) + ratio


def _stirling(x: float) -> float:
    inverse = 1 / (x * x)
    return (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x


# ---- percentiles


def percentile_interval(values: ArrayLike, percent: float, confidence: float = 0.95) -> Percentile:
    """A percentile of a sample, with an interval that no assumption about the distribution is behind.

    The interval goes from the l-th to the u-th smallest value, where l and u are the nearest ones for which a binomial
    number of n trials with probability percent/100 is below l, or u and above, with at most half of what may be missed.

    Parameters
    ----------
    values : array (n,)
    percent : float
        Between 0 and 100.
    confidence : float

    Returns
    -------
    percentile : Percentile
        Its value is that of ``np.percentile``; a limit is infinite where n is too small for it.

    Examples
    --------
    >>> import numpy as np
    >>> from zveno import docking
    >>> docking.statistics.percentile_interval(np.arange(1.0, 101.0), 50).interval
    Interval(low=40.0, high=61.0)
    """
    fail = failing("percentile_interval")
    p = as_number(percent, fail, "percent")
    if not 0 < p < 100:
        fail(f"percent is {p:g}, expected a number between 0 and 100")
    confidence = _as_confidence(confidence, fail)
    sample = np.sort(_vector(values, fail, "values"))
    n = len(sample)
    low, high = order_statistics(n, p / 100, confidence)
    return Percentile(
        p,
        float(np.percentile(sample, p)),
        Interval(float(sample[low - 1]) if low >= 1 else -math.inf, float(sample[high - 1]) if high <= n else math.inf),
        n,
        confidence,
    )


def order_statistics(n: int, p: float, confidence: float) -> tuple[int, int]:
    """Places l and u, counted from 1, of the interval of the p-quantile; 0 and n + 1 stand for infinity."""
    tail = 0.5 * (1 - confidence) * (1 + 1e-12)  # coverage that is exactly the one asked for counts

    def below(k: int) -> float:  # P(X <= k)
        return 0.0 if k < 0 else 1.0 if k >= n else incomplete_beta(n - k, k + 1, 1 - p)

    def above(k: int) -> float:  # P(X > k)
        return 1.0 if k < 0 else 0.0 if k >= n else incomplete_beta(k + 1, n - k, p)

    low = _last(lambda k: below(k - 1) <= tail, 0, n)
    high = n + 1 - _last(lambda k: above(n - k) <= tail, 0, n)
    return low, high


def _last(true: Callable[[int], bool], first: int, last: int) -> int:
    """The largest k for which `true`, which holds for `first` and once it fails never again, holds."""
    while first < last:
        middle = (first + last + 1) // 2
        first, last = (middle, last) if true(middle) else (first, middle - 1)
    return first


# ---- what depends on what


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's correlation of two samples: Pearson's of their ranks, ties sharing the mean of theirs.

    Parameters
    ----------
    x, y : array (n,)

    Returns
    -------
    rho : float
        -1 to 1; NaN where one of them is constant or n < 4. Of independent samples it is within 2 / sqrt(n - 1) of zero
        in 19 of 20 cases.

    Examples
    --------
    >>> from zveno import docking
    >>> docking.statistics.rank_correlation([1, 2, 3, 4], [1, 4, 9, 17])
    1.0
    """
    fail = failing("rank_correlation")
    a, b = _vector(x, fail, "x"), _vector(y, fail, "y")
    _same_length(fail, a, b)
    if len(a) < _FEWEST:
        return math.nan
    a, b = ranks(a), ranks(b)
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return math.nan if size == 0 else max(-1.0, min(1.0, float(a @ b) / size))


def ranks(values: Array) -> Array:
    """Ranks from 1, equal values sharing their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - 0.5 * (counts - 1))[inverse], float)


def first_order_indices(x: ArrayLike, y: ArrayLike) -> Array:
    """Sobol's first-order indices of independent inputs from any random sample of them.

    The share Var(E[y | x_j]) / Var(y) of the variance that x_j alone explains, by the products of neighbours in the
    order of x_j (Gamboa, Gremaud, Klein and Lagnoux, Bernoulli 28, 2022). The error is of the order 1 / sqrt(n).

    Parameters
    ----------
    x : array (n, d)
        Inputs, independent of each other.
    y : array (n,)

    Returns
    -------
    indices : array (d,)
        NaN where y is constant or n < 4.

    Examples
    --------
    >>> import numpy as np
    >>> from zveno import docking
    >>> x = np.random.default_rng(1).random((20_000, 2))
    >>> docking.statistics.first_order_indices(x, 3 * x[:, 0] + x[:, 1]).round(1)  # 0.9 and 0.1
    array([0.9, 0.1])
    """
    fail = failing("first_order_indices")
    values = _vector(y, fail, "y")
    try:
        inputs = np.asarray(x, float)
    except (TypeError, ValueError) as error:
        fail(f"x is not an array of numbers ({error})")
    if inputs.ndim != 2 or len(inputs) != len(values) or not np.isfinite(inputs).all():
        fail(f"x has shape {inputs.shape}, expected finite numbers of shape ({len(values)}, d)")
    centred = values - values.mean()
    variance = float(centred @ centred)
    if len(values) < _FEWEST or variance == 0:
        return np.full(inputs.shape[1], math.nan)
    found = []
    for column in inputs.T:
        sorted_values = centred[np.argsort(column, kind="stable")]
        found.append(float(sorted_values @ np.roll(sorted_values, -1)) / variance)
    return np.array(found)


def saltelli_indices(a: ArrayLike, b: ArrayLike, mixed: ArrayLike) -> tuple[Array, Array]:
    """Sobol's indices from runs at A, at B, and at A with one factor after another from B.

    Parameters
    ----------
    a, b : array (m,)
    mixed : array (m, d)

    Returns
    -------
    first, total : array (d,)
        First-order indices by Saltelli's estimator (2010), total ones by Jansen's; NaN where nothing varies.

    Examples
    --------
    >>> import numpy as np
    >>> from zveno import docking
    >>> a, b = np.random.default_rng(2).random((2, 5000, 2))
    >>> f = lambda x: 3 * x[:, 0] + x[:, 1]
    >>> ab = [np.column_stack([b[:, 0], a[:, 1]]), np.column_stack([a[:, 0], b[:, 1]])]
    >>> first, total = docking.statistics.saltelli_indices(f(a), f(b), np.column_stack([f(x) for x in ab]))
    >>> total.round(1)
    array([0.9, 0.1])
    """
    fail = failing("saltelli_indices")
    ya, yb = _vector(a, fail, "a"), _vector(b, fail, "b")
    _same_length(fail, ya, yb)
    yc = as_array(mixed, fail, "mixed", (len(ya), np.asarray(mixed).shape[-1] if np.ndim(mixed) == 2 else 1))
    both = np.concatenate([ya, yb])
    variance = float(both.var())
    if len(ya) < 2 or variance == 0:
        return np.full(yc.shape[1], math.nan), np.full(yc.shape[1], math.nan)
    middle = both.mean()  # any constant may be taken away; this one makes the error of the first estimator small
    first = np.mean((yb - middle)[:, None] * (yc - ya[:, None]), axis=0) / variance
    total = 0.5 * np.mean((ya[:, None] - yc) ** 2, axis=0) / variance
    return np.asarray(first, float), np.asarray(total, float)


def _vector(values: Any, fail: Fail, what: str) -> Array:
    count = np.size(values)
    if count == 0:
        fail(f"{what} is empty, expected numbers")
    return as_array(values, fail, what, (count,))


def _same_length(fail: Callable[[str], NoReturn], a: Sequence[float] | Array, b: Sequence[float] | Array) -> None:
    if len(a) != len(b):
        fail(f"{len(a)} and {len(b)} numbers, expected as many of both")
