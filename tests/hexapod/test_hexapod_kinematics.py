"""Hexapod: forward kinematics, distance from singularities, workspace, operation counts, statuses in words."""

import runpy

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from helpers import DIFFERENCE, ROOT, assert_close, derivative
from hexapod_models import CASES, STANDARD
from hypothesis import given
from hypothesis import strategies as st
from reference import hexapod as hd
from scipy.spatial.transform import Rotation
from zveno.kinematics.hexapods import explain

every_case = pytest.mark.parametrize("case", CASES)
every_type = pytest.mark.parametrize("type", hd.TYPES)


def strokes_of(hx, r, R):
    """Actuated coordinates."""
    return hx.closure(r, R)[..., np.arange(6), hx.actuated]


def poses(ref, count):
    found = [models.pose(ref, i) for i in range(count)]
    return np.array([r for r, _ in found]), np.array([R for _, R in found])


def check_solutions(hx, found, strokes):
    """The poses have these strokes, by the closed form, and are proper rotations."""
    difference = strokes_of(hx, found.r, found.R) - strokes
    revolute = np.array([leg.unit == "rad" for leg in hx.legs])
    difference[..., revolute] = np.remainder(difference[..., revolute] + np.pi, 2 * np.pi) - np.pi
    assert np.abs(difference).max() < 1e-10
    np.testing.assert_allclose(np.abs(difference).max(axis=-1), found.residual, rtol=0, atol=1e-14)
    assert np.abs(found.R @ np.swapaxes(found.R, -1, -2) - np.eye(3)).max() < 1e-13
    assert (np.linalg.det(found.R) > 0).all()


# ---- forward kinematics -----------------------------------------------------------------------------------------


@every_case
def test_forward_kinematics_undo_the_closure(case):
    ref, hx = models.pair(case)
    r, R = poses(ref, 6)
    strokes = strokes_of(hx, r, R)
    found = hx.forward_kinematics(strokes)
    check_solutions(hx, found, strokes)
    assert (found.residual < 1e-13).all()
    assert (found.iterations > 0).all() and (found.iterations < 15).all()
    # poses so near the nominal one are of its assembly
    assert_close(found.r, r, 1000)
    assert_close(found.R, R, 1000)


@every_type
def test_far_poses_of_the_docking_rings(type, rng):
    hx = zv.mechanisms.docking_ring(type)
    reach, tilt = (0.15, 0.4) if type in hd.GOUGH_STEWART else (0.05, 0.1)
    r = hx.nominal[0] + rng.uniform(-reach, reach, (40, 3))
    R = Rotation.from_rotvec(rng.uniform(-tilt, tilt, (40, 3))).as_matrix()
    fine = hx.status(r, R) == 0
    r, R = r[fine], R[fine]
    assert len(r) > 20
    strokes = strokes_of(hx, r, R)
    found = hx.forward_kinematics(strokes)
    check_solutions(hx, found, strokes)
    near = hx.status(r + 0.005, R) == 0
    again = hx.forward_kinematics(strokes[near], (r[near] + 0.005, R[near]))
    check_solutions(hx, again, strokes[near])
    assert_close(again.r, r[near], 1000)


def test_nothing_to_do_takes_no_step():
    hx = zv.mechanisms.docking_ring("UPS")
    found = hx.forward_kinematics(strokes_of(hx, *hx.nominal))
    assert found.iterations == 0 and found.residual == 0
    assert np.array_equal(found.r, hx.nominal[0]) and np.array_equal(found.R, hx.nominal[1])
    assert not np.shares_memory(found.r, hx.nominal[0])


@pytest.mark.parametrize("case", ["RSU-lean", "mixed-general"])
def test_forward_kinematics_of_a_batch(case):
    ref, hx = models.pair(case)
    strokes = np.resize(strokes_of(hx, *poses(ref, 6)), (8, 5, 6))
    batch = hx.forward_kinematics(strokes)
    assert batch.r.shape == (8, 5, 3) and batch.R.shape == (8, 5, 3, 3)
    assert batch.residual.shape == batch.iterations.shape == (8, 5)
    for threads in (0, 1, 2, 5):
        again = hx.forward_kinematics(strokes, threads=threads)
        assert all(np.array_equal(a, b) for a, b in zip(again, batch, strict=True))
    one = hx.forward_kinematics(strokes[3, 2])
    assert all(np.array_equal(a, b[3, 2]) for a, b in zip(one, batch, strict=True))
    assert one.r.shape == (3,) and one.residual.shape == ()
    empty = hx.forward_kinematics(np.zeros((0, 6)))
    assert empty.r.shape == (0, 3) and empty.R.shape == (0, 3, 3) and empty.residual.shape == (0,)


