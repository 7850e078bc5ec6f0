"""Random chains and their states: what every measurement runs on."""

from __future__ import annotations

import numpy as np

from .._check import Array
from ..model import Chain, Link

__all__ = ["random_chain", "random_states"]


def random_chain(n: int, seed: int = 0) -> Chain:
    """Serial all-revolute chain of general geometry: random placements and full inertia tensors, about 3 kg a link.

    Joint axes are the z axes of randomly turned joint frames: as general as a random axis, and every engine can use
    its cheapest joint.
    """
    rng = np.random.default_rng((seed, n))
    links = []
    for k in range(n):
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        rotation *= np.sign(np.linalg.det(rotation))
        root = rng.normal(scale=0.2, size=(3, 3))
        second_moment = root @ root.T + 0.01 * np.eye(3)
        links.append(
            Link(
                f"link{k + 1}",
                position=rng.uniform(-0.5, 0.5, 3),
                rotation=rotation,
                mass=rng.uniform(1.0, 5.0),
                com=rng.uniform(-0.3, 0.3, 3),
                # trace(S) E - S of a second moment S satisfies the triangle inequality
                inertia=np.trace(second_moment) * np.eye(3) - second_moment,
            )
        )
    return Chain(links, name=f"random{n}")


def random_states(n: int, count: int | None = None, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random ``q, qd, qdd``, each (n,), or (count, n) for a batch; rad, rad/s, rad/s^2."""
    rng = np.random.default_rng((seed, n))
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, *([] if count is None else [count]), n))
    return np.ascontiguousarray(np.pi * q), np.ascontiguousarray(qd), np.ascontiguousarray(qdd)
