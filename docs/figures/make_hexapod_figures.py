"""Draw the figures of docs/hexapods.md: conventions, and what the page's example computes.

python docs/figures/make_hexapod_figures.py [directory]
"""

import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from zveno._rotation import about_axis
from zveno.plot.mechanism import draw_mechanism

HERE = Path(__file__).parent
INNER, OUTER, RING, BASE = "#D55E00", "#E69F00", "#0072B2", "0.35"
FIRST, SECOND, THIRD = "#0072B2", "#009E73", "#CC79A7"  # the angles
FORCE, INK = "#A00000", "0.15"


class Sketch:
    """Lines in space, seen from the front and a little from above: x is up, y to the right, z away from the viewer."""

    def __init__(self, axes: Axes, azimuth: float, elevation: float) -> None:
        a, e = np.radians([azimuth, elevation])
        right = np.array([0.0, np.cos(a), np.sin(a)])
        away = np.array([0.0, -np.sin(a), np.cos(a)])
        up = np.cos(e) * np.array([1.0, 0.0, 0.0]) + np.sin(e) * away
        self.axes, self.view = axes, np.array([right, up])

    def to(self, points):
        """Points of space (..., 3) on paper (..., 2)."""
        return np.asarray(points, dtype=float) @ self.view.T

    def line(self, points, **style) -> None:
        self.axes.plot(*self.to(points).T, **{"color": INK, "lw": 1.0, "solid_capstyle": "round"} | style)

    def body(self, a, b, colour, width) -> None:
        for lw, shade in ((width + 2, INK), (width, colour)):
            self.line([a, b], color=shade, lw=lw, solid_capstyle="butt", zorder=3)

    def fill(self, points, colour, alpha=0.25, zorder=1.0) -> None:
        self.axes.fill(*self.to(points).T, color=colour, alpha=alpha, lw=0, zorder=zorder)

    def arrow(self, a, b, colour=INK, width=1.4, dashed=False) -> None:
        style = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11}
        if dashed:
            style["ls"] = (0, (5, 3))
        a, b = self.to([a, b])
        self.axes.annotate("", b, a, arrowprops=style, zorder=5)

    def text(self, point, text, offset=(0, 0), **style) -> None:
        """Text at a point of space, shifted on paper by points (1/72 inch)."""
        style = {"color": INK, "fontsize": 9.5, "ha": "center", "va": "center", "zorder": 7} | style
        self.axes.annotate(text, self.to(point), offset, textcoords="offset points", **style)

    def note(self, point, text, offset, colour=INK) -> None:
        """Text beside a point with a thin line to it; `offset` on paper, points."""
        line = {"arrowstyle": "-", "color": colour, "lw": 0.7, "shrinkA": 1, "shrinkB": 0}
        self.axes.annotate(
            text, self.to(point), offset, textcoords="offset points", color=colour, fontsize=9.5, zorder=7,
            ha="left" if offset[0] > 0 else "right", va="center", arrowprops=line,
        )  # fmt: skip

    def frame(self, origin, axes, size, names, colour, offsets=((0, 7), (9, 0), (0, 9)), width=1.4) -> None:
        """Axes of a frame (columns) with their names."""
        for axis, name, offset, long in zip(axes.T, names, offsets, np.broadcast_to(size, 3), strict=True):
            self.arrow(origin, origin + long * axis, colour, width)
            self.text(origin + long * axis, name, offset, color=colour)

    def angle(self, centre, start, axis, angle, radius, colour) -> None:
        """Sector from `start`, turned by `angle` about `axis`, an arrow along its arc."""
        k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        a = np.linspace(0, angle, 41)[:, None]
        arc = centre + radius * (start + np.sin(a) * (k @ start) + (1 - np.cos(a)) * (k @ k @ start))
        self.fill([centre, *arc], colour, 0.22)
        self.line(arc[:-2], color=colour, lw=1.6)
        self.arrow(arc[-5], arc[-1], colour, 1.6)

    def length(self, a, b, shift, name, gap=13) -> None:
        """Dimension line beside a to b, `shift` away from it on paper."""
        a, b = self.to([a, b])
        along = (b - a) / np.linalg.norm(b - a)
        across = np.array([along[1], -along[0]])
        c, d = a + shift * across, b + shift * across
        for p, q in ((a, c), (b, d)):
            self.axes.plot(*np.array([p, q + 0.06 * np.sign(shift) * across]).T, color="0.6", lw=0.7, zorder=2)
        style = {"arrowstyle": "<|-|>", "color": "0.3", "lw": 0.9, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8}
        self.axes.annotate("", d, c, arrowprops=style)
        turned = np.degrees(np.arctan2(along[1], along[0]))
        turned = turned - 180 if turned > 90 else turned
        self.axes.annotate(
            name, (c + d) / 2, gap * np.sign(shift) * across, textcoords="offset points", rotation=turned,
            rotation_mode="anchor", ha="center", va="center", fontsize=9.5, family="monospace", color=INK,
        )  # fmt: skip

    def aside(self, point, along, shift, name, offset) -> None:
        """Note at a dimension line that is too short for its name."""
        a, b = self.to([point, point + along])
        across = np.array([b[1] - a[1], a[0] - b[0]]) / np.linalg.norm(b - a)
        line = {"arrowstyle": "-", "color": "0.6", "lw": 0.7, "shrinkA": 1, "shrinkB": 0}
        self.axes.annotate(
            name, a + shift * across, offset, textcoords="offset points", color=INK, fontsize=9.5, family="monospace",
            ha="left", va="center", arrowprops=line,
        )  # fmt: skip

    def ball(self, point, colour=RING, size=0.16) -> None:
        at = self.to(point)
        self.axes.add_patch(Ellipse(at, size, size, facecolor=colour, edgecolor=INK, lw=1.2, zorder=6))

    def cross(self, point, axis1, axis2, colour="white", size=0.17) -> None:
        """Universal joint: a disc with its two axes."""
        self.ball(point, colour, size)
        for axis in (axis1, axis2):
            self.line([point - 0.17 * axis, point + 0.17 * axis], lw=1.3, zorder=6.5)


