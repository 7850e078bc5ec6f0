"""Laws that are formulas of the user: texts and functions give what NumPy gives, in every simulation."""

import math
import pickle
import re

import numpy as np
import pytest
import zveno as zv
from hypothesis import given
from hypothesis import strategies as st
from zveno import docking, laws

RNG = np.random.default_rng(3)
STATES = RNG.normal(size=(3, 200))

FUNCTIONS = [
    lambda t, x, v: -400 * x - 80 * v - 5 * np.tanh(v / 2e-3),
    lambda t, x, v: (
        np.where(v > 0, -(np.maximum(x, 0) ** 3), np.clip(v, -1, 1)) + np.sin(2 * np.pi * t) * np.exp(-abs(x))
    ),
    lambda t, x, v: np.sqrt(x * x + 1) / 2 - np.float64(2) * x + np.minimum(np.cos(t), np.square(v)),
    lambda t, x, v: np.where(x <= 0.1, (x - 0.1) ** 2, (1 + x * x) ** -2) + np.where(v >= t, 1.0, -np.fabs(v)),
    lambda t, x, v: (x * x + 1) ** 0.5 + np.where(t < 0, 3, +x) - -v,
    lambda t, x, v: x,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_and_its_text_give_what_numpy_gives(function):
    t, x, v = STATES
    law = laws.Formula(function)
    again = laws.Formula(law.text)
    np.testing.assert_allclose(law(t, x, v), function(t, x, v), rtol=1e-14, atol=1e-14)
    assert np.array_equal(again(t, x, v), law(t, x, v))
    assert pickle.loads(pickle.dumps(law)) == law and hash(again) == hash(law)


def tree(names):
    leaf = st.sampled_from(["t", "x", "v"]) | st.floats(-3, 3).map(lambda y: f"({y!r})")

    def grow(inner):
        pair = st.tuples(inner, inner)
        return st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
            pair.map(lambda p: f"({p[0]} / (1 + abs({p[1]})))"),
            st.tuples(st.sampled_from(["abs", "tanh", "sin", "cos"]), inner).map(lambda p: f"{p[0]}({p[1]})"),
            inner.map(lambda p: f"exp(-abs({p}))"),
            inner.map(lambda p: f"sqrt(abs({p}))"),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
            st.tuples(inner, st.sampled_from("><"), inner, inner, inner).map(
                lambda p: f"where({p[0]} {p[1]} {p[2]}, {p[3]}, {p[4]})"
            ),
        )

    return st.recursive(leaf, grow, max_leaves=12)


@given(tree("txv"))
def test_random_formulas_give_what_python_gives(text):
    def where(test, a, b):
        return a if test else b

    words = {name: getattr(math, name) for name in ("tanh", "sin", "cos", "exp", "sqrt")}
    words |= {"abs": abs, "min": min, "max": max, "where": where}
    law = laws.Formula(text)
    for t, x, v in STATES.T[:3].tolist():
        wanted = eval(text, words, {"t": t, "x": x, "v": v})
        assert law(t, x, v) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_parameters_and_steps_of_a_text():
    law = laws.Formula("u = v / speed\n-k * x - force * tanh(u)", {"k": 400, "speed": 2e-3, "force": 5.0})
    other = laws.SpringDamper(400.0) + laws.DryFriction(5.0, 2e-3)
    t, x, v = STATES
    np.testing.assert_allclose(law(t, x, v), other(t, x, v), rtol=1e-14)
    assert laws.Formula("3")(0.0, 1.0, 2.0) == 3.0
    assert laws.Formula("-2 if x >= 1 else pi")(0.0, 1.0, 0.0) == -2.0


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("-k * x", {}, "has the name 'k', expected some of pi, t, x, v"),
        ("open('x')", {}, "formulas have no function 'open'"),
        ("x.real", {}, "holds Attribute"),
        ("__import__('os').remove('x')", {}, "formulas have no function"),
        ("x +", {}, "is no formula"),
        ("x = 3; x", {}, "assigns 'x', which has a meaning already"),
        ("x ** v", {}, r"'x \*\* v': the exponent is something that varies, expected a whole number up to 64, or 0.5"),
        ("x ** 2.5", {}, r"the exponent is 2.5, expected a whole number"),
        ("y = 3", {}, "does not end with the force"),
        ("1 / 0", {}, "division by zero"),
        ("0 < x < 1", {}, "compares more than two numbers"),
        ("x > 0", {}, "expected numbers"),
        ("min(x)", {}, r"calls min\(x\), expected 2 arguments"),
        ("sin(x, v)", {}, r"calls sin\(x, v\), expected 1 argument$"),
        ("where(x, 1, 2)", {}, "the condition is a number that is not known yet, expected a comparison"),
        ("(x > 0) * 3", {}, "a formula holds a comparison, expected numbers"),
        ("exp(1000) * x", {}, "exp of 1000 has no finite value"),
        ("x y", {}, "is no formula: invalid syntax$"),
        ("x", {"t": 1.0}, "parameters has the name 't'"),
        ("-k * x", {"k": 1.0, "c": 2.0}, "parameters has 'c', which the text '-k \\* x' does not name"),
        ("k", {"k": "a"}, r"parameters\['k'\] is 'a'"),
        ("k", {"k": math.nan}, r"parameters\['k'\] is nan"),
        ("+".join(f"{i}.5*x" for i in range(200)), {}, "expected at most 253 together"),
        (3, {}, "text is 3, expected a text or a function"),
    ],
)
def test_texts_that_are_no_formulas_are_refused(text, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        laws.Formula(text, parameters)


@pytest.mark.parametrize("exponent", [*range(-9, 17), 31, 64])
def test_powers_of_numbers_and_of_parameters_are_those_of_python(exponent):
    want = 1.3**exponent
    for text in (f"1.3 ** {exponent}", f"k ** {exponent}", f"x ** {exponent}"):
        parameters = {"k": 1.3} if "k" in text else {}
        assert laws.Formula(text, parameters)(0.0, 1.3, 0.0) == pytest.approx(want, rel=1e-14)
    assert laws.Formula(lambda t, x, v: np.float64(1.3) ** exponent * x)(0.0, 1.0, 0.0) == pytest.approx(
        want, rel=1e-14
    )


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, x, v: 1.0 if v == 0 else 2.0, r"np\.where"),
        (lambda t, x, v: np.where(x != 0, 1.0, 2.0), r"np\.where"),
        (lambda t, x, v: (x > 0) * 5.0, r"np\.where"),
        (lambda t, x, v: np.float64(5.0) * (x > 0), r"np\.where|a comparison"),
        (lambda t, x, v: x // 2, "no other operators"),
        (lambda t, x, v: x % 2, "no other operators"),
        (lambda t, x, v: 2**x, "no other operators"),
        (lambda t, x, v: np.array([x, v]), "expected numbers"),
    ],
)
def test_functions_that_are_no_formulas_are_refused_in_words(function, message):
    with pytest.raises(TypeError, match=message) as caught:
        laws.Formula(function)
    assert str(caught.value).startswith("Formula: ")
    assert "object at 0x" not in str(caught.value) and "_Node" not in str(caught.value)


