"""Chains and states: ``pytest bench --benchmark-only`` measures, ``--benchmark-disable`` runs everything once."""

from __future__ import annotations

from typing import cast

import pytest
from zveno import Chain
from zveno.study import Array, random_chain, random_states

SIZES = (6, 7, 30, 100, 300)


@pytest.fixture(scope="session", params=SIZES, ids=lambda n: f"n={n}")
def chain(request: pytest.FixtureRequest) -> Chain:
    return random_chain(request.param)


@pytest.fixture(params=["single", "batch"])
def amount(request: pytest.FixtureRequest) -> str:
    return cast(str, request.param)


@pytest.fixture
def states(chain: Chain, amount: str) -> tuple[Array, Array, Array]:
    """q, qd, qdd of one state, or of 10,000 for n = 6 and 7, fewer for longer chains: results stay below 4 MB."""
    return random_states(chain.n, max(4, min(10_000, 490_000 // chain.n**2)) if amount == "batch" else None)
