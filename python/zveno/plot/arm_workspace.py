"""The workspace of a chain: colours over a section, or a surface in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LightSource, ListedColormap, Normalize, to_rgb
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..kinematics.scan import ArmWorkspace

__all__ = ["plot_arm_workspace"]

_WORDS: Final = {
    "reach": "reachable",
    "manipulability": "manipulability",
    "payload": "payload at rest, kg",
    "dexterity": "share of the orientations",
}
_PLAIN: Final = "#56B4E9"


def _values(workspace: ArmWorkspace, what: str) -> Any:
    array = np.where(workspace.reachable, 1.0, np.nan) if what == "reach" else getattr(workspace, what)
    return np.ma.masked_invalid(np.where(workspace.reachable, array, np.nan))


def _scale(values: Any, what: str) -> Normalize:
    known = values.compressed()
    known = known[np.isfinite(known)]
    top = 1.0 if what == "dexterity" else float(np.quantile(known, 0.98)) if known.size else 1.0
    return Normalize(0.0, max(top, 1e-12))


def _bar(figure: Any, ax: Any, norm: Normalize, values: Any, what: str) -> None:
    above = bool(values.count()) and float(values.max()) > (norm.vmax or 0.0) * (1 + 1e-12)
    mappable = plt.cm.ScalarMappable(norm, "viridis")
    figure.colorbar(mappable, ax=ax, label=_WORDS[what], extend="max" if above else "neither", shrink=0.85)


def plot_arm_workspace(workspace: ArmWorkspace, what: str, ax: Any = None, *, cut: bool = True) -> Figure:
    """Colours over a section of an `ArmWorkspace`, or its surface in space.

    Parameters
    ----------
    workspace : ArmWorkspace
    what : {"reach", "manipulability", "payload", "dexterity"}
    ax : Axes or Axes3D, optional
    cut : bool
        In space, leave out the half in front.

    Returns
    -------
    figure : matplotlib Figure
    """
    return (_section if len(workspace.axes) == 2 else _solid)(workspace, what, ax, cut)


def _section(workspace: ArmWorkspace, what: str, ax: Any, _: bool) -> Figure:
    axes = ax if ax is not None else plt.subplots(figsize=(6.2, 5.2), layout="constrained")[1]
    first, second = workspace.grid
    values = _values(workspace, what).T
    axes.set_facecolor("0.93")
    if what == "reach":
        axes.pcolormesh(first, second, values, cmap=ListedColormap([_PLAIN]), shading="nearest")
    else:
        norm = _scale(values, what)
        axes.pcolormesh(first, second, values, norm=norm, cmap="viridis", shading="nearest")
        _bar(axes.figure, axes, norm, values, what)
    handles = []
    if values.count() < values.size:
        handles.append(Patch(facecolor="0.93", edgecolor="0.7", label="out of reach"))
    if workspace.dexterity is not None and workspace.dexterous.any() and not workspace.dexterous.all():
        axes.contour(first, second, workspace.dexterous.T.astype(float), levels=[0.5], colors="#D55E00", linewidths=1.8)
        handles.append(Patch(facecolor="none", edgecolor="#D55E00", label="every orientation"))
    if handles:
        axes.legend(handles=handles, loc="upper right", fontsize="small", framealpha=0.9)
    axes.set(
        title=f"{workspace.name}: {workspace.volume:.3g} m² reachable",
        xlabel=f"{workspace.axes[0]}, m",
        ylabel=f"{workspace.axes[1]}, m",
        aspect="equal",
    )
    return cast("Figure", axes.figure)


def _solid(workspace: ArmWorkspace, what: str, ax: Any, cut: bool) -> Figure:
    from ..kinematics.scan import _border

    if ax is None:
        ax = plt.figure(figsize=(7.0, 6.0), layout="constrained").add_subplot(projection="3d")
    inside = workspace.reachable
    if cut:
        front = workspace.grid[1] < workspace.grid[1].mean()
        inside = inside & ~front[None, :, None]
    vertices, faces, cells = _border(workspace, inside, 2)
    values = _values(workspace, what)
    if len(faces):
        light = LightSource(azdeg=225, altdeg=40)
        corners = vertices[faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        shade = 0.55 + 0.45 * np.clip(normal @ light.direction, 0.0, 1.0)
        if what == "reach":
            colours = np.tile(to_rgb(_PLAIN), (len(faces), 1))
        else:
            norm = _scale(values, what)
            colours = plt.get_cmap("viridis")(norm(np.ma.filled(values, 0.0).ravel()[cells]))[:, :3]
            _bar(ax.figure, ax, norm, values, what)
        surface = Poly3DCollection(corners, facecolors=colours * shade[:, None], edgecolors="none")
        surface.set_antialiased(False)
        ax.add_collection3d(surface)
    ends = [(float(g[0]), float(g[-1])) for g in workspace.grid]
    ax.set(xlim=ends[0], ylim=ends[1], zlim=ends[2], xlabel="x, m", ylabel="y, m", zlabel="z, m")
    ax.zaxis.labelpad = 8
    ax.set_box_aspect([max(b - a, 1e-9) for a, b in ends], zoom=0.88)
    ax.locator_params(nbins=5)
    ax.set_title(f"{workspace.name}: {workspace.volume:.3g} m³ reachable")
    return cast("Figure", ax.figure)
