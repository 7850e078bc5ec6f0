"""`Chain.ik`: success on arms that people own, limits, masks, trees, determinism, failures that are told."""

import math
import signal
import threading
import time

import arms
import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.pinocchio import Twin
from scipy.spatial.transform import Rotation
from zveno.kinematics.arms import _EVERYTHING, _Known

ARMS = {
    "panda": arms.panda,
    "ur5": arms.ur5,
    "iiwa": arms.iiwa,
    "fs020n": zv.robots.kawasaki_fs020n,
    "planar": arms.planar,
}


def numeric(chain, T, q0=None, starts=301, limits=True, tolerance=1e-6, nearest=False, threads=None, seed=0):
    """The numeric method, whether or not the arm has a closed form."""
    known = _Known.of(chain)
    reach = known.reach("ik", chain, ((arms.tip(chain), _EVERYTHING),))
    return reach.solve([T], q0, known.middle, limits, nearest, tolerance, tolerance, starts, seed, threads)


def errors(chain, q, T, link=None):
    """Distances in m and angles in rad of the poses of q from T, by Pinocchio's forward kinematics."""
    twin = Twin(chain)
    joint, placement = twin.frame(link or arms.tip(chain))
    out = np.empty((len(q), 2))
    for i, (row, target) in enumerate(zip(q, T, strict=True)):
        pin.forwardKinematics(twin.model, twin.data, twin._q(row))
        at = twin.data.oMi[joint] * placement
        out[i] = (
            np.linalg.norm(at.translation - target[:3, 3]),
            np.linalg.norm(pin.log3(target[:3, :3] @ at.rotation.T)),
        )
    return out.max(axis=0)


# ---- success ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARMS)
def test_targets_inside_of_the_limits_are_reached(name):
    chain = ARMS[name]()
    count = 4000
    T = chain.pose(arms.uniform(chain, count, 1), arms.tip(chain))
    q, status, residual, iterations, starts = numeric(chain, T, arms.uniform(chain, count, 2))
    assert (status == 0).mean() >= 0.9995
    good = status == 0
    assert residual[good].max() < 1e-6
    assert chain.within_limits(q[good]).all()
    gap, turn = errors(chain, q[good][:500], T[good][:500])
    assert gap < 1e-6
    assert turn < 1e-6
    assert iterations.mean() < 20
    assert starts.mean() < 3


def test_generator_has_the_printed_numbers():
    # (K29) as it stands on the page
    def mix(z):
        mask = 2**64 - 1
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        return z ^ z >> 31

    def u(row, k, j):
        return (mix((mix(row) + 64 * k + j) % 2**64) >> 11) * 2.0**-53

    assert [u(0, 0, j) for j in range(3)] == [0.6524484863740322, 0.1663964394676608, 0.5098789996255109]
    assert u(7, 5, 2) == 0.5674911189102531


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("ur5", {4: 0.0}),
        ("fs020n", {4: 0.0}),
        ("fs020n", {2: -math.atan2(0.06, 0.7)}),
        ("panda", {1: 1.7628, 3: -3.0718}),
    ],
)
def test_singular_targets_and_targets_at_limits_are_reached(name, where):
    chain = ARMS[name]()
    q = arms.uniform(chain, 300, 3)
    for joint, value in where.items():
        q[:, joint] = value
    T = chain.pose(q, arms.tip(chain))
    found, status, *_ = numeric(chain, T, arms.uniform(chain, 300, 4))
    assert (status == 0).all()
    assert chain.within_limits(found).all()


def test_half_a_turn_at_the_start_is_no_obstacle():
    chain = arms.iiwa()
    q = np.array([0.1, 0.5, 0.2, 1.0, 0.3, 0.4, 0.5])
    T = chain.pose(q, "tool")
    start = q.copy()
    start[6] -= math.pi  # the error is a turn of pi about the tool's axis
    _, status, *_ = numeric(chain, T[None], start)
    assert status[0] == 0


def test_a_tighter_tolerance_is_met():
    chain = arms.panda()
    T = chain.pose(arms.uniform(chain, 200, 5), "tool")
    s = chain.ik(T, tolerance=1e-11)
    assert s.residual.max() < 1e-11


