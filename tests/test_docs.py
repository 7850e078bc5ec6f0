"""Pages that quote numbers are made by the code that they describe."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_operations_page_is_what_the_kernels_count():
    table = runpy.run_path(str(ROOT / "bench" / "operations_table.py"))
    assert page("docs/operations.md") == "\n".join(table["lines"]()) + "\n"


def test_readme_shows_what_its_example_prints(capsys):
    code, output = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", page("README.md"), re.DOTALL).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == output


def test_links_between_pages_lead_somewhere():
    for name in ("README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page(name)):
            assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"
