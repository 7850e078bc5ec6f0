"""Locked joints, parts of a chain, poses of all links, limits."""

import copy
import math
import pickle
import warnings

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_state
from helpers import OTHER, assert_close, urdf_files
from hypothesis import given
from hypothesis import strategies as st


def quietly(make, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        return make(*arguments, **keywords)


@pytest.fixture(scope="module")
def panda():
    path = next(path for name, path in urdf_files().items() if name.endswith("panda"))
    return quietly(zv.Chain.from_urdf, path)


# ---- locked joints -------------------------------------------------------------------------------------------------


@given(mechanisms(max_n=9), st.data())
def test_a_locked_chain_is_the_chain_with_these_joints_at_rest(made, data):
    chain, rng = made
    if chain.n < 2:
        return
    held = data.draw(st.sets(st.sampled_from(range(chain.n)), min_size=1, max_size=chain.n - 1))
    q, qd, qdd = random_state(rng, chain)
    qd[list(held)] = qdd[list(held)] = 0.0
    free = [i for i in range(chain.n) if i not in held]
    locked = quietly(chain.with_locked, {chain.joint_names[i]: q[i] for i in held})
    assert locked.joint_names == tuple(chain.joint_names[i] for i in free)
    assert locked.link_names == chain.link_names
    assert locked.total_mass == chain.total_mass
    n = chain.n
    small = q[free], qd[free], qdd[free]
    M = chain.mass_matrix(q)
    assert_close(locked.mass_matrix(q[free]), M[np.ix_(free, free)], n, scale=np.abs(M).max())
    tau = chain.inverse_dynamics(q, qd, qdd)
    scale = np.abs(tau).max() + np.abs(M).max() * np.abs(qdd).max()
    assert_close(locked.inverse_dynamics(*small), tau[free], n, scale=scale)
    for link in chain.link_names:
        assert_close(locked.pose(q[free], link), chain.pose(q, link), n, scale=1 + np.abs(chain.pose(q, link)).max())
    wrench = chain.base_wrench(q, qd, qdd)
    assert_close(locked.base_wrench(*small), wrench, n, scale=np.abs(wrench).max() + scale)


def joints_only(model):
    """A model with the frames of its joints and no others: reducing one with other frames crashes Pinocchio 3."""
    made = pin.Model()
    made.gravity = model.gravity
    for j in range(1, model.njoints):
        i = made.addJoint(model.parents[j], model.joints[j], model.jointPlacements[j], model.names[j])
        made.addJointFrame(i)
        made.appendBodyToJoint(i, model.inertias[j], pin.SE3.Identity())
    return made


@given(mechanisms(max_n=9, friction=False, spring=False, rotor=False), st.data())
def test_locked_chains_agree_with_the_reduced_models_of_pinocchio(made, data):
    chain, rng = made
    if chain.n < 2:
        return
    held = data.draw(st.sets(st.sampled_from(chain.joint_names), min_size=1, max_size=chain.n - 1))
    q, qd, qdd = random_state(rng, chain)
    where = dict(zip(chain.joint_names, q, strict=True))
    locked = quietly(chain.with_locked, {name: where[name] for name in held})
    twin = Twin(chain)
    model = joints_only(twin.model)
    small = Twin(locked, pin.buildReducedModel(model, [model.getJointId(name) for name in sorted(held)], twin._q(q)))
    free = [chain.joint_names.index(name) for name in locked.joint_names]
    state = q[free], qd[free], qdd[free]
    assert_close(locked.mass_matrix(state[0]), small.mass_matrix(state[0]), chain.n, ulps=OTHER)
    assert_close(locked.inverse_dynamics(*state), small.inverse_dynamics(*state), chain.n, ulps=OTHER)


@pytest.mark.parametrize("robot", ["talos_reduced", "pr2", "panda"])
def test_locked_robots_agree_with_the_reduced_models_of_pinocchio(robot, rng):
    path = next(path for name, path in urdf_files().items() if name.endswith(f"-{robot}"))
    chain = quietly(zv.Chain.from_urdf, path, snap=0)
    q, qd, qdd = random_state(rng, chain)
    held = sorted(rng.choice(chain.n, chain.n // 2, replace=False).tolist())
    locked = quietly(chain.with_locked, {chain.joint_names[i]: q[i] for i in held})
    twin = Twin(chain, pin.buildModelFromUrdf(str(path)))
    ids = [twin.model.getJointId(chain.joint_names[i]) for i in held]
    small = Twin(locked, pin.buildReducedModel(twin.model, ids, twin._q(q)))
    free = [i for i in range(chain.n) if i not in held]
    state = q[free], qd[free], qdd[free]
    assert_close(locked.mass_matrix(state[0]), small.mass_matrix(state[0]), chain.n, ulps=OTHER)
    assert_close(locked.inverse_dynamics(*state), small.inverse_dynamics(*state), chain.n, ulps=OTHER)


def test_a_panda_with_held_fingers_has_seven_joints(panda):
    fingers = ("panda_finger_joint1", "panda_finger_joint2")
    arm = panda.with_locked(dict.fromkeys(fingers, 0.04))
    assert arm.n == 7 and arm.total_mass == panda.total_mass
    q = np.linspace(-1, 1, 7)
    full = np.append(q, [0.04, 0.04])
    for link in ("panda_leftfinger", "panda_hand_tcp"):
        np.testing.assert_allclose(arm.pose(q, link), panda.pose(full, link), rtol=0, atol=1e-15)
    assert arm.with_locked({}) == arm
    finger = next(link for link in arm.links if link.name == "panda_leftfinger")
    assert (finger.joint, finger.joint_name, finger.upper) == ("fixed", fingers[0], math.inf)


def test_right_angles_about_coordinate_axes_stay_exact():
    arm = zv.robots.two_link().with_locked({"lower_joint": math.pi / 2})
    assert set(np.abs(arm.links[1].rotation).ravel().tolist()) == {0.0, 1.0}


def test_rotors_springs_and_friction_of_locked_joints_are_gone():
    rod = {"mass": 1.0, "com": (0.5, 0, 0)}
    springy = {"rotor_inertia": 1.0, "friction": 2.0, "stiffness": 3.0, "rest": 4.0, "lower": -1, "upper": 1}
    chain = zv.Chain([zv.Link("a", **rod), zv.Link("b", position=(1, 0, 0), **rod, **springy)])
    locked = chain.with_locked({"b_joint": 0.3})
    assert not any(getattr(locked.links[1], key) for key in ("rotor_inertia", "friction", "stiffness", "rest"))
    assert zv.Chain.from_dict(locked.to_dict()) == locked == pickle.loads(pickle.dumps(locked))


def test_rotations_within_the_tolerance_of_the_builder_are_made_exact_first():
    R = np.eye(3) + 2e-7 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    rod = {"mass": 1.0, "com": (0.5, 0, 0)}
    slide = zv.Link("b", joint="prismatic", axis=(1, 1, 0), rotation=R, **rod)
    chain = zv.Chain([zv.Link("a", **rod), slide])
    locked = chain.with_locked({"b_joint": 100.0})
    np.testing.assert_allclose(locked.pose([0.4], "b"), chain.pose([0.4, 100.0], "b"), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ({"panda_finger_jiont1": 0}, r"no moving joint 'panda_finger_jiont1'; did you mean 'panda_finger_joint1'\?"),
        ({"panda_leftfinger": 0}, r"'panda_leftfinger'; the joint of this link is 'panda_finger_joint1'"),
        ({"x" * 10**6: 0}, r"no moving joint 'x{50,60}\.\.\. for chain"),
        ({"panda_joint8": 0}, "no moving joint 'panda_joint8'"),
        ({3: 0}, "no moving joint 3"),
        ({"panda_joint1": math.nan}, "position of joint 'panda_joint1' is nan"),
        ({"panda_joint1": "x"}, "position of joint 'panda_joint1' is 'x', expected a number"),
        ({"panda_joint1": True}, "is True, expected a number"),
        (["panda_joint1"], r"joints is \['panda_joint1'\], expected a dictionary"),
    ],
)
def test_what_cannot_be_locked_is_refused_by_name(panda, joints, message):
    with pytest.raises(zv.ModelError, match=f"^with_locked: .*{message}"):
        panda.with_locked(joints)


def test_one_joint_must_be_left():
    arm = zv.robots.two_link()
    with pytest.raises(zv.ModelError, match="all 2 joints are locked, expected one that moves"):
        arm.with_locked(dict.fromkeys(arm.joint_names, 0.0))


# ---- parts ---------------------------------------------------------------------------------------------------------


def test_a_subchain_is_the_way_to_a_link(panda):
    arm = panda.subchain(to="panda_hand")
    assert arm.n == 7 and arm.link_names[-1] == "panda_hand" and "panda_leftfinger" not in arm.link_names
    q = np.linspace(-1, 1, 7)
    assert_close(arm.pose(q, "panda_hand"), panda.pose(np.append(q, [0, 0]), "panda_hand"), 7)
    fingers = sum(link.mass for link in panda.links if "finger" in link.name)
    assert arm.total_mass == pytest.approx(panda.total_mass - fingers)


@given(mechanisms(max_n=9), st.data())
def test_a_part_of_a_chain_moves_as_in_the_whole(made, data):
    chain, rng = made
    moving = [link for link in chain.links if link.joint != "fixed"]
    to = data.draw(st.sampled_from(moving)).name
    q, _, _ = random_state(rng, chain)
    part = quietly(chain.subchain, to)
    kept = [chain.joint_names.index(name) for name in part.joint_names]
    assert_close(part.pose(q[kept], to), chain.pose(q, to), chain.n, scale=1 + np.abs(chain.pose(q, to)).max())
    parents = {link.name: link.parent for link in chain.links}
    way = [to]
    while parents[way[-1]] != chain.base_name:
        way.append(parents[way[-1]])
    assert set(part.link_names) == set(way)
    base = parents[to]
    wrist = quietly(chain.subchain, to, base=base)
    assert (wrist.base_name, wrist.n) == (base, 1)
    i = chain.joint_names.index(wrist.joint_names[0])
    relative = np.linalg.inv(chain.pose(q, base)) @ chain.pose(q, to)
    assert_close(wrist.pose(q[[i]], to), relative, chain.n, scale=1 + np.abs(chain.pose(q, to)).max())
    turn = chain.pose(np.zeros(chain.n), base)[:3, :3]
    assert_close(turn @ wrist.gravity, chain.gravity, chain.n)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": "panda_hnad"}, r"to: no link 'panda_hnad'; did you mean 'panda_hand'\?"),
        ({"to": 3}, "to: no link 3"),
        ({"to": ["panda_hand"]}, r"to: no link \['panda_hand'\]"),
        ({"to": "panda_hand", "base": "panda_lnik0"}, "base: no link 'panda_lnik0'; did you mean 'panda_link0'"),
        ({"to": "panda_link3", "base": "panda_link5"}, "base 'panda_link5' does not carry the link 'panda_link3'"),
        ({"to": "panda_hand", "base": "panda_link7"}, "no joint moves between 'panda_link7' and 'panda_hand'"),
        ({"to": "panda_link0"}, "no joint moves between"),
    ],
)
def test_what_is_no_part_is_refused_by_name(panda, arguments, message):
    with pytest.raises(zv.ModelError, match=f"^subchain: .*{message}"):
        panda.subchain(**arguments)


