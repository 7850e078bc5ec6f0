"""Figures of hexapods and their simulations. Needs matplotlib (``zveno[cli]``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
from numpy.typing import ArrayLike, NDArray

from .model import turn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .hexapod import Hexapod, Leg
    from .ring import Workspace
    from .simulation import Simulation

__all__ = [
    "draw_mechanism",
    "plot_base_wrench",
    "plot_forces",
    "plot_ring",
    "plot_simulation",
    "plot_strokes",
    "plot_workspace",
]

Array = NDArray[np.float64]

# Okabe-Ito colours; dashes repeat the distinction for print and for every kind of colour vision
_LEG_STYLES: Final = (
    ("#0072B2", "-"),
    ("#D55E00", "-"),
    ("#009E73", "--"),
    ("#CC79A7", "--"),
    ("#E69F00", "-."),
    ("#000000", ":"),
)
_AXIS_STYLES: Final = (("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."))
_SCALES: Final = {"m": (1e3, "mm", "N"), "rad": (180 / math.pi, "deg", "N m")}


def _new_axes(count: int, height: float = 3.4) -> list[Axes]:
    figure, axes = plt.subplots(1, count, figsize=(5.4 * count, height), layout="constrained", squeeze=False)
    del figure
    return list(axes[0])


def _finish(axes: Axes, simulation: Simulation, title: str, ylabel: str) -> None:
    axes.set(title=title, xlabel="time, s", ylabel=ylabel)
    axes.grid(color="0.88", lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if len(simulation) > 1:
        axes.set_xlim(simulation.t[0], simulation.t[-1])
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles,
            labels,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            handlelength=2.4,
            fontsize="small",
        )


def _components(axes: Axes, simulation: Simulation, values: Array, names: Sequence[str]) -> None:
    for values_of, name, (colour, dashes) in zip(values.T, names, _AXIS_STYLES, strict=True):
        axes.plot(simulation.t, values_of, color=colour, ls=dashes, lw=1.5, label=name)


def rotation_vectors(R: Array) -> Array:
    """Axis times angle of rotation matrices (n, 3, 3), (n, 3) rad."""
    skew = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1) / 2
    sine = np.linalg.norm(skew, axis=1)
    angle = np.arctan2(sine, (np.trace(R, axis1=1, axis2=2) - 1) / 2)
    return np.asarray(skew * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 1.0)[:, None])


def plot_ring(simulation: Simulation, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Displacement (mm) and rotation (deg, axis times angle) of the ring from its nominal pose, in base axes.

    Parameters
    ----------
    simulation : Simulation
    axes : two Axes, optional
        Default: new ones in a new figure.

    Returns
    -------
    axes : list of two Axes
    """
    left, right = axes = list(axes) if axes is not None else _new_axes(2)
    pose, origin = simulation.hexapod.nominal, "nominal pose"
    if pose is None:
        pose, origin = (simulation.r[0], simulation.R[0]), "first state"
    _components(left, simulation, 1e3 * (simulation.r - pose[0]), ["x", "y", "z"])
    turns = rotation_vectors(simulation.R @ pose[1].T)
    _components(right, simulation, np.degrees(turns), ["about x", "about y", "about z"])
    _finish(left, simulation, f"Ring: displacement from the {origin}", "displacement, mm")
    _finish(right, simulation, f"Ring: rotation from the {origin}", "rotation, deg")
    return axes


def _by_leg(axes: Axes, simulation: Simulation, values: Array, units: Sequence[str]) -> None:
    """One line for each leg; the unit stands in the legend where legs differ."""
    mixed = len(set(units)) > 1
    names = simulation.hexapod.leg_names
    for k, (colour, dashes) in enumerate(_LEG_STYLES):
        label = f"{names[k]}, {units[k]}" if mixed else names[k]
        axes.plot(simulation.t, values[:, k], color=colour, ls=dashes, lw=1.5, label=label)


