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


# ---- the four classical arms ---------------------------------------------------------------------------------------


def test_classical_arms_reach_where_their_coordinates_say(rng):
    q1, q2, q3 = rng.uniform(-1, 1, (3, 50))
    q = np.stack([q1, q2, q3], axis=1)
    c1, s1, c2, s2 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2)
    out = 0.5 * c2 + 0.45 * np.cos(q2 + q3)
    places = {
        "cartesian": (q1, q2, 0.8 + q3),
        "cylindrical": ((0.4 + q3) * c1, (0.4 + q3) * s1, 0.5 + q2),
        "spherical": ((0.5 + q3) * c2 * c1, (0.5 + q3) * c2 * s1, 0.8 + (0.5 + q3) * s2),
        "angular": (out * c1, out * s1, 0.6 + 0.5 * s2 + 0.45 * np.sin(q2 + q3)),
    }
    kinds = {"cartesian": "PPP", "cylindrical": "RPP", "spherical": "RRP", "angular": "RRR"}
    for name, place in places.items():
        arm = getattr(zv.robots, name)()
        assert "".join(kind[0].upper() for kind in arm.joint_types) == kinds[name]
        np.testing.assert_allclose(arm.pose(q, "tool")[:, :3, 3], np.stack(place, axis=1), atol=1e-14)
        assert np.isfinite(arm.lower).all() and np.isfinite(arm.upper).all()


# ---- arms that people own ------------------------------------------------------------------------------------------

OWNED = ["abb_irb120", "kuka_iiwa14", "staubli_rx90", "ur3e", "ur5e", "ur10e"]


@pytest.mark.parametrize("name", OWNED)
def test_owned_arms_have_limits_speeds_and_sources(name):
    make = getattr(zv.robots, name)
    arm = make()
    assert np.isfinite([arm.lower, arm.upper, arm.velocity_limit]).all()
    assert "References" in make.__doc__


def test_ur5e_has_the_frames_of_its_maker():
    # by hand: a2 + a3, -(d4 + d6), d1 - d5 at q = 0; upright at q2 = -90 degrees
    T = zv.robots.ur5e().pose(np.zeros(6), "tool")
    np.testing.assert_allclose(T[:3, 3], (-0.425 - 0.3922, -0.1333 - 0.0996, 0.1625 - 0.0997), atol=1e-15)
    q = np.zeros(6)
    q[1] = -math.pi / 2
    height = zv.robots.ur5e().pose(q, "wrist_1")[2, 3]
    assert height == pytest.approx(0.1625 + 0.425 + 0.3922)


def test_ur_centres_of_mass_lie_in_the_arm():
    for name, reach in (("ur3e", 0.5), ("ur5e", 0.85), ("ur10e", 1.3)):
        arm = getattr(zv.robots, name)()
        q = np.array([0, -math.pi / 2, 0, -math.pi / 2, 0, 0])  # upright
        x, y, z = arm.com(q)
        assert abs(x) < 0.05 and -0.2 < y < 0 and 0.2 < z < reach


def test_kuka_iiwa_has_spherical_shoulder_and_wrist(rng):
    arm = zv.robots.kuka_iiwa14()
    q = rng.uniform(arm.lower, arm.upper, (30, 7))
    poses = arm.poses(q)
    wrist = poses["link6"][:, :3, 3]
    assert np.linalg.norm(wrist - (0, 0, 0.36), axis=1).max() <= 0.82 + 1e-12
    elbow = poses["link4"][:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(elbow - (0, 0, 0.36), axis=1), 0.42, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(wrist - elbow, axis=1), 0.40, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(poses["tool"][:, :3, 3] - wrist, axis=1), 0.126, rtol=1e-12)
    # senses of rotation as in the maker's model: axes z, y, z, -y, z, y, z of the upright arm
    axes = arm.jacobian(np.zeros(7), "tool")[3:].T
    senses = [(0, 0, 1), (0, 1, 0), (0, 0, 1), (0, -1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)]
    np.testing.assert_allclose(axes, senses, atol=1e-15)


def test_irb120_has_a_spherical_wrist_and_the_reach_of_its_name(rng):
    arm = zv.robots.abb_irb120()
    q = rng.uniform(arm.lower, arm.upper, (30, 6))
    poses = arm.poses(q)
    np.testing.assert_allclose(
        np.linalg.norm(poses["tool"][:, :3, 3] - poses["link5"][:, :3, 3], axis=1), 0.072, rtol=1e-12
    )
    straight = math.radians(-90) + math.atan2(0.07, 0.302)
    wrist = arm.pose([0, math.pi / 2, straight, 0, 0, 0], "link5")[:3, 3]
    assert math.hypot(wrist[0], wrist[1]) == pytest.approx(0.58, abs=1e-4)


def test_rx90_is_stretched_upwards_at_zero_and_leans_forwards():
    arm = zv.robots.staubli_rx90()
    zero = np.zeros(6)
    np.testing.assert_allclose(arm.pose(zero, "link3")[:3, 3], (0, 0, 0.45), atol=1e-15)
    np.testing.assert_allclose(arm.pose(zero, "tool")[:3, 3], (0, 0, 0.9), atol=1e-15)
    np.testing.assert_allclose(arm.pose(zero, "tool")[:3, :3], np.eye(3), atol=1e-15)
    axes = arm.jacobian(zero, "tool")[3:].T
    np.testing.assert_allclose(axes, [(0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)], atol=1e-15)
    assert arm.pose([0, 0.3, 0, 0, 0, 0], "tool")[0, 3] > 0
