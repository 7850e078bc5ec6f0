"""Second derivatives of weighted joint efforts: against exact derivatives of Pinocchio's, and worked numbers."""

import numpy as np
import pytest
import zveno as zv
from engines.exact import angles, derivative
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from engines.worked_tree import NU, QD, QDD, Q, worked_tree
from helpers import OTHER, SELF, assert_close
from hypothesis import given, settings
from zveno.opcount import fit_polynomial

NAMES = ("H_qq", "H_qqd", "H_qdqd", "H_qqdd")
BLOCKS = {"H_qq": (0, 0), "H_qqd": (0, 1), "H_qdqd": (1, 1), "H_qqdd": (0, 2)}
ZERO = ((1, 2), (2, 2))


def block(chain, f, state, first, second):
    """All d2 f / dx_i dy_j of a function of the concatenated state."""
    n = chain.n
    angle = [*angles(chain), *[False] * (2 * n)]
    x = np.concatenate(state)
    return np.array([[derivative(f, x, (first * n + i, second * n + j), angle) for j in range(n)] for i in range(n)])


def without_springs(chain, q, tau):
    """Springs are no trigonometric polynomials of angles; they are linear and have no second derivatives."""
    return tau - chain.stiffness * (q - chain.rest)


def assert_hessians(chain, H, f, state, ulps):
    scale = max(1.0, *(np.abs(h).max() for h in H))
    for name, blocks in BLOCKS.items():
        assert_close(getattr(H, name), block(chain, f, state, *blocks), chain.n, ulps=ulps, scale=scale)
    for symmetric in (H.H_qq, H.H_qdqd):
        np.testing.assert_array_equal(symmetric, symmetric.T)


@given(mechanisms(max_n=5))
@settings(max_examples=20)
def test_second_derivatives_are_those_of_pinocchios_efforts(mechanism):
    chain, rng = mechanism
    state, nu, n = random_state(rng, chain), rng.uniform(-2, 2, chain.n), chain.n
    loads = random_wrenches(rng, chain) if rng.random() < 0.5 else None
    twin = Twin(chain)

    def f(points):
        efforts = np.array([twin.inverse_dynamics(x[:n], x[n : 2 * n], x[2 * n :], loads) for x in points])
        return without_springs(chain, points[:, :n], efforts) @ nu

    H = chain.second_derivatives(*state, nu, external=loads)
    assert_hessians(chain, H, f, state, OTHER)
    for blocks in ZERO:  # which is why there are no such results
        assert np.abs(block(chain, f, state, *blocks)).max() <= 1e-10 * max(1.0, *(np.abs(h).max() for h in H))


@given(mechanisms(max_n=5))
@settings(max_examples=20)
def test_second_derivatives_on_a_moving_base_are_those_of_the_efforts(mechanism):
    chain, rng = mechanism
    state, nu, n = random_state(rng, chain), rng.uniform(-2, 2, chain.n), chain.n
    loads, base = random_wrenches(rng, chain), rng.uniform(-3, 3, 9)

    def f(points):
        q, qd, qdd = points[:, :n], points[:, n : 2 * n], points[:, 2 * n :]
        return without_springs(chain, q, chain.inverse_dynamics(q, qd, qdd, external=loads, base_motion=base)) @ nu

    H = chain.second_derivatives(*state, nu, external=loads, base_motion=base)
    assert_hessians(chain, H, f, state, 10 * SELF)


