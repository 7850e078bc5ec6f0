"""Expression graphs: the simplifying builder and the algebraic level, against exact rational arithmetic."""

import math
import operator
from fractions import Fraction

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from zveno import _core
from zveno.graph import ARITY, OPS, Argument, Graph

CODE = {name: code for code, name in enumerate(OPS)}
INPUTS = 4
ARITHMETIC = ("add", "sub", "mul", "neg")
EVERYTHING = (*ARITHMETIC, "fma", "div", "sqrt", "sin", "cos", "angle")


# ---- expressions, once as a plain list and once as a graph ----------------------------------------------------------


class Program:
    """Steps as they are written: ("input", k), ("constant", x) or (operation, operands...)."""

    def __init__(self, steps, results):
        self.steps, self.results = steps, results

    def __repr__(self):
        return f"Program({self.steps}, {self.results})"

    def values(self, inputs, arithmetic):
        """Of all steps, one after the other."""
        value = []
        for op, *operands in self.steps:
            if op == "input":
                value.append(inputs[operands[0]])
            elif op == "constant":
                value.append(arithmetic["constant"](operands[0]))
            else:
                value.append(arithmetic[op](*(value[i] for i in operands)))
        return value

    def evaluate(self, inputs, arithmetic):
        value = self.values(inputs, arithmetic)
        return [value[i] for i in self.results]

    def needed(self):
        """Steps that results depend on."""
        live = set(self.results)
        for i in reversed(range(len(self.steps))):
            if i in live and self.steps[i][0] not in ("input", "constant"):
                live.update(self.steps[i][1:])
        return [self.steps[i] for i in sorted(live)]

    def graph(self):
        core, nodes = _core.Graph(), []
        for op, *operands in self.steps:
            if op == "input":
                nodes.append(core.input(0, operands[0]))
            elif op == "constant":
                nodes.append(core.constant(float(operands[0])))
            else:
                nodes.append(core.apply(CODE[op], *(nodes[i] for i in operands)))
        core.set_outputs([[nodes[i] for i in self.results]])
        return wrapped(core.pruned())


def wrapped(core):
    (results,) = core.outputs()
    return Graph(core, [Argument("x", (INPUTS,))], [Argument("y", (len(results),))])


def algebraic(graph):
    return wrapped(graph.core.algebraic()[0])


def root(x):
    """Of the square of a rational number."""
    n, d = math.isqrt(x.numerator), math.isqrt(x.denominator)
    assert (n * n, d * d) == (x.numerator, x.denominator)
    return Fraction(n, d)


def fused(a, b, c):
    """a b + c rounded once."""
    return np.float64(Fraction(a) * Fraction(b) + Fraction(c)) if np.isfinite([a, b, c]).all() else a * b + c


# angles are given by the tangent of their half, so that sines and cosines are rational too; "angle" is a function like
# any other here
EXACT = {
    "constant": Fraction,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "fma": lambda a, b, c: a * b + c,
    "sqrt": root,
    "sin": lambda t: 2 * t / (1 + t * t),
    "cos": lambda t: (1 - t * t) / (1 + t * t),
    "angle": lambda s, c: 3 * s - 2 * c + s * c * c,
}
# the sign of a zero is not kept, and an angle would show it
FLOATING = {
    "constant": np.float64,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "fma": fused,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "angle": lambda s, c: np.arctan2(s + 0.0, c + 0.0),
}
# few bits, so that constants fold without rounding
DYADIC = [Fraction(n, d) for d in (1, 2, 4) for n in (-3, -2, -1, 0, 1, 2, 3)]
rationals = st.sampled_from([Fraction(n, d) for n in (-5, -3, -2, -1, 1, 2, 3, 7) for d in (1, 2, 3)])