def test_the_nearest_of_the_closed_form_is_given():
    chain = arms.ur5()
    q = arms.uniform(chain, 200, 6)
    T = chain.pose(q, "tool")
    s = chain.ik(T, q0=q + 0.01, limits=False)
    assert np.abs(s.q - q).max() < 1e-6  # also where q0 is beyond half a turn
    assert (s.iterations == 0).all()


def test_nearest_comes_nearer():
    chain = arms.panda()
    T, q0 = chain.pose(arms.uniform(chain, 100, 7), "tool"), arms.uniform(chain, 100, 8)
    plain, near = chain.ik(T, q0=q0), chain.ik(T, q0=q0, nearest=True)
    distance = [np.abs(s.q - q0).max(axis=1) for s in (plain, near)]
    assert (distance[1] <= distance[0] + 1e-6).all()
    assert distance[1].mean() < 0.95 * distance[0].mean()


def test_whole_turns_are_wound_into_wide_limits():
    chain = arms.arm(arms.GENERAL, lower=[-2 * math.pi] * 6, upper=[2 * math.pi] * 6)
    q = np.random.default_rng(1).uniform(-6, 6, (200, 6))
    s = chain.ik(chain.pose(q, "tool"), q0=np.clip(q + 0.05, -6.2, 6.2))
    assert np.abs(s.q - q).max(axis=1).mean() < 0.2
    assert chain.within_limits(s.q).all()


# ---- rows, lanes, threads -----------------------------------------------------------------------------------------


def test_a_row_depends_on_nothing_but_its_number():
    chain = arms.panda()
    T, q0 = chain.pose(arms.uniform(chain, 40, 9), "tool"), arms.uniform(chain, 40, 10)
    all_at_once = chain.ik(T, q0=q0)
    threaded = chain.ik(T, q0=q0, threads=2)
    for a, b in zip(all_at_once, threaded, strict=True):
        assert np.array_equal(a, b)
    for i in range(40):
        one = chain.ik(T[i], q0=q0[i], seed=i)
        for a, b in zip(all_at_once, one, strict=True):
            assert np.array_equal(a[i], b)


def test_shapes_are_those_of_the_targets():
    chain = arms.panda()
    T = chain.pose(arms.uniform(chain, 6, 11), "tool").reshape(2, 3, 4, 4)
    s = chain.ik(T, q0=_Known.of(chain).middle)
    assert s.q.shape == (2, 3, 7)
    assert s.residual.shape == (2, 3, 2)
    assert s.status.shape == s.iterations.shape == s.ok.shape == (2, 3)
    none = chain.ik(np.empty((0, 4, 4)))
    assert none.q.shape == (0, 7)


def test_poses_in_other_forms():
    chain = arms.ur5()
    T = chain.pose(arms.Q_STAR, "tool")
    want = chain.ik(T, q0=arms.Q_STAR).q
    assert np.array_equal(chain.ik((T[:3, 3], T[:3, :3]), q0=arms.Q_STAR).q, want)
    rotation = Rotation.from_matrix(T[:3, :3])
    assert np.abs(chain.ik((T[:3, 3], rotation), q0=arms.Q_STAR).q - want).max() < 1e-12
    x, y, z, w = rotation.as_quat()
    given = {"r": T[:3, 3], "quaternion": (w, x, y, z)}
    assert np.abs(chain.ik(given, q0=arms.Q_STAR).q - want).max() < 1e-12
    for count in (1, 2, 3):  # two matrices are no pair of a place and a rotation
        listed, stacked = (chain.ik(form, q0=arms.Q_STAR).q for form in ([T] * count, np.stack([T] * count)))
        assert np.array_equal(listed, stacked)


def test_rounded_rotations_are_taken():
    chain = arms.ur5()
    T = chain.pose(arms.Q_STAR, "tool").round(8)
    s = chain.ik(T, q0=arms.Q_STAR)
    assert np.abs(s.q - arms.Q_STAR).max() < 1e-6


# ---- masks, trees -------------------------------------------------------------------------------------------------


