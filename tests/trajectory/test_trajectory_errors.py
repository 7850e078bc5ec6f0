"""Wrong arguments of trajectories: refused by a message that names function, argument, what came, what was expected."""

import numpy as np
import pytest
import zveno as zv
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import REFUSALS, WRONG_TYPES, anything
from zveno.trajectory import arc, joint_path, line, path, quintic, s_curve, spline, time_optimal, trapezoid

ARM = zv.robots.two_link()
LIMITED = zv.Chain([zv.Link("a", axis=(0, 0, 1), mass=1.0, inertia=1.0, lower=-1.0, upper=1.0)], gravity=(0, 0, 0))
MOVE = quintic([0.0, 0.0], [1.0, -0.5], 1.0)
WAY = path([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0]])
I = np.eye(3)  # noqa: E741
NAN = float("nan")

REFUSED = {
    # shapes and numbers
    "q0 of two dimensions": (lambda: quintic([[0.0]], [1.0], 1.0), r"quintic: q0 has shape \(1, 1\), expected \(n,\)"),
    "q0 is no array": (lambda: quintic(0.0, [1.0], 1.0), r"quintic: q0 is 0.0, expected \(n,\)"),
    "q1 longer": (lambda: quintic([0.0], [1.0, 2.0], 1.0), r"quintic: q1 has shape \(2,\), expected \(1,\)"),
    "q0 nan": (lambda: quintic([NAN], [1.0], 1.0), "quintic: q0 is .*nan.*, expected finite numbers"),
    "q0 huge": (lambda: quintic([1e300], [1.0], 1.0), "quintic: q0 is .*too large"),
    "q0 for the arm": (lambda: quintic([0.0], [1.0], 1.0, arm=ARM), r"quintic: q0 has shape \(1,\), expected \(2,\)"),
    "duration zero": (lambda: quintic([0.0], [1.0], 0.0), "quintic: duration is 0, expected a number > 0"),
    "duration nan": (lambda: trapezoid([0.0], [1.0], NAN, acceleration=1.0), "trapezoid: duration is nan"),
    "velocity negative": (
        lambda: quintic([0.0], [1.0], velocity=-1.0),
        "quintic: velocity is -1.0, expected limits > 0",
    ),
    "velocity shape": (
        lambda: s_curve([0.0], [1.0], velocity=[1.0, 2.0], jerk=1.0),
        r"s_curve: velocity has shape \(2,\), expected \(\) or \(1,\) for 1 joints",
    ),
    "jerk nan": (lambda: s_curve([0.0], [1.0], jerk=NAN), "s_curve: jerk is nan, expected no nan"),
    "jerk text": (lambda: s_curve([0.0], [1.0], jerk="5"), "s_curve: jerk is '5', expected numbers"),
    "jerk missing": (lambda: s_curve([0.0], [1.0], velocity=1.0), "s_curve: jerk is missing"),
    "acceleration missing": (lambda: trapezoid([0.0], [1.0], velocity=1.0), "trapezoid: acceleration is missing"),
    "masked": (lambda: quintic([0.0], [1.0], velocity=np.ma.ones(1)), "quintic: velocity is a masked array"),
    # motions of no length
    "no way": (lambda: quintic([1.0], [1.0], velocity=1.0), "quintic: q0 and q1 are the same.*expected a duration"),
    "no limit": (lambda: quintic([0.0], [1.0]), "quintic: .*no limit is given, expected a duration"),
    "no way, S-curve": (lambda: s_curve([1.0], [1.0], jerk=1.0), "s_curve: q0 and q1 are the same"),
    "rates without a time": (lambda: quintic([0.0], [1.0], velocity=1.0, qd0=[1.0]), "quintic: duration is missing"),
    "no path": (lambda: path([[1.0, 2.0]] * 3), "path: all 3 points are the same, expected a path of some length"),
    "no path, with s": (lambda: path([[1.0, 2.0]] * 2, [0, 1]), "path: all 2 points are the same"),
    "one point, in time": (lambda: time_optimal(ARM, [[0, 0]], torque=9.0), r"time_optimal: path has shape \(1, 2\)"),
    "no path, in time": (
        lambda: time_optimal(ARM, [[1.0, 2.0]] * 2, torque=9.0),
        "time_optimal: all 2 points are the same",
    ),
    "no line": (
        lambda: line(np.eye(4), np.eye(4)),
        "line: T0 and T1 are the same pose, expected a path of some length",
    ),
    # via points
    "one point": (lambda: path([[1.0, 2.0]]), r"path: points has shape \(1, 2\), expected \(2 or more, n\)"),
    "ragged": (lambda: path([[1.0, 2.0], [1.0]]), r"path: points is .*, expected \(2 or more, n\)"),
    "points nan": (lambda: spline([[0.0], [NAN]], [0, 1]), "spline: points is .*expected finite numbers"),
    "same neighbours": (lambda: path([[0.0], [1.0], [1.0]]), "path: points 1 and 2 are the same, expected different"),
    "two places at once": (
        lambda: spline([[0.0], [1.0], [2.0]], [0, 1, 1]),
        r"spline: times\[1\] = 1 and times\[2\] = 1 of points 1 and 2 contradict each other, two places at once",
    ),
    "back in time": (
        lambda: spline([[0.0], [1.0], [2.0]], [0, 2, 1]),
        r"times\[1\] = 2 and times\[2\] = 1 .* turn back",
    ),
    "the same twice": (
        lambda: spline([[0.0], [1.0], [1.0]], [0, 1, 1]),
        "are the same point twice, expected increasing",
    ),
    "times too near": (lambda: spline([[0.0], [1.0], [2.0]], [0, 1e-15, 1]), "differ by 1e-15 only"),
    "number of times": (lambda: spline([[0.0], [1.0]], [0, 1, 2]), r"spline: times has shape \(3,\), expected \(2,\)"),
    "no times": (lambda: spline([[0.0], [1.0]]), "spline: times is missing, expected"),
    "rates without times": (lambda: spline([[0.0], [1.0]], velocity=1.0, qd0=[1.0]), "spline: times is missing"),
    "ends": (
        lambda: path([[0.0], [1.0]], ends="clamped"),
        "path: ends is 'clamped', expected 'natural' or 'not-a-knot'",
    ),
    "points of the arm": (lambda: path([[0.0], [1.0]], arm=ARM), "path: points has 1 joints, chain 'two_link' has 2"),
    # arms and limits
    "no arm": (lambda: quintic([0.0], [1.0], 1.0, arm="puma"), "quintic: arm is 'puma', expected a Chain"),
    "torque without arm": (lambda: MOVE.within(torque=3.0), "within: torque is given without arm"),
    "nothing to fit": (lambda: MOVE.within(), "within: no limit is given"),
    "torque crossed": (
        lambda: time_optimal(ARM, WAY, torque=[[3.0, 3.0], [2.0, 4.0]]),
        "time_optimal: torque is .*, expected the least < the largest of each joint",
    ),
    "one-sided velocity": (
        lambda: time_optimal(ARM, WAY, torque=9.0, velocity=[[1.0, 1.0], [2.0, 4.0]]),
        "time_optimal: velocity is .*, expected the least < 0 < the largest",
    ),
    "rates alone": (lambda: time_optimal(ARM, WAY, velocity=1.0), "time_optimal: no limit of acceleration or torque"),
    "torque shape": (
        lambda: time_optimal(ARM, WAY, torque=[1.0, 2.0, 3.0]),
        r"time_optimal: torque has shape \(3,\), expected \(\) or \(2,\) or \(2, 2\) for 2 joints",
    ),
    "path of another arm": (
        lambda: time_optimal(LIMITED, WAY, torque=1.0),
        "the path has 2 joints, chain 'chain' has 1",
    ),
    "arm is no chain": (lambda: time_optimal(WAY, ARM, torque=1.0), "time_optimal: arm is .*, expected a Chain"),
    "link unknown": (
        lambda: time_optimal(ARM, WAY, acceleration=1.0, speed=1.0, link="hand"),
        "time_optimal: link is 'hand', expected one of 'upper', 'lower', 'tip'",
    ),
    "link without speed": (lambda: time_optimal(ARM, WAY, acceleration=1.0, link="tip"), "link is 'tip' without speed"),
    "speed": (lambda: time_optimal(ARM, WAY, acceleration=1.0, speed=0.0), "time_optimal: speed is 0, expected"),
    "start": (lambda: time_optimal(ARM, WAY, acceleration=1.0, start=-1.0), "time_optimal: start is -1, expected"),
    "nodes": (
        lambda: time_optimal(ARM, WAY, acceleration=1.0, nodes=1),
        "time_optimal: nodes is 1, expected an integer",
    ),
    "tolerance": (
        lambda: time_optimal(ARM, WAY, acceleration=1.0, tolerance=0),
        "time_optimal: tolerance is 0, expected",
    ),
    # evaluation
    "times nan": (lambda: MOVE.at(NAN), "Trajectory.at: t is .*expected finite numbers"),
    "times text": (lambda: MOVE("now"), "Trajectory: t is 'now', expected numbers"),
    "s outside": (lambda: WAY.at(9.0), "JointPath.at: s is 9.0, expected numbers from 0 to"),
    "s of a pose outside": (
        lambda: line(np.eye(4), ([1, 0, 0], I)).at(1.5),
        "PosePath.at: s is 1.5, expected .* 0 to 1",
    ),
    "no path parameter": (lambda: MOVE.path_parameter(0.5), "path_parameter: the motion was not made along a path"),
    "count": (lambda: MOVE.sample(1), "sample: count is 1, expected an integer from 2"),
    "count and dt": (lambda: MOVE.to_csv("x.csv", count=3, dt=0.1), "to_csv: count and dt are both given"),
    "path to a file": (lambda: MOVE.to_csv(3), "Trajectory.to_csv: path is 3, expected a path"),
    "law of two joints": (lambda: WAY.timed(MOVE), "timed: law has 2 joints, expected a trajectory of one"),
    "law elsewhere": (
        lambda: WAY.timed(quintic([0.0], [1.0], 1.0)),
        "timed: law goes from 0 to 1, expected s from 0 to",
    ),
    "law overshoots": (
        lambda: WAY.timed(quintic([WAY.start], [WAY.end], 1.0, qd0=[-9.0])),
        "timed: law leaves the path: s from -",
    ),
    # poses
    "no rotation": (lambda: line(np.eye(4), ([1, 0, 0], 2 * I)), "line: R of T1 is not orthonormal"),
    "no pose": (lambda: line(np.eye(4), [1, 2, 3]), r"line: T1 has shape \(3,\), expected \(4, 4\)"),
    "half a turn": (lambda: line(np.eye(4), ([1, 0, 0], np.diag([1.0, -1, -1]))), "line: T1 is turned by 180 degrees"),
    "on a line": (lambda: arc(np.eye(4), (1, 0, 0), ([2, 0, 0], I)), r"arc: .*lie on a line.*\(use line\)"),
    "same place": (lambda: arc(np.eye(4), (0, 0, 0), ([2, 0, 0], I)), "arc: T0 and via are at the same place"),
    "full circle": (lambda: arc(np.eye(4), (1, 0, 0), np.eye(4)), "arc: T0 and T1 are at the same place"),
    "poses": (lambda: joint_path(WAY, len, [0.0]), "joint_path: poses is .*, expected a PosePath"),
    "ik": (
        lambda: joint_path(line(np.eye(4), ([1, 0, 0], I)), None, [0.0]),
        "joint_path: ik is None, expected a function",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_message_names_function_argument_and_what_was_expected(name):
    call, words = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        call()
    assert len(str(caught.value)) < 400


CROSSED = {
    "quintic": lambda: quintic([0.0], [1.5], 1.0, arm=LIMITED),
    "trapezoid": lambda: trapezoid([0.0], [1.5], acceleration=1.0, arm=LIMITED),
    "s_curve": lambda: s_curve([0.0], [1.5], jerk=1.0, arm=LIMITED),
    "spline": lambda: spline([[0.0], [1.5], [0.0]], [0, 1, 2], arm=LIMITED),
    "JointPath.check": lambda: path([[0.0], [1.5], [0.0]]).check(LIMITED),
    "time_optimal": lambda: time_optimal(LIMITED, path([[0.0], [1.5]]), acceleration=1.0),
}


@pytest.mark.parametrize("name", CROSSED)
def test_limits_of_position_name_joint_value_and_place(name):
    with pytest.raises(
        zv.InfeasibleError, match=rf"{name}: joint 'a_joint' is at 1\.\d+ rad at .*, its upper limit is 1"
    ) as e:
        CROSSED[name]()
    error = e.value
    assert (error.joint, error.quantity, error.limit) == ("a_joint", "position", 1.0)
    assert error.value >= 1.5 and np.isfinite(error.s) != np.isfinite(error.time)
    assert error.q[0] == pytest.approx(error.value)


def test_limits_exceeded_name_joint_value_limit_and_time():
    with pytest.raises(
        zv.InfeasibleError, match=r"quintic: joint 'joint2' reaches a velocity of -1\.875 .* limit -1"
    ) as e:
        quintic([0.0, 0.0], [0.5, -1.0], 1.0, velocity=1.0)
    assert (e.value.time, e.value.limit) == (0.5, -1.0)
    with pytest.raises(zv.InfeasibleError, match=r"spline: joint 'joint1' reaches an acceleration of"):
        spline([[0.0], [1.0], [0.0]], [0, 1, 2], acceleration=0.5)
    with pytest.raises(
        zv.InfeasibleError, match=r"Trajectory.check: joint 'upper_joint' reaches a torque of .* N m at t"
    ):
        quintic([0.0, 0.0], [0.5, -1.0], 1.0, arm=ARM).check(ARM, torque=3.0)
    with pytest.raises(zv.InfeasibleError, match=r"trapezoid: duration is 1 s, joint 'joint1' needs 2 s"):
        trapezoid([0.0, 0.0], [1.0, 0.5], 1.0, acceleration=1.0)
    with pytest.raises(
        zv.InfeasibleError, match=r"within: joint 'upper_joint' cannot hold the arm at t = .* limit -?3"
    ):
        quintic([0.0, 0.0], [0.5, -1.0], 1.0, arm=ARM).within(ARM, torque=3.0)


def test_limits_of_jerk_need_continuous_accelerations():
    jumping = (
        trapezoid([0.0, 0.0], [1.0, 0.5], acceleration=1.0),
        time_optimal(ARM, WAY, torque=[40.0, 15.0]),
        WAY.timed(trapezoid([WAY.start], [WAY.end], acceleration=1.0)),
    )
    for move in jumping:
        for call in (move.within, move.check):
            with pytest.raises(
                zv.InfeasibleError, match=r"accelerations jump at t = .* no limit of jerk can be kept"
            ) as e:
                call(jerk=1e9)
            assert 0 < e.value.time < move.duration
    smooth = s_curve([0.0, 0.0], [1.0, 0.5], jerk=5.0), WAY.timed(1.0), spline([[0.0], [1.0], [0.5]], [0, 1, 2])
    for move in smooth:
        move.check(jerk=1e9)


CALLS = {
    "quintic": (lambda x: quintic(x, np.ones(6), 1.0), "q0"),
    "limits": (lambda x: quintic(np.zeros(6), np.ones(6), velocity=x), "velocity"),
    "rates": (lambda x: quintic(np.zeros(6), np.ones(6), 1.0, qd0=x), "qd0"),
    "points": (lambda x: path([x, x, x] if isinstance(x, list) else x), "points"),
    "times": (lambda x: spline(np.arange(12.0).reshape(6, 2), x), "times"),
    "at": (lambda x: MOVE.at(x), "t"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", WRONG_TYPES)
def test_what_is_no_array_of_numbers_is_refused_by_name(name, kind):
    call, argument = CALLS[name]
    with pytest.raises((TypeError, ValueError), match=rf"\b{argument}\b"):
        call(WRONG_TYPES[kind])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(CALLS)), anything((6,), (2, 6), (6, 2)))
def test_anything_is_answered_or_refused(name, value):
    try:
        made = CALLS[name][0](value)
    except REFUSALS:
        return
    if isinstance(made, zv.trajectory.Trajectory):
        assert all(np.isfinite(x).all() for x in made.at(np.linspace(0, made.duration, 9)))
