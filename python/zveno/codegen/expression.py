"""Formulas written in Python as expression graphs: arrays of symbols in place of numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .function import Writable, trace_function
from .graph import ADD, COS, DIV, MUL, NEG, SIN, SQRT, SUB, Argument, Graph

__all__ = ["Symbol", "SymbolicModel", "TracedExpression", "trace_expression"]

Symbols = NDArray[Any]  # of Symbol


class Symbol:
    """A number that is not known yet: a node of a graph. Arithmetic makes further nodes; decisions are refused."""

    __slots__ = ("graph", "node")

    def __init__(self, graph: _core.Graph, node: int) -> None:
        self.graph, self.node = graph, node

    def _new(self, op: int, *operands: int) -> Symbol:
        return Symbol(self.graph, self.graph.apply(op, *operands))

    def _other(self, value: Any) -> int:
        if isinstance(value, Symbol):
            return value.node
        return self.graph.constant(float(value))

    def __add__(self, other: Any) -> Symbol:
        return self._new(ADD, self.node, self._other(other))

    def __radd__(self, other: Any) -> Symbol:
        return self._new(ADD, self._other(other), self.node)

    def __sub__(self, other: Any) -> Symbol:
        return self._new(SUB, self.node, self._other(other))

    def __rsub__(self, other: Any) -> Symbol:
        return self._new(SUB, self._other(other), self.node)

    def __mul__(self, other: Any) -> Symbol:
        return self._new(MUL, self.node, self._other(other))

    def __rmul__(self, other: Any) -> Symbol:
        return self._new(MUL, self._other(other), self.node)

    def __truediv__(self, other: Any) -> Symbol:
        return self._new(DIV, self.node, self._other(other))

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._new(DIV, self._other(other), self.node)

    def __neg__(self) -> Symbol:
        return self._new(NEG, self.node)

    # NumPy calls these for arrays of symbols
    def sqrt(self) -> Symbol:
        return self._new(SQRT, self.node)

    def sin(self) -> Symbol:
        return self._new(SIN, self.node)

    def cos(self) -> Symbol:
        return self._new(COS, self.node)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a traced number has no value yet: it cannot be compared, rounded or decided on")

    __bool__ = __float__ = __int__ = __index__ = __lt__ = __le__ = __gt__ = __ge__ = __abs__ = _refuse


_ARITHMETIC: Final[dict[str, Callable[..., Any]]] = {
    "sqrt": Symbol.sqrt,
    "sin": Symbol.sin,
    "cos": Symbol.cos,
}


def as_symbols(graph: _core.Graph, values: Any) -> Symbols:
    """An array of symbols and numbers with every number as a constant of the graph."""
    array = np.asarray(values, dtype=object)
    flat = [x if isinstance(x, Symbol) else Symbol(graph, graph.constant(float(x))) for x in array.ravel().tolist()]
    return _shaped(flat, array.shape)


def _shaped(flat: Sequence[Symbol], shape: tuple[int, ...]) -> Symbols:
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape)


class SymbolicModel:
    """A mechanism whose functions are traced into a graph: ``model.inverse_dynamics(q, qd, qdd)`` with symbols.

    Options of a function, as the link of a Jacobian, are given by name and are decided when it is traced.
    """

    def __init__(self, model: Any, graph: _core.Graph) -> None:
        self._model, self._graph = model, graph

    def __getattr__(self, function: str) -> Callable[..., Symbols]:
        def call(*arrays: Any, **options: Any) -> Symbols:
            traced = trace_function(self._model, function, options).graph
            given = [as_symbols(self._graph, x).ravel().tolist() for x in arrays]
            wanted = [x.size for x in traced.inputs]
            if [len(x) for x in given] != wanted:
                raise ValueError(f"{function}: arrays of {[len(x) for x in given]} symbols, expected {wanted}")
            (result,) = traced.evaluate(
                *given, arithmetic={**_ARITHMETIC, "constant": lambda x: Symbol(self._graph, self._graph.constant(x))}
            )
            return _shaped(as_symbols(self._graph, result).tolist(), traced.outputs[0].shape)

        return call


class TracedExpression(Writable):
    """A formula as a graph of elementary operations, made by `trace_expression`.

    Attributes
    ----------
    graph : Graph
    name, title : str
        A C identifier, and a line for people.
    origin : dict of str
        What it was made of.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        title: str,
        origin: Mapping[str, str],
        reference: Callable[[int, int], tuple[tuple[Any, ...], tuple[Any, ...]]],
    ) -> None:
        self.graph, self.name, self.title = graph, name, title
        digest = hashlib.sha256(json.dumps([name, dict(origin), graph.listing()]).encode()).hexdigest()
        self.origin = {**origin, "hash": digest}
        self._reference = reference

    def reference(self, count: int, seed: int = 0) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Random inputs, and what the formula gives for them in numbers: (count, ...) arrays."""
        return self._reference(count, seed)

    def __repr__(self) -> str:
        return f"TracedExpression {self.title}: {self.operations}"


def trace_expression(
    function: Callable[..., Sequence[Any]],
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    *,
    name: str,
    title: str,
    origin: Mapping[str, str],
    reference: Callable[[int, int], tuple[tuple[Any, ...], tuple[Any, ...]]],
) -> TracedExpression:
    """Run ``function(graph, *arrays)`` on symbols; it gives one array for each of `outputs`."""
    core = _core.Graph()
    arrays = [_shaped([Symbol(core, core.input(k, i)) for i in range(x.size)], x.shape) for k, x in enumerate(inputs)]
    results = function(core, *arrays)
    core.set_outputs([[s.node for s in as_symbols(core, x).ravel().tolist()] for x in results])
    return TracedExpression(Graph(core.pruned(), inputs, outputs), name, title, origin, reference)