def plot_strokes(simulation: Simulation, axes: Axes | None = None) -> Axes:
    """Coordinates of the actuated joints (mm or deg) with the limits of the legs and the events at their stops.

    Parameters
    ----------
    simulation : Simulation
    axes : Axes, optional
        Default: new ones in a new figure.

    Returns
    -------
    axes : Axes
    """
    axes = axes if axes is not None else _new_axes(1)[0]
    hexapod = simulation.hexapod
    scales = [_SCALES[leg.unit] for leg in hexapod.legs]
    factor = np.array([scale[0] for scale in scales])
    units = [scale[1] for scale in scales]
    _by_leg(axes, simulation, simulation.actuated_position * factor, units)
    limits = np.array([hexapod.lower, hexapod.upper]) * factor
    common = bool(np.allclose(limits, limits[:, :1], rtol=1e-9))
    for k in range(1 if common else 6):
        colour = "0.35" if common else _LEG_STYLES[k][0]
        for limit in limits[:, k][np.isfinite(limits[:, k])].tolist():
            axes.axhline(limit, color=colour, lw=1.0, ls=(0, (6, 3)), zorder=1)
    if np.isfinite(limits).any():
        axes.plot([], [], color="0.35", lw=1.0, ls=(0, (6, 3)), label="limits")
    for kind, marker in (("enter", "v"), ("leave", "^")):
        events = [event for event in simulation.events if event.kind == kind]
        if events:
            legs = [hexapod.leg_names.index(event.leg) for event in events]
            times = [event.time for event in events]
            track = simulation.actuated_position
            heights = [factor[k] * np.interp(at, simulation.t, track[:, k]) for at, k in zip(times, legs, strict=True)]
            colours = [_LEG_STYLES[k][0] for k in legs]
            axes.scatter(times, heights, marker=marker, c=colours, s=22, zorder=4)
            label = "enters a stop" if kind == "enter" else "leaves a stop"
            axes.plot([], [], ls="", marker=marker, color="0.35", ms=5, label=label)
    slide, crank = "stroke, mm", "crank angle, deg"
    ylabel = " or ".join(text for text, unit in ((slide, "mm"), (crank, "deg")) if unit in units)
    _finish(axes, simulation, "Drives: position", ylabel)
    return axes


def plot_forces(simulation: Simulation, axes: Axes | None = None) -> Axes:
    """Forces of the drives (N or N m).

    Parameters
    ----------
    simulation : Simulation
    axes : Axes, optional
        Default: new ones in a new figure.

    Returns
    -------
    axes : Axes
    """
    axes = axes if axes is not None else _new_axes(1)[0]
    units = [_SCALES[leg.unit][2] for leg in simulation.hexapod.legs]
    _by_leg(axes, simulation, simulation.tau, units)
    texts = {"N": "force, N", "N m": "torque, N m"}
    _finish(axes, simulation, "Drives: force", " or ".join(texts[unit] for unit in ("N", "N m") if unit in units))
    return axes


