"""One HTML page without anything outside it: figures are part of the text."""

from __future__ import annotations

import base64
import inspect
import io
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from typing import TYPE_CHECKING, Any, Final

from ..versions import report, versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Section:
    """A job on the page; `figures` are data URLs, the first row of `table` is its head."""

    title: str
    code: str
    text: Sequence[str]
    table: Sequence[Sequence[str]]
    figures: Sequence[str]
    note: str


def source_of(function: Callable[..., Any]) -> str:
    """The statements of a function but for its return, as a user would write them."""
    try:
        text = inspect.getsource(function)
    except OSError:  # an installation without sources
        return ""
    body = textwrap.dedent(text.partition(":\n")[2])
    return "import numpy as np, zveno as zv\n\n" + re.sub(r"\nreturn .*\Z", "\n", body, flags=re.DOTALL)


def picture(draw: Callable[[], Figure]) -> str:
    """A figure as a data URL; drawn without a window, whatever backend the user has chosen."""
    import matplotlib
    import matplotlib.pyplot as plt

    with matplotlib.rc_context({"svg.fonttype": "path"}):
        before = matplotlib.get_backend()
        plt.switch_backend("agg")
        try:
            figure = draw()
            stream = io.BytesIO()
            figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
            plt.close("all")
        finally:
            plt.switch_backend(before)
    return as_url(stream.getvalue())


def as_url(svg: bytes) -> str:
    """A picture as a data URL."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


def page(sections: Sequence[Section], seconds: float) -> str:
    """The whole page."""
    machine = "\n".join(report(versions()))
    return _PAGE.substitute(
        contents="".join(f'<li><a href="#job{k}">{escape(s.title)}</a></li>' for k, s in enumerate(sections)),
        body="".join(_section(k, section) for k, section in enumerate(sections)),
        seconds=f"{seconds:.0f}",
        machine=escape(machine),
    )


def _section(number: int, section: Section) -> str:
    parts = [f'<section id="job{number}"><h2>{escape(section.title)}</h2>']
    parts += [f"<p>{escape(line)}</p>" for line in section.text]
    if section.table:
        head, *rows = section.table
        parts.append("<table><thead><tr>" + "".join(f"<th>{escape(x)}</th>" for x in head) + "</tr></thead><tbody>")
        parts += ["<tr>" + "".join(f"<td>{escape(x)}</td>" for x in row) + "</tr>" for row in rows]
        parts.append("</tbody></table>")
    parts += [f'<img src="{url}" alt="{escape(section.title)}">' for url in section.figures]
    if section.note:
        parts.append(f"<p>{escape(section.note)}</p>")
    if section.code:
        parts.append(f"<details open><summary>The code</summary><pre>{escape(section.code)}</pre></details>")
    return "".join([*parts, "</section>\n"])


_PAGE: Final = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>zveno demo</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff; margin: 0 auto; max-width: 60rem;
       padding: 2rem 1.5rem 4rem; }
h1 { margin: 0 0 .25rem; } h2 { margin: 2.5rem 0 .5rem; border-top: 1px solid #d5dbe1; padding-top: 1.5rem; }
p { margin: .4rem 0; } a { color: #0b63a5; }
img { display: block; max-width: 100%; margin: 1rem auto; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; border-bottom: 1px solid #e5e9ed; }
td:not(:first-child), th:not(:first-child) { text-align: right; padding-left: 1.2rem; }
pre { background: #f4f6f8; padding: .8rem 1rem; overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; }
summary { cursor: pointer; color: #51606f; margin-top: .6rem; }
</style>
</head>
<body>
<h1>zveno</h1>
<p>Dynamics of manipulators and docking mechanisms. Made by <code>zveno demo</code> in $seconds s.</p>
<ul>$contents</ul>
$body<section><h2>This machine</h2><pre>$machine</pre></section>
</body>
</html>
""")
