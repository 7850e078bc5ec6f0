"""Every public function, one state and batches, over the length of the chain."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from zveno import Chain
from zveno.study import Array, Call, call

State = tuple[Array, Array, Array]

FUNCTIONS: dict[str, Callable[[Chain, State], Call]] = {
    "mass_matrix": lambda c, s: call(c.mass_matrix, s[0]),
    "bias": lambda c, s: call(c.bias, *s[:2]),
    "bias-kane": lambda c, s: call(c.bias, *s[:2], method="kane"),
    "inverse_dynamics": lambda c, s: call(c.inverse_dynamics, *s),
    "inverse_dynamics-external": lambda c, s: call(c.inverse_dynamics, *s, external={c.link_names[-1]: [1.0] * 6}),
    "forward_dynamics": lambda c, s: call(c.forward_dynamics, *s),
    "forward_dynamics-cholesky": lambda c, s: call(c.forward_dynamics, *s, method="cholesky"),
    "reactions": lambda c, s: call(c.reactions, *s),
    "base_wrench": lambda c, s: call(c.base_wrench, *s),
    "kinetic_energy": lambda c, s: call(c.kinetic_energy, *s[:2]),
    "potential_energy": lambda c, s: call(c.potential_energy, s[0]),
    "pose": lambda c, s: call(c.pose, s[0], c.link_names[-1]),
    "jacobian": lambda c, s: call(c.jacobian, s[0], c.link_names[-1]),
    "jacobian_rate": lambda c, s: call(c.jacobian_rate, *s[:2], c.link_names[-1]),
    "derivatives": lambda c, s: call(c.derivatives, *s),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_function(benchmark: BenchmarkFixture, function: str, chain: Chain, states: State, amount: str) -> None:
    benchmark.group = f"{function}, {amount}"
    item = FUNCTIONS[function](chain, states)
    benchmark.extra_info["states"] = states[0].size // chain.n
    benchmark(item.function, *item.args, **item.kwargs)