def test_starts_broadcast_with_the_strokes():
    ref, hx = models.pair("UPS-lean")
    r, R = poses(ref, 4)
    strokes = strokes_of(hx, r[0], R[0])
    found = hx.forward_kinematics(strokes, (r, R))
    assert found.r.shape == (4, 3)
    assert_close(found.r, np.tile(r[0], (4, 1)), 1000)
    assert found.iterations[0] == 0
    found = hx.forward_kinematics(strokes_of(hx, r, R), (r[0], R))
    assert_close(found.r, r, 1000)
    found = hx.forward_kinematics(strokes_of(hx, r, R), (r[0], Rotation.from_matrix(R)))
    assert_close(found.r, r, 1000)
    again = hx.forward_kinematics(strokes_of(hx, r, R), found)  # an earlier result is a start
    assert (again.iterations <= 1).all()


@pytest.mark.parametrize("type", hd.HUNT)
def test_cranks_may_have_turned_round(type):
    hx = zv.mechanisms.docking_ring(type)
    r, R = hx.nominal[0] + [0.02, 0.01, -0.02], Rotation.from_rotvec([0.05, 0.02, -0.03]).as_matrix()
    turns = 2 * np.pi * np.array([0, 1, -1, 5, 0, 2])
    found = hx.forward_kinematics(strokes_of(hx, r, R) + turns)
    assert_close(found.r, r, 1000)
    assert_close(found.R, R, 1000)


@every_type
def test_all_poses_are_different_solutions(type):
    hx = zv.mechanisms.docking_ring(type)
    r, R = hx.nominal[0] + [0.02, 0.03, -0.01], Rotation.from_rotvec([0.05, -0.03, 0.04]).as_matrix()
    strokes = strokes_of(hx, r, R)
    found = hx.forward_kinematics_all(strokes, reach=0.6, tilt=2.5, tries=150)
    check_solutions(hx, found, strokes)
    count = len(found.r)
    assert count >= (2 if type in hd.GOUGH_STEWART else 1)  # cranks of one elbow leave less room
    gaps = [
        max(np.abs(found.r[i] - found.r[j]).max(), np.abs(found.R[i] - found.R[j]).max())
        for i in range(count)
        for j in range(i)
    ]
    assert min(gaps, default=1.0) > 1e-6
    distance = np.abs(found.r - hx.nominal[0]).max(axis=1) + np.abs(found.R - hx.nominal[1]).max(axis=(1, 2))
    assert (np.diff(distance) >= 0).all()
    # the nearest is the pose itself, and the first attempt begins at the start
    assert_close(found.r[0], r, 1000)
    near = hx.forward_kinematics(strokes)
    assert any(np.array_equal(near.r, row) for row in found.r)
    again = hx.forward_kinematics_all(strokes, reach=0.6, tilt=2.5, tries=150)
    assert all(np.array_equal(a, b) for a, b in zip(again, found, strict=True))
    other = hx.forward_kinematics_all(strokes, reach=0.6, tilt=2.5, tries=150, seed=1)
    assert_close(other.r[0], r, 1000)


def test_the_mirror_image_of_a_ring_is_an_assembly():
    # hinges in the planes x = 0: the ring may stand behind the base as well
    hx = zv.mechanisms.docking_ring("UPS")
    found = hx.forward_kinematics_all(np.zeros(6), reach=1.0, tilt=0.1, tries=50)
    mirrored = [np.allclose(r, -hx.nominal[0], atol=1e-9) and np.allclose(R, np.eye(3), atol=1e-9)
                for r, R in zip(found.r, found.R, strict=True)]  # fmt: skip
    assert sum(mirrored) == 1


IMPOSSIBLE = np.array([0.5, -0.4, 0.5, -0.4, 0.5, -0.4])


