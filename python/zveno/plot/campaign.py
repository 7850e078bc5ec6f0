"""Figures of campaigns of dockings. Needs matplotlib (``zveno[plot]``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib import pyplot as plt

from ..docking import statistics
from ..docking.campaign import LOADS, SIZES, UNITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..docking import Campaign, Docking

__all__ = ["KINDS", "conditions", "envelope", "histories", "loads", "overview", "running", "sensitivity"]

New = Callable[..., Any]  # makes a figure: that of pyplot, or one that no window knows

_BLUE, _RED, _AMBER, _GREY = "#1f6f8b", "#c44536", "#e0a030", "#8a949e"
_OUTCOMES: Final = {"captured": _BLUE, "not_captured": _RED, "failed": _AMBER}
_DEGREES: Final = {"rad": ("degrees", 180 / math.pi), "rad/s": ("degrees/s", 180 / math.pi), "m": ("mm", 1e3)}
_WORDS: Final = {
    "offset": "lateral offset",
    "tilt": "tilt (pitch, yaw)",
    "lateral": "lateral rate",
    "tilt_rate": "tilt rate",
    "abs_roll": "|roll|",
    "closing": "closing speed",
    "abs_rate_x": "|roll rate|",
    "t_capture": "time of capture",
}
_MOST_POINTS: Final = 4000  # of a cloud: more only hide each other


def words(name: str) -> str:
    """A column in words."""
    return _WORDS.get(name, name.replace("_", " "))


def _scaled(name: str) -> tuple[str, float]:
    """Unit in which a column is shown, and the factor."""
    unit = UNITS.get(name, "")
    return _DEGREES.get(unit, (unit, 1.0))


def _label(name: str) -> str:
    unit = _scaled(name)[0]
    return f"{words(name)}, {unit}" if unit else words(name)


def _plain(axes: Any) -> None:
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_envelope(axes: Any, campaign: Campaign, x: str, y: str, bins: int) -> Any:
    found = campaign.envelope(x, y, bins)
    fx, fy = _scaled(x)[1], _scaled(y)[1]
    image = axes.pcolormesh(
        found.x_edges * fx, found.y_edges * fy, found.probability.T, vmin=0, vmax=1, cmap="RdYlBu", lw=0
    )
    small = bins <= 8
    for i, j in zip(*np.nonzero(found.runs), strict=True):
        middle = 0.5 * (found.x_edges[i : i + 2].sum()) * fx, 0.5 * (found.y_edges[j : j + 2].sum()) * fy
        share = found.probability[i, j]
        if small:
            text = "1" if share == 1 else f"{share:.2f}"
            colour = "0.15" if 0.15 < share < 0.85 else "white"
            axes.annotate(f"{text}\n{found.runs[i, j]}", middle, ha="center", va="center", fontsize=6.5, color=colour)
    axes.set(xlabel=_label(x), ylabel=_label(y))
    return image


def envelope(campaign: Campaign, new: New = plt.figure) -> Figure:
    """Share of captured runs over pairs of quantities; below it the number of runs of the cell."""
    figure = new(figsize=(10, 4.2), layout="constrained")
    axes = figure.subplots(1, 2)
    bins = int(min(8, max(2, math.sqrt(len(campaign) / 12))))
    _draw_envelope(axes[0], campaign, "offset", "tilt", bins)
    image = _draw_envelope(axes[1], campaign, "closing", "abs_roll", bins)
    figure.colorbar(image, ax=axes, label="captured, share of runs", shrink=0.9)
    return figure  # type: ignore[no-any-return]


def _draw_running(axes: Any, campaign: Campaign) -> None:
    captured = campaign.column("captured")
    total = np.cumsum(captured)
    count = np.unique(np.geomspace(1, len(captured), 200).astype(int))
    bounds = np.array([statistics.wilson(int(total[k - 1]), int(k)) for k in count])
    axes.fill_between(count, bounds[:, 0], bounds[:, 1], color=_BLUE, alpha=0.18, lw=0, label="95 %, Wilson")
    axes.plot(count, total[count - 1] / count, color=_BLUE, lw=1.5, label="captured")
    axes.set_xscale("log")
    low = bounds[len(bounds) // 2 :, 0].min()
    axes.set_ylim(max(0.0, low - 0.5 * (1 - low) - 0.01), 1.0 + 0.05 * (1 - low) + 1e-3)
    axes.set(xlabel="runs", ylabel="capture probability")
    axes.legend(frameon=False, loc="lower right", fontsize="small")
    _plain(axes)


def running(campaign: Campaign, new: New = plt.figure) -> Figure:
    """How the estimate of the capture probability settles with the number of runs."""
    figure = new(figsize=(7, 3.4), layout="constrained")
    _draw_running(figure.subplots(), campaign)
    return figure  # type: ignore[no-any-return]


def _draw_load(axes: Any, campaign: Campaign, name: str) -> None:
    values = campaign._of_captured(name)
    unit, factor = _scaled(name)
    if not len(values):
        axes.set_visible(False)
        return
    values = values * factor
    axes.hist(values, bins=int(min(40, max(5, math.sqrt(len(values))))), color=_BLUE, alpha=0.55)
    for percent, style in ((50, "-"), (95, "--"), (99, ":")):
        axes.axvline(np.percentile(values, percent), color=_RED, lw=1.2, ls=style, label=f"{percent} %")
    axes.set_title(words(name), fontsize="medium", loc="left")
    axes.set(xlabel=unit, yticks=[])
    axes.spines[["top", "right", "left"]].set_visible(False)


def loads(campaign: Campaign, new: New = plt.figure) -> Figure:
    """Peaks of the captured runs, with percentiles 50, 95, 99."""
    names = [name for name in (*LOADS, "t_capture") if name in campaign.columns]
    figure = new(figsize=(10, 1.0 + 2.0 * (-(-len(names) // 4))), layout="constrained")
    axes = np.atleast_1d(figure.subplots(-(-len(names) // 4), 4, squeeze=False)).ravel()
    for panel, name in zip(axes, names, strict=False):
        _draw_load(panel, campaign, name)
    for panel in axes[len(names) :]:
        panel.set_visible(False)
    handles = [panel for panel in axes if panel.get_visible()]
    if handles:
        figure.legend(
            *handles[0].get_legend_handles_labels(),
            loc="outside lower center",
            frameon=False,
            ncols=3,
            fontsize="small",
        )
    return figure  # type: ignore[no-any-return]


def _draw_sensitivity(axes: Any, campaign: Campaign) -> Any:
    names = [name for name in LOADS if name in campaign.columns]
    found = campaign.rank_correlations(names)
    rows = [*SIZES, *campaign.box.uncertain]
    values = np.array([[found[load][row] for load in names] for row in rows])
    image = axes.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    noise = 2 / math.sqrt(max(2, campaign.outcomes["captured"]) - 1)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if math.isfinite(value):
                colour = "0.65" if abs(value) < noise else "white" if abs(value) > 0.6 else "0.1"
                axes.annotate(f"{value:.2f}", (j, i), ha="center", va="center", fontsize="small", color=colour)
    axes.set_xticks(range(len(names)), [words(name) for name in names], rotation=30, ha="right")
    axes.set_yticks(range(len(rows)), [words(name) for name in rows])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return image


def sensitivity(campaign: Campaign, new: New = plt.figure) -> Figure:
    """Rank correlations of conditions and loads; grey numbers are within the noise."""
    figure = new(figsize=(8.5, 1.6 + 0.33 * (len(SIZES) + len(campaign.box.uncertain))), layout="constrained")
    axes = figure.subplots()
    figure.colorbar(_draw_sensitivity(axes, campaign), ax=axes, label="rank correlation", shrink=0.9)
    return figure  # type: ignore[no-any-return]


def conditions(campaign: Campaign, new: New = plt.figure) -> Figure:
    """Conditions of the runs, by what became of them."""
    pairs = (("offset_y", "offset_z"), ("pitch", "yaw"), ("lateral_y", "lateral_z"), ("closing", "roll"))
    figure = new(figsize=(11, 3.3), layout="constrained")
    axes = figure.subplots(1, 4)
    status = campaign.column("status")[:_MOST_POINTS]
    kinds = np.where(np.isin(status, ("captured", "not_captured")), status, "failed")
    for panel, (x, y) in zip(axes, pairs, strict=True):
        a, b = (campaign.column(name)[:_MOST_POINTS] * _scaled(name)[1] for name in (x, y))
        for kind, colour in _OUTCOMES.items():  # rare ones on top
            chosen = kinds == kind
            size, alpha = (float(np.clip(3000 / len(status), 3, 14)), 0.5) if kind == "captured" else (10, 0.9)
            panel.scatter(
                a[chosen],
                b[chosen],
                s=size,
                alpha=alpha,
                color=colour,
                lw=0,
                label=kind.replace("_", " "),
                rasterized=True,
            )
        panel.set(xlabel=_label(x), ylabel=_label(y))
        _plain(panel)
        if (x, y) != pairs[-1]:
            panel.set_aspect("equal")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, markerscale=2.5
    )
    return figure  # type: ignore[no-any-return]


def overview(campaign: Campaign, new: New = plt.figure) -> Figure:
    """Envelope, probability, one load and sensitivity on one sheet."""
    figure = new(figsize=(11, 7.5), layout="constrained")
    axes = figure.subplots(2, 2)
    bins = int(min(8, max(2, math.sqrt(len(campaign) / 12))))
    image = _draw_envelope(axes[0, 0], campaign, "offset", "tilt", bins)
    figure.colorbar(image, ax=axes[0, 0], label="captured")
    _draw_running(axes[0, 1], campaign)
    _draw_load(axes[1, 0], campaign, "bending")
    axes[1, 0].legend(frameon=False, fontsize="small")
    _draw_sensitivity(axes[1, 1], campaign)
    out = campaign.outcomes
    figure.suptitle(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in out.items()))
    return figure  # type: ignore[no-any-return]


def histories(runs: Sequence[tuple[int, Docking]], new: New = plt.figure) -> Figure:
    """Loads and strokes over time of some runs, a column for each."""
    rows = ("force", "moment", "stroke")
    figure = new(figsize=(max(5.0, 3.7 * len(runs)), 6.4), layout="constrained")
    grid = figure.subplots(len(rows), len(runs), sharex="col", sharey="row", squeeze=False)
    for column, (index, docking) in zip(grid.T, runs, strict=True):
        history = docking.history
        t, load, stroke = history["t"], history["load"], history["stroke_a"]
        column[0].plot(t, load[:, 0], color=_BLUE, lw=1.2, label="axial")
        column[0].plot(t, np.hypot(load[:, 1], load[:, 2]), color=_RED, lw=1.2, label="shear")
        column[1].plot(t, load[:, 3], color=_BLUE, lw=1.2, label="torsion")
        column[1].plot(t, np.hypot(load[:, 4], load[:, 5]), color=_RED, lw=1.2, label="bending")
        column[2].plot(t, stroke, lw=1.0)
        column[0].set_title(f"run {index}", loc="left", fontsize="medium")
        for panel in column:
            if math.isfinite(docking.t_capture):
                panel.axvline(docking.t_capture, color=_GREY, lw=0.9, ls="--")
            _plain(panel)
        column[-1].set_xlabel("time, s")
    for panel, text in zip(grid[:, 0], ("force, N", "moment, N m", "stroke, m or rad"), strict=True):
        panel.set_ylabel(text)
    for panel in grid[:2, -1]:
        panel.legend(frameon=False, fontsize="small")
    return figure  # type: ignore[no-any-return]


KINDS: Final = {
    "overview": overview,
    "envelope": envelope,
    "loads": loads,
    "sensitivity": sensitivity,
    "conditions": conditions,
    "running": running,
}
