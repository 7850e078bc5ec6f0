"""`Chain.ik_all`: reference numbers, every family on random geometry, singular and unreachable poses, whole turns."""

import math
import pickle

import arms
import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.pinocchio import Twin
from helpers import assert_close
from scipy.spatial.transform import Rotation
from zveno.kinematics.arms import _Known
from zveno.kinematics.six_revolute import SixRevolute

EXACT = 1e-11  # of a pose, m and its matrix
PRINTED = 1e-11


def turned(difference, chain):
    """Differences of q without whole turns."""
    revolute = np.array([kind == "revolute" for kind in chain.joint_types])
    wrapped = (difference + math.pi) % (2 * math.pi) - math.pi
    return np.where(revolute, wrapped, difference)


def round_trip(chain, count=400, seed=0, lost=0.0, **options):
    """Solutions of the poses of random configurations: they have these poses, and the configuration is among them."""
    q, link = arms.uniform(chain, count, seed), arms.tip(chain)
    T = chain.pose(q, link)
    s = chain.ik_all(T, link, limits=False, **options)
    row = np.repeat(np.arange(count), s.counts)
    assert np.abs(chain.pose(s.q, link) - T[row]).max() < EXACT
    same = np.abs(turned(s.q - q[row], chain)).max(axis=1) < 1e-6
    found = np.zeros(count, bool)
    found[row[same]] = True
    assert (~found).mean() <= lost
    return s


def pinocchio_poses(chain, q, link):
    twin = Twin(chain)
    out = np.empty((len(q), 4, 4))
    for i, row in enumerate(q):
        joint, placement = twin.frame(link)
        pin.forwardKinematics(twin.model, twin.data, twin._q(row))
        out[i] = (twin.data.oMi[joint] * placement).homogeneous
    return out


# ---- numbers of the literature ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "want", "p"),
    [
        (arms.ur5, arms.UR5_SOLUTIONS, (-0.557858410082, -0.409906401578, 0.327920605563)),
        (arms.puma, arms.PUMA_SOLUTIONS, (0.178145043107, -0.087591433301, 0.042402397652)),
    ],
)
def test_eight_solutions_have_the_printed_digits(make, want, p):
    chain = make()
    T = chain.pose(arms.Q_STAR, "tool")
    assert np.abs(T[:3, 3] - p).max() < PRINTED
    s = chain.ik_all(T)
    assert s.q.shape == (8, 6)
    assert np.abs(s.q - want).max() < PRINTED
    assert len(set(s.names)) == 8


def test_scara_has_two_solutions_and_four_with_whole_turns():
    chain = arms.scara()
    T = chain.pose([0.5, -0.9, 0.12, 0.7], "tool")
    assert np.abs(T[:3, 3] - (0.538506105965, 0.048723255911, 0.22)).max() < PRINTED
    two = chain.ik_all(T, limits=False)
    want = [(-0.319534266713, 0.9, 0.12, 1.680465733287), (0.5, -0.9, 0.12, 0.7)]
    assert np.abs(two.q - want).max() < PRINTED
    four = chain.ik_all(T)
    assert sorted(four.branch.tolist()) == [0, 0, 1, 1]
    for q, branch in zip(four.q, four.branch, strict=True):
        assert np.abs(turned(q - two.q[branch], chain)).max() < PRINTED
    assert np.abs(chain.pose(four.q, "tool") - T).max() < EXACT


def test_three_parallel_axes_have_two_solutions():
    chain = arms.planar()  # links of 1, 0.8 and 0.5 m
    q = np.array([0.4, 0.9, -0.3])
    s = chain.ik_all(chain.pose(q, arms.tip(chain)), limits=False)
    # the elbow on the other side of the line to the wrist, which is turned from the first link by this angle
    aside = math.atan2(0.8 * math.sin(q[1]), 1 + 0.8 * math.cos(q[1]))
    other = [q[0] + 2 * aside, -q[1], q[2] + 2 * q[1] - 2 * aside]
    assert len(s.q) == 2
    for want in (q, other):
        assert np.abs(turned(s.q - want, chain)).max(axis=1).min() < 1e-12


