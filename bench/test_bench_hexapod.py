"""Hexapods: every leg type, one state and batches of 10,000; a base at rest, moving and free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines.states import HexapodStates, random_states
from pytest_benchmark.fixture import BenchmarkFixture
from zveno import Body, Hexapod, _core
from zveno.mechanisms import docking_ring
from zveno.study import Call, call

BATCH = 10_000
SPACECRAFT = Body(8000.0, (9000.0, 30_000.0, 30_000.0), (-2.0, 0.0, 0.0))
MOTION = np.array([0.1, 0.0, 0.0, 0.01, 0.02, 0.0, 0.0, 0.1, 0.0])

ROWS = {
    row["name"]: [x["name"] for x in row["parameters"] if x["required"]]
    for row in _core.functions("hexapod")
    if not row["private"]
}
VARIANTS = ("inverse_dynamics-loaded", "forward_dynamics-out", "forward_dynamics-moving")


def item_of(name: str, hexapod: Hexapod, states: HexapodStates) -> Call:
    """A function of the table with its arguments, or a variant of one."""
    function, _, variant = name.partition("-")
    values = states._asdict() | {"acceleration": states.u, "base": SPACECRAFT}
    method, args = getattr(hexapod, function), [values[x] for x in ROWS[function]]
    options: dict[str, Any] = {}
    if variant == "loaded":
        options["wrench"] = states.wrench
    elif variant == "out":
        options["out"] = method(*args)
    elif variant == "moving":
        options["base_motion"] = MOTION
    return call(method, *args, **options)


@pytest.fixture(scope="module", params=["UPS", "SPU", "UCU", "RUS", "RSU"])
def hexapod(request: pytest.FixtureRequest) -> Hexapod:
    return docking_ring(request.param)


@pytest.mark.parametrize("function", [*ROWS, *VARIANTS])
def test_function(benchmark: BenchmarkFixture, function: str, hexapod: Hexapod, amount: str) -> None:
    benchmark.group = f"hexapod {function}, {amount}"
    count = BATCH if amount == "batch" else None
    item = item_of(function, hexapod, random_states(hexapod, count))
    benchmark.extra_info["states"] = count or 1
    benchmark(item.function, *item.args, **item.kwargs)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(benchmark: BenchmarkFixture, threads: int, hexapod: Hexapod) -> None:
    benchmark.group = "hexapod forward_dynamics threads"
    benchmark.extra_info["states"] = BATCH
    benchmark(hexapod.forward_dynamics, *random_states(hexapod, BATCH), threads=threads)
