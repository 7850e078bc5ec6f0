"""Pages of HTML with nothing outside them: head and looks that they share."""

from __future__ import annotations

import base64
from string import Template
from typing import Final

__all__ = ["as_url", "document"]


def as_url(svg: bytes) -> str:
    """A picture as a data URL."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


def document(title: str, body: str, *, width: str, style: str = "") -> str:
    """A whole page; title and style are text of ours, body is HTML."""
    return _PAGE.substitute(title=title, body=body, width=width, style=style)


_PAGE: Final = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff; margin: 0 auto; max-width: $width;
       padding: 2rem 1.5rem 4rem; }
h1 { margin: 0 0 .25rem; } h2 { margin: 2.5rem 0 .5rem; border-top: 1px solid #d5dbe1; padding-top: 1.5rem; }
p { margin: .4rem 0; } a { color: #0b63a5; }
img { display: block; max-width: 100%; margin: 1rem auto; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; border-bottom: 1px solid #e5e9ed; }
td:not(:first-child), th:not(:first-child) { text-align: right; padding-left: 1.2rem; }
pre { background: #f4f6f8; padding: .8rem 1rem; overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; }
summary { cursor: pointer; color: #51606f; margin-top: .6rem; }
$style</style>
</head>
<body>
$body</body>
</html>
""")
