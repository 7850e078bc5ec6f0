"""Angles, quaternions and rotation vectors: inverse to each other, and the same numbers as SciPy."""

import math
import warnings

import numpy as np
import pytest
import zveno as zv
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

o = zv.orientation
RANDOM = Rotation.random(2000, random_state=5)
M = RANDOM.as_matrix()
angle = st.floats(-10, 10)


def same(got, want, atol=4e-15):
    np.testing.assert_allclose(got, want, rtol=0, atol=atol)


# ---- SciPy ---------------------------------------------------------------------------------------------------------


def test_matrices_are_those_of_scipy():
    same(o.from_pyr(RANDOM.as_euler("XYZ")), M)
    same(o.from_quaternion(RANDOM.as_quat(scalar_first=True)), M)
    same(o.from_quaternion(RANDOM.as_quat(), scalar_first=False), M)
    same(o.from_rotation_vector(RANDOM.as_rotvec()), M)


@pytest.mark.parametrize("form", [M, RANDOM], ids=["matrix", "Rotation"])
def test_numbers_of_a_rotation_are_those_of_scipy(form):
    same(o.to_pyr(form), RANDOM.as_euler("XYZ"), atol=2e-13)
    same(o.to_quaternion(form), RANDOM.as_quat(canonical=True, scalar_first=True))
    same(o.to_quaternion(form, scalar_first=False), RANDOM.as_quat(canonical=True))
    same(o.to_rotation_vector(form), RANDOM.as_rotvec())


@pytest.mark.parametrize("shape", [(), (1,), (5, 2), (0,)])
def test_any_leading_shape_is_kept(shape):
    n = int(np.prod(shape))
    R = M[:n].reshape(*shape, 3, 3) if shape else M[0]
    for to, back in (
        (o.to_pyr, o.from_pyr),
        (o.to_quaternion, o.from_quaternion),
        (o.to_rotation_vector, o.from_rotation_vector),
    ):
        numbers = to(R)
        assert numbers.shape == (*shape, 4 if to is o.to_quaternion else 3)
        same(back(numbers), R)
    assert o.is_gimbal_locked(R).shape == shape
    assert o.pose(np.zeros(3), R).shape == (*shape, 4, 4)


def test_one_quaternion_may_stand_for_a_matrix():
    q = RANDOM[0].as_quat(scalar_first=True)
    same(o.to_pyr({"quaternion": q}), RANDOM[0].as_euler("XYZ"))


def test_poses_take_every_form():
    r, R = np.array([1.0, 2, 3]), M[0]
    rigid = RigidTransform.from_components(r, RANDOM[0])
    T = rigid.as_matrix()
    for form in ((r, R), (r, RANDOM[0]), (T,), (rigid,), ({"r": r, "R": R},), ((r, R),)):
        same(o.pose(*form), T)
    many = RigidTransform.from_components(np.tile(r, (4, 1)), RANDOM[:4])
    same(o.pose(many), many.as_matrix())
    same(o.pose(r, M[:4]), many.as_matrix())


# ---- there and back ------------------------------------------------------------------------------------------------


@given(angle, angle, angle)
def test_angles_come_back_or_as_the_other_triple(P, Y, R):
    matrix = o.from_pyr([P, Y, R])
    found = o.to_pyr(matrix)
    same(o.from_pyr(found), matrix, atol=2e-9 if o.is_gimbal_locked(matrix) else 1e-14)
    assert abs(found[1]) <= math.pi / 2 and (np.abs(found) <= math.pi).all()
    other = o.other_pyr(found)
    same(o.from_pyr(other), o.from_pyr(found), atol=1e-14)
    assert (np.abs(other) <= math.pi + 1e-15).all()
    if abs(math.cos(Y)) > 1e-4:
        turns = np.array([[P, Y, R], [P + math.pi, math.pi - Y, R + math.pi]]) - found
        assert np.abs(np.sin(turns / 2)).max(axis=1).min() < 1e-9


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3), st.floats(0, math.pi))
def test_rotation_vectors_come_back(direction, size):
    direction = np.array(direction)
    if np.linalg.norm(direction) < 1e-3:
        return
    vector = direction / np.linalg.norm(direction) * size
    found = o.to_rotation_vector(o.from_rotation_vector(vector))
    if size > math.pi - 1e-9 and found @ vector < 0:
        found = -found
    same(found, vector, atol=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-12, 1e-7, 1e-3, 3.14159, math.pi - 1e-9, math.pi])
def test_rotation_vectors_are_accurate_from_the_smallest_angle_to_pi(size):
    vector = np.array([0.6, 0, -0.8]) * size
    found = o.to_rotation_vector(o.from_rotation_vector(vector))
    np.testing.assert_allclose(found, vector, rtol=1e-13, atol=1e-14 if size > 3 else 0)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4))
