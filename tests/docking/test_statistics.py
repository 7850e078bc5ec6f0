"""Statistics of campaigns against SciPy, published values and functions whose indices are known."""

import math

import numpy as np
import pytest
from scipy import special, stats
from zveno.docking import statistics

PUBLISHED = [
    (16, 16, (0.806392319, 1), (0.794092786, 1)),
    (9987, 10000, (0.997776912, 0.999240088), (0.997777986, 0.999307629)),
    (10000, 10000, (0.999616002, 1), (0.999631180, 1)),
    (0, 100, (0, 0.036993498), (0, 0.036216693)),
]


@pytest.mark.parametrize(("count", "runs", "wilson", "exact"), PUBLISHED)
def test_intervals_are_the_published_ones(count, runs, wilson, exact):
    found = statistics.probability(count, runs)
    np.testing.assert_allclose(found.wilson, wilson, rtol=0, atol=5.1e-10)
    np.testing.assert_allclose(found.clopper_pearson, exact, rtol=0, atol=5.1e-10)
    assert found.value == count / runs


def test_intervals_are_those_of_scipy(rng):
    for _ in range(25):
        runs = int(10 ** rng.uniform(0, 7))
        count, confidence = int(rng.integers(0, runs + 1)), rng.uniform(0.5, 0.999)
        for ours, method in ((statistics.wilson, "wilson"), (statistics.clopper_pearson, "exact")):
            low, high = stats.binomtest(count, runs).proportion_ci(confidence, method)
            found = ours(count, runs, confidence)
            np.testing.assert_allclose(found, (low, high), rtol=1e-9, atol=1e-12, err_msg=f"{count} {runs} {method}")


def test_incomplete_beta_is_that_of_scipy(rng):
    for a, b in 10 ** rng.uniform(-1, 6, (150, 2)):
        x = float(rng.beta(a, b))
        if 0 < x < 1:
            expected = special.betainc(a, b, x)
            assert math.isclose(statistics.incomplete_beta(a, b, x), expected, rel_tol=2e-8, abs_tol=1e-290)


def test_order_statistics_of_the_median_are_those_of_the_tables():
    # Conover, Practical Nonparametric Statistics; n = 10, 20, 100 at 95 %
    assert statistics.order_statistics(10, 0.5, 0.95) == (2, 9)
    assert statistics.order_statistics(20, 0.5, 0.95) == (6, 15)
    assert statistics.order_statistics(100, 0.5, 0.95) == (40, 61)
    assert statistics.order_statistics(5, 0.5, 0.95) == (0, 6)  # too few for any
    # largest of 59 values bounds the 95th percentile with one-sided 95 %, Wilks
    assert statistics.order_statistics(59, 0.95, 0.90)[1] == 59
    assert statistics.order_statistics(58, 0.95, 0.90)[1] == 59  # that is, none


def test_percentile_intervals_are_those_of_scipy(rng):
    for n in (30, 200, 1000):
        sample = rng.exponential(size=n)
        for percent in (50, 90, 95, 99):
            found = statistics.percentile_interval(sample, percent)
            assert found.value == np.percentile(sample, percent)
            test = stats.quantile_test(sample, p=percent / 100)
            low, high = test.confidence_interval(0.95)
            expected = (-math.inf if np.isnan(low) else low, math.inf if np.isnan(high) else high)
            assert found.interval == expected, (n, percent)


def test_percentile_intervals_hold_the_truth_as_often_as_they_say(rng):
    truth = stats.norm.ppf(0.9)
    hits = 0
    for _ in range(400):
        low, high = statistics.percentile_interval(rng.standard_normal(80), 90).interval
        hits += low <= truth <= high
    assert hits >= 400 * 0.95 - 3 * math.sqrt(400 * 0.95 * 0.05)


def test_rank_correlation_is_spearmans(rng):
    for n in (4, 30, 500):
        x = rng.integers(0, 8, n).astype(float)  # with ties
        y = x + 3 * rng.standard_normal(n)
        assert math.isclose(statistics.rank_correlation(x, y), stats.spearmanr(x, y).statistic, abs_tol=1e-12)
    assert math.isnan(statistics.rank_correlation([1, 1, 1, 1], [1, 2, 3, 4]))
    assert math.isnan(statistics.rank_correlation([1, 2], [1, 2]))


def ishigami(x):
    x = 2 * math.pi * x - math.pi
    return np.sin(x[..., 0]) + 7 * np.sin(x[..., 1]) ** 2 + 0.1 * x[..., 2] ** 4 * np.sin(x[..., 0])


# Ishigami and Homma 1990, a = 7, b = 0.1
FIRST, TOTAL = np.array([0.3139, 0.4424, 0.0]), np.array([0.5576, 0.4424, 0.2437])


def test_first_order_indices_of_ishigamis_function(rng):
    x = rng.random((20_000, 3))
    np.testing.assert_allclose(statistics.first_order_indices(x, ishigami(x)), FIRST, atol=4 / math.sqrt(20_000))


def test_saltelli_indices_of_ishigamis_function_and_of_scipy(rng):
    a, b = rng.random((2, 8192, 3))
    mixed = np.stack([np.where(np.arange(3) == k, b, a) for k in range(3)], axis=1)
    first, total = statistics.saltelli_indices(ishigami(a), ishigami(b), ishigami(mixed))
    np.testing.assert_allclose(first, FIRST, atol=0.04)
    np.testing.assert_allclose(total, TOTAL, atol=0.03)
    values = {"f_A": ishigami(a)[None], "f_B": ishigami(b)[None], "f_AB": ishigami(mixed).T[:, None]}
    theirs = stats.sobol_indices(func=values, n=8192)
    np.testing.assert_allclose(total, np.ravel(theirs.total_order), rtol=1e-6)
    np.testing.assert_allclose(first, np.ravel(theirs.first_order), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: statistics.wilson(3, 2), "wilson: count is 3, expected an integer from 0 to 2"),
        (lambda: statistics.wilson(0, 0), "wilson: runs is 0"),
        (lambda: statistics.clopper_pearson(1, 2, 1.0), "confidence is 1, expected a number between 0 and 1"),
        (lambda: statistics.percentile_interval([], 50), "values is empty"),
        (lambda: statistics.percentile_interval([1.0, math.nan], 50), "expected finite numbers"),
        (lambda: statistics.percentile_interval([1.0], 100), "percent is 100, expected a number between 0 and 100"),
        (lambda: statistics.rank_correlation([1, 2, 3], [1, 2]), "3 and 2 numbers"),
        (lambda: statistics.first_order_indices([1, 2], [1, 2]), r"x has shape \(2,\), expected finite numbers"),
    ],
)
def test_wrong_arguments_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
