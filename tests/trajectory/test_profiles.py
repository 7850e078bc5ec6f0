"""Motions from point to point: durations, limits met and kept, derivatives that belong together."""

import math
import pickle

import numpy as np
import pytest
import zveno as zv
from helpers import derivative, tol
from zveno.trajectory import quintic, s_curve, trapezoid

KINDS = {"quintic": quintic, "trapezoid": trapezoid, "s_curve": s_curve}
# way, limits of rate, acceleration and jerk: durations of quintic, trapezoid, S-curve
DURATIONS = [
    ((1, 0.5, 2, 10), (3.75, 2.25, 2.45)),
    ((1, 2, 2, 10), (1.817120592832, 1.414213562373, 1.628285685709)),
    ((1, 5, 50, 10), (1.817120592832, 0.3, 1.473612599456)),
    ((0.01, 0.5, 2, 10), (0.391486764117, 0.141421356237, 0.317480210394)),
]


def made(kind, q0, q1, v, a, j, **options):
    limits = {"velocity": v, "acceleration": a} | ({} if kind == "trapezoid" else {"jerk": j})
    return KINDS[kind](q0, q1, **limits, **options)


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize(("numbers", "durations"), DURATIONS)
def test_durations_are_those_of_the_closed_forms(numbers, durations, way):
    D, v, a, j = numbers
    for kind, duration in zip(KINDS, durations, strict=True):
        assert made(kind, [0.3], [0.3 + way * D], v, a, j).duration == pytest.approx(duration, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_ends_are_met_limits_are_kept_and_one_of_them_is_reached(kind):
    rng = np.random.default_rng(1)
    for _ in range(100):
        n = rng.integers(1, 6)
        q0, q1 = rng.uniform(-2, 2, (2, n)) * 10.0 ** rng.integers(-3, 2)
        v, a, j = (10.0 ** rng.uniform(-1, 2, n) for _ in range(3))
        move = made(kind, q0, q1, v, a, j)
        ends = move.at([0.0, move.duration])
        np.testing.assert_allclose(ends.q, [q0, q1], rtol=0, atol=tol(100, np.abs([q0, q1]).max()))
        peaks = move.peaks()
        np.testing.assert_allclose(ends.qd, 0, atol=tol(10, move.duration * peaks.qdd.max()))
        shares = [peaks.qd / v, peaks.qdd / a, *([] if kind == "trapezoid" else [peaks.jerk / j])]
        assert max(share.max() for share in shares) == pytest.approx(1, abs=1e-9)
        dense = move.at(np.linspace(0, move.duration, 5001))
        for values, peak in zip(dense[1:], peaks, strict=True):
            assert (np.abs(values) <= peak * (1 + 1e-9)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rates_accelerations_and_jerks_are_derivatives(kind):
    move = made(kind, [0.0, 1.0, -0.5], [1.0, 0.2, -0.5], [1.0, 2.0, 1.0], 4.0, 30.0)
    for t in (np.array(move.breaks[:-1]) + np.array(move.breaks[1:])) / 2:
        state = move.at(t)
        h = 0.3 * np.diff(move.breaks).min()
        for k in range(3):
            # polynomials of degree five: the difference of sixth order is exact but for rounding
            slope = derivative(lambda x, k=k, t=t, h=h: move.at(t + h * x)[k]) / h
            np.testing.assert_allclose(slope, state[k + 1], atol=1e-9 * max(1, np.abs(state[k + 1]).max()) / h)


def test_synchronised_trapezoid_keeps_its_acceleration_and_cruises_slower():
    move = trapezoid([0.0], [1.0], 2.0, velocity=10.0, acceleration=2.0)
    assert move.peaks().qd[0] == pytest.approx(0.585786437627, abs=1e-12)
    assert move.peaks().qdd[0] == pytest.approx(2.0, abs=1e-12)


def test_synchronised_joints_start_and_stop_together():
    for kind in KINDS:
        move = made(kind, [0.0, 0.0, 0.3], [1.0, -0.1, 0.3], 1.0, 5.0, 50.0)
        slow = made(kind, [0.0], [1.0], 1.0, 5.0, 50.0)
        assert move.duration == pytest.approx(slow.duration, rel=1e-14)
        rates = move.at(np.linspace(1e-3, 1 - 1e-3, 50) * move.duration).qd
        assert (rates[:, 0] > 0).all() and (rates[:, 1] < 0).all() and (rates[:, 2] == 0).all()


def test_quintic_with_given_rates_and_accelerations_at_the_ends():
    ends = {"qd0": [0.5, -1.0], "qd1": [0.1, 0.2], "qdd0": [1.0, 0.0], "qdd1": [-2.0, 3.0]}
    move = quintic([0.0, 1.0], [1.0, 0.0], 1.7, **ends)
    state = move.at([0.0, 1.7])
    for values, names in ((state.qd, ("qd0", "qd1")), (state.qdd, ("qdd0", "qdd1"))):
        np.testing.assert_allclose(values, [ends[name] for name in names], atol=1e-13)
    np.testing.assert_allclose(state.q, [[0.0, 1.0], [1.0, 0.0]], atol=1e-14)


def test_s_curve_without_limits_of_rate_and_acceleration_is_four_pieces_of_jerk():
    assert s_curve([0.0], [1.0], jerk=10.0).duration == pytest.approx(4 * math.cbrt(1 / 20), rel=1e-14)


def test_outside_of_its_time_the_motion_stands_at_its_ends():
    move = quintic([0.0, 1.0], [1.0, 0.0], 1.0, qd1=[0.3, 0.0])
    state = move.at([-1.0, 5.0])
    np.testing.assert_allclose(state.q, [[0, 1], [1, 0]], atol=1e-15)
    assert not np.any(state[1:])
    assert move.at(1.0 + 1e-14).qd[0] == pytest.approx(0.3)  # a rounded end is the end


def test_any_shape_of_times_and_the_same_bits():
    move = s_curve([0.0, 1.0], [1.0, 0.0], velocity=1.0, acceleration=3.0, jerk=20.0)
    t = np.linspace(-0.1, move.duration + 0.1, 24)
    flat = move.at(t)
    for shape in ((2, 12), (2, 3, 4), (24, 1)):
        for a, b in zip(move.at(t.reshape(shape)), flat, strict=True):
            assert np.array_equal(a, b.reshape(*shape, 2))
    assert all(np.array_equal(move.at(t[5])[k], flat[k][5]) for k in range(4))
    assert move.at(0.2).q.shape == (2,) and move.at([]).q.shape == (0, 2)
    assert all(np.array_equal(a, b) for a, b in zip(move(t), flat, strict=False))
    again = pickle.loads(pickle.dumps(move))
    assert all(np.array_equal(a, b) for a, b in zip(again.at(t), flat, strict=True))


def test_peaks_of_polynomials_are_those_of_dense_samples():
    rng = np.random.default_rng(3)
    for _ in range(20):
        points, steps = rng.uniform(-1, 1, (6, 3)), rng.uniform(0.1, 1, 6)
        moves = [zv.trajectory.spline(points, np.cumsum(steps))]
        moves.append(quintic(*rng.uniform(-1, 1, (2, 4)), 1.3, qd0=rng.uniform(-9, 9, 4), qdd1=rng.uniform(-9, 9, 4)))
        for move in moves:
            dense = move.at(np.linspace(0, move.duration, 20001))
            for found, values in zip(move.peaks(), dense[1:], strict=True):
                seen = np.abs(values).max(axis=0)
                assert (found >= seen * (1 - 1e-12)).all()
                np.testing.assert_allclose(found, seen, rtol=2e-2)


def test_stretching_scales_rates_accelerations_and_jerks():
    move = quintic([0.0], [1.0], 1.0)
    slow = move.stretched(2.5)
    assert slow.duration == 2.5
    for k, (a, b) in enumerate(zip(slow.peaks(), move.peaks(), strict=True)):
        np.testing.assert_allclose(a, b / 2.5 ** (k + 1), rtol=1e-13)


def test_fitted_motion_meets_every_limit_and_reaches_one():
    arm = zv.robots.puma560()
    move = quintic(np.zeros(6), [0.5, -0.4, 0.6, 0.3, 0.2, -0.8], 1.0)
    torque = [40.0, 90.0, 40.0, 5.0, 5.0, 5.0]
    fast = move.within(arm, torque=torque)
    tau = arm.inverse_dynamics(*fast(np.linspace(0, fast.duration, 20001)))
    assert (np.abs(tau) / torque).max() == pytest.approx(1, abs=1e-5)
    both = move.within(arm, torque=torque, velocity=0.3, acceleration=100.0, jerk=[1e9] * 6)
    assert both.peaks().qd.max() == pytest.approx(0.3)
    both.check(arm, torque=torque, velocity=0.3)
    one_sided = quintic([0.0], [1.0], 1.0).within(velocity=[[-0.1], [2.0]], acceleration=[[-3.0], [50.0]])
    assert one_sided.at(np.linspace(0, 9, 9999)).qdd.min() == pytest.approx(-3.0, rel=1e-5)


def test_fitted_motion_counts_viscous_friction():
    arm = zv.Chain([zv.Link("a", axis=(0, 0, 1), mass=1.0, inertia=0.01, friction=5.0)], gravity=(0, 0, 0))
    move = quintic([0.0], [1.0], 1.0).within(arm, torque=4.0)
    tau = arm.inverse_dynamics(*move(np.linspace(0, move.duration, 20001)))
    assert np.abs(tau).max() == pytest.approx(4.0, rel=1e-5)


def test_limits_of_an_arm_are_the_defaults():
    link = {"axis": (0, 0, 1), "mass": 1.0, "inertia": 1.0}
    arm = zv.Chain([zv.Link("a", velocity=0.5, effort=2.0, upper=2.0, **link)], gravity=(0, 0, 0))
    assert quintic([0.0], [1.0], arm=arm).peaks().qd[0] == pytest.approx(0.5)
    assert trapezoid([0.0], [1.0], acceleration=50.0, arm=arm).peaks().qd[0] == pytest.approx(0.5)
    assert quintic([0.0], [0.01], 1.0, arm=arm).within(arm).duration < 1.0
    assert quintic([0.0], [1.0], arm=arm).joint_names == ("a_joint",)


def test_a_controller_follows_a_trajectory():
    arm = zv.robots.two_link()
    move = s_curve([0.2, 0.1], [1.2, -0.7], velocity=2.0, acceleration=8.0, jerk=80.0, arm=arm)
    control = zv.control.ComputedTorque(arm, kp=400.0, kd=40.0)
    run = arm.simulate(1.5, 1e-3, q=move.at(0).q, tau=control.follow(move))
    # corners of the acceleration fall inside steps of Runge-Kutta
    np.testing.assert_allclose(run.q, move.at(run.t).q, atol=1e-6)
    held = arm.simulate(1.5, 1e-3, q=move.at(0).q, tau=control.follow(move), hold=1e-3)
    np.testing.assert_allclose(held.q, move.at(held.t).q, atol=2e-3)
    # efforts of the middle of each step, as an array
    t = (np.arange(1500) + 0.5) * 1e-3
    open_loop = arm.simulate(1.5, 1e-3, q=move.at(0).q, tau=arm.inverse_dynamics(*move(t)))
    np.testing.assert_allclose(open_loop.q, move.at(open_loop.t).q, atol=1e-4)


def test_table_and_figure(tmp_path):
    arm = zv.robots.scara()
    move = quintic(np.zeros(4), [1.0, -0.5, 0.1, 0.3], 1.0, arm=arm)
    move.to_csv(tmp_path / "move.csv", count=11)
    text = (tmp_path / "move.csv").read_text(encoding="utf-8").splitlines()
    names = text[0].split(",")
    assert (
        names[0] == "t [s]"
        and f"q.{arm.joint_names[2]} [m]" in names
        and f"jerk.{arm.joint_names[0]} [rad/s^3]" in names
    )
    table = np.array([line.split(",") for line in text[1:]], float)
    np.testing.assert_array_equal(table[:, 1:], np.concatenate(move.at(table[:, 0]), axis=1))
    columns = move.columns(11)
    np.testing.assert_array_equal(columns[f"qd.{arm.joint_names[1]}"], table[:, 6])
    move.to_csv(tmp_path / "steps.csv", dt=0.3)
    assert np.loadtxt(tmp_path / "steps.csv", delimiter=",", skiprows=1)[:, 0].tolist() == [0, 0.3, 0.6, 3 * 0.3, 1.0]
    figure = move.plot()
    assert figure.axes[0].get_ylabel() == "q, rad or m"
    assert len(figure.axes) == 4
