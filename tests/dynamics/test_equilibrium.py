"""Holding torques and equilibria."""

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import mechanisms, random_state, random_wrenches
from helpers import assert_close
from hypothesis import given
from refusals import check_refused


def test_holding_torque_is_the_effort_at_rest(tree, rng):
    q = random_state(rng, tree, (3,))[0]
    zero, wrenches = np.zeros(tree.n), random_wrenches(rng, tree)
    assert np.array_equal(tree.holding_torque(q), tree.inverse_dynamics(q, zero, zero))
    assert np.array_equal(tree.holding_torque(q, wrenches), tree.inverse_dynamics(q, zero, zero, wrenches))
    base = np.arange(9.0)
    moved = tree.inverse_dynamics(q, zero, zero, base_motion=base)
    assert np.array_equal(tree.holding_torque(q, base_motion=base), moved)
    link, wrench = "l3", np.array([1.0, 2, 3, 4, 5, 6])
    many = {link: np.broadcast_to(wrench, (2, 1, 6))}
    turned = tree.holding_torque(q, many, external_frame="link")
    J = tree.jacobian(q, link, frame="link")
    assert turned.shape == (2, 3, tree.n)
    assert_close(turned[0], tree.holding_torque(q) - (wrench @ J), tree.n)


@given(mechanisms(max_n=6))
def test_efforts_of_a_random_state_hold_it_and_its_neighbours_lead_to_it(mechanism):
    chain, rng = mechanism
    q, wrenches = random_state(rng, chain)[0], random_wrenches(rng, chain)
    options = {"external": wrenches, "external_frame": "link"}
    tau = chain.holding_torque(q, **options)
    at_once = chain.equilibrium(tau, q, **options)
    assert np.array_equal(at_once.q, q) and at_once.iterations == 0
    K = chain.linearise(q, **options).K
    if np.linalg.cond(K) > 1e3:
        return  # far from where Newton's method goes straight
    found = chain.equilibrium(tau, q + 1e-3 / np.linalg.cond(K) * rng.uniform(-1, 1, chain.n), **options)
    np.testing.assert_allclose(found.q, q, atol=1e-7)
    assert_close(chain.holding_torque(found.q, **options) + found.residual, tau, chain.n, scale=100)


@given(mechanisms(max_n=6, spring=False))
def test_chains_with_springs_come_to_rest_in_a_minimum_of_energy(mechanism):
    chain, rng = mechanism
    stiff = [link.to_dict() | ({"stiffness": 30.0} if link.joint != "fixed" else {}) for link in chain.links]
    chain = zv.Chain([zv.Link.from_dict(link) for link in stiff], gravity=chain.gravity)
    found = chain.equilibrium()
    assert found.stable and found.neutral == 0
    size = np.abs(chain.holding_torque(np.zeros(chain.n))).max() + 30
    assert np.abs(found.residual).max() < 1e-9 * size
    around = found.q + 1e-3 * rng.normal(size=(50, chain.n))
    assert (chain.potential_energy(around) > chain.potential_energy(found.q)).all()
    assert chain.linearise(found.q, tau=0, equilibrium=True).modes(damping=False).stable


def test_pendulum_finds_the_angle_of_its_torque():
    arm = zv.Chain([zv.Link("a", axis=(0, 1, 0), mass=2.0, com=(0, 0, -0.5))])
    torque = np.array([[-5.0], [0.0], [5.0], [9.0]])  # m g l = 9.81
    found = arm.equilibrium(torque)
    np.testing.assert_allclose(found.q, np.arcsin(torque / 9.81), atol=1e-10)
    assert found.stable.all() and found.q.shape == (4, 1) and found.iterations.shape == (4,)
    other = arm.equilibrium(torque[2], guess=[np.pi - 0.5])
    np.testing.assert_allclose(other.q, [np.pi - np.arcsin(5 / 9.81)], atol=1e-10)
    assert not other.stable and "not stable" in repr(other)
    standing = arm.equilibrium(guess=[np.pi])
    assert standing.iterations == 0 and not standing.stable
    assert abs(np.cos(arm.equilibrium(guess=[np.pi], stable=True).q[0]) - 1) < 1e-12