@st.composite
def programs(draw, ops=EVERYTHING, constants=DYADIC, exact=True, most=18):
    """Random expressions; exact: roots of squares only, division by inputs and powers of two, no large constants."""
    numbers = iter(draw(st.binary(min_size=5 * most + 10, max_size=5 * most + 10)))  # quicker than a draw for each

    def one_of(choices):
        return choices[next(numbers) % len(choices)]

    steps = [("input", i) for i in range(INPUTS)]
    steps += [("constant", one_of(constants)) for _ in range(one_of(range(4)))]
    fixed = {i: step[1] for i, step in enumerate(steps) if step[0] == "constant"}
    divisors = [i for i in range(len(steps)) if not exact or i not in fixed or is_power_of_two(fixed[i])]
    for _ in range(1 + one_of(range(most))):
        op = one_of(ops)
        operands = tuple(one_of(range(len(steps))) for _ in range(ARITY[CODE[op]]))
        if op == "sqrt":
            steps.append(("mul", operands[0], operands[0]))
            operands = (len(steps) - 1,)
        elif op == "div":
            operands = (operands[0], one_of(divisors))
        if exact and all(i in fixed for i in operands):
            value = EXACT[op](*(fixed[i] for i in operands))
            if abs(value.numerator) > 8 or value.denominator not in (1, 2, 4, 8):
                continue
            fixed[len(steps)] = value
        steps.append((op, *operands))
    results = [one_of(range(len(steps))) for _ in range(one_of(range(5)))]
    return Program(steps, [*results, len(steps) - 1])


def is_power_of_two(x):
    return x != 0 and math.frexp(abs(x))[0] == 0.5


states = st.lists(rationals, min_size=INPUTS, max_size=INPUTS)
doubles = st.lists(st.floats(-4, 4, allow_subnormal=False), min_size=INPUTS, max_size=INPUTS)


# ---- the graph means what was written -------------------------------------------------------------------------------


@settings(max_examples=400)
@given(programs(), states)
def test_graphs_are_exactly_the_expression(program, inputs):
    want = program.evaluate(inputs, EXACT)
    graph = program.graph()
    assert graph.evaluate(inputs, arithmetic=EXACT) == [want]
    assert algebraic(graph).evaluate(inputs, arithmetic=EXACT) == [want]


@settings(max_examples=400)
@given(programs(ops=("add", "sub", "mul", "mul", "fma")), states)
def test_polynomials_are_exactly_the_expression(program, inputs):
    want = program.evaluate(inputs, EXACT)
    once = algebraic(program.graph())
    assert once.evaluate(inputs, arithmetic=EXACT) == [want]
    assert algebraic(once).evaluate(inputs, arithmetic=EXACT) == [want]


@settings(max_examples=400)
@given(programs(constants=[0.0, 1.0, -1.0, 0.1, -0.7, 3.3, -2.0], exact=False), doubles)
def test_builder_keeps_every_bit(program, inputs):
    with np.errstate(all="ignore"):
        values = program.values([np.float64(x) for x in inputs], FLOATING)
        assume(np.isfinite(values).all())
        want = [values[i] for i in program.results]
        (got,) = program.graph().evaluate(inputs, arithmetic=FLOATING)
    assert np.array_equal(got, want)  # -0 equals 0


@settings(max_examples=200)
@given(programs(ops=(*ARITHMETIC, "sin", "cos"), constants=[0.1, -0.7, 3.3, 1e-3], exact=False), doubles)
def test_algebraic_level_rounds_differently_and_nothing_else(program, inputs):
    with np.errstate(all="ignore"):
        values = program.values([np.float64(x) for x in inputs], FLOATING)
        size = max(map(abs, values), default=0) + 1  # of what may cancel
        assume(size < 1e3)
        (got,) = algebraic(program.graph()).evaluate(inputs, arithmetic=FLOATING)
    want = [values[i] for i in program.results]
    assert np.abs(np.subtract(got, want)).max() <= 1e-14 * size**3


# ---- what a graph looks like ----------------------------------------------------------------------------------------


def check_tidy(graph):
    """Pruned, ordered, every value once, nothing left that has no effect."""
    rows = list(zip(*(x.tolist() for x in graph.core.arrays()), strict=True))
    assert len(set(rows)) == len(rows), "a value is computed twice"
    live = {i for r in graph.results for i in r.tolist()}
    nodes = list(graph)
    for node in reversed(nodes):
        assert node.index in live, "a value is not used"
        live.update(node.operands)
    for node in nodes:
        assert all(i < node.index for i in node.operands), "an operand comes after its use"
        check_reduced(node, [nodes[i] for i in node.operands])
    differences = {node.operands for node in nodes if node.op == "sub"}
    assert not {(b, a) for a, b in differences} & differences, "a - b and b - a"