def unit(v):
    return np.asarray(v, dtype=float) / np.linalg.norm(v)


def ground(sketch: Sketch, origin, hinge, corners) -> None:
    """Base plate with frame 0 and the vector to the leg."""
    sketch.fill([np.array([0.0, y, z]) for y, z in corners], BASE, 0.13, 0.5)
    names = ("$x_0$", "$y_0$", "$z_0$")
    sketch.frame(origin, np.eye(3), 0.6, names, INK, ((0, 8), (9, 3), (-8, 5)))
    sketch.text(origin, "$O_0$", (-11, -5))
    sketch.arrow(origin, hinge, BASE, 1.2, dashed=True)
    sketch.text(0.5 * (origin + hinge), "base  $l_0$", (-14, -9), color=BASE, family="monospace")


def ring_part(sketch: Sketch, hinge, centre, tilt, span) -> None:
    """A piece of the ring through the hinge, with frame C and the vector to the hinge."""
    arm = tilt.T @ (hinge - centre)
    radius, middle = float(np.hypot(arm[1], arm[2])), np.arctan2(arm[2], arm[1])
    a = np.linspace(middle + span[0], middle + span[1], 80)
    edge = centre + np.stack([np.full_like(a, arm[0]), radius * np.cos(a), radius * np.sin(a)], axis=1) @ tilt.T
    sketch.line(edge, color="#5B93B5", lw=11, solid_capstyle="butt", zorder=2)
    sketch.line(edge, color="#BFDDF0", lw=8.6, solid_capstyle="butt", zorder=2.1)
    sketch.frame(centre, tilt, 0.6, ("$x_C$", "$y_C$", "$z_C$"), RING, ((0, 8), (9, 3), (-8, 5)))
    sketch.text(centre, "$C$", (-9, -6), color=RING)
    sketch.arrow(centre, hinge, RING, 1.2, dashed=True)
    sketch.text(0.5 * (centre + hinge), "ring  $l_C$", (-20, -9), color=RING, family="monospace")


def ring_joint(sketch: Sketch, tip, link, tilt, where) -> None:
    """The replaced joint: ball, axes of a universal joint, spin, reaction; `where`: offsets of the four notes."""
    x = link[:, 0]
    e2 = unit(0.25 * tilt[:, 0] + tilt[:, 1] - 0.2 * tilt[:, 2])
    e1 = unit(np.cross(e2, x))
    for axis in (e1, e2):
        sketch.line([tip - 0.42 * axis, tip + 0.42 * axis], color=THIRD, lw=2.0, zorder=6)
    sketch.ball(tip)
    sketch.note(tip + 0.42 * e2, "$e_2$: z of ring_frame", where[0], THIRD)
    sketch.note(tip + 0.42 * e1, "$e_1$: y of tip_frame", where[1], THIRD)
    low = tip - 0.62 * x
    sketch.angle(low, link[:, 1], x, 4.6, 0.23, THIRD)
    sketch.note(low + 0.23 * link[:, 1], "spin about x", where[2], THIRD)
    force = tip + 0.72 * unit(x + 0.3 * tilt[:, 1])
    sketch.arrow(tip, force, FORCE, 2.4)
    sketch.text(force, "reaction $\\lambda$\non the ring", where[3], color=FORCE)


