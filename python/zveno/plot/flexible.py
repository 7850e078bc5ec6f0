"""Shapes of modes along a flexible beam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import matplotlib.pyplot as plt
import numpy as np

from .._check import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..dynamics.modes import Modes
    from ..flexible import Beam

__all__ = ["beam_displacements", "draw_beam_modes"]

_DIRECTIONS: Final = (("x", "0.55", ":"), ("y", "#E69F00", "--"), ("z", "#0072B2", "-"))
_TWIST: Final = "#009E73"


def beam_displacements(beam: Beam, modes: Modes, k: int) -> tuple[Array, Array]:
    """Stations s (m,) from root to tip, and displacement and rotation (m, 6) of mode k there, in the root's axes."""
    chain, q = modes.chain, modes.q
    shape = modes.shapes[k]
    elements = [beam.root, *(f"{beam.name}_{i}" for i in range(1, beam.elements + 1)), beam.tip]
    s = np.array([0.0, *beam.stations, beam.length])
    R = chain.pose(q, beam.root)[:3, :3]
    twists = np.array([chain.jacobian(q, link) @ shape for link in elements])
    if np.iscomplexobj(twists):  # the instant of the largest displacement
        largest = twists.ravel()[np.abs(twists).argmax()]
        twists = (twists * (np.abs(largest) / largest)).real
    return s, np.concatenate([twists[:, :3] @ R, twists[:, 3:] @ R], axis=1)


def draw_beam_modes(beam: Beam, modes: Modes, chosen: list[int]) -> Figure:
    """See `Beam.plot_modes`."""
    figure, grid = plt.subplots(
        len(chosen), 1, figsize=(6.4, 1.2 + 1.45 * len(chosen)), layout="constrained", sharex=True, squeeze=False
    )
    for axes, k in zip(grid[:, 0], chosen, strict=True):
        s, moved = beam_displacements(beam, modes, k)
        # twist as the way of a point at a tenth of the length from the axis: the two have one scale
        twist = 0.1 * beam.length * moved[:, 3]
        size = max(float(np.abs(moved[:, :3]).max()), float(np.abs(twist).max())) or 1.0
        for i, (name, colour, style) in enumerate(_DIRECTIONS):
            axes.plot(s, moved[:, i] / size, style, color=colour, lw=1.8, label=f"along {name}")
        axes.plot(s, twist / size, "-.", color=_TWIST, lw=1.4, label="twist")
        axes.axhline(0, color="0.8", lw=0.8, zorder=0)
        axes.set_ylim(-1.12, 1.12)
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
        still = modes.kinds[k] if not modes.eigenvalues[k].imag else f"{modes.frequencies[k]:.4g} Hz"
        damping = f", damping {modes.damping[k]:.2g}" if modes.damping[k] and modes.eigenvalues[k].imag else ""
        axes.set_title(f"{k + 1}: {still}{damping}", fontsize=9, loc="left")
    grid[-1, 0].set_xlabel("distance from the root, m")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(f"Modes of '{modes.chain.name}' along '{beam.name}'", fontsize=11)
    return figure
