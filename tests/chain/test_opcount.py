"""Operation counts add up, and polynomials are fitted exactly or not at all."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import pytest
from zveno.opcount import OpCount, fit_polynomial, format_polynomial, operations
from zveno.study import METHODS, random_chain

KINEMATICS = OpCount(mul=27, add=18, trig=2)
ALGORITHM = OpCount(mul=100, add=90, div=3, sqrt=1)
ASSEMBLY = OpCount(mul=6, add=4)
STAGES = {"kinematics": KINEMATICS, "algorithm": ALGORITHM, "assembly": ASSEMBLY}
COUNT = OpCount(133, 112, 3, 1, 2, stages=STAGES)


def test_counts_add_up_by_kind_and_by_stage():
    twice = COUNT + COUNT
    assert (twice.mul, twice.add, twice.div, twice.sqrt, twice.trig) == (266, 224, 6, 2, 4)
    assert twice.stages == {name: stage + stage for name, stage in STAGES.items()}
    assert sum([COUNT, COUNT], OpCount()) == twice


def test_total_is_everything_and_own_is_all_but_kinematics():
    assert COUNT.total == 251
    assert (COUNT.own.mul, COUNT.own.add, COUNT.own.trig) == (106, 94, 0)
    assert COUNT.own.total + KINEMATICS.total == COUNT.total
    assert ASSEMBLY.own == ASSEMBLY


def test_stages_are_dropped_when_they_no_longer_tell_the_whole_story():
    assert not (COUNT + ASSEMBLY).stages
    assert (COUNT + OpCount()).stages == COUNT.stages


def test_stages_that_do_not_add_up_are_refused():
    with pytest.raises(ValueError, match="stages add up to"):
        OpCount(mul=1, stages={"algorithm": OpCount(mul=2)})


def test_count_is_immutable_hashable_and_survives_copies():
    with pytest.raises(AttributeError):
        COUNT.mul = 0  # type: ignore[misc]
    with pytest.raises(TypeError):
        COUNT.stages["algorithm"] = ASSEMBLY  # type: ignore[index]
    for twin in (pickle.loads(pickle.dumps(COUNT)), copy.deepcopy(COUNT), copy.copy(COUNT)):
        assert twin == COUNT
        assert hash(twin) == hash(COUNT)
    assert OpCount(133, 112, 3, 1, 2) != COUNT


def test_count_does_not_add_to_a_number():
    with pytest.raises(TypeError):
        COUNT + 1  # type: ignore[operator]


def test_count_reads_well():
    assert repr(COUNT) == "OpCount(mul=133, add=112, div=3, sqrt=1, trig=2)"
    assert str(COUNT) == "251 operations: 133 mul, 112 add, 3 div, 1 sqrt, 2 trig"
    assert str(OpCount()) == "0 operations"


@pytest.mark.parametrize(
    "coefficients",
    [
        (0,),
        (7,),
        (0, 1),
        (-15, Fraction(7, 2), Fraction(35, 2), 2),
        (0, -8, 18, 2),
        (1, Fraction(1, 6), 0, Fraction(1, 3)),
    ],
)
def test_fit_returns_the_polynomial_the_counts_came_from(coefficients):
    points = {n: sum(Fraction(c) * n**k for k, c in enumerate(coefficients)) for n in (1, 2, 3, 5, 8, 13)}
    assert fit_polynomial(points) == coefficients


def test_fit_refuses_counts_that_follow_no_polynomial():
    with pytest.raises(ValueError, match="no polynomial"):
        fit_polynomial({n: 2**n for n in range(1, 8)})


def test_fit_refuses_a_polynomial_without_a_point_to_confirm_it():
    with pytest.raises(ValueError, match="no polynomial"):
        fit_polynomial({n: n**3 for n in (1, 2, 3, 4)})
    with pytest.raises(ValueError, match="got 1 points"):
        fit_polynomial({3: 1})


@pytest.mark.parametrize(
    ("coefficients", "text", "compact"),
    [
        ((0, -8, 18, 2), "2N^3 + 18N^2 - 8N", "2N³+18N²-8N"),
        ((-15, Fraction(7, 2), Fraction(35, 2), 1), "N^3 + 17.5N^2 + 3.5N - 15", "N³+17.5N²+3.5N-15"),
        ((3, -1), "-N + 3", "-N+3"),
        ((1, Fraction(1, 3)), "(1/3)N + 1", "(1/3)N+1"),
        ((12345678,), "12345678", "12345678"),
        ((0,), "0", "0"),
    ],
)
def test_polynomials_are_printed_highest_power_first(coefficients, text, compact):
    assert format_polynomial(coefficients) == text
    assert format_polynomial(coefficients, compact=True) == compact


@pytest.mark.parametrize("method", METHODS)
def test_operations_of_a_chain_have_the_three_stages(method):
    count = operations(random_chain(4), "mass_matrix", method)
    assert set(count.stages) == {"kinematics", "algorithm", "assembly"}
    assert count.mul > 0
    assert count.add > 0
    assert count.div == count.sqrt == 0
    assert count.trig == 8


def test_operations_without_method_takes_the_default_one():
    chain = random_chain(3)
    assert operations(chain, "mass_matrix") == operations(chain, "mass_matrix", "crba")


def test_operations_names_what_it_does_not_know():
    with pytest.raises(ValueError, match="guess"):
        operations(random_chain(2), "guess")
    with pytest.raises(ValueError, match="guess"):
        operations(random_chain(2), "mass_matrix", "guess")
