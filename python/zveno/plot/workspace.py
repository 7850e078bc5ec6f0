"""The workspace of a hexapod over two directions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..kinematics.hexapods import Workspace

__all__ = ["plot_workspace"]


def plot_workspace(workspace: Workspace, ax: Axes | None = None) -> Figure:
    """Condition number over the grid of a `Workspace`, on a logarithmic scale, and the border set by the legs' limits.

    Parameters
    ----------
    workspace : Workspace
    ax : Axes, optional
        Default: new ones in a new figure.

    Returns
    -------
    figure : matplotlib Figure
    """
    axes = ax if ax is not None else plt.subplots(figsize=(6.4, 5.0), layout="constrained")[1]
    scales = [(180 / math.pi, "deg") if name.startswith("tilt") else (1e3, "mm") for name in workspace.axes]
    first, second = workspace.first * scales[0][0], workspace.second * scales[1][0]
    values = np.ma.masked_invalid(workspace.condition.T)
    handles: list[Line2D | Patch] = []
    axes.set_facecolor("0.8")
    if values.count():
        low = float(values.min())
        high = max(float(np.quantile(values.compressed(), 0.98)), 1.5 * low)  # singular poses have no upper end
        mesh = axes.pcolormesh(first, second, values, norm=LogNorm(low, high), cmap="viridis_r", shading="nearest")
        bar = axes.figure.colorbar(mesh, ax=axes, extend="max" if values.max() > high else "neither")
        bar.set_label("condition number of the actuated Jacobian")
        bar.ax.yaxis.set_major_formatter("{x:g}")
        bar.ax.yaxis.set_minor_formatter("{x:g}")
    if values.count() < values.size:
        handles.append(Patch(color="0.8", label="out of reach"))
    inside = workspace.usable.T
    if inside.any() and not inside.all():
        axes.contour(first, second, inside.astype(float), levels=[0.5], colors="#D55E00", linewidths=2.0)
        handles.append(Line2D([], [], color="#D55E00", lw=2.0, label="limits of the legs"))
    if handles:
        axes.legend(handles=handles, loc="upper right", fontsize="small", framealpha=0.9)
    labels = [f"{name}, {unit}" for name, (_, unit) in zip(workspace.axes, scales, strict=True)]
    axes.set(title="Workspace: displacement of the ring", xlabel=labels[0], ylabel=labels[1])
    return cast("Figure", axes.figure)
