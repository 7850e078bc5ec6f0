"""A hexapod in space."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
from numpy.typing import ArrayLike

from .._check import Array
from .._rotation import about_axis

if TYPE_CHECKING:
    from ..model import Hexapod, Leg

__all__ = ["draw_mechanism"]


def _leg_points(hexapod: Hexapod, leg: Leg, q: Array, hinge: Array) -> list[Array]:
    """Points of a leg from base to ring hinge, base axes: where its bodies meet."""
    if leg.chain is not None:
        bodies = [leg.chain.pose(q[: leg.chain.n], name)[:3, 3] for name in leg.chain.link_names]
        return [*bodies, hinge]
    assert leg.base is not None and leg.base_frame is not None
    if leg.unit == "rad":
        crank = leg.base_frame @ about_axis(1, float(q[0])) @ (leg.inner_length, 0.0, 0.0)
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
