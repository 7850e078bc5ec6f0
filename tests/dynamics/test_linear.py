"""Linearised chains against complex steps of the reference, Pinocchio, and what the arguments promise."""

import pickle

import numpy as np
import pytest
import reference
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from helpers import DIFFERENCE, OTHER, SELF, assert_close, derivative, to_reference
from hypothesis import given
from refusals import WRONG_TYPES, check_refused


def efforts(chain, wrench=None, frame="world"):
    """tau(q, qd, qdd) by the reference, in any arithmetic; wrench (n, 6) on the links, in world or link axes."""
    serial = to_reference(chain)

    def tau(q, qd, qdd):
        force, moment = (None, None) if wrench is None else (wrench[:, :3], wrench[:, 3:])
        if frame == "link":
            turns = reference.base_axes(serial, q).tau  # base to link components
            force, moment = (np.array([R.T @ x for R, x in zip(turns, part, strict=True)]) for part in (force, moment))
        drive = chain.rotor_inertia * qdd + chain.friction * qd + chain.stiffness * (q - chain.rest)
        return reference.rnea(serial, q, qd, qdd, force, moment) + drive

    return tau


def slopes(tau, q, qd, qdd):
    """K, B, M by complex steps."""
    return (
        reference.complex_step(lambda x: tau(x, qd, qdd), q),
        reference.complex_step(lambda x: tau(q, x, qdd), qd),
        reference.complex_step(lambda x: tau(q, qd, x), qdd),
    )


def assert_linearised(lin, want, n, ulps=SELF):
    scale = max(np.abs(part).max() for part in want)
    for got, matrix in zip((lin.K, lin.B, lin.M), want, strict=True):
        assert_close(got, matrix, n, ulps=ulps, scale=scale)


@pytest.mark.parametrize("frame", ["world", "link"])
@pytest.mark.parametrize("kinds", ["mixed", "revolute", "prismatic"])
@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_matrices_are_the_complex_steps_of_the_reference(n, kinds, frame, rng):
    chain = random_chain(rng, n, kinds, rotor=True, friction=True, spring=True)
    q, qd, qdd = random_state(rng, chain)
    wrench = rng.uniform(-20, 20, (n, 6))
    external = dict(zip(chain.link_names, wrench, strict=True))
    lin = chain.linearise(q, qd, qdd=qdd, external=external, external_frame=frame)
    assert_linearised(lin, slopes(efforts(chain, wrench, frame), q, qd, qdd), n)


def test_matrices_along_a_motion_are_those_of_its_states(rng):
    chain = random_chain(rng, 5, friction=True, spring=True)
    t = np.linspace(0, 1, 12).reshape(3, 4, 1)
    size, pace = rng.uniform(0.5, 1, (2, 5))
    q, qd, qdd = size * np.sin(pace * t), size * pace * np.cos(pace * t), -size * pace**2 * np.sin(pace * t)
    lin = chain.linearise(q, qd, qdd=qdd)
    assert lin.shape == (3, 4) and lin.K.shape == (3, 4, 5, 5)
    for i in np.ndindex(3, 4):
        assert_linearised(lin[i], slopes(efforts(chain), q[i], qd[i], qdd[i]), 5)
        assert np.array_equal(lin[i].tau, chain.inverse_dynamics(q[i], qd[i], qdd[i]))