@pytest.mark.filterwarnings("ignore::zveno.ModelWarning")
def test_parallel_axes_of_any_direction_and_planes_that_are_missed():
    for seed in range(6):
        rng = np.random.default_rng((3, seed))
        k = unit(rng)
        points = [rng.uniform(-1, 1, 3) for _ in range(3)]
        chain = of_screws([k, -k if seed % 2 else k, k], points, ["revolute"] * 3, rng)
        round_trip(chain, 400)
        T = chain.pose(arms.uniform(chain, 1, seed)[0], "tool")
        T[:3, 3] += 0.25 * k
        far = chain.ik_all(T)
        assert len(far.q) == 0
        assert abs(far.missing - 0.25) < 1e-12
        with pytest.raises(zv.UnreachableError, match=r"0\.25 m"):
            chain.ik(T)


def test_swivel_of_seven_joints():
    chain = arms.iiwa()
    q = np.array([0.3, 0.5, -0.2, 1.1, 0.4, -0.7, 0.6])
    T = chain.pose(q, "tool")
    assert np.abs(T[:3, 3] - (-0.150450834803, 0.020078441594, 1.094500875580)).max() < PRINTED
    own = chain.ik_all(T, swivel=1.144456009418)
    assert np.abs(own.q - q).max(axis=1).min() < 1e-10
    s = chain.ik_all(T, swivel=0.5, limits=False)
    assert len(s.q) == 8
    first = {tuple(row) for row in s.q[:, :4].round(9) + 0.0}
    a, b = (-0.415426979169, 0.445641693249), (2.726165674420, -0.445641693249)
    want = {
        (*a, -0.116619330214, 1.1),
        (*a, 3.024973323375, -1.1),
        (*b, -0.116619330214, -1.1),
        (*b, 3.024973323375, 1.1),
    }
    assert first == {tuple(np.round(row, 9) + 0.0) for row in want}
    hand = {
        1: [(-1.965913713406, 0.944229568197, -2.869553045983), (1.175678940184, -0.944229568197, 0.272039607606)],
        -1: [(-1.965913713406, -0.944229568197, 0.272039607606), (1.175678940184, 0.944229568197, -2.869553045983)],
    }
    for row in s.q:
        assert min(np.abs(row[4:] - other).max() for other in hand[int(np.sign(row[3]))]) < 1e-10


def test_fs020n_has_the_branches_of_the_book():
    chain = zv.robots.kawasaki_fs020n()
    q = np.radians([25, 40, -70, 35, -50, 120])
    T = chain.pose(q, "tool")
    assert np.abs(T[:3, 3] - (0.539342363, 1.281384260, 0.332661825)).max() < 1e-9
    s = chain.ik_all(T, limits=False)
    want = {
        (1, 1, 1): (25, 40, -70, 35, -50, 120),
        (1, 1, -1): (25, 40, -70, -145, 50, -60),
        (1, -1, 1): (25, 100.360570, 60.201815, 28.193750, -111.564448, 155.377759),
        (1, -1, -1): (25, 100.360570, 60.201815, -151.806250, 111.564448, -24.622241),
    }
    kci = s.configuration * (-1, -1, 1)
    assert {tuple(row) for row in kci.tolist()} == set(want)
    for row, index in zip(np.degrees(s.q), kci.tolist(), strict=True):
        assert np.abs(row - want[tuple(index)]).max() < 1e-6


def test_indices_of_the_book_are_those_of_q():
    chain = zv.robots.kawasaki_fs020n()
    s = round_trip(chain, 200)
    _, q2, q3, _, q5, _ = s.q.T
    elbow = q2 - q3
    rho = 0.15 + 0.8 * np.sin(q2) + 0.7 * np.sin(elbow) - 0.06 * np.cos(elbow)
    want = np.sign(np.stack([rho, -np.sin(q3 + math.atan2(0.06, 0.7)), -np.sin(q5)], axis=1))
    assert (s.configuration * (-1, -1, 1) == want).all()


def test_whole_turns_of_the_fs020n():
    chain = zv.robots.kawasaki_fs020n()
    q = np.array([0.1, 0.2, 0.3, 0.0, 0.5, 0.0])  # J4 may turn +-270, J6 +-360 degrees: its ends count
    s = chain.ik_all(chain.pose(q, "tool"))
    mine = s.q[np.abs(turned(s.q - q, chain)).max(axis=1) < 1e-9]
    assert len(mine) == 3
    assert sorted(mine[:, 5].round(9)) == [-round(2 * math.pi, 9), 0.0, round(2 * math.pi, 9)]
    assert chain.within_limits(s.q).all()