def test_strokes_that_no_pose_has():
    hx = zv.mechanisms.docking_ring("UPS")
    for start in (None, (hx.nominal[0], hx.nominal[1])):
        with pytest.raises((zv.UnreachableError, zv.SingularityError)) as caught:
            hx.forward_kinematics(IMPOSSIBLE, start)
        assert str(caught.value).startswith("forward_kinematics: ")
        assert caught.value.row is None and caught.value.leg is None
    good = strokes_of(hx, hx.nominal[0] + [0.01, 0.02, 0.03], np.eye(3))
    rows = np.array([good, IMPOSSIBLE, good, IMPOSSIBLE])
    with pytest.raises((zv.UnreachableError, zv.SingularityError), match="in row 1") as caught:
        hx.forward_kinematics(rows)
    assert caught.value.row == 1
    found = hx.forward_kinematics(rows, on_error="nan")
    assert np.isnan(found.r[[1, 3]]).all() and np.isnan(found.R[[1, 3]]).all()
    assert np.array_equal(found.r[[0, 2]], np.tile(hx.forward_kinematics(good).r, (2, 1)))
    assert np.isnan(found.residual[[1, 3]]).all() and (found.residual[[0, 2]] < 1e-10).all()
    assert found.status.dtype == np.int16 and found.status.shape == (4,)
    assert np.array_equal(found.ok, [True, False, True, False])
    assert hx.explain(found.status[0]) == "computed" and str(caught.value).startswith(
        f"forward_kinematics: {hx.explain(found.status[1])}"
    )
    assert len(hx.forward_kinematics_all(IMPOSSIBLE, tries=20).r) == 0


def test_no_convergence_says_by_how_much():
    hx = zv.mechanisms.docking_ring("RSU")
    with pytest.raises(zv.UnreachableError, match=r"forward_kinematics: .*Newton's method") as caught:
        hx.forward_kinematics(strokes_of(hx, *hx.nominal) + np.tile([1.5, -1.5], 3))
    assert (caught.value.cause, caught.value.leg, caught.value.leg_index) == ("no convergence", None, None)
    assert 1e-10 < abs(caught.value.margin) < 3


def test_a_start_that_a_leg_cannot_take():
    hx = zv.mechanisms.docking_ring("RUS")
    strokes = strokes_of(hx, *hx.nominal)
    with pytest.raises(zv.UnreachableError, match="leg 'leg1'") as caught:
        hx.forward_kinematics(strokes, (hx.nominal[0] + [1.0, 0, 0], np.eye(3)))
    assert (caught.value.leg, caught.value.leg_index, caught.value.cause) == ("leg1", 0, "out of reach")
    assert np.isfinite(caught.value.margin)
    with pytest.raises(ValueError, match=r"forward_kinematics: R of start is not orthonormal"):
        hx.forward_kinematics(strokes, (hx.nominal[0], 2 * np.eye(3)))


BAD_STROKES = {
    "short": (np.zeros(5), "strokes has shape (5,), expected (6,) or (..., 6)"),
    "scalar": (1.0, "strokes has shape (), expected (6,)"),
    "nan": (np.full(6, np.nan), "strokes is not finite"),
    "text": ("abc", "strokes is not an array of numbers"),
    "ragged": ([[1.0], [1.0, 2.0]], "strokes is not an array of numbers"),
    "complex": (np.full(6, 0.01 + 1j), "strokes is not an array of numbers: it has dtype complex128"),
    "digits": (["0.01"] * 6, "strokes is not an array of numbers: it has dtype <U4"),
    "objects": (np.full(6, 0.01, dtype=object), "strokes is not an array of numbers: it has dtype object"),
    "bools": ([True] * 6, "strokes is not an array of numbers: it has dtype bool"),
    "masked": (np.ma.masked_array(np.zeros(6), [1, 0, 0, 0, 0, 0]), "strokes is a masked array"),
}


@pytest.mark.parametrize("function", ["forward_kinematics", "forward_kinematics_all"])
@pytest.mark.parametrize(("strokes", "words"), BAD_STROKES.values(), ids=BAD_STROKES)
def test_bad_strokes_are_refused(function, strokes, words):
    hx = zv.mechanisms.docking_ring("UPS")
    with pytest.raises((ValueError, TypeError)) as caught:
        getattr(hx, function)(strokes)
    assert f"{function}: {words}" in str(caught.value)


