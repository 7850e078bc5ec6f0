"""Draw the pictures of README.md: a docking ring that is hit on its rim, and the speeds of docs/performance.md.

python docs/figures/make_readme_figures.py [directory]
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from zveno.plot.mechanism import draw_mechanism

Array = NDArray[np.float64]

HERE = Path(__file__).parent
END, STEP = 0.6, 1e-3  # s
SHOWN = 10  # steps between two frames
PAUSE = 80  # ms a frame stays
METRES_PER_NEWTON = 1.7e-4  # of the arrows
CONTACT, BASE, INK = "#C1121F", "#0072B2", "0.2"
LEGS = ("#E69F00", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "0.45")


# ---- the moving picture -----------------------------------------------------------------------------------------


def blow() -> zv.HexapodSimulation:
    """The run that README.md shows: a triangular pulse of 1500 N on the rim, springs and dampers in the legs."""
    ring = zv.mechanisms.docking_ring("UPS")
    hit = ([0.0, 0.05, 0.1], np.outer([0, 1, 0], [-1500, 0, 0, 0, -430, 790]))
    return ring.simulate(END, STEP, wrench=hit, laws=zv.laws.SpringDamper(4000.0, 200.0))


def contact_point(R: Array, wrench: Array) -> Array:
    """Where the force meets the plane of the ring, ring axes: y and z of m = p x R'f with p = (0, y, z)."""
    fx, my, mz = (R.T @ wrench[:3])[0], wrench[4], wrench[5]
    return np.array([0.0, -mz / fx, my / fx])


def frames(sim: zv.HexapodSimulation, every: int = SHOWN) -> list[Image.Image]:
    """One picture for every so many states: the mechanism, and the records up to then."""
    figure = plt.figure(figsize=(8.4, 3.8), dpi=100)
    space = figure.add_axes((0.0, -0.07, 0.53, 1.07), projection="3d")
    load = figure.add_axes((0.585, 0.585, 0.395, 0.33))
    legs = figure.add_axes((0.585, 0.125, 0.395, 0.33), sharex=load)
    clock = figure.text(0.02, 0.955, "", fontsize=9, color=INK, va="center")
    contact, force = (np.linalg.norm(wrench[:, :3], axis=1) for wrench in (sim.wrench, sim.base_wrench))
    stroke = 1e3 * sim.joint_position[:, :, -1]
    for axes, title in ((load, "force, N"), (legs, "strokes of the six legs, mm")):
        axes.set_title(title, fontsize=9, loc="left", color=INK)
        axes.tick_params(labelsize=8, colors=INK)
        axes.spines[["top", "right"]].set_visible(False)
    load.set(xlim=(0, sim.t[-1]), ylim=(0, 1.08 * contact.max()))
    load.tick_params(labelbottom=False)
    load.text(0.09, 0.86 * contact.max(), "contact on the ring", color=CONTACT, fontsize=9)
    load.text(0.16, 0.42 * contact.max(), "legs on the base", color=BASE, fontsize=9)
    legs.set(ylim=(1.1 * stroke.min(), 1.3 * stroke.max()))
    legs.set_xlabel("time, s", fontsize=8, color=INK)
    styles = [(load, contact, CONTACT, 1.6), (load, force, BASE, 2.0)]
    styles += [(legs, values, colour, 1.5) for values, colour in zip(stroke.T, LEGS, strict=True)]
    curves = []
    for axes, values, colour, lw in styles:
        axes.plot(sim.t, values, color=colour, lw=lw, alpha=0.18)
        curves.append((axes.plot([], [], color=colour, lw=lw)[0], values))

    pictures = []
    for i in range(0, len(sim), every):
        space.clear()
        draw_mechanism(sim.hexapod, sim.r[i], sim.R[i], ax=space)
        space.get_legend().remove()
        for text in space.texts:
            text.set_visible(False)
        housings, rods = (space.lines[-12 + k :: 2] for k in range(2))
        for housing, rod, colour in zip(housings, rods, LEGS, strict=True):
            housing.set(color="0.35", lw=6)
            rod.set(color=colour, lw=3.4)
        space.set(title="", xlim=(-0.02, 0.60), ylim=(-0.66, 0.66), zlim=(-0.66, 0.66))
        space.set_box_aspect((0.62, 1.32, 1.32), zoom=1.42)
        space.set_axis_off()
        at = sim.r[i] + sim.R[i] @ contact_point(sim.R[i], sim.wrench[i]) if contact[i] else None
        for head, push, colour in ((at, sim.wrench[i, :3], CONTACT), (np.zeros(3), sim.base_wrench[i, :3], BASE)):
            if head is not None:
                arrow = METRES_PER_NEWTON * push
                space.quiver(*(head - arrow), *arrow, color=colour, lw=3, arrow_length_ratio=0.3, zorder=10)
        clock.set_text(f"t = {sim.t[i]:.2f} s, eight times slower than real")
        for line, values in curves:
            line.set_data(sim.t[: i + 1], values[: i + 1])
        figure.canvas.draw()
        pictures.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB"))
    plt.close(figure)
    return pictures


