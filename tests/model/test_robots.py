"""The built-in arms against the numbers printed by their sources."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
import zveno as zv

ALL = [getattr(zv.robots, name) for name in zv.robots.__all__]


@pytest.mark.parametrize("make", ALL, ids=lambda f: f.__name__)
def test_every_robot_is_a_serial_arm_with_a_positive_definite_mass_matrix(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = make()
    assert robot.is_serial and robot == make() and pickle.loads(pickle.dumps(robot)) == copy.copy(robot)
    assert robot.name.split()[0] == make.__name__
    q = np.random.default_rng(1).uniform(-1, 1, (20, robot.n))
    assert np.linalg.eigvalsh(robot.mass_matrix(q)).min() > 0


@pytest.mark.parametrize("make", ALL, ids=lambda f: f.__name__)
def test_made_up_inertias_say_so_in_the_docstring_and_the_note(make):
    invented = "made up" in make.__doc__.split("\n\n")[0] or "(made up)" in make.__doc__
    robot = make()
    assert robot.name == make.__name__  # which becomes titles and C symbols
    for twin in (robot, pickle.loads(pickle.dumps(robot)), robot.with_gravity((0, 0, 0))):
        assert invented == ("made-up" in twin.note) == ("made-up" in repr(twin))
    assert robot.to_dict().get("note", "") == robot.note


# ---- two links: by hand --------------------------------------------------------------------------------------------


def test_two_link_has_the_mass_matrix_and_gravity_of_two_rods():
    arm = zv.robots.two_link()
    q1, q2 = 0.3, 0.8
    c = math.cos(q2)
    M = [[5 / 3 + c, 1 / 3 + c / 2], [1 / 3 + c / 2, 1 / 3]]
    np.testing.assert_allclose(arm.mass_matrix([q1, q2]), M, rtol=1e-14)
    lower = 9.81 / 2 * math.cos(q1 + q2)  # about y, the weight of an arm along x pulls towards positive angles
    np.testing.assert_allclose(arm.bias([q1, q2], [0, 0]), [-lower - 1.5 * 9.81 * math.cos(q1), -lower], rtol=1e-14)
    tip = math.cos(q1) + math.cos(q1 + q2), 0, -math.sin(q1) - math.sin(q1 + q2)
    np.testing.assert_allclose(arm.pose([q1, q2], "tip")[:3, 3], tip, atol=1e-15)


# ---- Kawasaki FS020N: Leskov et al. (003) --------------------------------------------------------------------------

Q = np.radians([25, 40, -70, 35, -50, 120])
TOOL = np.eye(4)
TOOL[:3, :3] = [[1, 0, 0], [0, math.cos(math.pi / 6), 0.5], [0, -0.5, math.cos(math.pi / 6)]]
TOOL[:3, 3] = TOOL[:3, :3] @ (0, 0, 0.1)


def assert_printed(actual, expected, digits=9):
    """Equal to every printed digit."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=0.5000001 * 10.0**-digits)


def test_kawasaki_pose_gives_the_printed_digits():
    arm = zv.robots.kawasaki_fs020n()
    assert_printed(arm.pose(Q, "link5")[:3, 3], (0.567380286, 1.216750950, 0.429803011))  # p_4
    assert_printed(arm.pose(Q, "tool")[:3, 3], (0.539342363, 1.281384260, 0.332661825))  # p_6
    T = arm.pose(Q, "tool") @ TOOL
    assert_printed(T[:3, 3], (0.508412511, 1.367213546, 0.291714567))  # p_T
    tau_BT = [
        [-0.948500318, -0.068422030, -0.309298516],
        [-0.309414406, 0.409385011, 0.858292863],
        [0.067896036, 0.909792470, -0.409472575],
    ]
    assert_printed(T[:3, :3], tau_BT)


def test_kawasaki_jacobian_gives_the_printed_digits():
    arm = zv.robots.kawasaki_fs020n()
    J = arm.jacobian(Q, "tool", point=TOOL[:3, 3])
    # 003 stacks angular first
    assert_printed(np.r_[J[3:, 1], J[:3, 1]], (-0.906307787, 0.422618262, 0, 0.123283903, 0.264383184, -1.303980695))
    Xi = np.vstack([J[3:], J[:3]])
    assert_printed(np.linalg.det(Xi), -0.524311117)
    assert_printed(np.linalg.svd(Xi, compute_uv=False)[-1], 0.286136226)


