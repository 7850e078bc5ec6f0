"""Compiled functions: one C call, one Python call, batches; compilation itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import zveno as zv
from compiled_table import STATES, CallLoop, Row, table
from engines.states import random_states as hexapod_states
from pytest_benchmark.fixture import BenchmarkFixture
from zveno.study import call, random_chain, random_states

BATCH = 10_000
ROUNDS = 100
FUNCTIONS = {
    "inverse_dynamics": ("inverse_dynamics", None),
    "mass_matrix": ("mass_matrix", None),
    "forward_dynamics-aba": ("forward_dynamics", "aba"),
    "forward_dynamics-cholesky": ("forward_dynamics", "cholesky"),
    "derivatives": ("derivatives", None),
}
Compile = Callable[[str, str], zv.CompiledFunction]


@pytest.fixture(scope="module", params=["puma560", "n=7"])
def compiled(request: pytest.FixtureRequest) -> Compile:
    arm = zv.robots.puma560() if request.param == "puma560" else random_chain(7)

    @cache
    def compile(function: str, level: str) -> zv.CompiledFunction:
        name, method = FUNCTIONS[function]
        return arm.compile(name, method=method, level=level)

    return compile


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> CallLoop:
    return CallLoop(Path(tmp_path_factory.mktemp("call_loop")))


@pytest.mark.parametrize("level", ["strict", "algebraic"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_function(benchmark: BenchmarkFixture, function: str, level: str, compiled: Compile, amount: str) -> None:
    f = compiled(function, level)
    states = random_states(f.model.n, BATCH if amount == "batch" else None)
    benchmark.group = f"compiled {function}, n={f.model.n}, {amount}"
    benchmark.extra_info["states"] = states[0].size // f.model.n
    item = call(f, *states[: len(f.graph.inputs)])
    benchmark(item.function, *item.args)


@pytest.mark.parametrize("level", ["strict", "algebraic"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_c_call(benchmark: BenchmarkFixture, function: str, level: str, compiled: Compile, loop: CallLoop) -> None:
    f = compiled(function, level)
    states = random_states(f.model.n, STATES)
    timed = loop.compiled(f, states)
    benchmark.group = f"compiled {function}, n={f.model.n}, C call"
    benchmark.extra_info["states"] = STATES * ROUNDS
    assert benchmark(timed.seconds, ROUNDS) > 0
    expected = f(*states[: len(f.graph.inputs)])
    parts = expected if function == "derivatives" else (expected,)
    for value, reference in zip(timed.results(), parts, strict=True):
        assert np.array_equal(value, reference)


@pytest.mark.parametrize("level", ["strict", "algebraic"])
@pytest.mark.parametrize("kind", ["UPS", "RSU"])
def test_hexapod(benchmark: BenchmarkFixture, kind: str, level: str, amount: str) -> None:
    hexapod = zv.mechanisms.docking_ring(kind)
    benchmark.group = f"compiled hexapod forward_dynamics, {amount}"
    states = BATCH if amount == "batch" else None
    benchmark.extra_info["states"] = states or 1
    f = hexapod.compile("forward_dynamics", level=level)
    benchmark(f, *hexapod_states(hexapod, states))


@pytest.mark.parametrize("function", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_compilation(benchmark: BenchmarkFixture, function: str) -> None:
    """A new mechanism every time: compiled functions are shared while they live."""
    seeds = count()
    benchmark.group = "compilation, n=7"

    def compile() -> zv.CompiledFunction:
        return random_chain(7, seed=next(seeds)).compile(function)

    benchmark(compile)


def test_table_shows_ratios_to_the_best_form() -> None:
    times = {("compiled", "strict"): 10.0, ("compiled", "algebraic"): 8.0, ("kernel", ""): 20.0}
    times |= {("Pinocchio", "local"): 100.0, ("Pinocchio", "world"): 90.0, ("CasADi", "rnea"): 25.0}
    text = "\n".join(table([Row("C call", "Panda", "RNEA", times)]))
    assert "90 (world)" in text and "9.0x / 11.2x" in text and "2.5x / 3.1x |" in text
