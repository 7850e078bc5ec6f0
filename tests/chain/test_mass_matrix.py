"""Seven algorithms, one matrix."""

import helpers
import mujoco
import numpy as np
import pytest
import reference
import zveno as zv
from engines.mujoco import joint_state
from engines.pinocchio import Twin
from engines.random_mechanisms import copy_link, mechanisms, random_chain, random_links, random_state
from helpers import METHODS, OTHER, TREE_METHODS, assert_close, tol
from hypothesis import given


def methods_for(chain):
    return METHODS if chain.is_serial else TREE_METHODS


@pytest.mark.parametrize("kinds", ["mixed", "revolute", "prismatic"])
@pytest.mark.parametrize("n", range(1, 41))
def test_all_methods_agree_with_the_reference(n, kinds, rng):
    chain = random_chain(rng, n, kinds)
    q, _, _ = random_state(rng, chain)
    want = reference.composite(helpers.to_reference(chain), q)
    for method in METHODS:
        assert_close(chain.mass_matrix(q, method), want, n)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_reference_transcriptions_agree_with_each_other_and_with_pinocchio(n, rng):
    chain = random_chain(rng, n)
    serial, (q, _, _) = helpers.to_reference(chain), random_state(rng, chain)
    want = Twin(chain).mass_matrix(q)
    forms = "kane", "kane_recurrent", "kane_collapsed", "kosynka", "columns", "composite"
    for form in forms:
        assert_close(getattr(reference, form)(serial, q), want, n)


def assert_agrees_with_pinocchio(chain, rng, twin):
    q, _, _ = random_state(rng, chain)
    want = twin.mass_matrix(q)
    for method in methods_for(chain):
        assert_close(chain.mass_matrix(q, method), want, chain.n, ulps=OTHER)


@given(mechanisms())
def test_mass_matrix_agrees_with_pinocchio_on_random_chains(mechanism):
    assert_agrees_with_pinocchio(*mechanism, Twin(mechanism[0]))


@given(mechanisms(well_scaled=False))
def test_mass_matrix_agrees_with_pinocchio_on_badly_scaled_chains(mechanism):
    assert_agrees_with_pinocchio(*mechanism, Twin(mechanism[0]))


@pytest.mark.parametrize("name", helpers.urdf_files())
def test_mass_matrix_agrees_with_pinocchio_on_urdf(name, rng):
    assert_agrees_with_pinocchio(helpers.urdf_chain(name), rng, helpers.urdf_twin(name))


@pytest.mark.parametrize("branching", [False, True])
def test_mass_matrix_agrees_with_mujoco(branching, rng):
    chain = random_chain(rng, 8, branching=branching, fixed=True, rotor=True)
    q, _, _ = random_state(rng, chain)
    model, data, order = joint_state(chain, qpos=q)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    assert_close(chain.mass_matrix(q), M[np.ix_(order, order)], chain.n, ulps=OTHER)


@given(mechanisms())
def test_mass_matrix_is_symmetric_positive_definite(mechanism):
    chain, rng = mechanism
    q, _, _ = random_state(rng, chain, (5,))
    for method in methods_for(chain):
        M = chain.mass_matrix(q, method)
        assert np.array_equal(M, np.swapaxes(M, 1, 2))
        assert np.linalg.eigvalsh(M).min() > tol(chain.n)


@given(mechanisms(spring=False))
def test_mass_matrix_columns_are_unit_accelerations(mechanism):
    chain, rng = mechanism
    weightless, still = chain.with_gravity((0, 0, 0)), np.zeros(chain.n)
    q, _, _ = random_state(rng, chain)
    rows = weightless.inverse_dynamics(q, still, np.eye(chain.n))
    assert_close(chain.mass_matrix(q), rows.T, chain.n)


def test_rotor_inertia_stands_on_the_diagonal(rng):
    links = random_links(rng, 7, branching=True)
    rotor = rng.uniform(0.1, 5.0, 7)
    plain, geared = (
        zv.Chain([copy_link(link, rotor_inertia=value) for link, value in zip(links, values, strict=True)])
        for values in (np.zeros(7), rotor)
    )
    q, _, _ = random_state(rng, plain)
    for method in TREE_METHODS:
        assert_close(geared.mass_matrix(q, method), plain.mass_matrix(q, method) + np.diag(rotor), 7)


def test_branches_do_not_couple(rng):
    arms = [random_links(rng, 3), random_links(rng, 4)]
    links = [
        copy_link(link, name=f"{side}{link.name}", joint_name=None, parent=None if i else "base")
        for side, arm in zip("ab", arms, strict=True)
        for i, link in enumerate(arm)
    ]
    both = zv.Chain(links)
    q, _, _ = random_state(rng, both)
    M = both.mass_matrix(q)
    assert not M[:3, 3:].any()
    assert_close(M[:3, :3], zv.Chain(arms[0]).mass_matrix(q[:3]), 7)
    assert_close(M[3:, 3:], zv.Chain(arms[1]).mass_matrix(q[3:]), 7)