def test_functions_that_decide_are_told_how():
    for function in (lambda t, x, v: 1.0 if v > 0 else 0.0, lambda t, x, v: math.tanh(v), lambda t, x, v: x**v):
        with pytest.raises(TypeError, match=r"np.where|whole number"):
            laws.Formula(function)
    for exponent, message in (
        (math.nan, "holds nan, expected"),
        ("two", "holds 'two', expected"),
        (65, "is 65, expected"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            laws.Formula(lambda t, x, v, n=exponent: x**n)
    with pytest.raises(TypeError, match="formulas have no function 'arctan'"):
        laws.Formula(lambda t, x, v: np.arctan(v))
    with pytest.raises(FloatingPointError, match="or a formula has no value there"):
        laws.Formula("sqrt(x)")(0.0, -1.0, 0.0)


def test_a_formula_moves_a_ring_and_an_arm_as_the_law_that_it_copies():
    ring = zv.mechanisms.docking_ring("RSU")
    start = {"u": [-0.08, 0.01, 0, 0, 0.02, 0]}
    plain = ring.simulate(0.3, 1e-3, laws=laws.SpringDamper(15.0, 3.0), **start)
    mine = ring.simulate(0.3, 1e-3, laws=laws.Formula("-15 * x - 3 * v"), **start)
    np.testing.assert_allclose(mine.r, plain.r, atol=1e-13)
    six = [laws.Formula("-15 * x - 3 * v") if k % 2 else laws.SpringDamper(15.0, 3.0) for k in range(6)]
    np.testing.assert_allclose(ring.simulate(0.3, 1e-3, laws=six, **start).r, plain.r, atol=1e-13)
    arm = zv.robots.two_link()
    plain = arm.simulate(0.3, 1e-3, q=[0.5, 0.0], laws=laws.SlipClutch(3.0, laws.SpringDamper(20.0, 1.0)))
    mine = arm.simulate(0.3, 1e-3, q=[0.5, 0.0], laws=laws.SlipClutch(3.0, laws.Formula("-20 * x - v")))
    np.testing.assert_allclose(mine.q, plain.q, atol=1e-12)


def test_c_refuses_formulas(tmp_path):
    ring, law = zv.mechanisms.docking_ring("UPS"), laws.Formula("-400 * x")
    scenario = docking.demo("UPS").replace(phases=docking.Phases(ready=law))
    text = re.escape("laws: a Formula runs in Python's simulations only")
    for save in (
        lambda: zv.save_rig(ring, tmp_path / "a.json", period=1e-3, laws=law),
        lambda: zv.save_rig(scenario, tmp_path / "b.json", period=1e-3),
        lambda: zv.export_step(ring, tmp_path / "step", period=1e-3, laws=law),
        lambda: zv.export_fmu(ring, tmp_path / "c.fmu", step=1e-3, laws=law),
    ):
        with pytest.raises(ValueError, match=text):
            save()
    assert not any(tmp_path.iterdir())