def check_reduced(node, operands):
    constants = [x.value for x in operands if x.op == "constant"]
    signed = [x.op == "neg" or (x.op == "constant" and x.value < 0) for x in operands]
    if node.op == "constant":
        assert math.isfinite(node.value) and math.copysign(1, node.value) == (-1 if node.value < 0 else 1)
    elif node.op == "neg":
        assert operands[0].op not in ("neg", "constant")
    elif node.op in ("add", "sub", "mul"):
        assert not any(signed) and len(constants) < 2
        assert (1.0 if node.op == "mul" else 0.0) not in constants
        assert node.op != "mul" or 0.0 not in constants
        assert node.op == "sub" or node.operands[0] <= node.operands[1]
        assert node.op != "sub" or node.operands[0] != node.operands[1]
    elif node.op == "div":
        assert not any(signed) and not (operands[1].op == "constant" and math.frexp(operands[1].value)[0] == 0.5)
    elif node.op == "fma":
        assert (
            not signed[1] and 0.0 not in constants and not {x.value for x in operands[:2] if x.op == "constant"} & {1.0}
        )
        assert not (signed[0] and operands[2].op == "neg")


@settings(max_examples=300)
@given(programs())
def test_graphs_are_tidy(program):
    graph = program.graph()
    check_tidy(graph)
    assert graph.operations.total <= sum({"fma": 2}.get(op, 1) for op, *_ in program.needed() if op not in FREE)
    check_tidy(algebraic(graph))


FREE = ("input", "constant", "neg")


@settings(max_examples=300)
@given(programs(ops=(*ARITHMETIC, "mul", "sin", "cos", "sqrt")))
def test_algebraic_level_never_takes_more(program):
    before = program.graph()
    after = algebraic(before)
    assert after.instructions <= before.instructions
    assert algebraic(after).instructions <= after.instructions + 2


@settings(max_examples=50)
@given(programs())
def test_algebraic_level_is_deterministic_and_leaves_its_input_alone(program):
    graph = program.graph()
    before = [x.tolist() for x in graph.core.arrays()]
    once, twice = graph.core.algebraic(), graph.core.algebraic()
    assert once[1] == twice[1]
    for x, y in zip(once[0].arrays(), twice[0].arrays(), strict=True):
        assert np.array_equal(x, y)
    assert before == [x.tolist() for x in graph.core.arrays()]


# ---- values that are known to be the same ---------------------------------------------------------------------------


def _operator(op, reflected=False):
    return lambda x, y: x._apply(op, *((y, x) if reflected else (x, y)))


class Value:
    """A node with operators."""

    def __init__(self, core, node):
        self.core, self.node = core, node

    def _apply(self, op, *others):
        nodes = [x.node if isinstance(x, Value) else self.core.constant(x) for x in others]
        return Value(self.core, self.core.apply(CODE[op], *nodes))

    __add__, __radd__ = _operator("add"), _operator("add", reflected=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", reflected=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", reflected=True)
    __truediv__, __rtruediv__ = _operator("div"), _operator("div", reflected=True)

    def __neg__(self):
        return self._apply("neg", self)

    def sin(self):
        return self._apply("sin", self)

    def cos(self):
        return self._apply("cos", self)

    def sqrt(self):
        return self._apply("sqrt", self)

    def fma(self, y, z):
        return self._apply("fma", self, y, z)


def variables(core=None):
    core = _core.Graph() if core is None else core
    return [Value(core, core.input(0, i)) for i in range(INPUTS)]


