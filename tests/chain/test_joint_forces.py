"""Springs in the joints: in every function that they enter, in none that they do not, in generated code too.

Random chains with springs are also among those that test_dynamics and test_derivatives compare with Pinocchio.
"""

import json

import mujoco
import numpy as np
import pytest
import zveno as zv
from engines.mujoco import joint_state
from engines.random_mechanisms import copy_link, mechanisms, random_chain, random_state, random_wrenches
from helpers import BIAS_METHODS, OTHER, assert_close, derivative
from hypothesis import given, settings

FORWARD = ("aba", "cholesky", "cholesky-walk")
PLAIN = {"stiffness": 0.0, "rest": 0.0}


def without_springs(chain):
    links = [copy_link(link, **PLAIN) for link in chain.links]
    return zv.Chain(links, gravity=chain.gravity, name=chain.name)


def test_a_spring_pulls_to_its_rest():
    """By hand: a slider of 2 kg on a spring of 8 N/m, rest at 0.25 m."""
    slider = zv.Chain([zv.Link("s", joint="prismatic", mass=2.0, stiffness=8.0, rest=0.25)], gravity=(0, 0, 0))
    assert slider.inverse_dynamics([1.0], [0.0], [3.0]) == 2 * 3.0 + 8 * 0.75
    assert slider.bias([1.0], [5.0]) == slider.bias([1.0], [5.0], method="kane") == 8 * 0.75
    for method in FORWARD:
        assert slider.forward_dynamics([0.0], [0.0], [0.0], method=method) == 8 * 0.25 / 2
    assert slider.potential_energy([1.0]) == 0.5 * 8 * 0.75**2
    assert slider.derivatives([1.0], [0.0], [0.0]).dtau_dq == 8


@given(mechanisms(spring=True))
def test_springs_add_their_efforts_and_nothing_else(mechanism):
    chain, rng = mechanism
    plain = without_springs(chain)
    q, qd, x = random_state(rng, chain, (3,))
    external = random_wrenches(rng, chain, (3,))
    pull = chain.stiffness * (q - chain.rest)
    size = np.abs(pull).max()
    for method in BIAS_METHODS:
        want = plain.bias(q, qd, external, method) + pull
        assert_close(chain.bias(q, qd, external, method), want, 1, scale=np.abs(want).max() + size)
    want = plain.inverse_dynamics(q, qd, x, external) + pull
    assert_close(chain.inverse_dynamics(q, qd, x, external), want, 1, scale=np.abs(want).max() + size)
    M = np.abs(np.linalg.inv(chain.mass_matrix(q))).max()
    for method in FORWARD:
        want = plain.forward_dynamics(q, qd, x - pull, external, method)
        scale = np.abs(want).max() + M * (np.abs(x).max() + size)
        assert_close(chain.forward_dynamics(q, qd, x, external, method), want, chain.n, scale=scale)
    energy = 0.5 * (chain.stiffness * (q - chain.rest) ** 2).sum(axis=-1)
    want = plain.potential_energy(q) + energy
    assert_close(chain.potential_energy(q), want, chain.n, scale=np.abs(want).max() + energy.max())
    for name in ("reactions", "base_wrench"):
        assert np.array_equal(getattr(chain, name)(q, qd, x, external), getattr(plain, name)(q, qd, x, external))
    assert np.array_equal(chain.mass_matrix(q), plain.mass_matrix(q))
    assert np.array_equal(chain.kinetic_energy(q, qd), plain.kinetic_energy(q, qd))


def test_springs_agree_with_mujoco(rng):
    chain = random_chain(rng, 7, branching=True, fixed=True, friction=True, spring=True)
    q, qd, tau = random_state(rng, chain)
    model, data, order = joint_state(chain, qpos=q, qvel=qd, qfrc_applied=tau)
    mujoco.mj_forward(model, data)
    scale = np.abs(data.qacc).max() * np.linalg.cond(chain.mass_matrix(q))
    assert_close(chain.forward_dynamics(q, qd, tau), data.qacc[order], chain.n, ulps=OTHER, scale=scale)


def test_energy_of_a_spring_is_the_integral_of_its_effort(rng):
    chain = random_chain(rng, 5, spring=True, gravity=(0, 0, 0))
    q = random_state(rng, chain)[0]
    slopes = [derivative(lambda t, u=u: chain.potential_energy(q + t * u)) for u in np.eye(5)]
    np.testing.assert_allclose(slopes, chain.stiffness * (q - chain.rest), atol=1e-8)
    assert np.abs(slopes).max() > 1