def test_kawasaki_stretches_upwards_at_zero():
    arm = zv.robots.kawasaki_fs020n()
    zero = np.zeros(6)
    places = {"link2": (0, 0.15, 0), "link3": (0, 0.15, 0.8), "link4": (0, 0.09, 0.8), "link5": (0, 0.09, 1.5)}
    for link, place in {**places, "tool": (0, 0.09, 1.62)}.items():
        np.testing.assert_allclose(arm.pose(zero, link)[:3, 3], place, atol=1e-15)
    np.testing.assert_allclose(arm.pose(zero, "tool")[:3, :3], np.eye(3), atol=1e-15)
    J = arm.jacobian(zero, "tool")
    axes = [(0, 0, -1), (-1, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 0), (0, 0, 1)]
    np.testing.assert_allclose(J[3:].T, axes, atol=1e-15)
    speeds = [(0.09, 0, 0), (0, 1.62, 0.06), (0, -0.82, -0.06), (0, 0, 0), (0, -0.12, 0), (0, 0, 0)]
    np.testing.assert_allclose(J[:3].T, speeds, atol=1e-15)


def test_kawasaki_wrist_centre_follows_its_closed_form():
    arm = zv.robots.kawasaki_fs020n()
    q = np.random.default_rng(2).uniform(arm.lower, arm.upper, (50, 6))
    e = q[:, 1] - q[:, 2]
    rho = 0.15 + 0.8 * np.sin(q[:, 1]) + 0.7 * np.sin(e) - 0.06 * np.cos(e)
    h = 0.8 * np.cos(q[:, 1]) + 0.7 * np.cos(e) + 0.06 * np.sin(e)
    expected = np.stack([rho * np.sin(q[:, 0]), rho * np.cos(q[:, 0]), h], axis=1)
    np.testing.assert_allclose(arm.pose(q, "link5")[:, :3, 3], expected, atol=1e-14)


def test_kawasaki_limits_are_those_of_the_data():
    arm = zv.robots.kawasaki_fs020n()
    np.testing.assert_allclose(np.degrees(arm.lower), [-160, -105, -155, -270, -145, -360])
    np.testing.assert_allclose(np.degrees(arm.upper), [160, 140, 120, 270, 145, 360])


# ---- the classics --------------------------------------------------------------------------------------------------


def test_stanford_reaches_the_point_of_pauls_worked_example():
    arm = zv.robots.stanford()
    assert arm.joint_types == ("revolute", "revolute", "prismatic", "revolute", "revolute", "revolute")
    q = np.radians([-95.7, -112.4, 0, -38.2, 80.4, 68.9])
    q[2] = 22.16 * 0.0254
    T = arm.pose(q, "tool")  # AIM-177, table 2.1: two decimals, inches; the angles are rounded as well
    np.testing.assert_allclose(T[:3, 3] / 0.0254, (0.00, 19.78, 1.30), atol=0.01)
    np.testing.assert_allclose(T[:3, :3], [[-0.63, 0, -0.78], [0, 1, 0], [0.78, 0, -0.63]], atol=0.01)


def test_puma_has_the_published_geometry_and_gravity_constants():
    arm = zv.robots.puma560()
    zero = np.zeros(6)
    # Armstrong, Khatib, Burdick, table A1: wrist centre at (a2 + a3, d2 + d3, d4)
    np.testing.assert_allclose(arm.pose(zero, "tool")[:3, 3], (0.4318 - 0.0203, 0.2435 - 0.0934, 0.4331), atol=1e-15)
    assert [link for link, _ in arm.suspicions] == ["link3"]
    # their gravity load of joint 2 at q = 0: g ((m3 + m4 + m5 + m6) a2 + m2 rx2 + a3 (m4 + m5 + m6) + m3 rx3)
    wrist = 0.82 + 0.34 + 0.09
    moment = (4.8 + wrist) * 0.4318 + 17.4 * 0.068 - wrist * 0.0203
    assert arm.bias(zero, zero)[1] == pytest.approx(-9.81 * moment, rel=1e-12)


def test_scara_moves_in_the_plane_and_its_tool_points_down():
    arm = zv.robots.scara()
    q1, q2, q3, q4 = 0.4, -0.9, 0.12, 2.0
    T = arm.pose([q1, q2, q3, q4], "tool")
    x = 0.325 * math.cos(q1) + 0.275 * math.cos(q1 + q2)
    y = 0.325 * math.sin(q1) + 0.275 * math.sin(q1 + q2)
    np.testing.assert_allclose(T[:3, 3], (x, y, 0.39 - 0.05 - q3), atol=1e-15)
    np.testing.assert_allclose(T[:3, 2], (0, 0, -1), atol=1e-15)
