"""A hexapod cut open at the ring.

A U joint at the ring is two more revolute joints and a weld. The body behind them needs mass to have an acceleration
of its own, so it carries a share of the ring's inertia, which the ring lacks: welded together they are the ring.
"""

import numpy as np

SHARE = 1 / 12


def is_universal(leg):
    return leg.n == 4


def universal_angles(leg, R_link, R_ring):
    """Angles of the two axes (y on the link, z on the ring) of the joint at the ring."""
    psi = leg.gamma_C @ R_ring.T @ R_link @ leg.gamma_L.T
    return np.arctan2(psi[2, 0], psi[2, 2]), np.arctan2(psi[0, 1], psi[1, 1])


def ring_share(ref):
    return 1 - SHARE * sum(map(is_universal, ref.legs))


def text(*values):
    """Numbers with all their digits, separated by spaces."""
    return " ".join(repr(float(x)) for value in values for x in np.ravel(value))