def test_quaternions_come_back_with_a_positive_scalar(numbers):
    q = np.array(numbers)
    if np.linalg.norm(q) < 1e-3:
        return
    q /= np.linalg.norm(q)
    found = o.to_quaternion(o.from_quaternion(q))
    assert found[0] >= 0
    same(found * np.sign(found @ q), q, atol=1e-14)


# ---- gimbal lock ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("Y", [math.pi / 2, -math.pi / 2])
@pytest.mark.parametrize("previous", [0.0, 0.7, -2.0])
def test_at_gimbal_lock_p_is_zero_or_the_previous_one(Y, previous):
    R = o.from_pyr([0.4, Y, -1.1])
    assert o.is_gimbal_locked(R)
    P, found, last = o.to_pyr(R, previous)
    assert previous == P and found == pytest.approx(Y, abs=1e-15)
    only = 0.4 - 1.1 if Y > 0 else -1.1 - 0.4  # P + R, or R - P
    assert math.sin((last + math.copysign(P, P * Y) - only) / 2) == pytest.approx(0, abs=1e-15)
    same(o.from_pyr([P, found, last]), R)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        third_is_zero = Rotation.from_matrix(R).as_euler("XYZ")  # the other choice of the same freedom
    same(o.from_pyr(third_is_zero), R, atol=1e-14)


def test_previous_is_taken_only_where_it_is_needed():
    R = o.from_pyr([[0.4, math.pi / 2, 0], [0.4, 0.3, 0.2]])
    found = o.to_pyr(R, previous=[0.1, 0.1])
    same(found[:, 0], (0.1, 0.4))
    assert not np.isnan(found).any()


@pytest.mark.parametrize("near", [1e-3, 1e-6, 1e-8])
def test_near_gimbal_lock_the_rotation_still_comes_back(near):
    R = o.from_pyr([0.4, math.pi / 2 - near, -1.1])
    same(o.from_pyr(o.to_pyr(R)), R, atol=1e-14)


def test_right_angles_give_exact_zeros_and_ones():
    quarters = np.stack(np.meshgrid(*[np.arange(-4, 5) * math.pi / 2] * 3), axis=-1).reshape(-1, 3)
    R = o.from_pyr(quarters)
    assert set(np.unique(R).tolist()) == {-1.0, 0.0, 1.0}
    assert not np.signbit(R[R == 0]).any()


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: o.from_pyr([1, 2]), r"from_pyr: angles has shape \(2,\), expected \(3,\) or \(..., 3\)"),
        (lambda: o.from_pyr("abc"), "from_pyr: angles is 'abc', expected numbers"),
        (lambda: o.from_pyr([0, math.nan, 0]), "from_pyr: angles is .*, expected finite numbers"),
        (lambda: o.to_pyr(2 * np.eye(3)), "to_pyr: R is not orthonormal"),
        (lambda: o.to_pyr(np.diag([1.0, 1, -1])), "to_pyr: R is left-handed"),
        (lambda: o.to_pyr(np.eye(2)), r"to_pyr: R has shape \(2, 2\)"),
        (lambda: o.to_pyr([1, 0, 0, 0]), "to_pyr: R is .*four numbers may be scalar first or last"),
        (lambda: o.to_pyr(np.eye(3), previous="P"), "to_pyr: previous is 'P'"),
        (lambda: o.to_pyr(M[:3], previous=[0, 0]), "to_pyr: leading shapes of the arguments do not broadcast"),
        (lambda: o.other_pyr(3), "other_pyr: angles has shape"),
        (lambda: o.is_gimbal_locked(np.ones((3, 3))), "is_gimbal_locked: R is not orthonormal"),
        (
            lambda: o.from_quaternion([1, 1, 0, 0]),
            "from_quaternion: quaternion has a length that differs from 1 by 0.414",
        ),
        (lambda: o.from_quaternion([1, 0, 0]), r"from_quaternion: quaternion has shape \(3,\)"),
        (lambda: o.from_quaternion([1, 0, 0, 0], scalar_first="no"), "scalar_first is 'no', expected True or False"),
        (lambda: o.to_quaternion(np.zeros((3, 3))), "to_quaternion: R is not orthonormal"),
        (lambda: o.from_rotation_vector(np.eye(4)), r"from_rotation_vector: vector has shape \(4, 4\)"),
        (lambda: o.to_rotation_vector("R"), "to_rotation_vector: R is 'R'"),
        (lambda: o.pose(np.eye(3)), r"pose: r has shape \(3, 3\), expected \(4, 4\)"),
        (lambda: o.pose((0, 0), np.eye(3)), r"pose: r has shape \(2,\)"),
        (lambda: o.pose(np.zeros((2, 3)), M[:3]), "pose: leading shapes"),
    ],
)
def test_the_message_names_function_and_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()