@pytest.mark.parametrize(
    "pair",
    [
        lambda a, b, c, d: (a + b, b + a),
        lambda a, b, c, d: (a * b, b * a),
        lambda a, b, c, d: (a + -b, a - b),
        lambda a, b, c, d: (-a + b, b - a),
        lambda a, b, c, d: (-(a - b), b - a),
        lambda a, b, c, d: (-a - b, -(a + b)),
        lambda a, b, c, d: (a - -b, a + b),
        lambda a, b, c, d: (-a * b, -(b * a)),
        lambda a, b, c, d: (-a * -b, a * b),
        lambda a, b, c, d: (-1.0 * a, -a),
        lambda a, b, c, d: (a * -3.0, -(3.0 * a)),
        lambda a, b, c, d: (a - 3.0, -(3.0 - a)),
        lambda a, b, c, d: (a + -3.0, a - 3.0),
        lambda a, b, c, d: (-a / b, -(a / b)),
        lambda a, b, c, d: (a / -b, -(a / b)),
        lambda a, b, c, d: (a / 4.0, 0.25 * a),
        lambda a, b, c, d: (a / 1.0, a),
        lambda a, b, c, d: (-a._apply("neg", a), a),
        lambda a, b, c, d: (a + 0.0, a),
        lambda a, b, c, d: (0.0 - a, -a),
        lambda a, b, c, d: (a * 1.0, a),
        lambda a, b, c, d: (a - a, a * 0.0),
        lambda a, b, c, d: ((a + b) * (c - d), -((d - c) * (b + a))),
        lambda a, b, c, d: (a.fma(b, c), b.fma(a, c)),
        lambda a, b, c, d: ((-a).fma(b, c), a.fma(-b, c)),
        lambda a, b, c, d: ((-a).fma(b, -c), -a.fma(b, c)),
        lambda a, b, c, d: ((-a).fma(-b, c), a.fma(b, c)),
        lambda a, b, c, d: (a.fma(1.0 + 0.0 * a, c), a + c),
        lambda a, b, c, d: ((0.0 * a).fma(b, c), c),
        lambda a, b, c, d: (a.fma(-1.0 + 0.0 * a, c), c - a),
    ],
)
def test_equal_values_are_one_node(pair):
    x, y = pair(*variables())
    assert x.node == y.node


def test_constants_fold_unless_they_leave_the_range_of_numbers():
    core = _core.Graph()
    a, b = Value(core, core.constant(1e200)), Value(core, core.constant(3.0))
    folded = [a + b, b - a, b * b, a / b, b.fma(b, b), Value(core, core.apply(CODE["sqrt"], b.node))]
    core.set_outputs([[x.node for x in folded]])
    graph = wrapped(core.pruned())
    assert set(graph.op) == {CODE["constant"]}
    want = [1e200 + 3, 3 - 1e200, 9.0, 1e200 / 3, 12.0, math.sqrt(3)]
    assert graph.evaluate([])[0] == want
    core.set_outputs([[(a * a).node, (a.fma(a, b)).node, (b / 0.0).node]])
    assert wrapped(core.pruned()).operations == zv.OpCount(mul=2, add=1, div=1)


# ---- misuse ---------------------------------------------------------------------------------------------------------


def test_too_many_nodes_are_refused_and_the_graph_stays_usable():
    core = _core.Graph(limit=INPUTS + 1)
    a, b, *_ = variables(core)
    total = a + b
    with pytest.raises(zv.GraphSizeError, match="more than 5 nodes") as caught:
        a * b
    assert caught.value.limit == 5 and isinstance(caught.value, ValueError)
    assert len(core) == 5 and (b + a).node == total.node


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda g: g.apply(CODE["add"], 0, 2), IndexError, "node 2"),
        (lambda g: g.apply(CODE["add"], -1, 0), IndexError, "node -1"),
        (lambda g: g.apply(CODE["add"], 0), IndexError, "node -1"),
        (lambda g: g.apply(CODE["fma"], 0, 0), IndexError, "node -1"),
        (lambda g: g.apply(CODE["neg"], 7), IndexError, "node 7"),
        (lambda g: g.apply(CODE["constant"], 0), ValueError, "operation 0"),
        (lambda g: g.apply(CODE["input"], 0, 0), ValueError, "operation 1"),
        (lambda g: g.apply(len(OPS), 0), ValueError, "operation 12"),
        (lambda g: g.apply(-1, 0), ValueError, "operation -1"),
        (lambda g: g.input(-1, 0), IndexError, "negative"),
        (lambda g: g.input(0, -1), IndexError, "negative"),
        (lambda g: g.constant(math.inf), ValueError, "not finite"),
        (lambda g: g.constant(math.nan), ValueError, "not finite"),
        (lambda g: g.set_outputs([[0], [2]]), IndexError, "node 2"),
        (lambda g: g.set_outputs([[-1]]), IndexError, "node -1"),
    ],
)
def test_misuse_is_an_error(call, error, text):
    core = _core.Graph()
    core.input(0, 0), core.constant(2.0)
    core.set_outputs([[0]])
    with pytest.raises(error, match=text):
        call(core)
    assert len(core) == 2 and [r.tolist() for r in core.outputs()] == [[0]]


