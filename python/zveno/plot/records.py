"""Figures of any simulation, labelled by its table of fields. Needs matplotlib (``zveno[plot]``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sim.simulation import Simulation

__all__ = ["plot_fields"]


def plot_fields(simulation: Simulation, panels: Sequence[Sequence[str]]) -> Figure:
    """Draw fields over time, a panel for each group of names with one unit.

    Parameters
    ----------
    simulation : Simulation
    panels : sequence of sequences of str
        Names of fields.

    Returns
    -------
    figure : matplotlib Figure
    """
    if not len(simulation):
        raise ValueError("plot: the simulation has no states")
    fields = {field.name: field for field in simulation.fields}
    columns = simulation.columns()
    figure, axes = plt.subplots(len(panels), 1, figsize=(8, 2.6 * len(panels)), sharex=True, layout="constrained")
    for panel, names in zip([axes] if len(panels) == 1 else axes, panels, strict=True):
        for name in names:
            for label, values in columns.items():
                if label.partition(".")[0] == name:
                    panel.plot(simulation.t, values, lw=1.4, label=label.partition(".")[2] or name.replace("_", " "))
        title = names[0].replace("_", " ") if len(names) == 1 else ""
        panel.set_ylabel(f"{title}, {fields[names[0]].unit}".lstrip(", "))
        panel.grid(color="0.88", lw=0.8)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    panel.set_xlabel(f"time, {fields['t'].unit}")
    figure.suptitle(f"{simulation._model.name}\n{simulation.energy_balance}")
    return figure