def test_mask_leaves_the_spin_of_the_tool_free():
    chain = arms.panda()
    T = chain.pose(arms.uniform(chain, 300, 12), "tool")
    s = chain.ik(T, mask=(1, 1, 1, 1, 1, 0))
    got = chain.pose(s.q, "tool")
    assert np.abs(got[:, :3, 3] - T[:, :3, 3]).max() < 1e-6
    assert np.abs(got[:, :3, 2] - T[:, :3, 2]).max() < 1e-6
    assert np.abs(got[:, :3, 0] - T[:, :3, 0]).max() > 0.1
    assert s.iterations.mean() < 20


@pytest.mark.parametrize("mask", [(1, 1, 1, 0, 0, 0), (1, 1, 0, 0, 0, 1), (0, 0, 0, 1, 1, 1), (0, 0, 1, 0, 0, 0)])
def test_masks_hold_what_they_say(mask):
    chain = arms.iiwa()
    T = chain.pose(arms.uniform(chain, 100, 13), "tool")
    s = chain.ik(T, mask=mask)
    got = chain.pose(s.q, "tool")
    for i in range(3):
        if mask[i]:
            assert np.abs(got[:, i, 3] - T[:, i, 3]).max() < 1e-6
    if all(mask[3:]):
        assert np.abs(got[:, :3, :3] - T[:, :3, :3]).max() < 2e-6


def two_arms():
    """A torso that turns, and two arms of four joints on it."""
    links = [zv.Link("torso", axis=(0, 0, 1), mass=5.0, inertia=0.1, lower=-1.5, upper=1.5)]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parent = "torso"
        for i, (axis, r) in enumerate(
            [((0, 1, 0), (0, y, 0.4)), ((1, 0, 0), (0, 0, 0)), ((0, 1, 0), (0.4, 0, 0)), ((0, 0, 1), (0.3, 0, 0))]
        ):
            name = f"{side}{i}"
            links.append(
                zv.Link(name, parent=parent, axis=axis, position=r, mass=1.0, inertia=0.01, lower=-2.5, upper=2.5)
            )
            parent = name
        links.append(zv.Link(f"{side}_hand", parent=parent, joint="fixed", position=(0.2, 0, 0)))
    return zv.Chain(links, name="torso")


def test_two_hands_of_a_torso_at_once():
    chain = two_arms()
    q = arms.uniform(chain, 200, 14)
    T = {hand: chain.pose(q, hand) for hand in ("left_hand", "right_hand")}
    s = chain.ik(T, mask=(1, 1, 1, 0, 0, 0))
    for hand, target in T.items():
        assert np.abs(chain.pose(s.q, hand)[:, :3, 3] - target[:, :3, 3]).max() < 1e-6
    assert chain.within_limits(s.q).all()


def test_joints_that_carry_no_target_stay():
    chain = two_arms()
    q = arms.uniform(chain, 1, 15)[0]
    start = np.full(chain.n, 0.1)
    s = chain.ik(chain.pose(q, "left_hand"), "left_hand", q0=start, mask=(1, 1, 1, 0, 0, 0))
    assert (s.q[5:] == 0.1).all()


def test_slides_are_joints_too():
    chain = arms.stanford()
    q = arms.uniform(chain, 500, 16)
    _, status, *_ = numeric(chain, chain.pose(q, arms.tip(chain)))
    assert (status == 0).mean() > 0.999


# ---- paths --------------------------------------------------------------------------------------------------------


def motions(chain, count, samples, seed):
    """Motions of joints that cross no singularity."""
    rng, made = np.random.default_rng(seed), []
    while len(made) < count:
        q, d, w = rng.uniform(-1, 1, (3, chain.n)) * np.array([[2.0], [1.0], [0.3]])
        fine = np.linspace(0, 1, 10 * samples)[:, None]
        way = q + fine * d + np.sin(3 * fine) * w
        det = np.linalg.det(chain.jacobian(way, arms.tip(chain)))
        if det.min() * det.max() > 0:
            made.append(q + (u := np.linspace(0, 1, samples)[:, None]) * d + np.sin(3 * u) * w)
    return made


