"""Pyright agrees with what users write: README, pages, examples, the typed script; and finds their mistakes.

It is run as ``basedpyright``: the same checker, which brings Node.js along as a wheel and needs no registry of npm.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import zveno as zv

ROOT = Path(__file__).parents[2]
SCRIPTS = [*sorted((ROOT / "examples" / "python").glob("[0-9]*.py")), ROOT / "tests" / "typing" / "user_script.py"]
MADE = {ROOT / "docs" / "gallery", ROOT / "docs" / "reference" / "api"}  # by the build, from examples and docstrings
# matplotlib's arguments and SciPy have no types
STRICT = (
    "# pyright: strict, reportUnknownMemberType=false, reportUnknownVariableType=false, "
    "reportUnknownArgumentType=false\n"
)
WRONG = (
    'arm.mass_matrix(q, method="crab")',
    'arm.mass_matrix(q, "crba", q)',
    "arm.pose(q)",
    "arm.bias(q, q, frame='link')",
    "arm.masses(q)",
    "arm.base_wrench(q, q, q, external=[q])",
    "ring.forward_dynamics(q)",
    "ring.nominal_pose",
    'zv.Link("upper", weight=2.0)',
)
HEAD = (
    "import numpy as np",
    "import zveno as zv",
    "q, arm, ring = np.zeros(2), zv.robots.two_link(), zv.mechanisms.docking_ring('UPS')",
)


def python_of(page):
    """The code of a page, every line where it was."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = line.startswith("```")
        inside = (line == "```python" and not inside) if fence else inside
        lines.append(line if inside and not fence else "")
    return "\n".join(lines) + "\n"


def sources():
    """Name, text and whether it must pass the strict mode; elsewhere a function may go without annotations."""
    for script in SCRIPTS:
        yield script.name, script.read_text(encoding="utf-8"), True
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for k, block in enumerate(re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL), start=1):
        yield f"README_{k}.py", block, True
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = python_of(page)
        if text.strip() and not any(made in page.parents for made in MADE):
            yield page.relative_to(ROOT).with_suffix(".py").as_posix().replace("/", "_"), text, False
    yield "wrong.py", "\n".join([*HEAD, *WRONG, ""]), True


SOURCES = {name: (text, strict) for name, text, strict in sources()}


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """Lines and messages of the errors in each file."""
    folder = tmp_path_factory.mktemp("pyright")
    for name, (text, strict) in SOURCES.items():
        (folder / name).write_text(text + STRICT * strict, encoding="utf-8")
    settings = {
        "typeCheckingMode": "standard",
        # a checker follows no import hooks: an editable package must be on its path
        "extraPaths": [str(Path(zv.__file__).parents[1])],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(SOURCES)
    found = {name: [] for name in SOURCES}
    for finding in report["generalDiagnostics"]:
        assert finding["severity"] == "error", finding
        found[Path(finding["file"]).name].append((finding["range"]["start"]["line"] + 1, finding["message"]))
    return found


@pytest.mark.types
@pytest.mark.parametrize("name", [name for name in SOURCES if name != "wrong.py"])
def test_code_passes(name, errors):
    assert errors[name] == []


@pytest.mark.types
@pytest.mark.parametrize("call", WRONG)
def test_wrong_calls_are_errors(call, errors):
    line = len(HEAD) + 1 + WRONG.index(call)
    assert line in [number for number, _ in errors["wrong.py"]]
    assert not [message for number, message in errors["wrong.py"] if number <= len(HEAD)]
