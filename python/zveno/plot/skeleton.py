"""Where the parts of a mechanism are: points to draw lines through. NumPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._check import Array
from .._rotation import about_axis

if TYPE_CHECKING:
    from ..model import Chain, Hexapod, Leg

__all__ = ["Part", "chain_parts", "hexapod_parts", "leg_points", "outline"]


class Part(NamedTuple):
    """A line through points that move: (states, points, 3) m."""

    points: Array
    colour: str
    width: float
    closed: bool = False


def leg_points(hexapod: Hexapod, leg: Leg, q: Array, hinge: Array) -> list[Array]:
    """Points of a leg from base to ring hinge, base axes: where its bodies meet."""
    if leg.chain is not None:
        bodies = [leg.chain.pose(q[: leg.chain.n], name)[:3, 3] for name in leg.chain.link_names]
        return [*bodies, hinge]
    assert leg.base is not None and leg.base_frame is not None
    if leg.unit == "rad":
        crank = leg.base_frame @ about_axis(1, float(q[0])) @ (leg.inner_length, 0.0, 0.0)
    else:
        crank = (hinge - leg.base) * (leg.inner_length / np.linalg.norm(hinge - leg.base))
    return [leg.base, leg.base + crank, hinge]


def outline(points: Array) -> Array:
    """A closed curve through points: their circle if they are on one, else the polygon around their centre."""
    centre = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - centre)
    plane = (points - centre) @ axes[:2].T
    radii = np.linalg.norm(plane, axis=1)
    flat = np.abs((points - centre) @ axes[2]).max() < 1e-3 * radii.mean()
    if flat and np.ptp(radii) < 0.01 * radii.mean():
        a = np.linspace(0, 2 * np.pi, 121)
        plane = radii.mean() * np.stack([np.cos(a), np.sin(a)], axis=1)
        return np.asarray(centre + plane @ axes[:2])
    order = np.argsort(np.arctan2(plane[:, 1], plane[:, 0]))
    return np.asarray(points[np.append(order, order[0])])


def hexapod_parts(hexapod: Hexapod, r: Array, R: Array) -> list[Part]:
    """Base, legs and ring in every pose r (m, 3), R (m, 3, 3); base axes."""
    q = hexapod.closure(r, R)
    hinges = np.stack([r + R @ leg.ring for leg in hexapod.legs], axis=1)  # (m, 6, 3)
    tracks = [
        np.array([leg_points(hexapod, leg, state[k], hinge[k]) for state, hinge in zip(q, hinges, strict=True)])
        for k, leg in enumerate(hexapod.legs)
    ]
    bases = outline(np.array([track[0, 0] for track in tracks]))
    parts = [Part(np.broadcast_to(bases, (len(r), *bases.shape)), "#595959", 2.4, True)]
    for track in tracks:
        parts.append(Part(track[:, :-1], "#D55E00", 5.0))
        parts.append(Part(track[:, -2:], "#E69F00", 2.4))
    local = outline(np.array([leg.ring for leg in hexapod.legs]))
    parts.append(Part(r[:, None] + local @ R.transpose(0, 2, 1), "#0072B2", 2.4, True))
    return parts


def chain_parts(chain: Chain, q: Array, up: int) -> list[Part]:
    """A disc at the base across coordinate `up`, and links from frame to frame in every state q (m, n); base axes."""
    poses = chain.poses(q)
    origin = {chain.base_name: np.zeros((len(q), 3))} | {name: T[..., :3, 3] for name, T in poses.items()}
    points = np.stack(list(origin.values()))
    size = max(float(np.ptp(points.reshape(-1, 3), axis=0).max()), 1e-3)
    a, plane = np.linspace(0, 2 * np.pi, 37), np.delete(np.eye(3), up, axis=0)
    disc = 0.12 * size * (np.cos(a)[:, None] * plane[0] + np.sin(a)[:, None] * plane[1])
    parts = [Part(np.broadcast_to(disc, (len(q), *disc.shape)), "#595959", 1.5, True)]
    for link in chain.links:
        ends = np.stack([origin[str(link.parent)], origin[link.name]], axis=1)
        colour = "#595959" if link.parent == chain.base_name else "#E69F00"
        parts.append(Part(ends, colour, 2.2 if link.joint == "fixed" else 4.5))
    return parts