@settings(max_examples=8, deadline=None)
@given(mechanisms(max_n=5, spring=True))
def test_generated_code_has_the_springs_bit_for_bit(mechanism):
    chain, rng = mechanism
    q, qd, x = random_state(rng, chain, (5,))
    for function, count in {"inverse_dynamics": 3, "bias": 2, "forward_dynamics": 3, "potential_energy": 1}.items():
        f = chain.compile(function)
        method = {"method": f.options["method"]} if f.options.get("method") else {}
        states = (q, qd, x)[:count]
        assert np.array_equal(f(*states), getattr(chain, function)(*states, **method))
        algebraic = chain.compile(function, level="algebraic")(*states)
        scale = np.abs(f(*states)).max() * max(1.0, np.linalg.cond(chain.mass_matrix(q)).max())
        assert_close(algebraic, f(*states), chain.n, ulps=OTHER, scale=scale)
    f = chain.compile("derivatives")
    want = chain.derivatives(q, qd, x, method=f.options["method"])
    assert np.array_equal(f(q, qd, x).dtau_dq, want.dtau_dq)


def test_a_spring_costs_two_operations_a_shifted_rest_one_more():
    def counts(function, **spring):
        arm = zv.Chain([zv.Link(f"l{i}", mass=1, com=(0, 0, 1), inertia=1, **spring) for i in range(3)])
        return arm.operations(function)

    for function in ("inverse_dynamics", "bias", "forward_dynamics"):
        plain, centred, shifted = (counts(function, **s) for s in ({}, {"stiffness": 2}, {"stiffness": 2, "rest": 1}))
        assert (centred.mul - plain.mul, centred.add - plain.add) == (3, 3)
        assert (shifted.mul - plain.mul, shifted.add - plain.add) == (3, 6)
        assert counts(function, rest=1.0) == plain  # no spring, nothing to pay
    assert counts("mass_matrix", stiffness=2, rest=1) == counts("mass_matrix")


def test_files_without_springs_are_still_read(rng):
    chain = random_chain(rng, 3, friction=True, fixed=True)
    old = json.loads(json.dumps(chain.to_dict()))
    for link in old["links"]:
        del link["stiffness"], link["rest"]
    assert zv.Chain.from_dict(old) == chain
    sprung = random_chain(rng, 3, spring=True)
    assert zv.Chain.from_dict(json.loads(json.dumps(sprung.to_dict()))) == sprung != without_springs(sprung)


def test_springs_in_the_chain_of_a_custom_leg_pull_on_the_ring(rng):
    plain = zv.mechanisms.docking_ring("UPS")
    legs = {0.0: [], 300.0: []}
    for leg in plain.legs:
        links = [
            zv.Link("cross", axis=(0, 1, 0), position=leg.base, rotation=leg.base_frame),
            zv.Link("housing", axis=(0, 0, 1), mass=leg.inner.mass, com=leg.inner.com, inertia=leg.inner.inertia),
            zv.Link("rod", joint="prismatic", axis=(1, 0, 0), position=(leg.inner_length, 0, 0), mass=leg.outer.mass,
                    com=leg.outer.com, inertia=leg.outer.inertia),
        ]  # fmt: skip
        ends = {"ring": leg.ring, "point": (leg.outer_length, 0, 0), "start": (0, 0, 0), "actuated": "rod_joint"}
        for stiffness, made in legs.items():
            rod = copy_link(links[2], stiffness=stiffness, rest=0.05 if stiffness else 0.0)
            made.append(zv.Leg.custom(zv.Chain([*links[:2], rod]), "rod", **ends))
    soft, sprung = (zv.Hexapod(plain.platform, made, nominal=plain.nominal) for made in legs.values())
    r, R = plain.nominal
    r = r + rng.uniform(-0.01, 0.01, 3)
    pull = 300.0 * (soft.closure(r, R)[:, 2] - 0.05)
    u, wrench, tau = rng.uniform(-1, 1, (3, 6))
    got, want = sprung.forward_dynamics(r, R, u, wrench, tau), soft.forward_dynamics(r, R, u, wrench, tau - pull)
    np.testing.assert_allclose(got.acceleration, want.acceleration, rtol=1e-10, atol=1e-10)
    assert sprung.potential_energy(r, R) == pytest.approx((pull**2).sum() / 600.0, rel=1e-12)
    assert soft.potential_energy(r, R) == 0
