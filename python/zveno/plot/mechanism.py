"""A hexapod or a chain in space."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
from numpy.typing import ArrayLike

from .._check import Array, refuse_masked
from .skeleton import leg_points, outline

if TYPE_CHECKING:
    from ..model import Chain, Hexapod
    from ..model.linkage import Linkage

__all__ = ["draw_chain", "draw_constraints", "draw_mechanism"]


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
    refuse_masked(r, "draw_mechanism: r")
    refuse_masked(R, "draw_mechanism: R")
    nominal = hexapod.nominal
    if r is None and nominal is None:
        raise ValueError(f"draw_mechanism: r is missing, and hexapod '{hexapod.name}' has no nominal pose")
    place = np.asarray(nominal[0] if r is None and nominal is not None else r, dtype=np.float64)
    rotation = np.asarray(R if R is not None else np.eye(3) if nominal is None else nominal[1], dtype=np.float64)
    q = hexapod.closure(place, rotation)
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.4)).add_axes((0.0, 0.0, 0.95, 0.95), projection="3d")
    hinges = np.array([place + rotation @ leg.ring for leg in hexapod.legs])
    tracks = [leg_points(hexapod, leg, q[k], hinges[k]) for k, leg in enumerate(hexapod.legs)]
    bases = np.array([track[0] for track in tracks])
    up = int(np.abs(hinges.mean(axis=0) - bases.mean(axis=0)).argmax())

    for points, colour, edge in ((bases, "0.75", "0.35"), (hinges, "#56B4E9", "#0072B2")):
        curve = outline(points)
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
    _equal_axes(ax, up)
    return ax


def _equal_axes(ax: Any, up: int, zoom: float = 0.95) -> None:
    """One scale for all three axes, few ticks."""
    spans = [high - low for low, high in (ax.get_xlim3d(), ax.get_ylim3d(), ax.get_zlim3d())]
    ax.set_box_aspect(spans, zoom=zoom)
    for i, axis in enumerate((ax.xaxis, ax.yaxis, ax.zaxis)):
        axis.set_major_locator(MaxNLocator(3 if i == up else 5))
        axis.set_tick_params(labelsize=8)
        axis.labelpad = 8


_TRIAD = ("#CC3311", "#228833", "#0072B2")  # x, y, z


def _draw_frame(ax: Any, place: Array, R: Array, size: float) -> None:
    for axis, colour in zip(R.T, _TRIAD, strict=True):
        ax.plot(*np.array([place, place + size * axis]).T, color=colour, lw=1.6)


def draw_chain(chain: Chain, q: ArrayLike | None = None, ax: Any = None, *, frames: bool = True) -> Any:
    """Draw a chain or tree in space: links as lines between their frames, joints with their axes, base and last frames.

    Parameters
    ----------
    chain : Chain
    q : (n,) array, rad or m
        Default: zero.
    ax : Axes3D, optional
        Default: new ones in a new figure.
    frames : bool
        Draw the frame of the base and of every link that carries no other: x red, y green, z blue.

    Returns
    -------
    ax : Axes3D
    """
    refuse_masked(q, "plot: q")
    state = np.zeros(chain.n) if q is None else np.asarray(q, dtype=np.float64)
    if state.shape != (chain.n,):
        raise ValueError(f"plot: q has shape {state.shape}, expected ({chain.n},) for chain '{chain.name}'")
    poses = chain.poses(state)
    origin = {chain.base_name: np.zeros(3)} | {name: T[:3, 3] for name, T in poses.items()}
    points = np.array(list(origin.values()))
    size = max(float(np.ptp(points, axis=0).max()), 1e-3)
    up = int(np.abs(chain.gravity).argmax()) if chain.gravity.any() else 2
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.4)).add_axes((0.0, 0.0, 0.95, 0.95), projection="3d")

    a = np.linspace(0, 2 * np.pi, 49)
    disc = np.zeros((len(a), 3))
    disc[:, (up + 1) % 3], disc[:, (up + 2) % 3] = 0.12 * size * np.cos(a), 0.12 * size * np.sin(a)
    ax.add_collection3d(Poly3DCollection([disc], facecolor="0.75", alpha=0.5, edgecolor="0.35"))
    for link in chain.links:
        # from frame to frame: a part of the link that carries this one
        colour, width = ("0.35", 4.5) if link.parent == chain.base_name else ("#E69F00", 4.5)
        if link.joint == "fixed":
            width = 2.2
        ends = np.array([origin[str(link.parent)], origin[link.name]])
        ax.plot(*ends.T, color=colour, lw=width, solid_capstyle="round")
    looks = {"revolute": ("o", "#0072B2"), "prismatic": ("s", "#D55E00")}
    for link in chain.links:
        if link.joint not in looks:
            continue
        marker, colour = looks[link.joint]
        place = origin[link.name]
        axis = poses[link.name][:3, :3] @ (link.axis / np.linalg.norm(link.axis))
        ends = np.array([place - 0.06 * size * axis, place + 0.06 * size * axis])
        ax.plot(*ends.T, color=colour, lw=1.4)
        ax.plot(*place[:, None], marker, color=colour, ms=6, mec="white", mew=0.6)
    carried = {link.parent for link in chain.links}
    last = [link.name for link in chain.links if link.name not in carried]
    if frames:
        _draw_frame(ax, np.zeros(3), np.eye(3), 0.12 * size)
        for name in last:
            _draw_frame(ax, origin[name], poses[name][:3, :3], 0.09 * size)
    labelled: list[Array] = []
    for name in last:
        if all(np.linalg.norm(origin[name] - other) > 0.15 * size for other in labelled):
            labelled.append(origin[name])
            ax.text(*origin[name], f"  {name[:30]}", fontsize=8)

    kinds = sorted(set(chain.joint_types), reverse=True)
    handles = [Line2D([], [], color=looks[kind][1], marker=looks[kind][0], label=f"{kind} joint") for kind in kinds]
    handles.append(Line2D([], [], color="#E69F00", lw=4.5, label="link"))
    if any(link.joint == "fixed" for link in chain.links):
        handles.append(Line2D([], [], color="#E69F00", lw=2.2, label="to a fixed link"))
    base = f"base '{chain.base_name[:30]}'"
    handles.append(Line2D([], [], color="0.35", lw=4.5, marker="o", mfc="0.75", ms=9, label=base))
    ax.legend(handles=handles, loc="upper left", frameon=False, fontsize="small")
    ax.set(xlabel="x, m", ylabel="y, m", zlabel="z, m", title=chain.name)
    ax.view_init(elev=22, azim=-58, vertical_axis="xyz"[up])
    for i, bounds in enumerate((ax.set_xlim3d, ax.set_ylim3d, ax.set_zlim3d)):
        low, high = points[:, i].min(), points[:, i].max()
        half = max(0.5 * (high - low) + 0.14 * size, 0.3 * size)
        bounds(0.5 * (low + high) - half, 0.5 * (low + high) + half)
    _equal_axes(ax, up, zoom=0.85)
    return ax


_LOOP = "#CC79A7"


def draw_constraints(linkage: Linkage, q: Array, t: float, ax: Any) -> Any:
    """Add to a drawn chain what holds it: from the origins of both links to the joint, rods from end to end.

    Parameters
    ----------
    linkage : Linkage
    q : (n,) array
    t : float, s
        Where targets are drawn.
    ax : Axes3D
        With the chain in it.

    Returns
    -------
    ax : Axes3D
    """
    chain = linkage.chain
    poses = {chain.base_name: np.eye(4), **chain.poses(q)}
    drawn: list[Array] = []
    for x in linkage.constraints:
        if x.a is None or x.b is None:
            continue  # a relation of coordinates
        ends, origins = [], []
        for side, point in ((x.a, x.point_a), (x.b, x.point_b)):
            if isinstance(side, str):
                T = poses[side]
            else:
                T, given = np.eye(4), side.motion(t)
                T[:3, :3], T[:3, 3] = given[:9].reshape(3, 3), given[9:12]
            ends.append(T[:3, 3] + T[:3, :3] @ point)
            origins.append(T[:3, 3] if isinstance(side, str) and side != chain.base_name else None)
        for end, origin in zip(ends, origins, strict=True):
            if origin is not None:
                ax.plot(*np.array([origin, end]).T, color="#E69F00", lw=4.5, solid_capstyle="round", zorder=1)
        rod = x.kind == "distance"
        ax.plot(*np.array(ends).T, color=_LOOP, lw=2.2 if rod else 1.2)
        for end in ends if rod else ends[1:]:
            ax.plot(*end[:, None], "D", color=_LOOP, ms=6, mec="white", mew=0.6)
        drawn += ends
    if not drawn:
        return ax
    points = np.array([T[:3, 3] for T in poses.values()] + drawn)
    size = max(float(np.ptp(points, axis=0).max()), 1e-3)
    for i, bounds in enumerate((ax.set_xlim3d, ax.set_ylim3d, ax.set_zlim3d)):
        low, high = points[:, i].min(), points[:, i].max()
        half = max(0.5 * (high - low) + 0.14 * size, 0.3 * size)
        bounds(0.5 * (low + high) - half, 0.5 * (low + high) + half)
    legend = ax.get_legend()
    handles = [*legend.legend_handles, Line2D([], [], color=_LOOP, marker="D", label="constraint")] if legend else []
    ax.legend(handles=handles, loc="upper left", frameon=False, fontsize="small")
    up = int(np.abs(chain.gravity).argmax()) if chain.gravity.any() else 2
    _equal_axes(ax, up, zoom=0.85)
    return ax
