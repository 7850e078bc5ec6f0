"""Time-optimal motion: known optima, reference numbers, a linear program, limits between nodes, what cannot be done."""

import math

import numpy as np
import pytest
import zveno as zv
from scipy.optimize import linprog
from zveno.trajectory import path, time_optimal

ROD = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0, 1 / 12, 1 / 12)}
WAY = path([(0.3, 0.4), (0.9, -0.5), (1.4, 0.8), (0.6, 1.5)], s=[0, 1 / 3, 2 / 3, 1])
ANY = 1.0  # tolerance that leaves the grid as it is


def two_rods(friction=(0.0, 0.0)):
    """Two uniform rods of 1 kg and 1 m in a vertical plane, the first angle from the horizontal."""
    upper = zv.Link("upper", axis=(0, -1, 0), friction=friction[0], **ROD)
    lower = zv.Link("lower", axis=(0, -1, 0), position=(1, 0, 0), friction=friction[1], **ROD)
    return zv.Chain([upper, lower], gravity=(0, 0, -9.81))


def rotor(inertia=1.0, **options):
    return zv.Chain([zv.Link("rotor", axis=(0, 0, 1), mass=1.0, inertia=inertia, **options)], gravity=(0, 0, 0))


# ---- known optima ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "error"), [(100, 1e-8), (1000, 1e-8), (101, 3e-5), (333, 3e-6)])
def test_double_integrator_is_bang_bang(nodes, error):
    fast = time_optimal(rotor(), [[0.0], [2.0]], acceleration=3.0, nodes=nodes)
    assert fast.duration == pytest.approx(2 * math.sqrt(2 / 3), rel=error)
    state = fast.at(np.array([0.1, 0.4, 0.6, 0.9]) * fast.duration)
    np.testing.assert_allclose(state.qdd[:, 0], [3, 3, -3, -3], rtol=1e-6)


def test_double_integrator_under_torque_is_the_same_motion():
    by_torque = time_optimal(rotor(2.0), [[0.0], [2.0]], torque=6.0)
    by_acceleration = time_optimal(rotor(2.0), [[0.0], [2.0]], acceleration=3.0)
    assert by_torque.duration == pytest.approx(by_acceleration.duration, rel=1e-12)


def test_double_integrator_with_a_limit_of_rate_is_the_trapezoid():
    fast = time_optimal(rotor(), [[0.0], [2.0]], acceleration=3.0, velocity=0.9, nodes=2000)
    assert fast.duration == pytest.approx(2 / 0.9 + 0.9 / 3, rel=1e-6)


def test_double_integrator_with_unequal_limits():
    # t1 = v/a, t2 = v/d with v^2 (1/a + 1/d) = 2 D
    fast = time_optimal(rotor(), [[0.0], [2.0]], acceleration=[[-6.0], [3.0]], nodes=600)
    v = math.sqrt(4 / (1 / 3 + 1 / 6))
    assert fast.duration == pytest.approx(v / 3 + v / 6, rel=1e-6)
    assert time_optimal(rotor(), [[2.0], [0.0]], acceleration=[[-6.0], [3.0]], nodes=600).duration == pytest.approx(
        fast.duration, rel=1e-5
    )


def test_given_speeds_at_the_ends():
    fast = time_optimal(rotor(), [[0.0], [2.0]], acceleration=3.0, start=1.0, end=0.5, nodes=1000)
    top = math.sqrt((2 * 3 * 2 + 1 + 0.25) / 2)
    assert fast.duration == pytest.approx((top - 1) / 3 + (top - 0.5) / 3, rel=1e-5)
    np.testing.assert_allclose(fast.at([0.0, fast.duration]).qd[:, 0], [1.0, 0.5], rtol=1e-9)


def test_speed_of_the_tool_is_limited():
    arm = zv.robots.two_link()
    fast = time_optimal(arm, [[0.2, 0.3], [1.0, 0.9]], acceleration=50.0, speed=0.5, nodes=400)
    q, qd, _ = fast(np.linspace(0, fast.duration, 5001))
    speed = np.linalg.norm(arm.velocity(q, qd, "tip")[:, :3], axis=1)
    assert speed.max() == pytest.approx(0.5, rel=2e-3)
    elbow = time_optimal(arm, [[0.2, 0.3], [1.0, 0.9]], acceleration=50.0, speed=0.5, link="lower")
    assert elbow.duration < fast.duration