# ---- what the algebraic level does ----------------------------------------------------------------------------------


def count(graph):
    names = [node.op for node in graph if node.op not in ("constant", "input", "neg")]
    return {name: names.count(name) for name in sorted(set(names))}


@pytest.mark.parametrize(
    ("results", "want"),
    [
        # constants
        (lambda a, b, c, d: [a * 3.0 * 5.0], {"mul": 1}),
        (lambda a, b, c, d: [a + 3.0 + 5.0], {"add": 1}),
        (lambda a, b, c, d: [3.0 * a + a * 5.0], {"mul": 1}),
        (lambda a, b, c, d: [3.0 * a * b - b * 3.0 * a + c], {}),
        (lambda a, b, c, d: [a + a + b], {"fma": 1}),
        (lambda a, b, c, d: [(a + a) * b], {"add": 1, "mul": 1}),
        (lambda a, b, c, d: [7.0 * (3.0 * a + 5.0 * b)], {"fma": 1, "mul": 1}),
        (lambda a, b, c, d: [7.0 * (3.0 * a + 5.0 * b) + c], {"fma": 2}),
        # factors
        (lambda a, b, c, d: [a * b + a * c], {"add": 1, "mul": 1}),
        (lambda a, b, c, d: [a * b - c * a + d], {"fma": 1, "sub": 1}),
        (lambda a, b, c, d: [a * b * c + a * d], {"fma": 1, "mul": 1}),
        (lambda a, b, c, d: [a * c + a * d + b * c + b * d], {"add": 2, "mul": 1}),
        (lambda a, b, c, d: [3.0 * a * b - 3.0 * c * d], {"fma": 1, "mul": 2}),
        (lambda a, b, c, d: [(a - b) * c], {"mul": 1, "sub": 1}),  # a c - b c could cancel
        # reciprocals
        (lambda a, b, c, d: [a / d, b / d, c / -d], {"div": 1, "mul": 3}),
        (lambda a, b, c, d: [1.0 / d, a / d], {"div": 1, "mul": 1}),
        (lambda a, b, c, d: [a / d, b / c], {"div": 2}),
        (lambda a, b, c, d: [a / 3.0], {"mul": 1}),
        (lambda a, b, c, d: [a / b / c, a.sqrt().sqrt(), a.sin().sin()], {"div": 2, "sin": 2, "sqrt": 2}),
        # what several sums or products have in common, also negated
        (lambda a, b, c, d: [a + c + b, d - a - b], {"add": 2, "sub": 1}),
        (lambda a, b, c, d: [a - c + d, c + b - a], {"add": 1, "sub": 2}),
        (lambda a, b, c, d: [a * c * b, a * d * b], {"mul": 3}),
        # identities
        (lambda a, b, c, d: [a.sin() * a.sin() + a.cos() * a.cos()], {}),
        (lambda a, b, c, d: [b * a.cos() * a.cos() + (d + b * a.sin() * a.sin())], {"add": 1}),
        (lambda a, b, c, d: [a.sin() * a.sin() + b.cos() * b.cos()], {"cos": 1, "fma": 1, "mul": 1, "sin": 1}),
        # fused
        (lambda a, b, c, d: [a * b + c], {"fma": 1}),
        (lambda a, b, c, d: [a * b - c], {"fma": 1}),
        (lambda a, b, c, d: [c - a * b], {"fma": 1}),
        (lambda a, b, c, d: [a * b + c * d], {"fma": 1, "mul": 1}),
        (
            lambda a, b, c, d: [a * b + c, a * b - d],
            {"add": 1, "mul": 1, "sub": 1},
        ),  # one multiplication
        (lambda a, b, c, d: [a * b + c, (a * b).sin()], {"add": 1, "mul": 1, "sin": 1}),
        (lambda a, b, c, d: [a * b, a * b + c * d], {"fma": 1, "mul": 1}),
    ],
)
def test_algebraic_level_finds(results, want):
    values = variables()
    core = values[0].core
    core.set_outputs([[x.node for x in results(*values)]])
    before = wrapped(core.pruned())
    after = algebraic(before)
    want = dict(want)
    for trig in ("sin", "cos"):  # those that are not needed any more are gone
        assert count(after).get(trig, 0) == want.get(trig, 0)
    assert count(after) == want
    x = np.array([0.3, -1.2, 2.5, 0.7])
    assert np.allclose(after.evaluate(x), before.evaluate(x), rtol=1e-14, atol=1e-15)


