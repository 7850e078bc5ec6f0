"""Figures of a simulation: ring, drives, load on the base."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import matplotlib.pyplot as plt
import numpy as np

from .._check import Array
from .._rotation import to_rotation_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..sim.simulation import Simulation

__all__ = ["plot_base_wrench", "plot_energy", "plot_forces", "plot_ring", "plot_simulation", "plot_strokes"]

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


_Drawing = TypeVar("_Drawing", bound=Callable[..., Any])


def _drawing(taken: str, returned: str) -> Callable[[_Drawing], _Drawing]:
    """Describe the parameters that all drawings share."""
    parameters = f"""

    Parameters
    ----------
    simulation : Simulation
    axes : {taken}, optional
        Default: new ones in a new figure.

    Returns
    -------
    axes : {returned}
    """

    def described(draw: _Drawing) -> _Drawing:
        draw.__doc__ = f"{draw.__doc__}{parameters}"
        return draw

    return described


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
        look: dict[str, Any] = {"frameon": False, "handlelength": 2.4, "fontsize": "small"}
        axes.legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5), **look)


def _components(axes: Axes, simulation: Simulation, values: Array, names: Sequence[str]) -> None:
    for values_of, name, (colour, dashes) in zip(values.T, names, _AXIS_STYLES, strict=True):
        axes.plot(simulation.t, values_of, color=colour, ls=dashes, lw=1.5, label=name)


@_drawing("two Axes", "list of two Axes")
def plot_ring(simulation: Simulation, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Displacement (mm) and rotation (deg, axis times angle) of the ring from its nominal pose, in base axes."""
    left, right = axes = list(axes) if axes is not None else _new_axes(2)
    pose, origin = simulation.hexapod.nominal, "nominal pose"
    if pose is None:
        pose, origin = (simulation.r[0], simulation.R[0]), "first state"
    _components(left, simulation, 1e3 * (simulation.r - pose[0]), ["x", "y", "z"])
    turns = to_rotation_vector(simulation.R @ pose[1].T)
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


@_drawing("Axes", "Axes")
def plot_strokes(simulation: Simulation, axes: Axes | None = None) -> Axes:
    """Coordinates of the actuated joints (mm or deg) with the limits of the legs and the events at their stops."""
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
        events = [event for event in simulation.events if event.kind == kind and event.leg in hexapod.leg_names]
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


@_drawing("Axes", "Axes")
def plot_forces(simulation: Simulation, axes: Axes | None = None) -> Axes:
    """Forces of the drives (N or N m)."""
    axes = axes if axes is not None else _new_axes(1)[0]
    units = [_SCALES[leg.unit][2] for leg in simulation.hexapod.legs]
    _by_leg(axes, simulation, simulation.tau, units)
    texts = {"N": "force, N", "N m": "torque, N m"}
    _finish(axes, simulation, "Drives: force", " or ".join(texts[unit] for unit in ("N", "N m") if unit in units))
    return axes


@_drawing("two Axes", "list of two Axes")
def plot_base_wrench(simulation: Simulation, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Force (N) and moment about the base's origin (N m) of all legs on the base, in base axes."""
    left, right = axes = list(axes) if axes is not None else _new_axes(2)
    _components(left, simulation, simulation.base_wrench[:, :3], ["x", "y", "z"])
    _components(right, simulation, simulation.base_wrench[:, 3:], ["about x", "about y", "about z"])
    _finish(left, simulation, "Load on the base: force", "force, N")
    _finish(right, simulation, "Load on the base: moment", "moment, N m")
    return axes


@_drawing("two Axes", "list of two Axes")
def plot_energy(simulation: Simulation, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Energies and work (J), and the error of their balance beside the energy exchanged."""
    left, right = axes = list(axes) if axes is not None else _new_axes(2)
    stores = {
        "kinetic": simulation.kinetic_energy,
        "potential": simulation.potential_energy,
        "work of the legs": simulation.work_legs,
        "work of the wrench": simulation.work_wrench,
    }
    for (label, values), (colour, dashes) in zip(stores.items(), _LEG_STYLES, strict=False):
        left.plot(simulation.t, values, color=colour, ls=dashes, lw=1.5, label=label)
    _finish(left, simulation, "Energy", "energy, J")
    if np.isfinite(simulation.energy_error).any():
        right.plot(simulation.t, simulation.energy_error, color=_LEG_STYLES[0][0], lw=1.5)
    else:
        right.text(0.5, 0.5, "the base moves: no balance", transform=right.transAxes, ha="center", va="center")
    _finish(right, simulation, f"Energy balance: {simulation.energy_balance}", "error, J")
    return axes


def plot_simulation(simulation: Simulation) -> Figure:
    """Ring, drives, load on the base and energy in one figure.

    Parameters
    ----------
    simulation : Simulation

    Returns
    -------
    figure : matplotlib Figure
    """
    if not len(simulation):
        raise ValueError("plot: the simulation has no states")
    figure, axes = plt.subplots(4, 2, figsize=(12, 11.5), sharex=True, layout="constrained")
    plot_ring(simulation, axes[0])
    plot_strokes(simulation, axes[1, 0])
    plot_forces(simulation, axes[1, 1])
    plot_base_wrench(simulation, axes[2])
    plot_energy(simulation, axes[3])
    for panel in axes[:3].flat:
        panel.set_xlabel("")
    figure.align_ylabels(axes)
    title = simulation.hexapod.name
    if simulation.failure is not None:
        title += f", ended by {type(simulation.failure).__name__} after t = {simulation.t[-1]:g} s"
    figure.suptitle(title)
    return figure
