"""Shapes of modes drawn on the mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .._check import Array, as_amount
from .mechanism import _equal_axes

if TYPE_CHECKING:
    from ..dynamics.modes import Modes
    from ..model import Chain

__all__ = ["draw_modes"]

_REST, _ONE, _OTHER = "0.55", "#0072B2", "#E69F00"
_NAMED: Final = 12  # joints with names below the bars


def draw_modes(modes: Modes, chosen: list[int], amplitude: float | None) -> Figure:
    """See `Modes.plot`."""

    def fail(text: str) -> Any:
        raise ValueError(f"plot: {text}")

    if amplitude is not None:
        amplitude = as_amount(amplitude, fail, "amplitude", positive=True)
    chain, count = modes.chain, len(chosen)
    figure = plt.figure(figsize=(max(3.4 * count, 4.2), 5.6), layout="constrained")
    grid = figure.add_gridspec(2, count, height_ratios=(2.6, 1))
    up = int(np.abs(chain.gravity).argmax()) if chain.gravity.any() else 2
    drawn = [(k, _picture(modes, k, amplitude)) for k in chosen]
    points = np.array([place for _, picture in drawn for phase in (1, -1) for place in picture.at(phase).values()])
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float((high - low).max()), 1e-3)
    shares = modes.participation[chosen]
    for column, (k, picture) in enumerate(drawn):
        ax: Any = figure.add_subplot(grid[0, column], projection="3d")
        _draw(ax, chain, picture)
        for i, bounds in enumerate((ax.set_xlim3d, ax.set_ylim3d, ax.set_zlim3d)):
            half = max(0.5 * (high[i] - low[i]) + 0.1 * size, 0.25 * size)
            bounds(0.5 * (low[i] + high[i]) - half, 0.5 * (low[i] + high[i]) + half)
        ax.view_init(elev=18, azim=-64, vertical_axis="xyz"[up])
        _equal_axes(ax, up, zoom=0.8)
        for i, label in enumerate((ax.set_xlabel, ax.set_ylabel, ax.set_zlabel)):
            (ax.xaxis, ax.yaxis, ax.zaxis)[i].set_major_locator(MaxNLocator(3))
            label(f"{'xyz'[i]}, m", fontsize=8, labelpad=2)
        title, unit = _title(modes, k), "rad or m" if len(set(chain.joint_types)) > 1 else _unit(chain)
        ax.set_title(f"{title}\nshown: up to {picture.scale:.2g} {unit}", fontsize=9)
        bars = figure.add_subplot(grid[1, column])
        bars.bar(range(chain.n), 100 * modes.participation[k], color=_ONE, width=0.7)
        bars.axhline(0, color="0.35", lw=0.8)
        bars.set_ylim(min(0.0, 105 * float(shares.min())), max(100.0, 105 * float(shares.max())))
        bars.spines[["top", "right"]].set_visible(False)
        bars.tick_params(labelsize=8)
        if chain.n <= _NAMED:
            bars.set_xticks(range(chain.n), [name[:16] for name in chain.joint_names], rotation=90)
        else:
            bars.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            bars.set_xlabel("joint", fontsize=8)
        if column == 0:
            bars.set_ylabel("kinetic energy, %", fontsize=8)
    handles = [
        Line2D([], [], color=_REST, lw=2.5, label="rest"),
        Line2D([], [], color=_ONE, lw=2.5, label="one side"),
        Line2D([], [], color=_OTHER, lw=2.5, label="other side"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    figure.suptitle(f"Modes of '{chain.name}'", fontsize=11)
    return figure


def _unit(chain: Chain) -> str:
    return "m" if chain.joint_types[0] == "prismatic" else "rad"


def _title(modes: Modes, k: int) -> str:
    if not modes.eigenvalues[k].imag:
        return f"{k + 1}: {modes._motion(k)}"
    damping = f", damping {modes.damping[k]:.2g}" if modes.damping[k] else ""
    return f"{k + 1}: {modes.frequencies[k]:.4g} Hz{damping}"


class _Picture(NamedTuple):
    """A mode as drawn: deflections are linear in its amplitude, so beams keep their length."""

    scale: float  # largest deflection of a joint, rad or m
    origins: dict[str, tuple[Array, Array]]  # of base and links at rest, and their amplitudes (complex)
    axes: dict[str, tuple[Array, Array]]  # of the last links: columns at rest, and their amplitudes

    def at(self, phase: complex) -> dict[str, Array]:
        return {name: rest + (phase * swing).real for name, (rest, swing) in self.origins.items()}


def _picture(modes: Modes, k: int, amplitude: float | None) -> _Picture:
    chain, q = modes.chain, modes.q
    shape = modes.shapes[k] / np.abs(modes.shapes[k]).max()
    poses = chain.poses(q)
    twists = {name: chain.jacobian(q, name) @ shape for name in chain.link_names}
    points = np.concatenate([np.zeros((1, 3)), poses.positions])
    size = max(float(np.ptp(points, axis=0).max()), 1e-3)
    if amplitude is None:
        moved = max(float(np.abs(twist[:3]).max()) for twist in twists.values())
        amplitude = min(0.15 * size / max(moved, 1e-9), 0.6)
    origins = {chain.base_name: (np.zeros(3), np.zeros(3))}
    origins |= {name: (poses[name][:3, 3], amplitude * twists[name][:3]) for name in chain.link_names}
    carried = {link.parent for link in chain.links}
    axes = {}
    for name in chain.link_names:
        if name not in carried:
            R, turn = poses[name][:3, :3], amplitude * twists[name][3:]
            axes[name] = 0.13 * size * R, 0.13 * size * np.cross(turn, R, axis=0)
    return _Picture(amplitude, origins, axes)


def _draw(ax: Any, chain: Chain, picture: _Picture) -> None:
    for phase, colour, width in ((1j, _REST, 2.0), (-1, _OTHER, 2.2), (1, _ONE, 3.0)):
        # a quarter of a period is not rest where joints swing out of phase
        places = picture.at(phase) if phase != 1j else {name: rest for name, (rest, _) in picture.origins.items()}
        for link in chain.links:
            ends = np.array([places[str(link.parent)], places[link.name]])
            ax.plot(*ends.T, color=colour, lw=width, solid_capstyle="round")
        for name, (rest, swing) in picture.axes.items():
            for axis in (rest + (phase * swing).real if phase != 1j else rest).T:
                ax.plot(*np.array([places[name], places[name] + axis]).T, color=colour, lw=0.45 * width)
        if phase == 1:
            moving = [link.name for link in chain.links if link.joint != "fixed"]
            if len(moving) <= _NAMED:
                ax.plot(*np.array([places[name] for name in moving]).T, "o", color=_ONE, ms=4, mec="white", mew=0.5)
    ax.plot(0, 0, 0, "s", color="0.35", ms=7)
