"""Poses, Jacobians and their rates."""

import helpers
import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import AXES, Twin
from engines.random_mechanisms import copy_link, mechanisms, random_state
from helpers import DIFFERENCE, OTHER, assert_close, derivative
from hypothesis import given


def check_against_twin(chain, twin, rng, links):
    q, qd, _ = random_state(rng, chain)
    point = rng.uniform(-0.5, 0.5, 3)
    for link in links:
        pose = twin.pose(q, link)
        reach = 1.0 + np.abs(pose).max()
        assert_close(chain.pose(q, link), pose, chain.n, ulps=OTHER)
        for frame in AXES:
            for at in (None, point):
                args = {"point": at, "frame": frame}
                assert_close(chain.jacobian(q, link, **args), twin.jacobian(q, link, **args), chain.n, ulps=OTHER)
                rate = twin.jacobian_rate(q, qd, link, **args)
                scale = reach * (1.0 + np.abs(qd).sum())
                assert_close(chain.jacobian_rate(q, qd, link, **args), rate, chain.n, ulps=OTHER, scale=scale)


@given(mechanisms())
def test_kinematics_agrees_with_pinocchio_on_random_chains(mechanism):
    chain, rng = mechanism
    check_against_twin(chain, Twin(chain), rng, rng.permutation(chain.link_names)[:4].tolist())


@pytest.mark.parametrize("name", helpers.urdf_files())
def test_kinematics_agrees_with_pinocchio_on_urdf(name, rng):
    chain, twin = helpers.urdf_chain(name), helpers.urdf_twin(name)
    check_against_twin(chain, twin, rng, [chain.link_names[-1], *rng.permutation(chain.link_names)[:3].tolist()])


@given(mechanisms(max_n=8))
def test_jacobian_maps_rates_to_the_twist_of_the_moving_pose(mechanism):
    chain, rng = mechanism
    q, qd, _ = random_state(rng, chain)
    link, point = str(rng.choice(chain.link_names)), rng.uniform(-1, 1, 3)
    pose, pose_rate = chain.pose(q, link), derivative(lambda t: chain.pose(q + t * qd, link))
    v, w = np.split(chain.jacobian(q, link, point) @ qd, 2)
    spin = pose_rate[:3, :3] @ pose[:3, :3].T
    scale = 1.0 + np.abs(pose_rate).max()
    assert_close(v, pose_rate[:3, :3] @ point + pose_rate[:3, 3], chain.n, ulps=DIFFERENCE, scale=scale)
    assert_close(w, np.array([spin[2, 1], spin[0, 2], spin[1, 0]]), chain.n, ulps=DIFFERENCE, scale=scale)


@given(mechanisms(max_n=8))
def test_jacobian_rate_is_the_time_derivative_of_the_jacobian(mechanism):
    chain, rng = mechanism
    q, qd, _ = random_state(rng, chain)
    link, point = str(rng.choice(chain.link_names)), rng.uniform(-1, 1, 3)
    for frame in AXES:
        moving = derivative(lambda t, frame=frame: chain.jacobian(q + t * qd, link, point, frame))
        rate = chain.jacobian_rate(q, qd, link, point, frame)
        assert_close(rate, moving, chain.n, ulps=DIFFERENCE, scale=1.0 + np.abs(moving).max())


def test_link_frame_jacobian_is_the_world_jacobian_in_link_axes(tree, rng):
    q, _, _ = random_state(rng, tree)
    for link in tree.link_names:
        R_WB = tree.pose(q, link)[:3, :3]
        turned = np.concatenate([R_WB @ block for block in np.split(tree.jacobian(q, link, frame="link"), 2)])
        assert_close(turned, tree.jacobian(q, link), tree.n)


def test_poses_are_rigid_displacements(tree, rng):
    q, _, _ = random_state(rng, tree, (50,))
    for link in tree.link_names:
        pose = tree.pose(q, link)
        R_WB = pose[:, :3, :3]
        assert_close(R_WB @ np.swapaxes(R_WB, 1, 2), np.broadcast_to(np.eye(3), R_WB.shape), tree.n)
        assert_close(np.linalg.det(R_WB), np.ones(50), tree.n)
        assert np.array_equal(pose[:, 3], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (50, 4)))


def test_links_may_be_listed_in_any_order(tree, rng):
    shuffled = zv.Chain([tree.links[i] for i in rng.permutation(len(tree.links))], gravity=tree.gravity)
    index = [tree.joint_names.index(name) for name in shuffled.joint_names]
    q, qd, qdd = random_state(rng, tree)
    tau = shuffled.inverse_dynamics(q[index], qd[index], qdd[index])
    assert_close(tau, tree.inverse_dynamics(q, qd, qdd)[index], tree.n)
    for link in tree.link_names:
        assert_close(shuffled.pose(q[index], link), tree.pose(q, link), tree.n)
        assert_close(shuffled.jacobian(q[index], link), tree.jacobian(q, link)[:, index], tree.n)


@pytest.mark.parametrize("tilt", [0.0, 1e-15, 1e-12, 1e-9, 1e-8, 1e-7, 1e-3])
@pytest.mark.parametrize("main", [0, 1, 2])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_axis_close_to_a_coordinate_axis_keeps_its_direction(tilt, main, sign):
    axis = sign * np.roll([1.0, tilt, -tilt], main)
    links = [zv.Link("near", axis=axis, mass=1.0), zv.Link("slide", joint="prismatic", axis=axis, mass=1.0)]
    chain = zv.Chain(links)
    q = np.array([2.5, 1.5])
    for link in ("near", "slide"):
        assert_close(chain.pose(q, link), Twin(chain).pose(q, link), 2)
    unit = axis / np.linalg.norm(axis)
    assert_close(chain.jacobian(q, "slide")[:3, 1], unit, 2)
    assert_close(chain.jacobian(q, "slide")[3:, 0], unit, 2)
    # rotations that are nearly, but not quite, a coordinate turn
    R = helpers.pin.exp3(sign * tilt * np.roll([0.0, 1.0, 0.5], main))
    placed = zv.Chain([copy_link(links[0], rotation=R), links[1]])
    assert_close(placed.pose(q, "slide"), Twin(placed).pose(q, "slide"), 2)
