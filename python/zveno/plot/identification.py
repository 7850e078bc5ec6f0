"""Figures of motions that were made to be measured. Needs matplotlib (``zveno[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..identification.excite import Excitation

__all__ = ["draw_excitation"]


def draw_excitation(motion: Excitation) -> Figure:
    """Coordinates, rates, accelerations, and the deviations to expect."""
    figure = plt.figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots(2, 2)
    t = np.linspace(0.0, motion.duration, 500)
    for panel, values, word in zip(axes.flat, motion(t), ("q", "qd", "qdd"), strict=False):
        panel.plot(t, values, lw=1.4, label=motion.chain.joint_names)
        panel.set(xlabel="t, s", ylabel=word)
        panel.grid(color="0.92")
    axes[0, 0].legend(fontsize="small", ncols=2, frameon=False)
    colors = {"well known": "#3f9c5a", "poor": "#d99a1c", "not identifiable": "#c2410c"}
    rows = motion.parameters
    relative = [min(1e2, row.deviation / size) for row, size in zip(rows, motion.sizes, strict=True)]
    panel = axes[1, 1]
    panel.bar(range(len(rows)), relative, color=[colors[row.verdict] for row in rows])
    panel.set_yscale("log")
    panel.set_xticks(range(len(rows)), [row.name for row in rows], rotation=90, fontsize=6)
    panel.set(ylabel="deviation to expect / size", title=f"condition {motion.condition:.3g}")
    return figure