def test_report_counts_what_was_done():
    a, b, c, d = variables()
    squares = a.sin() * a.sin() + a.cos() * a.cos()
    results = [
        squares + 3.0 * b + 5.0 * b,
        a * b + a * c,
        a / d + b * (c / d),
        7.0 * (3.0 * a + 5.0 * b),
        a + c + b,
        d - a - b,
    ]
    a.core.set_outputs([[x.node for x in results]])
    after, report = a.core.algebraic()
    assert report == {
        "collected": 1,
        "distributed": 1,
        "reciprocals": 2,
        "identities": 1,
        "factored": 4,
        "shared": 2,
        "fused": np.count_nonzero(after.arrays()[0] == CODE["fma"]),
    }


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b, c, d: -(a * b - c * d),
        lambda a, b, c, d: -(a - b) * c,
        lambda a, b, c, d: -(a - c * d),
        lambda a, b, c, d: b - a - c * d,
        lambda a, b, c, d: (b - a).sin() + (d - c).cos(),
    ],
)
def test_signs_of_results_are_free(f):
    values = variables()
    core = values[0].core
    core.set_outputs([[f(*values).node]])
    nodes = list(algebraic(wrapped(core.pruned())))
    absorbed = {i for x in nodes if x.op == "fma" for i in x.operands}
    assert all(x.index in absorbed for x in nodes if x.op == "neg")


def test_sums_of_many_terms_are_added_in_parallel():
    core = _core.Graph()
    x = [Value(core, core.input(0, i)) for i in range(INPUTS)]
    logs = [v.sin() for v in x] + [v.cos() for v in x]
    total = sum(logs[1:], logs[0])
    core.set_outputs([[total.node]])
    assert wrapped(core.pruned()).depth == 8 and algebraic(wrapped(core.pruned())).depth == 4


def test_a_late_value_is_added_last():
    a, b, c, d = variables()
    late = ((a * b).sin() * c).cos() / d
    total = late + a * b + c * d + b * d + a * c + 2.5 * (a * d)
    a.core.set_outputs([[total.node]])
    graph = algebraic(wrapped(a.core.pruned()))
    assert graph.depth == 6  # mul, sin, mul, cos, div and one addition


