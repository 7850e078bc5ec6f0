"""Formulas of t, x, v: read from a text or traced from a function, and turned into a program of registers."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from .._check import _show

# operations in the order of FormulaProgram::Op
OPS: Final = ("add", "sub", "mul", "div", "neg", "sqrt", "abs", "exp", "tanh", "sin", "cos", "min", "max", "choose")
INPUTS: Final = ("t", "x", "v")
MOST: Final = 256  # registers
_DEEPEST: Final = 20  # brackets in a text that is written
_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


class Program(NamedTuple):
    """Constants, and operations of five numbers each: registers are t, x, v, constants, results."""

    constants: tuple[float, ...]
    steps: tuple[tuple[int, int, int, int, int], ...]


def _refuse(*_: object) -> NoReturn:
    raise TypeError(
        "a number of a formula has no value yet: write NumPy's functions for those of math, and "
        "np.where(v > 0, a, b) for decisions"
    )


def _no_operator(*_: object) -> NoReturn:
    raise TypeError("formulas have + - * / and ** by a whole number or 0.5, no other operators")


class _Node:
    """A number of a formula that is not known yet."""

    __slots__ = ("of", "op", "operands")

    def __init__(self, of: Tracer, op: str, operands: tuple[Any, ...] = ()) -> None:
        self.of, self.op, self.operands = of, op, operands

    def __add__(self, other: Any) -> Any:
        return self.of.apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self.of.apply("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self.of.apply("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.of.apply("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self.of.apply("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.of.apply("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.of.apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.of.apply("div", other, self)

    def __pow__(self, power: Any) -> Any:
        return self.of.power(self, power)

    def __neg__(self) -> Any:
        return self.of.apply("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.of.apply("abs", self)

    def __gt__(self, other: Any) -> _Test:
        return _Test(self.of, self, other, False)

    def __lt__(self, other: Any) -> _Test:
        return _Test(self.of, other, self, False)

    def __ge__(self, other: Any) -> _Test:
        return _Test(self.of, other, self, True)

    def __le__(self, other: Any) -> _Test:
        return _Test(self.of, self, other, True)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc not in _UFUNCS:
            _unknown(ufunc.__name__)
        return _UFUNCS[ufunc](self.of, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return _call(function, args, kwargs)

    def __repr__(self) -> str:
        return "a number that is not known yet"

    __bool__ = __float__ = __int__ = __index__ = __round__ = __eq__ = __ne__ = _refuse
    __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _no_operator
    __hash__ = object.__hash__


class _Test:
    """Whether a > b, or not."""

    __slots__ = ("a", "b", "negated", "of")

    def __init__(self, of: Tracer, a: Any, b: Any, negated: bool) -> None:
        self.of, self.a, self.b, self.negated = of, a, b, negated

    def choose(self, yes: Any, no: Any) -> Any:
        return self.of.apply("choose", self.a, self.b, *((no, yes) if self.negated else (yes, no)))

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return _call(function, args, kwargs)

    def __repr__(self) -> str:
        return "a comparison"

    __bool__ = __float__ = __and__ = __or__ = __invert__ = __abs__ = __neg__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _refuse


def _unknown(name: str) -> NoReturn:
    raise TypeError(f"formulas have no function {name!r}, only {', '.join(FUNCTIONS)}, and x ** n")


def _call(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if function is np.where and len(args) == 3 and not kwargs:
        return _where(*args)
    if function is np.clip and len(args) == 3 and not kwargs:
        return _clip(*args)
    _unknown(function.__name__)


def _where(test: Any, yes: Any, no: Any) -> Any:
    if isinstance(test, _Test):
        return test.choose(yes, no)
    if isinstance(test, bool | np.bool_):
        return yes if test else no
    raise TypeError(f"where: the condition is {_show(test)}, expected a comparison such as v > 0")


def _least(a: Any, b: Any) -> Any:
    of = next((x.of for x in (a, b) if isinstance(x, _Node)), None)
    return min(a, b) if of is None else of.apply("min", a, b)


def _most(a: Any, b: Any) -> Any:
    of = next((x.of for x in (a, b) if isinstance(x, _Node)), None)
    return max(a, b) if of is None else of.apply("max", a, b)


def _clip(x: Any, low: Any, high: Any) -> Any:
    return _least(_most(x, low), high)


def _one(op: str) -> Callable[[Any], Any]:
    known: Callable[[float], float] = abs if op == "abs" else getattr(math, op)

    def of(x: Any) -> Any:
        if isinstance(x, _Node):
            return x.of.apply(op, x)
        try:
            return known(x)
        except (ArithmeticError, ValueError):
            raise ValueError(f"{op} of {x:g} has no finite value") from None

    return of


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{op: _one(op) for op in ("sqrt", "abs", "exp", "tanh", "sin", "cos")},
    "min": _least,
    "max": _most,
    "clip": _clip,
    "where": _where,
}

_ARGUMENTS: Final = {"min": 2, "max": 2, "clip": 3, "where": 3}  # one of the others

_UFUNCS: Final[dict[Any, Callable[..., Any]]] = {
    np.add: lambda of, a, b: of.apply("add", a, b),
    np.subtract: lambda of, a, b: of.apply("sub", a, b),
    np.multiply: lambda of, a, b: of.apply("mul", a, b),
    np.true_divide: lambda of, a, b: of.apply("div", a, b),
    np.negative: lambda of, a: of.apply("neg", a),
    np.positive: lambda of, a: a,
    np.square: lambda of, a: of.apply("mul", a, a),
    np.power: lambda of, a, n: of.power(a, n),
    np.minimum: lambda of, a, b: of.apply("min", a, b),
    np.maximum: lambda of, a, b: of.apply("max", a, b),
    np.fmin: lambda of, a, b: of.apply("min", a, b),
    np.fmax: lambda of, a, b: of.apply("max", a, b),
    np.greater: lambda of, a, b: _Test(of, a, b, False),
    np.less: lambda of, a, b: _Test(of, b, a, False),
    np.greater_equal: lambda of, a, b: _Test(of, b, a, True),
    np.less_equal: lambda of, a, b: _Test(of, a, b, True),
    **{
        getattr(np, name): (lambda of, a, op=op: of.apply(op, a))
        for name, op in (("sqrt", "sqrt"), ("absolute", "abs"), ("fabs", "abs"), ("exp", "exp"), ("tanh", "tanh"),
                         ("sin", "sin"), ("cos", "cos"))
    },
}  # fmt: skip


class Tracer:
    """Makes the nodes of one formula; equal operations are stored once."""

    def __init__(self) -> None:
        self.inputs = {name: _Node(self, name) for name in INPUTS}
        self._made: dict[tuple[Any, ...], _Node] = {}

    def apply(self, op: str, *operands: Any) -> Any:
        given = tuple(x if isinstance(x, _Node) else self._number(x) for x in operands)
        if not any(isinstance(x, _Node) for x in given):  # of numbers alone
            return _fold(op, given)
        key = (op, *(id(x) if isinstance(x, _Node) else x for x in given))
        return self._made.setdefault(key, _Node(self, op, given))

    @staticmethod
    def _number(x: Any) -> float:
        if isinstance(x, bool | np.bool_ | _Test) or not isinstance(x, int | float | np.integer | np.floating):
            raise TypeError(f"a formula holds {_show(x)}, expected numbers")
        number = float(x)
        if not math.isfinite(number):
            raise ValueError(f"a formula holds {number}, expected finite numbers")
        return number

    def power(self, x: Any, n: Any) -> Any:
        """By multiplications, or a root."""
        number = 0.0 if isinstance(n, _Node) else self._number(n)
        if isinstance(n, _Node) or (number != 0.5 and (number % 1 or abs(number) > 64)):
            shown = "something that varies" if isinstance(n, _Node) else _show(n)
            raise TypeError(f"the exponent is {shown}, expected a whole number up to 64, or 0.5")
        if n == 0.5:
            return self.apply("sqrt", x)
        left, base, product = abs(int(n)), x, None
        while left:
            if left & 1:
                product = base if product is None else self.apply("mul", product, base)
            left >>= 1
            base = self.apply("mul", base, base) if left else base
        product = 1.0 if product is None else product
        return self.apply("div", 1.0, product) if n < 0 else product


def _fold(op: str, x: tuple[Any, ...]) -> float:
    if op == "choose":
        return float(x[2] if x[0] > x[1] else x[3])
    if op == "neg":
        return -float(x[0])
    if op in _SIGNS:
        a, b = x
        return float({"add": a + b, "sub": a - b, "mul": a * b}[op] if op != "div" else a / b)
    return float(FUNCTIONS[op](*x))


# ---- a text


def read(text: str, parameters: Mapping[str, float]) -> Any:
    """The result of a text: a node, or a number."""
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = error.msg if isinstance(error, SyntaxError) else error
        raise ValueError(f"is no formula: {why}") from None
    names: dict[str, Any] = {"pi": math.pi, **parameters, **Tracer().inputs}
    reader = _Reader(names)
    for statement in body[:-1]:
        if not (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(target := statement.targets[0], ast.Name)
        ):
            raise ValueError("has lines that are no assignment 'name = ...' before the last one, which is the force")
        if target.id in names or target.id in FUNCTIONS:
            raise ValueError(f"assigns {target.id!r}, which has a meaning already")
        names[target.id] = reader.visit(statement.value)
    if not body or not isinstance(body[-1], ast.Expr):
        raise ValueError("does not end with the force, an expression")
    return reader.visit(body[-1].value)


class _Reader(ast.NodeVisitor):
    """Arithmetic, and nothing else."""

    _binary: Final = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._tracer: Tracer = names["t"].of

    def generic_visit(self, node: ast.AST) -> NoReturn:
        raise ValueError(f"holds {type(node).__name__}, expected arithmetic of {', '.join(self._names)}")

    def visit_Constant(self, node: ast.Constant) -> float:
        return self._tracer._number(node.value)

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self._names:
            raise ValueError(f"has the name {node.id!r}, expected some of {', '.join(self._names)}")
        return self._names[node.id]

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        a, b = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Pow):
            return self._tracer.power(a, b)
        if type(node.op) not in self._binary:
            self.generic_visit(node.op)
        return self._tracer.apply(self._binary[type(node.op)], a, b)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        x = self.visit(node.operand)
        if isinstance(node.op, ast.USub):
            return self._tracer.apply("neg", x)
        return x if isinstance(node.op, ast.UAdd) else self.generic_visit(node.op)

    def visit_Compare(self, node: ast.Compare) -> _Test:
        if len(node.ops) != 1:
            raise ValueError("compares more than two numbers")
        a, b = self.visit(node.left), self.visit(node.comparators[0])
        kinds = {ast.Gt: (a, b, False), ast.Lt: (b, a, False), ast.GtE: (b, a, True), ast.LtE: (a, b, True)}
        if type(node.ops[0]) not in kinds:
            self.generic_visit(node.ops[0])
        return _Test(self._tracer, *kinds[type(node.ops[0])])

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return _where(self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_Call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS or node.keywords:
            _unknown(ast.unparse(node.func))
        args = [self.visit(x) for x in node.args]
        count = _ARGUMENTS.get(node.func.id, 1)
        if len(args) != count:
            raise ValueError(f"calls {ast.unparse(node)}, expected {count} argument{'s' * (count > 1)}")
        try:
            return FUNCTIONS[node.func.id](*args)
        except TypeError as error:
            raise ValueError(f"calls {ast.unparse(node)}: {error}") from None


# ---- a function


def write(function: Callable[[Any, Any, Any], Any]) -> str:
    """The text of a function f(t, x, v), found by calling it with symbols."""
    tracer = Tracer()
    result = function(*tracer.inputs.values())
    if not isinstance(result, _Node):
        result = tracer._number(result)
    order, uses = _order(result)
    named: dict[int, str] = {}
    depth: dict[int, int] = {}
    lines = []
    for node in order:
        depth[id(node)] = 1 + max((depth[id(x)] for x in node.operands if isinstance(x, _Node)), default=0)
        if (uses[id(node)] > 1 and node.operands) or depth[id(node)] > _DEEPEST:
            depth[id(node)] = 0
            lines.append(f"u{len(named) + 1} = {_spell(node, named, bare=True)}")
            named[id(node)] = f"u{len(named) + 1}"
    return "; ".join([*lines, _spell(result, named, bare=True)])


def _order(result: Any) -> tuple[list[_Node], dict[int, int]]:
    """Nodes behind their operands, and how often each is used."""
    order: list[_Node] = []
    uses: dict[int, int] = {}
    stack: list[tuple[Any, bool]] = [(result, False)]
    while stack:
        node, ready = stack.pop()
        if not isinstance(node, _Node):
            continue
        if ready:
            order.append(node)
            continue
        uses[id(node)] = uses.get(id(node), 0) + 1
        if uses[id(node)] == 1:
            stack.append((node, True))
            stack.extend((x, False) for x in reversed(node.operands))
    return order, uses


def _spell(node: Any, named: Mapping[int, str], bare: bool = False) -> str:
    """The text of a node; bare: nothing stands beside it."""
    if not isinstance(node, _Node):
        return f"({node!r})" if node < 0 and not bare else repr(node)
    if id(node) in named:
        return named[id(node)]
    if not node.operands:
        return node.op
    signed = node.op in _SIGNS or node.op == "neg"
    parts = [_spell(x, named, not signed) for x in node.operands]
    if node.op == "choose":
        return f"where({parts[0]} > {parts[1]}, {parts[2]}, {parts[3]})"
    if not signed:
        return f"{node.op}({', '.join(parts)})"
    text = f"-{parts[0]}" if node.op == "neg" else f"{parts[0]} {_SIGNS[node.op]} {parts[1]}"
    return text if bare else f"({text})"


# ---- a program


def program_of(result: Any) -> Program:
    """The program of a result of `read`."""
    if not isinstance(result, _Node):
        tracer = Tracer()
        number = tracer._number(result)
        result = _Node(tracer, "add", (_Node(tracer, "mul", (0.0, tracer.inputs["t"])), number))
    elif not result.operands:
        result = _Node(result.of, "mul", (1.0, result))
    order, _ = _order(result)
    constants: dict[float, int] = {}
    for node in order:
        for x in node.operands:
            if not isinstance(x, _Node):
                constants.setdefault(x, len(INPUTS) + len(constants))
    place = {name: k for k, name in enumerate(INPUTS)}
    registers: dict[int, int] = {}
    steps = []
    for node in order:
        if not node.operands:
            registers[id(node)] = place[node.op]
            continue
        operands = [registers[id(x)] if isinstance(x, _Node) else constants[x] for x in node.operands]
        operands += [0] * (4 - len(operands))
        steps.append((OPS.index(node.op), *operands))
        registers[id(node)] = len(INPUTS) + len(constants) + len(steps) - 1
    if len(INPUTS) + len(constants) + len(steps) > MOST:
        raise ValueError(
            f"has {len(constants)} numbers and {len(steps)} operations, expected at most {MOST - 3} together"
        )
    return Program(tuple(constants), tuple(steps))  # type: ignore[arg-type]
