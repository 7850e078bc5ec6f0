"""The page about a fit: one file that needs nothing else, with plots one can look into."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._check import Array
from .._page import document
from ..inertial import to_body
from ..sim.output import whole_file
from .log import Finding

if TYPE_CHECKING:
    from .fit import Fit

__all__ = ["advice", "write_report"]

_POINTS: Final = 1200  # of a curve
_WORDS: Final = {"fault": "Fault", "doubt": "Doubt", "note": "Note"}


def write_report(
    path: str | os.PathLike[str],
    fit: Fit | None,
    *,
    title: str = "",
    findings: Sequence[Finding] = (),
    failure: str = "",
) -> None:
    """Write the page of a fit; without a fit, of what was found before it failed."""
    with whole_file(path, "w", encoding="utf-8") as file:
        file.write(page(fit, title=title, findings=findings, failure=failure))


def page(fit: Fit | None, *, title: str = "", findings: Sequence[Finding] = (), failure: str = "") -> str:
    """The whole page as text."""
    from .. import __version__

    parts: list[str] = []
    plots: list[dict[str, Any]] = []
    if fit is None:
        heading = title or "Identification"
        parts.append(f'<p class="lead fault">{escape(failure)}</p>')
        parts.append(_findings(findings))
    else:
        chain = fit._given
        physical = fit._bodies  # first: it may add findings
        heading = title or f"Identification of {chain.name}"
        parts.append("".join(f"<p>{escape(text)}</p>" for text in insights(fit)))
        parts.append(_findings(fit.findings))
        parts.append("<h2>Efforts, measured and predicted</h2>")
        parts.append(_efforts(fit, plots))
        parts.append("<h2>How well each joint is predicted</h2>" + _joints(fit))
        parts.append("<h2>Base parameters</h2>" + _parameters(fit))
        parts.append("<h2>What to measure next</h2>" + _list(advice(fit)))
        parts.append("<h2>Residuals</h2>" + _residuals(fit, plots))
        parts.append("<h2>The model to write back</h2>" + _bodies(fit, physical))
        parts.append("<h2>How it was made</h2>" + _provenance(fit))
    made = escape(f"zveno {__version__}, {time.strftime('%Y-%m-%d %H:%M')}")
    parts = [f"<h1>{escape(heading)}</h1>", *parts, f'<p class="small">{made}</p>']
    parts.append(f"<script>const PLOTS = {_json(plots)};\n{_SCRIPT}</script>\n")
    return document(escape(heading), "\n".join(parts), width="64rem", style=_STYLE)


def insights(fit: Fit) -> list[str]:
    """The result in sentences."""
    counts = _counts(fit)
    total = len(fit.parameters)
    worst = np.nanargmax(fit.relative_rms) if np.isfinite(fit.relative_rms).any() else 0
    names = fit._given.joint_names
    texts = [
        f"{total} base parameters from {fit.samples:,} samples: {counts['well known']} well known, "
        f"{counts['poor']} poor, {counts['not identifiable']} not identifiable.",
        f"Residuals are {_percent(np.nanmin(fit.relative_rms))} to {_percent(np.nanmax(fit.relative_rms))} of the "
        f"efforts; the worst joint is {names[int(worst)]}.",
    ]
    both = np.isfinite(fit.validation_rms) & (fit.rms > 0)
    if both.any():
        ratios = fit.validation_rms[both] / fit.rms[both]
        texts.append(
            f"Predicted without having been fitted, the end of the log has {ratios.min():.2f} to {ratios.max():.2f} "
            "times the residuals of the rest"
            + (
                ": the model holds beyond the samples it was made of."
                if ratios.max() < 1.5
                else ", more than it should."
            )
        )
    ratio = fit._bodies.ratio
    well = "nearly as well" if ratio < 1.1 else "worse"
    texts.append(
        f"Bodies that can exist explain the log {well}: residuals are {ratio:.3f} times the smallest possible."
    )
    if (fit.inflation > 1.2).any():
        texts.append(
            "Residuals are correlated in time; deviations below are enlarged for it, up to "
            f"{math.sqrt(float(fit.inflation.max())):.1f} times."
        )
    return texts


def advice(fit: Fit) -> list[str]:
    """What a further measurement should show."""
    model, chain = fit._model, fit._given
    texts = [f"Not seen at all: {text}." for text in fit.missing[:8]]
    rows = [k for k, row in enumerate(fit.parameters) if row.verdict != "well known"]
    if not rows:
        return [*texts, "Nothing is missing: every base parameter is well known."]
    q, _, _ = model.states(64)
    still = np.zeros_like(q)
    static = np.abs(model.base_columns(q, still, still, np.ones_like(q))).max(axis=(0, 1))
    slow: dict[str, list[str]] = {}
    for k in rows:
        name = model.base_names[k]
        if static[k] > 1e-9 and model.pivots[k] < model.links:
            slow.setdefault("static", []).append(name)
            continue
        joint = [j for j in range(chain.n) if k in model.active[j]]
        if model.pivots[k] >= model.links:
            slow.setdefault(f"term {chain.joint_names[joint[0]]}", []).append(name)
        else:
            slow.setdefault(f"dynamic {chain.joint_names[joint[-1]]}", []).append(name)
    for key, names in slow.items():
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        kind, _, joint_name = key.partition(" ")
        texts.append(
            f"{shown}: gravity shows them; hold or pass slowly through many more poses."
            if kind == "static"
            else f"{shown}: move {joint_name} at several steady rates in both directions."
            if kind == "term"
            else f"{shown}: only accelerations show them; move {joint_name} and the joints before it faster."
        )
    texts.append(
        "Four times as many samples of the same motion halve every deviation; zveno.excitation finds a better motion."
    )
    return texts


def _counts(fit: Fit) -> dict[str, int]:
    verdicts = [row.verdict for row in fit.parameters]
    return {word: verdicts.count(word) for word in ("well known", "poor", "not identifiable")}


def _percent(x: float) -> str:
    from .fit import percent

    return percent(x) if math.isfinite(x) else "an unknown part"


def _findings(findings: Sequence[Finding]) -> str:
    if not findings:
        return '<p class="ok">Nothing about the log is suspicious.</p>'
    order = {"fault": 0, "doubt": 1, "note": 2}
    lines = "".join(
        f'<li class="{f.level}"><b>{_WORDS[f.level]}</b> {escape(str(f))}</li>'
        for f in sorted(findings, key=lambda f: order[f.level])
    )
    return f"<h2>What was noticed</h2><ul class=findings>{lines}</ul>"


def _list(texts: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str] | None = None) -> str:
    def line(cells: Sequence[str], tag: str, kind: str = "") -> str:
        return f'<tr class="{kind}">' + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    kinds = classes or [""] * len(rows)
    body = "".join(line([escape(x) for x in row], "td", kind) for row, kind in zip(rows, kinds, strict=True))
    top = line([escape(x) for x in head], "th")
    return f"<div class=wide><table><thead>{top}</thead><tbody>{body}</tbody></table></div>"


def _efforts(fit: Fit, plots: list[dict[str, Any]]) -> str:
    r = fit.residuals
    stride = max(1, -(-len(r.times) // _POINTS))
    t = r.times[::stride]
    if not len(t):
        return "<p>No samples to show.</p>"
    part = "" if fit.samples <= 2 * len(r.times) else " A part of the log around the place where validation begins."
    places = []
    for j, name in enumerate(fit._given.joint_names):
        unit = "N m" if fit._given.joint_types[j] == "revolute" else "N"
        measured, predicted, given = (x[::stride, j] for x in (r.measured, r.predicted, r.given))
        plots.append(
            {
                "title": f"{name}, {unit}",
                "x": _round(t),
                "xlabel": "s",
                "from": None if not math.isfinite(r.validated_from) else float(r.validated_from),
                "curves": [
                    {"name": "measured", "color": "#8a97a5", "y": _round(measured)},
                    {"name": "predicted", "color": "#0b63a5", "y": _round(predicted)},
                    {"name": "residual", "color": "#c2410c", "y": _round(measured - predicted)},
                    {"name": "model as given", "color": "#3f9c5a", "y": _round(given), "off": True},
                ],
            }
        )
        places.append(f'<div class=plot data-plot="{len(plots) - 1}"></div>')
    return (
        f"<p>Drag to zoom, double click to see all, click a name to hide it.{part} The shaded part was not fitted.</p>"
        f"<div class=plots>{''.join(places)}</div>"
    )


def _joints(fit: Fit) -> str:
    r, bodies = fit.residuals, fit._bodies
    before = np.sqrt(((r.given - r.measured) ** 2).mean(axis=0)) if len(r.times) else np.full(fit._given.n, np.nan)
    rows = []
    for j, name in enumerate(fit._given.joint_names):
        rows.append(
            (
                name,
                f"{fit.rms[j]:.4g}",
                _percent(float(fit.relative_rms[j])),
                f"{fit.validation_rms[j]:.4g}",
                f"{bodies.rms[j]:.4g}",
                f"{before[j]:.4g}",
                f"{r.correlation[1, j]:.2f}",
                f"{fit.whiteness[j]:.2g}",
            )
        )
    head = (
        "joint",
        "rms",
        "of the effort",
        "validation rms",
        "rms of bodies",
        "rms of the model as given",
        "correlation of neighbours",
        "probability if white",
    )
    return _table(head, rows)


def _parameters(fit: Fit) -> str:
    rows, classes, bars = [], [], []
    for k, row in enumerate(fit.parameters):
        rows.append(
            (
                row.name,
                f"{row.value:.5g}" if math.isfinite(row.value) else "-",
                f"{row.deviation:.3g}" if math.isfinite(row.deviation) else "-",
                f"{row.low:.4g} to {row.high:.4g}" if math.isfinite(row.low) else "-",
                f"{row.model:.5g}",
                row.unit,
                row.verdict,
                row.combination,
            )
        )
        classes.append(row.verdict.replace(" ", "-"))
        bars.append((k, row))
    buttons = "".join(
        f'<button data-show="{word.replace(" ", "-")}">{word} ({count})</button>'
        for word, count in _counts(fit).items()
    )
    head = ("name", "value", "deviation", "95 % interval", "model as given", "unit", "verdict", "combination")
    return (
        f"<p class=buttons><button data-show=all>all ({len(rows)})</button>{buttons}</p>{_intervals(fit)}"
        f"<div id=parameters>{_table(head, rows, classes)}</div>"
        "<p class=small>Well known: the deviation is below 5 % of the value, or of what links of this size give it; "
        "poor: below 50 %. Condition number of the equations with columns of unit size: "
        f"{fit.condition:.3g}.</p>"
    )


def _intervals(fit: Fit) -> str:
    """Deviations relative to sizes, as bars on a logarithmic scale."""
    sizes = np.maximum(np.abs(np.nan_to_num(fit.values)), 0.2 * fit._sizes())
    rows = fit.parameters
    width, row_height = 900, 13
    left = max(70, 14 + 6 * max((len(row.name) for row in rows), default=0))
    low, high = -4.0, 1.0
    lines = []
    for decade in range(int(low), int(high) + 1):
        x = left + (decade - low) / (high - low) * (width - left - 10)
        label = f"{100 * 10.0**decade:g} %"
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{row_height * len(rows)}" stroke="#e5e9ed"/>')
        lines.append(f'<text x="{x:.1f}" y="{row_height * len(rows) + 13}" text-anchor="middle">{label}</text>')
    colors = {"well known": "#3f9c5a", "poor": "#d99a1c", "not identifiable": "#c2410c"}
    for k, row in enumerate(rows):
        relative = row.deviation / sizes[k] if sizes[k] > 0 else math.inf
        value = (
            min(high, max(low + 0.02, math.log10(relative))) if 0 < relative < math.inf else high if relative else low
        )
        x = (value - low) / (high - low) * (width - left - 10)
        y = row_height * k
        tip = escape(f"{row.name}: {row.value:.5g} ± {row.deviation:.3g} {row.unit}, {row.verdict}")
        lines.append(
            f'<g><title>{tip}</title><text x="{left - 6}" y="{y + 10}" text-anchor="end">{escape(row.name)}</text>'
            f'<rect x="{left}" y="{y + 2}" width="{max(x, 1):.1f}" height="{row_height - 4}" '
            f'fill="{colors[row.verdict]}"/></g>'
        )
    height = row_height * len(rows) + 18
    return (
        "<details open><summary>Standard deviation of each base parameter, relative to its size</summary>"
        f'<svg class=bars viewBox="0 0 {width} {height}">{"".join(lines)}</svg></details>'
    )


def _residuals(fit: Fit, plots: list[dict[str, Any]]) -> str:
    r = fit.residuals
    names = fit._given.joint_names
    places = []
    colors = ("#0b63a5", "#c2410c", "#3f9c5a", "#8b5cf6", "#d99a1c", "#0891b2", "#be185d", "#51606f")
    if len(r.frequency) > 3:
        curves = [
            {
                "name": name,
                "color": colors[j % len(colors)],
                "y": _round(10 * np.log10(np.maximum(r.spectrum[1:, j], 1e-30))),
            }
            for j, name in enumerate(names)
        ]
        plots.append(
            {
                "title": "spectrum of residuals, dB of effort^2/Hz",
                "x": _round(r.frequency[1:]),
                "xlabel": "Hz",
                "curves": curves,
            }
        )
        places.append(f'<div class=plot data-plot="{len(plots) - 1}"></div>')
    curves = [
        {"name": name, "color": colors[j % len(colors)], "y": _round(r.correlation[:, j])}
        for j, name in enumerate(names)
    ]
    plots.append(
        {
            "title": "correlation of residuals with later ones",
            "x": list(range(len(r.correlation))),
            "xlabel": "samples apart",
            "curves": curves,
        }
    )
    places.append(f'<div class=plot data-plot="{len(plots) - 1}"></div>')
    return (
        "<p>White residuals have a flat spectrum and no correlation. A peak is an oscillation that rigid links do not "
        f"have; a rise towards low frequencies is friction or drift.</p><div class=plots>{''.join(places)}</div>"
    )


def _bodies(fit: Fit, physical: Any) -> str:
    names = fit._model.bodies
    given = fit._model.parameters_of(fit._mechanism)
    found = physical.values[: 10 * len(names)].reshape(-1, 10)
    rows = []
    for name, before, after in zip(names, given, found, strict=True):
        if before[0] or after[0]:
            mass, com, inertia = to_body(after)
            numbers = " ".join(f"{x:.4g}" for x in com), " ".join(f"{x:.3g}" for x in np.linalg.eigvalsh(inertia))
            rows.append((name, f"{before[0]:.4g}", f"{mass:.4g}", *numbers))
    friction = fit.friction()
    head = ("body", "mass given, kg", "mass found, kg", "centre of mass, m", "principal moments, kg m^2")
    text = (
        f"<p>All of these bodies can exist ({escape(physical.method)}, {physical.iterations} steps). What the log "
        "leaves open is taken from the model as given: single masses and inertias are not measured values, their base "
        "parameters are."
        f"</p>{_table(head, rows)}"
    )
    if friction:
        symbols = list(dict.fromkeys(s for values in friction.values() for s in values))
        lines = [
            (joint, *(f"{values[s]:.4g}" if s in values else "" for s in symbols)) for joint, values in friction.items()
        ]
        text += "<h3>Joints</h3>" + _table(("joint", *symbols), lines)
    return text


def _provenance(fit: Fit) -> str:
    o = fit.options
    rows = [
        ("model", fit._given.name),
        ("log", fit.source or "arrays"),
        ("samples fitted", f"{fit.samples:,}"),
        ("step of the log", f"{1e3 * o.get('step', math.nan):.4g} ms"),
        ("filter", f"low-pass {o['cutoff']:.4g} Hz, every {o['stride']}th sample" if o.get("cutoff") else "none"),
        ("method", str(o.get("method", ""))),
        ("terms of joints", ", ".join(o.get("friction", ())) or "none"),
        ("time", f"{o.get('seconds', math.nan):.2f} s"),
    ]
    return _table(("", ""), rows)


def _round(values: Array) -> list[float | None]:
    """Five digits are enough to look at."""
    return [float(f"{x:.5g}") if math.isfinite(x) else None for x in np.asarray(values).tolist()]


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


_SCRIPT: Final = r"""
const NS = "http://www.w3.org/2000/svg";
function make(tag, attributes, parent, text) {
  const e = document.createElementNS(NS, tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
}
function ticks(low, high, count) {
  const raw = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [5, 2, 1].map(k => k * power).find(s => s <= raw * (1 + 1e-9));
  const out = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) out.push(+x.toPrecision(6));
  return out;
}
function draw(place, data) {
  const W = 860, H = 220, L = 56, R = 10, T = 8, B = 28;
  place.textContent = "";
  const head = document.createElement("div");
  head.className = "head";
  head.appendChild(Object.assign(document.createElement("b"), {textContent: data.title}));
  data.curves.forEach(c => {
    const b = document.createElement("button");
    b.textContent = c.name; b.style.color = c.color; b.className = c.off ? "off" : "";
    b.onclick = () => { c.off = !c.off; draw(place, data); };
    head.appendChild(b);
  });
  const readout = document.createElement("span");
  readout.className = "readout";
  head.appendChild(readout);
  place.appendChild(head);
  const svg = make("svg", {viewBox: `0 0 ${W} ${H}`}, place);
  const xs = data.x, view = data.view || [xs[0], xs[xs.length - 1]];
  const shown = data.curves.filter(c => !c.off);
  let low = Infinity, high = -Infinity;
  shown.forEach(c => c.y.forEach((v, i) => {
    if (v !== null && xs[i] >= view[0] && xs[i] <= view[1]) { low = Math.min(low, v); high = Math.max(high, v); }
  }));
  if (!(low < high)) { const m = isFinite(low) ? low : 0; low = m - 1; high = m + 1; }
  const pad = 0.05 * (high - low); low -= pad; high += pad;
  const X = v => L + (v - view[0]) / (view[1] - view[0]) * (W - L - R);
  const Y = v => T + (high - v) / (high - low) * (H - T - B);
  if (data.from !== undefined && data.from !== null && data.from < view[1])
    make("rect", {x: Math.max(L, X(data.from)), y: T, width: W - R - Math.max(L, X(data.from)), height: H - T - B, fill:
    "#f2f5f8"}, svg);
  ticks(low, high, 3).forEach(v => {
    make("line", {x1: L, x2: W - R, y1: Y(v), y2: Y(v), stroke: "#e5e9ed"}, svg);
    make("text", {x: L - 6, y: Y(v) + 4, "text-anchor": "end"}, svg, v);
  });
  const free = W - R - 8 * data.xlabel.length;
  ticks(view[0], view[1], 5).filter(v => X(v) < free)
    .forEach(v => make("text", {x: X(v), y: H - 10, "text-anchor": "middle"}, svg, v));
  make("text", {x: W - R, y: H - 10, "text-anchor": "end"}, svg, data.xlabel);
  shown.forEach(c => {
    let path = "", open = false;
    for (let i = 0; i < xs.length; i++) {
      if (xs[i] < view[0] || xs[i] > view[1] || c.y[i] === null || (i && xs[i] < xs[i - 1])) { open = false; if (c.y[i]
      === null || xs[i] < view[0] || xs[i] > view[1]) continue; } path += (open ? "L" : "M") + X(xs[i]).toFixed(1) + " "
      + Y(c.y[i]).toFixed(1); open = true;
    }
    make("path", {d: path, fill: "none", stroke: c.color, "stroke-width": 1.3}, svg);
  });
  const cursor = make("line", {y1: T, y2: H - B, stroke: "#51606f", visibility: "hidden"}, svg);
  const box = make("rect", {y: T, height: H - T - B, fill: "#0b63a522", visibility: "hidden"}, svg);
  const at = e => {
    const r = svg.getBoundingClientRect();
    const x = Math.min(W - R, Math.max(L, (e.clientX - r.left) / r.width * W));
    return [x, view[0] + (x - L) / (W - L - R) * (view[1] - view[0])];
  };
  let from = null;
  svg.onpointerdown = e => { from = at(e); svg.setPointerCapture(e.pointerId); };
  svg.onpointermove = e => {
    const [px, x] = at(e);
    let i = 0, best = Infinity;
    xs.forEach((v, k) => { const d = Math.abs(v - x); if (d < best) { best = d; i = k; } });
    cursor.setAttribute("x1", px); cursor.setAttribute("x2", px); cursor.setAttribute("visibility", "visible");
    readout.textContent = `${xs[i]} ${data.xlabel}: ` + shown.map(c => `${c.name} ${c.y[i]}`).join(", ");
    if (from) {
      box.setAttribute("x", Math.min(from[0], px)); box.setAttribute("width", Math.abs(from[0] - px));
      box.setAttribute("visibility", "visible");
    }
  };
  svg.onpointerup = e => {
    const to = at(e);
    if (from && Math.abs(to[0] - from[0]) > 8) { data.view = [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
    draw(place, data); } from = null; box.setAttribute("visibility", "hidden");
  };
  svg.onpointerleave = () => { cursor.setAttribute("visibility", "hidden"); readout.textContent = ""; };
  svg.ondblclick = () => { data.view = null; draw(place, data); };
}
document.querySelectorAll("[data-plot]").forEach(p => draw(p, PLOTS[+p.dataset.plot]));
document.querySelectorAll("[data-show]").forEach(b => b.onclick = () => {
  document.querySelectorAll("#parameters tbody tr").forEach(row =>
    row.style.display = b.dataset.show === "all" || row.className === b.dataset.show ? "" : "none");
});
document.querySelectorAll("#parameters th").forEach((th, column) => th.onclick = () => {
  const body = document.querySelector("#parameters tbody"), rows = [...body.rows];
  const key = r => { const t = r.cells[column].textContent, v = parseFloat(t); return isNaN(v) ? t : v; };
  const up = th.dataset.up = th.dataset.up === "1" ? "0" : "1";
  rows.sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * (up === "1" ? 1 : -1); });
  rows.forEach(r => body.appendChild(r));
});
"""

_STYLE: Final = """\
.small, .readout { font-size: 13px; color: #51606f; }
.lead { font-size: 1.1rem; } .fault b, p.fault { color: #c2410c; } .doubt b { color: #b37400; }
.note b { color: #51606f; } .ok { color: #3f9c5a; }
.findings { list-style: none; padding: 0; } .findings li { padding: .2rem 0; }
.wide { overflow-x: auto; }
table { font-size: 14px; }
th, td { padding: .2rem .8rem .2rem 0; white-space: nowrap; }
td:not(:first-child), th:not(:first-child) { text-align: left; padding-left: 0; }
#parameters th { cursor: pointer; }
#parameters td:last-child { white-space: normal; min-width: 18rem; }
tr.well-known td:nth-child(7) { color: #2c7a44; } tr.poor td:nth-child(7) { color: #b37400; }
tr.not-identifiable td:nth-child(7) { color: #c2410c; }
svg { width: 100%; height: auto; display: block; touch-action: none; user-select: none; }
svg text { font: 11px system-ui, sans-serif; fill: #51606f; } svg.bars { max-width: 50rem; }
.head { display: flex; gap: .8rem; align-items: baseline; flex-wrap: wrap; margin-top: .6rem; }
button { border: 0; background: none; font: inherit; font-size: 14px; cursor: pointer; padding: 0; }
.buttons button { border: 1px solid #d5dbe1; border-radius: 4px; padding: .1rem .6rem; margin-right: .4rem; }
button.off { opacity: .35; }
"""