@pytest.mark.parametrize("function", ["forward_kinematics", "forward_kinematics_all"])
@pytest.mark.parametrize(
    ("start", "words"),
    [
        (3, "start is 3, expected (4, 4) or another form of a pose: (r, R)"),
        (np.zeros(3), "start has shape (3,), expected (4, 4) or another form of a pose: (r, R)"),
        ((np.zeros(3),), "start is (array([0., 0., 0.]),), expected (4, 4) or another form of a pose: (r, R)"),
        ((np.zeros(2), np.eye(3)), "r of start has shape (2,)"),
        ((np.zeros(3), np.eye(2)), "R of start has shape (2, 2)"),
        ((np.zeros(3), np.full((3, 3), np.inf)), "R of start is [[inf, inf, inf]"),
        ((np.zeros(3), 2 * np.eye(3)), "R of start is not orthonormal: the largest element of |R'R - 1| is 3"),
        ((np.zeros(3), np.stack([np.eye(3), -np.eye(3)])), "R of start is left-handed"),
        ((np.zeros(3) + 1j, np.eye(3)), "r of start is array([0.+1.j"),
        ((np.zeros(3), [["1", "0", "0"]] * 3), "R of start is [['1', '0', '0']"),
    ],
    ids=str,
)
def test_bad_starts_are_refused(function, start, words):
    hx = zv.mechanisms.docking_ring("UPS")
    with pytest.raises((ValueError, TypeError)) as caught:
        getattr(hx, function)(np.zeros(6), start)
    assert f"{function}: {words}" in str(caught.value)


def test_options_of_forward_kinematics_are_checked():
    hx = zv.mechanisms.docking_ring("UPS")
    with pytest.raises(ValueError, match="forward_kinematics: on_error is 'ignore', expected 'raise' or 'nan'"):
        hx.forward_kinematics(np.zeros(6), on_error="ignore")
    with pytest.raises(ValueError, match=r"forward_kinematics: arguments do not broadcast: strokes \(3, 6\)"):
        hx.forward_kinematics(np.zeros((3, 6)), (np.zeros((2, 3)), np.eye(3)))
    for threads in (-1, 4097, "2", 1.5, True, 10**30):
        with pytest.raises(ValueError, match="forward_kinematics: threads is"):
            hx.forward_kinematics(np.zeros(6), threads=threads)
    with pytest.raises(ValueError, match=r"forward_kinematics_all: strokes has shape \(2, 6\), expected \(6,\)"):
        hx.forward_kinematics_all(np.zeros((2, 6)))
    with pytest.raises(ValueError, match=r"forward_kinematics_all: reach is 1e\+308, too large to compute with"):
        hx.forward_kinematics_all(np.zeros(6), reach=1e308)
    with pytest.raises(ValueError, match="forward_kinematics_all: tries is 0"):
        hx.forward_kinematics_all(np.zeros(6), tries=0)
    with pytest.raises(ValueError, match="forward_kinematics_all: start has more than one pose"):
        hx.forward_kinematics_all(np.zeros(6), (np.zeros((2, 3)), np.eye(3)))
    bare = zv.Hexapod(hx.platform, hx.legs)
    with pytest.raises(ValueError, match="forward_kinematics: start is missing, and model 'hexapod' has no nominal"):
        bare.forward_kinematics(np.zeros(6))
    assert_close(bare.forward_kinematics(np.zeros(6), hx.nominal).r, hx.nominal[0], 10)


# ---- singularities ----------------------------------------------------------------------------------------------


def by_differences(hx, r, R):
    """Jacobian of the actuated coordinates from their differences."""
    start = hx.closure(r, R)

    def moved(direction, t):
        r1, R1 = r + t * direction[:3], R @ Rotation.from_rotvec(t * direction[3:]).as_matrix()
        return hx.closure(r1, R1, method="newton", start=start)[np.arange(6), hx.actuated]

    # steps of 0.2 mm and 0.2 mrad
    return np.column_stack([derivative(lambda t, e=0.03 * e: moved(e, t)) for e in np.eye(6)]) / 0.03


@every_case
def test_condition_number_is_that_of_the_differences(case):
    ref, hx = models.pair(case)
    r, R = models.pose(ref, 1)
    J = by_differences(hx, r, R)
    assert_close(hx.jacobian(r, R), J, 6, ulps=DIFFERENCE)
    scaled = J / np.repeat([1.0, hx.radius], 3)
    found = hx.singularity(r, R)
    condition = np.linalg.cond(scaled)
    assert_close(found.condition, np.array(condition), 6, ulps=DIFFERENCE, scale=condition**2)
    assert found.ok and found.status == 0
    assert found.condition.shape == () and found.leg.shape == (6,)