def unpacked(colours: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=-1).astype(np.uint8)


def save_gif(pictures: list[Image.Image], path: Path, remark: str) -> None:
    """One palette for all frames, the colours that occur most: flat colours stay flat and the file small."""
    # in steps of five: shades that differ by blending alone become one, and white stays white
    rounded = [5 * np.rint(np.asarray(picture).reshape(-1, 3) / 5).astype(np.uint8) for picture in pictures]
    packed = [pixels @ np.array([1 << 16, 1 << 8, 1]) for pixels in rounded]  # a number for a colour sorts faster
    colours, times = np.unique(np.concatenate(packed[::10]), return_counts=True)
    palette = unpacked(colours[np.argsort(-times, kind="stable")[:200]])  # one entry must be left for "as before"
    flat = []
    for picture, pixels in zip(pictures, packed, strict=True):
        own, where = np.unique(pixels, return_inverse=True)
        nearest = ((unpacked(own)[:, None].astype(float) - palette) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
        flat.append(Image.fromarray(nearest[where].reshape(picture.height, picture.width), mode="P"))
        flat[-1].putpalette(palette.tobytes())
    pause = [PAUSE] * (len(flat) - 1) + [1200]
    flat[0].save(path, save_all=True, append_images=flat[1:], duration=pause, loop=0, comment=remark, optimize=True)


def facts(sim: zv.HexapodSimulation) -> dict[str, float]:
    """What the moving picture shows, in its comment: a test compares it with the present code."""
    force = np.linalg.norm(sim.base_wrench[:, :3], axis=1)
    return {"peak_N": round(float(force.max()), 1), "at_s": round(float(sim.t[force.argmax()]), 3)}


# ---- the chart --------------------------------------------------------------------------------------------------

RUN_TIME, COMPILED = "double precision, one thread", "strict / algebraic, times faster than Pinocchio"
ROWS = {  # in the chart: heading of the table and row of docs/performance.md
    "10,000 states from Python, compiled": (COMPILED, "10,000 states from Python, Panda"),
    "10,000 states from Python": (RUN_TIME, "batch of 10,000 from Python, Panda"),
    "one state in C, compiled": (COMPILED, "C call, Panda"),
    "one state in C++": (RUN_TIME, "C++ call, Panda"),
    "one call from Python, compiled": (COMPILED, "Python call, Panda"),
    "one call from Python": (RUN_TIME, "Python call, Panda"),
}
FUNCTIONS = {"inverse dynamics": BASE, "mass matrix": "#E69F00", "forward dynamics": "#009E73"}


def cells(page: str, heading: str, row: str) -> list[tuple[float, str]]:
    """Ratios and times of a row of the table that begins with `heading`; of "strict / algebraic" the former."""
    lines = page.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()
    values = next(line for line in lines if line.startswith(f"| {row} |")).strip("| ").split(" | ")[1:]
    found = [re.fullmatch(r"([\d.]+)x.*\(([\d.]+).* (ns|us)\)", value) for value in values]
    return [(float(match[1]), f"{match[2]} {match[3]}") for match in found if match]


def speeds(page: str) -> dict[str, list[float]]:
    """Times faster than Pinocchio by row of the chart: the three functions."""
    return {name: [ratio for ratio, _ in cells(page, *where)[: len(FUNCTIONS)]] for name, where in ROWS.items()}


def chart(values: dict[str, list[float]]) -> Figure:
    figure = plt.figure(figsize=(8.4, 4.0))
    axes = figure.add_axes((0.29, 0.12, 0.69, 0.80))
    height = 0.26
    for k, (function, colour) in enumerate(FUNCTIONS.items()):
        ratios = [row[k] for row in values.values()]
        places = [i + (k - 1) * height for i in range(len(values))]
        axes.barh(places, ratios, height, color=colour, label=function)
        for place, ratio in zip(places, ratios, strict=True):
            axes.text(
                ratio + 0.4, place, f"{ratio:.1f}" if ratio < 20 else f"{ratio:.0f}", va="center", fontsize=8, color=INK
            )
    axes.axvline(1, color=INK, lw=1)
    axes.text(1, -0.62, "Pinocchio = 1", fontsize=8.5, color=INK, ha="left", va="bottom")
    axes.set_yticks(range(len(values)), list(values), fontsize=9)
    axes.set(ylim=(len(values) - 0.5, -0.6), xlim=(0, 1.08 * max(map(max, values.values()))))
    axes.set_xlabel("times faster than the fastest form of Pinocchio 4.1: Panda, one thread", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def main() -> None:
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    to.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "zveno"  # the same file every time
    values = speeds((HERE.parent / "performance.md").read_text(encoding="utf-8"))
    about = {"Date": None, "Description": json.dumps(values)}
    chart(values).savefig(to / "speed.svg", metadata=about)
    sim = blow()
    save_gif(frames(sim), to / "docking_ring.gif", json.dumps(facts(sim)))


if __name__ == "__main__":
    main()