def gough_stewart(axes: Axes) -> None:
    """UPS, SPU, UCU."""
    sketch = Sketch(axes, -30, 22)
    hinge, origin = np.zeros(3), np.array([0.0, -1.35, 1.2])
    ground(sketch, origin, hinge, [(-2.0, -0.8), (0.95, -0.8), (0.95, 1.8), (-2.0, 1.8)])
    frame = about_axis(2, np.radians(-5.0)) @ about_axis(1, np.radians(-4.0))
    p1, p2 = np.radians(33.0), np.radians(20.0)
    before = frame @ about_axis(1, p1)
    link = before @ about_axis(2, p2)
    x = link[:, 0]
    inner, stroke, outer = 1.5, 0.5, 1.5
    slide, tip = hinge + inner * x, hinge + (inner + stroke + outer) * x

    sketch.frame(hinge, frame, (1.3, 0.62, 0.7), ("x", "y", "z"), FIRST, ((-8, 3), (4, 8), (-7, 5)))
    sketch.line([hinge, hinge + 2.1 * before[:, 0]], color="0.45", ls=(0, (4, 3)))
    sketch.angle(hinge, frame[:, 0], frame[:, 1], p1, 1.05, FIRST)
    sketch.note(hinge + 1.05 * frame[:, 0], "$p_1$  (u1 about y)", (-40, 10), FIRST)
    sketch.angle(hinge, before[:, 0], before[:, 2], p2, 1.95, SECOND)
    sketch.note(hinge + 1.93 * before[:, 0], "$p_2$  (u2 about z)", (-44, 24), SECOND)
    sketch.body(hinge + 0.08 * x, slide + 0.28 * x, INNER, 11)
    sketch.body(slide + 0.28 * x, tip, OUTER, 5)
    for a, b, name in ((hinge, slide, "housing_length"), (slide, slide + stroke * x, ""),
                       (slide + stroke * x, tip, "rod_length")):  # fmt: skip
        sketch.length(a, b, 0.42, name)
    sketch.aside(slide + 0.5 * stroke * x, x, 0.42, "stroke", (26, -12))
    sketch.cross(hinge, frame[:, 1], before[:, 2])
    sketch.note(hinge, "base_frame $\\gamma_0$", (34, -34), FIRST)
    tilt = about_axis(2, 0.1) @ about_axis(1, -0.12)
    ring_part(sketch, tip, tip + tilt @ np.array([0.0, -1.3, 1.5]), tilt, (-0.8, 0.33))
    ring_joint(sketch, tip, link, tilt, ((34, 18), (40, 0), (46, -16), (4, 16)))
    axes.set(xlim=(-2.7, 3.2), ylim=(-1.0, 4.1))


