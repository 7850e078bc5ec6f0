"""Figure of a hexapod's workspace. Needs matplotlib (``zveno[cli]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .ring import Workspace

__all__ = ["plot_workspace"]

_BANDS: Final = 16
_GROUND, _HATCH, _LIMIT = "0.94", "0.65", "#D55E00"
_TICKS: Final = (1, 1.5, 2, 3, 4, 5, 7)


def plot_workspace(workspace: Workspace, ax: Axes | None = None) -> Figure:
    """Draw the condition number over the grid of a `Workspace`.

    Filled contours on a logarithmic scale, pale where a drive is beyond its limits, with a line at the limits. Poses
    that a leg cannot reach are hatched. The scale ends where 98 % of the poses are below it: singular poses have no
    upper end.

    Parameters
    ----------
    workspace : Workspace
    ax : Axes, optional
        Default: new ones in a new figure.

    Returns
    -------
    figure : matplotlib Figure
    """
    axes = ax if ax is not None else plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]
    first, second = workspace.first, workspace.second
    unreached = (np.isnan(workspace.condition) | (workspace.status != 0)).T
    reached = workspace.condition.T[~unreached]
    handles: list[Line2D | Patch] = []
    axes.set_facecolor(_GROUND)
    if reached.size:
        low = float(reached.min()) if np.isfinite(reached.min()) else 1.0
        bounded = reached[np.isfinite(reached)]
        high = max(float(np.quantile(bounded, 0.98)) if bounded.size else low, 1.25 * low)
        values = np.ma.masked_array(np.minimum(np.nan_to_num(workspace.condition.T, posinf=10 * high), 10 * high))
        values = np.ma.masked_where(unreached, np.maximum(values, low))
        levels = np.geomspace(low, high, _BANDS + 1)
        levels[0] *= 1 - 1e-12  # the lowest value is inside its band
        over = bool((reached > high).any())
        bands = axes.contourf(
            first, second, values, levels=levels, norm=LogNorm(low, high), cmap="viridis_r",
            extend="max" if over else "neither",
        )  # fmt: skip
        bar = axes.figure.colorbar(bands, ax=axes)
        bar.set_label("condition number of the actuated Jacobian")
        ticks = [x * 10.0**k for k in range(int(np.log10(high)) + 1) for x in _TICKS]
        bar.ax.yaxis.set_major_locator(FixedLocator([x for x in ticks if low <= x <= high]))
        bar.ax.yaxis.set_minor_locator(NullLocator())
        bar.ax.yaxis.set_major_formatter("{x:g}")
        within = np.ma.masked_where(unreached, workspace.within.T.astype(np.float64))
        if 0 < within.sum() < within.count():
            axes.contourf(first, second, within, levels=[-1, 0.5], colors="white", alpha=0.4)
            axes.contour(first, second, within, levels=[0.5], colors=_LIMIT, linewidths=2.0)
            handles.append(Line2D([], [], color=_LIMIT, lw=2.0, label="limits of the drives"))
    if unreached.any():
        axes.patch.set(hatch="////", edgecolor=_HATCH)
        handles.append(Patch(facecolor=_GROUND, edgecolor=_HATCH, hatch="////", label="out of reach"))
    if handles:
        axes.legend(handles=handles, loc="upper right", fontsize="small", framealpha=0.95)
    labels = [f"{name}, {'rad' if name.startswith('tilt') else 'm'}" for name in workspace.axes]
    axes.set(title="Workspace: displacement of the ring", xlabel=labels[0], ylabel=labels[1])
    return cast("Figure", axes.figure)
