"""One HTML page without anything outside it: figures are part of the text."""

from __future__ import annotations

import inspect
import io
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from typing import TYPE_CHECKING, Any, Final

from .._page import as_url, document
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


def page(sections: Sequence[Section], seconds: float) -> str:
    """The whole page."""
    machine = "\n".join(report(versions()))
    text = _BODY.substitute(
        contents="".join(f'<li><a href="#job{k}">{escape(s.title)}</a></li>' for k, s in enumerate(sections)),
        body="".join(_section(k, section) for k, section in enumerate(sections)),
        seconds=f"{seconds:.0f}",
        machine=escape(machine),
    )
    return document("zveno demo", text, width="60rem")


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


_BODY: Final = Template("""\
<h1>zveno</h1>
<p>Dynamics of manipulators and docking mechanisms. Made by <code>zveno demo</code> in $seconds s.</p>
<ul>$contents</ul>
$body<section><h2>This machine</h2><pre>$machine</pre></section>
""")
