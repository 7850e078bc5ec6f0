"""The report of a campaign: one page of HTML, figures included, that opens anywhere and for ever."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Sequence
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._check import as_integer
from .._output import checked_path, replacing
from .._page import as_url, document
from .campaign import LOADS, UNITS
from .result import STATUS_TEXT
from .sampling import CONDITIONS, Box, Cases
from .statistics import PERCENTILES

if TYPE_CHECKING:
    from .campaign import Campaign

__all__ = ["write_report"]

MINUS: Final = "\N{MINUS SIGN}"
_DEGREE: Final = 180 / math.pi
_SHOWN: Final = {"rad": ("°", _DEGREE), "rad/s": ("°/s", _DEGREE), "m": ("mm", 1e3), "m/s": ("mm/s", 1e3)}
_WORST: Final = 5  # runs in a table of the worst


def write_report(campaign: Campaign, path: str | os.PathLike[str], *, histories: int, quantity: str) -> str:
    """Write the page; see `Campaign.report`."""
    name = checked_path("report", path, ".html")
    count = as_integer("report", "histories", histories, 0, 20)
    campaign._require_runs("report")
    campaign.column(quantity)
    try:
        with replacing(name) as file:
            file.write(page(campaign, count, quantity).encode())
    except OSError as error:
        raise type(error)(error.errno, f"report: {name!r} cannot be written: {error.strerror}") from None
    return name


def page(campaign: Campaign, histories: int, quantity: str) -> str:
    """The text of the page."""
    drawing = find_spec("matplotlib") is not None
    sections = [
        _section("Outcomes", _outcomes(campaign) + (_figure(campaign, "running") if drawing else "")),
        _section("Where it captures", _figure(campaign, "envelope", "conditions"))
        if drawing
        else "<p>No figures: <code>pip install zveno[plot]</code> brings matplotlib.</p>",
        _section("Loads", _loads(campaign) + (_figure(campaign, "loads") if drawing else "")),
        _section("What loads depend on", _sensitivity(campaign, drawing)),
        _section("Worst runs", _worst(campaign) + (_histories(campaign, histories, quantity) if drawing else "")),
        _section("Accuracy", _accuracy(campaign)),
        _section("What was run", _inputs(campaign)),
    ]
    p = campaign.capture_probability
    out = campaign.outcomes
    cards = [
        (f"{100 * p.value:.4g} %", "captured"),
        (
            f"{100 * p.clopper_pearson.low:.4g} \N{EN DASH} {100 * p.clopper_pearson.high:.4g} %",
            "95 % interval, Clopper\N{EN DASH}Pearson",
        ),
        (f"{len(campaign):,}".replace(",", " "), "runs" if campaign.complete else f"of {campaign.n} runs: unfinished"),
        (f"{out['not_captured']} / {out['failed']}", "not captured / failed"),
    ]
    shown = "".join(f"<div><b>{escape(a)}</b><span>{escape(b)}</span></div>" for a, b in cards)
    about = escape(
        f"design {campaign.design}, seed {campaign.seed}, zveno {campaign._job.zveno}, "
        f"fingerprint {campaign.fingerprint[:16]}"
    )
    head = f'<h1>Docking campaign</h1>\n<p class="about">{about}</p>\n<div class="cards">{shown}</div>\n'
    return document("Docking campaign", head + "".join(sections), width="78rem", style=_STYLE)


# ---- parts


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_lines(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _lines(text: str) -> str:
    first, _, second = escape(text).partition("\n")
    return f'{first}<br><span class="note">{second}</span>' if second else first


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _number(value: float, digits: int = 4) -> str:
    if math.isnan(value):
        return "\N{EN DASH}"
    return ("∞" if value > 0 else f"{MINUS}∞") if math.isinf(value) else f"{value:.{digits}g}".replace("-", MINUS)


def _outcomes(campaign: Campaign) -> str:
    out, p = campaign.outcomes, campaign.capture_probability
    rows = [[name.replace("_", " "), str(count), f"{100 * count / len(campaign):.4g} %"] for name, count in out.items()]
    rows += [
        [f"  {word}: {STATUS_TEXT.get(word, 'no such scenario can be built')}", str(count), ""]
        for word, count in campaign.failures.items()
    ]
    intervals = [
        [name, _number(a, 8), _number(b, 8)]
        for name, (a, b) in (("Wilson", p.wilson), ("Clopper\N{EN DASH}Pearson", p.clopper_pearson))
    ]
    return (
        _table(["outcome", "runs", "share"], rows)
        + _table(["capture probability, 95 %", "from", "to"], intervals)
        + _note("Failed runs are part of all runs: they count against capture. Wilson's interval is right on average, "
                "that of Clopper and Pearson is never too short.")
    )  # fmt: skip


def _loads(campaign: Campaign) -> str:
    if not campaign.outcomes["captured"]:
        return _note("No run was captured: there are no peaks of captured runs.")
    rows = []
    names = [*LOADS, "stroke_min", "stroke_max", "penetration", "t_contact", "t_capture"]
    for name in (name for name in names if name in campaign.columns):
        unit, factor = _shown(name)
        cells = [f"{name.replace('_', ' ')}, {unit}"]
        values = campaign._of_captured(name)
        if not len(values):
            continue
        tail = [100 - percent for percent in PERCENTILES] if name == "stroke_min" else PERCENTILES
        for found in campaign.percentiles(name, tail):
            low, high = found.interval
            cells.append(f"{_number(found.value * factor)}\n{_number(low * factor)} … {_number(high * factor)}")
        worst = campaign.worst(name, 1)
        extreme = values.min() if name == "stroke_min" else values.max()
        cells += [_number(float(extreme) * factor), str(worst[0].number) if worst else ""]
        rows.append(cells)
    head = ["peak over the run", *(f"{percent:g} %" for percent in PERCENTILES), "extreme", "worst run"]
    return _table(head, rows) + _note(
        "Percentiles of the captured runs alone, below them their 95 % intervals by order statistics, which assume no "
        "distribution; infinite where there are too few runs. Compression, tension, shear, torsion and bending are "
        "loads of contact and latches on the first ring, at its origin, in its axes. The worst run is of all sound "
        "runs, captured or not. Of the least stroke, percentiles are counted from the other end."
    )


def _shown(name: str) -> tuple[str, float]:
    unit = UNITS.get(name, "")
    return _SHOWN.get(unit, (unit, 1.0))


def _sensitivity(campaign: Campaign, drawing: bool) -> str:
    captured = campaign.outcomes["captured"]
    if captured < 4:
        return _note("Too few runs were captured for correlations.")
    body = _figure(campaign, "sensitivity") if drawing else ""
    found = campaign.rank_correlations([name for name in LOADS if name in campaign.columns])
    inputs = list(next(iter(found.values())))
    rows = [[name.replace("_", " "), *(_number(found[load][name], 2) for load in found)] for name in inputs]
    full = _table(["condition", *found], rows)
    body += f"<details><summary>All rank correlations, components included</summary>{full}</details>"
    body += _note(
        f"Spearman's rank correlation over {captured} captured runs; values below "
        f"{2 / math.sqrt(captured - 1):.2g} are what chance makes of independent numbers (19 of 20)."
    )
    try:
        indices = {name: campaign.sobol_indices(name) for name in LOADS if name in campaign.columns}
    except ValueError as error:
        return body + _note(f"No Sobol indices: {str(error).partition(': ')[2]}.")
    some = next(iter(indices.values()))
    cells = [
        [
            factor.replace("_", " "),
            *(
                _number(float(item.first[k]), 2)
                + ("" if item.total is None else f" / {_number(float(item.total[k]), 2)}")
                for item in indices.values()
            ),
        ]
        for k, factor in enumerate(some.factors)
    ]
    kind = "first order" if some.total is None else "first order / total"
    return (
        body
        + _table([f"Sobol index, {kind}", *indices], cells)
        + _note(f"Share of the variance, from {some.runs} runs; one standard error is about {some.error:.2g}.")
    )


def _worst(campaign: Campaign) -> str:
    parts: list[str] = []
    names = list(CONDITIONS)
    head = ["run", "value", "outcome"] + [f"{name.replace('_', ' ')}, {_shown(name)[0]}" for name in names]
    for load in (name for name in LOADS if name in campaign.columns):
        rows = [
            [
                str(run.number),
                _number(run.value),
                run.status.replace("_", " "),
                *(_number(run.conditions[name] * _shown(name)[1], 3) for name in names),
            ]
            for run in campaign.worst(load, _WORST)
        ]
        start = "<details>" if parts else "<details open>"
        parts.append(f"{start}<summary>{load}, {UNITS[load]}</summary>{_table(head, rows)}</details>")
    return "".join(parts)


def _histories(campaign: Campaign, count: int, quantity: str) -> str:
    if not count:
        return ""
    from ..plot import campaign as figures

    worst = campaign.worst(quantity, count)
    if not worst:
        return ""
    runs = [(run.number, campaign.rerun(run.number)) for run in worst]
    text = f"Worst runs by {quantity}, run again with their history; the dashed line is capture."
    return _note(text) + _picture(figures.histories(runs, _new_figure()), f"histories of the worst runs by {quantity}")


def _accuracy(campaign: Campaign) -> str:
    rows = []
    for name, text in (
        ("energy_error", "largest energy residual, J"),
        ("momentum_error", "largest change of momentum, N s"),
        ("angular_momentum_error", "largest change of angular momentum, N m s"),
    ):
        if name in campaign.columns:
            values = np.abs(np.asarray(campaign.column(name), float))
            values = values[np.isfinite(values)]
            rows.append([text, _number(float(values.max()), 3) if len(values) else "\N{EN DASH}"])
    if "dt" in campaign.columns:
        steps, counts = np.unique(np.asarray(campaign.column("dt"), float), return_counts=True)
        used = ", ".join(
            f"{1e3 * step:g} ms: {n}" for step, n in zip(steps, counts, strict=True) if math.isfinite(step)
        )
        rows.append(["runs by the step they were accepted with", used])
    table = _table(["", ""], rows) if rows else ""
    return table + _note(
        "Every run is accepted by its energy residual, or repeated with half the step. That is the error of the "
        "integration, not of the model: with more contact nodes times of capture move by about 1 % and peak loads by 3 "
        "to 6 %."
    )


def _inputs(campaign: Campaign) -> str:
    box = campaign.box
    rows = []
    if isinstance(box, Cases):
        rows.append(["a list of cases", f"{len(box)} rows"])
    for name in (
        ("closing", "lateral", "offset", "tilt", "roll", "tilt_rate", "roll_rate") if isinstance(box, Box) else ()
    ):
        unit, factor = _shown({"roll_rate": "rate_x"}.get(name, name))
        value: Any = getattr(box, name)
        many = isinstance(value, tuple)
        text = " … ".join(_number(x * factor) for x in value) if many else f"vector up to {_number(value * factor)}"
        rows.append([name.replace("_", " "), f"{text} {unit}"])
    if isinstance(box, Box):
        rows.append(
            ["distribution", box.distribution + (f", {box.sigmas:g} sigma" if box.distribution == "normal" else "")]
        )
    rows += [[name, repr(spread)] for name, spread in box.uncertain.items()]
    settings = ", ".join(f"{key} = {value}" for key, value in campaign.settings.items())
    toml = campaign.scenario.to_toml()
    made = (
        f"docking.Box.from_dict({box.to_dict()!r})" if isinstance(box, Box) else 'docking.Cases.from_csv("cases.csv")'
    )
    design = f", design={campaign.design!r}" if isinstance(box, Box) else ""
    code = (
        "from zveno import docking\n\n"
        'scenario = docking.Scenario.load("scenario.toml")  # the text above\n'
        f"box = {made}\n"
        f"campaign = docking.campaign(scenario, n={campaign.n}, box=box, seed={campaign.seed}{design},\n"
        f"                            {', '.join(f'{k}={v!r}' for k, v in campaign.settings.items())})\n"
        "campaign.rerun(0).plot()\n"
    )
    return (
        _table(["box of conditions", ""], rows)
        + f"<p>{escape(settings)}</p>"
        + f"<details><summary>The scenario</summary><pre>{escape(toml)}</pre></details>"
        + f"<details><summary>To run it again</summary><pre>{escape(code)}</pre></details>"
    )


# ---- figures


def _new_figure() -> Any:
    """Figures that no window knows, whatever backend the user has chosen."""
    from matplotlib.figure import Figure

    return Figure


def _figure(campaign: Campaign, *kinds: str) -> str:
    from ..plot import campaign as figures

    if kinds == ("loads",) and not campaign.outcomes["captured"]:
        return ""
    return "".join(_picture(figures.KINDS[kind](campaign, _new_figure()), kind) for kind in kinds)


def _picture(figure: Any, text: str) -> str:
    import matplotlib

    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "zveno"}):
        figure.savefig(stream, format="svg", dpi=150, metadata={"Date": None})
    return f'<img src="{as_url(stream.getvalue())}" alt="{escape(text)}">'


_STYLE: Final = """\
.note, .about { color: #51606f; font-size: .9rem; max-width: 56rem; }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.2rem 0; }
.cards div { flex: 1 1 12rem; background: #f4f6f8; padding: .8rem 1rem; border-radius: .4rem; }
.cards b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; } .cards span { color: #51606f; }
.wide { overflow-x: auto; }
table { font-size: .86rem; }
th, td { padding-right: .6rem; white-space: nowrap; }
td:not(:first-child), th:not(:first-child) { padding-left: .9rem; }
summary { color: #0b63a5; }
"""