# ---- families -----------------------------------------------------------------------------------------------------

FAMILIES = {
    "ur5": (arms.ur5, 0.0),
    "puma": (arms.puma, 0.0),
    "fs020n": (zv.robots.kawasaki_fs020n, 0.0),
    "scara": (arms.scara, 0.0),
    "planar": (arms.planar, 0.0),
    "stanford": (arms.stanford, 0.0),
    "five": (arms.five, 0.0),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_round_trips(name):
    make, lost = FAMILIES[name]
    round_trip(make(), 2000, lost=lost)


def random_frames(rng):
    """A rotation and a shift."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q)), rng.uniform(-0.5, 0.5, 3)


def of_screws(axes, points, kinds, rng):
    """A chain with these axes at q = 0; frames of the links stand anywhere."""
    links, before_R, before_p = [], np.eye(3), np.zeros(3)
    for i, (k, p, kind) in enumerate(zip(axes, points, kinds, strict=True)):
        R, _ = random_frames(rng)
        k = np.asarray(k, float) / np.linalg.norm(k)
        at = p + rng.uniform(-0.3, 0.3) * k
        local_R, local_p = before_R.T @ R, before_R.T @ (at - before_p)
        links.append(zv.Link(f"l{i}", joint=kind, axis=R.T @ k, position=local_p, rotation=local_R))
        before_R, before_p = R, at
    R, p = random_frames(rng)
    links.append(zv.Link("tool", joint="fixed", position=p, rotation=R))
    return zv.Chain(links, name="random")


def unit(rng):
    k = rng.normal(size=3)
    return k / np.linalg.norm(k)


@pytest.mark.filterwarnings("ignore::zveno.ModelWarning")
@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("others", ["general", "along", "first meets", "last meets", "first along"])
def test_three_axes_that_meet_at_any_place(place, others):
    for seed in range(6):
        rng = np.random.default_rng((place, seed))
        axes = [unit(rng) for _ in range(6)]
        points = [rng.uniform(-1, 1, 3) for _ in range(6)]
        for i in range(place, place + 3):
            points[i] = points[place]
        # pairs of the other joints in the order of the equations, where no seam is between
        order = {0: (5, 4, 3), 1: (0, 5, 4), 2: (1, 0, 5), 3: (0, 1, 2)}[place]
        first, last = place in (0, 2, 3), place in (0, 1, 3)
        if others == "along" and last:
            axes[order[2]] = -axes[order[1]]
        if others == "first meets" and first:
            points[order[1]] = points[order[0]]
        if others == "last meets" and last:
            points[order[2]] = points[order[1]]
        if others == "first along" and first:
            axes[order[1]] = axes[order[0]]
        chain = of_screws(axes, points, ["revolute"] * 6, rng)
        round_trip(chain, 60, seed, lost=0.02 if others == "general" or not (first and last) else 0.0)


@pytest.mark.filterwarnings("ignore::zveno.ModelWarning")
@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("meets", [True, False])
def test_three_parallel_axes_at_any_place(place, meets):
    for seed in range(6):
        rng = np.random.default_rng((place, seed, 7))
        axes = [unit(rng) for _ in range(6)]
        points = [rng.uniform(-1, 1, 3) for _ in range(6)]
        for i, sign in zip(range(place, place + 3), (1, -1, 1), strict=True):
            axes[i] = sign * axes[place]
        a, b, d = ((place + 3 + i) % 6 for i in range(3))
        if meets:
            points[b] = points[a] if (a < b) else points[d]
        chain = of_screws(axes, points, ["revolute"] * 6, rng)
        round_trip(chain, 60, seed, lost=0.0 if meets else 0.02)


@pytest.mark.filterwarnings("ignore::zveno.ModelWarning")
@pytest.mark.parametrize("kinds", ["RRP", "RPP", "PRP", "PPP", "PPR", "RPR", "PRR"])
def test_slides_before_a_wrist(kinds):
    for seed in range(6):
        rng = np.random.default_rng((seed, len(kinds)))
        axes = [unit(rng) for _ in range(6)]
        points = [rng.uniform(-1, 1, 3) for _ in range(6)]
        points[4] = points[5] = points[3]
        if kinds == "RRP":
            if seed % 2:
                points[1] = points[0]
            else:
                axes[1] = axes[0]
        if kinds == "PRP":
            axes[1] = -axes[0]
        if kinds == "RPR" and seed % 2:  # the slide at right angles to the axis after it
            axes[1] = np.cross(axes[2], axes[1])
        if kinds == "PRR":
            if seed % 2:
                axes[2] = -axes[1]
            else:
                axes[0] = np.cross(axes[1], axes[0])
        names = [{"R": "revolute", "P": "prismatic"}[kind] for kind in kinds + "RRR"]
        quartic = kinds == "RPR" and seed % 2 == 0
        round_trip(of_screws(axes, points, names, rng), 60, seed, lost=0.02 if quartic else 0.0)


@pytest.mark.parametrize("rows", [arms.PUMA[:3], arms.UR5[:3], arms.GENERAL[:3]])
def test_three_joints_carry_a_point(rows):
    chain = arms.arm([*rows[:2], (0, 0.2, 0.3, 0.4)])
    q = arms.uniform(chain, 300)
    T = chain.pose(q, "tool")
    s = chain.ik_all(T, mask=(1, 1, 1, 0, 0, 0))
    row = np.repeat(np.arange(len(q)), s.counts)
    assert np.abs(chain.pose(s.q, "tool")[:, :3, 3] - T[row, :3, 3]).max() < EXACT
    found = np.zeros(len(q), bool)
    found[row[np.abs(turned(s.q - q[row], chain)).max(axis=1) < 1e-6]] = True
    assert found.mean() > 0.98


def test_seven_joints_with_one_locked():
    chain = arms.panda()
    last = chain.joint_names[6]
    for q in arms.uniform(chain, 20):
        T = chain.pose(q, "tool")
        s = chain.ik_all(T, locked={last: q[6]}, limits=False)
        assert len(s.q) >= 2
        assert np.abs(chain.pose(s.q, "tool") - T).max() < EXACT
        assert np.abs(turned(s.q - q, chain)).max(axis=1).min() < 1e-6


def test_random_swivels_of_seven_joints():
    chain = arms.iiwa()
    q = arms.uniform(chain, 500)
    psi = np.linspace(-3, 3, 500)
    T = chain.pose(q, "tool")
    s = chain.ik_all(T, swivel=psi, limits=False)
    assert (s.counts == 8).all()
    assert np.abs(chain.pose(s.q, "tool") - np.repeat(T, 8, axis=0)).max() < EXACT


def test_poses_are_those_of_pinocchio():
    chain = arms.ur5()
    q = arms.uniform(chain, 50)
    T = chain.pose(q, "tool")
    s = chain.ik_all(T)
    row = np.repeat(np.arange(50), s.counts)
    assert_close(pinocchio_poses(chain, s.q, "tool"), T[row], 6, ulps=1000)


def test_rounded_files_are_solved_on_the_true_model():
    rows = [(0, d, a, round(alpha, 4) if alpha else 0) for _, d, a, alpha in arms.UR5]  # 1.5708: 3.7e-6 off
    chain = arms.arm(rows)
    s = round_trip(chain, 500, lost=0.01)
    assert s.residual.max() < 1e-10


# ---- singular and unreachable -------------------------------------------------------------------------------------


def test_wrist_singular_pose_is_named_with_its_free_direction():
    chain = arms.puma()
    q = np.array([0.2, 0.4, -1.2, 0.3, 0.0, 0.5])
    s = chain.ik_all(chain.pose(q, "tool"))
    assert len(s.q) == 7
    (singular,) = np.flatnonzero(s.singular & 4)
    assert s.multiplicity[singular] == 2
    assert_close(s.q[singular, 3] + s.q[singular, 5], 0.8, 6, ulps=1000)
    free = np.array([0, 0, 0, 1, 0, -1]) / math.sqrt(2)
    assert np.abs(s.free[singular] - free).max() < 1e-6
    assert s.configuration[singular, 2] == 0
    assert not (np.delete(s.singular, singular) & 4).any()


@pytest.mark.parametrize("make", [arms.puma, zv.robots.kawasaki_fs020n, arms.ur5, arms.stanford])
def test_a_joint_that_a_singular_wrist_leaves_free_stays_where_it_is(make):
    chain = make()
    link = arms.tip(chain)
    q = np.array([0.3, -0.9, 0.4 if chain.name == "stanford6" else 1.1, 0.4, 0.0, 0.7])
    T = chain.pose(q, link)
    free = 5 if chain.name == "ur5" else 3
    for value in (q[free], -0.6):
        start = q.copy()
        start[free] = value
        for s in (chain.ik(T, q0=start), chain.ik(T[None], q0=start)):
            assert np.abs(chain.pose(s.q.reshape(6), link) - T).max() < EXACT
            assert abs(s.q.reshape(6)[free] - value) < 1e-12
        if value == q[free]:
            assert np.abs(s.q.reshape(6) - q).max() < 1e-9
        every = chain.ik_all(T, q0=start)
        batch = chain.ik_all(T[None], q0=start)
        assert np.array_equal(every.q, batch.q)
        singular = (every.singular & 4) > 0
        assert singular.any()
        assert np.abs(every.q[singular][:, free] - value).min() < 1e-12
        assert np.abs(chain.pose(every.q, link) - T).max() < EXACT


def test_stretched_elbow_is_one_solution_where_two_meet():
    chain = arms.puma()
    q = np.array([0.3, 0.5, -math.atan2(0.4318, 0.0203), 0.4, 0.6, 0.1])
    s = chain.ik_all(chain.pose(q, "tool"))
    near = np.abs(turned(s.q - q, chain)).max(axis=1) < 1e-6
    assert near.sum() == 1
    assert s.singular[near][0] & 2
    assert np.abs(chain.pose(s.q, "tool") - chain.pose(q, "tool")).max() < EXACT


def test_singular_wrist_of_three_parallel_axes():
    chain = arms.ur5()
    q = np.array([0.3, -1.0, 1.1, 0.4, 0.0, 0.7])
    s = chain.ik_all(chain.pose(q, "tool"))
    assert (s.singular & 4).any()
    assert np.abs(chain.pose(s.q, "tool") - chain.pose(q, "tool")).max() < EXACT
    assert not np.isnan(s.q).any()


def test_missing_distance_of_an_unreachable_pose():
    chain = zv.robots.kawasaki_fs020n()
    q = np.array([0.0, math.pi / 2, -math.atan2(0.06, 0.7), 0.3, 0.7, 0.2])  # stretched forwards
    T = chain.pose(q, "tool")
    T[:3, 3] += np.array([0, 0.25, 0])
    s = chain.ik_all(T)
    assert len(s.q) == 0
    assert float(s.missing) == pytest.approx(0.25, rel=1e-6)


def test_a_pose_outside_of_the_limits_is_counted():
    chain = arms.arm(arms.PUMA, lower=[-0.5] * 6, upper=[0.5] * 6)
    s = chain.ik_all(chain.pose([1.0, 0.2, 0.1, 0.1, 0.2, 0.1], "tool"))
    assert len(s.q) == 0
    assert s.outside == 8
    assert s.missing == 0


def test_a_batch_is_its_poses_one_by_one():
    chain = zv.robots.kawasaki_fs020n()
    T = chain.pose(arms.uniform(chain, 23), "tool")
    batch = chain.ik_all(T.reshape(23, 4, 4))
    for i in range(23):
        one, part = chain.ik_all(T[i]), batch.of(i)
        for a, b in zip(one, part, strict=True):
            assert np.array_equal(a, b)
    threaded = chain.ik_all(T, threads=2)
    assert all(np.array_equal(a, b) for a, b in zip(batch, threaded, strict=True))
    assert batch.counts.sum() == len(batch.q)


def test_results_are_pickled_and_shown():
    chain = arms.puma()
    T = chain.pose([0.2, 0.4, -1.2, 0.3, 0.0, 0.5], "tool")  # singular wrist
    for s in (chain.ik_all(T), chain.ik_all(T), chain.ik_all(np.stack([T, T])), chain.ik_all(arms.shifted(9, 0, 0))):
        again = pickle.loads(pickle.dumps(s))
        assert all(np.array_equal(a, b) for a, b in zip(s, again, strict=True))
        assert len(s.names) == len(s.q)
        assert "solutions" in repr(s)
        assert "<table" in s._repr_html_()


def test_no_poses_have_no_solutions():
    s = arms.ur5().ik_all(np.empty((0, 4, 4)))
    assert s.q.shape == (0, 6)
    assert s.counts.shape == (0,)


# ---- six revolute joints of any geometry --------------------------------------------------------------------------


def same_sets(a, b, chain, within=1e-6):
    """Whether two sets of solutions are the same, whole turns aside."""
    return len(a) == len(b) and all(np.abs(turned(b - q, chain)).max(axis=1).min() < within for q in a)


def test_sixteen_solutions_have_the_printed_digits():
    chain = arms.arm(arms.GENERAL)
    T = chain.pose([-2.6, -2.4, 0.6, 0.8, 2.5, 0.1], "tool")
    assert np.abs(T[:3, 3] - (0.030395449680, 0.836481485553, -0.281087866919)).max() < PRINTED
    s = chain.ik_all(T)
    assert s.q.shape == (16, 6)
    assert np.abs(s.q - arms.GENERAL_SOLUTIONS).max() < PRINTED
    assert s.branch.tolist() == list(range(16))
    assert s.residual.max() < EXACT
    assert (s.singular == 0).all()


@pytest.mark.parametrize("make", [arms.ur5, arms.puma, zv.robots.kawasaki_fs020n])
def test_eigenvalues_and_closed_forms_have_the_same_solutions(make):
    chain = make()
    link = arms.tip(chain)
    T = chain.pose(arms.uniform(chain, 100, 3), link)
    reach = _Known.of(chain).reach("ik_all", chain, ((link, (True,) * 6),))
    every = SixRevolute(chain, link, reach).all(T, np.zeros((100, 6)), 1)
    for i, found in enumerate(every):
        assert same_sets(np.array(found), chain.ik_all(T[i], link, limits=False).q, chain)


@pytest.mark.filterwarnings("ignore::zveno.ModelWarning")
def test_six_revolute_joints_anywhere():
    for seed in range(4):
        rng = np.random.default_rng((seed, 11))
        axes, points = [unit(rng) for _ in range(6)], [rng.uniform(-1, 1, 3) for _ in range(6)]
        s = round_trip(of_screws(axes, points, ["revolute"] * 6, rng), 25, seed)
        assert (s.counts % 2 == 0).all()
    bent = arms.arm([*arms.PUMA[:4], (0, 0, 0.05, -arms.RIGHT), (0, 0.1, 0, 0)])  # a wrist with an offset
    assert (round_trip(bent, 40).counts % 2 == 0).all()


def test_whole_turns_of_six_revolute_joints():
    chain = arms.arm(arms.GENERAL, lower=[-5.0] * 6, upper=[2.5] * 6)
    q = np.array([-2.0, 1.0, -0.5, 0.7, -3.0, 0.2])
    s = chain.ik_all(chain.pose(q, "tool"), q0=q)
    assert chain.within_limits(s.q).all()
    assert np.abs(s.q - q).max(axis=1).min() < 1e-9
    free = chain.ik_all(chain.pose(q, "tool"), limits=False)
    inside = [np.prod([sum(-5 <= x + 2 * math.pi * m <= 2.5 for m in (-1, 0, 1)) for x in row]) for row in free.q]
    assert len(s.q) == sum(inside)
    assert int(s.outside) == sum(count == 0 for count in inside)
    again = pickle.loads(pickle.dumps(s))
    assert all(np.array_equal(a, b) for a, b in zip(s, again, strict=True))


def test_poses_out_of_reach_of_six_revolute_joints():
    s = arms.arm(arms.GENERAL).ik_all(np.stack([arms.shifted(9, 0, 0), np.eye(4)]))
    assert s.counts[0] == 0
    assert np.isnan(s.missing[0])
    assert arms.arm(arms.GENERAL).ik_all(np.empty((0, 4, 4))).q.shape == (0, 6)


# ---- five joints, a place and a direction -------------------------------------------------------------------------

ACROSS = [
    (0, 0.3, 0.05, arms.RIGHT),
    (0, 0, 0.4, 0),
    (0, 0, 0.35, 0),
    (0, 0, 0.05, -arms.RIGHT),
    (0, 0.2, 0, arms.RIGHT),
]
ANY_FIVE = [(0, 0.2, 0.1, 0.7), (0, 0.1, 0.4, -0.9), (0, 0.15, 0.3, 1.1), (0, 0.1, 0.2, 0.8), (0, 0.2, 0.1, 0.6)]


@pytest.mark.parametrize(("rows", "axis", "count"), [(ACROSS, 2, 300), (ACROSS, 0, 300), (ANY_FIVE, 1, 15)])
def test_five_joints_bring_a_tool_to_a_place_and_a_direction(rows, axis, count):
    chain = arms.arm(rows)
    q = arms.uniform(chain, count, 4)
    want = chain.pose(q, "tool")
    spin = np.random.default_rng(5).uniform(-3, 3, count)[:, None] * np.eye(3)[axis]
    want[:, :3, :3] = want[:, :3, :3] @ Rotation.from_rotvec(spin).as_matrix()  # which does not matter
    s = chain.ik_all(want, mask=[1, 1, 1, *(np.arange(3) != axis)], limits=False)
    row = np.repeat(np.arange(count), s.counts)
    T = chain.pose(s.q, "tool")
    assert np.abs(T[:, :3, 3] - want[row, :3, 3]).max() < EXACT
    assert np.abs(T[:, :3, axis] - want[row, :3, axis]).max() < EXACT
    found = np.zeros(count, bool)
    found[row[np.abs(turned(s.q - q[row], chain)).max(axis=1) < 1e-6]] = True
    assert found.all()
    assert s.free.shape == s.q.shape


# ---- refusals -----------------------------------------------------------------------------------------------------


def bent_stanford():
    """Six joints, one of them a slide between axes that neither meet nor are parallel."""
    rows = [
        (0, 0.4, 0.1, -0.9),
        (0, 0.15, 0.2, 0.8),
        (0, 0.3, 0.1, 0.3),
        (0, 0, 0.1, -0.9),
        (0, 0, 0, 0.9),
        (0, 0.26, 0, 0),
    ]
    return arms.arm(rows, joints=["revolute", "revolute", "prismatic", "revolute", "revolute", "revolute"])


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (bent_stanford, {}, r"axes 4, 5 and 6 miss a common point by 0\.06667 m, 5 % of the reach"),
        (
            lambda: arms.arm([*arms.PUMA, (0, 0.1, 0.05, 0.7)]),
            {},
            "axes 1, 2 and 3 have parallel neighbours; lock a joint",
        ),
        (lambda: arms.arm([(0, 0.1, 0.2, 0.0)] * 6), {}, "no three consecutive axes|more than|parallel"),
        (lambda: arms.arm(arms.GENERAL), {"swivel": 0.1}, "has no swivel: six joints"),
        (lambda: arms.arm(arms.GENERAL), {"q0": [1, 2]}, r"q0 has shape \(2,\)"),
        (lambda: arms.arm(arms.GENERAL), {"q0": [math.nan] * 6}, "finite"),
        (arms.five, {"mask": (1, 1, 1, 1, 1, 0)}, "the z axis of link 'tool'"),
        (arms.iiwa, {}, "swivel="),
        (arms.panda, {"swivel": 0.1}, r"axes 5, 6 and 7 miss one by 0\.0\d+ m; lock a joint"),
        (arms.puma, {"q0": [math.nan] * 6}, "q0 is .* expected finite numbers"),
        (arms.five, {"mask": (1, 1, 1, 1, 0, 1), "q0": [0, 0]}, r"q0 has shape \(2,\), expected \(..., 5\)"),
        (arms.five, {"mask": (1, 1, 1, 1, 0, 1), "q0": "here"}, "q0 is 'here'"),
        (lambda: arms.arm(arms.GENERAL), {"threads": "many"}, "ik_all: threads is 'many'"),
        (arms.puma, {"swivel": 0.1}, "has no swivel"),
        (arms.puma, {"mask": (1, 1, 1, 0, 0, 0)}, "whole poses"),
        (lambda: arms.arm(arms.PUMA[:3]), {}, "mask=\\(1, 1, 1, 0, 0, 0\\)"),
        (arms.puma, {"link": "hand"}, "no link 'hand'"),
        (arms.puma, {"mask": (1, 1)}, "six flags"),
        (arms.panda, {"locked": {"nobody": 0.0}}, "no joint 'nobody'"),
        (arms.panda, {"locked": {"link7_joint": 3.0}}, "outside of its limits"),
        (arms.panda, {"locked": {}}, "expected a dict"),
        (arms.panda, {"locked": {"link7_joint": "far"}}, "expected a number"),
        (arms.iiwa, {"swivel": "up"}, "swivel is .*, expected numbers"),
        (arms.iiwa, {"swivel": math.nan}, "expected finite angles"),
        (arms.puma, {"q0": [1, 2]}, "q0 has shape"),
    ],
)
def test_what_has_no_closed_form_is_told_why(make, options, words):
    with pytest.raises(ValueError, match=words):
        make().ik_all(np.eye(4), **options)


@pytest.mark.parametrize(
    ("T", "words"),
    [
        (np.diag([1.0, 1, 1.1, 1]), "not orthonormal"),
        (np.diag([1.0, 1, -1, 1]), "left-handed"),
        (np.full((4, 4), np.nan), "finite"),
        (np.eye(3), r"shape \(3, 3\)"),
    ],
)
def test_bad_poses_are_refused(T, words):
    with pytest.raises(ValueError, match=words):
        arms.puma().ik_all(T)


@pytest.mark.parametrize(
    "front",
    [
        [(0, 0.39, 0.18, 0), (0, 0.47, 0.19, 0), (0, 0.39, -0.14, -arms.RIGHT)],  # the wrist stays in a plane
        [(0, 0, 0, 0), (0, 0.47, 0.19, arms.RIGHT), (0, 0.38, -0.14, -arms.RIGHT)],  # two axes are one line
    ],
)
def test_an_arm_that_is_singular_everywhere_has_no_closed_form(front):
    """Its solutions are lines: `ik` finds one near the start."""
    chain = arms.arm([*front, (0, 0.2, 0, arms.RIGHT), (0, 0, 0, -arms.RIGHT), (0, 0.1, 0, 0)])
    q = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    T = chain.pose(q, "tool")
    with pytest.raises(ValueError, match="joints can move while the link stands, wherever it is"):
        chain.ik_all(T)
    s = chain.ik(T, q0=q + 0.1, tolerance=1e-9)
    assert np.abs(s.q - q).max() < 0.3
    np.testing.assert_allclose(chain.pose(s.q, "tool"), T, atol=1e-8)


def test_palletisers_are_five_joints_with_a_level_flange():
    """Their rods keep q2 + q3 + q4; the two sides of the arm by the law of cosines."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        d, a1, a2, a3, a4, d5 = rng.uniform(0.1, 1.2, 6)
        rows = [(0, d, a1, arms.RIGHT), (0, 0, a2, 0), (0, 0, a3, 0), (0, 0, a4, arms.RIGHT), (0, d5, 0, 0)]
        chain = arms.arm(rows)
        q1, q2, q3, q5 = rng.uniform(-1, 1, 4) + np.array([0, 1, -1.2, 0])
        s = chain.ik_all(chain.pose([q1, q2, q3, -q2 - q3, q5], "tool"), limits=False)
        # level solutions that face the target, from the place of the flange alone
        x, z = a2 * math.cos(q2) + a3 * math.cos(q2 + q3), a2 * math.sin(q2) + a3 * math.sin(q2 + q3)
        bend = math.acos(min(1.0, max(-1.0, (x * x + z * z - a2 * a2 - a3 * a3) / (2 * a2 * a3))))
        for b in (bend, -bend):
            lift = math.atan2(z, x) - math.atan2(a3 * math.sin(b), a2 + a3 * math.cos(b))
            wanted = np.array([q1, lift, b, -lift - b, q5])
            assert np.abs(turned(s.q - wanted, chain)).max(axis=1).min() < 1e-9
        away = turned(s.q[:, 1:4].sum(axis=1)[:, None], arms.arm(rows[:1]))[:, 0]
        assert np.minimum(np.abs(away), math.pi - np.abs(away)).max() < 1e-12
