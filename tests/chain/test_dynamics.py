"""Inverse and forward dynamics, bias, reactions, base wrench and energies against independent implementations."""

import helpers
import mujoco
import numpy as np
import pytest
import reference
import zveno as zv
from engines.mujoco import joint_state
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from helpers import BIAS_METHODS, OTHER, assert_close
from hypothesis import given

DYNAMICS = ("inverse_dynamics", "reactions", "base_wrench")


def check_against_twin(chain, twin, rng):
    n = chain.n
    q, qd, qdd = random_state(rng, chain)
    for external in (None, random_wrenches(rng, chain)):
        for name in DYNAMICS:
            want = getattr(twin, name)(q, qd, qdd, external)
            assert_close(getattr(chain, name)(q, qd, qdd, external), want, n, ulps=OTHER)
        turned = chain.reactions(q, qd, qdd, external, frame="world")
        assert_close(turned, twin.reactions(q, qd, qdd, external, frame="world"), n, ulps=OTHER)
        for method in BIAS_METHODS:
            assert_close(chain.bias(q, qd, external, method), twin.bias(q, qd, external), n, ulps=OTHER)
    kinetic = twin.kinetic_energy(q, qd)
    assert_close(chain.kinetic_energy(q, qd), kinetic, n, ulps=OTHER)
    potential, lever = twin.potential_energy(q), chain.total_mass * np.abs(chain.gravity).max()
    assert_close(chain.potential_energy(q), potential, n, ulps=OTHER, scale=max(abs(potential), lever))


def check_forward(chain, twin, rng):
    q, qd, tau = random_state(rng, chain)
    M = twin.mass_matrix(q)
    condition = np.linalg.cond(M)
    for external in (None, random_wrenches(rng, chain)):
        want = twin.forward_dynamics(q, qd, tau, external)
        # forward errors of any solver grow with the condition number beyond what OTHER covers
        scale = np.abs(want).max() * max(1.0, condition / 1e4)
        for method in ("aba", "cholesky", "cholesky-walk"):
            assert_close(chain.forward_dynamics(q, qd, tau, external, method), want, chain.n, ulps=OTHER, scale=scale)


@given(mechanisms())
def test_dynamics_agrees_with_pinocchio_on_random_chains(mechanism):
    chain, rng = mechanism
    twin = Twin(chain)
    check_against_twin(chain, twin, rng)
    check_forward(chain, twin, rng)


@given(mechanisms(well_scaled=False))
def test_dynamics_agrees_with_pinocchio_on_badly_scaled_chains(mechanism):
    chain, rng = mechanism
    check_against_twin(chain, Twin(chain), rng)


@pytest.mark.parametrize("name", helpers.urdf_files())
def test_dynamics_agrees_with_pinocchio_on_urdf(name, rng):
    chain, twin = helpers.urdf_chain(name), helpers.urdf_twin(name)
    check_against_twin(chain, twin, rng)
    q, qd, tau = random_state(rng, chain)
    if np.linalg.cond(twin.mass_matrix(q)) < 1e14:
        check_forward(chain, twin, rng)
    else:
        with pytest.raises(zv.SingularityError):
            chain.forward_dynamics(q, qd, tau)


@pytest.mark.parametrize("branching", [False, True])
def test_inverse_dynamics_agrees_with_mujoco(branching, rng):
    chain = random_chain(rng, 8, branching=branching, fixed=True, rotor=True, friction=True, spring=True)
    q, qd, qdd = random_state(rng, chain)
    model, data, order = joint_state(chain, qpos=q, qvel=qd, qacc=qdd)
    mujoco.mj_inverse(model, data)
    assert_close(chain.inverse_dynamics(q, qd, qdd), data.qfrc_inverse[order], chain.n, ulps=OTHER)


@pytest.mark.parametrize("kinds", ["mixed", "revolute", "prismatic"])
@pytest.mark.parametrize("n", [1, 2, 3, 6, 13, 40])
def test_bias_reactions_and_efforts_agree_with_the_reference(n, kinds, rng):
    chain = random_chain(rng, n, kinds)
    serial, state = helpers.to_reference(chain), random_state(rng, chain)
    wrenches = rng.uniform(-20, 20, (n, 6))
    external = dict(zip(chain.link_names, wrenches, strict=True))
    loads = wrenches[:, :3], wrenches[:, 3:]
    q, qd, _ = state
    bias = reference.bias_base_axes(serial, q, qd, *loads)
    assert_close(reference.rnea(serial, q, qd, np.zeros(n), *loads), bias, n)
    for method in BIAS_METHODS:
        assert_close(chain.bias(q, qd, external, method), bias, n)
    assert_close(chain.inverse_dynamics(*state, external), reference.rnea(serial, *state, *loads), n)
    assert_close(chain.reactions(*state, external), reference.reactions(serial, *state, *loads), n)
