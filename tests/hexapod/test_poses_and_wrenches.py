"""Poses in all their forms, wherever one goes in; wrenches at contact points."""

import numpy as np
import pytest
import zveno as zv
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import RigidTransform, Rotation

vectors = hnp.arrays(float, 3, elements=st.floats(-1, 1))
PLACE = np.array([0.39, 0.01, -0.02])
TURN = Rotation.from_rotvec([0.05, -0.1, 0.08])


def scalar_first(rotation):
    return rotation.as_quat(scalar_first=True)


def homogeneous(r, R):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, r
    return T


def forms(r, rotation):
    """The same pose again and again."""
    R = rotation.as_matrix()
    return {
        "pair": (r, R),
        "lists": [r.tolist(), R.tolist()],
        "pair with a Rotation": (r, rotation),
        "pair with a quaternion": (r, {"quaternion": scalar_first(rotation)}),
        "4x4": homogeneous(r, R),
        "4x4 as lists": homogeneous(r, R).tolist(),
        "RigidTransform": RigidTransform.from_components(r, rotation),
        "names": {"r": r, "R": R},
        "names, a Rotation": {"r": r, "R": rotation},
        "names, a quaternion": {"r": r, "quaternion": scalar_first(rotation)},
    }


every_form = pytest.mark.parametrize("form", forms(PLACE, TURN))


@every_form
def test_a_pose_goes_into_a_hexapod_in_any_form(form):
    hx = zv.mechanisms.docking_ring("UPS")
    pose, R = forms(PLACE, TURN)[form], TURN.as_matrix()
    made = zv.Hexapod(hx.platform, hx.legs, nominal=pose)
    np.testing.assert_allclose(made.nominal[0], PLACE, rtol=0, atol=1e-15)
    np.testing.assert_allclose(made.nominal[1], R, rtol=0, atol=1e-15)
    strokes = hx.closure(PLACE, R)[:, 2]
    found = hx.forward_kinematics(strokes, pose)
    assert found.iterations <= 1 and found.residual < 1e-12
    assert len(hx.forward_kinematics_all(strokes, pose, tries=2).r)
    scans = [hx.workspace(points=3, centre=centre) for centre in (pose, (PLACE, R))]
    np.testing.assert_allclose(scans[0].condition, scans[1].condition, rtol=1e-9)


@every_form
def test_compiled_functions_take_a_whole_pose_in_place_of_r_and_R(form):
    hx = zv.mechanisms.docking_ring("RSU")
    pose, R, u = forms(PLACE, TURN)[form], TURN.as_matrix(), np.linspace(-0.1, 0.2, 6)
    np.testing.assert_allclose(hx.closure(pose), hx.closure(PLACE, R), rtol=0, atol=1e-14)
    got, want = hx.forward_dynamics(pose, u=u, wrench=u, tau=u), hx.forward_dynamics(PLACE, R, u, u, u)
    np.testing.assert_allclose(got.acceleration, want.acceleration, rtol=1e-11)
    assert (hx.forward_dynamics(pose, None, u, u, u).acceleration == got.acceleration).all()


def test_whole_poses_come_in_batches_and_have_the_bits_of_their_parts():
    hx = zv.mechanisms.docking_ring("UPS")
    r, turns = PLACE + 0.01 * np.arange(12).reshape(4, 3), Rotation.from_rotvec(0.02 * np.arange(12).reshape(4, 3))
    T = np.array([homogeneous(*pair) for pair in zip(r, turns.as_matrix(), strict=True)])
    want = hx.closure(r, T[:, :3, :3])
    for poses in (T, T.tolist(), {"r": r, "R": T[:, :3, :3]}):
        assert (hx.closure(poses) == want).all()
    np.testing.assert_allclose(hx.closure(RigidTransform.from_components(r, turns)), want, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (PLACE, TypeError, "R"),
        (np.stack([PLACE, PLACE]), TypeError, "R"),
        (np.diag([2.0, 2.0, 2.0, 1.0]), ValueError, "rotation"),
        (2 * np.eye(4), ValueError, "last row of r"),
        (np.full((4, 4), np.nan), ValueError, "finite"),
        ({"r": PLACE, "R": TURN, "q": 1}, ValueError, "expected a pose"),
        ((PLACE, np.eye(2)), ValueError, "R"),
        ([PLACE, np.eye(3), 1], ValueError, "r"),
        ("pose", ValueError, "r"),
    ],
)
def test_what_is_no_whole_pose_is_refused(given, error, words):
    with pytest.raises((error, TypeError), match=f"^closure: .*{words}"):
        zv.mechanisms.docking_ring("UPS").closure(given)


def test_results_are_poses():
    hx = zv.mechanisms.docking_ring("UPS")
    first = hx.forward_kinematics(np.full((2, 6), 0.01))
    assert (hx.forward_kinematics(np.full((2, 6), 0.01), first).iterations <= 1).all()
    many = RigidTransform.from_components(first.r, Rotation.from_matrix(first.R))
    assert (hx.forward_kinematics(np.full((2, 6), 0.01), many).iterations <= 1).all()


