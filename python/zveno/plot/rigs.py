"""Figures of rigs: stability maps and runs. Needs matplotlib (``zveno[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D

from ..rigs.chart import UNITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..rigs.chart import StabilityMap
    from ..rigs.measure import Latency
    from ..rigs.run import RigRun

__all__ = ["plot_latency", "plot_map", "plot_run"]

_WARN, _GOOD, _INK = "#D55E00", "#0072B2", "0.15"


def plot_map(chart: StabilityMap, ax: Any = None) -> Figure:
    """Limit by delay over two numbers of a rig; white is the boundary, the mark is the rig itself.

    Parameters
    ----------
    chart : StabilityMap
    ax : Axes, optional
        Default: new ones in a new figure.

    Returns
    -------
    figure : matplotlib Figure
    """
    axes = ax if ax is not None else plt.subplots(figsize=(6.6, 5.0), layout="constrained")[1]
    ratio = np.clip(chart.ratio.T, 1e-2, 1e2)
    mesh = axes.pcolormesh(
        chart.first, chart.second, ratio, norm=LogNorm(0.1, 10), cmap="RdBu", shading="nearest", rasterized=True
    )
    bar = axes.figure.colorbar(mesh, ax=axes, extend="both", ticks=[0.1, 0.2, 0.5, 1, 2, 5, 10])
    bar.ax.yaxis.set_major_formatter("{x:g}")
    bar.ax.minorticks_off()
    bar.set_label("delay that the loop bears / delay that it has")
    handles: list[Line2D] = []
    if ratio.min() < 1 < ratio.max():
        axes.contour(chart.first, chart.second, ratio, levels=[1.0], colors=_INK, linewidths=2.0)
        handles.append(Line2D([], [], color=_INK, lw=2.0, label="boundary"))
    if ratio.min() < 2 < ratio.max():
        axes.contour(chart.first, chart.second, ratio, levels=[2.0], colors=_INK, linewidths=1.0, linestyles="--")
        handles.append(Line2D([], [], color=_INK, lw=1.0, ls="--", label="twice the delay"))
    here = [getattr(chart.rig, name) for name in chart.over]
    axes.plot(*here, marker="o", ms=8, mfc="white", mec=_INK, mew=1.5)
    handles.append(Line2D([], [], ls="", marker="o", ms=8, mfc="white", mec=_INK, label="this rig"))
    axes.set(xscale="log", yscale="log", title="Stability of the force loop: blue is stable")
    axes.set_xlabel(f"{chart.over[0]}, {UNITS[chart.over[0]]}")
    axes.set_ylabel(f"{chart.over[1]}, {UNITS[chart.over[1]]}")
    axes.legend(handles=handles, loc="best", fontsize="small", framealpha=0.9)
    return cast("Figure", axes.figure)


def plot_run(run: RigRun) -> Figure:
    """Displacement, forces and observed energy of a run over time.

    Parameters
    ----------
    run : RigRun

    Returns
    -------
    figure : matplotlib Figure
    """
    figure, axes = plt.subplots(3, 1, figsize=(8, 7), sharex=True, layout="constrained")
    axes[0].plot(run.t, run.x, lw=1.4)
    axes[0].set_ylabel("displacement, m")
    if run.rig.n == 1:
        axes[1].plot(run.t, run.force, lw=1.4, color=_GOOD, label="measured, late")
        axes[1].plot(run.t, run.force_used, lw=1.2, color=_WARN, label="used")
        axes[1].legend(loc="best", frameon=False, fontsize="small")
    else:
        axes[1].plot(run.t, run.force, lw=1.2)
    axes[1].set_ylabel("force, N")
    axes[2].plot(run.t, run.energy, lw=1.4, color=_GOOD)
    axes[2].axhline(0.0, color=_INK, lw=0.8)
    axes[2].set(ylabel="taken by the contact, J", xlabel="time, s")
    for panel in axes:
        panel.grid(color="0.88", lw=0.8)
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def plot_latency(latency: Latency) -> Figure:
    """Histogram of the time of single steps, both axes logarithmic, with its percentiles.

    Parameters
    ----------
    latency : Latency

    Returns
    -------
    figure : matplotlib Figure
    """
    figure, axes = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
    shown = [(latency.counts, _GOOD, "step")]
    if latency.late_microseconds:
        shown.append((latency.late_counts, _WARN, "late start"))
    for counts, colour, label in shown:
        filled = np.flatnonzero(counts)
        at = 2 ** ((filled + 0.5) / 32) / 1e3
        axes.vlines(at, 0.5, counts[filled], color=colour, lw=2.0, label=label)
    for key, value in latency.microseconds.items():
        axes.axvline(value, color=_INK, lw=0.8, ls=":")
        axes.annotate(
            key, (value, 1.0), xycoords=("data", "axes fraction"), rotation=90, va="top", ha="right", fontsize=8
        )
    axes.axvline(1e6 * latency.deadline, color=_WARN, lw=1.2, ls="--", label="deadline")
    axes.set(xscale="log", yscale="log", xlabel="time of a step, us", ylabel="steps")
    axes.set_title(f"{latency.steps:,} steps of {latency.model}", fontsize=10)
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.8), fontsize="small", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
