"""Pages that quote numbers are made by the code that they describe."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import zveno as zv
from zveno import _core

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize(
    ("name", "letter"), [("docs/chains.md", ""), ("docs/derivatives.md", "D"), ("docs/simulation.md", "S")]
)
def test_page_states_every_equation_once(name, letter):
    numbers = [tuple(map(int, pair)) for pair in re.findall(rf" \({letter}(\d+)\.(\d+)\)$", page(name), re.MULTILINE)]
    assert numbers
    assert numbers == sorted(set(numbers))
    for section in {section for section, _ in numbers}:
        stated = [number for s, number in numbers if s == section]
        assert stated == list(range(1, len(stated) + 1)), f"section {section}"


@pytest.mark.parametrize(
    ("name", "letter"),
    [("docs/constraints.md", "L"), ("docs/inverse-kinematics.md", "K"), ("docs/docking.md", "D")],
)
def test_page_states_equations_once_and_in_order(name, letter):
    numbers = [int(number) for number in re.findall(rf" \({letter}(\d+)\)$", page(name), re.MULTILINE)]
    assert len(numbers) > 14
    assert numbers == sorted(set(numbers))


CITATION = {
    # (4.12), and two digits: a size such as u (6) has one, a paper such as (002) three
    "docs/chains.md": r"\((\d+\.\d+)\)",
    "docs/derivatives.md": r"\((D\d+\.\d+)\)",
    "docs/hexapods.md": r"\((\d\d)\)",
    "docs/simulation.md": r"\((S\d+\.\d+)\)",
    "docs/constraints.md": r"\((L\d+)\)",
    "docs/inverse-kinematics.md": r"\((K\d+)\)",
    "docs/docking.md": r"\((D\d+)\)",
}
CITING = [*(ROOT / "cpp").rglob("*.?pp"), *(ROOT / "tests" / "reference").glob("*.py")]


@pytest.mark.parametrize("name", CITATION)
def test_cited_equations_are_on_the_page_that_the_file_names(name):
    stated = set(re.findall(rf" {CITATION[name]}$", page(name), re.MULTILINE))
    cited = 0
    for path in CITING:
        text = path.read_text(encoding="utf-8")
        comments = re.findall(r"(?://|#) .*" if path.suffix == ".py" else r"//.*", text)
        numbers = set(re.findall(CITATION[name], "\n".join(comments)))
        assert numbers <= stated, f"{path.name} cites {sorted(numbers - stated)}, not in {name}"
        assert not numbers or name in text, f"{path.name} cites {sorted(numbers)} and does not name {name}"
        cited += len(numbers)
    assert cited > (8 if name in ("docs/simulation.md", "docs/docking.md") else 20)


def test_no_page_is_cited_that_is_not_in_the_repository():
    folders = ("cpp", "bindings", "python", "tests", "bench", "examples")
    files = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".hpp", ".py", ".pyi")
    ]
    for path in files:
        for found in re.findall(r"(?<![\w./-])[\w./-]*\w\.md\b", path.read_text(encoding="utf-8")):
            places = (ROOT / found, ROOT / "docs" / found, path.parent / found)
            written = found in ("README.md", "out/README.md")  # by an export
            assert written or any(place.exists() for place in places), f"{path} cites {found}"


@pytest.mark.parametrize("column", [1, 2], ids=["UPS", "RSU"])
def test_hexapods_page_has_reference_values_of_the_kernels(column):
    section = page("docs/hexapods.md").partition("## Reference values\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    hx = zv.mechanisms.docking_ring(rows[0][column], reflected=False)
    (sy, sz, sx), (cy, cz, cx) = np.sin([0.03, -0.02, 0.05]), np.cos([0.03, -0.02, 0.05])
    turn_x, turn_z = np.array([[1, 0, 0], [0, cx, sx], [0, -sx, cx]]), np.array([[cz, sz, 0], [-sz, cz, 0], [0, 0, 1]])
    R = (turn_x @ turn_z @ [[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]]).T
    r, u = hx.nominal[0] + [-0.02, 0.03, -0.01], [-0.05, 0.02, 0.01, 0.04, -0.03, 0.02]
    drives = np.arange(6), hx.actuated
    stretch, rate = hx.closure(r, R)[drives] - hx.closure(*hx.nominal)[drives], hx.joint_velocity(r, R, u)[drives]
    stiffness, damping = (400, 80) if hx.legs[0].unit == "m" else (15, 3)
    d = hx.forward_dynamics(r, R, u, [-200, 40, -30, 5, -10, 8], -stiffness * stretch - damping * rate)
    got = d.joint_position[0], d.joint_velocity[0], d.acceleration, d.reaction[0], d.base_wrench
    for row, value in zip(rows[2:], got, strict=True):
        np.testing.assert_allclose(value, [float(x) for x in row[column].split(",")], rtol=5.1e-9, err_msg=row[0])


def test_hexapods_page_explains_every_cause_of_an_error():
    text = page("docs/hexapods.md")
    causes = []
    for cause in range(1, 256):
        try:
            kind, key, _ = _core.cause(cause)
        except ValueError:
            continue
        causes.append(key)
        if key == "moves no mass":  # of chains
            continue
        assert f"`{kind}`" in text
        assert kind not in ("UnreachableError", "SingularityError") or f'"{key}" |' in text
    assert "straight elbow" in causes
