"""Figures of hexapods; they live in `zveno.plot`. Needs matplotlib (``zveno[plot]``)."""

from .plot.mechanism import draw_mechanism
from .plot.simulation import plot_base_wrench, plot_forces, plot_ring, plot_simulation, plot_strokes
from .plot.workspace import plot_workspace

__all__ = [
    "draw_mechanism",
    "plot_base_wrench",
    "plot_forces",
    "plot_ring",
    "plot_simulation",
    "plot_strokes",
    "plot_workspace",
]
