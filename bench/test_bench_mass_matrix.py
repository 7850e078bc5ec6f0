"""The seven algorithms for the mass matrix, one state and batches; two threads against one."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from zveno import Chain
from zveno.study import METHODS, Array

State = tuple[Array, Array, Array]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chain", [6, 7, 30, 100], ids=lambda n: f"n={n}", indirect=True)
def test_method(benchmark: BenchmarkFixture, method: str, chain: Chain, states: State, amount: str) -> None:
    benchmark.group = f"mass_matrix methods, n={chain.n}, {amount}"
    benchmark.extra_info["states"] = states[0].size // chain.n
    benchmark(chain.mass_matrix, states[0], method=method)


@pytest.mark.parametrize("amount", ["batch"])
@pytest.mark.parametrize("threads", [1, 2])
def test_threads(benchmark: BenchmarkFixture, threads: int, chain: Chain, states: State) -> None:
    benchmark.group = f"inverse_dynamics threads, n={chain.n}"
    benchmark.extra_info["states"] = len(states[0])
    benchmark(chain.inverse_dynamics, *states, threads=threads)
