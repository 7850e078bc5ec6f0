"""The sines and cosines of the kernels, against sixty decimal digits."""

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
import zveno as zv
from zveno._core import sincos

LIMIT = 1e5  # beyond it the C library answers


def arctan_inverse(n, one):
    """arctan(1/n) in units of 1/one."""
    total = term = one // n
    k = 1
    while term:
        term //= -n * n
        k += 2
        total += term // k
    return total


def half_pi():
    """Machin: pi/4 = 4 arctan(1/5) - arctan(1/239), to ninety digits."""
    one = 10**100
    return Decimal(2 * (4 * arctan_inverse(5, one) - arctan_inverse(239, one))).scaleb(-100, Context(prec=95))


HALF_PI = half_pi()


def exact(x):
    """Sine and cosine of a double to sixty digits, by quadrant and Taylor's series."""
    with localcontext(Context(prec=80)):
        quadrant = int((Decimal(x) / HALF_PI).to_integral_value())
        r = Decimal(x) - quadrant * HALF_PI
        sums, term, k = [Decimal(0), Decimal(1)], Decimal(1), 0  # of odd and of even powers
        while term and (not sums[0] or term.adjusted() > min(sums[0].adjusted(), 0) - 60):
            k += 1
            term = term * r / k
            sums[1 - k % 2] += term if k % 4 < 2 else -term
        s, c = sums
        return [(s, c), (c, -s), (-s, -c), (-c, s)][quadrant % 4]


def error_in_ulps(got, want):
    return float(abs(Decimal(float(got)) - want) / Decimal(math.ulp(float(want))))


def worst(angles):
    s, c = sincos(np.asarray(angles))
    errors = []
    for x, si, ci in zip(angles, s, c, strict=True):
        want = exact(x)
        errors.append(max(error_in_ulps(si, want[0]), error_in_ulps(ci, want[1])))
    return max(errors)


def test_reference_knows_the_right_angles():
    assert float(HALF_PI) == math.pi / 2
    for x in (0.5, 1.0, -2.0, 3.0, 4.5, 100.0, 99999.0):
        assert math.isclose(math.sin(x), float(exact(x)[0]), rel_tol=1e-14)
        assert math.isclose(math.cos(x), float(exact(x)[1]), rel_tol=1e-14)


def test_error_is_at_most_two_ulp_in_the_whole_range(rng):
    assert worst(rng.uniform(-LIMIT, LIMIT, 3000)) <= 2
    assert worst(rng.uniform(-10, 10, 3000)) <= 2


def test_error_is_at_most_two_ulp_next_to_right_angles(rng):
    angles = []
    for k in [*range(1, 60), *rng.integers(60, int(LIMIT / (math.pi / 2)), 600)]:
        middle = float(int(k) * HALF_PI)
        angles += [middle, math.nextafter(middle, 0.0), -math.nextafter(middle, math.inf)]
    assert worst(angles) <= 2


def test_error_is_at_most_two_ulp_for_numbers_of_any_size(rng):
    small = [math.ldexp(m, -int(e)) for m, e in zip(rng.uniform(1, 2, 500), rng.integers(0, 1074, 500), strict=True)]
    assert worst([*small, 5e-324, 2.2250738585072014e-308, math.nextafter(LIMIT, 0.0)]) <= 2


def test_beyond_the_range_the_c_library_answers(rng):
    angles = np.array([LIMIT, -LIMIT, 123456.789, 1e15, -1e22, 1.7976931348623157e308])
    s, c = sincos(angles)
    assert [*s] == [math.sin(x) for x in angles]
    assert [*c] == [math.cos(x) for x in angles]


def test_sine_is_odd_and_cosine_even(rng):
    angles = rng.uniform(0, LIMIT, 10_000)
    (s, c), (minus_s, minus_c) = sincos(angles), sincos(-angles)
    assert np.array_equal(s, -minus_s)
    assert np.array_equal(c, minus_c)


@pytest.mark.parametrize("x", [0.0, -0.0])
def test_zero_is_exact(x):
    s, c = sincos(np.array([x]))
    assert (s[0], c[0]) == (0.0, 1.0)


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_has_no_sine(x):
    s, c = sincos(np.array([1.0, x, 1.0]))
    assert np.isnan(s[1]) and np.isnan(c[1])
    assert s[0] == s[2] and abs(s[0] - math.sin(1)) < 1e-15


def test_any_shape_is_taken_in_order():
    angles = np.arange(12.0).reshape(3, 4)[:, ::-1]
    assert np.array_equal(sincos(angles)[0], np.concatenate([sincos(row)[0] for row in angles]))
    assert [x.size for x in sincos(np.array([]))] == [0, 0]


@pytest.mark.parametrize("q", [1e6, -1e6 - 0.1, 1e9, 123456789.0])
def test_a_turned_frame_is_off_by_half_the_spacing_of_its_angle_and_the_docstring_says_so(q):
    turn = 0.7
    with localcontext(Context(prec=60)):
        (s, c), (sin, cos) = exact(turn), exact(q)
        want = np.array([[cos * c - sin * s, -sin * c - cos * s], [sin * c + cos * s, cos * c - sin * s]], float)
    frame = [[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]]
    got = zv.Chain([zv.Link("a", rotation=frame, mass=1.0)]).pose([q], "a")
    assert np.abs(got[:2, :2] - want).max() <= 0.5 * math.ulp(q) + 1e-15
    text = " ".join(zv.Chain.pose.__doc__.split())
    assert "off by up to half the spacing of numbers at q: 6e-11 rad at 1e6 rad, 6e-8 rad at 1e9 rad" in text
    for angle in (1e6, 1e9):
        assert f"{math.ulp(angle) / 2:.0e}".replace("e-0", "e-") in text
