"""The workspace of a hexapod over two directions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .._check import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..kinematics.hexapods import Workspace

__all__ = ["plot_workspace"]


def _beyond_reach(margin: Array) -> Array:
    """The margin continued by one point into poses out of reach, so that its line of zeros does not end at them.

    Linear from the two points before it and below zero, the least of all eight directions: a border that limits set
    stays where it is, one that reach sets comes to lie between the points.
    """
    known = np.where(np.isinf(margin), 1.0, margin)
    padded = np.pad(known, 2, constant_values=np.nan)
    rows, columns = margin.shape

    def shifted(i: int, j: int) -> Array:
        return padded[2 + i : 2 + i + rows, 2 + j : 2 + j + columns]

    steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    near = [(shifted(i, j), shifted(2 * i, 2 * j)) for i, j in steps]
    guesses = [np.fmin(2 * one - two, -np.abs(one)) for one, two in near]
    return np.asarray(np.where(np.isnan(known), np.fmin.reduce(guesses), known))


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
    scales = [(1e3, "mm") if name in ("x", "y", "z") else (180 / math.pi, "deg") for name in workspace.axes]
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
    margin = np.ma.masked_invalid(_beyond_reach(workspace.margin.T))
    if margin.count() and margin.min() < 0 < margin.max():
        axes.contour(first, second, margin, levels=[0.0], colors="#D55E00", linewidths=2.0)
        handles.append(Line2D([], [], color="#D55E00", lw=2.0, label="limits of the legs"))
    if handles:
        axes.legend(handles=handles, loc="upper right", fontsize="small", framealpha=0.9)
    labels = [f"{name}, {unit}" for name, (_, unit) in zip(workspace.axes, scales, strict=True)]
    axes.set(title="Workspace: displacement of the ring", xlabel=labels[0], ylabel=labels[1])
    return cast("Figure", axes.figure)