# ---- two rods -------------------------------------------------------------------------------------------------------


def test_coefficients_of_the_efforts_along_the_path():
    arm = two_rods()
    q, dq, ddq, _ = WAY.at(0.25)
    c = arm.inverse_dynamics(q, 0 * q, 0 * q)
    np.testing.assert_allclose(c, [15.715068657115, 4.752894420309], atol=1e-11)
    np.testing.assert_allclose(arm.inverse_dynamics(q, 0 * q, dq) - c, [3.818864821171, 1.024983799411], atol=1e-11)
    np.testing.assert_allclose(arm.inverse_dynamics(q, dq, ddq) - c, [25.123100904162, 9.491842877275], atol=1e-11)


@pytest.mark.parametrize(
    ("torque", "velocity", "durations", "optimum", "error"),
    [
        ((40, 15), (3, 3), (1.2972552767, 1.2891041550, 1.2883452772, 1.2879486587), 1.28754, 2e-5),
        ((40, 15), None, (1.0323991774, 1.0288584829, 1.0271069412, 1.0262381189), 1.025368, 3e-6),
        ((30, 10), None, (1.3257339033, 1.3211185632, 1.3187579652, 1.3175841029), 1.316416, 1e-5),
        ((18, 15), None, (3.3570997140, 3.3282734578, 3.3150894827, 3.3087834894), 3.3026, 3e-4),
    ],
)
def test_two_rods_take_the_reference_times(torque, velocity, durations, optimum, error):
    options = {"torque": torque, "velocity": velocity, "tolerance": ANY}
    found = [time_optimal(two_rods(), WAY, nodes=n, **options).duration for n in (100, 200, 400, 800)]
    np.testing.assert_allclose(found, durations, rtol=0, atol=5e-10)
    assert found == sorted(found, reverse=True) and found[-1] > optimum
    assert 2 * found[3] - found[2] == pytest.approx(optimum, abs=error)


def test_two_rods_with_viscous_friction_take_the_reference_time():
    fast = time_optimal(two_rods((2.0, 1.0)), WAY, torque=(40, 15), nodes=400, tolerance=ANY)
    assert fast.duration == pytest.approx(1.0654382846, abs=5e-10)


def test_fastest_motion_is_that_of_a_linear_program_on_the_same_rows():
    arm, N = two_rods(), 50
    s = np.linspace(0, 1, N + 1)
    q, dq, ddq, _ = WAY.at(s)
    c = arm.inverse_dynamics(q, 0 * q, 0 * q)
    a, b = arm.inverse_dynamics(q, 0 * q, dq) - c, arm.inverse_dynamics(q, dq, ddq) - c
    D, limit = 1 / N, np.array([40.0, 15.0])
    rows, right = [], []
    for i in range(N):
        for node in (i, i + 1):
            for j in range(2):
                row = np.zeros(N + 1)  # u = (x_{i+1} - x_i) / 2 D
                row[i + 1] += a[node, j] / (2 * D)
                row[i] -= a[node, j] / (2 * D)
                row[node] += b[node, j]
                rows += [row, -row]
                right += [limit[j] - c[node, j], limit[j] + c[node, j]]
    most = np.min((3.0 / dq) ** 2, axis=1)
    bounds = [(0, 0), *((0, m) for m in most[1:-1]), (0, 0)]
    lp = linprog(-np.ones(N + 1), np.array(rows), np.array(right), bounds=bounds)
    root = np.sqrt(np.maximum(lp.x, 0))
    duration = (2 * D / (root[1:] + root[:-1])).sum()
    fast = time_optimal(arm, WAY, torque=limit, velocity=3.0, nodes=N, tolerance=ANY)
    assert fast.duration == pytest.approx(duration, rel=1e-7)
    np.testing.assert_allclose((fast.at(fast.breaks).qd[:, 0] / dq[:, 0]) ** 2, lp.x, rtol=1e-5, atol=1e-7)


