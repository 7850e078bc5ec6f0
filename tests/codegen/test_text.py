"""Graphs for people: every operation on a line, small ones drawn."""

import re

import pytest
import zveno as zv
from helpers import begun_graph
from zveno.codegen import text as graph_text
from zveno.graph import Argument, Graph


@pytest.fixture
def tiny():
    """Every operation once, a scalar, a matrix, an input and a constant as results."""
    core, do, q1, s, c, d = begun_graph()
    n = do("neg", do("sqrt", do("fma", d, d, core.constant(2.0))))
    core.set_outputs([[d, n], [do("add", do("angle", s, c), q1)], [core.constant(-0.5), q1]])
    outputs = [Argument("M", (2, 1)), Argument("E", (), "J"), Argument("z", (2,))]
    return Graph(core.pruned(), [Argument("q", (2,), "rad"), Argument("v", (), "m/s")], outputs)


def test_listing_is_one_line_for_each_operation_and_each_result(tiny):
    assert graph_text.listing(tiny).splitlines() == [
        "t0 = sin(q[0])",
        "t1 = cos(q[0])",
        "t2 = t0 * 0.1",
        "t3 = t2 - t1",
        "t4 = t3 / v",
        "t5 = fma(t4, t4, 2.0)",
        "t6 = sqrt(t5)",
        "t7 = -t6",
        "t8 = angle(t0, t1)",
        "t9 = q[1] + t8",
        "M[0,0] = t4",
        "M[1,0] = t7",
        "E = t9",
        "z[0] = -0.5",
        "z[1] = q[1]",
    ]


def test_listing_can_be_cut_but_keeps_the_results(tiny):
    lines = graph_text.listing(tiny, 3).splitlines()
    assert lines[2:5] == ["t2 = t0 * 0.1", "... 7 more operations", "M[0,0] = t4"]
    assert graph_text.listing(tiny, 10) == graph_text.listing(tiny)
    assert graph_text.listing(tiny, 0).startswith("... 10 more operations\nM[0,0]")
    with pytest.raises(ValueError, match="max_lines is -1, expected 0 or more"):
        graph_text.listing(tiny, -1)


def test_listing_of_a_robot_counts_what_the_graph_counts():
    graph = zv.robots.puma560().trace("inverse_dynamics").graph
    lines = graph_text.listing(graph).splitlines()
    assert sum(bool(re.fullmatch(r"t\d+ = \S+ [*] \S+", line)) for line in lines) == graph.operations.mul
    assert sum(bool(re.fullmatch(r"t\d+ = \S+ [+-] \S+", line)) for line in lines) == graph.operations.add
    assert [line.partition(" ")[0] for line in lines[-6:]] == [f"tau[{k}]" for k in range(6)]


def test_dot_has_an_edge_for_every_operand_and_result(tiny):
    text = graph_text.dot(tiny)
    assert text.startswith("digraph")
    edges = re.findall(r"(\w+) -> (\w+)", text)
    assert len(edges) == sum(len(node.operands) for node in tiny) + 5
    nodes = re.findall(r"^  (\w+) \[label=", text, re.MULTILINE)
    assert len(nodes) == len(set(nodes))
    assert {end for edge in edges for end in edge} <= set(nodes)
    assert 'label="M[1,0]"' in text


def test_svg_is_what_dot_draws(tiny, tmp_path, monkeypatch):
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\n[ "$1" = -Tsvg ] && echo "<svg>" && cat\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert graph_text.svg(tiny) == "<svg>\n" + graph_text.dot(tiny)
    program.write_text("#!/bin/sh\ncat >/dev/null; echo no way >&2; exit 3\n")
    with pytest.raises(RuntimeError, match="no way"):
        graph_text.svg(tiny)


def test_svg_without_graphviz_or_of_a_large_graph_is_a_clear_error(tiny, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=r"'dot' of Graphviz"):
        graph_text.svg(tiny)
    with pytest.raises(ValueError, match=r"has \d+ nodes, expected at most 150"):
        graph_text.svg(zv.robots.puma560().trace("inverse_dynamics").graph)


def test_a_graph_shows_itself():
    graph = zv.robots.two_link().trace("mass_matrix").graph
    assert graph.listing(5) == graph_text.listing(graph, 5)
    assert graph.dot() == graph_text.dot(graph)
