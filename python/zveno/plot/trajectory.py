"""Figures of trajectories. Needs matplotlib (``zveno[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

__all__ = ["plot_trajectory"]


def plot_trajectory(trajectory: Trajectory, count: int = 400) -> Figure:
    """Draw coordinates, rates, accelerations and jerks over time.

    Parameters
    ----------
    trajectory : Trajectory
    count : int
        Points of each line.

    Returns
    -------
    figure : matplotlib Figure
    """
    times, state = trajectory.sample(count)
    joints = trajectory._joints
    figure, axes = plt.subplots(4, 1, figsize=(8, 9), sharex=True, layout="constrained")
    for panel, (quantity, values) in zip(axes, state._asdict().items(), strict=True):
        for name, line in zip(joints.names, values.T, strict=True):
            panel.plot(times, line, lw=1.4, label=name)
        units = list(dict.fromkeys(joints.unit(quantity, j) for j in range(trajectory.n)))
        panel.set_ylabel(f"{quantity}, {' or '.join(units)}")
        panel.grid(color="0.88", lw=0.8)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    axes[-1].set_xlabel("time, s")
    return figure