# ---- limits between nodes -------------------------------------------------------------------------------------------


def shares(arm, move, torque, velocity, acceleration, count=20_001):
    """Used parts of limits at equally spaced times."""
    q, qd, qdd = move(np.linspace(0, move.duration, count))
    tau = arm.inverse_dynamics(q, qd, qdd)
    return [np.abs(x / y).max() for x, y in ((tau, torque), (qd, velocity), (qdd, acceleration))]


@pytest.mark.parametrize("tolerance", [2e-3, 1e-4])
def test_limits_are_kept_between_the_nodes(tolerance):
    arm = two_rods()
    for torque, velocity in (((40.0, 15.0), 3.0), ((30.0, 10.0), np.inf), ((18.0, 15.0), np.inf)):
        fast = time_optimal(arm, WAY, torque=torque, velocity=velocity, tolerance=tolerance, nodes=50)
        used = shares(arm, fast, torque, velocity, np.inf)
        assert max(used) <= 1 + tolerance * 1.01
        assert fast.excess <= tolerance
        fast.check(arm, torque=torque, velocity=velocity, tolerance=tolerance * 1.01)


@pytest.mark.parametrize("name", ["puma560", "kawasaki_fs020n", "scara", "stanford"])
def test_industrial_arms_keep_limits_and_are_faster_than_a_stretched_motion(name):
    arm = getattr(zv.robots, name)()
    rng = np.random.default_rng(len(name))
    low, high = np.clip(arm.lower, -1.5, 1.5), np.clip(arm.upper, -1.5, 1.5)
    for k in range(4):
        points = (low + high) / 2 + 0.3 * (high - low) * rng.uniform(-1, 1, (2 + k, arm.n))
        way = path(points, arm=arm)
        q = way.at(np.linspace(way.start, way.end, 200)).q
        torque = 1.3 * np.abs(arm.inverse_dynamics(q, 0 * q, 0 * q)).max(axis=0) + rng.uniform(1, 5, arm.n)
        options = {"torque": torque, "velocity": 2.0, "acceleration": 15.0}
        fast = time_optimal(arm, way, **options)
        assert max(shares(arm, fast, torque, 2.0, 15.0)) <= 1 + 2.1e-3
        assert max(shares(arm, fast, torque, 2.0, 15.0)) > 0.99
        slow = way.timed(1.0).within(arm, **options)
        slow.check(arm, **options, tolerance=1e-4)
        assert fast.duration < slow.duration
        ends = fast.at([0.0, fast.duration])
        np.testing.assert_allclose(ends.q, points[[0, -1]], atol=1e-9)
        np.testing.assert_allclose(ends.qd, 0, atol=1e-6)


def test_rotor_with_viscous_friction_takes_the_time_of_the_closed_form():
    b, J, tau, D = 4.0, 1.0, 3.0, 2.0
    arm = rotor(J, friction=b)
    moves = [time_optimal(arm, [[0.0], [D]], torque=tau, nodes=n) for n in (400, 800, 1600)]
    assert max(shares(arm, moves[0], tau, np.inf, np.inf)) <= 1 + 1e-9
    # full torque for a time x: v = tau/b (1 - exp(-b x/J)); then brakes at full torque
    x = np.linspace(0, 10, 2_000_001)
    v = tau / b * -np.expm1(-b * x / J)
    stop = J / b * np.log1p(b * v / tau)
    way = tau / b * x - J / b * v + (J / b * v - tau / b * stop)
    i = np.searchsorted(way, D)
    late = np.array([move.duration for move in moves]) / (x[i] + stop[i]) - 1
    assert 0 < late[-1] < 2.2e-3
    assert (late[1:] / late[:-1] < 0.58).all()  # with log N / N: the speed is reached in the first steps


@pytest.mark.parametrize("friction", [(0.1, 5.0), (20.0, 10.0), (100.0, 100.0)])
def test_strong_friction_is_settled_too(friction):
    arm = two_rods(friction)
    fast = time_optimal(arm, WAY, torque=(40.0, 15.0))
    used = max(shares(arm, fast, (40.0, 15.0), np.inf, np.inf))
    assert 0.999 < used <= 1 + 2.1e-3