@pytest.mark.parametrize(
    ("type", "scaled", "plain"),
    [("UPS", 1.7, 2.4), ("SPU", 1.7, 2.4), ("UCU", 1.7, 2.4), ("RUS", 3.5, 4.1), ("RSU", 3.5, 4.1)],
)
def test_the_docking_rings_have_the_published_condition(type, scaled, plain):
    hx = zv.mechanisms.docking_ring(type)
    assert round(float(hx.singularity(*hx.nominal).condition), 1) == scaled
    assert round(np.linalg.cond(by_differences(hx, *hx.nominal)), 1) == plain


@pytest.mark.parametrize("case", STANDARD)
def test_leg_factors_are_those_of_the_determinant(case):
    ref, hx = models.pair(case)
    r, R = models.pose(ref, 0)
    want = []
    for leg in ref.legs:
        p = hd.closed(leg, r, R.T)
        _, tau, _, Q, n_R = hd._closed_parts(leg, p, r, R.T)
        if leg.type in hd.GOUGH_STEWART:
            factors = [np.cos(p[1])]
        else:
            l12, l23 = leg.bodies[0].l[0], leg.l_L[0]
            d = leg.gamma_0 @ (hd.ring_point(leg, r, R.T) - leg.l_0)
            l13 = np.hypot(d[0], d[2])
            cos = (l12**2 + l13**2 - l23**2 + d[1] ** 2) / (2 * l12 * l13)
            factors = [np.cos(p[2]), abs(Q[0]) / l12, np.sqrt(1 - cos**2)]
        if leg.n == 4:
            factors.append(abs(n_R @ tau[0]))
        want.append(min(factors))
    assert_close(hx.singularity(r, R).leg, np.array(want), 60)


def test_the_flat_ring_is_singular():
    # all legs in one plane: nothing holds the ring across it
    hx = zv.mechanisms.docking_ring("UPS")
    flat = hx.singularity(np.zeros(3), np.eye(3))
    assert flat.ok and flat.condition > 1e15
    assert (flat.leg > 0.5).all()  # no leg is to blame
    assert np.round(strokes_of(hx, np.zeros(3), np.eye(3)), 3).tolist() == [-0.176] * 6
    heights = np.linspace(0.4, 0.01, 40)
    near = hx.singularity(np.column_stack([heights, 0 * heights, 0 * heights]), np.eye(3))
    assert (np.diff(near.condition[heights < 0.3]) > 0).all()
    assert near.condition[-1] > 30


def test_legs_lose_their_factor_towards_a_singularity():
    hx = zv.mechanisms.docking_ring("UPS")
    leg = hx.legs[2]
    aside = np.logspace(-1, -6, 6)
    r = leg.base + 0.3 * leg.base_frame[:, 1] + aside[:, None] * leg.base_frame[:, 0] - leg.ring
    near = hx.singularity(r, np.eye(3))
    np.testing.assert_allclose(near.leg[:, 2], aside / np.hypot(0.3, aside), rtol=1e-6)
    assert near.condition.shape == (6,) and near.leg.shape == (6, 6)


def test_singularity_of_batches():
    ref, hx = models.pair("mixed-skew")
    r, R = poses(ref, 9)
    want = [hx.singularity(*pose) for pose in zip(r, R, strict=True)]
    r[4], R[4] = models.misplaced(hx)
    R[6] = 0.0
    for threads in (None, 2):
        found = hx.singularity(r, R, on_error="nan", threads=threads)
        good = [k for k in range(9) if k not in (4, 6)]
        assert np.flatnonzero(~found.ok).tolist() == [4, 6]
        assert np.array_equal(found.status, hx.status(r, R, threads=threads))
        assert np.isnan(found.condition[[4, 6]]).all() and np.isnan(found.leg[[4, 6]]).all()
        for k in good:
            assert np.array_equal(found.leg[k], want[k].leg)
            assert_close(found.condition[k], want[k].condition, 6)
    with pytest.raises(zv.SingularityError, match=r"singularity: leg 'leg1' .* in row 4") as caught:
        hx.singularity(r, R)
    assert caught.value.row == 4
    with pytest.raises(ValueError, match="singularity: on_error is 'no'"):
        hx.singularity(r, R, on_error="no")
    for name in ("singularity", "status"):
        with pytest.raises(ValueError, match=rf"{name}: r has shape \(2,\), expected \(3,\)"):
            getattr(hx, name)(np.zeros(2), np.eye(3))
        with pytest.raises(ValueError, match=f"{name}: threads is -1"):
            getattr(hx, name)(r, R, threads=-1)
    empty = hx.singularity(np.zeros((0, 3)), np.eye(3), on_error="nan")
    assert empty.condition.shape == (0,) and empty.leg.shape == (0, 6) and empty.ok.shape == (0,)


