"""Closed mechanisms: every public function, one state and batches of 10,000."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from zveno import Linkage, _core, mechanisms
from zveno.study import Array

BATCH, CLOSED = 10_000, 16
ROWS = {
    row["name"]: [x["name"] for x in row["parameters"] if x["required"]]
    for row in _core.functions("linkage")
    if not row["private"]
}
GUESS = {"four_bar": [0.8, 0.0, 1.5], "slider_crank": [0.8, -0.8, 0.8]}


@pytest.fixture(scope="module", params=GUESS)
def linkage(request: pytest.FixtureRequest) -> Linkage:
    made: Linkage = getattr(mechanisms, request.param)()
    return made


def values_of(linkage: Linkage, amount: str) -> dict[str, Array]:
    """One state that meets the constraints, or so many rows of a few of them."""
    rng = np.random.default_rng(0)
    rows, q = [], linkage.close(GUESS[linkage.name])
    for angle in np.linspace(0.6, 0.9, CLOSED):
        q = linkage.close(q, hold={"crank_joint": angle})
        rows.append([q, linkage.velocities(q, {"crank_joint": 1.0})])
    q, qd = np.swapaxes(rows, 0, 1)
    values = {"q": q, "qd": qd, "qdd": rng.normal(size=q.shape), "tau": rng.normal(size=q.shape)}
    values["multiplier"] = rng.normal(size=(CLOSED, linkage.m))
    return {key: x[0] if amount == "single" else np.resize(x, (BATCH, x.shape[1])) for key, x in values.items()}


@pytest.mark.parametrize("function", ROWS)
def test_function(benchmark: BenchmarkFixture, function: str, linkage: Linkage, amount: str) -> None:
    benchmark.group = f"linkage {function}, {amount}"
    values = values_of(linkage, amount)
    benchmark.extra_info["states"] = values["q"].size // linkage.n
    benchmark(getattr(linkage, function), *(values[x] for x in ROWS[function]))