# ---- numbers at the edges, long chains ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda a: a * 1e-200 * 1e-200 * 1e300,
        lambda a: a * 1e200 * 1e200 * 1e-300,
        lambda a: (a * 1e-300) / 1e300,
        lambda a: a / 1e-310 * 1e-300,
        lambda a: a / 5e-324,
        lambda a: 1e-200 * (1e-200 * a + 1e-180 * (a * a)),
        lambda a: (a + 1e308 + 1e308) * 1e-10,
        lambda a: a * 5e-324 + a * 5e-324,
        lambda a: (1e308 * a + 1e308 * (a * a)) - 1e308 * a,
    ],
)
def test_constants_are_not_merged_out_of_the_range_of_numbers(f):
    a, *_ = variables()
    a.core.set_outputs([[f(a).node]])
    before = wrapped(a.core.pruned())
    after = algebraic(before)
    for x in (1e250, 1e-3, 1.0, 1e-250):
        with np.errstate(all="ignore"):
            want, got = before.evaluate([np.float64(x)])[0][0], after.evaluate([np.float64(x)])[0][0]
        if np.isfinite(want) and abs(want) > 1e-290:
            assert got == pytest.approx(want, rel=1e-14)


@pytest.mark.parametrize("op", ("add", "sub", "mul"))
def test_long_chains_need_no_stack_and_little_time(op):
    core = _core.Graph()
    x = [core.input(0, i) for i in range(INPUTS)]
    node = x[0]
    for i in range(20_000):
        term = core.apply(CODE["mul"], x[i % 3], core.constant(float(i % 7 + 2))) if op == "add" else x[i % 3]
        node = core.apply(CODE[op], node, term)
    core.set_outputs([[node]])
    before, after = wrapped(core.pruned()), algebraic(wrapped(core.pruned()))
    check_tidy(after)
    assert after.instructions <= before.instructions
    inputs = (
        [Fraction(1), Fraction(-1), Fraction(1), Fraction(1)]
        if op == "mul"
        else [Fraction(k, 8) for k in (1, 3, -5, 2)]
    )
    assert after.evaluate(inputs, arithmetic=EXACT) == before.evaluate(inputs, arithmetic=EXACT)


def test_deep_recursions_need_no_stack():
    core = _core.Graph()
    x = [core.input(0, i) for i in range(INPUTS)]
    node = x[0]
    for i in range(20_000):
        node = core.apply(CODE["add"], core.apply(CODE["mul"], node, x[i % 3]), x[i % 4])
    core.set_outputs([[node, node]])
    after = algebraic(wrapped(core.pruned()))
    assert count(after) == {"fma": 20_000}


def test_nothing_at_all():
    core = _core.Graph()
    core.set_outputs([[]])
    simpler, report = core.algebraic()
    assert len(simpler) == 0 and not any(report.values()) and [r.tolist() for r in simpler.outputs()] == [[]]


# ---- robots ---------------------------------------------------------------------------------------------------------

ARMS = {
    "puma560": zv.robots.puma560,
    "stanford": zv.robots.stanford,
    "scara": zv.robots.scara,
    "random": lambda: random_chain(np.random.default_rng(7), 7, rotor=True, friction=True),
    "tree": lambda: random_chain(np.random.default_rng(8), 8, branching=True, fixed=True),
}
KERNELS = [
    ("inverse_dynamics", {}),
    ("mass_matrix", {"method": "crba"}),
    ("forward_dynamics", {"method": "aba"}),
    ("forward_dynamics", {"method": "cholesky"}),
    ("derivatives", {}),
]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    ("function", "options"), KERNELS, ids=lambda x: "-".join(x.values()) if isinstance(x, dict) else x
)
def test_robots_to_thirteen_digits_in_fewer_instructions(arm, function, options, rng):
    model = ARMS[arm]()
    before = model.trace(function, **options).graph
    core, _ = before.core.algebraic()
    after = Graph(core, before.inputs, before.outputs)
    check_tidy(after)
    assert after.instructions < 0.8 * before.instructions and after.operations.total <= before.operations.total
    assert after.depth <= before.depth and algebraic_again(after).instructions <= 1.01 * after.instructions
    states = [rng.uniform(-3, 3, (argument.size, 64)) for argument in before.inputs]
    for got, want in zip(after.evaluate(*states), before.evaluate(*states), strict=True):
        got, want = (np.stack(np.broadcast_arrays(*x, np.zeros(64))) for x in (got, want))
        assert (np.abs(got - want).max(axis=0) <= 1e-13 * np.abs(want).max(axis=0)).all()


def algebraic_again(graph):
    return Graph(graph.core.algebraic()[0], graph.inputs, graph.outputs)
