"""Every public function, one state and batches, over the length of the chain."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from zveno import Chain, Section, _core
from zveno.study import Array, Call, call

State = tuple[Array, Array, Array]

ROWS = {row["name"]: [x["name"] for x in row["parameters"] if x["required"]] for row in _core.functions("chain")}
EXTRA: dict[str, dict[str, Any]] = {
    "bias-kane": {"method": "kane"},
    "inverse_dynamics-moving": {"base_motion": [0.1] * 9},
    "forward_dynamics-cholesky": {"method": "cholesky"},
}


MOST = 2**24  # numbers of a result
RANK = {row["name"]: max(len(x["shape"]) for x in row["outputs"]) for row in _core.functions("chain")}


def fitting(name: str, chain: Chain, states: State) -> tuple[Chain, State]:
    """As many states as give a result of at most MOST numbers, of a chain cut to 30 joints if one is larger."""
    rank = RANK[name.partition("-")[0]]
    if rank > 2 and chain.n**rank > MOST:
        chain = chain.subchain(to=chain.link_names[29])
    most = MOST // chain.n**rank if rank > 2 else len(states[0])
    q, qd, qdd = (x[..., : chain.n] if x.ndim == 1 else x[:most, : chain.n] for x in states)
    return chain, (q.copy(), qd.copy(), qdd.copy())


def item_of(name: str, chain: Chain, states: State) -> Call:
    """A function of the table with its arguments, or a variant of one."""
    function = name.partition("-")[0]
    values = dict(zip(("q", "qd", "qdd"), states, strict=True)) | {"tau": states[2], "link": chain.link_names[-1]}
    values["section"] = Section(chain.link_names[-1], (0, 0, 0), (0, 0, 1))
    values |= {"weights": states[2], "i": 0, "j": 0}
    return call(getattr(chain, function), *(values[x] for x in ROWS[function]), **EXTRA.get(name, {}))


@pytest.mark.parametrize("function", [*ROWS, *EXTRA])
def test_function(benchmark: BenchmarkFixture, function: str, chain: Chain, states: State, amount: str) -> None:
    benchmark.group = f"{function}, {amount}"
    chain, states = fitting(function, chain, states)
    item = item_of(function, chain, states)
    benchmark.extra_info["states"] = states[0].size // chain.n
    benchmark(item.function, *item.args, **item.kwargs)