@given(mechanisms())
def test_matrices_agree_with_pinocchio_on_random_trees(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    assert_linearised(chain.linearise(q, qd, qdd=qdd), Twin(chain).derivatives(q, qd, qdd), chain.n, OTHER)


@given(mechanisms(max_n=6))
def test_matrices_of_trees_with_wrenches_of_links_are_slopes(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    wrenches = random_wrenches(rng, chain)
    base = rng.uniform(-2, 2, 9)
    options = {"external": wrenches, "external_frame": "link", "base_motion": base}

    def tau(q):
        turned = {}
        for link, wrench in wrenches.items():
            R = chain.pose(q, link)[:3, :3]
            turned[link] = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        return chain.inverse_dynamics(q, qd, qdd, turned, base)

    lin = chain.linearise(q, qd, qdd=qdd, **options)
    want = np.stack([derivative(lambda t, e=e: tau(q + t * e)) for e in np.eye(chain.n)], axis=-1)
    assert_close(lin.K, want, chain.n, ulps=DIFFERENCE)
    assert_close(lin.tau, tau(q), chain.n)


def test_efforts_and_accelerations_belong_together(tree, rng):
    q, qd, _ = random_state(rng, tree, (4,))
    tau = rng.uniform(-5, 5, (4, tree.n))
    lin = tree.linearise(q, qd, tau)
    assert np.array_equal(lin.tau, tau)
    assert_close(tree.inverse_dynamics(q, qd, lin.qdd), tau, tree.n, scale=50)
    assert_close(lin.residual, (lin.M @ lin.qdd[..., None])[..., 0], tree.n, ulps=OTHER)
    same = tree.linearise(q, qd, qdd=lin.qdd)
    assert_close(same.K, lin.K, tree.n)
    assert_close(same.residual, lin.residual, tree.n, ulps=OTHER)


def test_without_efforts_and_accelerations_the_state_is_held(arm, rng):
    q = random_state(rng, arm)[0]
    lin = arm.linearise(q)
    assert np.array_equal(lin.tau, arm.holding_torque(q))
    assert not lin.residual.any() and not lin.qdd.any()
    assert "in equilibrium" in repr(lin)
    assert arm.linearise(q, 0, lin.tau, equilibrium=True).q.tolist() == q.tolist()


def test_leading_dimensions_broadcast_and_are_indexed(arm, rng):
    q, qd, _ = random_state(rng, arm, (3,))
    wrench = rng.uniform(-5, 5, (4, 1, 6))
    lin = arm.linearise(q, qd[0], external={"l3": wrench}, base_motion=np.arange(9) / 9)
    assert lin.shape == (4, 3)
    one = arm.linearise(q[1], qd[0], external={"l3": wrench[2, 0]}, base_motion=np.arange(9) / 9)
    for got in (lin[2, 1], lin[2][1], lin[..., 1][2]):
        for name in ("q", "qd", "qdd", "tau", "M", "B", "K", "residual", "base_motion"):
            assert np.array_equal(getattr(got, name), getattr(one, name))
        assert np.array_equal(got.external["l3"], one.external["l3"])
    assert len(lin) == 4 and [part.shape for part in lin] == [(3,)] * 4
    with pytest.raises(TypeError):
        len(one)
    with pytest.raises(TypeError):
        one[0]


def test_a_linearisation_does_not_change_and_can_be_sent(arm):
    q = np.zeros(6)
    lin = arm.linearise(q)
    q[0] = 1.0
    assert lin.q[0] == 0
    with pytest.raises(ValueError):
        lin.K[0, 0] = 1.0
    with pytest.raises(AttributeError):
        lin.K = 0
    again = pickle.loads(pickle.dumps(lin))
    assert again.chain == arm and np.array_equal(again.K, lin.K)


def test_a_state_that_is_no_equilibrium_is_refused_with_its_residual():
    arm = zv.robots.two_link()
    hanging = [np.pi / 2, 0.0]
    arm.linearise(hanging, tau=0, equilibrium=True)
    words = ("linearise", "no equilibrium", "two_link", "-19.62 N m at 'upper_joint'", "-4.905 N m at 'lower_joint'")
    check_refused(ValueError, words, arm.linearise, [0, 0], tau=[0, 0], equilibrium=True)
    check_refused(ValueError, ["(1,)", "upper_joint"], arm.linearise, [hanging, [0, 0]], tau=0, equilibrium=True)
    check_refused(ValueError, ["moves", "qd"], arm.linearise, hanging, [0.1, 0], equilibrium=True)
    check_refused(ValueError, ["no equilibrium"], arm.linearise, hanging, qdd=[1, 0], equilibrium=True)


@pytest.mark.parametrize("name", ["q", "qd", "tau", "qdd", "base_motion"])
@pytest.mark.parametrize("value", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_wrong_types_are_refused(arm, name, value):
    options = {"q": np.zeros(6)} | {name: value}
    check_refused((ValueError, TypeError), ["linearise", name], arm.linearise, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"q": np.zeros(5)}, ["q has shape (5,)", "'arm'"]),
        ({"q": np.full(6, np.nan)}, ["finite"]),
        ({"q": np.zeros(6), "qd": [[0] * 6, [1]]}, ["qd is [[0, 0,", "expected numbers of shape (6,)"]),
        ({"q": np.zeros(6), "tau": np.zeros(6), "qdd": np.zeros(6)}, ["both tau and qdd"]),
        ({"q": np.zeros((2, 6)), "qd": np.zeros((3, 6))}, ["do not broadcast", "q (2,)", "qd (3,)"]),
        ({"q": np.zeros(6), "external": {"l9": np.zeros(6)}}, ["'l9'", "external"]),
        ({"q": np.zeros(6), "external": [1, 2]}, ["external", "dict"]),
        ({"q": np.zeros(6), "external": {"l1": np.zeros(3)}}, ["external of link 'l1'", "(3,)"]),
        ({"q": np.zeros(6), "external_frame": "base"}, ["external_frame", "'base'", "'world' or 'link'"]),
    ],
)
def test_wrong_arguments_are_refused(arm, options, words):
    check_refused(ValueError, ["linearise", *words], arm.linearise, **options)


def test_american_spelling_is_answered(arm):
    with pytest.raises(AttributeError, match="linearise"):
        arm.linearize(np.zeros(6))
