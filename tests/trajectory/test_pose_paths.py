"""Paths of poses, and the paths of joints that follow them."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import Twin
from scipy.spatial.transform import Rotation
from zveno.trajectory import arc, joint_path, line, time_optimal

LENGTHS = (0.6, 0.5, 0.2)


def planar():
    """Three joints about z, in the plane, with a tool at the end."""
    links = [
        zv.Link(
            f"l{i}", axis=(0, 0, 1), position=(at, 0, 0), mass=2.0, com=(0.5 * own, 0, 0), inertia=(0.01, 0.05, 0.05)
        )
        for i, (at, own) in enumerate(zip((0.0, *LENGTHS[:2]), LENGTHS, strict=True))
    ]
    tool = zv.Link("tool", joint="fixed", position=(LENGTHS[2], 0, 0))
    return zv.Chain([*links, tool], gravity=(0, 0, 0))


def planar_ik(T, q0, elbow=None):
    """Closed form: the elbow on the side of q0, turns nearest to q0."""
    phi = math.atan2(T[1, 0], T[0, 0])
    x, y = T[:2, 3] - LENGTHS[2] * np.array([math.cos(phi), math.sin(phi)])
    a, b, _ = LENGTHS
    cosine = (x * x + y * y - a * a - b * b) / (2 * a * b)
    if abs(cosine) > 1:
        return SimpleNamespace(q=np.full(3, np.nan), status=3, residual=abs(cosine) - 1)
    side = elbow if elbow is not None else (1.0 if q0[1] >= 0 else -1.0)
    q2 = side * math.acos(cosine)
    q1 = math.atan2(y, x) - math.atan2(b * math.sin(q2), a + b * math.cos(q2))
    q = np.array([q1, q2, phi - q1 - q2])
    q += 2 * math.pi * np.round((q0 - q) / (2 * math.pi))
    return SimpleNamespace(q=q, status=0, residual=0.0)


def pose(x, y, phi):
    return np.array([x, y, 0.0]), Rotation.from_rotvec([0, 0, phi])


# ---- poses ----------------------------------------------------------------------------------------------------------


def some_paths():
    rng = np.random.default_rng(2)
    for _ in range(20):
        ends = [(rng.uniform(-1, 1, 3), Rotation.from_rotvec(rng.uniform(-1, 1, 3))) for _ in range(2)]
        yield line(*ends), ends
        yield arc(ends[0], rng.uniform(-1, 1, 3), ends[1]), ends


def test_ends_are_met_and_rates_are_constant_and_derivatives():
    for way, ends in some_paths():
        for s, (p, R) in zip((0.0, 1.0), ends, strict=True):
            T = way.at(s).pose
            np.testing.assert_allclose(T[:3, 3], p, atol=1e-12)
            np.testing.assert_allclose(T[:3, :3], R.as_matrix(), atol=1e-12)
        s, h = np.linspace(0.1, 0.9, 9), 1e-6
        state, before, after = way.at(s), way.at(s - h).pose, way.at(s + h).pose
        np.testing.assert_allclose(state.twist[:, :3], (after - before)[:, :3, 3] / (2 * h), atol=1e-8)
        spin = (Rotation.from_matrix(after[:, :3, :3]) * Rotation.from_matrix(before[:, :3, :3]).inv()).as_rotvec()
        np.testing.assert_allclose(state.twist[:, 3:], spin / (2 * h), atol=1e-8)
        np.testing.assert_allclose(np.linalg.norm(state.twist[:, :3], axis=1), way.length, rtol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(state.twist[:, 3:], axis=1), way.angle, rtol=1e-12)


def test_orientation_is_the_interpolation_of_scipy():
    from scipy.spatial.transform import Slerp

    for way, ends in some_paths():
        theirs = Slerp([0, 1], Rotation.concatenate([R for _, R in ends]))(np.linspace(0, 1, 7)).as_matrix()
        np.testing.assert_allclose(way.at(np.linspace(0, 1, 7)).pose[:, :3, :3], theirs, atol=1e-12)


def test_arc_passes_its_point_and_keeps_its_distance():
    rng = np.random.default_rng(4)
    for _ in range(50):
        p0, via, p1 = rng.uniform(-1, 1, (3, 3))
        way = arc((p0, np.eye(3)), via, (p1, np.eye(3)))
        p = way.at(np.linspace(0, 1, 20_001)).pose[:, :3, 3]
        assert np.linalg.norm(p - via, axis=1).min() < 1e-3 * way.length
        radius = np.linalg.norm(p - way._centre, axis=1)
        np.testing.assert_allclose(radius, radius[0], rtol=1e-9)
    big = arc(([1, 0, 0], np.eye(3)), (-1, 0, 0), ([0, -1, 0], np.eye(3)))  # three quarters
    assert big.length == pytest.approx(1.5 * math.pi)


# ---- joints ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_joints_follow_a_line_and_an_arc(tolerance):
    arm = planar()
    line_ = line(pose(0.9, -0.3, 0.2), pose(0.4, 0.6, 1.2))
    arc_ = arc(pose(0.9, -0.3, 0.2), (0.8, 0.2, 0.0), pose(0.4, 0.6, 1.2))
    for way in (line_, arc_):
        joints = joint_path(way, planar_ik, [0.0, 0.5, 0.0], tolerance=tolerance, arm=arm, link="tool")
        assert joints.deviation <= tolerance and joints.joint_names == arm.joint_names
        s = np.linspace(0, 1, 501)
        state = joints.at(s)
        error = np.abs(arm.pose(state.q, "tool") - way.at(s).pose).max()
        assert error < 3 * tolerance
        twist = arm.velocity(state.q, state.dq, "tool")
        np.testing.assert_allclose(twist, way.at(s).twist, atol=1e3 * tolerance)


def test_tool_moves_at_a_constant_speed_along_a_line_in_time():
    arm = planar()
    way = line(pose(0.9, -0.3, 0.2), pose(0.4, 0.6, 1.2))
    joints = joint_path(way, planar_ik, [0.0, 0.5, 0.0], arm=arm)
    fast = time_optimal(arm, joints, acceleration=200.0, speed=0.25)
    q, qd, _ = fast(np.linspace(0.1, 0.9, 99) * fast.duration)
    np.testing.assert_allclose(np.linalg.norm(arm.velocity(q, qd, "tool")[:, :3], axis=1), 0.25, rtol=1e-4)
    assert fast.duration == pytest.approx(way.length / 0.25, rel=0.02)
    law = zv.trajectory.trapezoid([0.0], [1.0], velocity=0.25 / way.length, acceleration=2.0)
    q, qd, _ = joints.timed(law)(law.duration / 2)
    assert np.linalg.norm(arm.velocity(q, qd, "tool")[:3]) == pytest.approx(0.25, rel=1e-5)


def test_plain_arrays_are_solutions_too():
    way = line(pose(0.9, -0.3, 0.2), pose(0.4, 0.6, 1.2))
    a = joint_path(way, planar_ik, [0.0, 0.5, 0.0])
    b = joint_path(way, lambda T, q0: planar_ik(T, q0).q.tolist(), [0.0, 0.5, 0.0])
    assert np.array_equal(a.at(0.3).q, b.at(0.3).q)


def test_pose_out_of_reach_is_named_with_its_place():
    way = line(pose(0.9, -0.3, 0.2), pose(2.4, 0.6, 0.0))
    with pytest.raises(zv.InfeasibleError, match=r"ik finds no solution at s = 0\.\d+ \(status 3, residual") as e:
        joint_path(way, planar_ik, [0.0, 0.5, 0.0])
    assert e.value.quantity == "pose"
    p = way.at(e.value.s).pose
    assert planar_ik(p, np.zeros(3)).status == 3


def test_jump_from_branch_to_branch_is_named_with_joint_and_place():
    way = line(pose(0.9, -0.3, 0.2), pose(0.4, 0.6, 1.2))

    def jumping(T, q0):
        return planar_ik(T, q0, elbow=1.0 if T[0, 3] > 0.65 else -1.0)

    with pytest.raises(zv.InfeasibleError, match=r"the joints jump at s = 0\.5.*joint 'l2_joint' from -0") as e:
        joint_path(way, jumping, [0.0, 0.5, 0.0], arm=planar())
    assert e.value.s == pytest.approx(0.5, abs=1e-4) and e.value.quantity == "jump"


def test_wrong_solutions_and_limits_are_named():
    arm, way = planar(), line(pose(0.9, -0.3, 0.2), pose(0.4, 0.6, 1.2))
    with pytest.raises(zv.InfeasibleError, match=r"ik is wrong: link 'tool' misses the pose by .* at s = 0"):
        joint_path(way, lambda T, q0: planar_ik(T, q0).q + 1e-3, [0.0, 0.5, 0.0], arm=arm)
    for answer, words in (
        ([1.0, 2.0], r"what ik returns has shape \(2,\)"),
        ([np.nan] * 3, "expected finite"),
        ("q", "is 'q'"),
    ):
        with pytest.raises(zv.InfeasibleError, match=words):
            joint_path(way, lambda T, q0, answer=answer: answer, [0.0, 0.5, 0.0])
    tight = zv.Chain([link._with(upper=1.0) if link.name == "l1" else link for link in arm.links], gravity=(0, 0, 0))
    with pytest.raises(zv.InfeasibleError, match=r"joint 'l1_joint' is at .* rad at s = .*upper limit is 1"):
        joint_path(way, planar_ik, [0.0, 0.5, 0.0], arm=tight)

    def broken(T, q0):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        joint_path(way, broken, [0.0, 0.5, 0.0])


def test_inverse_kinematics_of_an_arm_leads_its_tool_along_a_line():
    arm = zv.robots.kawasaki_fs020n()
    twin = Twin(arm)
    q0 = np.array([0.2, 0.3, -0.9, 0.1, 0.6, 0.2])
    start = arm.pose(q0, arm.link_names[-1])
    way = np.array([0.1, -0.15, 0.05])
    poses = line(start, (start[:3, 3] + way, start[:3, :3]))
    path = joint_path(poses, lambda T, q: arm.ik(T, q0=q), q0, arm=arm)
    move = time_optimal(arm, path, velocity=2.0, acceleration=8.0)
    for q in move.at(np.linspace(0.0, move.duration, 9)).q:
        T = twin.pose(q, arm.link_names[-1])
        off = T[:3, 3] - start[:3, 3]
        np.testing.assert_allclose(off, way * (off @ way) / (way @ way), rtol=0, atol=1e-8)
        np.testing.assert_allclose(T[:3, :3], start[:3, :3], rtol=0, atol=1e-8)