# ---- workspace --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", ["UPS", "RSU"])
def test_a_scan_finds_what_single_poses_say(type):
    hx = zv.mechanisms.docking_ring(type)
    scan = hx.workspace(("x", "tilt y"), (0.3, 0.8), (7, 5))
    assert scan.axes == ("x", "tilt y")
    assert np.array_equal(scan.first, np.linspace(-0.3, 0.3, 7))
    assert np.array_equal(scan.second, np.linspace(-0.8, 0.8, 5))
    for field in ("condition", "leg", "within", "status", "usable"):
        assert getattr(scan, field).shape == (7, 5)
    for i, x in enumerate(scan.first):
        for j, angle in enumerate(scan.second):
            r, R = hx.nominal[0] + [x, 0, 0], Rotation.from_rotvec([0, angle, 0]).as_matrix()
            one = hx.singularity(r, R, on_error="nan")
            assert one.status == scan.status[i, j]
            if not one.ok:
                assert np.isnan(scan.condition[i, j]) and not scan.within[i, j] and not scan.usable[i, j]
                continue
            assert_close(scan.leg[i, j], one.leg.min(), 10)
            np.testing.assert_allclose(scan.condition[i, j], one.condition, rtol=1e-9)
            stroke = strokes_of(hx, r, R)
            assert scan.within[i, j] == ((stroke >= hx.lower) & (stroke <= hx.upper)).all()
    assert scan.usable[3, 2] and not scan.usable[[0, -1], [0, -1]].any()
    assert (scan.status != 0).any() == (type == "RSU")
    for threads in (1, 2):
        again = hx.workspace(("x", "tilt y"), (0.3, 0.8), (7, 5), threads=threads)
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(again[1:], scan[1:], strict=True))


def test_a_scan_has_a_centre_and_defaults():
    hx = zv.mechanisms.docking_ring("UPS")
    scan = hx.workspace(points=11)
    assert scan.axes == ("y", "z") and scan.condition.shape == (11, 11)
    assert scan.first[0] == -0.3 and scan.second[-1] == 0.3
    # displacements are along base axes, rotations about ring axes
    R = Rotation.from_rotvec([0.2, 0.1, 0.0]).as_matrix()
    centre = hx.nominal[0] + [0.02, 0, 0.01]
    scan = hx.workspace(("tilt z", "y"), (0.2, 0.1), 3, centre=(centre, R))
    r = centre + np.array([0, 0.1, 0])
    one = hx.singularity(r, R @ Rotation.from_rotvec([0, 0, -0.2]).as_matrix())
    np.testing.assert_allclose(scan.condition[0, 2], one.condition, rtol=1e-9)


def test_points_of_a_scan_may_be_an_array():
    hx = zv.mechanisms.docking_ring("UPS")
    assert hx.workspace(points=np.array([3, 4])).status.shape == (3, 4)
    assert hx.workspace(points=np.int64(5)).status.shape == hx.workspace(points=np.array(5)).status.shape == (5, 5)


def test_a_scan_over_roll_pitch_and_yaw_turns_about_one_axis_after_the_other():
    hx = zv.mechanisms.docking_ring("UPS")
    R0 = Rotation.from_rotvec([0.1, -0.05, 0.08]).as_matrix()
    order = ("roll", "pitch", "yaw")
    for first, second in (("roll", "pitch"), ("yaw", "roll"), ("pitch", "yaw")):
        scan = hx.workspace((first, second), (0.3, 0.2), 3, centre=(hx.nominal[0], R0))
        angles = np.zeros(3)
        angles[order.index(first)], angles[order.index(second)] = 0.3, -0.2
        R = R0 @ Rotation.from_euler("ZYX", angles[::-1]).as_matrix()
        np.testing.assert_allclose(scan.condition[2, 0], hx.singularity(hx.nominal[0], R).condition, rtol=1e-9)
        stroke = strokes_of(hx, hx.nominal[0], R)
        assert_close(scan.margin[2, 0], np.minimum(stroke - hx.lower, hx.upper - stroke).min(), 100)
    single = hx.workspace(("x", "pitch"), (0.1, 0.2), 5)
    tilt = hx.workspace(("x", "tilt y"), (0.1, 0.2), 5)
    np.testing.assert_allclose(single.condition, tilt.condition, rtol=1e-12)


