"""The figure of ``zveno bench``: operations and time over the number of joints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

from ..bench.mass_matrix import METHODS, Study

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..bench.mass_matrix import Measurement

# Okabe-Ito colours; markers and dashes repeat the distinction for print and for every kind of colour vision
_STYLES: Final = dict(
    zip(
        METHODS,
        [
            ("#0072B2", "o", "-"),
            ("#0072B2", "d", ":"),
            ("#56B4E9", "s", "--"),
            ("#000000", "x", ":"),
            ("#009E73", "^", "-."),
            ("#D55E00", "D", "-"),
            ("#CC79A7", "v", "-"),
            ("#E69F00", "P", "--"),
            ("#999999", "<", "-"),
            ("#999999", ">", "-."),
        ],
        strict=True,
    )
)
_TICKS: Final = (2, 4, 8, 16, 32, 64, 128, 256)


def bench_figure(study: Study) -> Figure:
    """Two panels over N, both axes logarithmic: mul + add of the mass matrix, and seconds per call of one state."""
    figure = Figure(figsize=(11, 5.2), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw(left, study, lambda m: m.flops)
    _draw(right, study, lambda m: m.single * 1e6)
    if study.rival:
        times = [study.rival[n][0] * 1e6 for n in study.sizes]
        right.plot(study.sizes, times, color="0.45", lw=4, alpha=0.5, zorder=1, label="Pinocchio CRBA")
    left.set(title="Operations", ylabel="multiplications + additions")
    right.set(title="Time of one call from Python", ylabel="time, µs")
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    cpu, lanes = study.machine["cpu"], study.machine["features"]["selected"]
    figure.suptitle(f"Mass matrix of a revolute chain with N joints\n{cpu}, {lanes}", fontsize=11)
    return figure


def _draw(axes: Axes, study: Study, value: Callable[[Measurement], float]) -> None:
    for method in METHODS:
        colour, marker, dashes = _STYLES[method]
        values = [value(study[method, n]) for n in study.sizes]
        axes.plot(study.sizes, values, color=colour, marker=marker, ls=dashes, ms=4.5, lw=1.6, label=method)
    axes.set(xscale="log", yscale="log", xlabel="number of joints N")
    ticks = [n for n in _TICKS if n <= study.sizes[-1]]
    axes.xaxis.set(major_locator=FixedLocator(ticks), major_formatter=StrMethodFormatter("{x:g}"))
    axes.xaxis.set(minor_locator=NullLocator(), minor_formatter=NullFormatter())
    axes.grid(which="major", color="0.85", lw=0.8)
    axes.grid(which="minor", axis="y", color="0.93", lw=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save_bench_figure(study: Study, path: Path) -> None:
    """Write the figure; the suffix of the path decides the format (.png at 150 dpi or .svg)."""
    bench_figure(study).savefig(path)
