"""Base parameters of chains and trees: published examples and counts, other ways to the same row space."""

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain

RIGHT = np.pi / 2
# standard rows (theta0, d, a, alpha)
PUMA = [
    (0, 0, 0, RIGHT),
    (0, 0, 0.4318, 0),
    (0, 0.15005, 0.0203, -RIGHT),
    (0, 0.4318, 0, RIGHT),
    (0, 0, 0, -RIGHT),
    (0, 0, 0, 0),
]


def samples(bp, rng, count):
    q, qd, qdd = rng.normal(size=(3, count, bp.chain.n))
    return bp.full_regressor(q, qd, qdd).reshape(-1, len(bp.columns))


def rank(A):
    A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    sizes = np.linalg.svd(A, compute_uv=False)
    return int((sizes > 1e-10 * sizes[0]).sum())


def test_the_two_link_example_of_the_paper():
    arm = zv.Chain.from_dh(
        [(0, 0, 0.4, 0), (0, 0, 0.35, 0)],
        masses=[3, 2],
        coms=[(-0.15, 0.02, 0), (-0.12, 0.01, 0)],
        inertias=[(0.01, 0.03, 0.035), (0.005, 0.015, 0.018)],
        gravity=(-9.81, 0, 0),
    )
    bp = arm.base_parameters(parameters="moments", frames="dh")
    assert bp.combinations() == (
        "Ixx1 + Iyy1 - 0.16 (m1 + m2)",
        "Sx1 + 0.4 (m1 + m2)",
        "Sy1",
        "Ixx2 + Iyy2 - 0.1225 m2",
        "Sx2 + 0.35 m2",
        "Sy2",
    )
    np.testing.assert_allclose(bp.values, [-0.6963, 1.55, 0.06, -0.198, 0.46, 0.02], atol=1e-15)
    W = bp.regressor((0.5, -0.8), (0.9, -1.3), (2, 1))
    first = [2, -3.103164534, -8.609084932, 3, 6.205954062, -7.755995032]
    np.testing.assert_allclose(W[0], first, rtol=0, atol=5e-10)
    np.testing.assert_allclose(W @ bp.values, [-4.613431155, 1.683593140], rtol=0, atol=5e-10)


@pytest.mark.parametrize("parameters", ["tensor", "moments"])
@pytest.mark.parametrize("seed", range(6))
def test_pivots_span_what_the_regressor_spans(seed, parameters):
    rng = np.random.default_rng(seed)
    arm = random_chain(rng, int(rng.integers(2, 8)), fixed=True, branching=seed % 2 == 0)
    bp = arm.base_parameters(parameters=parameters, extra=["rotor_inertia", "offset"] if seed > 2 else ())
    W = samples(bp, rng, 60)
    assert bp.count == rank(W) == rank(W[:, bp.pivots])
    np.testing.assert_allclose(W[:, bp.pivots] @ bp.Y, W, rtol=0, atol=1e-10 * np.abs(W).max())
