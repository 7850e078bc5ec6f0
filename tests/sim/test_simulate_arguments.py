"""Arguments of `simulate`: whole poses, and words that it does not know."""

import inspect
import re

import numpy as np
import pytest
import zveno as zv
from scipy.spatial.transform import RigidTransform, Rotation
from zveno import laws
from zveno.sim.simulation import simulate

SOFT = laws.SpringDamper(400.0, 80.0)
PUSH = [-0.05, 0.03, 0.02, 0.1, -0.08, 0.06]


def ring():
    return zv.mechanisms.docking_ring("UPS")


def poses(count):
    rng = np.random.default_rng(7)
    r = ring().nominal[0] + rng.uniform(-0.02, 0.02, (count, 3))
    return r, Rotation.from_rotvec(rng.uniform(-0.1, 0.1, (count, 3))).as_matrix()


def homogeneous(r, R):
    T = np.zeros((*r.shape[:-1], 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, r, 1.0
    return T


def same(one, other):
    return all((a == b).all() for a, b in zip(one.to_dict().values(), other.to_dict().values(), strict=True))


def test_whole_poses_start_where_place_and_rotation_do():
    (r,), (R,) = poses(1)
    want = ring().simulate(0.02, 1e-3, r=r, R=R, u=PUSH, laws=SOFT)
    forms = {
        "matrix": homogeneous(r, R),
        "list": homogeneous(r, R).tolist(),
        "SciPy": RigidTransform.from_matrix(homogeneous(r, R)),
        "pair": (r, R),
        "pair of lists": (r.tolist(), R.tolist()),
        "dictionary": {"r": r, "R": R},
    }
    for name, pose in forms.items():
        got = ring().simulate(0.02, 1e-3, r=pose, u=PUSH, laws=SOFT)
        assert np.abs(got.r - want.r).max() < 1e-12 and np.abs(got.R - want.R).max() < 1e-12, name
        assert name == "SciPy" or same(got, want), name
    turned = ring().simulate(
        0.02, 1e-3, r={"r": r, "quaternion": np.roll(Rotation.from_matrix(R).as_quat(), 1)}, u=PUSH
    )
    assert np.abs(turned.R[0] - R).max() < 1e-14


def test_poses_have_leading_dimensions():
    r, R = poses(3)
    want = ring().simulate(0.02, 1e-3, r=r, R=R, u=PUSH, laws=SOFT, threads=1)
    for pose in (homogeneous(r, R), RigidTransform.from_matrix(homogeneous(r, R)), (r, R)):
        got = ring().simulate(0.02, 1e-3, r=pose, u=PUSH, laws=SOFT, threads=2)
        assert got.shape == (3,) and np.abs(got.r - want.r).max() < 1e-12
    alone = ring().simulate(0.02, 1e-3, r=homogeneous(r, R)[1], u=PUSH, laws=SOFT)
    assert same(ring().simulate(0.02, 1e-3, r=homogeneous(r, R), u=PUSH, laws=SOFT, threads=1)[1], alone)
    assert ring().simulate(0.02, 1e-3, r=r[:2].tolist(), laws=SOFT, threads=1).shape == (2,)  # places, no pose


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"r": np.eye(4), "R": np.eye(3)}, "simulate: r is a whole pose, array([[1., 0.,"),
        ({"r": np.eye(4), "quaternion": [1, 0, 0, 0]}, "and quaternion is given too"),
        ({"r": 2 * np.eye(4)}, "simulate: the last row of pose is [0.0, 0.0, 0.0, 2.0], expected [0, 0, 0, 1]"),
        ({"r": np.diag([1.0, 2.0, 1.0, 1.0])}, "simulate: R is not orthonormal"),
        ({"r": {"place": 1}}, "simulate: pose is {'place': 1}, expected a pose"),
        ({"r": np.zeros(4)}, "simulate: r has shape (4,), expected (3,)"),
        ({"r": Rotation.identity()}, "simulate: pose has shape (3, 3), expected (4, 4)"),
        ({"r": "here"}, "simulate: r is 'here', expected"),
    ],
)
def test_what_is_no_pose_is_refused(changes, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        ring().simulate(0.02, 1e-3, **changes)


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("law", "laws"), ("forces", "laws"), ("step", "dt"), ("timestep", "dt"), ("external", "wrench"),
        ("Wrench", "wrench"), ("torque", "tau"), ("solver", "method"), ("n_jobs", "threads"), ("pose", "r"),
        ("velocity", "u"), ("base_motoin", "base_motion"), ("duration", "t_end"), ("on_eror", "on_error"),
    ],
)  # fmt: skip
def test_hexapods_tell_their_word(word, ours):
    given = {"t_end": 0.02, "dt": 1e-3}
    given.pop(ours, None)  # a missing one does not hide it
    with pytest.raises(TypeError) as caught:
        ring().simulate(**given, **{word: 5})
    start = (
        f"simulate: unknown argument {word} = 5; did you mean '{ours}'? There are t_end, dt, r, R, quaternion, u, laws"
    )
    assert str(caught.value).startswith(start) and str(caught.value).endswith("check_step, threads")


@pytest.mark.parametrize(
    ("word", "ours"),
    [("law", "laws"), ("wrench", "external"), ("fext", "external"), ("q0", "q"), ("dq", "qd"), ("torques", "tau"),
     ("controller", "laws"), ("step", "dt"), ("h", "dt"), ("externals", "external")],
)  # fmt: skip
def test_chains_tell_their_word(word, ours):
    with pytest.raises(TypeError) as caught:
        zv.robots.two_link().simulate(0.02, **{word: np.zeros(2)})
    start = (
        f"simulate: unknown argument {word} = array([0., 0.]); did you mean '{ours}'? There are t_end, dt, q, qd, tau"
    )
    assert str(caught.value).startswith(start)


def test_a_word_that_nobody_knows_is_shown_what_there_is():
    for model in (ring(), zv.robots.two_link()):
        with pytest.raises(TypeError, match=r"^simulate: unknown argument zzz = 'x+\.\.\.; there are t_end, dt, "):
            model.simulate(0.02, 1e-3, zzz="x" * 1000)


def test_the_signature_stays_that_of_the_function():
    for function in (zv.Hexapod.simulate, zv.Chain.simulate):
        names = list(inspect.signature(function).parameters)
        assert names[1:3] == ["t_end", "dt"] and names[-1] == "threads"
        assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
        assert "Parameters" in function.__doc__ and function.__name__.startswith("simulate")
    assert zv.Hexapod.simulate is simulate


@pytest.mark.parametrize("key", ["tau", "laws"])
def test_classes_and_controllers_without_a_reference_are_refused(key):
    arm = zv.robots.two_link()
    with pytest.raises(ValueError, match=f"{key} is the class SpringDamper, expected an object of it"):
        arm.simulate(0.01, 1e-3, **{key: zv.laws.SpringDamper})
    control = zv.control.ComputedTorque(arm, 100.0, 20.0)
    with pytest.raises(ValueError, match=rf"{key} is a ComputedTorque without a reference, expected what its follow\("):
        arm.simulate(0.01, 1e-3, **{key: control})
    run = arm.simulate(0.01, 1e-3, **{key: control.follow(lambda t: np.zeros(2))})
    assert len(run) == 11