@given(vectors, vectors)
def test_quaternions_have_their_scalar_first(r, turn):
    R = Rotation.from_rotvec(turn)
    link = zv.Link("a", mass=1, rotation={"quaternion": scalar_first(R)})
    np.testing.assert_allclose(link.rotation, R.as_matrix(), rtol=0, atol=1e-14)


@every_form
def test_a_pose_goes_into_a_chain_in_any_form(form):
    pose, R = forms(PLACE, TURN)[form], TURN.as_matrix()
    link = zv.Link("a", mass=1, pose=pose)
    np.testing.assert_allclose(link.position, PLACE, rtol=0, atol=1e-15)
    np.testing.assert_allclose(link.rotation, R, rtol=0, atol=1e-15)
    assert zv.Link.from_dict(link.to_dict()) == link
    rows = [(0.1, 0.2, 0.3, 0.4)]
    with np.errstate(all="raise"):
        arm = zv.Chain.from_dh(rows, masses=[1.0], base_pose=pose, tool_pose=pose)
    same = zv.Chain.from_dh(rows, masses=[1.0], base_pose=homogeneous(PLACE, R), tool_pose=homogeneous(PLACE, R))
    np.testing.assert_allclose(arm.pose([0.3], "tool"), same.pose([0.3], "tool"), rtol=0, atol=1e-14)


def test_a_rotation_goes_into_a_link_and_a_leg_in_any_form():
    forms = (TURN, TURN.as_matrix(), {"quaternion": scalar_first(TURN)}, homogeneous(np.zeros(3), TURN.as_matrix()))
    bodies = {"housing": zv.Body.cylinder(4, 0.03, 0.3), "rod": zv.Body.cylinder(2, 0.02, 0.3), "housing_length": 0.2}
    for form in (*forms, RigidTransform.from_rotation(TURN)):
        np.testing.assert_allclose(zv.Link("a", rotation=form).rotation, TURN.as_matrix(), rtol=0, atol=1e-15)
        leg = zv.Leg.ups((0, 0, 0), (1, 0, 0), base_frame=form, **bodies)
        np.testing.assert_allclose(leg.base_frame, TURN.as_matrix(), rtol=0, atol=1e-15)


BAD = {
    "short quaternion": (
        (PLACE, {"quaternion": (1, 0, 0)}),
        "quaternion of R of nominal has shape (3,), expected (4,)",
    ),
    "long quaternion": (
        {"r": PLACE, "quaternion": (2, 0, 0, 0)},
        "quaternion of R of nominal has length 2.0, expected 1",
    ),
    "nameless quaternion": ((PLACE, (1, 0, 0, 0)), "four numbers may be scalar first or last"),
    "other names": ({"r": PLACE, "q": (1, 0, 0, 0)}, "expected a pose: a 4x4 matrix, (r, R)"),
    "both": ({"r": PLACE, "R": np.eye(3), "quaternion": (1, 0, 0, 0)}, "expected a pose"),
    "other name of a rotation": ((PLACE, {"angle": 1}), "expected {'quaternion': (w, x, y, z)} or a rotation matrix"),
    "no last row": (np.ones((4, 4)), "the last row of nominal is [1.0, 1.0, 1.0, 1.0], expected [0, 0, 0, 1]"),
    "scaled": (np.diag([2.0, 2.0, 2.0, 1.0]), "R of nominal is not orthonormal"),
    "mirror": (np.diag([1.0, 1.0, -1.0, 1.0]), "R of nominal is left-handed"),
    "rotation alone": (TURN, "nominal has shape (3, 3), expected (4, 4) or another form of a pose"),
    "pose for a rotation": ((PLACE, homogeneous(PLACE, np.eye(3))), "R of nominal is a 4x4 matrix that also shifts"),
    "text": ("home", "nominal is 'home', expected (4, 4) or another form of a pose: (r, R)"),
    "many": (np.stack([np.eye(4)] * 2), "nominal has shape (2, 4, 4), expected (4, 4)"),
}


@pytest.mark.parametrize(("pose", "words"), BAD.values(), ids=BAD)
def test_what_is_no_pose_is_refused(pose, words):
    hx = zv.mechanisms.docking_ring("UPS")
    with pytest.raises(zv.ModelError) as caught:
        zv.Hexapod(hx.platform, hx.legs, nominal=pose)
    assert words in str(caught.value)


def test_a_link_has_a_pose_or_its_parts():
    for parts in ({"position": (0, 0, 0)}, {"rotation": np.eye(3)}):
        with pytest.raises(zv.ModelError, match="link 'a': pose is given and so is position or rotation"):
            zv.Link("a", pose=np.eye(4), **parts)


# ---- wrenches ---------------------------------------------------------------------------------------------------