def plot_base_wrench(simulation: Simulation, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Force (N) and moment about the base's origin (N m) of all legs on the base, in base axes.

    Parameters
    ----------
    simulation : Simulation
    axes : two Axes, optional
        Default: new ones in a new figure.

    Returns
    -------
    axes : list of two Axes
    """
    left, right = axes = list(axes) if axes is not None else _new_axes(2)
    _components(left, simulation, simulation.base_wrench[:, :3], ["x", "y", "z"])
    _components(right, simulation, simulation.base_wrench[:, 3:], ["about x", "about y", "about z"])
    _finish(left, simulation, "Load on the base: force", "force, N")
    _finish(right, simulation, "Load on the base: moment", "moment, N m")
    return axes


def plot_simulation(simulation: Simulation) -> Figure:
    """Ring, drives and load on the base in one figure.

    Parameters
    ----------
    simulation : Simulation

    Returns
    -------
    figure : matplotlib Figure
    """
    if not len(simulation):
        raise ValueError("plot: the simulation has no states")
    figure, axes = plt.subplots(3, 2, figsize=(12, 9), sharex=True, layout="constrained")
    plot_ring(simulation, axes[0])
    plot_strokes(simulation, axes[1, 0])
    plot_forces(simulation, axes[1, 1])
    plot_base_wrench(simulation, axes[2])
    for panel in axes[:2].flat:
        panel.set_xlabel("")
    figure.align_ylabels(axes)
    title = simulation.hexapod.name
    if simulation.failure is not None:
        title += f", ended by {type(simulation.failure).__name__} after t = {simulation.t[-1]:g} s"
    figure.suptitle(title)
    return figure


# ---- the mechanism itself


def _leg_points(hexapod: Hexapod, leg: Leg, q: Array, hinge: Array) -> list[Array]:
    """Points of a leg from base to ring hinge, base axes: where its bodies meet."""
    if leg.chain is not None:
        bodies = [leg.chain.pose(q[: leg.chain.n], name)[:3, 3] for name in leg.chain.link_names]
        return [*bodies, hinge]
    assert leg.base is not None and leg.base_frame is not None
    if leg.unit == "rad":
        crank = leg.base_frame @ turn(1, float(q[0])) @ (leg.inner_length, 0.0, 0.0)
    else:
        crank = (hinge - leg.base) * (leg.inner_length / np.linalg.norm(hinge - leg.base))
    return [leg.base, leg.base + crank, hinge]


def _outline(points: Array) -> Array:
    """A closed curve through points: their circle if they are on one, else the polygon around their centre."""
    centre = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - centre)
    plane = (points - centre) @ axes[:2].T
    radii = np.linalg.norm(plane, axis=1)
    flat = np.abs((points - centre) @ axes[2]).max() < 1e-3 * radii.mean()
    if flat and np.ptp(radii) < 0.01 * radii.mean():
        a = np.linspace(0, 2 * np.pi, 121)
        plane = radii.mean() * np.stack([np.cos(a), np.sin(a)], axis=1)
        return np.asarray(centre + plane @ axes[:2])
    order = np.argsort(np.arctan2(plane[:, 1], plane[:, 0]))
    return np.asarray(points[np.append(order, order[0])])


def draw_mechanism(hexapod: Hexapod, r: ArrayLike | None = None, R: ArrayLike | None = None, ax: Any = None) -> Any:
    """Draw a hexapod in space: base and ring with their hinges, legs as housing and rod or crank and coupler.

    Parameters
    ----------
    hexapod : Hexapod
    r, R : (3,) array, m, and (3, 3) array
        Pose of the ring; default: the nominal one.
    ax : Axes3D, optional
        Default: new ones in a new figure.

    Returns
    -------
    ax : Axes3D
    """
    nominal = hexapod.nominal
    if r is None and nominal is None:
        raise ValueError(f"draw_mechanism: r is missing, and hexapod '{hexapod.name}' has no nominal pose")
    place = np.asarray(nominal[0] if r is None and nominal is not None else r, dtype=np.float64)
    rotation = np.asarray(R if R is not None else np.eye(3) if nominal is None else nominal[1], dtype=np.float64)
    q = hexapod.closure(place, rotation)
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.4)).add_axes((0.0, 0.0, 0.95, 0.95), projection="3d")
    hinges = np.array([place + rotation @ leg.ring for leg in hexapod.legs])
    tracks = [_leg_points(hexapod, leg, q[k], hinges[k]) for k, leg in enumerate(hexapod.legs)]
    bases = np.array([track[0] for track in tracks])
    up = int(np.abs(hinges.mean(axis=0) - bases.mean(axis=0)).argmax())

    for points, colour, edge in ((bases, "0.75", "0.35"), (hinges, "#56B4E9", "#0072B2")):
        curve = _outline(points)
        ax.add_collection3d(Poly3DCollection([curve], facecolor=colour, alpha=0.22, edgecolor="none"))
        ax.plot(*curve.T, color=edge, lw=2.4)
        ax.scatter(*points.T, color=edge, s=26, depthshade=False)
    inner, outer = "#D55E00", "#E69F00"
    for track, name in zip(tracks, hexapod.leg_names, strict=True):
        for i, (a, b) in enumerate(pairwise(track)):
            last = i == len(track) - 2
            ends = np.array([a, b])
            ax.plot(*ends.T, color=outer if last else inner, lw=2.4 if last else 5.0, solid_capstyle="round")
        where = track[0] + 0.17 * (track[0] - bases.mean(axis=0))
        ax.text(*where, name, fontsize=8, ha="center", va="center")
    kinds = sorted({leg.unit for leg in hexapod.legs})
    words = {"m": ("housing", "rod"), "rad": ("crank", "coupler")}
    first, second = (" or ".join(words[kind][i] for kind in kinds) for i in range(2))
    handles = [
        Line2D([], [], color="#0072B2", lw=2.4, label="ring"),
        Line2D([], [], color=outer, lw=2.4, label=second),
        Line2D([], [], color=inner, lw=5.0, label=first),
        Line2D([], [], color="0.35", lw=2.4, label="base"),
    ]
    ax.legend(handles=handles, loc="upper left", frameon=False, fontsize="small")
    ax.set(xlabel="x, m", ylabel="y, m", zlabel="z, m", title=hexapod.name)
    ax.view_init(elev=24, azim=-62, vertical_axis="xyz"[up])
    spans = [high - low for low, high in (ax.get_xlim3d(), ax.get_ylim3d(), ax.get_zlim3d())]
    ax.set_box_aspect(spans, zoom=0.95)
    for i, axis in enumerate((ax.xaxis, ax.yaxis, ax.zaxis)):
        axis.set_major_locator(MaxNLocator(3 if i == up else 5))
        axis.set_tick_params(labelsize=8)
        axis.labelpad = 8
    return ax


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