def test_motion_is_the_same_every_time_and_feeds_a_simulation():
    arm = two_rods()
    fast, again = (time_optimal(arm, WAY, torque=(40, 15)) for _ in range(2))
    t = np.linspace(0, fast.duration, 99)
    assert all(np.array_equal(a, b) for a, b in zip(fast.at(t), again.at(t), strict=True))
    control = zv.control.ComputedTorque(arm, kp=2500.0, kd=100.0)
    run = arm.simulate(1.1, 1e-3, q=fast.at(0).q, tau=control.follow(fast))
    np.testing.assert_allclose(run.q, fast.at(run.t).q, atol=2e-3)


# ---- what cannot be done --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "node"), [(100, 13), (200, 25)])
def test_pose_that_cannot_be_held_is_named_with_joint_and_place(nodes, node):
    with pytest.raises(
        zv.InfeasibleError, match=r"at s = 0\.1.*joint 'upper_joint' cannot hold the arm.*limit 12"
    ) as e:
        time_optimal(two_rods(), WAY, torque=(12, 15), nodes=nodes)
    error = e.value
    assert error.s == pytest.approx(node / nodes)
    assert (error.joint, error.quantity, error.limit) == ("upper_joint", "torque", 12.0)
    q = WAY.at(error.s).q
    np.testing.assert_allclose(error.q, q, atol=1e-14)
    assert error.value == pytest.approx(two_rods().inverse_dynamics(q, 0 * q, 0 * q)[0])


def test_start_that_only_momentum_could_carry_is_named():
    arm = zv.Chain([zv.Link("a", axis=(0, -1, 0), **ROD)], gravity=(0, 0, -9.81))
    # at the start 4.7 N m are needed to hold the arm, at the end, upright, none
    with pytest.raises(zv.InfeasibleError, match=r"start is 0, too slow at s = 0: .* joint 'a_joint' needs .* to hold"):
        time_optimal(arm, [[0.3], [1.5]], torque=4.0)
    fast = time_optimal(arm, [[0.3], [1.5]], torque=4.0, start=1.5)
    assert max(shares(arm, fast, 4.0, np.inf, np.inf)) <= 1.002


def test_long_steps_do_not_make_a_path_infeasible():
    # at 12 nodes the path looks impossible; on a finer grid it is the start that is too slow, or fast enough
    with pytest.raises(zv.InfeasibleError):
        time_optimal(two_rods(), WAY, torque=(17.6, 15.0), nodes=12)
    fast = time_optimal(two_rods(), WAY, torque=(17.6, 15.0), nodes=12, start=1.0)
    assert len(fast.breaks) > 48
    assert max(shares(two_rods(), fast, (17.6, 15.0), np.inf, np.inf)) <= 1 + 2.1e-3


def test_speeds_at_the_ends_that_no_limit_allows_are_named():
    with pytest.raises(zv.InfeasibleError, match=r"start is 5, too fast at s = 0: .* allow 0 to 3\.46") as e:
        time_optimal(rotor(), [[0.0], [2.0]], acceleration=3.0, start=5.0)
    assert e.value.limit == pytest.approx(math.sqrt(12)) and e.value.quantity == "speed"
    for what, s in (("start", "0"), ("end", "2")):
        with pytest.raises(
            zv.InfeasibleError, match=rf"{what} is 5, too fast at s = {s}: the velocity of joint 'rotor_j"
        ):
            time_optimal(rotor(), [[0.0], [2.0]], acceleration=3.0, velocity=1.0, **{what: 5.0})
    with pytest.raises(zv.InfeasibleError, match="too fast at s = 0: the speed of link 'tip' allows"):
        time_optimal(zv.robots.two_link(), [[0, 0], [1, 1]], acceleration=3.0, speed=0.1, start=5.0)
    with pytest.raises(zv.InfeasibleError, match=r"cannot be followed|too"):
        time_optimal(rotor(), [[0.0], [2.0]], acceleration=3.0, end=9.0)


