"""Regressors of efforts, energies, power, momentum and the wrench on the base."""

import numpy as np
import pinocchio as pin
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state
from helpers import OTHER, assert_close
from hypothesis import given


def theta(chain):
    return chain.inertial_parameters.ravel()


def bare(chain):
    """Without rotors, friction and springs."""
    plain = {"rotor_inertia": 0.0, "friction": 0.0, "stiffness": 0.0, "rest": 0.0}
    return zv.Chain([zv.Link.from_dict(link.to_dict() | plain) for link in chain.links], gravity=chain.gravity)


@given(mechanisms(fixed=True))
def test_regressors_times_parameters_are_the_functions(mechanism):
    chain, rng = mechanism
    chain = bare(chain)
    q, qd, qdd = random_state(rng, chain)
    base = rng.normal(size=9)
    for motion in (None, base):
        want = chain.inverse_dynamics(q, qd, qdd, base_motion=motion)
        Y = chain.regressor(q, qd, qdd, motion)
        scale = (np.abs(Y) @ np.abs(theta(chain))).max() + 1e-300
        assert_close(Y @ theta(chain), want, chain.n, ulps=OTHER, scale=scale)
        power = chain.power_regressor(q, qd, qdd, motion)
        assert_close(power, qd @ Y, chain.n, ulps=OTHER, scale=(np.abs(qd) @ np.abs(Y)).max())
        B = chain.base_wrench_regressor(q, qd, qdd, motion)
        want = chain.base_wrench(q, qd, qdd, base_motion=motion)
        assert_close(B @ theta(chain), want, chain.n, ulps=OTHER, scale=(np.abs(B) @ np.abs(theta(chain))).max())
    E = chain.energy_regressor(q, qd)
    want = chain.kinetic_energy(q, qd), chain.potential_energy(q)
    assert_close(E @ theta(chain), want, chain.n, ulps=OTHER, scale=(np.abs(E) @ np.abs(theta(chain))).max())
    H = chain.momentum_regressor(q, qd)
    want = chain.momentum(q, qd, about="base")
    assert_close(H @ theta(chain), want, chain.n, ulps=OTHER, scale=(np.abs(H) @ np.abs(theta(chain))).max())


@given(mechanisms(fixed=True))
def test_the_packed_regressor_has_every_element_that_is_not_zero(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    indices, pointers = chain.regressor_pattern
    dense = np.zeros((chain.n, 10 * len(chain.links)))
    data = chain.packed_regressor(q, qd, qdd)
    for i in range(chain.n):
        row = slice(pointers[i], pointers[i + 1])
        dense[i, indices[row]] = data[row]
    np.testing.assert_array_equal(dense, chain.regressor(q, qd, qdd))


@given(mechanisms())
def test_energy_columns_are_pinocchios(mechanism):
    chain, rng = mechanism
    q, qd, _ = random_state(rng, chain)
    twin = Twin(chain)
    order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
    kinetic = pin.computeKineticEnergyRegressor(twin.model, twin.data, twin._q(q), twin._v(qd)).reshape(-1, 10)
    joints = [twin.frame(link.name)[0] - 1 for link in chain.links]
    E = chain.energy_regressor(q, qd).reshape(2, -1, 10)
    if all(twin.frame(link.name)[1].isIdentity(1e-12) for link in chain.links):
        assert_close(E[0], kinetic[joints][:, order], chain.n, ulps=OTHER, scale=np.abs(kinetic).max())
    assert (E[1, :, 4:] == 0).all()


def test_rows_of_a_batch_are_single_states(rng):
    chain = random_chain(rng, 5, branching=True, fixed=True)
    q, qd, qdd = rng.normal(size=(3, 11, 5))
    for name in ("regressor", "packed_regressor", "power_regressor", "base_wrench_regressor"):
        f = getattr(chain, name)
        np.testing.assert_array_equal(f(q, qd, qdd), [f(*state) for state in zip(q, qd, qdd, strict=True)])
    for name in ("energy_regressor", "momentum_regressor"):
        f = getattr(chain, name)
        np.testing.assert_array_equal(f(q, qd), [f(*state) for state in zip(q, qd, strict=True)])


def test_power_is_the_rate_of_the_energies(rng):
    chain = bare(random_chain(rng, 4))
    q, qd, qdd = rng.normal(size=(3, 4))
    h = 1e-5
    E = [chain.energy_regressor(q + t * qd + t * t / 2 * qdd, qd + t * qdd).sum(axis=0) for t in (-h, h)]
    np.testing.assert_allclose(chain.power_regressor(q, qd, qdd), (E[1] - E[0]) / (2 * h), atol=1e-6)
