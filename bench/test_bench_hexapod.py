"""Hexapods: every leg type, one state and batches of 10,000; a base at rest, moving and free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from engines.states import HexapodStates, random_states
from pytest_benchmark.fixture import BenchmarkFixture
from zveno import Body, Hexapod
from zveno.mechanisms import docking_ring
from zveno.study import Call, call

BATCH = 10_000
SPACECRAFT = Body(8000.0, (9000.0, 30_000.0, 30_000.0), (-2.0, 0.0, 0.0))
MOTION = np.array([0.1, 0.0, 0.0, 0.01, 0.02, 0.0, 0.0, 0.1, 0.0])

FUNCTIONS: dict[str, Callable[[Hexapod, HexapodStates], Call]] = {
    "closure": lambda h, s: call(h.closure, s.r, s.R),
    "joint_velocity": lambda h, s: call(h.joint_velocity, s.r, s.R, s.u),
    "jacobian": lambda h, s: call(h.jacobian, s.r, s.R),
    "mass_matrix": lambda h, s: call(h.mass_matrix, s.r, s.R),
    "momentum": lambda h, s: call(h.momentum, s.r, s.R, s.u),
    "inverse_dynamics": lambda h, s: call(h.inverse_dynamics, s.r, s.R, s.u, s.u, s.wrench),
    "forward_dynamics": lambda h, s: call(h.forward_dynamics, *s),
    "forward_dynamics-out": lambda h, s: call(h.forward_dynamics, *s, out=h.forward_dynamics(*s)),
    "forward_dynamics-moving": lambda h, s: call(h.forward_dynamics, *s, base_motion=MOTION),
    "forward_dynamics_free": lambda h, s: call(h.forward_dynamics_free, *s, base=SPACECRAFT),
}


@pytest.fixture(scope="module", params=["UPS", "SPU", "UCU", "RUS", "RSU"])
def hexapod(request: pytest.FixtureRequest) -> Hexapod:
    return docking_ring(request.param)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_function(benchmark: BenchmarkFixture, function: str, hexapod: Hexapod, amount: str) -> None:
    benchmark.group = f"hexapod {function}, {amount}"
    count = BATCH if amount == "batch" else None
    item = FUNCTIONS[function](hexapod, random_states(hexapod, count))
    benchmark.extra_info["states"] = count or 1
    benchmark(item.function, *item.args, **item.kwargs)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(benchmark: BenchmarkFixture, threads: int, hexapod: Hexapod) -> None:
    benchmark.group = "hexapod forward_dynamics threads"
    benchmark.extra_info["states"] = BATCH
    benchmark(hexapod.forward_dynamics, *random_states(hexapod, BATCH), threads=threads)