def test_path_without_a_direction_is_named():
    way = path([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], s=[0, 1, 2, 3])  # comes back on itself
    with pytest.raises(zv.InfeasibleError, match=r"no direction at s = 1\.5: q'\(s\) vanishes"):
        time_optimal(two_rods(), way, acceleration=3.0)


def test_limits_of_position_are_checked_between_the_points():
    arm = zv.Chain([zv.Link("a", axis=(0, 0, 1), mass=1.0, inertia=1.0, upper=1.02)], gravity=(0, 0, 0))
    for call in (
        lambda: time_optimal(arm, [[0.0], [1.0], [0.9], [0.0]], acceleration=1.0),
        lambda: path([[0.0], [1.0], [0.9], [0.0]], arm=arm),
        lambda: path([[0.0], [1.0], [0.9], [0.0]]).check(arm),
    ):
        with pytest.raises(zv.InfeasibleError, match=r"joint 'a_joint' is at 1\.\d+ rad at s = .*upper limit is 1\.02"):
            call()


# ---- jerk -----------------------------------------------------------------------------------------------------------


def test_a_limit_of_jerk_is_kept_with_all_others():
    arm = zv.robots.kawasaki_fs020n()
    points = np.radians([(-60, 40, -50, 0, 60, 0), (-20, 15, -80, 30, 40, 40), (30, 20, -85, -20, 50, 90)])
    torque, rates = np.array([900.0, 1200.0, 600.0, 120.0, 90.0, 60.0]), np.full(6, 3.0)
    limits = {"velocity": rates, "torque": torque}
    fastest = zv.trajectory.time_optimal(arm, points, **limits, nodes=60)
    before = np.inf
    for jerk in (60.0, 600.0, 60_000.0):
        move = zv.trajectory.time_optimal(arm, points, **limits, jerk=jerk, nodes=60)
        move.check(arm, **limits, jerk=jerk, tolerance=1e-3)
        t = np.linspace(0, move.duration, 4001)
        q, qd, qdd = move(t)
        assert np.abs(np.diff(qdd, axis=0)).max() <= 1.001 * jerk * t[1]  # accelerations do not jump
        assert np.abs(np.diff(q, axis=0) / t[1] - (qd[1:] + qd[:-1]) / 2).max() < 1e-3 * max(1.0, jerk / 600)
        assert np.abs(q[[0, -1]] - points[[0, -1]]).max() < 1e-12
        assert np.abs(qd[[0, -1]]).max() < 1e-9
        assert fastest.duration * (1 - 1e-6) < move.duration < before
        before = move.duration
    assert before < 1.01 * fastest.duration


def test_jerk_of_one_joint_against_the_s_curve():
    rotor = zv.Chain([zv.Link("rotor", axis=(0, 0, 1), mass=1.0, inertia=2.0)], gravity=(0, 0, 0))
    limits = {"velocity": 0.5, "acceleration": 2.0, "jerk": 10.0}
    cruising = zv.trajectory.time_optimal(rotor, [[0.0], [1.0]], **limits)
    assert 2.45 <= cruising.duration < 2.452  # the optimum, an S-curve
    switching = zv.trajectory.time_optimal(rotor, [[0.0], [1.0]], acceleration=2.0, jerk=10.0)
    assert 1.628285685709 < switching.duration < 1.12 * 1.628285685709


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"jerk": -1.0}, "jerk is -1.0, expected limits > 0"),
        ({"jerk": [1.0, 2.0, 3.0, 4.0]}, "jerk has shape"),
        ({"jerk": 5.0, "start": 0.1}, "start is 0.1 with a limit of jerk, expected rest at both ends"),
        ({"jerk": 5.0, "end": 0.1}, "end is 0.1 with a limit of jerk"),
    ],
)
def test_limits_of_jerk_that_make_no_sense(options, words):
    rotor = zv.Chain([zv.Link("rotor", axis=(0, 0, 1), mass=1.0, inertia=2.0)], gravity=(0, 0, 0))
    with pytest.raises(ValueError, match=words):
        zv.trajectory.time_optimal(rotor, [[0.0], [1.0]], acceleration=2.0, **options)
