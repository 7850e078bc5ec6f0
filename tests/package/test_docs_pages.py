"""Code in the pages runs and prints what they show, links lead somewhere, works are cited by author."""

import contextlib
import io
import re
import runpy
import tomllib
import warnings
from pathlib import Path

import matplotlib
import pytest
import zveno as zv
from matplotlib import pyplot as plt
from sybil import Document, Example, Region
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

matplotlib.use("Agg")

ROOT = Path(__file__).parents[2]
MADE = {ROOT / "docs" / "gallery", ROOT / "docs" / "reference" / "api"}  # by the build, from examples and docstrings
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not any(made in page.parents for made in MADE)),
]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def code(page):
    return re.findall(r"^```python\n", page.read_text(encoding="utf-8"), re.MULTILINE)


# ---- code -------------------------------------------------------------------------------------------------------

PRINTED = "printed by the block before"


def run(example: Example) -> None:
    """A Python block; what it prints must be in the block that follows."""
    assert PRINTED not in example.namespace, f"line {example.line}: the block before prints, and no block shows it"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * example.line + example.parsed, example.path, "exec"), example.namespace)
    if out.getvalue():
        example.namespace[PRINTED] = out.getvalue()


def compare(example: Example) -> None:
    """A block without a language shows what was printed, if something was."""
    if PRINTED in example.namespace:
        assert example.parsed == example.namespace.pop(PRINTED), f"{example.path}, line {example.line}"


def blocks(document):
    """Regions for Sybil: Python, and blocks without a language."""
    for lexer, evaluator in ((FencedCodeBlockLexer("python"), run), (FencedCodeBlockLexer(""), compare)):
        for region in lexer(document):
            yield Region(region.start, region.end, region.lexemes["source"], evaluator)


@pytest.mark.parametrize("page", [page for page in PAGES[1:] if code(page)], ids=name_of)
def test_page_shows_what_its_code_prints(page):
    document = Document.parse(str(page), blocks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for example in document.examples():
            example.evaluate()
    assert PRINTED not in document.namespace, f"{page.name}: the last block prints, and no block shows it"
    plt.close("all")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n\n```\n2\n```\n",
        "```python\nprint(1)\n```\n\ntext\n\n```python\nx = 1\n```\n",
        "```python\nraise ValueError\n```\n",
    ],
    ids=["other output", "output not shown", "error"],
)
def test_wrong_pages_are_found(text, tmp_path):
    page = (tmp_path / "page").with_suffix(".md")
    page.write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, ValueError)):
        test_page_shows_what_its_code_prints(page)


# ---- links and order --------------------------------------------------------------------------------------------


def source_of(target):
    """The file that a page or picture of the site is made from."""
    if ROOT / "docs" / "gallery" in target.parents:
        return ROOT / "examples" / "python" / ("README.rst" if target.stem == "index" else f"{target.stem}.py")
    if ROOT / "docs" / "reference" / "api" in target.parents:
        return ROOT / "docs" / "conf.py"
    return target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", text):
        assert source_of((page.parent / target).resolve()).exists(), f"{name_of(page)} links to {target}"


def test_every_page_has_its_place_in_the_order():
    placed = {ROOT / "docs" / "index.md"}
    for page in PAGES[1:]:
        trees = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for tree in trees:
            for line in tree.splitlines():
                entry = re.sub(r".*<(.*)>", r"\1", line.strip())
                if entry and not entry.startswith(":"):
                    placed.add((page.parent / f"{entry}.md").resolve())
    missing = [name_of(page) for page in PAGES[1:] if page not in placed]
    assert not missing


def test_every_example_stands_once_in_the_sidebar():
    names = [f"gallery/{file.stem}" for file in sorted((ROOT / "examples" / "python").glob("[0-9]*.py"))]
    # as sphinx-gallery writes it
    source = ["Examples\n========\n\n.. toctree::\n   :hidden:\n\n" + "".join(f"   /{name}\n" for name in names)]
    runpy.run_path(str(ROOT / "docs" / "conf.py"))["each_page_once"](None, "gallery/index", source)
    assert source[0].startswith("Examples\n========\n\n.. toctree::\n   :hidden:\n\n   /gallery/01_first_arm\n")
    tutorials = (ROOT / "docs" / "tutorials.md").read_text(encoding="utf-8")
    listed = re.findall(r"<(gallery/\d\w+)>", tutorials) + re.findall(r"^   /(gallery/\w+)$", source[0], re.MULTILINE)
    assert sorted(listed) == names


# ---- words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES[1:], ids=name_of)
def test_works_are_cited_by_author(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "sources.md":  # which also says what the numbers in comments of kernels mean
        text = text.partition("In comments of the kernels")[0]
    assert not re.findall(r"(?<![\w.,])00[0-4](?![\w.])", text)


def test_docstrings_cite_works_by_author():
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "cpp" / "zveno" / "functions").glob("*_functions.hpp")]
    for path in files:
        assert not re.findall(r"\(00[0-4]\)", path.read_text(encoding="utf-8")), path.name


def test_pages_list_every_error_and_every_format():
    errors, formats = (ROOT / "docs" / name for name in ("howto/errors.md", "reference/formats.md"))
    for name in zv.errors.__all__[1:]:  # but the base of all
        assert f"`{name}`" in errors.read_text(encoding="utf-8"), name
    for name in ("chain", "hexapod", "linkage", "simulation", "simulation_batch", "rig"):
        assert f"zveno.{name}" in formats.read_text(encoding="utf-8"), name


def test_install_page_lists_the_extras():
    page = (ROOT / "docs/start/install.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", page, re.MULTILINE))
    assert set(rows) == set(extras) - {"lint"}
    for extra in set(rows) - {"all", "docs", "test", "bench"}:
        for name in rows[extra].lower().split(", "):
            assert any(need.startswith(name) for need in extras[extra]), f"{extra} does not bring {name}"
