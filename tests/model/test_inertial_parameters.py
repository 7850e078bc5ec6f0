"""Inertial parameters of the links: read, compared with Pinocchio, replaced."""

import helpers
import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import copy_link, mechanisms, random_body, random_chain, random_state
from helpers import OTHER, assert_close
from hypothesis import given

# Pinocchio: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
FROM_PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


@given(mechanisms(fixed=True))
def test_parameters_of_every_link_are_pinocchios(mechanism):
    chain, _ = mechanism
    theta = chain.inertial_parameters
    assert theta.shape == (len(chain.links), 10)
    for link, row in zip(chain.links, theta, strict=True):
        body = pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia))
        assert_close(row, body.toDynamicParameters()[FROM_PINOCCHIO], 1)


@given(mechanisms(fixed=True))
def test_efforts_are_pinocchios_regressor_times_the_parameters(mechanism):
    """Of the links of a body together, each about its own origin: moved to the joint they add."""
    chain, rng = mechanism
    twin = Twin(chain)
    q, qd, qdd = random_state(rng, chain)
    Y = pin.computeJointTorqueRegressor(twin.model, twin.data, twin._q(q), twin._v(qd), twin._v(qdd))
    Y = np.reshape(Y, (chain.n, 10 * chain.n))
    pi = np.zeros(10 * chain.n)
    to_pinocchio = np.argsort(FROM_PINOCCHIO)
    for link, row in zip(chain.links, chain.inertial_parameters, strict=True):
        joint, placement = twin.frame(link.name)
        if joint:
            moved = placement.act(pin.Inertia.FromDynamicParameters(row[to_pinocchio]))
            pi[10 * (joint - 1) : 10 * joint] += moved.toDynamicParameters()
    drives = chain.rotor_inertia * qdd + chain.friction * qd + chain.stiffness * (q - chain.rest)
    want = (Y @ pi)[twin.order] + drives
    scale = (np.abs(Y) @ np.abs(pi)).max() + np.abs(drives).max()
    assert_close(chain.inverse_dynamics(q, qd, qdd), want, chain.n, ulps=OTHER, scale=scale)


def test_parameters_are_read_only_and_exact_where_numbers_are():
    link = zv.Link("a", mass=2.0, com=(1.0, 2.0, -3.0), inertia=[[5, 1, 0.5], [1, 6, -0.25], [0.5, -0.25, 7]])
    chain = zv.Chain([link, zv.Link("tool", joint="fixed", mass=0.0)])
    want = [2, 2, 4, -6, 5 + 2 * 13, 1 - 2 * 2, 0.5 + 2 * 3, 6 + 2 * 10, -0.25 + 2 * 6, 7 + 2 * 5]
    np.testing.assert_array_equal(chain.inertial_parameters, [want, [0.0] * 10])
    assert not chain.inertial_parameters.flags.writeable


@given(mechanisms(fixed=True))
def test_replaced_parameters_are_those_of_the_new_chain(mechanism):
    chain, rng = mechanism
    theta = chain.inertial_parameters
    assert chain.with_inertial_parameters(theta) == chain
    bodies = [random_body(rng) for _ in chain.links]
    links = [copy_link(link, **body) for link, body in zip(chain.links, bodies, strict=True)]
    other = zv.Chain(links, gravity=chain.gravity, name=chain.name)
    back = chain.with_inertial_parameters(other.inertial_parameters)
    assert_close(back.inertial_parameters, other.inertial_parameters, 1)
    q, qd, qdd = random_state(rng, chain)
    want = other.inverse_dynamics(q, qd, qdd)
    assert_close(back.inverse_dynamics(q, qd, qdd), want, chain.n, ulps=10 * helpers.SELF)
    for name in ("joint_names", "link_names", "name", "base_name"):
        assert getattr(back, name) == getattr(chain, name)
    for name in ("rotor_inertia", "friction", "stiffness", "rest", "lower", "gravity"):
        assert np.array_equal(getattr(back, name), getattr(chain, name))


def test_a_link_whose_row_is_unchanged_stays_as_it_is(rng):
    chain = random_chain(rng, 4, fixed=True)
    theta = chain.inertial_parameters.copy()
    theta[1] *= 2
    changed = chain.with_inertial_parameters(theta.tolist())
    assert [a == b for a, b in zip(chain.links, changed.links, strict=True)] == [i != 1 for i in range(len(theta))]
    np.testing.assert_allclose(changed.links[1].com, chain.links[1].com, rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(changed.links[1].inertia, 2 * chain.links[1].inertia, rtol=1e-13, atol=1e-15)


BAD = {
    "a negative mass": ({0: -1.0}, "link 'l1': mass -1 is negative"),
    "a moment without mass": ({0: 0.0}, "link 'l1': mass is zero but the first moment is not"),
    "less inertia than its mass at the com has": (
        {4: 0.0, 7: 0.0, 9: 0.0},
        "link 'l1': inertia eigenvalue -",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_parameters_that_no_body_has_are_refused(case):
    chain = random_chain(np.random.default_rng(1), 3)
    changes, message = BAD[case]
    theta = chain.inertial_parameters.copy()
    for column, value in changes.items():
        theta[1, column] = value
    with pytest.raises(zv.ModelError, match=message) as caught:
        chain.with_inertial_parameters(theta)
    assert caught.value.link == "l1"


@pytest.mark.parametrize("theta", [np.zeros((2, 10)), np.zeros((3, 9)), np.full((3, 10), np.nan), "theta", None])
def test_parameters_of_another_shape_are_refused(theta):
    chain = random_chain(np.random.default_rng(1), 3)
    with pytest.raises(zv.ModelError, match=r"with_inertial_parameters: theta .* for chain 'random'"):
        chain.with_inertial_parameters(theta)


def test_massless_links_keep_their_inertia():
    chain = zv.Chain([zv.Link("a", mass=1.0, inertia=1.0), zv.Link("b", joint="fixed")])
    theta = np.zeros((2, 10))
    theta[:, 0] = 1, 0
    theta[:, [4, 7, 9]] = 2
    with pytest.warns(zv.ModelWarning, match="link 'b': mass is zero but the inertia is not"):
        changed = chain.with_inertial_parameters(theta)
    assert changed.mass_matrix([0.0]) == 4