@given(mechanisms(max_n=7))
def test_the_mass_matrix_has_these_second_derivatives(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    nu = rng.uniform(-2, 2, chain.n)
    H = chain.second_derivatives(q, qd, qdd, nu)
    dM, d = chain.mass_matrix_derivatives(q), chain.christoffel(q)
    scale = max(1.0, np.abs(dM).max())
    assert_close(H.H_qqdd, np.einsum("i,ijk->kj", nu, dM), chain.n, scale=scale)
    assert_close(H.H_qdqd, 2 * np.einsum("i,isj->sj", nu, d), chain.n, scale=scale)


H_QQ = [
    [-4.06601200967, 8.80557040826, -4.17369494112, -0.987919810333, 0.154145392681],
    [8.80557040826, -20.8513156198, 7.14980772905, 1.34688522207, -0.497004094524],
    [-4.17369494112, 7.14980772905, -0.527305748223, 0, 0],
    [-0.987919810333, 1.34688522207, 0, -3.30265844306, 0.135593984696],
    [0.154145392681, -0.497004094524, 0, 0.135593984696, -0.174937302524],
]
H_QQD = [
    [0, 0, 0, 0, 0],
    [-0.572571001055, -0.911942414644, -0.0683672356885, 0.0149381336811, -0.00507432292021],
    [-0.492080735428, 0.769025025388, 2.39704186326, 0, 0],
    [-0.203112894491, 0.0946546114855, 0, -0.523304379108, -0.0686253688404],
    [-0.21283742533, -0.0131376826985, 0, -0.218192299522, -0.188584236904],
]
H_QDQD = [
    [1.23758361971, 0.885203653137, 0.367093736496, -0.102832670952, -0.0059777589524],
    [0.885203653137, 0.245767038295, -0.843995999768, 0.387519805109, 0.0932039909092],
    [0.367093736496, -0.843995999768, 0, 0, 0],
    [-0.102832670952, 0.387519805109, 0, -0.202123484639, -0.0288321754759],
    [-0.0059777589524, 0.0932039909092, 0, -0.0288321754759, -0.0362054135792],
]
H_QQDD = [
    [0, 0, 0, 0, 0],
    [-0.237860152229, 0.330410931305, 0.0708157101291, -0.0577095292925, 0.0133786107489],
    [0.225462316237, -0.914811709897, 0, 0, 0],
    [-0.0198665889409, 0.436776430896, 0, -0.0987673109562, 0.00988993672983],
    [-0.0193839643401, 0.0733947516436, 0, -0.0363138838023, -0.0181027067896],
]


def test_worked_numbers_of_the_tree_of_five():
    H = worked_tree().second_derivatives(Q, QD, QDD, NU)
    for name, want in zip(NAMES, (H_QQ, H_QQD, H_QDQD, H_QQDD), strict=True):
        np.testing.assert_allclose(getattr(H, name), want, rtol=0, atol=2e-11)


def test_a_pendulum_has_the_textbooks_hessian():
    # tau = (I + m c^2) qdd + m g c sin q, hanging along x at q = 0
    pendulum = zv.Chain([zv.Link("rod", mass=2.0, com=(0.5, 0, 0))], gravity=(9.81, 0, 0))
    H = pendulum.second_derivatives([0.3], [1.0], [2.0], [3.0])
    np.testing.assert_allclose(H.H_qq, [[-3 * 9.81 * np.sin(0.3)]], rtol=1e-14)
    assert (H.H_qqd, H.H_qdqd, H.H_qqdd) == ([[0]], [[0]], [[0]])


def test_choice_of_results_batches_and_packs(tree, rng):
    state = random_state(rng, tree, (3, 4))
    nu, loads = rng.normal(size=tree.n), random_wrenches(rng, tree, (3, 1))
    base = rng.normal(size=9)
    H = tree.second_derivatives(*state, nu, loads, base)
    for k in np.ndindex(3, 4):
        one = {link: wrench[k[0], 0] for link, wrench in loads.items()}
        single = tree.second_derivatives(*(x[k] for x in state), nu, one, base)
        for name in NAMES:
            np.testing.assert_array_equal(getattr(H, name)[k], getattr(single, name))
    for name in NAMES:
        some = tree.second_derivatives(*state, nu, loads, base, outputs=[name])
        np.testing.assert_array_equal(getattr(some, name), getattr(H, name))
        assert all(getattr(some, other) is None for other in NAMES if other != name)


def test_compiled_second_derivatives_are_the_kernels(arm, rng):
    state, nu = random_state(rng, arm, (9,)), rng.normal(size=arm.n)
    compiled = arm.compile("second_derivatives")
    want = arm.second_derivatives(*state, nu)
    got = compiled(*state, nu)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    link, base = arm.link_names[3], rng.normal(size=9)
    loads = {link: rng.normal(size=(9, 6))}
    arguments = ("q", "qd", "qdd", "weights", "base_motion")
    loaded = arm.compile("second_derivatives", external=[link], arguments=arguments, outputs=["H_qq"])
    got = loaded(*state, nu, base_motion=base, external=loads)
    want = arm.second_derivatives(*state, nu, external=loads, base_motion=base)
    np.testing.assert_array_equal(got.H_qq, want.H_qq)


# multiplications and additions of the formulas written out in base axes, ascending powers of n
WRITTEN_OUT = {"mul": (-42, 630, 24), "add": (-96, 593.5, 21.5)}


@pytest.mark.parametrize("kind", WRITTEN_OUT)
def test_counts_are_quadratic_and_not_above_the_formulas_written_out(kind):
    chains = {n: random_chain(np.random.default_rng(n), n, "revolute") for n in range(2, 9)}
    own = fit_polynomial({n: getattr(c.operations("second_derivatives"), kind) for n, c in chains.items()})
    assert len(own) == 3
    for n in (2, 7, 30, 100):
        assert sum(c * n**k for k, c in enumerate(own)) <= sum(c * n**k for k, c in enumerate(WRITTEN_OUT[kind]))
