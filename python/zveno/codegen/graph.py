"""Expression graphs: what a kernel computes for one mechanism, as a list of elementary operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..opcount import OpCount

__all__ = ["Argument", "Graph", "Operation"]

OPS: Final = ("constant", "input", "add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos", "angle", "fma")
CONSTANT, INPUT, ADD, SUB, MUL, DIV, NEG, SQRT, SIN, COS, ANGLE, FMA = range(len(OPS))
ARITY: Final = (0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 2, 3)
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Argument:
    """An array that a function takes or gives.

    Attributes
    ----------
    name : str
        A C identifier.
    shape : tuple of int
        Of one state; the numbers are stored row by row.
    unit : str
        What the numbers mean, in words.
    parts : tuple of (str, int)
        Names and sizes of what stands side by side in a row of the last axis, if that is several quantities.
    above : float, optional
        All numbers must be larger than this; otherwise the results mean nothing.
    """

    name: str
    shape: tuple[int, ...]
    unit: str = ""
    parts: tuple[tuple[str, int], ...] = ()
    above: float | None = None

    @property
    def size(self) -> int:
        """Number of numbers."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Operation:
    """One node: `op` applied to the values of the earlier nodes `operands`."""

    index: int
    op: str
    operands: tuple[int, ...]
    value: float = 0.0
    argument: int = -1
    element: int = -1


class Graph:
    """A straight-line program: nodes in an order in which every operand comes before its use.

    Parameters
    ----------
    core : _core.Graph
        Nodes and results.
    inputs, outputs : sequence of Argument
        Every input of the graph and every result belongs to an element of one of them.

    Attributes
    ----------
    op : (size,) uint8 array
        Index into `OPS`.
    a, b, c : (size,) int32 arrays
        Operands, -1 where there is none; of an input the argument and the element.
        ``angle(a, b)`` is the angle whose sine is a and whose cosine is b, ``fma`` is a b + c rounded once.
    value : (size,) float64 array
        Of constants; they are finite.
    results : tuple of int32 arrays
        For each of `outputs` the node of every element.
    """

    def __init__(self, core: _core.Graph, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> None:
        self.core = core
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.op, self.a, self.b, self.c, self.value = core.arrays()
        self.results: tuple[Ints, ...] = tuple(core.outputs())
        sizes = [len(r) for r in self.results]
        if sizes != [x.size for x in self.outputs]:
            raise ValueError(f"Graph: results have {sizes} numbers, expected {[x.size for x in self.outputs]}")

    def __len__(self) -> int:
        return len(self.op)

    def __iter__(self) -> Iterator[Operation]:
        for i, (op, a, b, c, value) in enumerate(self._rows):
            if op == INPUT:
                yield Operation(i, OPS[op], (), argument=a, element=b)
            else:
                yield Operation(i, OPS[op], (a, b, c)[: ARITY[op]], value)

    def __repr__(self) -> str:
        return f"Graph({len(self)} nodes, {self.operations})"

    @property
    def _rows(self) -> Iterator[tuple[int, int, int, int, float]]:
        return zip(
            self.op.tolist(), self.a.tolist(), self.b.tolist(), self.c.tolist(), self.value.tolist(), strict=True
        )

    @cached_property
    def operations(self) -> OpCount:
        """Operations of one evaluation: a fused multiply-add counts as two, an angle as a ``trig``, signs are free.

        Examples
        --------
        >>> import zveno as zv
        >>> graph = zv.robots.two_link().trace("kinetic_energy").graph
        >>> graph.operations.total > graph.depth
        True
        """
        count = np.bincount(self.op, minlength=len(OPS)).tolist()
        return OpCount(
            mul=count[MUL] + count[FMA],
            add=count[ADD] + count[SUB] + count[FMA],
            div=count[DIV],
            sqrt=count[SQRT],
            trig=count[SIN] + count[COS] + count[ANGLE],
        )

    @property
    def instructions(self) -> int:
        """Like the total of `operations`, with a fused multiply-add counted once."""
        return self.operations.total - int(np.count_nonzero(self.op == FMA))

    def only(self, outputs: int) -> Graph:
        """The graph of the first results alone.

        Examples
        --------
        >>> import zveno as zv
        >>> graph = zv.robots.two_link().trace("derivatives").graph
        >>> [x.name for x in graph.only(1).outputs]
        ['dtau_dq']
        """
        if outputs == len(self.outputs):
            return self
        core = self.core.copy()
        core.set_outputs([r.tolist() for r in self.results[:outputs]])
        return Graph(core.pruned(), self.inputs, self.outputs[:outputs])

    @cached_property
    def depth(self) -> int:
        """Longest chain of dependent operations, signs and inputs not counted."""
        level: list[int] = []
        for op, a, b, c, _ in self._rows:
            operands = (a, b, c)[: ARITY[op]]
            level.append(max((level[x] for x in operands), default=0) + (op not in (CONSTANT, INPUT, NEG)))
        return max((level[i] for r in self.results for i in r.tolist()), default=0)

    def evaluate(self, *inputs: Any, arithmetic: dict[str, Callable[..., Any]] | None = None) -> list[list[Any]]:
        """Evaluate node by node, slowly: for checks, and in any arithmetic.

        Parameters
        ----------
        *inputs : sequences
            For each of `inputs` its numbers, flat; arrays in place of numbers evaluate many states.
        arithmetic : dict, optional
            Functions to use instead of NumPy's, by the names of `OPS`; ``constant`` converts a constant.

        Returns
        -------
        list of lists
            For each of `outputs` its numbers, flat.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm, q = zv.robots.two_link(), np.array([0.3, 0.8])
        >>> values = arm.trace("potential_energy").graph.evaluate(q)
        >>> bool(abs(values[0][0] - arm.potential_energy(q)) < 1e-12)
        True
        """
        do = {**_NUMPY, **(arithmetic or {})}
        value: list[Any] = []
        for node in self:
            if node.op == "input":
                value.append(inputs[node.argument][node.element])
            elif node.op == "constant":
                value.append(do["constant"](node.value))
            else:
                value.append(do[node.op](*(value[i] for i in node.operands)))
        return [[value[i] for i in r.tolist()] for r in self.results]

    def listing(self, max_lines: int | None = None) -> str:
        """One line per operation, for people; see `zveno.graph_text`.

        Examples
        --------
        >>> import zveno as zv
        >>> print(zv.robots.two_link().trace("com").graph.listing(3))
        t0 = q[0] + 1.5707963267948966
        t1 = sin(t0)
        t2 = cos(t0)
        ... 18 more operations
        p[0] = t19
        p[1] = 0.0
        p[2] = t20
        """
        from .text import listing

        return listing(self, max_lines)

    def dot(self) -> str:
        """A drawing in the language of Graphviz.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.robots.two_link().trace("kinetic_energy").graph.dot().startswith("digraph")
        True
        """
        from .text import dot

        return dot(self)

    def svg(self) -> str:
        """A drawing of a small graph; needs the program ``dot`` of Graphviz.

        Examples
        --------
        >>> import shutil, zveno as zv
        >>> graph = zv.robots.two_link().trace("kinetic_energy").graph
        >>> shutil.which("dot") is None or "<svg" in graph.svg()
        True
        """
        from .text import svg

        return svg(self)


_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    "constant": float,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "angle": np.arctan2,
    "fma": lambda a, b, c: a * b + c,
}
