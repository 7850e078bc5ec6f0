"""Expression graphs for people: the list of operations, and a drawing of small ones."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from .graph import CONSTANT, Argument, Graph, Operation

__all__ = ["dot", "listing", "svg"]

SVG_LIMIT: Final = 150
INFIX: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_CALLS: Final = {"sqrt": "sqrt", "sin": "sin", "cos": "cos", "angle": "angle", "fma": "fma"}


def expression(op: str, operands: Sequence[str], calls: Mapping[str, str]) -> str:
    """One operation as a formula; `calls` names the functions behind the operations that are not signs."""
    if op in INFIX:
        return f"{operands[0]} {INFIX[op]} {operands[1]}"
    return f"-{operands[0]}" if op == "neg" else f"{calls[op]}({', '.join(operands)})"


def element(argument: Argument, k: int) -> str:
    """Number k of an array, by its indices: ``q[2]``, ``M[0,1]``; a scalar by its name."""
    indices = ",".join(str(i) for i in np.unravel_index(k, argument.shape))
    return f"{argument.name}[{indices}]" if indices else argument.name


def names(graph: Graph, leaf: Callable[[Operation], str]) -> list[str]:
    """How each node is spelled where it is used: inputs and constants by `leaf`, the others t0, t1, ... in order."""
    spelled: list[str] = []
    count = 0
    for node in graph:
        if node.op in ("input", "constant"):
            spelled.append(leaf(node))
        else:
            spelled.append(f"t{count}")
            count += 1
    return spelled


def listing(graph: Graph, max_lines: int | None = None) -> str:
    """The operations, one per line, then the results.

    Parameters
    ----------
    graph : Graph
    max_lines : int, optional
        Leave out the operations beyond so many; the results are always there.

    Returns
    -------
    str
        Lines such as ``t4 = t1 * q[2]`` and ``tau[0] = t9``, inputs and results by name and indices.
    """
    if max_lines is not None and max_lines < 0:
        raise ValueError(f"listing: max_lines is {max_lines}, expected 0 or more")
    spelled = names(graph, lambda node: _leaf(graph, node))
    lines = [
        f"{spelled[node.index]} = {expression(node.op, [spelled[i] for i in node.operands], _CALLS)}"
        for node in graph
        if node.op not in ("input", "constant")
    ]
    if max_lines is not None and len(lines) > max_lines:
        lines[max_lines:] = [f"... {len(lines) - max_lines} more operations"]
    lines += [f"{name} = {spelled[i]}" for name, i in _results(graph)]
    return "\n".join(lines) + "\n"


def dot(graph: Graph) -> str:
    """The graph in the language of Graphviz: inputs at the top, results at the bottom, constants by their uses."""
    lines = ["digraph zveno {", "  node [shape=circle, fontname=Helvetica, fontsize=11, margin=0.03];"]
    lines.append("  edge [fontname=Helvetica, fontsize=9, arrowsize=0.6];")

    def draw(name: str, label: str, style: str, operands: Sequence[int], *, ordered: bool = False) -> None:
        lines.append(f'  {name} [label="{label}"{style}];')
        for k, i in enumerate(operands):
            if graph.op[i] == CONSTANT:
                lines.append(f'  {name}c{k} [label="{graph.value[i]:.4g}", shape=plaintext];')
            source = f"{name}c{k}" if graph.op[i] == CONSTANT else f"n{i}"
            lines.append(f"  {source} -> {name}" + (f' [label="{k + 1}"];' if ordered else ";"))

    for node in graph:
        if node.op == "input":
            draw(f"n{node.index}", _leaf(graph, node), ', shape=box, style=filled, fillcolor="#d7e8f7"', ())
        elif node.op != "constant":
            label = INFIX.get(node.op, "-" if node.op == "neg" else node.op)
            draw(f"n{node.index}", label, "", node.operands, ordered=node.op in ("sub", "div", "angle", "fma"))
    for k, (name, i) in enumerate(_results(graph)):
        draw(f"r{k}", name, ', shape=box, style=filled, fillcolor="#f7e3c8"', (i,))
    return "\n".join([*lines, "}"]) + "\n"


def svg(graph: Graph) -> str:
    """A drawing of a small graph, made by Graphviz.

    Raises
    ------
    ValueError
        More than 150 nodes: nobody can read that.
    RuntimeError
        The program ``dot`` is missing or fails.
    """
    if len(graph) > SVG_LIMIT:
        raise ValueError(f"svg: the graph has {len(graph)} nodes, expected at most {SVG_LIMIT}; listing() has no limit")
    program = shutil.which("dot")
    if program is None:
        raise RuntimeError("svg: needs the program 'dot' of Graphviz (https://graphviz.org), which is not installed")
    done = subprocess.run([program, "-Tsvg"], input=dot(graph), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"svg: {program} failed: {done.stderr.strip()}")
    return done.stdout


def _leaf(graph: Graph, node: Operation) -> str:
    return repr(node.value) if node.op == "constant" else element(graph.inputs[node.argument], node.element)


def _results(graph: Graph) -> list[tuple[str, int]]:
    pairs = zip(graph.outputs, graph.results, strict=True)
    return [(element(argument, k), i) for argument, nodes in pairs for k, i in enumerate(nodes.tolist())]
