"""Forces in the joints, loads at points, payloads: the numbers of the textbook, and bodies that are really there."""

import numpy as np
import pytest
import zveno as zv
from arms import RP
from engines.pinocchio import Twin
from engines.random_mechanisms import random_chain, random_state


def test_the_revolute_prismatic_arm_gives_the_printed_digits():
    arm = zv.Chain.from_textbook(**RP)
    q, qd, qdd = [0.6, 0.25], [1.2, -0.4], [0.7, 1.5]
    f = arm.joint_forces(q, qd, qdd, frame="world", about="joint")
    np.testing.assert_array_equal(
        np.hstack([f.force, f.moment]).round(9),
        [
            [-0.771761073, -3.783877764, 63.765, 0.267701014, -7.002472125, -0.679905],
            [-0.426772442, -3.926855680, 24.525, -2.606280900, -2.493212284, -0.403425],
        ],
    )
    np.testing.assert_array_equal(f.tau.round(9), [-0.679905, 3.0])
    load = zv.PointLoad("tool", (3, -2, 5), (0.1, 0.2, -0.3), (0, 0, 0.1))
    np.testing.assert_array_equal(arm.joint_forces(q, qd, qdd, load).tau.round(9), [-0.786142179, -0.344598650])
    for method in ("leskov", "leskov-link"):
        np.testing.assert_array_equal(arm.mass_matrix(q, method=method).round(9), [[0.18585, -0.3], [-0.3, 2.5]])
        np.testing.assert_array_equal(arm.with_gravity((0, 0, 0)).bias(q, qd, method=method).round(9), [-0.36, -0.54])


def test_link_and_world_axes_are_the_same_vectors(rng):
    chain = random_chain(rng, 6)
    state = random_state(rng, chain, (5,))
    for about in ("link", "joint"):
        a, b = (chain.joint_forces(*state, frame=frame, about=about) for frame in ("link", "world"))
        for j, name in enumerate(link.name for link in chain.links if link.joint != "fixed"):
            R = chain.pose(state[0], name)[:, :3, :3]
            for x, y in ((a.force, b.force), (a.moment, b.moment)):
                np.testing.assert_allclose((R @ x[:, j, :, None])[..., 0], y[:, j], atol=1e-9 * np.abs(y).max())
    twin = Twin(chain)
    want = twin.reactions(*(x[0] for x in state))
    got = chain.joint_forces(*(x[0] for x in state))
    np.testing.assert_allclose(np.hstack([got.force, got.moment]), want, atol=1e-10 * np.abs(want).max())


def test_a_weight_at_a_point_is_a_body_that_is_there(rng):
    chain = random_chain(rng, 6, branching=True)
    q = random_state(rng, chain, (4,))[0]
    point, name = np.array([0.1, -0.2, 0.3]), chain.link_names[-1]
    hung = chain.statics(q, zv.PointLoad(name, mass=3.0, point=point))
    body = zv.Link("body", parent=name, joint="fixed", position=point, mass=3.0)
    real = zv.Chain([*chain.links, body], gravity=chain.gravity).statics(q)
    for a, b in zip(hung, real, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10 * np.abs(b).max())
    # the same force in link axes, and in two parts
    R = chain.pose(q, name)[:, :3, :3]
    weight = 3.0 * chain.gravity
    parts = [
        zv.PointLoad(name, np.swapaxes(R, 1, 2) @ weight * 0.4, point=point, frame="link"),
        zv.PointLoad(name, weight * 0.6, np.cross(R @ point, weight * 0.6)),
    ]
    np.testing.assert_allclose(chain.statics(q, parts).tau, hung.tau, atol=1e-10 * np.abs(hung.tau).max())


def test_statics_is_the_principle_of_virtual_work(rng):
    chain = random_chain(rng, 6, gravity=(0, 0, 0))
    q = random_state(rng, chain)[0]
    force, moment, point = rng.normal(size=(3, 3))
    J = chain.jacobian(q, chain.link_names[-1], point)
    tau = chain.statics(q, zv.PointLoad(chain.link_names[-1], force, moment, point)).tau
    springs = chain.stiffness * (q - chain.rest)
    np.testing.assert_allclose(tau, springs - J.T @ np.r_[force, moment], atol=1e-11)


def test_with_the_largest_payload_one_drive_is_at_its_limit(rng):
    arm = zv.robots.ur5e()
    q, qd, qdd = rng.uniform(-1, 1, (3, 60, 6))
    for state in ((q,), (q, qd, 0.3 * qdd)):
        names = dict(zip(("qd", "qdd"), state[1:], strict=False))
        c = arm.payload_capacity(q, point=(0, 0, 0.1), **names)
        tip, rest = arm.link_names[-1], np.zeros(6)
        for k in range(0, 60, 6):
            body = zv.Link("load", parent=tip, joint="fixed", position=(0, 0, 0.1), mass=c.mass[k])
            loaded = zv.Chain([*arm.links, body], gravity=arm.gravity)
            motion = [x[k] for x in state] + [rest] * (3 - len(state))
            share = np.abs(loaded.inverse_dynamics(*motion)) / arm.effort_limit
            if c.mass[k] > 0:
                assert share.argmax() == c.limited_by[k]
                np.testing.assert_allclose(share.max(), 1.0, rtol=1e-10)
            else:
                assert share[c.limited_by[k]] > 1
        assert np.isfinite(c.mass).all()


def test_a_payload_that_no_drive_feels_has_no_limit():
    arm = zv.Chain([zv.Link("turn", mass=1.0, effort=5.0), zv.Link("tip", joint="fixed", position=(1, 0, 0))])
    c = arm.payload_capacity([[0.0], [1.0]])
    assert c.mass.tolist() == [np.inf, np.inf]
    assert c.limited_by.tolist() == [-1, -1]
    weak = zv.robots.two_link().payload_capacity([0.0, 0.0], effort=[10.0, 10.0])
    assert (float(weak.mass), int(weak.limited_by)) == (0.0, 0)


def test_what_makes_no_sense_is_refused():
    arm = zv.robots.two_link()
    for words, call in (
        ("statics: loads names link 'tp', .*'tip'", lambda: arm.statics([0, 0], zv.PointLoad("tp"))),
        ("loads has 3", lambda: arm.statics([0, 0], [3])),
        ("loads is 3", lambda: arm.statics([0, 0], 3)),
        ("q has shape", lambda: arm.statics([0, 0, 0])),
        ("about is", lambda: arm.statics([0, 0], about="moon")),
        ("frame is", lambda: arm.statics([0, 0], frame="moon")),
        ("PointLoad: force has shape", lambda: zv.PointLoad("tip", (1, 2))),
        ("PointLoad: mass is", lambda: zv.PointLoad("tip", mass=-1)),
        ("do not broadcast", lambda: arm.statics(np.zeros((2, 2)), zv.PointLoad("tip", np.zeros((3, 3))))),
        ("has no limits of efforts", lambda: arm.payload_capacity([0, 0])),
        ("effort is", lambda: arm.payload_capacity([0, 0], effort=[1.0])),
        ("effort is", lambda: arm.payload_capacity([0, 0], effort=[1.0, -1.0])),
    ):
        with pytest.raises(ValueError, match=words):
            call()
