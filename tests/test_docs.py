"""Pages that quote numbers are made by the code that they describe."""

import re
import runpy
from pathlib import Path

import pytest
from matplotlib import pyplot as plt
from zveno import _core

ROOT = Path(__file__).parents[1]


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_operations_page_is_what_the_kernels_count():
    table = runpy.run_path(str(ROOT / "bench" / "operations_table.py"))
    assert page("docs/operations.md") == "\n".join(table["lines"]()) + "\n"


def test_hexapods_page_has_what_the_leg_kernels_count():
    table = runpy.run_path(str(ROOT / "bench" / "hexapod_table.py"))
    section = page("docs/hexapods.md").partition("## Operation counts\n\n")[2].partition("\n\n## ")[0]
    assert section == "\n".join(table["lines"]())


def test_hexapods_page_states_every_equation_once():
    numbers = re.findall(r" \((\d+)\)$", page("docs/hexapods.md"), re.MULTILINE)
    assert [int(number) for number in numbers] == list(range(1, 52))


def test_hexapods_page_explains_every_cause_of_an_error():
    text = page("docs/hexapods.md")
    causes = []
    for cause in range(1, 256):
        try:
            kind, key, _ = _core.hexapod_cause(cause)
        except ValueError:
            continue
        causes.append(key)
        assert f"`{kind}`" in text
        assert kind not in ("UnreachableError", "SingularityError") or f'"{key}" |' in text
    assert "straight elbow" in causes


@pytest.mark.parametrize("name", ["README.md", "docs/hexapods.md", "docs/generated-code.md", "docs/simulation.md"])
def test_page_shows_what_its_examples_print(name, capsys):
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", page(name), re.DOTALL)
    assert len(examples) == page(name).count("```python")
    space = {}
    for code, output in examples:
        exec(compile(code, name, "exec"), space)
        assert capsys.readouterr().out == output
    plt.close("all")


def test_links_between_pages_lead_somewhere():
    for name in ("README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page(name)):
            assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"