# ---- poses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,)])
def test_all_poses_are_those_of_the_links(tree, rng, batch):
    q, _, _ = random_state(rng, tree, batch)
    poses = tree.poses(q)
    assert tuple(poses) == poses.names == tree.link_names and len(poses) == len(tree.links)
    assert poses.positions.shape == (*batch, len(poses), 3) and poses.rotations.shape == (*batch, len(poses), 3, 3)
    for i, (link, T) in enumerate(poses.items()):
        expected = tree.pose(q, link)
        np.testing.assert_array_equal(T, expected)
        np.testing.assert_array_equal(poses.positions[..., i, :], expected[..., :3, 3])
        np.testing.assert_array_equal(poses.rotations[..., i, :, :], expected[..., :3, :3])
    assert f"LinkPoses of {len(poses)} links" in repr(poses)
    again = pickle.loads(pickle.dumps(poses))
    np.testing.assert_array_equal(copy.deepcopy(again).matrices, poses.matrices)


def test_poses_refuse_as_pose_does(tree):
    with pytest.raises(ValueError, match="poses: q has shape"):
        tree.poses(np.zeros(tree.n + 1))
    with pytest.raises(KeyError, match="did you mean 'tool'"):
        tree.poses(np.zeros(tree.n))["tol"]


# ---- limits --------------------------------------------------------------------------------------------------------