@pytest.mark.parametrize("make", [arms.puma, arms.ur5, lambda: arms.arm(arms.GENERAL), zv.robots.kawasaki_fs020n])
def test_a_path_is_followed_on_its_branch(make):
    chain = make()
    complete = 0
    for way in motions(chain, 12, 25, 5):
        s = chain.ik(chain.pose(way, arms.tip(chain)), q0=way[0], path=True, limits=False, on_error="nan")
        jumps = np.flatnonzero(s.status)
        end = jumps[0] if len(jumps) else len(way)
        complete += end == len(way)
        same = np.abs(s.q[:end] - way[:end]).max(axis=1) < 1e-8  # what is certain is right
        if (
            not same.all()
        ):  # near a singularity the line between two poses may lead elsewhere than the motion of the joints
            i = int(np.argmin(same))
            fine = zv.trajectory.line(*chain.pose(way[i - 1 : i + 1], arms.tip(chain))).at(np.linspace(0, 1, 2000)).pose
            assert np.abs(chain.ik(fine, q0=way[i - 1], path=True, limits=False).q[-1] - s.q[i]).max() < 1e-8
        assert s.residual[:end].max() < 1e-11
    assert complete >= 9


def test_a_path_of_a_redundant_arm_moves_little():
    chain = arms.panda()
    q = np.array([0.1, 0.3, -0.2, -1.5, 0.2, 1.8, 0.4])
    T = np.repeat(chain.pose(q, "tool")[None], 80, axis=0)
    T[:, 1, 3] += np.linspace(0, 0.2, 80)
    s = chain.ik(T, q0=q, path=True)
    assert np.abs(np.diff(s.q, axis=0)).max() < 0.02
    assert np.abs(chain.pose(s.q, "tool") - T).max() < 1e-11


def test_a_wrist_that_gets_straight_is_told():
    chain = zv.robots.kawasaki_fs020n()
    way = np.tile(np.radians([25, 40, -70, 35, 0, 120]), (60, 1))
    way[:, 4] = np.radians(np.linspace(-50, 50, 60))
    T = chain.pose(way, "tool")
    s = chain.ik(T, q0=way[0], path=True, on_error="nan")
    assert np.flatnonzero(s.status).tolist() == [30]
    assert s.status[30] == 7
    assert np.abs(chain.pose(s.q, "tool") - T).max() < 1e-9
    with pytest.raises(zv.UnreachableError, match="through a singularity in row 30 without a jump: joint") as caught:
        chain.ik(T, q0=way[0], path=True)
    assert caught.value.row == 30
    assert caught.value.cause == "singular"


def test_a_path_begins_on_a_branch_that_serves_all_of_it():
    arm = zv.robots.kawasaki_fs020n().with_tool((0, 0, 0.2), name="torch")
    R = zv.orientation.from_pyr(np.radians([150.0, 25.0, 60.0]))
    T = zv.trajectory.line(([-0.6, 0.8, -0.3], R), ([0.5, 0.8, -0.3], R)).at(np.linspace(0, 1, 40)).pose
    first = arm.ik_all(T[0])
    bad = first.q[np.array(first.names) == "+ + -"][0]
    assert arm.ik(T, q0=bad, path=True, on_error="nan").status.any()  # where the arm stands it begins
    s = arm.ik(T, q0=bad + 0.01, path=True)  # from somewhere else it may choose
    assert np.abs(arm.pose(s.q, "torch") - T).max() < 1e-11
    assert np.abs(np.diff(s.q, axis=0)).max() < 0.05


def test_a_path_that_meets_a_limit_is_told():
    chain = arms.ur5(limit=1.5)
    way = np.tile([0.2, -1.0, 1.1, 0.4, 0.7, 0.3], (30, 1))
    way[:, 0] = np.linspace(0.2, 1.8, 30)
    s = chain.ik(chain.pose(way, "tool"), q0=way[0], path=True, on_error="nan")
    beyond = int(np.flatnonzero(way[:, 0] > 1.5)[0])
    assert (s.status[:beyond] == 0).all()
    assert s.status[beyond] in (2, 6)
    assert np.isnan(s.q[s.status == 2]).all()


def test_paths_through_whole_turns_go_on():
    chain = arms.ur5()
    way = np.tile([0.2, -1.0, 1.1, 0.4, 0.7, 0.3], (200, 1))
    way[:, 5] = np.linspace(0.3, 9.0, 200)
    s = chain.ik(chain.pose(way, "tool"), q0=way[0], path=True, limits=False)
    assert np.abs(s.q - way).max() < 1e-9