def hunt(axes: Axes) -> None:
    """RUS, RSU."""
    sketch = Sketch(axes, -30, 22)
    hinge, origin = np.zeros(3), np.array([0.0, -1.35, 1.2])
    ground(sketch, origin, hinge, [(-2.0, -0.8), (1.6, -0.8), (1.6, 1.8), (-2.0, 1.8)])
    frame = np.column_stack([(0.0, 1.0, 0.0), (0.0, 0.0, -1.0), (-1.0, 0.0, 0.0)])
    p1, p2, p3 = np.radians([33.0, 66.0, 20.0])
    crank = frame @ about_axis(1, p1)
    before = crank @ about_axis(1, p2)
    link = before @ about_axis(2, p3)
    inner, outer = 1.75, 2.55
    elbow = hinge + inner * crank[:, 0]
    tip = elbow + outer * link[:, 0]

    sketch.frame(hinge, frame, (1.3, 0.95, 0.75), ("x", "y", "z"), FIRST, ((9, 1), (7, -5), (-8, 0)))
    sketch.angle(hinge, frame[:, 0], frame[:, 1], p1, 1.05, FIRST)
    sketch.note(hinge + 1.05 * unit(frame[:, 0] + 0.12 * crank[:, 0]), "$p_1$  (crank about y)", (40, -26), FIRST)
    # the other crank that reaches the hinge
    d = frame.T @ (tip - hinge)
    other = frame @ about_axis(1, 2 * np.arctan2(-d[2], d[0]) - p1)
    ghost = hinge + inner * other[:, 0]
    sketch.line([hinge, ghost, tip], color="0.6", lw=1.2, ls=(0, (2, 2)))
    sketch.note(ghost, "the other elbow", (-38, 10), "0.45")
    sketch.line([elbow, elbow + 0.95 * crank[:, 0]], color="0.45", ls=(0, (4, 3)))
    sketch.line([elbow, elbow + 1.5 * before[:, 0]], color="0.45", ls=(0, (4, 3)))
    sketch.angle(elbow, crank[:, 0], crank[:, 1], p2, 0.75, SECOND)
    sketch.note(elbow + 0.72 * unit(crank[:, 0] + 0.5 * before[:, 0]), "$p_2$  (u1 about y)", (40, 4), SECOND)
    sketch.angle(elbow, before[:, 0], before[:, 2], p3, 1.15, "#8B6F00")
    sketch.note(elbow + 1.12 * before[:, 0], "$p_3$  (u2 about z)", (-46, -4), "#8B6F00")
    sketch.body(hinge, elbow, INNER, 9)
    sketch.body(elbow, tip, OUTER, 5)
    sketch.length(hinge, elbow, -0.36, "crank_length")
    sketch.length(elbow, tip, 0.42, "coupler_length")
    axle = frame[:, 1]
    sketch.body(hinge - 0.28 * axle, hinge + 0.28 * axle, "0.8", 11)
    sketch.cross(elbow, crank[:, 1], before[:, 2])
    sketch.note(hinge, "base_frame $\\gamma_0$", (-48, -30), FIRST)
    sketch.note(elbow, "crank_frame $\\gamma_1$", (34, -22), SECOND)
    tilt = about_axis(2, 0.1) @ about_axis(1, -0.12)
    ring_part(sketch, tip, tip + tilt @ np.array([0.0, -1.3, 1.5]), tilt, (-0.8, 0.33))
    ring_joint(sketch, tip, link, tilt, ((34, 22), (34, 6), (-46, 10), (4, 16)))
    axes.set(xlim=(-2.55, 3.75), ylim=(-0.95, 4.35))


def mechanism(axes, kind: str) -> None:
    """The demonstration mechanism with frames and numbered legs."""
    hx = zv.mechanisms.docking_ring(kind)
    draw_mechanism(hx, ax=axes)
    axes.set_title("")
    axes.set_axis_off()
    handles = axes.get_legend().legend_handles
    axes.legend(handles=handles, loc="upper right", bbox_to_anchor=(1.06, 1.0), frameon=False, fontsize=9)
    spans = [high - low for low, high in (axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d())]
    axes.set_box_aspect(spans, zoom=1.45)
    r, R = hx.nominal
    for origin, colour, mark in ((np.zeros(3), INK, "0"), (r, RING, "C")):
        for i, name in enumerate("xyz"):
            end = 0.24 * R[:, i]
            axes.quiver(*origin, *end, color=colour, lw=1.6, arrow_length_ratio=0.22)
            axes.text(*(origin + 1.25 * end), f"${name}_{mark}$", color=colour, fontsize=10, ha="center", va="center")
    for text in axes.texts:
        if text.get_text().startswith("leg"):
            text.set(fontsize=10, fontweight="bold")


def conventions() -> Figure:
    """Legs and mechanisms with their frames."""
    figure = plt.figure(figsize=(11, 8.6))
    for k, draw in enumerate((gough_stewart, hunt)):
        axes = figure.add_axes((0.005 + 0.5 * k, 0.44, 0.49, 0.53))
        draw(axes)
        axes.set_aspect("equal")
        axes.set_axis_off()
    for k, kind in enumerate(("UPS", "RSU")):
        mechanism(figure.add_axes((0.02 + 0.5 * k, -0.02, 0.47, 0.44), projection="3d"), kind)
    titles = ("Gough-Stewart leg: UPS, SPU, UCU", "Hunt leg: RUS, RSU", 'docking_ring("UPS")', 'docking_ring("RSU")')
    for k, title in enumerate(titles):
        figure.text(0.012 + 0.5 * (k % 2), 0.97 - 0.54 * (k // 2), f"({'abcd'[k]})  {title}", fontsize=11.5, va="top")
    return figure


def example() -> dict:
    """Variables of the example of docs/hexapods.md after its last line."""
    page = (HERE.parent / "hexapods.md").read_text(encoding="utf-8")
    space: dict = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, "docs/hexapods.md", "exec"), space)
    return space


def main() -> None:
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    to.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "zveno"  # the same file every time
    conventions().savefig(to / "hexapod_conventions.svg", metadata={"Date": None})
    space = example()
    space["ws"].plot().savefig(to / "hexapod_workspace.png", dpi=100)
    space["sim"].plot().savefig(to / "hexapod_simulation.png", dpi=75)


if __name__ == "__main__":
    main()