@pytest.mark.parametrize("type", ["UPS", "RSU"])
def test_the_margin_of_a_scan_is_zero_at_the_border(type):
    hx = zv.mechanisms.docking_ring(type)
    scan = hx.workspace(("y", "z"), (0.3, 0.3), 41)
    reached = scan.status == 0
    assert np.array_equal(np.isnan(scan.margin), ~reached)
    assert np.array_equal(scan.margin[reached] >= 0, scan.within[reached])
    assert scan.usable.any() and not scan.usable.all()
    free = zv.Hexapod(hx.platform, [leg._with(lower=-np.inf, upper=np.inf) for leg in hx.legs], nominal=hx.nominal)
    assert np.isinf(free.workspace(points=3).margin[1, 1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"axes": ("x", "x")}, "axes is ('x', 'x'), expected two different names"),
        ({"axes": ("x",)}, "axes is ('x',)"),
        ({"axes": ("x", "up")}, "axes is ('x', 'up')"),
        ({"extent": (0.1, -0.1)}, "extent is -0.1, expected a number >= 0"),
        ({"extent": (0.1, np.nan)}, "extent is nan, expected a finite number"),
        ({"extent": (0.1,)}, "extent is (0.1,)"),
        ({"points": 1}, "points is 1, expected an integer from 2"),
        ({"points": (5, 10**9)}, "points is 1000000000, expected an integer"),
        ({"axes": ("tilt x", "yaw")}, "axes is ('tilt x', 'yaw'): tilts and roll, pitch, yaw do not go together"),
        ({"points": np.array([5, 6, 7])}, "points is array([5, 6, 7]), expected one or two integers"),
        ({"points": np.ones((2, 2), int)}, "points is array([1, 1]), expected an integer"),
        ({"points": np.array([5.0, 6.0])}, "points is np.float64(5.0), expected an integer from 2"),
        ({"extent": (0.1, 1e200)}, "extent is 1e+200, too large to compute with"),
        ({"centre": 3}, "centre is 3, expected (4, 4) or another form of a pose"),
        ({"centre": (np.zeros(3), 2 * np.eye(3))}, "R of centre is not orthonormal"),
        ({"centre": (np.zeros((2, 3)), np.eye(3))}, "centre has more than one pose"),
    ],
    ids=str,
)
def test_bad_scans_are_refused(options, words):
    hx = zv.mechanisms.docking_ring("UPS")
    with pytest.raises((ValueError, TypeError)) as caught:
        hx.workspace(**options)
    assert f"workspace: {words}" in str(caught.value)


# ---- statuses ---------------------------------------------------------------------------------------------------


def test_statuses_in_words():
    hx = zv.mechanisms.docking_ring("RSU")
    r = np.tile(hx.nominal[0], (4, 1))
    r[1, 0] = 9.0
    r[2, 0] = np.nan
    R = np.tile(np.eye(3), (4, 1, 1))
    R[3, 0, 0] = -1
    status = hx.status(r, R)
    assert status.dtype == np.int16 and status.shape == (4,)
    texts = [hx.explain(code) for code in status]
    assert texts == [
        "computed",
        "leg 'leg1' cannot reach its hinge: crank and coupler do not meet",
        "the state has an argument that is not finite",
        "the state has an R that is not a rotation",
    ]
    assert explain(status[1]) == "leg 1 cannot reach its hinge: crank and coupler do not meet"
    assert explain(0) == hx.explain(0) == hx.explain(np.int16(0)) == "computed"
    for code in (200, 100, 6 << 8 | 100):
        with pytest.raises(ValueError, match=f"explain: status is {code}, expected the code of a row"):
            hx.explain(code)
    with pytest.raises(ValueError, match=r"explain: status is array\(\[0, 1\]\), expected an integer"):
        hx.explain(np.array([0, 1]))