@pytest.mark.parametrize(
    ("T", "q0", "words"),
    [
        (np.eye(4), None, r"T has shape \(4, 4\), expected \(m, 4, 4\) for a path"),
        (np.empty((0, 4, 4)), None, "at least one"),
        (np.tile(np.eye(4), (2, 1, 1)), np.zeros((2, 6)), "q0 has shape"),
    ],
)
def test_what_is_no_path_is_refused(T, q0, words):
    with pytest.raises(ValueError, match=words):
        arms.puma().ik(T, q0=q0, path=True)


# ---- one target ---------------------------------------------------------------------------------------------------


def test_one_target_has_the_bits_of_a_row():
    for chain in (arms.ur5(), zv.robots.kawasaki_fs020n(), arms.scara(), arms.stanford(), arms.panda()):
        q, link = arms.uniform(chain, 40, 21), arms.tip(chain)
        T, q0 = chain.pose(q, link), arms.uniform(chain, 40, 22)
        rows = chain.ik(T, q0=q0)
        for i in range(40):
            one = chain.ik(T[i], q0=q0[i]) if chain.n < 7 else chain.ik(T[i], q0=q0[i], seed=i)
            for a, b in zip(one, rows, strict=True):
                assert np.array_equal(a, b[i])


def test_single_rows_of_the_numeric_method_have_the_bits_of_a_batch():
    """Starts side by side, and lanes that share their arithmetic with others: the same numbers and counts."""
    wishes = [(arms.planar(), (1, 1, 1, 0, 0, 1)), (arms.five(), (1, 1, 1, 1, 1, 0)), (arms.iiwa(), None)]
    for chain, mask in wishes:
        T, q0 = chain.pose(arms.uniform(chain, 60, 31), arms.tip(chain)), arms.uniform(chain, 60, 32)
        rows = chain.ik(T, q0=q0, mask=mask)
        assert rows.starts.max() > 1
        for i in range(60):
            one = chain.ik(T[i], q0=q0[i], mask=mask, seed=i)
            for a, b in zip(one, rows, strict=True):
                assert np.array_equal(a, b[i])


# ---- what is not reached ------------------------------------------------------------------------------------------


def test_a_target_out_of_reach_is_told_with_what_is_left():
    chain = arms.panda()
    T = chain.pose(np.array([0, 0, 0, -0.0698, 0, 1.5, 0]), "tool")
    T[2, 3] += 3.0
    with pytest.raises(zv.UnreachableError, match="not brought to the target") as caught:
        chain.ik(T)
    assert caught.value.cause == "not found"
    assert caught.value.gap > 2.5
    assert caught.value.q.shape == (7,)
    s = chain.ik(T, on_error="nan")
    assert np.isnan(s.q).all()
    assert int(s.status) == 1
    assert not s.ok


def test_a_target_just_outside_is_approached():
    chain = arms.arm(arms.GENERAL)
    reach = chain.pose(np.zeros(6), "tool")
    far = reach.copy()
    far[:3, 3] *= 20
    s = chain.ik(far, on_error="nan", restarts=20)
    assert int(s.status) == 1
    assert s.residual[0] > 1


def test_limits_that_are_in_the_way_are_told():
    chain = arms.arm(arms.GENERAL, lower=[-0.3] * 6, upper=[0.3] * 6)
    free = arms.arm(arms.GENERAL)
    T = free.pose([0.5, 0.2, 0.1, 0.2, 0.1, 0.0], "tool")
    s = chain.ik(T, on_error="nan", restarts=30)
    assert int(s.status) == 2
    with pytest.raises(
        zv.UnreachableError, match=r"limits: joint '\w+' would be at -?[\d.]+, limits -0.3 to 0.3"
    ) as caught:
        chain.ik(T, restarts=30)
    assert caught.value.cause == "limits"
    assert len(caught.value.joints) == 1
    assert chain.ik(T, limits=False).ok


def test_closed_forms_tell_limits_from_reach():
    chain = arms.arm(arms.PUMA, lower=[-0.5] * 6, upper=[0.5] * 6)
    T = np.stack([arms.puma().pose([1.0, 0.2, 0.1, 0.1, 0.2, 0.1], "tool"), arms.shifted(5, 0, 0)])
    s = chain.ik(T, on_error="nan")
    assert s.status.tolist() == [2, 3]
    assert s.residual[1, 0] > 4
    words = "in row 0: joint 'link1_joint' would be at 1, limits -0.5 to 0.5; inside: "
    with pytest.raises(zv.UnreachableError, match=words) as caught:
        chain.ik(T)
    assert caught.value.joints == ("link1_joint",)


