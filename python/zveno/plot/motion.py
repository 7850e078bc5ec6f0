"""A simulated motion as a moving picture: lines of SVG that a browser plays, in one file with nothing outside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from string import Template
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._check import Array, _show, as_amount, as_path, failing
from ..sim.output import whole_file
from .skeleton import Part, chain_parts, hexapod_parts

if TYPE_CHECKING:
    from ..sim.simulation import Simulation

__all__ = ["animate", "drawn", "moving_picture", "picture_kind", "rows_shown", "write_picture"]

WIDTH, HEIGHT, MARGIN, BAR = 640, 480, 30, 8  # px
MOST = 250  # pictures in one file


def animate(sim: Simulation, path: str | os.PathLike[str], speed: float) -> None:
    """`Simulation.animate`."""
    function = "Simulation.animate"
    kind = picture_kind(function, path)
    svg, seconds = moving_picture(sim, speed)
    write_picture(path, kind, svg, seconds, repr(sim).splitlines()[0])


def picture_kind(function: str, path: str | os.PathLike[str]) -> str:
    """.html or .svg."""
    to = as_path(function, path)
    kind = os.path.splitext(to)[1].lower()
    if kind not in (".html", ".svg"):
        raise ValueError(f"{function}: path is {_show(to)}, expected a name that ends in .html or .svg")
    return kind


def write_picture(path: str | os.PathLike[str], kind: str, svg: str, seconds: float, title: str) -> None:
    """Write a moving picture, alone or in a page that can stop it."""
    text = svg if kind == ".svg" else _PAGE.substitute(title=escape(title), svg=svg, seconds=f"{seconds:g}")
    with whole_file(path, "w", newline="", encoding="utf-8") as file:
        file.write(text)


def moving_picture(sim: Simulation, speed: float = 1.0) -> tuple[str, float]:
    """SVG that repeats a recorded motion, and the seconds that this takes."""
    fail = failing("Simulation.animate")
    factor = as_amount(speed, fail, "speed", positive=True)
    span = float(sim.t[-1] - sim.t[0]) if len(sim) > 1 else 0.0
    if not span > 0:
        fail(f"the record has {len(sim)} state(s) and covers {span:g} s, expected a motion")
    rows = rows_shown(sim.t, factor)
    mechanism = sim._model
    if hasattr(sim, "hexapod"):
        parts = hexapod_parts(mechanism, sim.r[rows], sim.R[rows])
        rise = parts[-1].points[0].mean(axis=0) - parts[0].points[0].mean(axis=0)
        up = int(np.abs(rise).argmax())
    else:
        up = int(np.abs(sim.chain.gravity).argmax()) if sim.chain.gravity.any() else 2
        parts = chain_parts(sim.chain, sim.q[rows], up)
    title = f"{mechanism.name}, {span:g} s" + ("" if factor == 1 else f", {factor:g}x")
    return drawn(parts, span / factor, title, up), span / factor


def rows_shown(t: Array, factor: float) -> NDArray[np.intp]:
    """Rows of a record at equal times, whatever steps were made; a browser moves evenly between them."""
    shown = min(max(int(25 * float(t[-1] - t[0]) / factor) + 1, 2), MOST)
    return np.asarray(np.abs(t[:, None] - np.linspace(t[0], t[-1], shown)).argmin(axis=0), np.intp)


def _camera(up: int, elevation: float, azimuth: float) -> Array:
    """Rows: right and up on the picture, (2, 3), of a camera that looks at the origin; angles in degrees."""
    e, a = np.radians([elevation, azimuth])
    right, over = np.zeros(3), np.zeros(3)
    x, y = (up + 1) % 3, (up + 2) % 3
    right[x], right[y] = -np.sin(a), np.cos(a)
    over[x], over[y], over[up] = -np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)
    return np.stack([right, over])


def drawn(
    parts: Sequence[Part], seconds: float, title: str, up: int, elevation: float = 24.0, azimuth: float = -62.0
) -> str:
    """The picture; `up` is the coordinate that points up, angles in degrees."""
    camera = _camera(up, elevation, azimuth)
    flat = [part.points @ camera.T for part in parts]  # (states, points, 2)
    corners = np.concatenate([points.reshape(-1, 2) for points in flat])
    low, high = corners.min(axis=0), corners.max(axis=0)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 3 * MARGIN - BAR])
    scale = float((room / np.maximum(high - low, 1e-9)).min())
    centre, middle = 0.5 * (low + high), np.array([WIDTH / 2, MARGIN + room[1] / 2 + MARGIN / 2])
    timing = f'dur="{seconds:g}s" repeatCount="indefinite"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{MARGIN}" y="{MARGIN - 8}" font-size="14" fill="#333">{escape(title)}</text>',
    ]
    for part, points in zip(parts, flat, strict=True):
        on_picture = middle + scale * (points - centre) * (1.0, -1.0)
        texts = [" ".join(f"{x:.1f},{y:.1f}" for x, y in state) for state in on_picture]
        still = all(text == texts[0] for text in texts)
        kind, fill = ("polygon", f'{part.colour}" fill-opacity="0.15') if part.closed else ("polyline", "none")
        lines.append(
            f'<{kind} points="{texts[0]}" fill="{fill}" stroke="{part.colour}" stroke-width="{part.width:g}"'
            ' stroke-linecap="round" stroke-linejoin="round">'
            + ("" if still else f'<animate attributeName="points" {timing} values="{";".join(texts)}"/>')
            + f"</{kind}>"
        )
    y, width = HEIGHT - MARGIN, WIDTH - 2 * MARGIN
    lines += [
        f'<rect x="{MARGIN}" y="{y}" width="{width}" height="{BAR}" rx="3" fill="#ddd"/>',
        f'<rect x="{MARGIN}" y="{y}" width="0" height="{BAR}" rx="3" fill="#0072B2">',
        f'<animate attributeName="width" from="0" to="{width}" {timing}/></rect>',
        "</svg>",
    ]
    return "\n".join(lines)


# a button that stops the picture, and a slider through the time
_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<style>
body { font-family: sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 1rem; color: #222; }
svg { width: 100%; height: auto; border: 1px solid #ddd; }
div { display: flex; gap: 1rem; align-items: center; margin-top: .5rem; }
input { flex: 1; }
</style></head><body>
$svg
<div><button type="button">Stop</button>
<input type="range" min="0" max="$seconds" step="any" value="0" aria-label="time"></div>
<script>
const svg = document.querySelector("svg"), button = document.querySelector("button");
const slider = document.querySelector("input"), seconds = $seconds;
button.onclick = () => {
  if (svg.animationsPaused()) { svg.unpauseAnimations(); button.textContent = "Stop"; }
  else { svg.pauseAnimations(); button.textContent = "Play"; }
};
slider.oninput = () => { svg.pauseAnimations(); button.textContent = "Play"; svg.setCurrentTime(+slider.value); };
(function follow() {
  if (!svg.animationsPaused()) slider.value = svg.getCurrentTime() % seconds;
  requestAnimationFrame(follow);
})();
</script></body></html>
""")
