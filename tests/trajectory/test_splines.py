"""Splines: those of SciPy, continuous where they must be, within limits."""

import numpy as np
import pytest
import zveno as zv
from scipy.interpolate import CubicSpline
from zveno.trajectory import path, spline
from zveno.trajectory.pieces import Pieces


@pytest.mark.parametrize("count", [2, 3, 4, 5, 30])
@pytest.mark.parametrize("ends", ["clamped", "natural", "not-a-knot"])
def test_splines_are_those_of_scipy(ends, count):
    rng = np.random.default_rng(count)
    points, x = rng.uniform(-2, 2, (count, 3)), np.cumsum(rng.uniform(0.1, 1, count))
    if ends == "clamped":
        rates = rng.uniform(-1, 1, (2, 3))
        ours, kind = spline(points, x, qd0=rates[0], qd1=rates[1]), ((1, rates[0]), (1, rates[1]))
        s = np.linspace(0, ours.duration, 400)
    else:
        ours, kind = path(points, x, ends=ends), ends if count > 3 else "natural"
        s = np.linspace(ours.start, ours.end, 400)
    theirs = CubicSpline(x, points, bc_type=kind)
    for k, values in enumerate(ours.at(s)[:3]):
        other = theirs(s + (x[0] if ends == "clamped" else 0), k)
        np.testing.assert_allclose(values, other, atol=1e-10 * max(1, np.abs(other).max()))


def test_coordinates_rates_and_accelerations_are_continuous_and_points_are_met():
    rng = np.random.default_rng(5)
    points, times = rng.uniform(-2, 2, (8, 4)), np.cumsum(rng.uniform(0.2, 1, 8))
    move = spline(points, times)
    knots = times - times[0]
    np.testing.assert_allclose(move.at(knots).q, points, atol=1e-13)
    np.testing.assert_allclose(move.at(knots[[0, -1]]).qd, 0, atol=1e-12)
    h = 1e-9
    before, after = move.at(knots[1:-1] - h), move.at(knots[1:-1] + h)
    for k, size in ((0, 1e-7), (1, 1e-6), (2, 1e-5)):
        np.testing.assert_allclose(before[k], after[k], atol=size)


def test_times_follow_from_limits_and_one_of_them_is_reached():
    points = [[0.0, 0.0], [1.0, -0.5], [0.3, 0.8], [0.0, 0.0]]
    for limits in (
        {"velocity": 1.0},
        {"acceleration": [3.0, 5.0]},
        {"velocity": 1.0, "acceleration": 4.0, "jerk": 9.0},
    ):
        peaks = spline(points, **limits).peaks()
        table = {"velocity": peaks.qd, "acceleration": peaks.qdd, "jerk": peaks.jerk}
        assert max((table[name] / limit).max() for name, limit in limits.items()) == pytest.approx(1, abs=1e-12)
    arm = zv.robots.two_link()
    move = spline(points, torque=[40.0, 15.0], arm=arm)
    tau = arm.inverse_dynamics(*move(np.linspace(0, move.duration, 20001)))
    assert (np.abs(tau) / [40.0, 15.0]).max() == pytest.approx(1, abs=1e-4)


def test_path_of_two_points_is_straight_and_of_its_length():
    way = path([[0.0, 0.0], [3.0, 4.0]])
    assert (way.start, way.end) == (0.0, 5.0)
    np.testing.assert_allclose(way.at(2.5).q, [1.5, 2.0])
    np.testing.assert_allclose(way.at([0.0, 5.0]).dq, [[0.6, 0.8]] * 2)
    assert path([[0.0, 0.0], [3.0, 4.0]], weights=[3.0, 4.0]).end == pytest.approx(np.sqrt(2))


def test_motion_along_a_path_has_the_derivatives_of_the_chain_rule():
    way = path([[0.0, 0.0], [1.0, 0.5], [0.5, 2.0], [0.0, 1.0]])
    moves = [
        way.timed(2.0),
        way.timed(zv.trajectory.s_curve([way.start], [way.end], velocity=2.0, acceleration=8.0, jerk=90.0)),
    ]
    for move in moves:
        t = np.linspace(0.05, 0.95, 37) * move.duration
        state = move.at(t)
        np.testing.assert_allclose(way.at(move.path_parameter(t)).q, state.q, atol=1e-15)
        h = 1e-5
        for k in range(3):
            slope = (move.at(t + h)[k] - move.at(t - h)[k]) / (2 * h)
            # corners of q'' and of s'' fall between some of the samples
            far = np.abs(slope - state[k + 1]).max(axis=1) > 1e-6 * (1 + np.abs(state[k + 1]).max())
            assert far.sum() <= 1
    np.testing.assert_allclose(moves[0].at([0.0, 2.0]).qdd, 0, atol=1e-12)


def test_motion_along_a_path_keeps_limits_of_jerk_at_the_knots():
    way = path([[0.0, 0.0], [1.0, 0.5], [0.5, 2.0], [0.0, 1.0]])
    move = way.timed(1.0).within(jerk=50.0)
    assert np.abs(move.at(np.linspace(0, move.duration, 200_001)).jerk).max() == pytest.approx(50.0, rel=1e-4)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_peaks_of_pieces_are_those_of_their_roots(degree):
    """Of all sizes of coefficients, some of them zero, against the extrema by numpy.roots."""
    rng = np.random.default_rng(degree)
    for trial in range(40):
        breaks = np.cumsum(rng.uniform(0.1, 2, 4))
        c = rng.normal(size=(3, degree + 1, 2)) * 10.0 ** rng.integers(-5, 5, (1, degree + 1, 1))
        if trial % 3 == 0:
            c[:, rng.integers(degree + 1)] = 0
        low, high, at_low, at_high = Pieces(breaks, c).peaks(0)
        for j in range(2):
            values = []
            for i in range(3):
                p = np.polynomial.Polynomial(c[i, :, j])
                h = p.deriv().roots()
                h = h.real[(abs(h.imag) < 1e-7) & (h.real > 0) & (h.real < breaks[i + 1] - breaks[i])]
                values += p(np.concatenate([[0, breaks[i + 1] - breaks[i]], h])).tolist()
            size = max(map(abs, values))
            assert [low[j], high[j]] == pytest.approx([min(values), max(values)], abs=1e-9 * size)
            assert breaks[0] <= at_low[j] <= breaks[-1] >= at_high[j] >= breaks[0]