def test_one_pose_out_of_reach_of_a_closed_form():
    chain = arms.ur5()
    s = chain.ik(arms.shifted(5, 0, 0), on_error="nan")
    assert s.status.shape == ()
    assert int(s.status) == 3
    assert s.residual[0] > 3
    with pytest.raises(zv.UnreachableError, match="cannot reach the target") as caught:
        chain.ik(arms.shifted(5, 0, 0))
    assert caught.value.cause == "out of reach"
    assert caught.value.row is None


def test_rows_that_make_no_sense_are_told_and_the_others_computed():
    chain = arms.panda()
    T = chain.pose(arms.uniform(chain, 4, 17), "tool")
    T[1, 0, 3] = np.nan
    T[2, :3, :3] *= 1.01
    s = chain.ik(T, on_error="nan")
    assert s.status.tolist() == [0, 4, 5, 0]
    with pytest.raises(ValueError, match="not finite in row 1"):
        chain.ik(T)
    with pytest.raises(ValueError, match="not a rotation in row 0"):
        chain.ik(T[2:])
    T[3, :3, :3] = np.diag([1.0, 1, -1])
    assert chain.ik(T[3], on_error="nan").status == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"link": "hand"}, "no link 'hand'"),
        ({"T": np.eye(3)}, r"T has shape \(3, 3\)"),
        ({"T": "here"}, "T is 'here'"),
        ({"T": {}}, "T is"),
        ({"T": {"hand": np.eye(4)}}, "no link 'hand'"),
        ({"T": {"tool": np.eye(4)}, "link": "tool"}, "T names its links"),
        (
            {"T": np.vstack([np.eye(4)[:3], [[0, 0, 1, 1]]])},
            r"last row of T is \[0\.0, 0\.0, 1\.0, 1\.0\], expected \[0, 0, 0, 1\]",
        ),
        ({"q0": np.zeros(6)}, "q0 has shape"),
        ({"q0": np.full(7, 0.5)}, "q0 of joint 'link4_joint' is 0.5, outside of its limits -3.0718 to -0.0698"),
        ({"mask": (1, 1, 1)}, "expected six flags"),
        ({"mask": (0,) * 6}, "mask holds no component"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": 1e-15}, "rounding is larger"),
        ({"restarts": -1}, "restarts is -1"),
        ({"on_error": "ignore"}, "on_error"),
        ({"limits": "no"}, "limits is 'no'"),
        ({"threads": -3}, "threads is -3"),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    chain = arms.panda()
    T = arguments.pop("T", chain.pose(_Known.of(chain).middle, "tool"))
    with pytest.raises((ValueError, TypeError), match=words):
        chain.ik(T, **arguments)


def test_a_tree_wants_a_link():
    with pytest.raises(ValueError, match="has 2 last links"):
        two_arms().ik(np.eye(4))


def test_a_link_that_nothing_moves_is_refused():
    chain = zv.Chain([zv.Link("foot", joint="fixed"), zv.Link("arm", parent="foot", mass=1.0, com=(1, 0, 0))])
    with pytest.raises(ValueError, match="no joint moves link 'foot'"):
        chain.ik(np.eye(4), "foot")


def test_options_are_looked_at_in_every_call():
    chain = arms.ur5()
    T = chain.pose(np.full(6, 0.3), "tool")
    for _ in range(3):
        chain.ik(T)
        with pytest.raises(ValueError, match="on_error is 'x'"):
            chain.ik(T, on_error="x")


def test_what_is_left_of_a_way_without_end_is_not_nothing():
    with pytest.raises(zv.UnreachableError, match="inf m"):
        arms.ur5().ik(arms.shifted(1e300, 0, 0))


def test_control_c_is_heard(interruptible):
    chain = arms.panda()
    T = np.tile(arms.shifted(9, 0, 0), (20000, 1, 1))  # out of reach: every start is tried
    main = threading.main_thread().ident
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        chain.ik(T)
    assert time.perf_counter() - began < 20
    timer.join()
