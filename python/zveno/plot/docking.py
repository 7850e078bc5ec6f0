"""Dockings: histories of loads, strokes, misalignment and energies; the vehicles as a moving picture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._check import Array, as_amount, failing
from .._extras import optional
from .._rotation import from_quaternion
from .motion import drawn, picture_kind, rows_shown, write_picture
from .skeleton import Part, hexapod_parts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..docking import Docking, Interface, Vehicle

__all__ = ["animate_docking", "docking_parts", "plot_docking"]

_COLOURS: Final = {"a": "#0072B2", "b": "#009E73"}


def plot_docking(d: Docking) -> Figure:
    """`Docking.plot`."""
    figure: Figure
    plt = optional("matplotlib.pyplot", "Docking.plot", "matplotlib")
    figure, axes = plt.subplots(3, 2, figsize=(11, 9), sharex=True, layout="constrained")
    h, t = d.history, d.history.t

    def lines(ax: Any, title: str, unit: str, values: dict[str, Array]) -> None:
        for name, y in values.items():
            ax.plot(t, y, label=name, lw=1.2)
        ax.set_title(title, fontsize=10)
        ax.set_ylabel(unit)
        ax.grid(alpha=0.3)
        if 1 < len(values) < 8:
            ax.legend(fontsize=8, ncols=2)
        for event in d.events:
            if event.name in ("contact", "capture", "attenuation", "alignment", "retraction"):
                ax.axvline(event.time, color="0.6", lw=0.8, ls="--" if event.name == "contact" else "-")

    load = h.load
    lines(
        axes[0, 0],
        "force on the first ring",
        "N",
        {"axial": load[:, 0], "shear": np.hypot(load[:, 1], load[:, 2]), "largest latch": h.latch_force},
    )
    lines(
        axes[0, 1],
        "moment on the first ring",
        "N m",
        {"torsion": load[:, 3], "bending": np.hypot(load[:, 4], load[:, 5])},
    )
    m = h.misalignment
    lines(axes[1, 0], "place of the second port", "mm", {name: 1e3 * m[:, k] for k, name in enumerate("xyz")})
    lines(
        axes[1, 1],
        "attitude of the second port",
        "degrees",
        {name: np.degrees(m[:, 3 + k]) for k, name in enumerate(("about x", "about y", "about z"))},
    )
    ring = d.scenario.chaser.ring or d.scenario.station.ring
    which = "a" if d.scenario.chaser.ring is not None else "b"
    if ring is None:
        twist = h.relative_twist
        lines(axes[2, 0], "velocity of the second port", "m/s", {name: twist[:, k] for k, name in enumerate("xyz")})
    else:
        unit = ring.legs[0].unit
        strokes = h[f"stroke_{which}"]
        lines(axes[2, 0], "strokes", unit, {name: strokes[:, k] for k, name in enumerate(ring.leg_names)})
    work = h.work
    names = ("normal", "friction", "latches", "legs", "thrusters")
    shown = {name: work[:, k] for k, name in enumerate(names) if np.abs(work[:, k]).max(initial=0.0) > 0}
    lines(axes[2, 1], "work", "J", shown)
    for ax in axes[2]:
        ax.set_xlabel("time, s")
    figure.suptitle(f"docking: {d.reason}")
    return figure


def _ring_lines(shape: Interface) -> list[Array]:
    """Curves of an interface in its frame: the edge and the petals."""
    a = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([0 * a, shape.face_radius * np.cos(a), shape.face_radius * np.sin(a)], axis=1)
    found = [circle]
    for centre in shape.petal_angles:
        root = centre + np.linspace(-1, 1, 9) * shape.root_half_angle
        tip = centre + np.linspace(1, -1, 5) * shape.tip_half_angle
        low = np.stack([0 * root, shape.root_radius * np.cos(root), shape.root_radius * np.sin(root)], axis=1)
        high = np.stack(
            [0 * tip + shape.height, shape.tip_radius * np.cos(tip), shape.tip_radius * np.sin(tip)], axis=1
        )
        found.append(np.concatenate([low, high, low[:1]]))
    return found


def docking_parts(d: Docking, rows: Any) -> list[Part]:
    """Both vehicles near their interfaces in rows of the history, axes of the first vehicle's base."""
    h = d.history
    place = {k: h[f"position_{k}"][rows] for k in "ab"}
    turn = {k: from_quaternion(h[f"quaternion_{k}"][rows]) for k in "ab"}
    origin, axes = place["a"], turn["a"]
    parts: list[Part] = []

    def seen(k: str, points: Array) -> Array:
        """Points (m, n, 3) in base axes of vehicle k, in base axes of the first."""
        world = place[k][:, None] + points @ turn[k].transpose(0, 2, 1)
        return np.asarray((world - origin[:, None]) @ axes)

    vehicles: dict[str, Vehicle] = {"a": d.scenario.chaser, "b": d.scenario.station}
    for k, vehicle in vehicles.items():
        count = len(place[k])
        shape, colour = vehicle.interface, _COLOURS[k]
        hull = np.linspace(0, 2 * np.pi, 73)
        radius = 1.15 * max(shape.face_radius, shape.tip_radius)
        back = np.stack([0 * hull, radius * np.cos(hull), radius * np.sin(hull)], axis=1)
        parts.append(Part(seen(k, np.broadcast_to(back, (count, *back.shape))), "#595959", 2.0, True))
        if vehicle.ring is not None:
            r = h[f"ring_position_{k}"][rows]
            R = from_quaternion(h[f"ring_quaternion_{k}"][rows])
            parts += [part._replace(points=seen(k, part.points)) for part in hexapod_parts(vehicle.ring, r, R)[1:-1]]
            start = r + R @ np.array([vehicle.ring_offset, 0.0, 0.0])
        else:
            start, R = np.zeros((count, 3)), np.broadcast_to(np.eye(3), (count, 3, 3))
        for curve in _ring_lines(shape):
            parts.append(Part(seen(k, start[:, None] + curve @ R.transpose(0, 2, 1)), colour, 2.0, True))
    return parts


def animate_docking(d: Docking, path: str | os.PathLike[str], speed: float) -> None:
    """`Docking.animate`."""
    kind = picture_kind("Docking.animate", path)
    fail = failing("Docking.animate")
    factor = as_amount(speed, fail, "speed", positive=True)
    t = d.history.t
    if len(t) < 2:
        fail(f"the history has {len(t)} row(s), expected a motion")
    rows = rows_shown(t, factor)
    seconds = float(t[-1] - t[0]) / factor
    title = f"docking: {d.reason}, {t[-1]:g} s" + ("" if factor == 1 else f", {factor:g}x")
    svg = drawn(docking_parts(d, rows), seconds, title, 2, elevation=12.0, azimuth=-35.0)
    write_picture(path, kind, svg, seconds, title)