@given(vectors, vectors, vectors, vectors, vectors)
def test_a_wrench_does_the_work_of_its_force_and_couple(r, turn, point, force, moment):
    """On every motion [v; w]: F . (v + w x (P - C)) + M . w, everything in base axes."""
    rotation = Rotation.from_rotvec(turn)
    R = rotation.as_matrix()
    wrench = zv.wrench_at(point, force, moment, r=r, R=R)
    for k in range(6):
        u = np.eye(6)[k]
        v, w = u[:3], R @ u[3:]
        work = force @ (v + np.cross(w, point - r)) + moment @ w
        assert abs(wrench @ u - work) < 1e-13
    same = zv.wrench_at(R.T @ (point - r), R.T @ force, R.T @ moment, axes="ring", R=rotation)
    np.testing.assert_allclose(same, wrench, rtol=0, atol=1e-13)


def test_wrenches_broadcast(rng):
    r, R = rng.uniform(-1, 1, (5, 3)), Rotation.from_rotvec(rng.uniform(-1, 1, (5, 3)))
    points, force = rng.uniform(-1, 1, (4, 1, 3)), rng.uniform(-1, 1, 3)
    for options in ({"axes": "base", "r": r}, {"axes": "ring"}):
        wrenches = zv.wrench_at(points, force, R=R, **options)
        assert wrenches.shape == (4, 5, 6)
        one = {key: x[2] if key == "r" else x for key, x in options.items()}
        np.testing.assert_array_equal(wrenches[3, 2], zv.wrench_at(points[3, 0], force, R=R.as_matrix()[2], **one))
    assert zv.wrench_at(np.zeros((0, 3)), force, R=np.eye(3), axes="ring").shape == (0, 6)


def test_a_contact_pushes_the_ring_as_its_parts_say():
    """Acceleration by a force at a hinge is that by the reaction of a massless rod there: it turns about the centre."""
    hx = zv.mechanisms.docking_ring("UPS")
    r, R = hx.nominal
    zero = np.zeros(6)
    through = hx.forward_dynamics(r, R, zero, zv.wrench_at(r, (100, 0, 0), r=r, R=R), zero).acceleration
    assert np.abs(through[3:]).max() < 1e-12 and through[0] > 0
    rim = hx.forward_dynamics(
        r, R, zero, zv.wrench_at(r + np.array([0, 0.6, 0]), (100, 0, 0), r=r, R=R), zero
    ).acceleration
    assert rim[5] < 0 and abs(rim[0] - through[0]) < 1e-12


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (((0, 0, 0), (1, 0, 0)), {}, "R is missing, expected the rotation of the ring"),
        (((0, 0, 0), (1, 0, 0)), {"R": np.eye(3)}, "r is missing, expected the centre of mass"),
        (((0, 0, 0), (1, 0, 0)), {"R": np.eye(3), "axes": "world"}, "axes is 'world', expected 'base' or 'ring'"),
        (((0, 0), (1, 0, 0)), {"R": np.eye(3), "axes": "ring"}, "point has shape (2,), expected (3,) or (..., 3)"),
        (((0, 0, 0), (1, 0, 1j)), {"R": np.eye(3), "axes": "ring"}, "force is (1, 0, 1j), expected numbers"),
        (((0, 0, 0), (1, 0, 0), "x"), {"R": np.eye(3), "axes": "ring"}, "moment is 'x', expected numbers"),
        (((0, 0, 0), (1, 0, 0)), {"R": np.eye(3), "r": (0, 0, np.nan)}, "r is [0.0, 0.0, nan], expected finite"),
        (((0, 0, 0), (1, 0, 0)), {"R": 2 * np.eye(3), "axes": "ring"}, "R is not orthonormal"),
        ((np.zeros((2, 3)), np.zeros((3, 3))), {"R": np.eye(3), "axes": "ring"}, "broadcast: point (2,), force (3,)"),
        (((1e300, 0, 0), (0, 1e300, 0)), {"R": np.eye(3), "axes": "ring"}, "too large to compute with"),
    ],
)  # fmt: skip
def test_wrong_wrenches_are_refused(arguments, options, words):
    with pytest.raises(ValueError) as caught:
        zv.wrench_at(*arguments, **options)
    assert str(caught.value).startswith("wrench_at: ") and words in str(caught.value)


def test_compiled_functions_take_a_rotation_in_every_form():
    ring = zv.mechanisms.docking_ring("UPS")
    turns = Rotation.from_rotvec([[0.05, -0.1, 0.08], [0.0, 0.02, 0.0]])
    quaternions, matrices = turns.as_quat(scalar_first=True), turns.as_matrix()
    for call in (ring.closure, ring.compile("closure"), ring.jacobian, ring.status):
        np.testing.assert_allclose(call(PLACE, {"quaternion": quaternions}), call(PLACE, matrices), rtol=0, atol=1e-14)
        np.testing.assert_allclose(
            call(PLACE, {"quaternion": quaternions[0]}), call(PLACE, turns[0]), rtol=0, atol=1e-14
        )
    for wrong in ({"quaternion": (0, 0, 0, 0)}, {"quat": (1, 0, 0, 0)}, {"quaternion": "abcd"}, {}):
        with pytest.raises((TypeError, ValueError), match=r"^closure: .*R"):
            ring.closure(PLACE, wrong)
