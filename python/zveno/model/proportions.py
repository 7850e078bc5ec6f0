"""What looks wrong about the numbers of a chain beside each other: units, most of all. Part of `Chain.suspicions`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from .link import Link

__all__ = ["chain_doubts"]

# a unit that is wrong by 1000 is found, what anybody builds is not; robots have 0.03 to 600 kg/m, and radii of gyration
# of at most 5 times their longest link
LONG: Final = 100.0  # m
LIGHT: Final = 1.0  # kg for a metre of all links: of those that are long the lightest booms have a little more
TIMES: Final = 100.0  # the longest link: centres of mass and radii of gyration
WIDE: Final = 5.0  # m, which satellites on small joints have


def chain_doubts(links: Sequence[Link], base: str) -> list[tuple[str, str]]:
    """(name of the link, text) of lengths and inertias out of proportion; the text has numbers of this link alone."""
    mass = np.array([link.mass for link in links])
    step = np.array([link.position for link in links])
    com = np.array([link.com for link in links])
    spread = np.array([np.trace(link.inertia) for link in links])
    with np.errstate(over="ignore"):
        apart = np.sqrt(np.einsum("ij,ij->i", step, step))
        away = np.sqrt(np.einsum("ij,ij->i", com, com))
    apart[[link.parent == base for link in links]] = 0.0  # where the mechanism stands, not how long it is
    away[mass == 0] = 0.0
    sizes = np.maximum(apart, away)
    longest, total = float(sizes.max()), float(mass.sum())
    found: list[tuple[str, str]] = []
    if longest > LONG and 0 < total < LIGHT * float(sizes.sum()):
        for k in np.flatnonzero(sizes > LONG).tolist():
            name, parent = links[k].name, links[k].parent
            far = f"it is {apart[k]:.4g} m from '{parent}'" if apart[k] > LONG else f"its com is {away[k]:.4g} m away"
            found.append((name, f"link '{name}': {far} and it weighs {mass[k]:.3g} kg: m are expected, not mm"))
    elif float(apart.max()) > 0:
        for k in np.flatnonzero(away > max(WIDE, TIMES * float(apart.max()))).tolist():
            text = (
                f"its com is {away[k]:.4g} m away, more than {TIMES:g} times the longest link: m are expected, not mm"
            )
            found.append((links[k].name, f"link '{links[k].name}': {text}"))
    least = max(WIDE, TIMES * longest)
    for k in np.flatnonzero((mass > 0) & (spread > mass * least**2) & (longest > 0)).tolist():
        name = links[k].name
        gyration = math.sqrt(float(np.linalg.eigvalsh(links[k].inertia)[-1]) / links[k].mass)
        if gyration > least:
            text = (
                f"link '{name}': inertia and mass make a radius of gyration of {gyration:.3g} m, more than"
                f" {TIMES:g} times the longest link: kg m^2 are expected, not kg mm^2"
            )
            found.append((name, text))
    return found
