"""States of a hexapod near its nominal pose, for the benchmarks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from zveno import Hexapod
from zveno.study import Array


class HexapodStates(NamedTuple):
    """Arguments of `Hexapod.forward_dynamics`, one state or rows of them."""

    r: Array
    R: Array
    u: Array
    wrench: Array
    tau: Array


def random_states(hexapod: Hexapod, count: int | None = None, seed: int = 0) -> HexapodStates:
    """States within 3 cm and 0.08 rad of the nominal pose, up to 0.06 m/s, 0.1 rad/s, 200 N and 50 N m."""
    rng = np.random.default_rng(seed)
    lead = () if count is None else (count,)
    r, R = hexapod.nominal
    axis = rng.normal(size=(*lead, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = rng.uniform(-0.08, 0.08, (*lead, 1, 1))
    K = np.cross(np.eye(3), axis[..., None, :])  # K x = axis x x
    turn = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)

    def uniform(linear: float, angular: float) -> Array:
        return rng.uniform(-1, 1, (*lead, 6)) * np.repeat([linear, angular], 3)

    position = r + rng.uniform(-0.03, 0.03, (*lead, 3))
    return HexapodStates(position, R @ turn, uniform(0.06, 0.1), uniform(200, 50), uniform(50, 50))