@pytest.mark.parametrize("name", ["two_link", "puma560", "kawasaki_fs020n"])
def test_arms_hang_down_from_anywhere(name, rng):
    arm = getattr(zv.robots, name)()
    start = random_state(rng, arm, (5,))[0]
    found = arm.equilibrium(guess=start, stable=True)
    assert found.stable.all()
    assert np.abs(found.residual).max() < 1e-7
    # a joint with a vertical axis stays where it is
    if name == "puma560":
        assert (found.neutral >= 1).all()
        np.testing.assert_allclose(found.q[:, 0], start[:, 0], atol=1e-9)


def test_elastic_beam_sags_as_the_linear_theory_says():
    n, load = 20, 1e-4
    links = []
    for j in range(n):
        s = 1 / n if j < n - 1 else 0.5 / n
        links.append(
            zv.Link(
                f"e{j}",
                axis=(0, 1, 0),
                position=(0.5 / n if j == 0 else 1 / n, 0, 0),
                mass=s,
                com=(s / 2, 0, 0),
                inertia=(0, s**3 / 12, s**3 / 12),
                stiffness=n,
            )
        )
    tip = zv.Link("tip", joint="fixed", position=(0.5 / n, 0, 0))
    beam = zv.Chain([*links, tip], gravity=(0, 0, 0))
    found = beam.equilibrium(external={"tip": [0, 0, -load, 0, 0, 0]})
    assert found.stable
    sag = -beam.pose(found.q, "tip")[2, 3]
    assert abs(sag / (load / 3) - (1 - 1 / (4 * n**2))) < 1e-6  # F L^3 / 3 E I (1 - 1 / 4 n^2)


def test_where_there_is_none_the_joint_with_the_largest_residual_is_named():
    arm = zv.robots.two_link()
    error = check_refused(zv.UnreachableError, ["none found", "two_link", "upper_joint"], arm.equilibrium, [30.0, 0.0])
    assert error.joint == "upper_joint" and error.row is None and error.margin > 30 - 19.63
    error = check_refused(zv.UnreachableError, ["row 1"], arm.equilibrium, [[0.0, 0.0], [30.0, 0.0]])
    assert error.row == 1
    check_refused(zv.UnreachableError, ["link3_joint"], zv.robots.scara().equilibrium)


def test_limits_are_kept_if_they_are_asked_for():
    arm = zv.Chain([zv.Link("a", axis=(0, 1, 0), mass=2.0, com=(0, 0, -0.5), lower=-0.3, upper=0.3)])
    assert arm.equilibrium([5.0]).q[0] > 0.3
    assert 0 < arm.equilibrium([2.0], limits=True).q[0] < 0.3
    words = ["a_joint", "limits", "-0.3 to 0.3"]
    assert check_refused(zv.UnreachableError, words, arm.equilibrium, [5.0], limits=True).joint == "a_joint"


@pytest.mark.parametrize(
    ("call", "options", "words"),
    [
        ("equilibrium", {"tau": np.zeros(5)}, ["tau has shape (5,)"]),
        ("equilibrium", {"tau": "down"}, ["tau"]),
        ("equilibrium", {"tau": 3.0}, ["tau has shape ()"]),
        ("equilibrium", {"tau": [[0] * 6, [1]]}, ["tau is [[0, 0,", "expected numbers of shape (6,)"]),
        ("equilibrium", {"guess": np.zeros((2, 5))}, ["guess"]),
        ("equilibrium", {"guess": np.zeros((2, 6)), "tau": np.zeros((3, 6))}, ["broadcast"]),
        ("equilibrium", {"external": {"x": np.zeros(6)}}, ["'x'"]),
        ("equilibrium", {"external_frame": 1}, ["external_frame is 1"]),
        ("holding_torque", {"q": np.zeros(7)}, ["q has shape (7,)"]),
        ("holding_torque", {"q": np.full(6, np.inf)}, ["finite"]),
        ("holding_torque", {"q": np.zeros(6), "external": {"x": np.zeros(6)}}, ["'x'"]),
        (
            "holding_torque",
            {"q": np.zeros((2, 6)), "external": {"l1": np.zeros((3, 6))}, "external_frame": "link"},
            ["broadcast"],
        ),
    ],
)
def test_wrong_arguments_are_refused(arm, call, options, words):
    check_refused(ValueError, [call, *words], getattr(arm, call), **options)
