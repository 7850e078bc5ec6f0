"""Derivatives of inverse dynamics against Pinocchio, complex steps of the reference and differences."""

import helpers
import numpy as np
import pytest
import reference
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from helpers import DIFFERENCE, OTHER, assert_close, derivative
from hypothesis import given

PARTS = ("dtau_dq", "dtau_dqd", "dtau_dqdd")


def assert_derivatives(got, want, n, ulps=OTHER):
    # one scale for the three: dtau_dqd of a single joint is nothing but rounding
    scale = max(np.abs(part).max() for part in want)
    for part, matrix in zip(PARTS, want, strict=True):
        assert_close(getattr(got, part), matrix, n, ulps=ulps, scale=scale)


@given(mechanisms())
def test_derivatives_agree_with_pinocchio_on_random_chains(mechanism):
    chain, rng = mechanism
    state = random_state(rng, chain)
    assert_derivatives(chain.derivatives(*state), Twin(chain).derivatives(*state), chain.n)


@pytest.mark.parametrize("name", helpers.urdf_files())
def test_derivatives_agree_with_pinocchio_on_urdf(name, rng):
    chain = helpers.urdf_chain(name)
    state = random_state(rng, chain)
    assert_derivatives(chain.derivatives(*state), helpers.urdf_twin(name).derivatives(*state), chain.n)


@pytest.mark.parametrize("kinds", ["mixed", "revolute", "prismatic"])
@pytest.mark.parametrize("n", [1, 2, 7, 17])
def test_derivatives_with_world_wrenches_agree_with_complex_steps_of_the_reference(n, kinds, rng):
    chain = random_chain(rng, n, kinds)
    serial, (q, qd, qdd) = helpers.to_reference(chain), random_state(rng, chain)
    wrenches = rng.uniform(-20, 20, (n, 6))
    loads = wrenches[:, :3], wrenches[:, 3:]
    want = [
        reference.complex_step(lambda x: reference.rnea(serial, x, qd, qdd, *loads), q),
        reference.complex_step(lambda x: reference.rnea(serial, q, x, qdd, *loads), qd),
        reference.complex_step(lambda x: reference.rnea(serial, q, qd, x, *loads), qdd),
    ]
    external = dict(zip(chain.link_names, wrenches, strict=True))
    assert_derivatives(chain.derivatives(q, qd, qdd, external), want, n, ulps=helpers.SELF)


@given(mechanisms(max_n=6))
def test_derivatives_are_the_slopes_of_inverse_dynamics(mechanism):
    chain, rng = mechanism
    state, external = random_state(rng, chain), random_wrenches(rng, chain)

    def slope(k, unit):
        def moved(t):
            return chain.inverse_dynamics(*(x + t * unit * (i == k) for i, x in enumerate(state)), external)

        return derivative(moved)

    want = [np.stack([slope(k, unit) for unit in np.eye(chain.n)], axis=-1) for k in range(3)]
    assert_derivatives(chain.derivatives(*state, external), want, chain.n, ulps=DIFFERENCE)


def test_derivative_by_acceleration_is_the_mass_matrix(tree, rng):
    q, qd, qdd = random_state(rng, tree, (5,))
    assert_close(tree.derivatives(q, qd, qdd).dtau_dqdd, tree.mass_matrix(q), tree.n)


def test_gravity_stiffness_is_symmetric(rng):
    chain = random_chain(rng, 8, branching=True, fixed=True)
    q, still = random_state(rng, chain)[0], np.zeros(8)
    stiffness = chain.derivatives(q, still, still).dtau_dq
    assert_close(stiffness, stiffness.T, 8)