def limited():
    body = {"mass": 1.0, "com": (0.1, 0, 0)}
    return zv.Chain(
        [
            zv.Link("a", lower=-1, upper=2, velocity=3, effort=4, **body),
            zv.Link("b", joint="prismatic", lower=0, upper=0.5, **body),
            zv.Link("c", **body),
        ]
    )


def test_limits_are_told_for_states_and_joints():
    arm = limited()
    inside = arm.within_limits([2, 0, 1e9])
    assert inside is True
    assert arm.within_limits([2, 0, 0], [3, 1e9, 0], [-4, 1e9, 0]) is True
    assert arm.within_limits([2.0000001, 0, 0]) is False
    assert arm.within_limits([0, 0, 0], qd=[-3.1, 0, 0]) is False
    assert arm.within_limits([0, 0, 0], tau=[4.1, 0, 0]) is False
    q = np.array([[[-1, 0, 0], [-1.1, 0.6, 0]], [[0, -1e-9, 0], [0, 0, 0]]])
    np.testing.assert_array_equal(arm.within_limits(q), [[True, False], [False, True]])
    per_joint = arm.within_limits(q, per_joint=True)
    np.testing.assert_array_equal(per_joint[0, 1], [False, False, True])
    np.testing.assert_array_equal(per_joint.all(-1), arm.within_limits(q))
    rates = np.array([0.0, 5.0])[:, None, None] * np.ones((2, 1, 3))  # broadcast with q
    np.testing.assert_array_equal(arm.within_limits(q, rates), [[True, False], [False, False]])
    assert arm.within_limits(np.zeros((0, 3))).shape == (0,)


@given(mechanisms(max_n=5))
def test_a_chain_without_limits_allows_everything(made):
    chain, rng = made
    assert chain.within_limits(*random_state(rng, chain)) is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0],), r"q has shape \(2,\), expected \(3,\) or \(\.\.\., 3\)"),
        ((0.0,), r"q has shape \(\)"),
        (([0, 0, math.nan],), r"q is .*expected finite numbers"),
        (("abc",), "q is .abc., expected numbers of shape"),
        ((["a", "b", "c"],), "q is .*expected numbers"),
        (([0, 0, 0], [0, 0]), r"qd has shape \(2,\)"),
        (([0, 0, 0], None, [[0]]), r"tau has shape \(1, 1\)"),
        ((np.zeros((2, 3)), np.zeros((3, 3))), r"qd has shape \(3, 3\), which does not broadcast with \(2, 3\)"),
    ],
)
def test_states_that_are_none_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^within_limits: .*{message}"):
        limited().within_limits(*arguments)
