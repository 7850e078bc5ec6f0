"""Exact operation counts: integers, equal to the polynomials of the corrected table of Yaskevich (002)."""

from fractions import Fraction

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain, random_links
from helpers import METHODS

HALF = Fraction(1, 2)

# own part for all-revolute serial chains, ascending powers of N
PUBLISHED = {
    ("mass_matrix", "kane"): ((0, 0, 30, 9), (0, 0, 23, 10)),
    ("mass_matrix", "kane-triangular"): ((0, -1, 18, 1), (3, -15 * HALF, 29 * HALF, 1)),
    ("mass_matrix", "kane-recurrent"): ((0, -8, 18, 2), (-15, 7 * HALF, 35 * HALF, 2)),
    ("mass_matrix", "kane-collapsed"): ((-21, 69 * HALF, 9 * HALF), (-43, 50, 4)),
    ("mass_matrix", "kosynka"): ((0, 2, 39, 1), (0, 3 * HALF, 65 * HALF, 1)),
    ("mass_matrix", "leskov"): ((0, 11, 12, 1), (-3, 15 * HALF, 17 * HALF, 1)),
    ("mass_matrix", "leskov-link"): ((0, 3, 20, 1), (0, -1, 14, 1)),  # turns about z and x: 8 mul 4 add
    ("bias", "kane"): ((-51, 87), (-66, 80)),
}
MEASURED = {
    ("mass_matrix", "crba"): 2,
    ("mass_matrix", "crba-walk"): 2,
    ("mass_matrix", "crba-columns"): 2,
    ("inverse_dynamics", None): 1,
    ("bias", "rnea"): 1,
    ("bias", "leskov"): 2,
    ("bias", "leskov-link"): 2,
    ("forward_dynamics", "aba"): 1,
    ("forward_dynamics", "cholesky"): 3,
    ("forward_dynamics", "cholesky-walk"): 3,
}


def revolute_chain(n):
    return random_chain(np.random.default_rng(n), n, "revolute")


def value(coefficients, n):
    return sum(c * n**power for power, c in enumerate(coefficients))


def lagrange(points, x):
    """The polynomial through the points, at x, in fractions."""
    total = Fraction(0)
    for n, y in points.items():
        term = Fraction(y)
        for other in points:
            if other != n:
                term *= Fraction(x - other, n - other)
        total += term
    return total


@pytest.mark.parametrize(("function", "method"), PUBLISHED)
def test_own_operations_equal_the_published_polynomials(function, method):
    mul, add = PUBLISHED[function, method]
    for n in range(2 if function == "bias" else 1, 10):
        own = revolute_chain(n).operations(function, method).own
        assert (own.mul, own.add) == (value(mul, n), value(add, n)), f"N = {n}"
        assert (own.div, own.sqrt, own.trig) == (0, 0, 0)


@pytest.mark.parametrize(("function", "method"), MEASURED)
@pytest.mark.parametrize("kind", ["mul", "add", "div", "sqrt", "trig"])
def test_counts_are_polynomials_in_the_number_of_joints(function, method, kind):
    # from N = 2 on: a chain of one joint has no inner link
    degree = MEASURED[function, method]
    counts = {n: getattr(revolute_chain(n).operations(function, method), kind) for n in range(2, 13)}
    points = {n: counts[n] for n in range(2, 3 + degree)}
    assert counts == {n: lagrange(points, n) for n in counts}


@pytest.mark.parametrize(("function", "method"), [*PUBLISHED, *MEASURED])
def test_stages_add_up_to_the_total(function, method):
    for kinds in ("revolute", "prismatic", "mixed"):
        chain = random_chain(np.random.default_rng(5), 5, kinds)
        count = chain.operations(function, method)
        assert set(count.stages) <= {"kinematics", "algorithm", "assembly"}
        for kind in ("mul", "add", "div", "sqrt", "trig"):
            parts = {stage: getattr(part, kind) for stage, part in count.stages.items()}
            assert sum(parts.values()) == getattr(count, kind)
            assert sum(parts.values()) - parts.get("kinematics", 0) == getattr(count.own, kind)
        assert count.total == count.mul + count.add + count.div + count.sqrt + count.trig
        # a sine and a cosine for every angle, and none elsewhere
        assert 2 * chain.joint_types.count("revolute") <= count.stages["kinematics"].trig == count.trig <= 2 * chain.n


def test_counts_depend_on_the_topology_and_not_on_the_numbers():
    rng = np.random.default_rng(0)
    a, b = (zv.Chain(random_links(rng, 4, "revolute")) for _ in range(2))
    for method in METHODS:
        assert a.operations("mass_matrix", method) == b.operations("mass_matrix", method)


def test_only_solves_divide_and_nothing_takes_roots():
    chain = random_chain(np.random.default_rng(1), 6)
    for (function, method), _ in [*PUBLISHED.items(), *MEASURED.items()]:
        count = chain.operations(function, method)
        assert count.sqrt == 0
        assert (count.div > 0) == (function == "forward_dynamics")


def test_unknown_function_or_method_is_refused(arm):
    with pytest.raises(ValueError, match=r"operations.*magic"):
        arm.operations("magic")
    with pytest.raises(ValueError, match=r"operations.*magic"):
        arm.operations("mass_matrix", "magic")
    for wrong in (3, None, ["mass_matrix"]):
        with pytest.raises(TypeError, match="operations"):
            arm.operations(wrong)