# ---- operations -------------------------------------------------------------------------------------------------

# operations of the formulas of one leg, docs/hexapods.md; that page also has the counts of whole mechanisms
FORMULAS = runpy.run_path(str(ROOT / "bench" / "hexapod_table.py"))["FORMULAS"]
STAGES = ["closure", "jacobian", "drift", "inertia", "bias", "reduction", "reaction"]


def flops(count):
    return count.mul + count.add + count.div + count.sqrt


def numbers(count):
    return count.mul, count.add, count.div, count.sqrt, count.trig


def total(counts):
    return tuple(map(sum, zip(*map(numbers, counts), strict=True)))


@every_type
def test_a_leg_needs_at_most_the_operations_of_its_sparse_formulas(type):
    hx = zv.mechanisms.docking_ring(type, reflected=False)
    for k in range(6):
        count = hx.operations(k)
        assert flops(count) <= FORMULAS[type].sparse
        assert list(count.stages) == STAGES
        assert numbers(count) == total(count.stages.values())
        assert numbers(count) == numbers(hx.operations(0))
        assert count.trig == (4 if type == "RSU" else 2 if type == "UPS" else 3)  # angles from sines and cosines


@every_type
def test_operations_depend_on_the_structure_alone(type):
    demo, other = zv.mechanisms.docking_ring(type), models.pair(f"{type}-lean")[1]
    assert numbers(demo.operations(0)) == numbers(other.operations(3))
    skew = models.pair(f"{type}-skew")[1].operations(1)
    assert flops(demo.operations(1)) < flops(skew)
    if type in hd.GOUGH_STEWART:  # the formulas of the others know no turned crank_frame
        assert flops(skew) <= FORMULAS[type].sparse_general
    # a base that moves or is free costs more
    still, moving, free = (demo.operations(0, **options) for options in ({}, {"moving": True}, {"free": True}))
    assert flops(still) < flops(moving) < flops(free)
    for count in (skew, moving, free):
        assert numbers(count) == total(count.stages.values())


@every_type
def test_operations_of_the_whole_are_those_of_the_legs_and_of_the_ring(type):
    hx = models.pair(f"{type}-lean")[1]
    whole = hx.operations()
    assert set(whole.stages) == {*STAGES, "ring", "solve"}
    assert numbers(whole) == total(whole.stages.values())
    own = [whole.stages["ring"], whole.stages["solve"]]
    assert numbers(whole) == total([*own, *(hx.operations(k) for k in range(6))])
    for stage in STAGES:
        assert numbers(whole.stages[stage]) == total(hx.operations(k).stages[stage] for k in range(6))


def test_operations_of_a_mixed_hexapod():
    hx = models.pair("mixed-lean")[1]
    for k, leg in enumerate(hx.legs):
        alone = models.pair(f"{leg.type}-lean")[1].operations(0)
        assert numbers(hx.operations(k)) == numbers(alone)


def test_operations_that_are_not_fixed_are_refused():
    hx = models.pair("mixed-general")[1]
    with pytest.raises(ValueError, match=r"operations: leg 'leg2' is closed by iteration"):
        hx.operations(1)
    with pytest.raises(ValueError, match="operations: "):
        hx.operations()
    assert flops(hx.operations(0)) > 0
    for leg in (-1, 6):
        with pytest.raises(ValueError, match=f"operations: leg is {leg}, expected an integer from 0 to 5"):
            hx.operations(leg)


# ---- poses of any kind ------------------------------------------------------------------------------------------


@given(
    shift=st.tuples(*[st.floats(-0.1, 0.1)] * 3),
    turn=st.tuples(*[st.floats(-0.3, 0.3)] * 3),
    type=st.sampled_from(hd.TYPES),
)
def test_any_pose_near_the_nominal_one_is_found_again(shift, turn, type):
    hx = zv.mechanisms.docking_ring(type)
    r, R = hx.nominal[0] + shift, Rotation.from_rotvec(turn).as_matrix()
    if hx.status(r, R) != 0:
        return
    strokes = strokes_of(hx, r, R)
    found = hx.forward_kinematics(strokes, (r, R))
    assert found.iterations <= 1
    found = hx.forward_kinematics(strokes, on_error="nan")
    if np.isfinite(found.r).all():
        check_solutions(hx, found, strokes)
