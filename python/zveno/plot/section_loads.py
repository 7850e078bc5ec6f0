"""Forces and moments along an arm. Needs matplotlib (``zveno[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..dynamics.section_loads import LoadDiagram

__all__ = ["plot_diagram"]

_COLOURS = ("#1f6f8b", "#c44536", "#e0a030")


def plot_diagram(diagram: LoadDiagram, axes: Any, state: int | tuple[int, ...]) -> Figure:
    """Draw a diagram; see `LoadDiagram.plot`."""
    lead = diagram.values.shape[:-2]
    values = diagram.values[state] if lead else diagram.values
    if values.ndim != 2:
        raise ValueError(f"LoadDiagram.plot: state is {state!r}, expected {len(lead)} numbers for {lead} states")
    if axes is None:
        figure, axes = plt.subplots(2, 1, figsize=(8, 5.6), sharex=True, layout="constrained")
    else:
        figure = axes[0].figure
    links = np.array(diagram.links)
    runs = np.flatnonzero(np.r_[True, links[1:] != links[:-1]])
    bounds = list(zip(runs, np.r_[runs[1:], len(links)], strict=True))
    for panel, first, unit in ((axes[0], 0, "force, N"), (axes[1], 3, "moment, N m")):
        panel.axhline(0.0, color="0.6", lw=0.8)
        for k, name in enumerate((("N", "Qy", "Qz"), ("T", "My", "Mz"))[first > 0]):
            for i, (begin, end) in enumerate(bounds):  # axes change from link to link
                x, y = diagram.position[begin:end], values[begin:end, first + k]
                panel.plot(x, y, color=_COLOURS[k], lw=1.6, label=name if i == 0 else None)
                panel.fill_between(x, y, color=_COLOURS[k], alpha=0.10, lw=0)
        for begin, _ in bounds[1:]:
            panel.axvline(diagram.position[begin], color="0.75", lw=0.8, ls=":")
        panel.set_ylabel(unit)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    for begin, end in bounds:
        middle = 0.5 * (diagram.position[begin] + diagram.position[end - 1])
        axes[0].annotate(
            str(links[begin]), (middle, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 4),
            textcoords="offset points", ha="center", fontsize="small", color="0.35",
        )  # fmt: skip
    axes[1].set_xlabel("way along the arm, m")
    return figure
